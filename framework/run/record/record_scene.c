/* record_scene.c - create the log of a run: provenance and the scene it starts from. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/build_info.h"
#include "run/base/blas.h"
#include "run/base/process.h"
#include "run/record/record.h"
#include "run/run_state.h"
#include "scene/base/exclusions.h"
#include "scene/moving/rigged.h"
#include "scene/moving/sequence.h"
#include "scene/moving/sewing.h"

enum { MAX_ARRAYS = 24 + 16 * RUN_MAX_OBSTACLES };

typedef struct arrays {
  h5log_array a[MAX_ARRAYS];
  char name[MAX_ARRAYS][128];
  loom_buf *mapped[MAX_ARRAYS];
  int num, num_mapped;
  char *pieces;
} arrays;

static void append_scene_array(arrays *l, const char *name, const char *unit, const char *doc,
                               int type, int rank, int64_t d0, int64_t d1, const void *data)
{
  h5log_array *const a = &l->a[l->num];
  snprintf(l->name[l->num], sizeof l->name[0], "%s", name);
  *a = (h5log_array){.name = l->name[l->num],
                     .unit = unit,
                     .doc = doc,
                     .type = type,
                     .rank = rank,
                     .dims = {d0, d1, 0, 0},
                     .data = data};
  l->num++;
}

static loom_status add_buf(const run *r, arrays *l, const char *name, const char *unit,
                           const char *doc, loom_buf *b, int64_t width)
{
  void *p;
  if (b == NULL || buf_count(b) == 0) return LOOM_OK;
  LOOM_TRY(buf_map(r->m, NULL, b, LOOM_READ, LOOM_AT_HOST, &p));
  l->mapped[l->num_mapped++] = b;
  append_scene_array(l, name, unit, doc, buf_type(b), width > 1 ? 2 : 1, buf_count(b) / width,
                     width, p);
  return LOOM_OK;
}

/* The frames of a body that moves as a mesh; `vertices` is the first of them. */
static loom_status add_sequence(const run *r, arrays *l, const loom_obstacle *o)
{
  const body_sequence *const q = scene_sequence(r->scene, (int)(o - r->scene->obstacles));
  char name[128];
  if (q == NULL) return LOOM_OK;
  snprintf(name, sizeof name, "obstacles/%s/frames", o->name);
  append_scene_array(l, name, "m", "mesh vertices at frames of the body, body frame", LOOM_REAL, 3,
                     q->num_frames, q->num_verts, q->x);
  l->a[l->num - 1].dims[2] = 3;
  snprintf(name, sizeof name, "obstacles/%s/frame_rate", o->name);
  append_scene_array(l, name, "1/s", "frames per second, the first at time 0, linear in between",
                     LOOM_REAL, 0, 0, 0, &q->rate);
  return LOOM_OK;
}

/* How the skin of a body follows its joints, which are logged with each frame; `vertices` is its
 * rest pose. */
static void add_rig(const run *r, arrays *l, const loom_obstacle *o)
{
  const rigged *const b = scene_rigged(r->scene, (int)(o - r->scene->obstacles));
  char name[128];
  if (b == NULL) return;
  snprintf(name, sizeof name, "obstacles/%s/bones", o->name);
  append_scene_array(l, name, "1", "joints that a skin vertex follows", LOOM_I32, 2,
                     b->r.skin.num_verts, b->r.per, b->r.bone);
  snprintf(name, sizeof name, "obstacles/%s/weights", o->name);
  append_scene_array(l, name, "1", "their shares in it", H5LOG_F64, 2, b->r.skin.num_verts,
                     b->r.per, b->r.weight);
}

