/* imperfection.c - waves out of the plane that break the symmetry of a sheet.
 *
 * A flat, symmetric sheet that is pushed together sits on a saddle: which method leaves it first is
 * luck.  As in the analysis of buckling the shape gets a small imperfection (W. T. Koiter, On the
 * stability of elastic equilibrium, thesis, Delft 1945): a sum of plane waves of random direction
 * and phase along the normals.  Waves are lengths, not vertices, so that every resolution of a
 * sheet gets the same ones. */
#include <math.h>
#include <stdlib.h>

#include "mesh/mesh.h"
#include "scene/base/build.h"

enum { WAVES = 12 };
/* wave lengths, as shares of the sheet's extent */
static const double longest = 1.0, shortest = 0.125;

typedef struct wave {
  double k[3]; /* 1/m, wave number times direction */
  double phase;
} wave;

/* splitmix64 (Steele, Lea, Flood, Fast splittable pseudorandom number generators, OOPSLA 2014) */
static double draw_uniform(uint64_t *state)
{
  uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  z ^= z >> 31;
  return (double)(z >> 11) * 0x1p-53;
}

static void make_waves(int64_t seed, double extent, wave w[WAVES])
{
  const double pi = 3.14159265358979323846;
  uint64_t state = (uint64_t)seed;
  for (int i = 0; i < WAVES; ++i) {
    const double length = extent * longest * pow(shortest / longest, draw_uniform(&state));
    const double z = 2.0 * draw_uniform(&state) - 1.0, turn = 2.0 * pi * draw_uniform(&state);
    const double flat = sqrt(1.0 - z * z), number = 2.0 * pi / length;
    w[i] = (wave){.k = {number * flat * cos(turn), number * flat * sin(turn), number * z},
                  .phase = 2.0 * pi * draw_uniform(&state)};
  }
}

static double wave_height(const wave w[WAVES], const double *x)
{
  double sum = 0.0;
  for (int i = 0; i < WAVES; ++i)
    sum += cos(w[i].k[0] * x[0] + w[i].k[1] * x[1] + w[i].k[2] * x[2] + w[i].phase);
  return sum;
}

/* normal [n][3]: of the triangles around each vertex, weighted by their areas; zero without any */
static void vertex_normals(const mesh *m, double *normal)
{
  for (int64_t t = 0; t < m->num_tris; ++t) {
    const int32_t *const v = m->tris + 3 * t;
    double e[2][3];
    for (int k = 0; k < 2; ++k)
      for (int c = 0; c < 3; ++c)
        e[k][c] = m->x[3 * (int64_t)v[k + 1] + c] - m->x[3 * (int64_t)v[0] + c];
    const double n[3] = {e[0][1] * e[1][2] - e[0][2] * e[1][1],
                         e[0][2] * e[1][0] - e[0][0] * e[1][2],
                         e[0][0] * e[1][1] - e[0][1] * e[1][0]};
    for (int a = 0; a < 3; ++a)
      for (int c = 0; c < 3; ++c) normal[3 * (int64_t)v[a] + c] += n[c];
  }
  for (int32_t i = 0; i < m->num_verts; ++i) {
    double *const n = normal + 3 * (int64_t)i;
    const double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int c = 0; c < 3 && length > 0.0; ++c) n[c] /= length;
  }
}

static double extent_of(const mesh *m)
{
  double sum = 0.0;
  for (int c = 0; c < 3; ++c) {
    double low = INFINITY, high = -INFINITY;
    for (int32_t i = 0; i < m->num_verts; ++i) {
      low = fmin(low, m->x[3 * (int64_t)i + c]);
      high = fmax(high, m->x[3 * (int64_t)i + c]);
    }
    sum += (high - low) * (high - low);
  }
  return sqrt(sum);
}

loom_status build_imperfection(builder *b, object *o)
{
  const double size = o->cloth.imperfection, extent = extent_of(&o->m);
  wave w[WAVES];
  double *normal, *h, sum = 0.0;
  if (!(size > 0.0) || !(extent > 0.0)) return LOOM_OK;
  LOOM_TRY(mesh_alloc(b->err, 4 * (int64_t)o->m.num_verts, sizeof *normal, &normal));
  h = normal + 3 * (int64_t)o->m.num_verts;
  vertex_normals(&o->m, normal);
  make_waves(o->cloth.imperfection_seed, extent, w);
  for (int32_t i = 0; i < o->m.num_verts; ++i) {
    h[i] = wave_height(w, o->m.x + 3 * (int64_t)i);
    sum += h[i] * h[i];
  }
  const double scale = sum > 0.0 ? size / sqrt(sum / (double)o->m.num_verts) : 0.0;
  for (int64_t k = 0; k < 3 * (int64_t)o->m.num_verts; ++k)
    o->m.x[k] += scale * h[k / 3] * normal[k];
  free(normal);
  return LOOM_OK;
}
