/* test_rigid.c - balls: fall, slide and roll against formulas, impacts conserve momentum, piles
 * come to rest, every near pair is found, and the state survives saving. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bodies/rigid.h"
#include "support/test_host.h"

enum { MOST = 64 };

typedef struct world {
  loom_scene sc;
  loom_obstacle o[MOST];
  double inertia[MOST], v[MOST][3], w[MOST][3];
  const loom_real *sdf[MOST];
  double g[3];
  rigid *r;
  loom_err err;
} world;

static int add_world_body(world *t, const char *kind, const loom_real *shape, int num,
                          const double at[3], double m)
{
  const int k = t->sc.num_obstacles++;
  cr_assert(k < MOST);
  t->o[k] = th_obstacle(kind, shape, num);
  t->o[k].name = "thing";
  for (int c = 0; c < 3; ++c) t->o[k].pose0[9 + c] = t->o[k].pose1[9 + c] = (loom_real)at[c];
  t->o[k].mass = (loom_real)m;
  return k;
}

static int add_world_ball(world *t, double x, double y, double z, double radius, double m)
{
  const loom_real shape[4] = {0, 0, 0, (loom_real)radius};
  const int k = add_world_body(t, "sphere", shape, 4, (const double[3]){x, y, z}, m);
  t->inertia[k] = 0.4 * m * radius * radius;
  return k;
}

static int add_plane(world *t, double nx, double ny, double nz, double d)
{
  const loom_real shape[4] = {(loom_real)nx, (loom_real)ny, (loom_real)nz, (loom_real)d};
  return add_world_body(t, "plane", shape, 4, (const double[3]){0, 0, 0}, 0);
}

static void set_world_friction(world *t, double mu)
{
  for (int k = 0; k < MOST; ++k) t->o[k].friction = (loom_real)mu;
}

static void create_rigid_solver(world *t)
{
  t->sc.struct_size = sizeof t->sc;
  t->sc.obstacles = t->o;
  cr_assert_eq(rigid_new(&t->err, &t->sc, t->inertia, t->v[0], t->w[0], &t->r), LOOM_OK, "%s",
               t->err.text);
}

static void advance_world(world *t, int steps, double h)
{
  for (int k = 0; k < steps; ++k)
    cr_assert_eq(rigid_step(&t->err, t->r, t->o, t->sdf, t->g, h), LOOM_OK, "%s", t->err.text);
}

static double rigid_vector_length(const double v[3])
{
  return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static double deepest_world_gap(const world *t)
{
  double least = 0, n[3];
  for (int32_t a = 0; a < t->r->num; ++a) {
    for (int32_t b = a + 1; b < t->r->num; ++b) least = fmin(least, rigid_gap(t->r, a, b, n));
    for (int32_t k = 0; k < t->r->num_bodies; ++k)
      least = fmin(least, rigid_gap(t->r, a, -1 - k, n));
  }
  return least;
}

/* v_k = v_0 + k h g, x_N = x_0 + N h v_0 + h^2 g N (N + 1)/2; the turn is w t about its axis */
Test(rigid, falls_and_spins)
{
  static world t;
  const double h = 1e-3, N = 200, v0[3] = {1, -2, 3}, g[3] = {0.3, -0.2, -9.81};
  const int k = add_world_ball(&t, 0.1, 0.2, 0.3, 0.02, 0.5);
  memcpy(t.v[k], v0, sizeof v0);
  t.w[k][2] = 5;
  memcpy(t.g, g, sizeof g);
  create_rigid_solver(&t);
  advance_world(&t, (int)N, h);
  for (int c = 0; c < 3; ++c) {
    const double x = 0.1 * (c + 1) + N * h * v0[c] + h * h * g[c] * N * (N + 1) / 2;
    cr_expect_float_eq(t.r->state[0].x[c], x, 1e-13);
    cr_expect_float_eq(t.r->state[0].v[c], v0[c] + N * h * g[c], 1e-13);
    cr_expect_float_eq((double)t.o[k].pose1[9 + c], x, 1e-6);
  }
  cr_expect_float_eq((double)t.o[k].pose1[0], cos(5 * N * h), 1e-6);
  cr_expect_float_eq((double)t.o[k].pose1[3], sin(5 * N * h), 1e-6);
  rigid_free(t.r);
}

/* A ball set down sliding at v0 slows down at mu g until it rolls at 5/7 v0, after 2 v0/(7 mu g).
 */
