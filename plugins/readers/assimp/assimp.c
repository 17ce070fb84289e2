/* assimp.c - skinned, animated bodies (glTF, Collada, FBX) by the Open Asset Import Library. */
#include <assimp/cimport.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>
#include <assimp/version.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frames.h"
#include "loom/host.h"
#include "loom/rig_reader.h"

enum { RATE = 60, MAX_PER = 16, MAX_FRAMES = 1 << 17 };

typedef struct reader {
  const struct aiScene *s;
  loom_rig_file *out;
  const struct aiNode **node; /* [num_joints] of joints */
  double (*bind)[12];         /* [num_joints] skin to joint, as the file binds them */
  double to_world[12];        /* of the skin as it was bound */
  char *why;
  size_t len;
} reader;

static loom_status fail(reader *r, loom_status s, const char *what)
{
  snprintf(r->why, r->len, "%s", what);
  return s;
}

static loom_status room(reader *r, size_t n, size_t item, void *out)
{
  void *const p = calloc(n > 0 ? n : 1, item);
  memcpy(out, &p, sizeof p);
  if (p == NULL) return fail(r, LOOM_E_NOMEM, "out of memory");
  /* cppcheck-suppress memleak ; *out has it */
  return LOOM_OK;
}

static void release(loom_rig_file *f)
{
  for (int32_t k = 0; f->clip != NULL && k < f->num_clips; ++k) free(f->clip[k].frame);
  free(f->clip);
  free(f->joint);
  free(f->x);
  free(f->tris);
  free(f->bone);
  free(f->weight);
  memset(f, 0, sizeof *f);
}

/* ---- joints: nodes that are a bone of some mesh, parents first ---- */

static const struct aiBone *bone_of(const struct aiScene *s, const struct aiString *name)
{
  for (unsigned m = 0; m < s->mNumMeshes; ++m)
    for (unsigned b = 0; b < s->mMeshes[m]->mNumBones; ++b)
      if (strcmp(s->mMeshes[m]->mBones[b]->mName.data, name->data) == 0)
        return s->mMeshes[m]->mBones[b];
  return NULL;
}

static int32_t joint_of(const reader *r, const char *name)
{
  for (int32_t j = 0; j < r->out->num_joints; ++j)
    if (strcmp(r->node[j]->mName.data, name) == 0) return j;
  return -1;
}

static unsigned count_nodes(const struct aiNode *n)
{
  unsigned num = 1;
  for (unsigned k = 0; k < n->mNumChildren; ++k) num += count_nodes(n->mChildren[k]);
  return num;
}

static void add_joints(reader *r, const struct aiNode *n, int32_t parent)
{
  const struct aiBone *const b = bone_of(r->s, &n->mName);
  if (b != NULL) {
    const int32_t j = r->out->num_joints++;
    loom_rig_joint *const to = &r->out->joint[j];
    snprintf(to->name, sizeof to->name, "%.63s", n->mName.data);
    for (char *p = to->name; *p != '\0'; ++p)
      if (*p == ' ' || *p == '.') *p = '_'; /* names stand in files of words, joint.angle */
    to->parent = parent;
    r->node[j] = n;
    map_of(&b->mOffsetMatrix, r->bind[j]);
    parent = j;
  }
  for (unsigned k = 0; k < n->mNumChildren; ++k) add_joints(r, n->mChildren[k], parent);
}

/* The pose of binding, moved to where the first joint has it at rest: units and axes are then those
 * of the scene. */
static loom_status put_rest(reader *r)
{
  double at[12], inverse[12];
  frame_of(r->node[0], NULL, 0, at);
  map_mul(at, r->bind[0], r->to_world);
  for (int32_t j = 0; j < r->out->num_joints; ++j) {
    if (!map_inverse(r->bind[j], inverse))
      return fail(r, LOOM_E_CONFIG, "a joint has no pose in which the skin was bound");
    map_mul(r->to_world, inverse, r->out->joint[j].rest);
  }
  return LOOM_OK;
}

