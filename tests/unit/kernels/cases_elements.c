/* cases_elements.c - the kernels of framework/elements with random arguments. */
#include "elements/elastic.kern.h"
#include "elements/hinge_isometric/hinge_isometric.kern.h"
#include "elements/hinge_shell/hinge_shell.kern.h"
#include "elements/hinge_wang/hinge_wang.kern.h"
#include "elements/pin/pin.kern.h"
#include "elements/spring/spring.kern.h"
#include "elements/stitch/stitch.kern.h"
#include "elements/tet_arap/tet_arap.kern.h"
#include "elements/tet_neohookean/tet_neohookean.kern.h"
#include "elements/tie/tie.kern.h"
#include "elements/tri_arap/tri_arap.kern.h"
#include "elements/tri_limit/tri_limit.kern.h"
#include "elements/tri_neohookean/tri_neohookean.kern.h"
#include "elements/tri_stvk/tri_stvk.kern.h"
#include "elements/tri_wang/tri_wang.kern.h"
#include "elements/yarn_bend/yarn_bend.kern.h"
#include "elements/yarn_twist/yarn_twist.kern.h"
#include "support/bufs.h"
#include "unit/kernels/cases.h"

enum { NE = 5003, NX = 3 * (4 * NE + 1), ROW_ARITY = 3 };

/* Element e has the vertices 4e ..., at most five, a tetrahedron or bent hinge of size 1. */
static void make_x(void *data, int64_t count, uint64_t *random)
{
  static const double shape[12] = {0, 0, 0, 1, 0.1, 0, 0.4, 0.8, 0.1, 0.5, -0.9, 0.7};
  loom_real *x = data;
  for (int64_t i = 0; i < count; ++i) x[i] = (loom_real)(shape[i % 12] + 0.2 * t_uniform(random));
}
#define MAKE_VERTS(a)                                                        \
  static void make_verts##a(void *data, int64_t count, uint64_t *random)     \
  {                                                                          \
    (void)random;                                                            \
    for (int64_t q = 0; q < count; ++q)                                      \
      ((int32_t *)data)[q] = (int32_t)(4 * (q / (a)) + (q + q / (a)) % (a)); \
  }
MAKE_VERTS(1)
MAKE_VERTS(2)
MAKE_VERTS(3)
MAKE_VERTS(4)
MAKE_VERTS(5)

static void make_backwards(void *data, int64_t count, uint64_t *random)
{
  (void)random;
  for (int64_t e = 0; e < count; ++e) ((int32_t *)data)[e] = (int32_t)(count - 1 - e);
}
#define MAKE_CORNERS(a)                                                            \
  static void make_corners##a(void *data, int64_t count, uint64_t *random)         \
  {                                                                                \
    (void)random;                                                                  \
    for (int64_t e = 0; e < count; ++e) ((int32_t *)data)[e] = (int32_t)(e % (a)); \
  }
MAKE_CORNERS(1)
MAKE_CORNERS(2)
MAKE_CORNERS(3)
MAKE_CORNERS(4)
MAKE_CORNERS(5)

static void make_positive(void *data, int64_t count, uint64_t *random)
{
  loom_real *v = data;
  for (int64_t i = 0; i < count; ++i) v[i] = (loom_real)(1.0 + 0.4 * t_uniform(random));
}
/* n x n unit matrices, disturbed; behind a 3x3 one a volume */
static void make_tri_rest(void *data, int64_t count, uint64_t *random)
{
  loom_real *v = data;
  for (int64_t i = 0; i < count; ++i)
    v[i] = (loom_real)((i % 4 % 3 == 0) + 0.2 * t_uniform(random));
}
/* As make_tri_rest, then a share in [0, 1] and an angle in [0, 4]. */
static void make_wang_rest(void *data, int64_t count, uint64_t *random)
{
  static const double base[WANG_REST] = {1.0, 0.0, 0.0, 1.0, 0.5, 2.0};
  static const double width[WANG_REST] = {0.2, 0.2, 0.2, 0.2, 0.5, 2.0};
  loom_real *v = data;
  for (int64_t i = 0; i < count; ++i)
    v[i] = (loom_real)(base[i % WANG_REST] + width[i % WANG_REST] * t_uniform(random));
}
static void make_bent_rest(void *data, int64_t count, uint64_t *random)
{
  static const double base[HINGE_WANG_REST] = {1.0, 1.0, 0.0, 1.0, 2.0};
  static const double width[HINGE_WANG_REST] = {0.5, 0.5, 1.0, 1.0, 2.0};
  loom_real *v = data;
  for (int64_t i = 0; i < count; ++i)
    v[i] = (loom_real)(base[i % HINGE_WANG_REST] + width[i % HINGE_WANG_REST] * t_uniform(random));
}
static void make_tet_rest(void *data, int64_t count, uint64_t *random)
{
  loom_real *v = data;
  for (int64_t i = 0; i < count; ++i)
    v[i] = (loom_real)((i % 10 == 9 || i % 10 % 4 == 0) + 0.2 * t_uniform(random));
}

