/* start_check.c - intersections before the first step: refused, listed, left out or moved apart. */
#include <stdlib.h>
#include <string.h>

#include "geom/pose.h"
#include "scene/base/build.h"
#include "scene/base/exclusions.h"
#include "scene/objects/crossings.h"
#include "scene/starts/start_untangle.h"
#include "scene/starts/starts.h"

typedef struct start_state {
  double *x;         /* [n][3] m */
  int32_t *tris;     /* [nt][3] */
  scene_part *parts; /* [num_objects] */
  scene_bodies bodies;
  scene_crossing *pairs; /* [capacity] */
} start_state;

/* The audit needs doubles: positions are placed anew rather than taken from x0, which a
 * float build has rounded. */
static loom_status start_open(builder *b, start_state *st)
{
  const scene_data *s = b->s;
  LOOM_TRY(mesh_alloc(b->err, 3 * (int64_t)s->pub.num_verts, sizeof *st->x, &st->x));
  LOOM_TRY(mesh_alloc(b->err, 3 * (int64_t)s->pub.num_tris, sizeof *st->tris, &st->tris));
  LOOM_TRY(mesh_alloc(b->err, b->num_objects, sizeof *st->parts, &st->parts));
  int32_t *t = st->tris;
  for (int k = 0; k < b->num_objects; ++k) {
    const object *o = &b->objects[k];
    st->parts[k] = (scene_part){o->label, o->first_vert, o->first_tri};
    for (int64_t i = 0; i < o->m.num_verts; ++i)
      pose_apply(o->place, o->m.x + 3 * i, st->x + 3 * (o->first_vert + i));
    for (int64_t i = 0; i < 3 * (int64_t)o->m.num_tris; ++i) *t++ = o->m.tris[i] + o->first_vert;
  }
  return scene_bodies_open(b->err, s, &st->bodies);
}

static void start_close(start_state *st)
{
  free(st->x);
  free(st->tris);
  free(st->parts);
  free(st->pairs);
  scene_bodies_close(&st->bodies);
}

static void report_crossing_pairs(builder *b, int check, const scene_crossing *pairs, int64_t total)
{
  const char *const remedy =
      check == SCENE_UNTANGLE
          ? "start = untangle could not part them: move them apart, or set [run] start = exclude"
          : "move them apart, or set [run] start = untangle or exclude";
  char text[256];
  for (int64_t k = 0; k < total && k < DOCTOR_MAX; ++k) {
    const scene_crossing *p = &pairs[k];
    scene_crossing_text(p, text, sizeof text);
    doctor_add(&b->doc, DOCTOR_INTERSECTION, (int32_t[4]){p->edge[0], p->edge[1], p->tri, -1},
               "%s; %s", text, remedy);
  }
  if (total > DOCTOR_MAX) b->doc.total += total - DOCTOR_MAX; /* counted, not listed */
}

static loom_status list_pairs(builder *b, const scene_crossing *pairs, int64_t count)
{
  enum { LINE = 256 };
  char *at;
  LOOM_TRY(mesh_alloc(b->err, count * LINE + 1, 1, &b->s->start_lines));
  at = b->s->start_lines;
  for (int64_t k = 0; k < count; ++k) {
    scene_crossing_text(&pairs[k], at, LINE - 1);
    at += strlen(at);
    *at++ = '\n';
  }
  return LOOM_OK;
}

/* All of them go on the list; a note says how many there are and names the first. */
static loom_status exclude_pairs(builder *b, const isect_surface *m, const start_state *st)
{
  char text[256];
  int64_t total = 0, near = 0;
  LOOM_TRY(starts_exclude(b->err, b->s, m, &st->bodies, &total, &near));
  if (near > 0)
    LOOM_TRY(
        build_note(b,
                   "%lld pairs of vertices start on primitives nearer than their thickness, left "
                   "out of contact until they have parted (start = exclude)",
                   (long long)near));
  if (total == 0) return LOOM_OK;
  scene_crossing_text(&st->pairs[0], text, sizeof text);
  return build_note(b,
                    "%lld intersections at the start, left out of contact until they have parted "
                    "(start = exclude); the first: %s",
                    (long long)total, text);
}

loom_status build_check_intersections(builder *b, int check)
{
  const int64_t capacity = check == SCENE_LIST ? SCENE_MAX_LISTED : DOCTOR_MAX;
  const int64_t enough = check == SCENE_LIST ? SCENE_MAX_LISTED : SCENE_MAX_COUNTED;
  start_state st = {0};
  int64_t total = 0;
  loom_status s = start_open(b, &st);
  if (s == LOOM_OK) s = mesh_alloc(b->err, capacity, sizeof *st.pairs, &st.pairs);
  if (s == LOOM_OK) {
    const isect_surface m = {.x = st.x,
                             .n = b->s->pub.num_verts,
                             .tris = st.tris,
                             .nt = b->s->pub.num_tris,
                             .left_out = scene_left_out(b->s, 1)};
    if (check == SCENE_UNTANGLE) s = starts_untangle(b, &m, &st.bodies, st.x);
    if (s == LOOM_OK)
      s = scene_crossings(b->err, &m, st.parts, b->num_objects, &st.bodies, st.pairs, capacity,
                          enough, &total);
    if (s == LOOM_OK && check == SCENE_EXCLUDE) s = exclude_pairs(b, &m, &st);
  }
  b->s->start_total = total;
  const int refuse = check == SCENE_REFUSE || check == SCENE_UNTANGLE;
  b->doc.more |= total >= enough && refuse;
  if (s == LOOM_OK && check == SCENE_LIST)
    s = list_pairs(b, st.pairs, total < capacity ? total : capacity);
  if (s == LOOM_OK && refuse) report_crossing_pairs(b, check, st.pairs, total);
  start_close(&st);
  return s == LOOM_OK ? doctor_verdict(b->err, &b->doc) : s;
}
