/* region.c - see region.h: seeds, growth, overlap, and the clipped surface. */
#include "ssdf/region.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "geom/pose.h"
#include "mesh/topo.h"

static const double no_weight =
    1e-6;                            /* a vertex that follows a joint by less does not move by it */
static const double near_end = 0.05; /* share of an edge: rims stay that far from its ends */

typedef struct growing {
  loom_err *err;
  const rig *r;
  const ssdf_region_spec *specs;
  int32_t num, which, frame;
  topo tp;
  int64_t *start;  /* [n + 1] into `across` */
  int32_t *across; /* neighbours of vertices */
  int32_t *own;    /* [n] region of a vertex, -1: none yet */
  double *strange; /* [n] share of weights that angles of other regions move */
  double *level;   /* [n] m, below 0 within the region */
  int32_t *heap;   /* [n] vertices by distance */
  int32_t *place;  /* [n] in the heap, -1: not there */
  double *dist;    /* [n] m */
} growing;

static void growing_free(growing *g)
{
  topo_free(&g->tp);
  void *const all[] = {g->start, g->across, g->own,   g->strange,
                       g->level, g->heap,   g->place, g->dist};
  for (size_t k = 0; k < sizeof all / sizeof *all; ++k) free(all[k]);
}

/* ---- joints that follow others ---- */

static int hangs_on(const rig *r, int32_t joint, int32_t on)
{
  while (joint >= 0 && joint != on) joint = r->joint[joint].parent;
  return joint == on;
}

static int has_dof(const ssdf_region_spec *s, int32_t dof)
{
  for (int32_t k = 0; k < s->num_dofs; ++k)
    if (s->dof[k] == dof) return 1;
  return 0;
}

/* 1: an angle that the region does not have, of a joint between `bone` and the frame, moves `bone`
 * against the frame. */
static int moves_strangely(const growing *g, int32_t bone)
{
  for (int32_t j = 0; j < g->r->num_joints; ++j) {
    const rig_joint *const a = &g->r->joint[j];
    if (hangs_on(g->r, bone, j) == (g->frame >= 0 && hangs_on(g->r, g->frame, j))) continue;
    for (int k = 0; k < a->num_dofs; ++k)
      if (!has_dof(&g->specs[g->which], a->first_dof + k)) return 1;
  }
  return 0;
}

static int32_t region_of_joint(const growing *g, int32_t joint)
{
  for (; joint >= 0; joint = g->r->joint[joint].parent)
    for (int32_t k = 0; k < g->num; ++k)
      if (g->specs[k].joint == joint) return k;
  return -1;
}

static void find_seeds(growing *g)
{
  const rig *const r = g->r;
  for (int32_t v = 0; v < r->skin.num_verts; ++v) {
    const double *const w = r->weight + (int64_t)v * r->per;
    const int32_t *const bone = r->bone + (int64_t)v * r->per;
    int best = 0;
    for (int k = 0; k < r->per; ++k) {
      if (w[k] > w[best]) best = k;
      if (w[k] > 0 && moves_strangely(g, bone[k])) g->strange[v] += w[k];
    }
    g->own[v] = region_of_joint(g, bone[best]);
  }
}

/* ---- distances along edges ---- */

static loom_status find_neighbours(growing *g)
{
  const int32_t n = g->r->skin.num_verts;
  LOOM_TRY(topo_build(g->err, g->r->skin.tris, g->r->skin.num_tris, n, &g->tp));
  LOOM_TRY(mesh_alloc(g->err, n + 2, sizeof *g->start, &g->start));
  LOOM_TRY(mesh_alloc(g->err, 2 * g->tp.num_edges, sizeof *g->across, &g->across));
  int64_t *const at = g->start + 1; /* ends up one place further down */
  for (int64_t k = 0; k < 2 * g->tp.num_edges; ++k) ++at[g->tp.edges[k] + 1];
  for (int32_t v = 0; v < n; ++v) at[v + 1] += at[v];
  for (int64_t e = 0; e < g->tp.num_edges; ++e)
    for (int end = 0; end < 2; ++end)
      g->across[at[g->tp.edges[2 * e + end]]++] = g->tp.edges[2 * e + 1 - end];
  return LOOM_OK;
}

/* Smaller distance first, then smaller id: the order does not depend on the heap. */
static int is_vertex_nearer(const growing *g, int32_t u, int32_t v)
{
  const double du = g->dist[u], dv = g->dist[v];
  return du < dv || (du == dv && u < v);
}

static void set_heap_entry(growing *g, int32_t at, int32_t v)
{
  g->heap[at] = v;
  g->place[v] = at;
}

