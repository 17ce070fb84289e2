/* doctor.c - checks of input meshes: numbers, ids, shapes, neighbourhood, orientation. */
#include "mesh/doctor.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mesh/polygon.h"
#include "mesh/tet_surface.h"
#include "mesh/topo.h"

/* A triangle lower than this fraction of its longest side has no usable normal: single
 * precision files leave about 1e-7 where the author meant zero. */
static const double flat_triangle = 1e-6;
/* The same for six volumes of a tetrahedron against its longest side cubed. */
static const double flat_tet = 1e-9;

void doctor_add(doctor *d, int kind, const int32_t id[4], const char *fmt, ...)
{
  va_list ap;
  if (d->total++ >= DOCTOR_MAX) return;
  doctor_problem *p = &d->list[d->total - 1];
  p->kind = kind;
  memcpy(p->id, id, sizeof p->id);
  va_start(ap, fmt);
  vsnprintf(p->text, sizeof p->text, fmt, ap);
  va_end(ap);
}

loom_status doctor_verdict(loom_err *err, const doctor *d)
{
  if (d->total == 0) return LOOM_OK;
  const int listed = d->total < DOCTOR_MAX ? (int)d->total : DOCTOR_MAX;
  int told = 0;
  size_t used = 0;
  char text[sizeof err->text];
  text[0] = '\0';
  for (; told < listed; ++told) { /* leave room for the closing line */
    const size_t len = strlen(d->list[told].text) + 1;
    if (used + len + 120 > sizeof text) break;
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", told > 0 ? "\n" : "",
                             d->list[told].text);
  }
  err_set(err, LOOM_E_CONFIG, "%s", text);
  if (d->total > told)
    err_append(err, "... and %s%lld more problems of the input (ids count from 0)",
               d->more ? "at least " : "", (long long)(d->total - told));
  else
    err_append(err, "%lld problem%s of the input (ids count from 0)", (long long)d->total,
               d->total == 1 ? "" : "s");
  return LOOM_E_CONFIG;
}

/* ---- single vertices and elements ---- */

static int check_numbers(doctor *d, const char *name, const mesh *m)
{
  int bad = 0;
  for (int32_t i = 0; i < m->num_verts; ++i) {
    const double *x = m->x + 3 * (int64_t)i;
    if (isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2])) continue;
    bad = 1;
    doctor_add(d, DOCTOR_NOT_FINITE, (const int32_t[4]){i, -1, -1, -1},
               "%s: vertex %d: coordinates %g %g %g; give finite numbers", name, i, x[0], x[1],
               x[2]);
  }
  return bad;
}

static int report_bad_ids(doctor *d, const char *name, const char *what, const int32_t *ids,
                          int32_t count, int arity, int32_t n)
{
  int bad = 0;
  for (int64_t k = 0; k < (int64_t)count * arity; ++k) {
    if (ids[k] >= 0 && ids[k] < n) continue;
    bad = 1;
    doctor_add(d, DOCTOR_OUT_OF_RANGE, (const int32_t[4]){(int32_t)(k / arity), ids[k], -1, -1},
               "%s: %s %d: vertex %d does not exist; ids run from 0 to %d", name, what,
               (int32_t)(k / arity), ids[k], n - 1);
  }
  return bad;
}

/* Height of a triangle over its longest side, relative to that side; 0 if a
 * point, NaN if a coordinate is. */
static double triangle_flatness(const double *a, const double *b, const double *c)
{
  double u[3], v[3], w[3];
  for (int k = 0; k < 3; ++k) u[k] = b[k] - a[k], v[k] = c[k] - a[k], w[k] = c[k] - b[k];
  const double n[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2],
                       u[0] * v[1] - u[1] * v[0]};
  const double uu = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
  const double vv = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
  const double ww = w[0] * w[0] + w[1] * w[1] + w[2] * w[2];
  const double longest = fmax(uu, fmax(vv, ww));
  if (longest == 0) return 0;
  return sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]) / longest;
}

