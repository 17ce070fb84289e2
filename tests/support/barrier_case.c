/* barrier_case.c - see barrier_case.h. */
#include "support/barrier_case.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

double bc_spacing = 0.01;
int bc_bars;

/* Two sheets of 3 x 3 vertices, cut along different diagonals, turned a little. */
static void fill_turned_sheets(bc_fixture *f, double jitter, uint64_t *seed, loom_real *rest)
{
  int nt = 0, ne = 0;
  for (int s = 0; s < 2; ++s)
    for (int i = 0; i < SHEET; ++i) {
      const int row = i / SIDE;
      const double a = bc_spacing * (i % SIDE), b = bc_spacing * row,
                   turn = 0.4 * jitter / 1e-3 * s;
      loom_real *const r = rest + 3 * (s * SHEET + i), *const x = f->x + 3 * (s * SHEET + i);
      r[0] = a, r[1] = b, r[2] = 0;
      x[0] = a * cos(turn) - b * sin(turn) + 0.3 * bc_spacing * s;
      x[1] = a * sin(turn) + b * cos(turn);
      x[2] = 2.5e-3 * s;
      for (int c = 0; c < 3; ++c) x[c] += jitter * th_random(seed);
    }
  for (int s = 0; s < 2; ++s)
    for (int j = 0; j < SIDE; ++j)
      for (int i = 0; i < SIDE; ++i) {
        const int a = s * SHEET + j * SIDE + i, b = a + 1, c = a + SIDE, d = c + 1;
        if (i + 1 < SIDE) f->edges[2 * ne] = a, f->edges[2 * ne + 1] = b, ++ne;
        if (j + 1 < SIDE) f->edges[2 * ne] = a, f->edges[2 * ne + 1] = c, ++ne;
        if (i + 1 == SIDE || j + 1 == SIDE) continue;
        f->edges[2 * ne] = s ? b : a, f->edges[2 * ne + 1] = s ? c : d, ++ne;
        const int32_t two[6] = {a, b, s ? c : d, s ? b : a, d, c};
        memcpy(f->tris + 3 * nt, two, sizeof two);
        nt += 2;
      }
  f->t.scene.num_tris = nt;
  f->t.scene.num_edges = ne;
}

/* A body mesh (a square pyramid's mantle) above, a ball below, or with bc_bars a bar and a small
 * ball, all moving. */
static void add_bodies(bc_fixture *f)
{
  static const loom_real ball[4] = {0.008, 0.012, -0.0322, 0.03};
  static const loom_real bead[4] = {0.0162, 0.0137, -0.0026, 0.0015};
  static const loom_real bar[7] = {-0.01, 0.001, -0.0021, 0.03, 0.012, -0.0023, 0.001};
  static const double axis[3] = {0, 0, 1}, t0[3] = {0, 0, 0}, t1[3] = {1e-3, -5e-4, 2e-4};
  static const loom_real b0[3 * NB] = {0.01, 0.01, 0.0055, 0.0,  0.0, 0.02, 0.02, 0.0,
                                       0.02, 0.02, 0.02,   0.02, 0.0, 0.02, 0.02};
  static const int32_t bt[12] = {0, 1, 2, 0, 2, 3, 0, 3, 4, 0, 4, 1};
  static const int32_t be[16] = {0, 1, 0, 2, 0, 3, 0, 4, 1, 2, 2, 3, 3, 4, 4, 1};
  const int32_t of[NB] = {0};
  loom_real b1[3 * NB];
  loom_scene *const s = &f->t.scene;
  for (int i = 0; i < 3 * NB; ++i) b1[i] = b0[i] + t1[i % 3];
  f->t.obstacles[0] = th_obstacle("mesh", NULL, 0);
  f->t.obstacles[1] = th_obstacle("sphere", ball, 4);
  if (bc_bars) f->t.obstacles[1] = th_obstacle("capsule", bar, 7);
  if (bc_bars) f->t.obstacles[2] = th_obstacle("sphere", bead, 4);
  for (int k = 0; k < 2 + bc_bars; ++k) {
    f->t.obstacles[k].friction = 0.3 + 0.2 * k;
    th_pose(f->t.obstacles[k].pose0, axis, 0, t0);
    th_pose(f->t.obstacles[k].pose1, axis, 0, t1);
  }
  s->num_obstacles = 2 + bc_bars;
  s->num_body_verts = NB;
  s->num_body_tris = 4;
  s->num_body_edges = 8;
  s->body_tris = th_buf(&f->t, LOOM_I32, 12, bt);
  s->body_edges = th_buf(&f->t, LOOM_I32, 16, be);
  s->body_of = th_buf(&f->t, LOOM_I32, NB, of);
  f->t.step.body0 = th_buf(&f->t, LOOM_REAL, 3 * NB, b0);
  f->t.step.body1 = th_buf(&f->t, LOOM_REAL, 3 * NB, b1);
}

