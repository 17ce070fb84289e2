/* Plates as eigenvalue problems, on five triangulations: frequencies of a free square plate, and
 * the weight at which a clamped strip that stands on edge buckles sideways. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elements/plate_rest.h"
#include "geom/small.kern.h"
#include "support/elem_case.h"
#include "support/sheets.h"

enum { MODES = 10 };

/* ---- dense symmetric matrices [n][n] ---- */

static double *new_matrix(int n)
{
  double *const A = calloc((size_t)n * (size_t)n, sizeof *A);
  cr_assert(A != NULL);
  return A;
}

/* A = L L', L in the lower triangle, by rows */
static void factorise_matrix(double *A, int n)
{
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) {
      const double *const a = A + (size_t)n * i, *const b = A + (size_t)n * j;
      double s[4] = {0, 0, 0, 0};
      int k = 0;
      for (; k + 4 <= j; k += 4)
        for (int c = 0; c < 4; ++c) s[c] += a[k + c] * b[k + c];
      for (; k < j; ++k) s[0] += a[k] * b[k];
      const double left = a[j] - (s[0] + s[1] + s[2] + s[3]);
      cr_assert(i != j || left > 0, "row %d: %g", i, left);
      A[(size_t)n * i + j] = i == j ? sqrt(left) : left / b[j];
    }
}

static void solve_factorised(const double *L, int n, double *x)
{
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < i; ++k) x[i] -= L[(size_t)n * i + k] * x[k];
    x[i] /= L[(size_t)n * i + i];
  }
  for (int i = n - 1; i >= 0; --i) {
    x[i] /= L[(size_t)n * i + i];
    for (int k = 0; k < i; ++k) x[k] -= L[(size_t)n * i + k] * x[i];
  }
}

/* ---- plates ---- */

typedef struct plate_matrix {
  sheet s;
  topo tp;
  plate_mesh m;
  double *K;    /* [nv][nv] stiffness against heights, 1/m^2, over D */
  double *area; /* [nv] m^2 */
} plate_matrix;

/* cell > 0: with a held column of cells before x = 0. */
static void open_plate_matrix(plate_matrix *p, int kind, int n, int ny, double lx, double ly,
                              double nu, double cell)
{
  const double D[4] = {1, 1, nu, 0.5 * (1 - nu)};
  loom_err err;
  sheet_new(&p->s, kind, n, ny, lx, ly);
  if (cell > 0) sheet_add_column(&p->s, cell);
  const int nv = p->s.nv;
  cr_assert_eq(topo_build(&err, p->s.tris, p->s.nt, nv, &p->tp), LOOM_OK);
  cr_assert_eq(plate_mesh_new(&err, &p->tp, p->s.nt, &p->m), LOOM_OK);
  p->K = new_matrix(nv);
  p->area = calloc((size_t)nv, sizeof *p->area);
  for (int32_t t = 0; t < p->s.nt; ++t) {
    const int32_t *const v = p->s.tris + 3 * t;
    double X[9] = {0}, most = -1;
    for (int k = 0; k < 3; ++k) {
      memcpy(X + 3 * k, p->s.X + 2 * v[k], 2 * sizeof *X);
      most = fmax(most, X[3 * k]);
    }
    cr_assert_null(plate_mesh_triangle(&p->m, t, X));
    p->m.held[t] = most <= 0;
    const double two = (X[3] - X[0]) * (X[7] - X[1]) - (X[4] - X[1]) * (X[6] - X[0]);
    for (int k = 0; k < 3; ++k) p->area[v[k]] += two / 6;
  }
  for (int32_t t = 0; t < p->s.nt; ++t) {
    double R[3 * PLATE_FOLDS], K[3][PLATE_VERTS] = {{0}};
    int32_t side[PLATE_FOLDS], v[PLATE_VERTS];
    plate_modes(&p->m, t, D, R);
    plate_fold_sides(&p->m, t, side);
    plate_patch_verts(&p->m, p->s.tris, t, R, v);
    for (int f = 0; f < PLATE_FOLDS; ++f) {
      double g[PLATE_VERTS] = {0};
      if (side[f] < 0) continue;
      plate_fold_vector(&p->m, side[f], f, g);
      for (int r = 0; r < 3; ++r)
        for (int a = 0; a < PLATE_VERTS; ++a) K[r][a] += R[PLATE_FOLDS * r + f] * g[a];
    }
    for (int a = 0; a < PLATE_VERTS; ++a)
      for (int b = 0; b < PLATE_VERTS; ++b)
        for (int r = 0; r < 3; ++r) p->K[(size_t)nv * v[a] + v[b]] += K[r][a] * K[r][b];
  }
}

