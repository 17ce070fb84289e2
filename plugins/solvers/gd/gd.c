/* gd.c - gradient descent in the mass metric: the exemplary solver plugin.
 *
 * Read this file first if you want to write a solver.  It has every part a solver needs
 * and nothing else: settings, state, one outer iteration, what is kept between steps,
 * and the descriptor.  gd.kern.c shows a kernel that runs on CPU and CUDA.
 *
 * The core poses each time step as: find x with r(x) = 0, where
 *   r(x) = M (x - y)/h^2 + grad Psi(x) + grad B(x) + grad D(x)          [N]
 * is the gradient of an energy E.  Gradient descent (Cauchy 1847) walks downhill,
 *   d = -sigma h^2 M^-1 r(x),   x <- x + alpha d,
 * with the mass as preconditioner.  The core measures r after every iteration and hands
 * it over in step->grad; it also searches alpha in (0, 1] so that E falls.  What is left
 * for the plugin is d and a good length sigma: it grows after a full step and shrinks to
 * what the line search accepted otherwise, so few trial points are wasted.
 */
#include <math.h>

#include "gd.kern.h"
#include "kit/state.h"
#include "loom/plug.h"
#include "loom/plugin.h"

/* Settings: a plain struct, and a table that lets the core parse, check, document and log
 * every member.  Units, ranges and defaults stand here and nowhere else. */
typedef struct {
  double step;
  double growth;
} settings;

static const loom_param params[] = {
    LOOM_PARAM_REAL(settings, step, 1.0, 1e-12, 1e6, "1",
                    "First step length sigma, in units of h^2/m: 1 is the length that solves the "
                    "step of a free particle."),
    LOOM_PARAM_REAL(settings, growth, 2.0, 1.0, 16.0, "1",
                    "Factor on sigma after a step was accepted in full; 1 never grows."),
};

/* An extra number per iteration for the log, beside those the core measures. */
static const loom_column columns[] = {
    {"sigma", "1", "step length tried, in units of h^2/m"},
};

/* State of one instance.  There are no globals: two instances may run side by side. */
typedef struct {
  const loom_host *h;
  const loom_scene *sc;
  const loom_exec *e;
  settings set;
  loom_real sigma;
} gd;

static loom_status gd_create(const loom_host *h, const loom_scene *sc, const loom_exec *e,
                             const void *set, void **self)
{
  /* from here on destroy() cleans up, also if create() fails below */
  LOOM_TRY(plug_new(h, sizeof(gd), self));
  gd *const g = *self;
  g->h = h;
  g->sc = sc;
  g->e = e;
  g->set = *(const settings *)set;
  g->sigma = (loom_real)g->set.step;
  return LOOM_OK;
}

/* The state was changed from outside: forget what was learnt. */
static loom_status gd_reset(void *self)
{
  gd *g = self;
  g->sigma = (loom_real)g->set.step;
  return LOOM_OK;
}

/* ITERATE: one outer iteration.  Buffers are mapped where this instance runs, so the pointers go
 * straight to the kernel; after an error the core unmaps. */
static loom_status gd_iterate(void *self, const loom_step *s, loom_iterate *it)
{
  static const lk_entry direction = LK_ENTRY_MOVES(gd_direction, 7, 0);
  gd *g = self;
  plug_maps m = plug_maps_on(g->h, g->e);
  const gd_args args = {.grad = plug_read(&m, s->grad),
                        .mass = plug_read(&m, g->sc->mass),
                        .dir = plug_write(&m, s->trial),
                        .factor = g->sigma * (loom_real)(s->h * s->h)};

  LOOM_TRY(plug_launch(&m, &direction, &args, g->sc->num_verts, NULL));

  it->inner_res = NAN; /* there is no inner iteration */
  it->own_res = NAN;   /* and no stopping quantity of its own */
  it->extra[0] = (double)g->sigma;
  return LOOM_OK;
}

/* FILTER and MEASURE are over: learn from the accepted length.  A step that collision cut
 * short (toi < 1) says nothing about the energy, and neither does one of length zero. */
static loom_status gd_accepted(void *self, const loom_step *s, const loom_accept *a)
{
  gd *g = self;
  (void)s;
  if (a->toi < 1.0 || a->alpha <= 0.0) return LOOM_OK;
  const double sigma = (double)g->sigma * (a->alpha < 1.0 ? a->alpha : g->set.growth);
  g->sigma = (loom_real)fmin(fmax(sigma, 1e-12), 1e6);
  return LOOM_OK;
}

/* sigma outlives the step, so it has to survive a restart for the same bits to come out. */
static loom_status gd_checkpoint(void *self, const loom_step *s, int restore)
{
  gd *g = self;
  (void)s;
  LOOM_TRY(state_items(g->h, restore, "sigma", LOOM_REAL, 1, &g->sigma));
  LOOM_CHECK(g->h, g->sigma > 0 && (double)g->sigma <= 1e6, LOOM_E_IO,
             "checkpoint: sigma is %g, not in (0, 1e6]; start the run again", (double)g->sigma);
  return LOOM_OK;
}

/* The table the core calls.  `needs` is what the fit test compares with elements and contact
 * before step 0; members that are left NULL are not called, those that plugin.h marks "must" are
 * always there. */
static const loom_solver_ops ops = {
    .struct_size = sizeof ops,
    .needs = LOOM_NEED_ELEM_ENERGY | LOOM_NEED_ELEM_GRADIENT | LOOM_NEED_CONTACT_ENERGY |
             LOOM_NEED_CONTACT_GRADIENT | LOOM_USES_GRADIENT | LOOM_NEEDS_LINE_SEARCH,
    .trial = LOOM_TRIAL_DIRECTION,
    .filter_when = LOOM_FILTER_EVERY,
    .create = gd_create,
    .destroy = plug_free, /* buffers are freed by the core */
    .reset = gd_reset,
    .iterate = gd_iterate,
    .accepted = gd_accepted,
    .checkpoint = gd_checkpoint,
};

static const loom_plugin plugin = {
    LOOM_PLUGIN(solver, ops, LK_BACKENDS),
    .name = "gd",
    .version = "0.1.0",
    .summary = "gradient descent in the mass metric with line search; the exemplary plugin\n"
               "does not converge at a sensible cost: with a barrier and 100 iterations cloth "
               "stays where it should slide",
    .reference = "A. Cauchy, Methode generale pour la resolution des systemes d'equations "
                 "simultanees, C. R. Acad. Sci. Paris 25, 1847",
    .license = "MIT",
    LOOM_SETTINGS(settings, params),
    LOOM_COLUMNS(columns),
};

/* The only exported symbol of the module, loom_plugin_query(). */
LOOM_EXPORT_PLUGIN(&plugin)
