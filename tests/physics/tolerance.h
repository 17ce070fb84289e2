/* tolerance.h - scenes for the stopping test: a flag at many time steps, a strip over a rod with
 * and without a far object, a stiff pendulum, a flag in a frame that moves. */
#ifndef TEST_TOLERANCE_H
#define TEST_TOLERANCE_H

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/h5read.h"
#include "support/proc.h"

#define TOL_END \
  "[log]\nframes_every = 1000000\naudit = off\ncheckpoint_every = 0\n[exec]\nthreads = 1\n"

#define TOL_FLAG                                                                                   \
  "[run]\nsteps = 3\n[collision.c]\nplugin = none\n[cloth.flag]\nmodel = arap+isometric\npattern " \
  "= regular\nshape = grid\n"                                                                      \
  "size = 0.3 0.24\nresolution = 10 9\ntransform = rotate 1 0 0 90 translate 0 0 2\n"              \
  "density = 0.18\nmembrane = 150\nk_b = 2e-5\nthickness = 1.2 mm\n"                               \
  "pins = top_left top_right\n" TOL_END

/* A block of 0.1 m swings from one corner; dt 10 ms. */
#define TOL_PENDULUM                                                                           \
  "[run]\nsteps = 20\n[stop]\ntol_rel = 1e-3\nmax_iters = 300\n[collision.c]\nplugin = none\n" \
  "[solid.block]\nsize = 0.1 0.1 0.1\nresolution = 2 2 2\ndensity = 1000\npins = 0\n" TOL_END

/* A light strip falls over a rod.  0.01 kg/m^2 more or less elsewhere is no business of it. */
#define TOL_STRIP                                                                           \
  "[run]\ndt = 0.01\n[stop]\ntol_rel = 1e-6\nmax_iters = 60\n[cloth.strip]\nmodel = "       \
  "arap+isometric\npattern = regular\nsize = 0.4 0.06\n"                                    \
  "resolution = 21 4\ntransform = translate 0.02 0 0.031\ndensity = 0.15\nmembrane = 200\n" \
  "k_b = 2e-5\nthickness = 1 mm\n[body.rod]\nshape = capsule\nfriction = 0.3\n"             \
  "radius = 0.03\nlength = 0.2\nrotation = 1 0 0 90\n" TOL_END
#define TOL_HEAVY                                                                        \
  "[cloth.far]\nmodel = arap+isometric\npattern = regular\nsize = 1 1\nresolution = 11 " \
  "11\ntransform = translate 50 0 0\n"                                                   \
  "density = 20\nmembrane = 1e6\nk_b = 1\nthickness = 1 mm\npins = corners\n"
#define TOL_FAST                                                                         \
  "[cloth.far]\nmodel = arap+isometric\npattern = regular\nsize = 1 1\nresolution = 11 " \
  "11\ntransform = translate 50 0 0\n"                                                   \
  "density = 0.2\nmembrane = 100\nk_b = 1e-4\nthickness = 1 mm\nvelocity = 100 0 0\n"

/* Another strip, which falls over another rod a little earlier. */
#define TOL_OTHER                                                                              \
  "[cloth.far]\nmodel = arap+isometric\npattern = regular\nsize = 0.5 0.06\nresolution = 21 "  \
  "4\ntransform = translate 50.02 0 0.031\n"                                                   \
  "density = 0.3\nmembrane = 300\nk_b = 1e-5\nthickness = 1 mm\n[body.far]\nshape = capsule\n" \
  "friction = 0.2\nradius = 0.02\nlength = 0.2\nrotation = 1 0 0 90\nposition = 50 0 0\n"

/* The model ndb with weights that do not grow, so that a step has one solution, and the tolerance
 * with which solvers reach it to 1 um in 0.6 s. */
#define TOL_FIXED "ndb\nw0 = 0.3\ngrowth_base = 1"
#define TOL_TIGHT ((const char *const[]){"stop.max_iters=3000", "stop.tol_acc=1e-4", NULL})

/* A sheet that falls onto a ball with 10 m/s, so that its steps are cut. */
#define TOL_HITS                                                                            \
  "[cloth.far]\nmodel = arap+isometric\npattern = regular\nsize = 0.2 0.2\nresolution = 7 " \
  "7\ntransform = translate 50 0 0.5\n"                                                     \
  "density = 0.2\nmembrane = 300\nk_b = 1e-4\nthickness = 1 mm\n"                           \
  "velocity = 0 0 -10\n[body.far]\nshape = sphere\nradius = 0.1\nposition = 50 0 0\n"

typedef struct tol_run { /* of a log; free with tol_free() */
  int64_t steps, verts;
  h5log_step_row *rows;
  double *x0, *x, *v; /* [verts][3], at the start and at the end */
} tol_run;

