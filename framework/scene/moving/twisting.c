/* twisting.c - see twisting.h. */
#include "scene/moving/twisting.h"

#include <stdlib.h>
#include <string.h>

#include "config/words.h"
#include "elements/rod.h"
#include "scene/base/build.h"

static const double degree = 3.14159265358979323846 / 180;

typedef struct imposed { /* one section */
  double turn;           /* rad */
  double from, until;    /* s */
  double step;           /* rad, of the present step */
  int cut;               /* 1: rows of slip, 0: rows of held and turn */
  int32_t num;
  int64_t *row; /* [num] */
} imposed;

struct scene_twisting {
  rod_clamps clamps;
  int32_t num;
  imposed *list; /* [num] */
};

void twisting_free(scene_data *s)
{
  scene_twisting *const w = s->twisting;
  if (w == NULL) return;
  buf_free(s->m, w->clamps.held);
  buf_free(s->m, w->clamps.turn);
  buf_free(s->m, w->clamps.slip);
  for (int32_t k = 0; k < w->num; ++k) free(w->list[k].row);
  free(w->list);
  free(w);
  s->twisting = NULL;
}

/* ---- in time ---- */

/* rad, at time t (s) */
static double imposed_angle(const imposed *p, double t)
{
  if (t >= p->until) return p->turn;
  return t <= p->from ? 0 : p->turn * (t - p->from) / (p->until - p->from);
}

static loom_status write_imposed_steps(scene_data *s)
{
  const scene_twisting *const w = s->twisting;
  buf_maps q = {.m = s->m};
  loom_real *const turn = buf_maps_add(&q, w->clamps.turn, LOOM_RDWR);
  loom_real *const slip = buf_maps_add(&q, w->clamps.slip, LOOM_RDWR);
  for (int32_t k = 0; k < w->num && q.status == LOOM_OK; ++k) {
    const imposed *const p = &w->list[k];
    for (int32_t i = 0; i < p->num; ++i) (p->cut ? slip : turn)[p->row[i]] = (loom_real)p->step;
  }
  return buf_maps_end(&q);
}

loom_status twisting_pose(scene_data *s, double t0, double t1)
{
  int changed = 0;
  for (int32_t k = 0; s->twisting != NULL && k < s->twisting->num; ++k) {
    imposed *const p = &s->twisting->list[k];
    const double step = imposed_angle(p, t1) - imposed_angle(p, t0);
    changed |= step != p->step;
    p->step = step;
  }
  return changed ? write_imposed_steps(s) : LOOM_OK;
}

/* ---- keys ---- */

typedef struct twist_place { /* where a yarn of the scene has its rows */
  const object *o;
  int32_t k;     /* number of the yarn in the object */
  int64_t yarn;  /* in the scene */
  int64_t joint; /* its first joint in the scene */
  int32_t segs, joints;
} twist_place;

/* The first yarn of object o, or the one behind *p. */
static void first_place(const builder *b, const object *o, twist_place *p)
{
  *p = (twist_place){.o = o};
  for (const object *q = b->objects; q < o; ++q)
    for (int32_t k = 0; q->kind == OBJECT_YARN && k < q->yarns.num_yarns; ++k) {
      ++p->yarn;
      p->joint += yarn_num_joints(&q->yarns, k);
    }
  p->segs = yarn_num_segs(&o->yarns, 0);
  p->joints = yarn_num_joints(&o->yarns, 0);
}

static int next_place(twist_place *p)
{
  ++p->yarn;
  p->joint += p->joints;
  if (++p->k >= p->o->yarns.num_yarns) return 0;
  p->segs = yarn_num_segs(&p->o->yarns, p->k);
  p->joints = yarn_num_joints(&p->o->yarns, p->k);
  return 1;
}

typedef struct twist_rows { /* of one section, while it is read */
  builder *b;
  const object *o;
  imposed *to;
  unsigned char *held; /* u8 [ne + ny] of the scene */
  unsigned char *cut;  /* u8 [ne] */
} twist_rows;

