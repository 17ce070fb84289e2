/* pins.c - held vertices: which they are, how they move, and the rows of `fixed`. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/words.h"
#include "geom/pose.h"
#include "scene/base/build.h"
#include "scene/moving/moving.h"

enum { LOW = 1, HIGH = 2, ANY_END = 3 };

/* Sides of a lattice by name.  Sheets have left-right (i) and bottom-top (j), blocks
 * left-right (x), front-back (y) and bottom-top (z). */
static const struct {
  const char *name;
  unsigned char across, depth, up; /* which ends; depth: blocks only */
} sides[] = {{"left", LOW, 0, 0},
             {"right", HIGH, 0, 0},
             {"front", 0, LOW, 0},
             {"back", 0, HIGH, 0},
             {"bottom", 0, 0, LOW},
             {"top", 0, 0, HIGH},
             {"bottom_left", LOW, 0, LOW},
             {"bottom_right", HIGH, 0, LOW},
             {"top_left", LOW, 0, HIGH},
             {"top_right", HIGH, 0, HIGH},
             {"corners", ANY_END, ANY_END, ANY_END}};
enum { NUM_SIDES = sizeof sides / sizeof *sides };

static int at_end(int32_t i, int32_t n, unsigned char ends)
{
  return ends == 0 || ((ends & LOW) && i == 0) || ((ends & HIGH) && i == n - 1);
}

/* Sides of a knitted piece by the rows and columns of its loops; a tube has no left and right. */
static int select_loops(const object *o, int side, unsigned char *mark)
{
  const yarn_set *y = &o->yarns;
  const unsigned char across = sides[side].across, up = sides[side].up;
  const int tube = o->kind == OBJECT_YARN && o->yarn.pattern == YARN_TUBE;
  if (o->kind != OBJECT_YARN || y->rows == 0 || (tube && across) ||
      (sides[side].depth && sides[side].depth != ANY_END))
    return 0;
  for (int64_t v = 0; v < o->m.num_verts; ++v)
    if (at_end(y->loop[2 * v + 1], y->loops, across) && at_end(y->loop[2 * v], y->rows, up))
      mark[v] = 1;
  return 1;
}

static loom_status select_side(loom_err *err, const object *o, int side, unsigned char *mark)
{
  const int32_t *n = o->m.lattice;
  const int block = n[2] > 1;
  const unsigned char across = sides[side].across, up = sides[side].up;
  if (select_loops(o, side, mark)) return LOOM_OK;
  const unsigned char depth = block || sides[side].depth != ANY_END ? sides[side].depth : 0;
  if (n[0] == 0 || (o->m.closed_x && across) || (!block && depth))
    return err_set(err, LOOM_E_CONFIG,
                   "this shape has no \"%s\"; give vertex ids, boundary, or box X0 Y0 Z0 X1 Y1 Z1",
                   sides[side].name);
  for (int32_t v = 0; v < o->m.num_verts; ++v) {
    const int32_t i = v % n[0], j = v / n[0] % n[1], k = v / n[0] / n[1];
    if (at_end(i, n[0], across) && at_end(block ? k : j, block ? n[2] : n[1], up) &&
        (!block || at_end(j, n[1], depth)))
      mark[v] = 1;
  }
  return LOOM_OK;
}

static loom_status select_box(loom_err *err, const object *o, words *w, unsigned char *mark)
{
  double box[6];
  for (int k = 0; k < 6; ++k)
    if (!words_real(w, &box[k]))
      return err_set(err, LOOM_E_CONFIG, "box takes six numbers X0 Y0 Z0 X1 Y1 Z1 (m)");
  int64_t found = 0;
  for (int32_t v = 0; v < o->m.num_verts; ++v) {
    double x[3];
    int in = 1;
    pose_apply(o->place, o->m.x + 3 * (int64_t)v, x);
    for (int c = 0; c < 3; ++c)
      in = in && x[c] >= fmin(box[c], box[3 + c]) && x[c] <= fmax(box[c], box[3 + c]);
    if (in) mark[v] = 1;
    found += in;
  }
  if (found == 0)
    return err_set(err, LOOM_E_CONFIG, "the box %g %g %g to %g %g %g m holds no vertex of %s",
                   box[0], box[1], box[2], box[3], box[4], box[5], o->label);
  return LOOM_OK;
}

static void select_boundary(const object *o, unsigned char *mark)
{
  for (int64_t e = 0; e < o->tp.num_edges; ++e)
    if (o->tp.first[e + 1] - o->tp.first[e] == 1)
      mark[o->tp.edges[2 * e]] = mark[o->tp.edges[2 * e + 1]] = 1;
}