static loom_status read_joints(reader *r)
{
  const size_t nodes = count_nodes(r->s->mRootNode);
  LOOM_TRY(room(r, nodes, sizeof *r->out->joint, &r->out->joint));
  LOOM_TRY(room(r, nodes, sizeof *r->node, &r->node));
  LOOM_TRY(room(r, nodes, sizeof *r->bind, &r->bind));
  add_joints(r, r->s->mRootNode, -1);
  if (r->out->num_joints > 0) return put_rest(r);
  return fail(r, LOOM_E_CONFIG,
              r->s->mNumAnimations > 0
                  ? "has an animation and no skin: no mesh has joints and weights; export them, too"
                  : "has no skin: no mesh has joints and weights; a mesh alone is shape = mesh");
}

/* ---- skin ---- */

/* Bones without a vertex get one with a weight of 0 from Assimp. */
static int counts(const struct aiVertexWeight *w) { return !(w->mWeight == 0); }

static int32_t most_weights(const struct aiMesh *m, unsigned *count)
{
  unsigned most = 0;
  memset(count, 0, m->mNumVertices * sizeof *count);
  for (unsigned b = 0; b < m->mNumBones; ++b)
    for (unsigned k = 0; k < m->mBones[b]->mNumWeights; ++k) {
      const struct aiVertexWeight *const w = &m->mBones[b]->mWeights[k];
      if (counts(w) && ++count[w->mVertexId] > most) most = count[w->mVertexId];
    }
  return (int32_t)most;
}

static void put_weights(reader *r, const struct aiMesh *m, int32_t first, unsigned *count)
{
  loom_rig_file *const f = r->out;
  memset(count, 0, m->mNumVertices * sizeof *count);
  for (unsigned b = 0; b < m->mNumBones; ++b) {
    const int32_t j = joint_of(r, m->mBones[b]->mName.data);
    for (unsigned k = 0; k < m->mBones[b]->mNumWeights && j >= 0; ++k) {
      const struct aiVertexWeight *const w = &m->mBones[b]->mWeights[k];
      if (!counts(w)) continue;
      const size_t at =
          (size_t)f->per * (size_t)(first + (int32_t)w->mVertexId) + count[w->mVertexId]++;
      f->bone[at] = j;
      f->weight[at] = (double)w->mWeight;
    }
  }
}

static void put_mesh(reader *r, const struct aiMesh *m, int32_t first, int32_t *tri)
{
  loom_rig_file *const f = r->out;
  for (unsigned v = 0; v < m->mNumVertices; ++v) {
    const double p[3] = {m->mVertices[v].x, m->mVertices[v].y, m->mVertices[v].z};
    const double *const A = r->to_world;
    for (int c = 0; c < 3; ++c)
      f->x[3 * (first + (int32_t)v) + c] =
          A[3 * c] * p[0] + A[3 * c + 1] * p[1] + A[3 * c + 2] * p[2] + A[9 + c];
  }
  for (unsigned t = 0; t < m->mNumFaces; ++t) {
    if (m->mFaces[t].mNumIndices != 3) continue; /* points and lines */
    for (int c = 0; c < 3; ++c) f->tris[3 * *tri + c] = first + (int32_t)m->mFaces[t].mIndices[c];
    ++*tri;
  }
}

static int has_skin(const struct aiMesh *m) { return m->mNumBones > 0; }

