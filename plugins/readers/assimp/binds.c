/* binds.c - the joints of a mesh, where the meshes of a file are bound in places of their own.
 *
 * A bone of a mesh maps its vertices to its node; several meshes may have a bone on one node, each
 * with a map of its own.  A joint of the result has one map, so the vertices of a mesh are shifted,
 * turned and sized together until the maps agree; a bone whose map still differs becomes a joint
 * that hangs on the first one's node. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "frames.h"
#include "reader.h"

/* A vertex may be this far off where two maps count as one, by the size of the mesh: rounding of
 * files in single precision. */
static const double same_place = 5e-7;

static int is_same_map(const double a[12], const double b[12])
{
  for (int k = 0; k < 12; ++k)
    if (a[k] != b[k]) return 0;
  return 1;
}

static void apply_map(const double A[12], const struct aiVector3D *p, double out[3])
{
  for (int i = 0; i < 3; ++i)
    out[i] = A[3 * i] * (double)p->x + A[3 * i + 1] * (double)p->y + A[3 * i + 2] * (double)p->z +
             A[9 + i];
}

/* Where a joint with the map `bind` would put the vertices of a bone at rest. */
static int map_at_rest(const reader *r, const double bind[12], const struct aiBone *b,
                       double out[12])
{
  double inverse[12], own[12];
  map_of(&b->mOffsetMatrix, own);
  if (is_same_map(bind, own)) {
    memcpy(out, r->to_world, sizeof own);
    return 1;
  }
  if (!map_inverse(bind, inverse)) return 0;
  map_mul(r->to_world, inverse, inverse);
  map_mul(inverse, own, out);
  return 1;
}

static double mesh_size(const struct aiMesh *m, const double at[12])
{
  double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
  for (unsigned v = 0; v < m->mNumVertices; ++v) {
    double p[3];
    apply_map(at, &m->mVertices[v], p);
    for (int c = 0; c < 3; ++c) low[c] = fmin(low[c], p[c]), high[c] = fmax(high[c], p[c]);
  }
  return m->mNumVertices > 0 ? fmax(high[0] - low[0], fmax(high[1] - low[1], high[2] - low[2])) : 0;
}

/* How far the vertices of a bone would be off on the joint j, weighted. */
static double measure_misfit(const reader *r, const struct aiMesh *m, const struct aiBone *b,
                             int32_t j, const double at[12])
{
  double own[12], most = 0;
  if (!map_at_rest(r, r->bind[j], b, own)) return INFINITY;
  if (is_same_map(own, at)) return 0;
  for (unsigned k = 0; k < b->mNumWeights; ++k) {
    double p[3], q[3], d2 = 0;
    apply_map(own, &m->mVertices[b->mWeights[k].mVertexId], p);
    apply_map(at, &m->mVertices[b->mWeights[k].mVertexId], q);
    for (int c = 0; c < 3; ++c) d2 += (p[c] - q[c]) * (p[c] - q[c]);
    most = fmax(most, fabs((double)b->mWeights[k].mWeight) * sqrt(d2));
  }
  return most;
}

/* A name that no joint has: that of the first joint of the node with a number. */
static void name_again(const reader *r, int32_t first, char name[64])
{
  for (int number = 2, taken = 1; taken; ++number) {
    snprintf(name, 64, "%.50s_%d", r->out->joint[first].name, number);
    taken = 0;
    for (int32_t j = 0; j < r->out->num_joints && !taken; ++j)
      taken = strcmp(r->out->joint[j].name, name) == 0;
  }
}

/* A joint that hangs on another one, with the map of this bone. */
static loom_status hang_joint(reader *r, const rig_node *n, const struct aiBone *b,
                              const double at[12])
{
  enum { MOST = 4096 };
  loom_rig_file *const f = r->out;
  const int32_t j = f->num_joints;
  loom_rig_joint *const to = &f->joint[j];
  loom_rig_node *const node = &f->node[f->num_nodes];
  double inverse[12];
  if (j >= MOST)
    return reader_fail(r, LOOM_E_CONFIG,
                       "its meshes are bound to their joints in too many poses; export them with "
                       "one bind pose");
  name_again(r, n->joint, to->name);
  to->parent = n->joint;
  map_of(&b->mOffsetMatrix, to->rest);
  if (!map_inverse(at, inverse)) return reader_fail(r, LOOM_E_CONFIG, READER_NO_BIND_POSE);
  map_mul(to->rest, inverse, r->bind[j]); /* skin at rest to joint */
  if (!map_inverse(r->bind[j], to->rest)) return reader_fail(r, LOOM_E_CONFIG, READER_NO_BIND_POSE);
  map_mul(r->bind[j], r->to_world, r->bind[j]);
  *node = (loom_rig_node){.parent = n->given, .joint = j, .local = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  ++f->num_joints;
  ++f->num_nodes;
  return LOOM_OK;
}

/* The joint of a bone: that of its node, or one that hangs on it. */
static loom_status find_joint(reader *r, const struct aiMesh *m, const struct aiBone *b,
                              const double at[12], double tolerance, int32_t *joint)
{
  const rig_node *const n = names_find(&r->joints, b->mName.data);
  *joint = n != NULL ? n->joint : -1;
  if (n == NULL || !(measure_misfit(r, m, b, *joint, at) > tolerance)) return LOOM_OK;
  for (*joint = r->num_own; *joint < r->out->num_joints; ++*joint)
    if (r->out->joint[*joint].parent == n->joint &&
        !(measure_misfit(r, m, b, *joint, at) > tolerance))
      return LOOM_OK;
  return hang_joint(r, n, b, at);
}

/* Bones without a vertex have one with a weight of 0. */
static int bone_moves_vertices(const struct aiBone *b)
{
  for (unsigned k = 0; k < b->mNumWeights; ++k)
    if (b->mWeights[k].mWeight != 0) return 1;
  return 0;
}

loom_status reader_bind_mesh(reader *r, const struct aiMesh *m, double at[12], int32_t *joint)
{
  int placed = 0;
  memcpy(at, r->to_world, 12 * sizeof *at);
  for (unsigned b = 0; b < m->mNumBones && !placed; ++b) {
    const rig_node *const n = names_find(&r->joints, m->mBones[b]->mName.data);
    if (n == NULL || !bone_moves_vertices(m->mBones[b])) continue;
    if (!map_at_rest(r, r->bind[n->joint], m->mBones[b], at))
      return reader_fail(r, LOOM_E_CONFIG, READER_NO_BIND_POSE);
    placed = 1;
  }
  const double tolerance = same_place * mesh_size(m, at);
  for (unsigned b = 0; b < m->mNumBones; ++b)
    LOOM_TRY(find_joint(r, m, m->mBones[b], at, tolerance, &joint[b]));
  return LOOM_OK;
}
