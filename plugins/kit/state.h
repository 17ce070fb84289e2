/* state.h - saves numbers of the host in a checkpoint and restores them, without a buffer of the
 * plugin's own. */
#ifndef KIT_STATE_H
#define KIT_STATE_H

#include "loom/host.h"

/* Saves (restore = 0) or restores n items of `type` (LOOM_REAL ...) at p.  A checkpoint with
 * another number of items is refused. */
loom_status state_items(const loom_host *host, int restore, const char *name, int type, int64_t n,
                        void *p);

/* The two halves, for arrays with a length that is also in the checkpoint: memory is taken only
 * when the file is known to have n items.  *p is valid until state_close(). */
loom_status state_save(const loom_host *host, const char *name, int type, int64_t n, const void *p);
loom_status state_open(const loom_host *host, const char *name, int type, int64_t n, loom_buf **b,
                       const void **p);
loom_status state_close(const loom_host *host, loom_buf *b);

/* Checks that a buffer of the plugin's own has n items. */
loom_status state_has(const loom_host *host, const loom_buf *b, const char *name, int64_t n);

#endif
