/* tet_surface.c - see tet_surface.h. */
#include "mesh/tet_surface.h"

#include <stdlib.h>
#include <string.h>

#include "mesh/topo.h"

const int tet_face_corners[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};

double tet_six_volumes(const mesh *m, int64_t t)
{
  const int32_t *const v = m->tets + 4 * t;
  const double *const o = m->x + 3 * (int64_t)v[0];
  double e[3][3];
  for (int a = 0; a < 3; ++a)
    for (int c = 0; c < 3; ++c) e[a][c] = m->x[3 * (int64_t)v[a + 1] + c] - o[c];
  return e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) +
         e[0][1] * (e[1][2] * e[2][0] - e[1][0] * e[2][2]) +
         e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
}

loom_status tet_sort_faces(loom_err *err, const mesh *m, int32_t **key, int32_t **order)
{
  const int64_t n = 4 * (int64_t)m->num_tets;
  *key = *order = NULL;
  loom_status s = mesh_alloc(err, 3 * n, sizeof **key, key);
  if (s == LOOM_OK) s = mesh_alloc(err, n, sizeof **order, order);
  for (int64_t k = 0; k < n && s == LOOM_OK; ++k) {
    int32_t v[3];
    for (int a = 0; a < 3; ++a) v[a] = m->tets[4 * (k / 4) + tet_face_corners[k % 4][a]];
    for (int a = 0; a < 3; ++a) { /* equal ids keep their order */
      int place = 0;
      for (int b = 0; b < 3; ++b) place += v[b] < v[a] || (b < a && v[b] == v[a]);
      (*key)[3 * k + place] = v[a];
    }
  }
  if (s == LOOM_OK) s = topo_sort_rows(err, *key, n, 3, m->num_verts, *order);
  if (s != LOOM_OK) {
    free(*key);
    free(*order);
    *key = *order = NULL;
  }
  return s;
}

loom_status tet_surface(loom_err *err, const mesh *m, int32_t **tris, int32_t *num)
{
  const int64_t n = 4 * (int64_t)m->num_tets;
  int32_t *key, *order;
  *num = 0;
  *tris = NULL;
  LOOM_TRY(tet_sort_faces(err, m, &key, &order));
  const loom_status s = mesh_alloc(err, 3 * n, sizeof **tris, tris);
  for (int64_t k = 0, next; k < n && s == LOOM_OK; k = next) {
    const int32_t *const first = key + 3 * (int64_t)order[k];
    for (next = k + 1;
         next < n && memcmp(first, key + 3 * (int64_t)order[next], 3 * sizeof *key) == 0;)
      ++next;
    if (next > k + 1) continue;
    const int32_t *const t = m->tets + 4 * (int64_t)(order[k] / 4);
    const int *const f = tet_face_corners[order[k] % 4];
    const int outwards = tet_six_volumes(m, order[k] / 4) >= 0;
    int32_t *const to = *tris + 3 * (int64_t)(*num)++;
    to[0] = t[f[0]];
    to[1] = t[f[outwards ? 1 : 2]];
    to[2] = t[f[outwards ? 2 : 1]];
  }
  free(key);
  free(order);
  return s;
}
