/* animation.c - keyframes of angles: reading and interpolating. */
#include "rig/animation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/words.h"
#include "core/err_word.h"
#include "geom/pose.h"
#include "rig/profile.h"

enum { MAX_KEYS = 1 << 20, MAX_COLUMNS = RIG_ROOT + RIG_MAX_JOINTS * RIG_JOINT_DOFS };

static const double degree = 3.14159265358979323846 / 180;
static const char *const root_names[RIG_ROOT] = {"root.x",      "root.y",      "root.z",
                                                 "root.turn_x", "root.turn_y", "root.turn_z"};

void rig_animation_free(rig_animation *a)
{
  free(a->time);
  free(a->value);
  memset(a, 0, sizeof *a);
}

/* ---- names ---- */

enum { DOF_LEN = 2 * RIG_NAME_LEN + 2 };

/* The error for a name that is no dof, with those that are. */
static loom_status name_dofs(loom_err *err, const rig *r, const char *name)
{
  const int32_t dofs = RIG_ROOT + r->num_dofs, count = dofs + r->num_joints;
  char list[700] = "";
  char *const text = calloc((size_t)count, DOF_LEN);
  const char **const all = calloc((size_t)count, sizeof *all);
  const char *near = NULL;
  for (int32_t k = 0; text != NULL && all != NULL && k < count; ++k) {
    char *const to = text + (size_t)k * DOF_LEN;
    all[k] = to;
    if (k < RIG_ROOT)
      snprintf(to, DOF_LEN, "%s", root_names[k]);
    else if (k < dofs)
      rig_dof_name(r, k - RIG_ROOT, to, DOF_LEN);
    else
      snprintf(to, DOF_LEN, "%s", r->joint[k - dofs].name);
  }
  if (text != NULL && all != NULL) {
    near = err_nearest(name, all, count);
    err_names(list, sizeof list, name, all, dofs);
  }
  err_set(err, LOOM_E_CONFIG, "the body has no angle '%.80s'%s%s%s; it has %s", name,
          near != NULL ? "; did you mean '" : "", near != NULL ? near : "",
          near != NULL ? "'?" : "", list);
  free((void *)all);
  free(text);
  return LOOM_E_CONFIG;
}

/* The error for a name that is no dof: it distinguishes joints with several dofs from misspelt
 * names.
 */
static loom_status no_such_dof(loom_err *err, const rig *r, const char *name)
{
  const int32_t j = rig_find_joint(r, name);
  if (j >= 0 && r->joint[j].num_dofs == 0)
    return err_set(err, LOOM_E_CONFIG, "joint %s has no angles", name);
  if (j >= 0)
    return err_set(err, LOOM_E_CONFIG, "joint %s has several angles; say which, as %s.%s", name,
                   name, r->joint[j].dof_name[0]);
  return name_dofs(err, r, name);
}

loom_status rig_angles_parse(loom_err *err, const rig *r, const char *text, double *angles)
{
  words w;
  words_start(&w, text);
  while (words_next(&w)) {
    double v;
    const int32_t dof = rig_find_dof(r, w.word);
    if (dof < 0) return no_such_dof(err, r, w.word);
    char name[sizeof w.word];
    memcpy(name, w.word, sizeof name);
    if (!words_real(&w, &v))
      return err_set(err, LOOM_E_CONFIG,
                     "\"%.200s\": a name and a number of degrees each, as %s 20", text, name);
    const double was = angles[dof];
    angles[dof] = v * degree;
    if (rig_clamp(r, angles) == dof) {
      angles[dof] = was;
      for (int32_t j = 0; j < r->num_joints; ++j) {
        const rig_joint *const a = &r->joint[j];
        const int32_t k = dof - a->first_dof;
        if (k >= 0 && k < a->num_dofs)
          return err_set(err, LOOM_E_CONFIG, "%s %g is out of range; allowed: %.4g to %.4g degrees",
                         name, v, a->limit[k][0] / degree, a->limit[k][1] / degree);
      }
    }
  }
  return LOOM_OK;
}

/* ---- files ---- */

typedef struct reader {
  loom_err *err;
  const char *path;
  int64_t line;
  const rig *r;
  int32_t columns;
  int32_t *to; /* [columns] place in a row of values */
  rig_animation *a;
} reader;

static loom_status prefix_animation_line(reader *q, loom_status s)
{
  if (s != LOOM_OK) err_prefix(q->err, "%s:%lld", q->path, (long long)q->line);
  return s;
}

