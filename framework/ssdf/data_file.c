/* data_file.c - FILE.part: a line that identifies body and settings, and a record for every pose.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ssdf/data.h"

static const char part_mark[] = "loom-ssdf-part ";

enum { HEAD = 64 };

static uint64_t hash_record_bytes(uint64_t h, const void *data, size_t len) /* FNV-1a */
{
  const unsigned char *const p = data;
  for (size_t i = 0; i < len; ++i) h = (h ^ p[i]) * UINT64_C(0x100000001b3);
  return h;
}

static uint64_t hash_number(uint64_t h, int64_t v)
{
  for (int k = 0; k < 64; k += 8) h = (h ^ ((uint64_t)v >> k & 255)) * UINT64_C(0x100000001b3);
  return h;
}

static uint64_t check_of(const ssdf_record *r, const ssdf_samples *s)
{
  uint64_t h = hash_number(UINT64_C(0xcbf29ce484222325), r->region);
  h = hash_number(hash_number(hash_number(h, r->pose), r->nodes), r->count);
  h = hash_record_bytes(h, s->x, 3 * (size_t)s->count * sizeof *s->x);
  h = hash_record_bytes(h, s->d, (size_t)s->count * sizeof *s->d);
  return hash_record_bytes(h, s->label, (size_t)s->count);
}

static int64_t record_data_bytes(int64_t count) { return count * (int64_t)(4 * sizeof(float) + 1); }

static loom_status io_error(loom_err *err, const ssdf_part *f, const char *what)
{
  return err_set(err, LOOM_E_IO, "%s: cannot be %s: %s", f->path, what,
                 errno != 0 ? strerror(errno) : "it is too short");
}

static int transfer_part_bytes(const ssdf_part *f, void *data, int64_t len, int64_t at, int write)
{
  for (int64_t done = 0; done < len;) {
    char *const p = (char *)data + done;
    errno = 0;
    const ssize_t n = write ? pwrite(f->fd, p, (size_t)(len - done), at + done)
                            : pread(f->fd, p, (size_t)(len - done), at + done);
    if (n <= 0 && errno != EINTR) return 0;
    if (n > 0) done += n;
  }
  return 1;
}

static int read_samples(const ssdf_part *f, int64_t at, ssdf_samples *s)
{
  const int64_t n = s->count, one = (int64_t)sizeof(float);
  return transfer_part_bytes(f, s->x, 3 * n * one, at, 0) &&
         transfer_part_bytes(f, s->d, n * one, at + 3 * n * one, 0) &&
         transfer_part_bytes(f, s->label, n, at + 4 * n * one, 0);
}

static loom_status reserve_record_samples(loom_err *err, const ssdf_record *r, ssdf_samples *s)
{
  *s = (ssdf_samples){.count = r->count, .room = r->count, .nodes = r->nodes};
  loom_status st = mesh_alloc(err, 3 * r->count, sizeof *s->x, &s->x);
  if (st == LOOM_OK) st = mesh_alloc(err, r->count, sizeof *s->d, &s->d);
  if (st == LOOM_OK) st = mesh_alloc(err, r->count, sizeof *s->label, &s->label);
  if (st != LOOM_OK) ssdf_samples_free(s);
  return st;
}

static loom_status append_part_record(loom_err *err, ssdf_part *f, const ssdf_record *r, int64_t at)
{
  if (f->num == f->room) {
    const int64_t room = 2 * f->room + 64;
    ssdf_record *const done = realloc(f->done, (size_t)room * sizeof *done);
    if (done != NULL) f->done = done;
    int64_t *const places = realloc(f->at, (size_t)room * sizeof *places);
    if (places != NULL) f->at = places;
    if (done == NULL || places == NULL)
      return err_set(err, LOOM_E_NOMEM, "no memory for %" PRId64 " records", room);
    f->room = room;
  }
  f->done[f->num] = *r;
  f->at[f->num++] = at;
  return LOOM_OK;
}

/* Reads the complete records from the start of the file; cuts the file off behind them. */
static loom_status scan_part_records(loom_err *err, ssdf_part *f, int64_t size)
{
  int64_t at = HEAD;
  for (;;) {
    ssdf_record r;
    ssdf_samples s;
    const int64_t data = at + (int64_t)sizeof r;
    if (data > size || !transfer_part_bytes(f, &r, sizeof r, at, 0)) break;
    if (r.count < 0 || r.count > (size - data) / record_data_bytes(1)) break;
    LOOM_TRY(reserve_record_samples(err, &r, &s));
    const int whole = read_samples(f, data, &s) && check_of(&r, &s) == r.check;
    ssdf_samples_free(&s);
    if (!whole) break;
    LOOM_TRY(append_part_record(err, f, &r, at));
    at = data + record_data_bytes(r.count);
  }
  errno = 0;
  return ftruncate(f->fd, at) == 0 ? LOOM_OK : io_error(err, f, "shortened");
}

