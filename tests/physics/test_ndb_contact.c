/* The non-distance barrier under projective dynamics: sheets that collide do not intersect in any
 * step, by the exact audit, however few iterations a step gets; steps keep their full length; full
 * detection runs rarely; without growth it locks; friction is Coulomb's. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "geom/small.kern.h"
#include "log/h5read.h"
#include "support/sim.h"

static const char sheets[] =
    "[run]\nsteps = 12\ndt = 0.01\ngravity = 0 0 0\n[exec]\nbackend = cpu\nthreads = 1\n"
    "[stop]\ntol_abs = 1e-7\ntol_rel = 1e-3\nmax_iters = 200\n[log]\naudit = every\n"
    "[filter]\nmin_gap = 1.5e-4\n"
    "[cloth.one]\nmodel = arap+isometric\npattern = regular\nshape = grid\nsize = 0.2 "
    "0.2\nresolution = 9 9\ndensity = 0.2\nmembrane = 100\n"
    "k_b = 1e-5\nthickness = 0.001\nvelocity = 0 0 1.5\n"
    "[cloth.two]\nmodel = arap+isometric\npattern = regular\nshape = grid\nsize = 0.2 "
    "0.2\nresolution = 9 9\ndensity = 0.2\nmembrane = 100\n"
    "k_b = 1e-5\nthickness = 0.001\nvelocity = 0.2 0 -1.5\n"
    "transform = translate 0.02 0.01 0.04 rotate 0 0 1 25 rotate 1 0 0 8\n"
    "[solver]\nplugin = cholmod_pd\n[collision.self]\nplugin = patch_bvh\n"
    "[contact.self]\nplugin = ndb\nd_hat = 3e-3\n\n";

typedef struct tally {
  int64_t touched, cut; /* steps in contact; steps that were not taken in full */
  double shortest;      /* smallest length of a step */
  double lowest;        /* m, smallest gap */
  double calls;         /* full detections per step */
  int64_t most;         /* largest surplus of a step's full detections over its outer loops */
} tally;

/* Continuous detections of the contact model, as it counts them in its column, into zeros [rows].
 */
static void continuous_of(sim *s, double *out)
{
  h5read *r = NULL;
  static const char *const name = "contact.self.continuous";
  cr_assert_eq(h5read_open(&s->err, s->log, &r), LOOM_OK, "%s", s->err.text);
  for (int c = 0; c < h5read_num_columns(r, "iters_extra"); ++c) {
    char at[H5READ_NAME_LEN], kind;
    cr_assert_eq(h5read_column_info(r, &s->err, "iters_extra", c, at, &kind), LOOM_OK);
    if (strcmp(at, name) == 0)
      cr_assert_eq(h5read_column(r, &s->err, "iters_extra", name, kind, 0, s->iters, out), LOOM_OK,
                   "%s", s->err.text);
  }
  h5read_close(r);
}

/* A row of /iters with `filtered` ran one bound; to these come the detections of the contact model.
 * Outer loops end with a filter, repairs and the last filter of the step among them. */
static tally run_sheets(const char *const *set)
{
  sim s;
  tally t = {.shortest = 1.0, .lowest = INFINITY};
  sim_run(&s, sheets, set, 0);
  h5log_step_row *const st = sim_steps(&s);
  h5log_iter_row *const it = sim_iters(&s);
  double *const found = calloc((size_t)s.iters + 1, sizeof *found);
  cr_assert(found != NULL);
  continuous_of(&s, found);
  for (int64_t k = 0, i = 0; k < s.steps; ++k) {
    int64_t calls = 0, outer = 0, looked = 0;
    double alpha = 1.0;
    for (; i < s.iters && it[i].step == k; ++i) {
      calls += it[i].filtered;
      if (found[i] > looked) looked = (int64_t)found[i];
      outer += it[i].filtered && it[i].k >= 0;
      if (it[i].stage == -1) alpha = it[i].alpha;
    }
    calls += looked;
    t.calls += (double)calls / (double)s.steps;
    t.most = calls - outer > t.most ? calls - outer : t.most;
    t.cut += alpha < 1.0;
    t.shortest = fmin(t.shortest, alpha);
    t.touched += st[k].contacts > 0;
    if (isfinite(st[k].min_gap)) t.lowest = fmin(t.lowest, st[k].min_gap);
    cr_expect_eq(st[k].intersections, 0, "step %d", (int)k);
  }
  printf("%s %s: %d of %d steps in contact, %d iterations, %.3g full detections a step (at most %d "
         "over the outer loops), %d cut, the shortest to %.3g, smallest gap %.3g m\n",
         set[0], set[1], (int)t.touched, (int)s.steps, (int)s.iters, t.calls, (int)t.most,
         (int)t.cut, t.shortest, t.lowest);
  free(st), free(it), free(found);
  sim_free(&s);
  return t;
}

