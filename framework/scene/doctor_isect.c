/* doctor_isect.c - the doctor's search for objects that intersect before the first step. */
#include <stdio.h>

#include "geom/intersect.h"
#include "scene/doctor.h"

/* The object that holds global id `id`; `verts` chooses vertex or triangle numbering. */
static const doctor_part *find_part(const doctor_part *parts, int num, int32_t id, int verts)
{
  const doctor_part *found = &parts[0];
  for (int k = 1; k < num; ++k) {
    const int32_t first = verts ? parts[k].first_vert : parts[k].first_tri;
    if (first <= id) found = &parts[k];
  }
  return found;
}

loom_status doctor_intersections(loom_err *err, doctor *d, const double *x, int64_t n,
                                 const int32_t *tris, int64_t nt, const doctor_part *parts,
                                 int num_parts)
{
  isect_pair pairs[DOCTOR_MAX];
  int64_t total = 0;
  if (num_parts == 0 || nt == 0) return LOOM_OK;
  LOOM_TRY(isect_mesh(err, x, n, tris, nt, 0, pairs, DOCTOR_MAX, &total));
  for (int64_t k = 0; k < total && k < DOCTOR_MAX; ++k) {
    const doctor_part *a = find_part(parts, num_parts, pairs[k].edge[0], 1);
    const doctor_part *b = find_part(parts, num_parts, pairs[k].tri, 0);
    const int32_t id[4] = {pairs[k].edge[0] - a->first_vert, pairs[k].edge[1] - a->first_vert,
                           pairs[k].tri - b->first_tri, -1};
    doctor_add(d, DOCTOR_INTERSECTION, id,
               "%s: edge %d-%d intersects triangle %d of %s at the start; move them apart", a->name,
               id[0], id[1], id[2], a == b ? "the same object" : b->name);
  }
  if (total > DOCTOR_MAX) d->total += total - DOCTOR_MAX; /* counted, not listed */
  return LOOM_OK;
}
