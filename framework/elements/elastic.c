/* elastic.c - the elastic part of the step's problem: all element blocks of a scene.
 *
 * Blocks are processed one after the other, each in chunks of elements: the results of a
 * chunk go through one shared buffer and are gathered at the vertices before the next
 * chunk, so that memory does not grow with the elements and results stay in cache.  No
 * sum depends on the size of the chunks.  An assembled Hessian needs one block's element
 * Hessians at once.  Storage appears when a buffer is first used.
 */
#include <stdlib.h>

#include "elements/elastic.kern.h"
#include "elements/elastic_blocks.h"
#include "elements/elastic_form.h"
#include "elements/plate_folds.h"
#include "linalg/linalg.h"

/* Elements per chunk: on the CPU and for each thread 1024 to 4096 (0.4 MB of results, in
 * cache) but not much more than a 32nd of a block, so that small scenes need little memory,
 * too; on a GPU enough to fill it (100 MB).  Multiples of ELASTIC_PART. */
enum { CHUNK_LEAST = 1024, CHUNK_MOST = 4096, CHUNK_SHARE = 32, CHUNK_CUDA = 1 << 20 };
/* Element Hessians of the matrix-free product at once: 4096 x 1.2 kB, on a GPU 75 MB. */
enum { HESS_CPU = 4096, HESS_CUDA = 65536 };

static const lk_entry k_parts = LK_ENTRY_MOVES(elastic_parts, 32, 0),
                      k_sum = LK_ENTRY_MOVES(elastic_sum, 1, 0);

/* ---- life ---- */
static loom_status find_element_type(loom_err *err, const loom_elem_block *b, const elem_type **out)
{
  *out = elem_find(b->type);
  if (*out != NULL) return LOOM_OK;
  err_set(err, LOOM_E_UNSUPPORTED, "there is no element type '%s'; the types are", b->type);
  for (int i = 0; i < elem_count(); ++i) err_append(err, "  %s", elem_at(i)->name);
  return err->code;
}

static loom_status check_block_buffer(loom_err *err, const loom_elem_block *b, const char *what,
                                      const loom_buf *buf, int type, int len)
{
  const int64_t want = (int64_t)b->num_elems * len;
  if (len == 0) return LOOM_OK;
  if (buf != NULL && buf_type(buf) == type && buf_count(buf) == want) return LOOM_OK;
  return err_set(err, LOOM_E_ARG, "elements %s: %s must hold %d x %d items", b->type, what,
                 b->num_elems, len);
}

static loom_status check_element_block(loom_err *err, const loom_elem_block *b, const elem_type *t)
{
  if (b->arity != t->arity || b->rest_len != t->rest_len || b->mat_len != t->mat_len)
    return err_set(err, LOOM_E_ARG,
                   "elements %s: %d vertices, %d rest and %d material numbers each; "
                   "the type has %d, %d, %d",
                   b->type, b->arity, b->rest_len, b->mat_len, t->arity, t->rest_len, t->mat_len);
  /* kernels index element vectors and rest data with 32 bits */
  const int32_t width = t->rest_len > 4 * t->arity ? t->rest_len : 4 * t->arity;
  if (b->num_elems < 0 || b->num_elems > INT32_MAX / width)
    return err_set(err, LOOM_E_ARG, "elements %s: %d of them; at most %d in one block", b->type,
                   b->num_elems, INT32_MAX / width);
  LOOM_TRY(check_block_buffer(err, b, "vertex indices (i32)", b->verts, LOOM_I32, t->arity));
  LOOM_TRY(check_block_buffer(err, b, "rest data (real)", b->rest, LOOM_REAL, t->rest_len));
  return check_block_buffer(err, b, "materials (real)", b->mat, LOOM_REAL, t->mat_len);
}

static int32_t chunk_size(const loom_exec *e, int64_t most_elems)
{
  if (e->backend == LOOM_CUDA) return CHUNK_CUDA;
  int64_t n = (most_elems / CHUNK_SHARE + CHUNK_LEAST - 1) / CHUNK_LEAST * CHUNK_LEAST;
  n = n < CHUNK_LEAST ? CHUNK_LEAST : n > CHUNK_MOST ? CHUNK_MOST : n;
  return (int32_t)n * (e->num_threads < 1024 ? e->num_threads : 1024);
}

