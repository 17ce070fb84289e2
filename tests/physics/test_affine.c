/* Affine bodies (model = affine): free fall, the top, sliding, impact on a free sheet, and what
 * contact does to followers as derivatives. */
#define _DEFAULT_SOURCE /* mkstemps */
#include <math.h>
#include <string.h>

#include "affine_scene.h"
#include "linalg/linalg.h"
#include "run/objects/following.h"
#include "run/run_state.h"
#include "run/step/step.h"
#include "support/sim.h"

static char ball[] = "/tmp/loom_ball_XXXXXX.obj", text[4000];

static void make_ball(void) { affine_write_ball(ball, 0.05, 0.025); }
static void drop_ball(void) { (void)unlink(ball); }
static const char *scene_of_ball(const char *format)
{
  snprintf(text, sizeof text, format, ball);
  return text;
}

TestSuite(affine, .init = make_ball, .fini = drop_ball);

/* ---- free fall ---- */

/* As test_free_fall.c; the surface follows to rounding. */
Test(affine, falls_as_a_parabola)
{
  static const char scene[] =
      "[run]\nsteps = 20\ndt = 0.01\ngravity = 0.3 -0.2 -9.81\n[exec]\nbackend = cpu\n"
      "[stop]\ntol_abs = 1e-12\ntol_rel = 0\nmax_iters = 3\n[solid.ball]\nshape = mesh\n"
      "file = %s\nmodel = affine\nstiffness = 1e6\nvelocity = 1 2 3\n"
      "transform = rotate 1 2 3 40\n[solver]\nplugin = gd\n";
  static const char *const solvers[] = {"gd",         "cholmod_newton", "pcg_newton",
                                        "cholmod_pd", "aa_pd",          "vbd",
                                        "xpbd",       "cama_pcg",       "chebyshev_pd"};
  static const double g[3] = {0.3, -0.2, -9.81}, v0[3] = {1, 2, 3};
  const double h = 0.01, N = 20;
  for (size_t k = 0; k < sizeof solvers / sizeof *solvers; ++k) {
    char set[64];
    sim s;
    double worst = 0.0;
    snprintf(set, sizeof set, "solver.plugin=%s", solvers[k]);
    sim_run(&s, scene_of_ball(scene), (const char *const[]){set, NULL}, 0);
    for (int64_t i = 0; i < s.n; ++i)
      for (int c = 0; c < 3; ++c) {
        const double x = s.rest[3 * i + c] + N * h * v0[c] + g[c] * h * h * N * (N + 1) / 2;
        worst = fmax(worst, fabs(s.x[3 * i + c] - x));
      }
    cr_expect(worst < 1e-12, "%s: %g m", solvers[k], worst);
    sim_free(&s);
  }
}

/* ---- a top ---- */

static run *open_run(const char *config, cfg **c)
{
  static loom_err err; /* the run keeps it */
  run *r = NULL;
  static const run_options o = {.steps = -1, .resume_step = -1, .no_log = 1}; /* and this */
  cr_assert_eq(cfg_parse(&err, config, "test.ini", "/tmp", NULL, 0, c), LOOM_OK, "%s", err.text);
  cr_assert_eq(run_open(&err, *c, &o, &r), LOOM_OK, "%s", err.text);
  return r;
}

static loom_real *map_rows(run *r, loom_buf *b, int access)
{
  void *p;
  cr_assert_eq(buf_map(r->m, NULL, b, access, LOOM_AT_HOST, &p), LOOM_OK);
  return p;
}

/* m v at the start, of rows about the axis z through the origin */
static void spin_about_z(run *r, double omega)
{
  const loom_real *const x = map_rows(r, r->st.x, LOOM_READ);
  loom_real *const v = map_rows(r, r->st.v_start, LOOM_WRITE);
  for (int32_t i = 0; i < r->scene->pub.num_verts; ++i) {
    v[3 * i] = -omega * x[3 * i + 1];
    v[3 * i + 1] = omega * x[3 * i];
    v[3 * i + 2] = 0;
  }
  cr_assert_eq(buf_unmap(r->m, r->st.x), LOOM_OK);
  cr_assert_eq(buf_unmap(r->m, r->st.v_start), LOOM_OK);
}

