/* h5read.c - opening a log for reading: finished, running, or left by a dead writer. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* realpath, O_NOFOLLOW */
#endif
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "log/h5read_internal.h"

/* ---- opening ---- */
static loom_status open_hdf5(loom_err *err, h5read *r, unsigned flags)
{
  const hid_t fapl = r->disk.stage != NULL ? h5u_fapl_disk(&r->disk) : h5u_fapl();
  if (fapl >= 0) r->file = H5Fopen(r->path, flags, fapl);
  h5u_close(fapl, H5Pclose);
  if (r->file < 0)
    return h5u_fail(
        err, r->path,
        "cannot be read as HDF5: cut short or damaged; run it again, or restore a copy");
  return LOOM_OK;
}

static void add_note(h5read *r, const char *what, const char *why)
{
  const size_t n = strlen(r->note);
  snprintf(r->note + n, sizeof r->note - n, "%s%.300s: %s%s%s", n > 0 ? "; " : "", r->path, what,
           why[0] != '\0' ? ": " : "", why);
}

/* As h5u_open_own, which opens for writing: a log behind a link is refused. */
static int open_own(const h5read *r, char why[H5U_WHY_LEN])
{
  if (!r->linked) return h5u_open_own(&r->place, why);
  snprintf(why, H5U_WHY_LEN, "is reached by a symbolic link");
  return -1;
}

/* For a repair: the descriptor of the log, locked, or -1; *state gets an H5U_*. */
static int lock_to_repair(h5read *r, int *state)
{
  char why[H5U_WHY_LEN];
  const int fd = open_own(r, why);
  *state = H5U_NO_LOCKS;
  if (fd < 0) {
    char what[H5U_WHY_LEN + 64];
    snprintf(what, sizeof what, "it %s", why);
    add_note(r, "was left unfinished, and is not made a plain file again", what);
    return -1;
  }
  *state = h5u_lock_writer(r->path, fd);
  if (*state == H5U_LOCKED && r->note[0] == '\0' && h5u_place_takes_files(&r->place)) return fd;
  if (*state == H5U_LOCKED) *state = H5U_NO_LOCKS;
  close(fd);
  return -1;
}

/* Whether a writer, which would hold a lock, is writing the log at `fd`. */
static int is_live(const char *path, int fd)
{
  const int state = h5u_lock_writer(path, fd);
  h5u_unlock(fd);
  return state == H5U_BUSY;
}

/* The flags say that a writer has the file.  Repairs it if that writer is dead and this process may
 * write; otherwise reads beside it.  Takes `reading`, its descriptor. */
static loom_status open_unfinished(loom_err *err, h5read *r, int reading, const h5u_super *super)
{
  char before[H5U_NOTE_LEN];
  int state = H5U_BUSY;
  memcpy(before, r->note, sizeof before);
  r->live = is_live(r->path, reading);
  const int fd = r->live ? -1 : lock_to_repair(r, &state);
  close(reading);
  if (fd >= 0) {
    const loom_status s = h5u_repair(
        err, &r->place, fd, "failed: the writing process died; every step here is complete", NULL);
    if (s != LOOM_OK) {
      close(fd);
      return s;
    }
    h5u_lock(fd, 0);
    r->lock = fd;
    return open_hdf5(err, r, H5F_ACC_RDONLY);
  }
  r->live |= state == H5U_BUSY;
  if (r->live) memcpy(r->note, before, sizeof before);
  if (!super->swmr)
    return err_set(err, LOOM_E_IO, "%s: %s; try again in a moment", r->path,
                   r->live ? "another process is finishing or repairing it"
                           : "was left unfinished and cannot be repaired from here");
  r->unfinished = 1;
  return open_hdf5(err, r, H5F_ACC_RDONLY | H5F_ACC_SWMR_READ);
}

/* A writer that is just starting or closing is not in SWMR mode for some milliseconds. */
enum { NUM_WAITS = 40 };
static void wait_for_writer(void)
{
  const struct timespec wait = {0, 50 * 1000 * 1000};
  nanosleep(&wait, NULL);
}