static loom_status create_element_buffers(elastic *el, int64_t elems, int64_t dense, int64_t hess,
                                          int arity)
{
  const int64_t chunk = el->chunk < elems ? el->chunk : elems;
  const int64_t some = (int64_t)el->hess_elems * 9 * (arity < 4 ? arity * arity : 16);
  LOOM_TRY(buf_new(el->m, "core", "element results", LOOM_REAL, 3 * chunk * arity, &el->contrib));
  LOOM_TRY(buf_new(el->m, "core", "element Hessians", LOOM_REAL, hess, &el->hess));
  LOOM_TRY(buf_new(el->m, "core", "element energies", LOOM_REAL, chunk, &el->energy));
  LOOM_TRY(buf_new(el->m, "core", "energies, summed", LOOM_REAL,
                   (elems + ELASTIC_PART - 1) / ELASTIC_PART, &el->part));
  return buf_new(el->m, "core", "element Hessians, some", LOOM_REAL, dense < some ? dense : some,
                 &el->some_hess);
}

/* Whether block b has a state; the material is the same for the whole run. */
static loom_status find_moving_elements(elastic *el, int b)
{
  const loom_elem_block *const blk = &el->sc->blocks[b];
  const elem_type *const t = el->blocks[b].type;
  if (t->state == NULL || t->state->moves == NULL || blk->num_elems == 0) return LOOM_OK;
  buf_maps q = {.m = el->m}; /* on the host */
  const loom_real *const mat = buf_maps_add(&q, blk->mat, LOOM_READ);
  int32_t i = 0;
  if (q.status == LOOM_OK)
    while (i < blk->num_elems && !t->state->moves(mat + (int64_t)t->mat_len * i)) ++i;
  el->blocks[b].constant = i == blk->num_elems;
  return buf_maps_end(&q);
}

static loom_status init_elastic(loom_err *err, elastic *el)
{
  int64_t elems = 0, dense = 0, hess = 0;
  int arity = 0;
  el->caps = LOOM_ELEM_ENERGY | LOOM_ELEM_GRADIENT | LOOM_ELEM_HESSIAN | LOOM_ELEM_PROJECT |
             LOOM_ELEM_SMALL;
  for (int b = 0; b < el->sc->num_blocks; ++b) {
    const loom_elem_block *blk = &el->sc->blocks[b];
    const elem_type *t = NULL;
    LOOM_TRY(find_element_type(err, blk, &t));
    LOOM_TRY(check_element_block(err, blk, t));
    el->blocks[b].type = t;
    el->caps &= t->caps;
    const int64_t corners = (int64_t)blk->num_elems * t->arity;
    const int64_t all = 9 * corners * t->arity, one = 9 * (int64_t)t->arity * t->arity;
    /* dense ones of patches are large: an eighth of them at once */
    const int64_t some = t->factor != NULL ? 9 * corners : t->arity > 4 ? all / 8 : all;
    const int64_t need = some > one || corners == 0 ? some : one;
    if (all > dense) dense = all;
    if (need > hess) hess = need;
    if (t->arity > arity) arity = t->arity;
    if (blk->num_elems > elems) elems = blk->num_elems;
  }
  el->chunk = chunk_size(el->e, elems);
  for (int b = 0; b < el->sc->num_blocks; ++b)
    LOOM_TRY(asm_gather_new(err, el->m, &el->sc->blocks[b], el->sc->num_verts, el->chunk,
                            &el->blocks[b].gather));
  loom_status s = create_element_buffers(el, elems, dense, hess, arity);
  for (int b = 0; s == LOOM_OK && b < el->sc->num_blocks; ++b)
    s = elastic_form_asked(el, b, &el->blocks[b].quadratic);
  for (int b = 0; s == LOOM_OK && b < el->sc->num_blocks; ++b) s = find_moving_elements(el, b);
  if (s != LOOM_OK) *err = *mem_err(el->m);
  for (int b = 0; s == LOOM_OK && b < el->sc->num_blocks; ++b)
    if (elastic_state(el, b) != NULL && elastic_state(el, b)->open != NULL)
      LOOM_TRY(elastic_state(el, b)->open(err, el->m, el->e, el->sc, &el->sc->blocks[b],
                                          &el->blocks[b].state));
  return s;
}

loom_status elastic_new(loom_err *err, mem *m, const loom_exec *e, const loom_scene *sc,
                        elastic **out)
{
  elastic *el = calloc(1, sizeof *el);
  *out = NULL;
  if (el != NULL) el->blocks = calloc((size_t)sc->num_blocks + 1, sizeof *el->blocks);
  if (el == NULL || el->blocks == NULL) {
    free(el);
    return err_set(err, LOOM_E_NOMEM, "no memory for %d element blocks", sc->num_blocks);
  }
  el->m = m;
  el->e = e;
  el->sc = sc;
  el->hess_elems = e->backend == LOOM_CUDA ? HESS_CUDA : HESS_CPU;
  const loom_status s = init_elastic(err, el);
  if (s != LOOM_OK)
    elastic_free(el);
  else
    *out = el;
  return s;
}

