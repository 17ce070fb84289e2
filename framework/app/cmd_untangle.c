/* cmd_untangle.c - `loom untangle IN -o OUT`: a mesh whose triangles intersect a little, moved
 * apart. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/export.h"
#include "config/config.h"
#include "config/words.h"
#include "core/suffix.h"
#include "mesh/doctor.h"
#include "mesh/obj.h"
#include "untangle/untangle.h"

static const char usage[] =
    "usage: loom untangle IN -o OUT [--thickness T] [--passes N]\n"
    "Moves vertices of a triangle mesh (.obj or .ply) until no triangles intersect and all are at\n"
    "least T apart (default 0.5 mm), for tangles of a few millimetres; names the triangles that\n"
    "cannot be parted.  From .obj to .obj everything but the positions stays as it is.  A config\n"
    "does the same to its scene, with bodies and seams, by [run] start = untangle.\n"
    "  -o OUT           the mesh to write, .obj or .ply; a mesh of that kind is replaced, any "
    "other\n"
    "                   file refused, and a link is not written through\n"
    "  --thickness T    m, or with a unit as \"1 mm\"\n"
    "  --passes N       at most so many in each of two parts (default 500)\n"
    "exit code 3 if intersections are left\n";

enum { OPT_THICKNESS = 256, OPT_PASSES, MAX_NAMED = 10, MAX_PASSES = 1000000 };

typedef struct untangle_options {
  const char *in, *out;
  double thickness; /* m */
  int passes;
} untangle_options;

/* ---- writing ---- */

/* Copies an OBJ file with other positions: x [..][3] in the order of its lines `v`. */
static loom_status rewrite_obj(loom_err *err, const char *in, const char *path, const double *x)
{
  char *text, a[NUMBER_LEN], b[NUMBER_LEN], c[NUMBER_LEN];
  size_t len;
  out_file o = {0};
  LOOM_TRY(words_file(err, in, &text, &len));
  const loom_status s = out_file_open(err, path, OUT_OBJ, &o);
  FILE *const out = o.f;
  for (const char *line = text; s == LOOM_OK && *line != '\0';) {
    const size_t n = strcspn(line, "\n");
    const char *p = line + strspn(line, " \t");
    if (p[0] == 'v' && (p[1] == ' ' || p[1] == '\t')) {
      char *rest = (char *)(uintptr_t)(p + 1);
      for (int k = 0; k < 3; ++k) (void)strtod(rest, &rest);
      fprintf(out, "v %s %s %s", number_text(x[0], a), number_text(x[1], b), number_text(x[2], c));
      fwrite(rest, 1, (size_t)(line + n - rest), out); /* a colour may follow */
      x += 3;
    } else {
      fwrite(line, 1, n, out);
    }
    fputc('\n', out);
    line += n + (line[n] == '\n');
  }
  free(text);
  return out_file_close(err, &o, s);
}

/* The writers of `loom export` require velocities, and names of pieces with uv. */
static loom_status write_new(loom_err *err, const untangle_options *o, const mesh *m)
{
  static char whole[] = "mesh", none[] = "none";
  const export_frame f = {0};
  const int ply = has_suffix(o->out, ".ply"), pieces = m->piece != NULL ? m->num_pieces : 1;
  export_scene s = {.n = m->num_verts, .nt = m->num_tris, .tris = m->tris, .x = m->x};
  char **names = NULL;
  int32_t *piece = NULL;
  loom_status st = mesh_alloc(err, m->num_verts, 3 * sizeof *s.v, &s.v);
  if (st == LOOM_OK) st = mesh_alloc(err, pieces + 1, sizeof *names, &names);
  if (st == LOOM_OK) st = mesh_alloc(err, m->num_tris, sizeof *piece, &piece);
  if (st == LOOM_OK && m->uv != NULL) {
    for (int k = 0; k < pieces; ++k) names[k] = m->piece != NULL ? m->piece_names[k] : whole;
    names[pieces] = none;
    if (m->piece != NULL) memcpy(piece, m->piece, sizeof *piece * (size_t)m->num_tris);
    s.uv = m->uv;
    s.piece = piece;
    s.num_pieces = pieces;
    s.piece_names = names;
  }
  if (st == LOOM_OK) st = ply ? export_ply(err, &s, &f, o->out) : export_obj(err, &s, &f, o->out);
  free(s.v);
  free(names);
  free(piece);
  return st;
}

static loom_status write_mesh(loom_err *err, const untangle_options *o, const mesh *m)
{
  if (has_suffix(o->in, ".obj") && has_suffix(o->out, ".obj"))
    return rewrite_obj(err, o->in, o->out, m->x);
  return write_new(err, o, m);
}

/* ---- the command ---- */

