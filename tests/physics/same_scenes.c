/* same_scenes.c - see same_scenes.h. */
#include "physics/same_scenes.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const same_names[SAME_ROWS] = {"slope",  "creep",  "belt",  "thrown", "turntable",
                                           "cloths", "sheets", "holds", "slips"};

static const double g = 9.81, pi = 3.14159265358979324, tilt = 25.0, epsilon_v = 1e-3;
static const double deg = 0.017453292519943295;
static const double longest = 5e-3;             /* s, of a step */
static const double mu_drag = 0.3;              /* of belt, table */
static const double omega = 1.5707963267948966; /* rad/s, 90 degrees per second */
static const double arm = 0.2;                  /* m, from the axis of the turntable */
static const double rod = 0.1, light = 0.2; /* m: radius, and length of the side that is pulled */
static const double pressed_gap = 0.2e-3;   /* m */
static const double density = 0.2, membrane = 1000; /* kg/m^2, N/m, of the strip */
enum { STEPS_FROM = 30, STEPS_TO = 60, PATCH = 16, ARC = 20, COLUMNS = 2 };

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

/* Steps of an explicit method in one of the others. */
static int parts_of(const same_case *c)
{
  return c->dt < longest ? (int)(longest / c->dt + 0.5) : 1;
}

static int on_cloth(same_row row) { return row == SAME_CLOTHS || row == SAME_SHEETS; }

static int is_capstan(same_row row) { return row == SAME_HOLDS || row == SAME_SLIPS; }

/* Of the body. */
static double friction_of(same_row row)
{
  if (row == SAME_SLOPE) return 0.5 * tan(tilt * deg);
  if (row == SAME_CREEP || row == SAME_SHEETS) return 1.2 * tan(tilt * deg);
  return mu_drag;
}

/* LOOM_SAME_FRICTION: a factor of every coefficient that a config gets, none of theory, so that a
 * control sees a wrong coefficient fail. */
static double given_friction(double mu)
{
  const char *const factor = getenv("LOOM_SAME_FRICTION");
  return factor != NULL ? strtod(factor, NULL) * mu : mu;
}

static double self_friction_of(same_row row) { return on_cloth(row) ? 0.5 * tan(tilt * deg) : 0.0; }

/* contact: its first line is the name; settings may follow. */
static int is_model(const char *contact, const char *name)
{
  const size_t length = strlen(name);
  return strncmp(contact, name, length) == 0 && strchr("\n", contact[length]) != NULL;
}

/* Gap at which cloth rests, m: no impact is part of the measurement. */
static double rest_gap(const char *contact)
{
  if (is_model(contact, "penalty")) return -1e-5;
  if (is_model(contact, "cama_repulsion")) return 1.99e-3;
  if (is_model(contact, "cubic_barrier")) return 0.93e-3;
  return 0.97e-3;
}

static void write_contact(writer *w, const same_case *c)
{
  const int penalty = is_model(c->contact, "penalty");
  const int cama = is_model(c->contact, "cama_repulsion");
  const int exact = c->body == SAME_EXACT || penalty;
  if (exact) say(w, "[collision.bodies]\nplugin = sdf\n");
  if (!exact || on_cloth(c->row) || !penalty) say(w, "[collision.self]\nplugin = patch_bvh\n");
  say(w, "[contact.all]\nplugin = %s\npairs = all\n", c->contact);
  if (on_cloth(c->row)) say(w, "self_friction = %.17g\n", given_friction(self_friction_of(c->row)));
  if (!cama) say(w, "epsilon_v = %.17g\n", epsilon_v);
  if (!cama && !penalty) say(w, "d_hat = 1 mm\n");
  if (penalty && on_cloth(c->row)) say(w, "offset = 1 mm\n");
  if (penalty && is_capstan(c->row)) say(w, "stick = 20\n"); /* 1 creeps with 7 mm/s */
}

