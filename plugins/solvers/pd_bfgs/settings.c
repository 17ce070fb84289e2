/* settings.c - the settings of the solver, and its columns of the log. */
#include "pd_bfgs.h"

typedef pd_bfgs_settings settings;

const loom_param pd_bfgs_params[] = {
    LOOM_PARAM_REAL(settings, spacing, 4, 1, 1000, "1",
                    "Cells of the mesh per spline, in each direction of a piece."),
    LOOM_PARAM_ENUM(settings, basis, SPLINE_QUADRATIC, SPLINE_KINDS,
                    "Functions of the basis: quadratic splines; radial functions around vertices, "
                    "which have no partition of unity; these over their sum."),
    LOOM_PARAM_INT(settings, bfgs_iters, 2, 0, 1000, "1",
                   "Quasi-Newton iterations in the span of the splines per outer iteration; one is "
                   "exact in a step without contact; 0: the sweeps alone."),
    LOOM_PARAM_INT(settings, history, 20, 1, 1000, "1",
                   "Most pairs that are stored, over the iterations of a step."),
    LOOM_PARAM_INT(settings, jacobi_iters, 5, 0, 100000, "1",
                   "Sweeps over all vertices per outer iteration; 0: the splines alone, without "
                   "any wrinkle finer than they are."),
    LOOM_PARAM_INT(settings, cycles, 1, 1, 1000, "1", "Cycles of both levels per outer iteration."),
    LOOM_PARAM_REAL(settings, omega, 0, 0, 2, "1",
                    "Damping of the sweeps; 0: 1.6 over the largest eigenvalue, by a power "
                    "iteration in every step with contact."),
    LOOM_PARAM_ENUM(settings, jacobi, JACOBI_BLOCK, "block|scalar",
                    "Diagonal of the sweeps: 3x3 blocks, or numbers."),
    LOOM_PARAM_ENUM(settings, proxy, PROXY_FULL, "full|half|none",
                    "Contact in the elastic step: its expansion at the start of the step, half of "
                    "it, or none (naive splitting)."),
    LOOM_PARAM_ENUM(settings, guess, GUESS_CORE, "reduced|core",
                    "A step begins from one solve in the span of the splines without contact, or "
                    "from the core's guess ([run] guess), which saves iterations."),
    LOOM_PARAM_ENUM(settings, momentum, MOMENTUM_NESTEROV, "none|nesterov",
                    "Acceleration over outer iterations: none is the paper; nesterov adds momentum "
                    "with gradient restart."),
    LOOM_PARAM_ENUM(settings, monitor, MONITOR_NONE, "none|error",
                    "Error of every cycle in the energy norm, in parts of that at the start, for "
                    "/inner: every global step without contact is also solved exactly."),
    LOOM_PARAM_ENUM(settings, reduced, REDUCED_AUTO, "auto|factor|inverse",
                    "Reduced matrix: its sparse factor, solved with on the host; its dense "
                    "inverse, multiplied with where the kernels run; auto: factor on the CPU, "
                    "inverse on CUDA."),
};

const loom_column pd_bfgs_columns[NUM_COLUMNS] = {
    {"splines", "1", "functions of the basis, for each component"},
    {"history", "1", "pairs that the quasi-Newton iterations remember"},
    {"omega", "1", "damping of the sweeps"},
    {"mu_hi", "1", "largest eigenvalue of the sweeps' matrix, from below; NaN: not asked for"},
};
