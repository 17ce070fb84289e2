/* run_state.h - everything one run owns; private to this folder, the contract tests and the
 * benchmarks. */
#ifndef LOOM_RUN_STATE_H
#define LOOM_RUN_STATE_H

#include "core/fit.h"
#include "elements/elements.h"
#include "linalg/assemble.h"
#include "linalg/linalg.h"
#include "log/h5log.h"
#include "run/clock.h"
#include "run/instances.h"
#include "run/settings.h"
#include "run/state.h"
#include "scene/scene_data.h"

enum { RUN_MAX_OBSTACLES = 256, RUN_MAX_SECTIONS = 64 };

typedef struct replay {
  h5read *ref;
  int64_t num_frames;
  double *x, *v;      /* [n][3] one frame on the host */
  loom_buf *x_ref;    /* real [n][3], m, the reference's end of the present step */
  int have_ref;       /* x_ref holds the frame of this step */
  cfg *ours, *theirs; /* this config and the reference's, as they took effect */
  /* rows of /state, see replay_state.c */
  int64_t num_states, num_state;
  int64_t *state_step;           /* [num_states] */
  struct h5log_state_row *state; /* [num_state] those of step `state_at`, if `have_rows` */
  int64_t state_at;
  int have_rows;
  int core, forwards; /* the core's own state is there; forwarding may be taken over */
  int restoring;      /* checkpoint() reads from the reference */
  int probing;        /* ... only counts what it would write: */
  int probed;
} replay;

typedef struct residual {
  double rms, max; /* m */
} residual;

typedef struct forwarding { /* forward.c */
  loom_buf *delta, *last;   /* real [n][3], m, of this step and the one before; NULL if off */
  loom_buf *retry;          /* real [n][3], m, `last` at the start of the step, if `moves` */
  loom_buf *kept;           /* real [n][3], m, x while iterations look ahead */
  int last_cut, retry_cut;  /* a bound cut that step */
} forwarding;

struct run {
  loom_err *err;
  mem *m;
  cfg *c;
  settings set;
  registry *reg;
  scene_data *scene;
  loom_exec exec;         /* where the core runs */
  loom_exec exec_host;    /* the CPU, for plugins without CUDA; == exec on the CPU */
  char why[LOOM_WHY_LEN]; /* loom_exec.why of both */
  int threads_before;     /* the calling thread's before this run; 0: not changed */
  int64_t launches;

  instance solver;
  instance collision[RUN_MAX_INSTANCES];
  int num_collision;
  contact_inst contact[RUN_MAX_INSTANCES];
  int num_contact;
  loom_pairs asked; /* what host->detect() last found for the solver */
  loom_pairs spare; /* second set for sorting, allocated when first needed */

  elastic *el;
  rods *rods;   /* NULL: no yarns */
  asm_bsr *bsr; /* created when first asked for */
  asm_csr *csr;
  double csr_h;        /* the step its values were made for, 0: none */
  int64_t csr_used;    /* number of the last step that asked for it */
  loom_csr couplings;  /* of free vertices to fixed ones, N/m; see pd_rhs.c */
  loom_buf *pull;      /* real [n][3], N, what they make of fixed positions; NULL: none made */
  loom_blocks3 blocks; /* contact blocks of all instances, concatenated */
  loom_quad quad;      /* quadratic terms of all instances, concatenated */

  loom_step st;
  state_buffers buf;
  loom_buf *yarn_verts; /* u8 [n], 1: vertex of a yarn; NULL if no contact model takes them */
  double total_mass;    /* kg, of free vertices */
  double all_mass;      /* kg */

  int filter_when; /* LOOM_FILTER_* in force */
  int bound;       /* FILTER_BOUND_NONE, _GLOBAL or _VERTEX in force */
  int line_search;
  int beyond;    /* x goes on where a bound would stop it, only x_feas is held back */
  int certified; /* with `beyond`: x is x_feas */
  int cut;       /* the last filter's bound cut x; what it took is in `rejected` */
  forwarding fw;
  int filter_asked;   /* FILTER is due after the next iteration, [filter] when = advice */
  int has_resolve;    /* some contact model corrects positions that passed FILTER */
  int resolve_at_end; /* ... and only before COMMIT: post-only models */
  int has_repair;     /* some contact model corrects positions that FILTER would cut */
  int uses_gradient;  /* gradients are charged to the solver */
  int moves;          /* bodies or pins move and a bound is in force: st.progress counts */
  int32_t blocker;    /* the obstacle that last cut the motion short, -1: none of them */
  int64_t k_base;     /* iterations of the step before those of this part */
  int64_t repairs;    /* filters after the last iteration, but the last one */

