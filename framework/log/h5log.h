/* h5log.h - the HDF5 log of a run (schema version 1), written and read.
 *
 * The file is written in single-writer/multiple-reader mode: all objects are created first, then
 * h5log_start() turns SWMR on; from there on loom only appends rows, overwrites existing values and
 * flushes buffers.  Rows are batched; h5log_commit() at the end of every step makes all finished
 * steps readable, also after kill -9.
 */
#ifndef LOOM_H5LOG_H
#define LOOM_H5LOG_H

#include "core/err.h"
#include "loom/host.h"
#include "loom/param.h"

enum { H5LOG_SCHEMA = 1, H5LOG_STATUS_LEN = 256, H5LOG_MESSAGE_LEN = 1008, H5LOG_LZ4 = -1 };
enum { H5LOG_NAME_LEN = 64 };

/* Columns: X(type, name, unit, doc); type I (int64), R (double), S (reason, int32 enum),
 * N (text of H5LOG_NAME_LEN bytes) */
#define H5LOG_COUNTER_COLUMNS(X)                                         \
  X(I, n_energy, "1", "energy evaluations")                              \
  X(I, n_gradient, "1", "gradient evaluations")                          \
  X(I, n_hessian, "1", "Hessian assemblies")                             \
  X(I, n_spmv, "1", "sparse matrix-vector products")                     \
  X(I, n_factorise, "1", "numeric factorisations")                       \
  X(I, n_trisolve, "1", "triangular solves, one per right-hand side")    \
  X(I, n_project, "1", "local steps over all elements")                  \
  X(I, n_detect, "1", "collision detections")                            \
  X(I, n_ccd_pair, "1", "pairs given to continuous collision detection") \
  X(I, n_launch, "1", "kernel launches")                                 \
  X(I, n_bytes, "B", "bytes that kernels and factors move, as they declare it")

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
  X(R, h, "s", "effective step of the problem solved")                                             \
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
  X(I, contacts, "1", "active contact pairs")                                                      \
  X(R, min_gap, "m", "smallest gap seen by the contact models, NaN without pairs")                 \
  X(R, toi, "1", "smallest step bound given by collision in this step")                            \
  X(I, intersections, "1", "intersections found by the audit, -1 if it was off")                   \
  X(I, shape_entries, "1", "of these, edges and triangles inside bodies of closed form")           \
  X(I, start_intersections, "1", "intersections of the start that remain, start = exclude")        \
  X(R, stitch_gap, "m", "largest distance of a sewn vertex from its place, NaN without stitches")  \
  X(R, f_next, "N", "norm of the force carried into the next step")                                \
  X(R, t_predict, "s", "wall time of PREDICT")                                                     \
  X(R, t_detect, "s", "wall time of collision detection")                                          \
  X(R, t_solve, "s", "wall time of the solver, one gradient per iteration if it uses it")          \
  X(R, t_contact, "s", "wall time of contact models")                                              \
  X(R, t_filter, "s", "wall time of line search, step bounds and resolving")                       \
  X(R, t_measure, "s", "wall time of measuring, never charged to the solver")                      \
  X(R, t_log, "s", "wall time of logging")                                                         \
  X(R, t_total, "s", "wall time of the step")                                                      \
  X(R, t_cpu, "s", "processor time of all threads, without measuring and logging")                 \
  X(R, t_cpu_plugins, "s", "of it, in callbacks of plugins and the services they call")            \
  X(R, t_cpu_detect, "s", "processor time of collision detection")                                 \
  X(R, t_cpu_solve, "s", "processor time of the solver, as t_solve")                               \
  X(R, t_cpu_contact, "s", "processor time of contact models")                                     \
  X(R, t_cpu_filter, "s", "processor time of line search, step bounds and resolving")              \
  X(R, t_cpu_measure, "s", "processor time of measuring, not in t_cpu")                            \
  X(R, t_cpu_log, "s", "processor time of logging, not in t_cpu")                                  \
  X(I, rss, "B", "resident memory of the process at the end of the step, -1 if unknown")           \
  X(I, rss_peak, "B", "most of it so far, -1 if unknown")                                          \
  X(I, repairs, "1", "corrections by contact models before the last cut of the step")              \
  H5LOG_PAIR_COLUMNS(X)                                                                            \
  H5LOG_COUNTER_COLUMNS(X)

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
  X(I, inner_norm, "1", "norm of inner_res (LOOM_NORM_*)")                                         \
  X(R, t_total, "s", "wall time since the step began, without measuring and logging")              \
  X(R, t_cpu, "s", "processor time of all threads since the step began, as t_total")               \
  X(R, e_ref, "m", "mass-weighted RMS distance to the reference run, NaN without one")             \
  H5LOG_COUNTER_COLUMNS(X)

