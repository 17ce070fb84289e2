/* operator.c - the operator of the global step, bounds of its spectrum, and contact weights. */
#include <math.h>
#include <stdlib.h>

#include "ndb.h"
#include "operator.kern.h"

static const lk_entry k_key = LK_ENTRY(ndb_contact_key), k_weight = LK_ENTRY(ndb_contact_weight);
static const lk_entry k_diagonal = LK_ENTRY(ndb_diagonal), k_heaviest = LK_ENTRY(ndb_heaviest);
static const lk_entry k_touched = LK_ENTRY(ndb_touched), k_clear = LK_ENTRY(ndb_no_contact);
static const lk_entry k_hold = LK_ENTRY(ndb_hold);

/* Power iteration comes from below: so much is put on top. */
static const double SAFETY = 1.02;
enum { POWER_STEPS = 100 };
/* As in cholmod_pd: a weight that outgrew the one in the matrix comes back half larger. */
static const double HEADROOM = 1.5;

loom_status ndb_operator_new(ndb *s)
{
  const loom_host *const h = s->h;
  const int64_t n = s->n, single = s->set.precision == PRECISION_MIXED ? n : 0;
  const struct {
    const char *name;
    int type;
    int64_t count;
    loom_buf **b;
  } all[] = {{"rows", LOOM_I64, n + 1, &s->ptr},
             {"columns", LOOM_I32, 0, &s->col},
             {"values", LOOM_REAL, 0, &s->val},
             {"values, float", LOOM_I32, 0, &s->valf},
             {"diagonal", LOOM_REAL, n, &s->diag},
             {"contact weights", LOOM_REAL, n, &s->w},
             {"1/diagonal", LOOM_REAL, n, &s->dinv},
             {"mask", LOOM_REAL, n, &s->mask},
             {"weights, float", LOOM_I32, single, &s->wf},
             {"1/diagonal, float", LOOM_I32, single, &s->dinvf},
             {"touched", LOOM_I64, n, &s->touched},
             {"place", LOOM_I64, n + 1, &s->place},
             {"corner keys", LOOM_U64, 0, &s->key},
             {"corner order", LOOM_I32, 0, &s->order},
             {"r", LOOM_REAL, 3 * n, &s->r},
             {"total", LOOM_REAL, 3 * n, &s->total},
             {"u0", LOOM_REAL, 3 * n, &s->u[0]},
             {"u1", LOOM_REAL, 3 * n, &s->u[1]},
             {"u2", LOOM_REAL, 3 * n, &s->u[2]},
             {"r, float", LOOM_I32, 3 * single, &s->rf},
             {"u0, float", LOOM_I32, 3 * single, &s->uf[0]},
             {"u1, float", LOOM_I32, 3 * single, &s->uf[1]},
             {"u2, float", LOOM_I32, 3 * single, &s->uf[2]},
             {"gradient", LOOM_REAL, 3 * n, &s->grad},
             {"before", LOOM_REAL, 3 * n, &s->before},
             {"weights now", LOOM_REAL, n, &s->now},
             {"result", LOOM_REAL, 2, &s->result}};
  for (size_t k = 0; k < LOOM_COUNT(all); ++k)
    LOOM_TRY(h->buf_new(h, all[k].name, all[k].type, all[k].count, all[k].b));
  return LOOM_OK;
}

void ndb_operator_free(ndb *s)
{
  loom_buf *const all[] = {s->ptr,   s->col,   s->val,   s->valf,    s->diag,  s->w,     s->dinv,
                           s->mask,  s->wf,    s->dinvf, s->touched, s->place, s->key,   s->order,
                           s->r,     s->total, s->u[0],  s->u[1],    s->u[2],  s->rf,    s->uf[0],
                           s->uf[1], s->uf[2], s->grad,  s->before,  s->now,   s->result};
  for (size_t k = 0; k < LOOM_COUNT(all); ++k) s->h->buf_free(s->h, all[k]);
}

/* ---- copy of H ------------------------------------------------------------------------- */

typedef struct matrix { /* host view */
  int64_t *ptr;
  int32_t *col;
  loom_real *val, *diag;
  float *valf;
} matrix;

