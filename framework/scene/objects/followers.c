/* followers.c - see followers.h. */
#include "scene/objects/followers.h"

#include <stdlib.h>
#include <string.h>

#include "scene/base/build.h"

/* ---- tables ---- */

static int64_t count_followers(const builder *b)
{
  int64_t n = 0;
  for (int k = 0; k < b->num_objects; ++k)
    if (b->objects[k].weights != NULL) n += b->objects[k].m.num_verts - AFFINE_NODES;
  return n;
}

static loom_status refuse_pins(const builder *b, const object *o)
{
  for (int32_t i = 0; i < o->m.num_verts; ++i)
    if (o->pinned[i])
      return build_place(b, o->sec, "model",
                         err_set(b->err, LOOM_E_CONFIG,
                                 "pins hold vertices of [%s], which is an affine body: it has no "
                                 "vertices of its own; hold it by contact, or take a body "
                                 "([body.NAME]) that moves as prescribed",
                                 cfg_section_name(o->sec)));
  return LOOM_OK;
}

/* Rows of followers, in the order of their ids. */
static loom_status fill_follower_rows(builder *b, scene_followers *f)
{
  int32_t *id, *first, *node, *slot, at = 0;
  loom_real *weight;
  LOOM_TRY(build_map(b, f->pub.id, &id));
  LOOM_TRY(build_map(b, f->pub.first, &first));
  LOOM_TRY(build_map(b, f->pub.node, &node));
  LOOM_TRY(build_map(b, f->pub.weight, &weight));
  LOOM_TRY(build_map(b, f->slot, &slot));
  for (int32_t i = 0; i < b->s->pub.num_verts; ++i) slot[i] = -1;
  for (int k = 0; k < b->num_objects; ++k) {
    const object *const o = &b->objects[k];
    for (int32_t i = 0; o->weights != NULL && i < o->m.num_verts; ++i) {
      f->role[o->first_vert + i] = i < AFFINE_NODES ? FOLLOWER_LEADS : FOLLOWER_FOLLOWS;
      if (i < AFFINE_NODES) continue;
      id[at] = o->first_vert + i;
      first[at] = AFFINE_NODES * at;
      slot[o->first_vert + i] = at;
      for (int a = 0; a < AFFINE_NODES; ++a) {
        node[AFFINE_NODES * at + a] = o->first_vert + a;
        weight[AFFINE_NODES * at + a] = (loom_real)o->weights[AFFINE_NODES * (int64_t)i + a];
      }
      ++at;
    }
  }
  first[at] = AFFINE_NODES * at;
  loom_buf *const mapped[] = {f->pub.id, f->pub.first, f->pub.node, f->pub.weight, f->slot};
  for (size_t k = 0; k < LOOM_COUNT(mapped); ++k) LOOM_TRY(buf_unmap(b->s->m, mapped[k]));
  return LOOM_OK;
}

static int32_t count_chunks(const object *o)
{
  return (o->m.num_verts - AFFINE_NODES + FOLLOWERS_CHUNK - 1) / FOLLOWERS_CHUNK;
}

/* The same by nodes: all followers of an object for each of its nodes. */
static loom_status fill_lists(builder *b, scene_followers *f)
{
  int32_t *node, *first_chunk, *first, *member, n = 0, chunk = 0, at = 0;
  loom_real *weight;
  LOOM_TRY(build_map(b, f->node, &node));
  LOOM_TRY(build_map(b, f->first_chunk, &first_chunk));
  LOOM_TRY(build_map(b, f->first, &first));
  LOOM_TRY(build_map(b, f->member, &member));
  LOOM_TRY(build_map(b, f->weight, &weight));
  for (int k = 0; k < b->num_objects; ++k) {
    const object *const o = &b->objects[k];
    for (int a = 0; o->weights != NULL && a < AFFINE_NODES; ++a) {
      node[n] = o->first_vert + a;
      first_chunk[n++] = chunk;
      for (int32_t i = AFFINE_NODES; i < o->m.num_verts; ++i, ++at) {
        if ((i - AFFINE_NODES) % FOLLOWERS_CHUNK == 0) first[chunk++] = at;
        member[at] = o->first_vert + i;
        weight[at] = (loom_real)o->weights[AFFINE_NODES * (int64_t)i + a];
      }
    }
  }
  first_chunk[n] = chunk;
  first[chunk] = at;
  loom_buf *const mapped[] = {f->node, f->first_chunk, f->first, f->member, f->weight};
  for (size_t k = 0; k < LOOM_COUNT(mapped); ++k) LOOM_TRY(buf_unmap(b->s->m, mapped[k]));
  return LOOM_OK;
}

/* What an impulse along a line through a follower meets: 1 / sum_a w_a^2 / m_a. */
static loom_status fill_seen_mass(builder *b, scene_followers *f)
{
  loom_real *seen;
  void *p;
  LOOM_TRY(build_map(b, f->seen.mass, &seen));
  const loom_status s = buf_map(b->s->m, NULL, b->s->pub.mass, LOOM_READ, LOOM_AT_HOST, &p);
  if (s != LOOM_OK) {
    *b->err = *mem_err(b->s->m);
    return s;
  }
  memcpy(seen, p, (size_t)b->s->pub.num_verts * sizeof *seen);
  for (int k = 0; k < b->num_objects; ++k) {
    const object *const o = &b->objects[k];
    for (int32_t i = AFFINE_NODES; o->weights != NULL && i < o->m.num_verts; ++i) {
      const double *const w = o->weights + AFFINE_NODES * (int64_t)i;
      double inverse = 0;
      for (int a = 0; a < AFFINE_NODES; ++a) inverse += w[a] * w[a] * AFFINE_NODES / o->mass;
      seen[o->first_vert + i] = (loom_real)(1 / inverse);
    }
  }
  LOOM_TRY(buf_unmap(b->s->m, b->s->pub.mass));
  return buf_unmap(b->s->m, f->seen.mass);
}

