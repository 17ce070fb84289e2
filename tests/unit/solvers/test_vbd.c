/* The parts of vbd: a sweep lowers a quadratic energy and ends at its minimum, with contact that
 * couples vertices of one colour as well; colours keep the vertices of every element apart. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "colours.h"
#include "support/test_host.h"
#include "vbd.kern.h"

enum { N = 40, COLOURS = 4 };

/* E(x) = sum m/(2 h^2) |x - y|^2 + (x - x*)' A (x - x*)/2, with A dense, semidefinite, given as
 * contact. */
typedef struct quadratic {
  lk_real mass[N], y[3 * N], x[3 * N], x0[3 * N], force[3 * N];
  lk_real A[9 * N * N]; /* blocks of all pairs */
  int64_t row[N + 1], ptr[N + 1], base[1];
  int32_t col[N * N], colour[N], order[N];
} quadratic;

static double draw_signed_unit(uint32_t *s)
{
  *s = *s * 1664525u + 1013904223u;
  return (double)(*s >> 8) / 8388608.0 - 1.0;
}

/* A = sum of w w' for pairs (i, j), w random on the six coordinates of both. */
static void create_quadratic(quadratic *q)
{
  uint32_t s = 7;
  memset(q, 0, sizeof *q);
  for (int i = 0; i < N; ++i) {
    q->mass[i] = 1;
    q->row[i + 1] = (int64_t)N * (i + 1);
    q->colour[i] = i % COLOURS;
    q->order[i] = i / (N / COLOURS) + COLOURS * (i % (N / COLOURS));
    for (int j = 0; j < N; ++j) q->col[N * i + j] = j;
    for (int c = 0; c < 3; ++c) q->y[3 * i + c] = (lk_real)draw_signed_unit(&s);
  }
  for (int p = 0; p < 6 * N; ++p) {
    const int v[2] = {(int)((draw_signed_unit(&s) + 1) * N / 2),
                      (int)((draw_signed_unit(&s) + 1) * N / 2)};
    double w[6];
    for (int c = 0; c < 6; ++c) w[c] = 3 * draw_signed_unit(&s);
    for (int a = 0; a < 6; ++a)
      for (int b = 0; b < 6; ++b)
        q->A[9 * (N * v[a / 3] + v[b / 3]) + 3 * (a % 3) + b % 3] += (lk_real)(w[a] * w[b]);
  }
}

/* grad = A x, the contact's; returns the energy. */
static double evaluate_quadratic(const quadratic *q, const lk_real *x, lk_real *grad)
{
  double E = 0;
  for (int i = 0; i < N; ++i)
    for (int r = 0; r < 3; ++r) {
      double g = 0;
      for (int j = 0; j < N; ++j)
        for (int c = 0; c < 3; ++c)
          g += (double)q->A[9 * (N * i + j) + 3 * r + c] * (double)x[3 * j + c];
      const double d = (double)(x[3 * i + r] - q->y[3 * i + r]);
      grad[3 * i + r] = (lk_real)g;
      E += 0.5 * (double)q->mass[i] * d * d + 0.5 * g * (double)x[3 * i + r];
    }
  return E;
}

static void sweep_colours(quadratic *q)
{
  const loom_exec e = {.struct_size = sizeof e, .num_threads = 1};
  memcpy(q->x0, q->x, sizeof q->x);
  evaluate_quadratic(q, q->x0, q->force);
  for (int c = 0; c < COLOURS; ++c) {
    vbd_move_args a = {.order = q->order + c * (N / COLOURS),
                       .ptr = q->ptr,
                       .base = q->base,
                       .mass = q->mass,
                       .y = q->y,
                       .force = q->force,
                       .row = q->row,
                       .col = q->col,
                       .val = q->A,
                       .colour = q->colour,
                       .x0 = q->x0,
                       .x = q->x,
                       .scale = 1};
    cr_assert_eq(vbd_move_cpu(&e, &a, N / COLOURS, NULL), LOOM_OK);
  }
}

/* Iterations after which the energy is higher; *residual of the last point. */
static int count_energy_rises(quadratic *q, int sweeps, double *residual)
{
  lk_real g[3 * N];
  int num = 0;
  double E = evaluate_quadratic(q, q->x, g);
  for (int k = 0; k < sweeps; ++k) {
    sweep_colours(q);
    const double now = evaluate_quadratic(q, q->x, g);
    num += now > E + 1e-12 * fabs(E);
    E = now;
  }
  *residual = 0;
  for (int i = 0; i < 3 * N; ++i)
    *residual = fmax(*residual, fabs((double)(g[i] + q->mass[i / 3] * (q->x[i] - q->y[i]))));
  return num;
}

