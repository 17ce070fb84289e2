/* yarn_line.c - see yarn_line.h. */
#include "kit/yarn_line.h"

#include <math.h>
#include <string.h>

#include "loom/yarn_radii.h"

/* Composite trapezoid over all points of a yarn: half of either neighbour's spacing, which is
 * l/B within a segment of rest length l.  len: of the yarn's n segments */
static void compute_trapezoid_weights(const loom_real *len, int32_t n, int closed, loom_real *w)
{
  memset(w, 0, sizeof *w * YARN_LANES * (size_t)n);
  for (int32_t s = 0; s < n; ++s) {
    const loom_real half = len[s] / (loom_real)(2 * YARN_B);
    const int32_t next = s + 1 < n ? s + 1 : closed ? 0 : -1;
    for (int k = 0; k < YARN_B; ++k) {
      w[YARN_LANES * s + k] += half;
      if (k + 1 < YARN_B) w[YARN_LANES * s + k + 1] += half;
    }
    w[next >= 0 ? YARN_LANES * next : YARN_LANES * s + YARN_B] += half;
  }
}

/* One yarn: its points, weights and radius. */
static loom_status add_yarn(const loom_host *host, yarn_points_table *t, int32_t k,
                            const int32_t *seg, const int32_t *vert, int closed,
                            const loom_real *radius, const loom_real *len, int32_t *pt0,
                            loom_real *w, loom_real *r)
{
  const loom_real own = radius[vert[k]];
  for (int32_t v = vert[k]; v < vert[k + 1]; ++v)
    LOOM_CHECK(host, radius[v] == own && own > 0, LOOM_E_CONFIG,
               "yarn %d has the radius %g m at vertex %d and %g m at its start; contact of yarns "
               "wants one radius above 0 along a yarn",
               (int)k, (double)radius[v], (int)v, (double)own);
  for (int32_t s = seg[k]; s < seg[k + 1]; ++s) {
    pt0[s] = t->num_points;
    t->num_points += YARN_B + (s + 1 == seg[k + 1] && !closed);
    r[s] = own;
  }
  if ((double)own > t->max_radius) t->max_radius = (double)own;
  compute_trapezoid_weights(len + seg[k], seg[k + 1] - seg[k], closed,
                            w + (size_t)YARN_LANES * (size_t)seg[k]);
  return LOOM_OK;
}

static loom_status fill_yarn_points(const loom_host *host, const loom_scene *sc,
                                    yarn_points_table *t)
{
  plug_maps m = plug_maps_on(host, NULL);
  const int32_t *const seg = plug_read_host(&m, sc->yarn_seg);
  const int32_t *const vert = plug_read_host(&m, sc->yarn_vert);
  const uint8_t *const closed = plug_read_host(&m, sc->yarn_closed);
  const loom_real *const radius = plug_read_host(&m, sc->radius);
  const loom_real *const len = plug_read_host(&m, sc->seg_len);
  int32_t *const pt0 = plug_write_host(&m, t->pt0);
  loom_real *const w = plug_write_host(&m, t->weight), *const r = plug_write_host(&m, t->radius);
  LOOM_TRY(m.status);
  for (int32_t k = 0; k < sc->num_yarns; ++k)
    LOOM_TRY(add_yarn(host, t, k, seg, vert, closed[k], radius, len, pt0, w, r));
  pt0[sc->num_segs] = t->num_points;
  return plug_unbind(&m);
}

loom_status yarn_table_new(const loom_host *host, const loom_scene *sc, const loom_exec *e,
                           yarn_points_table *t)
{
  void *p;
  (void)e;
  memset(t, 0, sizeof *t);
  t->num_segs = sc->num_segs;
  t->num_yarns = sc->num_yarns;
  LOOM_TRY(host->buf_new(host, "yarn points", LOOM_I32, (int64_t)sc->num_segs + 1, &t->pt0));
  LOOM_TRY(host->buf_new(host, "yarn weights", LOOM_REAL, (int64_t)YARN_LANES * sc->num_segs,
                         &t->weight));
  LOOM_TRY(host->buf_new(host, "yarn radii", LOOM_REAL, sc->num_segs, &t->radius));
  LOOM_TRY(host->buf_new(host, "yarn basis", LOOM_REAL, (int64_t)4 * YARN_LANES, &t->basis));
  LOOM_TRY(host->map(host, NULL, t->basis, LOOM_WRITE, LOOM_AT_HOST, &p));
  for (int k = 0; k < YARN_LANES; ++k) {
    loom_real w[4];
    spline_weights((loom_real)k / (loom_real)YARN_B, w);
    for (int a = 0; a < 4; ++a) ((loom_real *)p)[YARN_LANES * a + k] = w[a];
  }
  LOOM_TRY(host->unmap(host, t->basis));
  if (sc->num_segs == 0) return LOOM_OK;
  int32_t changed;
  LOOM_TRY(fill_yarn_points(host, sc, t));
  return yarn_table_refresh(host, sc, t, &changed);
}

