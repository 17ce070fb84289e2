/* pressure.c - see pressure.h. */
#include "scene/objects/pressure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "geom/vec3.h"
#include "scene/base/build.h"

typedef struct pressure_load {
  pressure_settings set; /* its texts are gone with the config */
  char section[128];     /* "pressure.air" */
  int64_t first, num;    /* triangles in `corner` */
  double turn;           /* -1: the triangles of a closed mesh face inwards; else 1 */
  double volume;         /* m^3, V0 */
} pressure_load;

struct scene_pressure {
  int32_t num;
  pressure_load *loads; /* [num] */
  int32_t *corner;      /* [triangles of all loads][3] vertices */
  double *force;        /* [n][3], N, of the present step */
  double *slope;        /* [n][3], m^2, dV/dx of one load */
};

void pressure_free(scene_pressure *p)
{
  if (p == NULL) return;
  free(p->loads);
  free(p->corner);
  free(p->force);
  free(p->slope);
  free(p);
}

/* ---- the force ---- */

/* Signed volume (m^3) of the load's triangles with an origin among them, and its derivative, a
 * third of A n at each corner, in p->slope, of the load's vertices alone. */
static double find_volume(const scene_pressure *p, const pressure_load *load, const loom_real *x)
{
  const int32_t *const tri = p->corner + 3 * load->first;
  const loom_real *const origin = x + 3 * (int64_t)tri[0];
  double six = 0;
  for (int64_t k = 0; k < 3 * load->num; ++k)
    memset(p->slope + 3 * (int64_t)tri[k], 0, 3 * sizeof *p->slope);
  for (int64_t k = 0; k < load->num; ++k) {
    double at[3][3], e[3], f[3], n[3];
    for (int a = 0; a < 3; ++a)
      for (int c = 0; c < 3; ++c)
        at[a][c] = (double)x[3 * (int64_t)tri[3 * k + a] + c] - (double)origin[c];
    vec3_sub(at[1], at[0], e);
    vec3_sub(at[2], at[0], f);
    vec3_cross(e, f, n);
    six += vec3_dot(at[0], n);
    for (int a = 0; a < 3; ++a)
      for (int c = 0; c < 3; ++c) p->slope[3 * (int64_t)tri[3 * k + a] + c] += n[c] / 6;
  }
  return load->turn * six / 6;
}

/* Pa, at time t (s) in the volume V (m^3) */
static double find_pressure(const pressure_load *load, double t, double volume)
{
  const pressure_settings *const k = &load->set;
  const double share = k->rise > 0 && t < k->rise ? t / k->rise : 1;
  if (k->law == PRESSURE_CONSTANT) return share * k->pressure;
  return (share * k->pressure + k->outside) * load->volume / volume - k->outside;
}

loom_status pressure_push(const scene_data *s, loom_err *err, const load_step *step)
{
  const scene_pressure *const p = s->pressure;
  const int32_t n = s->pub.num_verts;
  memset(p->force, 0, 3 * (size_t)n * sizeof *p->force);
  for (int32_t i = 0; i < p->num; ++i) {
    const pressure_load *const load = &p->loads[i];
    const double volume = find_volume(p, load, step->x);
    if (load->set.law == PRESSURE_GAS && !(volume > 0))
      return err_set(err, LOOM_E_NUMERIC,
                     "[%s]: at %g s the mesh encloses no volume any more (%.3g m^3); try a smaller "
                     "dt, or rise above 0",
                     load->section, step->t, volume);
    const double push = load->turn * find_pressure(load, step->t, volume);
    const int32_t *const tri = p->corner + 3 * load->first;
    for (int64_t k = 0; k < 3 * load->num; ++k)
      for (int c = 0; c < 3; ++c) {
        double *const slope = &p->slope[3 * (int64_t)tri[k] + c];
        p->force[3 * (int64_t)tri[k] + c] += push * *slope;
        *slope = 0; /* each vertex once */
      }
  }
  load_move(step, n, p->force);
  return LOOM_OK;
}

const double *pressure_force(const scene_data *s) { return s->pressure->force; }

double pressure_fastest(const scene_data *s, const loom_real *x, const loom_real *mass,
                        const uint8_t *fixed, const char **section)
{
  const scene_pressure *const p = s->pressure;
  double most = 0;
  for (int32_t i = 0; p != NULL && i < p->num; ++i) {
    const pressure_load *const load = &p->loads[i];
    const int32_t *const tri = p->corner + 3 * load->first;
    double sum = 0;
    if (load->set.law != PRESSURE_GAS) continue;
    const double volume = find_volume(p, load, x);
    for (int64_t k = 0; k < 3 * load->num; ++k) {
      double *const slope = p->slope + 3 * (int64_t)tri[k];
      if (!fixed[tri[k]]) sum += vec3_dot(slope, slope) / (double)mass[tri[k]];
      memset(slope, 0, 3 * sizeof *slope);
    }
    const double w2 =
        (load->set.pressure + load->set.outside) * load->volume / (volume * volume) * sum;
    if (!(w2 > most)) continue;
    most = w2;
    *section = load->section;
  }
  return sqrt(most);
}

/* ---- keys ---- */

/* The first edge that ends a mesh, or at which two triangles face different ways. */
static void find_flaw(const object *o, int64_t *end, int64_t *twist)
{
  *end = *twist = -1;
  for (int64_t e = 0; e < o->tp.num_edges; ++e) {
    const int64_t at = o->tp.first[e];
    int32_t from[2], to[2], top;
    if (o->tp.first[e + 1] - at != 2) {
      if (*end < 0) *end = e;
      continue;
    }
    for (int k = 0; k < 2; ++k) topo_side(o->m.tris, o->tp.sides[at + k], &from[k], &to[k], &top);
    if (*twist < 0 && from[0] != to[1]) *twist = e;
  }
}

