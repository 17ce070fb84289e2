/* Code is opened only where the user named it, and only code that the configuration uses. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/seconds.h"
#include "regress/drape.h"
#include "support/logdiff.h"
#include "support/proc.h"

static void create_traced_scene(void)
{
  char path[PROC_NAME + 16];
  proc_enter();
  cr_assert(getcwd(path, PROC_NAME) != NULL);
  strcat(path, "/trace");
  setenv("LOOM_TEST_TRACE", path, 1);
  proc_write("drape.ini", DRAPE "[solver]\nplugin = gd\n");
}

TestSuite(trust, .init = create_traced_scene, .fini = proc_leave);

/* tests/plugins/ctor/DEED */
static const char *ctor_fixture_path(const char *deed)
{
  static char path[1024];
  const char *const dir = getenv("LOOM_FIXTURE_DIR");
  cr_assert(dir != NULL);
  snprintf(path, sizeof path, "%s/ctor/%s", dir, deed);
  return path;
}

/* A copy of ctor/DEED/fx_ctor_DEED.so in the folder `to`, with this mode. */
static void copy_ctor_plugin(const char *deed, const char *to, mode_t mode)
{
  static char bytes[1 << 20];
  char path[1200];
  snprintf(path, sizeof path, "%s/fx_ctor_%s.so", ctor_fixture_path(deed), deed);
  FILE *const in = fopen(path, "rb");
  cr_assert(in != NULL, "%s", path);
  const size_t n = fread(bytes, 1, sizeof bytes, in);
  fclose(in);
  snprintf(path, sizeof path, "%s/fx_ctor_%s.so", to, deed);
  FILE *const out = fopen(path, "wb");
  cr_assert(out != NULL && fwrite(bytes, 1, n, out) == n && fclose(out) == 0);
  cr_assert_eq(chmod(path, mode), 0);
}

static void create_trusted_folder(const char *name)
{
  cr_assert(mkdir(name, 0700) == 0 && chmod(name, 0755) == 0);
}

/* The trace that constructors leave, "" if none ran; it is removed. */
static const char *read_ctor_trace(void)
{
  static char text[4096];
  FILE *const f = fopen("trace", "r");
  text[0] = '\0';
  if (f == NULL) return text;
  text[fread(text, 1, sizeof text - 1, f)] = '\0';
  fclose(f);
  unlink("trace");
  return text;
}

#define USE(name) "[solver]\nplugin = " name "\n"

/* Another user's file names a folder: no file in it is opened. */
Test(trust, a_config_chooses_no_code)
{
  static const char *const commands[] = {"check", "run"};
  char text[4096];
  proc p;
  char own[2048];
  snprintf(own, sizeof own, "[exec]\nplugin_path = %s\n", ctor_fixture_path("good"));
  proc_write("inner.ini", own);
  snprintf(text, sizeof text,
           "include = inner.ini\n" DRAPE_RUN DRAPE_SHEET DRAPE_STOP USE("fx_ctor_good"));
  proc_write("theirs.ini", text);
  for (int i = 0; i < 2; ++i) {
    proc_expect_error(2,
                      LOOM_TEXTS("inner.ini:2: [exec] plugin_path: ", "may not choose code to run",
                                 "--plugin-path DIR", "LOOM_PLUGIN_PATH", "--trust-config"),
                      LOOM_ARGS(commands[i], "theirs.ini"));
    cr_expect_str_empty(read_ctor_trace());
  }
  proc_loom(&p, LOOM_ARGS("check", "theirs.ini", "--trust-config"));
  cr_expect_eq(p.code, 0, "%s", p.err);
  cr_expect(strstr(read_ctor_trace(), "fx_ctor_good") != NULL);
  proc_loom(&p, LOOM_ARGS("check", "theirs.ini", "--plugin-path", ctor_fixture_path("good")));
  cr_expect_eq(p.code, 0, "%s", p.err);
  cr_expect(strstr(read_ctor_trace(), "fx_ctor_good") != NULL);
}

/* Bad neighbours of the plugin that is used are not opened, so they cannot do anything. */
Test(trust, only_what_is_named_is_opened)
{
  proc p;
  create_trusted_folder("mixed");
  copy_ctor_plugin("good", "mixed", 0755);
  copy_ctor_plugin("exit", "mixed", 0755);
  copy_ctor_plugin("abort", "mixed", 0755);
  copy_ctor_plugin("segv", "mixed", 0755);
  copy_ctor_plugin("hang", "mixed", 0755);
  proc_loom(&p, LOOM_ARGS("check", "drape.ini", "--plugin-path", "mixed"));
  cr_expect_eq(p.code, 0, "%s", p.err);
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "2", "-o", "a.h5", "--plugin-path", "mixed");
  LOOM_FINE("describe", "gd", "--plugin-path", "mixed");
  cr_expect_str_empty(read_ctor_trace());
  LOOM_FINE("describe", "fx_ctor_good", "--plugin-path", "mixed");
  const char *const t = read_ctor_trace();
  cr_expect(strncmp(t, "fx_ctor_good ", 13) == 0 && strchr(t, '\n') == t + strlen(t) - 1, "%s", t);
}

