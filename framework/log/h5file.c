/* h5file.c - the log as a file: superblock facts, locks, liveness of a writer, repair. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "log/h5journal.h"
#include "log/h5log_internal.h"

/* ---- superblock ---- */
enum { SUPER_LEN = 48, FLAG_WRITE = 1, FLAG_SWMR = 4 };

static int64_t little_endian(const unsigned char *p)
{
  uint64_t v = 0;
  for (int i = 8; i-- > 0;) v = v << 8 | p[i];
  return (int64_t)v;
}

/* HDF5 File Format Specification Version 3.0, II.A: signature, version, sizes of offsets
 * and lengths, consistency flags (versions 2 and 3), then base, extension, end of file. */
loom_status h5u_peek(loom_err *err, const char *path, int fd, const h5u_stage *stage,
                     h5u_super *out)
{
  static const unsigned char signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
  unsigned char b[SUPER_LEN];
  struct stat st;
  memset(out, 0, sizeof *out);
  if (fstat(fd, &st) != 0)
    return err_set(err, LOOM_E_IO, "%s: cannot be examined: %s", path, strerror(errno));
  if (!S_ISREG(st.st_mode)) return err_set(err, LOOM_E_IO, "%s: is not a regular file", path);
  const int code = stage != NULL ? h5u_stage_read(stage, fd, 0, b, (int64_t)sizeof b)
                                 : h5u_read_at(fd, b, (int64_t)sizeof b, 0);
  if (code != 0 || memcmp(b, signature, 8) != 0)
    return err_set(err, LOOM_E_IO,
                   "%s: is not an HDF5 file, or its beginning is damaged; give a log that "
                   "`loom run` wrote",
                   path);
  out->size = stage != NULL ? h5u_stage_end(stage) : (int64_t)st.st_size;
  out->eoa = out->size;
  if (b[8] < 2) return LOOM_OK; /* e.g. copied by h5repack: this version has no flags */
  if (b[8] > 3 || b[9] != 8 || b[10] != 8)
    return err_set(err, LOOM_E_IO, "%s: unknown or damaged HDF5 superblock (version %d)", path,
                   b[8]);
  out->writing = (b[11] & FLAG_WRITE) != 0;
  out->swmr = (b[11] & FLAG_SWMR) != 0;
  out->eoa = little_endian(b + 28);
  return LOOM_OK;
}

