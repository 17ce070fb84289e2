/* gltf_clips.c - animations of a glTF file by its own JSON. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gltf.h"

typedef struct work {
  reader *r;
  gltf g;
  const json_t *nodes;
  int32_t *at;      /* [nodes of the file] index in r->node; -1: not in the scene */
  char (*moves)[3]; /* [num_nodes] parts of a node that have a track, by LOOM_RIG_SHIFT, ... */
} work;

static const struct {
  const char *name; /* path of a channel, key of a node */
  int width;
} parts[] = {{"translation", 3}, {"rotation", 4}, {"scale", 3}}; /* by LOOM_RIG_SHIFT, ... */

/* ---- nodes ---- */

static loom_status refuse_nodes(reader *r)
{
  return reader_fail(r, LOOM_E_CONFIG, "its nodes do not match its scene; export it again");
}

/* Walks over the nodes of the file and of Assimp, which are in one order: names need not be
 * there, and need not differ.  As deep as Assimp's nodes. */
static loom_status match_nodes(work *w, const json_t *list, int32_t *next)
{
  for (size_t k = 0; k < json_array_size(list); ++k) {
    const json_t *const id = json_array_get(list, k);
    const json_int_t n = json_is_integer(id) ? json_integer_value(id) : -1;
    const json_t *const node = n >= 0 ? json_array_get(w->nodes, (size_t)n) : NULL;
    const json_t *const children = json_object_get(node, "children");
    if (node == NULL || *next >= w->r->num_nodes ||
        json_array_size(children) != w->r->node[*next].node->mNumChildren)
      return refuse_nodes(w->r);
    if (w->at[n] < 0) w->at[n] = *next;
    ++*next;
    LOOM_TRY(match_nodes(w, children, next));
  }
  return LOOM_OK;
}

static loom_status find_nodes(work *w)
{
  const json_t *const root = w->g.root;
  const json_t *const scene =
      json_array_get(json_object_get(root, "scenes"), (size_t)gltf_count(root, "scene", 0));
  const json_t *const list = json_object_get(scene, "nodes");
  int32_t next = json_array_size(list) == 1 ? 0 : 1; /* Assimp's root carries several ones */
  w->nodes = json_object_get(root, "nodes");
  const size_t num = json_array_size(w->nodes);
  LOOM_TRY(reader_room(w->r, num, sizeof *w->at, &w->at));
  LOOM_TRY(reader_room(w->r, (size_t)w->r->num_nodes, sizeof *w->moves, &w->moves));
  for (size_t k = 0; k < num; ++k) w->at[k] = -1;
  LOOM_TRY(match_nodes(w, list, &next));
  return next == w->r->num_nodes ? LOOM_OK : refuse_nodes(w->r);
}

/* ---- tracks ---- */

/* From x y z w to w x y z; other values stay. */
static void put_value(int width, const double *from, double *to)
{
  for (int c = 0; c < width; ++c) to[c] = from[width == 4 ? (c + 3) % 4 : c];
}

static loom_status put_track(work *w, loom_rig_clip *c, int32_t node, int part, int interpolation,
                             const double *time, int64_t keys, const double *value)
{
  const int width = parts[part].width, rows = interpolation == LOOM_RIG_CUBIC ? 3 : 1;
  loom_rig_track *t = NULL;
  LOOM_TRY(reader_track(w->r, c, w->r->node[node].given, part, interpolation, keys, &t));
  memcpy(t->time, time, (size_t)keys * sizeof *time);
  for (int64_t k = 0; k < rows * keys; ++k)
    put_value(width, value + width * k, t->value + width * k);
  w->moves[node][part] = 1;
  return LOOM_OK;
}

static loom_status find_interpolation(reader *r, const json_t *sampler, int *interpolation)
{
  static const char *const words[] = {"STEP", "LINEAR", "CUBICSPLINE"}; /* by LOOM_RIG_STEP, ... */
  const char *const name = json_string_value(json_object_get(sampler, "interpolation"));
  *interpolation = LOOM_RIG_LINEAR;
  if (name == NULL) return LOOM_OK;
  for (*interpolation = 0; *interpolation < 3; ++*interpolation)
    if (strcmp(name, words[*interpolation]) == 0) return LOOM_OK;
  snprintf(r->why, r->len, "has an animation of the interpolation '%.40s'; export it as LINEAR",
           name);
  return LOOM_E_CONFIG;
}

