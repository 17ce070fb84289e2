/* yarn.h - yarns on the host while a scene is being built: knitted patterns, files, checks.
 *
 * Positions are in a mesh's x, without triangles; a yarn_set says which vertices are one yarn.
 * Flat patterns lie around the plane z = 0 with their courses (rows) along x and wales (columns)
 * along y, tubes stand around the z axis; all are centred on the origin. */
#ifndef LOOM_YARN_YARN_H
#define LOOM_YARN_YARN_H

#include "mesh/doctor.h"

typedef struct yarn_set {
  int32_t num_yarns, num_glue;
  int32_t *first;        /* [num_yarns + 1], yarn k has the vertices first[k] to first[k+1] - 1 */
  unsigned char *closed; /* [num_yarns] */
  int32_t *loop;         /* [num_verts][2], row and column, or -1 -1 */
  int32_t *glue;         /* [num_glue][2], vertices to be held at the distance they have */
  int32_t rows, loops;   /* of a knitted pattern, else 0 */
} yarn_set;

void yarn_free(yarn_set *y); /* the arrays; *y is zero afterwards */

enum { KNIT_STOCKINETTE, KNIT_GARTER, KNIT_RIB, KNIT_TUBE, KNIT_NUM };

typedef struct knit_plan {
  int32_t pattern; /* KNIT_* */
  int64_t rows, loops;
  int64_t stripe;    /* rows before a new yarn begins; 0: never */
  int64_t rib;       /* columns of knit, then as many of purl */
  int32_t rings;     /* tube: every row is a closed yarn; else one yarn in a helix */
  int32_t bind;      /* glue the heads of the last row and the feet of the first */
  double radius;     /* m */
  double loop_width; /* m; 0: derived from the radius */
  double row_height; /* m; 0: derived from the radius */
} knit_plan;

/* m->x and *y of a pattern; 8 vertices to a loop and 5 to a turn between two rows. */
loom_status knit_make(loom_err *err, const knit_plan *p, mesh *m, yarn_set *y);
/* Arrays of a set, zeroed, `loop` -1; y->num_yarns and y->num_glue are set from the counts. */
loom_status yarn_alloc(loom_err *err, int64_t num_verts, int64_t num_yarns, int64_t num_glue,
                       yarn_set *y);

/* ---- segments ---- */
/* Number of segments of yarn k, and the row of loom_scene.segs of its segment j (ids of this
 * set's vertices). */
int32_t yarn_num_segs(const yarn_set *y, int32_t k);
void yarn_segment(const yarn_set *y, int32_t k, int32_t j, int32_t seg[4]);
int32_t yarn_num_joints(const yarn_set *y, int32_t k); /* vertices between two segments */

/* ---- checks at the start ---- */
enum { YARN_SAMPLES = 11 }; /* points to a segment (numerics 1.1) */
/* All yarns of a scene as the check sees them. */
typedef struct yarn_view {
  const double *x;         /* [.][3], m */
  const int32_t *segs;     /* [num_segs][4] as loom_scene.segs */
  const int32_t *seg_yarn; /* [num_segs] */
  const int32_t *yarn_seg; /* [num_yarns + 1] */
  const unsigned char *closed;
  const double *radius; /* [num_yarns], m */
  int32_t num_segs, num_yarns;
} yarn_view;
typedef struct yarn_near { /* two places that are nearest for their radii */
  double ratio;            /* distance over the sum of radii; > 1 if none are nearer than that */
  double distance;         /* m */
  int32_t seg[2];          /* -1 if there is no pair within the sum of radii */
  int64_t overlaps;        /* pairs of points below the ratio that was asked for */
} yarn_near;
/* Nearest pair of points that are more than 1.5 segments apart along the yarn. */
loom_status yarn_find_nearest(loom_err *err, const yarn_view *v, double limit, yarn_near *out);

#endif
