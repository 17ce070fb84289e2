/* adapt.c - from one step to the next: new contacts become sets, models that have strayed are
 * built anew, sets follow what slides and end where nothing is left.
 *
 * Order: detect, coalesce and merge, metric, resize, merge until nothing overlaps, build.  If
 * boxes that were resized overlapped when forces are evaluated, pairs would count twice. */
#include <math.h>
#include <string.h>

#include "acl.h"
#include "plug.h"
#include "stats.h"

static const lk_entry k_apply = LK_ENTRY(acl_apply), k_range = LK_ENTRY(acl_range);
static const lk_entry k_build = LK_ENTRY(acl_build);

/* ---- new contacts ---------------------------------------------------------------------------- */

/* Points of segments a, b within the ranges w that are in contact and in no set. */
static int coalesce(acl *m, const yarn_line *l, int32_t a, int32_t b, const loom_real *w)
{
  const loom_real *const A = m->P + (ptrdiff_t)YARN_POS * a, *const B =
                                                                 m->P + (ptrdiff_t)YARN_POS * b;
  const loom_real sum = l->radius[a] + l->radius[b], b11 = (loom_real)YARN_B;
  const int near = yarn_adjacent(l, a, b);
  int r[4];
  for (int k = 0; k < 4; ++k) r[k] = (int)lround((double)(w[k] * b11));
  for (int i = r[0]; i <= r[1]; ++i)
    for (int j = r[2]; j <= r[3]; ++j) {
      const int32_t p = l->pt0[a] + i, q = l->pt0[b] + j;
      loom_real d2 = 0;
      int32_t id;
      for (int c = 0; c < 3; ++c) {
        const loom_real d = A[YARN_LANES * c + i] - B[YARN_LANES * c + j];
        d2 += d * d;
      }
      if (!(d2 < sum * sum) || (near && !yarn_apart(l, l->seg_yarn[a], p, q))) continue;
      if (acl_covered(m, a, p, q)) continue;
      const acl_box box = {p, p, q, q};
      if (!acl_absorb(m, l, acl_pad(m, l, box), &id)) return 0;
    }
  return 1;
}

static loom_status take_pairs(acl *m, const yarn_line *l, const loom_pairs *pairs)
{
  void *p[3];
  const plug_map a[3] = {{pairs->kind, LOOM_READ}, {pairs->v, LOOM_READ}, {pairs->w, LOOM_READ}};
  if (pairs->count == 0) return LOOM_OK;
  LOOM_TRY(plug_map_all(m->h, m->e, 3, a, p));
  const int32_t *const kind = p[0], *const v = p[1];
  const loom_real *const w = p[2];
  LOOM_CHECK(m->h, kind != NULL && v != NULL && w != NULL, LOOM_E_INTERNAL,
             "%lld pairs without arrays", (long long)pairs->count);
  for (int64_t k = 0; k < pairs->count; ++k)
    if (kind[k] == LOOM_PAIR_YY) ACL_MEMORY(m, coalesce(m, l, v[4 * k], v[4 * k + 1], w + 4 * k));
  return plug_unmap_all(m->h, 3, a);
}

/* ---- models that have strayed -------------------------------------------------------------- */

/* Numbers of the sets in one of two states. */
static loom_status list_sets(acl *m, int state, int other)
{
  m->list.n = 0;
  for (int64_t i = 0; i < m->num; ++i)
    if (m->sets[i].state == state || m->sets[i].state == other)
      ACL_MEMORY(m, grow_push(&m->list, (int32_t)i));
  return LOOM_OK;
}

/* Forces by the models of all clean sets; those beyond the tolerance become dirty. */
static loom_status test_models(acl *m, acl_args *a)
{
  const double tau = m->set.tolerance;
  LOOM_TRY(list_sets(m, ACL_CLEAN, ACL_CLEAN));
  if (tau > 0.0) LOOM_TRY(acl_run(m, &k_apply, a, &m->list));
  m->energy_at = 0.0;
  for (int64_t k = 0; k < m->list.n; ++k) {
    const int within = tau > 0.0 && (double)m->metric[k] <= tau;
    if (!within) m->sets[m->list.v[k]].state = ACL_DIRTY;
    if (within) m->energy_at += (double)m->energy[k];
  }
  return LOOM_OK;
}

/* ---- resizing ------------------------------------------------------------------------------ */

/* The set shrinks or grows to what is in contact; what it then overlaps, it absorbs. */
static int resize(acl *m, const yarn_line *l, int32_t id, const int32_t *range, loom_real d2)
{
  const acl_set *const s = &m->sets[id];
  const acl_box touching = {range[0], range[1], range[2], range[3]};
  if (s->state != ACL_DIRTY) return 1; /* absorbed meanwhile, its number perhaps used again */
  if (range[4] == 0) {
    const double far = m->set.release * (double)s->reach;
    return (double)d2 > far * far ? acl_remove(m, l, id) : 1;
  }
  const acl_box box = acl_pad(m, l, touching);
  if (box.u0 == s->u0 && box.u1 == s->u1 && box.v0 == s->v0 && box.v1 == s->v1) return 1;
  /* the set itself is absorbed by what takes its place, with its springs; its old box must not
   * count, so it shrinks first */
  acl_set was = *s;
  int32_t made;
  if (!acl_remove(m, l, id)) return 0;
  if (!acl_absorb(m, l, box, &made)) return 0;
  acl_set *const t = &m->sets[made];
  t->updates += was.updates;
  for (int k = 0; k < ACL_SPRINGS; ++k) {
    const int32_t i = was.spring[k][0], j = was.spring[k][1];
    if (i < t->u0 || i > t->u1 || j < t->v0 || j > t->v1) continue;
    t->spring[k][0] = i;
    t->spring[k][1] = j;
    t->length[k] = was.length[k];
  }
  return 1;
}