/* Entries that join a fixed row and another one are left out: increments are zero there. */
static loom_status copy_matrix(ndb *s, const loom_csr *L)
{
  const loom_host *const h = s->h;
  loom_buf *const in[] = {L->row_ptr, L->col, L->val, s->sc->fixed};
  loom_buf *const out[] = {s->ptr, s->col, s->val, s->diag, s->valf};
  const int single = s->set.precision == PRECISION_MIXED;
  void *p[4], *q[5];
  LOOM_TRY(h->buf_resize(h, s->col, L->nnz));
  LOOM_TRY(h->buf_resize(h, s->val, L->nnz));
  if (single) LOOM_TRY(h->buf_resize(h, s->valf, L->nnz));
  for (int k = 0; k < 4; ++k) LOOM_TRY(h->map(h, s->e, in[k], LOOM_READ, LOOM_AT_HOST, &p[k]));
  for (int k = 0; k < 5; ++k) LOOM_TRY(h->map(h, s->e, out[k], LOOM_WRITE, LOOM_AT_HOST, &q[k]));
  const int64_t *const ptr = p[0];
  const int32_t *const col = p[1];
  const loom_real *const val = p[2];
  const uint8_t *const fixed = p[3];
  matrix A = {q[0], q[1], q[2], q[3], q[4]};
  int64_t m = 0;
  for (int32_t i = 0; i < s->n; ++i) {
    A.ptr[i] = m;
    for (int64_t k = ptr[i]; k < ptr[i + 1]; ++k) {
      if (col[k] != i && (fixed[i] || fixed[col[k]])) continue;
      if (col[k] == i) A.diag[i] = val[k];
      A.col[m] = col[k];
      A.val[m] = val[k];
      if (single) A.valf[m] = (float)val[k];
      ++m;
    }
  }
  A.ptr[s->n] = m;
  for (int64_t k = m; k < L->nnz; ++k) { /* room that is left over */
    A.col[k] = 0;
    A.val[k] = 0;
    if (single) A.valf[k] = 0.0F;
  }
  for (int k = 4; k >= 0; --k) LOOM_TRY(h->unmap(h, out[k]));
  for (int k = 3; k >= 0; --k) LOOM_TRY(h->unmap(h, in[k]));
  return LOOM_OK;
}

/* ---- spectrum of D^-1 H ------------------------------------------------------------------ */

/* Largest eigenvalue by power iteration on free rows, from a vector that changes sign from
 * vertex to vertex in no regular way; Rayleigh's quotient of the last one. */
static double largest(const matrix *A, const uint8_t *fixed, int32_t n, double *v, double *t)
{
  uint32_t seed = 1;
  double mu = 1.0;
  for (int32_t i = 0; i < n; ++i) {
    seed = seed * 1664525U + 1013904223U;
    v[i] = fixed[i] ? 0.0 : (double)(seed >> 8) * 0x1p-24 - 0.5;
  }
  for (int step = 0; step < POWER_STEPS; ++step) {
    double vHv = 0.0, vDv = 0.0, norm = 0.0;
    for (int32_t i = 0; i < n; ++i) {
      double q = 0.0;
      for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k) q += (double)A->val[k] * v[A->col[k]];
      vHv += v[i] * q;
      vDv += v[i] * v[i] * (double)A->diag[i];
      t[i] = fixed[i] ? 0.0 : q / (double)A->diag[i];
      norm = fmax(norm, fabs(t[i]));
    }
    if (!(norm > 0.0)) break;
    mu = vHv / vDv;
    for (int32_t i = 0; i < n; ++i) v[i] = t[i] / norm;
  }
  return mu;
}

/* H = M/h^2 + a semidefinite rest: no eigenvalue of D^-1 H is below the least share of the
 * mass in the diagonal. */
static double lower_bound(const matrix *A, const uint8_t *fixed, const loom_real *mass, int32_t n,
                          double dt)
{
  double least = 1.0;
  for (int32_t i = 0; i < n; ++i)
    if (!fixed[i]) least = fmin(least, (double)mass[i] / (dt * dt * (double)A->diag[i]));
  return least;
}