static loom_status add_obstacle(const run *r, arrays *l, loom_obstacle *o)
{
  const body_kind *const kind = body_kind_find(o->kind);
  char name[128];
  const struct {
    const char *name, *unit, *doc;
    int type, rank;
    int64_t d0;
    const void *data;
  } part[] = {
      {"kind", "1", "its shape, [body.NAME] shape", H5LOG_TEXT, 0, 0, o->kind},
      {"shape", "m", kind != NULL && kind->sizes != NULL ? kind->sizes : "not used", LOOM_REAL, 1,
       8, o->shape},
      {"friction", "1", "Coulomb coefficient", LOOM_REAL, 0, 0, &o->friction},
  };
  for (size_t i = 0; i < LOOM_COUNT(part); ++i) {
    snprintf(name, sizeof name, "obstacles/%s/%s", o->name, part[i].name);
    append_scene_array(l, name, part[i].unit, part[i].doc, part[i].type, part[i].rank, part[i].d0,
                       0, part[i].data);
  }
  snprintf(name, sizeof name, "obstacles/%s/vertices", o->name);
  LOOM_TRY(add_buf(r, l, name, "m", "mesh vertices, body frame", o->verts, 3));
  snprintf(name, sizeof name, "obstacles/%s/triangles", o->name);
  LOOM_TRY(add_buf(r, l, name, "1", "mesh triangles", o->tris, 3));
  LOOM_TRY(add_sequence(r, l, o));
  add_rig(r, l, o);
  if (o->sdf == NULL) return LOOM_OK;
  snprintf(name, sizeof name, "obstacles/%s/sdf_dims", o->name);
  append_scene_array(l, name, "1", "nodes of the signed distance grid along x, y, z", LOOM_I32, 1,
                     3, 0, o->dims);
  snprintf(name, sizeof name, "obstacles/%s/sdf_origin", o->name);
  append_scene_array(l, name, "m", "node (0,0,0) of the grid, body frame", LOOM_REAL, 1, 3, 0,
                     o->origin);
  snprintf(name, sizeof name, "obstacles/%s/sdf_spacing", o->name);
  append_scene_array(l, name, "m", "distance of neighbouring nodes", LOOM_REAL, 0, 0, 0,
                     &o->spacing);
  snprintf(name, sizeof name, "obstacles/%s/sdf", o->name);
  return add_buf(r, l, name, "m", "signed distance, negative inside, x fastest", o->sdf, 1);
}

static loom_status add_yarns(const run *r, arrays *l)
{
  const loom_scene *const s = &r->scene->pub;
  LOOM_TRY(add_buf(r, l, "yarns/first", "1", "first vertex of each yarn, and one behind the last",
                   s->yarn_vert, 1));
  LOOM_TRY(add_buf(r, l, "yarns/closed", "1", "1: the yarn is closed", s->yarn_closed, 1));
  LOOM_TRY(add_buf(r, l, "yarns/segments", "1",
                   "control points of Catmull-Rom segments, -1: reflected at an open end", s->segs,
                   4));
  LOOM_TRY(add_buf(r, l, "yarns/yarn", "1", "yarn of each segment", s->seg_yarn, 1));
  LOOM_TRY(add_buf(r, l, "yarns/length", "m", "rest length of each segment", s->seg_len, 1));
  LOOM_TRY(add_buf(r, l, "yarns/loop", "1", "row and column of each vertex's loop, -1: none",
                   s->loop, 2));
  return add_buf(r, l, "yarns/glue", "1", "vertices held at a distance", s->glue, 2);
}

static loom_status add_followers(const run *r, arrays *l)
{
  const loom_followers *const f = loom_scene_followers(&r->scene->pub);
  if (f == NULL) return LOOM_OK;
  LOOM_TRY(add_buf(r, l, "followers/vertex", "1", "vertex that follows nodes", f->id, 1));
  LOOM_TRY(add_buf(r, l, "followers/first", "1", "first node of each, and one behind the last",
                   f->first, 1));
  LOOM_TRY(add_buf(r, l, "followers/node", "1", "vertex ids of nodes", f->node, 1));
  return add_buf(r, l, "followers/weight", "1", "weights of nodes", f->weight, 1);
}

