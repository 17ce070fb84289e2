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
#include "elements/elements.h"
#include "linalg/linalg.h"

/* Elements per chunk: on the CPU and for each thread 1024 to 4096 (0.4 MB of results, in
 * cache) but not much more than a 32nd of a block, so that small scenes need little memory,
 * too; on a GPU enough to fill it (100 MB).  Multiples of ELASTIC_PART. */
enum { CHUNK_LEAST = 1024, CHUNK_MOST = 4096, CHUNK_SHARE = 32, CHUNK_CUDA = 1 << 20 };
/* Element Hessians of the matrix-free product at once: 4096 x 1.2 kB, on a GPU 75 MB. */
enum { HESS_CPU = 4096, HESS_CUDA = 65536 };

static const lk_entry k_rows = LK_ENTRY_MOVES(elastic_rows, 19, 3),
                      k_weigh = LK_ENTRY_MOVES(elastic_weigh, 229, 1);
static const lk_entry k_parts = LK_ENTRY_MOVES(elastic_parts, 32, 0),
                      k_sum = LK_ENTRY_MOVES(elastic_sum, 1, 0);

typedef struct el_block {
  const elem_type *type;
  asm_gather *gather;
  void *state; /* of type->state */
} el_block;

struct elastic {
  mem *m;
  const loom_exec *e;
  const loom_scene *sc;
  el_block *blocks;    /* [num_blocks] */
  int32_t chunk;       /* elements */
  loom_buf *contrib;   /* real [chunk][a][3] of the largest arity */
  loom_buf *energy;    /* real [chunk], J */
  loom_buf *part;      /* real [largest block / ELASTIC_PART], J, sums of energies */
  loom_buf *hess;      /* real [ne][3a][3a] of the largest block, fewer for patches
                        */
  loom_buf *some_hess; /* real [hess_elems][3a][3a] of the largest arity */
  int32_t hess_elems;
  uint32_t caps;
};

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

