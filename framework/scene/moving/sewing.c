/* sewing.c - sewing = pull: stitches of the objects, pairs that contact leaves out for them, and
 * how their threads shorten. */
#include "scene/moving/sewing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elements/stitch/stitch.kern.h"
#include "scene/base/build.h"
#include "scene/base/exclusions.h"
#include "scene/moving/moving.h"

typedef struct seam { /* the stitches of one object */
  int64_t first, count;
  double time; /* s, until they are closed */
} seam;

struct scene_sewing {
  int block;     /* index of the element block */
  int num_seams; /* objects with stitches */
  seam *seams;
  int64_t num;
  int32_t *verts;   /* [num][3] */
  loom_real *place; /* [num] 1 */
  double *length;   /* [num] m, at the start */
  double longest;   /* s, the largest time */
  double at;        /* s, of the lengths in the block, at most `longest` */
};

/* ---- reading ---- */

loom_status build_read_stitches(builder *b, object *o)
{
  const cloth_settings *const c = &o->cloth;
  if (o->kind != OBJECT_CLOTH) return LOOM_OK;
  const int own = c->stitches[0] == '\0';
  const char *const key = own ? "sewing" : "stitches", *const file = own ? c->file : c->stitches;
  if (c->shape == CLOTH_PATTERN && own) return LOOM_OK; /* its seams are its stitches */
  if (c->sewing == SEWING_AUTO && own && o->m.num_stitches == 0) return LOOM_OK;
  if (c->sewing == SEWING_NONE || c->sewing == SEWING_MERGE) {
    if (o->m.num_stitches == 0) return LOOM_OK;
    return build_note(b, "%s: %d stitches were passed over; sewing = pull closes them", o->label,
                      o->m.num_stitches);
  }
  free(o->stitches);
  o->stitches = NULL;
  if (own && c->shape != CLOTH_OBJ)
    return build_place(
        b, o->sec, key,
        err_set(b->err, LOOM_E_CONFIG,
                "pull takes stitches: a file of them (stitches = FILE), or an OBJ file with some"));
  loom_status s = stitches_read(b->err, file, own, o->m.num_verts, &o->stitches, &o->num_stitches);
  if (s == LOOM_OK && o->num_stitches == 0)
    s = err_set(b->err, LOOM_E_CONFIG, "%s holds no stitches (lines: stitch I A B T)", file);
  return s == LOOM_OK ? LOOM_OK : build_place(b, o->sec, key, s);
}

void build_renumber_stitches(object *o)
{
  int64_t num = 0;
  for (int64_t k = 0; k < o->num_stitches && o->merged != NULL; ++k) {
    mesh_stitch s = o->stitches[k];
    s.i = o->merged[s.i];
    s.a = o->merged[s.a];
    s.b = o->merged[s.b];
    if (stitches_settle(&s)) o->stitches[num++] = s;
  }
  if (o->merged != NULL) o->num_stitches = num;
}

/* ---- pairs that are left out for stitches ----
 *
 * Vertices that come to lie at one place are a cluster; clusters touch where a stitch joins them,
 * and where both are joined to a third one (two vertices sewn to one edge, three panels that meet
 * at a corner).  Vertices of clusters that touch are left out, and with rings > 0 also their
 * neighbours in the mesh. */

typedef struct pair_list {
  loom_err *err;
  int32_t *pairs; /* [num][2] */
  int64_t num, room;
} pair_list;

static loom_status append_sewn_pair(pair_list *l, int32_t v, int32_t w)
{
  if (v == w) return LOOM_OK;
  if (l->num == l->room) {
    if (l->num > 1) l->num = isect_settle_pairs(l->pairs, l->num);
    if (2 * l->num >= l->room) {
      const int64_t room = l->room > 0 ? 2 * l->room : 1024;
      int32_t *const bigger = realloc(l->pairs, 2 * sizeof *bigger * (size_t)room);
      if (bigger == NULL)
        return err_set(l->err, LOOM_E_NOMEM, "no memory for %lld pairs at seams", (long long)room);
      l->pairs = bigger;
      l->room = room;
    }
  }
  l->pairs[2 * l->num] = v;
  l->pairs[2 * l->num++ + 1] = w;
  return LOOM_OK;
}

