/* commands.h - the subcommands of build/bin/loom, one file each.
 *
 * Every command gets its own arguments (argv[0] is the command's name), prints results
 * to stdout, progress and errors to stderr as "loom: ...", and returns the exit code.
 */
#ifndef LOOM_COMMANDS_H
#define LOOM_COMMANDS_H

#include "core/err.h"

enum { /* exit codes, see framework/doc/exit-codes.md */
       EXIT_FINE = 0,
       EXIT_RUNTIME = 1,       /* run-time failure */
       EXIT_USAGE = 2,         /* bad usage or config */
       EXIT_INTERSECTIONS = 3, /* intersections found */
       EXIT_TOLERANCE = 4,     /* comparison above tolerance */
       EXIT_STOPPED = 5,       /* a run stopped by a signal before its end */
       EXIT_TIME = 6           /* a run stopped by --max-time before its end */
};

int cmd_run(int argc, char **argv);
int cmd_contract(int argc, char **argv);
int cmd_ccd(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_cite(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_describe(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_verify(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_measure(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_pattern(int argc, char **argv);
int cmd_ssdf_data(int argc, char **argv);
int cmd_untangle(int argc, char **argv);

/* Print "loom: MESSAGE" to stderr; the exit code that belongs to the status. */
int cmd_fail(const loom_err *err);

#endif
