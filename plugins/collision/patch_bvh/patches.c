/* patches.c - see patches.h.
 *
 * Patches grow one after the other along the front of the earlier patches.  A patch takes the
 * neighbouring triangle that shares most of its corners, which keeps it round; among equals the
 * one with the fewest free neighbours, which leaves few islands.  Remainders below 5 triangles
 * join a neighbour or take triangles from larger patches.
 */
#include "patches.h"

#include <stdlib.h>
#include <string.h>

typedef struct maker {
  const mesh_faces *m;
  int32_t *first, *around; /* triangles around each vertex: [nv + 1], [3 nt] */
  int32_t *patch;          /* [nt] or -1 */
  int32_t *member;         /* [patches][8] */
  int32_t *size;           /* [patches] */
  int32_t *queue;          /* [3 nt] front */
  int64_t head, tail;
  int32_t num;
} maker;

enum { MAX_NEIGHBOURS = 16 }; /* more: edges with very many triangles; the rest is left out */

/* ---- neighbours ---- */

static int has_vert(const int32_t *t, int32_t v) { return t[0] == v || t[1] == v || t[2] == v; }

static void build_patch_adjacency(maker *k)
{
  const mesh_faces *const m = k->m;
  memset(k->first, 0, ((size_t)m->num_verts + 1) * sizeof *k->first);
  for (int64_t i = 0; i < 3 * (int64_t)m->num_tris; ++i) ++k->first[m->tris[i] + 1];
  for (int32_t v = 0; v < m->num_verts; ++v) k->first[v + 1] += k->first[v];
  for (int64_t i = 3 * (int64_t)m->num_tris - 1; i >= 0; --i)
    k->around[--k->first[m->tris[i] + 1]] = (int32_t)(i / 3);
  /* counting down has moved every end to its beginning: first[v + 1] is now v's */
  memmove(k->first, k->first + 1, (size_t)m->num_verts * sizeof *k->first);
  k->first[m->num_verts] = 3 * m->num_tris;
}

/* Triangles that share an edge with t. */
static int find_edge_neighbours(const maker *k, int32_t t, int32_t out[MAX_NEIGHBOURS])
{
  const int32_t *const v = k->m->tris + 3 * (int64_t)t;
  int n = 0;
  for (int c = 0; c < 3; ++c)
    for (int32_t i = k->first[v[c]]; i < k->first[v[c] + 1]; ++i) {
      const int32_t u = k->around[i];
      if (u == t || !has_vert(k->m->tris + 3 * (int64_t)u, v[(c + 1) % 3])) continue;
      if (n < MAX_NEIGHBOURS) out[n++] = u;
    }
  return n;
}

static int num_free(const maker *k, int32_t t)
{
  int32_t near[MAX_NEIGHBOURS];
  int n = find_edge_neighbours(k, t, near), out = 0;
  for (int i = 0; i < n; ++i) out += k->patch[near[i]] < 0;
  return out;
}

static int corners_shared(const maker *k, int32_t patch, int32_t t)
{
  int out = 0;
  for (int c = 0; c < 3; ++c) {
    int found = 0;
    for (int32_t i = 0; i < k->size[patch] && !found; ++i)
      found = has_vert(k->m->tris + 3 * (int64_t)k->member[PATCH_TRIS * (int64_t)patch + i],
                       k->m->tris[3 * (int64_t)t + c]);
    out += found;
  }
  return out;
}

/* ---- growth ---- */

static void append_patch_tri(maker *k, int32_t patch, int32_t t)
{
  k->member[PATCH_TRIS * (int64_t)patch + k->size[patch]++] = t;
  k->patch[t] = patch;
}

/* The best free neighbour of a patch, or -1. */
static int32_t best_neighbour(const maker *k, int32_t patch)
{
  int32_t best = -1, near[MAX_NEIGHBOURS];
  int best_score = -1;
  for (int32_t i = 0; i < k->size[patch]; ++i) {
    const int n = find_edge_neighbours(k, k->member[PATCH_TRIS * (int64_t)patch + i], near);
    for (int j = 0; j < n; ++j) {
      if (k->patch[near[j]] >= 0) continue;
      const int score = 100 * corners_shared(k, patch, near[j]) - num_free(k, near[j]);
      if (score < best_score || (score == best_score && near[j] >= best)) continue;
      best = near[j];
      best_score = score;
    }
  }
  return best;
}