/* A body with equal moments turns by D' = atan2(sin D, 2 - cos D) after a step that turned by D:
 * the rotation nearest to its inertial target, which implicit Euler moves to for w without bound.
 */
static void turn_top(const char *solver)
{
  static const char scene[] =
      "[run]\nsteps = 100\ndt = 0.01\ngravity = 0 0 0\n[exec]\nbackend = cpu\n"
      "[stop]\ntol_abs = 1e-13\ntol_rel = 0\n[solid.ball]\nshape = mesh\nfile = %s\n"
      "model = affine\nstiffness = 8e8\n";
  const double h = 0.01, omega = 10.0;
  double turn = atan(h * omega), worst = 0.0, stretch = 0.0;
  char whole[4200];
  cfg *c = NULL;
  snprintf(whole, sizeof whole, "%s[solver]\nplugin = %s\n", scene_of_ball(scene), solver);
  run *const r = open_run(whole, &c);
  spin_about_z(r, omega);
  const int32_t n = r->scene->pub.num_verts;
  loom_real *const before = malloc(3 * (size_t)n * sizeof *before);
  cr_assert(before != NULL);
  memcpy(before, map_rows(r, r->st.x, LOOM_READ), 3 * (size_t)n * sizeof *before);
  cr_assert_eq(buf_unmap(r->m, r->st.x), LOOM_OK);
  for (int k = 0; k < 100; ++k) {
    cr_assert_eq(step_once(r, k), LOOM_OK, "%s", r->err->text);
    const loom_real *const x = map_rows(r, r->st.x, LOOM_READ);
    for (int32_t i = 0; i < n; ++i) {
      const double *const p = before + 3 * i, *const q = x + 3 * i, size = hypot(p[0], p[1]);
      if (size < 0.01) continue;
      const double turned = atan2(p[0] * q[1] - p[1] * q[0], p[0] * q[0] + p[1] * q[1]);
      worst = fmax(worst, fabs(turned - turn));
      stretch = fmax(stretch, fabs(hypot(q[0], q[1]) / size - 1));
    }
    memcpy(before, x, 3 * (size_t)n * sizeof *before);
    cr_assert_eq(buf_unmap(r->m, r->st.x), LOOM_OK);
    turn = atan2(sin(turn), 2 - cos(turn));
  }
  printf("top, %s: the turn of a step is off by %.2g rad, the stretch of a step %.2g\n", solver,
         worst, stretch);
  cr_expect(worst < 1e-5 && stretch < 1e-5, "%s: %g rad, %g", solver, worst, stretch);
  free(before);
  run_close(r, NULL);
  cfg_free(c);
}

Test(affine, top_turns_as_a_rigid_body)
{
  static const char *const solvers[] = {"cholmod_newton", "pcg_newton", "cholmod_pd", "aa_pd",
                                        "chebyshev_pd"};
  for (size_t k = 0; k < sizeof solvers / sizeof *solvers; ++k) turn_top(solvers[k]);
}

/* ---- sliding ---- */

