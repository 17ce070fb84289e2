/* elastic_hessian.c - Hessians of element blocks: dense, assembled, and times a vector. */
#include "elements/elastic.kern.h"
#include "elements/elastic_blocks.h"
#include "elements/plate_folds.h"
#include "linalg/linalg.h"

static const lk_entry k_rows = LK_ENTRY_MOVES(elastic_rows, 19, 3),
                      k_weigh = LK_ENTRY_MOVES(elastic_weigh, 229, 1);

static loom_status check_how(elastic *el, int how)
{
  if (how >= LOOM_HESS_EXACT && how <= LOOM_HESS_PSD_ABS) return LOOM_OK;
  return err_set(mem_err(el->m), LOOM_E_ARG,
                 "elements: unknown Hessian treatment %d; use LOOM_HESS_EXACT, _PSD_CLAMP or "
                 "_PSD_ABS",
                 how);
}

/* Elements whose dense Hessians fit where hess_elems hinges do. */
static int32_t some_elements(const elastic *el, int arity)
{
  return arity <= 4 ? el->hess_elems : el->hess_elems * 16 / (arity * arity);
}

loom_status elastic_elem_hessians(elastic *el, int block, int32_t first, int32_t count, loom_buf *x,
                                  int how, loom_buf *out)
{
  loom_err *const err = mem_err(el->m);
  LOOM_TRY(elastic_check_vector(el, x));
  LOOM_TRY(check_how(el, how));
  if (block < 0 || block >= el->sc->num_blocks)
    return err_set(err, LOOM_E_ARG, "element block %d; the scene has %d", block,
                   el->sc->num_blocks);
  const loom_elem_block *b = &el->sc->blocks[block];
  const elem_type *const t = el->blocks[block].type;
  const int side = 3 * b->arity;
  if (t->hessian == NULL)
    return err_set(err, LOOM_E_UNSUPPORTED, "elements %s have no Hessian; use an explicit solver",
                   b->type);
  if (first < 0 || count < 0 || count > b->num_elems - first)
    return err_set(err, LOOM_E_ARG, "elements %s: %d from %d on; there are %d", b->type, count,
                   first, b->num_elems);
  if (buf_type(out) != LOOM_REAL || buf_count(out) < (int64_t)count * side * side)
    return err_set(err, LOOM_E_ARG, "elements %s: buffer '%s' is not real [%d][%d][%d]", b->type,
                   buf_name(out), count, side, side);
  buf_maps q = {.m = el->m, .e = el->e};
  const elem_args all = elastic_map(el, block, x, &q);
  lk_real *const to = buf_maps_add(&q, out, LOOM_WRITE);
  if (q.status != LOOM_OK) return buf_maps_end(&q);
  elem_args A = elastic_from(t, &all, first);
  A.how = how;
  A.out = to;
  elastic_moved(el, t, count, 9 * t->arity * t->arity);
  q.status = exec_run(err, el->e, t->hessian, &A, count, NULL);
  return buf_maps_end(&q);
}

loom_status elastic_weigh(elastic *el, int block, int32_t first, int32_t count, loom_buf *w,
                          double one, double scale, int len, loom_buf *H)
{
  const loom_elem_block *const b = &el->sc->blocks[block];
  buf_maps q = {.m = el->m, .e = el->e};
  const int32_t *const verts = buf_maps_add(&q, b->verts, LOOM_READ);
  elastic_weigh_args a = {.w = buf_maps_add(&q, w, LOOM_READ),
                          .H = buf_maps_add(&q, H, LOOM_RDWR),
                          .scale = (lk_real)scale,
                          .one = (lk_real)one,
                          .arity = b->arity,
                          .len = len};
  if (q.status == LOOM_OK) a.verts = verts + (int64_t)b->arity * first;
  return buf_maps_launch(&q, &k_weigh, &a, count, NULL);
}

loom_status elastic_trim(elastic *el) { return buf_discard(el->m, el->hess); }

/* A += the Hessians of block b, as many at once as there is room for */
static loom_status add_hessians(elastic *el, int b, loom_buf *x, int how, asm_bsr *A)
{
  const int64_t arity = el->sc->blocks[b].arity, room = buf_count(el->hess) / (9 * arity * arity);
  const int32_t num = el->sc->blocks[b].num_elems, most = room < num ? (int32_t)room : num;
  for (int32_t first = 0; first < num; first += most) {
    const int32_t count = num - first < most ? num - first : most;
    LOOM_TRY(elastic_elem_hessians(el, b, first, count, x, how, el->hess));
    LOOM_TRY(asm_bsr_add_some(A, b, first, count, el->hess));
  }
  return LOOM_OK;
}

