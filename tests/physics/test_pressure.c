/* Pressure on cloth: a free sheet, balloons against Laplace's law, the frequency of gas. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "geom/vec3.h"
#include "support/proc.h"
#include "support/sim.h"

TestSuite(pressure, .init = proc_enter, .fini = proc_leave);

static const double h = 0.01, sigma = 0.1, pi = 3.14159265358979323846;

#define HEAD                                                                                 \
  "[run]\nsteps = 50\ndt = 0.01\ngravity = 0 0 0\n[exec]\nbackend = cpu\n[stop]\ntol_abs = " \
  "1e-10\ntol_rel = 0\nmax_iters = 400\n[solver]\nplugin = cholmod_newton\n[log]\naudit = off\n"
#define FLAT                                                                     \
  "[cloth.a]\nsize = 0.6 0.4\nresolution = 5 4\ndensity = 0.1\nmembrane = 100\n" \
  "model = arap+isometric\npattern = regular\nk_b = 1e-4\n"
#define BALL                                                                         \
  "[cloth.a]\nshape = obj\nfile = ball.obj\nrepair = merge\ndensity = 0.1\nmodel = " \
  "arap+isometric\n"                                                                 \
  "k_b = 1e-7\nmembrane = 100\n"
#define PRESSURE "[pressure.air]\nobject = a\n"

/* A third of an eighth of a ball of radius r, cut n times into four, as triangles by themselves. */
static void write_part(FILE *f, double c[3][3], double r, int n, int *num, int inwards)
{
  double mid[3][3];
  if (n == 0) {
    for (int k = 0; k < 3; ++k) {
      const double *const p = c[inwards ? 2 - k : k];
      fprintf(f, "v %.17g %.17g %.17g\n", r * p[0], r * p[1], r * p[2]);
    }
    fprintf(f, "f %d %d %d\n", *num + 1, *num + 2, *num + 3);
    *num += 3;
    return;
  }
  for (int k = 0; k < 3; ++k) {
    for (int d = 0; d < 3; ++d) mid[k][d] = c[k][d] + c[(k + 1) % 3][d];
    const double len = vec3_norm(mid[k]);
    for (int d = 0; d < 3; ++d) mid[k][d] /= len;
  }
  for (int k = 0; k < 3; ++k) {
    double at[3][3];
    for (int d = 0; d < 3; ++d) {
      at[0][d] = c[k][d];
      at[1][d] = mid[k][d];
      at[2][d] = mid[(k + 2) % 3][d];
    }
    write_part(f, at, r, n - 1, num, inwards);
  }
  write_part(f, mid, r, n - 1, num, inwards);
}

static char ball_file[PROC_NAME + 32]; /* "cloth.a.file=/tmp/.../ball.obj" */

/* ball.obj, an octahedron cut n times into four; with `octants` below 8 it has holes. */
static void write_ball(double r, int n, int octants, int inwards)
{
  char dir[PROC_NAME];
  FILE *const f = fopen("ball.obj", "w");
  int num = 0;
  cr_assert(f != NULL && getcwd(dir, sizeof dir) != NULL);
  snprintf(ball_file, sizeof ball_file, "cloth.a.file=%s/ball.obj", dir);
  for (int k = 0; k < octants; ++k) {
    const double x = k & 1 ? -1 : 1, y = k & 2 ? -1 : 1, z = k & 4 ? -1 : 1;
    const int turned = x * y * z < 0;
    double c[3][3] = {
        {turned ? 0 : x, turned ? y : 0, 0}, {turned ? x : 0, turned ? 0 : y, 0}, {0, 0, z}};
    write_part(f, c, r, n, &num, inwards);
  }
  fclose(f);
}

typedef struct extent {
  double area, volume; /* m^2, m^3 */
} extent;

static extent measure_ball(const sim *s, const double *x)
{
  extent out = {0, 0};
  for (int64_t t = 0; t < s->nt; ++t) {
    const double *const a = x + 3 * (int64_t)s->tris[3 * t];
    double e[3], f[3], n[3];
    vec3_sub(x + 3 * (int64_t)s->tris[3 * t + 1], a, e);
    vec3_sub(x + 3 * (int64_t)s->tris[3 * t + 2], a, f);
    vec3_cross(e, f, n);
    out.area += vec3_norm(n) / 2;
    out.volume += vec3_dot(a, n) / 6;
  }
  return out;
}

