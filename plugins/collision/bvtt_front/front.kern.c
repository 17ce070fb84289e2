/* front.kern.c - see front.kern.h. */
#include "front.kern.h"

enum { AHEAD = 8 }; /* pairs, of prefetching */

/* ---- names of nodes ---- */

LK_FN lk_int level_of(uint32_t c) { return (lk_int)(c >> BVTT_FRONT_INDEX_BITS); }

LK_FN lk_int index_of(uint32_t c) { return (lk_int)(c & (uint32_t)(BVTT_FRONT_MAX_LEAVES - 1)); }

LK_FN uint32_t node_name(lk_int level, lk_int k)
{
  return (uint32_t)level << BVTT_FRONT_INDEX_BITS | (uint32_t)k;
}

LK_FN uint64_t pair_name(uint32_t a, uint32_t b) { return (uint64_t)a << 32 | b; }

LK_FN uint32_t parent_of(uint32_t c) { return node_name(level_of(c) + 1, index_of(c) >> 1); }

LK_FN const box_node *box_node_at(const bvtt_front_view *t, const box_levels *tree, uint32_t c)
{
  return t->node + tree->first[level_of(c)] + index_of(c);
}

/* ---- the test tree ---- */

/* Children of a node against itself; two leaves are no pair of a leaf with itself. */
LK_FN int split_self(const box_levels *tree, uint32_t a, uint64_t *out)
{
  const lk_int level = level_of(a) - 1;
  int n = 0;
  if (level < 0) return 0;
  const uint32_t left = node_name(level, 2 * index_of(a)), right = left + 1;
  const int both = 2 * index_of(a) + 1 < tree->count[level];
  if (level > 0) out[n++] = pair_name(left, left);
  if (level > 0 && both) out[n++] = pair_name(right, right);
  if (both) out[n++] = pair_name(left, right);
  return n;
}

/* Children of a pair, out[3]; none of two leaves. */
LK_FN int split_box_pair(const bvtt_front_view *t, uint64_t pair, uint64_t *out)
{
  const uint32_t a = (uint32_t)(pair >> 32), b = (uint32_t)pair;
  if (t->self && a == b) return split_self(&t->first, a, out);
  const lk_int la = level_of(a), lb = level_of(b);
  if (la == 0 && lb == 0) return 0;
  const int second = la < lb;
  const lk_int level = (second ? lb : la) - 1, k = 2 * index_of(second ? b : a);
  const int both = k + 1 < (second ? &t->second : &t->first)->count[level];
  for (int i = 0; i <= both; ++i) {
    const uint32_t child = node_name(level, k + i);
    out[i] = second ? pair_name(a, child) : pair_name(child, b);
  }
  return 1 + both;
}

/* 1 if the pair has a parent; *is_first: it is its first child. */
LK_FN int find_parent_pair(const bvtt_front_view *t, uint64_t pair, uint64_t *out, int *is_first)
{
  const uint32_t a = (uint32_t)(pair >> 32), b = (uint32_t)pair;
  const lk_int la = level_of(a), lb = level_of(b);
  const int top_a = la == t->first.num_levels - 1, top_b = lb == t->second.num_levels - 1;
  if (t->self && a == b) {
    *out = pair_name(parent_of(a), parent_of(a));
    *is_first = !(a & 1);
    return !top_a;
  }
  if (t->self && la == lb && parent_of(a) == parent_of(b)) {
    *out = pair_name(parent_of(a), parent_of(a));
    *is_first = la == 0;
    return 1;
  }
  /* the second was split last where both are of one level, or the first is its tree's root */
  const int second = la == lb ? !top_b : la < lb && top_a;
  if (second ? top_b : top_a) return 0;
  *out = second ? pair_name(a, parent_of(b)) : pair_name(parent_of(a), b);
  *is_first = !((second ? b : a) & 1);
  return 1;
}

LK_FN int pair_meets(const bvtt_front_view *t, uint64_t pair)
{
  return box_overlap_with(box_node_at(t, &t->first, (uint32_t)(pair >> 32)),
                          box_node_at(t, &t->second, (uint32_t)pair), MESH_ACTIVE);
}

/* ---- two leaves ---- */

/* Bits of the corners p of one leaf that meet the triangle q of another leaf, which has the box
 * `box`; only the corners that the leaf owns (bits of `owned`). */
LK_FN int corners_meet(const bvtt_front_view *t, const int32_t *p, int32_t owned, const int32_t *q,
                       const box_node *box)
{
  int bits = 0;
  if (q[3] < 0 || owned == 0) return 0;
  for (int i = 0; i < 3; ++i) {
    box_node point;
    const int32_t v = p[i];
    if (!(owned >> i & 1) || v == q[0] || v == q[1] || v == q[2]) continue;
    bvtt_front_box(t->vert, &v, 1, &point);
    bits |= box_overlap(&point, box) << i;
  }
  return bits;
}

