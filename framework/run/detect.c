/* detect.c - DETECT: contact models plan, collision plugins find pairs, the core sorts
 * them and removes duplicates, contact models update, the solver is told. */
#include <math.h>
#include <string.h>

#include "run/call.h"
#include "run/contact_forms.h"
#include "run/host.h"
#include "run/run.kern.h"
#include "run/vet.h"

static const lk_entry k_disorder = LK_ENTRY(run_pair_disorder);
static const lk_entry k_kind_key = LK_ENTRY(run_pair_kind_key);
static const lk_entry k_first = LK_ENTRY(run_pair_first);
static const lk_entry k_move = LK_ENTRY(run_pair_move);
static const lk_entry k_min = LK_ENTRY(run_min);
static const lk_entry k_touch = LK_ENTRY(run_touch);

enum { PAIR_ARRAYS = 9 };

typedef struct pair_array {
  loom_buf **b;
  const char *name;
  int type, width;
} pair_array;

static void pair_arrays(loom_pairs *p, pair_array a[PAIR_ARRAYS])
{
  const pair_array all[PAIR_ARRAYS] = {
      {&p->kind, "pairs.kind", LOOM_I32, 1},      {&p->v, "pairs.v", LOOM_I32, 4},
      {&p->obst, "pairs.obst", LOOM_I32, 1},      {&p->w, "pairs.w", LOOM_REAL, 4},
      {&p->normal, "pairs.normal", LOOM_REAL, 3}, {&p->gap, "pairs.gap", LOOM_REAL, 1},
      {&p->point, "pairs.point", LOOM_REAL, 3},   {&p->toi, "pairs.toi", LOOM_REAL, 1},
      {&p->key, "pairs.key", LOOM_U64, 1}};
  memcpy(a, all, sizeof all);
}

static loom_status pairs_alloc(run *r, loom_pairs *p)
{
  pair_array a[PAIR_ARRAYS];
  memset(p, 0, sizeof *p);
  p->struct_size = sizeof *p;
  pair_arrays(p, a);
  for (int i = 0; i < PAIR_ARRAYS; ++i)
    LOOM_TRY(buf_new(r->m, "core", a[i].name, a[i].type, 0, a[i].b));
  return LOOM_OK;
}

static loom_status pairs_reserve(run *r, loom_pairs *p, int64_t capacity)
{
  pair_array a[PAIR_ARRAYS];
  if (capacity <= p->capacity) return LOOM_OK;
  capacity += capacity / 8;
  pair_arrays(p, a);
  for (int i = 0; i < PAIR_ARRAYS; ++i) LOOM_TRY(buf_resize(r->m, *a[i].b, a[i].width * capacity));
  p->capacity = capacity;
  return LOOM_OK;
}

static void pairs_release(run *r, loom_pairs *p)
{
  pair_array a[PAIR_ARRAYS];
  pair_arrays(p, a);
  for (int i = 0; i < PAIR_ARRAYS; ++i) buf_free(r->m, *a[i].b);
  memset(p, 0, sizeof *p);
}

/* Contact of yarns keeps sets of its own, which detection does not report any more, and its
 * pairs name segments: as far as contact goes every vertex of a yarn is touched. */
static loom_status mark_yarns(run *r)
{
  unsigned char *mark;
  int32_t *first;
  uint32_t kinds = 0;
  const int32_t n = r->scene->pub.num_verts;
  for (int i = 0; i < r->num_contact; ++i)
    kinds |= r->contact[i].in.plugin->ops.contact->pair_kinds;
  if (r->scene->pub.num_yarns == 0 || !(kinds & LOOM_BIT(LOOM_PAIR_YY))) return LOOM_OK;
  LOOM_TRY(buf_new(r->m, "core", "vertices of yarns", LOOM_U8, n, &r->detect.yarn_verts));
  LOOM_TRY(buf_map(r->m, NULL, r->detect.yarn_verts, LOOM_WRITE, LOOM_AT_HOST, (void **)&mark));
  LOOM_TRY(buf_map(r->m, NULL, r->scene->pub.yarn_vert, LOOM_READ, LOOM_AT_HOST, (void **)&first));
  for (int32_t i = 0; i < n; ++i) mark[i] = i >= first[0];
  LOOM_TRY(buf_unmap(r->m, r->scene->pub.yarn_vert));
  return buf_unmap(r->m, r->detect.yarn_verts);
}