loom_status elastic_hessian(elastic *el, loom_buf *x, int how, asm_bsr *A)
{
  const int full = how & ~LOOM_HESS_NARROW;
  LOOM_TRY(elastic_check_vector(el, x));
  LOOM_TRY(check_how(el, full));
  for (int b = 0; b < el->sc->num_blocks; ++b) {
    const elem_type *const t = el->blocks[b].type;
    const lk_entry *const narrow = how != full ? t->narrow : NULL;
    const int exact = narrow == NULL && full == LOOM_HESS_EXACT;
    int folds = 0;
    if (exact && t->fold_parts) LOOM_TRY(plate_folds_open(el, b, &folds));
    const lk_entry *const factor = narrow != NULL ? narrow : exact && !folds ? NULL : t->factor;
    if (factor == NULL) {
      LOOM_TRY(add_hessians(el, b, x, full, A));
      continue;
    }
    LOOM_TRY(elastic_run(el, b, factor, x, 9 * t->arity, el->hess, NULL));
    LOOM_TRY(asm_bsr_add_squares(A, b, el->hess));
    if (folds) LOOM_TRY(plate_folds_add(el, b, x, A));
  }
  return LOOM_OK;
}

/* out [n][3a] = element Hessians times p for n elements, some at a time through H */
static loom_status apply_elements(elastic *el, const elem_type *t, const elem_args *all, int32_t n,
                                  const lk_real *p, lk_real *H, lk_real *out)
{
  const int32_t side = 3 * t->arity;
  loom_err *const err = mem_err(el->m);
  const int32_t most = some_elements(el, t->arity);
  for (int32_t first = 0; first < n; first += most) {
    const int32_t some = n - first < most ? n - first : most;
    elem_args A = elastic_from(t, all, first);
    A.out = H;
    const elastic_rows_args R = {
        .H = H, .verts = A.verts, .p = p, .out = out + (int64_t)side * first, .arity = t->arity};
    LOOM_TRY(exec_run(err, el->e, t->hessian, &A, some, NULL));
    LOOM_TRY(exec_run(err, el->e, &k_rows, &R, (int64_t)some * side, NULL));
  }
  return LOOM_OK;
}

/* Hp += element Hessians of block b times p */
static loom_status apply_block(elastic *el, int b, loom_buf *x, int how, loom_buf *p, loom_buf *Hp)
{
  const elem_type *t = el->blocks[b].type;
  const int32_t num = el->sc->blocks[b].num_elems;
  const kernel_counts before = elastic_counts(el);
  asm_gather_view to;
  buf_maps q = {.m = el->m, .e = el->e};
  elem_args all = elastic_map(el, b, x, &q);
  all.how = how;
  const lk_real *pp = buf_maps_add(&q, p, LOOM_READ);
  lk_real *H = buf_maps_add(&q, el->some_hess, LOOM_WRITE);
  lk_real *contrib = buf_maps_add(&q, el->contrib, LOOM_WRITE);
  asm_gather_open(el->blocks[b].gather, &q, Hp, &to);
  for (int32_t c = 0, first = 0; q.status == LOOM_OK && first < num; ++c, first += el->chunk) {
    const int32_t n = num - first < el->chunk ? num - first : el->chunk;
    const elem_args A = elastic_from(t, &all, first);
    q.status = apply_elements(el, t, &A, n, pp, H, contrib);
    if (q.status == LOOM_OK) q.status = asm_gather_chunk(&to, el->e, c, contrib);
  }
  elastic_set_counts(el, b, before, 3, 18 * t->arity * t->arity + 3 * t->arity);
  return buf_maps_end(&q);
}

loom_status elastic_apply(elastic *el, loom_buf *x, int how, loom_buf *p, loom_buf *Hp)
{
  LOOM_TRY(elastic_check_vector(el, x));
  LOOM_TRY(elastic_check_vector(el, p));
  LOOM_TRY(elastic_check_vector(el, Hp));
  LOOM_TRY(check_how(el, how));
  for (int b = 0; b < el->sc->num_blocks; ++b) LOOM_TRY(apply_block(el, b, x, how, p, Hp));
  return LOOM_OK;
}