static loom_status refuse_animation_word(reader *q, const char *what, const char *word)
{
  char shown[ERR_WORD];
  return prefix_animation_line(q, err_set(q->err, LOOM_E_CONFIG, "%s, not \"%s\"", what,
                                          err_word(word, strlen(word), shown)));
}

static loom_status read_columns(reader *q, words *w)
{
  if (q->columns > 0) return refuse_animation_word(q, "columns may be named only once", w->p);
  while (words_next(w)) {
    int32_t to = -1;
    for (int k = 0; k < RIG_ROOT; ++k)
      if (strcmp(w->word, root_names[k]) == 0) to = k;
    if (to < 0) {
      const int32_t dof = rig_find_dof(q->r, w->word);
      if (dof < 0) return prefix_animation_line(q, no_such_dof(q->err, q->r, w->word));
      to = RIG_ROOT + dof;
    }
    for (int32_t k = 0; k < q->columns; ++k)
      if (q->to[k] == to) return refuse_animation_word(q, "a column for every angle once", w->word);
    q->to[q->columns++] = to;
  }
  if (q->columns > 0) return LOOM_OK;
  return refuse_animation_word(q, "columns: names of angles needed, as left_knee.flexion or root.y",
                               "");
}

static loom_status more_keys(reader *q)
{
  rig_animation *const a = q->a;
  const int32_t n = a->num_keys;
  if ((n & (n - 1)) != 0) return LOOM_OK; /* room doubles at 0, 1, 2, 4, ... */
  const size_t room = n > 0 ? 2 * (size_t)n : 1;
  double *const time = realloc(a->time, room * sizeof *time);
  if (time != NULL) a->time = time;
  double *const value = realloc(a->value, room * (size_t)a->width * sizeof *value);
  if (value != NULL) a->value = value;
  if (time != NULL && value != NULL && n < MAX_KEYS) return LOOM_OK;
  return prefix_animation_line(q, err_set(q->err, LOOM_E_NOMEM, "no memory for more rows"));
}

/* Cuts the angles of the newest row to their limits, and notes the first that was outside. */
static void clamp_row(reader *q, double *value)
{
  char name[2 * RIG_NAME_LEN + 2];
  const int32_t dof = rig_clamp(q->r, value + RIG_ROOT);
  if (dof < 0 || q->a->note[0] != '\0') return;
  rig_dof_name(q->r, dof, name, sizeof name);
  snprintf(q->a->note, sizeof q->a->note,
           "%.300s:%lld: %s is outside its limits; all angles are cut to their limits", q->path,
           (long long)q->line, name);
}

static loom_status read_key_row(reader *q, words *w)
{
  double t;
  rig_animation *const a = q->a;
  if (q->columns == 0)
    return refuse_animation_word(q, "a line with columns must stand before the first row", w->p);
  LOOM_TRY(more_keys(q));
  double *const value = a->value + (int64_t)a->width * a->num_keys;
  memset(value, 0, (size_t)a->width * sizeof *value);
  if (!words_real(w, &t)) return refuse_animation_word(q, "a time (s) needed", w->p);
  for (int32_t k = 0; k < q->columns; ++k) {
    double v;
    if (!words_real(w, &v))
      return refuse_animation_word(q, "a time and a number for every column needed", w->p);
    value[q->to[k]] = q->to[k] < 3 ? v : v * degree;
  }
  if (!words_at_end(w))
    return refuse_animation_word(q, "a time and a number for every column needed", w->p);
  if (a->num_keys > 0 ? !(t > a->time[a->num_keys - 1]) : t != 0)
    return prefix_animation_line(
        q, err_set(q->err, LOOM_E_CONFIG,
                   "time %g s: the first row stands at 0, each later one behind it", t));
  if (a->period > 0 && !(t < a->period))
    return prefix_animation_line(
        q, err_set(q->err, LOOM_E_CONFIG,
                   "time %g s is not before the end of the period, %g s, where the first "
                   "row comes again",
                   t, a->period));
  clamp_row(q, value);
  a->time[a->num_keys++] = t;
  return LOOM_OK;
}

