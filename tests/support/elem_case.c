/* elem_case.c - small sets of separate elements of one type, for tests of the kernels. */
#include "support/elem_case.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "geom/small.kern.h"

double case_random(unsigned seed, unsigned counter)
{
  uint64_t z = ((uint64_t)seed << 32 | counter) + UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  z ^= z >> 31;
  return (double)(z >> 11) * 0x1p-52 - 1.0;
}

static void *allocate_case_array(size_t n, size_t size)
{
  void *p = calloc(n > 0 ? n : 1, size);
  cr_assert(p != NULL);
  return p;
}

void case_new(elem_case *c, const elem_type *t, int ne, int flat, unsigned seed)
{
  /* a triangle, a bent hinge and a tetrahedron in one, by the number of vertices used */
  static const double shape[4][3] = {{0, 0, 0}, {1, 0.1, 0}, {0.4, 0.8, 0.1}, {0.5, -0.9, 0.7}};
  /* a triangle of a bent sheet with the vertices around it */
  static const double patch[12][3] = {{0, 0, 0},       {1, 0.1, 0},     {0.4, 0.8, 0.1},
                                      {0.5, -0.9, .2}, {1.5, 0.9, .1},  {-0.6, 0.8, .2},
                                      {-0.5, -1, .4},  {1.6, -0.8, .3}, {2.1, 0.1, .3},
                                      {0.9, 1.7, .4},  {0, 1.7, .5},    {-1, 0, .2}};
  double rest[ELEM_MAX_REST] = {0};
  memset(c, 0, sizeof *c);
  c->type = t;
  c->ne = ne;
  const int a = t->arity;
  const size_t n = (size_t)ne * (size_t)a;
  c->rest_x = allocate_case_array(3 * n, sizeof *c->rest_x);
  c->x = allocate_case_array(3 * n, sizeof *c->x);
  c->verts = allocate_case_array(n, sizeof *c->verts);
  c->rest = allocate_case_array((size_t)ne * (size_t)t->rest_len, sizeof *c->rest);
  c->mat = allocate_case_array((size_t)ne * (size_t)t->mat_len, sizeof *c->mat);
  for (size_t i = 0; i < 3 * n; ++i) {
    const size_t v = i / 3 % (size_t)a;
    const double r =
        (a > 4 ? patch : shape)[v][i % 3] + (a > 4 ? 0.05 : 0.1) * case_random(seed, (unsigned)i);
    c->rest_x[i] = flat && i % 3 == 2 ? 0.0 : 0.1 * r;
  }
  for (int e = 0; e < ne; ++e) {
    const char *why = t->init_rest(c->rest_x + 3 * a * e, rest);
    cr_assert(why == NULL, "%s: element %d: %s", t->name, e, why);
    for (int k = 0; k < t->rest_len; ++k) c->rest[t->rest_len * e + k] = (loom_real)rest[k];
    /* k0 k2 > k1^2 for the membrane with four moduli; k, target for pins */
    for (int k = 0; k < t->mat_len; ++k)
      c->mat[t->mat_len * e + k] =
          (loom_real)((k % 2 ? 1.0 : 3.0) + 0.5 * case_random(seed + 1, (unsigned)(8 * e + k)));
    if (strcmp(t->name, "tri_limit") == 0) { /* limits around 1 */
      c->mat[t->mat_len * e + 1] =
          (loom_real)(0.995 + 0.002 * case_random(seed + 1, 8u * (unsigned)e));
      c->mat[t->mat_len * e + 2] =
          (loom_real)(1.005 + 0.002 * case_random(seed + 2, 8u * (unsigned)e));
    }
    if (strcmp(t->name, "stitch") == 0) { /* threads that are tight, to places between both ends */
      c->mat[t->mat_len * e + 1] *= (loom_real)0.02;
      c->mat[t->mat_len * e + 2] *= (loom_real)0.2;
    }
    if (strcmp(t->name, "tie") == 0) { /* the weights have the sum 1 */
      loom_real *const u = c->mat + t->mat_len * e + 2;
      c->mat[t->mat_len * e + 1] *= (loom_real)0.02;
      u[3] = 1 - u[0] - u[1] - u[2];
    }
  }
  for (size_t i = 0; i < n; ++i) c->verts[i] = (int32_t)i;
  c->exec.struct_size = sizeof c->exec;
  c->exec.backend = LOOM_CPU;
  c->exec.num_threads = 1;
  c->exec.device = -1;
  c->exec.scratch_len = ne / LK_CHUNK + 1;
  c->exec.scratch = allocate_case_array((size_t)c->exec.scratch_len, sizeof(loom_real));
  case_pose(c, CASE_AT_REST, seed);
}

