/* h5log_create.c - a new log: attributes, tables and frames, then SWMR is turned on.
 *
 * The file is made under a temporary name and renamed once it is complete, so a reader
 * never sees half of it and an existing file is replaced in one instant.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log/h5checkpoint.h"
#include "log/h5log_internal.h"

enum { LZ4_FILTER = 32004, META_ROOM = 256 << 10 };

/* A value beside those of h5log_options.compression.  A filter works on whole chunks: a chunk that
 * gets row after row would be rewritten for each row, and a kill in the middle would lose the
 * finished rows. */
enum { NO_FILTER = -2 };

static loom_status check_names(loom_err *err, const char *path, const loom_column *all, int num)
{
  for (int i = 0; i < num; ++i) {
    const char *const name = all[i].name;
    int bad =
        name == NULL || name[0] == '\0' || strcmp(name, "step") == 0 || strcmp(name, "k") == 0;
    for (int j = 0; !bad && j < i; ++j) bad = strcmp(name, all[j].name) == 0;
    if (bad)
      return err_set(err, LOOM_E_ARG,
                     "%s: log column %d of the plugins is called \"%s\": names must be unique and "
                     "neither \"step\" nor \"k\"",
                     path, i, name != NULL ? name : "");
  }
  return LOOM_OK;
}

loom_status h5log_check_options(loom_err *err, const char *path, const h5log_options *opt)
{
  if (opt->compression < H5LOG_LZ4 || opt->compression > 9)
    return err_set(err, LOOM_E_ARG, "%s: compression %d; allowed: 0 to 9, or LZ4", path,
                   opt->compression);
  if (opt->compression == H5LOG_LZ4 && H5Zfilter_avail(LZ4_FILTER) <= 0) {
    H5Eclear2(H5E_DEFAULT);
    return err_set(err, LOOM_E_UNSUPPORTED,
                   "%s: HDF5 finds no LZ4 filter; install it (Debian: hdf5-filter-plugin), or use "
                   "gzip, compression 1 to 9",
                   path);
  }
  LOOM_TRY(check_names(err, path, opt->extra, opt->num_extra));
  return check_names(err, path, opt->step_extra, opt->num_step_extra);
}

/* ---- datasets ---- */
static int add_filter(hid_t dcpl, int compression)
{
  int bad = 0;
  if (compression == NO_FILTER) return 0;
  if (compression != 0) bad = H5Pset_shuffle(dcpl) < 0;
  if (compression > 0) bad = bad || H5Pset_deflate(dcpl, (unsigned)compression) < 0;
  /* optional: a chunk that would grow is left as it is */
  if (compression == H5LOG_LZ4)
    bad = bad || H5Pset_filter(dcpl, LZ4_FILTER, H5Z_FLAG_OPTIONAL, 0, NULL) < 0;
  return bad || H5Pset_fletcher32(dcpl) < 0 ? -1 : 0; /* last: checksum of the bytes in the file */
}

/* An extendible dataset [0][trailing...]; fill NULL: no fill value, as rows are always written
 * before they are read. */
static int make_series(hid_t file, const char *name, hid_t type, int rank, const hsize_t *trailing,
                       const hsize_t *chunk, const void *fill, int compression, const char *unit,
                       const char *doc)
{
  hsize_t dims[3] = {0}, most[3] = {H5S_UNLIMITED};
  for (int i = 1; i < rank; ++i) dims[i] = most[i] = trailing[i - 1];
  const hid_t lcpl = H5Pcreate(H5P_LINK_CREATE), dcpl = h5u_dcpl();
  const hid_t space = H5Screate_simple(rank, dims, most);
  int bad = lcpl < 0 || dcpl < 0 || space < 0 || H5Pset_create_intermediate_group(lcpl, 1) < 0 ||
            H5Pset_chunk(dcpl, rank, chunk) < 0 || add_filter(dcpl, compression) < 0;
  if (!bad && fill != NULL)
    bad =
        H5Pset_fill_value(dcpl, type, fill) < 0 || H5Pset_fill_time(dcpl, H5D_FILL_TIME_ALLOC) < 0;
  else if (!bad)
    bad = H5Pset_fill_time(dcpl, H5D_FILL_TIME_NEVER) < 0;
  hid_t d = H5I_INVALID_HID;
  if (!bad) d = H5Dcreate2(file, name, type, space, lcpl, dcpl, H5P_DEFAULT);
  bad = bad || d < 0 || h5u_describe(d, unit, doc) < 0;
  bad |= h5u_close(d, H5Dclose) < 0;
  h5u_close(space, H5Sclose);
  h5u_close(dcpl, H5Pclose);
  h5u_close(lcpl, H5Pclose);
  return bad ? -1 : 0;
}

