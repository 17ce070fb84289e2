/* test_contact_cama.c - cama_repulsion: one force over a flat sheet wherever the vertex is, an
 * energy without jumps, its matrices, derivatives, friction, threads. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/barrier_case.h"

enum { SIDES = 5, SHEET5 = SIDES * SIDES, MOST = 2 * SHEET5, M3 = 3 * MOST };
static const double spacing = 0.01, k = 200; /* m, N/m */

/* Sheets of SIDES x SIDES vertices, and an instance. */
typedef struct fixture {
  test_host t;
  const loom_contact_ops *ops;
  void *set, *self;
  int n, nt, ne;
  double x[M3], v[M3];
  int32_t tris[3 * 100], edges[2 * 200];
} fixture;

static void add_edge(fixture *f, int a, int b)
{
  f->edges[2 * f->ne] = a;
  f->edges[2 * f->ne + 1] = b;
  ++f->ne;
}

static void add_triangle(fixture *f, int a, int b, int c)
{
  const int32_t v[3] = {a, b, c};
  memcpy(f->tris + 3 * f->nt++, v, sizeof v);
}

/* Vertices inside are moved by up to `jitter` of the spacing in the plane, and by `bumps`, m, up or
 * down; the diagonals go either way. */
static void add_sheet(fixture *f, double z, double turn, double jitter, double bumps,
                      uint64_t *seed)
{
  const int first = f->n;
  for (int i = 0; i < SHEET5; ++i) {
    const int a = i % SIDES, b = i / SIDES;
    double p = spacing * a, q = spacing * b, *const x = f->x + 3 * f->n++;
    if (a % (SIDES - 1) != 0 && b % (SIDES - 1) != 0) {
      p += jitter * spacing * th_random(seed);
      q += jitter * spacing * th_random(seed);
    }
    x[0] = cos(turn) * p - sin(turn) * q;
    x[1] = sin(turn) * p + cos(turn) * q;
    x[2] = z + bumps * th_random(seed);
  }
  for (int i = 0; i < SHEET5; ++i) {
    const int a = first + i, b = a + 1, c = a + SIDES, d = c + 1;
    const int right = i % SIDES + 1 < SIDES, up = i / SIDES + 1 < SIDES;
    if (right) add_edge(f, a, b);
    if (up) add_edge(f, a, c);
    if (!right || !up) continue;
    const int other = th_random(seed) > 0;
    add_edge(f, other ? b : a, other ? c : d);
    add_triangle(f, a, b, other ? c : d);
    add_triangle(f, other ? b : a, d, c);
  }
}

/* A vertex, the last but two, below two others far above, which move along with it: its edges stand
 * upright, so that their ends are closest. */
static void add_spike(fixture *f)
{
  static const double high[3][3] = {{0.02, 0.02, 0.05}, {0.02, 0.02, 0.1}, {0.0201, 0.02, 0.1}};
  memcpy(f->x + 3 * f->n, high, sizeof high);
  const int p = f->n;
  add_triangle(f, p, p + 1, p + 2);
  add_edge(f, p, p + 1), add_edge(f, p + 1, p + 2), add_edge(f, p, p + 2);
  f->n += 3;
}

/* body: an obstacle, or NULL. */
static void open_cama_contact(fixture *f, int threads, const loom_obstacle *body,
                              const char *settings)
{
  th_open(&f->t, threads, threads == 1);
  f->t.collision = &brute_ops;
  f->t.collision_self = &f->t;
  if (body != NULL) f->t.obstacles[0] = *body;
  th_scene(&f->t, f->n, f->x, NULL, NULL, body != NULL);
  f->t.scene.num_tris = f->nt;
  f->t.scene.num_edges = f->ne;
  f->t.scene.tris = th_buf(&f->t, LOOM_I32, 3 * f->nt, f->tris);
  f->t.scene.edges = th_buf(&f->t, LOOM_I32, 2 * f->ne, f->edges);
  f->t.step.progress = 1.0;
  f->t.step.index = 1; /* there was a step before, with these velocities */
  th_put(&f->t, f->t.step.v_start, f->v);
  const loom_plugin *const p = th_plugin("cama_repulsion", LOOM_KIND_CONTACT, "cama_repulsion");
  f->ops = p->ops.contact;
  f->set = th_settings(p, settings);
  f->self = th_create(&f->t, p, f->set);
  cr_assert_eq(f->ops->begin_step(f->self, &f->t.step), LOOM_OK, "%s", f->t.err.text);
}

