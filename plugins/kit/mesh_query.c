/* mesh_query.c - the mesh of cloth and bodies of a collision plugin, and its positions; see
 * mesh_query.h. */
#include "kit/mesh_query.h"

#include <string.h>

static const lk_entry k_pose = LK_ENTRY_MOVES(mesh_pose, 8, 0),
                      k_mark = LK_ENTRY_MOVES(mesh_mark, 0, 2);
static const lk_entry k_far = LK_ENTRY_MOVES(mesh_far, 6, 0);
static const lk_entry k_moved = LK_ENTRY_MOVES(mesh_moved, 12, 0);

/* A chunk is small enough for the caches and large enough for a device. */
enum { MIN_ROOM = 1 << 11, MAX_ROOM = 1 << 17 };

/* ---- life ---- */

static loom_status check_mesh_scene(const loom_host *host, const loom_scene *sc)
{
  const int64_t verts = (int64_t)sc->num_verts + sc->num_body_verts;
  const int64_t tris = (int64_t)sc->num_tris + sc->num_body_tris;
  const int64_t edges = (int64_t)sc->num_edges + sc->num_body_edges;
  LOOM_CHECK(host, verts <= LK_MAX_ELEMS && tris <= LK_MAX_ELEMS && edges <= LK_MAX_ELEMS,
             LOOM_E_ARG, "%lld vertices, %lld triangles and %lld edges; at most %d of each",
             (long long)verts, (long long)tris, (long long)edges, (int)LK_MAX_ELEMS);
  return LOOM_OK;
}

/* to [a + b]: cloth's ids, then the bodies', moved on by `shift` */
static loom_status join_ids(const mesh *m, loom_buf *cloth, int64_t a, loom_buf *body, int64_t b,
                            int32_t shift, loom_buf *to)
{
  const loom_host *const host = m->host;
  void *p, *q;
  LOOM_TRY(host->map(host, m->e, to, LOOM_WRITE, LOOM_AT_HOST, &p));
  if (a > 0) {
    LOOM_TRY(host->map(host, m->e, cloth, LOOM_READ, LOOM_AT_HOST, &q));
    memcpy(p, q, (size_t)a * sizeof(int32_t));
    LOOM_TRY(host->unmap(host, cloth));
  }
  if (b > 0) {
    LOOM_TRY(host->map(host, m->e, body, LOOM_READ, LOOM_AT_HOST, &q));
    for (int64_t i = 0; i < b; ++i) ((int32_t *)p)[a + i] = ((const int32_t *)q)[i] + shift;
    LOOM_TRY(host->unmap(host, body));
  }
  return host->unmap(host, to);
}

static loom_status make_topology(mesh *m)
{
  const loom_host *const host = m->host;
  const loom_scene *const sc = m->sc;
  void *p, *q;
  if (!m->has_bodies) {
    m->tris = sc->tris;
    m->edges = sc->edges;
    m->radius = sc->radius;
    return LOOM_OK;
  }
  LOOM_TRY(host->buf_new(host, "triangles", LOOM_I32, 3 * (int64_t)m->num_tris, &m->tris));
  LOOM_TRY(host->buf_new(host, "edges", LOOM_I32, 2 * (int64_t)m->num_edges, &m->edges));
  LOOM_TRY(host->buf_new(host, "radii", LOOM_REAL, m->num_verts, &m->radius));
  LOOM_TRY(host->buf_new(host, "positions at 0", LOOM_REAL, 3 * (int64_t)m->num_verts, &m->x0));
  LOOM_TRY(host->buf_new(host, "positions at 1", LOOM_REAL, 3 * (int64_t)m->num_verts, &m->x1));
  LOOM_TRY(join_ids(m, sc->tris, 3 * (int64_t)sc->num_tris, sc->body_tris,
                    3 * (int64_t)sc->num_body_tris, sc->num_verts, m->tris));
  LOOM_TRY(join_ids(m, sc->edges, 2 * (int64_t)sc->num_edges, sc->body_edges,
                    2 * (int64_t)sc->num_body_edges, sc->num_verts, m->edges));
  LOOM_TRY(host->map(host, m->e, sc->radius, LOOM_READ, LOOM_AT_HOST, &p));
  LOOM_TRY(host->map(host, m->e, m->radius, LOOM_WRITE, LOOM_AT_HOST, &q));
  memset(q, 0, (size_t)m->num_verts * sizeof(loom_real));
  memcpy(q, p, (size_t)sc->num_verts * sizeof(loom_real));
  LOOM_TRY(host->unmap(host, m->radius));
  return host->unmap(host, sc->radius);
}

