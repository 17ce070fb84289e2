/* pair_energy_body.kern.h - kernels of a pair energy, to be included with PAIR and PAIR_LAW
 * defined; see pair_energy.kern.h. */
#define PAIR_SUM(name, a, i)    LK_REDUCE_SUM_PLAIN(name, a, i)
#define PAIR_MAX(name, a, i)    LK_REDUCE_MAX(name, a, i)
#define PAIR_KERNEL(name, a, i) LK_KERNEL_PLAIN(name, a, i)

/* D of a point at the signed distance f of a body. */
LK_FN lk_real PAIR(signed_square)(lk_real f) { return f * LK_FABS(f); }

/* b of a point and a body, times its share; returns the signed distance f and the arguments of
 * cand_point(). */
LK_FN lk_real PAIR(point_law)(const pair_args *a, lk_int c, lk_real *w, lk_real *g, lk_real *b)
{
  lk_real number[PAIR_NUMBERS];
  const lk_real f = cand_point(&a->s, c, w, g);
  pair_numbers(a, c, number);
  PAIR_LAW(number, a->s.xi[c], PAIR(signed_square)(f), b);
  for (int k = 0; k < 3; ++k) b[k] *= cand_share(&a->s, c);
  return f;
}

PAIR_SUM(PAIR(energy), a, i)
{
  const cand_state *const s = &a->s;
  const int32_t c = a->list[i];
  lk_real x[12], w[4], b[3], number[PAIR_NUMBERS];
  if (pair_is_point(s->kind[c])) {
    (void)PAIR(point_law)(a, c, w, x, b);
    return b[0];
  }
  pair_numbers(a, c, number);
  PAIR_LAW(number, s->xi[c], cand_pair(s, c, x, w), b);
  return cand_mollifier(s, c, x) * b[0];
}

PAIR_MAX(PAIR(strongest), a, i)
{
  const cand_state *const s = &a->s;
  const int32_t c = a->list[i];
  lk_real x[12], w[4], b[3], number[PAIR_NUMBERS];
  if (pair_is_point(s->kind[c])) {
    const lk_real f = PAIR(point_law)(a, c, w, x, b);
    return LK_R(-2.0) * LK_FABS(f) * b[1] * lk_norm3(x);
  }
  pair_numbers(a, c, number);
  const lk_real D = cand_pair(s, c, x, w);
  PAIR_LAW(number, s->xi[c], D, b);
  return LK_R(-2.0) * LK_SQRT(D) * cand_mollifier(s, c, x) * b[1];
}

/* Gradient of m b(D) with respect to the four vertices, g [4][3] N. */
LK_FN void PAIR(gradient)(const cand_state *s, lk_int c, const lk_real *number, lk_real *g)
{
  lk_real x[12], w[4], r[3], b[3];
  const lk_real D = cand_pair(s, c, x, w);
  PAIR_LAW(number, s->xi[c], D, b);
  const lk_real b1 = cand_mollifier(s, c, x) * b[1];
  dist_combine(x, w, r);
  for (int i = 0; i < 12; ++i) g[i] = LK_R(2.0) * b1 * w[i / 3] * r[i % 3];
  if (s->par[c] > LK_R(0.0)) {
    lk_real dc[12];
    const lk_real cross = mollifier_cross(x);
    if (!(cross < s->par[c])) return;
    const lk_real f = b[0] * mollifier_slope(cross, s->par[c]);
    mollifier_cross_gradient(x, dc);
    for (int i = 0; i < 12; ++i) g[i] += f * dc[i];
  }
}

/* The same of a point and a body. */
LK_FN void PAIR(point_gradient)(const pair_args *a, lk_int c, lk_real *g)
{
  lk_real w[4], n[3], b[3];
  const lk_real f = PAIR(point_law)(a, c, w, n, b), pull = LK_R(2.0) * b[1] * LK_FABS(f);
  for (int i = 0; i < 12; ++i) g[i] = w[i / 3] * (pull * n[i % 3]);
}

PAIR_KERNEL(PAIR(force), a, i)
{
  const cand_state *const s = &a->s;
  const int32_t c = a->list[i];
  int64_t at = a->at[c];
  lk_real g[12], number[PAIR_NUMBERS];
  if (pair_is_point(s->kind[c])) {
    PAIR(point_gradient)(a, c, g);
  } else {
    pair_numbers(a, c, number);
    PAIR(gradient)(s, c, number, g);
  }
  for (int k = 0; k < 4; ++k) {
    if (!cand_is_free(s->v[4 * c + k], s->n, s->fixed)) continue;
    for (int l = 0; l < 3; ++l) a->force[3 * at + l] = g[3 * k + l];
    ++at;
  }
}

