/* order.c - see order.h. */
#include "order.h"

#include <stdlib.h>

#include "kit/corners.h"
#include "loom/plug.h"

/* stamp [most]: the element that has last seen each colour beside itself. */
static int32_t find_element_colour(const corners *k, const int32_t *colour, int32_t *stamp,
                                   int32_t e)
{
  int32_t c = 0;
  for (int32_t a = 0; a < k->arity; ++a) {
    const int32_t v = k->verts[(int64_t)k->arity * e + a];
    for (int64_t q = k->ptr[v]; q < k->ptr[v + 1] && k->elem[q] < e; ++q)
      stamp[colour[k->elem[q]]] = e;
  }
  while (stamp[c] == e) ++c;
  return c;
}

static loom_status colour_elements(order *o, const loom_host *host, const corners *k, int32_t *elem)
{
  const int32_t ne = k->num_elems;
  int32_t *const colour = malloc(((size_t)ne + 1) * sizeof *colour);
  int32_t *const stamp = malloc(((size_t)ne + 1) * sizeof *stamp);
  const int room = colour != NULL && stamp != NULL;
  loom_status s = LOOM_OK;
  if (!room) s = LOOM_FAIL(host, LOOM_E_NOMEM, "no memory for colours of %d elements", ne);
  for (int32_t e = 0; room && s == LOOM_OK && e <= ne; ++e) stamp[e] = -1;
  for (int32_t e = 0; room && s == LOOM_OK && e < ne; ++e) {
    colour[e] = find_element_colour(k, colour, stamp, e);
    if (colour[e] >= o->num) o->num = colour[e] + 1;
  }
  if (s == LOOM_OK) o->first = calloc((size_t)o->num + 2, sizeof *o->first);
  if (s == LOOM_OK && o->first == NULL)
    s = LOOM_FAIL(host, LOOM_E_NOMEM, "no memory for %d colours", o->num);
  if (room && o->first != NULL && s == LOOM_OK) { /* a counting sort */
    for (int32_t e = 0; e < ne; ++e) ++o->first[colour[e] + 2];
    for (int32_t c = 0; c < o->num; ++c) o->first[c + 2] += o->first[c + 1];
    for (int32_t e = 0; e < ne; ++e) elem[o->first[colour[e] + 1]++] = e;
  }
  free(colour);
  free(stamp);
  return s;
}

loom_status order_new(order *o, const loom_host *host, const loom_exec *e, const loom_elem_block *b,
                      int32_t num_verts)
{
  plug_maps m = plug_maps_on(host, e);
  corners k = {.verts = plug_read_host(&m, b->verts), .arity = b->arity, .num_elems = b->num_elems};
  LOOM_TRY(m.status);
  int32_t *const elem = malloc(((size_t)b->num_elems + 1) * sizeof *elem);
  loom_status s = elem != NULL
                      ? corners_sort(&k, host, num_verts)
                      : LOOM_FAIL(host, LOOM_E_NOMEM, "no memory for %d elements", b->num_elems);
  if (elem != NULL && s == LOOM_OK) s = colour_elements(o, host, &k, elem);
  if (s == LOOM_OK) s = plug_put_new(host, e, "elements", LOOM_I32, elem, b->num_elems, &o->elem);
  corners_free(&k);
  free(elem);
  LOOM_TRY(s);
  return plug_unbind(&m);
}

void order_free(order *o) { free(o->first); }