/* By the trace t, a process began with the file fx_ctor_DEED.so. */
static int opened_first(const char *t, const char *deed)
{
  char name[32], want[32];
  long pid[64];
  int num = 0, skip = 0;
  for (; num < 64 && sscanf(t, "%31s %ld%n", name, &pid[num], &skip) == 2; t += skip, ++num) {
    int first = 1;
    for (int i = 0; i < num; ++i) first &= pid[i] != pid[num];
    snprintf(want, sizeof want, "fx_ctor_%s", deed);
    if (first && strcmp(name, want) == 0) return 1;
  }
  return 0;
}

/* `list` opens every file in other processes. */
Test(trust, list_survives_every_file)
{
  static const char *const reasons[] = {
      "fx_ctor_abort.so: opening it ends the process by signal 6",
      "fx_ctor_exit.so: opening it ends the process by exit(0)",
      "fx_ctor_segv.so: opening it ends the process by signal 11",
      "fx_ctor_hang.so: it does not let itself be opened within 5 s"};
  proc p;
  create_trusted_folder("mixed");
  copy_ctor_plugin("good", "mixed", 0755);
  copy_ctor_plugin("exit", "mixed", 0755);
  copy_ctor_plugin("abort", "mixed", 0755);
  copy_ctor_plugin("segv", "mixed", 0755);
  copy_ctor_plugin("hang", "mixed", 0755);
  const double begin = seconds_now();
  proc_loom(&p, LOOM_ARGS("list", "--plugin-path", "mixed"));
  cr_expect_lt(seconds_now() - begin, 30.0);
  cr_assert_eq(p.code, 0, "%s", p.err);
  cr_expect_str_empty(p.err);
  cr_expect(strstr(p.out, "  fx_ctor_good     1.2.3    cpu       MIT\n") != NULL, "%s", p.out);
  cr_expect(strstr(p.out, "  gd  ") != NULL, "%s", p.out);
  for (int i = 0; i < 4; ++i)
    cr_expect(strstr(p.out, reasons[i]) != NULL, "'%s' is not in\n%s", reasons[i], p.out);
  /* none was opened by the process that printed the list, and each bad one was the first of a
   * process */
  const char *const t = read_ctor_trace();
  static const char *const bad[] = {"abort", "exit", "hang", "segv"};
  for (int i = 0; i < 4; ++i) cr_expect(opened_first(t, bad[i]), "%s: %s", bad[i], t);
}

/* One process opens many files; what it does to a file because of the others is no verdict. */
Test(trust, list_judges_each_file_alone)
{
  proc p;
  create_trusted_folder("mixed");
  copy_ctor_plugin("good", "mixed", 0755);
  copy_ctor_plugin("shy", "mixed", 0755); /* ends a process in which fx_ctor_good was opened */
  proc_loom(&p, LOOM_ARGS("list", "--plugin-path", "mixed"));
  cr_assert_eq(p.code, 0, "%s", p.err);
  cr_expect(strstr(p.out, "  fx_ctor_good ") != NULL && strstr(p.out, "  fx_ctor_shy ") != NULL,
            "%s", p.out);
  cr_expect_null(strstr(p.out, "opening it ends"), "%s", p.out);
}

/* The messages that look at all plugins do it in children, too. */
Test(trust, hints_survive_every_file)
{
  create_trusted_folder("mixed");
  copy_ctor_plugin("segv", "mixed", 0755);
  copy_ctor_plugin("exit", "mixed", 0755);
  proc_expect_error(
      2, LOOM_TEXTS("there is no solver plugin 'gdd'; did you mean 'gd'?"),
      LOOM_ARGS("check", "drape.ini", "--plugin-path", "mixed", "--set", "solver.plugin=gdd"));
  /* a fit that fails names the solvers that would do */
  proc p;
  proc_loom(&p,
            LOOM_ARGS("check", "drape.ini", "--plugin-path", "mixed", "--set",
                      "solver.plugin=cholmod_pd", "--set", "contact.bodies.plugin=ipc_barrier"));
  cr_expect_eq(p.code, 2, "%s", p.err);
  cr_expect(strstr(p.err, "solver plugins that fit: cama_pcg, cholmod_newton, ") != NULL, "%s",
            p.err);
  proc_loom(&p, LOOM_ARGS("describe", "gdd", "--plugin-path", "mixed"));
  cr_expect_eq(p.code, 2);
  cr_expect(strstr(p.err, "nearest is 'gd'") != NULL, "%s", p.err);
}

