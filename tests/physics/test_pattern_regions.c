/* test_pattern_regions.c - [region.NAME] of a piece of a pattern: its triangles, and no other ones.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/proc.h"
#include "support/tiny_scene.h"

TestSuite(pattern_regions, .init = proc_enter, .fini = proc_leave);

#define PIECES                                                                                  \
  "[piece.left]\nstart = -0.2 0\nlow = line 0 0\nfront = line 0 0.2\ntop = line -0.2 0.2\nout " \
  "= line -0.2 0\n[piece.right]\nstart = 0 0\nlow = line 0.3 0\nout = line 0.3 0.2\ntop = "     \
  "line 0 0.2\nfront = line 0 0\n[seams]\nfront = left.front right.front\n"
#define CLOTH                                                                                \
  "[cloth.a]\nmodel = arap+isometric\nshape = pattern\nfile = two.ini\nedge_length = 0.05\n" \
  "sewing = merge\ndensity = 0.1\nmembrane = 50\n[region.b]\nobject = a\nwhere = right\n"    \
  "density = 0.4\nmembrane = 200\n"

/* The left piece has 0.04 m^2 with 0.1 kg/m^2, the right one 0.06 m^2 with 0.4 kg/m^2. */
Test(pattern_regions, a_piece)
{
  double total = 0, area[2] = {0};
  proc_write("two.ini", PIECES);
  tiny_scene t = tiny_open_ok(CLOTH);
  const loom_elem_block *tri = NULL;
  for (int k = 0; k < t.s->pub.num_blocks; ++k)
    if (strcmp(t.s->pub.blocks[k].type, "tri_arap") == 0) tri = &t.s->pub.blocks[k];
  cr_assert_not_null(tri);
  loom_real *const mass = tiny_copy(&t, t.s->pub.mass), *const mat = tiny_copy(&t, tri->mat);
  loom_real *const x = tiny_copy(&t, t.s->pub.rest_x);
  int32_t *const ids = tiny_copy(&t, tri->verts);
  for (int v = 0; v < t.s->pub.num_verts; ++v) total += mass[v];
  for (int k = 0; k < tri->num_elems; ++k) {
    const int32_t *const c = ids + 3 * k;
    const double mean = (x[3 * c[0]] + x[3 * c[1]] + x[3 * c[2]]) / 3;
    cr_assert_eq(mat[k * tri->mat_len], mean > 0 ? 200 : 50, "triangle %d at %g m", k, mean);
    area[mean > 0] += 1;
  }
  cr_assert(area[0] > 10 && area[1] > 15);
  cr_assert_float_eq(total, 0.04 * 0.1 + 0.06 * 0.4, 1e-8, "%g kg", total);
  free(ids), free(x), free(mat), free(mass);
  tiny_close(&t);
}

Test(pattern_regions, a_piece_that_is_not_there)
{
  proc_write("two.ini", PIECES);
  tiny_refused(CLOTH "[region.c]\nobject = a\nwhere = sleeve\ndensity = 1\n",
               LOOM_TEXTS("[region.c] where", "\"sleeve\"", "there is left, right", NULL));
}
