/* pd_rotation.c - see pd_rotation.h. */
#include "kit/pd_rotation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kit/body_turn.kern.h"
#include "kit/chol_solve3.h"
#include "loom/plug.h"

static size_t count_solves(const pd_rotation *r) { return (4 * (size_t)r->bodies.num + 2) / 3; }
/* column k of P^-1 E, at row 0; rows follow with a stride of 3 */
static double *compliance_column(const pd_rotation *r, size_t k)
{
  return r->columns + k / 3 * 3 * (size_t)r->sc->num_verts + k % 3;
}

loom_status pd_rotation_open(pd_rotation *r, const loom_host *host, const loom_scene *sc,
                             const loom_exec *e, int how)
{
  r->host = host;
  r->sc = sc;
  r->e = e;
  if (how == PD_ROTATION_PLAIN) return LOOM_OK;
  LOOM_TRY(control_points_find(&r->bodies, host, sc, e));
  if (how == PD_ROTATION_AUTO && r->bodies.num > PD_ROTATION_MOST) {
    host->log(host, LOOM_LOG_INFO, "%d affine bodies, rotation = auto: plain projective steps",
              r->bodies.num);
    control_points_free(&r->bodies);
  }
  if (r->bodies.num == 0) return LOOM_OK;
  const size_t k = (size_t)r->bodies.num;
  r->row = malloc(4 * k * sizeof *r->row);
  r->columns = malloc(count_solves(r) * 3 * (size_t)sc->num_verts * sizeof *r->columns);
  r->S = malloc(16 * k * k * sizeof *r->S);
  r->A = malloc(144 * k * k * sizeof *r->A);
  r->z = malloc(12 * k * sizeof *r->z);
  r->d = malloc(12 * k * sizeof *r->d);
  LOOM_CHECK(host, r->row && r->columns && r->S && r->A && r->z && r->d, LOOM_E_NOMEM,
             "no memory for the rotations of %d bodies; rotation = plain needs none",
             r->bodies.num);
  return LOOM_OK;
}

void pd_rotation_close(pd_rotation *r)
{
  control_points_free(&r->bodies);
  free(r->row);
  free(r->columns);
  free(r->S);
  free(r->A);
  free(r->z);
  free(r->d);
}

/* ---- dense symmetric matrices [n][n] ---- */
/* The lower triangle becomes L with A = L L'; 0: A is not positive definite. */
static int factorise_dense(double *A, size_t n)
{
  for (size_t j = 0; j < n; ++j) {
    double *const a = A + j * n;
    for (size_t i = 0; i < j; ++i) {
      const double *const b = A + i * n;
      double s = a[i];
      for (size_t k = 0; k < i; ++k) s -= a[k] * b[k];
      a[i] = s / b[i];
    }
    double s = a[j];
    for (size_t k = 0; k < j; ++k) s -= a[k] * a[k];
    if (!(s > 0.0)) return 0;
    a[j] = sqrt(s);
  }
  return 1;
}

static void solve_dense(const double *L, size_t n, double *y)
{
  for (size_t i = 0; i < n; ++i) {
    double s = y[i];
    for (size_t k = 0; k < i; ++k) s -= L[i * n + k] * y[k];
    y[i] = s / L[i * n + i];
  }
  for (size_t i = n; i-- > 0;) {
    double s = y[i];
    for (size_t k = i + 1; k < n; ++k) s -= L[k * n + i] * y[k];
    y[i] = s / L[i * n + i];
  }
}

/* ---- once per factor ---- */
static void load_unit_columns(const pd_rotation *r, size_t solve)
{
  const size_t n = 3 * (size_t)r->sc->num_verts;
  double *const to = r->columns + solve * n;
  memset(to, 0, n * sizeof *to);
  for (size_t c = 0; c < 3; ++c) {
    const size_t k = 3 * solve + c;
    if (k < 4 * (size_t)r->bodies.num) to[3 * (size_t)r->row[k] + c] = 1.0;
  }
}

static void find_control_rows(pd_rotation *r, const chol *c)
{
  const int32_t n = r->sc->num_verts, num = r->bodies.num;
  const int *const perm = chol_perm(c);
  for (int32_t k = 0; k < n; ++k)
    for (int32_t a = 0; a < 4 * num; ++a)
      if (r->bodies.body[a / 4].vert[a % 4] == perm[k]) r->row[a] = k;
}

loom_status pd_rotation_factor(pd_rotation *r, const chol *c, double *work)
{
  const size_t m = 4 * (size_t)r->bodies.num;
  if (m == 0) return LOOM_OK;
  find_control_rows(r, c);
  for (size_t s = 0; s < count_solves(r); ++s) {
    load_unit_columns(r, s);
    chol_count_solve(c, 3);
    chol_solve3(c->L, r->columns + s * 3 * (size_t)r->sc->num_verts, work);
  }
  r->host->count(r->host, LOOM_C_TRISOLVE, (int64_t)count_solves(r));
  double *const M = r->A; /* in its first m^2 numbers */
  for (size_t a = 0; a < m; ++a)
    for (size_t b = 0; b < m; ++b) M[a * m + b] = compliance_column(r, b)[3 * (size_t)r->row[a]];
  LOOM_CHECK(r->host, factorise_dense(M, m), LOOM_E_NUMERIC,
             "the compliance of the affine bodies' control points is not positive definite; try "
             "rotation = plain");
  memset(r->S, 0, m * m * sizeof *r->S);
  for (size_t a = 0; a < m; ++a) {
    r->S[a * m + a] = 1.0;
    solve_dense(M, m, r->S + a * m);
  }
  return LOOM_OK;
}

