/* plate_rest.c - see plate_rest.h. */
#include "elements/plate_rest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "elements/plate/plate.kern.h"
#include "elements/rest_data.h"
#include "geom/vec3.h"

/* Singular values below this part of the largest count as 0. */
#define PLATE_RANK 1e-6

loom_status plate_mesh_new(loom_err *err, const topo *tp, int64_t nt, plate_mesh *out)
{
  const size_t n = (size_t)nt + 1;
  *out = (plate_mesh){.num_tris = nt,
                      .across = malloc(3 * n * sizeof *out->across),
                      .corner = calloc(6 * n, sizeof *out->corner),
                      .fold = calloc(3 * n, sizeof *out->fold),
                      .held = calloc(n, sizeof *out->held)};
  if (out->across == NULL || out->corner == NULL || out->fold == NULL || out->held == NULL) {
    plate_mesh_free(out);
    return err_set(err, LOOM_E_NOMEM, "no memory for the folds of %lld triangles", (long long)nt);
  }
  for (int64_t k = 0; k < 3 * nt; ++k) out->across[k] = -1;
  for (int64_t e = 0; e < tp->num_edges; ++e) {
    const int32_t *const side = tp->sides + tp->first[e];
    if (tp->first[e + 1] - tp->first[e] != 2) continue;
    out->across[side[0]] = side[1];
    out->across[side[1]] = side[0];
  }
  return LOOM_OK;
}

void plate_mesh_free(plate_mesh *m)
{
  free(m->across);
  free(m->corner);
  free(m->fold);
  free(m->held);
  memset(m, 0, sizeof *m);
}

const char *plate_mesh_triangle(plate_mesh *m, int64_t t, const double *X)
{
  double e[2][3], n[3], axis[2][3], flat[4];
  for (int k = 0; k < 2; ++k) vec3_sub(X + 3 * (k + 1), X, e[k]);
  const char *const why = rest_data_triangle(X, flat);
  if (why != NULL) return why;
  vec3_cross(e[0], e[1], n);
  rest_data_first_axis(n, axis[0]);
  const double len = vec3_norm(n);
  for (int c = 0; c < 3; ++c) n[c] /= len;
  vec3_cross(n, axis[0], axis[1]);
  for (int k = 0; k < 6; ++k)
    m->corner[6 * t + k] = k < 2 ? 0.0 : vec3_dot(e[k / 2 - 1], axis[k % 2]);
  return NULL;
}

/* ---- one side ---- */

typedef struct plate_side {
  double u[2];    /* its unit vector */
  double l, s, h; /* m: length; the opposite corner, from the middle along u and across it */
} plate_side;

static void open_plate_side(const plate_mesh *m, int32_t side, plate_side *f)
{
  const double *const c = m->corner + 6 * (int64_t)(side / 3);
  const int a = side % 3;
  const double *const p = c + 2 * a, *const q = c + 2 * ((a + 1) % 3),
                      *const r = c + 2 * ((a + 2) % 3);
  const double x = q[0] - p[0], y = q[1] - p[1];
  const double mx = r[0] - 0.5 * (p[0] + q[0]), my = r[1] - 0.5 * (p[1] + q[1]);
  f->l = sqrt(x * x + y * y);
  f->u[0] = x / f->l;
  f->u[1] = y / f->l;
  f->s = f->u[0] * mx + f->u[1] * my;
  f->h = f->u[0] * my - f->u[1] * mx;
}

/* Both sides of a fold, with the mean length where a seam joins two lengths. */
static void open_plate_fold(const plate_mesh *m, int32_t side, plate_side f[2])
{
  open_plate_side(m, side, &f[0]);
  open_plate_side(m, m->across[side], &f[1]);
  const double l = 0.5 * (f[0].l + f[1].l);
  for (int k = 0; k < 2; ++k) {
    f[k].s *= l / f[k].l;
    f[k].l = l;
  }
}

/* The slope of f's plane less that of a quadratic surface at the middle of the side, by its
 * curvature (k_xx, k_yy, 2 k_xy) in the frame of the side, m. */
