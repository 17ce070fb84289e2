/* state.c - memory of the instance, and what a checkpoint keeps. */
#include <string.h>

#include "acl.h"

loom_status acl_state_new(acl *m)
{
  const size_t ns = (size_t)m->table.num_segs, n3 = 3 * (size_t)m->n + 1;
  m->bins = calloc(ns + 1, sizeof *m->bins);
  m->P = calloc(YARN_POS * ns + 1, sizeof *m->P);
  m->at = calloc((size_t)m->n + 2, sizeof *m->at);
  m->force = calloc(n3, sizeof *m->force);
  m->other = calloc(n3, sizeof *m->other);
  m->x_at = calloc(n3, sizeof *m->x_at);
  ACL_MEMORY(m, m->bins != NULL && m->P != NULL && m->at != NULL && m->force != NULL &&
                    m->other != NULL && m->x_at != NULL);
  LOOM_TRY(m->h->buf_new(m->h, "boxes of sets", LOOM_U64, 0, &m->exclude));
  return m->h->buf_new(m->h, "order of boxes", LOOM_I32, 0, &m->order);
}

void acl_state_free(acl *m)
{
  acl_sets_free(m);
  free(m->list.v);
  free(m->metric), free(m->energy), free(m->smallest), free(m->range);
  free(m->P), free(m->at), free(m->slot), free(m->force), free(m->other), free(m->x_at);
  m->h->buf_free(m->h, m->exclude);
  m->h->buf_free(m->h, m->order);
}

void acl_forget(acl *m)
{
  for (int32_t i = 0; i < m->table.num_segs; ++i) m->bins[i].n = 0;
  m->num = m->live = 0;
  m->freed.n = 0;
  m->pool.slots = m->pool.reals = m->pool.live_slots = m->pool.live_reals = 0;
  m->have_force = 0;
  m->layout_changed = m->boxes_changed = 1;
}

/* ---- checkpoint --------------------------------------------------------------------------- */

/* n bytes of values, there and back. */
static loom_status bytes_io(acl *m, int restore, const char *name, int64_t n, void *values)
{
  const loom_host *const h = m->h;
  loom_buf *b = NULL;
  void *p;
  LOOM_TRY(h->buf_new(h, name, LOOM_U8, n, &b));
  if (!restore) {
    LOOM_TRY(h->map(h, NULL, b, LOOM_WRITE, LOOM_AT_HOST, &p));
    if (n > 0) memcpy(p, values, (size_t)n);
    LOOM_TRY(h->unmap(h, b));
  }
  LOOM_TRY(h->state_io(h, restore, name, b));
  if (restore) {
    LOOM_CHECK(h, h->buf_count(h, b) == n, LOOM_E_IO,
               "the checkpoint has %lld bytes of %s, %lld are wanted; it was written by another "
               "version or for another scene",
               (long long)h->buf_count(h, b), name, (long long)n);
    LOOM_TRY(h->map(h, NULL, b, LOOM_READ, LOOM_AT_HOST, &p));
    if (n > 0) memcpy(values, p, (size_t)n);
    LOOM_TRY(h->unmap(h, b));
  }
  h->buf_free(h, b);
  return LOOM_OK;
}

/* Sets, models and the room they have, as they stand; where sets are follows from them. */
static loom_status sets_io(acl *m, int restore)
{
  acl_pools *const q = &m->pool;
  const int64_t real = (int64_t)sizeof(loom_real), k = q->slots;
  const struct {
    const char *name;
    void *p;
    int64_t bytes;
  } all[] = {{"acl sets", m->sets, m->num * (int64_t)sizeof *m->sets},
             {"acl unused", m->freed.v, m->freed.n * (int64_t)sizeof *m->freed.v},
             {"acl vertices", q->p.vert, k * (int64_t)sizeof *q->p.vert},
             {"acl qbar", q->p.qbar, 3 * k * real},
             {"acl fbar", q->p.fbar, 3 * k * real},
             {"acl weights", q->p.M, k * real},
             {"acl forces", q->p.F, 3 * k * real},
             {"acl stiffness", q->p.K, q->reals * real}};
  for (size_t i = 0; i < LOOM_COUNT(all); ++i)
    LOOM_TRY(bytes_io(m, restore, all[i].name, all[i].bytes, all[i].p));
  return LOOM_OK;
}

loom_status acl_checkpoint(void *self, const loom_step *s, int restore)
{
  acl *const m = self;
  acl_pools *const q = &m->pool;
  int64_t head[7] = {m->num, m->freed.n, q->slots, q->reals, m->live, q->live_slots, q->live_reals};
  (void)s;
  if (m->table.num_segs == 0) return LOOM_OK;
  if (restore) acl_forget(m);
  LOOM_TRY(bytes_io(m, restore, "acl counts", (int64_t)sizeof head, head));
  if (restore) {
    void *sets = m->sets, *freed = m->freed.v;
    int ok = grow_room(&sets, &m->cap, head[0], sizeof *m->sets);
    m->sets = sets;
    ok = grow_room(&freed, &m->freed.cap, head[1], sizeof *m->freed.v) && ok;
    m->freed.v = freed;
    ACL_MEMORY(m, ok && acl_room(q, head[2], head[3]));
    m->num = head[0];
    m->freed.n = head[1];
    q->slots = head[2];
    q->reals = head[3];
    m->live = head[4];
    q->live_slots = head[5];
    q->live_reals = head[6];
  }
  LOOM_TRY(sets_io(m, restore));
  if (!restore) return LOOM_OK;
  yarn_line l;
  LOOM_TRY(yarn_line_open(m->h, m->sc, m->e, &m->table, &l));
  for (int64_t i = 0; i < m->num; ++i)
    if (m->sets[i].state != ACL_DEAD) ACL_MEMORY(m, acl_hook(m, &l, (int32_t)i));
  LOOM_TRY(acl_export_boxes(m)); /* detection asks for them before the next step's end */
  return yarn_line_close(m->h, m->sc, &m->table);
}
