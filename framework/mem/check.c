/* check.c - buffers in check mode: every map sees a copy of its own, between two guard zones.
 *
 * The copy of a map is poisoned when the map ends, and the next map gets another address.  Writes
 * through a READ map or into a guard zone are found when the map ends.  This code runs only in
 * check mode. */
#include <stdlib.h>
#include <string.h>

#include "mem/internal.h"

enum { POISON_REAL = 0xff /* a NaN */, POISON_INT = 0xa5, GUARD_BYTE = 0x5c };
enum { GUARD = 4096 }; /* bytes on either side; a multiple of the alignment of arrays */

static int poison_byte(const loom_buf *b)
{
  return b->type == LOOM_REAL ? POISON_REAL : POISON_INT;
}

static size_t round_guarded_bytes(size_t bytes) { return (bytes + 63) / 64 * 64; }

/* Keeps the first defect: the core reports it if the caller ignores the status of an unmap. */
static loom_status record_defect(loom_buf *b)
{
  err_prefix(&b->m->err, "buffer '%s' of %s", b->name, b->owner);
  if (b->m->defect.code == LOOM_OK) b->m->defect = b->m->err;
  return b->m->err.code;
}

loom_status check_map(loom_buf *b, int side, int access)
{
  buf_side *const s = &b->side[side];
  const size_t bytes = buf_bytes(b);
  void *base;
  if (s->copy != NULL) return LOOM_OK; /* shared with the readers already there */
  LOOM_TRY(buf_raw_alloc(b->m, side, round_guarded_bytes(bytes) + 2 * GUARD, &base));
  char *const p = base;
  loom_status status = buf_raw_fill(b, side, p, GUARD_BYTE, GUARD);
  /* the rest of the last 64 bytes belongs to the zone behind */
  if (status == LOOM_OK)
    status = buf_raw_fill(b, side, p + GUARD + bytes, GUARD_BYTE,
                          round_guarded_bytes(bytes) - bytes + GUARD);
  if (status == LOOM_OK)
    status = access == LOOM_WRITE ? buf_raw_fill(b, side, p + GUARD, poison_byte(b), bytes)
                                  : buf_raw_copy(b, side, p + GUARD, side, s->data, bytes);
  if (status != LOOM_OK) {
    buf_raw_free(side, base);
    return status;
  }
  s->copy = p + GUARD;
  return LOOM_OK;
}

void check_drop(loom_buf *b, int side)
{
  buf_side *const s = &b->side[side];
  if (s->copy != NULL) buf_raw_free(side, (char *)s->copy - GUARD);
  if (s->poisoned != NULL) buf_raw_free(side, (char *)s->poisoned - GUARD);
  s->copy = s->poisoned = NULL;
}

/* Poisons the copy and keeps it until the next one, so that the next gets another address. */
static void retire_map_copy(loom_buf *b, int side)
{
  buf_side *const s = &b->side[side];
  (void)buf_raw_fill(b, side, s->copy, poison_byte(b), buf_bytes(b));
  if (s->poisoned != NULL) buf_raw_free(side, (char *)s->poisoned - GUARD);
  s->poisoned = s->copy;
  s->copy = NULL;
}

/* Runs over both zones at the end of every map: compares each byte with its neighbour, which is
 * fast with memcmp(). */
static int is_guard_untouched(const char *zone, size_t len)
{
  return zone[0] == GUARD_BYTE && memcmp(zone, zone + 1, len - 1) == 0;
}

/* First byte of a zone that has changed; `len` if none. */
static size_t first_changed(const char *zone, size_t len)
{
  size_t i = is_guard_untouched(zone, len) ? len : 0;
  while (i < len && zone[i] == GUARD_BYTE) ++i;
  return i;
}

/* Checks both guard zones of a copy that ends; `p` is the copy on the host. */
static loom_status check_guards(loom_buf *b, const char *p)
{
  const size_t bytes = buf_bytes(b), behind = round_guarded_bytes(bytes) - bytes + GUARD;
  const size_t after = first_changed(p + bytes, behind);
  const size_t size = item_bytes(b->type);
  if (after < behind)
    return err_set(&b->m->err, LOOM_E_STATE,
                   "written past its end: item %lld of %lld; resize it, or look for the index",
                   (long long)b->count + (long long)(after / size), (long long)b->count);
  size_t before = is_guard_untouched(p - GUARD, GUARD) ? 0 : GUARD;
  while (before > 0 && p[-(ptrdiff_t)before] == GUARD_BYTE) --before;
  if (before > 0)
    return err_set(&b->m->err, LOOM_E_STATE,
                   "written before its start: item -%lld of %lld; look for a negative index",
                   (long long)((before + size - 1) / size), (long long)b->count);
  return LOOM_OK;
}

/* Host copy of a device copy with its guard zones; from malloc. */
static loom_status fetch_guarded_copy(loom_buf *b, char **whole)
{
  const size_t all = round_guarded_bytes(buf_bytes(b)) + 2 * GUARD;
  *whole = malloc(all);
  if (*whole == NULL) return err_set(&b->m->err, LOOM_E_NOMEM, "no memory to check a map");
  return buf_raw_copy(b, SIDE_HOST, *whole, SIDE_DEVICE, (char *)b->side[SIDE_DEVICE].copy - GUARD,
                      all);
}

/* Checks that a READ map still has the contents of the buffer; `p` is the copy on the host. */
static loom_status check_read_map(loom_buf *b, int side, const char *p)
{
  const size_t bytes = buf_bytes(b);
  const void *was = b->side[side].data;
  char *host = NULL;
  loom_status s = LOOM_OK;
  if (bytes == 0) return LOOM_OK;
  if (side == SIDE_DEVICE) {
    host = malloc(bytes);
    if (host == NULL) return err_set(&b->m->err, LOOM_E_NOMEM, "no memory to check a READ map");
    s = buf_raw_copy(b, SIDE_HOST, host, side, was, bytes);
    was = host;
  }
  if (s == LOOM_OK && memcmp(was, p, bytes) != 0)
    s = err_set(&b->m->err, LOOM_E_STATE, "mapped READ but written to; map it LOOM_RDWR");
  free(host);
  return s;
}

loom_status check_unmap(loom_buf *b, int side, int writer)
{
  buf_side *const s = &b->side[side];
  char *whole = NULL;
  loom_status status = side == SIDE_DEVICE ? fetch_guarded_copy(b, &whole) : LOOM_OK;
  const char *const p = whole != NULL ? whole + GUARD : s->copy;
  if (status == LOOM_OK) status = check_guards(b, p);
  if (status == LOOM_OK)
    status = writer ? buf_raw_copy(b, side, s->data, side, s->copy, buf_bytes(b))
                    : check_read_map(b, side, p);
  free(whole);
  retire_map_copy(b, side);
  return status == LOOM_OK ? LOOM_OK : record_defect(b);
}
