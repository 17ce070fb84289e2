/* exec.c: opening places, fetching results, and a polite refusal where there is no device. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <omp.h>
#include <string.h>
#include <time.h>

#include "linalg/linalg.h"
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
  cr_assert_eq(exec_fetch(&err, &e, 62, 3, v), LOOM_E_ARG);
  cr_assert_eq(exec_fetch(&err, &e, -1, 1, v), LOOM_E_ARG);
  exec_close(&e);
  cr_assert(e.scratch == NULL && e.result == NULL);
}

Test(exec, zero_threads_means_what_openmp_would_take)
{
  loom_err err = {0};
  loom_exec e;
  cr_assert_eq(exec_open(&err, LOOM_CPU, 0, 1, 0, &e), LOOM_OK);
  cr_assert_eq(e.num_threads, omp_get_max_threads());
  exec_close(&e);
  omp_set_num_threads(3);
  cr_assert_eq(exec_open(&err, LOOM_CPU, 0, 1, 0, &e), LOOM_OK);
  cr_assert_eq(e.num_threads, 3);
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

static loom_status return_given_status(const loom_exec *q, const void *args, lk_int n,
                                       lk_real *result)
{
  (void)q, (void)n, (void)result;
  return *(const loom_status *)args;
}

Test(exec, failed_launches_are_explained)
{
  const lk_entry k = {"pretend", sizeof(loom_status), 0, {return_given_status, NULL}, 0};
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

static int count_threads(void)
{
  int n = 0;
  DIR *const d = opendir("/proc/self/task");
  if (d == NULL) return 0;
  for (const struct dirent *e; (e = readdir(d)) != NULL;) n += e->d_name[0] != '.';
  closedir(d);
  return n;
}

/* Criterion's own threads come and go while a test starts: the number that stays for 50 ms. */
static int count_settled_threads(void)
{
  const struct timespec wait = {.tv_nsec = 10 * 1000 * 1000};
  int n = count_threads();
  for (int same = 0; same < 5;) {
    nanosleep(&wait, NULL);
    const int now = count_threads();
    same = now == n ? same + 1 : 0;
    n = now;
  }
  return n;
}

/* Vectors of a sheet of 31 x 31 vertices are not worth waking a thread, vectors of 200 x 200 are.
 */
Test(exec, short_vectors_stay_on_one_thread)
{
  loom_err err = {0};
  loom_exec e;
  mem *m;
  loom_buf *x, *y;
  double dot;
  const int own = count_settled_threads();
  if (own == 0) cr_skip_test("there is no /proc");
  cr_assert_eq(mem_new(&err, 0, &m), LOOM_OK);
  cr_assert_eq(exec_open(&err, LOOM_CPU, 2, 1, 0, &e), LOOM_OK);
  for (int n = 31; n <= 200; n += 169) {
    cr_assert_eq(buf_new(m, "test", "x", LOOM_REAL, 3 * n * n, &x), LOOM_OK);
    cr_assert_eq(buf_new(m, "test", "y", LOOM_REAL, 3 * n * n, &y), LOOM_OK);
    cr_assert_eq(la_axpby(m, &e, 2, x, 3, y), LOOM_OK);
    cr_assert_eq(la_dot(m, &e, x, y, &dot), LOOM_OK);
    cr_assert_eq(count_settled_threads(), own + (n == 31 ? 0 : 1), "%d", n);
    buf_free(m, x);
    buf_free(m, y);
  }
  exec_close(&e);
  mem_free(m);
}
