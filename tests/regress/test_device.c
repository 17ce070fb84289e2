/* Requests to a device, counted on the simulated one, and the message when a kernel fails.
 *
 * Two sheets of 10 x 10 vertices fall into each other, and one falls on a body with a distance
 * from networks: the counts do not depend on the size.  A read of the host waits for all that was
 * launched before it; on a real device it costs more than a kernel of that size. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/run_state.h"
#include "run/step/step.h"
#include "support/proc.h"
#include "support/sim.h"

#define SHEET                                                                           \
  "size = 0.045 0.045\nresolution = 10 10\ndensity = 0.2\nmembrane = 300\nk_b = 5e-5\n" \
  "thickness = 1 mm\n"
#define SHEETS                                                                           \
  "[run]\nup_axis = z\ngravity = 0 0 -9.81\ndt = 0.005\nsteps = 6\n[exec]\nbackend = "   \
  "cuda\n[cloth.low]\nmodel = arap+isometric\npattern = regular\npins = corners\n" SHEET \
  "[cloth.high]\nmodel = arap+isometric\npattern = regular\n" SHEET                      \
  "transform = rotate 0 0 1 1 translate 0.0017 0.0013 0.0018\n"                          \
  "velocity = 0 0 -0.02\n[stop]\ntol_abs = 1e-12\ntol_rel = 0\nmax_iters = 15\n"         \
  "[collision.self]\nplugin = patch_bvh\n[log]\naudit = off\ncheckpoint_every = 0\n"
#define NDB                                                                                \
  SHEETS "[contact.all]\nplugin = ndb\nslack = 2e-4\n[filter]\nmin_gap = 5e-5\n[solver]\n" \
         "plugin = ndb_pd\nsubspace = bspline\nspacing = 3\n"

typedef struct counts {
  int64_t steps, iters, detections, contacts, reads[CLOCK_NUM], allocations, launches, bytes;
} counts;

/* Opens the run and makes its steps; counts from the second on.  The status of the failure. */
static loom_status make_steps(const char *text, const char *const *sets, loom_err *err, counts *out)
{
  cfg *c = NULL;
  run *r = NULL;
  int num_sets = 0;
  const run_options o = {.steps = -1, .resume_step = -1, .no_log = 1};
  memset(out, 0, sizeof *out);
  while (sets != NULL && sets[num_sets] != NULL) ++num_sets;
  cr_assert_eq(cfg_parse(err, text, "test.ini", "/tmp", sets, num_sets, &c), LOOM_OK, "%s",
               err->text);
  cr_assert_eq(run_open(err, c, &o, &r), LOOM_OK, "%s", err->text);
  loom_status s = LOOM_OK;
  for (int64_t k = 0; k < r->set.run.steps && s == LOOM_OK; ++k) {
    const int64_t before = exec_traffic_now()->allocations;
    int64_t n[LOOM_NUM_COUNTERS];
    s = step_once(r, k);
    if (k == 0) continue;
    work_read(r, n);
    out->steps++;
    out->iters += r->sum.last_iters;
    out->contacts += r->sum.last_contacts;
    out->detections += n[LOOM_C_DETECT];
    out->launches += n[LOOM_C_LAUNCH];
    out->bytes += n[LOOM_C_BYTES];
    out->allocations += exec_traffic_now()->allocations - before;
    for (int i = 0; i < CLOCK_NUM; ++i) out->reads[i] += r->clock.reads[i];
  }
  run_close(r, NULL);
  cfg_free(c);
  return s;
}

/* ---- errors ---- */

static void fails_with(const char *debug, const char *const *texts)
{
  const char *const sets[] = {debug, NULL};
  loom_err err = {0};
  counts ignored;
  setenv("LOOM_SIM_FAULT", "ndb_pd_settle,40", 1);
  const loom_status s = make_steps(NDB, sets, &err, &ignored);
  unsetenv("LOOM_SIM_FAULT");
  cr_assert_eq(s, LOOM_E_DEVICE, "%d: %s", (int)s, err.text);
  for (; *texts != NULL; ++texts)
    cr_expect(strstr(err.text, *texts) != NULL, "'%s' is not in: %s", *texts, err.text);
}

