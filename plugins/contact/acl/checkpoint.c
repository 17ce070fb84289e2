/* checkpoint.c - saves and loads sets and models.  A file may hold any bytes: values that follow
 * from the scene and from boxes are computed again and compared, all others are only numbers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "acl.h"
#include "acl_pose.kern.h"
#include "kit/state.h"

#define ACL_BELIEVE(m, ok, what, k)                                                    \
  LOOM_CHECK((m)->host, ok, LOOM_E_IO,                                                 \
             "the checkpoint's %s cannot be (number %lld); start the run again", what, \
             (long long)(k))

typedef struct head { /* in the order of the file */
  int64_t num, freed, slots, reals, live, live_slots, live_reals;
} head;

/* Models and their arrays, as they stand; X and Y are workspace and are not saved. */
static const char *const names[ACL_ARRAYS] = {"acl vertices", "acl qbar",     "acl fbar",
                                              "acl weights",  NULL,           NULL,
                                              "acl forces",   "acl stiffness"};

/* ---- saving ---- */

static loom_status save_contact_sets(acl *m)
{
  const acl_pools *const q = &m->pool;
  const head t = {m->num, m->freed.n, q->slots, q->reals, m->live, q->live_slots, q->live_reals};
  LOOM_TRY(state_save(m->host, "acl counts", LOOM_U8, (int64_t)sizeof t, &t));
  LOOM_TRY(acl_trim(m));
  LOOM_TRY(state_save(m->host, "acl sets", LOOM_U8, m->num * (int64_t)sizeof *m->sets, m->sets));
  LOOM_TRY(state_save(m->host, "acl unused", LOOM_U8, m->freed.n * (int64_t)sizeof *m->freed.v,
                      m->freed.v));
  LOOM_TRY(m->host->state_io(m->host, 0, "acl models", m->models));
  for (int i = 0; i < ACL_ARRAYS; ++i)
    if (names[i] != NULL) LOOM_TRY(m->host->state_io(m->host, 0, names[i], q->b[i]));
  return LOOM_OK;
}

/* For programs that draw sets: a row for each set that lives, and no part of the state. */
enum { TABLE_COLUMNS = 6 }; /* first and last point on either yarn, pairs, updates */
static loom_status save_set_table(acl *m)
{
  const int64_t size = m->live * TABLE_COLUMNS;
  int64_t *const table = malloc(((size_t)size + 1) * sizeof *table), *row = table;
  ACL_MEMORY(m, table != NULL);
  for (int64_t i = 0; i < m->num; ++i) {
    const acl_set *const t = &m->sets[i];
    if (t->state == ACL_DEAD) continue;
    row[0] = t->at.u0, row[1] = t->at.u1, row[2] = t->at.v0, row[3] = t->at.v1;
    row[4] = t->pairs, row[5] = t->updates;
    row += TABLE_COLUMNS;
  }
  const loom_status s = state_save(m->host, "acl table", LOOM_I64, size, table);
  free(table);
  return s;
}

/* ---- loading ---- */

/* n bytes to values of at least `room`, which grows when the file is known to have them. */
static loom_status load_bytes(acl *m, const char *name, int64_t n, void **values, int64_t *room,
                              size_t size)
{
  const void *p;
  loom_buf *b;
  LOOM_TRY(state_open(m->host, name, LOOM_U8, n, &b, &p));
  const int ok = grow_array(values, room, n / (int64_t)size, size);
  if (ok && n > 0) memcpy(*values, p, (size_t)n);
  LOOM_TRY(state_close(m->host, b));
  ACL_MEMORY(m, ok);
  return LOOM_OK;
}

static loom_status load_head(acl *m, head *t)
{
  LOOM_TRY(state_items(m->host, 1, "acl counts", LOOM_U8, (int64_t)sizeof *t, t));
  ACL_BELIEVE(m, t->num >= 0 && t->num <= INT32_MAX / ACL_SPRINGS, "number of sets", t->num);
  ACL_BELIEVE(m, t->live >= 0 && t->live <= t->num && t->freed == t->num - t->live,
              "number of unused sets", t->freed);
  ACL_BELIEVE(m, t->slots >= 0 && t->slots <= INT32_MAX, "number of slots", t->slots);
  ACL_BELIEVE(m, t->reals >= 0 && t->reals <= INT64_MAX / 16, "room for stiffness", t->reals);
  return LOOM_OK;
}