int doctor_is_flat(const mesh *m, int32_t t)
{
  const int32_t *const v = m->tris + 3 * (int64_t)t;
  const double *const x = m->x;
  return v[0] == v[1] || v[1] == v[2] || v[2] == v[0] ||
         triangle_flatness(x + 3 * (int64_t)v[0], x + 3 * (int64_t)v[1], x + 3 * (int64_t)v[2]) <
             flat_triangle;
}

static void check_triangles(doctor *d, const char *name, const mesh *m)
{
  for (int32_t t = 0; t < m->num_tris; ++t) {
    const int32_t *v = m->tris + 3 * (int64_t)t;
    const int repeated = v[0] == v[1] || v[1] == v[2] || v[2] == v[0];
    const double f = triangle_flatness(m->x + 3 * (int64_t)v[0], m->x + 3 * (int64_t)v[1],
                                       m->x + 3 * (int64_t)v[2]);
    if (!repeated && !(f < flat_triangle)) continue; /* NaN: told with the vertex */
    const int32_t id[4] = {t, -1, -1, -1};
    if (repeated)
      doctor_add(d, DOCTOR_DEGENERATE, id,
                 "%s: triangle %d (%d %d %d): a vertex occurs twice; remove the triangle, or "
                 "set repair = clean",
                 name, t, v[0], v[1], v[2]);
    else
      doctor_add(d, DOCTOR_DEGENERATE, id,
                 "%s: triangle %d (%d %d %d): zero area, height %.1e of its longest side; "
                 "remove it or move a vertex, or set repair = clean",
                 name, t, v[0], v[1], v[2], f);
  }
}

static void check_tets(doctor *d, const char *name, const mesh *m)
{
  for (int32_t t = 0; t < m->num_tets; ++t) {
    const int32_t *v = m->tets + 4 * (int64_t)t;
    double e[3][3], longest = 0;
    for (int a = 0; a < 3; ++a) {
      for (int c = 0; c < 3; ++c)
        e[a][c] = m->x[3 * (int64_t)v[a + 1] + c] - m->x[3 * (int64_t)v[0] + c];
      longest = fmax(longest, sqrt(e[a][0] * e[a][0] + e[a][1] * e[a][1] + e[a][2] * e[a][2]));
    }
    const double six_volumes = e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) -
                               e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
                               e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
    const double rel = longest > 0 ? six_volumes / (longest * longest * longest) : 0;
    const int32_t id[4] = {t, -1, -1, -1};
    if (rel < -flat_tet)
      doctor_add(d, DOCTOR_INVERTED, id,
                 "%s: tetrahedron %d (%d %d %d %d): negative volume; swap two vertices", name, t,
                 v[0], v[1], v[2], v[3]);
    else if (rel <= flat_tet)
      doctor_add(d, DOCTOR_DEGENERATE, id,
                 "%s: tetrahedron %d (%d %d %d %d): zero volume; remove it", name, t, v[0], v[1],
                 v[2], v[3]);
  }
}

/* Tells the first polygon of the file that is not cut into triangles, and counts the others. */
static void check_faces(doctor *d, const char *name, const mesh *m)
{
  const mesh_bad_face *const f = &m->bad_face;
  char line[32] = "", more[48] = "";
  if (m->num_bad_faces > 1) snprintf(more, sizeof more, " (and %d more)", m->num_bad_faces - 1);
  if (m->num_bad_faces == 0) return;
  if (m->tri_line != NULL) snprintf(line, sizeof line, ":%d", m->tri_line[f->first_tri]);
  const int32_t *const v = (m->fan != NULL ? m->fan : m->tris) + 3 * (int64_t)f->first_tri;
  const int32_t id[4] = {f->first_tri, -1, -1, -1};
  if (f->way == POLYGON_CROSSED)
    doctor_add(
        d, DOCTOR_FACE, id,
        "%s%s: the face of %d corners that begins with the vertices %d %d %d crosses itself: "
        "the sides behind its corners %d and %d meet; cut it into faces that do not%s",
        name, line, f->num_corners, v[0], v[1], v[2], f->side[0], f->side[1], more);
  else
    doctor_add(d, DOCTOR_FACE, id,
               "%s%s: the concave face that begins with the vertices %d %d %d has %d corners, at "
               "most %d are cut; cut it into smaller ones%s",
               name, line, v[0], v[1], v[2], f->num_corners, POLYGON_MAX_CONCAVE, more);
}

