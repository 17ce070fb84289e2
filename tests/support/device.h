/* device.h - where the runs of a test work: LOOM_TEST_DEVICE=cuda moves runs that name the CPU in
 * their config, `[exec] backend = cpu`, to the device (a simulated one in `./loom test simulated`).
 */
#ifndef TEST_DEVICE_H
#define TEST_DEVICE_H

#include <stdlib.h>
#include <string.h>

#define ON_CUDA "exec.backend=cuda" /* as a word of --set */

static inline int test_on_cuda(void)
{
  const char *const device = getenv("LOOM_TEST_DEVICE");
  return device != NULL && strcmp(device, "cuda") == 0;
}

#endif
