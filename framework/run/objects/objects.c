/* objects.c - see objects.h. */
#include "run/objects/objects.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "run/objects/objects.kern.h"
#include "run/run_state.h"

static const lk_entry k_sum = LK_ENTRY_MOVES(run_object_sum, OBJECTS_SEGMENT, 2);
static const lk_entry k_moments =
    LK_ENTRY_MOVES(run_object_moments, 16 * OBJECTS_SEGMENT, 3 * OBJECTS_SEGMENT);
static const lk_entry k_deviation =
    LK_ENTRY_MOVES(run_object_deviation, 21 * OBJECTS_SEGMENT, 2 * OBJECTS_SEGMENT);
static const lk_entry k_residual =
    LK_ENTRY_MOVES(run_object_residual, 4 * OBJECTS_SEGMENT, OBJECTS_SEGMENT);
static const lk_entry k_ends =
    LK_ENTRY_MOVES(run_object_ends, 10 * OBJECTS_SEGMENT, OBJECTS_SEGMENT);
static const lk_entry k_fit = LK_ENTRY_MOVES(run_object_fit, OBJ_MOMENTS + FIT_NUMBERS, 0);
static const lk_entry k_bound = LK_ENTRY_MOVES(run_object_bound, 7, 0);
static const lk_entry k_scene = LK_ENTRY_MOVES(run_object_scene, 3, 0);
static const lk_entry k_all = LK_ENTRY_MOVES(run_object_all, 1, 0);
static const lk_entry k_ratio = LK_ENTRY_MOVES(run_object_ratio, 4, 0);
static const lk_entry k_over = LK_ENTRY_MOVES(run_object_over, 3, 0);

enum { SLOT_OVER = 1 }; /* of the reductions' results */

/* ---- segments ---- */

typedef struct rows { /* of all levels, on the host; each row is a contiguous part of one object */
  int32_t *first, *end, *owner;
  int32_t num, cap;
} rows;

static int grow_list(int32_t **list, int32_t cap)
{
  int32_t *const more = realloc(*list, (size_t)cap * sizeof *more);
  if (more == NULL) return 0;
  *list = more;
  return 1;
}

static loom_status append_object_row(const run *r, rows *all, int32_t first, int32_t end,
                                     int32_t owner)
{
  if (all->owner == NULL || all->num == all->cap) {
    const int32_t cap = 2 * all->cap + 64;
    if (!grow_list(&all->first, cap) || !grow_list(&all->end, cap) || !grow_list(&all->owner, cap))
      return err_set(r->err, LOOM_E_NOMEM, "out of memory");
    all->cap = cap;
  }
  all->first[all->num] = first;
  all->end[all->num] = end;
  all->owner[all->num++] = owner;
  return LOOM_OK;
}

/* [from, to) of one object, in rows of at most OBJECTS_SEGMENT. */
static loom_status split_object_range(run *r, rows *all, int32_t from, int32_t to, int32_t owner)
{
  for (int32_t i = from; i < to; i += OBJECTS_SEGMENT)
    LOOM_TRY(
        append_object_row(r, all, i, to - i > OBJECTS_SEGMENT ? i + OBJECTS_SEGMENT : to, owner));
  return LOOM_OK;
}

/* Vertices of each object lie one behind the other, as the scene is built; `object` NULL: all are
 * of one. */
static loom_status first_level(run *r, rows *all, const int32_t *object, int32_t *anchor)
{
  const int32_t n = r->scene->pub.num_verts;
  int32_t last = -1;
  for (int32_t i = 0, end; i < n; i = end) {
    const int32_t owner = object != NULL ? object[i] : 0;
    for (end = i + 1; end < n && (object == NULL || object[end] == owner);) ++end;
    if (owner <= last || owner >= r->objects.num)
      return err_set(r->err, LOOM_E_INTERNAL,
                     "the vertices of object %d are not one behind the other", owner);
    last = owner;
    anchor[owner] = i;
    LOOM_TRY(split_object_range(r, all, i, end, owner));
  }
  return LOOM_OK;
}

/* One row for every object: its rows on the level before. */
static loom_status last_level(const run *r, rows *all, int32_t from, int32_t to)
{
  int32_t at = from;
  for (int32_t o = 0; o < r->objects.num; ++o) {
    const int32_t first = at;
    while (all->owner != NULL && at < to && all->owner[at] == o) ++at;
    LOOM_TRY(append_object_row(r, all, first, at, o));
  }
  return LOOM_OK;
}

