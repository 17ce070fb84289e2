/* entries.c - the search of entries.h: which triangles, their order, and the list. */
#include "bodies/entries.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bodies/entry_search.h"
#include "mesh/mesh.h"

enum { BLOCK = 64 }; /* triangles that are culled together, and make one list */

typedef struct finds { /* of one block */
  entry *items;
  int64_t num, room;
  int failed; /* out of memory */
} finds;

int entries_sees(const obst_view *o) { return o->shape >= 0 && o->shape < BODY_SHAPE_grid; }

/* ---- one triangle ---- */

static int compare_ids(const void *a, const void *b)
{
  const int32_t p = *(const int32_t *)a, q = *(const int32_t *)b;
  return (p > q) - (p < q);
}

static void append_entry(finds *f, int32_t body, const int32_t *v, entry_found found)
{
  if (f->num == f->room) {
    const int64_t room = f->room > 0 ? 2 * f->room : 16;
    entry *const more = realloc(f->items, (size_t)room * sizeof *more);
    if (more == NULL) {
      f->failed = 1;
      return;
    }
    f->items = more;
    f->room = room;
  }
  f->items[f->num++] = (entry){.body = body,
                               .v = {v[0], v[1], v[2]},
                               .depth = found.depth,
                               .time = found.time,
                               .unsure = found.unsure};
}

/* v[2] is -1: of an edge. */
static int search_element(const entry_mesh *m, const obst_view *o, int32_t body, const int32_t *v,
                          finds *f)
{
  entry_element e;
  entry_found found;
  entry_element_set(&e, o, m->x_start, m->x, v, v[2] < 0 ? 2 : 3);
  if (!entry_search(&e, &found)) return 0;
  append_entry(f, body, v, found);
  return 1;
}

/* Its edges lie in it: where it is outside, they are. */
static void look_at_triangle(const entry_mesh *m, const obst_view *o, int32_t body,
                             const int32_t *tri, finds *f)
{
  int32_t v[3] = {tri[0], tri[1], tri[2]};
  entry_element e;
  qsort(v, 3, sizeof *v, compare_ids);
  entry_element_set(&e, o, m->x_start, m->x, v, 3);
  if (entry_outside(&e)) return;
  int edges = 0;
  for (int k = 0; k < 3 && m->x_start == NULL; ++k) {
    const int32_t side[3] = {v[k == 2], v[1 + (k > 0)], -1};
    edges += search_element(m, o, body, side, f);
  }
  if (edges == 0) search_element(m, o, body, v, f);
}

/* ---- blocks of triangles ---- */

static void ball_of(const entry_mesh *m, int64_t first, int64_t end, double centre[3],
                    double *radius)
{
  double lo[3] = {INFINITY, INFINITY, INFINITY}, hi[3] = {-INFINITY, -INFINITY, -INFINITY}, d2 = 0;
  for (int64_t k = 3 * first; k < 3 * end; ++k)
    for (int c = 0; c < 3; ++c) {
      const int64_t i = 3 * (int64_t)m->tris[k] + c;
      const double from = m->x_start != NULL ? m->x_start[i] : m->x[i];
      lo[c] = fmin(lo[c], fmin(from, m->x[i]));
      hi[c] = fmax(hi[c], fmax(from, m->x[i]));
    }
  for (int c = 0; c < 3; ++c) {
    centre[c] = 0.5 * (lo[c] + hi[c]);
    d2 += 0.25 * (hi[c] - lo[c]) * (hi[c] - lo[c]);
  }
  *radius = sqrt(d2);
}

static void look_at_block(const entry_mesh *m, const obst_view *bodies, int num, int64_t first,
                          finds *f)
{
  const int64_t end = first + BLOCK < m->nt ? first + BLOCK : m->nt;
  double centre[3], radius;
  ball_of(m, first, end, centre, &radius);
  for (int32_t b = 0; b < num; ++b) {
    if (!entries_sees(&bodies[b])) continue;
    if (entry_ball_outside(&bodies[b], m->x_start != NULL, centre, radius)) continue;
    for (int64_t t = first; t < end; ++t) look_at_triangle(m, &bodies[b], b, m->tris + 3 * t, f);
  }
}

/* ---- the list ---- */

static int compare_entries(const void *a, const void *b)
{
  const entry *const p = a, *const q = b;
  const int32_t keys[5][2] = {{p->body, q->body},
                              {p->v[2] >= 0, q->v[2] >= 0},
                              {p->v[0], q->v[0]},
                              {p->v[1], q->v[1]},
                              {p->v[2], q->v[2]}};
  for (int k = 0; k < 5; ++k)
    if (keys[k][0] != keys[k][1]) return keys[k][0] < keys[k][1] ? -1 : 1;
  return 0;
}

/* An edge is found from each of its triangles. */
static loom_status merge_entry_blocks(loom_err *err, const finds *blocks, int64_t num_blocks,
                                      entry_list *out)
{
  int64_t total = 0, kept = 0;
  for (int64_t k = 0; k < num_blocks; ++k) {
    if (blocks[k].failed) return err_set(err, LOOM_E_NOMEM, "out of memory for the audit");
    total += blocks[k].num;
  }
  LOOM_TRY(mesh_alloc(err, total + 1, sizeof *out->all, &out->all));
  for (int64_t k = 0; k < num_blocks; ++k) {
    if (blocks[k].num > 0)
      memcpy(out->all + out->num, blocks[k].items, (size_t)blocks[k].num * sizeof(entry));
    out->num += blocks[k].num;
  }
  qsort(out->all, (size_t)out->num, sizeof *out->all, compare_entries);
  for (int64_t k = 0; k < out->num; ++k)
    if (kept == 0 || compare_entries(&out->all[k], &out->all[kept - 1]) != 0)
      out->all[kept++] = out->all[k];
  out->num = kept;
  for (int64_t k = 0; k < kept; ++k)
    if (out->deepest.body < 0 || out->all[k].depth > out->deepest.depth) out->deepest = out->all[k];
  return LOOM_OK;
}

loom_status entries_find(loom_err *err, const entry_mesh *m, const obst_view *bodies, int num,
                         int threads, entry_list *out)
{
  const int64_t num_blocks = (m->nt + BLOCK - 1) / BLOCK;
  finds *blocks = NULL;
  *out = (entry_list){.deepest = {.body = -1}};
  LOOM_TRY(mesh_alloc(err, num_blocks, sizeof *blocks, &blocks)); /* of zeros */
#pragma omp parallel for schedule(dynamic) num_threads(threads > 0 ? threads : 1)
  for (int64_t k = 0; k < num_blocks; ++k) look_at_block(m, bodies, num, k * BLOCK, &blocks[k]);
  const loom_status s = merge_entry_blocks(err, blocks, num_blocks, out);
  for (int64_t k = 0; k < num_blocks; ++k) free(blocks[k].items);
  free(blocks);
  return s;
}

void entries_free(entry_list *l)
{
  free(l->all);
  *l = (entry_list){.deepest = {.body = -1}};
}

void entry_describe(const entry *e, const char *body, char *buf, size_t len)
{
  char what[64];
  if (e->v[2] < 0)
    snprintf(what, sizeof what, "edge %d-%d", (int)e->v[0], (int)e->v[1]);
  else
    snprintf(what, sizeof what, "triangle (%d %d %d)", (int)e->v[0], (int)e->v[1], (int)e->v[2]);
  if (e->unsure)
    snprintf(buf, len, "%s and body %s, undecided", what, body);
  else
    snprintf(buf, len, "%s is %.3g m deep in body %s", what, e->depth, body);
}
