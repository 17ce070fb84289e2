/* cases_plate.c - the kernels of plates with random arguments. */
#include "elements/plate/plate.kern.h"
#include "elements/plate_quadratic/plate_quadratic.kern.h"
#include "support/bufs.h"
#include "unit/kernels/cases.h"

enum { NE = 1301, A = PLATE_VERTS };

/* Patch e has the vertices 12 e ...: a triangle of size 1 with the vertices around it, bent. */
static void make_patch_x(void *data, int64_t count, uint64_t *random)
{
  static const double shape[3 * A] = {
      0,    0,  0,   1,   0.1,  0,   0.4, 0.8, 0.1, 0.5, -0.9, 0.2, 1.5, 0.9, 0.1, -0.6, 0.8, 0.2,
      -0.5, -1, 0.4, 1.6, -0.8, 0.3, 2.1, 0.1, 0.3, 0.9, 1.7,  0.4, 0,   1.7, 0.5, -1,   0,   0.2};
  loom_real *x = data;
  for (int64_t i = 0; i < count; ++i)
    x[i] = (loom_real)(shape[i % (3 * A)] + 0.1 * t_uniform(random));
}

/* In every third patch its last vertex is missing. */
static void make_patch_verts(void *data, int64_t count, uint64_t *random)
{
  (void)random;
  for (int64_t q = 0; q < count; ++q)
    ((int32_t *)data)[q] = (int32_t)(q % A == A - 1 && q / A % 3 == 0 ? q - A + 1 : q);
}

/* Its last two folds have no share then. */
static void make_plate_rest(void *data, int64_t count, uint64_t *random)
{
  loom_real *v = data;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t e = i / PLATE_REST, k = i % PLATE_REST;
    const int none = e % 3 == 0 && k < 27 && k % 9 > 6;
    /* the area is positive; without hardening so far, most patches yield */
    v[i] = (loom_real)(k == 30 ? 1 : none || k == 31 ? 0 : t_uniform(random));
  }
}

static void make_plate_stiffness(void *data, int64_t count, uint64_t *random)
{
  for (int64_t i = 0; i < count; ++i)
    ((loom_real *)data)[i] = (loom_real)(1.0 + 0.4 * t_uniform(random));
}

/* Every third patch does not yield. */
static void make_plate_numbers(void *data, int64_t count, uint64_t *random)
{
  for (int64_t i = 0; i < count; ++i) {
    const double some = 0.3 + 0.1 * t_uniform(random);
    ((loom_real *)data)[i] = (loom_real)(i % (3 * PLATE_MAT) == 1 ? 0 : some);
  }
}

static void make_patch_elems(void *data, int64_t count, uint64_t *random)
{
  (void)random;
  for (int64_t e = 0; e < count; ++e) ((int32_t *)data)[e] = (int32_t)(count - 1 - e);
}

static void make_patch_corners(void *data, int64_t count, uint64_t *random)
{
  (void)random;
  for (int64_t e = 0; e < count; ++e) ((int32_t *)data)[e] = (int32_t)(e % A);
}

/* Two moments for every third side, one for the others but the last ones. */
static void make_fold_ptr(void *data, int64_t count, uint64_t *random)
{
  int32_t *const ptr = data;
  (void)random;
  ptr[0] = 0;
  for (int64_t i = 1; i < count; ++i)
    ptr[i] = ptr[i - 1] + (i > count - 5 ? 0 : i % 3 == 0 ? 2 : 1);
}

static void make_fold_places(void *data, int64_t count, uint64_t *random)
{
  for (int64_t i = 0; i < count; ++i)
    ((int32_t *)data)[i] = (int32_t)(t_random(random) % (PLATE_FOLDS * NE));
}

static void set_patch_exact(void *args) { ((elem_args *)args)->how = LOOM_HESS_EXACT; }
static void set_patch_clamp(void *args) { ((elem_args *)args)->how = LOOM_HESS_PSD_CLAMP; }

#define ENTRY(name) static const lk_entry e_##name = LK_ENTRY(name);
/* clang-format off */
ENTRY(plate_energy) ENTRY(plate_gradient) ENTRY(plate_hessian) ENTRY(plate_factor) ENTRY(plate_corner)
ENTRY(plate_narrow) ENTRY(plate_moments) ENTRY(plate_curved) ENTRY(plate_move)
ENTRY(plate_quadratic_energy) ENTRY(plate_quadratic_gradient) ENTRY(plate_quadratic_hessian)
ENTRY(plate_quadratic_corner) ENTRY(plate_quadratic_listed)
ENTRY(plate_quadratic_project) ENTRY(plate_quadratic_weights)
/* clang-format on */