static loom_status build_row_levels(run *r, rows *all, const int32_t *object, int32_t *anchor)
{
  run_objects *const o = &r->objects;
  LOOM_TRY(first_level(r, all, object, anchor));
  for (o->num_levels = 1;; ++o->num_levels) {
    const int32_t from = o->level[o->num_levels - 1], to = all->num;
    int32_t longest = 0;
    o->level[o->num_levels] = to;
    if (all->owner == NULL) break; /* no vertex, no row */
    for (int32_t i = from, end; i < to; i = end) {
      for (end = i + 1; end < to && all->owner[end] == all->owner[i];) ++end;
      if (end - i > longest) longest = end - i;
    }
    if (longest <= OBJECTS_SEGMENT || o->num_levels + 1 == OBJECTS_LEVELS) break;
    for (int32_t i = from, end; i < to; i = end) {
      for (end = i + 1; end < to && all->owner[end] == all->owner[i];) ++end;
      LOOM_TRY(split_object_range(r, all, i, end, all->owner[i]));
    }
  }
  LOOM_TRY(last_level(r, all, o->level[o->num_levels - 1], all->num));
  o->level[++o->num_levels] = all->num;
  return LOOM_OK;
}

static loom_status store_row_array(run *r, const char *name, const int32_t *from, int32_t count,
                                   loom_buf **b)
{
  void *to;
  LOOM_TRY(buf_new(r->m, "core", name, LOOM_I32, count, b));
  if (count == 0) return LOOM_OK;
  LOOM_TRY(buf_map(r->m, NULL, *b, LOOM_WRITE, LOOM_AT_HOST, &to));
  memcpy(to, from, (size_t)count * sizeof *from);
  return buf_unmap(r->m, *b);
}

static loom_status make_rows(run *r, rows *all, int32_t *anchor)
{
  run_objects *const o = &r->objects;
  loom_buf *const object = r->scene->pub.object;
  void *of = NULL;
  if (object != NULL) LOOM_TRY(buf_map(r->m, NULL, object, LOOM_READ, LOOM_AT_HOST, &of));
  const loom_status s = build_row_levels(r, all, of, anchor);
  if (object != NULL) LOOM_TRY(buf_unmap(r->m, object));
  LOOM_TRY(s);
  LOOM_TRY(store_row_array(r, "segments", all->first, all->num, &o->first));
  LOOM_TRY(store_row_array(r, "segment ends", all->end, all->num, &o->end));
  LOOM_TRY(store_row_array(r, "segment owners", all->owner, o->level[1], &o->owner));
  return store_row_array(r, "anchors", anchor, o->num, &o->anchor);
}

/* gain[o]: mass-weighted RMS of D/m over the object's free vertices */
static loom_status find_gain(run *r)
{
  const loom_scene *const s = &r->scene->pub;
  buf_maps q = {.m = r->m}; /* on the host */
  const loom_real *const mass = buf_maps_add(&q, s->mass, LOOM_READ);
  const uint8_t *const fixed = buf_maps_add(&q, s->fixed, LOOM_READ);
  const loom_real *const D = buf_maps_add(&q, r->buf.diag, LOOM_READ);
  const int32_t *const anchor = buf_maps_add(&q, r->objects.anchor, LOOM_READ);
  const int32_t *const object = buf_maps_add(&q, s->object, LOOM_READ);
  loom_real *const gain = buf_maps_add(&q, r->objects.gain, LOOM_WRITE);
  for (int32_t o = 0; o < r->objects.num && q.status == LOOM_OK; ++o) {
    double sum = 0.0, total = 0.0;
    for (int32_t i = anchor[o]; i < s->num_verts && (object == NULL || object[i] == o); ++i) {
      if (fixed[i]) continue;
      const double m = (double)mass[i], k = (double)D[i] / m;
      sum += m * k * k;
      total += m;
    }
    gain[o] = total > 0.0 ? (loom_real)sqrt(sum / total) : (loom_real)0;
  }
  return buf_maps_end(&q);
}

