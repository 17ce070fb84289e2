/* state.c - memory of the instance. */
#include <stdlib.h>

#include "acl.h"

loom_status acl_state_new(acl *m)
{
  const loom_host *const host = m->host;
  const int64_t ns = m->table.num_segs, n3 = 3 * (int64_t)m->n;
  const plug_buf all[] = {{"models", LOOM_U8, 0, &m->models},
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
  LOOM_TRY(plug_bufs_new(host, all, LOOM_COUNT(all)));
  return acl_pools_new(m, &m->pool);
}

void acl_state_free(acl *m)
{
  acl_sets_free(m);
  free(m->list.v);
}

void acl_forget(acl *m)
{
  for (int32_t i = 0; i < m->table.num_segs; ++i) m->bins[i].n = 0;
  m->num = m->live = 0;
  m->freed.n = 0;
  m->pool.slots = m->pool.reals = m->pool.live_slots = m->pool.live_reals = 0;
  m->pool.scattered = 0;
  m->have_force = m->grown = 0;
  m->layout_changed = m->boxes_changed = 1;
}
