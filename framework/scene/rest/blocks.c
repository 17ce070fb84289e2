/* blocks.c - element blocks of a scene: one per element type that it has, objects in order.  The
 * descriptor of a type says where the type has elements (elements/elements.h).
 *
 * Rest data comes from the object's rest shape (rest.c) before it is placed, so material axes turn
 * with the sheet. */
#include <stdlib.h>
#include <string.h>

#include "elements/elements.h"
#include "geom/pose.h"
#include "scene/base/build.h"
#include "scene/moving/moving.h"

/* Elements of a type on the triangles or edges of cloth with regions. */
static int64_t count_in_regions(const object *o, int type, uint32_t place)
{
  const int of_tris = place == ELEM_TRIANGLES || place == ELEM_PATCHES;
  const int64_t num = of_tris ? o->m.num_tris : o->tp.num_edges;
  double mat[ELEM_MAX_MAT];
  int64_t n = 0;
  for (int64_t k = 0; k < num; ++k) {
    const int inner = of_tris || place == ELEM_EDGES || o->tp.first[k + 1] - o->tp.first[k] == 2;
    n += inner && build_elem_material(o, type, place, k, mat);
  }
  return n;
}

/* Elements of type `type` at one place of an object; mat [ELEM_MAX_MAT] is the material of all of
 * them, if the object has no regions. */
static int64_t count_at(const builder *b, const object *o, int type, uint32_t place, double *mat)
{
  int64_t n = 0;
  if (place == ELEM_PINS) {
    for (int32_t g = 0; g < b->s->motion->num_groups; ++g) {
      const pin_group *p = &b->s->motion->groups[g];
      const int32_t v = p->verts[0] - o->first_vert;
      if (p->stiffness > 0 && v >= 0 && v < o->m.num_verts) n += p->count;
    }
    return n;
  }
  if (place == ELEM_STITCHES) return o->num_stitches;
  if (place == ELEM_TIES) {
    for (int64_t k = 0; k < b->num_ties; ++k) n += &b->objects[b->ties[k].from] == o;
    return n;
  }
  if (!build_has(o, type)) return 0;
  if (o->tri_region != NULL) return count_in_regions(o, type, place);
  if (!build_elem_material(o, type, place, 0, mat)) return 0;
  switch (place) {
  case ELEM_EDGES:
    return o->tp.num_edges;
  case ELEM_CROSSINGS:
  case ELEM_HINGES:
    return o->inner_edges;
  case ELEM_TRIANGLES:
  case ELEM_PATCHES:
    return o->m.num_tris;
  case ELEM_TETS:
    return o->m.num_tets;
  default: /* ELEM_JOINTS */
    for (int32_t k = 0; k < o->yarns.num_yarns; ++k) n += yarn_num_joints(&o->yarns, k);
    return n;
  }
}

/* ---- one element after the other into the arrays of a block ---- */

typedef struct filler {
  builder *b;
  const elem_type *type;
  int index; /* of the type */
  int64_t n; /* elements so far */
  int32_t *verts;
  loom_real *rest, *mat;
} filler;

/* The material of element e in place of `all` where the object has regions: own [ELEM_MAX_MAT];
 * NULL: there is no element. */
static const double *choose_material(const filler *f, const object *o, uint32_t place, int64_t e,
                                     const double *all, double *own)
{
  if (o->tri_region == NULL) return all;
  return build_elem_material(o, f->index, place, e, own) ? own : NULL;
}

/* Element e at a place of the object, on the vertices `local`. */
static loom_status put_element(filler *f, const object *o, uint32_t place, int64_t e,
                               const int32_t *local, const double *mat)
{
  double X[3 * ELEM_MAX_ARITY], rest[ELEM_MAX_REST], own[ELEM_MAX_MAT];
  const elem_type *t = f->type;
  if (place != ELEM_PINS && place != ELEM_STITCHES) mat = choose_material(f, o, place, e, mat, own);
  if (mat == NULL) return LOOM_OK;
  build_rest_element(o, place, e, local, t->arity, X);
  for (int a = 0; a < t->arity; ++a) f->verts[t->arity * f->n + a] = o->first_vert + local[a];
  const char *why = t->init_rest(X, rest);
  if (why != NULL)
    return err_set(f->b->err, LOOM_E_CONFIG, "%s: %s %lld on vertices %d, %d, ...: %s", o->label,
                   t->name, (long long)f->n, local[0], local[t->arity > 1], why);
  for (int k = 0; k < t->rest_len; ++k) f->rest[t->rest_len * f->n + k] = (loom_real)rest[k];
  for (int k = 0; k < t->mat_len; ++k) f->mat[t->mat_len * f->n + k] = (loom_real)mat[k];
  ++f->n;
  return LOOM_OK;
}