static char solvers[11][32] = {"gd",    "cholmod_newton", "pcg_newton", "cholmod_pd",
                               "aa_pd", "chebyshev_pd",   "ndb_pd",     "vbd",
                               "xpbd",  "pd_bfgs",        "cama_pcg"};

ParameterizedTestParameters(pressure, free_sheet)
{
  return cr_make_param_array(char[32], solvers, 11);
}

/* v = n h p/sigma, and the sheet stays flat. */
ParameterizedTest(char solver[32], pressure, free_sheet)
{
  char set[64];
  const double p = 3.7, a = p / sigma;
  sim s;
  snprintf(set, sizeof set, "solver.plugin=%s", solver);
  sim_run(&s, HEAD FLAT PRESSURE "pressure = 3.7\n",
          (const char *const[]){set, "stop.tol_abs=1e-15", "stop.max_iters=20", NULL}, 0);
  for (int64_t i = 0; i < s.n; ++i) {
    cr_assert_float_eq(s.x[3 * i + 2], h * h * a * 50 * 51 / 2, 1e-12, "%.17g", s.x[3 * i + 2]);
    cr_assert_float_eq(s.v[3 * i + 2], 50 * h * a, 1e-11, "%.17g", s.v[3 * i + 2]);
    for (int c = 0; c < 2; ++c)
      cr_assert_float_eq(s.x[3 * i + c], s.rest[3 * i + c], 1e-12, "%.17g", s.x[3 * i + c]);
  }
  sim_free(&s);
}

/* The energy of a sheet that stays flat grows by the work of all forces less M/2 |dv|^2, the loss
 * of implicit Euler. */
static void check_balance(const char *loads, int steps)
{
  double v[3 * 20], time;
  sim s;
  char text[1024];
  snprintf(text, sizeof text, HEAD FLAT "%s", loads);
  sim_run(&s, text,
          (const char *const[]){"stop.tol_abs=1e-15", "log.frames_every=1", "run.gravity=0 0 -3",
                                "cloth.a.velocity=0 0 0.7", NULL},
          0);
  h5log_step_row *const row = sim_steps(&s);
  const double mass = sigma * 0.6 * 0.4, scale = 0.1;
  double before = 0.5 * mass * 0.7 * 0.7, fell = 0, last = 0.7;
  cr_assert(s.n == 20 && s.steps == steps);
  for (int k = 0; k < steps; ++k) {
    sim_frame(&s, k + 1, NULL, v, &time);
    const double dv = v[2] - last, now = row[k].e_kinetic + row[k].e_gravity;
    cr_expect_float_eq(now - before, row[k].w_loads - 0.5 * mass * dv * dv, 1e-12 * scale,
                       "step %d: %.12g J more, work %.12g J less %.12g J", k, now - before,
                       row[k].w_loads, 0.5 * mass * dv * dv);
    fell += fabs(row[k].w_loads);
    before = now;
    last = v[2];
  }
  cr_expect_gt(fell, 0.01, "the work is %g J in all", fell);
  free(row);

  sim_free(&s);
}

Test(pressure, work_closes_the_balance_of_energy)
{
  check_balance(PRESSURE "pressure = 3.7\n", 50);
  check_balance("[wind]\nvelocity = 0 0 9\n", 50);
  check_balance("[wind]\nvelocity = 0 0 9\n" PRESSURE "pressure = -2\n", 50);
}

/* The pressure grows with t/rise: v = h sum (n h/rise) p/sigma. */
Test(pressure, rises)
{
  sim s;
  sim_run(&s, HEAD FLAT PRESSURE "pressure = 3.7\nrise = 0.3\n", NULL, 0);
  double v = 0;
  for (int k = 1; k <= 50; ++k) v += h * (k < 30 ? k * h / 0.3 : 1) * 3.7 / sigma;
  for (int64_t i = 0; i < s.n; ++i) cr_assert_float_eq(s.v[3 * i + 2], v, 1e-11);
  sim_free(&s);
}

