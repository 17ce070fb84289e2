/* test_bodies.c - the services on bodies row by row against the functions that they are made of,
 * and their refusals. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bodies/bodies.h"
#include "bodies/rows.kern.h"
#include "support/shapes.h"
#include "support/test_host.h"

/* Every shape, in the order of the kinds; the first one rests, GRID is a grid, 1 and BALL move by
 * themselves in the test of pushes. */
enum {
  N = 400,
  BODIES = BODY_NUM_SHAPES,
  GRID = BODY_SHAPE_grid,
  BALL = BODY_SHAPE_capsule,
  ROWS = N * BODIES,
  FIRST = 7
};

typedef struct fixture {
  test_host t;
  loom_real x[3 * N], x1[3 * N];
  loom_buf *body, *point, *x1_buf; /* [FIRST + ROWS], [FIRST + ROWS][4] */
  loom_body_rows rows;
} fixture;

static obst_view view_of_body(const fixture *f, int body, const loom_real *sdf)
{
  obst_view v;
  cr_assert(obst_view_fill(&f->t.obstacles[body], &v) == NULL);
  if (v.shape == BODY_SHAPE_grid && sdf != NULL) {
    v.sdf = sdf;
    v.lipschitz = obst_view_lipschitz(&v, sdf);
  }
  return v;
}

static int body_of_row(int row) { return row % 11 == 0 ? -1 : row % BODIES; }
static int point_of(int row) { return (7 * row) % N; }

static void open_body_rows(fixture *f)
{
  static const double axis[3] = {0.6, 0, 0.8};
  static loom_real values[27];
  static int32_t body[FIRST + ROWS], point[4 * (FIRST + ROWS)];
  uint64_t seed = 3;
  th_open(&f->t, 2, 1);
  for (int i = 0; i < 3 * N; ++i) f->x[i] = 1.2 * th_random(&seed);
  for (int i = 0; i < 3 * N; ++i) f->x1[i] = f->x[i] + 0.5 * th_random(&seed);
  for (int k = 0; k < BODIES; ++k) {
    const double t0[3] = {0.05 * k, 0, 0}, t1[3] = {0.05 * k, 0.1, 0.05};
    loom_obstacle *const o = &f->t.obstacles[k];
    *o = th_obstacle(body_kind_at(k)->name, shapes_sizes(body_kind_at(k)->name), 8);
    th_pose(o->pose0, axis, 0.1 * k, t0);
    th_pose(o->pose1, axis, 0.1 * k + 0.2 * (k % 2), k == 0 ? t0 : t1); /* the first one rests */
  }
  for (int i = 0; i < 27; ++i) values[i] = 0.3 * (i / 9) - 0.25 + 0.05 * sin(i);
  loom_obstacle *const grid = &f->t.obstacles[GRID];
  grid->sdf = th_buf(&f->t, LOOM_REAL, 27, values);
  grid->spacing = 0.3;
  for (int c = 0; c < 3; ++c) grid->dims[c] = 3;
  th_scene(&f->t, N, f->x, NULL, NULL, BODIES);
  for (int i = 0; i < ROWS; ++i) {
    body[FIRST + i] = body_of_row(i);
    point[4 * (FIRST + i)] = point_of(i);
  }
  f->body = th_buf(&f->t, LOOM_I32, FIRST + ROWS, body);
  f->point = th_buf(&f->t, LOOM_I32, 4 * (FIRST + ROWS), point);
  f->x1_buf = th_buf(&f->t, LOOM_REAL, 3 * N, f->x1);
  f->rows = (loom_body_rows){.struct_size = sizeof f->rows,
                             .stride = 4,
                             .first = FIRST,
                             .count = ROWS,
                             .body = f->body,
                             .point = f->point,
                             .x = f->t.step.x};
}

static loom_buf *create_sevens_buffer(fixture *f, int width)
{
  static loom_real sevens[9 * (FIRST + ROWS)];
  for (int i = 0; i < 9 * (FIRST + ROWS); ++i) sevens[i] = 7;
  return th_buf(&f->t, LOOM_REAL, width * (int64_t)(FIRST + ROWS), sevens);
}

