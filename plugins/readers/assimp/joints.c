/* joints.c - joints: nodes that are a bone of some mesh, parents first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frames.h"
#include "reader.h"

/* Nesting is bounded, as the walk over it is recursive, here and in the library. */
enum { MAX_DEPTH = 1024 };

/* ---- the nodes ---- */

static loom_status count_nodes(reader *r, const struct aiNode *n, int depth, int64_t *num)
{
  if (depth > MAX_DEPTH)
    return reader_fail(r, LOOM_E_CONFIG,
                       "its nodes are nested deeper than 1024; export the skeleton alone");
  if (++*num > INT32_MAX / 2) return reader_fail(r, LOOM_E_CONFIG, "it has too many nodes");
  for (unsigned k = 0; k < n->mNumChildren; ++k)
    LOOM_TRY(count_nodes(r, n->mChildren[k], depth + 1, num));
  return LOOM_OK;
}

static void list_nodes(reader *r, const struct aiNode *n, int32_t parent)
{
  const int32_t at = r->num_nodes++;
  r->node[at] = (rig_node){.node = n, .parent = parent, .joint = -1, .above = -1, .given = -1};
  for (unsigned k = 0; k < n->mNumChildren; ++k) list_nodes(r, n->mChildren[k], at);
}

/* ---- the joints among them ---- */

static size_t count_bones(const reader *r)
{
  size_t num = 0;
  for (unsigned m = 0; m < r->s->mNumMeshes; ++m) num += r->s->mMeshes[m]->mNumBones;
  return num;
}

static loom_status list_bones(reader *r, names *bones)
{
  const size_t num = count_bones(r);
  if (!names_room(bones, num)) return reader_fail(r, LOOM_E_NOMEM, "out of memory");
  for (unsigned m = 0; m < r->s->mNumMeshes; ++m)
    for (unsigned b = 0; b < r->s->mMeshes[m]->mNumBones; ++b) {
      const struct aiBone *const bone = r->s->mMeshes[m]->mBones[b];
      names_add(bones, bone->mName.data, bone);
    }
  names_sort(bones);
  return LOOM_OK;
}

static void add_joint(reader *r, rig_node *n, const struct aiBone *b, int32_t parent)
{
  const int32_t j = r->out->num_joints++;
  loom_rig_joint *const to = &r->out->joint[j];
  snprintf(to->name, sizeof to->name, "%.63s", n->node->mName.data);
  for (char *p = to->name; *p != '\0'; ++p)
    if (*p == ' ' || *p == '.') *p = '_'; /* names stand in files of words, joint.angle */
  to->parent = parent;
  n->joint = j;
  map_of(&b->mOffsetMatrix, r->bind[j]);
}

static void add_joints(reader *r, const names *bones)
{
  for (int32_t i = 0; i < r->num_nodes; ++i) {
    rig_node *const n = &r->node[i];
    const rig_node *const up = n->parent >= 0 ? &r->node[n->parent] : NULL;
    const struct aiBone *const b = names_find(bones, n->node->mName.data);
    n->above = up == NULL ? -1 : up->joint >= 0 ? up->joint : up->above;
    if (b != NULL) add_joint(r, n, b, n->above);
  }
  for (int32_t i = r->num_nodes - 1; i >= 0; --i) {
    r->node[i].used |= r->node[i].joint >= 0;
    if (r->node[i].used && r->node[i].parent >= 0) r->node[r->node[i].parent].used = 1;
  }
}

/* The nodes of the result: all that are used, parents first. */
static loom_status put_rig_nodes(reader *r)
{
  loom_rig_file *const f = r->out;
  LOOM_TRY(reader_room(r, (size_t)r->num_nodes + count_bones(r), sizeof *f->node, &f->node));
  for (int32_t i = 0; i < r->num_nodes; ++i) {
    rig_node *const n = &r->node[i];
    if (!n->used) continue;
    loom_rig_node *const to = &f->node[f->num_nodes];
    n->given = f->num_nodes++;
    to->parent = n->parent >= 0 ? r->node[n->parent].given : -1;
    to->joint = n->joint;
    map_of(&n->node->mTransformation, to->local);
  }
  return LOOM_OK;
}

static loom_status name_joints(reader *r)
{
  if (!names_room(&r->joints, (size_t)r->out->num_joints))
    return reader_fail(r, LOOM_E_NOMEM, "out of memory");
  for (int32_t i = 0; i < r->num_nodes; ++i)
    if (r->node[i].joint >= 0) names_add(&r->joints, r->node[i].node->mName.data, &r->node[i]);
  names_sort(&r->joints);
  return LOOM_OK;
}

/* The pose of binding, moved by the rest pose of the first joint into the units and axes of the
 * scene. */
static loom_status put_rest(reader *r)
{
  double at[12], inverse[12];
  int32_t first = 0;
  while (r->node[first].joint != 0) ++first;
  node_at_rest(r->node[first].node, at);
  map_mul(at, r->bind[0], r->to_world);
  for (int32_t j = 0; j < r->out->num_joints; ++j) {
    if (!map_inverse(r->bind[j], inverse))
      return reader_fail(r, LOOM_E_CONFIG, READER_NO_BIND_POSE);
    map_mul(r->to_world, inverse, r->out->joint[j].rest);
  }
  return LOOM_OK;
}

loom_status reader_nodes(reader *r)
{
  int64_t nodes = 0;
  LOOM_TRY(count_nodes(r, r->s->mRootNode, 0, &nodes));
  LOOM_TRY(reader_room(r, (size_t)nodes, sizeof *r->node, &r->node));
  list_nodes(r, r->s->mRootNode, -1);
  return LOOM_OK;
}

loom_status reader_joints(reader *r)
{
  names bones = {0};
  LOOM_TRY(reader_nodes(r));
  const size_t most = (size_t)r->num_nodes + count_bones(r); /* binds.c adds some */
  LOOM_TRY(reader_room(r, most, sizeof *r->out->joint, &r->out->joint));
  LOOM_TRY(reader_room(r, most, sizeof *r->bind, &r->bind));
  LOOM_TRY(list_bones(r, &bones));
  add_joints(r, &bones);
  r->num_own = r->out->num_joints;
  names_free(&bones);
  if (r->out->num_joints == 0)
    return reader_fail(
        r, LOOM_E_CONFIG,
        r->s->mNumAnimations > 0
            ? "has an animation and no skin: no mesh has joints and weights; export them, too"
            : "has no skin: no mesh has joints and weights; a mesh alone is shape = mesh");
  LOOM_TRY(put_rig_nodes(r));
  LOOM_TRY(name_joints(r));
  return put_rest(r);
}
