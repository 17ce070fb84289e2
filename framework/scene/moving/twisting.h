/* twisting.h - [twist.NAME]: material frames of yarns that are clamped and turned, and yarns that
 * are cut, turned and glued.
 *
 * The angles are increments of a step, those of the section at its ends: the frames themselves,
 * with all that was imposed before, are in the state of yarn_bend (elements/rod.h), so a run
 * that is resumed, or that starts from a frame of a log, has them. */
#ifndef LOOM_SCENE_TWISTING_H
#define LOOM_SCENE_TWISTING_H

#include "scene/base/scene_data.h"

/* The angles that yarns turn by in the step from t0 to t1 (s, times of motions). */
loom_status twisting_pose(scene_data *s, double t0, double t1);
void twisting_free(scene_data *s);

#endif
