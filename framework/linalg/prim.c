/* prim.c - scan, sort, permutations and key matching on buffers. */
#include "linalg/prim.h"
#include "linalg/linalg.h"
#include "linalg/prim.kern.h"

static const lk_entry k_match = LK_ENTRY_MOVES(prim_match, 14, 1),
                      k_compose = LK_ENTRY_MOVES(prim_compose, 0, 3);
enum { WORK_SLOT = 0 };

static loom_status check_typed_buffer(mem *m, const char *what, const loom_buf *b, int type,
                                      int64_t count)
{
  static const char *const names[] = {"real", "i32", "i64", "u8", "u64"};
  if (buf_type(b) != type)
    return err_set(mem_err(m), LOOM_E_ARG, "%s: buffer '%s' holds %s, expected %s", what,
                   buf_name(b), names[buf_type(b)], names[type]);
  if (buf_count(b) < count)
    return err_set(mem_err(m), LOOM_E_ARG, "%s: buffer '%s' has %lld items, expected %lld", what,
                   buf_name(b), (long long)buf_count(b), (long long)count);
  return LOOM_OK;
}

/* device primitive -> a message when it failed */
static loom_status explain_primitive_error(mem *m, const loom_exec *e, const char *what,
                                           loom_status s)
{
  if (s == LOOM_OK) return s;
  if (e->why == NULL || e->why[0] == '\0')
    return err_set(mem_err(m), s, "%s: the CUDA primitive failed", what);
  err_set(mem_err(m), s, "%s", e->why);
  e->why[0] = '\0';
  return s;
}

static loom_status scan_mapped(mem *m, const loom_exec *e, const int64_t *in, int64_t *out,
                               int64_t n)
{
  if (e->backend == LOOM_CPU) {
    prim_scan_cpu(e->num_threads, in, out, n);
    return LOOM_OK;
  }
#ifdef LK_HAVE_CUDA
  size_t bytes = 0;
  loom_buf *work = NULL;
  LOOM_TRY(explain_primitive_error(m, e, "scan", prim_scan_cuda(e, in, out, n, NULL, &bytes)));
  LOOM_TRY(mem_work(m, WORK_SLOT, (int64_t)bytes, &work));
  buf_maps q = {.m = m, .e = e};
  void *p = buf_maps_add(&q, work, LOOM_WRITE);
  if (q.status == LOOM_OK)
    q.status = explain_primitive_error(m, e, "scan", prim_scan_cuda(e, in, out, n, p, &bytes));
  return buf_maps_end(&q);
#else
  return explain_primitive_error(m, e, "scan", LOOM_E_UNSUPPORTED);
#endif
}

loom_status la_scan_i64(mem *m, const loom_exec *e, loom_buf *in, loom_buf *out, int64_t *total)
{
  const int64_t n = buf_count(in);
  buf_maps q = {.m = m, .e = e};
  LOOM_TRY(check_typed_buffer(m, "scan", in, LOOM_I64, n));
  LOOM_TRY(check_typed_buffer(m, "scan", out, LOOM_I64, n + 1));
  const int64_t *from = buf_maps_add(&q, in, LOOM_READ);
  int64_t *to = buf_maps_add(&q, out, buf_count(out) == n + 1 ? LOOM_WRITE : LOOM_RDWR);
  if (q.status == LOOM_OK) q.status = scan_mapped(m, e, from, to, n);
  if (q.status == LOOM_OK && total != NULL)
    q.status = exec_read(mem_err(m), e, to + n, sizeof *total, total);
  return buf_maps_end(&q);
}

