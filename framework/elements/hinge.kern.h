/* hinge.kern.h - hinges that resist bending by their dihedral angle theta:
 *   E = k_e l^2/(2a) (theta - theta0)^2/4,   a = A0 + A1, l the edge's rest length
 * with k_e, N m, of each hinge.  On two triangles (x0, x1, x2) and (x1, x0, x3) with unit normals
 * n0, n1 and edge e = x1 - x0:
 *   theta = atan2(e/|e| . (n1 x n0), n0 . n1)   in (-pi, pi]
 *
 *        seen along the normals                seen along e, theta > 0
 *
 *                  x2
 *                 /  \                            x2     n0  n1     x3
 *                / n0 \                            \       \/      /
 *              x0 ----> x1   e = x1 - x0           \      /\     /
 *                \ n1 /                             \           /
 *                 \  /                               \         /
 *                  x3                                 '--- e ---'
 *
 * theta jumps where the faces touch (+-pi), which cloth cannot pass without intersecting.
 * HINGE_REST: reals of rest data per hinge, l (m), a (m^2), theta0 (rad) first.
 *
 * Derivatives, with e = x1 - x0, b_f = x2 - x0 or x3 - x0 the face's own edge, h_f its
 * height over e, t_f = b_f.e/l^2 its foot, u = e/l, and m_f the unit vector in the face
 * from the edge towards the opposite vertex:
 *   d theta/d b_f = n_f/h_f,     d theta/d e = -sum_f t_f n_f/h_f
 *   d2/db_f db_f  = -(n m' + m n')/h^2
 *   d2/db_f de    =  t (n m' + m n')/h^2 - u n'/(l h)
 *   d2/de de      = -sum_f [ n m'/l^2 + t^2 (n m' + m n')/h^2 - t (n u' + u n')/(l h) ]
 * and no coupling of b_0 with b_1.  sum_f n m' is symmetric although its terms are not.
 *
 * Hessian: EXACT is c (grad grad' + (theta - theta0) Hess theta), c = k_e l^2/(4a).  Both
 * PSD treatments are Gauss-Newton, c grad grad': semidefinite, exact at theta = theta0.
 * A triangle flatter than HINGE_MIN_HEIGHT edge lengths counts as that high. */
#ifndef LOOM_ELEM_HINGE_KERN_H
#define LOOM_ELEM_HINGE_KERN_H

#include "elements/elements.h"
#include "geom/small.kern.h"

#ifdef LOOM_REAL_FLOAT
#define HINGE_MIN_HEIGHT 1e-4f
#else
#define HINGE_MIN_HEIGHT 1e-8
#endif

typedef struct hinge_face { /* one side of the hinge */
  lk_real n[3], m[3];       /* unit normal; unit vector to the opposite vertex */
  lk_real ih, foot;         /* 1/h (1/m), t */
} hinge_face;

typedef struct hinge_geom {
  lk_real u[3]; /* unit edge vector, 0 for an edge without length */
  lk_real il;   /* 1/l, 1/m */
  lk_real theta;
  hinge_face f[2];
} hinge_geom;

/* `side` +1 for the face on x2, -1 for the one on x3 (its edge runs the other way). */
LK_FN void hinge_face_of(const lk_real *e, lk_real l, const lk_real *b, lk_real side,
                         const lk_real *u, hinge_face *f)
{
  lk_real N[3];
  lk_cross3(e, b, N);
  N[0] *= side;
  N[1] *= side;
  N[2] *= side;
  const lk_real len = lk_norm3(N);
  const lk_real inv = LK_R(1.0) / LK_FMAX(len, LK_TINY * LK_TINY);
  f->n[0] = N[0] * inv;
  f->n[1] = N[1] * inv;
  f->n[2] = N[2] * inv;
  lk_cross3(f->n, u, f->m);
  f->m[0] *= side;
  f->m[1] *= side;
  f->m[2] *= side;
  f->ih = LK_R(1.0) / LK_FMAX(len / l, HINGE_MIN_HEIGHT * l);
  f->foot = lk_dot3(b, e) / (l * l);
}

/* Of the hinge on vertices v0 to v3 of x. */
LK_FN void hinge_geometry_at(const lk_real *x, int32_t v0, int32_t v1, int32_t v2, int32_t v3,
                             hinge_geom *q)
{
  lk_real x0[3], e[3], b0[3], b1[3], c[3];
  LK_LOAD3(x0, x, v0);
  LK_LOAD3(e, x, v1);
  LK_LOAD3(b0, x, v2);
  LK_LOAD3(b1, x, v3);
  lk_sub3(e, x0, e);
  lk_sub3(b0, x0, b0);
  lk_sub3(b1, x0, b1);
  const lk_real l = LK_FMAX(lk_norm3(e), LK_TINY);
  q->il = LK_R(1.0) / l;
  q->u[0] = e[0] * q->il;
  q->u[1] = e[1] * q->il;
  q->u[2] = e[2] * q->il;
  hinge_face_of(e, l, b0, LK_R(1.0), q->u, &q->f[0]);
  hinge_face_of(e, l, b1, LK_R(-1.0), q->u, &q->f[1]);
  lk_cross3(q->f[1].n, q->f[0].n, c);
  q->theta = LK_ATAN2(lk_dot3(q->u, c), lk_dot3(q->f[0].n, q->f[1].n));
}

LK_FN void hinge_geometry(const elem_args *a, lk_int i, hinge_geom *q)
{
  hinge_geometry_at(a->x, a->verts[4 * i], a->verts[4 * i + 1], a->verts[4 * i + 2],
                    a->verts[4 * i + 3], q);
}