void bc_detect(bc_fixture *f, uint32_t *changed)
{
  loom_query q = {.struct_size = sizeof q,
                  .kinds = f->ops->pair_kinds,
                  .progress0 = f->t.step.progress,
                  .progress1 = f->t.step.progress};
  cr_assert_eq(f->ops->plan(f->self, &f->t.step, &q), LOOM_OK, "%s", f->t.err.text);
  if (q.what != 0) th_detect(&f->t, &q, &f->pairs);
  cr_assert_eq(f->ops->update(f->self, &f->t.step, &f->pairs, LOOM_AFTER_DETECT, changed), LOOM_OK,
               "%s", f->t.err.text);
}

void bc_open(bc_fixture *f, const char *plugin, int threads, int check, double jitter,
             double radius, const char *settings)
{
  loom_real rest[N3], mass[N], r[N], start[N3];
  uint8_t fixed[N] = {0};
  uint64_t seed = 21;
  uint32_t changed;
  memset(f, 0, sizeof *f);
  th_open(&f->t, threads, check);
  f->t.collision = &brute_ops;
  brute_elements = bc_bars;
  f->t.collision_self = &f->t;
  fill_turned_sheets(f, jitter, &seed, rest);
  for (int i = 0; i < N; ++i) mass[i] = 0.01, r[i] = radius;
  for (int i = 0; i < N3; ++i) start[i] = f->x[i] + 1e-4 * th_random(&seed);
  th_scene(&f->t, N, f->x, mass, r, 2 + bc_bars);
  th_put(&f->t, f->t.scene.rest_x, rest);
  f->t.scene.tris = th_buf(&f->t, LOOM_I32, 3 * f->t.scene.num_tris, f->tris);
  f->t.scene.edges = th_buf(&f->t, LOOM_I32, 2 * f->t.scene.num_edges, f->edges);
  fixed[4] = fixed[SHEET + 1] = 1;
  th_put(&f->t, f->t.scene.fixed, fixed);
  add_bodies(f);
  f->t.step.progress = 0.6;
  th_put(&f->t, f->t.step.x_start, start);
  f->p = th_plugin(plugin, LOOM_KIND_CONTACT, plugin);
  f->ops = f->p->ops.contact;
  f->set = th_settings(f->p, settings);
  f->self = th_create(&f->t, f->p, f->set);
  th_pairs_open(&f->t, &f->pairs, 0);
  cr_assert_eq(f->ops->begin_step(f->self, &f->t.step), LOOM_OK, "%s", f->t.err.text);
  bc_detect(f, &changed);
}

void bc_close(bc_fixture *f)
{
  f->ops->destroy(f->self);
  free(f->set);
  th_close(&f->t);
}

