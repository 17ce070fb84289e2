/* bvtt_front.c - collision plugin `bvtt_front`: cloth against itself and against body meshes by the
 * front of a bounding-volume test tree that is kept from query to query.
 *
 * M. Tang et al., "CAMA: contact-aware matrix assembly with unified collision handling for
 * GPU-based cloth simulation", CGF 35(2), 2016: fronts with sprouting (section 4), localized
 * propagation after impacts (Fig. 8), features owned by one triangle ("orphan sets").  The paper
 * defines no symbols for these.
 *
 * One query: boxes of the vertices with marks of the changed ones, refit, pairs of the front that
 * cover a mark (front.c), candidates of the leaf pairs that meet (count, scan, fill in chunks),
 * quick and exact test (kit/mesh_query).
 *
 * Boxes change little between queries of one kind, and have another size in queries of another
 * kind. So each kind has boxes and fronts of its own.
 */
#include <math.h>

#include "front.h"
#include "loom/plugin.h"

enum { UPDATE_LOCALIZED, UPDATE_FULL };
enum { NEAR, IMPACT, BOUND, NUM_KINDS }; /* proximity or overlap, CCD, step bound */

typedef struct {
  int32_t ccd;
  double keep;
  int64_t max_steps;
  int32_t shape;
  int32_t update;
  double crowd;
} settings;

static const loom_param params[] = {
    MESH_CCD_PARAMS(settings),
    MESH_VERTEX_PARAMS(settings),
    LOOM_PARAM_ENUM(
        settings, update, UPDATE_LOCALIZED, "localized|full",
        "Pairs of the front that a query tests anew, if it is not the first of its kind in "
        "the step: pairs that cover a vertex which has moved, or all."),
    LOOM_PARAM_REAL(
        settings, crowd, 300, 1, 1e9, "1",
        "A step bound looks at half of the way, and again, while the front has more than "
        "this many pairs for each triangle, and more than twice as many as without "
        "motion: bounds the work that a step across the whole scene would make."),
};

typedef struct tally {
  front_counts front;
  double listed, queries;
} tally;

typedef struct {
  mesh m;
  tree t;
  sight sight[NUM_KINDS];
  front front[NUM_KINDS][2]; /* of the cloth with itself, with bodies */
  front_lists lists;
  int update;
  double crowd;
  /* of the query that runs */
  int kind;
  front *named;   /* the front that lists candidates */
  double most;    /* largest number of pairs of a front */
  int knows_rest; /* 1: the number of pairs without motion is known */
  int goes_on;    /* 1: the last query asked for room, and is repeated */
  tally now, iter, step;
} bvtt_front;

/* ---- life ---- */

static loom_status bvtt_front_create(const loom_host *host, const loom_scene *sc,
                                     const loom_exec *e, const void *set, void **self)
{
  const settings *const s = set;
  LOOM_TRY(plug_new(host, sizeof(bvtt_front), self));
  bvtt_front *const d = *self;
  const mesh_params p = {
      .method = s->ccd, .keep = s->keep, .max_steps = s->max_steps, .shape = s->shape};
  d->update = s->update;
  d->crowd = s->crowd;
  LOOM_TRY(mesh_create(&d->m, host, sc, e, &p));
  d->m.by_parts = 1;
  LOOM_TRY(front_tree_create(&d->t, &d->m));
  LOOM_TRY(front_lists_create(&d->lists, host));
  for (int k = 0; k < NUM_KINDS; ++k) {
    LOOM_TRY(sight_create(&d->sight[k], &d->t));
    for (int b = 0; b < 2; ++b) LOOM_TRY(front_create(&d->front[k][b], &d->sight[k], &d->lists, b));
  }
  return LOOM_OK;
}

static loom_status bvtt_front_reset(void *self)
{
  bvtt_front *const d = self;
  for (int k = 0; k < NUM_KINDS; ++k)
    for (int b = 0; b < 2; ++b) d->front[k][b].num = 0;
  d->goes_on = 0;
  mesh_reset(&d->m);
  return LOOM_OK;
}

static loom_status bvtt_front_begin_step(void *self, const loom_step *s)
{
  bvtt_front *const d = self;
  (void)s;
  for (int k = 0; k < NUM_KINDS; ++k)
    for (int b = 0; b < 2; ++b) d->front[k][b].is_old = 1;
  d->iter = d->step = (tally){.listed = 0.0};
  d->goes_on = 0;
  return LOOM_OK;
}

/* ---- broad phase ---- */

static uint32_t kinds_of(int bodies) { return bodies ? MESH_BODY_KINDS : MESH_SELF_KINDS; }

