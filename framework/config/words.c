/* words.c - words and numbers of a setting's text; whole files as text. */
#include "config/words.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/config.h"
#include "core/read_file.h"

static const char *const spaces = " \t\r\n";

void words_start(words *w, const char *text)
{
  w->p = text;
  w->word[0] = '\0';
}

int words_next(words *w)
{
  w->p += strspn(w->p, spaces);
  const size_t len = strcspn(w->p, spaces);
  const size_t keep = len < sizeof w->word ? len : sizeof w->word - 1;
  memcpy(w->word, w->p, keep);
  w->word[keep] = '\0';
  w->p += len;
  return len > 0;
}

int words_at_end(words *w)
{
  w->p += strspn(w->p, spaces);
  return *w->p == '\0';
}

int words_real(words *w, double *value)
{
  words look = *w;
  if (!words_next(&look)) return 0;
  char *end;
  const double v = strtod(look.word, &end);
  if (end == look.word || *end != '\0' || !isfinite(v)) return 0;
  *w = look;
  *value = v;
  return 1;
}

int words_int(words *w, int64_t *value)
{
  words look = *w;
  if (!words_next(&look)) return 0;
  char *end;
  errno = 0;
  const long long v = strtoll(look.word, &end, 10);
  if (end == look.word || *end != '\0' || errno != 0) return 0;
  *w = look;
  *value = v;
  return 1;
}

loom_status words_reals(loom_err *err, const char *text, const char *unit, int max, double *values,
                        int *count)
{
  words w;
  words_start(&w, text);
  int n = 0;
  while (n < max && words_real(&w, &values[n])) ++n;
  if (n == 0)
    return err_set(err, LOOM_E_CONFIG, "\"%s\" is not a number; expected 1 to %d numbers in %s",
                   text, max, unit);
  if (!words_at_end(&w)) {
    double factor;
    char one[300];
    words_next(&w);
    snprintf(one, sizeof one, "1 %s", w.word);
    if (!words_at_end(&w) || cfg_parse_real(err, one, unit, &factor) != LOOM_OK)
      return err_set(err, LOOM_E_CONFIG,
                     "\"%s\": expected 1 to %d numbers, then at most one unit that fits %s", text,
                     max, unit);
    for (int i = 0; i < n; ++i) values[i] *= factor;
  }
  *count = n;
  return LOOM_OK;
}

loom_status words_ints(loom_err *err, const char *text, int max, int64_t *values, int *count)
{
  words w;
  words_start(&w, text);
  int n = 0;
  while (n < max && words_int(&w, &values[n])) ++n;
  if (n == 0 || !words_at_end(&w))
    return err_set(err, LOOM_E_CONFIG, "\"%s\": expected 1 to %d whole numbers", text, max);
  *count = n;
  return LOOM_OK;
}

static loom_status read_stream_text(loom_err *err, FILE *f, const char *path, size_t size,
                                    char **text, size_t *len)
{
  char *t = malloc(size + 1);
  if (t == NULL) return err_set(err, LOOM_E_NOMEM, "%s: no memory for %zu bytes", path, size);
  *len = fread(t, 1, size, f);
  if (ferror(f)) {
    free(t);
    return err_set(err, LOOM_E_IO, "%s: reading failed: %s", path, strerror(errno));
  }
  t[*len] = '\0';
  *text = t;
  return LOOM_OK;
}

loom_status words_file(loom_err *err, const char *path, char **text, size_t *len)
{
  int64_t size = 0;
  const char *why;
  FILE *f = read_file_open(path, &size, &why);
  if (f == NULL)
    return err_set(err, access(path, F_OK) == 0 ? LOOM_E_IO : LOOM_E_CONFIG,
                   "%s: cannot be opened: %s; check the path", path, why);
  const loom_status status = read_stream_text(err, f, path, (size_t)size, text, len);
  fclose(f);
  if (status != LOOM_OK || strncmp(*text, "version https://git-lfs", 23) != 0) return status;
  free(*text);
  *text = NULL;
  return err_set(err, LOOM_E_CONFIG,
                 "%s: is a pointer of Git LFS and not the file itself; git lfs pull fetches it",
                 path);
}
