/* listed.kern.h - elements in an order that a plugin chooses, for methods that go through the
 * vertices or elements of a mesh a part at a time.
 *
 * Placed behind the kernels of a type, these macros make two more kernels of their bodies:
 *   ELEM_LISTED(type, arity, rest, mat)  TYPE_listed: gradients of the elements that a list names
 *   ELEM_CORNER(type, arity, rest, mat)  TYPE_corner: for each corner that a list names, the row
 *                                        of the gradient and the diagonal 3x3 block of the Hessian
 * They read rest and material data in place, and write only the requested rows. */
#ifndef LOOM_ELEM_LISTED_KERN_H
#define LOOM_ELEM_LISTED_KERN_H

#include "elements/elements.h"
#include "geom/small.kern.h"

typedef struct elem_list_args {
  elem_args all;                     /* of the whole block; out, energy: unused */
  const int32_t *LK_RESTRICT elem;   /* [count], < ne */
  const int32_t *LK_RESTRICT corner; /* corner: [count], < arity */
  lk_real *LK_RESTRICT grad;         /* listed: [count][a][3] N; corner: [count][3] N */
  lk_real *LK_RESTRICT diag;         /* corner: [count][3][3] N/m */
} elem_list_args;

#define ELEM_DECLARE_CORNER(type) LK_DECLARE(type##_corner, elem_list_args)
#define ELEM_DECLARE_LISTED(type) LK_DECLARE(type##_listed, elem_list_args)

/* One element as if it were the whole block. */
LK_FN void elem_alone(const elem_args *all, lk_int e, int arity, int rest, int mat, lk_real *out,
                      elem_args *one)
{
  one->x = all->x;
  one->verts = all->verts + (int64_t)arity * e;
  one->rest = rest > 0 ? all->rest + (int64_t)rest * e : all->rest;
  one->mat = all->mat + (int64_t)mat * e;
  one->out = out;
  one->energy = NULL;
  one->how = all->how;
  one->reserved = 0;
}

#define ELEM_LISTED(type, arity, rest_len, mat_len)                                     \
  LK_KERNEL_PLAIN(type##_listed, a, i)                                                  \
  {                                                                                     \
    elem_args one;                                                                      \
    lk_real g[3 * (arity)];                                                             \
    elem_alone(&a->all, a->elem[i], arity, rest_len, mat_len, g, &one);                 \
    type##_gradient_body(&one, 0);                                                      \
    for (int c = 0; c < 3 * (arity); ++c) a->grad[3 * (arity) * (int64_t)i + c] = g[c]; \
  }

/* The corner is chosen at the end among constant ones, so that a GPU keeps all in registers. */
#define ELEM_CORNER(type, arity, rest_len, mat_len)                                     \
  LK_KERNEL_PLAIN(type##_corner, a, i)                                                  \
  {                                                                                     \
    elem_args one;                                                                      \
    lk_real g[3 * (arity)], H[9 * (arity) * (arity)];                                   \
    const int corner = a->corner[i];                                                    \
    elem_alone(&a->all, a->elem[i], arity, rest_len, mat_len, g, &one);                 \
    type##_gradient_body(&one, 0);                                                      \
    one.out = H;                                                                        \
    type##_hessian_body(&one, 0);                                                       \
    LK_UNROLL                                                                           \
    for (int k = 0; k < (arity); ++k) {                                                 \
      if (k != corner) continue;                                                        \
      LK_UNROLL                                                                         \
      for (int c = 0; c < 3; ++c) a->grad[3 * (int64_t)i + c] = g[3 * k + c];           \
      LK_UNROLL                                                                         \
      for (int c = 0; c < 9; ++c)                                                       \
        a->diag[9 * (int64_t)i + c] = H[3 * (arity) * (3 * k + c / 3) + 3 * k + c % 3]; \
    }                                                                                   \
  }

#endif