static void grow_patch(maker *k, int32_t seed)
{
  const int32_t me = k->num++;
  int32_t near[MAX_NEIGHBOURS];
  k->size[me] = 0;
  append_patch_tri(k, me, seed);
  while (k->size[me] < PATCH_GROW) {
    const int32_t t = best_neighbour(k, me);
    if (t < 0) break;
    append_patch_tri(k, me, t);
  }
  for (int32_t i = 0; i < k->size[me]; ++i) {
    const int n = find_edge_neighbours(k, k->member[PATCH_TRIS * (int64_t)me + i], near);
    for (int j = 0; j < n; ++j)
      if (k->patch[near[j]] < 0 && k->tail < 3 * (int64_t)k->m->num_tris)
        k->queue[k->tail++] = near[j];
  }
}

static void grow_all(maker *k, int32_t first, int32_t end)
{
  for (int32_t t = first; t < end;) {
    if (k->head < k->tail) {
      const int32_t seed = k->queue[k->head++];
      if (k->patch[seed] < 0) grow_patch(k, seed);
    } else if (k->patch[t] < 0) {
      grow_patch(k, t);
    } else {
      ++t;
    }
  }
}

/* ---- remainders ---- */

static int are_connected(const maker *k, const int32_t *tris, int num)
{
  int seen = 1, grown = 1; /* bits */
  while (grown) {
    grown = 0;
    for (int i = 0; i < num; ++i)
      for (int j = 0; j < num; ++j) {
        if (!(seen >> i & 1) || (seen >> j & 1)) continue;
        const int32_t *const a = k->m->tris + 3 * (int64_t)tris[i];
        const int32_t *const b = k->m->tris + 3 * (int64_t)tris[j];
        if (has_vert(a, b[0]) + has_vert(a, b[1]) + has_vert(a, b[2]) < 2) continue;
        seen |= 1 << j;
        grown = 1;
      }
  }
  return seen == (1 << num) - 1;
}

static int may_give(const maker *k, int32_t patch, int32_t t)
{
  int32_t rest[PATCH_TRIS];
  int n = 0;
  if (k->size[patch] <= PATCH_LEAST) return 0;
  for (int32_t i = 0; i < k->size[patch]; ++i)
    if (k->member[PATCH_TRIS * (int64_t)patch + i] != t)
      rest[n++] = k->member[PATCH_TRIS * (int64_t)patch + i];
  return are_connected(k, rest, n);
}

static void move_patch_tri(maker *k, int32_t from, int32_t t, int32_t to)
{
  int32_t *const member = k->member + PATCH_TRIS * (int64_t)from;
  int i = 0;
  while (member[i] != t) ++i;
  for (--k->size[from]; i < k->size[from]; ++i) member[i] = member[i + 1];
  append_patch_tri(k, to, t);
}

/* A neighbouring patch that the whole remainder fits into, or -1. */
static int32_t find_merge_patch(const maker *k, int32_t me)
{
  int32_t best = -1, near[MAX_NEIGHBOURS];
  for (int32_t i = 0; i < k->size[me]; ++i) {
    const int n = find_edge_neighbours(k, k->member[PATCH_TRIS * (int64_t)me + i], near);
    for (int j = 0; j < n; ++j) {
      const int32_t p = k->patch[near[j]];
      if (p == me || k->size[p] + k->size[me] > PATCH_TRIS) continue;
      if (best < 0 || k->size[p] < k->size[best]) best = p;
      if (p < best && k->size[p] == k->size[best]) best = p;
    }
  }
  return best;
}

/* A triangle next to a patch that its own patch can spare, or -1. */
static int32_t spare_triangle(const maker *k, int32_t me)
{
  int32_t best = -1, near[MAX_NEIGHBOURS];
  for (int32_t i = 0; i < k->size[me]; ++i) {
    const int n = find_edge_neighbours(k, k->member[PATCH_TRIS * (int64_t)me + i], near);
    for (int j = 0; j < n; ++j) {
      const int32_t t = near[j], p = k->patch[t];
      if (p == me || !may_give(k, p, t)) continue;
      if (best < 0 || k->size[p] > k->size[k->patch[best]] ||
          (k->size[p] == k->size[k->patch[best]] && t < best))
        best = t;
    }
  }
  return best;
}

