/* Contact `coulomb` with solver `pd_explicit`: Coulomb's law on slopes and on a belt, Signorini's
 * law for a sheet that lands and one that takes off, and the fixed point of both. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "log/h5read.h"
#include "support/sim.h"

/* A slope with tan(angle) = 0.5 that falls along +x. */
#define SHEET                                                                                \
  "[run]\nsteps = 60\ndt = 0.01\n[exec]\nbackend = cpu\nthreads = 1\n"                       \
  "[stop]\ntol_abs = 1e-11\ntol_rel = 0\nmax_iters = 2000\n"                                 \
  "[log]\naudit = off\nframes_every = 1\nfields = contact_force\n"                           \
  "[cloth.block]\nmodel = arap+isometric\npattern = regular\nshape = grid\nsize = 0.1 0.1\n" \
  "resolution = 6 6\ndensity = 2\nmembrane = 1e3\nk_b = 1e-4\nthickness = 0\n"
#define PD_COULOMB \
  "[solver]\nplugin = pd_explicit\n[contact.bodies]\nplugin = coulomb\npairs = obstacle\n"
#define EXACT "[collision.bodies]\nplugin = sdf\n"
#define TILT  "rotate 0 1 0 26.565051177077990\n"
#define SLOPE                                                    \
  SHEET "transform = translate 0 0 0.001 " TILT PD_COULOMB EXACT \
        "[body.slope]\nshape = plane\nnormal = 0.4472135954999579 0 0.8944271909999159\n"
#define FLAT SHEET "transform = translate 0 0 0.004\n"

static const double g = 9.81, mass = 0.02, h = 0.01; /* m/s^2, kg, s */

static double mean_component(const double *a, int64_t n, int c)
{
  double sum = 0.0;
  for (int64_t i = 0; i < n; ++i) sum += a[3 * i + c];
  return sum / (double)n;
}

static double slope_way(const double *a) { return (2.0 * a[0] - a[2]) / sqrt(5.0); }
static double slope_height(const double *a) { return (a[0] + 2.0 * a[2]) / sqrt(5.0); }

/* Contact forces of all frames, [frames][n][3], N; the caller frees them. */
static double *read_forces(sim *s)
{
  h5read *r = NULL;
  void *data = NULL;
  int rank = 0;
  int64_t d[4];
  cr_assert_eq(h5read_open(&s->err, s->log, &r), LOOM_OK, "%s", s->err.text);
  cr_assert_eq(h5read_dataset(r, &s->err, "fields/contact_force", 1, &data, &rank, d), LOOM_OK,
               "%s", s->err.text);
  h5read_close(r);
  cr_assert(d[0] == s->frames && d[1] == s->n && d[2] == 3);
  return data;
}

static double acceleration_down(sim *s)
{
  double *const v = calloc(3 * (size_t)s->n, sizeof *v), t0, mean0 = 0.0, mean1 = 0.0;
  cr_assert(v != NULL);
  sim_frame(s, 30, NULL, v, &t0);
  for (int64_t i = 0; i < s->n; ++i) {
    mean0 += slope_way(v + 3 * i) / (double)s->n;
    mean1 += slope_way(s->v + 3 * i) / (double)s->n;
  }
  free(v);
  return (mean1 - mean0) / (s->time - t0);
}

static void check_slope(const char *mu, double exact)
{
  static const char *const laws[] = {"contact.bodies.law=gap", "contact.bodies.law=speed"};
  char set[64];
  snprintf(set, sizeof set, "body.slope.friction=%s", mu);
  for (int k = 0; k < 2; ++k) {
    sim s;
    sim_run(&s, SLOPE, (const char *const[]){set, laws[k], NULL}, 0);
    const double a = acceleration_down(&s);
    double most = 0.0, off = 0.0;
    for (int64_t i = 0; i < s.n; ++i) {
      most = fmax(most, fabs(slope_way(s.x + 3 * i) - slope_way(s.rest + 3 * i)));
      off = fmax(off, fabs(slope_height(s.x + 3 * i) - 1e-3));
    }
    printf("mu %s, %s: a = %.9f, exact %.9f m/s^2; moved %.3g m; gap off by %.2g m\n", mu, laws[k],
           a, exact, most, off);
    if (exact > 0.0)
      cr_assert_float_eq(a, exact, 1e-3 * exact, "a = %g", a);
    else
      cr_assert(most < 1e-9, "a sheet that sticks moved by %g m", most);
    cr_assert(off < 1e-9, "the gap is off by %g m", off);
    sim_free(&s);
  }
}

