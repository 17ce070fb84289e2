/* test_h5log.c - the data in a log are the ones that the contract names, and read back. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log/h5api.h"
#include "log/h5read.h"
#include "support/tiny_log.h"

static const loom_column extra_columns[2] = {{"rho", "1", "spectral radius"},
                                             {"omega", "1", "relaxation"}};
static const char *const balls[2] = {"ball", "floor"};

static tiny_options full_options(void)
{
  tiny_options o = {0};
  o.log.num_extra = 2;
  o.log.extra = extra_columns;
  o.log.num_obstacles = 2;
  o.log.obstacle_names = balls;
  return o;
}

Test(h5log, round_trip_of_every_table)
{
  const char *const path = tiny_path(0, "a.h5");
  const tiny_options o = full_options();
  loom_err err = {0};
  cr_assert_eq(tiny_write(&err, path, &o, 200), LOOM_OK, "%s", err.text);
  cr_assert_eq(tiny_check(&err, path, 200), 200, "%s", err.text);
  cr_assert_neq(access(tiny_path(1, "a.h5.part"), F_OK), 0);
  h5read *r;
  cr_assert_eq(h5read_open(&err, path, &r), LOOM_OK);
  cr_assert_eq(h5read_num_frames(r), 201);
  cr_assert_eq(h5read_num_tris(r), TINY_NT);
  double out[4];
  cr_assert_eq(h5read_column(r, &err, "iters_extra", "omega", 'R', 4, 4, out), LOOM_OK);
  for (int k = -1; k < TINY_ITERS; ++k) cr_assert_eq(out[k + 1], 100 + 10 * k + 1);
  void *pose;
  int rank;
  int64_t dims[4];
  cr_assert_eq(h5read_dataset(r, &err, "/scene/obstacles/floor/pose", 1, &pose, &rank, dims),
               LOOM_OK);
  cr_assert(rank == 2 && dims[0] == 201 && dims[1] == 12);
  cr_assert_eq(((double *)pose)[12 * 3 + 11], 2 + 0.01 * 23); /* frame 3 is step 2 */
  free(pose);
  h5read_close(r);
}

/* The names that scripts rely on, in order; further columns may follow. */
static void has_columns(hid_t f, const char *table, const char *names)
{
  char list[1024];
  snprintf(list, sizeof list, "%s", names);
  const hid_t d = H5Dopen2(f, table, H5P_DEFAULT), t = H5Dget_type(d);
  cr_assert_eq(H5Tget_class(t), H5T_COMPOUND);
  for (char *s = strtok(list, " "); s != NULL; s = strtok(NULL, " "))
    cr_assert_geq(H5Tget_member_index(t, s), 0, "/%s has no column %s", table, s);
  H5Tclose(t);
  H5Dclose(d);
}

static hid_t open_plain(const char *path)
{
  const hid_t f = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  cr_assert_geq(f, 0);
  return f;
}