static void plate_half_row(const plate_side *f, double *row)
{
  row[0] = (f->s * f->s - 0.25 * f->l * f->l) / (2 * f->h);
  row[1] = 0.5 * f->h;
  row[2] = 0.5 * f->s;
}

/* Row of the fold of `side` by the curvature in the frame of a side with the unit vector `ref`, in
 * the plane of the triangle of `side`; a half turn of the frame changes no curvature.  A held
 * triangle stays flat: the fold at its side is that of the free triangle beyond alone. */
static void plate_fold_row(const plate_mesh *m, int32_t side, const double *ref, double *row)
{
  plate_side f[2];
  double half[2][3], own[3];
  open_plate_fold(m, side, f);
  for (int k = 0; k < 2; ++k) plate_half_row(&f[k], half[k]);
  const int bends[2] = {!m->held[side / 3], !m->held[m->across[side] / 3]};
  for (int k = 0; k < 3; ++k) own[k] = bends[0] * half[0][k] + bends[1] * half[1][k];
  const double c = ref[0] * f[0].u[0] + ref[1] * f[0].u[1];
  const double s = ref[0] * f[0].u[1] - ref[1] * f[0].u[0];
  row[0] = own[0] * c * c + own[1] * s * s - 2 * own[2] * c * s;
  row[1] = own[0] * s * s + own[1] * c * c + 2 * own[2] * c * s;
  row[2] = (own[0] - own[1]) * c * s + own[2] * (c * c - s * s);
}

/* ---- shares of a fold ---- */

/* Eigenvalues l [3] and eigenvectors in the columns of V of a symmetric S [3][3], by Jacobi
 * rotations; S is destroyed. */
static void plate_eigen3(double S[3][3], double *l, double V[3][3])
{
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) V[i][j] = i == j;
  for (int turn = 0; turn < 30; ++turn) {
    const int p = turn % 3 == 2, q = turn % 3 == 0 ? 1 : 2; /* (0, 1), (0, 2), (1, 2) */
    if (S[p][q] == 0.0) continue;
    const double w = (S[q][q] - S[p][p]) / (2 * S[p][q]);
    const double t = (w < 0 ? -1 : 1) / (fabs(w) + sqrt(w * w + 1));
    const double c = 1 / sqrt(t * t + 1), s = t * c;
    for (int k = 0; k < 3; ++k) {
      const double x = S[k][p], y = S[k][q];
      S[k][p] = c * x - s * y;
      S[k][q] = s * x + c * y;
    }
    for (int k = 0; k < 3; ++k) {
      const double x = S[p][k], y = S[q][k];
      S[p][k] = c * x - s * y;
      S[q][k] = s * x + c * y;
    }
    for (int k = 0; k < 3; ++k) {
      const double x = V[k][p], y = V[k][q];
      V[k][p] = c * x - s * y;
      V[k][q] = s * x + c * y;
    }
  }
  for (int k = 0; k < 3; ++k) l[k] = S[k][k];
}

/* Rows M [num][3] of folds and the row g that their sum with weights c is to give, all by l. */
typedef struct plate_fit {
  int num;
  double M[PLATE_SHARES][3], g[3], l[3], V[3][3];
} plate_fit;

/* c += M (M'M + mu I)^-1 (g - M'c) on the space in which M'M is regular. */
static void plate_improve(const plate_fit *w, double mu, double *c)
{
  double r[3], z[3] = {0, 0, 0};
  const double most = fmax(w->l[0], fmax(w->l[1], w->l[2]));
  for (int j = 0; j < 3; ++j) {
    r[j] = w->g[j];
    for (int f = 0; f < w->num; ++f) r[j] -= w->M[f][j] * c[f];
  }
  for (int k = 0; k < 3; ++k) {
    if (!(w->l[k] > PLATE_RANK * PLATE_RANK * most)) continue;
    double part = 0;
    for (int j = 0; j < 3; ++j) part += w->V[j][k] * r[j];
    for (int j = 0; j < 3; ++j) z[j] += w->V[j][k] * part / (w->l[k] + mu);
  }
  for (int f = 0; f < w->num; ++f)
    for (int j = 0; j < 3; ++j) c[f] += w->M[f][j] * z[j];
}

