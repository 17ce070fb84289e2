/* patch_bvh.kern.c - see patch_bvh.kern.h. */
#include "patch_bvh.kern.h"

/* ---- building ---- */

LK_KERNEL_PLAIN(patch_bvh_key, a, k)
{
  lk_real sum[3] = {LK_R(0.0), LK_R(0.0), LK_R(0.0)}, num = LK_R(0.0), loose = LK_R(0.0);
  int32_t group = 0;
  for (int j = 0; j < 3 * PATCH_TRIS; ++j) {
    const lk_int v = a->b.tri_verts[3 * PATCH_TRIS * k + j];
    if (v < 0) continue;
    for (int c = 0; c < 3; ++c) sum[c] += a->x[3 * v + c];
    if (a->group != NULL) group = a->group[v];
    num += LK_R(1.0);
  }
  for (lk_int e = a->b.first_block[k]; e < a->b.first_block[k + 1] && num == LK_R(0.0); ++e)
    for (int j = 0; j < 2 * PATCH_LANES; ++j) {
      const lk_int v = a->b.edge_verts[2 * PATCH_LANES * e + j];
      if (v < 0) continue;
      for (int c = 0; c < 3; ++c) sum[c] += a->x[3 * v + c];
      loose += LK_R(1.0);
    }
  a->key[k] = box_place(sum, num + loose, a->bounds) | box_group_place(group) |
              (k < a->num_cloth ? 0 : PATCH_BVH_BODY_KEY);
}

/* ---- boxes ---- */

/* Box of a feature with n vertices on its whole way, grown, in the frame of its patch; it is put
 * into `own`, and the box in the world into `all`. */
LK_FN void box_of(const patch_bvh_refit_args *a, const int32_t *v, int n, float *box, box_node *all,
                  patch_bvh_own *own)
{
  lk_real world[6], lo[3], hi[3];
  mesh_box(&a->m, a->reach, a->share, v, n, NULL, world, world + 3);
  if (own->way[0] != 0.0f || own->way[1] != 0.0f || own->way[2] != 0.0f)
    mesh_box(&a->m, a->reach, a->share, v, n, own->way, lo, hi);
  else
    for (int c = 0; c < 3; ++c) {
      lo[c] = world[c];
      hi[c] = world[3 + c];
    }
  for (int i = 0; i < n; ++i) {
    const int32_t state = mesh_node_state(&a->m, v[i]);
    all->state = all->state < 0 ? state : box_join_states(all->state, state);
  }
  for (int c = 0; c < 3; ++c) {
    const float below = box_below(world[c]), above = box_above(world[3 + c]);
    box[c] = box_below(lo[c]);
    box[3 + c] = box_above(hi[c]);
    all->lo[c] = below < all->lo[c] ? below : all->lo[c];
    all->hi[c] = above > all->hi[c] ? above : all->hi[c];
    own->lo[c] = box[c] < own->lo[c] ? box[c] : own->lo[c];
    own->hi[c] = box[3 + c] > own->hi[c] ? box[3 + c] : own->hi[c];
  }
}

/* The displacement of the first vertex of patch k, or 0 */
LK_FN void frame_of_patch(const patch_bvh_refit_args *a, lk_int k, float *way)
{
  const int32_t *const tri = a->b.tri_verts + 3 * PATCH_TRIS * (int64_t)k;
  int32_t v = tri[0];
  if (v < 0 && a->b.first_vert[k] < a->b.first_vert[k + 1]) v = a->b.vert[a->b.first_vert[k]];
  for (int c = 0; c < 3; ++c)
    way[c] = v < 0 || !a->frames
                 ? 0.0f
                 : (float)(a->m.x1[3 * (int64_t)v + c] - a->m.x0[3 * (int64_t)v + c]);
}

LK_FN void empty_box(float *box) /* meets no box */
{
  for (int c = 0; c < 6; ++c) box[c] = c < 3 ? FLT_MAX : -FLT_MAX;
}

LK_FN void store_lane(float *block, int j, const float *box)
{
  for (int c = 0; c < 6; ++c) block[PATCH_LANES * c + j] = box[c];
}

