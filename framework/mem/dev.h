/* dev.h - device memory as the buffers need it: dev_cuda.c, dev_none.c without CUDA, or
 * dev_sim.c.
 *
 * All work of one device goes to one stream, so that what the core and the plugins
 * launch is ordered without events.
 */
#ifndef LOOM_MEM_DEV_H
#define LOOM_MEM_DEV_H

#include "core/err.h"

enum { DEV_TO_DEVICE, DEV_TO_HOST, DEV_WITHIN };

/* Usable devices, or 0 with the reason. */
int dev_count(char *why, size_t len);
void dev_name(int device, char *name, size_t len);
/* Make `device` current and return its stream. */
loom_status dev_open(loom_err *err, int device, void **stream);
/* LOOM_E_NOMEM or LOOM_E_DEVICE */
loom_status dev_alloc(loom_err *err, size_t bytes, void **p);
void dev_release(void *p); /* NULL is fine */
/* DEV_TO_HOST waits for the data, the others may return before. */
loom_status dev_copy(loom_err *err, void *stream, void *dst, const void *src, size_t bytes,
                     int direction);
loom_status dev_fill(loom_err *err, void *stream, void *p, int byte, size_t bytes);
loom_status dev_sync(loom_err *err, void *stream);
/* Text of the latest device error in this thread; clears it where CUDA allows that. */
const char *dev_error_text(void);

#endif