Test(ndb_contact, steps_keep_their_length_with_few_detections)
{
  const tally a = run_sheets((const char *const[]){"contact.self.growth=gap", "run.dt=0.01", NULL});
  cr_expect(a.touched >= 4 && a.cut == 0 && a.lowest > 0.05 * 3e-3);
  cr_expect(a.most <= 2, "%d", (int)a.most);
  const tally b =
      run_sheets((const char *const[]){"stop.max_iters=20", "contact.self.plugin=ndb", NULL});
  const tally c =
      run_sheets((const char *const[]){"stop.max_iters=20", "contact.self.plugin=dbb", NULL});
  cr_expect(b.calls < 0.25 * c.calls, "%g of %g", b.calls, c.calls);
}

/* Steps that end at their cap keep their length, too: repairs come before a bound would cut.
 * Controls: without repairs steps are cut; repairs alone, without weights (w0 = 1e-12, growth_base
 * = 1), leave less than half of the gap (0.41 and 0.45 mm for 1.1 mm).  With 3 to 5 iterations the
 * weights are too young to make a difference. */
Test(ndb_contact, capped_steps_keep_their_length)
{
  static const char *const caps[] = {"stop.max_iters=3", "stop.max_iters=6", "stop.max_iters=8"};
  for (int c = 0; c < 3; ++c) {
    const tally with = run_sheets((const char *const[]){caps[c], "contact.self.w0=1e-5", NULL});
    const tally none = run_sheets(
        (const char *const[]){caps[c], "contact.self.w0=1e-5", "filter.repairs=0", NULL});
    const tally alone = run_sheets((const char *const[]){caps[c], "contact.self.w0=1e-12",
                                                         "contact.self.growth_base=1", NULL});
    cr_expect(with.touched >= 3 && with.cut == 0, "%d cut", (int)with.cut);
    cr_expect(with.most <= 2, "%d", (int)with.most);
    if (c > 0) cr_expect(with.lowest > 2 * alone.lowest, "%g m, %g m", with.lowest, alone.lowest);
    cr_expect(none.cut >= 1 && none.shortest < 0.1, "%d cut", (int)none.cut);
  }
}

/* Every rule, few iterations, friction, with targets of shared masses and carried ages. */
Test(ndb_contact, no_intersections_whatever_the_settings)
{
  static const char *const sets[][3] = {
      {"stop.max_iters=3", "contact.self.self_friction=0.3", NULL},
      {"stop.max_iters=10", "contact.self.growth=literal", NULL},
      {"stop.max_iters=20", "contact.self.growth=partial", NULL},
      {"stop.max_iters=20", "contact.self.targets=mass", NULL},
      {"stop.max_iters=20", "contact.self.carry=yes", NULL},
      {"stop.max_iters=20", "filter.go_on=feasible", NULL},
      {"stop.max_iters=20", "filter.when=every", NULL}};
  for (size_t k = 0; k < sizeof sets / sizeof *sets; ++k) {
    const tally t = run_sheets(sets[k]);
    cr_expect(t.touched >= 3);
    /* the filter alone guarantees 0.15 mm, repairs without weights (w0 = 1e-12, growth_base = 1)
     * leave 0.62 mm at most; 0.78 mm is the least of these */
    cr_expect(t.lowest > 7e-4, "%s %s: %g m", sets[k][0], sets[k][1], t.lowest);
  }
}

