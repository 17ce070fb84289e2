/* colours.c - see colours.h. */
#include "colours.h"

#include <stdlib.h>
#include <string.h>

#include "kit/corners.h"
#include "loom/plug.h"

enum { MOST_COLOURS = 256 };

/* The smallest colour that no vertex of an element with v has; MOST_COLOURS: all are taken. */
static int32_t find_vertex_colour(const corners *k, int32_t num, const int32_t *colour, int32_t v)
{
  uint8_t taken[MOST_COLOURS + 1] = {0};
  int32_t c = 0;
  for (int32_t b = 0; b < num; ++b)
    for (int64_t q = k[b].ptr[v]; q < k[b].ptr[v + 1]; ++q)
      for (int32_t a = 0; a < k[b].arity; ++a) {
        const int32_t j = k[b].verts[(int64_t)k[b].arity * k[b].elem[q] + a];
        if (colour[j] >= 0) taken[colour[j]] = 1;
      }
  while (taken[c]) ++c;
  return c;
}

/* The corners of block b in the order of `order`, and where the corners of each colour begin. */
static loom_status list_block(colours *c, const corners *k, int32_t b, const int32_t *order,
                              int64_t *ptr)
{
  const int32_t nb = c->sc->num_blocks, num_free = c->first[c->num];
  const int64_t all = (int64_t)k->num_elems * k->arity;
  LOOM_CHECK(c->host, k->ptr != NULL, LOOM_E_INTERNAL, "corners of block %d are not sorted", b);
  int32_t *const elem = malloc((size_t)(all + 1) * sizeof *elem);
  int32_t *const at = malloc((size_t)(all + 1) * sizeof *at);
  int64_t m = 0;
  for (int32_t i = 0, col = 0; elem != NULL && at != NULL && i <= num_free; ++i) {
    while (col <= c->num && c->first[col] == i) c->corner[(int64_t)nb * col++ + b] = m;
    ptr[i] = m;
    for (int64_t q = i < num_free ? k->ptr[order[i]] : 0; i < num_free && q < k->ptr[order[i] + 1];
         ++q) {
      elem[m] = k->elem[q];
      at[m++] = k->at[q];
    }
  }
  loom_status s = LOOM_OK;
  if (elem == NULL || at == NULL)
    s = LOOM_FAIL(c->host, LOOM_E_NOMEM, "no memory for the corners of %d elements", k->num_elems);
  if (s == LOOM_OK) s = plug_put_new(c->host, c->e, "elements", LOOM_I32, elem, m, &c->elem[b]);
  if (s == LOOM_OK) s = plug_put_new(c->host, c->e, "corners", LOOM_I32, at, m, &c->at[b]);
  free(elem);
  free(at);
  return s;
}

static loom_status list_colour_corners(colours *c, const corners *k, const int32_t *order)
{
  const int32_t nb = c->sc->num_blocks, num_free = c->first[c->num];
  const int64_t stride = (int64_t)num_free + 1;
  int64_t *const ptr = calloc((size_t)(nb * stride + 1), sizeof *ptr);
  int64_t *const base = calloc((size_t)nb * (size_t)c->num + 1, sizeof *base);
  const int room = ptr != NULL && base != NULL;
  loom_status s = LOOM_OK;
  if (!room) s = LOOM_FAIL(c->host, LOOM_E_NOMEM, "no memory for lists of %d vertices", num_free);
  for (int32_t b = 0; room && s == LOOM_OK && b < nb; ++b)
    s = list_block(c, &k[b], b, order, ptr + b * stride);
  for (int32_t col = 0; room && s == LOOM_OK && col < c->num; ++col) {
    const int64_t *const lo = c->corner + (int64_t)nb * col, *const hi = lo + nb;
    int64_t rows = 0;
    for (int32_t b = 0; b < nb; rows += hi[b] - lo[b], ++b)
      base[(int64_t)nb * col + b] = rows - lo[b];
    if (rows > c->most_rows) c->most_rows = rows;
  }
  if (s == LOOM_OK)
    s = plug_put_new(c->host, c->e, "corner lists", LOOM_I64, ptr, nb * stride, &c->ptr);
  if (s == LOOM_OK)
    s = plug_put_new(c->host, c->e, "corner bases", LOOM_I64, base, (int64_t)nb * c->num, &c->base);
  free(ptr);
  free(base);
  return s;
}

