/* grid.h - a square triangle sheet with hinges, for tests of cost and memory. */
#ifndef LOOM_TESTS_GRID_H
#define LOOM_TESTS_GRID_H

#include "support/bufs.h"

typedef struct grid_sheet {
  loom_scene sc;             /* blocks, mass 1, fixed 0; num_verts = side^2 */
  loom_elem_block blocks[2]; /* triangles, hinges (edge vertices first) */
} grid_sheet;

static inline int32_t *grid_hinge(int32_t *h, int32_t a, int32_t b, int32_t c, int32_t d)
{
  h[0] = a, h[1] = b, h[2] = c, h[3] = d;
  return h + 4;
}

/* side x side vertices, one diagonal per cell */
static inline void grid_make(mem *m, int32_t side, grid_sheet *g)
{
  const int32_t n = side * side, cells = (side - 1) * (side - 1);
  int32_t *tri = malloc((size_t)cells * 6 * sizeof *tri), *t = tri;
  int32_t *hinge = malloc((size_t)cells * 12 * sizeof *hinge), *h = hinge;
  loom_real *mass = malloc((size_t)n * sizeof *mass);
  cr_assert(tri != NULL && hinge != NULL && mass != NULL);
  for (int32_t i = 0; i < n; ++i) mass[i] = 1;
  for (int32_t j = 0; j + 1 < side; ++j) {
    for (int32_t i = 0; i + 1 < side; ++i) {
      const int32_t a = j * side + i, b = a + 1, c = a + side, d = c + 1;
      t[0] = a, t[1] = b, t[2] = d, t[3] = a, t[4] = d, t[5] = c;
      t += 6;
      h = grid_hinge(h, a, d, b, c);
      if (j > 0) h = grid_hinge(h, a, b, d, a - side);
      if (i > 0) h = grid_hinge(h, a, c, d, a - 1);
    }
  }
  const int32_t hinges = (int32_t)((h - hinge) / 4);
  g->blocks[0] = (loom_elem_block){.type = "triangle",
                                   .num_elems = 2 * cells,
                                   .arity = 3,
                                   .verts = t_buf(m, LOOM_I32, 6 * (int64_t)cells, tri)};
  g->blocks[1] = (loom_elem_block){.type = "hinge",
                                   .num_elems = hinges,
                                   .arity = 4,
                                   .verts = t_buf(m, LOOM_I32, 4 * (int64_t)hinges, hinge)};
  g->sc = (loom_scene){.num_verts = n,
                       .num_blocks = 2,
                       .blocks = g->blocks,
                       .mass = t_buf(m, LOOM_REAL, n, mass),
                       .fixed = t_buf(m, LOOM_U8, n, NULL)};
  free(tri);
  free(hinge);
  free(mass);
}

#endif
