/* buf.c - buffers: two sides with validity bits, maps with locks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mem/internal.h"

size_t buf_type_size(int type)
{
  return type >= LOOM_REAL && type <= LOOM_U64 ? item_bytes(type) : 0;
}

int64_t buf_count(const loom_buf *b) { return b->count; }
int buf_type(const loom_buf *b) { return b->type; }
int64_t buf_writes(const loom_buf *b) { return b->writes; }
const char *buf_name(const loom_buf *b) { return b->name; }
const char *buf_owner(const loom_buf *b) { return b->owner; }

/* Puts the buffer's name in front of the present message. */
static loom_status prefix_buffer_name(const loom_buf *b, loom_status s)
{
  if (s < 0) err_prefix(&b->m->err, "buffer '%s' of %s", b->name, b->owner);
  return s;
}

/* ---- storage ---- */

static void count_side_bytes(mem *m, int side, int64_t bytes)
{
  m->bytes[side] += bytes;
  if (m->bytes[side] > m->peak[side]) m->peak[side] = m->bytes[side];
}

static void drop_side(loom_buf *b, int side)
{
  buf_side *s = &b->side[side];
  buf_raw_free(side, s->data);
  count_side_bytes(b->m, side, -(int64_t)s->cap);
  s->data = NULL;
  s->cap = 0;
  b->valid &= ~(1 << side);
}

void buf_drop_storage(loom_buf *b)
{
  for (int side = 0; side < NUM_SIDES; ++side) {
    drop_side(b, side);
    check_drop(b, side);
  }
}

/* Makes room for at least `bytes` on `side`; current contents there are kept.  A buffer that grows
 * again gets an eighth more than requested, so that slow growth does not reallocate each time. */
static loom_status grow_buffer_side(loom_buf *b, int side, size_t bytes)
{
  buf_side *s = &b->side[side];
  const size_t keep = b->valid & (1 << side) ? buf_bytes(b) : 0;
  void *p;
  if (s->data != NULL && s->cap >= bytes) return LOOM_OK;
  if (s->cap > 0) bytes += bytes / 8;
  if (keep == 0 && s->data != NULL) { /* no contents to keep: free first, for a lower peak */
    const int valid = b->valid;
    drop_side(b, side);
    b->valid = valid;
  }
  LOOM_TRY(buf_raw_alloc(b->m, side, bytes, &p));
  count_side_bytes(b->m, side, (int64_t)bytes);
  if (keep > 0) {
    const int valid = b->valid;
    const loom_status status = buf_raw_copy(b, side, p, side, s->data, keep);
    if (status != LOOM_OK) {
      buf_raw_free(side, p);
      count_side_bytes(b->m, side, -(int64_t)bytes);
      return status;
    }
    drop_side(b, side);
    b->valid = valid;
  }
  s->data = p;
  s->cap = bytes;
  return LOOM_OK;
}

/* Lists of contacts are ten times as long in the first iterates of a step as later: storage of
 * which the contents would take less than a quarter goes back, where it is worth a copy. */
enum { SHRINK_SHARE = 4, SHRINK_LEAST = 1 << 20 };
static loom_status shrink_buffer_side(loom_buf *b, int side, size_t bytes)
{
  buf_side *s = &b->side[side];
  const size_t room = bytes + bytes / 8;
  const int valid = b->valid;
  void *p;
  if (s->cap < SHRINK_LEAST || bytes >= s->cap / SHRINK_SHARE) return LOOM_OK;
  if (!(valid & (1 << side)) || bytes == 0) {
    drop_side(b, side);
    b->valid = bytes == 0 ? 0 : valid;
    return LOOM_OK;
  }
  LOOM_TRY(buf_raw_alloc(b->m, side, room, &p));
  const loom_status status = buf_raw_copy(b, side, p, side, s->data, bytes);
  if (status != LOOM_OK) {
    buf_raw_free(side, p);
    return status;
  }
  drop_side(b, side);
  count_side_bytes(b->m, side, (int64_t)room);
  b->valid = valid;
  s->data = p;
  s->cap = room;
  return LOOM_OK;
}

