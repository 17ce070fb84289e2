/* contour.c - where surfaces cross, which way makes the contour shorter. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "geom/vec3.h"
#include "untangle/untangle.h"

/* 0: it has no direction. */
static int normalise_direction(double *a)
{
  const double len = vec3_norm(a);
  if (!(len > 1e-300)) return 0;
  for (int k = 0; k < 3; ++k) a[k] /= len;
  return 1;
}

static void compute_area_normal(const double *x, const int32_t *v, double *n)
{
  double e[3], f[3];
  vec3_sub(x + 3 * (int64_t)v[1], x + 3 * (int64_t)v[0], e);
  vec3_sub(x + 3 * (int64_t)v[2], x + 3 * (int64_t)v[0], f);
  vec3_cross(e, f, n);
}

static int64_t find_topo_edge(const topo *t, const int32_t edge[2])
{
  int64_t lo = 0, hi = t->num_edges;
  while (lo < hi) {
    const int64_t mid = (lo + hi) / 2;
    const int32_t *const e = t->edges + 2 * mid;
    if (e[0] < edge[0] || (e[0] == edge[0] && e[1] < edge[1]))
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

/* The way that edge number e goes, against a triangle with the normal N, to make the contour
 * shorter: G = sum over the triangles at the edge of R - 2 (E.R)/(E.N) N, with R along the contour
 * into the triangle (section 3.2 of the paper). */
static int compute_shrink_direction(const untangle_scene *s, const topo *t, int64_t e,
                                    const double N[3], const double E[3], double G[3])
{
  const int32_t *const ends = t->edges + 2 * e;
  const double en = vec3_dot(E, N);
  memset(G, 0, 3 * sizeof *G);
  for (int64_t k = t->first[e]; k < t->first[e + 1]; ++k) {
    int32_t from, to, third;
    double g[3], R[3], in[3], p[3];
    topo_side(s->tris, t->sides[k], &from, &to, &third);
    const int32_t corners[3] = {from, to, third};
    compute_area_normal(s->x, corners, g);
    if (!normalise_direction(g)) continue;
    vec3_cross(g, N, R);
    if (!normalise_direction(R)) continue; /* in the same plane */
    vec3_sub(s->x + 3 * (int64_t)third, s->x + 3 * (int64_t)ends[0], p);
    const double along = vec3_dot(p, E);
    for (int c = 0; c < 3; ++c) in[c] = p[c] - along * E[c];
    if (vec3_dot(R, in) < 0)
      for (int c = 0; c < 3; ++c) R[c] = -R[c];
    const double share = fabs(en) > 1e-9 ? 2 * vec3_dot(E, R) / en : 0;
    for (int c = 0; c < 3; ++c) G[c] += R[c] - share * N[c];
  }
  return normalise_direction(G);
}

/* Where the edge meets the plane, as shares of its ends and of the corners, all positive. */
static void compute_crossing_shares(const untangle_scene *s, const int32_t ends[2],
                                    const int32_t *v, const double N[3], double w[5])
{
  const double *const p = s->x + 3 * (int64_t)ends[0], *const q = s->x + 3 * (int64_t)ends[1];
  const double *const a = s->x + 3 * (int64_t)v[0];
  double pa[3], qa[3], at[3], e[3], f[3], c[3], n[3];
  vec3_sub(p, a, pa);
  vec3_sub(q, a, qa);
  const double hp = vec3_dot(pa, N), hq = vec3_dot(qa, N);
  const double t = fabs(hp - hq) > 0 ? fmin(fmax(hp / (hp - hq), 0), 1) : 0.5;
  w[0] = 1 - t;
  w[1] = t;
  for (int k = 0; k < 3; ++k) at[k] = pa[k] + t * (q[k] - p[k]);
  vec3_sub(s->x + 3 * (int64_t)v[1], a, e);
  vec3_sub(s->x + 3 * (int64_t)v[2], a, f);
  vec3_cross(e, f, n);
  const double area = vec3_dot(n, n);
  vec3_cross(at, f, c);
  w[3] = fmax(vec3_dot(c, n) / area, 0);
  vec3_cross(e, at, c);
  w[4] = fmax(vec3_dot(c, n) / area, 0);
  w[2] = fmax(1 - w[3] - w[4], 0);
}

static void add_vertex_move(untangle_move *m, int32_t v, double w, double by, const double *G)
{
  for (int c = 0; c < 3; ++c) m->d[3 * (int64_t)v + c] += w * by * G[c];
  m->weight[v] += w;
}

void contour_moves(const untangle_scene *s, const topo *edges, const isect_pair *pairs, int64_t num,
                   double step, untangle_move *m)
{
  for (int64_t k = 0; k < num; ++k) {
    const isect_pair *const p = &pairs[k];
    int64_t at_vert = s->n, at_tri = s->nt; /* of the pair's body */
    for (int b = 0; b < p->body; ++b) at_vert += s->bodies[b].n, at_tri += s->bodies[b].nt;
    const int64_t ev = p->body >= 0 && p->side == 1 ? at_vert : 0;
    const int64_t tt = p->body >= 0 && p->side == 0 ? at_tri : 0;
    const int32_t ends[2] = {(int32_t)(p->edge[0] + ev), (int32_t)(p->edge[1] + ev)};
    const int32_t *const v = s->tris + 3 * (p->tri + tt);
    double N[3], E[3], G[3], w[5];
    compute_area_normal(s->x, v, N);
    vec3_sub(s->x + 3 * (int64_t)ends[1], s->x + 3 * (int64_t)ends[0], E);
    if (!normalise_direction(N) || !normalise_direction(E)) continue;
    if (!compute_shrink_direction(s, edges, find_topo_edge(edges, ends), N, E, G)) continue;
    compute_crossing_shares(s, ends, v, N, w);
    for (int i = 0; i < 2; ++i) add_vertex_move(m, ends[i], w[i], step, G);
    for (int i = 0; i < 3; ++i) add_vertex_move(m, v[i], w[2 + i], -step, G);
  }
}