static void close_cama_contact(fixture *f)
{
  f->ops->destroy(f->self);
  free(f->set);
  th_close(&f->t);
}

/* Energy at x and the force g [n][3] N, the gradient's negative. */
static double evaluate_cama_force(fixture *f, const double *x, double *g)
{
  static const loom_real zero[M3];
  double e = 0.0;
  th_put(&f->t, f->t.step.trial, x);
  th_put(&f->t, f->t.step.grad, zero);
  cr_assert_eq(f->ops->eval(f->self, &f->t.step, f->t.step.trial, &e, NULL, f->t.step.grad),
               LOOM_OK, "%s", f->t.err.text);
  loom_real *const own = th_get(&f->t, f->t.step.grad);
  for (int i = 0; i < 3 * f->n; ++i) g[i] = -own[i];
  free(own);
  return e;
}

/* Dense matrix at x, [3n][3n], rows of M3. */
static void matrix_at(fixture *f, const double *x, double H[M3][M3])
{
  (void)th_contact_hessian(&f->t, f->ops, f->self, x, LOOM_HESS_PSD_CLAMP, -1, &H[0][0], M3);
}

/* ---- a vertex over a sheet ---- */

/* The vertex, the last one, belongs to no triangle: vertices of the sheet see none. */
static void flat_and_vertex(fixture *f, const char *settings)
{
  uint64_t seed = 3;
  memset(f, 0, sizeof *f);
  add_sheet(f, 0.0, 0.0, 0.25, 0.0, &seed);
  ++f->n;
  open_cama_contact(f, 1, NULL, settings);
}

/* Places for the vertex: over the sheet and beside it, then exactly over edges and vertices. */
static int choose_vertex_position(const fixture *f, int i, uint64_t *seed, double *p)
{
  const double top = 4e-3, size = spacing * (SIDES - 1);
  p[2] = top * (0.05 + 0.9 * (0.5 + 0.5 * th_random(seed)));
  if (i < 300) {
    for (int c = 0; c < 2; ++c) p[c] = 0.5 * size + (0.5 * size + 3e-3) * th_random(seed);
    return 1;
  }
  if ((i -= 300) < 2 * f->ne) {
    const double *const a = f->x + 3 * f->edges[i / 2 * 2], *const b =
                                                                f->x + 3 * f->edges[i / 2 * 2 + 1];
    const double s = i % 2 ? 0.5 : 0.5 + 0.45 * th_random(seed);
    for (int c = 0; c < 2; ++c) p[c] = a[c] + s * (b[c] - a[c]);
    return 1;
  }
  if ((i -= 2 * f->ne) >= SHEET5) return 0;
  memcpy(p, f->x + 3 * i, 2 * sizeof *p);
  return 1;
}

/* From the closest point of the square, m; returns the distance. */
static double from_square(const double *p, double *n)
{
  const double size = spacing * (SIDES - 1);
  for (int c = 0; c < 2; ++c) n[c] = p[c] - fmin(fmax(p[c], 0.0), size);
  n[2] = p[2];
  return sqrt(lk_dot3(n, n));
}

/* Largest error of the force on the vertex over all places, N, and of its block, N/m. */
static void worst_over_sheet(const char *settings, double thickness, double *force, double *block)
{
  static fixture f;
  static double H[M3][M3];
  double x[M3], g[M3], n[3];
  uint64_t seed = 8;
  *force = *block = 0.0;
  flat_and_vertex(&f, settings);
  const int v = f.n - 1;
  memcpy(x, f.x, sizeof x);
  for (int i = 0; choose_vertex_position(&f, i, &seed, x + 3 * v); ++i) {
    const double d = from_square(x + 3 * v, n), lack = fmax(thickness - d, 0.0);
    (void)evaluate_cama_force(&f, x, g);
    if (i % 7 == 0 || i > 300) matrix_at(&f, x, H);
    for (int c = 0; c < 3; ++c) {
      *force = fmax(*force, fabs(g[3 * v + c] - k * lack * n[c] / d));
      for (int l = 0; l < 3 && (i % 7 == 0 || i > 300); ++l)
        *block =
            fmax(*block, fabs(H[3 * v + c][3 * v + l] - (lack > 0.0) * k * n[c] * n[l] / (d * d)));
    }
  }
  close_cama_contact(&f);
}

