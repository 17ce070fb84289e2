/* elements: properties that every element type must have, with any formula. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "elements/listed.kern.h"
#include "support/elem_case.h"

enum { NE = 24, NDOF2 = CASE_MAX_DOF * CASE_MAX_DOF };

#define EACH_TYPE(t)                                 \
  for (int t##_i = 0; t##_i < elem_count(); ++t##_i) \
    for (const elem_type *t = elem_at(t##_i); (t) != NULL; (t) = NULL)
/* curved and flat rest shapes; a tetrahedron has no flat one */
#define EACH_REST(t, flat) \
  for (int flat = 0; flat < (strncmp((t)->name, "tet", 3) == 0 ? 1 : 2); ++flat)

static int has_element_cap(const elem_type *t, uint32_t cap) { return (t->caps & cap) != 0; }
static int is_element_type(const elem_type *t, const char *name)
{
  return strcmp(t->name, name) == 0;
}
static int is_thread(const elem_type *t)
{
  return is_element_type(t, "stitch") || is_element_type(t, "tie");
}

/* Rods keep frames that follow the motion in time, and their energy has a pole where a yarn
 * turns back on itself: their gradients and invariances are in test_rod. */
static int has_frames(const elem_type *t) { return strncmp(t->name, "yarn", 4) == 0; }

/* Differences of a float energy have no digits to compare. */
static void need_double(void)
{
  if (sizeof(loom_real) < 8) cr_skip_test("differences need double precision");
}

/* Rounding relative to the largest entry: a few dozen operations. */
static const double rounding = sizeof(loom_real) < 8 ? 2e-4 : 1e-12;

Test(elements, table_is_complete)
{
  EACH_TYPE(t)
  {
    cr_assert(elem_find(t->name) == t);
    cr_assert(t->doc != NULL && t->rest_doc != NULL && t->mat_doc != NULL);
    cr_assert(t->arity >= 1 && t->arity <= ELEM_MAX_ARITY);
    cr_assert(t->rest_len >= 0 && t->rest_len <= ELEM_MAX_REST);
    cr_assert(t->mat_len >= 1 && t->mat_len <= ELEM_MAX_MAT);
    cr_assert_eq(t->energy != NULL, has_element_cap(t, LOOM_ELEM_ENERGY));
    cr_assert_eq(t->gradient != NULL, has_element_cap(t, LOOM_ELEM_GRADIENT));
    cr_assert_eq(t->hessian != NULL, has_element_cap(t, LOOM_ELEM_HESSIAN));
    cr_assert_eq(t->project != NULL, has_element_cap(t, LOOM_ELEM_PROJECT));
    cr_assert_eq(t->weights != NULL, has_element_cap(t, LOOM_ELEM_PROJECT));
    cr_assert_eq(t->proj_rows > 0, has_element_cap(t, LOOM_ELEM_PROJECT));
    cr_assert(t->init_rest != NULL);
    cr_assert_eq(t->init_line != NULL, t->topology == ELEM_JOINTS);
    const int by_scene = (t->topology & (ELEM_PINS | ELEM_STITCHES | ELEM_TIES)) != 0;
    cr_assert_eq(t->params != NULL, !by_scene);
    cr_assert(t->material == NULL || !by_scene);
    cr_assert_eq(t->section != NULL, !by_scene);
    for (uint32_t k = 0; k < t->num_params; ++k)
      cr_assert(t->params[k].offset < (t->material != NULL ? sizeof(elem_settings)
                                                           : (size_t)t->mat_len * sizeof(double)));
  }
  cr_assert_leq(elem_count(), ELEM_MAX_TYPES);
  cr_assert(elem_at(-1) == NULL && elem_at(elem_count()) == NULL);
  cr_assert(elem_find("tri_arap") != NULL);
  cr_assert(elem_find("no_such_type") == NULL);
}

/* Fourth-order central differences with step d, for quantities of size-0.1 elements:
 * truncation about (d/0.1)^4, rounding about 1e-16 0.1/d. */
static const double diff_step = 1e-4;

static double energy_difference(elem_case *c, int e, int dof)
{
  loom_real *x = c->x + 3 * c->type->arity * e + dof;
  const loom_real x0 = *x;
  double E[4];
  for (int k = 0; k < 4; ++k) {
    *x = (loom_real)((double)x0 + diff_step * (k < 2 ? k - 2 : k - 1));
    E[k] = case_energy(c, e);
  }
  *x = x0;
  return (8.0 * (E[2] - E[1]) - (E[3] - E[0])) / (12.0 * diff_step);
}