static loom_status add_imposed_row(twist_rows *t, int64_t row, const char *part, long long id)
{
  unsigned char *const mark = (t->to->cut ? t->cut : t->held) + row;
  int64_t *const more = realloc(t->to->row, ((size_t)t->to->num + 1) * sizeof *more);
  if (more == NULL) return err_set(t->b->err, LOOM_E_NOMEM, "no memory for %s %lld", part, id);
  t->to->row = more;
  if (*mark)
    return err_set(t->b->err, LOOM_E_CONFIG, "%s %lld of %s is named twice; name it once", part, id,
                   t->o->label);
  *mark = 1;
  t->to->row[t->to->num++] = row;
  return LOOM_OK;
}

static loom_status clamp_segment(twist_rows *t, const twist_place *p, int32_t seg, int64_t id)
{
  return add_imposed_row(t, p->joint + p->yarn + seg, "segment", id);
}

/* The first or the last segment of every open yarn. */
static loom_status clamp_ends(twist_rows *t, int last)
{
  twist_place p;
  int64_t before = 0;
  int32_t found = 0;
  first_place(t->b, t->o, &p);
  do {
    const int32_t seg = last ? p.segs - 1 : 0;
    if (!t->o->yarns.closed[p.k]) LOOM_TRY(clamp_segment(t, &p, seg, before + seg));
    found += !t->o->yarns.closed[p.k];
    before += p.segs;
  } while (next_place(&p));
  if (found > 0) return LOOM_OK;
  return err_set(t->b->err, LOOM_E_CONFIG,
                 "%s has closed yarns alone, which have no %s segment; give numbers of segments",
                 t->o->label, last ? "last" : "first");
}

static loom_status read_segments(twist_rows *t, const char *text)
{
  words w;
  words_start(&w, text);
  while (!words_at_end(&w)) {
    int64_t id, before = 0;
    twist_place p;
    if (!words_int(&w, &id)) {
      words_next(&w);
      const int last = strcmp(w.word, "last") == 0;
      if (!last && strcmp(w.word, "first") != 0)
        return err_set(t->b->err, LOOM_E_CONFIG,
                       "\"%.60s\" names no segment; give numbers from 0, first, last or none",
                       w.word);
      LOOM_TRY(clamp_ends(t, last));
      continue;
    }
    if (id < 0 || id >= t->o->tp.num_edges)
      return err_set(t->b->err, LOOM_E_CONFIG, "segment %lld does not exist; %s has 0 to %lld",
                     (long long)id, t->o->label, (long long)t->o->tp.num_edges - 1);
    first_place(t->b, t->o, &p);
    while (id >= before + p.segs) {
      before += p.segs;
      (void)next_place(&p); /* there are so many segments */
    }
    LOOM_TRY(clamp_segment(t, &p, (int32_t)(id - before), id));
  }
  return LOOM_OK;
}

static loom_status read_cuts(twist_rows *t, const char *text)
{
  const yarn_set *const y = &t->o->yarns;
  words w;
  words_start(&w, text);
  while (!words_at_end(&w)) {
    int64_t id;
    twist_place p;
    if (!words_int(&w, &id))
      return err_set(t->b->err, LOOM_E_CONFIG,
                     "\"%.60s\" is no list of vertices; give numbers from 0, or none", text);
    if (id < 0 || id >= t->o->m.num_verts)
      return err_set(t->b->err, LOOM_E_CONFIG, "vertex %lld does not exist; %s has 0 to %d",
                     (long long)id, t->o->label, t->o->m.num_verts - 1);
    first_place(t->b, t->o, &p);
    while (id >= y->first[p.k + 1]) (void)next_place(&p);
    const int32_t n = y->first[p.k + 1] - y->first[p.k], own = (int32_t)id - y->first[p.k];
    const int32_t joint = y->closed[p.k] ? (own + n - 1) % n : own - 1;
    if (joint < 0 || joint >= p.joints)
      return err_set(t->b->err, LOOM_E_CONFIG,
                     "vertex %lld of %s is the end of a yarn; cut one between two segments",
                     (long long)id, t->o->label);
    LOOM_TRY(add_imposed_row(t, p.joint + joint, "vertex", (long long)id));
  }
  return LOOM_OK;
}