static loom_status load_sets(acl *m, const head *t)
{
  void *p = m->sets, *q = m->freed.v;
  loom_status s =
      load_bytes(m, "acl sets", t->num * (int64_t)sizeof *m->sets, &p, &m->cap, sizeof *m->sets);
  m->sets = p;
  LOOM_TRY(s);
  s = load_bytes(m, "acl unused", t->freed * (int64_t)sizeof *m->freed.v, &q, &m->freed.cap,
                 sizeof *m->freed.v);
  m->freed.v = q;
  LOOM_TRY(s);
  m->num = t->num;
  m->freed.n = t->freed;
  m->live = t->live;
  m->pool.slots = t->slots;
  m->pool.reals = t->reals;
  m->pool.live_slots = t->live_slots;
  m->pool.live_reals = t->live_reals;
  return LOOM_OK;
}

static loom_status load_models(acl *m)
{
  const loom_host *const host = m->host;
  LOOM_TRY(host->state_io(host, 1, "acl models", m->models));
  LOOM_TRY(state_has(m->host, m->models, "acl models", m->num * (int64_t)sizeof(acl_model)));
  for (int i = 0; i < ACL_ARRAYS; ++i) {
    if (names[i] == NULL) continue;
    LOOM_TRY(host->state_io(host, 1, names[i], m->pool.b[i]));
    LOOM_TRY(state_has(m->host, m->pool.b[i], names[i], acl_items(&m->pool, i)));
  }
  return acl_trim(m);
}

/* ---- checks of a file's values ---- */

/* Yarn of points p0 to p1, -1: they are no range of one. */
static int32_t yarn_of_range(const yarn_line *l, int32_t p0, int32_t p1)
{
  if (p0 < 0 || p1 < p0 || p1 >= l->num_points) return -1;
  int32_t lo = 0, hi = l->num_yarns - 1;
  while (lo < hi) {
    const int32_t mid = lo + (hi - lo + 1) / 2;
    if (l->pt0[l->yarn_seg[mid]] <= p0)
      lo = mid;
    else
      hi = mid - 1;
  }
  return p1 < l->pt0[l->yarn_seg[lo + 1]] ? lo : -1;
}

static int box_can_be(const yarn_line *l, const acl_place *t)
{
  const int32_t ku = yarn_of_range(l, t->u0, t->u1), kv = yarn_of_range(l, t->v0, t->v1);
  return ku >= 0 && kv >= 0 && t->sa == yarn_seg_of(l, ku, t->u0) &&
         t->sb == yarn_seg_of(l, kv, t->v0) && t->reach == l->radius[t->sa] + l->radius[t->sb];
}

/* Its part of the arrays, as acl_layout makes it. */
static int memory_can_be(const acl *m, const yarn_line *l, const acl_set *s)
{
  const acl_place *const t = &s->at;
  int32_t off;
  const int64_t slots = acl_slots_of(l, t, &off), reals = 3 * slots * (slots + 1);
  return t->slots == slots && t->off == off && s->slot_cap >= slots && t->slot >= 0 &&
         t->slot <= m->pool.slots - s->slot_cap && (t->with_K == 0 || t->with_K == 1) &&
         s->block_cap >= (t->with_K ? reals : 0) && t->block >= 0 &&
         t->block <= m->pool.reals - s->block_cap;
}

static int springs_can_be(int64_t id, const acl_place *t)
{
  for (int k = 0; k < ACL_SPRINGS; ++k)
    if (t->spring[k][0] < t->u0 || t->spring[k][0] > t->u1 || t->spring[k][1] < t->v0 ||
        t->spring[k][1] > t->v1 || t->from[k] != ACL_SPRINGS * id + k)
      return 0;
  return 1;
}

/* A model is of the set as it is: between steps all are. */
static int model_can_be(const acl_set *s, const acl_model *model)
{
  const acl_place *const t = &s->at, *const o = &model->at;
  int same = t->u0 == o->u0 && t->u1 == o->u1 && t->v0 == o->v0 && t->v1 == o->v1 &&
             t->sa == o->sa && t->sb == o->sb && t->off == o->off && t->slots == o->slots &&
             t->with_K == o->with_K && t->slot == o->slot && t->block == o->block &&
             t->reach == o->reach && model->pairs >= 0 && (model->pairs == 0 || t->with_K);
  for (int k = 0; k < ACL_SPRINGS; ++k)
    same = same && t->spring[k][0] == o->spring[k][0] && t->spring[k][1] == o->spring[k][1];
  return same;
}

