/* entry_search.c - branch and bound on the signed distance f of one body, see entry_search.h.
 *
 * A cell is a part of the edge or triangle during a part of its way.  With c its centre, n the
 * gradient of f there, and all its points p within R of c, f is bounded from below by
 *   f(c) - R                               gradients are unit vectors,
 *   f(c) + min n.(p - c) - k R^2 / 2       no second derivative is below -k:
 * k = 0 for convex shapes, and 1 / (distance from the axis) for a torus.  Both minima are taken
 * over the cell's corners, whose convex hull holds it, but for `bend` where the body turns: a way
 * with accelerations up to K leaves its chord over a share d of it by at most K d^2 / 8. */
#include "bodies/entry_search.h"

#include <math.h>
#include <string.h>

#include "bodies/entries.h"

enum {
  MAX_CELLS = 128, /* pending; a cell is halved some 20 times in each of its three directions */
  MAX_LOOKS = 1000000,
  MAX_DEEPER = 2000 /* looks after the first point inside: the depth, then, is a little short */
};
static const double depth_accuracy = 0.02; /* of the depth */

typedef struct cell {
  double w[3][3]; /* [corner]: weights of the element's corners */
  double t[2];    /* share of the way at its start and end */
} cell;

typedef struct cell_view {
  double f, least; /* m, distance of the centre, and a lower bound of all distances */
  double radius;   /* m */
  int longest;     /* side to halve (from corner k to the next), 3: the time */
} cell_view;

/* ---- the element ---- */

static double point_distance(const double *a, const double *b)
{
  double s = 0.0;
  for (int c = 0; c < 3; ++c) s += (a[c] - b[c]) * (a[c] - b[c]);
  return sqrt(s);
}

/* p = R^T (x - t) */
static void to_body(const lk_real *R, const lk_real *t, const double *x, double *p)
{
  double d[3];
  for (int c = 0; c < 3; ++c) d[c] = x[c] - (double)t[c];
  for (int c = 0; c < 3; ++c)
    p[c] = (double)R[c] * d[0] + (double)R[3 + c] * d[1] + (double)R[6 + c] * d[2];
}

static double body_distance_at(const obst_view *o, const double *p, double *n)
{
  lk_real q[3], m[3];
  for (int c = 0; c < 3; ++c) q[c] = (lk_real)p[c];
  const double f = (double)obst_distance_body(o, q, m);
  for (int c = 0; c < 3; ++c) n[c] = (double)m[c];
  return f;
}

/* As in obst_impact_of(): |p''| <= 2 w c + w^2 reach, for a body that turns by w while a corner
 * moves by c against its origin. */
static double bound_path_bend(const entry_element *e)
{
  const obst_view *const o = e->o;
  const double w = (double)o->angle, zero[3] = {0.0, 0.0, 0.0};
  double fastest = 0.0, reach = 0.0;
  for (int k = 0; k < e->corners; ++k) {
    double q[2][3];
    for (int c = 0; c < 3; ++c) {
      q[0][c] = e->x[0][k][c] - (double)o->t0[c];
      q[1][c] = e->x[1][k][c] - (double)o->t1[c];
    }
    fastest = fmax(fastest, point_distance(q[0], q[1]));
    reach = fmax(reach, fmax(point_distance(q[0], zero), point_distance(q[1], zero)));
  }
  return (2.0 * w * fastest + w * w * reach) / 8.0;
}

