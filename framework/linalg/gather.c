/* gather.c - per-element vectors collected at the vertices, a chunk of elements at a time.
 *
 * A chunk lists the vertices that it touches (rows, ascending) and the corners of each.  Both
 * count from the chunk's first vertex and corner, in 16 bits where every chunk of the block
 * allows it: a mesh with elements in the order of their vertices then needs 2 B per corner and
 * little more than 4 B per vertex.
 */
#include <stdlib.h>

#include "linalg/assemble.h"
#include "linalg/assemble.kern.h"
#include "linalg/sparsity.h"

static const lk_entry k_gather = LK_ENTRY_MOVES(asm_vec_gather, 18, 0);

typedef struct chunk {
  int64_t row, corner; /* first ones of the chunk */
  int32_t num_rows;
  int32_t base, last; /* smallest and largest vertex */
} chunk;

struct asm_gather {
  mem *m;
  chunk *chunks; /* [num_chunks + 1], the last one holds the totals */
  int32_t num_chunks, num_verts;
  int32_t chunk_corners; /* of every chunk but the last */
  int wide;              /* 1: indices are i32, else u16 */
  loom_buf *vert;        /* u8 for index [rows], vertex - base */
  loom_buf *ptr;         /* u8 for index [rows + num_chunks], num_rows + 1 of each chunk */
  loom_buf *corner;      /* u8 for index [corners], corner - first corner of the chunk */
};

/* ---- building ---- */
/* Rows and vertex range of every chunk. */
static void measure_chunks(asm_gather *g, const asm_incidence *inc, const int32_t *ptr,
                           const int32_t *corner)
{
  for (int32_t c = 0; c < g->num_chunks; ++c) g->chunks[c].last = -1;
  for (int32_t i = 0; i < inc->count; ++i)
    for (int32_t k = ptr[i]; k < ptr[i + 1]; ++k) {
      chunk *const c = &g->chunks[corner[k] / g->chunk_corners];
      const int32_t v = inc->first + i;
      if (c->last == v) continue;
      if (c->last < 0) c->base = v;
      c->last = v;
      ++c->num_rows;
    }
  for (int32_t c = 0; c < g->num_chunks; ++c) {
    chunk *const now = &g->chunks[c];
    now[1].row = now->row + now->num_rows;
    now[1].corner = now->corner + g->chunk_corners;
    g->wide |= now->last - now->base > UINT16_MAX;
  }
}

static void store_index(const asm_gather *g, void *list, int64_t at, int32_t value)
{
  if (g->wide)
    ((int32_t *)list)[at] = value;
  else
    ((uint16_t *)list)[at] = (uint16_t)value;
}

/* Corners come by vertex and ascending: every chunk receives its rows in order. */
static void fill_chunks(const asm_gather *g, const asm_incidence *inc, const int32_t *inc_ptr,
                        const int32_t *inc_corner, chunk *at, void *vert, void *ptr, void *corner)
{
  for (int32_t c = 0; c < g->num_chunks; ++c) {
    at[c] = g->chunks[c];
    at[c].num_rows = 0;
    at[c].last = -1;
  }
  for (int32_t i = 0; i < inc->count; ++i)
    for (int32_t k = inc_ptr[i]; k < inc_ptr[i + 1]; ++k) {
      const int32_t q = inc_corner[k], c = q / g->chunk_corners, v = inc->first + i;
      const chunk *const own = &g->chunks[c];
      if (at[c].last != v) {
        store_index(g, vert, own->row + at[c].num_rows, v - own->base);
        store_index(g, ptr, own->row + c + at[c].num_rows, (int32_t)(at[c].corner - own->corner));
        ++at[c].num_rows;
        at[c].last = v;
      }
      store_index(g, corner, at[c].corner++, q - c * g->chunk_corners);
    }
  for (int32_t c = 0; c < g->num_chunks; ++c)
    store_index(g, ptr, g->chunks[c].row + c + at[c].num_rows,
                (int32_t)(at[c].corner - g->chunks[c].corner));
}

