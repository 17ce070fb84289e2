/* mix.c - see mix.h. */
#include "mix.h"

#include "loom/plug.h"

const double cholmod_newton_theta[CHOLMOD_NEWTON_RUNGS] = {0.0, 0.125, 0.25, 0.5, 1.0};
enum { LAST = CHOLMOD_NEWTON_RUNGS - 1 };

loom_status cholmod_newton_mix_open(cholmod_newton_mix *m, const loom_host *host,
                                    const loom_scene *sc, const loom_exec *e)
{
  *m = (cholmod_newton_mix){.host = host, .sc = sc, .e = e};
  LOOM_TRY(host->buf_new(host, "mixed Hessian", LOOM_REAL, 0, &m->mixed));
  return host->buf_new(host, "exact Hessian", LOOM_REAL, 0, &m->exact);
}

int32_t cholmod_newton_mix_lowest(const cholmod_newton_mix *m)
{
  int32_t least = LAST;
  for (int32_t k = 0; k < m->num; ++k)
    if (m->rung[k] < least) least = m->rung[k];
  return least;
}

int32_t cholmod_newton_mix_highest(const cholmod_newton_mix *m)
{
  int32_t most = 0;
  for (int32_t k = 0; k < m->num; ++k)
    if (m->rung[k] > most) most = m->rung[k];
  return most;
}

void cholmod_newton_mix_set(cholmod_newton_mix *m, int32_t rung)
{
  for (int32_t k = 0; k < m->num; ++k) m->rung[k] = rung;
}

loom_status cholmod_newton_mix_islands(cholmod_newton_mix *m)
{
  loom_islands at;
  LOOM_TRY(m->host->islands(m->host, &at));
  if (at.num == m->num) return LOOM_OK;
  const int32_t rung = cholmod_newton_mix_highest(m);
  m->num = at.num;
  cholmod_newton_mix_set(m, rung);
  return LOOM_OK;
}

/* ---- vertices of islands ---- */

/* Maps the objects of vertices, and the islands of objects; both NULL: there is one island. */
static loom_status map_islands(const cholmod_newton_mix *m, const int32_t **object,
                               const int32_t **of)
{
  loom_islands at;
  void *p;
  *object = *of = NULL;
  if (m->num == 1) return LOOM_OK;
  LOOM_TRY(m->host->islands(m->host, &at));
  LOOM_TRY(m->host->map(m->host, m->e, m->sc->object, LOOM_READ, LOOM_AT_HOST, &p));
  *object = p;
  *of = at.of;
  return LOOM_OK;
}

loom_status cholmod_newton_mix_raise(cholmod_newton_mix *m, int32_t vertex, int *yes)
{
  const int32_t *object, *of;
  LOOM_TRY(map_islands(m, &object, &of));
  int32_t *const rung = &m->rung[object != NULL ? of[object[vertex]] : 0];
  *yes = *rung < LAST;
  *rung += *yes;
  return object != NULL ? m->host->unmap(m->host, m->sc->object) : LOOM_OK;
}

/* ---- values ---- */

loom_status cholmod_newton_mix_keep_exact(cholmod_newton_mix *m, const loom_bsr3 *H)
{
  LOOM_TRY(m->host->buf_resize(m->host, m->exact, 9 * H->num_blocks));
  return m->host->buf_copy(m->host, m->e, m->exact, H->val);
}

/* Row by row of the matrix, with the share of the row's island. */
static loom_status mix_rows(const cholmod_newton_mix *m, const loom_bsr3 *clamp)
{
  const loom_host *const host = m->host;
  const int32_t *object, *of;
  LOOM_TRY(map_islands(m, &object, &of));
  plug_maps q = plug_maps_on(host, m->e);
  const int64_t *const ptr = plug_read(&q, clamp->row_ptr);
  const loom_real *const c = plug_read(&q, clamp->val), *const x = plug_read(&q, m->exact);
  loom_real *const out = plug_write(&q, m->mixed);
  for (int32_t i = 0; q.status == LOOM_OK && i < clamp->num_rows; ++i) {
    const loom_real t = (loom_real)cholmod_newton_theta[m->rung[of[object[i]]]];
    for (int64_t k = 9 * ptr[i]; k < 9 * ptr[i + 1]; ++k)
      out[k] = t * c[k] + ((loom_real)1 - t) * x[k];
  }
  LOOM_TRY(plug_unbind(&q));
  return host->unmap(host, m->sc->object);
}

loom_status cholmod_newton_mix_make(cholmod_newton_mix *m, const loom_bsr3 *clamp)
{
  const loom_host *const host = m->host;
  LOOM_TRY(host->buf_resize(host, m->mixed, 9 * clamp->num_blocks));
  if (m->num > 1) {
    LOOM_TRY(mix_rows(m, clamp));
  } else {
    const double share = cholmod_newton_theta[m->rung[0]];
    LOOM_TRY(host->buf_copy(host, m->e, m->mixed, m->exact));
    LOOM_TRY(host->axpby(host, m->e, share, clamp->val, 1.0 - share, m->mixed));
  }
  m->view = *clamp;
  m->view.val = m->mixed;
  return LOOM_OK;
}

loom_status cholmod_newton_mix_learn(cholmod_newton_mix *m, const loom_accept *a)
{
  loom_islands at;
  LOOM_TRY(m->host->islands(m->host, &at));
  const int each = at.alpha != NULL && at.num == m->num;
  for (int32_t k = 0; k < m->num; ++k) {
    const double alpha = each ? at.alpha[k] : a->alpha, toi = each ? at.toi[k] : a->toi;
    if (alpha < 0.75 * toi)
      m->rung[k] += m->rung[k] < LAST;
    else if (toi >= 1.0)
      m->rung[k] -= m->rung[k] > 0;
  }
  return LOOM_OK;
}