void entry_element_set(entry_element *e, const obst_view *o, const double *x_start, const double *x,
                       const int32_t *v, int corners)
{
  const double *const ends[2] = {x_start, x};
  double scale = 0.0;
  *e = (entry_element){.o = o, .corners = corners, .moves = x_start != NULL};
  for (int end = x_start ? 0 : 1; end < 2; ++end)
    for (int k = 0; k < corners; ++k) {
      memcpy(e->x[end][k], ends[end] + 3 * (int64_t)v[k], sizeof e->x[end][k]);
      to_body(end == 0 ? o->R0 : o->R1, end == 0 ? o->t0 : o->t1, e->x[end][k], e->p[end][k]);
      for (int c = 0; c < 3; ++c)
        scale = fmax(scale, fmax(fabs(e->x[end][k][c]), fabs(e->p[end][k][c])));
    }
  e->turns = e->moves && o->moves && o->angle > 0;
  e->bend = e->turns ? bound_path_bend(e) : 0.0;
  e->rounding = ENTRY_ROUNDING * scale;
}

/* Where the point of these weights is at share t of the way, body frame. */
static void point_at(const entry_element *e, const double *w, double t, double *p)
{
  double at[2][3] = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}}, x[3];
  for (int end = e->moves ? 0 : 1; end < 2; ++end)
    for (int k = 0; k < e->corners; ++k)
      for (int c = 0; c < 3; ++c)
        at[end][c] += w[k] * (e->turns ? e->x[end][k][c] : e->p[end][k][c]);
  for (int c = 0; c < 3; ++c) x[c] = e->moves ? at[0][c] + t * (at[1][c] - at[0][c]) : at[1][c];
  if (!e->turns) {
    memcpy(p, x, sizeof x);
    return;
  }
  obst_pose P;
  obst_pose_at(e->o, (lk_real)t, &P);
  to_body(P.R, P.t, x, p);
}

/* ---- cells ---- */

/* k of the file's first comment at points within `radius` of c; INFINITY: not known. */
static double bent_inwards(const obst_view *o, const double *c, double radius)
{
  if (o->convex) return 0.0;
  if (o->shape != BODY_SHAPE_torus) return INFINITY;
  const double from_axis = sqrt(c[0] * c[0] + c[1] * c[1]) - radius;
  return from_axis > 0.0 ? 1.0 / from_axis : INFINITY;
}

static void view_cell(const entry_element *e, const cell *a, double *time, cell_view *v)
{
  double w[3] = {0.0, 0.0, 0.0}, q[2][3][3], centre[3], n[3], slope = INFINITY, longest = -1.0;
  const double span = a->t[1] - a->t[0], drift = e->bend * span * span;
  for (int k = 0; k < e->corners; ++k)
    for (int i = 0; i < 3; ++i) w[i] += a->w[k][i] / e->corners;
  *time = e->moves ? 0.5 * (a->t[0] + a->t[1]) : 1.0;
  point_at(e, w, *time, centre);
  v->f = body_distance_at(e->o, centre, n);
  v->radius = drift;
  v->longest = 0;
  for (int end = e->moves ? 0 : 1; end < 2; ++end)
    for (int k = 0; k < e->corners; ++k) {
      double along = 0.0;
      point_at(e, a->w[k], a->t[end], q[end][k]);
      for (int c = 0; c < 3; ++c) along += n[c] * (q[end][k][c] - centre[c]);
      slope = fmin(slope, along);
      v->radius = fmax(v->radius, point_distance(q[end][k], centre) + drift);
    }
  for (int end = e->moves ? 0 : 1; end < 2; ++end)
    for (int k = 0; k < (e->corners == 3 ? 3 : 1); ++k) {
      const double side = point_distance(q[end][k], q[end][(k + 1) % e->corners]);
      if (side > longest) longest = side, v->longest = k;
    }
  for (int k = 0; k < e->corners && e->moves; ++k) {
    const double way = point_distance(q[0][k], q[1][k]) + drift;
    if (way > longest) longest = way, v->longest = 3;
  }
  const double bent = bent_inwards(e->o, centre, v->radius);
  v->least = v->f - v->radius;
  if (bent < INFINITY)
    v->least = fmax(v->least, v->f + slope - drift - 0.5 * bent * v->radius * v->radius);
}

