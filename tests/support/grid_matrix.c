/* grid_matrix.c - see grid_matrix.h. */
#include "support/grid_matrix.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROW = 25 }; /* entries of a row at most */

static void *allocate_matrix_array(size_t count, size_t size)
{
  void *const p = calloc(count, size);
  cr_assert(p != NULL);
  return p;
}

void grid_matrix(int side, const uint8_t *fixed, double *H)
{
  const int n = side * side;
  double *const lap = allocate_matrix_array((size_t)n * (size_t)n, sizeof *lap);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      const int dx = abs(i % side - j % side), dy = abs(i / side - j / side);
      if (dx + dy != 1) continue;
      lap[n * i + j] = -1.0 - 0.3 * sin(0.7 * (i + j));
      lap[n * i + i] -= lap[n * i + j];
    }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      double q = 0.0;
      for (int k = 0; k < n; ++k) q += lap[n * i + k] * lap[n * k + j];
      H[n * i + j] = lap[n * i + j] + 0.05 * q + (i == j ? 0.02 : 0.0);
      if ((fixed[i] || fixed[j]) && i != j) H[n * i + j] = 0.0;
    }
  free(lap);
}

loom_csr grid_csr(test_host *t, int n, const double *H)
{
  int64_t *const ptr = allocate_matrix_array((size_t)n + 1, sizeof *ptr), m = 0;
  int32_t *const col = allocate_matrix_array((size_t)n * ROW, sizeof *col);
  loom_real *const val = allocate_matrix_array((size_t)n * ROW, sizeof *val);
  for (int i = 0; i < n; ++i) {
    ptr[i] = m;
    for (int j = 0; j < n; ++j) {
      if (H[n * i + j] == 0.0) continue;
      cr_assert_lt(m, (int64_t)n * ROW);
      col[m] = j;
      val[m++] = (loom_real)H[n * i + j];
    }
  }
  ptr[n] = m;
  const loom_csr L = {.struct_size = sizeof L,
                      .num_rows = n,
                      .nnz = m,
                      .row_ptr = th_buf(t, LOOM_I64, n + 1, ptr),
                      .col = th_buf(t, LOOM_I32, m, col),
                      .val = th_buf(t, LOOM_REAL, m, val)};
  free(ptr), free(col), free(val);
  return L;
}

void grid_triangles(test_host *t, int side)
{
  const int n = side * side;
  int32_t *const tris = allocate_matrix_array(6 * (size_t)n, sizeof *tris),
                 *const object = allocate_matrix_array((size_t)n, sizeof *object);
  int m = 0;
  for (int j = 0; j + 1 < side; ++j)
    for (int i = 0; i + 1 < side; ++i) {
      const int32_t a = j * side + i;
      const int32_t two[6] = {a, a + 1, a + side + 1, a, a + side + 1, a + side};
      memcpy(tris + m, two, sizeof two);
      m += 6;
    }
  t->scene.tris = th_buf(t, LOOM_I32, m, tris);
  t->scene.num_tris = m / 3;
  t->scene.object = th_buf(t, LOOM_I32, n, object);
  t->scene.num_objects = 1;
  free(tris), free(object);
}
