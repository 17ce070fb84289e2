/* plates that yield: the rest curvature of each triangle after a sheet was bent to cylinders. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "elements/elements.h"
#include "elements/plate/plate.kern.h"
#include "support/bufs.h"
#include "support/proc.h"
#include "support/sheets.h"
#include "support/tiny_scene.h"

TestSuite(plate_yield, .init = proc_enter, .fini = proc_leave);

/* A sheet of one metre of the plate under test, with its block of patches. */
typedef struct yielding {
  sheet s;
  tiny_scene t;
  loom_exec e;
  elastic *el;
  loom_buf *rest; /* of the patches */
} yielding;

static void open_yielding(yielding *p, int kind, const char *keys)
{
  char text[512];
  FILE *const f = fopen("sheet.obj", "w");
  cr_assert_not_null(f);
  sheet_new(&p->s, kind, 12, 12, 1, kind == SHEET_EQUILATERAL ? 0.86602540378443864676 : 1);
  for (int32_t i = 0; i < p->s.nv; ++i)
    fprintf(f, "v %.17g %.17g 0\n", p->s.X[2 * i], p->s.X[2 * i + 1]);
  for (int32_t t = 0; t < p->s.nt; ++t)
    fprintf(f, "f %d %d %d\n", p->s.tris[3 * t] + 1, p->s.tris[3 * t + 1] + 1,
            p->s.tris[3 * t + 2] + 1);
  cr_assert_eq(fclose(f), 0);
  snprintf(text, sizeof text,
           "[cloth.a]\nshape = obj\nfile = sheet.obj\nmodel = stvk+plate\nbending = 1\n%s", keys);
  p->t = tiny_open_ok(text);
  p->e = t_exec(2);
  cr_assert_eq(elastic_new(&p->t.err, p->t.m, &p->e, &p->t.s->pub, &p->el), LOOM_OK, "%s",
               p->t.err.text);
  cr_assert_eq(p->t.s->pub.num_verts, p->s.nv);
  p->rest = NULL;
  for (int b = 0; b < p->t.s->pub.num_blocks; ++b)
    if (p->t.s->pub.blocks[b].rest_len == PLATE_REST) p->rest = p->t.s->pub.blocks[b].rest;
  cr_assert_not_null(p->rest);
}

static void close_yielding(yielding *p)
{
  elastic_free(p->el);
  exec_close(&p->e);
  tiny_close(&p->t);
  sheet_free(&p->s);
}

/* The end of a step at a cylinder of curvature k (1/m) whose axis is `turn` rad from that of y. */
static void bend_to_cylinder(yielding *p, double k, double turn)
{
  loom_real *const x = calloc(3 * (size_t)p->s.nv, sizeof *x);
  for (int32_t i = 0; i < p->s.nv; ++i) {
    const double *const X = p->s.X + 2 * i, u = X[0] * cos(turn) + X[1] * sin(turn);
    x[3 * i] = (loom_real)X[0], x[3 * i + 1] = (loom_real)X[1];
    x[3 * i + 2] = (loom_real)(0.5 * k * u * u);
  }
  loom_buf *const at = t_buf(p->t.m, LOOM_REAL, 3 * p->s.nv, x);
  T_OK(p->t.m, elastic_commit(p->el, at));
  buf_free(p->t.m, at);
  free(x);
}

/* The least and largest rest curvature (1/m) of triangles three rings from the boundary. */
static void find_rest_curvatures(yielding *p, double *least, double *most)
{
  loom_real *const rest = tiny_copy(&p->t, p->rest);
  *least = INFINITY, *most = 0;
  for (int32_t t = 0; t < p->s.nt; ++t) {
    const loom_real *const r = rest + (int64_t)PLATE_REST * t;
    double sum = 0;
    int ring = 9;
    for (int a = 0; a < 3; ++a) {
      const int own = p->s.ring[p->s.tris[3 * t + a]];
      ring = own < ring ? own : ring;
      sum += (double)(r[27 + a] * r[27 + a]);
    }
    if (ring < 3) continue;
    *least = fmin(*least, sqrt(sum / (double)r[30]));
    *most = fmax(*most, sqrt(sum / (double)r[30]));
  }
  free(rest);
}

