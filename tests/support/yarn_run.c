/* yarn_run.c - see yarn_run.h. */
#include "support/yarn_run.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WELL(r, call) \
  cr_assert_eq((call), LOOM_OK, "%s %s", (r)->t.err.text, mem_err((r)->t.m)->text)

void yr_open(yarn_run *r, int threads, const char *grid, const char *model, const char *settings)
{
  yr_open_on(r, LOOM_CPU, threads, grid, model, settings);
}

void yr_open_on(yarn_run *r, int backend, int threads, const char *grid, const char *model,
                const char *settings)
{
  th_open_on(&r->t, backend, threads, 0);
  yc_scene(&r->c, &r->t);
  r->grid = th_plugin("yarn_grid", LOOM_KIND_COLLISION, "yarn_grid");
  r->set[0] = th_settings(r->grid, grid);
  r->find = th_create(&r->t, r->grid, r->set[0]);
  th_attach(&r->t, r->grid, r->find);
  r->model = th_plugin(model, LOOM_KIND_CONTACT, model);
  r->set[1] = th_settings(r->model, settings);
  r->self = th_create(&r->t, r->model, r->set[1]);
  th_pairs_open(&r->t, &r->pairs, 0);
}

void yr_close(yarn_run *r)
{
  r->model->ops.contact->destroy(r->self);
  r->grid->ops.collision->destroy(r->find);
  free(r->set[0]);
  free(r->set[1]);
  th_pairs_close(&r->t, &r->pairs);
  th_close(&r->t);
  yc_free(&r->c);
}

void yr_detect(yarn_run *r, const double *x)
{
  const loom_contact_ops *const ops = r->model->ops.contact;
  loom_query q = {.struct_size = sizeof q, .kinds = LOOM_PAIR_MASK_ALL};
  uint32_t changed;
  yc_place(&r->t, x);
  if (ops->begin_step != NULL) WELL(r, ops->begin_step(r->self, &r->t.step));
  WELL(r, ops->plan(r->self, &r->t.step, &q));
  r->exclude = q.exclude;
  th_detect(&r->t, &q, &r->pairs);
  WELL(r, ops->update(r->self, &r->t.step, &r->pairs, LOOM_AFTER_DETECT, &changed));
  ++r->t.step.index;
}

double yr_eval(yarn_run *r, const double *x, double *grad)
{
  const size_t n3 = 3 * (size_t)r->c.n;
  double e = 0.0, d = 0.0;
  double *const zero = calloc(n3, sizeof *zero);
  th_put(&r->t, r->t.step.trial, x);
  th_put(&r->t, r->t.step.grad, zero);
  free(zero);
  WELL(r, r->model->ops.contact->eval(r->self, &r->t.step, r->t.step.trial, &e, &d,
                                      grad != NULL ? r->t.step.grad : NULL));
  if (grad != NULL) {
    double *const g = th_get(&r->t, r->t.step.grad);
    memcpy(grad, g, n3 * sizeof *grad);
    free(g);
  }
  return e;
}

int64_t yr_boxes(yarn_run *r, int32_t (**box)[4])
{
  const int64_t n = r->exclude != NULL ? buf_count(r->exclude) : 0;
  uint64_t *const key = n > 0 ? th_get(&r->t, r->exclude) : NULL;
  *box = calloc((size_t)n + 1, sizeof **box);
  for (int64_t k = 0; k < n; ++k) {
    (*box)[k][0] = (int32_t)(key[k] >> 40);
    (*box)[k][1] = (*box)[k][0] + (int32_t)(key[k] >> 8 & 0xff);
    (*box)[k][2] = (int32_t)(key[k] >> 16 & 0xffffff);
    (*box)[k][3] = (*box)[k][2] + (int32_t)(key[k] & 0xff);
  }
  free(key);
  return n;
}

void yr_audit(yarn_run *r, const double *x, int64_t *missed, int64_t *twice, int64_t *pairs)
{
  const yarn_case *const c = &r->c;
  int32_t(*box)[4];
  const int64_t n = yr_boxes(r, &box);
  double *const y = calloc(3 * (size_t)c->np, sizeof *y);
  const double reach = 2.0 * c->radius[0];
  *missed = *twice = *pairs = 0;
  yc_points(c, x, y);
  for (int i = 0; i < c->np; ++i)
    for (int j = i + 1; j < c->np; ++j) {
      double d2 = 0.0;
      for (int k = 0; k < 3 && d2 < reach * reach; ++k) d2 += pow(y[3 * i + k] - y[3 * j + k], 2.0);
      if (d2 >= reach * reach || !yc_may(c, i, j)) continue;
      int in = 0;
      for (int64_t b = 0; b < n; ++b)
        in += i >= box[b][0] && i <= box[b][1] && j >= box[b][2] && j <= box[b][3];
      ++*pairs;
      *missed += in == 0;
      *twice += in > 1;
    }
  free(y);
  free(box);
}

void yr_moving(const yarn_case *c, int step, double *x)
{
  const double t = 0.02 * step;
  for (int i = 0; i < c->n; ++i) {
    const double *const p = c->x + 3 * i;
    const double in = 1.0 - 0.03 * sin(t), shear = 0.05 * sin(0.7 * t);
    x[3 * i] = in * p[0] + shear * p[1] + 1e-3 * t;
    x[3 * i + 1] = in * p[1] + 4e-4 * sin(300.0 * p[0] + t);
    x[3 * i + 2] = (1.0 - 0.15 * sin(0.5 * t)) * p[2] + 2e-3 * sin(60.0 * p[1]) * sin(0.8 * t);
  }
}

void yr_turn(const double *x, int n, double angle, const double shift[3], double *out)
{
  const double s = sin(angle), c = cos(angle), axis[3] = {0.48, -0.6, 0.64};
  for (int i = 0; i < n; ++i) {
    const double *const p = x + 3 * i;
    const double along = axis[0] * p[0] + axis[1] * p[1] + axis[2] * p[2];
    const double cross[3] = {axis[1] * p[2] - axis[2] * p[1], axis[2] * p[0] - axis[0] * p[2],
                             axis[0] * p[1] - axis[1] * p[0]};
    for (int k = 0; k < 3; ++k)
      out[3 * i + k] = c * p[k] + s * cross[k] + (1.0 - c) * along * axis[k] + shift[k];
  }
}
