/* test_pair_friction.c - [friction.NAME]: coefficients of pairs of objects.
 *
 * On a plane that falls by 30 degrees (gravity is turned, the plane is level) a sheet with the
 * coefficient mu gains speed by g (sin 30 - mu cos 30) where mu < tan 30 = 0.577, and stays where
 * mu is larger.  All bodies and contact models have 0.5 as their own coefficient, pairs have 0.3
 * (2.35629 m/s^2) and 0.7. */
#define _DEFAULT_SOURCE /* mkstemps */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loom/plugin.h"
#include "support/sim.h"
#include "support/tiny_file.h"

#define RUN                                                                              \
  "[run]\ndt = 0.01\nsteps = 40\ngravity = 4.905 0 -8.49570921\n[exec]\nbackend = cpu\n" \
  "threads = 1\n[stop]\ntol_abs = 1e-8\ntol_rel = 0\nmax_iters = 100\n[log]\naudit = end\n"
#define SHEET(name, y)                                                                           \
  "[cloth." name "]\nmodel = arap+isometric\npattern = regular\nsize = 0.3 0.3\nresolution = "   \
  "9 9\ndensity = 0.2\nmembrane = 500\nk_b = 1e-4\nthickness = 1 mm\ntransform = translate 0 " y \
  " 0.003\n"
#define BOX(name, y)                                                                      \
  "[body." name "]\nshape = box\nsize = 4 0.76 0.2\nposition = 0 " y " -0.1\nfriction = " \
  "0.5\n"
#define MESH "mesh_size = 0.5\nsdf_resolution = 0\n"
/* held everywhere */
#define TABLE                                                                          \
  "[cloth.table]\nmodel = arap+isometric\npattern = regular\nsize = 1.6 1.2\n"         \
  "resolution = 25 25\ntransform = translate 0.2 0.3 0\nthickness = 1 mm\npins = box " \
  "-9 -9 -9 9 9 9\n"
#define MESHES                                                                               \
  "[solver]\nplugin = cholmod_newton\n[collision.self]\nplugin = patch_bvh\n[contact.all]\n" \
  "plugin = ipc_barrier\nself_friction = 0.5\n"
#define CONTACT                  "[collision.bodies]\nplugin = sdf\n" MESHES
#define PAIR(name, one, two, mu) "[friction." name "]\nbetween = " one ", " two "\nmu = " mu "\n"

enum { SHEET_VERTS = 81 };
static const double law = 9.81 * (0.5 - 0.3 * 0.86602540378443865);

/* Mean speed downhill (m/s) of the 81 vertices from `first` on, and what it gains (m/s^2) over the
 * last ten steps. */
static void measure_gain(sim *s, int first, double *speed, double *gain)
{
  double mean[2] = {0, 0}, time[2];
  for (int end = 0; end < 2; ++end) {
    sim_frame(s, end ? s->frames - 1 : s->frames - 11, s->x, s->v, &time[end]);
    for (int i = first; i < first + SHEET_VERTS; ++i) mean[end] += s->v[3 * i] / SHEET_VERTS;
  }
  *speed = mean[1];
  *gain = (mean[1] - mean[0]) / (time[1] - time[0]);
}

/* The first sheet slides, the second one stays. */
static void expect_slide_and_stick(const char *scene, double bound)
{
  static const char *const frames[] = {"log.frames_every=1", NULL};
  double speed[2], gain[2];
  sim s;
  sim_run(&s, scene, frames, 0);
  for (int k = 0; k < 2; ++k) measure_gain(&s, k * SHEET_VERTS, &speed[k], &gain[k]);
  printf("mu 0.3: %.6f m/s^2, law %.6f; mu 0.7: %.2e m/s^2, %.2e m/s\n", gain[0], law, gain[1],
         speed[1]);
  cr_expect_float_eq(gain[0], law, bound * law, "%g m/s^2", gain[0]);
  cr_expect_lt(fabs(gain[1]), 1e-3, "%g m/s^2", gain[1]);
  cr_expect_lt(fabs(speed[1]), 1e-3, "%g m/s", speed[1]); /* epsilon_v */
  sim_free(&s);
}

/* The boxes are meshes: pairs of triangles. */
Test(pair_friction, sheets_on_two_boxes)
{
  expect_slide_and_stick(RUN SHEET("slides", "0") SHEET("sticks", "0.8") BOX("left", "0")
                             MESH BOX("right", "0.8")
                                 MESH MESHES PAIR("a", "cloth.slides", "body.left", "0.3")
                                     PAIR("b", "body.right", "cloth.sticks", "0.7"),
                         0.006);
}

