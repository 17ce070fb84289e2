/* exec.c: opening places, fetching results, and a polite refusal where there is no device. */
#include <criterion/criterion.h>
#include <omp.h>
#include <string.h>

#include "mem/mem.h"

Test(exec, cpu_opens_with_threads_and_scratch)
{
  loom_err err = {0};
  loom_exec e;
  double v[3] = {0};
  cr_assert_eq(exec_open(&err, LOOM_CPU, 3, 1, 0, &e), LOOM_OK, "%s", err.text);
  cr_assert_eq(e.struct_size, sizeof e);
  cr_assert_eq(e.backend, LOOM_CPU);
  cr_assert_eq(e.num_threads, 3);
  cr_assert_eq(e.device, -1);
  cr_assert_eq(e.deterministic, 1);
  cr_assert_geq(e.scratch_len, LK_MAX_ELEMS / LK_CHUNK);
  e.scratch[e.scratch_len - 1] = 1;
  for (int i = 0; i < LOOM_NUM_RESULTS; ++i) e.result[i] = (loom_real)i / 2;
  cr_assert_eq(exec_fetch(&err, &e, 61, 3, v), LOOM_OK);
  cr_assert_eq(v[0], 30.5);
  cr_assert_eq(v[2], 31.5);
  cr_assert_eq(exec_sync(&err, &e), LOOM_OK);
  cr_assert_eq(exec_fetch(&err, &e, 62, 3, v), LOOM_E_ARG);
  cr_assert_eq(exec_fetch(&err, &e, -1, 1, v), LOOM_E_ARG);
  exec_close(&e);
  cr_assert(e.scratch == NULL && e.result == NULL);
}

Test(exec, zero_threads_means_all_cores)
{
  loom_err err = {0};
  loom_exec e;
  cr_assert_eq(exec_open(&err, LOOM_CPU, 0, 1, 0, &e), LOOM_OK);
  cr_assert_eq(e.num_threads, omp_get_num_procs());
  exec_close(&e);
}

Test(exec, bad_arguments)
{
  loom_err err = {0};
  loom_exec e;
  cr_assert_eq(exec_open(&err, LOOM_CPU, -1, 1, 0, &e), LOOM_E_ARG);
  exec_close(&e);
  cr_assert_eq(exec_open(&err, 7, 1, 1, 0, &e), LOOM_E_ARG);
  cr_assert(strstr(err.text, "backend 7") != NULL);
  exec_close(&e);
}

Test(exec, no_device_is_said_politely)
{
  char why[256] = "", name[256] = "?";
  loom_err err = {0};
  loom_exec e;
  const int n = exec_cuda_devices(why, sizeof why);
  if (n > 0) {
    exec_cuda_name(0, name, sizeof name);
    cr_skip_test("a CUDA device is here: %s", name);
  }
  cr_log_info("reason given: %s", why);
  cr_assert_gt(strlen(why), 10);
  exec_cuda_name(0, name, sizeof name);
  cr_assert_str_empty(name);
  cr_assert_eq(exec_open(&err, LOOM_CUDA, 1, 1, 0, &e), LOOM_E_DEVICE);
  cr_assert(strstr(err.text, why) != NULL, "%s", err.text);
  cr_assert(strstr(err.text, "backend cpu") != NULL, "the remedy is named: %s", err.text);
  exec_close(&e);
}

static loom_status pretend(const loom_exec *q, const void *args, lk_int n, lk_real *result)
{
  (void)q, (void)n, (void)result;
  return *(const loom_status *)args;
}

Test(exec, failed_launches_are_explained)
{
  const lk_entry k = {"pretend", sizeof(loom_status), {pretend, NULL}};
  loom_err err = {0};
  loom_exec e;
  int64_t launches = 0;
  loom_status give = LOOM_OK;
  cr_assert_eq(exec_open(&err, LOOM_CPU, 1, 1, 0, &e), LOOM_OK);
  e.launches = &launches;
  cr_assert_eq(exec_run(&err, &e, &k, &give, 5, NULL), LOOM_OK);
  cr_assert_eq(launches, 1);
  give = LOOM_E_DEVICE;
  cr_assert_eq(exec_run(&err, &e, &k, &give, 5, NULL), LOOM_E_DEVICE);
  cr_assert(strstr(err.text, "kernel pretend: ") != NULL);
  cr_assert_eq(exec_run(&err, &e, &k, &give, INT64_C(1) << 31, NULL), LOOM_E_ARG);
  cr_assert(strstr(err.text, "2147483648 elements") != NULL, "%s", err.text);
  e.backend = LOOM_CUDA;
  cr_assert_eq(exec_run(&err, &e, &k, &give, 5, NULL), LOOM_E_UNSUPPORTED);
  e.backend = LOOM_CPU;
  exec_close(&e);
}
