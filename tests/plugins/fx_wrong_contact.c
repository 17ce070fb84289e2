/* fx_wrong_contact.c - a contact model with exact derivatives for all kinds of pairs of triangles
 * and edges, and a fault on request: the contract tests must find each. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "geom/distance_hess.kern.h"
#include "loom/plug.h"
#include "loom/plugin.h"

#ifndef FX_NAME
#define FX_NAME "fx_wrong_contact"
#define FX_KINDS                                                              \
  (LOOM_BIT(LOOM_PAIR_VT) | LOOM_BIT(LOOM_PAIR_EE) | LOOM_BIT(LOOM_PAIR_VO) | \
   LOOM_BIT(LOOM_PAIR_BVT) | LOOM_BIT(LOOM_PAIR_BEE))
#endif

typedef struct settings {
  int32_t fault;
} settings;

enum {
  NONE,
  VT_GRADIENT,
  EE_GRADIENT,
  VT_HESSIAN,
  EE_HESSIAN,
  VO_GRADIENT,
  VO_HESSIAN,
  COLUMN,
  UPDATE
};
static const loom_param params[] = {
    LOOM_PARAM_ENUM(settings, fault, NONE,
                    "none|vt_gradient|ee_gradient|vt_hessian|ee_hessian|vo_gradient|vo_hessian|"
                    "column|update",
                    "The fault: a gradient 10 % too large, of VO 1 %, a Hessian of the wrong "
                    "sign, of VO 5 % too large, a column that is not announced, stiffness that "
                    "grows in update() while *changed stays NONE."),
};
static const loom_column columns[] = {{"pairs_seen", "1", "Pairs."}};

typedef struct model {
  const loom_host *host;
  const loom_scene *sc;
  const loom_exec *e;
  int fault;
  double k, k_body;          /* N/m^5, N/m^2 */
  int64_t m;                 /* pairs */
  int32_t *kind, *v;         /* [m], [m][4] */
  loom_real *normal, *point; /* [m][3] */
} model;

/* B = k/2 (D0 - D)^3 of the squared distance D, m^2; of bodies k_body (TOP - height)^3 / 6. */
static const double D0 = 9e-6, K = 1e9, TOP = 4e-3, K_BODY = 1e6;

static loom_status wrong_contact_create(const loom_host *host, const loom_scene *sc,
                                        const loom_exec *e, const void *set, void **self)
{
  model *const p = calloc(1, sizeof *p);
  LOOM_CHECK(host, p != NULL, LOOM_E_NOMEM, "no memory");
  *self = p;
  p->host = host;
  p->sc = sc;
  p->e = e;
  p->fault = ((const settings *)set)->fault;
  p->k = K;
  p->k_body = K_BODY;
  return LOOM_OK;
}

static void free_pair_copies(model *p)
{
  free(p->kind), free(p->v), free(p->normal), free(p->point);
  p->kind = p->v = NULL;
  p->normal = p->point = NULL;
  p->m = 0;
}

static void wrong_contact_destroy(void *self)
{
  model *const p = self;
  if (p == NULL) return;
  free_pair_copies(p);
  free(p);
}

static loom_status wrong_contact_begin_step(void *self, const loom_step *s)
{
  (void)s;
  free_pair_copies(self);
  return LOOM_OK;
}

static loom_status wrong_contact_plan(void *self, const loom_step *s, loom_query *q)
{
  (void)self, (void)s;
  q->what = LOOM_DETECT_PROXIMITY;
  q->margin = (loom_real)TOP;
  return LOOM_OK;
}

static loom_status copy_pair_array(model *p, loom_buf *b, size_t bytes, void *out)
{
  void *from;
  void **const to = out;
  LOOM_TRY(p->host->map(p->host, p->e, b, LOOM_READ, LOOM_AT_HOST, &from));
  *to = malloc(bytes + 1);
  LOOM_CHECK(p->host, *to != NULL, LOOM_E_NOMEM, "no memory");
  memcpy(*to, from, bytes);
  return p->host->unmap(p->host, b);
}

static loom_status wrong_contact_update(void *self, const loom_step *s, const loom_pairs *pairs,
                                        int when, uint32_t *changed)
{
  model *const p = self;
  const size_t m = (size_t)pairs->count;
  (void)s;
  *changed = LOOM_CHANGED_NONE;
  if (p->fault == UPDATE && when == LOOM_AFTER_ACCEPT) p->k *= 1.1, p->k_body *= 1.1;
  if (when != LOOM_AFTER_DETECT) return LOOM_OK;
  free_pair_copies(p);
  *changed = LOOM_CHANGED_PATTERN;
  LOOM_TRY(copy_pair_array(p, pairs->kind, m * sizeof *p->kind, &p->kind));
  LOOM_TRY(copy_pair_array(p, pairs->v, 4 * m * sizeof *p->v, &p->v));
  LOOM_TRY(copy_pair_array(p, pairs->normal, 3 * m * sizeof *p->normal, &p->normal));
  LOOM_TRY(copy_pair_array(p, pairs->point, 3 * m * sizeof *p->point, &p->point));
  p->m = pairs->count;
  return LOOM_OK;
}