loom_status detect_new(run *r)
{
  LOOM_TRY(mark_yarns(r));
  for (int i = 0; i < r->num_contact; ++i) {
    contact_inst *const c = &r->contact[i];
    LOOM_TRY(pairs_alloc(r, &c->pairs));
    LOOM_TRY(quad_alloc(r, "core", (c->provides & LOOM_CONT_QUAD_ISO) != 0, &c->quad));
  }
  return LOOM_OK;
}

void detect_free(run *r)
{
  for (int i = 0; i < r->num_contact; ++i) {
    contact_inst *const c = &r->contact[i];
    contact_thaw(r, c);
    pairs_release(r, &c->pairs);
    pairs_release(r, &c->asked);
    quad_release(r, &c->quad);
  }
  pairs_release(r, &r->detect.asked);
  pairs_release(r, &r->detect.spare);
  buf_free(r->m, r->detect.yarn_verts);
}

/* Move pairs in the order of `perm`, keeping the first of equal ones, into the spare set,
 * and swap the two sets. */
static loom_status pairs_reorder(run *r, loom_pairs *p, loom_buf *perm)
{
  loom_pairs *const q = &r->detect.spare;
  const int64_t m = p->count;
  loom_buf *flag = NULL, *place = NULL;
  LOOM_TRY(buf_new(r->m, "core", "pair flags", LOOM_I64, m, &flag));
  LOOM_TRY(buf_new(r->m, "core", "pair places", LOOM_I64, m + 1, &place));
  buf_maps b = {.m = r->m, .e = &r->exec};
  const pair_key_args fa = {.kind = buf_maps_add(&b, p->kind, LOOM_READ),
                            .key = buf_maps_add(&b, p->key, LOOM_READ),
                            .perm = buf_maps_add(&b, perm, LOOM_READ),
                            .flag = buf_maps_add(&b, flag, LOOM_WRITE)};
  LOOM_TRY(buf_maps_launch(&b, &k_first, &fa, m, NULL));
  LOOM_TRY(la_scan_i64(r->m, &r->exec, flag, place));

  if (q->kind == NULL) LOOM_TRY(pairs_alloc(r, q));
  LOOM_TRY(pairs_reserve(r, q, m));
  const pair_move_args ma = {.perm = buf_maps_add(&b, perm, LOOM_READ),
                             .place = buf_maps_add(&b, place, LOOM_READ),
                             .kind = buf_maps_add(&b, p->kind, LOOM_READ),
                             .v = buf_maps_add(&b, p->v, LOOM_READ),
                             .obst = buf_maps_add(&b, p->obst, LOOM_READ),
                             .w = buf_maps_add(&b, p->w, LOOM_READ),
                             .normal = buf_maps_add(&b, p->normal, LOOM_READ),
                             .gap = buf_maps_add(&b, p->gap, LOOM_READ),
                             .point = buf_maps_add(&b, p->point, LOOM_READ),
                             .toi = buf_maps_add(&b, p->toi, LOOM_READ),
                             .key = buf_maps_add(&b, p->key, LOOM_READ),
                             .kind2 = buf_maps_add(&b, q->kind, LOOM_WRITE),
                             .v2 = buf_maps_add(&b, q->v, LOOM_WRITE),
                             .obst2 = buf_maps_add(&b, q->obst, LOOM_WRITE),
                             .w2 = buf_maps_add(&b, q->w, LOOM_WRITE),
                             .normal2 = buf_maps_add(&b, q->normal, LOOM_WRITE),
                             .gap2 = buf_maps_add(&b, q->gap, LOOM_WRITE),
                             .point2 = buf_maps_add(&b, q->point, LOOM_WRITE),
                             .toi2 = buf_maps_add(&b, q->toi, LOOM_WRITE),
                             .key2 = buf_maps_add(&b, q->key, LOOM_WRITE)};
  LOOM_TRY(buf_maps_launch(&b, &k_move, &ma, m, NULL));

  void *host;
  LOOM_TRY(buf_map(r->m, NULL, place, LOOM_READ, LOOM_AT_HOST, &host));
  q->count = ((const int64_t *)host)[m];
  LOOM_TRY(buf_unmap(r->m, place));
  buf_free(r->m, flag);
  buf_free(r->m, place);
  q->kinds = p->kinds;
  const loom_pairs swap = *p;
  *p = *q;
  *q = swap;
  return LOOM_OK;
}