/* A sheet falls onto one that is pinned.  K = 1 and a weak weight: no force opens the gap again,
 * and steps are cut to 0; with growth they are not.  No repairs: they would open it. */
Test(ndb_contact, without_growth_it_locks)
{
  tally t[2];
  for (int grows = 0; grows < 2; ++grows) {
    const char *const set[] = {grows ? "contact.self.growth_base=2" : "contact.self.growth_base=1",
                               "contact.self.w0=1e-4",
                               "stop.max_iters=60",
                               "cloth.one.pins=0 8 72 80",
                               "cloth.one.velocity=0 0 0",
                               "run.gravity=0 0 -9.81",
                               "run.steps=25",
                               "filter.repairs=0",
                               NULL};
    t[grows] = run_sheets(set);
  }
  cr_expect(t[0].cut >= 10 && t[0].shortest < 1e-3, "%d steps, %g", (int)t[0].cut, t[0].shortest);
  cr_expect(t[1].cut <= 1 && t[1].shortest > 0.1, "%d steps, %g", (int)t[1].cut, t[1].shortest);
}

/* ---- rest ---- */

/* Two sheets fall by 2 mm onto a table with edges below the edges of the cloth.  The bar is 1 mm/s
 * for the fastest vertex after 0.3 s; seen: 0.1 (aa_pd) and 0.01 mm/s.  Ages that changed with the
 * iterates of every step kept 25 to 37 mm/s, closest points of parallel edges 2 to 4 mm/s (`mollify
 * = no`). */
static const char pile[] =
    "[run]\nsteps = 30\ndt = 0.01\n[exec]\nbackend = cpu\nthreads = 1\n"
    "[stop]\ntol_rel = 5e-3\nmax_iters = 300\n[log]\naudit = every\n[filter]\nmin_gap = 5e-5\n"
    "[cloth.one]\nmodel = arap+isometric\npattern = regular\nshape = grid\nsize = 0.1 "
    "0.1\nresolution = 5 5\ndensity = 0.2\nmembrane = 100\n"
    "k_b = 1e-5\nthickness = 0.001\ndamping = 5\ntransform = translate 0 0 0.0025\n"
    "[cloth.two]\nmodel = arap+isometric\npattern = regular\nshape = grid\nsize = 0.1 "
    "0.1\nresolution = 5 5\ndensity = 0.2\nmembrane = 100\n"
    "k_b = 1e-5\nthickness = 0.001\ndamping = 5\ntransform = translate 0.01 0.005 0.005\n"
    "[body.table]\nshape = box\nsize = 0.5 0.5 0.1\nmesh_size = 0.1\nsdf_resolution = 0\n"
    "position = 0 0 -0.05\nfriction = 0.3\n"
    "[solver]\nplugin = aa_pd\n[collision.self]\nplugin = patch_bvh\n"
    "[contact.all]\nplugin = ndb\npairs = all\ncollision = self\nself_friction = 0.3\n";

