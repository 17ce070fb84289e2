/* plate.kern.c - kernels of the plate.
 *
 * Loops over folds stay loops: a fold's vertices are read where the loop stands, and sums of a
 * patch go to its own place in memory, so that a GPU thread keeps one fold in registers. */
#include "elements/plate/plate.kern.h"

#define HINGE_REST PLATE_REST
#include "elements/hinge.kern.h"

#define PLATE_NUM_FOLDS 9

/* 0: the fold takes no part. */
LK_FN int plate_open_fold(const elem_args *a, lk_int i, int f, int *c, hinge_geom *q)
{
  const lk_real *const R = a->rest + (int64_t)PLATE_REST * i + f;
  const int32_t *const v = a->verts + (int64_t)12 * i;
  if (R[0] == LK_R(0.0) && R[9] == LK_R(0.0) && R[18] == LK_R(0.0)) return 0;
  plate_fold_corners(f, c);
  hinge_geometry_at(a->x, v[c[0]], v[c[1]], v[c[2]], v[c[3]], q);
  return 1;
}

/* y [3] = R theta - y0 */
LK_FN void plate_strain(const elem_args *a, lk_int i, lk_real *y)
{
  const lk_real *const R = a->rest + (int64_t)PLATE_REST * i;
  hinge_geom q;
  int c[4];
  y[0] = -R[27];
  y[1] = -R[28];
  y[2] = -R[29];
  LK_ROLLED
  for (int f = 0; f < PLATE_NUM_FOLDS; ++f) {
    if (!plate_open_fold(a, i, f, c, &q)) continue;
    y[0] += R[f] * q.theta;
    y[1] += R[9 + f] * q.theta;
    y[2] += R[18 + f] * q.theta;
  }
}

/* Moment of fold f, N m */
LK_FN lk_real plate_moment(const elem_args *a, lk_int i, int f, const lk_real *y)
{
  const lk_real *const R = a->rest + (int64_t)PLATE_REST * i + f;
  return a->mat[PLATE_MAT * i] * (R[0] * y[0] + R[9] * y[1] + R[18] * y[2]);
}

LK_REDUCE_SUM_PLAIN(plate_energy, a, i)
{
  lk_real y[3];
  plate_strain(a, i, y);
  return LK_R(0.5) * a->mat[PLATE_MAT * i] * lk_dot3(y, y);
}

LK_KERNEL_PLAIN(plate_gradient, a, i)
{
  lk_real y[3], g[12];
  lk_real *const out = a->out + (int64_t)PLATE_SIDE * i;
  hinge_geom q;
  int c[4];
  plate_strain(a, i, y);
  if (a->energy) a->energy[i] = LK_R(0.5) * a->mat[PLATE_MAT * i] * lk_dot3(y, y);
  for (int k = 0; k < PLATE_SIDE; ++k) out[k] = LK_R(0.0);
  LK_ROLLED
  for (int f = 0; f < PLATE_NUM_FOLDS; ++f) {
    if (!plate_open_fold(a, i, f, c, &q)) continue;
    const lk_real moment = plate_moment(a, i, f, y);
    hinge_angle_gradient(&q, g);
    LK_UNROLL
    for (int k = 0; k < 4; ++k) {
      LK_UNROLL
      for (int d = 0; d < 3; ++d) out[3 * c[k] + d] += moment * g[3 * k + d];
    }
  }
}

/* H = D B'B; B [3][36] is what the last three rows of H hold before. */
LK_FN void plate_square(lk_real D, lk_real *H)
{
  lk_real *const B = H + PLATE_SIDE * (PLATE_SIDE - 3);
  lk_real last[9]; /* [component][row] of B's last three columns */
  LK_UNROLL
  for (int k = 0; k < 9; ++k) last[k] = B[PLATE_SIDE * (k % 3) + PLATE_SIDE - 3 + k / 3];
  for (int p = 0; p < PLATE_SIDE - 3; ++p) {
    const lk_real b0 = B[p], b1 = B[PLATE_SIDE + p], b2 = B[2 * PLATE_SIDE + p];
    for (int q = 0; q < PLATE_SIDE; ++q)
      H[PLATE_SIDE * p + q] = D * (b0 * B[q] + b1 * B[PLATE_SIDE + q] + b2 * B[2 * PLATE_SIDE + q]);
  }
  for (int q = 0; q < PLATE_SIDE; ++q) {
    const lk_real b0 = B[q], b1 = B[PLATE_SIDE + q], b2 = B[2 * PLATE_SIDE + q];
    LK_UNROLL
    for (int p = 0; p < 3; ++p)
      B[PLATE_SIDE * p + q] = D * (last[3 * p] * b0 + last[3 * p + 1] * b1 + last[3 * p + 2] * b2);
  }
}

