/* foreign.c - see foreign.h. */
#include "run/replay/foreign.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/replay/frame_source.h"
#include "run/replay/other_start.h"
#include "run/run_state.h"

/* Start of the scene and frame 0, pinned vertices and their places: farther apart is told. */
static const double least_told = 1e-6; /* m */

int foreign_or_replay(const run *r) { return r->rep.ref != NULL || r->opt->foreign != NULL; }

static loom_status fill_vector(run *r, loom_buf *to, const double *from)
{
  void *at;
  LOOM_TRY(buf_map(r->m, NULL, to, LOOM_WRITE, LOOM_AT_HOST, &at));
  for (int64_t i = 0; i < 3 * (int64_t)r->scene->pub.num_verts; ++i)
    ((loom_real *)at)[i] = (loom_real)from[i];
  return buf_unmap(r->m, to);
}

/* Index of the vertex that is farthest apart in two arrays; *far: m. */
static int64_t find_farthest(const loom_real *a, const double *b, const uint8_t *only, int64_t n,
                             double *far)
{
  int64_t at = -1;
  *far = 0.0;
  for (int64_t i = 0; i < n; ++i) {
    double q = 0.0;
    if (only != NULL && !only[i]) continue;
    for (int c = 0; c < 3; ++c) {
      const double d = (double)a[3 * i + c] - b[3 * i + c];
      q += d * d;
    }
    if (sqrt(q) > *far) *far = sqrt(q), at = i;
  }
  return at;
}

/* ---- does it fit the scene? ---- */

static int compare_triangles(const void *a, const void *b) { return memcmp(a, b, 12); }

/* Each with its vertices in order, all in order: the same list for the same set. */
static void sort_triangles(int32_t *t, int64_t count)
{
  for (int64_t i = 0; i < count; ++i, t += 3)
    for (int pass = 0; pass < 2; ++pass)
      for (int k = 0; k < 2 - pass; ++k)
        if (t[k] > t[k + 1]) {
          const int32_t keep = t[k];
          t[k] = t[k + 1];
          t[k + 1] = keep;
        }
  qsort(t - 3 * count, (size_t)count, 3 * sizeof *t, compare_triangles);
}

static loom_status compare_mesh(run *r, const frame_source *s, int32_t *theirs, int32_t *ours)
{
  const int64_t nt = r->scene->pub.num_tris;
  void *tris;
  LOOM_TRY(buf_map(r->m, NULL, r->scene->pub.tris, LOOM_READ, LOOM_AT_HOST, &tris));
  memcpy(ours, tris, (size_t)nt * 3 * sizeof *ours);
  LOOM_TRY(buf_unmap(r->m, r->scene->pub.tris));
  LOOM_TRY(frame_source_tris(s, r->err, theirs));
  sort_triangles(ours, nt);
  sort_triangles(theirs, nt);
  if (memcmp(ours, theirs, (size_t)nt * 3 * sizeof *ours) == 0) return LOOM_OK;
  return err_set(r->err, LOOM_E_CONFIG,
                 "%s: its triangles are not those of the scene of %s; vertices must have the order "
                 "of the scene, which `loom run CONFIG -n 0` and `loom export` write",
                 frame_source_path(s), cfg_path(r->c));
}

/* Where the file has triangles. */
static loom_status check_frame_triangles(run *r, const frame_source *s)
{
  const int64_t nt = r->scene->pub.num_tris, theirs = frame_source_facts(s)->num_tris;
  if (theirs < 0 || nt == 0) return LOOM_OK;
  if (theirs != nt)
    return err_set(r->err, LOOM_E_CONFIG, "%s: has %lld triangles, the scene of %s has %lld",
                   frame_source_path(s), (long long)theirs, cfg_path(r->c), (long long)nt);
  int32_t *const all = malloc((size_t)nt * 6 * sizeof *all);
  if (all == NULL) return err_set(r->err, LOOM_E_NOMEM, "out of memory");
  const loom_status st = compare_mesh(r, s, all, all + 3 * nt);
  free(all);
  return st;
}

static loom_status check_facts(run *r, const frame_source *s)
{
  const h5motion_facts *const f = frame_source_facts(s);
  const int64_t n = r->scene->pub.num_verts;
  if (f->num_verts != n)
    return err_set(r->err, LOOM_E_CONFIG,
                   "%s: has %lld vertices, the scene of %s has %lld; give the config of the same "
                   "meshes, and all of their vertices in its order",
                   frame_source_path(s), (long long)f->num_verts, cfg_path(r->c), (long long)n);
  if (!isnan(f->dt) && !(fabs(f->dt - r->st.h) <= 1e-6 * r->st.h))
    return err_set(r->err, LOOM_E_CONFIG,
                   "%s: its frames are %.9g s apart, and a step of %s is %.9g s; set [run] dt, or "
                   "write a frame for each step",
                   frame_source_path(s), f->dt, cfg_path(r->c), r->st.h);
  return check_frame_triangles(r, s);
}

