/* neural.c - kind of field: distances from the networks of a file, folded for each step.
 *
 * Accuracy is not guaranteed: a network is off by some millimetres where it was trained, more in
 * creases, so that cloth that touches the field does not touch the skin exactly.  Impacts are found
 * as if its gradient were nowhere longer than at 1.25 times the longest of many points, and as if
 * within a step no point moved farther than the skin's vertices do from its start to its end.
 * Angles beyond the range of the training have the weights of its end. */
#include <math.h>
#include <stdlib.h>

#include "bodies/bend_field.h"
#include "bodies/body.h"
#include "ssdf/net.h"

enum { PROBES = 2000 };

static neural_field *get_neural_field(body_field *f) { return (neural_field *)(void *)f->block; }

static loom_real *params_of(body_field *f)
{
  return (loom_real *)(void *)(f->block + get_neural_field(f)->b.own_at);
}

static int64_t store_net_shape(const ssdf_part_net *from, ssdf_shape *shape, int64_t *at,
                               int64_t params)
{
  *shape = from->shape;
  *at = params;
  return params + 2 * (int64_t)from->num_params;
}

static void set_region(const body_field *f, const ssdf_net_region *g, neural_region *r)
{
  r->frame = g->frame;
  r->half = (lk_real)g->half;
  r->margin = (lk_real)(g->margin - f->opt.layer);
  r->clamp = (lk_real)(g->clamp - f->opt.layer);
  for (int c = 0; c < 3; ++c) {
    r->centre[c] = (lk_real)g->centre[c];
    r->lo[c] = (lk_real)g->lo[c];
    r->hi[c] = (lk_real)g->hi[c];
  }
}

static void neural_field_settle(body_field *f)
{
  const ssdf_net *const net = f->own;
  neural_field *const to = get_neural_field(f);
  int64_t params = 0;
  to->num_regions = net->num;
  to->flags = f->opt.flags;
  to->difference = (lk_real)f->opt.difference;
  for (int32_t k = 0; k < net->num; ++k) {
    const ssdf_net_region *const g = &net->regions[k];
    set_region(f, g, &to->region[k]);
    params =
        store_net_shape(&g->distance, &to->region[k].distance, &to->region[k].distance_at, params);
    params = store_net_shape(&g->label, &to->region[k].flag, &to->region[k].flag_at, params);
  }
}

/* Longest gradient at points and angles by chance, and a quarter more; never below 1. */
static loom_status measure_lipschitz(loom_err *err, body_field *f)
{
  const ssdf_net *const net = f->own;
  uint64_t z = 1;
  double *angles, longest = 0;
  LOOM_TRY(mesh_alloc(err, f->body->num_dofs, sizeof *angles, &angles));
  for (int32_t k = 0; k < net->num; ++k) {
    const ssdf_net_region *const g = &net->regions[k];
    loom_real w[SSDF_MAX_PARAMS], y[3], d[3];
    for (int i = 0; i < PROBES; ++i) {
      double u[3 + SSDF_MAX_DOFS];
      for (int c = 0; c < 3 + SSDF_MAX_DOFS; ++c) {
        z = z * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        u[c] = (double)(z >> 11) * 0x1p-53;
      }
      for (int32_t c = 0; c < g->num_dofs; ++c)
        angles[g->dof[c]] = g->range[c][0] + u[3 + c] * (g->range[c][1] - g->range[c][0]);
      for (int c = 0; c < 3; ++c)
        y[c] = (lk_real)((g->lo[c] + u[c] * (g->hi[c] - g->lo[c]) - g->centre[c]) / g->half);
      ssdf_net_fold(g, &g->distance, angles, w);
      const ssdf_params p = {w, w, 1};
      const double v = (double)ssdf_gradient(&g->distance.shape, &p, y, d);
      if (v * g->half < g->clamp) longest = fmax(longest, sqrt((double)lk_dot3(d, d)));
    }
  }
  free(angles);
  f->lipschitz = fmax(1, 1.25 * longest);
  return LOOM_OK;
}

static loom_status neural_field_open(loom_err *err, body_field *f)
{
  ssdf_net *net;
  LOOM_TRY(mesh_alloc(err, 1, sizeof *net, &net));
  f->own = net;
  LOOM_TRY(ssdf_net_read(err, f->opt.file, f->body, net));
  if (net->num > NEURAL_MAX_REGIONS)
    return err_set(err, LOOM_E_CONFIG, "%s: holds %d regions; at most %d are possible", f->opt.file,
                   net->num, NEURAL_MAX_REGIONS);
  for (int32_t k = 0; k < net->num; ++k) {
    const ssdf_net_region *const g = &net->regions[k];
    if (!ssdf_is_narrow(&g->distance.shape) || !ssdf_is_narrow(&g->label.shape))
      f->shape = "neural_wide";
    f->own_bytes += 2 * (int64_t)sizeof(loom_real) * (g->distance.num_params + g->label.num_params);
    if (!(f->opt.layer < g->clamp && f->opt.layer < g->margin))
      return err_set(err, LOOM_E_CONFIG,
                     "a layer of %g m is more than the %g m around the skin that the networks know",
                     f->opt.layer, fmin(g->clamp, g->margin));
  }
  return measure_lipschitz(err, f);
}

static void neural_field_close(body_field *f)
{
  if (f->own == NULL) return;
  ssdf_net_free(f->own);
  free(f->own);
}

/* The layer is in the last bias of each network. */
static loom_status neural_field_step(loom_err *err, body_field *f)
{
  const ssdf_net *const net = f->own;
  (void)err;
  for (int32_t k = 0; k < net->num; ++k) {
    const ssdf_net_region *const g = &net->regions[k];
    const neural_region *const r = &get_neural_field(f)->region[k];
    for (int end = 0; end < 2; ++end) {
      const int32_t num = g->distance.num_params;
      loom_real *const w = params_of(f) + r->distance_at + (int64_t)end * num;
      ssdf_net_fold(g, &g->distance, f->state[end], w);
      w[num - 1] -= (loom_real)(f->opt.layer / g->half);
      if (g->label.num_params > 0)
        ssdf_net_fold(g, &g->label, f->state[end],
                      params_of(f) + r->flag_at + (int64_t)end * g->label.num_params);
    }
  }
  return LOOM_OK;
}

static int32_t neural_field_outside(const body_field *f, const double *angles)
{
  return ssdf_net_outside(f->own, angles);
}

const field_kind field_neural = {.head = sizeof(neural_field),
                                 .open = neural_field_open,
                                 .settle = neural_field_settle,
                                 .step = neural_field_step,
                                 .close = neural_field_close,
                                 .outside = neural_field_outside};
const body_kind body_neural = {.name = "neural", .shape = BODY_SHAPE_neural};
