/* material.c - the extension LOOM_MATERIAL: material coordinates and pieces of all cloth. */
#include "loom/material.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scene/base/build.h"

typedef struct material_arrays {
  loom_real *uv, *area;
  int32_t *piece;
} material_arrays;

static int needs_material(const builder *b)
{
  for (int k = 0; k < b->num_objects; ++k)
    if (b->objects[k].m.uv != NULL || b->objects[k].m.rest != NULL) return 1;
  return 0;
}

/* Rows of one object's triangles; `pieces` are its own. */
static void fill_tris(const object *o, const material_arrays *a, loom_piece *pieces)
{
  const mesh *const m = &o->m;
  for (int64_t t = 0; t < m->num_tris; ++t) {
    const int64_t g = o->first_tri + t;
    int given = m->uv != NULL;
    for (int k = 0; k < 6 && given; ++k) given = isfinite(m->uv[6 * t + k]);
    for (int k = 0; k < 6; ++k) a->uv[6 * g + k] = given ? (loom_real)m->uv[6 * t + k] : 0;
    a->area[g] = (loom_real)build_rest_area(o, t);
    a->piece[g] = !given ? -1 : m->piece != NULL ? m->piece[t] : 0;
    if (!given) continue;
    loom_piece *const p = &pieces[a->piece[g]];
    for (int k = 0; k < 6; ++k) {
      p->lo[k % 2] = fmin(p->lo[k % 2], m->uv[6 * t + k]);
      p->hi[k % 2] = fmax(p->hi[k % 2], m->uv[6 * t + k]);
    }
    ++p->num_tris;
  }
}

/* Compacts the pieces all[*first ..] of an object to the ones with triangles and names them; *first
 * then points behind them. */
static loom_status close_up(builder *b, const object *o, int index, loom_piece *all, int32_t num,
                            int32_t *piece, int32_t *first)
{
  const loom_piece *const pieces = all + *first; /* never written before it is read */
  int32_t *number;
  char *name;
  LOOM_TRY(mesh_alloc(b->err, num, sizeof *number, &number));
  loom_status s = LOOM_OK;
  for (int32_t p = 0; p < num && s == LOOM_OK; ++p) {
    if (pieces[p].num_tris == 0) continue;
    const char *const text = o->m.piece != NULL ? o->m.piece_names[p] : o->name;
    s = build_copy(b, text, &name);
    if (s != LOOM_OK) break;
    number[p] = *first;
    all[*first] = pieces[p];
    all[*first].name = name;
    all[*first].object = index;
    b->s->material->num_pieces = ++*first;
  }
  for (int64_t t = 0; t < o->m.num_tris && s == LOOM_OK; ++t)
    if (piece[o->first_tri + t] >= 0) piece[o->first_tri + t] = number[piece[o->first_tri + t]];
  free(number);
  return s;
}

static int32_t most_pieces(const object *o)
{
  if (o->m.uv == NULL) return 0;
  return o->m.piece != NULL ? o->m.num_pieces : 1;
}

static loom_status fill_material_arrays(builder *b, const material_arrays *a, loom_piece *pieces)
{
  int32_t first = 0;
  for (int k = 0; k < b->num_objects; ++k) {
    const object *const o = &b->objects[k];
    const int32_t num = most_pieces(o);
    for (int32_t p = 0; p < num; ++p)
      pieces[first + p] = (loom_piece){.lo = {INFINITY, INFINITY}, .hi = {-INFINITY, -INFINITY}};
    fill_tris(o, a, pieces + first);
    LOOM_TRY(close_up(b, o, k, pieces, num, a->piece, &first));
  }
  return LOOM_OK;
}

loom_status build_material(builder *b)
{
  scene_data *const s = b->s;
  const int64_t nt = s->pub.num_tris;
  material_arrays a;
  loom_material *m;
  loom_piece *pieces;
  int64_t num = 0;
  if (!needs_material(b)) return LOOM_OK;
  for (int k = 0; k < b->num_objects; ++k) num += most_pieces(&b->objects[k]);
  LOOM_TRY(mesh_alloc(b->err, 1, sizeof *m, &m));
  s->material = m;
  m->struct_size = sizeof *m;
  LOOM_TRY(mesh_alloc(b->err, num, sizeof *pieces, &pieces));
  m->pieces = pieces;
  LOOM_TRY(build_new(b, "uv", LOOM_REAL, 6 * nt, &m->uv));
  LOOM_TRY(build_new(b, "piece", LOOM_I32, nt, &m->piece));
  LOOM_TRY(build_new(b, "rest_area", LOOM_REAL, nt, &m->area));
  LOOM_TRY(build_map(b, m->uv, &a.uv));
  LOOM_TRY(build_map(b, m->piece, &a.piece));
  LOOM_TRY(build_map(b, m->area, &a.area));
  LOOM_TRY(fill_material_arrays(b, &a, pieces));
  LOOM_TRY(buf_unmap(s->m, m->uv));
  LOOM_TRY(buf_unmap(s->m, m->piece));
  LOOM_TRY(buf_unmap(s->m, m->area));
  return build_extend(b, LOOM_MATERIAL, m);
}

void build_free_material(scene_data *s)
{
  loom_material *const m = s->material;
  if (m == NULL) return;
  for (int32_t k = 0; k < m->num_pieces; ++k) free((void *)(uintptr_t)m->pieces[k].name);
  free((void *)(uintptr_t)m->pieces);
  buf_free(s->m, m->uv);
  buf_free(s->m, m->piece);
  buf_free(s->m, m->area);
  free(m);
}
