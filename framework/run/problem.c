/* problem.c - the step's objective: inertia, elasticity, contact; values and derivatives.
 *
 *   r(x) = M (x - y) / h^2 + grad Psi(x) + grad B(x) + grad D(x)      [N]
 *
 * Elastic terms come from elements/, contact terms from the contact plugins (or from what
 * contact_forms.c derives for them); this file puts them together. */
#include <math.h>
#include <string.h>

#include "run/contact_forms.h"
#include "run/run.kern.h"
#include "run/run_state.h"

static const lk_entry k_inertia_gradient = LK_ENTRY(run_inertia_gradient);
static const lk_entry k_inertia_energy = LK_ENTRY(run_inertia_energy);
static const lk_entry k_inertia_apply = LK_ENTRY(run_inertia_apply);
static const lk_entry k_mass_times = LK_ENTRY(run_mass_times);
static const lk_entry k_zero_fixed = LK_ENTRY(run_zero_fixed);
static const lk_entry k_copy_fixed = LK_ENTRY(run_copy_fixed);
static const lk_entry k_block_apply = LK_ENTRY(run_block_apply);

enum { SLOT_INERTIA = 0, SLOT_ELASTIC = 1 };

loom_status problem_new(run *r)
{
  LOOM_TRY(elastic_new(r->err, r->m, &r->exec, &r->scene->pub, &r->problem.el));
  LOOM_TRY(rods_new(r->err, r->m, &r->exec, &r->scene->pub, &r->problem.rods));
  LOOM_TRY(blocks_alloc(r, "core", &r->problem.blocks));
  int isotropic = 1;
  for (int i = 0; i < r->num_contact; ++i) {
    const uint32_t provides = r->contact[i].in.plugin->ops.contact->provides;
    isotropic &= !(provides & LOOM_CONT_QUAD) || (provides & LOOM_CONT_QUAD_ISO) != 0;
  }
  return quad_alloc(r, "core", isotropic, &r->problem.quad);
}

void problem_free(run *r)
{
  rods_free(r->problem.rods);
  elastic_free(r->problem.el);
  asm_bsr_free(r->problem.bsr);
  asm_csr_free(r->problem.csr);
  pd_rhs_free(r);
  blocks_release(r, &r->problem.blocks);
  quad_release(r, &r->problem.quad);
}

/* One of the inertia kernels at x. */
static loom_status inertia(run *r, const lk_entry *k, loom_buf *x, loom_buf *out, int access,
                           lk_real *result)
{
  buf_maps q = {.m = r->m, .e = &r->exec};
  const inertia_args a = {.x = buf_maps_add(&q, x, LOOM_READ),
                          .y = buf_maps_add(&q, r->st.y, LOOM_READ),
                          .m = buf_maps_add(&q, r->scene->pub.mass, LOOM_READ),
                          .fixed = buf_maps_add(&q, r->scene->pub.fixed, LOOM_READ),
                          .out = buf_maps_add(&q, out, access),
                          .inv_h2 = (lk_real)(1.0 / (r->st.h * r->st.h))};
  return buf_maps_launch(&q, k, &a, r->scene->pub.num_verts, result);
}

loom_status problem_free_part(run *r, loom_buf *x, loom_energies *e, loom_buf *g)
{
  int used = 0;
  if (g != NULL) {
    LOOM_TRY(inertia(r, &k_inertia_gradient, x, g, LOOM_WRITE, NULL));
    if (e != NULL)
      LOOM_TRY(elastic_gradient_energy(r->problem.el, x, g, SLOT_ELASTIC, &used));
    else
      LOOM_TRY(elastic_gradient(r->problem.el, x, g));
  } else if (e != NULL) {
    LOOM_TRY(elastic_energy(r->problem.el, x, SLOT_ELASTIC, &used));
  }
  if (e == NULL) return LOOM_OK;
  double v[LOOM_NUM_RESULTS];
  LOOM_TRY(inertia(r, &k_inertia_energy, x, NULL, LOOM_READ, r->exec.result + SLOT_INERTIA));
  LOOM_TRY(exec_fetch(r->err, &r->exec, 0, SLOT_ELASTIC + used, v));
  e->inertia = v[SLOT_INERTIA];
  e->elastic = 0.0;
  for (int i = 0; i < used; ++i) e->elastic += v[SLOT_ELASTIC + i];
  e->contact = e->dissipation = 0.0;
  e->total = e->inertia + e->elastic;
  return LOOM_OK;
}

loom_status problem_contact_part(run *r, loom_buf *x, int live, loom_energies *e, loom_buf *g)
{
  clock_push(&r->clock, CLOCK_CONTACT);
  for (int i = 0; i < r->num_contact; ++i) {
    double energy = 0.0, dissipation = 0.0;
    const loom_status s = contact_eval(r, &r->contact[i], x, live, &energy, &dissipation, g);
    if (s == LOOM_REJECTED && e != NULL) e->contact = e->total = NAN;
    if (s != LOOM_OK) {
      clock_pop(&r->clock);
      return s;
    }
    if (e != NULL) {
      e->contact += energy;
      e->dissipation += dissipation;
      e->total += energy + dissipation;
    }
  }
  clock_pop(&r->clock);
  return LOOM_OK;
}

