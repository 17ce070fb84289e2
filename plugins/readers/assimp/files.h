/* files.h - which files Assimp may open: the model, and regular files in its folder. */
#ifndef LOOM_ASSIMP_FILES_H
#define LOOM_ASSIMP_FILES_H

#include <assimp/cfileio.h>
#include <limits.h>

typedef struct files {
  struct aiFileIO io;    /* first: callbacks get its address */
  const char *path;      /* of the model */
  char shown[PATH_MAX];  /* the name for Assimp: folder and stem, with a suffix by the contents of
                          * the file, from which it chooses its importer */
  char folder[PATH_MAX]; /* resolved */
  size_t prefix;         /* bytes of `shown` before the last component */
  int is_xml;            /* the model is Collada */
  char *text;            /* in the place of the model, NULL: the file, or XML not read yet */
  size_t len;
  char refused[256]; /* the first file that was asked for and may not be read, or "" */
  const char *why;   /* it may not */
} files;

/* 0: the folder cannot be resolved. */
int files_open(files *f, const char *path, const char *suffix);
/* Assimp wants the words of a text of STL in small letters. */
void files_lower(files *f);
void files_close(files *f);

#endif
