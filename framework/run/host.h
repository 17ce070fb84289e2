/* host.h - the services of loom/host.h, and what they charge. */
#ifndef LOOM_RUN_HOST_H
#define LOOM_RUN_HOST_H

#include "run/instances.h"

void host_attach(instance *in);
/* Charge work, LOOM_C_*, to the method; nothing while the core measures.  Services charge
 * what plugins ask for, and the core what it does in their place. */
void host_charge(run *r, int counter, int64_t n);

#endif