/* ---- radii that grow ---- */

static loom_status write_yarn_radii(const loom_host *host, const loom_scene *sc,
                                    yarn_points_table *t, const loom_real *radius)
{
  plug_maps m = plug_maps_on(host, NULL);
  const int32_t *const yarn = plug_read_host(&m, sc->seg_yarn);
  loom_real *const r = plug_write_host(&m, t->radius);
  LOOM_TRY(m.status);
  for (int32_t s = 0; s < t->num_segs; ++s) r[s] = radius[yarn[s]];
  return plug_unbind(&m);
}

loom_status yarn_table_refresh(const loom_host *host, const loom_scene *sc, yarn_points_table *t,
                               int32_t *changed)
{
  const loom_yarn_radii *const now = loom_scene_yarn_radii(sc);
  plug_maps m = plug_maps_on(host, NULL);
  *changed = 0;
  if (now == NULL || t->num_segs == 0) return LOOM_OK;
  const loom_real *const radius = plug_read_host(&m, now->radius);
  const loom_real *const had = plug_read_host(&m, t->radius);
  const int32_t *const seg = plug_read_host(&m, sc->yarn_seg);
  LOOM_TRY(m.status);
  for (int32_t k = 0; k < t->num_yarns; ++k) *changed |= radius[k] != had[seg[k]];
  LOOM_TRY(plug_unbind(&m));
  if (!*changed) return LOOM_OK;
  m = plug_maps_on(host, NULL);
  const loom_real *const from = plug_read_host(&m, now->radius);
  LOOM_TRY(m.status);
  LOOM_TRY(write_yarn_radii(host, sc, t, from));
  return plug_unbind(&m);
}

loom_status yarn_table_checkpoint(const loom_host *host, int restore, const char *name,
                                  const loom_scene *sc, yarn_points_table *t)
{
  int64_t bad = 0;
  if (loom_scene_yarn_radii(sc) == NULL || t->num_segs == 0) return LOOM_OK;
  LOOM_TRY(host->state_io(host, restore, name, t->radius));
  if (!restore) return LOOM_OK;
  LOOM_CHECK(host, host->buf_count(host, t->radius) == t->num_segs, LOOM_E_IO,
             "the checkpoint's %s are of another scene; start the run again", name);
  plug_maps m = plug_maps_on(host, NULL);
  const loom_real *const r = plug_read_host(&m, t->radius);
  LOOM_TRY(m.status);
  while (bad < t->num_segs && isfinite(r[bad]) && r[bad] > 0) ++bad;
  LOOM_TRY(plug_unbind(&m));
  LOOM_CHECK(host, bad == t->num_segs, LOOM_E_IO,
             "the checkpoint's %s cannot be (number %lld); start the run again", name,
             (long long)bad);
  return LOOM_OK;
}

yarn_line yarn_line_bind(plug_maps *m, const loom_scene *sc, const yarn_points_table *t)
{
  if (t->num_segs == 0) return (yarn_line){.num_segs = 0};
  return (yarn_line){.segs = plug_read(m, sc->segs),
                     .seg_yarn = plug_read(m, sc->seg_yarn),
                     .yarn_seg = plug_read(m, sc->yarn_seg),
                     .closed = plug_read(m, sc->yarn_closed),
                     .pt0 = plug_read(m, t->pt0),
                     .weight = plug_read(m, t->weight),
                     .radius = plug_read(m, t->radius),
                     .basis = plug_read(m, t->basis),
                     .num_segs = t->num_segs,
                     .num_yarns = t->num_yarns,
                     .num_points = t->num_points};
}
