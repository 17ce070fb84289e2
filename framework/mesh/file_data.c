/* file_data.c - see file_data.h. */
#include "mesh/file_data.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/err_word.h"

const int file_data_bytes[FILE_NUM_TYPES] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8};

loom_status file_data_fail(const file_data *d, const char *what, const char *word, size_t len)
{
  char shown[ERR_WORD];
  int64_t line = 1;
  const char *const quote = word != NULL ? "\"" : "", *const space = word != NULL ? " " : "";
  const char *const text = word != NULL ? err_word(word, len, shown) : "";
  if (d->binary)
    return err_set(d->err, LOOM_E_IO, "%s: %s%s%s%s%s at byte %lld", d->name, what, space, quote,
                   text, quote, (long long)(d->p - d->text));
  for (const char *q = d->text; q < d->p; ++q) line += *q == '\n';
  return err_set(d->err, LOOM_E_IO, "%s:%lld: %s%s%s%s%s", d->name, (long long)line, what, space,
                 quote, text, quote);
}

static void skip_data_blanks(file_data *d)
{
  for (;;) {
    while (d->p < d->end && isspace((unsigned char)*d->p)) ++d->p;
    if (!d->comments || d->p >= d->end || *d->p != '#') return;
    while (d->p < d->end && *d->p != '\n') ++d->p;
  }
}

const char *file_data_word(file_data *d, size_t *len)
{
  skip_data_blanks(d);
  const char *const word = d->p;
  while (d->p < d->end && !isspace((unsigned char)*d->p) && *d->p != '\0') ++d->p;
  *len = (size_t)(d->p - word);
  return word;
}

int file_data_is(const char *word, size_t len, const char *want)
{
  return strlen(want) == len && memcmp(word, want, len) == 0;
}

void file_data_skip_line(file_data *d)
{
  while (d->p < d->end && *d->p != '\n') ++d->p;
  d->p += d->p < d->end;
}

loom_status file_data_check_room(const file_data *d, int64_t count, int bytes)
{
  const int64_t each = d->binary ? bytes : 2;
  if (count <= (d->end - d->p) / each + 1) return LOOM_OK;
  return file_data_fail(d, "the file is shorter than its counts say", NULL, 0);
}

/* The bytes of the next binary number, the least significant first. */
static loom_status take_bytes(file_data *d, int type, uint64_t *bits)
{
  const int n = file_data_bytes[type];
  if (d->end - d->p < n) return file_data_fail(d, "the file ends within its data", NULL, 0);
  *bits = 0;
  for (int k = 0; k < n; ++k)
    *bits = *bits << 8 | (unsigned char)d->p[d->big_endian ? k : n - 1 - k];
  d->p += n;
  return LOOM_OK;
}

loom_status file_data_real(file_data *d, int type, const char *what, double *value)
{
  *value = 0;
  if (d->binary) {
    uint64_t bits = 0;
    float f;
    LOOM_TRY(take_bytes(d, type, &bits));
    const uint32_t low = (uint32_t)bits;
    memcpy(&f, &low, sizeof f);
    memcpy(value, &bits, sizeof *value);
    if (type == FILE_F32) *value = f;
    return LOOM_OK;
  }
  size_t len;
  const char *const word = file_data_word(d, &len);
  char *stop = NULL;
  if (len > 0) *value = strtod(word, &stop);
  return len > 0 && stop == word + len ? LOOM_OK : file_data_fail(d, what, word, len);
}

loom_status file_data_int(file_data *d, int type, const char *what, int64_t least, int64_t most,
                          int64_t *value)
{
  const char *const start = d->p;
  *value = least;
  if (d->binary) {
    uint64_t bits = 0;
    LOOM_TRY(take_bytes(d, type, &bits));
    const int shift = 64 - 8 * file_data_bytes[type];
    const int is_signed =
        type == FILE_I8 || type == FILE_I16 || type == FILE_I32 || type == FILE_I64;
    const int64_t v = is_signed ? (int64_t)(bits << shift) >> shift : (int64_t)bits;
    if (v >= least && v <= most) {
      *value = v;
      return LOOM_OK;
    }
    d->p = start;
    return file_data_fail(d, what, NULL, 0);
  }
  size_t len;
  const char *const word = file_data_word(d, &len);
  char *stop = NULL;
  const long long v = len > 0 ? strtoll(word, &stop, 10) : 0;
  if (len == 0 || stop != word + len || v < least || v > most)
    return file_data_fail(d, what, word, len);
  *value = v;
  return LOOM_OK;
}
