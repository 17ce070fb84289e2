/* heavy_ball.c - gradient descent with momentum, as a plugin built outside the tree.
 *
 * B. T. Polyak, Some methods of speeding up the convergence of iteration methods, USSR
 * Computational Mathematics and Mathematical Physics 4(5), 1964, eq. 9:
 *   x_k+1 = x_k - sigma h^2 M^-1 r(x_k) + beta (x_k - x_k-1),
 * here in the mass metric, with the energy line search of the core.  Momentum may point
 * uphill, where the line search finds no lower energy: then it is dropped for one iteration
 * (the gradient restart of B. O'Donoghue and E. Candes, Adaptive restart for accelerated
 * gradient schemes, Foundations of Computational Mathematics 15, 2015, section 3.2).
 *
 * No state outlives a step, so there is no checkpoint() and no reset().
 */
#include <math.h>

#include "heavy_ball.kern.h"
#include "loom/plug.h"
#include "loom/plugin.h"

typedef struct {
  double step;
  double beta;
} settings;

static const loom_param params[] = {
    LOOM_PARAM_REAL(settings, step, 1.0, 1e-12, 1e6, "1",
                    "First step length sigma of a time step, in units of h^2/m."),
    LOOM_PARAM_REAL(settings, beta, 0.9, 0.0, 1.0, "1",
                    "Momentum: share of the previous move (Polyak 1964, eq. 9); 0 is gradient "
                    "descent."),
};

static const loom_column columns[] = {
    {"sigma", "1", "step length tried, in units of h^2/m"},
    {"restart", "1", "1 if the momentum was dropped because it pointed uphill"},
};

typedef struct {
  const loom_host *host;
  const loom_scene *sc;
  const loom_exec *e;
  settings set;
  double sigma;
  int moved;      /* `last` holds a move of this step */
  loom_buf *last; /* real [n][3], m, the previous accepted move */
  loom_buf *most; /* real [1], m, of a reduction */
  plug_later later;
} heavy_ball;

static loom_status heavy_ball_create(const loom_host *host, const loom_scene *sc,
                                     const loom_exec *e, const void *set, void **self)
{
  LOOM_TRY(plug_new(host, sizeof(heavy_ball), self));
  heavy_ball *const b = *self;
  b->host = host;
  b->sc = sc;
  b->e = e;
  b->set = *(const settings *)set;
  const plug_buf all[] = {{"last", LOOM_REAL, 3 * (int64_t)sc->num_verts, &b->last},
                          {"most", LOOM_REAL, 1, &b->most}};
  return plug_bufs_new(host, all, LOOM_COUNT(all));
}

static loom_status heavy_ball_begin_step(void *self, const loom_step *s)
{
  heavy_ball *b = self;
  b->sigma = b->set.step;
  b->moved = 0;
  /* any finite content will do, beta is 0 until there is a move */
  return b->host->buf_copy(b->host, b->e, b->last, s->x_start);
}

static loom_status compute_direction(heavy_ball *b, const loom_step *s, double beta)
{
  static const lk_entry kernel = LK_ENTRY(heavy_ball_direction);
  plug_maps m = plug_maps_on(b->host, b->e);
  const heavy_ball_args args = {.grad = plug_read(&m, s->grad),
                                .mass = plug_read(&m, b->sc->mass),
                                .last = plug_read(&m, b->last),
                                .dir = plug_write(&m, s->trial),
                                .factor = (loom_real)(b->sigma * loom_problem_h2(s->problem)),
                                .beta = (loom_real)beta};
  return plug_launch(&m, &kernel, &args, b->sc->num_verts, NULL);
}

/* For the log alone: the core reads it at the end of the iteration, so this call does not wait. */
static loom_status tell_longest(heavy_ball *b, const loom_step *s, double *own_res)
{
  static const lk_entry kernel = LK_ENTRY(heavy_ball_longest);
  plug_maps m = plug_maps_on(b->host, b->e);
  const heavy_ball_longest_args args = {.dir = plug_read(&m, s->trial)};
  *own_res = 0.0; /* the value is added to it */
  return plug_reduce_later(&m, &kernel, &args, b->sc->num_verts, b->most, &b->later, 1.0, own_res);
}

static loom_status heavy_ball_iterate(void *self, const loom_step *s, loom_iterate *it)
{
  heavy_ball *b = self;
  const double beta = b->moved ? b->set.beta : 0.0;
  int restart = 0;
  LOOM_TRY(compute_direction(b, s, beta));
  if (beta > 0.0) {
    double slope; /* J, of the energy along the direction */
    LOOM_TRY(b->host->dot(b->host, b->e, s->grad, s->trial, &slope));
    restart = slope >= 0.0;
    if (restart) LOOM_TRY(compute_direction(b, s, 0.0));
  }
  it->inner_res = NAN;
  it->extra[0] = b->sigma;
  it->extra[1] = restart;
  return tell_longest(b, s, &it->own_res);
}

/* Keep the move; lengthen sigma after a full step, shorten it to the accepted share. */
static loom_status heavy_ball_accepted(void *self, const loom_step *s, const loom_accept *a)
{
  heavy_ball *b = self;
  (void)s;
  LOOM_TRY(b->host->buf_copy(b->host, b->e, b->last, a->dx));
  b->moved = a->alpha > 0.0;
  if (a->toi == 1.0 && a->alpha > 0.0)
    b->sigma = fmin(fmax(b->sigma * (a->alpha < 1.0 ? a->alpha : 1.5), 1e-12), 1e6);
  return LOOM_OK;
}

static const loom_solver_ops ops = {
    .struct_size = sizeof ops,
    .needs = LOOM_NEED_ELEM_ENERGY | LOOM_NEED_ELEM_GRADIENT | LOOM_NEED_CONTACT_ENERGY |
             LOOM_NEED_CONTACT_GRADIENT | LOOM_USES_GRADIENT | LOOM_NEEDS_LINE_SEARCH,
    .trial = LOOM_TRIAL_DIRECTION,
    .filter_when = LOOM_FILTER_EVERY,
    .create = heavy_ball_create,
    .destroy = plug_free, /* buffers are freed by the core */
    .begin_step = heavy_ball_begin_step,
    .iterate = heavy_ball_iterate,
    .accepted = heavy_ball_accepted,
};

static const loom_plugin plugin = {
    LOOM_PLUGIN(solver, ops, LK_BACKENDS),
    .name = "heavy_ball",
    .version = "0.1.0",
    .summary = "gradient descent with momentum; the example of a plugin outside the tree",
    .reference = "B. T. Polyak, Some methods of speeding up the convergence of iteration "
                 "methods, USSR Comput. Math. Math. Phys. 4(5), 1964, "
                 "doi:10.1016/0041-5553(64)90137-5",
    .license = "MIT",
    LOOM_SETTINGS(settings, params),
    LOOM_COLUMNS(columns),
};

LOOM_EXPORT_PLUGIN(&plugin)
