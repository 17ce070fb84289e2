/* contract.h - checks of the requirements on every plugin, which need no build tree: `loom
 * contract` runs them on an installed plugin, tests/contract on all plugins of this tree.
 *
 * Every check runs in a process of its own with a limit of time, so that a crash or an endless loop
 * is one failed check with a name.  Inside a check the first failure ends the process. */
#ifndef LOOM_CONTRACT_H
#define LOOM_CONTRACT_H

#include "run/run_state.h"
#include "run/step/step.h"

typedef struct ct_plugin { /* one plugin, as it is to be run */
  char name[64];
  char set[256]; /* "section.key=value ..." for its settings, "": its defaults */
  int32_t kind;  /* LOOM_KIND_* */
} ct_plugin;

typedef struct ct_check {
  const char *group, *name; /* "life", "restart_continues" */
  int32_t kind;             /* LOOM_KIND_* that it is for, -1: every kind */
  void (*run)(const ct_plugin *p);
  const char *doc; /* the requirement, one clause */
} ct_check;

/* All checks, [*num], in the order in which they should run. */
const ct_check *ct_checks(int *num);

enum { CT_PASSED, CT_FAILED, CT_SKIPPED };
typedef struct ct_verdict {
  int result;      /* CT_* */
  char text[1200]; /* why it failed or was skipped */
} ct_verdict;

/* Run one check in a child, for at most `seconds`.  Plugins are looked for in LOOM_PLUGIN_PATH and
 * beside the binary. */
void ct_run_check(const ct_check *c, const ct_plugin *p, int seconds, ct_verdict *out);
/* Run `body` in a child of this kind; it ends by itself or by ct_fail() or ct_skip(). */
void ct_run_child(void (*body)(const void *arg), const void *arg, int seconds, ct_verdict *out);

/* ---- inside a check ---- */

