/* h5motion.c - see h5motion.h. */
#include "log/h5motion.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/read_file.h"
#include "log/h5guard.h"
#include "log/h5util.h"

enum { MOST_TEXTS = 8, TEXT_LEN = 4096 };

struct h5motion {
  char *path;
  hid_t file, x, v;
  h5motion_facts facts;
  double *cpu; /* [facts.num_frames - 1] s, NULL: not known */
  int num_texts;
  char texts[MOST_TEXTS][TEXT_LEN]; /* attributes that a caller asked for */
};

int h5motion_is_hdf5(const char *path)
{
  static const unsigned char signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
  unsigned char b[sizeof signature];
  const char *why;
  int64_t bytes;
  FILE *const f = read_file_open(path, &bytes, &why);
  if (f == NULL) return 0;
  const int same = fread(b, 1, sizeof b, f) == sizeof b && memcmp(b, signature, sizeof b) == 0;
  fclose(f);
  return same;
}

static int is_log_file(void *arg, FILE *out)
{
  const char *const path = *(const char *const *)arg;
  h5u_quiet();
  const hid_t fapl = h5u_fapl();
  hid_t f = H5Fopen(path, H5F_ACC_RDONLY, fapl);
  if (f < 0) f = H5Fopen(path, H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, fapl); /* it is being written */
  const int log = f < 0 || (H5Lexists(f, "frames", H5P_DEFAULT) > 0 && H5Aexists(f, "schema") > 0);
  fputc(log ? 'y' : 'n', out);
  h5u_close(f, H5Fclose);
  h5u_close(fapl, H5Pclose);
  return 0;
}

int h5motion_is_log(const char *path)
{
  loom_err err = {0};
  char *answer = NULL;
  const int log = h5_answer(&err, path, is_log_file, &path, &answer) != LOOM_OK || answer == NULL ||
                  answer[0] == 'y';
  free(answer);
  return log; /* the reader of logs knows more about files that do not open */
}

static loom_status refuse_motion(loom_err *err, const char *path, const char *fmt, ...)
    LOOM_PRINTF(3, 4);
static loom_status refuse_motion(loom_err *err, const char *path, const char *fmt, ...)
{
  char what[400];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(what, sizeof what, fmt, ap);
  va_end(ap);
  return err_set(err, LOOM_E_CONFIG,
                 "%s: %s; `loom measure` reads a log of loom, or /x [frames][n][3] (m) and, where "
                 "they are known, /v of the same shape (m/s)",
                 path, what);
}

/* Extents of a numeric data set; its rank, -1: it is none, or has more than three dimensions. */
static int numeric_extents(hid_t set, hsize_t dims[3])
{
  int rank = -1;
  const hid_t space = H5Dget_space(set), type = H5Dget_type(set);
  if (space >= 0 && type >= 0) {
    const H5T_class_t c = H5Tget_class(type);
    rank = c == H5T_INTEGER || c == H5T_FLOAT ? H5Sget_simple_extent_ndims(space) : -1;
    if (rank > 3 || (rank > 0 && H5Sget_simple_extent_dims(space, dims, NULL) != rank)) rank = -1;
  }
  h5u_close(space, H5Sclose);
  h5u_close(type, H5Tclose);
  return rank;
}

static int has_member(hid_t file, const char *name)
{
  return H5Lexists(file, name, H5P_DEFAULT) > 0;
}

static loom_status open_positions(loom_err *err, h5motion *m)
{
  hsize_t d[3] = {0}, e[3] = {0};
  if (!has_member(m->file, "x")) return refuse_motion(err, m->path, "there is no data set /x");
  m->x = H5Dopen2(m->file, "x", H5P_DEFAULT);
  const int rank = m->x < 0 ? -1 : numeric_extents(m->x, d);
  if (rank != 3 || d[2] != 3)
    return refuse_motion(err, m->path, "/x has not the shape [frames][n][3]");
  if (d[0] < 2 || d[1] < 1 || d[1] > INT32_MAX / 3)
    return refuse_motion(err, m->path,
                         "/x has %lld frames of %lld vertices; a step needs two frames",
                         (long long)d[0], (long long)d[1]);
  m->facts = (h5motion_facts){
      .num_frames = (int64_t)d[0], .num_verts = (int64_t)d[1], .num_tris = -1, .dt = NAN};
  if (!has_member(m->file, "v")) return LOOM_OK;
  m->v = H5Dopen2(m->file, "v", H5P_DEFAULT);
  if (m->v < 0 || numeric_extents(m->v, e) != 3 || memcmp(d, e, sizeof d) != 0)
    return refuse_motion(err, m->path,
                         "/v has not the shape of /x, which is [%lld][%lld][3]; velocities are "
                         "those at the time of each frame, the first among them",
                         (long long)d[0], (long long)d[1]);
  m->facts.has_v = 1;
  return LOOM_OK;
}

