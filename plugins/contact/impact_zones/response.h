/* response.h - one linear system for all impacts of a step, S lambda = b.
 *
 * M. Tang et al. 2016 (impact_zones.c), section 5: inelastic projection of all impacts at once,
 *
 *   min 1/2 |v' - v|_M^2  with  G v' = 0:
 *   S lambda = -G v,  S = G M^-1 G',  v' = v + M^-1 G' lambda
 *
 * G has a row of four weighted normals for every impact, and S couples impacts that share vertices:
 * the assembly of the cloth's matrix (kit/bcsr.h) with vertices as elements.  In positions at the
 * end of a step of length h, b_j is the gap that impact j lacks, in m, and lambda / h its impulse.
 * S is positive semidefinite, and singular as soon as rows of impacts depend on each other; b is in
 * its range where it comes from velocities.  Weights of a row sum to zero, so that linear momentum
 * is kept by any lambda, converged or not.
 */
#ifndef IMPACT_RESPONSE_H
#define IMPACT_RESPONSE_H

#include "impacts.h"
#include "kit/bcsr.h"
#include "kit/krylov.h"

typedef struct response {
  const loom_host *host;
  const loom_scene *sc;
  const loom_exec *e;
  bcsr S;         /* 1/kg */
  bcsr_kind kind; /* elements: the vertices that are touched */
  int64_t touched;
  loom_buf *key, *perm;   /* u64, i32 [4m], corners by vertices */
  loom_buf *head, *place; /* i64 [4m], [4m+1] */
  loom_buf *ptr, *node;   /* i64 [touched+1], i32 [corners] */
  loom_buf *vert;         /* i32 [touched] */
  loom_buf *K;            /* real [blocks], 1/kg */
  loom_buf *crowd;        /* i64 [4m] */
  loom_buf *b;            /* real [3 rows], m, right-hand side; then the residual */
  loom_buf *lambda;       /* real [3 rows], kg m; rows of three, filled up with zeros */
  loom_buf *more;         /* real [3 rows], kg m, increment of lambda by a solve */
  loom_buf *ahead[2];     /* real [m], kg m, of push_only.c */
  loom_buf *result;       /* real [1] */
  krylov_cg cg;
} response;

typedef struct response_report {
  int64_t iters;    /* of the linear solve, added */
  double strongest; /* kg m, largest |lambda| */
  double pulling;   /* number of lambda < 0 */
} response_report;

loom_status response_new(response *p, const loom_host *host, const loom_scene *sc,
                         const loom_exec *e, int32_t max_iters);
/* No multipliers yet. */
loom_status response_begin(response *p);
/* The matrix of these impacts.  Multipliers of impacts that were there before stay. */
loom_status response_assemble(response *p, const impacts *all);
/* b: lack of the gaps to their targets at x. */
loom_status response_missing(response *p, const impacts *all, loom_buf *x);
/* lambda += (S + shift D)^-1 b by conjugate gradients, until the residual is `tolerance` times |b|;
 * D is the diagonal of S. */
loom_status response_solve(response *p, const impacts *all, double shift, double tolerance,
                           response_report *out);
/* lambda: an impulse for every impact as if it were alone; impacts at a vertex share theirs. */
loom_status response_alone(response *p, const impacts *all, response_report *out);
/* lambda >= 0, from the last lambda, with b at x_before, until no gap is short of its target by
 * more than `tolerance` times the largest lack at the start; see push_only.c. */
loom_status response_push(response *p, const impacts *all, double tolerance, int64_t max_iters,
                          response_report *out);
/* x of the touched vertices = x_before + M^-1 G' lambda; mask, u8 [n], = 1 there. */
loom_status response_apply(response *p, const impacts *all, loom_buf *x_before, loom_buf *x,
                           loom_buf *mask);

/* ---- shared with push_only.c ---- */
/* p->crowd. */
loom_status response_count_crowds(response *p, const impacts *all);
loom_status response_tell(response *p, int64_t m, response_report *out);

#endif
