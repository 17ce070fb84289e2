/* blocks.c - element blocks of a scene: one per element type, objects in order.
 *
 * Rest data comes from the object's own mesh before it is placed, so material axes turn
 * with the sheet. */
#include <math.h>
#include <string.h>

#include "elements/elements.h"
#include "elements/rest.h"
#include "scene/build.h"
#include "scene/pose.h"

enum {
  SPRING,
  TRI_ARAP,
  TRI_STVK,
  HINGE_ISOMETRIC,
  HINGE_SHELL,
  TET_ARAP,
  PIN,
  YARN_BEND,
  YARN_TWIST,
  NUM_BLOCKS
};

static const char *const block_names[NUM_BLOCKS] = {
    "spring",   "tri_arap", "tri_stvk",  "hinge_isometric", "hinge_shell",
    "tet_arap", "pin",      "yarn_bend", "yarn_twist"};

/* Which models use a type: bits of MODEL_*. */
static const uint32_t block_models[NUM_BLOCKS] = {
    [SPRING] = 1u << MODEL_SPRINGS,
    [TRI_ARAP] = 1u << MODEL_ARAP_ISOMETRIC | 1u << MODEL_ARAP_SHELL,
    [TRI_STVK] = 1u << MODEL_STVK_ISOMETRIC | 1u << MODEL_STVK_SHELL,
    [HINGE_ISOMETRIC] = 1u << MODEL_ARAP_ISOMETRIC | 1u << MODEL_STVK_ISOMETRIC,
    [HINGE_SHELL] = 1u << MODEL_ARAP_SHELL | 1u << MODEL_STVK_SHELL};

static int64_t count_elements(const builder *b, const object *o, int kind)
{
  if (kind == TET_ARAP) return o->m.num_tets;
  if (kind == PIN) {
    int64_t n = 0;
    for (int32_t g = 0; g < b->s->motion->num_groups; ++g) {
      const pin_group *p = &b->s->motion->groups[g];
      const int32_t v = p->verts[0] - o->first_vert;
      if (p->stiffness > 0 && v >= 0 && v < o->m.num_verts) n += p->count;
    }
    return n;
  }
  if (kind == YARN_BEND || kind == YARN_TWIST) {
    int64_t n = 0;
    for (int32_t k = 0; k < o->yarns.num_yarns; ++k) n += yarn_num_joints(&o->yarns, k);
    return n;
  }
  if (o->kind != OBJECT_CLOTH || !(block_models[kind] >> o->cloth.model & 1)) return 0;
  if (kind == SPRING) return o->tp.num_edges + (o->cloth.k_cross > 0 ? o->inner_edges : 0);
  return kind == TRI_ARAP || kind == TRI_STVK ? o->m.num_tris : o->inner_edges;
}

/* ---- one element after the other into the arrays of a block ------------------------------- */

typedef struct filler {
  builder *b;
  const elem_type *type;
  int64_t n; /* elements so far */
  int32_t *verts;
  loom_real *rest, *mat;
} filler;

static loom_status put_element(filler *f, const object *o, const int32_t *local, const double *mat)
{
  double X[3 * ELEM_MAX_ARITY], rest[ELEM_MAX_REST];
  const elem_type *t = f->type;
  for (int a = 0; a < t->arity; ++a) {
    memcpy(X + 3 * (size_t)a, o->m.x + 3 * (int64_t)local[a], 3 * sizeof(double));
    f->verts[t->arity * f->n + a] = o->first_vert + local[a];
  }
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

static loom_status put_hinges(filler *f, const object *o, double k)
{
  for (int64_t e = 0; e < o->tp.num_edges; ++e) {
    int32_t v[4];
    if (o->tp.first[e + 1] - o->tp.first[e] != 2) continue;
    hinge_verts(o, e, v);
    LOOM_TRY(put_element(f, o, v, &k));
  }
  return LOOM_OK;
}

static loom_status put_springs(filler *f, const object *o)
{
  for (int64_t e = 0; e < o->tp.num_edges; ++e)
    LOOM_TRY(put_element(f, o, o->tp.edges + 2 * e, &o->cloth.k_spring));
  for (int64_t e = 0; e < o->tp.num_edges && o->cloth.k_cross > 0; ++e) {
    int32_t v[4];
    if (o->tp.first[e + 1] - o->tp.first[e] != 2) continue;
    hinge_verts(o, e, v);
    LOOM_TRY(put_element(f, o, v + 2, &o->cloth.k_cross));
  }
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
      const double mat[4] = {p->stiffness, p->x[3 * k], p->x[3 * k + 1], p->x[3 * k + 2]};
      LOOM_TRY(put_element(f, o, &v, mat));
    }
  }
  return LOOM_OK;
}

/* Rods of one yarn, with frames that neighbours share: transported along the yarn from its
 * first edge. */
static loom_status put_yarn(filler *f, const object *o, int32_t k, const double *mat)
{
  const int32_t first = o->yarns.first[k], n = o->yarns.first[k + 1] - first;
  const int32_t joints = yarn_num_joints(&o->yarns, k);
  double u[2][3] = {{0}}, start[3] = {0};
  for (int32_t i = 0; i < joints; ++i) {
    double X[9], t[2][3], len[2], rest[ELEM_MAX_REST] = {0};
    int32_t *v = f->verts + 3 * f->n;
    for (int32_t a = 0; a < 3; ++a) {
      const int32_t local = first + (i + a) % n;
      v[a] = o->first_vert + local;
      pose_apply(o->place, o->m.x + 3 * (int64_t)local, X + 3 * (size_t)a);
    }
    const char *why = rest_rod_edges(X, t, len);
    if (why != NULL)
      return err_set(f->b->err, LOOM_E_CONFIG, "%s: yarn %d at its vertices %d, %d, ...: %s",
                     o->label, k, i, (i + 1) % n, why);
    if (i == 0) rest_rod_start(t[0], u[0]);
    if (i == 0) memcpy(start, u[0], sizeof start);
    rest_rod_transport(u[0], t[0], t[1], u[1]);
    if (o->yarns.closed[k] && i == joints - 1) memcpy(u[1], start, sizeof start);
    rest_rod_frames(t, len, u, rest);
    for (int a = 0; a < f->type->rest_len; ++a)
      f->rest[f->type->rest_len * f->n + a] = (loom_real)rest[a];
    for (int a = 0; a < f->type->mat_len; ++a)
      f->mat[f->type->mat_len * f->n + a] = (loom_real)mat[a];
    memcpy(u[0], u[1], sizeof start);
    ++f->n;
  }
  return LOOM_OK;
}

