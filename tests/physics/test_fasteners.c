/* test_fasteners.c - configs/button.ini and configs/zip.ini: ties hold a button to two panels that
 * are drawn apart, and close the gap between two edges.  Each is run with ties of no stiffness,
 * too.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/sim.h"

static void run_fastener(const char *name, const char *const *sets, sim *s)
{
  char text[600];
  snprintf(text, sizeof text, "include = %s/configs/%s.ini\n", getenv("LOOM_SOURCE_DIR"), name);
  sim_run(s, text, sets, 0);
  cr_assert_eq(s->sum.intersections, 0, "%s: intersections", name);
}

static double distance_between(const double *a, const double *b)
{
  return sqrt(pow(a[0] - b[0], 2) + pow(a[1] - b[1], 2) + pow(a[2] - b[2], 2));
}

/* ---- button ---- */

enum { PANEL = 169, NODES = 4 }; /* vertices of each panel, control points behind both */

typedef struct held {
  double overlap; /* m, of the panels along x at the height of the button */
  double fall;    /* m, of the button */
  double away;    /* m, largest way of a tied vertex of the front from the button */
} held;

static int is_tied(const double *start) { return fabs(start[0]) < 0.011 && fabs(start[2]) < 0.011; }

static held hold_button(const char *const *sets)
{
  held out = {0, 0, 0};
  double centre[2][3] = {{0}}, edge[2] = {-INFINITY, INFINITY};
  sim s;
  run_fastener("button", sets, &s);
  double *const x0 = calloc(3 * (size_t)s.n, sizeof *x0);
  cr_assert(x0 != NULL);
  sim_frame(&s, 0, x0, NULL, NULL);
  for (int i = 2 * PANEL; i < 2 * PANEL + NODES; ++i)
    for (int c = 0; c < 3; ++c) {
      centre[0][c] += x0[3 * i + c] / NODES;
      centre[1][c] += s.x[3 * i + c] / NODES;
    }
  for (int i = 0; i < 2 * PANEL; ++i) {
    const double *const x = s.x + 3 * i;
    if (fabs(x0[3 * i + 2]) > 0.006) continue;
    edge[i / PANEL] = i < PANEL ? fmax(edge[0], x[0]) : fmin(edge[1], x[0]);
  }
  for (int i = 0; i < PANEL; ++i)
    if (is_tied(x0 + 3 * i))
      out.away = fmax(out.away, distance_between(s.x + 3 * i, centre[1]) -
                                    distance_between(x0 + 3 * i, centre[0]));
  out.overlap = edge[0] - edge[1];
  out.fall = centre[0][2] - centre[1][2];
  printf("button: the panels overlap by %.2f mm, it falls by %.3f mm, a thread gives %.2f mm\n",
         1e3 * out.overlap, 1e3 * out.fall, 1e3 * out.away);
  free(x0);
  sim_free(&s);
  return out;
}

Test(fasteners, button_holds_two_panels)
{
  const held with = hold_button(NULL);
  cr_expect(with.overlap > 0.018, "the panels overlap by %g m of 0.0387 m", with.overlap);
  cr_expect(fabs(with.fall) < 1e-3, "the button falls by %g m", with.fall);
  cr_expect(with.away < 6e-3, "a tied vertex goes %g m away", with.away);
  const held none = hold_button(
      (const char *const[]){"attach.front.stiffness=1e-9", "attach.back.stiffness=1e-9", NULL});
  cr_expect(none.overlap < 2e-3 && none.fall > 0.5, "without threads: %g m, fallen by %g m",
            none.overlap, none.fall);
}

/* ---- zip ---- */

enum { ROWS = 13, COLUMNS = 9 };

/* Largest and least distance of a tooth from the other edge, m. */
static void measure_gap(const double *x, double *most, double *least)
{
  *most = 0.0;
  *least = INFINITY;
  for (int j = 0; j < ROWS; ++j) {
    const double *const p = x + 3 * (j * COLUMNS + COLUMNS - 1);
    double near = INFINITY;
    for (int k = 0; k + 1 < ROWS; ++k) {
      const double *const a = x + 3 * (ROWS * COLUMNS + k * COLUMNS), *const b = a + 3 * COLUMNS;
      double along = 0.0, q[3];
      for (int c = 0; c < 3; ++c) along += (p[c] - a[c]) * (b[c] - a[c]);
      along = fmin(fmax(along / pow(distance_between(a, b), 2), 0.0), 1.0);
      for (int c = 0; c < 3; ++c) q[c] = a[c] + along * (b[c] - a[c]);
      near = fmin(near, distance_between(p, q));
    }
    *most = fmax(*most, near);
    *least = fmin(*least, near);
  }
}

static void close_zip(const char *const *sets, double *before, double *after, double *least)
{
  sim s;
  run_fastener("zip", sets, &s);
  double *const x0 = calloc(3 * (size_t)s.n, sizeof *x0);
  cr_assert(x0 != NULL);
  sim_frame(&s, 0, x0, NULL, NULL);
  measure_gap(x0, before, least);
  measure_gap(s.x, after, least);
  printf("zip: the edges are %.2f mm apart at most, %.2f to %.2f mm at the end\n", 1e3 * *before,
         1e3 * *least, 1e3 * *after);
  free(x0);
  sim_free(&s);
}

Test(fasteners, zip_closes)
{
  double before, after, least;
  close_zip(NULL, &before, &after, &least);
  cr_expect(before > 0.035 && after < 4e-3 && least > 1e-3, "%g, then %g to %g m", before, least,
            after);
  close_zip((const char *const[]){"attach.teeth.stiffness=1e-9", NULL}, &before, &after, &least);
  cr_expect(after > 0.9 * before, "without ties: %g, then %g m", before, after);
}
