/* cmd_verify.c - `loom verify FILE`: an independent audit of every stored frame. */
#include <inttypes.h>
#include <stdlib.h>

#include "app/audit_frame.h"
#include "app/log_tools.h"

static const char usage[] =
    "usage: loom verify FILE.h5 [--frames A:B] [--max-pairs N] [--min-area SHARE]\n"
    "                   [--trajectory [--tolerance M]]\n"
    "Checks every stored frame for\n"
    "  vertices that are NaN or infinite,\n"
    "  triangles collapsed below SHARE of their rest area (a triangle in space cannot be\n"
    "  inverted, only collapse) and tetrahedra of zero or negative volume,\n"
    "  intersections of the mesh with itself and with the meshes of bodies at their pose of\n"
    "  that frame, decided exactly; touching counts,\n"
    "  edges and triangles inside bodies of closed form, by the smallest signed distance of\n"
    "  each; depths below rounding (4.8e-7 of its coordinates) count as outside.\n"
    "Exit code 3 if there are any.  The number of vertices inside bodies of closed form, and\n"
    "their depth, are reported, too.\n"
    "  --frames A:B      frames A to B, both included; also N, A:, :B and last\n"
    "  --max-pairs N     pairs printed per frame, default 10\n"
    "  --min-area SHARE  default 1e-4\n"
    "  --trajectory      also pairs that pass through each other between a frame and the next,\n"
    "                    all vertices moving on straight lines; none is missed, and each reported\n"
    "                    pair came nearer than 1.8 times the tolerance; a triangle that is\n"
    "                    anywhere on its way inside a closed form counts, too\n"
    "  --tolerance M     of --trajectory, m, default 1e-9\n";

enum { OPT_FRAMES = 256, OPT_PAIRS, OPT_AREA, OPT_TRAJECTORY, OPT_TOLERANCE };

typedef struct verify_options {
  const char *path;
  frame_range frames;
  double max_pairs, min_area;
  int trajectory;
  double tolerance; /* m */
} verify_options;

typedef struct verify_totals {
  audit_result sum;
  int64_t bad_frames, depth_frame;
  int depth_body;
  int64_t most_inside, inside_frames;
  int64_t start_frames; /* frames with intersections of the start */
  entry deepest;        /* edge or triangle */
  int64_t entry_frame;
  int64_t passes, bad_ways, ways;
} verify_totals;

/* Prints edges and triangles inside bodies, in a frame or on the way between two times. */
static void print_entries(const audit *a, int64_t found, const double *time)
{
  const int64_t shown = found < a->max_pairs ? found : a->max_pairs;
  for (int64_t i = 0; i < shown; ++i) {
    const entry *const e = &a->entries.all[i];
    char text[256];
    entry_describe(e, a->bodies[e->body].name, text, sizeof text);
    printf("  %s", text);
    if (time != NULL) printf(" at time %.9g s", time[0] + e->time * (time[1] - time[0]));
    printf("\n");
  }
  if (found > shown && shown > 0)
    printf("  and %" PRId64 " more; --max-pairs shows them\n", found - shown);
}

static void print_frame(const audit *a, const audit_result *f, int64_t frame, int64_t step,
                        double time)
{
  printf("frame %" PRId64 " (step %" PRId64 ", time %g s):", frame, step, time);
  if (f->not_finite > 0)
    printf(" %" PRId64 " vertices not finite, first %" PRId64 ";", f->not_finite, f->first_bad[0]);
  if (f->degenerate > 0)
    printf(" %" PRId64 " triangles collapsed, first %" PRId64 ";", f->degenerate, f->first_bad[1]);
  if (f->inverted > 0)
    printf(" %" PRId64 " tetrahedra inverted, first %" PRId64 ";", f->inverted, f->first_bad[2]);
  if (f->intersections > 0) printf(" %" PRId64 " intersections", f->intersections);
  printf("\n");
  const int64_t pairs = f->intersections - f->entries;
  const int64_t shown = pairs < a->max_pairs ? pairs : a->max_pairs;
  for (int64_t i = 0; i < shown; ++i) {
    const char *const body = audit_mesh_name(a, a->pairs[i].body);
    char text[256];
    isect_describe(&a->pairs[i], a->tris, body, text, sizeof text);
    printf("  %s\n", text);
  }
  if (pairs > shown && shown > 0)
    printf("  and %" PRId64 " more; --max-pairs shows them\n", pairs - shown);
  print_entries(a, f->entries, NULL);
}

