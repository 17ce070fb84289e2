/* elastic.c - see elastic.h. */
#include "elastic.h"

#include "elastic.kern.h"
#include "kit/corners.h"

static const lk_entry k_add = LK_ENTRY_MOVES(elastic_add, 72, 14);

enum { DENSE_MOST = 1 << 18 }; /* reals of element Hessians at once: 2 MiB */

static loom_status put_corners(elastic_diagonal *d, elastic_block *to, const corners *k)
{
  const int64_t all = (int64_t)k->num_elems * k->arity;
  int64_t *const corner = malloc((size_t)(all + 1) * sizeof *corner);
  LOOM_CHECK(d->host, corner != NULL, LOOM_E_NOMEM, "no memory for the corners of %d elements",
             k->num_elems);
  for (int64_t q = 0; q < all; ++q) corner[q] = (int64_t)k->arity * k->elem[q] + k->at[q];
  loom_status s = plug_put_new(d->host, d->e, "first corners", LOOM_I64, k->ptr,
                               (int64_t)d->sc->num_verts + 1, &to->first);
  if (s == LOOM_OK)
    s = plug_put_new(d->host, d->e, "corners of elements", LOOM_I64, corner, all, &to->corner);
  free(corner);
  return s;
}

static loom_status list_corners(elastic_diagonal *d, const loom_elem_block *block,
                                elastic_block *to)
{
  plug_maps m = plug_maps_on(d->host, d->e);
  corners k = {.arity = block->arity, .num_elems = block->num_elems};
  k.verts = plug_read_host(&m, block->verts);
  LOOM_TRY(m.status);
  loom_status s = corners_sort(&k, d->host, d->sc->num_verts);
  if (s == LOOM_OK) s = put_corners(d, to, &k);
  corners_free(&k);
  LOOM_TRY(s);
  return plug_unbind(&m);
}

loom_status elastic_diagonal_new(elastic_diagonal *d, const loom_host *host, const loom_scene *sc,
                                 const loom_exec *e)
{
  const plug_buf all[] = {{"Hessians of elements", LOOM_REAL, 0, &d->dense},
                          {"elastic diagonal", LOOM_REAL, 9 * (int64_t)sc->num_verts, &d->sum}};
  d->host = host;
  d->sc = sc;
  d->e = e;
  LOOM_TRY(plug_bufs_new(host, all, LOOM_COUNT(all)));
  d->block = calloc((size_t)sc->num_blocks + 1, sizeof *d->block);
  LOOM_CHECK(host, d->block != NULL, LOOM_E_NOMEM, "no memory for %d blocks of elements",
             sc->num_blocks);
  for (int32_t b = 0; b < sc->num_blocks; ++b)
    LOOM_TRY(list_corners(d, &sc->blocks[b], &d->block[b]));
  return LOOM_OK;
}

void elastic_diagonal_free(elastic_diagonal *d) { free(d->block); }

static loom_status add_block_diagonals(elastic_diagonal *d, int32_t b, int32_t from, int32_t count,
                                       loom_buf *x)
{
  const loom_elem_block *const block = &d->sc->blocks[b];
  LOOM_TRY(d->host->elem_hessians(d->host, b, from, count, x, LOOM_HESS_PSD_CLAMP, d->dense));
  plug_maps m = plug_maps_on(d->host, d->e);
  const elastic_add_args a = {.first = plug_read(&m, d->block[b].first),
                              .corner = plug_read(&m, d->block[b].corner),
                              .dense = plug_read(&m, d->dense),
                              .sum = plug_rdwr(&m, d->sum),
                              .from = from,
                              .count = count,
                              .arity = block->arity};
  return plug_launch(&m, &k_add, &a, d->sc->num_verts, NULL);
}

loom_status elastic_diagonal_at(elastic_diagonal *d, loom_buf *x)
{
  LOOM_TRY(d->host->fill(d->host, d->e, d->sum, 0.0));
  for (int32_t b = 0; b < d->sc->num_blocks; ++b) {
    const loom_elem_block *const block = &d->sc->blocks[b];
    const int32_t size = 9 * block->arity * block->arity, most = DENSE_MOST / size;
    if (!(block->caps & LOOM_ELEM_HESSIAN)) continue;
    const int64_t room = (int64_t)size * (block->num_elems < most ? block->num_elems : most);
    if (d->host->buf_count(d->host, d->dense) < room)
      LOOM_TRY(d->host->buf_resize(d->host, d->dense, room));
    for (int32_t from = 0; from < block->num_elems; from += most)
      LOOM_TRY(add_block_diagonals(
          d, b, from, block->num_elems - from < most ? block->num_elems - from : most, x));
  }
  return LOOM_OK;
}
