/* level_set.c - surface nets, evened. */
#include "rig/level_set.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mesh/topo.h"

enum { ROUNDS = 20 }; /* of evening; more change vertices by less than a hundredth of an edge */

typedef struct net {
  loom_err *err;
  const level_set *f;
  double edge;   /* m */
  int32_t n[3];  /* nodes, odd numbers: the middle of the box is one */
  double low[3]; /* m, the first node */
  double *value; /* [n2][n1][n0] */
  int32_t *vert; /* of the cell with that lowest node, -1: none */
  mesh *m;
} net;

static int64_t net_node_index(const net *g, int32_t i, int32_t j, int32_t k)
{
  return i + g->n[0] * (j + (int64_t)g->n[1] * k);
}

static void net_node_position(const net *g, const int32_t i[3], double p[3])
{
  for (int c = 0; c < 3; ++c) p[c] = g->low[c] + g->edge * i[c];
}

static loom_status sample_net_nodes(net *g)
{
  double nodes = 1;
  for (int c = 0; c < 3; ++c) {
    const double half = ceil(0.5 * (g->f->high[c] - g->f->low[c]) / g->edge), cells = 2 * half;
    g->low[c] = 0.5 * (g->f->high[c] + g->f->low[c]) - half * g->edge;
    nodes *= cells + 1;
    if (!(nodes < 1 << 28))
      return err_set(g->err, LOOM_E_CONFIG, "triangles of %g m are too small for this body",
                     g->edge);
    g->n[c] = (int32_t)cells + 1;
  }
  LOOM_TRY(mesh_alloc(g->err, (int64_t)nodes, sizeof *g->value, &g->value));
  LOOM_TRY(mesh_alloc(g->err, (int64_t)nodes, sizeof *g->vert, &g->vert));
  double *to = g->value;
  int32_t i[3];
  for (i[2] = 0; i[2] < g->n[2]; ++i[2])
    for (i[1] = 0; i[1] < g->n[1]; ++i[1])
      for (i[0] = 0; i[0] < g->n[0]; ++i[0]) {
        double p[3];
        net_node_position(g, i, p);
        *to++ = g->f->value(g->f->user, p);
      }
  return LOOM_OK;
}

/* Mean of the places where the 12 edges of a cell cross the surface; 0: none does. */
static int cross_cell(const net *g, const int32_t i[3], double x[3])
{
  int crossed = 0;
  double sum[3] = {0};
  for (int e = 0; e < 12; ++e) {
    const int axis = e / 4, u = (axis + 1) % 3, w = (axis + 2) % 3;
    int32_t a[3] = {i[0], i[1], i[2]}, b[3];
    a[u] += e & 1;
    a[w] += (e >> 1) & 1;
    memcpy(b, a, sizeof b);
    ++b[axis];
    const double fa = g->value[net_node_index(g, a[0], a[1], a[2])];
    const double fb = g->value[net_node_index(g, b[0], b[1], b[2])];
    double p[3];
    if ((fa < 0) == (fb < 0)) continue;
    net_node_position(g, a, p);
    p[axis] += g->edge * fa / (fa - fb);
    for (int c = 0; c < 3; ++c) sum[c] += p[c];
    ++crossed;
  }
  for (int c = 0; c < 3 && crossed > 0; ++c) x[c] = sum[c] / crossed;
  return crossed;
}

static loom_status create_net_verts(net *g)
{
  int32_t i[3];
  for (int pass = 0; pass < 2; ++pass) { /* the first one counts */
    int32_t num = 0;
    for (i[2] = 0; i[2] + 1 < g->n[2]; ++i[2])
      for (i[1] = 0; i[1] + 1 < g->n[1]; ++i[1])
        for (i[0] = 0; i[0] + 1 < g->n[0]; ++i[0]) {
          double x[3];
          if (cross_cell(g, i, x) == 0) continue;
          g->vert[net_node_index(g, i[0], i[1], i[2])] = num;
          if (pass == 1) memcpy(g->m->x + 3 * num, x, sizeof x);
          ++num;
        }
    if (pass == 1) return LOOM_OK;
    g->m->num_verts = num;
    LOOM_TRY(mesh_alloc(g->err, 3 * (int64_t)num, sizeof *g->m->x, &g->m->x));
  }
  return LOOM_OK;
}

static double net_diagonal_length2(const double *x, int32_t a, int32_t b)
{
  double s = 0;
  for (int c = 0; c < 3; ++c) s += (x[3 * a + c] - x[3 * b + c]) * (x[3 * a + c] - x[3 * b + c]);
  return s;
}

/* The quadrilateral of the edge from node i along `axis`, cut along its shorter diagonal. */
static void append_net_quad(net *g, const int32_t i[3], int axis, int outwards)
{
  const int u = (axis + 1) % 3, w = (axis + 2) % 3;
  int32_t q[4];
  for (int k = 0; k < 4; ++k) { /* counter-clockwise around the axis */
    static const int back[4][2] = {{1, 1}, {0, 1}, {0, 0}, {1, 0}};
    int32_t cell[3] = {i[0], i[1], i[2]};
    cell[u] -= back[k][0];
    cell[w] -= back[k][1];
    q[outwards ? k : 3 - k] = g->vert[net_node_index(g, cell[0], cell[1], cell[2])];
  }
  /* the margin decides where both are equal but for rounding, as on planes of symmetry */
  const double *const x = g->m->x;
  const int other =
      net_diagonal_length2(x, q[1], q[3]) < (1 - 1e-6) * net_diagonal_length2(x, q[0], q[2]);
  const int32_t t[2][6] = {{q[0], q[1], q[2], q[0], q[2], q[3]},
                           {q[1], q[2], q[3], q[1], q[3], q[0]}};
  memcpy(g->m->tris + 3 * g->m->num_tris, t[other], sizeof t[0]);
  g->m->num_tris += 2;
}

