/* friction.kern.h - lagged friction of pairs.
 *
 * Lagging freezes the normal force lambda, the weights W and the normal n of every active pair.
 * Then D = sum mu lambda f0(|u|) with the tangential displacement over the step so far,
 *   u = (I - n n') sum_i W_i (x_i - x_start_i)   [m],
 * where body vertices and points of bodies move by the share of their motion that is done (M. Li
 * et al., Incremental potential contact, ACM TOG 39(4), 2020, doi 10.1145/3386569.3392425,
 * section 5). */
#ifndef KIT_FRICTION_KERN_H
#define KIT_FRICTION_KERN_H

#include "geom/friction.kern.h"
#include "kit/ahead.kern.h"
#include "kit/pair_energy.kern.h"

/* Lagged pairs, and positions.  For a vertex and a body, `now` minus `then` is the displacement of
 * the body's point so far; where `row` is given, they hold the points of these pairs alone. */
typedef struct fric_state {
  const lk_real *LK_RESTRICT x;       /* [n][3] m */
  const lk_real *LK_RESTRICT x_start; /* [n][3] m */
  const lk_real *LK_RESTRICT body0;
  const lk_real *LK_RESTRICT body1;
  const uint8_t *LK_RESTRICT fixed;
  const int32_t *LK_RESTRICT v;      /* [nf][4] */
  const int32_t *LK_RESTRICT obst;   /* [nf], of exact shapes alone, else -1 */
  const lk_real *LK_RESTRICT w;      /* [nf][4] */
  const lk_real *LK_RESTRICT normal; /* [nf][3] */
  const int64_t *LK_RESTRICT row;  /* [nf] place of a pair in `then` and `now`; NULL: the pair's */
  const lk_real *LK_RESTRICT then; /* [.][3] m, at the start of the step, of exact shapes */
  const lk_real *LK_RESTRICT now;  /* [.][3] m */
  const lk_real *LK_RESTRICT most; /* [nf] N, mu lambda */
  lk_real progress;
  lk_real eps; /* m, epsilon_v h */
  int32_t n;
} fric_state;

/* ahead: of an expansion that serves a step, else zeros.  D is then the quadratic sum k/2 |u|^2
 * with the secant k = mu lambda f1(y)/y of the slip y of ahead_slip(). */
typedef struct fric_slip_args {
  fric_state f;
  ahead_ways ahead;
} fric_slip_args;
LK_DECLARE(fric_dissipation, fric_slip_args) /* sum of mu lambda f0, J */
LK_DECLARE(fric_work, fric_slip_args)        /* sum of mu lambda f1 |u|, J */

typedef struct fric_most_args {
  const lk_real *LK_RESTRICT most; /* [nf] N */
} fric_most_args;
LK_DECLARE(fric_sum_most, fric_most_args) /* sum of mu lambda, N */

typedef struct fric_drag_args {
  fric_state f;
  ahead_ways ahead;
  const int64_t *LK_RESTRICT at; /* [nf+1] */
  lk_real *LK_RESTRICT force;    /* [corners][3] N, out */
} fric_drag_args;
LK_DECLARE(fric_drag, fric_drag_args)

/* Of every free corner of a pair: |w| mu lambda, as the first number; none where `at` has no room
 * for the pair. */
typedef struct fric_hold_args {
  fric_state f;
  const int64_t *LK_RESTRICT at; /* [nf+1] */
  lk_real *LK_RESTRICT force;    /* [corners][3] N, out */
} fric_hold_args;
LK_DECLARE(fric_hold, fric_hold_args)

/* Forces of corners become their sizes, as the first number. */
typedef struct fric_size_args {
  lk_real *LK_RESTRICT force; /* [corners][3] N */
} fric_size_args;
LK_DECLARE(fric_size, fric_size_args)

typedef struct fric_hessian_args {
  fric_state f;
  const int64_t *LK_RESTRICT at_block; /* [nf+1] */
  int64_t first;
  ahead_ways ahead; /* as above: f1/y in every direction of the plane */
  int32_t *LK_RESTRICT row;
  int32_t *LK_RESTRICT col;
  lk_real *LK_RESTRICT val;
} fric_hessian_args;
LK_DECLARE(fric_hessian, fric_hessian_args)