static void raise_heap_vertex(growing *g, int32_t v)
{
  int32_t at = g->place[v];
  for (; at > 0 && is_vertex_nearer(g, v, g->heap[(at - 1) / 2]); at = (at - 1) / 2)
    set_heap_entry(g, at, g->heap[(at - 1) / 2]);
  set_heap_entry(g, at, v);
}

static int32_t take_first(growing *g, int32_t *count)
{
  const int32_t first = g->heap[0], v = g->heap[--*count];
  int32_t at = 0;
  g->place[first] = -1;
  if (*count == 0) return first;
  for (;;) {
    int32_t next = 2 * at + 1;
    if (next >= *count) break;
    next += next + 1 < *count && is_vertex_nearer(g, g->heap[next + 1], g->heap[next]);
    if (!is_vertex_nearer(g, g->heap[next], v)) break;
    set_heap_entry(g, at, g->heap[next]);
    at = next;
  }
  set_heap_entry(g, at, v);
  return first;
}

/* Dijkstra from the vertices with dist 0 over the others, which have dist DBL_MAX.  join = 1: each
 * reached vertex joins the region that it is reached from; join = 0: it does not enter vertices
 * that foreign angles move (`strange`). */
static void spread_distances(growing *g, int join)
{
  const double *const x = g->r->skin.x;
  int32_t count = 0;
  for (int32_t v = 0; v < g->r->skin.num_verts; ++v) {
    g->place[v] = -1;
    if (g->dist[v] > 0) continue;
    set_heap_entry(g, count++, v);
    raise_heap_vertex(g, v);
  }
  while (count > 0) {
    const int32_t v = take_first(g, &count);
    for (int64_t k = g->start[v]; k < g->start[v + 1]; ++k) {
      const int32_t u = g->across[k];
      if (!join && g->strange[u] > no_weight) continue;
      double length = 0;
      for (int c = 0; c < 3; ++c) length += pow(x[3 * u + c] - x[3 * v + c], 2);
      length = g->dist[v] + sqrt(length);
      if (!(length < g->dist[u])) continue;
      g->dist[u] = length;
      if (join) g->own[u] = g->own[v];
      if (g->place[u] < 0) set_heap_entry(g, count++, u);
      raise_heap_vertex(g, u);
    }
  }
}

/* Marks the neighbours of strange vertices as strange, too: rims then lie between vertices that
 * foreign angles do not move, and the region is exact up to its cut. */
static void widen_strange(growing *g)
{
  const int32_t n = g->r->skin.num_verts;
  for (int32_t v = 0; v < n; ++v) {
    g->dist[v] = g->strange[v];
    for (int64_t k = g->start[v]; k < g->start[v + 1]; ++k)
      g->dist[v] = fmax(g->dist[v], g->strange[g->across[k]]);
  }
  memcpy(g->strange, g->dist, (size_t)n * sizeof *g->strange);
}

static loom_status find_levels(growing *g)
{
  const int32_t n = g->r->skin.num_verts;
  int32_t members = 0;
  for (int32_t v = 0; v < n; ++v) g->dist[v] = g->own[v] >= 0 ? 0 : DBL_MAX;
  spread_distances(g, 1);
  for (int32_t v = 0; v < n; ++v) {
    const int member = g->own[v] == g->which && g->strange[v] <= no_weight;
    g->dist[v] = member ? 0 : DBL_MAX;
    members += member;
  }
  if (members == 0)
    return err_set(g->err, LOOM_E_CONFIG, "no vertex of the skin follows joint %s alone",
                   g->r->joint[g->specs[g->which].joint].name);
  spread_distances(g, 0);
  for (int32_t v = 0; v < n; ++v)
    g->level[v] = g->dist[v] < DBL_MAX ? g->dist[v] - g->specs[g->which].grow : 1e-3;
  return LOOM_OK;
}

/* ---- the surface ---- */

typedef struct clipping {
  growing *g;
  rig *part;
  int32_t *vert; /* [n] new number of a vertex, -1: left out */
  int32_t *rim;  /* [num_edges] new number of the point where the edge is cut, -1: it is not */
  int32_t *next; /* [new vertices] along a rim, -1: not on one */
  int32_t verts, tris;
} clipping;

