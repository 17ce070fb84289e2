/* wind.c - see wind.h. */
#include "scene/objects/wind.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scene/base/build.h"

struct scene_wind {
  wind_settings set;
  double gust_direction[3]; /* unit vector of `velocity`, along which gusts travel */
  int32_t num;              /* triangles of cloth */
  int32_t *corner;          /* [num][3] vertices */
  double *mass;             /* [num], kg */
  double *force;            /* [n][3], N, of the present step */
};

void wind_free(scene_wind *w)
{
  if (w == NULL) return;
  free(w->corner);
  free(w->mass);
  free(w->force);
  free(w);
}

/* ---- the force ---- */

void wind_velocity(const scene_wind *w, const double x[3], double t, double out[3])
{
  static const double turn = 2 * 3.14159265358979323846;
  const wind_settings *const k = &w->set;
  const double *const e = w->gust_direction;
  double phase = t / k->gust_period, share = 1;
  if (k->gust_length > 0) phase -= (e[0] * x[0] + e[1] * x[1] + e[2] * x[2]) / k->gust_length;
  if (k->gust > 0) share += k->gust * sin(turn * phase);
  for (int c = 0; c < 3; ++c) out[c] = share * k->velocity[c];
}

/* F of a triangle at x [3][3] (m) with mean velocities v (start) and ahead (v*), m/s. */
static void force_of_triangle(const scene_wind *w, const load_step *s, const double x[9],
                              const double v[3], const double ahead[3], double mass, double F[3])
{
  double centre[3], air[3], n[3], e[3], f[3], speed = 0, along = 0;
  for (int c = 0; c < 3; ++c) {
    centre[c] = (x[c] + x[3 + c] + x[6 + c]) / 3;
    e[c] = x[3 + c] - x[c];
    f[c] = x[6 + c] - x[c];
    F[c] = 0;
  }
  wind_velocity(w, centre, s->t, air);
  for (int c = 0; c < 3; ++c) {
    const int a = (c + 1) % 3, b = (c + 2) % 3;
    n[c] = e[a] * f[b] - e[b] * f[a];
    speed += (air[c] - v[c]) * (air[c] - v[c]);
  }
  const double len = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
  if (!(len > 0)) return;
  const double q = 0.5 * w->set.density * 0.5 * len * sqrt(speed); /* kg/s */
  const double cn = q * w->set.normal, ct = q * w->set.tangential;
  for (int c = 0; c < 3; ++c) along += (air[c] - ahead[c]) * n[c] / len;
  for (int c = 0; c < 3; ++c) {
    const double normal = along * n[c] / len, rest = air[c] - ahead[c] - normal;
    F[c] = cn / (1 + s->h * cn / mass) * normal + ct / (1 + s->h * ct / mass) * rest;
  }
}

void wind_push(const scene_data *s, const load_step *step)
{
  const scene_wind *const w = s->wind;
  const int32_t n = s->pub.num_verts;
  memset(w->force, 0, 3 * (size_t)n * sizeof *w->force);
  for (int32_t k = 0; k < w->num; ++k) {
    const int32_t *const at = w->corner + 3 * (int64_t)k;
    double x[9], v[3] = {0, 0, 0}, ahead[3] = {0, 0, 0}, F[3];
    for (int a = 0; a < 3; ++a)
      for (int c = 0; c < 3; ++c) {
        const int64_t i = 3 * (int64_t)at[a] + c;
        x[3 * a + c] = (double)step->x[i];
        v[c] += (double)step->v[i] / 3;
        ahead[c] += ((double)step->y[i] - (double)step->x[i]) / step->h / 3;
      }
    force_of_triangle(w, step, x, v, ahead, w->mass[k], F);
    for (int a = 0; a < 3; ++a)
      for (int c = 0; c < 3; ++c) w->force[3 * (int64_t)at[a] + c] += F[c] / 3;
  }
  load_move(step, n, w->force);
}

const double *wind_force(const scene_data *s) { return s->wind->force; }

/* ---- keys ---- */

static loom_status list_wind_triangles(builder *b, scene_wind *w)
{
  int64_t num = 0;
  for (int k = 0; k < b->num_objects; ++k)
    if (b->objects[k].kind == OBJECT_CLOTH) num += b->objects[k].m.num_tris;
  LOOM_TRY(mesh_alloc(b->err, 3 * num, sizeof *w->corner, &w->corner));
  LOOM_TRY(mesh_alloc(b->err, num, sizeof *w->mass, &w->mass));
  LOOM_TRY(mesh_alloc(b->err, 3 * (int64_t)b->s->pub.num_verts, sizeof *w->force, &w->force));
  for (int k = 0; k < b->num_objects; ++k) {
    const object *const o = &b->objects[k];
    for (int64_t t = 0; t < o->m.num_tris && o->kind == OBJECT_CLOTH; ++t, ++w->num) {
      for (int a = 0; a < 3; ++a)
        w->corner[3 * (int64_t)w->num + a] = o->first_vert + o->m.tris[3 * t + a];
      w->mass[w->num] = build_density(o, t) * build_rest_area(o, t);
    }
  }
  return LOOM_OK;
}

loom_status build_wind(builder *b)
{
  const cfg_section *const sec = cfg_find(b->c, "wind");
  uint32_t count;
  const loom_param *const params = scene_params("wind", &count);
  if (sec == NULL) return LOOM_OK;
  LOOM_TRY(mesh_alloc(b->err, 1, sizeof *b->s->wind, &b->s->wind));
  scene_wind *const w = b->s->wind;
  LOOM_TRY(cfg_bind(b->err, sec, params, count, &w->set));
  LOOM_TRY(build_check_effects(b, sec, "wind", &w->set));
  const double *const v = w->set.velocity;
  const double speed = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  for (int c = 0; c < 3 && speed > 0; ++c) w->gust_direction[c] = v[c] / speed;
  LOOM_TRY(list_wind_triangles(b, w));
  if (w->num > 0) return LOOM_OK;
  return build_place(b, sec, NULL,
                     err_set(b->err, LOOM_E_CONFIG,
                             "there is no cloth; wind acts on cloth, not on solids and yarns"));
}