static int make_joints(hid_t file, const h5log_options *opt, int obstacle)
{
  const int32_t num = opt->obstacle_joints != NULL ? opt->obstacle_joints[obstacle] : 0;
  const hsize_t row[2] = {(hsize_t)num, 12};
  const hsize_t chunk[3] = {num > 0 && num < 64 ? 64 / row[0] : 1, row[0], row[1]};
  const double zero = 0;
  char name[512];
  if (num == 0) return 0;
  const int len =
      snprintf(name, sizeof name, "scene/obstacles/%s/joints", opt->obstacle_names[obstacle]);
  if (len < 0 || (size_t)len >= sizeof name) return -1;
  return make_series(file, name, H5T_IEEE_F64LE, 3, row, chunk, &zero, NO_FILTER, "1 and m",
                     "rest pose to body frame per frame and joint: 3x3 matrix row-major, then "
                     "translation [3], m");
}

static int make_frames(hid_t file, const h5log_options *opt, int64_t n)
{
  const hid_t type = opt->frames_f32 ? H5T_IEEE_F32LE : H5T_IEEE_F64LE;
  const hsize_t row[2] = {(hsize_t)n, 3}, series[1] = {1024};
  const hsize_t pose[1] = {12}, pose_chunk[2] = {64, 12};
  const int64_t unset = H5U_STEP_UNSET;
  const double zero = 0;
  const hsize_t chunk[3] = {1, row[0], row[1]};
  if (make_series(file, "frames/x", type, 3, row, chunk, NULL, opt->compression, "m",
                  "positions [frame][vertex][xyz]; frame 0 is the initial state") < 0 ||
      make_series(file, "frames/v", type, 3, row, chunk, NULL, opt->compression, "m/s",
                  "velocities [frame][vertex][xyz]") < 0 ||
      make_series(file, "frames/time", H5T_IEEE_F64LE, 1, NULL, series, &zero, NO_FILTER, "s",
                  "time of the frame") < 0 ||
      make_series(file, "frames/step", H5T_STD_I64LE, 1, NULL, series, &unset, NO_FILTER, "1",
                  "the frame is the end of this step; -1: the initial state") < 0)
    return -1;
  for (int i = 0; i < opt->num_obstacles; ++i) {
    char name[512];
    const int len = snprintf(name, sizeof name, "scene/obstacles/%s/pose", opt->obstacle_names[i]);
    if (len < 0 || (size_t)len >= sizeof name) return -1;
    if (make_series(file, name, H5T_IEEE_F64LE, 2, pose, pose_chunk, &zero, NO_FILTER, "1 and m",
                    "body to world per frame: rotation row-major [9], then translation [3], m") < 0)
      return -1;
    if (make_joints(file, opt, i) < 0) return -1;
  }
  return 0;
}

static int make_fields(hid_t file, const h5log_options *opt, int64_t n)
{
  for (int k = 0; k < H5LOG_NUM_FIELDS; ++k) {
    const h5log_field_info *const f = &h5log_field_infos[k];
    const hsize_t row[2] = {(hsize_t)n, 3}, chunk[3] = {1, (hsize_t)n, 3};
    if ((opt->fields & LOOM_BIT(k)) == 0) continue;
    if (make_series(file, f->path, H5T_IEEE_F32LE, f->width > 1 ? 3 : 2, row, chunk, NULL,
                    opt->compression, f->unit, f->doc) < 0)
      return -1;
  }
  return 0;
}

