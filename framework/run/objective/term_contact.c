/* term_contact.c - contact: a uniform interface to all models, with native forms, forms derived
 * from the quadratic one, and the frozen (linearised) model.
 *
 * A model that offers the quadratic form alone gets energy, gradient and Hessian here.
 * Freezing replaces a model by its second-order expansion at a point,
 *   B(x) ~ s (B0 + g0.(x - x0) + (x - x0).H0 (x - x0) / 2)
 * with a share s, 1 unless a solver wants another one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/blocks.h"
#include "run/objective/objective.kern.h"
#include "run/objective/term.h"
#include "run/plugins/call.h"
#include "run/run_state.h"

static const lk_entry k_quad_energy = LK_ENTRY_MOVES(run_quad_energy, 23, 4);
static const lk_entry k_quad_gradient = LK_ENTRY_MOVES(run_quad_gradient, 35, 8);
static const lk_entry k_quad_hessian = LK_ENTRY_MOVES(run_quad_hessian, 167, 36);

typedef struct frozen_contact {
  loom_buf *x0, *g0; /* real [n][3], m and N */
  loom_buf *hd;      /* real [n][3], N: H0 (x - x0) */
  double energy;     /* J, at x0 */
  loom_blocks3 H0;
  blocks_ordered ordered; /* H0 */
} frozen_contact;

/* ---- quadratic form ---- */

/* isotropic: every term will be, and there is no array of directions */
static loom_status quad_new(run *r, int isotropic, loom_quad *q)
{
  *q = (loom_quad){.struct_size = sizeof *q, .width = 4};
  LOOM_TRY(buf_new(r->m, "core", "quad.v", LOOM_I32, 0, &q->v));
  LOOM_TRY(buf_new(r->m, "core", "quad.w", LOOM_REAL, 0, &q->w));
  LOOM_TRY(buf_new(r->m, "core", "quad.k", LOOM_REAL, 0, &q->k));
  LOOM_TRY(buf_new(r->m, "core", "quad.p", LOOM_REAL, 0, &q->p));
  return isotropic ? LOOM_OK : buf_new(r->m, "core", "quad.dir", LOOM_REAL, 0, &q->dir);
}

static loom_status quad_reserve(mem *m, void *list, int64_t capacity)
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

static void quad_free(run *r, loom_quad *q)
{
  loom_buf *const all[] = {q->v, q->w, q->k, q->p, q->dir};
  for (size_t i = 0; i < LOOM_COUNT(all); ++i) buf_free(r->m, all[i]);
  memset(q, 0, sizeof *q);
}

/* Call quad() of one instance, appending behind q->count; grows as asked. */
static loom_status quad_of(run *r, contact_inst *c, loom_buf *x, loom_quad *q)
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

/* The terms at x; the caller chooses the outputs of the kernel. */
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
  LOOM_TRY(quad_of(r, c, x, q));
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
    LOOM_TRY(sum_by_vertex(r->m, &r->exec, q->v, 4 * q->count, val, g));
    buf_free(r->m, val);
  }
  return LOOM_OK;
}

