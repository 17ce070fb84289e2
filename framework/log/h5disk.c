/* h5disk.c - the HDF5 file driver that logs are written through.
 *
 * HDF5 does not survive a failed write: it can neither flush nor drop the contents of its caches,
 * closing fails, and the library crashes when the process ends.  So this driver never reports one.
 * It notes the first error and from then on discards writes: the file stays unchanged from that
 * moment on, single-writer/multiple-reader mode keeps it readable, and everything can be closed.
 * Every caller tests the note.
 *
 * With a stage (h5stage.h) no write reaches the file before the commit.  Without a stage, metadata
 * that crosses a page boundary goes through a journal, because a kill stops a write between pages.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log/h5journal.h"
#include "log/h5util.h"

typedef struct disk_file {
  H5FD_t pub; /* first */
  int fd;
  haddr_t eoa, eof;
  h5u_disk *note;
} disk_file;

typedef struct disk_config { /* data of the driver in the property list */
  h5u_disk *note;
} disk_config;

static const haddr_t max_addr = (haddr_t)INT64_MAX;

static H5FD_t *disk_open(const char *name, unsigned flags, hid_t fapl, haddr_t maxaddr)
{
  const disk_config *const config = H5Pget_driver_info(fapl);
  struct stat st;
  int mode = flags & H5F_ACC_RDWR ? O_RDWR : O_RDONLY;
  if (flags & H5F_ACC_TRUNC) mode |= O_TRUNC;
  if (flags & H5F_ACC_CREAT) mode |= O_CREAT;
  if (flags & H5F_ACC_EXCL) mode |= O_EXCL;
  if (config == NULL || maxaddr == 0) return NULL;
  disk_file *const f = calloc(1, sizeof *f);
  if (f == NULL) return NULL;
  f->note = config->note;
  f->fd =
      f->note->fd > 0 ? fcntl(f->note->fd, F_DUPFD_CLOEXEC, 0) : open(name, mode | O_CLOEXEC, 0666);
  if (f->fd < 0 || fstat(f->fd, &st) != 0) {
    if (f->fd >= 0) close(f->fd);
    free(f);
    return NULL;
  }
  f->eof = (haddr_t)(f->note->stage != NULL ? h5u_stage_end(f->note->stage) : st.st_size);
  return &f->pub;
}

static herr_t disk_close(H5FD_t *file)
{
  disk_file *const f = (disk_file *)file;
  if (close(f->fd) != 0 && f->note->code == 0) f->note->code = errno;
  free(f);
  return 0;
}

static int disk_cmp(const H5FD_t *a, const H5FD_t *b)
{
  struct stat sa, sb;
  if (fstat(((const disk_file *)a)->fd, &sa) != 0 || fstat(((const disk_file *)b)->fd, &sb) != 0)
    return a < b ? -1 : 1;
  if (sa.st_dev != sb.st_dev) return sa.st_dev < sb.st_dev ? -1 : 1;
  return sa.st_ino == sb.st_ino ? 0 : sa.st_ino < sb.st_ino ? -1 : 1;
}

static herr_t disk_query(const H5FD_t *file, unsigned long *flags)
{
  (void)file;
  *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
           H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_POSIX_COMPAT_HANDLE |
           H5FD_FEAT_SUPPORTS_SWMR_IO | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  return 0;
}

static haddr_t disk_get_eoa(const H5FD_t *file, H5FD_mem_t type)
{
  (void)type;
  return ((const disk_file *)file)->eoa;
}

static herr_t disk_set_eoa(H5FD_t *file, H5FD_mem_t type, haddr_t addr)
{
  (void)type;
  ((disk_file *)file)->eoa = addr;
  return 0;
}

static haddr_t disk_get_eof(const H5FD_t *file, H5FD_mem_t type)
{
  (void)type;
  return ((const disk_file *)file)->eof;
}

static herr_t disk_get_handle(H5FD_t *file, hid_t fapl, void **handle)
{
  (void)fapl;
  *handle = &((disk_file *)file)->fd;
  return 0;
}

static herr_t disk_read(H5FD_t *file, H5FD_mem_t type, hid_t dxpl, haddr_t addr, size_t size,
                        void *buffer)
{
  const disk_file *const f = (const disk_file *)file;
  const h5u_stage *const s = f->note->stage;
  const int64_t at = (int64_t)addr, bytes = (int64_t)size;
  (void)type, (void)dxpl;
  if (addr > max_addr || size > max_addr - addr) return -1;
  const int code = s != NULL ? h5u_stage_read(s, f->fd, at, buffer, bytes)
                             : h5u_read_at(f->fd, buffer, bytes, at);
  return code == 0 ? 0 : -1;
}

static void disk_resize(disk_file *f, haddr_t end)
{
  if (f->note->code != 0) return;
  if (f->note->stage != NULL)
    h5u_stage_resize(f->note->stage, (int64_t)end);
  else if (ftruncate(f->fd, (off_t)end) != 0)
    f->note->code = errno;
}

