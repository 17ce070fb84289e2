/* surface.c - the triangles of all meshes of a scene where its nodes put them: no joints, no skin.
 */
#include <stdlib.h>
#include <string.h>

#include "frames.h"
#include "reader.h"

/* Vertices and triangles that a mesh which several nodes show may add up to. */
enum { MOST_ITEMS = INT32_MAX / 16 };

static loom_status check_face_ids(reader *r, const struct aiMesh *m)
{
  for (unsigned t = 0; t < m->mNumFaces; ++t)
    for (unsigned c = 0; c < m->mFaces[t].mNumIndices; ++c)
      if (m->mFaces[t].mIndices[c] >= m->mNumVertices)
        return reader_fail(
            r, LOOM_E_CONFIG,
            "a face names a vertex that its mesh does not have; the file is damaged, "
            "export it again");
  return LOOM_OK;
}

/* A map that mirrors turns the triangles around, too (glTF 2.0, 3.7.4). */
static int is_mirror(const double P[12])
{
  return P[0] * (P[4] * P[8] - P[5] * P[7]) - P[1] * (P[3] * P[8] - P[5] * P[6]) +
             P[2] * (P[3] * P[7] - P[4] * P[6]) <
         0;
}

static void put_node_mesh(loom_rig_file *f, const struct aiMesh *m, const double P[12])
{
  const int32_t first = f->num_verts;
  const int mirrored = is_mirror(P);
  for (unsigned v = 0; v < m->mNumVertices; ++v) {
    const double p[3] = {m->mVertices[v].x, m->mVertices[v].y, m->mVertices[v].z};
    double *const x = f->x + 3 * (size_t)f->num_verts++;
    for (int c = 0; c < 3; ++c)
      x[c] = P[3 * c] * p[0] + P[3 * c + 1] * p[1] + P[3 * c + 2] * p[2] + P[9 + c];
  }
  for (unsigned t = 0; t < m->mNumFaces; ++t) {
    if (m->mFaces[t].mNumIndices != 3) { /* points and lines */
      ++f->left_out;
      continue;
    }
    int32_t *const to = f->tris + 3 * (size_t)f->num_tris++;
    for (int c = 0; c < 3; ++c)
      to[c] = first + (int32_t)m->mFaces[t].mIndices[mirrored && c > 0 ? 3 - c : c];
  }
}

/* Walks the nodes in their order, parents first; put 0: counts alone. */
static loom_status walk_meshes(reader *r, double *world, int put, int64_t *verts, int64_t *tris)
{
  for (int32_t i = 0; i < r->num_nodes; ++i) {
    const rig_node *const n = &r->node[i];
    double *const P = world + 12 * (size_t)i;
    map_of(&n->node->mTransformation, P);
    if (n->parent >= 0) map_mul(world + 12 * (size_t)n->parent, P, P);
    for (unsigned k = 0; k < n->node->mNumMeshes; ++k) {
      if (n->node->mMeshes[k] >= r->s->mNumMeshes)
        return reader_fail(r, LOOM_E_CONFIG, "a node names a mesh that is not there");
      const struct aiMesh *const m = r->s->mMeshes[n->node->mMeshes[k]];
      if (put) {
        put_node_mesh(r->out, m, P);
        continue;
      }
      LOOM_TRY(check_face_ids(r, m));
      *verts += m->mNumVertices;
      *tris += m->mNumFaces;
      if (*verts > MOST_ITEMS || *tris > MOST_ITEMS)
        return reader_fail(r, LOOM_E_CONFIG, "the surface has too many triangles");
    }
  }
  return LOOM_OK;
}

loom_status reader_surface(reader *r)
{
  loom_rig_file *const f = r->out;
  int64_t verts = 0, tris = 0;
  double *world = NULL;
  LOOM_TRY(reader_nodes(r));
  loom_status s = reader_room(r, 12 * (size_t)r->num_nodes, sizeof *world, &world);
  if (s == LOOM_OK) s = walk_meshes(r, world, 0, &verts, &tris);
  if (s == LOOM_OK) s = reader_room(r, 3 * (size_t)verts, sizeof *f->x, &f->x);
  if (s == LOOM_OK) s = reader_room(r, 3 * (size_t)tris, sizeof *f->tris, &f->tris);
  if (s == LOOM_OK) s = walk_meshes(r, world, 1, &verts, &tris);
  free(world);
  if (s == LOOM_OK && f->num_tris == 0) return reader_fail(r, LOOM_E_CONFIG, "holds no triangles");
  return s;
}
