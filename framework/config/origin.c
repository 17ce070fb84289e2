/* origin.c - source of a key: a file, or the command line. */
#include <string.h>

#include "config/cfg_internal.h"

int cfg_given_by_file(const cfg_section *s, const char *key, const char **dir)
{
  const cfg_entry *const e = cfg_entry_find(s, key);
  *dir = e != NULL ? e->file->dir : "";
  return e != NULL && e->file != s->owner->set;
}
