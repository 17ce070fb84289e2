/* net.kern.h - shallow networks: value, gradient and Hessian at a point, values and gradients of
 * many points.
 *
 * A network maps 3 numbers to one: `hidden` layers of `width` channels with an activation, and a
 * linear one behind them (Akar et al. 2024, eq. 4).  Its parameters stand layer by layer, weights
 * [out][in] and then biases [out].
 *
 * The parameters of a step are given at both of its ends.  They are linear in the joint angles
 * (eq. 3), and the angles go evenly through a step, so that in between they are linear, too. */
#ifndef LOOM_SSDF_NET_KERN_H
#define LOOM_SSDF_NET_KERN_H

#include "loom/kernel.h"

enum { SSDF_INPUTS = 3, SSDF_MAX_HIDDEN = 8, SSDF_MAX_WIDTH = 32 };
enum { /* activations; DEVIATION: the paper's own is not known */
       SSDF_SQUAREPLUS = 0,
       SSDF_LEAKY_RELU = 1,
       SSDF_SOFTPLUS = 2,
       SSDF_TANH = 3,
       SSDF_NUM_ACTIVATIONS
};
/* Points that are evaluated together, in single precision, on a CPU. */
enum { SSDF_LANES = 32 };
#ifdef __CUDACC__
#define SSDF_SIMD
#else
#define SSDF_SIMD _Pragma("omp simd")
#endif

typedef struct ssdf_shape {
  int32_t hidden;     /* layers, 1 to SSDF_MAX_HIDDEN; 0: there is no network */
  int32_t width;      /* channels, 1 to SSDF_MAX_WIDTH */
  int32_t activation; /* SSDF_SQUAREPLUS ... */
} ssdf_shape;

typedef struct ssdf_params {
  const lk_real *w0, *w1; /* [ssdf_num_params()] at both ends of the step */
  lk_real s;              /* where between them, in [0,1] */
} ssdf_params;

#define SSDF_NUM_PARAMS(hidden, width) \
  (((SSDF_INPUTS + 1) + ((hidden)-1) * ((width) + 1) + 1) * (width) + 1)
enum { SSDF_MAX_PARAMS = SSDF_NUM_PARAMS(SSDF_MAX_HIDDEN, SSDF_MAX_WIDTH) };

LK_FN lk_real ssdf_param(const ssdf_params *p, int32_t k)
{
  return (LK_R(1.0) - p->s) * p->w0[k] + p->s * p->w1[k];
}

/* Value at z, first and second derivative.  Squareplus is (z + sqrt(z^2 + 0.02)) / 2, softplus
 * log(1 + exp(10 z)) / 10; leaky ReLU has the slope 0.01 below 0. */
LK_FN lk_real ssdf_activate(int32_t kind, lk_real z, lk_real *d1, lk_real *d2)
{
  if (kind == SSDF_SQUAREPLUS) {
    const lk_real r = LK_SQRT(z * z + LK_R(0.02));
    *d1 = LK_R(0.5) * (LK_R(1.0) + z / r);
    *d2 = LK_R(0.01) / (r * r * r);
    return LK_R(0.5) * (z + r);
  }
  if (kind == SSDF_LEAKY_RELU) {
    *d1 = z > LK_R(0.0) ? LK_R(1.0) : LK_R(0.01);
    *d2 = LK_R(0.0);
    return *d1 * z;
  }
  if (kind == SSDF_SOFTPLUS) {
    const lk_real e = LK_EXP(LK_R(-10.0) * LK_FABS(z)), far = LK_R(1.0) / (LK_R(1.0) + e);
    *d1 = z > LK_R(0.0) ? far : e * far;
    *d2 = LK_R(10.0) * e * far * far;
    return LK_FMAX(z, LK_R(0.0)) + LK_R(0.1) * LK_LOG(LK_R(1.0) + e);
  }
  const lk_real t = LK_R(1.0) - LK_R(2.0) / (LK_EXP(LK_R(2.0) * z) + LK_R(1.0));
  *d1 = LK_R(1.0) - t * t;
  *d2 = LK_R(-2.0) * t * *d1;
  return t;
}

/* ---- one point ---- */

/* Layers one after the other; slope [hidden][width] keeps the derivatives of the activations, for
 * ssdf_backward(); NULL: not wanted. */
