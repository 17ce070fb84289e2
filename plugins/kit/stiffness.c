/* stiffness.c - see stiffness.h. */
#include "kit/stiffness.h"

#include <math.h>
#include <stdlib.h>

#include "kit/state.h"

/* Given as 0.  The curvature d2b/dd2 at half of d_hat equals the mean m/h^2; it is doubled, up to
 * stiffest times, while the smallest gap stays below jam_gap() in two accepted iterates in a row
 * and does not grow (Li et al. 2020, supplement, section 4: the same with 1e-9 of the scene's
 * size). */
static const double tiny = 1e-2, above_bound = 2.0, stiffest = 1024.0;

static const loom_host *stiffness_host(const stiffness *k) { return k->energy->c->host; }

/* ---- means of objects ---- */

/* Whether vertex i is a follower; i ascends from call to call, *at from 0. */
static int is_follower(const loom_followers *f, const int32_t *id, int32_t i, int32_t *at)
{
  while (id != NULL && *at < f->count && id[*at] < i) ++*at;
  return id != NULL && *at < f->count && id[*at] == i;
}

/* sum and num of v, real [n][width], over the free vertices of each object; followers have a mass,
 * but no rows in a matrix (width 3) */
static loom_status add_up(const stiffness *k, loom_buf *v, int width, double *sum, int64_t *num)
{
  const candidates *const c = k->energy->c;
  plug_maps m = plug_maps_on(c->host, c->e);
  const loom_real *const of = plug_bind(&m, v, LOOM_READ, LOOM_AT_HOST);
  const uint8_t *const fixed = plug_bind(&m, c->sc->fixed, LOOM_READ, LOOM_AT_HOST);
  const int32_t *const object =
      k->num > 1 ? plug_bind(&m, c->sc->object, LOOM_READ, LOOM_AT_HOST) : NULL;
  const loom_followers *const f = width > 1 ? loom_scene_followers(c->sc) : NULL;
  const int32_t *const id = f != NULL ? plug_bind(&m, f->id, LOOM_READ, LOOM_AT_HOST) : NULL;
  int32_t at = 0;
  LOOM_TRY(m.status);
  for (int64_t i = 0; i < c->sc->num_verts; ++i) {
    const int32_t o = object != NULL ? object[i] : 0;
    if (is_follower(f, id, (int32_t)i, &at)) continue;
    for (int j = 0; j < width && !fixed[i]; ++j, ++num[o]) sum[o] += (double)of[width * i + j];
  }
  return plug_unbind(&m);
}

/* The law's kappa, and each object's factor on it.  An object without free vertices leaves the
 * choice to the other one of a pair. */
static loom_status write_object_stiffness(const stiffness *k)
{
  const candidates *const c = k->energy->c;
  loom_buf *const share = k->energy->share;
  void *to;
  k->energy->number[STIFFNESS_NUMBER] =
      k->given > 0.0 ? k->given : k->first * (share == NULL ? k->of[0].doubled : 1.0);
  if (share == NULL) return LOOM_OK;
  LOOM_TRY(c->host->map(c->host, c->e, share, LOOM_WRITE, LOOM_AT_HOST, &to));
  for (int32_t o = 0; o < k->num; ++o)
    ((loom_real *)to)[o] =
        k->of[o].free ? (loom_real)(k->of[o].share * k->of[o].doubled) : LK_REAL_MAX;
  return c->host->unmap(c->host, share);
}

/* *mean: mean of v, real [n][width], over free vertices; with several objects the largest of their
 * means.  The ratio of an object's mean to *mean is its share. */
