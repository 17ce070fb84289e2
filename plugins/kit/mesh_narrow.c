/* mesh_narrow.c - lists of named pairs: quick test in chunks, exact test, result, step bound; see
 * mesh_query.h. */
#include <math.h>

#include "kit/mesh_query.h"

static const lk_entry k_close[2] = {LK_ENTRY_MOVES(mesh_close_vt, 18, 3),
                                    LK_ENTRY_MOVES(mesh_close_ee, 18, 4)};
static const lk_entry k_near[2] = {LK_ENTRY_MOVES(mesh_near_vt, 30, 3),
                                   LK_ENTRY_MOVES(mesh_near_ee, 30, 4)};
static const lk_entry k_apart[2] = {LK_ENTRY_MOVES(mesh_apart_vt, 30, 3),
                                    LK_ENTRY_MOVES(mesh_apart_ee, 30, 4)};
static const lk_entry k_clear = LK_ENTRY_MOVES(mesh_clear, 1, 0),
                      k_leave = LK_ENTRY_MOVES(mesh_leave_out, 1, 1);
static const lk_entry k_keep = LK_ENTRY_MOVES(mesh_keep, 2, 0),
                      k_fill = LK_ENTRY_MOVES(mesh_fill, 31, 11);
/* One kernel for both families on the CPU; on a device a kernel per family takes fewer registers.
 */
static const lk_entry k_judge[3] = {
    {"mesh_judge", (uint32_t)sizeof(mesh_judge_args), 0, {mesh_judge_cpu, NULL}, LK_MOVES(16, 8)},
    LK_ENTRY_MOVES(mesh_judge_vt, 8, 4),
    LK_ENTRY_MOVES(mesh_judge_ee, 8, 4)};
static const lk_entry k_bound[3] = {
    {"mesh_bound", (uint32_t)sizeof(mesh_bound_args), 0, {mesh_bound_cpu, NULL}, LK_MOVES(30, 8)},
    LK_ENTRY_MOVES(mesh_bound_vt, 15, 4),
    LK_ENTRY_MOVES(mesh_bound_ee, 15, 4)};
static const lk_entry k_shortest = LK_ENTRY_MOVES(mesh_shortest, 1, 0),
                      k_blocker = LK_ENTRY_MOVES(mesh_blocker, 1, 0);
static const lk_entry k_touching = LK_ENTRY_MOVES(mesh_touching, 1, 0);
static const lk_entry k_cut = LK_ENTRY_MOVES(mesh_cut, 12, 0),
                      k_part = LK_ENTRY_MOVES(mesh_part, 3, 0);

/* The next bound of a step is looked for within this multiple of the last two, then within so many
 * times that; a bound counts as found within this share of a part of the way. */
static const double likely_share = 2.0, farther = 4.0, within_share = 0.99;

/* A step ends, and an impact is reported, when less than this multiple of the share to be kept is
 * left (ccd_gap_of). */
static const double stop_factor = 1.5;

/* ---- helpers ---- */

loom_status mesh_run_families(plug_maps *maps, const lk_entry k[3], const void *args, int64_t n)
{
  if (maps->e->backend == LOOM_CPU) return plug_run_on(maps, &k[0], args, n, NULL);
  LOOM_TRY(plug_run_on(maps, &k[1], args, n, NULL));
  return plug_run_on(maps, &k[2], args, n, NULL);
}

loom_status mesh_fetch_i64(const mesh *m, loom_buf *b, int n, int64_t *out)
{
  void *p;
  LOOM_TRY(m->host->map(m->host, m->e, b, LOOM_READ, LOOM_AT_HOST, &p));
  for (int i = 0; i < n; ++i) out[i] = ((const int64_t *)p)[i];
  return m->host->unmap(m->host, b);
}

loom_status mesh_reserve(const mesh *m, loom_buf *b, int64_t count)
{
  if (count <= m->host->buf_count(m->host, b)) return LOOM_OK;
  return m->host->buf_resize(m->host, b, count + count / 8);
}

