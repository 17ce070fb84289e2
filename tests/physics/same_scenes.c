/* same_scenes.c - see same_scenes.h. */
#include "physics/same_scenes.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const same_names[SAME_ROWS] = {"slope",  "creep",     "belt",
                                           "thrown", "turntable", "cloths"};

static const double g = 9.81, deg = 0.017453292519943295, tilt = 25.0, epsilon_v = 1e-3;
static const double mu_drag = 0.3;              /* of belt, table */
static const double omega = 1.5707963267948966; /* rad/s, 90 degrees per second */
static const double arm = 0.2;                  /* m, from the axis of the turntable */
enum { STEPS_FROM = 30, STEPS_TO = 60 };

typedef struct writer {
  char *at;
  size_t left;
} writer;

__attribute__((format(printf, 2, 3))) static void say(writer *w, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  const int n = vsnprintf(w->at, w->left, format, args);
  va_end(args);
  if (n < 0 || (size_t)n >= w->left) abort();
  w->at += n;
  w->left -= (size_t)n;
}

/* ---- configs ---- */

static double friction_of(same_row row)
{
  if (row == SAME_SLOPE || row == SAME_CLOTHS) return 0.5 * tan(tilt * deg);
  if (row == SAME_CREEP) return 1.2 * tan(tilt * deg);
  return mu_drag;
}

/* Gap at which cloth rests, m: no impact is part of what is measured. */
static double rest_gap(const char *contact)
{
  if (strcmp(contact, "penalty") == 0) return -1e-5;
  if (strcmp(contact, "cama_repulsion") == 0) return 1.99e-3;
  return 0.97e-3;
}

static void write_contact(writer *w, const same_case *c, double self_friction)
{
  const int penalty = strcmp(c->contact, "penalty") == 0;
  const int cama = strcmp(c->contact, "cama_repulsion") == 0;
  const int exact = c->body == SAME_EXACT || penalty;
  if (exact) say(w, "[collision.bodies]\nplugin = sdf\n");
  if (!exact || c->row == SAME_CLOTHS || !penalty) say(w, "[collision.self]\nplugin = patch_bvh\n");
  say(w, "[contact.all]\nplugin = %s\npairs = all\nself_friction = %.17g\n", c->contact,
      self_friction);
  if (!cama) say(w, "epsilon_v = %.17g\n", epsilon_v);
  if (!cama && !penalty) say(w, "d_hat = 1 mm\n");
  if (penalty && c->row == SAME_CLOTHS) say(w, "offset = 1 mm\n");
}

static void write_body(writer *w, const same_case *c)
{
  static const double still[3] = {0, 0, 0};
  const double *const V = c->moving != NULL ? c->moving : still;
  const double belt = c->row == SAME_BELT ? 2.0 : 0.0;
  say(w, "[body.table]\nfriction = %.17g\n", friction_of(c->row));
  if (c->body == SAME_EXACT)
    say(w, "shape = plane\nnormal = 0 0 1\n");
  else
    say(w, "shape = box\nsize = 8 3 0.1\nposition = 0 0 -0.05\nmesh_size = 0.5\n"
           "sdf_resolution = 0\n");
  if (c->row == SAME_TURNTABLE)
    say(w, "motion = rotate 0 0 1 0 0 0 90 translate %.17g %.17g %.17g\n", V[0], V[1], V[2]);
  else if (belt != 0.0 || c->moving != NULL)
    say(w, "motion = translate %.17g %.17g %.17g\n", V[0] + belt, V[1], V[2]);
}

static void write_sheet(writer *w, const char *name, const char *size, const char *resolution,
                        double x, double z, double vx, const double *V)
{
  say(w,
      "[cloth.%s]\nshape = grid\nsize = %s\nresolution = %s\ndensity = 0.2\nmembrane = 500\n"
      "bending = 1e-5\nthickness = 1 mm\ntransform = translate %.17g 0 %.17g\n"
      "velocity = %.17g %.17g %.17g\n",
      name, size, resolution, x, z, vx + (V != NULL ? V[0] : 0.0), V != NULL ? V[1] : 0.0,
      V != NULL ? V[2] : 0.0);
}