/* a = g (sin - mu cos) on a plane with tan = 0.5. */
Test(affine, box_slides_down_a_slope)
{
  static const char scene[] =
      "[run]\nsteps = 60\ndt = 0.005\n[exec]\nbackend = cpu\n[stop]\ntol_abs = 1e-10\n"
      "tol_rel = 0\nmax_iters = 100\n[log]\naudit = off\n[solid.box]\nsize = 0.1 0.1 0.04\n"
      "resolution = 2 2 2\ndensity = 500\nmodel = affine\nstiffness = 8e8\nthickness = 0\n"
      "transform = translate 0 0 0.0205 rotate 0 1 0 26.56505117707799\n"
      "[body.slope]\nshape = plane\nnormal = 0.4472135954999579 0 0.8944271909999159\n"
      "friction = 0.1\n[solver]\nplugin = cholmod_newton\n[collision.c]\nplugin = sdf\n"
      "[contact.c]\nplugin = ipc_barrier\nepsilon_v = 1e-4\nfriction_lag = iteration\n";
  const double want = 9.81 * (1.0 - 0.1 * 2.0) / sqrt(5.0);
  double speed[2] = {0, 0}, time = 0.0, side = 0.0;
  sim s;
  sim_run(&s, scene, NULL, 0);
  double *const v = calloc(3 * (size_t)s.n, sizeof *v);
  cr_assert(v != NULL);
  sim_frame(&s, s.frames - 31, NULL, v, &time);
  for (int64_t i = 0; i < s.n; ++i) {
    speed[0] += (2 * v[3 * i] - v[3 * i + 2]) / sqrt(5.0) / (double)s.n;
    speed[1] += (2 * s.v[3 * i] - s.v[3 * i + 2]) / sqrt(5.0) / (double)s.n;
    side = fmax(side, fabs(s.x[3 * i + 1] - s.rest[3 * i + 1]));
  }
  const double a = (speed[1] - speed[0]) / (s.time - time);
  printf("slope: a = %.6f m/s^2, exact %.6f; sideways %.2g m\n", a, want, side);
  cr_expect(fabs(a / want - 1) < 1e-3, "%g m/s^2, want %g", a, want);
  cr_expect(side < 1e-6, "%g m", side);
  free(v);
  sim_free(&s);
}

/* ---- impact ---- */

typedef struct motion_sums {
  double momentum[3], size, ball[3]; /* kg m/s; size: sum of m |v| */
} motion_sums;

/* Of nodes: followers have no mass of their own. */
static motion_sums sum_momentum(run *r)
{
  motion_sums out = {{0}, 0, {0}};
  const loom_real *const v = map_rows(r, r->st.v_start, LOOM_READ);
  const loom_real *const m = map_rows(r, r->scene->pub.mass, LOOM_READ);
  const int32_t *const object =
      (const int32_t *)(const void *)map_rows(r, r->scene->pub.object, LOOM_READ);
  for (int32_t i = 0; i < r->scene->pub.num_verts; ++i) {
    double v2 = 0.0;
    for (int c = 0; c < 3; ++c) {
      out.momentum[c] += m[i] * v[3 * i + c];
      if (object[i] == 1) out.ball[c] += m[i] * v[3 * i + c];
      v2 += v[3 * i + c] * v[3 * i + c];
    }
    out.size += m[i] * sqrt(v2);
  }
  cr_assert_eq(buf_unmap(r->m, r->st.v_start), LOOM_OK);
  cr_assert_eq(buf_unmap(r->m, r->scene->pub.mass), LOOM_OK);
  cr_assert_eq(buf_unmap(r->m, r->scene->pub.object), LOOM_OK);
  return out;
}

/* The momentum of ball and sheet stays; the ball gives some away, and nothing passes. */
static void hit_sheet(const char *contact, double bound)
{
  char more[4200];
  double worst = 0.0;
  cfg *c = NULL;
  snprintf(more, sizeof more, "%s[contact.all]\nplugin = %s\n", scene_of_ball(AFFINE_HIT), contact);
  char *const at = strstr(more, "[contact.all]\nplugin = ipc_barrier\n");
  cr_assert(at != NULL);
  memmove(at, at + strlen("[contact.all]\nplugin = ipc_barrier\n"),
          strlen(at + strlen("[contact.all]\nplugin = ipc_barrier\n")) + 1);
  run *const r = open_run(more, &c);
  const motion_sums first = sum_momentum(r);
  motion_sums last = first;
  for (int k = 0; k < 10; ++k) {
    cr_assert_eq(step_once(r, k), LOOM_OK, "%s", r->err->text);
    last = sum_momentum(r);
    for (int d = 0; d < 3; ++d)
      worst = fmax(worst, fabs(last.momentum[d] - first.momentum[d]) / first.size);
  }
  const double given = (last.ball[2] - first.ball[2]) / first.size;
  printf("%s: momentum changes by %.2g of sum m|v|, the ball gives %.3f of its own\n", contact,
         worst, given);
  cr_expect(worst < bound, "%s: %g", contact, worst);
  cr_expect(given > 0.05, "%s: %g", contact, given);
  run_close(r, NULL);
  cfg_free(c);
}

