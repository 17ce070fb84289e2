/* term_inertia.c - w m/2 |x - y|^2, w the weight of inertia, or in the metric of the problem. */
#include "run/objective/objective.kern.h"
#include "run/objective/term.h"
#include "run/run_state.h"

static const lk_entry k_gradient = LK_ENTRY_MOVES(run_inertia_gradient, 10, 0);
static const lk_entry k_energy = LK_ENTRY_MOVES(run_inertia_energy, 7, 1);
static const lk_entry k_apply = LK_ENTRY_MOVES(run_inertia_apply, 10, 0);
static const lk_entry k_mass_times = LK_ENTRY_MOVES(run_mass_times, 7, 0);

/* The weights of the problem's metric and their factors. */
static loom_buf *select_inertia_weights(const run *r, const loom_problem *p, double *scale)
{
  *scale = p->metric == LOOM_METRIC_DIAGONAL ? 1.0 : p->inertia;
  return p->metric == LOOM_METRIC_DIAGONAL ? r->buf.diag : r->scene->pub.mass;
}

static loom_status launch_inertia_kernel(run *r, const loom_problem *p, const lk_entry *k,
                                         loom_buf *x, loom_buf *out, int access, lk_real *result)
{
  buf_maps q = {.m = r->m, .e = &r->exec};
  double scale;
  loom_buf *const w = select_inertia_weights(r, p, &scale);
  const inertia_args a = {.x = buf_maps_add(&q, x, LOOM_READ),
                          .y = buf_maps_add(&q, p->target != NULL ? p->target : r->st.y, LOOM_READ),
                          .m = buf_maps_add(&q, w, LOOM_READ),
                          .fixed = buf_maps_add(&q, r->scene->pub.fixed, LOOM_READ),
                          .out = buf_maps_add(&q, out, access),
                          .inv_h2 = (lk_real)scale};
  return buf_maps_launch(&q, k, &a, r->scene->pub.num_verts, result);
}

static loom_status term_inertia_gradient(run *r, const loom_problem *p, loom_buf *x, loom_buf *g,
                                         int *slots)
{
  if (g != NULL) LOOM_TRY(launch_inertia_kernel(r, p, &k_gradient, x, g, LOOM_WRITE, NULL));
  if (slots == NULL) return LOOM_OK;
  return launch_inertia_kernel(r, p, &k_energy, x, NULL, LOOM_READ, r->exec.result + (*slots)++);
}

static loom_status term_inertia_hessian(run *r, const loom_problem *p, loom_buf *x, int how,
                                        asm_bsr *A)
{
  double scale;
  loom_buf *const w = select_inertia_weights(r, p, &scale);
  (void)x, (void)how;
  return asm_bsr_add_diagonal(A, w, scale);
}

static loom_status term_inertia_apply(run *r, const loom_problem *p, loom_buf *x, int how,
                                      loom_buf *d, loom_buf *Hd)
{
  (void)x, (void)how;
  return launch_inertia_kernel(r, p, &k_apply, d, Hd, LOOM_RDWR, NULL);
}

static loom_status term_inertia_pd_operator(run *r, const loom_problem *p, asm_csr *A)
{
  (void)r;
  return asm_csr_add_mass(A, p->inertia);
}

static loom_status term_inertia_pd_rhs(run *r, const loom_problem *p, loom_buf *x, loom_buf *rhs)
{
  return launch_inertia_kernel(r, p, &k_mass_times, x, rhs, LOOM_WRITE, NULL);
}

const term term_inertia = {.bit = LOOM_TERM_INERTIA,
                           .energy = offsetof(loom_energies, inertia),
                           .gradient = term_inertia_gradient,
                           .hessian = term_inertia_hessian,
                           .apply = term_inertia_apply,
                           .pd_operator = term_inertia_pd_operator,
                           .pd_rhs = term_inertia_pd_rhs};
