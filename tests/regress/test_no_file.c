/* Pipes where a file is expected hold no command up, and files of others are not shown. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "regress/drape.h"
#include "support/proc.h"

/* A pipe that is waited for ends the test as hanging. */
TestSuite(no_file, .init = proc_enter, .fini = proc_leave);

static const char not_regular[] = "not a regular file";

Test(no_file, pipes)
{
  cr_assert_eq(mkfifo("pipe", 0600), 0);
  proc_expect_error(2, LOOM_TEXTS("loom: pipe: ", not_regular), LOOM_ARGS("check", "pipe"));
  proc_write("inc.ini", "include = pipe\n" DRAPE "[solver]\nplugin = gd\n");
  proc_expect_errors(2, 2, LOOM_TEXTS("loom: pipe: ", not_regular, "included at inc.ini:1"),
                     LOOM_ARGS("check", "inc.ini"));
  proc_write("mesh.ini",
             DRAPE_RUN DRAPE_STOP "[cloth.a]\nmodel = arap+isometric\nshape = obj\nfile = pipe\n"
                                  "density = 0.2\nmembrane = 1000\nk_b = 1e-4\n"
                                  "[solver]\nplugin = gd\n");
  proc_expect_error(1, LOOM_TEXTS("[cloth.a] file", "pipe", not_regular),
                    LOOM_ARGS("check", "mesh.ini"));
  proc_expect_error(1, LOOM_TEXTS("pipe: is not a regular file"), LOOM_ARGS("info", "pipe"));
  cr_assert_eq(mkdir("materials", 0700), 0);
  cr_assert_eq(mkfifo("materials/felt.ini", 0600), 0);
  proc_write("felt.ini", DRAPE_RUN DRAPE_STOP
             "[cloth.a]\nmodel = arap+isometric\npattern = regular\nshape = grid\nmaterial = felt\n"
             "[solver]\nplugin = gd\n");
  proc_expect_error(2, LOOM_TEXTS("materials/felt.ini", not_regular),
                    LOOM_ARGS("check", "felt.ini"));
}

/* A folder of plugins in which NAME.missing is a pipe. */
Test(no_file, a_pipe_in_place_of_a_reason)
{
  proc p;
  cr_assert_eq(mkdir("folder", 0700), 0);
  cr_assert_eq(mkfifo("folder/needy.missing", 0600), 0);
  proc_loom(&p, LOOM_ARGS("list", "--plugin-path", "folder"));
  cr_assert_eq(p.code, 0, "%s", p.err);
  cr_expect(strstr(p.out, "needy.so: not built: no reason was left") != NULL, "%s", p.out);
}

/* A file that a configuration merely names may be one that its author should not see. */
Test(no_file, included_text_is_not_shown)
{
  static const char *const secrets[] = {"root:SECRET:0:0\n", "[SECRET one]\na = b\n",
                                        "[a]\nSECRET two = 3\n", "SECRET = 1\n"};
  proc p;
  for (int i = 0; i < 4; ++i) {
    proc_write("shadow", secrets[i]);
    proc_write("mine.ini", "include = shadow\n" DRAPE "[solver]\nplugin = gd\n");
    proc_loom(&p, LOOM_ARGS("check", "mine.ini"));
    cr_expect_eq(p.code, 2);
    cr_expect(strstr(p.err, "loom: shadow:") == p.err && strstr(p.err, "SECRET") == NULL, "%s",
              p.err);
    /* of the file that the user names himself it helps to see it */
    proc_loom(&p, LOOM_ARGS("check", "shadow"));
    cr_expect(strstr(p.err, "SECRET") != NULL, "%s", p.err);
  }
}

/* Too few open files are the cause, not the text. */
Test(no_file, too_few_open_files)
{
  char text[PROC_TEXT];
  proc_write("drape.ini", DRAPE "[solver]\nplugin = gd\n");
  (void)!system("exec 2>few.err >/dev/null; ulimit -n 4; exec \"$LOOM_BIN\" check drape.ini");
  FILE *const f = fopen("few.err", "r");
  cr_assert(f != NULL);
  text[fread(text, 1, sizeof text - 1, f)] = '\0';
  fclose(f);
  cr_expect(strstr(text, "4 files may be open at a time") != NULL, "%s", text);
  cr_expect(strstr(text, "please report") == NULL, "%s", text);
}

/* A pipe under the name of the eigenvectors' cache: they are computed again. */
Test(no_file, a_pipe_in_place_of_a_cache)
{
  proc p;
  proc_write("drape.ini", DRAPE "[solver]\nplugin = ndb_pd\ncache = modes\nr1 = 40\n");
  proc_loom(&p, LOOM_ARGS("run", "drape.ini", "--quiet", "-n", "1", "-o", "a.h5"));
  if (strstr(p.err, "ndb_pd") != NULL) cr_skip_test("ndb_pd was not built");
  cr_assert_eq(p.code, 0, "%s", p.err);
  cr_assert_eq(system("cd modes && n=$(ls) && rm \"$n\" && mkfifo \"$n\""), 0);
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "1", "-o", "b.h5");
}