LK_FN_CALLED lk_real ssdf_value(const ssdf_shape *n, const ssdf_params *p, const lk_real *y,
                                lk_real *slope)
{
  lk_real in[SSDF_MAX_WIDTH], out[SSDF_MAX_WIDTH], d1, d2;
  int32_t at = 0, inputs = SSDF_INPUTS;
  for (int c = 0; c < SSDF_INPUTS; ++c) in[c] = y[c];
  for (int32_t h = 0; h < n->hidden; ++h) {
    const int32_t bias = at + inputs * n->width;
    for (int32_t c = 0; c < n->width; ++c) {
      lk_real z = ssdf_param(p, bias + c);
      for (int32_t k = 0; k < inputs; ++k) z += ssdf_param(p, at + c * inputs + k) * in[k];
      out[c] = ssdf_activate(n->activation, z, &d1, &d2);
      if (slope != NULL) slope[h * n->width + c] = d1;
    }
    at = bias + n->width;
    inputs = n->width;
    for (int32_t c = 0; c < inputs; ++c) in[c] = out[c];
  }
  lk_real v = ssdf_param(p, at + inputs);
  for (int32_t k = 0; k < inputs; ++k) v += ssdf_param(p, at + k) * in[k];
  return v;
}

/* Gradient g [3] by one sweep back through the layers. */
LK_FN_CALLED void ssdf_backward(const ssdf_shape *n, const ssdf_params *p, const lk_real *slope,
                                lk_real *g)
{
  lk_real down[SSDF_MAX_WIDTH], up[SSDF_MAX_WIDTH] = {LK_R(0.0)};
  const int32_t width = n->width, inner = (width + 1) * width, first = (SSDF_INPUTS + 1) * width;
  int32_t at = first + (n->hidden - 1) * inner;
  for (int32_t c = 0; c < width; ++c) up[c] = ssdf_param(p, at + c);
  for (int32_t h = n->hidden - 1; h >= 0; --h) {
    const int32_t inputs = h > 0 ? width : SSDF_INPUTS;
    at -= h > 0 ? inner : first;
    for (int32_t k = 0; k < inputs; ++k) down[k] = LK_R(0.0);
    for (int32_t c = 0; c < width; ++c) {
      const lk_real t = up[c] * slope[h * width + c];
      for (int32_t k = 0; k < inputs; ++k) down[k] += t * ssdf_param(p, at + c * inputs + k);
    }
    for (int32_t k = 0; k < inputs; ++k) up[k] = down[k];
  }
  for (int c = 0; c < SSDF_INPUTS; ++c) g[c] = up[c];
}

LK_FN lk_real ssdf_gradient(const ssdf_shape *n, const ssdf_params *p, const lk_real *y, lk_real *g)
{
  lk_real slope[SSDF_MAX_HIDDEN * SSDF_MAX_WIDTH];
  const lk_real v = ssdf_value(n, p, y, slope);
  ssdf_backward(n, p, slope, g);
  return v;
}

enum { SSDF_JET = 10 }; /* value, gradient, and the second derivatives xx yy zz yz xz xy */

/* Jet [10] of an activation's output; z: jet of its input. */
LK_FN void ssdf_activate_jet(int32_t kind, const lk_real *z, lk_real *out)
{
  lk_real d1, d2;
  out[0] = ssdf_activate(kind, z[0], &d1, &d2);
  for (int c = 0; c < 3; ++c) {
    const lk_real a = z[1 + (c + 1) % 3], b = z[1 + (c + 2) % 3];
    out[1 + c] = d1 * z[1 + c];
    out[4 + c] = d1 * z[4 + c] + d2 * z[1 + c] * z[1 + c];
    out[7 + c] = d1 * z[7 + c] + d2 * a * b;
  }
}

/* Value, gradient g [3] and Hessian C [3][3], by jets through the layers. */
LK_FN_CALLED lk_real ssdf_hessian(const ssdf_shape *n, const ssdf_params *p, const lk_real *y,
                                  lk_real *g, lk_real *C)
{
  lk_real in[SSDF_MAX_WIDTH * SSDF_JET], out[SSDF_MAX_WIDTH * SSDF_JET], z[SSDF_JET];
  int32_t at = 0, inputs = SSDF_INPUTS;
  for (int j = 0; j < SSDF_JET; ++j) z[j] = LK_R(0.0);
  for (int c = 0; c < SSDF_INPUTS; ++c)
    for (int j = 0; j < SSDF_JET; ++j)
      in[SSDF_JET * c + j] = j == 0 ? y[c] : j == 1 + c ? LK_R(1.0) : LK_R(0.0);
  for (int32_t h = 0; h <= n->hidden; ++h) {
    const int32_t outputs = h < n->hidden ? n->width : 1, bias = at + inputs * outputs;
    for (int32_t c = 0; c < outputs; ++c) {
      for (int j = 0; j < SSDF_JET; ++j) z[j] = j == 0 ? ssdf_param(p, bias + c) : LK_R(0.0);
      for (int32_t k = 0; k < inputs; ++k) {
        const lk_real w = ssdf_param(p, at + c * inputs + k);
        for (int j = 0; j < SSDF_JET; ++j) z[j] += w * in[SSDF_JET * k + j];
      }
      if (h < n->hidden) ssdf_activate_jet(n->activation, z, out + SSDF_JET * c);
    }
    at = bias + outputs;
    inputs = outputs;
    for (int32_t j = 0; h < n->hidden && j < SSDF_JET * outputs; ++j) in[j] = out[j];
  }
  for (int c = 0; c < 3; ++c) {
    g[c] = z[1 + c];
    C[4 * c] = z[4 + c];
    C[3 * ((c + 1) % 3) + (c + 2) % 3] = C[3 * ((c + 2) % 3) + (c + 1) % 3] = z[7 + c];
  }
  return z[0];
}

