/* [twist.*]: material frames of yarns that are clamped and turned, and yarns that are cut, turned
 * and glued. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "elements/rod.kern.h"
#include "support/elem_case.h"
#include "support/proc.h"
#include "unit/elements/rod_rig.h"

TestSuite(yarn_frames, .init = proc_enter, .fini = proc_leave);

static const int is_float = sizeof(loom_real) == 4;

#define PI      3.14159265358979323846
#define BENDING 2e-8  /* N m^2 */
#define RADIUS  0.03  /* m, of rings */
#define STEP    0.004 /* m, of straight yarns */
enum { RING = 36, LINE = 13 };

static const char head[] = "[yarn.a]\npattern = obj\nfile = a.obj\nradius = 0.5 mm\n";

/* n points on a ring with waves out of its plane, or on a wavy line along x. */
static void write_yarn(int n, int closed, double wave)
{
  FILE *const f = fopen("a.obj", "w");
  cr_assert(f != NULL);
  for (int i = 0; i < n; ++i) {
    const double t = 2 * PI * i / n;
    if (closed)
      fprintf(f, "v %.17g %.17g %.17g\n", RADIUS * cos(t), RADIUS * sin(t),
              wave * RADIUS * cos(2 * t));
    else
      fprintf(f, "v %.17g %.17g %.17g\n", STEP * i, wave * STEP * sin(t), wave * STEP * cos(3 * t));
  }
  fprintf(f, "l");
  for (int i = 0; i < n + closed; ++i) fprintf(f, " %d", i % n + 1);
  fprintf(f, "\n");
  fclose(f);
}

/* A yarn that is straight without load. */
static void write_straight_rest(int joints)
{
  FILE *const f = fopen("straight.txt", "w");
  cr_assert(f != NULL);
  for (int i = 0; i < joints; ++i) fprintf(f, "0 0 0 0 0\n");
  fclose(f);
}

/* ---- the energy and its gradient ---- */

/* A straight yarn with one end turned by a in the time of the run, and from the start on: the
 * twist is even, and the energy C a^2 / (2 L), L the length between the middles of the clamped
 * segments. */
static void expect_even_twist(rig *g, double a)
{
  const double want = 3e-8 * a * a / (2 * STEP * (LINE - 2));
  cr_expect(fabs(rig_energy(g) / want - 1) < (is_float ? 1e-3 : 1e-9), "%g J, not %g",
            rig_energy(g), want);
  const loom_real *const rest = rig_map(g, frames_of(g));
  for (int i = 0; i < LINE - 2; ++i) {
    const loom_real *const f = rest + (size_t)ROD_REST * (size_t)i + ROD_FRAME;
    const double m = (double)(f[ROD_FRAME_LEN + 6] - f[6]);
    cr_expect(fabs(m - a / (LINE - 2)) < (is_float ? 1e-4 : 1e-10), "joint %d: %g rad", i, m);
  }
  buf_unmap(g->t.m, frames_of(g));
}

Test(yarn_frames, twist_between_clamps_is_even)
{
  char text[400];
  rig g;
  write_yarn(LINE, 0, 0);
  snprintf(text, sizeof text,
           "%stwisting = 3e-8\n[twist.l]\nobject = a\nsegments = first\nturn = -90\n"
           "[twist.r]\nobject = a\nsegments = %d\nturn = 400\nturn_from = 1\nturn_until = 3\n",
           head, LINE - 2);
  rig_open(&g, text);
  expect_even_twist(&g, PI / 2);
  for (int k = 0; k < 5; ++k) {
    cr_assert_eq(scene_pose(g.t.s, 0.5 + 0.5 * k, 1 + 0.5 * k), LOOM_OK);
    cr_assert_eq(elastic_commit(g.el, g.x), LOOM_OK);
    expect_even_twist(&g, (90 + 100 * k) * PI / 180);
  }
  rig_close(&g);
}

