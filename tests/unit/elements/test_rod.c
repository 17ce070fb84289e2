/* yarn_bend, yarn_twist, rod.c: discrete elastic rods and their frames in time. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "elements/rod.kern.h"
#include "support/elem_case.h"
#include "unit/elements/rod_rig.h"

static const int is_float = sizeof(loom_real) == 4;

/* Gradient against central differences at a point far from the stored frames: the tangents have
 * turned by up to a radian, theta and the rest twist are not zero. */
static void check_rod_gradient(const char *name)
{
  elem_case c;
  case_new(&c, elem_find(name), 40, 0, 7);
  const elem_type *t = c.type;
  const double h = is_float ? 1e-3 : 1e-6;
  double worst = 0;
  int seen = 0;
  for (int e = 0; e < c.ne; ++e) {
    loom_real *r = c.rest + (size_t)e * ROD_REST;
    for (int j = 0; j < 2; ++j)
      r[ROD_FRAME + ROD_FRAME_LEN * j + 6] = (loom_real)case_random(3, (unsigned)(2 * e + j));
    r[ROD_MBAR] = (loom_real)case_random(4, (unsigned)e);
  }
  case_pose(&c, CASE_RANDOM, 5);
  for (int e = 0; e < c.ne; ++e) {
    loom_real g[9], *x = c.x + (size_t)9 * e;
    double num[9], scale = 0;
    rod q;
    rod_load(c.x, c.verts + 3 * e, c.rest + (size_t)e * ROD_REST, &q);
    const double fold = (double)(c.rest[(size_t)e * ROD_REST] * c.rest[(size_t)e * ROD_REST + 1]);
    if ((double)q.den < 0.2 * fold) continue; /* nearly turned back: the energy has a pole there */
    ++seen;
    case_run1(&c, t->gradient, 0, e, g);
    for (int k = 0; k < 9; ++k) {
      const loom_real keep = x[k];
      const double size = 0.1 * h;
      x[k] = keep + (loom_real)size;
      const double up = case_energy(&c, e);
      x[k] = keep - (loom_real)size;
      num[k] = (up - case_energy(&c, e)) / (2 * size);
      x[k] = keep;
      scale = fmax(scale, fabs(num[k]));
    }
    for (int k = 0; k < 9; ++k) worst = fmax(worst, fabs(num[k] - (double)g[k]) / scale);
  }
  /* the differences' own rounding; numerics 1.3 measured 5e-9 near the stored frames */
  cr_assert(seen > c.ne / 2);
  cr_expect(worst < (is_float ? 3e-2 : 1e-6), "%s: %g", name, worst);
  case_free(&c);
}

Test(rod, gradient_of_bending) { check_rod_gradient("yarn_bend"); }
Test(rod, gradient_of_twist) { check_rod_gradient("yarn_twist"); }

/* ---- whole yarns ---- */

/* x <- R x, turned by `angle` about (1, 2, 3) */
static void rig_turn(rig *g, double angle)
{
  const double s = sin(angle), c = cos(angle), l = 1 / sqrt(14.0), n[3] = {l, 2 * l, 3 * l};
  loom_real *x = rig_map(g, g->x);
  for (int64_t i = 0; i < g->t.s->pub.num_verts; ++i) {
    double v[3], d = 0;
    for (int k = 0; k < 3; ++k) v[k] = (double)x[3 * i + k], d += n[k] * v[k];
    for (int k = 0; k < 3; ++k) {
      const int a = (k + 1) % 3, b = (k + 2) % 3;
      x[3 * i + k] = (loom_real)(c * v[k] + s * (n[a] * v[b] - n[b] * v[a]) + (1 - c) * d * n[k]);
    }
  }
  buf_unmap(g->t.m, g->x);
}

static void rig_shake(rig *g, double size)
{
  loom_real *x = rig_map(g, g->x);
  for (int64_t i = 0; i < 3 * g->t.s->pub.num_verts; ++i)
    x[i] += (loom_real)(size * case_random(11, (unsigned)i));
  buf_unmap(g->t.m, g->x);
}

static const char *const yarns[2] = {"[yarn.a]\nrows = 3\nloops = 4\n",
                                     "[yarn.a]\npattern = tube\nrows = 2\nloops = 12\n"};