static void print_way(const audit *a, int64_t found, int64_t entered, int64_t frame,
                      const double time[2])
{
  const int64_t shown = found < a->max_pairs ? found : a->max_pairs;
  printf("frame %" PRId64 " to %" PRId64 " (time %g to %g s): %s%" PRId64
         " pairs pass through each other\n",
         frame, frame + 1, time[0], time[1], found >= ISECT_MOST_PASSES ? "at least " : "",
         found + entered);
  for (int64_t i = 0; i < shown; ++i) {
    const isect_pass *const p = &a->passes[i];
    char text[256];
    isect_pass_describe(p, audit_mesh_name(a, p->body), text, sizeof text);
    printf("  %s", text);
    printf(" at time %.9g s%s\n", time[0] + p->time * (time[1] - time[0]),
           p->unsure ? ", undecided" : "");
  }
  if (found > shown && shown > 0)
    printf("  and %" PRId64 " more; --max-pairs shows them\n", found - shown);
  print_entries(a, entered, time);
}

static void add_frame(verify_totals *t, const audit *a, const audit_result *f, int64_t frame)
{
  t->sum.not_finite += f->not_finite;
  t->sum.degenerate += f->degenerate;
  t->sum.inverted += f->inverted;
  t->sum.intersections += f->intersections;
  t->sum.entries += f->entries;
  t->sum.of_start += f->of_start;
  if (f->entries > 0 && a->entries.deepest.depth > t->deepest.depth)
    t->deepest = a->entries.deepest, t->entry_frame = frame;
  if (f->of_start > 0) ++t->start_frames;
  if (f->not_finite + f->degenerate + f->inverted + f->intersections > 0) ++t->bad_frames;
  if (f->inside > 0) ++t->inside_frames;
  if (f->inside > t->most_inside) t->most_inside = f->inside;
  if (f->depth <= t->sum.depth) return;
  t->sum.depth = f->depth;
  t->sum.depth_vertex = f->depth_vertex;
  t->depth_body = f->depth_body;
  t->depth_frame = frame;
}

static loom_status verify_way(loom_err *err, audit *a, const double *x, const double *next,
                              int64_t frame, const double time[2], const verify_options *o,
                              verify_totals *t)
{
  int64_t found, entered;
  LOOM_TRY(audit_trajectory(err, a, x, next, frame, o->tolerance, &found, &entered));
  ++t->ways;
  t->passes += found + entered;
  if (found + entered == 0) return LOOM_OK;
  ++t->bad_ways;
  print_way(a, found, entered, frame, time);
  return LOOM_OK;
}

static loom_status verify_frames(h5read *r, loom_err *err, audit *a, int64_t first, int64_t end,
                                 const verify_options *o, verify_totals *t)
{
  double *const both = malloc((size_t)a->n * 6 * sizeof *both + 1);
  if (both == NULL) return err_set(err, LOOM_E_NOMEM, "out of memory");
  loom_status s = LOOM_OK;
  double time[2] = {0.0, 0.0};
  for (int64_t f = first; f < end && s == LOOM_OK; ++f) {
    double *const x = both + 3 * a->n * ((f - first) % 2), *const before =
                                                               both + 3 * a->n - (x - both);
    audit_result result;
    int64_t step;
    s = h5read_frame(r, err, f, x, NULL, &time[1], &step);
    if (s == LOOM_OK && o->trajectory && f > first)
      s = verify_way(err, a, before, x, f - 1, time, o, t);
    if (s == LOOM_OK) s = audit_frame(err, a, x, f, &result);
    if (s != LOOM_OK) break;
    const int64_t bad = t->bad_frames;
    add_frame(t, a, &result, f);
    if (t->bad_frames > bad) print_frame(a, &result, f, step, time[1]);
    time[0] = time[1];
  }
  free(both);
  return s;
}