/* ---- many points ---- */

/* Parameters in single precision, w [ssdf_num_params()]. */
LK_FN void ssdf_fold(const ssdf_params *p, int32_t count, float *w)
{
  for (int32_t k = 0; k < count; ++k) w[k] = (float)ssdf_param(p, k);
}

/* Output of an activation for the input z, in single precision; kind -1: z itself. */
LK_FN float ssdf_activate_lane(int32_t kind, float z)
{
  if (kind < 0) return z;
  if (kind == SSDF_SQUAREPLUS) return 0.5F * (z + sqrtf(z * z + 0.02F));
  if (kind == SSDF_LEAKY_RELU) return 0.505F * z + 0.495F * fabsf(z); /* no branch: in lanes */
  if (kind == SSDF_SOFTPLUS)
    return (z > 0.0F ? z : 0.0F) + 0.1F * logf(1.0F + expf(-10.0F * fabsf(z)));
  return 1.0F - 2.0F / (expf(2.0F * z) + 1.0F);
}

/* Channels out [outputs][SSDF_LANES] of a layer.  Where the numbers of channels are constants, sums
 * stay in registers, and the compiler computes as many lanes at once as the processor has; four
 * channels share each load of an input. */
LK_FN void ssdf_layer(int32_t kind, const float *w, int32_t inputs, int32_t outputs,
                      const float *in, float *out)
{
  const float *const bias = w + inputs * outputs;
  const int32_t whole = outputs - outputs % 4;
  for (int32_t c = 0; c < whole; c += 4) {
    const float *const w0 = w + c * inputs, *const w1 = w0 + inputs;
    const float *const w2 = w1 + inputs, *const w3 = w2 + inputs;
    SSDF_SIMD
    for (int l = 0; l < SSDF_LANES; ++l) {
      float s0 = bias[c], s1 = bias[c + 1], s2 = bias[c + 2], s3 = bias[c + 3];
      for (int32_t k = 0; k < inputs; ++k) {
        const float x = in[k * SSDF_LANES + l];
        s0 += w0[k] * x;
        s1 += w1[k] * x;
        s2 += w2[k] * x;
        s3 += w3[k] * x;
      }
      float *const o = out + c * SSDF_LANES + l;
      o[0] = ssdf_activate_lane(kind, s0);
      o[SSDF_LANES] = ssdf_activate_lane(kind, s1);
      o[2 * SSDF_LANES] = ssdf_activate_lane(kind, s2);
      o[3 * SSDF_LANES] = ssdf_activate_lane(kind, s3);
    }
  }
  for (int32_t c = whole; c < outputs; ++c) {
    SSDF_SIMD
    for (int l = 0; l < SSDF_LANES; ++l) {
      float s = bias[c];
      for (int32_t k = 0; k < inputs; ++k) s += w[c * inputs + k] * in[k * SSDF_LANES + l];
      out[c * SSDF_LANES + l] = ssdf_activate_lane(kind, s);
    }
  }
}

LK_FN void ssdf_layers(int32_t kind, int32_t hidden, int32_t width, const float *w, const float *y,
                       float *v)
{
  float room[2][SSDF_MAX_WIDTH * SSDF_LANES]; /* of one layer and the next */
  const float *const inner = w + (SSDF_INPUTS + 1) * width;
  ssdf_layer(kind, w, SSDF_INPUTS, width, y, room[0]);
  for (int32_t h = 1; h < hidden; ++h)
    ssdf_layer(kind, inner + (h - 1) * (width + 1) * width, width, width, room[(h - 1) % 2],
               room[h % 2]);
  ssdf_layer(-1, inner + (hidden - 1) * (width + 1) * width, width, 1, room[(hidden - 1) % 2], v);
}

