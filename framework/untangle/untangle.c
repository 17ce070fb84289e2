/* untangle.c - the passes: contours are made shorter until there are none, then gaps are opened. */
#include "untangle/untangle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mesh/mesh.h"

/* Found by trial on sheets pushed through each other (tests/unit/untangle): a quarter of the step
 * takes twice the passes and leaves them nearer their shape, more than twice of it tears at it; so
 * much of the neighbours' moves halves how far single vertices go. */
static const double step_share = 0.02; /* of the mean edge, in a pass */
static const double smoothing = 0.3;

typedef struct work {
  topo edges;
  untangle_move move;
  isect_pair *pairs; /* [room] */
  int64_t room;
  double *sum;   /* [n][3] m, of the neighbours */
  double *count; /* [n] of them */
  double *bound; /* [n + nb] m */
  double *start; /* [n][3] m */
} work;

static void close_work(work *w)
{
  topo_free(&w->edges);
  free(w->move.d);
  free(w->move.weight);
  free(w->pairs);
  free(w->sum);
  free(w->count);
  free(w->bound);
  free(w->start);
}

static loom_status open_work(loom_err *err, const untangle_scene *s, work *w)
{
  const int64_t all = s->n + s->nb;
  LOOM_TRY(topo_build(err, s->tris, s->nt + s->ntb, all, &w->edges));
  LOOM_TRY(mesh_alloc(err, all, 3 * sizeof(double), &w->move.d));
  LOOM_TRY(mesh_alloc(err, all, sizeof(double), &w->move.weight));
  LOOM_TRY(mesh_alloc(err, s->n, 3 * sizeof(double), &w->sum));
  LOOM_TRY(mesh_alloc(err, s->n, sizeof(double), &w->count));
  LOOM_TRY(mesh_alloc(err, all, sizeof(double), &w->bound));
  LOOM_TRY(mesh_alloc(err, s->n, 3 * sizeof(double), &w->start));
  memcpy(w->start, s->x, 3 * sizeof(double) * (size_t)s->n);
  w->room = 4096;
  return mesh_alloc(err, w->room, sizeof *w->pairs, &w->pairs);
}

static loom_status find_contour_pairs(loom_err *err, const untangle_scene *s, work *w,
                                      int64_t *total)
{
  const isect_surface m = {
      .x = s->x, .n = s->n, .tris = s->tris, .nt = s->nt, .left_out = s->left_out};
  for (;;) {
    LOOM_TRY(isect_scene(err, &m, s->bodies, s->num_bodies, s->threads, w->pairs, w->room, total));
    if (*total <= w->room) return LOOM_OK;
    free(w->pairs);
    w->room = *total + *total / 2;
    LOOM_TRY(mesh_alloc(err, w->room, sizeof *w->pairs, &w->pairs));
  }
}

/* ---- moves ---- */

static void clear_moves(const untangle_scene *s, work *w)
{
  memset(w->move.d, 0, 3 * sizeof(double) * (size_t)(s->n + s->nb));
  memset(w->move.weight, 0, sizeof(double) * (size_t)(s->n + s->nb));
}

/* From sums to means; vertices that do not move get 0. */
static void average_moves(const untangle_scene *s, work *w)
{
  for (int64_t v = 0; v < s->n; ++v) {
    const int moves = w->move.weight[v] > 0 && (s->held == NULL || !s->held[v]);
    for (int c = 0; c < 3; ++c)
      w->move.d[3 * v + c] = moves ? w->move.d[3 * v + c] / w->move.weight[v] : 0;
  }
}

