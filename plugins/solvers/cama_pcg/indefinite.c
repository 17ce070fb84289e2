/* indefinite.c - which element made the matrix indefinite: see system_blame() in system.h. */
#include "system.h"

typedef struct suspect {
  double curvature; /* J, p'K p of the element */
  int block, elem;  /* block -1: none is negative */
  int32_t v[8];
} suspect;

static double element_curvature(const loom_real *K, const int32_t *v, int a, const loom_real *p)
{
  double sum = 0.0;
  for (int i = 0; i < 3 * a; ++i)
    for (int j = 0; j < 3 * a; ++j)
      sum += (double)(p[3 * (int64_t)v[i / 3] + i % 3] * K[i * 3 * a + j] *
                      p[3 * (int64_t)v[j / 3] + j % 3]);
  return sum;
}

static loom_status find_worst_element(cama_system *s, const loom_step *st, int how, loom_buf *p,
                                      int block, suspect *worst)
{
  const loom_elem_block *const b = &s->sc->blocks[block];
  const int a = b->arity;
  LOOM_TRY(s->host->buf_resize(s->host, s->K, 9 * (int64_t)a * a * b->num_elems));
  LOOM_TRY(s->host->elem_hessians(s->host, block, 0, b->num_elems, st->x, how, s->K));
  plug_maps m = plug_maps_on(s->host, s->e);
  const loom_real *const K = plug_read_host(&m, s->K), *const dir = plug_read_host(&m, p);
  const int32_t *const v = plug_read_host(&m, b->verts);
  LOOM_TRY(m.status);
  for (int32_t e = 0; e < b->num_elems; ++e) {
    const double own = element_curvature(K + 9 * (int64_t)a * a * e, v + (int64_t)a * e, a, dir);
    if (own >= worst->curvature) continue;
    *worst = (suspect){.curvature = own, .block = block, .elem = e};
    for (int c = 0; c < a; ++c) worst->v[c] = v[(int64_t)a * e + c];
  }
  return plug_unbind(&m);
}

loom_status system_blame(cama_system *s, const loom_step *st, int how, loom_buf *p,
                         double curvature)
{
  suspect worst = {.block = -1};
  for (int k = 0; k < s->sc->num_blocks; ++k)
    LOOM_TRY(find_worst_element(s, st, how, p, k, &worst));
  LOOM_CHECK(s->host, worst.block >= 0, LOOM_E_NUMERIC,
             "the matrix is not positive definite: p'A p = %g J in a linear solve, and no element "
             "has a share below zero, so it is contact's; hessian = clamp asks the contact model "
             "for definite blocks",
             curvature);
  return LOOM_FAIL(s->host, LOOM_E_NUMERIC,
                   "the matrix is not positive definite: p'A p = %g J in a linear solve; element "
                   "%d of %s (vertices %d, %d, ...) has the least share of it, %g J: hessian = "
                   "clamp sets negative eigenvalues to zero",
                   curvature, worst.elem, s->sc->blocks[worst.block].type, (int)worst.v[0],
                   (int)worst.v[1], worst.curvature);
}
