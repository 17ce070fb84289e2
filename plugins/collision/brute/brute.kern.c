/* brute.kern.c - every vertex with every triangle, every edge with every later edge. */
#include "brute.kern.h"

LK_FN int may_meet_vt(const brute_args *a, lk_int p, lk_int t)
{
  const mesh_view *const m = &a->m;
  const int32_t *const v = m->tris + 3 * t;
  return mesh_wants_pair(a->kinds, MESH_VT, p >= m->cloth_verts, t >= m->cloth_tris) && v[0] != p &&
         v[1] != p && v[2] != p && !mesh_same_group(m, p, v[0]);
}

LK_FN int may_meet_ee(const brute_args *a, lk_int e, lk_int f)
{
  const mesh_view *const m = &a->m;
  const int32_t *const u = m->edges + 2 * e, *const v = m->edges + 2 * f;
  return mesh_wants_pair(a->kinds, MESH_EE, e >= m->cloth_edges, f >= m->cloth_edges) &&
         u[0] != v[0] && u[0] != v[1] && u[1] != v[0] && u[1] != v[1] &&
         !mesh_same_group(m, u[0], v[0]);
}

LK_KERNEL_PLAIN(brute_count_vt, a, p)
{
  int64_t n = 0;
  if (a->m.state[p] & MESH_SURFACE)
    for (lk_int t = 0; t < a->m.num_tris; ++t) n += may_meet_vt(a, p, t);
  a->count[p] = n;
}

LK_KERNEL_PLAIN(brute_count_ee, a, e)
{
  int64_t n = 0;
  for (lk_int f = e + 1; f < a->m.num_edges; ++f) n += may_meet_ee(a, e, f);
  a->count[e] = n;
}

LK_KERNEL_PLAIN(brute_list_vt, a, i)
{
  const lk_int p = a->first + i;
  int64_t at = a->place[p] - a->base;
  if (a->place[p] == a->place[p + 1]) return;
  for (lk_int t = 0; t < a->m.num_tris; ++t)
    if (may_meet_vt(a, p, t)) a->name[at++] = mesh_name_vt(p, t);
}

LK_KERNEL_PLAIN(brute_list_ee, a, i)
{
  const lk_int e = a->first + i;
  int64_t at = a->place[e] - a->base;
  for (lk_int f = e + 1; f < a->m.num_edges; ++f)
    if (may_meet_ee(a, e, f)) a->name[at++] = mesh_name_ee(e, f);
}
