/* ipc_barrier.kern.h - the barrier on the squared distance, for the kernels of kit/pair_energy. */
#ifndef IPC_BARRIER_KERN_H
#define IPC_BARRIER_KERN_H

#include "kit/friction.kern.h"

PAIR_DECLARE(ipc_barrier)
PAIR_DECLARE_MOLLIFIED(ipc_barrier)
FRIC_DECLARE(ipc_barrier)

#endif
