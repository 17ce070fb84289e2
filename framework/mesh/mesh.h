/* mesh.h - triangle and tetrahedron meshes on the host while a scene is being built.
 *
 * Generators lie in the xy plane (z = 0) or around the z axis, centred on the origin;
 * normals of flat sheets point to +z, normals of closed and tubular meshes outwards.
 */
#ifndef LOOM_MESH_MESH_H
#define LOOM_MESH_MESH_H

#include "core/err.h"

typedef struct mesh_bad_face { /* of a file, and not cut into triangles (mesh/polygon.h) */
  int32_t way;                 /* POLYGON_CROSSED or POLYGON_LARGE */
  int32_t first_tri, num_corners;
  int32_t side[2]; /* corners that begin the sides which cross */
} mesh_bad_face;

typedef struct mesh {
  int32_t num_verts, num_tris, num_tets;
  double *x;            /* [num_verts][3], m */
  int32_t *tris;        /* [num_tris][3], of solids: the surface, outwards */
  int32_t *tets;        /* [num_tets][4], positive volume */
  int32_t lattice[3];   /* of generated meshes: vertex i + nx (j + ny k); zeros: none */
  int32_t closed_x;     /* 1: the lattice closes in i (tubes): no left, right, corners */
  int32_t num_split;    /* polygons of a file that were cut into triangles */
  int32_t num_concave;  /* of these, the ones that are not cut around their first corner */
  int32_t num_stitches; /* lines `stitch` of a file, see stitches.h */
  int32_t num_bad_faces;
  mesh_bad_face bad_face; /* the first */
  int32_t num_ignored;    /* statements of a file that carry no triangles (lines, curves), in files
                           * of tetrahedra: no tetrahedra */
  int32_t num_unused;     /* points of a file that no tetrahedron has, left out */
  int32_t num_repeated;   /* tetrahedra of a file in several groups, left out but once */
  int32_t num_turned;     /* tetrahedra of a file whose last two vertices changed places */
  int32_t num_unknown;    /* statements of a file that its format does not know */
  int32_t unknown_line;   /* line of the first of these, and its first word */
  char unknown_word[24];
  /* Where the triangles lie in the flat pattern (mesh/material.h); NULL where a mesh has none. */
  double *uv;     /* [num_tris][3][2], m, of each corner; NaN: the file gives none there */
  int32_t *piece; /* [num_tris], 0 to num_pieces - 1 */
  int32_t num_pieces;
  char **piece_names; /* [num_pieces] */
  int32_t *mtl;       /* [num_tris], material (usemtl) of an OBJ file, -1: before the first; NULL */
  int32_t num_mtls;
  char **mtl_names;  /* [num_mtls] */
  double *rest;      /* [num_tris][3][3], m, corners in the rest shape; NULL: it is x */
  int32_t *fan;      /* [num_tris][3], of a file with concave polygons: their fans; or NULL */
  int32_t *tri_line; /* [num_tris] line of the file that a triangle stands in, for messages */
} mesh;

enum { MESH_REGULAR = 0, MESH_ALTERNATE = 1 };

void mesh_free(mesh *m); /* the arrays; *m is zero afterwards */

/* nx x ny vertices over sx x sy (m).  Cells are cut along v00-v11 into (v00,v10,v11),
 * (v00,v11,v01); MESH_ALTERNATE mirrors every second cell (checkerboard). */
loom_status mesh_grid(loom_err *err, double sx, double sy, int64_t nx, int64_t ny, int pattern,
                      mesh *out);
/* Concentric rings: ring k has 6k vertices, so triangles are nearly equilateral. */
loom_status mesh_disk(loom_err *err, double diameter, int64_t rings, mesh *out);
/* Open tube around z: `around` vertices on each of `along` rings. */
loom_status mesh_cylinder(loom_err *err, double diameter, double length, int64_t around,
                          int64_t along, int pattern, mesh *out);
/* Block of nx x ny x nz vertices, five tetrahedra to a cell, mirrored from cell to cell so
 * that faces match; tris is the surface. */
loom_status mesh_tet_box(loom_err *err, const double size[3], const int64_t num[3], mesh *out);

/* Closed surface of a box with round edges: all points nearer than `radius` to the box of
 * half extents `core` (m).  Core 0 0 0 is a sphere, 0 0 L a capsule, radius 0 a plain box.
 * Edges of about `edge` (m) or shorter. */
loom_status mesh_round_box(loom_err *err, const double core[3], double radius, double edge,
                           mesh *out);
/* Closed surface of revolution around z: profile [n][2] holds the corners (radius >= 0,
 * height, m) of a simple polygon.  Two corners on the axis that follow each other are its
 * poles. */
loom_status mesh_revolve(loom_err *err, const double *profile, int64_t n, double edge, mesh *out);

/* x <- P x for all vertices (P as in pose.h, without mirroring). */
void mesh_transform(mesh *m, const double P[12]);
/* Room for n items, zeroed; never NULL on LOOM_OK, also for n = 0. */
loom_status mesh_alloc(loom_err *err, int64_t n, size_t item, void *out);

#endif