static void close_plate_matrix(plate_matrix *p)
{
  free(p->K);
  free(p->area);
  plate_mesh_free(&p->m);
  topo_free(&p->tp);
  sheet_free(&p->s);
}

/* ---- free square plate ---- */

/* Gram-Schmidt in the norm of w; returns 0 for a vector that vanishes. */
static void make_orthonormal(double *V, int n, const double *w)
{
  for (int a = 0; a < MODES; ++a)
    for (int again = 0; again < 2; ++again) {
      double *const v = V + (size_t)n * a, sq = 0;
      for (int b = 0; b < a; ++b) {
        const double *const u = V + (size_t)n * b;
        double d = 0;
        for (int i = 0; i < n; ++i) d += w[i] * u[i] * v[i];
        for (int i = 0; i < n; ++i) v[i] -= d * u[i];
      }
      for (int i = 0; i < n; ++i) sq += w[i] * v[i] * v[i];
      for (int i = 0; i < n; ++i) v[i] /= sqrt(sq);
    }
}

/* Frequencies omega L^2 sqrt(rho/D) of the lowest modes, ascending: subspace iteration. */
static void measure_frequencies(const plate_matrix *p, double *omega)
{
  const int n = p->s.nv;
  const double shift = 100;
  double *const A = new_matrix(n), *const V = calloc((size_t)n * MODES, sizeof *V);
  double *const W = calloc((size_t)n * MODES, sizeof *W);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      A[(size_t)n * i + j] = p->K[(size_t)n * i + j] + (i == j ? shift * p->area[i] : 0);
  factorise_matrix(A, n);
  for (int k = 0; k < n * MODES; ++k) V[k] = case_random(3, (unsigned)k);
  make_orthonormal(V, n, p->area);
  lk_real S[MODES * MODES], U[MODES * MODES];
  for (int turn = 0; turn < 40; ++turn) {
    for (int a = 0; a < MODES; ++a) {
      for (int i = 0; i < n; ++i) V[(size_t)n * a + i] *= p->area[i];
      solve_factorised(A, n, V + (size_t)n * a);
    }
    make_orthonormal(V, n, p->area);
  }
  for (int a = 0; a < MODES; ++a)
    for (int i = 0; i < n; ++i) {
      double sum = 0;
      for (int j = 0; j < n; ++j) sum += p->K[(size_t)n * i + j] * V[(size_t)n * a + j];
      W[(size_t)n * a + i] = sum;
    }
  for (int a = 0; a < MODES; ++a)
    for (int b = 0; b < MODES; ++b) {
      double sum = 0;
      for (int i = 0; i < n; ++i) sum += V[(size_t)n * a + i] * W[(size_t)n * b + i];
      S[MODES * a + b] = (lk_real)sum;
    }
  lk_sym_eig(MODES, S, U);
  for (int a = 0; a < MODES; ++a) omega[a] = sqrt(fmax((double)S[MODES * a + a], 0));
  for (int a = 0; a < MODES; ++a)
    for (int b = a + 1; b < MODES; ++b)
      if (omega[b] < omega[a]) {
        const double o = omega[a];
        omega[a] = omega[b];
        omega[b] = o;
      }
  free(A);
  free(V);
  free(W);
}

/* nu = 0.3, of Legendre polynomials 14 x 14 by Ritz */
static const double ritz[6] = {13.468, 19.596, 24.270, 34.801, 34.801, 61.093};
static int meshes[] = {SHEET_REGULAR, SHEET_ALTERNATE, SHEET_EQUILATERAL, SHEET_DELAUNAY,
                       SHEET_JITTERED};

ParameterizedTestParameters(plate_modes, free_square_plate)
{
  return cr_make_param_array(int, meshes, sizeof meshes / sizeof *meshes);
}

