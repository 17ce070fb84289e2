/* islands.c - see islands.h. */
#include "run/objects/islands.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "run/objects/islands.kern.h"
#include "run/run_state.h"

static const lk_entry k_box = LK_ENTRY_MOVES(run_island_box, 3 * OBJECTS_SEGMENT, 2);
static const lk_entry k_top = LK_ENTRY_MOVES(run_island_top, 27, 2);
static const lk_entry k_sum = LK_ENTRY_MOVES(run_object_sum, OBJECTS_SEGMENT, 2);
static const lk_entry k_dot = LK_ENTRY_MOVES(run_island_dot, 6 * OBJECTS_SEGMENT, 2);
static const lk_entry k_square =
    LK_ENTRY_MOVES(run_object_residual, 4 * OBJECTS_SEGMENT, OBJECTS_SEGMENT);
static const lk_entry k_blend = LK_ENTRY_MOVES(run_island_blend, 10, 1);
static const lk_entry k_add = LK_ENTRY_MOVES(run_island_add, 10, 1);
static const lk_entry k_step = LK_ENTRY_MOVES(run_island_step, 10, 1);
static const lk_entry k_beyond = LK_ENTRY_MOVES(run_island_beyond, 1, 0);

static int is_single_island(const run *r) { return r->islands.shares == NULL; }

/* ---- life ---- */

/* Objects of one element are tied: each takes the first object of the others. */
static void tie_element_objects(int32_t *tied, const int32_t *object, const int32_t *verts,
                                int32_t arity, int *again)
{
  int32_t first = INT32_MAX;
  for (int32_t c = 0; c < arity; ++c)
    if (verts[c] >= 0 && tied[object[verts[c]]] < first) first = tied[object[verts[c]]];
  for (int32_t c = 0; c < arity; ++c)
    if (verts[c] >= 0 && tied[object[verts[c]]] > first) {
      tied[object[verts[c]]] = first;
      *again = 1;
    }
}

static loom_status find_ties(run *r)
{
  const loom_scene *const sc = &r->scene->pub;
  for (int again = 1; again;) {
    again = 0;
    for (int b = 0; b < sc->num_blocks; ++b) {
      buf_maps q = {.m = r->m}; /* on the host */
      const int32_t *const object = buf_maps_add(&q, sc->object, LOOM_READ);
      const int32_t *const verts = buf_maps_add(&q, sc->blocks[b].verts, LOOM_READ);
      const int32_t arity = sc->blocks[b].arity;
      for (int32_t e = 0; q.status == LOOM_OK && e < sc->blocks[b].num_elems; ++e)
        tie_element_objects(r->islands.tied, object, verts + (int64_t)arity * e, arity, &again);
      LOOM_TRY(buf_maps_end(&q));
    }
  }
  return LOOM_OK;
}

static loom_status find_radius(run *r)
{
  buf_maps q = {.m = r->m};
  const loom_real *const radius = buf_maps_add(&q, r->scene->pub.radius, LOOM_READ);
  for (int32_t i = 0; q.status == LOOM_OK && i < r->scene->pub.num_verts; ++i)
    r->islands.radius = fmax(r->islands.radius, (double)radius[i]);
  return buf_maps_end(&q);
}

loom_status islands_new(run *r)
{
  run_islands *const s = &r->islands;
  const int32_t num = r->objects.num;
  s->num = 1;
  if (num < 2) return LOOM_OK;
  s->of = calloc((size_t)num, sizeof *s->of);
  s->tied = calloc((size_t)num, sizeof *s->tied);
  s->box = calloc((size_t)num, sizeof *s->box);
  s->share = calloc((size_t)num, sizeof *s->share);
  s->only = calloc((size_t)num, sizeof *s->only);
  s->alpha = calloc((size_t)num, sizeof *s->alpha);
  s->toi = calloc((size_t)num, sizeof *s->toi);
  s->settled = calloc((size_t)num, sizeof *s->settled);
  s->held = calloc((size_t)num, sizeof *s->held);
  if (!s->held || !s->settled || !s->of || !s->tied || !s->box || !s->share || !s->only ||
      !s->alpha || !s->toi)
    return err_set(r->err, LOOM_E_NOMEM, "out of memory");
  for (int32_t o = 0; o < num; ++o) s->tied[o] = o;
  LOOM_TRY(find_ties(r));
  LOOM_TRY(find_radius(r));
  LOOM_TRY(buf_new(r->m, "core", "shares", LOOM_REAL, num, &s->shares));
  LOOM_TRY(buf_new(r->m, "core", "islands", LOOM_I32, num, &s->island));
  return buf_new(r->m, "core", "objects beyond tolerances", LOOM_REAL, ISLANDS_MOST, &s->beyond);
}

