/* basis.c - the splines over all pieces as a basis of displacements. */
#include <limits.h>
#include <stdlib.h>

#include "pd_bfgs.h"

/* Refuses a piece that is pinned all over: it has no splines, and no unknowns or a fault in the
 * scene. */
static loom_status check_pieces(pd_bfgs *s, const pd_bfgs_pieces *p, const uint8_t *fixed)
{
  uint8_t *const used = calloc((size_t)p->num + 1, 1);
  LOOM_CHECK(s->host, used != NULL, LOOM_E_NOMEM, "no memory for %d pieces", p->num);
  int32_t empty = -1;
  for (int64_t k = 0; k < p->num_samples; ++k)
    if (!fixed[p->sample[k].row]) used[p->sample[k].piece] = 1;
  for (int32_t k = p->num - 1; k >= 0; --k)
    if (!used[k]) empty = k;
  free(used);
  LOOM_CHECK(s->host, empty < 0, LOOM_E_CONFIG,
             "piece '%s' has no vertex that may move: release some of its pins, or leave it out",
             p->name[empty]);
  return LOOM_OK;
}

static loom_status create_spline_basis(pd_bfgs *s, const pd_bfgs_pieces *p, const uint8_t *fixed)
{
  const spline_request r = {.n = s->n,
                            .num_pieces = p->num,
                            .num_samples = p->num_samples,
                            .sample = p->sample,
                            .cell = p->cell,
                            .fixed = fixed,
                            .kind = s->set.basis,
                            .most = INT_MAX / 16};
  LOOM_TRY(check_pieces(s, p, fixed));
  LOOM_TRY(spline_basis(s->host, &r, &s->rows));
  LOOM_CHECK(s->host, s->rows.ptr != NULL, LOOM_E_CONFIG,
             "spacing = %g makes %lld splines; raise spacing", s->set.spacing,
             (long long)s->rows.all);
  LOOM_TRY(sparse_basis_set(&s->basis, &s->rows));
  LOOM_TRY(s->host->buf_resize(s->host, s->reduced, 3 * (int64_t)s->rows.cols));
  return bfgs_resize(&s->bfgs, s->rows.cols);
}

loom_status pd_bfgs_basis_make(pd_bfgs *s)
{
  pd_bfgs_pieces p;
  plug_maps m = plug_maps_on(s->host, s->e);
  const uint8_t *const fixed = plug_read_host(&m, s->sc->fixed);
  LOOM_TRY(m.status);
  loom_status st = pd_bfgs_pieces_find(s, &p);
  if (st == LOOM_OK) st = create_spline_basis(s, &p, fixed);
  pd_bfgs_pieces_free(&p);
  const loom_status end = plug_unbind(&m);
  return st != LOOM_OK ? st : end;
}