static loom_status select_word(loom_err *err, const object *o, words *w, unsigned char *mark)
{
  const char *names[NUM_SIDES + 3];
  if (strcmp(w->word, "box") == 0) return select_box(err, o, w, mark);
  if (strcmp(w->word, "boundary") == 0) {
    select_boundary(o, mark);
    return LOOM_OK;
  }
  for (int k = 0; k < NUM_SIDES; ++k) {
    if (strcmp(w->word, sides[k].name) == 0) return select_side(err, o, k, mark);
    names[k] = sides[k].name;
  }
  names[NUM_SIDES] = "boundary";
  names[NUM_SIDES + 1] = "none";
  names[NUM_SIDES + 2] = "box";
  const char *near = err_nearest(w->word, names, NUM_SIDES + 3);
  return err_set(err, LOOM_E_CONFIG,
                 "\"%s\" names no vertices%s%s%s; give ids, corners, left, right, bottom, top, "
                 "boundary, box ... or none",
                 w->word, near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

loom_status build_select_verts(builder *b, const object *o, const char *text, unsigned char *mark)
{
  words w;
  int told = b->detail == 1 || o->m.lattice[0] == 0;
  words_start(&w, text);
  while (!words_at_end(&w)) {
    int64_t id;
    if (!words_int(&w, &id)) {
      words_next(&w);
      LOOM_TRY(select_word(b->err, o, &w, mark));
      continue;
    }
    const int32_t named = o->merged != NULL ? o->num_named : o->m.num_verts;
    if (id < 0 || id >= named)
      return err_set(b->err, LOOM_E_CONFIG, "vertex %lld does not exist; %s has 0 to %d",
                     (long long)id, o->label, named - 1);
    if (o->merged != NULL) id = o->merged[id];
    if (mark[id])
      doctor_add(&b->doc, DOCTOR_PINNED_TWICE, (const int32_t[4]){(int32_t)id, -1, -1, -1},
                 "%s: vertex %d is named twice in \"%.60s\"; name it once", o->label, (int32_t)id,
                 text);
    mark[id] = 1;
    if (!told)
      LOOM_TRY(build_note(b,
                          "%s: vertex ids of its pins count in the mesh of detail %lld; names "
                          "and boxes hold the same place at every detail",
                          o->label, (long long)b->detail));
    told = 1;
  }
  return LOOM_OK;
}

/* 1: an earlier pin holds the vertex at a time at which g holds it, too. */
static int held_beside(const builder *b, const pin_group *g, int32_t vert)
{
  for (const pin_group *p = b->s->motion->groups; p < g; ++p) {
    if (p->until <= g->from || g->until <= p->from) continue;
    for (int32_t k = 0; k < p->count; ++k)
      if (p->verts[k] == vert) return 1;
  }
  return 0;
}

static loom_status fill_group(builder *b, object *o, const unsigned char *mark, pin_group *g)
{
  int64_t count = 0;
  for (int32_t v = 0; v < o->m.num_verts; ++v) count += mark[v];
  if (count == 0) return err_set(b->err, LOOM_E_CONFIG, "names no vertex; write none");
  LOOM_TRY(mesh_alloc(b->err, count, sizeof *g->verts, &g->verts));
  LOOM_TRY(mesh_alloc(b->err, 3 * count, sizeof *g->x, &g->x));
  LOOM_TRY(mesh_alloc(b->err, 3 * count, sizeof *g->at, &g->at));
  for (int32_t v = 0; v < o->m.num_verts; ++v) {
    if (!mark[v]) continue;
    if (o->pinned[v] && held_beside(b, g, o->first_vert + v))
      doctor_add(&b->doc, DOCTOR_PINNED_TWICE, (const int32_t[4]){v, -1, -1, -1},
                 "%s: vertex %d is held by two pins at one time; take it out of one", o->label, v);
    o->pinned[v] |=
        (unsigned char)(g->from > 0                ? PIN_EVER
                        : g->until >= PIN_FOR_EVER ? PIN_EVER | PIN_AT_START | PIN_ALWAYS
                                                   : PIN_EVER | PIN_AT_START);
    pose_apply(o->place, o->m.x + 3 * (int64_t)v, g->x + 3 * (int64_t)g->count);
    g->verts[g->count++] = o->first_vert + v;
  }
  return LOOM_OK;
}

typedef struct pin_keys { /* where messages point */
  const cfg_section *sec;
  const char *where, *motion;
} pin_keys;

static loom_status add_group(builder *b, object *o, const pin_settings *p, const pin_keys *keys)
{
  words w;
  unsigned char *mark;
  scene_motion *sm = b->s->motion;
  words_start(&w, p->where);
  if (!words_next(&w) || (strcmp(w.word, "none") == 0 && words_at_end(&w))) {
    motion unused;
    const loom_status st = motion_parse(b->err, p->motion, p->keyframes, p->keyframe_file,
                                        (const double[3]){0, 0, 0}, &unused);
    motion_free(&unused);
    return st == LOOM_OK ? LOOM_OK : build_place(b, keys->sec, keys->motion, st);
  }
  pin_group *g = &sm->groups[sm->num_groups++];
  g->stiffness = p->stiffness;
  g->from = p->hold_from;
  g->until = p->hold_until > 0 ? p->hold_until : PIN_FOR_EVER;
  g->held = !(g->from > 0);
  g->sec = p->body != NULL && p->body[0] != '\0' ? keys->sec : NULL;
  snprintf(g->label, sizeof g->label, "[%.100s]%s", cfg_section_name(keys->sec),
           strcmp(keys->where, "pins") == 0 ? " pins" : "");
  LOOM_TRY(mesh_alloc(b->err, o->m.num_verts, 1, &mark));
  loom_status st = build_select_verts(b, o, p->where, mark);
  if (st == LOOM_OK) st = fill_group(b, o, mark, g);
  free(mark);
  if (st != LOOM_OK) return build_place(b, keys->sec, keys->where, st);

  double pivot[3] = {0, 0, 0}, T[12], moved[3], far_off = 0;
  for (int32_t k = 0; k < g->count; ++k)
    for (int c = 0; c < 3; ++c) pivot[c] += g->x[3 * (int64_t)k + c] / g->count;
  st = motion_parse(b->err, p->motion, p->keyframes, p->keyframe_file, pivot, &g->move);
  if (st != LOOM_OK) return build_place(b, keys->sec, keys->motion, st);
  motion_at(&g->move, 0, T);
  for (int32_t k = 0; k < g->count; ++k) {
    pose_apply(T, g->x + 3 * (int64_t)k, moved);
    for (int c = 0; c < 3; ++c) far_off = fmax(far_off, fabs(moved[c] - g->x[3 * (int64_t)k + c]));
  }
  if (far_off > 1e-9)
    st = err_set(b->err, LOOM_E_CONFIG,
                 "at time 0 the pins would be %g m from where the mesh has them; begin the "
                 "keyframes with 0 0 0 0 0 0 1 0",
                 far_off);
  return st == LOOM_OK ? LOOM_OK : build_place(b, keys->sec, keys->motion, st);
}

static loom_status pin_section(builder *b, const cfg_section *sec)
{
  pin_settings p;
  uint32_t count;
  const char **names;
  const loom_param *params = scene_params("pin", &count);
  const pin_keys keys = {sec, "where", "motion"};
  LOOM_TRY(cfg_bind(b->err, sec, params, count, &p));
  LOOM_TRY(build_check_effects(b, sec, "pin", &p));
  if (p.body[0] != '\0' && strcmp(p.motion, "hold") != 0)
    return build_place(
        b, sec, "body",
        err_set(b->err, LOOM_E_CONFIG, "motion is given, too; pins move by one of them"));
  if (p.hold_until > 0 && !(p.hold_until > p.hold_from))
    return build_place(b, sec, "hold_until",
                       err_set(b->err, LOOM_E_CONFIG,
                               "%g s: must be above hold_from, %g s, or 0 for never", p.hold_until,
                               p.hold_from));
  for (int k = 0; k < b->num_objects; ++k)
    if (strcmp(b->objects[k].name, p.object) == 0) return add_group(b, &b->objects[k], &p, &keys);
  LOOM_TRY(mesh_alloc(b->err, b->num_objects, sizeof *names, &names));
  for (int k = 0; k < b->num_objects; ++k) names[k] = b->objects[k].name;
  char list[600];
  err_names(list, sizeof list, p.object, names, b->num_objects);
  free(names);
  return build_place(b, sec, "object",
                     err_set(b->err, LOOM_E_CONFIG,
                             "there is no cloth or solid named \"%s\"; there is %s", p.object,
                             list));
}

loom_status build_pins(builder *b)
{
  int count = b->num_objects;
  unsigned char *fixed;
  for (const cfg_section *s = NULL; (s = cfg_next(b->c, "pin", s)) != NULL;) ++count;
  LOOM_TRY(mesh_alloc(b->err, count, sizeof *b->s->motion->groups, &b->s->motion->groups));
  for (int k = 0; k < b->num_objects; ++k) {
    object *o = &b->objects[k];
    const pin_settings p = {.where = o->common->pins,
                            .motion = o->common->pin_motion,
                            .stiffness = o->common->pin_stiffness};
    LOOM_TRY(add_group(b, o, &p, &(const pin_keys){o->sec, "pins", "pin_motion"}));
  }
  for (const cfg_section *s = NULL; (s = cfg_next(b->c, "pin", s)) != NULL;)
    LOOM_TRY(pin_section(b, s));
  LOOM_TRY(doctor_verdict(b->err, &b->doc));
  LOOM_TRY(build_map(b, b->s->pub.fixed, &fixed));
  memset(fixed, 0, (size_t)b->s->pub.num_verts);
  for (int32_t g = 0; g < b->s->motion->num_groups; ++g) {
    const pin_group *p = &b->s->motion->groups[g];
    for (int32_t k = 0; k < p->count && p->stiffness == 0 && p->held; ++k) fixed[p->verts[k]] = 1;
  }
  return buf_unmap(b->s->m, b->s->pub.fixed);
}