Test(vbd, a_sweep_lowers_the_energy_and_many_end_at_its_minimum)
{
  quadratic *const q = malloc(sizeof *q);
  double residual;
  create_quadratic(q);
  cr_expect_eq(count_energy_rises(q, 4000, &residual), 0);
  cr_expect_lt(residual, 1e-8, "%g", residual);
  /* the control: blocks that are too small by half overshoot */
  create_quadratic(q);
  for (int i = 0; i < N; ++i)
    for (int c = 0; c < 9; ++c) q->A[9 * (N * i + i) + c] *= (lk_real)0.3;
  quadratic *const off = malloc(sizeof *off);
  memcpy(off, q, sizeof *q);
  create_quadratic(q);
  lk_real g[3 * N];
  int num = 0;
  double E = evaluate_quadratic(q, off->x, g);
  for (int k = 0; k < 20; ++k) { /* moves by the broken blocks, energies of the right ones */
    memcpy(q->x, off->x, sizeof q->x);
    evaluate_quadratic(q, q->x, g);
    sweep_colours(off);
    const double now = evaluate_quadratic(q, off->x, g);
    num += now > E;
    E = now;
  }
  cr_expect_gt(num, 10, "%d of 20", num);
  free(off);
  free(q);
}

enum { VERTS = 300, TRIS = 500, QUADS = 400 };

/* No element has two free vertices of one colour, and the lists hold every corner of every free
 * vertex once, at its place. */
static int count_colour_clashes(const int32_t *verts, int ne, int arity, const int32_t *colour)
{
  int num = 0;
  for (int e = 0; e < ne; ++e)
    for (int a = 0; a < arity; ++a)
      for (int b = a + 1; b < arity; ++b) {
        const int32_t i = verts[arity * e + a], j = verts[arity * e + b];
        num += i != j && colour[i] >= 0 && colour[i] == colour[j];
      }
  return num;
}

Test(vbd, colours_keep_the_vertices_of_an_element_apart)
{
  test_host t;
  colours c = {0};
  uint32_t seed = 11;
  int32_t tri[3 * TRIS], quad[4 * QUADS];
  uint8_t fixed[VERTS] = {0};
  for (int k = 0; k < 3 * TRIS; ++k) tri[k] = (int32_t)((draw_signed_unit(&seed) + 1) * VERTS / 2);
  for (int k = 0; k < 4 * QUADS; ++k)
    quad[k] = (int32_t)((draw_signed_unit(&seed) + 1) * VERTS / 2);
  for (int k = 0; k < VERTS; k += 17) fixed[k] = 1;
  th_open(&t, 1, 1);
  const loom_elem_block blocks[2] = {
      {.num_elems = TRIS, .arity = 3, .verts = th_buf(&t, LOOM_I32, 3 * TRIS, tri)},
      {.num_elems = QUADS, .arity = 4, .verts = th_buf(&t, LOOM_I32, 4 * QUADS, quad)}};
  t.scene.num_verts = VERTS;
  t.scene.num_blocks = 2;
  t.scene.blocks = blocks;
  t.scene.fixed = th_buf(&t, LOOM_U8, VERTS, fixed);
  cr_assert_eq(colours_new(&c, &t.host, &t.exec, &t.scene), LOOM_OK, "%s", t.err.text);
  int32_t *const colour = th_get(&t, c.colour), *const order = th_get(&t, c.order);
  int64_t *const ptr = th_get(&t, c.ptr), *const base = th_get(&t, c.base);
  cr_expect_eq(
      count_colour_clashes(tri, TRIS, 3, colour) + count_colour_clashes(quad, QUADS, 4, colour), 0);
  const int num_free = c.first[c.num];
  for (int k = 0; k < VERTS; ++k) cr_assert_eq(colour[k] < 0, fixed[k]);
  for (int b = 0; b < 2; ++b) {
    int32_t *const elem = th_get(&t, c.elem[b]), *const at = th_get(&t, c.at[b]);
    const int64_t *const p = ptr + b * ((int64_t)num_free + 1);
    int64_t all = 0;
    for (int i = 0; i < blocks[b].num_elems * blocks[b].arity; ++i)
      all += !fixed[b == 0 ? tri[i] : quad[i]];
    cr_expect_eq(p[num_free], all);
    for (int i = 0; i < num_free; ++i)
      for (int64_t k = p[i]; k < p[i + 1]; ++k) {
        const int64_t q = (int64_t)blocks[b].arity * elem[k] + at[k];
        cr_assert_eq(b == 0 ? tri[q] : quad[q], order[i]);
        cr_assert(k == p[i] || elem[k] > elem[k - 1] ||
                      (elem[k] == elem[k - 1] && at[k] > at[k - 1]),
                  "a corner comes twice");
      }
    for (int k = 0; k < c.num; ++k) { /* rows of a colour are 0 to most_rows - 1 */
      const int64_t lo = c.corner[2 * k + b], hi = c.corner[2 * (k + 1) + b];
      cr_assert_eq(lo, p[c.first[k]]);
      cr_assert(base[2 * k + b] + lo >= 0 && base[2 * k + b] + hi <= c.most_rows);
    }
    free(elem);
    free(at);
  }
  /* the control: with two colours in one they clash */
  for (int k = 0; k < VERTS; ++k) colour[k] = colour[k] == 1 ? 0 : colour[k];
  cr_expect_gt(
      count_colour_clashes(tri, TRIS, 3, colour) + count_colour_clashes(quad, QUADS, 4, colour), 0);
  free(colour);
  free(order);
  free(ptr);
  free(base);
  colours_free(&c);
  th_close(&t);
}
