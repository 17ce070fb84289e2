/* replay.c - lock-step comparison: every step starts from a reference run's x and v, and from the
 * state of its contact models. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/ends.h"
#include "run/run_state.h"

/* *unconverged: 1 if the reference did not converge in step `index`.  A log with rows of
 * other steps is refused when its frames are read. */
static loom_status ask_reference(const run *r, int64_t index, int *unconverged)
{
  h5log_step_row row;
  *unconverged = 0;
  if (index >= h5read_num_steps(r->rep.ref)) return LOOM_OK;
  LOOM_TRY(h5read_steps(r->rep.ref, r->err, index, 1, &row));
  *unconverged = row.step == index && log_unconverged(&row);
  return LOOM_OK;
}

/* Where the reference was not solved, a distance to it says little. */
static loom_status warn_of_reference(run *r)
{
  const int64_t first = r->set.run.replay_first, last = first + r->sum.steps_planned;
  int64_t num = 0, where = -1;
  int unconverged;
  char text[400];
  for (int64_t i = first; i < last; ++i) {
    LOOM_TRY(ask_reference(r, i, &unconverged));
    if (unconverged && num++ == 0) where = i;
  }
  if (num == 0) return LOOM_OK;
  snprintf(
      text, sizeof text,
      "replay: the reference did not converge in %lld of %lld steps, first in step %lld: e_ref "
      "of these is the distance to a point that is no solution (ref_unconverged in /steps); "
      "make it again with a solver, a max_iters or a tolerance that it meets",
      (long long)num, (long long)(last - first), (long long)where);
  run_message(r, LOOM_LOG_WARN, text);
  return LOOM_OK;
}

static loom_status check_reference(run *r)
{
  if (r->opt->foreign == NULL) LOOM_TRY(warn_of_reference(r));
  LOOM_TRY(replay_same_physics(r));
  LOOM_TRY(replay_same_scene(r));
  if (h5read_frame_bytes(r->rep.ref) == 4 && sizeof(loom_real) == 8)
    run_message(r, LOOM_LOG_WARN,
                "replay: the reference holds frames in single precision, so every step starts from "
                "rounded positions; record it with [log] frames = f64");
  return LOOM_OK;
}

loom_status replay_open(run *r)
{
  replay *const p = &r->rep;
  const int64_t n = r->scene->pub.num_verts;
  char place[1200];
  if (r->set.run.replay[0] == '\0') return LOOM_OK;
  p->path = r->set.run.replay;
  p->key = "replay";
  p->first = r->set.run.replay_first;
  p->count = r->sum.steps_planned;
  cfg_place(cfg_find(r->c, "run"), "replay", place, sizeof place);
  const loom_status s = h5read_open(r->err, r->set.run.replay, &p->ref);
  if (s != LOOM_OK) {
    err_prefix(r->err, "%s", place);
    return s;
  }
  if (h5read_note(p->ref)[0] != '\0') run_message(r, LOOM_LOG_WARN, h5read_note(p->ref));
  if (h5read_num_verts(p->ref) != n)
    return err_set(r->err, LOOM_E_CONFIG,
                   "%s: the reference has %lld vertices, this scene has %lld; use the same scene",
                   place, (long long)h5read_num_verts(p->ref), (long long)n);
  p->num_frames = h5read_num_frames(p->ref);
  p->x = malloc(sizeof(double) * 3 * (size_t)n);
  p->v = malloc(sizeof(double) * 3 * (size_t)n);
  if (p->x == NULL || p->v == NULL)
    return err_set(r->err, LOOM_E_NOMEM, "%s: out of memory", place);
  const int64_t last = r->set.run.replay_first + r->sum.steps_planned;
  if (last > p->num_frames)
    return err_set(r->err, LOOM_E_CONFIG,
                   "%s: steps %lld to %lld need as many start frames, the reference holds %lld "
                   "frames; lower [run] steps, or log the reference with frames_every = 1",
                   place, (long long)r->set.run.replay_first, (long long)last - 1,
                   (long long)p->num_frames);
  LOOM_TRY(check_reference(r));
  return buf_new(r->m, "core", "reference x", LOOM_REAL, 3 * n, &p->x_ref);
}

/* Frame `index` into x (and v) of the run; it must be the state before step `index`. */
static loom_status load_frame(run *r, int64_t index, loom_buf *x, loom_buf *v)
{
  replay *const p = &r->rep;
  const int64_t n3 = 3 * (int64_t)r->scene->pub.num_verts;
  int64_t step = 0;
  double time = 0.0;
  LOOM_TRY(h5read_frame(p->ref, r->err, index, p->x, v != NULL ? p->v : NULL, &time, &step));
  if (step != index - 1)
    return err_set(r->err, LOOM_E_CONFIG,
                   "replay of %s: frame %lld belongs to step %lld, not to %lld; log the reference "
                   "with frames_every = 1 and without replay of its own",
                   r->rep.path, (long long)index, (long long)step, (long long)index - 1);
  void *to;
  LOOM_TRY(buf_map(r->m, NULL, x, LOOM_WRITE, LOOM_AT_HOST, &to));
  for (int64_t i = 0; i < n3; ++i) ((loom_real *)to)[i] = (loom_real)p->x[i];
  LOOM_TRY(buf_unmap(r->m, x));
  if (v == NULL) return LOOM_OK;
  LOOM_TRY(buf_map(r->m, NULL, v, LOOM_WRITE, LOOM_AT_HOST, &to));
  for (int64_t i = 0; i < n3; ++i) ((loom_real *)to)[i] = (loom_real)p->v[i];
  return buf_unmap(r->m, v);
}

static loom_status load_log_step(run *r, int64_t index)
{
  LOOM_TRY(load_frame(r, index, r->st.x, r->st.v_start));
  r->rep.have_ref = index + 1 < r->rep.num_frames;
  if (r->rep.have_ref) LOOM_TRY(load_frame(r, index + 1, r->rep.x_ref, NULL));
  LOOM_TRY(ask_reference(r, index, &r->rep.unconverged));
  return replay_restore(r, index);
}

loom_status replay_load(run *r, int64_t index)
{
  if (r->rep.ref != NULL) LOOM_TRY(load_log_step(r, index));
  return r->opt->foreign != NULL ? foreign_load(r, index) : LOOM_OK;
}

void replay_close(run *r)
{
  h5read_close(r->rep.ref);
  cfg_free(r->rep.ours);
  cfg_free(r->rep.theirs);
  replay_state_close(r);
  free(r->rep.x);
  free(r->rep.v);
  buf_free(r->m, r->rep.x_ref);
  memset(&r->rep, 0, sizeof r->rep);
}