Test(pair_friction, two_sheets_on_one_box)
{
  expect_slide_and_stick(RUN SHEET("slides", "-0.16") SHEET("sticks", "0.16") BOX("one", "0")
                             CONTACT PAIR("a", "cloth.slides", "body.one", "0.3")
                                 PAIR("b", "body.one", "cloth.sticks", "0.7"),
                         1e-4);
}

Test(pair_friction, cloth_on_cloth)
{
  expect_slide_and_stick(RUN SHEET("slides", "0") SHEET("sticks", "0.6")
                             TABLE CONTACT PAIR("a", "cloth.slides", "cloth.table", "0.3")
                                 PAIR("b", "cloth.table", "cloth.sticks", "0.7"),
                         0.005);
}

/* ---- every model ----
 * A pair that has the coefficient which the body or the model had gives the same bits. */

typedef struct method {
  const char *contact, *solver;
  int cloths; /* 1: between cloths, too */
} method;

static const method methods[] = {
    {"ipc_barrier", "cholmod_newton", 1}, {"dbb", "cholmod_newton", 1},
    {"ogc", "cholmod_newton", 1},         {"ndb", "cholmod_newton", 1},
    {"penalty", "cholmod_newton", 1},     {"cama_repulsion", "cholmod_newton", 1},
    {"pd_ipc", "cholmod_pd", 0},          {"project", "cholmod_newton", 0}};

/* x [n][3] (m) after six steps, to be freed. */
static double *run_method(const method *m, const char *scene, int64_t *n, const char *more)
{
  char solver[64], contact[64];
  snprintf(solver, sizeof solver, "solver.plugin=%s", m->solver);
  snprintf(contact, sizeof contact, "contact.all.plugin=%s", m->contact);
  const char *const sets[] = {solver, contact, "run.steps=6", "stop.max_iters=30", more, NULL};
  sim s;
  sim_run(&s, scene, sets, 0);
  double *const x = malloc(3 * sizeof *x * (size_t)s.n);
  cr_assert(x != NULL);
  memcpy(x, s.x, 3 * sizeof *x * (size_t)s.n);
  *n = s.n;
  sim_free(&s);
  return x;
}

static void expect_same_bits(const method *m, const char *own, const char *paired, const char *more)
{
  int64_t n, also;
  double *const x = run_method(m, own, &n, more), *const y = run_method(m, paired, &also, more);
  cr_expect(n == also && memcmp(x, y, 3 * sizeof *x * (size_t)n) == 0, "%s", m->contact);
  free(x);
  free(y);
}

#define BARE                                                                                \
  "[solver]\nplugin = cholmod_newton\n[collision.bodies]\nplugin = sdf\n[collision.self]\n" \
  "plugin = patch_bvh\n[contact.all]\nplugin = ipc_barrier\n"

Test(pair_friction, every_model_reads_pairs_with_bodies)
{
  static const char own[] = RUN SHEET("a", "0") "[body.one]\nshape = plane\nfriction = 0.3\n" BARE;
  static const char paired[] =
      RUN SHEET("a", "0") "[body.one]\nshape = plane\nfriction = "
                          "0\n" BARE PAIR("p", "cloth.a", "body.one", "0.3");
  for (size_t k = 0; k < LOOM_COUNT(methods); ++k) expect_same_bits(&methods[k], own, paired, NULL);
}

/* The sheet lies within the reach of its table from the first step on. */
Test(pair_friction, every_model_reads_pairs_of_cloths)
{
  static const char own[] = RUN SHEET("a", "0") TABLE BARE "self_friction = 0.3\n";
  static const char paired[] =
      RUN SHEET("a", "0") TABLE BARE PAIR("p", "cloth.a", "cloth.table", "0.3");
  for (size_t k = 0; k < LOOM_COUNT(methods); ++k)
    if (methods[k].cloths)
      expect_same_bits(&methods[k], own, paired, "cloth.a.transform=translate 0 0 0.0015");
}

/* A sheet over a held one, both in one file: the cloth rubs on itself. */
Test(pair_friction, a_cloth_on_itself)
{
  enum { SIDE = 5 };
  char path[] = "/tmp/loom_two_XXXXXX.obj", text[8192], scene[2048];
  size_t used = 0;
  for (int k = 0; k < 2 * SIDE * SIDE; ++k)
    used += (size_t)snprintf(text + used, sizeof text - used, "v %g %g %g\n",
                             0.05 * (k % SIDE) + 0.01 * (k / (SIDE * SIDE)),
                             0.05 * (k / SIDE % SIDE), 0.0015 * (k / (SIDE * SIDE)));
  for (int k = 0; k < 2 * SIDE * SIDE; ++k)
    if (k % SIDE < SIDE - 1 && k / SIDE % SIDE < SIDE - 1)
      used += (size_t)snprintf(text + used, sizeof text - used, "f %d %d %d\nf %d %d %d\n", k + 1,
                               k + 2, k + 1 + SIDE, k + 2, k + 2 + SIDE, k + 1 + SIDE);
  tiny_file(path, text);
  snprintf(scene, sizeof scene,
           RUN
           "[cloth.a]\nmodel = arap+isometric\nshape = obj\nfile = %s\nthickness = 1 mm\npins = "
           "box -9 -9 -9 9 9 0.001\n" MESHES PAIR("p", "cloth.a", "cloth.a", "0.5"),
           path);
  int64_t n, also;
  const method *const m = &methods[0];
  double *const x = run_method(m, scene, &n, NULL);
  double *const y = run_method(m, scene, &also, "contact.all.self_friction=0");
  double *const z = run_method(m, scene, &also, "friction.p.mu=0");
  cr_expect_eq(memcmp(x, y, 3 * sizeof *x * (size_t)n), 0);
  cr_expect_neq(memcmp(x, z, 3 * sizeof *x * (size_t)n), 0);
  free(x);
  free(y);
  free(z);
  unlink(path);
}

