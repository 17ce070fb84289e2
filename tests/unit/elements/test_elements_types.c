/* elements: numbers of the single types that are known in closed form. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "geom/small.kern.h"
#include "support/elem_case.h"

static const double rounding = sizeof(loom_real) < 8 ? 1e-5 : 1e-13;

/* One element of `type` with rest positions X and material m, placed at x. */
static void create_placed_element(elem_case *c, const char *type, const double *X, const double *m,
                                  const double *x)
{
  double rest[ELEM_MAX_REST] = {0};
  case_new(c, elem_find(type), 1, 0, 1);
  const elem_type *t = c->type;
  cr_assert(t->init_rest(X, rest) == NULL);
  for (int i = 0; i < t->rest_len; ++i) c->rest[i] = (loom_real)rest[i];
  for (int i = 0; i < t->mat_len; ++i) c->mat[i] = (loom_real)m[i];
  for (int i = 0; i < 3 * t->arity; ++i) c->x[i] = (loom_real)x[i];
}

static double energy_of_element(const char *type, const double *X, const double *m, const double *x)
{
  elem_case c;
  create_placed_element(&c, type, X, m, x);
  const double E = case_energy(&c, 0);
  case_free(&c);
  return E;
}

static void expect_close_value(double value, double wanted, const char *what)
{
  cr_expect(fabs(value - wanted) <= rounding * (1.0 + fabs(wanted)), "%s: %.15g, expected %.15g",
            what, value, wanted);
}

/* ---- bending: a hinge with an edge of length 1.3 along y ---- */
static const double edge = 1.3;

/* Faces of unequal width, the second turned up by the angle t about the edge. */
static void fill_turned_hinge(double t, double *x)
{
  const double X[12] = {0, 0, 0, 0, edge, 0, -0.7, 0.5, 0, 0.9 * cos(t), 0.3, 0.9 * sin(t)};
  memcpy(x, X, sizeof X);
}
static const double hinge_area = 0.5 * 1.3 * (0.7 + 0.9);

/* Isometric bending by t: |K x| = 2 |e| sin(t/2), E = 6 k_b |e|^2 sin^2(t/2)/(A0+A1). */
Test(elements_types, hinge_isometric_measures_the_angle)
{
  const double angle[3] = {0.1, 0.5, 1.0}, Kx[3] = {0.129946, 0.643250, 1.246506};
  const double kb = 0.37;
  double X[12], x[12], rest[ELEM_MAX_REST];
  fill_turned_hinge(0.0, X);
  cr_assert(elem_find("hinge_isometric")->init_rest(X, rest) == NULL);
  const double scale = sqrt(3.0 / hinge_area);
  expect_close_value(rest[3], 0.0, "flat");
  for (int d = 0; d < 3; ++d) { /* affine maps of the flat shape */
    double sx = 0.0;
    for (int v = 1; v < 4; ++v) sx += rest[v - 1] * (X[3 * v + d] - X[d]);
    expect_close_value(sx, 0.0, "K X");
  }
  for (int k = 0; k < 3; ++k) {
    double y[3] = {0}, s = sin(0.5 * angle[k]);
    fill_turned_hinge(angle[k], x);
    for (int v = 1; v < 4; ++v)
      for (int d = 0; d < 3; ++d) y[d] += rest[v - 1] / scale * (x[3 * v + d] - x[d]);
    const double len = sqrt(y[0] * y[0] + y[1] * y[1] + y[2] * y[2]);
    expect_close_value(len, 2.0 * edge * s, "|Kx|");
    cr_expect(fabs(len - Kx[k]) < 5e-7, "printed with six decimals: %.7f", len);
    expect_close_value(energy_of_element("hinge_isometric", X, &kb, x),
                       kb * 6.0 * edge * edge * s * s / hinge_area, "bending energy");
  }
}