loom_status bc_eval(bc_fixture *f, const double *x, double *energy, double *loss, double *grad)
{
  const loom_real zero[N3] = {0};
  double e = 0.0, d = 0.0;
  th_put(&f->t, f->t.step.trial, x);
  th_put(&f->t, f->t.step.grad, zero);
  const loom_status s =
      f->ops->eval(f->self, &f->t.step, f->t.step.trial, energy != NULL ? &e : NULL,
                   loss != NULL ? &d : NULL, grad != NULL ? f->t.step.grad : NULL);
  cr_assert(s >= LOOM_OK, "%s %s", f->t.err.text, mem_err(f->t.m)->text);
  cr_assert(mem_mapped(f->t.m) == NULL, "still mapped: %s", mem_mapped(f->t.m));
  if (energy != NULL) *energy = e;
  if (loss != NULL) *loss = d;
  if (grad != NULL) {
    loom_real *const g = th_get(&f->t, f->t.step.grad);
    memcpy(grad, g, N3 * sizeof *grad);
    free(g);
  }
  return s;
}

double bc_total(bc_fixture *f, const double *x)
{
  double e, d;
  cr_assert_eq(bc_eval(f, x, &e, &d, NULL), LOOM_OK);
  return e + d;
}

int64_t bc_hessian(bc_fixture *f, const double *x, int how, double H[N3][N3])
{
  return th_contact_hessian(&f->t, f->ops, f->self, x, how, 4, &H[0][0], N3);
}

double bc_brute_share(bc_fixture *f, const brute_pair *p)
{
  const int corners = p->v[2] < 0 ? 2 : 3;
  loom_real *const x = th_get(&f->t, f->t.step.x_start);
  double w[3], n[3], longest = 0.0, product = 1.0;
  const double least = brute_element(&f->t, x, 0.0, p->obst, p->v, w, n);
  for (int k = 0; k < corners; ++k) {
    double d[3];
    lk_sub3(x + 3 * p->v[k], x + 3 * p->v[(k + 1) % corners], d);
    longest = fmax(longest, sqrt(lk_dot3(d, d)));
  }
  for (int k = 0; k < corners; ++k) {
    const int32_t rim[3] = {p->v[k], corners == 3 ? p->v[(k + 1) % 3] : -1, -1};
    const double above = brute_element(&f->t, x, 0.0, p->obst, rim, w, n) - least;
    const double t = fmin(fmax(above / (1e-4 * longest), 0.0), 1.0);
    product *= t * t * (3.0 - 2.0 * t);
  }
  free(x);
  return 0.01 + 0.99 * product;
}

double bc_brute_sum(bc_fixture *f, const double *x, double radius, bc_law law, void *of,
                    int *active)
{
  int m;
  double sum = 0.0;
  loom_real *const rest = th_get(&f->t, f->t.scene.rest_x);
  brute_pair *const p = brute_pairs(&f->t, x, f->t.step.progress, bc_d_hat, &m);
  uint8_t *const fixed = th_get(&f->t, f->t.scene.fixed);
  *active = 0;
  for (int j = 0; j < m; ++j) {
    const int edges = p[j].kind == LOOM_PAIR_EE || p[j].kind == LOOM_PAIR_BEE;
    double y[12], w[4], m4 = 1.0, xi = 0.0;
    int held = 1;
    for (int a = 0; a < 4; ++a) held &= p[j].v[a] < 0 || p[j].v[a] >= N || fixed[p[j].v[a]];
    if (held) continue;
    xi = (p[j].v[0] < N) * radius + (p[j].v[3] >= 0 && p[j].v[3] < N) * radius;
    for (int a = 0; a < 4 && p[j].v[a] >= 0; ++a)
      brute_position(&f->t, x, f->t.step.progress, p[j].v[a], y + 3 * a);
    if (edges) {
      double z[12], len2[2];
      for (int a = 0; a < 4; ++a) brute_position(&f->t, rest, 0.0, p[j].v[a], z + 3 * a);
      for (int a = 0; a < 2; ++a) {
        double e[3];
        lk_sub3(z + 6 * a, z + 6 * a + 3, e);
        len2[a] = lk_dot3(e, e);
      }
      m4 = mollifier_value(mollifier_cross(y), 1e-3 * len2[0] * len2[1]);
    }
    const int exact = p[j].kind == LOOM_PAIR_VO || p[j].kind == LOOM_PAIR_EO;
    const double D = exact ? p[j].distance * p[j].distance : edges ? dist_ee(y, w) : dist_vt(y, w);
    if (p[j].kind == LOOM_PAIR_EO) m4 = bc_brute_share(f, &p[j]);
    sum += m4 * law(of, &p[j], xi, D);
    ++*active;
  }
  free(p), free(rest), free(fixed);
  return sum;
}

