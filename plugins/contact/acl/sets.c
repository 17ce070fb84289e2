/* sets.c - contact sets as boxes of points: found, merged, removed, and their memory. */
#include <stdlib.h>
#include <string.h>

#include "acl.h"
#include "acl_pose.kern.h"

/* ---- where sets are ---- */

static int32_t last_seg(const yarn_line *l, int32_t first, int32_t p)
{
  return yarn_seg_of(l, l->seg_yarn[first], p);
}

/* Keeps bins ascending, so that results do not depend on the order in which sets came. */
int acl_hook(acl *m, const yarn_line *l, int32_t id)
{
  const acl_set *const s = &m->sets[id];
  for (int32_t a = s->at.sa; a <= last_seg(l, s->at.sa, s->at.u1); ++a) {
    grow_ids *const b = &m->bins[a];
    if (!grow_push(b, id)) return 0;
    int64_t i = b->n - 1;
    for (; i > 0 && b->v[i - 1] > id; --i) b->v[i] = b->v[i - 1];
    b->v[i] = id;
  }
  return 1;
}

static void remove_set_from_bins(acl *m, const yarn_line *l, int32_t id)
{
  const acl_set *const s = &m->sets[id];
  for (int32_t a = s->at.sa; a <= last_seg(l, s->at.sa, s->at.u1); ++a) {
    grow_ids *const b = &m->bins[a];
    int64_t i = 0;
    while (b->v[i] != id) ++i;
    memmove(b->v + i, b->v + i + 1, (size_t)(b->n - i - 1) * sizeof *b->v);
    --b->n;
  }
}

static int is_set_overlapping(const acl_set *s, acl_box b)
{
  return s->at.u0 <= b.u1 && b.u0 <= s->at.u1 && s->at.v0 <= b.v1 && b.v0 <= s->at.v1;
}

/* A live set that the box overlaps, -1: none */
static int32_t find_overlap(const acl *m, int32_t first, int32_t last, acl_box box)
{
  for (int32_t a = first; a <= last; ++a)
    for (int64_t i = 0; i < m->bins[a].n; ++i)
      if (is_set_overlapping(&m->sets[m->bins[a].v[i]], box)) return m->bins[a].v[i];
  return -1;
}

int acl_covered(const acl *m, int32_t seg, int32_t p, int32_t q)
{
  const acl_box b = {p, p, q, q};
  return find_overlap(m, seg, seg, b) >= 0;
}

/* Yarn that point p belongs to. */
static int32_t yarn_of(const yarn_line *l, int32_t p)
{
  int32_t lo = 0, hi = l->num_yarns - 1;
  while (lo < hi) {
    const int32_t mid = lo + (hi - lo + 1) / 2;
    if (l->pt0[l->yarn_seg[mid]] <= p)
      lo = mid;
    else
      hi = mid - 1;
  }
  return lo;
}

static void pad_range(const acl *m, const yarn_line *l, int32_t *p0, int32_t *p1)
{
  const int32_t k = yarn_of(l, *p0);
  const int32_t first = l->pt0[l->yarn_seg[k]], end = l->pt0[l->yarn_seg[k + 1]];
  *p0 = *p0 - (int32_t)m->set.padding > first ? *p0 - (int32_t)m->set.padding : first;
  *p1 = *p1 + (int32_t)m->set.padding < end - 1 ? *p1 + (int32_t)m->set.padding : end - 1;
}

acl_box acl_pad(const acl *m, const yarn_line *l, acl_box box)
{
  pad_range(m, l, &box.u0, &box.u1);
  pad_range(m, l, &box.v0, &box.v1);
  return box;
}

/* ---- birth and death ----
 */

int acl_remove(acl *m, const yarn_line *l, int32_t id)
{
  acl_set *const s = &m->sets[id];
  remove_set_from_bins(m, l, id);
  s->state = ACL_DEAD;
  m->pool.live_slots -= s->slot_cap;
  m->pool.live_reals -= s->block_cap;
  --m->live;
  ++m->died;
  m->layout_changed = m->boxes_changed = 1;
  return grow_push(&m->freed, id);
}

static int new_id(acl *m, int32_t *id)
{
  if (m->freed.n > 0) {
    *id = m->freed.v[--m->freed.n];
    return 1;
  }
  void *p = m->sets;
  const int ok = grow_array(&p, &m->cap, m->num + 1, sizeof *m->sets);
  m->sets = p;
  *id = (int32_t)m->num;
  m->num += ok;
  return ok;
}