/* How many neighbours are not in order, and how many pairs cannot be. */
static loom_status inspect(run *r, const loom_pairs *p, uint32_t kinds, double *disorder,
                           double *bad)
{
  double v[2] = {0.0, 0.0};
  if (p->count > 1) {
    buf_maps b = {.m = r->m, .e = &r->exec};
    const pair_key_args da = {.kind = buf_maps_add(&b, p->kind, LOOM_READ),
                              .key = buf_maps_add(&b, p->key, LOOM_READ)};
    LOOM_TRY(buf_maps_launch(&b, &k_disorder, &da, p->count - 1, r->exec.result));
  }
  if (p->count > 0) {
    LOOM_TRY(vet_pairs_begin(r, p, kinds, 1));
    LOOM_TRY(exec_fetch(r->err, &r->exec, 0, 2, v));
  }
  *disorder = p->count > 1 ? v[0] : 0.0;
  *bad = v[1];
  return LOOM_OK;
}

/* Sort by (kind, key) and drop duplicates. */
static loom_status pairs_sort(run *r, loom_pairs *p)
{
  /* two stable sorts: by key, then by kind */
  loom_buf *key = NULL, *perm = NULL, *perm2 = NULL, *both = NULL;
  LOOM_TRY(buf_new(r->m, "core", "pair sort keys", LOOM_U64, p->count, &key));
  LOOM_TRY(buf_new(r->m, "core", "pair order", LOOM_I32, p->count, &perm));
  LOOM_TRY(buf_new(r->m, "core", "pair order by kind", LOOM_I32, p->count, &perm2));
  LOOM_TRY(buf_new(r->m, "core", "pair order in all", LOOM_I32, p->count, &both));
  LOOM_TRY(buf_copy(r->m, &r->exec, key, p->key));
  LOOM_TRY(la_sort_u64(r->m, &r->exec, key, perm));
  buf_maps b = {.m = r->m, .e = &r->exec};
  const pair_key_args ka = {.kind = buf_maps_add(&b, p->kind, LOOM_READ),
                            .key = buf_maps_add(&b, p->key, LOOM_READ),
                            .perm = buf_maps_add(&b, perm, LOOM_READ),
                            .out = buf_maps_add(&b, key, LOOM_WRITE)};
  LOOM_TRY(buf_maps_launch(&b, &k_kind_key, &ka, p->count, NULL));
  LOOM_TRY(la_sort_u64(r->m, &r->exec, key, perm2));
  LOOM_TRY(la_compose(r->m, &r->exec, perm, perm2, both));
  LOOM_TRY(pairs_reorder(r, p, both));
  buf_free(r->m, key);
  buf_free(r->m, perm);
  buf_free(r->m, perm2);
  buf_free(r->m, both);
  return LOOM_OK;
}

