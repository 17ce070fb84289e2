/* mesh_surface.c - closed surfaces of bodies: boxes with round edges (among them the sphere and
 * the capsule) and surfaces of revolution. */
#include <math.h>
#include <stdlib.h>

#include "mesh/mesh.h"

static const double pi = 3.14159265358979323846;
enum { MAX_LINES = 4096, MAX_NODES = 1 << 26 };

static int64_t count_edge_parts(double length, double edge, int64_t least)
{
  const double n = ceil(length / edge - 1e-9);
  return n > (double)least ? (n < MAX_LINES ? (int64_t)n : MAX_LINES) : least;
}

static loom_status too_fine(loom_err *err, double edge)
{
  return err_set(err, LOOM_E_CONFIG, "%g m: the surface would have too many triangles; raise it",
                 edge);
}

static loom_status alloc_surface(loom_err *err, int64_t verts, int64_t tris, mesh *out)
{
  *out = (mesh){.num_verts = (int32_t)verts, .num_tris = (int32_t)tris};
  LOOM_TRY(mesh_alloc(err, 3 * verts, sizeof *out->x, &out->x));
  return mesh_alloc(err, 3 * tris, sizeof *out->tris, &out->tris);
}

/* ---- boxes with round edges ---- */

/* A lattice of lines along each side: `round` of them turn over an edge by 45 degrees, at
 * equal angles, then the flat part, then the next edge.  Only its surface has vertices; each
 * is the core box's nearest point moved by the radius. */
typedef struct lattice {
  double core[3], radius; /* m, half extents without the radius */
  int64_t round, num[3];  /* nodes along x, y, z */
  int32_t *id;            /* [num2][num1][num0], vertex or -1 */
} lattice;

/* Coordinate of node i: its place on the core and its direction from there. */
static void line_at(const lattice *l, int axis, int64_t i, double *inner, double *off)
{
  const int64_t last = l->num[axis] - 1, flat = last - 2 * l->round;
  const double c = l->core[axis];
  *inner = flat > 0 ? -c + 2 * c * (double)(i - l->round) / (double)flat : 0;
  *inner = fmax(-c, fmin(c, *inner));
  *off = 0;
  if (i < l->round) *off = -tan(0.25 * pi * (double)(l->round - i) / (double)l->round);
  if (i > last - l->round) *off = tan(0.25 * pi * (double)(i - last + l->round) / (double)l->round);
}

static int64_t place_nodes(const lattice *l, double *x)
{
  int64_t n = 0, i[3];
  for (i[2] = 0; i[2] < l->num[2]; ++i[2])
    for (i[1] = 0; i[1] < l->num[1]; ++i[1])
      for (i[0] = 0; i[0] < l->num[0]; ++i[0]) {
        int32_t *const id = &l->id[(i[2] * l->num[1] + i[1]) * l->num[0] + i[0]];
        int outer = 0;
        for (int a = 0; a < 3; ++a) outer |= i[a] == 0 || i[a] == l->num[a] - 1;
        *id = outer ? (int32_t)n++ : -1;
        if (!outer || x == NULL) continue;
        double inner[3], off[3], len = 0;
        for (int a = 0; a < 3; ++a) {
          line_at(l, a, i[a], &inner[a], &off[a]);
          len += off[a] * off[a];
        }
        for (int a = 0; a < 3; ++a)
          x[3 * (n - 1) + a] = inner[a] + (len > 0 ? l->radius * off[a] / sqrt(len) : 0);
      }
  return n;
}

static double diagonal_length2(const double *x, int32_t i, int32_t j)
{
  double d = 0;
  for (int c = 0; c < 3; ++c) d += pow(x[3 * (int64_t)i + c] - x[3 * (int64_t)j + c], 2);
  return d;
}

/* Both triangles of a quad, cut along the shorter diagonal. */
static int32_t *write_quad_tris(int32_t *t, const double *x, int32_t a, int32_t b, int32_t c,
                                int32_t d)
{
  const int across = diagonal_length2(x, b, d) < diagonal_length2(x, a, c);
  const int32_t q[6] = {a, b, across ? d : c, across ? b : a, c, d};
  for (int k = 0; k < 6; ++k) *t++ = q[k];
  return t;
}

static void place_faces(const lattice *l, mesh *out)
{
  int32_t *t = out->tris;
  const int64_t step[3] = {1, l->num[0], l->num[0] * l->num[1]};
  for (int a = 0; a < 3; ++a)
    for (int far_side = 0; far_side < 2; ++far_side) {
      const int u = (a + 1) % 3, v = (a + 2) % 3; /* u x v points along +a */
      const int32_t *const face = l->id + (far_side ? step[a] * (l->num[a] - 1) : 0);
      for (int64_t j = 0; j + 1 < l->num[v]; ++j)
        for (int64_t i = 0; i + 1 < l->num[u]; ++i) {
          const int32_t *const q = face + i * step[u] + j * step[v];
          if (far_side)
            t = write_quad_tris(t, out->x, q[0], q[step[u]], q[step[u] + step[v]], q[step[v]]);
          else
            t = write_quad_tris(t, out->x, q[0], q[step[v]], q[step[u] + step[v]], q[step[u]]);
        }
    }
}