/* NULL: there is none that resists twist, and b->err says so. */
static const object *find_twisted(builder *b, const cfg_section *sec, const twist_settings *set)
{
  const char *names[16] = {NULL};
  const object *found = NULL;
  const rod_settings *rod = NULL;
  char list[600];
  int num = 0;
  for (int k = 0; k < b->num_objects; ++k) {
    const object *const o = &b->objects[k];
    if (o->kind != OBJECT_YARN) continue;
    if (strcmp(o->name, set->object) == 0) found = o;
    if (num < 16) names[num++] = o->name;
  }
  err_names(list, sizeof list, set->object, names, num);
  for (int i = 0; i < elem_count() && found != NULL; ++i)
    if (strcmp(elem_at(i)->name, "yarn_twist") == 0) rod = build_elem_settings(found, i);
  if (rod != NULL && rod->twisting > 0) return found;
  if (found != NULL)
    err_set(b->err, LOOM_E_CONFIG, "yarn %s does not resist twist; give [yarn.%s] twisting > 0",
            set->object, set->object);
  else
    err_set(b->err, LOOM_E_CONFIG, "there is no yarn named \"%s\"; %s%s", set->object,
            num > 0 ? "there is " : "there is none at all", list);
  (void)build_place(b, sec, "object", LOOM_E_CONFIG);
  return NULL;
}

static loom_status check_twist_keys(builder *b, const cfg_section *sec, const twist_settings *set)
{
  const int clamped = strcmp(set->segments, "none") != 0, cut = strcmp(set->cut, "none") != 0;
  if (clamped == cut)
    return build_place(
        b, sec, "segments",
        err_set(b->err, LOOM_E_CONFIG, "%s; give one of them",
                cut ? "the key cut is given, too" : "names no segment, and the key cut no vertex"));
  if (set->turn_until < set->turn_from)
    return build_place(b, sec, "turn_until",
                       err_set(b->err, LOOM_E_CONFIG, "%g s is before turn_from, %g s",
                               set->turn_until, set->turn_from));
  return LOOM_OK;
}

/* Segments that are clamped but free to move are probably meant to be pinned, too. */
static loom_status note_free_segments(builder *b, const cfg_section *sec, const twist_rows *t)
{
  twist_place p;
  int32_t loose = 0;
  first_place(b, t->o, &p);
  do
    for (int32_t j = 0; j < p.segs; ++j) {
      int32_t seg[4];
      const int64_t row = p.joint + p.yarn + j;
      int own = 0;
      for (int32_t i = 0; i < t->to->num; ++i) own |= t->to->row[i] == row;
      yarn_segment(&t->o->yarns, p.k, j, seg);
      loose += own && !(t->o->pinned[seg[1]] && t->o->pinned[seg[2]]);
    }
  while (next_place(&p));
  if (loose == 0) return LOOM_OK;
  return build_note(b,
                    "[%s]: %d clamped segments of %s have a vertex that no pin holds: their "
                    "directions are free, their frames do not turn about them",
                    cfg_section_name(sec), (int)loose, t->o->label);
}

static loom_status twist_section(builder *b, const cfg_section *sec, twist_rows *t)
{
  twist_settings set;
  uint32_t count;
  const loom_param *const params = scene_params("twist", &count);
  LOOM_TRY(cfg_bind(b->err, sec, params, count, &set));
  LOOM_TRY(check_twist_keys(b, sec, &set));
  t->o = find_twisted(b, sec, &set);
  if (t->o == NULL) return LOOM_E_CONFIG; /* find_twisted() has said so */
  *t->to = (imposed){.turn = degree * set.turn, .from = set.turn_from, .until = set.turn_until};
  t->to->cut = strcmp(set.cut, "none") != 0;
  const char *const key = t->to->cut ? "cut" : "segments";
  loom_status s = t->to->cut ? read_cuts(t, set.cut) : read_segments(t, set.segments);
  if (s == LOOM_OK && t->to->num == 0)
    s = err_set(b->err, LOOM_E_CONFIG, "names no %s; write none",
                t->to->cut ? "vertex" : "segment");
  if (s != LOOM_OK) return build_place(b, sec, key, s);
  LOOM_TRY(build_list(b, "[%s]: yarn %s, %d %s%s, %g degrees from %g to %g s",
                      cfg_section_name(sec), set.object, (int)t->to->num,
                      t->to->cut ? "joint" : "clamped frame", t->to->num == 1 ? "" : "s", set.turn,
                      set.turn_from, set.turn_until));
  return t->to->cut ? LOOM_OK : note_free_segments(b, sec, t);
}