static loom_status on_fixed(run *r, const lk_entry *k, loom_buf *a, loom_buf *b)
{
  buf_maps q = {.m = r->m, .e = &r->exec};
  const rows_args args = {.fixed = buf_maps_add(&q, r->scene->pub.fixed, LOOM_READ),
                          .a = buf_maps_add(&q, a, LOOM_RDWR),
                          .b = buf_maps_add(&q, b, LOOM_READ)};
  return buf_maps_launch(&q, k, &args, r->scene->pub.num_verts, NULL);
}

loom_status problem_zero_fixed(run *r, loom_buf *g) { return on_fixed(r, &k_zero_fixed, g, NULL); }

loom_status problem_copy_fixed(run *r, loom_buf *a, loom_buf *b)
{
  return on_fixed(r, &k_copy_fixed, a, b);
}

loom_status problem_restore_fixed(run *r, loom_buf *x) { return problem_copy_fixed(r, x, r->st.y); }

loom_status problem_eval(run *r, loom_buf *x, int what, loom_energies *e, loom_buf *g)
{
  loom_energies own = {0};
  loom_energies *const energies = (what & LOOM_EVAL_ENERGY) ? (e != NULL ? e : &own) : NULL;
  loom_buf *const grad = (what & LOOM_EVAL_GRADIENT) ? g : NULL;
  LOOM_TRY(problem_free_part(r, x, energies, grad));
  if (!(what & LOOM_EVAL_NO_CONTACT))
    LOOM_TRY(problem_contact_part(r, x, (what & LOOM_EVAL_LIVE) != 0, energies, grad));
  return grad != NULL ? problem_zero_fixed(r, grad) : LOOM_OK;
}

loom_status problem_contact_blocks(run *r, loom_buf *x, int how, const loom_blocks3 **out)
{
  r->problem.blocks.count = 0;
  if (!(how & LOOM_HESS_NO_CONTACT))
    for (int i = 0; i < r->num_contact; ++i)
      LOOM_TRY(contact_hessian(r, &r->contact[i], x, how, &r->problem.blocks));
  *out = &r->problem.blocks;
  return LOOM_OK;
}

loom_status problem_hessian(run *r, loom_buf *x, int how, const loom_bsr3 **H)
{
  const loom_blocks3 *contact = NULL;
  if (r->problem.bsr == NULL)
    LOOM_TRY(asm_bsr_new(r->err, r->m, &r->exec, &r->scene->pub, &r->problem.bsr));
  LOOM_TRY(problem_contact_blocks(r, x, how, &contact));
  LOOM_TRY(asm_bsr_begin(r->problem.bsr, contact));
  LOOM_TRY(asm_bsr_add_mass(r->problem.bsr, 1.0 / (r->st.h * r->st.h)));
  LOOM_TRY(elastic_hessian(r->problem.el, x, how & 3, r->problem.bsr));
  LOOM_TRY(asm_bsr_add_contact(r->problem.bsr, contact));
  LOOM_TRY(asm_bsr_finish(r->problem.bsr));
  *H = asm_bsr_matrix(r->problem.bsr);
  return LOOM_OK;
}

/* out[row[j]] += H[j] (p - q)[col[j]] over all blocks, summed by vertex in fixed order */
loom_status problem_blocks_apply(run *r, const loom_blocks3 *b, loom_buf *p, loom_buf *q,
                                 loom_buf *out)
{
  loom_buf *val = NULL;
  if (b->count == 0) return LOOM_OK;
  LOOM_TRY(buf_new(r->m, "core", "contact block products", LOOM_REAL, 3 * b->count, &val));
  buf_maps m = {.m = r->m, .e = &r->exec};
  const block_apply_args a = {.H = buf_maps_add(&m, b->val, LOOM_READ),
                              .col = buf_maps_add(&m, b->col, LOOM_READ),
                              .p = buf_maps_add(&m, p, LOOM_READ),
                              .q = buf_maps_add(&m, q, LOOM_READ),
                              .val = buf_maps_add(&m, val, LOOM_WRITE)};
  LOOM_TRY(buf_maps_launch(&m, &k_block_apply, &a, b->count, NULL));
  const loom_status done = sum_by_vertex(r, b->row, b->count, val, out);
  buf_free(r->m, val);
  return done;
}