static loom_status sort_mapped(mem *m, const loom_exec *e, uint64_t *key, int32_t *perm, int64_t n)
{
  loom_buf *work = NULL;
  buf_maps q = {.m = m, .e = e};
  size_t bytes = (size_t)prim_sort_cpu_bytes(e->num_threads, n);
#ifdef LK_HAVE_CUDA
  if (e->backend == LOOM_CUDA)
    LOOM_TRY(explain_primitive_error(m, e, "sort", prim_sort_cuda(e, key, perm, n, NULL, &bytes)));
#endif
  LOOM_TRY(mem_work(m, WORK_SLOT, (int64_t)bytes, &work));
  void *p = buf_maps_add(&q, work, LOOM_WRITE);
  if (q.status == LOOM_OK) {
    if (e->backend == LOOM_CPU) prim_sort_cpu(e->num_threads, key, perm, n, p);
#ifdef LK_HAVE_CUDA
    else
      q.status = explain_primitive_error(m, e, "sort", prim_sort_cuda(e, key, perm, n, p, &bytes));
#else
    else
      q.status = explain_primitive_error(m, e, "sort", LOOM_E_UNSUPPORTED);
#endif
  }
  return buf_maps_end(&q);
}

loom_status la_sort_u64(mem *m, const loom_exec *e, loom_buf *key, loom_buf *perm)
{
  const int64_t n = buf_count(key);
  buf_maps q = {.m = m, .e = e};
  LOOM_TRY(check_typed_buffer(m, "sort", key, LOOM_U64, n));
  LOOM_TRY(check_typed_buffer(m, "sort", perm, LOOM_I32, n));
  if (n > INT32_MAX)
    return err_set(mem_err(m), LOOM_E_ARG, "sort: %lld keys; at most %d", (long long)n, INT32_MAX);
  uint64_t *k = buf_maps_add(&q, key, LOOM_RDWR);
  int32_t *p = buf_maps_add(&q, perm, buf_count(perm) == n ? LOOM_WRITE : LOOM_RDWR);
  if (q.status == LOOM_OK) q.status = sort_mapped(m, e, k, p, n);
  return buf_maps_end(&q);
}

loom_status la_compose(mem *m, const loom_exec *e, loom_buf *first, loom_buf *second, loom_buf *out)
{
  const int64_t n = buf_count(second);
  prim_compose_args args = {0};
  buf_maps q = {.m = m, .e = e};
  LOOM_TRY(check_typed_buffer(m, "compose", first, LOOM_I32, n));
  LOOM_TRY(check_typed_buffer(m, "compose", second, LOOM_I32, n));
  LOOM_TRY(check_typed_buffer(m, "compose", out, LOOM_I32, n));
  args.first = buf_maps_add(&q, first, LOOM_READ);
  args.second = buf_maps_add(&q, second, LOOM_READ);
  args.out = buf_maps_add(&q, out, buf_count(out) == n ? LOOM_WRITE : LOOM_RDWR);
  if (q.status == LOOM_OK) q.status = exec_run(mem_err(m), e, &k_compose, &args, n, NULL);
  return buf_maps_end(&q);
}

loom_status la_match_keys(mem *m, const loom_exec *e, loom_buf *old_key, int64_t n_old,
                          loom_buf *new_key, int64_t n_new, loom_buf *old_index)
{
  prim_match_args args = {.num_old = n_old};
  buf_maps q = {.m = m, .e = e};
  if (n_old < 0 || n_new < 0 || n_old > INT32_MAX)
    return err_set(mem_err(m), LOOM_E_ARG, "match_keys: %lld old and %lld new keys",
                   (long long)n_old, (long long)n_new);
  LOOM_TRY(check_typed_buffer(m, "match_keys", old_key, LOOM_U64, n_old));
  LOOM_TRY(check_typed_buffer(m, "match_keys", new_key, LOOM_U64, n_new));
  LOOM_TRY(check_typed_buffer(m, "match_keys", old_index, LOOM_I32, n_new));
  args.old_key = buf_maps_add(&q, old_key, LOOM_READ);
  args.new_key = buf_maps_add(&q, new_key, LOOM_READ);
  args.old_index = buf_maps_add(&q, old_index, LOOM_RDWR); /* may be longer than n_new */
  if (q.status == LOOM_OK) q.status = exec_run(mem_err(m), e, &k_match, &args, n_new, NULL);
  return buf_maps_end(&q);
}