Test(affine, impact_keeps_the_momentum)
{
  static const char *const contacts[] = {"ipc_barrier", "dbb", "ndb"};
  for (size_t k = 0; k < sizeof contacts / sizeof *contacts; ++k) hit_sheet(contacts[k], 1e-10);
}

/* Two bodies of different mass turn each other about; linear momentum stays. */
static void meet_bodies(const char *contact)
{
  static const char scene[] =
      "[run]\nsteps = 12\ndt = 0.01\ngravity = 0 0 0\n[exec]\nbackend = cpu\n[stop]\n"
      "tol_abs = 0\ntol_rel = 1e-6\nmax_iters = 60\n[solid.box]\nsize = 0.1 0.06 0.03\n"
      "resolution = 4 3 2\ndensity = 300\nmodel = affine\nstiffness = 8e8\nthickness = 0\n"
      "transform = rotate 1 2 3 20\n[solid.ball]\nshape = mesh\nfile = %s\nmodel = affine\n"
      "stiffness = 8e8\ndensity = 200\nvelocity = 0.1 0 -1\nthickness = 0\n"
      "transform = translate 0.03 0.01 0.09\n[collision.all]\nplugin = patch_bvh\n"
      "[solver]\nplugin = cholmod_newton\n";
  char whole[4200];
  double worst = 0.0;
  cfg *c = NULL;
  snprintf(whole, sizeof whole, "%s[contact.all]\nplugin = %s\n", scene_of_ball(scene), contact);
  run *const r = open_run(whole, &c);
  const motion_sums first = sum_momentum(r);
  motion_sums last = first;
  for (int k = 0; k < 12; ++k) {
    cr_assert_eq(step_once(r, k), LOOM_OK, "%s", r->err->text);
    last = sum_momentum(r);
    for (int d = 0; d < 3; ++d)
      worst = fmax(worst, fabs(last.momentum[d] - first.momentum[d]) / first.size);
  }
  const double given = (last.ball[2] - first.ball[2]) / first.size;
  printf("two bodies, %s: momentum changes by %.2g of sum m|v|, the ball gives %.3f\n", contact,
         worst, given);
  cr_expect(worst < 1e-12, "%s: %g", contact, worst);
  cr_expect(given > 0.05, "%s: %g", contact, given);
  run_close(r, NULL);
  cfg_free(c);
}

Test(affine, bodies_keep_the_momentum)
{
  static const char *const contacts[] = {"ipc_barrier", "dbb", "ndb"};
  for (size_t k = 0; k < sizeof contacts / sizeof *contacts; ++k) meet_bodies(contacts[k]);
}

Test(affine, impact_has_no_intersections)
{
  sim s;
  sim_run(&s, scene_of_ball(AFFINE_HIT), NULL, 0);
  h5log_step_row *const rows = sim_steps(&s);
  int64_t found = 0, pairs = 0;
  for (int64_t k = 0; k < s.steps; ++k) {
    cr_assert(rows[k].intersections >= 0, "step %d was not audited", (int)k);
    found += rows[k].intersections;
    pairs += rows[k].min_gap < 1e-3;
  }
  cr_expect_eq(found, 0);
  cr_expect(pairs > 0);
  free(rows);
  sim_free(&s);
}

