/* rig.c - poses and skins of rigs, and the checks of a rig. */
#include "rig/rig.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "geom/pose.h"

void rig_free(rig *r)
{
  mesh_free(&r->skin);
  free(r->joint);
  free(r->bone);
  free(r->weight);
  memset(r, 0, sizeof *r);
}

/* ---- poses ---- */

void rig_pose(const rig *r, const double *angles, const double root[12], double *T)
{
  for (int32_t j = 0; j < r->num_joints; ++j) {
    const rig_joint *const a = &r->joint[j];
    double *const to = T + 12 * j;
    memcpy(to, a->parent < 0 ? root : T + 12 * a->parent, 12 * sizeof *to);
    for (int k = a->num_dofs - 1; k >= 0; --k) {
      double turn[12];
      pose_rotation(a->axis[k], angles[a->first_dof + k], a->rest, turn);
      pose_mul(to, turn, to);
    }
  }
}

void rig_skin(const rig *r, const double *T, double *x)
{
  for (int32_t v = 0; v < r->skin.num_verts; ++v) {
    const double *const w = r->weight + (int64_t)v * r->per;
    const int32_t *const bone = r->bone + (int64_t)v * r->per;
    double P[12] = {0}; /* the blend of maps: one product per vertex */
    for (int k = 0; k < r->per; ++k) {
      const double *const from = T + 12 * bone[k];
      if (!(w[k] > 0)) continue;
      for (int c = 0; c < 12; ++c) P[c] += w[k] * from[c];
    }
    pose_apply(P, r->skin.x + 3 * v, x + 3 * v);
  }
}

int32_t rig_clamp(const rig *r, double *angles)
{
  int32_t first = -1;
  for (int32_t j = 0; j < r->num_joints; ++j)
    for (int k = 0; k < r->joint[j].num_dofs; ++k) {
      const double *const limit = r->joint[j].limit[k];
      double *const q = &angles[r->joint[j].first_dof + k];
      const double to = fmin(fmax(*q, limit[0]), limit[1]);
      if (fabs(to - *q) > 1e-9 && first < 0) first = r->joint[j].first_dof + k; /* 1e-9: rounding */
      *q = to;
    }
  return first;
}

/* ---- names ---- */

int32_t rig_find_joint(const rig *r, const char *name)
{
  for (int32_t j = 0; j < r->num_joints; ++j)
    if (strcmp(r->joint[j].name, name) == 0) return j;
  return -1;
}

void rig_dof_name(const rig *r, int32_t dof, char *text, size_t len)
{
  text[0] = '\0';
  for (int32_t j = 0; j < r->num_joints; ++j) {
    const rig_joint *const a = &r->joint[j];
    const int32_t k = dof - a->first_dof;
    if (k >= 0 && k < a->num_dofs) snprintf(text, len, "%s.%s", a->name, a->dof_name[k]);
  }
}

int32_t rig_find_dof(const rig *r, const char *name)
{
  char text[2 * RIG_NAME_LEN + 2];
  const int32_t j = rig_find_joint(r, name);
  if (j >= 0) return r->joint[j].num_dofs == 1 ? r->joint[j].first_dof : -1;
  for (int32_t d = 0; d < r->num_dofs; ++d) {
    rig_dof_name(r, d, text, sizeof text);
    if (strcmp(text, name) == 0) return d;
  }
  return -1;
}

/* ---- checks ---- */

static loom_status check_joint(loom_err *err, const rig *r, int32_t j)
{
  const rig_joint *const a = &r->joint[j];
  if (a->parent < -1 || a->parent >= j)
    return err_set(err, LOOM_E_CONFIG, "joint %s: its parent must stand before it", a->name);
  if (rig_find_joint(r, a->name) != j)
    return err_set(err, LOOM_E_CONFIG, "two joints are called %s", a->name);
  if (!isfinite(a->rest[0] + a->rest[1] + a->rest[2]))
    return err_set(err, LOOM_E_CONFIG, "joint %s: its pivot is not finite", a->name);
  if (a->num_dofs < 0 || a->num_dofs > RIG_JOINT_DOFS)
    return err_set(err, LOOM_E_CONFIG, "joint %s: %d angles, at most %d are possible", a->name,
                   a->num_dofs, RIG_JOINT_DOFS);
  for (int k = 0; k < a->num_dofs; ++k)
    if (!(a->limit[k][0] <= a->limit[k][1]))
      return err_set(err, LOOM_E_CONFIG, "joint %s.%s: limits %g to %g rad", a->name,
                     a->dof_name[k], a->limit[k][0], a->limit[k][1]);
  return LOOM_OK;
}

