/* build_yarn.c - from [yarn.*] to the yarns of a scene. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/words.h"
#include "geom/pose.h"
#include "scene/base/build.h"
#include "scene/moving/growing.h"
#include "yarn/yarn_file.h"

/* At the start yarns may touch and press a little, as relaxed knits do (their centre lines
 * come within 0.87 of both radii), but nearer than this they are taken for a mistake: contact
 * grows with the inverse square of the distance. */
static const double min_ratio = 0.75;

/* ---- one object ---- */

static int64_t count_segs(const yarn_set *y)
{
  int64_t n = 0;
  for (int32_t k = 0; k < y->num_yarns; ++k) n += yarn_num_segs(y, k);
  return n;
}

/* Segments as edges that belong to no triangle. */
static loom_status make_edges(builder *b, object *o)
{
  const yarn_set *y = &o->yarns;
  o->tp.num_edges = count_segs(y);
  LOOM_TRY(mesh_alloc(b->err, 2 * o->tp.num_edges, sizeof *o->tp.edges, &o->tp.edges));
  LOOM_TRY(mesh_alloc(b->err, o->tp.num_edges + 1, sizeof *o->tp.first, &o->tp.first));
  int32_t *e = o->tp.edges;
  for (int32_t k = 0; k < y->num_yarns; ++k)
    for (int32_t j = 0; j < yarn_num_segs(y, k); ++j, e += 2) {
      int32_t seg[4];
      yarn_segment(y, k, j, seg);
      memcpy(e, seg + 1, 2 * sizeof *e);
    }
  return LOOM_OK;
}

static loom_status read_curves(builder *b, object *o)
{
  const char *file = o->yarn.file;
  if (file[0] == '\0')
    return build_place(b, o->sec, "pattern",
                       err_set(b->err, LOOM_E_CONFIG, "needs the key file, the curves to read"));
  const loom_status st = o->yarn.pattern == YARN_BCC ? bcc_read(b->err, file, &o->m, &o->yarns)
                                                     : lines_read(b->err, file, &o->m, &o->yarns);
  if (st != LOOM_OK) return build_place(b, o->sec, "file", st);
  const double n = o->m.num_verts;
  LOOM_TRY(build_check_room(b, o->sec, "file", &(scene_counts){.verts = n, .yarn_verts = n}));
  snprintf(o->label, sizeof o->label, "%s", file);
  return LOOM_OK;
}

static loom_status create_knit_yarns(builder *b, object *o)
{
  const yarn_settings *s = &o->yarn;
  const knit_plan p = {.pattern = s->pattern,
                       .rows = s->rows,
                       .loops = s->loops,
                       .stripe = s->stripe,
                       .rib = s->rib,
                       .rings = s->closed,
                       .bind = s->bind,
                       .radius = s->radius,
                       .loop_width = s->loop_width,
                       .row_height = s->row_height};
  /* eight points of a loop, and room for the turns */
  const double n = (double)s->rows * (8.0 * (double)s->loops + 6.0);
  LOOM_TRY(build_check_room(b, o->sec, "rows", &(scene_counts){.verts = n, .yarn_verts = n}));
  const loom_status st = knit_make(b->err, &p, &o->m, &o->yarns);
  return st == LOOM_OK ? LOOM_OK : build_place(b, o->sec, "pattern", st);
}

/* Appends the pairs of the key glue to the pattern's pairs. */
static loom_status add_glue(builder *b, object *o)
{
  yarn_set *y = &o->yarns;
  words w;
  int64_t v, num = 0;
  words_start(&w, o->yarn.glue);
  if (strcmp(o->yarn.glue, "none") == 0) return LOOM_OK;
  while (words_int(&w, &v)) ++num;
  if (!words_at_end(&w) || num == 0 || num % 2 != 0)
    return err_set(b->err, LOOM_E_CONFIG, "\"%.60s\" is no list of pairs of vertices; write none",
                   o->yarn.glue);
  int32_t *all = realloc(y->glue, (2 * (size_t)y->num_glue + (size_t)num) * sizeof *all);
  if (all == NULL)
    return err_set(b->err, LOOM_E_NOMEM, "no memory for %lld numbers", (long long)num);
  y->glue = all;
  words_start(&w, o->yarn.glue);
  for (all += 2 * (int64_t)y->num_glue; words_int(&w, &v); *all++ = (int32_t)v)
    if (v < 0 || v >= o->m.num_verts)
      return err_set(b->err, LOOM_E_CONFIG, "vertex %lld does not exist; %s has 0 to %d",
                     (long long)v, o->label, o->m.num_verts - 1);
  y->num_glue += (int32_t)(num / 2);
  return LOOM_OK;
}