typedef struct fric_differ_args {
  const int32_t *LK_RESTRICT a; /* [4 nf] */
  const int32_t *LK_RESTRICT b; /* [4 nf] */
} fric_differ_args;
LK_DECLARE(fric_differ, fric_differ_args) /* number of places where they differ */

/* Normal forces of friction that keeps them for a whole step (friction.rule).  The forces of the
 * start may be far above the forces that act during the step: a pair that came near in the last
 * step is pushed away in this one, and friction of an impact exceeds mu times its normal momentum
 * (1.5 to 2.5 times where a patch falls on a belt).
 *
 * FRIC_END, for contact that is frozen, takes the force at the end of the step, with motion along
 * the normal alone.  A pair with the force f and the stiffness k at the start opens by
 *   z = h^2 (a + r (f' - f)) - ahead,  f' = f - k z
 *   f' = max(0, f + k (ahead - h^2 a) / (1 + h^2 k r)).
 * `ahead` is the approach on the way to the inertial target under elasticity at x_start, and a the
 * acceleration by which all contact at the start opens the pair.  The forces of pairs that share
 * vertices grow together and stop the vertices once, not once per pair:
 *   r = max(sum w^2/m, sum |w| S/m / f),  S = sum over the pairs of a vertex of |w| f.
 * A pair at rest keeps f.
 *
 * FRIC_LIMIT limits the forces of the start, where elasticity at x_start is not known or the end of
 * the step is not the expansion's.  The limit is the larger of two forces: the force at the
 * distance that the pair had one step before, and the force that alone stops the pair on its way to
 * the inertial target.  So a resting pair keeps its force, and a pair that meets for the first time
 * gets the force that stops it.  A pair that separates has the force at the distance one step later
 * in place of that before; without elasticity at x_start it has no limit, as tension may press it.
 *
 * (For a body without a mesh the motion of its point along the normal is left out.) */
enum { FRIC_START = 0, FRIC_LIMIT, FRIC_END };
typedef struct fric_temper {
  const lk_real *LK_RESTRICT y;    /* [n][3] m, inertial target; NULL: forces are as they are */
  const lk_real *LK_RESTRICT pull; /* [n][3] N, gradient of elasticity at the start; NULL: 0 */
  const lk_real *LK_RESTRICT push; /* [n][3] N, gradient of contact at the start; of FRIC_END */
  const lk_real *LK_RESTRICT size; /* [n][3] N, the first: S */
  const lk_real *LK_RESTRICT v;    /* [n][3] m/s, at the start of the step */
  const lk_real *LK_RESTRICT mass; /* [n] kg, also without y */
  lk_real h, h2;                   /* s; s^2, of the weight of inertia */
  int32_t first;                   /* 1: the first step, without a step before it */
} fric_temper;

/* Input and output of a model's kernel `lag` (friction_lag_body.kern.h). */
typedef struct fric_lag_args {
  pair_args p; /* active pairs at the point of lagging */
  int32_t *LK_RESTRICT v;
  int32_t *LK_RESTRICT obst;
  lk_real *LK_RESTRICT w;
  lk_real *LK_RESTRICT normal;
  lk_real *LK_RESTRICT point;
  lk_real *LK_RESTRICT most;
  int64_t *LK_RESTRICT blocks; /* [nf] */
  lk_real self_friction;
  lk_real reach; /* m, gap at which forces begin */
  fric_temper t;
} fric_lag_args;
#define FRIC_DECLARE(model) LK_DECLARE(model##_lag, fric_lag_args)

/* For a pair with weights w and normal n: *ahead, m, by how much the pair approaches on the way to
 * the target; *behind, m, by how much it approached in the step before.  Returns the sum of w^2 / m
 * over free vertices, 1/kg. */
