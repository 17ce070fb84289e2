/* bsr.c - the system matrix in 3x3 blocks: mass, elements, contact.
 *
 * The base pattern is that of the elements.  For every corner of an element the places of
 * its columns are stored relative to the base row (16 bits each), so values are added
 * without searching.  A contact pattern makes a second, wider pattern and a map from the
 * base to it; the stored places stay as they are.
 */
#include <stdlib.h>

#include "linalg/assemble.h"
#include "linalg/assemble.kern.h"
#include "linalg/linalg.h"
#include "linalg/sparsity.h"

static const lk_entry k_mass = LK_ENTRY_MOVES(asm_bsr_mass, 7, 4),
                      k_elem = LK_ENTRY_MOVES(asm_bsr_elem, 0, 0),
                      k_unit = LK_ENTRY_MOVES(asm_bsr_unit, 7, 30),
                      k_place = LK_ENTRY_MOVES(asm_place, 3, 7),
                      k_missing = LK_ENTRY_MOVES(asm_missing, 1, 0),
                      k_sum = LK_ENTRY_MOVES(asm_triplet_sum, 14, 1);
/* On a device a thread takes one number of its blocks, where a launch has room for so many.  The
 * same for k_sum was 7 to 42 % slower on an H100. */
static const lk_entry k_elem_number = LK_ENTRY_MOVES(asm_bsr_elem_number, 0, 0),
                      k_square = LK_ENTRY_MOVES(asm_bsr_square, 0, 0),
                      k_square_number = LK_ENTRY_MOVES(asm_bsr_square_number, 0, 0);

struct asm_bsr {
  mem *m;
  const loom_exec *e;
  const loom_scene *sc;
  int any_fixed, extended;
  asm_incidence *inc;            /* [num_blocks] */
  loom_buf **pos;                /* [num_blocks] u8 for u16 [corners in row order][arity] */
  loom_buf *base_ptr, *base_col; /* i64 [n+1], i32: element pattern */
  loom_buf *ext_ptr, *ext_col;   /* the same with contact, while extended */
  loom_buf *map;                 /* i32 [base nonzeros], index in the extended pattern */
  loom_buf *place;               /* u64 [m], contact triplets */
  loom_buf *order;               /* i32 [m] */
  loom_bsr3 M;
};

/* ---- life ---- */
static void use_pattern(asm_bsr *A, int extended)
{
  A->extended = extended;
  A->M.row_ptr = extended ? A->ext_ptr : A->base_ptr;
  A->M.col = extended ? A->ext_col : A->base_col;
  A->M.num_blocks = buf_count(A->M.col);
  ++A->M.pattern_id;
}

static loom_status create_bsr_buffers(asm_bsr *A)
{
  mem *m = A->m;
  LOOM_TRY(buf_new(m, "core", "bsr row_ptr", LOOM_I64, 0, &A->base_ptr));
  LOOM_TRY(buf_new(m, "core", "bsr col", LOOM_I32, 0, &A->base_col));
  LOOM_TRY(buf_new(m, "core", "bsr contact row_ptr", LOOM_I64, 0, &A->ext_ptr));
  LOOM_TRY(buf_new(m, "core", "bsr contact col", LOOM_I32, 0, &A->ext_col));
  LOOM_TRY(buf_new(m, "core", "bsr map", LOOM_I32, 0, &A->map));
  LOOM_TRY(buf_new(m, "core", "bsr places", LOOM_U64, 0, &A->place));
  LOOM_TRY(buf_new(m, "core", "bsr order", LOOM_I32, 0, &A->order));
  return buf_new(m, "core", "bsr val", LOOM_REAL, 0, &A->M.val);
}

static loom_status init_bsr(asm_bsr *A)
{
  const loom_scene *sc = A->sc;
  LOOM_TRY(asm_any_fixed(A->m, sc, &A->any_fixed));
  LOOM_TRY(create_bsr_buffers(A));
  for (int32_t b = 0; b < sc->num_blocks; ++b) {
    const loom_elem_block *block = &sc->blocks[b];
    LOOM_TRY(asm_incidence_build(A->m, block, sc->num_verts, &A->inc[b]));
    const int64_t places = buf_count(A->inc[b].corner) * block->arity;
    LOOM_TRY(buf_new(A->m, "core", "bsr corner places", LOOM_U8, places * (int64_t)sizeof(uint16_t),
                     &A->pos[b]));
  }
  const asm_sparsity p = {.num_verts = sc->num_verts,
                          .num_blocks = sc->num_blocks,
                          .blocks = sc->blocks,
                          .inc = A->inc,
                          .row_ptr = A->base_ptr,
                          .col = A->base_col,
                          .pos = A->pos};
  LOOM_TRY(asm_sparsity_build(A->m, &p));
  A->M.struct_size = sizeof A->M;
  A->M.num_rows = sc->num_verts;
  use_pattern(A, 0);
  return buf_reset(A->m, A->M.val, 9 * A->M.num_blocks);
}

