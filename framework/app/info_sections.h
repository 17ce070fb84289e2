/* info_sections.h - sums over the rows of /sections: time by section, as plugins report it. */
#ifndef LOOM_APP_INFO_SECTIONS_H
#define LOOM_APP_INFO_SECTIONS_H

#include "log/h5read.h"

typedef struct info_section {
  h5log_name name;
  int64_t calls;
  double wall, cpu; /* s, inner sections included */
} info_section;

/* Sections in the order of their first rows in the log; *out [*count] is malloc'ed.  A log of an
 * older version has none. */
loom_status info_sections(h5read *r, loom_err *err, info_section **out, int64_t *count);

#endif