void islands_free(run *r)
{
  run_islands *const s = &r->islands;
  free(s->of);
  free(s->tied);
  free(s->box);
  free(s->share);
  free(s->only);
  free(s->alpha);
  free(s->toi);
  free(s->settled);
  free(s->held);
}

/* ---- sums of objects ---- */

typedef struct sums_of { /* kernels over segments, and up from there */
  const lk_entry *k, *up;
  loom_buf *x, *y, *g;
  int32_t width;
} sums_of;

/* out [objects][width] */
static loom_status sum_over_objects(run *r, const sums_of *of, double *out)
{
  const int32_t num = r->objects.num;
  const int64_t top = (int64_t)of->width * r->objects.level[r->objects.num_levels - 1];
  buf_maps q = {.m = r->m, .e = &r->exec}, at_host = {.m = r->m};
  object_rows_args a = objects_rows(r, &q);
  a.x = buf_maps_add(&q, of->x, LOOM_READ);
  a.y = buf_maps_add(&q, of->y, LOOM_READ);
  a.g = buf_maps_add(&q, of->g, LOOM_READ);
  const lk_real *unused;
  const loom_status s = objects_reduce(r, &q, of->k, of->up, &a, of->width, &unused);
  LOOM_TRY(buf_maps_end(&q));
  LOOM_TRY(s);
  const loom_real *const v = buf_maps_add(&at_host, r->objects.sums, LOOM_READ);
  for (int64_t i = 0; at_host.status == LOOM_OK && i < (int64_t)of->width * num; ++i)
    out[i] = (double)v[top + i];
  return buf_maps_end(&at_host);
}

/* out [num]: the sums over the objects of each island. */
static loom_status sums_of_islands(run *r, const sums_of *of, double *out)
{
  const run_islands *const i = &r->islands;
  LOOM_TRY(sum_over_objects(r, of, r->islands.only));
  for (int32_t k = 0; k < i->num; ++k) out[k] = 0.0;
  for (int32_t o = 0; o < r->objects.num; ++o) out[i->of[o]] += i->only[o];
  return LOOM_OK;
}

loom_status islands_dots(run *r, loom_buf *a, loom_buf *b, double *out)
{
  return sums_of_islands(r, &(sums_of){.k = &k_dot, .up = &k_sum, .x = a, .y = b, .width = 1}, out);
}

loom_status islands_squares(run *r, loom_buf *g, double *out)
{
  return sums_of_islands(r, &(sums_of){.k = &k_square, .up = &k_sum, .g = g, .width = 1}, out);
}

/* ---- islands ---- */

/* Any numbers of islands, at least 0 -> 0, 1, ... in the order of their first objects. */
static void renumber_islands(run_islands *s, int32_t num)
{
  enum { DONE = 1 << 30 }; /* marks new numbers */
  s->num = 0;
  for (int32_t o = 0; o < num; ++o) {
    const int32_t old = s->of[o], new = s->num < ISLANDS_MOST ? s->num : ISLANDS_MOST - 1;
    if (old >= DONE) continue;
    for (int32_t p = o; p < num; ++p)
      if (s->of[p] == old) s->of[p] = DONE + new;
    s->num = new + 1;
  }
  for (int32_t o = 0; o < num; ++o) s->of[o] -= DONE;
}

void islands_begin_step(run *r)
{
  run_islands *const s = &r->islands;
  if (is_single_island(r)) return;
  memcpy(s->of, s->tied, (size_t)r->objects.num * sizeof *s->of);
  renumber_islands(s, r->objects.num);
  for (int32_t o = 0; o < r->objects.num; ++o)
    for (int c = 0; c < ISLAND_BOX; ++c) s->box[o][c] = -INFINITY;
  islands_unsettle(r);
}

/* In whole pm, as checkpoints keep it. */
void islands_reach(run *r, double margin)
{
  const double most = 1e3; /* m: a model may ask for all pairs */
  const int64_t pm = (int64_t)ceil(1e12 * fmin(margin, most) - 1e-3);
  if (pm > r->islands.reach_pm) r->islands.reach_pm = pm;
}

int64_t islands_reach_pm(const run *r) { return r->islands.reach_pm; }

/* A spline leaves the box of its points by at most a third of a segment: Bezier points lie at
 * (q_2 - q_0) / 6 from q_1. */
static double beyond_box(const run *r, int32_t o)
{
  const double *const b = r->islands.box[o];
  double most = 0.0;
  if (r->scene->pub.num_yarns == 0) return 0.0;
  for (int c = 0; c < 3; ++c) most = fmax(most, b[c] + b[c + 3]);
  return most / 6.0;
}

