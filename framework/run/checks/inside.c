/* inside.c - cloth, solids and yarns that start inside a body: refused, moved out, or told.
 *
 * By distances, where a contact model asks for pairs VO: every free vertex.  By triangles, where it
 * asks for pairs BVT: a piece that lies inside a closed surface with triangles that face outwards;
 * a piece that crosses a surface has been refused already (scene/starts/start_check.c).  Surfaces
 * that face inwards are containers, and open ones have no inside. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "geom/vec3.h"
#include "mesh/mesh.h"
#include "run/objective/measure.h"
#include "run/run_state.h"
#include "scene/base/exclusions.h"
#include "scene/objects/bodies.h"

static const double pi = 3.14159265358979323846;
/* Contact wants a little more than the half thickness. */
static const double clear_share = 1.02;
enum { MOST_MOVES = 100 };

typedef struct found { /* vertices inside one body */
  int32_t body;
  int64_t num; /* vertices */
  int32_t deepest;
  double depth;  /* m, of the surface of the cloth's middle; NAN: not known, by triangles */
  double beyond; /* m, the same less the half thickness */
} found;

typedef struct look { /* on the host */
  const loom_real *x, *radius;
  const uint8_t *fixed;
  const int32_t *object;
} look;

static loom_status open_look(const run *r, buf_maps *q, look *l)
{
  const loom_scene *const s = &r->scene->pub;
  l->x = buf_maps_add(q, r->st.x, LOOM_READ);
  l->radius = buf_maps_add(q, s->radius, LOOM_READ);
  l->fixed = buf_maps_add(q, s->fixed, LOOM_READ);
  l->object = buf_maps_add(q, s->object, LOOM_READ);
  return q->status;
}

/* ---- messages ---- */

/* Its number in its object. */
static int32_t local_id(const run *r, const look *l, int32_t v)
{
  int32_t first = 0;
  while (first < r->scene->pub.num_verts && l->object[first] != l->object[v]) ++first;
  return v - first;
}

static void describe_inside_object(const run *r, const look *l, const found *f, char *text,
                                   size_t len)
{
  const loom_real *const x = l->x + 3 * (int64_t)f->deepest;
  const int n =
      snprintf(text, len,
               "[%.100s] starts inside [body.%.64s]: %lld vertices, %s vertex %d at (%.4g "
               "%.4g %.4g) m",
               r->scene->pub.object_names[l->object[f->deepest]], r->scene->obstacles[f->body].name,
               (long long)f->num, isnan(f->depth) ? "the first" : "the deepest",
               (int)local_id(r, l, f->deepest), (double)x[0], (double)x[1], (double)x[2]);
  if (!isnan(f->depth) && n > 0 && (size_t)n < len)
    snprintf(text + n, len - (size_t)n, ", %.3g m below its surface", f->depth);
}

/* Contact is not made for it: an error, unless the user has asked for a start with overlaps. */
static loom_status refuse_inside_start(run *r, const look *l, const found *f, const char *remedy)
{
  char text[512], all[1024];
  describe_inside_object(r, l, f, text, sizeof text);
  if (r->set.run.start != RUN_START_EXCLUDE)
    return err_set(r->err, LOOM_E_CONFIG, "%s: %s; %s", cfg_path(r->c), text, remedy);
  snprintf(all, sizeof all, "%s (start = exclude)", text);
  run_message(r, LOOM_LOG_WARN, all);
  return LOOM_OK;
}

/* ---- distances ---- */

/* Buffers for one body and all vertices. */
typedef struct gaps {
  loom_buf *gap, *normal;
} gaps;

static loom_status evaluate_body_gaps(const run *r, int32_t body, const gaps *g)
{
  const int64_t n = r->scene->pub.num_verts;
  const loom_body_rows rows = {
      .struct_size = sizeof rows, .count = n, .x = r->st.x, .pair = body * n};
  const loom_body_gap out = {
      .struct_size = sizeof out, .precise = 1, .gap = g->gap, .normal = g->normal};
  const loom_status s = bodies_gap(r->bodies, &r->exec, &rows, 1.0, &out);
  if (s != LOOM_OK) *r->err = *mem_err(r->m);
  return s;
}

static int is_inside(double gap, double x_max) { return gap < -1e-9 - 1e-6 * x_max; }

static double largest_coordinate(const loom_real *x)
{
  return fmax(fabs((double)x[0]), fmax(fabs((double)x[1]), fabs((double)x[2])));
}

