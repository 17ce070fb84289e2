/* no_effect.c - a key that the chosen values of other keys do not read is refused. */
#include <stdio.h>
#include <string.h>

#include "config/config.h"
#include "config/words.h"
#include "core/only_with.h"

int cfg_is_default(const loom_param *p, const void *settings)
{
  static const size_t sizes[] = {
      [LOOM_P_REAL] = sizeof(double),     [LOOM_P_INT] = sizeof(int64_t),
      [LOOM_P_BOOL] = sizeof(int32_t),    [LOOM_P_ENUM] = sizeof(int32_t),
      [LOOM_P_VEC3] = 3 * sizeof(double), [LOOM_P_VEC4] = 4 * sizeof(double)};
  const char *const at = (const char *)settings + p->offset, *text;
  double room[4]; /* of the largest type */
  loom_param alone = *p;
  alone.offset = 0;
  cfg_defaults(&alone, 1, room);
  if (p->type != LOOM_P_TEXT && p->type != LOOM_P_PATH)
    return memcmp(at, room, sizes[p->type]) == 0;
  memcpy(&text, at, sizeof text);
  return strcmp(text != NULL ? text : "", p->def_text != NULL ? p->def_text : "") == 0;
}

/* 1: a list (`pins`, `where`, `copies`) is not empty, `none` or `1 1 1`. */
static int names_something(const char *text)
{
  words w;
  int64_t n;
  words_start(&w, text);
  while (!words_at_end(&w))
    if (words_int(&w, &n) ? n != 1 || strcmp(text, "1 1 1") != 0
                          : words_next(&w) && strcmp(w.word, "none") != 0)
      return 1;
  return 0;
}

/* 1: choice number i of "a|b|c" is one of the values. */
static int has_choice(const only_with *w, const char *choices, int32_t i)
{
  for (; i > 0; --i) choices += strcspn(choices, "|") + 1;
  return only_with_has(w, choices, strcspn(choices, "|"));
}

/* 1: the value of p, the key of the alternative, is one that reads the row. */
static int reads_row(const only_with *w, const loom_param *p, const void *settings)
{
  const char *const at = (const char *)settings + p->offset, *text;
  int32_t i;
  int64_t n;
  double v;
  switch (p->type) {
  case LOOM_P_ENUM:
    memcpy(&i, at, sizeof i);
    return has_choice(w, p->choices, i);
  case LOOM_P_BOOL:
    memcpy(&i, at, sizeof i);
    return i != 0;
  case LOOM_P_INT:
    memcpy(&n, at, sizeof n);
    return n > 0;
  case LOOM_P_REAL:
    memcpy(&v, at, sizeof v);
    return v > 0;
  default:
    memcpy(&text, at, sizeof text);
    return names_something(text);
  }
}

static void append_text(char *text, size_t len, const char *more, size_t n)
{
  const size_t used = strlen(text);
  snprintf(text + used, len - used, "%.*s", (int)n, more);
}

void cfg_describe_choice(const char *key, const char *values, size_t values_len, char *text,
                         size_t len)
{
  const char *const end = values + values_len;
  append_text(text, len, key, strlen(key));
  append_text(text, len, " = ", 3);
  for (const char *v = values; v <= end;) {
    const char *const bar = memchr(v, '|', (size_t)(end - v));
    const char *const stop = bar != NULL ? bar : end;
    append_text(text, len, v, (size_t)(stop - v));
    if (bar != NULL)
      append_text(text, len, memchr(bar + 1, '|', (size_t)(end - bar - 1)) ? ", " : " or ", 4);
    v = stop + 1;
  }
}

/* "shape = mesh or revolve", "mesh_size above 0", "pins" */
static void describe_alternative(const only_with *w, const loom_param *p, char *text, size_t len)
{
  if (w->values != NULL) {
    cfg_describe_choice(p->key, w->values, (size_t)w->values_len, text, len);
    return;
  }
  append_text(text, len, p->key, strlen(p->key));
  if (p->type == LOOM_P_REAL || p->type == LOOM_P_INT) append_text(text, len, " above 0", 8);
}

loom_status cfg_without_effect(loom_err *err, const cfg_section *s, const char *key, int given,
                               const char *takes, const cfg_notes *notes)
{
  char place[1024], text[1536];
  cfg_place(s, key, place, sizeof place);
  if (given == CFG_GIVEN_BESIDE) {
    cfg_drop(s, key);
    snprintf(text, sizeof text, "%s has no effect: it takes %s", place, takes);
    return notes->note(notes->user, text);
  }
  err_set(err, LOOM_E_CONFIG, "has no effect: it takes %s; leave it out", takes);
  err_prefix(err, "%s", place);
  return LOOM_E_CONFIG;
}

/* Row p of the table; *dropped becomes 1 if its key was taken out. */
static loom_status check_row(loom_err *err, const cfg_section *s, const loom_param *p,
                             const loom_param *params, uint32_t count, const void *settings,
                             const cfg_notes *notes, int *dropped)
{
  const char *rest = p->only_with;
  char takes[256] = "";
  int given = CFG_GIVEN_MEANT;
  only_with w;
  if (rest == NULL || (p->flags & LOOM_P_GONE) || cfg_is_default(p, settings)) return LOOM_OK;
  while (only_with_next(&rest, &w)) {
    const loom_param *const choice = only_with_param(&w, params, count);
    if (choice == NULL) return only_with_check(err, p, params, count);
    const int g = cfg_given(s, p->key, choice->key);
    if (g == CFG_GIVEN_NOT || reads_row(&w, choice, settings)) return LOOM_OK;
    if (takes[0] != '\0') append_text(takes, sizeof takes, ", or ", 5);
    describe_alternative(&w, choice, takes, sizeof takes);
    if (g == CFG_GIVEN_BESIDE) given = g;
  }
  *dropped |= given == CFG_GIVEN_BESIDE;
  return cfg_without_effect(err, s, p->key, given, takes, notes);
}

loom_status cfg_check_effects(loom_err *err, const cfg_section *s, const loom_param *params,
                              uint32_t count, void *settings, const cfg_notes *notes)
{
  int dropped = 0;
  for (uint32_t k = 0; k < count; ++k)
    LOOM_TRY(check_row(err, s, &params[k], params, count, settings, notes, &dropped));
  return dropped ? cfg_bind(err, s, params, count, settings) : LOOM_OK;
}