Test(device, a_failed_kernel_is_named_with_debug)
{
  static const char *const texts[] = {"plugin ndb_pd, iterate()",
                                      "kernel ndb_pd_settle: ", "an injected fault (simErrorFault)",
                                      NULL};
  fails_with("exec.debug=1", texts);
}

Test(device, without_debug_the_message_says_how_to_find_it)
{
  static const char *const texts[] = {"an injected fault (simErrorFault)", "a kernel before it",
                                      "[exec] debug = 1", NULL};
  fails_with("exec.debug=0", texts);
}

/* ---- where `auto` runs ---- */

Test(device, auto_takes_it_for_large_scenes_and_says_so, .init = proc_enter, .fini = proc_leave)
{
  static const char *const from[] = {"exec.cuda_from=201", "exec.cuda_from=200"};
  static const char *const said[] = {"runs on the CPU, not on simulated device, 64 GiB of "
                                     "addresses: 200 vertices, fewer than [exec] "
                                     "cuda_from = 201",
                                     "runs on simulated device, 64 GiB of addresses: 200 vertices, "
                                     "at least [exec] cuda_from = 200"};
  proc_write("sheets.ini", NDB);
  for (int k = 0; k < 2; ++k) {
    proc p;
    proc_loom(&p, LOOM_ARGS("run", "sheets.ini", "-n", "1", "-o", "a.h5", "--overwrite", "--set",
                            "exec.backend=auto", "--set", from[k]));
    cr_assert_eq(p.code, 0, "%s", p.err);
    cr_expect(strstr(p.err, said[k]) != NULL || strstr(p.out, said[k]) != NULL, "%s%s", p.out,
              p.err);
  }
}

/* ---- counts ---- */

static int64_t reads_of(const counts *c, int detecting)
{
  int64_t sum = 0;
  for (int i = 0; i < CLOCK_NUM; ++i)
    if ((i == CLOCK_DETECT) == detecting) sum += c->reads[i];
  return sum;
}

/* Costs of an iteration: two runs that differ in the number of their iterations alone.  Neither
 * number has the beginning and end of a step, or detection. */
typedef struct marginal { /* of each iteration */
  double reads, allocations, launches;
} marginal;

/* Steps of `iters` iterations, and of twice as many. */
static marginal each_iteration(const char *name, const char *text, int iters, counts *few,
                               counts *many)
{
  char half[32], whole[32];
  const char *const sets[2][2] = {{half, NULL}, {whole, NULL}};
  loom_err err = {0};
  snprintf(half, sizeof half, "stop.max_iters=%d", iters);
  snprintf(whole, sizeof whole, "stop.max_iters=%d", 2 * iters);
  cr_assert_eq(make_steps(text, sets[0], &err, few), LOOM_OK, "%s", err.text);
  cr_assert_eq(make_steps(text, sets[1], &err, many), LOOM_OK, "%s", err.text);
  const double n = (double)(many->iters - few->iters);
  const marginal m = {.reads = (double)(reads_of(many, 0) - reads_of(few, 0)) / n,
                      .allocations = (double)(many->allocations - few->allocations) / n,
                      .launches = (double)(many->launches - few->launches) / n};
  cr_assert_gt(n, 20);
  fprintf(stderr, "%s: each iteration %.2f reads, %.2f allocations, %.0f launches;", name, m.reads,
          m.allocations, m.launches);
  fprintf(stderr, " %lld and %lld detections in %lld steps;", (long long)few->detections,
          (long long)many->detections, (long long)many->steps);
  fprintf(stderr, " all reads of a step:");
  for (int i = 0; i < CLOCK_NUM; ++i)
    fprintf(stderr, " %s %.1f", clock_section_name(i),
            (double)many->reads[i] / (double)many->steps);
  fprintf(stderr, "\n");
  return m;
}

/* Reads of one detection with proximity and the way of a step, between the positions that two steps
 * have left; at `margin` m.  The pairs that it finds and lists grow with the margin. */
