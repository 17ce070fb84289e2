/* hinge_wang: the table of measured stiffness, and the shape that a step begins with. */
#include <criterion/criterion.h>
#include <math.h>

#include "elements/hinge_wang/hinge_wang.kern.h"
#include "support/elem_case.h"

static const double rounding = sizeof(loom_real) < 8 ? 1e-4 : 1e-12;
static const double pi = 3.14159265358979324;
static const double EDGE = 0.02, HEIGHT = 0.01; /* m, of both triangles: a = EDGE HEIGHT */
static const lk_entry k_move = LK_ENTRY(hinge_wang_move);

/* gray-interlock, 1e-6 N m: curvatures by angles */
static const double table[HINGE_WANG_ROWS][3] = {{23.191698, 24.749964, 14.267624},
                                                 {32.932217, 18.651314, 7.052906},
                                                 {34.406498, 16.370552, 14.515154},
                                                 {39.01442, 25.095791, 24.665127},
                                                 {23.382786, 8.860165, 19.383726}};

/* An edge at `degrees` from the x axis, and one vertex on either side; bent by theta. */
static void fill_hinge_corners(double degrees, double theta, double *X)
{
  const double a = degrees * pi / 180.0, u[2] = {cos(a), sin(a)};
  const double across[2] = {HEIGHT, -HEIGHT * cos(theta)};
  for (int v = 0; v < 4; ++v) {
    const double along = EDGE * (v == 0 ? 0.0 : v == 1 ? 1.0 : 0.4);
    const double side = v < 2 ? 0.0 : across[v - 2];
    X[3 * v] = along * u[0] - side * u[1];
    X[3 * v + 1] = along * u[1] + side * u[0];
    X[3 * v + 2] = v == 3 ? HEIGHT * sin(theta) : 0.0;
  }
}

static void bend_hinge_case(elem_case *c, double degrees, double theta)
{
  double X[12];
  fill_hinge_corners(degrees, theta, X);
  for (int k = 0; k < 12; ++k) c->x[k] = (loom_real)X[k];
}

static void begin_hinge_step(elem_case *c)
{
  const elem_move_args a = {.x = c->x, .verts = c->verts, .rest = c->rest};
  cr_assert_eq(lk_run(&k_move, &c->exec, &a, 1, NULL), LOOM_OK);
}

static void create_hinge_case(elem_case *c, double degrees)
{
  double X[12], rest[HINGE_WANG_REST];
  case_new(c, elem_find("hinge_wang"), 1, 0, 1);
  fill_hinge_corners(degrees, 0.0, X);
  cr_assert(c->type->init_rest(X, rest) == NULL);
  for (int i = 0; i < HINGE_WANG_REST; ++i) c->rest[i] = (loom_real)rest[i];
  for (int i = 0; i < HINGE_WANG_MAT; ++i) c->mat[i] = (loom_real)(1e-6 * table[i / 3][i % 3]);
}

/* J, with the stiffness of the table for a bend of theta0, at one of theta. */
static double expected_hinge_energy(double degrees, double theta0, double theta)
{
  const double turned = fmod(fabs(degrees), 180.0), to_axis = fmin(turned, 180.0 - turned) / 45.0;
  const double bent = fmin(fabs(theta0) / (2.0 * HEIGHT) / 5.0, 4.0);
  const int row = bent >= 3.0 ? 3 : (int)bent, side = to_axis >= 1.0;
  const double t = bent - row, s = to_axis - side;
  const double lo = (1.0 - s) * table[row][side] + s * table[row][side + 1];
  const double hi = (1.0 - s) * table[row + 1][side] + s * table[row + 1][side + 1];
  const double k = 1e-6 * ((1.0 - t) * lo + t * hi);
  return k * EDGE * EDGE / (2.0 * EDGE * HEIGHT) * theta * theta / 4.0;
}

Test(hinge_wang, stiffness_follows_curvature_and_angle)
{
  static const double angles[] = {0, 10, 30, 45, 60, 80, 90, 120, 135, 170, -30};
  static const double bends[] = {0.02, -0.09, 0.1, 0.17, -0.25, 0.33, 0.41, 1.0};
  for (int a = 0; a < 11; ++a) {
    elem_case c;
    create_hinge_case(&c, angles[a]);
    for (int b = 0; b < 8; ++b) {
      const double want = expected_hinge_energy(angles[a], bends[b], bends[b]);
      bend_hinge_case(&c, angles[a], bends[b]);
      begin_hinge_step(&c);
      const double E = case_energy(&c, 0);
      cr_expect(fabs(E - want) <= 100.0 * rounding * want, "%g at %g degrees: %.15g J, not %.15g",
                bends[b], angles[a], E, want);
    }
    case_free(&c);
  }
}

/* The stiffness belongs to the start of the step, and changes when the next one begins. */
Test(hinge_wang, stiffness_stays_within_a_step)
{
  elem_case c;
  create_hinge_case(&c, 0.0);
  bend_hinge_case(&c, 0.0, 0.02);
  begin_hinge_step(&c);
  bend_hinge_case(&c, 0.0, 0.3);
  cr_expect_float_eq(case_energy(&c, 0), expected_hinge_energy(0.0, 0.02, 0.3),
                     100.0 * rounding * 1e-5);
  begin_hinge_step(&c);
  const double next = expected_hinge_energy(0.0, 0.3, 0.3);
  cr_expect_float_eq(case_energy(&c, 0), next, 100.0 * rounding * 1e-5);
  cr_expect(next > 1.3 * expected_hinge_energy(0.0, 0.02, 0.3), "the fabric stiffens");
  case_free(&c);
}