static inline void tol_read(const char *path, tol_run *t)
{
  loom_err err = {0};
  h5read *r;
  cr_assert_eq(h5read_open(&err, path, &r), LOOM_OK, "%s", err.text);
  t->steps = h5read_num_steps(r);
  t->verts = h5read_num_verts(r);
  const size_t n = 3 * (size_t)t->verts;
  t->rows = malloc((size_t)t->steps * sizeof *t->rows);
  t->x0 = malloc(n * sizeof *t->x0);
  t->x = malloc(n * sizeof *t->x);
  t->v = malloc(n * sizeof *t->v);
  cr_assert(t->rows && t->x0 && t->x && t->v);
  cr_assert_eq(h5read_steps(r, &err, 0, t->steps, t->rows), LOOM_OK, "%s", err.text);
  cr_assert_eq(h5read_frame(r, &err, 0, t->x0, NULL, NULL, NULL), LOOM_OK, "%s", err.text);
  cr_assert_eq(h5read_frame(r, &err, h5read_num_frames(r) - 1, t->x, t->v, NULL, NULL), LOOM_OK);
  h5read_close(r);
}

static inline void tol_free(tol_run *t)
{
  free(t->rows);
  free(t->x0);
  free(t->x);
  free(t->v);
}

/* Runs `text` with up to three settings (NULL: none); exit code 0. */
static inline void tol_make(const char *text, const char *steps, const char *const *sets,
                            tol_run *t)
{
  const char *args[24] = {"run", "case.ini", "--quiet", "-n",
                          steps, "-o",       "case.h5", "--overwrite"};
  int n = 8;
  proc p;
  proc_write("case.ini", text);
  for (; *sets != NULL; ++sets) {
    args[n++] = "--set";
    args[n++] = *sets;
  }
  proc_loom(&p, args);
  cr_assert_eq(p.code, 0, "%d: %s%s", p.code, p.out, p.err);
  tol_read("case.h5", t);
}

static inline double tol_sag(const tol_run *t)
{
  double sum = 0.0;
  for (int64_t i = 0; i < t->verts; ++i) sum += t->x0[3 * i + 2] - t->x[3 * i + 2];
  return sum / (double)t->verts;
}

static inline int64_t tol_count(const tol_run *t, int converged)
{
  int64_t num = 0;
  for (int64_t i = 0; i < t->steps; ++i)
    num += (t->rows[i].reason <= H5LOG_converged_rel) == converged;
  return num;
}

static inline double tol_most_energy(const tol_run *t)
{
  double most = -INFINITY;
  for (int64_t i = 0; i < t->steps; ++i)
    most = fmax(most, t->rows[i].e_kinetic + t->rows[i].e_gravity + t->rows[i].e_elastic);
  return most;
}

/* Largest distance of the first `verts` vertices, m; of b less `shift` along x. */
static inline double tol_distance(const tol_run *a, const tol_run *b, double shift)
{
  double most = 0.0;
  for (int64_t i = 0; i < (a->verts < b->verts ? a->verts : b->verts); ++i) {
    const double d[] = {a->x[3 * i] - b->x[3 * i] + shift, a->x[3 * i + 1] - b->x[3 * i + 1],
                        a->x[3 * i + 2] - b->x[3 * i + 2]};
    most = fmax(most, sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]));
  }
  return most;
}

/* The flag up to t = 0.03 s hangs as it does at a tolerance of 1e-8, and no energy comes from
 * anywhere.  All steps end at their tolerance where `ends`. */
static inline void tol_flag(const char *solver, const char *dt, int ends)
{
  char plugin[64], step[64], steps[32];
  tol_run shipped, tight;
  (void)snprintf(plugin, sizeof plugin, "solver.plugin=%s", solver);
  (void)snprintf(step, sizeof step, "run.dt=%s", dt);
  (void)snprintf(steps, sizeof steps, "%.0f", 0.03 / strtod(dt, NULL));
  tol_make(TOL_FLAG, steps, (const char *const[]){step, plugin, NULL}, &shipped);
  tol_make(TOL_FLAG, steps,
           (const char *const[]){"stop.tol_acc=0", "stop.tol_rel=1e-8", "stop.max_iters=2000", step,
                                 "solver.plugin=cholmod_newton", NULL},
           &tight);
  printf("flag       %-15s %s s: sag %.6g mm, tight %.6g mm, energy %.1e J at most, %lld of %lld "
         "steps short\n",
         solver, dt, 1e3 * tol_sag(&shipped), 1e3 * tol_sag(&tight), tol_most_energy(&shipped),
         (long long)tol_count(&shipped, 0), (long long)shipped.steps);
  fflush(stdout);
  cr_expect_eq(tol_count(&tight, 0), 0, "dt %s: %lld tight steps did not converge", dt,
               (long long)tol_count(&tight, 0));
  if (ends) {
    cr_expect_eq(tol_count(&shipped, 0), 0, "%s, dt %s: %lld steps did not converge", solver, dt,
                 (long long)tol_count(&shipped, 0));
    cr_expect_lt(fabs(tol_sag(&shipped) - tol_sag(&tight)), 0.01 * tol_sag(&tight), "%s, dt %s",
                 solver, dt);
    cr_expect_lt(tol_most_energy(&shipped), 1e-6, "%s, dt %s", solver, dt);
  } else { /* slow: then it says so */
    cr_expect_gt(tol_count(&shipped, 0), 0, "%s, dt %s", solver, dt);
  }
  tol_free(&shipped);
  tol_free(&tight);
}

