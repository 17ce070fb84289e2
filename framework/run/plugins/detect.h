/* detect.h - pairs from the collision plugins to the contact models. */
#ifndef LOOM_DETECT_H
#define LOOM_DETECT_H

#include "run/plugins/instances.h"

typedef struct detection {
  loom_pairs asked;  /* pairs of the solver's last host->detect() */
  loom_buf *unnamed; /* u8 [n], see scene_mark_unnamed() */
  int asks_filter;   /* a contact model asked for FILTER (LOOM_ASK_FILTER); FILTER resets it */
} detection;

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

#endif