static int report_audit(const verify_options *o, h5read *r, const audit *a, const verify_totals *t,
                        int64_t first, int64_t end)
{
  char text[256], peer[TOOL_PEER_LEN];
  int analytic = 0;
  for (int i = 0; i < a->num_bodies; ++i) analytic += a->bodies[i].nt == 0;
  printf("%s: frames %" PRId64 " to %" PRId64 "%s of %" PRId64 " vertices and %" PRId64
         " triangles\n",
         o->path, first, end - 1, tool_peer(r, peer), a->n, a->nt);
  printf("  intersections %" PRId64 ", not finite %" PRId64 ", collapsed %" PRId64
         ", inverted %" PRId64 "; frames affected %" PRId64 "\n",
         t->sum.intersections, t->sum.not_finite, t->sum.degenerate, t->sum.inverted,
         t->bad_frames);
  if (t->sum.entries > 0) {
    entry_describe(&t->deepest, a->bodies[t->deepest.body].name, text, sizeof text);
    printf("  of them edges and triangles inside exact shapes: %" PRId64 "; in frame %" PRId64
           " %s\n",
           t->sum.entries, t->entry_frame, text);
  }
  if (t->sum.of_start > 0)
    printf("  apart from these, of pairs that intersected at the start: %" PRId64
           " intersections in %" PRId64 " frames\n",
           t->sum.of_start, t->start_frames);
  if (o->trajectory)
    printf("  between frames: %" PRId64 " pairs pass through each other, in %" PRId64 " of %" PRId64
           " intervals (tolerance %g m)\n",
           t->passes, t->bad_ways, t->ways, o->tolerance);
  if (t->sum.depth > 0)
    printf("  vertices inside bodies: at most %" PRId64 " in a frame, frames affected %" PRId64
           "\n",
           t->most_inside, t->inside_frames);
  if (t->sum.depth > 0)
    printf("  deepest in a body: %.4g m, vertex %" PRId64 " in %s, frame %" PRId64 "\n",
           t->sum.depth, t->sum.depth_vertex, a->bodies[t->depth_body].name, t->depth_frame);
  else if (analytic > 0 && t->sum.entries == 0)
    printf("  no vertex, edge or triangle inside an exact shape (%d of them)\n", analytic);
  else if (analytic > 0)
    printf("  no vertex inside an exact shape (%d of them)\n", analytic);
  if (a->skipped_bodies > 0)
    printf("  %d bodies without a closed form or a mesh were not checked\n", a->skipped_bodies);
  return t->bad_frames > 0 || t->passes > 0 ? EXIT_INTERSECTIONS : EXIT_FINE;
}

static int verify_log(const verify_options *o)
{
  loom_err err = {0};
  h5read *r;
  audit a = {0};
  verify_totals t = {0};
  int64_t first = 0, end = 0;
  if (tool_open_log(&err, o->path, &r) != LOOM_OK) return cmd_fail(&err);
  loom_status s = audit_open(&err, r, o->min_area, (int64_t)o->max_pairs, &a);
  if (s == LOOM_OK) s = frame_range_clip(&err, &o->frames, h5read_num_frames(r), &first, &end);
  if (s == LOOM_OK) s = verify_frames(r, &err, &a, first, end, o, &t);
  if (s != LOOM_OK) err_prefix(&err, "%s", o->path);
  const int code = s == LOOM_OK ? report_audit(o, r, &a, &t, first, end) : cmd_fail(&err);
  audit_close(&a);
  h5read_close(r);
  return code;
}

static int run_verify(int argc, char **argv)
{
  static const struct option options[] = {{"frames", required_argument, NULL, OPT_FRAMES},
                                          {"max-pairs", required_argument, NULL, OPT_PAIRS},
                                          {"min-area", required_argument, NULL, OPT_AREA},
                                          {"trajectory", no_argument, NULL, OPT_TRAJECTORY},
                                          {"tolerance", required_argument, NULL, OPT_TOLERANCE},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
  verify_options o = {.frames = {0, -1}, .max_pairs = 10, .min_area = 1e-4, .tolerance = 1e-9};
  optind = 0;
  opterr = 0;
  for (int k; (k = getopt_long(argc, argv, ":h", options, NULL)) != -1;) {
    switch (k) {
    case OPT_FRAMES:
      if (frame_range_parse(optarg, &o.frames) < 0)
        return tool_usage("verify", "--frames %s is not N, A:B, A:, :B or last", optarg);
      break;
    case OPT_PAIRS:
      if (number_parse(optarg, &o.max_pairs) < 0 || !(o.max_pairs >= 0 && o.max_pairs <= 1e7))
        return tool_usage("verify", "--max-pairs %s is not a number from 0 to 1e7", optarg);
      break;
    case OPT_AREA:
      if (number_parse(optarg, &o.min_area) < 0 || !(o.min_area >= 0 && o.min_area < 1))
        return tool_usage("verify", "--min-area %s is not in [0,1)", optarg);
      break;
    case OPT_TRAJECTORY:
      o.trajectory = 1;
      break;
    case OPT_TOLERANCE:
      if (number_parse(optarg, &o.tolerance) < 0 || !(o.tolerance >= 1e-15 && o.tolerance <= 1))
        return tool_usage("verify", "--tolerance %s is not from 1e-15 to 1 m", optarg);
      break;
    default:
      return tool_help_or_fault(argv, k, usage);
    }
  }
  if (argc - optind != 1) return tool_usage("verify", "give one log file");
  o.path = argv[optind];
  return verify_log(&o);
}

int cmd_verify(int argc, char **argv) { return guard_run(run_verify, argc, argv); }