static void join_remainders(maker *k)
{
  for (int32_t me = 0; me < k->num; ++me) {
    if (k->size[me] == 0 || k->size[me] >= PATCH_LEAST) continue;
    const int32_t host = find_merge_patch(k, me);
    if (host >= 0) {
      while (k->size[me] > 0) move_patch_tri(k, me, k->member[PATCH_TRIS * (int64_t)me], host);
      continue;
    }
    while (k->size[me] < PATCH_LEAST) {
      const int32_t t = spare_triangle(k, me);
      if (t < 0) break;
      move_patch_tri(k, k->patch[t], t, me);
    }
  }
}

/* ---- edges without triangles ---- */

/* The first patch with a triangle that has this edge, or -1. */
static int32_t patch_of_edge(const maker *k, const int32_t *e)
{
  int32_t best = -1;
  for (int32_t i = k->first[e[0]]; i < k->first[e[0] + 1]; ++i) {
    const int32_t t = k->around[i];
    if (has_vert(k->m->tris + 3 * (int64_t)t, e[1]) && (best < 0 || k->patch[t] < best))
      best = k->patch[t];
  }
  return best;
}

/* Runs of edges that have no triangle, consecutive and connected, up to 8 a patch. */
static void chain_edges(maker *k, int32_t *owner, int32_t first, int32_t end)
{
  int32_t in_chain = 0, last = -1;
  for (int32_t e = first; e < end; ++e) {
    const int32_t *const v = k->m->edges + 2 * (int64_t)e;
    if (owner[e] >= 0) continue;
    const int32_t *const u = last >= 0 ? k->m->edges + 2 * (int64_t)last : NULL;
    const int linked = u != NULL && (u[0] == v[0] || u[0] == v[1] || u[1] == v[0] || u[1] == v[1]);
    if (!linked || in_chain == PATCH_LANES) {
      k->size[k->num++] = 0;
      in_chain = 0;
    }
    owner[e] = k->num - 1;
    last = e;
    ++in_chain;
  }
}

/* ---- result ---- */

/* Give the patches of [first, end) new numbers from `next` on, leaving out empty ones. */
static void renumber_patches(maker *k, int32_t first, int32_t end, int32_t *next)
{
  for (int32_t p = first; p < end; ++p) {
    if (k->size[p] == 0) continue;
    const int32_t q = (*next)++;
    memmove(k->member + PATCH_TRIS * (int64_t)q, k->member + PATCH_TRIS * (int64_t)p,
            PATCH_TRIS * sizeof *k->member);
    k->size[q] = k->size[p];
    for (int32_t i = 0; i < k->size[q]; ++i) k->patch[k->member[PATCH_TRIS * (int64_t)q + i]] = q;
  }
}

static void build_patch_range(maker *k, int32_t *owner, int32_t first_tri, int32_t end_tri,
                              int32_t first_edge, int32_t end_edge)
{
  const int32_t before = k->num;
  int32_t next = before;
  k->head = k->tail = 0;
  grow_all(k, first_tri, end_tri);
  join_remainders(k);
  renumber_patches(k, before, k->num, &next);
  k->num = next;
  for (int32_t e = first_edge; e < end_edge; ++e)
    owner[e] = patch_of_edge(k, k->m->edges + 2 * (int64_t)e);
  chain_edges(k, owner, first_edge, end_edge);
}

static int store_tris(const maker *k, patch_set *out)
{
  out->tri = malloc(((size_t)k->num * PATCH_TRIS + 1) * sizeof *out->tri);
  if (out->tri == NULL) return 0;
  for (int32_t p = 0; p < k->num; ++p)
    for (int32_t i = 0; i < PATCH_TRIS; ++i)
      out->tri[PATCH_TRIS * (int64_t)p + i] =
          i < k->size[p] ? k->member[PATCH_TRIS * (int64_t)p + i] : -1;
  return 1;
}

