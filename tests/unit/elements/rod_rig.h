/* rod_rig.h - the elastic part of a scene of yarns, with energies and forces at points of a test.
 */
#ifndef LOOM_TESTS_ROD_RIG_H
#define LOOM_TESTS_ROD_RIG_H

#include <math.h>

#include "elements/elements.h"
#include "support/tiny_scene.h"

typedef struct rig {
  tiny_scene t;
  loom_exec exec;
  loom_real scratch[4096], result[LOOM_NUM_RESULTS];
  elastic *el;
  loom_buf *x, *grad;
} rig;

static inline void rig_open(rig *g, const char *text)
{
  g->t = tiny_open_ok(text);
  g->exec = (loom_exec){.struct_size = sizeof g->exec,
                        .backend = LOOM_CPU,
                        .num_threads = 1,
                        .deterministic = 1,
                        .scratch = g->scratch,
                        .scratch_len = 4096,
                        .result = g->result};
  const loom_scene *p = &g->t.s->pub;
  cr_assert_eq(elastic_new(&g->t.err, g->t.m, &g->exec, p, &g->el), LOOM_OK, "%s", g->t.err.text);
  cr_assert_eq(buf_new(g->t.m, "test", "x", LOOM_REAL, 3 * p->num_verts, &g->x), LOOM_OK);
  cr_assert_eq(buf_new(g->t.m, "test", "grad", LOOM_REAL, 3 * p->num_verts, &g->grad), LOOM_OK);
  cr_assert_eq(buf_copy(g->t.m, &g->exec, g->x, p->rest_x), LOOM_OK);
}

static inline void rig_close(rig *g)
{
  elastic_free(g->el);
  buf_free(g->t.m, g->x);
  buf_free(g->t.m, g->grad);
  tiny_close(&g->t);
}

/* Where the frames are. */
static inline loom_buf *frames_of(const rig *g)
{
  for (int b = 0; b < g->t.s->pub.num_blocks; ++b)
    if (elastic_state(g->el, b) != NULL) return g->t.s->pub.blocks[b].rest;
  cr_assert_fail("the scene has no element type with a state");
  return NULL;
}

static inline loom_real *rig_map(rig *g, loom_buf *b)
{
  void *p;
  cr_assert_eq(buf_map(g->t.m, NULL, b, LOOM_RDWR, LOOM_AT_HOST, &p), LOOM_OK);
  return p;
}

static inline double rig_energy(rig *g)
{
  int used;
  double E = 0;
  cr_assert_eq(elastic_energy(g->el, g->x, 0, &used), LOOM_OK);
  for (int k = 0; k < used; ++k) E += (double)g->result[k];
  return E;
}

static inline void rig_gradient(rig *g)
{
  cr_assert_eq(buf_reset(g->t.m, g->grad, buf_count(g->grad)), LOOM_OK);
  cr_assert_eq(elastic_gradient(g->el, g->x, g->grad), LOOM_OK);
}

/* Net force and torque about the origin, and the largest force; N, N m */
static inline void rig_forces(rig *g, double force[3], double torque[3], double *most)
{
  rig_gradient(g);
  const loom_real *x = rig_map(g, g->x), *f = rig_map(g, g->grad);
  *most = 0;
  for (int c = 0; c < 3; ++c) force[c] = torque[c] = 0;
  for (int64_t i = 0; i < g->t.s->pub.num_verts; ++i)
    for (int c = 0; c < 3; ++c) {
      const int a = (c + 1) % 3, b = (c + 2) % 3;
      force[c] += (double)f[3 * i + c];
      torque[c] +=
          (double)x[3 * i + a] * (double)f[3 * i + b] - (double)x[3 * i + b] * (double)f[3 * i + a];
      *most = fmax(*most, fabs((double)f[3 * i + c]));
    }
  buf_unmap(g->t.m, g->x), buf_unmap(g->t.m, g->grad);
}

#endif