LK_KERNEL_PLAIN(patch_bvh_refit, a, i)
{
  const lk_int k = a->b.order[i];
  box_node all;
  patch_bvh_own own;
  float box[6];
  int32_t v[3];
  frame_of_patch(a, k, own.way);
  own.reserved = 0.0f;
  all.state = -1; /* no vertex yet */
  all.mark = 0;
  for (int c = 0; c < 3; ++c) {
    all.lo[c] = own.lo[c] = FLT_MAX;
    all.hi[c] = own.hi[c] = -FLT_MAX;
  }
  for (int j = 0; j < PATCH_TRIS; ++j) {
    for (int c = 0; c < 3; ++c) v[c] = a->b.tri_verts[PATCH_TRIS * (3 * k + c) + j];
    empty_box(box);
    if (v[0] >= 0) box_of(a, v, 3, box, &all, &own);
    store_lane(a->tri_box + 6 * PATCH_TRIS * (int64_t)k, j, box);
  }
  for (lk_int e = a->b.first_block[k]; e < a->b.first_block[k + 1]; ++e)
    for (int j = 0; j < PATCH_LANES; ++j) {
      for (int c = 0; c < 2; ++c) v[c] = a->b.edge_verts[PATCH_LANES * (2 * e + c) + j];
      empty_box(box);
      if (v[0] >= 0) box_of(a, v, 2, box, &all, &own);
      store_lane(a->edge_box + 6 * PATCH_LANES * (int64_t)e, j, box);
    }
  for (lk_int p = a->b.first_vert[k]; p < a->b.first_vert[k + 1]; ++p) {
    v[0] = a->b.vert[p];
    box_of(a, v, 1, box, &all, &own);
    for (int c = 0; c < 6; ++c) a->vert_box[6 * (int64_t)p + c] = box[c];
  }
  if (all.state < 0) all.state = 0;
  a->node[i] = all;
  a->own[i] = own;
}

LK_REDUCE_SUM_PLAIN(patch_bvh_size, a, i)
{
  const box_node *const n = a->node + a->first + i;
  return (lk_real)(n->hi[0] - n->lo[0]) + (lk_real)(n->hi[1] - n->lo[1]) +
         (lk_real)(n->hi[2] - n->lo[2]);
}

/* ---- pairs of leaves ----
 */

/* Leaves of `tree`, from leaf `k` on, that meet `me`; their number, and pairs if wanted.  After
 * a subtree the traversal goes on with the largest one that begins behind it. */
LK_FN int64_t traverse_patch_tree(const patch_bvh_meet_args *a, const box_levels *tree, lk_int me,
                                  lk_int k, uint64_t *out)
{
  const box_node box = a->b.node[me];
  const lk_int top = tree->num_levels - 1;
  lk_int level = 0;
  int64_t n = 0;
  if (top < 0) return 0;
  for (; (k & 1) == 0 && level < top; k >>= 1) ++level;
  while (k < tree->count[level]) {
    if (box_overlap_with(&box, a->b.node + tree->first[level] + k, MESH_ACTIVE)) {
      if (level > 0) {
        --level;
        k <<= 1;
        continue;
      }
      if (out != NULL) out[n] = (uint64_t)me << 32 | (uint64_t)(tree->first[0] + k);
      ++n;
    }
    for (++k; (k & 1) == 0 && level < top; k >>= 1) ++level;
  }
  return n;
}

LK_FN int64_t list_meeting_leaves(const patch_bvh_meet_args *a, lk_int i, uint64_t *out)
{
  int64_t n = 0;
  if (a->kinds & (LOOM_BIT(LOOM_PAIR_VT) | LOOM_BIT(LOOM_PAIR_EE))) {
    const int32_t state = a->b.node[i].state;
    if ((state & MESH_ACTIVE) == MESH_ACTIVE && !box_same_group(state, state)) {
      if (out != NULL) out[n] = (uint64_t)i << 32 | (uint64_t)i;
      ++n;
    }
    n += traverse_patch_tree(a, &a->b.cloth, i, i + 1, out != NULL ? out + n : out);
  }
  if (a->kinds & (LOOM_BIT(LOOM_PAIR_BVT) | LOOM_BIT(LOOM_PAIR_BEE)))
    n += traverse_patch_tree(a, &a->b.body, i, 0, out != NULL ? out + n : out);
  return n;
}

LK_KERNEL_PLAIN(patch_bvh_meet_count, a, i) { a->count[i] = list_meeting_leaves(a, i, NULL); }

LK_KERNEL_PLAIN(patch_bvh_meet_list, a, i)
{
  if (a->place[i] != a->place[i + 1]) (void)list_meeting_leaves(a, i, a->pair + a->place[i]);
}

/* ---- candidates of two leaves ---- */