Test(h5log, names_of_the_contract)
{
  const char *const path = tiny_path(0, "a.h5");
  const tiny_options o = full_options();
  loom_err err = {0};
  cr_assert_eq(tiny_write(&err, path, &o, 3), LOOM_OK, "%s", err.text);
  const hid_t f = open_plain(path);
  has_columns(f, "steps",
              "step time h iters reason r_ref r_final e_kinetic e_gravity e_elastic e_contact "
              "e_dissipated contacts min_gap toi intersections t_predict t_detect t_solve "
              "t_contact t_filter t_measure t_log t_total t_cpu t_cpu_plugins t_cpu_detect "
              "t_cpu_solve t_cpu_contact t_cpu_filter t_cpu_measure t_cpu_log rss rss_peak "
              "repairs pairs_vt pairs_ee pairs_ve pairs_vv pairs_vo pairs_yy pairs_bvt pairs_bee");
  has_columns(f, "iters",
              "step k stage epoch filtered r_solved_rms r_solved_max r_next_rms r_next_max "
              "r_free_rms r_dinv own_res e_inertia e_elastic e_contact e_dissip e_total alpha toi "
              "dx_max pairs active min_gap inner_iters inner_res inner_norm t_total t_cpu e_ref");
  has_columns(f, "inner", "step k level j norm value");
  has_columns(f, "iters_extra", "rho omega");
  const char *const attrs[] = {
      "schema",      "loom_version", "git_commit", "config",  "config_hash", "command",
      "host",        "cpu",          "gpu",        "backend", "blas",        "threads",
      "real_size",   "created",      "status",     "plugins", "commands",    "jobs",
      "exit_reason", "end_time",     "rss_peak",   "num_dof", "t_cpu_open"};
  for (size_t i = 0; i < sizeof attrs / sizeof attrs[0]; ++i)
    cr_assert_gt(H5Aexists(f, attrs[i]), 0, "no root attribute %s", attrs[i]);
  const char *const sets[] = {"scene/rest",
                              "scene/triangles",
                              "scene/mass",
                              "scene/pinned",
                              "frames/x",
                              "frames/v",
                              "frames/time",
                              "frames/step",
                              "steps",
                              "iters",
                              "iters_extra",
                              "inner",
                              "steps_extra",
                              "sections",
                              "messages",
                              "status",
                              "scene/obstacles/ball/pose"};
  for (size_t i = 0; i < sizeof sets / sizeof sets[0]; ++i) {
    const hid_t d = H5Dopen2(f, sets[i], H5P_DEFAULT);
    cr_assert_geq(d, 0, "no dataset %s", sets[i]);
    cr_assert(H5Aexists(d, "unit") > 0 && H5Aexists(d, "doc") > 0, "%s: unit, doc", sets[i]);
    H5Dclose(d);
  }
  H5Fclose(f);
}

/* SWMR and h5py's numpy strings need fixed lengths everywhere. */
static herr_t no_vlen_attr(hid_t obj, const char *name, const H5A_info_t *info, void *path)
{
  (void)info;
  const hid_t a = H5Aopen(obj, name, H5P_DEFAULT), t = H5Aget_type(a);
  cr_assert_eq(H5Tdetect_class(t, H5T_VLEN), 0, "%s:%s", (const char *)path, name);
  cr_assert_eq(H5Tis_variable_str(t) > 0, 0, "%s:%s", (const char *)path, name);
  H5Tclose(t);
  H5Aclose(a);
  return 0;
}

static herr_t no_vlen(hid_t f, const char *name, const h5api_object *object, void *data)
{
  (void)object, (void)data;
  const hid_t o = H5Oopen(f, name, H5P_DEFAULT);
  cr_assert_geq(H5Aiterate2(o, H5_INDEX_NAME, H5_ITER_INC, NULL, no_vlen_attr, (void *)name), 0);
  H5Oclose(o);
  return 0;
}

Test(h5log, nothing_of_variable_length)
{
  const char *const path = tiny_path(0, "a.h5");
  const tiny_options o = full_options();
  loom_err err = {0};
  cr_assert_eq(tiny_write(&err, path, &o, 1), LOOM_OK, "%s", err.text);
  const hid_t f = open_plain(path);
  cr_assert_geq(h5api_visit(f, no_vlen, NULL), 0);
  H5Fclose(f);
}

Test(h5log, reason_is_an_enum_with_names)
{
  const char *const path = tiny_path(0, "a.h5");
  const tiny_options o = {0};
  loom_err err = {0};
  cr_assert_eq(tiny_write(&err, path, &o, 1), LOOM_OK, "%s", err.text);
  const hid_t f = open_plain(path), d = H5Dopen2(f, "steps", H5P_DEFAULT), t = H5Dget_type(d);
  const hid_t m = H5Tget_member_type(t, (unsigned)H5Tget_member_index(t, "reason"));
  cr_assert(H5Tget_class(m) == H5T_ENUM && H5Tget_size(m) == 1);
  cr_assert_eq(H5Tget_nmembers(m), H5LOG_NUM_REASONS);
  for (int i = 0; i < H5LOG_NUM_REASONS; ++i) {
    char name[64];
    int8_t v = (int8_t)i;
    cr_assert_geq(H5Tenum_nameof(m, &v, name, sizeof name), 0);
    cr_assert_str_eq(name, h5log_reason_name(i));
  }
  cr_assert_str_eq(h5log_reason_name(99), "unknown");
  H5Tclose(m);
  H5Tclose(t);
  H5Dclose(d);
  H5Fclose(f);
}