static loom_status mark_corners(const mesh *m, loom_buf *ids, int64_t num, uint8_t *state)
{
  void *p;
  if (num == 0) return LOOM_OK;
  LOOM_TRY(m->host->map(m->host, m->e, ids, LOOM_READ, LOOM_AT_HOST, &p));
  for (int64_t i = 0; i < num; ++i) {
    const int32_t v = ((const int32_t *)p)[i];
    LOOM_CHECK(m->host, v >= 0 && v < m->num_verts, LOOM_E_ARG, "corner %d of %d vertices", v,
               m->num_verts);
    state[v] |= MESH_SURFACE;
  }
  return m->host->unmap(m->host, ids);
}

static loom_status make_state(mesh *m)
{
  const loom_host *const host = m->host;
  void *p, *f;
  LOOM_TRY(host->buf_new(host, "vertex kinds", LOOM_U8, m->num_verts, &m->fixed_state));
  LOOM_TRY(host->buf_new(host, "vertex states", LOOM_U8, m->num_verts, &m->state));
  LOOM_TRY(host->map(host, m->e, m->fixed_state, LOOM_WRITE, LOOM_AT_HOST, &p));
  LOOM_TRY(host->map(host, m->e, m->sc->fixed, LOOM_READ, LOOM_AT_HOST, &f));
  uint8_t *const state = p;
  memset(state, 0, (size_t)m->num_verts);
  for (int32_t i = 0; i < m->sc->num_verts; ++i)
    if (!((const uint8_t *)f)[i]) state[i] = MESH_FREE;
  LOOM_TRY(host->unmap(host, m->sc->fixed));
  LOOM_TRY(mark_corners(m, m->tris, 3 * (int64_t)m->num_tris, state));
  LOOM_TRY(mark_corners(m, m->edges, 2 * (int64_t)m->num_edges, state));
  return host->unmap(host, m->fixed_state);
}

void mesh_reset(mesh *m)
{
  m->step = -1;
  m->last[0] = m->last[1] = 1.0;
}

loom_status mesh_create(mesh *m, const loom_host *host, const loom_scene *sc, const loom_exec *e,
                        const mesh_params *set)
{
  m->host = host;
  m->sc = sc;
  m->e = e;
  m->set = *set;
  mesh_reset(m);
  m->left_out = loom_scene_exclusions(sc);
  LOOM_TRY(check_mesh_scene(host, sc));
  m->num_verts = sc->num_verts + sc->num_body_verts;
  m->num_tris = sc->num_tris + sc->num_body_tris;
  m->num_edges = sc->num_edges + sc->num_body_edges;
  m->has_bodies = sc->num_body_verts > 0;
  const int64_t some = ((int64_t)m->num_tris + m->num_edges) / 2;
  m->room = some < MIN_ROOM ? MIN_ROOM : some > MAX_ROOM ? MAX_ROOM : some;
  LOOM_TRY(make_topology(m));
  LOOM_TRY(make_state(m));
  LOOM_TRY(mesh_group_followers(m));
  LOOM_TRY(host->buf_new(host, "candidates", LOOM_U64, m->room, &m->name));
  LOOM_TRY(host->buf_new(host, "found", LOOM_I64, m->room, &m->found));
  LOOM_TRY(host->buf_new(host, "places", LOOM_I64, m->room + 1, &m->place));
  LOOM_TRY(host->buf_new(host, "impacts of candidates", LOOM_REAL, m->room, &m->chunk_toi));
  LOOM_TRY(host->buf_new(host, "kept", LOOM_U64, 0, &m->kept));
  LOOM_TRY(host->buf_new(host, "impacts", LOOM_REAL, 0, &m->toi));
  LOOM_TRY(gather_create(&m->held, host, e));
  LOOM_TRY(host->buf_new(host, "held vertices", LOOM_I32, 0, &m->held_v));
  LOOM_TRY(host->buf_new(host, "held shares", LOOM_REAL, 0, &m->held_share));
  if (m->watch)
    LOOM_TRY(host->buf_new(host, "places of bodies", LOOM_REAL, 3 * (int64_t)sc->num_body_verts,
                           &m->seen));
  LOOM_TRY(host->buf_new(host, "cut", LOOM_I64, 2, &m->cut));
  LOOM_TRY(host->buf_new(host, "end of a cut step", LOOM_REAL, 0, &m->part));
  return host->buf_new(host, "result", LOOM_REAL, 3, &m->result);
}