  int64_t counters[LOOM_NUM_COUNTERS]; /* of this step; see host_charge */
  int measuring;                       /* work is nobody's */
  phase_clock clock;
  struct section { /* tic/toc sections of plugins, summed over the run */
    char name[96]; /* "solver/factor" */
    double seconds;
    int64_t calls;
  } section[RUN_MAX_SECTIONS];
  int num_section;
  struct {
    int section;
    double begin;
  } open_section[CLOCK_DEPTH];
  int num_open;
  h5log *log;
  h5log_message_row *messages; /* [num_messages], of this step, on their way into the log */
  int64_t num_messages, max_messages;
  h5check *check; /* open while plugins save or restore their state */
  replay rep;
  double *extra;     /* the solver's columns and a guard, for loom_iterate; then the models' */
  double *extra_row; /* [num_columns] of the solver and of all contact models: a row of the log */
  loom_column *columns; /* [num_columns] */
  char *column_names;   /* what the names of contact models' columns point to */
  int num_columns;
  double step_toi;        /* smallest bound of the step */
  loom_energies energies; /* J, at st.x of the problem as it stands */
  residual solved, next;  /* of the last measurement */
  double r_ref;           /* m */
  double f_next_norm;     /* N, of the force carried into this step */
  int64_t inner_j;
  double commit_seconds; /* s, of the last h5log_commit */
  int stepping;          /* a step has begun: st.index and st.iter mean something */
  int misused;           /* a service without a status was misused: its message is in err */
  const char *resolving; /* name of the contact instance inside resolve(), or NULL */
  run_summary sum;
  const run_options *opt;
  int64_t first_step; /* of this run: 0, or [run] replay_first */
  char out_path[1024];
  int resume;    /* the log at out_path is continued */
  int overwrite; /* H5LOG_*: what a new log may replace */
};

/* ---- problem.c: the step's objective and its derivatives ------------------------ */
loom_status problem_new(run *r);
void problem_free(run *r);
/* inertia and elastic part: energies (may be NULL), gradient into g (may be NULL) */
loom_status problem_free_part(run *r, loom_buf *x, loom_energies *e, loom_buf *g);
/* contact part: adds to energies and gradient; LOOM_REJECTED where it is infeasible.
 * live: the model itself even if it is frozen. */
loom_status problem_contact_part(run *r, loom_buf *x, int live, loom_energies *e, loom_buf *g);
loom_status problem_zero_fixed(run *r, loom_buf *g); /* rows of fixed vertices become zero */
loom_status problem_copy_fixed(run *r, loom_buf *a, loom_buf *b); /* they become those of b */
loom_status problem_restore_fixed(run *r, loom_buf *x); /* rows of fixed vertices become y */
loom_status problem_eval(run *r, loom_buf *x, int what, loom_energies *e, loom_buf *g);
loom_status problem_hessian(run *r, loom_buf *x, int how, const loom_bsr3 **H);
loom_status problem_hess_apply(run *r, loom_buf *x, int how, loom_buf *p, loom_buf *Hp);
loom_status problem_contact_blocks(run *r, loom_buf *x, int how, const loom_blocks3 **out);
/* out[row[j]] += val[j] (p - q)[col[j]]; q NULL: zero */
loom_status problem_blocks_apply(run *r, const loom_blocks3 *b, loom_buf *p, loom_buf *q,
                                 loom_buf *out);
loom_status problem_pd_operator(run *r, const loom_csr **L);
loom_status problem_mass_times_y(run *r, loom_buf *out); /* out = M y / h^2 */
loom_status problem_quad(run *r, loom_buf *x, const loom_quad **out);
loom_status problem_diag(run *r); /* fills r->diag */
/* Gives back the projective operator if nobody asked for it in this step. */
void problem_end_step(run *r);

