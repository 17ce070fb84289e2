/* xpbd.c - extended position based dynamics: compliant constraints, one after the other, colour by
 * colour.
 *
 * M. Macklin, M. Mueller, N. Chentanez, XPBD: Position-Based Simulation of Compliant Constrained
 * Dynamics, MIG 2016, doi 10.1145/2994258.2994272.
 *
 * An energy that is 1/2 C' alpha^-1 C is the compliant constraint C = 0 with multiplier lambda, and
 * implicit Euler is (section 4)
 *   M (x - y) = J' lambda,   C(x) + a lambda = 0,   a = alpha/h^2.
 * Gauss-Seidel takes the constraints one by one (equation 18, for a C of several components):
 *   dlambda = -(J M^-1 J' + a)^-1 (C + a lambda),   x += M^-1 J' dlambda,   lambda += dlambda
 *
 * Elements with a projective form have C = A x - p(x), alpha = 1/w and J = A.
 * DEVIATION: the paper's C is a number, for instance |A x - p|.  Its gradient turns with x, and the
 * moves of x along earlier gradients are dropped (g = 0 in section 4), so that its iterations end
 * near, not at, the solution.  J = A is constant (the derivative of p is orthogonal to C): so
 * M (x - y) = A' lambda holds to rounding, and the iterations end at the step's solution.
 *
 * The host gives w A'(A x - p) and w A'A of elements, not A.  With the pull P = A' lambda the
 * update is the same, by the identity of Woodbury:
 *   (M + h^2 w A'A) dx = -(h^2 w A'(A x - p) + P),   P += M dx
 * This is a system of as many rows as the element has corners.
 *
 * Contact is one more constraint, of all vertices at once, with the gradient of the contact models
 * in place of w A'(A x - p); its vertices move as in Jacobi's method (xpbd.kern.c).  Its pull also
 * takes in moves from outside the sweep: the offset of the point where the step begins, and the
 * part of a move that FILTER rejects.
 */
#include <math.h>
#include <stdlib.h>

#include "kit/contact_rows.h"
#include "order.h"
#include "xpbd.kern.h"

static const lk_entry k_project = LK_ENTRY_MOVES(xpbd_project, 0, 0);
static const lk_entry k_contact = LK_ENTRY_MOVES(xpbd_contact, 12, 5);
static const lk_entry k_absorb = LK_ENTRY_MOVES(xpbd_absorb, 13, 1);

enum { COL_COLOURS = 0, COL_CONTACT = 1 };

typedef struct {
  double compliance;
  int32_t multipliers;
} settings;

enum { MULTIPLIERS_KEPT = 0, MULTIPLIERS_NONE = 1 };

static const loom_param params[] = {
    LOOM_PARAM_REAL(
        settings, compliance, 1.0, 1e-9, 1e9, "1",
        "Factor on the compliance 1/w of the elements; 1 is the problem as it is posed, near "
        "0 are constraints without compliance, which solve another one."),
    LOOM_PARAM_ENUM(
        settings, multipliers, MULTIPLIERS_KEPT, "kept|none",
        "Multipliers within a step; none is plain position based dynamics: its stiffness "
        "grows with the iterations."),
};

static const loom_column columns[] = {
    {"colours", "1", "colours of all blocks of elements together, launches of a sweep"},
    {"contact_blocks", "1", "3x3 blocks of contact in the sweep"},
};

typedef struct block { /* of elements */
  order o;
  loom_buf *weight; /* real [ne][a][a], N/m, w A'A */
  loom_buf *pull;   /* real [ne][a][3], kg m, A' lambda */
} block;

typedef struct {
  const loom_host *host;
  const loom_scene *sc;
  const loom_exec *e;
  settings set;
  contact_rows k;
  block *blocks; /* [num_blocks] */
  int32_t colours;
  loom_buf *grad; /* real [.][a][3], N, of a colour's elements */
  loom_buf *pull; /* real [n][3], kg m, of contact */
  loom_buf *x;    /* real [n][3], m, the sweep's point */
} xpbd;

static loom_status open_block(xpbd *s, int32_t b, int64_t *most)
{
  const loom_elem_block *const of = &s->sc->blocks[b];
  block *const k = &s->blocks[b];
  const int64_t a = of->arity, ne = of->num_elems;
  LOOM_CHECK(s->host, a <= XPBD_ARITY, LOOM_E_UNSUPPORTED,
             "elements %s have %d vertices; at most %d are known here", of->type, of->arity,
             XPBD_ARITY);
  LOOM_TRY(order_new(&k->o, s->host, s->e, of, s->sc->num_verts));
  LOOM_TRY(s->host->buf_new(s->host, "weights", LOOM_REAL, ne * a * a, &k->weight));
  LOOM_TRY(s->host->buf_new(s->host, "pull of elements", LOOM_REAL, 3 * ne * a, &k->pull));
  for (int32_t c = 0; c < k->o.num; ++c) {
    const int64_t need = 3 * a * (k->o.first[c + 1] - k->o.first[c]);
    *most = need > *most ? need : *most;
  }
  s->colours += k->o.num;
  return LOOM_OK;
}