loom_status mesh_round_box(loom_err *err, const double core[3], double radius, double edge,
                           mesh *out)
{
  lattice l = {.radius = radius,
               .round = radius > 0 ? count_edge_parts(0.25 * pi * radius, edge, 2) : 0};
  int64_t nodes = 1, faces = 0;
  for (int a = 0; a < 3; ++a) {
    l.core[a] = core[a];
    l.num[a] = 1 + 2 * l.round + (core[a] > 0 ? count_edge_parts(2 * core[a], edge, 1) : 0);
    if (l.num[a] > MAX_LINES) return too_fine(err, edge);
    nodes *= l.num[a];
    if (nodes > MAX_NODES) return too_fine(err, edge);
  }
  for (int a = 0; a < 3; ++a) faces += 2 * (l.num[a] - 1) * (l.num[(a + 1) % 3] - 1);
  LOOM_TRY(mesh_alloc(err, nodes, sizeof *l.id, &l.id));
  const int64_t verts = place_nodes(&l, NULL);
  const loom_status s = alloc_surface(err, verts, 2 * faces, out);
  if (s == LOOM_OK) {
    place_nodes(&l, out->x);
    place_faces(&l, out);
  }
  free(l.id);
  return s;
}

/* ---- surfaces of revolution ---- */

typedef struct rings {
  double *p;      /* [num][2] radius and height, m, counter-clockwise */
  int32_t *first; /* [num] first vertex of the ring; a pole on the axis has one */
  int64_t num, around;
} rings;

static double polygon_signed_area(const double *p, int64_t n)
{
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double *const a = p + 2 * i, *const b = p + 2 * ((i + 1) % n);
    sum += 0.5 * (a[0] * b[1] - b[0] * a[1]);
  }
  return sum;
}

/* Points of the profile no farther apart than `edge`, counter-clockwise. */
static loom_status divide_profile(loom_err *err, const double *profile, int64_t n, double edge,
                                  rings *r)
{
  const int turn = polygon_signed_area(profile, n) < 0;
  int64_t count = 0;
  for (int pass = 0; pass < 2; ++pass) {
    count = 0;
    for (int64_t i = 0; i < n; ++i) {
      const int64_t k = turn ? n - 1 - i : i, next = turn ? (k + n - 1) % n : (k + 1) % n;
      const double *const a = profile + 2 * k, *const b = profile + 2 * next;
      const int on_axis = a[0] == 0 && b[0] == 0; /* no surface between them */
      const int64_t m = on_axis ? 1 : count_edge_parts(hypot(b[0] - a[0], b[1] - a[1]), edge, 1);
      for (int64_t j = 0; j < m; ++j, ++count) {
        const double s = (double)j / (double)m;
        if (pass == 0) continue;
        for (int c = 0; c < 2; ++c) r->p[2 * count + c] = (1 - s) * a[c] + s * b[c];
      }
    }
    if (count > MAX_LINES) return too_fine(err, edge);
    if (pass == 0) LOOM_TRY(mesh_alloc(err, 2 * count, sizeof *r->p, &r->p));
  }
  r->num = count;
  return mesh_alloc(err, count, sizeof *r->first, &r->first);
}

static void place_rings(const rings *r, mesh *out)
{
  for (int64_t j = 0; j < r->num; ++j)
    for (int64_t i = 0; i < (r->p[2 * j] > 0 ? r->around : 1); ++i) {
      const double a = 2 * pi * (double)i / (double)r->around;
      double *const x = out->x + 3 * (r->first[j] + i);
      x[0] = r->p[2 * j] * cos(a);
      x[1] = r->p[2 * j] * sin(a);
      x[2] = r->p[2 * j + 1];
    }
  int32_t *t = out->tris;
  for (int64_t j = 0; j < r->num; ++j) {
    const int64_t k = (j + 1) % r->num;
    const int pole_j = r->p[2 * j] == 0, pole_k = r->p[2 * k] == 0;
    for (int64_t i = 0; i < r->around && !(pole_j && pole_k); ++i) {
      const int32_t i0 = (int32_t)i, i1 = (int32_t)((i + 1) % r->around);
      const int32_t a = r->first[j] + (pole_j ? 0 : i0), b = r->first[j] + (pole_j ? 0 : i1);
      const int32_t c = r->first[k] + (pole_k ? 0 : i1), d = r->first[k] + (pole_k ? 0 : i0);
      if (!pole_j && !pole_k) {
        t = write_quad_tris(t, out->x, a, b, c, d);
        continue;
      }
      *t++ = a;
      *t++ = pole_j ? c : b;
      *t++ = d;
    }
  }
  out->num_tris = (int32_t)((t - out->tris) / 3);
}

loom_status mesh_revolve(loom_err *err, const double *profile, int64_t n, double edge, mesh *out)
{
  rings r = {0};
  double widest = 0;
  int64_t verts = 0;
  *out = (mesh){0};
  for (int64_t i = 0; i < n; ++i) widest = fmax(widest, profile[2 * i]);
  r.around = count_edge_parts(2 * pi * widest, edge, 8);
  loom_status s = divide_profile(err, profile, n, edge, &r);
  if (s == LOOM_OK && r.num * r.around > MAX_NODES / 8) s = too_fine(err, edge);
  if (s == LOOM_OK) {
    for (int64_t j = 0; j < r.num; ++j) {
      r.first[j] = (int32_t)verts;
      verts += r.p[2 * j] > 0 ? r.around : 1;
    }
    s = alloc_surface(err, verts, 2 * r.num * r.around, out);
  }
  if (s == LOOM_OK) place_rings(&r, out);
  free(r.p);
  free(r.first);
  return s;
}