/* ---- pd_rhs.c --------------------------------------------------------------------- */
loom_status problem_pd_rhs(run *r, loom_buf *x, loom_buf *rhs);
void pd_rhs_free(run *r);

/* ---- contact_forms.c: what the core derives from the quadratic form, freezing ------- */
loom_status contact_eval(run *r, contact_inst *c, loom_buf *x, int live, double *energy,
                         double *dissipation, loom_buf *g);
loom_status contact_hessian(run *r, contact_inst *c, loom_buf *x, int how, loom_blocks3 *out);
loom_status contact_quad(run *r, contact_inst *c, loom_buf *x, loom_quad *q);
loom_status contact_freeze(run *r, contact_inst *c, loom_buf *x);
void contact_thaw(run *r, contact_inst *c);
/* out[id[j]] += val[j] for val [m][3], in the order of j; id < 0 is skipped */
loom_status sum_by_vertex(run *r, loom_buf *id, int64_t m, loom_buf *val, loom_buf *out);
/* isotropic: every term will be, and there is no array of directions */
loom_status quad_alloc(run *r, const char *owner, int isotropic, loom_quad *q);
loom_status quad_reserve(run *r, loom_quad *q, int64_t capacity);
void quad_release(run *r, loom_quad *q);
loom_status blocks_alloc(run *r, const char *owner, loom_blocks3 *b);
loom_status blocks_reserve(run *r, loom_blocks3 *b, int64_t capacity);
void blocks_release(run *r, loom_blocks3 *b);

/* ---- output.c: out_path, resume and overwrite ---------------------------------------- */
loom_status output_choose(run *r, const run_options *o); /* refuses what may not be replaced */
loom_status output_folders(run *r);                      /* makes those that are missing */

/* ---- plugin_dirs.c: [exec] plugin_path as absolute or current paths, if it may be used ---- */
loom_status plugin_dirs(run *r, const run_options *o, char *dirs, size_t len);

/* ---- sections.c: tic and toc of plugins ------------------------------------------------ */
void section_begin(run *r, const char *owner, const char *name);
void section_end(run *r, const char *name);

/* ---- detect.c ------------------------------------------------------------------- */
loom_status detect_new(run *r);
void detect_free(run *r);
/* plan, detect, sort, update for every contact instance; *changed: LOOM_CHANGED_* */
loom_status detect_all(run *r, uint32_t *changed);
/* update(AFTER_ACCEPT) of every contact instance */
loom_status detect_after_accept(run *r, uint32_t *changed);
/* tell the solver and raise the epoch */
loom_status detect_announce(run *r, uint32_t changed);
/* one query on behalf of a plugin: pairs of the collision plugins of `c` (NULL: all) */
loom_status detect_query(run *r, contact_inst *c, const loom_query *q, loom_pairs *out);
/* the same for host->detect: into a list of the run's own */
loom_status detect_service(run *r, contact_inst *c, const loom_query *q, const loom_pairs **out);
loom_status detect_mark_touched(run *r);
int64_t detect_num_pairs(const run *r);
loom_status detect_max_step(run *r, loom_buf *x0, loom_buf *x1, loom_bound *out);

/* ---- columns.c: what plugins add to the log -------------------------------------------------- */
loom_status columns_new(run *r);
void columns_free(run *r);
/* What a solver fills in, as long as it has said nothing; its columns are NaN. */
loom_iterate columns_no_iterate(run *r);
/* Gather run.extra_row; LOOM_E_INTERNAL if a plugin wrote past its columns. */
loom_status columns_row(run *r);

/* ---- measure.c ------------------------------------------------------------------- */
loom_status measure_norms(run *r, loom_buf *g, residual *out);
loom_status measure_free(run *r, double *rms);
loom_status measure_dinv(run *r, loom_buf *g, double *out);
loom_status measure_e_ref(run *r, double *out);
loom_status measure_r_ref(run *r, double *out);
/* g = r(x) at st.x of the problem as it stands, and its energies (may be NULL).  The
 * elastic and inertia part is computed when `fresh` (x moved), else taken from grad_free
 * and from *e.  LOOM_REJECTED: contact is not defined at x, values are NaN. */
