/* mesh_case_faces.h - a scene of mesh_case.h as the lists that a hierarchy is built of. */
#ifndef MESH_CASE_FACES_H
#define MESH_CASE_FACES_H

#include "kit/mesh_faces.h"
#include "support/mesh_case.h"

/* Cloth and bodies as one list; the caller frees *tris and *edges. */
static inline mesh_faces mc_faces(const mesh_case *c, int32_t **tris, int32_t **edges)
{
  const mesh_part *const a = &c->cloth, *const b = &c->body;
  *tris = malloc(sizeof **tris * 3 * (size_t)(a->nt + b->nt + 1));
  *edges = malloc(sizeof **edges * 2 * (size_t)(a->ne + b->ne + 1));
  cr_assert(*tris != NULL && *edges != NULL);
  for (int i = 0; i < 3 * (a->nt + b->nt); ++i)
    (*tris)[i] = i < 3 * a->nt ? a->tris[i] : b->tris[i - 3 * a->nt] + a->n;
  for (int i = 0; i < 2 * (a->ne + b->ne); ++i)
    (*edges)[i] = i < 2 * a->ne ? a->edges[i] : b->edges[i - 2 * a->ne] + a->n;
  return (mesh_faces){.num_verts = a->n + b->n,
                      .num_tris = a->nt + b->nt,
                      .num_edges = a->ne + b->ne,
                      .cloth_tris = a->nt,
                      .cloth_edges = a->ne,
                      .tris = *tris,
                      .edges = *edges};
}

#endif