static void write_body(writer *w, const same_case *c)
{
  static const double still[3] = {0, 0, 0};
  const double *const V = c->moving != NULL ? c->moving : still;
  const double belt = c->row == SAME_BELT ? 2.0 : 0.0;
  say(w, "[body.table]\nfriction = %.17g\n", given_friction(friction_of(c->row)));
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

/* ---- capstan ----
 * A strip of weight w per length goes over half a rod; s: radius of its way.  At the angle f from
 * where its light side, of length a, leaves the rod the tension T and the push N per angle obey
 * N = T + w s sin f, and where it is about to slip T' = w s cos f + mu N.  So
 * T = C exp(mu f) + A cos f + B sin f with A = -2 mu w s/(1 + mu^2), T(0) = w a, and its other side
 * hangs down by b = T(pi)/w = (a + k) exp(mu pi) + k, k = 2 mu s/(1 + mu^2). */

/* Radius of the way of the strip, m.  It presses more than a sheet that lies, and barriers yield.
 * On a mesh the middles of its edges meet the rod, which are chords of its way: models that do not
 * yield begin with these at their gap at rest, else the first step pushes the strip off. */
static double way_radius(const same_case *c)
{
  const double gap = rest_gap(c->contact);
  const int barrier = is_model(c->contact, "ipc_barrier") || is_model(c->contact, "dbb") ||
                      is_model(c->contact, "ogc");
  if (c->body == SAME_EXACT) return rod + 0.5e-3 + (barrier ? pressed_gap : gap);
  if (barrier) return rod + 0.5e-3 + gap; /* that much of a chord's depth is their yield */
  return (rod + 0.5e-3 + gap) / cos(0.5 * pi / ARC);
}

static double hangs_down(const same_case *c, double mu)
{
  const double k = 2.0 * mu * way_radius(c) / (1.0 + mu * mu);
  return (light + k) * exp(mu * pi) + k;
}

/* T/w, m, where the coefficient mu is used up. */
static double capstan_tension(const same_case *c, double mu, double f)
{
  const double s = way_radius(c), A = -2.0 * mu * s / (1.0 + mu * mu);
  const double B = s * (1.0 - mu * mu) / (1.0 + mu * mu);
  return (light - A) * exp(mu * f) + A * cos(f) + B * sin(f);
}

/* The heavy side, and the coefficient that holds it. */
static double heavy_side(const same_case *c, double *mu)
{
  const double load = (c->row == SAME_HOLDS ? 0.97 : 1.03) * hangs_down(c, mu_drag);
  double low = 0.5 * mu_drag, high = 2.0 * mu_drag;
  for (int i = 0; i < 60; ++i) {
    *mu = 0.5 * (low + high);
    *(hangs_down(c, *mu) < load ? &low : &high) = *mu;
  }
  return load;
}

/* Speed of a strip that has slipped for the time t from a load of 1 + e of the one that slips, m/s:
 * a way s lengthens one side and shortens the other, the force is w [e b + s (1 + exp(mu pi))]. */
static double slip_speed(const same_case *c, double e, double t)
{
  const double b = hangs_down(c, mu_drag), length = light + pi * way_radius(c) + (1.0 + e) * b;
  const double rate = sqrt(g * (1.0 + exp(mu_drag * pi)) / length);
  return g * e * b / length * sinh(rate * t) / rate;
}

/* The strip as it lies on the rod, and flat as it is without tension; its heavy end last. */
static void write_capstan_strip(const same_case *c, const char *path, const char *flat)
{
  double mu, way = 0.0;
  const double s = way_radius(c), edge = pi * s / ARC, heavy = heavy_side(c, &mu);
  const int up = (int)(light / edge + 0.5), down = (int)(heavy / edge + 0.5), num = up + ARC + down;
  FILE *const f = fopen(path, "w"), *const r = fopen(flat, "w");
  if (f == NULL || r == NULL) abort();
  for (int i = 0; i <= num; ++i) {
    const int k = i - up;
    const double at = pi * fmin(fmax(k, 0), ARC) / ARC;
    const double hangs = k < 0 ? light * k / up : k > ARC ? heavy * (k - ARC) / down : 0.0;
    const double T = k < 0     ? light * i / up
                     : k > ARC ? heavy * (num - i) / down
                               : capstan_tension(c, mu, at);
    for (int y = 0; y < COLUMNS; ++y) {
      fprintf(f, "v %.17g %.17g %.17g\n", s * cos(at), 0.02 * (y - 0.5), s * sin(at) - fabs(hangs));
      fprintf(r, "v %.17g %.17g 0\n", way, 0.02 * (y - 0.5));
    }
    way += (k < 0      ? light / up
            : k >= ARC ? heavy / down
                       : 2.0 * s * sin(0.5 * pi / ARC)) /
           (1.0 + density * g * T / membrane);
  }
  for (int i = 0; i < num; ++i) { /* diagonals in turn */
    const int a = COLUMNS * i + 1, b = a + COLUMNS, odd = i % 2;
    for (int k = 0; k < 2; ++k)
      fprintf(k ? f : r, "f %d %d %d\nf %d %d %d\n", a, b, odd ? b + 1 : a + 1, odd ? a : a + 1,
              odd ? b + 1 : b, odd ? a + 1 : b + 1);
  }
  fclose(f);
  fclose(r);
}

static void write_capstan(writer *w, const same_case *c, const char *folder)
{
  say(w,
      "gravity = 0 0 %.17g\n[body.rod]\nshape = cylinder\nradius = %.17g\nlength = 0.1\n"
      "rotation = 1 0 0 90\nfriction = %.17g\n",
      -g, rod, given_friction(mu_drag));
  if (c->body == SAME_MESH) say(w, "mesh_size = 1 cm\n");
  say(w,
      "[cloth.strip]\nmodel = arap+isometric\nshape = obj\nfile = %s/strip.obj\nrest = "
      "file\nrest_file = %s/flat.obj\n"
      "density = %.17g\nmembrane = %.17g\nk_b = 1e-7\nthickness = 1 mm\n",
      folder, folder, density, membrane);
  write_contact(w, c);
}

static void write_sheet_section(writer *w, const char *name, const char *size,
                                const char *resolution, double bending, double x, double z,
                                double vx, const double *V)
{
  say(w,
      "[cloth.%s]\nmodel = arap+isometric\nshape = grid\nsize = %s\nresolution = %s\ndensity = "
      "0.2\nmembrane = 500\n"
      "k_b = %g\nthickness = 1 mm\ntransform = translate %.17g 0 %.17g\n"
      "velocity = %.17g %.17g %.17g\n",
      name, size, resolution, bending, x, z, vx + (V != NULL ? V[0] : 0.0), V != NULL ? V[1] : 0.0,
      V != NULL ? V[2] : 0.0);
}

static void write_flat(writer *w, const same_case *c)
{
  const double height = 0.5e-3 + rest_gap(c->contact) - c->lower;
  const int tilted = c->row == SAME_SLOPE || c->row == SAME_CREEP || on_cloth(c->row);
  const double angle = tilted ? tilt * deg : 0.0;
  double under = 0.0; /* m, how much higher the patch lies than on a body */
  say(w, "gravity = %.17g 0 %.17g\n", g * sin(angle), -g * cos(angle));
  if (c->row == SAME_CLOTHS) {
    write_sheet_section(w, "held", "0.5 0.1", "11 3", 1e-5, 0.15, 0.0, 0.0, c->moving);
    say(w, "pins = box -9 -9 -9 9 9 9\n");
    if (c->moving != NULL)
      say(w, "pin_motion = translate %.17g %.17g %.17g\n", c->moving[0], c->moving[1],
          c->moving[2]);
    under = 0.5e-3;
  } else {
    write_body(w, c);
  }
  if (c->row == SAME_SHEETS) { /* stiff and fine: it does not bulge between its vertices */
    write_sheet_section(w, "lower", "0.3 0.1", "19 7", 1e-3, 0.08, height, 0.0, c->moving);
    under = height + 0.5e-3;
  }
  if (on_cloth(c->row) && is_model(c->contact, "penalty")) under += 1e-3;
  write_sheet_section(w, "patch", "0.06 0.05", "4 4", 1e-5, c->row == SAME_TURNTABLE ? arm : 0.0,
                      height + under, c->row == SAME_THROWN ? 1.5 : 0.0, c->moving);
  write_contact(w, c);
}

void same_write(const same_case *c, const char *folder, char *text, size_t size)
{
  writer w = {text, size};
  const int parts = parts_of(c);
  say(&w, "[run]\nsteps = %d\ndt = %.17g\n", STEPS_TO * parts, c->dt);
  if (is_capstan(c->row))
    write_capstan(&w, c, folder);
  else
    write_flat(&w, c);
  say(&w,
      "[exec]\nbackend = cpu\nthreads = 1\n[stop]\ntol_abs = 0\ntol_rel = %g\nmax_iters = %d\n"
      "[log]\naudit = off\nframes_every = %d\ncheckpoint_every = 0\n[solver]\nplugin = %s\n%s",
      c->tol_rel > 0.0 ? c->tol_rel : 1e-6, c->max_iters > 0 ? c->max_iters : 100, parts, c->solver,
      c->more != NULL ? c->more : "");
}

/* Runs the case; as sim_run(). */
static void run_case(const same_case *c, sim *s, int may_fail)
{
  char text[4096], folder[] = "/tmp/loom_strip_XXXXXX", mesh[64], flat[64];
  if (is_capstan(c->row)) {
    if (mkdtemp(folder) == NULL) abort();
    snprintf(mesh, sizeof mesh, "%s/strip.obj", folder);
    snprintf(flat, sizeof flat, "%s/flat.obj", folder);
    write_capstan_strip(c, mesh, flat);
  }
  same_write(c, folder, text, sizeof text);
  sim_run(s, text, NULL, may_fail);
  if (!is_capstan(c->row)) return;
  unlink(mesh);
  unlink(flat);
  rmdir(folder);
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

static double compute_case_value(const same_case *c, sim *s)
{
  double x[3], v0[3], v1[3];
  const int64_t num = PATCH;
  mean_of(s, STEPS_FROM, num, x, v0);
  mean_of(s, STEPS_TO, num, x, v1);
  const double t = (STEPS_TO - STEPS_FROM) * c->dt * parts_of(c), a = (v1[0] - v0[0]) / t;
  switch (c->row) {
  case SAME_CREEP:
    return v1[0] / (2.0 * epsilon_v);
  case SAME_HOLDS:
    return -v1[2] / (2.0 * epsilon_v);
  case SAME_SLIPS:
    return -v1[2] / slip_speed(c, 0.03, STEPS_TO * c->dt * parts_of(c));
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

/* A tenth of the slipping speed is left where friction is 2.7 % more than Coulomb's, none at 3
 * %: the test is that it slips at all. */
static const double least_slip = 0.1;

int same_holds(same_row row, const same_result *r, double bound)
{
  if (!r->runs) return 0;
  if (row == SAME_CREEP || row == SAME_HOLDS) return fabs(r->value) < 1.0;
  return row == SAME_SLIPS ? r->value > least_slip : fabs(r->value - 1.0) <= bound;
}

int same_follow(const same_case *c, same_track *track, int may_fail)
{
  double v[3];
  sim s;
  run_case(c, &s, may_fail);
  const int runs = s.status == LOOM_OK, parts = parts_of(c);
  if (runs) {
    h5log_step_row *const st = sim_steps(&s);
    for (int k = 0; k < SAME_TRACK; ++k) {
      mean_of(&s, k + 1, PATCH, track->x[k], v);
      track->t[k] = (k + 1) * c->dt * parts;
      track->r_ref[k] = st[(k + 1) * parts - 1].r_ref;
    }
    free(st);
  }
  sim_free(&s);
  return runs;
}

void same_measure(const same_case *c, same_result *r)
{
  sim s;
  memset(r, 0, sizeof *r);
  run_case(c, &s, 1);
  r->runs = s.status == LOOM_OK;
  snprintf(r->error, sizeof r->error, "%.*s", (int)sizeof r->error - 1, s.err.text);
  if (r->runs) {
    r->value = compute_case_value(c, &s);
    const int64_t *const why = s.sum.reasons;
    r->capped = 1.0 - (double)(why[H5LOG_converged_abs] + why[H5LOG_converged_rel]) /
                          (double)s.sum.steps_done;
  }
  sim_free(&s);
}
