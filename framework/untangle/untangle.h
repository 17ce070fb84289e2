/* untangle.h - meshes that intersect a little are moved apart, before anything is simulated.
 *
 * First the contours along which surfaces cross are made shorter until there are none (P. Volino,
 * N. Magnenat-Thalmann: Resolving surface collisions through intersection contour minimization.
 * ACM Transactions on Graphics 25 (2006)).  The method needs no history and no inside, so that it
 * also parts open surfaces.  Contours of layers that lie at one place have no direction: the layers
 * are moved to the two sides of that place first.  Then pairs nearer than the required gap are
 * moved apart, by steps that cannot make primitives cross.  The method ignores the shape of the
 * cloth: it is for small tangles. Pairs that it cannot part stay for the caller to report.
 */
#ifndef LOOM_UNTANGLE_UNTANGLE_H
#define LOOM_UNTANGLE_UNTANGLE_H

#include "audit/intersect.h"
#include "mesh/topo.h"

typedef struct untangle_scene {
  double *x; /* [n + nb][3] m: vertices of cloth, which move, and of bodies, which do not */
  int64_t n, nb;
  const int32_t *tris; /* [nt + ntb][3], triangles of the cloth first */
  int64_t nt, ntb;
  const isect_surface *bodies; /* [num_bodies] into x, in the order of their vertices */
  int num_bodies;
  const unsigned char *held;      /* [n] 1: does not move; NULL: none */
  const double *radius;           /* [n + nb] m, distance at which other surfaces are kept */
  const isect_left_out *left_out; /* pairs that may cross; NULL: none */
  int max_passes;                 /* of either part */
  int threads;
} untangle_scene;

typedef struct untangle_report {
  int64_t before, after; /* intersections */
  int64_t near;          /* pairs that are still nearer than their radii */
  int64_t moved;         /* vertices */
  double farthest;       /* m, largest displacement of a vertex */
  int passes, gap_passes;
} untangle_report;

/* Moves x.  Pairs that remain are no error: see the report. */
loom_status untangle_meshes(loom_err *err, const untangle_scene *s, untangle_report *out);

/* ---- parts ---- */

/* Displacements of one pass: sums over the constraints of each vertex. */
typedef struct untangle_move {
  double *d;      /* [n + nb][3] m, weighted */
  double *weight; /* [n + nb] */
} untangle_move;

/* contour.c: adds the moves that shorten the contours at pairs [num], by `step` (m) each;
 * `edges` of all triangles. */
void contour_moves(const untangle_scene *s, const topo *edges, const isect_pair *pairs, int64_t num,
                   double step, untangle_move *m);

/* layers.c: where layers lie at one place and their contour has no direction, each vertex goes
 * along the common normal to the place of its layer, the earlier pieces of the scene on its side,
 * pieces on a body outside of it; a piece folded flat opens.  edge: m, mean; *moved: vertices. */
loom_status layers_part(loom_err *err, const untangle_scene *s, double edge, int64_t *moved);

/* gaps.c: pairs of vertices [*num][2] of all primitives that are nearer than their radii, in any
 * order, with repetitions; free() them. */
loom_status gap_pairs(loom_err *err, const untangle_scene *s, int32_t **pairs, int64_t *num);
/* gaps.c: adds the moves of pairs that are too near; bound [n + nb] m: distance that each vertex
 * may go without crossing.  *near: number of these pairs. */
loom_status gap_moves(loom_err *err, const untangle_scene *s, const topo *edges, untangle_move *m,
                      double *bound, int64_t *near);

#endif