/* Ask one collision plugin; its pairs are appended to *out, which grows as needed. */
static loom_status ask(run *r, instance *in, const loom_query *q, loom_pairs *out)
{
  const loom_collision_ops *const ops = in->plugin->ops.collision;
  const int64_t before = out->count;
  loom_status s;
  if (!(q->kinds & ops->pair_kinds)) return LOOM_OK;
  while ((s = call_detect(in, q, out)) == LOOM_GROW) {
    const int64_t needed = out->count;
    out->count = before;
    LOOM_TRY(pairs_reserve(r, out, needed));
  }
  host_charge(r, LOOM_C_DETECT, 1);
  return s;
}

loom_status detect_query(run *r, contact_inst *c, const loom_query *q, loom_pairs *out)
{
  const int num = c != NULL ? c->num_collision : r->num_collision;
  int64_t first[RUN_MAX_INSTANCES + 1] = {0};
  double disorder = 0.0, bad = 0.0;
  clock_push(&r->clock, CLOCK_DETECT);
  loom_status s = LOOM_OK;
  out->count = 0;
  out->kinds = q->kinds;
  for (int i = 0; s == LOOM_OK && i < num; ++i) {
    s = ask(r, &r->collision[c != NULL ? c->collision[i] : i], q, out);
    first[i + 1] = out->count;
  }
  if (s == LOOM_OK) s = inspect(r, out, q->kinds, &disorder, &bad);
  for (int i = 0; s == LOOM_OK && bad > 0.0 && i < num; ++i)
    s = vet_pairs_tell(&r->collision[c != NULL ? c->collision[i] : i], out, q->kinds, first[i],
                       first[i + 1]);
  /* lists that are in order are left alone */
  if (s == LOOM_OK && disorder > 0.0) s = pairs_sort(r, out);
  clock_pop(&r->clock);
  return s;
}

loom_status detect_service(run *r, contact_inst *c, const loom_query *q, const loom_pairs **out)
{
  loom_pairs *const p = c != NULL ? &c->asked : &r->detect.asked;
  if (p->kind == NULL) LOOM_TRY(pairs_alloc(r, p));
  *out = p;
  return detect_query(r, c, q, p);
}

/* What remains of `now` when the wish for a filter is heard. */
static uint32_t take_wish(run *r, uint32_t now)
{
  if (now & LOOM_ASK_FILTER) r->filter.asked = 1;
  return now & ~(uint32_t)LOOM_ASK_FILTER;
}

loom_status detect_all(run *r, uint32_t *changed)
{
  *changed = LOOM_CHANGED_NONE;
  for (int i = 0; i < r->num_contact; ++i) {
    contact_inst *const c = &r->contact[i];
    uint32_t now = LOOM_CHANGED_NONE;
    loom_query q = {.struct_size = sizeof q,
                    .kinds = c->kinds,
                    .x0 = r->st.x,
                    .x1 = r->st.x,
                    .progress0 = r->st.progress,
                    .progress1 = r->st.progress};
    LOOM_TRY(call_plan(c, &q));
    q.kinds &= c->kinds;
    if (q.what != 0) LOOM_TRY(detect_query(r, c, &q, &c->pairs));
    clock_push(&r->clock, CLOCK_CONTACT);
    const loom_status s = call_update(c, LOOM_AFTER_DETECT, &now);
    clock_pop(&r->clock);
    LOOM_TRY(s);
    *changed |= take_wish(r, now);
  }
  return LOOM_OK;
}

loom_status detect_after_accept(run *r, uint32_t *changed)
{
  *changed = LOOM_CHANGED_NONE;
  clock_push(&r->clock, CLOCK_CONTACT);
  for (int i = 0; i < r->num_contact; ++i) {
    contact_inst *const c = &r->contact[i];
    uint32_t now = LOOM_CHANGED_NONE;
    const loom_status s = call_update(c, LOOM_AFTER_ACCEPT, &now);
    if (s != LOOM_OK) {
      clock_pop(&r->clock);
      return s;
    }
    *changed |= take_wish(r, now);
  }
  clock_pop(&r->clock);
  return LOOM_OK;
}