static int64_t reads_of_detection(const char *const *sets, double margin, int64_t *found)
{
  cfg *c = NULL;
  run *r = NULL;
  loom_err err = {0};
  int num_sets = 0;
  const run_options o = {.steps = -1, .resume_step = -1, .no_log = 1};
  const loom_pairs *pairs;
  while (sets[num_sets] != NULL) ++num_sets;
  cr_assert_eq(cfg_parse(&err, NDB, "test.ini", "/tmp", sets, num_sets, &c), LOOM_OK);
  cr_assert_eq(run_open(&err, c, &o, &r), LOOM_OK, "%s", err.text);
  cr_assert_eq(step_once(r, 0), LOOM_OK, "%s", err.text);
  const loom_query q = {.struct_size = sizeof q,
                        .what = LOOM_DETECT_PROXIMITY | LOOM_DETECT_CCD,
                        .kinds = r->contact[0].kinds,
                        .margin = (loom_real)margin,
                        .x0 = r->st.x_start,
                        .x1 = r->st.x,
                        .progress0 = 1.0,
                        .progress1 = 1.0};
  cr_assert_eq(detect_service(r, &r->contact[0], &q, &pairs), LOOM_OK, "%s", err.text);
  const int64_t before = exec_traffic_now()->reads; /* the second time, with all room made */
  cr_assert_eq(detect_service(r, &r->contact[0], &q, &pairs), LOOM_OK, "%s", err.text);
  const int64_t reads = exec_traffic_now()->reads - before;
  *found = pairs->count;
  run_close(r, NULL);
  cfg_free(c);
  return reads;
}

/* A chunk on the CPU has at most 131,072 candidates; the larger case has ten times as many, and in
 * chunks of that size would wait some 20 times more often. */
Test(device, a_detection_waits_as_often_at_any_size)
{
  static const char *const small[] = {"run.steps=1", "stop.max_iters=2", NULL};
  static const char *const large[] = {"run.steps=1",
                                      "stop.max_iters=2",
                                      "cloth.low.resolution=40 40",
                                      "cloth.high.resolution=40 40",
                                      "cloth.low.size=0.195 0.195",
                                      "cloth.high.size=0.195 0.195",
                                      NULL};
  int64_t few, many;
  const int64_t a = reads_of_detection(small, 1e-3, &few);
  const int64_t b = reads_of_detection(large, 6e-3, &many);
  fprintf(stderr, "a detection: %lld reads with %lld pairs, %lld with %lld\n", (long long)a,
          (long long)few, (long long)b, (long long)many);
  cr_expect_leq(a, 8);
  cr_expect_leq(b, 8);
  cr_expect_gt(few, 100);
  cr_expect_gt(many, 131072);
}

/* Contact is frozen: the cost of an iteration does not depend on the model.  After 120 iterations x
 * stands still, so both runs correct the same ends of steps. */
Test(device, an_iteration_of_pd_bfgs_waits_once)
{
  counts few, many;
  const marginal m =
      each_iteration("pd_bfgs x ipc_barrier x patch_bvh",
                     SHEETS "[contact.all]\nplugin = ipc_barrier\n[filter]\nmin_gap = 5e-5\n"
                            "[solver]\nplugin = pd_bfgs\n",
                     120, &few, &many);
  cr_expect_leq(m.reads, 1.0, "%.2f reads", m.reads);
  cr_expect_leq(m.allocations, 0.0, "%.2f allocations", m.allocations);
  cr_expect_gt(many.contacts, 0);
}

/* An iteration of cama_pcg is a linear solve of some 200 iterations of conjugate gradients: a few
 * looks at these, whether the blocks of contact are the same, how far the cloth has gone since
 * detection, which pairs are active for the log, and the numbers of all. */
#define CAMA SHEETS "[contact.all]\nplugin = cama_repulsion\n[solver]\nplugin = cama_pcg\n"

Test(device, a_linear_solve_of_cama_pcg_waits_a_few_times)
{
  static const char *const one[] = {"stop.max_iters=1", NULL};
  loom_err err = {0};
  counts few, many, c;
  const marginal m = each_iteration("cama_pcg x cama_repulsion x patch_bvh", CAMA, 15, &few, &many);
  cr_expect_leq(m.reads, 6.0, "%.2f reads", m.reads);
  cr_expect_leq(m.allocations, 0.0, "%.2f allocations", m.allocations);
  cr_expect_gt(many.contacts, 0);
  cr_assert_eq(make_steps(CAMA, one, &err, &c), LOOM_OK, "%s", err.text); /* the published method */
  fprintf(stderr, "cama_pcg, one solve a step: %.1f reads outside of detection, %.1f in it\n",
          (double)reads_of(&c, 0) / (double)c.steps, (double)reads_of(&c, 1) / (double)c.steps);
  /* 30, and the boxes of the two sheets at the start and at x, which decide on islands */
  cr_expect_leq(reads_of(&c, 0), 32 * c.steps);
}