/* The weights with which one side of the fold sees the folds; returns the largest. */
static double plate_weights_at(const plate_fit *w, double first, double mu, double *c)
{
  double most = 0;
  for (int f = 0; f < w->num; ++f) c[f] = f == 0 ? first : 0;
  plate_improve(w, mu, c);
  /* M'M has lost half the digits of M; with mu there is no solution to come nearer to */
  for (int k = 0; k < 2 && mu == 0; ++k) plate_improve(w, 0, c);
  for (int f = 0; f < w->num; ++f) most = fmax(most, fabs(c[f]));
  return most;
}

/* Weights above 1 make a triangle's curvature depend on its neighbours more than on itself: they
 * are brought down to 1 by the least damping mu^2 that does. */
static void plate_limit(const plate_fit *w, double first, double *c)
{
  const double most = fmax(w->l[0], fmax(w->l[1], w->l[2]));
  if (plate_weights_at(w, first, 0, c) <= 1) return;
  double lo = log(most) - 40, hi = log(most) + 20;
  for (int k = 0; k < 60; ++k) {
    const double mid = 0.5 * (lo + hi);
    *(plate_weights_at(w, first, exp(mid), c) > 1 ? &lo : &hi) = mid;
  }
  (void)plate_weights_at(w, first, exp(hi), c);
}

/* Shares of the first triangle at `side`, by the folds of the side, of the next two sides of its
 * triangle, and of the next two of the triangle beyond. */
static void plate_first_shares(const plate_mesh *m, int32_t side, double *u)
{
  const int32_t other = m->across[side], sides[2] = {side, other};
  plate_side f[2];
  plate_fit w = {.num = 0};
  int at[PLATE_SHARES];
  double S[3][3] = {{0}}, c[PLATE_SHARES];
  for (int k = 0; k < PLATE_SHARES; ++k) u[k] = 0;
  if (m->held[side / 3] || m->held[other / 3]) {
    /* held triangles see no fold but their own, which are 0 */
    u[0] = !m->held[other / 3] ? 0 : m->held[side / 3] ? 0.5 : 1;
    return;
  }
  open_plate_fold(m, side, f);
  plate_half_row(&f[0], w.g);
  for (int k = 0; k < PLATE_SHARES; ++k) {
    const int32_t of = sides[k > 2], t = of / 3;
    const int32_t s = k == 0 ? side : 3 * t + (of % 3 + (k % 2 == 1 ? 1 : 2)) % 3;
    if (m->across[s] < 0) continue;
    plate_fold_row(m, s, f[k > 2].u, w.M[w.num]);
    at[w.num++] = k;
  }
  for (int j = 0; j < 3; ++j) {
    w.g[j] /= f[0].l;
    for (int k = 0; k < w.num; ++k) w.M[k][j] /= f[0].l;
  }
  for (int k = 0; k < w.num; ++k)
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) S[i][j] += w.M[k][i] * w.M[k][j];
  plate_eigen3(S, w.l, w.V);
  plate_limit(&w, f[0].h / (f[0].h + f[1].h), c);
  for (int k = 0; k < w.num; ++k) u[at[k]] = fabs(c[k]) < 1e-12 ? 0 : c[k];
}

void plate_shares(const plate_mesh *m, int32_t side, double *u)
{
  double c[PLATE_SHARES];
  const int32_t other = m->across[side];
  if (side < other) {
    plate_first_shares(m, side, u);
    return;
  }
  plate_first_shares(m, other, c);
  u[0] = 1 - c[0];
  u[1] = -c[3];
  u[2] = -c[4];
  u[3] = -c[1];
  u[4] = -c[2];
}

/* ---- one patch ---- */