static loom_status mark_rigid_objects(builder *b, scene_followers *f)
{
  uint8_t *out;
  LOOM_TRY(build_map(b, f->rigid, &out));
  for (int k = b->num_objects - 1; k >= 0; --k) {
    out[k] = b->objects[k].weights != NULL;
    if (out[k]) f->name = b->s->pub.object_names[k];
  }
  return buf_unmap(b->s->m, f->rigid);
}

static loom_status alloc_tables(builder *b, scene_followers *f, int64_t m)
{
  const int64_t n = b->s->pub.num_verts, all = AFFINE_NODES * m;
  for (int k = 0; k < b->num_objects; ++k)
    if (b->objects[k].weights != NULL) {
      f->num_nodes += AFFINE_NODES;
      f->num_chunks += AFFINE_NODES * count_chunks(&b->objects[k]);
    }
  const struct {
    const char *name;
    int type;
    int64_t count;
    loom_buf **b;
  } list[] = {{"followers", LOOM_I32, m, &f->pub.id},
              {"first nodes", LOOM_I32, m + 1, &f->pub.first},
              {"nodes of followers", LOOM_I32, all, &f->pub.node},
              {"weights of followers", LOOM_REAL, all, &f->pub.weight},
              {"numbers of followers", LOOM_I32, n, &f->slot},
              {"rigid objects", LOOM_U8, b->num_objects, &f->rigid},
              {"nodes", LOOM_I32, f->num_nodes, &f->node},
              {"first chunks", LOOM_I32, f->num_nodes + 1, &f->first_chunk},
              {"chunks", LOOM_I32, f->num_chunks + 1, &f->first},
              {"members", LOOM_I32, all, &f->member},
              {"weights of members", LOOM_REAL, all, &f->weight},
              {"fixed for contact", LOOM_U8, n, &f->seen.fixed},
              {"mass for contact", LOOM_REAL, n, &f->seen.mass}};
  for (size_t k = 0; k < LOOM_COUNT(list); ++k)
    LOOM_TRY(build_new(b, list[k].name, list[k].type, list[k].count, list[k].b));
  return mesh_alloc(b->err, n, 1, &f->role);
}

loom_status build_followers(builder *b)
{
  const int64_t m = count_followers(b);
  scene_followers *f;
  void *fixed;
  if (m == 0) return LOOM_OK;
  for (int k = 0; k < b->num_objects; ++k)
    if (b->objects[k].weights != NULL) LOOM_TRY(refuse_pins(b, &b->objects[k]));
  LOOM_TRY(mesh_alloc(b->err, 1, sizeof *f, &f));
  b->s->followers = f;
  f->pub.struct_size = sizeof f->pub;
  f->pub.count = (int32_t)m;
  LOOM_TRY(alloc_tables(b, f, m));
  LOOM_TRY(fill_follower_rows(b, f));
  LOOM_TRY(fill_lists(b, f));
  LOOM_TRY(fill_seen_mass(b, f));
  LOOM_TRY(mark_rigid_objects(b, f));
  LOOM_TRY(buf_map(b->s->m, NULL, b->s->pub.fixed, LOOM_RDWR, LOOM_AT_HOST, &fixed));
  LOOM_TRY(scene_fix_followers(b->s, fixed));
  LOOM_TRY(buf_unmap(b->s->m, b->s->pub.fixed));
  return build_extend(b, LOOM_FOLLOWERS, &f->pub);
}

/* ---- two views ---- */

loom_status scene_fix_followers(scene_data *s, uint8_t *fixed)
{
  scene_followers *const f = s->followers;
  void *p;
  if (f == NULL) return LOOM_OK;
  LOOM_TRY(buf_map(s->m, NULL, f->seen.fixed, LOOM_WRITE, LOOM_AT_HOST, &p));
  uint8_t *const seen = p;
  for (int32_t i = 0; i < s->pub.num_verts; ++i) {
    seen[i] = fixed[i] || f->role[i] == FOLLOWER_LEADS;
    if (f->role[i] == FOLLOWER_FOLLOWS) fixed[i] = 1;
  }
  return buf_unmap(s->m, f->seen.fixed);
}

const loom_scene *scene_seen_by(scene_data *s, int kind)
{
  scene_followers *const f = s->followers;
  if (f == NULL) return &s->pub;
  loom_buf *const fixed = f->seen.fixed, *const mass = f->seen.mass;
  f->seen = f->solved = s->pub;
  f->solved.mass = mass;
  f->seen.fixed = fixed;
  f->seen.mass = mass;
  return kind == LOOM_KIND_SOLVER ? &f->solved : &f->seen;
}

const char *scene_following(const scene_data *s)
{
  return s->followers != NULL ? s->followers->name : NULL;
}

void scene_followers_free(scene_data *s)
{
  scene_followers *const f = s->followers;
  if (f == NULL) return;
  loom_buf *const all[] = {f->pub.id, f->pub.first,  f->pub.node,    f->pub.weight, f->slot,
                           f->rigid,  f->node,       f->first_chunk, f->first,      f->member,
                           f->weight, f->seen.fixed, f->seen.mass};
  for (size_t k = 0; k < LOOM_COUNT(all); ++k) buf_free(s->m, all[k]);
  free(f->role);
  free(f);
  s->followers = NULL;
}