void elastic_free(elastic *el)
{
  if (el == NULL) return;
  for (int b = 0; b < el->sc->num_blocks; ++b) {
    if (el->blocks[b].state != NULL) elastic_state(el, b)->close(el->blocks[b].state);
    asm_gather_free(el->blocks[b].gather);
    elastic_form_free(el->blocks[b].form);
    plate_folds_free(el->blocks[b].folds);
  }
  buf_free(el->m, el->contrib);
  buf_free(el->m, el->energy);
  buf_free(el->m, el->part);
  buf_free(el->m, el->hess);
  buf_free(el->m, el->some_hess);
  free(el->blocks);
  free(el);
}

uint32_t elastic_caps(const elastic *el) { return el->caps; }

/* ---- one block ---- */
/* out += result of kernel k for the elements of block b; the sum of their energies goes to result
 * slot `slot`, unless it is negative. */
static loom_status gather_block(elastic *el, int b, const lk_entry *k, loom_buf *x, loom_buf *out,
                                int slot)
{
  const elem_type *t = el->blocks[b].type;
  const int32_t num = el->sc->blocks[b].num_elems;
  const kernel_counts before = elastic_counts(el);
  loom_err *const err = mem_err(el->m);
  asm_gather_view to;
  buf_maps q = {.m = el->m, .e = el->e};
  const elem_args all = elastic_map(el, b, x, &q);
  lk_real *const contrib = buf_maps_add(&q, el->contrib, LOOM_WRITE);
  lk_real *const energy = slot >= 0 ? buf_maps_add(&q, el->energy, LOOM_WRITE) : NULL;
  lk_real *const part = slot >= 0 ? buf_maps_add(&q, el->part, LOOM_WRITE) : NULL;
  asm_gather_open(el->blocks[b].gather, &q, out, &to);
  for (int32_t c = 0, first = 0; q.status == LOOM_OK && first < num; ++c) {
    const int32_t n = num - first < el->chunk ? num - first : el->chunk;
    elem_args A = elastic_from(t, &all, first);
    A.out = contrib;
    A.energy = energy;
    q.status = exec_run(err, el->e, k, &A, n, NULL);
    if (q.status == LOOM_OK && slot >= 0) {
      const elastic_sum_args s = {energy, part + first / ELASTIC_PART, n, 0};
      q.status = exec_run(err, el->e, &k_parts, &s, (n + ELASTIC_PART - 1) / ELASTIC_PART, NULL);
    }
    if (q.status == LOOM_OK) q.status = asm_gather_chunk(&to, el->e, c, contrib);
    first += n;
  }
  if (q.status == LOOM_OK && slot >= 0) {
    const elastic_sum_args s = {part, NULL, 0, 0};
    q.status = exec_run(err, el->e, &k_sum, &s, (num + ELASTIC_PART - 1) / ELASTIC_PART,
                        el->e->result + slot);
  }
  elastic_set_counts(el, b, before, slot >= 0 ? 4 : 2, 3 * t->arity + (slot >= 0 ? 2 : 0));
  return buf_maps_end(&q);
}

static loom_status check_slots(elastic *el, int slot)
{
  if (slot >= 0 && slot + el->sc->num_blocks <= LA_OWN_SLOT) return LOOM_OK;
  return err_set(mem_err(el->m), LOOM_E_ARG,
                 "elements: %d blocks from result slot %d on; there are %d slots. Put elements of "
                 "one type into one block",
                 el->sc->num_blocks, slot, LA_OWN_SLOT);
}

/* ---- energy and gradient ---- */
static loom_status add_gradient(elastic *el, int b, loom_buf *x, loom_buf *grad, int slot)
{
  return el->blocks[b].quadratic ? elastic_form_add(el, b, x, grad, slot)
                                 : gather_block(el, b, el->blocks[b].type->gradient, x, grad, slot);
}

loom_status elastic_energy(elastic *el, loom_buf *x, int slot, int *used)
{
  *used = 0;
  LOOM_TRY(elastic_check_vector(el, x));
  LOOM_TRY(check_slots(el, slot));
  for (int b = 0; b < el->sc->num_blocks; ++b) {
    LOOM_TRY(el->blocks[b].quadratic ? elastic_form_add(el, b, x, NULL, slot + b)
                                     : elastic_run(el, b, el->blocks[b].type->energy, x, 0, NULL,
                                                   el->e->result + slot + b));
    *used = b + 1;
  }
  return LOOM_OK;
}

