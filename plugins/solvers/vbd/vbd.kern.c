/* vbd.kern.c - see vbd.kern.h.  Equations and sections refer to Chen et al. 2024. */
#include "vbd.kern.h"

#include "geom/small.kern.h"

/* d = H^-1 f by Cholesky's factor; 0 where H is not positive definite. */
LK_FN int vbd_solve3(const lk_real *H, const lk_real *f, lk_real *d)
{
  const lk_real least = LK_EPSILON * (H[0] + H[4] + H[8]);
  if (!(H[0] > least)) return 0;
  const lk_real l00 = LK_SQRT(H[0]), l10 = H[3] / l00, l20 = H[6] / l00;
  const lk_real q1 = H[4] - l10 * l10;
  if (!(q1 > least)) return 0;
  const lk_real l11 = LK_SQRT(q1), l21 = (H[7] - l20 * l10) / l11;
  const lk_real q2 = H[8] - l20 * l20 - l21 * l21;
  if (!(q2 > least)) return 0;
  const lk_real l22 = LK_SQRT(q2);
  const lk_real z0 = f[0] / l00, z1 = (f[1] - l10 * z0) / l11;
  const lk_real z2 = (f[2] - l20 * z0 - l21 * z1) / l22;
  d[2] = z2 / l22;
  d[1] = (z1 - l21 * d[2]) / l11;
  d[0] = (z0 - l10 * d[1] - l20 * d[2]) / l00;
  return 1;
}

/* Contact, linearised at x0: f -= its gradient at x, H += its diagonal block.  Vertices of the same
 * colour move at the same time and still stand at x0.  The norm of the block that couples them to v
 * is added to the diagonal, so that the quadratic model falls for any move of these vertices. */
LK_FN void vbd_contact(const vbd_move_args *a, int32_t v, lk_real *f, lk_real *H)
{
  if (a->row[v] == a->row[v + 1]) return;
  for (int c = 0; c < 3; ++c) f[c] -= a->force[3 * (int64_t)v + c];
  for (int64_t k = a->row[v]; k < a->row[v + 1]; ++k) {
    const int32_t j = a->col[k];
    const lk_real *const B = a->val + 9 * k;
    if (j == v)
      for (int c = 0; c < 9; ++c) H[c] += B[c];
    if (j != v && a->colour[j] == a->colour[v]) {
      const lk_real w = lk_row_norm33(B);
      for (int c = 0; c < 3; ++c) H[4 * c] += w;
      continue;
    }
    lk_real d[3];
    for (int c = 0; c < 3; ++c) d[c] = a->x[3 * (int64_t)j + c] - a->x0[3 * (int64_t)j + c];
    for (int c = 0; c < 3; ++c) f[c] -= lk_dot3(B + 3 * c, d);
  }
}

/* H dx = f (section 3.3) with all else held: x += dx.  A block that is not positive definite, which
 * exact Hessians may have, leaves its vertex where it is. */
LK_KERNEL_PLAIN(vbd_move, a, i)
{
  const int32_t v = a->order[i];
  const lk_real w = a->scale * a->mass[v];
  lk_real x[3], y[3], f[3], H[9], d[3];
  LK_LOAD3(x, a->x, (int64_t)v);
  LK_LOAD3(y, a->y, (int64_t)v);
  for (int c = 0; c < 9; ++c) H[c] = c % 4 == 0 ? w : LK_R(0.0);
  for (int c = 0; c < 3; ++c) f[c] = w * (y[c] - x[c]);
  for (int32_t b = 0; b < a->num_blocks; ++b) {
    const int64_t *const ptr = a->ptr + b * a->stride + i;
    for (int64_t k = a->base[b] + ptr[0]; k < a->base[b] + ptr[1]; ++k) {
      for (int c = 0; c < 3; ++c) f[c] -= a->grad[3 * k + c];
      for (int c = 0; c < 9; ++c) H[c] += a->diag[9 * k + c];
    }
  }
  if (a->force) vbd_contact(a, v, f, H);
  if (!vbd_solve3(H, f, d)) return;
  for (int c = 0; c < 3; ++c) x[c] += d[c];
  LK_STORE3(a->x, (int64_t)v, x);
}

/* x = omega (swept - before) + before (section 3.8); vertices in contact are left as they are. */
LK_KERNEL_PLAIN(vbd_accelerate, a, i)
{
  const int64_t v = i;
  lk_real x[3], b[3];
  int touches = 0;
  LK_LOAD3(x, a->swept, v);
  if (a->row)
    for (int64_t k = a->row[v]; k < a->row[v + 1]; ++k)
      touches |= lk_row_norm33(a->val + 9 * k) > 0;
  if (!a->fixed[v] && !touches) {
    LK_LOAD3(b, a->before, v);
    for (int c = 0; c < 3; ++c) x[c] = a->omega * (x[c] - b[c]) + b[c];
  }
  LK_STORE3(a->out, v, x);
}

/* x = x_t + h v + h^2 a~ (section 3.7, equation 17).  a~ is a share of the external acceleration g:
 * with e the direction of g, the share by which v has grown along e in the step before, from 0
 * to 1.
 */
LK_KERNEL_PLAIN(vbd_guess, a, i)
{
  const int64_t v = i;
  lk_real x[3], u[3], w[3], y[3], g[3];
  if (a->fixed[v]) return;
  LK_LOAD3(x, a->x_start, v);
  LK_LOAD3(u, a->v, v);
  LK_LOAD3(w, a->v_last, v);
  LK_LOAD3(y, a->y, v);
  for (int c = 0; c < 3; ++c) {
    x[c] += a->h * u[c];
    g[c] = y[c] - x[c]; /* h^2 times the acceleration */
    w[c] = (u[c] - w[c]) * (a->h * a->h / a->h_last);
  }
  const lk_real all = lk_norm3(g);
  const lk_real share = all > LK_TINY ? lk_dot3(w, g) / (all * all) : LK_R(0.0);
  const lk_real part = LK_FMIN(LK_FMAX(share, LK_R(0.0)), LK_R(1.0));
  for (int c = 0; c < 3; ++c) x[c] += part * g[c];
  LK_STORE3(a->out, v, x);
}