static void add_stitches(const run *r, arrays *l)
{
  const scene_stitches w = scene_stitches_of(r->scene);
  if (w.num == 0) return;
  append_scene_array(l, "stitches/vertices", "1", "a sewn vertex, and the edge to which it is sewn",
                     LOOM_I32, 2, w.num, 3, w.verts);
  append_scene_array(l, "stitches/place", "1", "share of the way along the edge", LOOM_REAL, 1,
                     w.num, 0, w.place);
}

static void add_left_out(const run *r, arrays *l)
{
  int64_t num;
  const int32_t *const pairs = scene_left_out_pairs(r->scene, SCENE_SEWN, &num);
  if (pairs != NULL)
    append_scene_array(
        l, "exclusions", "1",
        "sewn vertices: contact and the audit leave out pairs with one of the two on each side",
        LOOM_I32, 2, num, 2, pairs);
  const int32_t *const starts = scene_left_out_pairs(r->scene, SCENE_AT_START, &num);
  if (starts != NULL)
    append_scene_array(
        l, "start_exclusions", "1",
        "vertices of intersections at the start: left out in the same way until they have parted",
        LOOM_I32, 2, num, 2, starts);
}

/* Names of pieces, a line each. */
static loom_status piece_lines(const run *r, const loom_material *m, char **out)
{
  size_t len = 1, at = 0;
  for (int32_t k = 0; k < m->num_pieces; ++k) len += strlen(m->pieces[k].name) + 1;
  *out = malloc(len);
  if (*out == NULL) return err_set(r->err, LOOM_E_NOMEM, "out of memory");
  (*out)[0] = '\0';
  for (int32_t k = 0; k < m->num_pieces; ++k)
    at += (size_t)snprintf(*out + at, len - at, "%s\n", m->pieces[k].name);
  return LOOM_OK;
}

static loom_status add_material(const run *r, arrays *l)
{
  const loom_material *const m = loom_scene_extension(&r->scene->pub, LOOM_MATERIAL);
  void *p;
  if (m == NULL || buf_count(m->piece) == 0) return LOOM_OK;
  LOOM_TRY(add_buf(r, l, "material/area", "m^2", "area of each triangle at rest", m->area, 1));
  if (m->num_pieces == 0) return LOOM_OK;
  LOOM_TRY(add_buf(r, l, "material/piece", "1", "piece of each triangle, -1: none", m->piece, 1));
  LOOM_TRY(piece_lines(r, m, &l->pieces));
  append_scene_array(l, "material/pieces", "1", "names of the pieces, a line each", H5LOG_TEXT, 0,
                     0, 0, l->pieces);
  LOOM_TRY(buf_map(r->m, NULL, m->uv, LOOM_READ, LOOM_AT_HOST, &p));
  l->mapped[l->num_mapped++] = m->uv;
  append_scene_array(l, "material/uv", "m", "material coordinates of each triangle's corners",
                     LOOM_REAL, 3, buf_count(m->piece), 3, p);
  l->a[l->num - 1].dims[2] = 2;
  return LOOM_OK;
}

static loom_status add_scene(const run *r, arrays *l)
{
  const loom_scene *const s = &r->scene->pub;
  LOOM_TRY(add_buf(r, l, "rest", "m", "rest positions", s->rest_x, 3));
  LOOM_TRY(add_buf(r, l, "triangles", "1", "vertex ids of triangles", s->tris, 3));
  LOOM_TRY(add_buf(r, l, "edges", "1", "vertex ids of contact edges", s->edges, 2));
  LOOM_TRY(add_buf(r, l, "tets", "1", "vertex ids of tetrahedra", s->tets, 4));
  LOOM_TRY(add_buf(r, l, "mass", "kg", "lumped vertex masses", s->mass, 1));
  LOOM_TRY(add_buf(r, l, "object", "1", "object of each vertex", s->object, 1));
  LOOM_TRY(add_buf(r, l, "pinned", "1", "1: position prescribed", s->fixed, 1));
  LOOM_TRY(add_buf(r, l, "radius", "m", "half thickness of each vertex", s->radius, 1));
  LOOM_TRY(add_material(r, l));
  LOOM_TRY(add_yarns(r, l));
  LOOM_TRY(add_followers(r, l));
  add_stitches(r, l);
  add_left_out(r, l);
  for (int32_t i = 0; i < s->num_obstacles; ++i)
    LOOM_TRY(add_obstacle(r, l, &r->scene->obstacles[i]));
  return LOOM_OK;
}

