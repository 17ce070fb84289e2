/* view.c - loom_obstacle to obst_view: shapes, poses, bounds of grids. */
#include "bodies/body.h"

#include <math.h>
#include <string.h>

/* Poses come from products of matrices: rows are unit and orthogonal to rounding. */
static const double orthogonal_within = 1e-6;

static double product_element(const loom_real *A, const loom_real *B, int r, int c)
{
  double s = 0.0; /* (A B^T)[r][c] */
  for (int k = 0; k < 3; ++k) s += (double)A[3 * r + k] * (double)B[3 * c + k];
  return s;
}

static int is_rotation(const loom_real *R)
{
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c)
      if (!(fabs(product_element(R, R, r, c) - (r == c)) < orthogonal_within)) return 0;
  const double det = (double)R[0] * (R[4] * R[8] - R[5] * R[7]) -
                     (double)R[1] * (R[3] * R[8] - R[5] * R[6]) +
                     (double)R[2] * (R[3] * R[7] - R[4] * R[6]);
  return det > 0.0;
}

/* Axis and angle of Q = R1 R0^T through its unit quaternion (w, x, y, z), taken from the
 * largest of the four squares, so that no difference of nearly equal numbers is divided by. */
static void axis_angle(const loom_real *R0, const loom_real *R1, lk_real *axis, lk_real *angle)
{
  double Q[9], q[4], four[4];
  int best = 0;
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c) Q[3 * r + c] = product_element(R1, R0, r, c);
  four[0] = 1.0 + Q[0] + Q[4] + Q[8]; /* four times the squares */
  four[1] = 1.0 + Q[0] - Q[4] - Q[8];
  four[2] = 1.0 - Q[0] + Q[4] - Q[8];
  four[3] = 1.0 - Q[0] - Q[4] + Q[8];
  for (int k = 1; k < 4; ++k)
    if (four[k] > four[best]) best = k;
  const double products[4][4] = {{four[0], Q[7] - Q[5], Q[2] - Q[6], Q[3] - Q[1]},
                                 {Q[7] - Q[5], four[1], Q[1] + Q[3], Q[2] + Q[6]},
                                 {Q[2] - Q[6], Q[1] + Q[3], four[2], Q[5] + Q[7]},
                                 {Q[3] - Q[1], Q[2] + Q[6], Q[5] + Q[7], four[3]}};
  for (int k = 0; k < 4; ++k) q[k] = products[best][k]; /* up to a common factor */
  const double sign = q[0] < 0.0 ? -1.0 : 1.0;          /* the short way round */
  const double len = sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  *angle = (lk_real)(2.0 * atan2(len, sign * q[0]));
  for (int c = 0; c < 3; ++c)
    axis[c] = (lk_real)(len > 0.0 ? sign * q[1 + c] / len : (c == 2 ? 1.0 : 0.0));
}

const char *obst_view_pose(const loom_obstacle *o, obst_view *v)
{
  for (int i = 0; i < 12; ++i)
    if (!isfinite(o->pose0[i]) || !isfinite(o->pose1[i]))
      return "its pose is not finite; check its motion";
  if (!is_rotation(o->pose0) || !is_rotation(o->pose1))
    return "its pose is not a rotation; scale the shape itself instead";
  for (int i = 0; i < 9; ++i) {
    v->R0[i] = o->pose0[i];
    v->R1[i] = o->pose1[i];
  }
  for (int c = 0; c < 3; ++c) {
    v->t0[c] = o->pose0[9 + c];
    v->t1[c] = o->pose1[9 + c];
  }
  v->sweep = o->sweep;
  v->moves = 0;
  for (int i = 0; i < 12; ++i) v->moves |= o->pose0[i] != o->pose1[i];
  axis_angle(o->pose0, o->pose1, v->axis, &v->angle);
  return NULL;
}

static const char *check_grid(const loom_obstacle *o)
{
  if (!(o->spacing > 0)) return "the grid's spacing is not positive";
  for (int c = 0; c < 3; ++c)
    if (o->dims[c] < 2) return "the grid has fewer than 2 nodes along an axis";
  return NULL;
}

/* The shape of a field, or -1. */
static int32_t field_shape(const char *name)
{
  static const struct {
    const char *name;
    int32_t shape;
  } all[] = {
#define BODY_FIELD_SHAPE(name) {#name, BODY_SHAPE_##name},
#include "bodies/bodies.def"
  };
  for (size_t i = 0; i < LOOM_COUNT(all); ++i)
    if (name != NULL && strcmp(all[i].name, name) == 0) return all[i].shape;
  return -1;
}

const char *obst_view_fill(const loom_obstacle *o, obst_view *v)
{
  const body_kind *const kind = body_kind_find(o->kind);
  memset(v, 0, sizeof *v);
  if (kind == NULL) return "unknown kind of body";
  const int grid = o->sdf != NULL && (kind->shape == BODY_SHAPE_grid || kind->shape < 0);
  const int32_t field = o->field != NULL ? field_shape(o->field_kind) : -1;
  if (o->field != NULL && field < 0) return "unknown kind of field";
  v->shape = grid ? BODY_SHAPE_grid : field >= 0 ? field : kind->shape;
  v->convex = kind->convex && !grid;
  v->lipschitz = o->field != NULL ? o->lipschitz : 1;
  v->friction = o->friction;
  v->spacing = o->spacing;
  for (int c = 0; c < 3; ++c) {
    v->dims[c] = o->dims[c];
    v->origin[c] = o->origin[c];
  }
  for (int i = 0; i < 8; ++i) v->size[i] = o->shape[i];
  const char *why = grid ? check_grid(o) : NULL;
  if (why == NULL && kind->check != NULL) why = kind->check(o);
  return why != NULL ? why : obst_view_pose(o, v);
}

int obst_view_has_distance(const obst_view *v) { return v->shape >= 0; }

/* A partial derivative of the interpolant is a mean of node differences along that axis. */
lk_real obst_view_lipschitz(const obst_view *v, const lk_real *sdf)
{
  const int64_t stride[3] = {1, v->dims[0], (int64_t)v->dims[0] * v->dims[1]};
  double largest = 1.0;
  int reaches_side = 0;
  for (int32_t k = 0; k < v->dims[2]; ++k)
    for (int32_t j = 0; j < v->dims[1]; ++j)
      for (int32_t i = 0; i < v->dims[0]; ++i) {
        const int32_t at[3] = {i, j, k};
        const lk_real *const f = sdf + i * stride[0] + j * stride[1] + k * stride[2];
        double most[3] = {0, 0, 0}; /* over the four edges of the cell along each axis */
        for (int c = 0; c < 3; ++c)
          if (at[c] == 0 || at[c] == v->dims[c] - 1) reaches_side |= f[0] <= 0;
        if (i + 1 == v->dims[0] || j + 1 == v->dims[1] || k + 1 == v->dims[2]) continue;
        for (int c = 0; c < 3; ++c)
          for (int e = 0; e < 4; ++e) {
            const lk_real *const g =
                f + (e & 1) * stride[(c + 1) % 3] + (e >> 1) * stride[(c + 2) % 3];
            most[c] = fmax(most[c], fabs((double)g[stride[c]] - (double)g[0]));
          }
        largest = fmax(largest, sqrt(most[0] * most[0] + most[1] * most[1] + most[2] * most[2]) /
                                    (double)v->spacing);
      }
  /* f + d outside a side the body reaches: two orthogonal gradients */
  return (lk_real)(reaches_side ? sqrt(1.0 + largest * largest) : largest);
}
