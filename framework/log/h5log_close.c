/* h5log_close.c - the end of a log: final status, leaving SWMR, repair after a failed write. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log/h5log_internal.h"

static void free_batch(h5log_batch *b)
{
  if (b->rows == NULL) return;
  h5u_close(b->dset, H5Dclose);
  h5u_close(b->type, H5Tclose);
  free(b->rows);
  b->rows = NULL;
}

int h5log_release(h5log *l)
{
  if (l->file < 0) return 0;
  free_batch(&l->steps);
  free_batch(&l->iters);
  free_batch(&l->extra);
  free_batch(&l->inner);
  free_batch(&l->messages);
  free_batch(&l->state);
  free_batch(&l->sections);
  free_batch(&l->kernels);
  free_batch(&l->step_extra);
  const hid_t file = l->file;
  l->file = H5I_INVALID_HID;
  return H5Fclose(file) < 0 ? -1 : 0; /* strong close: the other ids go with it */
}

void h5log_free(h5log *l)
{
  if (l == NULL) return;
  h5log_release(l);
  h5u_stage_free(l->disk.stage);
  H5Eclear2(H5E_DEFAULT);
  if (l->lock >= 0) close(l->lock);
  h5u_place_close(&l->place);
  free(l->poses);
  free(l->narrow);
  free(l->row_extra);
  free(l->items);
  free(l->path);
  free(l);
}

/* Gives back the disk space that was reserved behind the end of the file. */
static void release_reserve(int fd)
{
  struct stat st;
  if (fstat(fd, &st) != 0) return;
  if (ftruncate(fd, st.st_size) != 0) return; /* only disk space is lost */
}

/* Attributes of the root can change only now that SWMR is off. */
static loom_status put_end(loom_err *err, const h5log *l, h5u_disk *disk, const char *status)
{
  const char *const path = l->path;
  const hid_t fapl = h5u_fapl_disk(disk);
  const hid_t f = fapl < 0 ? H5I_INVALID_HID : H5Fopen(path, H5F_ACC_RDWR, fapl);
  h5u_close(fapl, H5Pclose);
  if (f < 0) return h5u_fail(err, path, "cannot be opened for its final status");
  const int bad = h5u_put_status(f, status) < 0 || h5log_put_end(f, l) < 0;
  if (H5Fclose(f) < 0 || bad || disk->code)
    return h5u_disk_fail(err, path, disk, "cannot write its final status");
  return LOOM_OK;
}

/* Repairs the file after a failed write.  A journal may hold the missing part. */
static loom_status repair_closed_log(loom_err *err, const h5log *l, const char *status)
{
  char note[H5U_NOTE_LEN];
  LOOM_TRY(h5u_journal_finish(err, &l->place, l->lock, note));
  if (note[0] != '\0') return err_set(err, LOOM_E_IO, "%s", note);
  return h5u_repair(err, &l->place, l->lock, status, NULL);
}

static loom_status final_attributes(loom_err *err, const h5log *l, const char *status)
{
  h5u_disk disk = {.fd = l->lock};
  LOOM_TRY(h5u_stage_begin(err, l->path, l->lock, &disk.stage));
  loom_status s = put_end(err, l, &disk, status);
  if (s == LOOM_OK) s = h5u_stage_commit(err, &l->place, l->lock, l->disk.record, 1, disk.stage);
  h5u_stage_free(disk.stage);
  return s;
}

loom_status h5log_close(h5log *l, loom_err *err, const char *status)
{
  if (l == NULL) return LOOM_OK;
  loom_err later = {0};
  /* A commit that finds the disk full leaves the file consistent: it closes as usual. */
  loom_status s = h5log_commit(l, err);
  if ((h5log_release(l) < 0 || l->disk.code) && s == LOOM_OK)
    s = h5u_disk_fail(err, l->path, &l->disk, "cannot be closed");
  release_reserve(l->lock); /* the next writes may need that room */
  const loom_status t = l->broken || l->disk.code ? repair_closed_log(&later, l, status)
                                                  : final_attributes(&later, l, status);
  h5log_free(l);
  if (t == LOOM_OK) return s;
  if (s == LOOM_OK)
    *err = later, s = t;
  else
    err_append(err, "%s", later.text);
  return s;
}
