/* ccd_queries.h - collision queries with known answers, from a CSV file.
 *
 * The form of the public set of sample queries (B. Wang et al., "A large-scale benchmark and an
 * inclusion-based algorithm for continuous collision detection", ACM TOG 40(5), 2021,
 * doi 10.1145/3460775): 8 rows per query, the four vertices at t = 0 and then at t = 1; a row is
 * the coordinates x, y, z as rational numbers, numerator and denominator in two columns each,
 * and the answer, 0 or 1, the same in all 8 rows.
 */
#ifndef LOOM_CCD_QUERIES_H
#define LOOM_CCD_QUERIES_H

#include "core/err.h"

typedef struct ccd_queries {
  int64_t num;
  loom_real *x0, *x1;     /* real [num][4][3], unit of the file, rounded */
  loom_real *shift;       /* real [num], bound of the change of any distance by rounding */
  unsigned char *impacts; /* [num], the known answer */
  int64_t rounded;        /* queries with a coordinate that had to be rounded */
} ccd_queries;

/* A missing or malformed file is LOOM_E_CONFIG with "NAME:LINE: ..." */
loom_status ccd_queries_read(loom_err *err, const char *path, ccd_queries *out);
/* The same from text that ends with 0; `name` is for messages. */
loom_status ccd_queries_parse(loom_err *err, const char *name, const char *text, size_t size,
                              ccd_queries *out);
void ccd_queries_free(ccd_queries *q);

#endif
