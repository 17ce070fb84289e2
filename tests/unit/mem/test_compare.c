/* Kernels compared between CPU and device (LOOM_KERNEL_COMPARE): an error on one of them is
 * found and named, different rounding is not. */
#include <stdio.h>
#include <unistd.h>

#include "support/bufs.h"
#include "unit/mem/compare.kern.h"

enum { N = 1000 };

typedef struct compared {
  mem *m;
  loom_exec e;
  loom_buf *in, *out, *place, *box;
  char file[64], why[LOOM_WHY_LEN], told[1024];
} compared;

static void open_comparison(compared *c)
{
  char why[256];
  loom_err err = {0};
  loom_real in[N];
  memset(c, 0, sizeof *c);
  if (exec_cuda_devices(why, sizeof why) == 0) cr_skip_test("no CUDA device: %s", why);
  snprintf(c->file, sizeof c->file, "/tmp/loom_compare_%d.txt", (int)getpid());
  setenv("LOOM_KERNEL_COMPARE", c->file, 1);
  cr_assert_eq(exec_open(&err, LOOM_CUDA, 1, 1, 1, &c->e), LOOM_OK, "%s", err.text);
  c->e.why = c->why;
  c->m = t_mem(0);
  for (int i = 0; i < N; ++i) in[i] = (loom_real)(1.5 + 1.0 / (i + 3));
  c->in = t_buf(c->m, LOOM_REAL, N, in);
  c->out = t_buf(c->m, LOOM_REAL, N, NULL);
  c->place = t_buf(c->m, LOOM_I32, N, NULL);
  c->box = t_buf(c->m, LOOM_U8, sizeof(compare_box), NULL);
}

static void fill_box(compared *c, const loom_real *in, loom_real *out)
{
  void *p;
  T_OK(c->m, buf_map(c->m, NULL, c->box, LOOM_WRITE, LOOM_AT_HOST, &p));
  *(compare_box *)p = (compare_box){.in = in, .out = out};
  T_OK(c->m, buf_unmap(c->m, c->box));
}

static loom_status launch_compared(compared *c, const lk_entry *k, int reduces)
{
  buf_maps q = {.m = c->m, .e = &c->e};
  const loom_real *const in = buf_maps_add(&q, c->in, LOOM_READ);
  loom_real *const out = buf_maps_add(&q, c->out, LOOM_RDWR);
  fill_box(c, in, out);
  const compare_args a = {.in = in,
                          .box = buf_maps_add(&q, c->box, LOOM_READ),
                          .out = out,
                          .place = buf_maps_add(&q, c->place, LOOM_RDWR)};
  T_OK(c->m, q.status);
  const loom_status s = lk_run(k, &c->e, &a, N, reduces ? c->e.result : NULL);
  T_OK(c->m, buf_maps_end(&q));
  FILE *const f = fopen(c->file, "r");
  c->told[f != NULL ? fread(c->told, 1, sizeof c->told - 1, f) : 0] = '\0';
  if (f != NULL) fclose(f);
  unlink(c->file);
  return s;
}

static void close_comparison(compared *c)
{
  mem_free(c->m);
  exec_close(&c->e);
}

static void expect_difference(const lk_entry *k, int reduces, const char *what)
{
  char line[256];
  compared c;
  open_comparison(&c);
  cr_expect_eq(launch_compared(&c, k, reduces), LOOM_E_DEVICE, "%s passes", k->name);
  cr_expect(strstr(c.why, k->name) != NULL && strstr(c.why, what) != NULL, "%s", c.why);
  snprintf(line, sizeof line, "differs %s: ", k->name);
  cr_expect(strncmp(c.told, line, strlen(line)) == 0, "%s", c.told);
  close_comparison(&c);
}

static void expect_same_results(const lk_entry *k, int reduces)
{
  char line[256];
  compared c;
  open_comparison(&c);
  cr_expect_eq(launch_compared(&c, k, reduces), LOOM_OK, "%s", c.why);
  snprintf(line, sizeof line, "same %s\n", k->name);
  cr_expect_str_eq(c.told, line);
  /* a second one is compared, but not told again */
  cr_expect_eq(launch_compared(&c, k, reduces), LOOM_OK, "%s", c.why);
  cr_expect_str_eq(c.told, "");
  close_comparison(&c);
}

Test(compare, what_is_right_passes)
{
  const lk_entry right = LK_ENTRY(compare_right), sum = LK_ENTRY(compare_sum);
  expect_same_results(&right, 0);
  expect_same_results(&sum, 1);
}

/* Were they not, the CPU would write where the device does, and leave its own copy as it was. */
Test(compare, addresses_in_structs_are_followed)
{
  const lk_entry k = LK_ENTRY(compare_follow);
  expect_same_results(&k, 0);
}

Test(compare, a_bit_of_one_item_is_found)
{
  const lk_entry k = LK_ENTRY(compare_wrong);
  expect_difference(&k, 0, "buffer 'b' of test, item 5: ");
}

Test(compare, an_integer_is_found)
{
  const lk_entry k = LK_ENTRY(compare_misplaced);
  expect_difference(&k, 0, "buffer 'b' of test, item 0: 1 on the device, 0 on the CPU");
}

Test(compare, elements_that_depend_on_each_other_are_found)
{
  const lk_entry k = LK_ENTRY(compare_race);
  expect_difference(&k, 0, "buffer 'b' of test, item ");
}

Test(compare, a_sum_that_leaves_out_an_element_is_found)
{
  const lk_entry k = LK_ENTRY(compare_less);
  expect_difference(&k, 1, "result: ");
}

/* A real device may round as the CPU does. */
#ifdef LK_SIMULATED
Test(compare, rounding_is_allowed_where_it_is_declared)
{
  const lk_entry same = LK_ENTRY(compare_log), near = LK_ENTRY_NEAR(compare_log, 1);
  expect_difference(&same, 0, "buffer 'b' of test, item 0: ");
  expect_same_results(&near, 0);
}
#endif