static char balloons[8][2][32] = {{"cholmod_newton", "constant"}, {"pcg_newton", "constant"},
                                  {"cholmod_pd", "constant"},     {"aa_pd", "constant"},
                                  {"chebyshev_pd", "constant"},   {"cholmod_newton", "gas"},
                                  {"cholmod_pd", "gas"},          {"aa_pd", "gas"}};

ParameterizedTestParameters(pressure, laplace)
{
  return cr_make_param_array(char[2][32], balloons, 8);
}

/* At rest p = 2 T/R with the tension T = E (s - 1)/s of an arap membrane stretched by s. */
ParameterizedTest(char of[2][32], pressure, laplace)
{
  char solver[64], law[64];
  const double p0 = 300, E = 100;
  sim s;
  write_ball(0.1, 3, 8, 0);
  snprintf(solver, sizeof solver, "solver.plugin=%s", of[0]);
  snprintf(law, sizeof law, "pressure.air.law=%s", of[1]);
  sim_run(&s, HEAD BALL PRESSURE "pressure = 300\n",
          (const char *const[]){solver, law, ball_file, "run.steps=120", "cloth.a.damping=12",
                                "stop.tol_abs=1e-7", NULL},
          0);
  const extent start = measure_ball(&s, s.rest), end = measure_ball(&s, s.x);
  const double stretch = sqrt(end.area / start.area), radius = cbrt(3 * end.volume / (4 * pi));
  const double tension = E * (stretch - 1) / stretch;
  const double p = of[1][0] == 'g' ? p0 * start.volume / end.volume : p0;
  cr_expect_gt(stretch, 1.05);
  cr_expect_float_eq(2 * tension / radius, p, 0.01 * p, "%s: 2 T/R is %.6g Pa, not %.6g (s %.4f)",
                     of[0], 2 * tension / radius, p, stretch);
  printf("%s %s: 2 T/R %.6g Pa of %.6g, stretch %.4f\n", of[0], of[1], 2 * tension / radius, p,
         stretch);
  for (int64_t i = 0; i < 3 * s.n; ++i) cr_assert_lt(fabs(s.v[i]), 1e-3);
  sim_free(&s);
}

/* Gas alone is one oscillator along M^-1 G: x'' = -omega^2 x as x[n+1] - 2 x[n] + x[n-1] =
 * -(h omega)^2 x[n], started at rest: x[n] = x[0] cos((n + 1/2) a)/cos(a/2), cos a = 1 - (h
 * omega)^2/2.
 */
static void check_gas(double h_omega, double tol)
{
  char dt[64];
  const double P = 500, share = 1e-5;
  sim s;
  write_ball(0.1, 2, 8, 1);
  for (int pass = 0; pass < 2; ++pass) {
    static double omega;
    snprintf(dt, sizeof dt, "run.dt=%.17g", pass == 0 ? 1e-6 : h_omega / omega);
    sim_run(&s, HEAD BALL PRESSURE "law = gas\noutside = 500\n",
            (const char *const[]){
                dt, ball_file, "cloth.a.membrane=1e-9", "cloth.a.k_b=0", "run.steps=25",
                pass == 0 ? "pressure.air.pressure=0" : "pressure.air.pressure=0.005",
                "stop.tol_abs=1e-15", NULL},
            0);
    const extent start = measure_ball(&s, s.rest), end = measure_ball(&s, s.x);
    if (pass == 0) { /* mass and dV/dx of each vertex from areas of the triangles at rest */
      double *const G = calloc(4 * (size_t)s.n, sizeof *G), sum = 0;
      for (int64_t t = 0; t < s.nt; ++t) {
        const int32_t *const v = s.tris + 3 * t;
        double e[3], f[3], n[3];
        vec3_sub(s.rest + 3 * (int64_t)v[1], s.rest + 3 * (int64_t)v[0], e);
        vec3_sub(s.rest + 3 * (int64_t)v[2], s.rest + 3 * (int64_t)v[0], f);
        vec3_cross(e, f, n);
        for (int a = 0; a < 3; ++a) {
          for (int c = 0; c < 3; ++c) G[4 * v[a] + c] += n[c] / 6;
          G[4 * v[a] + 3] += sigma * vec3_norm(n) / 6;
        }
      }
      for (int64_t i = 0; i < s.n; ++i) sum += vec3_dot(G + 4 * i, G + 4 * i) / G[4 * i + 3];
      omega = sqrt(P / fabs(start.volume) * sum);
      free(G);
    } else {
      const double a = acos(1 - h_omega * h_omega / 2), n = 25;
      const double x = share * (1 - cos((n + 0.5) * a) / cos(a / 2));
      const double got = end.volume / start.volume - 1;
      cr_expect_float_eq(got, x, tol * share, "(h omega) %g: V/V0 - 1 is %.9g, not %.9g", h_omega,
                         got, x);
    }
    sim_free(&s);
  }
}