/* Group behind the last one that fits into `room` from `first` on, and its place. */
static loom_status cut_chunk(mesh *m, loom_buf *place, int64_t first, int64_t num, int64_t room,
                             int64_t out[2])
{
  plug_maps maps = plug_maps_on(m->host, m->e);
  const mesh_cut_args args = {.place = plug_read(&maps, place),
                              .out = plug_write(&maps, m->cut),
                              .first = first,
                              .num = num,
                              .room = room};
  LOOM_TRY(plug_launch(&maps, &k_cut, &args, 1, NULL));
  return mesh_fetch_i64(m, m->cut, 2, out);
}

loom_status mesh_place_at(mesh *m, loom_buf *place, int64_t at, int64_t *out)
{
  int64_t both[2];
  LOOM_TRY(cut_chunk(m, place, at, at, 0, both));
  *out = both[1];
  return LOOM_OK;
}

static ccd_settings ccd_of(const mesh *m)
{
  ccd_settings s = ccd_defaults();
  s.eta = (lk_real)m->set.keep;
  s.max_steps = (int32_t)m->set.max_steps;
  return s;
}

mesh_wanted mesh_wanted_by(const mesh *m, const loom_query *q)
{
  const int ready = (q->what & LOOM_DETECT_PROXIMITY) != 0; /* see filter_kept_pairs() */
  mesh_wanted w = {.kinds = q->kinds & MESH_KINDS,
                   .reach = -LK_REAL_MAX,
                   .keep = (lk_real)(stop_factor * (ready ? m->set.keep : (double)CCD_IMPACT_KEEP)),
                   .moving = (q->what & LOOM_DETECT_CCD) != 0};
  if (q->what & LOOM_DETECT_OVERLAP) w.reach = 0;
  if ((q->what & LOOM_DETECT_PROXIMITY) && q->margin > w.reach) w.reach = q->margin;
  return w;
}

mesh_wanted mesh_wanted_bound(const mesh *m, const loom_bound *b)
{
  return (mesh_wanted){.kinds = MESH_KINDS,
                       .reach = -LK_REAL_MAX,
                       .min_gap = (lk_real)b->min_gap,
                       .keep = (lk_real)(stop_factor * m->set.keep),
                       .moving = 1,
                       .apart = b->per_vertex};
}

mesh_growth mesh_inflation(const mesh_wanted *w)
{
  /* the distance at which pairs count, at x0 or on the way, is shared by both sides */
  const double apart = w->moving && w->min_gap > w->reach ? w->min_gap : w->reach;
  return (mesh_growth){0.5 * apart, w->moving ? w->keep / (1.0 - (double)w->keep) : 0.0};
}

/* ---- quick test ---- */

/* Append the names marked in m->found to m->kept, with the times of impact if any. */
static loom_status append_found_names(mesh *m, loom_buf *toi, int64_t at, int64_t *added)
{
  const loom_host *const host = m->host;
  LOOM_TRY(host->scan_i64(host, m->e, m->found, m->place, added));
  if (*added == 0) return LOOM_OK;
  LOOM_TRY(mesh_reserve(m, m->kept, at + *added));
  if (toi != NULL) LOOM_TRY(mesh_reserve(m, m->toi, at + *added));
  plug_maps maps = plug_maps_on(host, m->e);
  mesh_keep_args args = {.from = plug_read(&maps, m->name),
                         .toi = plug_read(&maps, toi),
                         .place = plug_read(&maps, m->place),
                         .to = plug_rdwr(&maps, m->kept),
                         .to_toi = plug_rdwr(&maps, toi != NULL ? m->toi : NULL)};
  if (args.to != NULL) args.to += at;
  if (args.to_toi != NULL) args.to_toi += at;
  return plug_launch(&maps, &k_keep, &args, m->room, NULL);
}

/* Clears m->found behind the first `count` candidates. */
static loom_status clear_rest(mesh *m, plug_maps *maps, const mesh_near_args *args)
{
  return plug_run_on(maps, &k_clear, args, m->room - args->count, NULL);
}