static int32_t find_cluster_root(int32_t *parent, int32_t v)
{
  while (parent[v] != v) v = parent[v] = parent[parent[v]];
  return v;
}

/* The cluster gets the smaller id of the two, which does not depend on the order of the stitches.
 */
static void unite_clusters(int32_t *parent, int32_t v, int32_t w)
{
  const int32_t a = find_cluster_root(parent, v), b = find_cluster_root(parent, w);
  if (a < b)
    parent[b] = a;
  else
    parent[a] = b;
}

/* So near an end of its edge a stitch is one to a vertex. */
static const double at_end = 1e-6;

/* All pairs of ids in the rows of v and w. */
static loom_status add_products(pair_list *l, const isect_left_out *rows, int32_t v, int32_t w)
{
  for (int32_t i = rows->first[v]; i < rows->first[v + 1]; ++i)
    for (int32_t j = rows->first[w]; j < rows->first[w + 1]; ++j)
      LOOM_TRY(append_sewn_pair(l, rows->other[i], rows->other[j]));
  return LOOM_OK;
}

/* Clusters that a stitch joins, each with itself, too, as pairs of their names. */
static loom_status join_clusters(const object *o, int32_t *parent, pair_list *l)
{
  for (int32_t v = 0; v < o->m.num_verts; ++v) parent[v] = v;
  for (int64_t k = 0; k < o->num_stitches; ++k) {
    const mesh_stitch *const s = &o->stitches[k];
    if (s->t < at_end) unite_clusters(parent, s->i, s->a);
    if (s->t > 1 - at_end) unite_clusters(parent, s->i, s->b);
  }
  for (int64_t k = 0; k < o->num_stitches; ++k) {
    const mesh_stitch *const s = &o->stitches[k];
    const int32_t c = find_cluster_root(parent, s->i);
    if (s->t <= 1 - at_end) LOOM_TRY(append_sewn_pair(l, c, find_cluster_root(parent, s->a)));
    if (s->t >= at_end) LOOM_TRY(append_sewn_pair(l, c, find_cluster_root(parent, s->b)));
  }
  l->num = isect_settle_pairs(l->pairs, l->num);
  return LOOM_OK;
}

/* Pairs of clusters that are joined to a third one. */
static loom_status join_over_one(const object *o, pair_list *l)
{
  isect_left_out rows = {0};
  loom_status s = isect_left_out_make(l->err, o->m.num_verts, l->pairs, l->num, &rows);
  for (int32_t c = 0; c < o->m.num_verts && s == LOOM_OK; ++c) s = add_products(l, &rows, c, c);
  isect_left_out_free(&rows);
  if (s == LOOM_OK) l->num = isect_settle_pairs(l->pairs, l->num);
  return s;
}

/* Members of the clusters: row c of *rows. */
static loom_status list_members(loom_err *err, const object *o, int32_t *parent,
                                isect_left_out *rows)
{
  LOOM_TRY(mesh_alloc(err, (int64_t)o->m.num_verts + 2, sizeof *rows->first, &rows->first));
  LOOM_TRY(mesh_alloc(err, o->m.num_verts, sizeof *rows->other, &rows->other));
  for (int32_t v = 0; v < o->m.num_verts; ++v) ++rows->first[find_cluster_root(parent, v) + 2];
  for (int32_t c = 0; c < o->m.num_verts; ++c) rows->first[c + 2] += rows->first[c + 1];
  for (int32_t v = 0; v < o->m.num_verts; ++v)
    rows->other[rows->first[find_cluster_root(parent, v) + 1]++] = v;
  return LOOM_OK;
}

