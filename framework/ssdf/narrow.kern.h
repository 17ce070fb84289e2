/* narrow.kern.h - networks of few channels at one point on a GPU; the functions of net.kern.h.
 *
 * A thread of a GPU has 255 registers.  Arrays stay in registers where every index is a constant,
 * so loops over channels are unrolled up to SSDF_NARROW_WIDTH, and channels that a network does not
 * have are skipped.  Second derivatives take one pair of directions after the other: this needs 4
 * numbers per channel instead of 10 and passes through the layers 6 times.  Sums keep the order of
 * net.kern.h, and so the same bits. */
#ifndef LOOM_SSDF_NARROW_KERN_H
#define LOOM_SSDF_NARROW_KERN_H

#include "ssdf/net.kern.h"

enum { SSDF_NARROW_HIDDEN = 3, SSDF_NARROW_WIDTH = 8 };
#ifdef __CUDACC__
#define SSDF_UNROLL _Pragma("unroll")
#define SSDF_ROLLED _Pragma("unroll 1")
#else
#define SSDF_UNROLL _Pragma("GCC unroll 8")
#define SSDF_ROLLED _Pragma("GCC unroll 1")
#endif

LK_FN int ssdf_is_narrow(const ssdf_shape *n)
{
  return n->hidden <= SSDF_NARROW_HIDDEN && n->width <= SSDF_NARROW_WIDTH;
}

/* z + sum over k of in[k] times parameter at + k, k < inputs. */
LK_FN lk_real ssdf_narrow_sum(const ssdf_params *p, int32_t at, int32_t inputs, const lk_real *in,
                              lk_real z)
{
  SSDF_UNROLL
  for (int k = 0; k < SSDF_NARROW_WIDTH; ++k)
    if (k < inputs) z += ssdf_param(p, at + k) * in[k];
  return z;
}

/* Slopes of the activations, by layer and channel.  The channel is a constant wherever they are
 * used; the layer is not, so that access goes through a selection over all layers. */
typedef struct ssdf_narrow_slopes {
  lk_real of[SSDF_NARROW_HIDDEN][SSDF_NARROW_WIDTH];
} ssdf_narrow_slopes;

LK_FN void ssdf_narrow_keep(ssdf_narrow_slopes *s, int32_t h, int c, lk_real v)
{
  SSDF_UNROLL
  for (int k = 0; k < SSDF_NARROW_HIDDEN; ++k) s->of[k][c] = k == h ? v : s->of[k][c];
}

LK_FN lk_real ssdf_narrow_kept(const ssdf_narrow_slopes *s, int32_t h, int c)
{
  lk_real v = s->of[0][c];
  SSDF_UNROLL
  for (int k = 1; k < SSDF_NARROW_HIDDEN; ++k) v = k == h ? s->of[k][c] : v;
  return v;
}

/* Value; slopes or NULL. */
LK_FN lk_real ssdf_narrow_forward(const ssdf_shape *n, const ssdf_params *p, const lk_real *y,
                                  ssdf_narrow_slopes *slopes)
{
  lk_real in[SSDF_NARROW_WIDTH], out[SSDF_NARROW_WIDTH], d1, d2;
  const int32_t width = n->width;
  int32_t at = 0, inputs = SSDF_INPUTS;
  SSDF_UNROLL
  for (int c = 0; c < SSDF_NARROW_WIDTH; ++c) {
    in[c] = c < SSDF_INPUTS ? y[c < SSDF_INPUTS ? c : 0] : LK_R(0.0);
    out[c] = LK_R(0.0);
  }
  for (int32_t h = 0; h < n->hidden; ++h) {
    const int32_t bias = at + inputs * width;
    SSDF_UNROLL
    for (int c = 0; c < SSDF_NARROW_WIDTH; ++c)
      if (c < width) {
        const lk_real z = ssdf_narrow_sum(p, at + c * inputs, inputs, in, ssdf_param(p, bias + c));
        out[c] = ssdf_activate(n->activation, z, &d1, &d2);
        if (slopes != NULL) ssdf_narrow_keep(slopes, h, c, d1);
      }
    at = bias + width;
    inputs = width;
    SSDF_UNROLL
    for (int c = 0; c < SSDF_NARROW_WIDTH; ++c) in[c] = out[c];
  }
  return ssdf_narrow_sum(p, at, inputs, in, ssdf_param(p, at + inputs));
}

/* As ssdf_value() without slopes. */
LK_FN_CALLED lk_real ssdf_narrow_value(const ssdf_shape *n, const ssdf_params *p, const lk_real *y)
{
  return ssdf_narrow_forward(n, p, y, NULL);
}

