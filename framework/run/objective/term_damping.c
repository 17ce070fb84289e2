/* term_damping.c - stiffness-proportional damping (Rayleigh), lagged: a dissipation potential of
 * the step with the stiffness at its start,
 *
 *   D(x) = (x - x_start)' W (x - x_start) / (2 h),   W = sum of beta_e H_e(x_start),
 *
 * so that its force on the end of the step is -W v with v = (x - x_start) / h.  H_e are element
 * Hessians with negative eigenvalues clamped: a potential that is not convex would give energy.
 * beta_e is stiffness_damping of the element's object.  Pins and stitches, which the scene adds to
 * its materials, are not damped.
 *
 * M. Tang et al., CAMA, Computer Graphics Forum 35(2), 2016, equation 1, has D in the matrix; that
 * it is beta times the stiffness is how R. Narain et al., Adaptive Anisotropic Remeshing for Cloth
 * Simulation, ACM TOG 31(6), 2012, damp the same material.
 *
 * In the projective form L stands for W in the matrix, L = sum of beta_e w A'A, and its
 * excess goes to the right-hand side with the last x, so that L x - rhs is the gradient and the
 * solution is that of the same problem. */
#include "linalg/linalg.h"
#include "run/objective/term.h"
#include "run/run_state.h"

static int is_damped(const run *r, int block)
{
  const elem_type *const t = elem_find(r->scene->pub.blocks[block].type);
  return t != NULL && t->params != NULL && t->hessian != NULL;
}

/* ---- life ---- */

static loom_status check_types(const run *r)
{
  const loom_scene *const sc = &r->scene->pub;
  for (int b = 0; b < sc->num_blocks; ++b)
    if ((sc->blocks[b].caps & LOOM_ELEM_HESSIAN) == 0)
      return err_set(r->err, LOOM_E_CONFIG,
                     "stiffness_damping needs the stiffness of all elements, and %s have no "
                     "Hessian; remove the key from all objects, `damping` works without",
                     sc->blocks[b].type);
  return LOOM_OK;
}

static loom_status open_damping(run *r)
{
  damping_data *const g = &r->damping;
  const int64_t n = r->scene->pub.num_verts;
  if (r->scene->rayleigh == NULL) return LOOM_OK;
  LOOM_TRY(check_types(r));
  LOOM_TRY(buf_new(r->m, "core", "no fixed vertices", LOOM_U8, n, &g->none_fixed));
  LOOM_TRY(buf_new(r->m, "core", "damping: way", LOOM_REAL, 3 * n, &g->d));
  LOOM_TRY(buf_new(r->m, "core", "damping: force", LOOM_REAL, 3 * n, &g->Wd));
  LOOM_TRY(buf_new(r->m, "core", "damping: Hessians", LOOM_REAL, 0, &g->H));
  g->loose = r->scene->pub;
  g->loose.fixed = g->none_fixed;
  g->beta = r->scene->rayleigh;
  g->stale = 1;
  return asm_bsr_new(r->err, r->m, &r->exec, &g->loose, &g->W);
}

static void close_damping(run *r)
{
  damping_data *const g = &r->damping;
  loom_buf *const all[] = {g->none_fixed, g->d, g->Wd, g->H};
  for (size_t i = 0; i < LOOM_COUNT(all); ++i) buf_free(r->m, all[i]);
  asm_bsr_free(g->W);
  asm_csr_free(g->L);
}

void damping_pose(run *r) { r->damping.stale = 1; }

void damping_forget_fixed(run *r)
{
  asm_csr_free(r->damping.L);
  r->damping.L = NULL;
}

/* ---- W ---- */

/* g->H = scale beta H of some elements at x_start */
static loom_status damped_hessians(run *r, int block, int32_t first, int32_t count, double scale)
{
  damping_data *const g = &r->damping;
  const int32_t side = 3 * r->scene->pub.blocks[block].arity;
  LOOM_TRY(buf_resize(r->m, g->H, (int64_t)count * side * side));
  LOOM_TRY(elastic_elem_hessians(r->elements.el, block, first, count, r->st.x_start,
                                 LOOM_HESS_PSD_CLAMP, g->H));
  return elastic_weigh(r->elements.el, block, first, count, g->beta, 0.0, scale, side * side, g->H);
}

/* A += scale W */
static loom_status add_to(run *r, double scale, asm_bsr *A)
{
  for (int b = 0; b < r->scene->pub.num_blocks; ++b) {
    const loom_elem_block *const block = &r->scene->pub.blocks[b];
    /* dense Hessians of patches are large: an eighth of them at once */
    const int32_t num = block->num_elems, most = block->arity <= 4 ? num : num / 8 + 1;
    if (!is_damped(r, b)) continue;
    for (int32_t first = 0; first < num; first += most) {
      const int32_t count = num - first < most ? num - first : most;
      LOOM_TRY(damped_hessians(r, b, first, count, scale));
      LOOM_TRY(asm_bsr_add_some(A, b, first, count, r->damping.H));
    }
  }
  return buf_discard(r->m, r->damping.H);
}

/* Made when a step first asks. */
static loom_status refresh_damping_matrix(run *r)
{
  damping_data *const g = &r->damping;
  if (!g->stale) return LOOM_OK;
  LOOM_TRY(asm_bsr_begin(g->W, NULL));
  LOOM_TRY(add_to(r, 1.0, g->W));
  LOOM_TRY(asm_bsr_finish(g->W));
  g->stale = 0;
  return LOOM_OK;
}