/* Turns pairs of clusters into pairs of their vertices. */
static loom_status expand_cluster_pairs(const object *o, int32_t *parent, pair_list *l)
{
  isect_left_out rows = {0};
  pair_list out = {.err = l->err};
  loom_status s = list_members(l->err, o, parent, &rows);
  for (int64_t k = 0; l->pairs != NULL && k < l->num && s == LOOM_OK; ++k)
    s = add_products(&out, &rows, l->pairs[2 * k], l->pairs[2 * k + 1]);
  for (int32_t c = 0; c < o->m.num_verts && s == LOOM_OK; ++c)
    if (rows.first[c + 1] - rows.first[c] > 1) s = add_products(&out, &rows, c, c);
  isect_left_out_free(&rows);
  free(l->pairs);
  *l = out;
  if (s == LOOM_OK) l->num = isect_settle_pairs(l->pairs, l->num);
  return s;
}

/* One ring more: vertices with themselves and their neighbours in the mesh stand for each vertex.
 */
static loom_status grow_ring(const object *o, pair_list *l)
{
  isect_left_out rows = {0};
  pair_list out = {.err = l->err};
  int32_t *edges;
  LOOM_TRY(mesh_alloc(l->err, 2 * o->tp.num_edges, sizeof *edges, &edges));
  memcpy(edges, o->tp.edges, 2 * sizeof *edges * (size_t)o->tp.num_edges);
  const int64_t num = isect_settle_pairs(edges, o->tp.num_edges);
  loom_status s = isect_left_out_make(l->err, o->m.num_verts, edges, num, &rows);
  free(edges);
  for (int64_t k = 0; l->pairs != NULL && k < l->num && s == LOOM_OK; ++k) {
    const int32_t v = l->pairs[2 * k], w = l->pairs[2 * k + 1];
    s = append_sewn_pair(&out, v, w);
    for (int32_t i = rows.first[v]; i < rows.first[v + 1] && s == LOOM_OK; ++i)
      s = append_sewn_pair(&out, rows.other[i], w);
    for (int32_t j = rows.first[w]; j < rows.first[w + 1] && s == LOOM_OK; ++j)
      s = append_sewn_pair(&out, v, rows.other[j]);
    if (s == LOOM_OK) s = add_products(&out, &rows, v, w);
  }
  isect_left_out_free(&rows);
  free(l->pairs);
  *l = out;
  if (s == LOOM_OK) l->num = isect_settle_pairs(l->pairs, l->num);
  return s;
}

/* Appends the pairs of one object, with ids of the scene, to `all`. */
static loom_status leave_seams_out(builder *b, const object *o, pair_list *all)
{
  pair_list l = {.err = b->err};
  int32_t *parent;
  LOOM_TRY(mesh_alloc(b->err, o->m.num_verts, sizeof *parent, &parent));
  loom_status s = join_clusters(o, parent, &l);
  if (s == LOOM_OK) s = join_over_one(o, &l);
  if (s == LOOM_OK) s = expand_cluster_pairs(o, parent, &l);
  for (int64_t r = 0; r < o->cloth.seam_rings && s == LOOM_OK; ++r) s = grow_ring(o, &l);
  for (int64_t k = 0; l.pairs != NULL && k < l.num && s == LOOM_OK; ++k)
    s = append_sewn_pair(all, o->first_vert + l.pairs[2 * k], o->first_vert + l.pairs[2 * k + 1]);
  if (s == LOOM_OK)
    s = build_note(b,
                   "%s: %lld stitches; contact and the audit leave %lld pairs of vertices at their "
                   "seams out (/scene/exclusions of the log)",
                   o->label, (long long)o->num_stitches, (long long)l.num);
  free(l.pairs);
  free(parent);
  return s;
}

/* ---- stitches that pins hold at both ends ---- */

/* Ends that are held so far apart, m, cannot meet. */
static const double meeting = 1e-6;

/* holder [num_verts of the scene]: the pin that holds the vertex exactly and for ever, or NULL. */
static void find_holders(const scene_motion *sm, const pin_group **holder)
{
  for (int32_t g = 0; g < sm->num_groups; ++g) {
    const pin_group *const p = &sm->groups[g];
    if (p->stiffness > 0 || p->from > 0 || p->until < PIN_FOR_EVER) continue;
    for (int32_t k = 0; k < p->count; ++k) holder[p->verts[k]] = p;
  }
}

