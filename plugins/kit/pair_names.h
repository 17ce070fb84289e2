/* pair_names.h - the objects of a pair, for messages. */
#ifndef LOOM_KIT_PAIR_NAMES_H
#define LOOM_KIT_PAIR_NAMES_H

#include "loom/plugin.h"

enum { PAIR_NAMES_ROOM = 288 };

/* " of 'sheet'", " of 'sheet' and 'flag'", " of 'sheet' and body table": v as in loom_pairs, ids of
 * bodies and -1 are left out; body: index of the obstacle, -1: none. */
loom_status pair_names_write(const loom_host *host, const loom_exec *e, const loom_scene *sc,
                             const int32_t v[4], int32_t body, char text[PAIR_NAMES_ROOM]);

#endif