/* A turn that leaves no twist, since an end of the yarn turns along. */
static loom_status warn_of_free_ends(builder *b, const unsigned char *held,
                                     const unsigned char *cut)
{
  for (int i = 0; i < b->num_objects; ++i) {
    twist_place p;
    if (b->objects[i].kind != OBJECT_YARN) continue;
    first_place(b, &b->objects[i], &p);
    do {
      int32_t clamps = 0, cuts = 0;
      for (int32_t j = 0; j < p.segs; ++j) clamps += held[p.joint + p.yarn + j];
      for (int32_t j = 0; j < p.joints; ++j) cuts += cut[p.joint + j];
      const int closed = p.o->yarns.closed[p.k];
      if (clamps + cuts == 0 || clamps > 1 || (closed && cuts > 0)) continue;
      LOOM_TRY(build_warn(b, "%s: yarn %d gets no twist from [twist.*]: %s", p.o->label, (int)p.k,
                          closed ? "it is closed and turns with its one clamped segment; name a "
                                   "vertex in the key cut"
                                 : "an end turns along; clamp two segments or more"));
    } while (next_place(&p));
  }
  return LOOM_OK;
}

static loom_status create_clamps(builder *b, int64_t joints, int64_t yarns, const unsigned char *of)
{
  rod_clamps *const c = &b->s->twisting->clamps;
  unsigned char *held;
  LOOM_TRY(build_new(b, "clamped frames", LOOM_U8, joints + yarns, &c->held));
  LOOM_TRY(build_new(b, "turns of frames", LOOM_REAL, joints + yarns, &c->turn));
  LOOM_TRY(build_new(b, "turns of cuts", LOOM_REAL, joints, &c->slip));
  LOOM_TRY(buf_reset(b->s->m, c->turn, buf_count(c->turn)));
  LOOM_TRY(buf_reset(b->s->m, c->slip, buf_count(c->slip)));
  LOOM_TRY(build_map(b, c->held, &held));
  memcpy(held, of, (size_t)(joints + yarns));
  LOOM_TRY(buf_unmap(b->s->m, c->held));
  return build_extend(b, ROD_CLAMPS, c);
}

/* Turns that are complete at time 0. */
static loom_status turn_at_start(builder *b)
{
  scene_twisting *const w = b->s->twisting;
  int any = 0;
  for (int32_t k = 0; k < w->num; ++k) {
    w->list[k].step = imposed_angle(&w->list[k], 0);
    any |= w->list[k].step != 0;
  }
  if (!any) return LOOM_OK;
  LOOM_TRY(write_imposed_steps(b->s));
  LOOM_TRY(rod_turn_start(b->err, b->s->m, &b->s->pub, b->s->x0));
  return twisting_pose(b->s, 0, 0);
}

loom_status build_twisting(builder *b)
{
  int32_t num = 0;
  int64_t yarns = 0, joints = 0;
  for (const cfg_section *s = NULL; (s = cfg_next(b->c, "twist", s)) != NULL;) ++num;
  if (num == 0) return LOOM_OK;
  for (int k = 0; k < b->num_objects; ++k)
    for (int32_t y = 0; b->objects[k].kind == OBJECT_YARN && y < b->objects[k].yarns.num_yarns;
         ++y) {
      ++yarns;
      joints += yarn_num_joints(&b->objects[k].yarns, y);
    }
  LOOM_TRY(mesh_alloc(b->err, 1, sizeof *b->s->twisting, &b->s->twisting));
  scene_twisting *const w = b->s->twisting;
  unsigned char *held, *cut;
  LOOM_TRY(mesh_alloc(b->err, num, sizeof *w->list, &w->list));
  LOOM_TRY(mesh_alloc(b->err, joints + yarns + 1, 1, &held));
  loom_status st = mesh_alloc(b->err, joints + 1, 1, &cut);
  if (st != LOOM_OK) {
    free(held);
    return st;
  }
  for (const cfg_section *s = NULL; st == LOOM_OK && (s = cfg_next(b->c, "twist", s)) != NULL;) {
    twist_rows t = {.b = b, .to = &w->list[w->num++], .held = held, .cut = cut};
    st = twist_section(b, s, &t);
  }
  if (st == LOOM_OK) st = warn_of_free_ends(b, held, cut);
  if (st == LOOM_OK) st = create_clamps(b, joints, yarns, held);
  free(held);
  free(cut);
  return st == LOOM_OK ? turn_at_start(b) : st;
}
