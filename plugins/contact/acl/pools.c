/* pools.c - memory of the kernels: arrays of all sets, and lists of sets under way. */
#include <string.h>

#include "acl.h"
#include "acl_pose.kern.h"
#include "loom/plug.h"

static const lk_entry k_move = LK_ENTRY_MOVES(acl_move, 494, 23);

/* ---- arrays of all sets ---- */

int64_t acl_items(const acl_pools *q, int i)
{
  static const int width[ACL_ARRAYS] = {1, 3, 3, 1, 3, 3, 3, 0};
  return width[i] > 0 ? width[i] * q->slots : q->reals;
}

/* With half of it to spare: sets come one after the other, and K is most of all memory. */
static loom_status grow_pool(acl *m, loom_buf *b, int64_t need)
{
  return m->host->buf_count(m->host, b) < need ? m->host->buf_resize(m->host, b, need + need / 2)
                                               : LOOM_OK;
}

loom_status acl_room(acl *m)
{
  for (int i = 0; i < ACL_ARRAYS; ++i) LOOM_TRY(grow_pool(m, m->pool.b[i], acl_items(&m->pool, i)));
  return grow_pool(m, m->models, m->num * (int64_t)sizeof(acl_model));
}

loom_status acl_trim(acl *m)
{
  const loom_host *const host = m->host;
  for (int i = 0; i < ACL_ARRAYS; ++i)
    LOOM_TRY(host->buf_resize(host, m->pool.b[i], acl_items(&m->pool, i)));
  return host->buf_resize(host, m->models, m->num * (int64_t)sizeof(acl_model));
}

static acl_pool pool_of(plug_maps *m, const acl_pools *q, int access)
{
  return (acl_pool){.vert = plug_bind(m, q->b[ACL_VERT], access, LOOM_AT_EXEC),
                    .qbar = plug_bind(m, q->b[ACL_QBAR], access, LOOM_AT_EXEC),
                    .fbar = plug_bind(m, q->b[ACL_FBAR], access, LOOM_AT_EXEC),
                    .M = plug_bind(m, q->b[ACL_M], access, LOOM_AT_EXEC),
                    .X = plug_bind(m, q->b[ACL_X], access, LOOM_AT_EXEC),
                    .Y = plug_bind(m, q->b[ACL_Y], access, LOOM_AT_EXEC),
                    .F = plug_bind(m, q->b[ACL_F], access, LOOM_AT_EXEC),
                    .K = plug_bind(m, q->b[ACL_K], access, LOOM_AT_EXEC)};
}

/* Moves the live sets to the arrays of *to. */
static loom_status move_sets(acl *m, const acl_pools *to)
{
  plug_maps maps = plug_maps_on(m->host, m->e);
  const acl_move_args a = {.from = pool_of(&maps, &m->pool, LOOM_READ),
                           .to = pool_of(&maps, to, LOOM_RDWR),
                           .model = plug_rdwr(&maps, m->models),
                           .job = plug_read(&maps, m->jobs),
                           .place = plug_read(&maps, m->places)};
  return plug_launch(&maps, &k_move, &a, m->list.n, NULL);
}

loom_status acl_pools_new(acl *m, acl_pools *q)
{
  static const char *const names[ACL_ARRAYS] = {
      "vertices of slots", "built positions", "built forces",    "weights",
      "deformation",       "its forces",      "forces of slots", "stiffness"};
  for (int i = 0; i < ACL_ARRAYS; ++i)
    LOOM_TRY(m->host->buf_new(m->host, names[i], i == ACL_VERT ? LOOM_I32 : LOOM_REAL,
                              acl_items(q, i), &q->b[i]));
  return LOOM_OK;
}

static void pools_free(acl *m, acl_pools *q)
{
  for (int i = 0; i < ACL_ARRAYS; ++i) m->host->buf_free(m->host, q->b[i]);
}

