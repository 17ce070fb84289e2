/* Files that `run` may write over: logs of loom, with the user's word, and no other file. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "regress/drape.h"
#include "support/logdiff.h"
#include "support/proc.h"

static void create_output_scene(void)
{
  proc_enter();
  proc_write("drape.ini", DRAPE "[solver]\nplugin = cholmod_pd\n");
}

TestSuite(output, .init = create_output_scene, .fini = proc_leave);

#define RUN(...) LOOM_ARGS("run", "drape.ini", "--quiet", "-n", "6", __VA_ARGS__)

static void text_is(const char *name, const char *text)
{
  char now[PROC_TEXT];
  FILE *const f = fopen(name, "r");
  cr_assert(f != NULL, "%s is gone", name);
  now[fread(now, 1, sizeof now - 1, f)] = '\0';
  fclose(f);
  cr_expect_str_eq(now, text);
}

/* With and without --overwrite. */
static void expect_refusal_of_output(const char *out, const char *const *texts)
{
  proc_expect_error(2, texts, RUN("-o", out));
  proc_expect_error(2, texts, RUN("-o", out, "--overwrite"));
}

Test(output, a_finished_log_wants_a_word)
{
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "6", "-o", "run.h5");
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "6", "-o", "same.h5");
  proc_expect_error(2,
                    LOOM_TEXTS("loom: run.h5: is a finished log of 20", ", 6 steps;",
                               "--overwrite replaces it, -o names another file"),
                    RUN("-o", "run.h5"));
  logs_same_bits("run.h5", "same.h5", LOGS_UNBROKEN);
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "4", "-o", "run.h5", "--overwrite");
  cr_expect_eq(log_is_whole("run.h5", "finished"), 4);
  proc_expect_error(2, LOOM_TEXTS("--resume continues a log and --overwrite replaces it"),
                    RUN("-o", "run.h5", "--resume", "--overwrite"));
}

/* A run that was killed: the log has steps, and a checkpoint. */
Test(output, an_unfinished_log_wants_a_word_too)
{
  const struct timespec wait = {0, 10 * 1000 * 1000};
  const pid_t pid =
      proc_start(LOOM_ARGS("run", "drape.ini", "--quiet", "-n", "4000", "-o", "run.h5"));
  while (!proc_exists("run.check.h5")) nanosleep(&wait, NULL);
  cr_assert(proc_kill(pid), "it ended before it was killed");
  proc_expect_error(2,
                    LOOM_TEXTS("run.h5: is an unfinished log of 20",
                               "; --resume continues it, --overwrite replaces it, -o"),
                    RUN("-o", "run.h5"));
  const int64_t steps = log_is_whole("run.h5", NULL); /* a reader repairs the log */
  cr_assert(steps > 0);
  proc_expect_error(2, LOOM_TEXTS("run.h5: is a failed log of 20", "--resume continues it"),
                    RUN("-o", "run.h5"));
  char more[24];
  snprintf(more, sizeof more, "%d", (int)steps + 1);
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", more, "-o", "run.h5", "--resume=auto");
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", more, "-o", "whole.h5");
  logs_same_bits("whole.h5", "run.h5", LOGS_ANYWHERE);
}

/* "--resume=auto": goes on where there is a checkpoint, begins where there is none. */
Test(output, resume_auto)
{
  proc p;
  proc_loom(&p, LOOM_ARGS("run", "drape.ini", "-n", "6", "-o", "run.h5", "--resume=auto"));
  cr_assert_eq(p.code, 0, "%s", p.err);
  cr_expect(strstr(p.err, "loom: note: run.h5: there is no checkpoint; the run starts anew\n") !=
                NULL,
            "%s", p.err);
  cr_assert_eq(log_is_whole("run.h5", "finished"), 6);
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "8", "-o", "run.h5", "--resume", "auto");
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "8", "-o", "whole.h5");
  logs_same_bits("whole.h5", "run.h5", LOGS_ANYWHERE);
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "8", "-o", "run.h5", "--resume=auto");
  cr_assert_eq(log_is_whole("run.h5", "finished"), 8);
  /* an engine for workflows removed the log of a job that failed, not its checkpoint */
  unlink("run.h5");
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "8", "-o", "run.h5", "--resume=auto");
  logs_same_bits("whole.h5", "run.h5", LOGS_UNBROKEN);
  /* another config is no reason to begin anew */
  proc_expect_error(2, LOOM_TEXTS("run.h5", "another config"),
                    RUN("-o", "run.h5", "--resume=auto", "--set", "cloth.sheet.density=0.3"));
  /* nor is a finished log without its checkpoints */
  unlink("run.check.h5");
  unlink("run.check.prev.h5");
  proc_expect_error(2, LOOM_TEXTS("run.h5: is a finished log"),
                    RUN("-o", "run.h5", "--resume=auto"));
  proc_expect_error(2, LOOM_TEXTS("'maybe' is not a number >= 0 and not auto"),
                    RUN("-o", "run.h5", "--resume=maybe"));
}