/* ---- locks ---- */
int h5u_lock(int fd, int exclusive)
{
  /* A reader holds its lock for an instant while it opens: try for 50 ms. */
  const struct timespec wait = {0, 10 * 1000 * 1000};
  for (int attempt = 0; attempt < 5; ++attempt) {
    if (flock(fd, (exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0) return H5U_LOCKED;
    if (errno != EWOULDBLOCK && errno != EINTR) return H5U_NO_LOCKS;
    nanosleep(&wait, NULL);
  }
  return H5U_BUSY;
}

void h5u_unlock(int fd) { flock(fd, LOCK_UN); }

static void host_name(char *buf, size_t len)
{
  if (gethostname(buf, len) != 0) snprintf(buf, len, "unknown");
  buf[len - 1] = '\0';
}

void h5u_writer_text(char *buf, size_t len)
{
  char host[128];
  host_name(host, sizeof host);
  snprintf(buf, len, "pid %ld on %s", (long)getpid(), host);
}

void h5u_writer_of(const char *path, char *buf, size_t len)
{
  buf[0] = '\0';
  const hid_t fapl = h5u_fapl();
  if (fapl < 0) return;
  const hid_t f = H5Fopen(path, H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, fapl);
  if (f >= 0) {
    char *const s = h5u_get_text(f, "writer");
    if (s != NULL) snprintf(buf, len, "%s", s);
    free(s);
    H5Fclose(f);
  }
  H5Pclose(fapl);
  H5Eclear2(H5E_DEFAULT);
}

int h5u_lock_writer(const char *path, int fd)
{
  const int state = h5u_lock(fd, 1);
  char writer[160], here[128], host[128];
  long pid;
  if (state != H5U_NO_LOCKS) return state;
  h5u_writer_of(path, writer, sizeof writer);
  host_name(here, sizeof here);
  if (sscanf(writer, "pid %ld on %127s", &pid, host) != 2 || strcmp(host, here) != 0)
    return H5U_NO_LOCKS;
  return kill((pid_t)pid, 0) == 0 || errno == EPERM ? H5U_BUSY : H5U_LOCKED;
}

/* ---- status, cutting, repair ---- */
int h5u_put_status(hid_t file, const char *status)
{
  char text[H5LOG_STATUS_LEN] = "";
  snprintf(text, sizeof text, "%s", status);
  if (h5u_set_text(file, "status", text) < 0) return -1;
  /* logs of older versions lack the attribute; a caller with a better reason overwrites it */
  if (H5Aexists(file, "exit_reason") > 0 && h5u_set_text(file, "exit_reason", text) < 0) return -1;
  const hid_t d = H5Dopen2(file, "status", H5P_DEFAULT);
  if (d < 0) return -1;
  const hid_t type = h5u_text_type(sizeof text);
  const int bad = type < 0 || H5Dwrite(d, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) < 0;
  h5u_close(type, H5Tclose);
  return H5Dclose(d) < 0 || bad ? -1 : 0;
}

/* Cuts one dataset to `length` (>= 0), or, for -1, behind step `last`. */
static int cut_one(hid_t file, const char *name, int64_t last, int64_t length)
{
  const hid_t d = H5Dopen2(file, name, H5P_DEFAULT);
  if (d < 0) return -1;
  const int64_t keep = length >= 0 ? length : h5u_rows_upto(d, last);
  const int bad = keep < 0 || h5u_truncate(d, keep) < 0;
  return H5Dclose(d) < 0 || bad ? -1 : 0;
}

static int cut_poses(hid_t file, int64_t frames)
{
  if (H5Lexists(file, "scene/obstacles", H5P_DEFAULT) <= 0) return 0;
  const hid_t g = H5Gopen2(file, "scene/obstacles", H5P_DEFAULT);
  H5G_info_t info;
  int bad = g < 0 || H5Gget_info(g, &info) < 0;
  for (hsize_t i = 0; !bad && i < info.nlinks; ++i) {
    char name[512];
    const ssize_t len =
        H5Lget_name_by_idx(g, ".", H5_INDEX_NAME, H5_ITER_INC, i, name, sizeof name, H5P_DEFAULT);
    bad = len < 0 || (size_t)len + 8 > sizeof name;
    for (int k = 0; !bad && k < 2; ++k) {
      strcpy(name + len, k == 0 ? "/pose" : "/joints");
      if (H5Lexists(g, name, H5P_DEFAULT) > 0) bad = cut_one(g, name, 0, frames) < 0;
    }
  }
  h5u_close(g, H5Gclose);
  return bad ? -1 : 0;
}

int h5u_cut(hid_t file, int64_t last)
{
  if (cut_one(file, "steps", last, -1) < 0 || H5Fflush(file, H5F_SCOPE_LOCAL) < 0) return -1;
  const hid_t d = H5Dopen2(file, "frames/step", H5P_DEFAULT);
  if (d < 0) return -1;
  const int64_t frames = h5u_frames_upto(file, d, last);
  if (H5Dclose(d) < 0 || frames < 0) return -1;
  const char *const first[] = {"iters", "iters_extra", "inner"};
  const char *const newer[] = {"messages", "state", "sections", "kernels", "steps_extra"};
  for (size_t i = 0; i < sizeof first / sizeof *first; ++i)
    if (cut_one(file, first[i], last, -1) < 0) return -1;
  for (size_t i = 0; i < sizeof newer / sizeof *newer; ++i)
    if (H5Lexists(file, newer[i], H5P_DEFAULT) > 0 && cut_one(file, newer[i], last, -1) < 0)
      return -1;
  if (cut_poses(file, frames) < 0) return -1;
  const char *const of_frames[] = {"frames/step", "frames/time", "frames/v", "frames/x"};
  for (int i = 0; i < 4; ++i)
    if (cut_one(file, of_frames[i], 0, frames) < 0) return -1;
  for (int k = 0; k < H5LOG_NUM_FIELDS; ++k) {
    const char *const path = h5log_field_infos[k].path;
    if (H5Lexists(file, "fields", H5P_DEFAULT) > 0 && H5Lexists(file, path, H5P_DEFAULT) > 0 &&
        cut_one(file, path, 0, frames) < 0)
      return -1;
  }
  return H5Fflush(file, H5F_SCOPE_LOCAL) < 0 ? -1 : 0;
}

/* HDF5 itself has two properties for this (h5clear sets them by name): one opens a file whose flags
 * say that it is open, the other accepts an end of allocation behind the end of the file. */
static hid_t repair_fapl(h5u_disk *disk)
{
  const hid_t fapl = h5u_fapl_disk(disk);
  const hbool_t yes = 1;
  if (fapl < 0) return H5I_INVALID_HID;
  if (H5Pset(fapl, "skip_eof_check", &yes) < 0 || H5Pset(fapl, "clear_status_flags", &yes) < 0) {
    H5Pclose(fapl);
    return H5I_INVALID_HID;
  }
  return fapl;
}

/* First part of a repair: clears the flags, sets the end of allocation. */
static loom_status repair_allocation_end(loom_err *err, const char *path, h5u_disk *disk)
{
  const hid_t fapl = repair_fapl(disk);
  if (fapl < 0)
    return h5u_fail(err, path,
                    "this HDF5 library cannot repair a log after its writer died; run `h5clear -s "
                    "--increment` (Debian: hdf5-tools) on it");
  const hid_t f = H5Fopen(path, H5F_ACC_RDWR, fapl);
  H5Pclose(fapl);
  if (f < 0) return h5u_fail(err, path, "its writer died and it cannot be repaired");
  const int bad = H5Fincrement_filesize(f, 0) < 0;
  if (H5Fclose(f) < 0 || bad || disk->code)
    return h5u_disk_fail(err, path, disk, "cannot repair its end of allocation");
  return LOOM_OK;
}

/* Second part, now on an ordinary file: cuts all data behind the last finished step. */
static loom_status drop_unfinished(loom_err *err, const char *path, h5u_disk *disk,
                                   const char *status)
{
  int64_t rows;
  const hid_t fapl = h5u_fapl_disk(disk);
  const hid_t f = fapl < 0 ? H5I_INVALID_HID : H5Fopen(path, H5F_ACC_RDWR, fapl);
  h5u_close(fapl, H5Pclose);
  if (f < 0) return h5u_fail(err, path, "does not open after its repair");
  disk->record = h5u_record(f);
  const hid_t steps = H5Dopen2(f, "steps", H5P_DEFAULT);
  const int64_t last = steps < 0 ? -2 : h5u_last_step(steps, &rows);
  h5u_close(steps, H5Dclose);
  if (last < -1 || h5u_cut(f, last) < 0 || h5u_put_status(f, status) < 0) {
    h5u_disk_fail(err, path, disk, "damaged beyond the unfinished step its writer left");
    H5Fclose(f);
    return err->code;
  }
  if (H5Fclose(f) < 0 || disk->code)
    return h5u_disk_fail(err, path, disk, "cannot be closed after its repair");
  return LOOM_OK;
}

loom_status h5u_repair(loom_err *err, const h5u_place *place, int fd, const char *status, int *lost)
{
  h5u_disk disk = {.fd = fd};
  LOOM_TRY(h5u_stage_begin(err, place->path, fd, &disk.stage));
  loom_status s = repair_allocation_end(err, place->path, &disk);
  if (s == LOOM_OK) s = drop_unfinished(err, place->path, &disk, status);
  if (lost != NULL) *lost = s != LOOM_OK && disk.code == 0;
  if (s == LOOM_OK) s = h5u_stage_commit(err, place, fd, disk.record, 1, disk.stage);
  h5u_stage_free(disk.stage);
  return s;
}
