/* instances.h - the plugins of a run: one solver, collision plugins, contact models.
 *
 * Loops over all plugins, or all of a kind, stand here; call.h calls a single callback. */
#ifndef LOOM_INSTANCES_H
#define LOOM_INSTANCES_H

#include "config/config.h"
#include "core/err.h"
#include "loom/plugin.h"
#include "run/run.h"

enum { RUN_MAX_INSTANCES = 16 /* of a kind */, RUN_ALL_INSTANCES = 1 + 2 * RUN_MAX_INSTANCES };

/* One plugin instance of any kind. */
typedef struct instance {
  run *r;
  const loom_plugin *plugin;
  char name[64];         /* "solver", "collision.self": section and checkpoint group */
  void *settings;        /* the plugin's settings struct */
  void *self;            /* the plugin's own */
  const loom_exec *exec; /* where it runs */
  loom_host host;        /* host.core points back to this instance */
  int created;           /* create() was called: destroy() is due */
  int restored;          /* a replay takes its state from the reference */
  /* [num_columns], [num_step_columns] and guards behind them, see columns.c */
  double *extra, *step_extra;
} instance;

/* A member that the tables of functions of all kinds have. */
#define INSTANCE_OP(in, member)                                                      \
  ((in)->plugin->kind == LOOM_KIND_SOLVER      ? (in)->plugin->ops.solver->member    \
   : (in)->plugin->kind == LOOM_KIND_COLLISION ? (in)->plugin->ops.collision->member \
                                               : (in)->plugin->ops.contact->member)

typedef struct contact_inst {
  instance in;
  uint32_t kinds; /* LOOM_BIT(LOOM_PAIR_*) this instance handles */
  uint32_t given; /* the kinds of [contact.NAME] pairs; `kinds`: of them, the handled ones */
  int collision[RUN_MAX_INSTANCES]; /* indices into run.collision */
  int num_collision;
  uint32_t provides; /* the plugin's flags and flags that the core derives */
  loom_pairs pairs;  /* of the last update() */
  loom_pairs asked;  /* pairs of its last host->detect() */
  loom_quad quad;
  loom_contact_metrics metrics;  /* of the last measure_contacts() */
  struct frozen_contact *frozen; /* linearisation, see term_contact.c; NULL if none */
} contact_inst;

/* Collision plugins, then contact models, with the solver before or behind them; their number. */
enum { LIST_SOLVER_FIRST, LIST_SOLVER_LAST };
int instances_list(run *r, int order, instance *all[RUN_ALL_INSTANCES]);

/* Drops the keys of a plugin that was replaced from outside the file that sets them (swap.c). */
loom_status swap_keys(run *r, const cfg_section *s, int kind);
loom_status instances_find(run *r); /* from the sections of the config, with their settings */
loom_status instances_fit(run *r);  /* refuses plugins that do not fit together or the scene */

/* Plugins in the place of a run's own; NULL and -1: that stays as it is. */
typedef struct instances_swap {
  const loom_plugin *solver;
  int contact; /* index of the instance that is replaced */
  const loom_plugin *model;
  uint32_t lacks; /* LOOM_CONT_* that the settings take from `model` */
  int collision;
  const loom_plugin *finder;
} instances_swap;
/* As instances_fit() with other plugins: the refusal goes to *why. */
loom_status instances_would_fit(run *r, const instances_swap *swap, loom_err *why);
/* attach: fills the services of an instance before its create(). */
loom_status instances_create(run *r, void (*attach)(instance *in));
/* Ends all instances and makes them anew, with the settings that they have. */
loom_status instances_renew(run *r, void (*attach)(instance *in));
int instances_destroy(run *r); /* the number of complaints, which are reported as warnings */

/* ---- a time step: collision plugins, contact models, the solver ---- */
loom_status instances_begin_step(run *r);
loom_status instances_end_step(run *r, int kind); /* LOOM_KIND_* */
loom_status instances_reset(run *r);              /* the state was changed from outside */
loom_status instances_velocity(run *r);           /* contact models change v_end */

/* Save or restore the states of all instances: the solver first. */
typedef loom_status (*instances_state_io)(run *r, const char *owner, const char *name, loom_buf *b);
loom_status instances_checkpoint(run *r, int restore, instances_state_io io);

#endif
