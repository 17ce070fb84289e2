/* contact_forms.c - one face for all contact models: native forms, forms derived from the
 * quadratic one, and the frozen (linearised) model.
 *
 * A model that offers the quadratic form alone gets energy, gradient and Hessian here.
 * Freezing replaces a model by its second-order expansion at a point,
 *   B(x) ~ B0 + g0.(x - x0) + (x - x0).H0 (x - x0) / 2,
 * for solvers that work on contact linearised at x_start (LOOM_WANT_CONTACT_FROZEN). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "run/call.h"
#include "run/contact_forms.h"
#include "run/run.kern.h"

static const lk_entry k_quad_energy = LK_ENTRY(run_quad_energy);
static const lk_entry k_quad_gradient = LK_ENTRY(run_quad_gradient);
static const lk_entry k_quad_hessian = LK_ENTRY(run_quad_hessian);
static const lk_entry k_vertex_key = LK_ENTRY(run_vertex_key);
static const lk_entry k_block_copy = LK_ENTRY(run_block_copy);
static const lk_entry k_key_sum = LK_ENTRY(run_key_sum);

typedef struct frozen_contact {
  loom_buf *x0, *g0; /* real [n][3], m and N */
  loom_buf *hd;      /* real [n][3], N: H0 (x - x0) */
  double energy;     /* J, at x0 */
  loom_blocks3 H0;
} frozen_contact;

/* ---- growing arrays ------------------------------------------------------------------ */

loom_status quad_alloc(run *r, const char *owner, int isotropic, loom_quad *q)
{
  memset(q, 0, sizeof *q);
  q->struct_size = sizeof *q;
  LOOM_TRY(buf_new(r->m, owner, "quad.v", LOOM_I32, 0, &q->v));
  LOOM_TRY(buf_new(r->m, owner, "quad.w", LOOM_REAL, 0, &q->w));
  LOOM_TRY(buf_new(r->m, owner, "quad.k", LOOM_REAL, 0, &q->k));
  LOOM_TRY(buf_new(r->m, owner, "quad.p", LOOM_REAL, 0, &q->p));
  return isotropic ? LOOM_OK : buf_new(r->m, owner, "quad.dir", LOOM_REAL, 0, &q->dir);
}

loom_status quad_reserve(mem *m, void *list, int64_t capacity)
{
  loom_quad *const q = list;
  if (capacity <= q->capacity) return LOOM_OK;
  capacity += capacity / 8; /* so that slowly growing lists are not copied every time */
  LOOM_TRY(buf_resize(m, q->v, 4 * capacity));
  LOOM_TRY(buf_resize(m, q->w, 4 * capacity));
  LOOM_TRY(buf_resize(m, q->k, capacity));
  LOOM_TRY(buf_resize(m, q->p, 3 * capacity));
  if (q->dir != NULL) LOOM_TRY(buf_resize(m, q->dir, 3 * capacity));
  q->capacity = capacity;
  return LOOM_OK;
}

void quad_release(run *r, loom_quad *q)
{
  loom_buf *const all[] = {q->v, q->w, q->k, q->p, q->dir};
  for (size_t i = 0; i < LOOM_COUNT(all); ++i) buf_free(r->m, all[i]);
  memset(q, 0, sizeof *q);
}

loom_status blocks_alloc(run *r, const char *owner, loom_blocks3 *b)
{
  memset(b, 0, sizeof *b);
  b->struct_size = sizeof *b;
  LOOM_TRY(buf_new(r->m, owner, "blocks.row", LOOM_I32, 0, &b->row));
  LOOM_TRY(buf_new(r->m, owner, "blocks.col", LOOM_I32, 0, &b->col));
  return buf_new(r->m, owner, "blocks.val", LOOM_REAL, 0, &b->val);
}

loom_status blocks_reserve(mem *m, void *list, int64_t capacity)
{
  loom_blocks3 *const b = list;
  if (capacity <= b->capacity) return LOOM_OK;
  capacity += capacity / 4;
  LOOM_TRY(buf_resize(m, b->row, capacity));
  LOOM_TRY(buf_resize(m, b->col, capacity));
  LOOM_TRY(buf_resize(m, b->val, 9 * capacity));
  b->capacity = capacity;
  return LOOM_OK;
}

/* Append all of b; room must have been reserved. */
static loom_status blocks_append(run *r, loom_blocks3 *out, const loom_blocks3 *b)
{
  buf_maps q = {.m = r->m, .e = &r->exec};
  block_copy_args a = {.row = buf_maps_add(&q, b->row, LOOM_READ),
                       .col = buf_maps_add(&q, b->col, LOOM_READ),
                       .val = buf_maps_add(&q, b->val, LOOM_READ),
                       .row2 = buf_maps_add(&q, out->row, LOOM_RDWR),
                       .col2 = buf_maps_add(&q, out->col, LOOM_RDWR),
                       .val2 = buf_maps_add(&q, out->val, LOOM_RDWR)};
  if (q.status == LOOM_OK) {
    a.row2 += out->count;
    a.col2 += out->count;
    a.val2 += 9 * out->count;
  }
  LOOM_TRY(buf_maps_launch(&q, &k_block_copy, &a, b->count, NULL));
  out->count += b->count;
  return LOOM_OK;
}