static loom_status spectrum(ndb *s, double dt)
{
  const loom_host *const h = s->h;
  loom_buf *const in[] = {s->ptr, s->col, s->val, s->diag, s->sc->fixed, s->sc->mass};
  void *p[6];
  double *v = malloc(2 * ((size_t)s->n + 1) * sizeof *v);
  LOOM_CHECK(h, v != NULL, LOOM_E_NOMEM, "no memory for the spectrum of %d vertices", s->n);
  for (int k = 0; k < 6; ++k) {
    const loom_status st = h->map(h, s->e, in[k], LOOM_READ, LOOM_AT_HOST, &p[k]);
    if (st == LOOM_OK) continue;
    free(v);
    return st;
  }
  const matrix A = {p[0], p[1], p[2], p[3], NULL};
  s->mu_hi = SAFETY * largest(&A, p[4], s->n, v, v + s->n);
  s->mu_lo = lower_bound(&A, p[4], p[5], s->n, dt);
  free(v);
  for (int k = 5; k >= 0; --k) LOOM_TRY(h->unmap(h, in[k]));
  return LOOM_OK;
}

loom_status ndb_operator_make(ndb *s, const loom_step *st)
{
  const loom_csr *L;
  LOOM_TRY(s->h->pd_operator(s->h, st, &L));
  LOOM_TRY(copy_matrix(s, L));
  return spectrum(s, st->h);
}

/* ---- contact ----------------------------------------------------------------------------- */

static loom_status gather_weights(ndb *s, const loom_quad *q)
{
  const loom_host *const h = s->h;
  const int64_t corners = 4 * q->count;
  void *p[7];
  if (h->buf_count(h, s->key) != corners) {
    LOOM_TRY(h->buf_resize(h, s->key, corners));
    LOOM_TRY(h->buf_resize(h, s->order, corners));
  }
  const plug_map m[] = {{q->v, LOOM_READ},
                        {q->w, LOOM_READ},
                        {q->k, LOOM_READ},
                        {s->sc->fixed, LOOM_READ},
                        {s->key, LOOM_WRITE}};
  LOOM_TRY(plug_map_all(h, s->e, 5, m, p));
  ndb_contact_args a = {p[0], p[1], p[2], p[3], p[4], NULL, NULL, corners, s->n, 0};
  LOOM_TRY(ndb_run(s, &k_key, &a, corners, NULL));
  LOOM_TRY(plug_unmap_all(h, 5, m));
  LOOM_TRY(h->sort_u64(h, s->e, s->key, s->order));
  const plug_map g[] = {{q->v, LOOM_READ},         {q->w, LOOM_READ},   {q->k, LOOM_READ},
                        {s->sc->fixed, LOOM_READ}, {s->key, LOOM_RDWR}, {s->order, LOOM_READ},
                        {s->now, LOOM_WRITE}};
  LOOM_TRY(plug_map_all(h, s->e, 7, g, p));
  a = (ndb_contact_args){p[0], p[1], p[2], p[3], p[4], p[5], p[6], corners, s->n, 0};
  LOOM_TRY(ndb_run(s, &k_weight, &a, s->n, NULL));
  return plug_unmap_all(h, 7, g);
}

static loom_status clear_weights(ndb *s)
{
  const plug_map m = {s->now, LOOM_WRITE};
  ndb_contact_args a = {.n = s->n};
  void *p;
  LOOM_TRY(plug_map_all(s->h, s->e, 1, &m, &p));
  a.weight = p;
  LOOM_TRY(ndb_run(s, &k_clear, &a, s->n, NULL));
  return plug_unmap_all(s->h, 1, &m);
}

static loom_status hold_weights(ndb *s)
{
  const plug_map m[] = {{s->now, LOOM_READ}, {s->w, LOOM_RDWR}};
  void *p[2];
  LOOM_TRY(plug_map_all(s->h, s->e, 2, m, p));
  const ndb_hold_args a = {p[0], p[1], (lk_real)HEADROOM,
                           s->set.weights == WEIGHTS_EXACT || !s->holding};
  LOOM_TRY(ndb_run(s, &k_hold, &a, s->n, NULL));
  s->holding = 1;
  return plug_unmap_all(s->h, 2, m);
}

