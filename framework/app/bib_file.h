/* bib_file.h - entries of BibTeX files, collected without repetition and sorted. */
#ifndef LOOM_BIB_FILE_H
#define LOOM_BIB_FILE_H

#include <stdio.h>

#include "core/err.h"

typedef struct bib_list {
  char **entries; /* [num] from '@' to the closing '}', without a newline behind it */
  int num;
} bib_list;

/* Adds the entries of a file.  An entry begins with '@' at the start of a line and ends with the
 * first line that holds '}' alone; other lines are left out.  *found: 0 if there is no such file.
 * LOOM_E_CONFIG: the file cannot be read, or an entry has no key or no end. */
loom_status bib_add_file(loom_err *err, bib_list *list, const char *path, int *found);
/* Sorts by key and prints each text once, with an empty line before it. */
void bib_print(bib_list *list, FILE *f);
void bib_free(bib_list *list);

#endif