Test(pressure, frequency_of_gas)
{
  check_gas(0.3, 1e-3);
  check_gas(1.9, 1e-2);
}

/* Beyond (h omega)^2 = 4 the run warns. */
Test(pressure, stiff_gas_is_told)
{
  proc p;
  write_ball(0.1, 2, 8, 0);
  proc_write("a.ini", HEAD BALL PRESSURE "law = gas\noutside = 101325\npressure = 10\n");
  proc_loom(&p, LOOM_ARGS("run", "a.ini", "-n", "1", "-o", "a.h5"));
  cr_assert_eq(p.code, 0, "%s%s", p.out, p.err);
  cr_assert_not_null(strstr(p.err, "[pressure.air]: its gas swings"), "%s", p.err);
  proc_loom(&p, LOOM_ARGS("run", "a.ini", "-n", "1", "-o", "a.h5", "--set", "run.dt=1e-5"));
  cr_assert_null(strstr(p.err, "its gas swings"), "%s", p.err);
}

Test(pressure, resumes_replays_and_any_number_of_threads)
{
  write_ball(0.1, 2, 8, 0);
  proc_write("scene.ini",
             HEAD BALL PRESSURE "law = gas\npressure = 100\n[pin.p]\nobject = a\nwhere = 3\n");
  proc_write("a.ini", "include = scene.ini\n[run]\nsteps = 20\n[stop]\ntol_abs = 1e-9\n[log]\n"
                      "checkpoint_every = 5\n");
  LOOM_FINE("run", "a.ini", "--quiet", "-o", "whole.h5");
  LOOM_FINE("run", "a.ini", "--quiet", "-o", "parts.h5", "-n", "12");
  LOOM_FINE("run", "a.ini", "--quiet", "-o", "parts.h5", "--resume=9");
  LOOM_FINE("compare", "whole.h5", "parts.h5", "--tol", "0");
  LOOM_FINE("run", "a.ini", "--quiet", "-o", "one.h5", "--threads", "1");
  LOOM_FINE("compare", "whole.h5", "one.h5", "--tol", "0");
  LOOM_FINE("run", "a.ini", "--quiet", "-o", "again.h5", "--set", "run.replay=whole.h5");
  LOOM_FINE("compare", "whole.h5", "again.h5", "--tol", "0");
  LOOM_FINE("describe", "pressure");
}

Test(pressure, refusals_name_the_key)
{
  write_ball(0.1, 1, 7, 0);
  proc_write("b.ini", HEAD BALL PRESSURE "law = gas\npressure = 5\n");
  proc_expect_error(2, LOOM_TEXTS("[pressure.air] object", "is open", "has one triangle"),
                    LOOM_ARGS("check", "b.ini"));
  proc_write("b.ini", HEAD BALL PRESSURE "pressure = 5\noutside = 7\n");
  proc_expect_error(2, LOOM_TEXTS("[pressure.air] outside", "has no effect"),
                    LOOM_ARGS("check", "b.ini"));
  proc_write("b.ini", HEAD BALL "[pressure.air]\nobject = aa\npressure = 5\n");
  proc_expect_error(2, LOOM_TEXTS("[pressure.air] object", "no cloth named \"aa\""),
                    LOOM_ARGS("check", "b.ini"));
}
