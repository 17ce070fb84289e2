/* Promises of barriers, through the real binary: an overlapping start is refused, no intersection
 * is ever committed, and a run that cannot keep its cloths apart ends with an error instead. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "log/h5log_schema.h"
#include "support/proc.h"

TestSuite(feasible, .init = proc_enter, .fini = proc_leave);

#define HEAD "[exec]\nbackend = cpu\nthreads = 1\n[log]\naudit = every\n"
#define SELF "[solver]\nplugin = cholmod_pd\n[collision.self]\nplugin = patch_bvh\n"

/* Triangles of 42 um, 3 cm thick: all neighbours overlap. */
Test(feasible, thickness_above_the_triangles_is_refused)
{
  static const char *const models[] = {"ndb", "dbb", "pd_ipc"};
  proc_write("thick.ini", HEAD "[run]\nsteps = 1\n[cloth.a]\nmodel = arap+isometric\npattern = "
                               "regular\nshape = grid\nsize = 0.00042 0.1\n"
                               "resolution = 11 3\nthickness = 0.03\n" SELF "[contact.self]\n");
  for (int k = 0; k < 3; ++k) {
    char set[64];
    proc p;
    snprintf(set, sizeof set, "contact.self.plugin=%s", models[k]);
    proc_loom(&p, LOOM_ARGS("run", "thick.ini", "--quiet", "-o", "thick.h5", "--set", set));
    cr_expect_eq(p.code, 1, "%s: %d\n%s", models[k], p.code, p.err);
    cr_expect(strstr(p.err, "it starts with an overlap") != NULL, "%s", p.err);
    cr_expect(strstr(p.err, "less than its thickness of 0.03 m") != NULL, "%s", p.err);
  }
}

/* Slivers that fly into each other with a barrier far narrower than their way and no gap to be
 * kept: bounds eat up the gap until it is within rounding, from where on no bound holds. */
static const struct {
  const char *run, *cloths, *barrier;
} slivers[] = {
    {"[run]\nsteps = 3\ndt = 0.0635\ngravity = 0 0 -3.57\n[stop]\nmax_iters = 5\n",
     "[cloth.c0]\nmodel = arap+isometric\npattern = regular\nshape = grid\nsize = 0.0715 "
     "0.189\nresolution = 3 10\ndensity = 0.178\n"
     "membrane = 38.0\nk_b = 2.09e-08\nthickness = 0\nvelocity = -6.991 2.646 1.146\n"
     "transform = translate -0.0030 0.0036 0 rotate 0 0 1 84 rotate 1 0 0 14\npins = 0\n"
     "[cloth.c1]\nmodel = arap+isometric\npattern = regular\nshape = grid\nsize = 0.00282 "
     "0.103\nresolution = 8 10\ndensity = 2.15\n"
     "membrane = 195.0\nk_b = 0.186\nthickness = 0\nvelocity = -6.113 -1.785 -10.893\n"
     "transform = translate -0.0019 0.0142 0.03 rotate 0 0 1 63 rotate 1 0 0 21\npins = 0\n",
     "d_hat = 1.67e-05\nslack = 1e-3\n"},
    {"[run]\nsteps = 3\ndt = 0.00245\ngravity = 0 0 -3.11\n[stop]\nmax_iters = 5\n",
     "[cloth.c0]\nmodel = arap+isometric\npattern = regular\nshape = grid\nsize = 0.000106 "
     "0.101\nresolution = 11 3\ndensity = 0.1\n"
     "membrane = 48100\nk_b = 0.00399\nthickness = 0\nvelocity = 4.070 -0.960 9.003\n"
     "transform = translate -0.0137 -0.0105 0 rotate 0 0 1 14 rotate 1 0 0 8\n"
     "[cloth.c1]\nmodel = arap+isometric\npattern = regular\nshape = grid\nsize = 0.496 "
     "0.152\nresolution = 8 3\ndensity = 5.71\n"
     "membrane = 10.6\nk_b = 6.23e-07\nthickness = 0\nvelocity = 5.452 8.228 -4.138\n"
     "transform = translate -0.0063 -0.0183 0.03 rotate 0 0 1 90 rotate 1 0 0 0\n"
     "[cloth.c2]\nmodel = arap+isometric\npattern = regular\nshape = grid\nsize = 0.000166 "
     "0.0572\nresolution = 9 4\ndensity = 0.0118\n"
     "membrane = 133.0\nk_b = 0.178\nthickness = 0\nvelocity = -7.575 1.574 15.812\n"
     "transform = translate -0.0119 -0.0197 0.06 rotate 0 0 1 10 rotate 1 0 0 8\n",
     "d_hat = 0.000101\nslack = 1e-3\n"}};

Test(feasible, ndb_commits_no_intersection)
{
  for (size_t k = 0; k < sizeof slivers / sizeof *slivers; ++k) {
    char text[4096], out[16], fine[16];
    proc p;
    snprintf(out, sizeof out, "thin%d.h5", (int)k);
    snprintf(fine, sizeof fine, "fine%d.h5", (int)k);
    snprintf(text, sizeof text, "%s%s%s%s[contact.self]\nplugin = ndb\n%s", slivers[k].run, HEAD,
             slivers[k].cloths, SELF, slivers[k].barrier);
    proc_write("thin.ini", text);
    proc_loom(&p, LOOM_ARGS("run", "thin.ini", "--quiet", "-o", out));
    /* how near they come hangs on the last digits: another compiler's code may get away */
    cr_expect(p.code == 0 || p.code == 1, "scene %d: %d\n%s", (int)k, p.code, p.err);
    if (p.code == 1) {
      cr_expect(strstr(p.err, "touches within rounding") != NULL, "%s", p.err);
      cr_expect(strstr(p.err, "[filter] min_gap") != NULL, "%s", p.err);
    }
    proc_loom(&p, LOOM_ARGS("verify", out));
    cr_expect_neq(p.code, 3, "%s", p.out);
    /* and with the remedy that the message names */
    proc_loom(&p,
              LOOM_ARGS("run", "thin.ini", "--quiet", "-o", fine, "--set", "filter.min_gap=1e-6"));
    cr_expect_eq(p.code, 0, "scene %d: %d\n%s", (int)k, p.code, p.err);
  }
}

/* A step of 1e8 m: the least share that a bound allows, 1e-12 of it, is more than the gap. */
Test(feasible, forces_beyond_all_bounds_end_the_step_that_they_break)
{
  proc p;
  proc_write("heavy.ini",
             HEAD "[run]\nsteps = 2\ndt = 10\ngravity = 0 0 -1e6\n"
                  "[cloth.a]\nmodel = arap+isometric\npattern = regular\nshape = grid\nsize = 0.8 "
                  "0.8\nresolution = 8 8\n"
                  "thickness = 0.002\ntransform = translate 0 0 0.05\n"
                  "[body.floor]\nshape = plane\n"
                  "[solver]\nplugin = cholmod_newton\n[collision.bodies]\nplugin = sdf\n"
                  "[contact.all]\nplugin = ipc_barrier\npairs = obstacle\nd_hat = 2 mm\n");
  proc_loom(&p, LOOM_ARGS("run", "heavy.ini", "--quiet", "-o", "heavy.h5"));
  cr_expect_eq(p.code, 1, "%d\n%s", p.code, p.err);
  cr_expect(strstr(p.err, "it starts with an overlap") == NULL, "%s", p.err);
  cr_expect(strstr(p.err, "lower dt, or the forces") != NULL, "%s", p.err);
}