static void head_of(const ssdf_plan *p, char head[HEAD])
{
  uint64_t h = hash_record_bytes(UINT64_C(0xcbf29ce484222325), p->settings, strlen(p->settings));
  h = hash_record_bytes(h, p->body.hash, sizeof p->body.hash);
  memset(head, 0, HEAD);
  snprintf(head, HEAD, "%s1 %016" PRIx64 "\n", part_mark, h);
}

loom_status ssdf_part_open(loom_err *err, const char *file, const ssdf_plan *p, ssdf_part *out)
{
  char head[HEAD], found[HEAD] = {0};
  memset(out, 0, sizeof *out);
  out->fd = -1;
  const int n = snprintf(out->path, sizeof out->path, "%s.part", file);
  if (n < 0 || (size_t)n >= sizeof out->path)
    return err_set(err, LOOM_E_CONFIG, "%.60s...: the name is too long", file);
  head_of(p, head);
  errno = 0;
  out->fd = open(out->path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
  if (out->fd < 0 && errno == ELOOP)
    return err_set(err, LOOM_E_CONFIG,
                   "%s: is a symbolic link, and a link is not written through; remove it, or write "
                   "to another file",
                   out->path);
  if (out->fd < 0) return io_error(err, out, "opened");
  struct stat st;
  if (fstat(out->fd, &st) != 0 || !S_ISREG(st.st_mode))
    return err_set(err, LOOM_E_CONFIG,
                   "%s: is no regular file; remove it, or write to another file", out->path);
  const int64_t size = lseek(out->fd, 0, SEEK_END);
  if (size > 0 && size < HEAD && !transfer_part_bytes(out, found, size, 0, 0))
    return io_error(err, out, "read");
  if (size < HEAD && memcmp(head, found, (size_t)size) == 0) /* cut off within the head */
    return transfer_part_bytes(out, head, HEAD, 0, 1) ? LOOM_OK : io_error(err, out, "written");
  if (size >= HEAD && !transfer_part_bytes(out, found, HEAD, 0, 0))
    return io_error(err, out, "read");
  if (memcmp(part_mark, found, sizeof part_mark - 1) != 0)
    return err_set(err, LOOM_E_CONFIG, "%s is another file; remove it, or write to another file",
                   out->path);
  if (memcmp(head, found, HEAD) != 0)
    return err_set(err, LOOM_E_CONFIG,
                   "%s was begun with other settings; remove it, or write to another file",
                   out->path);
  return scan_part_records(err, out, size);
}

void ssdf_part_close(ssdf_part *f)
{
  if (f->fd >= 0) close(f->fd);
  free(f->done);
  free(f->at);
  memset(f, 0, sizeof *f);
  f->fd = -1;
}

int ssdf_part_has(const ssdf_part *f, int64_t region, int64_t pose)
{
  for (int64_t k = 0; k < f->num; ++k)
    if (f->done[k].region == region && f->done[k].pose == pose) return 1;
  return 0;
}

loom_status ssdf_part_add(loom_err *err, ssdf_part *f, int64_t region, int64_t pose,
                          const ssdf_samples *s)
{
  const int64_t n = s->count, one = (int64_t)sizeof(float), at = lseek(f->fd, 0, SEEK_END);
  ssdf_record r = {.region = region, .pose = pose, .nodes = s->nodes, .count = n};
  r.check = check_of(&r, s);
  const int64_t data = at + (int64_t)sizeof r;
  if (!transfer_part_bytes(f, &r, sizeof r, at, 1) ||
      !transfer_part_bytes(f, s->x, 3 * n * one, data, 1) ||
      !transfer_part_bytes(f, s->d, n * one, data + 3 * n * one, 1) ||
      !transfer_part_bytes(f, s->label, n, data + 4 * n * one, 1))
    return io_error(err, f, "written");
  return append_part_record(err, f, &r, at);
}

loom_status ssdf_part_read(loom_err *err, const ssdf_part *f, int64_t k, ssdf_samples *out)
{
  LOOM_TRY(reserve_record_samples(err, &f->done[k], out));
  if (read_samples(f, f->at[k] + (int64_t)sizeof(ssdf_record), out)) return LOOM_OK;
  ssdf_samples_free(out);
  return io_error(err, f, "read");
}
