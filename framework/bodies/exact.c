/* exact.c - kind of field: the distance to the skin itself. */
#include "bodies/exact.h"

#include <stdlib.h>
#include <string.h>

#include "bodies/bend_field.h"
#include "bodies/body.h"

static const lk_real just_outside = LK_R(1e-4); /* m */

/* ---- the hierarchy ---- */

loom_status exact_plan_open(loom_err *err, const mesh *skin, exact_plan *p)
{
  p->skin = skin;
  LOOM_TRY(bvh_build(err, skin->x, skin->tris, skin->num_tris, &p->tree));
  p->view = bvh_look(p->tree);
  return LOOM_OK;
}

void exact_plan_close(exact_plan *p) { bvh_free(p->tree); }

static int64_t nodes_bytes(const exact_plan *p)
{
  return p->view.num_nodes * (int64_t)sizeof(exact_node);
}

static int64_t tris_bytes(const exact_plan *p)
{
  return p->skin->num_tris * (int64_t)sizeof(exact_tri);
}

int64_t exact_bytes(const exact_plan *p)
{
  return nodes_bytes(p) + tris_bytes(p) + 6 * (int64_t)sizeof(lk_real) * p->skin->num_verts;
}

static exact_node *nodes_of(exact_field *f)
{
  return (exact_node *)(void *)((unsigned char *)f + f->nodes_at);
}

static exact_tri *tris_of(exact_field *f)
{
  return (exact_tri *)(void *)((unsigned char *)f + f->tris_at);
}

/* Triangles stand in the order of the leaves. */
void exact_settle(const exact_plan *p, int64_t at, exact_field *f)
{
  f->num_nodes = p->view.num_nodes;
  f->num_tris = p->skin->num_tris;
  f->num_verts = p->skin->num_verts;
  f->verts_at = at; /* the array with the longest words first */
  f->nodes_at = at + 6 * (int64_t)sizeof(lk_real) * f->num_verts;
  f->tris_at = f->nodes_at + nodes_bytes(p);
  for (int32_t k = 0; k < f->num_nodes; ++k) {
    nodes_of(f)[k].first = p->view.nodes[k].first;
    nodes_of(f)[k].count = p->view.nodes[k].count;
  }
  for (int32_t k = 0; k < f->num_tris; ++k)
    memcpy(tris_of(f)[k].v, p->skin->tris + 3 * (int64_t)p->view.order[k], 3 * sizeof(int32_t));
}

static void grow_node_box(exact_node *n, const lk_real *lo, const lk_real *hi)
{
  for (int c = 0; c < 3; ++c) {
    n->lo[c] = LK_FMIN(n->lo[c], lo[c]);
    n->hi[c] = LK_FMAX(n->hi[c], hi[c]);
  }
}

/* Children stand behind their parents. */
static void fit_boxes(exact_field *f)
{
  exact_node *const nodes = nodes_of(f);
  for (int32_t k = f->num_nodes - 1; k >= 0; --k) {
    exact_node *const n = &nodes[k];
    for (int c = 0; c < 3; ++c) n->lo[c] = LK_REAL_MAX, n->hi[c] = -LK_REAL_MAX;
    if (n->count == 0) {
      grow_node_box(n, nodes[k + 1].lo, nodes[k + 1].hi);
      grow_node_box(n, nodes[n->first].lo, nodes[n->first].hi);
    }
    for (int32_t t = n->first; t < n->first + n->count; ++t)
      for (int a = 0; a < 6; ++a) {
        lk_real x[3];
        exact_vertex(f, a < 3 ? LK_R(0.0) : LK_R(1.0), tris_of(f)[t].v[a % 3], x);
        grow_node_box(n, x, x);
      }
  }
}

/* Whether the skin winds around a point just outside of the middle of a part. */
static int part_buried(const exact_field *f, const lk_real *x, const lk_real *n, int32_t k)
{
  lk_real part[9], p[3];
  exact_part(x, k, part);
  for (int c = 0; c < 3; ++c)
    p[c] = (part[c] + part[3 + c] + part[6 + c]) / LK_R(3.0) + just_outside * n[c];
  return exact_winding(f, LK_R(1.0), p) > 0;
}

/* The parts at the corners and one in the middle are asked first: mostly they agree. */
static int32_t find_exposed_parts(const exact_field *f, const exact_tri *t)
{
  static const int32_t first[4] = {0, 9, 15, 5};
  lk_real x[9], n[3];
  int32_t bits = 0, buried = 0;
  exact_corners(f, LK_R(1.0), t, x);
  exact_normal(x, n);
  for (int k = 0; k < 4; ++k) buried += part_buried(f, x, n, first[k]);
  if (buried == 0 || buried == 4) return buried == 0 ? EXACT_WHOLE : 0;
  for (int32_t k = 0; k < EXACT_CUTS * EXACT_CUTS; ++k)
    if (!part_buried(f, x, n, k)) bits |= 1 << k;
  return bits;
}

loom_status exact_fit(loom_err *err, const exact_plan *p, const double *x0, const double *x1,
                      exact_field *f)
{
  const int64_t numbers = 3 * (int64_t)f->num_verts;
  lk_real *const x = (lk_real *)(void *)((unsigned char *)f + f->verts_at);
  exact_tri *const tris = tris_of(f);
  int32_t exposed = 0;
  (void)p;
  for (int64_t i = 0; i < numbers; ++i) {
    x[i] = (lk_real)x0[i];
    x[numbers + i] = (lk_real)x1[i];
  }
  fit_boxes(f);
#pragma omp parallel for schedule(dynamic, 64) reduction(+ : exposed)
  for (int32_t t = 0; t < f->num_tris; ++t) {
    tris[t].exposed = find_exposed_parts(f, &tris[t]);
    exposed += tris[t].exposed != 0;
  }
  if (exposed > 0) return LOOM_OK;
  return err_set(err, LOOM_E_CONFIG,
                 "no triangle of the skin has its outside outside; its triangles must be turned");
}

/* ---- the field ---- */

static loom_status exact_field_open(loom_err *err, body_field *f)
{
  exact_plan *p;
  LOOM_TRY(mesh_alloc(err, 1, sizeof *p, &p));
  f->own = p;
  LOOM_TRY(exact_plan_open(err, &f->body->skin, p));
  f->own_bytes = exact_bytes(p);
  return LOOM_OK;
}

static exact_field *get_exact_field(body_field *f) { return (exact_field *)(void *)f->block; }

static void exact_field_settle(body_field *f)
{
  exact_settle(f->own, get_exact_field(f)->b.own_at, get_exact_field(f));
  get_exact_field(f)->layer = (lk_real)f->opt.layer;
}

static loom_status exact_field_step(loom_err *err, body_field *f)
{
  return exact_fit(err, f->own, f->x[0], f->x[1], get_exact_field(f));
}

static void exact_field_close(body_field *f)
{
  if (f->own == NULL) return;
  exact_plan_close(f->own);
  free(f->own);
}

const field_kind field_exact = {.head = sizeof(exact_field),
                                .open = exact_field_open,
                                .settle = exact_field_settle,
                                .step = exact_field_step,
                                .close = exact_field_close};
const body_kind body_exact = {.name = "exact", .shape = BODY_SHAPE_exact};
