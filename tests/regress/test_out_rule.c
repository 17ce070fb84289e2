/* The rule of -o through the commands: pattern, untangle, export, ssdf-data. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "regress/drape.h"
#include "support/proc.h"

TestSuite(out_rule, .init = proc_enter, .fini = proc_leave);

#define NOTES "my notes, by hand\n"
#define TRIANGLE                                                                                   \
  "{\"pattern\":{\"panels\":{\"a\":{\"vertices\":[[0,0],[10,0],[0,10]],\"edges\":[{\"endpoints\":" \
  "[0,1]},{\"endpoints\":[1,2]},{\"endpoints\":[2,0]}]}}}}"

static void expect_untouched_notes(const char *path)
{
  char text[64];
  FILE *const f = fopen(path, "r");
  cr_assert(f != NULL, "%s", path);
  text[fread(text, 1, sizeof text - 1, f)] = '\0';
  fclose(f);
  cr_expect_str_eq(text, NOTES, "%s", path);
}

/* The command writes `file`; it may replace its own, and neither notes nor through a link. */
static void keeps_the_rule(const char *file, const char *const *args)
{
  proc p;
  for (int k = 0; k < 2; ++k) { /* new, then over its own */
    proc_loom(&p, args);
    cr_expect_eq(p.code, 0, "%s, %d: %s", file, k, p.err);
    cr_expect(proc_exists(file), "%s", file);
  }
  cr_assert_eq(unlink(file), 0);
  proc_write(file, NOTES);
  proc_expect_error(2, LOOM_TEXTS(file, "so it is not replaced", "name another file"), args);
  expect_untouched_notes(file);
  cr_assert_eq(unlink(file), 0);
  proc_write("notes", NOTES);
  char up[64];
  snprintf(up, sizeof up, "%snotes", strchr(file, '/') != NULL ? "../" : "");
  cr_assert_eq(symlink(up, file), 0);
  proc_expect_error(2, LOOM_TEXTS(file, "is a symbolic link"), args);
  expect_untouched_notes("notes");
  cr_assert_eq(unlink(file), 0);
}

Test(out_rule, pattern_and_untangle)
{
  proc_write("a.json", TRIANGLE);
  keeps_the_rule("a.ini", LOOM_ARGS("pattern", "a.json", "-o", "a.ini"));
  proc_write("in.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
  keeps_the_rule("out.obj", LOOM_ARGS("untangle", "in.obj", "-o", "out.obj"));
  keeps_the_rule("out.ply", LOOM_ARGS("untangle", "in.obj", "-o", "out.ply"));
  LOOM_FINE("untangle", "in.obj", "-o", "in.obj"); /* over itself */
}

Test(out_rule, export)
{
  static const char *const made[][2] = {{"obj", "d/run_000000.obj"},  {"ply", "d/run_000000.ply"},
                                        {"vtk", "d/run_000000.vtk"},  {"vtk", "d/run.vtk.series"},
                                        {"vtk", "d/run.xdmf"},        {"csv", "d/steps.csv"},
                                        {"csv", "d/iters_extra.csv"}, {"csv", "d/inner.csv"}};
  proc_write("drape.ini", DRAPE "[solver]\nplugin = pcg_newton\n");
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "1", "-o", "run.h5");
  for (size_t k = 0; k < sizeof made / sizeof *made; ++k)
    keeps_the_rule(made[k][1], LOOM_ARGS("export", "run.h5", "--format", made[k][0], "-o", "d"));
}

Test(out_rule, data_of_a_body)
{
  proc_write("leg.ini", "[ssdf]\nrig = leg\n[ssdf.knee]\n");
  proc_write("a.h5", NOTES);
  proc_expect_error(2, LOOM_TEXTS("a.h5: ", "is not an HDF5 file", "not replaced"),
                    LOOM_ARGS("ssdf-data", "leg.ini", "-o", "a.h5"));
  expect_untouched_notes("a.h5");
  proc_write("drape.ini", DRAPE "[solver]\nplugin = pcg_newton\n");
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "1", "-o", "run.h5");
  proc_expect_error(2, LOOM_TEXTS("run.h5: ", "no training data of this command"),
                    LOOM_ARGS("ssdf-data", "leg.ini", "-o", "run.h5"));
  LOOM_FINE("info", "run.h5");
  proc_write("notes", NOTES);
  cr_assert(symlink("notes", "b.h5.part") == 0 && symlink("notes", "c.h5") == 0);
  proc_expect_error(2, LOOM_TEXTS("b.h5.part: is a symbolic link"),
                    LOOM_ARGS("ssdf-data", "leg.ini", "-o", "b.h5"));
  proc_expect_error(2, LOOM_TEXTS("c.h5: is a symbolic link"),
                    LOOM_ARGS("ssdf-data", "leg.ini", "-o", "c.h5"));
  expect_untouched_notes("notes");
  proc_write("d.h5.part", NOTES);
  proc_expect_error(2, LOOM_TEXTS("d.h5.part", "is another file"),
                    LOOM_ARGS("ssdf-data", "leg.ini", "-o", "d.h5"));
  expect_untouched_notes("d.h5.part");
}
