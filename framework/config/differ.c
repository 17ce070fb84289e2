/* differ.c - where two resolved configurations differ. */
#include <stdio.h>
#include <string.h>

#include "config/cfg_internal.h"

enum { MOST_KEYS = 4 };

typedef struct entry { /* pieces of a resolved text, none ends with a NUL */
  const char *section, *key, *value;
  int section_len, key_len, value_len;
} entry;

/* The next "key = value" behind *at; 0 at the end.  e->section persists from call to call. */
static int read_next_entry(const char **at, entry *e)
{
  while (**at != '\0') {
    const char *const line = *at, *const end = line + strcspn(line, "\n");
    *at = *end == '\n' ? end + 1 : end;
    const char *const sign = memchr(line, '=', (size_t)(end - line));
    if (*line == '[') {
      e->section = line + 1;
      e->section_len = (int)strcspn(line + 1, "]\n");
    } else if (sign != NULL && sign > line && sign[-1] == ' ') {
      e->key = line;
      e->key_len = (int)(sign - line) - 1;
      e->value = sign + (sign + 1 < end && sign[1] == ' ' ? 2 : 1);
      e->value_len = (int)(end - e->value);
      return 1;
    }
  }
  return 0;
}

static int is_equal_span(const char *a, int a_len, const char *b, int b_len)
{
  return a_len == b_len && strncmp(a, b, (size_t)a_len) == 0;
}

static int find_text_entry(const char *text, const entry *wanted, entry *e)
{
  *e = (entry){.section = ""};
  while (read_next_entry(&text, e))
    if (is_equal_span(e->section, e->section_len, wanted->section, wanted->section_len) &&
        is_equal_span(e->key, e->key_len, wanted->key, wanted->key_len))
      return 1;
  return 0;
}

static int is_entry_hashed(const entry *e)
{
  char section[128], key[128];
  snprintf(section, sizeof section, "%.*s", e->section_len, e->section);
  snprintf(key, sizeof key, "%.*s", e->key_len, e->key);
  return cfg_in_hash(section, NULL) && cfg_in_hash(section, key);
}

typedef struct report {
  char *out;
  size_t len;
  int found;
} report;

static void report_difference(report *r, const entry *e, const entry *then, const entry *now)
{
  const entry *const both[2] = {then, now};
  char value[2][64];
  const size_t used = strlen(r->out);
  if (++r->found > MOST_KEYS) return;
  for (int i = 0; i < 2; ++i) {
    if (both[i] == NULL)
      snprintf(value[i], sizeof value[i], "not there");
    else if (both[i]->value_len == 0)
      snprintf(value[i], sizeof value[i], "empty");
    else
      snprintf(value[i], sizeof value[i], "%.*s", both[i]->value_len, both[i]->value);
  }
  snprintf(r->out + used, r->len - used, "%s[%.*s] %.*s: %s then, %s now", used > 0 ? "; " : "",
           e->section_len, e->section, e->key_len, e->key, value[0], value[1]);
}

void cfg_differ(const char *then, const char *now, char *out, size_t len)
{
  report r = {out, len, 0};
  entry e = {.section = ""}, other;
  out[0] = '\0';
  for (const char *at = now; read_next_entry(&at, &e);) {
    if (!is_entry_hashed(&e)) continue;
    if (!find_text_entry(then, &e, &other))
      report_difference(&r, &e, NULL, &e);
    else if (!is_equal_span(e.value, e.value_len, other.value, other.value_len))
      report_difference(&r, &e, &other, &e);
  }
  e = (entry){.section = ""};
  for (const char *at = then; read_next_entry(&at, &e);)
    if (is_entry_hashed(&e) && !find_text_entry(now, &e, &other))
      report_difference(&r, &e, &e, NULL);
  const size_t used = strlen(out);
  if (r.found > MOST_KEYS)
    snprintf(out + used, len - used, "; and %d more keys", r.found - MOST_KEYS);
}
