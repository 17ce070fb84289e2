/* elf_check.h - is a file a whole shared object of this machine?  Asked before dlopen. */
#ifndef LOOM_ELF_CHECK_H
#define LOOM_ELF_CHECK_H

#include "core/err.h"

/* LOOM_E_ABI or LOOM_E_IO with the reason (without the path) if the file at `path` is not a
 * regular, readable, complete ELF shared object for this machine.  dlopen of a truncated file
 * can end in SIGBUS, since it maps segments that the file does not have. */
loom_status elf_check(loom_err *err, const char *path);

#endif