/* ---- positions ----
 */

/* Cloth at x, bodies at the share `progress` of their way. */
static loom_status pose_mesh(mesh *m, const loom_step *s, loom_buf *x, double progress,
                             loom_buf *out)
{
  LOOM_CHECK(m->host, s->body0 != NULL && s->body1 != NULL, LOOM_E_STATE,
             "the scene has bodies with meshes, but the step has no positions of theirs");
  plug_maps maps = plug_maps_on(m->host, m->e);
  const mesh_pose_args args = {.x = plug_read(&maps, x),
                               .body0 = plug_read(&maps, s->body0),
                               .body1 = plug_read(&maps, s->body1),
                               .out = plug_write(&maps, out),
                               .progress = (lk_real)progress,
                               .cloth_verts = m->sc->num_verts};
  return plug_launch(&maps, &k_pose, &args, m->num_verts, NULL);
}

static loom_status mark_mesh_vertices(mesh *m, loom_buf *mask)
{
  plug_maps maps = plug_maps_on(m->host, m->e);
  const mesh_mark_args args = {.fixed_state = plug_read(&maps, m->fixed_state),
                               .mask = plug_read(&maps, mask),
                               .state = plug_write(&maps, m->state),
                               .cloth_verts = m->sc->num_verts};
  return plug_launch(&maps, &k_mark, &args, m->num_verts, NULL);
}

/* The first vertex of x that k_far has found; LOOM_OK if it is none of x. */
static loom_status name_far(mesh *m, loom_buf *x, const char *when)
{
  const loom_host *const host = m->host;
  void *p;
  LOOM_TRY(host->map(host, m->e, x, LOOM_READ, LOOM_AT_HOST, &p));
  const loom_real *const at = p;
  int64_t i = 0;
  const int64_t end = 3 * (int64_t)m->num_verts;
  while (i < end && LK_FABS(at[i]) <= MESH_FAR) ++i;
  const loom_real bad = i < end ? at[i] : 0;
  LOOM_TRY(host->unmap(host, x));
  if (i == end) return LOOM_OK;
  const int64_t v = i / 3, n = m->sc->num_verts;
  return LOOM_FAIL(host, LOOM_E_NUMERIC,
                   "vertex %lld%s %s: coordinate %lld is %g m, not finite or beyond %g m; the "
                   "cloth has blown up: shorten dt, or look at gravity, speeds and stiffness",
                   (long long)(v < n ? v : v - n), v < n ? "" : " of the bodies", when,
                   (long long)i % 3, (double)bad, (double)MESH_FAR);
}

/* Maxima of k_far and k_moved over the view from x0 to x1, by one read of the device; out[1] is 1
 * where bodies are not watched. */
