/* layers.c - layers that lie at one place, which no contour parts: they have no direction to go. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "audit/isect_tree.h"
#include "geom/distance.kern.h"
#include "geom/vec3.h"
#include "mesh/mesh.h"
#include "untangle/untangle.h"

/* Triangles coincide where a vertex of one is nearer to the other than this share of the thickness,
 * or of a mean edge, and their normals differ by less than 25 degrees. */
static const double of_thickness = 1e-3, of_edge = 1e-6, parallel = 0.9;
/* Gap between two layers: this much of the sum of their radii, or of a mean edge. */
static const double apart = 1.05, apart_edge = 1e-3;

enum { MOST_LAYERS = 16 }; /* at one place */

/* Vertex v lies on the surface of a piece. */
typedef struct touch {
  int32_t v, piece;
  int32_t order; /* of the triangle: sums are in a fixed order */
  int32_t held;  /* 1: the touched side does not move */
  double n[3];   /* unit, of that surface */
  double radius; /* m, of that surface */
} touch;

typedef struct layers {
  const untangle_scene *s;
  int32_t *piece; /* [n + nb] least vertex of the connected piece */
  double *normal; /* [n + nb][3] unit; 0: none */
  double edge;    /* m, mean */
  touch *all;     /* [num] */
  int64_t num, room;
  int failed; /* out of memory */
} layers;

/* ---- pieces and normals ---- */

static int32_t find_layer_root(int32_t *up, int32_t v)
{
  while (up[v] != v) v = up[v] = up[up[v]];
  return v;
}

static void find_layer_pieces(layers *l)
{
  const untangle_scene *const s = l->s;
  for (int64_t v = 0; v < s->n + s->nb; ++v) l->piece[v] = (int32_t)v;
  for (int64_t k = 0; k < 3 * (s->nt + s->ntb); ++k) {
    const int32_t a = find_layer_root(l->piece, s->tris[k]),
                  b = find_layer_root(l->piece, s->tris[k - k % 3]);
    l->piece[a > b ? a : b] = a < b ? a : b;
  }
  for (int64_t v = 0; v < s->n + s->nb; ++v) l->piece[v] = find_layer_root(l->piece, (int32_t)v);
}

static void triangle_normal(const untangle_scene *s, int64_t t, double *n)
{
  const int32_t *const v = s->tris + 3 * t;
  double e[3], f[3];
  vec3_sub(s->x + 3 * (int64_t)v[1], s->x + 3 * (int64_t)v[0], e);
  vec3_sub(s->x + 3 * (int64_t)v[2], s->x + 3 * (int64_t)v[0], f);
  vec3_cross(e, f, n);
}

static int normalise_or_clear(double *a)
{
  const double len = vec3_norm(a);
  for (int c = 0; c < 3; ++c) a[c] = len > 0 ? a[c] / len : 0;
  return len > 0;
}

static void find_normals(layers *l)
{
  const untangle_scene *const s = l->s;
  for (int64_t t = 0; t < s->nt + s->ntb; ++t) {
    double n[3];
    triangle_normal(s, t, n); /* weighted by area */
    for (int k = 0; k < 3; ++k)
      for (int c = 0; c < 3; ++c) l->normal[3 * (int64_t)s->tris[3 * t + k] + c] += n[c];
  }
  for (int64_t v = 0; v < s->n + s->nb; ++v) (void)normalise_or_clear(l->normal + 3 * v);
}

/* ---- touching pieces ---- */

static void append_touch(layers *l, const touch *t)
{
  if (l->num == l->room) {
    const int64_t room = l->room > 0 ? 2 * l->room : 1024;
    touch *const more = realloc(l->all, (size_t)room * sizeof *more);
    if (more == NULL) {
      l->failed = 1;
      return;
    }
    l->all = more;
    l->room = room;
  }
  l->all[l->num++] = *t;
}

static int is_vertex_held(const untangle_scene *s, int32_t v)
{
  return v >= s->n || (s->held != NULL && s->held[v]);
}