loom_status build_yarn_object(builder *b, object *o)
{
  yarn_settings *s = &o->yarn;
  s->common.thickness = 2 * s->radius;
  LOOM_TRY(s->pattern >= YARN_BCC ? read_curves(b, o) : create_knit_yarns(b, o));
  for (int64_t k = 0; k < 3 * (int64_t)o->m.num_verts; ++k)
    if (!isfinite(o->m.x[k]))
      return build_place(b, o->sec, "file",
                         err_set(b->err, LOOM_E_CONFIG, "%s: point %lld is not a number", o->label,
                                 (long long)(k / 3)));
  const loom_status glued = add_glue(b, o);
  if (glued != LOOM_OK) return build_place(b, o->sec, "glue", glued);
  LOOM_TRY(make_edges(b, o));
  return build_yarn_state(b, o);
}

/* ---- the scene's yarns ---- */

typedef struct yarn_arrays {
  int32_t *vert, *seg, *segs, *of, *loop, *glue;
  unsigned char *closed;
  loom_real *len, *glue_len;
  int32_t yarns, num_segs, num_glue; /* so far */
} yarn_arrays;

/* Glue holds at the distance of rest, but not so near that the yarns would overlap. */
static loom_status put_glue(builder *b, const object *o, yarn_arrays *a)
{
  const yarn_set *y = &o->yarns;
  for (int32_t g = 0; g < y->num_glue; ++g) {
    const int32_t i = y->glue[2 * (int64_t)g], j = y->glue[2 * (int64_t)g + 1];
    if (i == j)
      return build_place(b, o->sec, "glue",
                         err_set(b->err, LOOM_E_CONFIG,
                                 "vertex %d is glued to itself; name two different ones", i));
    a->glue[2 * (int64_t)a->num_glue] = o->first_vert + i;
    a->glue[2 * (int64_t)a->num_glue + 1] = o->first_vert + j;
    a->glue_len[a->num_glue++] =
        (loom_real)fmax(build_yarn_distance(o, i, j), o->common->thickness);
  }
  return LOOM_OK;
}

static void put_yarns(const object *o, yarn_arrays *a)
{
  const yarn_set *y = &o->yarns;
  int64_t e = 0;
  for (int32_t k = 0; k < y->num_yarns; ++k, ++a->yarns) {
    a->closed[a->yarns] = y->closed[k];
    for (int32_t j = 0; j < yarn_num_segs(y, k); ++j) {
      int32_t *seg = a->segs + 4 * (int64_t)a->num_segs;
      yarn_segment(y, k, j, seg);
      a->len[a->num_segs] = (loom_real)build_yarn_length(o, e++);
      for (int c = 0; c < 4; ++c) seg[c] += seg[c] < 0 ? 0 : o->first_vert;
      a->of[a->num_segs++] = a->yarns;
    }
    a->vert[a->yarns + 1] = o->first_vert + y->first[k + 1];
    a->seg[a->yarns + 1] = a->num_segs;
  }
  memcpy(a->loop + 2 * (int64_t)o->first_vert, y->loop,
         2 * (size_t)o->m.num_verts * sizeof *y->loop);
}

static loom_status new_arrays(builder *b, int64_t ny, int64_t ns, int64_t ng)
{
  loom_scene *p = &b->s->pub;
  LOOM_TRY(build_new(b, "yarn_vert", LOOM_I32, ny + 1, &p->yarn_vert));
  LOOM_TRY(build_new(b, "yarn_seg", LOOM_I32, ny + 1, &p->yarn_seg));
  LOOM_TRY(build_new(b, "yarn_closed", LOOM_U8, ny, &p->yarn_closed));
  LOOM_TRY(build_new(b, "segs", LOOM_I32, 4 * ns, &p->segs));
  LOOM_TRY(build_new(b, "seg_yarn", LOOM_I32, ns, &p->seg_yarn));
  LOOM_TRY(build_new(b, "seg_len", LOOM_REAL, ns, &p->seg_len));
  LOOM_TRY(build_new(b, "loop", LOOM_I32, 2 * (int64_t)p->num_verts, &p->loop));
  LOOM_TRY(build_new(b, "glue", LOOM_I32, 2 * ng, &p->glue));
  return build_new(b, "glue_len", LOOM_REAL, ng, &p->glue_len);
}