/* Where all steps of the pendulum converged it is within 2 % of its motion from Newton. */
/* The solver "nesterov" is cholmod_pd with that momentum. */
static inline void tol_pendulum(const char *const *solvers, const char *stiffness)
{
  char set[64], plugin[64];
  tol_run right, t;
  (void)snprintf(set, sizeof set, "solid.block.stiffness=%s", stiffness);
  tol_make(TOL_PENDULUM, "20",
           (const char *const[]){set, "stop.tol_rel=1e-8", "solver.plugin=cholmod_newton", NULL},
           &right);
  tol_run start = right;
  start.x = right.x0;
  const double way = tol_distance(&right, &start, 0.0);
  /* its swing, 13 mm a step in the end, is rigid: the rest are gravity and the turn's square */
  for (int64_t i = 0; i < right.steps; ++i) cr_expect_lt(right.rows[i].r_ref, 1.3e-3);
  for (; *solvers != NULL; ++solvers) {
    const int nesterov = strcmp(*solvers, "nesterov") == 0;
    (void)snprintf(plugin, sizeof plugin, "solver.plugin=%s", nesterov ? "cholmod_pd" : *solvers);
    tol_make(TOL_PENDULUM, "20",
             (const char *const[]){set, plugin, nesterov ? "solver.momentum=nesterov" : NULL, NULL},
             &t);
    const double off = tol_distance(&t, &right, 0.0);
    const int64_t not = tol_count(&t, 0);
    printf("pendulum   %-15s w %s: off by %.5f of its way, %lld of 20 steps short\n", *solvers,
           stiffness, off / way, (long long)not );
    fflush(stdout);
    cr_expect(not > 0 || off < 0.02 * way, "%s at w = %s: %.2f %% off, all converged", *solvers,
              stiffness, 100.0 * off / way);
    tol_free(&t);
  }
  tol_free(&right);
}

/* The name behind `key` in a config, of up to 31 characters. */
static inline void tol_name(const char *text, const char *key, char *name)
{
  const char *const at = strstr(text, key);
  cr_assert(at != NULL && sscanf(at + strlen(key), "%31s", name) == 1);
}

/* off: m, by which the object `far` moves the strip; capped: steps that did not converge. */
static inline void tol_print_far(const char *method, const char *far, double off, int64_t capped)
{
  char solver[32], contact[32];
  const char *const way = strcmp(far, TOL_HEAVY) == 0   ? "heavy"
                          : strcmp(far, TOL_FAST) == 0  ? "fast"
                          : strcmp(far, TOL_OTHER) == 0 ? "other"
                                                        : "hits";
  tol_name(method, "[solver]\nplugin = ", solver);
  tol_name(strstr(method, "[contact."), "plugin = ", contact);
  printf("far        %-15s %-15s %-5s: %.2e mm, %lld steps short%s\n", solver, contact, way,
         1e3 * off, (long long)capped,
         strstr(method, "growth_base") != NULL ? ", weights that do not grow" : "");
  fflush(stdout);
}

/* Another object 50 m away moves the strip by at most `most` (m); `sets`: settings, NULL ends. */
static inline void tol_far_set(const char *method, const char *far, const char *steps,
                               const char *const *sets, double most)
{
  char text[4096];
  tol_run alone, beside;
  (void)snprintf(text, sizeof text, "%s%s", TOL_STRIP, method);
  tol_make(text, steps, sets, &alone);
  (void)snprintf(text, sizeof text, "%s%s%s", TOL_STRIP, method, far);
  tol_make(text, steps, sets, &beside);
  const double off = tol_distance(&alone, &beside, 0.0);
  tol_print_far(method, far, off, tol_count(&alone, 0) + tol_count(&beside, 0));
  cr_expect_lt(off, most);
  tol_free(&alone);
  tol_free(&beside);
}

/* `iters`: the cap, a setting */
static inline void tol_far_within(const char *method, const char *far, const char *steps,
                                  const char *iters, double most)
{
  tol_far_set(method, far, steps, (const char *const[]){iters, NULL}, most);
}

static inline void tol_far(const char *method, const char *far, const char *steps)
{
  tol_far_within(method, far, steps, "stop.max_iters=60", 1e-4);
}

#endif