/* One more vertex between u and v of the skin, at share s. */
static int32_t add_between(clipping *c, int32_t u, int32_t v, double s)
{
  const rig *const r = c->g->r;
  const int32_t at = c->verts++, ends[2] = {u, v};
  double *const w = c->part->weight + (int64_t)at * c->part->per;
  for (int end = 0; end < 2; ++end) {
    const double share = end == 0 ? 1 - s : s;
    for (int k = 0; k < 3; ++k) c->part->skin.x[3 * at + k] += share * r->skin.x[3 * ends[end] + k];
    for (int k = 0; k < r->per; ++k) {
      const int64_t from = (int64_t)ends[end] * r->per + k;
      w[r->bone[from]] += share * r->weight[from];
    }
  }
  return at;
}

static void create_clip_verts(clipping *c)
{
  const growing *const g = c->g;
  for (int32_t v = 0; v < g->r->skin.num_verts; ++v)
    c->vert[v] = g->level[v] < 0 ? add_between(c, v, v, 0) : -1;
  for (int64_t e = 0; e < g->tp.num_edges; ++e) {
    const int32_t u = g->tp.edges[2 * e], v = g->tp.edges[2 * e + 1];
    const double a = g->level[u], b = g->level[v];
    c->rim[e] = -1;
    if ((a < 0) == (b < 0)) continue;
    c->rim[e] = add_between(c, u, v, fmin(fmax(a / (a - b), near_end), 1 - near_end));
  }
}

static void append_clip_tri(clipping *c, int32_t p, int32_t q, int32_t s)
{
  const int32_t t[3] = {p, q, s};
  memcpy(c->part->skin.tris + 3 * (int64_t)c->tris++, t, sizeof t);
}

/* Adds the part of triangle t, with the edges e [3], that lies within the region. */
static void clip_triangle(clipping *c, int32_t t, const int64_t e[3])
{
  const int32_t *const v = c->g->r->skin.tris + 3 * (int64_t)t;
  int32_t polygon[4], count = 0, from = -1, to = -1;
  for (int k = 0; k < 3; ++k) {
    if (c->vert[v[k]] >= 0) polygon[count++] = c->vert[v[k]];
    if (c->rim[e[k]] < 0) continue;
    if (c->vert[v[k]] >= 0)
      from = c->rim[e[k]]; /* the rim begins where the polygon leaves the side */
    else
      to = c->rim[e[k]];
    polygon[count++] = c->rim[e[k]];
  }
  for (int k = 2; k < count; ++k) append_clip_tri(c, polygon[0], polygon[k - 1], polygon[k]);
  if (from >= 0) c->next[from] = to;
}

static loom_status clip_all(clipping *c)
{
  const growing *const g = c->g;
  int64_t *edge;
  LOOM_TRY(mesh_alloc(g->err, 3 * (int64_t)g->r->skin.num_tris, sizeof *edge, &edge));
  for (int64_t e = 0; e < g->tp.num_edges; ++e)
    for (int64_t k = g->tp.first[e]; k < g->tp.first[e + 1]; ++k) edge[g->tp.sides[k]] = e;
  for (int32_t t = 0; t < g->r->skin.num_tris; ++t) clip_triangle(c, t, edge + 3 * (int64_t)t);
  free(edge);
  return LOOM_OK;
}

/* A fan around the middle of every rim. */
static void close_rims(clipping *c, unsigned char *cut)
{
  const int32_t verts = c->verts;
  const int per = c->part->per;
  for (int32_t first = 0; first < verts; ++first) {
    int32_t count = 0;
    if (c->next[first] < 0) continue;
    const int32_t middle = c->verts++;
    double *const x = c->part->skin.x + 3 * (int64_t)middle;
    double *const w = c->part->weight + (int64_t)middle * per;
    for (int32_t v = first; c->next[v] >= 0; ++count) {
      const int32_t to = c->next[v];
      for (int k = 0; k < 3; ++k) x[k] += c->part->skin.x[3 * v + k];
      for (int k = 0; k < per; ++k) w[k] += c->part->weight[(int64_t)v * per + k];
      cut[c->tris] = 1;
      append_clip_tri(c, to, v, middle);
      c->next[v] = -1;
      v = to;
    }
    for (int k = 0; k < 3; ++k) x[k] /= count;
    for (int k = 0; k < per; ++k) w[k] /= count;
  }
}

