/* registry_text.c - entries of the registry: plugins, and refused files with the reason. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/registry_internal.h"

loom_status registry_nomem(loom_err *err)
{
  return err_set(err, LOOM_E_NOMEM, "out of memory while plugins were looked up");
}

reg_entry *registry_append(registry *r, int file, const char *path)
{
  if (r->num == r->cap) {
    const int cap = r->cap > 0 ? 2 * r->cap : 32;
    reg_entry *const bigger = realloc(r->entry, (size_t)cap * sizeof *bigger);
    if (bigger == NULL) return NULL;
    r->entry = bigger;
    r->cap = cap;
  }
  reg_entry *const e = &r->entry[r->num++];
  memset(e, 0, sizeof *e);
  e->file = file;
  snprintf(e->path, sizeof e->path, "%.*s", (int)sizeof e->path - 1, path);
  return e;
}

loom_status registry_refuse(loom_err *err, registry *r, int file, const char *path,
                            loom_status status, const char *fmt, ...)
{
  char why[sizeof(((reg_entry *)0)->why)];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(why, sizeof why, fmt, ap);
  va_end(ap);
  reg_entry *const e = registry_append(r, file, path);
  if (e == NULL) return registry_nomem(err);
  e->status = status;
  memcpy(e->why, why, sizeof why);
  return LOOM_OK;
}