LK_FN void ssdf_layers_of(int32_t kind, const ssdf_shape *n, const float *w, const float *y,
                          float *v)
{
#ifdef __CUDACC__
  ssdf_layers(kind, n->hidden, n->width, w, y, v);
#else
  switch (n->width) { /* constant widths, from the paper's table */
  case 4:
    ssdf_layers(kind, n->hidden, 4, w, y, v);
    return;
  case 8:
    ssdf_layers(kind, n->hidden, 8, w, y, v);
    return;
  case 16:
    ssdf_layers(kind, n->hidden, 16, w, y, v);
    return;
  case 32:
    ssdf_layers(kind, n->hidden, 32, w, y, v);
    return;
  default:
    ssdf_layers(kind, n->hidden, n->width, w, y, v);
  }
#endif
}

/* Values v [SSDF_LANES] at y [3][SSDF_LANES]; each lane's bits are its own point's alone. */
LK_FN_CALLED void ssdf_values(const ssdf_shape *n, const float *w, const float *y, float *v)
{
  if (n->activation == SSDF_SQUAREPLUS)
    ssdf_layers_of(SSDF_SQUAREPLUS, n, w, y, v);
  else if (n->activation == SSDF_LEAKY_RELU)
    ssdf_layers_of(SSDF_LEAKY_RELU, n, w, y, v);
  else
    ssdf_layers(n->activation, n->hidden, n->width, w, y, v);
}

/* Its derivative. */
LK_FN float ssdf_slope_lane(int32_t kind, float z)
{
  if (kind == SSDF_SQUAREPLUS) return 0.5F * (1.0F + z / sqrtf(z * z + 0.02F));
  if (kind == SSDF_LEAKY_RELU) return z > 0.0F ? 1.0F : 0.01F;
  if (kind == SSDF_SOFTPLUS) {
    const float e = expf(-10.0F * fabsf(z)), far = 1.0F / (1.0F + e);
    return z > 0.0F ? far : e * far;
  }
  const float t = ssdf_activate_lane(SSDF_TANH, z);
  return 1.0F - t * t;
}

/* up [inputs][SSDF_LANES]: derivatives by the inputs of a layer, from the derivatives by its sums
 * [outputs][SSDF_LANES]. */
LK_FN void ssdf_layer_back(const float *w, int32_t inputs, int32_t outputs, const float *sums,
                           float *up)
{
  for (int32_t k = 0; k < inputs; ++k) {
    SSDF_SIMD
    for (int l = 0; l < SSDF_LANES; ++l) {
      float s = 0.0F;
      for (int32_t c = 0; c < outputs; ++c) s += w[c * inputs + k] * sums[c * SSDF_LANES + l];
      up[k * SSDF_LANES + l] = s;
    }
  }
}

/* Gradients g [3][SSDF_LANES], by one sweep back. */
LK_FN void ssdf_layers_slopes(int32_t kind, int32_t hidden, int32_t width, const float *w,
                              const float *y, float *g)
{
  float slope[SSDF_MAX_HIDDEN * SSDF_MAX_WIDTH * SSDF_LANES];
  float in[SSDF_MAX_WIDTH * SSDF_LANES], z[SSDF_MAX_WIDTH * SSDF_LANES];
  const float *const inner = w + (SSDF_INPUTS + 1) * width;
  const int32_t size = (width + 1) * width, all = width * SSDF_LANES;
  for (int32_t h = 0; h < hidden; ++h) {
    float *const own = slope + h * all;
    if (h == 0)
      ssdf_layer(-1, w, SSDF_INPUTS, width, y, z);
    else
      ssdf_layer(-1, inner + (h - 1) * size, width, width, in, z);
    SSDF_SIMD
    for (int32_t l = 0; l < all; ++l) {
      own[l] = ssdf_slope_lane(kind, z[l]);
      in[l] = ssdf_activate_lane(kind, z[l]);
    }
  }
  const float *const last = inner + (hidden - 1) * size;
  for (int32_t l = 0; l < all; ++l) z[l] = last[l / SSDF_LANES];
  for (int32_t h = hidden - 1; h >= 0; --h) {
    SSDF_SIMD
    for (int32_t l = 0; l < all; ++l) z[l] *= slope[h * all + l];
    if (h == 0)
      ssdf_layer_back(w, SSDF_INPUTS, width, z, g);
    else
      ssdf_layer_back(inner + (h - 1) * size, width, width, z, in);
    for (int32_t l = 0; h > 0 && l < all; ++l) z[l] = in[l];
  }
}

/* Gradients g [3][SSDF_LANES] at y [3][SSDF_LANES]; each lane's bits are its own point's alone. */
LK_FN_CALLED void ssdf_slopes(const ssdf_shape *n, const float *w, const float *y, float *g)
{
  if (n->activation == SSDF_SQUAREPLUS && n->width == 8) /* shipped networks, in registers */
    ssdf_layers_slopes(SSDF_SQUAREPLUS, n->hidden, 8, w, y, g);
  else
    ssdf_layers_slopes(n->activation, n->hidden, n->width, w, y, g);
}

#endif