Test(h5log, attributes_and_status)
{
  const char *const path = tiny_path(0, "a.h5");
  const tiny_options o = {0};
  loom_err err = {0};
  h5read *r;
  cr_assert_eq(tiny_write(&err, path, &o, 2), LOOM_OK, "%s", err.text);
  cr_assert_eq(h5read_open(&err, path, &r), LOOM_OK, "%s", err.text);
  cr_assert_str_eq(h5read_attr(r, "status"), "finished");
  cr_assert_str_eq(h5read_attr(r, "schema"), "1");
  cr_assert_str_eq(h5read_attr(r, "config"), "[run]\nsteps = 3\n");
  cr_assert_str_eq(h5read_attr(r, "threads"), "2");
  cr_assert_str_eq(h5read_attr(r, "gpu"), "");
  cr_assert_str_eq(h5read_attr(r, "missing"), "");
  h5read_close(r);
  const hid_t f = open_plain(path), d = H5Dopen2(f, "status", H5P_DEFAULT), t = H5Dget_type(d);
  char text[H5LOG_STATUS_LEN];
  cr_assert_eq(H5Tget_size(t), sizeof text);
  cr_assert_geq(H5Dread(d, t, H5S_ALL, H5S_ALL, H5P_DEFAULT, text), 0);
  cr_assert_str_eq(text, "finished");
  H5Tclose(t);
  H5Dclose(d);
  H5Fclose(f);
}

Test(h5log, a_long_config_is_kept_whole)
{
  const char *const path = tiny_path(0, "a.h5");
  static char config[300000]; /* more than the 64 KiB of a compact attribute */
  memset(config, 'c', sizeof config - 1);
  config[sizeof config - 2] = '!';
  const h5log_meta meta = {.config = config, .config_hash = "h"};
  const h5log_options o = {0};
  loom_err err = {0};
  h5log *l;
  h5read *r;
  cr_assert_eq(h5log_create(&err, path, &meta, &o, NULL, 0, 5, &l), LOOM_OK, "%s", err.text);
  cr_assert_eq(h5log_close(l, &err, "finished"), LOOM_OK, "%s", err.text);
  cr_assert_eq(h5read_open(&err, path, &r), LOOM_OK, "%s", err.text);
  cr_assert_str_eq(h5read_attr(r, "config"), config);
  cr_assert_eq(h5read_num_frames(r), 0);
  h5read_close(r);
}

static void with_storage(int f32, int compression, int64_t n)
{
  const char *const path = tiny_path(0, "s.h5");
  tiny_options o = {.n = n};
  loom_err err = {0};
  o.log.frames_f32 = f32;
  o.log.compression = compression;
  o.log.overwrite = 1;
  cr_assert_eq(tiny_write(&err, path, &o, 3), LOOM_OK, "%s", err.text);
  cr_assert_eq(tiny_check(&err, path, 3), 3, "f32 %d, compression %d, n %" PRId64 ": %s", f32,
               compression, n, err.text);
  const hid_t f = open_plain(path), d = H5Dopen2(f, "frames/x", H5P_DEFAULT), t = H5Dget_type(d);
  cr_assert_eq(H5Tget_size(t), f32 ? 4 : 8);
  H5Tclose(t);
  H5Dclose(d);
  H5Fclose(f);
}

/* Many frames to a chunk, two, one, and one of several MiB. */
Test(h5log, frames_of_any_size)
{
  const int64_t sizes[] = {1, 1000, 5461, 10923, 100003};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) with_storage(0, 0, sizes[i]);
}

Test(h5log, frames_f32_and_gzip)
{
  with_storage(1, 0, 1000);
  with_storage(0, 1, 50001);
  with_storage(1, 4, 100003);
  with_storage(0, 9, 17);
}

