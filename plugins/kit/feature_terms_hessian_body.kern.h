/* feature_terms_hessian_body.kern.h - second derivatives of the terms of shared features, to be
 * included behind feature_terms_body.kern.h by a model with exact second derivatives; see
 * feature_terms.kern.h. */
#define TERMS_KERNEL(name, a, i) LK_KERNEL_PLAIN(name, a, i)

/* Adds the blocks of the free corners of candidate c, which begin at `at`. */
LK_FN void PAIR(add_blocks)(const pair_args *a, lk_int c, int64_t at, const dist_frame *f,
                            const lk_real *S)
{
  const cand_state *const s = &a->s;
  lk_real H[9];
  for (int i = 0; i < 4; ++i) {
    if (!cand_is_free(s->v[4 * c + i], s->n, s->fixed)) continue;
    for (int j = 0; j < 4; ++j) {
      if (!cand_is_free(s->v[4 * c + j], s->n, s->fixed)) continue;
      dist_block(f, S, i, j, H);
      for (int k = 0; k < 9; ++k) a->val[9 * at + k] += H[k];
      ++at;
    }
  }
}

TERMS_KERNEL(PAIR(shared_hessian), a, i)
{
  const cand_state *const s = &a->p.s;
  const int32_t c = a->p.list[i];
  lk_real x[12], w[4], b[3], S[25];
  dist_frame f;
  if (!feature_is_triangle(s->kind[c])) return;
  feature_pair_corners(s, c, x);
  for (int slot = 0; slot < 6; ++slot) {
    const lk_real factor = PAIR(shared_term)(a, c, slot, x, w, b);
    if (factor == LK_R(0.0)) continue;
    dist_frame_of(0, x, w, &f);
    dist_hessian(&f, factor * b[1], factor * b[2], LOOM_HESS_EXACT, S);
    PAIR(add_blocks)(&a->p, c, a->p.first + a->p.at_block[i], &f, S);
  }
}

#undef TERMS_KERNEL