/* *open: the mesh has edges with one triangle. */
static loom_status check_shell(builder *b, const object *o, const pressure_settings *set, int *open)
{
  int64_t end, twist;
  find_flaw(o, &end, &twist);
  *open = end >= 0;
  if (twist >= 0)
    return err_set(b->err, LOOM_E_CONFIG,
                   "%s: triangles at the edge of vertices %d and %d face different ways; set "
                   "repair = orientation in [cloth.%s]",
                   o->label, o->tp.edges[2 * twist], o->tp.edges[2 * twist + 1], o->name);
  if (*open && set->law == PRESSURE_GAS)
    return err_set(b->err, LOOM_E_CONFIG,
                   "%s is open, the edge of vertices %d and %d has one triangle: it encloses no "
                   "gas; sew it (sewing = merge), or take law = constant",
                   o->label, o->tp.edges[2 * end], o->tp.edges[2 * end + 1]);
  return LOOM_OK;
}

static double find_start_volume(const object *o)
{
  const double *const origin = o->m.x;
  double six = 0;
  for (int64_t t = 0; t < o->m.num_tris; ++t) {
    double at[3][3], n[3];
    for (int a = 0; a < 3; ++a) vec3_sub(o->m.x + 3 * (int64_t)o->m.tris[3 * t + a], origin, at[a]);
    vec3_cross(at[1], at[2], n);
    six += vec3_dot(at[0], n);
  }
  return six / 6;
}

/* The load on object o; its triangles follow those of the loads before it. */
static loom_status open_load(builder *b, const object *o, pressure_load *load)
{
  scene_pressure *const p = b->s->pressure;
  int open;
  LOOM_TRY(check_shell(b, o, &load->set, &open));
  const double volume = open ? 0 : find_start_volume(o);
  load->turn = volume < 0 ? -1 : 1;
  load->volume = load->set.volume > 0 ? load->set.volume : fabs(volume);
  if (load->set.law == PRESSURE_GAS && !(fabs(volume) > 0))
    return err_set(b->err, LOOM_E_CONFIG,
                   "%s encloses no volume at the start; begin with its layers apart", o->label);
  load->num = o->m.num_tris;
  for (int64_t k = 0; k < 3 * load->num; ++k)
    p->corner[3 * load->first + k] = o->first_vert + o->m.tris[k];
  return LOOM_OK;
}

/* NULL: there is none, and b->err says so. */
static const object *find_cloth(builder *b, const cfg_section *sec, const char *name)
{
  const char *names[16] = {NULL};
  const object *found = NULL;
  int num = 0;
  for (int k = 0; k < b->num_objects; ++k) {
    const object *const o = &b->objects[k];
    if (o->kind != OBJECT_CLOTH) continue;
    if (strcmp(o->name, name) == 0) found = o;
    if (num < 16) names[num++] = o->name;
  }
  if (found != NULL) return found;
  char list[600];
  err_names(list, sizeof list, name, names, num);
  (void)build_place(b, sec, "object",
                    err_set(b->err, LOOM_E_CONFIG,
                            "there is no cloth named \"%s\"; %s%s; pressure acts on cloth, not on "
                            "solids and yarns",
                            name, num > 0 ? "there is " : "there is none at all", list));
  return NULL;
}

static loom_status read_load(builder *b, const cfg_section *sec, int64_t *num)
{
  scene_pressure *const p = b->s->pressure;
  pressure_load *const load = &p->loads[p->num];
  uint32_t count;
  const loom_param *const params = scene_params("pressure", &count);
  LOOM_TRY(cfg_bind(b->err, sec, params, count, &load->set));
  LOOM_TRY(build_check_effects(b, sec, "pressure", &load->set));
  const object *const o = find_cloth(b, sec, load->set.object);
  if (o == NULL) return b->err->code;
  snprintf(load->section, sizeof load->section, "%s", cfg_section_name(sec));
  load->first = *num;
  const loom_status s = open_load(b, o, load);
  if (s != LOOM_OK) return build_place(b, sec, "object", s);
  *num += load->num;
  ++p->num;
  load->set.object = NULL;
  return LOOM_OK;
}

loom_status build_pressure(builder *b)
{
  scene_data *const s = b->s;
  int64_t loads = 0, tris = 0, num = 0;
  for (const cfg_section *c = NULL; (c = cfg_next(b->c, "pressure", c)) != NULL;) ++loads;
  if (loads == 0) return LOOM_OK;
  for (int k = 0; k < b->num_objects; ++k) tris += b->objects[k].m.num_tris;
  LOOM_TRY(mesh_alloc(b->err, 1, sizeof *s->pressure, &s->pressure));
  scene_pressure *const p = s->pressure;
  LOOM_TRY(mesh_alloc(b->err, loads, sizeof *p->loads, &p->loads));
  LOOM_TRY(mesh_alloc(b->err, 3 * loads * tris, sizeof *p->corner, &p->corner));
  LOOM_TRY(mesh_alloc(b->err, 3 * (int64_t)s->pub.num_verts, sizeof *p->force, &p->force));
  LOOM_TRY(mesh_alloc(b->err, 3 * (int64_t)s->pub.num_verts, sizeof *p->slope, &p->slope));
  for (const cfg_section *c = NULL; (c = cfg_next(b->c, "pressure", c)) != NULL;)
    LOOM_TRY(read_load(b, c, &num));
  return LOOM_OK;
}
