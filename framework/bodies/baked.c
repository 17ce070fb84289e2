/* baked.c - kind of field: exact distances at the nodes of a grid, baked anew for every step. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bodies/bend_field.h"
#include "bodies/body.h"
#include "bodies/exact.h"
#include "mesh/sdf.h"

typedef struct baker {
  exact_plan plan;
  exact_field *skin; /* fitted to the pose that is baked */
  double *pose;      /* [num_dofs + 12] that the grid of the end has */
  int posed;         /* 1: it has one */
} baker;

/* Nodes along a side: sdf_frame() adds a tenth on both sides. */
static int64_t most_nodes(int64_t resolution) { return (12 * resolution + 9) / 10 + 3; }

static int64_t values_of_grid(const body_field *f)
{
  const int64_t n = most_nodes(f->opt.resolution);
  return n * n * n;
}

static loom_status baked_field_open(loom_err *err, body_field *f)
{
  baker *b;
  LOOM_TRY(mesh_alloc(err, 1, sizeof *b, &b));
  f->own = b;
  if (f->opt.resolution < 4 || f->opt.resolution > 512)
    return err_set(err, LOOM_E_CONFIG, "%lld: 4 to 512 nodes for a grid of every step",
                   (long long)f->opt.resolution);
  LOOM_TRY(exact_plan_open(err, &f->body->skin, &b->plan));
  const int64_t head = ((int64_t)sizeof *b->skin + 63) / 64 * 64;
  LOOM_TRY(mesh_alloc(err, head + exact_bytes(&b->plan), 1, &b->skin));
  LOOM_TRY(mesh_alloc(err, f->body->num_dofs + 12, sizeof *b->pose, &b->pose));
  exact_settle(&b->plan, head, b->skin);
  f->own_bytes = 2 * values_of_grid(f) * (int64_t)sizeof(loom_real);
  f->lipschitz = sqrt(3); /* each derivative of the interpolant is one of distances */
  return LOOM_OK;
}

static baked_field *get_baked_field(body_field *f) { return (baked_field *)(void *)f->block; }

static loom_real *values_of(body_field *f, int end)
{
  return (loom_real *)(void *)(f->block + get_baked_field(f)->b.own_at) +
         get_baked_field(f)->end[end].at;
}

/* Along a row the next node is no farther than this one and a step, and on the same side unless the
 * skin is nearer than a step. */
static void bake_grid_row(const exact_field *skin, const baked_grid *g, double layer, int32_t j,
                          int32_t k, loom_real *row)
{
  lk_real d = LK_REAL_MAX;
  int inside = 0;
  for (int32_t i = 0; i < g->dims[0]; ++i) {
    const lk_real p[3] = {g->origin[0] + g->spacing * (lk_real)i,
                          g->origin[1] + g->spacing * (lk_real)j,
                          g->origin[2] + g->spacing * (lk_real)k};
    const lk_real step = LK_R(1.001) * g->spacing;
    const int crosses = i == 0 || !(d > step);
    exact_hit hit;
    d = exact_closest(skin, LK_R(1.0), p, i == 0 ? LK_REAL_MAX : d + step, &hit);
    if (crosses) inside = exact_winding(skin, LK_R(1.0), p) > 0;
    row[i] = (loom_real)((inside ? -d : d) - (lk_real)layer);
  }
}

static loom_status bake_step_end(loom_err *err, body_field *f, int end)
{
  const baker *const b = f->own;
  baked_grid *const g = &get_baked_field(f)->end[end];
  loom_real *const value = values_of(f, end);
  mesh posed = f->body->skin;
  sdf_grid frame;
  posed.x = f->x[end];
  LOOM_TRY(sdf_frame(err, &posed, f->opt.resolution, 0, &frame));
  g->spacing = (lk_real)frame.spacing;
  for (int c = 0; c < 3; ++c) {
    g->origin[c] = (lk_real)frame.origin[c];
    g->dims[c] = frame.dims[c];
  }
  LOOM_TRY(exact_fit(err, &b->plan, f->x[end], f->x[end], b->skin));
  const int64_t rows = (int64_t)g->dims[1] * g->dims[2];
#pragma omp parallel for schedule(dynamic, 8)
  for (int64_t r = 0; r < rows; ++r)
    bake_grid_row(b->skin, g, f->opt.layer, (int32_t)(r % g->dims[1]), (int32_t)(r / g->dims[1]),
                  value + r * g->dims[0]);
  return LOOM_OK;
}

/* Mostly a step begins where the one before ended: then its grid is there. */
static loom_status baked_field_step(loom_err *err, body_field *f)
{
  baker *const b = f->own;
  const size_t bytes = (size_t)(f->body->num_dofs + 12) * sizeof *b->pose;
  baked_grid *const end = get_baked_field(f)->end;
  if (b->posed && memcmp(b->pose, f->state[0], bytes) == 0) {
    const baked_grid last = end[1];
    end[1] = end[0];
    end[0] = last;
  } else {
    LOOM_TRY(bake_step_end(err, f, 0));
  }
  b->posed = 0; /* until it is baked */
  LOOM_TRY(bake_step_end(err, f, 1));
  memcpy(b->pose, f->state[1], bytes);
  b->posed = 1;
  return LOOM_OK;
}

static void baked_field_settle(body_field *f) { get_baked_field(f)->end[1].at = values_of_grid(f); }

static void baked_field_close(body_field *f)
{
  baker *const b = f->own;
  if (b == NULL) return;
  exact_plan_close(&b->plan);
  free(b->skin);
  free(b->pose);
  free(b);
}

const field_kind field_baked = {.head = sizeof(baked_field),
                                .open = baked_field_open,
                                .settle = baked_field_settle,
                                .step = baked_field_step,
                                .close = baked_field_close};
const body_kind body_baked = {.name = "baked", .shape = BODY_SHAPE_baked};