/* Two clamps, one at the last segment, divide a ring that is straight at rest into two yarns. */
Test(yarn_frames, clamps_divide_a_ring)
{
  char text[400];
  double E[2];
  write_yarn(RING, 1, 0);
  write_straight_rest(RING);
  for (int k = 0; k < 2; ++k) {
    rig g;
    snprintf(text, sizeof text,
             "%srest_curvature = straight.txt\n[twist.a]\nobject = a\nsegments = 11\n"
             "[twist.b]\nobject = a\nsegments = %d\nturn = %d\n",
             head, RING - 1, k * 300);
    rig_open(&g, text);
    E[k] = rig_energy(&g);
    rig_close(&g);
  }
  const double a = 300 * PI / 180, len = 2 * RADIUS * sin(PI / RING);
  const double want = BENDING * a * a / (2 * len) * (1.0 / (RING - 12) + 1.0 / 12);
  cr_expect(fabs((E[1] - E[0]) / want - 1) < (is_float ? 1e-3 : 1e-9), "%g J, not %g", E[1] - E[0],
            want);
}

/* The forces are the gradient of the energy whose free frames follow, for every vertex. */
static void check_clamped_gradient(const char *text, double shake)
{
  rig g;
  rig_open(&g, text);
  const int64_t n = 3 * (int64_t)g.t.s->pub.num_verts;
  const double h = 1e-7;
  double worst = 0, most = 0;
  loom_real *x = rig_map(&g, g.x);
  for (int64_t i = 0; i < n; ++i) x[i] += (loom_real)(shake * case_random(11, (unsigned)i));
  buf_unmap(g.t.m, g.x);
  for (int k = 0; k < 3; ++k) cr_assert_eq(elastic_commit(g.el, g.x), LOOM_OK);
  rig_gradient(&g);
  loom_real *const grad = tiny_copy(&g.t, g.grad);
  for (int64_t i = 0; i < n; ++i) {
    double E[2];
    for (int s = 0; s < 3; ++s) { /* the last one goes back */
      x = rig_map(&g, g.x);
      x[i] += (loom_real)(s == 1 ? -2 * h : h);
      buf_unmap(g.t.m, g.x);
      cr_assert_eq(elastic_commit(g.el, g.x), LOOM_OK);
      if (s < 2) E[s] = rig_energy(&g);
    }
    worst = fmax(worst, fabs((E[0] - E[1]) / (2 * h) - (double)grad[i]));
    most = fmax(most, fabs((double)grad[i]));
  }
  cr_expect(worst < 1e-5 * most, "%g N off, of %g N", worst, most);
  free(grad);
  rig_close(&g);
}

Test(yarn_frames, forces_are_the_gradient_with_clamped_frames)
{
  if (is_float) cr_skip_test("differences of energies need doubles");
  char text[400];
  write_yarn(LINE, 0, 0.7);
  snprintf(text, sizeof text,
           "%s[twist.l]\nobject = a\nsegments = first 5\n"
           "[twist.r]\nobject = a\nsegments = last\nturn = 250 deg\n",
           head);
  check_clamped_gradient(text, 2e-4);
  write_yarn(RING, 1, 0.2);
  snprintf(text, sizeof text, "%s[twist.r]\nobject = a\ncut = 7\nturn = 500\n", head);
  check_clamped_gradient(text, 2e-4);
}

/* ---- Michell's ring ---- */

/* Lower factor of A [n][n] in place; 0: A is not positive definite. */
static int factor_stability_matrix(double *A, int n)
{
  for (int j = 0; j < n; ++j) {
    for (int k = 0; k < j; ++k) A[j * n + j] -= A[j * n + k] * A[j * n + k];
    if (!(A[j * n + j] > 0)) return 0;
    A[j * n + j] = sqrt(A[j * n + j]);
    for (int i = j + 1; i < n; ++i) {
      for (int k = 0; k < j; ++k) A[i * n + j] -= A[i * n + k] * A[j * n + k];
      A[i * n + j] /= A[j * n + j];
    }
  }
  return 1;
}

/* H [3n][3n], N/m: differences of the forces, frames following. */
static void ring_hessian(rig *g, int N, double *H)
{
  const double h = 1e-6 * RADIUS;
  double *const f = calloc(2 * (size_t)N, sizeof *f);
  for (int i = 0; i < N; ++i) {
    for (int s = 0; s < 3; ++s) {
      loom_real *const x = rig_map(g, g->x);
      x[i] += (loom_real)(s == 1 ? -2 * h : h);
      buf_unmap(g->t.m, g->x);
      cr_assert_eq(elastic_commit(g->el, g->x), LOOM_OK);
      if (s == 2) continue;
      rig_gradient(g);
      const loom_real *const grad = rig_map(g, g->grad);
      for (int k = 0; k < N; ++k) f[s * N + k] = (double)grad[k];
      buf_unmap(g->t.m, g->grad);
    }
    for (int k = 0; k < N; ++k) H[i * N + k] = (f[k] - f[N + k]) / (2 * h);
  }
  free(f);
}

