/* start_untangle.c - start = untangle: moves apart objects that intersect before the first step. */
#include "scene/starts/start_untangle.h"

#include <stdlib.h>
#include <string.h>

#include "scene/base/exclusions.h"
#include "scene/starts/starts.h"
#include "untangle/untangle.h"

enum { PASSES = 500 };

typedef struct everything { /* cloth and bodies as untangle_scene wants them */
  double *x, *radius;
  int32_t *tris;
  unsigned char *held;
} everything;

static void free_everything(everything *e)
{
  free(e->x);
  free(e->radius);
  free(e->tris);
  free(e->held);
}

static loom_status fill_untangle_scene(loom_err *err, const scene_data *s, const isect_surface *m,
                                       const scene_bodies *bodies, untangle_scene *u, everything *e)
{
  void *radius, *held;
  for (int k = 0; k < bodies->num; ++k) u->nb += bodies->at[k].n, u->ntb += bodies->at[k].nt;
  LOOM_TRY(mesh_alloc(err, u->n + u->nb, 3 * sizeof *e->x, &e->x));
  LOOM_TRY(mesh_alloc(err, u->n + u->nb, sizeof *e->radius, &e->radius));
  LOOM_TRY(mesh_alloc(err, u->nt + u->ntb, 3 * sizeof *e->tris, &e->tris));
  LOOM_TRY(mesh_alloc(err, u->n, 1, &e->held));
  memcpy(e->x, m->x, 3 * (size_t)u->n * sizeof *e->x);
  memcpy(e->tris, m->tris, 3 * (size_t)u->nt * sizeof *e->tris);
  int64_t vert = u->n, tri = u->nt;
  for (int k = 0; k < bodies->num; ++k) {
    const isect_surface *const at = &bodies->at[k];
    memcpy(e->x + 3 * vert, at->x, 3 * (size_t)at->n * sizeof *e->x);
    for (int64_t i = 0; i < 3 * at->nt; ++i) e->tris[3 * tri + i] = (int32_t)(at->tris[i] + vert);
    vert += at->n;
    tri += at->nt;
  }
  LOOM_TRY(buf_map(s->m, NULL, s->pub.radius, LOOM_READ, LOOM_AT_HOST, &radius));
  for (int64_t v = 0; v < u->n; ++v) e->radius[v] = (double)((const loom_real *)radius)[v];
  LOOM_TRY(buf_unmap(s->m, s->pub.radius));
  LOOM_TRY(buf_map(s->m, NULL, s->pub.fixed, LOOM_READ, LOOM_AT_HOST, &held));
  memcpy(e->held, held, (size_t)u->n);
  return buf_unmap(s->m, s->pub.fixed);
}

/* Makes x the positions at the start; rest_x keeps its values. */
static loom_status store_start_positions(builder *b, const double *x)
{
  scene_data *const s = b->s;
  const int64_t n = s->pub.num_verts;
  loom_real *out;
  if (s->x0 == s->pub.rest_x) LOOM_TRY(build_new(b, "x0", LOOM_REAL, 3 * n, &s->x0));
  LOOM_TRY(build_map(b, s->x0, &out));
  for (int64_t k = 0; k < 3 * n; ++k) out[k] = (loom_real)x[k];
  return buf_unmap(s->m, s->x0);
}

static loom_status report_untangling(builder *b, const untangle_report *r)
{
  LOOM_TRY(
      build_note(b,
                 "%lld intersections at the start: %lld after %d passes (start = untangle), %lld "
                 "vertices were moved, at most by %.3g m",
                 (long long)r->before, (long long)r->after, r->passes + r->gap_passes,
                 (long long)r->moved, r->farthest));
  if (r->after > 0 || r->near == 0) return LOOM_OK;
  return build_note(b, "%lld pairs are still nearer than the thickness of cloth",
                    (long long)r->near);
}

loom_status starts_near(loom_err *err, const scene_data *s, const isect_surface *m,
                        const scene_bodies *bodies, int32_t **pairs, int64_t *num)
{
  everything e = {0};
  untangle_scene u = {.n = m->n, .nt = m->nt, .left_out = m->left_out};
  *pairs = NULL;
  *num = 0;
  loom_status st = fill_untangle_scene(err, s, m, bodies, &u, &e);
  u.x = e.x;
  u.tris = e.tris;
  u.radius = e.radius;
  if (st == LOOM_OK) st = gap_pairs(err, &u, pairs, num);
  free_everything(&e);
  return st;
}

loom_status starts_untangle(builder *b, const isect_surface *m, const scene_bodies *bodies,
                            double *x)
{
  everything e = {0};
  untangle_report r = {0};
  untangle_scene u = {.n = m->n,
                      .nt = m->nt,
                      .bodies = bodies->at,
                      .num_bodies = bodies->num,
                      .left_out = m->left_out,
                      .max_passes = PASSES};
  loom_status s = fill_untangle_scene(b->err, b->s, m, bodies, &u, &e);
  u.x = e.x;
  u.tris = e.tris;
  u.held = e.held;
  u.radius = e.radius;
  if (s == LOOM_OK) s = untangle_meshes(b->err, &u, &r);
  if (s == LOOM_OK && r.moved > 0) s = store_start_positions(b, e.x);
  if (s == LOOM_OK && r.moved > 0) memcpy(x, e.x, 3 * (size_t)u.n * sizeof *x);
  if (s == LOOM_OK && (r.before > 0 || r.moved > 0)) s = report_untangling(b, &r);
  free_everything(&e);
  return s;
}