Test(h5log, lz4_where_the_filter_is_installed)
{
  h5log_options o = {.compression = H5LOG_LZ4};
  const h5log_meta meta = {0};
  loom_err err = {0};
  h5log *l;
  if (H5Zfilter_avail(32004) > 0) {
    with_storage(0, H5LOG_LZ4, 50001);
    return;
  }
  cr_assert_eq(h5log_create(&err, tiny_path(0, "z.h5"), &meta, &o, NULL, 0, 5, &l),
               LOOM_E_UNSUPPORTED);
  cr_assert(strstr(err.text, "hdf5-filter-plugin") != NULL, "%s", err.text);
}

/* More rows between two commits than a batch holds, steps included. */
Test(h5log, batches_overflow_between_commits)
{
  const char *const path = tiny_path(0, "b.h5");
  const tiny_options o = {0};
  loom_err err = {0};
  h5log *l;
  h5log_iter_row it;
  h5log_step_row st;
  enum { STEPS = 3000 };
  cr_assert_eq(tiny_create(&err, path, &o, &l), LOOM_OK, "%s", err.text);
  for (int64_t s = 0; s < STEPS; ++s) {
    tiny_iter_row(s, 0, &it);
    tiny_step_row(s, &st);
    cr_assert_eq(h5log_iter(l, &err, &it, NULL), LOOM_OK);
    cr_assert_eq(h5log_step(l, &err, &st, NULL), LOOM_OK);
  }
  cr_assert_eq(h5log_close(l, &err, "stopped"), LOOM_OK, "%s", err.text);
  h5read *r;
  static h5log_step_row rows[STEPS];
  cr_assert_eq(h5read_open(&err, path, &r), LOOM_OK, "%s", err.text);
  cr_assert_eq(h5read_num_steps(r), STEPS);
  cr_assert_eq(h5read_num_iters(r), STEPS);
  cr_assert_eq(h5read_steps(r, &err, 0, STEPS, rows), LOOM_OK);
  for (int64_t s = 0; s < STEPS; ++s) {
    tiny_step_row(s, &st);
    cr_assert_eq(memcmp(&st, &rows[s], sizeof st), 0);
  }
  cr_assert_neq(h5read_steps(r, &err, STEPS - 1, 2, rows), LOOM_OK); /* past the end */
  h5read_close(r);
}

Test(h5log, resume_cuts_and_appends)
{
  const char *const path = tiny_path(0, "r.h5");
  const tiny_options o = full_options();
  loom_err err = {0};
  h5log *l;
  const int64_t at[] = {199, 120, 0, -1};
  for (size_t i = 0; i < sizeof at / sizeof at[0]; ++i) {
    unlink(path);
    cr_assert_eq(tiny_write(&err, path, &o, 200), LOOM_OK, "%s", err.text);
    cr_assert_eq(tiny_resume(&err, path, &o, at[i], &l), LOOM_OK, "%s", err.text);
    for (int64_t s = at[i] + 1; s < 230; ++s)
      cr_assert_eq(tiny_step(l, &err, &o, s), LOOM_OK, "%s", err.text);
    cr_assert_eq(h5log_close(l, &err, "finished"), LOOM_OK, "%s", err.text);
    cr_assert_eq(tiny_check(&err, path, 230), 230, "after %" PRId64 ": %s", at[i], err.text);
    h5read *r;
    cr_assert_eq(h5read_open(&err, path, &r), LOOM_OK);
    cr_assert_eq(h5read_num_frames(r), 231);
    cr_assert_str_eq(h5read_attr(r, "status"), "finished");
    h5read_close(r);
  }
}

static void log_step_warning(h5log *l, int64_t step)
{
  loom_err err = {0};
  h5log_message_row row = {.step = step, .level = LOOM_LOG_WARN};
  snprintf(row.text, sizeof row.text, "[solver] step %d, \xc3\xa4", (int)step);
  cr_assert_eq(h5log_message(l, &err, &row), LOOM_OK, "%s", err.text);
}

static void expect_messages(const char *path, const int64_t *steps, int64_t count)
{
  loom_err err = {0};
  h5read *r;
  h5log_message_row row;
  char text[64];
  cr_assert_eq(h5read_open(&err, path, &r), LOOM_OK, "%s", err.text);
  cr_assert_eq(h5read_num_rows(r, "messages"), count);
  for (int64_t i = 0; i < count; ++i) {
    cr_assert_eq(h5read_messages(r, &err, i, 1, &row), LOOM_OK, "%s", err.text);
    snprintf(text, sizeof text, "[solver] step %d, \xc3\xa4", (int)steps[i]);
    cr_expect(row.step == steps[i] && row.level == LOOM_LOG_WARN, "row %d", (int)i);
    cr_expect_str_eq(row.text, text);
  }
  h5read_close(r);
}

