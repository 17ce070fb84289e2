/* yarn_penalty.c - contact model `yarn_penalty`: the exact force of the yarns' contact energy.
 *
 * The energy of geom/yarn.kern.h over all pairs of segments that detection reports, evaluated
 * anew in every call: the reference for `acl`.  No state carries over between steps.
 *
 * J. M. Kaldor, D. L. James, S. Marschner, Simulating knitted cloth at the yarn level, ACM TOG
 * 27(3), 2008, and ACM TOG 29(4), 2010, section 3.2. */
#include <math.h>

#include "kit/yarn_line.h"
#include "loom/plug.h"
#include "loom/plugin.h"
#include "yarn_penalty.kern.h"

static const lk_entry k_points = LK_ENTRY_MOVES(yarn_penalty_points, 195, 6),
                      k_pair = LK_ENTRY_MOVES(yarn_penalty_pair, 518, 13);
static const lk_entry k_second = LK_ENTRY_MOVES(yarn_penalty_second, 1, 1),
                      k_index = LK_ENTRY_MOVES(yarn_penalty_index, 11, 9);
static const lk_entry k_gather = LK_ENTRY_MOVES(yarn_penalty_gather, 37, 1),
                      k_add = LK_ENTRY_MOVES(yarn_penalty_add, 36, 4);
static const lk_entry k_sum = LK_ENTRY_MOVES(yarn_penalty_sum, 1, 0),
                      k_most = LK_ENTRY_MOVES(yarn_penalty_most, 1, 0);
static const lk_entry k_count = LK_ENTRY_MOVES(yarn_penalty_count, 1, 0),
                      k_least = LK_ENTRY_MOVES(yarn_penalty_least, 1, 0);

typedef struct settings {
  double stiffness, margin;
} settings;

static const loom_param params[] = {
    LOOM_PARAM_REAL(settings, stiffness, 3.5, 0, 1e9, "N/m",
                    "k_contact of the energy per squared length of yarn; 3500 dyn/cm in the "
                    "paper's units."),
    LOOM_PARAM_REAL(settings, margin, 0, 0, 1, "m",
                    "Detection lists segments this far beyond touching; 0 suits explicit solvers, "
                    "others need the distance that segments move between two detections."),
    LOOM_PARAM_GONE("stats", "the log has its numbers: column `found` of /steps_extra, times of "
                             "`index` and `force` in /sections"),
};

typedef struct yarn_penalty {
  const loom_host *host;
  const loom_scene *sc;
  const loom_exec *e;
  settings set;
  yarn_points_table table;
  int32_t timed;    /* eval() has run since update(): the next one is not the method's */
  int64_t m;        /* pairs */
  loom_buf *v, *w;  /* of the pairs, the core's */
  loom_buf *gap;    /* of the pairs, the core's */
  loom_buf *P;      /* real [ns][3][YARN_LANES] */
  loom_buf *g;      /* real [m][2][4][3] */
  loom_buf *energy; /* real [m] */
  loom_buf *force;  /* real [m] */
  loom_buf *second; /* u64 [m] */
  loom_buf *perm;   /* i32 [m] */
  loom_buf *at;     /* i64 [ns+1][2] */
  loom_buf *seg;    /* real [ns][4][3] */
  loom_buf *of;     /* i32 [n][4] */
  loom_buf *result; /* real [1] */
} yarn_penalty;

/* ---- life ---- */

/* Which segments have a vertex as a control point, and where. */
static loom_status fill_of(yarn_penalty *p)
{
  const loom_host *const host = p->host;
  void *of, *segs;
  LOOM_TRY(host->map(host, NULL, p->of, LOOM_WRITE, LOOM_AT_HOST, &of));
  for (int64_t i = 0; i < 4 * (int64_t)p->sc->num_verts; ++i) ((int32_t *)of)[i] = -1;
  if (p->table.num_segs > 0) {
    LOOM_TRY(host->map(host, NULL, p->sc->segs, LOOM_READ, LOOM_AT_HOST, &segs));
    for (int32_t s = 0; s < p->table.num_segs; ++s)
      for (int k = 0; k < 4; ++k) {
        const int32_t v = ((const int32_t *)segs)[4 * (int64_t)s + k];
        for (int j = 0; v >= 0 && j < 4; ++j) {
          int32_t *const at = (int32_t *)of + 4 * (int64_t)v + j;
          if (*at >= 0) continue;
          *at = 4 * s + k;
          break;
        }
      }
    LOOM_TRY(host->unmap(host, p->sc->segs));
  }
  return host->unmap(host, p->of);
}