#define FIELD(args, member, type, access, count, make) \
  {                                                    \
    offsetof(args, member), type, access, count, make  \
  }
#define INPUTS(rest_len, make_rest, mat_len)                                  \
  FIELD(elem_args, x, LOOM_REAL, LOOM_READ, 3 * A * NE, make_patch_x),        \
      FIELD(elem_args, verts, LOOM_I32, LOOM_READ, A *NE, make_patch_verts),  \
      FIELD(elem_args, rest, LOOM_REAL, LOOM_READ, (rest_len)*NE, make_rest), \
      FIELD(elem_args, mat, LOOM_REAL, LOOM_READ, (mat_len)*NE, make_plate_stiffness)
#define OUT(count) FIELD(elem_args, out, LOOM_REAL, LOOM_WRITE, count, NULL)
#define LIST                                                              \
  FIELD(elem_list_args, elem, LOOM_I32, LOOM_READ, NE, make_patch_elems), \
      FIELD(elem_list_args, corner, LOOM_I32, LOOM_READ, NE, make_patch_corners)
#define CASE(name, ulps, reduces, set, ...)            \
  {                                                    \
    &e_##name, NE, ulps, reduces, set, { __VA_ARGS__ } \
  }
#define SMOOTH(t, ulps, ...)                                                         \
  CASE(t##_energy, 4 * NE, 1, NULL, __VA_ARGS__),                                    \
      CASE(t##_gradient, ulps, 0, NULL, __VA_ARGS__, OUT(3 * A * NE)),               \
      CASE(t##_hessian, ulps, 0, set_patch_exact, __VA_ARGS__, OUT(9 * A * A * NE)), \
      CASE(t##_hessian, ulps, 0, set_patch_clamp, __VA_ARGS__, OUT(9 * A * A * NE)), \
      CASE(t##_corner, ulps, 0, set_patch_exact, __VA_ARGS__, LIST,                  \
           FIELD(elem_list_args, grad, LOOM_REAL, LOOM_WRITE, 3 * NE, NULL),         \
           FIELD(elem_list_args, diag, LOOM_REAL, LOOM_WRITE, 9 * NE, NULL))

#define PLATE     INPUTS(PLATE_REST, make_plate_rest, PLATE_MAT)
#define QUADRATIC INPUTS(PLATE_QUADRATIC_REST, kc_uniform, 1)

    /* plate: arc tangents differ in their last bits. */
    static const kernel_case cases[] = {
        SMOOTH(plate, 4096, PLATE),
        SMOOTH(plate_quadratic, 0, QUADRATIC),
        CASE(plate_factor, 4096, 0, NULL, PLATE, OUT(9 * A * NE)),
        CASE(plate_narrow, 4096, 0, NULL, PLATE, OUT(3 * 3 * A * NE)),
        CASE(plate_moments, 4096, 0, NULL, PLATE, OUT(PLATE_FOLDS *NE)),
        CASE(plate_curved, 4096, 0, NULL, PLATE, OUT(PLATE_CURVED *PLATE_CURVED *NE),
             FIELD(plate_curved_args, ptr, LOOM_I32, LOOM_READ, 3 * NE + 1, make_fold_ptr),
             FIELD(plate_curved_args, from, LOOM_I32, LOOM_READ, 4 * NE, make_fold_places),
             FIELD(plate_curved_args, moment, LOOM_REAL, LOOM_READ, PLATE_FOLDS *NE, kc_uniform)),
        CASE(plate_move, 4096, 0, NULL,
             FIELD(elem_move_args, x, LOOM_REAL, LOOM_READ, 3 * A * NE, make_patch_x),
             FIELD(elem_move_args, verts, LOOM_I32, LOOM_READ, A *NE, make_patch_verts),
             FIELD(elem_move_args, mat, LOOM_REAL, LOOM_READ, PLATE_MAT *NE, make_plate_numbers),
             FIELD(elem_move_args, rest, LOOM_REAL, LOOM_RDWR, PLATE_REST *NE, make_plate_rest)),
        CASE(plate_quadratic_project, 0, 0, NULL, QUADRATIC, OUT(3 * A * NE)),
        CASE(plate_quadratic_weights, 0, 0, NULL, QUADRATIC, OUT(A *A *NE)),
        CASE(plate_quadratic_listed, 0, 0, NULL, QUADRATIC, LIST,
             FIELD(elem_list_args, grad, LOOM_REAL, LOOM_WRITE, 3 * A * NE, NULL))};

const kernel_case *cases_plate(int *num)
{
  *num = (int)(sizeof cases / sizeof cases[0]);
  return cases;
}
