/* export_yarn.c - yarns of a frame as BCC curves or as tubes. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/export.h"
#include "geom/spline.kern.h"
#include "geom/vec3.h"

enum { SIDES = 12, STEPS = 4 }; /* of a tube: around, and along each segment */

static loom_status need_yarns(loom_err *err, const export_scene *s)
{
  if (s->num_yarns > 0) return LOOM_OK;
  return err_set(err, LOOM_E_CONFIG, "%s: there are no yarns in this log", s->log_path);
}

/* An array of ids of the scene, each in [low, high). */
static loom_status load_ids(loom_err *err, export_scene *s, const char *name, int64_t low,
                            int64_t high, int64_t width, int64_t *count, int32_t **out)
{
  void *data;
  int rank;
  int64_t dims[4] = {0};
  LOOM_TRY(h5read_dataset(s->r, err, name, 0, &data, &rank, dims));
  const int64_t *const ids = data;
  loom_status status = LOOM_OK;
  if (rank != (width > 1 ? 2 : 1) || (width > 1 && dims[1] != width))
    status = err_set(err, LOOM_E_IO, "/%s has another shape: the file is damaged", name);
  *count = dims[0];
  if (status == LOOM_OK) *out = calloc((size_t)(dims[0] * width) + 1, sizeof **out);
  if (status == LOOM_OK && *out == NULL) status = err_set(err, LOOM_E_NOMEM, "out of memory");
  for (int64_t i = 0; status == LOOM_OK && i < dims[0] * width; ++i) {
    if (ids[i] < low || ids[i] >= high)
      status = err_set(err, LOOM_E_IO, "/%s holds %" PRId64 ": the file is damaged", name, ids[i]);
    else
      (*out)[i] = (int32_t)ids[i];
  }
  free(data);
  return status;
}

loom_status export_load_yarns(loom_err *err, export_scene *s)
{
  int64_t count;
  void *data;
  int rank;
  int64_t dims[4] = {0};
  if (!h5read_exists(s->r, "scene/yarns/first")) return LOOM_OK;
  LOOM_TRY(load_ids(err, s, "scene/yarns/first", 0, s->n + 1, 1, &count, &s->yarn_first));
  LOOM_TRY(load_ids(err, s, "scene/yarns/closed", 0, 2, 1, &s->num_yarns, &s->yarn_closed));
  LOOM_TRY(load_ids(err, s, "scene/yarns/segments", -1, s->n, 4, &s->num_segs, &s->segs));
  LOOM_TRY(h5read_dataset(s->r, err, "scene/radius", 1, &data, &rank, dims));
  s->radius = data;
  int bad = count != s->num_yarns + 1 || rank != 1 || dims[0] != s->n;
  for (int64_t k = 0; !bad && k < s->num_yarns; ++k) bad = s->yarn_first[k] > s->yarn_first[k + 1];
  for (int64_t k = 0; !bad && k < s->num_segs; ++k)
    bad = s->segs[4 * k + 1] < 0 || s->segs[4 * k + 2] < 0;
  if (!bad) return LOOM_OK;
  return err_set(err, LOOM_E_IO, "/scene/yarns contradicts itself: the file is damaged");
}

/* ---- BCC ---- */

static void put_little(FILE *out, uint64_t v, int bytes)
{
  for (int k = 0; k < bytes; ++k) fputc((int)(v >> (8 * k) & 255), out);
}

loom_status export_bcc(loom_err *err, const export_scene *s, const export_frame *f,
                       const char *path)
{
  char info[41] = {0};
  out_file o;
  LOOM_TRY(need_yarns(err, s));
  LOOM_TRY(out_file_open(err, path, OUT_BCC, &o));
  FILE *const out = o.f;
  snprintf(info, sizeof info, "loom, frame %" PRId64 ", m", f->index);
  fwrite("BCC\x44"
         "C0\x03\x02",
         1, 8, out); /* z, the third dimension, points up */
  put_little(out, (uint64_t)s->num_yarns, 8);
  put_little(out, (uint64_t)(s->yarn_first[s->num_yarns] - s->yarn_first[0]), 8);
  fwrite(info, 1, 40, out);
  for (int64_t k = 0; k < s->num_yarns; ++k) {
    const int32_t n = s->yarn_first[k + 1] - s->yarn_first[k];
    put_little(out, (uint32_t)(s->yarn_closed[k] ? -n : n), 4);
    for (int64_t i = 3 * (int64_t)s->yarn_first[k]; i < 3 * (int64_t)s->yarn_first[k + 1]; ++i) {
      const float x = (float)s->x[i];
      uint32_t bits;
      memcpy(&bits, &x, sizeof bits);
      put_little(out, bits, 4);
    }
  }
  return out_file_close(err, &o, LOOM_OK);
}

/* ---- tubes ---- */

typedef struct tube {
  double t[3], u[3]; /* tangent and a unit vector perpendicular to it, carried along */
  int64_t rings;
} tube;

static double normalise_vec3(double *v)
{
  const double l = vec3_norm(v);
  for (int k = 0; k < 3 && l > 0; ++k) v[k] /= l;
  return l;
}

