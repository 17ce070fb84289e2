/* stuffing.c - see stuffing.h.
 *
 * The lattice has the corners of cubes and their centres, both in arrays of the same size.  A
 * tetrahedron has two neighbouring centres and an edge of the square between them, so it has two
 * long edges (of a cube) and four short ones (corner to centre).  Points that lie near to the
 * surface along an edge are moved onto it; the tetrahedra are then cut where their edges change
 * sign.
 */
#include "mesh/stuffing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mesh/tet_surface.h"
#include "mesh/topo.h"

enum { LONG = 6, WAYS = 14, BISECTIONS = 40, NUM_SHIFTS = 12 };
/* Shares of long and short edges within which a point is moved: table 1 of the paper. */
static const double near_long = 0.24999, near_short = 0.41189;

typedef struct lattice {
  stuffing_sign sign;
  const void *shape;
  double lo[3], cell;              /* m */
  int64_t n[3], stride[3], points; /* of corners; centres follow with ids from points */
  double *value;                   /* [2 points], of sign(); 0 on the surface */
  double *x;                       /* [2 points + num_cuts][3], m */
  int32_t *cut; /* [2 points][WAYS] vertex on the edge of an inner point, or -1 */
  int64_t num_cuts;
  int32_t *tets; /* [num_tets][4] ids of lattice and cuts */
  int64_t num_tets, room;
  int shift;
} lattice;

static void lattice_place(const lattice *l, int64_t id, double x[3])
{
  const double half = id < l->points ? 0 : 0.5;
  int64_t rest = id % l->points;
  for (int c = 0; c < 3; ++c) {
    x[c] = l->lo[c] + l->cell * ((double)(rest % l->n[c]) + half);
    rest /= l->n[c];
  }
}

/* Difference of ids of the neighbour in a direction: 0 to 5 along the axes, 6 to 13 to the other
 * kind of points. */
static int64_t way_step(const lattice *l, int64_t id, int way)
{
  if (way < LONG) return way % 2 ? l->stride[way / 2] : -l->stride[way / 2];
  const int bits = way - LONG;
  int64_t step = l->points;
  for (int c = 0; c < 3; ++c) step -= (bits >> c & 1) * l->stride[c];
  return id < l->points ? step : -step;
}

static int way_between(const lattice *l, int64_t p, int64_t q)
{
  int way = 0;
  while (way < WAYS - 1 && p + way_step(l, p, way) != q) ++way;
  return way;
}

/* Inner points keep off the ends of the lattice by two cubes, so that they have all neighbours. */
static int lattice_inner(const lattice *l, int64_t id)
{
  int64_t rest = id % l->points;
  for (int c = 0; c < 3; ++c) {
    const int64_t at = rest % l->n[c];
    if (at < 1 || at > l->n[c] - 2) return 0;
    rest /= l->n[c];
  }
  return 1;
}

/* Share of the way from p to q, whose values have different signs, at which the surface lies. */
static double bisect_edge(const lattice *l, int64_t p, int64_t q, double x[3])
{
  double a[3], b[3], low = 0, high = 1;
  lattice_place(l, p, a);
  lattice_place(l, q, b);
  for (int k = 0; k < BISECTIONS; ++k) {
    const double t = 0.5 * (low + high);
    for (int c = 0; c < 3; ++c) x[c] = a[c] + t * (b[c] - a[c]);
    if ((l->sign(l->shape, x) < 0) == (l->value[p] < 0))
      low = t;
    else
      high = t;
  }
  return 0.5 * (low + high);
}

/* Moves points onto the nearest crossing of their edges that is near enough.  Crossings of points
 * that were moved before are gone. */