void plate_fold_sides(const plate_mesh *m, int64_t t, int32_t *side)
{
  for (int a = 0; a < 3; ++a) {
    const int32_t own = (int32_t)(3 * t + a), other = m->across[own];
    side[a] = other < 0 ? -1 : own;
    for (int k = 0; k < 2; ++k) {
      const int32_t s = other < 0 ? -1 : 3 * (other / 3) + (other % 3 + 1 + k) % 3;
      side[3 + 2 * a + k] = s < 0 || m->across[s] < 0 ? -1 : s;
    }
  }
}

static int32_t plate_beyond(const plate_mesh *m, const int32_t *tris, int32_t side, int32_t none)
{
  const int32_t other = side < 0 ? -1 : m->across[side];
  return other < 0 ? none : tris[3 * (int64_t)(other / 3) + (other + 2) % 3];
}

void plate_patch_verts(const plate_mesh *m, const int32_t *tris, int64_t t, const double *R,
                       int32_t *v)
{
  int32_t side[PLATE_FOLDS];
  int c[4], used[PLATE_VERTS] = {1, 1, 1};
  plate_fold_sides(m, t, side);
  for (int f = 0; f < PLATE_FOLDS; ++f) {
    plate_fold_corners(f, c);
    if (R[f] == 0 && R[PLATE_FOLDS + f] == 0 && R[2 * PLATE_FOLDS + f] == 0) continue;
    for (int k = 0; k < 4; ++k) used[c[k]] = 1;
  }
  for (int a = 0; a < 3; ++a) {
    v[a] = tris[3 * t + a];
    for (int k = 0; k < 3; ++k) {
      const int to = k == 0 ? 3 + a : 5 + 2 * a + k;
      const int32_t none = tris[3 * t];
      v[to] = used[to] ? plate_beyond(m, tris, side[k == 0 ? a : 2 + 2 * a + k], none) : none;
    }
  }
}

/* Energy of the slopes of three sides: Q = L L' of those that have a fold; rows and columns of the
 * others are 0. */
static void plate_slope_energy(const plate_mesh *m, int64_t t, const double *D, double L[3][3])
{
  plate_side f[3];
  double w[3][3], Dw[3], Q[3][3];
  int out[3];
  for (int a = 0; a < 3; ++a) open_plate_side(m, (int32_t)(3 * t + a), &f[a]);
  const double area = 0.5 * f[0].l * f[0].h;
  for (int a = 0; a < 3; ++a) {
    const double nx = f[a].u[1], ny = -f[a].u[0], scale = f[a].l / sqrt(area);
    w[a][0] = scale * nx * nx;
    w[a][1] = scale * ny * ny;
    w[a][2] = scale * 2 * nx * ny;
    out[a] = m->across[3 * t + a] < 0;
  }
  for (int a = 0; a < 3; ++a) {
    Dw[0] = D[0] * w[a][0] + D[2] * w[a][1];
    Dw[1] = D[2] * w[a][0] + D[1] * w[a][1];
    Dw[2] = D[3] * w[a][2];
    for (int b = 0; b < 3; ++b) Q[b][a] = vec3_dot(w[b], Dw);
  }
  for (int b = 0; b < 3; ++b) { /* the moment at a free side is 0 */
    if (!out[b]) continue;
    const double pivot = Q[b][b], row[3] = {Q[b][0], Q[b][1], Q[b][2]};
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) Q[i][j] -= row[i] * row[j] / pivot;
    for (int i = 0; i < 3; ++i) Q[b][i] = Q[i][b] = 0;
  }
  memset(L, 0, 9 * sizeof(double));
  for (int j = 0; j < 3; ++j) {
    double left = Q[j][j];
    if (out[j]) continue;
    for (int k = 0; k < j; ++k) left -= L[j][k] * L[j][k];
    L[j][j] = sqrt(fmax(left, 0));
    for (int i = j + 1; i < 3 && L[j][j] > 0; ++i) {
      double sum = Q[i][j];
      for (int k = 0; k < j; ++k) sum -= L[i][k] * L[j][k];
      L[i][j] = sum / L[j][j];
    }
  }
}

