/* h5log_schema.h - tables, columns and rows of the HDF5 log of a run (schema version 1). */
#ifndef LOOM_H5LOG_SCHEMA_H
#define LOOM_H5LOG_SCHEMA_H

#include "core/err.h"
#include "loom/host.h"
#include "loom/param.h"

enum { H5LOG_SCHEMA = 1, H5LOG_STATUS_LEN = 256, H5LOG_MESSAGE_LEN = 1008, H5LOG_LZ4 = -1 };
enum { H5LOG_NAME_LEN = 64 };

/* Columns: X(type, name, unit, doc); type I (int64), R (double), S (reason, int32 enum),
 * N (text of H5LOG_NAME_LEN bytes) */
#define H5LOG_COUNTER_COLUMN_(X, name, column, unit, doc) X(I, column, unit, doc)
#define H5LOG_COUNTER_COLUMNS(X)                          LOOM_COUNTERS(H5LOG_COUNTER_COLUMN_, X)

/* Phases of a step.  X(with, NAME, name, doc of the wall time, doc of the processor time): the
 * section CLOCK_<NAME> of run/base/clock.h, the columns t_<name> and t_cpu_<name>.  `with` is
 * passed through to X.  PREDICT has no column of processor time, and iterations have none of
 * PREDICT and LOG. */
#define H5LOG_ITER_PHASES(X, with)                                                             \
  X(with, DETECT, detect, "wall time of collision detection",                                  \
    "processor time of collision detection")                                                   \
  X(with, SOLVE, solve, "wall time of the solver, one gradient per iteration if it uses it",   \
    "processor time of the solver, as t_solve")                                                \
  X(with, CONTACT, contact, "wall time of contact models", "processor time of contact models") \
  X(with, FILTER, filter, "wall time of line search, step bounds and resolving",               \
    "processor time of line search, step bounds and resolving")                                \
  X(with, MEASURE, measure, "wall time of measuring, never charged to the solver",             \
    "processor time of measuring, not in t_cpu")
#define H5LOG_CPU_PHASES(X, with) \
  H5LOG_ITER_PHASES(X, with)      \
  X(with, LOG, log, "wall time of logging", "processor time of logging, not in t_cpu")
#define H5LOG_PHASES(X, with)                             \
  X(with, PREDICT, predict, "wall time of PREDICT", NULL) \
  H5LOG_CPU_PHASES(X, with)