/* ---- Hessian ----
 */

/* Of a point and a body: D = f |f|, and f has the gradient g and the Hessian C.  H [3][3] is with
 * respect to the point, w [4] and S are the weights of its corners and how it slides, and the
 * result is the factor of S.  Where the matrix shall not be indefinite, H is made so by itself, and
 * S has its part where the law pushes; so it has in the Gauss-Newton matrix, which would miss a
 * fifth of the change of an element's force. */
LK_FN lk_real PAIR(point_hessian)(const pair_args *a, lk_int c, lk_real *w, lk_real *H,
                                  cand_slide *S)
{
  lk_real g[3], V[9], W[9], b[3];
  const lk_real f = PAIR(point_law)(a, c, w, g, b), *const C = cand_point_curve(&a->s, c);
  const lk_real side = f < LK_R(0.0) ? LK_R(-1.0) : LK_R(1.0);
  const lk_real k = LK_R(4.0) * f * f * b[2] + LK_R(2.0) * b[1] * side;
  const lk_real slope = LK_R(2.0) * b[1] * LK_FABS(f);
  S->num = 0;
  if (a->gauss_newton) {
    for (int i = 0; i < 9; ++i) H[i] = LK_FMAX(k, LK_R(0.0)) * g[i / 3] * g[i % 3];
    if (slope < LK_R(0.0)) cand_slide_of(&a->s, c, w, g, S);
    return -slope;
  }
  for (int i = 0; i < 9; ++i) H[i] = k * g[i / 3] * g[i % 3] + slope * C[i];
  if (a->how != LOOM_HESS_EXACT) lk_sym_psd(3, H, V, W, a->how);
  if (a->how == LOOM_HESS_EXACT || slope < LK_R(0.0)) cand_slide_of(&a->s, c, w, g, S);
  return -slope;
}

/* Blocks of the corners of candidate c behind `at`. */
LK_FN void PAIR(write_blocks)(const pair_args *a, lk_int c, int64_t at, const dist_frame *f,
                              const lk_real *S)
{
  const cand_state *const s = &a->s;
  for (int i = 0; i < 4; ++i) {
    if (!cand_is_free(s->v[4 * c + i], s->n, s->fixed)) continue;
    for (int j = 0; j < 4; ++j) {
      if (!cand_is_free(s->v[4 * c + j], s->n, s->fixed)) continue;
      a->row[at] = s->v[4 * c + i];
      a->col[at] = s->v[4 * c + j];
      dist_block(f, S, i, j, a->val + 9 * at);
      ++at;
    }
  }
}

/* The same of a point and a body. */
LK_FN void PAIR(write_point_blocks)(const pair_args *a, lk_int c, int64_t at)
{
  const cand_state *const s = &a->s;
  lk_real w[4], H[9];
  cand_slide S;
  const lk_real push = PAIR(point_hessian)(a, c, w, H, &S);
  for (int i = 0; i < 4; ++i) {
    if (!cand_is_free(s->v[4 * c + i], s->n, s->fixed)) continue;
    for (int j = 0; j < 4; ++j) {
      if (!cand_is_free(s->v[4 * c + j], s->n, s->fixed)) continue;
      a->row[at] = s->v[4 * c + i];
      a->col[at] = s->v[4 * c + j];
      for (int k = 0; k < 9; ++k) a->val[9 * at + k] = w[i] * w[j] * H[k];
      cand_slide_block(&S, i, j, push, a->val + 9 * at);
      ++at;
    }
  }
}

PAIR_KERNEL(PAIR(hessian), a, i)
{
  const cand_state *const s = &a->s;
  const int32_t c = a->list[i];
  const int64_t at = a->first + a->at_block[i];
  lk_real x[12], w[4], S[25], b[3], number[PAIR_NUMBERS];
  dist_frame f;
  if (pair_is_point(s->kind[c])) {
    PAIR(write_point_blocks)(a, c, at);
    return;
  }
  pair_numbers(a, c, number);
  if (!a->flat && cand_is_mollified(s, c)) return; /* see pair_mollified_body.kern.h */
  const lk_real D = cand_pair(s, c, x, w);
  PAIR_LAW(number, s->xi[c], D, b);
  dist_frame_of(pair_is_edges(s->kind[c]), x, w, &f);
  const lk_real m = cand_mollifier(s, c, x);
  const lk_real b1 = m * b[1], b2 = m * b[2];
  if (a->flat)
    dist_gauss_newton(&f, b1, b2, S);
  else
    dist_hessian(&f, b1, b2, a->how, S);
  PAIR(write_blocks)(a, c, at, &f, S);
}

#undef PAIR_SUM
#undef PAIR_MAX
#undef PAIR_KERNEL
