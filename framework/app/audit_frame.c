/* audit_frame.c - NaN, collapsed triangles, inverted tetrahedra, intersections and depth in
 * bodies of one stored frame; pairs that pass through each other on the way to the next. */
#include "app/audit_frame.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "geom/sequence.h"
#include "mem/mem.h"

/* ---- the scene ---- */
static double triangle_area(const double *x, const int32_t *t)
{
  double u[3], v[3];
  for (int c = 0; c < 3; ++c) {
    u[c] = x[3 * (size_t)t[1] + c] - x[3 * (size_t)t[0] + c];
    v[c] = x[3 * (size_t)t[2] + c] - x[3 * (size_t)t[0] + c];
  }
  const double n[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2],
                       u[0] * v[1] - u[1] * v[0]};
  return 0.5 * sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
}

static double tet_volume(const double *x, const int32_t *t)
{
  double e[3][3];
  for (int i = 0; i < 3; ++i)
    for (int c = 0; c < 3; ++c) e[i][c] = x[3 * (size_t)t[i + 1] + c] - x[3 * (size_t)t[0] + c];
  return (e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) +
          e[0][1] * (e[1][2] * e[2][0] - e[1][0] * e[2][2]) +
          e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0])) /
         6.0;
}

/* A dataset of /scene as reals, with the number of items it must have (-1: any); *data
 * stays NULL when it is absent. */
static loom_status scene_reals(h5read *r, loom_err *err, const char *name, int64_t items,
                               double **data, int64_t *count)
{
  char path[256];
  int64_t dims[4] = {1, 1, 1, 1};
  int rank;
  void *p;
  snprintf(path, sizeof path, "scene/%s", name);
  *data = NULL;
  *count = 0;
  if (!h5read_exists(r, path)) return LOOM_OK;
  LOOM_TRY(h5read_dataset(r, err, path, 1, &p, &rank, dims));
  *count = 1;
  for (int i = 0; i < rank; ++i) *count *= dims[i];
  if (items >= 0 && *count != items) {
    free(p);
    return err_set(err, LOOM_E_IO, "/%s has %lld items, expected %lld: the file is damaged", path,
                   (long long)*count, (long long)items);
  }
  *data = p;
  return LOOM_OK;
}

/* The same of vertex ids below n. */
static loom_status scene_ids(h5read *r, loom_err *err, const char *name, int64_t n, int32_t **ids,
                             int64_t *count)
{
  double *real;
  *ids = NULL;
  LOOM_TRY(scene_reals(r, err, name, -1, &real, count));
  if (real == NULL) return LOOM_OK;
  loom_status s = LOOM_OK;
  int32_t *const out = malloc((size_t)*count * sizeof *out + 1);
  if (out == NULL) s = err_set(err, LOOM_E_NOMEM, "out of memory");
  for (int64_t i = 0; i < *count && s == LOOM_OK; ++i) {
    out[i] = (int32_t)real[i];
    if (!(real[i] >= 0 && real[i] < (double)n))
      s = err_set(err, LOOM_E_IO, "/scene/%s names vertex %g: the file is damaged", name, real[i]);
  }
  free(real);
  if (s == LOOM_OK)
    *ids = out;
  else
    free(out);
  return s;
}

static loom_status load_tets(h5read *r, loom_err *err, audit *a)
{
  int64_t count;
  LOOM_TRY(scene_ids(r, err, "tets", a->n, &a->tets, &count));
  a->num_tets = count / 4;
  a->volume = malloc((size_t)a->num_tets * sizeof *a->volume + 1);
  return a->volume != NULL ? LOOM_OK : err_set(err, LOOM_E_NOMEM, "out of memory");
}

static loom_status load_rest(h5read *r, loom_err *err, audit *a)
{
  double *rest;
  int64_t count;
  a->tris = malloc((size_t)a->nt * 3 * sizeof *a->tris + 1);
  a->area = malloc((size_t)a->nt * sizeof *a->area + 1);
  if (a->tris == NULL || a->area == NULL) return err_set(err, LOOM_E_NOMEM, "out of memory");
  LOOM_TRY(h5read_tris(r, err, a->tris));
  LOOM_TRY(load_tets(r, err, a));
  if (a->nt == 0 && a->num_tets == 0) return LOOM_OK;
  LOOM_TRY(scene_reals(r, err, "rest", 3 * a->n, &rest, &count));
  if (rest == NULL) return err_set(err, LOOM_E_IO, "/scene/rest is missing: the file is damaged");
  for (int64_t i = 0; i < a->nt; ++i) a->area[i] = triangle_area(rest, a->tris + 3 * i);
  for (int64_t i = 0; i < a->num_tets; ++i) a->volume[i] = tet_volume(rest, a->tets + 4 * i);
  free(rest);
  LOOM_TRY(scene_reals(r, err, "material/area", a->nt, &rest, &count)); /* rest = uv or file */
  for (int64_t i = 0; i < a->nt && rest != NULL; ++i) a->area[i] = rest[i];
  free(rest);
  return LOOM_OK;
}

