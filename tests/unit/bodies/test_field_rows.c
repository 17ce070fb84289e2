/* test_field_rows.c - services on bodies that bend: a field and a ball in the same rows are asked
 * by kernels of their own, and answer as their functions do. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/device.h"
#include "unit/bodies/field_leg.h"

/* A field and a ball by turns, and rows without a body, marked by 7. */
enum { NOBODY = 2 };
static int body_of_field_row(int i) { return i % 3; }

typedef struct asked {
  loom_buf *gap, *normal, *gradient, *curvature, *toi, *to;
} asked;

static loom_buf *create_field_sevens(fixture *f, int width)
{
  static loom_real all[9 * N];
  for (int i = 0; i < 9 * N; ++i) all[i] = 7;
  return th_buf(&f->t, LOOM_REAL, (int64_t)width * N, all);
}

static const loom_real ball[4] = {0, 0, 0, (loom_real)0.3}; /* centre, radius, m */
static const obst_path impact_terms = {
    .floor = LK_R(0.001), .tol = LK_R(1e-6), .s0 = LK_R(0.1), .s1 = 1, .max_iters = 2000};

static asked query_field_rows(fixture *f)
{
  static int32_t body[N];
  static loom_real x[3 * N], x1[3 * N], floor[N], tol[N];
  unmap_field_view(f);
  for (int i = 0; i < N; ++i) {
    body[i] = body_of_field_row(i) == NOBODY ? -1 : body_of_field_row(i);
    floor[i] = impact_terms.floor;
    tol[i] = impact_terms.tol;
    for (int c = 0; c < 3; ++c) {
      x[3 * i + c] = f->p[i][c];
      x1[3 * i + c] = f->p[(i + 1) % N][c];
    }
  }
  f->t.obstacles[1] = th_obstacle("sphere", ball, 4);
  th_scene(&f->t, N, x, NULL, NULL, 2);
  const test_host *const t = &f->t;
  const loom_body_rows rows = {.struct_size = sizeof rows,
                               .count = N,
                               .body = th_buf(&f->t, LOOM_I32, N, body),
                               .x = t->step.x};
  const asked a = {create_field_sevens(f, 1), create_field_sevens(f, 3), create_field_sevens(f, 3),
                   create_field_sevens(f, 9), create_field_sevens(f, 1), create_field_sevens(f, 3)};
  const loom_body_gap slope = {.struct_size = sizeof slope,
                               .gap = a.gap,
                               .normal = a.normal,
                               .gradient = a.gradient,
                               .curvature = a.curvature};
  const loom_body_gap plain = {.struct_size = sizeof plain, .gap = a.gap, .normal = a.normal};
  const loom_body_path path = {.struct_size = sizeof path,
                               .max_iters = impact_terms.max_iters,
                               .progress0 = (double)impact_terms.s0,
                               .progress1 = (double)impact_terms.s1,
                               .x1 = th_buf(&f->t, LOOM_REAL, 3 * N, x1),
                               .radius = t->scene.radius,
                               .floor = th_buf(&f->t, LOOM_REAL, N, floor),
                               .tol = th_buf(&f->t, LOOM_REAL, N, tol),
                               .toi = a.toi,
                               .gap = create_field_sevens(f, 1),
                               .normal = create_field_sevens(f, 3),
                               .point = create_field_sevens(f, 3)};
  cr_assert_eq(t->host.body_gap(&t->host, &t->exec, &rows, 0.4, &slope), LOOM_OK, "%s",
               t->err.text);
  cr_assert_eq(t->host.body_gap(&t->host, &t->exec, &rows, 0.4, &plain), LOOM_OK, "%s",
               t->err.text);
  cr_assert_eq(t->host.body_impact(&t->host, &t->exec, &rows, &path), LOOM_OK, "%s", t->err.text);
  cr_assert_eq(t->host.body_carry(&t->host, &t->exec, &rows, 1.0, 0.25, a.to), LOOM_OK, "%s",
               t->err.text);
  map_field_view(f);
  return a;
}