loom_status asm_bsr_new(loom_err *err, mem *m, const loom_exec *e, const loom_scene *sc,
                        asm_bsr **out)
{
  asm_bsr *A = calloc(1, sizeof *A);
  loom_status s = LOOM_E_NOMEM;
  *out = NULL;
  if (A == NULL) return err_set(err, s, "no memory for the matrix");
  A->m = m;
  A->e = e;
  A->sc = sc;
  A->inc = calloc((size_t)sc->num_blocks + 1, sizeof *A->inc);
  A->pos = calloc((size_t)sc->num_blocks + 1, sizeof(loom_buf *));
  if (A->inc != NULL && A->pos != NULL)
    s = init_bsr(A);
  else
    err_set(mem_err(m), s, "no memory for the matrix");
  if (s == LOOM_OK) {
    *out = A;
    return s;
  }
  *err = *mem_err(m);
  asm_bsr_free(A);
  return s;
}

void asm_bsr_free(asm_bsr *A)
{
  if (A == NULL) return;
  loom_buf *const all[] = {A->base_ptr, A->base_col, A->ext_ptr, A->ext_col,
                           A->map,      A->place,    A->order,   A->M.val};
  for (size_t k = 0; k < sizeof all / sizeof all[0]; ++k) buf_free(A->m, all[k]);
  for (int32_t b = 0; b < A->sc->num_blocks; ++b) {
    if (A->inc != NULL) asm_incidence_drop(A->m, &A->inc[b]);
    if (A->pos != NULL) buf_free(A->m, A->pos[b]);
  }
  free(A->inc);
  free(A->pos);
  free(A);
}

const loom_bsr3 *asm_bsr_matrix(const asm_bsr *A) { return &A->M; }

/* ---- contact ---- */
static loom_status check_contact_blocks(const asm_bsr *A, const loom_blocks3 *c)
{
  if (c->count >= 0 && c->count <= INT32_MAX && buf_type(c->row) == LOOM_I32 &&
      buf_type(c->col) == LOOM_I32 && buf_count(c->row) >= c->count &&
      buf_count(c->col) >= c->count)
    return LOOM_OK;
  return err_set(mem_err(A->m), LOOM_E_ARG, "contact blocks: row and col are not i32 [%lld]",
                 (long long)c->count);
}

/* place [count] of the triplets in the present pattern; *missing: any is not in it */
static loom_status find_triplet_places(asm_bsr *A, const loom_blocks3 *c, int *missing)
{
  asm_place_args args = {.num_rows = A->M.num_rows};
  asm_triplet_args found = {0};
  buf_maps q = {.m = A->m, .e = A->e};
  double worst = 0;
  LOOM_TRY(buf_reset(A->m, A->place, c->count));
  args.row = buf_maps_add(&q, c->row, LOOM_READ);
  args.col = buf_maps_add(&q, c->col, LOOM_READ);
  args.row_ptr = buf_maps_add(&q, A->M.row_ptr, LOOM_READ);
  args.cols = buf_maps_add(&q, A->M.col, LOOM_READ);
  args.place = buf_maps_add(&q, A->place, LOOM_WRITE);
  found.place = args.place;
  if (q.status == LOOM_OK)
    q.status = exec_run(mem_err(A->m), A->e, &k_place, &args, c->count, NULL);
  if (q.status == LOOM_OK)
    q.status =
        exec_run(mem_err(A->m), A->e, &k_missing, &found, c->count, A->e->result + LA_OWN_SLOT);
  if (q.status == LOOM_OK) q.status = exec_fetch(mem_err(A->m), A->e, LA_OWN_SLOT, 1, &worst);
  *missing = worst > 0;
  return buf_maps_end(&q);
}

