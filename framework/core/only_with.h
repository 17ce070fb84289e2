/* only_with.h - reads loom_param.only_with: "shape = grid|disk or pins". */
#ifndef LOOM_ONLY_WITH_H
#define LOOM_ONLY_WITH_H

#include "core/err.h"
#include "loom/param.h"

/* One alternative of it; texts without an end of their own, within the row's. */
typedef struct only_with {
  const char *key;
  int key_len;
  const char *values; /* "grid|disk", or NULL: any value that switches it on */
  int values_len;
} only_with;

/* The next alternative; *text begins at p->only_with.  0 at the end. */
int only_with_next(const char **text, only_with *out);
/* The row of its key in a table; NULL: there is none. */
const loom_param *only_with_param(const only_with *w, const loom_param *params, uint32_t count);
/* 1: `value` [len] is one of its values. */
int only_with_has(const only_with *w, const char *value, size_t len);
/* LOOM_E_ABI: an alternative of row p names no key of its table, or a value that is no choice. */
loom_status only_with_check(loom_err *err, const loom_param *p, const loom_param *params,
                            uint32_t count);

#endif
