/* objects.h - numbers of each object (cloth, solid, yarn) that the core measures: the reference of
 * its residual, and the largest residual over its bound.
 *
 * Sums go over segments of 64 vertices of one object, then over 64 segments at a time: one launch
 * for all objects and the same order for any number of threads, on any device.  An object's numbers
 * do not depend on other objects of the scene.
 *
 *   r_ref = sqrt(|h^2 g|^2 + mean of |y - x_start - (t + w cross (x_start - c))|^2),
 * t + w cross ... the rigid motion that is nearest to y - x_start, means weighted by mass over free
 * vertices: the way that gravity and the motion within the object lead in a step.  It is the same
 * in every frame that moves uniformly, and does not depend on stiffness or on the guess.  The mean
 * counts up to 12 times |h^2 g|, so that an object that flies apart is not measured by its own
 * speed. */
#ifndef LOOM_OBJECTS_H
#define LOOM_OBJECTS_H

#include "core/err.h"
#include "mem/mem.h"
#include "run/objects/objects.kern.h"
#include "run/run.h"

struct residual; /* measure.h */

enum { OBJECTS_SEGMENT = 64, OBJECTS_LEVELS = 8 };

typedef struct run_objects {
  int32_t num; /* at least 1 */
  int32_t num_levels;
  int32_t level[OBJECTS_LEVELS + 1]; /* first row of each; the last level has one per object */
  loom_buf *first, *end; /* i32 [rows], vertices; from the second level on rows of the one before */
  loom_buf *owner;       /* i32 [segments], object */
  loom_buf *anchor;      /* i32 [num], first vertex */
  loom_buf *sums;        /* real [rows][17] */
  loom_buf *fit;         /* real [num][FIT_NUMBERS], rigid motion and mass */
  loom_buf *gain;        /* real [num], 1/s^2, RMS of D/m */
  loom_buf *ref, *near, *bound; /* real [num], m: see object_bound_args */
  loom_buf *ratio;              /* real [num], see objects_ratios() */
  double one_near, one_bound;   /* m, the two bounds of a scene of one object */
} run_objects;

/* Momenta of the free vertices at the end of a step, and the defect of its balance. */
typedef struct end_moments {
  double linear[3];  /* kg m/s */
  double angular[3]; /* kg m^2/s, about the centre of mass */
  double force;      /* |sum of r| over the weight */
  double torque;     /* about the centre of mass, over the weight times the radius of gyration */
} end_moments;

/* Needs the scene, st and buf.diag. */
loom_status objects_new(run *r);
/* r_ref and the bounds of this step; *r_ref: m, mass-weighted RMS over the objects, after
 * results_settle(). */
loom_status objects_bounds(run *r, double *r_ref);
/* Behind them, near and over of res: the largest residual over its bound, of gradient g.  A scene
 * of one object takes them of res->rms, which is asked for before. */
loom_status objects_over(run *r, loom_buf *g, struct residual *res);
/* The residual of each object over the larger of its bounds, into `ratio`; waits for no device. */
loom_status objects_ratios(run *r, loom_buf *g);
/* Arguments of kernels over segments; `to`: the numbers of all levels. */
object_rows_args objects_rows(run *r, buf_maps *q);
/* The numbers of `k` for all segments, then by `up` (object_sum_args) to the objects: *out,
 * [num][width], among a->to. */
loom_status objects_reduce(run *r, buf_maps *q, const lk_entry *k, const lk_entry *up,
                           const object_rows_args *a, int32_t width, const lk_real **out);
/* At st.x with velocities v; g NULL: no residual, so that force and torque are NaN. */
loom_status objects_end(run *r, loom_buf *v, loom_buf *g, end_moments *out);

#endif
