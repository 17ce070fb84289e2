/* line_search.c - LINE: backtracking to a point of lower energy. */
#include "run/line_search.h"

#include <math.h>

#include "run/host.h"
#include "run/run_state.h"

static const double ARMIJO = 1e-4;
/* Energies are sums of many terms: differences below this share of their size are noise,
 * and the gradient decides instead. */
static const double ENERGY_NOISE = 1e-12;

typedef struct search {
  double slope; /* J, directional derivative at alpha = 0 */
  double e0;    /* J */
  double noise; /* J, differences below it are rounding */
  double g0;    /* m, residual at alpha = 0 */
} search;

static loom_status accept_point(run *r, const search *ls, double alpha, int *yes)
{
  loom_energies e;
  residual res;
  *yes = 0;
  work_charge(r, LOOM_C_ENERGY, 1);
  const loom_status s = problem_eval(r, r->st.problem, r->st.x, &e, NULL);
  if (s == LOOM_REJECTED) return LOOM_OK;
  LOOM_TRY(s);
  if (e.total <= ls->e0 + ARMIJO * alpha * ls->slope) {
    *yes = 1;
    return LOOM_OK;
  }
  if (!(e.total <= ls->e0 + ls->noise)) return LOOM_OK;
  /* within rounding: the point must have the smaller gradient */
  work_charge(r, LOOM_C_GRADIENT, 1);
  const loom_status g = problem_eval(r, r->st.problem, r->st.x, NULL, r->buf.grad_solved);
  if (g == LOOM_REJECTED) return LOOM_OK;
  LOOM_TRY(g);
  LOOM_TRY(measure_norms(r, r->buf.grad_solved, &res));
  *yes = res.rms < ls->g0;
  return LOOM_OK;
}

loom_status line_search(run *r, double *alpha)
{
  search ls;
  residual res;
  LOOM_TRY(la_dot(r->m, &r->exec, r->st.grad, r->buf.dx, &ls.slope));
  LOOM_TRY(measure_norms(r, r->st.grad, &res));
  ls.g0 = res.rms;
  ls.e0 = r->measured.energies.total;
  ls.noise =
      ENERGY_NOISE * (fabs(r->measured.energies.inertia) + fabs(r->measured.energies.elastic) +
                      fabs(r->measured.energies.contact) + fabs(r->measured.energies.dissipation));
  if (ls.slope < 0.0)
    for (int64_t i = 0; i <= r->set.filter.max_backtracks; ++i, *alpha *= 0.5) {
      int yes = 0;
      LOOM_TRY(la_waxpby(r->m, &r->exec, 1.0, r->buf.x_before, *alpha, r->buf.dx, r->st.x));
      LOOM_TRY(accept_point(r, &ls, *alpha, &yes));
      if (yes) return LOOM_OK;
    }
  *alpha = 0.0;
  return buf_copy(r->m, &r->exec, r->st.x, r->buf.x_before);
}