loom_status ndb_contact(ndb *s, const loom_quad *q)
{
  const loom_host *const h = s->h;
  const int single = s->set.precision == PRECISION_MIXED;
  void *p[8];
  double found[2];
  s->two.fresh = 0;
  if (q != NULL && q->count > 0)
    LOOM_TRY(gather_weights(s, q));
  else
    LOOM_TRY(clear_weights(s));
  LOOM_TRY(hold_weights(s));
  const plug_map m[] = {{s->diag, LOOM_READ},
                        {s->w, LOOM_READ},
                        {s->dinv, LOOM_WRITE},
                        {s->mask, LOOM_WRITE},
                        {s->touched, LOOM_WRITE},
                        {s->result, LOOM_WRITE},
                        {single ? s->wf : NULL, LOOM_WRITE},
                        {single ? s->dinvf : NULL, LOOM_WRITE}};
  LOOM_TRY(plug_map_all(h, s->e, 8, m, p));
  const ndb_diagonal_args a = {p[0], p[1], p[2], p[3], p[6], p[7], p[4]};
  lk_real *const result = p[5];
  LOOM_TRY(ndb_run(s, &k_diagonal, &a, s->n, NULL));
  LOOM_TRY(ndb_run(s, &k_heaviest, &a, s->n, result));
  LOOM_TRY(ndb_run(s, &k_touched, &a, s->n, result + 1));
  LOOM_TRY(plug_unmap_all(h, 8, m));
  LOOM_TRY(plug_fetch(h, s->e, s->result, 2, found));
  s->w_max = found[0];
  s->rows = (int64_t)found[1];
  LOOM_CHECK(h, isfinite(s->w_max), LOOM_E_NUMERIC, "a contact weight is not finite (%g N/m)",
             s->w_max);
  return s->rows > 0 ? h->scan_i64(h, s->e, s->touched, s->place) : LOOM_OK;
}

/* ---- views --------------------------------------------------------------------------------- */

loom_status ndb_open(ndb *s, loom_buf *inv, ndb_view *v, plug_map *m)
{
  const int single = s->set.precision == PRECISION_MIXED;
  const plug_map all[NDB_MAPS] = {{s->ptr, LOOM_READ},
                                  {s->col, LOOM_READ},
                                  {s->val, LOOM_READ},
                                  {single ? s->valf : NULL, LOOM_READ},
                                  {s->w, LOOM_READ},
                                  {s->dinv, LOOM_READ},
                                  {s->mask, LOOM_READ},
                                  {single ? s->wf : NULL, LOOM_READ},
                                  {single ? s->dinvf : NULL, LOOM_READ},
                                  {s->r, LOOM_RDWR},
                                  {s->total, LOOM_RDWR},
                                  {s->u[0], LOOM_RDWR},
                                  {s->u[1], LOOM_RDWR},
                                  {s->u[2], LOOM_RDWR},
                                  {single ? s->rf : NULL, LOOM_RDWR},
                                  {single ? s->uf[0] : NULL, LOOM_RDWR},
                                  {single ? s->uf[1] : NULL, LOOM_RDWR},
                                  {single ? s->uf[2] : NULL, LOOM_RDWR},
                                  {inv != NULL ? s->U : NULL, LOOM_READ},
                                  {inv != NULL ? s->part : NULL, LOOM_RDWR},
                                  {inv != NULL ? s->g : NULL, LOOM_RDWR},
                                  {inv, LOOM_READ}};
  void *p[NDB_MAPS], *q = NULL;
  for (int k = 0; k < NDB_MAPS; ++k) m[k] = all[k];
  LOOM_TRY(plug_map_all(s->h, s->e, NDB_MAPS, m, p));
  if (inv != NULL) LOOM_TRY(s->h->map(s->h, s->e, s->q, LOOM_RDWR, LOOM_AT_EXEC, &q));
  *v = (ndb_view){p[0],  p[1],
                  p[2],  p[3],
                  p[4],  p[5],
                  p[6],  p[7],
                  p[8],  p[9],
                  p[10], {p[11], p[12], p[13]},
                  p[14], {p[15], p[16], p[17]},
                  p[18], p[19],
                  p[20], q,
                  p[21]};
  return LOOM_OK;
}

loom_status ndb_close(ndb *s, const plug_map *m)
{
  if (m[NDB_MAPS - 1].b != NULL) LOOM_TRY(s->h->unmap(s->h, s->q));
  return plug_unmap_all(s->h, NDB_MAPS, m);
}
