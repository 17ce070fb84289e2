/* adapt.c - from one step to the next: new contacts become sets, models that have strayed are
 * built anew, sets follow contacts that slide and end where no contact is left.
 *
 * Order: detect, coalesce and merge, metric, resize, merge until no two sets overlap, build.  If
 * boxes that were resized overlapped when forces are evaluated, pairs would count twice. */
#include <math.h>

#include "acl.h"
#include "loom/plug.h"

static const lk_entry k_apply = LK_ENTRY_MOVES(acl_apply, 1754, 25),
                      k_range = LK_ENTRY_MOVES(acl_range, 1030, 466);
static const lk_entry k_build = LK_ENTRY_MOVES(acl_build, 2050, 91),
                      k_touching = LK_ENTRY_MOVES(acl_touching, 12, 6);
static const lk_entry k_springs_of = LK_ENTRY_MOVES(acl_springs_of, 7, 5);

/* ---- new contacts ---- */

/* Which points of the pairs are in contact, into m->touch. */
static loom_status find_touching(acl *m, const loom_pairs *pairs)
{
  LOOM_TRY(m->host->buf_resize(m->host, m->touch, pairs->count * (int64_t)sizeof(acl_touch)));
  plug_maps maps = plug_maps_on(m->host, m->e);
  const acl_touch_args a = {.l = yarn_line_bind(&maps, m->sc, &m->table),
                            .P = plug_read(&maps, m->P),
                            .kind = plug_read(&maps, pairs->kind),
                            .v = plug_read(&maps, pairs->v),
                            .w = plug_read(&maps, pairs->w),
                            .out = plug_write(&maps, m->touch)};
  return plug_launch(&maps, &k_touching, &a, pairs->count, NULL);
}

/* Points of segments a, b that are in contact and in no set. */
static int coalesce_contacts(acl *m, const yarn_line *l, int32_t a, int32_t b,
                             const acl_touch *touch)
{
  for (int i = 0; i < YARN_LANES; ++i)
    for (int j = 0; touch->row[i] >> j != 0; ++j) {
      const int32_t p = l->pt0[a] + i, q = l->pt0[b] + j;
      int32_t id;
      if (!(touch->row[i] >> j & 1) || acl_covered(m, a, p, q)) continue;
      const acl_box box = {p, p, q, q};
      if (!acl_absorb(m, l, acl_pad(m, l, box), &id)) return 0;
    }
  return 1;
}

static loom_status accept_acl_pairs(acl *m, const yarn_line *l, const loom_pairs *pairs)
{
  const loom_host *const host = m->host;
  void *v, *touch;
  if (pairs->count == 0) return LOOM_OK;
  LOOM_TRY(find_touching(m, pairs));
  LOOM_TRY(host->map(host, m->e, pairs->v, LOOM_READ, LOOM_AT_HOST, &v));
  LOOM_TRY(host->map(host, m->e, m->touch, LOOM_READ, LOOM_AT_HOST, &touch));
  for (int64_t k = 0; k < pairs->count; ++k) {
    const int32_t *const seg = (const int32_t *)v + 4 * k;
    ACL_MEMORY(m, coalesce_contacts(m, l, seg[0], seg[1], (const acl_touch *)touch + k));
  }
  LOOM_TRY(host->unmap(host, m->touch));
  return host->unmap(host, pairs->v);
}

/* ---- models that have strayed ---- */

/* Numbers of the sets in one of two states. */
static loom_status list_sets(acl *m, int state, int other)
{
  m->list.n = 0;
  for (int64_t i = 0; i < m->num; ++i)
    if (m->sets[i].state == state || m->sets[i].state == other)
      ACL_MEMORY(m, grow_push(&m->list, (int32_t)i));
  return LOOM_OK;
}

/* Forces by the models of all clean sets; sets beyond the tolerance become dirty, and all sets
 * where radii have grown, since models are of the radii that they were built with. */
