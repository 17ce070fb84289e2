/* pair_mollified_body.kern.h - Hessians of pairs of nearly parallel edges, which have the mollifier
 * as a factor of their energy; to be included behind pair_energy_body.kern.h by a model with exact
 * second derivatives, see pair_energy.kern.h.
 *
 * Only few pairs are nearly parallel edges, and only their Hessians do not reduce to a 5 x 5
 * matrix. So they have a kernel of their own, with room for three matrices of 12 x 12. */
#define PAIR_H                              (12 * 12)
#define PAIR_ROOM                           (3 * PAIR_H)
#define PAIR_KERNEL(name, a, i, room, size) LK_KERNEL_ROOM(name, a, i, room, size)

/* The product rule for m(c) b(D) of two edges in the mollified range, H [12][12]. */
LK_FN void PAIR(mollified_hessian)(const pair_args *a, const lk_real *b, const lk_real *x,
                                   lk_real e, const dist_frame *f, lk_room H)
{
  lk_real S[25], B[9], dc[12], db[12];
  const lk_real c = mollifier_cross(x), b0 = b[0], b1 = b[1];
  const lk_real m0 = mollifier(c, e), m1 = mollifier_slope(c, e), m2 = mollifier_curvature(c, e);
  dist_hessian(f, m0 * b1, m0 * b[2], LOOM_HESS_EXACT, S);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      dist_block(f, S, i, j, B);
      for (int k = 0; k < 9; ++k) LK_ROOM(H, 12 * (3 * i + k / 3) + 3 * j + k % 3) = B[k];
    }
  mollifier_cross_gradient(x, dc);
  for (int i = 0; i < 12; ++i) db[i] = LK_R(2.0) * b1 * f->d * f->W[i / 3] * f->F[0][i % 3];
  for (int i = 0; i < 12; ++i)
    for (int j = 0; j < 12; ++j)
      LK_ROOM(H, 12 * i + j) += m1 * (db[i] * dc[j] + dc[i] * db[j]) + b0 * m2 * dc[i] * dc[j];
  mollifier_cross_hessian(x, b0 * m1, H);
  if (a->how != LOOM_HESS_EXACT)
    lk_sym_psd_rolled(12, H, lk_room_behind(H, PAIR_H), lk_room_behind(H, 2 * PAIR_H), a->how);
}

LK_FN int PAIR(mollified_is)(const pair_args *a, lk_int i)
{
  return cand_is_mollified(&a->s, a->list[i]);
}

PAIR_KERNEL(PAIR(mollified), a, i, H, PAIR_ROOM)
{
  const cand_state *const s = &a->s;
  const int32_t c = a->list[i];
  int64_t at = a->first + a->at_block[i];
  lk_real x[12], w[4], b[3], number[PAIR_NUMBERS];
  dist_frame f;
  pair_numbers(a, c, number);
  const lk_real D = cand_pair(s, c, x, w);
  PAIR_LAW(number, s->xi[c], D, b);
  dist_frame_of(1, x, w, &f);
  PAIR(mollified_hessian)(a, b, x, s->par[c], &f, H);
  for (int k = 0; k < 4; ++k) {
    if (!cand_is_free(s->v[4 * c + k], s->n, s->fixed)) continue;
    for (int l = 0; l < 4; ++l) {
      if (!cand_is_free(s->v[4 * c + l], s->n, s->fixed)) continue;
      a->row[at] = s->v[4 * c + k];
      a->col[at] = s->v[4 * c + l];
      for (int e = 0; e < 9; ++e)
        a->val[9 * at + e] = LK_ROOM(H, 12 * (3 * k + e / 3) + 3 * l + e % 3);
      ++at;
    }
  }
}

#undef PAIR_H
#undef PAIR_ROOM
#undef PAIR_KERNEL