Test(elements, gradient_is_the_derivative_of_the_energy)
{
  loom_real g[CASE_MAX_DOF];
  elem_case c;
  need_double();
  EACH_TYPE(t) EACH_REST(t, flat) for (int pose = 1; pose < CASE_NUM_POSES; ++pose)
  {
    if (has_frames(t)) continue;
    case_new(&c, t, NE, flat, 100);
    case_pose(&c, pose, 7);
    for (int e = 0; e < NE; ++e) {
      case_run1(&c, t->gradient, 0, e, g);
      const double size = case_max_abs(g, 3 * t->arity);
      cr_assert(size > 0.0, "%s: no force in pose %d", t->name, pose);
      for (int i = 0; i < 3 * t->arity; ++i) {
        const double d = energy_difference(&c, e, i);
        cr_assert(fabs(d - (double)g[i]) <= 1e-7 * size, "%s pose %d elem %d dof %d: %.12g, %.12g",
                  t->name, pose, e, i, (double)g[i], d);
      }
    }
    case_free(&c);
  }
}

/* A list of elements, and of corners, gives the same values for each as the whole block. */
Test(elements, listed_ones_are_those_of_the_block)
{
  enum { NUM = 7 };
  for (int k = 0; k < elem_count(); ++k) {
    const elem_type *const t = elem_at(k);
    const int a = t->arity, side = 3 * a;
    cr_assert_eq(t->corner != NULL, has_element_cap(t, LOOM_ELEM_HESSIAN));
    cr_assert_eq(t->listed != NULL, has_element_cap(t, LOOM_ELEM_PROJECT));
    if (t->corner == NULL) continue;
    elem_case c;
    case_new(&c, t, NUM, 0, 3);
    case_pose(&c, CASE_RANDOM, 5);
    loom_real G[NUM * CASE_MAX_DOF], H[NUM * CASE_MAX_DOF * CASE_MAX_DOF];
    loom_real grad[NUM * CASE_MAX_DOF], diag[9 * NUM];
    int32_t elem[NUM], corner[NUM];
    for (int i = 0; i < NUM; ++i) elem[i] = (3 * i + 1) % NUM, corner[i] = i % a;
    case_run(&c, t->gradient, 0, G);
    case_run(&c, t->hessian, LOOM_HESS_EXACT, H);
    elem_list_args L = {.all = {.x = c.x, .verts = c.verts, .rest = c.rest, .mat = c.mat}};
    L.elem = elem, L.corner = corner, L.grad = grad, L.diag = diag;
    const double most = case_max_abs(H, NUM * side * side), push = case_max_abs(G, NUM * side);
    cr_assert_eq(lk_run(t->corner, &c.exec, &L, NUM, NULL), LOOM_OK);
    for (int i = 0; i < NUM; ++i)
      for (int r = 0; r < 3; ++r) {
        const int v = 3 * corner[i] + r;
        cr_expect_leq(fabs((double)(grad[3 * i + r] - G[side * elem[i] + v])), rounding * push);
        for (int q = 0; q < 3; ++q)
          cr_expect_leq(fabs((double)(diag[9 * i + 3 * r + q] -
                                      H[side * (side * elem[i] + v) + 3 * corner[i] + q])),
                        rounding * most, "%s", t->name);
      }
    if (t->listed != NULL) {
      cr_assert_eq(lk_run(t->listed, &c.exec, &L, NUM, NULL), LOOM_OK);
      for (int i = 0; i < NUM * side; ++i)
        cr_expect_leq(fabs((double)(grad[i] - G[side * elem[i / side] + i % side])),
                      rounding * push, "%s", t->name);
    }
    case_free(&c);
  }
}