static loom_status yarn_penalty_create(const loom_host *host, const loom_scene *sc,
                                       const loom_exec *e, const void *set, void **self)
{
  LOOM_TRY(plug_new(host, sizeof(yarn_penalty), self));
  yarn_penalty *const p = *self;
  p->host = host;
  p->sc = sc;
  p->e = e;
  p->set = *(const settings *)set;
  LOOM_TRY(yarn_table_new(host, sc, e, &p->table));
  const int64_t ns = p->table.num_segs;
  const plug_buf all[] = {{"points", LOOM_REAL, YARN_POS * ns, &p->P},
                          {"forces of pairs", LOOM_REAL, 0, &p->g},
                          {"energies of pairs", LOOM_REAL, 0, &p->energy},
                          {"sums of pairs", LOOM_REAL, 0, &p->force},
                          {"second segments", LOOM_U64, 0, &p->second},
                          {"order by second", LOOM_I32, 0, &p->perm},
                          {"first pairs", LOOM_I64, 2 * (ns + 1), &p->at},
                          {"forces of segments", LOOM_REAL, 12 * ns, &p->seg},
                          {"segments of vertices", LOOM_I32, 4 * (int64_t)sc->num_verts, &p->of},
                          {"sums", LOOM_REAL, 1, &p->result}};
  LOOM_TRY(plug_bufs_new(host, all, LOOM_COUNT(all)));
  return fill_of(p);
}

static loom_status yarn_penalty_begin_step(void *self, const loom_step *s)
{
  yarn_penalty *const p = self;
  int32_t changed;
  (void)s;
  p->m = 0; /* pairs of the last step are not valid in this one */
  return yarn_table_refresh(p->host, p->sc, &p->table, &changed);
}

/* Before the first iteration detection runs at the start of the step, where an explicit solver
 * takes its force.  With a margin the pairs stay complete while segments move from there. */
static loom_status yarn_penalty_plan(void *self, const loom_step *s, loom_query *q)
{
  yarn_penalty *const p = self;
  q->what = LOOM_DETECT_PROXIMITY;
  q->margin = (loom_real)p->set.margin;
  q->x0 = q->x1 = s->iter < 0 ? s->x_start : s->x;
  return LOOM_OK;
}

static loom_status accept_yarn_pairs(yarn_penalty *p, const loom_pairs *pairs)
{
  const loom_host *const host = p->host;
  p->m = pairs->count;
  p->v = pairs->v;
  p->w = pairs->w;
  p->gap = pairs->gap;
  if (p->m == 0) return LOOM_OK;
  if (host->buf_count(host, p->g) <
      24 * p->m) { /* some to spare: the number changes from step to step */
    const int64_t room = p->m + p->m / 8;
    LOOM_TRY(host->buf_resize(host, p->g, 24 * room));
    LOOM_TRY(host->buf_resize(host, p->energy, room));
    LOOM_TRY(host->buf_resize(host, p->force, room));
  }
  LOOM_TRY(host->buf_resize(host, p->second, p->m));
  LOOM_TRY(host->buf_resize(host, p->perm, p->m));
  plug_maps m = plug_maps_on(host, p->e);
  const yarn_penalty_index_args list = {
      .v = plug_read(&m, p->v), .second = plug_write(&m, p->second), .m = p->m};
  LOOM_TRY(plug_launch(&m, &k_second, &list, p->m, NULL));
  LOOM_TRY(host->sort_u64(host, p->e, p->second, p->perm));
  const yarn_penalty_index_args index = {.v = plug_read(&m, p->v),
                                         .key = plug_read(&m, p->second),
                                         .at = plug_write(&m, p->at),
                                         .m = p->m};
  return plug_launch(&m, &k_index, &index, p->table.num_segs + 1, NULL);
}

static loom_status yarn_penalty_update(void *self, const loom_step *s, const loom_pairs *pairs,
                                       int when, uint32_t *changed)
{
  yarn_penalty *const p = self;
  (void)s;
  *changed = LOOM_CHANGED_NONE;
  if (when != LOOM_AFTER_DETECT) return LOOM_OK;
  *changed = LOOM_CHANGED_VALUES | LOOM_CHANGED_PATTERN;
  p->host->tic(p->host, "index");
  const loom_status status = accept_yarn_pairs(p, pairs);
  p->host->toc(p->host, "index");
  p->timed = 0;
  return status;
}

/* ---- energy and gradient ---- */

/* Forces and energies of all pairs at x. */
static loom_status run_pairs(yarn_penalty *p, const loom_step *s, loom_buf *x)
{
  const double scale = 1.0 + s->rest_change; /* of both weights */
  plug_maps m = plug_maps_on(p->host, p->e);
  const yarn_line l = yarn_line_bind(&m, p->sc, &p->table);
  const yarn_penalty_points_args pa = {.l = l, .x = plug_read(&m, x), .P = plug_rdwr(&m, p->P)};
  const yarn_penalty_pair_args a = {.l = l,
                                    .P = pa.P,
                                    .v = plug_read(&m, p->v),
                                    .w = plug_read(&m, p->w),
                                    .g = plug_rdwr(&m, p->g),
                                    .energy = plug_rdwr(&m, p->energy),
                                    .force = plug_rdwr(&m, p->force),
                                    .stiffness = (lk_real)(scale * scale * p->set.stiffness),
                                    .all = p->set.margin > 0.0};
  LOOM_TRY(plug_run_on(&m, &k_points, &pa, p->table.num_segs, NULL));
  return plug_launch(&m, &k_pair, &a, p->m, NULL);
}