static loom_status quick_test(mesh *m, const mesh_view *v, const mesh_wanted *w, int family,
                              int64_t count)
{
  plug_maps maps = plug_maps_on(m->host, m->e);
  const lk_entry *const test = w->apart    ? &k_apart[family]
                               : w->moving ? &k_near[family]
                                           : &k_close[family];
  const mesh_near_args args = {.m = *v,
                               .name = plug_read(&maps, m->name),
                               .found = plug_write(&maps, m->found),
                               .count = count,
                               .reach = w->reach,
                               .min_gap = w->min_gap,
                               .keep = w->keep};
  LOOM_TRY(plug_run_on(&maps, test, &args, count, NULL));
  LOOM_TRY(clear_rest(m, &maps, &args));
  return plug_unbind(&maps);
}

/* Clears m->found for the pairs that the scene leaves out. */
static loom_status leave_out(mesh *m, const mesh_view *v, int family, int64_t count)
{
  if (m->left_out == NULL || m->left_out->count == 0) return LOOM_OK;
  plug_maps maps = plug_maps_on(m->host, m->e);
  const mesh_leave_args args = {.m = *v,
                                .name = plug_read(&maps, m->name),
                                .found = plug_rdwr(&maps, m->found),
                                .first = plug_read(&maps, m->left_out->first),
                                .other = plug_read(&maps, m->left_out->other),
                                .family = family};
  return plug_launch(&maps, &k_leave, &args, count, NULL);
}

/* Enlarges chunks, where one group has more candidates than a chunk holds. */
static loom_status grow_chunks(mesh *m, int64_t room)
{
  LOOM_CHECK(m->host, room <= LK_MAX_ELEMS, LOOM_E_ARG,
             "one vertex or edge has %lld candidates; make the margin smaller", (long long)room);
  m->room = room;
  LOOM_TRY(m->host->buf_resize(m->host, m->name, room));
  LOOM_TRY(m->host->buf_resize(m->host, m->found, room));
  LOOM_TRY(m->host->buf_resize(m->host, m->place, room + 1));
  return m->host->buf_resize(m->host, m->chunk_toi, room);
}

/* Candidates that are tested at once.  On the CPU a chunk of half a megabyte fits its caches.  On a
 * device each chunk makes the host wait twice, so memory alone limits the number there. */
enum { HOST_ROOM = 1 << 14, DEVICE_ROOM = 1 << 24 }; /* 32 bytes each */
static int64_t most_at_once(const mesh *m)
{
  const int64_t most = m->e->backend == LOOM_CUDA ? DEVICE_ROOM : HOST_ROOM;
  return m->room < most ? most : m->room;
}

/* Makes room for `count` candidates, with some to spare. */
static loom_status need_room(mesh *m, int64_t count)
{
  return count > m->room ? grow_chunks(m, count + count / 8) : LOOM_OK;
}

loom_status mesh_collect(mesh *m, const mesh_view *v, const mesh_wanted *w, int family,
                         loom_buf *place, int64_t num, mesh_list_fn list, void *plugin,
                         int64_t *listed)
{
  int64_t base = 0;
  for (int64_t first = 0; first < num;) {
    int64_t next[2], added;
    LOOM_TRY(cut_chunk(m, place, first, num, most_at_once(m), next));
    if (next[0] == first) {
      int64_t end;
      LOOM_TRY(mesh_place_at(m, place, first + 1, &end));
      LOOM_TRY(grow_chunks(m, end - base));
      continue;
    }
    if (next[1] > base) {
      LOOM_TRY(need_room(m, next[1] - base));
      m->host->tic(m->host, "list");
      LOOM_TRY(list(plugin, v, family, first, next[0], base, place, m->name));
      m->host->toc(m->host, "list");
      m->host->tic(m->host, "quick");
      LOOM_TRY(quick_test(m, v, w, family, next[1] - base));
      LOOM_TRY(leave_out(m, v, family, next[1] - base));
      LOOM_TRY(append_found_names(m, NULL, m->num_kept, &added));
      m->host->toc(m->host, "quick");
      m->num_kept += added;
      *listed += next[1] - base;
    }
    first = next[0];
    base = next[1];
  }
  return LOOM_OK;
}