loom_status build_yarns(builder *b)
{
  loom_scene *p = &b->s->pub;
  int64_t ny = 0, ns = 0, ng = 0;
  int32_t first = p->num_verts;
  for (int k = b->num_objects - 1; k >= 0; --k) {
    const object *o = &b->objects[k];
    if (o->kind != OBJECT_YARN) continue;
    ny += o->yarns.num_yarns;
    ns += o->tp.num_edges;
    ng += o->yarns.num_glue;
    first = o->first_vert;
  }
  if (ny == 0) return LOOM_OK;
  p->num_yarns = (int32_t)ny;
  p->num_segs = (int32_t)ns;
  p->num_glue = (int32_t)ng;
  LOOM_TRY(new_arrays(b, ny, ns, ng));
  buf_maps q = {.m = b->s->m};
  yarn_arrays a = {.vert = buf_maps_add(&q, p->yarn_vert, LOOM_WRITE),
                   .seg = buf_maps_add(&q, p->yarn_seg, LOOM_WRITE),
                   .closed = buf_maps_add(&q, p->yarn_closed, LOOM_WRITE),
                   .segs = buf_maps_add(&q, p->segs, LOOM_WRITE),
                   .of = buf_maps_add(&q, p->seg_yarn, LOOM_WRITE),
                   .len = buf_maps_add(&q, p->seg_len, LOOM_WRITE),
                   .loop = buf_maps_add(&q, p->loop, LOOM_WRITE),
                   .glue = buf_maps_add(&q, p->glue, LOOM_WRITE),
                   .glue_len = buf_maps_add(&q, p->glue_len, LOOM_WRITE)};
  if (q.status != LOOM_OK) {
    *b->err = *mem_err(b->s->m);
    return buf_maps_end(&q);
  }
  a.vert[0] = first;
  a.seg[0] = 0;
  memset(a.loop, -1, 2 * (size_t)p->num_verts * sizeof *a.loop);
  for (int k = 0; k < b->num_objects && q.status == LOOM_OK; ++k) {
    if (b->objects[k].kind != OBJECT_YARN) continue;
    put_yarns(&b->objects[k], &a);
    q.status = put_glue(b, &b->objects[k], &a);
  }
  return buf_maps_end(&q);
}

void build_free_yarns(scene_data *s)
{
  loom_scene *p = &s->pub;
  loom_buf *const own[9] = {p->yarn_vert, p->yarn_seg, p->yarn_closed, p->segs,    p->seg_yarn,
                            p->seg_len,   p->loop,     p->glue,        p->glue_len};
  for (int i = 0; i < 9; ++i) buf_free(s->m, own[i]);
}

/* Contact of yarns keeps sets of its own, which detection does not report again: every vertex of a
 * yarn may be touched. */
loom_status scene_mark_unnamed(scene_data *s, uint32_t kinds, loom_buf **mark)
{
  const int32_t n = s->pub.num_verts;
  *mark = NULL;
  if (s->pub.num_yarns == 0 || !(kinds & SCENE_PAIRS_UNNAMED)) return LOOM_OK;
  LOOM_TRY(buf_new(s->m, "core", "vertices of yarns", LOOM_U8, n, mark));
  buf_maps q = {.m = s->m};
  unsigned char *const to = buf_maps_add(&q, *mark, LOOM_WRITE);
  const int32_t *const first = buf_maps_add(&q, s->pub.yarn_vert, LOOM_READ);
  for (int32_t i = 0; q.status == LOOM_OK && i < n; ++i) to[i] = i >= first[0];
  return buf_maps_end(&q);
}

/* ---- interpenetration at the start ---- */

static const object *object_of(const builder *b, int32_t vert)
{
  const object *o = b->objects;
  while (vert >= o->first_vert + o->m.num_verts) ++o;
  return o;
}

/* Below this part of both radii centre lines meet. */
static const double meets = 1e-6;

/* The way out for two yarns of one object, or of two, at `ratio` of both radii. */
static const char *near_remedy(const object *p, const object *q, double ratio)
{
  const int files = p->yarn.pattern >= YARN_BCC || q->yarn.pattern >= YARN_BCC;
  if (p->yarn.radius_time > 0 || q->yarn.radius_time > 0)
    return "no radius is small enough for radius_time to grow it from: move them apart";
  if (ratio < meets && files)
    return "they meet at one place: yarns that are one there need one point in place of two, "
           "others have to be moved apart";
  if (p != q)
    return files ? "move them apart, or let the radius of curves grow by radius_time"
                 : "move them apart";
  return files ? "the radius is too large for the curves: reduce it, make them larger by "
                 "transform, or let it grow by radius_time"
               : "the radius is too large for the pattern: reduce it, or raise loop_width and "
                 "row_height";
}

