/* err.h - the message that travels with a negative loom_status inside the core.
 *
 * Every core function that can fail takes a loom_err first, stores one message
 * there and returns its status.  The application prints it as
 *   loom: FILE:LINE: [section] key: what is wrong; remedy
 * so a message begins with its place, if it has one, and ends with the remedy.
 */
#ifndef LOOM_CORE_ERR_H
#define LOOM_CORE_ERR_H

#include "loom/types.h"

typedef struct loom_err {
  loom_status code; /* LOOM_OK while empty */
  char text[2048];  /* without a trailing newline */
} loom_err;

/* Store a message (replacing the present one) and return `code`.  [step] */
loom_status err_set(loom_err *e, loom_status code, const char *fmt, ...) LOOM_PRINTF(3, 4);
#ifdef __clang_analyzer__ /* it does not see into err.c: show it the return value */
#define err_set(e, code, ...) ((void)(err_set)((e), (code), __VA_ARGS__), (loom_status)(code))
#endif
/* Put "fmt: " in front of the present message: adds the caller's place. */
void err_prefix(loom_err *e, const char *fmt, ...) LOOM_PRINTF(2, 3);
/* Append a further line, e.g. when several problems are reported at once. */
void err_append(loom_err *e, const char *fmt, ...) LOOM_PRINTF(2, 3);
void err_clear(loom_err *e);
/* "LOOM_E_CONFIG: the configuration is invalid" */
const char *err_status_text(loom_status s);

/* The candidate nearest to `word` by edit distance (case-insensitive), or NULL if none is near
 * enough to be a plausible misspelling.  It belongs to the caller. */
const char *err_nearest(const char *word, const char *const *candidates, int count);
/* The candidates into text [room, at least 40], with commas between them, the one nearest to `word`
 * first: "shelf, floor and 3 more", where the others have no room. */
void err_names(char *text, size_t room, const char *word, const char *const *candidates, int count);

/* Return negative statuses and outcomes alike to the caller. */
#ifndef LOOM_TRY
#define LOOM_TRY(call)             \
  do {                             \
    const loom_status s_ = (call); \
    if (s_ != LOOM_OK) return s_;  \
  } while (0)
#endif

#endif