/* Bits of the edges of a leaf, edge[3] their boxes, that meet `box`. */
LK_FN int edges_near(const box_node *edge, const int32_t *owned, const box_node *box)
{
  int bits = 0;
  for (int i = 0; i < 3; ++i)
    if (owned[i] >= 0) bits |= box_overlap(edge + i, box) << i;
  return bits;
}

/* Edge k of the corners p and edge l of the corners q. */
LK_FN int share_end(const int32_t *p, int k, const int32_t *q, int l)
{
  const int32_t a = p[k], b = p[k < 2 ? k + 1 : 0], c = q[l], d = q[l < 2 ? l + 1 : 0];
  return (a == c) | (a == d) | (b == c) | (b == d);
}

LK_FN int leaves_meet(const bvtt_front_view *t, lk_int i, lk_int j)
{
  const int32_t *const p = t->corner + 4 * (int64_t)i, *const q = t->corner + 4 * (int64_t)j;
  const int32_t *const own_p = t->owned + 4 * (int64_t)i, *const own_q = t->owned + 4 * (int64_t)j;
  const box_node *const a = t->node + i, *const b = t->node + j;
  const box_node *const edge_p = t->edge + 3 * (int64_t)i, *const edge_q = t->edge + 3 * (int64_t)j;
  int bits = corners_meet(t, p, own_p[3], q, b) | corners_meet(t, q, own_q[3], p, a) << 3;
  const int near_p = edges_near(edge_p, own_p, b);
  const int near_q = near_p != 0 ? edges_near(edge_q, own_q, a) : 0;
  for (int k = 0; k < 3; ++k) {
    if (!(near_p >> k & 1)) continue;
    for (int l = 0; l < 3; ++l)
      if ((near_q >> l & 1) && !share_end(p, k, q, l))
        bits |= box_overlap(edge_p + k, edge_q + l) << (6 + 3 * k + l);
  }
  return bits;
}

/* ---- groups ---- */

LK_FN lk_int group_begin(lk_int g) { return BVTT_FRONT_GROUP * g; }

LK_FN lk_int group_end(lk_int g, lk_int num)
{
  return num - BVTT_FRONT_GROUP * g < BVTT_FRONT_GROUP ? num : BVTT_FRONT_GROUP * (g + 1);
}

LK_FN lk_int work_pair_index(const bvtt_front_args *a, lk_int i)
{
  return a->work ? a->work[i] : i;
}

LK_FN int is_marked(const bvtt_front_args *a, lk_int i)
{
  const uint64_t pair = a->pair[i];
  const int marks = box_node_at(&a->t, &a->t.first, (uint32_t)(pair >> 32))->mark |
                    box_node_at(&a->t, &a->t.second, (uint32_t)pair)->mark;
  return (marks & a->t.bit) != 0;
}

LK_KERNEL_PLAIN(bvtt_front_count_marked, a, g)
{
  int64_t n = 0;
  for (lk_int i = group_begin(g); i < group_end(g, a->num); ++i) n += is_marked(a, i);
  a->count[g] = n;
}

LK_KERNEL_PLAIN(bvtt_front_list_marked, a, g)
{
  int64_t at = a->place[g];
  if (at == a->place[g + 1]) return;
  for (lk_int i = group_begin(g); i < group_end(g, a->num); ++i)
    if (is_marked(a, i)) a->next[at++] = i;
}

/* ---- testing, sprouting ---- */

/* The nodes of a pair that comes soon: neighbours in the front are far apart in the trees. */
LK_FN void prefetch_pair(const bvtt_front_args *a, lk_int i)
{
  if (i >= a->num_work) return;
  const uint64_t pair = a->pair[work_pair_index(a, i)];
  LK_PREFETCH(box_node_at(&a->t, &a->t.first, (uint32_t)(pair >> 32)));
  LK_PREFETCH(box_node_at(&a->t, &a->t.second, (uint32_t)pair));
}

LK_KERNEL_PLAIN(bvtt_front_test, a, i)
{
  const lk_int s = work_pair_index(a, i);
  prefetch_pair(a, i + AHEAD);
  const uint64_t pair = a->pair[s];
  uint64_t child[3];
  int32_t known = 0;
  if (pair_meets(&a->t, pair)) {
    if (split_box_pair(&a->t, pair, child) > 0)
      known = BVTT_FRONT_SPLIT;
    else if (!a->t.self || (uint32_t)(pair >> 32) != (uint32_t)pair)
      known = leaves_meet(&a->t, a->t.first.first[0] + index_of((uint32_t)(pair >> 32)),
                          a->t.second.first[0] + index_of((uint32_t)pair));
  }
  a->known[s] = known;
}

LK_KERNEL_PLAIN(bvtt_front_count_split, a, g)
{
  uint64_t child[3];
  int64_t n = 0;
  for (lk_int i = group_begin(g); i < group_end(g, a->num_work); ++i) {
    const lk_int s = work_pair_index(a, i);
    if (a->known[s] == BVTT_FRONT_SPLIT)
      n += (int64_t)split_box_pair(&a->t, a->pair[s], child) << 32 | INT64_C(1);
  }
  a->count[g] = n;
}