Test(elements, exact_hessian_is_the_derivative_of_the_gradient)
{
  loom_real H[NDOF2], g[4][CASE_MAX_DOF];
  elem_case c;
  need_double();
  EACH_TYPE(t) EACH_REST(t, flat) for (int pose = 0; pose < CASE_NUM_POSES; ++pose)
  {
    if (!has_element_cap(t, LOOM_ELEM_HESSIAN)) continue;
    const int n = 3 * t->arity;
    case_new(&c, t, NE, flat, 200);
    case_pose(&c, pose, 8);
    for (int e = 0; e < NE; ++e) {
      case_run1(&c, t->hessian, LOOM_HESS_EXACT, e, H);
      const double size = case_max_abs(H, n * n);
      for (int j = 0; j < n; ++j) {
        loom_real *x = c.x + n * e + j;
        const loom_real x0 = *x;
        for (int k = 0; k < 4; ++k) {
          *x = (loom_real)((double)x0 + diff_step * (k < 2 ? k - 2 : k - 1));
          case_run1(&c, t->gradient, 0, e, g[k]);
        }
        *x = x0;
        for (int i = 0; i < n; ++i) {
          const double d = (8.0 * (double)(g[2][i] - g[1][i]) - (double)(g[3][i] - g[0][i])) /
                           (12.0 * diff_step);
          cr_assert(fabs(d - (double)H[n * i + j]) <= 1e-7 * size,
                    "%s flat %d pose %d elem %d (%d,%d): %.12g, differences %.12g", t->name, flat,
                    pose, e, i, j, (double)H[n * i + j], d);
          cr_assert(fabs((double)(H[n * i + j] - H[n * j + i])) <= rounding * size);
        }
      }
    }
    case_free(&c);
  }
}

/* hinge_shell, hinge_wang and plate document their semidefinite forms as Gauss-Newton;
 * all others change only the negative eigenvalues of the energy's own variables. */
Test(elements, semidefinite_hessians)
{
  loom_real H[NDOF2], P[NDOF2], D[NDOF2];
  double lo, hi, plo, phi;
  elem_case c;
  EACH_TYPE(t)
  {
    if (!has_element_cap(t, LOOM_ELEM_HESSIAN)) continue;
    const int n = 3 * t->arity, gauss_newton = is_element_type(t, "hinge_shell") ||
                                               is_element_type(t, "hinge_wang") ||
                                               is_element_type(t, "plate");
    int definite = 0, indefinite = 0;
    EACH_REST(t, flat) for (int pose = 0; pose < CASE_NUM_POSES; ++pose)
    {
      case_new(&c, t, NE, flat, 300);
      case_pose(&c, pose, 9);
      for (int e = 0; e < NE; ++e) {
        case_run1(&c, t->hessian, LOOM_HESS_EXACT, e, H);
        case_eigen_range(H, n, &lo, &hi);
        const double size = fmax(-lo, hi);
        const int already = lo >= -rounding * size;
        definite += already;
        indefinite += !already;
        for (int how = LOOM_HESS_PSD_CLAMP; how <= LOOM_HESS_PSD_ABS; ++how) {
          case_run1(&c, t->hessian, how, e, P);
          case_eigen_range(P, n, &plo, &phi);
          cr_assert(plo >= -1e3 * rounding * phi, "%s how %d pose %d: %g .. %g", t->name, how, pose,
                    plo, phi);
          cr_assert(how != LOOM_HESS_PSD_ABS || phi > 0.0 ||
                    (is_element_type(t, "tri_limit") && pose == CASE_AT_REST));
          for (int i = 0; i < n * n; ++i) D[i] = P[i] - H[i];
          if (gauss_newton) continue;
          if (already)
            cr_assert(case_max_abs(D, n * n) <= 10.0 * rounding * size, "%s pose %d: changed by %g",
                      t->name, pose, case_max_abs(D, n * n) / size);
          case_eigen_range(D, n, &plo, &phi);
          cr_assert(plo >= -100.0 * rounding * size, "%s how %d: below the exact one by %g",
                    t->name, how, plo);
        }
      }
      case_free(&c);
    }
    cr_assert(definite > 0, "%s: no semidefinite sample", t->name);
    cr_assert(indefinite > 0 || is_element_type(t, "pin") || is_thread(t),
              "%s: no indefinite sample", t->name);
  }
}

/* Gauss-Newton is exact where the angle is the rest angle. */
Test(elements, gauss_newton_is_exact_at_rest)
{
  loom_real H[NDOF2], P[NDOF2];
  elem_case c;
  const elem_type *t = elem_find("hinge_shell");
  case_new(&c, t, NE, 0, 310);
  for (int e = 0; e < NE; ++e) {
    case_run1(&c, t->hessian, LOOM_HESS_EXACT, e, H);
    case_run1(&c, t->hessian, LOOM_HESS_PSD_CLAMP, e, P);
    for (int i = 0; i < 144; ++i)
      cr_assert(fabs((double)(H[i] - P[i])) <= 10.0 * rounding * case_max_abs(P, 144));
  }
  case_free(&c);
}