/* A process was killed while it changed the log, and this one may not finish the change: it reads
 * the changed pages and writes none.  `fd` is the log, open for reading. */
static void read_change(h5read *r, int fd, const char *why)
{
  char note[H5U_NOTE_LEN];
  if (is_live(r->path, fd)) return; /* no change was cut off: it is going on */
  r->disk.stage = h5u_journal_read(&r->place, fd, 0, note);
  if (r->disk.stage != NULL) {
    r->disk.fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    add_note(r, "its last change was cut off; it is read with the change, but not written", why);
  } else if (note[0] != '\0') {
    add_note(r, "is read as it is", note);
  }
}

/* A process was killed while it changed the log: finishes its change.  `fd`: open for reading. */
static loom_status finish_writer_change(loom_err *err, h5read *r, int fd)
{
  char why[H5U_WHY_LEN], what[H5U_WHY_LEN + 64], note[H5U_NOTE_LEN] = "";
  int state = H5U_BUSY;
  for (int i = 0; state == H5U_BUSY && i < NUM_WAITS; ++i) {
    if (!h5u_journal_exists(&r->place)) return LOOM_OK; /* each turn: a writer makes many */
    const int own = open_own(r, why);
    if (own < 0) {
      snprintf(what, sizeof what, "the log %s", why);
      read_change(r, fd, what);
      return LOOM_OK;
    }
    state = h5u_lock_writer(r->path, own);
    const loom_status s =
        state == H5U_LOCKED ? h5u_journal_finish(err, &r->place, own, note) : LOOM_OK;
    const int beside = state == H5U_BUSY && h5u_lock(own, 0) == H5U_LOCKED;
    close(own);
    if (s != LOOM_OK || beside) return s; /* beside: the lock's holders read or append */
    if (note[0] != '\0') add_note(r, "is read as it is", note);
    if (state == H5U_BUSY) wait_for_writer();
  }
  if (state == H5U_NO_LOCKS) read_change(r, fd, "this file system has no locks");
  if (state != H5U_BUSY) return LOOM_OK;
  return err_set(err, LOOM_E_IO, "%s: another process is changing it; try again in a moment",
                 r->path);
}

/* Opens the log at `fd`, open for reading; takes the descriptor. */
static loom_status open_read_log(loom_err *err, h5read *r, int fd)
{
  h5u_super super;
  loom_status s = h5u_peek(err, r->path, fd, NULL, &super);
  if (s == LOOM_OK) s = finish_writer_change(err, r, fd);
  if (s == LOOM_OK) s = h5u_peek(err, r->path, fd, r->disk.stage, &super);
  for (int i = 0; s == LOOM_OK && super.writing && !super.swmr && i < NUM_WAITS; ++i) {
    if (h5u_lock(fd, 1) == H5U_LOCKED) break; /* no process has it open: it needs repair */
    wait_for_writer();
    s = h5u_peek(err, r->path, fd, r->disk.stage, &super);
  }
  if (s != LOOM_OK) {
    close(fd);
    return s;
  }
  r->size = super.size;
  if (super.writing) return open_unfinished(err, r, fd, &super);
  if (h5u_lock(fd, 0) == H5U_BUSY) {
    close(fd);
    return err_set(err, LOOM_E_IO, "%s: another process is changing it; try again in a moment",
                   r->path);
  }
  r->lock = fd;
  return open_hdf5(err, r, H5F_ACC_RDONLY);
}