static int come_close(const run *r, int32_t i, int32_t j)
{
  const run_islands *const s = &r->islands;
  const double rounded = sizeof(loom_real) == sizeof(double) ? 1e-12 : 1e-5;
  const double gap = 1e-12 * (double)s->reach_pm + 2.0 * s->radius + r->set.filter.min_gap +
                     beyond_box(r, i) + beyond_box(r, j);
  for (int c = 0; c < 3; ++c) {
    const double *const a = s->box[i], *const b = s->box[j];
    const double size = fmax(fmax(fabs(a[c]), fabs(a[c + 3])), fmax(fabs(b[c]), fabs(b[c + 3])));
    const double between = fmax(-a[c + 3] - b[c], -b[c + 3] - a[c]);
    if (between > gap + rounded * size) return 0;
  }
  return 1;
}

static void merge_close_islands(run *r)
{
  run_islands *const s = &r->islands;
  const int32_t num = r->objects.num;
  for (int32_t i = 0; i < num; ++i)
    for (int32_t j = 0; j < i; ++j) {
      const int32_t from = s->of[i], to = s->of[j];
      if (from == to || !come_close(r, i, j)) continue;
      for (int32_t o = 0; o < num; ++o)
        if (s->of[o] == from) s->of[o] = to;
    }
  renumber_islands(s, num);
}

static loom_status grow_island_boxes(run *r, loom_buf *x)
{
  run_islands *const s = &r->islands;
  const int32_t num = r->objects.num;
  double *const box = calloc((size_t)num * ISLAND_BOX, sizeof *box);
  if (box == NULL) return err_set(r->err, LOOM_E_NOMEM, "out of memory");
  const loom_status got =
      sum_over_objects(r, &(sums_of){.k = &k_box, .up = &k_top, .x = x, .width = ISLAND_BOX}, box);
  for (int32_t o = 0; got == LOOM_OK && o < num; ++o)
    for (int c = 0; c < ISLAND_BOX; ++c) s->box[o][c] = fmax(s->box[o][c], box[ISLAND_BOX * o + c]);
  free(box);
  return got;
}

/* The first call of a step adds its start. */
loom_status islands_grow(run *r, loom_buf *x)
{
  run_islands *const s = &r->islands;
  if (is_single_island(r) || s->num == 1) return LOOM_OK;
  if (!(s->box[0][0] > -INFINITY)) LOOM_TRY(grow_island_boxes(r, r->st.x_start));
  if (x != r->st.x_start) LOOM_TRY(grow_island_boxes(r, x));
  merge_close_islands(r);
  return LOOM_OK;
}

/* ---- shares ---- */

void islands_share(run *r, int32_t k, double share)
{
  if (is_single_island(r)) return;
  for (int32_t o = 0; o < r->objects.num; ++o)
    if (k < 0 || r->islands.of[o] == k) r->islands.share[o] = share;
}

void islands_begin_trial(run *r)
{
  if (is_single_island(r)) return;
  for (int32_t o = 0; o < r->objects.num; ++o)
    r->islands.share[o] = r->islands.alpha[o] = r->islands.toi[o] = 1.0;
}

void islands_take(run *r, int alpha)
{
  double *const to = alpha ? r->islands.alpha : r->islands.toi;
  for (int32_t o = 0; !is_single_island(r) && o < r->objects.num; ++o) to[o] *= r->islands.share[o];
}

void islands_ways(run *r)
{
  run_islands *const s = &r->islands;
  for (int32_t k = 0; k < s->num; ++k) s->alpha_of[k] = s->toi_of[k] = 1.0;
  for (int32_t o = 0; o < r->objects.num; ++o) {
    const int32_t k = s->of[o];
    s->alpha_of[k] = fmin(s->alpha_of[k], s->alpha[o]);
    s->toi_of[k] = fmin(s->toi_of[k], s->toi[o]);
  }
}

void islands_let_go(run *r)
{
  for (int32_t o = 0; !is_single_island(r) && o < r->objects.num; ++o) r->islands.held[o] = 0;
}

void islands_unsettle(run *r)
{
  islands_let_go(r);
  for (int32_t o = 0; !is_single_island(r) && o < r->objects.num; ++o) r->islands.settled[o] = 0;
}

int islands_hold(const run *r, int32_t k)
{
  int all = !is_single_island(r) && r->islands.by_solver;
  for (int32_t o = 0; all && o < r->objects.num; ++o)
    if (r->islands.of[o] == k) all = r->islands.held[o];
  return all;
}

void islands_settled(run *r)
{
  run_islands *const s = &r->islands;
  for (int32_t k = 0; k < s->num; ++k) s->settled_of[k] = 1;
  for (int32_t o = 0; o < r->objects.num; ++o) s->settled_of[s->of[o]] &= s->settled[o];
}