static void write_flat(writer *w, const same_case *c)
{
  const double height = 0.5e-3 + rest_gap(c->contact) - c->lower;
  const int tilted = c->row == SAME_SLOPE || c->row == SAME_CREEP || c->row == SAME_CLOTHS;
  const double angle = tilted ? tilt * deg : 0.0;
  say(w, "gravity = %.17g 0 %.17g\n", g * sin(angle), -g * cos(angle));
  if (c->row == SAME_CLOTHS) {
    write_sheet(w, "held", "0.5 0.1", "11 3", 0.15, 0.0, 0.0, c->moving);
    say(w, "pins = box -9 -9 -9 9 9 9\n");
    if (c->moving != NULL)
      say(w, "pin_motion = translate %.17g %.17g %.17g\n", c->moving[0], c->moving[1],
          c->moving[2]);
  } else {
    write_body(w, c);
  }
  const double gap = c->row == SAME_CLOTHS && strcmp(c->contact, "penalty") == 0 ? 1e-3 : 0.0;
  write_sheet(w, "patch", "0.06 0.05", "4 4", c->row == SAME_TURNTABLE ? arm : 0.0,
              height + gap + (c->row == SAME_CLOTHS ? 0.5e-3 : 0.0),
              c->row == SAME_THROWN ? 1.5 : 0.0, c->moving);
  write_contact(w, c, c->row == SAME_CLOTHS ? friction_of(c->row) : 0.0);
}

void same_write(const same_case *c, char *text, size_t size)
{
  writer w = {text, size};
  say(&w, "[run]\nsteps = %d\ndt = %.17g\n", STEPS_TO, c->dt);
  write_flat(&w, c);
  say(&w,
      "[exec]\nbackend = cpu\nthreads = 1\n[stop]\ntol_abs = 0\ntol_rel = %g\nmax_iters = %d\n"
      "[log]\naudit = off\nframes_every = 1\ncheckpoint_every = 0\n[solver]\nplugin = %s\n%s",
      c->tol_rel > 0.0 ? c->tol_rel : 1e-6, c->max_iters > 0 ? c->max_iters : 100, c->solver,
      c->more != NULL ? c->more : "");
}

/* ---- measuring ---- */

/* Mean velocity, m/s, and position, m, of the last `num` vertices in a frame. */
static void mean_of(sim *s, int64_t frame, int64_t num, double *x, double *v)
{
  sim_frame(s, frame, s->x, s->v, NULL);
  for (int k = 0; k < 3; ++k) {
    x[k] = v[k] = 0.0;
    for (int64_t i = s->n - num; i < s->n; ++i) {
      x[k] += s->x[3 * i + k] / (double)num;
      v[k] += s->v[3 * i + k] / (double)num;
    }
  }
}

static double value_of(const same_case *c, sim *s)
{
  double x[3], v0[3], v1[3];
  const int64_t num = 16;
  mean_of(s, STEPS_FROM, num, x, v0);
  mean_of(s, STEPS_TO, num, x, v1);
  const double t = (STEPS_TO - STEPS_FROM) * c->dt, a = (v1[0] - v0[0]) / t;
  switch (c->row) {
  case SAME_CREEP:
    return v1[0] / (2.0 * epsilon_v);
  case SAME_BELT:
    return a / (mu_drag * g);
  case SAME_THROWN:
    return -a / (mu_drag * g);
  case SAME_TURNTABLE: {
    const double r = hypot(x[0], x[1]);
    return (x[0] * v1[1] - x[1] * v1[0]) / (r * r * omega);
  }
  default:
    return a / (0.5 * g * sin(tilt * deg));
  }
}

int same_holds(same_row row, const same_result *r, double bound)
{
  return r->runs &&
         (row == SAME_CREEP ? r->value < 1.0 && r->value > -1.0 : fabs(r->value - 1.0) <= bound);
}

void same_follow(const same_case *c, same_track *track)
{
  char text[4096];
  double v[3];
  sim s;
  same_write(c, text, sizeof text);
  sim_run(&s, text, NULL, 0);
  for (int k = 0; k < SAME_TRACK; ++k) {
    mean_of(&s, k + 1, 16, track->x[k], v);
    track->t[k] = (k + 1) * c->dt;
  }
  sim_free(&s);
}

void same_measure(const same_case *c, same_result *r)
{
  char text[4096];
  sim s;
  memset(r, 0, sizeof *r);
  same_write(c, text, sizeof text);
  sim_run(&s, text, NULL, 1);
  r->runs = s.status == LOOM_OK;
  snprintf(r->error, sizeof r->error, "%.*s", (int)sizeof r->error - 1, s.err.text);
  if (r->runs) {
    r->value = value_of(c, &s);
    const int64_t *const why = s.sum.reasons;
    r->capped = 1.0 - (double)(why[H5LOG_converged_abs] + why[H5LOG_converged_rel]) /
                          (double)s.sum.steps_done;
  }
  sim_free(&s);
}