LK_KERNEL_PLAIN(bvtt_front_sprout, a, g)
{
  int64_t next = a->place[g] >> 32; /* the children before these, ... */
  int64_t to =
      a->num + next - (a->place[g] & UINT32_MAX); /* ... of which each pair's first stays */
  uint64_t child[3];
  if (a->place[g] == a->place[g + 1]) return;
  for (lk_int i = group_begin(g); i < group_end(g, a->num_work); ++i) {
    const lk_int s = work_pair_index(a, i);
    if (a->known[s] != BVTT_FRONT_SPLIT) continue;
    const int n = split_box_pair(&a->t, a->pair[s], child);
    for (int c = 0; c < n; ++c) {
      const lk_int at = c == 0 ? s : (lk_int)to++;
      a->pair[at] = child[c];
      a->next[next++] = at;
    }
  }
}

/* ---- merging ---- */

/* Boxes of children lie in the boxes of their parents.  So all pairs of the front below a pair with
 * boxes that are apart find the same highest pair of this kind.  The one that descends from it by
 * first children alone is replaced by it; the others end. */
LK_KERNEL_PLAIN(bvtt_front_merge, a, i)
{
  uint64_t at = a->pair[i], up;
  int first = 1, is_first;
  while (find_parent_pair(&a->t, at, &up, &is_first) && !pair_meets(&a->t, up)) {
    at = up;
    first &= is_first;
  }
  if (at == a->pair[i]) return;
  a->pair[i] = at;
  a->known[i] = first ? 0 : BVTT_FRONT_GONE;
}

LK_KERNEL_PLAIN(bvtt_front_count_kept, a, g)
{
  int64_t n = 0;
  for (lk_int i = group_begin(g); i < group_end(g, a->num); ++i)
    n += a->known[i] != BVTT_FRONT_GONE;
  a->count[g] = n;
}

LK_KERNEL_PLAIN(bvtt_front_pack, a, g)
{
  int64_t at = a->place[g];
  for (lk_int i = group_begin(g); i < group_end(g, a->num); ++i) {
    if (a->known[i] == BVTT_FRONT_GONE) continue;
    a->to_pair[at] = a->pair[i];
    a->to_known[at++] = a->known[i];
  }
}

/* ---- candidates ---- */

/* Number of set bits among the lowest 16. */
LK_FN int32_t num_bits(int32_t b)
{
  b -= b >> 1 & 0x5555;
  b = (b & 0x3333) + (b >> 2 & 0x3333);
  b = (b + (b >> 4)) & 0x0f0f;
  return (b + (b >> 8)) & 0x1f;
}

LK_KERNEL_PLAIN(bvtt_front_count_names, a, g)
{
  int64_t n = 0;
  for (lk_int i = group_begin(g); i < group_end(g, a->num); ++i)
    n += num_bits(a->known[i] & a->bits);
  a->count[g] = n;
}

LK_FN const int32_t *leaf_row(const int32_t *rows, const box_levels *tree, uint32_t c)
{
  return rows + 4 * (int64_t)(tree->first[0] + index_of(c));
}

LK_KERNEL_PLAIN(bvtt_front_list_vt, a, k)
{
  const lk_int g = a->first + k;
  int64_t at = a->place[g] - a->base;
  if (a->place[g] == a->place[g + 1]) return;
  for (lk_int i = group_begin(g); i < group_end(g, a->num); ++i) {
    const int32_t bits = a->known[i] & BVTT_FRONT_VT_BITS;
    if (bits == 0) continue;
    const int32_t *const p = leaf_row(a->t.corner, &a->t.first, (uint32_t)(a->pair[i] >> 32));
    const int32_t *const q = leaf_row(a->t.corner, &a->t.second, (uint32_t)a->pair[i]);
    for (int c = 0; c < 3; ++c) {
      if (bits >> c & 1) a->name[at++] = mesh_name_vt(p[c], q[3]);
      if (bits >> (3 + c) & 1) a->name[at++] = mesh_name_vt(q[c], p[3]);
    }
  }
}

LK_KERNEL_PLAIN(bvtt_front_list_ee, a, k)
{
  const lk_int g = a->first + k;
  int64_t at = a->place[g] - a->base;
  if (a->place[g] == a->place[g + 1]) return;
  for (lk_int i = group_begin(g); i < group_end(g, a->num); ++i) {
    const int32_t bits = (a->known[i] & BVTT_FRONT_EE_BITS) >> 6;
    if (bits == 0) continue;
    const int32_t *const p = leaf_row(a->t.owned, &a->t.first, (uint32_t)(a->pair[i] >> 32));
    const int32_t *const q = leaf_row(a->t.owned, &a->t.second, (uint32_t)a->pair[i]);
    for (int c = 0; c < 9; ++c)
      if (bits >> c & 1) a->name[at++] = mesh_name_ee(p[c / 3], q[c % 3]);
  }
}