/* A bound per vertex cuts the body as a whole: otherwise its surface would be stretched. */
Test(affine, bound_per_vertex_keeps_the_shape)
{
  sim s;
  double stretch = 0.0;
  sim_run(&s, scene_of_ball(AFFINE_HIT),
          (const char *const[]){"filter.bound=vertex", "contact.all.plugin=dbb", NULL}, 0);
  h5log_step_row *const rows = sim_steps(&s);
  for (int64_t k = 0; k < s.steps; ++k) cr_expect_eq(rows[k].intersections, 0);
  for (int64_t t = 0; t < s.nt; ++t)
    for (int a = 0; a < 3; ++a) {
      const int32_t p = s.tris[3 * t + a], q = s.tris[3 * t + (a + 1) % 3];
      double now = 0.0, rest = 0.0;
      if (p < 81) continue; /* of the sheet */
      for (int c = 0; c < 3; ++c) {
        now += pow(s.x[3 * p + c] - s.x[3 * q + c], 2);
        rest += pow(s.rest[3 * p + c] - s.rest[3 * q + c], 2);
      }
      stretch = fmax(stretch, fabs(sqrt(now / rest) - 1));
    }
  printf("bound per vertex: the body is stretched by %.2g\n", stretch);
  cr_expect(stretch < 1e-5, "%g", stretch);
  free(rows);
  sim_free(&s);
}

/* ---- derivatives ---- */

static double eval_energy(run *r, loom_buf *x)
{
  loom_energies e = {0};
  cr_assert_eq(problem_eval(r, r->st.problem, x, &e, NULL), LOOM_OK, "%s", r->err->text);
  return e.total;
}

/* x + t d in `to` */
static void go_along(run *r, loom_buf *d, double t, loom_buf *to)
{
  cr_assert_eq(la_waxpby(r->m, &r->exec, 1.0, r->st.x, t, d, to), LOOM_OK);
}

static loom_buf *rows_like_x(run *r, const char *name)
{
  loom_buf *b = NULL;
  cr_assert_eq(buf_new(r->m, "core", name, LOOM_REAL, buf_count(r->st.x), &b), LOOM_OK);
  return b;
}

static double dot_rows(run *r, loom_buf *a, loom_buf *b)
{
  double out = 0.0;
  cr_assert_eq(la_dot(r->m, &r->exec, a, b, &out), LOOM_OK);
  return out;
}

/* Gradient and Hessian of the whole problem, in the middle of an impact, are the derivatives of the
 * energy in the unknowns alone: W'g and W'HW of contact. */