/* Networks are asked on the device.  In both runs contact is found as often: work that follows a
 * detection is in no iteration. */
Test(device, an_iteration_on_a_neural_body_waits_once)
{
  const char *const source = getenv("LOOM_SOURCE_DIR");
  char text[4096];
  counts few, many;
  cr_assert(source != NULL);
  snprintf(text, sizeof text,
           "[run]\nup_axis = y\ngravity = 0 -9.81 0\ndt = 0.005\nsteps = 6\n"
           "[exec]\nbackend = cuda\n[cloth.sheet]\nmodel = arap+isometric\npattern = regular\nsize "
           "= 0.2 0.2\nresolution = 10 10\n"
           "density = 0.2\nmembrane = 300\nk_b = 5e-5\nthickness = 1 mm\n"
           "velocity = 0 0 -0.2\ntransform = translate 0 1 0.106\n[body.legs]\nshape = rig\n"
           "rig = lower_body\ndistance = neural\nnetworks = %s/configs/bodies/lower_body.h5\n"
           "animation_file = %s/configs/animations/walk.txt\n[collision.body]\nplugin = sdf\n"
           "[contact.all]\nplugin = ndb\nslack = 2e-4\n[filter]\nmin_gap = 5e-5\n[solver]\n"
           "plugin = ndb_pd\nsubspace = bspline\nspacing = 3\n[stop]\ntol_abs = 1e-12\n"
           "tol_rel = 0\nmax_iters = 15\n[log]\naudit = off\ncheckpoint_every = 0\n",
           source, source);
  const marginal m = each_iteration("ndb_pd x ndb x sdf, neural body", text, 15, &few, &many);
  cr_assert_eq(few.detections, many.detections);
  cr_expect_leq(m.reads, 1.0, "%.2f reads", m.reads);
  cr_expect_leq(m.allocations, 0.0, "%.2f allocations", m.allocations);
  cr_expect_gt(many.contacts, 0, "%lld contacts", (long long)many.contacts);
}

/* The control: with [exec] debug each number is read where it arises. */
Test(device, an_iteration_that_reads_at_once_waits_often)
{
  static const char *const debug[] = {"exec.debug=1", "run.steps=3", NULL};
  loom_err err = {0};
  counts c;
  cr_assert_eq(make_steps(NDB, debug, &err, &c), LOOM_OK, "%s", err.text);
  cr_expect_gt(reads_of(&c, 0), 5 * c.iters);
}

Test(device, an_iteration_of_ndb_pd_waits_once)
{
  counts few, many;
  const marginal m = each_iteration("ndb_pd x ndb x patch_bvh", NDB, 15, &few, &many);
  cr_expect_leq(m.reads, 1.0, "%.2f reads", m.reads);
  cr_expect_gt(many.contacts, 100, "%lld contacts", (long long)many.contacts);
  cr_expect_eq(few.allocations, 0);
  cr_expect_eq(many.allocations, 0);
}

/* Where a device takes a thread for each number of a block, the bytes of the block are declared
 * once. */
Test(device, a_step_moves_the_bytes_of_the_processor)
{
  static const char *const few[] = {"run.steps=3", "stop.max_iters=3", NULL};
  static const char *const host[] = {"run.steps=3", "stop.max_iters=3", "exec.backend=cpu", NULL};
  loom_err err = {0};
  counts device, cpu;
  const char *const text = SHEETS "[contact.all]\nplugin = penalty\n[solver]\nplugin = vbd\n";
  cr_assert_eq(make_steps(text, few, &err, &device), LOOM_OK, "%s", err.text);
  cr_assert_eq(make_steps(text, host, &err, &cpu), LOOM_OK, "%s", err.text);
  cr_expect_gt(cpu.contacts, 0);
  cr_expect_eq(device.contacts, cpu.contacts);
  const double share = (double)device.bytes / (double)cpu.bytes;
  cr_expect(share > 0.95 && share < 1.1, "the device moves %.3f times the bytes", share);
}