#define H5LOG_INNER_COLUMNS(X)                      \
  X(I, step, "1", "step number")                    \
  X(I, k, "1", "outer iteration")                   \
  X(I, level, "1", "0: solver, 1: contact resolve") \
  X(I, j, "1", "inner iteration")                   \
  X(I, norm, "1", "LOOM_NORM_*")                    \
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
  X(R, t, "s", "time, on a device between events; every launch is waited for")

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
  X(converged_abs) X(converged_rel) X(max_iters) X(time_budget) X(stalled) X(diverged) X(error)
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

typedef struct h5log_meta { /* root attributes, all texts; NULL is written as "" */
  const char *loom_version, *git_commit, *config, *config_hash, *command, *host, *cpu, *gpu;
  const char *blas; /* BLAS of the solver: file (version, kernels), "": it calls none */
  const char *backend, *created, *plugins; /* plugins: one line per plugin, tab-separated
                                            * name kind version path build licence */
  int64_t threads, real_size, seed;
  int64_t num_dof;       /* coordinates of vertices that are not fixed */
  int64_t first_step;    /* first step of the log; its first frame is the state before that step */
  const char *continued; /* reason why the log begins later than the run, NULL: it does not */
  double t_cpu_open;     /* s, processor time before the log was made: scene, plugins' create() */
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

typedef struct h5log_options {
  int frames_f32;  /* /frames stored as f32 */
  int compression; /* of /frames/x and v: 0 none, 1..9 shuffle and gzip, H5LOG_LZ4 shuffle and
                    * LZ4, 15 times faster than gzip (a plugin that HDF5 finds at run time) */
  int num_extra, num_step_extra; /* columns of /iters_extra and of /steps_extra */
  const loom_column *extra, *step_extra;
  uint32_t fields;   /* bit k: frames hold field k of H5LOG_FIELDS */
  int num_obstacles; /* poses are logged per frame: /scene/obstacles/NAME/pose [T][12] */
  const char *const *obstacle_names;
  /* [num_obstacles], NULL: no body has joints; maps of joints are logged like poses:
   * /scene/obstacles/NAME/joints [T][obstacle_joints][12] */
  const int32_t *obstacle_joints;
  int overwrite; /* H5LOG_*: logs that h5log_create may replace */
  /* A replaced log is renamed to this free name and its checkpoints stay; NULL: it and its
   * checkpoints are deleted. */
  const char *keep_as;
  int64_t state_chunk; /* bytes of a chunk of /state_data, 0: 64 KiB to 1 MiB; small in tests, which
                          need many chunks */
  const char *command; /* the command that writes from here on: a line of attribute `commands` */
  const char *scheduler; /* ids of its job, "" for none: the line of `jobs` beside it */
} h5log_options;

typedef struct h5log h5log;

/* ---- writing ---- */
/* Logs that may be replaced: logs without a step always, other logs if the caller allows it. */
enum { H5LOG_KEEP = 0, H5LOG_OVERWRITE = 1, H5LOG_OVERWRITE_UNFINISHED = 2 };
/* May a new log be put at `path`?  If not, LOOM_E_CONFIG with the present file and the remedy: loom
 * replaces only regular files that loom wrote, and empty ones, and never writes through a link. */
loom_status h5log_target(loom_err *err, const char *path, int overwrite);
/* Creates the log (refused as in h5log_target; a replaced log loses its checkpoints), writes the
 * scene, starts SWMR.  h5log_close() frees *out. */
loom_status h5log_create(loom_err *err, const char *path, const h5log_meta *meta,
                         const h5log_options *opt, const h5log_array *scene, int num_scene,
                         int64_t num_verts, h5log **out);
/* Continues an existing log after `last_step` (-1: before the first): repairs it if its
 * writer died, refuses if a writer lives or if config_hash differs, cuts all tables behind
 * that step, starts SWMR again.  *lost, after an error: 1 if there is no log, it is damaged, or it
 * ends before that step, so that only a new log can go on (may be NULL). */
loom_status h5log_resume(loom_err *err, const char *path, const char *config_hash,
                         int64_t last_step, const h5log_options *opt, h5log **out, int *lost);
/* A free name beside a log that is to be replaced, to be freed; NULL: out of memory. */
char *h5log_spare_name(const char *path);
loom_status h5log_iter(h5log *l, loom_err *err, const h5log_iter_row *row, const double *extra);
loom_status h5log_inner(h5log *l, loom_err *err, const h5log_inner_row *row);
loom_status h5log_message(h5log *l, loom_err *err, const h5log_message_row *row);
/* One item of the state at the end of a step; the function sets `first`. */
loom_status h5log_state(h5log *l, loom_err *err, const h5log_state_row *row, const void *data);
loom_status h5log_section(h5log *l, loom_err *err, const h5log_section_row *row);
loom_status h5log_kernel(h5log *l, loom_err *err, const h5log_kernel_row *row);
/* extra: [num_step_extra], NULL: they are not known */
loom_status h5log_step(h5log *l, loom_err *err, const h5log_step_row *row, const double *extra);
/* x, v: [n][3], m and m/s, on the host (loom_real); poses: [][12], for each obstacle its own pose,
 * then the maps of its joints; fields: [n][width] for each field of the log, NULL for other fields,
 * or NULL if the log has no fields */
loom_status h5log_frame(h5log *l, loom_err *err, int64_t step, double time, const loom_real *x,
                        const loom_real *v, const double *poses, const float *const *fields);
loom_status h5log_status(h5log *l, loom_err *err, const char *status); /* /status dataset */
loom_status h5log_commit(h5log *l, loom_err *err);                     /* write batches, flush */
/* Puts all committed data on the disk, where it survives a power failure. */
loom_status h5log_sync(h5log *l, loom_err *err);
/* Attributes that h5log_close writes beside the status, under the same names. */
typedef struct h5log_end {
  const char *exit_reason; /* finished; stopped and failed with their cause */
  const char *end_time;    /* ISO 8601 */
  int64_t rss_peak;        /* bytes, peak memory of this process, -1: unknown */
} h5log_end;
void h5log_set_end(h5log *l, const h5log_end *end);
/* Writes the final status into /status and the root attribute; closes the file and frees l in any
 * case. */
loom_status h5log_close(h5log *l, loom_err *err, const char *status);

/* ---- checkpoints: FILE.check.h5 ---- */
typedef struct h5check h5check;
/* A checkpoint is written to a temporary name, sealed with a hash, synced and renamed; the previous
 * one becomes FILE.check.prev.h5, so two are kept. */
loom_status h5check_begin(loom_err *err, const char *log_path, h5check **out);
loom_status h5check_put(h5check *c, loom_err *err, const char *group, const char *name, int type,
                        int64_t count, const void *data);
loom_status h5check_put_scalars(h5check *c, loom_err *err, int64_t step, double time,
                                const char *config_hash);
loom_status h5check_commit(h5check *c, loom_err *err); /* consumes c in any case */
void h5check_abort(h5check *c);
int h5check_exists(const char *log_path); /* 1: there is a checkpoint, or a previous one */
/* LOOM_OK if the names of the log's checkpoints are free, or hold files that loom wrote. */
loom_status h5check_target(loom_err *err, const char *log_path);
/* Removes the checkpoints of a log that is replaced: they would continue the wrong run. */
loom_status h5check_discard(loom_err *err, const char *log_path);
/* step < 0: the newest checkpoint that is undamaged; otherwise the one of that step, or an error
 * that names the available steps and the faults of the other files */
loom_status h5check_open(loom_err *err, const char *log_path, int64_t step, h5check **out);
void h5check_scalars(const h5check *c, int64_t *step, double *time, char config_hash[17]);
/* Why a newer checkpoint was passed over, "" if none was. */
const char *h5check_note(const h5check *c);
loom_status h5check_size(h5check *c, loom_err *err, const char *group, const char *name, int *type,
                         int64_t *count);
loom_status h5check_get(h5check *c, loom_err *err, const char *group, const char *name, int type,
                        int64_t count, void *data);
void h5check_close(h5check *c);

/* ---- reading ---- */
typedef struct h5read h5read;
/* Opens any log: running (SWMR), finished, or left by a dead writer (repaired first, after
 * a check that no writer lives).  LOOM_E_IO with the reason for every other file. */
loom_status h5read_open(loom_err *err, const char *path, h5read **out);
void h5read_close(h5read *r);
/* A remark for the user on how the log was opened, "" if there is none.  A log behind a link, of
 * another user, or in a place without write permission is read and never changed. */
const char *h5read_note(const h5read *r);
/* A text attribute of the root, "" if absent; valid until close. */
const char *h5read_attr(h5read *r, const char *name);
/* For a log that is being written, h5read_num_steps reads the file again; the other counts belong
 * to the steps that it saw last. */
int64_t h5read_num_verts(const h5read *r);
int64_t h5read_num_tris(const h5read *r);
int64_t h5read_num_frames(h5read *r);
int64_t h5read_num_steps(h5read *r);
int64_t h5read_num_iters(h5read *r);
loom_status h5read_tris(h5read *r, loom_err *err, int32_t *tris); /* tris [nt][3] */
loom_status h5read_frame(h5read *r, loom_err *err, int64_t t, double *x, double *v, double *time,
                         int64_t *step); /* x, v: [n][3], m and m/s; any may be NULL */
loom_status h5read_steps(h5read *r, loom_err *err, int64_t first, int64_t count,
                         h5log_step_row *rows);
loom_status h5read_iters(h5read *r, loom_err *err, int64_t first, int64_t count,
                         h5log_iter_row *rows);
/* A log of an older version has no messages: h5read_num_rows(r, "messages") is -1. */
loom_status h5read_messages(h5read *r, loom_err *err, int64_t first, int64_t count,
                            h5log_message_row *rows);
/* A log of an older version has no kernels, as for messages. */
loom_status h5read_kernels(h5read *r, loom_err *err, int64_t first, int64_t count,
                           h5log_kernel_row *rows);
loom_status h5read_sections(h5read *r, loom_err *err, int64_t first, int64_t count,
                            h5log_section_row *rows);
loom_status h5read_states(h5read *r, loom_err *err, int64_t first, int64_t count,
                          h5log_state_row *rows);
/* The values of an item, as the reals and integers of this build. */
loom_status h5read_state_data(h5read *r, loom_err *err, const h5log_state_row *row, void *data);
/* Any table by name ("steps", "steps_extra", "iters", "iters_extra", "inner"), column by column.
 * Kinds: 'I' int64, 'R' double, 'S' the reason, an int64 for h5log_reason_name. */
enum { H5READ_NAME_LEN = 136 };
int64_t h5read_num_rows(h5read *r, const char *table); /* -1: no such table */
int h5read_num_columns(h5read *r, const char *table);  /* -1: no such table */
loom_status h5read_column_info(h5read *r, loom_err *err, const char *table, int column,
                               char name[H5READ_NAME_LEN], char *kind);
loom_status h5read_column(h5read *r, loom_err *err, const char *table, const char *name, char kind,
                          int64_t first, int64_t count, void *out); /* [count] 8-byte values */
int h5read_live(const h5read *r);                                   /* 1: a process is writing it */
/* 1 if there is an object of that path. */
int h5read_exists(h5read *r, const char *path);
/* The string that a dataset holds, malloc'ed; NULL: there is none, or it is no string. */
char *h5read_string(h5read *r, const char *path);
/* Name of the i-th member of a group, in order of names; 0 past the end. */
int h5read_child(h5read *r, const char *group, int64_t i, char *name, size_t len);
int h5read_frame_bytes(h5read *r); /* 4 or 8 per coordinate of /frames/x, 0: unreadable */
/* A whole dataset as doubles or int64 (caller frees *data); dims up to 4. */
loom_status h5read_dataset(h5read *r, loom_err *err, const char *path, int as_real, void **data,
                           int *rank, int64_t dims[4]);

#endif
