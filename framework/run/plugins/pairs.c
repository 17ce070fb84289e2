/* pairs.c - see pairs.h. */
#include "run/plugins/pairs.h"

#include <string.h>

#include "linalg/linalg.h"
#include "run/plugins/pairs.kern.h"

static const lk_entry k_disorder = LK_ENTRY_MOVES(run_pair_disorder, 0, 6);
static const lk_entry k_kind_key = LK_ENTRY_MOVES(run_pair_kind_key, 0, 4);
static const lk_entry k_first = LK_ENTRY_MOVES(run_pair_first, 0, 6);
static const lk_entry k_apart = LK_ENTRY_MOVES(run_pair_apart, 1, 10);
static const lk_entry k_within = LK_ENTRY_MOVES(run_pair_within, 0, 6);
static const lk_entry k_move = LK_ENTRY_MOVES(run_pair_move, 2, 1);

enum { PAIR_ARRAYS = 9 };

typedef struct pair_array {
  loom_buf **b;
  const char *name;
  int type, width;
} pair_array;

static void gather_pair_arrays(loom_pairs *p, pair_array a[PAIR_ARRAYS])
{
  const pair_array all[PAIR_ARRAYS] = {
      {&p->kind, "pairs.kind", LOOM_I32, 1},      {&p->v, "pairs.v", LOOM_I32, 4},
      {&p->obst, "pairs.obst", LOOM_I32, 1},      {&p->w, "pairs.w", LOOM_REAL, 4},
      {&p->normal, "pairs.normal", LOOM_REAL, 3}, {&p->gap, "pairs.gap", LOOM_REAL, 1},
      {&p->point, "pairs.point", LOOM_REAL, 3},   {&p->toi, "pairs.toi", LOOM_REAL, 1},
      {&p->key, "pairs.key", LOOM_U64, 1}};
  memcpy(a, all, sizeof all);
}

loom_status pairs_new(mem *m, loom_pairs *p)
{
  pair_array a[PAIR_ARRAYS];
  memset(p, 0, sizeof *p);
  p->struct_size = sizeof *p;
  gather_pair_arrays(p, a);
  for (int i = 0; i < PAIR_ARRAYS; ++i)
    LOOM_TRY(buf_new(m, "core", a[i].name, a[i].type, 0, a[i].b));
  return LOOM_OK;
}

loom_status pairs_reserve(mem *m, void *list, int64_t capacity)
{
  loom_pairs *const p = list;
  pair_array a[PAIR_ARRAYS];
  if (capacity <= p->capacity) return LOOM_OK;
  capacity += capacity / 8;
  gather_pair_arrays(p, a);
  for (int i = 0; i < PAIR_ARRAYS; ++i) LOOM_TRY(buf_resize(m, *a[i].b, a[i].width * capacity));
  p->capacity = capacity;
  return LOOM_OK;
}

void pairs_free(mem *m, loom_pairs *p)
{
  pair_array a[PAIR_ARRAYS];
  gather_pair_arrays(p, a);
  for (int i = 0; i < PAIR_ARRAYS; ++i) buf_free(m, *a[i].b);
  memset(p, 0, sizeof *p);
}

loom_status pairs_disorder_begin(mem *m, const loom_exec *e, const loom_pairs *p, int slot)
{
  if (p->count <= 1) return LOOM_OK;
  buf_maps b = {.m = m, .e = e};
  const pair_key_args a = {.kind = buf_maps_add(&b, p->kind, LOOM_READ),
                           .key = buf_maps_add(&b, p->key, LOOM_READ)};
  return buf_maps_launch(&b, &k_disorder, &a, p->count - 1, e->result + slot);
}

/* The arrays that change places at once: a move needs memory for one group beside the list, not for
 * a second list. */
enum { PAIR_GROUPS = 5 };
static const int pair_group[PAIR_ARRAYS] = {0, 0, 0, 1, 2, 3, 4, 3, 3};
static const uint64_t group_moves[PAIR_GROUPS] = {LK_MOVES(0, 12), LK_MOVES(8, 0), LK_MOVES(6, 0),
                                                  LK_MOVES(6, 0), LK_MOVES(6, 0)};