/* Makes the contents current on `side`. */
static loom_status make_current(loom_buf *b, int side)
{
  const int other = 1 - side;
  if (b->valid & (1 << side)) return LOOM_OK;
  LOOM_TRY(grow_buffer_side(b, side, buf_bytes(b)));
  if (b->valid == 0)
    LOOM_TRY(buf_raw_fill(b, side, b->side[side].data, 0, buf_bytes(b)));
  else
    LOOM_TRY(buf_raw_copy(b, side, b->side[side].data, other, b->side[other].data, buf_bytes(b)));
  b->valid |= 1 << side;
  return LOOM_OK;
}

/* ---- life ---- */
static loom_status check_count(mem *m, int type, int64_t count)
{
  if (buf_type_size(type) == 0) return err_set(&m->err, LOOM_E_ARG, "unknown item type %d", type);
  if (count < 0 || count > (INT64_MAX >> 5))
    return err_set(&m->err, LOOM_E_ARG, "%lld items is out of range", (long long)count);
  return LOOM_OK;
}

loom_status buf_new(mem *m, const char *owner, const char *name, int type, int64_t count,
                    loom_buf **out)
{
  const size_t owner_len = strlen(owner) + 1, name_len = strlen(name) + 1;
  loom_buf *b = NULL;
  *out = NULL;
  const loom_status s = check_count(m, type, count);
  if (s != LOOM_OK) {
    err_prefix(&m->err, "buffer '%s' of %s", name, owner);
    return s;
  }
  if (!mem_injected_failure(m)) b = calloc(1, sizeof *b + owner_len + name_len);
  if (b == NULL)
    return err_set(&m->err, LOOM_E_NOMEM, "buffer '%s' of %s: no memory for its handle", name,
                   owner);
  char *text = (char *)(b + 1);
  memcpy(text, owner, owner_len);
  memcpy(text + owner_len, name, name_len);
  b->owner = text;
  b->name = text + owner_len;
  b->m = m;
  b->type = type;
  b->count = count;
  b->prev = m->last;
  if (m->last != NULL)
    m->last->next = b;
  else
    m->first = b;
  m->last = b;
  *out = b;
  return LOOM_OK;
}

static int is_mapped(const loom_buf *b) { return b->readers > 0 || b->writer != 0; }

static loom_status check_buffer_run(mem *m, const loom_buf *b)
{
  if (b == NULL) return err_set(&m->err, LOOM_E_ARG, "a buffer is NULL");
  if (b->m == m) return LOOM_OK;
  return err_set(&m->err, LOOM_E_ARG, "buffer '%s' of %s belongs to another run", b->name,
                 b->owner);
}

void buf_free(mem *m, loom_buf *b)
{
  if (b == NULL || check_buffer_run(m, b) != LOOM_OK) return;
  if (is_mapped(b)) { /* stays in the leak table, where the core finds it */
    err_set(&m->err, LOOM_E_STATE, "freed while it is mapped; unmap it first");
    prefix_buffer_name(b, LOOM_E_STATE);
    return;
  }
  buf_drop_storage(b);
  if (b->prev != NULL)
    b->prev->next = b->next;
  else
    m->first = b->next;
  if (b->next != NULL)
    b->next->prev = b->prev;
  else
    m->last = b->prev;
  free(b);
}

loom_status buf_resize(mem *m, loom_buf *b, int64_t count)
{
  LOOM_TRY(check_buffer_run(m, b));
  loom_status s = check_count(m, b->type, count);
  if (s == LOOM_OK && is_mapped(b))
    s = err_set(&m->err, LOOM_E_STATE, "resized while it is mapped; unmap it first");
  const size_t old = buf_bytes(b), bytes = (size_t)count * buf_type_size(b->type);
  for (int side = 0; side < NUM_SIDES && s == LOOM_OK; ++side) {
    if (bytes < old) s = shrink_buffer_side(b, side, bytes);
    if (s != LOOM_OK || !(b->valid & (1 << side))) continue;
    s = grow_buffer_side(b, side, bytes);
    if (s == LOOM_OK && bytes > old)
      s = buf_raw_fill(b, side, (char *)b->side[side].data + old, 0, bytes - old);
  }
  if (s == LOOM_OK) b->count = count;
  return prefix_buffer_name(b, s);
}