static loom_status build_gather_lists(asm_gather *g, const asm_incidence *inc, int64_t corners)
{
  buf_maps q = {.m = g->m}, w = {.m = g->m};
  const int32_t *const ptr = buf_maps_add(&q, inc->ptr, LOOM_READ);
  const int32_t *const corner = buf_maps_add(&q, inc->corner, LOOM_READ);
  chunk *const at = malloc(((size_t)g->num_chunks + 1) * sizeof *at);
  if (q.status == LOOM_OK && at == NULL)
    q.status = err_set(mem_err(g->m), LOOM_E_NOMEM, "no memory for %d chunks", g->num_chunks);
  if (q.status == LOOM_OK) {
    g->wide = g->chunk_corners > UINT16_MAX;
    measure_chunks(g, inc, ptr, corner);
    const int64_t rows = g->chunks[g->num_chunks].row, width = g->wide ? 4 : 2;
    const struct {
      const char *name;
      int64_t count;
      loom_buf **b;
    } all[] = {{"gather vertices", rows, &g->vert},
               {"gather rows", rows + g->num_chunks, &g->ptr},
               {"gather corners", corners, &g->corner}};
    for (size_t i = 0; i < sizeof all / sizeof *all && q.status == LOOM_OK; ++i)
      q.status = buf_new(g->m, "core", all[i].name, LOOM_U8, width * all[i].count, all[i].b);
  }
  if (q.status == LOOM_OK) {
    void *const to_vert = buf_maps_add(&w, g->vert, LOOM_WRITE);
    void *const to_ptr = buf_maps_add(&w, g->ptr, LOOM_WRITE);
    void *const to_corner = buf_maps_add(&w, g->corner, LOOM_WRITE);
    if (w.status == LOOM_OK) fill_chunks(g, inc, ptr, corner, at, to_vert, to_ptr, to_corner);
    q.status = buf_maps_end(&w);
  }
  free(at);
  return buf_maps_end(&q);
}

static loom_status init_gather(asm_gather *g, const loom_elem_block *block, int32_t elems)
{
  asm_incidence inc;
  const int64_t corners = (int64_t)block->num_elems * block->arity;
  if (elems < 1 || elems > INT32_MAX / (block->arity > 0 ? block->arity : 1))
    return err_set(mem_err(g->m), LOOM_E_ARG, "%s: chunks of %d elements", block->type, elems);
  LOOM_TRY(asm_incidence_build(g->m, block, g->num_verts, &inc));
  g->chunk_corners = elems * block->arity;
  g->num_chunks = (int32_t)((corners + g->chunk_corners - 1) / g->chunk_corners);
  g->chunks = calloc((size_t)g->num_chunks + 1, sizeof *g->chunks);
  const loom_status s = g->chunks != NULL ? build_gather_lists(g, &inc, corners)
                                          : err_set(mem_err(g->m), LOOM_E_NOMEM,
                                                    "no memory to gather %s", block->type);
  asm_incidence_drop(g->m, &inc);
  return s;
}

loom_status asm_gather_new(loom_err *err, mem *m, const loom_elem_block *block, int32_t num_verts,
                           int32_t elems, asm_gather **out)
{
  asm_gather *g = calloc(1, sizeof *g);
  *out = g;
  if (g == NULL) return err_set(err, LOOM_E_NOMEM, "no memory to gather %s", block->type);
  g->m = m;
  g->num_verts = num_verts;
  const loom_status s = init_gather(g, block, elems);
  if (s == LOOM_OK) return s;
  *err = *mem_err(m);
  asm_gather_free(g);
  *out = NULL;
  return s;
}

void asm_gather_free(asm_gather *g)
{
  if (g == NULL) return;
  buf_free(g->m, g->vert);
  buf_free(g->m, g->ptr);
  buf_free(g->m, g->corner);
  free(g->chunks);
  free(g);
}

/* ---- gathering ---- */
void asm_gather_open(asm_gather *g, buf_maps *q, loom_buf *out, asm_gather_view *v)
{
  *v = (asm_gather_view){.g = g};
  if (q->status != LOOM_OK) return;
  if (buf_type(out) != LOOM_REAL || buf_count(out) != 3 * (int64_t)g->num_verts) {
    q->status = err_set(mem_err(g->m), LOOM_E_ARG, "gather: buffer '%s' is not real [%d][3]",
                        buf_name(out), g->num_verts);
    return;
  }
  v->vert = buf_maps_add(q, g->vert, LOOM_READ);
  v->ptr = buf_maps_add(q, g->ptr, LOOM_READ);
  v->corner = buf_maps_add(q, g->corner, LOOM_READ);
  v->out = buf_maps_add(q, out, LOOM_RDWR);
}

loom_status asm_gather_chunk(const asm_gather_view *v, const loom_exec *e, int32_t c,
                             const lk_real *contrib)
{
  const asm_gather *const g = v->g;
  const chunk *const own = &g->chunks[c];
  asm_vec_args a = {.contrib = contrib, .out = v->out, .base = own->base};
  if (g->wide) {
    a.wide_vert = (const int32_t *)v->vert + own->row;
    a.wide_ptr = (const int32_t *)v->ptr + own->row + c;
    a.wide_corner = (const int32_t *)v->corner + own->corner;
  } else {
    a.vert = (const uint16_t *)v->vert + own->row;
    a.ptr = (const uint16_t *)v->ptr + own->row + c;
    a.corner = (const uint16_t *)v->corner + own->corner;
  }
  return exec_run(mem_err(g->m), e, &k_gather, &a, own->num_rows, NULL);
}
