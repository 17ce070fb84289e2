/* pattern.h - sewing patterns: flat pieces with named edges, and seams between edges.
 *
 * A pattern is an INI file.  [piece.NAME] has the keys `start` (its first corner), `wrap` and
 * `transform` (where it starts in space); every other key is the name of an edge, and the edges
 * follow each other in the order of the file until the last one ends at the first corner.  Every
 * line of [seams] sews two edges: NAME = PIECE.EDGE PIECE.EDGE.  See framework/doc/patterns.md.
 */
#ifndef LOOM_PATTERN_PATTERN_H
#define LOOM_PATTERN_PATTERN_H

#include "config/config.h"
#include "loom/mesher.h"
#include "mesh/mesh.h"
#include "mesh/stitches.h"
#include "sewing_pattern/curve.h"

typedef struct pattern_edge {
  const char *name;
  curve c;
  double length;      /* m */
  int32_t cells;      /* edges of triangles that it becomes */
  int32_t first_vert; /* the piece's own number of the vertex at its start */
} pattern_edge;

typedef struct pattern_piece {
  const cfg_section *sec;
  const char *name;
  int num_edges;
  pattern_edge *edges; /* [num_edges] in the order of the file */
  int clockwise;       /* the outline runs so */
  double wrap;         /* m, radius; 0: flat */
  double place[12];    /* rigid map into the cloth's own space */
  int32_t num_outline; /* vertices on the outline, which come first */
  int32_t first_vert;  /* the mesh's number of the piece's first vertex */
} pattern_piece;

typedef struct pattern_seam {
  const char *name;
  int piece[2], edge[2];
  int gather; /* 1: the lengths may differ */
  int same;   /* 1: both edges run in the same direction: outer sides do not agree */
} pattern_seam;

typedef struct pattern {
  cfg *c;
  const cfg_section *seam_sec; /* [seams], NULL: none */
  double seam_tolerance;       /* 1, of the longer edge */
  int num_pieces, num_seams;
  pattern_piece *pieces; /* [num_pieces] */
  pattern_seam *seams;   /* [num_seams] */
} pattern;

/* Everything that can be said without a mesh is checked: names, closed outlines, pieces that
 * overlap themselves, lengths of seams.  LOOM_E_CONFIG names file, line and key. */
loom_status pattern_read(loom_err *err, const char *path, pattern **out);
void pattern_free(pattern *p);

/* outline.c: closed, simple; sets `clockwise`. */
loom_status outline_check(loom_err *err, pattern_piece *q);
double outline_area(const pattern_piece *q); /* m^2 */
/* Vertices of the outline, counter-clockwise, once edges have cells: x [num_outline][2] m, with
 * room for one more. */
void outline_points(pattern_piece *q, double *x);

/* seams.c: reads [seams]. */
loom_status seams_read(loom_err *err, pattern *p);
/* Gives each edge its number of cells of about the length `edge` (m); sewn edges get the same
 * number. */
loom_status seams_cut(loom_err *err, pattern *p, double edge);
/* Every vertex of a seam's first edge to its partner, with the numbers of the mesh; *out [*num],
 * free() it. */
loom_status seams_stitches(loom_err *err, const pattern *p, mesh_stitch **out, int64_t *num);

/* About how many vertices pattern_mesh makes. */
double pattern_num_verts(const pattern *p, double edge);
/* Cuts the edges and triangulates the pieces: x, tris, uv (the coordinates of the pattern) and
 * pieces of *out, placed in space. */
loom_status pattern_mesh(loom_err *err, pattern *p, const loom_mesher *mesher, double edge,
                         mesh *out);

#endif