loom_status buf_reset(mem *m, loom_buf *b, int64_t count)
{
  LOOM_TRY(check_buffer_run(m, b));
  loom_status s = check_count(m, b->type, count);
  if (s == LOOM_OK && is_mapped(b))
    s = err_set(&m->err, LOOM_E_STATE, "reset while it is mapped; unmap it first");
  if (s == LOOM_OK) {
    b->valid = 0;
    b->count = count;
  }
  return prefix_buffer_name(b, s);
}

loom_status buf_discard(mem *m, loom_buf *b)
{
  LOOM_TRY(buf_reset(m, b, b->count));
  buf_drop_storage(b);
  return LOOM_OK;
}

int buf_untouched(const loom_buf *b) { return b->valid == 0; }

/* ---- maps ---- */
static loom_status side_for(mem *m, const loom_exec *e, int place, int *side)
{
  const int on_device = e != NULL && e->backend == LOOM_CUDA;
  if (place != LOOM_AT_EXEC && place != LOOM_AT_HOST && place != LOOM_AT_DEVICE)
    return err_set(&m->err, LOOM_E_ARG, "unknown place %d of a map", place);
  if (place == LOOM_AT_DEVICE && !on_device)
    return err_set(&m->err, LOOM_E_ARG, "mapped at the device, but this runs on the CPU");
  *side = place == LOOM_AT_DEVICE || (place == LOOM_AT_EXEC && on_device) ? SIDE_DEVICE : SIDE_HOST;
  return LOOM_OK;
}

static loom_status check_lock(loom_buf *b, int access)
{
  if (access != LOOM_READ && access != LOOM_WRITE && access != LOOM_RDWR)
    return err_set(&b->m->err, LOOM_E_ARG, "unknown access %d of a map", access);
  if (b->writer != 0)
    return err_set(&b->m->err, LOOM_E_STATE, "mapped while its writer still holds it; unmap first");
  if (b->readers > 0 && access != LOOM_READ)
    return err_set(&b->m->err, LOOM_E_STATE, "mapped for writing while %d reader(s) hold it",
                   b->readers);
  return LOOM_OK;
}

loom_status buf_map(mem *m, const loom_exec *e, loom_buf *b, int access, int place, void **p)
{
  int side = SIDE_HOST;
  *p = NULL;
  LOOM_TRY(check_buffer_run(m, b));
  loom_status s = check_lock(b, access);
  if (s == LOOM_OK) s = side_for(m, e, place, &side);
  if (s != LOOM_OK) return prefix_buffer_name(b, s);
  if (side == SIDE_DEVICE) b->stream = e->stream;
  s = access == LOOM_WRITE ? grow_buffer_side(b, side, buf_bytes(b)) : make_current(b, side);
  if (s == LOOM_OK && m->check) s = check_map(b, side, access);
  if (s != LOOM_OK) return prefix_buffer_name(b, s);
  if (access == LOOM_READ) {
    ++b->readers;
  } else {
    ++b->writes;
    b->writer = access;
    b->write_on = side;
    b->valid = 1 << side;
  }
  ++m->maps;
  *p = m->check ? b->side[side].copy : b->side[side].data;
  return LOOM_OK;
}

