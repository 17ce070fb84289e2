/* objects.kern.c - kernels of objects.h, common subset of C11 and C++17. */
#include "run/objects/objects.kern.h"

LK_KERNEL_PLAIN(run_object_sum, a, s)
{
  for (int c = 0; c < a->width; ++c) {
    lk_real sum = LK_R(0.0);
    for (lk_int j = a->first[s]; j < a->end[s]; ++j) sum += a->from[(int64_t)a->width * j + c];
    a->to[(int64_t)a->width * s + c] = sum;
  }
}

LK_FN void cross_product3(const lk_real *p, const lk_real *q, lk_real *out)
{
  out[0] = p[1] * q[2] - p[2] * q[1];
  out[1] = p[2] * q[0] - p[0] * q[2];
  out[2] = p[0] * q[1] - p[1] * q[0];
}

/* x and u of a vertex, relative to the object's anchor */
LK_FN void from_anchor(const object_rows_args *a, lk_int s, lk_int i, lk_real *x, lk_real *u)
{
  const lk_int k = a->anchor[a->owner[s]];
  for (int c = 0; c < 3; ++c) {
    const lk_real xi = a->x[3 * i + c], xk = a->x[3 * k + c];
    x[c] = xi - xk;
    u[c] = (a->y[3 * i + c] - xi) - (a->y[3 * k + c] - xk);
  }
}

LK_KERNEL_PLAIN(run_object_moments, a, s)
{
  lk_real sum[OBJ_MOMENTS];
  for (int c = 0; c < OBJ_MOMENTS; ++c) sum[c] = LK_R(0.0);
  for (lk_int i = a->first[s]; i < a->end[s]; ++i) {
    lk_real x[3], u[3], turn[3];
    const lk_real m = a->m[i];
    if (a->fixed[i]) continue;
    from_anchor(a, s, i, x, u);
    cross_product3(x, u, turn);
    sum[OBJ_MASS] += m;
    for (int c = 0; c < 3; ++c) {
      sum[OBJ_PLACE + c] += m * x[c];
      sum[OBJ_WAY + c] += m * u[c];
      sum[OBJ_SECOND + c] += m * x[c] * x[c];
      sum[OBJ_TURN + c] += m * turn[c];
      sum[OBJ_REACH] += m * a->x[3 * i + c] * a->x[3 * i + c];
    }
    sum[OBJ_SECOND + 3] += m * x[0] * x[1];
    sum[OBJ_SECOND + 4] += m * x[0] * x[2];
    sum[OBJ_SECOND + 5] += m * x[1] * x[2];
  }
  for (int c = 0; c < OBJ_MOMENTS; ++c) a->to[(int64_t)OBJ_MOMENTS * s + c] = sum[c];
}

/* w of (A + e tr(A) 1) w = b, A symmetric: xx yy zz xy xz yz.  e leaves a line, which cannot turn
 * about itself, at rest about it. */
LK_FN void solve_inertia(const lk_real *A, const lk_real *b, lk_real *w)
{
  const lk_real e = (sizeof(lk_real) == 8 ? LK_R(1e-10) : LK_R(1e-5)) * (A[0] + A[1] + A[2]);
  const lk_real p = A[0] + e, q = A[1] + e, r = A[2] + e;
  const lk_real xx = q * r - A[5] * A[5], xy = A[4] * A[5] - A[3] * r, xz = A[3] * A[5] - A[4] * q;
  const lk_real yy = p * r - A[4] * A[4], yz = A[3] * A[4] - p * A[5], zz = p * q - A[3] * A[3];
  const lk_real det = p * xx + A[3] * xy + A[4] * xz;
  const lk_real k = det > LK_R(0.0) ? LK_R(1.0) / det : LK_R(0.0);
  w[0] = k * (xx * b[0] + xy * b[1] + xz * b[2]);
  w[1] = k * (xy * b[0] + yy * b[1] + yz * b[2]);
  w[2] = k * (xz * b[0] + yz * b[1] + zz * b[2]);
}

