/* clips.c - animations, sampled at equal distances. */
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

static loom_status read_clip(reader *r, const struct aiAnimation *a, loom_rig_clip *to,
                             double *numbers)
{
  const double ticks = a->mTicksPerSecond > 0 ? a->mTicksPerSecond : 25; /* Assimp's default */
  const double seconds = a->mDuration / ticks;
  const size_t joints = (size_t)r->out->num_joints;
  if (!(seconds * RATE < MAX_FRAMES) || !(seconds >= 0))
    return reader_fail(r, LOOM_E_CONFIG, "an animation is too long; export a part of it");
  snprintf(to->name, sizeof to->name, "%.63s", a->mName.data);
  to->rate = RATE;
  to->num_frames = (int32_t)floor(seconds * RATE + 1e-6) + 1;
  *numbers += 12.0 * (double)joints * to->num_frames;
  if (*numbers > most_numbers)
    return reader_fail(r, LOOM_E_CONFIG, "the animations are too long; export a part of them");
  LOOM_TRY(reader_room(r, 12 * joints * (size_t)to->num_frames, sizeof *to->frame, &to->frame));
  const struct aiNodeAnim **channel = NULL;
  double *world = NULL;
  loom_status s = reader_room(r, (size_t)r->num_nodes, sizeof *channel, &channel);
  if (s == LOOM_OK) s = reader_room(r, 12 * (size_t)r->num_nodes, sizeof *world, &world);
  if (s == LOOM_OK) s = list_channels(r, a, channel);
  for (int32_t k = 0; k < to->num_frames && s == LOOM_OK; ++k)
    write_joint_frames(r, channel, ticks * k / RATE, world, to->frame + 12 * joints * (size_t)k);
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
