/* yarn_grid.kern.c - see yarn_grid.kern.h. */
#include "yarn_grid.kern.h"

#include "loom/scene.h"
#include "yarn_pair.kern.h"

LK_FN int32_t yarn_cell_coordinate(lk_real x, lk_real cell)
{
  const lk_real most = (lk_real)YARN_GRID_CELL_MAX, c = LK_FLOOR(x / cell);
  return (int32_t)(c > most ? most : c > -most ? c : -most);
}

LK_REDUCE_SUM_PLAIN(yarn_grid_sum, a, i) { return a->x[3 * i + a->axis]; }

LK_KERNEL_PLAIN(yarn_grid_place, a, s)
{
  lk_real *const P = a->P + YARN_POS * s;
  lk_real q[12], m[6];
  spline_points(a->x, a->l.segs + 4 * s, q);
  yarn_lanes(a->l.basis, q, P);
  yarn_grid_bounds(P, m); /* with the first point of the next segment, which does no harm */
  for (int k = a->l.pt0[s + 1] - a->l.pt0[s]; k < YARN_LANES; ++k)
    for (int c = 0; c < 3; ++c) P[YARN_LANES * c + k] = YARN_FAR;
  for (int c = 0; c < 3; ++c) {
    const lk_real lo = m[c], hi = m[3 + c], centre = a->sum[c] / a->num_verts;
    /* half the distance that counts, and rounding */
    const lk_real grow = a->l.radius[s] + LK_R(0.5) * a->margin +
                         LK_R(1e-9) * (hi - lo + a->l.radius[s] + LK_FABS(a->margin));
    a->box[6 * s + c] = lo - grow;
    a->box[6 * s + 3 + c] = hi + grow;
    a->cells[6 * s + c] = yarn_cell_coordinate(lo - grow - centre, a->cell);
    a->cells[6 * s + 3 + c] = yarn_cell_coordinate(hi + grow - centre, a->cell);
  }
}

/* A bin allows the movement of a pair to differ by omega from its value when the entry got there.
 * Points move by weighted sums of vertices, with absolute weights that add up to 1.25 at most.  A
 * vertex may be `most` away from its reference, on either side, in two segments:
 * 2 * 1.25 * 2 most = omega. */
LK_KERNEL_PLAIN(yarn_grid_alarm, a, i)
{
  lk_real d[3], q = LK_R(0.0);
  for (int c = 0; c < 3; ++c) {
    d[c] = (a->x[3 * i + c] - a->x1[3 * i + c]) - (a->x1[3 * i + c] - a->x2[3 * i + c]);
    const lk_real e = d[c] - a->ref[3 * i + c];
    q += e * e;
  }
  a->out[i] = !(q <= a->most * a->most);
  if (a->out[i]) LK_STORE3(a->ref, i, d);
}

LK_KERNEL_PLAIN(yarn_grid_motion, a, s)
{
  lk_real q[12], q1[12], q2[12];
  spline_points(a->x, a->l.segs + 4 * s, q);
  spline_points(a->x1, a->l.segs + 4 * s, q1);
  spline_points(a->x2, a->l.segs + 4 * s, q2);
  for (int c = 0; c < 12; ++c) {
    q[c] -= q1[c];
    q1[c] = q[c] - (q1[c] - q2[c]);
  }
  yarn_grid_interval(&a->l, q, a->move + 6 * s);
  yarn_grid_interval(&a->l, q1, a->change + 6 * s);
  int wake = 0;
  for (int k = 0; k < 4; ++k) {
    const int32_t v = a->l.segs[4 * s + k];
    wake |= v >= 0 && a->alarm[v];
  }
  a->wake[s] = (uint8_t)wake;
}

LK_KERNEL_PLAIN(yarn_grid_window, a, s)
{
  yarn_grid_displacement(&a->l, a->x, a->x1, s, a->move + 6 * s);
}