/* 1: the edge from node i along `axis` crosses the surface, and lies between four cells. */
static int is_net_edge_crossed(const net *g, const int32_t i[3], int axis)
{
  const int u = (axis + 1) % 3, w = (axis + 2) % 3;
  int32_t b[3] = {i[0], i[1], i[2]};
  if (i[u] == 0 || i[w] == 0 || i[u] + 1 >= g->n[u] || i[w] + 1 >= g->n[w] ||
      i[axis] + 1 >= g->n[axis])
    return 0;
  ++b[axis];
  return (g->value[net_node_index(g, i[0], i[1], i[2])] < 0) !=
         (g->value[net_node_index(g, b[0], b[1], b[2])] < 0);
}

static loom_status put_quads(net *g)
{
  int32_t i[3];
  for (int pass = 0; pass < 2; ++pass) { /* the first one counts */
    int64_t num = 0;
    for (i[2] = 0; i[2] < g->n[2]; ++i[2])
      for (i[1] = 0; i[1] < g->n[1]; ++i[1])
        for (i[0] = 0; i[0] < g->n[0]; ++i[0])
          for (int axis = 0; axis < 3; ++axis) {
            if (!is_net_edge_crossed(g, i, axis)) continue;
            if (pass == 1)
              append_net_quad(g, i, axis, g->value[net_node_index(g, i[0], i[1], i[2])] < 0);
            num += 2;
          }
    if (pass == 0) LOOM_TRY(mesh_alloc(g->err, 3 * num, sizeof *g->m->tris, &g->m->tris));
  }
  return LOOM_OK;
}

/* Newton's method along the gradient, by central differences; axis 1 last, as f may keep a part
 * of its work while axis 1 stays (lower_body.c). */
static void onto_surface(const level_set *f, double h, double p[3])
{
  for (int round = 0; round < 3; ++round) {
    const double v = f->value(f->user, p);
    double g[3];
    for (int k = 0; k < 3; ++k) {
      static const int order[3] = {0, 2, 1};
      const int c = order[k];
      double a[3] = {p[0], p[1], p[2]}, b[3] = {p[0], p[1], p[2]};
      a[c] -= h;
      b[c] += h;
      g[c] = (f->value(f->user, b) - f->value(f->user, a)) / (2 * h);
    }
    const double sum = g[0] * g[0] + g[1] * g[1] + g[2] * g[2];
    if (!(sum > 0)) return;
    for (int c = 0; c < 3; ++c) p[c] -= v * g[c] / sum;
  }
}

/* Each vertex half way to the mean of its neighbours, all at once. */
static void towards_neighbours(const topo *tp, mesh *m, double *sum, int32_t *count)
{
  memset(sum, 0, 3 * (size_t)m->num_verts * sizeof *sum);
  memset(count, 0, (size_t)m->num_verts * sizeof *count);
  for (int64_t e = 0; e < tp->num_edges; ++e)
    for (int k = 0; k < 2; ++k) {
      const int32_t a = tp->edges[2 * e + k], b = tp->edges[2 * e + 1 - k];
      for (int c = 0; c < 3; ++c) sum[3 * a + c] += m->x[3 * b + c];
      ++count[a];
    }
  for (int32_t v = 0; v < m->num_verts; ++v)
    for (int c = 0; c < 3; ++c)
      m->x[3 * v + c] = 0.5 * (m->x[3 * v + c] + sum[3 * v + c] / count[v]);
}

static loom_status smooth_net(net *g)
{
  topo tp;
  double *sum = NULL;
  int32_t *count = NULL;
  LOOM_TRY(topo_build(g->err, g->m->tris, g->m->num_tris, g->m->num_verts, &tp));
  loom_status s = mesh_alloc(g->err, 3 * (int64_t)g->m->num_verts, sizeof *sum, &sum);
  if (s == LOOM_OK) s = mesh_alloc(g->err, g->m->num_verts, sizeof *count, &count);
  for (int round = 0; round < ROUNDS && s == LOOM_OK; ++round) {
    towards_neighbours(&tp, g->m, sum, count);
    for (int32_t v = 0; v < g->m->num_verts; ++v)
      onto_surface(g->f, 1e-3 * g->edge, g->m->x + 3 * v);
  }
  free(sum);
  free(count);
  topo_free(&tp);
  return s;
}

loom_status level_set_mesh(loom_err *err, const level_set *f, double edge, mesh *out)
{
  net g = {.err = err, .f = f, .edge = edge, .m = out};
  memset(out, 0, sizeof *out);
  loom_status s = sample_net_nodes(&g);
  if (s == LOOM_OK) s = create_net_verts(&g);
  if (s == LOOM_OK) s = put_quads(&g);
  if (s == LOOM_OK) s = smooth_net(&g);
  free(g.value);
  free(g.vert);
  if (s != LOOM_OK) mesh_free(out);
  return s;
}