/* The rigid motion t + w cross (x - c) that is nearest to u in the mass-weighted mean of squares:
 * t is the mean of u, and w the angular momentum over the moment of inertia, about the centre. */
LK_KERNEL_PLAIN(run_object_fit, a, o)
{
  const lk_real *const s = a->sums + (int64_t)OBJ_MOMENTS * o;
  lk_real *const f = a->fit + (int64_t)FIT_NUMBERS * o;
  const lk_real M = s[OBJ_MASS];
  lk_real second[6], inertia[6], turn[3], of_mean[3];
  f[FIT_MASS] = M;
  f[FIT_REACH] = M > LK_R(0.0) ? LK_SQRT(s[OBJ_REACH] / M) : LK_R(0.0);
  for (int c = 0; c < 3; ++c) {
    f[FIT_CENTRE + c] = M > LK_R(0.0) ? s[OBJ_PLACE + c] / M : LK_R(0.0);
    f[FIT_SHIFT + c] = M > LK_R(0.0) ? s[OBJ_WAY + c] / M : LK_R(0.0);
  }
  const lk_real *const at = f + FIT_CENTRE;
  for (int c = 0; c < 3; ++c) second[c] = s[OBJ_SECOND + c] - M * at[c] * at[c];
  second[3] = s[OBJ_SECOND + 3] - M * at[0] * at[1];
  second[4] = s[OBJ_SECOND + 4] - M * at[0] * at[2];
  second[5] = s[OBJ_SECOND + 5] - M * at[1] * at[2];
  const lk_real trace = second[0] + second[1] + second[2];
  for (int c = 0; c < 3; ++c) inertia[c] = trace - second[c];
  for (int c = 3; c < 6; ++c) inertia[c] = -second[c];
  cross_product3(at, f + FIT_SHIFT, of_mean);
  for (int c = 0; c < 3; ++c) turn[c] = s[OBJ_TURN + c] - M * of_mean[c];
  solve_inertia(inertia, turn, f + FIT_TURN);
}

LK_KERNEL_PLAIN(run_object_deviation, a, s)
{
  const lk_real *const f = a->fit + (int64_t)FIT_NUMBERS * a->owner[s];
  lk_real sum = LK_R(0.0);
  for (lk_int i = a->first[s]; i < a->end[s]; ++i) {
    lk_real x[3], u[3], turned[3];
    if (a->fixed[i]) continue;
    from_anchor(a, s, i, x, u);
    for (int c = 0; c < 3; ++c) x[c] -= f[FIT_CENTRE + c];
    cross_product3(f + FIT_TURN, x, turned);
    for (int c = 0; c < 3; ++c) {
      const lk_real d = u[c] - f[FIT_SHIFT + c] - turned[c];
      sum += a->m[i] * d * d;
    }
  }
  a->to[s] = sum;
}

LK_KERNEL_PLAIN(run_object_residual, a, s)
{
  lk_real sum = LK_R(0.0);
  for (lk_int i = a->first[s]; i < a->end[s]; ++i) {
    lk_real g[3];
    if (a->fixed[i]) continue;
    LK_LOAD3(g, a->g, i);
    sum += (g[0] * g[0] + g[1] * g[1] + g[2] * g[2]) / a->m[i];
  }
  a->to[s] = sum;
}