Test(elements, no_force_in_a_moved_rest_shape)
{
  loom_real g[CASE_MAX_DOF];
  elem_case c;
  EACH_TYPE(t) EACH_REST(t, flat)
  {
    if (is_element_type(t, "pin") || is_thread(t) || has_frames(t)) continue;
    if (is_element_type(t, "plate_quadratic") && !flat) continue; /* its header tells why */
    case_new(&c, t, NE, flat, 400);
    for (int e = 0; e < NE; ++e) {
      case_pose(&c, CASE_RANDOM, 11);
      case_run1(&c, t->gradient, 0, e, g);
      const double size = case_max_abs(g, 3 * t->arity), E = case_energy(&c, e);
      case_pose(&c, CASE_AT_REST, 10); /* rotated, translated by ten element sizes */
      case_run1(&c, t->gradient, 0, e, g);
      cr_assert(case_max_abs(g, 3 * t->arity) <= 100.0 * rounding * size, "%s: %g of %g", t->name,
                case_max_abs(g, 3 * t->arity), size);
      cr_assert(case_energy(&c, e) <= 100.0 * rounding * E);
    }
    case_free(&c);
  }
}

Test(elements, forces_have_no_resultant_and_no_torque)
{
  loom_real g[CASE_MAX_DOF];
  elem_case c;
  EACH_TYPE(t) EACH_REST(t, flat) for (int pose = 1; pose < CASE_NUM_POSES; ++pose)
  {
    if (is_element_type(t, "pin") || has_frames(t)) continue;
    case_new(&c, t, NE, flat, 500);
    case_pose(&c, pose, 12);
    for (int e = 0; e < NE; ++e) {
      double F[3] = {0}, T[3] = {0};
      const loom_real *x = c.x + 3 * t->arity * e;
      case_run1(&c, t->gradient, 0, e, g);
      for (int v = 0; v < t->arity; ++v)
        for (int k = 0; k < 3; ++k) {
          const int p = (k + 1) % 3, q = (k + 2) % 3;
          F[k] += (double)g[3 * v + k];
          T[k] +=
              (double)((x[3 * v + p] - x[p]) * g[3 * v + q] - (x[3 * v + q] - x[q]) * g[3 * v + p]);
        }
      const double size = case_max_abs(g, 3 * t->arity);
      for (int k = 0; k < 3; ++k) {
        cr_assert(fabs(F[k]) <= 10.0 * rounding * size, "%s: force %g", t->name, F[k] / size);
        cr_assert(fabs(T[k]) <= 10.0 * rounding * size, "%s: torque %g", t->name, T[k] / size);
      }
    }
    case_free(&c);
  }
}

/* |p|^2 summed over the rows of the target, the value of A x without strain */
static double target_sq(const elem_case *c, int e)
{
  const elem_type *t = c->type;
  const loom_real *r = c->rest + t->rest_len * e, *m = c->mat + t->mat_len * e;
  if (is_element_type(t, "spring")) return (double)(r[0] * r[0]);
  if (is_element_type(t, "hinge_isometric")) return (double)(r[3] * r[3]);
  if (is_element_type(t, "plate_quadratic")) return (double)(r[33] * r[33]);
  if (is_element_type(t, "pin")) return (double)(m[1] * m[1] + m[2] * m[2] + m[3] * m[3]);
  if (is_thread(t)) return (double)(m[1] * m[1]);
  if (is_element_type(t, "tri_arap")) /* with the area the weight has */
    return 1.0 / (double)(r[0] * r[3] - r[1] * r[2]);
  if (is_element_type(t, "tri_limit")) { /* singular values of F from its Gram matrix */
    const loom_real *const x = c->x + 9 * e;
    double f[2][3] = {{0}}, G[3] = {0}, sum = 0;
    for (int j = 0; j < 2; ++j)
      for (int k = 0; k < 3; ++k)
        f[j][k] = (double)((x[3 + k] - x[k]) * r[j] + (x[6 + k] - x[k]) * r[2 + j]);
    for (int k = 0; k < 3; ++k) {
      G[0] += f[0][k] * f[0][k];
      G[1] += f[0][k] * f[1][k];
      G[2] += f[1][k] * f[1][k];
    }
    const double mean = (G[0] + G[2]) / 2, half = (G[0] - G[2]) / 2;
    for (int sign = -1; sign <= 1; sign += 2) {
      const double s = sqrt(mean + sign * sqrt(half * half + G[1] * G[1]));
      const double kept = fmin(fmax(s, (double)m[1]), (double)m[2]);
      sum += kept * kept;
    }
    return 0.5 * sum / (double)(r[0] * r[3] - r[1] * r[2]);
  }
  cr_assert(is_element_type(t, "tet_arap"), "%s: state |p|^2 of the new projective type here",
            t->name);
  return 3.0 * (double)r[9];
}

