/* neural.kern.h - a body that bends at joints, its distance from shallow networks (Akar et al.
 * 2024).
 *
 * A region j has a network phi_j in the frame of its joint's parent and a box in that frame outside
 * of which the network means nothing:
 *   f_j = min(phi_j, clamp)        within the box; further away only "at least clamp" was learnt
 *         distance to the box + margin   outside: never more than the distance to the region
 * The distance is the least f_j.  With the rule of eq. 1 a region in whose box the point is counts
 * only where its flag says that the skin is nearest; outside of a region its flag is true by
 * convention, so that only negative phi_j ask for it, and where all flags are false all regions
 * count.
 *
 * Within a step parameters go evenly. */
#ifndef LOOM_BODIES_NEURAL_KERN_H
#define LOOM_BODIES_NEURAL_KERN_H

#include "bodies/bend.kern.h"
#include "ssdf/net.kern.h"

enum { NEURAL_MAX_REGIONS = 16 };

typedef struct neural_region {
  int32_t frame; /* of bend_head.frame; -1: the body's own */
  ssdf_shape distance, flag;
  int64_t distance_at, flag_at; /* parameters at the start of the step, and then at its end */
  lk_real centre[3], half;      /* m */
  lk_real lo[3], hi[3];         /* m */
  lk_real margin, clamp;        /* m */
} neural_region;

/* Filled on the host for every step; parameters are the own array. */
typedef struct neural_field {
  bend_head b;
  int32_t num_regions;
  int32_t flags;      /* 1: the rule of eq. 1 */
  lk_real difference; /* above 0: gradients by forward differences of this (half sides) */
  neural_region region[NEURAL_MAX_REGIONS];
} neural_field;

LK_FN const neural_field *neural_of(const obst_view *o) { return (const neural_field *)o->field; }

LK_FN ssdf_params neural_params(const neural_field *f, const ssdf_shape *n, int64_t at, lk_real s)
{
  const lk_real *const w =
      (const lk_real *)(const void *)((const unsigned char *)f + f->b.own_at) + at;
  ssdf_params p;
  p.w0 = w;
  p.w1 = w + SSDF_NUM_PARAMS(n->hidden, n->width);
  p.s = s;
  return p;
}

/* Distance to the box, m, 0 within; away [3] from its nearest point. */
LK_FN lk_real neural_box(const neural_region *r, const lk_real *y, lk_real *away)
{
  for (int c = 0; c < 3; ++c) away[c] = y[c] - LK_FMIN(LK_FMAX(y[c], r->lo[c]), r->hi[c]);
  return LK_SQRT(obst_dot(away, away));
}

/* What one region says at y, in its frame: distance, m, and its derivatives; NULL: not wanted. */
LK_FN lk_real neural_region_value(const neural_field *f, const neural_region *r, lk_real s,
                                  const lk_real *y, lk_real *g, lk_real *C)
{
  lk_real away[3], q[3];
  const lk_real d = neural_box(r, y, away);
  if (d > LK_R(0.0)) {
    for (int c = 0; c < 3 && g != NULL; ++c) g[c] = away[c] / d;
    for (int i = 0; i < 9 && C != NULL; ++i) {
      const lk_real out = i % 4 == 0 && away[i / 3] != LK_R(0.0) ? LK_R(1.0) : LK_R(0.0);
      C[i] = (out - g[i / 3] * g[i % 3]) / d;
    }
    return d + r->margin;
  }
  const ssdf_params p = neural_params(f, &r->distance, r->distance_at, s);
  for (int c = 0; c < 3; ++c) q[c] = (y[c] - r->centre[c]) / r->half;
  lk_real v;
  if (C != NULL) {
    v = ssdf_hessian(&r->distance, &p, q, g, C);
    for (int i = 0; i < 9; ++i) C[i] /= r->half;
  } else if (g == NULL) {
    v = ssdf_value(&r->distance, &p, q, NULL);
  } else if (f->difference > LK_R(0.0)) {
    v = ssdf_differences(&r->distance, &p, q, f->difference, g);
  } else {
    v = ssdf_gradient(&r->distance, &p, q, g);
  }
  if (v * r->half < r->clamp) return v * r->half;
  for (int i = 0; i < 9 && C != NULL; ++i) C[i] = LK_R(0.0); /* beyond it is flat */
  return r->clamp;
}

/* 1: the flag says that the skin is nearest. */
LK_FN int neural_flag(const neural_field *f, const neural_region *r, lk_real s, const lk_real *y)
{
  lk_real q[3];
  if (r->flag.hidden == 0) return 1;
  const ssdf_params p = neural_params(f, &r->flag, r->flag_at, s);
  for (int c = 0; c < 3; ++c) q[c] = (y[c] - r->centre[c]) / r->half;
  return ssdf_value(&r->flag, &p, q, NULL) > LK_R(0.0);
}