/* Control points of segment j of the scene, missing ones reflected. */
static void gather_control_points(const export_scene *s, int64_t j, double q[4][3])
{
  const int32_t *id = s->segs + 4 * j;
  for (int c = 0; c < 3; ++c) {
    const double p0 = s->x[3 * (int64_t)id[1] + c], p1 = s->x[3 * (int64_t)id[2] + c];
    q[0][c] = id[0] < 0 ? 2 * p0 - p1 : s->x[3 * (int64_t)id[0] + c];
    q[1][c] = p0;
    q[2][c] = p1;
    q[3][c] = id[3] < 0 ? 2 * p1 - p0 : s->x[3 * (int64_t)id[3] + c];
  }
}

/* A ring of SIDES points around the curve at u of segment j. */
static void write_tube_ring(FILE *out, const export_scene *s, int64_t j, double u, tube *b)
{
  char a[3][NUMBER_LEN];
  double q[4][3], y[3] = {0}, t[3] = {0}, v[3], d = 0;
  lk_real w[4], slope[4];
  gather_control_points(s, j, q);
  spline_weights((lk_real)u, w);
  spline_slopes((lk_real)u, slope);
  for (int k = 0; k < 4; ++k)
    for (int c = 0; c < 3; ++c) {
      y[c] += (double)w[k] * q[k][c];
      t[c] += (double)slope[k] * q[k][c];
    }
  if (!(normalise_vec3(t) > 0)) memcpy(t, b->t, sizeof t);
  if (b->rings == 0) {
    const double axis[3] = {fabs(t[0]) < 0.6, fabs(t[0]) >= 0.6, 0};
    memcpy(b->u, axis, sizeof axis);
  }
  for (int c = 0; c < 3; ++c) d += b->u[c] * t[c];
  for (int c = 0; c < 3; ++c) b->u[c] -= d * t[c];
  normalise_vec3(b->u);
  memcpy(b->t, t, sizeof t);
  vec3_cross(t, b->u, v);
  const double r = s->radius[s->segs[4 * j + 1]];
  for (int k = 0; k < SIDES; ++k) {
    const double phi = 2 * 3.14159265358979323846 * k / SIDES;
    double p[3];
    for (int c = 0; c < 3; ++c) p[c] = y[c] + r * (cos(phi) * b->u[c] + sin(phi) * v[c]);
    fprintf(out, "v %s %s %s\n", number_text(p[0], a[0]), number_text(p[1], a[1]),
            number_text(p[2], a[2]));
  }
  ++b->rings;
}

/* Quads between rings, caps at both ends; `first` counts the points before, from 1.  The last
 * ring of a closed tube lies on its first one but may be turned against it: no seam is left, the
 * rings are round. */
static void write_tube_faces(FILE *out, int64_t first, int64_t rings)
{
  for (int64_t i = 0; i + 1 < rings; ++i)
    for (int k = 0; k < SIDES; ++k) {
      const int64_t a = first + SIDES * i + k, b = first + SIDES * i + (k + 1) % SIDES;
      fprintf(out, "f %" PRId64 " %" PRId64 " %" PRId64 "\nf %" PRId64 " %" PRId64 " %" PRId64 "\n",
              a, b, b + SIDES, a, b + SIDES, a + SIDES);
    }
  for (int end = 0; end < 2; ++end) {
    const int64_t at = first + (end == 0 ? 0 : SIDES * (rings - 1));
    for (int k = 1; k + 1 < SIDES; ++k)
      fprintf(out, "f %" PRId64 " %" PRId64 " %" PRId64 "\n", at, at + (end == 0 ? k + 1 : k),
              at + (end == 0 ? k : k + 1));
  }
}

loom_status export_tubes(loom_err *err, const export_scene *s, const export_frame *f,
                         const char *path)
{
  char a[NUMBER_LEN];
  out_file o;
  int64_t seg = 0, points = 1;
  LOOM_TRY(need_yarns(err, s));
  LOOM_TRY(out_file_open(err, path, OUT_OBJ, &o));
  FILE *const out = o.f;
  fprintf(out, "# frame %" PRId64 ", step %" PRId64 ", time %s s, positions in m\n", f->index,
          f->step, number_text(f->time, a));
  for (int64_t k = 0; k < s->num_yarns; ++k) {
    const int64_t n = s->yarn_first[k + 1] - s->yarn_first[k] - (s->yarn_closed[k] ? 0 : 1);
    tube b = {.t = {1, 0, 0}};
    for (int64_t j = seg; j < seg + n && j < s->num_segs; ++j) {
      for (int i = 0; i < STEPS; ++i) write_tube_ring(out, s, j, (double)i / STEPS, &b);
      if (j == seg + n - 1) write_tube_ring(out, s, j, 1, &b);
    }
    if (b.rings > 0) write_tube_faces(out, points, b.rings);
    points += SIDES * b.rings;
    seg += n;
  }
  return out_file_close(err, &o, LOOM_OK);
}
