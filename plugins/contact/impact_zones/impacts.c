/* impacts.c - see impacts.h. */
#include "impacts.h"

static const lk_entry k_key = LK_ENTRY_MOVES(impact_key, 2, 1),
                      k_flag = LK_ENTRY_MOVES(impact_flag, 1, 1);
static const lk_entry k_take = LK_ENTRY_MOVES(impact_take, 77, 25);

loom_status impacts_new(impacts *p, const loom_host *host, const loom_scene *sc, const loom_exec *e)
{
  const plug_buf all[] = {{"impact keys", LOOM_U64, 0, &p->key},
                          {"impact vertices", LOOM_I32, 0, &p->v},
                          {"impact weights", LOOM_REAL, 0, &p->w},
                          {"impact normals", LOOM_REAL, 0, &p->n},
                          {"impact offsets", LOOM_REAL, 0, &p->offset},
                          {"impact targets", LOOM_REAL, 0, &p->target},
                          {"new keys", LOOM_U64, 0, &p->new_key},
                          {"sorted keys", LOOM_U64, 0, &p->sorted},
                          {"order of keys", LOOM_I32, 0, &p->rank},
                          {"known impacts", LOOM_I32, 0, &p->old},
                          {"new impacts", LOOM_I64, 0, &p->flag},
                          {"places of impacts", LOOM_I64, 1, &p->place},
                          {"points at the start", LOOM_REAL, 0, &p->point_start},
                          {"bodies, start", LOOM_REAL, 0, &p->from},
                          {"bodies, end", LOOM_REAL, 0, &p->to},
                          {"chosen impacts", LOOM_U8, 0, &p->chosen}};
  p->host = host;
  p->sc = sc;
  p->e = e;
  p->m = 0;
  return plug_bufs_new(host, all, LOOM_COUNT(all));
}

void impacts_clear(impacts *p) { p->m = 0; }

/* Sorts the keys for look-ups: new impacts stand behind impacts of earlier rounds, out of order. */
static loom_status sort_keys(impacts *p)
{
  const loom_host *const host = p->host;
  LOOM_TRY(host->buf_resize(host, p->sorted, p->m));
  LOOM_TRY(host->buf_resize(host, p->rank, p->m));
  if (p->m == 0) return LOOM_OK;
  LOOM_TRY(host->buf_copy(host, p->e, p->sorted, p->key));
  return host->sort_u64(host, p->e, p->sorted, p->rank);
}

/* Finds the pairs that are impacts already, and the places of the *num_new new ones. */
static loom_status sort_out(impacts *p, const loom_pairs *pairs, int chosen, int64_t *num_new)
{
  const loom_host *const host = p->host;
  const int64_t num = pairs->count;
  LOOM_TRY(host->buf_resize(host, p->new_key, num));
  LOOM_TRY(host->buf_resize(host, p->old, num));
  LOOM_TRY(host->buf_resize(host, p->flag, num));
  LOOM_TRY(host->buf_resize(host, p->place, num + 1));
  plug_maps m = plug_maps_on(host, p->e);
  const impact_new_args name = {.kind = plug_read(&m, pairs->kind),
                                .pair_key = plug_read(&m, pairs->key),
                                .key = plug_write(&m, p->new_key)};
  LOOM_TRY(plug_launch(&m, &k_key, &name, num, NULL));
  LOOM_TRY(sort_keys(p));
  LOOM_TRY(host->match_keys(host, p->e, p->sorted, p->m, p->new_key, num, p->old));
  const impact_new_args is_new = {.old = plug_read(&m, p->old),
                                  .chosen = plug_read(&m, chosen ? p->chosen : NULL),
                                  .flag = plug_write(&m, p->flag)};
  LOOM_TRY(plug_launch(&m, &k_flag, &is_new, num, NULL));
  return host->scan_i64(host, p->e, p->flag, p->place, num_new);
}

static const uint32_t kinds_of_points = LOOM_BIT(LOOM_PAIR_VO) | LOOM_BIT(LOOM_PAIR_EO);

/* Where the points of bodies that points of cloth meet were at the start of the step. */
static loom_status ask_bodies(impacts *p, const loom_step *s, const loom_pairs *pairs)
{
  const loom_body_rows points = {
      .struct_size = sizeof points, .count = pairs->count, .body = pairs->obst, .x = pairs->point};
  if (!(pairs->kinds & kinds_of_points)) return LOOM_OK;
  LOOM_TRY(p->host->buf_resize(p->host, p->point_start, 3 * pairs->count));
  return p->host->body_carry(p->host, p->e, &points, s->progress, 0.0, p->point_start);
}

static loom_status reserve_impacts(impacts *p, int64_t m)
{
  const struct {
    loom_buf *b;
    int64_t each;
  } all[] = {{p->key, 1},    {p->v, 4},      {p->w, 4},    {p->n, 3},
             {p->offset, 1}, {p->target, 1}, {p->from, 3}, {p->to, 3}};
  for (size_t i = 0; i < LOOM_COUNT(all); ++i)
    LOOM_TRY(p->host->buf_resize(p->host, all[i].b, all[i].each * m));
  return LOOM_OK;
}

