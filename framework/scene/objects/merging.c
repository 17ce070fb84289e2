/* merging.c - merging of vertices that the keys repair and sewing of a cloth ask for. */
#include <math.h>
#include <stdlib.h>

#include "mesh/merge.h"
#include "scene/base/build.h"

static int is_mergeable_mesh(const mesh *m)
{
  for (int64_t k = 0; k < 3 * (int64_t)m->num_verts; ++k)
    if (!isfinite(m->x[k])) return 0;
  return build_has_valid_ids(m);
}

/* 1: the stitch of a pattern joins two vertices at one place. */
static int starts_closed(const object *o, const mesh_stitch *s)
{
  double d2 = 0;
  for (int c = 0; c < 3; ++c) {
    const double d = o->m.x[3 * (int64_t)s->i + c] - o->m.x[3 * (int64_t)s->a + c];
    d2 += d * d;
  }
  return sqrt(d2) <= o->cloth.merge_tolerance;
}

/* leader[v]: the lowest number of the vertices that seams of a pattern join with v.  With sewing =
 * merge all seams count, else only seams that start closed: stitches would have no gap to pull. */
static void lead_seams(const object *o, int32_t *leader)
{
  const int all = o->cloth.sewing == SEWING_MERGE;
  for (int32_t v = 0; v < o->m.num_verts; ++v) leader[v] = v;
  for (int changed = 1; changed;) {
    changed = 0;
    for (int64_t k = 0; k < o->num_stitches; ++k) {
      if (!all && !starts_closed(o, &o->stitches[k])) continue;
      int32_t *const a = &leader[o->stitches[k].i], *const b = &leader[o->stitches[k].a];
      changed |= *a != *b;
      *a = *b = *a < *b ? *a : *b;
    }
  }
}

static loom_status merge_object_verts(builder *b, object *o, int sewing, int32_t *leader,
                                      int32_t *map, unsigned char *only)
{
  const int32_t before = o->m.num_verts;
  int32_t gone = 0;
  if (sewing && o->cloth.shape == CLOTH_PATTERN) {
    lead_seams(o, leader);
    if (o->cloth.sewing == SEWING_MERGE) o->num_stitches = 0;
  } else {
    if (sewing) LOOM_TRY(merge_boundary(b->err, &o->m, only));
    LOOM_TRY(merge_coincident(b->err, &o->m, o->label, o->cloth.merge_tolerance,
                              sewing ? only : NULL, leader));
  }
  LOOM_TRY(merge_groups(b->err, &o->m, o->label, leader, map, &gone));
  if (gone == 0 && o->cloth.shape == CLOTH_PATTERN && sewing) return LOOM_OK;
  if (gone == 0)
    return build_note(b, "%s: no vertices within merge_tolerance = %g m of each other, none merged",
                      o->label, o->cloth.merge_tolerance);
  o->num_named = before;
  return build_note(b, "%s: %d vertices were merged into others, %d are left", o->label, gone,
                    o->m.num_verts);
}

loom_status build_merge(builder *b, object *o)
{
  const int repair = o->cloth.repair == REPAIR_MERGE ||
                     o->cloth.repair == REPAIR_MERGE_ORIENTATION ||
                     o->cloth.repair == REPAIR_MERGE_CLEAN;
  const int seams = o->cloth.shape == CLOTH_PATTERN && o->num_stitches > 0;
  const int sewing = !repair && (o->cloth.sewing == SEWING_MERGE || seams);
  int32_t *leader = NULL, *map = NULL;
  unsigned char *only = NULL;
  if ((!repair && !sewing) || !is_mergeable_mesh(&o->m)) return LOOM_OK; /* or the doctor tells */
  loom_status s = mesh_alloc(b->err, o->m.num_verts, sizeof *leader, &leader);
  if (s == LOOM_OK) s = mesh_alloc(b->err, o->m.num_verts, sizeof *map, &map);
  if (s == LOOM_OK) s = mesh_alloc(b->err, o->m.num_verts, 1, &only);
  if (s == LOOM_OK) s = merge_object_verts(b, o, sewing, leader, map, only);
  free(leader);
  free(only);
  if (s != LOOM_OK || o->num_named == 0)
    free(map);
  else
    o->merged = map;
  return s == LOOM_OK ? LOOM_OK : build_place(b, o->sec, sewing ? "sewing" : "repair", s);
}
