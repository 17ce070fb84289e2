/* tri_wang: the table of measured moduli, and the strain that a step begins with. */
#include <criterion/criterion.h>
#include <math.h>

#include "elements/tri_wang/tri_wang.kern.h"
#include "support/elem_case.h"

static const double rounding = sizeof(loom_real) < 8 ? 2e-5 : 1e-13;
static const double pi = 3.14159265358979324;
static const double X[9] = {0, 0, 0, 2, 0, 0, 0, 3, 0}; /* area 3 m^2 */
static const lk_entry k_move = LK_ENTRY(tri_wang_move);

/* gray-interlock, N/m */
static const double table[WANG_ROWS][4] = {
    {16.593832, -14.69599, 34.477123, 36.860302},   {46.364765, 53.694656, 261.013855, -29.691301},
    {49.28511, 87.5961, 206.373993, 22.768457},     {123.98922, 105.18177, 365.966217, 44.217571},
    {139.686325, 73.59256, 413.553162, -174.43853}, {127.44381, 85.848587, 405.872833, 32.238411}};

/* A triangle stretched by w along `degrees` from the x axis, by `across` at right angles to it, and
 * turned out of its plane. */
static void stretch_triangle(elem_case *c, double degrees, double w, double across)
{
  const double a = degrees * pi / 180.0, u[2] = {cos(a), sin(a)};
  for (int v = 0; v < 3; ++v) {
    const double along = X[3 * v] * u[0] + X[3 * v + 1] * u[1];
    const double aside = X[3 * v + 1] * u[0] - X[3 * v] * u[1];
    const double y = across * aside * u[0] + w * along * u[1];
    c->x[3 * v] = (loom_real)(w * along * u[0] - across * aside * u[1]);
    c->x[3 * v + 1] = (loom_real)(0.6 * y);
    c->x[3 * v + 2] = (loom_real)(0.8 * y);
  }
}

static void begin_wang_step(elem_case *c)
{
  const elem_move_args a = {.x = c->x, .verts = c->verts, .rest = c->rest};
  cr_assert_eq(lk_run(&k_move, &c->exec, &a, 1, NULL), LOOM_OK);
}

static void create_wang_triangle(elem_case *c)
{
  double rest[WANG_REST];
  case_new(c, elem_find("tri_wang"), 1, 0, 1);
  cr_assert(c->type->init_rest(X, rest) == NULL);
  for (int i = 0; i < WANG_REST; ++i) c->rest[i] = (loom_real)rest[i];
  for (int i = 0; i < WANG_MAT; ++i) c->mat[i] = (loom_real)table[i / 4][i % 4];
}

/* J, with moduli of the table for a stretch of w0 along `degrees`, at one of w. */
static double wang_table_energy(double degrees, double w0, double w)
{
  const double a = fmod(fabs(degrees), 180.0), to_axis = a > 90.0 ? 180.0 - a : a;
  const double place = to_axis / 22.5, t = fmin(fmax(6.0 * (w0 - 1.0), 0.0), 1.0);
  const int r = place >= 4.0 ? 4 : 1 + (int)place;
  const double f = place - (r - 1), g = 0.5 * (w * w - 1.0);
  const double c = cos(degrees * pi / 180.0), s = sin(degrees * pi / 180.0);
  const double G[3] = {g * c * c, g * s * s, g * c * s};
  double k[4];
  for (int j = 0; j < 4; ++j) {
    const double far = (1.0 - f) * table[r][j] + f * table[r + (r < 5)][j];
    k[j] = 2.0 * fmax((1.0 - t) * table[0][j] + t * far, 0.0);
  }
  return 3.0 * (0.5 * k[0] * G[0] * G[0] + k[1] * G[0] * G[1] + 0.5 * k[2] * G[1] * G[1] +
                k[3] * G[2] * G[2]);
}

Test(tri_wang, moduli_follow_stretch_and_angle)
{
  static const double angles[] = {0, 10, 22.5, 40, 45, 67, 80, 90, 110, 135, 170, -30};
  static const double stretches[] = {1.02, 1.08, 1.0 + 1.0 / 6.0, 1.4};
  elem_case c;
  create_wang_triangle(&c);
  for (int a = 0; a < 12; ++a)
    for (int s = 0; s < 4; ++s) {
      const double w = stretches[s], want = wang_table_energy(angles[a], w, w);
      stretch_triangle(&c, angles[a], w, 1.0);
      begin_wang_step(&c);
      const double E = case_energy(&c, 0);
      cr_expect(fabs(E - want) <= 100.0 * rounding * want, "%g at %g degrees: %.15g J, not %.15g",
                w, angles[a], E, want);
    }
  case_free(&c);
}

/* Moduli belong to the start of the step: they stay while the triangle stretches on, and change
 * when the next one begins. */
Test(tri_wang, moduli_stay_within_a_step)
{
  elem_case c;
  create_wang_triangle(&c);
  stretch_triangle(&c, 0.0, 1.05, 1.0);
  begin_wang_step(&c);
  stretch_triangle(&c, 0.0, 1.1, 1.0);
  cr_expect_float_eq(case_energy(&c, 0), wang_table_energy(0.0, 1.05, 1.1), 100.0 * rounding);
  begin_wang_step(&c);
  const double next = wang_table_energy(0.0, 1.1, 1.1);
  cr_expect_float_eq(case_energy(&c, 0), next, 100.0 * rounding * next);
  cr_expect(next > 1.1 * wang_table_energy(0.0, 1.05, 1.1), "the fabric stiffens");
  case_free(&c);
}

/* Squeezed on both sides it is as at rest; collapsed to a point or a line all stays finite. */
Test(tri_wang, squeezed_fabric_is_as_at_rest)
{
  elem_case c;
  create_wang_triangle(&c);
  stretch_triangle(&c, 30.0, 0.8, 0.9);
  begin_wang_step(&c);
  cr_expect_eq(c.rest[WANG_SHARE], 0);
  for (int flat = 0; flat < 2; ++flat) {
    stretch_triangle(&c, 30.0, flat ? 1.2 : 0.0, 0.0);
    begin_wang_step(&c);
    cr_expect(isfinite((double)c.rest[WANG_SHARE]) && isfinite((double)c.rest[WANG_ANGLE]));
    cr_expect(c.rest[WANG_ANGLE] >= 0 && c.rest[WANG_ANGLE] <= 4);
    cr_expect(isfinite(case_energy(&c, 0)));
  }
  case_free(&c);
}