static loom_status look_at_body(const run *r, int32_t body, const gaps *g, found *f)
{
  buf_maps q = {.m = r->m};
  look l;
  *f = (found){.body = body, .beyond = -INFINITY};
  LOOM_TRY(evaluate_body_gaps(r, body, g));
  LOOM_TRY(open_look(r, &q, &l));
  const loom_real *const gap = buf_maps_add(&q, g->gap, LOOM_READ);
  for (int32_t v = 0; q.status == LOOM_OK && v < r->scene->pub.num_verts; ++v) {
    const double d = -(double)gap[v];
    if (l.fixed[v] || !is_inside(-d, largest_coordinate(l.x + 3 * (int64_t)v))) continue;
    ++f->num;
    f->beyond = fmax(f->beyond, d - (double)l.radius[v]);
    if (d > f->depth) f->depth = d, f->deepest = v;
  }
  return buf_maps_end(&q);
}

/* Vertices nearer to the body than their half thickness go along its normals; *moved: how many,
 * *farthest (m): how far at most. */
static loom_status push_verts_outside(run *r, int32_t body, const gaps *g, int64_t *moved,
                                      double *farthest)
{
  buf_maps q = {.m = r->m};
  LOOM_TRY(evaluate_body_gaps(r, body, g));
  const loom_scene *const s = &r->scene->pub;
  loom_real *const x = buf_maps_add(&q, r->st.x, LOOM_RDWR);
  const loom_real *const radius = buf_maps_add(&q, s->radius, LOOM_READ);
  const uint8_t *const fixed = buf_maps_add(&q, s->fixed, LOOM_READ);
  const loom_real *const gap = buf_maps_add(&q, g->gap, LOOM_READ);
  const loom_real *const normal = buf_maps_add(&q, g->normal, LOOM_READ);
  *moved = 0;
  for (int64_t v = 0; q.status == LOOM_OK && v < s->num_verts; ++v) {
    const double wanted = fmax(clear_share * (double)radius[v], (double)radius[v] + 1e-6);
    const double way = wanted + 1e-3 * (wanted - (double)radius[v]) - (double)gap[v];
    if (fixed[v] || (double)gap[v] > (double)radius[v]) continue;
    for (int c = 0; c < 3; ++c) x[3 * v + c] += (loom_real)(way * (double)normal[3 * v + c]);
    ++*moved;
    *farthest = fmax(*farthest, way);
  }
  return buf_maps_end(&q);
}

/* ---- moved out ---- */

/* The moves may have made new intersections. */
static loom_status check_crossings(const run *r)
{
  const loom_scene *const sc = &r->scene->pub;
  const int64_t n = 3 * (int64_t)sc->num_verts;
  scene_bodies b = {0};
  isect_pair one;
  buf_maps q = {.m = r->m};
  double *x = NULL;
  int64_t total = 0;
  LOOM_TRY(mesh_alloc(r->err, n, sizeof *x, &x));
  const loom_real *const at = buf_maps_add(&q, r->st.x, LOOM_READ);
  const int32_t *const tris = buf_maps_add(&q, sc->tris, LOOM_READ);
  for (int64_t i = 0; q.status == LOOM_OK && i < n; ++i) x[i] = (double)at[i];
  const isect_surface m = {.x = x,
                           .n = sc->num_verts,
                           .tris = tris,
                           .nt = sc->num_tris,
                           .left_out = scene_left_out(r->scene, 1)};
  loom_status s = q.status;
  if (s == LOOM_OK) s = scene_bodies_open(r->err, r->scene, &b);
  if (s == LOOM_OK) s = isect_scene(r->err, &m, b.at, b.num, r->exec.num_threads, &one, 1, &total);
  scene_bodies_close(&b);
  free(x);
  if (s == LOOM_OK && total > 0)
    s = err_set(r->err, LOOM_E_CONFIG,
                "%s: vertices that start inside bodies cannot be moved out (start = untangle): the "
                "cloth would have %lld intersections; place it, or the bodies, elsewhere",
                cfg_path(r->c), (long long)total);
  const loom_status ended = buf_maps_end(&q);
  return s != LOOM_OK ? s : ended;
}

static loom_status find_longest_edge(const run *r, double *out)
{
  buf_maps q = {.m = r->m};
  const loom_real *const x = buf_maps_add(&q, r->st.x, LOOM_READ);
  const int32_t *const e = buf_maps_add(&q, r->scene->pub.edges, LOOM_READ);
  *out = 0.0;
  for (int64_t k = 0; q.status == LOOM_OK && k < r->scene->pub.num_edges; ++k) {
    double d[3];
    for (int c = 0; c < 3; ++c)
      d[c] = (double)x[3 * (int64_t)e[2 * k] + c] - (double)x[3 * (int64_t)e[2 * k + 1] + c];
    *out = fmax(*out, vec3_norm(d));
  }
  return buf_maps_end(&q);
}

