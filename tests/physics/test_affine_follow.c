/* Followers of affine bodies are at the means of their nodes wherever a filter leaves positions,
 * and not only behind the services of the core, which put them there on entry. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "linalg/linalg.h"
#include "run/objects/following.h"
#include "run/plugins/columns.h"
#include "run/run_state.h"
#include "run/step/filter.h"
#include "run/step/filter_bound.h"
#include "run/step/step.h"
#include "scene/objects/followers.h"

/* Two boxes far from each other. */
#define BOX(name, place)                                                                    \
  "[solid." name "]\nsize = 0.06 0.05 0.03\nresolution = 3 3 2\nmodel = affine\nstiffness " \
  "= 1e6\ntransform = rotate 1 2 3 20 translate " place "\n"
#define BOXES                                                                           \
  "[run]\nsteps = 4\ndt = 0.01\n[exec]\nbackend = cpu\n" BOX("a", "0 0 0")              \
      BOX("b", "0 1 0") "[collision.all]\nplugin = patch_bvh\n[contact.all]\nplugin = " \
                        "ipc_barrier\n[solver]\n"                                       \
                        "plugin = cholmod_newton\n"

static loom_err err; /* the run keeps it */

static run *open_boxes(const char *const *sets, int num, cfg **c)
{
  static const run_options o = {.steps = -1, .resume_step = -1, .no_log = 1};
  run *r = NULL;
  cr_assert_eq(cfg_parse(&err, BOXES, "test.ini", "/tmp", sets, num, c), LOOM_OK, "%s", err.text);
  cr_assert_eq(run_open(&err, *c, &o, &r), LOOM_OK, "%s", err.text);
  cr_assert_eq(step_once(r, 0), LOOM_OK, "%s", err.text);
  return r;
}

static void close_boxes(run *r, cfg *c)
{
  run_close(r, NULL);
  cfg_free(c);
}

static void *map_host(run *r, loom_buf *b, int access)
{
  void *p;
  cr_assert_eq(buf_map(r->m, NULL, b, access, LOOM_AT_HOST, &p), LOOM_OK);
  return p;
}

static void unmap_host(run *r, loom_buf *b) { cr_assert_eq(buf_unmap(r->m, b), LOOM_OK); }

static loom_buf *new_numbers(run *r, int64_t count)
{
  loom_buf *b = NULL;
  cr_assert_eq(buf_new(r->m, "test", "rows", LOOM_REAL, count, &b), LOOM_OK);
  return b;
}

/* Small numbers in the rows of nodes, wild ones in those of followers */
static void scatter_rows(run *r, loom_buf *b, double size)
{
  const uint8_t *const fixed = map_host(r, r->scene->pub.fixed, LOOM_READ);
  loom_real *const p = map_host(r, b, LOOM_WRITE);
  for (int32_t i = 0; i < 3 * r->scene->pub.num_verts; ++i)
    p[i] = fixed[i / 3] ? 7.0 + i : size * sin(1.7 * i);
  unmap_host(r, b);
  unmap_host(r, r->scene->pub.fixed);
}

/* Largest distance of a follower from the mean of its nodes, m */
static double distance_from_nodes(run *r, loom_buf *b)
{
  const scene_followers *const f = r->scene->followers;
  const int32_t *const id = map_host(r, f->pub.id, LOOM_READ);
  const int32_t *const first = map_host(r, f->pub.first, LOOM_READ);
  const int32_t *const node = map_host(r, f->pub.node, LOOM_READ);
  const loom_real *const weight = map_host(r, f->pub.weight, LOOM_READ);
  const loom_real *const x = map_host(r, b, LOOM_READ);
  double worst = 0.0;
  cr_assert(f->pub.count > 0);
  for (int32_t k = 0; k < f->pub.count; ++k)
    for (int c = 0; c < 3; ++c) {
      double d = x[3 * id[k] + c];
      for (int32_t j = first[k]; j < first[k + 1]; ++j) d -= weight[j] * x[3 * node[j] + c];
      worst = fmax(worst, fabs(d));
    }
  loom_buf *const all[] = {b, f->pub.weight, f->pub.node, f->pub.first, f->pub.id};
  for (size_t k = 0; k < sizeof all / sizeof *all; ++k) unmap_host(r, all[k]);
  return worst;
}

/* A trial of a solver, which says nothing of followers */
static void expect_trial(run *r)
{
  const loom_iterate it = columns_no_iterate(r);
  filter_result out;
  cr_assert_eq(filter_trial(r, &it, &out), LOOM_OK, "%s", err.text);
  cr_assert(out.alpha > 0.0);
  cr_expect(distance_from_nodes(r, r->st.x) < 1e-14, "x: %g m", distance_from_nodes(r, r->st.x));
  cr_expect(distance_from_nodes(r, r->buf.dx) < 1e-14, "the change of x: %g m",
            distance_from_nodes(r, r->buf.dx));
}

Test(affine_follow, after_a_trial_without_a_bound)
{
  cfg *c = NULL;
  run *const r =
      open_boxes((const char *const[]){"contact.all.plugin=none", "filter.line_search=off"}, 2, &c);
  scatter_rows(r, r->buf.dx, 1e-3);
  expect_trial(r);
  close_boxes(r, c);
}

/* Each box is searched by itself; x returns to where the step ended. */
Test(affine_follow, after_a_line_search_of_two_islands)
{
  cfg *c = NULL;
  run *const r = open_boxes((const char *const[]){"filter.line_search=on"}, 1, &c);
  cr_assert_eq(r->islands.num, 2);
  scatter_rows(r, r->buf.dx, 1e-5);
  cr_assert_eq(problem_zero_fixed(r, r->buf.dx), LOOM_OK);
  cr_assert_eq(la_axpby(r->m, &r->exec, -1.0, r->buf.dx, 1.0, r->st.x), LOOM_OK);
  cr_assert_eq(problem_eval(r, r->st.problem, r->st.x, &r->measured.energies, r->st.grad), LOOM_OK);
  cr_assert_eq(buf_copy(r->m, &r->exec, r->st.x_feas, r->st.x), LOOM_OK);
  scatter_rows(r, r->buf.dx, 1e-5);
  expect_trial(r);
  close_boxes(r, c);
}

/* A bound per vertex: each row goes its own share of the way. */
Test(affine_follow, after_a_blend)
{
  cfg *c = NULL;
  run *const r = open_boxes(NULL, 0, &c);
  const int64_t n = r->scene->pub.num_verts;
  loom_buf *const to = new_numbers(r, 3 * n), *const out = new_numbers(r, 3 * n);
  loom_buf *const share = new_numbers(r, n);
  loom_real *const t = map_host(r, share, LOOM_WRITE);
  for (int64_t i = 0; i < n; ++i) t[i] = 0.5 + 0.5 * sin((double)i);
  unmap_host(r, share);
  scatter_rows(r, to, 1e-3);
  cr_assert_eq(filter_blend(r, r->st.x, to, 1.0, share, out), LOOM_OK);
  cr_expect(distance_from_nodes(r, out) < 1e-14, "%g m", distance_from_nodes(r, out));
  buf_free(r->m, to);
  buf_free(r->m, out);
  buf_free(r->m, share);
  close_boxes(r, c);
}