/* Springs at a quarter and three quarters of both ranges. */
static void place_springs(acl_set *s)
{
  for (int k = 0; k < ACL_SPRINGS; ++k) {
    s->at.spring[k][0] = s->at.u0 + (s->at.u1 - s->at.u0) * (1 + 2 * (k & 1)) / 4;
    s->at.spring[k][1] = s->at.v0 + (s->at.v1 - s->at.v0) * (1 + (k & 2)) / 4;
    s->at.from[k] = -1;
  }
}

void acl_keep_springs(acl_place *s, const acl_place *old)
{
  for (int k = 0; k < ACL_SPRINGS; ++k) {
    const int32_t i = old->spring[k][0], j = old->spring[k][1];
    if (i < s->u0 || i > s->u1 || j < s->v0 || j > s->v1) continue;
    s->spring[k][0] = i;
    s->spring[k][1] = j;
    s->from[k] = old->from[k];
  }
}

int acl_absorb(acl *m, const yarn_line *l, acl_box box, int32_t *out)
{
  const int32_t ku = yarn_of(l, box.u0), kv = yarn_of(l, box.v0);
  acl_set was;
  int32_t id, other;
  int64_t updates = 0;
  memset(&was, 0, sizeof was);
  while ((other = find_overlap(m, yarn_seg_of(l, ku, box.u0), yarn_seg_of(l, ku, box.u1), box)) >=
         0) {
    const acl_set *const s = &m->sets[other];
    box.u0 = s->at.u0 < box.u0 ? s->at.u0 : box.u0;
    box.u1 = s->at.u1 > box.u1 ? s->at.u1 : box.u1;
    box.v0 = s->at.v0 < box.v0 ? s->at.v0 : box.v0;
    box.v1 = s->at.v1 > box.v1 ? s->at.v1 : box.v1;
    if (was.state == ACL_DEAD) was = *s;
    updates += s->updates;
    if (!acl_remove(m, l, other)) return 0;
  }
  if (!new_id(m, &id)) return 0;
  acl_set *const s = &m->sets[id];
  memset(s, 0, sizeof *s);
  s->at.u0 = box.u0;
  s->at.u1 = box.u1;
  s->at.v0 = box.v0;
  s->at.v1 = box.v1;
  s->state = ACL_NEW;
  s->at.sa = yarn_seg_of(l, ku, box.u0);
  s->at.sb = yarn_seg_of(l, kv, box.v0);
  s->at.reach = l->radius[s->at.sa] + l->radius[s->at.sb];
  s->updates = updates;
  place_springs(s);
  if (was.state != ACL_DEAD) acl_keep_springs(&s->at, &was.at);
  ++m->live;
  ++m->born;
  m->layout_changed = m->boxes_changed = 1;
  *out = id;
  return acl_hook(m, l, id);
}

/* ---- slots ----
 */

int64_t acl_slots_of(const yarn_line *l, const acl_place *t, int32_t *off)
{
  const int32_t ea = last_seg(l, t->sa, t->u1), eb = last_seg(l, t->sb, t->v1);
  const int32_t na = ea - t->sa + 4, nb = eb - t->sb + 4;
  /* one range where the two share control points of a yarn */
  const int together =
      l->seg_yarn[t->sa] == l->seg_yarn[t->sb] && t->sb >= t->sa && t->sb - t->sa < na;
  const int32_t last = eb > ea ? eb : ea;
  *off = together ? t->sb - t->sa : na;
  return together ? last - t->sa + 4 : na + nb;
}

int acl_layout(acl *m, const yarn_line *l, acl_set *s, int with_K)
{
  acl_pools *const q = &m->pool;
  acl_place *const t = &s->at;
  int32_t off;
  const int32_t slots = (int32_t)acl_slots_of(l, t, &off);
  int moved = 0;
  if (slots > s->slot_cap) {
    void *p = m->vert;
    const int ok = grow_array(&p, &m->vert_cap, q->slots + slots, sizeof *m->vert);
    m->vert = p;
    if (!ok) return 0;
    q->live_slots += slots - s->slot_cap;
    t->slot = q->slots;
    moved = 1;
    s->slot_cap = slots;
    q->slots += slots;
  }
  const int32_t reals = with_K ? 3 * slots * (slots + 1) : 0;
  if (reals > s->block_cap) {
    q->live_reals += reals - s->block_cap;
    t->block = q->reals;
    moved = 1;
    s->block_cap = reals;
    q->reals += reals;
  }
  q->scattered += moved;
  if (slots != t->slots || off != t->off) m->layout_changed = 1;
  t->slots = slots;
  t->off = off;
  t->with_K = with_K;
  acl_vertices(l, t, m->vert + t->slot);
  return 1;
}

void acl_sets_free(acl *m)
{
  for (int32_t i = 0; m->bins != NULL && i < m->table.num_segs; ++i) free(m->bins[i].v);
  free(m->bins), free(m->sets), free(m->freed.v), free(m->vert);
}