static void assert_same_row(const loom_real *have, const loom_real *want, int width,
                            const char *what, int row)
{
  cr_assert(memcmp(have, want, (size_t)width * sizeof *have) == 0, "%s of row %d: %g, want %g",
            what, row, have[0], want[0]);
}

Test(bodies, gaps_are_those_of_the_shapes_to_the_bit)
{
  static fixture f;
  open_body_rows(&f);
  const loom_body_gap out = {.struct_size = sizeof out,
                             .gap = create_sevens_buffer(&f, 1),
                             .normal = create_sevens_buffer(&f, 3),
                             .gradient = create_sevens_buffer(&f, 3),
                             .curvature = create_sevens_buffer(&f, 9)};
  const loom_body_gap plain = {.struct_size = sizeof out,
                               .gap = create_sevens_buffer(&f, 1),
                               .normal = create_sevens_buffer(&f, 3)};
  cr_assert_eq(f.t.host.body_gap(&f.t.host, &f.t.exec, &f.rows, 0.3, &out), LOOM_OK);
  cr_assert_eq(f.t.host.body_gap(&f.t.host, &f.t.exec, &f.rows, 0.3, &plain), LOOM_OK);
  loom_real *const sdf = th_get(&f.t, f.t.obstacles[GRID].sdf);
  loom_real *const gap = th_get(&f.t, out.gap), *const n = th_get(&f.t, out.normal);
  loom_real *const g = th_get(&f.t, out.gradient), *const C = th_get(&f.t, out.curvature);
  loom_real *const gap2 = th_get(&f.t, plain.gap), *const n2 = th_get(&f.t, plain.normal);
  for (int i = -FIRST; i < ROWS; ++i) {
    const int at = FIRST + i;
    if (i < 0 || body_of_row(i) < 0) {
      cr_assert(gap[at] == 7 && n[3 * at] == 7 && C[9 * at] == 7, "row %d is touched", i);
      continue;
    }
    const obst_view v = view_of_body(&f, body_of_row(i), sdf);
    obst_pose P;
    lk_real want_n[3], want_g[3], want_C[9];
    obst_pose_at(&v, LK_R(0.3), &P);
    const lk_real d = obst_distance(&v, &P, f.x + 3 * point_of(i), want_n);
    assert_same_row(gap + at, &d, 1, "gap", i), assert_same_row(gap2 + at, &d, 1, "gap alone", i);
    assert_same_row(n + 3 * at, want_n, 3, "normal", i),
        assert_same_row(n2 + 3 * at, want_n, 3, "normal alone", i);
    (void)obst_hess(&v, &P, f.x + 3 * point_of(i), want_g, want_C);
    assert_same_row(g + 3 * at, want_g, 3, "gradient", i),
        assert_same_row(C + 9 * at, want_C, 9, "curvature", i);
  }
  void *const all[] = {sdf, gap, n, g, C, gap2, n2};
  for (int k = 0; k < 7; ++k) free(all[k]);
  th_close(&f.t);
}

Test(bodies, all_pairs_go_body_by_body)
{
  static fixture f;
  open_body_rows(&f);
  const loom_body_gap out = {.struct_size = sizeof out, .gap = create_sevens_buffer(&f, 1)};
  const loom_body_rows rows = {
      .struct_size = sizeof rows, .first = 2, .count = N, .x = f.t.step.x, .pair = N / 2};
  cr_assert_eq(f.t.host.body_gap(&f.t.host, &f.t.exec, &rows, 1.0, &out), LOOM_OK);
  loom_real *const gap = th_get(&f.t, out.gap);
  for (int i = 0; i < N; ++i) {
    const obst_view v = view_of_body(&f, (N / 2 + i) / N, NULL);
    obst_pose P;
    lk_real n[3];
    obst_pose_at(&v, LK_R(1.0), &P);
    const lk_real d = obst_distance(&v, &P, f.x + 3 * ((N / 2 + i) % N), n);
    assert_same_row(gap + 2 + i, &d, 1, "gap", i);
  }
  cr_expect(gap[1] == 7 && gap[2 + N] == 7);
  free(gap);
  th_close(&f.t);
}