static loom_status put_yarns(filler *f, const object *o, int kind)
{
  const yarn_settings *s = &o->yarn;
  const double bend[ELEM_MAX_MAT] = {s->bending, s->plasticity, s->plasticity_max};
  const double twist[ELEM_MAX_MAT] = {s->twisting};
  for (int32_t k = 0; k < o->yarns.num_yarns; ++k)
    LOOM_TRY(put_yarn(f, o, k, kind == YARN_BEND ? bend : twist));
  return LOOM_OK;
}

static loom_status put_object(filler *f, const object *o, int kind)
{
  const cloth_settings *c = &o->cloth;
  if (count_elements(f->b, o, kind) == 0) return LOOM_OK;
  switch (kind) {
  case SPRING:
    return put_springs(f, o);
  case HINGE_ISOMETRIC:
    return put_hinges(f, o, c->bending);
  case HINGE_SHELL:
    return put_hinges(f, o, c->k_e);
  case PIN:
    return put_pins(f, o);
  case YARN_BEND:
  case YARN_TWIST:
    return put_yarns(f, o, kind);
  case TET_ARAP:
    for (int64_t t = 0; t < o->m.num_tets; ++t)
      LOOM_TRY(put_element(f, o, o->m.tets + 4 * t, &o->solid.stiffness));
    return LOOM_OK;
  default:
    break;
  }
  const double mat[4] = {kind == TRI_ARAP ? c->membrane : c->k0, c->k1, c->k2, c->k3};
  for (int64_t t = 0; t < o->m.num_tris; ++t) LOOM_TRY(put_element(f, o, o->m.tris + 3 * t, mat));
  return LOOM_OK;
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

/* The frames of bending and twist are the same ones, and change together. */
static void share_frames(builder *b, loom_elem_block *k)
{
  buf_free(b->s->m, k->rest);
  k->rest = k[-1].rest;
}

static loom_status build_block(builder *b, int kind, int64_t count)
{
  scene_data *s = b->s;
  const elem_type *t = elem_find(block_names[kind]);
  if (t == NULL)
    return err_set(b->err, LOOM_E_INTERNAL, "there is no element type %s", block_names[kind]);
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
  if (kind == PIN) s->motion->pin_block = s->pub.num_blocks - 1;
  LOOM_TRY(build_new(b, "elem_verts", LOOM_I32, count * t->arity, &k->verts));
  LOOM_TRY(build_new(b, "elem_rest", LOOM_REAL, count * t->rest_len, &k->rest));
  LOOM_TRY(build_new(b, "elem_mat", LOOM_REAL, count * t->mat_len, &k->mat));
  filler f = {.b = b, .type = t};
  LOOM_TRY(build_map(b, k->verts, &f.verts));
  LOOM_TRY(build_map(b, k->rest, &f.rest));
  LOOM_TRY(build_map(b, k->mat, &f.mat));
  for (int i = 0; i < b->num_objects; ++i) LOOM_TRY(put_object(&f, &b->objects[i], kind));
  LOOM_TRY(buf_unmap(s->m, k->verts));
  LOOM_TRY(buf_unmap(s->m, k->rest));
  LOOM_TRY(buf_unmap(s->m, k->mat));
  if (kind == YARN_TWIST) share_frames(b, k);
  return share_triangles(b, k);
}

/* k0 k2 > k1^2 and k3 > 0 make the membrane stable at rest. */
static loom_status check_stvk(builder *b)
{
  for (int k = 0; k < b->num_objects; ++k) {
    const object *o = &b->objects[k];
    const cloth_settings *c = &o->cloth;
    if (o->kind != OBJECT_CLOTH || !(block_models[TRI_STVK] >> c->model & 1)) continue;
    if (!(c->k0 * c->k2 > c->k1 * c->k1 && c->k3 > 0))
      return build_place(b, o->sec, "k1",
                         err_set(b->err, LOOM_E_CONFIG,
                                 "k0 k2 > k1^2 and k3 > 0 needed, or the sheet has no stable rest "
                                 "shape (k0 %g, k1 %g, k2 %g, k3 %g N/m)",
                                 c->k0, c->k1, c->k2, c->k3));
  }
  return LOOM_OK;
}

loom_status build_blocks(builder *b)
{
  LOOM_TRY(check_stvk(b));
  LOOM_TRY(mesh_alloc(b->err, NUM_BLOCKS, sizeof *b->s->blocks, &b->s->blocks));
  b->s->pub.blocks = b->s->blocks;
  b->s->motion->pin_block = -1;
  for (int kind = 0; kind < NUM_BLOCKS; ++kind) {
    int64_t count = 0;
    for (int i = 0; i < b->num_objects; ++i) count += count_elements(b, &b->objects[i], kind);
    if (count > 0) LOOM_TRY(build_block(b, kind, count));
  }
  return LOOM_OK;
}