loom_status objects_new(run *r)
{
  run_objects *const o = &r->objects;
  const int32_t num = r->scene->pub.num_objects;
  rows all = {0};
  o->num = num > 1 && r->scene->pub.object != NULL ? num : 1;
  int32_t *const anchor = calloc((size_t)o->num, sizeof *anchor);
  loom_status s =
      anchor != NULL ? make_rows(r, &all, anchor) : err_set(r->err, LOOM_E_NOMEM, "out of memory");
  const int32_t num_rows = all.num;
  free(all.first);
  free(all.end);
  free(all.owner);
  free(anchor);
  LOOM_TRY(s);
  const struct {
    const char *name;
    int64_t count;
    loom_buf **b;
  } made[] = {{"sums of segments", (int64_t)OBJ_MOMENTS * num_rows, &o->sums},
              {"rigid motions", (int64_t)FIT_NUMBERS * o->num, &o->fit},
              {"gains", o->num, &o->gain},
              {"r_ref", o->num, &o->ref},
              {"near", o->num, &o->near},
              {"bounds", o->num, &o->bound},
              {"ratios", o->num, &o->ratio}};
  for (size_t i = 0; i < LOOM_COUNT(made); ++i)
    LOOM_TRY(buf_new(r->m, "core", made[i].name, LOOM_REAL, made[i].count, made[i].b));
  return find_gain(r);
}

/* ---- sums ---- */

static lk_real *object_sums_row(lk_real *sums, int32_t width, int32_t row)
{
  return sums + (int64_t)width * row;
}

object_rows_args objects_rows(run *r, buf_maps *q)
{
  const run_objects *const o = &r->objects;
  return (object_rows_args){.first = buf_maps_add(q, o->first, LOOM_READ),
                            .end = buf_maps_add(q, o->end, LOOM_READ),
                            .owner = buf_maps_add(q, o->owner, LOOM_READ),
                            .anchor = buf_maps_add(q, o->anchor, LOOM_READ),
                            .m = buf_maps_add(q, r->scene->pub.mass, LOOM_READ),
                            .fixed = buf_maps_add(q, r->scene->pub.fixed, LOOM_READ),
                            .to = buf_maps_add(q, o->sums, LOOM_RDWR)};
}

loom_status objects_reduce(run *r, buf_maps *q, const lk_entry *k, const lk_entry *up_by,
                           const object_rows_args *a, int32_t width, const lk_real **out)
{
  const run_objects *const o = &r->objects;
  LOOM_TRY(buf_maps_run(q, k, a, o->level[1], NULL));
  for (int32_t l = 1; l < o->num_levels; ++l) {
    const object_sum_args up = {.first = a->first + o->level[l],
                                .end = a->end + o->level[l],
                                .from = a->to,
                                .to = object_sums_row(a->to, width, o->level[l]),
                                .width = width};
    LOOM_TRY(buf_maps_run(q, up_by, &up, o->level[l + 1] - o->level[l], NULL));
  }
  *out = object_sums_row(a->to, width, o->level[o->num_levels - 1]);
  return LOOM_OK;
}

/* v: r_ref of the scene, the bounds of its first object */
static loom_status take_scene(run *r, const double *v, const results_use *u)
{
  *(double *)u->out = v[0];
  r->objects.one_near = v[1];
  r->objects.one_bound = v[2];
  return LOOM_OK;
}

/* An object that flies apart must not loosen its own tolerance: of its deformation in a step at
 * most so many times the way of gravity counts.  In the shipped scenes it was up to 12 times. */
static const double most_of_gravity = 12.0, standard_gravity = 9.80665; /* 1, m/s^2 */

static object_bound_args bound_args(const run *r)
{
  const stop_settings *const s = &r->set.stop;
  const double *const g = r->scene->gravity, h2 = loom_problem_h2(&r->problem.own);
  const int is_double = sizeof(loom_real) == sizeof(double);
  const double size = sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
  const double most = most_of_gravity * h2 * (size > 0.0 ? size : standard_gravity);
  return (object_bound_args){.most = (lk_real)(most * most),
                             .fall = (lk_real)(h2 * size),
                             .tol_abs = (lk_real)s->tol_abs,
                             .tol_acc_h2 = (lk_real)(s->tol_acc * h2),
                             .tol_rel = (lk_real)s->tol_rel,
                             .eps = (lk_real)(is_double ? DBL_EPSILON : FLT_EPSILON),
                             .h2 = (lk_real)h2};
}

