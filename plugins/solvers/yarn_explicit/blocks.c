/* blocks.c - blocks of loops for non-rigid damping. */
#include <stdlib.h>

#include "loom/plug.h"
#include "yarn_explicit.h"

/* Vertices of a block in a yarn that is not knitted (16 loops of 8). */
enum { LOOSE = 128 };

typedef struct item {
  int64_t block; /* sorts by object, then place */
  int32_t vert;
} item;

static int by_block(const void *a, const void *b)
{
  const item *p = a, *q = b;
  if (p->block != q->block) return p->block < q->block ? -1 : 1;
  return (p->vert > q->vert) - (p->vert < q->vert);
}

typedef struct view {
  const int32_t *loop, *vert, *object;
  const unsigned char *fixed;
} view;

static int64_t list_items(const loom_scene *sc, const view *v, int64_t block, item *out)
{
  int64_t n = 0;
  for (int32_t k = 0; k < sc->num_yarns; ++k)
    for (int32_t i = v->vert[k]; i < v->vert[k + 1]; ++i) {
      const int32_t row = v->loop[2 * (int64_t)i], col = v->loop[2 * (int64_t)i + 1];
      /* 24 bits of rows, 24 of columns; or yarns behind all knitted blocks of the object */
      int64_t key = (int64_t)v->object[i] << 49;
      if (v->fixed[i]) continue;
      if (row >= 0)
        key |= (row / block) << 24 | col / block;
      else
        key |= INT64_C(1) << 48 | (int64_t)(i / LOOSE);
      if (row < 0 && i - v->vert[k] < i % LOOSE)
        key |= INT64_C(1) << 40; /* the next yarn's share */
      out[n++] = (item){key, i};
    }
  return n;
}

static loom_status fill_damping_blocks(const loom_host *host, const loom_exec *e, const item *list,
                                       int64_t n, yarn_explicit_blocks *out)
{
  out->num = 0;
  for (int64_t i = 0; i < n; ++i) out->num += i == 0 || list[i].block != list[i - 1].block;
  LOOM_TRY(host->buf_new(host, "blocks", LOOM_I32, out->num + 1, &out->first));
  LOOM_TRY(host->buf_new(host, "vertices of blocks", LOOM_I32, n, &out->verts));
  plug_maps m = plug_maps_on(host, e);
  int32_t *const first = plug_write_host(&m, out->first);
  int32_t *const verts = plug_write_host(&m, out->verts), num = 0;
  LOOM_TRY(m.status);
  for (int64_t i = 0; i < n; ++i) {
    if (i == 0 || list[i].block != list[i - 1].block) first[num++] = (int32_t)i;
    verts[i] = list[i].vert;
  }
  first[num] = (int32_t)n;
  return plug_unbind(&m);
}

loom_status blocks_make(const loom_host *host, const loom_exec *e, const loom_scene *sc,
                        int64_t block, yarn_explicit_blocks *out)
{
  plug_maps m = plug_maps_on(host, e);
  if (sc->num_yarns == 0) return LOOM_OK;
  item *list = malloc((size_t)sc->num_verts * sizeof *list);
  LOOM_CHECK(host, list != NULL, LOOM_E_NOMEM, "no memory for %d vertices", sc->num_verts);
  const view v = {.loop = plug_read_host(&m, sc->loop),
                  .vert = plug_read_host(&m, sc->yarn_vert),
                  .object = plug_read_host(&m, sc->object),
                  .fixed = plug_read_host(&m, sc->fixed)};
  loom_status s = m.status;
  if (s == LOOM_OK) {
    const int64_t n = list_items(sc, &v, block, list);
    s = plug_unbind(&m);
    qsort(list, (size_t)n, sizeof *list, by_block);
    if (s == LOOM_OK) s = fill_damping_blocks(host, e, list, n, out);
  }
  free(list);
  return s;
}