Test(contact_cama, one_force_everywhere_over_a_flat_sheet)
{
  double force, block;
  worst_over_sheet("thickness=4e-3 stiffness=200", 4e-3, &force, &block);
  cr_expect_lt(force, 1e-12 * k * 4e-3, "%g N", force);
  cr_expect_lt(block, 1e-12 * k, "%g N/m", block);
  /* however many triangles are near */
  worst_over_sheet("thickness=15e-3 stiffness=200", 15e-3, &force, &block);
  cr_expect_lt(force, 1e-11 * k * 15e-3, "%g N", force);
  cr_expect_lt(block, 1e-11 * k, "%g N/m", block);
  /* control: every pair counts as it is found */
  worst_over_sheet("thickness=4e-3 stiffness=200 duplicates=1", 4e-3, &force, &block);
  cr_expect_gt(force, k * 4e-3, "%g N", force);
  cr_expect_gt(block, k, "%g N/m", block);
}

static void move_spike(const fixture *f, double *x)
{
  double *const p = x + 3 * (f->n - 3);
  for (int i = 1; i < 3; ++i)
    for (int c = 0; c < 2; ++c) p[3 * i + c] = p[c] + (i == 2 && c == 0) * 1e-4;
}

/* Over a rough sheet, with ridges, valleys, tips and pits, the energy has the slope of its gradient
 * everywhere: the second difference is of the size of the stiffness times the square of the way. */
Test(contact_cama, energy_has_no_jumps)
{
  static fixture f;
  double x[M3], g[M3], last_g[M3], last = 0.0, worst = 0.0, most = 0.0;
  uint64_t seed = 4;
  memset(&f, 0, sizeof f);
  add_sheet(&f, 0.0, 0.0, 0.25, 1.5e-3, &seed);
  add_spike(&f);
  open_cama_contact(&f, 1, NULL, "thickness=4e-3 stiffness=200");
  const int v = f.n - 3;
  const double step = 2e-5;
  memcpy(x, f.x, sizeof x);
  for (int i = 0; i < 2000; ++i) {
    x[3 * v] = step * i;
    x[3 * v + 1] = 0.02 + 0.3 * x[3 * v] + 5e-3 * sin(300 * x[3 * v]);
    x[3 * v + 2] = 1.8e-3;
    move_spike(&f, x);
    if (i > 0) memcpy(last_g, g, sizeof g);
    const double way[2] = {step, x[3 * v + 1]};
    static double before;
    const double e = evaluate_cama_force(&f, x, g);
    most = fmax(most, e);
    if (i > 0) {
      const double foreseen = 0.5 * (g[3 * v] + last_g[3 * v]) * way[0] +
                              0.5 * (g[3 * v + 1] + last_g[3 * v + 1]) * (way[1] - before);
      worst = fmax(worst, fabs(e - last + foreseen));
    }
    before = way[1];
    last = e;
  }
  close_cama_contact(&f);
  cr_expect_gt(most, 0.25 * k * 1e-6, "%g J", most);
  /* a way of at most 4e-5 m, and a kink of the force by the turn of the normal */
  cr_expect_lt(worst, 2 * k * 16e-10, "%g J of %g J", worst, most);
}

/* ---- matrices ---- */

static void create_two_sheets(fixture *f, int threads, const char *settings)
{
  uint64_t seed = 11;
  memset(f, 0, sizeof *f);
  add_sheet(f, 0.0, 0.0, 0.25, 5e-4, &seed);
  add_sheet(f, 2.5e-3, 0.4, 0.25, 5e-4, &seed);
  for (int i = 0; i < 3 * f->n; ++i) f->v[i] = 0.1 * th_random(&seed);
  open_cama_contact(f, threads, NULL, settings);
}

static double largest_diagonal_entry(double H[M3][M3], int n3)
{
  double most = 0.0;
  for (int i = 0; i < n3; ++i) most = fmax(most, fabs(H[i][i]));
  return most;
}

/* H - less has no eigenvalue below -1e-11 of `size`: with that added it has a Cholesky factor. */
static int is_semidefinite(double H[M3][M3], double less[M3][M3], int n3, double size)
{
  static double L[M3][M3];
  for (int i = 0; i < n3; ++i)
    for (int j = 0; j <= i; ++j) {
      double sum = H[i][j] - (less != NULL ? less[i][j] : 0.0) + (i == j) * 1e-11 * size;
      for (int l = 0; l < j; ++l) sum -= L[i][l] * L[j][l];
      if (i == j && !(sum > 0.0)) return 0;
      L[i][j] = i == j ? sqrt(sum) : sum / L[j][j];
    }
  return 1;
}