Test(rigid, sliding_becomes_rolling)
{
  static world t;
  const double h = 1e-4, v0 = 1.4, mu = 0.3, R = 0.05;
  const int k = add_world_ball(&t, 0, 0, R, R, 0.2);
  add_plane(&t, 0, 0, 1, 0);
  t.v[k][0] = v0;
  t.g[2] = -9.81;
  set_world_friction(&t, mu);
  create_rigid_solver(&t);
  const double until = 2 * v0 / (7 * mu * 9.81);
  advance_world(&t, (int)(0.5 * until / h), h);
  const double half = (int)(0.5 * until / h) * h;
  cr_expect_float_eq(t.r->state[0].v[0], v0 - mu * 9.81 * half, 1e-6);
  cr_expect_float_eq(t.r->state[0].w[1], 2.5 * mu * 9.81 * half / R, 1e-5);
  advance_world(&t, (int)(until / h), h);
  cr_expect_float_eq(t.r->state[0].v[0], v0 * 5 / 7, 1e-6);
  cr_expect_float_eq(t.r->state[0].w[1] * R, v0 * 5 / 7, 1e-6);
  cr_expect_float_eq(t.r->state[0].x[2], R, 1e-8);
  rigid_free(t.r);
}

/* Down a slope a solid ball rolls with 5/7 g sin, if mu > 2/7 tan; else it slips with
 * g (sin - mu cos). */
Test(rigid, rolls_down_a_slope)
{
  for (int slips = 0; slips < 2; ++slips) {
    static world t;
    memset(&t, 0, sizeof t);
    const double h = 1e-4, slope = 0.5, R = 0.03, mu = slips ? 0.1 : 0.5, N = 5000;
    const double s = sin(slope), c = cos(slope);
    add_world_ball(&t, R * s, 0, R * c, R, 0.1);
    add_plane(&t, s, 0, c, 0);
    t.g[2] = -9.81;
    set_world_friction(&t, mu);
    create_rigid_solver(&t);
    advance_world(&t, (int)N, h);
    const double a = slips ? 9.81 * (s - mu * c) : 9.81 * s * 5 / 7;
    const double *const v = t.r->state[0].v;
    cr_expect_float_eq(v[0] * c - v[2] * s, a * N * h, 1e-5 * a, "mu %g", mu);
    cr_expect_float_eq(v[0] * s + v[2] * c, 0, 1e-9);
    rigid_free(t.r);
  }
}

/* Momentum and, about the origin, angular momentum of two balls. */
static void sum_ball_momenta(const rigid *r, double p[3], double L[3])
{
  for (int c = 0; c < 3; ++c) p[c] = L[c] = 0;
  for (int32_t i = 0; i < r->num; ++i) {
    const rigid_state *const s = &r->state[i];
    const double m = r->ball[i].mass;
    for (int c = 0; c < 3; ++c) {
      const int d = (c + 1) % 3, e = (c + 2) % 3;
      p[c] += m * s->v[c];
      L[c] += m * (s->x[d] * s->v[e] - s->x[e] * s->v[d]) + r->ball[i].inertia * s->w[c];
    }
  }
}

Test(rigid, an_oblique_impact_conserves_momentum)
{
  static world t;
  double p0[3], L0[3], p[3], L[3];
  const double h = 1e-4;
  const int a = add_world_ball(&t, 0, 0, 0, 0.05, 0.3),
            b = add_world_ball(&t, 0.15, 0.04, 0.01, 0.03, 0.1);
  t.v[a][0] = 2;
  t.v[b][0] = -1;
  t.w[a][2] = 30, t.w[b][0] = -20;
  set_world_friction(&t, 0.4);
  create_rigid_solver(&t);
  sum_ball_momenta(t.r, p0, L0);
  double energy = INFINITY;
  for (int k = 0; k < 400; ++k) {
    double now = 0;
    advance_world(&t, 1, h);
    for (int32_t i = 0; i < 2; ++i) {
      const rigid_state *const s = &t.r->state[i];
      now += t.r->ball[i].mass * rigid_vector_length(s->v) * rigid_vector_length(s->v) / 2 +
             t.r->ball[i].inertia * rigid_vector_length(s->w) * rigid_vector_length(s->w) / 2;
    }
    cr_assert(now <= energy * (1 + 1e-12), "step %d: %g J after %g", k, now, energy);
    cr_assert(deepest_world_gap(&t) > -1e-12);
    energy = now;
  }
  sum_ball_momenta(t.r, p, L);
  const rigid_state *const s = t.r->state;
  double n[3], apart = 0;
  rigid_gap(t.r, 0, 1, n);
  for (int c = 0; c < 3; ++c) {
    cr_expect_float_eq(p[c], p0[c], 1e-15, "%d: %g %g", c, p[c], p0[c]);
    /* impulses act while a gap is left, less than the way of a step: 3 m/s h times 0.1 N s */
    cr_expect_float_eq(L[c], L0[c], 3e-5, "%d: %g %g", c, L[c], L0[c]);
    apart += n[c] * (s[0].v[c] - s[1].v[c]);
  }
  cr_expect(apart > -1e-9 && fabs(s[0].v[1]) > 1e-3, "they met: %g", apart);
  rigid_free(t.r);
}

