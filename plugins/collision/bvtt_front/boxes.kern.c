/* boxes.kern.c - see boxes.kern.h. */
#include "boxes.kern.h"

/* ---- building ---- */

LK_KERNEL_PLAIN(bvtt_front_key, a, k)
{
  lk_real sum[3] = {LK_R(0.0), LK_R(0.0), LK_R(0.0)}, num = LK_R(0.0);
  int32_t group = 0;
  for (int j = 0; j < 3; ++j) {
    const lk_int v = a->corner[4 * k + j];
    if (v < 0) continue;
    for (int c = 0; c < 3; ++c) sum[c] += a->x[3 * v + c];
    if (a->group != NULL) group = a->group[v];
    num += LK_R(1.0);
  }
  a->key[k] = box_place(sum, num, a->bounds) | box_group_place(group) |
              (k < a->num_cloth ? 0 : BVTT_FRONT_BODY_KEY);
}

LK_KERNEL_PLAIN(bvtt_front_sort, a, i)
{
  for (int c = 0; c < 4; ++c) a->to[4 * i + c] = a->from[4 * a->order[i] + c];
}

/* ---- refitting ---- */

/* Box and growth of vertex i.  The box of a feature grows by the largest growth of its vertices, so
 * that no impact that the narrow phase would report is culled. */
LK_FN void compute_vertex_box(const bvtt_front_see_args *a, lk_int i, bvtt_front_vert *out)
{
  lk_real x[3], y[3], d2 = LK_R(0.0);
  LK_LOAD3(x, a->m.x0, i);
  LK_LOAD3(y, a->m.x1, i);
  for (int c = 0; c < 3; ++c) {
    d2 += (y[c] - x[c]) * (y[c] - x[c]);
    out->lo[c] = box_below(x[c] < y[c] ? x[c] : y[c]);
    out->hi[c] = box_above(x[c] > y[c] ? x[c] : y[c]);
  }
  const lk_real way = a->share * LK_SQRT(d2);
  lk_real grow = a->m.radius[i] + a->reach + way;
  /* the narrow phase's rounding, with some to spare; that of the size comes with the box */
  grow += LK_R(256.0) * LK_EPSILON * (a->m.radius[i] + LK_FABS(a->reach) + way);
  out->grow = box_above(grow);
  out->state = mesh_node_state(&a->m, i);
}

LK_KERNEL_PLAIN(bvtt_front_see, a, i)
{
  const bvtt_front_vert old = a->vert[i];
  bvtt_front_vert now;
  compute_vertex_box(a, i, &now);
  int changed = now.state != old.state || now.grow != old.grow;
  for (int c = 0; c < 3; ++c) changed |= now.lo[c] != old.lo[c] || now.hi[c] != old.hi[c];
  a->vert[i] = now;
  a->flag[i] = (uint8_t)((a->flag[i] & a->keep) | (changed ? a->all : 0));
}

LK_KERNEL_PLAIN(bvtt_front_fit, a, i)
{
  const int32_t *const v = a->corner + 4 * i;
  box_node box;
  bvtt_front_box(a->vert, v, v[2] < 0 ? 2 : 3, &box);
  for (int c = 0; c < 3; ++c)
    if (v[c] >= 0) box.mark |= a->flag[v[c]];
  a->node[i] = box;
  for (int c = 0; c < 3; ++c) {
    const int32_t end[2] = {v[c], v[c < 2 ? c + 1 : 0]};
    if (a->owned[4 * i + c] >= 0) bvtt_front_box(a->vert, end, 2, a->edge + 3 * (int64_t)i + c);
  }
}