static void check_matrix(const fixture *f, double H[M3][M3], const char *name)
{
  const int n3 = 3 * f->n;
  const double size = largest_diagonal_entry(H, n3);
  cr_assert_gt(size, 0.1 * k, "%s: nothing touches", name);
  for (int i = 0; i < n3; ++i) {
    double sum[3] = {0, 0, 0};
    for (int j = 0; j < n3; ++j) {
      sum[j % 3] += H[i][j];
      cr_assert_lt(fabs(H[i][j] - H[j][i]), 1e-13 * size, "%s: not symmetric", name);
    }
    for (int c = 0; c < 3; ++c)
      cr_assert_lt(fabs(sum[c]), 1e-12 * size, "%s: row %d: %g", name, i, sum[c]);
  }
  cr_expect(is_semidefinite(H, NULL, n3, size), "%s: it is indefinite", name);
}

Test(contact_cama, matrices_have_no_row_sums_and_are_not_indefinite)
{
  static fixture f;
  static double G[M3][M3], P[M3][M3], F[M3][M3];
  double g[M3], h[M3];
  create_two_sheets(&f, 1, "thickness=4e-3 stiffness=200");
  matrix_at(&f, f.x, G);
  (void)evaluate_cama_force(&f, f.x, g);
  close_cama_contact(&f);
  create_two_sheets(&f, 1, "thickness=4e-3 stiffness=200 matrix=1");
  matrix_at(&f, f.x, P);
  (void)evaluate_cama_force(&f, f.x, h);
  close_cama_contact(&f);
  for (int i = 0; i < 3 * f.n; ++i) cr_assert_eq(g[i], h[i], "the forces are the same");
  create_two_sheets(&f, 1, "thickness=4e-3 stiffness=200 law=1 self_friction=0.5");
  matrix_at(&f, f.x, F);
  close_cama_contact(&f);
  check_matrix(&f, G, "Gauss-Newton");
  check_matrix(&f, P, "pairwise");
  check_matrix(&f, F, "quadratic with friction");
  const double size = largest_diagonal_entry(P, 3 * f.n);
  cr_expect(is_semidefinite(P, G, 3 * f.n, size), "the pairwise matrix is somewhere softer");
  cr_expect(!is_semidefinite(G, P, 3 * f.n, size), "control, the other way round");
}

Test(contact_cama, forces_and_torques_add_up_to_zero)
{
  static fixture f;
  static const char *const all[] = {"thickness=4e-3 stiffness=200",
                                    "thickness=4e-3 stiffness=200 law=1",
                                    "thickness=4e-3 stiffness=200 duplicates=1"};
  for (int s = 0; s < 3; ++s) {
    double g[M3], sum[3] = {0}, torque[3] = {0}, size = 0.0;
    create_two_sheets(&f, 1, all[s]);
    (void)evaluate_cama_force(&f, f.x, g);
    for (int i = 0; i < f.n; ++i) {
      const double *const x = f.x + 3 * i, *const p = g + 3 * i;
      for (int c = 0; c < 3; ++c) {
        sum[c] += p[c];
        torque[c] += x[(c + 1) % 3] * p[(c + 2) % 3] - x[(c + 2) % 3] * p[(c + 1) % 3];
        size += fabs(p[c]);
      }
    }
    close_cama_contact(&f);
    cr_assert_gt(size, 0.5, "%s: %g N", all[s], size);
    for (int c = 0; c < 3; ++c) {
      cr_expect_lt(fabs(sum[c]), 1e-12 * size, "%s: %g of %g N", all[s], sum[c], size);
      cr_expect_lt(fabs(torque[c]), 1e-12 * size * spacing * SIDES, "%s: %g N m", all[s],
                   torque[c]);
    }
  }
}

/* ---- derivatives ---- */

