/* test_bcsr_lanes.c - kernels of kit/bcsr with elements that the threads of a block share: several
 * lanes, here threads of OpenMP with a barrier in place of LK_SYNC(), against plain loops. */
#include <criterion/criterion.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "loom/kernel.h"

#undef LK_SYNC
#define LK_SYNC() LK_PRAGMA_(omp barrier)
#undef LK_KERNEL_BLOCK
#define LK_KERNEL_BLOCK(name, a, i, lane, lanes)                                                   \
  LK_FN void name##_body(const name##_args_t *a, lk_int i, lk_int lane, lk_int lanes);             \
  static void name##_by(const name##_args_t *a, lk_int n, int lanes)                               \
  {                                                                                                \
    for (lk_int i_ = 0; i_ < n; ++i_)                                                              \
      LK_PRAGMA_(omp parallel num_threads(lanes)) name##_body(a, i_, omp_get_thread_num(), lanes); \
  }                                                                                                \
  LK_FN void name##_body(const name##_args_t *a, lk_int i, lk_int lane, lk_int lanes)
#include "kit/bcsr.kern.c" /* NOLINT(bugprone-suspicious-include): with these macros */

enum { ROWS = 90, LONGEST = 400, ELEMENTS = 150, ARITY = 4 };
static const int lanes_of[] = {1, 2, 7, 32};

static int random_below(uint32_t *seed, int n)
{
  *seed = *seed * 1664525u + 1013904223u;
  return (int)((uint64_t)(*seed >> 8) * (uint64_t)n >> 24);
}

static int compare_columns(const void *a, const void *b)
{
  const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

/* Lengths up to LONGEST, among them 0, 1, whole runs and slices; many repetitions; absent columns.
 */
Test(bcsr_lanes, sorted_columns)
{
  int64_t room[ROWS + 1] = {0}, num[ROWS];
  int32_t *const start = malloc(sizeof *start * ROWS * LONGEST),
                 *const list = malloc(sizeof *list * ROWS * LONGEST),
                 *const spare = malloc(sizeof *spare * ROWS * LONGEST);
  uint32_t seed = 5;
  omp_set_dynamic(0);
  for (int i = 0; i < ROWS; ++i) {
    const int n = i < 35 ? i : random_below(&seed, LONGEST);
    room[i + 1] = room[i] + n;
    for (int64_t k = room[i]; k < room[i + 1]; ++k)
      start[k] = k > room[i] && random_below(&seed, 6) == 0 ? NONE : random_below(&seed, 3 * n);
  }
  for (size_t l = 0; l < sizeof lanes_of / sizeof *lanes_of; ++l) {
    const bcsr_args a = {.num = num, .room = room, .list = list, .spare = spare};
    memcpy(list, start, sizeof *list * (size_t)room[ROWS]);
    for (int i = 0; i < ROWS; ++i) num[i] = room[i + 1] - room[i];
    bcsr_unique_by(&a, ROWS, lanes_of[l]);
    for (int i = 0; i < ROWS; ++i) {
      int32_t row[LONGEST];
      const int n = (int)(room[i + 1] - room[i]);
      int64_t to = 0;
      memcpy(row, start + room[i], sizeof *row * (size_t)n);
      qsort(row, (size_t)n, sizeof *row, compare_columns);
      for (int k = 0; k < n; ++k)
        if (row[k] != NONE && (k == 0 || row[k] != row[k - 1])) row[to++] = row[k];
      cr_assert_eq(num[i], to, "%d lanes, row %d: %d, not %d", lanes_of[l], i, (int)num[i],
                   (int)to);
      cr_assert_arr_eq(list + room[i], row, sizeof *row * (size_t)to, "%d lanes, row %d",
                       lanes_of[l], i);
    }
  }
  free(start), free(list), free(spare);
}

/* Elements of one arity, and of several: each row gets the columns of its corners in their order,
 * behind the one that it has. */
static void check_row_columns(int by_ptr)
{
  static int32_t node[ELEMENTS * ARITY], corner[ELEMENTS * ARITY], owner[ELEMENTS * ARITY];
  static int64_t ptr[ELEMENTS + 1], first[ROWS + 1], room[ROWS + 1], num[ROWS];
  static int32_t list[ROWS + ELEMENTS * ARITY * ARITY];
  uint32_t seed = 11;
  int64_t corners = 0;
  omp_set_dynamic(0);
  for (int e = 0; e < ELEMENTS; ++e) {
    const int n = by_ptr ? random_below(&seed, ARITY + 1) : ARITY;
    ptr[e + 1] = ptr[e] + n;
    for (int c = 0; c < n; ++c, ++corners) {
      node[corners] = random_below(&seed, 5) == 0 ? -1 : random_below(&seed, ROWS / 3);
      owner[corners] = e;
    }
  }
  int64_t at = 0;
  for (int i = 0; i < ROWS; ++i, first[i] = at) {
    room[i + 1] = room[i] + 1;
    for (int32_t c = 0; c < corners; ++c) {
      if (node[c] != i) continue;
      corner[at++] = c;
      room[i + 1] += ptr[owner[c] + 1] - ptr[owner[c]];
    }
  }
  const bcsr_args a = {.ptr = by_ptr ? ptr : NULL,
                       .node = node,
                       .owner = owner,
                       .corner = corner,
                       .first = first,
                       .num = num,
                       .room = room,
                       .list = list,
                       .n = ROWS,
                       .arity = ARITY};
  for (size_t l = 0; l < sizeof lanes_of / sizeof *lanes_of; ++l) {
    memset(list, 0xff, sizeof list);
    for (int i = 0; i < ROWS; ++i) num[i] = 1;
    bcsr_collect_by(&a, ROWS, lanes_of[l]);
    for (int i = 0; i < ROWS; ++i) {
      int64_t k = room[i] + 1;
      cr_assert_eq(room[i] + num[i], room[i + 1], "%d lanes, row %d", lanes_of[l], i);
      cr_assert_eq(list[room[i]], -1);
      for (int32_t c = 0; c < corners; ++c)
        for (int64_t d = ptr[owner[c]]; node[c] == i && d < ptr[owner[c] + 1]; ++d)
          cr_assert_eq(list[k++], node[d] < 0 ? NONE : node[d], "%d lanes, row %d", lanes_of[l], i);
    }
  }
}

Test(bcsr_lanes, collected_columns)
{
  check_row_columns(0);
  check_row_columns(1);
}