LK_KERNEL_PLAIN(run_object_ends, a, s)
{
  lk_real sum[END_MOMENTS];
  for (int c = 0; c < END_MOMENTS; ++c) sum[c] = LK_R(0.0);
  for (lk_int i = a->first[s]; i < a->end[s]; ++i) {
    lk_real x[3], v[3], g[3] = {LK_R(0.0), LK_R(0.0), LK_R(0.0)}, spin[3], torque[3];
    const lk_real m = a->m[i];
    if (a->fixed[i]) continue;
    for (int c = 0; c < 3; ++c) x[c] = a->x[3 * i + c] - a->x[c];
    LK_LOAD3(v, a->y, i);
    if (a->g) LK_LOAD3(g, a->g, i);
    cross_product3(x, v, spin);
    cross_product3(x, g, torque);
    sum[END_MASS] += m;
    for (int c = 0; c < 3; ++c) {
      sum[END_PLACE + c] += m * x[c];
      sum[END_LINEAR + c] += m * v[c];
      sum[END_ANGULAR + c] += m * spin[c];
      sum[END_FORCE + c] += g[c];
      sum[END_TORQUE + c] += torque[c];
      sum[END_SPREAD] += m * x[c] * x[c];
    }
  }
  for (int c = 0; c < END_MOMENTS; ++c) a->to[(int64_t)END_MOMENTS * s + c] = sum[c];
}

/* Rounding of positions, eps |x|, is in x - y as it is, and in h^2 f/m times h^2 D/m, D the
 * stiffness of a vertex.  The shares were measured in free fall: see precision.c. */
LK_FN lk_real rounding_floor(const object_bound_args *a, lk_int o)
{
  const lk_real reach = a->fit[(int64_t)FIT_NUMBERS * o + FIT_REACH];
  return a->eps * reach * (LK_R(0.5) + LK_R(0.2) * a->h2 * a->gain[o]);
}

LK_KERNEL_PLAIN(run_object_bound, a, o)
{
  const lk_real M = a->fit[(int64_t)FIT_NUMBERS * o + FIT_MASS];
  const lk_real own = M > LK_R(0.0) ? LK_FMIN(a->sums[o] / M, a->most) : LK_R(0.0);
  const lk_real floor = rounding_floor(a, o);
  lk_real near = a->tol_abs, rel = LK_R(0.0);
  a->ref[o] = LK_SQRT(a->fall * a->fall + own);
  if (near < LK_R(0.0))
    near = a->tol_acc_h2 > LK_R(0.0) ? LK_FMAX(a->tol_acc_h2, floor) : LK_R(0.0);
  if (a->tol_rel > LK_R(0.0)) rel = LK_FMAX(a->tol_rel * a->ref[o], floor);
  a->near[o] = near;
  a->bound[o] = LK_FMAX(near, rel);
}

LK_KERNEL_PLAIN(run_object_scene, a, i)
{
  lk_real sum = LK_R(0.0), mass = LK_R(0.0);
  for (lk_int o = 0; o < a->num; ++o) {
    const lk_real M = a->fit[(int64_t)FIT_NUMBERS * o + FIT_MASS];
    sum += M * a->ref[o] * a->ref[o];
    mass += M;
  }
  a->out[3 * i] = mass > LK_R(0.0) ? LK_SQRT(sum / mass) : LK_R(0.0);
  a->out[3 * i + 1] = a->near[0];
  a->out[3 * i + 2] = a->bound[0];
}

LK_KERNEL_PLAIN(run_object_all, a, c)
{
  lk_real sum = LK_R(0.0);
  for (lk_int o = 0; o < a->num; ++o) sum += a->sums[(int64_t)a->width * o + c];
  a->out[c] = sum;
}

LK_FN lk_real over_bound(const object_over_args *a, lk_int o)
{
  const lk_real M = a->fit[(int64_t)FIT_NUMBERS * o + FIT_MASS];
  const lk_real rms = M > LK_R(0.0) ? a->h2 * LK_SQRT(a->sums[o] / M) : LK_R(0.0);
  if (a->bound[o] > LK_R(0.0)) return rms / a->bound[o];
  return rms > LK_R(0.0) ? LK_REAL_MAX : rms;
}

LK_REDUCE_MAX(run_object_over, a, o) { return over_bound(a, o); }

LK_KERNEL(run_object_ratio, a, o) { a->ratio[o] = over_bound(&a->of, o); }