/* The launches of objects_bounds(), on the mapped buffers. */
static loom_status find_bounds(run *r, buf_maps *q)
{
  const run_objects *const o = &r->objects;
  object_rows_args rows_of = objects_rows(r, q);
  rows_of.x = buf_maps_add(q, r->st.x_start, LOOM_READ);
  rows_of.y = buf_maps_add(q, r->st.y, LOOM_READ);
  rows_of.fit = buf_maps_add(q, o->fit, LOOM_RDWR);
  object_fit_args fit = {.fit = (lk_real *)rows_of.fit};
  object_bound_args bound = bound_args(r);
  const lk_real *sums;
  LOOM_TRY(objects_reduce(r, q, &k_moments, &k_sum, &rows_of, OBJ_MOMENTS, &sums));
  fit.sums = sums;
  LOOM_TRY(buf_maps_run(q, &k_fit, &fit, o->num, NULL));
  LOOM_TRY(objects_reduce(r, q, &k_deviation, &k_sum, &rows_of, 1, &sums));
  bound.sums = sums;
  bound.fit = rows_of.fit;
  bound.gain = buf_maps_add(q, o->gain, LOOM_READ);
  bound.ref = buf_maps_add(q, o->ref, LOOM_WRITE);
  bound.near = buf_maps_add(q, o->near, LOOM_WRITE);
  bound.bound = buf_maps_add(q, o->bound, LOOM_WRITE);
  LOOM_TRY(buf_maps_run(q, &k_bound, &bound, o->num, NULL));
  const object_scene_args scene = {.fit = rows_of.fit,
                                   .ref = bound.ref,
                                   .near = bound.near,
                                   .bound = bound.bound,
                                   .out = r->exec.result,
                                   .num = o->num};
  return buf_maps_run(q, &k_scene, &scene, 1, NULL);
}

loom_status objects_bounds(run *r, double *r_ref)
{
  buf_maps q = {.m = r->m, .e = &r->exec};
  const kernel_work kernels = r->work.kernels; /* measuring is not the method's work */
  const loom_status s = find_bounds(r, &q);
  r->work.kernels = kernels;
  LOOM_TRY(buf_maps_end(&q));
  LOOM_TRY(s);
  LOOM_TRY(results_later(r, &r->exec, r->exec.result, 3,
                         &(results_use){.then = take_scene, .out = r_ref}));
  return results_settle_unless_held(r);
}

/* ---- the largest residual over its bound ---- */

/* At most 1 exactly where rms <= bound. */
static double bound_ratio(double rms, double bound)
{
  if (!(bound > 0.0)) return rms > 0.0 ? DBL_MAX : rms;
  return rms > bound ? fmax(rms / bound, 1.0 + DBL_EPSILON) : rms / bound;
}

static loom_status take_one(run *r, const double *v, const results_use *u)
{
  residual *const res = u->out;
  (void)v;
  res->near = bound_ratio(res->rms, r->objects.one_near);
  res->over = bound_ratio(res->rms, r->objects.one_bound);
  return LOOM_OK;
}

/* v: the two ratios */
static loom_status take_over(run *r, const double *v, const results_use *u)
{
  residual *const res = u->out;
  (void)r;
  res->near = v[0];
  res->over = v[1];
  return LOOM_OK;
}

/* The squared residuals of all objects; *a: all but the bound. */
static loom_status find_residuals(run *r, buf_maps *q, loom_buf *g, object_over_args *a)
{
  object_rows_args rows_of = objects_rows(r, q);
  rows_of.g = buf_maps_add(q, g, LOOM_READ);
  *a = (object_over_args){.fit = buf_maps_add(q, r->objects.fit, LOOM_READ),
                          .h2 = (lk_real)loom_problem_h2(&r->problem.own)};
  const lk_real *sums;
  LOOM_TRY(objects_reduce(r, q, &k_residual, &k_sum, &rows_of, 1, &sums));
  a->sums = sums;
  return LOOM_OK;
}

static loom_status find_over(run *r, buf_maps *q, loom_buf *g)
{
  const run_objects *const o = &r->objects;
  object_over_args a;
  LOOM_TRY(find_residuals(r, q, g, &a));
  a.bound = buf_maps_add(q, o->near, LOOM_READ);
  LOOM_TRY(buf_maps_run(q, &k_over, &a, o->num, r->exec.result));
  a.bound = buf_maps_add(q, o->bound, LOOM_READ);
  return buf_maps_run(q, &k_over, &a, o->num, r->exec.result + SLOT_OVER);
}