static int is_resting_pin(const pin_group *p)
{
  return p->follow == NULL && motion_is_hold(&p->move);
}

/* Ends that pins hold for ever stay as far apart as pins lead them: an error where pins at rest
 * hold them apart, a warning where pins move. */
static loom_status check_held_stitch(builder *b, const object *o, const mesh_stitch *s,
                                     double apart, const pin_group *const *holder, int *warned)
{
  const int32_t ends[3] = {s->i, s->t < 1 ? s->a : s->i, s->t > 0 ? s->b : s->i};
  int at_rest = 1;
  for (int k = 0; k < 3; ++k) {
    const pin_group *const p = holder[o->first_vert + ends[k]];
    if (p == NULL) return LOOM_OK;
    at_rest &= is_resting_pin(p);
  }
  char pins[300];
  const char *const one = holder[o->first_vert + ends[0]]->label;
  const char *const other = holder[o->first_vert + (s->t < 1 ? s->a : s->b)]->label;
  const int same = strcmp(one, other) == 0;
  (void)snprintf(pins, sizeof pins, "%s%s%s", one, same ? "" : " and ", same ? "" : other);
  if (at_rest && apart <= meeting) return LOOM_OK;
  if (!at_rest && (*warned)++ > 0) return LOOM_OK; /* once for an object */
  if (!at_rest)
    return build_warn(b,
                      "%s: the stitch of vertex %d in line %d closes only if its pins lead both "
                      "ends together: %s hold them for ever",
                      o->label, s->i, s->line, pins);
  return build_place(
      b, o->sec, o->cloth.stitches[0] != '\0' ? "stitches" : "file",
      err_set(b->err, LOOM_E_CONFIG,
              "the stitch of vertex %d in line %d cannot close: %s hold its ends %g m apart "
              "for ever; take one end out of its pin, release it ([pin.NAME] hold_until), or take "
              "the stitch out",
              s->i, s->line, pins, apart));
}

static loom_status check_held_stitches(builder *b)
{
  const scene_sewing *const w = b->s->sewing;
  const pin_group **holder;
  loom_status s = LOOM_OK;
  int64_t at = 0;
  LOOM_TRY(mesh_alloc(b->err, b->s->pub.num_verts, sizeof *holder, &holder));
  find_holders(b->s->motion, holder);
  for (int k = 0; k < b->num_objects; ++k) {
    const object *const o = &b->objects[k];
    int warned = 0;
    for (int64_t j = 0; j < o->num_stitches && s == LOOM_OK; ++j, ++at)
      s = check_held_stitch(b, o, &o->stitches[j], w->length[at], holder, &warned);
  }
  free(holder);
  return s;
}

loom_status build_seams(builder *b)
{
  pair_list all = {.err = b->err};
  loom_status s = LOOM_OK;
  if (b->s->sewing == NULL) return LOOM_OK;
  LOOM_TRY(check_held_stitches(b));
  for (int k = 0; k < b->num_objects && s == LOOM_OK; ++k)
    if (b->objects[k].num_stitches > 0) s = leave_seams_out(b, &b->objects[k], &all);
  if (s == LOOM_OK) s = scene_leave_out(b->err, b->s, SCENE_SEWN, all.pairs, all.num);
  free(all.pairs);
  return s;
}

/* ---- elements ---- */

static loom_status new_sewing(builder *b, int block)
{
  scene_sewing *w;
  LOOM_TRY(mesh_alloc(b->err, 1, sizeof *w, &w));
  b->s->sewing = w;
  w->block = block;
  w->at = -1;
  for (int k = 0; k < b->num_objects; ++k) w->num += b->objects[k].num_stitches;
  LOOM_TRY(mesh_alloc(b->err, b->num_objects, sizeof *w->seams, &w->seams));
  LOOM_TRY(mesh_alloc(b->err, 3 * w->num, sizeof *w->verts, &w->verts));
  LOOM_TRY(mesh_alloc(b->err, w->num, sizeof *w->place, &w->place));
  return mesh_alloc(b->err, w->num, sizeof *w->length, &w->length);
}