void blocks_release(run *r, loom_blocks3 *b)
{
  buf_free(r->m, b->row);
  buf_free(r->m, b->col);
  buf_free(r->m, b->val);
  memset(b, 0, sizeof *b);
}

/* ---- sums by vertex -------------------------------------------------------------------- */

loom_status sum_by_vertex(run *r, loom_buf *id, int64_t m, loom_buf *val, loom_buf *out)
{
  const int32_t n = r->scene->pub.num_verts;
  loom_buf *key = NULL, *perm = NULL;
  if (m == 0) return LOOM_OK;
  LOOM_TRY(buf_new(r->m, "core", "vertex keys", LOOM_U64, m, &key));
  LOOM_TRY(buf_new(r->m, "core", "vertex order", LOOM_I32, m, &perm));
  buf_maps q = {.m = r->m, .e = &r->exec};
  const key_args ka = {
      .id = buf_maps_add(&q, id, LOOM_READ), .key = buf_maps_add(&q, key, LOOM_WRITE), .n = n};
  LOOM_TRY(buf_maps_launch(&q, &k_vertex_key, &ka, m, NULL));
  LOOM_TRY(la_sort_u64(r->m, &r->exec, key, perm));
  const key_sum_args sa = {.key = buf_maps_add(&q, key, LOOM_READ),
                           .perm = buf_maps_add(&q, perm, LOOM_READ),
                           .val = buf_maps_add(&q, val, LOOM_READ),
                           .out = buf_maps_add(&q, out, LOOM_RDWR),
                           .m = m};
  LOOM_TRY(buf_maps_launch(&q, &k_key_sum, &sa, n, NULL));
  buf_free(r->m, key);
  buf_free(r->m, perm);
  return LOOM_OK;
}

/* ---- quadratic form ------------------------------------------------------------------------ */

/* Call quad() of one instance, appending behind q->count; grows as asked. */
loom_status contact_quad(run *r, contact_inst *c, loom_buf *x, loom_quad *q)
{
  const loom_contact_ops *const ops = c->in.plugin->ops.contact;
  const int64_t before = q->count;
  loom_status s;
  if (!(ops->provides & LOOM_CONT_QUAD)) return LOOM_OK; /* post-only: no terms */
  clock_push(&r->clock, CLOCK_CONTACT);
  do {
    s = call_quad(c, x, q);
  } while (call_again(r, &s, before, &q->count, quad_reserve, q));
  clock_pop(&r->clock);
  return s;
}

/* The terms at x; what a kernel writes is left to the caller. */
static quad_args quad_terms(buf_maps *m, const loom_quad *q, loom_buf *x)
{
  return (quad_args){.x = buf_maps_add(m, x, LOOM_READ),
                     .v = buf_maps_add(m, q->v, LOOM_READ),
                     .w = buf_maps_add(m, q->w, LOOM_READ),
                     .k = buf_maps_add(m, q->k, LOOM_READ),
                     .p = buf_maps_add(m, q->p, LOOM_READ),
                     .dir = buf_maps_add(m, q->dir, LOOM_READ)};
}

static loom_status quad_eval(run *r, contact_inst *c, loom_buf *x, double *energy, loom_buf *g)
{
  loom_quad *const q = &c->quad;
  buf_maps m = {.m = r->m, .e = &r->exec};
  q->count = 0;
  LOOM_TRY(contact_quad(r, c, x, q));
  if (q->count == 0) return LOOM_OK;
  if (energy != NULL) {
    const quad_args a = quad_terms(&m, q, x);
    LOOM_TRY(buf_maps_launch(&m, &k_quad_energy, &a, q->count, r->exec.result));
    LOOM_TRY(exec_fetch(r->err, &r->exec, 0, 1, energy));
  }
  if (g != NULL) {
    loom_buf *val = NULL;
    LOOM_TRY(buf_new(r->m, "core", "contact forces", LOOM_REAL, 12 * q->count, &val));
    quad_args a = quad_terms(&m, q, x);
    a.out = buf_maps_add(&m, val, LOOM_WRITE);
    LOOM_TRY(buf_maps_launch(&m, &k_quad_gradient, &a, q->count, NULL));
    LOOM_TRY(sum_by_vertex(r, q->v, 4 * q->count, val, g));
    buf_free(r->m, val);
  }
  return LOOM_OK;
}

static loom_status quad_hessian(run *r, contact_inst *c, loom_buf *x, loom_blocks3 *out)
{
  loom_quad *const q = &c->quad;
  buf_maps m = {.m = r->m, .e = &r->exec};
  q->count = 0;
  LOOM_TRY(contact_quad(r, c, x, q));
  const int64_t at = out->count;
  LOOM_TRY(blocks_reserve(r->m, out, at + 16 * q->count));
  if (q->count == 0) return LOOM_OK;
  quad_args a = quad_terms(&m, q, x);
  a.out = buf_maps_add(&m, out->val, LOOM_RDWR);
  a.row = buf_maps_add(&m, out->row, LOOM_RDWR);
  a.col = buf_maps_add(&m, out->col, LOOM_RDWR);
  if (m.status == LOOM_OK) {
    a.out += 9 * at;
    a.row += at;
    a.col += at;
  }
  LOOM_TRY(buf_maps_launch(&m, &k_quad_hessian, &a, q->count, NULL));
  out->count = at + 16 * q->count;
  return LOOM_OK;
}