static void warp_points(lattice *l)
{
  for (int64_t p = 0; p < 2 * l->points; ++p) {
    double best = 1, to[3] = {0};
    if (l->value[p] == 0 || !lattice_inner(l, p)) continue;
    for (int way = 0; way < WAYS; ++way) {
      const int64_t q = p + way_step(l, p, way);
      double x[3];
      if (!(l->value[p] * l->value[q] < 0)) continue;
      const double t = bisect_edge(l, p, q, x), near = way < LONG ? near_long : near_short;
      const double far = way < LONG ? t : t * sqrt(0.75); /* edges of a cube */
      if (t >= near || far >= best) continue;
      best = far;
      memcpy(to, x, sizeof to);
    }
    if (best == 1) continue;
    memcpy(l->x + 3 * p, to, sizeof to);
    l->value[p] = 0;
  }
}

static loom_status cut_edges(loom_err *err, lattice *l)
{
  for (int64_t p = 0; p < 2 * l->points; ++p) {
    if (!(l->value[p] < 0)) continue;
    for (int way = 0; way < WAYS; ++way)
      if (l->value[p + way_step(l, p, way)] > 0) ++l->num_cuts;
  }
  double *const x = realloc(l->x, 3 * (size_t)(2 * l->points + l->num_cuts) * sizeof *x);
  if (x == NULL) return err_set(err, LOOM_E_NOMEM, "no memory for the points of a lattice");
  l->x = x;
  int64_t next = 2 * l->points;
  for (int64_t p = 0; p < 2 * l->points; ++p) {
    if (!(l->value[p] < 0)) continue;
    for (int way = 0; way < WAYS; ++way) {
      const int64_t q = p + way_step(l, p, way);
      if (!(l->value[q] > 0)) continue;
      l->cut[WAYS * p + way] = (int32_t)next;
      bisect_edge(l, p, q, l->x + 3 * next++);
    }
  }
  return LOOM_OK;
}

/* ---- tetrahedra ---- */

static loom_status add_tet(loom_err *err, lattice *l, int32_t a, int32_t b, int32_t c, int32_t d)
{
  if (l->num_tets == l->room) {
    l->room = l->room > 0 ? 2 * l->room : 4096;
    int32_t *const more = realloc(l->tets, 4 * (size_t)l->room * sizeof *more);
    if (more == NULL) return err_set(err, LOOM_E_NOMEM, "no memory for tetrahedra");
    l->tets = more;
  }
  const mesh view = {.x = l->x, .tets = l->tets};
  int32_t *const t = l->tets + 4 * l->num_tets;
  t[0] = a;
  t[1] = b;
  t[2] = c;
  t[3] = d;
  if (tet_six_volumes(&view, l->num_tets) < 0) {
    t[2] = d;
    t[3] = c;
  }
  ++l->num_tets;
  return LOOM_OK;
}

/* A pyramid over the square q[0..3]; its diagonal goes to the least id. */
static loom_status add_pyramid(loom_err *err, lattice *l, int32_t top, const int32_t q[4])
{
  int k = 0;
  for (int a = 1; a < 4; ++a)
    if (q[a] < q[k]) k = a;
  LOOM_TRY(add_tet(err, l, top, q[k], q[(k + 1) % 4], q[(k + 2) % 4]));
  return add_tet(err, l, top, q[k], q[(k + 2) % 4], q[(k + 3) % 4]);
}

/* A wedge between the triangles w[0..2] and w[3..5]: the vertex of the least id is joined to the
 * faces that it is not in. */
static loom_status add_wedge(loom_err *err, lattice *l, const int32_t w[6])
{
  int k = 0;
  for (int a = 1; a < 6; ++a)
    if (w[a] < w[k]) k = a;
  const int own = k / 3 * 3, other = 3 - own, e = (k + 1) % 3, f = (k + 2) % 3;
  const int32_t square[4] = {w[own + e], w[own + f], w[other + f], w[other + e]};
  LOOM_TRY(add_tet(err, l, w[k], w[other], w[other + 1], w[other + 2]));
  return add_pyramid(err, l, w[k], square);
}