/* Before a write enlarges the file, grows it to the end of allocation: readers load whole chunks,
 * and after a kill the last chunk may have only its first rows. */
static void disk_grow(disk_file *f, haddr_t end)
{
  if (end < f->eoa) end = f->eoa;
  disk_resize(f, end);
  f->eof = end;
}

static int write_by_journal(const disk_file *f, int64_t at, const void *buffer, int64_t bytes)
{
  const h5u_disk *const note = f->note;
  loom_err quiet = {0};
  h5u_stage *s;
  int done = h5u_stage_begin(&quiet, note->place->path, f->fd, &s) == LOOM_OK;
  done = done && h5u_stage_write(s, f->fd, at, buffer, bytes) == 0;
  done = done && h5u_stage_commit(&quiet, note->place, f->fd, note->record, 0, s) == LOOM_OK;
  h5u_stage_free(s);
  if (done) return 0;
  /* no journal, or half of the piece is in the log: write directly, which makes a journal void */
  const int code = h5u_write_at(f->fd, buffer, bytes, at);
  return code == 0 && h5u_journal_target(&quiet, note->place) == LOOM_OK
             ? h5u_journal_remove(note->place)
             : code;
}

/* 0 or errno */
static int write_piece(const disk_file *f, int across, int64_t at, const void *buffer,
                       int64_t bytes)
{
  if (f->note->stage != NULL) return h5u_stage_write(f->note->stage, f->fd, at, buffer, bytes);
  if (across && f->note->place != NULL) return write_by_journal(f, at, buffer, bytes);
  return h5u_write_at(f->fd, buffer, bytes, at);
}

static herr_t disk_write(H5FD_t *file, H5FD_mem_t type, hid_t dxpl, haddr_t addr, size_t size,
                         const void *buffer)
{
  disk_file *const f = (disk_file *)file;
  h5u_disk *const note = f->note;
  (void)dxpl;
  if (addr > max_addr || size > max_addr - addr) return -1;
  if (addr + size > f->eof) disk_grow(f, addr + size);
  const int across =
      type != H5FD_MEM_DRAW && size > 0 && addr / H5U_PAGE != (addr + size - 1) / H5U_PAGE;
  note->split += across;
  if (note->code == 0) note->code = write_piece(f, across, (int64_t)addr, buffer, (int64_t)size);
  return 0;
}

static herr_t disk_truncate(H5FD_t *file, hid_t dxpl, hbool_t closing)
{
  disk_file *const f = (disk_file *)file;
  (void)dxpl, (void)closing;
  if (f->note->code != 0 || f->eoa == f->eof) return 0;
  disk_resize(f, f->eoa);
  if (f->note->code == 0) f->eof = f->eoa;
  return 0;
}

/* HDF5 takes no locks: the log locks its files itself (h5file.c). */
static herr_t disk_lock(H5FD_t *file, hbool_t exclusive)
{
  (void)file, (void)exclusive;
  return 0;
}

static herr_t disk_unlock(H5FD_t *file)
{
  (void)file;
  return 0;
}

static const H5FD_class_t disk_class = {.name = "loom",
                                        .maxaddr = INT64_MAX,
                                        .fc_degree = H5F_CLOSE_STRONG,
                                        .fapl_size = sizeof(disk_config),
                                        .open = disk_open,
                                        .close = disk_close,
                                        .cmp = disk_cmp,
                                        .query = disk_query,
                                        .get_eoa = disk_get_eoa,
                                        .set_eoa = disk_set_eoa,
                                        .get_eof = disk_get_eof,
                                        .get_handle = disk_get_handle,
                                        .read = disk_read,
                                        .write = disk_write,
                                        .truncate = disk_truncate,
                                        .lock = disk_lock,
                                        .unlock = disk_unlock,
                                        .fl_map = H5FD_FLMAP_DICHOTOMY};

hid_t h5u_fapl_disk(h5u_disk *note)
{
  const disk_config config = {note};
  const H5FD_class_t complete = h5api_driver(disk_class);
  const hid_t fapl = h5u_fapl(), driver = H5FDregister(&complete); /* it copies the class */
  int bad = fapl < 0 || driver < 0 || H5Pset_driver(fapl, driver, &config) < 0;
  if (driver >= 0) bad |= H5FDunregister(driver) < 0; /* the list keeps its own reference */
  if (!bad) return fapl;
  h5u_close(fapl, H5Pclose);
  return H5I_INVALID_HID;
}

loom_status h5u_disk_fail(loom_err *err, const char *path, const h5u_disk *note, const char *what)
{
  if (note->code == 0) return h5u_fail(err, path, what);
  H5Eclear2(H5E_DEFAULT);
  return err_set(err, LOOM_E_IO, "%s: %s: %s; finished data is kept", path, what,
                 strerror(note->code));
}