Test(bodies, impacts_are_those_of_the_shapes_and_planes_lie_at_them)
{
  static fixture f;
  static loom_real floor[FIRST + ROWS], tol[FIRST + ROWS];
  int hits = 0;
  open_body_rows(&f);
  for (int i = 0; i < ROWS; ++i) {
    floor[FIRST + i] = 0.01;
    tol[FIRST + i] = i % 5 == 0 ? -1 : 1e-6;
  }
  const loom_body_path p = {.struct_size = sizeof p,
                            .max_iters = 500,
                            .progress0 = 0.1,
                            .progress1 = 0.9,
                            .x1 = f.x1_buf,
                            .radius = f.t.scene.radius,
                            .floor = th_buf(&f.t, LOOM_REAL, FIRST + ROWS, floor),
                            .tol = th_buf(&f.t, LOOM_REAL, FIRST + ROWS, tol),
                            .toi = create_sevens_buffer(&f, 1),
                            .gap = create_sevens_buffer(&f, 1),
                            .normal = create_sevens_buffer(&f, 3),
                            .point = create_sevens_buffer(&f, 3)};
  cr_assert_eq(f.t.host.body_impact(&f.t.host, &f.t.exec, &f.rows, &p), LOOM_OK);
  loom_real *const toi = th_get(&f.t, p.toi), *const n = th_get(&f.t, p.normal);
  loom_real *const point = th_get(&f.t, p.point), *const gap = th_get(&f.t, p.gap);
  loom_real *const sdf = th_get(&f.t, f.t.obstacles[GRID].sdf);
  for (int i = 0; i < ROWS; ++i) {
    const int at = FIRST + i;
    if (body_of_row(i) < 0) continue;
    const obst_view v = view_of_body(&f, body_of_row(i), sdf);
    obst_path w = {.floor = 0.01, .tol = 1e-6, .s0 = 0.1, .s1 = 0.9, .max_iters = 500};
    memcpy(w.x0, f.x + 3 * point_of(i), sizeof w.x0);
    memcpy(w.x1, f.x1 + 3 * point_of(i), sizeof w.x1);
    const lk_real want = i % 5 == 0 ? LK_R(2.0) : obst_impact(&v, &w);
    assert_same_row(toi + at, &want, 1, "impact", i);
    if (!(want <= 1)) continue;
    obst_pose P;
    lk_real unused[3], depth = 0;
    obst_pose_at(&v, LK_R(0.9), &P);
    ++hits;
    for (int c = 0; c < 3; ++c) depth += n[3 * at + c] * (w.x1[c] - point[3 * at + c]);
    cr_assert(fabs(depth - gap[at]) < 1e-14, "row %d: %g above the plane, not %g", i, depth,
              gap[at]);
    /* the foot of a point on a grid is only near its surface */
    if (v.shape != BODY_SHAPE_grid)
      cr_assert(fabs(obst_distance(&v, &P, point + 3 * at, unused)) < 1e-12, "row %d: off", i);
  }
  cr_expect(hits > 100, "%d", hits);
  void *const all[] = {toi, n, point, gap, sdf};
  for (int k = 0; k < 5; ++k) free(all[k]);
  th_close(&f.t);
}

