/* contract.h - common ground of the contract tests: the plugins found, a small scene with
 * cloth above a ball, and runs and instances on it. */
#ifndef TEST_CONTRACT_H
#define TEST_CONTRACT_H

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include "sched/run_state.h"

typedef struct ct_plugin { /* parameter of a test: one plugin of the build tree */
  char name[64];
  char set[96]; /* section.key=value to run it with, "": its defaults */
  int32_t kind; /* LOOM_KIND_*, by the folder its source lies in; -1: not in this tree */
} ct_plugin;

/* Plugins in LOOM_PLUGIN_PATH, by name; kind < 0: of every kind.  A plugin that is two methods
 * behind one parameter comes once for each. */
struct criterion_test_params ct_plugins(int kind);
/* Its descriptor; failure fails the test.  The registry stays the caller's. */
const loom_plugin *ct_load(const ct_plugin *p, registry **reg);

typedef struct ct_run {
  loom_err err;
  cfg *c;
  run_options opt;
  run *r;
  char ini[2048];
} ct_run;

/* Open a run with plugin `p` in its place; the other places are filled with the plugins of
 * most capabilities that fit.  `more`: further INI text, or "".  Failure fails the test. */
void ct_open(ct_run *t, const ct_plugin *p, const char *more);
/* The same with memory in check mode (copying, poisoned maps). */
void ct_open_checked(ct_run *t, const ct_plugin *p, const char *more);
/* The same with given plugins; "" for none.  Returns what run_open returned. */
loom_status ct_try(ct_run *t, const char *solver, const char *collision, const char *contact,
                   const char *more);
void ct_close(ct_run *t); /* fails the test if a plugin left buffers behind */

/* What went wrong: the run's message, else the buffers'. */
const char *ct_message(const ct_run *t);

/* The instance of the plugin under test. */
instance *ct_instance(run *r, const ct_plugin *p);
/* create(), destroy(), reset(), checkpoint() of whatever kind. */
loom_status ct_create(instance *in);
void ct_destroy(instance *in);
loom_status ct_reset(instance *in);
int ct_has_checkpoint(const instance *in);
loom_status ct_checkpoint(instance *in, const loom_step *s, int restore);
/* A second, not yet created instance of the same plugin with the same settings. */
void ct_twin(const instance *of, instance *twin);

/* Do `count` steps from step `first`; an error fails the test. */
void ct_steps(ct_run *t, int64_t first, int64_t count);
/* Copy of a real buffer, from malloc; *n gets its length. */
double *ct_values(run *r, loom_buf *b, int64_t *n);
void ct_set_values(run *r, loom_buf *b, const double *v);
/* Positions of two runs agree to the bit. */
void ct_same_x(run *a, run *b, const char *what);

#endif