/* A curved rest shape keeps its curvature on both sides. */
Test(elements_types, hinge_isometric_curved)
{
  const double kb = 0.37;
  double X[12], x[12], rest[ELEM_MAX_REST];
  fill_turned_hinge(0.5, X);
  cr_assert(elem_find("hinge_isometric")->init_rest(X, rest) == NULL);
  const double L = 2.0 * edge * sin(0.25) * sqrt(3.0 / hinge_area);
  expect_close_value(fabs(rest[3]), L, "|K' X|");
  fill_turned_hinge(0.0, x);
  expect_close_value(energy_of_element("hinge_isometric", X, &kb, x), 0.5 * kb * L * L,
                     "flattened");
  fill_turned_hinge(-0.5, x);
  expect_close_value(energy_of_element("hinge_isometric", X, &kb, x), 0.0, "mirrored");
}

/* Exactly flat, K x = 0: a curved hinge still leaves this state, towards its own side. */
Test(elements_types, hinge_isometric_flat_state_of_a_curved_hinge)
{
  const double flat[12] = {0, 0, 0, 0, 1, 0, -1, 0.5, 0, 1, 0.5, 0}, kb = 1.0;
  const loom_real K[3] = {1, -1, -1};
  loom_real g[12];
  elem_case c;
  for (int side = -1; side <= 1; side += 2) {
    create_placed_element(&c, "hinge_isometric", flat, &kb, flat);
    memcpy(c.rest, K, sizeof K);
    c.rest[3] = (loom_real)(0.5 * side); /* K X = side 0.5 e_z */
    case_run1(&c, c.type->gradient, 0, 0, g);
    /* the normal of (x0, x1, x2) is +z; gradient k (0 - L) K' n */
    expect_close_value((double)g[11], 0.5 * side, "x3");
    expect_close_value((double)g[5], -0.5 * side, "x1");
    case_free(&c);
  }
}

/* theta is the angle of bending: E = k_e l^2/(8 a) (theta - theta0)^2, also for large ones;
 * the sign distinguishes the sides. */
Test(elements_types, hinge_shell_measures_the_angle)
{
  const double ke = 0.41, angle[] = {-3.0, -1.0, -0.2, 0.0, 0.6, 1.57, 3.1};
  double X[12], x[12];
  for (int p = 0; p < 7; ++p)
    for (int q = 0; q < 7; ++q) {
      const double d = angle[q] - angle[p];
      fill_turned_hinge(angle[p], X);
      fill_turned_hinge(angle[q], x);
      expect_close_value(energy_of_element("hinge_shell", X, &ke, x),
                         ke * edge * edge / (8.0 * hinge_area) * d * d, "shell energy");
    }
}

/* Gradient of the angle: n0/h0 at x2, n1/h1 at x3, and by the feet t2, t3 at the edge. */
Test(elements_types, hinge_shell_gradient)
{
  const double ke = 1.0, t = 0.8, t2 = 0.5 / edge, t3 = 0.3 / edge;
  double X[12], x[12];
  loom_real g[12];
  elem_case c;
  fill_turned_hinge(0.0, X);
  fill_turned_hinge(t, x);
  create_placed_element(&c, "hinge_shell", X, &ke, x);
  case_run1(&c, c.type->gradient, 0, 0, g);
  /* both normals on one side: e x (x2 - x0) along +z, the other turned by t */
  const double n0[3] = {0, 0, 1}, n1[3] = {-sin(t), 0, cos(t)};
  const double f = edge * edge / (4.0 * hinge_area);
  const double dtheta = (double)g[8] > 0.0 ? t : -t;
  for (int d = 0; d < 3; ++d) {
    const double u0 = n0[d] / 0.7, u1 = n1[d] / 0.9;
    expect_close_value((double)g[6 + d], f * dtheta * u0, "x2");
    expect_close_value((double)g[9 + d], f * dtheta * u1, "x3");
    expect_close_value((double)g[3 + d], -f * dtheta * (t2 * u0 + t3 * u1), "x1");
    expect_close_value((double)g[d], -f * dtheta * ((1 - t2) * u0 + (1 - t3) * u1), "x0");
  }
  case_free(&c);
}

