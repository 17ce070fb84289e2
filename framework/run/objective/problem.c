/* problem.c - the objective of a step, or of part of it: sums over the terms of term.h. */
#include "linalg/linalg.h"
#include "run/objective/objective.kern.h"
#include "run/run_state.h"

static const lk_entry k_zero_fixed = LK_ENTRY_MOVES(run_zero_fixed, 6, 1);
static const lk_entry k_copy_fixed = LK_ENTRY_MOVES(run_copy_fixed, 9, 1);

enum { NUM_TERMS = 4 };
static const term *const terms[NUM_TERMS] = {&term_inertia, &term_elements, &term_damping,
                                             &term_contact};

/* For every term of p that has it: term.call(r, p, ...). */
#define EACH_TERM(p, call, ...)                                   \
  for (int t_ = 0; t_ < NUM_TERMS; ++t_)                          \
    if (((p)->terms & terms[t_]->bit) && terms[t_]->call != NULL) \
  LOOM_TRY(terms[t_]->call(r, (p), __VA_ARGS__))

loom_status problem_new(run *r)
{
  for (int t = 0; t < NUM_TERMS; ++t)
    if (terms[t]->open != NULL) LOOM_TRY(terms[t]->open(r));
  return following_new(r);
}

void problem_free(run *r)
{
  for (int t = 0; t < NUM_TERMS; ++t)
    if (terms[t]->close != NULL) terms[t]->close(r);
  following_free(r);
  asm_bsr_free(r->problem.bsr);
  asm_bsr_free(r->problem.bsr_bare);
  asm_csr_free(r->problem.csr);
}

void problem_forget(run *r)
{
  run_problem *const own = &r->problem;
  asm_bsr_free(own->bsr);
  asm_bsr_free(own->bsr_bare);
  asm_csr_free(own->csr);
  own->bsr = own->bsr_bare = NULL;
  own->csr = NULL;
  own->csr_h = 0.0;
  elements_forget_fixed(r);
  damping_forget_fixed(r);
}

void problem_pose(run *r)
{
  const int frozen = (r->solver.plugin->ops.solver->needs & LOOM_WANT_CONTACT_FROZEN) != 0;
  r->problem.own = (loom_problem){.struct_size = sizeof r->problem.own,
                                  .terms = LOOM_TERM_ALL,
                                  .target = r->st.y,
                                  .h = r->st.h,
                                  .inertia = 1.0 / (r->st.h * r->st.h),
                                  .contact = frozen ? LOOM_CONTACT_FROZEN : LOOM_CONTACT_LIVE};
  r->problem.free = r->problem.own;
  r->problem.free.terms &= ~(uint32_t)LOOM_TERM_CONTACT;
  r->st.problem = &r->problem.own;
  damping_pose(r);
}

/* ---- fixed vertices ---- */

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

loom_status problem_restore_fixed(run *r, loom_buf *x)
{
  LOOM_TRY(problem_copy_fixed(r, x, r->st.y));
  return follow_rows(r, x);
}

/* ---- values and gradients ---- */

/* Vectors are written over by inertia, or else begin at zero. */
static loom_status clear_term_sum(run *r, const loom_problem *p, loom_buf *out)
{
  return (p->terms & LOOM_TERM_INERTIA) ? LOOM_OK : la_fill(r->m, &r->exec, out, 0.0);
}

/* The energies of smooth terms; u->first: how many slots each term has, a byte each. */
static loom_status sum_energies(run *r, const double *v, const results_use *u)
{
  loom_energies *const e = u->out;
  (void)r;
  *e = (loom_energies){0};
  for (int t = 0; t < NUM_TERMS; ++t) {
    double *const sum = (double *)(void *)((char *)e + terms[t]->energy);
    const int num = (int)(u->first >> (8 * t) & 0xff);
    for (int i = 0; i < num; ++i) *sum += *v++;
    e->total += *sum;
  }
  return LOOM_OK;
}

