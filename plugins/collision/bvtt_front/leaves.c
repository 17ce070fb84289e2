/* leaves.c - see leaves.h. */
#include "leaves.h"

#include <stdlib.h>
#include <string.h>

typedef struct maker {
  const mesh_faces *m;
  int32_t *first, *around; /* triangles around each vertex: [nv + 1], [3 nt] */
  int32_t *leaf_of;        /* [nt] leaf of each triangle */
  uint8_t *has;            /* [nv] 1: the vertex is owned */
  leaf_set *out;
} maker;

/* Ascending triangles around each vertex. */
static void build_leaf_adjacency(maker *k)
{
  const mesh_faces *const m = k->m;
  const int64_t corners = 3 * (int64_t)m->num_tris;
  memset(k->first, 0, ((size_t)m->num_verts + 2) * sizeof *k->first);
  for (int64_t i = 0; i < corners; ++i) ++k->first[m->tris[i] + 2];
  for (int32_t v = 0; v < m->num_verts; ++v) k->first[v + 2] += k->first[v + 1];
  /* filling moves every beginning, first[v + 1], to its end, which is where v + 1 begins */
  for (int64_t i = 0; i < corners; ++i) k->around[k->first[m->tris[i] + 1]++] = (int32_t)(i / 3);
}

static int32_t new_leaf(leaf_set *s)
{
  for (int c = 0; c < 4; ++c) {
    s->corner[4 * (int64_t)s->num + c] = -1;
    s->owned[4 * (int64_t)s->num + c] = c < 3 ? -1 : 0;
  }
  return s->num++;
}

/* Gives edge e to the first of its triangles that has a free place for it; 0: none has. */
static int give_to_triangle(maker *k, int32_t e)
{
  const int32_t u = k->m->edges[2 * (int64_t)e], v = k->m->edges[2 * (int64_t)e + 1];
  for (int32_t i = k->first[u]; i < k->first[u + 1]; ++i) {
    const int32_t *const t = k->m->tris + 3 * (int64_t)k->around[i];
    int32_t *const owned = k->out->owned + 4 * (int64_t)k->leaf_of[k->around[i]];
    for (int c = 0; c < 3; ++c) {
      const int32_t p = t[c], q = t[(c + 1) % 3];
      if (owned[c] >= 0 || !((p == u && q == v) || (p == v && q == u))) continue;
      owned[c] = e;
      return 1;
    }
  }
  return 0;
}

static void own_corners(maker *k, int32_t leaf)
{
  for (int c = 0; c < 3; ++c) {
    const int32_t v = k->out->corner[4 * (int64_t)leaf + c];
    if (v < 0 || k->has[v]) continue;
    k->has[v] = 1;
    k->out->owned[4 * (int64_t)leaf + 3] |= 1 << c;
  }
}

static void build_leaf_range(maker *k, int32_t first_tri, int32_t end_tri, int32_t first_edge,
                             int32_t end_edge)
{
  leaf_set *const s = k->out;
  const int32_t first = s->num;
  for (int32_t t = first_tri; t < end_tri; ++t) {
    const int32_t leaf = new_leaf(s);
    k->leaf_of[t] = leaf;
    memcpy(s->corner + 4 * (int64_t)leaf, k->m->tris + 3 * (int64_t)t, 3 * sizeof *s->corner);
    s->corner[4 * (int64_t)leaf + 3] = t;
  }
  for (int32_t e = first_edge; e < end_edge; ++e) {
    if (give_to_triangle(k, e)) continue;
    const int32_t leaf = new_leaf(s);
    memcpy(s->corner + 4 * (int64_t)leaf, k->m->edges + 2 * (int64_t)e, 2 * sizeof *s->corner);
    s->owned[4 * (int64_t)leaf] = e;
  }
  for (int32_t leaf = first; leaf < s->num; ++leaf) own_corners(k, leaf);
}

int leaves_make(const mesh_faces *m, leaf_set *out)
{
  const size_t nv = (size_t)m->num_verts, nt = (size_t)m->num_tris, ne = (size_t)m->num_edges;
  maker k = {.m = m, .out = out};
  memset(out, 0, sizeof *out);
  k.first = malloc((nv + 2) * sizeof *k.first);
  k.around = malloc((3 * nt + 1) * sizeof *k.around);
  k.leaf_of = malloc((nt + 1) * sizeof *k.leaf_of);
  k.has = calloc(nv + 1, 1);
  out->corner = malloc((nt + ne + 1) * 4 * sizeof *out->corner);
  out->owned = malloc((nt + ne + 1) * 4 * sizeof *out->owned);
  const int ok = k.first != NULL && k.around != NULL && k.leaf_of != NULL && k.has != NULL &&
                 out->corner != NULL && out->owned != NULL;
  if (ok) {
    build_leaf_adjacency(&k);
    build_leaf_range(&k, 0, m->cloth_tris, 0, m->cloth_edges);
    out->num_cloth = out->num;
    build_leaf_range(&k, m->cloth_tris, m->num_tris, m->cloth_edges, m->num_edges);
  }
  free(k.has);
  free(k.leaf_of);
  free(k.around);
  free(k.first);
  return ok;
}

void leaves_free(leaf_set *s)
{
  free(s->corner);
  free(s->owned);
  memset(s, 0, sizeof *s);
}