/* ---- duplicates and leftovers ---- */

static uint64_t hash_point(const double *x)
{
  uint64_t h = UINT64_C(1469598103934665603);
  for (int c = 0; c < 3; ++c) {
    const double v = x[c] + 0.0; /* -0 and 0 are one place */
    uint64_t u;
    memcpy(&u, &v, sizeof u);
    h = (h ^ u) * UINT64_C(0x9e3779b97f4a7c15);
    h ^= h >> 29;
  }
  return h;
}

static loom_status check_coincident(loom_err *err, doctor *d, const char *name, const mesh *m)
{
  int64_t size = 16;
  int32_t *table; /* open addressing: vertex id + 1 */
  while (size < 2 * (int64_t)m->num_verts) size *= 2;
  LOOM_TRY(mesh_alloc(err, size, sizeof *table, &table));
  for (int32_t i = 0; i < m->num_verts; ++i) {
    const double *x = m->x + 3 * (int64_t)i;
    int64_t k = (int64_t)(hash_point(x) & (uint64_t)(size - 1));
    for (; table[k] != 0; k = (k + 1) & (size - 1)) {
      const double *y = m->x + 3 * (int64_t)(table[k] - 1);
      if (x[0] == y[0] && x[1] == y[1] && x[2] == y[2]) break;
    }
    if (table[k] == 0) {
      table[k] = i + 1;
      continue;
    }
    doctor_add(d, DOCTOR_COINCIDENT, (const int32_t[4]){table[k] - 1, i, -1, -1},
               "%s: vertices %d and %d are at one place (%g %g %g), the sheet is cut there; "
               "merge them, or set repair = merge (merge+clean if triangles have no area there)",
               name, table[k] - 1, i, x[0], x[1], x[2]);
  }
  free(table);
  return LOOM_OK;
}

static loom_status report_unused_verts(loom_err *err, doctor *d, const char *name, const mesh *m)
{
  unsigned char *used;
  LOOM_TRY(mesh_alloc(err, m->num_verts, 1, &used));
  for (int64_t k = 0; k < 3 * (int64_t)m->num_tris; ++k) used[m->tris[k]] = 1;
  for (int64_t k = 0; k < 4 * (int64_t)m->num_tets; ++k) used[m->tets[k]] = 1;
  for (int32_t i = 0; i < m->num_verts; ++i)
    if (!used[i])
      doctor_add(d, DOCTOR_UNUSED, (const int32_t[4]){i, -1, -1, -1},
                 "%s: vertex %d belongs to no triangle and would have no mass; remove it", name, i);
  free(used);
  return LOOM_OK;
}

void doctor_sort_ids(const int32_t *v, int32_t s[3])
{
  const int32_t lo = v[0] < v[1] ? v[0] : v[1], hi = v[0] < v[1] ? v[1] : v[0];
  s[0] = v[2] < lo ? v[2] : lo;
  s[2] = v[2] > hi ? v[2] : hi;
  s[1] = v[2] < lo ? lo : v[2] > hi ? hi : v[2];
}