static loom_status read_animation_line(reader *q, char *text)
{
  words w;
  double v;
  text[strcspn(text, "#\r")] = '\0';
  words_start(&w, text);
  if (words_at_end(&w)) return LOOM_OK;
  const words row = w;
  (void)words_next(&w);
  if (strcmp(w.word, "columns") == 0) return read_columns(q, &w);
  if (strcmp(w.word, "period") == 0) {
    if (!words_real(&w, &v) || !(v > 0) || !words_at_end(&w) || q->a->num_keys > 0)
      return refuse_animation_word(q, "period: a time (s) above 0, before the rows", row.p);
    q->a->period = v;
    return LOOM_OK;
  }
  if (strcmp(w.word, "interpolation") == 0) {
    const int one = words_next(&w) && words_at_end(&w);
    q->a->cubic = one && strcmp(w.word, "cubic") == 0;
    if (one && (q->a->cubic || strcmp(w.word, "linear") == 0)) return LOOM_OK;
    return refuse_animation_word(q, "interpolation: cubic or linear", row.p);
  }
  w = row;
  if (!words_real(&w, &v))
    return refuse_animation_word(q, "expected period, interpolation, columns or a row of numbers",
                                 row.p);
  w = row;
  return read_key_row(q, &w);
}

loom_status rig_animation_read(loom_err *err, const char *path, const rig *r, rig_animation *out)
{
  reader q = {.err = err, .path = path, .r = r, .a = out};
  char *text = NULL;
  size_t len;
  memset(out, 0, sizeof *out);
  out->cubic = 1;
  out->width = RIG_ROOT + r->num_dofs;
  LOOM_TRY(words_file(err, path, &text, &len));
  loom_status s = mesh_alloc(err, MAX_COLUMNS, sizeof *q.to, &q.to);
  for (char *p = text, *next; s == LOOM_OK && *p != '\0'; p = next) {
    char *const end = strchr(p, '\n');
    next = end != NULL ? end + 1 : p + strlen(p);
    if (end != NULL) *end = '\0';
    ++q.line;
    s = read_animation_line(&q, p);
  }
  if (s == LOOM_OK && out->num_keys == 0)
    s = err_set(err, LOOM_E_CONFIG, "%s: there is no row of numbers", path);
  free(q.to);
  free(text);
  return s;
}

/* ---- times ---- */

/* Slope of column c at key i: 0 at the ends of an animation that is not periodic. */
static double key_slope(const rig_animation *a, int32_t i, int32_t c)
{
  const int32_t n = a->num_keys;
  if (!(a->period > 0) && (i == 0 || i == n - 1)) return 0;
  const int32_t before = i > 0 ? i - 1 : n - 1, after = i + 1 < n ? i + 1 : 0;
  const double h0 = a->time[i] - a->time[before] + (i == 0 ? a->period : 0);
  const double h1 = a->time[after] - a->time[i] + (after == 0 ? a->period : 0);
  const double *const v = a->value + c;
  const int64_t w = a->width;
  return profile_slope(h0, h1, (v[w * i] - v[w * before]) / h0, (v[w * after] - v[w * i]) / h1);
}

int32_t rig_key_before(const double *time, int32_t num_keys, double t)
{
  int32_t lo = 0, hi = num_keys - 1;
  while (lo < hi) {
    const int32_t mid = lo + (hi - lo + 1) / 2;
    if (time[mid] <= t)
      lo = mid;
    else
      hi = mid - 1;
  }
  return lo;
}

void rig_animation_at(const rig_animation *a, double t, double *value)
{
  if (a->period > 0) t -= a->period * floor(t / a->period);
  const int32_t i = rig_key_before(a->time, a->num_keys, t), last = a->num_keys - 1;
  const int32_t next = i < last ? i + 1 : a->period > 0 ? 0 : i;
  const double h = a->time[next] - a->time[i] + (next == 0 ? a->period : 0);
  const double s = h > 0 ? fmin(fmax((t - a->time[i]) / h, 0), 1) : 0;
  for (int32_t c = 0; c < a->width; ++c) {
    const double from = a->value[(int64_t)a->width * i + c];
    const double to = a->value[(int64_t)a->width * next + c];
    value[c] = from + s * (to - from);
    if (a->cubic && h > 0)
      value[c] = profile_between(from, to, h * key_slope(a, i, c), h * key_slope(a, next, c), s);
  }
}

void rig_root(const rig *r, const double value[RIG_ROOT], double root[12])
{
  static const double axis[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  pose_translation(value, root);
  for (int k = 2; k >= 0; --k) {
    double turn[12];
    pose_rotation(axis[k], value[3 + k], r->joint[0].rest, turn);
    pose_mul(root, turn, root);
  }
}
