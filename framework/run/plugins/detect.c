/* detect.c - DETECT: contact models plan, collision plugins find pairs, which are brought in order
 * (pairs.c), contact models update, the solver is told. */
#include <math.h>

#include "run/plugins/call.h"
#include "run/plugins/pairs.h"
#include "run/plugins/pairs.kern.h"
#include "run/plugins/vet.h"
#include "run/run_state.h"
#include "scene/objects/followers.h"

static const lk_entry k_min = LK_ENTRY_MOVES(run_min, 3, 0);
static const lk_entry k_touch = LK_ENTRY_MOVES(run_touch, 0, 8);

loom_status detect_new(run *r)
{
  uint32_t kinds = 0;
  for (int i = 0; i < r->num_contact; ++i) {
    contact_inst *const c = &r->contact[i];
    kinds |= c->in.plugin->ops.contact->pair_kinds;
    LOOM_TRY(pairs_new(r->m, &c->pairs));
  }
  return scene_mark_unnamed(r->scene, kinds, &r->detect.unnamed);
}

void detect_free(run *r)
{
  for (int i = 0; i < r->num_contact; ++i) {
    contact_inst *const c = &r->contact[i];
    pairs_free(r->m, &c->pairs);
    pairs_free(r->m, &c->asked);
  }
  pairs_free(r->m, &r->detect.asked);
  buf_free(r->m, r->detect.unnamed);
}

/* How many neighbours are not in order, and how many pairs cannot be; stiff->rigid becomes NULL
 * where no pair is within an object of it. */
static loom_status inspect_pair_list(run *r, const loom_pairs *p, uint32_t kinds,
                                     pairs_rigid *stiff, double *disorder, double *bad)
{
  double v[3] = {0.0, 0.0, 0.0};
  const int within = stiff->rigid != NULL;
  LOOM_TRY(pairs_disorder_begin(r->m, &r->exec, p, 0));
  if (p->count > 0) {
    LOOM_TRY(vet_pairs_begin(r, p, kinds, 1));
    if (within) LOOM_TRY(pairs_within_begin(r->m, &r->exec, p, stiff, 2));
    LOOM_TRY(exec_fetch(r->err, &r->exec, 0, within ? 3 : 2, v));
  }
  *disorder = p->count > 1 ? v[0] : 0.0;
  *bad = v[1];
  if (!(v[2] > 0.0)) stiff->rigid = NULL;
  return LOOM_OK;
}

static loom_status refuse_bad_pairs(run *r, const double *bad, const results_use *u)
{
  (void)u;
  if (!(*bad > 0.0)) return LOOM_OK;
  return err_set(
      r->err, LOOM_E_INTERNAL,
      "%.0f pairs that detection found cannot be; run with [exec] debug = 1, which names "
      "them and the plugin",
      *bad);
}

/* The same for a device, which puts all lists in order rather than wait for whether one is. */
static loom_status inspect_later(run *r, const loom_pairs *p, uint32_t kinds, double *disorder)
{
  *disorder = p->count > 1 ? 1.0 : 0.0;
  if (p->count == 0) return LOOM_OK;
  LOOM_TRY(vet_pairs_begin(r, p, kinds, 1));
  return results_later(r, &r->exec, r->exec.result + 1, 1,
                       &(results_use){.then = refuse_bad_pairs});
}

/* Ask one collision plugin; its pairs are appended to *out, which grows as needed. */
static loom_status collect_plugin_pairs(run *r, instance *in, const loom_query *q, loom_pairs *out)
{
  const loom_collision_ops *const ops = in->plugin->ops.collision;
  const int64_t before = out->count;
  loom_status s;
  if (!(q->kinds & ops->pair_kinds)) return LOOM_OK;
  do {
    s = call_detect(in, q, out);
  } while (call_again(r, &s, before, &out->count, pairs_reserve, out));
  work_charge(r, LOOM_C_DETECT, 1);
  return s;
}

/* Kinds that a query can bring: of its plugins, and of the scene's bodies.  Contact models read
 * their number of pairs of elements only where there may be some. */
static uint32_t find_possible_kinds(const run *r, const contact_inst *c, uint32_t asked)
{
  const loom_scene *const sc = &r->scene->pub;
  const int64_t num = sc->elements != NULL ? (int64_t)sc->num_obstacles * sc->num_objects : 0;
  uint32_t kinds = 0;
  int64_t k = 0;
  for (int i = 0; i < (c != NULL ? c->num_collision : r->num_collision); ++i)
    kinds |= r->collision[c != NULL ? c->collision[i] : i].plugin->ops.collision->pair_kinds;
  while (k < num && sc->elements[k] == LOOM_ELEMENTS_NONE) ++k;
  if (k == num) kinds &= ~LOOM_BIT(LOOM_PAIR_EO);
  return kinds & asked;
}