/* place [count] = row << 32 | col, on the host */
static loom_status row_col_keys(asm_bsr *A, const loom_blocks3 *c)
{
  const int32_t n = A->M.num_rows;
  buf_maps q = {.m = A->m};
  const int32_t *row = buf_maps_add(&q, c->row, LOOM_READ);
  const int32_t *col = buf_maps_add(&q, c->col, LOOM_READ);
  uint64_t *key = buf_maps_add(&q, A->place, LOOM_WRITE);
  for (int64_t k = 0; q.status == LOOM_OK && k < c->count; ++k) {
    if (row[k] < 0 || row[k] >= n || col[k] < 0 || col[k] >= n)
      q.status = err_set(mem_err(A->m), LOOM_E_ARG,
                         "contact block %lld is (%d, %d); there are %d "
                         "vertices",
                         (long long)k, row[k], col[k], n);
    else
      key[k] = (uint64_t)row[k] << 32 | (uint64_t)col[k];
  }
  return buf_maps_end(&q);
}

static loom_status extend_bsr_pattern(asm_bsr *A, const loom_blocks3 *c)
{
  loom_exec host = *A->e;
  host.backend = LOOM_CPU; /* the pattern is built there; scratch is not used */
  host.stream = NULL;
  const asm_union u = {.num_rows = A->M.num_rows,
                       .threads = A->e->num_threads,
                       .base_ptr = A->base_ptr,
                       .base_col = A->base_col,
                       .key = A->place,
                       .row_ptr = A->ext_ptr,
                       .col = A->ext_col,
                       .map = A->map};
  LOOM_TRY(row_col_keys(A, c));
  LOOM_TRY(buf_reset(A->m, A->order, c->count));
  LOOM_TRY(la_sort_u64(A->m, &host, A->place, A->order));
  if (A->extended) use_pattern(A, 0); /* consistent, should a buffer not fit in memory */
  LOOM_TRY(asm_sparsity_union(A->m, &u));
  LOOM_TRY(buf_reset(A->m, A->M.val, 9 * buf_count(A->ext_col)));
  use_pattern(A, 1);
  return LOOM_OK;
}

loom_status asm_bsr_begin(asm_bsr *A, const loom_blocks3 *contact)
{
  int missing = 0;
  if (contact != NULL && contact->count > 0) {
    LOOM_TRY(check_contact_blocks(A, contact));
    LOOM_TRY(find_triplet_places(A, contact, &missing));
  }
  if (missing) LOOM_TRY(extend_bsr_pattern(A, contact));
  return la_fill(A->m, A->e, A->M.val, 0);
}

static loom_status sum_triplets(asm_bsr *A, const loom_blocks3 *c)
{
  asm_triplet_args args = {.n = c->count};
  buf_maps q = {.m = A->m, .e = A->e};
  args.place = buf_maps_add(&q, A->place, LOOM_READ);
  args.order = buf_maps_add(&q, A->order, LOOM_READ);
  args.block = buf_maps_add(&q, c->val, LOOM_READ);
  args.val = buf_maps_add(&q, A->M.val, LOOM_RDWR);
  if (q.status == LOOM_OK) q.status = exec_run(mem_err(A->m), A->e, &k_sum, &args, c->count, NULL);
  return buf_maps_end(&q);
}

loom_status asm_bsr_add_contact(asm_bsr *A, const loom_blocks3 *contact)
{
  int missing = 0;
  if (contact->count == 0) return LOOM_OK;
  LOOM_TRY(check_contact_blocks(A, contact));
  if (buf_type(contact->val) != LOOM_REAL || buf_count(contact->val) < 9 * contact->count)
    return err_set(mem_err(A->m), LOOM_E_ARG, "contact blocks: val is not real [%lld][3][3]",
                   (long long)contact->count);
  LOOM_TRY(find_triplet_places(A, contact, &missing));
  if (missing)
    return err_set(mem_err(A->m), LOOM_E_STATE,
                   "contact blocks outside the pattern; give them to asm_bsr_begin first");
  LOOM_TRY(buf_reset(A->m, A->order, contact->count));
  LOOM_TRY(la_sort_u64(A->m, A->e, A->place, A->order));
  return sum_triplets(A, contact);
}

/* ---- mass, elements, fixed vertices ---- */
static loom_status run_bsr_rows(asm_bsr *A, const lk_entry *k, loom_buf *w, double scale)
{
  asm_row_args args = {.scale = (lk_real)scale};
  buf_maps q = {.m = A->m, .e = A->e};
  args.row_ptr = buf_maps_add(&q, A->M.row_ptr, LOOM_READ);
  args.col = buf_maps_add(&q, A->M.col, LOOM_READ);
  args.val = buf_maps_add(&q, A->M.val, LOOM_RDWR);
  args.mass = buf_maps_add(&q, w, LOOM_READ);
  args.fixed = buf_maps_add(&q, A->sc->fixed, LOOM_READ);
  if (q.status == LOOM_OK) q.status = exec_run(mem_err(A->m), A->e, k, &args, A->M.num_rows, NULL);
  return buf_maps_end(&q);
}

