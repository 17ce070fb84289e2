/* wide.kern.h - networks of many channels at one point on a GPU; the functions of net.kern.h.
 *
 * Arrays of a thread stay in registers only where every index is a constant; other arrays lie in
 * a memory of limited size.  Here the inputs of a layer are in registers, 32 numbers in
 * unrolled loops, and its outputs replace them in lines of shared memory (LK_LINES).  The sweep
 * back computes the slopes of activations anew for each layer, which takes (hidden + 1) / 2 times
 * as long as keeping all of them.  Second derivatives take one pair of directions after the other,
 * as in narrow.kern.h.  Sums keep the order of net.kern.h, and so the same bits. */
#ifndef LOOM_SSDF_WIDE_KERN_H
#define LOOM_SSDF_WIDE_KERN_H

#include "geom/small.kern.h"
#include "ssdf/narrow.kern.h"

/* Replaces the inputs of a layer in `line` [inputs] by its sums [outputs]; the parameters of the
 * layer begin at `at`. */
LK_FN_CALLED void ssdf_wide_sums(const ssdf_params *p, int32_t at, int32_t inputs, int32_t outputs,
                                 int biased, lk_room line)
{
  const ssdf_params own = *p;
  const int32_t bias = at + inputs * outputs;
  lk_real in[SSDF_MAX_WIDTH];
  SSDF_UNROLL
  for (int k = 0; k < SSDF_MAX_WIDTH; ++k) in[k] = k < inputs ? LK_SCRATCH(line, k) : LK_R(0.0);
  SSDF_ROLLED
  for (int32_t c = 0; c < outputs; ++c) {
    lk_real z = biased ? ssdf_param(&own, bias + c) : LK_R(0.0);
    SSDF_UNROLL
    for (int k = 0; k < SSDF_MAX_WIDTH; ++k)
      if (k < inputs) z += ssdf_param(&own, at + c * inputs + k) * in[k];
    LK_SCRATCH(line, c) = z;
  }
}

/* Derivatives by the inputs of a layer, from the derivatives by its sums, which are `up` times
 * `slope` [outputs]; they replace `up`. */
LK_FN_CALLED void ssdf_wide_back(const ssdf_params *p, int32_t at, int32_t inputs, int32_t outputs,
                                 lk_room slope, lk_room up)
{
  const ssdf_params own = *p;
  lk_real t[SSDF_MAX_WIDTH];
  SSDF_UNROLL
  for (int c = 0; c < SSDF_MAX_WIDTH; ++c)
    t[c] = c < outputs ? LK_SCRATCH(up, c) * LK_SCRATCH(slope, c) : LK_R(0.0);
  SSDF_ROLLED
  for (int32_t k = 0; k < inputs; ++k) {
    lk_real down = LK_R(0.0);
    SSDF_UNROLL
    for (int c = 0; c < SSDF_MAX_WIDTH; ++c)
      if (c < outputs) down += t[c] * ssdf_param(&own, at + c * inputs + k);
    LK_SCRATCH(up, k) = down;
  }
}

/* Slopes of the activations of hidden layer `last` in a line; if that is the last one, the value.
 */
LK_FN lk_real ssdf_wide_forward(const ssdf_shape *n, const ssdf_params *p, const lk_real *y,
                                int32_t last, lk_room line)
{
  lk_real v = LK_R(0.0), d1, d2;
  const int32_t width = n->width;
  int32_t at = 0, inputs = SSDF_INPUTS;
  for (int c = 0; c < SSDF_INPUTS; ++c) LK_SCRATCH(line, c) = y[c];
  for (int32_t h = 0; h <= last; ++h) {
    const int32_t next = at + (inputs + 1) * width;
    ssdf_wide_sums(p, at, inputs, width, 1, line);
    if (h == last) v = ssdf_param(p, next + width);
    SSDF_ROLLED
    for (int32_t c = 0; c < width; ++c) {
      const lk_real z = ssdf_activate(n->activation, LK_SCRATCH(line, c), &d1, &d2);
      LK_SCRATCH(line, c) = h == last ? d1 : z;
      if (h == last) v += ssdf_param(p, next + c) * z;
    }
    at = next;
    inputs = width;
  }
  return v;
}

