/* test_foreign_log.c - logs that others made, through the commands: no file but a log is changed,
 * and none holds a command up. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memmem */
#endif
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/commands.h"
#include "app/stop_signal.h"
#include "log/h5util.h"
#include "regress/drape.h"
#include "support/bytes.h"
#include "support/logdiff.h"
#include "support/proc.h"
#include "support/tiny_log.h"

TestSuite(foreign_log, .init = proc_enter, .fini = proc_leave);

/* A journal of version 1 that cuts the file beside it to 0 bytes (at < 0), or writes a text at
 * that byte, behind the end of the file. */
static void write_forged_journal(const char *name, int64_t at, const char *text)
{
  struct {
    char what[24];
    int64_t size, end, num;
    uint64_t hash;
  } head = {.what = "loom journal 1\n"};
  struct {
    int64_t index;
    uint64_t before;
    char data[4096];
  } page = {.index = at / 4096};
  const size_t len = at < 0 ? 0 : sizeof page;
  char all[sizeof head + sizeof page];
  page.before = h5u_hash(H5U_HASH_START, page.data, sizeof page.data);
  strcpy(page.data, text);
  head.size = at < 0 ? INT64_C(1) << 60 : 0;
  head.end = at < 0 ? 0 : at + (int64_t)strlen(text);
  head.num = at < 0 ? 0 : 1;
  head.hash = h5u_hash(h5u_hash(H5U_HASH_START, &head, sizeof head), &page, len);
  memcpy(all, &head, sizeof head);
  memcpy(all + sizeof head, &page, len);
  const bytes b = {all, sizeof head + len};
  store_file_bytes(name, &b);
}

/* The victim is a text of the user's, or a log. */
static void tries_all(const char *victim)
{
  const char *const commands[][7] = {{"info", "evil.h5"},
                                     {"verify", "evil.h5"},
                                     {"export", "evil.h5", "--format", "csv", "-o", "out"},
                                     {"compare", "evil.h5", "evil.h5"},
                                     {"check", "replay.ini"},
                                     {"run", "replay.ini", "--quiet", "-o", "new.h5"}};
  const bytes before = load_file_bytes(victim);
  for (size_t i = 0; i < sizeof commands / sizeof commands[0]; ++i)
    for (int append = 0; append < 2; ++append) {
      proc p;
      write_forged_journal("evil.h5.journal",
                           append ? (int64_t)before.size / 4096 * 4096 + 4096 : -1,
                           "ssh-rsa AAAA attacker\n");
      proc_loom(&p, commands[i]);
      cr_assert(p.code >= 0 && p.code <= 3, "%s: %d %s", commands[i][0], p.code, p.err);
      const bytes after = load_file_bytes(victim);
      cr_assert(is_same_bytes(&before, &after), "%s changed %s", commands[i][0], victim);
      cr_assert(proc_exists("evil.h5.journal"), "%s removed the journal", commands[i][0]);
      free(after.data);
    }
  free(before.data);
}

Test(foreign_log, no_command_writes_through_a_link)
{
  proc_write("replay.ini", DRAPE "[solver]\nplugin = cholmod_pd\n");
  FILE *const f = fopen("replay.ini", "a");
  cr_assert(f != NULL && fputs("[run]\nreplay = evil.h5\n", f) >= 0 && fclose(f) == 0);
  proc_write("victim", "precious\n");
  cr_assert_eq(symlink("victim", "evil.h5"), 0);
  tries_all("victim");
  proc_write("drape.ini", DRAPE "[solver]\nplugin = cholmod_pd\n");
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "2", "-o", "log.h5");
  cr_assert_eq(unlink("evil.h5"), 0);
  cr_assert_eq(symlink("log.h5", "evil.h5"), 0);
  tries_all("log.h5");
}

/* The log of a dead writer, with one wrong byte in a piece of metadata: HDF5 would read it again
 * and again. */