/* ---- exact test ---- */

static mesh_query open_query(mesh *m, plug_maps *maps, const mesh_view *v, const loom_query *q)
{
  const int64_t num = q->exclude != NULL ? m->host->buf_count(m->host, q->exclude) : 0;
  return (mesh_query){.m = *v,
                      .body_of = plug_read(maps, m->has_bodies ? m->sc->body_of : NULL),
                      .exclude = plug_read(maps, num > 0 ? q->exclude : NULL),
                      .num_exclude = num,
                      .what = q->what,
                      .margin = q->margin,
                      .ccd = ccd_of(m),
                      .method = m->set.method};
}

/* Keeps only the pairs of m->kept that pass the exact test. */
static loom_status filter_kept_pairs(mesh *m, const mesh_query *q)
{
  const int64_t num = m->num_kept, most = most_at_once(m);
  m->num_kept = 0;
  LOOM_TRY(need_room(m, num < most ? num : most));
  for (int64_t first = 0; first < num; first += m->room) {
    const int64_t count = num - first < m->room ? num - first : m->room;
    int64_t added;
    plug_maps maps = plug_maps_on(m->host, m->e);
    mesh_judge_args args = {.q = *q,
                            .name = plug_read(&maps, m->kept),
                            .found = plug_write(&maps, m->found),
                            .toi = plug_rdwr(&maps, m->chunk_toi),
                            .copy = plug_rdwr(&maps, m->name)};
    LOOM_TRY(maps.status);
    args.name += first;
    const mesh_near_args rest = {.found = args.found, .count = count};
    LOOM_TRY(mesh_run_families(&maps, k_judge, &args, count));
    LOOM_TRY(clear_rest(m, &maps, &rest));
    LOOM_TRY(plug_unbind(&maps));
    LOOM_TRY(append_found_names(m, m->chunk_toi, m->num_kept, &added));
    m->num_kept += added;
  }
  return LOOM_OK;
}

static loom_status append_mesh_pairs(mesh *m, const mesh_query *q, loom_pairs *out)
{
  plug_maps maps = plug_maps_on(m->host, m->e);
  const mesh_fill_args args = {.q = *q,
                               .name = plug_read(&maps, m->kept),
                               .found = plug_read(&maps, m->toi),
                               .first = out->count,
                               .kind = plug_rdwr(&maps, out->kind),
                               .v = plug_rdwr(&maps, out->v),
                               .obst = plug_rdwr(&maps, out->obst),
                               .w = plug_rdwr(&maps, out->w),
                               .normal = plug_rdwr(&maps, out->normal),
                               .gap = plug_rdwr(&maps, out->gap),
                               .point = plug_rdwr(&maps, out->point),
                               .toi = plug_rdwr(&maps, out->toi),
                               .key = plug_rdwr(&maps, out->key)};
  return plug_launch(&maps, &k_fill, &args, m->num_kept, NULL);
}

/* The list holds the pairs now: the names are of no use until the next query. */
static loom_status drop_kept_names(mesh *m)
{
  m->num_kept = 0;
  m->host->buf_free(m->host, m->kept);
  m->host->buf_free(m->host, m->toi);
  LOOM_TRY(m->host->buf_new(m->host, "kept", LOOM_U64, 0, &m->kept));
  return m->host->buf_new(m->host, "impacts", LOOM_REAL, 0, &m->toi);
}

loom_status mesh_report(mesh *m, const mesh_view *v, const loom_query *q, loom_pairs *out)
{
  plug_maps maps = plug_maps_on(m->host, m->e);
  const mesh_query args = open_query(m, &maps, v, q);
  LOOM_TRY(maps.status);
  if (q->what & LOOM_DETECT_CCD) m->host->count(m->host, LOOM_C_CCD_PAIR, m->num_kept);
  m->host->tic(m->host, "exact");
  LOOM_TRY(filter_kept_pairs(m, &args));
  const int64_t needed = out->count + m->num_kept;
  if (m->num_kept > 0 && needed <= out->capacity) {
    LOOM_TRY(append_mesh_pairs(m, &args, out));
    out->kinds |= q->kinds & MESH_KINDS;
  }
  m->host->toc(m->host, "exact");
  LOOM_TRY(plug_unbind(&maps));
  LOOM_TRY(drop_kept_names(m));
  out->count = needed;
  return needed > out->capacity ? LOOM_GROW : LOOM_OK;
}