/* The part of a tetrahedron of the lattice that lies inside. */
static loom_status add_inside(loom_err *err, lattice *l, const int64_t v[4])
{
  int32_t in[4], on[4], cut[4][4];
  int64_t inner[4], outer[4];
  int num_in = 0, num_on = 0, num_out = 0;
  for (int a = 0; a < 4; ++a) {
    if (l->value[v[a]] < 0) {
      inner[num_in] = v[a];
      in[num_in++] = (int32_t)v[a];
    } else if (l->value[v[a]] > 0) {
      outer[num_out++] = v[a];
    } else {
      on[num_on++] = (int32_t)v[a];
    }
  }
  if (num_in == 0) return LOOM_OK;
  if (num_out == 0)
    return add_tet(err, l, (int32_t)v[0], (int32_t)v[1], (int32_t)v[2], (int32_t)v[3]);
  for (int a = 0; a < num_in; ++a)
    for (int b = 0; b < num_out; ++b)
      cut[a][b] = l->cut[WAYS * inner[a] + way_between(l, inner[a], outer[b])];
  if (num_in == 1) {
    int32_t t[3];
    for (int a = 0; a < 3; ++a) t[a] = a < num_on ? on[a] : cut[0][a - num_on];
    return add_tet(err, l, in[0], t[0], t[1], t[2]);
  }
  if (num_in == 2 && num_on == 1)
    return add_pyramid(err, l, on[0], (int32_t[4]){in[0], in[1], cut[1][0], cut[0][0]});
  if (num_in == 2)
    return add_wedge(err, l,
                     (int32_t[6]){in[0], cut[0][0], cut[0][1], in[1], cut[1][0], cut[1][1]});
  return add_wedge(err, l, (int32_t[6]){in[0], in[1], in[2], cut[0][0], cut[1][0], cut[2][0]});
}

/* The four tetrahedra between a centre and its neighbour along an axis. */
static loom_status add_square(loom_err *err, lattice *l, int64_t centre, int axis)
{
  const int64_t u = l->stride[(axis + 1) % 3], w = l->stride[(axis + 2) % 3];
  const int64_t first = centre - l->points + l->stride[axis];
  const int64_t ring[4] = {first, first + u, first + u + w, first + w};
  for (int k = 0; k < 4; ++k) {
    const int64_t v[4] = {centre, centre + l->stride[axis], ring[k], ring[(k + 1) % 4]};
    LOOM_TRY(add_inside(err, l, v));
  }
  return LOOM_OK;
}

static loom_status cut_tets(loom_err *err, lattice *l)
{
  for (int64_t p = l->points; p < 2 * l->points; ++p)
    for (int axis = 0; axis < 3 && lattice_inner(l, p); ++axis)
      LOOM_TRY(add_square(err, l, p, axis));
  if (l->num_tets > 0) return LOOM_OK;
  return err_set(err, LOOM_E_CONFIG, "no point of a lattice of cubes of %g m lies inside", l->cell);
}

/* Vertices that tetrahedra have, in the order of their ids. */
static loom_status keep_used(loom_err *err, const lattice *l, mesh *out)
{
  const int64_t all = 2 * l->points + l->num_cuts;
  int32_t *number = NULL, used = 0;
  loom_status s = mesh_alloc(err, all, sizeof *number, &number);
  if (s == LOOM_OK) s = mesh_alloc(err, 4 * l->num_tets, sizeof *out->tets, &out->tets);
  for (int64_t k = 0; k < 4 * l->num_tets && s == LOOM_OK; ++k) number[l->tets[k]] = 1;
  for (int64_t i = 0; i < all && s == LOOM_OK; ++i)
    if (number[i] != 0) number[i] = ++used;
  if (s == LOOM_OK) s = mesh_alloc(err, 3 * (int64_t)used, sizeof *out->x, &out->x);
  for (int64_t i = 0; i < all && s == LOOM_OK; ++i)
    if (number[i] != 0)
      memcpy(out->x + 3 * (ptrdiff_t)(number[i] - 1), l->x + 3 * i, 3 * sizeof *out->x);
  for (int64_t k = 0; k < 4 * l->num_tets && s == LOOM_OK; ++k)
    out->tets[k] = number[l->tets[k]] - 1;
  free(number);
  out->num_verts = used;
  out->num_tets = (int32_t)l->num_tets;
  return s == LOOM_OK ? tet_surface(err, out, &out->tris, &out->num_tris) : s;
}

