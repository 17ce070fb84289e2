/* Plates in runs, on five triangulations (tests/support/sheets.h): each number
 * against theory.
 *
 * Bars of the prototype report of the element (framework/elements/README.md),
 * without adaptation to a mesh: D is the flexural rigidity everywhere. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/elastica.h"
#include "support/sheets.h"
#include "support/sim.h"

/* ---- a clamped strip as an OBJ file ---- */

typedef struct strip {
  sheet s;          /* x from 0 to length and a column before that is held, y across */
  int cells;        /* along the length */
  double length, w; /* m */
  char dir[32];
  char path[64]; /* the free part's vertices first, then a column of cells to be
                    held */
} strip;

static void write_strip(strip *p)
{
  const sheet *const s = &p->s;
  snprintf(p->dir, sizeof p->dir, "/tmp/loom_strip_XXXXXX");
  cr_assert(mkdtemp(p->dir) != NULL);
  snprintf(p->path, sizeof p->path, "%s/strip.obj", p->dir);
  FILE *const f = fopen(p->path, "w");
  cr_assert(f != NULL);
  for (int32_t v = 0; v < s->nv; ++v) fprintf(f, "v %.17g %.17g 0\n", s->X[2 * v], s->X[2 * v + 1]);
  for (int32_t t = 0; t < s->nt; ++t)
    fprintf(f, "f %d %d %d\n", s->tris[3 * t] + 1, s->tris[3 * t + 1] + 1, s->tris[3 * t + 2] + 1);
  cr_assert_eq(fclose(f), 0);
}

static void open_strip(strip *p, int kind, int n, double length, double share)
{
  int across = (int)lround(share * n / (kind == SHEET_EQUILATERAL ? 0.86602540378443864676 : 1));
  if (across < 2) across = 2;
  p->cells = n;
  p->length = length;
  p->w = share * length;
  sheet_new(&p->s, kind, n, across, length, p->w);
  sheet_add_column(&p->s, length / n);
  write_strip(p);
}

static void close_strip(strip *p)
{
  unlink(p->path);
  rmdir(p->dir);
  sheet_free(&p->s);
}

/* ---- heavy cantilever ---- */

typedef struct tip {
  double reach, drop, drift, slant; /* m */
} tip;

static tip hang_strip(const strip *p, int quadratic, double D, double rho)
{
  char text[2048];
  /* A membrane of constant strain locks where rows of the mesh do not follow the bend: at
   * Y h^2/D = 1e3 0.1 % with Gamma = 10, 0.9 % with 100. */
  const int heavy = D < 1e-3;
  const double cell = p->length / p->cells;
  const double Y = fmin((heavy ? 1e2 : 1e3) * D / (cell * cell), 1e5);
  snprintf(text, sizeof text,
           "[run]\nsteps = 14\ndt = %g\n[exec]\nbackend = cpu\n"
           "[stop]\ntol_abs = 1e-5\ntol_rel = 0\nmax_iters = 400\n[log]\naudit "
           "= off\n"
           "[cloth.strip]\nshape = obj\nfile = %s\ndensity = %g\n"
           "k0 = %.17g\nk1 = 0\nk2 = %.17g\nk3 = %.17g\nmodel = "
           "stvk+plate%s\nbending = "
           "%.17g\npins = box -1 -1 -1 1e-9 1 1\n"
           "[solver]\nplugin = cholmod_newton\n",
           heavy ? 1.5 : 0.4, p->path, rho, Y, Y, Y, quadratic ? "_quadratic" : "", D);
  sim s;
  sim_run(&s, text, NULL, 0);
  tip at = {0, 0, 0, 0};
  double lo = 0, hi = 0, num = 0;
  for (int32_t v = 0; v < p->s.nv; ++v) {
    if (p->s.X[2 * v] < p->length * (1 - 1e-9)) continue;
    at.reach += s.x[3 * v];
    at.drop -= s.x[3 * v + 2];
    at.drift += s.x[3 * v + 1] - p->s.X[2 * v + 1];
    if (p->s.X[2 * v + 1] == 0.0) lo = s.x[3 * v + 2];
    if (p->s.X[2 * v + 1] > p->w * (1 - 1e-9)) hi = s.x[3 * v + 2];
    num += 1;
  }
  at.reach /= num;
  at.drop /= num;
  at.drift /= num;
  at.slant = hi - lo;
  sim_free(&s);
  return at;
}

