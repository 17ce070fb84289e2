/* mesh.c - generated meshes: grid, disk, tube, block of tetrahedra. */
#include "mesh/mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "geom/pose.h"
#include "mem/limits.h"

static const double pi = 3.14159265358979323846;
enum { MAX_VERTS = 1 << 28 }; /* keeps 6 n, the number of triangle corners, in int32 */

void mesh_free(mesh *m)
{
  free(m->x);
  free(m->tris);
  free(m->tets);
  free(m->uv);
  free(m->piece);
  for (int32_t k = 0; k < m->num_pieces; ++k) free(m->piece_names[k]);
  free(m->piece_names);
  free(m->mtl);
  for (int32_t k = 0; k < m->num_mtls; ++k) free(m->mtl_names[k]);
  free(m->mtl_names);
  free(m->rest);
  free(m->fan);
  free(m->tri_line);
  memset(m, 0, sizeof *m);
}

loom_status mesh_alloc(loom_err *err, int64_t n, size_t item, void *out)
{
  void *p = calloc(n > 0 ? (size_t)n : 1, item);
  if (p == NULL) {
    char need[32];
    return err_set(err, LOOM_E_NOMEM,
                   "no memory for an array of %s (%lld items of %zu bytes) while the scene is "
                   "built; make it coarser, or raise the limit (ulimit -v, the job's memory)",
                   mem_bytes_text((double)n * (double)item, need), (long long)n, item);
  }
  memcpy(out, &p, sizeof p);
  /* cppcheck-suppress memleak ; *out has it */
  return LOOM_OK;
}

static loom_status alloc_arrays(loom_err *err, int64_t verts, int64_t tris, int64_t tets, mesh *out)
{
  memset(out, 0, sizeof *out);
  loom_status s = mesh_alloc(err, 3 * verts, sizeof *out->x, &out->x);
  if (s == LOOM_OK) s = mesh_alloc(err, 3 * tris, sizeof *out->tris, &out->tris);
  if (s == LOOM_OK && tets > 0) s = mesh_alloc(err, 4 * tets, sizeof *out->tets, &out->tets);
  if (s != LOOM_OK) {
    mesh_free(out);
    return s;
  }
  out->num_verts = (int32_t)verts;
  out->num_tris = (int32_t)tris;
  out->num_tets = (int32_t)tets;
  return LOOM_OK;
}

static loom_status check_resolution(loom_err *err, int64_t nx, int64_t ny, int64_t min_x)
{
  if (nx < min_x || ny < 2)
    return err_set(err, LOOM_E_CONFIG, "resolution %lld x %lld: at least %lld x 2 vertices needed",
                   (long long)nx, (long long)ny, (long long)min_x);
  if (nx > MAX_VERTS || ny > MAX_VERTS || nx * ny > MAX_VERTS)
    return err_set(err, LOOM_E_CONFIG, "resolution %lld x %lld: more than %d vertices; lower it",
                   (long long)nx, (long long)ny, (int)MAX_VERTS);
  return LOOM_OK;
}

/* Two triangles for every cell of the lattice; closed_x joins the last column to the first. */
static void lattice_tris(mesh *m, int pattern)
{
  const int32_t nx = m->lattice[0], cells = m->closed_x ? nx : nx - 1;
  int32_t *t = m->tris;
  for (int32_t j = 0; j + 1 < m->lattice[1]; ++j)
    for (int32_t i = 0; i < cells; ++i) {
      const int32_t i1 = (i + 1) % nx;
      const int32_t v00 = i + j * nx, v10 = i1 + j * nx, v01 = v00 + nx, v11 = v10 + nx;
      const int mirrored = pattern == MESH_ALTERNATE && ((i + j) & 1);
      const int32_t cell[6] = {v00, v10, mirrored ? v01 : v11, mirrored ? v10 : v00, v11, v01};
      memcpy(t, cell, sizeof cell);
      t += 6;
    }
}