static double barrier_of_pair(void *of, const brute_pair *p, double xi, double D)
{
  barrier_law law;
  (void)p;
  if (*(const int *)of == BARRIER_DISTANCE)
    barrier_law_distance(bc_kappa, bc_d_hat, xi, &law);
  else
    barrier_law_of(bc_kappa, bc_d_hat, xi, &law);
  return barrier_value(&law, D);
}

double bc_brute_energy(bc_fixture *f, const double *x, double radius, int form, int *active)
{
  return bc_brute_sum(f, x, radius, barrier_of_pair, &form, active);
}

/* ---- quadratic terms ---- */

void bc_terms_open(bc_fixture *f, loom_quad *q)
{
  memset(q, 0, sizeof *q);
  q->struct_size = sizeof *q;
  q->v = th_buf(&f->t, LOOM_I32, 0, NULL);
  q->w = th_buf(&f->t, LOOM_REAL, 0, NULL);
  q->k = th_buf(&f->t, LOOM_REAL, 0, NULL);
  q->p = th_buf(&f->t, LOOM_REAL, 0, NULL);
}

void bc_terms_close(bc_fixture *f, loom_quad *q)
{
  buf_free(f->t.m, q->v), buf_free(f->t.m, q->w), buf_free(f->t.m, q->k), buf_free(f->t.m, q->p);
}

int64_t bc_terms_at(bc_fixture *f, const double *x, loom_quad *q)
{
  loom_status s;
  q->count = 2;
  th_put(&f->t, f->t.step.trial, x);
  while ((s = f->ops->quad(f->self, &f->t.step, f->t.step.trial, q)) == LOOM_GROW) {
    cr_assert_eq(buf_resize(f->t.m, q->v, 4 * q->count), LOOM_OK);
    cr_assert_eq(buf_resize(f->t.m, q->w, 4 * q->count), LOOM_OK);
    cr_assert_eq(buf_resize(f->t.m, q->k, q->count), LOOM_OK);
    cr_assert_eq(buf_resize(f->t.m, q->p, 3 * q->count), LOOM_OK);
    q->capacity = q->count;
    q->count = 2;
  }
  cr_assert_eq(s, LOOM_OK, "%s", f->t.err.text);
  cr_assert(mem_mapped(f->t.m) == NULL, "still mapped: %s", mem_mapped(f->t.m));
  return q->count - 2;
}

void bc_terms_sum(bc_fixture *f, const loom_quad *q, const double *x, double *g, double *K)
{
  int32_t *const v = th_get(&f->t, q->v);
  loom_real *const w = th_get(&f->t, q->w), *const k = th_get(&f->t, q->k),
                   *const p = th_get(&f->t, q->p);
  memset(g, 0, N3 * sizeof *g);
  memset(K, 0, N * sizeof *K);
  for (int64_t j = 2; j < q->count; ++j) {
    const int32_t i = v[4 * j];
    cr_assert(i >= 0 && i < N && i != 4 && i != SHEET + 1, "a term of vertex %d", i);
    cr_assert(v[4 * j + 1] == -1 && v[4 * j + 2] == -1 && v[4 * j + 3] == -1);
    cr_assert(w[4 * j] == 1.0 && k[j] >= 0.0 && isfinite(k[j]));
    for (int c = 0; c < 3; ++c) g[3 * i + c] += k[j] * (x[3 * i + c] - p[3 * j + c]);
    K[i] += k[j];
  }
  free(v), free(w), free(k), free(p);
}