/* Lengths near 1, small angles and curvatures, frames with unit vectors perpendicular to each
 * other. */
static void make_rod_rest(void *data, int64_t count, uint64_t *random)
{
  loom_real *v = data;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t k = i % ROD_REST;
    const int64_t f = k < ROD_FRAME ? -1 : (k - ROD_FRAME) % ROD_FRAME_LEN;
    v[i] = (loom_real)((k < ROD_MBAR) + 0.2 * t_uniform(random));
    if (f >= 0 && f < 6) v[i] = (loom_real)(f == 0 || f == 4);
  }
}

static void set_exact(void *args) { ((elem_args *)args)->how = LOOM_HESS_EXACT; }
static void set_clamp(void *args) { ((elem_args *)args)->how = LOOM_HESS_PSD_CLAMP; }
static void set_abs(void *args) { ((elem_args *)args)->how = LOOM_HESS_PSD_ABS; }
static void set_parts(void *args) { ((elastic_sum_args *)args)->num = NE; }
static void set_factor(void *args) { ((rod_scale_args *)args)->factor = (lk_real)0.85; }
static void set_rows(void *args) { ((elastic_rows_args *)args)->arity = ROW_ARITY; }

/* ---- rows ---- */
#define ENTRY(name)       static const lk_entry e_##name = LK_ENTRY(name);
#define SMOOTH_ENTRIES(t) ENTRY(t##_energy) ENTRY(t##_gradient) ENTRY(t##_hessian) ENTRY(t##_corner)
#define LOCAL_ENTRIES(t)  ENTRY(t##_project) ENTRY(t##_weights) ENTRY(t##_listed)
/* clang-format off */
SMOOTH_ENTRIES(spring) LOCAL_ENTRIES(spring)
SMOOTH_ENTRIES(pin) LOCAL_ENTRIES(pin)
SMOOTH_ENTRIES(stitch) LOCAL_ENTRIES(stitch)
SMOOTH_ENTRIES(tie) LOCAL_ENTRIES(tie)
SMOOTH_ENTRIES(tri_arap) LOCAL_ENTRIES(tri_arap)
SMOOTH_ENTRIES(tri_stvk)
SMOOTH_ENTRIES(tri_neohookean)
SMOOTH_ENTRIES(tri_limit) LOCAL_ENTRIES(tri_limit)
SMOOTH_ENTRIES(tri_wang) ENTRY(tri_wang_move)
SMOOTH_ENTRIES(hinge_isometric) LOCAL_ENTRIES(hinge_isometric)
SMOOTH_ENTRIES(hinge_shell)
SMOOTH_ENTRIES(hinge_wang) ENTRY(hinge_wang_move)
SMOOTH_ENTRIES(tet_arap) LOCAL_ENTRIES(tet_arap)
SMOOTH_ENTRIES(tet_neohookean)
ENTRY(yarn_bend_energy) ENTRY(yarn_bend_gradient)
ENTRY(yarn_twist_energy) ENTRY(yarn_twist_gradient)
ENTRY(rod_frames) ENTRY(rod_plastic) ENTRY(rod_scale)
ENTRY(elastic_rows) ENTRY(elastic_parts) ENTRY(elastic_sum)
/* clang-format on */

#define FIELD(args, member, type, access, count, make) \
  {                                                    \
    offsetof(args, member), type, access, count, make  \
  }