/* ---- names and refusals ---- */

static void expect_pair_refusal(const char *scene, const char *pairs, const char *set,
                                const char *part)
{
  char text[4096];
  sim s;
  snprintf(text, sizeof text, "%s%s", scene, pairs);
  sim_run(&s, text, (const char *const[]){set, NULL}, 1);
  cr_expect_eq(s.status, LOOM_E_CONFIG, "%s", pairs);
  cr_expect(strstr(s.err.text, part) != NULL, "%s\nlacks: %s", s.err.text, part);
  sim_free(&s);
}

Test(pair_friction, refusals_name_the_section)
{
  static const char scene[] = RUN SHEET("one", "0") BOX("left", "0") BOX("right", "2") CONTACT;
  expect_pair_refusal(scene, PAIR("p", "cloth.onn", "body.left", "1"), NULL,
                      "[friction.p] between: there is no \"cloth.onn\"; there is cloth.one");
  expect_pair_refusal(scene, PAIR("p", "cloth.one", "body.rigt", "1"), NULL, "there is body.right");
  expect_pair_refusal(scene, PAIR("p", "body.left", "body.right", "1"), NULL, "both bodies");
  expect_pair_refusal(scene, PAIR("p", "cloth.one", "cloth.one body.left", "1"), NULL, "two names");
  expect_pair_refusal(scene, "[friction.p]\nbetween = cloth.one\nmu = 1\n", NULL, "two names");
  expect_pair_refusal(scene, "[friction.p]\nbetween = cloth.one, body.left\n", NULL,
                      "mu is missing");
  expect_pair_refusal(scene, PAIR("p", "cloth.one", "body.left", "-1"), NULL, "[friction.p] mu");
  expect_pair_refusal(
      scene, PAIR("p", "cloth.one", "body.left", "1") PAIR("q", "body.left", "cloth.one", "0"),
      NULL, "[friction.q] between");
  expect_pair_refusal(
      scene, PAIR("p", "cloth.one", "body.left", "1"), "contact.all.plugin=repulsion",
      "[friction.p] needs friction per pair of an object and a body, but [contact.all] "
      "'repulsion' does not have it");
  expect_pair_refusal(scene, PAIR("p", "cloth.one", "cloth.one", "1"), "contact.all.pairs=obstacle",
                      "[friction.p] has no effect: no contact model meets the two");
}

/* body.NAME stands for all its copies, and one of them may be named. */
Test(pair_friction, a_name_stands_for_copies)
{
  static const char scene[] =
      RUN SHEET("one", "0") SHEET("two", "0.8") BOX("tile", "0.4") "copies = 1 2 1\ncopy_spacing = "
                                                                   "0 0.8 0\n" CONTACT;
  static const char *const pairs[] = {"cloth.one, body.tile", "cloth.two, body.tile",
                                      "cloth.two, body.tile_1"};
  char between[2][96];
  for (int copy = 0; copy < 2; ++copy) {
    double speed[2], gain[2];
    sim s;
    snprintf(between[0], sizeof between[0], "friction.p.between=%s", pairs[0]);
    snprintf(between[1], sizeof between[1], "friction.q.between=%s", pairs[1 + copy]);
    sim_run(&s, scene,
            (const char *const[]){between[0], between[1], "friction.p.mu=0.3", "friction.q.mu=0.7",
                                  "body.tile.friction=0", "log.frames_every=1", NULL},
            0);
    for (int k = 0; k < 2; ++k) measure_gain(&s, k * SHEET_VERTS, &speed[k], &gain[k]);
    cr_expect_float_eq(gain[0], law, 1e-4 * law, "%s: %g m/s^2", between[1], gain[0]);
    cr_expect_lt(fabs(speed[1]), 1e-3, "%s: %g m/s", between[1], speed[1]);
    sim_free(&s);
  }
}
