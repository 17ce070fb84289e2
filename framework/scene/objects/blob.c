/* blob.c - [solid.*] shape = blob: capsules that blend into each other, filled with tetrahedra. */
#include <math.h>
#include <string.h>

#include "config/words.h"
#include "geom/vec3.h"
#include "mesh/placement.h"
#include "mesh/stuffing.h"
#include "scene/base/build.h"

enum { MAX_PARTS = 256, PART_REALS = 7 };

static const double pi = 3.14159265358979323846;

typedef struct blob {
  double part[MAX_PARTS][PART_REALS]; /* ends and radius, m */
  int count;
  double blend; /* m */
} blob;

/* Signed distance to a capsule, m. */
static double part_distance(const double *part, const double x[3])
{
  double axis[3], from[3];
  vec3_sub(part + 3, part, axis);
  vec3_sub(x, part, from);
  const double length2 = vec3_dot(axis, axis);
  const double t = length2 > 0 ? fmin(fmax(vec3_dot(from, axis) / length2, 0), 1) : 0;
  for (int c = 0; c < 3; ++c) from[c] -= t * axis[c];
  return vec3_norm(from) - part[6];
}

/* The smooth minimum of the parts, one after the other: min(a, b) - k/4 (1 - |a - b|/k)^2 within
 * |a - b| < k (Quilez, "smooth minimum", quadratic polynomial). */
static double blob_sign(const void *shape, const double x[3])
{
  const blob *const s = shape;
  double all = part_distance(s->part[0], x);
  for (int k = 1; k < s->count; ++k) {
    const double one = part_distance(s->part[k], x), apart = fabs(one - all);
    all = fmin(all, one);
    if (apart < s->blend) all -= 0.25 * s->blend * pow(1 - apart / s->blend, 2);
  }
  return all;
}

static loom_status read_parts(loom_err *err, const char *text, blob *s)
{
  words w;
  words_start(&w, text);
  while (!words_at_end(&w)) {
    if (s->count == MAX_PARTS) return err_set(err, LOOM_E_CONFIG, "more than %d parts", MAX_PARTS);
    double *const p = s->part[s->count];
    int ok = 1;
    for (int c = 0; c < PART_REALS && ok; ++c) ok = words_real(&w, p + c);
    if (!ok || (!words_at_end(&w) && !(words_next(&w) && strcmp(w.word, "|") == 0)))
      return err_set(err, LOOM_E_CONFIG,
                     "part %d: seven numbers X0 Y0 Z0 X1 Y1 Z1 R (m) and then '|' needed",
                     s->count);
    if (!(p[6] > 0))
      return err_set(err, LOOM_E_CONFIG, "part %d: the radius %g m is not above 0", s->count, p[6]);
    ++s->count;
  }
  if (s->count > 0) return LOOM_OK;
  return err_set(err, LOOM_E_CONFIG, "one or more parts X0 Y0 Z0 X1 Y1 Z1 R needed");
}

/* A box around all parts and their fillets (m), and about how many vertices cubes of `cell` make.
 */
static void measure_parts(const blob *s, double cell, double lo[3], double hi[3], double *verts)
{
  *verts = 0;
  for (int c = 0; c < 3; ++c) {
    lo[c] = INFINITY;
    hi[c] = -INFINITY;
  }
  for (int k = 0; k < s->count; ++k) {
    const double *const p = s->part[k], wide = p[6] + 0.25 * s->blend * s->count;
    double axis[3];
    vec3_sub(p + 3, p, axis);
    for (int c = 0; c < 3; ++c) {
      lo[c] = fmin(lo[c], fmin(p[c], p[c + 3]) - wide);
      hi[c] = fmax(hi[c], fmax(p[c], p[c + 3]) + wide);
    }
    const double r = p[6] + 0.5 * cell;
    *verts += 2 * pi * r * r * (vec3_norm(axis) + 4.0 / 3 * r) / (cell * cell * cell);
  }
}

static double least_radius(const blob *s)
{
  double least = s->part[0][6];
  for (int k = 1; k < s->count; ++k) least = fmin(least, s->part[k][6]);
  return least;
}

/* Points of the lattice inside a thin part all move onto its surface where it lies badly; then it
 * is lost.  Measured on 200 bars of any direction and place: below this radius (cells) some lose
 * half of their volume, at it none keeps less than 0.62. */
static const double thin = 0.75;

static loom_status warn_of_thin_parts(builder *b, const object *o, const blob *s, double cell)
{
  int first = -1, count = 0;
  for (int k = 0; k < s->count; ++k) {
    if (s->part[k][6] >= thin * cell) continue;
    if (count++ == 0) first = k;
  }
  if (count == 0) return LOOM_OK;
  return build_warn(
      b,
      "%s: part %d and %d more have a radius below %g cells of %g m: they may be lost; "
      "lower cell",
      o->label, first, count - 1, thin, cell);
}

loom_status build_blob(builder *b, object *o)
{
  blob s = {.blend = o->solid.blend};
  double place[12], scale = 1, lo[3], hi[3], verts;
  loom_status st = placement_transform(b->err, o->common->transform, place, &scale);
  if (st != LOOM_OK) return build_place(b, o->sec, "transform", st);
  st = read_parts(b->err, o->solid.parts, &s);
  if (st != LOOM_OK) return build_place(b, o->sec, "parts", st);
  const double edge = o->solid.cell > 0 ? o->solid.cell / scale : least_radius(&s);
  const double cell = edge / (double)b->detail;
  measure_parts(&s, cell, lo, hi, &verts);
  LOOM_TRY(build_check_room(b, o->sec, "cell", &(scene_counts){.verts = verts}));
  LOOM_TRY(warn_of_thin_parts(b, o, &s, cell));
  st = mesh_stuff(b->err, blob_sign, &s, lo, hi, cell, &o->m);
  return st == LOOM_OK ? LOOM_OK : build_place(b, o->sec, "cell", st);
}