static loom_status check_duplicates(loom_err *err, doctor *d, const char *name, const mesh *m)
{
  int32_t *key, *order;
  LOOM_TRY(mesh_alloc(err, 3 * (int64_t)m->num_tris, sizeof *key, &key));
  loom_status s = mesh_alloc(err, m->num_tris, sizeof *order, &order);
  if (s != LOOM_OK) {
    free(key);
    return s;
  }
  for (int64_t t = 0; t < m->num_tris; ++t) doctor_sort_ids(m->tris + 3 * t, key + 3 * t);
  s = topo_sort_rows(err, key, m->num_tris, 3, m->num_verts, order);
  for (int32_t k = 1; s == LOOM_OK && k < m->num_tris; ++k) {
    const int32_t a = order[k - 1], b = order[k];
    if (memcmp(key + 3 * (int64_t)a, key + 3 * (int64_t)b, 3 * sizeof *key) != 0) continue;
    doctor_add(d, DOCTOR_DUPLICATE, (const int32_t[4]){a, b, -1, -1},
               "%s: triangles %d and %d have the same vertices (%d %d %d); remove one, or set "
               "repair = clean",
               name, a, b, key[3 * (int64_t)a], key[3 * (int64_t)a + 1], key[3 * (int64_t)a + 2]);
  }
  free(order);
  free(key);
  return s;
}

/* ---- neighbourhood ---- */

static const char instead_of_distances[] =
    ", or do without distances (of a mesh sdf_resolution = 0; of a rig no distance), for contact "
    "between triangles";

static void check_edge(doctor *d, const char *name, const mesh *m, const topo *tp, int64_t e,
                       int use)
{
  const int32_t a = tp->edges[2 * e], b = tp->edges[2 * e + 1];
  const int32_t *side = tp->sides + tp->first[e];
  const int32_t count = (int32_t)(tp->first[e + 1] - tp->first[e]);
  int32_t from[2], to, opposite;
  if (a == b) return; /* a triangle with a repeated vertex: told as degenerate */
  if (count > 2) {
    doctor_add(d, DOCTOR_NON_MANIFOLD, (const int32_t[4]){a, b, count, -1},
               "%s: edge %d-%d has %d triangles (%d %d %d%s); at most two may share an edge%s",
               name, a, b, count, side[0] / 3, side[1] / 3, side[2] / 3, count > 3 ? " ..." : "",
               use == DOCTOR_BODY ? instead_of_distances : "");
  } else if (count == 2) {
    for (int k = 0; k < 2; ++k) topo_side(m->tris, side[k], &from[k], &to, &opposite);
    if (from[0] == from[1])
      doctor_add(d, DOCTOR_ORIENTATION, (const int32_t[4]){a, b, side[0] / 3, side[1] / 3},
                 "%s: triangles %d and %d at edge %d-%d are turned against each other; turn one%s",
                 name, side[0] / 3, side[1] / 3, a, b,
                 use == DOCTOR_SOLID ? "" : ", or set repair = orientation");
  } else if (use == DOCTOR_SOLID || use == DOCTOR_BODY) {
    doctor_add(d, DOCTOR_OPEN, (const int32_t[4]){a, b, side[0] / 3, -1},
               "%s: edge %d-%d has only triangle %d: the surface must be closed; fill the hole%s%s",
               name, a, b, side[0] / 3,
               use == DOCTOR_BODY ? ", set repair = clean where vertices lie at one place" : "",
               use == DOCTOR_BODY ? instead_of_distances : "");
  }
}

/* A face of two tetrahedra has them on its two sides, each outwards of the other. */
static void check_face_pair(doctor *d, const char *name, const mesh *m, const int32_t *key,
                            int32_t a, int32_t b)
{
  int odd[2];
  const int32_t face[2] = {a, b}, tet[2] = {a / 4, b / 4};
  if (key[0] == key[1] || key[1] == key[2]) return; /* told as degenerate */
  if (!(tet_six_volumes(m, tet[0]) > 0 && tet_six_volumes(m, tet[1]) > 0)) return; /* told */
  for (int k = 0; k < 2; ++k) {
    const int *const c = tet_face_corners[face[k] % 4];
    const int32_t *const t = m->tets + 4 * (int64_t)tet[k];
    const int32_t v[3] = {t[c[0]], t[c[1]], t[c[2]]};
    odd[k] = (v[0] > v[1]) ^ (v[1] > v[2]) ^ (v[0] > v[2]);
  }
  if (odd[0] == odd[1])
    doctor_add(d, DOCTOR_ORIENTATION, (const int32_t[4]){tet[0], tet[1], -1, -1},
               "%s: tetrahedra %d and %d lie on one side of their face %d %d %d, so they overlap; "
               "remove one",
               name, tet[0], tet[1], key[0], key[1], key[2]);
}