static loom_status reduce_view(mesh *m, loom_buf *x0, loom_buf *x1, double out[2])
{
  const int watched = m->watch && m->has_bodies;
  out[0] = 0.0;
  out[1] = 1.0;
  if (m->num_verts == 0) return LOOM_OK;
  plug_maps maps = plug_maps_on(m->host, m->e);
  const mesh_far_args far = {.x0 = plug_read(&maps, x0), .x1 = plug_read(&maps, x1)};
  LOOM_TRY(plug_launch(&maps, &k_far, &far, m->num_verts, plug_rdwr(&maps, m->result)));
  if (watched) {
    maps = plug_maps_on(m->host, m->e);
    lk_real *const result = plug_rdwr(&maps, m->result);
    const mesh_moved_args moved = {.x0 = plug_read(&maps, x0),
                                   .x1 = plug_read(&maps, x1),
                                   .seen = plug_rdwr(&maps, m->seen),
                                   .cloth_verts = m->sc->num_verts};
    LOOM_TRY(plug_launch(&maps, &k_moved, &moved, m->sc->num_body_verts,
                         result != NULL ? result + 1 : NULL));
  }
  return plug_fetch(m->host, m->e, m->result, watched ? 2 : 1, out);
}

/* Boxes and cells hold no coordinates that are larger, or no numbers. */
static loom_status refuse_far(mesh *m, loom_buf *x0, loom_buf *x1)
{
  LOOM_TRY(name_far(m, x0, "where the motion begins"));
  return name_far(m, x1, "where the motion ends");
}

static void count_stills(mesh *m, int moved, int masked)
{
  if (moved)
    m->still = 0;
  else if (m->still == 0 || masked != m->still_masked)
    m->still = ++m->num_stills;
  m->still_masked = masked;
}

mesh_faces mesh_faces_bind(const mesh *m, plug_maps *maps)
{
  loom_buf *const tris = m->num_tris > 0 ? m->tris : NULL;
  loom_buf *const edges = m->num_edges > 0 ? m->edges : NULL;
  return (mesh_faces){.num_verts = m->num_verts,
                      .num_tris = m->num_tris,
                      .num_edges = m->num_edges,
                      .cloth_tris = m->sc->num_tris,
                      .cloth_edges = m->sc->num_edges,
                      .tris = plug_bind(maps, tris, LOOM_READ, LOOM_AT_HOST),
                      .edges = plug_bind(maps, edges, LOOM_READ, LOOM_AT_HOST)};
}

loom_status mesh_open(mesh *m, const loom_step *s, const mesh_motion *q, mesh_view *out)
{
  loom_buf *x0 = q->x0, *x1 = q->x1 != NULL ? q->x1 : q->x0;
  plug_maps *const maps = &m->maps;
  if (m->has_bodies) {
    LOOM_TRY(pose_mesh(m, s, q->x0, q->progress0, m->x0));
    if (q->x1 != NULL) LOOM_TRY(pose_mesh(m, s, q->x1, q->progress1, m->x1));
    x0 = m->x0;
    x1 = q->x1 != NULL ? m->x1 : m->x0;
  }
  double found[2];
  LOOM_TRY(reduce_view(m, x0, x1, found));
  if (found[0] > 0.0) LOOM_TRY(refuse_far(m, x0, x1));
  count_stills(m, found[1] > 0.0, q->mask != NULL);
  LOOM_TRY(mark_mesh_vertices(m, q->mask));
  *maps = plug_maps_on(m->host, m->e);
  *out = (mesh_view){.x0 = plug_read(maps, x0),
                     .x1 = plug_read(maps, x1),
                     .radius = plug_read(maps, m->radius),
                     .state = plug_read(maps, m->state),
                     .group = plug_read(maps, m->group),
                     .tris = plug_read(maps, m->num_tris > 0 ? m->tris : NULL),
                     .edges = plug_read(maps, m->num_edges > 0 ? m->edges : NULL),
                     .num_verts = m->num_verts,
                     .num_tris = m->num_tris,
                     .num_edges = m->num_edges,
                     .cloth_verts = m->sc->num_verts,
                     .cloth_tris = m->sc->num_tris,
                     .cloth_edges = m->sc->num_edges};
  return maps->status;
}

loom_status mesh_close(mesh *m) { return plug_unbind(&m->maps); }
