/* motion.c - parsing and evaluating prescribed rigid motion. */
#include "scene/moving/motion.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/words.h"
#include "geom/pose.h"
#include "mesh/mesh.h"

enum { TRANSLATE = 1, ROTATE = 2, KEYFRAMES = 3 };

static const double pi = 3.14159265358979323846;

void motion_free(motion *m)
{
  free(m->keys);
  memset(m, 0, sizeof *m);
}

int motion_is_hold(const motion *m) { return m->num_parts == 0; }

static loom_status unit_axis(loom_err *err, const double v[3], double axis[3])
{
  const double len = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  if (!(len > 0)) return err_set(err, LOOM_E_CONFIG, "the axis of a rotation must not be 0 0 0");
  for (int c = 0; c < 3; ++c) axis[c] = v[c] / len;
  return LOOM_OK;
}

/* `need` numbers and then none or the two of a time window. */
static loom_status part_numbers(loom_err *err, words *w, const char *word, int need, double *v,
                                motion_part *part)
{
  int n = 0;
  while (n < need + 2 && words_real(w, &v[n])) ++n;
  if (n != need && n != need + 2)
    return err_set(err, LOOM_E_CONFIG,
                   "%s takes %d numbers, and two more (s) for a time window; "
                   "%d were given",
                   word, need, n);
  part->t0 = n > need ? v[need] : 0;
  part->t1 = n > need ? v[need + 1] : DBL_MAX;
  for (int k = 0; k < need; ++k) /* a turn of so many degrees per second is none either */
    if (!(fabs(v[k]) <= SCENE_REACH))
      return err_set(err, LOOM_E_CONFIG, "%s: %g is out of range; allowed: up to %g", word, v[k],
                     SCENE_REACH);
  if (!(part->t0 <= part->t1) || part->t0 < 0)
    return err_set(err, LOOM_E_CONFIG, "%s: the time window %g to %g s must not be negative", word,
                   part->t0, part->t1);
  return LOOM_OK;
}

static loom_status parse_part(loom_err *err, words *w, motion *m)
{
  static const char *const known[] = {"hold", "translate", "rotate", "keyframes"};
  motion_part part = {0};
  double v[9];
  char word[sizeof w->word];
  memcpy(word, w->word, sizeof word);
  if (strcmp(word, "hold") == 0) return LOOM_OK;
  if (m->num_parts == MOTION_MAX_PARTS)
    return err_set(err, LOOM_E_CONFIG, "more than %d parts; use keyframes", MOTION_MAX_PARTS);
  if (strcmp(word, "translate") == 0) {
    part.kind = TRANSLATE;
    LOOM_TRY(part_numbers(err, w, word, 3, v, &part));
    memcpy(part.velocity, v, sizeof part.velocity);
  } else if (strcmp(word, "rotate") == 0) {
    part.kind = ROTATE;
    LOOM_TRY(part_numbers(err, w, word, 7, v, &part));
    LOOM_TRY(unit_axis(err, v, part.axis));
    memcpy(part.point, v + 3, sizeof part.point);
    part.rate = v[6] * pi / 180;
  } else if (strcmp(word, "keyframes") == 0) {
    part.kind = KEYFRAMES;
  } else {
    const char *near = err_nearest(word, known, 4);
    return err_set(err, LOOM_E_CONFIG,
                   "\"%s\" is no motion; %s%s%sknown are hold, translate, "
                   "rotate and keyframes",
                   word, near ? "did you mean \"" : "", near ? near : "", near ? "\"? " : "");
  }
  m->parts[m->num_parts++] = part;
  return LOOM_OK;
}

static loom_status add_key(loom_err *err, motion *m, const double v[8])
{
  const int32_t n = m->num_keys;
  double axis[3];
  if (n > 0 && !(v[0] > m->keys[n - 1].t))
    return err_set(err, LOOM_E_CONFIG, "keyframe %d: its time %g s is not after the one before", n,
                   v[0]);
  for (int k = 0; k < 8; ++k)
    if (!(fabs(v[k]) <= SCENE_REACH))
      return err_set(err, LOOM_E_CONFIG, "keyframe %d: %g is out of range; allowed: up to %g", n,
                     v[k], SCENE_REACH);
  if (v[7] == 0)
    axis[0] = 0, axis[1] = 0, axis[2] = 1; /* no turn: any axis, also 0 0 0 */
  else
    LOOM_TRY(unit_axis(err, v + 4, axis));
  if ((n & (n - 1)) == 0) { /* room doubles at 1, 2, 4, ... */
    motion_key *p = realloc(m->keys, (size_t)(n > 0 ? 2 * n : 1) * sizeof *p);
    if (p == NULL) return err_set(err, LOOM_E_NOMEM, "no memory for %d keyframes", 2 * n);
    m->keys = p;
  }
  motion_key *k = &m->keys[m->num_keys++];
  k->t = v[0];
  memcpy(k->shift, v + 1, sizeof k->shift);
  quat_axis_angle(axis, v[7] * pi / 180, k->turn);
  return LOOM_OK;
}

