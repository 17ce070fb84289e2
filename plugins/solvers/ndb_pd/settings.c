/* settings.c - settings and log columns of the solver.
 *
 * The defaults are the settings that work best; `theta = 1`, `base = rest`, `modes = ordinary` and
 * `reuse = plain` are the paper to the letter. */
#include "ndb_pd.h"

typedef ndb_pd_settings settings;

const loom_param ndb_pd_params[] = {
    LOOM_PARAM_ENUM(settings, smoother, SMOOTHER_A_JACOBI, "jacobi|a_jacobi|chebyshev|pcg",
                    "Iteration of the global step: damped Jacobi, several damped sweeps at a time "
                    "(aggregated), Chebyshev on top of Jacobi (Wang 2015), or conjugate gradients "
                    "with the subspace as part of the preconditioner."),
    LOOM_PARAM_INT(settings, rank, 2, 2, 3, "1", "Sweeps of one a_jacobi iteration."),
    LOOM_PARAM_BOOL(settings, fused, 0,
                    "a_jacobi: two sweeps as one gather over two rings, as in the paper (3.4 times "
                    "the entries), instead of one after the other; equal to rounding."),
    LOOM_PARAM_REAL(
        settings, theta, 0, 0, 2, "1",
        "Damping of every sweep; 0: 2/(a + b) for the spectrum [a, b] that the subspace "
        "leaves. 1 is the paper; it diverges above b = 2, as with bending."),
    LOOM_PARAM_INT(settings, sweeps, 5, 0, 1000000, "1",
                   "Iterations of the smoother per global step; 0: the subspace alone."),
    LOOM_PARAM_INT(settings, cycle, 0, 0, 1000000, "1",
                   "Iterations per correction in the subspace; 0: one correction per global step."),
    LOOM_PARAM_INT(settings, presmooth, 2, 0, 1000, "1",
                   "Of these, so many come before the correction where there is contact (reuse = "
                   "presmooth and masked)."),
    LOOM_PARAM_ENUM(settings, subspace, SUBSPACE_EIGEN, "none|eigen|bspline",
                    "Subspace of the corrections: eigenvectors of the global matrix, or quadratic "
                    "B-splines on the rest shape."),
    LOOM_PARAM_ENUM(settings, modes, MODES_GENERALISED, "ordinary|generalised",
                    "Eigenvectors of H (the paper), or of H against its diagonal, which are the "
                    "slow modes of Jacobi."),
    LOOM_PARAM_ENUM(settings, base, BASE_CURRENT, "current|rest",
                    "Corrections start from the current iterate, or from the rest shape as printed "
                    "(eq. 16); that one forgets all details in each iteration."),
    LOOM_PARAM_ENUM(settings, reuse, REUSE_MASKED, "plain|presmooth|masked",
                    "Subspace with contact: as it is (eq. 18), after some sweeps, or with rows "
                    "scaled by H_jj/(H_jj + w_j), which does not depend on the weights."),
    LOOM_PARAM_ENUM(settings, weights, WEIGHTS_AUTO, "auto|exact|held",
                    "Contact weights in the matrix: of each iteration (exact), or only rising ones "
                    "within a step, half larger than needed (held); fixed points are the same. "
                    "auto: held, exact from the first iterate of a step on that runs ahead of "
                    "the filter."),
    LOOM_PARAM_ENUM(settings, update, UPDATE_SYRK, "syrk|table|full",
                    "Reduced matrix with contact: product over the rows in contact by tiles, from "
                    "a table of all u_j'u_j (eq. 19; r2 (r2+1)/2 numbers per vertex), or product "
                    "over all rows."),
    LOOM_PARAM_ENUM(settings, reduced, REDUCED_CHOLESKY, "cholesky|inverse",
                    "Inverse of the reduced matrix by Cholesky, or by elimination on the scaled "
                    "matrix (eq. 25)."),
    LOOM_PARAM_INT(settings, r1, 100, 1, 2000, "1",
                   "Modes of the warm start and of global steps without contact."),
    LOOM_PARAM_INT(settings, r2, 30, 1, 2000, "1", "Modes with contact, at most r1."),
    LOOM_PARAM_REAL(settings, spacing, 4, 1, 1000, "1", "bspline: cells of the mesh per spline."),
    LOOM_PARAM_INT(settings, warm, 3, 0, 1000, "1",
                   "Local-global iterations in the subspace, without contact, on the initial guess "
                   "(Alg. 1, lines 4 to 6)."),
    LOOM_PARAM_ENUM(settings, momentum, MOMENTUM_NESTEROV, "none|chebyshev|nesterov",
                    "Acceleration over global steps: nesterov restarts by the gradient, chebyshev "
                    "needs momentum_rho and starts anew when contact changes. Only without it is "
                    "the energy sure to fall in every iteration."),
    LOOM_PARAM_REAL(settings, momentum_rho, 0.97, 0, 0.99999, "1",
                    "chebyshev: spectral radius of the local-global iteration."),
    LOOM_PARAM_INT(settings, inner, 0, 0, 1000000, "1",
                   "Global steps after which the solver asks for a filter (inner loop of Alg. 1), "
                   "where [filter] when = advice is in force; 0: it leaves that to the contact "
                   "model."),
    LOOM_PARAM_REAL(settings, inner_tolerance, 0, 0, 1, "m",
                    "It also asks when no vertex moves more than this; 0: not."),
    LOOM_PARAM_ENUM(settings, precision, PRECISION_DOUBLE, "double|mixed",
                    "mixed: sweeps in float, on increments; state, corrections and residuals stay "
                    "double."),
    LOOM_PARAM_TEXT(settings, cache, "out/cache",
                    "Folder for eigenvectors, by a hash of the system; relative to the current "
                    "directory. Empty: they are computed in every run."),
    LOOM_PARAM_REAL(settings, eigen_tolerance, 1e-10, 0, 1e-2, "1",
                    "Relative tolerance of the eigenvalues; 0: rounding.", LOOM_P_EXPERT),
    LOOM_PARAM_INT(settings, eigen_restarts, 300, 1, 1e6, "1",
                   "Restarts of ARPACK; if some modes are missing then, the modes found are used.",
                   LOOM_P_EXPERT),
    LOOM_PARAM_ENUM(settings, rotation, ROTATION_EXACT, "exact|plain",
                    "Affine bodies: each global step ends with an exact solve of the 12 unknowns "
                    "of each body, the change of its rotation included (exact; not with the "
                    "smoother pcg), or holds rotations within an iteration (plain)."),
    LOOM_PARAM_ENUM(
        settings, monitor, MONITOR_NONE, "none|residual|error|position",
        "Log after every inner iteration, against products with the matrix: |r| over its first "
        "value, the same of the error in the energy norm, or of the distance to the exact solution "
        "of the global step (norm -1; both need a factorisation each time). CPU only.",
        LOOM_P_EXPERT),
};