/* D that the elastica has with the same drop over reach, over D. */
static double effective_rigidity(double gamma, double ratio)
{
  double lo = 0.8 * gamma, hi = 1.25 * gamma;
  for (int k = 0; k < 60; ++k) {
    const double mid = 0.5 * (lo + hi);
    *(elastica_drop_ratio(mid) < ratio ? &lo : &hi) = mid;
  }
  return gamma / (0.5 * (lo + hi));
}

typedef struct cantilever_row {
  int kind, cells;
  double gamma, bar;
  int quadratic; /* 1: plate_quadratic */
} cantilever_row;

static void check_cantilever(const cantilever_row *r)
{
  const double rho = 0.2, length = 0.3, D = rho * 9.81 * length * length * length / r->gamma;
  strip p;
  open_strip(&p, r->kind, r->cells, length, 0.1);
  const tip at = hang_strip(&p, r->quadratic, D, rho);
  const double ratio = effective_rigidity(r->gamma, at.drop / at.reach);
  printf("cantilever %s, Gamma %g, n %d, %s: H/W %.5f, D_eff/D %.4f, drift "
         "%.2g of the length, slant "
         "%.2g of the width\n",
         sheet_names[r->kind], r->gamma, r->cells, r->quadratic ? "quadratic" : "plate",
         at.drop / at.reach, ratio, at.drift / length, at.slant / p.w);
  cr_expect_float_eq(ratio, 1, r->bar, "%s: %g", sheet_names[r->kind], ratio);
  cr_expect_lt(fabs(at.drift), 2e-3 * length, "%g", at.drift / length);
  close_strip(&p);
}

/* The first two in every run, all with LOOM_PLATE=all. */
static cantilever_row rows[] = {
    {SHEET_ALTERNATE, 40, 10, 0.002, 0},  {SHEET_DELAUNAY, 40, 10, 0.002, 0},
    {SHEET_REGULAR, 40, 10, 0.002, 0},    {SHEET_EQUILATERAL, 40, 10, 0.002, 0},
    {SHEET_JITTERED, 40, 10, 0.002, 0},   {SHEET_REGULAR, 40, 1, 0.002, 0},
    {SHEET_ALTERNATE, 40, 1, 0.002, 0},   {SHEET_DELAUNAY, 40, 1, 0.002, 0},
    {SHEET_JITTERED, 40, 1, 0.002, 0},    {SHEET_REGULAR, 40, 100, 0.008, 0},
    {SHEET_ALTERNATE, 40, 100, 0.008, 0}, {SHEET_EQUILATERAL, 40, 100, 0.008, 0},
    {SHEET_DELAUNAY, 40, 100, 0.008, 0},  {SHEET_JITTERED, 40, 100, 0.008, 0},
    {SHEET_ALTERNATE, 80, 10, 0.001, 0},  {SHEET_DELAUNAY, 80, 10, 0.001, 0},
    {SHEET_ALTERNATE, 40, 10, 0.004, 1},  {SHEET_DELAUNAY, 40, 10, 0.004, 1},
    {SHEET_ALTERNATE, 40, 100, 0.015, 1}, {SHEET_DELAUNAY, 40, 100, 0.015, 1}};

ParameterizedTestParameters(plate_physics, heavy_cantilever)
{
  const char *const all = getenv("LOOM_PLATE");
  return cr_make_param_array(cantilever_row, rows, all != NULL ? sizeof rows / sizeof *rows : 2);
}

ParameterizedTest(cantilever_row *r, plate_physics, heavy_cantilever) { check_cantilever(r); }
