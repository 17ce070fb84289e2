/* joints.c - adds joints, dofs and room for weights to a rig. */
#include <stdio.h>
#include <string.h>

#include "rig/rig_shapes.h"

loom_status rig_alloc(loom_err *err, int32_t joints, int32_t per, rig *out)
{
  const int64_t rows = (int64_t)out->skin.num_verts * per;
  out->num_joints = joints;
  out->per = per;
  LOOM_TRY(mesh_alloc(err, joints, sizeof *out->joint, &out->joint));
  LOOM_TRY(mesh_alloc(err, rows, sizeof *out->bone, &out->bone));
  return mesh_alloc(err, rows, sizeof *out->weight, &out->weight);
}

void rig_set_joint(rig *r, int32_t j, const char *name, int32_t parent, const double pivot[3])
{
  rig_joint *const a = &r->joint[j];
  snprintf(a->name, sizeof a->name, "%s", name);
  a->parent = parent;
  memcpy(a->rest, pivot, sizeof a->rest);
}

void rig_add_dof(rig *r, int32_t j, const char *name, const double axis[3], double lo, double hi)
{
  rig_joint *const a = &r->joint[j];
  const int k = a->num_dofs++;
  snprintf(a->dof_name[k], sizeof a->dof_name[k], "%s", name);
  memcpy(a->axis[k], axis, sizeof a->axis[k]);
  a->limit[k][0] = lo;
  a->limit[k][1] = hi;
}
