/* field_names.h - the words of [log] fields. */
#ifndef LOOM_RUN_FIELD_NAMES_H
#define LOOM_RUN_FIELD_NAMES_H

#include "core/err.h"

/* *wanted: bit k is set if `text` names field k of H5LOG_FIELDS.  LOOM_E_CONFIG: the error names an
 * unknown word and the nearest field. */
loom_status field_names_parse(loom_err *err, const char *text, uint32_t *wanted);

#endif