static loom_status xpbd_create(const loom_host *host, const loom_scene *sc, const loom_exec *e,
                               const void *set, void **self)
{
  const int64_t n3 = 3 * (int64_t)sc->num_verts;
  int64_t most = 0;
  LOOM_TRY(plug_new(host, sizeof(xpbd), self));
  xpbd *const s = *self;
  s->host = host;
  s->sc = sc;
  s->e = e;
  s->set = *(const settings *)set;
  s->blocks = calloc((size_t)sc->num_blocks + 1, sizeof *s->blocks);
  LOOM_CHECK(host, s->blocks != NULL, LOOM_E_NOMEM, "no memory for %d kinds of elements",
             sc->num_blocks);
  LOOM_TRY(contact_rows_new(&s->k, host, e, sc->num_verts));
  for (int32_t b = 0; b < sc->num_blocks; ++b) LOOM_TRY(open_block(s, b, &most));
  LOOM_TRY(host->buf_new(host, "gradients of elements", LOOM_REAL, most, &s->grad));
  LOOM_TRY(host->buf_new(host, "pull of contact", LOOM_REAL, n3, &s->pull));
  return host->buf_new(host, "x of the sweep", LOOM_REAL, n3, &s->x);
}

static void xpbd_destroy(void *self)
{
  xpbd *const s = self;
  if (s == NULL) return;
  for (int32_t b = 0; s->blocks != NULL && b < s->sc->num_blocks; ++b) order_free(&s->blocks[b].o);
  free(s->blocks);
  plug_free(self);
}

/* lambda = 0 (algorithm 1, line 4) */
static loom_status clear_multipliers(xpbd *s)
{
  for (int32_t b = 0; b < s->sc->num_blocks; ++b)
    LOOM_TRY(s->host->fill(s->host, s->e, s->blocks[b].pull, 0.0));
  return LOOM_OK;
}

static loom_status xpbd_begin_step(void *self, const loom_step *st)
{
  xpbd *const s = self;
  (void)st;
  for (int32_t b = 0; b < s->sc->num_blocks; ++b)
    LOOM_TRY(s->host->elem_weights(s->host, b, s->blocks[b].weight));
  return clear_multipliers(s);
}

/* pull += sign m (a - b) */
static loom_status add_point_difference(xpbd *s, loom_buf *a, loom_buf *b, double sign)
{
  plug_maps m = plug_maps_on(s->host, s->e);
  const xpbd_absorb_args args = {.fixed = plug_read(&m, s->sc->fixed),
                                 .mass = plug_read(&m, s->sc->mass),
                                 .a = plug_read(&m, a),
                                 .b = plug_read(&m, b),
                                 .pull = plug_rdwr(&m, s->pull),
                                 .sign = (lk_real)sign};
  return plug_launch(&m, &k_absorb, &args, s->sc->num_verts, NULL);
}

/* The sweep's point from st->x: contact, and without any the inertial target. */
static loom_status compute_contact_point(xpbd *s, const loom_step *st)
{
  LOOM_TRY(contact_rows_at(&s->k, st, LOOM_HESS_PSD_CLAMP));
  plug_maps m = plug_maps_on(s->host, s->e);
  xpbd_contact_args a = {.fixed = plug_read(&m, s->sc->fixed),
                         .mass = plug_read(&m, s->sc->mass),
                         .x0 = plug_read(&m, st->x),
                         .pull = plug_rdwr(&m, s->pull),
                         .x = plug_write(&m, s->x),
                         .h2 = (lk_real)loom_problem_h2(st->problem)};
  if (s->k.any) {
    a.force = plug_read(&m, s->k.force);
    a.row = plug_read(&m, s->k.A.row);
    a.col = plug_read(&m, s->k.A.col);
    a.val = plug_read(&m, s->k.A.val);
  }
  return plug_launch(&m, &k_contact, &a, s->sc->num_verts, NULL);
}