static void refuse_near(builder *b, const yarn_view *v, const yarn_near *near)
{
  int32_t yarn[2], seg[2], vert[2];
  for (int a = 0; a < 2; ++a) {
    yarn[a] = v->seg_yarn[near->seg[a]];
    seg[a] = near->seg[a] - v->yarn_seg[yarn[a]];
    vert[a] = v->segs[4 * (int64_t)near->seg[a] + 1];
  }
  const object *p = object_of(b, vert[0]), *q = object_of(b, vert[1]);
  const double sum = p->yarn.radius + q->yarn.radius;
  for (const object *o = b->objects; o < q; ++o) { /* numbers within the object */
    yarn[0] -= o < p ? o->yarns.num_yarns : 0;
    yarn[1] -= o->yarns.num_yarns;
  }
  doctor_add(&b->doc, DOCTOR_INTERSECTION, (const int32_t[4]){vert[0], vert[1], -1, -1},
             "%s yarn %d segment %d and %s yarn %d segment %d interpenetrate: %.3g m apart, below "
             "%g of both radii %.3g m; %s",
             p->label, yarn[0], seg[0], q->label, yarn[1], seg[1], near->distance, min_ratio, sum,
             near_remedy(p, q, near->distance / sum));
}

static const object *object_of_yarn(const builder *b, const yarn_view *v, int32_t k)
{
  return object_of(b, v->segs[4 * (int64_t)v->yarn_seg[k] + 1]);
}

/* Positions, in doubles, and the view of all yarns; x [n][3], radius [num_yarns] */
static void place_yarns(const builder *b, double share, double *x, double *radius,
                        const yarn_view *v)
{
  for (int k = 0; k < b->num_objects; ++k) {
    const object *o = &b->objects[k];
    if (o->kind != OBJECT_YARN) continue;
    for (int64_t i = 0; i < o->m.num_verts; ++i)
      pose_apply(o->place, o->m.x + 3 * i, x + 3 * (o->first_vert + i));
  }
  for (int32_t k = 0; k < v->num_yarns; ++k) {
    const yarn_settings *const y = &object_of_yarn(b, v, k)->yarn;
    radius[k] = y->radius_time > 0 ? share * y->radius : y->radius;
  }
}

static void part_radii(const builder *b, const yarn_view *v, yarn_meeting *m)
{
  for (int a = 0; a < 2 && m->near.seg[a] >= 0; ++a) {
    const yarn_settings *const y = &object_of_yarn(b, v, v->seg_yarn[m->near.seg[a]])->yarn;
    *(y->radius_time > 0 ? &m->growing : &m->whole) += y->radius;
  }
}

/* Pairs below `refused` of both radii are refused. */
static loom_status look_at_yarns(builder *b, double share, double refused, yarn_meeting *out)
{
  const loom_scene *p = &b->s->pub;
  double *x = NULL, *radius = NULL;
  buf_maps q = {.m = b->s->m};
  yarn_view v = {.segs = buf_maps_add(&q, p->segs, LOOM_READ),
                 .seg_yarn = buf_maps_add(&q, p->seg_yarn, LOOM_READ),
                 .yarn_seg = buf_maps_add(&q, p->yarn_seg, LOOM_READ),
                 .closed = buf_maps_add(&q, p->yarn_closed, LOOM_READ),
                 .num_segs = p->num_segs,
                 .num_yarns = p->num_yarns};
  *out = (yarn_meeting){0};
  if (q.status != LOOM_OK) {
    *b->err = *mem_err(b->s->m);
    return buf_maps_end(&q);
  }
  loom_status s = mesh_alloc(b->err, 3 * (int64_t)p->num_verts, sizeof *x, &x);
  if (s == LOOM_OK) s = mesh_alloc(b->err, p->num_yarns, sizeof *radius, &radius);
  if (s == LOOM_OK) {
    place_yarns(b, share, x, radius, &v);
    v.x = x, v.radius = radius;
    s = yarn_find_nearest(b->err, &v, min_ratio, &out->near);
  }
  if (s == LOOM_OK) part_radii(b, &v, out);
  if (s == LOOM_OK && out->near.ratio < refused) refuse_near(b, &v, &out->near);
  free(x);
  free(radius);
  LOOM_TRY(buf_maps_end(&q));
  return s;
}

loom_status build_meet_yarns(builder *b, double share, yarn_meeting *out)
{
  return look_at_yarns(b, share, 0.0, out);
}

loom_status build_check_yarns(builder *b)
{
  yarn_meeting m;
  if (b->s->pub.num_yarns == 0) return LOOM_OK;
  LOOM_TRY(look_at_yarns(b, growing_share(b->s), min_ratio, &m));
  return doctor_verdict(b->err, &b->doc);
}