static loom_status open_triangles(loom_err *err, h5motion *m)
{
  hsize_t d[3] = {0};
  if (!has_member(m->file, "triangles")) return LOOM_OK;
  const hid_t t = H5Dopen2(m->file, "triangles", H5P_DEFAULT);
  const int fine =
      t >= 0 && numeric_extents(t, d) == 2 && d[1] == 3 && d[0] > 0 && d[0] <= INT32_MAX / 3;
  h5u_close(t, H5Dclose);
  if (!fine) return refuse_motion(err, m->path, "/triangles has not the shape [nt][3]");
  m->facts.num_tris = (int64_t)d[0];
  return LOOM_OK;
}

/* The `count` numbers of a data set that has one for each frame or step; the caller frees *out. */
static loom_status read_motion_numbers(loom_err *err, const h5motion *m, const char *set,
                                       const char *of, int64_t count, double **out)
{
  hsize_t d[3] = {0};
  loom_status s = LOOM_OK;
  const hid_t t = H5Dopen2(m->file, set, H5P_DEFAULT);
  *out = count > 0 ? calloc((size_t)count, sizeof **out) : NULL;
  if (*out == NULL)
    s = err_set(err, LOOM_E_NOMEM, "%s: out of memory", m->path);
  else if (t < 0 || numeric_extents(t, d) != 1 || (int64_t)d[0] != count ||
           H5Dread(t, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, *out) < 0)
    s = refuse_motion(err, m->path, "/%s has not one number for each of the %lld %s of /x", set,
                      (long long)count, of);
  h5u_close(t, H5Dclose);
  return s;
}

/* /time must grow by the same time from frame to frame. */
static loom_status take_times(loom_err *err, h5motion *m)
{
  const int64_t n = m->facts.num_frames;
  double *time = NULL;
  if (!has_member(m->file, "time")) return LOOM_OK;
  loom_status s = read_motion_numbers(err, m, "time", "frames", n, &time);
  if (s == LOOM_OK) m->facts.dt = (time[n - 1] - time[0]) / (double)(n - 1);
  for (int64_t i = 1; i < n && s == LOOM_OK; ++i)
    if (!(fabs(time[i] - time[i - 1] - m->facts.dt) <= 1e-6 * m->facts.dt))
      s = refuse_motion(err, m->path,
                        "/time: from frame %lld to %lld it goes from %.9g to %.9g s, and %.9g s "
                        "are a step; frames must be in order, with one for each step",
                        (long long)i - 1, (long long)i, time[i - 1], time[i], m->facts.dt);
  free(time);
  return s;
}

static loom_status take_cpu(loom_err *err, h5motion *m)
{
  m->facts.has_cpu = has_member(m->file, "t_cpu");
  if (!m->facts.has_cpu) return LOOM_OK;
  return read_motion_numbers(err, m, "t_cpu", "steps", m->facts.num_frames - 1, &m->cpu);
}

static loom_status open_motion_file(loom_err *err, h5motion *m)
{
  h5u_quiet();
  m->file = H5Fopen(m->path, H5F_ACC_RDONLY, H5P_DEFAULT);
  if (m->file < 0) return refuse_motion(err, m->path, "cannot be read as HDF5");
  LOOM_TRY(open_positions(err, m));
  LOOM_TRY(open_triangles(err, m));
  const char *const dt = h5motion_text(m, "dt");
  if (dt[0] != '\0') m->facts.dt = strtod(dt, NULL);
  if (dt[0] != '\0' && !(m->facts.dt > 0.0))
    return refuse_motion(err, m->path, "the attribute dt is %.60s, no time in seconds", dt);
  LOOM_TRY(take_times(err, m));
  return take_cpu(err, m);
}

static loom_status open_motion(loom_err *err, const char *path, h5motion **out)
{
  h5motion *const m = calloc(1, sizeof *m);
  *out = NULL;
  if (m != NULL) m->path = malloc(strlen(path) + 1);
  if (m == NULL || m->path == NULL) {
    free(m);
    return err_set(err, LOOM_E_NOMEM, "%s: out of memory", path);
  }
  strcpy(m->path, path);
  m->file = m->x = m->v = H5I_INVALID_HID;
  const loom_status s = open_motion_file(err, m);
  if (s == LOOM_OK)
    *out = m;
  else
    h5motion_close(m);
  return s;
}