/* Moves the arrays of one group into new ones, which take their places. */
static loom_status move_pair_group(mem *m, const loom_exec *e, loom_pairs *p, loom_buf *perm,
                                   loom_buf *place, int group)
{
  pair_array a[PAIR_ARRAYS];
  loom_buf *to[PAIR_ARRAYS] = {NULL};
  buf_maps b = {.m = m, .e = e};
  const void *from[PAIR_ARRAYS] = {NULL};
  void *out[PAIR_ARRAYS] = {NULL};
  gather_pair_arrays(p, a);
  const int32_t *const order = buf_maps_add(&b, perm, LOOM_READ);
  const int64_t *const places = buf_maps_add(&b, place, LOOM_READ);
  for (int i = 0; i < PAIR_ARRAYS && b.status == LOOM_OK; ++i) {
    if (pair_group[i] != group) continue;
    b.status = buf_new(m, "core", a[i].name, a[i].type, buf_count(*a[i].b), &to[i]);
    from[i] = buf_maps_add(&b, *a[i].b, LOOM_READ);
    out[i] = buf_maps_add(&b, to[i], LOOM_WRITE);
  }
  const pair_move_args ma = {.perm = order,
                             .place = places,
                             .kind = from[0],
                             .v = from[1],
                             .obst = from[2],
                             .w = from[3],
                             .normal = from[4],
                             .gap = from[5],
                             .point = from[6],
                             .toi = from[7],
                             .key = from[8],
                             .kind2 = out[0],
                             .v2 = out[1],
                             .obst2 = out[2],
                             .w2 = out[3],
                             .normal2 = out[4],
                             .gap2 = out[5],
                             .point2 = out[6],
                             .toi2 = out[7],
                             .key2 = out[8]};
  lk_moved(e, p->count, group_moves[group]);
  const loom_status s = buf_maps_launch(&b, &k_move, &ma, p->count, NULL);
  for (int i = 0; i < PAIR_ARRAYS; ++i) {
    if (to[i] == NULL) continue;
    buf_free(m, s == LOOM_OK ? *a[i].b : to[i]);
    if (s == LOOM_OK) *a[i].b = to[i];
  }
  return s;
}

/* Moves pairs in the order of `perm`, those with flags; frees `flag`. */
static loom_status move_pairs(mem *m, const loom_exec *e, loom_pairs *p, loom_buf *perm,
                              loom_buf *flag)
{
  const int64_t num = p->count;
  loom_buf *place = NULL;
  LOOM_TRY(buf_new(m, "core", "pair places", LOOM_I64, num + 1, &place));
  LOOM_TRY(la_scan_i64(m, e, flag, place, NULL));
  buf_free(m, flag);
  for (int group = 0; group < PAIR_GROUPS; ++group)
    LOOM_TRY(move_pair_group(m, e, p, perm, place, group));

  void *host;
  LOOM_TRY(buf_map(m, NULL, place, LOOM_READ, LOOM_AT_HOST, &host));
  p->count = ((const int64_t *)host)[num];
  LOOM_TRY(buf_unmap(m, place));
  buf_free(m, place);
  return LOOM_OK;
}

static pair_owners bind_owners(buf_maps *b, const loom_pairs *p, const pairs_rigid *r)
{
  if (r->rigid == NULL) return (pair_owners){.rigid = NULL};
  return (pair_owners){.kind = buf_maps_add(b, p->kind, LOOM_READ),
                       .v = buf_maps_add(b, p->v, LOOM_READ),
                       .object = buf_maps_add(b, r->object, LOOM_READ),
                       .rigid = buf_maps_add(b, r->rigid, LOOM_READ)};
}

loom_status pairs_within_begin(mem *m, const loom_exec *e, const loom_pairs *p,
                               const pairs_rigid *r, int slot)
{
  if (p->count == 0) return LOOM_OK;
  buf_maps b = {.m = m, .e = e};
  const pair_owners a = bind_owners(&b, p, r);
  return buf_maps_launch(&b, &k_within, &a, p->count, e->result + slot);
}

