/* h5guard.c - see h5guard.h. */
#include "log/h5guard.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/guard.h"

static const guard_limits limits = {.cpu_s = 60,
                                    .wall_s = 600,
                                    .memory = INT64_C(4) << 30,
                                    .stack = INT64_C(64) << 20,
                                    .answer = INT64_C(1) << 20};

loom_status h5_answer(loom_err *err, const char *path, int (*body)(void *arg, FILE *out), void *arg,
                      char **answer)
{
  size_t len;
  *answer = NULL;
  if (guard_call(err, &limits, "the HDF5 library", body, arg, answer, &len) == LOOM_OK)
    return LOOM_OK;
  err_prefix(err, "%s", path);
  err->code = LOOM_E_CONFIG;
  return LOOM_E_CONFIG;
}

loom_status h5_rehearse(loom_err *err, const char *path, int (*body)(void *arg, FILE *out),
                        void *arg)
{
  char *answer;
  LOOM_TRY(h5_answer(err, path, body, arg, &answer));
  free(answer);
  return LOOM_OK;
}