/* Of one that lies or stands on others, not more than rounding moves. */
Test(rigid, at_rest_it_stays)
{
  static world t;
  const double R = 0.02;
  add_plane(&t, 0, 0, 1, 0);
  const double s = R * 1.1547005383792515; /* 2/sqrt 3: three touch each other */
  for (int k = 0; k < 3; ++k)
    add_world_ball(&t, s * cos(2.0943951023931953 * k), s * sin(2.0943951023931953 * k), R, R, 0.1);
  add_world_ball(&t, 0, 0, R + R * 1.632993161855452, R, 0.1); /* 2 sqrt(2/3) */
  add_world_ball(&t, 0.3, 0, R, R, 0.1);
  t.g[2] = -9.81;
  set_world_friction(&t, 0.6);
  create_rigid_solver(&t);
  rigid_state before[5];
  advance_world(&t, 200, 1e-4);
  memcpy(before, t.r->state, sizeof before);
  advance_world(&t, 5000, 1e-4);
  for (int i = 0; i < 5; ++i)
    for (int c = 0; c < 3; ++c)
      cr_expect_float_eq(t.r->state[i].x[c], before[i].x[c], 1e-9, "ball %d", i);
  rigid_free(t.r);
}

/* Balls poured into a box of five planes: never deeper than rounding, at rest in the end. */
Test(rigid, a_pile_comes_to_rest)
{
  static world t;
  uint64_t seed = 7;
  add_plane(&t, 0, 0, 1, 0);
  for (int k = 0; k < 4; ++k) add_plane(&t, (k == 0) - (k == 1), (k == 2) - (k == 3), 0, -0.05);
  for (int k = 0; k < 18; ++k)
    add_world_ball(&t, 0.03 * (k % 3 - 1) + 2e-3 * th_random(&seed),
                   0.03 * (k / 3 % 3 - 1) + 2e-3 * th_random(&seed), 0.03 + 0.03 * (k / 9),
                   0.012 + 1e-3 * th_random(&seed), 0.01);
  t.g[2] = -9.81;
  set_world_friction(&t, 0.4);
  create_rigid_solver(&t);
  double worst = 0, fastest = 0;
  for (int k = 0; k < 10000; ++k) {
    advance_world(&t, 1, 2e-4);
    worst = fmin(worst, deepest_world_gap(&t));
  }
  for (int32_t i = 0; i < t.r->num; ++i)
    fastest = fmax(fastest, rigid_vector_length(t.r->state[i].v));
  cr_expect(worst > -1e-9, "%g m deep", worst);
  cr_expect(fastest < 2e-3, "%g m/s", fastest); /* one step of gravity */
  rigid_free(t.r);
}

/* No ball is fast enough to pass a thin plate, or another ball. */
Test(rigid, fast_balls_do_not_pass)
{
  static world t;
  const loom_real plate[4] = {0.5, 0.5, 1e-3, 0};
  const int k = add_world_ball(&t, 0, 0, 0.5, 0.01, 0.1);
  add_world_body(&t, "box", plate, 4, (const double[3]){0, 0, 0}, 0);
  t.v[k][2] = -200;
  create_rigid_solver(&t);
  advance_world(&t, 100, 1e-2);
  cr_expect_float_eq(t.r->state[0].x[2], 0.011, 1e-9);
  cr_expect(deepest_world_gap(&t) > -1e-12);
  rigid_free(t.r);
}

/* A floor that rises carries the ball, one that moves sideways sets it rolling. */
Test(rigid, moving_floors_carry)
{
  static world t;
  const double h = 1e-3, R = 0.05;
  add_world_ball(&t, 0, 0, R, R, 0.1);
  const int floor = add_plane(&t, 0, 0, 1, 0);
  t.g[2] = -9.81;
  set_world_friction(&t, 1);
  create_rigid_solver(&t);
  for (int k = 0; k < 300; ++k) {
    for (int c = 0; c < 12; ++c) t.o[floor].pose0[c] = t.o[floor].pose1[c];
    t.o[floor].pose1[11] = (loom_real)(0.2 * h * (k + 1));
    t.o[floor].pose1[9] = (loom_real)(0.7 * h * (k + 1));
    advance_world(&t, 1, h);
  }
  const rigid_state *const s = t.r->state;
  cr_expect_float_eq(s->x[2], R + 0.2 * h * 300, 1e-6);
  cr_expect_float_eq(s->v[0], 0.2, 1e-5); /* 2/7 of the floor's speed */
  cr_expect_float_eq(s->w[1] * R, -0.5, 1e-5);
  rigid_free(t.r);
}

