/* sparsity.c - vertex-to-corner incidence and matrix patterns, built on the host in linear time. */
#include <stdlib.h>

#include "linalg/sparsity.h"

enum { MAX_ROW = 65536 /* places in a row are stored in 16 bits */ };

/* smallest and largest vertex of the block, or the error */
static loom_status vertex_range(mem *m, const loom_elem_block *block, const int32_t *verts,
                                int32_t num_verts, asm_incidence *inc)
{
  int32_t lo = num_verts, hi = -1;
  const int64_t corners = (int64_t)block->num_elems * block->arity;
  for (int64_t q = 0; q < corners; ++q) {
    const int32_t v = verts[q];
    if (v < 0 || v >= num_verts)
      return err_set(mem_err(m), LOOM_E_ARG, "%s element %lld has vertex %d; there are %d vertices",
                     block->type, (long long)(q / block->arity), v, num_verts);
    if (v < lo) lo = v;
    if (v > hi) hi = v;
  }
  inc->first = corners > 0 ? lo : 0;
  inc->count = corners > 0 ? hi - lo + 1 : 0;
  return LOOM_OK;
}

/* counting sort of the corners by vertex */
static void sort_block_corners(const int32_t *verts, int32_t corners, const asm_incidence *inc,
                               int32_t *ptr, int32_t *corner)
{
  for (int32_t i = 0; i <= inc->count; ++i) ptr[i] = 0;
  for (int32_t q = 0; q < corners; ++q) ++ptr[verts[q] - inc->first];
  int32_t sum = 0;
  for (int32_t i = 0; i <= inc->count; ++i) {
    sum += ptr[i];
    ptr[i] = sum; /* end of row i: filling backwards leaves its begin */
  }
  for (int32_t q = corners - 1; q >= 0; --q) corner[--ptr[verts[q] - inc->first]] = q;
}

loom_status asm_incidence_build(mem *m, const loom_elem_block *block, int32_t num_verts,
                                asm_incidence *inc)
{
  const int64_t corners = (int64_t)block->num_elems * block->arity;
  buf_maps q = {.m = m};
  *inc = (asm_incidence){.arity = block->arity};
  if (block->arity < 1 || block->arity > 12 || corners >= INT32_MAX || corners < 0 ||
      buf_count(block->verts) < corners)
    return err_set(mem_err(m), LOOM_E_ARG,
                   "%s: %d elements of %d vertices do not fit (vertices "
                   "listed: %lld; at most 2^31 - 2 corners)",
                   block->type, block->num_elems, block->arity, (long long)buf_count(block->verts));
  const int32_t *verts = buf_maps_add(&q, block->verts, LOOM_READ);
  if (q.status == LOOM_OK) q.status = vertex_range(m, block, verts, num_verts, inc);
  if (q.status == LOOM_OK)
    q.status = buf_new(m, "core", "corner ptr", LOOM_I32, (int64_t)inc->count + 1, &inc->ptr);
  if (q.status == LOOM_OK)
    q.status = buf_new(m, "core", "corners", LOOM_I32, corners, &inc->corner);
  int32_t *ptr = q.status == LOOM_OK ? buf_maps_add(&q, inc->ptr, LOOM_WRITE) : NULL;
  int32_t *corner = q.status == LOOM_OK ? buf_maps_add(&q, inc->corner, LOOM_WRITE) : NULL;
  if (q.status == LOOM_OK) sort_block_corners(verts, (int32_t)corners, inc, ptr, corner);
  (void)buf_maps_end(&q);
  if (q.status != LOOM_OK) asm_incidence_drop(m, inc);
  return q.status;
}

void asm_incidence_drop(mem *m, asm_incidence *inc)
{
  buf_free(m, inc->ptr);
  buf_free(m, inc->corner);
  inc->ptr = inc->corner = NULL;
}

/* ---- rows ---- */
typedef struct host_block {
  const int32_t *verts, *ptr, *corner;
  uint16_t *pos; /* or NULL */
  int32_t first, count, arity;
} host_block;