/* All constraints of one colour of a block. */
static loom_status project_colour_constraints(xpbd *s, const loom_step *st, int32_t b,
                                              int32_t colour)
{
  const loom_elem_block *const of = &s->sc->blocks[b];
  const block *const k = &s->blocks[b];
  const int32_t lo = k->o.first[colour], count = k->o.first[colour + 1] - lo;
  const loom_elem_rows r = {
      .struct_size = sizeof r, .block = b, .first = lo, .count = count, .elem = k->o.elem};
  LOOM_TRY(s->host->elem_gradients(s->host, &r, s->x, s->grad));
  plug_maps m = plug_maps_on(s->host, s->e);
  xpbd_project_args a = {.elem = plug_read(&m, k->o.elem),
                         .verts = plug_read(&m, of->verts),
                         .weight = plug_read(&m, k->weight),
                         .grad = plug_read(&m, s->grad),
                         .mass = plug_read(&m, s->sc->mass),
                         .fixed = plug_read(&m, s->sc->fixed),
                         .pull = plug_rdwr(&m, k->pull),
                         .x = plug_rdwr(&m, s->x),
                         .scale = (lk_real)(loom_problem_h2(st->problem) / s->set.compliance),
                         .arity = of->arity};
  LOOM_TRY(m.status);
  lk_moved(s->e, count, LK_MOVES((of->arity + 17) * of->arity, 2 * of->arity + 1));
  a.elem += lo;
  return plug_launch(&m, &k_project, &a, count, NULL);
}

static loom_status xpbd_iterate(void *self, const loom_step *st, loom_iterate *it)
{
  xpbd *const s = self;
  const loom_host *const host = s->host;
  host->tic(host, "contact");
  if (st->iter == 0) {
    LOOM_TRY(host->fill(host, s->e, s->pull, 0.0));
    LOOM_TRY(add_point_difference(s, st->x, st->y, 1.0));
  }
  LOOM_TRY(compute_contact_point(s, st));
  host->toc(host, "contact");
  host->tic(host, "sweep");
  if (s->set.multipliers == MULTIPLIERS_NONE) LOOM_TRY(clear_multipliers(s));
  for (int32_t b = 0; b < s->sc->num_blocks; ++b)
    for (int32_t c = 0; c < s->blocks[b].o.num; ++c)
      LOOM_TRY(project_colour_constraints(s, st, b, c));
  host->toc(host, "sweep");
  it->inner_res = NAN;
  it->own_res = NAN;
  it->extra[COL_COLOURS] = (double)s->colours;
  it->extra[COL_CONTACT] = s->k.any ? (double)s->k.kind.count : 0.0;
  return host->axpby(host, s->e, 1.0, s->x, 0.0, st->trial);
}

/* Adds the part of the move that FILTER rejected to the pull of contact. */
static loom_status xpbd_accepted(void *self, const loom_step *st, const loom_accept *a)
{
  xpbd *const s = self;
  (void)st;
  if (a->final || a->rejected == NULL)
    return LOOM_OK; /* no iteration follows, or FILTER rejected no part */
  if (a->alpha >= 1.0 && a->toi >= 1.0 && !a->resolved) return LOOM_OK;
  return add_point_difference(s, a->rejected, NULL, -1.0);
}

static const loom_solver_ops ops = {
    .struct_size = sizeof ops,
    .needs = LOOM_NEED_ELEM_GRADIENT | LOOM_NEED_ELEM_PROJECT | LOOM_NEED_ELEM_SMALL |
             LOOM_NEED_CONTACT_GRADIENT | LOOM_NEED_CONTACT_HESSIAN | LOOM_WITHOUT_MATRIX,
    .trial = LOOM_TRIAL_POINT,
    .filter_when = LOOM_FILTER_EVERY,
    .create = xpbd_create,
    .destroy = xpbd_destroy,
    .begin_step = xpbd_begin_step,
    .iterate = xpbd_iterate,
    .accepted = xpbd_accepted,
};

static const loom_plugin plugin = {
    LOOM_PLUGIN(solver, ops, LK_BACKENDS),
    .name = "xpbd",
    .version = "0.1.0",
    .summary =
        "extended position based dynamics: compliant constraints by coloured Gauss-Seidel\n"
        "does not converge at a sensible cost: steps of 100 iterations of a hanging sheet "
        "of 2,601 vertices end at up to 45,000 times the tolerance and push it by 4.2 times "
        "its weight (441 vertices: 4,000 times, 14 %)\n"
        "turns affine bodies in contact too slowly: a bar of 8e8 N/m^2 that meets the border "
        "of a sheet ends 52 % of its way from Newton's method after 8 steps of 200 iterations",
    .reference =
        "M. Macklin, M. Mueller, N. Chentanez, XPBD: Position-Based Simulation of Compliant "
        "Constrained Dynamics, Motion in Games 2016, doi 10.1145/2994258.2994272",
    .license = "MIT",
    LOOM_SETTINGS(settings, params),
    LOOM_COLUMNS(columns),
};

LOOM_EXPORT_PLUGIN(&plugin)
