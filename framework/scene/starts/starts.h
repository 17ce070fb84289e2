/* starts.h - intersections that a scene has before its first step, with start = exclude: their
 * primitives are left out of contact until they have parted. */
#ifndef LOOM_SCENE_STARTS_H
#define LOOM_SCENE_STARTS_H

#include "audit/intersect.h"
#include "scene/objects/bodies.h"

/* Leaves out (SCENE_AT_START of exclusions.h) every vertex of an edge with every vertex of the
 * triangle that it intersects, and the vertices of pairs that are nearer than their radii; m: the
 * objects where they start, with sewn pairs left out.  *total: how many intersections there are;
 * *near: pairs of vertices that are left out besides. */
loom_status starts_exclude(loom_err *err, scene_data *s, const isect_surface *m,
                           const scene_bodies *bodies, int64_t *total, int64_t *near);
/* start_untangle.c: the pairs of vertices [*num][2] of primitives that are nearer than their radii,
 * with repetitions; free() them. */
loom_status starts_near(loom_err *err, const scene_data *s, const isect_surface *m,
                        const scene_bodies *bodies, int32_t **pairs, int64_t *num);

/* start_frame.c: the intersections of a frame at x [n][3] (m), bodies where they are posed, as
 * SCENE_REFUSE, SCENE_UNTANGLE (which moves no vertex of a frame) or SCENE_EXCLUDE says; the list
 * of the scene's own start is dropped.  *left_out: intersections and near pairs that are left out.
 */
loom_status starts_frame(loom_err *err, scene_data *s, const double *x, int check,
                         int64_t *left_out);

/* Between two steps, at x [n][3] (m), t (s) and with bodies at the end of the step: pairs of
 * vertices are taken off the list when none of their triangles intersect any more and all are at
 * least their radii apart, so that contact can take over, and no [ignore.*] holds them.  *left:
 * intersections of the start that are still there.  Without a list the call has no effect. */
loom_status starts_update(loom_err *err, scene_data *s, const double *x, double t, int threads,
                          int64_t *left);

#endif