/* More than one batch between two commits; cut with the steps; from the first to the last byte. */
Test(h5log, messages_are_kept_and_cut)
{
  const char *const path = tiny_path(0, "m.h5");
  const tiny_options o = full_options();
  loom_err err = {0};
  h5log *l;
  int64_t steps[40];
  cr_assert_eq(tiny_create(&err, path, &o, &l), LOOM_OK, "%s", err.text);
  cr_assert_eq(tiny_start(l, &err, &o), LOOM_OK);
  for (int64_t s = 0; s < 4; ++s) {
    for (int64_t k = 0; k < 10; ++k) log_step_warning(l, steps[10 * s + k] = s);
    cr_assert_eq(tiny_step(l, &err, &o, s), LOOM_OK, "%s", err.text);
  }
  cr_assert_eq(h5log_close(l, &err, "finished"), LOOM_OK, "%s", err.text);
  expect_messages(path, steps, 40);
  cr_assert_eq(tiny_resume(&err, path, &o, 1, &l), LOOM_OK, "%s", err.text);
  log_step_warning(l, 2);
  cr_assert_eq(tiny_step(l, &err, &o, 2), LOOM_OK, "%s", err.text);
  cr_assert_eq(h5log_close(l, &err, "finished"), LOOM_OK, "%s", err.text);
  steps[20] = 2;
  expect_messages(path, steps, 21);
  h5log_message_row longest = {0};
  memset(longest.text, 'x', sizeof longest.text - 1);
  cr_assert_eq(tiny_resume(&err, path, &o, -1, &l), LOOM_OK, "%s", err.text);
  cr_assert_eq(h5log_message(l, &err, &longest), LOOM_OK);
  cr_assert_eq(h5log_close(l, &err, "finished"), LOOM_OK, "%s", err.text);
  h5read *r;
  h5log_message_row row;
  cr_assert_eq(h5read_open(&err, path, &r), LOOM_OK, "%s", err.text);
  cr_assert_eq(h5read_messages(r, &err, 0, 1, &row), LOOM_OK, "%s", err.text);
  cr_expect_str_eq(row.text, longest.text);
  h5read_close(r);
}

/* As older versions wrote it. */
Test(h5log, a_log_without_messages_is_read_and_continued)
{
  const char *const path = tiny_path(0, "old.h5");
  const tiny_options o = full_options();
  loom_err err = {0};
  h5log *l;
  h5read *r;
  cr_assert_eq(tiny_write(&err, path, &o, 5), LOOM_OK, "%s", err.text);
  const hid_t f = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
  cr_assert_geq(H5Ldelete(f, "messages", H5P_DEFAULT), 0);
  cr_assert_geq(H5Fclose(f), 0);
  cr_assert_eq(tiny_check(&err, path, 5), 5, "%s", err.text);
  cr_assert_eq(h5read_open(&err, path, &r), LOOM_OK, "%s", err.text);
  cr_expect_eq(h5read_num_rows(r, "messages"), -1);
  h5read_close(r);
  cr_assert_eq(tiny_resume(&err, path, &o, 3, &l), LOOM_OK, "%s", err.text);
  log_step_warning(l, 4);
  cr_assert_eq(tiny_step(l, &err, &o, 4), LOOM_OK, "%s", err.text);
  cr_assert_eq(h5log_close(l, &err, "finished"), LOOM_OK, "%s", err.text);
  cr_assert_eq(tiny_check(&err, path, 5), 5, "%s", err.text);
  expect_messages(path, (const int64_t[]){4}, 1);
}

