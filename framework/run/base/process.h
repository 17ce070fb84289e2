/* process.h - facts of this process from the system: memory, scheduler job, date. */
#ifndef LOOM_PROCESS_H
#define LOOM_PROCESS_H

#include <stddef.h>
#include <stdint.h>

enum { PROCESS_TIME_LEN = 64 };

int64_t process_rss(void);      /* bytes that are resident now, -1 if unknown */
int64_t process_rss_peak(void); /* most so far, -1 if unknown */
/* The ids that a scheduler gave its job, as "NAME=VALUE NAME=VALUE", from the environment; "" where
 * no scheduler started it. */
void process_job(char *out, size_t len);
void process_time(char out[PROCESS_TIME_LEN]); /* now, ISO 8601, UTC */

#endif