loom_status acl_compact(acl *m, const yarn_line *l)
{
  acl_pools *const q = &m->pool, to;
  const int full = q->slots > 2 * q->live_slots + 1024 || q->reals > 2 * q->live_reals + 4096;
  if (!full && q->scattered < m->live / 2 + 64) return LOOM_OK;
  memset(&to, 0, sizeof to);
  to.slots = to.live_slots = q->live_slots;
  to.reals = to.live_reals = q->live_reals;
  LOOM_TRY(acl_pools_new(m, &to));
  m->list.n = 0;
  int64_t slot = 0, block = 0;
  for (int64_t i = 0; i < m->num; ++i) {
    acl_set *const s = &m->sets[i];
    if (s->state == ACL_DEAD) continue;
    ACL_MEMORY(m, grow_push(&m->list, (int32_t)i));
    s->at.slot = slot;
    s->at.block = block;
    slot += s->slot_cap;
    block += s->block_cap;
    acl_vertices(l, &s->at, m->vert + s->at.slot);
  }
  LOOM_TRY(acl_put_jobs(m, 1));
  LOOM_TRY(move_sets(m, &to));
  pools_free(m, q);
  *q = to;
  m->layout_changed = 1;
  return LOOM_OK;
}

/* ---- lists of sets ----
 */

/* Largest first on a device, so that neighbours have about the same work: each set writes to its
 * own place, and results do not depend on the order. */
static void order_jobs(const acl *m, acl_job *job)
{
  enum { CLASSES = 256 };
  int64_t at[CLASSES + 1] = {0};
  const int64_t n = m->list.n;
  const int sorted = m->e->backend == LOOM_CUDA;
  for (int64_t k = 0; sorted && k < n; ++k) {
    const int32_t slots = m->sets[m->list.v[k]].at.slots;
    ++at[slots < CLASSES ? CLASSES - slots : 1];
  }
  for (int c = 0; sorted && c < CLASSES; ++c) at[c + 1] += at[c];
  for (int64_t k = 0; k < n; ++k) {
    const int32_t slots = m->sets[m->list.v[k]].at.slots;
    acl_job *const j = job + (sorted ? at[slots < CLASSES ? CLASSES - 1 - slots : 0]++ : k);
    j->set = m->list.v[k];
    j->out = (int32_t)k;
  }
}

loom_status acl_put_jobs(acl *m, int with_places)
{
  const loom_host *const host = m->host;
  const int64_t n = m->list.n;
  void *p;
  LOOM_TRY(host->buf_resize(host, m->jobs, n * (int64_t)sizeof(acl_job)));
  LOOM_TRY(host->buf_resize(host, m->out, n * (int64_t)sizeof(acl_out)));
  LOOM_TRY(host->map(host, m->e, m->jobs, LOOM_WRITE, LOOM_AT_HOST, &p));
  order_jobs(m, p);
  LOOM_TRY(host->unmap(host, m->jobs));
  if (!with_places) return LOOM_OK;
  LOOM_TRY(host->buf_resize(host, m->places, n * (int64_t)sizeof(acl_place)));
  LOOM_TRY(host->buf_resize(host, m->lengths, n * ACL_SPRINGS));
  LOOM_TRY(host->map(host, m->e, m->places, LOOM_WRITE, LOOM_AT_HOST, &p));
  for (int64_t k = 0; k < n; ++k) ((acl_place *)p)[k] = m->sets[m->list.v[k]].at;
  return host->unmap(host, m->places);
}

loom_status acl_run(acl *m, const lk_entry *k, loom_buf *x, int keep)
{
  if (m->list.n == 0) return LOOM_OK;
  plug_maps maps = plug_maps_on(m->host, m->e);
  const acl_args a = {.l = yarn_line_bind(&maps, m->sc, &m->table),
                      .p = pool_of(&maps, &m->pool, LOOM_RDWR),
                      .model = plug_rdwr(&maps, m->models),
                      .job = plug_read(&maps, m->jobs),
                      .place = plug_read(&maps, m->places),
                      .out = plug_rdwr(&maps, m->out),
                      .length = plug_rdwr(&maps, m->lengths),
                      .x = plug_read(&maps, x),
                      .P = plug_read(&maps, m->P),
                      .stiffness = (lk_real)m->set.stiffness,
                      .stiction = (lk_real)m->set.stiction,
                      .breaks = (lk_real)m->set.stiction_break,
                      .change = (lk_real)m->change,
                      .keep = keep,
                      .exact = !(m->set.tolerance > 0.0)};
  return plug_launch(&maps, k, &a, m->list.n, NULL);
}

loom_status acl_results(acl *m, const acl_out **out)
{
  void *p;
  LOOM_TRY(m->host->map(m->host, m->e, m->out, LOOM_READ, LOOM_AT_HOST, &p));
  *out = p;
  return LOOM_OK;
}