static loom_status check_tet_faces(loom_err *err, doctor *d, const char *name, const mesh *m)
{
  const int64_t n = 4 * (int64_t)m->num_tets;
  int32_t *key, *order;
  LOOM_TRY(tet_sort_faces(err, m, &key, &order));
  for (int64_t k = 0, next; k < n; k = next) {
    const int32_t *const v = key + 3 * (int64_t)order[k];
    for (next = k + 1; next < n && memcmp(v, key + 3 * (int64_t)order[next], 3 * sizeof *v) == 0;)
      ++next;
    if (next == k + 2) check_face_pair(d, name, m, v, order[k], order[k + 1]);
    if (next > k + 2)
      doctor_add(d, DOCTOR_NON_MANIFOLD, (const int32_t[4]){v[0], v[1], (int32_t)(next - k), -1},
                 "%s: face %d %d %d has %d tetrahedra (%d %d %d%s); at most two may share a face",
                 name, v[0], v[1], v[2], (int)(next - k), order[k] / 4, order[k + 1] / 4,
                 order[k + 2] / 4, next > k + 3 ? " ..." : "");
  }
  free(key);
  free(order);
  return LOOM_OK;
}

/* Six times the volume in a closed surface (divergence theorem), negative if its normals point
 * inwards. */
static double six_enclosed_volumes(const mesh *m)
{
  double volume = 0;
  for (int64_t t = 0; t < m->num_tris; ++t) {
    const double *a = m->x + 3 * (int64_t)m->tris[3 * t];
    const double *b = m->x + 3 * (int64_t)m->tris[3 * t + 1];
    const double *c = m->x + 3 * (int64_t)m->tris[3 * t + 2];
    volume += a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
              a[2] * (b[0] * c[1] - b[1] * c[0]);
  }
  return volume;
}

static void check_outside(doctor *d, const char *name, const mesh *m, int use)
{
  if (six_enclosed_volumes(m) < 0)
    doctor_add(d, DOCTOR_INSIDE_OUT, (const int32_t[4]){-1, -1, -1, -1},
               "%s: the surface is inside out; turn all triangles%s", name,
               use == DOCTOR_BODY ? ", of a mesh by repair = orientation" : "");
}

loom_status doctor_mesh(loom_err *err, doctor *d, const char *name, const mesh *m, int use)
{
  topo tp;
  const int bad_numbers = check_numbers(d, name, m);
  if (report_bad_ids(d, name, "triangle", m->tris, m->num_tris, 3, m->num_verts)) return LOOM_OK;
  if (report_bad_ids(d, name, "tetrahedron", m->tets, m->num_tets, 4, m->num_verts)) return LOOM_OK;
  check_faces(d, name, m);
  check_triangles(d, name, m);
  if (use == DOCTOR_SOLID) check_tets(d, name, m);
  if (use == DOCTOR_SOLID) LOOM_TRY(check_tet_faces(err, d, name, m));
  LOOM_TRY(check_duplicates(err, d, name, m));
  if (use == DOCTOR_CONTACT) return LOOM_OK;
  const int body = use == DOCTOR_BODY || use == DOCTOR_SHELL;
  if (!bad_numbers && !body && use != DOCTOR_PIECES) LOOM_TRY(check_coincident(err, d, name, m));
  if (!body) LOOM_TRY(report_unused_verts(err, d, name, m));
  LOOM_TRY(topo_build(err, m->tris, m->num_tris, m->num_verts, &tp));
  const int64_t before = d->total;
  for (int64_t e = 0; e < tp.num_edges; ++e) check_edge(d, name, m, &tp, e, use);
  topo_free(&tp);
  if ((use == DOCTOR_SOLID || use == DOCTOR_BODY) && d->total == before)
    check_outside(d, name, m, use);
  return LOOM_OK;
}

