/* err_word.h - words of files in messages. */
#ifndef LOOM_CORE_ERR_WORD_H
#define LOOM_CORE_ERR_WORD_H

#include <stddef.h>

/* Characters of a word that a message quotes: a path in a configuration may name any file, and a
 * message must not print its contents at length. */
enum { ERR_WORD = 24 };
const char *err_word(const char *word, size_t len, char buf[ERR_WORD]);

#endif