static loom_status test_models(acl *m, loom_buf *x)
{
  const double tau = m->grown ? 0.0 : m->set.tolerance;
  const acl_out *out;
  LOOM_TRY(list_sets(m, ACL_CLEAN, ACL_CLEAN));
  LOOM_TRY(acl_put_jobs(m, 0));
  if (tau > 0.0) LOOM_TRY(acl_run(m, &k_apply, x, 1));
  LOOM_TRY(acl_results(m, &out));
  m->energy_at = 0.0;
  for (int64_t k = 0; k < m->list.n; ++k) {
    const int within = tau > 0.0 && (double)out[k].metric <= tau;
    if (!within) m->sets[m->list.v[k]].state = ACL_DIRTY;
    if (within) m->energy_at += (double)out[k].energy;
  }
  return m->host->unmap(m->host, m->out);
}

/* ---- resizing ---- */

/* The set shrinks or grows to the points in contact, and absorbs sets that it then overlaps. */
static int resize_contact_set(acl *m, const yarn_line *l, int32_t id, const acl_out *found)
{
  const acl_set *const s = &m->sets[id];
  const int32_t *const range = found->range;
  const acl_box touching = {range[0], range[1], range[2], range[3]};
  if (s->state != ACL_DIRTY) return 1; /* absorbed meanwhile, its number perhaps used again */
  if (range[4] == 0) {
    const double far = m->set.release * (double)s->at.reach;
    return (double)found->smallest > far * far ? acl_remove(m, l, id) : 1;
  }
  const acl_box box = acl_pad(m, l, touching);
  if (box.u0 == s->at.u0 && box.u1 == s->at.u1 && box.v0 == s->at.v0 && box.v1 == s->at.v1)
    return 1;
  /* a new set replaces this one and takes over its springs; the old box must not count, so it is
   * removed first */
  acl_set was = *s;
  int32_t made;
  if (!acl_remove(m, l, id)) return 0;
  if (!acl_absorb(m, l, box, &made)) return 0;
  m->sets[made].updates += was.updates;
  acl_keep_springs(&m->sets[made].at, &was.at);
  return 1;
}

/* Resizes each set without a model to its contact range. */
static loom_status resize_all(acl *m, const yarn_line *l, loom_buf *x)
{
  const acl_out *out;
  LOOM_TRY(list_sets(m, ACL_DIRTY, ACL_NEW));
  LOOM_TRY(acl_put_jobs(m, 1));
  LOOM_TRY(acl_run(m, &k_range, x, 1));
  LOOM_TRY(acl_results(m, &out));
  for (int64_t k = 0; k < m->list.n; ++k) m->sets[m->list.v[k]].state = ACL_DIRTY;
  for (int64_t k = 0; k < m->list.n; ++k) {
    LOOM_CHECK(m->host, isfinite((double)out[k].smallest), LOOM_E_NUMERIC,
               "yarn positions are not finite");
    ACL_MEMORY(m, resize_contact_set(m, l, m->list.v[k], &out[k]));
  }
  return m->host->unmap(m->host, m->out);
}

/* Sets that were merged or moved are measured again, at their final size, and get memory. */
static loom_status lay_out_dirty_sets(acl *m, const yarn_line *l, loom_buf *x)
{
  const acl_out *out;
  LOOM_TRY(list_sets(m, ACL_DIRTY, ACL_NEW));
  LOOM_TRY(acl_put_jobs(m, 1));
  LOOM_TRY(acl_run(m, &k_range, x, 1));
  LOOM_TRY(acl_results(m, &out));
  for (int64_t k = 0; k < m->list.n; ++k) {
    acl_set *const s = &m->sets[m->list.v[k]];
    s->pairs = m->set.tolerance > 0.0 ? out[k].range[4] : 0;
    s->at.eps2 = out[k].smallest;
    ACL_MEMORY(m, acl_layout(m, l, s, s->pairs > 0));
  }
  LOOM_TRY(m->host->unmap(m->host, m->out));
  return acl_room(m);
}

static loom_status build_set_models(acl *m, const yarn_line *l, loom_buf *x)
{
  const acl_out *out;
  LOOM_TRY(resize_all(m, l, x));
  LOOM_TRY(lay_out_dirty_sets(m, l, x));
  LOOM_TRY(acl_put_jobs(m, 1));
  if (m->set.stiction > 0.0) LOOM_TRY(acl_run(m, &k_springs_of, x, 1));
  LOOM_TRY(acl_run(m, &k_build, x, 1));
  LOOM_TRY(acl_results(m, &out));
  for (int64_t k = 0; k < m->list.n; ++k) {
    acl_set *const s = &m->sets[m->list.v[k]];
    s->state = ACL_CLEAN;
    ++s->updates;
    for (int i = 0; i < ACL_SPRINGS; ++i) s->at.from[i] = ACL_SPRINGS * m->list.v[k] + i;
    m->energy_at += (double)out[k].energy;
  }
  m->built = m->list.n;
  return m->host->unmap(m->host, m->out);
}