static void split_cell(const entry_element *e, const cell *a, int side, cell out[2])
{
  out[0] = out[1] = *a;
  if (side == 3) {
    out[0].t[1] = out[1].t[0] = 0.5 * (a->t[0] + a->t[1]);
    return;
  }
  const int next = (side + 1) % e->corners;
  for (int i = 0; i < 3; ++i)
    out[0].w[next][i] = out[1].w[side][i] = 0.5 * (a->w[side][i] + a->w[next][i]);
}

static cell create_root_cell(const entry_element *e)
{
  return (cell){.w = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}},
                .t = {e->moves ? 0.0 : 1.0, 1.0}};
}

/* ---- the search ---- */

static void update_deepest(entry_found *best, double f, double time)
{
  if (!(-f > best->depth)) return;
  best->depth = -f;
  best->time = time;
}

/* Distances below this one are worth a search: with the present best they say "inside", or deeper
 * by more than the accuracy. */
static double search_threshold(const entry_element *e, const entry_found *best)
{
  if (!(best->depth > e->rounding)) return -e->rounding;
  return -best->depth - fmax(e->rounding, depth_accuracy * best->depth);
}

static void test_corner_depths(const entry_element *e, entry_found *best)
{
  for (int end = e->moves ? 0 : 1; end < 2; ++end)
    for (int k = 0; k < e->corners; ++k) {
      double n[3];
      update_deepest(best, body_distance_at(e->o, e->p[end][k], n), (double)end);
    }
}

int entry_outside(const entry_element *e)
{
  const cell all = create_root_cell(e);
  cell_view v;
  double time;
  view_cell(e, &all, &time, &v);
  return v.least >= -e->rounding;
}

typedef struct pending {
  cell part;
  cell_view v;
} pending;

/* Puts a cell on the stack, if it may improve on the best entry so far. */
static int push_cell(const entry_element *e, const cell *a, entry_found *best, pending *to)
{
  double time;
  to->part = *a;
  view_cell(e, a, &time, &to->v);
  update_deepest(best, to->v.f, time);
  return to->v.least < search_threshold(e, best) && to->v.radius >= e->rounding / 8.0;
}

/* The half with the deeper centre comes off the stack first. */
static int push_halves(const entry_element *e, const pending *from, entry_found *best,
                       pending *stack)
{
  cell half[2];
  int num = 0;
  split_cell(e, &from->part, from->v.longest, half);
  for (int k = 0; k < 2; ++k) num += push_cell(e, &half[k], best, stack + num);
  if (num == 2 && stack[0].v.f < stack[1].v.f) {
    const pending deeper = stack[0];
    stack[0] = stack[1];
    stack[1] = deeper;
  }
  return num;
}

int entry_search(const entry_element *e, entry_found *out)
{
  pending stack[MAX_CELLS];
  const cell all = create_root_cell(e);
  int top, left = MAX_LOOKS;
  *out = (entry_found){.depth = -INFINITY, .time = 1.0};
  test_corner_depths(e, out);
  top = push_cell(e, &all, out, stack);
  while (top > 0 && --left > 0 && top + 2 <= MAX_CELLS) {
    const pending a = stack[--top];
    if (out->depth > e->rounding && left > MAX_DEEPER) left = MAX_DEEPER;
    if (a.v.least < search_threshold(e, out)) top += push_halves(e, &a, out, stack + top);
  }
  out->unsure = top > 0 && !(out->depth > e->rounding);
  return out->unsure || out->depth > e->rounding;
}

int entry_ball_outside(const obst_view *o, int moves, const double centre[3], double radius)
{
  double p[3], n[3], from[3], to[3], reach = radius;
  to_body(o->R1, o->t1, centre, p);
  for (int c = 0; c < 3; ++c) from[c] = (double)o->t0[c], to[c] = (double)o->t1[c];
  if (moves && o->moves)
    reach += point_distance(from, to) + (double)o->angle * (point_distance(centre, to) + radius);
  return body_distance_at(o, p, n) > reach;
}