Test(bodies, points_are_carried_with_their_bodies)
{
  static fixture f;
  open_body_rows(&f);
  loom_buf *const out = create_sevens_buffer(&f, 3);
  cr_assert_eq(f.t.host.body_carry(&f.t.host, &f.t.exec, &f.rows, 1.0, 0.25, out), LOOM_OK);
  loom_real *const to = th_get(&f.t, out);
  for (int i = 0; i < ROWS; ++i) {
    const lk_real *const x = f.x + 3 * point_of(i);
    obst_pose P0, P1;
    lk_real p[3], want[3];
    if (body_of_row(i) < 0) continue;
    const obst_view v = view_of_body(&f, body_of_row(i), NULL);
    obst_pose_at(&v, LK_R(1.0), &P0);
    obst_pose_at(&v, LK_R(0.25), &P1);
    obst_to_body(&P0, x, p);
    obst_to_world(&P1, p, want);
    assert_same_row(to + 3 * (FIRST + i), body_of_row(i) == 0 ? x : want, 3, "point", i);
  }
  free(to);
  th_close(&f.t);
}

Test(bodies, pushes_are_summed_about_the_end_of_the_step)
{
  static fixture f;
  static loom_real p[3 * (FIRST + ROWS)], m[FIRST + ROWS];
  uint64_t seed = 5;
  double want[BODY_IMPULSE] = {0};
  open_body_rows(&f);
  f.t.obstacles[1].mass = 2;
  f.t.obstacles[BALL].mass = 1;
  for (int i = 0; i < 3 * ROWS; ++i) p[3 * FIRST + i] = th_random(&seed);
  for (int i = 0; i < ROWS; ++i) m[FIRST + i] = 0.5;
  for (int i = 0; i < ROWS; ++i) {
    const loom_real *const q = p + 3 * (FIRST + i), *const x = f.x + 3 * point_of(i);
    const loom_real *const t = f.t.obstacles[BALL].pose1 + 9;
    if (body_of_row(i) != BALL) continue;
    for (int c = 0; c < 3; ++c) {
      const int a = (c + 1) % 3, b = (c + 2) % 3;
      want[c] += q[c];
      want[3 + c] += (x[a] - t[a]) * q[b] - (x[b] - t[b]) * q[a];
    }
    want[6] += 0.5;
  }
  loom_buf *const impulse = th_buf(&f.t, LOOM_REAL, 3 * (FIRST + ROWS), p);
  loom_buf *const mass = th_buf(&f.t, LOOM_REAL, FIRST + ROWS, m);
  for (int k = 0; k < 2; ++k)
    cr_assert_eq(f.t.host.body_push(&f.t.host, &f.t.exec, &f.rows, impulse, mass), LOOM_OK);
  loom_real *const row = th_get(&f.t, bodies_pushed(f.t.bodies));
  for (int c = 0; c < BODY_IMPULSE; ++c) {
    cr_expect_float_eq(row[BALL * BODY_IMPULSE + c], 2 * want[c], 1e-11, "%d", c);
    cr_expect(row[c] == 0 && row[GRID * BODY_IMPULSE + c] == 0, "their motion is prescribed");
    cr_expect(row[BODY_IMPULSE + c] != 0);
  }
  free(row);
  cr_assert_eq(bodies_clear_pushes(f.t.bodies), LOOM_OK);
  loom_real *const calm = th_get(&f.t, bodies_pushed(f.t.bodies));
  cr_expect(calm[BALL * BODY_IMPULSE] == 0);
  free(calm);
  th_close(&f.t);
}

Test(bodies, what_cannot_be_is_refused_by_name)
{
  static const char *const wrong[] = {"sdf", "sphere", "pyramid"};
  static const char *const says[] = {"body 'body': its grid has no values",
                                     "body 'body': the sphere's radius is not positive",
                                     "body 'body': unknown kind of body"};
  const loom_real x[3] = {0, 0, 1}, none[8] = {0};
  for (int k = 0; k < 3; ++k) {
    test_host t;
    body_set *b;
    th_open(&t, 1, 0);
    t.obstacles[0] = th_obstacle(wrong[k], none, 8);
    th_scene(&t, 1, x, NULL, NULL, 1);
    cr_expect_eq(bodies_open(&t.err, t.m, &t.scene, &b), LOOM_E_CONFIG);
    cr_expect_str_eq(t.err.text, says[k]);
    th_close(&t);
  }
}
