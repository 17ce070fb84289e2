/* evaluate.c - forces of all sets: kept where the models were brought up to date, by the models
 * anywhere else. */
#include <string.h>

#include "acl.h"
#include "loom/plug.h"

static const lk_entry k_apply = LK_ENTRY_MOVES(acl_apply, 1754, 25),
                      k_force = LK_ENTRY_MOVES(acl_force, 1923, 56);
static const lk_entry k_lanes = LK_ENTRY_MOVES(acl_lanes, 195, 6),
                      k_gather = LK_ENTRY_MOVES(acl_gather, 20, 5);
static const lk_entry k_differ = LK_ENTRY_MOVES(acl_differ, 4, 0),
                      k_longest = LK_ENTRY_MOVES(acl_longest, 3, 0);
static const lk_entry k_subtract = LK_ENTRY_MOVES(acl_subtract, 9, 0);

loom_status acl_lanes_at(acl *m, loom_buf *x)
{
  plug_maps maps = plug_maps_on(m->host, m->e);
  const acl_lanes_args a = {.l = yarn_line_bind(&maps, m->sc, &m->table),
                            .x = plug_read(&maps, x),
                            .P = plug_write(&maps, m->P)};
  return plug_launch(&maps, &k_lanes, &a, m->table.num_segs, NULL);
}

/* ---- sums over vertices ----
 */

/* Slots of every vertex, in the order of the sets. */
static loom_status index_slots(acl *m)
{
  const loom_host *const host = m->host;
  void *p;
  LOOM_TRY(host->map(host, m->e, m->at, LOOM_WRITE, LOOM_AT_HOST, &p));
  int64_t *const at = p;
  memset(at, 0, sizeof *at * ((size_t)m->n + 2));
  for (int64_t i = 0; i < m->num; ++i) {
    const acl_set *const s = &m->sets[i];
    const int32_t *const vert = m->vert + s->at.slot;
    for (int32_t k = 0; s->state != ACL_DEAD && k < s->at.slots; ++k)
      if (vert[k] >= 0) ++at[vert[k] + 2];
  }
  for (int32_t v = 2; v < m->n + 2; ++v) at[v] += at[v - 1];
  LOOM_TRY(host->buf_resize(host, m->slot, at[m->n + 1]));
  LOOM_TRY(host->map(host, m->e, m->slot, LOOM_WRITE, LOOM_AT_HOST, &p));
  int32_t *const slot = p;
  for (int64_t i = 0; i < m->num; ++i) {
    const acl_set *const s = &m->sets[i];
    const int32_t *const vert = m->vert + s->at.slot;
    for (int32_t k = 0; s->state != ACL_DEAD && k < s->at.slots; ++k)
      if (vert[k] >= 0) slot[at[vert[k] + 1]++] = (int32_t)(s->at.slot + k);
  }
  LOOM_TRY(host->unmap(host, m->slot));
  return host->unmap(host, m->at);
}

loom_status acl_gather_forces(acl *m, loom_buf *force)
{
  if (m->layout_changed) {
    LOOM_TRY(index_slots(m));
    m->layout_changed = 0;
  }
  plug_maps maps = plug_maps_on(m->host, m->e);
  const acl_gather_args a = {.F = plug_read(&maps, m->pool.b[ACL_F]),
                             .at = plug_read(&maps, m->at),
                             .slot = plug_read(&maps, m->slot),
                             .force = plug_write(&maps, force)};
  return plug_launch(&maps, &k_gather, &a, m->n, NULL);
}

/* One number of two arrays over the vertices. */
static loom_status reduce_vertex_arrays(acl *m, const lk_entry *k, loom_buf *one, loom_buf *two,
                                        double *out)
{
  plug_maps maps = plug_maps_on(m->host, m->e);
  const acl_vector_args a = {.a = plug_read(&maps, one), .b = plug_read(&maps, two)};
  LOOM_TRY(plug_launch(&maps, k, &a, m->n, plug_rdwr(&maps, m->result)));
  return plug_fetch(m->host, m->e, m->result, 1, out);
}

loom_status acl_max_force(acl *m, double *out)
{
  return reduce_vertex_arrays(m, &k_longest, m->force, NULL, out);
}

/* ---- forces ----
 */

/* Forces of the models at x, which differs from m->x_at, into m->other; models, rotations and
 * springs stay as they are. */
static loom_status evaluate_models_at(acl *m, loom_buf *x, double *energy)
{
  const int exact = !(m->set.tolerance > 0.0);
  const acl_out *out;
  /* points are wanted by springs and by exact forces only */
  if (exact || m->set.stiction > 0.0) LOOM_TRY(acl_lanes_at(m, x));
  m->list.n = 0;
  for (int64_t i = 0; i < m->num; ++i)
    if (m->sets[i].state != ACL_DEAD) ACL_MEMORY(m, grow_push(&m->list, (int32_t)i));
  LOOM_TRY(acl_put_jobs(m, 0));
  LOOM_TRY(acl_run(m, exact ? &k_force : &k_apply, x, 0));
  if (energy != NULL) {
    LOOM_TRY(acl_results(m, &out));
    *energy = 0.0;
    for (int64_t k = 0; k < m->list.n; ++k) *energy += (double)out[k].energy;
    LOOM_TRY(m->host->unmap(m->host, m->out));
  }
  return acl_gather_forces(m, m->other);
}

loom_status acl_eval(void *self, const loom_step *s, loom_buf *x, double *energy,
                     double *dissipation, loom_buf *grad)
{
  acl *const m = self;
  double e = m->energy_at, moved = 1.0;
  loom_buf *force = m->force;
  (void)s, (void)dissipation;
  if (m->live == 0) return LOOM_OK;
  if (m->have_force) LOOM_TRY(reduce_vertex_arrays(m, &k_differ, x, m->x_at, &moved));
  if (moved != 0.0) {
    force = m->other;
    LOOM_TRY(evaluate_models_at(m, x, energy != NULL ? &e : NULL));
  }
  if (energy != NULL) *energy += e;
  if (grad == NULL) return LOOM_OK;
  plug_maps maps = plug_maps_on(m->host, m->e);
  const acl_vector_args a = {.a = plug_read(&maps, force), .out = plug_rdwr(&maps, grad)};
  return plug_launch(&maps, &k_subtract, &a, m->n, NULL);
}