loom_status problem_smooth(run *r, const loom_problem *p, loom_buf *x, loom_energies *e,
                           loom_buf *grad)
{
  int slots = 0;
  int64_t nums = 0; /* slots of each term, a byte each */
  if (grad != NULL) LOOM_TRY(clear_term_sum(r, p, grad));
  for (int t = 0; t < NUM_TERMS; ++t) {
    const int before = slots;
    if ((p->terms & terms[t]->bit) && terms[t]->gradient != NULL)
      LOOM_TRY(terms[t]->gradient(r, p, x, grad, e != NULL ? &slots : NULL));
    nums |= (int64_t)(slots - before) << (8 * t);
  }
  if (e == NULL) return LOOM_OK;
  LOOM_TRY(results_later(r, &r->exec, r->exec.result, slots,
                         &(results_use){.then = sum_energies, .out = e, .first = nums}));
  return results_settle_unless_held(r);
}

loom_status problem_add_contact(run *r, const loom_problem *p, loom_buf *x, loom_energies *e,
                                loom_buf *grad)
{
  EACH_TERM(p, eval, x, e, grad);
  return LOOM_OK;
}

loom_status problem_eval(run *r, const loom_problem *p, loom_buf *x, loom_energies *e,
                         loom_buf *grad)
{
  LOOM_TRY(problem_smooth(r, p, x, e, grad));
  LOOM_TRY(problem_add_contact(r, p, x, e, grad));
  return grad != NULL ? problem_zero_fixed(r, grad) : LOOM_OK;
}

/* ---- Hessians ---- */

/* Without elements the pattern is that of contact, and a product costs a fraction. */
static loom_status matrix_for(run *r, const loom_problem *p, asm_bsr **A)
{
  run_problem *const own = &r->problem;
  const int bare = (p->terms & (LOOM_TERM_ELASTIC | LOOM_TERM_DAMPING)) == 0;
  asm_bsr **const at = bare ? &own->bsr_bare : &own->bsr;
  own->bare = r->scene->pub;
  own->bare.num_blocks = 0;
  if (*at == NULL)
    LOOM_TRY(asm_bsr_new(r->err, r->m, &r->exec, bare ? &own->bare : &r->scene->pub, at));
  *A = *at;
  return LOOM_OK;
}

loom_status problem_hessian_into(run *r, const loom_problem *p, loom_buf *x, int how, asm_bsr *A,
                                 const loom_bsr3 **H)
{
  const loom_blocks3 *contact = NULL;
  LOOM_TRY(contact_blocks(r, p, x, how & ~LOOM_HESS_NARROW, &contact));
  LOOM_TRY(asm_bsr_begin(A, contact));
  EACH_TERM(p, hessian, x, how, A);
  LOOM_TRY(asm_bsr_finish(A));
  *H = asm_bsr_matrix(A);
  return LOOM_OK;
}

loom_status problem_hessian(run *r, const loom_problem *p, loom_buf *x, int how,
                            const loom_bsr3 **H)
{
  asm_bsr *A = NULL;
  LOOM_TRY(matrix_for(r, p, &A));
  return problem_hessian_into(r, p, x, how, A, H);
}

loom_status problem_hess_apply(run *r, const loom_problem *p, loom_buf *x, int how, loom_buf *d,
                               loom_buf *Hd)
{
  LOOM_TRY(la_fill(r->m, &r->exec, Hd, 0.0));
  EACH_TERM(p, apply, x, how, d, Hd);
  /* unit rows of fixed vertices, as in the assembled matrix */
  return problem_copy_fixed(r, Hd, d);
}

/* ---- projective form ---- */