loom_status mesh_grid(loom_err *err, double sx, double sy, int64_t nx, int64_t ny, int pattern,
                      mesh *out)
{
  LOOM_TRY(check_resolution(err, nx, ny, 2));
  LOOM_TRY(alloc_arrays(err, nx * ny, 2 * (nx - 1) * (ny - 1), 0, out));
  out->lattice[0] = (int32_t)nx;
  out->lattice[1] = (int32_t)ny;
  out->lattice[2] = 1;
  for (int64_t j = 0; j < ny; ++j)
    for (int64_t i = 0; i < nx; ++i) {
      double *x = out->x + 3 * (i + j * nx);
      x[0] = sx * ((double)i / (double)(nx - 1) - 0.5);
      x[1] = sy * ((double)j / (double)(ny - 1) - 0.5);
    }
  lattice_tris(out, pattern);
  return LOOM_OK;
}

loom_status mesh_cylinder(loom_err *err, double diameter, double length, int64_t around,
                          int64_t along, int pattern, mesh *out)
{
  LOOM_TRY(check_resolution(err, around, along, 3));
  if (pattern == MESH_ALTERNATE && around % 2 != 0)
    return err_set(err, LOOM_E_CONFIG,
                   "resolution: an alternating tube needs an even number of vertices around");
  LOOM_TRY(alloc_arrays(err, around * along, 2 * around * (along - 1), 0, out));
  out->lattice[0] = (int32_t)around;
  out->lattice[1] = (int32_t)along;
  out->lattice[2] = 1;
  out->closed_x = 1;
  for (int64_t j = 0; j < along; ++j)
    for (int64_t i = 0; i < around; ++i) {
      const double a = 2 * pi * (double)i / (double)around;
      double *x = out->x + 3 * (i + j * around);
      x[0] = 0.5 * diameter * cos(a);
      x[1] = 0.5 * diameter * sin(a);
      x[2] = length * ((double)j / (double)(along - 1) - 0.5);
    }
  lattice_tris(out, pattern);
  return LOOM_OK;
}

/* Vertex q of ring k; ring 0 is the centre, ring k starts after 1 + 3 k (k-1) vertices. */
static int32_t disk_vertex(int64_t k, int64_t q)
{
  return k == 0 ? 0 : (int32_t)(1 + 3 * k * (k - 1) + q % (6 * k));
}

loom_status mesh_disk(loom_err *err, double diameter, int64_t rings, mesh *out)
{
  if (rings < 1 || rings > 9000)
    return err_set(err, LOOM_E_CONFIG, "resolution %lld: a disk takes 1 to 9000 rings",
                   (long long)rings);
  LOOM_TRY(alloc_arrays(err, 1 + 3 * rings * (rings + 1), 6 * rings * rings, 0, out));
  for (int64_t k = 1; k <= rings; ++k)
    for (int64_t q = 0; q < 6 * k; ++q) {
      const double a = 2 * pi * (double)q / (double)(6 * k);
      const double r = 0.5 * diameter * (double)k / (double)rings;
      double *x = out->x + 3 * (int64_t)disk_vertex(k, q);
      x[0] = r * cos(a);
      x[1] = r * sin(a);
    }
  /* each of the six sectors of ring k has k triangles pointing in and k-1 pointing out */
  int32_t *t = out->tris;
  for (int64_t k = 1; k <= rings; ++k)
    for (int64_t s = 0; s < 6; ++s)
      for (int64_t q = 0; q < k; ++q) {
        *t++ = disk_vertex(k - 1, s * (k - 1) + q);
        *t++ = disk_vertex(k, s * k + q);
        *t++ = disk_vertex(k, s * k + q + 1);
        if (q + 1 == k) continue;
        *t++ = disk_vertex(k - 1, s * (k - 1) + q);
        *t++ = disk_vertex(k, s * k + q + 1);
        *t++ = disk_vertex(k - 1, s * (k - 1) + q + 1);
      }
  return LOOM_OK;
}

/* Corners of a cell are numbered x + 2 y + 4 z.  The inner tetrahedron uses the corners of
 * even parity, the other four cut off the odd ones; the mirrored cell swaps x (and two
 * vertices of each, to keep volumes positive). */
static const int8_t cell_tets[5][4] = {
    {0, 5, 3, 6}, {1, 3, 0, 5}, {2, 0, 3, 6}, {4, 5, 0, 6}, {7, 3, 5, 6}};