/* ---- provenance ---- */

static void cpu_model(char *out, size_t len)
{
  FILE *const f = fopen("/proc/cpuinfo", "r");
  char line[512];
  snprintf(out, len, "unknown");
  if (f == NULL) return;
  while (fgets(line, sizeof line, f) != NULL) {
    char *colon = strchr(line, ':');
    if (strncmp(line, "model name", 10) != 0 || colon == NULL) continue;
    colon += strspn(colon, ": \t");
    colon[strcspn(colon, "\n")] = '\0';
    snprintf(out, len, "%s", colon);
    break;
  }
  fclose(f);
}

/* name kind version path build licence, tab-separated, one line per instance */
static void plugin_lines(run *r, char *out, size_t len)
{
  instance *all[RUN_ALL_INSTANCES];
  size_t at = 0;
  const int n = instances_list(r, LIST_SOLVER_FIRST, all);
  out[0] = '\0';
  for (int i = 0; i < n && at < len; ++i) {
    const loom_plugin *const p = all[i]->plugin;
    const h5log_peer *const peer = r->opt->foreign != NULL && i == 0 ? r->opt->foreign->peer : NULL;
    if (peer != NULL) { /* in the solver's place */
      at += (size_t)snprintf(out + at, len - at, "%s\tpeer\t%s\t-\t-\t%s\n", peer->name,
                             peer->version, peer->licence);
      continue;
    }
    at += (size_t)snprintf(out + at, len - at, "%s\t%s\t%s\t%s\t%s\t%s\n", p->name,
                           registry_kind_name(p->kind), p->version, registry_path(r->reg, p),
                           p->build, p->license);
  }
}

/* Coordinates that a solver is free to choose; -1: the mask cannot be read. */
static int64_t num_dof(const run *r)
{
  void *fixed;
  int64_t n = 0;
  loom_buf *const mask = r->scene->pub.fixed;
  if (buf_map(r->m, NULL, mask, LOOM_READ, LOOM_AT_HOST, &fixed) != LOOM_OK) return -1;
  for (int32_t i = 0; i < r->scene->pub.num_verts; ++i) n += ((const uint8_t *)fixed)[i] == 0;
  return buf_unmap(r->m, mask) == LOOM_OK ? 3 * n : -1;
}

static loom_status create_run_log(run *r, const run_options *o, const h5log_options *opt,
                                  int64_t last_step, const char *continued)
{
  static const size_t PLUGINS_LEN = 65536;
  char hash[17], host[256] = "unknown", cpu[256], gpu[256] = "", blas[1200];
  char created[PROCESS_TIME_LEN];
  arrays *const l = calloc(1, sizeof *l);
  char *const plugins = malloc(PLUGINS_LEN);
  loom_status s = LOOM_OK;
  if (l == NULL || plugins == NULL) s = err_set(r->err, LOOM_E_NOMEM, "out of memory");
  if (s == LOOM_OK) s = add_scene(r, l);
  if (s == LOOM_OK) {
    cfg_hash(r->c, hash);
    gethostname(host, sizeof host - 1);
    cpu_model(cpu, sizeof cpu);
    if (r->exec.backend == LOOM_CUDA) exec_cuda_name(r->exec.device, gpu, sizeof gpu);
    process_time(created);
    plugin_lines(r, plugins, PLUGINS_LEN);
    blas_name(registry_path(r->reg, r->solver.plugin), blas, sizeof blas);
    const h5log_meta meta = {.loom_version = loom_build_version,
                             .git_commit = loom_build_commit,
                             .config = cfg_resolved(r->c),
                             .config_hash = hash,
                             .command = o->command,
                             .host = host,
                             .cpu = cpu,
                             .gpu = gpu,
                             .blas = blas,
                             .backend = r->exec.backend == LOOM_CUDA ? "cuda" : "cpu",
                             .created = created,
                             .plugins = plugins,
                             .threads = r->exec.num_threads,
                             .real_size = (int64_t)sizeof(loom_real),
                             .seed = r->set.run.seed,
                             .num_dof = num_dof(r),
                             .first_step = last_step >= 0 ? last_step + 1 : r->first_step,
                             .continued = continued,
                             .peer = r->opt->foreign != NULL ? r->opt->foreign->peer : NULL,
                             .t_cpu_open = clock_cpu_now()};
    s = h5log_create(r->err, r->out.path, &meta, opt, l->a, l->num, r->scene->pub.num_verts,
                     &r->record.log);
  }
  for (int i = 0; l != NULL && i < l->num_mapped; ++i) buf_unmap(r->m, l->mapped[i]);
  if (l != NULL) free(l->pieces);
  free(l);
  free(plugins);
  return s;
}

