/* doctor.h - finds the faults of input meshes and names them by file and id.
 *
 * All faults are collected, not only the first; each has a kind, ids and a line
 * with the remedy.  Ids count from 0 as everywhere in loom (OBJ files count from 1).
 */
#ifndef LOOM_MESH_DOCTOR_H
#define LOOM_MESH_DOCTOR_H

#include "mesh/mesh.h"

enum {
  DOCTOR_NOT_FINITE,   /* vertex */
  DOCTOR_OUT_OF_RANGE, /* triangle, bad id */
  DOCTOR_DEGENERATE,   /* triangle or tetrahedron */
  DOCTOR_DUPLICATE,    /* triangle, triangle */
  DOCTOR_COINCIDENT,   /* vertex, vertex */
  DOCTOR_UNUSED,       /* vertex */
  DOCTOR_NON_MANIFOLD, /* edge's two vertices, number of triangles */
  DOCTOR_ORIENTATION,  /* edge's two vertices, two triangles */
  DOCTOR_INVERTED,     /* tetrahedron */
  DOCTOR_OPEN,         /* edge's two vertices, triangle: a body with distances must be closed */
  DOCTOR_INSIDE_OUT,   /* none: normals point inwards */
  DOCTOR_PINNED_TWICE, /* vertex */
  DOCTOR_MASS,         /* vertex */
  DOCTOR_INTERSECTION, /* edge's two vertices, triangle */
  DOCTOR_FACE          /* first triangle of a polygon that crosses itself or is too large */
};
enum { DOCTOR_MAX = 20 }; /* lines that are kept */

typedef struct doctor_problem {
  int32_t kind;
  int32_t id[4]; /* as listed above, else -1; of the object's own mesh */
  char text[256];
} doctor_problem;

typedef struct doctor {
  int64_t total; /* problems found; the first DOCTOR_MAX are listed */
  int more;      /* there may be more: the search was ended */
  doctor_problem list[DOCTOR_MAX];
} doctor; /* {0} is empty */

enum { /* purpose of a mesh */
       DOCTOR_CLOTH = 0,
       DOCTOR_SOLID = 1, /* with tets; tris is the surface */
       DOCTOR_BODY = 2,  /* only the shape counts: closed, unused vertices are fine */
       DOCTOR_SHELL = 3, /* the triangles count: it may be open */
       /* a body for contact between triangles: their neighbours do not matter */
       DOCTOR_CONTACT = 4,
       /* cloth of pieces that seams join: others may meet, vertices at one place stay two */
       DOCTOR_PIECES = 5
};
/* `name` is the file or section that messages name.  Negative only without memory. */
loom_status doctor_mesh(loom_err *err, doctor *d, const char *name, const mesh *m, int use);

/* Turn triangles so that neighbours agree with the lowest id of their connected part;
 * *flipped: number of turned triangles, or -1 if neighbours cannot agree (Moebius strip). */
loom_status doctor_orient(loom_err *err, mesh *m, int32_t *flipped);
/* Turns all triangles if the surface, closed and of one orientation, is inside out; how many. */
int32_t doctor_turn_outwards(mesh *m);

/* 1: triangle t has a repeated vertex or no height; 0 also where a number is not finite. */
int doctor_is_flat(const mesh *m, int32_t t);
/* The three ids v in ascending order. */
void doctor_sort_ids(const int32_t *v, int32_t sorted[3]);
void doctor_add(doctor *d, int kind, const int32_t id[4], const char *fmt, ...) LOOM_PRINTF(4, 5);
/* LOOM_OK without faults, else LOOM_E_CONFIG with all lines. */
loom_status doctor_verdict(loom_err *err, const doctor *d);

#endif