/* Vertices of the hinge on inner edge e: x0, x1 along the edge as the first triangle runs,
 * x2 opposite in it, x3 opposite in the other. */
static void hinge_verts(const object *o, int64_t e, int32_t v[4])
{
  const int32_t *side = o->tp.sides + o->tp.first[e];
  int32_t from, to;
  topo_side(o->m.tris, side[0], &v[0], &v[1], &v[2]);
  topo_side(o->m.tris, side[1], &from, &to, &v[3]);
}

/* Elements on every inner edge: on its hinge, or on the two opposite vertices. */
static loom_status put_hinges(filler *f, const object *o, uint32_t place, const double *mat)
{
  for (int64_t e = 0; e < o->tp.num_edges; ++e) {
    int32_t v[4];
    if (o->tp.first[e + 1] - o->tp.first[e] != 2) continue;
    hinge_verts(o, e, v);
    LOOM_TRY(put_element(f, o, place, e, v + (place == ELEM_CROSSINGS ? 2 : 0), mat));
  }
  return LOOM_OK;
}

/* Elements on the rows of verts [n][arity]. */
static loom_status append_row_elements(filler *f, const object *o, uint32_t place,
                                       const int32_t *verts, int64_t n, const double *mat)
{
  for (int64_t e = 0; e < n; ++e)
    LOOM_TRY(put_element(f, o, place, e, verts + f->type->arity * e, mat));
  return LOOM_OK;
}

static loom_status put_pins(filler *f, const object *o)
{
  for (int32_t g = 0; g < f->b->s->motion->num_groups; ++g) {
    pin_group *p = &f->b->s->motion->groups[g];
    const int32_t first = p->verts[0] - o->first_vert;
    if (!(p->stiffness > 0) || first < 0 || first >= o->m.num_verts) continue;
    p->first_elem = f->n;
    for (int64_t k = 0; k < p->count; ++k) {
      const int32_t v = p->verts[k] - o->first_vert;
      const double mat[4] = {p->held ? p->stiffness : 0, p->x[3 * k], p->x[3 * k + 1],
                             p->x[3 * k + 2]};
      LOOM_TRY(put_element(f, o, ELEM_PINS, k, &v, mat));
    }
  }
  return LOOM_OK;
}

/* Of threads that are closed; build_sewing() gives them their lengths. */
static loom_status put_stitches(filler *f, const object *o)
{
  for (int64_t k = 0; k < o->num_stitches; ++k) {
    const mesh_stitch *const s = &o->stitches[k];
    const int32_t v[3] = {s->i, s->a, s->b};
    const double mat[3] = {o->cloth.stitch_stiffness, 0, s->t};
    LOOM_TRY(put_element(f, o, ELEM_STITCHES, k, v, mat));
  }
  return LOOM_OK;
}

/* Of objects that are tied to others: vertices have their ids of the scene. */
static void put_ties(filler *f, const object *o)
{
  for (int64_t k = 0; k < f->b->num_ties; ++k) {
    const attachment *const a = &f->b->ties[k];
    if (&f->b->objects[a->from] != o) continue;
    for (int c = 0; c < f->type->arity; ++c) f->verts[f->type->arity * f->n + c] = a->verts[c];
    for (int c = 0; c < f->type->mat_len; ++c)
      f->mat[f->type->mat_len * f->n + c] = (loom_real)a->mat[c];
    ++f->n;
  }
}

/* Positions at the start of yarn k, into X, and the rest state that files give for it. */
static const char *pose_yarn(const filler *f, const object *o, int32_t k, double *X, double *rest,
                             int32_t *at)
{
  const yarn_set *const y = &o->yarns;
  const int32_t first = y->first[k], n = y->first[k + 1] - first;
  int64_t seg = 0, joint = 0;
  if (f->type->pose_line == NULL) return NULL;
  for (int32_t j = 0; j < k; ++j) {
    seg += yarn_num_segs(y, j);
    joint += yarn_num_joints(y, j);
  }
  for (int32_t i = 0; i < n; ++i)
    pose_apply(o->place, o->m.x + 3 * (int64_t)(first + i), X + 3 * (int64_t)i);
  const elem_line l = {.x = X,
                       .n = n,
                       .closed = y->closed[k],
                       .elsewhere = o->rest_x != NULL,
                       .length = o->seg_rest != NULL ? o->seg_rest + seg : NULL,
                       .curvature = o->curvature != NULL ? o->curvature + 5 * joint : NULL,
                       .director = o->directors != NULL ? o->directors + 3 * seg : NULL,
                       .settings = build_elem_settings(o, f->index)};
  /* cppcheck-suppress returnDanglingLifetime ; the result is a constant text */
  return f->type->pose_line(&l, rest, at);
}

