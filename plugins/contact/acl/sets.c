/* sets.c - contact sets as boxes of points: found, merged, removed, and their memory. */
#include <stdlib.h>
#include <string.h>

#include "acl.h"

/* ---- where sets are ------------------------------------------------------------------------ */

static int32_t last_seg(const yarn_line *l, int32_t first, int32_t p)
{
  return yarn_seg_of(l, l->seg_yarn[first], p);
}

/* Ascending, so that nothing depends on the order in which sets came. */
int acl_hook(acl *m, const yarn_line *l, int32_t id)
{
  const acl_set *const s = &m->sets[id];
  for (int32_t a = s->sa; a <= last_seg(l, s->sa, s->u1); ++a) {
    grow_ids *const b = &m->bins[a];
    if (!grow_push(b, id)) return 0;
    int64_t i = b->n - 1;
    for (; i > 0 && b->v[i - 1] > id; --i) b->v[i] = b->v[i - 1];
    b->v[i] = id;
  }
  return 1;
}

static void unhook(acl *m, const yarn_line *l, int32_t id)
{
  const acl_set *const s = &m->sets[id];
  for (int32_t a = s->sa; a <= last_seg(l, s->sa, s->u1); ++a) {
    grow_ids *const b = &m->bins[a];
    int64_t i = 0;
    while (b->v[i] != id) ++i;
    memmove(b->v + i, b->v + i + 1, (size_t)(b->n - i - 1) * sizeof *b->v);
    --b->n;
  }
}

static int overlaps(const acl_set *s, acl_box b)
{
  return s->u0 <= b.u1 && b.u0 <= s->u1 && s->v0 <= b.v1 && b.v0 <= s->v1;
}