static double stitch_distance(const int32_t v[3], double t, const loom_real *x)
{
  double sum = 0.0;
  for (int c = 0; c < 3; ++c) {
    const double d = (double)x[3 * (int64_t)v[0] + c] - (1 - t) * (double)x[3 * (int64_t)v[1] + c] -
                     t * (double)x[3 * (int64_t)v[2] + c];
    sum += d * d;
  }
  return sqrt(sum);
}

loom_status build_sewing(builder *b, int block)
{
  void *x;
  int64_t at = 0;
  LOOM_TRY(new_sewing(b, block));
  scene_sewing *const w = b->s->sewing;
  LOOM_TRY(buf_map(b->s->m, NULL, b->s->x0, LOOM_READ, LOOM_AT_HOST, &x));
  for (int k = 0; k < b->num_objects; ++k) {
    const object *const o = &b->objects[k];
    if (o->num_stitches == 0) continue;
    w->seams[w->num_seams++] =
        (seam){.first = at, .count = o->num_stitches, .time = o->cloth.sewing_time};
    w->longest = fmax(w->longest, o->cloth.sewing_time);
    for (int64_t j = 0; j < o->num_stitches; ++j, ++at) {
      const mesh_stitch *const s = &o->stitches[j];
      const int32_t v[3] = {o->first_vert + s->i, o->first_vert + s->a, o->first_vert + s->b};
      memcpy(w->verts + 3 * at, v, sizeof v);
      w->place[at] = (loom_real)s->t;
      w->length[at] = stitch_distance(v, s->t, x);
    }
  }
  return buf_unmap(b->s->m, b->s->x0);
}

/* ---- running ---- */

loom_status scene_sewing_pose(scene_data *s, double t)
{
  scene_sewing *const w = s->sewing;
  void *p;
  if (w == NULL) return LOOM_OK;
  const double at = fmin(t, w->longest);
  if (at == w->at) return LOOM_OK; /* NOLINT: the same number gives the same lengths */
  loom_elem_block *const block = &s->blocks[w->block];
  LOOM_TRY(buf_map(s->m, NULL, block->mat, LOOM_RDWR, LOOM_AT_HOST, &p));
  for (int k = 0; k < w->num_seams; ++k) {
    const seam *const e = &w->seams[k];
    const double left = e->time > 0 ? fmax(1 - at / e->time, 0) : 0;
    for (int64_t i = e->first; i < e->first + e->count; ++i)
      ((loom_real *)p)[STITCH_MAT * i + STITCH_LENGTH] = (loom_real)(left * w->length[i]);
  }
  w->at = at;
  return buf_unmap(s->m, block->mat);
}

double scene_stitch_gap(const scene_data *s, const loom_real *x)
{
  const scene_sewing *const w = s->sewing;
  double gap = w != NULL ? 0.0 : NAN;
  for (int64_t i = 0; w != NULL && i < w->num; ++i)
    gap = fmax(gap, stitch_distance(w->verts + 3 * i, (double)w->place[i], x));
  return gap;
}

double scene_sewing_time(const scene_data *s)
{
  return s->sewing != NULL ? s->sewing->longest : 0.0;
}

scene_stitches scene_stitches_of(const scene_data *s)
{
  const scene_sewing *const w = s->sewing;
  if (w == NULL) return (scene_stitches){0};
  return (scene_stitches){.num = w->num, .verts = w->verts, .place = w->place};
}

void scene_sewing_free(scene_data *s)
{
  scene_sewing *const w = s->sewing;
  if (w == NULL) return;
  free(w->seams);
  free(w->verts);
  free(w->place);
  free(w->length);
  free(w);
  s->sewing = NULL;
}