/* Frame 0 is most often the start that the config poses. */
static loom_status tell_other_start(run *r)
{
  void *x;
  double far;
  char cause[200], text[400];
  const int64_t n = r->scene->pub.num_verts;
  LOOM_TRY(buf_map(r->m, NULL, r->st.x, LOOM_READ, LOOM_AT_HOST, &x));
  const int64_t v = find_farthest(x, r->played.x0, NULL, n, &far);
  if (far <= least_told || !other_start_name(x, r->played.x0, n, cause, sizeof cause))
    snprintf(cause, sizeof cause, "look at units, axes and the order of vertices if it should be");
  LOOM_TRY(buf_unmap(r->m, r->st.x));
  if (far <= least_told) return LOOM_OK;
  snprintf(text, sizeof text,
           "measure: frame 0 is not the start of the scene: vertex %lld is %.3g m away from it; %s",
           (long long)v, far, cause);
  run_message(r, LOOM_LOG_WARN, text);
  return LOOM_OK;
}

static loom_status check_source(run *r, const frame_source *s)
{
  foreign_frames *const p = &r->played;
  const int has_v = frame_source_facts(s)->has_v;
  LOOM_TRY(check_facts(r, s));
  for (int64_t k = 0; k <= r->sum.steps_planned; ++k)
    LOOM_TRY(frame_source_read(s, r->err, k, p->x1, has_v ? p->v1 : NULL));
  LOOM_TRY(frame_source_read(s, r->err, 0, p->x0, NULL));
  return tell_other_start(r);
}

/* Before any row is written; a log of loom is checked as every reference of a replay. */
static loom_status check_log_frames(run *r)
{
  foreign_frames *const p = &r->played;
  const int64_t n3 = 3 * (int64_t)r->scene->pub.num_verts;
  for (int64_t k = 0; k <= r->sum.steps_planned; ++k) {
    LOOM_TRY(h5read_frame(r->rep.ref, r->err, k, p->x0, p->v0, NULL, NULL));
    for (int64_t i = 0; i < n3; ++i)
      if (!isfinite(p->x0[i]) || !isfinite(p->v0[i]))
        return err_set(
            r->err, LOOM_E_CONFIG,
            "%s: /frames/%s, frame %lld: vertex %lld is not finite; leave out this frame "
            "and all after it (-n %lld)",
            r->rep.path, isfinite(p->x0[i]) ? "v" : "x", (long long)k, (long long)i / 3,
            (long long)(k > 0 ? k - 1 : 0));
  }
  return LOOM_OK;
}

static loom_status open_foreign_reference(run *r, const char *path)
{
  foreign_frames *const p = &r->played;
  const int64_t n = r->scene->pub.num_verts;
  if (path == NULL) return LOOM_OK;
  LOOM_TRY(h5read_open(r->err, path, &p->ref));
  if (h5read_num_verts(p->ref) != n)
    return err_set(r->err, LOOM_E_CONFIG,
                   "--reference %s: has %lld vertices, the scene has %lld; use a run of the same "
                   "scene",
                   path, (long long)h5read_num_verts(p->ref), (long long)n);
  return r->rep.x_ref != NULL
             ? LOOM_OK
             : buf_new(r->m, "core", "reference x", LOOM_REAL, 3 * n, &r->rep.x_ref);
}

loom_status foreign_open(run *r)
{
  const run_foreign *const f = r->opt->foreign;
  foreign_frames *const p = &r->played;
  if (f == NULL) return LOOM_OK;
  const size_t n3 = 3 * (size_t)r->scene->pub.num_verts;
  double **const all[] = {&p->x0, &p->v0, &p->x1, &p->v1};
  for (size_t i = 0; i < LOOM_COUNT(all); ++i) {
    *all[i] = calloc(n3, sizeof **all[i]);
    if (*all[i] == NULL) return err_set(r->err, LOOM_E_NOMEM, "out of memory");
  }
  LOOM_TRY(buf_new(r->m, "core", "frame", LOOM_REAL, (int64_t)n3, &p->x_end));
  LOOM_TRY(f->source != NULL ? check_source(r, f->source) : check_log_frames(r));
  return open_foreign_reference(r, f->reference);
}

void foreign_close(run *r)
{
  foreign_frames *const p = &r->played;
  h5read_close(p->ref);
  free(p->x0);
  free(p->v0);
  free(p->x1);
  free(p->v1);
  buf_free(r->m, p->x_end);
  memset(p, 0, sizeof *p);
}

/* ---- a step ---- */

/* No plugin and no element knows a past. */
static loom_status forget_past(run *r, int64_t index)
{
  LOOM_TRY(instances_reset(r));
  r->fw.f_next_norm = 0.0;
  LOOM_TRY(forward_forget(r));
  if (index == 0) return LOOM_OK;
  LOOM_TRY(problem_commit(r, r->st.x));
  elements_forget_lengths(r);
  return LOOM_OK;
}

