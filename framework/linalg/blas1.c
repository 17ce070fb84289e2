/* blas1.c - vector operations on buffers. */
#include "linalg/blas1.kern.h"
#include "linalg/linalg.h"

static const lk_entry k_dot = LK_ENTRY_MOVES(blas1_dot, 2, 0),
                      k_sumsq = LK_ENTRY_MOVES(blas1_sumsq, 1, 0),
                      k_norm = LK_ENTRY_MOVES(blas1_norm_max3, 3, 0),
                      k_axpby = LK_ENTRY_MOVES(blas1_axpby, 3, 0),
                      k_waxpby = LK_ENTRY_MOVES(blas1_waxpby, 3, 0),
                      k_copy = LK_ENTRY_MOVES(blas1_copy_scaled, 2, 0),
                      k_scale = LK_ENTRY_MOVES(blas1_scale, 2, 0),
                      k_fill = LK_ENTRY_MOVES(blas1_fill, 1, 0);

static loom_status check_reals(mem *m, const char *what, const loom_buf *x, int64_t count)
{
  if (buf_type(x) != LOOM_REAL)
    return err_set(mem_err(m), LOOM_E_ARG, "%s: buffer '%s' does not hold reals", what,
                   buf_name(x));
  if (buf_count(x) != count)
    return err_set(mem_err(m), LOOM_E_ARG, "%s: buffer '%s' has %lld items, expected %lld", what,
                   buf_name(x), (long long)buf_count(x), (long long)count);
  return LOOM_OK;
}

static loom_status check_slot(mem *m, const char *what, int slot)
{
  if (slot >= 0 && slot < LOOM_NUM_RESULTS) return LOOM_OK;
  return err_set(mem_err(m), LOOM_E_ARG, "%s: result slot %d; there are %d", what, slot,
                 LOOM_NUM_RESULTS);
}

loom_status la_dot_slot(mem *m, const loom_exec *e, loom_buf *a, loom_buf *b, int slot)
{
  const int64_t n = buf_count(a);
  blas1_args args = {0};
  buf_maps q = {.m = m, .e = e};
  LOOM_TRY(check_slot(m, "dot", slot));
  LOOM_TRY(check_reals(m, "dot", a, n));
  LOOM_TRY(check_reals(m, "dot", b, n));
  args.x = buf_maps_add(&q, a, LOOM_READ);
  if (a != b) args.y = buf_maps_add(&q, b, LOOM_READ);
  if (q.status == LOOM_OK)
    q.status = exec_run(mem_err(m), e, a == b ? &k_sumsq : &k_dot, &args, n, e->result + slot);
  return buf_maps_end(&q);
}

loom_status la_dot(mem *m, const loom_exec *e, loom_buf *a, loom_buf *b, double *out)
{
  LOOM_TRY(la_dot_slot(m, e, a, b, LA_OWN_SLOT));
  return exec_fetch(mem_err(m), e, LA_OWN_SLOT, 1, out);
}

loom_status la_norm_max3_slot(mem *m, const loom_exec *e, loom_buf *x, int slot)
{
  const int64_t n = buf_count(x) / 3;
  blas1_args args = {0};
  buf_maps q = {.m = m, .e = e};
  LOOM_TRY(check_slot(m, "norm_max3", slot));
  LOOM_TRY(check_reals(m, "norm_max3", x, 3 * n));
  if (n == 0) { /* the maximum norm of an empty vector is 0 */
    args.z = e->result + slot;
    return exec_run(mem_err(m), e, &k_fill, &args, 1, NULL);
  }
  args.x = buf_maps_add(&q, x, LOOM_READ);
  if (q.status == LOOM_OK) q.status = exec_run(mem_err(m), e, &k_norm, &args, n, e->result + slot);
  return buf_maps_end(&q);
}

loom_status la_norm_max3(mem *m, const loom_exec *e, loom_buf *x, double *out)
{
  LOOM_TRY(la_norm_max3_slot(m, e, x, LA_OWN_SLOT));
  return exec_fetch(mem_err(m), e, LA_OWN_SLOT, 1, out);
}

/* y = a y */
static loom_status scale_vector(mem *m, const loom_exec *e, double a, loom_buf *y)
{
  blas1_args args = {.a = (lk_real)a};
  buf_maps q = {.m = m, .e = e};
  args.z = buf_maps_add(&q, y, LOOM_RDWR);
  if (q.status == LOOM_OK) q.status = exec_run(mem_err(m), e, &k_scale, &args, buf_count(y), NULL);
  return buf_maps_end(&q);
}

loom_status la_axpby(mem *m, const loom_exec *e, double a, loom_buf *x, double b, loom_buf *y)
{
  const int64_t n = buf_count(y);
  blas1_args args = {.a = (lk_real)a, .b = (lk_real)b};
  buf_maps q = {.m = m, .e = e};
  LOOM_TRY(check_reals(m, "axpby", y, n));
  LOOM_TRY(check_reals(m, "axpby", x, n));
  if (x == y) return scale_vector(m, e, a + b, y);
  args.x = buf_maps_add(&q, x, LOOM_READ);
  args.z = buf_maps_add(&q, y, b == 0 ? LOOM_WRITE : LOOM_RDWR);
  if (q.status == LOOM_OK)
    q.status = exec_run(mem_err(m), e, b == 0 ? &k_copy : &k_axpby, &args, n, NULL);
  return buf_maps_end(&q);
}

loom_status la_waxpby(mem *m, const loom_exec *e, double a, loom_buf *x, double b, loom_buf *y,
                      loom_buf *z)
{
  const int64_t n = buf_count(z);
  blas1_args args = {.a = (lk_real)a, .b = (lk_real)b};
  buf_maps q = {.m = m, .e = e};
  LOOM_TRY(check_reals(m, "waxpby", z, n));
  LOOM_TRY(check_reals(m, "waxpby", x, n));
  LOOM_TRY(check_reals(m, "waxpby", y, n));
  if (z == y) return la_axpby(m, e, a, x, b, y);
  if (z == x) return la_axpby(m, e, b, y, a, x);
  if (x == y) return la_axpby(m, e, a + b, x, 0, z);
  args.x = buf_maps_add(&q, x, LOOM_READ);
  args.y = buf_maps_add(&q, y, LOOM_READ);
  args.z = buf_maps_add(&q, z, LOOM_WRITE);
  if (q.status == LOOM_OK) q.status = exec_run(mem_err(m), e, &k_waxpby, &args, n, NULL);
  return buf_maps_end(&q);
}

loom_status la_fill(mem *m, const loom_exec *e, loom_buf *x, double value)
{
  blas1_args args = {.a = (lk_real)value};
  buf_maps q = {.m = m, .e = e};
  LOOM_TRY(check_reals(m, "fill", x, buf_count(x)));
  args.z = buf_maps_add(&q, x, LOOM_WRITE);
  if (q.status == LOOM_OK) q.status = exec_run(mem_err(m), e, &k_fill, &args, buf_count(x), NULL);
  return buf_maps_end(&q);
}