static loom_status untangle_mesh(loom_err *err, const untangle_options *o, mesh *m,
                                 untangle_report *r)
{
  double *radius;
  LOOM_TRY(mesh_alloc(err, m->num_verts, sizeof *radius, &radius));
  for (int32_t v = 0; v < m->num_verts; ++v) radius[v] = o->thickness / 2;
  const untangle_scene s = {.x = m->x,
                            .n = m->num_verts,
                            .tris = m->tris,
                            .nt = m->num_tris,
                            .radius = radius,
                            .max_passes = o->passes};
  const loom_status st = untangle_meshes(err, &s, r);
  free(radius);
  return st;
}

static loom_status name_left(loom_err *err, const untangle_options *o, const mesh *m)
{
  isect_pair pairs[MAX_NAMED];
  int64_t total;
  char text[256];
  LOOM_TRY(isect_mesh(err, m->x, m->num_verts, m->tris, m->num_tris, 0, pairs, MAX_NAMED, &total));
  for (int64_t k = 0; k < total && k < MAX_NAMED; ++k) {
    isect_describe(&pairs[k], m->tris, NULL, text, sizeof text);
    printf("left: %s\n", text);
  }
  if (total > MAX_NAMED) printf("left: %" PRId64 " more\n", total - MAX_NAMED);
  if (total == 0) return LOOM_OK;
  isect_describe(&pairs[0], m->tris, NULL, text, sizeof text);
  fprintf(stderr,
          "loom: %s: %" PRId64
          " intersections are left, the first: %s; move them apart by hand, or "
          "set [run] start = exclude\n",
          o->out, total, text);
  return LOOM_OK;
}

static loom_status untangle_file(loom_err *err, const untangle_options *o, mesh *m,
                                 untangle_report *r)
{
  doctor doc = {0};
  LOOM_TRY(out_file_check(err, o->out, has_suffix(o->out, ".ply") ? OUT_PLY : OUT_OBJ));
  LOOM_TRY(has_suffix(o->in, ".ply") ? ply_read(err, o->in, m) : obj_read(err, o->in, m));
  LOOM_TRY(doctor_mesh(err, &doc, o->in, m, DOCTOR_SHELL));
  LOOM_TRY(doctor_verdict(err, &doc));
  LOOM_TRY(untangle_mesh(err, o, m, r));
  LOOM_TRY(write_mesh(err, o, m));
  printf("%s: %" PRId64 " intersections, %" PRId64 " after %d passes; %" PRId64
         " of %d vertices moved, at most by %.3g m; %" PRId64 " pairs nearer than %g m\n",
         o->in, r->before, r->after, r->passes + r->gap_passes, r->moved, m->num_verts, r->farthest,
         r->near, o->thickness);
  return r->after > 0 ? name_left(err, o, m) : LOOM_OK;
}

static int run_untangle(const untangle_options *o)
{
  loom_err err = {0};
  mesh m = {0};
  untangle_report r = {0};
  const loom_status s = untangle_file(&err, o, &m, &r);
  mesh_free(&m);
  if (s != LOOM_OK) return cmd_fail(&err);
  return r.after > 0 ? EXIT_INTERSECTIONS : EXIT_FINE;
}

static int is_mesh(const char *path)
{
  return has_suffix(path, ".obj") || has_suffix(path, ".ply");
}

int cmd_untangle(int argc, char **argv)
{
  static const struct option options[] = {{"thickness", required_argument, NULL, OPT_THICKNESS},
                                          {"passes", required_argument, NULL, OPT_PASSES},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
  untangle_options o = {.thickness = 5e-4, .passes = 500};
  loom_err err = {0};
  int64_t passes;
  int count;
  optind = 0;
  opterr = 0;
  for (int k; (k = getopt_long(argc, argv, ":ho:", options, NULL)) != -1;) {
    switch (k) {
    case 'o':
      o.out = optarg;
      break;
    case OPT_THICKNESS:
      if (cfg_parse_real(&err, optarg, "m", &o.thickness) != LOOM_OK || !(o.thickness >= 0) ||
          o.thickness > 1)
        return tool_usage("untangle", "--thickness %s is no length from 0 to 1 m", optarg);
      break;
    case OPT_PASSES:
      if (words_ints(&err, optarg, 1, &passes, &count) != LOOM_OK || passes < 0 ||
          passes > MAX_PASSES)
        return tool_usage("untangle", "--passes %s is no number from 0 to %d", optarg, MAX_PASSES);
      o.passes = (int)passes;
      break;
    default:
      return tool_help_or_fault(argv, k, usage);
    }
  }
  if (argc - optind != 1) return tool_usage("untangle", "give one mesh");
  o.in = argv[optind];
  if (o.out == NULL) return tool_usage("untangle", "say -o OUT, the mesh to write");
  if (!is_mesh(o.in)) return tool_usage("untangle", "%s ends neither in .obj nor in .ply", o.in);
  if (!is_mesh(o.out)) return tool_usage("untangle", "%s ends neither in .obj nor in .ply", o.out);
  return run_untangle(&o);
}