Test(rigid, every_near_pair_is_found)
{
  for (int round = 0; round < 20; ++round) {
    static world t;
    memset(&t, 0, sizeof t);
    uint64_t seed = (uint64_t)round;
    for (int k = 0; k < 60; ++k) {
      const int i = add_world_ball(&t, 0.1 * th_random(&seed), 0.1 * th_random(&seed),
                                   0.02 * th_random(&seed), 0.012 + 0.006 * th_random(&seed), 0.1);
      for (int c = 0; c < 3; ++c) t.v[i][c] = th_random(&seed);
    }
    create_rigid_solver(&t);
    const double h = 5e-3;
    cr_assert(rigid_find(t.r, h));
    int32_t at = 0, pairs = 0;
    for (int32_t a = 0; a < t.r->num; ++a)
      for (int32_t b = a + 1; b < t.r->num; ++b) {
        double n[3];
        while (at < t.r->num_touch &&
               (t.r->touch[at].a < a || (t.r->touch[at].a == a && t.r->touch[at].b < b)))
          ++at;
        const double way =
            h * (rigid_vector_length(t.r->state[a].v) + rigid_vector_length(t.r->state[b].v));
        if (rigid_gap(t.r, a, b, n) > way) continue;
        ++pairs;
        cr_assert(at < t.r->num_touch && t.r->touch[at].a == a && t.r->touch[at].b == b,
                  "%d and %d", a, b);
      }
    cr_expect(pairs > 10);
    rigid_free(t.r);
  }
}

/* Impulses of contact are added; a ball that is too light for them is told of once. */
Test(rigid, reactions)
{
  static world t;
  loom_real rows[2 * BODY_IMPULSE] = {0};
  int32_t light;
  add_plane(&t, 0, 0, 1, 0);
  add_world_ball(&t, 0, 0, 1, 0.1, 2);
  create_rigid_solver(&t);
  for (int c = 0; c < 7; ++c) rows[BODY_IMPULSE + c] = (loom_real)(0.5 * (c + 1));
  rows[BODY_IMPULSE + 6] = (loom_real)0.57; /* 2/7 of 2 kg is 0.571 */
  rigid_push(t.r, rows, &light);
  cr_expect_eq(light, -1);
  for (int c = 0; c < 3; ++c) {
    cr_expect_float_eq(t.r->state[0].v[c], 0.25 * (c + 1), 1e-12);
    cr_expect_float_eq(t.r->state[0].w[c], 0.5 * (c + 4) / (0.4 * 2 * 0.01), 1e-9);
  }
  rows[BODY_IMPULSE + 6] = (loom_real)0.573;
  rigid_push(t.r, rows, &light);
  cr_expect_eq(light, 0);
  rigid_push(t.r, rows, &light);
  cr_expect_eq(light, -1);
  rigid_free(t.r);
}

static void create_ball_pile(world *t)
{
  memset(t, 0, sizeof *t);
  add_plane(t, 0, 0, 1, 0);
  for (int k = 0; k < 12; ++k)
    add_world_ball(t, 0.021 * (k % 2), 0.021 * (k / 2 % 2) + 1e-3 * k, 0.02 + 0.021 * (k / 4), 0.01,
                   0.1);
  t->g[2] = -9.81;
  set_world_friction(t, 0.4);
  create_rigid_solver(t);
}

Test(rigid, saved_and_restored_it_goes_on_with_the_same_bits)
{
  static world a, b;
  static uint64_t bits[1024];
  create_ball_pile(&a);
  create_ball_pile(&b);
  advance_world(&a, 300, 1e-3);
  const int64_t count = rigid_save(a.r, NULL);
  cr_assert(count < 1024 && a.r->num_touch > 5);
  cr_assert_eq(rigid_save(a.r, bits), count);
  cr_assert(rigid_load(b.r, bits, count));
  advance_world(&a, 100, 1e-3);
  advance_world(&b, 100, 1e-3);
  cr_expect(memcmp(a.r->state, b.r->state, 12 * sizeof *a.r->state) == 0);
  cr_expect(!rigid_load(b.r, bits, count - 1));
  bits[0] = 13;
  cr_expect(!rigid_load(b.r, bits, count));
  rigid_free(a.r);
  rigid_free(b.r);
}