#define REAL_IN(member, count, make) FIELD(elem_args, member, LOOM_REAL, LOOM_READ, count, make)
#define OUT(count)                   FIELD(elem_args, out, LOOM_REAL, LOOM_WRITE, count, NULL)
#define INPUTS(a, rest_len, make_rest, mat_len)                                                \
  REAL_IN(x, NX, make_x), FIELD(elem_args, verts, LOOM_I32, LOOM_READ, (a)*NE, make_verts##a), \
      REAL_IN(rest, (rest_len)*NE, make_rest), REAL_IN(mat, (mat_len)*NE, make_positive)

/* Elements backwards, corners in turn.  elem_list_args begin with the whole block's. */
#define LIST_FIELDS(a)                                                  \
  FIELD(elem_list_args, elem, LOOM_I32, LOOM_READ, NE, make_backwards), \
      FIELD(elem_list_args, corner, LOOM_I32, LOOM_READ, NE, make_corners##a)
#define CORNER(t, a, ulps, ...)                                             \
  {                                                                         \
    &e_##t##_corner, NE, ulps, 0, set_clamp,                                \
    {                                                                       \
      __VA_ARGS__, LIST_FIELDS(a),                                          \
          FIELD(elem_list_args, grad, LOOM_REAL, LOOM_WRITE, 3 * NE, NULL), \
          FIELD(elem_list_args, diag, LOOM_REAL, LOOM_WRITE, 9 * NE, NULL)  \
    }                                                                       \
  }

/* Sums in another order: NE terms of one sign, each rounding at most NE ulps of 1. */
#define ENERGY(t, ...)                                \
  {                                                   \
    &e_##t##_energy, NE, NE, 1, NULL, { __VA_ARGS__ } \
  }
#define GRADIENT(t, a, ulps, ...)                                          \
  {                                                                        \
    &e_##t##_gradient, NE, ulps, 0, NULL, { __VA_ARGS__, OUT(3 * (a)*NE) } \
  }
#define HESSIAN(t, a, ulps, how, ...)                                                \
  {                                                                                  \
    &e_##t##_hessian, NE, ulps, 0, set_##how, { __VA_ARGS__, OUT(9 * (a) * (a)*NE) } \
  }
#define SMOOTH(t, a, ulps, ...)                                                         \
  ENERGY(t, __VA_ARGS__), GRADIENT(t, a, ulps, __VA_ARGS__),                            \
      HESSIAN(t, a, ulps, exact, __VA_ARGS__), HESSIAN(t, a, ulps, clamp, __VA_ARGS__), \
      HESSIAN(t, a, ulps, abs, __VA_ARGS__), CORNER(t, a, ulps, __VA_ARGS__)
#define LOCAL(t, a, ...)                                                        \
  {&e_##t##_project, NE, 0, 0, NULL, {__VA_ARGS__, OUT(3 * (a)*NE)}},           \
      {&e_##t##_listed,                                                         \
       NE,                                                                      \
       0,                                                                       \
       0,                                                                       \
       NULL,                                                                    \
       {__VA_ARGS__, LIST_FIELDS(a),                                            \
        FIELD(elem_list_args, grad, LOOM_REAL, LOOM_WRITE, 3 * (a)*NE, NULL)}}, \
  {                                                                             \
    &e_##t##_weights, NE, 0, 0, NULL, { __VA_ARGS__, OUT((a) * (a)*NE) }        \
  }

#define ROD_FIELDS                                                              \
  FIELD(rod_args, x, LOOM_REAL, LOOM_READ, NX, make_x),                         \
      FIELD(rod_args, verts, LOOM_I32, LOOM_READ, 3 * NE, make_verts3),         \
      FIELD(rod_args, rest, LOOM_REAL, LOOM_RDWR, ROD_REST *NE, make_rod_rest), \
      FIELD(rod_args, bend, LOOM_REAL, LOOM_READ, 3 * NE, make_positive),       \
      FIELD(rod_args, flat, LOOM_REAL, LOOM_RDWR, 4 * NE, kc_uniform)

    /* hinge_shell: atan2 differs in its last bits, theta - theta0 loses up to ten. */
    static const kernel_case cases[] = {
        SMOOTH(spring, 2, 0, INPUTS(2, 1, make_positive, 1)),
        LOCAL(spring, 2, INPUTS(2, 1, make_positive, 1)),
        SMOOTH(pin, 1, 0, INPUTS(1, 1, make_positive, 4)),
        LOCAL(pin, 1, INPUTS(1, 1, make_positive, 4)),
        SMOOTH(stitch, 3, 0, INPUTS(3, 1, make_positive, 3)),
        LOCAL(stitch, 3, INPUTS(3, 1, make_positive, 3)),
        SMOOTH(tie, 5, 0, INPUTS(5, 1, make_positive, 6)),
        LOCAL(tie, 5, INPUTS(5, 1, make_positive, 6)),
        SMOOTH(tri_arap, 3, 0, INPUTS(3, 4, make_tri_rest, 1)),
        LOCAL(tri_arap, 3, INPUTS(3, 4, make_tri_rest, 1)),
        SMOOTH(tri_stvk, 3, 0, INPUTS(3, 4, make_tri_rest, 4)),
        SMOOTH(tri_neohookean, 3, 0, INPUTS(3, 4, make_tri_rest, 4)),
        SMOOTH(tri_limit, 3, 0, INPUTS(3, 4, make_tri_rest, 3)),
        LOCAL(tri_limit, 3, INPUTS(3, 4, make_tri_rest, 3)),
        SMOOTH(tri_wang, 3, 0, INPUTS(3, WANG_REST, make_wang_rest, WANG_MAT)),
        {&e_tri_wang_move,
         NE,
         4096, /* arc tangents */
         0,
         NULL,
         {FIELD(elem_move_args, x, LOOM_REAL, LOOM_READ, NX, make_x),
          FIELD(elem_move_args, verts, LOOM_I32, LOOM_READ, 3 * NE, make_verts3),
          FIELD(elem_move_args, rest, LOOM_REAL, LOOM_RDWR, WANG_REST *NE, make_wang_rest)}},
        SMOOTH(hinge_isometric, 4, 0, INPUTS(4, 4, kc_uniform, 1)),
        LOCAL(hinge_isometric, 4, INPUTS(4, 4, kc_uniform, 1)),
        SMOOTH(hinge_shell, 4, 4096, INPUTS(4, 3, make_positive, 1)),
        SMOOTH(hinge_wang, 4, 4096, INPUTS(4, HINGE_WANG_REST, make_bent_rest, HINGE_WANG_MAT)),
        {&e_hinge_wang_move,
         NE,
         4096,
         0,
         NULL,
         {FIELD(elem_move_args, x, LOOM_REAL, LOOM_READ, NX, make_x),
          FIELD(elem_move_args, verts, LOOM_I32, LOOM_READ, 4 * NE, make_verts4),
          FIELD(elem_move_args, rest, LOOM_REAL, LOOM_RDWR, HINGE_WANG_REST *NE, make_bent_rest)}},
        SMOOTH(tet_arap, 4, 0, INPUTS(4, 10, make_tet_rest, 1)),
        LOCAL(tet_arap, 4, INPUTS(4, 10, make_tet_rest, 1)),
        SMOOTH(tet_neohookean, 4, 0, INPUTS(4, 10, make_tet_rest, 2)),
        /* sines and arc tangents differ in their last bits */
        ENERGY(yarn_bend, INPUTS(3, ROD_REST, make_rod_rest, 3)),
        GRADIENT(yarn_bend, 3, 4096, INPUTS(3, ROD_REST, make_rod_rest, 3)),
        ENERGY(yarn_twist, INPUTS(3, ROD_REST, make_rod_rest, 1)),
        GRADIENT(yarn_twist, 3, 4096, INPUTS(3, ROD_REST, make_rod_rest, 1)),
        {&e_rod_frames, NE, 4096, 0, NULL, {ROD_FIELDS}},
        {&e_rod_plastic, NE, 4096, 0, NULL, {ROD_FIELDS}},
        {&e_rod_scale,
         NE,
         0,
         0,
         set_factor,
         {FIELD(rod_scale_args, rest, LOOM_REAL, LOOM_RDWR, ROD_REST *NE, make_rod_rest),
          FIELD(rod_scale_args, length, LOOM_REAL, LOOM_READ, 2 * NE, make_positive)}},
        {&e_elastic_rows,
         3 * ROW_ARITY *NE,
         0,
         0,
         set_rows,
         {FIELD(elastic_rows_args, H, LOOM_REAL, LOOM_READ, 9 * ROW_ARITY * ROW_ARITY * NE,
                kc_uniform),
          FIELD(elastic_rows_args, verts, LOOM_I32, LOOM_READ, ROW_ARITY *NE, make_verts3),
          FIELD(elastic_rows_args, p, LOOM_REAL, LOOM_READ, NX, kc_uniform),
          FIELD(elastic_rows_args, out, LOOM_REAL, LOOM_WRITE, 3 * ROW_ARITY * NE, NULL)}},
        {&e_elastic_parts,
         (NE + ELASTIC_PART - 1) / ELASTIC_PART,
         0,
         0,
         set_parts,
         {FIELD(elastic_sum_args, v, LOOM_REAL, LOOM_READ, NE, kc_uniform),
          FIELD(elastic_sum_args, part, LOOM_REAL, LOOM_WRITE,
                (NE + ELASTIC_PART - 1) / ELASTIC_PART, NULL)}},
        {&e_elastic_sum,
         NE,
         NE, /* another order of sums: as the reductions in cases_linalg.c */
         1,
         NULL,
         {FIELD(elastic_sum_args, v, LOOM_REAL, LOOM_READ, NE, kc_uniform)}},
};

const kernel_case *cases_elements(int *num)
{
  *num = (int)(sizeof cases / sizeof cases[0]);
  return cases;
}
