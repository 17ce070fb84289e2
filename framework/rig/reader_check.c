/* reader_check.c - checks the data that a module has read: the file may be damaged or made to harm.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "rig/reader.h"
#include "rig/tracks.h"

enum { MOST_PER = 64 };

static const char remedy[] = "the file is damaged; export it again";

static loom_status bad_id(loom_err *err, const char *of, int64_t at, const char *what, int64_t id,
                          int64_t count)
{
  return err_set(err, LOOM_E_CONFIG,
                 "%s %" PRId64 " names %s %" PRId64 ", there are %" PRId64 "; %s", of, at, what, id,
                 count, remedy);
}

static loom_status bad_number(loom_err *err, const char *what, int64_t at)
{
  return err_set(err, LOOM_E_CONFIG, "%s %" PRId64 " is not finite; %s", what, at, remedy);
}

static int64_t first_not_finite(const double *v, int64_t n)
{
  for (int64_t k = 0; k < n; ++k)
    if (!isfinite(v[k])) return k;
  return -1;
}

static loom_status check_rig_counts(loom_err *err, const loom_rig_file *f, int surface)
{
  const int joints =
      surface ? f->num_joints == 0 && f->per == 0 && f->num_clips == 0 && f->num_nodes == 0
              : f->num_joints > 0 && f->num_nodes > 0;
  if (joints && f->num_verts >= 0 && f->num_tris >= 0 && f->num_clips >= 0 && f->left_out >= 0 &&
      f->per >= 0 && f->per <= MOST_PER)
    return LOOM_OK;
  return err_set(err, LOOM_E_CONFIG,
                 "holds %d joints, %d vertices, %d triangles, %d joints for a vertex and %d "
                 "animations, which cannot be; %s",
                 f->num_joints, f->num_verts, f->num_tris, f->per, f->num_clips, remedy);
}

static loom_status check_joints(loom_err *err, const loom_rig_file *f)
{
  for (int32_t j = 0; j < f->num_joints; ++j) {
    const loom_rig_joint *const a = &f->joint[j];
    if (memchr(a->name, '\0', sizeof a->name) == NULL)
      return err_set(err, LOOM_E_CONFIG, "the name of joint %d has no end; %s", j, remedy);
    if (a->parent < -1 || a->parent >= j) return bad_id(err, "joint", j, "parent", a->parent, j);
    if (first_not_finite(a->rest, 12) >= 0) return bad_number(err, "the frame of joint", j);
  }
  return LOOM_OK;
}

static loom_status check_skin(loom_err *err, const loom_rig_file *f)
{
  const int64_t corners = 3 * (int64_t)f->num_tris, rows = (int64_t)f->num_verts * f->per;
  int64_t at = first_not_finite(f->x, 3 * (int64_t)f->num_verts);
  if (at >= 0) return bad_number(err, "skin vertex", at / 3);
  at = first_not_finite(f->weight, rows);
  if (at >= 0) return bad_number(err, "a weight of skin vertex", at / f->per);
  for (int64_t k = 0; k < corners; ++k)
    if (f->tris[k] < 0 || f->tris[k] >= f->num_verts)
      return bad_id(err, "triangle", k / 3, "vertex", f->tris[k], f->num_verts);
  for (int64_t k = 0; k < rows; ++k)
    if (f->bone[k] < 0 || f->bone[k] >= f->num_joints)
      return bad_id(err, "skin vertex", k / f->per, "joint", f->bone[k], f->num_joints);
  return LOOM_OK;
}

/* Every joint is a node, once, in the order of the joints. */
static loom_status check_nodes(loom_err *err, const loom_rig_file *f, int surface)
{
  int32_t joints = 0;
  for (int32_t n = 0; n < f->num_nodes; ++n) {
    const loom_rig_node *const a = &f->node[n];
    if (a->parent < -1 || a->parent >= n) return bad_id(err, "node", n, "parent", a->parent, n);
    if (a->joint < -1 || a->joint >= f->num_joints || (a->joint >= 0 && a->joint != joints))
      return bad_id(err, "node", n, "joint", a->joint, f->num_joints);
    joints += a->joint >= 0;
    if (first_not_finite(a->local, 12) >= 0) return bad_number(err, "the map of node", n);
  }
  if (surface || joints == f->num_joints) return LOOM_OK;
  return err_set(err, LOOM_E_CONFIG, "%d of %d joints are nodes; %s", joints, f->num_joints,
                 remedy);
}

static loom_status check_track(loom_err *err, const loom_rig_file *f, int32_t clip,
                               const loom_rig_track *t)
{
  if (t->node < 0 || t->node >= f->num_nodes)
    return bad_id(err, "animation", clip, "node", t->node, f->num_nodes);
  if (t->part < LOOM_RIG_SHIFT || t->part > LOOM_RIG_SIZE || t->interpolation < LOOM_RIG_STEP ||
      t->interpolation > LOOM_RIG_CUBIC || t->num_keys < 1)
    return err_set(err, LOOM_E_CONFIG,
                   "animation %d moves part %d of a node by %d keys, kind %d; %s", clip, t->part,
                   t->num_keys, t->interpolation, remedy);
  for (int32_t i = 0; i < t->num_keys; ++i)
    if (!isfinite(t->time[i]) || (i > 0 && t->time[i] < t->time[i - 1]))
      return err_set(err, LOOM_E_CONFIG,
                     "key %d of a node in animation %d has no time after the last; %s", i, clip,
                     remedy);
  if (first_not_finite(t->value, (int64_t)rig_track_width(t) * t->num_keys) >= 0)
    return bad_number(err, "a key of animation", clip);
  return LOOM_OK;
}

static loom_status check_clips(loom_err *err, const loom_rig_file *f)
{
  for (int32_t k = 0; k < f->num_clips; ++k) {
    const loom_rig_clip *const c = &f->clip[k];
    if (memchr(c->name, '\0', sizeof c->name) == NULL || !isfinite(c->length) || c->length < 0)
      return err_set(err, LOOM_E_CONFIG, "animation %d has the length %g s, or no name; %s", k,
                     c->length, remedy);
    for (int32_t i = 0; i < c->num_tracks; ++i) LOOM_TRY(check_track(err, f, k, &c->track[i]));
  }
  return LOOM_OK;
}

loom_status rig_reader_check(loom_err *err, const loom_rig_file *f, int surface)
{
  LOOM_TRY(check_rig_counts(err, f, surface));
  LOOM_TRY(check_joints(err, f));
  LOOM_TRY(check_nodes(err, f, surface));
  LOOM_TRY(check_skin(err, f));
  return check_clips(err, f);
}