/* Elements whose dense Hessians fit where hess_elems hinges do. */
static int32_t some_elements(const elastic *el, int arity)
{
  return arity <= 4 ? el->hess_elems : el->hess_elems * 16 / (arity * arity);
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
  const loom_status s = create_element_buffers(el, elems, dense, hess, arity);
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
static loom_status check_vector(elastic *el, const loom_buf *x)
{
  const int64_t want = 3 * (int64_t)el->sc->num_verts;
  if (buf_type(x) == LOOM_REAL && buf_count(x) == want) return LOOM_OK;
  return err_set(mem_err(el->m), LOOM_E_ARG, "elements: buffer '%s' is not real [%d][3]",
                 buf_name(x), el->sc->num_verts);
}

static loom_status check_how(elastic *el, int how)
{
  if (how >= LOOM_HESS_EXACT && how <= LOOM_HESS_PSD_ABS) return LOOM_OK;
  return err_set(mem_err(el->m), LOOM_E_ARG,
                 "elements: unknown Hessian treatment %d; use LOOM_HESS_EXACT, _PSD_CLAMP or "
                 "_PSD_ABS",
                 how);
}

/* Maps the inputs of the kernels of block b. */
static elem_args map_inputs(elastic *el, int b, loom_buf *x, buf_maps *q)
{
  const loom_elem_block *blk = &el->sc->blocks[b];
  elem_args A = {.how = LOOM_HESS_EXACT};
  A.x = buf_maps_add(q, x, LOOM_READ);
  A.verts = buf_maps_add(q, blk->verts, LOOM_READ);
  if (blk->rest_len > 0) A.rest = buf_maps_add(q, blk->rest, LOOM_READ);
  A.mat = buf_maps_add(q, blk->mat, LOOM_READ);
  return A;
}

/* Counts the bytes that `num` elements move: their inputs, and `out` reals written for each. */
static void count_moved_bytes(const elastic *el, const elem_type *t, int32_t num, int out)
{
  lk_moved(el->e, num, LK_MOVES(3 * t->arity + t->rest_len + t->mat_len + out, t->arity));
}

/* Run kernel k on block b: `writes` reals per element into `out`, or a reduction into `result`. */
static loom_status run_block(elastic *el, int b, const lk_entry *k, loom_buf *x, int writes,
                             loom_buf *out, loom_real *result)
{
  buf_maps q = {.m = el->m, .e = el->e};
  elem_args A = map_inputs(el, b, x, &q);
  if (out != NULL) A.out = buf_maps_add(&q, out, LOOM_WRITE);
  count_moved_bytes(el, el->blocks[b].type, el->sc->blocks[b].num_elems, writes);
  if (q.status == LOOM_OK)
    q.status = exec_run(mem_err(el->m), el->e, k, &A, el->sc->blocks[b].num_elems, result);
  return buf_maps_end(&q);
}

/* The arguments for the elements from `first` on. */
static elem_args from_element(const elem_type *t, const elem_args *all, int32_t first)
{
  elem_args A = *all;
  A.verts += (int64_t)t->arity * first;
  if (t->rest_len > 0) A.rest += (int64_t)t->rest_len * first;
  A.mat += (int64_t)t->mat_len * first;
  return A;
}

/* Launches and bytes of a block are counted as if it were one chunk: the number of chunks depends
 * on the number of threads, and counters in the log must not. */
typedef struct kernel_counts {
  int64_t launches, bytes;
} kernel_counts;

static kernel_counts read_kernel_counts(const elastic *el)
{
  return (kernel_counts){.launches = el->e->launches != NULL ? *el->e->launches : 0,
                         .bytes = el->e->bytes != NULL ? *el->e->bytes : 0};
}

/* Sets the counters to `before` plus `launches` launches: one wrote `writes` reals for each
 * element, another gathered three reals per corner of them. */
static void set_counts(const elastic *el, int b, kernel_counts before, int launches, int writes)
{
  const elem_type *const t = el->blocks[b].type;
  const int32_t num = el->sc->blocks[b].num_elems;
  if (el->e->launches != NULL) *el->e->launches = before.launches + launches;
  if (el->e->bytes == NULL) return;
  *el->e->bytes = before.bytes;
  count_moved_bytes(el, t, num, writes);
  lk_moved(el->e, (int64_t)num * t->arity, LK_MOVES(3, 1));
  lk_moved(el->e, el->sc->num_verts, LK_MOVES(6, 2));
}

/* out += result of kernel k for the elements of block b; the sum of their energies goes to result
 * slot `slot`, unless it is negative. */
static loom_status gather_block(elastic *el, int b, const lk_entry *k, loom_buf *x, loom_buf *out,
                                int slot)
{
  const elem_type *t = el->blocks[b].type;
  const int32_t num = el->sc->blocks[b].num_elems;
  const kernel_counts before = read_kernel_counts(el);
  loom_err *const err = mem_err(el->m);
  asm_gather_view to;
  buf_maps q = {.m = el->m, .e = el->e};
  const elem_args all = map_inputs(el, b, x, &q);
  lk_real *const contrib = buf_maps_add(&q, el->contrib, LOOM_WRITE);
  lk_real *const energy = slot >= 0 ? buf_maps_add(&q, el->energy, LOOM_WRITE) : NULL;
  lk_real *const part = slot >= 0 ? buf_maps_add(&q, el->part, LOOM_WRITE) : NULL;
  asm_gather_open(el->blocks[b].gather, &q, out, &to);
  for (int32_t c = 0, first = 0; q.status == LOOM_OK && first < num; ++c) {
    const int32_t n = num - first < el->chunk ? num - first : el->chunk;
    elem_args A = from_element(t, &all, first);
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
  set_counts(el, b, before, slot >= 0 ? 4 : 2, 3 * t->arity + (slot >= 0 ? 2 : 0));
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
loom_status elastic_energy(elastic *el, loom_buf *x, int slot, int *used)
{
  *used = 0;
  LOOM_TRY(check_vector(el, x));
  LOOM_TRY(check_slots(el, slot));
  for (int b = 0; b < el->sc->num_blocks; ++b) {
    LOOM_TRY(run_block(el, b, el->blocks[b].type->energy, x, 0, NULL, el->e->result + slot + b));
    *used = b + 1;
  }
  return LOOM_OK;
}

loom_status elastic_gradient_energy(elastic *el, loom_buf *x, loom_buf *grad, int slot, int *used)
{
  LOOM_TRY(check_vector(el, x));
  LOOM_TRY(check_vector(el, grad));
  LOOM_TRY(check_slots(el, slot));
  for (int b = 0; b < el->sc->num_blocks; ++b)
    LOOM_TRY(gather_block(el, b, el->blocks[b].type->gradient, x, grad, slot + b));
  *used = el->sc->num_blocks;
  return LOOM_OK;
}

loom_status elastic_gradient(elastic *el, loom_buf *x, loom_buf *grad)
{
  LOOM_TRY(check_vector(el, x));
  LOOM_TRY(check_vector(el, grad));
  for (int b = 0; b < el->sc->num_blocks; ++b)
    LOOM_TRY(gather_block(el, b, el->blocks[b].type->gradient, x, grad, -1));
  return LOOM_OK;
}

/* ---- Hessians ----
 */
loom_status elastic_elem_hessians(elastic *el, int block, int32_t first, int32_t count, loom_buf *x,
                                  int how, loom_buf *out)
{
  loom_err *const err = mem_err(el->m);
  LOOM_TRY(check_vector(el, x));
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
  const elem_args all = map_inputs(el, block, x, &q);
  lk_real *const to = buf_maps_add(&q, out, LOOM_WRITE);
  if (q.status != LOOM_OK) return buf_maps_end(&q);
  elem_args A = from_element(t, &all, first);
  A.how = how;
  A.out = to;
  count_moved_bytes(el, t, count, 9 * t->arity * t->arity);
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
  LOOM_TRY(check_vector(el, x));
  LOOM_TRY(check_how(el, full));
  for (int b = 0; b < el->sc->num_blocks; ++b) {
    const elem_type *const t = el->blocks[b].type;
    const lk_entry *const narrow = how != full ? t->narrow : NULL;
    const lk_entry *const factor = narrow != NULL            ? narrow
                                   : full != LOOM_HESS_EXACT ? t->factor
                                                             : NULL;
    if (factor == NULL) {
      LOOM_TRY(add_hessians(el, b, x, full, A));
      continue;
    }
    LOOM_TRY(run_block(el, b, factor, x, 9 * t->arity, el->hess, NULL));
    LOOM_TRY(asm_bsr_add_squares(A, b, el->hess));
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
    elem_args A = from_element(t, all, first);
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
  const kernel_counts before = read_kernel_counts(el);
  asm_gather_view to;
  buf_maps q = {.m = el->m, .e = el->e};
  elem_args all = map_inputs(el, b, x, &q);
  all.how = how;
  const lk_real *pp = buf_maps_add(&q, p, LOOM_READ);
  lk_real *H = buf_maps_add(&q, el->some_hess, LOOM_WRITE);
  lk_real *contrib = buf_maps_add(&q, el->contrib, LOOM_WRITE);
  asm_gather_open(el->blocks[b].gather, &q, Hp, &to);
  for (int32_t c = 0, first = 0; q.status == LOOM_OK && first < num; ++c, first += el->chunk) {
    const int32_t n = num - first < el->chunk ? num - first : el->chunk;
    const elem_args A = from_element(t, &all, first);
    q.status = apply_elements(el, t, &A, n, pp, H, contrib);
    if (q.status == LOOM_OK) q.status = asm_gather_chunk(&to, el->e, c, contrib);
  }
  set_counts(el, b, before, 3, 18 * t->arity * t->arity + 3 * t->arity);
  return buf_maps_end(&q);
}

loom_status elastic_apply(elastic *el, loom_buf *x, int how, loom_buf *p, loom_buf *Hp)
{
  LOOM_TRY(check_vector(el, x));
  LOOM_TRY(check_vector(el, p));
  LOOM_TRY(check_vector(el, Hp));
  LOOM_TRY(check_how(el, how));
  for (int b = 0; b < el->sc->num_blocks; ++b) LOOM_TRY(apply_block(el, b, x, how, p, Hp));
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
  loom_status s = run_block(el, b, t->weights, el->sc->rest_x, t->arity * t->arity, w, NULL);
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
  LOOM_TRY(check_vector(el, x));
  LOOM_TRY(check_vector(el, rhs));
  for (int b = 0; b < el->sc->num_blocks; ++b) {
    LOOM_TRY(check_project(el, b));
    LOOM_TRY(gather_block(el, b, el->blocks[b].type->project, x, rhs, -1));
  }
  return LOOM_OK;
}

/* ---- from step to step ---- */
const elem_state *elastic_state(const elastic *el, int block)
{
  return el->blocks[block].type->state;
}

static loom_status move_rest_data(elastic *el, const loom_elem_block *b, const lk_entry *k,
                                  loom_buf *x)
{
  buf_maps q = {.m = el->m, .e = el->e};
  elem_move_args a = {.x = buf_maps_add(&q, x, LOOM_READ)};
  a.verts = buf_maps_add(&q, b->verts, LOOM_READ);
  a.rest = buf_maps_add(&q, b->rest, LOOM_RDWR);
  return buf_maps_launch(&q, k, &a, b->num_elems, NULL);
}

loom_status elastic_commit(elastic *el, loom_buf *x)
{
  for (int b = 0; b < el->sc->num_blocks; ++b) {
    const elem_state *const s = elastic_state(el, b);
    if (s != NULL && s->move != NULL)
      LOOM_TRY(move_rest_data(el, &el->sc->blocks[b], s->move, x));
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
