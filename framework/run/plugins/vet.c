/* vet.c - checks on the results of plugins, see vet.h.  Their kernels are not charged. */
#include "run/plugins/vet.h"

#include <math.h>
#include <unistd.h>

#include "run/plugins/call.h"
#include "run/plugins/vet.kern.h"
#include "run/run_state.h"

static const lk_entry k_pairs = LK_ENTRY_MOVES(vet_pairs, 0, 6);
static const lk_entry k_ids = LK_ENTRY_MOVES(vet_ids, 0, 1);
static const lk_entry k_unit = LK_ENTRY_MOVES(vet_unit, 1, 0);

/* ---- counts ----
 */

loom_status vet_count(const instance *in, const char *callback, const char *what, int64_t before,
                      int64_t count, int64_t capacity)
{
  if (count >= before && count <= capacity) return LOOM_OK;
  return call_refuse(in, callback, LOOM_E_INTERNAL,
                     "returned LOOM_OK with count = %lld %s; %lld were there before and there is "
                     "room for %lld: ask for more with LOOM_GROW",
                     (long long)count, what, (long long)before, (long long)capacity);
}

loom_status vet_growth(const instance *in, const char *callback, const char *what, int64_t needed,
                       int64_t capacity, size_t bytes)
{
  const double room = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
  if (needed <= capacity)
    return call_refuse(
        in, callback, LOOM_E_INTERNAL,
        "returned LOOM_GROW with count = %lld %s, but there is room for %lld; set it "
        "to the number needed in all",
        (long long)needed, what, (long long)capacity);
  if (needed <= LK_MAX_ELEMS && (double)needed * (double)bytes <= room) return LOOM_OK;
  return call_refuse(in, callback, LOOM_E_NOMEM,
                     "asked for room for %lld %s, %.3g GB; this machine has %.3g GB, and no list "
                     "has more than %lld items",
                     (long long)needed, what, 1e-9 * (double)needed * (double)bytes, 1e-9 * room,
                     (long long)LK_MAX_ELEMS);
}

/* ---- queries ----
 */

static int is_points(const run *r, const loom_buf *b)
{
  return b != NULL && buf_type(b) == LOOM_REAL &&
         buf_count(b) == 3 * (int64_t)r->scene->pub.num_verts;
}

loom_status vet_query(const instance *in, const loom_query *q)
{
  const run *const r = in->r;
  const uint32_t all = LOOM_DETECT_PROXIMITY | LOOM_DETECT_CCD | LOOM_DETECT_OVERLAP;
  char names[256];
  const char *wrong = NULL;
  if (q->what & ~all) wrong = "what has unknown bits";
  if (q->kinds & ~(uint32_t)LOOM_PAIR_MASK_ALL) wrong = "kinds has unknown bits";
  if (!is_points(r, q->x0)) wrong = "x0 is not a buffer of positions, real [n][3]";
  if ((q->what & LOOM_DETECT_CCD) && !is_points(r, q->x1))
    wrong = "x1 is not a buffer of positions, real [n][3]";
  if (q->mask != NULL &&
      (buf_type(q->mask) != LOOM_U8 || buf_count(q->mask) < r->scene->pub.num_verts))
    wrong = "mask is not u8 [n]";
  if (q->exclude != NULL && buf_type(q->exclude) != LOOM_U64) wrong = "exclude is not u64";
  if (!isfinite(q->margin)) wrong = "margin is not finite";
  if (!(q->progress0 >= 0.0 && q->progress0 <= 1.0 && q->progress1 >= 0.0 && q->progress1 <= 1.0))
    wrong = "progress0 or progress1 is outside [0, 1]";
  if (wrong != NULL) return err_set(r->err, LOOM_E_ARG, "of the query, %s", wrong);
  if (in->plugin->kind != LOOM_KIND_CONTACT) return LOOM_OK; /* others have no word for it */
  uint32_t want = q->what; /* LOOM_DETECT_* are the LOOM_COLL_* bits */
  if (q->mask != NULL) want |= LOOM_COLL_MASKED;
  if (q->exclude != NULL) want |= LOOM_COLL_EXCLUDE;
  want &= ~in->plugin->ops.contact->needs;
  if (want == 0) return LOOM_OK;
  return err_set(r->err, LOOM_E_STATE,
                 "the query asks for %s, which the model's `needs` do not declare",
                 fit_names(LOOM_KIND_CONTACT, want, 0, names, sizeof names));
}

