/* off.c - a contact model with its method switched off: a plugin of the same name that opens the
 * real one and passes everything on but forces, quadratic terms and corrections.  Detection, step
 * bounds, settings, columns and states stay, so a test that still passes under it sees these alone.
 *
 * OFF_FILE: the real plugin. */
#include <dlfcn.h>
#include <stdio.h>

#include "loom/plugin.h"

enum { MOST = 4 };

static loom_plugin plugins[MOST];
static loom_contact_ops ops[MOST];

/* Metrics of the real model, by place in `ops`; an instance does not know its plugin. */
static loom_status (*real_metrics[MOST])(void *self, const loom_step *s, loom_contact_metrics *out);

static loom_status no_value(void *self, const loom_step *s, loom_buf *x, double *energy,
                            double *dissipation, loom_buf *grad)
{
  (void)self, (void)s, (void)x, (void)energy, (void)dissipation, (void)grad;
  return LOOM_OK;
}

static loom_status no_hessian(void *self, const loom_step *s, loom_buf *x, int how,
                              loom_blocks3 *out)
{
  (void)self, (void)s, (void)x, (void)how, (void)out;
  return LOOM_OK;
}

static loom_status off_quad(void *self, const loom_step *s, loom_buf *x, loom_quad *out)
{
  (void)self, (void)s, (void)x, (void)out;
  return LOOM_OK;
}

static loom_status no_correction(void *self, const loom_step *s, loom_buf *x_start, loom_buf *x)
{
  (void)self, (void)s, (void)x_start, (void)x;
  return LOOM_OK;
}

static loom_status no_velocity(void *self, const loom_step *s)
{
  (void)self, (void)s;
  return LOOM_OK;
}

static loom_status no_force(int which, void *self, const loom_step *s, loom_contact_metrics *out)
{
  const loom_status st = real_metrics[which](self, s, out);
  out->max_force = out->dissipated = 0.0;
  return st;
}

#define METRICS(which)                                                                          \
  static loom_status metrics_##which(void *self, const loom_step *s, loom_contact_metrics *out) \
  {                                                                                             \
    return no_force(which, self, s, out);                                                       \
  }
METRICS(0)
METRICS(1)
METRICS(2)
METRICS(3)

const loom_plugin *loom_plugin_query(uint32_t host_abi, uint32_t index)
{
  static loom_status (*const metrics[MOST])(void *, const loom_step *, loom_contact_metrics *) = {
      metrics_0, metrics_1, metrics_2, metrics_3};
  void *const lib = dlopen(OFF_FILE, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  loom_plugin_query_fn query = NULL;
  if (lib != NULL) *(void **)&query = dlsym(lib, "loom_plugin_query");
  if (query == NULL) {
    fprintf(stderr, "off.c: %s\n", dlerror());
    return NULL;
  }
  const loom_plugin *const real = index < MOST ? query(host_abi, index) : NULL;
  if (real == NULL) return NULL;
  plugins[index] = *real;
  ops[index] = *real->ops.contact;
  plugins[index].ops.contact = &ops[index];
  real_metrics[index] = real->ops.contact->metrics;
  if (ops[index].eval != NULL) ops[index].eval = no_value;
  if (ops[index].hessian != NULL) ops[index].hessian = no_hessian;
  if (ops[index].quad != NULL) ops[index].quad = off_quad;
  if (ops[index].resolve != NULL) ops[index].resolve = no_correction;
  if (ops[index].velocity != NULL) ops[index].velocity = no_velocity;
  if (ops[index].metrics != NULL) ops[index].metrics = metrics[index];
  return &plugins[index];
}