/* Whether the flat ring is a minimum of the energy among rings with the same lengths c = 0: the
 * Hessian of E - lambda c, with a stiff penalty on c and a trace of its size that holds rigid
 * motions. */
static int is_ring_stable(const char *twist, double twisting)
{
  char text[500];
  rig g;
  snprintf(text, sizeof text,
           "%srest_curvature = straight.txt\nbending = %g\ntwisting = %.17g\n"
           "[twist.r]\nobject = a\n%s\n",
           head, BENDING, twisting, twist);
  rig_open(&g, text);
  const int n = g.t.s->pub.num_verts, N = 3 * n;
  double *const H = calloc((size_t)N * N, sizeof *H), *const S = calloc((size_t)N * N, sizeof *S);
  double along = 0, off = 0, most = 0, length2 = 0;
  rig_gradient(&g);
  loom_real *const x = tiny_copy(&g.t, g.x), *const grad = tiny_copy(&g.t, g.grad);
  for (int c = 0; c < 3; ++c)
    length2 += ((double)x[3 + c] - (double)x[c]) * ((double)x[3 + c] - (double)x[c]);
  for (int k = 0; k < N; ++k) along += (double)grad[k] * (double)x[k];
  const double lambda = along / (n * length2);
  ring_hessian(&g, N, H);
  for (int i = 0; i < n; ++i) { /* segment from i to j: c = |e|^2/2 */
    const int j = (i + 1) % n, prev = (i + n - 1) % n;
    double e[6];
    for (int c = 0; c < 3; ++c) {
      e[3 + c] = (double)x[3 * j + c] - (double)x[3 * i + c];
      e[c] = -e[3 + c];
      const double pull = 2 * (double)x[3 * i + c] - (double)x[3 * j + c] - (double)x[3 * prev + c];
      off = fmax(off, fabs((double)grad[3 * i + c] - lambda * pull));
      most = fmax(most, fabs(BENDING / (RADIUS * RADIUS)));
      H[(3 * i + c) * N + 3 * i + c] -= lambda;
      H[(3 * j + c) * N + 3 * j + c] -= lambda;
      H[(3 * i + c) * N + 3 * j + c] += lambda;
      H[(3 * j + c) * N + 3 * i + c] += lambda;
    }
    for (int p = 0; p < 6; ++p)
      for (int q = 0; q < 6; ++q)
        S[(3 * (p < 3 ? i : j) + p % 3) * N + 3 * (q < 3 ? i : j) + q % 3] += e[p] * e[q] / length2;
  }
  cr_expect(off < 1e-6 * most, "the flat ring is in balance but for %g N of %g", off, most);
  const double unit = BENDING / (RADIUS * RADIUS * RADIUS); /* N/m */
  for (int p = 0; p < N; ++p)
    for (int q = 0; q <= p; ++q)
      S[p * N + q] = 1e6 * unit * S[p * N + q] + 0.5 * (H[p * N + q] + H[q * N + p]) +
                     (p == q ? 1e-3 * unit : 0);
  const int stable = factor_stability_matrix(S, N);
  free(H);
  free(S);
  free(x);
  free(grad);
  rig_close(&g);
  return stable;
}

/* The twist at which the flat ring becomes unstable, over 2 pi sqrt(3) A/C; 0: never below 1.6. */
static double find_critical_twist(double twisting)
{
  const double theory = 360 * sqrt(3.0) * BENDING / twisting;
  double low = 0.4, high = 1.6; /* to 0.02 % */
  char twist[80];
  for (int k = 0; k < 13; ++k) {
    const double middle = k == 0 ? high : 0.5 * (low + high);
    snprintf(twist, sizeof twist, "cut = 3\nturn = %.17g", middle * theory);
    const int stable = is_ring_stable(twist, twisting);
    if (k == 0 && stable) return 0;
    if (k > 0) *(stable ? &low : &high) = middle;
  }
  return 0.5 * (low + high);
}