ParameterizedTest(int *kind, plate_modes, free_square_plate)
{
  if (sizeof(loom_real) < 8) cr_skip_test("eigenvalues need double precision");
  double omega[2][MODES], worst[2] = {0, 0};
  static const int cells[2] = {16, 32};
  for (int k = 0; k < 2; ++k) {
    plate_matrix p;
    const int ny =
        *kind == SHEET_EQUILATERAL ? 2 * (int)lround(cells[k] / 1.73205080756887729353) : cells[k];
    open_plate_matrix(&p, *kind, cells[k], ny, 1, 1, 0.3, 0);
    measure_frequencies(&p, omega[k]);
    close_plate_matrix(&p);
    for (int m = 0; m < 3; ++m)
      cr_expect_lt(omega[k][m], 1e-2, "%s: mode %d of a rigid motion: %g", sheet_names[*kind], m,
                   omega[k][m]);
    cr_expect_gt(omega[k][3], 10);
    for (int m = 0; m < 6; ++m) worst[k] = fmax(worst[k], fabs(omega[k][3 + m] / ritz[m] - 1));
  }
  printf("free plate, %s, n 32: %.4f %.4f %.4f %.4f %.4f %.4f of Ritz; largest error %.4f, n 16 "
         "%.4f\n",
         sheet_names[*kind], omega[1][3] / ritz[0], omega[1][4] / ritz[1], omega[1][5] / ritz[2],
         omega[1][6] / ritz[3], omega[1][7] / ritz[4], omega[1][8] / ritz[5], worst[1], worst[0]);
  for (int m = 0; m < 6; ++m) {
    cr_expect_gt(omega[1][3 + m] / ritz[m], 0.985);
    cr_expect_lt(omega[1][3 + m] / ritz[m], 1.002);
  }
  cr_expect_gt(worst[0], 3 * worst[1]);
}

/* ---- a clamped strip on edge ---- */

/* Gradients of the three heights of triangle t, g [3][2], 1/m; returns its area. */
static double height_gradients(const sheet *s, int32_t t, double g[3][2])
{
  const double *x[3];
  for (int k = 0; k < 3; ++k) x[k] = s->X + 2 * s->tris[3 * t + k];
  const double two =
      (x[1][0] - x[0][0]) * (x[2][1] - x[0][1]) - (x[1][1] - x[0][1]) * (x[2][0] - x[0][0]);
  for (int k = 0; k < 3; ++k) {
    const double *const p = x[(k + 1) % 3], *const q = x[(k + 2) % 3];
    g[k][0] = (p[1] - q[1]) / two;
    g[k][1] = (q[0] - p[0]) / two;
  }
  return 0.5 * two;
}

/* Stress by strain of a membrane of stiffness 1 without Poisson's ratio: N_ab = (u_a,b + u_b,a)/2.
 */
static void membrane_stress(const sheet *s, int32_t t, double g[3][2], const double *u,
                            double N[2][2])
{
  double F[2][2] = {{0}};
  for (int k = 0; k < 3; ++k)
    for (int a = 0; a < 2; ++a)
      for (int b = 0; b < 2; ++b) F[a][b] += u[2 * s->tris[3 * t + k] + a] * g[k][b];
  for (int a = 0; a < 2; ++a)
    for (int b = 0; b < 2; ++b) N[a][b] = 0.5 * (F[a][b] + F[b][a]);
}

/* Displacements u [nv][2] under a weight of 1 an area along -y, x <= 0 held. */
static void solve_membrane(const plate_matrix *p, double *u)
{
  const sheet *const s = &p->s;
  const int n = 2 * s->nv;
  double *const K = new_matrix(n);
  for (int32_t t = 0; t < s->nt; ++t) {
    double g[3][2], N[2][2], *const e = calloc((size_t)n, sizeof *e);
    const double area = height_gradients(s, t, g);
    for (int j = 0; j < 6; ++j) {
      const int at = 2 * s->tris[3 * t + j / 2] + j % 2;
      e[at] = 1;
      membrane_stress(s, t, g, e, N);
      e[at] = 0;
      for (int i = 0; i < 6; ++i)
        K[(size_t)n * (2 * s->tris[3 * t + i / 2] + i % 2) + at] +=
            area * (N[i % 2][0] * g[i / 2][0] + N[i % 2][1] * g[i / 2][1]);
    }
    free(e);
  }
  for (int i = 0; i < n; ++i) {
    const int held = s->X[2 * (i / 2)] <= 0;
    u[i] = i % 2 == 1 && !held ? -p->area[i / 2] : 0;
    for (int j = 0; j < n; ++j)
      if (held || s->X[2 * (j / 2)] <= 0) K[(size_t)n * i + j] = i == j;
  }
  factorise_matrix(K, n);
  solve_factorised(K, n, u);
  free(K);
}

