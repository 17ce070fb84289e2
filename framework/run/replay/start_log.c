/* start_log.c - the state of a frame of a log, as the state before the first step: x and v of
 * frames, and from /state the data that elements and plugins keep, as a replay takes them
 * (replay_state.c).
 *
 * The clock goes on from the frame, so that bodies, pins, threads and all that depends on time are
 * where they were. */
#include "run/replay/start_log.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "run/base/balls.h"
#include "run/checks/memory_estimate.h"
#include "run/run_state.h"
#include "scene/starts/starts.h"

int start_log_waits(const run *r) { return r->rep.ref != NULL && r->rep.once; }

static loom_status prefix_start_key(const run *r, const char *key, loom_status s)
{
  char place[1200];
  err_prefix(r->err, "%s", cfg_place(cfg_find(r->c, "run"), key, place, sizeof place));
  return s;
}

/* Frame start_frame, counted from the end below 0: its x and v, *step and *time of its end. */
static loom_status read_start_frame(run *r, int64_t *step, double *time)
{
  replay *const p = &r->rep;
  const int64_t asked = r->set.run.start_frame, n = p->num_frames, n3 = 3 * r->scene->pub.num_verts;
  const int64_t frame = asked < 0 ? n - 1 : asked;
  if (frame < 0 || frame >= n)
    return prefix_start_key(r, "start_frame",
                            err_set(r->err, LOOM_E_CONFIG,
                                    "there is no frame %lld; %s has frames 0 to %lld",
                                    (long long)asked, p->path, (long long)n - 1));
  const loom_status s = h5read_frame(p->ref, r->err, frame, p->x, p->v, time, step);
  if (s != LOOM_OK) return prefix_start_key(r, "start_log", s);
  for (int64_t i = 0; i < 2 * n3; ++i) {
    if (isfinite(i < n3 ? p->x[i] : p->v[i - n3])) continue;
    return prefix_start_key(
        r, "start_frame",
        err_set(r->err, LOOM_E_CONFIG,
                "%s, frame %lld: the %s of vertex %lld is not finite; take an earlier one", p->path,
                (long long)frame, i < n3 ? "position" : "velocity", (long long)(i % n3 / 3)));
  }
  return LOOM_OK;
}

/* The number of the step that begins at `time`. */
static loom_status find_step(const run *r, double time, int64_t *first)
{
  const double h = r->set.run.dt / (double)r->set.run.substeps;
  *first = llround(time / h);
  if (fabs((double)*first * h - time) <= 1e-6 * h) return LOOM_OK;
  return prefix_start_key(
      r, "start_log",
      err_set(r->err, LOOM_E_CONFIG,
              "the frame is of %.9g s, %.6g steps of %.6g s; take a frame at the end of a "
              "step of this run, or a dt that divides its time",
              time, time / h, h));
}

static loom_status check_start_log(run *r)
{
  replay *const p = &r->rep;
  const int64_t n = r->scene->pub.num_verts;
  if (h5read_num_verts(p->ref) != n)
    return prefix_start_key(
        r, "start_log",
        err_set(r->err, LOOM_E_CONFIG,
                "%s has %lld vertices, this scene has %lld; use the same meshes", p->path,
                (long long)h5read_num_verts(p->ref), (long long)n));
  LOOM_TRY(replay_same_mesh(r));
  if (balls_name(r) != NULL)
    return prefix_start_key(
        r, "start_log",
        err_set(r->err, LOOM_E_CONFIG,
                "[body.%s] has a mass, and logs do not hold its motion; continue the run "
                "itself with --resume",
                balls_name(r)));
  if (h5read_frame_bytes(p->ref) == 4 && sizeof(loom_real) == 8)
    run_message(r, LOOM_LOG_WARN,
                "start_log: the log holds frames in single precision, so that the run begins from "
                "rounded positions and velocities; record it with [log] frames = f64");
  return LOOM_OK;
}

static loom_status write_start_vector(run *r, loom_buf *to, const double *from)
{
  void *at;
  LOOM_TRY(buf_map(r->m, NULL, to, LOOM_WRITE, LOOM_AT_HOST, &at));
  for (int64_t i = 0; i < 3 * (int64_t)r->scene->pub.num_verts; ++i)
    ((loom_real *)at)[i] = (loom_real)from[i];
  return buf_unmap(r->m, to);
}

/* The frame is the start: bodies stand where they stood, and the checks of any start look at it.
 * A run that is continued goes on from its checkpoint. */
static loom_status check_start_frame(run *r, double time)
{
  int64_t left_out = 0;
  char text[200];
  if (r->out.resume) return LOOM_OK;
  LOOM_TRY(write_start_vector(r, r->st.x, r->rep.x)); /* run_check_inside() may move it */
  LOOM_TRY(scene_pose(r->scene, time, time));
  const loom_status s =
      starts_frame(r->err, r->scene, r->rep.x, memory_estimate_check_start(r), &left_out);
  if (s != LOOM_OK) return prefix_start_key(r, "start_log", s);
  if (left_out == 0) return LOOM_OK;
  snprintf(text, sizeof text,
           "%lld intersections and near pairs in the frame, left out of contact until they have "
           "parted (start = exclude)",
           (long long)left_out);
  run_message(r, LOOM_LOG_INFO, text);
  return LOOM_OK;
}

loom_status start_log_open(run *r)
{
  replay *const p = &r->rep;
  const int64_t n = r->scene->pub.num_verts;
  int64_t step = -1;
  double time = 0.0;
  if (r->set.run.start_log[0] == '\0') return LOOM_OK;
  if (p->ref != NULL)
    return prefix_start_key(
        r, "start_log",
        err_set(r->err, LOOM_E_CONFIG,
                "a replay takes the start of every step from its reference; leave one of "
                "start_log and replay out"));
  p->once = 1;
  p->path = r->set.run.start_log;
  p->key = "start_log";
  const loom_status s = h5read_open(r->err, p->path, &p->ref);
  if (s != LOOM_OK) return prefix_start_key(r, "start_log", s);
  if (h5read_note(p->ref)[0] != '\0') run_message(r, LOOM_LOG_WARN, h5read_note(p->ref));
  LOOM_TRY(check_start_log(r));
  p->num_frames = h5read_num_frames(p->ref);
  p->x = malloc(sizeof(double) * 3 * (size_t)n);
  p->v = malloc(sizeof(double) * 3 * (size_t)n);
  if (p->x == NULL || p->v == NULL) return err_set(r->err, LOOM_E_NOMEM, "out of memory");
  LOOM_TRY(read_start_frame(r, &step, &time));
  LOOM_TRY(find_step(r, time, &r->first_step));
  p->first = step + 1;
  p->count = 1;
  LOOM_TRY(check_start_frame(r, time));
  return replay_read_config(r);
}

loom_status start_log_take(run *r)
{
  LOOM_TRY(write_start_vector(r, r->st.v_start, r->rep.v));
  LOOM_TRY(replay_restore(r, r->rep.first));
  start_log_close(r);
  return LOOM_OK;
}

void start_log_close(run *r)
{
  if (start_log_waits(r)) replay_close(r);
}