static loom_status find_mean(stiffness *k, loom_buf *v, int width, double *mean)
{
  const loom_host *const host = stiffness_host(k);
  double *const sum = calloc((size_t)k->num, sizeof *sum);
  int64_t *const num = calloc((size_t)k->num, sizeof *num);
  const loom_status s = sum != NULL && num != NULL ? add_up(k, v, width, sum, num) : LOOM_E_NOMEM;
  double most = 0.0;
  for (int32_t o = 0; o < k->num && s == LOOM_OK; ++o) {
    sum[o] = num[o] > 0 ? sum[o] / (double)num[o] : 0.0;
    most = fmax(most, sum[o]);
  }
  *mean = most > 0.0 ? most : 1.0;
  for (int32_t o = 0; o < k->num && s == LOOM_OK; ++o) {
    k->of[o].free = num[o] > 0;
    k->of[o].share = num[o] > 0 ? sum[o] / *mean : 0.0;
  }
  free(sum);
  free(num);
  LOOM_CHECK(host, s != LOOM_E_NOMEM, s, "out of memory for the means of %d objects", (int)k->num);
  LOOM_TRY(s);
  return write_object_stiffness(k);
}

/* ---- life ---- */

loom_status stiffness_new(stiffness *k, pair_energy *energy, double given, double d_hat,
                          double unit)
{
  const candidates *const c = energy->c;
  const int several = !(given > 0.0) && c->sc->num_objects > 1 && c->sc->object != NULL;
  *k = (stiffness){.energy = energy, .given = given, .d_hat = d_hat, .unit = unit};
  k->num = several ? c->sc->num_objects : 1;
  k->of = calloc((size_t)k->num, sizeof *k->of);
  LOOM_CHECK(c->host, k->of != NULL, LOOM_E_NOMEM, "out of memory for the stiffness of %d objects",
             (int)k->num);
  if (several)
    LOOM_TRY(c->host->buf_new(c->host, "factors of stiffness", LOOM_REAL, k->num, &energy->share));
  LOOM_TRY(find_mean(k, c->sc->mass, 1, &k->mass));
  return stiffness_reset(k);
}

void stiffness_free(stiffness *k) { free(k->of); }

loom_status stiffness_reset(stiffness *k)
{
  k->first = 0.0;
  for (int32_t o = 0; o < k->num; ++o) {
    k->of[o].doubled = 1.0;
    k->of[o].last_gap = INFINITY;
  }
  return write_object_stiffness(k);
}

loom_status stiffness_weigh(stiffness *k, loom_buf *weight, int width)
{
  return find_mean(k, weight, width, &k->weight);
}

/* kappa for which d2b/dd2 at half of d_hat, without thickness, equals the mean m/h^2, or the mean
 * weight of stiffness_weigh(), of the object with the largest mean. */
static double compute_first_stiffness(const stiffness *k, const loom_step *s)
{
  const double weight = k->weight > 0.0 ? k->weight : k->mass / loom_problem_h2(s->problem);
  return (double)(loom_real)(weight / k->unit);
}

loom_status stiffness_begin_step(stiffness *k, const loom_step *s)
{
  for (int32_t o = 0; o < k->num; ++o) k->of[o].last_gap = INFINITY;
  if (k->given > 0.0 || k->first > 0.0) return LOOM_OK;
  k->first = compute_first_stiffness(k, s);
  return write_object_stiffness(k);
}

/* ---- doublings ---- */

/* Least gap of each island among the active pairs; of a single island among all candidates. */
static loom_status find_island_gaps(const stiffness *k, loom_islands *at,
                                    double gap[LOOM_ISLANDS_MOST])
{
  candidates *const c = k->energy->c;
  *at = (loom_islands){.struct_size = sizeof *at, .num = 1};
  if (k->num > 1) LOOM_TRY(c->host->islands(c->host, at));
  return at->num > 1 ? cand_least_gaps(c, at, gap) : cand_least_gap_now(c, gap);
}

/* The gap below which a pair jams: tiny d_hat, or, with a step bound that keeps gaps above min_gap,
 * above_bound min_gap, since no gap comes below min_gap then, and the bound stops a pair from a
 * quarter above it (kit/mesh_query.md).  Half of d_hat is a gap of layers at rest. */
static double jam_gap(const stiffness *k, const loom_step *s)
{
  return fmin(fmax(tiny * k->d_hat, above_bound * s->min_gap), 0.5 * k->d_hat);
}