LK_FN lk_real fric_approach(const fric_temper *t, const cand_state *s, const int32_t *v,
                            const lk_real *w, const lk_real *n, lk_real *ahead, lk_real *behind)
{
  lk_real inverse = LK_R(0.0);
  *ahead = *behind = LK_R(0.0);
  for (int b = 0; b < 4; ++b) {
    const int32_t i = v[b];
    if (i < 0) continue;
    if (cand_is_free(i, s->n, s->fixed)) inverse += w[b] * w[b] / t->mass[i];
    for (int k = 0; k < 3; ++k) {
      const lk_real a = w[b] * n[k];
      if (i < s->n) {
        *ahead -= a * (t->y[3 * i + k] - s->x[3 * i + k]);
        if (t->pull != NULL) *ahead += a * (t->h2 / t->mass[i]) * t->pull[3 * i + k];
        *behind -= a * t->h * t->v[3 * i + k];
      } else if (s->body1 != NULL) {
        const lk_real way = s->body1[3 * (i - s->n) + k] - s->body0[3 * (i - s->n) + k];
        *ahead -= a * way;
        *behind -= a * way;
      }
    }
  }
  return inverse;
}

/* The force at the end of the step, N, of a pair with the force f > 0, N, and the stiffness k, N/m,
 * at the start (fric_temper); weights w, normal n. */
LK_FN lk_real fric_end_force(const fric_temper *t, const cand_state *s, const int32_t *v,
                             const lk_real *w, const lk_real *n, lk_real f, lk_real k)
{
  lk_real ahead, behind, open = LK_R(0.0), joint = LK_R(0.0);
  const lk_real alone = fric_approach(t, s, v, w, n, &ahead, &behind);
  for (int b = 0; b < 4; ++b) {
    if (!cand_is_free(v[b], s->n, s->fixed)) continue;
    open -= w[b] * lk_dot3(n, t->push + 3 * v[b]) / t->mass[v[b]];
    joint += LK_FABS(w[b]) * t->size[3 * v[b]] / t->mass[v[b]];
  }
  const lk_real r = LK_FMAX(alone, joint / f);
  return LK_FMAX(f + k * (ahead - t->h2 * open) / (LK_R(1.0) + t->h2 * k * r), LK_R(0.0));
}

/* Tangential displacement over the step of a lagged pair with cloth at x, u, m; returns |u|. */
LK_FN lk_real fric_slip_at(const fric_state *f, const lk_real *x, lk_int i, lk_real *u)
{
  lk_real n[3];
  LK_LOAD3(n, f->normal, i);
  u[0] = u[1] = u[2] = LK_R(0.0);
  for (int b = 0; b < 4; ++b) {
    const int32_t v = f->v[4 * i + b];
    const lk_real w = f->w[4 * i + b];
    if (v < 0) continue;
    for (int k = 0; k < 3; ++k)
      u[k] += w * (v < f->n ? x[3 * v + k] - f->x_start[3 * v + k]
                            : f->progress *
                                  (f->body1[3 * (v - f->n) + k] - f->body0[3 * (v - f->n) + k]));
  }
  if (f->obst[i] >= 0) {
    const int64_t l = f->row != NULL ? f->row[i] : i;
    for (int k = 0; k < 3; ++k) u[k] -= f->now[3 * l + k] - f->then[3 * l + k];
  }
  const lk_real un = lk_dot3(n, u);
  for (int k = 0; k < 3; ++k) u[k] -= un * n[k];
  return lk_norm3(u);
}

LK_FN lk_real fric_slip(const fric_state *f, lk_int i, lk_real *u)
{
  return fric_slip_at(f, f->x, i, u);
}

/* The slip of pair i in the step to come, m. */
LK_FN lk_real fric_slip_ahead(const fric_state *f, const ahead_ways *a, lk_int i)
{
  const int32_t *const v = f->v + 4 * i;
  const lk_real *const w = f->w + 4 * i;
  lk_real n[3], u[3], unused[3];
  const lk_real coast = fric_slip_at(f, a->coast, i, u);
  if (a->outer == NULL) return coast;
  LK_LOAD3(n, f->normal, i);
  if (!ahead_is_with_body(v, w, f->n)) return ahead_cloth_slip(a, v, w, f->n, n, u);
  return ahead_slip(a, v, w, f->n, coast, fric_slip_at(f, a->outer, i, unused),
                    fric_slip_at(f, a->all, i, unused));
}

/* mu lambda f1/y, N/m, of pair i; y is its slip, or that of `a`. */
LK_FN lk_real fric_secant(const fric_state *f, const ahead_ways *a, lk_int i, lk_real y)
{
  return f->most[i] * friction_f1_over(a->coast != NULL ? fric_slip_ahead(f, a, i) : y, f->eps);
}

#endif