/* c = k_e l^2/(4a) in N m; *d = theta - theta0 */
LK_FN lk_real hinge_stiffness(const elem_args *a, lk_int i, lk_real k_e, const hinge_geom *q,
                              lk_real *d)
{
  const lk_real l = a->rest[HINGE_REST * i];
  *d = q->theta - a->rest[HINGE_REST * i + 2];
  return LK_R(0.25) * k_e * l * l / a->rest[HINGE_REST * i + 1];
}

/* grad theta [4][3], 1/m */
LK_FN void hinge_angle_gradient(const hinge_geom *q, lk_real *g)
{
  LK_UNROLL
  for (int c = 0; c < 3; ++c) {
    const lk_real g2 = q->f[0].n[c] * q->f[0].ih, g3 = q->f[1].n[c] * q->f[1].ih;
    const lk_real g1 = -(q->f[0].foot * g2 + q->f[1].foot * g3);
    g[3 + c] = g1;
    g[6 + c] = g2;
    g[9 + c] = g3;
    g[c] = -(g1 + g2 + g3);
  }
}

/* Energy of hinge i, J */
LK_FN lk_real hinge_energy(const elem_args *a, lk_int i, lk_real k_e)
{
  hinge_geom q;
  lk_real d;
  hinge_geometry(a, i, &q);
  const lk_real c = hinge_stiffness(a, i, k_e, &q, &d);
  return LK_R(0.5) * c * d * d;
}

/* out [4][3] and, where it is wanted, energy of hinge i */
LK_FN void hinge_gradient(const elem_args *a, lk_int i, lk_real k_e)
{
  hinge_geom q;
  lk_real d, g[12];
  hinge_geometry(a, i, &q);
  const lk_real c = hinge_stiffness(a, i, k_e, &q, &d);
  hinge_angle_gradient(&q, g);
  if (a->energy) a->energy[i] = LK_R(0.5) * c * d * d;
  LK_UNROLL
  for (int k = 0; k < 12; ++k) a->out[12 * i + k] = c * d * g[k];
}

/* Second derivatives of theta by component r of one and component s of the other of
 * (e, b_0, b_1); symmetrised where rounding could differ. */
LK_FN lk_real hinge_ee(const hinge_geom *q, int r, int s)
{
  lk_real sum = LK_R(0.0);
  LK_UNROLL
  for (int k = 0; k < 2; ++k) {
    const hinge_face *f = &q->f[k];
    const lk_real nm = f->n[r] * f->m[s] + f->m[r] * f->n[s], th = f->foot * f->ih;
    const lk_real nu = f->n[r] * q->u[s] + q->u[r] * f->n[s];
    sum += LK_R(0.5) * nm * (q->il * q->il) + th * th * nm - th * q->il * nu;
  }
  return -sum;
}
LK_FN lk_real hinge_bb(const hinge_face *f, int r, int s)
{
  return -(f->ih * f->ih) * (f->n[r] * f->m[s] + f->m[r] * f->n[s]);
}
LK_FN lk_real hinge_be(const hinge_geom *q, const hinge_face *f, int r, int s)
{
  return -f->foot * hinge_bb(f, r, s) - q->il * f->ih * (q->u[r] * f->n[s]);
}

/* B [4][4]: second derivatives of theta by component r of one vertex and s of another. */
LK_FN void hinge_angle_hessian(const hinge_geom *q, int r, int s, lk_real *B)
{
  /* by vertices 1, 2, 3; vertex 0 is minus their sum */
  B[5] = hinge_ee(q, r, s);
  B[10] = hinge_bb(&q->f[0], r, s);
  B[15] = hinge_bb(&q->f[1], r, s);
  B[9] = hinge_be(q, &q->f[0], r, s);
  B[13] = hinge_be(q, &q->f[1], r, s);
  B[6] = hinge_be(q, &q->f[0], s, r);
  B[7] = hinge_be(q, &q->f[1], s, r);
  B[11] = LK_R(0.0);
  B[14] = LK_R(0.0);
  LK_UNROLL
  for (int p = 1; p < 4; ++p) {
    B[4 * p] = -(B[4 * p + 1] + B[4 * p + 2] + B[4 * p + 3]);
    B[p] = -(B[4 + p] + B[8 + p] + B[12 + p]);
  }
  B[0] = B[5] + B[10] + B[15] + ((B[6] + B[9]) + (B[7] + B[13]));
}

/* out [12][12] of hinge i */
LK_FN void hinge_hessian(const elem_args *a, lk_int i, lk_real k_e)
{
  hinge_geom q;
  lk_real d, g[12];
  lk_real *H = a->out + (int64_t)144 * i;
  hinge_geometry(a, i, &q);
  const lk_real c = hinge_stiffness(a, i, k_e, &q, &d);
  const lk_real cd = a->how == LOOM_HESS_EXACT ? c * d : LK_R(0.0);
  hinge_angle_gradient(&q, g);
  LK_UNROLL
  for (int r = 0; r < 3; ++r) {
    LK_UNROLL
    for (int s = 0; s < 3; ++s) {
      lk_real B[16];
      hinge_angle_hessian(&q, r, s, B);
      LK_UNROLL
      for (int p = 0; p < 4; ++p) {
        LK_UNROLL
        for (int k = 0; k < 4; ++k)
          H[12 * (3 * p + r) + 3 * k + s] = c * (g[3 * p + r] * g[3 * k + s]) + cd * B[4 * p + k];
      }
    }
  }
}

#endif
