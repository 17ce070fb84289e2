/* crossings.h - intersections of a scene before its first step, named by object and ids. */
#ifndef LOOM_SCENE_CROSSINGS_H
#define LOOM_SCENE_CROSSINGS_H

#include "scene/objects/bodies.h"

/* One object's place in the arrays of all objects. */
typedef struct scene_part {
  const char *name;
  int32_t first_vert, first_tri; /* the next part's begin where this one's end */
} scene_part;
typedef struct scene_crossing {  /* an intersection at the start */
  const char *edge_of, *tri_of;  /* names of their parts or bodies */
  int edge_of_body, tri_of_body; /* 1: it is a body */
  int32_t edge[2], tri;          /* ids in the part's or body's own mesh */
  double point[3];               /* m */
} scene_crossing;
/* Intersections of all objects with themselves, each other and mesh bodies: *total of them,
 * the first `capacity` in `out`. */
loom_status scene_crossings(loom_err *err, const isect_surface *m, const scene_part *parts,
                            int num_parts, const scene_bodies *bodies, scene_crossing *out,
                            int64_t capacity, int64_t enough, int64_t *total);
/* "[cloth.a]: edge 3-4 intersects triangle 7 of body ball at (0.1 0.2 0.3) m" */
void scene_crossing_text(const scene_crossing *p, char *buf, size_t len);

#endif