/* How far boxes of leaf i grow to be compared with boxes of leaf j, each in its own frame.  In the
 * frame of i a point of j moves farther by t d, 0 <= t <= 1, d the difference of the displacements;
 * the same growth that mesh_box() has for displacements is there for d. */
typedef struct patch_bvh_drift {
  lk_real lo[3], hi[3]; /* m, both >= 0 */
  int none;             /* 1: there is no growth */
} patch_bvh_drift;

LK_FN patch_bvh_drift drift_between(const patch_bvh_pairs_args *a, lk_int i, lk_int j)
{
  patch_bvh_drift out;
  lk_real d[3], size = LK_R(0.0);
  for (int c = 0; c < 3; ++c) {
    d[c] = (lk_real)a->b.own[j].way[c] - (lk_real)a->b.own[i].way[c];
    size += d[c] * d[c];
  }
  const lk_real more = a->share * LK_SQRT(size);
  out.none = !(size > LK_R(0.0));
  for (int c = 0; c < 3; ++c) {
    out.lo[c] = more + (d[c] > LK_R(0.0) ? d[c] : LK_R(0.0));
    out.hi[c] = more + (d[c] < LK_R(0.0) ? -d[c] : LK_R(0.0));
  }
  return out;
}

LK_FN void grow_by_drift(const patch_bvh_drift *d, float *box)
{
  if (d->none) return;
  for (int c = 0; c < 3; ++c) {
    box[c] = box_below((lk_real)box[c] - d->lo[c]);
    box[3 + c] = box_above((lk_real)box[3 + c] + d->hi[c]);
  }
}

LK_FN int box_meets_patch(const float *b, const patch_bvh_own *n)
{
  return (b[0] <= n->hi[0]) & (n->lo[0] <= b[3]) & (b[1] <= n->hi[1]) & (n->lo[1] <= b[4]) &
         (b[2] <= n->hi[2]) & (n->lo[2] <= b[5]);
}

/* hit[j] = 1 where lane j of the block meets the box; `corner` of them, [rows][8], must not be
 * one of the vertices p and q.  Returns how many. */
LK_FN int mark_hit_lanes(const float *block, const int32_t *corner, int rows, const float *b,
                         lk_int p, lk_int q, int32_t *hit)
{
  int n = 0;
  for (int j = 0; j < PATCH_LANES; ++j) {
    int h = (block[j] <= b[3]) & (block[PATCH_LANES + j] <= b[4]) &
            (block[2 * PATCH_LANES + j] <= b[5]) & (b[0] <= block[3 * PATCH_LANES + j]) &
            (b[1] <= block[4 * PATCH_LANES + j]) & (b[2] <= block[5 * PATCH_LANES + j]);
    h &= (corner[j] != p) & (corner[j] != q) & (corner[PATCH_LANES + j] != p) &
         (corner[PATCH_LANES + j] != q);
    if (rows == 3) h &= (corner[2 * PATCH_LANES + j] != p) & (corner[2 * PATCH_LANES + j] != q);
    hit[j] = h;
    n += h;
  }
  return n;
}

/* Vertices of leaf i against triangles of leaf j. */
LK_FN int64_t verts_tris(const patch_bvh_pairs_args *a, lk_int i, lk_int j, uint64_t *out)
{
  const patch_bvh_view *const b = &a->b;
  const patch_bvh_drift drift = drift_between(a, i, j);
  const lk_int k = b->order[i], l = b->order[j];
  const patch_bvh_own other = b->own[j];
  int32_t hit[PATCH_LANES];
  int64_t n = 0;
  for (lk_int s = b->first_vert[k]; s < b->first_vert[k + 1]; ++s) {
    const lk_int p = b->vert[s];
    float box[6];
    for (int c = 0; c < 6; ++c) box[c] = b->vert_box[6 * (int64_t)s + c];
    grow_by_drift(&drift, box);
    if (!box_meets_patch(box, &other)) continue;
    const int m = mark_hit_lanes(b->tri_box + 6 * PATCH_TRIS * (int64_t)l,
                                 b->tri_verts + 3 * PATCH_TRIS * (int64_t)l, 3, box, p, p, hit);
    if (out != NULL && m > 0) {
      int64_t at = n;
      for (int t = 0; t < PATCH_TRIS; ++t)
        if (hit[t]) out[at++] = mesh_name_vt(p, b->tri[PATCH_TRIS * (int64_t)l + t]);
    }
    n += m;
  }
  return n;
}

