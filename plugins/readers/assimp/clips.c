/* clips.c - animations, sampled at the keys of the file and 60 times a second. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frames.h"
#include "reader.h"

enum { RATE = 60, MAX_FRAMES = 1 << 17 };
/* of all animations together, 12 doubles a joint and frame: 1 GiB */
static const double most_numbers = 134217728.0;

/* Channels of the nodes that count, [num_nodes]; NULL: it stays at rest.  Of several channels of a
 * node the first one counts. */
static loom_status list_channels(reader *r, const struct aiAnimation *a,
                                 const struct aiNodeAnim **channel)
{
  names all = {0};
  if (!names_room(&all, a->mNumChannels)) return reader_fail(r, LOOM_E_NOMEM, "out of memory");
  for (unsigned k = 0; k < a->mNumChannels; ++k)
    names_add(&all, a->mChannels[k]->mNodeName.data, a->mChannels[k]);
  names_sort(&all);
  for (int32_t i = 0; i < r->num_nodes; ++i)
    channel[i] = r->node[i].used ? names_find(&all, r->node[i].node->mName.data) : NULL;
  names_free(&all);
  return LOOM_OK;
}

/* Frames of all joints at one tick; world [num_nodes][12]: room for the frames of the nodes. */
static void write_joint_frames(const reader *r, const struct aiNodeAnim *const *channel,
                               double tick, double *world, double *to)
{
  for (int32_t i = 0; i < r->num_nodes; ++i) {
    const rig_node *const n = &r->node[i];
    double *const P = world + 12 * (size_t)i;
    if (!n->used) continue;
    node_local(n->node, channel[i], tick, P);
    if (n->parent >= 0) map_mul(world + 12 * (size_t)n->parent, P, P);
    if (n->joint >= 0) memcpy(to + 12 * (size_t)n->joint, P, 12 * sizeof *P);
  }
}

/* ---- times ---- */

/* A time of glTF is a float of seconds, of which Assimp makes a float of milliseconds: 2e-6 s off
 * after half a minute.  The float of seconds next to it is the file's in 97 of 100 cases, and its
 * neighbour else. */
static double restore_tick(double tick, double per_second)
{
  return per_second * (double)(float)(tick / per_second);
}

static void restore_ticks(struct aiAnimation *a, double per_second)
{
  a->mDuration = restore_tick(a->mDuration, per_second);
  for (unsigned i = 0; i < a->mNumChannels; ++i) {
    struct aiNodeAnim *const c = a->mChannels[i];
    for (unsigned k = 0; k < c->mNumPositionKeys; ++k)
      c->mPositionKeys[k].mTime = restore_tick(c->mPositionKeys[k].mTime, per_second);
    for (unsigned k = 0; k < c->mNumRotationKeys; ++k)
      c->mRotationKeys[k].mTime = restore_tick(c->mRotationKeys[k].mTime, per_second);
    for (unsigned k = 0; k < c->mNumScalingKeys; ++k)
      c->mScalingKeys[k].mTime = restore_tick(c->mScalingKeys[k].mTime, per_second);
  }
}

typedef struct ticks {
  double *at; /* [num] */
  size_t num;
} ticks;

static int compare_ticks(const void *a, const void *b)
{
  const double p = *(const double *)a, q = *(const double *)b;
  return (p > q) - (p < q);
}

static void add_tick(ticks *t, double tick, double last)
{
  if (tick >= 0 && tick <= last) t->at[t->num++] = tick;
}

/* Ascending, without times nearer than a nanosecond (`least` ticks); the first is 0. */
static void settle_ticks(ticks *t, double least)
{
  size_t kept = 1;
  qsort(t->at, t->num, sizeof *t->at, compare_ticks);
  for (size_t k = 1; k < t->num; ++k)
    if (t->at[k] - t->at[kept - 1] > least) t->at[kept++] = t->at[k];
  t->num = kept;
}