/* H += m_f Hess theta_f */
LK_FN void plate_add_curved(const elem_args *a, lk_int i, lk_real *H)
{
  lk_real y[3], B[16];
  hinge_geom q;
  int c[4];
  plate_strain(a, i, y);
  LK_ROLLED
  for (int f = 0; f < PLATE_NUM_FOLDS; ++f) {
    if (!plate_open_fold(a, i, f, c, &q)) continue;
    const lk_real moment = plate_moment(a, i, f, y);
    LK_ROLLED
    for (int r = 0; r < 3; ++r) {
      LK_ROLLED
      for (int s = 0; s < 3; ++s) {
        hinge_angle_hessian(&q, r, s, B);
        LK_UNROLL
        for (int p = 0; p < 4; ++p) {
          LK_UNROLL
          for (int k = 0; k < 4; ++k)
            H[PLATE_SIDE * (3 * c[p] + r) + 3 * c[k] + s] += moment * B[4 * p + k];
        }
      }
    }
  }
}

LK_KERNEL_PLAIN(plate_moments, a, i)
{
  lk_real y[3];
  plate_strain(a, i, y);
  for (int f = 0; f < PLATE_NUM_FOLDS; ++f)
    a->out[PLATE_NUM_FOLDS * (int64_t)i + f] = plate_moment(a, i, f, y);
}

LK_KERNEL_PLAIN(plate_curved, a, i)
{
  lk_real *const H = a->all.out + (int64_t)(PLATE_CURVED * PLATE_CURVED) * i;
  lk_real B[16];
  hinge_geom q;
  int c[4];
  for (int k = 0; k < PLATE_CURVED * PLATE_CURVED; ++k) H[k] = LK_R(0.0);
  LK_ROLLED
  for (int f = 0; f < 3; ++f) {
    const int32_t lo = a->ptr[3 * i + f], hi = a->ptr[3 * i + f + 1];
    lk_real moment = LK_R(0.0);
    if (lo == hi || !plate_open_fold(&a->all, i, f, c, &q)) continue;
    for (int32_t k = lo; k < hi; ++k) moment += a->moment[a->from[k]];
    LK_ROLLED
    for (int n = 0; n < 9; ++n) {
      hinge_angle_hessian(&q, n / 3, n % 3, B);
      LK_UNROLL
      for (int k = 0; k < 16; ++k)
        H[PLATE_CURVED * (3 * c[k / 4] + n / 3) + 3 * c[k % 4] + n % 3] += moment * B[k];
    }
  }
}

/* B [3][36] = scale R grad theta */
LK_FN void plate_fill_factor(const elem_args *a, lk_int i, lk_real scale, lk_real *B)
{
  const lk_real *const R = a->rest + (int64_t)PLATE_REST * i;
  lk_real g[12];
  hinge_geom q;
  int c[4];
  for (int k = 0; k < 3 * PLATE_SIDE; ++k) B[k] = LK_R(0.0);
  LK_ROLLED
  for (int f = 0; f < PLATE_NUM_FOLDS; ++f) {
    if (!plate_open_fold(a, i, f, c, &q)) continue;
    hinge_angle_gradient(&q, g);
    LK_ROLLED
    for (int r = 0; r < 3; ++r) {
      const lk_real w = scale * R[9 * r + f];
      LK_UNROLL
      for (int k = 0; k < 12; ++k) B[PLATE_SIDE * r + 3 * c[k / 3] + k % 3] += w * g[k];
    }
  }
}

LK_KERNEL_PLAIN(plate_hessian, a, i)
{
  lk_real *const H = a->out + (int64_t)PLATE_SIDE * PLATE_SIDE * i;
  plate_fill_factor(a, i, LK_R(1.0), H + PLATE_SIDE * (PLATE_SIDE - 3));
  plate_square(a->mat[PLATE_MAT * i], H);
  if (a->how == LOOM_HESS_EXACT) plate_add_curved(a, i, H);
}

LK_KERNEL_PLAIN(plate_factor, a, i)
{
  plate_fill_factor(a, i, LK_SQRT(a->mat[PLATE_MAT * i]), a->out + (int64_t)(3 * PLATE_SIDE) * i);
}

/* Part of the diagonal of R'R that the narrow matrix keeps: Newton's method needs the fewest
 * iterations with it (README.md).  The whole diagonal is too stiff for smooth bending. */
#define PLATE_NARROW LK_R(0.7)

