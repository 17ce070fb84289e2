/* material.c - material coordinates of meshes, see material.h. */
#include "mesh/material.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names of pieces ---- */

void material_names_free(material_names *names)
{
  free(names->slot);
  *names = (material_names){0};
}

static uint64_t hash_name(const char *name, int len)
{
  uint64_t h = UINT64_C(1469598103934665603); /* FNV-1a */
  for (int k = 0; k < len; ++k) h = (h ^ (unsigned char)name[k]) * UINT64_C(1099511628211);
  return h ^ h >> 29;
}

/* Where the name stands, or would. */
static int64_t find_slot(const mesh *m, const material_names *names, const char *name, int len)
{
  int64_t k = (int64_t)(hash_name(name, len) & (uint64_t)(names->size - 1));
  for (; names->slot[k] != 0; k = (k + 1) & (names->size - 1)) {
    const char *const there = m->piece_names[names->slot[k] - 1];
    if (strncmp(there, name, (size_t)len) == 0 && there[len] == '\0') break;
  }
  return k;
}

static loom_status more_room(loom_err *err, mesh *m, material_names *names)
{
  material_names wide = {.size = names->size > 0 ? 2 * names->size : 32};
  char **const list = realloc(m->piece_names, (size_t)wide.size / 2 * sizeof *list);
  if (list == NULL)
    return err_set(err, LOOM_E_NOMEM, "no memory for %lld pieces", (long long)wide.size);
  m->piece_names = list;
  LOOM_TRY(mesh_alloc(err, wide.size, sizeof *wide.slot, &wide.slot));
  for (int32_t p = 0; p < m->num_pieces; ++p)
    wide.slot[find_slot(m, &wide, list[p], (int)strlen(list[p]))] = p + 1;
  material_names_free(names);
  *names = wide;
  return LOOM_OK;
}

loom_status material_piece(loom_err *err, mesh *m, material_names *names, const char *name, int len,
                           int32_t *piece)
{
  char *copy;
  if (2 * (int64_t)m->num_pieces >= names->size) LOOM_TRY(more_room(err, m, names));
  const int64_t k = find_slot(m, names, name, len);
  *piece = names->slot[k] - 1;
  if (*piece >= 0) return LOOM_OK;
  LOOM_TRY(mesh_alloc(err, len + 1, 1, &copy));
  memcpy(copy, name, (size_t)len);
  *piece = m->num_pieces;
  m->piece_names[m->num_pieces++] = copy;
  names->slot[k] = m->num_pieces;
  return LOOM_OK;
}

/* ---- coordinates ---- */

static double chord_length(const double *a, const double *b)
{
  const double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
  return sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
}

loom_status material_unroll(loom_err *err, mesh *m)
{
  const int32_t around = m->lattice[0];
  /* the chord, so that the flat strip has the edges of the tube */
  const double chord = m->closed_x ? chord_length(m->x, m->x + 3) : 0;
  LOOM_TRY(mesh_alloc(err, 6 * (int64_t)m->num_tris, sizeof *m->uv, &m->uv));
  for (int64_t t = 0; t < m->num_tris; ++t) {
    const int32_t *const v = m->tris + 3 * t;
    int last = 0; /* a corner in the last column: the first column follows it */
    for (int a = 0; a < 3 && m->closed_x; ++a) last |= v[a] % around == around - 1;
    for (int a = 0; a < 3; ++a) {
      const double *const x = m->x + 3 * (int64_t)v[a];
      double *const uv = m->uv + 2 * (3 * t + a);
      const int32_t i = m->closed_x ? v[a] % around : 0;
      uv[0] = m->closed_x ? chord * (last && i == 0 ? around : i) : x[0];
      uv[1] = m->closed_x ? x[2] : x[1];
    }
  }
  return LOOM_OK;
}

static loom_status refuse_triangle(loom_err *err, const mesh *m, const char *name, int64_t t,
                                   const char *what)
{
  char place[600];
  if (m->tri_line != NULL)
    snprintf(place, sizeof place, "%s:%d", name, m->tri_line[t]);
  else
    snprintf(place, sizeof place, "%s", name);
  return err_set(err, LOOM_E_CONFIG, "%s: triangle %lld (ids count from 0) %s", place, (long long)t,
                 what);
}

loom_status material_check(loom_err *err, const mesh *m, const char *name)
{
  /* of the longest side, as the doctor's flat triangles */
  static const double flat = 1e-6;
  char what[256];
  for (int64_t t = 0; t < m->num_tris; ++t) {
    const double *const a = m->uv + 6 * t, *const b = a + 2, *const c = a + 4;
    const double p[2] = {b[0] - a[0], b[1] - a[1]}, q[2] = {c[0] - a[0], c[1] - a[1]};
    const double s[2] = {c[0] - b[0], c[1] - b[1]};
    const double longest =
        fmax(p[0] * p[0] + p[1] * p[1], fmax(q[0] * q[0] + q[1] * q[1], s[0] * s[0] + s[1] * s[1]));
    const double area2 = fabs(p[0] * q[1] - p[1] * q[0]);
    if (!isfinite(a[0] + a[1] + b[0] + b[1] + c[0] + c[1]))
      return refuse_triangle(
          err, m, name, t,
          "has a corner without material coordinates; give all corners a vt, or set "
          "rest = initial");
    if (area2 > flat * longest) continue;
    snprintf(what, sizeof what,
             "has zero area in material coordinates (%g %g, %g %g, %g %g m); move one of them, or "
             "set rest = initial",
             a[0], a[1], b[0], b[1], c[0], c[1]);
    return refuse_triangle(err, m, name, t, what);
  }
  return LOOM_OK;
}