/* As ssdf_gradient(). */
LK_FN_CALLED lk_real ssdf_narrow_gradient(const ssdf_shape *n, const ssdf_params *p,
                                          const lk_real *y, lk_real *g)
{
  lk_real down[SSDF_NARROW_WIDTH], up[SSDF_NARROW_WIDTH];
  ssdf_narrow_slopes slopes;
  const int32_t width = n->width, inner = (width + 1) * width, first = (SSDF_INPUTS + 1) * width;
  int32_t at = first + (n->hidden - 1) * inner;
  SSDF_UNROLL
  for (int c = 0; c < SSDF_NARROW_WIDTH; ++c) {
    up[c] = c < width ? ssdf_param(p, at + c) : LK_R(0.0);
    SSDF_UNROLL
    for (int h = 0; h < SSDF_NARROW_HIDDEN; ++h) slopes.of[h][c] = LK_R(0.0);
  }
  const lk_real v = ssdf_narrow_forward(n, p, y, &slopes);
  for (int32_t h = n->hidden - 1; h >= 0; --h) {
    const int32_t inputs = h > 0 ? width : SSDF_INPUTS;
    at -= h > 0 ? inner : first;
    SSDF_UNROLL
    for (int k = 0; k < SSDF_NARROW_WIDTH; ++k) down[k] = LK_R(0.0);
    SSDF_UNROLL
    for (int c = 0; c < SSDF_NARROW_WIDTH; ++c)
      if (c < width) {
        const lk_real t = up[c] * ssdf_narrow_kept(&slopes, h, c);
        SSDF_UNROLL
        for (int k = 0; k < SSDF_NARROW_WIDTH; ++k)
          if (k < inputs) down[k] += t * ssdf_param(p, at + c * inputs + k);
      }
    SSDF_UNROLL
    for (int k = 0; k < SSDF_NARROW_WIDTH; ++k) up[k] = down[k];
  }
  for (int c = 0; c < SSDF_INPUTS; ++c) g[c] = up[c];
  return v;
}

enum { SSDF_PAIR = 4 }; /* value, derivatives along a and b, and the second along both */

/* Sums z [SSDF_PAIR] of one channel; its parameters begin at `at`. */
LK_FN void ssdf_narrow_pair_sum(const ssdf_params *p, int32_t at, int32_t inputs,
                                lk_real in[][SSDF_PAIR], lk_real bias, lk_real *z)
{
  z[0] = bias;
  z[1] = z[2] = z[3] = LK_R(0.0);
  SSDF_UNROLL
  for (int k = 0; k < SSDF_NARROW_WIDTH; ++k)
    if (k < inputs) {
      const lk_real w = ssdf_param(p, at + k);
      SSDF_UNROLL
      for (int j = 0; j < SSDF_PAIR; ++j) z[j] += w * in[k][j];
    }
}

/* z [SSDF_PAIR] at y for the axes a and b, which may be the same. */
LK_FN_CALLED void ssdf_narrow_pair(const ssdf_shape *n, const ssdf_params *p, const lk_real *y,
                                   int a, int b, lk_real *z_out)
{
  lk_real in[SSDF_NARROW_WIDTH][SSDF_PAIR], out[SSDF_NARROW_WIDTH][SSDF_PAIR], z[SSDF_PAIR], d1, d2;
  const int32_t width = n->width;
  int32_t at = 0, inputs = SSDF_INPUTS;
  SSDF_UNROLL
  for (int c = 0; c < SSDF_NARROW_WIDTH; ++c) {
    in[c][0] = c < SSDF_INPUTS ? y[c < SSDF_INPUTS ? c : 0] : LK_R(0.0);
    in[c][1] = c == a ? LK_R(1.0) : LK_R(0.0);
    in[c][2] = c == b ? LK_R(1.0) : LK_R(0.0);
    in[c][3] = LK_R(0.0);
    SSDF_UNROLL
    for (int j = 0; j < SSDF_PAIR; ++j) out[c][j] = LK_R(0.0);
  }
  for (int32_t h = 0; h < n->hidden; ++h) {
    const int32_t bias = at + inputs * width;
    SSDF_UNROLL
    for (int c = 0; c < SSDF_NARROW_WIDTH; ++c)
      if (c < width) {
        ssdf_narrow_pair_sum(p, at + c * inputs, inputs, in, ssdf_param(p, bias + c), z);
        out[c][0] = ssdf_activate(n->activation, z[0], &d1, &d2);
        out[c][1] = d1 * z[1];
        out[c][2] = d1 * z[2];
        out[c][3] = d1 * z[3] + d2 * z[1] * z[2];
      }
    at = bias + width;
    inputs = width;
    SSDF_UNROLL
    for (int c = 0; c < SSDF_NARROW_WIDTH; ++c) SSDF_UNROLL
    for (int j = 0; j < SSDF_PAIR; ++j) in[c][j] = out[c][j];
  }
  ssdf_narrow_pair_sum(p, at, inputs, in, ssdf_param(p, at + inputs), z);
  for (int j = 0; j < SSDF_PAIR; ++j) z_out[j] = z[j];
}

/* As ssdf_hessian(). */
LK_FN lk_real ssdf_narrow_hessian(const ssdf_shape *n, const ssdf_params *p, const lk_real *y,
                                  lk_real *g, lk_real *C)
{
  lk_real z[SSDF_PAIR];
  SSDF_ROLLED
  for (int k = 0; k < 6; ++k) { /* xx yy zz yz zx xy */
    const int a = k < 3 ? k : (k + 1) % 3, b = k < 3 ? k : (k + 2) % 3;
    ssdf_narrow_pair(n, p, y, a, b, z);
    C[3 * a + b] = C[3 * b + a] = z[3];
    if (k < 3) g[k] = z[1];
  }
  return z[0];
}

#endif