#define H5LOG_WALL_COLUMN_(X, NAME, name, wall, cpu) X(R, t_##name, "s", wall)
#define H5LOG_CPU_COLUMN_(X, NAME, name, wall, cpu)  X(R, t_cpu_##name, "s", cpu)
/* Of /iters: sums since the step began, as its t_total and t_cpu. */
#define H5LOG_ITER_WALL_COLUMN_(X, NAME, name, wall, cpu) \
  X(R, t_##name, "s", wall ", since the step began; on a device the time of its launches")
#define H5LOG_ITER_CPU_COLUMN_(X, NAME, name, wall, cpu) \
  X(R, t_cpu_##name, "s", cpu ", since the step began")

/* In the order of LOOM_PAIR_*. */
#define H5LOG_PAIR_COLUMNS(X)                                                    \
  X(I, pairs_vt, "1", "contact pairs known: vertex and triangle")                \
  X(I, pairs_ee, "1", "contact pairs known: two edges")                          \
  X(I, pairs_ve, "1", "contact pairs known: vertex and edge")                    \
  X(I, pairs_vv, "1", "contact pairs known: two vertices")                       \
  X(I, pairs_vo, "1", "contact pairs known: vertex and body")                    \
  X(I, pairs_yy, "1", "contact pairs known: two yarn segments")                  \
  X(I, pairs_bvt, "1", "contact pairs known: vertex and triangle, one a body's") \
  X(I, pairs_bee, "1", "contact pairs known: edge of cloth and edge of a body")

#define H5LOG_STEP_COLUMNS(X)                                                                      \
  X(I, step, "1", "step number from 0")                                                            \
  X(R, time, "s", "time at the end of the step")                                                   \
  X(R, h, "s", "length of the step")                                                               \
  X(I, iters, "1", "outer iterations")                                                             \
  X(S, reason, "1", "why the step ended")                                                          \
  X(R, r_ref, "m", "way of gravity and deformation in a step, RMS over objects: scale of tol_rel") \
  X(R, r_final, "m", "residual (rms) of the accepted point")                                       \
  X(R, tol_ratio, "1", "largest residual of an object over its tolerance, NaN: not tested")        \
  X(I, ref_unconverged, "1", "1: the step of the reference that is replayed did not converge")     \
  X(R, r_energy, "sqrt(J)", "distance to the solution of the accepted point, as in /iters")        \
  X(R, defect_force, "1", "net residual force on free vertices over their weight")                 \
  X(R, defect_torque, "1", "net residual torque over weight and radius of gyration")               \
  X(R, p_x, "kg m/s", "linear momentum of free vertices")                                          \
  X(R, p_y, "kg m/s", "as p_x")                                                                    \
  X(R, p_z, "kg m/s", "as p_x")                                                                    \
  X(R, l_x, "kg m^2/s", "angular momentum of free vertices about their centre of mass")            \
  X(R, l_y, "kg m^2/s", "as l_x")                                                                  \
  X(R, l_z, "kg m^2/s", "as l_x")                                                                  \
  X(R, e_kinetic, "J", "kinetic energy at the end of the step")                                    \
  X(R, e_gravity, "J", "gravitational energy, zero at the initial state")                          \
  X(R, e_elastic, "J", "elastic energy")                                                           \
  X(R, e_contact, "J", "contact energy, NaN without a potential")                                  \
  X(R, e_dissipated, "J", "energy dissipated by friction in this step, as the models report it")   \
  X(R, w_loads, "J", "work of wind and pressure on free vertices in this step")                    \
  X(I, contacts, "1", "active contact pairs")                                                      \
  X(R, min_gap, "m", "smallest gap seen by the contact models, NaN without pairs")                 \
  X(R, toi, "1", "smallest step bound given by collision in this step")                            \
  X(I, intersections, "1", "intersections found by the audit, -1 if it was off")                   \
  X(I, shape_entries, "1", "of these, edges and triangles inside bodies of closed form")           \
  X(I, start_intersections, "1", "intersections of the start that remain, start = exclude")        \
  X(I, passes, "1", "pairs that pass through each other within the step, -1: not looked for")      \
  X(R, stitch_gap, "m", "largest distance of a sewn vertex from its place, NaN without stitches")  \
  X(R, f_next, "N", "norm of the force carried into the next step")                                \
  H5LOG_PHASES(H5LOG_WALL_COLUMN_, X)                                                              \
  X(R, t_total, "s", "wall time of the step")                                                      \
  X(R, t_cpu, "s", "processor time of all threads, without measuring and logging")                 \
  X(R, t_cpu_plugins, "s", "of it, in callbacks of plugins and the services they call")            \
  H5LOG_CPU_PHASES(H5LOG_CPU_COLUMN_, X)                                                           \
  X(I, rss, "B", "resident memory of the process at the end of the step, -1 if unknown")           \
  X(I, rss_peak, "B", "most of it so far, -1 if unknown")                                          \
  X(I, repairs, "1", "corrections by contact models before the last cut of the step")              \
  H5LOG_PAIR_COLUMNS(X)                                                                            \
  H5LOG_COUNTER_COLUMNS(X)

/* LOOM_NORM_* of loom/host.h */
#define H5LOG_NORMS \
  "0: 2-norm of the residual, 1: its preconditioned norm, 2: energy norm, 3: largest update"

#define H5LOG_ITER_COLUMNS(X)                                                                      \
  X(I, step, "1", "step number from 0")                                                            \
  X(I, k, "1", "outer iteration; -1: the state every solver starts from")                          \
  X(I, stage, "1", "stage as the solver reports it; -1: the accepted point after the last filter") \
  X(I, epoch, "1", "grows whenever the problem itself changed (contacts, weights)")                \
  X(I, filtered, "1", "1 if FILTER ran in this iteration")                                         \
  X(R, r_solved_rms, "m", "residual of the problem this iteration worked on")                      \
  X(R, r_solved_max, "m", "the same, largest vertex")                                              \
  X(R, r_next_rms, "m", "residual of the problem as posed now, contact live")                      \
  X(R, r_next_max, "m", "the same, largest vertex")                                                \
  X(R, r_free_rms, "m", "residual without contact over vertices no pair touches")                  \
  X(R, r_dinv, "sqrt(J)", "sqrt(r' D^-1 r), D = diagonal of elastic operator and mass at x_start") \
  X(R, r_energy, "sqrt(J)", "distance to the solution as [log] error says, NaN if not measured")   \
  X(R, r_newton, "m", "mass-weighted RMS of Newton's direction, NaN but for error = newton")       \
  X(I, indefinite, "1", "1: the Hessian here is not positive definite, 0: it is, -1: not asked")   \
  X(R, own_res, "1", "quantity of the method's own stopping test")                                 \
  X(R, e_inertia, "J", "inertia term of the incremental potential")                                \
  X(R, e_elastic, "J", "elastic energy")                                                           \
  X(R, e_contact, "J", "contact energy, NaN without a potential")                                  \
  X(R, e_dissip, "J", "dissipation potential (lagged friction, stiffness_damping)")                \
  X(R, e_total, "J", "sum of the four")                                                            \
  X(R, alpha, "1", "accepted share of the proposed move")                                          \
  X(R, toi, "1", "step bound given by collision, 1 if none")                                       \
  X(R, dx_max, "m", "largest move of a vertex in this iteration")                                  \
  X(I, pairs, "1", "contact pairs known")                                                          \
  X(I, active, "1", "pairs with force")                                                            \
  X(R, min_gap, "m", "smallest gap, NaN without pairs")                                            \
  X(I, inner_iters, "1", "inner (linear or local) iterations")                                     \
  X(R, inner_res, "1", "last inner residual, relative")                                            \
  X(I, inner_norm, "1", "norm of inner_res, " H5LOG_NORMS)                                         \
  X(R, t_total, "s", "wall time since the step began, without measuring and logging")              \
  X(R, t_cpu, "s", "processor time of all threads since the step began, as t_total")               \
  H5LOG_ITER_PHASES(H5LOG_ITER_WALL_COLUMN_, X)                                                    \
  H5LOG_ITER_PHASES(H5LOG_ITER_CPU_COLUMN_, X)                                                     \
  X(R, e_ref, "m", "mass-weighted RMS distance to the reference run, NaN without one")             \
  H5LOG_COUNTER_COLUMNS(X)

#define H5LOG_INNER_COLUMNS(X)                      \
  X(I, step, "1", "step number")                    \
  X(I, k, "1", "outer iteration")                   \
  X(I, level, "1", "0: solver, 1: contact resolve") \
  X(I, j, "1", "inner iteration")                   \
  X(I, norm, "1", H5LOG_NORMS)                      \
  X(R, value, "1", "the reported number")

#define H5LOG_SECTION_COLUMNS(X)                                          \
  X(I, step, "1", "step in which it ran")                                 \
  X(N, name, "1", "instance and its word for the section: solver/factor") \
  X(I, calls, "1", "times that it ran in the step")                       \
  X(R, t_wall, "s", "wall time, inner sections included")                 \
  X(R, t_cpu, "s", "processor time of all threads, inner sections included")

#define H5LOG_KERNEL_COLUMNS(X)                                                             \
  X(I, step, "1", "step in which it ran")                                                   \
  X(N, name, "1", "kernel; in brackets: traffic of the device beside launches")             \
  X(I, launches, "1", "times that it was launched in the step")                             \
  X(I, elements, "1", "elements of all launches")                                           \
  X(I, bytes, "B", "whole size of the buffers in its arguments; of copies the bytes moved") \
  X(R, t, "s", "time, on a device between events; every launch is waited for")              \
  X(I, declared, "B", "bytes moved, as the kernel declares them; part of n_bytes but for measuring")

typedef char h5log_name[H5LOG_NAME_LEN];
#define H5LOG_CTYPE_I                    int64_t
#define H5LOG_CTYPE_N                    h5log_name
#define H5LOG_CTYPE_R                    double
#define H5LOG_CTYPE_S                    int64_t
#define H5LOG_FIELD_(t, name, unit, doc) H5LOG_CTYPE_##t name;
typedef struct h5log_step_row {
  H5LOG_STEP_COLUMNS(H5LOG_FIELD_)
} h5log_step_row;
typedef struct h5log_iter_row {
  H5LOG_ITER_COLUMNS(H5LOG_FIELD_)
} h5log_iter_row;
typedef struct h5log_inner_row {
  H5LOG_INNER_COLUMNS(H5LOG_FIELD_)
} h5log_inner_row;

typedef struct h5log_section_row { /* a section that plugins time by tic and toc */
  H5LOG_SECTION_COLUMNS(H5LOG_FIELD_)
} h5log_section_row;

typedef struct h5log_kernel_row { /* [log] kernels = 1 */
  H5LOG_KERNEL_COLUMNS(H5LOG_FIELD_)
} h5log_kernel_row;

typedef struct h5log_message_row { /* of /messages: warnings and errors of core and plugins */
  int64_t step;                    /* the running step */
  int64_t level;                   /* LOOM_LOG_ERROR, LOOM_LOG_WARN */
  char text[H5LOG_MESSAGE_LEN];
} h5log_message_row;

typedef struct h5log_state_row { /* of /state: data that plugin instances keep from step to step */
  int64_t step;                  /* the step at whose end the data had this value */
  char instance[H5LOG_NAME_LEN]; /* "contact.all"; "core" */
  char name[H5LOG_NAME_LEN];     /* of the item; "": the instance was recorded, items follow */
  int64_t type, count;           /* LOOM_REAL ..., items */
  int64_t first;                 /* index of its first byte in /state_data */
} h5log_state_row;

/* Stored as an HDF5 enum over int8, so that h5py shows numbers and h5dump names. */
#define H5LOG_REASONS(X) \
  X(converged_abs)       \
  X(converged_rel)       \
  X(max_iters) X(time_budget) X(stalled) X(diverged) X(error) X(byte_budget) X(foreign)
#define H5LOG_REASON_ENUM_(name) H5LOG_##name,
enum { H5LOG_REASONS(H5LOG_REASON_ENUM_) H5LOG_NUM_REASONS };
const char *h5log_reason_name(int reason);

/* Numbers per vertex in the group /fields, frame by frame with /frames, f32:
 * X(name, width, unit, doc) */
#define H5LOG_FIELDS(X)                                                                          \
  X(contact_force, 3, "N", "force of contact models, NaN at fixed vertices and if not measured") \
  X(residual, 3, "m", "h^2 M^-1 r of the accepted point, NaN as contact_force")                  \
  X(strain, 1, "1", "largest stretch less 1, mean over the triangles by area; NaN without any")  \
  X(gap, 1, "m", "smallest gap of a pair that names the vertex, as detected; NaN without one")
#define H5LOG_FIELD_ENUM_(name, width, unit, doc) H5LOG_##name,
enum { H5LOG_FIELDS(H5LOG_FIELD_ENUM_) H5LOG_NUM_FIELDS };

/* The program whose steps a log of `loom measure` holds; attributes `peer`, `peer_version`,
 * `peer_settings` and `peer_licence` of the root. */
typedef struct h5log_peer {
  const char *name, *version, *settings, *licence; /* "" where it is not known, but for the name */
} h5log_peer;

typedef struct h5log_meta { /* root attributes, all texts; NULL is written as "" */
  const char *loom_version, *git_commit, *config, *config_hash, *command, *host, *cpu, *gpu;
  const char *blas; /* BLAS of the solver: file (version, kernels), "": it calls none */
  const char *backend, *created, *plugins; /* plugins: one line per plugin, tab-separated
                                            * name kind version path build licence */
  int64_t threads, real_size, seed;
  int64_t num_dof;       /* coordinates of vertices that are not fixed */
  int64_t first_step;    /* first step of the log; its first frame is the state before that step */
  const char *continued; /* reason why the log begins later than the run, NULL: it does not */
  const struct h5log_peer *peer; /* program that made the frames, NULL: this run made them */
  double t_cpu_open; /* s, processor time before the log was made: scene, plugins' create() */
} h5log_meta;

enum { H5LOG_TEXT = -1, H5LOG_F64 = -2 };
typedef struct h5log_array {     /* a dataset of /scene, written once; the caller owns the arrays */
  const char *name, *unit, *doc; /* name may contain groups: "obstacles/ball/pose" */
  int type;                      /* LOOM_REAL (stored f64), LOOM_I32, LOOM_U8, LOOM_I64, or
                                  * H5LOG_TEXT: a string, rank 0, or H5LOG_F64: double */
  int rank;
  int64_t dims[4];
  const void *data;
} h5log_array;

#endif
