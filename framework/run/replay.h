/* replay.h - what the files of a replay share: replay.c, replay_same.c, replay_state.c. */
#ifndef LOOM_REPLAY_H
#define LOOM_REPLAY_H

#include "run/run_state.h"

/* ---- replay_same.c: is it the same problem? --------------------------------------------- */
/* Refuses a reference of other physics, by key and with both values. */
loom_status replay_same_physics(run *r);
/* Refuses a reference whose mesh, masses, pins or bodies are others. */
loom_status replay_same_scene(run *r);
/* Has the section of a plugin instance the same keys there?  `why` says what differs. */
void replay_same_section(run *r, const cfg *theirs, const char *section, int *same, char *why,
                         size_t len);
int replay_same_key(run *r, const cfg *theirs, const char *section, const char *key);

/* ---- replay_state.c --------------------------------------------------------------------- */
/* Before step `index`: what the reference has of it, everything else without a past. */
loom_status replay_restore(run *r, int64_t index);
void replay_state_close(run *r);

#endif