/* The run goes on from its checkpoint though its log cannot: a new one begins there, and the
 * rest of the old one is kept. */
static loom_status begin_anew(run *r, const run_options *o, const h5log_options *opt,
                              int64_t last_step)
{
  char text[2048], reason[1024];
  const int there = access(r->out.path, F_OK) == 0;
  h5log_options anew = *opt;
  char *const spare = h5log_spare_name(r->out.path);
  if (spare == NULL) return err_set(r->err, LOOM_E_NOMEM, "%s: out of memory", r->out.path);
  snprintf(reason, sizeof reason, "%.1000s", r->err->text);
  err_clear(r->err);
  anew.keep_as = spare;
  snprintf(text, sizeof text,
           "%s; so this log begins with step %lld, from the checkpoint of step %lld: the steps "
           "before are not in it%s%s",
           reason, (long long)last_step + 1, (long long)last_step,
           there ? "; the old log is kept as " : "", there ? spare : "");
  loom_status s = create_run_log(r, o, &anew, last_step, text);
  free(spare);
  if (s != LOOM_OK) return s;
  run_message(r, LOOM_LOG_WARN, text);
  r->out.older_hash[0] = '\0';
  r->out.anew = 1;
  return LOOM_OK;
}

loom_status record_open(run *r, const run_options *o, int64_t last_step)
{
  const char *names[RUN_MAX_OBSTACLES];
  int32_t joints[RUN_MAX_OBSTACLES];
  char hash[17], job[1024];
  process_job(job, sizeof job);
  h5log_options opt = {.frames_f32 = r->set.log.frames == 1,
                       .compression = (int)r->set.log.compression,
                       .num_extra = r->columns.iter.num,
                       .extra = r->columns.iter.all,
                       .num_step_extra = r->columns.step.num,
                       .step_extra = r->columns.step.all,
                       .fields = r->fields.wanted,
                       .num_obstacles = r->scene->pub.num_obstacles,
                       .obstacle_names = names,
                       .obstacle_joints = joints,
                       .overwrite = r->out.overwrite,
                       .command = o->command,
                       .scheduler = job};
  for (int32_t i = 0; i < r->scene->pub.num_obstacles; ++i) {
    names[i] = r->scene->obstacles[i].name;
    joints[i] = scene_joints(r->scene, i, NULL);
  }
  if (!r->out.resume) return create_run_log(r, o, &opt, -1, NULL);
  cfg_hash(r->c, hash);
  int lost = 0;
  const char *const is = r->out.older_hash[0] != '\0' ? r->out.older_hash : hash;
  const loom_status s =
      h5log_resume(r->err, r->out.path, is, last_step, &opt, &r->record.log, &lost);
  return lost ? begin_anew(r, o, &opt, last_step) : s;
}
