/* imperfection.c: waves of the given size, the same for a seed and for every resolution. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/tiny_scene.h"

static const double eps = sizeof(loom_real) == 4 ? 1e-6 : 1e-14;

static loom_real *start_of(const char *text, int32_t *n)
{
  tiny_scene t = tiny_open_ok(text);
  loom_real *const x = tiny_copy(&t, t.s->x0);
  *n = t.s->pub.num_verts;
  tiny_close(&t);
  return x;
}

#define SHEET \
  "[cloth.a]\nmodel = arap+isometric\npattern = regular\nsize = 1 0.6\nresolution = 21 13\n"

Test(imperfection, is_of_its_size_along_normals)
{
  int32_t n, m;
  double sum = 0.0, least = 1.0, most = -1.0;
  loom_real *const flat = start_of(SHEET, &n), *const x =
                                                   start_of(SHEET "imperfection = 2 mm\n", &m);
  cr_assert_eq(n, m);
  for (int32_t i = 0; i < n; ++i) {
    cr_expect_eq(x[3 * i], flat[3 * i]);
    cr_expect_eq(x[3 * i + 1], flat[3 * i + 1]);
    sum += (double)x[3 * i + 2] * (double)x[3 * i + 2];
    least = fmin(least, (double)x[3 * i + 2]);
    most = fmax(most, (double)x[3 * i + 2]);
  }
  cr_expect_float_eq(sqrt(sum / n), 2e-3, 1e-3 * eps + 1e-9);
  cr_expect(least < -1e-3 && most > 1e-3 && most < 1e-2, "waves from %g to %g m", least, most);
  free(flat), free(x);
}

Test(imperfection, comes_from_its_seed)
{
  int32_t n, same = 0;
  loom_real *const a = start_of(SHEET "imperfection = 1e-4\nimperfection_seed = 5\n", &n);
  loom_real *const b = start_of(SHEET "imperfection = 1e-4\nimperfection_seed = 5\n", &n);
  loom_real *const c = start_of(SHEET "imperfection = 1e-4\nimperfection_seed = 6\n", &n);
  cr_expect_eq(memcmp(a, b, 3 * sizeof *a * (size_t)n), 0);
  for (int32_t i = 0; i < n; ++i) same += a[3 * i + 2] == c[3 * i + 2];
  cr_expect_lt(same, n / 10);
  free(a), free(b), free(c);
}

/* Nodes that two resolutions share lie at the same height, but for the means over the nodes. */
Test(imperfection, is_the_same_for_every_resolution)
{
  int32_t n, m;
  double most = 0.0;
  loom_real *const coarse = start_of(SHEET "imperfection = 1e-3\n", &n);
  loom_real *const fine = start_of("[cloth.a]\nmodel = arap+isometric\npattern = regular\nsize = 1 "
                                   "0.6\nresolution = 41 25\nimperfection = 1e-3\n",
                                   &m);
  for (int j = 0; j < 13; ++j)
    for (int i = 0; i < 21; ++i)
      most = fmax(most, fabs((double)coarse[3 * (21 * j + i) + 2] -
                             (double)fine[3 * (82 * j + 2 * i) + 2]));
  cr_expect_lt(most, 3e-4, "%g m", most);
  free(coarse), free(fine);
}

Test(imperfection, seed_alone_is_refused)
{
  tiny_refused(SHEET "imperfection_seed = 3\n",
               (const char *const[]){"imperfection_seed", "imperfection", NULL});
}