static loom_status open_lattice(loom_err *err, lattice *l, const double lo[3], const double hi[3])
{
  static const double share[3] = {0.137, 0.211, 0.293}; /* of a cell, by shift */
  double points = 1;
  for (int c = 0; c < 3; ++c) { /* two cubes beyond either side */
    const double cubes = ceil((hi[c] - lo[c]) / l->cell) + 4;
    points *= cubes + 1;
    if (!(points <= 0.5 * STUFFING_MAX_POINTS))
      return err_set(err, LOOM_E_CONFIG,
                     "cubes of %g m make a lattice of more than %d points; raise it", l->cell,
                     STUFFING_MAX_POINTS);
    l->n[c] = (int64_t)cubes + 1;
    l->lo[c] =
        0.5 * (lo[c] + hi[c]) - 0.5 * cubes * l->cell + l->cell * fmod(l->shift * share[c], 0.5);
    l->stride[c] = c == 0 ? 1 : l->stride[c - 1] * l->n[c - 1];
  }
  l->points = l->n[0] * l->n[1] * l->n[2];
  LOOM_TRY(mesh_alloc(err, 2 * l->points, sizeof *l->value, &l->value));
  LOOM_TRY(mesh_alloc(err, 6 * l->points, sizeof *l->x, &l->x));
  LOOM_TRY(mesh_alloc(err, 2 * l->points * WAYS, sizeof *l->cut, &l->cut));
  for (int64_t p = 0; p < 2 * l->points; ++p) {
    lattice_place(l, p, l->x + 3 * p);
    l->value[p] = lattice_inner(l, p) ? l->sign(l->shape, l->x + 3 * p) : l->cell;
  }
  return LOOM_OK;
}

/* 1 in *all if no edge of the surface has more than two triangles. */
static loom_status edges_of_two(loom_err *err, const mesh *m, int *all)
{
  topo t = {0};
  LOOM_TRY(topo_build(err, m->tris, m->num_tris, m->num_verts, &t));
  *all = 1;
  for (int64_t e = 0; e < t.num_edges && *all; ++e) *all = t.first[e + 1] - t.first[e] == 2;
  topo_free(&t);
  return LOOM_OK;
}

static loom_status stuff_lattice(loom_err *err, lattice *l, const double lo[3], const double hi[3],
                                 mesh *out)
{
  loom_status s = open_lattice(err, l, lo, hi);
  if (s == LOOM_OK) {
    warp_points(l);
    s = cut_edges(err, l);
  }
  if (s == LOOM_OK) s = cut_tets(err, l);
  if (s == LOOM_OK) s = keep_used(err, l, out);
  free(l->value);
  free(l->x);
  free(l->cut);
  free(l->tets);
  return s;
}

/* Two parts of the surface may meet at an edge where the gap between them is about a cell wide; on
 * a lattice at another place they do not. */
loom_status mesh_stuff(loom_err *err, stuffing_sign sign, const void *shape, const double lo[3],
                       const double hi[3], double cell, mesh *out)
{
  loom_status s = LOOM_OK;
  int sound = 0;
  for (int shift = 0; shift < NUM_SHIFTS && s == LOOM_OK && !sound; ++shift) {
    lattice l = {.sign = sign, .shape = shape, .cell = cell, .shift = shift};
    mesh_free(out);
    s = stuff_lattice(err, &l, lo, hi, out);
    if (s == LOOM_OK) s = edges_of_two(err, out, &sound);
  }
  return s;
}
