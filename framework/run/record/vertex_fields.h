/* vertex_fields.h - numbers per vertex that frames may hold beside positions and velocities ([log]
 * fields). */
#ifndef LOOM_RUN_FIELDS_H
#define LOOM_RUN_FIELDS_H

#include "core/err.h"
#include "log/h5log_schema.h"
#include "run/run.h"

typedef struct run_fields {
  uint32_t wanted;               /* bit k: field k of H5LOG_FIELDS */
  float *data[H5LOG_NUM_FIELDS]; /* [n][width], of the present frame; NULL: not wanted */
} run_fields;

loom_status vertex_fields_open(run *r);
void vertex_fields_close(run *r);
/* At the accepted point, before COMMIT: fills `data` for this frame. */
loom_status vertex_fields_record(run *r);
/* The frame of the start: fields that need a step are NaN. */
loom_status vertex_fields_record_start(run *r);

#endif
