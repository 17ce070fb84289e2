/* meeting.c - pieces of a pattern that meet and are not sewn, as the fronts of an open jacket:
 * their vertices at one place stay two, and contact leaves the pairs out until they have parted. */
#include <stdlib.h>
#include <string.h>

#include "mesh/merge.h"
#include "scene/base/build.h"
#include "scene/base/exclusions.h"

static const double rounding = 1e-9; /* m, of places that two pieces compute */

/* Adds pairs [*num][2] of vertices of edges with one triangle that start at one place: each with
 * the first and with the one before it, which are all pairs of up to three vertices. */
static loom_status add_meeting_pairs(builder *b, const object *o, int32_t *pairs, int64_t *num)
{
  const int32_t n = o->m.num_verts;
  int32_t *leader = NULL, *newest = NULL; /* newest: vertex of a group, of its leader */
  unsigned char *only = NULL;
  loom_status s = mesh_alloc(b->err, n, sizeof *leader, &leader);
  if (s == LOOM_OK) s = mesh_alloc(b->err, n, sizeof *newest, &newest);
  if (s == LOOM_OK) s = mesh_alloc(b->err, n, 1, &only);
  if (s == LOOM_OK) s = merge_boundary(b->err, &o->m, only);
  if (s == LOOM_OK) s = merge_coincident(b->err, &o->m, o->label, rounding, only, leader);
  for (int32_t v = 0; v < n && s == LOOM_OK; ++v) {
    const int32_t first = leader[v], before = newest[first];
    newest[first] = v;
    for (int k = 0; k < 2 && first != v; ++k) {
      if (k == 1 && before == first) break;
      pairs[2 * *num] = o->first_vert + (k == 0 ? first : before);
      pairs[2 * (*num)++ + 1] = o->first_vert + v;
    }
  }
  free(newest);
  free(leader);
  free(only);
  return s;
}

loom_status build_meeting(builder *b)
{
  int32_t *pairs;
  int64_t num = 0;
  loom_status s = LOOM_OK;
  LOOM_TRY(mesh_alloc(b->err, 4 * (int64_t)b->s->pub.num_verts, sizeof *pairs, &pairs));
  for (int k = 0; k < b->num_objects && s == LOOM_OK; ++k) {
    const object *const o = &b->objects[k];
    const int64_t before = num;
    if (o->kind != OBJECT_CLOTH || o->cloth.shape != CLOTH_PATTERN) continue;
    s = add_meeting_pairs(b, o, pairs, &num);
    if (s == LOOM_OK && num > before)
      s = build_note(b,
                     "%s: %lld pairs of vertices of pieces that meet and are not sewn start at one "
                     "place; they stay two, and contact ignores these pairs until they have parted",
                     o->label, (long long)(num - before));
  }
  if (s == LOOM_OK && num > 0) s = scene_leave_out(b->err, b->s, SCENE_AT_START, pairs, num);
  free(pairs);
  return s;
}