static loom_status make_surface(growing *g, ssdf_region *out)
{
  const rig *const r = g->r;
  const int64_t most = r->skin.num_verts + 2 * g->tp.num_edges; /* a middle has 3 rim points */
  const int64_t tris = 4 * (int64_t)r->skin.num_tris;
  rig *const part = &out->part;
  clipping c = {.g = g, .part = part};
  part->num_joints = part->per = r->num_joints;
  part->num_dofs = r->num_dofs;
  loom_status s = mesh_alloc(g->err, r->num_joints, sizeof *part->joint, &part->joint);
  if (s == LOOM_OK) s = mesh_alloc(g->err, 3 * most, sizeof(double), &part->skin.x);
  if (s == LOOM_OK) s = mesh_alloc(g->err, 3 * tris, sizeof(int32_t), &part->skin.tris);
  if (s == LOOM_OK) s = mesh_alloc(g->err, most * part->per, sizeof(int32_t), &part->bone);
  if (s == LOOM_OK) s = mesh_alloc(g->err, most * part->per, sizeof(double), &part->weight);
  if (s == LOOM_OK) s = mesh_alloc(g->err, tris, 1, &out->cut);
  if (s == LOOM_OK) s = mesh_alloc(g->err, r->skin.num_verts, sizeof *c.vert, &c.vert);
  if (s == LOOM_OK) s = mesh_alloc(g->err, g->tp.num_edges, sizeof *c.rim, &c.rim);
  if (s == LOOM_OK) s = mesh_alloc(g->err, most, sizeof *c.next, &c.next);
  if (s == LOOM_OK) {
    memcpy(part->joint, r->joint, (size_t)r->num_joints * sizeof *r->joint);
    for (int64_t k = 0; k < most * part->per; ++k) part->bone[k] = (int32_t)(k % part->per);
    for (int64_t k = 0; k < most; ++k) c.next[k] = -1;
    create_clip_verts(&c);
    s = clip_all(&c);
  }
  if (s == LOOM_OK) close_rims(&c, out->cut);
  part->skin.num_verts = c.verts;
  part->skin.num_tris = c.tris;
  free(c.vert);
  free(c.rim);
  free(c.next);
  return s;
}

/* ---- the whole ---- */

static loom_status check_spec(loom_err *err, const rig *r, const ssdf_region_spec *s, int32_t frame)
{
  char name[2 * RIG_NAME_LEN + 2];
  for (int32_t j = 0; j < r->num_joints; ++j)
    for (int k = 0; k < r->joint[j].num_dofs; ++k) {
      if (frame < 0 || !hangs_on(r, frame, j) || !has_dof(s, r->joint[j].first_dof + k)) continue;
      rig_dof_name(r, r->joint[j].first_dof + k, name, sizeof name);
      return err_set(err, LOOM_E_CONFIG, "%s moves joint %s, which is the frame of the region",
                     name, r->joint[frame].name);
    }
  return LOOM_OK;
}

static loom_status grow_region(growing *g, ssdf_region *out)
{
  const int32_t n = g->r->skin.num_verts;
  LOOM_TRY(check_spec(g->err, g->r, &g->specs[g->which], g->frame));
  LOOM_TRY(mesh_alloc(g->err, n, sizeof *g->own, &g->own));
  LOOM_TRY(mesh_alloc(g->err, n, sizeof *g->strange, &g->strange));
  LOOM_TRY(mesh_alloc(g->err, n, sizeof *g->level, &g->level));
  LOOM_TRY(mesh_alloc(g->err, n, sizeof *g->heap, &g->heap));
  LOOM_TRY(mesh_alloc(g->err, n, sizeof *g->place, &g->place));
  LOOM_TRY(mesh_alloc(g->err, n, sizeof *g->dist, &g->dist));
  LOOM_TRY(find_neighbours(g));
  find_seeds(g);
  widen_strange(g);
  LOOM_TRY(find_levels(g));
  return make_surface(g, out);
}

void ssdf_region_free(ssdf_region *g)
{
  rig_free(&g->part);
  free(g->cut);
  memset(g, 0, sizeof *g);
}

loom_status ssdf_region_make(loom_err *err, const rig *r, const ssdf_region_spec *specs,
                             int32_t num, int32_t which, ssdf_region *out)
{
  const int32_t frame = r->joint[specs[which].joint].parent;
  growing g = {.err = err, .r = r, .specs = specs, .num = num, .which = which, .frame = frame};
  *out = (ssdf_region){.spec = specs[which], .frame = frame};
  const loom_status s = grow_region(&g, out);
  growing_free(&g);
  if (s != LOOM_OK) ssdf_region_free(out);
  return s;
}

void ssdf_region_pose(const ssdf_region *g, const double *angles, double *T, double *all, double *x)
{
  double root[12];
  pose_identity(root);
  memset(all, 0, (size_t)g->part.num_dofs * sizeof *all);
  for (int32_t k = 0; k < g->spec.num_dofs; ++k) all[g->spec.dof[k]] = angles[k];
  rig_pose(&g->part, all, root, T); /* joints above the frame keep their rest pose */
  rig_skin(&g->part, T, x);
}