static loom_status read_skin(reader *r)
{
  loom_rig_file *const f = r->out;
  unsigned largest = 0, *count;
  int64_t verts = 0, tris = 0;
  for (unsigned k = 0; k < r->s->mNumMeshes; ++k) {
    const struct aiMesh *const m = r->s->mMeshes[k];
    f->left_out += !has_skin(m);
    if (!has_skin(m)) continue;
    verts += m->mNumVertices;
    tris += m->mNumFaces;
    if (m->mNumVertices > largest) largest = m->mNumVertices;
  }
  if (verts > INT32_MAX / 4 || tris > INT32_MAX / 4)
    return fail(r, LOOM_E_CONFIG, "the skin has too many triangles");
  LOOM_TRY(room(r, largest, sizeof *count, &count));
  for (unsigned k = 0; k < r->s->mNumMeshes; ++k) {
    const int32_t most = most_weights(r->s->mMeshes[k], count);
    if (has_skin(r->s->mMeshes[k]) && most > f->per) f->per = most;
  }
  loom_status st =
      f->per > MAX_PER ? fail(r, LOOM_E_CONFIG, "a vertex follows more than 16 joints") : LOOM_OK;
  const size_t rows = (size_t)verts * (size_t)f->per;
  if (st == LOOM_OK) st = room(r, 3 * (size_t)verts, sizeof *f->x, &f->x);
  if (st == LOOM_OK) st = room(r, 3 * (size_t)tris, sizeof *f->tris, &f->tris);
  if (st == LOOM_OK) st = room(r, rows, sizeof *f->bone, &f->bone);
  if (st == LOOM_OK) st = room(r, rows, sizeof *f->weight, &f->weight);
  for (unsigned k = 0; k < r->s->mNumMeshes && st == LOOM_OK; ++k) {
    const struct aiMesh *const m = r->s->mMeshes[k];
    if (!has_skin(m)) continue;
    put_weights(r, m, f->num_verts, count);
    put_mesh(r, m, f->num_verts, &f->num_tris);
    f->num_verts += (int32_t)m->mNumVertices;
  }
  free(count);
  return st;
}

/* ---- animations ---- */

static loom_status read_clip(reader *r, const struct aiAnimation *a, loom_rig_clip *to)
{
  const double ticks = a->mTicksPerSecond > 0 ? a->mTicksPerSecond : 25; /* Assimp's default */
  const double seconds = a->mDuration / ticks;
  if (!(seconds * RATE < MAX_FRAMES)) return fail(r, LOOM_E_CONFIG, "an animation is too long");
  snprintf(to->name, sizeof to->name, "%.63s", a->mName.data);
  to->rate = RATE;
  to->num_frames = (int32_t)floor(seconds * RATE + 1e-6) + 1;
  const size_t joints = (size_t)r->out->num_joints;
  LOOM_TRY(room(r, 12 * joints * (size_t)to->num_frames, sizeof *to->frame, &to->frame));
  for (int32_t k = 0; k < to->num_frames; ++k)
    for (size_t j = 0; j < joints; ++j)
      frame_of(r->node[j], a, ticks * k / RATE, to->frame + 12 * (joints * (size_t)k + j));
  return LOOM_OK;
}

static loom_status read_scene(reader *r)
{
  LOOM_TRY(read_joints(r));
  LOOM_TRY(read_skin(r));
  LOOM_TRY(room(r, r->s->mNumAnimations, sizeof *r->out->clip, &r->out->clip));
  for (unsigned k = 0; k < r->s->mNumAnimations; ++k, ++r->out->num_clips)
    LOOM_TRY(read_clip(r, r->s->mAnimations[k], &r->out->clip[k]));
  return LOOM_OK;
}

static loom_status read_file(const char *path, loom_rig_file *out, char *why, size_t len)
{
  reader r = {.out = out, .why = why, .len = len};
  memset(out, 0, sizeof *out);
  r.s = aiImportFile(path, aiProcess_Triangulate);
  if (r.s == NULL || r.s->mRootNode == NULL) return fail(&r, LOOM_E_IO, aiGetErrorString());
  const loom_status s = read_scene(&r);
  free((void *)r.node);
  free(r.bind);
  aiReleaseImport(r.s);
  if (s != LOOM_OK) release(out);
  return s;
}

const loom_rig_reader *loom_rig_reader_query(uint32_t abi)
{
  static const loom_rig_reader table = {
      .struct_size = sizeof table,
      .abi = LOOM_RIG_READER_ABI,
      .name = "assimp",
      .version = "5",
      .license = "BSD-3-Clause",
      .summary = "skinned, animated bodies of glTF, Collada, FBX and other files",
      .read = read_file,
      .release = release,
  };
  return abi == LOOM_RIG_READER_ABI ? &table : NULL;
}