/* ---- step bounds ---- */

mesh_query mesh_bound_query(mesh *m, plug_maps *maps, const mesh_view *v, double min_gap)
{
  const loom_query q = {.struct_size = sizeof q, .margin = (loom_real)min_gap};
  return open_query(m, maps, v, &q);
}

loom_status mesh_bound_least(mesh *m, plug_maps *maps, const mesh_bound_args *b, loom_bound *out)
{
  double found[3];
  lk_real *const result = plug_rdwr(maps, m->result);
  const mesh_least_args la = {
      .m = b->q.m, .body_of = b->q.body_of, .name = b->name, .t = b->t, .least = result};
  LOOM_TRY(plug_run_on(maps, &k_shortest, &la, m->num_kept, result));
  LOOM_TRY(plug_run_on(maps, &k_blocker, &la, m->num_kept, result + 1));
  LOOM_TRY(plug_run_on(maps, &k_touching, &la, m->num_kept, result + 2));
  LOOM_TRY(plug_unbind(maps));
  LOOM_TRY(plug_fetch(m->host, m->e, m->result, 3, found));
  out->t_global = -found[0];
  if (out->t_global < 1.0) out->blocker = (int32_t)found[1];
  out->touching = found[2] > 1.0;
  return LOOM_OK;
}

loom_status mesh_bound_step(mesh *m, const mesh_view *v, loom_bound *out)
{
  const loom_host *const host = m->host;
  const int64_t num = m->num_kept;
  out->t_global = 1.0;
  out->blocker = -1;
  out->touching = 0;
  if (num == 0) return LOOM_OK;
  LOOM_TRY(mesh_reserve(m, m->toi, num));
  host->count(host, LOOM_C_CCD_PAIR, num);
  host->tic(host, "bound");
  plug_maps maps = plug_maps_on(host, m->e);
  const mesh_bound_args ba = {.q = mesh_bound_query(m, &maps, v, out->min_gap),
                              .name = plug_read(&maps, m->kept),
                              .t = plug_rdwr(&maps, m->toi)};
  LOOM_TRY(mesh_run_families(&maps, k_bound, &ba, num));
  LOOM_TRY(mesh_bound_least(m, &maps, &ba, out));
  host->toc(host, "bound");
  return LOOM_OK;
}

/* ---- around a broad phase ---- */

loom_status mesh_detect(mesh *m, const loom_step *s, const loom_query *q, loom_pairs *out,
                        mesh_broad_fn broad, void *plugin)
{
  const mesh_wanted w = mesh_wanted_by(m, q);
  mesh_view v;
  if (w.kinds == 0 || q->what == 0) return LOOM_OK;
  const mesh_motion motion = {.x0 = q->x0,
                              .x1 = w.moving ? q->x1 : NULL,
                              .progress0 = q->progress0,
                              .progress1 = q->progress1,
                              .mask = q->mask};
  LOOM_TRY(mesh_open(m, s, &motion, &v));
  m->num_kept = 0;
  LOOM_TRY(broad(plugin, &v, &w));
  const loom_status status = mesh_report(m, &v, q, out);
  if (status < LOOM_OK) return status;
  LOOM_TRY(mesh_close(m));
  return status;
}

/* The share of the way from x0 to x1, in m->part. */
static loom_status cut_way(mesh *m, loom_buf *x0, loom_buf *x1, double share)
{
  const int64_t n = 3 * (int64_t)m->sc->num_verts;
  if (m->host->buf_count(m->host, m->part) < n) LOOM_TRY(m->host->buf_resize(m->host, m->part, n));
  plug_maps maps = plug_maps_on(m->host, m->e);
  const mesh_part_args args = {.x0 = plug_read(&maps, x0),
                               .x1 = plug_read(&maps, x1),
                               .out = plug_write(&maps, m->part),
                               .share = (lk_real)share};
  return plug_launch(&maps, &k_part, &args, n, NULL);
}