static int has_distance(const run *r, int32_t body)
{
  const loom_obstacle *const o = &r->scene->obstacles[body];
  /* `check` leaves large grids empty, and does without fields */
  const int empty = o->field != NULL || (o->sdf != NULL && r->scene->empty_grids);
  return (o->has & LOOM_BODY_DISTANCE) && !(r->opt->look_only && empty);
}

static loom_status move_out(run *r, const gaps *g)
{
  int64_t moved = 1, most = 0;
  double farthest = 0.0;
  char text[200];
  for (int pass = 0; pass < MOST_MOVES && moved > 0; ++pass) {
    int64_t all = 0;
    for (int32_t b = 0; b < r->scene->pub.num_obstacles; ++b) {
      if (!has_distance(r, b)) continue;
      LOOM_TRY(push_verts_outside(r, b, g, &moved, &farthest));
      all += moved;
    }
    moved = all;
    most = all > most ? all : most;
  }
  if (most == 0) return LOOM_OK;
  LOOM_TRY(check_crossings(r));
  snprintf(text, sizeof text,
           "%lld vertices started inside bodies or nearer to them than half their thickness; they "
           "were moved out, at most by %.3g m at once (start = untangle)",
           (long long)most, farthest);
  run_message(r, LOOM_LOG_INFO, text);
  return LOOM_OK;
}

/* ---- by distances ---- */

static loom_status report_inside_verts(run *r, const found *f, double reach)
{
  buf_maps q = {.m = r->m};
  char text[512], all[1024];
  look l;
  loom_status s = open_look(r, &q, &l);
  if (s == LOOM_OK && f->beyond > reach) {
    s = refuse_inside_start(
        r, &l, f,
        reach > 0.0 ? "that is farther than the longest edge, too far to be moved out (start "
                      "= untangle); place it, or the body, elsewhere, and look at their units"
                    : "place it, or the body, elsewhere, look at their units, or set [run] "
                      "start = untangle to have it moved out");
  } else if (s == LOOM_OK && reach == 0.0) {
    describe_inside_object(r, &l, f, text, sizeof text);
    snprintf(all, sizeof all, "%s; that is less than half its thickness, and contact pushes it out",
             text);
    run_message(r, LOOM_LOG_WARN, all);
  }
  const loom_status ended = buf_maps_end(&q);
  return s != LOOM_OK ? s : ended;
}

static loom_status by_distances(run *r, const gaps *g)
{
  const int untangles = r->set.run.start == RUN_START_UNTANGLE;
  double reach = 0.0;
  if (untangles) LOOM_TRY(find_longest_edge(r, &reach));
  for (int32_t b = 0; b < r->scene->pub.num_obstacles; ++b) {
    found f;
    if (!has_distance(r, b)) continue;
    LOOM_TRY(look_at_body(r, b, g, &f));
    if (f.num > 0) LOOM_TRY(report_inside_verts(r, &f, reach));
  }
  return untangles ? move_out(r, g) : LOOM_OK;
}

/* ---- triangles ---- */

/* Solid angle of the surface at p over 4 pi: how often a closed one goes round p, counted positive
 * where its triangles face outwards (A. Van Oosterom, J. Strackee, IEEE Trans. Biomed. Eng. 1983).
 */
static double surface_winding(const isect_surface *s, const double *p)
{
  double sum = 0.0;
  for (int64_t t = 0; t < s->nt; ++t) {
    double a[3][3], n[3], len[3];
    for (int k = 0; k < 3; ++k) {
      vec3_sub(s->x + 3 * (int64_t)s->tris[3 * t + k], p, a[k]);
      len[k] = vec3_norm(a[k]);
    }
    vec3_cross(a[1], a[2], n);
    sum +=
        atan2(vec3_dot(a[0], n), len[0] * len[1] * len[2] + vec3_dot(a[0], a[1]) * len[2] +
                                     vec3_dot(a[1], a[2]) * len[0] + vec3_dot(a[2], a[0]) * len[1]);
  }
  return sum / (2.0 * pi);
}

static int in_box(const isect_surface *s, const double *p)
{
  double lo[3] = {INFINITY, INFINITY, INFINITY}, hi[3] = {-INFINITY, -INFINITY, -INFINITY};
  for (int64_t i = 0; i < 3 * s->n; ++i) {
    lo[i % 3] = fmin(lo[i % 3], s->x[i]);
    hi[i % 3] = fmax(hi[i % 3], s->x[i]);
  }
  for (int c = 0; c < 3; ++c)
    if (p[c] < lo[c] || p[c] > hi[c]) return 0;
  return 1;
}

