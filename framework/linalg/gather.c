/* gather.c - per-element vectors collected at the vertices. */
#include <stdlib.h>

#include "linalg/assemble.h"
#include "linalg/assemble.kern.h"
#include "linalg/pattern.h"

static const lk_entry k_gather = LK_ENTRY(asm_vec_gather);

struct asm_gather {
  mem *m;
  asm_incidence inc;
  int64_t num_corners;
  int32_t num_verts;
};

loom_status asm_gather_new(loom_err *err, mem *m, const loom_exec *e, const loom_elem_block *block,
                           int32_t num_verts, asm_gather **out)
{
  asm_gather *g = calloc(1, sizeof *g);
  (void)e; /* the index arrays follow the first asm_gather3 to its side */
  *out = g;
  if (g == NULL) return err_set(err, LOOM_E_NOMEM, "no memory to gather %s", block->type);
  g->m = m;
  g->num_verts = num_verts;
  g->num_corners = (int64_t)block->num_elems * block->arity;
  const loom_status s = asm_incidence_build(m, block, num_verts, &g->inc);
  if (s == LOOM_OK) return s;
  *err = *mem_err(m);
  free(g);
  *out = NULL;
  return s;
}

void asm_gather_free(asm_gather *g)
{
  if (g == NULL) return;
  asm_incidence_drop(g->m, &g->inc);
  free(g);
}

loom_status asm_gather3(asm_gather *g, const loom_exec *e, loom_buf *contrib, loom_buf *out)
{
  asm_vec_args args = {.first = g->inc.first, .last_corner = (int32_t)g->num_corners - 1};
  buf_maps q = {.m = g->m, .e = e};
  if (buf_type(contrib) != LOOM_REAL || buf_count(contrib) < 3 * g->num_corners)
    return err_set(mem_err(g->m), LOOM_E_ARG, "gather: buffer '%s' is not real [%lld][3]",
                   buf_name(contrib), (long long)g->num_corners);
  if (buf_type(out) != LOOM_REAL || buf_count(out) != 3 * (int64_t)g->num_verts)
    return err_set(mem_err(g->m), LOOM_E_ARG, "gather: buffer '%s' is not real [%d][3]",
                   buf_name(out), g->num_verts);
  args.ptr = buf_maps_add(&q, g->inc.ptr, LOOM_READ);
  args.corner = buf_maps_add(&q, g->inc.corner, LOOM_READ);
  args.contrib = buf_maps_add(&q, contrib, LOOM_READ);
  args.out = buf_maps_add(&q, out, LOOM_RDWR);
  if (q.status == LOOM_OK)
    q.status = exec_run(mem_err(g->m), e, &k_gather, &args, g->inc.count, NULL);
  return buf_maps_end(&q);
}