/* Elements of one yarn; X [n][3] and rest [n][rest_len] are room for all of it. */
static loom_status put_yarn(filler *f, const object *o, int32_t k, const double *mat, double *X,
                            double *rest)
{
  const elem_type *const t = f->type;
  const int32_t first = o->yarns.first[k], n = o->yarns.first[k + 1] - first;
  const int32_t joints = yarn_num_joints(&o->yarns, k);
  int32_t at = 0;
  for (int32_t i = 0; i < n; ++i)
    pose_apply(o->place, build_yarn_rest(o) + 3 * (int64_t)(first + i), X + 3 * (int64_t)i);
  const char *why = t->init_line(X, n, o->yarns.closed[k], rest, &at);
  if (why == NULL) why = pose_yarn(f, o, k, X, rest, &at);
  if (why != NULL)
    return err_set(f->b->err, LOOM_E_CONFIG, "%s: yarn %d at its vertices %d, %d, ...: %s",
                   o->label, k, at, (at + 1) % n, why);
  for (int32_t i = 0; i < joints; ++i, ++f->n) {
    for (int32_t a = 0; a < 3; ++a) f->verts[3 * f->n + a] = o->first_vert + first + (i + a) % n;
    for (int c = 0; c < t->rest_len; ++c)
      f->rest[t->rest_len * f->n + c] = (loom_real)rest[(int64_t)t->rest_len * i + c];
    for (int c = 0; c < t->mat_len; ++c) f->mat[t->mat_len * f->n + c] = (loom_real)mat[c];
  }
  return LOOM_OK;
}

static loom_status append_joint_elements(filler *f, const object *o, const double *mat)
{
  double *X = NULL, *rest = NULL;
  loom_status s = mesh_alloc(f->b->err, 3 * (int64_t)o->m.num_verts, sizeof *X, &X);
  if (s == LOOM_OK)
    s = mesh_alloc(f->b->err, (int64_t)f->type->rest_len * o->m.num_verts, sizeof *rest, &rest);
  for (int32_t k = 0; k < o->yarns.num_yarns && s == LOOM_OK; ++k)
    s = put_yarn(f, o, k, mat, X, rest);
  free(rest);
  free(X);
  return s;
}

static loom_status put_patches(filler *f, const object *o, const double *mat)
{
  const elem_type *const t = f->type;
  LOOM_TRY(
      build_patches(f->b, o, f->index, f->verts + t->arity * f->n, f->rest + t->rest_len * f->n));
  for (int64_t k = 0; k < o->m.num_tris; ++k) {
    double own[ELEM_MAX_MAT];
    const double *const m = choose_material(f, o, ELEM_PATCHES, k, mat, own);
    for (int c = 0; c < t->mat_len; ++c)
      f->mat[t->mat_len * (f->n + k) + c] = m != NULL ? (loom_real)m[c] : 0;
  }
  f->n += o->m.num_tris;
  return LOOM_OK;
}

static loom_status put_at(filler *f, const object *o, uint32_t place)
{
  double mat[ELEM_MAX_MAT];
  if (count_at(f->b, o, f->index, place, mat) == 0) return LOOM_OK;
  switch (place) {
  case ELEM_EDGES:
    return append_row_elements(f, o, place, o->tp.edges, o->tp.num_edges, mat);
  case ELEM_CROSSINGS:
  case ELEM_HINGES:
    return put_hinges(f, o, place, mat);
  case ELEM_TRIANGLES:
    return append_row_elements(f, o, place, o->m.tris, o->m.num_tris, mat);
  case ELEM_TETS:
    return append_row_elements(f, o, place, o->m.tets, o->m.num_tets, mat);
  case ELEM_PINS:
    return put_pins(f, o);
  case ELEM_STITCHES:
    return put_stitches(f, o);
  case ELEM_PATCHES:
    return put_patches(f, o, mat);
  case ELEM_TIES:
    put_ties(f, o);
    return LOOM_OK;
  default: /* ELEM_JOINTS */
    return append_joint_elements(f, o, mat);
  }
}

/* A block of all triangles of the scene needs no list of its own. */
static loom_status share_triangles(builder *b, loom_elem_block *k)
{
  scene_data *s = b->s;
  void *own, *all;
  if (k->arity != 3 || k->num_elems != s->pub.num_tris) return LOOM_OK;
  LOOM_TRY(buf_map(s->m, NULL, k->verts, LOOM_READ, LOOM_AT_HOST, &own));
  LOOM_TRY(buf_map(s->m, NULL, s->pub.tris, LOOM_READ, LOOM_AT_HOST, &all));
  const int same = memcmp(own, all, 3 * sizeof(int32_t) * (size_t)k->num_elems) == 0;
  LOOM_TRY(buf_unmap(s->m, s->pub.tris));
  LOOM_TRY(buf_unmap(s->m, k->verts));
  if (!same) return LOOM_OK;
  buf_free(s->m, k->verts);
  k->verts = s->pub.tris;
  return LOOM_OK;
}

