/* cfg_internal.h - shared by the sources of framework/config; no other file includes it. */
#ifndef LOOM_CFG_INTERNAL_H
#define LOOM_CFG_INTERNAL_H

#include <sys/types.h>

#include "config/config.h"

enum {
  CFG_LINE_MAX = 1000,      /* bytes of a line; iniparser's buffer holds 1024 */
  CFG_VALUE_MAX = 900,      /* bytes of a value: its line fits again when it is printed */
  CFG_NAME_MAX = 63,        /* bytes of a key or of one part of a section name */
  CFG_FILE_MAX = 1 << 20,   /* bytes of one file */
  CFG_FILE_LINES = 10000,   /* iniparser looks keys up one by one */
  CFG_INCLUDE_DEPTH = 16,   /* nested includes */
  CFG_INCLUDE_TOTAL = 64,   /* files of one configuration */
  CFG_MESSAGES = 8,         /* problems reported at once */
  CFG_PLACE_MAX = 1200,     /* bytes of "FILE:LINE: [section] key" */
  CFG_NUMBER_TEXT_MAX = 128 /* bytes of a number with its unit, printed */
};

typedef struct cfg_block cfg_block; /* one piece of memory that lives as long as the cfg */

typedef struct cfg_file {
  const char *name; /* for messages */
  const char *dir;  /* resolves relative paths; "" is the current directory */
  const struct cfg_file *includer;
  dev_t dev; /* identity, for cycles; both 0 for text that is not a file */
  ino_t ino;
} cfg_file;

typedef struct cfg_entry {
  const char *key, *value;        /* value: without comment and quotes */
  const cfg_file *file;           /* place; the path in it is relative to file->dir */
  int line;                       /* 0 for --set */
  int used;                       /* an owner asked for the key */
  int order;                      /* counts all values in the order in which they were read */
  const struct cfg_entry *before; /* the value that this one replaced, or NULL */
} cfg_entry;

typedef struct cfg_item { /* one resolved value, as canonical text */
  const char *key, *text;
} cfg_item;

typedef struct cfg_table {
  const loom_param *params; /* [num] */
  uint32_t num;
} cfg_table;

/* Record of the reads of a section; the section itself stays constant. */
typedef struct cfg_use {
  int known; /* an owner asked for the section */
  int num_tables, num_items, num_asked;
  cfg_table *tables;  /* [num_tables] bound so far */
  cfg_item *items;    /* [num_items] in the order of binding */
  const char **asked; /* [num_asked] keys read as text */
} cfg_use;

struct cfg_section {
  struct cfg *owner;
  const char *name, *suffix;
  const cfg_file *file; /* where it was opened first */
  int line, index;      /* line 0: in no file */
  int num_entries;
  cfg_entry *entries; /* [num_entries] */
  cfg_use *use;
};

typedef struct cfg_asked_name {
  const char *name;
  int prefix; /* 1: NAME.SUFFIX, too */
} cfg_asked_name;

typedef struct cfg_asked { /* names of sections that owners asked for, for hints */
  int num;
  cfg_asked_name *names; /* [num] */
} cfg_asked;

struct cfg {
  cfg_block *blocks;
  const cfg_file *top, *set; /* the top file; the place called "--set" */
  int num_files, num_sections, num_values;
  cfg_section **sections; /* [num_sections] in file order */
  cfg_asked *asked;
  char *resolved;
};

/* ---- memory (load.c) ---- */
void *cfg_alloc(cfg *c, size_t size); /* zeroed, freed with the cfg; NULL if out of memory */
char *cfg_copy(cfg *c, const char *text, size_t len);
char *cfg_printf(cfg *c, const char *fmt, ...) LOOM_PRINTF(2, 3);
/* The array of `num` elements with room for one more, NULL if out of memory. */
void *cfg_grow(cfg *c, void *array, int num, size_t size);
loom_status cfg_nomem(loom_err *err);
void cfg_free_memory(cfg *c); /* of cfg_alloc, cfg_copy, cfg_printf and cfg_grow */

/* ---- files (load.c) ---- */
cfg_section *cfg_section_get(cfg *c, const char *name, const cfg_file *f, int line);
cfg_entry *cfg_entry_find(const cfg_section *s, const char *key);
/* The value is empty and replaces another one, or comes from --set: the key takes its default,
 * except a key of type text. */
int cfg_entry_unset(const cfg_section *s, const cfg_entry *e);
/* Adds or replaces a value; LOOM_E_NOMEM is the only failure. */
loom_status cfg_entry_put(loom_err *err, cfg_section *s, const char *key, const char *value,
                          const cfg_file *f, int line);
/* `path` of a file in directory `dir`, as seen from the current directory. */
const char *cfg_join(cfg *c, const char *dir, const char *path);
const char *cfg_dirname(cfg *c, const char *path);
loom_status cfg_read_file(loom_err *err, cfg *c, const char *path, char **text, size_t *len);
/* Adds a line to the message, up to CFG_MESSAGES of them. */
void cfg_report(loom_err *err, int *count, const char *fmt, ...) LOOM_PRINTF(3, 4);

/* ---- scanning one text (scan.c) ---- */
typedef struct cfg_record { /* one line that is not empty */
  const char *section;      /* "" above the first section */
  const char *key;          /* NULL: a section header */
  const char *value;
  int line;
} cfg_record;
/* All records of a text in order, checked against iniparser's reading of it.  quote: messages may
 * repeat parts of the text.  For a file that a configuration merely names it is 0, and messages
 * tell the line only: the author of the configuration may have no right to read that file. */
loom_status cfg_scan(loom_err *err, cfg *c, const char *text, size_t len, const char *name,
                     int quote, cfg_record **out, int *num);
int cfg_utf8_valid(const char *s, size_t len);
int cfg_key_valid(const char *s, size_t len);
int cfg_section_valid(const char *s, size_t len);

/* ---- values (value.c) ---- */
loom_status cfg_parse_int(loom_err *err, const char *text, const char *unit, int64_t *out);
/* `count` numbers, 3 or 4, with one unit */
loom_status cfg_parse_vec(loom_err *err, const char *text, const char *unit, int count,
                          double *out);
loom_status cfg_parse_bool(loom_err *err, const char *text, int32_t *out);
loom_status cfg_parse_enum(loom_err *err, const char *text, const char *choices, int32_t *out);
/* Shortest text that reads back as the same double. */
void cfg_print_real(double v, char *buf, size_t len);
/* "> 0 and <= 10 s", "" when unbounded. */
void cfg_print_range(const loom_param *p, char *buf, size_t len);
int cfg_in_range(const loom_param *p, double v);
/* ---- binding (bind.c) ---- */
/* The text as a file must contain it to be read back unchanged. */
const char *cfg_quote(cfg *c, const char *text);
/* Does cfg_hash cover it?  key NULL: any key of the section. */
int cfg_in_hash(const char *section, const char *key);

#endif
