/* start.h - starts from which no step can end free of impacts. */
#ifndef IMPACT_START_H
#define IMPACT_START_H

#include "loom/plugin.h"

/* Refuses a start with pairs of these kinds (LOOM_BIT(LOOM_PAIR_*)) that meet without any motion,
 * the sides of which touch or lie within each other; the message has the worst one.  Pairs at a
 * distance below their thickness are no such pairs: they may only move apart. */
loom_status impacts_check_start(const loom_host *host, const loom_scene *sc, const loom_exec *e,
                                const loom_step *s, uint32_t kinds);

#endif
