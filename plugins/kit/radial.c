/* radial.c - see radial.h. */
#include "kit/radial.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* Least distance between middles, in cells: it gives about as many functions as splines. */
static const double apart_share = 0.78;

static double sample_distance(const spline_sample *a, const spline_sample *b)
{
  return hypot(a->u[0] - b->u[0], a->u[1] - b->u[1]);
}

/* Least distance between middles, m; a piece of one cell has one middle. */
static double least_middle_distance(const spline_request *r, int32_t piece)
{
  return r->cell[piece] > 0.0 ? apart_share * r->cell[piece] : DBL_MAX / 4.0;
}

/* The sample of a piece that is farthest from all middles, the first of equals; -1: none of them
 * is further than `reach`. */
static int64_t find_farthest_sample(const spline_request *r, int32_t piece, const double *away,
                                    double reach)
{
  int64_t best = -1;
  for (int64_t i = 0; i < r->num_samples; ++i) {
    if (r->sample[i].piece != piece || r->fixed[r->sample[i].row] || !(away[i] > reach)) continue;
    if (best < 0 || away[i] > away[best]) best = i;
  }
  return best;
}

static void find_in(const spline_request *r, int32_t piece, double *away, radial_set *out)
{
  for (;;) {
    const int64_t next = find_farthest_sample(r, piece, away, least_middle_distance(r, piece));
    if (next < 0) return;
    out->middle[out->num++] = next;
    for (int64_t i = 0; i < r->num_samples; ++i)
      if (r->sample[i].piece == piece)
        away[i] = fmin(away[i], sample_distance(&r->sample[i], &r->sample[next]));
  }
}

int radial_find(const spline_request *r, radial_set *out)
{
  double *const away = malloc(((size_t)r->num_samples + 1) * sizeof *away);
  *out = (radial_set){.first = calloc((size_t)r->num_pieces + 1, sizeof *out->first),
                      .middle = malloc(((size_t)r->num_samples + 1) * sizeof *out->middle)};
  const int fine = away != NULL && out->first != NULL && out->middle != NULL;
  for (int64_t i = 0; fine && i < r->num_samples; ++i) away[i] = INFINITY;
  for (int32_t k = 0; fine && k < r->num_pieces; ++k) {
    find_in(r, k, away, out);
    out->first[k + 1] = (int32_t)out->num;
  }
  free(away);
  if (!fine) radial_free(out);
  return fine;
}

void radial_free(radial_set *s)
{
  free(s->first);
  free(s->middle);
  *s = (radial_set){0};
}

int radial_at(const spline_request *r, const radial_set *s, const spline_sample *at,
              int64_t id[RADIAL_MOST], double w[RADIAL_MOST])
{
  const double reach = 2.0 * least_middle_distance(r, at->piece);
  int num = 0;
  for (int64_t k = s->first[at->piece]; k < s->first[at->piece + 1] && num < RADIAL_MOST; ++k) {
    const double q = sample_distance(at, &r->sample[s->middle[k]]) / reach;
    if (!(q < 1.0)) continue;
    id[num] = k;
    w[num++] = 1.0 - q * q * (3.0 - 2.0 * q);
  }
  return num;
}