static loom_status check_sets(const acl *m, const yarn_line *l, const acl_model *model)
{
  int64_t live = 0, slots = 0, reals = 0;
  for (int64_t i = 0; i < m->num; ++i) {
    const acl_set *const s = &m->sets[i];
    if (s->state == ACL_DEAD) continue;
    ACL_BELIEVE(m, s->state == ACL_CLEAN && s->pairs >= 0, "set", i);
    ACL_BELIEVE(m, box_can_be(l, &s->at), "range of a set", i);
    ACL_BELIEVE(m, memory_can_be(m, l, s), "place of a set", i);
    ACL_BELIEVE(m, springs_can_be(i, &s->at), "springs of a set", i);
    ACL_BELIEVE(m, model_can_be(s, &model[i]), "model of a set", i);
    ++live;
    slots += s->slot_cap;
    reals += s->block_cap;
  }
  ACL_BELIEVE(m, live == m->live, "number of sets", live);
  ACL_BELIEVE(m, slots == m->pool.live_slots && reals == m->pool.live_reals, "memory of sets",
              live);
  return LOOM_OK;
}

/* Every dead set once: as many as there are. */
static loom_status check_dead_sets(const acl *m)
{
  char *const seen = calloc((size_t)m->num + 1, 1);
  int64_t k = 0;
  ACL_MEMORY(m, seen != NULL);
  for (; k < m->freed.n; ++k) {
    const int32_t i = m->freed.v[k];
    if (i < 0 || i >= m->num || m->sets[i].state != ACL_DEAD || seen[i]++ != 0) break;
  }
  free(seen);
  ACL_BELIEVE(m, k == m->freed.n, "unused sets", k);
  return LOOM_OK;
}

/* Where sets are follows from their boxes; the kernels' vertices must say the same. */
static loom_status find_set_places(acl *m, const yarn_line *l, const int32_t *vert)
{
  void *p = m->vert;
  const int ok = grow_array(&p, &m->vert_cap, m->pool.slots, sizeof *m->vert);
  m->vert = p;
  ACL_MEMORY(m, ok);
  for (int64_t i = 0; i < m->num; ++i) {
    const acl_place *const t = &m->sets[i].at;
    if (m->sets[i].state == ACL_DEAD) continue;
    ACL_MEMORY(m, acl_hook(m, l, (int32_t)i));
    acl_vertices(l, t, m->vert + t->slot);
    ACL_BELIEVE(m, memcmp(m->vert + t->slot, vert + t->slot, (size_t)t->slots * sizeof *vert) == 0,
                "vertices of a set", i);
  }
  return LOOM_OK;
}

static loom_status check_contact_sets(acl *m)
{
  const loom_host *const host = m->host;
  plug_maps maps = plug_maps_on(host, NULL);
  LOOM_TRY(check_dead_sets(m));
  const yarn_line l = yarn_line_bind(&maps, m->sc, &m->table);
  const void *const model = plug_read_host(&maps, m->models);
  const int32_t *const vert = plug_read_host(&maps, m->pool.b[ACL_VERT]);
  LOOM_TRY(maps.status);
  LOOM_TRY(check_sets(m, &l, model));
  LOOM_TRY(find_set_places(m, &l, vert));
  return plug_unbind(&maps);
}

loom_status acl_checkpoint(void *self, const loom_step *s, int restore)
{
  acl *const m = self;
  head t;
  if (m->table.num_segs == 0) return LOOM_OK;
  LOOM_TRY(yarn_table_checkpoint(m->host, restore, "acl radii", m->sc, &m->table));
  if (!restore && !s->recording) LOOM_TRY(save_set_table(m));
  if (!restore) return save_contact_sets(m);
  acl_forget(m);
  LOOM_TRY(load_head(m, &t));
  LOOM_TRY(load_sets(m, &t));
  LOOM_TRY(load_models(m));
  LOOM_TRY(check_contact_sets(m));
  return acl_export_boxes(m); /* detection asks for them before the next step's end */
}