/* Say why on stderr and end the process. */
_Noreturn void ct_fail(const char *file, int line, const char *fmt, ...) LOOM_PRINTF(3, 4);
_Noreturn void ct_skip(const char *fmt, ...) LOOM_PRINTF(1, 2);
#define CT_ASSERT(cond, ...) ((cond) ? (void)0 : ct_fail(__FILE__, __LINE__, __VA_ARGS__))
/* A call of the core or of the plugin in run `t` that must succeed. */
#define CT_OK(t, call)                                                                       \
  do {                                                                                       \
    const loom_status ct_s_ = (call);                                                        \
    CT_ASSERT(ct_s_ == LOOM_OK, "%s: %s: %s", #call, err_status_text(ct_s_), ct_message(t)); \
  } while (0)

/* The sections of every scene of the checks that are no part of its problem. */
#define CT_SCENE_HEAD                                                                        \
  "[run]\ndt = 0.01\nsteps = 4\n[stop]\ntol_abs = 1e-9\ntol_rel = 0\nmax_iters = 6\n[log]\n" \
  "audit = off\n[exec]\nbackend = cpu\nthreads = 2\n"

/* The descriptor; the registry stays the caller's. */
const loom_plugin *ct_load(const ct_plugin *p, registry **reg);

typedef struct ct_run {
  loom_err err;
  cfg *c;
  run_options opt;
  run *r;
  char ini[4096];
} ct_run;

/* Open a run with plugin `p` in its place; the other places are filled with the plugins of
 * most capabilities that fit.  `more`: "section.key=value ..." or "". */
void ct_open(ct_run *t, const ct_plugin *p, const char *more);
/* The same with memory in check mode. */
void ct_open_checked(ct_run *t, const ct_plugin *p, const char *more);
/* The same in check mode with another scene, INI text, and detection of these kinds of pairs
 * (LOOM_BIT(LOOM_PAIR_*)), as far as `p` takes them and there is some.  A refusal that names
 * `p` and `object`, an object of the scene, skips the check. */
void ct_open_scene(ct_run *t, const ct_plugin *p, const char *text, const char *object,
                   uint32_t kinds);
/* The same of a scene with the affine body [solid.BODY].  Where the scene is refused the check
 * fails if the refusal does not name `p` and the body's kind, and is skipped if it does. */
void ct_open_affine(ct_run *t, const ct_plugin *p, const char *text, const char *body,
                    uint32_t kinds, const char *more);
/* The first scene with given plugins; "" for none.  Returns the status of run_open(). */
loom_status ct_try(ct_run *t, const char *solver, const char *collision, const char *contact,
                   const char *more);
void ct_close(ct_run *t); /* fails if a plugin left buffers behind */

/* The error message of the run, else of its buffers. */
const char *ct_message(const ct_run *t);

/* The instance of the plugin under test. */
instance *ct_instance(run *r, const ct_plugin *p);
/* create(), destroy(), reset(), checkpoint() of an instance of any kind. */
loom_status ct_create(instance *in);
void ct_destroy(instance *in);
loom_status ct_reset(instance *in);
loom_status ct_checkpoint(instance *in, const loom_step *s, int restore);
/* A second, not yet created instance of the same plugin with the same settings. */
void ct_twin(const instance *of, instance *twin);

/* Do `count` steps from step `first`. */
void ct_steps(ct_run *t, int64_t first, int64_t count);
/* Copy of a real buffer, from malloc; *n gets its length. */
double *ct_values(const run *r, loom_buf *b, int64_t *n);
void ct_set_values(run *r, loom_buf *b, const double *v);
/* Copy of the first `items` of any buffer, from malloc. */
void *ct_copy(const run *r, loom_buf *b, int64_t items);
/* A query (LOOM_DETECT_*) for pairs of all kinds within 4 mm, from st.x to st.x. */
loom_query ct_query(const run *r, uint32_t what);
/* Positions of two runs agree to the bit. */
void ct_same_x(const run *a, const run *b, const char *what);
/* A run with its sheet moved 5 mm towards ball and block, one edge folded over itself, and a fresh
 * begin_step. */
void ct_collision_pose(ct_run *t, const ct_plugin *p);
/* Write a block of 8 corners from lo to hi (m) as OBJ file into a new temporary file. */
void ct_write_block(char *path, size_t len, const double lo[3], const double hi[3]);

/* ---- the checks, by file ---- */

void ct_descriptor_complete(const ct_plugin *p);
void ct_descriptor_tables(const ct_plugin *p);
void ct_descriptor_members(const ct_plugin *p);
void ct_descriptor_exports(const ct_plugin *p);
void ct_life_create_destroy(const ct_plugin *p);
void ct_life_buffers_settle(const ct_plugin *p);
void ct_life_memory_in_create(const ct_plugin *p);
void ct_life_memory_in_step(const ct_plugin *p);
void ct_life_reset_forgets(const ct_plugin *p);
void ct_life_restart_continues(const ct_plugin *p);
void ct_life_two_at_once(const ct_plugin *p);
void ct_life_threads(const ct_plugin *p);
void ct_life_wrong_order(const ct_plugin *p);
void ct_solver_residual_falls(const ct_plugin *p);
void ct_solver_fixed_point(const ct_plugin *p);
void ct_solver_fixed_vertices(const ct_plugin *p);
void ct_solver_reports(const ct_plugin *p);
void ct_collision_pairs(const ct_plugin *p);
void ct_collision_twice(const ct_plugin *p);
void ct_collision_room(const ct_plugin *p);
void ct_collision_bounds(const ct_plugin *p);
void ct_collision_left_out(const ct_plugin *p);
void ct_collision_deforming(const ct_plugin *p);
void ct_contact_gradient(const ct_plugin *p);
void ct_contact_hessian(const ct_plugin *p);
void ct_contact_quad(const ct_plugin *p);
void ct_contact_metrics(const ct_plugin *p);
void ct_contact_forces(const ct_plugin *p);
void ct_contact_update_reports(const ct_plugin *p);
void ct_contact_self_gradient(const ct_plugin *p);
void ct_contact_self_hessian(const ct_plugin *p);
void ct_contact_self_quad(const ct_plugin *p);
void ct_life_affine(const ct_plugin *p);
void ct_contact_affine_gradient(const ct_plugin *p);
void ct_contact_affine_hessian(const ct_plugin *p);
void ct_contact_affine_quad(const ct_plugin *p);

#endif