/* Can a query for these kinds have pairs in the front of the cloth with itself, or with bodies? */
static int is_asked(const bvtt_front *d, uint32_t kinds, int bodies)
{
  return (kinds & kinds_of(bodies)) != 0 && d->t.num_cloth > 0 &&
         (!bodies || d->t.num > d->t.num_cloth);
}

/* Boxes for the motion of v, and the fronts that w asks for; LOOM_REJECTED: one of them is crowded.
 */
static loom_status update_fronts(bvtt_front *d, const mesh_view *v, const mesh_wanted *w,
                                 double most)
{
  const loom_host *const host = d->m.host;
  const mesh_growth grow = mesh_inflation(w);
  loom_status status = LOOM_OK;
  host->tic(host, "refit");
  LOOM_TRY(sight_refit(&d->sight[d->kind], v, grow.reach, grow.share, 3));
  host->toc(host, "refit");
  host->tic(host, "leaves");
  for (int b = 0; b < 2 && status == LOOM_OK; ++b)
    if (is_asked(d, w->kinds, b))
      status = front_update(&d->front[d->kind][b], d->update == UPDATE_FULL, most, &d->now.front);
  if (status >= LOOM_OK) host->toc(host, "leaves");
  return status;
}

/* LOOM_REJECTED where the way of a step bound makes fronts too large, unless they are nearly as
 * large without motion. */
static loom_status look_if_sane(bvtt_front *d, const mesh_view *v, const mesh_wanted *w)
{
  const loom_status status = update_fronts(d, v, w, d->most);
  if (status != LOOM_REJECTED || d->knows_rest) return status;
  mesh_view rest = *v;
  rest.x1 = v->x0;
  LOOM_TRY(update_fronts(d, &rest, w, INFINITY));
  d->knows_rest = 1;
  for (int b = 0; b < 2; ++b) d->most = fmax(d->most, 2.0 * (double)d->front[d->kind][b].num);
  return update_fronts(d, v, w, d->most);
}

static loom_status bvtt_front_list_candidates(void *self, const mesh_view *v, int family,
                                              int64_t first, int64_t end, int64_t base,
                                              loom_buf *place, loom_buf *name)
{
  const bvtt_front *const d = self;
  (void)v;
  return front_list_names(d->named, family, first, end, base, place, name);
}

static loom_status collect_front_candidates(bvtt_front *d, const mesh_view *v, const mesh_wanted *w,
                                            int bodies, int family, int64_t *listed)
{
  const loom_host *const host = d->m.host;
  const uint32_t kinds = kinds_of(bodies) & (family == MESH_VT ? MESH_VT_KINDS : MESH_EE_KINDS);
  int64_t groups;
  if (!is_asked(d, w->kinds & kinds, bodies)) return LOOM_OK;
  d->named = &d->front[d->kind][bodies];
  host->tic(host, "list");
  LOOM_TRY(front_count_names(d->named, family == MESH_VT ? BVTT_FRONT_VT_BITS : BVTT_FRONT_EE_BITS,
                             &groups));
  host->toc(host, "list");
  return mesh_collect(&d->m, v, w, family, d->lists.place, groups, bvtt_front_list_candidates, d,
                      listed);
}

static void add_front_tally(tally *to, const tally *t)
{
  to->front.size += t->front.size;
  to->front.looked += t->front.looked;
  to->front.tested += t->front.tested;
  to->front.sprouted += t->front.sprouted;
  to->front.merged += t->front.merged;
  to->listed += t->listed;
  to->queries += t->queries;
}

static loom_status bvtt_front_find_candidates(void *self, const mesh_view *v, const mesh_wanted *w)
{
  bvtt_front *const d = self;
  int64_t listed = 0;
  d->now = (tally){.queries = 1.0};
  LOOM_TRY(d->kind == BOUND ? look_if_sane(d, v, w) : update_fronts(d, v, w, INFINITY));
  for (int b = 0; b < 2; ++b)
    for (int f = MESH_VT; f <= MESH_EE; ++f)
      LOOM_TRY(collect_front_candidates(d, v, w, b, f, &listed));
  d->now.listed = (double)listed;
  /* a repeated query is not counted: how often lists grow depends on the history of the process */
  if (d->goes_on) return LOOM_OK;
  add_front_tally(&d->iter, &d->now);
  add_front_tally(&d->step, &d->now);
  return LOOM_OK;
}

/* ---- callbacks ---- */

