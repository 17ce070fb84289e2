/* install_prefix.h - the folder that loom is installed to. */
#ifndef LOOM_INSTALL_PREFIX_H
#define LOOM_INSTALL_PREFIX_H

#include <stddef.h>

/* <prefix> of <prefix>/bin/loom, the running program, into prefix [len]; 0: it cannot be told. */
int install_prefix(char *prefix, size_t len);

#endif