/* As another program does it: a contiguous data set of the same shape. */
static void make_contiguous(const char *path, const char *name)
{
  hsize_t dims[4];
  const hid_t f = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), d = H5Dopen2(f, name, H5P_DEFAULT);
  const hid_t type = H5Dget_type(d), space = H5Dget_space(d);
  const int rank = H5Sget_simple_extent_dims(space, dims, NULL);
  cr_assert_geq(H5Sset_extent_simple(space, rank, dims, NULL), 0);
  cr_assert(H5Dclose(d) >= 0 && H5Ldelete(f, name, H5P_DEFAULT) >= 0);
  const hid_t new = H5Dcreate2(f, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  cr_assert(new >= 0 && H5Dclose(new) >= 0 && H5Sclose(space) >= 0 && H5Tclose(type) >= 0);
  cr_assert_geq(H5Fclose(f), 0);
}

static haddr_t header_at(const char *path, const char *name)
{
  const hid_t f = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT), d = H5Dopen2(f, name, H5P_DEFAULT);
  const haddr_t at = h5api_header_address(d);
  cr_assert(at != HADDR_UNDEF && H5Dclose(d) >= 0 && H5Fclose(f) >= 0);
  return at;
}

/* HDF5 1.10 makes no header of version 1 in such a file, newer ones do: one from another file, put
 * over the header of the data set, which is longer. */