loom_status elastic_gradient_energy(elastic *el, loom_buf *x, loom_buf *grad, int slot, int *used)
{
  LOOM_TRY(elastic_check_vector(el, x));
  LOOM_TRY(elastic_check_vector(el, grad));
  LOOM_TRY(check_slots(el, slot));
  for (int b = 0; b < el->sc->num_blocks; ++b) LOOM_TRY(add_gradient(el, b, x, grad, slot + b));
  *used = el->sc->num_blocks;
  return LOOM_OK;
}

loom_status elastic_gradient(elastic *el, loom_buf *x, loom_buf *grad)
{
  LOOM_TRY(elastic_check_vector(el, x));
  LOOM_TRY(elastic_check_vector(el, grad));
  for (int b = 0; b < el->sc->num_blocks; ++b) LOOM_TRY(add_gradient(el, b, x, grad, -1));
  return LOOM_OK;
}

/* ---- projective form ----
 */
static loom_status check_project(elastic *el, int b)
{
  const elem_type *t = el->blocks[b].type;
  if (t->caps & LOOM_ELEM_PROJECT) return LOOM_OK;
  return err_set(mem_err(el->m), LOOM_E_UNSUPPORTED,
                 "elements %s have no projective form; use another solver, or elements that have "
                 "one (loom list elements)",
                 t->name);
}

/* The operator is made once or twice in a run: its element matrices are kept no longer. */
loom_status elastic_pd_add(elastic *el, int b, loom_buf *share, double scale, asm_csr *A)
{
  const loom_elem_block *blk = &el->sc->blocks[b];
  const elem_type *const t = el->blocks[b].type;
  loom_buf *w = NULL;
  LOOM_TRY(check_project(el, b));
  LOOM_TRY(buf_new(el->m, "core", "element weights", LOOM_REAL,
                   (int64_t)blk->num_elems * blk->arity * blk->arity, &w));
  /* weights do not depend on x; the rest shape stands in for the argument */
  loom_status s = elastic_run(el, b, t->weights, el->sc->rest_x, t->arity * t->arity, w, NULL);
  if (s == LOOM_OK && share != NULL)
    s = elastic_weigh(el, b, 0, blk->num_elems, share, 0.0, scale, blk->arity * blk->arity, w);
  if (s == LOOM_OK) s = asm_csr_add_elements(A, b, w);
  buf_free(el->m, w);
  return s;
}

loom_status elastic_pd_operator(elastic *el, asm_csr *A)
{
  for (int b = 0; b < el->sc->num_blocks; ++b) LOOM_TRY(elastic_pd_add(el, b, NULL, 1.0, A));
  return LOOM_OK;
}

loom_status elastic_pd_rhs(elastic *el, loom_buf *x, loom_buf *rhs)
{
  LOOM_TRY(elastic_check_vector(el, x));
  LOOM_TRY(elastic_check_vector(el, rhs));
  for (int b = 0; b < el->sc->num_blocks; ++b) {
    LOOM_TRY(check_project(el, b));
    if (el->blocks[b].quadratic) continue; /* its projection is 0 */
    LOOM_TRY(gather_block(el, b, el->blocks[b].type->project, x, rhs, -1));
  }
  return LOOM_OK;
}

/* ---- from step to step ---- */
const elem_state *elastic_state(const elastic *el, int block)
{
  return el->blocks[block].constant ? NULL : el->blocks[block].type->state;
}

static loom_status move_rest_data(elastic *el, const loom_elem_block *b, const elem_state *s,
                                  loom_buf *x)
{
  buf_maps q = {.m = el->m, .e = el->e};
  elem_move_args a = {.x = buf_maps_add(&q, x, LOOM_READ)};
  a.verts = buf_maps_add(&q, b->verts, LOOM_READ);
  if (s->reads_mat) a.mat = buf_maps_add(&q, b->mat, LOOM_READ);
  a.rest = buf_maps_add(&q, b->rest, LOOM_RDWR);
  return buf_maps_launch(&q, s->move, &a, b->num_elems, NULL);
}

loom_status elastic_commit(elastic *el, loom_buf *x)
{
  for (int b = 0; b < el->sc->num_blocks; ++b) {
    const elem_state *const s = elastic_state(el, b);
    if (s != NULL && s->move != NULL)
      LOOM_TRY(move_rest_data(el, &el->sc->blocks[b], s, x));
    else if (s != NULL)
      LOOM_TRY(s->commit(el->blocks[b].state, x));
  }
  return LOOM_OK;
}

loom_status elastic_scale(elastic *el, double factor)
{
  for (int b = 0; b < el->sc->num_blocks; ++b) {
    const elem_state *const s = elastic_state(el, b);
    if (s != NULL && s->scale != NULL) LOOM_TRY(s->scale(el->blocks[b].state, factor));
  }
  return LOOM_OK;
}
