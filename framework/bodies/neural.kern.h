/* neural.kern.h - a body that bends at joints, its distance from shallow networks (Akar et al.
 * 2024).
 *
 * A region j has a network phi_j in the frame of its joint's parent and a box in that frame.  The
 * network has no meaning outside of the box:
 *   f_j = min(phi_j, clamp)        within the box; further away only "at least clamp" was learnt
 *         distance to the box + margin   outside: never more than the distance to the region
 * The distance is the least f_j.  With the rule of eq. 1 a region whose box holds the point counts
 * only where its flag says that the skin is nearest; outside of a region its flag is true by
 * convention, so that only negative phi_j ask for it, and where all flags are false all regions
 * count.
 *
 * Within a step parameters go evenly. */
#ifndef LOOM_BODIES_NEURAL_KERN_H
#define LOOM_BODIES_NEURAL_KERN_H

#include "bodies/bend.kern.h"
#include "ssdf/wide.kern.h"

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

/* ---- one point ----
 * `wide`, a constant, says which kernel asks: a GPU has one for bodies with only networks that are
 * narrow, with all channels in registers, and one for all others, a LK_KERNEL_WARP. */
#if defined(__CUDACC__) || defined(LOOM_MEM_SIM_H) /* a simulated device computes as they do */
LK_FN lk_real neural_net_value(int wide, const ssdf_shape *n, const ssdf_params *p,
                               const lk_real *q)
{
  return wide ? ssdf_wide_gradient(n, p, q, NULL) : ssdf_narrow_value(n, p, q);
}

LK_FN lk_real neural_net_gradient(int wide, const ssdf_shape *n, const ssdf_params *p,
                                  const lk_real *q, lk_real *g)
{
  return wide ? ssdf_wide_gradient(n, p, q, g) : ssdf_narrow_gradient(n, p, q, g);
}

LK_FN lk_real neural_net_hessian(int wide, const ssdf_shape *n, const ssdf_params *p,
                                 const lk_real *q, lk_real *g, lk_real *C)
{
  return wide ? ssdf_wide_hessian(n, p, q, g, C) : ssdf_narrow_hessian(n, p, q, g, C);
}
#else
/* a CPU has a large stack, and its loops need not be unrolled: one serves both */
#define neural_wide_value                       neural_value
#define neural_wide_distance                    neural_distance
#define neural_wide_hess                        neural_hess
#define neural_net_value(wide, n, p, q)         ((void)(wide), ssdf_value(n, p, q, NULL))
#define neural_net_gradient(wide, n, p, q, g)   ((void)(wide), ssdf_gradient(n, p, q, g))
#define neural_net_hessian(wide, n, p, q, g, C) ((void)(wide), ssdf_hessian(n, p, q, g, C))
#endif

/* Gradient by forward differences of `step`, as the paper takes it: three more values. */
LK_FN lk_real neural_net_differences(int wide, const ssdf_shape *n, const ssdf_params *p,
                                     const lk_real *q, lk_real step, lk_real *g)
{
  const lk_real v = neural_net_value(wide, n, p, q);
  for (int c = 0; c < SSDF_INPUTS; ++c) {
    lk_real at[SSDF_INPUTS] = {q[0], q[1], q[2]};
    at[c] += step;
    g[c] = (neural_net_value(wide, n, p, at) - v) / step;
  }
  return v;
}

/* Distance to the box, m, 0 within; away [3] from its nearest point. */
LK_FN lk_real neural_box(const neural_region *r, const lk_real *y, lk_real *away)
{
  for (int c = 0; c < 3; ++c) away[c] = y[c] - LK_FMIN(LK_FMAX(y[c], r->lo[c]), r->hi[c]);
  return lk_norm3(away);
}

/* Value of one region at y, in its frame: distance, m, and its derivatives; NULL: not wanted. */
LK_FN lk_real neural_region_value(int wide, const neural_field *f, const neural_region *r,
                                  lk_real s, const lk_real *y, lk_real *g, lk_real *C)
{
  lk_real away[3], q[3];
  const lk_real d = neural_box(r, y, away);
  if (d > LK_R(0.0)) {
    if (g != NULL) { /* for three divisions at once a GPU would have to spill */
      SSDF_ROLLED
      for (int c = 0; c < 3; ++c) g[c] = away[c] / d;
    }
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
    v = neural_net_hessian(wide, &r->distance, &p, q, g, C);
    for (int i = 0; i < 9; ++i) C[i] /= r->half;
  } else if (g == NULL) {
    v = neural_net_value(wide, &r->distance, &p, q);
  } else if (f->difference > LK_R(0.0)) {
    v = neural_net_differences(wide, &r->distance, &p, q, f->difference, g);
  } else {
    v = neural_net_gradient(wide, &r->distance, &p, q, g);
  }
  if (v * r->half < r->clamp) return v * r->half;
  for (int i = 0; i < 9 && C != NULL; ++i) C[i] = LK_R(0.0); /* beyond it is flat */
  return r->clamp;
}

