/* gd.c - gradient descent in the mass metric: the exemplary solver plugin.
 *
 * Read this file first if you want to write a solver.  It has only the parts that a solver
 * needs: settings, state, one outer iteration, a checkpoint and the descriptor.  gd.kern.c
 * shows a kernel that runs on CPU and CUDA.
 *
 * In each time step of length h the core asks for positions x with r(x) = 0, where
 *   r(x) = M (x - y)/h^2 + grad Psi(x) + grad B(x) + grad D(x)          [N]
 * is the gradient of an energy E.  M is the mass, y the positions that the vertices would reach
 * without forces but gravity, Psi the elastic energy, B the contact energy and D the dissipation.
 * Gradient descent (Cauchy 1847) with the mass as preconditioner moves x downhill:
 *   d = -sigma h^2 M^-1 r(x),   x <- x + alpha d.
 * The core computes r after every iteration and passes it in step->grad.  The core's line search
 * finds alpha in (0, 1] so that E falls.  The plugin computes d and adapts sigma: it multiplies
 * sigma by `growth` after a full step (alpha = 1) and by alpha after a shorter one, so that the
 * line search rejects few trial points.
 */
#include <math.h>

#include "gd.kern.h"
#include "kit/state.h"
#include "loom/plug.h"
#include "loom/plugin.h"

/* Settings: a plain struct, and a table from which the core parses, checks, documents and logs
 * every member.  The table is the only place for units, ranges and defaults. */
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

/* The log gets this column for each iteration, in addition to the columns of the core. */
static const loom_column columns[] = {
    {"sigma", "1", "step length tried, in units of h^2/m"},
};

/* State of one instance.  Two instances may run side by side, so a plugin has no globals. */
typedef struct {
  const loom_host *host;
  const loom_scene *sc;
  const loom_exec *e;
  settings set;
  loom_real sigma; /* 1, length of the next step in units of h^2/m */
} gd;

static loom_status gd_create(const loom_host *host, const loom_scene *sc, const loom_exec *e,
                             const void *set, void **self)
{
  /* from here on the core calls destroy() even when create() fails: errors need no clean-up here */
  LOOM_TRY(plug_new(host, sizeof(gd), self));
  gd *const g = *self;
  g->host = host;
  g->sc = sc;
  g->e = e;
  g->set = *(const settings *)set;
  g->sigma = (loom_real)g->set.step;
  return LOOM_OK;
}

/* The core calls reset() after it has replaced positions and velocities, as a replay does: the
 * adapted sigma no longer fits. */
static loom_status gd_reset(void *self)
{
  gd *g = self;
  g->sigma = (loom_real)g->set.step;
  return LOOM_OK;
}

/* Phase ITERATE: one outer iteration writes the direction d into step->trial.  plug_read() and
 * plug_write() map buffers in the memory of the backend on which the instance runs, so the kernel
 * can use the pointers.  plug_launch() unmaps the buffers; after an error the core unmaps them. */
static loom_status gd_iterate(void *self, const loom_step *s, loom_iterate *it)
{
  /* the kernel reads and writes 7 reals per vertex, for the log's count of bytes, and no index */
  static const lk_entry direction = LK_ENTRY_MOVES(gd_direction, 7, 0);
  gd *g = self;
  plug_maps m = plug_maps_on(g->host, g->e);
  const gd_args args = {.grad = plug_read(&m, s->grad),
                        .mass = plug_read(&m, g->sc->mass),
                        .dir = plug_write(&m, s->trial),
                        .factor = g->sigma * (loom_real)loom_problem_h2(s->problem)}; /* h^2 */

  LOOM_TRY(plug_launch(&m, &direction, &args, g->sc->num_verts, NULL));

  it->inner_res = NAN; /* the method has no inner iteration */
  it->own_res = NAN;   /* the method has no stopping quantity of its own */
  it->extra[0] = (double)g->sigma;
  return LOOM_OK;
}

/* The phases FILTER and MEASURE are over: adapt sigma to the accepted length alpha.  sigma stays as
 * it is when collision shortened the step (toi < 1) or no step was accepted (alpha = 0): the length
 * then does not depend on the energy. */
static loom_status gd_accepted(void *self, const loom_step *s, const loom_accept *a)
{
  gd *g = self;
  (void)s;
  if (a->toi < 1.0 || a->alpha <= 0.0) return LOOM_OK;
  const double sigma = (double)g->sigma * (a->alpha < 1.0 ? a->alpha : g->set.growth);
  g->sigma = (loom_real)fmin(fmax(sigma, 1e-12), 1e6);
  return LOOM_OK;
}

/* sigma carries over from step to step, so the checkpoint has to hold it: without it a restarted
 * run would give different bits. */
static loom_status gd_checkpoint(void *self, const loom_step *s, int restore)
{
  gd *g = self;
  (void)s;
  LOOM_TRY(state_items(g->host, restore, "sigma", LOOM_REAL, 1, &g->sigma));
  LOOM_CHECK(g->host, g->sigma > 0 && (double)g->sigma <= 1e6, LOOM_E_IO,
             "checkpoint: sigma is %g, not in (0, 1e6]; start the run again", (double)g->sigma);
  return LOOM_OK;
}

/* The callbacks.  Before step 0 the core checks that the elements and the contact models of the
 * scene provide the energies and gradients that `needs` lists.  LOOM_USES_GRADIENT asks the core
 * for step->grad, LOOM_NEEDS_LINE_SEARCH for the line search.  plugin.h marks the members that a
 * solver must set [required]; the core skips members that are NULL. */
static const loom_solver_ops ops = {
    .struct_size = sizeof ops,
    .needs = LOOM_NEED_ELEM_ENERGY | LOOM_NEED_ELEM_GRADIENT | LOOM_NEED_CONTACT_ENERGY |
             LOOM_NEED_CONTACT_GRADIENT | LOOM_USES_GRADIENT | LOOM_NEEDS_LINE_SEARCH,
    .trial = LOOM_TRIAL_DIRECTION,
    .filter_when = LOOM_FILTER_EVERY,
    .create = gd_create,
    .destroy = plug_free, /* the core frees the buffers of an instance */
    .reset = gd_reset,
    .iterate = gd_iterate,
    .accepted = gd_accepted,
    .checkpoint = gd_checkpoint,
};

static const loom_plugin plugin = {
    LOOM_PLUGIN(solver, ops, LK_BACKENDS),
    .name = "gd",
    .version = "0.1.0",
    /* a line about the method; further lines name its limits */
    .summary = "gradient descent in the mass metric with line search; the exemplary plugin\n"
               "does not converge at a sensible cost: with a barrier and 100 iterations cloth "
               "stays where it should slide\n"
               "turns stiff affine bodies too slowly: a bar of 8e8 N/m^2 on a thread ends 22 % of "
               "its way from Newton's method after 20 steps of 1,000 iterations (1e7 N/m^2: 0.1 %)",
    .reference = "A. Cauchy, Methode generale pour la resolution des systemes d'equations "
                 "simultanees, C. R. Acad. Sci. Paris 25, 1847",
    .license = "MIT",
    LOOM_SETTINGS(settings, params),
    LOOM_COLUMNS(columns),
};

/* The only exported symbol of the module, loom_plugin_query(). */
LOOM_EXPORT_PLUGIN(&plugin)
