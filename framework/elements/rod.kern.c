/* rod.kern.c - frames of rods in time: transport, quasi-static twist, plasticity (Kaldor et al.
 * 2010, section 3 and appendix A; Bergou et al. 2010). */
#include "elements/rod.kern.h"

#include "geom/tridiag.kern.h"

LK_KERNEL_PLAIN(rod_frames, a, i)
{
  rod q;
  lk_real *rest = a->rest + (int64_t)ROD_REST * i;
  rod_load(a->x, a->verts + 3 * i, rest, &q);
  for (int j = 0; j < 2; ++j) {
    lk_real *f = rest + ROD_FRAME + ROD_FRAME_LEN * j;
    rod_straighten(q.t[j], q.u[j]);
    lk_cross3(q.t[j], q.u[j], q.v[j]);
    for (int k = 0; k < 3; ++k) {
      f[k] = q.t[j][k];
      f[3 + k] = q.u[j][k];
    }
    a->flat[4 * i + 2 * j] = lk_dot3(q.kb, q.u[j]);
    a->flat[4 * i + 2 * j + 1] = lk_dot3(q.kb, q.v[j]);
  }
  rest[ROD_MREF] = rod_mref(&q, rest[ROD_MREF]);
  if (a->slip) rest[ROD_MBAR] -= a->slip[i]; /* mref is found anew from the frames */
}

/* ---- quasi-static twist ---- */
/* A yarn of ne elements has the edges 0 to ne (open) or 0 to ne - 1 (closed); element i lies
 * between edges i and i + 1.  Columns of a->work: */
enum { THETA, LOWER, DIAGONAL, UPPER, RIGHT, SPARE };

typedef struct twist_yarn {
  const rod_args *a;
  int32_t lo, num, edges; /* first element, elements, edges */
  int32_t closed;
  lk_real *col[ROD_WORK]; /* [edges] */
} twist_yarn;

LK_FN lk_real *twist_theta(const twist_yarn *y, int32_t i, int j)
{
  return y->a->rest + (int64_t)ROD_REST * (y->lo + i) + ROD_FRAME + ROD_FRAME_LEN * j + 6;
}

LK_FN int twist_held(const twist_yarn *y, int32_t k, int32_t j)
{
  return y->a->held && y->a->held[y->lo + k + j];
}

/* Rows and columns of held segments become those of the unit matrix, with a change of 0. */
LK_FN void twist_hold(const twist_yarn *y, int32_t k)
{
  for (int32_t j = 0; j < y->edges; ++j) {
    if (!twist_held(y, k, j)) continue;
    const int32_t before = j > 0 ? j - 1 : y->edges - 1, behind = j + 1 < y->edges ? j + 1 : 0;
    y->col[LOWER][j] = y->col[UPPER][j] = y->col[RIGHT][j] = LK_R(0.0);
    y->col[DIAGONAL][j] = LK_R(1.0);
    y->col[UPPER][before] = y->col[LOWER][behind] = LK_R(0.0);
  }
}

/* Gradient (RIGHT, negative) and Hessian of both energies at THETA. */
LK_FN void twist_system(const twist_yarn *y)
{
  for (int32_t j = 0; j < y->edges; ++j) {
    y->col[LOWER][j] = y->col[UPPER][j] = y->col[RIGHT][j] = LK_R(0.0);
    y->col[DIAGONAL][j] = LK_R(0.0);
  }
  lk_real cs[2], sn[2]; /* of both edges; an element's second is the next one's first */
  cs[1] = LK_COS(y->col[THETA][0]);
  sn[1] = LK_SIN(y->col[THETA][0]);
  for (int32_t i = 0; i < y->num; ++i) {
    const lk_real *rest = y->a->rest + (int64_t)ROD_REST * (y->lo + i);
    const lk_real *flat = y->a->flat + 4 * (y->lo + i);
    const int32_t edge[2] = {i, i + 1 < y->edges ? i + 1 : 0};
    const lk_real L = rest[ROD_LENGTH] + rest[ROD_LENGTH + 1];
    const lk_real kb = y->a->bend[3 * (y->lo + i)] / L;
    const lk_real kt = y->a->twist ? LK_R(2.0) * y->a->twist[y->lo + i] / L : LK_R(0.0);
    const lk_real m =
        y->col[THETA][edge[1]] - y->col[THETA][edge[0]] + rest[ROD_MREF] - rest[ROD_MBAR];
    cs[0] = cs[1];
    sn[0] = sn[1];
    cs[1] = LK_COS(y->col[THETA][edge[1]]);
    sn[1] = LK_SIN(y->col[THETA][edge[1]]);
    for (int j = 0; j < 2; ++j) {
      const lk_real c = cs[j], s = sn[j];
      const lk_real w0 = c * flat[2 * j + 1] - s * flat[2 * j];
      const lk_real w1 = -c * flat[2 * j] - s * flat[2 * j + 1];
      const lk_real b0 = rest[ROD_WBAR + 2 * j], b1 = rest[ROD_WBAR + 2 * j + 1];
      const lk_real curve = kb * (w0 * b0 + w1 * b1); /* of the energy; only if it is convex */
      y->col[RIGHT][edge[j]] -= kb * (w0 * b1 - w1 * b0) + (j == 0 ? -kt : kt) * m;
      /* a straight yarn may turn freely: a trace of twist holds it */
      y->col[DIAGONAL][edge[j]] +=
          kt * (LK_R(1.0) + LK_R(16.0) * LK_EPSILON) + LK_FMAX(curve, LK_R(0.0));
    }
    y->col[UPPER][edge[0]] -= kt; /* couples edge i to i + 1 */
    y->col[LOWER][edge[1]] -= kt;
  }
}