/* Files that others may write to are not opened. */
Test(trust, files_and_folders_of_others)
{
  proc p;
  create_trusted_folder("open");
  copy_ctor_plugin("good", "open", 0777);
  proc_write("use.ini", DRAPE USE("fx_ctor_good"));
  proc_expect_error(2,
                    LOOM_TEXTS("the solver plugin 'fx_ctor_good' cannot be used: ",
                               "open/fx_ctor_good.so was refused: every user may write to it (mode "
                               "0777); run chmod o-w on it"),
                    LOOM_ARGS("check", "use.ini", "--plugin-path", "open"));
  proc_loom(&p, LOOM_ARGS("list", "--plugin-path", "open"));
  cr_expect(strstr(p.out, "fx_ctor_good.so: every user may write to it") != NULL, "%s", p.out);
  cr_assert_eq(chmod("open/fx_ctor_good.so", 0755), 0);
  cr_assert_eq(chmod("open", 0777), 0);
  proc_expect_error(2, LOOM_TEXTS("plugin directory /", "/open (", "every user may write to it"),
                    LOOM_ARGS("check", "use.ini", "--plugin-path", "open"));
  /* nor through a link that lies in a safe one */
  create_trusted_folder("safe");
  cr_assert_eq(symlink("../open/fx_ctor_good.so", "safe/fx_ctor_good.so"), 0);
  proc_expect_error(2, LOOM_TEXTS("cannot be used", "its folder: every user may write to it"),
                    LOOM_ARGS("check", "use.ini", "--plugin-path", "safe"));
  cr_expect_str_empty(read_ctor_trace());
  cr_assert_eq(chmod("open", 0755), 0);
  LOOM_FINE("check", "use.ini", "--plugin-path", "safe");
  cr_expect(read_ctor_trace()[0] != '\0');
  if (geteuid() != 0) return; /* only root can give files away */
  cr_assert_eq(chown("open/fx_ctor_good.so", 12345, (gid_t)-1), 0);
  proc_expect_error(2, LOOM_TEXTS("it belongs to another user (uid 12345, you are 0)"),
                    LOOM_ARGS("check", "use.ini", "--plugin-path", "open"));
  cr_expect_str_empty(read_ctor_trace());
}

/* Relative folders: of the environment and of --set to the current one, of a file to the file. */
Test(trust, relative_folders)
{
  char *const before = strdup(getenv("LOOM_PLUGIN_PATH"));
  char both[2048];
  create_trusted_folder("ct");
  copy_ctor_plugin("good", "ct", 0755);
  create_trusted_folder("sub");
  create_trusted_folder("sub/ct2");
  copy_ctor_plugin("good", "sub/ct2", 0755);
  proc_write("use.ini", DRAPE USE("fx_ctor_good"));
  snprintf(both, sizeof both, "ct:%s", before);
  setenv("LOOM_PLUGIN_PATH", both, 1);
  LOOM_FINE("check", "use.ini");
  setenv("LOOM_PLUGIN_PATH", before, 1);
  free(before);
  LOOM_FINE("check", "use.ini", "--set", "exec.plugin_path=ct");
  proc_write("sub/use.ini", DRAPE_RUN
             "[exec]\nplugin_path = none:ct2\n" DRAPE_SHEET DRAPE_STOP USE("fx_ctor_good"));
  LOOM_FINE("check", "sub/use.ini", "--trust-config");
}

/* Memory is missing, not the plugin: with more and more of it, at some point the program
 * itself has enough and CHOLMOD has not. */
Test(trust, the_true_cause)
{
  char command[256], text[PROC_TEXT];
  int seen = 0, code = 1;
  proc_write("use.ini", DRAPE USE("cholmod_pd"));
  for (int mb = 20; code != 0; mb += 2) {
    snprintf(command, sizeof command,
             "ulimit -v %d000; exec \"$LOOM_BIN\" check use.ini --threads 1 >/dev/null 2>mem.err",
             mb);
    code = system(command);
    FILE *const f = fopen("mem.err", "r");
    cr_assert(f != NULL);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    cr_assert(strstr(text, "there is no solver plugin") == NULL, "%d MB: %s", mb, text);
    if (strstr(text, "the solver plugin 'cholmod_pd' cannot be used: ") == NULL) continue;
    cr_expect(strstr(text, "cannot be loaded for lack of memory, of which this process may have") !=
                  NULL,
              "%d MB: %s", mb, text);
    cr_expect_eq(code, 1 << 8, "%d: %s", code, text);
    ++seen;
  }
  cr_assert(seen > 0);
}
