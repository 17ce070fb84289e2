/* state.c - memory of the instance, and what a checkpoint keeps. */
#include <stdlib.h>
#include <string.h>

#include "acl.h"
#include "acl_pose.kern.h"

loom_status acl_state_new(acl *m)
{
  const loom_host *const h = m->h;
  const int64_t ns = m->table.num_segs, n3 = 3 * (int64_t)m->n;
  const struct {
    const char *name;
    int type;
    int64_t count;
    loom_buf **out;
  } all[] = {{"models", LOOM_U8, 0, &m->models},
             {"points", LOOM_REAL, YARN_POS * ns, &m->P},
             {"sets to work on", LOOM_U8, 0, &m->jobs},
             {"places of sets", LOOM_U8, 0, &m->places},
             {"lengths of springs", LOOM_REAL, 0, &m->lengths},
             {"results", LOOM_U8, 0, &m->out},
             {"touching points", LOOM_U8, 0, &m->touch},
             {"first slots", LOOM_I64, (int64_t)m->n + 2, &m->at},
             {"slots of vertices", LOOM_I32, 0, &m->slot},
             {"forces", LOOM_REAL, n3, &m->force},
             {"forces elsewhere", LOOM_REAL, n3, &m->other},
             {"where they are", LOOM_REAL, n3, &m->x_at},
             {"one number", LOOM_REAL, 1, &m->result},
             {"boxes of sets", LOOM_U64, 0, &m->exclude},
             {"order of boxes", LOOM_I32, 0, &m->order}};
  m->bins = calloc((size_t)ns + 1, sizeof *m->bins);
  ACL_MEMORY(m, m->bins != NULL);
  for (size_t i = 0; i < LOOM_COUNT(all); ++i)
    LOOM_TRY(h->buf_new(h, all[i].name, all[i].type, all[i].count, all[i].out));
  return acl_pools_new(m, &m->pool);
}

void acl_state_free(acl *m)
{
  loom_buf *const all[] = {m->models, m->P,     m->jobs,   m->places,  m->lengths,
                           m->out,    m->touch, m->at,     m->slot,    m->force,
                           m->other,  m->x_at,  m->result, m->exclude, m->order};
  acl_sets_free(m);
  free(m->list.v);
  for (size_t i = 0; i < LOOM_COUNT(all); ++i) m->h->buf_free(m->h, all[i]);
  acl_pools_free(m, &m->pool);
}

void acl_forget(acl *m)
{
  for (int32_t i = 0; i < m->table.num_segs; ++i) m->bins[i].n = 0;
  m->num = m->live = 0;
  m->freed.n = 0;
  m->pool.slots = m->pool.reals = m->pool.live_slots = m->pool.live_reals = 0;
  m->pool.scattered = 0;
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

/* Models and the arrays they are in, as they stand; X and Y hold nothing between steps. */
static loom_status models_io(acl *m, int restore)
{
  static const char *const names[ACL_ARRAYS] = {"acl vertices", "acl qbar",     "acl fbar",
                                                "acl weights",  NULL,           NULL,
                                                "acl forces",   "acl stiffness"};
  const loom_host *const h = m->h;
  const struct {
    const char *name;
    loom_buf *b;
  } first = {"acl models", m->models};
  for (int i = -1; i < ACL_ARRAYS; ++i) {
    const char *const name = i < 0 ? first.name : names[i];
    loom_buf *const b = i < 0 ? first.b : m->pool.b[i];
    const int64_t n = h->buf_count(h, b);
    if (name == NULL) continue;
    LOOM_TRY(h->state_io(h, restore, name, b));
    LOOM_CHECK(h, h->buf_count(h, b) == n, LOOM_E_IO,
               "the checkpoint has %lld values of %s, %lld are wanted; it was written by another "
               "version or for another scene",
               (long long)h->buf_count(h, b), name, (long long)n);
  }
  return LOOM_OK;
}

/* Room on the host for what a checkpoint has. */
static int room_for(acl *m, int64_t sets, int64_t freed, int64_t slots)
{
  void *p = m->sets, *q = m->freed.v, *r = m->vert;
  const int ok = grow_room(&p, &m->cap, sets, sizeof *m->sets) &&
                 grow_room(&q, &m->freed.cap, freed, sizeof *m->freed.v) &&
                 grow_room(&r, &m->vert_cap, slots, sizeof *m->vert);
  m->sets = p;
  m->freed.v = q;
  m->vert = r;
  return ok;
}

/* Where sets are follows from their boxes. */
static loom_status find_places(acl *m)
{
  yarn_line l;
  LOOM_TRY(yarn_line_open(m->h, m->sc, NULL, &m->table, &l));
  for (int64_t i = 0; i < m->num; ++i) {
    const acl_set *const s = &m->sets[i];
    if (s->state == ACL_DEAD) continue;
    ACL_MEMORY(m, acl_hook(m, &l, (int32_t)i));
    acl_vertices(&l, &s->at, m->vert + s->at.slot);
  }
  return yarn_line_close(m->h, m->sc, &m->table);
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
    ACL_MEMORY(m, room_for(m, head[0], head[1], head[2]));
    m->num = head[0];
    m->freed.n = head[1];
    q->slots = head[2];
    q->reals = head[3];
    m->live = head[4];
    q->live_slots = head[5];
    q->live_reals = head[6];
  }
  LOOM_TRY(acl_trim(m));
  LOOM_TRY(bytes_io(m, restore, "acl sets", m->num * (int64_t)sizeof *m->sets, m->sets));
  LOOM_TRY(
      bytes_io(m, restore, "acl unused", m->freed.n * (int64_t)sizeof *m->freed.v, m->freed.v));
  LOOM_TRY(models_io(m, restore));
  if (!restore) return LOOM_OK;
  LOOM_TRY(find_places(m));
  return acl_export_boxes(m); /* detection asks for them before the next step's end */
}