/* v = -K_g w: the forces of stresses N of a unit weight on heights w, which deflection turns. */
static void apply_weight(const plate_matrix *p, const double *u, const double *w, double *v)
{
  const sheet *const s = &p->s;
  for (int32_t i = 0; i < s->nv; ++i) v[i] = 0;
  for (int32_t t = 0; t < s->nt; ++t) {
    double g[3][2], N[2][2], d[2] = {0, 0};
    const double area = height_gradients(s, t, g);
    membrane_stress(s, t, g, u, N);
    for (int k = 0; k < 3; ++k)
      for (int a = 0; a < 2; ++a) d[a] += w[s->tris[3 * t + k]] * g[k][a];
    for (int k = 0; k < 3; ++k)
      for (int a = 0; a < 2; ++a)
        for (int b = 0; b < 2; ++b) v[s->tris[3 * t + k]] -= area * N[a][b] * d[b] * g[k][a];
  }
  for (int32_t i = 0; i < s->nv; ++i)
    if (s->X[2 * i] <= 0) v[i] = 0;
}

/* The weight q of a length, as q L^3/(w D), at which the strip of length 1 buckles: 1/mu with the
 * largest mu of -K_g w = mu K w, by the power method with a shift. */
static double buckling_weight(int kind, int cells, double nu)
{
  plate_matrix p;
  const double ly = 0.1;
  const int across =
      (int)lround(ly * cells / (kind == SHEET_EQUILATERAL ? 0.86602540378443864676 : 1));
  open_plate_matrix(&p, kind, cells, across, 1, ly, nu, 1.0 / cells);
  const int n = p.s.nv;
  const double shift = 1.0 / 15;
  double *const u = calloc(2 * (size_t)n, sizeof *u), *const w = calloc((size_t)n, sizeof *w);
  double *const v = calloc((size_t)n, sizeof *v), mu = 0;
  solve_membrane(&p, u);
  for (int i = 0; i < n; ++i) {
    const int held = p.s.X[2 * i] <= 0;
    w[i] = held ? 0 : p.s.X[2 * i] * p.s.X[2 * i];
    for (int j = 0; j < n; ++j)
      if (held || p.s.X[2 * j] <= 0) p.K[(size_t)n * i + j] = i == j;
  }
  factorise_matrix(p.K, n);
  for (int turn = 0; turn < 80; ++turn) {
    double sq = 0, next = 0;
    apply_weight(&p, u, w, v);
    solve_factorised(p.K, n, v);
    for (int i = 0; i < n; ++i) v[i] += shift * w[i];
    for (int i = 0; i < n; ++i) sq += w[i] * w[i], next += w[i] * v[i];
    mu = next / sq - shift;
    for (int i = 0; i < n; ++i) w[i] = v[i] / shift;
  }
  free(u), free(v), free(w);
  close_plate_matrix(&p);
  return 1 / mu;
}

ParameterizedTestParameters(plate_modes, lateral_buckling)
{
  return cr_make_param_array(int, meshes, sizeof meshes / sizeof *meshes);
}

/* Limits of fine meshes of all five triangulations, 12.85 sqrt(B C) of thin beams and the clamp's
 * hold on warping: 19.34 and 15.66. */
ParameterizedTest(int *kind, plate_modes, lateral_buckling)
{
  static const double nu[2] = {0, 0.3}, theory[2] = {19.34, 15.66};
  const int fine = getenv("LOOM_PLATE") != NULL;
  for (int k = 0; k < 2; ++k) {
    const double q = buckling_weight(*kind, fine ? 80 : 40, nu[k]);
    printf("lateral buckling, %s, nu %g: q L^3/(w D) = %.3f, theory %.2f\n", sheet_names[*kind],
           nu[k], q, theory[k]);
    cr_expect_float_eq(q / theory[k], 1, fine ? 0.005 : 0.012, "%s: %g", sheet_names[*kind], q);
  }
}