/* E = 1/2 x'Wx - x'(w A'p) + w/2 |p|^2, grad E = W x - w A'p, and E is the smallest value
 * over all targets, so W (x) I is at least the exact Hessian. */
Test(elements, projective_form_agrees)
{
  loom_real g[CASE_MAX_DOF], b[CASE_MAX_DOF], W[ELEM_MAX_ARITY * ELEM_MAX_ARITY], H[NDOF2],
      D[NDOF2];
  double lo, hi;
  elem_case c;
  EACH_TYPE(t) EACH_REST(t, flat) for (int pose = 0; pose < CASE_NUM_POSES; ++pose)
  {
    if (!has_element_cap(t, LOOM_ELEM_PROJECT)) continue;
    const int a = t->arity, n = 3 * a;
    case_new(&c, t, NE, flat, 600);
    case_pose(&c, pose, 13);
    for (int e = 0; e < NE; ++e) {
      const loom_real *x = c.x + n * e;
      double E = 0.5 * (double)c.mat[t->mat_len * e] * target_sq(&c, e), size = 0.0;
      case_run1(&c, t->gradient, 0, e, g);
      case_run1(&c, t->project, 0, e, b);
      case_run1(&c, t->weights, 0, e, W);
      case_run1(&c, t->hessian, LOOM_HESS_EXACT, e, H);
      for (int v = 0; v < a; ++v)
        for (int k = 0; k < 3; ++k) {
          double Wx = 0.0;
          for (int u = 0; u < a; ++u) {
            Wx += (double)(W[a * v + u] * x[3 * u + k]);
            size = fmax(size, fabs((double)(W[a * v + u] * x[3 * u + k])));
            cr_assert_eq(W[a * v + u], W[a * u + v]);
          }
          E += (double)x[3 * v + k] * (0.5 * Wx - (double)b[3 * v + k]);
          cr_assert(fabs(Wx - (double)(b[3 * v + k] + g[3 * v + k])) <= 10.0 * rounding * size,
                    "%s: %g, %g", t->name, Wx - (double)b[3 * v + k], (double)g[3 * v + k]);
        }
      cr_assert(fabs(E - case_energy(&c, e)) <= 100.0 * rounding * size, "%s: %g, %g", t->name, E,
                case_energy(&c, e));
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
          D[n * i + j] = (i % 3 == j % 3 ? W[a * (i / 3) + j / 3] : 0) - H[n * i + j];
      case_eigen_range(D, n, &lo, &hi);
      cr_assert(lo >= -100.0 * rounding * case_max_abs(W, a * a), "%s: %g", t->name, lo);
    }
    case_free(&c);
  }
}

Test(elements, same_bits_for_any_number_of_threads)
{
  enum { MANY = 3000 };
  elem_case c;
  EACH_TYPE(t)
  {
    const lk_entry *k[4] = {t->gradient, t->hessian, t->project, t->weights};
    const size_t count = (size_t)MANY * 9 * (size_t)t->arity * (size_t)t->arity;
    loom_real *one = calloc(count, sizeof *one), *many = calloc(count, sizeof *many);
    case_new(&c, t, MANY, 0, 700);
    case_pose(&c, CASE_RANDOM, 14);
    for (int i = 0; i < 4; ++i) {
      if (k[i] == NULL) continue;
      for (int threads = 1; threads <= 8; ++threads) {
        c.exec.num_threads = threads;
        case_run(&c, k[i], LOOM_HESS_PSD_CLAMP, threads == 1 ? one : many);
        if (threads > 1)
          cr_assert(memcmp(one, many, count * sizeof *one) == 0, "%s: %d threads", k[i]->name,
                    threads);
        else
          memcpy(many, one, count * sizeof *one);
      }
    }
    const elem_args A = {.x = c.x, .verts = c.verts, .rest = c.rest, .mat = c.mat};
    loom_real sum = 0;
    for (int threads = 1; threads <= 8; ++threads) {
      c.exec.num_threads = threads;
      cr_assert_eq(lk_run(t->energy, &c.exec, &A, MANY, &c.result), LOOM_OK);
      if (threads == 1) sum = c.result;
      cr_assert(sum > 0 && memcmp(&sum, &c.result, sizeof sum) == 0);
    }
    free(one);
    free(many);
    case_free(&c);
  }
}

