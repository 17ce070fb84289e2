/* test_body_kinds.c - kinds of bodies against their own outlines, which know no distance, and the
 * keys that they share. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "bodies/body.h"
#include "config/config.h"
#include "mesh/mesh.h"
#include "support/test_host.h"

static double kind_vector_length(const double *v)
{
  return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

/* Squared distances, m^2, of p from the segment a b, and from a triangle: the foot in its plane if
 * that lies inside, else the closest point of the sides. */
static double to_segment(const double *p, const double *a, const double *b)
{
  double ab[3], d[3], len = 0, at = 0, sum = 0;
  for (int c = 0; c < 3; ++c) {
    ab[c] = b[c] - a[c];
    len += ab[c] * ab[c];
    at += ab[c] * (p[c] - a[c]);
  }
  const double u = fmin(1, fmax(0, len > 0 ? at / len : 0));
  for (int c = 0; c < 3; ++c) {
    d[c] = p[c] - a[c] - u * ab[c];
    sum += d[c] * d[c];
  }
  return sum;
}

static double to_triangle(const double *p, const double *const x[3])
{
  double u[3], v[3], d[3], n[3], nn = 0, h = 0, best = INFINITY;
  int inside = 1;
  for (int c = 0; c < 3; ++c) {
    u[c] = x[1][c] - x[0][c];
    v[c] = x[2][c] - x[0][c];
    d[c] = p[c] - x[0][c];
  }
  lk_cross3(u, v, n);
  for (int c = 0; c < 3; ++c) {
    nn += n[c] * n[c];
    h += n[c] * d[c];
  }
  for (int k = 0; k < 3; ++k) {
    const double *const a = x[k], *const b = x[(k + 1) % 3];
    double e[3], f[3], side[3];
    for (int c = 0; c < 3; ++c) {
      e[c] = b[c] - a[c];
      f[c] = p[c] - a[c];
    }
    lk_cross3(e, f, side);
    inside &= lk_dot3(side, n) >= 0;
    best = fmin(best, to_segment(p, a, b));
  }
  return inside && nn > 0 ? h * h / nn : best;
}

/* Inside a closed surface of outward normals the solid angles of its triangles add up to 4 pi. */
static double solid_angle(const double *p, const double *const x[3])
{
  double r[3][3], len[3], n[3];
  for (int k = 0; k < 3; ++k) {
    for (int c = 0; c < 3; ++c) r[k][c] = x[k][c] - p[c];
    len[k] = kind_vector_length(r[k]);
  }
  lk_cross3(r[1], r[2], n);
  return 2 *
         atan2(lk_dot3(r[0], n), len[0] * len[1] * len[2] + lk_dot3(r[0], r[1]) * len[2] +
                                     lk_dot3(r[0], r[2]) * len[1] + lk_dot3(r[1], r[2]) * len[0]);
}

static double to_outline(const mesh *m, const double *p)
{
  double best = INFINITY, angle = 0;
  for (int64_t t = 0; t < m->num_tris; ++t) {
    const double *x[3];
    for (int k = 0; k < 3; ++k) x[k] = m->x + 3 * (int64_t)m->tris[3 * t + k];
    best = fmin(best, to_triangle(p, x));
    angle += solid_angle(p, x);
  }
  return fabs(angle) > 6.28 ? -sqrt(best) : sqrt(best);
}

/* Every kind that has an outline, with its defaults: a new shape is tested without a line here. */
Test(body_kinds, distances_are_those_from_the_outline)
{
  const double layers[] = {0, 0.02}, edge = 0.01;
  uint64_t s = 11;
  int kinds = 0;
  for (int i = 0; i < 2 * BODY_NUM_CLOSED; ++i) {
    const body_kind *const kind = body_kind_at(i / 2);
    loom_obstacle o = th_obstacle(kind->name, (const loom_real[8]){0}, 8);
    loom_err err = {0};
    const char *key;
    body_keys own;
    obst_view v;
    mesh m;
    if (kind->outline == NULL) continue;
    cfg_defaults(kind->params, kind->num_params, &own);
    cr_assert(kind->open(&own, layers[i % 2], &o, &key) == NULL);
    cr_assert(obst_view_fill(&o, &v) == NULL);
    cr_assert_eq(kind->outline(&err, &own, layers[i % 2], edge, &m), LOOM_OK, "%s", err.text);
    int inside = 0;
    for (int k = 0; k < 150; ++k) {
      lk_real p[3], n[3];
      for (int c = 0; c < 3; ++c) p[c] = LK_R(0.3) * th_random(&s);
      const double have = obst_distance_body(&v, p, n), want = to_outline(&m, p);
      /* chords of 0.01 m leave circles of 0.05 m by 2.5e-4 m; a rim of 0.02 m in sides of 22.5
       * degrees is left by 4e-4 m, a round corner by twice as much */
      cr_assert(fabs(have - want) < 8e-4, "%s, point %d: %g, from its outline %g", kind->name, k,
                have, want);
      inside += have < 0;
    }
    cr_expect(inside > 1, "%s: %d points inside", kind->name, inside);
    mesh_free(&m);
    ++kinds;
  }
  cr_expect(kinds >= 10, "%d", kinds);
}

/* Kinds that share a key mean the same by it. */
Test(body_kinds, keys_of_several_kinds_agree)
{
  uint32_t count;
  const loom_param *const all = body_kind_keys(&count);
  for (int i = 0; i < BODY_NUM_SHAPES; ++i)
    cr_expect_eq(body_kind_at(i)->shape, i, "%s", body_kind_at(i)->name);
  for (uint32_t k = 0; k < count; ++k)
    for (int i = 0; i < BODY_NUM_CLOSED; ++i) {
      const loom_param *const p = body_kind_param(i, all[k].key);
      if (p == NULL) continue;
      cr_expect(p->type == all[k].type && p->def == all[k].def && p->min == all[k].min &&
                    p->max == all[k].max && p->flags == all[k].flags &&
                    strcmp(p->unit, all[k].unit) == 0,
                "%s of %s", p->key, body_kind_at(i)->name);
      cr_expect(p->offset + sizeof(double) <= sizeof(body_keys));
    }
  cr_expect(count >= 6);
}