/* Vertices by colour, by a counting sort. */
static loom_status sort_vertices(colours *c, const int32_t *colour, int32_t *order)
{
  const int32_t n = c->sc->num_verts;
  c->first = calloc((size_t)c->num + 2, sizeof *c->first);
  c->corner = calloc(((size_t)c->num + 1) * (size_t)(c->sc->num_blocks + 1), sizeof *c->corner);
  LOOM_CHECK(c->host, c->first != NULL && c->corner != NULL, LOOM_E_NOMEM,
             "no memory for %d colours", c->num);
  for (int32_t v = 0; v < n; ++v)
    if (colour[v] >= 0) ++c->first[colour[v] + 1];
  for (int32_t k = 0; k < c->num; ++k) c->first[k + 1] += c->first[k];
  for (int32_t k = 0, m = 0; k < c->num; ++k)
    for (int32_t v = 0; v < n; ++v)
      if (colour[v] == k) order[m++] = v;
  return LOOM_OK;
}

static loom_status colour_vertices(colours *c, corners *k, const uint8_t *fixed, int32_t *colour,
                                   int32_t *order)
{
  const int32_t n = c->sc->num_verts, nb = c->sc->num_blocks;
  for (int32_t b = 0; b < nb; ++b) LOOM_TRY(corners_sort(&k[b], c->host, n));
  for (int32_t v = 0; v < n; ++v) colour[v] = -1;
  for (int32_t v = 0; v < n; ++v) {
    if (fixed[v]) continue;
    colour[v] = find_vertex_colour(k, nb, colour, v);
    LOOM_CHECK(c->host, colour[v] < MOST_COLOURS, LOOM_E_UNSUPPORTED,
               "vertex %d: its elements have vertices of %d colours; use another solver", v,
               MOST_COLOURS);
    if (colour[v] >= c->num) c->num = colour[v] + 1;
  }
  LOOM_TRY(sort_vertices(c, colour, order));
  LOOM_TRY(list_colour_corners(c, k, order));
  LOOM_TRY(plug_put_new(c->host, c->e, "order", LOOM_I32, order, c->first[c->num], &c->order));
  return plug_put_new(c->host, c->e, "colour", LOOM_I32, colour, n, &c->colour);
}

loom_status colours_new(colours *c, const loom_host *host, const loom_exec *e, const loom_scene *sc)
{
  const size_t n = (size_t)sc->num_verts + 1, nb = (size_t)sc->num_blocks + 1;
  plug_maps m = plug_maps_on(host, e);
  c->host = host;
  c->e = e;
  c->sc = sc;
  c->elem = calloc(nb, sizeof *c->elem);
  c->at = calloc(nb, sizeof *c->at);
  corners *const k = calloc(nb, sizeof *k);
  int32_t *const colour = malloc(n * sizeof *colour), *const order = malloc(n * sizeof *order);
  const uint8_t *const fixed = plug_read_host(&m, sc->fixed);
  const int room = c->elem != NULL && c->at != NULL && k != NULL && colour != NULL && order != NULL;
  loom_status s = m.status;
  if (!room)
    s = LOOM_FAIL(host, LOOM_E_NOMEM, "no memory for colours of %d vertices", sc->num_verts);
  for (int32_t b = 0; room && s == LOOM_OK && b < sc->num_blocks; ++b) {
    const loom_elem_block *const block = &sc->blocks[b];
    k[b].arity = block->arity;
    k[b].num_elems = block->num_elems;
    k[b].verts = plug_read_host(&m, block->verts);
    s = m.status;
  }
  if (room && s == LOOM_OK) s = colour_vertices(c, k, fixed, colour, order);
  for (size_t b = 0; k != NULL && b < nb; ++b) corners_free(&k[b]);
  free(k);
  free(colour);
  free(order);
  LOOM_TRY(s);
  return plug_unbind(&m);
}

void colours_free(colours *c)
{
  free(c->first);
  free(c->corner);
  free(c->elem);
  free(c->at);
}