Test(foreign_log, no_command_waits_for_metadata_that_is_damaged)
{
  static const char *const kinds[] = {"FHDB", "BTLF", "FRHP", "OHDR"};
  const tiny_options o = {.frames_every = 1};
  int status;
  proc_write("drape.ini", DRAPE "[solver]\nplugin = cholmod_pd\n");
  const pid_t pid = fork();
  cr_assert_geq(pid, 0);
  if (pid == 0) {
    loom_err err = {0};
    h5log *l;
    loom_status s = tiny_create(&err, "dead.h5", &o, &l);
    if (s == LOOM_OK) s = tiny_start(l, &err, &o);
    for (int64_t i = 0; s == LOOM_OK && i < 3; ++i) s = tiny_step(l, &err, &o, i);
    if (s == LOOM_OK) raise(SIGKILL);
    _exit(2);
  }
  cr_assert_eq(waitpid(pid, &status, 0), pid);
  cr_assert(WIFSIGNALED(status));
  const bytes dead = load_file_bytes("dead.h5");
  for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; ++k) {
    const char *const more[] = {"--quiet", "--resume=auto", "--resume", "--overwrite"};
    char *const at = memmem(dead.data, dead.size, kinds[k], 4);
    cr_assert_neq(at, NULL);
    at[6] ^= 0x55;
    for (size_t i = 0; i < sizeof more / sizeof more[0]; ++i) {
      proc p;
      store_file_bytes("run.h5", &dead);
      proc_loom(&p, LOOM_ARGS("run", "drape.ini", "-n", "1", "-o", "run.h5", more[i]));
      cr_assert(p.code >= 0 && p.code <= 2, "%s %s: %d %s", kinds[k], more[i], p.code, p.err);
      cr_assert(p.code == 0 || strstr(p.err, "loom: run.") != NULL, "%s", p.err);
      unlink("run.check.h5");
    }
    at[6] ^= 0x55;
  }
  free(dead.data);
}

/* The rest of it is kept, the run goes on from its checkpoint, and every place says so. */
Test(foreign_log, a_log_that_is_lost_begins_anew_at_its_checkpoint)
{
  proc_write("drape.ini", DRAPE "[solver]\nplugin = cholmod_pd\n");
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "20", "-o", "whole.h5");
  for (int missing = 0; missing < 2; ++missing) {
    proc p;
    LOOM_FINE("run", "drape.ini", "--quiet", "-n", "12", "-o", "run.h5", "--overwrite");
    cr_assert_eq(missing ? unlink("run.h5") : truncate("run.h5", 30000), 0);
    proc_loom(&p, LOOM_ARGS("run", "drape.ini", "-n", "20", "-o", "run.h5", "--resume"));
    cr_assert_eq(p.code, 0, "%s", p.err);
    cr_assert(strstr(p.err, "this log begins with step 12") != NULL, "%s", p.err);
    cr_assert_eq(logs_same_tail("whole.h5", "run.h5"), 12);
    proc_loom(&p, LOOM_ARGS("info", "run.h5"));
    cr_assert(strstr(p.out, "begins with step 12") != NULL, "%s", p.out);
    cr_assert(strstr(p.out, "this log begins with step 12") != NULL, "%s", p.out);
    cr_assert(missing || strstr(p.out, "run.aside-1.h5") != NULL, "%s", p.out);
    cr_assert_eq(proc_exists("run.aside-1.h5"), !missing);
    unlink("run.aside-1.h5");
    /* and it is continued as any other */
    LOOM_FINE("run", "drape.ini", "--quiet", "-n", "20", "-o", "run.h5", "--resume", "14");
    cr_assert_eq(logs_same_tail("whole.h5", "run.h5"), 12);
  }
}

/* While scene and log are opened there is no step to finish. */
Test(foreign_log, a_signal_before_the_first_step)
{
  const int signals[] = {SIGTERM, SIGINT, SIGHUP};
  for (size_t i = 0; i < sizeof signals / sizeof signals[0]; ++i)
    for (int deferred = 0; deferred < 2; ++deferred) {
      int status;
      const pid_t pid = fork();
      cr_assert_geq(pid, 0);
      if (pid == 0) {
        stop_signal_catch();
        if (deferred) stop_signal_defer();
        raise(signals[i]);
        _exit(stop_signal_asked() == signals[i] ? 100 : 101);
      }
      cr_assert_eq(waitpid(pid, &status, 0), pid);
      cr_assert(WIFEXITED(status));
      cr_assert_eq(WEXITSTATUS(status), deferred ? 100 : EXIT_STOPPED);
    }
}