/* A straight rod bent into a ring, cut, turned by 2 pi sqrt(3) A/C and glued, leaves its plane
 * (J. H. Michell, On the stability of a bent and twisted wire, Messenger of Mathematics 19, 1889;
 * A. Goriely, Twisted elastic rings and the rediscoveries of Michell's instability, Journal of
 * Elasticity 84, 2006).  The ring of n segments does at a twist that is larger by 1/n^2. */
Test(yarn_frames, a_ring_buckles_at_the_twist_of_michell)
{
  if (is_float) cr_skip_test("differences of forces need doubles");
  static const double ratio[2] = {0.7, 1.5}; /* C/A */
  for (int k = 0; k < 2; ++k) {
    double found[2];
    for (int r = 0; r < 2; ++r) {
      write_yarn(24 << r, 1, 0);
      write_straight_rest(24 << r);
      found[r] = find_critical_twist(ratio[k] * BENDING);
    }
    const double limit = (4 * found[1] - found[0]) / 3;
    cr_log_info("C/A = %g: %.4f and %.4f of theory, %.4f in the limit", ratio[k], found[0],
                found[1], limit);
    cr_expect(fabs(found[1] - 1) < 0.02, "C/A = %g, 48 segments: %.4f of theory", ratio[k],
              found[1]);
    cr_expect(fabs(limit - 1) < 0.003, "C/A = %g: %.4f of theory in the limit", ratio[k], limit);
  }
  /* a frame that turns without a cut brings no twist into a closed yarn */
  cr_expect(is_ring_stable("segments = 3\nturn = 1000", BENDING), "it buckles without twist");
}

/* ---- keys ---- */

static void expect_twist_refusal(const char *keys, const char *key, const char *part)
{
  char text[600];
  snprintf(text, sizeof text, "%s%s", head, keys);
  tiny_refused(text, (const char *const[]){"tiny.ini:", key, part, NULL});
}

Test(yarn_frames, keys_that_name_no_frame_are_refused)
{
#define OF "[twist.t]\nobject = a\nturn = 90\n"
  write_yarn(LINE, 0, 0);
  expect_twist_refusal("[twist.t]\nobject = b\ncut = 1\n", "object", "there is a");
  expect_twist_refusal(OF, "segments", "the key cut no vertex");
  expect_twist_refusal(OF "segments = 1\ncut = 1\n", "segments", "give one of them");
  expect_twist_refusal(OF "segments = 1 12\n", "segments", "has 0 to 11");
  expect_twist_refusal(OF "segments = end\n", "segments", "\"end\" names no segment");
  expect_twist_refusal(OF "segments = 0 first\n", "segments", "segment 0 of a.obj is named twice");
  expect_twist_refusal(OF "segments =\n", "segments", "names no segment");
  expect_twist_refusal(OF "cut = 0\n", "cut", "the end of a yarn");
  expect_twist_refusal(OF "cut = 13\n", "cut", "has 0 to 12");
  expect_twist_refusal(OF "cut = last\n", "cut", "no list of vertices");
  expect_twist_refusal(OF "cut = 1\nturn_from = 2\nturn_until = 1\n", "turn_until",
                       "turn_from, 2 s");
  expect_twist_refusal("twisting = 0\n" OF "cut = 1\n", "object", "twisting > 0");
  write_yarn(RING, 1, 0);
  expect_twist_refusal(OF "segments = last\n", "segments", "closed yarns alone");
}

Test(yarn_frames, turns_that_leave_no_twist_are_told)
{
  char text[400];
  write_yarn(LINE, 0, 0);
  snprintf(text, sizeof text, "%s[twist.t]\nobject = a\nturn = 90\nsegments = last\n", head);
  tiny_scene t = tiny_open_ok(text);
  cr_expect(strstr(t.s->warnings, "an end turns along") != NULL, "%s", t.s->warnings);
  cr_expect(strstr(t.s->notes, "1 clamped segments") != NULL, "%s", t.s->notes);
  cr_expect(strstr(t.s->inventory, "1 clamped frame, 90 degrees") != NULL, "%s", t.s->inventory);
  tiny_close(&t);
  write_yarn(RING, 1, 0);
  snprintf(text, sizeof text, "%s[twist.t]\nobject = a\nturn = 90\nsegments = 4\n", head);
  t = tiny_open_ok(text);
  cr_expect(strstr(t.s->warnings, "the key cut") != NULL, "%s", t.s->warnings);
  tiny_close(&t);
}