static int32_t find_piece_root(int32_t *up, int32_t v)
{
  while (up[v] != v) v = up[v] = up[up[v]];
  return v;
}

/* up [n]: the least vertex of each one's piece; -1: of no triangle. */
static loom_status find_mesh_pieces(const run *r, int32_t **up)
{
  const loom_scene *const s = &r->scene->pub;
  buf_maps q = {.m = r->m};
  LOOM_TRY(mesh_alloc(r->err, s->num_verts, sizeof **up, up));
  const int32_t *const tris = buf_maps_add(&q, s->tris, LOOM_READ);
  for (int32_t v = 0; v < s->num_verts; ++v) (*up)[v] = -1;
  for (int64_t k = 0; q.status == LOOM_OK && k < 3 * (int64_t)s->num_tris; ++k) {
    const int32_t v = tris[k], first = tris[k - k % 3];
    if ((*up)[v] < 0) (*up)[v] = v;
    const int32_t a = find_piece_root(*up, v), b = find_piece_root(*up, first);
    if (a < b)
      (*up)[b] = a;
    else
      (*up)[a] = b;
  }
  for (int32_t v = 0; v < s->num_verts; ++v)
    if ((*up)[v] >= 0) (*up)[v] = find_piece_root(*up, v);
  return buf_maps_end(&q);
}

static int32_t find_obstacle_index(const run *r, const char *name)
{
  for (int32_t k = 0; k < r->scene->pub.num_obstacles; ++k)
    if (r->scene->obstacles[k].name == name) return k;
  return 0;
}

static loom_status look_at_piece(run *r, const look *l, const scene_bodies *b, const int32_t *up,
                                 int32_t v)
{
  double p[3];
  for (int c = 0; c < 3; ++c) p[c] = (double)l->x[3 * (int64_t)v + c];
  for (int k = 0; k < b->num; ++k) {
    if (!in_box(&b->at[k], p)) continue;
    const double w = surface_winding(&b->at[k], p);
    if (w < 0.5 || fabs(w - floor(w + 0.5)) > 1e-6) continue; /* outside, or it is open */
    found f = {.body = find_obstacle_index(r, b->name[k]), .deepest = v, .depth = NAN};
    for (int32_t i = v; i < r->scene->pub.num_verts; ++i) f.num += up[i] == v;
    LOOM_TRY(refuse_inside_start(
        r, l, &f,
        "place it, or the body, elsewhere, and look at their units; for a container "
        "take a mesh with triangles that face inwards, or [run] start = exclude"));
  }
  return LOOM_OK;
}

static loom_status by_triangles(run *r)
{
  int32_t *up = NULL;
  scene_bodies b = {0};
  buf_maps q = {.m = r->m};
  look l;
  loom_status s = find_mesh_pieces(r, &up);
  if (s == LOOM_OK) s = scene_bodies_open(r->err, r->scene, &b);
  if (s == LOOM_OK) s = open_look(r, &q, &l);
  for (int32_t v = 0; s == LOOM_OK && v < r->scene->pub.num_verts; ++v)
    if (up[v] == v) s = look_at_piece(r, &l, &b, up, v);
  scene_bodies_close(&b);
  free(up);
  const loom_status ended = buf_maps_end(&q);
  return s != LOOM_OK ? s : ended;
}

/* ---- all ---- */

loom_status run_check_inside(run *r)
{
  const int64_t n = r->scene->pub.num_verts;
  gaps g = {0};
  uint32_t kinds = 0;
  for (int i = 0; i < r->num_contact; ++i) kinds |= r->contact[i].kinds;
  if (r->out.resume || r->set.run.replay[0] != '\0' || n == 0 || r->scene->pub.num_obstacles == 0)
    return LOOM_OK;
  if (kinds & LOOM_BIT(LOOM_PAIR_VO)) {
    LOOM_TRY(buf_new(r->m, "core", "gaps at the start", LOOM_REAL, n, &g.gap));
    LOOM_TRY(buf_new(r->m, "core", "normals at the start", LOOM_REAL, 3 * n, &g.normal));
    LOOM_TRY(by_distances(r, &g));
    buf_free(r->m, g.gap);
    buf_free(r->m, g.normal);
  }
  return kinds & LOOM_BIT(LOOM_PAIR_BVT) ? by_triangles(r) : LOOM_OK;
}
