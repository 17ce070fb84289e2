/* h5recover.c - recovery: finishes, or only reads, an interrupted change.  See h5journal.c. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* O_NOFOLLOW */
#endif
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log/h5journal.h"
#include "log/h5util.h"

static int no_descriptor(char why[H5U_WHY_LEN], const char *reason)
{
  snprintf(why, H5U_WHY_LEN, "%s", reason);
  return -1;
}

int h5u_open_own(const h5u_place *p, char why[H5U_WHY_LEN])
{
  struct stat st;
  h5u_super super;
  loom_err quiet = {0};
  if (fstatat(p->dir, p->name, &st, AT_SYMLINK_NOFOLLOW) != 0)
    return no_descriptor(why, strerror(errno));
  if (h5u_not_usable(&st, 1) != NULL) return no_descriptor(why, h5u_not_usable(&st, 1));
  const int fd = openat(p->dir, p->name, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) {
    snprintf(why, H5U_WHY_LEN, "cannot be written to: %s", strerror(errno));
    return -1;
  }
  const char *reason = fstat(fd, &st) != 0 ? strerror(errno) : h5u_not_usable(&st, 1);
  if (reason == NULL && h5u_peek(&quiet, p->path, fd, NULL, &super) != LOOM_OK)
    reason = "is not an HDF5 file";
  if (reason == NULL) return fd;
  close(fd);
  return no_descriptor(why, reason);
}

/* h5u_record() of the log at `fd` with the pages of `s`, 0: it cannot be read. */
static uint64_t record_with(const h5u_place *p, int fd, h5u_stage *s)
{
  h5u_super super;
  loom_err quiet = {0};
  h5u_disk disk = {.stage = s, .fd = fd};
  if (h5u_peek(&quiet, p->path, fd, s, &super) != LOOM_OK) return 0;
  const hid_t fapl = h5u_fapl_disk(&disk);
  const unsigned flags = H5F_ACC_RDONLY | (super.writing ? H5F_ACC_SWMR_READ : 0);
  const hid_t f = fapl < 0 ? H5I_INVALID_HID : H5Fopen(p->path, flags, fapl);
  const uint64_t record = f < 0 ? 0 : h5u_record(f);
  h5u_close(f, H5Fclose);
  h5u_close(fapl, H5Pclose);
  H5Eclear2(H5E_DEFAULT);
  return record;
}

h5u_stage *h5u_journal_read(const h5u_place *p, int fd, int owned, char note[H5U_NOTE_LEN])
{
  uint64_t record;
  h5u_stage *const s = h5u_journal_load(p, fd, owned, &record, note);
  if (s == NULL || record == 0 || record_with(p, fd, s) == record) return s;
  h5u_stage_free(s);
  snprintf(note, H5U_NOTE_LEN, "%.500s: %s, and is left alone", p->journal_path, H5U_OTHER_LOG);
  return NULL;
}

loom_status h5u_journal_finish(loom_err *err, const h5u_place *p, int fd, char note[H5U_NOTE_LEN])
{
  h5u_stage *const s = h5u_journal_read(p, fd, 1, note);
  if (note[0] != '\0') return LOOM_OK;
  int code = s == NULL ? 0 : h5u_stage_apply(fd, s);
  if (s != NULL && code == 0 && fdatasync(fd) != 0) code = errno;
  h5u_stage_free(s);
  if (code == 0) code = h5u_journal_remove(p);
  if (code == 0) return LOOM_OK;
  return err_set(err, LOOM_E_IO,
                 "%s: its last change was cut off, and cannot be made again from %s: %s", p->path,
                 p->journal_path, strerror(code));
}
