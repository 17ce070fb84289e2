/* pair_mollified_body.kern.h - Hessians of pairs of nearly parallel edges, which have the mollifier
 * as a factor of their energy; to be included behind pair_energy_body.kern.h by a model with exact
 * second derivatives, see pair_energy.kern.h.
 *
 * Only few pairs are nearly parallel edges, and only their Hessians do not reduce to a 5 x 5
 * matrix. So they have a kernel of their own, with room for a matrix of 12 x 12.  Translations do
 * not change the energy: eigenvalues are those of the 9 x 9 matrix in three orthonormal differences
 * of the vertices, which lies with its eigenvectors in a device's shared memory. */
#define PAIR_H                              (12 * 12)
#define PAIR_S                              (9 * 9)
#define PAIR_KERNEL(name, a, i, room, size) LK_KERNEL_ROOM(name, a, i, room, size)

/* t [4] times the rows (1 1 -1 -1), (1 -1 1 -1), (1 -1 -1 1) of a Hadamard matrix. */
LK_FN void PAIR(differences)(const lk_real *t, lk_real *d)
{
  const lk_real p = t[0] - t[3], q = t[1] - t[2];
  d[0] = p + q;
  d[1] = p - q;
  d[2] = (t[0] + t[3]) - (t[1] + t[2]);
}

/* d [3] times its columns. */
LK_FN void PAIR(corners)(const lk_real *d, lk_real *t)
{
  t[0] = (d[0] + d[1]) + d[2];
  t[1] = (d[0] - d[1]) - d[2];
  t[2] = (d[1] - d[0]) - d[2];
  t[3] = d[2] - (d[0] + d[1]);
}

/* S [9][9] = Q H Q' of H [12][12], Q half the rows above for each component. */
LK_FN void PAIR(fold)(lk_room H, lk_room S)
{
  for (int rs = 0; rs < 9; ++rs) {
    const int r = rs / 3, s = rs % 3;
    lk_real row[4], part[12], column[4], d[3];
    LK_UNROLL
    for (int k = 0; k < 4; ++k) {
      LK_UNROLL
      for (int l = 0; l < 4; ++l) row[l] = LK_SCRATCH(H, 12 * (3 * k + r) + 3 * l + s);
      PAIR(differences)(row, part + 3 * k);
    }
    LK_UNROLL
    for (int m = 0; m < 3; ++m) {
      LK_UNROLL
      for (int k = 0; k < 4; ++k) column[k] = part[3 * k + m];
      PAIR(differences)(column, d);
      LK_UNROLL
      for (int l = 0; l < 3; ++l) LK_SCRATCH(S, 9 * (3 * l + r) + 3 * m + s) = LK_R(0.25) * d[l];
    }
  }
}

/* H = Q' S Q, exactly symmetric. */
LK_FN void PAIR(unfold)(lk_room S, lk_room H)
{
  for (int rs = 0; rs < 9; ++rs) {
    const int r = rs / 3, s = rs % 3;
    lk_real row[3], part[12], column[3], t[4];
    LK_UNROLL
    for (int k = 0; k < 3; ++k) {
      LK_UNROLL
      for (int l = 0; l < 3; ++l) row[l] = LK_SCRATCH(S, 9 * (3 * k + r) + 3 * l + s);
      PAIR(corners)(row, part + 4 * k);
    }
    LK_UNROLL
    for (int m = 0; m < 4; ++m) {
      LK_UNROLL
      for (int k = 0; k < 3; ++k) column[k] = part[4 * k + m];
      PAIR(corners)(column, t);
      LK_UNROLL
      for (int l = 0; l < 4; ++l) {
        const int i = 3 * l + r, j = 3 * m + s;
        if (i < j) continue;
        LK_SCRATCH(H, 12 * i + j) = LK_R(0.25) * t[l];
        LK_SCRATCH(H, 12 * j + i) = LK_R(0.25) * t[l];
      }
    }
  }
}

LK_FN void PAIR(make_semidefinite)(lk_room H, int how)
{
  LK_LINES(S, 2 * PAIR_S + 9);
  PAIR(fold)(H, S);
  lk_sym_psd_rolled(9, S, lk_room_behind(S, PAIR_S), lk_room_behind(S, 2 * PAIR_S), how);
  PAIR(unfold)(S, H);
}

/* The product rule for m(c) b(D) of two edges in the mollified range, H [12][12]. */
LK_FN void PAIR(mollified_hessian)(const pair_args *a, const lk_real *b, const lk_real *x,
                                   lk_real e, const dist_frame *f, lk_room H)
{
  lk_real S[25], B[9], dc[12], db[12];
  const lk_real c = mollifier_cross(x), b0 = b[0], b1 = b[1];
  const lk_real m0 = mollifier_value(c, e), m1 = mollifier_slope(c, e),
                m2 = mollifier_curvature(c, e);
  dist_hessian(f, m0 * b1, m0 * b[2], LOOM_HESS_EXACT, S);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      dist_block(f, S, i, j, B);
      for (int k = 0; k < 9; ++k) LK_SCRATCH(H, 12 * (3 * i + k / 3) + 3 * j + k % 3) = B[k];
    }
  mollifier_cross_gradient(x, dc);
  for (int i = 0; i < 12; ++i) db[i] = LK_R(2.0) * b1 * f->d * f->W[i / 3] * f->F[0][i % 3];
  for (int i = 0; i < 12; ++i)
    for (int j = 0; j < 12; ++j)
      LK_SCRATCH(H, 12 * i + j) += m1 * (db[i] * dc[j] + dc[i] * db[j]) + b0 * m2 * dc[i] * dc[j];
  mollifier_cross_hessian(x, b0 * m1, H);
  if (a->how != LOOM_HESS_EXACT) PAIR(make_semidefinite)(H, a->how);
}

LK_FN int PAIR(mollified_is)(const pair_args *a, lk_int i)
{
  return cand_is_mollified(&a->s, a->list[i]);
}

PAIR_KERNEL(PAIR(mollified), a, i, H, PAIR_H)
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
        a->val[9 * at + e] = LK_SCRATCH(H, 12 * (3 * k + e / 3) + 3 * l + e % 3);
      ++at;
    }
  }
}

#undef PAIR_H
#undef PAIR_S
#undef PAIR_KERNEL
