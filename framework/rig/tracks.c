/* tracks.c - see tracks.h. */
#include "rig/tracks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "geom/pose.h"
#include "rig/animation.h"

static int count_values(const loom_rig_track *t) { return t->part == LOOM_RIG_TURN ? 4 : 3; }

int rig_track_width(const loom_rig_track *t)
{
  return count_values(t) * (t->interpolation == LOOM_RIG_CUBIC ? 3 : 1);
}

void rig_tracks_free(int32_t count, loom_rig_track *track)
{
  for (int32_t k = 0; track != NULL && k < count; ++k) {
    free(track[k].time);
    free(track[k].value);
  }
  free(track);
}

/* The value of a key, which slopes surround in a cubic track. */
static const double *find_key(const loom_rig_track *t, int32_t i)
{
  return t->value + (ptrdiff_t)rig_track_width(t) * i +
         (t->interpolation == LOOM_RIG_CUBIC ? count_values(t) : 0);
}

static void make_unit(double q[4])
{
  const double len = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  for (int c = 0; c < 4; ++c) q[c] = len > 0 ? q[c] / len : c == 0;
}

/* Hermite's cubic from key i to the next one, h seconds later, at the share s. */
static void blend_cubic(const loom_rig_track *t, int32_t i, double h, double s, double *v)
{
  const int n = count_values(t);
  const double *const a = find_key(t, i), *const b = find_key(t, i + 1);
  const double s2 = s * s, s3 = s2 * s;
  for (int c = 0; c < n; ++c)
    v[c] = (2 * s3 - 3 * s2 + 1) * a[c] + h * (s3 - 2 * s2 + s) * a[n + c] +
           (3 * s2 - 2 * s3) * b[c] + h * (s3 - s2) * b[c - n];
}

static void blend_turns(const double *from, const double *to, double s, double q[4])
{
  double a[4], b[4];
  memcpy(a, from, sizeof a);
  memcpy(b, to, sizeof b);
  make_unit(a);
  make_unit(b);
  quat_slerp(a, b, s, q);
}

void rig_track_at(const loom_rig_track *track, double t, double *v)
{
  const int n = count_values(track);
  const int32_t i = rig_key_before(track->time, track->num_keys, t);
  const double *const a = find_key(track, i);
  const double h = i + 1 < track->num_keys ? track->time[i + 1] - track->time[i] : 0;
  const double s = h > 0 ? (t - track->time[i]) / h : 0;
  if (!(s > 0) || track->interpolation == LOOM_RIG_STEP) {
    memcpy(v, a, (size_t)n * sizeof *v);
  } else if (track->interpolation == LOOM_RIG_CUBIC) {
    blend_cubic(track, i, h, s, v);
  } else if (track->part == LOOM_RIG_TURN) {
    blend_turns(a, find_key(track, i + 1), s, v);
  } else {
    const double *const b = find_key(track, i + 1);
    for (int c = 0; c < n; ++c) v[c] = a[c] + s * (b[c] - a[c]);
  }
  if (track->part == LOOM_RIG_TURN) make_unit(v);
}

void rig_tracks_map(const loom_rig_track *const track[3], double t, double P[12])
{
  double value[3][4] = {{0}, {1}, {1, 1, 1}};
  for (int part = 0; part < 3; ++part)
    if (track[part] != NULL) rig_track_at(track[part], t, value[part]);
  quat_matrix(value[LOOM_RIG_TURN], P);
  for (int k = 0; k < 9; ++k) P[k] *= value[LOOM_RIG_SIZE][k % 3];
  memcpy(P + 9, value[LOOM_RIG_SHIFT], 3 * sizeof *P);
}