loom_status buf_unmap(mem *m, loom_buf *b)
{
  loom_status s = LOOM_OK;
  LOOM_TRY(check_buffer_run(m, b));
  if (!is_mapped(b))
    return prefix_buffer_name(b, err_set(&m->err, LOOM_E_STATE, "unmapped, but it is not mapped"));
  --m->maps;
  if (b->writer != 0) {
    const int side = b->write_on;
    b->writer = 0;
    if (!m->check) return LOOM_OK;
    return check_unmap(b, side, 1);
  }
  if (--b->readers > 0 || !m->check) return LOOM_OK;
  for (int side = 0; side < NUM_SIDES; ++side) {
    if (b->side[side].copy == NULL) continue;
    const loom_status one = check_unmap(b, side, 0);
    if (s == LOOM_OK) s = one;
  }
  return s;
}

void buf_release(loom_buf *b)
{
  while (is_mapped(b)) (void)buf_unmap(b->m, b);
}

/* ---- copies ---- */
/* ---- several maps that begin and end together ---- */

void *buf_maps_add(buf_maps *q, loom_buf *b, int access)
{
  void *p = NULL;
  if (b == NULL || q->status != LOOM_OK) return NULL;
  if (q->num == BUF_MAPS_MAX) {
    q->status = err_set(&q->m->err, LOOM_E_INTERNAL, "more than %d maps at once", BUF_MAPS_MAX);
    return NULL;
  }
  q->status = buf_map(q->m, q->e, b, access, LOOM_AT_EXEC, &p);
  if (q->status == LOOM_OK) q->bufs[q->num++] = b;
  return p;
}

loom_status buf_maps_run(buf_maps *q, const lk_entry *k, const void *args, int64_t n,
                         loom_real *result)
{
  if (q->status == LOOM_OK) q->status = exec_run(&q->m->err, q->e, k, args, n, result);
  return q->status;
}

loom_status buf_maps_end(buf_maps *q)
{
  loom_err kept = q->m->err;
  const int failed = q->status != LOOM_OK;
  while (q->num > 0) {
    const loom_status s = buf_unmap(q->m, q->bufs[--q->num]);
    if (q->status == LOOM_OK) q->status = s;
  }
  if (failed) q->m->err = kept; /* the first message tells the cause */
  return q->status;
}

loom_status buf_maps_launch(buf_maps *q, const lk_entry *k, const void *args, int64_t n,
                            loom_real *result)
{
  (void)buf_maps_run(q, k, args, n, result);
  return buf_maps_end(q);
}

static void copy_host(void *dst, const void *src, size_t bytes, int threads)
{
  const int64_t chunk = INT64_C(1) << 20, num = ((int64_t)bytes + chunk - 1) / chunk;
#pragma omp parallel for schedule(static) num_threads(threads) if (num > 1)
  for (int64_t k = 0; k < num; ++k) {
    const size_t lo = (size_t)(k * chunk), left = bytes - lo;
    memcpy((char *)dst + lo, (const char *)src + lo, left < (size_t)chunk ? left : (size_t)chunk);
  }
}

loom_status buf_copy(mem *m, const loom_exec *e, loom_buf *dst, const loom_buf *src)
{
  LOOM_TRY(check_buffer_run(m, dst));
  LOOM_TRY(check_buffer_run(m, src));
  if (dst == src) return LOOM_OK;
  if (dst->type != src->type)
    return prefix_buffer_name(dst, err_set(&m->err, LOOM_E_ARG,
                                           "copied from '%s', which has items of another type",
                                           src->name));
  const int64_t n = dst->count < src->count ? dst->count : src->count;
  const size_t bytes = (size_t)n * buf_type_size(dst->type);
  buf_maps q = {.m = m, .e = e};
  const void *from = buf_maps_add(&q, (loom_buf *)src, LOOM_READ); /* only the lock changes */
  void *to = buf_maps_add(&q, dst, n == dst->count ? LOOM_WRITE : LOOM_RDWR);
  if (q.status == LOOM_OK && bytes > 0) {
    if (e != NULL && e->backend == LOOM_CUDA)
      q.status = dev_copy(&m->err, e->stream, to, from, bytes, DEV_WITHIN);
    else
      copy_host(to, from, bytes, e != NULL ? e->num_threads : 1);
  }
  return buf_maps_end(&q);
}
