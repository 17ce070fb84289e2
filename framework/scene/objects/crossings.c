/* crossings.c - the search for objects that intersect before the first step. */
#include <stdio.h>
#include <stdlib.h>

#include "scene/objects/crossings.h"

#include "mesh/mesh.h"

/* The object that holds global id `id`; `verts` chooses vertex or triangle numbering. */
static const scene_part *find_part(const scene_part *parts, int num, int32_t id, int verts)
{
  const scene_part *found = &parts[0];
  for (int k = 1; k < num; ++k) {
    const int32_t first = verts ? parts[k].first_vert : parts[k].first_tri;
    if (first <= id) found = &parts[k];
  }
  return found;
}

static scene_crossing name_pair(const isect_surface *m, const scene_part *parts, int num_parts,
                                const scene_bodies *bodies, const isect_pair *p)
{
  const isect_surface *const e = p->side == 1 ? &bodies->at[p->body] : m;
  const isect_surface *const f = p->body >= 0 && p->side == 0 ? &bodies->at[p->body] : m;
  const int32_t *const t = f->tris + 3 * (int64_t)p->tri;
  scene_crossing d = {.edge = {p->edge[0], p->edge[1]}, .tri = p->tri};
  isect_point(e->x + 3 * (int64_t)p->edge[0], e->x + 3 * (int64_t)p->edge[1],
              f->x + 3 * (int64_t)t[0], f->x + 3 * (int64_t)t[1], f->x + 3 * (int64_t)t[2],
              d.point);
  if (e == m) {
    const scene_part *const part = find_part(parts, num_parts, p->edge[0], 1);
    d.edge_of = part->name;
    for (int k = 0; k < 2; ++k) d.edge[k] -= part->first_vert;
  } else {
    d.edge_of = bodies->name[p->body];
    d.edge_of_body = 1;
  }
  if (f == m) {
    const scene_part *const part = find_part(parts, num_parts, p->tri, 0);
    d.tri_of = part->name;
    d.tri -= part->first_tri;
  } else {
    d.tri_of = bodies->name[p->body];
    d.tri_of_body = 1;
  }
  return d;
}

void scene_crossing_text(const scene_crossing *p, char *buf, size_t len)
{
  const int same = p->edge_of == p->tri_of && p->edge_of_body == p->tri_of_body;
  snprintf(buf, len, "%s%s: edge %d-%d intersects triangle %d of %s%s at (%.6g %.6g %.6g) m",
           p->edge_of_body ? "body " : "", p->edge_of, p->edge[0], p->edge[1], p->tri,
           p->tri_of_body ? "body " : "", same ? "the same object" : p->tri_of, p->point[0],
           p->point[1], p->point[2]);
}

loom_status scene_crossings(loom_err *err, const isect_surface *m, const scene_part *parts,
                            int num_parts, const scene_bodies *bodies, scene_crossing *out,
                            int64_t capacity, int64_t enough, int64_t *total)
{
  isect_pair *pairs;
  *total = 0;
  if (num_parts == 0 || m->nt == 0) return LOOM_OK;
  LOOM_TRY(mesh_alloc(err, capacity, sizeof *pairs, &pairs));
  const loom_status s =
      isect_scene_upto(err, m, bodies->at, bodies->num, 0, enough, pairs, capacity, total);
  for (int64_t k = 0; s == LOOM_OK && k < *total && k < capacity; ++k)
    out[k] = name_pair(m, parts, num_parts, bodies, &pairs[k]);
  free(pairs);
  return s;
}