/* ---- ids ----
 */

static vet_pair_args pair_args(const run *r, buf_maps *q, const loom_pairs *p, uint32_t kinds)
{
  const loom_scene *const sc = &r->scene->pub;
  const vet_pair_args a = {.kind = buf_maps_add(q, p->kind, LOOM_READ),
                           .v = buf_maps_add(q, p->v, LOOM_READ),
                           .obst = buf_maps_add(q, p->obst, LOOM_READ),
                           .kinds = kinds,
                           .verts = sc->num_verts,
                           .all_verts = sc->num_verts + sc->num_body_verts,
                           .segs = sc->num_segs,
                           .bodies = sc->num_obstacles};
  return a;
}

/* Ends the maps. */
static loom_status count_bad(run *r, buf_maps *q, const lk_entry *k, const void *args, int64_t n,
                             int slot)
{
  const kernel_work kernels = r->work.kernels;
  const loom_status s = buf_maps_launch(q, k, args, n, r->exec.result + slot);
  r->work.kernels = kernels;
  return s;
}

loom_status vet_pairs_begin(run *r, const loom_pairs *p, uint32_t kinds, int slot)
{
  buf_maps q = {.m = r->m, .e = &r->exec};
  const vet_pair_args a = pair_args(r, &q, p, kinds);
  return count_bad(r, &q, &k_pairs, &a, p->count, slot);
}

loom_status vet_pairs_tell(const instance *in, const loom_pairs *p, uint32_t kinds, int64_t first,
                           int64_t end)
{
  run *const r = in->r;
  char asked[256];
  buf_maps q = {.m = r->m};
  const vet_pair_args a = pair_args(r, &q, p, kinds);
  int64_t j = first;
  if (q.status != LOOM_OK) return buf_maps_end(&q);
  while (j < end && !vet_pair(&a, (lk_int)j)) ++j;
  const int32_t *const v = a.v + 4 * j;
  if (j < end)
    q.status =
        call_refuse(in, "detect", LOOM_E_INTERNAL,
                    "pair %lld cannot be: kind %d, v = {%d, %d, %d, %d}, obst %d; there are %d "
                    "vertices, %d of bodies, %d segments and %d bodies, unused ids are -1, and "
                    "the kinds asked for are: %s",
                    (long long)(j - first), (int)a.kind[j], (int)v[0], (int)v[1], (int)v[2],
                    (int)v[3], (int)a.obst[j], (int)a.verts, (int)(a.all_verts - a.verts),
                    (int)a.segs, (int)a.bodies, fit_pair_names(kinds, asked, sizeof asked));
  return buf_maps_end(&q);
}

static loom_status refuse_ids(run *r, const double *bad, const results_use *u)
{
  const int32_t least = (int32_t)u->scale, most = r->scene->pub.num_verts;
  int64_t first = u->first;
  void *p;
  if (*bad == 0.0) return LOOM_OK;
  LOOM_TRY(buf_map(r->m, NULL, u->b, LOOM_READ, LOOM_AT_HOST, &p));
  const int32_t *const id = p;
  while (first < u->end && id[first] >= least && id[first] < most) ++first;
  const int32_t found = first < u->end ? id[first] : -1;
  LOOM_TRY(buf_unmap(r->m, u->b));
  return call_refuse(u->in, u->callback, LOOM_E_INTERNAL,
                     "%s[%lld] = %d is no vertex; there are %d of them", u->what, (long long)first,
                     (int)found, (int)most);
}