/* ---- membranes ---- */
static const double right[9] = {0, 0, 0, 2, 0, 0, 0, 3, 0}; /* area 3 m^2 */

/* Orthotropic: stretch along x, y and shear each see their own modulus, whichever vertex
 * comes first and whichever way the triangle winds. */
Test(elements_types, stvk_axes)
{
  const double k[4] = {5.0, 1.0, 3.0, 2.0};
  const int order[3][3] = {{0, 1, 2}, {1, 2, 0}, {0, 2, 1}};
  for (int o = 0; o < 3; ++o) {
    double X[9], x[9];
    for (int v = 0; v < 3; ++v) memcpy(X + 3 * v, right + 3 * order[o][v], 3 * sizeof *X);
    const double g = 0.5 * (1.1 * 1.1 - 1.0);
    memcpy(x, X, sizeof X);
    for (int v = 0; v < 3; ++v) x[3 * v] *= 1.1;
    expect_close_value(energy_of_element("tri_stvk", X, k, x), 3.0 * 0.5 * 5.0 * g * g, "along x");
    memcpy(x, X, sizeof X);
    for (int v = 0; v < 3; ++v) x[3 * v + 1] *= 1.1;
    expect_close_value(energy_of_element("tri_stvk", X, k, x), 3.0 * 0.5 * 3.0 * g * g, "along y");
    for (int v = 0; v < 3; ++v) x[3 * v] *= 1.1;
    expect_close_value(energy_of_element("tri_stvk", X, k, x), 3.0 * (0.5 * 8.0 + 1.0) * g * g,
                       "both");
    memcpy(x, X, sizeof X); /* shear: G01 = s/2, G11 = s^2/2 */
    for (int v = 0; v < 3; ++v) x[3 * v] += 0.2 * X[3 * v + 1];
    expect_close_value(energy_of_element("tri_stvk", X, k, x),
                       3.0 * (0.5 * 3.0 * 0.02 * 0.02 + 2.0 * 0.1 * 0.1), "shear");
  }
}

/* The gradient as A [k0 G00 f_uu + k2 G11 f_vv + k1 (G00 f_vv + G11 f_uu) + 2 k3 G01 f_uv]. */
Test(elements_types, stvk_gradient_formula)
{
  const double k[4] = {5.0, 1.0, 3.0, 2.0};
  const double x[9] = {0.1, 0.2, -0.1, 2.3, 0.4, 0.5, 0.2, 2.8, -0.6};
  const double Du[3] = {-0.5, 0.5, 0.0}, Dv[3] = {-1.0 / 3, 0.0, 1.0 / 3};
  double xu[3], xv[3], G00 = -0.5, G11 = -0.5, G01 = 0.0;
  loom_real g[9];
  elem_case c;
  for (int d = 0; d < 3; ++d) {
    xu[d] = (x[3 + d] - x[d]) / 2.0;
    xv[d] = (x[6 + d] - x[d]) / 3.0;
    G00 += 0.5 * xu[d] * xu[d];
    G11 += 0.5 * xv[d] * xv[d];
    G01 += 0.5 * xu[d] * xv[d];
  }
  create_placed_element(&c, "tri_stvk", right, k, x);
  case_run1(&c, c.type->gradient, 0, 0, g);
  for (int v = 0; v < 3; ++v)
    for (int d = 0; d < 3; ++d) {
      const double uu = Du[v] * xu[d], vv = Dv[v] * xv[d];
      const double uv = 0.5 * (Du[v] * xv[d] + Dv[v] * xu[d]);
      expect_close_value((double)g[3 * v + d],
                         3.0 * (k[0] * G00 * uu + k[2] * G11 * vv + k[1] * (G00 * vv + G11 * uu) +
                                2.0 * k[3] * G01 * uv),
                         "B11 gradient");
    }
  case_free(&c);
}