/* Shares the rest data of another type's block, so that both change together. */
static void share_rest(builder *b, loom_elem_block *k, const char *other)
{
  const loom_elem_block *from = b->s->blocks;
  while (from < k && strcmp(from->type, other) != 0) ++from;
  if (from == k) return;
  buf_free(b->s->m, k->rest);
  k->rest = from->rest;
}

static loom_status build_block(builder *b, int type, int64_t count)
{
  scene_data *s = b->s;
  const elem_type *t = elem_at(type);
  if (count > INT32_MAX / 4)
    return err_set(b->err, LOOM_E_CONFIG, "%lld elements of type %s are too many", (long long)count,
                   t->name);
  loom_elem_block *k = &s->blocks[s->pub.num_blocks];
  *k = (loom_elem_block){.struct_size = sizeof *k,
                         .caps = t->caps,
                         .type = t->name,
                         .num_elems = (int32_t)count,
                         .arity = t->arity,
                         .rest_len = t->rest_len,
                         .mat_len = t->mat_len,
                         .proj_rows = t->proj_rows};
  ++s->pub.num_blocks;
  if (t->topology == ELEM_PINS) s->motion->pin_block = s->pub.num_blocks - 1;
  LOOM_TRY(build_new(b, "elem_verts", LOOM_I32, count * t->arity, &k->verts));
  LOOM_TRY(build_new(b, "elem_rest", LOOM_REAL, count * t->rest_len, &k->rest));
  LOOM_TRY(build_new(b, "elem_mat", LOOM_REAL, count * t->mat_len, &k->mat));
  filler f = {.b = b, .type = t, .index = type};
  LOOM_TRY(build_map(b, k->verts, &f.verts));
  LOOM_TRY(build_map(b, k->rest, &f.rest));
  LOOM_TRY(build_map(b, k->mat, &f.mat));
  for (int i = 0; i < b->num_objects; ++i)
    for (uint32_t place = 1; place <= t->topology; place <<= 1)
      if ((t->topology & place) != 0) LOOM_TRY(put_at(&f, &b->objects[i], place));
  LOOM_TRY(buf_unmap(s->m, k->verts));
  LOOM_TRY(buf_unmap(s->m, k->rest));
  LOOM_TRY(buf_unmap(s->m, k->mat));
  if (t->topology == ELEM_STITCHES) LOOM_TRY(build_sewing(b, s->pub.num_blocks - 1));
  if (t->rest_of != NULL) share_rest(b, k, t->rest_of);
  return share_triangles(b, k);
}

static loom_status check_materials(const builder *b)
{
  for (int type = 0; type < elem_count(); ++type)
    for (int i = 0; i < b->num_objects; ++i) {
      const object *const o = &b->objects[i];
      const elem_type *const t = elem_at(type);
      const char *key = NULL;
      if (t->check == NULL || !build_has(o, type)) continue;
      const loom_status s = t->check(b->err, build_elem_settings(o, type), &key);
      if (s != LOOM_OK) return build_place(b, o->sec, key, s);
      for (int32_t k = 0; k < o->num_regions; ++k) {
        const region *const r = &o->regions[k];
        const loom_status in = t->check(b->err, &r->elem[elem_settings_of(type)], &key);
        if (in != LOOM_OK) return build_place(b, r->sec, key, in);
      }
    }
  return LOOM_OK;
}

static int64_t count_block_elements(const builder *b, int type)
{
  const uint32_t topology = elem_at(type)->topology;
  double mat[ELEM_MAX_MAT];
  int64_t n = 0;
  for (int i = 0; i < b->num_objects; ++i)
    for (uint32_t place = 1; place <= topology; place <<= 1)
      if ((topology & place) != 0) n += count_at(b, &b->objects[i], type, place, mat);
  return n;
}

loom_status build_blocks(builder *b)
{
  LOOM_TRY(check_materials(b));
  LOOM_TRY(mesh_alloc(b->err, elem_count(), sizeof *b->s->blocks, &b->s->blocks));
  b->s->pub.blocks = b->s->blocks;
  b->s->motion->pin_block = -1;
  for (uint32_t place = 1; place <= ELEM_TIES; place <<= 1)
    for (int type = 0; type < elem_count(); ++type) {
      const uint32_t topology = elem_at(type)->topology;
      if ((topology & -topology) != place) continue; /* the first place of the type */
      const int64_t count = count_block_elements(b, type);
      if (count > 0) LOOM_TRY(build_block(b, type, count));
    }
  return LOOM_OK;
}
