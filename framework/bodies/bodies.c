/* bodies.c - distances, impacts, motion and reactions of the bodies of a scene, batched. */
#include "bodies/bodies.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bodies/rows.kern.h"

/* Kernels of the bodies that do not bend, and of each field's shape; the index here is the shape's
 * number less BODY_BEFORE_FIELDS. */
typedef struct family {
  lk_entry gap, slope, impact;
} family;
/* A slope reads what gaps read and half as much again, and so does an impact. */
#define FAMILY(name)                                                \
  {LK_ENTRY_MOVES(body_gap_##name, BODY_READS_##name, 2),           \
   LK_ENTRY_MOVES(body_slope_##name, 3 * BODY_READS_##name / 2, 4), \
   LK_ENTRY_MOVES(body_impact_##name, 3 * BODY_READS_##name / 2, 4)},
static const family families[] = {FAMILY(rigid)
#define BODY_FIELD_SHAPE(name) FAMILY(name)
#include "bodies/bodies.def"
};
enum { RIGID, NUM_FAMILIES = sizeof families / sizeof *families };
static const lk_entry k_lanes =
    LK_ENTRY_NEAR_MOVES(body_lanes, 4, 3470, 64); /* single precision, exp */
static const lk_entry k_carry_rigid = LK_ENTRY_MOVES(body_carry_rigid, 6, 3);
static const lk_entry k_carry_bent = LK_ENTRY_MOVES(body_carry_bent, 216, 1711);
static const lk_entry k_push = LK_ENTRY_MOVES(body_push, 300, 159),
                      k_push_sum = LK_ENTRY_MOVES(body_push_sum, 21, 1);

/* Means over edges and triangles, near and far. */
static const lk_entry k_near = LK_ENTRY_MOVES(body_near, 120, 5),
                      k_near_impact = LK_ENTRY_MOVES(body_near_impact, 80, 5);

struct body_set {
  mem *m;
  const loom_scene *sc;
  int num;
  obst_view *view;       /* [num], host; grid pointers are of the latest call */
  loom_buf *views;       /* u8, the same as bytes */
  int mapped;            /* 1: the distance of some body is made from a buffer */
  int has[NUM_FAMILIES]; /* bodies of each */
  int stale;             /* 1: `views` has older ones */
  int32_t movers;        /* bodies that move by themselves; 0: the members below are NULL */
  loom_buf *mover;       /* i32 [num], -1: none */
  loom_buf *body_of;     /* i32 [movers] */
  loom_buf *part;        /* real [chunks][movers][BODY_IMPULSE] */
  loom_buf *pushed;      /* real [num][BODY_IMPULSE] */
};

static const char *get_body_name(const body_set *b, int i)
{
  const char *const name = b->sc->obstacles[i].name;
  return name != NULL ? name : "?";
}

static loom_status bad_body(loom_err *err, const body_set *b, int i, const char *why)
{
  return err_set(err, LOOM_E_CONFIG, "body '%s': %s", get_body_name(b, i), why);
}

/* The buffer that the distance of body i is made from, or NULL. */
static loom_buf *data_of(const body_set *b, int i)
{
  const loom_obstacle *const o = &b->sc->obstacles[i];
  if (b->view[i].shape == BODY_SHAPE_grid) return o->sdf;
  return obst_bends(&b->view[i]) ? o->field : NULL;
}

/* ---- life ---- */

static loom_status measure_grid(loom_err *err, const body_set *b, int i)
{
  loom_buf *const sdf = b->sc->obstacles[i].sdf;
  obst_view *const v = &b->view[i];
  void *p;
  if (buf_count(sdf) != (int64_t)v->dims[0] * v->dims[1] * v->dims[2])
    return bad_body(err, b, i, "its grid does not have dims[0] dims[1] dims[2] values");
  LOOM_TRY(buf_map(b->m, NULL, sdf, LOOM_READ, LOOM_AT_HOST, &p));
  v->lipschitz = obst_view_lipschitz(v, p);
  LOOM_TRY(buf_unmap(b->m, sdf));
  return isfinite(v->lipschitz) ? LOOM_OK : bad_body(err, b, i, "its grid holds values not finite");
}

static int family_of(const obst_view *v)
{
  return obst_bends(v) ? v->shape - BODY_BEFORE_FIELDS : RIGID;
}

static loom_status fill_views(loom_err *err, body_set *b)
{
  for (int i = 0; i < b->num; ++i) {
    const loom_obstacle *const o = &b->sc->obstacles[i];
    const char *const why = obst_view_fill(o, &b->view[i]);
    if (why != NULL) return bad_body(err, b, i, why);
    b->movers += o->mass > 0;
    b->mapped |= data_of(b, i) != NULL;
    b->has[family_of(&b->view[i])]++;
    if (b->view[i].shape == BODY_SHAPE_grid) LOOM_TRY(measure_grid(err, b, i));
  }
  b->stale = 1;
  return LOOM_OK;
}

static loom_status number_movers(body_set *b)
{
  void *of, *at;
  if (b->movers == 0) return LOOM_OK;
  LOOM_TRY(buf_new(b->m, "core", "movers of bodies", LOOM_I32, b->num, &b->mover));
  LOOM_TRY(buf_new(b->m, "core", "bodies of movers", LOOM_I32, b->movers, &b->body_of));
  LOOM_TRY(buf_new(b->m, "core", "reactions", LOOM_REAL, 0, &b->part));
  LOOM_TRY(
      buf_new(b->m, "core", "body_impulse", LOOM_REAL, BODY_IMPULSE * (int64_t)b->num, &b->pushed));
  LOOM_TRY(buf_map(b->m, NULL, b->mover, LOOM_WRITE, LOOM_AT_HOST, &of));
  LOOM_TRY(buf_map(b->m, NULL, b->body_of, LOOM_WRITE, LOOM_AT_HOST, &at));
  for (int32_t k = 0, mover = 0; k < b->num; ++k) {
    const int moves = b->sc->obstacles[k].mass > 0;
    ((int32_t *)of)[k] = moves ? mover : -1;
    if (moves) ((int32_t *)at)[mover++] = k;
  }
  LOOM_TRY(buf_unmap(b->m, b->body_of));
  return buf_unmap(b->m, b->mover);
}

static loom_status create_body_views(loom_err *err, body_set *b)
{
  b->view = calloc((size_t)b->num + 1, sizeof *b->view);
  if (b->view == NULL) return err_set(err, LOOM_E_NOMEM, "no memory for %d bodies", b->num);
  LOOM_TRY(fill_views(err, b));
  LOOM_TRY(buf_new(b->m, "core", "bodies", LOOM_U8, b->num * (int64_t)sizeof *b->view, &b->views));
  return number_movers(b);
}

loom_status bodies_open(loom_err *err, mem *m, const loom_scene *sc, body_set **out)
{
  body_set *const b = calloc(1, sizeof *b);
  *out = NULL;
  if (b == NULL) return err_set(err, LOOM_E_NOMEM, "no memory for bodies");
  b->m = m;
  b->sc = sc;
  b->num = sc->num_obstacles;
  const loom_status s = create_body_views(err, b);
  if (s == LOOM_OK)
    *out = b;
  else
    bodies_close(b);
  return s;
}

void bodies_close(body_set *b)
{
  if (b == NULL) return;
  loom_buf *const all[] = {b->views, b->mover, b->body_of, b->part, b->pushed};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) buf_free(b->m, all[i]);
  free(b->view);
  free(b);
}

/* ---- the kernels' views of bodies ---- */

/* Whether the pose of a view is still that of its body. */
static int same_pose(const lk_real R[9], const lk_real t[3], const loom_real pose[12])
{
  int same = 1;
  for (int k = 0; k < 9; ++k) same &= R[k] == pose[k];
  for (int k = 0; k < 3; ++k) same &= t[k] == pose[9 + k];
  return same;
}

/* The views follow the poses. */
static loom_status update_body_views(body_set *b)
{
  for (int i = 0; i < b->num; ++i) {
    const loom_obstacle *const o = &b->sc->obstacles[i];
    obst_view *const v = &b->view[i];
    if (same_pose(v->R0, v->t0, o->pose0) && same_pose(v->R1, v->t1, o->pose1) &&
        v->sweep == o->sweep)
      continue;
    const char *const why = obst_view_pose(o, v);
    if (why != NULL) return bad_body(mem_err(b->m), b, i, why);
    b->stale = 1;
  }
  return LOOM_OK;
}

/* Every pointer is good until rows_close(). */
static loom_status map_data(body_set *b, const loom_exec *e)
{
  void *p;
  for (int i = 0; b->mapped && i < b->num; ++i) {
    loom_buf *const data = data_of(b, i);
    if (data == NULL) continue;
    LOOM_TRY(buf_map(b->m, e, data, LOOM_READ, LOOM_AT_EXEC, &p));
    if (data == b->sc->obstacles[i].sdf) {
      b->stale |= b->view[i].sdf != p;
      b->view[i].sdf = p;
    } else {
      b->stale |= b->view[i].field != p;
      b->view[i].field = p;
    }
  }
  return LOOM_OK;
}

static loom_status rows_open(body_set *b, const loom_body_rows *r, buf_maps *q, body_rows *out)
{
  void *p;
  LOOM_TRY(update_body_views(b));
  LOOM_TRY(map_data(b, q->e));
  if (b->stale) {
    LOOM_TRY(buf_map(b->m, NULL, b->views, LOOM_WRITE, LOOM_AT_HOST, &p));
    memcpy(p, b->view, (size_t)b->num * sizeof *b->view);
    LOOM_TRY(buf_unmap(b->m, b->views));
    b->stale = 0;
  }
  *out = (body_rows){.view = buf_maps_add(q, b->views, LOOM_READ),
                     .body = buf_maps_add(q, r->body, LOOM_READ),
                     .point = buf_maps_add(q, r->point, LOOM_READ),
                     .x = buf_maps_add(q, r->x, LOOM_READ),
                     .first = r->first,
                     .pair = r->pair,
                     .num_points = buf_count(r->x) / 3,
                     .stride = r->stride > 1 ? r->stride : 1};
  return q->status;
}

static loom_status rows_close(body_set *b, buf_maps *q)
{
  LOOM_TRY(buf_maps_end(q));
  for (int i = 0; b->mapped && i < b->num; ++i)
    if (data_of(b, i) != NULL) LOOM_TRY(buf_unmap(b->m, data_of(b, i)));
  return LOOM_OK;
}

/* ---- services ---- */

/* Whether a thread should take many points at once: on a CPU, as they fill its vector unit. */
static int has_lanes(const loom_exec *e)
{
#if defined(LK_HAVE_CUDA) && !defined(LK_SIMULATED)
  return e->backend == LOOM_CPU;
#else
  (void)e;
  return 1; /* a simulated device checks the same kernels */
#endif
}

/* Whether some body's distance takes many points at once. */
static int some_take_many(const body_set *b)
{
  int some = 0;
  for (int i = 0; i < b->num; ++i) some |= obst_takes_many(&b->view[i]);
  return some;
}

loom_status bodies_gap(body_set *b, const loom_exec *e, const loom_body_rows *r, double progress,
                       const loom_body_gap *out)
{
  const int slope = out->gradient != NULL || out->curvature != NULL;
  const int known = out->known_gap != NULL && out->gap != NULL && out->normal == NULL && !slope &&
                    r->body == NULL;
  buf_maps q = {.m = b->m, .e = e};
  body_rows rows;
  if (r->count == 0) return LOOM_OK;
  LOOM_TRY(rows_open(b, r, &q, &rows));
  const body_gap_args a = {.r = rows,
                           .known = {.x = buf_maps_add(&q, known ? out->known_x : NULL, LOOM_READ),
                                     .gap = buf_maps_add(&q, out->known_gap, LOOM_READ),
                                     .radius = buf_maps_add(&q, out->radius, LOOM_READ),
                                     .enough = (lk_real)out->enough},
                           .progress = (lk_real)progress,
                           .gap = buf_maps_add(&q, out->gap, LOOM_RDWR),
                           .normal = buf_maps_add(&q, out->normal, LOOM_RDWR),
                           .gradient = buf_maps_add(&q, out->gradient, LOOM_RDWR),
                           .curvature = buf_maps_add(&q, out->curvature, LOOM_RDWR)};
  if (!slope && !out->precise && has_lanes(e) && some_take_many(b)) {
    const body_lanes_args lanes = {.g = a, .count = r->count};
    (void)buf_maps_run(&q, &k_lanes, &lanes, (r->count + NEURAL_MANY - 1) / NEURAL_MANY, NULL);
    return rows_close(b, &q);
  }
  for (int k = 0; k < NUM_FAMILIES; ++k)
    if (b->has[k])
      (void)buf_maps_run(&q, slope ? &families[k].slope : &families[k].gap, &a, r->count, NULL);
  return rows_close(b, &q);
}

static body_impact_args impact_args(buf_maps *q, body_rows rows, const loom_body_path *path)
{
  return (body_impact_args){.r = rows,
                            .x1 = buf_maps_add(q, path->x1, LOOM_READ),
                            .radius = buf_maps_add(q, path->radius, LOOM_READ),
                            .floor = buf_maps_add(q, path->floor, LOOM_READ),
                            .tol = buf_maps_add(q, path->tol, LOOM_READ),
                            .s0 = (lk_real)path->progress0,
                            .s1 = (lk_real)path->progress1,
                            .max_iters = path->max_iters,
                            .toi = buf_maps_add(q, path->toi, LOOM_RDWR),
                            .gap = buf_maps_add(q, path->gap, LOOM_RDWR),
                            .normal = buf_maps_add(q, path->normal, LOOM_RDWR),
                            .point = buf_maps_add(q, path->point, LOOM_RDWR)};
}

loom_status bodies_impact(body_set *b, const loom_exec *e, const loom_body_rows *r,
                          const loom_body_path *path)
{
  buf_maps q = {.m = b->m, .e = e};
  body_rows rows;
  if (r->count == 0) return LOOM_OK;
  LOOM_TRY(rows_open(b, r, &q, &rows));
  const body_impact_args a = impact_args(&q, rows, path);
  for (int k = 0; k < NUM_FAMILIES; ++k)
    if (b->has[k]) (void)buf_maps_run(&q, &families[k].impact, &a, r->count, NULL);
  return rows_close(b, &q);
}

loom_status bodies_near(body_set *b, const loom_exec *e, const loom_body_rows *r, double progress,
                        const loom_body_near *out)
{
  buf_maps q = {.m = b->m, .e = e};
  body_rows rows;
  if (r->count == 0) return LOOM_OK;
  LOOM_TRY(rows_open(b, r, &q, &rows));
  const body_near_args a = {.r = rows,
                            .progress = (lk_real)progress,
                            .gap = buf_maps_add(&q, out->gap, LOOM_RDWR),
                            .weight = buf_maps_add(&q, out->weight, LOOM_RDWR),
                            .normal = buf_maps_add(&q, out->normal, LOOM_RDWR),
                            .gradient = buf_maps_add(&q, out->gradient, LOOM_RDWR),
                            .curvature = buf_maps_add(&q, out->curvature, LOOM_RDWR),
                            .flat = buf_maps_add(&q, out->flat, LOOM_RDWR)};
  (void)buf_maps_run(&q, &k_near, &a, r->count, NULL);
  return rows_close(b, &q);
}

loom_status bodies_near_impact(body_set *b, const loom_exec *e, const loom_body_rows *r,
                               const loom_body_path *path)
{
  buf_maps q = {.m = b->m, .e = e};
  body_rows rows;
  if (r->count == 0) return LOOM_OK;
  LOOM_TRY(rows_open(b, r, &q, &rows));
  const body_near_impact_args a = {.i = impact_args(&q, rows, path),
                                   .weight = buf_maps_add(&q, path->weight, LOOM_RDWR)};
  (void)buf_maps_run(&q, &k_near_impact, &a, r->count, NULL);
  return rows_close(b, &q);
}

loom_status bodies_carry(body_set *b, const loom_exec *e, const loom_body_rows *r, double progress0,
                         double progress1, loom_buf *out)
{
  buf_maps q = {.m = b->m, .e = e};
  body_rows rows;
  if (r->count == 0) return LOOM_OK;
  LOOM_TRY(rows_open(b, r, &q, &rows));
  const body_carry_args a = {.r = rows,
                             .s0 = (lk_real)progress0,
                             .s1 = (lk_real)progress1,
                             .to = buf_maps_add(&q, out, LOOM_RDWR)};
  if (b->has[RIGID]) (void)buf_maps_run(&q, &k_carry_rigid, &a, r->count, NULL);
  if (b->has[RIGID] < b->num) (void)buf_maps_run(&q, &k_carry_bent, &a, r->count, NULL);
  return rows_close(b, &q);
}

loom_status bodies_push(body_set *b, const loom_exec *e, const loom_body_rows *r, loom_buf *impulse,
                        loom_buf *mass)
{
  const int64_t chunks = (r->count + BODY_CHUNK - 1) / BODY_CHUNK;
  buf_maps q = {.m = b->m, .e = e};
  body_rows rows;
  if (b->movers == 0 || r->count == 0) return LOOM_OK;
  LOOM_TRY(buf_reset(b->m, b->part, chunks * b->movers * BODY_IMPULSE));
  LOOM_TRY(rows_open(b, r, &q, &rows));
  const body_push_args a = {.r = rows,
                            .impulse = buf_maps_add(&q, impulse, LOOM_READ),
                            .mass = buf_maps_add(&q, mass, LOOM_READ),
                            .mover = buf_maps_add(&q, b->mover, LOOM_READ),
                            .part = buf_maps_add(&q, b->part, LOOM_RDWR),
                            .count = r->count,
                            .movers = b->movers};
  const body_push_sum_args sum = {.part = a.part,
                                  .body_of = buf_maps_add(&q, b->body_of, LOOM_READ),
                                  .rows = buf_maps_add(&q, b->pushed, LOOM_RDWR),
                                  .chunks = chunks,
                                  .movers = b->movers};
  (void)buf_maps_run(&q, &k_push, &a, chunks, NULL);
  (void)buf_maps_run(&q, &k_push_sum, &sum, b->movers, NULL);
  return rows_close(b, &q);
}

loom_buf *bodies_pushed(const body_set *b) { return b->pushed; }

loom_status bodies_clear_pushes(body_set *b)
{
  return b->pushed != NULL ? buf_reset(b->m, b->pushed, buf_count(b->pushed)) : LOOM_OK;
}
