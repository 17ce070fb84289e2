/* barrier_case.h - two sheets of 3 x 3 vertices between a body mesh and a ball, for tests of the
 * barriers: the plugin as the core calls it, and brute force over all pairs. */
#ifndef TEST_BARRIER_CASE_H
#define TEST_BARRIER_CASE_H

#include "geom/barrier.kern.h"
#include "geom/distance_hess.kern.h"
#include "support/brute.h"

enum { SIDE = 3, SHEET = SIDE * SIDE, N = 2 * SHEET, N3 = 3 * N, NB = 5 };
static const double bc_d_hat = 4e-3; /* m */

extern int bc_bars;                 /* 1: instead of the ball a thin bar and a small ball, which lie
                                     * between vertices, and pairs EO; 0 */
extern double bc_spacing;           /* m, of the sheets of the next bc_open(), 0.01 */
static const double bc_kappa = 200; /* N/m, of the settings that bc_brute_energy() is for */

typedef struct bc_fixture {
  test_host t;
  const loom_plugin *p;
  const loom_contact_ops *ops;
  void *set, *self;
  loom_pairs pairs;
  loom_real x[N3]; /* where detection ran */
  int32_t tris[3 * 4 * (SIDE - 1) * (SIDE - 1)], edges[2 * 100];
} bc_fixture;

/* Plan, detection and update at the present x. */
void bc_detect(bc_fixture *f, uint32_t *changed);
/* check: the memory is checked; jitter, radius, m; settings: "key=value ..." */
void bc_open(bc_fixture *f, const char *plugin, int threads, int check, double jitter,
             double radius, const char *settings);
void bc_close(bc_fixture *f);
/* Energies and gradient at x; any may be NULL.  Returns bc_eval()'s status. */
loom_status bc_eval(bc_fixture *f, const double *x, double *energy, double *loss, double *grad);
/* Energy and dissipation together. */
double bc_total(bc_fixture *f, const double *x);
/* Dense Hessian at x; returns the number of blocks. */
int64_t bc_hessian(bc_fixture *f, const double *x, int how, double H[N3][N3]);
/* Terms at x behind two that are there already; returns their number. */
void bc_terms_open(bc_fixture *f, loom_quad *q);
void bc_terms_close(bc_fixture *f, loom_quad *q);
int64_t bc_terms_at(bc_fixture *f, const double *x, loom_quad *q);
/* Gradient g [N3] of the terms at x and their weight K [N] per vertex. */
void bc_terms_sum(bc_fixture *f, const loom_quad *q, const double *x, double *g, double *K);
/* The gradient at x, which exceeds `least` somewhere, is within `share` of its largest entry of the
 * differences of bc_total(), the Hessian within 1e-5 of its largest diagonal entry, returned, of
 * the differences of the gradient; fixed vertices have neither. */
double bc_check_derivatives(bc_fixture *f, double *x, double least, double share);
/* The terms have the gradient at x, which exceeds `least` somewhere. */
void bc_check_terms(bc_fixture *f, loom_quad *q, const double *x, double least);
/* The terms are nowhere softer than the Hessian; returns the largest share of them it needs. */
double bc_check_majorant(bc_fixture *f, loom_quad *q, const double *x, int trials, uint64_t seed);
/* The share of a pair EO in laws, of the start of the step. */
double bc_brute_share(bc_fixture *f, const brute_pair *p);
/* Energy of a pair, J, with the squared distance D, m^2, and the thickness xi, m. */
typedef double (*bc_law)(void *of, const brute_pair *p, double xi, double D);
/* Sum of a law over all pairs within bc_d_hat, nearly parallel edges times their mollifier,
 * elements times their share. */
double bc_brute_sum(bc_fixture *f, const double *x, double radius, bc_law law, void *of,
                    int *active);
/* B summed over all pairs there are. */
double bc_brute_energy(bc_fixture *f, const double *x, double radius, int form, int *active);

#endif