static void make_old(const char *path, const char *name)
{
  const char *const other = tiny_path(2, "old_format.h5");
  const hsize_t five = 5, most = H5S_UNLIMITED;
  const hid_t fapl = H5Pcreate(H5P_FILE_ACCESS), dcpl = H5Pcreate(H5P_DATASET_CREATE);
  const hid_t space = H5Screate_simple(1, &five, &most);
  cr_assert_geq(H5Pset_chunk(dcpl, 1, &five), 0);
  cr_assert_geq(H5Pset_libver_bounds(fapl, H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST), 0);
  const hid_t f = H5Fcreate(other, H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
  const hid_t d = H5Dcreate2(f, "a", H5T_IEEE_F64LE, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
  cr_assert_eq(h5api_header_version(d), 1);
  cr_assert(H5Dclose(d) >= 0 && H5Sclose(space) >= 0 && H5Fclose(f) >= 0);
  cr_assert(H5Pclose(fapl) >= 0 && H5Pclose(dcpl) >= 0);

  unsigned char header[16 + 512];
  uint32_t size; /* of the bytes behind the first 16 */
  const int from = open(other, O_RDONLY), to = open(path, O_WRONLY);
  cr_assert_gt(pread(from, header, sizeof header, (off_t)header_at(other, "a")), 16);
  memcpy(&size, header + 8, sizeof size);
  cr_assert_leq(size, 512);
  cr_assert_eq(pwrite(to, header, 16 + size, (off_t)header_at(path, name)), 16 + (ssize_t)size);
  close(from);
  close(to);
}

/* Neither can be appended to beside readers: that is said before anything is changed. */
Test(h5log, resume_refuses_what_another_program_has_replaced)
{
  static const struct {
    const char *name;
    void (*replace)(const char *path, const char *name);
  } rows[] = {{"steps", make_contiguous},
              {"steps_extra", make_contiguous},
              {"iters_extra", make_contiguous},
              {"frames/x", make_contiguous},
              {"frames/time", make_contiguous},
              {"state_data", make_contiguous},
              {"scene/obstacles/floor/pose", make_contiguous},
              {"steps", make_old},
              {"iters", make_old},
              {"sections", make_old}};
  const char *const path = tiny_path(0, "r.h5"), *const copy = tiny_path(1, "copy.h5");
  const tiny_options o = full_options();
  loom_err err = {0};
  h5log *l;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
    char says[128], command[1200];
    unlink(path);
    cr_assert_eq(tiny_write(&err, path, &o, 5), LOOM_OK, "%s", err.text);
    rows[i].replace(path, rows[i].name);
    snprintf(command, sizeof command, "cp %s %s", path, copy);
    cr_assert_eq(system(command), 0);
    cr_assert_eq(tiny_resume(&err, path, &o, 3, &l), LOOM_E_IO, "%d %s: %s", (int)i, rows[i].name,
                 err.text);
    snprintf(says, sizeof says, "/%s is not as loom makes it", rows[i].name);
    cr_assert(strstr(err.text, says) != NULL, "%s", err.text);
    snprintf(command, sizeof command, "cmp %s %s", path, copy);
    cr_assert_eq(system(command), 0, "%s: the log was changed", rows[i].name);
  }
}

Test(h5log, resume_refuses_what_does_not_fit)
{
  const char *const path = tiny_path(0, "r.h5");
  tiny_options o = full_options();
  loom_err err = {0};
  h5log *l;
  cr_assert_eq(tiny_write(&err, path, &o, 5), LOOM_OK, "%s", err.text);
  cr_assert_eq(tiny_resume(&err, path, &o, 5, &l), LOOM_E_STATE);
  cr_assert(strstr(err.text, "ends with step 4") != NULL, "%s", err.text);
  tiny_options other = o;
  other.hash = "another";
  cr_assert_eq(tiny_resume(&err, path, &other, 4, &l), LOOM_E_CONFIG);
  cr_assert(strstr(err.text, "config_hash 0123456789abcdef, now another") != NULL, "%s", err.text);
  other = o;
  other.log.frames_f32 = 1;
  cr_assert_eq(tiny_resume(&err, path, &other, 4, &l), LOOM_E_CONFIG);
  other = o;
  other.log.num_extra = 1;
  cr_assert_eq(tiny_resume(&err, path, &other, 4, &l), LOOM_E_IO);
  cr_assert_eq(tiny_resume(&err, tiny_path(1, "none.h5"), &o, 4, &l), LOOM_E_IO);
  cr_assert_eq(l, NULL);
  cr_assert_eq(tiny_check(&err, path, 5), 5, "a refusal changed the file: %s", err.text);
}

Test(h5log, bad_targets_are_refused_by_name)
{
  const tiny_options o = {0};
  loom_err err = {0};
  h5log *l;
  cr_assert_eq(tiny_create(&err, tiny_path(0, "no/such/dir/a.h5"), &o, &l), LOOM_E_IO);
  cr_assert(strstr(err.text, "no/such/dir does not exist") != NULL, "%s", err.text);
  cr_assert_eq(tiny_create(&err, tiny_dir(), &o, &l), LOOM_E_CONFIG);
  cr_assert(strstr(err.text, "is a folder") != NULL, "%s", err.text);
  const char *const path = tiny_path(0, "a.h5");
  cr_assert_eq(tiny_write(&err, path, &o, 2), LOOM_OK);
  cr_assert_eq(tiny_create(&err, path, &o, &l), LOOM_E_CONFIG);
  cr_assert(strstr(err.text, "a.h5: is a finished log of ") != NULL, "%s", err.text);
  cr_assert_eq(tiny_check(&err, path, 2), 2, "%s", err.text);
  const loom_column twice[2] = {{"a", "1", ""}, {"a", "1", ""}};
  tiny_options bad = {0};
  bad.log.num_extra = 2;
  bad.log.extra = twice;
  cr_assert_eq(tiny_create(&err, tiny_path(1, "b.h5"), &bad, &l), LOOM_E_ARG);
  const h5log_array clash[] = {{"obstacles/ball/pose", "1", "", LOOM_REAL, 1, {0}, NULL}};
  const h5log_meta meta = {0};
  tiny_options with = full_options();
  cr_assert_eq(h5log_create(&err, tiny_path(1, "b.h5"), &meta, &with.log, clash, 1, 3, &l),
               LOOM_E_IO);
  cr_assert(strstr(err.text, "/scene/obstacles/ball/pose") != NULL, "%s", err.text);
  cr_assert_neq(access(tiny_path(1, "b.h5.part"), F_OK), 0);
  cr_assert_neq(access(tiny_path(1, "b.h5"), F_OK), 0);
}

/* Disk space that was reserved ahead is given back. */
Test(h5log, closing_returns_the_reserve)
{
  const char *const path = tiny_path(0, "a.h5");
  const tiny_options o = {0};
  struct stat st;
  loom_err err = {0};
  cr_assert_eq(tiny_write(&err, path, &o, 10), LOOM_OK, "%s", err.text);
  cr_assert_eq(stat(path, &st), 0);
  cr_assert_lt((int64_t)st.st_blocks * 512, st.st_size + (64 << 10));
}
