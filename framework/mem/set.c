/* set.c - the set of all buffers of one run: leaks, bytes, check mode, workspace. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "mem/compare.h"
#include "mem/internal.h"

loom_status mem_new(loom_err *err, int check, mem **out)
{
  const char *env = getenv("LOOM_MEM_CHECK");
  mem *m = calloc(1, sizeof *m);
  *out = m;
  if (m == NULL) return err_set(err, LOOM_E_NOMEM, "no memory for the table of buffers");
  m->check = check || (env != NULL && env[0] != '\0' && strcmp(env, "0") != 0);
  compare_add(m);
  return LOOM_OK;
}

int mem_free(mem *m)
{
  int alive = 0;
  if (m == NULL) return 0;
  for (loom_buf *b = m->first, *next; b != NULL; b = next) {
    next = b->next;
    alive += !b->internal;
    buf_drop_storage(b);
    free(b);
  }
  compare_remove(m);
  free(m);
  return alive;
}

int mem_leaks(const mem *m, const char *owner, char *text, size_t len)
{
  static const char *const types[] = {"real", "i32", "i64", "u8", "u64"};
  int num = 0;
  size_t used = 0;
  if (len > 0) text[0] = '\0';
  for (const loom_buf *b = m->first; b != NULL; b = b->next) {
    if (b->internal || (owner != NULL && strcmp(owner, b->owner) != 0)) continue;
    ++num;
    if (used >= len) continue; /* keep counting, the text is full */
    used += (size_t)snprintf(text + used, len - used, "%s/%s: %s [%lld], %zu bytes\n", b->owner,
                             b->name, types[b->type], (long long)b->count,
                             (size_t)b->count * buf_type_size(b->type));
  }
  return num;
}

int mem_num_owned(const mem *m, const char *owner) { return mem_leaks(m, owner, NULL, 0); }

void mem_free_owned(mem *m, const char *owner)
{
  for (loom_buf *b = m->first, *next; b != NULL; b = next) {
    next = b->next;
    if (b->internal || strcmp(owner, b->owner) != 0) continue;
    buf_release(b);
    buf_free(m, b);
  }
}

int mem_has(const mem *m, const loom_buf *b)
{
  for (const loom_buf *one = m->first; one != NULL; one = one->next)
    if (one == b) return 1;
  return 0;
}

const char *mem_mapped(const mem *m)
{
  for (const loom_buf *b = m->first; b != NULL; b = b->next)
    if (b->readers > 0 || b->writer != 0) return b->name;
  return NULL;
}

int64_t mem_num_maps(const mem *m) { return m->maps; }

void mem_check_on(mem *m) { m->check = 1; }

int mem_has_defect(const mem *m) { return m->defect.code != LOOM_OK; }

int mem_take_defect(mem *m, loom_err *out)
{
  if (!mem_has_defect(m)) return 0;
  *out = m->defect;
  err_clear(&m->defect);
  return 1;
}

void mem_release_maps(mem *m)
{
  for (loom_buf *b = m->first; b != NULL; b = b->next) buf_release(b);
}

static int memory_side(int place) { return place == LOOM_AT_DEVICE ? SIDE_DEVICE : SIDE_HOST; }

int64_t mem_bytes(const mem *m, int place) { return m->bytes[memory_side(place)]; }

int64_t mem_peak_bytes(const mem *m, int place) { return m->peak[memory_side(place)]; }

void mem_visit(const mem *m, int place, mem_visit_fn visit, void *user)
{
  for (const loom_buf *b = m->first; b != NULL; b = b->next) {
    const size_t bytes = b->side[memory_side(place)].cap;
    if (bytes > 0) visit(user, b->owner, b->name, (int64_t)bytes);
  }
}

void mem_fail_after(mem *m, int64_t k) { m->fail_after = k; }

loom_err *mem_err(mem *m) { return &m->err; }

void mem_return_freed(void)
{
#ifdef __GLIBC__
  /* mallopt(3): setting the threshold also keeps it from growing to 32 MB with the freed arrays */
  (void)mallopt(M_MMAP_THRESHOLD, 32 << 10);
#endif
}

loom_status mem_work(mem *m, int slot, int64_t bytes, loom_buf **out)
{
  loom_buf *b = m->work[slot];
  if (b == NULL) {
    LOOM_TRY(buf_new(m, "core", "workspace", LOOM_U8, 0, &b));
    b->internal = 1;
    m->work[slot] = b;
  }
  *out = b;
  return b->count >= bytes ? LOOM_OK : buf_reset(m, b, bytes);
}