loom_status asm_bsr_add_diagonal(asm_bsr *A, loom_buf *w, double scale)
{
  return run_bsr_rows(A, &k_mass, w, scale);
}

loom_status asm_bsr_finish(asm_bsr *A)
{
  return A->any_fixed ? run_bsr_rows(A, &k_unit, NULL, 0) : LOOM_OK;
}

/* k, or `number` where a thread takes one number; `moved`: reals that one block of an element needs
 */
static loom_status add_block_elements(asm_bsr *A, int b, int32_t first, int32_t count, int32_t used,
                                      loom_buf *hess, int64_t each, const lk_entry *k,
                                      const lk_entry *number, int moved)
{
  if (b < 0 || b >= A->sc->num_blocks)
    return err_set(mem_err(A->m), LOOM_E_ARG, "element block %d; the scene has %d", b,
                   A->sc->num_blocks);
  const loom_elem_block *block = &A->sc->blocks[b];
  const asm_incidence *inc = &A->inc[b];
  const int all = first == 0 && count == block->num_elems;
  asm_bsr_elem_args args = {.first = inc->first,
                            .arity = inc->arity,
                            .from = first,
                            .until = all ? 0 : first + count,
                            .used = used};
  buf_maps q = {.m = A->m, .e = A->e};
  if (buf_type(hess) != LOOM_REAL || buf_count(hess) < count * each)
    return err_set(mem_err(A->m), LOOM_E_ARG, "%s: buffer '%s' is not real [%d][%lld]", block->type,
                   buf_name(hess), count, (long long)each);
  args.ptr = buf_maps_add(&q, inc->ptr, LOOM_READ);
  args.corner = buf_maps_add(&q, inc->corner, LOOM_READ);
  args.pos = buf_maps_add(&q, A->pos[b], LOOM_READ);
  args.row_ptr = buf_maps_add(&q, A->base_ptr, LOOM_READ);
  if (A->extended) args.map = buf_maps_add(&q, A->map, LOOM_READ);
  args.hess = buf_maps_add(&q, hess, LOOM_READ);
  args.val = buf_maps_add(&q, A->M.val, LOOM_RDWR);
  /* a block of an element is read or made, and added to one of the matrix */
  lk_moved(A->e, (int64_t)count * used * used, LK_MOVES(moved, 1));
  const int split = A->e->backend != LOOM_CPU && inc->count <= LK_MAX_ELEMS / 9;
  if (q.status == LOOM_OK)
    q.status = exec_run(mem_err(A->m), A->e, split ? number : k, &args,
                        split ? 9 * inc->count : inc->count, NULL);
  return buf_maps_end(&q);
}

static int32_t count_block_elems(const asm_bsr *A, int b)
{
  return b >= 0 && b < A->sc->num_blocks ? A->sc->blocks[b].num_elems : 0;
}

static int32_t block_arity(const asm_bsr *A, int b)
{
  return b >= 0 && b < A->sc->num_blocks ? A->sc->blocks[b].arity : 0;
}

loom_status asm_bsr_add_elements(asm_bsr *A, int b, loom_buf *hess)
{
  return asm_bsr_add_some(A, b, 0, count_block_elems(A, b), hess);
}

loom_status asm_bsr_add_some(asm_bsr *A, int b, int32_t first, int32_t count, loom_buf *hess)
{
  return asm_bsr_add_part(A, b, first, count, block_arity(A, b), hess);
}

loom_status asm_bsr_add_part(asm_bsr *A, int b, int32_t first, int32_t count, int32_t used,
                             loom_buf *hess)
{
  const int64_t side = 3 * (int64_t)used;
  return add_block_elements(A, b, first, count, used, hess, side * side, &k_elem, &k_elem_number,
                            27);
}

loom_status asm_bsr_add_squares(asm_bsr *A, int b, loom_buf *B)
{
  const int32_t arity = block_arity(A, b);
  return add_block_elements(A, b, 0, count_block_elems(A, b), arity, B, 9 * (int64_t)arity,
                            &k_square, &k_square_number, 27);
}
