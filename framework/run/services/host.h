/* host.h - the services of loom/host.h. */
#ifndef LOOM_RUN_HOST_H
#define LOOM_RUN_HOST_H

#include "run/plugins/instances.h"

void host_attach(instance *in);

#endif
