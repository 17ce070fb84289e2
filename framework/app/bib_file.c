/* bib_file.c - entries of BibTeX files. */
#include "app/bib_file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/read_file.h"

enum { BIB_MOST_BYTES = 1 << 20 };

static loom_status add_entry(loom_err *err, bib_list *list, const char *text, size_t len)
{
  char **const longer = realloc(list->entries, (size_t)(list->num + 1) * sizeof *longer);
  if (longer == NULL) return err_set(err, LOOM_E_NOMEM, "out of memory");
  list->entries = longer;
  char *const copy = strndup(text, len);
  if (copy == NULL) return err_set(err, LOOM_E_NOMEM, "out of memory");
  list->entries[list->num++] = copy;
  return LOOM_OK;
}

/* From '{' to the comma behind it; the length, 0 without one. */
static int key_of(const char *entry, const char **key)
{
  const char *const brace = strchr(entry, '{');
  *key = brace != NULL ? brace + 1 : entry;
  return brace != NULL ? (int)strcspn(*key, ",\n") : 0;
}

static loom_status add_entries(loom_err *err, bib_list *list, const char *text, const char *path)
{
  const char *key;
  for (const char *line = text; *line != '\0';) {
    const char *next = line + strcspn(line, "\n");
    next += *next == '\n';
    if (*line == '@') {
      const char *const end = strstr(line, "\n}\n");
      const int len = key_of(line, &key);
      if (end == NULL || len == 0 || key > next || key[len] != ',')
        return err_set(err, LOOM_E_CONFIG,
                       "%s: an entry begins with @TYPE{KEY, and ends with '}' on a line of its "
                       "own; found '%.*s'",
                       path, (int)strcspn(line, "\n"), line);
      LOOM_TRY(add_entry(err, list, line, (size_t)(end + 2 - line)));
      next = end + 3;
    }
    line = next;
  }
  return LOOM_OK;
}

loom_status bib_add_file(loom_err *err, bib_list *list, const char *path, int *found)
{
  int64_t bytes = 0;
  const char *why;
  *found = access(path, F_OK) == 0;
  if (!*found) return LOOM_OK;
  FILE *const f = read_file_open(path, &bytes, &why);
  if (f == NULL) return err_set(err, LOOM_E_CONFIG, "cannot read %s: %s", path, why);
  char *const text = bytes <= BIB_MOST_BYTES ? malloc((size_t)bytes + 1) : NULL;
  loom_status s = LOOM_OK;
  if (text == NULL) {
    s = err_set(err, LOOM_E_CONFIG, "cannot read %s: it has %lld bytes", path, (long long)bytes);
  } else {
    text[fread(text, 1, (size_t)bytes, f)] = '\0';
    s = add_entries(err, list, text, path);
  }
  free(text);
  fclose(f);
  return s;
}

static int compare_bib_keys(const void *a, const void *b)
{
  const char *const x = *(const char *const *)a, *const y = *(const char *const *)b;
  const char *kx, *ky;
  const int nx = key_of(x, &kx), ny = key_of(y, &ky);
  const int order = strncmp(kx, ky, (size_t)(nx < ny ? nx : ny));
  return order != 0 ? order : nx != ny ? nx - ny : strcmp(x, y);
}

void bib_print(bib_list *list, FILE *f)
{
  if (list->num > 0)
    qsort(list->entries, (size_t)list->num, sizeof *list->entries, compare_bib_keys);
  for (int i = 0; i < list->num; ++i)
    if (i == 0 || strcmp(list->entries[i], list->entries[i - 1]) != 0)
      fprintf(f, "\n%s\n", list->entries[i]);
}

void bib_free(bib_list *list)
{
  for (int i = 0; i < list->num; ++i) free(list->entries[i]);
  free(list->entries);
  *list = (bib_list){0};
}