/* Collapsed, collinear, folded, nearly so, and blown up: everything stays a number. */
static void degenerate_pose(elem_case *c, int kind)
{
  static const double spread[] = {0.0, 1e-30, 1e-17, 1e-12, 1e-8, 1e-3};
  const int a = c->type->arity;
  for (int i = 0; i < 3 * a * c->ne; ++i) {
    const int v = i / 3 % a, k = i % 3;
    const double r = spread[kind % 6] * case_random(31, (unsigned)i);
    switch (kind / 6) {
    case 0:
      c->x[i] = (loom_real)(k == 0 ? r : spread[kind % 6]);
      break; /* one point */
    case 1:
      c->x[i] = (loom_real)((k == 0 ? 0.1 * v : 0.0) + r);
      break; /* one line */
    case 2:  /* v = 2, 3 fold up */
      c->x[i] = (loom_real)(c->rest_x[i - 3 * v + 3 * (v == 3 ? 2 : v)] + r);
      break;
    case 3:
      c->x[i] = (loom_real)((k == 2 ? 0.0 : c->rest_x[i]) + r);
      break; /* flat */
    default:
      c->x[i] = (loom_real)(1e6 * c->rest_x[i] * (k == 2 ? -1.0 : 1.0));
      break;
    }
  }
}

Test(elements, degenerate_configurations_stay_finite)
{
  loom_real out[NE * NDOF2];
  elem_case c;
  EACH_TYPE(t) EACH_REST(t, flat) for (int kind = 0; kind <= 24; ++kind)
  {
    const int a = t->arity;
    case_new(&c, t, NE, flat, 800);
    degenerate_pose(&c, kind);
    for (int e = 0; e < NE; ++e) {
      const double E = case_energy(&c, e);
      cr_assert(isfinite(E) && E >= 0.0, "%s kind %d: %g", t->name, kind, E);
    }
    case_run(&c, t->gradient, 0, out);
    for (int i = 0; i < NE * 3 * a; ++i)
      cr_assert(isfinite((double)out[i]), "%s: gradient, kind %d", t->name, kind);
    for (int how = 0; how < 3 && has_element_cap(t, LOOM_ELEM_HESSIAN); ++how) {
      case_run(&c, t->hessian, how, out);
      for (int i = 0; i < NE * 9 * a * a; ++i)
        cr_assert(isfinite((double)out[i]), "%s: Hessian %d, kind %d", t->name, how, kind);
    }
    if (has_element_cap(t, LOOM_ELEM_PROJECT)) {
      case_run(&c, t->project, 0, out);
      for (int i = 0; i < NE * 3 * a; ++i)
        cr_assert(isfinite((double)out[i]), "%s: projection, kind %d", t->name, kind);
    }
    case_free(&c);
  }
}

Test(elements, degenerate_rest_shapes_are_refused)
{
  double rest[ELEM_MAX_REST];
  const double line[CASE_MAX_DOF] = {0, 0, 0, 1, 0, 0, 2, 0, 0, 3, 0, 0};
  const double flat[CASE_MAX_DOF] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0};
  double nan[CASE_MAX_DOF];
  for (int i = 0; i < CASE_MAX_DOF; ++i) nan[i] = NAN;
  EACH_TYPE(t)
  {
    cr_assert(t->init_rest(nan, rest) != NULL, "%s takes NaN", t->name);
    if (t->arity < 3) continue;
    const int any = has_frames(t) || is_thread(t); /* a thread has no shape of its own */
    cr_assert_eq(t->init_rest(line, rest) == NULL, any, "%s and a line", t->name);
    if (t->topology == ELEM_PATCHES) continue; /* `flat` has four vertices */
    cr_assert_eq(t->init_rest(flat, rest) != NULL, t->topology == ELEM_TETS, "%s", t->name);
  }
}