static void free_body(audit_body *b)
{
  free(b->poses);
  free(b->local);
  free(b->frames);
  free(b->joints);
  rig_free(&b->rig);
  free(b->x);
  free(b->x_next);
  free(b->tris);
  memset(b, 0, sizeof *b);
}

static loom_status load_sequence(h5read *r, loom_err *err, audit_body *b)
{
  char path[AUDIT_NAME_LEN + 32];
  int64_t count;
  double *rate;
  int64_t one;
  snprintf(path, sizeof path, "obstacles/%s/frames", b->name);
  LOOM_TRY(scene_reals(r, err, path, -1, &b->frames, &count));
  if (b->frames == NULL) return LOOM_OK;
  snprintf(path, sizeof path, "obstacles/%s/frame_rate", b->name);
  LOOM_TRY(scene_reals(r, err, path, 1, &rate, &one));
  b->num_frames = b->n > 0 ? count / (3 * b->n) : 0;
  if (rate != NULL) b->frame_rate = *rate;
  free(rate);
  if (b->num_frames > 0 && b->num_frames * 3 * b->n == count && b->frame_rate > 0) return LOOM_OK;
  return err_set(err, LOOM_E_IO, "/scene/obstacles/%s/frames is damaged", b->name);
}

/* Reads skin, bones and weights of a body with joints; the log has the maps of joints per frame. */
static loom_status load_rig(h5read *r, loom_err *err, audit_body *b)
{
  char path[AUDIT_NAME_LEN + 32];
  int64_t rows, count = 0, maps = 0;
  rig *const g = &b->rig;
  snprintf(path, sizeof path, "obstacles/%s/joints", b->name);
  LOOM_TRY(scene_reals(r, err, path, -1, &b->joints, &maps));
  if (b->joints == NULL) return LOOM_OK;
  if (b->num_poses > 0) g->num_joints = (int32_t)(maps / (12 * b->num_poses));
  snprintf(path, sizeof path, "obstacles/%s/bones", b->name);
  LOOM_TRY(scene_ids(r, err, path, g->num_joints, &g->bone, &rows));
  snprintf(path, sizeof path, "obstacles/%s/weights", b->name);
  LOOM_TRY(scene_reals(r, err, path, rows, &g->weight, &count));
  g->skin.num_verts = (int32_t)b->n;
  g->per = b->n > 0 ? (int32_t)(rows / b->n) : 0;
  snprintf(path, sizeof path, "obstacles/%s/vertices", b->name);
  LOOM_TRY(scene_reals(r, err, path, 3 * b->n, &g->skin.x, &count));
  if (g->weight != NULL && g->num_joints > 0 && g->per > 0 && g->per * b->n == rows) return LOOM_OK;
  return err_set(err, LOOM_E_IO, "/scene/obstacles/%s: its joints or weights are damaged", b->name);
}

static loom_status load_body_surface(h5read *r, loom_err *err, audit_body *b)
{
  char path[AUDIT_NAME_LEN + 32];
  int64_t count;
  snprintf(path, sizeof path, "obstacles/%s/vertices", b->name);
  LOOM_TRY(scene_reals(r, err, path, -1, &b->local, &count));
  b->n = count / 3;
  snprintf(path, sizeof path, "obstacles/%s/triangles", b->name);
  LOOM_TRY(scene_ids(r, err, path, b->n, &b->tris, &count));
  b->nt = count / 3;
  b->x = malloc((size_t)b->n * 3 * sizeof *b->x + 1);
  b->x_next = malloc((size_t)b->n * 3 * sizeof *b->x_next + 1);
  if (b->x == NULL || b->x_next == NULL) return err_set(err, LOOM_E_NOMEM, "out of memory");
  LOOM_TRY(load_sequence(r, err, b));
  return load_rig(r, err, b);
}

