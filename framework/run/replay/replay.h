/* replay.h - lock-step comparison with a reference run: replay.c, replay_same.c, replay_state.c. */
#ifndef LOOM_REPLAY_H
#define LOOM_REPLAY_H

#include "config/config.h"
#include "log/h5read.h"
#include "run/plugins/instances.h"

typedef struct replay {
  h5read *ref;
  const char *path, *key; /* of the log, and the key of [run] that names it */
  int once;               /* only the run's first state is taken, see start_log.c */
  int64_t first, count;   /* steps of the log whose starts are taken */
  int64_t num_frames;
  double *x, *v;      /* [n][3] one frame on the host */
  loom_buf *x_ref;    /* real [n][3], m, the reference's end of the present step */
  int have_ref;       /* x_ref holds the frame of this step */
  int unconverged;    /* and it is no solution: the reference did not converge in it */
  cfg *ours, *theirs; /* this config and the reference's, as they took effect */
  /* rows of /state, see replay_state.c */
  int64_t num_states, num_state;
  int64_t *state_step;           /* [num_states] */
  struct h5log_state_row *state; /* [num_state] rows of step `state_at`, if `have_rows` */
  int64_t state_at;
  int have_rows;
  int core, forwards; /* the core's own state is there; forwarding may be taken over */
  int probed;         /* items that checkpoint() would write */
} replay;

/* ---- replay.c, and replay_state.c for plugins ---- */
loom_status replay_open(run *r);
loom_status
replay_ready(run *r); /* after instances_create(): reports the states that will be restored */
/* st.x, st.v_start, x_ref, states of plugins; of foreign frames (foreign.h) also x_end */
loom_status replay_load(run *r, int64_t index);
void replay_close(run *r);
/* The state at the end of the step goes into the log, for a replay of this run.  frame: 1 if a
 * frame was recorded at this end. */
loom_status replay_record(run *r, int frame);

/* ---- replay_same.c: is it the same problem? ---- */
/* Refuses a reference of other physics, by key and with both values. */
loom_status replay_same_physics(run *r);
/* Settings of methods that pose the problem: each one that differs is told to `differ`. */
typedef void (*replay_differ)(void *to, const char *section, const char *key, const char *there,
                              const char *here);
loom_status replay_compare_problem(const run *r, replay_differ differ, void *to);
/* Refuses a reference with other meshes, masses, pins or bodies. */
loom_status replay_same_scene(const run *r);
/* Refuses a log with other triangles or tetrahedra. */
loom_status replay_same_mesh(const run *r);
/* Both configs into rep.ours and rep.theirs. */
loom_status replay_read_config(run *r);
/* Has the section of a plugin instance the same keys there?  `why` names the difference. */
void replay_same_section(const run *r, const cfg *theirs, const char *section, int *same, char *why,
                         size_t len);
int replay_same_key(const run *r, const cfg *theirs, const char *section, const char *key);

/* ---- replay_state.c ---- */
/* Before step `index`: restores the states that the reference holds and resets all others. */
loom_status replay_restore(run *r, int64_t index);
void replay_state_close(run *r);

#endif