/* 60 times a second, and the keys of all channels unless there are too many of them. */
static loom_status list_ticks(reader *r, const struct aiAnimation *a,
                              const struct aiNodeAnim *const *channel, double per_second, ticks *t)
{
  const double last = a->mDuration;
  const size_t even = (size_t)floor(last / per_second * RATE + 1e-6) + 1;
  size_t keys = 0;
  for (int32_t i = 0; i < r->num_nodes; ++i)
    if (channel[i] != NULL)
      keys += (size_t)channel[i]->mNumPositionKeys + channel[i]->mNumRotationKeys +
              channel[i]->mNumScalingKeys;
  LOOM_TRY(reader_room(r, even + 2 + keys, sizeof *t->at, &t->at));
  for (size_t k = 0; k < even; ++k) add_tick(t, per_second * (double)k / RATE, last);
  t->at[0] = 0;
  add_tick(t, last, last);
  for (int32_t i = 0; i < r->num_nodes; ++i) {
    const struct aiNodeAnim *const c = channel[i];
    if (c == NULL) continue;
    for (unsigned k = 0; k < c->mNumPositionKeys; ++k) add_tick(t, c->mPositionKeys[k].mTime, last);
    for (unsigned k = 0; k < c->mNumRotationKeys; ++k) add_tick(t, c->mRotationKeys[k].mTime, last);
    for (unsigned k = 0; k < c->mNumScalingKeys; ++k) add_tick(t, c->mScalingKeys[k].mTime, last);
  }
  settle_ticks(t, 1e-9 * per_second);
  if (t->num < MAX_FRAMES) return LOOM_OK;
  return reader_fail(r, LOOM_E_CONFIG, "an animation has too many keys; export a part of it");
}

static loom_status read_clip(reader *r, struct aiAnimation *a, loom_rig_clip *to, double *numbers)
{
  const double per_second = a->mTicksPerSecond > 0 ? a->mTicksPerSecond : 25; /* Assimp's default */
  if (r->format == LOOM_RIG_GLTF || r->format == LOOM_RIG_GLB) restore_ticks(a, per_second);
  const double seconds = a->mDuration / per_second;
  const size_t joints = (size_t)r->out->num_joints;
  if (!(seconds * RATE < MAX_FRAMES) || !(seconds >= 0))
    return reader_fail(r, LOOM_E_CONFIG, "an animation is too long; export a part of it");
  snprintf(to->name, sizeof to->name, "%.63s", a->mName.data);
  const struct aiNodeAnim **channel = NULL;
  double *world = NULL;
  ticks t = {0};
  loom_status s = reader_room(r, (size_t)r->num_nodes, sizeof *channel, &channel);
  if (s == LOOM_OK) s = reader_room(r, 12 * (size_t)r->num_nodes, sizeof *world, &world);
  if (s == LOOM_OK) s = list_channels(r, a, channel);
  if (s == LOOM_OK) s = list_ticks(r, a, channel, per_second, &t);
  if (s == LOOM_OK) *numbers += 12.0 * (double)joints * (double)t.num;
  if (s == LOOM_OK && *numbers > most_numbers)
    s = reader_fail(r, LOOM_E_CONFIG, "the animations are too long; export a part of them");
  if (s == LOOM_OK) s = reader_room(r, t.num, sizeof *to->time, &to->time);
  if (s == LOOM_OK) s = reader_room(r, 12 * joints * t.num, sizeof *to->frame, &to->frame);
  for (size_t k = 0; k < t.num && s == LOOM_OK; ++k) {
    to->time[k] = t.at[k] / per_second;
    write_joint_frames(r, channel, t.at[k], world, to->frame + 12 * joints * k);
    to->num_frames = (int32_t)k + 1;
  }
  free(t.at);
  free((void *)channel);
  free(world);
  return s;
}

loom_status reader_clips(reader *r)
{
  double numbers = 0;
  LOOM_TRY(reader_room(r, r->s->mNumAnimations, sizeof *r->out->clip, &r->out->clip));
  for (unsigned k = 0; k < r->s->mNumAnimations; ++k) {
    r->out->num_clips = (int32_t)k + 1;
    LOOM_TRY(read_clip(r, r->s->mAnimations[k], &r->out->clip[k], &numbers));
  }
  return LOOM_OK;
}
