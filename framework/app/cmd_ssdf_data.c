/* cmd_ssdf_data.c - `loom ssdf-data CONFIG -o FILE.h5`: training data for networks of a body. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "app/log_tools.h"
#include "config/config.h"
#include "core/seconds.h"
#include "ssdf/data.h"

static const char usage[] =
    "usage: loom ssdf-data CONFIG -o FILE.h5 [--set section.key=value ...]\n"
    "Samples the signed distance to a body in many poses, region by region, for networks to be\n"
    "trained on: exact distances to the skin, without the skin that is buried in folds.\n"
    "After an interruption the same command continues; finished samples are in FILE.h5.part.\n"
    "Data of this command is replaced, any other file refused, and a link is not written "
    "through.\n";

enum { MAX_SETS = 64 };

static void print_sample_progress(const ssdf_plan *p, int64_t done, int64_t total, int32_t region,
                                  int last)
{
  static double next;
  const double t = seconds_now();
  if (!last && t < next) return;
  next = t + 2;
  fprintf(stderr, "loom: ssdf-data: %s, %" PRId64 " of %" PRId64 " poses (%d %%)\n",
          p->body.joint[p->regions[region].spec.joint].name, done, total,
          (int)(100 * done / (total > 0 ? total : 1)));
}

static loom_status sample_all(loom_err *err, const ssdf_plan *p, ssdf_part *f)
{
  int64_t total = 0, done = 0;
  for (int32_t r = 0; r < p->num; ++r) total += p->regions[r].num_poses + p->num_tests;
  for (int32_t r = 0; r < p->num; ++r) {
    const ssdf_plan_region *const g = &p->regions[r];
    for (int64_t k = 0; k < g->num_poses + p->num_tests; ++k, ++done) {
      double angles[SSDF_MAX_DOFS];
      ssdf_samples s;
      print_sample_progress(p, done, total, r, 0);
      if (ssdf_part_has(f, r, k)) continue;
      ssdf_plan_angles(p, r, k, angles);
      LOOM_TRY(k < g->num_poses
                   ? ssdf_sample_training(err, &g->poser, &g->box, &p->how, angles, k, &s)
                   : ssdf_sample_test(err, &g->poser, &g->box, &p->how, angles, k, &s));
      const loom_status st = ssdf_part_add(err, f, r, k, &s);
      ssdf_samples_free(&s);
      LOOM_TRY(st);
    }
  }
  print_sample_progress(p, done, total, p->num - 1, 1);
  return LOOM_OK;
}

static loom_status generate_ssdf_data(loom_err *err, cfg *c, const char *file)
{
  ssdf_plan p;
  ssdf_part f = {.fd = -1};
  LOOM_TRY(ssdf_plan_open(err, c, &p));
  loom_status s = ssdf_data_target(err, file);
  if (s == LOOM_OK) s = ssdf_part_open(err, file, &p, &f);
  if (s == LOOM_OK) s = sample_all(err, &p, &f);
  if (s == LOOM_OK) s = ssdf_data_write(err, file, &p, &f);
  if (s == LOOM_OK) {
    int64_t samples = 0;
    for (int64_t k = 0; k < f.num; ++k) samples += f.done[k].count;
    unlink(f.path);
    printf("%s: %d regions, %" PRId64 " poses, %" PRId64 " samples\n", file, p.num, f.num, samples);
  }
  ssdf_part_close(&f);
  ssdf_plan_close(&p);
  return s;
}

int cmd_ssdf_data(int argc, char **argv)
{
  static const struct option options[] = {
      {"help", no_argument, NULL, 'h'}, {"set", required_argument, NULL, 's'}, {NULL, 0, NULL, 0}};
  const char *out = NULL, *sets[MAX_SETS];
  int num_sets = 0;
  loom_err err = {0};
  cfg *c = NULL;
  optind = 0;
  opterr = 0;
  for (int k; (k = getopt_long(argc, argv, ":ho:", options, NULL)) != -1;) {
    switch (k) {
    case 'o':
      out = optarg;
      break;
    case 's':
      if (num_sets == MAX_SETS) return tool_usage("ssdf-data", "too many --set");
      sets[num_sets++] = optarg;
      break;
    default:
      return tool_help_or_fault(argv, k, usage);
    }
  }
  if (argc - optind != 1) return tool_usage("ssdf-data", "give one file, a configuration");
  if (out == NULL) return tool_usage("ssdf-data", "say -o FILE.h5, the data to write");
  loom_status s = cfg_load(&err, argv[optind], sets, num_sets, &c);
  if (s == LOOM_OK) s = generate_ssdf_data(&err, c, out);
  cfg_free(c);
  return s == LOOM_OK ? EXIT_FINE : cmd_fail(&err);
}
