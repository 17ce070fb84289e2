/* h5log_resume.c - continues a log: repair, checks, cutting later steps, SWMR again. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log/h5log_internal.h"

static loom_status lock_file(loom_err *err, h5log *l, int *lost)
{
  char writer[160];
  LOOM_TRY(h5u_place_open(err, l->path, &l->place));
  l->lock = openat(l->place.dir, l->place.name, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
  *lost = l->lock < 0 && errno == ENOENT;
  if (*lost) return err_set(err, LOOM_E_IO, "%s: there is no such log", l->path);
  if (l->lock < 0)
    return err_set(err, LOOM_E_IO, "%s: cannot be opened to continue it: %s", l->path,
                   strerror(errno));
  const int state = h5u_lock_writer(l->path, l->lock);
  if (state == H5U_LOCKED) return LOOM_OK;
  h5u_writer_of(l->path, writer, sizeof writer);
  if (state == H5U_BUSY)
    return err_set(err, LOOM_E_IO,
                   "%s: is in use by another process (writer: %s); stop that run, or the program "
                   "that reads the file",
                   l->path, writer[0] != '\0' ? writer : "none noted");
  return err_set(err, LOOM_E_IO,
                 "%s: this file system has no locks and the log was written on another host (%s): "
                 "make sure that run is over, then run `h5clear -s --increment` on it",
                 l->path, writer);
}

/* The stored table must have exactly the columns this run will write. */
static int same_columns(hid_t file, const h5u_table *t)
{
  const hid_t d = H5Dopen2(file, t->name, H5P_DEFAULT);
  const hid_t there = d < 0 ? H5I_INVALID_HID : H5Dget_type(d), ours = h5u_table_type(t);
  const int same = there >= 0 && ours >= 0 && H5Tequal(there, ours) > 0;
  h5u_close(ours, H5Tclose);
  h5u_close(there, H5Tclose);
  h5u_close(d, H5Dclose);
  return same;
}

static loom_status check_resumed_frames(loom_err *err, h5log *l, const h5log_options *opt)
{
  hsize_t dims[3] = {0};
  const hid_t d = H5Dopen2(l->file, "frames/x", H5P_DEFAULT);
  const hid_t space = d < 0 ? H5I_INVALID_HID : H5Dget_space(d);
  const hid_t type = d < 0 ? H5I_INVALID_HID : H5Dget_type(d);
  const size_t size = type < 0 ? 0 : H5Tget_size(type);
  const int bad = space < 0 || H5Sget_simple_extent_ndims(space) != 3 ||
                  H5Sget_simple_extent_dims(space, dims, NULL) < 0;
  h5u_close(type, H5Tclose);
  h5u_close(space, H5Sclose);
  h5u_close(d, H5Dclose);
  if (bad) return h5u_fail(err, l->path, "has no usable /frames/x");
  l->n = (int64_t)dims[1];
  if (size != (opt->frames_f32 ? 4 : 8))
    return err_set(err, LOOM_E_CONFIG,
                   "%s: holds frames as f%d; set [log] frames = f%d to "
                   "continue it",
                   l->path, (int)size * 8, (int)size * 8);
  return LOOM_OK;
}

/* Frames continue with the fields that the log has. */
static loom_status check_resumed_fields(loom_err *err, const h5log *l, const h5log_options *opt)
{
  const int any = H5Lexists(l->file, "fields", H5P_DEFAULT) > 0;
  for (int k = 0; k < H5LOG_NUM_FIELDS; ++k) {
    const char *const path = h5log_field_infos[k].path, *const name = strchr(path, '/') + 1;
    const int there = any && H5Lexists(l->file, path, H5P_DEFAULT) > 0;
    if (there == ((opt->fields & LOOM_BIT(k)) != 0)) continue;
    return err_set(err, LOOM_E_CONFIG,
                   "%s: its frames have %s field '%s'; set [log] fields as they were, or start a "
                   "new log with -o",
                   l->path, there ? "the" : "no", name);
  }
  return LOOM_OK;
}