/* Principal stretches a, b: E = E_mem/2 A ((a-1)^2 + (b-1)^2). */
Test(elements_types, arap_energy_of_stretches)
{
  const double m = 2.5;
  double x[9];
  memcpy(x, right, sizeof x);
  for (int v = 0; v < 3; ++v) x[3 * v] *= 1.2, x[3 * v + 1] *= 0.7;
  expect_close_value(energy_of_element("tri_arap", right, &m, x), 0.5 * m * 3.0 * (0.04 + 0.09),
                     "stretches");
}

/* ---- solids ---- */
static const double corner[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}; /* volume 1/6 */

/* Stretches, and inversion: the closest rotation to diag(a, b, -c) with small c is not a
 * reflection, so its energy is (a-1)^2 + (b-1)^2 + (c+1)^2, not (c-1)^2. */
Test(elements_types, tet_stretch_and_inversion)
{
  const double m = 2.5;
  double x[12];
  memcpy(x, corner, sizeof x);
  for (int v = 0; v < 4; ++v) x[3 * v] *= 1.2, x[3 * v + 1] *= 0.7, x[3 * v + 2] *= 1.5;
  expect_close_value(energy_of_element("tet_arap", corner, &m, x),
                     0.5 * m / 6.0 * (0.04 + 0.09 + 0.25), "stretch");
  memcpy(x, corner, sizeof x);
  for (int v = 0; v < 4; ++v) x[3 * v] *= 1.2, x[3 * v + 1] *= 0.7, x[3 * v + 2] *= -0.3;
  expect_close_value(energy_of_element("tet_arap", corner, &m, x),
                     0.5 * m / 6.0 * (0.04 + 0.09 + 1.69), "inverted");
}

/* Forces at the tips of the tetrahedron `corner` with F = diag(a, b, b): the stresses along x and
 * y, over its volume and shape gradients. */
static void stress_of_stretches(const double *mat, double a, double b, double stress[2])
{
  const double x[12] = {0, 0, 0, a, 0, 0, 0, b, 0, 0, 0, b};
  loom_real g[12];
  elem_case c;
  create_placed_element(&c, "tet_neohookean", corner, mat, x);
  case_run1(&c, c.type->gradient, 0, 0, g);
  case_free(&c);
  stress[0] = 6.0 * (double)g[3];
  stress[1] = 6.0 * (double)g[7];
}

/* The stretch across at which the sides carry no stress, by the secant method. */
static double free_stretch(const double *mat, double a)
{
  double b[2] = {1.0, 1.0 - 0.3 * (a - 1.0)}, s[2][2];
  stress_of_stretches(mat, a, b[0], s[0]);
  for (int k = 0; k < 20; ++k) {
    stress_of_stretches(mat, a, b[1], s[1]);
    if (s[1][1] == s[0][1]) break;
    const double next = b[1] - s[1][1] * (b[1] - b[0]) / (s[1][1] - s[0][1]);
    b[0] = b[1], b[1] = next;
    memcpy(s[0], s[1], sizeof s[0]);
  }
  return b[1];
}

/* A bar under tension: young e along it, -poisson e across it, at strains of 1e-5 either way. */
Test(elements_types, tet_neohookean_is_linear_elasticity_at_small_strain)
{
  const elem_type *const t = elem_find("tet_neohookean");
  const double e = 1e-5;
  if (sizeof(loom_real) < 8) cr_skip_test("small strains need double precision");
  for (int k = 0; k < 4; ++k) {
    const double of[2] = {2.5, k == 0 ? 0.0 : k == 1 ? 0.2 : k == 2 ? 0.3 : 0.45};
    double mat[2], along[2][2], across[2];
    cr_assert_eq(t->material(of, ELEM_TETS, mat), 1);
    for (int side = 0; side < 2; ++side) {
      const double a = side == 0 ? 1.0 - e : 1.0 + e;
      across[side] = free_stretch(mat, a);
      stress_of_stretches(mat, a, across[side], along[side]);
    }
    cr_expect(fabs((along[1][0] - along[0][0]) / (2.0 * e) / of[0] - 1.0) < 1e-6,
              "young at %g: %.9g", of[1], (along[1][0] - along[0][0]) / (2.0 * e));
    cr_expect(fabs((across[1] - across[0]) / (2.0 * e) + of[1]) < 1e-6, "poisson %g: %.9g", of[1],
              -(across[1] - across[0]) / (2.0 * e));
  }
}