/* Wd = W (x - x_start) */
static loom_status compute_damping_product(run *r, loom_buf *x)
{
  damping_data *const g = &r->damping;
  LOOM_TRY(refresh_damping_matrix(r));
  LOOM_TRY(la_waxpby(r->m, &r->exec, 1.0, x, -1.0, r->st.x_start, g->d));
  return la_spmv_bsr3(r->m, &r->exec, asm_bsr_matrix(g->W), g->d, g->Wd);
}

/* ---- the term ---- */

static loom_status term_damping_gradient(run *r, const loom_problem *p, loom_buf *x, loom_buf *g,
                                         int *slots)
{
  const damping_data *const own = &r->damping;
  if (own->beta == NULL) return LOOM_OK;
  LOOM_TRY(compute_damping_product(r, x));
  if (g != NULL) LOOM_TRY(la_axpby(r->m, &r->exec, 1.0 / p->h, own->Wd, 1.0, g));
  if (slots == NULL) return LOOM_OK;
  LOOM_TRY(la_axpby(r->m, &r->exec, 0.5 / p->h, own->Wd, 0.0, own->Wd));
  return la_dot_slot(r->m, &r->exec, own->d, own->Wd, (*slots)++);
}

static loom_status term_damping_hessian(run *r, const loom_problem *p, loom_buf *x, int how,
                                        asm_bsr *A)
{
  (void)x, (void)how;
  return r->damping.beta != NULL ? add_to(r, 1.0 / p->h, A) : LOOM_OK;
}

static loom_status term_damping_apply(run *r, const loom_problem *p, loom_buf *x, int how,
                                      loom_buf *d, loom_buf *Hd)
{
  const damping_data *const g = &r->damping;
  (void)x, (void)how;
  if (g->beta == NULL) return LOOM_OK;
  LOOM_TRY(refresh_damping_matrix(r));
  LOOM_TRY(la_spmv_bsr3(r->m, &r->exec, asm_bsr_matrix(g->W), d, g->Wd));
  return la_axpby(r->m, &r->exec, 1.0 / p->h, g->Wd, 1.0, Hd);
}

loom_status damping_add_hessians(run *r, int block, int32_t first, int32_t count, loom_buf *x,
                                 int how, loom_buf *out)
{
  damping_data *const g = &r->damping;
  const int32_t len = 9 * r->scene->pub.blocks[block].arity * r->scene->pub.blocks[block].arity;
  double way;
  if (g->beta == NULL || !is_damped(r, block)) return LOOM_OK;
  LOOM_TRY(la_waxpby(r->m, &r->exec, 1.0, x, -1.0, r->st.x_start, g->d));
  LOOM_TRY(la_norm_max3(r->m, &r->exec, g->d, &way));
  if (way <= 0.0 && how == LOOM_HESS_PSD_CLAMP) /* the same Hessians, as methods of one step ask */
    return elastic_weigh(r->elements.el, block, first, count, g->beta, 1.0, 1.0 / r->st.h, len,
                         out);
  LOOM_TRY(damped_hessians(r, block, first, count, 1.0 / r->st.h));
  LOOM_TRY(buf_resize(r->m, g->H, buf_count(out))); /* `out` may have room for more */
  return la_axpby(r->m, &r->exec, 1.0, g->H, 1.0, out);
}

/* ---- projective form ---- */

static loom_status add_projective(const run *r, double scale, asm_csr *A)
{
  for (int b = 0; b < r->scene->pub.num_blocks; ++b)
    if (is_damped(r, b)) LOOM_TRY(elastic_pd_add(r->elements.el, b, r->damping.beta, scale, A));
  return LOOM_OK;
}

static loom_status term_damping_pd_operator(run *r, const loom_problem *p, asm_csr *A)
{
  return r->damping.beta != NULL ? add_projective(r, 1.0 / p->h, A) : LOOM_OK;
}

static loom_status make_projective(run *r)
{
  damping_data *const g = &r->damping;
  if (g->L != NULL) return LOOM_OK;
  LOOM_TRY(asm_csr_new(r->err, r->m, &r->exec, &r->scene->pub, &g->L));
  LOOM_TRY(asm_csr_begin(g->L));
  LOOM_TRY(add_projective(r, 1.0, g->L));
  return asm_csr_finish(g->L);
}

/* + (L x - W (x - x_start)) / h; rows of fixed vertices are not used */
static loom_status term_damping_pd_rhs(run *r, const loom_problem *p, loom_buf *x, loom_buf *rhs)
{
  damping_data *const g = &r->damping;
  if (g->beta == NULL) return LOOM_OK;
  LOOM_TRY(compute_damping_product(r, x));
  LOOM_TRY(la_axpby(r->m, &r->exec, -1.0 / p->h, g->Wd, 1.0, rhs));
  LOOM_TRY(make_projective(r));
  LOOM_TRY(la_spmv_csr3(r->m, &r->exec, asm_csr_matrix(g->L), x, g->Wd));
  return la_axpby(r->m, &r->exec, 1.0 / p->h, g->Wd, 1.0, rhs);
}

const term term_damping = {.bit = LOOM_TERM_DAMPING,
                           .energy = offsetof(loom_energies, dissipation),
                           .open = open_damping,
                           .close = close_damping,
                           .gradient = term_damping_gradient,
                           .hessian = term_damping_hessian,
                           .apply = term_damping_apply,
                           .pd_operator = term_damping_pd_operator,
                           .pd_rhs = term_damping_pd_rhs};