static loom_status load_shape(h5read *r, loom_err *err, audit_body *b, const char *kind, int *known)
{
  loom_obstacle o = {.struct_size = sizeof o, .kind = kind};
  char path[AUDIT_NAME_LEN + 32];
  double *shape = NULL;
  int64_t count;
  snprintf(path, sizeof path, "obstacles/%s/shape", b->name);
  LOOM_TRY(scene_reals(r, err, path, 8, &shape, &count));
  for (int k = 0; k < 8 && shape != NULL; ++k) o.shape[k] = (loom_real)shape[k];
  for (int c = 0; c < 3; ++c) o.pose0[4 * c] = o.pose1[4 * c] = 1;
  *known &= shape != NULL && obst_view_fill(&o, &b->view) == NULL;
  free(shape);
  return LOOM_OK;
}

/* Fills *b; *known is 0 for a body that cannot be audited. */
static loom_status read_body(h5read *r, loom_err *err, audit_body *b, int *known)
{
  char path[AUDIT_NAME_LEN + 32];
  int64_t count;
  snprintf(path, sizeof path, "obstacles/%s/pose", b->name);
  LOOM_TRY(scene_reals(r, err, path, -1, &b->poses, &count));
  b->num_poses = count / 12;
  *known = b->num_poses > 0;
  LOOM_TRY(load_body_surface(r, err, b));
  if (b->nt > 0) return LOOM_OK;
  snprintf(path, sizeof path, "scene/obstacles/%s/kind", b->name);
  char *const kind = h5read_string(r, path);
  const body_kind *const k = body_kind_find(kind);
  *known &= k != NULL && k->shape >= 0 && k->shape != BODY_SHAPE_grid;
  const loom_status s = *known ? load_shape(r, err, b, kind, known) : LOOM_OK;
  free(kind);
  return s;
}

static loom_status load_body(h5read *r, loom_err *err, audit *a, const char *name)
{
  audit_body *const b = &a->bodies[a->num_bodies];
  int known = 0;
  snprintf(b->name, sizeof b->name, "%s", name);
  const loom_status s = read_body(r, err, b, &known);
  if (s == LOOM_OK && known) {
    ++a->num_bodies;
    return LOOM_OK;
  }
  free_body(b);
  ++a->skipped_bodies;
  return s;
}

/* Reads both lists of the log; if no pair intersected at the start, `left_out` stays empty. */
static loom_status load_left_out(h5read *r, loom_err *err, audit *a)
{
  int32_t *sewn = NULL, *start = NULL, *both;
  int64_t num_sewn = 0, num_start = 0, rows = a->n;
  for (int i = 0; i < a->num_bodies; ++i) rows += a->bodies[i].n;
  LOOM_TRY(scene_ids(r, err, "exclusions", rows, &sewn, &num_sewn));
  loom_status s = scene_ids(r, err, "start_exclusions", rows, &start, &num_start);
  if (s == LOOM_OK && start != NULL) {
    both = malloc(sizeof *both * (size_t)(num_sewn + num_start));
    if (both == NULL) s = err_set(err, LOOM_E_NOMEM, "out of memory");
    if (s == LOOM_OK) {
      if (sewn != NULL) memcpy(both, sewn, sizeof *both * (size_t)num_sewn);
      memcpy(both + num_sewn, start, sizeof *both * (size_t)num_start);
      const int64_t num = isect_settle_pairs(both, (num_sewn + num_start) / 2);
      s = isect_left_out_make(err, rows, both, num, &a->left_out);
    }
    free(both);
  }
  if (s == LOOM_OK && sewn != NULL)
    s = isect_left_out_make(err, rows, sewn, isect_settle_pairs(sewn, num_sewn / 2), &a->sewn);
  free(sewn);
  free(start);
  return s;
}

static loom_status load_times(h5read *r, loom_err *err, audit *a)
{
  void *data;
  int rank;
  int64_t dims[4];
  LOOM_TRY(h5read_dataset(r, err, "frames/time", 1, &data, &rank, dims));
  a->times = data;
  a->num_times = rank == 1 ? dims[0] : 0;
  return LOOM_OK;
}

