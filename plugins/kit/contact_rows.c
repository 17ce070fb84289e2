/* contact_rows.c - see contact_rows.h. */
#include "kit/contact_rows.h"

loom_status contact_rows_new(contact_rows *k, const loom_host *host, const loom_exec *e, int32_t n)
{
  k->host = host;
  LOOM_TRY(bcsr_new(&k->A, host, e, 3));
  k->A.n = n;
  return host->buf_new(host, "contact force", LOOM_REAL, 3 * (int64_t)n, &k->force);
}

loom_status contact_rows_at(contact_rows *k, const loom_step *st, int how)
{
  const loom_host *const host = k->host;
  const loom_blocks3 *blocks;
  loom_problem alone = *st->problem;
  alone.terms = LOOM_TERM_CONTACT;
  LOOM_TRY(host->contact_hessian(host, &alone, st->x, how, &blocks));
  k->any = blocks->count > 0;
  if (!k->any) return LOOM_OK;
  k->kind.count = blocks->count;
  k->kind.arity = 1;
  k->kind.node = blocks->row;
  k->kind.to = blocks->col;
  k->kind.K = blocks->val;
  LOOM_TRY(bcsr_index(&k->A, k->A.n, &k->kind));
  LOOM_TRY(bcsr_pattern(&k->A, &k->kind, 1));
  LOOM_TRY(bcsr_values(&k->A, &k->kind, 1));
  return host->eval(host, &alone, st->x, LOOM_EVAL_GRADIENT, NULL, k->force);
}
