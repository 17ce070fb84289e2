/* cmd_export.c - `loom export FILE --format F`: frames as meshes, tables as CSV. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "app/export.h"
#include "core/suffix.h"

static const char usage[] =
    "usage: loom export FILE.h5 --format obj|ply|vtk|bcc|tubes|csv [-o DIR]\n"
    "                   [--frames A:B]\n"
    "  obj, ply  one file per frame, with material coordinates and pieces where the log has\n"
    "            them (vt and g; texcoord and piece); obj: names of objects (o), yarns as\n"
    "            polylines\n"
    "  bcc       yarns as binary curves, one file per frame\n"
    "  tubes     yarns as triangles, one OBJ file per frame\n"
    "  vtk       one file per frame, NAME.vtk.series and NAME.xdmf (which reads the frames\n"
    "            from the log itself); ParaView opens either; cells have object, piece and\n"
    "            uv (m, of the three corners), fields their names\n"
    "  csv       steps.csv, steps_extra.csv, iters.csv, iters_extra.csv, inner.csv\n"
    "vtkhdf, glb and usd, each one file with bodies, are the launcher's:\n"
    "  ./loom export FILE.h5 --format usd --help\n"
    "Numbers are written so that they read back as the same doubles.\n"
    "  -o, --output DIR  where to, made if missing; default: NAME-FORMAT beside the log; files of\n"
    "                    the format are replaced, any others refused, links not written through\n"
    "  --frames A:B      frames A to B, both included; also N, A:, :B and last\n";

enum { OPT_FORMAT = 256, OPT_FRAMES };

typedef loom_status (*frame_writer)(loom_err *err, const export_scene *s, const export_frame *f,
                                    const char *path);
static const struct format {
  const char *name;
  frame_writer write; /* NULL: csv */
} formats[] = {{"obj", export_obj}, {"ply", export_ply},     {"vtk", export_vtk},
               {"bcc", export_bcc}, {"tubes", export_tubes}, {"csv", NULL}};
enum { NUM_FORMATS = sizeof formats / sizeof formats[0] };

typedef struct export_options {
  const char *path, *dir;
  const struct format *format;
  frame_range frames;
} export_options;

static loom_status load_topology(loom_err *err, export_scene *s)
{
  s->n = h5read_num_verts(s->r);
  s->nt = h5read_num_tris(s->r);
  s->tris = malloc((size_t)s->nt * 3 * sizeof *s->tris + 1);
  s->x = malloc((size_t)s->n * 3 * sizeof *s->x);
  s->v = malloc((size_t)s->n * 3 * sizeof *s->v);
  if (s->tris == NULL || s->x == NULL || s->v == NULL)
    return err_set(err, LOOM_E_NOMEM, "out of memory");
  LOOM_TRY(h5read_tris(s->r, err, s->tris));
  LOOM_TRY(export_load_yarns(err, s));
  LOOM_TRY(export_load_material(err, s));
  LOOM_TRY(export_load_objects(err, s));
  if (s->nt > 0 || !h5read_exists(s->r, "scene/edges")) return LOOM_OK;
  void *data;
  int rank;
  int64_t dims[4];
  LOOM_TRY(h5read_dataset(s->r, err, "scene/edges", 0, &data, &rank, dims));
  const int64_t *const ids = data;
  loom_status status = LOOM_OK;
  if (rank == 2 && dims[1] == 2) {
    s->num_edges = dims[0];
    s->edges = malloc((size_t)s->num_edges * 2 * sizeof *s->edges + 1);
    if (s->edges == NULL) status = err_set(err, LOOM_E_NOMEM, "out of memory");
  }
  for (int64_t i = 0; i < 2 * s->num_edges && status == LOOM_OK; ++i) {
    if (ids[i] < 0 || ids[i] >= s->n)
      status = err_set(err, LOOM_E_IO, "/scene/edges names vertex %" PRId64 ": the file is damaged",
                       ids[i]);
    else
      s->edges[i] = (int32_t)ids[i];
  }
  free(data);
  return status;
}