Test(affine, forces_on_the_surface_are_those_of_the_nodes)
{
  const double t = 1e-8, steps = 5;
  cfg *c = NULL;
  uint64_t seed = 1;
  run *const r = open_run(scene_of_ball(AFFINE_HIT), &c);
  for (int k = 0; k < steps; ++k) cr_assert_eq(step_once(r, k), LOOM_OK, "%s", r->err->text);
  cr_assert(detect_num_pairs(r) > 0);
  loom_buf *const d = rows_like_x(r, "d"), *const to = rows_like_x(r, "to");
  loom_buf *const g = rows_like_x(r, "g"), *const more = rows_like_x(r, "more");
  loom_buf *const Hd = rows_like_x(r, "Hd"), *const product = rows_like_x(r, "product");
  loom_real *const p = map_rows(r, d, LOOM_WRITE);
  const uint8_t *const fixed =
      (const uint8_t *)(const void *)map_rows(r, r->scene->pub.fixed, LOOM_READ);
  for (int32_t i = 0; i < 3 * r->scene->pub.num_verts; ++i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    p[i] = fixed[i / 3] ? 0.0 : (double)(seed >> 40) / 16777216.0 - 0.5;
  }
  cr_assert_eq(buf_unmap(r->m, r->scene->pub.fixed), LOOM_OK);
  cr_assert_eq(buf_unmap(r->m, d), LOOM_OK);
  /* energies: a difference of 1e-6 J in about 1e-2 J */
  go_along(r, d, t, to);
  const double up = eval_energy(r, to);
  cr_assert_eq(problem_eval(r, r->st.problem, to, NULL, more), LOOM_OK);
  go_along(r, d, -t, to);
  const double down = eval_energy(r, to);
  cr_assert_eq(problem_eval(r, r->st.problem, to, NULL, g), LOOM_OK);
  cr_assert_eq(la_axpby(r->m, &r->exec, -0.5 / t, g, 0.5 / t, more), LOOM_OK); /* H d */
  go_along(r, d, 0.0, to);
  cr_assert_eq(problem_eval(r, r->st.problem, to, NULL, g), LOOM_OK);
  const double slope = dot_rows(r, g, d), difference = (up - down) / (2 * t);
  cr_expect(fabs(slope / difference - 1) < 1e-5, "%.10g N m, %.10g", slope, difference);
  cr_assert_eq(problem_hess_apply(r, r->st.problem, to, LOOM_HESS_EXACT, d, Hd), LOOM_OK);
  const loom_bsr3 *H = NULL;
  cr_assert_eq(problem_hessian(r, r->st.problem, to, LOOM_HESS_EXACT, &H), LOOM_OK);
  cr_assert_eq(la_spmv_bsr3(r->m, &r->exec, H, d, product), LOOM_OK);
  const double size = sqrt(dot_rows(r, more, more));
  cr_assert_eq(la_axpby(r->m, &r->exec, -1.0, Hd, 1.0, product), LOOM_OK);
  cr_assert_eq(la_axpby(r->m, &r->exec, -1.0, Hd, 1.0, more), LOOM_OK);
  const double assembled = sqrt(dot_rows(r, product, product)) / size;
  const double off = sqrt(dot_rows(r, more, more)) / size;
  printf("W'HW: %.2g from differences, %.2g assembled from applied\n", off, assembled);
  cr_expect(off < 1e-5, "%g", off);
  cr_expect(assembled < 1e-12, "%g", assembled);
  run_close(r, NULL);
  cfg_free(c);
}

/* Terms on nodes have the same places as those on the surface, so the same energy: sum of w x. */
Test(affine, wide_terms_are_those_of_the_surface)
{
  static const char *const more[] = {"contact.all.plugin=ndb", "solver.plugin=ndb_pd",
                                     "solid.ball.stiffness=5e6"};
  static const run_options o = {.steps = -1, .resume_step = -1, .no_log = 1};
  static loom_err err;
  const loom_quad *wide = NULL;
  cfg *c = NULL;
  run *r = NULL;
  double off = 0.0, nodes = 0.0;
  cr_assert_eq(cfg_parse(&err, scene_of_ball(AFFINE_HIT), "test.ini", "/tmp", more, 3, &c), LOOM_OK,
               "%s", err.text);
  cr_assert_eq(run_open(&err, c, &o, &r), LOOM_OK, "%s", err.text);
  for (int k = 0; k < 5; ++k) cr_assert_eq(step_once(r, k), LOOM_OK, "%s", err.text);
  cr_assert_eq(contact_quad(r, r->st.x, &wide), LOOM_OK);
  const loom_quad *const q = &r->contacts.quad;
  cr_assert(wide->width == FOLLOW_WIDTH && wide->count == q->count && q->count > 0);
  const loom_real *const x = map_rows(r, r->st.x, LOOM_READ);
  const loom_real *const w = map_rows(r, q->w, LOOM_READ), *const w2 =
                                                               map_rows(r, wide->w, LOOM_READ);
  const int32_t *const v = (const int32_t *)(const void *)map_rows(r, q->v, LOOM_READ);
  const int32_t *const v2 = (const int32_t *)(const void *)map_rows(r, wide->v, LOOM_READ);
  for (int64_t j = 0; j < q->count; ++j)
    for (int d = 0; d < 3; ++d) {
      double a = 0.0, b = 0.0;
      for (int k = 0; k < 4; ++k)
        if (v[4 * j + k] >= 0) a += w[4 * j + k] * x[3 * v[4 * j + k] + d];
      for (int k = 0; k < FOLLOW_WIDTH; ++k)
        if (v2[FOLLOW_WIDTH * j + k] >= 0) {
          b += w2[FOLLOW_WIDTH * j + k] * x[3 * v2[FOLLOW_WIDTH * j + k] + d];
          nodes += v2[FOLLOW_WIDTH * j + k] >= 81 && v2[FOLLOW_WIDTH * j + k] < 85;
        }
      off = fmax(off, fabs(a - b));
    }
  cr_expect(off < 1e-15, "%g m", off);
  cr_expect(nodes > 0);
  loom_buf *const all[] = {r->st.x, q->w, q->v, wide->w, wide->v};
  for (size_t k = 0; k < sizeof all / sizeof *all; ++k)
    cr_assert_eq(buf_unmap(r->m, all[k]), LOOM_OK);
  run_close(r, NULL);
  cfg_free(c);
}