loom_status impacts_take(impacts *p, const loom_step *s, const loom_pairs *pairs, loom_buf *x0,
                         loom_buf *x1, double clearance, int chosen)
{
  int64_t num_new = 0;
  LOOM_TRY(sort_out(p, pairs, chosen, &num_new));
  LOOM_TRY(ask_bodies(p, s, pairs));
  LOOM_TRY(reserve_impacts(p, p->m + num_new));
  const int meshes = p->sc->num_body_verts > 0;
  const int bodies = (pairs->kinds & kinds_of_points) != 0;
  plug_maps m = plug_maps_on(p->host, p->e);
  const impact_take_args a = {.kind = plug_read(&m, pairs->kind),
                              .pair_v = plug_read(&m, pairs->v),
                              .pair_w = plug_read(&m, pairs->w),
                              .normal = plug_read(&m, pairs->normal),
                              .gap = plug_read(&m, pairs->gap),
                              .point = plug_read(&m, bodies ? pairs->point : NULL),
                              .point_start = plug_read(&m, bodies ? p->point_start : NULL),
                              .pair_key = plug_read(&m, p->new_key),
                              .old = plug_read(&m, p->old),
                              .rank = plug_read(&m, p->rank),
                              .place = plug_read(&m, p->place),
                              .chosen = plug_read(&m, chosen ? p->chosen : NULL),
                              .x0 = plug_read(&m, x0),
                              .x1 = plug_read(&m, x1),
                              .body0 = plug_read(&m, meshes ? s->body0 : NULL),
                              .body1 = plug_read(&m, meshes ? s->body1 : NULL),
                              .fixed = plug_read(&m, p->sc->fixed),
                              .key = plug_rdwr(&m, p->key),
                              .v = plug_rdwr(&m, p->v),
                              .w = plug_rdwr(&m, p->w),
                              .n = plug_rdwr(&m, p->n),
                              .offset = plug_rdwr(&m, p->offset),
                              .target = plug_rdwr(&m, p->target),
                              .from = plug_rdwr(&m, p->from),
                              .to = plug_rdwr(&m, p->to),
                              .first = p->m,
                              .clearance = (lk_real)clearance,
                              .num_verts = p->sc->num_verts};
  p->m += num_new;
  return plug_launch(&m, &k_take, &a, pairs->count, NULL);
}

/* ---- the earliest ---- */

typedef struct moment {
  double toi;
  int64_t pair;
} moment;

static int compare_impact_times(const void *a, const void *b)
{
  const moment *const p = a, *const q = b;
  if (p->toi != q->toi) return p->toi < q->toi ? -1 : 1;
  return p->pair < q->pair ? -1 : p->pair > q->pair;
}

static void choose_disjoint_impacts(const moment *order, int64_t num, const int32_t *v,
                                    const uint8_t *fixed, int32_t n, uint8_t *taken,
                                    uint8_t *chosen)
{
  for (int64_t k = 0; k < num; ++k) {
    const int32_t *const at = v + 4 * order[k].pair;
    int clash = 0;
    for (int c = 0; c < 4; ++c) clash |= at[c] >= 0 && at[c] < n && !fixed[at[c]] && taken[at[c]];
    chosen[order[k].pair] = (uint8_t)!clash;
    for (int c = 0; c < 4 && !clash; ++c)
      if (at[c] >= 0 && at[c] < n) taken[at[c]] = 1;
  }
}

/* On the host, since the scheme of Harmon et al., a baseline, is serial. */
loom_status impacts_choose_earliest(impacts *p, const loom_pairs *pairs)
{
  const int64_t num = pairs->count;
  const int32_t n = p->sc->num_verts;
  LOOM_TRY(p->host->buf_resize(p->host, p->chosen, num));
  moment *const order = malloc((size_t)num * sizeof *order + 1);
  uint8_t *const taken = calloc((size_t)n + 1, 1);
  plug_maps m = plug_maps_on(p->host, p->e);
  const lk_real *const toi = plug_read_host(&m, pairs->toi);
  const int32_t *const v = plug_read_host(&m, pairs->v);
  const uint8_t *const fixed = plug_read_host(&m, p->sc->fixed);
  uint8_t *const chosen = plug_write_host(&m, p->chosen);
  if (order != NULL && taken != NULL && m.status == LOOM_OK) {
    for (int64_t k = 0; k < num; ++k) order[k] = (moment){.toi = (double)toi[k], .pair = k};
    qsort(order, (size_t)num, sizeof *order, compare_impact_times);
    choose_disjoint_impacts(order, num, v, fixed, n, taken, chosen);
  }
  const int short_of_memory = order == NULL || taken == NULL;
  free(order);
  free(taken);
  LOOM_TRY(plug_unbind(&m));
  LOOM_CHECK(p->host, !short_of_memory, LOOM_E_NOMEM, "no memory to order %lld impacts",
             (long long)num);
  return LOOM_OK;
}