loom_status problem_hess_apply(run *r, loom_buf *x, int how, loom_buf *p, loom_buf *Hp)
{
  const loom_blocks3 *contact = NULL;
  LOOM_TRY(la_fill(r->m, &r->exec, Hp, 0.0));
  LOOM_TRY(inertia(r, &k_inertia_apply, p, Hp, LOOM_RDWR, NULL));
  LOOM_TRY(elastic_apply(r->problem.el, x, how & 3, p, Hp));
  LOOM_TRY(problem_contact_blocks(r, x, how, &contact));
  LOOM_TRY(problem_blocks_apply(r, contact, p, NULL, Hp));
  /* unit rows of fixed vertices, as in the assembled matrix */
  return problem_copy_fixed(r, Hp, p);
}

loom_status problem_pd_operator(run *r, const loom_csr **L)
{
  if (r->problem.csr == NULL)
    LOOM_TRY(asm_csr_new(r->err, r->m, &r->exec, &r->scene->pub, &r->problem.csr));
  if (r->problem.csr_h != r->st.h) { /* constant otherwise */
    LOOM_TRY(asm_csr_begin(r->problem.csr));
    LOOM_TRY(asm_csr_add_mass(r->problem.csr, 1.0 / (r->st.h * r->st.h)));
    LOOM_TRY(elastic_pd_operator(r->problem.el, r->problem.csr));
    LOOM_TRY(asm_csr_finish(r->problem.csr));
    r->problem.csr_h = r->st.h;
  }
  r->problem.csr_used = r->st.index;
  *L = asm_csr_matrix(r->problem.csr);
  return LOOM_OK;
}

/* A solver that has made its own matrix of the operator needs it no longer: 160 B per vertex
 * of a cloth.  Whoever asks again gets the same bits. */
void problem_end_step(run *r)
{
  if (r->problem.csr == NULL || r->problem.csr_used == r->st.index) return;
  asm_csr_free(r->problem.csr);
  r->problem.csr = NULL;
  r->problem.csr_h = 0.0;
}

loom_status problem_mass_times_y(run *r, loom_buf *out)
{
  return inertia(r, &k_mass_times, r->st.y, out, LOOM_WRITE, NULL);
}

loom_status problem_quad(run *r, loom_buf *x, const loom_quad **out)
{
  r->problem.quad.count = 0;
  for (int i = 0; i < r->num_contact; ++i)
    LOOM_TRY(contact_quad(r, &r->contact[i], x, &r->problem.quad));
  *out = &r->problem.quad;
  return LOOM_OK;
}

/* Elements without a Hessian (yarns, for explicit steps): the mass alone. */
static loom_status mass_diag(run *r)
{
  const double h = r->set.run.dt / (double)r->set.run.substeps;
  buf_maps q = {.m = r->m};
  const loom_real *const m = buf_maps_add(&q, r->scene->pub.mass, LOOM_READ);
  loom_real *const d = buf_maps_add(&q, r->buf.diag, LOOM_WRITE);
  const int32_t n = q.status == LOOM_OK ? r->scene->pub.num_verts : 0;
  for (int32_t i = 0; i < n; ++i) d[i] = (loom_real)((double)m[i] / (h * h));
  return buf_maps_end(&q);
}

/* Diagonal of the elastic operator plus mass: of the constant projective operator where
 * there is one, else of the clamped Hessian at the initial state.  It is made once per
 * step size, so that r_dinv means the same in every step. */
loom_status problem_diag(run *r)
{
  const int projective = (elastic_caps(r->problem.el) & LOOM_ELEM_PROJECT) != 0;
  if ((elastic_caps(r->problem.el) & LOOM_ELEM_HESSIAN) == 0) return mass_diag(r);
  loom_buf *row_ptr, *col, *val;
  int bs;
  if (projective) {
    const loom_csr *L = NULL;
    LOOM_TRY(problem_pd_operator(r, &L));
    row_ptr = L->row_ptr, col = L->col, val = L->val, bs = 1;
  } else {
    const loom_bsr3 *H = NULL;
    LOOM_TRY(problem_hessian(r, r->st.x, LOOM_HESS_PSD_CLAMP | LOOM_HESS_NO_CONTACT, &H));
    row_ptr = H->row_ptr, col = H->col, val = H->val, bs = 9;
  }
  buf_maps q = {.m = r->m};
  const int64_t *const ptr = buf_maps_add(&q, row_ptr, LOOM_READ);
  const int32_t *const c = buf_maps_add(&q, col, LOOM_READ);
  const loom_real *const v = buf_maps_add(&q, val, LOOM_READ);
  loom_real *const d = buf_maps_add(&q, r->buf.diag, LOOM_WRITE);
  const int32_t n = q.status == LOOM_OK ? r->scene->pub.num_verts : 0;
  for (int32_t i = 0; i < n; ++i)
    for (int64_t j = ptr[i]; j < ptr[i + 1]; ++j)
      if (c[j] == i) d[i] = bs == 1 ? v[j] : (v[9 * j] + v[9 * j + 4] + v[9 * j + 8]) / 3;
  return buf_maps_end(&q);
}
