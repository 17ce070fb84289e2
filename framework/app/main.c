/* main.c - build/bin/loom: dispatch to the subcommands. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "app/commands.h"
#include "app/python_tool.h"
#include "core/build_info.h"
#include "core/crash.h"

static const struct command { /* ./loom reads the rows, too: one a line */
  const char *name;
  int (*call)(int argc, char **argv); /* NULL: a command of the launcher ./loom */
  const char *doc;
} commands[] = {
    {"run", cmd_run, "simulate a config and log every iteration"},
    {"check", cmd_check, "parse, load, test the fit and print the resolved config"},
    {"list", cmd_list, "plugins found, refused files and the reasons"},
    {"describe", cmd_describe, "parameters of a plugin or a section"},
    {"cite", cmd_cite, "BibTeX of loom and of the papers of a config or log"},
    {"info", cmd_info, "summary of a log"},
    {"verify", cmd_verify, "audit every stored frame of a log"},
    {"compare", cmd_compare, "distance of two logs, frame by frame"},
    {"measure", cmd_measure, "frames of another program as rows of a log"},
    {"export", cmd_export, "frames as meshes, tables as CSV"},
    {"pattern", cmd_pattern, "a sewing pattern of GarmentCode as one of loom"},
    {"ssdf-data", cmd_ssdf_data, "training data for networks of the distance to a body"},
    {"untangle", cmd_untangle, "move intersecting triangles of a mesh apart"},
    {"contract", cmd_contract, "check the contract of all plugins on one"},
    {"ccd", cmd_ccd, "collision queries with known answers"},
    {"test", NULL, "build and run the test-suite"},
    {"render", NULL, "a shaded picture or movie of a log"},
    {"sweep", NULL, "a grid of runs, here or on Slurm"},
    {"table", NULL, "many logs as one table"},
    {"report", NULL, "a comparison of logs as one HTML file"},
    {"archive", NULL, "a finished sweep as one file, with versions, licences and hashes"},
    {"watch", NULL, "a run as it goes, on the terminal or as a picture"},
    {"fabric", NULL, "a material from measurements of a fabric"},
    {"convert", NULL, "meshes and curves of USD as files that loom reads"},
    {"peer", NULL, "a public simulator on a scene, measured as a method of loom is"},
    {"figure", NULL, "run and draw a figure of experiments/"},
    {"docs", NULL, "the documentation as a site with search"},
    {"bundle", NULL, "a folder that runs on other machines"},
    {"gpu-check", NULL, "is it right, how quick on this GPU?"},
};
enum { NUM_COMMANDS = sizeof commands / sizeof commands[0] };

static void print_help(FILE *f)
{
  fprintf(f, "loom %s - a research framework for cloth simulation\n\nusage: loom COMMAND ...\n",
          loom_build_version);
  for (int i = 0; i < NUM_COMMANDS; ++i)
    fprintf(f, "  %-10s %s%s\n", commands[i].name, commands[i].doc,
            commands[i].call == NULL ? " (launcher ./loom)" : "");
  fprintf(f, "\nloom COMMAND --help shows the options of a command.\n");
}

/* A thread that waits for work spins for some microseconds, then sleeps.  Kernels of small meshes
 * follow each other within that time: sleeping at once made two threads slower than one.  Spinning
 * on, the default, costs many times the work itself on a machine with other work.
 * OpenMP's runtime reads its environment before main() begins, so the binary starts itself once
 * more; without /proc it keeps the default. */
static void wait_briefly(char **argv)
{
  if (getenv("OMP_WAIT_POLICY") != NULL || getenv("GOMP_SPINCOUNT") != NULL) return;
  if (setenv("OMP_WAIT_POLICY", "passive", 1) == 0 && setenv("GOMP_SPINCOUNT", "1000", 1) == 0)
    execv("/proc/self/exe", argv);
}

/* If the user has set a very small stack, the program crashes; this raises the limit where allowed.
 * It restarts the program, because threads take the limit that the program began with. */
static int take_stack(char **argv)
{
  enum { LEAST_KB = 1024, USUAL_KB = 8192 };
  struct rlimit r;
  if (getrlimit(RLIMIT_STACK, &r) != 0 || r.rlim_cur >= (rlim_t)LEAST_KB << 10) return 1;
  if (r.rlim_max >= (rlim_t)LEAST_KB << 10) {
    r.rlim_cur = r.rlim_max < (rlim_t)USUAL_KB << 10 ? r.rlim_max : (rlim_t)USUAL_KB << 10;
    if (setrlimit(RLIMIT_STACK, &r) == 0) execv("/proc/self/exe", argv);
  }
  fprintf(stderr,
          "loom: the stack is limited to %llu kB, and loom needs %d kB; raise it: ulimit -s %d\n",
          (unsigned long long)(r.rlim_max >> 10), LEAST_KB, USUAL_KB);
  return 0;
}

/* A run keeps seven files open at a time; with a lower limit it failed at its first checkpoint,
 * with a message of HDF5. */
static int take_files(void)
{
  enum { LEAST = 16, USUAL = 1024 };
  struct rlimit r;
  if (getrlimit(RLIMIT_NOFILE, &r) != 0 || r.rlim_cur >= LEAST) return 1;
  r.rlim_cur = r.rlim_max < USUAL ? r.rlim_max : USUAL;
  if (r.rlim_max >= LEAST && setrlimit(RLIMIT_NOFILE, &r) == 0) return 1;
  fprintf(stderr,
          "loom: %llu files may be open at a time, and loom needs %d; raise it: ulimit -n %d\n",
          (unsigned long long)r.rlim_max, LEAST, USUAL);
  return 0;
}

int main(int argc, char **argv)
{
  if (!take_stack(argv) || !take_files()) return EXIT_RUNTIME;
  wait_briefly(argv);
  crash_install();
  if (argc < 2) {
    print_help(stderr);
    return EXIT_USAGE;
  }
  const char *const name = argv[1];
  if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
    print_help(stdout);
    return EXIT_FINE;
  }
  if (strcmp(name, "--version") == 0) {
    printf("loom %s %s\n", loom_build_version, loom_build_commit);
    return EXIT_FINE;
  }
  const char *names[NUM_COMMANDS];
  for (int i = 0; i < NUM_COMMANDS; ++i) {
    names[i] = commands[i].name;
    if (strcmp(name, names[i]) != 0) continue;
    if (commands[i].call != NULL) return commands[i].call(argc - 1, argv + 1);
    const int code = python_tool_run(name, argv + 1);
    if (code >= 0) return code;
    fprintf(stderr, "loom: '%s' belongs to the launcher: ./loom %s at the top of the sources\n",
            name, name);
    return EXIT_USAGE;
  }
  const char *const near = err_nearest(name, names, NUM_COMMANDS);
  fprintf(stderr, "loom: there is no command '%s'%s%s%s; loom --help lists them\n", name,
          near ? ", nearest is '" : "", near ? near : "", near ? "'" : "");
  return EXIT_USAGE;
}