static loom_status quad_hessian(run *r, contact_inst *c, loom_buf *x, loom_blocks3 *out)
{
  loom_quad *const q = &c->quad;
  buf_maps m = {.m = r->m, .e = &r->exec};
  q->count = 0;
  LOOM_TRY(quad_of(r, c, x, q));
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

/* ---- frozen model ---- */

static void thaw_contact_model(run *r, contact_inst *c)
{
  frozen_contact *const f = c->frozen;
  if (f == NULL) return;
  buf_free(r->m, f->x0);
  buf_free(r->m, f->g0);
  buf_free(r->m, f->hd);
  blocks_order_free(r->m, &f->ordered);
  blocks_free(r->m, &f->H0);
  free(f);
  c->frozen = NULL;
}

static loom_status live_eval(run *r, contact_inst *c, loom_buf *x, double *energy,
                             double *dissipation, loom_buf *g)
{
  const uint32_t provides = c->in.plugin->ops.contact->provides;
  if (provides & LOOM_CONT_GRADIENT) return call_eval(c, x, energy, dissipation, g);
  if (provides & LOOM_CONT_QUAD) return quad_eval(r, c, x, energy, g);
  return LOOM_OK; /* post-only */
}

static loom_status live_blocks(run *r, contact_inst *c, loom_buf *x, int how, loom_blocks3 *out)
{
  const uint32_t provides = c->in.plugin->ops.contact->provides;
  const int64_t before = out->count;
  loom_status s;
  if (!(provides & LOOM_CONT_HESSIAN))
    return (provides & LOOM_CONT_QUAD) ? quad_hessian(r, c, x, out) : LOOM_OK;
  clock_push(&r->clock, CLOCK_CONTACT);
  do {
    s = call_hessian(c, x, how, out);
  } while (call_again(r, &s, before, &out->count, blocks_reserve, out));
  clock_pop(&r->clock);
  return s;
}

/* The model's energy, gradient and Hessian of its expansion at f->x0. */
static loom_status ask_expansion(run *r, contact_inst *c, frozen_contact *f, double *dissipation)
{
  LOOM_TRY(live_eval(r, c, f->x0, &f->energy, dissipation, f->g0));
  LOOM_TRY(results_settle(r));
  return live_blocks(r, c, f->x0, LOOM_HESS_EXPANSION, &f->H0);
}

/* The expansion times `share`; without a share the model is not asked. */
static loom_status expand_frozen_contact(run *r, contact_inst *c, frozen_contact *f, double share)
{
  double dissipation = 0.0;
  if (share == 0.0) return LOOM_OK;
  r->st.expansion = LOOM_EXPAND_STEP;
  const loom_status s = ask_expansion(r, c, f, &dissipation);
  r->st.expansion = LOOM_EXPAND_NONE;
  LOOM_TRY(s);
  f->energy = share * (f->energy + dissipation);
  if (share == 1.0) return LOOM_OK;
  LOOM_TRY(la_axpby(r->m, &r->exec, 0.0, f->g0, share, f->g0));
  return la_axpby(r->m, &r->exec, 0.0, f->H0.val, share, f->H0.val);
}

static loom_status freeze_contact_model(run *r, contact_inst *c, loom_buf *x, double share)
{
  thaw_contact_model(r, c);
  if (!(c->provides & LOOM_CONT_HESSIAN)) return LOOM_OK; /* post-only */
  frozen_contact *const f = calloc(1, sizeof *f);
  if (f == NULL) return err_set(r->err, LOOM_E_NOMEM, "%s: out of memory", c->in.name);
  const int64_t n3 = 3 * (int64_t)r->scene->pub.num_verts;
  loom_status s = buf_new(r->m, "core", "frozen x0", LOOM_REAL, n3, &f->x0);
  if (s == LOOM_OK) s = buf_new(r->m, "core", "frozen g0", LOOM_REAL, n3, &f->g0);
  if (s == LOOM_OK) s = buf_new(r->m, "core", "frozen H0 d", LOOM_REAL, n3, &f->hd);
  if (s == LOOM_OK) s = blocks_new(r->m, &f->H0);
  if (s == LOOM_OK) s = buf_copy(r->m, &r->exec, f->x0, x);
  if (s == LOOM_OK) s = expand_frozen_contact(r, c, f, share);
  if (s == LOOM_OK) s = blocks_order(r->m, &r->exec, &f->H0, r->scene->pub.num_verts, &f->ordered);
  c->frozen = f;
  if (s != LOOM_OK) thaw_contact_model(r, c);
  return s;
}

loom_status contact_freeze(run *r, loom_buf *x, double share)
{
  LOOM_TRY(follow_rows(r, x));
  for (int i = 0; i < r->num_contact; ++i)
    LOOM_TRY(freeze_contact_model(r, &r->contact[i], x, share));
  r->contacts.frozen = 1;
  return LOOM_OK;
}

/* v: g0.x, g0.x0, hd.x, hd.x0; u->scale: the energy at x0 */
static loom_status add_frozen_energy(run *r, const double *v, const results_use *u)
{
  (void)r;
  *(double *)u->out += u->scale + (v[0] - v[1]) + 0.5 * (v[2] - v[3]);
  return LOOM_OK;
}

static loom_status frozen_energy(run *r, const frozen_contact *f, loom_buf *x, double *energy)
{
  LOOM_TRY(la_dot_slot(r->m, &r->exec, f->g0, x, 0));
  LOOM_TRY(la_dot_slot(r->m, &r->exec, f->g0, f->x0, 1));
  LOOM_TRY(la_dot_slot(r->m, &r->exec, f->hd, x, 2));
  LOOM_TRY(la_dot_slot(r->m, &r->exec, f->hd, f->x0, 3));
  return results_later(
      r, &r->exec, r->exec.result, 4,
      &(results_use){.then = add_frozen_energy, .out = energy, .scale = f->energy});
}

static loom_status frozen_eval(run *r, contact_inst *c, loom_buf *x, double *energy, loom_buf *g)
{
  frozen_contact *const f = c->frozen;
  LOOM_TRY(la_fill(r->m, &r->exec, f->hd, 0.0));
  LOOM_TRY(blocks_ordered_product(r->m, &r->exec, &f->ordered, x, f->x0, f->hd));
  if (energy != NULL) LOOM_TRY(frozen_energy(r, f, x, energy));
  if (g != NULL) {
    LOOM_TRY(la_axpby(r->m, &r->exec, 1.0, f->g0, 1.0, g));
    LOOM_TRY(la_axpby(r->m, &r->exec, 1.0, f->hd, 1.0, g));
  }
  return LOOM_OK;
}

/* ---- the term ---- */

static int is_frozen(const contact_inst *c, const loom_problem *p)
{
  return p->contact == LOOM_CONTACT_FROZEN && c->frozen != NULL;
}

static loom_status eval_one(run *r, contact_inst *c, const loom_problem *p, loom_buf *x,
                            double *energy, double *dissipation, loom_buf *g)
{
  return is_frozen(c, p) ? frozen_eval(r, c, x, energy, g)
                         : live_eval(r, c, x, energy, dissipation, g);
}

loom_status contact_eval(run *r, contact_inst *c, const loom_problem *p, loom_buf *x,
                         double *energy, double *dissipation, loom_buf *g)
{
  const loom_status s = eval_one(r, c, p, x, energy, dissipation, g);
  LOOM_TRY(results_settle(r));
  return s;
}

static loom_status add_energies(run *r, const double *v, const results_use *u)
{
  loom_energies *const e = u->out;
  (void)r;
  e->contact += v[0];
  e->dissipation += v[1];
  e->total += v[0] + v[1];
  return LOOM_OK;
}

static loom_status eval_all(run *r, const loom_problem *p, loom_buf *x, loom_energies *e,
                            loom_buf *g)
{
  LOOM_TRY(follow_rows(r, x));
  if (g != NULL) LOOM_TRY(follow_clear(r, g));
  for (int i = 0; i < r->num_contact; ++i) {
    double *v; /* energy and dissipation, J */
    LOOM_TRY(results_cells(r, 2, &v));
    const loom_status s = eval_one(r, &r->contact[i], p, x, &v[0], &v[1], g);
    if (s == LOOM_REJECTED) LOOM_TRY(results_settle(r));
    if (s == LOOM_REJECTED && e != NULL) e->contact = e->total = NAN;
    LOOM_TRY(s);
    if (e != NULL) LOOM_TRY(results_after(r, v, &(results_use){.then = add_energies, .out = e}));
  }
  if (g != NULL) LOOM_TRY(follow_fold(r, g));
  return results_settle_unless_held(r);
}

static loom_status term_contact_eval(run *r, const loom_problem *p, loom_buf *x, loom_energies *e,
                                     loom_buf *g)
{
  clock_push(&r->clock, CLOCK_CONTACT);
  const loom_status s = eval_all(r, p, x, e, g);
  clock_pop(&r->clock);
  return s;
}

loom_status contact_blocks(run *r, const loom_problem *p, loom_buf *x, int how,
                           const loom_blocks3 **out)
{
  loom_blocks3 *const all = &r->contacts.blocks;
  const int num = (p->terms & LOOM_TERM_CONTACT) ? r->num_contact : 0;
  *out = all;
  all->count = 0;
  if (num > 0) LOOM_TRY(follow_rows(r, x));
  for (int i = 0; i < num; ++i) {
    contact_inst *const c = &r->contact[i];
    LOOM_TRY(is_frozen(c, p) ? blocks_add(r->m, &r->exec, all, &c->frozen->H0)
                             : live_blocks(r, c, x, how, all));
  }
  return follow_fold_blocks(r, all);
}

/* The terms of the last call took less than an eighth of the room, as those of its successor will:
 * the first iterates of a step may have ten times as many. */
static loom_status quad_shrink(mem *m, loom_quad *q)
{
  const int64_t room = 2 * q->count;
  if (q->capacity / 8 <= q->count) return LOOM_OK;
  q->capacity = room;
  LOOM_TRY(buf_resize(m, q->v, 4 * room));
  LOOM_TRY(buf_resize(m, q->w, 4 * room));
  LOOM_TRY(buf_resize(m, q->k, room));
  LOOM_TRY(buf_resize(m, q->p, 3 * room));
  return q->dir != NULL ? buf_resize(m, q->dir, 3 * room) : LOOM_OK;
}

loom_status contact_quad(run *r, loom_buf *x, const loom_quad **out)
{
  LOOM_TRY(quad_shrink(r->m, &r->contacts.quad));
  r->contacts.quad.count = 0;
  LOOM_TRY(follow_rows(r, x));
  for (int i = 0; i < r->num_contact; ++i)
    LOOM_TRY(quad_of(r, &r->contact[i], x, &r->contacts.quad));
  return follow_fold_quad(r, &r->contacts.quad, out);
}

/* Their rows and columns are in the pattern of A already: problem_hessian() asked for them. */
static loom_status term_contact_hessian(run *r, const loom_problem *p, loom_buf *x, int how,
                                        asm_bsr *A)
{
  (void)p, (void)x, (void)how;
  return asm_bsr_add_contact(A, &r->contacts.blocks);
}

static loom_status term_contact_apply(run *r, const loom_problem *p, loom_buf *x, int how,
                                      loom_buf *d, loom_buf *Hd)
{
  const loom_blocks3 *all = NULL;
  LOOM_TRY(contact_blocks(r, p, x, how, &all));
  return blocks_product(r->m, &r->exec, all, d, NULL, Hd);
}

static loom_status open_contact(run *r)
{
  int isotropic = 1;
  LOOM_TRY(blocks_new(r->m, &r->contacts.blocks));
  for (int i = 0; i < r->num_contact; ++i) {
    contact_inst *const c = &r->contact[i];
    const uint32_t provides = c->in.plugin->ops.contact->provides;
    isotropic &= !(provides & LOOM_CONT_QUAD) || (provides & LOOM_CONT_QUAD_ISO) != 0;
    LOOM_TRY(quad_new(r, (c->provides & LOOM_CONT_QUAD_ISO) != 0, &c->quad));
  }
  return quad_new(r, isotropic, &r->contacts.quad);
}

static void close_contact(run *r)
{
  for (int i = 0; i < r->num_contact; ++i) {
    thaw_contact_model(r, &r->contact[i]);
    quad_free(r, &r->contact[i].quad);
  }
  quad_free(r, &r->contacts.quad);
  blocks_free(r->m, &r->contacts.blocks);
}

const term term_contact = {.bit = LOOM_TERM_CONTACT,
                           .energy = offsetof(loom_energies, contact),
                           .open = open_contact,
                           .close = close_contact,
                           .eval = term_contact_eval,
                           .hessian = term_contact_hessian,
                           .apply = term_contact_apply};