/* The region that decides at p (body frame); its value and place there. */
LK_FN int32_t neural_choose(const neural_field *f, lk_real s, const lk_real *p, lk_real *value,
                            obst_pose *P, lk_real *y)
{
  lk_real best[2] = {LK_REAL_MAX, LK_REAL_MAX}; /* with flags, of all */
  int32_t which[2] = {-1, -1};
  for (int32_t k = 0; k < f->num_regions; ++k) {
    const neural_region *const r = &f->region[k];
    obst_pose Q;
    lk_real at[3];
    bend_pose(&f->b, r->frame, s, &Q);
    obst_to_body(&Q, p, at);
    const lk_real v = neural_region_value(f, r, s, at, NULL, NULL);
    for (int all = 0; all < 2; ++all) {
      if (!(v < best[all])) continue;
      if (!all && f->flags && v < LK_R(0.0) && !neural_flag(f, r, s, at)) continue;
      best[all] = v;
      which[all] = k;
    }
  }
  const int fall_back = which[0] < 0 || (best[0] > LK_R(0.0) && best[1] < LK_R(0.0));
  const int32_t k = which[fall_back];
  *value = best[fall_back];
  if (k < 0) return -1;
  bend_pose(&f->b, f->region[k].frame, s, P);
  obst_to_body(P, p, y);
  return k;
}

LK_FN lk_real neural_value(const obst_view *o, lk_real s, const lk_real *p)
{
  obst_pose P;
  lk_real y[3], v;
  (void)neural_choose(neural_of(o), s, p, &v, &P, y);
  return v;
}

LK_FN lk_real neural_distance(const obst_view *o, lk_real s, const lk_real *p, lk_real *n)
{
  const lk_real up[3] = {LK_R(0.0), LK_R(0.0), LK_R(1.0)};
  const neural_field *const f = neural_of(o);
  obst_pose P;
  lk_real y[3], g[3], world[3], v;
  const int32_t k = neural_choose(f, s, p, &v, &P, y);
  for (int c = 0; c < 3; ++c) n[c] = g[c] = up[c];
  if (k < 0) return v;
  (void)neural_region_value(f, &f->region[k], s, y, g, NULL);
  obst_rotate(&P, g, world);
  (void)obst_unit(world, up, n);
  return v;
}

LK_FN lk_real neural_hess(const obst_view *o, lk_real s, const lk_real *p, lk_real *g, lk_real *C)
{
  const neural_field *const f = neural_of(o);
  obst_pose P;
  lk_real y[3], own[3], H[9], v;
  const int32_t k = neural_choose(f, s, p, &v, &P, y);
  for (int c = 0; c < 3; ++c) g[c] = own[c] = LK_R(0.0);
  for (int i = 0; i < 9; ++i) C[i] = H[i] = LK_R(0.0);
  if (k < 0) return v;
  (void)neural_region_value(f, &f->region[k], s, y, own, H);
  if (!(v < f->region[k].clamp) && v <= f->region[k].clamp) /* flat: what is learnt ends here */
    for (int c = 0; c < 3; ++c) own[c] = LK_R(0.0);
  obst_rotate(&P, own, g);
  bend_turn_hess(&P, H, C);
  return v;
}

/* ---- many points ---- */

/* Values v [SSDF_LANES], m, at p [3][SSDF_LANES] in the body frame, in single precision. Parameters
 * are folded once for all lanes; a region whose box no lane is in asks no network. */
LK_FN void neural_values(const obst_view *o, lk_real s, const lk_real *p, lk_real *v)
{
  const neural_field *const f = neural_of(o);
  float w[SSDF_MAX_PARAMS], q[3 * SSDF_LANES], y[SSDF_LANES], flag[SSDF_LANES];
  lk_real all[SSDF_LANES];
  for (int l = 0; l < SSDF_LANES; ++l) v[l] = all[l] = LK_REAL_MAX;
  for (int32_t k = 0; k < f->num_regions; ++k) {
    const neural_region *const r = &f->region[k];
    lk_real out[SSDF_LANES];
    int any = 0, negative = 0;
    obst_pose P;
    bend_pose(&f->b, r->frame, s, &P);
    for (int l = 0; l < SSDF_LANES; ++l) {
      const lk_real x[3] = {p[l], p[SSDF_LANES + l], p[2 * SSDF_LANES + l]};
      lk_real at[3], away[3];
      obst_to_body(&P, x, at);
      out[l] = neural_box(r, at, away);
      any |= out[l] <= LK_R(0.0);
      for (int c = 0; c < 3; ++c) q[c * SSDF_LANES + l] = (float)((at[c] - r->centre[c]) / r->half);
    }
    if (any) {
      const ssdf_params a = neural_params(f, &r->distance, r->distance_at, s);
      ssdf_fold(&a, SSDF_NUM_PARAMS(r->distance.hidden, r->distance.width), w);
      ssdf_values(&r->distance, w, q, y);
    }
    for (int l = 0; l < SSDF_LANES; ++l) {
      const int within = out[l] <= LK_R(0.0);
      out[l] = within ? LK_FMIN((lk_real)y[l] * r->half, r->clamp) : out[l] + r->margin;
      all[l] = LK_FMIN(all[l], out[l]);
      negative |= within && out[l] < LK_R(0.0) && out[l] < v[l];
    }
    if (negative && f->flags && r->flag.hidden > 0) {
      const ssdf_params a = neural_params(f, &r->flag, r->flag_at, s);
      ssdf_fold(&a, SSDF_NUM_PARAMS(r->flag.hidden, r->flag.width), w);
      ssdf_values(&r->flag, w, q, flag);
      for (int l = 0; l < SSDF_LANES; ++l)
        if (out[l] < LK_R(0.0) && !(flag[l] > 0.0F)) out[l] = LK_REAL_MAX;
    }
    for (int l = 0; l < SSDF_LANES; ++l) v[l] = LK_FMIN(v[l], out[l]);
  }
  for (int l = 0; l < SSDF_LANES; ++l)
    if (v[l] > LK_R(0.0) && all[l] < LK_R(0.0)) v[l] = all[l];
}

#endif
