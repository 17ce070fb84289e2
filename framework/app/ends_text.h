/* ends_text.h - sentences on how well the steps of a run converged. */
#ifndef LOOM_APP_ENDS_TEXT_H
#define LOOM_APP_ENDS_TEXT_H

#include "log/ends.h"

enum { ENDS_TEXT_LEN = 240 };

/* "N of M steps did not converge; ...", or that all did; never empty. */
const char *ends_converged(const log_ends *e, char text[ENDS_TEXT_LEN]);
/* A sentence if most steps had no iteration, else "". */
const char *ends_idle(const log_ends *e, char text[ENDS_TEXT_LEN]);
/* The number of steps whose replayed reference did not converge, "" if there are none. */
const char *ends_blind(const log_ends *e, char text[ENDS_TEXT_LEN]);
/* The number of steps that a budget of time ended, "" if there are none. */
const char *ends_timed(const log_ends *e, char text[ENDS_TEXT_LEN]);
/* The largest momentum defect, "" below a percent. */
const char *ends_defect(const log_ends *e, char text[ENDS_TEXT_LEN]);

#endif