Test(coulomb, sticks_above_the_angle) { check_slope("0.51", 0.0); }
Test(coulomb, slides_at_0_49) { check_slope("0.49", 0.0877432); }
Test(coulomb, slides_at_0_30) { check_slope("0.3", 1.754865); }

/* The same on a mesh: pairs of a vertex and triangles of the body. */
Test(coulomb, slides_on_a_mesh)
{
  sim s;
  sim_run(&s,
          SHEET "transform = translate 0 0 0.001 " TILT PD_COULOMB
                "[collision.self]\nplugin = patch_bvh\n"
                "[body.slope]\nshape = box\nsize = 3 0.3 0.1\nposition = -0.022360679774998 0 "
                "-0.044721359549996\nrotation = 0 1 0 26.56505117707799\nmesh_size = 0.15\n"
                "sdf_resolution = 0\nfriction = 0.3\n",
          NULL, 0);
  const double a = acceleration_down(&s);
  printf("mu 0.3 on a mesh: a = %.9f m/s^2\n", a);
  cr_assert_float_eq(a, 1.754865, 2e-3 * 1.754865, "a = %g", a);
  sim_free(&s);
}

/* A belt of 2 m/s takes the sheet along with mu g until it has the speed of the belt. */
Test(coulomb, belt_takes_it_along)
{
  sim s;
  double *v = NULL, t = 0.0;
  sim_run(&s,
          SHEET "transform = translate 0 0 0.001\n" PD_COULOMB EXACT
                "[body.belt]\nshape = plane\nnormal = 0 0 1\nfriction = 0.5\n"
                "motion = translate 2 0 0\n",
          NULL, 0);
  cr_assert((v = calloc(3 * (size_t)s.n, sizeof *v)) != NULL);
  sim_frame(&s, 20, NULL, v, &t);
  printf("belt: %.9f m/s after 0.2 s, %.9f m/s after 0.6 s\n", mean_component(v, s.n, 0),
         mean_component(s.v, s.n, 0));
  cr_assert_float_eq(mean_component(v, s.n, 0), 0.5 * g * 0.2, 1e-6);
  cr_assert_float_eq(mean_component(s.v, s.n, 0), 2.0, 1e-6);
  free(v);
  sim_free(&s);
}

/* ---- Signorini ---- */

/* It lands from 3 mm above the offset and lies there; Newton's method with a penalty that yields by
 * g/stiffness lies at the same height.  The forces of both are the weight. */
Test(coulomb, lies_as_with_newton)
{
  static const char *const methods[] = {
      PD_COULOMB,
      "[solver]\nplugin = cholmod_newton\n[contact.bodies]\nplugin = penalty\npairs = obstacle\n"
      "stiffness = 1e5\noffset = 1.0981e-3\n"};
  double height[2];
  for (int k = 0; k < 2; ++k) {
    char config[2048];
    sim s;
    snprintf(config, sizeof config, "%s%s%s", FLAT, methods[k],
             EXACT "[body.floor]\nshape = plane\nnormal = 0 0 1\nfriction = 0.5\n");
    sim_run(&s, config, NULL, 0);
    double *const F = read_forces(&s), *const last = F + 3 * (s.frames - 1) * s.n;
    const double sum = (double)s.n * mean_component(last, s.n, 2);
    height[k] = mean_component(s.x, s.n, 2);
    printf("lies at %.9f m, pushed by %.7f N\n", height[k], sum);
    cr_assert_float_eq(sum, mass * g, 1e-5 * mass * g, "%g N", sum);
    free(F);
    sim_free(&s);
  }
  cr_assert_float_eq(height[0], 1e-3, 1e-9);
  cr_assert_float_eq(height[0], height[1], 1e-7);
}