LK_KERNEL_PLAIN(plate_narrow, a, i)
{
  const lk_real *const R = a->rest + (int64_t)PLATE_REST * i;
  lk_real *const B = a->out + (int64_t)(3 * PLATE_SIDE) * i;
  lk_real g[12];
  hinge_geom q;
  int c[4];
  for (int k = 0; k < 3 * PLATE_SIDE; ++k) B[k] = LK_R(0.0);
  LK_ROLLED
  for (int f = 0; f < 3; ++f) {
    lk_real w = LK_R(0.0);
    if (!plate_open_fold(a, i, f, c, &q)) continue;
    hinge_angle_gradient(&q, g);
    LK_UNROLL
    for (int r = 0; r < 3; ++r) {
      const lk_real *const row = R + 9 * r;
      w += row[f] * row[f] + (row[3 + 2 * f] * row[3 + 2 * f] + row[4 + 2 * f] * row[4 + 2 * f]);
    }
    w = LK_SQRT(PLATE_NARROW * a->mat[PLATE_MAT * i] * w);
    LK_UNROLL
    for (int k = 0; k < 12; ++k) B[PLATE_SIDE * f + 3 * c[k / 3] + k % 3] = w * g[k];
  }
}

/* Sums of one corner: of its own rows, and of the columns of all corners on its vertex, which may
 * stand several times in a patch. */
typedef struct plate_corner_sums {
  lk_real own[9], all[9], diag[9]; /* rows of B; [r][s] */
} plate_corner_sums;

LK_FN void plate_add_corner(const elem_args *a, lk_int i, int f, int corner, lk_real moment,
                            const hinge_geom *q, const int *c, plate_corner_sums *t, lk_real *grad)
{
  const lk_real *const R = a->rest + (int64_t)PLATE_REST * i + f;
  const int32_t *const v = a->verts + (int64_t)12 * i;
  lk_real g[12], B[16];
  hinge_angle_gradient(q, g);
  LK_UNROLL
  for (int k = 0; k < 12; ++k) {
    const int d = k % 3;
    const lk_real own = c[k / 3] == corner ? g[k] : LK_R(0.0);
    const lk_real all = v[c[k / 3]] == v[corner] ? g[k] : LK_R(0.0);
    grad[d] += moment * own;
    LK_UNROLL
    for (int r = 0; r < 3; ++r) {
      t->own[3 * r + d] += R[9 * r] * own;
      t->all[3 * r + d] += R[9 * r] * all;
    }
  }
  if (a->how != LOOM_HESS_EXACT) return;
  LK_UNROLL
  for (int n = 0; n < 9; ++n) {
    hinge_angle_hessian(q, n / 3, n % 3, B);
    LK_UNROLL
    for (int k = 0; k < 16; ++k)
      if (c[k / 4] == corner && v[c[k % 4]] == v[corner]) t->diag[n] += moment * B[k];
  }
}

LK_KERNEL_PLAIN(plate_corner, a, i)
{
  const lk_int e = a->elem[i];
  const int corner = a->corner[i];
  lk_real y[3], grad[3] = {LK_R(0.0), LK_R(0.0), LK_R(0.0)};
  plate_corner_sums t;
  hinge_geom q;
  int c[4];
  plate_strain(&a->all, e, y);
  LK_UNROLL
  for (int k = 0; k < 9; ++k) t.own[k] = t.all[k] = t.diag[k] = LK_R(0.0);
  LK_ROLLED
  for (int f = 0; f < PLATE_NUM_FOLDS; ++f)
    if (plate_open_fold(&a->all, e, f, c, &q))
      plate_add_corner(&a->all, e, f, corner, plate_moment(&a->all, e, f, y), &q, c, &t, grad);
  LK_STORE3(a->grad, (int64_t)i, grad);
  LK_UNROLL
  for (int k = 0; k < 9; ++k)
    a->diag[9 * (int64_t)i + k] =
        t.diag[k] + a->all.mat[PLATE_MAT * e] *
                        (t.own[k / 3] * t.all[k % 3] + t.own[3 + k / 3] * t.all[3 + k % 3] +
                         t.own[6 + k / 3] * t.all[6 + k % 3]);
}

/* The rest data are read through pointers of their own, which end before the state is written. */
LK_FN void plate_strain_now(const elem_move_args *a, lk_int i, lk_real *y)
{
  elem_args at;
  at.x = a->x;
  at.verts = a->verts;
  at.rest = a->rest;
  plate_strain(&at, i, y);
}

LK_KERNEL_PLAIN(plate_move, a, i)
{
  lk_real *const rest = a->rest + (int64_t)PLATE_REST * i;
  const lk_real *const mat = a->mat + (int64_t)PLATE_MAT * i;
  lk_real y[3];
  if (!(mat[1] > LK_R(0.0))) return;
  plate_strain_now(a, i, y);
  const lk_real bent = LK_SQRT(lk_dot3(y, y) / rest[30]), hard = mat[2];
  const lk_real over = bent - mat[1] - hard * rest[31];
  if (!(over > LK_R(0.0))) return;
  const lk_real move = over / (LK_R(1.0) + hard);
  for (int r = 0; r < 3; ++r) rest[27 + r] += move / bent * y[r];
  rest[31] += move;
}