/* v: the counts */
static loom_status take_missed(run *r, const double *v, const results_use *u)
{
  run_islands *const s = &r->islands;
  for (int64_t k = 0; k < u->end; ++k) s->missed[k] = (int)v[k];
  return LOOM_OK;
}

loom_status islands_test(run *r, loom_buf *g)
{
  run_islands *const s = &r->islands;
  const kernel_work kernels = r->work.kernels; /* measuring is charged to no method */
  buf_maps at_host = {.m = r->m}, q = {.m = r->m, .e = &r->exec};
  LOOM_TRY(objects_ratios(r, g));
  int32_t *const to = buf_maps_add(&at_host, s->island, LOOM_WRITE);
  for (int32_t o = 0; at_host.status == LOOM_OK && o < r->objects.num; ++o) to[o] = s->of[o];
  LOOM_TRY(buf_maps_end(&at_host));
  const island_beyond_args a = {.ratio = buf_maps_add(&q, r->objects.ratio, LOOM_READ),
                                .island = buf_maps_add(&q, s->island, LOOM_READ),
                                .num = r->objects.num,
                                .out = buf_maps_add(&q, s->beyond, LOOM_WRITE)};
  LOOM_TRY(buf_maps_launch(&q, &k_beyond, &a, s->num, NULL));
  r->work.kernels = kernels;
  return results_later(r, &r->exec, a.out, s->num,
                       &(results_use){.then = take_missed, .end = s->num});
}

void islands_settle(run *r)
{
  run_islands *const s = &r->islands;
  for (int32_t o = 0; o < r->objects.num; ++o) {
    s->held[o] = s->missed[s->of[o]] == 0;
    s->settled[o] |= s->held[o];
  }
}

double islands_share_of(const run *r, int32_t k)
{
  if (is_single_island(r)) return 1.0;
  for (int32_t o = 0; o < r->objects.num; ++o)
    if (r->islands.of[o] == k) return r->islands.share[o];
  return 1.0;
}

const double *islands_only(run *r, int32_t k, double share)
{
  run_islands *const s = &r->islands;
  for (int32_t o = 0; o < r->objects.num; ++o) s->only[o] = s->of[o] == k ? share : 0.0;
  return s->only;
}

/* One of the kernels over rows of a and b; shares of objects. */
static loom_status launch_island_kernel(run *r, const lk_entry *k, loom_buf *a, loom_buf *b,
                                        const double *share, loom_buf *out)
{
  buf_maps at_host = {.m = r->m}, q = {.m = r->m, .e = &r->exec};
  loom_real *const to = buf_maps_add(&at_host, r->islands.shares, LOOM_WRITE);
  for (int32_t o = 0; at_host.status == LOOM_OK && o < r->objects.num; ++o)
    to[o] = (loom_real)share[o];
  LOOM_TRY(buf_maps_end(&at_host));
  const island_way_args args = {.a = buf_maps_add(&q, a, LOOM_READ),
                                .b = buf_maps_add(&q, b, LOOM_READ),
                                .share = buf_maps_add(&q, r->islands.shares, LOOM_READ),
                                .object = buf_maps_add(&q, r->scene->pub.object, LOOM_READ),
                                .out = buf_maps_add(&q, out, a != NULL ? LOOM_WRITE : LOOM_RDWR)};
  return buf_maps_launch(&q, k, &args, r->scene->pub.num_verts, NULL);
}

loom_status islands_blend(run *r, loom_buf *a, loom_buf *b, const double *share, loom_buf *out)
{
  return launch_island_kernel(r, &k_blend, a, b, share, out);
}

loom_status islands_step(run *r, loom_buf *a, loom_buf *d, const double *share, loom_buf *out)
{
  return launch_island_kernel(r, &k_step, a, d, share, out);
}

loom_status islands_axpby(run *r, const double *a, loom_buf *x, double b, loom_buf *y)
{
  run_islands *const s = &r->islands;
  for (int32_t o = 0; o < r->objects.num; ++o) s->only[o] = a[s->of[o]];
  LOOM_TRY(b == 0.0 ? la_fill(r->m, &r->exec, y, 0.0) : la_axpby(r->m, &r->exec, 0.0, x, b, y));
  return launch_island_kernel(r, &k_add, NULL, x, s->only, y);
}

loom_status islands_hold_back(run *r, loom_buf *d, loom_buf *room)
{
  double share[ISLANDS_MOST];
  int any = 0;
  if (r->islands.num == 1) return LOOM_OK;
  for (int32_t k = 0; k < r->islands.num; ++k) {
    const int held = islands_hold(r, k);
    share[k] = held ? 0.0 : 1.0;
    any |= held;
  }
  if (!any) return LOOM_OK;
  LOOM_TRY(islands_axpby(r, share, d, 0.0, room));
  return buf_copy(r->m, &r->exec, d, room);
}
