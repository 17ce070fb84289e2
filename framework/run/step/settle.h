/* settle.h - [dress] settle: a run ends when its garment has come to rest. */
#ifndef LOOM_STEP_SETTLE_H
#define LOOM_STEP_SETTLE_H

#include "run/run.h"

/* After a step.  *settled: 1 if the dressing is over (dress_end()) and no free vertex is faster
 * than [dress] settle; a message then says so, and in the last step (`last`) a warning if not.  0
 * without the key. */
loom_status settle_look(run *r, int last, int *settled);

#endif
