/* fx_rig_reader.c - a module of loom/rig_reader.h that gives a triangle with one joint, wrong as
 * the word "deed" in the file says. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loom/rig_reader.h"

static void *copy_to_heap(const void *data, size_t bytes)
{
  void *const p = malloc(bytes);
  if (p != NULL) memcpy(p, data, bytes);
  return p;
}

static void fill_triangle_rig(loom_rig_file *f)
{
  static const double x[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0}, weight[3] = {1, 1, 1};
  static const int32_t tris[3] = {0, 1, 2}, bone[3] = {0, 0, 0};
  static const double map[12] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0};
  static const double time[2] = {0, 0.5}, shift[6] = {0, 0, 0, 0, 0, 1};
  loom_rig_joint joint = {.name = "root", .parent = -1};
  loom_rig_node node = {.parent = -1, .joint = 0};
  loom_rig_clip clip = {.name = "move", .num_tracks = 1, .length = 0.5};
  loom_rig_track track = {.part = LOOM_RIG_SHIFT, .interpolation = LOOM_RIG_LINEAR, .num_keys = 2};
  memcpy(joint.rest, map, sizeof joint.rest);
  memcpy(node.local, map, sizeof node.local);
  track.time = copy_to_heap(time, sizeof time);
  track.value = copy_to_heap(shift, sizeof shift);
  clip.track = copy_to_heap(&track, sizeof track);
  *f = (loom_rig_file){
      .num_joints = 1, .num_verts = 3, .num_tris = 1, .per = 1, .num_clips = 1, .num_nodes = 1};
  f->joint = copy_to_heap(&joint, sizeof joint);
  f->node = copy_to_heap(&node, sizeof node);
  f->x = copy_to_heap(x, sizeof x);
  f->tris = copy_to_heap(tris, sizeof tris);
  f->bone = copy_to_heap(bone, sizeof bone);
  f->weight = copy_to_heap(weight, sizeof weight);
  f->clip = copy_to_heap(&clip, sizeof clip);
}

static int is_deed(const char *deed, const char *name) { return strcmp(deed, name) == 0; }

static void spoil_rig_values(loom_rig_file *f, const char *deed)
{
  if (is_deed(deed, "triangle_high")) f->tris[1] = 3;
  if (is_deed(deed, "triangle_negative")) f->tris[2] = -1;
  if (is_deed(deed, "bone_high")) f->bone[0] = 1;
  if (is_deed(deed, "bone_negative")) f->bone[2] = INT32_MIN;
  if (is_deed(deed, "parent_self")) f->joint[0].parent = 0;
  if (is_deed(deed, "parent_negative")) f->joint[0].parent = -2;
  if (is_deed(deed, "vertex_nan")) f->x[4] = (double)NAN;
  if (is_deed(deed, "weight_infinite")) f->weight[1] = (double)INFINITY;
  if (is_deed(deed, "rest_nan")) f->joint[0].rest[11] = (double)NAN;
  loom_rig_clip *const clip = &f->clip[0];
  if (is_deed(deed, "node_parent")) f->node[0].parent = 0;
  if (is_deed(deed, "node_joint")) f->node[0].joint = 7;
  if (is_deed(deed, "node_none")) f->node[0].joint = -1;
  if (is_deed(deed, "node_nan")) f->node[0].local[11] = (double)NAN;
  if (is_deed(deed, "track_node")) clip->track[0].node = 1;
  if (is_deed(deed, "track_part")) clip->track[0].part = 3;
  if (is_deed(deed, "track_interpolation")) clip->track[0].interpolation = -1;
  if (is_deed(deed, "key_nan")) clip->track[0].value[5] = (double)NAN;
  if (is_deed(deed, "time_falls")) clip->track[0].time[1] = -1;
  if (is_deed(deed, "time_nan")) clip->track[0].time[0] = (double)NAN;
  if (is_deed(deed, "length_nan")) clip->length = (double)NAN;
  if (is_deed(deed, "name_without_end")) memset(f->joint[0].name, 'a', sizeof f->joint[0].name);
  if (is_deed(deed, "clip_without_end")) memset(f->clip[0].name, 'a', sizeof f->clip[0].name);
  if (is_deed(deed, "no_joints")) f->num_joints = 0;
  if (is_deed(deed, "segv")) raise(SIGSEGV);
  if (is_deed(deed, "abort")) abort();
  if (is_deed(deed, "exit")) exit(0);
}

/* Counts that the arrays do not have: the arrays end before. */
static void falsify_rig_counts(loom_rig_file *f, const char *deed)
{
  if (is_deed(deed, "verts_many")) free(f->x), f->x = NULL, f->num_verts = INT32_MAX;
  if (is_deed(deed, "verts_negative")) f->num_verts = -3;
  if (is_deed(deed, "tris_many")) free(f->tris), f->tris = NULL, f->num_tris = INT32_MAX;
  if (is_deed(deed, "nodes_many")) free(f->node), f->node = NULL, f->num_nodes = INT32_MAX;
  if (is_deed(deed, "tracks_many")) {
    free(f->clip[0].track[0].time), free(f->clip[0].track[0].value);
    free(f->clip[0].track), f->clip[0].track = NULL;
    f->clip[0].num_tracks = INT32_MAX;
  }
  if (is_deed(deed, "keys_many")) {
    free(f->clip[0].track[0].time), free(f->clip[0].track[0].value);
    f->clip[0].track[0].time = f->clip[0].track[0].value = NULL;
    f->clip[0].track[0].num_keys = INT32_MAX;
  }
}