/* Scales the weights of vertex v to the sum 1. */
static loom_status settle_weights(loom_err *err, rig *r, int32_t v)
{
  double *const w = r->weight + (int64_t)v * r->per, sum = 0;
  const int32_t *const bone = r->bone + (int64_t)v * r->per;
  for (int k = 0; k < r->per; ++k) {
    if (bone[k] < 0 || bone[k] >= r->num_joints)
      return err_set(err, LOOM_E_CONFIG, "skin vertex %d follows joint %d of %d", v, bone[k],
                     r->num_joints);
    if (!isfinite(w[k]) || w[k] < 0)
      return err_set(err, LOOM_E_CONFIG, "skin vertex %d: its weight %g is not 0 or above", v,
                     w[k]);
    sum += w[k];
  }
  if (!(sum > 0))
    return err_set(err, LOOM_E_CONFIG,
                   "skin vertex %d has no weight: no joint moves it; paint weights for it", v);
  r->num_scaled += fabs(sum - 1) > 1e-5; /* files have floats */
  for (int k = 0; k < r->per; ++k) w[k] /= sum;
  return LOOM_OK;
}

/* FNV-1a.  Numbers are rounded to 1e-6, so that the last bits of a processor's arithmetic do not
 * count. */
static void hash_bytes(uint64_t *h, const void *data, size_t len)
{
  const unsigned char *const p = data;
  for (size_t i = 0; i < len; ++i) *h = (*h ^ p[i]) * UINT64_C(0x100000001b3);
}

static void hash_reals(uint64_t *h, const double *v, int64_t count)
{
  for (int64_t i = 0; i < count; ++i) {
    const int64_t q = llround(v[i] * 1e6);
    hash_bytes(h, &q, sizeof q);
  }
}

static void hash_rig(rig *r)
{
  uint64_t h = UINT64_C(0xcbf29ce484222325);
  for (int32_t j = 0; j < r->num_joints; ++j) {
    const rig_joint *const a = &r->joint[j];
    hash_bytes(&h, a->name, strlen(a->name) + 1);
    hash_bytes(&h, &a->parent, sizeof a->parent);
    hash_reals(&h, a->rest, 3);
    for (int k = 0; k < a->num_dofs; ++k) {
      hash_reals(&h, a->axis[k], 3);
      hash_reals(&h, a->limit[k], 2);
    }
  }
  hash_reals(&h, r->skin.x, 3 * (int64_t)r->skin.num_verts);
  hash_bytes(&h, r->skin.tris, 3 * (size_t)r->skin.num_tris * sizeof *r->skin.tris);
  hash_bytes(&h, r->bone, (size_t)r->skin.num_verts * (size_t)r->per * sizeof *r->bone);
  hash_reals(&h, r->weight, (int64_t)r->skin.num_verts * r->per);
  snprintf(r->hash, sizeof r->hash, "%016" PRIx64, h);
}

loom_status rig_finish(loom_err *err, rig *r)
{
  if (r->num_joints < 1 || r->num_joints > RIG_MAX_JOINTS)
    return err_set(err, LOOM_E_CONFIG, "%d joints; 1 to %d are possible", r->num_joints,
                   RIG_MAX_JOINTS);
  r->num_dofs = 0;
  for (int32_t j = 0; j < r->num_joints; ++j) {
    LOOM_TRY(check_joint(err, r, j));
    r->joint[j].first_dof = r->num_dofs;
    r->num_dofs += r->joint[j].num_dofs;
  }
  r->num_scaled = 0;
  for (int32_t v = 0; v < r->skin.num_verts; ++v) LOOM_TRY(settle_weights(err, r, v));
  hash_rig(r);
  return LOOM_OK;
}