void plate_modes(const plate_mesh *m, int64_t t, const double *D, double *R)
{
  double L[3][3], u[PLATE_SHARES];
  plate_slope_energy(m, t, D, L);
  for (int k = 0; k < 3 * PLATE_FOLDS; ++k) R[k] = 0;
  for (int a = 0; a < 3; ++a) {
    const int32_t side = (int32_t)(3 * t + a);
    const int fold[PLATE_SHARES] = {a, (a + 1) % 3, (a + 2) % 3, 3 + 2 * a, 4 + 2 * a};
    if (m->across[side] < 0) continue;
    plate_shares(m, side, u);
    for (int r = 0; r < 3; ++r)
      for (int k = 0; k < PLATE_SHARES; ++k) R[PLATE_FOLDS * r + fold[k]] += L[a][r] * u[k];
  }
}

void plate_fold_vector(const plate_mesh *m, int32_t side, int fold, double *v)
{
  plate_side f[2];
  int c[4];
  plate_fold_corners(fold, c);
  open_plate_fold(m, side, f);
  for (int k = 0; k < 2; ++k) {
    const double along = 0.5 + (k == 0 ? f[k].s : -f[k].s) / f[k].l;
    v[c[0]] -= (1 - along) / f[k].h;
    v[c[1]] -= along / f[k].h;
    v[c[2 + k]] += 1 / f[k].h;
  }
}

/* ---- a patch by itself ---- */

const char *plate_hinge_angle(const double *X, double *angle)
{
  double e[3][3], N0[3], N1[3], c[3], area;
  const char *const why = rest_data_hinge_faces(X, e, N0, N1, &area);
  if (why != NULL) return why;
  vec3_cross(N1, N0, c);
  *angle = atan2(vec3_dot(e[0], c) / vec3_norm(e[0]), vec3_dot(N0, N1));
  return NULL;
}

const char *plate_rest_alone(const double *X, plate_rest_fn rest_of, double *rest)
{
  static const double isotropic[4] = {1, 1, 0, 0.5};
  enum { NT = 10 };
  int32_t tris[3 * NT] = {0, 1, 2}, across[3 * NT];
  double corner[6 * NT], fold[3 * NT] = {0}, Y[12];
  unsigned char held[NT] = {0};
  plate_mesh m = {NT, across, corner, fold, held};
  for (int k = 0; k < 3 * NT; ++k) across[k] = -1;
  for (int a = 0; a < 3; ++a) {
    const int b = (a + 1) % 3, next = 1 + a;
    const int32_t own[9] = {b, a, 3 + a, 3 + a, a, 6 + 2 * a, b, 3 + a, 7 + 2 * a};
    memcpy(tris + 3 * next, own, 3 * sizeof *own);
    memcpy(tris + 12 + 6 * a, own + 3, 6 * sizeof *own);
    across[a] = 3 * next, across[3 * next] = a;
    for (int k = 0; k < 2; ++k) {
      across[3 * next + 1 + k] = 12 + 6 * a + 3 * k;
      across[12 + 6 * a + 3 * k] = 3 * next + 1 + k;
    }
  }
  const char *why = NULL;
  for (int t = 0; t < NT && why == NULL; ++t) {
    for (int k = 0; k < 9; ++k) Y[k] = X[3 * tris[3 * t + k / 3] + k % 3];
    why = plate_mesh_triangle(&m, t, Y);
  }
  for (int f = 0; f < PLATE_FOLDS && why == NULL; ++f) {
    int32_t side[PLATE_FOLDS];
    int c[4];
    plate_fold_corners(f, c);
    for (int k = 0; k < 12; ++k) Y[k] = X[3 * c[k / 3] + k % 3];
    why = plate_hinge_angle(Y, &Y[0]);
    plate_fold_sides(&m, 0, side);
    fold[side[f]] = fold[across[side[f]]] = Y[0];
  }
  double R[3 * PLATE_FOLDS];
  if (why != NULL) return why;
  plate_modes(&m, 0, isotropic, R);
  rest_of(&m, 0, R, rest);
  return NULL;
}