/* ---- each iteration ---- */
/* A += C of body b; fixed control points have rows of the unit matrix */
static void add_twists(const pd_rotation *r, int32_t b, const body_turn *t, const uint8_t *fixed)
{
  const size_t n = 12 * (size_t)r->bodies.num, at = 12 * (size_t)b;
  const int32_t *const v = r->bodies.body[b].vert;
  for (int p = 0; p < 12; ++p)
    for (int q = 0; q < 12; ++q) {
      if (fixed[v[p / 3]] || fixed[v[q / 3]]) continue;
      r->A[(at + (size_t)p) * n + at + (size_t)q] += (double)body_turn_entry(t, p, q);
    }
}

/* to = S from, three numbers per control point */
static void multiply_schur(const pd_rotation *r, const double *from, double *to)
{
  const size_t m = 4 * (size_t)r->bodies.num;
  for (size_t a = 0; a < m; ++a)
    for (size_t c = 0; c < 3; ++c) {
      double s = 0.0;
      for (size_t b = 0; b < m; ++b) s += r->S[a * m + b] * from[3 * b + c];
      to[3 * a + c] = s;
    }
}

static void load_schur(const pd_rotation *r)
{
  const size_t m = 4 * (size_t)r->bodies.num;
  memset(r->A, 0, 9 * m * m * sizeof *r->A);
  for (size_t a = 0; a < m; ++a)
    for (size_t b = 0; b < m; ++b)
      for (size_t c = 0; c < 3; ++c) r->A[(3 * a + c) * 3 * m + 3 * b + c] = r->S[a * m + b];
}

/* y += share P^-1 E q, q [m][3] */
static void add_columns(const pd_rotation *r, const double *q, double share, double *y)
{
  const int32_t n = r->sc->num_verts;
  const size_t m = 4 * (size_t)r->bodies.num;
#pragma omp parallel for schedule(static) num_threads(r->e->num_threads) if (n > 4096)
  for (int32_t i = 0; i < n; ++i)
    for (size_t k = 0; k < m; ++k) {
      const double u = share * compliance_column(r, k)[3 * (size_t)i];
      for (size_t c = 0; c < 3; ++c) y[3 * (size_t)i + c] += u * q[3 * k + c];
    }
}

/* d with (S + C) d = S z; *share (out): of d - z that turns no body by more than BODY_TURN_MOST */
static loom_status solve_control_points(pd_rotation *r, const loom_real *x, double *share)
{
  const int32_t num = r->bodies.num;
  double turned = 0.0;
  body_turn *const t = malloc((size_t)num * sizeof *t);
  LOOM_CHECK(r->host, t != NULL, LOOM_E_NOMEM, "no memory for the rotations of %d bodies", num);
  plug_maps m = plug_maps_on(r->host, r->e);
  const uint8_t *const fixed = plug_read_host(&m, r->sc->fixed);
  load_schur(r);
  for (int32_t b = 0; b < num && m.status == LOOM_OK; ++b) {
    const control_body *const k = &r->bodies.body[b];
    plug_maps of = plug_maps_on(r->host, r->e);
    const loom_real *const rest = plug_read_host(&of, r->sc->blocks[k->block].rest);
    const loom_real *const mat = plug_read_host(&of, r->sc->blocks[k->block].mat);
    if (of.status == LOOM_OK) {
      body_turn_find(x, k->vert, rest + 10 * (int64_t)k->elem, mat[k->elem], &t[b]);
      add_twists(r, b, &t[b], fixed);
    }
    m.status = of.status == LOOM_OK ? plug_unbind(&of) : of.status;
  }
  if (m.status == LOOM_OK) {
    multiply_schur(r, r->z, r->d);
    if (factorise_dense(r->A, 12 * (size_t)num)) {
      solve_dense(r->A, 12 * (size_t)num, r->d);
      for (int32_t b = 0; b < num; ++b) {
        lk_real u[12];
        for (int c = 0; c < 12; ++c) u[c] = (lk_real)(r->d[12 * b + c] - r->z[12 * b + c]);
        turned = fmax(turned, (double)body_turn_angle(&t[b], u));
      }
    } else {
      m.status = LOOM_FAIL(r->host, LOOM_E_NUMERIC,
                           "the matrix of the affine bodies' rotations is not positive definite; "
                           "try rotation = plain");
    }
  }
  free(t);
  *share = turned > (double)BODY_TURN_MOST ? (double)BODY_TURN_MOST / turned : 1.0;
  return m.status == LOOM_OK ? plug_unbind(&m) : m.status;
}

loom_status pd_rotation_apply(pd_rotation *r, const loom_real *x, double *y)
{
  const size_t m = 4 * (size_t)r->bodies.num;
  double share = 0.0;
  if (m == 0) return LOOM_OK;
  for (size_t a = 0; a < m; ++a) memcpy(r->z + 3 * a, y + 3 * (size_t)r->row[a], 3 * sizeof *r->z);
  LOOM_TRY(solve_control_points(r, x, &share));
  for (size_t k = 0; k < 3 * m; ++k) r->d[k] -= r->z[k];
  multiply_schur(r, r->d, r->z);
  add_columns(r, r->z, share, y);
  return LOOM_OK;
}