/* ---- frozen model --------------------------------------------------------------------------- */

void contact_thaw(run *r, contact_inst *c)
{
  frozen_contact *const f = c->frozen;
  if (f == NULL) return;
  buf_free(r->m, f->x0);
  buf_free(r->m, f->g0);
  buf_free(r->m, f->hd);
  blocks_release(r, &f->H0);
  free(f);
  c->frozen = NULL;
}

loom_status contact_freeze(run *r, contact_inst *c, loom_buf *x)
{
  double dissipation = 0.0;
  contact_thaw(r, c);
  if (!(c->provides & LOOM_CONT_HESSIAN)) return LOOM_OK; /* post-only */
  frozen_contact *const f = calloc(1, sizeof *f);
  if (f == NULL) return err_set(r->err, LOOM_E_NOMEM, "%s: out of memory", c->in.name);
  const int64_t n3 = 3 * (int64_t)r->scene->pub.num_verts;
  loom_status s = buf_new(r->m, "core", "frozen x0", LOOM_REAL, n3, &f->x0);
  if (s == LOOM_OK) s = buf_new(r->m, "core", "frozen g0", LOOM_REAL, n3, &f->g0);
  if (s == LOOM_OK) s = buf_new(r->m, "core", "frozen H0 d", LOOM_REAL, n3, &f->hd);
  if (s == LOOM_OK) s = blocks_alloc(r, "core", &f->H0);
  if (s == LOOM_OK) s = buf_copy(r->m, &r->exec, f->x0, x);
  if (s == LOOM_OK) s = contact_eval(r, c, x, 1, &f->energy, &dissipation, f->g0);
  if (s == LOOM_OK) s = contact_hessian(r, c, x, LOOM_HESS_PSD_CLAMP, &f->H0);
  f->energy += dissipation;
  c->frozen = f;
  if (s != LOOM_OK) contact_thaw(r, c);
  return s;
}

static loom_status frozen_eval(run *r, contact_inst *c, loom_buf *x, double *energy, loom_buf *g)
{
  frozen_contact *const f = c->frozen;
  double gx = 0.0, g0 = 0.0, hx = 0.0, h0 = 0.0;
  LOOM_TRY(la_fill(r->m, &r->exec, f->hd, 0.0));
  LOOM_TRY(problem_blocks_apply(r, &f->H0, x, f->x0, f->hd));
  if (energy != NULL) {
    LOOM_TRY(la_dot(r->m, &r->exec, f->g0, x, &gx));
    LOOM_TRY(la_dot(r->m, &r->exec, f->g0, f->x0, &g0));
    LOOM_TRY(la_dot(r->m, &r->exec, f->hd, x, &hx));
    LOOM_TRY(la_dot(r->m, &r->exec, f->hd, f->x0, &h0));
    *energy += f->energy + (gx - g0) + 0.5 * (hx - h0);
  }
  if (g != NULL) {
    LOOM_TRY(la_axpby(r->m, &r->exec, 1.0, f->g0, 1.0, g));
    LOOM_TRY(la_axpby(r->m, &r->exec, 1.0, f->hd, 1.0, g));
  }
  return LOOM_OK;
}

/* ---- what everybody calls ---------------------------------------------------------------------
 */

loom_status contact_eval(run *r, contact_inst *c, loom_buf *x, int live, double *energy,
                         double *dissipation, loom_buf *g)
{
  const loom_contact_ops *const ops = c->in.plugin->ops.contact;
  if (!live && c->frozen != NULL) return frozen_eval(r, c, x, energy, g);
  if (ops->provides & LOOM_CONT_GRADIENT) return call_eval(c, x, energy, dissipation, g);
  if (ops->provides & LOOM_CONT_QUAD) return quad_eval(r, c, x, energy, g);
  return LOOM_OK; /* post-only */
}

loom_status contact_hessian(run *r, contact_inst *c, loom_buf *x, int how, loom_blocks3 *out)
{
  const loom_contact_ops *const ops = c->in.plugin->ops.contact;
  const int64_t before = out->count;
  loom_status s;
  if (c->frozen != NULL) { /* append a copy of H0 */
    const loom_blocks3 *const H0 = &c->frozen->H0;
    LOOM_TRY(blocks_reserve(r->m, out, before + H0->count));
    return blocks_append(r, out, H0);
  }
  if (!(ops->provides & LOOM_CONT_HESSIAN))
    return (ops->provides & LOOM_CONT_QUAD) ? quad_hessian(r, c, x, out) : LOOM_OK;
  clock_push(&r->clock, CLOCK_CONTACT);
  do {
    s = call_hessian(c, x, how & 3, out);
  } while (call_again(r, &s, before, &out->count, blocks_reserve, out));
  clock_pop(&r->clock);
  return s;
}
