/* fuzz_ccd.c - any bytes as a file of collision queries: an error with a place, or queries that
 * all methods answer with a time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/ccd_queries.h"
#include "geom/ccd.kern.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require_query_property(int condition, const char *what)
{
  if (condition) return;
  fprintf(stderr, "fuzz_ccd: %s\n", what);
  abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  loom_err err = {0};
  ccd_queries q;
  char *const text = malloc(size + 1);
  require_query_property(text != NULL, "out of memory");
  if (size > 0) memcpy(text, data, size);
  const loom_status s = ccd_queries_parse(&err, "fuzz", text, size, &q);
  if (s == LOOM_OK) {
    require_query_property(q.num > 0, "an empty file was accepted");
    for (int64_t k = 0; k < 6 * q.num; ++k) {
      ccd_settings set = ccd_defaults();
      const loom_real *const x0 = q.x0 + 12 * (k / 6), *const x1 = q.x1 + 12 * (k / 6);
      set.xi = q.shift[k / 6];
      const lk_real t = ccd_toi((int)(k % 6) / 2, (int)(k % 2), x0, x1, &set);
      require_query_property((t >= 0 && t <= 1) || t == CCD_NONE, "a time out of range");
    }
  } else {
    require_query_property(s < 0 && strncmp(err.text, "fuzz:", 5) == 0,
                           "a refusal without a place");
    require_query_property(q.x0 == NULL && q.x1 == NULL, "a refused file left memory behind");
  }
  ccd_queries_free(&q);
  free(text);
  return 0;
}