Test(output, files_of_others_stay)
{
  static const char thesis[] = "All of chapter one.\n";
  proc_write("thesis.txt", thesis);
  expect_refusal_of_output("thesis.txt",
                           LOOM_TEXTS("loom: thesis.txt: exists and is no log of loom",
                                      "not replaced", "name another file"));
  text_is("thesis.txt", thesis);
  expect_refusal_of_output("drape.ini",
                           LOOM_TEXTS("loom: drape.ini: exists and is no log of loom"));
  text_is("drape.ini", DRAPE "[solver]\nplugin = cholmod_pd\n");
  /* an empty file holds no work */
  proc_write("empty.h5", "");
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "6", "-o", "empty.h5");
  cr_expect_eq(log_is_whole("empty.h5", "finished"), 6);
}

Test(output, hdf5_files_of_others_stay)
{
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "6", "-o", "run.h5");
  expect_refusal_of_output("run.check.h5",
                           LOOM_TEXTS("run.check.h5: exists and is no log of loom"));
  /* a checkpoint without the 512 bytes of its seal is HDF5, and no log */
  cr_assert_eq(system("tail -c +513 run.check.h5 >plain.h5"), 0);
  expect_refusal_of_output("plain.h5", LOOM_TEXTS("plain.h5: is an HDF5 file, but no log of loom"));
  cr_assert_eq(truncate("run.h5", 5000), 0);
  expect_refusal_of_output("run.h5",
                           LOOM_TEXTS("run.h5: is an HDF5 file that cannot be read", "loom info"));
}

Test(output, what_is_no_file)
{
  const struct sockaddr_un to = {.sun_family = AF_UNIX, .sun_path = "socket.h5"};
  cr_assert_eq(mkfifo("pipe.h5", 0600), 0);
  cr_assert_eq(mkdir("folder.h5", 0700), 0);
  const int s = socket(AF_UNIX, SOCK_STREAM, 0);
  cr_assert(s >= 0 && bind(s, (const struct sockaddr *)&to, sizeof to) == 0);
  expect_refusal_of_output("pipe.h5",
                           LOOM_TEXTS("pipe.h5: is a device, a pipe or a socket; name a file"));
  expect_refusal_of_output("socket.h5",
                           LOOM_TEXTS("socket.h5: is a device, a pipe or a socket; name a file"));
  expect_refusal_of_output("folder.h5", LOOM_TEXTS("folder.h5: is a folder; name a file"));
  close(s);
  struct stat st;
  cr_expect(stat("pipe.h5", &st) == 0 && S_ISFIFO(st.st_mode));
  cr_expect(stat("socket.h5", &st) == 0 && S_ISSOCK(st.st_mode));
}

/* The last component of a path is never a link: neither a new log, nor one that is replaced or
 * continued.  A folder may be one. */
Test(output, links)
{
  struct stat st;
  cr_assert_eq(mkdir("far", 0700), 0);
  cr_assert_eq(symlink("far/run.h5", "link.h5"), 0);
  expect_refusal_of_output(
      "link.h5", LOOM_TEXTS("link.h5: is a symbolic link to far/run.h5", "name that file"));
  cr_expect_not(proc_exists("far/run.h5"));
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "4", "-o", "far/run.h5");
  expect_refusal_of_output("link.h5", LOOM_TEXTS("link.h5: is a symbolic link to far/run.h5"));
  proc_expect_error(2, LOOM_TEXTS("link.h5: is a symbolic link to far/run.h5"),
                    RUN("-o", "link.h5", "--resume"));
  proc_expect_error(2, LOOM_TEXTS("link.h5: is a symbolic link to far/run.h5"),
                    RUN("-o", "link.h5", "--resume=auto"));
  proc_expect_error(2, LOOM_TEXTS("link.h5: is a symbolic link to far/run.h5"),
                    RUN("--set", "log.file=link.h5", "--overwrite"));
  cr_expect(lstat("link.h5", &st) == 0 && S_ISLNK(st.st_mode), "the link was replaced");
  cr_expect_eq(log_is_whole("far/run.h5", "finished"), 4);
  cr_expect_not(proc_exists("link.check.h5"));

  cr_assert_eq(symlink("far", "near"), 0);
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "6", "-o", "near/run.h5", "--resume");
  cr_expect_eq(log_is_whole("far/run.h5", "finished"), 6);
}