static loom_status build(acl *m, const yarn_line *l, acl_args *a)
{
  LOOM_TRY(list_sets(m, ACL_DIRTY, ACL_NEW));
  LOOM_TRY(acl_run(m, &k_range, a, &m->list));
  for (int64_t k = 0; k < m->list.n; ++k) m->sets[m->list.v[k]].state = ACL_DIRTY;
  for (int64_t k = 0; k < m->list.n; ++k) {
    LOOM_CHECK(m->h, isfinite((double)m->smallest[k]), LOOM_E_NUMERIC,
               "yarn positions are not finite");
    ACL_MEMORY(m, resize(m, l, m->list.v[k], m->range + 5 * k, m->smallest[k]));
  }
  /* what was merged or moved is measured again, at its final size */
  LOOM_TRY(list_sets(m, ACL_DIRTY, ACL_NEW));
  LOOM_TRY(acl_run(m, &k_range, a, &m->list));
  for (int64_t k = 0; k < m->list.n; ++k) {
    acl_set *const s = &m->sets[m->list.v[k]];
    s->eps2 = m->smallest[k];
    ACL_MEMORY(m, acl_layout(m, l, s, m->set.tolerance > 0.0 && m->range[5 * k + 4] > 0));
  }
  a->p = m->pool.p;
  LOOM_TRY(acl_run(m, &k_build, a, &m->list));
  for (int64_t k = 0; k < m->list.n; ++k) {
    m->sets[m->list.v[k]].state = ACL_CLEAN;
    m->energy_at += (double)m->energy[k];
  }
  m->built = m->list.n;
  return LOOM_OK;
}

/* ---- one step ------------------------------------------------------------------------------ */

/* Boxes of all sets for detection, ascending; ranges of more than 256 points in parts. */
loom_status acl_export_boxes(acl *m)
{
  const loom_host *const h = m->h;
  int64_t n = 0;
  void *p;
  if (!m->boxes_changed) return LOOM_OK;
  for (int64_t i = 0; i < m->num; ++i) {
    const acl_set *const s = &m->sets[i];
    if (s->state != ACL_DEAD)
      n += (int64_t)((s->u1 - s->u0) / 256 + 1) * ((s->v1 - s->v0) / 256 + 1);
  }
  LOOM_TRY(h->buf_resize(h, m->exclude, n));
  LOOM_TRY(h->buf_resize(h, m->order, n));
  LOOM_TRY(h->map(h, NULL, m->exclude, LOOM_WRITE, LOOM_AT_HOST, &p));
  uint64_t *key = p;
  for (int64_t i = 0; i < m->num; ++i) {
    const acl_set *const s = &m->sets[i];
    if (s->state == ACL_DEAD) continue;
    for (int32_t u = s->u0; u <= s->u1; u += 256)
      for (int32_t v = s->v0; v <= s->v1; v += 256) {
        const int32_t nu = s->u1 - u < 255 ? s->u1 - u : 255;
        const int32_t nv = s->v1 - v < 255 ? s->v1 - v : 255;
        *key++ = (uint64_t)u << 40 | (uint64_t)v << 16 | (uint64_t)nu << 8 | (uint64_t)nv;
      }
  }
  LOOM_TRY(h->unmap(h, m->exclude));
  m->boxes_changed = 0;
  return h->sort_u64(h, m->e, m->exclude, m->order);
}

enum { POINTS, COALESCE, EVALUATE, REBUILD, GATHER, PHASES };

static void write_stats(acl *m, int64_t step, int64_t found, const double *spent)
{
  int64_t slots = 0, pairs = 0;
  if (m->stats == NULL) return;
  for (int64_t i = 0; i < m->num; ++i)
    if (m->sets[i].state != ACL_DEAD) slots += m->sets[i].slots, pairs += m->sets[i].pairs;
  fprintf(m->stats, "%lld %lld %lld %lld %lld %lld %lld %lld", (long long)step, (long long)m->live,
          (long long)m->built, (long long)m->born, (long long)m->died, (long long)found,
          (long long)slots, (long long)pairs);
  for (int k = 0; k < PHASES; ++k) fprintf(m->stats, " %.9f", spent[k]);
  fprintf(m->stats, "\n");
}

/* Processor time since the last call, s. */
static double lap(double *last)
{
  const double now = stats_cpu(), spent = now - *last;
  *last = now;
  return spent;
}

loom_status acl_adapt(acl *m, const loom_step *s, const loom_pairs *pairs)
{
  const loom_host *const h = m->h;
  double last = stats_cpu(), spent[PHASES];
  acl_args a;
  void *x;
  m->born = m->died = m->built = 0;
  LOOM_TRY(h->map(h, m->e, s->x_start, LOOM_READ, LOOM_AT_EXEC, &x));
  LOOM_TRY(acl_open(m, x, 1, &a));
  LOOM_TRY(acl_lanes_at(m, &a));
  spent[POINTS] = lap(&last);
  LOOM_TRY(take_pairs(m, &a.l, pairs));
  spent[COALESCE] = lap(&last);
  LOOM_TRY(test_models(m, &a));
  spent[EVALUATE] = lap(&last);
  LOOM_TRY(build(m, &a.l, &a));
  ACL_MEMORY(m, acl_compact(m));
  spent[REBUILD] = lap(&last);
  LOOM_TRY(acl_gather_forces(m, m->force));
  memcpy(m->x_at, x, sizeof *m->x_at * 3 * (size_t)m->n);
  m->have_force = 1;
  LOOM_TRY(acl_export_boxes(m));
  spent[GATHER] = lap(&last);
  write_stats(m, s->index, pairs->count, spent);
  LOOM_TRY(acl_close(m));
  return h->unmap(h, s->x_start);
}
