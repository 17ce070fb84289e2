/* vbd.c - vertex block descent: moves one vertex after the other by a Newton step of its own three
 * coordinates, colour by colour.
 *
 * A. H. Chen, Z. Liu, Y. Yang, C. Yuksel, Vertex Block Descent, ACM TOG 43(4), 2024,
 * doi 10.1145/3658179.
 *
 * With all vertices but i held, only the energy of the elements (and contacts) of vertex i changes.
 * Section 3.3 takes one Newton step on it, without a line search:
 *   H_i dx_i = f_i,   H_i = m_i/h^2 I + sum of d2E_e/dx_i^2,
 *   f_i = m_i/h^2 (y_i - x_i) - sum of dE_e/dx_i
 * Vertices that no element has in common have one colour and move at the same time, so the bits
 * depend on the colouring alone.  An outer iteration is a sweep over all colours.
 *
 * DEVIATION: contact is a quadratic model around the iterate that the sweep starts from, made of
 * gradient and Hessian of the core's contact models; its forces follow the vertices as they move.
 * The paper detects once in a few iterations and takes penalty forces anew at every vertex.
 * Contacts are not part of the colouring: vertices of a colour that touch move as in Jacobi's
 * method, with the norm of their coupling on the diagonal (vbd.kern.c).
 */
#include <math.h>

#include "colours.h"
#include "kit/contact_rows.h"
#include "kit/state.h"
#include "loom/plug.h"
#include "vbd.kern.h"

static const lk_entry k_move = LK_ENTRY_MOVES(vbd_move, 10, 5);
static const lk_entry k_accelerate = LK_ENTRY_MOVES(vbd_accelerate, 9, 3);
static const lk_entry k_guess = LK_ENTRY_MOVES(vbd_guess, 15, 1);

enum { HESSIAN_CLAMP = 0, HESSIAN_EXACT = 1 };
enum { GUESS_CORE = 0, GUESS_ADAPTIVE = 1 };
enum { COL_COLOURS = 0, COL_OMEGA = 1, COL_CONTACT = 2 };

typedef struct {
  double rho;
  int32_t hessian;
  int32_t guess;
} settings;

static const loom_param params[] = {
    LOOM_PARAM_REAL(
        settings, rho, 0.0, 0.0, 0.9999, "1",
        "rho of the Chebyshev acceleration (section 3.8), the share of the error that an "
        "iteration leaves; 0: none, and the energy falls in every iteration."),
    LOOM_PARAM_ENUM(
        settings, hessian, HESSIAN_CLAMP, "clamp|exact",
        "Negative eigenvalues of element and contact blocks: set to zero, or kept, as in "
        "the paper; a vertex stays where its block is then not positive definite."),
    LOOM_PARAM_ENUM(
        settings, guess, GUESS_CORE, "core|adaptive",
        "Where a step begins: [run] guess, or the paper's (section 3.7), with the share "
        "of the outer acceleration that the last step has shown."),
};

static const loom_column columns[] = {
    {"colours", "1", "colours of the mesh, launches of a sweep"},
    {"omega", "1", "weight of the Chebyshev acceleration, 1 without or after a restart"},
    {"contact_blocks", "1", "3x3 blocks of contact in the sweep"},
};

typedef struct {
  const loom_host *host;
  const loom_scene *sc;
  const loom_exec *e;
  settings set;
  colours c;
  contact_rows k;
  loom_buf *grad, *diag; /* real [most_rows][3], [most_rows][3][3], of a colour's corners */
  loom_buf *x;           /* real [n][3], m, the sweep's point */
  loom_buf *before;      /* real [n][3], m, the iterate before st->x; NULL without acceleration */
  loom_buf *v_last;      /* real [n][3], m/s, at the start of the step before; NULL: not used */
  loom_real h_last;      /* s, length of the step before; 0: no step before */
  double omega;          /* of the last iteration */
  int32_t since;         /* iterations since acceleration began */
} vbd;

static loom_status vbd_create(const loom_host *host, const loom_scene *sc, const loom_exec *e,
                              const void *set, void **self)
{
  const int64_t n3 = 3 * (int64_t)sc->num_verts;
  LOOM_TRY(plug_new(host, sizeof(vbd), self));
  vbd *const s = *self;
  s->host = host;
  s->sc = sc;
  s->e = e;
  s->set = *(const settings *)set;
  LOOM_TRY(colours_new(&s->c, host, e, sc));
  LOOM_TRY(contact_rows_new(&s->k, host, e, sc->num_verts));
  LOOM_TRY(host->buf_new(host, "corner gradients", LOOM_REAL, 3 * s->c.most_rows, &s->grad));
  LOOM_TRY(host->buf_new(host, "corner blocks", LOOM_REAL, 9 * s->c.most_rows, &s->diag));
  LOOM_TRY(host->buf_new(host, "x of the sweep", LOOM_REAL, n3, &s->x));
  if (s->set.rho > 0.0) LOOM_TRY(host->buf_new(host, "x before", LOOM_REAL, n3, &s->before));
  if (s->set.guess == GUESS_ADAPTIVE)
    LOOM_TRY(host->buf_new(host, "v last", LOOM_REAL, n3, &s->v_last));
  return LOOM_OK;
}