/* ---- one step ---- */

/* Boxes of all sets for detection, ascending; ranges of more than 256 points in parts. */
loom_status acl_export_boxes(acl *m)
{
  const loom_host *const host = m->host;
  int64_t n = 0;
  void *p;
  if (!m->boxes_changed) return LOOM_OK;
  for (int64_t i = 0; i < m->num; ++i) {
    const acl_set *const s = &m->sets[i];
    if (s->state != ACL_DEAD)
      n += (int64_t)((s->at.u1 - s->at.u0) / 256 + 1) * ((s->at.v1 - s->at.v0) / 256 + 1);
  }
  LOOM_TRY(host->buf_resize(host, m->exclude, n));
  LOOM_TRY(host->buf_resize(host, m->order, n));
  LOOM_TRY(host->map(host, NULL, m->exclude, LOOM_WRITE, LOOM_AT_HOST, &p));
  uint64_t *key = p;
  for (int64_t i = 0; i < m->num; ++i) {
    const acl_set *const s = &m->sets[i];
    if (s->state == ACL_DEAD) continue;
    for (int32_t u = s->at.u0; u <= s->at.u1; u += 256)
      for (int32_t v = s->at.v0; v <= s->at.v1; v += 256) {
        const int32_t nu = s->at.u1 - u < 255 ? s->at.u1 - u : 255;
        const int32_t nv = s->at.v1 - v < 255 ? s->at.v1 - v : 255;
        *key++ = (uint64_t)u << 40 | (uint64_t)v << 16 | (uint64_t)nu << 8 | (uint64_t)nv;
      }
  }
  LOOM_TRY(host->unmap(host, m->exclude));
  m->boxes_changed = 0;
  return host->sort_u64(host, m->e, m->exclude, m->order);
}

/* One phase of the step, timed under its name. */
#define PHASE(name, call)         \
  do {                            \
    host->tic(host, name);        \
    const loom_status s_ = call;  \
    host->toc(host, name);        \
    if (s_ != LOOM_OK) return s_; \
  } while (0)

static loom_status rebuild_set_models(acl *m, const yarn_line *l, loom_buf *x)
{
  LOOM_TRY(build_set_models(m, l, x));
  return acl_compact(m, l);
}

static loom_status gather_set_forces(acl *m, loom_buf *x)
{
  LOOM_TRY(acl_gather_forces(m, m->force));
  LOOM_TRY(m->host->buf_copy(m->host, m->e, m->x_at, x));
  m->have_force = 1;
  return acl_export_boxes(m);
}

static void reach_grown_radii(acl *m, const yarn_line *l)
{
  for (int64_t i = 0; m->grown && i < m->num; ++i) {
    acl_place *const t = &m->sets[i].at;
    if (m->sets[i].state != ACL_DEAD) t->reach = l->radius[t->sa] + l->radius[t->sb];
  }
}

loom_status acl_adapt(acl *m, const loom_step *s, const loom_pairs *pairs)
{
  const loom_host *const host = m->host;
  plug_maps maps = plug_maps_on(host, NULL);
  m->born = m->died = m->built = 0;
  m->found = pairs->count;
  const yarn_line l = yarn_line_bind(&maps, m->sc, &m->table); /* on the host */
  LOOM_TRY(maps.status);
  reach_grown_radii(m, &l);
  PHASE("points", acl_lanes_at(m, s->x_start));
  PHASE("coalesce", accept_acl_pairs(m, &l, pairs));
  PHASE("models", test_models(m, s->x_start));
  PHASE("rebuild", rebuild_set_models(m, &l, s->x_start));
  PHASE("gather", gather_set_forces(m, s->x_start));
  m->grown = 0;
  return plug_unbind(&maps);
}