loom_status problem_pd_operator(run *r, const loom_problem *p, const loom_csr **L)
{
  run_problem *const own = &r->problem;
  if (own->csr == NULL) LOOM_TRY(asm_csr_new(r->err, r->m, &r->exec, &r->scene->pub, &own->csr));
  const uint32_t without =
      r->damping.beta != NULL ? LOOM_TERM_CONTACT : LOOM_TERM_CONTACT | LOOM_TERM_DAMPING;
  const uint32_t in = p->terms & ~without;
  if (own->csr_h != p->h || own->csr_inertia != p->inertia || own->csr_terms != in) {
    LOOM_TRY(asm_csr_begin(own->csr));
    EACH_TERM(p, pd_operator, own->csr);
    LOOM_TRY(asm_csr_finish(own->csr));
    own->csr_h = p->h;
    own->csr_inertia = p->inertia;
    own->csr_terms = in;
  }
  own->csr_used = r->st.index;
  *L = asm_csr_matrix(own->csr);
  return LOOM_OK;
}

/* Solvers that copied the operator no longer need ours: 160 B per vertex of a cloth.  A later
 * request gives the same bits. */
void problem_end_step(run *r)
{
  if (r->problem.csr == NULL || r->problem.csr_used == r->st.index) return;
  asm_csr_free(r->problem.csr);
  r->problem.csr = NULL;
  r->problem.csr_h = 0.0;
}

loom_status problem_pd_rhs(run *r, const loom_problem *p, loom_buf *x, loom_buf *rhs)
{
  LOOM_TRY(clear_term_sum(r, p, rhs));
  EACH_TERM(p, pd_rhs, x, rhs);
  return problem_copy_fixed(r, rhs, x);
}

/* ---- D of r_dinv ---- */

/* Where some elements have no Hessian: the mass alone. */
static loom_status mass_diag(run *r)
{
  const double h2 = loom_problem_h2(&r->problem.own);
  buf_maps q = {.m = r->m};
  const loom_real *const m = buf_maps_add(&q, r->scene->pub.mass, LOOM_READ);
  loom_real *const d = buf_maps_add(&q, r->buf.diag, LOOM_WRITE);
  const int32_t n = q.status == LOOM_OK ? r->scene->pub.num_verts : 0;
  for (int32_t i = 0; i < n; ++i) d[i] = (loom_real)((double)m[i] / h2);
  return buf_maps_end(&q);
}

/* Diagonal of the elastic operator plus mass: of the constant projective operator where
 * there is one, else of the clamped Hessian at the initial state.  It is made once, so that r_dinv
 * means the same in every step. */
static loom_status make_diag(run *r)
{
  const uint32_t caps = elastic_caps(r->elements.el);
  loom_problem undamped = r->problem.free;
  if ((caps & LOOM_ELEM_HESSIAN) == 0) return mass_diag(r);
  undamped.terms &= ~(uint32_t)LOOM_TERM_DAMPING;
  loom_buf *row_ptr, *col, *val;
  int bs;
  if (caps & LOOM_ELEM_PROJECT) {
    const loom_csr *L = NULL;
    LOOM_TRY(problem_pd_operator(r, &undamped, &L));
    row_ptr = L->row_ptr, col = L->col, val = L->val, bs = 1;
  } else {
    const loom_bsr3 *H = NULL;
    LOOM_TRY(problem_hessian(r, &undamped, r->st.x, LOOM_HESS_PSD_CLAMP, &H));
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

/* A matrix that only this needs does not stay: with its element Hessians it is 2 kB per triangle.
 */
loom_status problem_diag(run *r)
{
  const int alone = r->problem.bsr == NULL;
  LOOM_TRY(make_diag(r));
  if (!alone || r->problem.bsr == NULL) return LOOM_OK;
  asm_bsr_free(r->problem.bsr);
  r->problem.bsr = NULL;
  return elastic_trim(r->elements.el);
}

/* ---- from step to step ----
 */

loom_status problem_commit(run *r, loom_buf *x)
{
  for (int t = 0; t < NUM_TERMS; ++t)
    if (terms[t]->commit != NULL) LOOM_TRY(terms[t]->commit(r, x));
  return LOOM_OK;
}

loom_status problem_state(run *r, state_visit visit)
{
  for (int t = 0; t < NUM_TERMS; ++t)
    if (terms[t]->state != NULL) LOOM_TRY(terms[t]->state(r, visit));
  return LOOM_OK;
}