/* A live set that the box overlaps, -1: none */
static int32_t find_overlap(const acl *m, int32_t first, int32_t last, acl_box box)
{
  for (int32_t a = first; a <= last; ++a)
    for (int64_t i = 0; i < m->bins[a].n; ++i)
      if (overlaps(&m->sets[m->bins[a].v[i]], box)) return m->bins[a].v[i];
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

/* ---- birth and death --------------------------------------------------------------------------
 */

int acl_remove(acl *m, const yarn_line *l, int32_t id)
{
  acl_set *const s = &m->sets[id];
  unhook(m, l, id);
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
  const int ok = grow_room(&p, &m->cap, m->num + 1, sizeof *m->sets);
  m->sets = p;
  *id = (int32_t)m->num;
  m->num += ok;
  return ok;
}

/* Springs at a quarter and three quarters of both ranges. */
static void place_springs(acl_set *s)
{
  for (int k = 0; k < ACL_SPRINGS; ++k) {
    s->spring[k][0] = s->u0 + (s->u1 - s->u0) * (1 + 2 * (k & 1)) / 4;
    s->spring[k][1] = s->v0 + (s->v1 - s->v0) * (1 + (k & 2)) / 4;
    s->length[k] = -1;
  }
}

/* Springs of an absorbed set stay if they lie in the new box. */
static void keep_springs(acl_set *s, const acl_set *old)
{
  for (int k = 0; k < ACL_SPRINGS; ++k) {
    const int32_t i = old->spring[k][0], j = old->spring[k][1];
    if (i < s->u0 || i > s->u1 || j < s->v0 || j > s->v1) continue;
    s->spring[k][0] = i;
    s->spring[k][1] = j;
    s->length[k] = old->length[k];
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
    box.u0 = s->u0 < box.u0 ? s->u0 : box.u0;
    box.u1 = s->u1 > box.u1 ? s->u1 : box.u1;
    box.v0 = s->v0 < box.v0 ? s->v0 : box.v0;
    box.v1 = s->v1 > box.v1 ? s->v1 : box.v1;
    if (was.state == ACL_DEAD) was = *s;
    updates += s->updates;
    if (!acl_remove(m, l, other)) return 0;
  }
  if (!new_id(m, &id)) return 0;
  acl_set *const s = &m->sets[id];
  memset(s, 0, sizeof *s);
  s->u0 = box.u0;
  s->u1 = box.u1;
  s->v0 = box.v0;
  s->v1 = box.v1;
  s->state = ACL_NEW;
  s->sa = yarn_seg_of(l, ku, box.u0);
  s->sb = yarn_seg_of(l, kv, box.v0);
  s->reach = l->radius[s->sa] + l->radius[s->sb];
  s->updates = updates;
  place_springs(s);
  if (was.state != ACL_DEAD) keep_springs(s, &was);
  ++m->live;
  ++m->born;
  m->layout_changed = m->boxes_changed = 1;
  *out = id;
  return acl_hook(m, l, id);
}

/* ---- slots --------------------------------------------------------------------------------------
 */

int acl_room(acl_pools *q, int64_t slots, int64_t reals)
{
  enum { ARRAYS = 8 };
  void *p[ARRAYS] = {q->p.vert, q->p.qbar, q->p.fbar, q->p.M, q->p.X, q->p.Y, q->p.F, q->p.K};
  static const int width[ARRAYS] = {1, 3, 3, 1, 3, 3, 3, 0};
  int ok = 1;
  for (int i = 0; i < ARRAYS; ++i)
    ok = grow_room(&p[i], &q->cap[i], width[i] > 0 ? slots * width[i] : reals,
                   i == 0 ? sizeof *q->p.vert : sizeof *q->p.qbar) &&
         ok;
  q->p.vert = p[0];
  q->p.qbar = p[1];
  q->p.fbar = p[2];
  q->p.M = p[3];
  q->p.X = p[4];
  q->p.Y = p[5];
  q->p.F = p[6];
  q->p.K = p[7];
  return ok;
}

/* Control points of segments first to last: a missing one at the start is -1, at the end -2. */
static void list_vertices(const yarn_line *l, int32_t first, int32_t last, int32_t *vert)
{
  const int32_t *const segs = l->segs;
  vert[0] = segs[4 * (ptrdiff_t)first];
  vert[1] = segs[4 * (ptrdiff_t)first + 1];
  for (int32_t s = first; s <= last; ++s) vert[2 + s - first] = segs[4 * (ptrdiff_t)s + 2];
  vert[3 + last - first] = segs[4 * (ptrdiff_t)last + 3];
  if (vert[0] < 0) vert[0] = -1;
  if (vert[3 + last - first] < 0) vert[3 + last - first] = -2;
}

int acl_layout(acl *m, const yarn_line *l, acl_set *s, int with_K)
{
  acl_pools *const q = &m->pool;
  const int32_t ea = last_seg(l, s->sa, s->u1), eb = last_seg(l, s->sb, s->v1);
  const int32_t na = ea - s->sa + 4, nb = eb - s->sb + 4;
  /* one range where the two share control points of a yarn */
  const int together =
      l->seg_yarn[s->sa] == l->seg_yarn[s->sb] && s->sb >= s->sa && s->sb - s->sa < na;
  const int32_t last = eb > ea ? eb : ea;
  const int32_t off = together ? s->sb - s->sa : na;
  const int32_t slots = together ? last - s->sa + 4 : na + nb;
  if (slots > s->slot_cap) {
    q->live_slots += slots - s->slot_cap;
    if (!acl_room(q, q->slots + slots, q->reals)) return 0;
    s->slot = q->slots;
    s->slot_cap = slots;
    q->slots += slots;
  }
  const int32_t reals = with_K ? 3 * slots * (slots + 1) : 0;
  if (reals > s->block_cap) {
    q->live_reals += reals - s->block_cap;
    if (!acl_room(q, q->slots, q->reals + reals)) return 0;
    s->block = q->reals;
    s->block_cap = reals;
    q->reals += reals;
  }
  if (slots != s->slots || off != s->off) m->layout_changed = 1;
  s->slots = slots;
  s->off = off;
  int32_t *const vert = q->p.vert + s->slot;
  list_vertices(l, s->sa, together ? last : ea, vert);
  if (!together) list_vertices(l, s->sb, eb, vert + off);
  return 1;
}

/* All arrays anew, with what the live sets have; X and Y hold nothing between calls. */
int acl_compact(acl *m)
{
  acl_pools *const q = &m->pool, old = *q;
  if (q->slots <= 2 * q->live_slots + 1024 && q->reals <= 2 * q->live_reals + 4096) return 1;
  memset(&q->p, 0, sizeof q->p);
  memset(q->cap, 0, sizeof q->cap);
  q->slots = q->reals = 0;
  const int ok = acl_room(q, old.live_slots + 1, old.live_reals + 1);
  for (int64_t i = 0; ok && i < m->num; ++i) {
    acl_set *const s = &m->sets[i];
    if (s->state == ACL_DEAD) continue;
    const size_t n = (size_t)s->slot_cap, real = sizeof *old.p.M;
    memcpy(q->p.vert + q->slots, old.p.vert + s->slot, n * sizeof *old.p.vert);
    memcpy(q->p.qbar + 3 * q->slots, old.p.qbar + 3 * s->slot, 3 * n * real);
    memcpy(q->p.fbar + 3 * q->slots, old.p.fbar + 3 * s->slot, 3 * n * real);
    memcpy(q->p.F + 3 * q->slots, old.p.F + 3 * s->slot, 3 * n * real);
    memcpy(q->p.M + q->slots, old.p.M + s->slot, n * real);
    if (s->block_cap > 0)
      memcpy(q->p.K + q->reals, old.p.K + s->block, (size_t)s->block_cap * real);
    s->slot = q->slots;
    s->block = q->reals;
    q->slots += s->slot_cap;
    q->reals += s->block_cap;
  }
  free(old.p.vert), free(old.p.qbar), free(old.p.fbar), free(old.p.M);
  free(old.p.X), free(old.p.Y), free(old.p.F), free(old.p.K);
  m->layout_changed = 1;
  return ok;
}

void acl_sets_free(acl *m)
{
  acl_pool *const p = &m->pool.p;
  for (int32_t i = 0; m->bins != NULL && i < m->table.num_segs; ++i) free(m->bins[i].v);
  free(m->bins), free(m->sets), free(m->freed.v);
  free(p->vert), free(p->qbar), free(p->fbar), free(p->M), free(p->X), free(p->Y), free(p->F),
      free(p->K);
}