/* Edges of leaf i against edges of leaf j; for i = j against later edges. */
LK_FN int64_t edges_edges(const patch_bvh_pairs_args *a, lk_int i, lk_int j, uint64_t *out)
{
  const patch_bvh_view *const b = &a->b;
  const patch_bvh_drift drift = drift_between(a, i, j);
  const lk_int k = b->order[i], l = b->order[j];
  const lk_int begin = PATCH_LANES * b->first_block[k], end = PATCH_LANES * b->first_block[k + 1];
  const patch_bvh_own other = b->own[j];
  int32_t hit[PATCH_LANES];
  int64_t n = 0;
  for (lk_int s = begin; s < end; ++s) {
    const lk_int block = s / PATCH_LANES, lane = s % PATCH_LANES;
    const lk_int p = b->edge_verts[PATCH_LANES * (2 * block) + lane];
    const lk_int q = b->edge_verts[PATCH_LANES * (2 * block + 1) + lane];
    float box[6];
    if (p < 0) continue;
    for (int c = 0; c < 6; ++c) box[c] = b->edge_box[PATCH_LANES * (6 * block + c) + lane];
    grow_by_drift(&drift, box);
    if (!box_meets_patch(box, &other)) continue;
    for (lk_int o = i == j ? block : b->first_block[l]; o < b->first_block[l + 1]; ++o) {
      int m = mark_hit_lanes(b->edge_box + 6 * PATCH_LANES * (int64_t)o,
                             b->edge_verts + 2 * PATCH_LANES * (int64_t)o, 2, box, p, q, hit);
      if (m == 0) continue;
      const int later = i == j && o == block ? lane + 1 : 0;
      m = 0;
      for (int t = later; t < PATCH_LANES; ++t) {
        if (!hit[t]) continue;
        if (out != NULL)
          out[n + m] = mesh_name_ee(b->edge[PATCH_LANES * (int64_t)block + lane],
                                    b->edge[PATCH_LANES * (int64_t)o + t]);
        ++m;
      }
      n += m;
    }
  }
  return n;
}

/* 0: the boxes of the two leaves, in their own frames, are apart. */
LK_FN int patches_meet(const patch_bvh_pairs_args *a, lk_int i, lk_int j)
{
  const patch_bvh_drift drift = drift_between(a, i, j);
  const patch_bvh_own other = a->b.own[j];
  float box[6];
  for (int c = 0; c < 3; ++c) {
    box[c] = a->b.own[i].lo[c];
    box[3 + c] = a->b.own[i].hi[c];
  }
  grow_by_drift(&drift, box);
  return box_meets_patch(box, &other);
}

LK_FN int64_t list_patch_candidates(const patch_bvh_pairs_args *a, int family, int64_t g,
                                    uint64_t *out)
{
  const lk_int i = (lk_int)(a->pair[g] >> 32), j = (lk_int)(a->pair[g] & UINT32_MAX);
  const int32_t kind = family == MESH_VT ? (j >= a->num_cloth ? LOOM_PAIR_BVT : LOOM_PAIR_VT)
                                         : (j >= a->num_cloth ? LOOM_PAIR_BEE : LOOM_PAIR_EE);
  if (!(a->kinds & LOOM_BIT(kind))) return 0;
  if (!patches_meet(a, i, j)) return 0;
  if (family == MESH_EE) return edges_edges(a, i, j, out);
  int64_t n = verts_tris(a, i, j, out);
  if (i != j) n += verts_tris(a, j, i, out != NULL ? out + n : out);
  return n;
}

LK_KERNEL_PLAIN(patch_bvh_count_vt, a, g)
{
  a->count[g] = g < a->num_pairs ? list_patch_candidates(a, MESH_VT, g, NULL) : 0;
}

LK_KERNEL_PLAIN(patch_bvh_count_ee, a, g)
{
  a->count[g] = g < a->num_pairs ? list_patch_candidates(a, MESH_EE, g, NULL) : 0;
}

LK_KERNEL_PLAIN(patch_bvh_list_vt, a, i)
{
  const int64_t g = a->first + i;
  if (a->place[g] != a->place[g + 1])
    (void)list_patch_candidates(a, MESH_VT, g, a->name + (a->place[g] - a->base));
}

LK_KERNEL_PLAIN(patch_bvh_list_ee, a, i)
{
  const int64_t g = a->first + i;
  if (a->place[g] != a->place[g + 1])
    (void)list_patch_candidates(a, MESH_EE, g, a->name + (a->place[g] - a->base));
}