int h5log_create_state_data(hid_t file, const h5log_options *opt, int64_t n)
{
  /* 16 vectors; an unfilled part of the last chunk only takes disk space */
  const int64_t some = 16 * 3 * n * (int64_t)sizeof(loom_real);
  const int64_t own = some < STATE_CHUNK_LEAST   ? STATE_CHUNK_LEAST
                      : some < STATE_CHUNK_BYTES ? some
                                                 : STATE_CHUNK_BYTES;
  const hsize_t chunk[1] = {(hsize_t)(opt->state_chunk > 0 ? opt->state_chunk : own)};
  return make_series(file, "state_data", H5T_STD_U8LE, 1, NULL, chunk, NULL, NO_FILTER, "1",
                     "values of the items of /state, byte by byte, as the run had them");
}

/* Scalar text beside the root attribute of the same name: a dataset, not an attribute, can change
 * while SWMR is on.  Allocated at once, so that writing it needs no space. */
static int make_status(hid_t file)
{
  const char text[H5LOG_STATUS_LEN] = "running";
  const hid_t type = h5u_text_type(sizeof text), space = H5Screate(H5S_SCALAR);
  const hid_t dcpl = h5u_dcpl();
  hid_t d = H5I_INVALID_HID;
  if (type >= 0 && space >= 0 && dcpl >= 0 && H5Pset_alloc_time(dcpl, H5D_ALLOC_TIME_EARLY) >= 0)
    d = H5Dcreate2(file, "status", type, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
  int bad = d < 0 || H5Dwrite(d, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) < 0 ||
            h5u_describe(d, "1",
                         "running, finished, stopped, or failed: why; current while the "
                         "file is written") < 0;
  bad |= h5u_close(d, H5Dclose) < 0;
  h5u_close(dcpl, H5Pclose);
  h5u_close(space, H5Sclose);
  h5u_close(type, H5Tclose);
  return bad ? -1 : 0;
}

int h5log_create_tables(hid_t file, const h5log_options *opt, int64_t n)
{
  const char *const groups[] = {"scene", "frames"};
  for (int i = 0; i < 2; ++i) {
    const hid_t g = H5Gcreate2(file, groups[i], H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (g < 0 || H5Gclose(g) < 0) return -1;
  }
  for (int i = 0; i < H5U_NUM_TABLES; ++i)
    if (h5u_table_create(file, h5u_table_of(i)) < 0) return -1;
  for (int of_steps = 0; of_steps < 2; ++of_steps) {
    h5log_extra extra;
    if (h5log_extra_table(opt, of_steps, &extra) < 0) return -1;
    const int bad = h5u_table_create(file, &extra.table) < 0;
    free(extra.columns);
    if (bad) return -1;
  }
  if (make_frames(file, opt, n) < 0 || make_fields(file, opt, n) < 0 ||
      h5log_create_state_data(file, opt, n) < 0)
    return -1;
  return make_status(file);
}

/* ---- the file ---- */
static loom_status open_part(loom_err *err, const char *path, const char *part, int *fd)
{
  LOOM_TRY(h5u_open_part(err, path, part, fd));
  if (h5u_lock(*fd, 1) == H5U_BUSY) {
    close(*fd);
    *fd = -1;
    return err_set(err, LOOM_E_IO, "%s: another process is creating this file; name another one",
                   path);
  }
  return LOOM_OK;
}

static loom_status fill_file(loom_err *err, h5log *l, const char *part, const h5log_meta *meta,
                             const h5log_options *opt, const h5log_array *scene, int num_scene)
{
  int64_t bytes = META_ROOM + (meta->config != NULL ? (int64_t)strlen(meta->config) : 0);
  for (int i = 0; i < num_scene; ++i) {
    int64_t items = 8;
    for (int d = 0; d < scene[i].rank; ++d) items *= scene[i].dims[d];
    bytes += items + 4096;
  }
  LOOM_TRY(h5u_reserve(err, l->path, l->lock, 0, bytes, &l->reserved));
  const hid_t fapl = h5u_fapl_disk(&l->disk), fcpl = h5u_fcpl();
  if (fapl >= 0 && fcpl >= 0) l->file = H5Fcreate(part, H5F_ACC_TRUNC, fcpl, fapl);
  h5u_close(fapl, H5Pclose);
  h5u_close(fcpl, H5Pclose);
  l->reserved = 0; /* truncation released it */
  if (l->file < 0) return h5u_fail(err, l->path, "cannot be created");
  LOOM_TRY(h5u_reserve(err, l->path, l->lock, 0, bytes, &l->reserved));
  if (h5log_put_meta(l->file, meta, opt) < 0 || h5log_create_tables(l->file, opt, l->n) < 0)
    return h5u_disk_fail(err, l->path, &l->disk, "cannot write attributes and empty tables");
  l->disk.record = h5u_record(l->file);
  return h5log_create_scene(err, l->path, l->file, scene, num_scene);
}

/* Gives the replaced log, and its journal, another name.  Both names exist at once, or, on file
 * systems without hard links, neither exists for an instant. */
static loom_status keep_old(loom_err *err, const h5log *l, const char *name)
{
  LOOM_TRY(h5u_journal_target(err, &l->place));
  char *const journal = malloc(strlen(name) + sizeof ".journal");
  if (journal == NULL) return err_set(err, LOOM_E_NOMEM, "%s: out of memory", l->path);
  sprintf(journal, "%s.journal", name);
  int bad = h5u_journal_exists(&l->place) && rename(l->place.journal_path, journal) != 0;
  bad = bad || (link(l->path, name) != 0 && errno != ENOENT && rename(l->path, name) != 0);
  if (bad)
    err_set(err, LOOM_E_IO, "%s: the log that was there cannot be kept as %s: %s", l->path, name,
            strerror(errno));
  free(journal);
  return bad ? LOOM_E_IO : LOOM_OK;
}

char *h5log_spare_name(const char *path)
{
  char tail[64];
  char *name = NULL;
  for (int i = 1; i < 1000; ++i) {
    struct stat st;
    snprintf(tail, sizeof tail, ".aside-%d.h5", i);
    free(name);
    name = h5u_name_beside(path, tail);
    if (name == NULL || lstat(name, &st) != 0) break;
  }
  return name;
}

static loom_status create_in(loom_err *err, h5log *l, const char *part, const h5log_meta *meta,
                             const h5log_options *opt, const h5log_array *scene, int num_scene)
{
  LOOM_TRY(open_part(err, l->path, part, &l->lock));
  LOOM_TRY(h5u_place_open(err, l->path, &l->place));
  loom_status s = fill_file(err, l, part, meta, opt, scene, num_scene);
  if (s == LOOM_OK) s = h5log_begin(err, l, opt);
  /* before the new log is in place: a kill in between would leave it with checkpoints of the old */
  if (s == LOOM_OK && opt->keep_as == NULL) s = h5checkpoint_discard(err, l->path);
  if (s == LOOM_OK)
    s = opt->keep_as != NULL ? keep_old(err, l, opt->keep_as) : h5u_journal_discard(err, &l->place);
  if (s == LOOM_OK && rename(part, l->path) != 0)
    s = err_set(err, LOOM_E_IO, "%s: cannot be put in place: %s; name another file", l->path,
                strerror(errno));
  if (s != LOOM_OK) unlink(part);
  l->disk.place = s == LOOM_OK ? &l->place : NULL; /* earlier a journal belongs to the old log */
  return s;
}

loom_status h5log_create(loom_err *err, const char *path, const h5log_meta *meta,
                         const h5log_options *opt, const h5log_array *scene, int num_scene,
                         int64_t num_verts, h5log **out)
{
  *out = NULL;
  h5u_quiet();
  if (num_verts < 1) return err_set(err, LOOM_E_ARG, "%s: a log needs at least one vertex", path);
  LOOM_TRY(h5log_check_options(err, path, opt));
  if (opt->keep_as == NULL) LOOM_TRY(h5log_target(err, path, opt->overwrite));
  const size_t len = strlen(path) + sizeof ".part";
  h5log *const l = calloc(1, sizeof *l);
  char *const part = malloc(len);
  loom_status s = LOOM_E_NOMEM;
  if (l != NULL) {
    l->file = H5I_INVALID_HID;
    l->lock = l->place.dir = -1;
    l->n = num_verts;
    l->path = malloc(strlen(path) + 1);
  }
  if (l == NULL || part == NULL || l->path == NULL) {
    err_set(err, s, "%s: out of memory", path);
  } else {
    strcpy(l->path, path);
    snprintf(part, len, "%s.part", path);
    s = create_in(err, l, part, meta, opt, scene, num_scene);
  }
  free(part);
  if (s != LOOM_OK) {
    h5log_free(l);
    return s;
  }
  *out = l;
  return LOOM_OK;
}