void h5motion_close(h5motion *m)
{
  if (m == NULL) return;
  h5u_close(m->x, H5Dclose);
  h5u_close(m->v, H5Dclose);
  h5u_close(m->file, H5Fclose);
  H5Eclear2(H5E_DEFAULT);
  free(m->cpu);
  free(m->path);
  free(m);
}

const h5motion_facts *h5motion_facts_of(const h5motion *m) { return &m->facts; }

double h5motion_cpu(const h5motion *m, int64_t frame)
{
  return m->cpu != NULL ? m->cpu[frame] : NAN;
}

static int read_vectors(const h5motion *m, hid_t set, int64_t frame, double *to)
{
  const hsize_t start[3] = {(hsize_t)frame, 0, 0};
  const hsize_t count[3] = {1, (hsize_t)m->facts.num_verts, 3};
  const hid_t in = H5Dget_space(set), out = H5Screate_simple(3, count, NULL);
  const int bad = in < 0 || out < 0 ||
                  H5Sselect_hyperslab(in, H5S_SELECT_SET, start, NULL, count, NULL) < 0 ||
                  H5Dread(set, H5T_NATIVE_DOUBLE, out, in, H5P_DEFAULT, to) < 0;
  h5u_close(in, H5Sclose);
  h5u_close(out, H5Sclose);
  return !bad;
}

loom_status h5motion_frame(const h5motion *m, loom_err *err, int64_t frame, double *x, double *v)
{
  if (!read_vectors(m, m->x, frame, x))
    return refuse_motion(err, m->path, "/x: frame %lld cannot be read", (long long)frame);
  if (v != NULL && !read_vectors(m, m->v, frame, v))
    return refuse_motion(err, m->path, "/v: frame %lld cannot be read", (long long)frame);
  return LOOM_OK;
}

loom_status h5motion_tris(const h5motion *m, loom_err *err, int32_t *tris)
{
  const hid_t t = H5Dopen2(m->file, "triangles", H5P_DEFAULT);
  const int bad = t < 0 || H5Dread(t, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, tris) < 0;
  h5u_close(t, H5Dclose);
  return bad ? refuse_motion(err, m->path, "/triangles cannot be read") : LOOM_OK;
}

/* Texts of h5py have no fixed length. */
static void read_free_text(hid_t file, const char *name, char *to)
{
  const hid_t a = H5Aexists(file, name) > 0 ? H5Aopen(file, name, H5P_DEFAULT) : H5I_INVALID_HID;
  const hid_t type = a < 0 ? H5I_INVALID_HID : H5Aget_type(a);
  const hid_t space = a < 0 ? H5I_INVALID_HID : H5Aget_space(a);
  char *text = NULL;
  if (type >= 0 && space >= 0 && H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) > 0 &&
      H5Sget_simple_extent_npoints(space) == 1 && H5Aread(a, type, &text) >= 0 && text != NULL) {
    snprintf(to, TEXT_LEN, "%s", text);
    H5free_memory(text);
  }
  h5u_close(type, H5Tclose);
  h5u_close(space, H5Sclose);
  h5u_close(a, H5Aclose);
}

const char *h5motion_text(h5motion *m, const char *name)
{
  if (m->num_texts == MOST_TEXTS) return "";
  char *const to = m->texts[m->num_texts++];
  char *const fixed = h5u_get_text(m->file, name);
  to[0] = '\0';
  if (fixed != NULL)
    snprintf(to, TEXT_LEN, "%s", fixed);
  else
    read_free_text(m->file, name, to);
  free(fixed);
  return to;
}

static int rehearse_motion(void *arg, FILE *out)
{
  const char *const path = *(const char *const *)arg;
  loom_err err = {0};
  h5motion *m;
  (void)out;
  if (open_motion(&err, path, &m) != LOOM_OK) return 0;
  const h5motion_facts *const f = &m->facts;
  double *const x = f->num_verts > 0 ? malloc((size_t)f->num_verts * 6 * sizeof *x) : NULL;
  int32_t *const tris = f->num_tris > 0 ? malloc((size_t)f->num_tris * 3 * sizeof *tris) : NULL;
  loom_status s = x == NULL ? LOOM_E_NOMEM : LOOM_OK;
  for (int64_t k = 0; s == LOOM_OK && k < f->num_frames; ++k)
    s = h5motion_frame(m, &err, k, x, f->has_v ? x + 3 * f->num_verts : NULL);
  if (s == LOOM_OK && tris != NULL) (void)h5motion_tris(m, &err, tris);
  free(x);
  free(tris);
  h5motion_close(m);
  return 0;
}

loom_status h5motion_open(loom_err *err, const char *path, h5motion **out)
{
  *out = NULL;
  LOOM_TRY(h5_rehearse(err, path, rehearse_motion, &path));
  return open_motion(err, path, out);
}
