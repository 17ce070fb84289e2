/* words.h - strict reading of values that are lists of words and numbers.
 *
 * Used for keys such as `resolution = 101 101` or `motion = translate 0 0 1`.  No text
 * is skipped: a caller reads until the words are used up and refuses the rest.
 */
#ifndef LOOM_CONFIG_WORDS_H
#define LOOM_CONFIG_WORDS_H

#include "core/err.h"

typedef struct words {
  const char *p; /* the rest of the text */
  char word[256];
} words;

void words_start(words *w, const char *text);
/* The next word into w->word; 0 at the end of the text. A word longer than the
 * buffer is cut, which no caller accepts as a name or number. */
int words_next(words *w);
/* 1 and the value if the next word is a finite number, which is then used up; else 0. */
int words_real(words *w, double *value);
int words_int(words *w, int64_t *value);
int words_at_end(words *w);

/* Reads all of `text` as 1 to `max` numbers, with a unit after the last one if `unit` is not NULL
 * ("1 1 m", "80 60 cm").  *count is their number; the message has no place. */
loom_status words_reals(loom_err *err, const char *text, const char *unit, int max, double *values,
                        int *count);
loom_status words_ints(loom_err *err, const char *text, int max, int64_t *values, int *count);

/* A whole file as NUL-terminated text; *len without the NUL.  free() it.  LOOM_E_CONFIG where there
 * is no file, LOOM_E_IO where it cannot be read. */
loom_status words_file(loom_err *err, const char *path, char **text, size_t *len);

#endif