loom_status objects_over(run *r, loom_buf *g, struct residual *res)
{
  if (r->objects.num == 1)
    return results_after(r, NULL, &(results_use){.then = take_one, .out = res});
  buf_maps q = {.m = r->m, .e = &r->exec};
  const kernel_work kernels = r->work.kernels;
  const loom_status s = find_over(r, &q, g);
  r->work.kernels = kernels;
  LOOM_TRY(buf_maps_end(&q));
  LOOM_TRY(s);
  LOOM_TRY(
      results_later(r, &r->exec, r->exec.result, 2, &(results_use){.then = take_over, .out = res}));
  return results_settle_unless_held(r);
}

static loom_status find_ratios(run *r, buf_maps *q, loom_buf *g)
{
  const run_objects *const o = &r->objects;
  object_ratio_args a;
  LOOM_TRY(find_residuals(r, q, g, &a.of));
  a.of.bound = buf_maps_add(q, o->bound, LOOM_READ);
  a.ratio = buf_maps_add(q, o->ratio, LOOM_WRITE);
  return buf_maps_run(q, &k_ratio, &a, o->num, NULL);
}

loom_status objects_ratios(run *r, loom_buf *g)
{
  buf_maps q = {.m = r->m, .e = &r->exec};
  const kernel_work kernels = r->work.kernels;
  const loom_status s = find_ratios(r, &q, g);
  r->work.kernels = kernels;
  LOOM_TRY(buf_maps_end(&q));
  return s;
}

/* ---- the end of a step ---- */

static double vector_length3(const double v[3])
{
  return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

/* out = a - p cross q */
static void less_cross(const double *a, const double *p, const double *q, double out[3])
{
  out[0] = a[0] - (p[1] * q[2] - p[2] * q[1]);
  out[1] = a[1] - (p[2] * q[0] - p[0] * q[2]);
  out[2] = a[2] - (p[0] * q[1] - p[1] * q[0]);
}

/* v: END_MOMENTS of all free vertices; scale: 1 with a residual, else NaN */
static loom_status take_ends(run *r, const double *v, const results_use *u)
{
  end_moments *const out = u->out;
  const double M = v[END_MASS], g = vector_length3(r->scene->gravity);
  const double weight = M * (g > 0.0 ? g : standard_gravity);
  double centre[3], torque[3];
  *out = (end_moments){.force = 0.0};
  if (!(M > 0.0)) return LOOM_OK;
  for (int c = 0; c < 3; ++c) {
    centre[c] = v[END_PLACE + c] / M;
    out->linear[c] = v[END_LINEAR + c];
  }
  less_cross(v + END_ANGULAR, centre, v + END_LINEAR, out->angular);
  less_cross(v + END_TORQUE, centre, v + END_FORCE, torque);
  const double spread =
      sqrt(fmax(v[END_SPREAD] / M - vector_length3(centre) * vector_length3(centre), 0.0));
  out->force = u->scale * vector_length3(v + END_FORCE) / weight;
  out->torque = spread > 0.0 ? u->scale * vector_length3(torque) / (weight * spread) : 0.0;
  return LOOM_OK;
}

static loom_status find_ends(run *r, buf_maps *q, loom_buf *v, loom_buf *g)
{
  const run_objects *const o = &r->objects;
  object_rows_args rows_of = objects_rows(r, q);
  rows_of.x = buf_maps_add(q, r->st.x, LOOM_READ);
  rows_of.y = buf_maps_add(q, v, LOOM_READ);
  rows_of.g = buf_maps_add(q, g, LOOM_READ);
  const lk_real *of_objects;
  LOOM_TRY(objects_reduce(r, q, &k_ends, &k_sum, &rows_of, END_MOMENTS, &of_objects));
  const object_all_args all = {
      .sums = of_objects, .out = r->exec.result, .num = o->num, .width = END_MOMENTS};
  return buf_maps_run(q, &k_all, &all, END_MOMENTS, NULL);
}

loom_status objects_end(run *r, loom_buf *v, loom_buf *g, end_moments *out)
{
  buf_maps q = {.m = r->m, .e = &r->exec};
  const loom_status s = find_ends(r, &q, v, g);
  LOOM_TRY(buf_maps_end(&q));
  LOOM_TRY(s);
  LOOM_TRY(
      results_later(r, &r->exec, r->exec.result, END_MOMENTS,
                    &(results_use){.then = take_ends, .out = out, .scale = g != NULL ? 1.0 : NAN}));
  return results_settle_unless_held(r);
}