static loom_status bvtt_front_detect(void *self, const loom_step *s, const loom_query *q,
                                     loom_pairs *out)
{
  bvtt_front *const d = self;
  d->kind = q->what & LOOM_DETECT_CCD ? IMPACT : NEAR;
  const loom_status status = mesh_detect(&d->m, s, q, out, bvtt_front_find_candidates, d);
  d->goes_on = status == LOOM_GROW;
  return status;
}

static loom_status bvtt_front_max_step(void *self, const loom_step *s, loom_buf *x0, loom_buf *x1,
                                       loom_bound *out)
{
  bvtt_front *const d = self;
  d->kind = BOUND;
  d->goes_on = d->knows_rest = 0;
  d->most = d->crowd * (double)d->t.num_cloth;
  return mesh_max_step(&d->m, s, x0, x1, out, bvtt_front_find_candidates, d);
}

/* ---- columns of the log ---- */

/* Columns of work have names with n_.  Their values may be larger in the step with which a run is
 * resumed, because fronts begin at the root there.  The other columns do not depend on earlier
 * steps.
 */
static const loom_column columns[] = {
    {"front", "1", "pairs of boxes in the fronts, a mean over the queries since the last row"},
    {"listed", "1", "candidates that these queries listed"},
    {"share", "1", "share of the fronts that they tested anew"},
    {"n_tested", "1", "pairs of boxes that they tested"},
    {"n_sprouted", "1", "pairs by which fronts have grown in them"},
    {"n_merged", "1", "pairs by which fronts have become fewer in them"},
};
static const loom_column step_columns[] = {
    {"front", "1", "pairs of boxes in the fronts, a mean over the queries of the step"},
    {"listed", "1", "candidates that these queries listed"},
    {"share", "1", "share of the fronts that they tested anew"},
    {"n_tested", "1", "pairs of boxes that they tested"},
    {"n_sprouted", "1", "pairs by which fronts have grown in them"},
    {"n_merged", "1", "pairs by which fronts have become fewer in them"},
    {"queries", "1", "queries of the step"},
};

static void write_front_tally(const tally *t, double *out)
{
  if (!(t->queries > 0.0)) return;
  out[0] = t->front.size / t->queries;
  out[1] = t->listed;
  if (t->front.size > 0.0) out[2] = t->front.looked / t->front.size;
  out[3] = t->front.tested;
  out[4] = t->front.sprouted;
  out[5] = t->front.merged;
}

static loom_status bvtt_front_log_iter(void *self, const loom_step *s, double *out)
{
  bvtt_front *const d = self;
  (void)s;
  write_front_tally(&d->iter, out);
  d->iter = (tally){.listed = 0.0};
  return LOOM_OK;
}

static loom_status bvtt_front_log_step(void *self, const loom_step *s, double *out)
{
  const bvtt_front *const d = self;
  (void)s;
  write_front_tally(&d->step, out);
  out[6] = d->step.queries;
  return LOOM_OK;
}

/* ---- descriptor ---- */

static const loom_collision_ops ops = {
    .struct_size = sizeof ops,
    .provides = LOOM_COLL_PROXIMITY | LOOM_COLL_CCD | LOOM_COLL_OVERLAP | LOOM_COLL_STEP_GLOBAL |
                LOOM_COLL_STEP_VERTEX | LOOM_COLL_MASKED | LOOM_COLL_EXCLUDE | LOOM_COLL_LEAVES_OUT,
    .pair_kinds = MESH_KINDS,
    .create = bvtt_front_create,
    .destroy = plug_free,
    .reset = bvtt_front_reset,
    .begin_step = bvtt_front_begin_step,
    .detect = bvtt_front_detect,
    .max_step = bvtt_front_max_step,
    .log_iter = bvtt_front_log_iter,
    .log_step = bvtt_front_log_step};

static const loom_plugin plugin = {
    LOOM_PLUGIN(collision, ops, LK_BACKENDS),
    .name = "bvtt_front",
    .version = "0.1.0",
    .summary = "cloth against itself and body meshes by a front of box pairs that is kept",
    .reference =
        "M. Tang, H. Wang, L. Tang, R. Tong, D. Manocha, CAMA: Contact-Aware Matrix "
        "Assembly with Unified Collision Handling for GPU-based Cloth Simulation, Computer "
        "Graphics Forum 35(2), 2016, doi 10.1111/cgf.12851",
    .license = "MIT",
    LOOM_SETTINGS(settings, params),
    LOOM_COLUMNS(columns),
    LOOM_STEP_COLUMNS(step_columns),
};

LOOM_EXPORT_PLUGIN(&plugin)
