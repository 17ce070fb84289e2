/* clean.c - see clean.h. */
#include "mesh/clean.h"

#include <stdlib.h>
#include <string.h>

#include "mesh/doctor.h"
#include "mesh/topo.h"

/* Moves row `from` of an array of rows of `size` bytes to row `to`. */
static void move_row(void *array, int64_t to, int64_t from, size_t size)
{
  if (array != NULL && to != from)
    memcpy((char *)array + (size_t)to * size, (const char *)array + (size_t)from * size, size);
}

static loom_status mark_doubled(loom_err *err, const mesh *m, unsigned char *drop)
{
  int32_t *key, *order = NULL;
  LOOM_TRY(mesh_alloc(err, 3 * (int64_t)m->num_tris, sizeof *key, &key));
  loom_status s = mesh_alloc(err, m->num_tris, sizeof *order, &order);
  for (int64_t t = 0; t < m->num_tris && s == LOOM_OK; ++t)
    doctor_sort_ids(m->tris + 3 * t, key + 3 * t);
  if (s == LOOM_OK) s = topo_sort_rows(err, key, m->num_tris, 3, m->num_verts, order);
  for (int32_t k = 1; s == LOOM_OK && k < m->num_tris; ++k) /* stable: the first of them stays */
    if (memcmp(key + 3 * (int64_t)order[k - 1], key + 3 * (int64_t)order[k], 3 * sizeof *key) == 0)
      drop[order[k]] |= CLEAN_DOUBLED;
  free(order);
  free(key);
  return s;
}

loom_status clean_mesh(loom_err *err, mesh *m, int which, clean_counts *out)
{
  unsigned char *drop;
  int32_t kept = 0;
  *out = (clean_counts){0};
  LOOM_TRY(mesh_alloc(err, m->num_tris, 1, &drop));
  for (int32_t t = 0; t < m->num_tris; ++t) drop[t] = doctor_is_flat(m, t) ? CLEAN_FLAT : 0;
  const loom_status s = mark_doubled(err, m, drop);
  for (int32_t t = 0; s == LOOM_OK && t < m->num_tris; ++t) {
    const int found = drop[t] & which;
    out->flat += (found & CLEAN_FLAT) != 0;
    out->doubled += found == CLEAN_DOUBLED;
    if (found) continue;
    move_row(m->tris, kept, t, 3 * sizeof *m->tris);
    move_row(m->fan, kept, t, 3 * sizeof *m->fan);
    move_row(m->uv, kept, t, 6 * sizeof *m->uv);
    move_row(m->piece, kept, t, sizeof *m->piece);
    move_row(m->mtl, kept, t, sizeof *m->mtl);
    move_row(m->rest, kept, t, 9 * sizeof *m->rest);
    move_row(m->tri_line, kept, t, sizeof *m->tri_line);
    ++kept;
  }
  if (s == LOOM_OK) m->num_tris = kept;
  free(drop);
  return s;
}