loom_status detect_announce(run *r, uint32_t changed)
{
  if (changed == LOOM_CHANGED_NONE) return LOOM_OK;
  r->st.epoch++;
  clock_push(&r->clock, CLOCK_SOLVE);
  const loom_status s = call_contact_changed(r, changed);
  clock_pop(&r->clock);
  return s;
}

loom_status detect_mark_touched(run *r)
{
  void *touched;
  LOOM_TRY(buf_map(r->m, &r->exec, r->buf.touched, LOOM_WRITE, LOOM_AT_EXEC, &touched));
  LOOM_TRY(exec_zero(r->err, &r->exec, touched, (size_t)r->scene->pub.num_verts));
  LOOM_TRY(buf_unmap(r->m, r->buf.touched));
  if (r->detect.yarn_verts != NULL)
    LOOM_TRY(buf_copy(r->m, &r->exec, r->buf.touched, r->detect.yarn_verts));
  for (int i = 0; i < r->num_contact; ++i) {
    const loom_pairs *const q = &r->contact[i].pairs;
    buf_maps m = {.m = r->m, .e = &r->exec};
    if (q->count == 0 || q->kinds == LOOM_BIT(LOOM_PAIR_YY)) continue;
    const touch_args a = {.v = buf_maps_add(&m, q->v, LOOM_READ),
                          .touched = buf_maps_add(&m, r->buf.touched, LOOM_RDWR),
                          .n = r->scene->pub.num_verts};
    LOOM_TRY(buf_maps_launch(&m, &k_touch, &a, q->count, NULL));
  }
  return LOOM_OK;
}

int64_t detect_num_pairs(const run *r)
{
  int64_t sum = 0;
  for (int i = 0; i < r->num_contact; ++i) sum += r->contact[i].pairs.count;
  return sum;
}

/* a[i] = min(a[i], b[i]) */
static loom_status take_min(run *r, loom_buf *a, loom_buf *b)
{
  buf_maps q = {.m = r->m, .e = &r->exec};
  const min_args args = {.a = buf_maps_add(&q, a, LOOM_RDWR), .b = buf_maps_add(&q, b, LOOM_READ)};
  return buf_maps_launch(&q, &k_min, &args, r->scene->pub.num_verts, NULL);
}

/* Smallest bound of all collision plugins that give one. */
loom_status detect_max_step(run *r, loom_buf *x0, loom_buf *x1, loom_bound *out)
{
  const uint32_t need = out->per_vertex ? LOOM_COLL_STEP_VERTEX : LOOM_COLL_STEP_GLOBAL;
  loom_buf *const t_vertex = out->t_vertex;
  loom_buf *other = NULL;
  int32_t blocker = -1, touching = 0;
  double t = 1.0;
  if (out->per_vertex) {
    LOOM_TRY(la_fill(r->m, &r->exec, t_vertex, 1.0));
    LOOM_TRY(buf_new(r->m, "core", "bound per vertex", LOOM_REAL, r->scene->pub.num_verts, &other));
    out->t_vertex = other;
  }
  clock_push(&r->clock, CLOCK_DETECT);
  for (int i = 0; i < r->num_collision; ++i) {
    const loom_collision_ops *const ops = r->collision[i].plugin->ops.collision;
    if (!(ops->provides & need) || ops->max_step == NULL) continue;
    out->t_global = 1.0;
    out->blocker = -1;
    out->touching = 0;
    LOOM_TRY(call_max_step(&r->collision[i], x0, x1, out));
    touching |= out->touching;
    if (out->t_global < t) {
      t = out->t_global;
      blocker = out->blocker;
    }
    if (out->per_vertex) LOOM_TRY(take_min(r, t_vertex, other));
  }
  clock_pop(&r->clock);
  if (other != NULL) buf_free(r->m, other);
  out->t_vertex = t_vertex;
  out->t_global = t;
  out->blocker = blocker;
  out->touching = touching;
  return LOOM_OK;
}
