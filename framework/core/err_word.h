/* err_word.h - words of files in messages. */
#ifndef LOOM_CORE_ERR_WORD_H
#define LOOM_CORE_ERR_WORD_H

#include <stddef.h>

/* The first characters of a word: a path in a configuration may name any file, and a message does
 * not print at length what stands there. */
enum { ERR_WORD = 24 };
const char *err_word(const char *word, size_t len, char buf[ERR_WORD]);

#endif
