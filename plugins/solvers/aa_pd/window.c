/* window.c - see window.h. */
#include "window.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "loom/plug.h"

/* A column adds only rounding if its part orthogonal to the other columns, squared, is below this
 * share of its square.  The Gram matrix squares the condition of the differences, so the limit is
 * about the square root of eps. */
static const double drop = sizeof(loom_real) == sizeof(float) ? 1e-5 : 1e-10;

loom_status window_new(window *w, const loom_host *host, const loom_exec *e, int32_t num_verts,
                       int32_t m)
{
  const int64_t n3 = 3 * (int64_t)num_verts;
  *w = (window){.host = host, .e = e, .m = m};
  if (m == 0) return LOOM_OK;
  LOOM_TRY(host->buf_new(host, "f", LOOM_REAL, n3, &w->f));
  LOOM_TRY(host->buf_new(host, "G(x)", LOOM_REAL, n3, &w->g));
  for (int32_t j = 0; j < m; ++j) {
    LOOM_TRY(host->buf_new(host, "df", LOOM_REAL, n3, &w->df[j]));
    LOOM_TRY(host->buf_new(host, "dG", LOOM_REAL, n3, &w->dg[j]));
  }
  return LOOM_OK;
}

void window_forget(window *w) { w->num = w->at = w->any = w->islands = 0; }

void window_forget_island(window *w, int32_t k) { w->usable[k] = -1; }

void window_islands(window *w, int32_t num)
{
  if (w->islands != num) {
    window_forget(w);
    memset(w->usable, 0, sizeof w->usable);
  }
  w->islands = num;
}

/* out[k][j]: the product of island k's rows of a and df_j */
static loom_status products_with(window *w, loom_buf *a, double out[][AA_PD_MOST])
{
  const loom_host *const host = w->host;
  loom_buf *all[AA_PD_MOST];
  double of[LOOM_ISLANDS_MOST];
  for (int32_t j = 0; j < w->num; ++j) all[j] = a;
  if (w->islands == 1) return host->dots(host, w->e, w->num, all, w->df, out[0]);
  for (int32_t j = 0; j < w->num; ++j) {
    LOOM_TRY(host->dot_islands(host, w->e, a, w->df[j], of));
    for (int32_t k = 0; k < w->islands; ++k) out[k][j] = of[k];
  }
  return LOOM_OK;
}

/* The row and column of the Gram matrix that difference `at` changes. */
static loom_status update_gram_row(window *w, int32_t at)
{
  double out[LOOM_ISLANDS_MOST][AA_PD_MOST];
  LOOM_TRY(products_with(w, w->df[at], out));
  for (int32_t k = 0; k < w->islands; ++k)
    for (int32_t j = 0; j < w->num; ++j) w->gram[k][at][j] = w->gram[k][j][at] = out[k][j];
  return LOOM_OK;
}

loom_status window_add(window *w, loom_buf *x, loom_buf *g)
{
  const loom_host *const host = w->host;
  if (w->m == 0) return LOOM_OK;
  const int32_t at = w->at;
  if (w->any) { /* the old ones, negated, and then the new ones on top */
    LOOM_TRY(host->axpby(host, w->e, -1.0, w->f, 0.0, w->df[at]));
    LOOM_TRY(host->axpby(host, w->e, -1.0, w->g, 0.0, w->dg[at]));
  }
  LOOM_TRY(host->axpby(host, w->e, 1.0, g, 0.0, w->g));
  LOOM_TRY(host->axpby(host, w->e, 1.0, g, 0.0, w->f));
  LOOM_TRY(host->axpby(host, w->e, -1.0, x, 1.0, w->f));
  if (!w->any) {
    w->any = 1;
    return LOOM_OK;
  }
  LOOM_TRY(host->axpby(host, w->e, 1.0, w->f, 1.0, w->df[at]));
  LOOM_TRY(host->axpby(host, w->e, 1.0, w->g, 1.0, w->dg[at]));
  w->at = (at + 1) % w->m;
  if (w->num < w->m) ++w->num;
  for (int32_t k = 0; k < w->islands; ++k) w->usable[k] += w->usable[k] < w->m;
  return update_gram_row(w, at);
}

/* theta of an island's normal equations by a Cholesky factor, the latest column first, which leaves
 * out columns that depend on the ones before; returns the number of columns that take part. */
static int32_t solve_island_theta(const window *w, int32_t island, const double *rhs, double *theta)
{
  const double(*const gram)[AA_PD_MOST] = w->gram[island];
  const int32_t num = w->usable[island] < w->num ? w->usable[island] : w->num;
  double L[AA_PD_MOST][AA_PD_MOST] = {{0}}, z[AA_PD_MOST];
  int32_t pick[AA_PD_MOST], k = 0;
  for (int32_t c = 0; c < num; ++c) {
    const int32_t j = (w->at + w->m - 1 - c) % w->m; /* from the latest on */
    double d = gram[j][j];
    for (int32_t i = 0; i < k; ++i) {
      double s = gram[j][pick[i]];
      for (int32_t l = 0; l < i; ++l) s -= L[k][l] * L[i][l];
      L[k][i] = s / L[i][i];
      d -= L[k][i] * L[k][i];
    }
    if (!(d > drop * gram[j][j])) continue;
    L[k][k] = sqrt(d);
    z[k] = rhs[j];
    for (int32_t l = 0; l < k; ++l) z[k] -= L[k][l] * z[l];
    z[k] /= L[k][k];
    pick[k++] = j;
  }
  memset(theta, 0, sizeof *theta * (size_t)w->num);
  for (int32_t i = k - 1; i >= 0; --i) {
    for (int32_t l = i + 1; l < k; ++l) z[i] -= L[l][i] * theta[pick[l]];
    theta[pick[i]] = z[i] / L[i][i];
  }
  return k;
}

loom_status window_mix(window *w, loom_buf *out, int32_t *used, int32_t *most)
{
  const loom_host *const host = w->host;
  double rhs[LOOM_ISLANDS_MOST][AA_PD_MOST], theta[LOOM_ISLANDS_MOST][AA_PD_MOST];
  *most = 0;
  if (w->num > 0) LOOM_TRY(products_with(w, w->f, rhs));
  for (int32_t k = 0; k < w->islands; ++k) {
    used[k] = w->num > 0 ? solve_island_theta(w, k, rhs[k], theta[k]) : 0;
    if (used[k] > *most) *most = used[k];
  }
  if (*most == 0) return LOOM_OK;
  LOOM_TRY(host->axpby(host, w->e, 1.0, w->g, 0.0, out));
  for (int32_t j = 0; j < w->num; ++j) {
    double less[LOOM_ISLANDS_MOST];
    int any = 0;
    for (int32_t k = 0; k < w->islands; ++k) {
      less[k] = -theta[k][j];
      any |= less[k] < 0.0 || less[k] > 0.0;
    }
    if (any) LOOM_TRY(host->axpby_islands(host, w->e, less, w->dg[j], 1.0, out));
  }
  return LOOM_OK;
}
