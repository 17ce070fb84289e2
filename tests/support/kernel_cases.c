/* kernel_cases.c - running and comparing kernel cases. */
#include "support/kernel_cases.h"

#include <float.h>
#include <math.h>

#include "support/bufs.h"

void kc_uniform(void *data, int64_t count, uint64_t *random)
{
  loom_real *v = data;
  for (int64_t i = 0; i < count; ++i) v[i] = (loom_real)t_uniform(random);
}

void kc_zero(void *data, int64_t count, uint64_t *random)
{
  (void)random;
  memset(data, 0, (size_t)count * sizeof(loom_real));
}

static int num_fields(const kernel_case *c)
{
  int num = 0;
  while (num < KC_MAX_FIELDS && c->fields[num].count > 0) ++num;
  return num;
}

static loom_buf *make_field(mem *m, const kc_field *f, uint64_t seed)
{
  loom_buf *b = NULL;
  void *p = NULL;
  T_OK(m, buf_new(m, "test", "field", f->type, f->count, &b));
  if (f->make == NULL) return b;
  T_OK(m, buf_map(m, NULL, b, LOOM_WRITE, LOOM_AT_HOST, &p));
  f->make(p, f->count, &seed);
  T_OK(m, buf_unmap(m, b));
  return b;
}

void kc_run(const kernel_case *c, const loom_exec *e, int check, kc_output *out)
{
  _Alignas(16) char args[KC_MAX_ARGS] = {0};
  loom_buf *bufs[KC_MAX_FIELDS];
  const int num = num_fields(c);
  mem *m = t_mem(check);
  buf_maps q = {.m = m, .e = e};
  *out = (kc_output){0};
  cr_assert_leq(c->entry->args_size, KC_MAX_ARGS);
  for (int k = 0; k < num; ++k) {
    const kc_field *f = &c->fields[k];
    bufs[k] = make_field(m, f, 100 + (uint64_t)k);
    void *p = buf_maps_add(&q, bufs[k], f->access);
    cr_assert_leq(f->offset + sizeof p, c->entry->args_size);
    memcpy(args + f->offset, &p, sizeof p);
  }
  if (c->scalars != NULL) c->scalars(args);
  T_OK(m, q.status);
  lk_entry entry = *c->entry; /* with the row's tolerance where LOOM_KERNEL_COMPARE is set */
  entry.ulps = (uint32_t)c->ulps;
  T_OK(m, exec_run(mem_err(m), e, &entry, args, c->n, c->reduces ? e->result : NULL));
  if (c->reduces) T_OK(m, exec_fetch(mem_err(m), e, 0, 1, &out->result));
  T_OK(m, buf_maps_end(&q)); /* in check mode also: no kernel wrote to a buffer of LOOM_READ */
  for (int k = 0; k < num; ++k)
    if (c->fields[k].access != LOOM_READ) out->data[k] = t_read(m, bufs[k]);
  mem_free(m);
}

void kc_release(kc_output *out)
{
  for (int k = 0; k < KC_MAX_FIELDS; ++k) free(out->data[k]);
}

static double difference_in_eps(double a, double b)
{
  const double eps = sizeof(loom_real) == 8 ? DBL_EPSILON : FLT_EPSILON;
  if (isnan(a) || isnan(b)) return isnan(a) && isnan(b) ? 0 : INFINITY;
  return fabs(a - b) / (eps * fmax(1, fmax(fabs(a), fabs(b))));
}

void kc_compare(const kernel_case *c, const kc_output *a, const kc_output *b, double ulps,
                const char *who)
{
  if (c->reduces)
    cr_assert_leq(difference_in_eps(a->result, b->result), ulps, "%s, %s: %.17g, expected %.17g",
                  c->entry->name, who, b->result, a->result);
  for (int k = 0; k < num_fields(c); ++k) {
    const kc_field *f = &c->fields[k];
    if (f->access == LOOM_READ) continue;
    if (f->type != LOOM_REAL || ulps == 0) {
      cr_assert_eq(memcmp(a->data[k], b->data[k], (size_t)f->count * buf_type_size(f->type)), 0,
                   "%s, %s: field %d has other bits", c->entry->name, who, k);
      continue;
    }
    const loom_real *x = a->data[k], *y = b->data[k];
    for (int64_t i = 0; i < f->count; ++i)
      cr_assert_leq(difference_in_eps(x[i], y[i]), ulps,
                    "%s, %s: field %d, item %lld is %.17g, not %.17g", c->entry->name, who, k,
                    (long long)i, (double)y[i], (double)x[i]);
  }
}