/* Rows that end with `stop` ('|' or a line's end). */
static loom_status parse_keys(loom_err *err, const char *text, char stop, motion *m)
{
  for (int row = 1; *text != '\0'; ++row) {
    const char *end = strchr(text, stop);
    const size_t len = end != NULL ? (size_t)(end - text) : strlen(text);
    char line[512];
    if (len >= sizeof line)
      return err_set(err, LOOM_E_CONFIG, "keyframes, row %d: is too long", row);
    memcpy(line, text, len);
    line[len] = '\0';
    line[strcspn(line, "#")] = '\0';
    text += len + (end != NULL);

    words w;
    double v[8];
    int n = 0;
    words_start(&w, line);
    if (words_at_end(&w)) continue;
    while (n < 8 && words_real(&w, &v[n])) ++n;
    if (n != 8 || !words_at_end(&w))
      return err_set(err, LOOM_E_CONFIG,
                     "keyframes, row %d: eight numbers needed, T X Y Z AX AY AZ DEG", row);
    LOOM_TRY(add_key(err, m, v));
  }
  if (m->num_keys == 0) return err_set(err, LOOM_E_CONFIG, "keyframes: the table has no row");
  return LOOM_OK;
}

static loom_status load_keys(loom_err *err, const char *keyframes, const char *file, motion *m)
{
  const int inlined = keyframes != NULL && keyframes[0] != '\0';
  const int from_file = file != NULL && file[0] != '\0';
  int wanted = 0;
  for (int k = 0; k < m->num_parts; ++k) wanted += m->parts[k].kind == KEYFRAMES;
  if (wanted > 1) return err_set(err, LOOM_E_CONFIG, "keyframes may occur only once");
  if (!wanted && (inlined || from_file))
    return err_set(err, LOOM_E_CONFIG,
                   "a keyframe table is given but not used; set motion = keyframes");
  if (!wanted) return LOOM_OK;
  if (inlined == from_file)
    return err_set(err, LOOM_E_CONFIG,
                   "motion = keyframes needs either keyframes or keyframe_file");
  if (inlined) return parse_keys(err, keyframes, '|', m);
  char *text;
  size_t len;
  LOOM_TRY(words_file(err, file, &text, &len));
  const loom_status s = parse_keys(err, text, '\n', m);
  if (s != LOOM_OK) err_prefix(err, "%s", file);
  free(text);
  return s;
}

loom_status motion_parse(loom_err *err, const char *text, const char *keyframes, const char *file,
                         const double pivot[3], motion *out)
{
  words w;
  int parts = 0;
  loom_status s = LOOM_OK;
  memset(out, 0, sizeof *out);
  memcpy(out->pivot, pivot, sizeof out->pivot);
  words_start(&w, text);
  for (; s == LOOM_OK && words_next(&w); ++parts) s = parse_part(err, &w, out);
  if (s == LOOM_OK && parts == 0)
    s = err_set(err, LOOM_E_CONFIG,
                "is empty; known motions are hold, translate, rotate and "
                "keyframes");
  if (s == LOOM_OK) s = load_keys(err, keyframes, file, out);
  if (s != LOOM_OK) motion_free(out);
  return s;
}

static void keyframe_at(const motion *m, double t, double T[12])
{
  int32_t lo = 0, hi = m->num_keys - 1; /* the row at or before t, by bisection */
  while (lo < hi) {
    const int32_t mid = lo + (hi - lo + 1) / 2;
    if (m->keys[mid].t <= t)
      lo = mid;
    else
      hi = mid - 1;
  }
  const motion_key *a = &m->keys[lo];
  const motion_key *b = lo + 1 < m->num_keys ? a + 1 : a;
  const double s = b == a || t <= a->t ? 0 : (t - a->t) / (b->t - a->t);
  double q[4], moved[3];
  quat_slerp(a->turn, b->turn, s, q);
  pose_identity(T);
  quat_matrix(q, T);
  pose_rotate(T, m->pivot, moved);
  for (int c = 0; c < 3; ++c)
    T[9 + c] = m->pivot[c] - moved[c] + (1 - s) * a->shift[c] + s * b->shift[c];
}

void motion_at(const motion *m, double t, double T[12])
{
  pose_identity(T);
  for (int k = 0; k < m->num_parts; ++k) {
    const motion_part *p = &m->parts[k];
    const double dt = fmin(fmax(t, p->t0), p->t1) - p->t0;
    double step[12];
    if (p->kind == TRANSLATE) {
      const double shift[3] = {p->velocity[0] * dt, p->velocity[1] * dt, p->velocity[2] * dt};
      pose_translation(shift, step);
    } else if (p->kind == ROTATE) {
      pose_rotation(p->axis, p->rate * dt, p->point, step);
    } else {
      keyframe_at(m, t, step);
    }
    pose_mul(step, T, T);
  }
}