static int is_sewn_to_triangle(const untangle_scene *s, int32_t v, const int32_t *t)
{
  for (int k = 0; k < 3; ++k)
    if (v == t[k] || (s->left_out != NULL && isect_is_left_out(s->left_out, v, t[k]))) return 1;
  return 0;
}

/* Vertex v against triangle number t of another layer: each touches the surface of the other. */
static void test_layer_touch(layers *l, int32_t v, int32_t t)
{
  const untangle_scene *const s = l->s;
  const int32_t *const corner = s->tris + 3 * (int64_t)t;
  const double reach =
      fmax(of_thickness * (s->radius[v] + s->radius[corner[0]]), of_edge * l->edge);
  const double *const nv = l->normal + 3 * (int64_t)v;
  double n[3];
  lk_real x[12], w[4];
  if (is_sewn_to_triangle(s, v, corner)) return;
  for (int c = 0; c < 3; ++c) x[c] = (lk_real)s->x[3 * (int64_t)v + c];
  for (int k = 0; k < 9; ++k) x[3 + k] = (lk_real)s->x[3 * (int64_t)corner[k / 3] + k % 3];
  if (!((double)dist_vt(x, w) <= reach * reach)) return;
  triangle_normal(s, t, n);
  if (!normalise_or_clear(n) || fabs(vec3_dot(n, nv)) < parallel) return;
  touch one = {.v = v,
               .piece = l->piece[corner[0]],
               .order = t,
               .held = is_vertex_held(s, corner[0]) || is_vertex_held(s, corner[1]) ||
                       is_vertex_held(s, corner[2]),
               .radius = s->radius[corner[0]]};
  memcpy(one.n, n, sizeof n);
  append_touch(l, &one);
  for (int k = 0; k < 3; ++k) {
    touch other = {.v = corner[k],
                   .piece = l->piece[v],
                   .order = v,
                   .held = is_vertex_held(s, v),
                   .radius = s->radius[v]};
    memcpy(other.n, nv, sizeof other.n);
    append_touch(l, &other);
  }
}

static void test_layer_triangles(void *user, int32_t a, int32_t b)
{
  layers *const l = user;
  if (a >= l->s->nt && b >= l->s->nt) return; /* of bodies */
  for (int k = 0; k < 3; ++k) {
    test_layer_touch(l, l->s->tris[3 * (int64_t)a + k], b);
    test_layer_touch(l, l->s->tris[3 * (int64_t)b + k], a);
  }
}

static loom_status find_touches(loom_err *err, layers *l)
{
  const untangle_scene *const s = l->s;
  const int64_t nt = s->nt + s->ntb;
  isect_box *boxes;
  isect_tree tree = {0};
  LOOM_TRY(mesh_alloc(err, nt, sizeof *boxes, &boxes));
  for (int64_t t = 0; t < nt; ++t) {
    const double wide =
        fmax(of_thickness * s->radius[s->tris[3 * t]], of_edge * l->edge); /* each side */
    boxes[t] = isect_box_points(s->x, s->tris + 3 * t, 3);
    for (int c = 0; c < 3; ++c) boxes[t].lo[c] -= wide, boxes[t].hi[c] += wide;
  }
  const int built = isect_tree_build(&tree, boxes, nt);
  free(boxes);
  for (int32_t leaf = 0; built && leaf < tree.num_leaves; ++leaf)
    isect_tree_self(&tree, leaf, test_layer_triangles, l);
  isect_tree_free(&tree);
  if (built && !l->failed) return LOOM_OK;
  return err_set(err, LOOM_E_NOMEM, "no memory to look for layers at one place");
}

static int compare_layer_touches(const void *a, const void *b)
{
  const touch *const p = a, *const q = b;
  if (p->v != q->v) return p->v < q->v ? -1 : 1;
  if (p->piece != q->piece) return p->piece < q->piece ? -1 : 1;
  return (p->order > q->order) - (p->order < q->order);
}

/* ---- moves ---- */

/* The layers at a vertex, outermost first: the earlier ones of the scene, bodies last. */
typedef struct stack {
  int num, own; /* number of the vertex's own layer */
  struct {
    int32_t piece;
    int held;
    double n[3], radius;
  } at[MOST_LAYERS];
} stack;

