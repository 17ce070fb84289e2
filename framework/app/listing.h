/* listing.h - shared by `list` and `describe`: options, JSON, names of capabilities. */
#ifndef LOOM_LISTING_H
#define LOOM_LISTING_H

#include <stdio.h>

#include "core/registry.h"

typedef struct listing {
  const char *name; /* the one positional argument, or NULL */
  char dirs[8192];  /* --plugin-path, made absolute; "" if not given */
  const char *fit;  /* --fit CONFIG of `list`, or NULL */
  int json;
  int schema;    /* --schema of `describe` */
  int exit_code; /* when listing_parse returns nonzero */
} listing;

/* [NAME] [--plugin-path DIRS] [--json] [--help].  0: go on; nonzero: leave with exit_code. */
int listing_parse(int argc, char **argv, const char *usage, listing *out);

/* Makes relative directories of the command line absolute: the registry takes no others.  0 with a
 * message on stderr if one does not exist. */
int listing_absolute_dirs(const char *list, char *out, size_t len);

const char *listing_backends(uint32_t backends); /* "cpu+cuda" */

/* ---- JSON: every function writes `, ` first unless *first, which it clears ---- */
void write_json_text(FILE *f, const char *s); /* quoted and escaped; null for NULL */
void json_member(FILE *f, int *first, const char *key, const char *value);
void write_json_number(FILE *f, int *first, const char *key, double value); /* null if infinite */
/* "a, b" -> "key": ["a", "b"] */
void json_list(FILE *f, int *first, const char *key, const char *names);
void json_plugin(FILE *f, int *first, const reg_entry *e); /* the members of both commands */

#endif
