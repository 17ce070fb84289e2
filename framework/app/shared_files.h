/* shared_files.h - `loom describe materials`: files of the search path that any configuration may
 * name. */
#ifndef LOOM_SHARED_FILES_H
#define LOOM_SHARED_FILES_H

/* Is it materials, methods, scenes or animations? */
int shared_files_known(const char *kind);
/* Prints a line for each file: its name, its first comment, its path.  The exit code. */
int shared_files_print(const char *kind, int json);

#endif