static void insert_layer(stack *k, int32_t piece, const double *n, double radius, int held)
{
  for (int i = 0; i < k->num; ++i)
    if (k->at[i].piece == piece) {
      k->at[i].held |= held;
      return;
    }
  if (k->num == MOST_LAYERS) return;
  int i = k->num++;
  for (; i > 0 && k->at[i - 1].piece > piece; --i) k->at[i] = k->at[i - 1];
  k->at[i].piece = piece;
  k->at[i].held = held;
  k->at[i].radius = radius;
  memcpy(k->at[i].n, n, sizeof k->at[i].n);
}

/* One piece that is folded flat onto itself, so that its layers face away from each other: each
 * layer moves its own way, by half of the distance that they lack. */
static double compute_fold_offset(const layers *l, const touch *t, int64_t num)
{
  const double *const own = l->normal + 3 * (int64_t)t->v;
  for (int64_t i = 0; i < num; ++i)
    if (vec3_dot(t[i].n, own) > 0) return 0;
  return fmax(apart * l->s->radius[t->v], 0.5 * apart_edge * l->edge);
}

/* Where the vertex of touches t [num] goes: by the share *way (m) of its unit vector n. */
static double compute_layer_offset(const layers *l, const touch *t, int64_t num, double *n)
{
  const untangle_scene *const s = l->s;
  const int32_t v = t->v;
  const double *const own = l->normal + 3 * (int64_t)v;
  double depth[MOST_LAYERS] = {0}, anchor = 0;
  int held = 0;
  stack k = {0};
  insert_layer(&k, l->piece[v], own, s->radius[v], 0);
  for (int64_t i = 0; i < num; ++i)
    if (t[i].piece != l->piece[v]) insert_layer(&k, t[i].piece, t[i].n, t[i].radius, t[i].held);
  memcpy(n, own, 3 * sizeof *n);
  if (k.num == 1) return compute_fold_offset(l, t, num);
  while (k.at[k.own].piece != l->piece[v]) ++k.own;
  /* a body knows which side is out; else the first layer says so */
  const int last = k.num - 1, body = k.at[last].piece >= s->n;
  memcpy(n, k.at[body ? last : 0].n, 3 * sizeof *n);
  for (int i = 0; i < k.num; ++i) {
    depth[i] = i == 0 ? 0
                      : depth[i - 1] + fmax(apart * (k.at[i - 1].radius + k.at[i].radius),
                                            apart_edge * l->edge);
    if (i == k.own || !(k.at[i].held || k.at[i].piece >= s->n)) continue;
    anchor = depth[i];
    held = 1;
  }
  if (!held) anchor = 0.5 * depth[last];
  return anchor - depth[k.own];
}

static int64_t move_layer_verts(layers *l)
{
  int64_t moved = 0;
  for (int64_t i = 0, end; i < l->num; i = end) {
    const int32_t v = l->all[i].v;
    double n[3];
    for (end = i + 1; end < l->num && l->all[end].v == v;) ++end;
    if (is_vertex_held(l->s, v)) continue;
    const double way = compute_layer_offset(l, &l->all[i], end - i, n);
    for (int c = 0; c < 3; ++c) l->s->x[3 * (int64_t)v + c] += way * n[c];
    moved += way != 0;
  }
  return moved;
}

loom_status layers_part(loom_err *err, const untangle_scene *s, double edge, int64_t *moved)
{
  const int64_t all = s->n + s->nb;
  layers l = {.s = s, .edge = edge};
  *moved = 0;
  loom_status st = mesh_alloc(err, all, sizeof *l.piece, &l.piece);
  if (st == LOOM_OK) st = mesh_alloc(err, all, 3 * sizeof *l.normal, &l.normal);
  if (st == LOOM_OK) {
    find_layer_pieces(&l);
    find_normals(&l);
    st = find_touches(err, &l);
  }
  if (st == LOOM_OK && l.num > 0) {
    qsort(l.all, (size_t)l.num, sizeof *l.all, compare_layer_touches);
    *moved = move_layer_verts(&l);
  }
  free(l.piece);
  free(l.normal);
  free(l.all);
  return st;
}
