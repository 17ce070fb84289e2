/* ogc.kern.c - see ogc.kern.h and ogc_law.kern.h. */
#include "ogc.kern.h"

#include "ogc_law.kern.h"

LK_FN void ogc_law(const lk_real *number, lk_real xi, lk_real D, lk_real *b)
{
  lk_real d, e[3];
  ogc_of_gap(number[0], number[1], pair_gap(xi, D, &d), e);
  pair_law_of_gap(d, D, e, b);
}

#define PAIR(name) ogc_##name
#define PAIR_LAW   ogc_law
#include "kit/feature_terms_body.kern.h"
#include "kit/feature_terms_hessian_body.kern.h"
#include "kit/friction_lag_body.kern.h"
#include "kit/pair_mollified_body.kern.h"

/* ---- contacts ---- */

/* 1: the edge with the vertices v [2] may not touch triangles with vertex u. */
LK_FN int ogc_excludes(const feature_lists *f, const int32_t *v, int32_t u)
{
  return v[0] == u || v[1] == u || feature_excludes(f, v[0], u) || feature_excludes(f, v[1], u);
}

/* Is the point q + r of the edge with the vertices v [2] in the block of contact edge `id`, q the
 * closest point on it?  Triangles that the edge may not touch are no part of the surface that it
 * sees: in a sharp fold an edge has to be kept from the next but one, across a triangle that holds
 * an end of it.  A face with a direction that differs from that of the offset's surface by less
 * than `flat` (cosine) does not end the block: edges of a flat sheet are just between fold and
 * ridge, and their contacts would come and go with the rounding of flat cloth. */
LK_FN int ogc_holds_point(const ogc_edges_args *a, int32_t id, const int32_t *v, const lk_real *q,
                          const lk_real *r)
{
  const int32_t edge = a->f.of_edge[id], feature = a->f.points + edge;
  for (int64_t k = a->f.first[feature]; k < a->f.first[feature + 1]; ++k) {
    lk_real u[3], d[3];
    if (ogc_excludes(&a->f, v, a->f.ring[k])) continue;
    cand_position(&a->s, a->f.ring[k], u);
    lk_sub3(u, q, d);
    if (lk_dot3(r, d) > a->flat * lk_norm3(r) * lk_norm3(d)) return 0;
  }
  return 1;
}

/* m, from the closest point, with the weights w [2], to the nearer end of an edge */
LK_FN lk_real ogc_end_distance(const lk_real *x, const lk_real *w)
{
  lk_real e[3];
  lk_sub3(x + 3, x, e);
  return LK_FMIN(LK_FABS(w[0]), LK_FABS(w[1])) * lk_norm3(e);
}

/* Edges are no contact where the vertex at an end of one is within the gap of the edges and the
 * share `end` of it from the other edge: the vertex has the contact.  With 0, contacts of sheets
 * with equal meshes, one exactly over the other, came and went with rounding.  A share of the
 * edge's length left out edges far nearer to each other than the vertex, which no force kept apart.
 */
LK_FN int ogc_holds_edges(const ogc_edges_args *a, lk_int c)
{
  const int32_t first = (int32_t)(a->key[c] >> 32 & 0x7fffffffu);
  const int32_t second = (int32_t)(a->key[c] & 0x7fffffffu);
  const int32_t *const v = a->s.v + 4 * c;
  lk_real x[12], w[4], r[3], p[3], q[3], back[3];
  if (a->f.of_edge[first] < 0 || a->f.of_edge[second] < 0) return 1; /* no triangle has its ends */
  const lk_real D = cand_pair(&a->s, c, x, w), gap = LK_FMAX(LK_SQRT(D) - a->s.xi[c], LK_R(0.0));
  const lk_real end = LK_FMIN(ogc_end_distance(x, w), ogc_end_distance(x + 6, w + 2));
  if (!(LK_SQRT(D + end * end) - a->s.xi[c] > (LK_R(1.0) + a->end) * gap)) return 0;
  dist_combine(x, w, r);
  for (int k = 0; k < 3; ++k) {
    p[k] = w[0] * x[k] + w[1] * x[3 + k];
    q[k] = p[k] - r[k];
    back[k] = -r[k];
  }
  return ogc_holds_point(a, second, v, q, r) && ogc_holds_point(a, first, v + 2, p, back);
}

LK_KERNEL_PLAIN(ogc_edges, a, c)
{
  if (a->add && a->in[c]) return;
  a->in[c] = pair_is_edges(a->s.kind[c]) && ogc_holds_edges(a, c);
}

LK_REDUCE_SUM_PLAIN(ogc_new_edges, a, c)
{
  if (a->in[c] || !pair_is_edges(a->s.kind[c])) return LK_R(0.0);
  return ogc_holds_edges(a, c) ? LK_R(1.0) : LK_R(0.0);
}

LK_KERNEL_PLAIN(ogc_choose, a, c)
{
  if (!a->flag[c]) return;
  if (pair_is_edges(a->s.kind[c]))
    a->flag[c] = a->in[c];
  else if (!a->terms && feature_is_triangle(a->s.kind[c]))
    a->flag[c] = feature_acts(&a->f, &a->s, a->key, c);
}