/* ---- plugins ---- */

/* The refusal of a run, or "" */
static void try_plugins(const char *solver, const char *contact, char *why, size_t len)
{
  char sets[2][64];
  sim s;
  snprintf(sets[0], sizeof sets[0], "solver.plugin=%s", solver);
  snprintf(sets[1], sizeof sets[1], "contact.all.plugin=%s", contact);
  sim_run(&s, scene_of_ball(AFFINE_HIT),
          (const char *const[]){sets[0], sets[1], "run.steps=4", "stop.max_iters=4",
                                "log.audit=off", NULL},
          1);
  snprintf(why, len, "%s", s.status == LOOM_OK ? "" : s.err.text);
  if (s.status != LOOM_OK)
    cr_expect(s.status == LOOM_E_CONFIG, "%s with %s: %s", solver, contact, s.err.text);
  for (int64_t i = 0; s.status == LOOM_OK && i < 3 * s.n; ++i)
    cr_assert(isfinite(s.x[i]), "%s with %s: vertex %d", solver, contact, (int)(i / 3));
  sim_free(&s);
}

/* Every contact model with one solver, and every solver with one model, runs or is refused. */
Test(affine, plugins_run_or_are_refused_by_name)
{
  static const struct {
    const char *solver, *contact, *why;
  } all[] = {{"cholmod_newton", "ipc_barrier", NULL},
             {"cholmod_newton", "dbb", NULL},
             {"cholmod_newton", "ndb", NULL},
             {"cholmod_newton", "ogc", NULL},
             {"cholmod_newton", "penalty", NULL},
             {"cholmod_newton", "repulsion", NULL},
             {"cholmod_newton", "cama_repulsion", NULL},
             {"cholmod_newton", "impact_zones", "moves vertices by itself"},
             {"cholmod_newton", "project", "moves vertices by itself"},
             {"pcg_newton", "dbb", NULL},
             {"cama_pcg", "ipc_barrier", NULL},
             {"cama_pcg", "cama_repulsion", NULL},
             {"gd", "dbb", NULL},
             {"vbd", "dbb", NULL},
             {"xpbd", "dbb", NULL},
             {"cholmod_pd", "pd_ipc", NULL},
             {"aa_pd", "ndb", NULL},
             {"chebyshev_pd", "pd_ipc", NULL},
             {"ndb_pd", "ndb", NULL}};
  char why[sizeof((loom_err *)0)->text];
  for (size_t k = 0; k < sizeof all / sizeof *all; ++k) {
    try_plugins(all[k].solver, all[k].contact, why, sizeof why);
    if (all[k].why == NULL)
      cr_expect_eq(why[0], 0, "%s with %s: %s", all[k].solver, all[k].contact, why);
    else
      cr_expect(strstr(why, all[k].why) != NULL && strstr(why, "affine body") != NULL,
                "%s with %s: %s", all[k].solver, all[k].contact, why);
  }
}