/* ---- orientation ---- */

typedef struct orienting {
  const mesh *m;
  topo tp;
  int32_t *edge_of;  /* [3 nt] side to edge */
  int32_t *queue;    /* [nt] */
  signed char *turn; /* [nt] 0 not seen, 1 as it is, -1 turned */
} orienting;

/* Give triangles reachable from `seed` over edges with two triangles the turn that agrees
 * with it; 0 if two ways around disagree. */
static int orient_part(orienting *o, int32_t seed)
{
  int64_t head = 0, tail = 0;
  o->turn[seed] = 1;
  o->queue[tail++] = seed;
  while (head < tail) {
    const int32_t t = o->queue[head++];
    for (int32_t s = 3 * t; s < 3 * t + 3; ++s) {
      const int64_t e = o->edge_of[s];
      if (o->tp.first[e + 1] - o->tp.first[e] != 2) continue;
      const int32_t *side = o->tp.sides + o->tp.first[e];
      const int32_t other = side[0] == s ? side[1] : side[0];
      int32_t from, other_from, to, opposite;
      topo_side(o->m->tris, s, &from, &to, &opposite);
      topo_side(o->m->tris, other, &other_from, &to, &opposite);
      const signed char want = (signed char)(from == other_from ? -o->turn[t] : o->turn[t]);
      if (o->turn[other / 3] == 0) {
        o->turn[other / 3] = want;
        o->queue[tail++] = other / 3;
      } else if (o->turn[other / 3] != want) {
        return 0;
      }
    }
  }
  return 1;
}

/* Data of the second and the third corner change places; at [2][width], or NULL. */
static void swap_corners(double *at, int width)
{
  for (int c = 0; at != NULL && c < width; ++c) {
    const double second = at[c];
    at[c] = at[width + c];
    at[width + c] = second;
  }
}

static void turn_triangle(mesh *m, int64_t t)
{
  const int32_t swap = m->tris[3 * t + 1];
  m->tris[3 * t + 1] = m->tris[3 * t + 2];
  m->tris[3 * t + 2] = swap;
  swap_corners(m->uv != NULL ? m->uv + 6 * t + 2 : NULL, 2);
  swap_corners(m->rest != NULL ? m->rest + 9 * t + 3 : NULL, 3);
}

int32_t doctor_turn_outwards(mesh *m)
{
  if (!(six_enclosed_volumes(m) < 0)) return 0;
  for (int32_t t = 0; t < m->num_tris; ++t) turn_triangle(m, t);
  return m->num_tris;
}

loom_status doctor_orient(loom_err *err, mesh *m, int32_t *flipped)
{
  orienting o = {.m = m};
  *flipped = 0;
  loom_status s = topo_build(err, m->tris, m->num_tris, m->num_verts, &o.tp);
  if (s == LOOM_OK) s = mesh_alloc(err, 3 * (int64_t)m->num_tris, sizeof *o.edge_of, &o.edge_of);
  if (s == LOOM_OK) s = mesh_alloc(err, m->num_tris, sizeof *o.queue, &o.queue);
  if (s == LOOM_OK) s = mesh_alloc(err, m->num_tris, 1, &o.turn);
  if (s == LOOM_OK) {
    for (int64_t e = 0; e < o.tp.num_edges; ++e)
      for (int64_t k = o.tp.first[e]; k < o.tp.first[e + 1]; ++k)
        o.edge_of[o.tp.sides[k]] = (int32_t)e;
    for (int32_t t = 0; t < m->num_tris && *flipped == 0; ++t)
      if (o.turn[t] == 0 && !orient_part(&o, t)) *flipped = -1;
    for (int64_t t = 0; t < m->num_tris && *flipped >= 0; ++t)
      if (o.turn[t] < 0) {
        turn_triangle(m, t);
        ++*flipped;
      }
  }
  free(o.turn);
  free(o.queue);
  free(o.edge_of);
  topo_free(&o.tp);
  return s;
}