typedef struct points { /* positions on the host */
  const loom_real *x, *body0, *body1;
  double progress;
} points;

static loom_status open_points(const model *p, const loom_step *s, loom_buf *x, plug_maps *m,
                               points *at)
{
  *m = plug_maps_on(p->host, p->e);
  *at = (points){plug_read(m, x), plug_read(m, s->body0), plug_read(m, s->body1), s->progress};
  return m->status;
}

static int of_edges(int kind) { return kind == LOOM_PAIR_EE || kind == LOOM_PAIR_BEE; }

/* Corners of pair j, their weights and the squared distance. */
static double gather_moved_corners(const model *p, const points *at, int64_t j, lk_real x[12],
                                   lk_real w[4])
{
  for (int i = 0; i < 12; ++i) {
    const int32_t v = p->v[4 * j + i / 3], b = 3 * (v - p->sc->num_verts) + i % 3;
    x[i] = v < p->sc->num_verts ? at->x[3 * v + i % 3]
                                : (loom_real)((1 - at->progress) * (double)at->body0[b] +
                                              at->progress * (double)at->body1[b]);
  }
  return of_edges(p->kind[j]) ? dist_ee(x, w) : dist_vt(x, w);
}

/* Depth of a vertex below the layer TOP above a body, m. */
static double layer_depth(const model *p, const points *at, int64_t j)
{
  double height = 0.0;
  for (int c = 0; c < 3; ++c)
    height +=
        (double)p->normal[3 * j + c] * (double)(at->x[3 * p->v[4 * j] + c] - p->point[3 * j + c]);
  return TOP - height;
}

static double pair_energy(const model *p, const points *at, int64_t j, loom_real *grad)
{
  if (p->kind[j] == LOOM_PAIR_VO) {
    const double d = layer_depth(p, at, j), f = p->fault == VO_GRADIENT ? 1.01 : 1.0;
    for (int c = 0; c < 3 && d > 0.0 && grad != NULL; ++c)
      grad[3 * p->v[4 * j] + c] -=
          (loom_real)(f * p->k_body / 2 * d * d * (double)p->normal[3 * j + c]);
    return d > 0.0 ? p->k_body / 6 * d * d * d : 0.0;
  }
  lk_real x[12], w[4], r[3];
  const double D = (double)gather_moved_corners(p, at, j, x, w), d = D0 - D;
  const int fault = of_edges(p->kind[j]) ? EE_GRADIENT : VT_GRADIENT;
  const double b1 = -3 * p->k / 2 * d * d * (p->fault == fault ? 1.1 : 1.0);
  if (d <= 0.0) return 0.0;
  dist_combine(x, w, r);
  for (int i = 0; i < 12 && grad != NULL; ++i)
    if (p->v[4 * j + i / 3] < p->sc->num_verts)
      grad[3 * p->v[4 * j + i / 3] + i % 3] += (loom_real)(2 * b1) * w[i / 3] * r[i % 3];
  return p->k / 2 * d * d * d;
}

static loom_status fx_eval(void *self, const loom_step *s, loom_buf *x, double *energy,
                           double *dissipation, loom_buf *grad)
{
  model *const p = self;
  plug_maps m;
  points at;
  (void)dissipation;
  if (p->m == 0) return LOOM_OK;
  LOOM_TRY(open_points(p, s, x, &m, &at));
  loom_real *const g = grad != NULL ? plug_rdwr_host(&m, grad) : NULL;
  LOOM_TRY(m.status);
  for (int64_t j = 0; j < p->m; ++j) {
    const double e = pair_energy(p, &at, j, g);
    if (energy != NULL) *energy += e;
  }
  return plug_unbind(&m);
}

typedef struct triplets {
  int32_t *row, *col;
  loom_real *val;
  int64_t at;
} triplets;