/* A knit turned as a whole has no energy once its frames have followed. */
Test(rod, rigid_turns_cost_nothing)
{
  for (int k = 0; k < 2; ++k) {
    rig g;
    rig_open(&g, yarns[k]);
    cr_expect(rig_energy(&g) < (is_float ? 1e-12 : 1e-28), "at rest: %g J", rig_energy(&g));
    rig_shake(&g, 2e-4);
    cr_assert_eq(elastic_commit(g.el, g.x), LOOM_OK);
    const double bent = rig_energy(&g);
    cr_assert_eq(buf_copy(g.t.m, &g.exec, g.x, g.t.s->pub.rest_x), LOOM_OK);
    for (int turn = 0; turn < 3; ++turn) {
      rig_turn(&g, 0.9);
      cr_assert_eq(elastic_commit(g.el, g.x), LOOM_OK);
      cr_expect(rig_energy(&g) < (is_float ? 1e-6 : 1e-18) * bent, "turned: %g of %g J",
                rig_energy(&g), bent);
    }
    rig_close(&g);
  }
}

/* Forces and torques add up to zero, the latter only because twist is at its least energy. */
Test(rod, no_net_force_or_torque_at_equilibrium_of_twist)
{
  for (int k = 0; k < 2; ++k) {
    rig g;
    double force[3], torque[3], most;
    rig_open(&g, yarns[k]);
    rig_shake(&g, 3e-4);
    cr_assert_eq(elastic_commit(g.el, g.x), LOOM_OK);
    cr_assert_eq(elastic_commit(g.el, g.x), LOOM_OK); /* has no further effect */
    rig_forces(&g, force, torque, &most);
    for (int c = 0; c < 3; ++c) {
      cr_expect(fabs(force[c]) < (is_float ? 1e-4 : 1e-12) * most, "force %g of %g", force[c],
                most);
      cr_expect(fabs(torque[c]) < (is_float ? 1e-4 : 1e-9) * most * 0.05, "torque %g of %g N m",
                torque[c], most * 0.05);
    }
    rig_close(&g);
  }
}

/* Theta minimises the energy: any change of one frame's angle raises it. */
Test(rod, twist_is_at_its_least_energy)
{
  if (is_float) cr_skip_test("differences of second order need doubles");
  rig g;
  rig_open(&g, yarns[0]);
  rig_shake(&g, 3e-4);
  cr_assert_eq(elastic_commit(g.el, g.x), LOOM_OK);
  const double E = rig_energy(&g);
  for (int i = 5; i < 60; i += 9)
    for (int sign = -1; sign <= 1; sign += 2) {
      /* the edge behind element i is the one before element i + 1 */
      const int64_t at = (int64_t)ROD_REST * i + ROD_FRAME + ROD_FRAME_LEN + 6;
      const int64_t next = (int64_t)ROD_REST * (i + 1) + ROD_FRAME + 6;
      loom_real *rest = rig_map(&g, frames_of(&g));
      const loom_real keep = rest[at];
      cr_assert_eq(rest[next], keep);
      rest[at] = rest[next] = keep + (loom_real)(1e-3 * sign);
      buf_unmap(g.t.m, frames_of(&g));
      cr_expect(rig_energy(&g) > E, "edge %d: %g, not above %g", i, rig_energy(&g), E);
      rest = rig_map(&g, frames_of(&g));
      rest[at] = rest[next] = keep;
      buf_unmap(g.t.m, frames_of(&g));
    }
  rig_close(&g);
}

/* Curvature beyond p stays, up to p_max. */
Test(rod, rest_curvature_yields)
{
  rig g;
  rig_open(&g, "[yarn.a]\nrows = 1\nloops = 4\nplasticity = 0.01\nplasticity_max = 0.6\n");
  rig_shake(&g, 5e-4);
  cr_assert_eq(elastic_commit(g.el, g.x), LOOM_OK);
  const loom_real *rest = rig_map(&g, frames_of(&g));
  double most = 0;
  for (int i = 0; i < g.t.s->pub.blocks[0].num_elems; ++i)
    for (int j = 0; j < 2; ++j) {
      const loom_real *b = rest + (int64_t)ROD_REST * i + ROD_WBAR + 2 * j;
      most = fmax(most, sqrt((double)(b[0] * b[0] + b[1] * b[1])));
    }
  cr_expect(most <= 0.6 * (1 + 1e-6) && most > 0.55, "%g", most);
  buf_unmap(g.t.m, frames_of(&g));
  rig_close(&g);
  rig_open(&g, "[yarn.a]\nrows = 1\nloops = 4\nplasticity = 0.01\nplasticity_max = 0\n");
  rig_shake(&g, 5e-4);
  const double before = rig_energy(&g);
  cr_assert_eq(elastic_commit(g.el, g.x), LOOM_OK);
  cr_expect(rig_energy(&g) < 0.02 * before, "%g of %g J", rig_energy(&g), before);
  rig_close(&g);
}