/* Corners of vertex i in block b: [lo, hi). */
static void find_vertex_corners(const host_block *b, int32_t i, int32_t *lo, int32_t *hi)
{
  const int32_t k = i - b->first;
  const int inside = k >= 0 && k < b->count;
  *lo = inside ? b->ptr[k] : 0;
  *hi = inside ? b->ptr[k + 1] : 0;
}

/* Columns of row i, unsorted, each once; returns their number.  mark[j] == i: seen.
 * row NULL: only counted. */
static int64_t collect_row_columns(const host_block *blocks, int num_blocks, int32_t i,
                                   int32_t *mark, int32_t *row)
{
  int64_t num = 1;
  mark[i] = i;
  if (row != NULL) row[0] = i;
  for (int b = 0; b < num_blocks; ++b) {
    int32_t lo, hi;
    find_vertex_corners(&blocks[b], i, &lo, &hi);
    for (int32_t k = lo; k < hi; ++k) {
      const int32_t q = blocks[b].corner[k], a = blocks[b].arity;
      const int32_t *v = blocks[b].verts + (q - q % a);
      for (int32_t s = 0; s < a; ++s) {
        if (mark[v[s]] == i) continue;
        mark[v[s]] = i;
        if (row != NULL) row[num] = v[s];
        ++num;
      }
    }
  }
  return num;
}