/* Every vertex takes a part of its neighbours' moves. */
static void smooth_moves(const untangle_scene *s, work *w)
{
  double *const d = w->move.d;
  memset(w->sum, 0, 3 * sizeof *w->sum * (size_t)s->n);
  memset(w->count, 0, sizeof *w->count * (size_t)s->n);
  for (int64_t e = 0; e < w->edges.num_edges; ++e) {
    const int64_t a = w->edges.edges[2 * e], b = w->edges.edges[2 * e + 1];
    if (a >= s->n || b >= s->n) continue; /* of a body */
    for (int c = 0; c < 3; ++c) {
      w->sum[3 * a + c] += d[3 * b + c];
      w->sum[3 * b + c] += d[3 * a + c];
    }
    w->count[a] += 1;
    w->count[b] += 1;
  }
  for (int64_t v = 0; v < s->n; ++v) {
    if (!(w->count[v] > 0) || (s->held != NULL && s->held[v])) continue;
    for (int c = 0; c < 3; ++c)
      d[3 * v + c] = (1 - smoothing) * d[3 * v + c] + smoothing * w->sum[3 * v + c] / w->count[v];
  }
}

/* bound [n] m, NULL: none */
static void apply_moves(const untangle_scene *s, const work *w, const double *bound)
{
  for (int64_t v = 0; v < s->n; ++v) {
    const double *const d = w->move.d + 3 * v;
    const double len = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    const double share = bound != NULL && len > bound[v] ? bound[v] / len : 1;
    for (int c = 0; c < 3; ++c) s->x[3 * v + c] += share * d[c];
  }
}

/* ---- passes ---- */

static double mean_edge(const untangle_scene *s, const topo *t)
{
  double sum = 0;
  int64_t num = 0;
  for (int64_t e = 0; e < t->num_edges; ++e) {
    const int32_t *const v = t->edges + 2 * e;
    double d2 = 0;
    if (v[0] >= s->n) continue;
    for (int c = 0; c < 3; ++c)
      d2 += pow(s->x[3 * (int64_t)v[0] + c] - s->x[3 * (int64_t)v[1] + c], 2);
    sum += sqrt(d2);
    ++num;
  }
  return num > 0 ? sum / (double)num : 0;
}

static loom_status shorten_contours(loom_err *err, const untangle_scene *s, work *w,
                                    untangle_report *out)
{
  const double edge = mean_edge(s, &w->edges), step = step_share * edge;
  int64_t moved = 0;
  LOOM_TRY(find_contour_pairs(err, s, w, &out->after));
  out->before = out->after;
  if (out->before > 0) LOOM_TRY(layers_part(err, s, edge, &moved));
  if (moved > 0) LOOM_TRY(find_contour_pairs(err, s, w, &out->after));
  for (; out->after > 0 && out->passes < s->max_passes; ++out->passes) {
    clear_moves(s, w);
    contour_moves(s, &w->edges, w->pairs, out->after, step, &w->move);
    average_moves(s, w);
    smooth_moves(s, w);
    apply_moves(s, w, NULL);
    LOOM_TRY(find_contour_pairs(err, s, w, &out->after));
  }
  return LOOM_OK;
}

static loom_status open_gaps(loom_err *err, const untangle_scene *s, work *w, untangle_report *out)
{
  for (;; ++out->gap_passes) {
    clear_moves(s, w);
    LOOM_TRY(gap_moves(err, s, &w->edges, &w->move, w->bound, &out->near));
    if (out->near == 0 || out->gap_passes == s->max_passes) break;
    average_moves(s, w);
    apply_moves(s, w, w->bound);
  }
  return find_contour_pairs(err, s, w, &out->after); /* exact arithmetic has the last word */
}

static void measure_moves(const untangle_scene *s, const work *w, untangle_report *out)
{
  for (int64_t v = 0; v < s->n; ++v) {
    double d2 = 0;
    for (int c = 0; c < 3; ++c) d2 += pow(s->x[3 * v + c] - w->start[3 * v + c], 2);
    out->moved += d2 > 0;
    out->farthest = fmax(out->farthest, sqrt(d2));
  }
}

loom_status untangle_meshes(loom_err *err, const untangle_scene *s, untangle_report *out)
{
  work w = {0};
  *out = (untangle_report){0};
  loom_status st = open_work(err, s, &w);
  if (st == LOOM_OK) st = shorten_contours(err, s, &w, out);
  if (st == LOOM_OK && out->after == 0) st = open_gaps(err, s, &w, out);
  if (st == LOOM_OK) measure_moves(s, &w, out);
  close_work(&w);
  return st;
}
