/* ends_text.c - see ends_text.h. */
#include "app/ends_text.h"

#include <float.h>
#include <inttypes.h>
#include <stdio.h>

static const double least_defect = 0.01; /* of the weight */

const char *ends_converged(const log_ends *e, char text[ENDS_TEXT_LEN])
{
  int n;
  if (e->unconverged == 0) {
    snprintf(text, ENDS_TEXT_LEN, "all %" PRId64 " steps converged", e->steps);
    return text;
  }
  n = snprintf(text, ENDS_TEXT_LEN, "%" PRId64 " of %" PRId64 " steps did not converge",
               e->unconverged, e->steps);
  if (e->worst_ratio > 0.0 && e->worst_ratio < DBL_MAX)
    snprintf(text + n, ENDS_TEXT_LEN - (size_t)n,
             "; the worst ended at %.3g times its tolerance (step %" PRId64 ")", e->worst_ratio,
             e->worst_step);
  return text;
}

const char *ends_idle(const log_ends *e, char text[ENDS_TEXT_LEN])
{
  text[0] = '\0';
  if (2 * e->idle > e->steps)
    snprintf(text, ENDS_TEXT_LEN,
             "%" PRId64 " of %" PRId64 " steps had no iteration: their first guess met the "
             "tolerance",
             e->idle, e->steps);
  return text;
}

const char *ends_blind(const log_ends *e, char text[ENDS_TEXT_LEN])
{
  text[0] = '\0';
  if (e->blind > 0)
    snprintf(text, ENDS_TEXT_LEN,
             "the reference did not converge in %" PRId64 " of %" PRId64
             " steps: e_ref of these is no error",
             e->blind, e->steps);
  return text;
}

const char *ends_timed(const log_ends *e, char text[ENDS_TEXT_LEN])
{
  text[0] = '\0';
  if (e->timed > 0)
    snprintf(text, ENDS_TEXT_LEN,
             "%" PRId64 " of %" PRId64
             " steps ended by a budget of time: another run ends them after other iterations, and "
             "its bits differ",
             e->timed, e->steps);
  return text;
}

const char *ends_defect(const log_ends *e, char text[ENDS_TEXT_LEN])
{
  text[0] = '\0';
  if (e->defect >= least_defect)
    snprintf(text, ENDS_TEXT_LEN,
             "momentum defect up to %.3g %% of the weight (step %" PRId64
             "): forces that are left over act as if from outside",
             100.0 * e->defect, e->defect_step);
  return text;
}