/* *lost: as for h5log_resume. */
static loom_status check_resumed_log(loom_err *err, h5log *l, const char *config_hash,
                                     const h5log_options *opt, int *lost)
{
  char *const schema = h5u_get_text(l->file, "schema");
  const int known = schema != NULL && atoi(schema) == H5LOG_SCHEMA;
  free(schema);
  if (!known)
    return err_set(err, LOOM_E_IO, "%s: is not a loom log of schema %d", l->path, H5LOG_SCHEMA);
  char *const hash = h5u_get_text(l->file, "config_hash");
  *lost = hash == NULL;
  if (hash == NULL) return h5u_fail(err, l->path, "has no readable config_hash: it is damaged");
  const int same = strcmp(hash, config_hash) == 0;
  if (!same)
    err_set(err, LOOM_E_CONFIG,
            "%s: was written with another configuration (config_hash %s, now %s): use the same "
            "one (`loom info` prints it), or start a new log with -o",
            l->path, hash, config_hash);
  free(hash);
  if (!same) return LOOM_E_CONFIG;
  LOOM_TRY(h5log_check_own(err, l, opt));
  *lost = 1;
  LOOM_TRY(check_resumed_frames(err, l, opt));
  *lost = 0;
  LOOM_TRY(check_resumed_fields(err, l, opt));
  int ok = 1;
  for (int of_steps = 0; of_steps < 2; ++of_steps) {
    h5log_extra extra;
    if (h5log_extra_table(opt, of_steps, &extra) < 0)
      return err_set(err, LOOM_E_NOMEM, "%s: out of memory", l->path);
    ok = ok && (same_columns(l->file, &extra.table) ||
                (of_steps && !h5u_table_exists(l->file, &extra.table)));
    free(extra.columns);
  }
  for (int i = 0; i < H5U_NUM_TABLES; ++i)
    ok = ok && (same_columns(l->file, h5u_table_of(i)) ||
                (i >= H5U_MESSAGES && !h5u_table_exists(l->file, h5u_table_of(i))));
  if (!ok)
    return err_set(err, LOOM_E_IO,
                   "%s: its tables have other columns than this version and solver write: "
                   "start a new log with -o",
                   l->path);
  return LOOM_OK;
}

static loom_status check_steps(loom_err *err, const h5log *l, int64_t last_step)
{
  int64_t rows;
  const hid_t steps = H5Dopen2(l->file, "steps", H5P_DEFAULT);
  int64_t last = steps < 0 ? -2 : h5u_last_step(steps, &rows);
  h5u_close(steps, H5Dclose);
  if (last == -1 && h5u_first_step(l->file) > 0) last = h5u_first_step(l->file) - 1;
  if (last < -1) return h5u_fail(err, l->path, "cannot read /steps");
  if (last_step > last)
    return err_set(err, LOOM_E_STATE,
                   "%s: ends with step %lld, it cannot be continued after step %lld", l->path,
                   (long long)last, (long long)last_step);
  return LOOM_OK;
}

/* Adds tables that logs of older versions lack. */
static int add_newer_tables(h5log *l, const h5log_options *opt)
{
  for (int i = H5U_MESSAGES; i < H5U_NUM_TABLES; ++i) {
    const h5u_table *const t = h5u_table_of(i);
    if (h5u_table_exists(l->file, t)) continue;
    if (h5u_table_create(l->file, t) < 0) return -1;
    if (i == H5U_STATE && h5log_create_state_data(l->file, opt, l->n) < 0) return -1;
  }
  h5log_extra extra;
  if (h5log_extra_table(opt, 1, &extra) < 0) return -1;
  const int bad =
      !h5u_table_exists(l->file, &extra.table) && h5u_table_create(l->file, &extra.table) < 0;
  free(extra.columns);
  return bad ? -1 : 0;
}

/* Finishes a change of a killed process. */
static loom_status finish_killed_change(loom_err *err, const h5log *l)
{
  char note[H5U_NOTE_LEN], why[H5U_WHY_LEN];
  if (!h5u_journal_exists(&l->place)) return LOOM_OK;
  const int own = h5u_open_own(&l->place, why);
  if (own < 0)
    return err_set(err, LOOM_E_IO,
                   "%s: its last change was cut off, and is not finished here: the log %s; make a "
                   "copy of log and journal, and continue that",
                   l->path, why);
  close(own);
  LOOM_TRY(h5u_journal_finish(err, &l->place, l->lock, note));
  return note[0] == '\0' ? LOOM_OK : err_set(err, LOOM_E_IO, "%s: %s", l->path, note);
}

/* Once single-writer mode is on, HDF5 tries for ever to read an index with a wrong checksum;
 * before, it fails at once.  So this reads the end of every object that is appended to. */
static loom_status read_end(loom_err *err, const h5log *l, const char *name)
{
  char what[600];
  if (H5Lexists(l->file, name, H5P_DEFAULT) <= 0) return LOOM_OK; /* opening it reports the error */
  const hid_t d = H5Dopen2(l->file, name, H5P_DEFAULT);
  const int bad = d < 0 || h5u_read_last(d) < 0;
  h5u_close(d, H5Dclose);
  snprintf(what, sizeof what, "/%s is damaged at its end", name);
  return bad ? h5u_fail(err, l->path, what) : LOOM_OK;
}