void case_free(elem_case *c)
{
  free(c->rest_x);
  free(c->x);
  free(c->verts);
  free(c->rest);
  free(c->mat);
  free(c->exec.scratch);
  memset(c, 0, sizeof *c);
}

/* A rotation from three numbers: a normalised quaternion. */
static void random_rotation(unsigned seed, double R[9])
{
  double q[4], s = 0.0;
  for (unsigned k = 0; k < 4; ++k) q[k] = case_random(seed, k) + (k == 0 ? 1e-3 : 0.0);
  for (int k = 0; k < 4; ++k) s += q[k] * q[k];
  for (int k = 0; k < 4; ++k) q[k] /= sqrt(s);
  const double w = q[0], x = q[1], y = q[2], z = q[3];
  const double M[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
                       2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                       2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
  memcpy(R, M, sizeof M);
}

void case_pose(elem_case *c, int pose, unsigned seed)
{
  static const double scale[CASE_NUM_POSES] = {1.0, 1.0, 1.35, 0.65};
  static const double noise[CASE_NUM_POSES] = {0.0, 0.035, 0.01, 0.01};
  double R[9];
  const int a = c->type->arity;
  for (int e = 0; e < c->ne; ++e) {
    random_rotation(seed + 17u * (unsigned)e, R);
    for (int v = 0; v < a; ++v) {
      const double *X = c->rest_x + 3 * (a * e + v);
      loom_real *x = c->x + 3 * (a * e + v);
      for (int k = 0; k < 3; ++k) {
        const double r = R[3 * k] * X[0] + R[3 * k + 1] * X[1] + R[3 * k + 2] * X[2];
        const double shift = case_random(seed + 3, (unsigned)k);
        x[k] = (loom_real)(scale[pose] * r + shift +
                           noise[pose] * case_random(seed + 5, (unsigned)(3 * (a * e + v) + k)));
      }
    }
  }
}

static elem_args fill_element_args(elem_case *c, int e, int how, loom_real *out)
{
  const elem_type *t = c->type;
  elem_args A = {.x = c->x,
                 .verts = c->verts + t->arity * e,
                 .rest = c->rest + t->rest_len * e,
                 .mat = c->mat + t->mat_len * e,
                 .out = out,
                 .how = how};
  return A;
}

double case_energy(elem_case *c, int e)
{
  const elem_args A = fill_element_args(c, e, 0, NULL);
  cr_assert_eq(lk_run(c->type->energy, &c->exec, &A, 1, &c->result), LOOM_OK);
  return (double)c->result;
}

void case_run(elem_case *c, const lk_entry *k, int how, loom_real *out)
{
  const elem_args A = fill_element_args(c, 0, how, out);
  cr_assert_eq(lk_run(k, &c->exec, &A, c->ne, NULL), LOOM_OK);
}

void case_run1(elem_case *c, const lk_entry *k, int how, int e, loom_real *out)
{
  const elem_args A = fill_element_args(c, e, how, out);
  cr_assert_eq(lk_run(k, &c->exec, &A, 1, NULL), LOOM_OK);
}

double case_max_abs(const loom_real *v, int n)
{
  double m = 0.0;
  for (int i = 0; i < n; ++i) m = fmax(m, fabs((double)v[i]));
  return m;
}

void case_eigen_range(const loom_real *A, int n, double *lo, double *hi)
{
  lk_real D[CASE_MAX_DOF * CASE_MAX_DOF], V[CASE_MAX_DOF * CASE_MAX_DOF];
  memcpy(D, A, (size_t)(n * n) * sizeof *D);
  lk_sym_eig(n, D, V);
  *lo = *hi = (double)D[0];
  for (int i = 1; i < n; ++i) {
    *lo = fmin(*lo, (double)D[n * i + i]);
    *hi = fmax(*hi, (double)D[n * i + i]);
  }
}