static loom_status reduce_yarn_pairs(yarn_penalty *p, const lk_entry *k, loom_buf *value,
                                     double *out)
{
  plug_maps m = plug_maps_on(p->host, p->e);
  const yarn_penalty_value_args a = {.value = plug_read(&m, value)};
  return plug_reduce(&m, k, &a, p->m, p->result, out);
}

static loom_status add_yarn_gradient(yarn_penalty *p, loom_buf *grad)
{
  plug_maps m = plug_maps_on(p->host, p->e);
  const yarn_penalty_gather_args a = {.g = plug_read(&m, p->g),
                                      .at = plug_read(&m, p->at),
                                      .perm = plug_read(&m, p->perm),
                                      .seg = plug_rdwr(&m, p->seg),
                                      .of = plug_read(&m, p->of),
                                      .grad = plug_rdwr(&m, grad)};
  LOOM_TRY(plug_run_on(&m, &k_gather, &a, p->table.num_segs, NULL));
  return plug_launch(&m, &k_add, &a, p->sc->num_verts, NULL);
}

static loom_status evaluate_yarn_force(yarn_penalty *p, const loom_step *s, loom_buf *x,
                                       double *energy, loom_buf *grad)
{
  double e = 0.0;
  LOOM_TRY(run_pairs(p, s, x));
  if (energy != NULL) {
    LOOM_TRY(reduce_yarn_pairs(p, &k_sum, p->energy, &e));
    *energy += e;
  }
  return grad != NULL ? add_yarn_gradient(p, grad) : LOOM_OK;
}

static loom_status yarn_penalty_eval(void *self, const loom_step *s, loom_buf *x, double *energy,
                                     double *dissipation, loom_buf *grad)
{
  yarn_penalty *const p = self;
  (void)dissipation;
  if (p->m == 0) return LOOM_OK;
  if (p->timed) return evaluate_yarn_force(p, s, x, energy, grad); /* a measurement of the core's */
  p->host->tic(p->host, "force");
  const loom_status status = evaluate_yarn_force(p, s, x, energy, grad);
  p->host->toc(p->host, "force");
  p->timed = 1;
  return status;
}

static const loom_column columns[] = {{"found", "1", "pairs of segments that detection reported"}};

static loom_status yarn_penalty_log_step(void *self, const loom_step *s, double *out)
{
  const yarn_penalty *const p = self;
  (void)s;
  out[0] = (double)p->m;
  return LOOM_OK;
}

static loom_status yarn_penalty_metrics(void *self, const loom_step *s, loom_contact_metrics *out)
{
  yarn_penalty *const p = self;
  double active, least;
  if (p->m == 0) return LOOM_OK;
  LOOM_TRY(run_pairs(p, s, s->x));
  LOOM_TRY(reduce_yarn_pairs(p, &k_count, p->energy, &active));
  LOOM_TRY(reduce_yarn_pairs(p, &k_least, p->gap, &least));
  LOOM_TRY(reduce_yarn_pairs(p, &k_most, p->force, &out->max_force));
  out->active = (int64_t)active;
  out->min_gap = -least;
  return LOOM_OK;
}

/* ---- descriptor ---- */

static const loom_contact_ops ops = {.struct_size = sizeof ops,
                                     .provides = LOOM_CONT_ENERGY | LOOM_CONT_GRADIENT,
                                     .needs = LOOM_COLL_PROXIMITY,
                                     .pair_kinds = LOOM_BIT(LOOM_PAIR_YY),
                                     .create = yarn_penalty_create,
                                     .destroy = plug_free,
                                     .begin_step = yarn_penalty_begin_step,
                                     .plan = yarn_penalty_plan,
                                     .update = yarn_penalty_update,
                                     .eval = yarn_penalty_eval,
                                     .metrics = yarn_penalty_metrics,
                                     .log_step = yarn_penalty_log_step};

static const loom_plugin plugin = {
    LOOM_PLUGIN(contact, ops, LK_BACKENDS),
    .name = "yarn_penalty",
    .version = "0.1.0",
    .summary = "exact penalty force between yarns, by quadrature over pairs of segments",
    .reference = "J. M. Kaldor, D. L. James, S. Marschner, Simulating knitted cloth at the yarn "
                 "level, ACM TOG 27(3), 2008, doi 10.1145/1360612.1360664",
    .license = "MIT",
    LOOM_SETTINGS(settings, params),
    LOOM_STEP_COLUMNS(columns),
};

LOOM_EXPORT_PLUGIN(&plugin)
