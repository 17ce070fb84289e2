/* clips.c - animations: the keys of the nodes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader.h"

loom_status reader_track(reader *r, loom_rig_clip *c, int32_t node, int part, int interpolation,
                         int64_t keys, loom_rig_track **out)
{
  const size_t width =
      (part == LOOM_RIG_TURN ? 4U : 3U) * (interpolation == LOOM_RIG_CUBIC ? 3U : 1U);
  loom_rig_track *const t = &c->track[c->num_tracks];
  *out = t;
  if (keys > INT32_MAX / 12)
    return reader_fail(r, LOOM_E_CONFIG, "an animation has too many keys; export a part of it");
  *t = (loom_rig_track){
      .node = node, .part = part, .interpolation = interpolation, .num_keys = (int32_t)keys};
  ++c->num_tracks;
  LOOM_TRY(reader_room(r, (size_t)keys, sizeof *t->time, &t->time));
  return reader_room(r, width * (size_t)keys, sizeof *t->value, &t->value);
}

/* ---- animations of Assimp ---- */

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

static loom_status put_vector_keys(reader *r, loom_rig_clip *c, int32_t node, int part,
                                   double per_second, const struct aiVectorKey *key, unsigned num)
{
  loom_rig_track *t = NULL;
  if (num == 0) return LOOM_OK;
  LOOM_TRY(reader_track(r, c, node, part, LOOM_RIG_LINEAR, num, &t));
  for (unsigned k = 0; k < num; ++k) {
    const double v[3] = {key[k].mValue.x, key[k].mValue.y, key[k].mValue.z};
    t->time[k] = key[k].mTime / per_second;
    memcpy(t->value + 3 * (size_t)k, v, sizeof v);
  }
  return LOOM_OK;
}

static loom_status put_turn_keys(reader *r, loom_rig_clip *c, int32_t node, double per_second,
                                 const struct aiQuatKey *key, unsigned num)
{
  loom_rig_track *t = NULL;
  if (num == 0) return LOOM_OK;
  LOOM_TRY(reader_track(r, c, node, LOOM_RIG_TURN, LOOM_RIG_LINEAR, num, &t));
  for (unsigned k = 0; k < num; ++k) {
    const double v[4] = {key[k].mValue.w, key[k].mValue.x, key[k].mValue.y, key[k].mValue.z};
    t->time[k] = key[k].mTime / per_second;
    memcpy(t->value + 4 * (size_t)k, v, sizeof v);
  }
  return LOOM_OK;
}

/* A channel moves its node as a whole: where it has no shift, that of the rest pose stays. */
static loom_status put_ai_channel(reader *r, loom_rig_clip *c, const rig_node *n,
                                  const struct aiNodeAnim *from, double per_second)
{
  const struct aiMatrix4x4 *const m = &n->node->mTransformation;
  const struct aiVectorKey rest = {.mTime = 0, .mValue = {m->a4, m->b4, m->c4}};
  const int moves = from->mNumPositionKeys > 0;
  LOOM_TRY(put_vector_keys(r, c, n->given, LOOM_RIG_SHIFT, per_second,
                           moves ? from->mPositionKeys : &rest,
                           moves ? from->mNumPositionKeys : 1));
  LOOM_TRY(put_turn_keys(r, c, n->given, per_second, from->mRotationKeys, from->mNumRotationKeys));
  return put_vector_keys(r, c, n->given, LOOM_RIG_SIZE, per_second, from->mScalingKeys,
                         from->mNumScalingKeys);
}

static loom_status read_clip(reader *r, const struct aiAnimation *a, loom_rig_clip *to)
{
  const double per_second = a->mTicksPerSecond > 0 ? a->mTicksPerSecond : 25; /* Assimp's default */
  const struct aiNodeAnim **channel = NULL;
  snprintf(to->name, sizeof to->name, "%.63s", a->mName.data);
  to->length = a->mDuration / per_second;
  to->morphs = a->mNumMeshChannels + a->mNumMorphMeshChannels > 0;
  LOOM_TRY(reader_room(r, 3 * (size_t)r->out->num_nodes, sizeof *to->track, &to->track));
  LOOM_TRY(reader_room(r, (size_t)r->num_nodes, sizeof *channel, &channel));
  loom_status s = list_channels(r, a, channel);
  for (int32_t i = 0; i < r->num_nodes && s == LOOM_OK; ++i)
    if (channel[i] != NULL) s = put_ai_channel(r, to, &r->node[i], channel[i], per_second);
  free((void *)channel);
  return s;
}

loom_status reader_clips(reader *r)
{
  LOOM_TRY(reader_room(r, r->s->mNumAnimations, sizeof *r->out->clip, &r->out->clip));
  if (r->format == LOOM_RIG_GLTF || r->format == LOOM_RIG_GLB) return reader_gltf_clips(r);
  for (unsigned k = 0; k < r->s->mNumAnimations; ++k) {
    r->out->num_clips = (int32_t)k + 1;
    LOOM_TRY(read_clip(r, r->s->mAnimations[k], &r->out->clip[k]));
  }
  return LOOM_OK;
}