static loom_status export_frames(loom_err *err, export_scene *s, const struct format *format)
{
  char path[4096];
  double *const times = malloc((size_t)(s->end - s->first) * sizeof *times);
  if (times == NULL) return err_set(err, LOOM_E_NOMEM, "out of memory");
  loom_status status = LOOM_OK;
  for (int64_t t = s->first; t < s->end && status == LOOM_OK; ++t) {
    export_frame f = {.index = t};
    snprintf(path, sizeof path, "%s/%s_%06" PRId64 ".%s", s->dir, s->stem, t,
             format->write == export_tubes ? "obj" : format->name);
    status = h5read_frame(s->r, err, t, s->x, s->v, &f.time, &f.step);
    times[t - s->first] = f.time;
    if (status == LOOM_OK) status = format->write(err, s, &f, path);
  }
  if (status == LOOM_OK && format->write == export_vtk) status = export_series(err, s, times);
  free(times);
  return status;
}

static loom_status export_all(loom_err *err, const export_options *o, export_scene *s)
{
  LOOM_TRY(make_directories(err, s->dir));
  if (o->format->write == NULL) return export_csv(err, s);
  LOOM_TRY(load_topology(err, s));
  LOOM_TRY(frame_range_clip(err, &o->frames, h5read_num_frames(s->r), &s->first, &s->end));
  return export_frames(err, s, o->format);
}

static int export_log(const export_options *o)
{
  char dir[4096], stem[256];
  loom_err err = {0};
  const char *const slash = strrchr(o->path, '/'), *const name = slash ? slash + 1 : o->path;
  size_t len = strlen(name);
  if (has_suffix(name, ".h5")) len -= 3;
  snprintf(stem, sizeof stem, "%.*s", (int)len, name);
  snprintf(dir, sizeof dir, "%.*s%s-%s", (int)(name - o->path), o->path, stem, o->format->name);
  export_scene s = {.log_path = o->path, .dir = o->dir != NULL ? o->dir : dir, .stem = stem};
  if (strlen(s.dir) + strlen(stem) > 4000) return tool_usage("export", "the names are too long");
  loom_status status = tool_open_log(&err, o->path, &s.r);
  if (status == LOOM_OK) status = export_all(&err, o, &s);
  if (status == LOOM_OK && o->format->write == NULL)
    printf("%s: tables in %s\n", o->path, s.dir);
  else if (status == LOOM_OK)
    printf("%s: frames %" PRId64 " to %" PRId64 " in %s\n", o->path, s.first, s.end - 1, s.dir);
  h5read_close(s.r);
  free(s.tris);
  free(s.edges);
  export_free_material(&s);
  export_free_objects(&s);
  free(s.yarn_first);
  free(s.yarn_closed);
  free(s.segs);
  free(s.radius);
  free(s.x);
  free(s.v);
  return status == LOOM_OK ? EXIT_FINE : cmd_fail(&err);
}

static const struct format *find_format(const char *name)
{
  for (int i = 0; i < NUM_FORMATS; ++i)
    if (strcmp(formats[i].name, name) == 0) return &formats[i];
  return NULL;
}

static int run_export(int argc, char **argv)
{
  static const struct option options[] = {{"format", required_argument, NULL, OPT_FORMAT},
                                          {"frames", required_argument, NULL, OPT_FRAMES},
                                          {"output", required_argument, NULL, 'o'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
  export_options o = {.frames = {0, -1}};
  optind = 0;
  opterr = 0;
  for (int k; (k = getopt_long(argc, argv, ":ho:", options, NULL)) != -1;) {
    switch (k) {
    case OPT_FORMAT:
      o.format = find_format(optarg);
      if (o.format == NULL)
        return tool_usage("export",
                          "there is no format '%s'; obj, ply, vtk, bcc, tubes or csv, and by the "
                          "launcher ./loom: vtkhdf, glb or usd",
                          optarg);
      break;
    case OPT_FRAMES:
      if (frame_range_parse(optarg, &o.frames) < 0)
        return tool_usage("export", "--frames %s is not N, A:B, A:, :B or last", optarg);
      break;
    case 'o':
      o.dir = optarg;
      break;
    default:
      return tool_help_or_fault(argv, k, usage);
    }
  }
  if (argc - optind != 1) return tool_usage("export", "give one log file");
  if (o.format == NULL)
    return tool_usage("export", "say --format obj, ply, vtk, bcc, tubes or csv");
  o.path = argv[optind];
  return export_log(&o);
}

int cmd_export(int argc, char **argv) { return guard_run(run_export, argc, argv); }