/* The keys of a channel whose node counts. */
static loom_status put_gltf_channel(work *w, loom_rig_clip *c, const json_t *sampler, int32_t node,
                                    int part, const double *time, int64_t keys)
{
  double *value = NULL;
  int64_t have;
  int interpolation;
  LOOM_TRY(find_interpolation(w->r, sampler, &interpolation));
  loom_status s =
      gltf_read(w->r, &w->g, gltf_count(sampler, "output", -1), parts[part].width, &value, &have);
  if (s == LOOM_OK && have / (interpolation == LOOM_RIG_CUBIC ? 3 : 1) < keys)
    s = reader_fail(w->r, LOOM_E_CONFIG,
                    "an animation has fewer values than times; the file is damaged");
  if (s == LOOM_OK) s = put_track(w, c, node, part, interpolation, time, keys, value);
  free(value);
  return s;
}

/* A channel; its last time is the animation's where no other one is later. */
static loom_status read_channel(work *w, const json_t *animation, const json_t *channel,
                                loom_rig_clip *c)
{
  const json_t *const target = json_object_get(channel, "target");
  const char *const path = json_string_value(json_object_get(target, "path"));
  const int64_t id = gltf_count(target, "node", -1), num = (int64_t)json_array_size(w->nodes);
  const json_t *const sampler = json_array_get(json_object_get(animation, "samplers"),
                                               (size_t)gltf_count(channel, "sampler", -1));
  double *time = NULL;
  int64_t keys;
  int part = 0;
  if (id < 0 || id >= num || path == NULL) return LOOM_OK; /* the target of an extension */
  while (part < 3 && strcmp(path, parts[part].name) != 0) ++part;
  c->morphs += strcmp(path, "weights") == 0;
  const int32_t node = w->at[id];
  loom_status s = gltf_read(w->r, &w->g, gltf_count(sampler, "input", -1), 1, &time, &keys);
  if (s == LOOM_OK && time[keys - 1] > c->length) c->length = time[keys - 1];
  if (s == LOOM_OK && part < 3 && node >= 0 && w->r->node[node].given >= 0 && !w->moves[node][part])
    s = put_gltf_channel(w, c, sampler, node, part, time, keys);
  free(time);
  return s;
}

/* Parts that an animation does not move stay as the node has them. */
static loom_status hold_other_parts(work *w, loom_rig_clip *c)
{
  const size_t num = json_array_size(w->nodes);
  for (size_t n = 0; n < num; ++n) {
    const int32_t at = w->at[n];
    const char *const moves = at >= 0 ? w->moves[at] : NULL;
    if (moves == NULL || !(moves[0] || moves[1] || moves[2])) continue;
    for (int part = 0; part < 3; ++part) {
      const json_t *const rest = json_object_get(json_array_get(w->nodes, n), parts[part].name);
      const double zero = 0;
      double value[4];
      if (moves[part] || json_array_size(rest) != (size_t)parts[part].width) continue;
      for (int k = 0; k < parts[part].width; ++k)
        value[k] = json_number_value(json_array_get(rest, (size_t)k));
      LOOM_TRY(put_track(w, c, at, part, LOOM_RIG_STEP, &zero, 1, value));
    }
  }
  return LOOM_OK;
}

static loom_status read_gltf_animation(work *w, const json_t *animation, loom_rig_clip *to)
{
  const json_t *const channels = json_object_get(animation, "channels");
  const char *const name = json_string_value(json_object_get(animation, "name"));
  snprintf(to->name, sizeof to->name, "%.63s", name != NULL ? name : "");
  memset(w->moves, 0, (size_t)w->r->num_nodes * sizeof *w->moves);
  LOOM_TRY(reader_room(w->r, 3 * (size_t)w->r->out->num_nodes, sizeof *to->track, &to->track));
  for (size_t k = 0; k < json_array_size(channels); ++k)
    LOOM_TRY(read_channel(w, animation, json_array_get(channels, k), to));
  return hold_other_parts(w, to);
}

loom_status reader_gltf_clips(reader *r)
{
  work w = {.r = r};
  loom_rig_file *const f = r->out;
  if (r->s->mNumAnimations == 0) return LOOM_OK;
  loom_status s = gltf_open(r, &w.g);
  const json_t *const list = json_object_get(w.g.root, "animations");
  if (s == LOOM_OK) s = find_nodes(&w);
  if (s == LOOM_OK && json_array_size(list) != r->s->mNumAnimations)
    s = reader_fail(r, LOOM_E_CONFIG, "its animations cannot be told apart; export it again");
  for (unsigned k = 0; k < r->s->mNumAnimations && s == LOOM_OK; ++k) {
    f->num_clips = (int32_t)k + 1;
    s = read_gltf_animation(&w, json_array_get(list, k), &f->clip[k]);
  }
  gltf_close(&w.g);
  free(w.at);
  free(w.moves);
  return s;
}
