/* A sheet falls onto a torus, a body that is not convex, under every contact model for bodies: it
 * stays outside by the torus's equation, which is no function of the framework's, and rests on it.
 */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <math.h>
#include <stdio.h>

#include "support/sim.h"

#define RING "ring_radius = 0.1\ntube_radius = 0.04\n"
static const double ring = 0.1, tube = 0.04; /* m, around the z axis */
static const char scene[] =
    "[run]\nsteps = 40\ndt = 0.01\n[exec]\nbackend = cpu\nthreads = 1\n"
    "[stop]\ntol_abs = 1e-7\ntol_rel = 1e-3\nmax_iters = 60\n[log]\naudit = off\n"
    "[cloth.sheet]\nmodel = arap+isometric\npattern = regular\nsize = 0.32 0.32\nresolution = 17 "
    "17\ndensity = 0.2\nmembrane = 200\n"
    "k_b = 1e-5\nthickness = 1 mm\ndamping = 2\ntransform = translate 0.003 0.002 0.05\n"
    "[body.ring]\nshape = torus\n" RING "friction = 0.4\n"
    "[collision.bodies]\nplugin = sdf\n";

typedef struct model {
  char name[24], text[160];
} model;

#define NEWTON "[solver]\nplugin = cholmod_newton\n"
#define PD     "[solver]\nplugin = cholmod_pd\n"
#define BOUND  "[filter]\nwhen = every\n"
static model models[] = {
    {"ipc_barrier", BOUND NEWTON "[contact.c]\nplugin = ipc_barrier\nd_hat = 2 mm\n"},
    {"dbb", BOUND PD "[contact.c]\nplugin = dbb\nd_hat = 2 mm\n"},
    {"pd_ipc", BOUND PD "[contact.c]\nplugin = pd_ipc\nd_hat = 2 mm\n"},
    {"ndb", PD "[filter]\nmin_gap = 5e-5\n[contact.c]\nplugin = ndb\n"},
    {"penalty", PD "[contact.c]\nplugin = penalty\npairs = obstacle\n"},
    {"repulsion", NEWTON "[contact.c]\nplugin = repulsion\n"},
    {"project", PD "[contact.c]\nplugin = project\n"}};

/* Height of a vertex above the tube, m. */
static double height_above_tube(const double *x)
{
  return hypot(hypot(x[0], x[1]) - ring, x[2]) - tube;
}

/* Largest depth of a vertex in any frame, m; *resting: vertices within 3 mm in the last one. */
static double measure_torus_depth(sim *s, int *resting)
{
  double most = -INFINITY;
  double *const x = calloc(3 * (size_t)s->n, sizeof *x);
  cr_assert(x != NULL);
  for (int64_t t = 0; t < s->frames; ++t) {
    *resting = 0;
    sim_frame(s, t, x, NULL, NULL);
    for (int64_t i = 0; i < s->n; ++i) {
      most = fmax(most, -height_above_tube(x + 3 * i));
      *resting += height_above_tube(x + 3 * i) < 3e-3;
    }
  }
  free(x);
  return most;
}

ParameterizedTestParameters(torus, cloth_stays_outside_and_rests_on_it)
{
  return cr_make_param_array(model, models, sizeof models / sizeof *models, NULL);
}

ParameterizedTest(model *m, torus, cloth_stays_outside_and_rests_on_it)
{
  char text[2048];
  sim s;
  int resting;
  snprintf(text, sizeof text, "%s%s", scene, m->text);
  sim_run(&s, text, NULL, 0);
  const double depth = measure_torus_depth(&s, &resting);
  printf("%s: deepest %.3g m, %d vertices rest on the torus\n", m->name, depth, resting);
  cr_expect(depth < 0, "%s: %g m inside", m->name, depth);
  cr_expect(resting >= 8, "%s: %d", m->name, resting);
  sim_free(&s);
}

/* The control: without contact the sheet falls through. */
Test(torus, without_contact_it_falls_through)
{
  char text[2048];
  sim s;
  int resting;
  snprintf(text, sizeof text, "%s" PD "[contact.c]\nplugin = none\n", scene);
  sim_run(&s, text, NULL, 0);
  const double depth = measure_torus_depth(&s, &resting);
  cr_expect(depth > 0.5 * tube && resting == 0, "%g m inside, %d rest", depth, resting);
  sim_free(&s);
}