/* 1: the flag says that the skin is nearest. */
LK_FN int neural_flag(int wide, const neural_field *f, const neural_region *r, lk_real s,
                      const lk_real *y)
{
  lk_real q[3];
  if (r->flag.hidden == 0) return 1;
  const ssdf_params p = neural_params(f, &r->flag, r->flag_at, s);
  for (int c = 0; c < 3; ++c) q[c] = (y[c] - r->centre[c]) / r->half;
  return neural_net_value(wide, &r->flag, &p, q) > LK_R(0.0);
}

/* The region that decides at p (body frame); its value and place there. */
LK_FN int32_t neural_choose(int wide, const neural_field *f, lk_real s, const lk_real *p,
                            lk_real *value, obst_pose *P, lk_real *y)
{
  lk_real best[2] = {LK_REAL_MAX, LK_REAL_MAX}; /* with flags, of all */
  int32_t which[2] = {-1, -1};
  for (int32_t k = 0; k < f->num_regions; ++k) {
    const neural_region *const r = &f->region[k];
    obst_pose Q;
    lk_real at[3];
    bend_pose(&f->b, r->frame, s, &Q);
    obst_to_body(&Q, p, at);
    const lk_real v = neural_region_value(wide, f, r, s, at, NULL, NULL);
    for (int all = 0; all < 2; ++all) {
      if (!(v < best[all])) continue;
      if (!all && f->flags && v < LK_R(0.0) && !neural_flag(wide, f, r, s, at)) continue;
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

LK_FN lk_real neural_value_by(int wide, const obst_view *o, lk_real s, const lk_real *p)
{
  obst_pose P;
  lk_real y[3], v;
  (void)neural_choose(wide, neural_of(o), s, p, &v, &P, y);
  return v;
}

LK_FN lk_real neural_distance_by(int wide, const obst_view *o, lk_real s, const lk_real *p,
                                 lk_real *n)
{
  const lk_real up[3] = {LK_R(0.0), LK_R(0.0), LK_R(1.0)};
  const neural_field *const f = neural_of(o);
  obst_pose P;
  lk_real y[3], g[3], world[3], v;
  const int32_t k = neural_choose(wide, f, s, p, &v, &P, y);
  for (int c = 0; c < 3; ++c) n[c] = g[c] = up[c];
  if (k < 0) return v;
  (void)neural_region_value(wide, f, &f->region[k], s, y, g, NULL);
  obst_rotate(&P, g, world);
  (void)obst_unit(world, up, n);
  return v;
}

LK_FN lk_real neural_hess_by(int wide, const obst_view *o, lk_real s, const lk_real *p, lk_real *g,
                             lk_real *C)
{
  const neural_field *const f = neural_of(o);
  obst_pose P;
  lk_real y[3], own[3], H[9], v;
  const int32_t k = neural_choose(wide, f, s, p, &v, &P, y);
  for (int c = 0; c < 3; ++c) g[c] = own[c] = LK_R(0.0);
  for (int i = 0; i < 9; ++i) C[i] = H[i] = LK_R(0.0);
  if (k < 0) return v;
  (void)neural_region_value(wide, f, &f->region[k], s, y, own, H);
  if (!(v < f->region[k].clamp) && v <= f->region[k].clamp) /* flat: training ends here */
    for (int c = 0; c < 3; ++c) own[c] = LK_R(0.0);
  obst_rotate(&P, own, g);
  bend_turn_hess(&P, H, C);
  return v;
}

#define NEURAL_SHAPE(name, wide)                                                         \
  LK_FN_CALLED lk_real name##_value(const obst_view *o, lk_real s, const lk_real *p)     \
  {                                                                                      \
    return neural_value_by(wide, o, s, p);                                               \
  }                                                                                      \
  LK_FN_CALLED lk_real name##_distance(const obst_view *o, lk_real s, const lk_real *p,  \
                                       lk_real *n)                                       \
  {                                                                                      \
    return neural_distance_by(wide, o, s, p, n);                                         \
  }                                                                                      \
  LK_FN lk_real name##_hess(const obst_view *o, lk_real s, const lk_real *p, lk_real *g, \
                            lk_real *C)                                                  \
  {                                                                                      \
    return neural_hess_by(wide, o, s, p, g, C);                                          \
  }
NEURAL_SHAPE(neural, 0)
#ifndef neural_wide_value
NEURAL_SHAPE(neural_wide, 1)
#endif

/* ---- many points ---- */

enum { NEURAL_MANY = 256, NEURAL_CHUNKS = NEURAL_MANY / SSDF_LANES };

/* Points within the box of a region, side by side for its networks. */
typedef struct neural_inside {
  int32_t num, of[NEURAL_MANY];                     /* which points they are */
  float z[NEURAL_CHUNKS][SSDF_INPUTS * SSDF_LANES]; /* places, half sides */
  float value[NEURAL_MANY], slope[NEURAL_CHUNKS][SSDF_INPUTS * SSDF_LANES];
} neural_inside;

/* The least distances so far: [0] by the flags, [1] of all regions. */
typedef struct neural_best {
  lk_real value[2][NEURAL_MANY];
  int32_t region[2][NEURAL_MANY];
} neural_best;

LK_FN void neural_add(neural_inside *in, int32_t i, const float *q)
{
  const int32_t at = in->num++;
  for (int c = 0; c < SSDF_INPUTS; ++c)
    in->z[at / SSDF_LANES][c * SSDF_LANES + at % SSDF_LANES] = q[c];
  in->of[at] = i;
}

/* Lanes that are left over repeat the last point. */
LK_FN int32_t neural_fill_up(neural_inside *in)
{
  const int32_t num = in->num, chunks = (num + SSDF_LANES - 1) / SSDF_LANES;
  for (int32_t at = num; at < chunks * SSDF_LANES; ++at)
    for (int c = 0; c < SSDF_INPUTS; ++c) {
      float *const z = in->z[at / SSDF_LANES] + c * SSDF_LANES;
      z[at % SSDF_LANES] = z[(num - 1) % SSDF_LANES];
    }
  return chunks;
}

/* Values, or else slopes, of a network at the points inside its box. */
LK_FN void neural_ask(const neural_field *f, const ssdf_shape *n, int64_t at, lk_real s,
                      neural_inside *in, int slopes)
{
  const int32_t chunks = neural_fill_up(in);
  const ssdf_params a = neural_params(f, n, at, s);
  float w[SSDF_MAX_PARAMS];
  if (chunks == 0) return;
  ssdf_fold(&a, SSDF_NUM_PARAMS(n->hidden, n->width), w);
  for (int32_t k = 0; k < chunks; ++k)
    if (slopes)
      ssdf_slopes(n, w, in->z[k], in->slope[k]);
    else
      ssdf_values(n, w, in->z[k], in->value + k * SSDF_LANES);
}

/* Distances d [NEURAL_MANY] to the box of a region, m, away from it, and places q, half sides, both
 * [3][NEURAL_MANY]. */
LK_FN void neural_boxes(const neural_region *r, const obst_pose *P, int32_t num, const lk_real *p,
                        lk_real *d, lk_real *away, float *q)
{
  const lk_real *const y = p + NEURAL_MANY, *const z = y + NEURAL_MANY;
  SSDF_SIMD
  for (int32_t i = 0; i < num; ++i) {
    const lk_real x[3] = {p[i] - P->t[0], y[i] - P->t[1], z[i] - P->t[2]};
    lk_real sum = LK_R(0.0);
    for (int c = 0; c < 3; ++c) {
      const lk_real at = P->R[c] * x[0] + P->R[3 + c] * x[1] + P->R[6 + c] * x[2];
      const lk_real below = r->lo[c] - at, above = at - r->hi[c];
      const lk_real out = below > LK_R(0.0) ? -below : above > LK_R(0.0) ? above : LK_R(0.0);
      sum += out * out;
      away[c * NEURAL_MANY + i] = out;
      q[c * NEURAL_MANY + i] = (float)((at - r->centre[c]) / r->half);
    }
    d[i] = LK_SQRT(sum);
  }
}

LK_FN void neural_take(neural_best *b, int which, int32_t i, int32_t region, lk_real v)
{
  if (!(v < b->value[which][i])) return;
  b->value[which][i] = v;
  b->region[which][i] = region;
}

/* Distances of region k at all points. */
LK_FN void neural_region_many(const neural_field *f, int32_t k, lk_real s, int32_t num,
                              const lk_real *p, neural_best *best)
{
  const neural_region *const r = &f->region[k];
  const int flags = f->flags && r->flag.hidden > 0;
  lk_real d[NEURAL_MANY], away[3 * NEURAL_MANY], v[NEURAL_MANY];
  float q[3 * NEURAL_MANY];
  neural_inside in, asked;
  obst_pose P;
  bend_pose(&f->b, r->frame, s, &P);
  neural_boxes(r, &P, num, p, d, away, q);
  in.num = asked.num = 0;
  for (int32_t i = 0; i < num; ++i) {
    const float at[3] = {q[i], q[NEURAL_MANY + i], q[2 * NEURAL_MANY + i]};
    if (!(d[i] > LK_R(0.0)))
      neural_add(&in, i, at);
    else
      for (int all = 0; all < 2; ++all) neural_take(best, all, i, k, d[i] + r->margin);
  }
  neural_ask(f, &r->distance, r->distance_at, s, &in, 0);
  for (int32_t j = 0; j < in.num; ++j) {
    const int32_t i = in.of[j];
    const float at[3] = {q[i], q[NEURAL_MANY + i], q[2 * NEURAL_MANY + i]};
    v[i] = LK_FMIN((lk_real)in.value[j] * r->half, r->clamp);
    neural_take(best, 1, i, k, v[i]);
    if (flags && v[i] < LK_R(0.0) && v[i] < best->value[0][i])
      neural_add(&asked, i, at);
    else
      neural_take(best, 0, i, k, v[i]);
  }
  if (flags) neural_ask(f, &r->flag, r->flag_at, s, &asked, 0);
  for (int32_t j = 0; j < asked.num; ++j)
    if (asked.value[j] > 0.0F) neural_take(best, 0, asked.of[j], k, v[asked.of[j]]);
}

/* Normals n [3][NEURAL_MANY] of the points at which region k decides. */
LK_FN void neural_normals(const neural_field *f, int32_t k, lk_real s, int32_t num,
                          const lk_real *p, const int32_t *region, lk_real *n)
{
  const lk_real up[3] = {LK_R(0.0), LK_R(0.0), LK_R(1.0)};
  const neural_region *const r = &f->region[k];
  lk_real d[NEURAL_MANY], away[3 * NEURAL_MANY];
  float q[3 * NEURAL_MANY];
  neural_inside in;
  obst_pose P;
  bend_pose(&f->b, r->frame, s, &P);
  neural_boxes(r, &P, num, p, d, away, q);
  in.num = 0;
  for (int32_t i = 0; i < num; ++i) {
    const float at[3] = {q[i], q[NEURAL_MANY + i], q[2 * NEURAL_MANY + i]};
    if (region[i] == k && !(d[i] > LK_R(0.0))) neural_add(&in, i, at);
  }
  neural_ask(f, &r->distance, r->distance_at, s, &in, 1);
  for (int32_t j = 0; j < in.num; ++j)
    for (int c = 0; c < 3; ++c)
      away[c * NEURAL_MANY + in.of[j]] =
          (lk_real)in.slope[j / SSDF_LANES][c * SSDF_LANES + j % SSDF_LANES];
  for (int32_t i = 0; i < num; ++i) {
    const lk_real g[3] = {away[i], away[NEURAL_MANY + i], away[2 * NEURAL_MANY + i]};
    lk_real turned[3], unit[3];
    if (region[i] != k) continue;
    obst_rotate(&P, g, turned);
    (void)obst_unit(turned, up, unit);
    for (int c = 0; c < 3; ++c) n[c * NEURAL_MANY + i] = unit[c];
  }
}

/* Values v [NEURAL_MANY], m, and normals n [3][NEURAL_MANY], or NULL, of `num` points p
 * [3][NEURAL_MANY], in the body frame, in single precision.  Parameters are folded once for all; a
 * network is asked only about points within its box, a flag only where it matters. */
LK_FN void neural_many(const obst_view *o, lk_real s, int32_t num, const lk_real *p, lk_real *v,
                       lk_real *n)
{
  const neural_field *const f = neural_of(o);
  neural_best best;
  for (int32_t i = 0; i < num; ++i)
    for (int all = 0; all < 2; ++all) {
      best.value[all][i] = LK_REAL_MAX;
      best.region[all][i] = -1;
    }
  for (int32_t k = 0; k < f->num_regions; ++k) neural_region_many(f, k, s, num, p, &best);
  for (int32_t i = 0; i < num; ++i) {
    const lk_real flagged = best.value[0][i], least = best.value[1][i];
    const int all = best.region[0][i] < 0 || (flagged > LK_R(0.0) && least < LK_R(0.0));
    v[i] = best.value[all][i];
    best.region[0][i] = best.region[all][i];
    for (int c = 0; c < 3 && n != NULL; ++c)
      n[c * NEURAL_MANY + i] = c == 2 ? LK_R(1.0) : LK_R(0.0);
  }
  for (int32_t k = 0; k < f->num_regions && n != NULL; ++k)
    neural_normals(f, k, s, num, p, best.region[0], n);
}

/* Whether normals may be asked for with many points at once; differences need all digits. */
LK_FN int neural_has_many_normals(const obst_view *o)
{
  return !(neural_of(o)->difference > LK_R(0.0));
}

#endif