LK_KERNEL_PLAIN(rod_theta, a, k)
{
  twist_yarn y;
  y.a = a;
  y.lo = a->first[k];
  y.num = a->first[k + 1] - y.lo;
  y.closed = a->closed[k];
  y.edges = y.closed ? y.num : y.num + 1;
  for (int b = 0; b < ROD_WORK; ++b) y.col[b] = a->work + (int64_t)b * a->stride + y.lo + k;
  if (y.num < 1) return;
  for (int32_t i = 0; i < y.num; ++i) y.col[THETA][i] = *twist_theta(&y, i, 0);
  if (!y.closed) y.col[THETA][y.num] = *twist_theta(&y, y.num - 1, 1);
  for (int32_t j = 0; j < y.edges; ++j)
    if (twist_held(&y, k, j)) y.col[THETA][j] += a->turn[y.lo + k + j];
  for (int32_t it = 0; it < a->max_iters; ++it) {
    lk_real most = LK_R(0.0);
    twist_system(&y);
    if (!(y.col[DIAGONAL][0] > LK_R(0.0))) break; /* neither bends nor twists */
    twist_hold(&y, k);
    tridiag_solve(y.edges, y.closed, y.col[LOWER], y.col[DIAGONAL], y.col[UPPER], y.col[RIGHT],
                  y.col[SPARE]);
    for (int32_t j = 0; j < y.edges; ++j) {
      if (twist_held(&y, k, j)) continue;
      y.col[THETA][j] += y.col[RIGHT][j];
      most = LK_FMAX(most, LK_FABS(y.col[RIGHT][j]));
    }
    if (most < a->tolerance) break;
  }
  for (int32_t i = 0; i < y.num; ++i) {
    *twist_theta(&y, i, 0) = y.col[THETA][i];
    *twist_theta(&y, i, 1) = y.col[THETA][i + 1 < y.edges ? i + 1 : 0];
  }
}

/* ---- plasticity ---- */

/* |wbar - w| <= p, then |wbar| <= p_max */
LK_KERNEL_PLAIN(rod_plastic, a, i)
{
  const lk_real p = a->bend[3 * i + 1], most = a->bend[3 * i + 2];
  lk_real *rest = a->rest + (int64_t)ROD_REST * i;
  if (!(p > LK_R(0.0))) return;
  for (int j = 0; j < 2; ++j) {
    const lk_real theta = rest[ROD_FRAME + ROD_FRAME_LEN * j + 6];
    const lk_real c = LK_COS(theta), s = LK_SIN(theta);
    const lk_real *flat = a->flat + 4 * i + 2 * j;
    const lk_real w0 = c * flat[1] - s * flat[0], w1 = -c * flat[0] - s * flat[1];
    lk_real *b = rest + ROD_WBAR + 2 * j;
    const lk_real d0 = b[0] - w0, d1 = b[1] - w1, d = LK_SQRT(d0 * d0 + d1 * d1);
    if (d > p) {
      b[0] = w0 + p / d * d0;
      b[1] = w1 + p / d * d1;
    }
    const lk_real n = LK_SQRT(b[0] * b[0] + b[1] * b[1]);
    if (most > LK_R(0.0) && n > most) {
      b[0] *= most / n;
      b[1] *= most / n;
    }
  }
}

/* ---- rest lengths ---- */

LK_KERNEL(rod_scale, a, i)
{
  lk_real *rest = a->rest + (int64_t)ROD_REST * i;
  for (int j = 0; j < 2; ++j) rest[ROD_LENGTH + j] = a->factor * a->length[2 * i + j];
}
