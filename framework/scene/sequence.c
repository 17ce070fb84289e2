/* sequence.c - the frames of bodies that move as meshes. */
#include "scene/sequence.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "geom/sequence.h"
#include "scene/build.h"

enum { MOST_FRAMES = 100000 };

/* ---- names ---- */

loom_status sequence_name(loom_err *err, const char *pattern, int64_t number, char *out,
                          size_t room)
{
  const char *const at = strchr(pattern, '%');
  const char *end = at;
  int width = 0;
  if (at != NULL) {
    const int zeros = at[1] == '0';
    for (end = at + 1; isdigit((unsigned char)*end) && width < 100; ++end)
      width = 10 * width + (*end - '0');
    if (*end != 'd' || strchr(end, '%') != NULL || width > 20 || (width > 0 && !zeros)) end = NULL;
  }
  if (end == NULL)
    return err_set(err, LOOM_E_CONFIG,
                   "\"%s\": one place for the number of the frame is needed, as in "
                   "body%%d.obj or body_%%04d.ply",
                   pattern);
  const int n = snprintf(out, room, "%.*s%0*lld%s", (int)(at - pattern), pattern, width,
                         (long long)number, end + 1);
  if (n >= 0 && (size_t)n < room) return LOOM_OK;
  return err_set(err, LOOM_E_CONFIG, "\"%.80s...\": the name is too long", pattern);
}

/* How many files there are in a row; a gap before a later one is an error. */
static loom_status count_files(loom_err *err, const sequence_files *f, int64_t *count)
{
  enum { LOOK_AHEAD = 10 };
  char name[4096], missing[4096];
  int64_t n = 0;
  for (; n < MOST_FRAMES; ++n) {
    LOOM_TRY(sequence_name(err, f->pattern, f->first + n, name, sizeof name));
    if (access(name, R_OK) != 0) break;
  }
  memcpy(missing, name, sizeof missing);
  for (int64_t k = n + 1; k <= n + LOOK_AHEAD; ++k) {
    LOOM_TRY(sequence_name(err, f->pattern, f->first + k, name, sizeof name));
    if (access(name, R_OK) == 0)
      return err_set(err, LOOM_E_CONFIG,
                     "%s is missing, %s is there; add it, or say with frame_first and frame_count "
                     "which are meant",
                     missing, name);
  }
  *count = n;
  if (n >= 2) return LOOM_OK;
  return err_set(err, LOOM_E_CONFIG, "%s cannot be read; a sequence needs two frames or more",
                 missing);
}

/* ---- frames ---- */

static loom_status check_frame(loom_err *err, const char *name, const mesh *m, const mesh *frame)
{
  if (frame->num_verts != m->num_verts || frame->num_tris != m->num_tris)
    return err_set(err, LOOM_E_CONFIG,
                   "%s has %d vertices and %d triangles, the first frame has %d and %d; all frames "
                   "must be of one mesh",
                   name, frame->num_verts, frame->num_tris, m->num_verts, m->num_tris);
  for (int64_t t = 0; t < m->num_tris; ++t)
    if (memcmp(frame->tris + 3 * t, m->tris + 3 * t, 3 * sizeof *m->tris) != 0)
      return err_set(err, LOOM_E_CONFIG,
                     "%s: triangle %lld is %d %d %d, in the first frame %d %d %d (ids count from "
                     "0); all frames must be of one mesh",
                     name, (long long)t, frame->tris[3 * t], frame->tris[3 * t + 1],
                     frame->tris[3 * t + 2], m->tris[3 * t], m->tris[3 * t + 1],
                     m->tris[3 * t + 2]);
  for (int64_t v = 0; v < m->num_verts; ++v)
    if (!isfinite(frame->x[3 * v] + frame->x[3 * v + 1] + frame->x[3 * v + 2]))
      return err_set(err, LOOM_E_CONFIG, "%s: vertex %lld is not finite; repair the file", name,
                     (long long)v);
  return LOOM_OK;
}

static loom_status read_frame(loom_err *err, const sequence_files *f, const mesh *m, int64_t k,
                              body_sequence *q)
{
  char name[4096];
  mesh frame;
  LOOM_TRY(sequence_name(err, f->pattern, f->first + k, name, sizeof name));
  const size_t len = strlen(name);
  LOOM_TRY(build_read_mesh(err, name, len > 4 && strcmp(name + len - 4, ".ply") == 0, &frame));
  const loom_status s = check_frame(err, name, m, &frame);
  loom_real *const x = q->x + 3 * q->num_verts * k;
  for (int64_t i = 0; i < 3 * q->num_verts && s == LOOM_OK; ++i)
    x[i] = (loom_real)(f->scale * frame.x[i]);
  mesh_free(&frame);
  return s;
}

loom_status sequence_read(loom_err *err, const sequence_files *files, const mesh *m,
                          body_sequence **out)
{
  int64_t count = files->count;
  body_sequence *q;
  if (count == 0) LOOM_TRY(count_files(err, files, &count));
  LOOM_TRY(mesh_alloc(err, 1, sizeof *q, &q));
  *out = q;
  q->rate = (loom_real)files->rate;
  q->num_frames = count;
  q->num_verts = m->num_verts;
  LOOM_TRY(mesh_alloc(err, 3 * q->num_verts * count, sizeof *q->x, &q->x));
  for (int64_t k = 0; k < count; ++k) LOOM_TRY(read_frame(err, files, m, k, q));
  return LOOM_OK;
}

void sequence_free(body_sequence *q)
{
  if (q != NULL) free(q->x);
  free(q);
}

void sequence_at(const body_sequence *q, double t, int64_t v, double x[3])
{
  double share;
  const int64_t k = sequence_frame(q->num_frames, (double)q->rate, t, &share);
  const int64_t next = k + 1 < q->num_frames ? k + 1 : k;
  const loom_real *const a = q->x + 3 * (q->num_verts * k + v);
  const loom_real *const b = q->x + 3 * (q->num_verts * next + v);
  for (int c = 0; c < 3; ++c) x[c] = sequence_between((double)a[c], (double)b[c], share);
}

const body_sequence *scene_sequence(const scene_data *s, int k)
{
  return s->motion != NULL ? s->motion->bodies[k].sequence : NULL;
}