/* On the CPU to the bit; a device rounds the sines of joints that turn in its own way. */
static void expect_field_values(fixture *f, loom_buf *have, const loom_real *want, int width,
                                const char *what)
{
  loom_real *const got = th_get(&f->t, have);
  for (int k = 0; k < width * N; ++k) {
    const double off = fabs((double)got[k] - (double)want[k]) / (1 + fabs((double)want[k]));
    cr_assert(test_on_cuda() ? off < 1e-5 : got[k] == want[k], "%s, row %d: %.17g, want %.17g",
              what, k / width, (double)got[k], (double)want[k]);
  }
  free(got);
}

Test(field_rows, a_field_and_a_ball_are_asked_by_kernels_of_their_own)
{
  for (size_t kind = 0; kind < 3; ++kind) {
    static fixture f;
    static loom_real gap[N], n[3 * N], g[3 * N], C[9 * N], toi[N], to[3 * N];
    int hits = 0;
    open_field_leg_on(&f, test_on_cuda() ? LOOM_CUDA : LOOM_CPU, 2, kinds[kind], start, end, 0.002,
                      0.03);
    const asked a = query_field_rows(&f);
    obst_view sphere;
    cr_assert_null(obst_view_fill(&f.t.obstacles[1], &sphere));
    for (int i = 0; i < 9 * N; ++i) C[i] = 7;
    for (int i = 0; i < 3 * N; ++i) n[i] = g[i] = to[i] = 7;
    for (int i = 0; i < N; ++i) {
      const obst_view *const v = body_of_field_row(i) == 0 ? &f.view : &sphere;
      const lk_real *const x = f.p[i];
      obst_path w = impact_terms;
      obst_pose P;
      gap[i] = toi[i] = 7;
      if (body_of_field_row(i) == NOBODY) continue;
      obst_pose_at(v, LK_R(0.4), &P);
      (void)obst_hess(v, &P, x, g + 3 * i, C + 9 * i);
      gap[i] = obst_distance(v, &P, x, n + 3 * i);
      memcpy(w.x0, x, sizeof w.x0);
      memcpy(w.x1, f.p[(i + 1) % N], sizeof w.x1);
      toi[i] = obst_impact(v, &w);
      hits += body_of_field_row(i) == 0 && toi[i] <= 1;
      memcpy(to + 3 * i, x, sizeof w.x0);
      if (body_of_field_row(i) == 0) obst_carry(v, LK_R(1.0), LK_R(0.25), x, to + 3 * i, NULL);
    }
    expect_field_values(&f, a.gap, gap, 1, "gap"),
        expect_field_values(&f, a.normal, n, 3, "normal");
    expect_field_values(&f, a.gradient, g, 3, "gradient"),
        expect_field_values(&f, a.curvature, C, 9, "curvature");
    expect_field_values(&f, a.toi, toi, 1, "impact"),
        expect_field_values(&f, a.to, to, 3, "carried");
    cr_expect_gt(hits, 10, "%s: %d", kinds[kind], hits);
    close_field_leg(&f);
  }
}

/* A device makes weights again, where a CPU keeps them. */
Test(field_rows, shares_of_joints_are_the_same_bits_with_weights_made_again)
{
  static fixture f;
  open_field_leg(&f, "capsules");
  const bend_head *const head = f.view.field;
  for (int i = 0; i < N; ++i) {
    float w[BEND_ANCHORS];
    lk_real total = LK_R(0.0);
    bend_shares all;
    for (int k = 0; k < BEND_ANCHORS; ++k) w[k] = bend_weight(head, LK_R(0.3), f.p[i], k);
    bend_share_all(head, LK_R(0.3), f.p[i], &all);
    for (int32_t k = 0; k < head->num_frames; ++k) {
      const lk_real again = bend_sum(head, LK_R(0.3), f.p[i], NULL, k);
      cr_assert_eq(again, bend_sum(head, LK_R(0.3), f.p[i], w, k), "point %d, joint %d", i, k);
      total += again;
    }
    cr_assert_eq(total, all.total, "point %d", i);
  }
  close_field_leg(&f);
}
