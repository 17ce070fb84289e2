/* sequence.c - the frames of bodies that move as meshes. */
#include "scene/moving/sequence.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/suffix.h"
#include "geom/sequence.h"
#include "log/h5frames.h"
#include "mesh/polygon.h"
#include "scene/base/build.h"
#include "scene/moving/moving.h"

enum { MOST_FRAMES = 100000 };

/* ---- names ---- */

static loom_status sequence_name(loom_err *err, const char *pattern, int64_t number, char *out,
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
                   "body%%d.obj or body_%%04d.ply; or one file with all frames, as body.h5",
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
  if (has_suffix(f->pattern, ".h5")) {
    h5frames_shape shape;
    LOOM_TRY(h5frames_open(err, f->pattern, &shape));
    *count = shape.num_frames - f->first;
    if (*count >= 2) return LOOM_OK;
    return err_set(err, LOOM_E_CONFIG,
                   "%s holds %lld frames; a sequence needs two or more from frame_first on",
                   f->pattern, (long long)shape.num_frames);
  }
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

static loom_status read_hdf5(loom_err *err, const char *path, int64_t frame, mesh *out)
{
  h5frames_shape shape;
  *out = (mesh){0};
  LOOM_TRY(h5frames_shape_of(err, path, &shape));
  out->num_verts = (int32_t)shape.num_verts;
  out->num_tris = (int32_t)shape.num_tris;
  loom_status s = mesh_alloc(err, shape.num_verts, 3 * sizeof *out->x, &out->x);
  if (s == LOOM_OK) s = mesh_alloc(err, shape.num_tris, 3 * sizeof *out->tris, &out->tris);
  if (s == LOOM_OK) s = h5frames_read(err, path, frame, out->x, out->tris);
  if (s != LOOM_OK) mesh_free(out);
  return s;
}

loom_status sequence_mesh(loom_err *err, const char *pattern, int64_t number, char *name,
                          size_t room, mesh *out)
{
  *out = (mesh){0};
  if (has_suffix(pattern, ".h5")) {
    snprintf(name, room, "%s", pattern);
    return read_hdf5(err, pattern, number, out);
  }
  LOOM_TRY(sequence_name(err, pattern, number, name, room));
  if (!has_suffix(name, ".ply") && !has_suffix(name, ".obj"))
    return err_set(err, LOOM_E_CONFIG,
                   "\"%s\": a mesh body needs files that end in .obj or .ply, or one in .h5", name);
  return build_read_mesh(err, name, has_suffix(name, ".ply"), out);
}

static loom_status check_frame(loom_err *err, const char *name, const mesh *m, const mesh *frame)
{
  if (frame->num_verts != m->num_verts || frame->num_tris != m->num_tris)
    return err_set(err, LOOM_E_CONFIG,
                   "%s has %d vertices and %d triangles, the first frame has %d and %d; all frames "
                   "must be of one mesh",
                   name, frame->num_verts, frame->num_tris, m->num_verts, m->num_tris);
  for (int64_t t = 0; t < m->num_tris; ++t)
    if (!polygon_same(frame, m, t))
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

static loom_status read_sequence_frame(loom_err *err, const sequence_files *f, const mesh *m,
                                       int64_t k, body_sequence *q)
{
  char name[4096];
  mesh frame;
  LOOM_TRY(sequence_mesh(err, f->pattern, f->first + k, name, sizeof name, &frame));
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
  for (int64_t k = 0; k < count; ++k) LOOM_TRY(read_sequence_frame(err, files, m, k, q));
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
