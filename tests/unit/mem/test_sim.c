/* test_sim.c - the simulated device keeps its memory apart from the host's.  Skipped in builds
 * without LOOM_CUDA=SIMULATED. */
#include <signal.h>

#include "linalg/prim.kern.h"
#include "support/bufs.h"

#ifdef LK_SIMULATED

static const lk_entry k_compose = LK_ENTRY(prim_compose);

static loom_exec open_sim_device(void)
{
  loom_err err = {0};
  loom_exec e;
  cr_assert_eq(exec_open(&err, LOOM_CUDA, 1, 1, 1, &e), LOOM_OK, "%s", err.text);
  return e;
}

Test(sim, refuses_addresses_of_the_host)
{
  loom_exec e = open_sim_device();
  mem *const m = t_mem(0);
  const int32_t two[2] = {1, 0};
  int32_t there[2] = {7, 7};
  loom_buf *const first = t_buf(m, LOOM_I32, 2, two), *const out = t_buf(m, LOOM_I32, 2, NULL);
  void *p, *q;
  T_OK(m, buf_map(m, &e, first, LOOM_READ, LOOM_AT_EXEC, &p));
  T_OK(m, buf_map(m, &e, out, LOOM_WRITE, LOOM_AT_EXEC, &q));
  prim_compose_args a = {.first = p, .second = p, .out = q};
  cr_expect_eq(lk_run(&k_compose, &e, &a, 2, NULL), LOOM_OK);
  a.out = there;
  cr_expect_eq(lk_run(&k_compose, &e, &a, 2, NULL), LOOM_E_DEVICE);
  cr_expect_eq(there[0], 7);
  T_OK(m, buf_unmap(m, out));
  T_OK(m, buf_unmap(m, first));
  int32_t *const got = t_read(m, out);
  cr_expect_eq(got[0], 0);
  cr_expect_eq(got[1], 1);
  free(got);
  mem_free(m);
  exec_close(&e);
}

Test(sim, ends_a_host_that_follows_a_device_pointer, .signal = SIGSEGV)
{
  loom_exec e = open_sim_device();
  mem *const m = t_mem(0);
  loom_buf *const b = t_buf(m, LOOM_I32, 2, NULL);
  void *p;
  T_OK(m, buf_map(m, &e, b, LOOM_RDWR, LOOM_AT_EXEC, &p));
  *(volatile int32_t *)p = 1;
}

#else

Test(sim, is_built) { cr_skip_test("built without -DLOOM_CUDA=SIMULATED"); }

#endif