static int store_edges(const maker *k, const int32_t *owner, patch_set *out)
{
  int32_t *const count = calloc((size_t)k->num + 1, sizeof *count);
  out->first_block = malloc(((size_t)k->num + 1) * sizeof *out->first_block);
  if (count == NULL || out->first_block == NULL) {
    free(count);
    return 0;
  }
  for (int32_t e = 0; e < k->m->num_edges; ++e) ++count[owner[e]];
  for (int32_t p = 0; p < k->num; ++p) {
    out->first_block[p] = out->num_blocks;
    out->num_blocks += (count[p] + PATCH_LANES - 1) / PATCH_LANES;
    count[p] = 0;
  }
  out->first_block[k->num] = out->num_blocks;
  out->edge = malloc(((size_t)out->num_blocks * PATCH_LANES + 1) * sizeof *out->edge);
  if (out->edge != NULL) {
    memset(out->edge, 0xff, (size_t)out->num_blocks * PATCH_LANES * sizeof *out->edge);
    for (int32_t e = 0; e < k->m->num_edges; ++e)
      out->edge[(int64_t)PATCH_LANES * out->first_block[owner[e]] + count[owner[e]]++] = e;
  }
  free(count);
  return out->edge != NULL;
}

static void append_owned_vert(patch_set *out, uint8_t *owned, int32_t v)
{
  if (owned[v]) return;
  owned[v] = 1;
  out->vert[out->num_verts++] = v;
}

static int store_verts(const maker *k, patch_set *out)
{
  uint8_t *const owned = calloc((size_t)k->m->num_verts + 1, 1);
  out->vert = malloc(((size_t)k->m->num_verts + 1) * sizeof *out->vert);
  out->first_vert = malloc(((size_t)k->num + 1) * sizeof *out->first_vert);
  if (owned == NULL || out->vert == NULL || out->first_vert == NULL) {
    free(owned);
    return 0;
  }
  for (int32_t p = 0; p < k->num; ++p) {
    out->first_vert[p] = out->num_verts;
    for (int32_t i = 0; i < 3 * k->size[p]; ++i) {
      const int32_t t = k->member[PATCH_TRIS * (int64_t)p + i / 3];
      append_owned_vert(out, owned, k->m->tris[3 * (int64_t)t + i % 3]);
    }
    for (int64_t i = (int64_t)PATCH_LANES * out->first_block[p];
         i < (int64_t)PATCH_LANES * out->first_block[p + 1]; ++i)
      for (int c = 0; c < 2 && out->edge[i] >= 0; ++c)
        append_owned_vert(out, owned, k->m->edges[2 * (int64_t)out->edge[i] + c]);
  }
  out->first_vert[k->num] = out->num_verts;
  free(owned);
  return 1;
}

int patches_make(const mesh_faces *m, patch_set *out)
{
  const size_t nt = (size_t)m->num_tris, ne = (size_t)m->num_edges;
  maker k = {.m = m};
  memset(out, 0, sizeof *out);
  k.first = malloc(((size_t)m->num_verts + 2) * sizeof *k.first);
  k.around = malloc((3 * nt + 1) * sizeof *k.around);
  k.queue = malloc((3 * nt + 1) * sizeof *k.queue);
  k.patch = malloc((nt + 1) * sizeof *k.patch);
  k.member = malloc((nt + ne + 1) * PATCH_TRIS * sizeof *k.member);
  k.size = malloc((nt + ne + 1) * sizeof *k.size);
  int32_t *const owner = calloc(ne + 1, sizeof *owner);
  int ok = k.first != NULL && k.around != NULL && k.queue != NULL && k.patch != NULL &&
           k.member != NULL && k.size != NULL && owner != NULL;
  if (ok) {
    memset(k.patch, 0xff, nt * sizeof *k.patch);
    build_patch_adjacency(&k);
    build_patch_range(&k, owner, 0, m->cloth_tris, 0, m->cloth_edges);
    out->num_cloth = k.num;
    build_patch_range(&k, owner, m->cloth_tris, m->num_tris, m->cloth_edges, m->num_edges);
    out->num = k.num;
    ok = store_tris(&k, out) && store_edges(&k, owner, out) && store_verts(&k, out);
  }
  free(owner);
  free(k.size);
  free(k.member);
  free(k.patch);
  free(k.queue);
  free(k.around);
  free(k.first);
  return ok;
}

void patches_free(patch_set *p)
{
  free(p->tri);
  free(p->first_block);
  free(p->edge);
  free(p->first_vert);
  free(p->vert);
  memset(p, 0, sizeof *p);
}