/* Keeps the first of equal ones. */
static loom_status reorder_pairs(mem *m, const loom_exec *e, loom_pairs *p, const pairs_rigid *r,
                                 loom_buf *perm)
{
  loom_buf *flag = NULL;
  LOOM_TRY(buf_new(m, "core", "pair flags", LOOM_I64, p->count, &flag));
  buf_maps b = {.m = m, .e = e};
  const pair_key_args a = {.of = bind_owners(&b, p, r),
                           .kind = buf_maps_add(&b, p->kind, LOOM_READ),
                           .key = buf_maps_add(&b, p->key, LOOM_READ),
                           .perm = buf_maps_add(&b, perm, LOOM_READ),
                           .flag = buf_maps_add(&b, flag, LOOM_WRITE)};
  LOOM_TRY(buf_maps_launch(&b, &k_first, &a, p->count, NULL));
  return move_pairs(m, e, p, perm, flag);
}

loom_status pairs_drop_rigid(mem *m, const loom_exec *e, loom_pairs *p, const pairs_rigid *r)
{
  static const uint32_t kinds = LOOM_BIT(LOOM_PAIR_VT) | LOOM_BIT(LOOM_PAIR_EE) |
                                LOOM_BIT(LOOM_PAIR_VE) | LOOM_BIT(LOOM_PAIR_VV);
  loom_buf *flag = NULL, *perm = NULL;
  if (r->rigid == NULL || p->count == 0 || !(p->kinds & kinds)) return LOOM_OK;
  LOOM_TRY(buf_new(m, "core", "pair flags", LOOM_I64, p->count, &flag));
  LOOM_TRY(buf_new(m, "core", "pair order", LOOM_I32, p->count, &perm));
  buf_maps b = {.m = m, .e = e};
  const pair_apart_args a = {.of = bind_owners(&b, p, r),
                             .perm = buf_maps_add(&b, perm, LOOM_WRITE),
                             .flag = buf_maps_add(&b, flag, LOOM_WRITE)};
  LOOM_TRY(buf_maps_launch(&b, &k_apart, &a, p->count, NULL));
  LOOM_TRY(move_pairs(m, e, p, perm, flag));
  buf_free(m, perm);
  return LOOM_OK;
}

loom_status pairs_sort(mem *m, const loom_exec *e, loom_pairs *p, const pairs_rigid *r)
{
  /* two stable sorts: by key, then by kind */
  loom_buf *key = NULL, *perm = NULL, *perm2 = NULL, *both = NULL;
  LOOM_TRY(buf_new(m, "core", "pair sort keys", LOOM_U64, p->count, &key));
  LOOM_TRY(buf_new(m, "core", "pair order", LOOM_I32, p->count, &perm));
  LOOM_TRY(buf_new(m, "core", "pair order by kind", LOOM_I32, p->count, &perm2));
  LOOM_TRY(buf_new(m, "core", "pair order in all", LOOM_I32, p->count, &both));
  LOOM_TRY(buf_copy(m, e, key, p->key));
  LOOM_TRY(la_sort_u64(m, e, key, perm));
  buf_maps b = {.m = m, .e = e};
  const pair_key_args ka = {.kind = buf_maps_add(&b, p->kind, LOOM_READ),
                            .key = buf_maps_add(&b, p->key, LOOM_READ),
                            .perm = buf_maps_add(&b, perm, LOOM_READ),
                            .out = buf_maps_add(&b, key, LOOM_WRITE)};
  LOOM_TRY(buf_maps_launch(&b, &k_kind_key, &ka, p->count, NULL));
  LOOM_TRY(la_sort_u64(m, e, key, perm2));
  buf_free(m, key);
  LOOM_TRY(la_compose(m, e, perm, perm2, both));
  buf_free(m, perm);
  buf_free(m, perm2);
  LOOM_TRY(reorder_pairs(m, e, p, r, both));
  buf_free(m, both);
  return LOOM_OK;
}