loom_status audit_open(loom_err *err, h5read *r, double min_area, int64_t max_pairs, audit *a)
{
  char name[AUDIT_NAME_LEN];
  memset(a, 0, sizeof *a);
  a->n = h5read_num_verts(r);
  a->nt = h5read_num_tris(r);
  a->min_area = min_area;
  a->max_pairs = max_pairs;
  a->threads = threads_default();
  a->pairs = malloc((size_t)max_pairs * sizeof *a->pairs + 1);
  a->passes = malloc((size_t)max_pairs * sizeof *a->passes + 1);
  if (a->pairs == NULL || a->passes == NULL) return err_set(err, LOOM_E_NOMEM, "out of memory");
  LOOM_TRY(load_rest(r, err, a));
  for (int64_t i = 0; h5read_child(r, "scene/obstacles", i, name, sizeof name); ++i) {
    if (a->num_bodies == AUDIT_MAX_BODIES)
      ++a->skipped_bodies;
    else
      LOOM_TRY(load_body(r, err, a, name));
  }
  LOOM_TRY(load_times(r, err, a));
  return load_left_out(r, err, a);
}

void audit_close(audit *a)
{
  free(a->tris);
  free(a->tets);
  free(a->area);
  free(a->volume);
  free(a->times);
  free(a->pairs);
  free(a->passes);
  isect_left_out_free(&a->left_out);
  isect_left_out_free(&a->sewn);
  entries_free(&a->entries);
  for (int i = 0; i < AUDIT_MAX_BODIES; ++i) free_body(&a->bodies[i]);
}

/* ---- bodies: signed distance, negative inside ---- */
static void audit_body_depths(const audit *a, const double *x, int64_t frame, audit_result *out)
{
  for (int i = 0; i < a->num_bodies; ++i) {
    const audit_body *const b = &a->bodies[i];
    if (b->nt > 0 || frame >= b->num_poses) continue;
    const double *const P = b->poses + 12 * frame;
    for (int64_t v = 0; v < a->n; ++v) {
      const double d[3] = {x[3 * v] - P[9], x[3 * v + 1] - P[10], x[3 * v + 2] - P[11]};
      lk_real p[3], n[3]; /* R^T (x - t) */
      for (int c = 0; c < 3; ++c) p[c] = (lk_real)(P[c] * d[0] + P[3 + c] * d[1] + P[6 + c] * d[2]);
      const double depth = -(double)obst_distance_body(&b->view, p, n);
      out->inside += depth > 0;
      if (depth > out->depth) out->depth = depth, out->depth_vertex = v, out->depth_body = i;
    }
  }
}

/* Finds edges and triangles inside bodies, at `frame` or, with x_start, on the way to it. */
static loom_status find_entries(loom_err *err, audit *a, const double *x_start, const double *x,
                                int64_t frame)
{
  const entry_mesh cloth = {.x = x, .x_start = x_start, .tris = a->tris, .nt = a->nt};
  obst_view views[AUDIT_MAX_BODIES];
  for (int i = 0; i < a->num_bodies; ++i) {
    const audit_body *const b = &a->bodies[i];
    const int64_t first = x_start != NULL ? frame - 1 : frame;
    loom_obstacle o = {.struct_size = sizeof o};
    views[i] = b->view;
    if (b->nt > 0 || frame >= b->num_poses) views[i].shape = -1;
    if (views[i].shape < 0) continue;
    for (int c = 0; c < 12; ++c) {
      o.pose0[c] = (loom_real)b->poses[12 * first + c];
      o.pose1[c] = (loom_real)b->poses[12 * frame + c];
    }
    const char *const why = obst_view_pose(&o, &views[i]);
    if (why != NULL) return err_set(err, LOOM_E_IO, "/scene/obstacles/%s: %s", b->name, why);
  }
  entries_free(&a->entries);
  return entries_find(err, &cloth, views, a->num_bodies, a->threads, &a->entries);
}

/* ---- mesh bodies ---- */

const char *audit_mesh_name(const audit *a, int32_t body)
{
  for (int i = 0; i < a->num_bodies; ++i)
    if (a->bodies[i].nt > 0 && body-- == 0) return a->bodies[i].name;
  return "";
}

/* Positions of the vertices of a body, x [n][3], m, world, at a frame of the log. */
static void place_mesh(const audit *a, audit_body *b, int64_t frame, double *x)
{
  /* a log that was cut off may lack poses: the last one stays */
  const int64_t pose = frame < b->num_poses ? frame : b->num_poses - 1;
  if (b->joints != NULL) rig_skin(&b->rig, b->joints + 12 * b->rig.num_joints * pose, b->local);
  if (b->frames != NULL && a->num_times > 0) {
    double share;
    const double t = a->times[frame < a->num_times ? frame : a->num_times - 1];
    const int64_t k = sequence_frame(b->num_frames, b->frame_rate, t, &share);
    const double *const from = b->frames + 3 * b->n * k;
    const double *const to = k + 1 < b->num_frames ? from + 3 * b->n : from;
    for (int64_t i = 0; i < 3 * b->n; ++i) b->local[i] = sequence_between(from[i], to[i], share);
  }
  isect_place(b->poses + 12 * pose, b->local, b->n, x);
}

