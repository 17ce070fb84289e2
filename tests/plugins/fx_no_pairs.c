/* fx_no_pairs.c - a contact model without pairs, such as a material: springs of 1 N/m from each
 * vertex to its place at rest, E = |x - X|^2 / 2. */
#include <stdlib.h>

#include "loom/plug.h"
#include "loom/plugin.h"

typedef struct settings {
  double stiffness;
} settings;
static const loom_param params[] = {
    LOOM_PARAM_REAL(settings, stiffness, 1, 0, 1e9, "N/m", "Stiffness of a spring.")};

typedef struct model {
  const loom_host *host;
  const loom_scene *sc;
  const loom_exec *e;
  double k;
} model;

static loom_status no_pairs_create(const loom_host *host, const loom_scene *sc, const loom_exec *e,
                                   const void *set, void **self)
{
  LOOM_TRY(plug_new(host, sizeof(model), self));
  *(model *)*self = (model){host, sc, e, ((const settings *)set)->stiffness};
  return LOOM_OK;
}

static void no_pairs_destroy(void *self) { free(self); }

static loom_status no_pairs_eval(void *self, const loom_step *s, loom_buf *x, double *energy,
                                 double *dissipation, loom_buf *grad)
{
  const model *const p = self;
  plug_maps m = plug_maps_on(p->host, p->e);
  const loom_real *const at = plug_read_host(&m, x), *const rest =
                                                         plug_read_host(&m, p->sc->rest_x);
  loom_real *const g = grad != NULL ? plug_rdwr_host(&m, grad) : NULL;
  (void)s, (void)dissipation;
  LOOM_TRY(m.status);
  for (int32_t i = 0; i < 3 * p->sc->num_verts; ++i) {
    const double u = (double)at[i] - (double)rest[i];
    if (energy != NULL) *energy += 0.5 * p->k * u * u;
    if (g != NULL) g[i] += (loom_real)(p->k * u);
  }
  return plug_unbind(&m);
}

static loom_status no_pairs_hessian(void *self, const loom_step *s, loom_buf *x, int how,
                                    loom_blocks3 *out)
{
  const model *const p = self;
  const int64_t first = out->count, num = p->sc->num_verts;
  (void)s, (void)x, (void)how;
  out->count += num;
  if (out->count > out->capacity) return LOOM_GROW;
  plug_maps m = plug_maps_on(p->host, p->e);
  int32_t *const row = plug_rdwr_host(&m, out->row), *const col = plug_rdwr_host(&m, out->col);
  loom_real *const val = plug_rdwr_host(&m, out->val);
  LOOM_TRY(m.status);
  for (int64_t i = 0; i < num; ++i) {
    row[first + i] = col[first + i] = (int32_t)i;
    for (int k = 0; k < 9; ++k) val[9 * (first + i) + k] = (loom_real)(k % 4 == 0 ? p->k : 0.0);
  }
  return plug_unbind(&m);
}

static const loom_contact_ops ops = {.struct_size = sizeof ops,
                                     .provides =
                                         LOOM_CONT_ENERGY | LOOM_CONT_GRADIENT | LOOM_CONT_HESSIAN,
                                     .create = no_pairs_create,
                                     .destroy = no_pairs_destroy,
                                     .eval = no_pairs_eval,
                                     .hessian = no_pairs_hessian};

static const loom_plugin plugin = {
    LOOM_PLUGIN(contact, ops, LOOM_ON_CPU), .name = "fx_no_pairs", .version = "1.0.0",
    .summary = "springs to places at rest", .reference = "none",   .license = "MIT",
    LOOM_SETTINGS(settings, params)};

LOOM_EXPORT_PLUGIN(&plugin)
