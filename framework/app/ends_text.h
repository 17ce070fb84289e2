/* ends_text.h - what commands say of how well the steps of a run were solved. */
#ifndef LOOM_APP_ENDS_TEXT_H
#define LOOM_APP_ENDS_TEXT_H

#include "log/ends.h"

enum { ENDS_TEXT_LEN = 240 };

/* "N of M steps did not converge; ...", or that all did; always a text. */
const char *ends_converged(const log_ends *e, char text[ENDS_TEXT_LEN]);
/* That most steps had no iteration, "" if they had. */
const char *ends_idle(const log_ends *e, char text[ENDS_TEXT_LEN]);
/* In how many steps a replayed reference did not converge, "" if in none. */
const char *ends_blind(const log_ends *e, char text[ENDS_TEXT_LEN]);
/* The largest momentum defect, "" below a percent. */
const char *ends_defect(const log_ends *e, char text[ENDS_TEXT_LEN]);

#endif