static int place_meshes(audit *a, int64_t frame, int moving, isect_surface *out)
{
  int num = 0;
  int64_t first_id = a->n;
  for (int i = 0; i < a->num_bodies; ++i) {
    audit_body *const b = &a->bodies[i];
    if (b->nt == 0) continue;
    place_mesh(a, b, frame, b->x);
    if (moving) place_mesh(a, b, frame + 1, b->x_next);
    out[num++] = (isect_surface){.x = b->x,
                                 .x_end = moving ? b->x_next : NULL,
                                 .n = b->n,
                                 .tris = b->tris,
                                 .nt = b->nt,
                                 .first_id = first_id};
    first_id += b->n;
  }
  return num;
}

static const isect_left_out *sewn_of(const audit *a)
{
  return a->sewn.first != NULL ? &a->sewn : NULL;
}

static const isect_left_out *left_out_of(const audit *a)
{
  return a->left_out.first != NULL ? &a->left_out : sewn_of(a);
}

/* ---- one frame ---- */
static void count_finding(int64_t *count, int64_t *first, int64_t id)
{
  if ((*count)++ == 0) *first = id;
}

loom_status audit_frame(loom_err *err, audit *a, const double *x, int64_t frame, audit_result *out)
{
  *out = (audit_result){.first_bad = {-1, -1, -1}, .depth_vertex = -1};
  for (int64_t v = 0; v < a->n; ++v)
    if (!isfinite(x[3 * v]) || !isfinite(x[3 * v + 1]) || !isfinite(x[3 * v + 2]))
      count_finding(&out->not_finite, &out->first_bad[0], v);
  /* A triangle in space has no sign: turned over it is as good as before, so only a
   * collapsed one is wrong.  Negated comparisons: NaN counts. */
  for (int64_t i = 0; i < a->nt; ++i)
    if (!(triangle_area(x, a->tris + 3 * i) > a->min_area * a->area[i]))
      count_finding(&out->degenerate, &out->first_bad[1], i);
  for (int64_t i = 0; i < a->num_tets; ++i)
    if (!(tet_volume(x, a->tets + 4 * i) * a->volume[i] > 0))
      count_finding(&out->inverted, &out->first_bad[2], i);
  if (out->not_finite > 0) return LOOM_OK; /* no other check can be decided */
  audit_body_depths(a, x, frame, out);
  if (a->nt == 0) return LOOM_OK;
  isect_surface bodies[AUDIT_MAX_BODIES];
  const isect_surface cloth = {
      .x = x, .n = a->n, .tris = a->tris, .nt = a->nt, .left_out = left_out_of(a)};
  const int num = place_meshes(a, frame, 0, bodies);
  if (a->left_out.first != NULL) { /* all pairs, minus the new ones */
    isect_surface sewn = cloth;
    sewn.left_out = sewn_of(a);
    LOOM_TRY(
        isect_scene(err, &sewn, bodies, num, a->threads, a->pairs, a->max_pairs, &out->of_start));
  }
  LOOM_TRY(isect_scene(err, &cloth, bodies, num, a->threads, a->pairs, a->max_pairs,
                       &out->intersections));
  if (a->left_out.first != NULL) out->of_start -= out->intersections;
  LOOM_TRY(find_entries(err, a, NULL, x, frame));
  out->entries = a->entries.num;
  out->intersections += out->entries;
  return LOOM_OK;
}

loom_status audit_trajectory(loom_err *err, audit *a, const double *x, const double *x_next,
                             int64_t frame, double tolerance, int64_t *found, int64_t *entered)
{
  isect_surface bodies[AUDIT_MAX_BODIES];
  const isect_surface cloth = {
      .x = x, .x_end = x_next, .n = a->n, .tris = a->tris, .nt = a->nt, .left_out = left_out_of(a)};
  *found = *entered = 0;
  for (int64_t i = 0; i < 3 * a->n; ++i)
    if (!isfinite(x[i]) || !isfinite(x_next[i])) return LOOM_OK;
  const int num = place_meshes(a, frame, 1, bodies);
  LOOM_TRY(
      isect_path(err, &cloth, bodies, num, tolerance, a->threads, a->passes, a->max_pairs, found));
  LOOM_TRY(find_entries(err, a, x, x_next, frame + 1));
  *entered = a->entries.num;
  return LOOM_OK;
}
