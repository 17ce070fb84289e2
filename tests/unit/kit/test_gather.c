/* test_gather.c - kit/gather: sums over the corners of pairs against a plain loop, which adds in
 * the order of the pairs, too; so the bits are the same, for any number of threads. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kit/gather.h"
#include "support/test_host.h"

enum { N = 40, M = 3000, BODY = 7 };

typedef struct pairs {
  int32_t v[4 * M];
  uint8_t fixed[N];
  int64_t active[M + 1]; /* exclusive sums of 1 for every third pair */
  uint8_t live[M];       /* the same pairs */
} pairs;

/* Vertices of the scene, of bodies behind them, and none. */
static void fill_random_pairs(pairs *p)
{
  uint64_t seed = 3;
  for (int i = 0; i < 4 * M; ++i)
    p->v[i] = (int32_t)floor((th_random(&seed) + 1.0) / 2.0 * (N + BODY + 1)) - 1;
  for (int i = 0; i < N; ++i) p->fixed[i] = i % 5 == 0;
  p->active[0] = 0;
  for (int j = 0; j < M; ++j) p->active[j + 1] = p->active[j] + (p->live[j] = j % 3 == 0);
}

/* The force of pair j on its corner b along c; the plain sums. */
static loom_real force_of(int j, int b, int c)
{
  return (loom_real)sin(1.0 + j + 0.7 * b + 2.0 * c);
}

static void sum_pair_corners(const pairs *p, int leave_out_fixed, int only_active, loom_real *out)
{
  memset(out, 0, 3 * N * sizeof *out);
  for (int j = 0; j < M; ++j)
    for (int b = 0; b < 4; ++b) {
      const int32_t i = p->v[4 * j + b];
      if (i < 0 || i >= N || (leave_out_fixed && p->fixed[i])) continue;
      if (only_active && j % 3 != 0) continue;
      for (int c = 0; c < 3; ++c) out[3 * i + c] += force_of(j, b, c);
    }
}

/* Forces of pairs that do not count are NaN: they must not be read. */
static void write_forces(test_host *t, gather *g, const pairs *p, int leave_out_fixed,
                         int only_active)
{
  int64_t *const at = th_get(t, g->at);
  loom_real *const f = calloc((size_t)(3 * g->count) + 1, sizeof *f);
  for (int j = 0; j < M; ++j) {
    int64_t k = at[j];
    for (int b = 0; b < 4; ++b) {
      const int32_t i = p->v[4 * j + b];
      if (i < 0 || i >= N || (leave_out_fixed && p->fixed[i])) continue;
      for (int c = 0; c < 3; ++c)
        f[3 * k + c] = only_active && j % 3 != 0 ? (loom_real)NAN : force_of(j, b, c);
      ++k;
    }
    cr_assert_eq(k, at[j + 1], "pair %d has %d corners", j, (int)(k - at[j]));
  }
  th_put(t, g->force, f);
  free(f);
  free(at);
}

/* out [n][3] += the sums per component, as a device makes them. */
static void add_components(test_host *t, const gather *g, loom_buf *active, loom_buf *live,
                           loom_buf *out)
{
  static const lk_entry component = LK_ENTRY(gather_sum);
  plug_maps m = plug_maps_on(&t->host, &t->exec);
  const gather_sum_args a = {.first = plug_read(&m, g->first),
                             .place = plug_read(&m, g->place),
                             .owner = plug_read(&m, g->owner),
                             .active = plug_read(&m, active),
                             .live = plug_read(&m, live),
                             .force = plug_read(&m, g->force),
                             .out = plug_rdwr(&m, out),
                             .split = 1};
  cr_assert_eq(plug_launch(&m, &component, &a, 3 * N, NULL), LOOM_OK);
}

Test(gather, sums_are_those_of_a_plain_loop)
{
  static pairs p;
  static loom_real want[3 * N];
  fill_random_pairs(&p);
  for (int threads = 1; threads <= 3; ++threads)
    for (int way = 0; way < 6; ++way) {
      const int leave_out = way & 1, only_active = way >> 1 == 1, only_live = way >> 1 == 2;
      test_host t;
      gather g;
      th_open(&t, threads, 1);
      loom_buf *const v = th_buf(&t, LOOM_I32, 4 * M, p.v), *const out =
                                                                th_buf(&t, LOOM_REAL, 3 * N, NULL);
      loom_buf *const other = th_buf(&t, LOOM_REAL, 3 * N, NULL);
      loom_buf *const fixed = th_buf(&t, LOOM_U8, N, p.fixed);
      loom_buf *const active = th_buf(&t, LOOM_I64, M + 1, p.active);
      loom_buf *const live = th_buf(&t, LOOM_U8, M, p.live);
      cr_assert_eq(gather_create(&g, &t.host, &t.exec), LOOM_OK);
      cr_assert_eq(gather_sort(&g, v, leave_out ? fixed : NULL, N, M), LOOM_OK);
      write_forces(&t, &g, &p, leave_out, only_active || only_live);
      cr_assert_eq(gather_add(&g, only_active ? active : NULL, only_live ? live : NULL, out),
                   LOOM_OK);
      add_components(&t, &g, only_active ? active : NULL, only_live ? live : NULL, other);
      loom_real *const got = th_get(&t, out), *const components = th_get(&t, other);
      sum_pair_corners(&p, leave_out, only_active || only_live, want);
      cr_assert(memcmp(got, want, sizeof want) == 0, "way %d, %d threads", way, threads);
      cr_assert(memcmp(components, want, sizeof want) == 0, "way %d, components", way);
      free(got);
      free(components);
      th_close(&t);
    }
}