loom_status measure_gradient(run *r, int fresh, loom_buf *g, loom_energies *e);
loom_status measure_contacts(run *r, int64_t *active, double *min_gap, double *dissipated);
/* the first vertex whose row of b is not finite, -1 if none (on the host) */
int64_t measure_find_nan(run *r, loom_buf *b);
loom_status measure_kinetic(run *r, loom_buf *v, double *kinetic);
loom_status measure_gravity(run *r, loom_buf *x, double *gravity); /* J, zero at x0 */
loom_status measure_probe(run *r, int32_t k, loom_buf *x);

/* ---- filter.c -------------------------------------------------------------------- */
typedef struct filter_result {
  double alpha, toi;
  int filtered, resolved, stalled;
} filter_result;
/* Which filter, bound and line search: the config's word, else what the plugins were made for. */
void filter_choose(run *r);
/* st.trial (point or direction) -> st.x, with line search, bound and resolve as due */
loom_status filter_trial(run *r, const loom_iterate *it, filter_result *out);
/* x_feas follows x; where it cannot, models that are defined beyond it correct x */
loom_status filter_repair(run *r, filter_result *out);
/* the last filter of a step: x becomes feasible */
loom_status filter_final(run *r, filter_result *out);
/* the initial guess, kept from crossing anything on its way from x_start */
loom_status filter_guess(run *r);
/* advance bodies and pins towards the end of their motion; *moved: x or they have moved */
loom_status filter_advance(run *r, int *moved);

/* ---- forward.c: residual forwarding --------------------------------------------------- */
loom_status forward_new(run *r);
loom_status forward_forget(run *r); /* no step came before */
loom_status forward_save(run *r);   /* for a step that may have to begin again */
loom_status forward_restore(run *r);
loom_status forward_find(run *r); /* after the last filter: delta of this step */
loom_status forward_add(run *r);  /* COMMIT: into f_next */

/* ---- balls.c: bodies with a mass ----------------------------------------------------- */
const char *balls_name(const run *r); /* of the first one, NULL: none */
loom_status balls_open(run *r);       /* refuses what they do not go with */
loom_status balls_begin(run *r);      /* PREDICT: their poses of this step */
loom_status balls_commit(run *r);     /* COMMIT: what contact did to them */
loom_status balls_checkpoint(run *r, int restore);

/* ---- room.c: memory that a run will take, against what there is ---------------------- */
loom_status room_build(run *r, int look_only); /* the scene, unless it is too large */
void room_describe(const run *r, void *file);

/* ---- others ---------------------------------------------------------------------- */
loom_status step_once(run *r, int64_t index);
loom_status replay_open(run *r);
loom_status replay_ready(run *r);               /* instances are there: what will be restored */
loom_status replay_load(run *r, int64_t index); /* st.x, st.v_start, x_ref, states of plugins */
void replay_close(run *r);
/* The state at the end of the step goes into the log, for a replay of this run. */
loom_status replay_record(run *r);
loom_status replay_state_io(run *r, const instance *in, int restore, const char *name, loom_buf *b);
loom_status checkpoint_write(run *r, int64_t step);
loom_status checkpoint_state_io(run *r, const instance *in, int restore, const char *name,
                                loom_buf *b);
loom_status checkpoint_read(run *r, int64_t want, int64_t *step);
loom_status audit_now(run *r, int64_t *found);
void host_attach(instance *in); /* host.c */
/* host.c: charge work, LOOM_C_*, to the method; nothing while the core measures.  Services charge
 * what plugins ask for, and the core what it does in their place. */
void host_charge(run *r, int counter, int64_t n);
/* record.c: to whoever runs this; warnings and errors go into the log, too.  From any thread. */
void run_message(run *r, int level, const char *text);
/* precision.c: warns of a tolerance below what rounding leaves. */
loom_status run_check_tolerance(run *r);
/* Drops the keys of a plugin that was replaced from outside the file that sets them (swap.c). */
loom_status swap_keys(run *r, const cfg_section *s, int kind);

/* Buffers keep their own message: hand it on where nobody said more.  Returns s. */
loom_status run_failed(run *r, loom_status s);

#endif
