/* correct.c - one correction in the subspace. */
#include "basis.kern.h"
#include "ndb.h"

static const lk_entry k_restrict = LK_ENTRY(ndb_restrict), k_sum = LK_ENTRY(ndb_restrict_sum);
static const lk_entry k_reduced = LK_ENTRY(ndb_reduced), k_prolong = LK_ENTRY(ndb_prolong);

loom_status ndb_correct(const ndb *s, const ndb_view *v, const ndb_plan *p, const lk_real *r,
                        lk_real *u, int add)
{
  const int32_t groups = (p->cols + NDB_GROUP - 1) / NDB_GROUP;
  const int32_t chunks = (s->n + NDB_ROWS - 1) / NDB_ROWS;
  const ndb_basis_args a = {.U = v->U,
                            .scale = p->masked ? v->mask : NULL,
                            .r = r,
                            .inv = v->inv,
                            .part = v->part,
                            .g = v->g,
                            .q = v->q,
                            .u = u,
                            .n = s->n,
                            .ld = s->ld,
                            .cols = p->cols,
                            .groups = groups,
                            .chunks = chunks,
                            .add = add};
  LOOM_TRY(ndb_run(s, &k_restrict, &a, (int64_t)chunks * groups, NULL));
  LOOM_TRY(ndb_run(s, &k_sum, &a, p->cols, NULL));
  LOOM_TRY(ndb_run(s, &k_reduced, &a, p->cols, NULL));
  return ndb_run(s, &k_prolong, &a, s->n, NULL);
}