static void append_wrong_hessian(const model *p, const points *at, int64_t j, int how, triplets *t)
{
  if (p->kind[j] == LOOM_PAIR_VO) {
    const double d = layer_depth(p, at, j),
                 k = d > 0.0 ? p->k_body * d * (p->fault == VO_HESSIAN ? 1.05 : 1.0) : 0;
    t->row[t->at] = t->col[t->at] = p->v[4 * j];
    for (int i = 0; i < 9; ++i)
      t->val[9 * t->at + i] = (loom_real)k * p->normal[3 * j + i / 3] * p->normal[3 * j + i % 3];
    t->at++;
    return;
  }
  lk_real x[12], w[4], S[25] = {0};
  dist_frame f;
  const double d = D0 - (double)gather_moved_corners(p, at, j, x, w);
  const int fault = of_edges(p->kind[j]) ? EE_HESSIAN : VT_HESSIAN;
  const double sign = p->fault == fault ? -1.0 : 1.0;
  dist_frame_of(of_edges(p->kind[j]), x, w, &f);
  if (d > 0.0)
    dist_hessian(&f, (lk_real)(-3 * p->k / 2 * d * d * sign), (lk_real)(3 * p->k * d * sign), how,
                 S);
  for (int a = 0; a < 4; ++a)
    for (int b = 0; b < 4; ++b) {
      const int32_t r = p->v[4 * j + a], c = p->v[4 * j + b];
      if (r >= p->sc->num_verts || c >= p->sc->num_verts) continue;
      t->row[t->at] = r;
      t->col[t->at] = c;
      dist_block(&f, S, a, b, t->val + 9 * t->at);
      t->at++;
    }
}

static loom_status fx_hessian(void *self, const loom_step *s, loom_buf *x, int how,
                              loom_blocks3 *out)
{
  model *const p = self;
  plug_maps m;
  points at;
  const int64_t first = out->count;
  if (p->m == 0) return LOOM_OK;
  if (first + 16 * p->m > out->capacity) {
    out->count = first + 16 * p->m;
    return LOOM_GROW;
  }
  LOOM_TRY(open_points(p, s, x, &m, &at));
  triplets t = {plug_rdwr(&m, out->row), plug_rdwr(&m, out->col), plug_rdwr(&m, out->val), first};
  LOOM_TRY(m.status);
  for (int64_t j = 0; j < p->m; ++j) append_wrong_hessian(p, &at, j, how, &t);
  out->count = t.at;
  return plug_unbind(&m);
}

/* Force of pair j on the vertex that it pushes most, N, and its gap, m. */
static double pair_force(const model *p, const points *at, int64_t j, double *gap)
{
  if (p->kind[j] == LOOM_PAIR_VO) {
    const double d = layer_depth(p, at, j);
    *gap = TOP - d;
    return d > 0.0 ? p->k_body / 2 * d * d : 0.0;
  }
  lk_real x[12], w[4];
  const double D = (double)gather_moved_corners(p, at, j, x, w), d = D0 - D;
  double most = 0.0;
  *gap = sqrt(D);
  for (int i = 0; i < 4; ++i) most = fmax(most, fabs((double)w[i]));
  return d > 0.0 ? 3 * p->k * d * d * most * *gap : 0.0;
}

static loom_status wrong_contact_metrics(void *self, const loom_step *s, loom_contact_metrics *out)
{
  model *const p = self;
  plug_maps m;
  points at;
  out->extra[0] = (double)p->m;
  if (p->fault == COLUMN) out->extra[1] = 1.0;
  if (p->m == 0) return LOOM_OK;
  LOOM_TRY(open_points(p, s, s->x, &m, &at));
  for (int64_t j = 0; j < p->m; ++j) {
    double gap;
    const double f = pair_force(p, &at, j, &gap);
    out->active += f > 0.0;
    out->max_force = fmax(out->max_force, f);
    out->min_gap = fmin(out->min_gap, gap); /* of a NaN and a number, the number */
  }
  return plug_unbind(&m);
}

static const loom_contact_ops ops = {.struct_size = sizeof ops,
                                     .provides =
                                         LOOM_CONT_ENERGY | LOOM_CONT_GRADIENT | LOOM_CONT_HESSIAN,
                                     .needs = LOOM_COLL_PROXIMITY,
                                     .pair_kinds = FX_KINDS,
                                     .create = wrong_contact_create,
                                     .destroy = wrong_contact_destroy,
                                     .begin_step = wrong_contact_begin_step,
                                     .plan = wrong_contact_plan,
                                     .update = wrong_contact_update,
                                     .eval = fx_eval,
                                     .hessian = fx_hessian,
                                     .metrics = wrong_contact_metrics};

static const loom_plugin plugin = {
    LOOM_PLUGIN(contact, ops, LOOM_ON_CPU),    .name = FX_NAME,      .version = "1.0.0",
    .summary = "right, or wrong in one place", .reference = "none",  .license = "MIT",
    LOOM_SETTINGS(settings, params),           LOOM_COLUMNS(columns)};

LOOM_EXPORT_PLUGIN(&plugin)