/* The upper sheet as it is, and turned: its edges then cross those below. */
Test(ndb_contact, sheets_come_to_rest)
{
  static const char *const solvers[] = {"solver.plugin=aa_pd", "solver.plugin=cholmod_newton",
                                        "solver.plugin=aa_pd"};
  static const char turned[] = "cloth.two.transform=rotate 0 0 1 17 translate 0.01 0.005 0.005";
  for (int k = 0; k < 3; ++k) {
    const char *const set[] = {solvers[k], k == 2 ? turned : NULL, NULL};
    sim s;
    double fastest = 0.0;
    int64_t capped = 0;
    sim_run(&s, pile, set, 0);
    h5log_step_row *const st = sim_steps(&s);
    for (int64_t j = 0; j < s.steps; ++j) {
      capped += st[j].iters >= 300;
      cr_expect_eq(st[j].intersections, 0, "step %d", (int)j);
    }
    for (int64_t i = 0; i < s.n; ++i) fastest = fmax(fastest, lk_norm3(s.v + 3 * i));
    printf("%s: fastest vertex %.3g mm/s after 0.3 s, %d steps at max_iters\n", solvers[k],
           1e3 * fastest, (int)capped);
    cr_expect(fastest < 1e-3, "%s: %g m/s", solvers[k], fastest);
    cr_expect(capped == 0, "%s: %d", solvers[k], (int)capped);
    cr_expect(s.steps == 30 && s.x[2] > 1e-3 && s.x[2] < 1.6e-3, "%g m", s.x[2]);
    free(st);
    sim_free(&s);
  }
}

/* ---- friction ----
 */

/* tan(angle) = 0.5, as in test_slope.c */
static const char slope[] =
    "[run]\nsteps = 60\ndt = 0.01\n[exec]\nbackend = cpu\nthreads = 1\n"
    "[stop]\ntol_abs = 1e-9\ntol_rel = 0\nmax_iters = 100\n[log]\naudit = off\n"
    "[cloth.block]\nmodel = arap+isometric\npattern = regular\nshape = grid\nsize = 0.1 "
    "0.1\nresolution = 6 6\ndensity = 2\n"
    "membrane = 100\nk_b = 1e-4\nthickness = 0\n"
    "transform = rotate 0 1 0 26.56505117707799 translate 0.00035 0 0.0007\n"
    "[body.slope]\nshape = plane\nnormal = 0.4472135954999579 0 0.8944271909999159\n"
    "friction = 0.3\n"
    "[solver]\nplugin = cholmod_pd\n[collision.bodies]\nplugin = sdf\n"
    "[contact.bodies]\nplugin = ndb\npairs = obstacle\nepsilon_v = 1e-4\n";

/* Mean speed and way downhill of the second half of the run, m/s and m. */
static void measure_sheet_slide(const char *mu, double *gain, double *way)
{
  const char *const set[] = {mu, NULL};
  sim s;
  double t0, mean0 = 0.0, mean1 = 0.0;
  sim_run(&s, slope, set, 0);
  double *const x = calloc(6 * (size_t)s.n, sizeof *x), *const v = x + 3 * s.n;
  sim_frame(&s, 30, x, v, &t0);
  *way = 0.0;
  for (int64_t i = 0; i < s.n; ++i) {
    mean0 += (2.0 * v[3 * i] - v[3 * i + 2]) / sqrt(5.0) / (double)s.n;
    mean1 += (2.0 * s.v[3 * i] - s.v[3 * i + 2]) / sqrt(5.0) / (double)s.n;
    *way +=
        (2.0 * (s.x[3 * i] - x[3 * i]) - (s.x[3 * i + 2] - x[3 * i + 2])) / sqrt(5.0) / (double)s.n;
  }
  *gain = (mean1 - mean0) / (s.time - t0);
  free(x);
  sim_free(&s);
}

Test(ndb_contact, a_block_slides_and_sticks)
{
  double a, way;
  measure_sheet_slide("body.slope.friction=0.3", &a, &way);
  const double want = 9.81 * (1.0 - 0.3 * 2.0) / sqrt(5.0);
  printf("slope mu 0.3: %.5g m/s^2, exact %.5g\n", a, want);
  cr_expect_float_eq(a, want, 0.02 * want);
  measure_sheet_slide("body.slope.friction=0.7", &a, &way);
  printf("slope mu 0.7: %.3g m/s^2, %.3g m in 0.3 s\n", a, way);
  /* it creeps: 2 mu lambda / (h diag), with 4.9 mN and 400 N/m, is 1.7 mm/s */
  cr_expect(fabs(way) < 0.3 * 1.75e-3 && fabs(a) < 1e-3, "%g m, %g", way, a);
}