/* As ssdf_gradient(); g is NULL: the value alone, as ssdf_value(). */
LK_FN_CALLED lk_real ssdf_wide_gradient(const ssdf_shape *n, const ssdf_params *p, const lk_real *y,
                                        lk_real *g)
{
  LK_LINES(lines, 2 * SSDF_MAX_WIDTH);
  const lk_room up = lk_room_behind(lines, SSDF_MAX_WIDTH);
  const int32_t width = n->width, inner = (width + 1) * width, first = (SSDF_INPUTS + 1) * width;
  int32_t at = first + (n->hidden - 1) * inner;
  lk_real v = LK_R(0.0);
  for (int32_t c = 0; c < width && g != NULL; ++c) LK_SCRATCH(up, c) = ssdf_param(p, at + c);
  SSDF_ROLLED
  for (int32_t h = n->hidden - 1; h >= 0; --h) {
    const lk_real value = ssdf_wide_forward(n, p, y, h, lines);
    v = h == n->hidden - 1 ? value : v;
    if (g == NULL) break;
    at -= h > 0 ? inner : first;
    ssdf_wide_back(p, at, h > 0 ? width : SSDF_INPUTS, width, lines, up);
  }
  for (int c = 0; c < SSDF_INPUTS && g != NULL; ++c) g[c] = LK_SCRATCH(up, c);
  return v;
}

/* z [SSDF_PAIR], as of ssdf_narrow_pair(), in lines. */
LK_FN void ssdf_wide_pair(const ssdf_shape *n, const ssdf_params *p, const lk_real *y, int a, int b,
                          lk_room lines)
{
  int32_t at = 0, inputs = SSDF_INPUTS;
  for (int c = 0; c < SSDF_INPUTS; ++c) {
    LK_SCRATCH(lines, c) = y[c];
    LK_SCRATCH(lines, SSDF_MAX_WIDTH + c) = c == a ? LK_R(1.0) : LK_R(0.0);
    LK_SCRATCH(lines, 2 * SSDF_MAX_WIDTH + c) = c == b ? LK_R(1.0) : LK_R(0.0);
    LK_SCRATCH(lines, 3 * SSDF_MAX_WIDTH + c) = LK_R(0.0);
  }
  for (int32_t h = 0; h <= n->hidden; ++h) {
    const int32_t outputs = h < n->hidden ? n->width : 1;
    SSDF_ROLLED
    for (int j = 0; j < SSDF_PAIR; ++j)
      ssdf_wide_sums(p, at, inputs, outputs, j == 0, lk_room_behind(lines, SSDF_MAX_WIDTH * j));
    for (int32_t c = 0; h < n->hidden && c < outputs; ++c) {
      lk_real z[SSDF_PAIR], d1, d2;
      for (int j = 0; j < SSDF_PAIR; ++j) z[j] = LK_SCRATCH(lines, SSDF_MAX_WIDTH * j + c);
      LK_SCRATCH(lines, c) = ssdf_activate(n->activation, z[0], &d1, &d2);
      LK_SCRATCH(lines, SSDF_MAX_WIDTH + c) = d1 * z[1];
      LK_SCRATCH(lines, 2 * SSDF_MAX_WIDTH + c) = d1 * z[2];
      LK_SCRATCH(lines, 3 * SSDF_MAX_WIDTH + c) = d1 * z[3] + d2 * z[1] * z[2];
    }
    at += (inputs + 1) * outputs;
    inputs = outputs;
  }
}

/* As ssdf_hessian(). */
LK_FN_CALLED lk_real ssdf_wide_hessian(const ssdf_shape *n, const ssdf_params *p, const lk_real *y,
                                       lk_real *g, lk_real *C)
{
  LK_LINES(lines, SSDF_PAIR * SSDF_MAX_WIDTH);
  SSDF_ROLLED
  for (int k = 0; k < 6; ++k) { /* xx yy zz yz zx xy */
    const int a = k < 3 ? k : (k + 1) % 3, b = k < 3 ? k : (k + 2) % 3;
    ssdf_wide_pair(n, p, y, a, b, lines);
    C[3 * a + b] = C[3 * b + a] = LK_SCRATCH(lines, 3 * SSDF_MAX_WIDTH);
    if (k < 3) g[k] = LK_SCRATCH(lines, SSDF_MAX_WIDTH);
  }
  return LK_SCRATCH(lines, 0);
}

#endif