/* Bent to 1e-3/m with a yield curvature of 4e-4/m: (1e-3 - 4e-4)/(1 + H) stays in every triangle of
 * every mesh, whatever the direction and the number of steps. */
Test(plate_yield, curvature_that_stays_on_every_mesh)
{
  if (sizeof(loom_real) < 8) cr_skip_test("curvatures of 1e-3/m need double precision");
  for (int kind = 0; kind <= SHEET_DELAUNAY; ++kind)
    for (int k = 0; k < 8; ++k) {
      const double H = k & 1 ? 0.5 : 0, turn = k & 2 ? 0.5 : 0, law = 6e-4 / (1 + H);
      const int steps = k & 4 ? 7 : 1;
      double least, most;
      yielding p;
      open_yielding(&p, kind,
                    k & 1 ? "bending_yield = 4e-4\nbending_hardening = 0.5\n"
                          : "bending_yield = 4e-4\n");
      for (int s = 1; s <= steps; ++s) bend_to_cylinder(&p, 1e-3 * s / steps, turn);
      bend_to_cylinder(&p, law, turn); /* free of moments: nothing moves */
      find_rest_curvatures(&p, &least, &most);
      cr_expect(fabs(least - law) < 1e-8 && fabs(most - law) < 1e-8,
                "%s, H %g, turn %g, %d steps: %.9g to %.9g, not %.9g", sheet_names[kind], H, turn,
                steps, least, most, law);
      close_yielding(&p);
    }
}

/* Bent back, a hardened plate yields later: with p1 = (k - y)/(1 + H) the move at -k is
 * (k + p1 - y - H p1)/(1 + H). */
Test(plate_yield, bent_back)
{
  if (sizeof(loom_real) < 8) cr_skip_test("curvatures of 1e-3/m need double precision");
  const double k = 1e-3, y = 4e-4, H = 0.5, p1 = (k - y) / (1 + H);
  const double law = fabs(p1 - (k + p1 - y - H * p1) / (1 + H));
  double least, most;
  yielding p;
  open_yielding(&p, SHEET_ALTERNATE, "bending_yield = 4e-4\nbending_hardening = 0.5\n");
  bend_to_cylinder(&p, k, 0);
  bend_to_cylinder(&p, -k, 0);
  find_rest_curvatures(&p, &least, &most);
  cr_expect(fabs(least - law) < 1e-8 && fabs(most - law) < 1e-8, "%.9g to %.9g, not %.9g", least,
            most, law);
  close_yielding(&p);
}

/* Below the yield curvature no bit of the rest data changes, and without one there is no state. */
Test(plate_yield, no_move_below_the_yield_curvature)
{
  double least, most;
  yielding p;
  int states = 0;
  open_yielding(&p, SHEET_ALTERNATE, "bending_yield = 1.01e-3\n");
  for (int b = 0; b < p.t.s->pub.num_blocks; ++b) states += elastic_state(p.el, b) != NULL;
  cr_expect_eq(states, 1, "%d", states);
  bend_to_cylinder(&p, 1e-3, 0.3);
  find_rest_curvatures(&p, &least, &most);
  cr_expect(least == 0 && most == 0, "%g to %g", least, most);
  close_yielding(&p);
  open_yielding(&p, SHEET_ALTERNATE, "");
  for (int b = 0; b < p.t.s->pub.num_blocks; ++b)
    cr_expect_null(elastic_state(p.el, b), "block %d has a state", b);
  bend_to_cylinder(&p, 1e-3, 0.3);
  find_rest_curvatures(&p, &least, &most);
  cr_expect(least == 0 && most == 0, "%g to %g", least, most);
  close_yielding(&p);
}
