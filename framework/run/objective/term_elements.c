/* term_elements.c - elasticity: the energies of element types (elements/), and their state
 * from step to step.
 *
 * The operator of the projective form has unit rows and columns where a vertex is fixed, so the
 * part L_fc x_c that fixed vertices c have in the rows of free ones f stands on the right-hand
 * side: free rows   rhs = M y / h^2 + sum w A'p - L_fc x_c        fixed rows   rhs = x_c and L x -
 * rhs is the gradient without contact on free rows and zero on fixed ones. */
#include <math.h>

#include "linalg/linalg.h"
#include "run/objective/term.h"
#include "run/run_state.h"

static loom_status open_elements(run *r)
{
  return elastic_new(r->err, r->m, &r->exec, &r->scene->pub, &r->elements.el);
}

void elements_forget_fixed(run *r)
{
  buf_free(r->m, r->elements.couplings.row_ptr);
  buf_free(r->m, r->elements.couplings.col);
  buf_free(r->m, r->elements.couplings.val);
  buf_free(r->m, r->elements.pull);
  r->elements.couplings = (loom_csr){0};
  r->elements.pull = NULL;
}

static void close_elements(run *r)
{
  elastic_free(r->elements.el);
  elements_forget_fixed(r);
}

static loom_status term_elements_gradient(run *r, const loom_problem *p, loom_buf *x, loom_buf *g,
                                          int *slots)
{
  elastic *const el = r->elements.el;
  int used = 0;
  (void)p;
  if (slots == NULL) return g != NULL ? elastic_gradient(el, x, g) : LOOM_OK;
  /* the energies come with the gradient, for one more number per element */
  LOOM_TRY(g != NULL ? elastic_gradient_energy(el, x, g, *slots, &used)
                     : elastic_energy(el, x, *slots, &used));
  *slots += used;
  return LOOM_OK;
}

static loom_status term_elements_hessian(run *r, const loom_problem *p, loom_buf *x, int how,
                                         asm_bsr *A)
{
  (void)p;
  return elastic_hessian(r->elements.el, x, how, A);
}

static loom_status term_elements_apply(run *r, const loom_problem *p, loom_buf *x, int how,
                                       loom_buf *d, loom_buf *Hd)
{
  (void)p;
  return elastic_apply(r->elements.el, x, how, d, Hd);
}

/* ---- projective form ---- */

static loom_status term_elements_pd_operator(run *r, const loom_problem *p, asm_csr *A)
{
  (void)p;
  return elastic_pd_operator(r->elements.el, A);
}

/* Copies the entries of fixed columns in free rows, or counts them where `out_ptr` is NULL. */
static int64_t take_entries(int32_t n, const int64_t *ptr, const int32_t *col, const loom_real *val,
                            const uint8_t *fixed, int64_t *out_ptr, int32_t *out_col,
                            loom_real *out_val)
{
  int64_t at = 0;
  for (int32_t i = 0; i < n; ++i) {
    if (out_ptr != NULL) out_ptr[i] = at;
    for (int64_t k = ptr[i]; k < ptr[i + 1]; ++k) {
      if (fixed[i] || !fixed[col[k]]) continue;
      if (out_ptr != NULL) {
        out_col[at] = col[k];
        out_val[at] = val[k];
      }
      ++at;
    }
  }
  if (out_ptr != NULL) out_ptr[n] = at;
  return at;
}

/* The entries that the operator's unit columns take away, as rows of their own.  Masses are on the
 * diagonal, so they are the same for every time step. */
