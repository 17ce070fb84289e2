/* exclusions.h - the pairs of vertices that contact and the audit leave out with their primitives,
 * for two reasons: they are sewn to each other, or they intersected at the start. */
#ifndef LOOM_SCENE_EXCLUSIONS_H
#define LOOM_SCENE_EXCLUSIONS_H

#include "audit/intersect.h"
#include "scene/base/scene_data.h"

enum {
  SCENE_SEWN = 0,     /* for good; the audit does not look at them */
  SCENE_AT_START = 1, /* until they have parted; the audit counts them apart */
  SCENE_NUM_REASONS
};

/* Makes pairs [num][2] the list of the reason.  Ids: vertices of the scene, then of bodies,
 * n + nb in all; order and repetitions do not matter, a vertex with itself is passed over.  The
 * first call makes the extension LOOM_EXCLUSIONS of the scene; each moves its epoch on. */
loom_status scene_leave_out(loom_err *err, scene_data *s, int reason, const int32_t *pairs,
                            int64_t num);
/* The list of a reason, [*num][2], ascending, the smaller id first; it belongs to the scene.  NULL:
 * none. */
const int32_t *scene_left_out_pairs(const scene_data *s, int reason, int64_t *num);
/* For the audits: the pairs of all reasons, or with `all` 0 only sewn pairs.  NULL: none. */
const isect_left_out *scene_left_out(const scene_data *s, int all);
void scene_left_out_free(scene_data *s);

#endif
