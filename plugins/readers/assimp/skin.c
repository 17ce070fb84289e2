/* skin.c - vertices, triangles and weights of all meshes that have bones. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader.h"

enum { MAX_PER = 16 };

/* Bones without a vertex get one with a weight of 0 from Assimp. */
static int has_weight(const struct aiVertexWeight *w) { return !(w->mWeight == 0); }

static int has_skin(const struct aiMesh *m) { return m->mNumBones > 0; }

static loom_status refuse_vertex_number(reader *r, const char *of, const char *name, unsigned id,
                                        unsigned num)
{
  snprintf(r->why, r->len,
           "%s '%.63s' names vertex %u of its mesh, which has %u; the file is damaged, export it "
           "again",
           of, name, id, num);
  return LOOM_E_CONFIG;
}

/* Checks the vertex numbers of a file, which Assimp passes on unchecked. */
static loom_status check_skin_vertices(reader *r, const struct aiMesh *m)
{
  const unsigned n = m->mNumVertices;
  for (unsigned b = 0; b < m->mNumBones; ++b)
    for (unsigned k = 0; k < m->mBones[b]->mNumWeights; ++k)
      if (m->mBones[b]->mWeights[k].mVertexId >= n)
        return refuse_vertex_number(r, "joint", m->mBones[b]->mName.data,
                                    m->mBones[b]->mWeights[k].mVertexId, n);
  for (unsigned t = 0; t < m->mNumFaces; ++t)
    for (unsigned c = 0; c < m->mFaces[t].mNumIndices; ++c)
      if (m->mFaces[t].mIndices[c] >= n)
        return refuse_vertex_number(r, "a face of mesh", m->mName.data, m->mFaces[t].mIndices[c],
                                    n);
  return LOOM_OK;
}

static int32_t most_weights(const struct aiMesh *m, unsigned *count)
{
  unsigned most = 0;
  memset(count, 0, m->mNumVertices * sizeof *count);
  for (unsigned b = 0; b < m->mNumBones; ++b)
    for (unsigned k = 0; k < m->mBones[b]->mNumWeights; ++k) {
      const struct aiVertexWeight *const w = &m->mBones[b]->mWeights[k];
      if (has_weight(w) && ++count[w->mVertexId] > most) most = count[w->mVertexId];
    }
  return most > INT32_MAX ? INT32_MAX : (int32_t)most;
}

static void put_weights(reader *r, const struct aiMesh *m, const int32_t *joint, int32_t first,
                        unsigned *count)
{
  loom_rig_file *const f = r->out;
  memset(count, 0, m->mNumVertices * sizeof *count);
  for (unsigned b = 0; b < m->mNumBones; ++b) {
    for (unsigned k = 0; k < m->mBones[b]->mNumWeights && joint[b] >= 0; ++k) {
      const struct aiVertexWeight *const w = &m->mBones[b]->mWeights[k];
      if (!has_weight(w)) continue;
      const size_t at =
          (size_t)f->per * (size_t)(first + (int32_t)w->mVertexId) + count[w->mVertexId]++;
      f->bone[at] = joint[b];
      f->weight[at] = (double)w->mWeight;
    }
  }
}

static void put_mesh(reader *r, const struct aiMesh *m, const double A[12], int32_t first,
                     int32_t *tri)
{
  loom_rig_file *const f = r->out;
  for (unsigned v = 0; v < m->mNumVertices; ++v) {
    const double p[3] = {m->mVertices[v].x, m->mVertices[v].y, m->mVertices[v].z};
    for (int c = 0; c < 3; ++c)
      f->x[3 * (size_t)(first + (int32_t)v) + (size_t)c] =
          A[3 * c] * p[0] + A[3 * c + 1] * p[1] + A[3 * c + 2] * p[2] + A[9 + c];
  }
  for (unsigned t = 0; t < m->mNumFaces; ++t) {
    if (m->mFaces[t].mNumIndices != 3) continue; /* points and lines */
    for (int c = 0; c < 3; ++c)
      f->tris[3 * (size_t)*tri + (size_t)c] = first + (int32_t)m->mFaces[t].mIndices[c];
    ++*tri;
  }
}

static loom_status take_skin_mesh(reader *r, const struct aiMesh *m, unsigned *count)
{
  int32_t *joint = NULL;
  double at[12];
  LOOM_TRY(reader_room(r, m->mNumBones, sizeof *joint, &joint));
  const loom_status s = reader_bind_mesh(r, m, at, joint);
  if (s == LOOM_OK) {
    put_weights(r, m, joint, r->out->num_verts, count);
    put_mesh(r, m, at, r->out->num_verts, &r->out->num_tris);
    r->out->num_verts += (int32_t)m->mNumVertices;
  }
  free(joint);
  return s;
}

/* Sizes of all skinned meshes together, and the most vertices of one. */
static loom_status count_skin_sizes(reader *r, int64_t *verts, int64_t *tris, unsigned *largest)
{
  for (unsigned k = 0; k < r->s->mNumMeshes; ++k) {
    const struct aiMesh *const m = r->s->mMeshes[k];
    r->out->left_out += !has_skin(m);
    if (!has_skin(m)) continue;
    *verts += m->mNumVertices;
    *tris += m->mNumFaces;
    if (m->mNumVertices > *largest) *largest = m->mNumVertices;
    LOOM_TRY(check_skin_vertices(r, m));
  }
  if (*verts <= INT32_MAX / 4 && *tris <= INT32_MAX / 4) return LOOM_OK;
  return reader_fail(r, LOOM_E_CONFIG, "the skin has too many triangles");
}

loom_status reader_skin(reader *r)
{
  loom_rig_file *const f = r->out;
  unsigned largest = 0, *count;
  int64_t verts = 0, tris = 0;
  LOOM_TRY(count_skin_sizes(r, &verts, &tris, &largest));
  LOOM_TRY(reader_room(r, largest, sizeof *count, &count));
  for (unsigned k = 0; k < r->s->mNumMeshes; ++k) {
    if (!has_skin(r->s->mMeshes[k])) continue;
    const int32_t most = most_weights(r->s->mMeshes[k], count);
    if (most > f->per) f->per = most;
  }
  loom_status st = f->per > MAX_PER ? reader_fail(r, LOOM_E_CONFIG,
                                                  "a vertex follows more than 16 joints; limit "
                                                  "them when you export")
                                    : LOOM_OK;
  const size_t rows = st == LOOM_OK ? (size_t)verts * (size_t)f->per : 0;
  if (st == LOOM_OK) st = reader_room(r, 3 * (size_t)verts, sizeof *f->x, &f->x);
  if (st == LOOM_OK) st = reader_room(r, 3 * (size_t)tris, sizeof *f->tris, &f->tris);
  if (st == LOOM_OK) st = reader_room(r, rows, sizeof *f->bone, &f->bone);
  if (st == LOOM_OK) st = reader_room(r, rows, sizeof *f->weight, &f->weight);
  for (unsigned k = 0; k < r->s->mNumMeshes && st == LOOM_OK; ++k)
    if (has_skin(r->s->mMeshes[k])) st = take_skin_mesh(r, r->s->mMeshes[k], count);
  free(count);
  return st;
}
