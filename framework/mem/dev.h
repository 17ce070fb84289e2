/* dev.h - device memory for the buffers: dev_cuda.c, dev_none.c without CUDA, or dev_sim.c.
 *
 * All work of one device goes to one stream, which orders the launches of the core and of the
 * plugins without events.
 */
#ifndef LOOM_MEM_DEV_H
#define LOOM_MEM_DEV_H

#include "mem/mem.h"

enum { DEV_TO_DEVICE, DEV_TO_HOST, DEV_WITHIN };

/* Added to the message if a copy or a wait reports that an earlier kernel has failed. */
#define DEV_LATE "; a kernel before it failed: run with [exec] debug = 1, which names it"

/* Number of usable devices, or 0 with the reason. */
int dev_count(char *why, size_t len);
void dev_name(int device, char *name, size_t len);
/* Makes `device` current and returns its stream. */
loom_status dev_open(loom_err *err, int device, void **stream);
/* LOOM_E_NOMEM or LOOM_E_DEVICE */
loom_status dev_alloc(loom_err *err, size_t bytes, void **p);
void dev_release(void *p); /* NULL is fine */
/* DEV_TO_HOST waits for the data, the other directions may return before. */
loom_status dev_copy(loom_err *err, void *stream, void *dst, const void *src, size_t bytes,
                     int direction);
loom_status dev_fill(loom_err *err, void *stream, void *p, int byte, size_t bytes);
/* Traffic of this process with the device so far, counted by the functions above. */
extern exec_traffic dev_traffic;
/* Device time, s, of the launches between the two calls; the second waits for them. */
loom_status dev_time_begin(loom_err *err, void *stream);
loom_status dev_time_end(loom_err *err, void *stream, double *seconds);
/* Sets mark k of EXEC_MARKS after all work so far.  dev_mark_seconds: s between two marks, once the
 * later one has been waited for. */
loom_status dev_mark(loom_err *err, void *stream, int k);
loom_status dev_mark_wait(loom_err *err, int k);
double dev_mark_seconds(int from, int to);
/* A named range for the timelines of CUDA's tools, if they are built in; id: for its end. */
uint64_t dev_range_begin(const char *name);
void dev_range_end(uint64_t id);
/* Text of the latest device error in this thread; clears it where CUDA allows that. */
const char *dev_error_text(void);

#endif
