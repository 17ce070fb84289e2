/* mesh_bound.c - step bounds by vertex; see mesh_query.h and mesh_apart.kern.h. */
#include "kit/mesh_query.h"

/* One kernel for both families on the CPU; on a device a kernel per family takes fewer registers.
 */
static const lk_entry k_hold[3] = {
    {"mesh_hold", (uint32_t)sizeof(mesh_hold_args), 0, {mesh_hold_cpu, NULL}, LK_MOVES(34, 12)},
    LK_ENTRY_MOVES(mesh_hold_vt, 17, 6),
    LK_ENTRY_MOVES(mesh_hold_ee, 17, 6)};
static const lk_entry k_least_share = LK_ENTRY_MOVES(mesh_least_share, 1, 2);
static const lk_entry k_longest = LK_ENTRY_MOVES(mesh_longest, 6, 0),
                      k_limit = LK_ENTRY_MOVES(mesh_limit, 9, 0);

/* ---- ways that are too long to search ---- */

loom_status mesh_longest_way(mesh *m, loom_buf *x0, loom_buf *x1, double *out)
{
  plug_maps maps = plug_maps_on(m->host, m->e);
  const mesh_limit_args a = {.x0 = plug_read(&maps, x0), .x1 = plug_read(&maps, x1)};
  return plug_reduce(&maps, &k_longest, &a, m->sc->num_verts, m->result, out);
}

loom_status mesh_limit_ways(mesh *m, loom_buf *x0, loom_buf *x1, double limit)
{
  const int64_t n = m->sc->num_verts;
  LOOM_TRY(mesh_reserve(m, m->part, 3 * n));
  plug_maps maps = plug_maps_on(m->host, m->e);
  const mesh_limit_args a = {.x0 = plug_read(&maps, x0),
                             .x1 = plug_read(&maps, x1),
                             .out = plug_rdwr(&maps, m->part),
                             .limit = (lk_real)limit};
  return plug_launch(&maps, &k_limit, &a, n, NULL);
}

/* ---- shares ---- */

/* Shares of the corners of all pairs, and the least one. */
static loom_status hold_corners(mesh *m, const mesh_view *v, loom_bound *out)
{
  const int64_t num = m->num_kept;
  LOOM_TRY(mesh_reserve(m, m->toi, num));
  LOOM_TRY(mesh_reserve(m, m->held_v, 4 * num));
  LOOM_TRY(mesh_reserve(m, m->held_share, 4 * num));
  plug_maps maps = plug_maps_on(m->host, m->e);
  const mesh_hold_args a = {.q = mesh_bound_query(m, &maps, v, out->min_gap),
                            .name = plug_read(&maps, m->kept),
                            .t = plug_rdwr(&maps, m->toi),
                            .v = plug_rdwr(&maps, m->held_v),
                            .share = plug_rdwr(&maps, m->held_share),
                            .shape = m->set.shape};
  LOOM_TRY(mesh_run_families(&maps, k_hold, &a, num));
  const mesh_bound_args least = {.q = a.q, .name = a.name, .t = a.t};
  return mesh_bound_least(m, &maps, &least, out);
}

loom_status mesh_bound_apart(mesh *m, const mesh_view *v, loom_buf *x1, double limit,
                             loom_bound *out)
{
  const loom_host *const host = m->host;
  const int32_t n = m->sc->num_verts;
  const int limited = limit >= 0.0;
  out->t_global = 1.0;
  out->blocker = -1;
  out->touching = 0;
  host->tic(host, "bound");
  if (m->num_kept > 0) LOOM_TRY(hold_corners(m, v, out));
  const int held = out->t_global < 1.0;
  if (held) LOOM_TRY(gather_sort(&m->held, m->held_v, NULL, n, m->num_kept));
  plug_maps maps = plug_maps_on(host, m->e);
  const mesh_gather_args a = {.first = plug_read(&maps, held ? m->held.first : NULL),
                              .owner = plug_read(&maps, held ? m->held.owner : NULL),
                              .v = plug_read(&maps, held ? m->held_v : NULL),
                              .share = plug_read(&maps, held ? m->held_share : NULL),
                              .x0 = v->x0,
                              .x1 = plug_read(&maps, limited ? x1 : NULL),
                              .limit = (lk_real)limit,
                              .t = plug_write(&maps, out->t_vertex)};
  LOOM_TRY(plug_launch(&maps, &k_least_share, &a, n, NULL));
  host->toc(host, "bound");
  return LOOM_OK;
}