/* With a body mesh, a ball and held vertices, all moving. */
Test(contact_cama, forces_are_differences_of_the_energy)
{
  static bc_fixture f;
  static const char *const all[] = {"thickness=4e-3 stiffness=200",
                                    "thickness=4e-3 stiffness=200 law=1",
                                    "thickness=4e-3 stiffness=200 duplicates=1",
                                    "thickness=4e-3 stiffness=200 self_friction=0.4 matrix=1",
                                    "thickness=2e-3 adhesion=900 adhesion_range=3e-3",
                                    "thickness=1e-3 adhesion=900 adhesion_range=3e-3 law=1"};
  for (int s = 0; s < 6; ++s)
    for (int thick = 0; thick < 2; ++thick) {
      double x[N3], g[N3], size = 0.0, worst = 0.0;
      bc_open(&f, "cama_repulsion", 1, 1, 1e-3, thick ? 2e-4 : 0.0, all[s]);
      memcpy(x, f.x, sizeof x);
      cr_assert_eq(bc_eval(&f, x, NULL, NULL, g), LOOM_OK);
      for (int i = 0; i < N3; ++i) {
        const double e = 1e-8;
        size = fmax(size, fabs(g[i]));
        if (i / 3 == 4 || i / 3 == SHEET + 1) continue; /* held */
        x[i] = f.x[i] + e;
        const double up = bc_total(&f, x);
        x[i] = f.x[i] - e;
        worst = fmax(worst, fabs((up - bc_total(&f, x)) / (2 * e) - g[i]));
        x[i] = f.x[i];
      }
      bc_close(&f);
      cr_assert_gt(size, 0.2, "%s: %g N", all[s], size);
      cr_expect_lt(worst, 1e-6 * size, "%s: %g of %g N", all[s], worst, size);
    }
}

/* ---- friction ---- */

/* A sheet that slides over a ball so large that it is nearly flat: forces against the motion and
 * along the normal at the end of the step, N. */
static void measure_slide_forces(double speed, double *least, double *most, double *normal)
{
  static fixture f;
  static const loom_real shape[4] = {0.02, 0.02, -1000, 1000};
  loom_obstacle ball = th_obstacle("sphere", shape, 4);
  double x[M3], g[M3];
  uint64_t seed = 6;
  ball.friction = 0.3;
  memset(&f, 0, sizeof f);
  add_sheet(&f, 1.5e-3, 0.0, 0.0, 0.0, &seed);
  for (int i = 0; i < f.n; ++i) f.v[3 * i] = speed;
  open_cama_contact(&f, 1, &ball, "thickness=4e-3 stiffness=200");
  for (int i = 0; i < 3 * f.n; ++i) x[i] = f.x[i] + f.t.step.h * f.v[i];
  (void)evaluate_cama_force(&f, x, g);
  *least = INFINITY, *most = *normal = 0.0;
  for (int i = 0; i < f.n; ++i) {
    *least = fmin(*least, -g[3 * i]);
    *most = fmax(*most, -g[3 * i]);
    *normal = fmax(*normal, g[3 * i + 2]);
  }
  close_cama_contact(&f);
}

Test(contact_cama, friction_is_coulombs_and_fades_below_epsilon_v)
{
  double least, most, normal;
  measure_slide_forces(0.1, &least, &most, &normal);
  cr_expect(fabs(most - 0.3 * normal) < 0.01 * normal, "%g N of %g N", most, normal);
  cr_expect(least > 0.28 * normal, "%g N of %g N", least, normal);
  measure_slide_forces(1e-4, &least, &most, &normal); /* a tenth of epsilon_v */
  cr_expect(fabs(most - 0.03 * normal) < 0.001 * normal, "%g N of %g N", most, normal);
}

/* ---- the rest ---- */

Test(contact_cama, warns_of_a_thickness_above_half_the_mean_edge)
{
  static fixture f;
  flat_and_vertex(&f, "thickness=4e-3");
  cr_expect(strstr(f.t.log, "half of the mean edge") == NULL, "%s", f.t.log);
  close_cama_contact(&f);
  flat_and_vertex(&f, "thickness=9e-3");
  cr_expect(strstr(f.t.log, "0.009 m, more than half of the mean edge, 0.01") != NULL, "%s",
            f.t.log);
  close_cama_contact(&f);
}

Test(contact_cama, the_same_bits_for_any_number_of_threads)
{
  static fixture f;
  static double H[2][M3][M3];
  double g[2][M3] = {{0}}, e[2] = {0};
  static const char *const all[] = {"thickness=4e-3 self_friction=0.4", "thickness=4e-3 matrix=1"};
  for (int s = 0; s < 2; ++s) {
    for (int r = 0; r < 2; ++r) {
      create_two_sheets(&f, r == 0 ? 1 : 3, all[s]);
      e[r] = evaluate_cama_force(&f, f.x, g[r]);
      matrix_at(&f, f.x, H[r]);
      close_cama_contact(&f);
    }
    cr_expect_eq(e[0], e[1]);
    for (int i = 0; i < 3 * f.n; ++i) cr_assert_eq(g[0][i], g[1][i]);
    for (int i = 0; i < M3; ++i)
      for (int j = 0; j < M3; ++j) cr_assert_eq(H[0][i][j], H[1][i][j]);
  }
}