loom_status detect_query(run *r, contact_inst *c, const loom_query *q, loom_pairs *out)
{
  const int num = c != NULL ? c->num_collision : r->num_collision;
  int64_t first[RUN_MAX_INSTANCES + 1] = {0};
  double disorder = 0.0, bad = 0.0;
  pairs_rigid stiff = {.object = r->scene->pub.object,
                       .rigid = r->scene->followers != NULL ? r->scene->followers->rigid : NULL};
  clock_push(&r->clock, CLOCK_DETECT);
  loom_status s = follow_rows(r, q->x0);
  if (s == LOOM_OK && q->x1 != NULL && q->x1 != q->x0) s = follow_rows(r, q->x1);
  out->count = 0;
  out->kinds = find_possible_kinds(r, c, q->kinds);
  islands_reach(r, (double)q->margin);
  for (int i = 0; s == LOOM_OK && i < num; ++i) {
    s = collect_plugin_pairs(r, &r->collision[c != NULL ? c->collision[i] : i], q, out);
    first[i + 1] = out->count;
  }
  if (s == LOOM_OK)
    s = r->exec.backend == LOOM_CUDA && !r->exec.debug
            ? inspect_later(r, out, q->kinds, &disorder)
            : inspect_pair_list(r, out, q->kinds, &stiff, &disorder, &bad);
  for (int i = 0; s == LOOM_OK && bad > 0.0 && i < num; ++i)
    s = vet_pairs_tell(&r->collision[c != NULL ? c->collision[i] : i], out, q->kinds, first[i],
                       first[i + 1]);
  /* Lists that are in order only lose their rigid pairs. */
  if (s == LOOM_OK && disorder > 0.0)
    s = pairs_sort(r->m, &r->exec, out, &stiff);
  else if (s == LOOM_OK)
    s = pairs_drop_rigid(r->m, &r->exec, out, &stiff);
  clock_pop(&r->clock);
  return s;
}

loom_status detect_service(run *r, contact_inst *c, const loom_query *q, const loom_pairs **out)
{
  loom_pairs *const p = c != NULL ? &c->asked : &r->detect.asked;
  if (p->kind == NULL) LOOM_TRY(pairs_new(r->m, p));
  *out = p;
  return detect_query(r, c, q, p);
}

/* Records a filter request and strips it from the change flags. */
static uint32_t take_filter_request(run *r, uint32_t now)
{
  if (now & LOOM_ASK_FILTER) r->detect.asks_filter = 1;
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
    *changed |= take_filter_request(r, now);
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
    *changed |= take_filter_request(r, now);
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
  if (r->detect.unnamed != NULL)
    LOOM_TRY(buf_copy(r->m, &r->exec, r->buf.touched, r->detect.unnamed));
  for (int i = 0; i < r->num_contact; ++i) {
    const loom_pairs *const q = &r->contact[i].pairs;
    buf_maps m = {.m = r->m, .e = &r->exec};
    if (q->count == 0 || !(q->kinds & ~(uint32_t)SCENE_PAIRS_UNNAMED)) continue;
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

/* Kinds of pairs that contact models take from collision plugin i. */
static uint32_t find_taken_kinds(const run *r, int i)
{
  uint32_t kinds = 0;
  for (int k = 0; k < r->num_contact; ++k)
    for (int j = 0; j < r->contact[k].num_collision; ++j)
      if (r->contact[k].collision[j] == i) kinds |= r->contact[k].kinds;
  return kinds;
}

/* Smallest bound of all collision plugins that give one. */
loom_status detect_max_step(run *r, loom_buf *x0, loom_buf *x1, loom_bound *out)
{
  const uint32_t need = out->per_vertex ? LOOM_COLL_STEP_VERTEX : LOOM_COLL_STEP_GLOBAL;
  loom_buf *const t_vertex = out->t_vertex;
  loom_buf *other = NULL;
  int32_t blocker = -1, touching = 0;
  double t = 1.0;
  LOOM_TRY(follow_rows(r, x0));
  LOOM_TRY(follow_rows(r, x1));
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
    out->kinds = find_taken_kinds(r, i);
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