static void fx_rig_reader_release(loom_rig_file *f)
{
  for (int32_t k = 0; f->clip != NULL && k < f->num_clips; ++k) {
    if (f->clip[k].track != NULL) free(f->clip[k].track[0].time), free(f->clip[k].track[0].value);
    free(f->clip[k].track);
  }
  free(f->clip), free(f->joint), free(f->node), free(f->x), free(f->tris), free(f->bone),
      free(f->weight);
  memset(f, 0, sizeof *f);
}

static loom_status fx_rig_reader_read(const char *path, int format, loom_rig_file *out, char *why,
                                      size_t len)
{
  char text[256] = "", deed[64] = "";
  FILE *const f = fopen(path, "r");
  memset(out, 0, sizeof *out);
  if (f == NULL || format != LOOM_RIG_GLTF) return LOOM_E_IO;
  const size_t n = fread(text, 1, sizeof text - 1, f);
  const char *const at = strstr(text, "deed ");
  fclose(f);
  if (n == 0 || at == NULL || sscanf(at, "deed %63[a-z_]", deed) != 1) return LOOM_E_IO;
  if (is_deed(deed, "refuse")) {
    snprintf(why, len, "says no\x1b[31m");
    return LOOM_E_CONFIG;
  }
  fill_triangle_rig(out);
  spoil_rig_values(out, deed);
  falsify_rig_counts(out, deed);
  return LOOM_OK;
}

/* Without the deed "joints" the surface has none. */
static loom_status fx_rig_reader_read_surface(const char *path, int format, loom_rig_file *out,
                                              char *why, size_t len)
{
  (void)path, (void)format, (void)why, (void)len;
  fill_triangle_rig(out);
  return LOOM_OK;
}

const loom_rig_reader *loom_rig_reader_query(uint32_t abi)
{
  static const loom_rig_reader table = {.struct_size = sizeof table,
                                        .abi = LOOM_RIG_READER_ABI,
                                        .name = "fixture",
                                        .version = "1",
                                        .license = "MIT",
                                        .summary = "for tests",
                                        .read = fx_rig_reader_read,
                                        .read_surface = fx_rig_reader_read_surface,
                                        .release = fx_rig_reader_release};
  return abi == LOOM_RIG_READER_ABI ? &table : NULL;
}