static void vbd_destroy(void *self)
{
  vbd *const s = self;
  if (s != NULL) colours_free(&s->c);
  plug_free(self);
}

static loom_status vbd_reset(void *self)
{
  vbd *const s = self;
  s->h_last = 0;
  s->since = 0;
  return LOOM_OK;
}

static loom_status vbd_begin_step(void *self, const loom_step *st)
{
  vbd *const s = self;
  s->since = 0;
  if (s->set.guess == GUESS_CORE || !(s->h_last > 0)) return LOOM_OK;
  plug_maps m = plug_maps_on(s->host, s->e);
  const vbd_guess_args a = {.fixed = plug_read(&m, s->sc->fixed),
                            .x_start = plug_read(&m, st->x_start),
                            .v = plug_read(&m, st->v_start),
                            .v_last = plug_read(&m, s->v_last),
                            .y = plug_read(&m, st->y),
                            .out = plug_rdwr(&m, st->trial),
                            .h = (lk_real)st->h,
                            .h_last = s->h_last};
  return plug_launch(&m, &k_guess, &a, s->sc->num_verts, NULL);
}

/* Gradients and blocks of all corners of a colour's vertices, at the sweep's point. */
static loom_status evaluate_colour_corners(vbd *s, int32_t colour, int how)
{
  const loom_host *const host = s->host;
  const int32_t nb = s->sc->num_blocks;
  const int64_t *const lo = s->c.corner + (int64_t)nb * colour, *const hi = lo + nb;
  int64_t to = 0;
  for (int32_t b = 0; b < nb; to += hi[b] - lo[b], ++b) {
    const loom_elem_rows r = {.struct_size = sizeof r,
                              .block = b,
                              .first = lo[b],
                              .count = hi[b] - lo[b],
                              .to = to,
                              .elem = s->c.elem[b],
                              .corner = s->c.at[b]};
    if (r.count > 0) LOOM_TRY(host->elem_corners(host, &r, s->x, how, s->grad, s->diag));
  }
  return LOOM_OK;
}

static loom_status move_colour_vertices(vbd *s, const loom_step *st, int32_t colour)
{
  const int32_t lo = s->c.first[colour], num_free = s->c.first[s->c.num];
  const int32_t count = s->c.first[colour + 1] - lo;
  plug_maps m = plug_maps_on(s->host, s->e);
  vbd_move_args a = {.order = plug_read(&m, s->c.order),
                     .ptr = plug_read(&m, s->c.ptr),
                     .base = plug_read(&m, s->c.base),
                     .grad = plug_read(&m, s->grad),
                     .diag = plug_read(&m, s->diag),
                     .mass = plug_read(&m, s->sc->mass),
                     .y = plug_read(&m, st->y),
                     .colour = plug_read(&m, s->c.colour),
                     .x0 = plug_read(&m, st->x),
                     .x = plug_rdwr(&m, s->x),
                     .stride = (int64_t)num_free + 1,
                     .scale = (lk_real)st->problem->inertia,
                     .num_blocks = s->sc->num_blocks};
  if (s->k.any) {
    a.force = plug_read(&m, s->k.force);
    a.row = plug_read(&m, s->k.A.row);
    a.col = plug_read(&m, s->k.A.col);
    a.val = plug_read(&m, s->k.A.val);
  }
  LOOM_TRY(m.status);
  const int64_t *const corner = s->c.corner + (int64_t)s->sc->num_blocks * colour;
  for (int32_t b = 0; b < s->sc->num_blocks; ++b)
    lk_moved(s->e, corner[s->sc->num_blocks + b] - corner[b], LK_MOVES(12, 0));
  a.order += lo;
  a.ptr += lo;
  a.base += (int64_t)s->sc->num_blocks * colour;
  return plug_launch(&m, &k_move, &a, count, NULL);
}

/* omega of the Chebyshev method, from the first iteration on (equation 18). */
static double next_omega(vbd *s)
{
  const double q = s->set.rho * s->set.rho;
  ++s->since;
  s->omega = s->since == 1 ? 1.0 : s->since == 2 ? 2.0 / (2.0 - q) : 4.0 / (4.0 - q * s->omega);
  return s->omega;
}

/* trial from the swept point and the iterate before st->x, which then takes its place. */
static loom_status accelerate_by_chebyshev(vbd *s, const loom_step *st, double *omega)
{
  const loom_host *const host = s->host;
  *omega = 1.0;
  if (s->set.rho > 0.0) *omega = next_omega(s);
  if (*omega <= 1.0) {
    LOOM_TRY(host->axpby(host, s->e, 1.0, s->x, 0.0, st->trial));
  } else {
    plug_maps m = plug_maps_on(host, s->e);
    const vbd_accelerate_args a = {.swept = plug_read(&m, s->x),
                                   .before = plug_read(&m, s->before),
                                   .fixed = plug_read(&m, s->sc->fixed),
                                   .row = plug_read(&m, s->k.any ? s->k.A.row : NULL),
                                   .val = plug_read(&m, s->k.any ? s->k.A.val : NULL),
                                   .out = plug_write(&m, st->trial),
                                   .omega = (lk_real)*omega};
    LOOM_TRY(plug_launch(&m, &k_accelerate, &a, s->sc->num_verts, NULL));
  }
  return s->before != NULL ? host->axpby(host, s->e, 1.0, st->x, 0.0, s->before) : LOOM_OK;
}