/* The names beside the log: checkpoints and the file being written. */
Test(output, names_beside_the_log)
{
  static const char *const names[] = {"run.check.h5", "run.check.prev.h5", "run.h5.part"};
  for (int i = 0; i < 3; ++i) {
    proc_write(names[i], "mine\n");
    expect_refusal_of_output("run.h5", LOOM_TEXTS(names[i], "remove it, or name another file"));
    text_is(names[i], "mine\n");
    unlink(names[i]);
    cr_assert_eq(symlink("drape.ini", names[i]), 0);
    expect_refusal_of_output("run.h5", LOOM_TEXTS(names[i], "is a symbolic link"));
    unlink(names[i]);
    cr_assert_eq(mkfifo(names[i], 0600), 0);
    expect_refusal_of_output("run.h5", LOOM_TEXTS(names[i]));
    unlink(names[i]);
  }
  /* the checkpoint's temporary name is met when the first one is written */
  proc_write("run.check.h5.part", "mine\n");
  proc_expect_error(2, LOOM_TEXTS("run.check.h5.part", "remove it"), RUN("-o", "run.h5"));
  text_is("run.check.h5.part", "mine\n");
  text_is("drape.ini", DRAPE "[solver]\nplugin = cholmod_pd\n");
}

Test(output, the_reference_of_a_replay_stays)
{
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "6", "-o", "ref.h5");
  proc_expect_error(2, LOOM_TEXTS("ref.h5: is the reference that [run] replay reads"),
                    RUN("-o", "ref.h5", "--overwrite", "--set", "run.replay=ref.h5"));
  cr_expect_eq(log_is_whole("ref.h5", "finished"), 6);
}

Test(output, new_folders_are_told)
{
  proc p;
  proc_loom(&p, LOOM_ARGS("run", "drape.ini", "-n", "2", "-o", "deep.er/run.h5"));
  cr_assert_eq(p.code, 0, "%s", p.err);
  cr_expect(strstr(p.err, "loom: note: made the folder deep.er for the log\n") != NULL, "%s",
            p.err);
  proc_loom(&p, LOOM_ARGS("run", "drape.ini", "-n", "2", "-o", "deep.er/other.h5"));
  cr_expect(strstr(p.err, "made the folder") == NULL, "%s", p.err);
  /* a configuration that is wrong makes none */
  proc_expect_error(2, LOOM_TEXTS("no_such_solver"),
                    RUN("-o", "new/run.h5", "--set", "solver.plugin=no_such_solver"));
  cr_expect(!proc_exists("new"));
}

Test(output, folders_that_take_nothing)
{
  proc_expect_error(1, LOOM_TEXTS("/proc/run.h5: ", "takes no new files", "name another file"),
                    RUN("-o", "/proc/run.h5"));
  proc_expect_error(1, LOOM_TEXTS("cannot make folder /proc/loom: ", "takes no new folders"),
                    RUN("-o", "/proc/loom/run.h5"));
  char name[1200];
  memset(name, 'x', sizeof name - 1);
  name[sizeof name - 1] = '\0';
  proc_expect_error(2, LOOM_TEXTS("the log's path has 1199 bytes"), RUN("-o", name));
}

/* Another user's configuration may name any place. */
Test(output, a_config_that_leads_out_is_told)
{
  char here[PROC_NAME], text[4096];
  proc p;
  cr_assert(getcwd(here, sizeof here) != NULL);
  snprintf(text, sizeof text, DRAPE "file = %s/abs.h5\n[solver]\nplugin = gd\n", here);
  proc_write("away.ini", text);
  proc_loom(&p, LOOM_ARGS("run", "away.ini", "--quiet", "-n", "1"));
  cr_assert_eq(p.code, 0, "%s", p.err);
  cr_expect(strstr(p.err, "loom: warning: away.ini:") != NULL &&
                strstr(p.err, "[log] file: the log goes to /tmp/") != NULL &&
                strstr(p.err, "outside the current folder; -o names another") != NULL,
            "%s", p.err);
  cr_expect(proc_exists("abs.h5"));
  proc_loom(&p, LOOM_ARGS("run", "away.ini", "--quiet", "-n", "1", "-o", "here.h5"));
  cr_expect_str_empty(p.err);
  snprintf(text, sizeof text, "log.file=%s/set.h5", here);
  proc_loom(&p, LOOM_ARGS("run", "away.ini", "--quiet", "-n", "1", "--set", text));
  cr_expect_str_empty(p.err);
  proc_write("inside.ini", DRAPE "file = a.h5\n[solver]\nplugin = gd\n");
  proc_loom(&p, LOOM_ARGS("run", "inside.ini", "--quiet", "-n", "1"));
  cr_expect_str_empty(p.err);
}
