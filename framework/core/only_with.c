/* only_with.c - reads loom_param.only_with. */
#include "core/only_with.h"

#include <string.h>

int only_with_next(const char **text, only_with *out)
{
  static const char separator[] = " or ";
  const char *const s = *text;
  if (s == NULL || *s == '\0') return 0;
  const char *const end = strstr(s, separator);
  const size_t len = end != NULL ? (size_t)(end - s) : strlen(s);
  const size_t key = strcspn(s, " ");
  *out = (only_with){.key = s, .key_len = (int)(key < len ? key : len)};
  if (key + 3 <= len && strncmp(s + key, " = ", 3) == 0) {
    out->values = s + key + 3;
    out->values_len = (int)(len - key - 3);
  } else if (key < len)
    out->key_len = (int)len; /* no key of this name: only_with_check refuses it */
  *text = end != NULL ? end + sizeof separator - 1 : s + len;
  return 1;
}

const loom_param *only_with_param(const only_with *w, const loom_param *params, uint32_t count)
{
  for (uint32_t k = 0; k < count; ++k)
    if (strlen(params[k].key) == (size_t)w->key_len &&
        strncmp(params[k].key, w->key, (size_t)w->key_len) == 0)
      return &params[k];
  return NULL;
}

/* 1: `value` [len] is an item of the list "a|b|c" [list_len]. */
static int is_in_list(const char *list, size_t list_len, const char *value, size_t len)
{
  for (size_t at = 0; at <= list_len;) {
    size_t n = 0;
    while (at + n < list_len && list[at + n] != '|') ++n;
    if (n == len && strncmp(list + at, value, n) == 0) return 1;
    at += n + 1;
  }
  return 0;
}

int only_with_has(const only_with *w, const char *value, size_t len)
{
  return is_in_list(w->values, (size_t)w->values_len, value, len);
}

static loom_status check_alternative(loom_err *err, const loom_param *p, const only_with *w,
                                     const loom_param *choice)
{
  if (choice == NULL || choice == p)
    return err_set(err, LOOM_E_ABI, "parameter '%s': only_with names '%.*s', no other key", p->key,
                   w->key_len, w->key);
  if ((w->values != NULL) != (choice->type == LOOM_P_ENUM))
    return err_set(err, LOOM_E_ABI,
                   "parameter '%s': only_with needs values of '%s' if that has choices, and none "
                   "otherwise",
                   p->key, choice->key);
  for (int at = 0; w->values != NULL && at <= w->values_len;) {
    int n = 0;
    while (at + n < w->values_len && w->values[at + n] != '|') ++n;
    if (!is_in_list(choice->choices, strlen(choice->choices), w->values + at, (size_t)n))
      return err_set(err, LOOM_E_ABI, "parameter '%s': only_with: '%.*s' is no choice of '%s'",
                     p->key, n, w->values + at, choice->key);
    at += n + 1;
  }
  return LOOM_OK;
}

loom_status only_with_check(loom_err *err, const loom_param *p, const loom_param *params,
                            uint32_t count)
{
  only_with w;
  const char *text = p->only_with;
  while (only_with_next(&text, &w))
    LOOM_TRY(check_alternative(err, p, &w, only_with_param(&w, params, count)));
  return LOOM_OK;
}