/* On a device this is known when the iteration ends, with [exec] debug at once. */
loom_status vet_vertex_ids(const instance *in, const char *callback, const char *what, loom_buf *b,
                           int64_t first, int64_t end, int32_t least)
{
  run *const r = in->r;
  buf_maps q = {.m = r->m, .e = &r->exec};
  if (first == end) return LOOM_OK;
  vet_id_args a = {
      .id = buf_maps_add(&q, b, LOOM_READ), .least = least, .end = r->scene->pub.num_verts};
  if (q.status == LOOM_OK) a.id += first;
  LOOM_TRY(count_bad(r, &q, &k_ids, &a, end - first, 0));
  return results_later(r, &r->exec, r->exec.result, 1,
                       &(results_use){.then = refuse_ids,
                                      .in = in,
                                      .callback = callback,
                                      .what = what,
                                      .b = b,
                                      .first = first,
                                      .end = end,
                                      .scale = (double)least});
}

/* ---- numbers ----
 */

int64_t vet_find_nan(const run *r, loom_buf *b)
{
  void *p;
  int64_t found = -1;
  if (buf_map(r->m, NULL, b, LOOM_READ, LOOM_AT_HOST, &p) != LOOM_OK) return -1;
  const loom_real *v = p;
  const int64_t n = buf_count(b) / 3;
  for (int64_t i = 0; i < n && found < 0; ++i, v += 3) /* also a row with a norm that overflows */
    if (!isfinite(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])) found = i;
  buf_unmap(r->m, b);
  return found;
}

loom_status vet_shares(const instance *in, const char *callback, const char *what, loom_buf *b)
{
  run *const r = in->r;
  buf_maps q = {.m = r->m, .e = &r->exec};
  const vet_unit_args a = {.t = buf_maps_add(&q, b, LOOM_READ)};
  double bad = 0.0;
  LOOM_TRY(count_bad(r, &q, &k_unit, &a, buf_count(b), 0));
  LOOM_TRY(exec_fetch(r->err, &r->exec, 0, 1, &bad));
  if (bad == 0.0) return LOOM_OK;
  return call_refuse(in, callback, LOOM_E_INTERNAL, "%.0f of %lld numbers in %s are not in [0, 1]",
                     bad, (long long)buf_count(b), what);
}

static int is_buffer_finite(const run *r, loom_buf *b)
{
  void *p;
  int fine = 1;
  if (buf_map(r->m, NULL, b, LOOM_READ, LOOM_AT_HOST, &p) != LOOM_OK) return 0;
  for (int64_t i = 0; i < buf_count(b); ++i) fine &= isfinite(((const loom_real *)p)[i]) != 0;
  buf_unmap(r->m, b);
  return fine;
}

static loom_status refuse_numbers(run *r, const double *most, const results_use *u)
{
  if (isfinite(*most)) return LOOM_OK;
  return call_refuse(u->in, u->callback, LOOM_E_NUMERIC, "%s %s, first at vertex %lld", u->what,
                     is_buffer_finite(r, u->b) ? "is too large to be squared" : "is not finite",
                     (long long)vet_find_nan(r, u->b));
}

loom_status vet_finite(const instance *in, const char *callback, const char *what, loom_buf *b)
{
  run *const r = in->r;
  const kernel_work kernels = r->work.kernels;
  LOOM_TRY(la_norm_max3_slot(r->m, &r->exec, b, LA_OWN_SLOT));
  r->work.kernels = kernels;
  return results_later(
      r, &r->exec, r->exec.result + LA_OWN_SLOT, 1,
      &(results_use){.then = refuse_numbers, .in = in, .callback = callback, .what = what, .b = b});
}

loom_status vet_trial(const run *r, loom_buf *b)
{
  return vet_finite(&r->solver, "iterate", "step->trial", b);
}