static loom_status read_ends(loom_err *err, const h5log *l, const h5log_options *opt)
{
  static const char *const names[] = {"iters_extra", "steps_extra", "state_data", "frames/x",
                                      "frames/v",    "frames/time", "frames/step"};
  for (int i = 0; i < H5U_NUM_TABLES; ++i) LOOM_TRY(read_end(err, l, h5u_table_of(i)->name));
  for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) LOOM_TRY(read_end(err, l, names[i]));
  for (int k = 0; k < H5LOG_NUM_FIELDS; ++k)
    if (opt->fields & LOOM_BIT(k)) LOOM_TRY(read_end(err, l, h5log_field_infos[k].path));
  for (int i = 0; i < opt->num_obstacles; ++i) {
    char name[512];
    snprintf(name, sizeof name, "scene/obstacles/%s/pose", opt->obstacle_names[i]);
    LOOM_TRY(read_end(err, l, name));
    if (opt->obstacle_joints == NULL || opt->obstacle_joints[i] == 0) continue;
    snprintf(name, sizeof name, "scene/obstacles/%s/joints", opt->obstacle_names[i]);
    LOOM_TRY(read_end(err, l, name));
  }
  return LOOM_OK;
}

/* Locks and opens the log, and repairs it if its writer died. */
static loom_status open_resumed_log(loom_err *err, h5log *l, int *lost, h5u_super *super)
{
  LOOM_TRY(lock_file(err, l, lost));
  *lost = h5u_like_ours(l->lock);
  LOOM_TRY(h5u_peek(err, l->path, l->lock, NULL, super));
  *lost = 0;
  LOOM_TRY(finish_killed_change(err, l));
  *lost = 1;
  LOOM_TRY(h5u_peek(err, l->path, l->lock, NULL, super));
  if (super->writing) LOOM_TRY(h5u_repair(err, &l->place, l->lock, "stopped", lost));
  *lost = 0;
  l->disk.fd = l->lock;
  LOOM_TRY(h5u_stage_begin(err, l->path, l->lock, &l->disk.stage)); /* h5log_begin commits it */
  const hid_t fapl = h5u_fapl_disk(&l->disk);
  if (fapl >= 0) l->file = H5Fopen(l->path, H5F_ACC_RDWR, fapl);
  h5u_close(fapl, H5Pclose);
  *lost = l->file < 0;
  if (l->file < 0)
    return h5u_fail(err, l->path, "cannot be opened to continue it: cut short or damaged");
  l->disk.record = h5u_record(l->file);
  return LOOM_OK;
}

static loom_status resume_in(loom_err *err, h5log *l, const char *config_hash, int64_t last_step,
                             const h5log_options *opt, int *lost)
{
  h5u_super super;
  char writer[160];
  LOOM_TRY(open_resumed_log(err, l, lost, &super));
  LOOM_TRY(check_resumed_log(err, l, config_hash, opt, lost));
  *lost = 1;
  LOOM_TRY(check_steps(err, l, last_step));
  if (h5u_cut(l->file, last_step) < 0)
    return h5u_disk_fail(err, l->path, &l->disk, "cannot be cut behind the step to continue from");
  LOOM_TRY(read_ends(err, l, opt));
  *lost = 0;
  LOOM_TRY(h5u_reserve(err, l->path, l->lock, super.size, 0, &l->reserved));
  h5u_writer_text(writer, sizeof writer);
  if (add_newer_tables(l, opt) < 0 || h5u_put_status(l->file, "running") < 0 ||
      h5u_set_text(l->file, "writer", writer) < 0 || h5log_add_session(l->file, opt) < 0 ||
      l->disk.code)
    return h5u_disk_fail(err, l->path, &l->disk, "cannot be prepared to be continued");
  LOOM_TRY(h5log_begin(err, l, opt));
  l->disk.place = &l->place;
  return LOOM_OK;
}

loom_status h5log_resume(loom_err *err, const char *path, const char *config_hash,
                         int64_t last_step, const h5log_options *opt, h5log **out, int *lost)
{
  int unknown;
  *out = NULL;
  if (lost == NULL) lost = &unknown;
  *lost = 0;
  h5u_quiet();
  LOOM_TRY(h5log_check_options(err, path, opt));
  h5log *const l = calloc(1, sizeof *l);
  if (l != NULL) l->path = malloc(strlen(path) + 1);
  if (l == NULL || l->path == NULL) {
    free(l);
    return err_set(err, LOOM_E_NOMEM, "%s: out of memory", path);
  }
  l->file = H5I_INVALID_HID;
  l->lock = l->place.dir = -1;
  strcpy(l->path, path);
  const loom_status s = resume_in(err, l, config_hash, last_step, opt, lost);
  *lost = *lost && s != LOOM_E_CONFIG && l->disk.code == 0;
  if (s != LOOM_OK) {
    h5log_free(l);
    return s;
  }
  *out = l;
  return LOOM_OK;
}