/* Gravity points away from the floor: the way of free flight, and no force. */
Test(coulomb, takes_off_without_a_force)
{
  sim s;
  sim_run(&s,
          SHEET "transform = translate 0 0 0.001\n" PD_COULOMB EXACT
                "[body.floor]\nshape = plane\nnormal = 0 0 1\nfriction = 0.5\n",
          (const char *const[]){"run.gravity=0 0 9.81", NULL}, 0);
  double *const F = read_forces(&s);
  const double n = (double)s.steps, z = 1e-3 + g * h * h * n * (n + 1.0) / 2.0;
  for (int64_t i = 0; i < 3 * s.n * s.frames; ++i) /* NaN in the first frame: no step */
    cr_assert(!(fabs(F[i]) > 0.0), "a force of %g N", F[i]);
  cr_assert_float_eq(mean_component(s.x, s.n, 2), z, 1e-9);
  free(F);
  sim_free(&s);
}

/* ---- the fixed point ---- */

/* A soft sheet, held at its upper edge, slides down the slope and stretches: in every step some
 * vertices stick and others slide.  Each has a force in its cone, and opposite to its slip where it
 * slides.  Forces are logged in single precision. */
Test(coulomb, every_vertex_obeys_the_law)
{
  sim s;
  int stuck = 0, slid = 0;
  double *x0, *x1, t, worst = 0.0;
  sim_run(&s, SLOPE "friction = 0.3\n",
          (const char *const[]){"cloth.block.pins=box -0.051 -1 -1 -0.044 1 1",
                                "cloth.block.membrane=20", "run.steps=20", NULL},
          0);
  double *const F = read_forces(&s);
  x0 = calloc(3 * (size_t)s.n, sizeof *x0);
  x1 = calloc(3 * (size_t)s.n, sizeof *x1);
  cr_assert(x0 != NULL && x1 != NULL);
  for (int64_t f = 1; f < s.frames; ++f) {
    sim_frame(&s, f - 1, x0, NULL, &t);
    sim_frame(&s, f, x1, NULL, &t);
    for (int64_t i = 0; i < s.n; ++i) {
      const double *const R = F + 3 * (f * s.n + i);
      const double u[3] = {x1[3 * i] - x0[3 * i], x1[3 * i + 1] - x0[3 * i + 1],
                           x1[3 * i + 2] - x0[3 * i + 2]};
      const double push = slope_height(R), most = 0.3 * push;
      const double pull[2] = {slope_way(R), R[1]}, slip[2] = {slope_way(u), u[1]};
      const double length = hypot(slip[0], slip[1]), drag = hypot(pull[0], pull[1]);
      if (!(push > 0.0)) continue; /* NaN: held */
      worst = fmax(worst, (drag - most) / push);
      if (length < 1e-9) {
        ++stuck;
        continue;
      }
      ++slid;
      for (int c = 0; c < 2; ++c)
        worst = fmax(worst, fabs(pull[c] + most * slip[c] / length) / push);
    }
  }
  printf("%d stuck, %d slid; off the law by %.2g of the push\n", stuck, slid, worst);
  cr_assert(stuck > 30 && slid > 30);
  cr_assert(worst < 1e-6, "off by %g", worst);
  free(x0), free(x1), free(F);
  sim_free(&s);
}

/* ---- several cloths ---- */

Test(coulomb, refuses_cloths_that_it_cannot_part)
{
  static const char scene[] =
      "[run]\nsteps = 1\n[exec]\nbackend = cpu\n[cloth.over]\nresolution = 4 4\n"
      "transform = translate 0 0 0.5\n[cloth.under]\nresolution = 4 4\n"
      "transform = translate 0 0 0.4\n[body.floor]\nshape = plane\n[collision.bodies]\n"
      "plugin = sdf\n" PD_COULOMB;
  sim s;
  sim_run(&s, scene, NULL, 1);
  cr_expect(s.status == LOOM_E_CONFIG && strstr(s.err.text, "'over' and 'under' would pass"), "%s",
            s.err.text);
  sim_free(&s);
  sim_run(&s, scene, (const char *const[]){"contact.bodies.objects=pass", NULL}, 0);
  sim_free(&s);
}