_Static_assert(LOOM_COUNT(ndb_pd_params) == NUM_PARAMS, "the descriptor states their number");

const loom_column ndb_pd_columns[NUM_COLUMNS] = {
    {"mv", "1", "products with the global matrix in this iteration"},
    {"corrections", "1", "corrections in the subspace"},
    {"modes", "1", "modes of these corrections"},
    {"contact_rows", "1", "vertices with a contact weight"},
    {"w_max", "N/m", "largest contact weight of a vertex"},
    {"theta", "1", "damping of the sweeps"},
    {"mu_hi", "1", "estimate of the largest eigenvalue of D^-1 H"},
    {"beta", "1", "weight of the momentum, 0 without or after a restart"},
};

loom_status ndb_pd_check(const loom_host *host, const loom_exec *e, const ndb_pd_settings *s)
{
  LOOM_CHECK(host, s->subspace != SUBSPACE_EIGEN || s->r2 <= s->r1, LOOM_E_CONFIG,
             "r2 = %lld is larger than r1 = %lld: the r2 modes with contact are the first of the "
             "r1 modes without; lower r2 or raise r1",
             (long long)s->r2, (long long)s->r1);
  LOOM_CHECK(host, s->sweeps > 0 || (s->subspace != SUBSPACE_NONE && s->smoother != SMOOTHER_PCG),
             LOOM_E_CONFIG,
             "sweeps = 0 leaves x where it is without a subspace or with smoother = pcg; set "
             "sweeps = 1 or more");
  LOOM_CHECK(host, s->update != UPDATE_TABLE || s->reuse != REUSE_MASKED, LOOM_E_CONFIG,
             "update = table holds products of unscaled rows, reuse = masked scales them; set "
             "update = syrk, or reuse = presmooth");
  LOOM_CHECK(host, s->monitor == MONITOR_NONE || e->backend == LOOM_CPU, LOOM_E_CONFIG,
             "monitor reads every iterate on the host; set [exec] backend = cpu");
  return LOOM_OK;
}