static int compare_i32(const void *a, const void *b)
{
  const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

static void sort_row_columns(int32_t *row, int64_t n)
{
  enum { INSERTION_MAX = 48 };
  if (n > INSERTION_MAX) {
    qsort(row, (size_t)n, sizeof *row, compare_i32);
    return;
  }
  for (int64_t k = 1; k < n; ++k) {
    const int32_t v = row[k];
    int64_t at = k;
    for (; at > 0 && row[at - 1] > v; --at) row[at] = row[at - 1];
    row[at] = v;
  }
}

/* where each corner of vertex i finds its columns in the row */
static void store_positions(const host_block *blocks, int num_blocks, int32_t i, const int32_t *row,
                            int64_t n, int32_t *where)
{
  for (int64_t k = 0; k < n; ++k) where[row[k]] = (int32_t)k;
  for (int b = 0; b < num_blocks; ++b) {
    int32_t lo, hi;
    const int32_t a = blocks[b].arity;
    find_vertex_corners(&blocks[b], i, &lo, &hi);
    for (int32_t k = lo; k < hi; ++k) {
      const int32_t q = blocks[b].corner[k];
      const int32_t *v = blocks[b].verts + (q - q % a);
      uint16_t *pos = blocks[b].pos + (int64_t)k * a;
      for (int32_t s = 0; s < a; ++s) pos[s] = (uint16_t)where[v[s]];
    }
  }
}

static loom_status fill_pattern_row_ptr(mem *m, const asm_sparsity *p, const host_block *blocks,
                                        int32_t *mark, int64_t *row_ptr)
{
  row_ptr[0] = 0;
  for (int32_t i = 0; i < p->num_verts; ++i) mark[i] = -1;
  for (int32_t i = 0; i < p->num_verts; ++i) {
    const int64_t num = collect_row_columns(blocks, p->num_blocks, i, mark, NULL);
    if (num > MAX_ROW)
      return err_set(mem_err(m), LOOM_E_ARG,
                     "vertex %d shares elements with %lld others; at most %d; split the fan", i,
                     (long long)num - 1, MAX_ROW - 1);
    row_ptr[i + 1] = row_ptr[i] + num;
  }
  if (row_ptr[p->num_verts] > INT32_MAX)
    return err_set(mem_err(m), LOOM_E_ARG, "the matrix would have %lld nonzero blocks; at most %d",
                   (long long)row_ptr[p->num_verts], INT32_MAX);
  return LOOM_OK;
}

static void fill_rows(const asm_sparsity *p, const host_block *blocks, int32_t *mark,
                      const int64_t *row_ptr, int32_t *col)
{
  int32_t *where = mark + p->num_verts;
  for (int32_t i = 0; i < p->num_verts; ++i) mark[i] = -1;
  for (int32_t i = 0; i < p->num_verts; ++i) {
    int32_t *row = col + row_ptr[i];
    const int64_t num = collect_row_columns(blocks, p->num_blocks, i, mark, row);
    sort_row_columns(row, num);
    if (p->pos != NULL) store_positions(blocks, p->num_blocks, i, row, num, where);
  }
}

/* the arrays of one block on the host; the maps are the caller's to end */
static void map_block(mem *m, const asm_sparsity *p, int b, host_block *h, buf_maps *q)
{
  const asm_incidence *inc = &p->inc[b];
  *q = (buf_maps){.m = m};
  *h = (host_block){.first = inc->first, .count = inc->count, .arity = inc->arity};
  h->verts = buf_maps_add(q, p->blocks[b].verts, LOOM_READ);
  h->ptr = buf_maps_add(q, inc->ptr, LOOM_READ);
  h->corner = buf_maps_add(q, inc->corner, LOOM_READ);
  if (p->pos != NULL) h->pos = buf_maps_add(q, p->pos[b], LOOM_WRITE);
}

static loom_status build_mapped(mem *m, const asm_sparsity *p, const host_block *blocks,
                                int32_t *mark)
{
  buf_maps q = {.m = m};
  LOOM_TRY(buf_reset(m, p->row_ptr, (int64_t)p->num_verts + 1));
  int64_t *row_ptr = buf_maps_add(&q, p->row_ptr, LOOM_WRITE);
  if (q.status == LOOM_OK) q.status = fill_pattern_row_ptr(m, p, blocks, mark, row_ptr);
  if (q.status == LOOM_OK) q.status = buf_reset(m, p->col, row_ptr[p->num_verts]);
  int32_t *col = q.status == LOOM_OK ? buf_maps_add(&q, p->col, LOOM_WRITE) : NULL;
  if (q.status == LOOM_OK) fill_rows(p, blocks, mark, row_ptr, col);
  return buf_maps_end(&q);
}

static loom_status map_and_build_pattern(mem *m, const asm_sparsity *p, loom_buf *marks,
                                         host_block *blocks, buf_maps *maps)
{
  buf_maps q = {.m = m};
  int mapped = 0;
  int32_t *mark = buf_maps_add(&q, marks, LOOM_WRITE);
  loom_status s = q.status;
  for (; s == LOOM_OK && mapped < p->num_blocks; ++mapped) {
    map_block(m, p, mapped, &blocks[mapped], &maps[mapped]);
    s = maps[mapped].status;
  }
  if (s == LOOM_OK) s = build_mapped(m, p, blocks, mark);
  while (mapped > 0) { /* the first failure keeps its message */
    --mapped;
    maps[mapped].status = s;
    s = buf_maps_end(&maps[mapped]);
  }
  q.status = s;
  return buf_maps_end(&q);
}

loom_status asm_sparsity_build(mem *m, const asm_sparsity *p)
{
  loom_buf *marks = NULL;
  host_block *blocks = calloc((size_t)p->num_blocks + 1, sizeof *blocks);
  buf_maps *maps = calloc((size_t)p->num_blocks + 1, sizeof *maps);
  loom_status s = LOOM_E_NOMEM;
  if (blocks != NULL && maps != NULL) {
    s = buf_new(m, "core", "marks", LOOM_I32, 2 * (int64_t)p->num_verts, &marks);
    if (s == LOOM_OK) s = map_and_build_pattern(m, p, marks, blocks, maps);
  } else {
    err_set(mem_err(m), s, "no memory for %d element blocks", p->num_blocks);
  }
  buf_free(m, marks);
  free(blocks);
  free(maps);
  return s;
}

loom_status asm_any_fixed(mem *m, const loom_scene *sc, int *any)
{
  buf_maps q = {.m = m};
  *any = 0;
  if (buf_type(sc->fixed) != LOOM_U8 || buf_count(sc->fixed) != sc->num_verts ||
      buf_type(sc->mass) != LOOM_REAL || buf_count(sc->mass) != sc->num_verts)
    return err_set(mem_err(m), LOOM_E_ARG, "fixed and mass are not u8 and real [%d]",
                   sc->num_verts);
  const uint8_t *fixed = buf_maps_add(&q, sc->fixed, LOOM_READ);
  for (int32_t i = 0; q.status == LOOM_OK && i < sc->num_verts; ++i) *any |= fixed[i] != 0;
  return buf_maps_end(&q);
}
