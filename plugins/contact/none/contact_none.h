/* contact_none.h - the contact half of none.so, exported by collision/none/none.c. */
#ifndef CONTACT_NONE_H
#define CONTACT_NONE_H

#include "loom/plugin.h"

extern const loom_plugin contact_none_plugin;

#endif