/* No stress at rest, no negative eigenvalue there, and all the way from a point back to rest the
 * energy falls, for every Poisson's ratio. */
Test(elements_types, tet_neohookean_is_stable_at_rest_and_from_a_point)
{
  const elem_type *const t = elem_find("tet_neohookean");
  for (int k = 0; k < 4; ++k) {
    const double of[2] = {2.5, k == 0 ? 0.0 : k == 1 ? 0.2 : k == 2 ? 0.45 : 0.499};
    double mat[2], stress[2], low, high, last = INFINITY;
    loom_real H[144];
    elem_case c;
    t->material(of, ELEM_TETS, mat);
    stress_of_stretches(mat, 1.0, 1.0, stress);
    expect_close_value(stress[0] / mat[1], 0.0, "stress at rest");
    expect_close_value(energy_of_element("tet_neohookean", corner, mat, corner), 0.0, "energy");
    create_placed_element(&c, "tet_neohookean", corner, mat, corner);
    case_run1(&c, t->hessian, LOOM_HESS_EXACT, 0, H);
    case_free(&c);
    case_eigen_range(H, 12, &low, &high);
    cr_expect(low > -1e3 * rounding * high, "%g of %g", low, high);
    for (int i = 0; i <= 20; ++i) {
      double x[12];
      for (int j = 0; j < 12; ++j) x[j] = corner[j] * i / 20.0;
      const double E = energy_of_element("tet_neohookean", corner, mat, x);
      cr_expect(E < last, "poisson %g, size %g: %g", of[1], i / 20.0, E);
      last = E;
    }
  }
}

Test(elements_types, spring_and_pin)
{
  const double X[6] = {0, 0, 0, 3, 4, 0}, x[6] = {0, 0, 0, 6, 0, 8}, k = 2.0;
  const double pin[4] = {2.0, 1.0, 1.0, 1.0};
  expect_close_value(energy_of_element("spring", X, &k, x), 25.0, "spring of 5 m at 10 m");
  expect_close_value(energy_of_element("pin", X, pin, x), 3.0, "pin at a distance of sqrt 3 m");
}

/* From a vertex to a quarter of an edge of 4 m, 3 m beside it: tight, loose and closed. */
Test(elements_types, stitch_pulls_and_does_not_push)
{
  const double x[9] = {1, 3, 0, 0, 0, 0, 4, 0, 0}, k = 2.0;
  static const double length[3] = {1.0, 3.5, 0.0}, energy[3] = {4.0, 0.0, 9.0};
  for (int i = 0; i < 3; ++i) {
    const double mat[3] = {k, length[i], 0.25}, pull = i == 0 ? 4.0 : i == 1 ? 0.0 : 6.0; /* N */
    loom_real g[9], H[81];
    elem_case c;
    create_placed_element(&c, "stitch", x, mat, x);
    expect_close_value(case_energy(&c, 0), energy[i], "energy");
    case_run1(&c, c.type->gradient, 0, 0, g);
    expect_close_value((double)g[1], pull, "at the vertex");
    expect_close_value((double)g[4], -0.75 * pull, "at the near end");
    expect_close_value((double)g[7], -0.25 * pull, "at the far end");
    case_run1(&c, c.type->hessian, LOOM_HESS_EXACT, 0, H);
    expect_close_value((double)H[9 + 1], i == 1 ? 0.0 : k, "along the thread");
    expect_close_value((double)H[0], i == 0 ? k * 2.0 / 3.0 : i == 1 ? 0.0 : k, "across it");
    case_free(&c);
  }
}