static loom_status take_couplings(run *r, const loom_csr *L, loom_csr *C)
{
  const int32_t n = L->num_rows;
  buf_maps q = {.m = r->m}; /* on the host */
  const int64_t *const ptr = buf_maps_add(&q, L->row_ptr, LOOM_READ);
  const int32_t *const col = buf_maps_add(&q, L->col, LOOM_READ);
  const loom_real *const val = buf_maps_add(&q, L->val, LOOM_READ);
  const uint8_t *const fixed = buf_maps_add(&q, r->scene->pub.fixed, LOOM_READ);
  if (q.status != LOOM_OK) return buf_maps_end(&q);
  const int64_t nnz = take_entries(n, ptr, col, val, fixed, NULL, NULL, NULL);
  C->num_rows = n;
  C->nnz = nnz;
  LOOM_TRY(buf_new(r->m, "core", "first couplings", LOOM_I64, (int64_t)n + 1, &C->row_ptr));
  LOOM_TRY(buf_new(r->m, "core", "coupled pins", LOOM_I32, nnz, &C->col));
  LOOM_TRY(buf_new(r->m, "core", "couplings", LOOM_REAL, nnz, &C->val));
  int64_t *const out_ptr = buf_maps_add(&q, C->row_ptr, LOOM_WRITE);
  int32_t *const out_col = buf_maps_add(&q, C->col, LOOM_WRITE);
  loom_real *const out_val = buf_maps_add(&q, C->val, LOOM_WRITE);
  if (q.status == LOOM_OK) (void)take_entries(n, ptr, col, val, fixed, out_ptr, out_col, out_val);
  return buf_maps_end(&q);
}

/* Made when first asked for: of an operator without unit rows, which is then given back. */
static loom_status couplings_new(run *r)
{
  asm_csr *A = NULL;
  LOOM_TRY(asm_csr_new(r->err, r->m, &r->exec, &r->scene->pub, &A));
  loom_status s = asm_csr_begin(A);
  if (s == LOOM_OK) s = elastic_pd_operator(r->elements.el, A);
  if (s == LOOM_OK) s = take_couplings(r, asm_csr_matrix(A), &r->elements.couplings);
  asm_csr_free(A);
  if (s != LOOM_OK) return s;
  return buf_new(r->m, "core", "pull of pins", LOOM_REAL, 3 * (int64_t)r->scene->pub.num_verts,
                 &r->elements.pull);
}

static loom_status term_elements_pd_rhs(run *r, const loom_problem *p, loom_buf *x, loom_buf *rhs)
{
  (void)p;
  LOOM_TRY(elastic_pd_rhs(r->elements.el, x, rhs));
  if (r->elements.pull == NULL) LOOM_TRY(couplings_new(r));
  if (r->elements.couplings.nnz == 0) return LOOM_OK;
  /* col names fixed vertices alone, so the free rows of x are not read */
  LOOM_TRY(la_spmv_csr3(r->m, &r->exec, &r->elements.couplings, x, r->elements.pull));
  return la_axpby(r->m, &r->exec, -1.0, r->elements.pull, 1.0, rhs);
}

/* ---- from step to step ---- */

static loom_status term_elements_commit(run *r, loom_buf *x)
{
  return elastic_commit(r->elements.el, x);
}

static loom_status term_elements_state(run *r, state_visit visit)
{
  for (int b = 0; b < r->scene->pub.num_blocks; ++b) {
    const elem_state *const s = elastic_state(r->elements.el, b);
    if (s != NULL) LOOM_TRY(visit(r, s->name, r->scene->pub.blocks[b].rest));
  }
  return LOOM_OK;
}

/* Rest data that a log or a checkpoint gave back have the rest lengths of another step. */
loom_status elements_rest_change(run *r, double change)
{
  if (change == r->elements.scaled) return LOOM_OK;
  LOOM_TRY(elastic_scale(r->elements.el, 1.0 + change));
  r->elements.scaled = change;
  return LOOM_OK;
}

void elements_forget_lengths(run *r) { r->elements.scaled = NAN; }

const term term_elements = {.bit = LOOM_TERM_ELASTIC,
                            .energy = offsetof(loom_energies, elastic),
                            .open = open_elements,
                            .close = close_elements,
                            .gradient = term_elements_gradient,
                            .hessian = term_elements_hessian,
                            .apply = term_elements_apply,
                            .pd_operator = term_elements_pd_operator,
                            .pd_rhs = term_elements_pd_rhs,
                            .commit = term_elements_commit,
                            .state = term_elements_state};
