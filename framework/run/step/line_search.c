/* line_search.c - LINE: backtracking to a point of lower energy, of each island by itself. */
#include "run/step/line_search.h"

#include <math.h>

#include "run/run_state.h"
#include "run/services/host.h"

static const double armijo = 1e-4;
/* Energies are sums of many terms: differences below this share of their size are noise,
 * and the gradient decides instead. */
static const double energy_noise = 1e-12;

enum { ALL = -1 }; /* search.island of a scene of one island */

typedef struct search {
  int32_t island; /* which moves, while the others stay at x_before */
  double slope;   /* J, directional derivative at alpha = 0 */
  double e0;      /* J, of the whole scene */
  double noise;   /* J, differences below it are rounding */
  double g0;      /* size of the gradient at alpha = 0 */
} search;

/* RMS residual, or a number in proportion to it. */
static loom_status gradient_size(run *r, int32_t island, loom_buf *g, double *out)
{
  residual res;
  double all[ISLANDS_MOST];
  if (island != ALL) {
    LOOM_TRY(islands_squares(r, g, all));
    *out = all[island];
    return LOOM_OK;
  }
  LOOM_TRY(measure_norms(r, g, &res));
  *out = res.rms;
  return LOOM_OK;
}

static loom_status accept_point(run *r, const search *ls, double alpha, int *yes)
{
  loom_energies e;
  double size;
  *yes = 0;
  work_charge(r, LOOM_C_ENERGY, 1);
  const loom_status s = problem_eval(r, r->st.problem, r->st.x, &e, NULL);
  if (s == LOOM_REJECTED) return LOOM_OK;
  LOOM_TRY(s);
  if (e.total <= ls->e0 + armijo * alpha * ls->slope) {
    *yes = 1;
    return LOOM_OK;
  }
  if (!(e.total <= ls->e0 + ls->noise)) return LOOM_OK;
  /* within rounding: the point must have the smaller gradient */
  work_charge(r, LOOM_C_GRADIENT, 1);
  const loom_status g = problem_eval(r, r->st.problem, r->st.x, NULL, r->buf.grad_solved);
  if (g == LOOM_REJECTED) return LOOM_OK;
  LOOM_TRY(g);
  LOOM_TRY(gradient_size(r, ls->island, r->buf.grad_solved, &size));
  *yes = size < ls->g0;
  return LOOM_OK;
}

static loom_status go_to(run *r, const search *ls, double alpha)
{
  if (ls->island != ALL)
    return islands_step(r, r->buf.x_before, r->buf.dx, islands_only(r, ls->island, alpha), r->st.x);
  return la_waxpby(r->m, &r->exec, 1.0, r->buf.x_before, alpha, r->buf.dx, r->st.x);
}

/* *alpha: the largest step that is tried, then the one that is taken, 0: none; x is that point. */
static loom_status search_island(run *r, int32_t island, double *alpha)
{
  const loom_energies *const e = &r->measured.energies;
  double slope[ISLANDS_MOST];
  search ls = {.island = island, .e0 = e->total};
  if (island != ALL)
    LOOM_TRY(islands_dots(r, r->st.grad, r->buf.dx, slope));
  else
    LOOM_TRY(la_dot(r->m, &r->exec, r->st.grad, r->buf.dx, &slope[0]));
  ls.slope = slope[island != ALL ? island : 0];
  LOOM_TRY(gradient_size(r, island, r->st.grad, &ls.g0));
  ls.noise = energy_noise *
             (fabs(e->inertia) + fabs(e->elastic) + fabs(e->contact) + fabs(e->dissipation));
  if (ls.slope < 0.0)
    for (int64_t i = 0; i <= r->set.filter.max_backtracks; ++i, *alpha *= 0.5) {
      int yes = 0;
      LOOM_TRY(go_to(r, &ls, *alpha));
      LOOM_TRY(accept_point(r, &ls, *alpha, &yes));
      if (yes) return LOOM_OK;
    }
  *alpha = 0.0;
  return buf_copy(r->m, &r->exec, r->st.x, r->buf.x_before);
}

loom_status line_search(run *r, double *alpha)
{
  LOOM_TRY(islands_grow(r, r->buf.x_before));
  LOOM_TRY(islands_grow(r, r->st.x));
  if (r->islands.num == 1) return search_island(r, ALL, alpha);
  /* energies of islands add up: each is searched with all others at x_before */
  double least = INFINITY;
  for (int32_t k = 0; k < r->islands.num; ++k) {
    double own = islands_share_of(r, k);
    if (islands_hold(r, k)) continue; /* it does not move */
    LOOM_TRY(search_island(r, k, &own));
    islands_share(r, k, own);
    if (own > 0.0) least = fmin(least, own);
  }
  islands_take(r, 1);
  *alpha = isfinite(least) ? least : 0.0;
  LOOM_TRY(islands_step(r, r->buf.x_before, r->buf.dx, r->islands.share, r->st.x));
  return follow_rows(r, r->st.x);
}