/* Steps n until the clearance may be used up:  d = v n + g (n^2 + n) / 2. */
LK_FN int32_t bin_of(lk_real d, lk_real v, lk_real g)
{
  const lk_real b = v + LK_R(0.5) * g;
  lk_real n = (lk_real)(1 << (YARN_GRID_BINS - 1));
  if (g > LK_R(0.0) || b > LK_R(0.0)) /* 2 d / (b + sqrt(..)): no cancellation */
    n = LK_R(2.0) * d / (b + LK_SQRT(b * b + LK_R(2.0) * g * d));
  int32_t bin = 0;
  while (bin < YARN_GRID_BINS - 1 && (lk_real)(1 << (bin + 1)) <= n) ++bin;
  return bin;
}

LK_KERNEL_PLAIN(yarn_grid_examine, a, k)
{
  const yarn_grid_ask *const e = a->ask + k;
  yarn_grid_look *const o = a->out + k;
  const int32_t *const ca = a->cells + 6 * e->a, *const cb = a->cells + 6 * e->b;
  o->full = o->hits = o->apart = 0;
  o->d = e->d;
  for (int c = 0; c < 3; ++c) o->apart |= ca[c] > cb[3 + c] || cb[c] > ca[3 + c];
  if (o->apart) return; /* no points can be near; segments that meet again make a new entry */
  if (o->d >= LK_R(0.0)) {
    lk_real ia[6], ib[6];
    const lk_real *const window = a->window[e->bin];
    if (window != NULL) {
      for (int c = 0; c < 6; ++c) {
        ia[c] = window[6 * e->a + c];
        ib[c] = window[6 * e->b + c];
      }
    } else {
      yarn_grid_displacement(&a->l, a->x, a->snap[e->bin], e->a, ia);
      yarn_grid_displacement(&a->l, a->x, a->snap[e->bin], e->b, ib);
    }
    o->d -= yarn_grid_relative(ia, ib) * (LK_R(1.0) + LK_R(1e-9));
  }
  if (!(o->d > LK_R(0.0))) yarn_grid_compare(&a->l, &a->boxes, a->P, e->a, e->b, a->margin, o);
  o->wish = 0;
  if (a->history < 2 || !(o->d > LK_R(0.0))) return;
  const lk_real v = yarn_grid_relative(a->move + 6 * e->a, a->move + 6 * e->b);
  const lk_real g = yarn_grid_relative(a->change + 6 * e->a, a->change + 6 * e->b);
  o->wish = bin_of(o->d, v, g + a->omega);
}

LK_KERNEL_PLAIN(yarn_grid_write, a, k)
{
  const yarn_grid_hit *const g = a->hit + k;
  const int64_t at = a->first + k;
  const lk_real *const A = a->P + (int64_t)YARN_POS * g->a + g->look.i;
  const lk_real *const B = a->P + (int64_t)YARN_POS * g->b + g->look.j;
  const int range[4] = {g->look.i0, g->look.i1, g->look.j0, g->look.j1};
  lk_real n[3], len = LK_R(0.0);
  for (int c = 0; c < 3; ++c) {
    n[c] = A[YARN_LANES * c] - B[YARN_LANES * c];
    len += n[c] * n[c];
  }
  len = LK_SQRT(len);
  a->kind[at] = LOOM_PAIR_YY;
  int32_t *const v = a->v + 4 * at;
  v[0] = g->a;
  v[1] = g->b;
  v[2] = v[3] = -1;
  a->obst[at] = -1;
  for (int i = 0; i < 4; ++i) a->w[4 * at + i] = (lk_real)range[i] / (lk_real)YARN_B;
  for (int c = 0; c < 3; ++c) {
    /* crossing centre lines have no direction: any will do */
    a->normal[3 * at + c] = len > LK_R(0.0) ? n[c] / len : (lk_real)(c == 2);
    a->point[3 * at + c] = LK_R(0.0);
  }
  a->gap[at] = len - (a->l.radius[g->a] + a->l.radius[g->b]);
  a->toi[at] = LK_R(2.0);
  a->key[at] = (uint64_t)g->a << 32 | (uint64_t)g->b;
}
