/* placement.c - words of the keys transform and rotation, see placement.h. */
#include "mesh/placement.h"

#include <math.h>
#include <string.h>

#include "config/words.h"
#include "geom/pose.h"

static const double pi = 3.14159265358979323846;

static loom_status rotation_words(loom_err *err, words *w, double P[12])
{
  double v[4];
  for (int k = 0; k < 4; ++k)
    if (!words_real(w, &v[k]))
      return err_set(err, LOOM_E_CONFIG, "a rotation takes four numbers, AX AY AZ DEG");
  const double len = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  if (!(len > 0)) return err_set(err, LOOM_E_CONFIG, "the axis of a rotation must not be 0 0 0");
  for (int k = 0; k < 3; ++k) v[k] /= len;
  pose_rotation(v, v[3] * pi / 180, (const double[3]){0, 0, 0}, P);
  return LOOM_OK;
}

loom_status placement_rotation(loom_err *err, const char *text, double P[12])
{
  words w;
  words_start(&w, text);
  LOOM_TRY(rotation_words(err, &w, P));
  if (!words_at_end(&w))
    return err_set(err, LOOM_E_CONFIG, "\"%s\": more than the four numbers AX AY AZ DEG", text);
  return LOOM_OK;
}

loom_status placement_transform(loom_err *err, const char *text, double place[12], double *scale)
{
  words w;
  words_start(&w, text);
  pose_identity(place);
  *scale = 1;
  while (words_next(&w)) {
    double P[12], v[3];
    if (strcmp(w.word, "scale") == 0) {
      if (!words_real(&w, v) || !(v[0] > 0))
        return err_set(err, LOOM_E_CONFIG, "scale takes one number above 0");
      *scale *= v[0];
      for (int c = 0; c < 3; ++c) place[9 + c] *= v[0]; /* scales the shifts before it, too */
      continue;
    }
    if (strcmp(w.word, "rotate") == 0) {
      LOOM_TRY(rotation_words(err, &w, P));
    } else if (strcmp(w.word, "translate") == 0) {
      for (int k = 0; k < 3; ++k)
        if (!words_real(&w, &v[k]))
          return err_set(err, LOOM_E_CONFIG, "translate takes three numbers X Y Z (m)");
      pose_translation(v, P);
    } else {
      return err_set(err, LOOM_E_CONFIG,
                     "\"%s\" is no part of a transform; known are scale S, rotate AX AY AZ DEG and "
                     "translate X Y Z",
                     w.word);
    }
    pose_mul(P, place, place);
  }
  return LOOM_OK;
}