loom_status stiffness_follow(stiffness *k, const loom_step *s, uint32_t *changed)
{
  double gap[LOOM_ISLANDS_MOST] = {0.0}, last[LOOM_ISLANDS_MOST] = {0.0};
  loom_islands at;
  int doubles = 0;
  if (k->given > 0.0) return LOOM_OK;
  const loom_status st = cand_activate(k->energy->c, s, s->x, s->progress);
  if (st != LOOM_OK) return st == LOOM_REJECTED ? LOOM_OK : st;
  LOOM_TRY(find_island_gaps(k, &at, gap));
  const double limit = jam_gap(k, s), most = stiffest * compute_first_stiffness(k, s);
  for (int32_t j = 0; j < at.num; ++j) last[j] = INFINITY;
  for (int32_t o = 0; o < k->num; ++o) { /* islands may have merged since */
    const int32_t j = at.num > 1 ? at.of[o] : 0;
    last[j] = fmin(last[j], k->of[o].last_gap);
  }
  for (int32_t o = 0; o < k->num; ++o) {
    const int32_t j = at.num > 1 ? at.of[o] : 0;
    const int stays = gap[j] < limit && last[j] < limit && gap[j] <= last[j];
    if (at.num > 1 && at.settled[j]) continue; /* iterations of other islands */
    k->of[o].last_gap = gap[j];
    if (!stays || k->first * k->of[o].doubled >= most) continue;
    k->of[o].doubled *= 2.0;
    doubles = 1;
  }
  if (!doubles) return LOOM_OK;
  *changed |= LOOM_CHANGED_VALUES;
  return write_object_stiffness(k);
}

double stiffness_most(const stiffness *k)
{
  double most = 0.0;
  if (k->energy->share == NULL) return k->energy->number[STIFFNESS_NUMBER];
  for (int32_t o = 0; o < k->num; ++o)
    if (k->of[o].free) most = fmax(most, k->of[o].share * k->of[o].doubled);
  return k->first * (most > 0.0 ? most : 1.0);
}

/* ---- checkpoints ---- */

static loom_status check_saved_stiffness(const stiffness *k)
{
  const loom_host *const host = stiffness_host(k);
  LOOM_CHECK(host, k->first >= 0.0 && isfinite(k->first), LOOM_E_IO,
             "checkpoint: the stiffness is %g; start the run again", k->first);
  for (int32_t o = 0; o < k->num; ++o)
    LOOM_CHECK(host, k->of[o].doubled >= 1.0 && isfinite(k->of[o].doubled), LOOM_E_IO,
               "checkpoint: the stiffness of object %d is doubled to %g of its first value; start "
               "the run again",
               (int)o, k->of[o].doubled);
  return LOOM_OK;
}

/* One object: kappa as it stands.  Several: the first kappa, and each object's doublings. */
loom_status stiffness_checkpoint(stiffness *k, int restore)
{
  const loom_host *const host = stiffness_host(k);
  const int several = k->num > 1;
  loom_real kappa = (loom_real)(several ? k->first : k->first * k->of[0].doubled);
  if (k->given > 0.0) return LOOM_OK; /* kappa is the setting and never changes */
  LOOM_TRY(state_items(host, restore, "stiffness", LOOM_REAL, 1, &kappa));
  loom_real *const doubled = calloc((size_t)k->num, sizeof *doubled);
  LOOM_CHECK(host, doubled != NULL, LOOM_E_NOMEM, "out of memory for the stiffness of %d objects",
             (int)k->num);
  for (int32_t o = 0; o < k->num; ++o)
    doubled[o] = several ? (loom_real)k->of[o].doubled : (loom_real)1;
  const loom_status st =
      several ? state_items(host, restore, "doublings of stiffness", LOOM_REAL, k->num, doubled)
              : LOOM_OK;
  if (st == LOOM_OK && restore) {
    k->first = (double)kappa;
    for (int32_t o = 0; o < k->num; ++o) k->of[o].doubled = (double)doubled[o];
  }
  free(doubled);
  LOOM_TRY(st);
  if (!restore) return LOOM_OK;
  LOOM_TRY(check_saved_stiffness(k));
  return write_object_stiffness(k);
}
