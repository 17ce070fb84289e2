/* evaluate.c - forces of all sets: kept where the models were brought up to date, by the models
 * anywhere else. */
#include <string.h>

#include "acl.h"
#include "plug.h"

static const lk_entry k_apply = LK_ENTRY(acl_apply), k_force = LK_ENTRY(acl_force);
static const lk_entry k_lanes = LK_ENTRY(acl_lanes), k_gather = LK_ENTRY(acl_gather);

loom_status acl_open(acl *m, const loom_real *x, int keep, acl_args *out)
{
  memset(out, 0, sizeof *out);
  LOOM_TRY(yarn_line_open(m->h, m->sc, m->e, &m->table, &out->l));
  out->p = m->pool.p;
  out->x = x;
  out->P = m->P;
  out->stiffness = (lk_real)m->set.stiffness;
  out->stiction = (lk_real)m->set.stiction;
  out->breaks = (lk_real)m->set.stiction_break;
  out->keep = keep;
  out->exact = !(m->set.tolerance > 0.0);
  return LOOM_OK;
}

loom_status acl_close(acl *m) { return yarn_line_close(m->h, m->sc, &m->table); }

loom_status acl_lanes_at(acl *m, const acl_args *a)
{
  const acl_lanes_args args = {a->l, a->x, m->P};
  return plug_run(m->h, m->e, &k_lanes, &args, a->l.num_segs, NULL);
}

loom_status acl_run(acl *m, const lk_entry *k, acl_args *a, const grow_ids *list)
{
  void *p[4] = {m->metric, m->energy, m->smallest, m->range};
  int ok = 1;
  for (int i = 0; i < 4; ++i)
    ok = grow_room(&p[i], &m->out_cap[i], i == 3 ? 5 * list->n : list->n,
                   i == 3 ? sizeof *m->range : sizeof *m->metric) &&
         ok;
  m->metric = p[0];
  m->energy = p[1];
  m->smallest = p[2];
  m->range = p[3];
  ACL_MEMORY(m, ok);
  a->set = m->sets;
  a->p = m->pool.p;
  a->list = list->v;
  a->metric = m->metric;
  a->energy = m->energy;
  a->smallest = m->smallest;
  a->range = m->range;
  return plug_run(m->h, m->e, k, a, list->n, NULL);
}

/* Slots of every vertex, in the order of the sets. */
static int index_slots(acl *m)
{
  const int32_t *const vert = m->pool.p.vert;
  memset(m->at, 0, sizeof *m->at * ((size_t)m->n + 2));
  for (int64_t i = 0; i < m->num; ++i) {
    const acl_set *const s = &m->sets[i];
    for (int32_t k = 0; s->state != ACL_DEAD && k < s->slots; ++k)
      if (vert[s->slot + k] >= 0) ++m->at[vert[s->slot + k] + 2];
  }
  for (int32_t v = 2; v < m->n + 2; ++v) m->at[v] += m->at[v - 1];
  void *p = m->slot;
  const int ok = grow_room(&p, &m->slot_cap, m->at[m->n + 1], sizeof *m->slot);
  m->slot = p;
  for (int64_t i = 0; ok && i < m->num; ++i) {
    const acl_set *const s = &m->sets[i];
    for (int32_t k = 0; s->state != ACL_DEAD && k < s->slots; ++k)
      if (vert[s->slot + k] >= 0) m->slot[m->at[vert[s->slot + k] + 1]++] = (int32_t)(s->slot + k);
  }
  return ok;
}

loom_status acl_gather_forces(acl *m, loom_real *force)
{
  if (m->layout_changed) {
    ACL_MEMORY(m, index_slots(m));
    m->layout_changed = 0;
  }
  const acl_gather_args a = {m->pool.p.F, m->at, m->slot, force};
  return plug_run(m->h, m->e, &k_gather, &a, m->n, NULL);
}

/* Forces of the models at x, which is not where they were brought up to date; nothing is kept. */
static loom_status elsewhere(acl *m, const loom_real *x, loom_real *force, double *energy)
{
  acl_args a;
  LOOM_TRY(acl_open(m, x, 0, &a));
  /* points are wanted by springs and by exact forces only */
  if (a.exact || m->set.stiction > 0.0) LOOM_TRY(acl_lanes_at(m, &a));
  m->list.n = 0;
  for (int64_t i = 0; i < m->num; ++i)
    if (m->sets[i].state != ACL_DEAD) ACL_MEMORY(m, grow_push(&m->list, (int32_t)i));
  LOOM_TRY(acl_run(m, a.exact ? &k_force : &k_apply, &a, &m->list));
  *energy = 0.0;
  for (int64_t k = 0; k < m->list.n; ++k) *energy += (double)m->energy[k];
  LOOM_TRY(acl_gather_forces(m, force));
  return acl_close(m);
}

loom_status acl_eval(void *self, const loom_step *s, loom_buf *x, double *energy,
                     double *dissipation, loom_buf *grad)
{
  acl *const m = self;
  const loom_host *const h = m->h;
  void *xp, *gp;
  double e = m->energy_at;
  loom_real *force = m->force;
  (void)s, (void)dissipation;
  if (m->live == 0) return LOOM_OK;
  LOOM_TRY(h->map(h, m->e, x, LOOM_READ, LOOM_AT_EXEC, &xp));
  if (!m->have_force || memcmp(xp, m->x_at, sizeof *m->x_at * 3 * (size_t)m->n) != 0) {
    force = m->other;
    LOOM_TRY(elsewhere(m, xp, force, &e));
  }
  LOOM_TRY(h->unmap(h, x));
  if (energy != NULL) *energy += e;
  if (grad == NULL) return LOOM_OK;
  LOOM_TRY(h->map(h, m->e, grad, LOOM_RDWR, LOOM_AT_EXEC, &gp));
  loom_real *const g = gp;
  for (int64_t i = 0; i < 3 * (int64_t)m->n; ++i) g[i] -= force[i];
  return h->unmap(h, grad);
}