/* A reader follows a link: the log and its journal lie at the target. */
static loom_status follow_link(loom_err *err, h5read *r)
{
  struct stat st;
  char real[PATH_MAX];
  if (fstatat(r->place.dir, r->place.name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISLNK(st.st_mode))
    return LOOM_OK;
  r->linked = 1;
  if (realpath(r->path, real) == NULL)
    return err_set(err, LOOM_E_IO, "%s: cannot be opened: %s", r->path, strerror(errno));
  if (h5u_journal_exists(&r->place))
    add_note(r, "is a symbolic link, and the journal beside it is left alone", "");
  h5u_place_close(&r->place);
  return h5u_place_open(err, real, &r->place);
}

static loom_status open_log_place(loom_err *err, h5read *r)
{
  LOOM_TRY(h5u_place_open(err, r->path, &r->place));
  LOOM_TRY(follow_link(err, r));
  const int fd =
      openat(r->place.dir, r->place.name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return err_set(err, LOOM_E_IO, "%s: cannot be opened: %s", r->path, strerror(errno));
  return open_read_log(err, r, fd);
}

/* Checks the facts that all other functions rely on. */
static loom_status check_log_facts(loom_err *err, h5read *r)
{
  hsize_t dims[4];
  const char *const schema = h5read_attr(r, "schema");
  if (schema[0] == '\0')
    return err_set(err, LOOM_E_IO,
                   "%s: is an HDF5 file, but not a loom log (no attribute "
                   "`schema`)",
                   r->path);
  if (atoi(schema) != H5LOG_SCHEMA)
    return err_set(err, LOOM_E_IO, "%s: has log schema %s, this version reads %d", r->path, schema,
                   H5LOG_SCHEMA);
  const char *const needed[] = {"steps",    "iters",       "inner",      "frames/x",
                                "frames/v", "frames/time", "frames/step"};
  for (size_t i = 0; i < sizeof needed / sizeof needed[0]; ++i) {
    char what[64];
    const hid_t d = h5read_dataset_id(r, needed[i]);
    const int rank = d < 0 ? -1 : h5read_shape(r, d, dims, 1);
    const int vectors = i == 3 || i == 4;
    const int ok = vectors ? rank == 3 && dims[2] == 3 : rank == 1;
    snprintf(what, sizeof what, "has no usable /%s: the file is damaged", needed[i]);
    if (!ok) return h5u_fail(err, r->path, what);
    if (i == 4 && (int64_t)dims[1] != r->n)
      return err_set(err, LOOM_E_IO, "%s: /frames/x and /frames/v disagree", r->path);
    if (vectors) r->n = (int64_t)dims[1];
  }
  if (H5Lexists(r->file, "scene/triangles", H5P_DEFAULT) > 0) {
    const hid_t d = h5read_dataset_id(r, "scene/triangles");
    const int rank = d < 0 ? -1 : h5read_shape(r, d, dims, 4);
    if (rank != 2 || dims[1] != 3)
      return h5u_fail(err, r->path, "has no usable /scene/triangles: the file is damaged");
    r->nt = (int64_t)dims[0];
  }
  H5Eclear2(H5E_DEFAULT);
  return LOOM_OK;
}

loom_status h5read_open(loom_err *err, const char *path, h5read **out)
{
  *out = NULL;
  h5u_quiet();
  h5read *const r = calloc(1, sizeof *r);
  if (r != NULL) r->path = malloc(strlen(path) + 1);
  if (r == NULL || r->path == NULL) {
    free(r);
    return err_set(err, LOOM_E_NOMEM, "%s: out of memory", path);
  }
  strcpy(r->path, path);
  r->lock = -1;
  r->place.dir = -1;
  r->last = -2;
  r->file = H5I_INVALID_HID;
  loom_status s = open_log_place(err, r);
  if (s == LOOM_OK) s = check_log_facts(err, r);
  if (s != LOOM_OK) {
    h5read_close(r);
    return s;
  }
  *out = r;
  return LOOM_OK;
}

void h5read_close(h5read *r)
{
  if (r == NULL) return;
  if (r->file >= 0) H5Fclose(r->file);
  if (r->lock >= 0) close(r->lock);
  if (r->disk.fd > 0) close(r->disk.fd);
  h5u_stage_free(r->disk.stage);
  h5u_place_close(&r->place);
  while (r->sets != NULL) {
    h5read_set *const set = r->sets;
    r->sets = set->next;
    free(set->name);
    free(set);
  }
  while (r->texts != NULL) {
    h5read_text *const t = r->texts;
    r->texts = t->next;
    free(t->name);
    free(t->text);
    free(t);
  }
  free(r->path);
  free(r);
  H5Eclear2(H5E_DEFAULT);
}

/* ---- facts ---- */
static char *text_of(hid_t d)
{
  const hid_t type = H5Dget_type(d), space = H5Dget_space(d);
  const size_t len = type < 0 ? 0 : H5Tget_size(type);
  char *s = NULL;
  if (len > 0 && len <= 1 << 16 && H5Tget_class(type) == H5T_STRING &&
      H5Tis_variable_str(type) == 0 && H5Sget_simple_extent_npoints(space) == 1)
    s = calloc(1, len + 1);
  if (s != NULL && H5Dread(d, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, s) < 0) {
    free(s);
    s = NULL;
  }
  h5u_close(type, H5Tclose);
  h5u_close(space, H5Sclose);
  return s;
}

/* While a writer works, the dataset /status is current, the attribute is not. */
static char *status_text(h5read *r)
{
  const hid_t d = h5read_dataset_id(r, "status");
  if (d < 0 || (r->live && H5Drefresh(d) < 0)) return NULL;
  return text_of(d);
}

char *h5read_string(h5read *r, const char *path)
{
  const hid_t d = h5read_exists(r, path) ? h5read_dataset_id(r, path) : H5I_INVALID_HID;
  char *const s = d >= 0 ? text_of(d) : NULL;
  H5Eclear2(H5E_DEFAULT);
  return s;
}

const char *h5read_attr(h5read *r, const char *name)
{
  const int current = r->unfinished && strcmp(name, "status") == 0;
  for (h5read_text *t = r->texts; t != NULL && !current; t = t->next)
    if (strcmp(t->name, name) == 0) return t->text;
  h5read_text *const t = calloc(1, sizeof *t);
  if (t == NULL) return "";
  t->text = current ? status_text(r) : h5u_get_text(r->file, name);
  H5Eclear2(H5E_DEFAULT);
  t->name = malloc(strlen(name) + 1);
  if (t->text == NULL || t->name == NULL) {
    free(t->text);
    free(t->name);
    free(t);
    return "";
  }
  strcpy(t->name, name);
  t->next = r->texts;
  r->texts = t;
  return t->text;
}

int64_t h5read_num_verts(const h5read *r) { return r->n; }
int64_t h5read_num_tris(const h5read *r) { return r->nt; }
int h5read_live(const h5read *r) { return r->live; }
const char *h5read_note(const h5read *r) { return r->note; }

static hid_t add_set(h5read *r, const char *name)
{
  h5read_set *const s = calloc(1, sizeof *s);
  if (s != NULL) s->name = malloc(strlen(name) + 1);
  if (s == NULL || s->name == NULL) {
    free(s);
    return H5I_INVALID_HID;
  }
  strcpy(s->name, name);
  s->id = H5Dopen2(r->file, name, H5P_DEFAULT);
  if (s->id < 0) {
    free(s->name);
    free(s);
    return H5I_INVALID_HID;
  }
  s->next = r->sets;
  r->sets = s;
  return s->id;
}

hid_t h5read_dataset_id(h5read *r, const char *name)
{
  for (h5read_set *s = r->sets; s != NULL; s = s->next) {
    if (strcmp(s->name, name) != 0) continue;
    if (s->stale && H5Drefresh(s->id) < 0) return H5I_INVALID_HID;
    s->stale = 0;
    return s->id;
  }
  return add_set(r, name);
}

/* No filter in use packs better than deflate's 1032 to 1: a larger claim is damage, and reading
 * that much would only fill the memory. */
int h5read_shape(const h5read *r, hid_t dset, hsize_t dims[4], size_t item)
{
  enum { RATIO_MAX = 1100 };
  const double most = r->live ? 1e18 : (double)RATIO_MAX * ((double)r->size + 65536);
  const hid_t space = H5Dget_space(dset);
  int rank = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
  if (rank < 0 || rank > 4 || (rank > 0 && H5Sget_simple_extent_dims(space, dims, NULL) < 0))
    rank = -1;
  double bytes = (double)item;
  for (int i = 0; i < rank; ++i) bytes *= (double)dims[i];
  h5u_close(space, H5Sclose);
  return bytes <= most ? rank : -1;
}

/* While the file grows, every count belongs to the steps that h5read_num_steps saw. */
static int64_t count_steps(h5read *r)
{
  int64_t rows = -1;
  for (h5read_set *s = r->sets; s != NULL; s = s->next) s->stale = r->live;
  const hid_t d = h5read_dataset_id(r, "steps");
  if (d < 0) return -1;
  if (r->unfinished)
    r->last = h5u_last_step(d, &rows);
  else
    rows = h5u_length(d);
  H5Eclear2(H5E_DEFAULT);
  return rows;
}

/* Number of valid entries of a table, or of /frames by /frames/step; -1 on failure. */
static int64_t count_valid_entries(h5read *r, const char *name, int is_table)
{
  if (strcmp(name, "steps") == 0) return count_steps(r);
  if (r->unfinished && r->last < -1 && count_steps(r) < 0) return -1;
  const hid_t d = h5read_dataset_id(r, name);
  if (d < 0) return -1;
  const int64_t count = !r->unfinished ? h5u_length(d)
                        : is_table     ? h5u_rows_upto(d, r->last)
                                       : h5u_frames_upto(r->file, d, r->last);
  H5Eclear2(H5E_DEFAULT);
  return count;
}

int64_t h5read_num_rows(h5read *r, const char *table) { return count_valid_entries(r, table, 1); }
int64_t h5read_num_frames(h5read *r) { return count_valid_entries(r, "frames/step", 0); }
int64_t h5read_num_steps(h5read *r) { return count_valid_entries(r, "steps", 1); }
int64_t h5read_num_iters(h5read *r) { return count_valid_entries(r, "iters", 1); }

int h5read_exists(h5read *r, const char *path)
{
  char part[512];
  if (path[0] == '/') ++path;
  if (strlen(path) >= sizeof part) return 0;
  strcpy(part, path);
  /* H5Lexists requires every group on the path to exist */
  for (char *s = part;; ++s) {
    if (*s != '/' && *s != '\0') continue;
    const char here = *s;
    *s = '\0';
    const int there = H5Lexists(r->file, part, H5P_DEFAULT) > 0;
    H5Eclear2(H5E_DEFAULT);
    if (!there || here == '\0') return there;
    *s = here;
  }
}

int h5read_child(h5read *r, const char *group, int64_t i, char *name, size_t len)
{
  H5G_info_t info;
  if (!h5read_exists(r, group)) return 0;
  const hid_t g = H5Gopen2(r->file, group, H5P_DEFAULT);
  int ok = g >= 0 && H5Gget_info(g, &info) >= 0 && (hsize_t)i < info.nlinks;
  ok = ok && H5Lget_name_by_idx(g, ".", H5_INDEX_NAME, H5_ITER_INC, (hsize_t)i, name, len,
                                H5P_DEFAULT) > 0;
  h5u_close(g, H5Gclose);
  H5Eclear2(H5E_DEFAULT);
  return ok;
}

int h5read_frame_bytes(h5read *r)
{
  const hid_t d = h5read_dataset_id(r, "frames/x");
  const hid_t type = d < 0 ? H5I_INVALID_HID : H5Dget_type(d);
  const int bytes = type < 0 ? 0 : (int)H5Tget_size(type);
  h5u_close(type, H5Tclose);
  H5Eclear2(H5E_DEFAULT);
  return bytes;
}