static loom_status vbd_iterate(void *self, const loom_step *st, loom_iterate *it)
{
  static const int hows[] = {LOOM_HESS_PSD_CLAMP, LOOM_HESS_EXACT};
  vbd *const s = self;
  const loom_host *const host = s->host;
  const int how = hows[s->set.hessian];
  host->tic(host, "contact");
  LOOM_TRY(contact_rows_at(&s->k, st, how));
  host->toc(host, "contact");
  host->tic(host, "sweep");
  LOOM_TRY(host->axpby(host, s->e, 1.0, st->x, 0.0, s->x));
  for (int32_t c = 0; c < s->c.num; ++c) {
    LOOM_TRY(evaluate_colour_corners(s, c, how));
    LOOM_TRY(move_colour_vertices(s, st, c));
  }
  host->toc(host, "sweep");
  LOOM_TRY(accelerate_by_chebyshev(s, st, &it->extra[COL_OMEGA]));
  it->inner_res = NAN;
  it->own_res = NAN;
  it->extra[COL_COLOURS] = (double)s->c.num;
  it->extra[COL_CONTACT] = s->k.any ? (double)s->k.kind.count : 0.0;
  return LOOM_OK;
}

/* A point that FILTER moved is not where acceleration pointed: start again. */
static loom_status vbd_accepted(void *self, const loom_step *st, const loom_accept *a)
{
  vbd *const s = self;
  (void)st;
  if (a->alpha < 1.0 || a->toi < 1.0 || a->resolved) s->since = 0;
  return LOOM_OK;
}

static loom_status vbd_end_step(void *self, const loom_step *st)
{
  vbd *const s = self;
  if (s->v_last == NULL) return LOOM_OK;
  s->h_last = (loom_real)st->h;
  return s->host->axpby(s->host, s->e, 1.0, st->v_start, 0.0, s->v_last);
}

static loom_status vbd_checkpoint(void *self, const loom_step *st, int restore)
{
  vbd *const s = self;
  (void)st;
  if (s->v_last == NULL) return LOOM_OK;
  LOOM_TRY(state_items(s->host, restore, "h last", LOOM_REAL, 1, &s->h_last));
  LOOM_CHECK(s->host, s->h_last >= 0 && isfinite((double)s->h_last), LOOM_E_IO,
             "checkpoint: the step before took %g s; start the run again", (double)s->h_last);
  LOOM_TRY(s->host->state_io(s->host, restore, "v last", s->v_last));
  return state_has(s->host, s->v_last, "v last", 3 * (int64_t)s->sc->num_verts);
}

static const loom_solver_ops ops = {
    .struct_size = sizeof ops,
    .needs = LOOM_NEED_ELEM_GRADIENT | LOOM_NEED_ELEM_HESSIAN | LOOM_NEED_CONTACT_GRADIENT |
             LOOM_NEED_CONTACT_HESSIAN | LOOM_WITHOUT_MATRIX,
    .trial = LOOM_TRIAL_POINT,
    .filter_when = LOOM_FILTER_EVERY,
    .create = vbd_create,
    .destroy = vbd_destroy,
    .reset = vbd_reset,
    .begin_step = vbd_begin_step,
    .iterate = vbd_iterate,
    .accepted = vbd_accepted,
    .end_step = vbd_end_step,
    .checkpoint = vbd_checkpoint,
};

static const loom_plugin plugin = {
    LOOM_PLUGIN(solver, ops, LK_BACKENDS),
    .name = "vbd",
    .version = "0.1.0",
    .summary =
        "vertex block descent: Newton steps of single vertices, colour by colour\n"
        "does not converge at a sensible cost: with 100 iterations of 5 ms cloth slides 1.6 "
        "times as fast as on its slope, and by 0.7 m/s after 0.3 s where it sticks; a hanging "
        "sheet of 2,601 vertices ends at up to 240 times its tolerance (441 vertices: 20 "
        "times)\n"
        "turns stiff affine bodies too slowly: a bar of 8e8 N/m^2 on a thread ends 15 % of its way "
        "from Newton's method after 20 steps of 1,000 iterations (1e7 N/m^2: 0.5 %)",
    .reference = "A. H. Chen, Z. Liu, Y. Yang, C. Yuksel, Vertex Block Descent, ACM TOG 43(4), "
                 "2024, doi 10.1145/3658179",
    .license = "MIT",
    LOOM_SETTINGS(settings, params),
    LOOM_COLUMNS(columns),
};

LOOM_EXPORT_PLUGIN(&plugin)
