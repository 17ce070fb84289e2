/* measure.h - the numbers that the core takes of every method alike. */
#ifndef LOOM_MEASURE_H
#define LOOM_MEASURE_H

#include "core/err.h"
#include "loom/plugin.h"
#include "run/objective/error.h"
#include "run/run.h"

typedef struct residual {
  double rms, max; /* m */
  /* largest residual of an object over its tolerance: near, that of converged_abs; over, the larger
   * of both.  NaN where the step is not measured. */
  double near, over;
} residual;

typedef struct measurements {
  loom_energies energies; /* J, at st.x of the problem as it stands */
  double damping;         /* J, the part of their dissipation that is not of contact */
  residual solved, next;  /* of the problem that iterate() saw, and as it stands now */
  error_value error;      /* of the problem as it stands, see error.h */
  double r_ref;           /* m, mass-weighted RMS over objects: see objects.h */
  double total_mass;      /* kg, of free vertices */
  double all_mass;        /* kg */
} measurements;

/* Their results are there after results_settle(), see results.h. */
loom_status measure_norms(run *r, loom_buf *g, residual *out);
loom_status measure_free(run *r, double *rms);
/* The residual that [stop] on selects. */
const residual *measure_tested(const run *r);
/* 1: the tested quantity over its tolerance, at most 1 where the test holds; NaN: not measured. */
double measure_tested_ratio(const run *r);
loom_status measure_dinv(run *r, loom_buf *g, double *out);
loom_status measure_e_ref(run *r, double *out);
/* g = r(x) at st.x of the problem as it stands, and its energies (may be NULL).  The
 * elastic and inertia part is computed when `fresh` (x moved), else taken from grad_free
 * and from *e.  LOOM_REJECTED: contact is not defined at x, values are NaN. */
loom_status measure_gradient(run *r, int fresh, loom_buf *g, loom_energies *e);
/* metrics() of all contact models, in two parts: asked for, and, with all results settled, summed
 * up. */
loom_status measure_contacts(run *r);
void measure_sum_contacts(const run *r, int64_t *active, double *min_gap, double *dissipated);
/* The error that names the contact model with a gradient that made the residual at st.x not finite.
 */
loom_status measure_blame(run *r);
loom_status measure_kinetic(run *r, loom_buf *v, double *kinetic);
loom_status measure_gravity(run *r, loom_buf *x, double *gravity); /* J, zero at x0 */
/* precision.c: warns of a tolerance below the rounding of the residual. */
loom_status run_check_tolerance(run *r);
/* thin.c: warns of bodies that fit between the vertices of cloth, which contact alone sees. */
loom_status run_check_thin(run *r);
/* gas.c: warns of gas in cloth that swings faster than the steps can follow. */
loom_status run_check_gas(run *r);
/* inside.c: vertices that start inside a body are refused, or moved out by [run] start = untangle.
 */
loom_status run_check_inside(run *r);
/* threads.c: warns of threads of seams that run through a body at the start. */
loom_status run_check_threads(run *r);

#endif
