/* test_room.c - scenes that do not fit are refused before they are built, and the estimate of
 * memory is near the memory of a run. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "regress/drape.h"
#include "support/proc.h"

/* The simulated device alone has 64 GiB of addresses: without it, wherever the tests run. */
#define ON_CPU "[exec]\nbackend = cpu\n"

static const int64_t TWO_GB = (int64_t)2 << 30;

static void create_room_scene(void)
{
  proc_enter();
  unsetenv("LOOM_TEST_DEVICE");
  proc_write("drape.ini", DRAPE "[solver]\nplugin = gd\n");
}

TestSuite(room, .init = create_room_scene, .fini = proc_leave);

static void expect_refusal_of_size(const char *place, const char *const *args)
{
  proc p;
  proc_loom_small(&p, TWO_GB, args);
  cr_expect_eq(p.code, 1, "exit code %d: %s", p.code, p.err);
  const char *const texts[] = {place,
                               "vertices with this object, for which a run takes about",
                               " GB ",
                               "ulimit -v leaves",
                               "make it coarser",
                               "memory_check = no"};
  for (size_t k = 0; k < sizeof texts / sizeof *texts; ++k)
    cr_expect(strstr(p.err, texts[k]) != NULL, "'%s' is missing in: %s", texts[k], p.err);
}

/* Within ten seconds of processor time and 2 GB: no part of it has been made. */
Test(room, what_is_too_large_is_refused_before_it_is_built)
{
  expect_refusal_of_size("[cloth.sheet] resolution", LOOM_ARGS("check", "drape.ini", "--set",
                                                               "cloth.sheet.resolution=5000 5000"));
  expect_refusal_of_size(
      "[cloth.sheet] resolution",
      LOOM_ARGS("run", "drape.ini", "--set", "cloth.sheet.resolution=16000 16000"));
  expect_refusal_of_size("[cloth.sheet] resolution",
                         LOOM_ARGS("check", "drape.ini", "--set", "run.detail=64", "--set",
                                   "cloth.sheet.resolution=41 41"));
  cr_assert(!proc_exists("out/drape.h5"));
  proc_write("yarn.ini",
             ON_CPU "[solver]\nplugin = yarn_explicit\n[yarn.a]\npattern = stockinette\n");
  expect_refusal_of_size("[yarn.a] rows",
                         LOOM_ARGS("check", "yarn.ini", "--set", "yarn.a.rows=1000000"));
  proc_write("solid.ini",
             ON_CPU "[solver]\nplugin = gd\n[solid.a]\nsize = 1 1 1\nresolution = 500 500 500\n");
  expect_refusal_of_size("[solid.a] resolution", LOOM_ARGS("check", "solid.ini"));
}

/* Many small ones add up. */
Test(room, objects_are_added_up)
{
  char text[8192] = DRAPE "[solver]\nplugin = gd\n";
  for (int k = 0; k < 12; ++k) {
    char more[200];
    snprintf(more, sizeof more,
             "[cloth.more%d]\nmodel = arap+isometric\npattern = regular\nresolution = 500 "
             "500\ntransform = translate 0 0 %d\n",
             k, k + 2);
    strcat(text, more);
  }
  proc_write("drape.ini", text);
  expect_refusal_of_size("[cloth.more", LOOM_ARGS("check", "drape.ini"));
}

/* Then memory runs out, and the message names the array and its size. */
Test(room, who_insists_is_told_how_much_was_missing)
{
  proc p;
  proc_loom_small(&p, TWO_GB,
                  LOOM_ARGS("check", "drape.ini", "--set", "cloth.sheet.resolution=9000 9000",
                            "--set", "exec.memory_check=no"));
  cr_expect_eq(p.code, 1, "exit code %d: %s", p.code, p.err);
  cr_expect(strstr(p.err, "[cloth.sheet] resolution: no memory for an array of 1.9 GB") != NULL,
            "%s", p.err);
}

static double bytes_behind(const char *text, const char *words)
{
  const char *const at = strstr(text, words);
  char unit[8] = "";
  double value = 0.0;
  cr_assert(at != NULL, "'%s' is missing in: %s", words, text);
  cr_assert_eq(sscanf(at + strlen(words), " %lf %7[kMGB]", &value, unit), 2, "%s", at);
  return value * (strcmp(unit, "GB") == 0 ? 1e9 : strcmp(unit, "MB") == 0 ? 1e6 : 1e3);
}

/* Peak resident size against the estimate; iterations are forced, so that matrices are made. */
static void check_memory_estimate(const char *solver, const char *resolution)
{
  char plugin[64], res[64];
  proc check, run;
  snprintf(plugin, sizeof plugin, "solver.plugin=%s", solver);
  snprintf(res, sizeof res, "cloth.sheet.resolution=%s", resolution);
  proc_loom(&check, LOOM_ARGS("check", "drape.ini", "--set", plugin, "--set", res));
  cr_assert_eq(check.code, 0, "%s", check.err);
  proc_loom(&run, LOOM_ARGS("run", "drape.ini", "--set", plugin, "--set", res, "-n", "1", "--set",
                            "stop.tol_abs=0", "--set", "stop.tol_rel=0", "--set",
                            "stop.max_iters=2", "--overwrite", "-o", "run.h5"));
  const double told = bytes_behind(check.out, "memory       about");
  const double taken = bytes_behind(run.out, "the whole process");
  cr_expect(told > 0.6 * taken && told < 1.7 * taken, "%s %s: told %g, taken %g bytes", solver,
            resolution, told, taken);
}

Test(room, the_estimate_is_near_what_a_run_takes)
{
  check_memory_estimate("gd", "101 101");
  check_memory_estimate("cholmod_pd", "101 101");
  check_memory_estimate("aa_pd", "101 101");
  check_memory_estimate("cholmod_newton", "101 101");
  check_memory_estimate("pcg_newton", "101 101");
  check_memory_estimate("cama_pcg", "101 101");
  check_memory_estimate("pd_bfgs", "101 101");
  check_memory_estimate("vbd", "101 101");
  check_memory_estimate("xpbd", "101 101");
  check_memory_estimate("chebyshev_pd", "101 101");
}

/* Fifty cloths in one place meet each other millions of times: counting ends at 10,000. */
Test(room, intersections_without_number_are_not_all_counted)
{
  char text[16384] = ON_CPU "[solver]\nplugin = gd\n";
  proc p;
  for (int k = 0; k < 50; ++k) {
    char more[100];
    snprintf(more, sizeof more, "[cloth.c%d]\nmodel = arap+isometric\nresolution = 21 21\n", k);
    strcat(text, more);
  }
  proc_write("many.ini", text);
  proc_loom_small(&p, TWO_GB, LOOM_ARGS("check", "many.ini"));
  cr_expect_eq(p.code, 2, "exit code %d: %s", p.code, p.err);
  const char *const at = strstr(p.err, "... and at least ");
  cr_assert(at != NULL, "%s", p.err);
  const long long told = atoll(at + strlen("... and at least "));
  cr_expect(told >= 9900 && told < 1000000, "%s", at);
  proc_loom_small(&p, TWO_GB, LOOM_ARGS("check", "many.ini", "--fix-report"));
  cr_expect_eq(p.code, 3, "exit code %d: %s", p.code, p.err);
}
