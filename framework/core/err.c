/* err.c - error messages and nearest-name hints. */
#include "core/err.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/err_word.h"

/* A message may quote a file: bytes that a terminal would take as commands become '?'. */
static void make_plain(char *text)
{
  for (unsigned char *p = (unsigned char *)text; *p != '\0'; ++p) {
    const int second = p[0] == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0; /* U+0080 to U+009f */
    if ((*p < ' ' && *p != '\n') || *p == 0x7f) *p = '?';
    if (second) p[0] = p[1] = '?';
  }
}

loom_status(err_set)(loom_err *e, loom_status code, const char *fmt, ...)
{
  va_list ap;
  e->code = code;
  va_start(ap, fmt);
  vsnprintf(e->text, sizeof e->text, fmt, ap);
  va_end(ap);
  make_plain(e->text);
  return code;
}

void err_prefix(loom_err *e, const char *fmt, ...)
{
  char head[512], body[sizeof e->text];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(head, sizeof head, fmt, ap);
  va_end(ap);
  make_plain(head);
  memcpy(body, e->text, sizeof body);
  const size_t n = (size_t)snprintf(e->text, sizeof e->text, "%s: ", head);
  snprintf(e->text + n, sizeof e->text - n, "%s", body);
}

void err_append(loom_err *e, const char *fmt, ...)
{
  const size_t n = strlen(e->text);
  va_list ap;
  if (n + 2 >= sizeof e->text) return;
  if (n > 0) e->text[n] = '\n', e->text[n + 1] = '\0';
  va_start(ap, fmt);
  vsnprintf(e->text + n + (n > 0), sizeof e->text - n - (n > 0), fmt, ap);
  va_end(ap);
  make_plain(e->text + n);
}

void err_clear(loom_err *e)
{
  e->code = LOOM_OK;
  e->text[0] = '\0';
}

const char *err_word(const char *word, size_t len, char buf[ERR_WORD])
{
  enum { SHOWN = 16 };
  const int shown = len > SHOWN + 3 ? SHOWN : (int)len;
  snprintf(buf, ERR_WORD, "%.*s%s", shown, word, (size_t)shown < len ? "..." : "");
  return buf;
}

const char *err_status_text(loom_status s)
{
#define TEXT_(name, value, text) \
  case value:                    \
    return #name ": " text;
  switch (s) {
    LOOM_STATUS_LIST(TEXT_)
  default:
    return "unknown status";
  }
#undef TEXT_
}

enum { WORD_MAX = 64 };

/* Levenshtein distance with transpositions of neighbours counted as one. */
static int edit_distance(const char *a, const char *b)
{
  int row[3][WORD_MAX + 1];
  const int n = (int)strlen(a), m = (int)strlen(b);
  if (n > WORD_MAX || m > WORD_MAX) return WORD_MAX;
  for (int j = 0; j <= m; ++j) row[1][j] = j, row[2][j] = 0;
  for (int i = 1; i <= n; ++i) {
    int *const before = row[(i + 2) % 3], *const last = row[i % 3], *const now = row[(i + 1) % 3];
    now[0] = i;
    for (int j = 1; j <= m; ++j) {
      const int same = tolower((unsigned char)a[i - 1]) == tolower((unsigned char)b[j - 1]);
      int d = last[j - 1] + !same;
      if (last[j] + 1 < d) d = last[j] + 1;
      if (now[j - 1] + 1 < d) d = now[j - 1] + 1;
      now[j] = d;
    }
    if (i > 1)
      for (int j = 2; j <= m; ++j)
        if (tolower((unsigned char)a[i - 1]) == tolower((unsigned char)b[j - 2]) &&
            tolower((unsigned char)a[i - 2]) == tolower((unsigned char)b[j - 1]) &&
            before[j - 2] + 1 < now[j])
          now[j] = before[j - 2] + 1;
  }
  return row[(n + 1) % 3][m];
}

const char *err_nearest(const char *word, const char *const *candidates, int count)
{
  const int limit = strlen(word) <= 3 ? 1 : (int)strlen(word) / 3 + 1;
  const char *best = NULL;
  int best_d = limit + 1;
  for (int i = 0; i < count; ++i) {
    const int d = edit_distance(word, candidates[i]);
    if (d < best_d) best = candidates[i], best_d = d;
  }
  return best;
}

void err_names(char *text, size_t room, const char *word, const char *const *candidates, int count)
{
  enum { TAIL = 24 }; /* " and 2147483647 more" */
  const char *const near = err_nearest(word, candidates, count);
  size_t used = 0;
  int listed = 0;
  text[0] = '\0';
  for (int k = -1; k < count; ++k) { /* -1: the nearest one, before the others */
    const char *const one = k < 0 ? near : candidates[k];
    if (one == NULL || (k >= 0 && one == near)) continue;
    const size_t len = strlen(one) + (listed > 0 ? 2 : 0);
    if (used + len + TAIL > room) break;
    used += (size_t)snprintf(text + used, room - used, "%s%s", listed++ > 0 ? ", " : "", one);
  }
  if (listed < count)
    snprintf(text + used, room - used, "%s%d%s", listed > 0 ? " and " : "", count - listed,
             listed > 0 ? " more" : " with long names");
}