/* Outward faces of a cell, two triangles each, cut along even-parity diagonals. */
static const int8_t cell_faces[6][2][3] = {{{0, 6, 2}, {0, 4, 6}}, {{1, 3, 5}, {3, 7, 5}},
                                           {{0, 1, 5}, {0, 5, 4}}, {{2, 6, 3}, {6, 7, 3}},
                                           {{0, 3, 1}, {0, 2, 3}}, {{4, 5, 6}, {5, 7, 6}}};

static int32_t cell_corner(const int64_t num[3], const int64_t c[3], int corner, int mirrored)
{
  const int64_t dx = (corner & 1) ^ mirrored, dy = (corner >> 1) & 1, dz = corner >> 2;
  return (int32_t)(c[0] + dx + num[0] * (c[1] + dy + num[1] * (c[2] + dz)));
}

static void tet_cell(mesh *m, const int64_t num[3], const int64_t c[3], int64_t *tets,
                     int64_t *tris)
{
  const int mirrored = (int)((c[0] + c[1] + c[2]) & 1);
  for (int k = 0; k < 5; ++k, ++*tets) {
    int32_t *t = m->tets + 4 * *tets;
    for (int a = 0; a < 4; ++a) t[a] = cell_corner(num, c, cell_tets[k][a], mirrored);
    if (mirrored) {
      const int32_t swap = t[2];
      t[2] = t[3];
      t[3] = swap;
    }
  }
  for (int f = 0; f < 6; ++f) {
    const int axis = f / 2;
    const int far_side = (f & 1) ^ (axis == 0 ? mirrored : 0);
    if (c[axis] != (far_side ? num[axis] - 2 : 0)) continue;
    for (int k = 0; k < 2; ++k, ++*tris) {
      int32_t *t = m->tris + 3 * *tris;
      for (int a = 0; a < 3; ++a) t[a] = cell_corner(num, c, cell_faces[f][k][a], mirrored);
      if (mirrored) {
        const int32_t swap = t[1];
        t[1] = t[2];
        t[2] = swap;
      }
    }
  }
}

loom_status mesh_tet_box(loom_err *err, const double size[3], const int64_t num[3], mesh *out)
{
  for (int c = 0; c < 3; ++c)
    if (num[c] < 2 || num[c] > 1000)
      return err_set(err, LOOM_E_CONFIG,
                     "resolution %lld %lld %lld: 2 to 1000 vertices along each side",
                     (long long)num[0], (long long)num[1], (long long)num[2]);
  if (num[0] * num[1] * num[2] > MAX_VERTS / 8)
    return err_set(err, LOOM_E_CONFIG, "resolution: more than %d vertices; lower it",
                   (int)MAX_VERTS / 8);
  const int64_t cx = num[0] - 1, cy = num[1] - 1, cz = num[2] - 1;
  LOOM_TRY(alloc_arrays(err, num[0] * num[1] * num[2], 4 * (cx * cy + cy * cz + cz * cx),
                        5 * cx * cy * cz, out));
  for (int c = 0; c < 3; ++c) out->lattice[c] = (int32_t)num[c];
  double *x = out->x;
  for (int64_t k = 0; k < num[2]; ++k)
    for (int64_t j = 0; j < num[1]; ++j)
      for (int64_t i = 0; i < num[0]; ++i) {
        *x++ = size[0] * ((double)i / (double)cx - 0.5);
        *x++ = size[1] * ((double)j / (double)cy - 0.5);
        *x++ = size[2] * ((double)k / (double)cz - 0.5);
      }
  int64_t tets = 0, tris = 0, c[3];
  for (c[2] = 0; c[2] < cz; ++c[2])
    for (c[1] = 0; c[1] < cy; ++c[1])
      for (c[0] = 0; c[0] < cx; ++c[0]) tet_cell(out, num, c, &tets, &tris);
  return LOOM_OK;
}

void mesh_transform(mesh *m, const double P[12])
{
  for (int64_t i = 0; i < m->num_verts; ++i) pose_apply(P, m->x + 3 * i, m->x + 3 * i);
}