/* ---- checks that all barriers pass ---- */

static int is_fixed(int i) { return i / 3 == 4 || i / 3 == SHEET + 1; }

static double largest_of(const double *a)
{
  double most = 0.0;
  for (int i = 0; i < N3; ++i) most = fmax(most, fabs(a[i]));
  return most;
}

double bc_check_derivatives(bc_fixture *f, double *x, double least, double share)
{
  static double H[N3][N3];
  double g[N3], hi[N3], lo[N3], largest = 0.0;
  cr_assert_eq(bc_eval(f, x, NULL, NULL, g), LOOM_OK);
  cr_assert_gt(bc_hessian(f, x, LOOM_HESS_EXACT, H), 200);
  const double size = largest_of(g);
  for (int i = 0; i < N3; ++i) largest = fmax(largest, fabs(H[i][i]));
  cr_assert(size > least);
  for (int i = 0; i < N3; ++i) {
    const double e = 1e-8, keep = x[i];
    if (is_fixed(i)) {
      cr_assert(g[i] == 0.0, "a force on a fixed vertex");
      continue;
    }
    x[i] = keep + e;
    const double up = bc_total(f, x);
    bc_eval(f, x, NULL, NULL, hi);
    x[i] = keep - e;
    const double down = bc_total(f, x);
    bc_eval(f, x, NULL, NULL, lo);
    x[i] = keep;
    cr_assert(fabs((up - down) / (2 * e) - g[i]) < share * size, "%d: %.9g, want %.9g", i, g[i],
              (up - down) / (2 * e));
    for (int k = 0; k < N3; ++k) {
      if (is_fixed(k)) continue;
      cr_assert(fabs((hi[k] - lo[k]) / (2 * e) - H[k][i]) < 1e-5 * largest,
                "%d %d: %.9g, want %.9g of %g", k, i, H[k][i], (hi[k] - lo[k]) / (2 * e), largest);
      cr_assert(fabs(H[k][i] - H[i][k]) < 1e-12 * largest, "not symmetric");
    }
  }
  return largest;
}

void bc_check_terms(bc_fixture *f, loom_quad *q, const double *x, double least)
{
  double g[N3], want[N3], K[N];
  cr_assert_gt(bc_terms_at(f, x, q), 200);
  bc_terms_sum(f, q, x, g, K);
  cr_assert_eq(bc_eval(f, x, NULL, NULL, want), LOOM_OK);
  const double size = largest_of(want);
  cr_assert(size > least);
  for (int i = 0; i < N3; ++i)
    cr_assert(fabs(g[i] - want[i]) < 1e-10 * size, "%d: %.12g, want %.12g", i, g[i], want[i]);
}

double bc_check_majorant(bc_fixture *f, loom_quad *q, const double *x, int trials, uint64_t seed)
{
  static double H[N3][N3];
  double g[N3], K[N], closest = 0.0;
  bc_terms_at(f, x, q);
  bc_terms_sum(f, q, x, g, K);
  bc_hessian(f, x, LOOM_HESS_EXACT, H);
  for (int trial = 0; trial < trials; ++trial) {
    double d[N3], have = 0.0, need = 0.0;
    /* columns of the Hessian, which lie where it is large, and random ones */
    for (int i = 0; i < N3; ++i) d[i] = trial < N3 ? H[i][trial] : th_random(&seed);
    for (int i = 0; i < N3; ++i) {
      have += K[i / 3] * d[i] * d[i];
      for (int k = 0; k < N3; ++k) need += d[i] * H[i][k] * d[k];
    }
    if (have == 0.0) continue; /* a vertex without contact */
    cr_assert(have >= need * (1 - 1e-9), "%d: %g of %g", trial, have, need);
    closest = fmax(closest, need / have);
  }
  return closest;
}