/* The bound of the pairs that can set it within the share of the way, against the whole way.  No
 * other pair stops before that share, so where out->t_global lies in it, it is the bound of all
 * pairs, with the same bits.  *found: it does. */
static loom_status bound_within(mesh *m, const loom_step *s, const mesh_motion *way,
                                const mesh_wanted *w, double share, loom_bound *out,
                                mesh_broad_fn broad, void *plugin, int *found)
{
  mesh_motion part = *way;
  mesh_view v;
  *found = 0;
  LOOM_TRY(cut_way(m, way->x0, way->x1, share));
  part.x1 = m->part;
  part.progress1 = way->progress0 + share * (way->progress1 - way->progress0);
  LOOM_TRY(mesh_open(m, s, &part, &v));
  m->num_kept = 0;
  const loom_status status = broad(plugin, &v, w);
  if (status < LOOM_OK) return status;
  LOOM_TRY(mesh_close(m));
  if (status == LOOM_REJECTED) return status;
  LOOM_TRY(mesh_open(m, s, way, &v));
  LOOM_TRY(mesh_bound_step(m, &v, out));
  *found = out->t_global <= within_share * share;
  return mesh_close(m);
}

static void note_bound(mesh *m, double t)
{
  m->last[0] = m->last[1];
  m->last[1] = t;
}

/* Searches short parts of the way first, where the bounds before this one in the step were short:
 * few pairs can meet there. */
static loom_status bound_likely(mesh *m, const loom_step *s, const mesh_motion *way,
                                const mesh_wanted *w, loom_bound *out, mesh_broad_fn broad,
                                void *plugin, int *found)
{
  *found = 0;
  if (m->step != s->index) m->last[0] = m->last[1] = 1.0;
  m->step = s->index;
  for (double share = likely_share * fmax(m->last[0], m->last[1]); share < 1.0 && !*found;
       share *= farther) {
    const loom_status status = bound_within(m, s, way, w, share, out, broad, plugin, found);
    if (status == LOOM_REJECTED) break;
    LOOM_TRY(status);
  }
  return LOOM_OK;
}

loom_status mesh_max_step(mesh *m, const loom_step *s, loom_buf *x0, loom_buf *x1, loom_bound *out,
                          mesh_broad_fn broad, void *plugin)
{
  const mesh_wanted w = mesh_wanted_bound(m, out);
  mesh_motion motion = {
      .x0 = x0, .x1 = x1, .progress0 = out->progress0, .progress1 = out->progress1};
  double share = 1.0, longest = 0.0;
  int found = 0;
  mesh_view v;
  if (m->by_parts && !w.apart)
    LOOM_TRY(bound_likely(m, s, &motion, &w, out, broad, plugin, &found));
  if (found) {
    note_bound(m, out->t_global);
    return LOOM_OK;
  }
  for (;;) {
    LOOM_TRY(mesh_open(m, s, &motion, &v));
    m->num_kept = 0;
    const loom_status status = broad(plugin, &v, &w);
    if (status != LOOM_REJECTED) {
      LOOM_TRY(status);
      break;
    }
    LOOM_TRY(mesh_close(m));
    if (w.apart && share >= 1.0) LOOM_TRY(mesh_longest_way(m, x0, x1, &longest));
    share *= 0.5;
    LOOM_TRY(w.apart ? mesh_limit_ways(m, x0, x1, share * longest) : cut_way(m, x0, x1, share));
    motion.x1 = m->part;
    motion.progress1 = out->progress0 + share * (out->progress1 - out->progress0);
  }
  LOOM_TRY(w.apart ? mesh_bound_apart(m, &v, x1, share < 1.0 ? share * longest : -1.0, out)
                   : mesh_bound_step(m, &v, out));
  out->t_global *= share;
  note_bound(m, out->t_global);
  return mesh_close(m);
}