/* Velocities that the file lacks are differences of frames; the first one is the scene's. */
static loom_status load_source(run *r, const frame_source *s, int64_t index)
{
  foreign_frames *const p = &r->played;
  const int has_v = frame_source_facts(s)->has_v;
  const size_t n3 = 3 * (size_t)r->scene->pub.num_verts;
  if (!has_v) memcpy(p->v0, p->v1, n3 * sizeof *p->v0);
  LOOM_TRY(frame_source_read(s, r->err, index, p->x0, has_v ? p->v0 : NULL));
  LOOM_TRY(frame_source_read(s, r->err, index + 1, p->x1, has_v ? p->v1 : NULL));
  for (size_t i = 0; !has_v && i < n3; ++i) p->v1[i] = (p->x1[i] - p->x0[i]) / r->st.h;
  LOOM_TRY(fill_vector(r, r->st.x, p->x0));
  if (has_v || index > 0) LOOM_TRY(fill_vector(r, r->st.v_start, p->v0));
  return forget_past(r, index);
}

/* Its velocities stand in it; the first row of /steps belongs to frame 1. */
static loom_status load_log_end(run *r, int64_t index)
{
  foreign_frames *const p = &r->played;
  h5log_step_row row;
  LOOM_TRY(h5read_frame(r->rep.ref, r->err, index + 1, p->x1, p->v1, NULL, NULL));
  if (index >= h5read_num_steps(r->rep.ref)) return LOOM_OK;
  LOOM_TRY(h5read_steps(r->rep.ref, r->err, index, 1, &row));
  p->t_cpu = row.t_cpu;
  p->t_wall = row.t_total;
  return LOOM_OK;
}

void foreign_times(const run *r, h5log_step_row *row)
{
  row->t_cpu = r->played.t_cpu;
  row->t_total = r->played.t_wall;
}

void foreign_iter_times(const run *r, h5log_iter_row *row)
{
  row->t_cpu = row->k < 0 ? 0.0 : r->played.t_cpu;
  row->t_total = row->k < 0 ? 0.0 : r->played.t_wall;
}

static loom_status load_reference(run *r, int64_t index)
{
  foreign_frames *const p = &r->played;
  const double end = (double)(index + 1) * r->st.h;
  int64_t step;
  double time;
  r->rep.have_ref = 0;
  if (p->ref == NULL || index + 1 >= h5read_num_frames(p->ref)) return LOOM_OK;
  LOOM_TRY(h5read_frame(p->ref, r->err, index + 1, p->x0, NULL, &time, &step));
  if (step != index || fabs(time - end) > 1e-6 * r->st.h)
    return err_set(
        r->err, LOOM_E_CONFIG,
        "--reference %s: frame %lld is of %.9g s, the step measured here ends at %.9g s; "
        "use a log with the same dt and a frame of every step",
        r->opt->foreign->reference, (long long)index + 1, time, end);
  r->rep.have_ref = 1;
  return fill_vector(r, r->rep.x_ref, p->x0);
}

loom_status foreign_load(run *r, int64_t index)
{
  const frame_source *const s = r->opt->foreign->source;
  foreign_frames *const p = &r->played;
  p->t_wall = NAN;
  p->t_cpu = s != NULL ? frame_source_cpu(s, index) : NAN;
  LOOM_TRY(s != NULL ? load_source(r, s, index) : load_log_end(r, index));
  LOOM_TRY(fill_vector(r, p->x_end, p->x1));
  return load_reference(r, index);
}

loom_status foreign_velocity(run *r) { return fill_vector(r, r->st.v_start, r->played.v1); }

loom_status foreign_check_pins(run *r)
{
  void *y, *fixed;
  double far;
  char text[400];
  if (r->played.told_pins) return LOOM_OK;
  LOOM_TRY(buf_map(r->m, NULL, r->st.y, LOOM_READ, LOOM_AT_HOST, &y));
  LOOM_TRY(buf_map(r->m, NULL, r->scene->pub.fixed, LOOM_READ, LOOM_AT_HOST, &fixed));
  const int64_t v = find_farthest(y, r->played.x1, fixed, r->scene->pub.num_verts, &far);
  LOOM_TRY(buf_unmap(r->m, r->scene->pub.fixed));
  LOOM_TRY(buf_unmap(r->m, r->st.y));
  if (far <= least_told) return LOOM_OK;
  r->played.told_pins = 1;
  snprintf(text, sizeof text,
           "measure: step %lld: the pinned vertex %lld is %.3g m from the place where the scene "
           "holds it; it is measured where the frame has it, and no residual counts it",
           (long long)r->st.index, (long long)v, far);
  run_message(r, LOOM_LOG_WARN, text);
  return LOOM_OK;
}
