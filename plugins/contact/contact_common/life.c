/* life.c - what a barrier does from step to step: checks of the scene, stiffness, candidates,
 * lags, checkpoints. */
#include <math.h>
#include <stdlib.h>

#include "ipc.h"

/* Stiffness 0.  The curvature d2b/dd2 at half of d_hat equals the mean m/h^2; it is doubled, up
 * to stiffest times, while the smallest gap stays below tiny d_hat in two accepted iterates in
 * a row and does not grow (Li et al. 2020, supplement, section 4: the same with 1e-9 of the
 * scene's size). */
static const double tiny = 1e-2, stiffest = 1024.0;

/* ---- checks of the scene ------------------------------------------------------------------- */

/* Smallest height of a rest triangle, m: about the distance of the closest pairs without a
 * common vertex in a flat rest shape.  *edge: mean length of the triangles' edges, m. */
static loom_status rest_spacing(ipc *p, double *out, double *edge)
{
  const loom_host *const h = p->h;
  void *x_, *t_;
  double sum = 0.0;
  *out = INFINITY;
  LOOM_TRY(h->map(h, p->e, p->sc->rest_x, LOOM_READ, LOOM_AT_HOST, &x_));
  LOOM_TRY(h->map(h, p->e, p->sc->tris, LOOM_READ, LOOM_AT_HOST, &t_));
  const loom_real *const x = x_;
  const int32_t *const t = t_;
  for (int64_t k = 0; k < p->sc->num_tris; ++k) {
    double e[3][3], area2 = 0.0, longest = 0.0;
    for (int a = 0; a < 3; ++a) {
      double len2 = 0.0;
      for (int c = 0; c < 3; ++c) {
        e[a][c] = (double)x[3 * t[3 * k + (a + 1) % 3] + c] - (double)x[3 * t[3 * k + a] + c];
        len2 += e[a][c] * e[a][c];
      }
      longest = fmax(longest, len2);
      sum += sqrt(len2);
    }
    for (int c = 0; c < 3; ++c) {
      const double n =
          e[0][(c + 1) % 3] * e[1][(c + 2) % 3] - e[0][(c + 2) % 3] * e[1][(c + 1) % 3];
      area2 += n * n;
    }
    *out = fmin(*out, sqrt(area2 / longest));
  }
  *edge = sum / (3.0 * (double)p->sc->num_tris);
  LOOM_TRY(h->unmap(h, p->sc->tris));
  return h->unmap(h, p->sc->rest_x);
}

/* Candidates are all pairs within d_hat + slack, and within a reach of several edges their number
 * is that of the vertices times the square of it. */
static void choose_slack(ipc *p, double usual, double edge)
{
  const double most = 0.25 * edge;
  if (p->set.slack > 0.0) return;
  p->set.slack = usual <= most ? usual : most;
  if (most < usual)
    p->h->log(p->h, LOOM_LOG_WARN,
              "slack is %.3g m, a quarter of the mean edge, where it is %.3g m in coarser meshes: "
              "that would hold very many pairs ready; 'slack = ...' sets it",
              p->set.slack, usual);
}

/* The slack, and whether d_hat and thickness fit the mesh. */
static loom_status check_scene(ipc *p, double usual_slack)
{
  const loom_host *const h = p->h;
  double spacing, edge = INFINITY, widest = 0.0;
  void *r_;
  const int surface = p->sc->num_tris > 0 && p->sc->tris != NULL;
  if (surface) LOOM_TRY(rest_spacing(p, &spacing, &edge));
  choose_slack(p, usual_slack, edge);
  if (!surface) return LOOM_OK;
  LOOM_TRY(h->map(h, p->e, p->sc->radius, LOOM_READ, LOOM_AT_HOST, &r_));
  for (int i = 0; i < p->sc->num_verts; ++i)
    widest = fmax(widest, (double)((const loom_real *)r_)[i]);
  LOOM_TRY(h->unmap(h, p->sc->radius));
  if (p->set.d_hat + 2.0 * widest > spacing)
    h->log(h, LOOM_LOG_WARN,
           "d_hat and thickness reach over %.3g m, but the smallest height of a triangle at rest "
           "is %.3g m: neighbours push each other apart; lower d_hat or thickness",
           p->set.d_hat + 2.0 * widest, spacing);
  return LOOM_OK;
}

/* ---- stiffness ------------------------------------------------------------------------------- */

static loom_status mean_mass(ipc *p, double *out)
{
  const loom_host *const h = p->h;
  void *m_, *f_;
  double sum = 0.0;
  int64_t num = 0;
  LOOM_TRY(h->map(h, p->e, p->sc->mass, LOOM_READ, LOOM_AT_HOST, &m_));
  LOOM_TRY(h->map(h, p->e, p->sc->fixed, LOOM_READ, LOOM_AT_HOST, &f_));
  for (int i = 0; i < p->sc->num_verts; ++i)
    if (!((const uint8_t *)f_)[i]) {
      sum += (double)((const loom_real *)m_)[i];
      ++num;
    }
  LOOM_TRY(h->unmap(h, p->sc->fixed));
  *out = num > 0 ? sum / (double)num : 1.0;
  return h->unmap(h, p->sc->mass);
}

/* kappa whose curvature at half of d_hat, without thickness, is the mean m/h^2. */
static double first_stiffness(const ipc *p, const loom_step *s)
{
  /* d2b/dd2 of kappa = 1 */
  const double squared = 4.0 * 0.25 * barrier_g2(0.25) + 2.0 * barrier_g1(0.25);
  const double unit = p->form == BARRIER_DISTANCE ? barrier_g2(0.5) : squared;
  return (double)(loom_real)(p->mass / (s->h * s->h) / unit);
}

static loom_status stiffen(ipc *p, const loom_step *s, uint32_t *changed)
{
  double gap;
  if (p->set.stiffness > 0.0) return LOOM_OK;
  const loom_status st = ipc_activate(p, s, s->x, s->progress);
  if (st != LOOM_OK) return st == LOOM_REJECTED ? LOOM_OK : st;
  LOOM_TRY(ipc_least_gap_now(p, &gap));
  const double limit = tiny * p->set.d_hat;
  const int stays = gap < limit && p->last_gap < limit && gap <= p->last_gap;
  p->last_gap = gap;
  if (!stays || p->kappa >= stiffest * first_stiffness(p, s)) return LOOM_OK;
  p->kappa *= 2.0;
  *changed |= LOOM_CHANGED_VALUES;
  return LOOM_OK;
}

/* ---- life -------------------------------------------------------------------------------------
 */

loom_status ipc_reset(void *self)
{
  ipc *const p = self;
  p->valid = p->planned = p->asked = 0;
  p->m = p->nf = p->num_fblocks = p->num_active = 0;
  p->fcorner.count = 0;
  p->kappa = p->set.stiffness;
  p->last_gap = INFINITY;
  p->pending = LOOM_CHANGED_NONE;
  return LOOM_OK;
}

loom_status ipc_init(ipc *p, const loom_host *h, const loom_scene *sc, const loom_exec *e,
                     const ipc_settings *set, int form, double usual_slack)
{
  p->h = h;
  p->sc = sc;
  p->e = e;
  p->set = *set;
  p->form = form;
  p->kinds = IPC_KINDS;
  LOOM_TRY(ipc_new(p));
  LOOM_TRY(mean_mass(p, &p->mass));
  LOOM_TRY(ipc_bodies(p));
  LOOM_TRY(check_scene(p, usual_slack));
  return ipc_reset(p);
}

static loom_status start_error(ipc *p, const loom_step *s)
{
  return ipc_overlap_error(p, s, "it starts with an overlap",
                           "move them apart, lower the thickness, or let a step bound keep them "
                           "apart ([filter] bound = global)");
}

/* A bound lets x move by a tiny share, 1e-12, of what is wanted at least; where forces are absurd
 * that is more than the gap. */
static loom_status pushed_error(ipc *p, const loom_step *s, const char *what)
{
  return ipc_overlap_error(p, s, what,
                           "lower dt, or the forces and speeds that push it there, or let a step "
                           "bound keep them apart ([filter] bound = global)");
}

loom_status ipc_begin_step(void *self, const loom_step *s)
{
  ipc *const p = self;
  uint32_t changed;
  LOOM_TRY(ipc_bodies(p));
  p->valid = 0; /* which vertices count as touched is logged: no memory of older candidates */
  if (!(p->kappa > 0.0)) p->kappa = first_stiffness(p, s);
  p->last_gap = INFINITY;
  p->rounds = 0;
  const loom_status st = ipc_lag_at(p, s, s->x_start, 0.0, &changed);
  if (st == LOOM_REJECTED) return start_error(p, s);
  p->pending = p->friction ? LOOM_CHANGED_PATTERN | LOOM_CHANGED_VALUES : LOOM_CHANGED_NONE;
  return st;
}

loom_status ipc_plan(void *self, const loom_step *s, loom_query *q)
{
  ipc *const p = self;
  int good = 0;
  p->kinds = q->kinds & IPC_KINDS;
  if (p->planned) LOOM_TRY(ipc_covers(p, s->x, s->progress, &good));
  p->asked = !good;
  q->what = good ? 0 : LOOM_DETECT_PROXIMITY;
  q->margin = (loom_real)(p->set.d_hat + p->set.slack);
  q->x0 = q->x1 = s->x;
  return LOOM_OK;
}

static loom_status after_detect(ipc *p, const loom_step *s, const loom_pairs *pairs,
                                uint32_t *changed)
{
  if (p->asked) {
    p->asked = 0;
    p->planned = 1;
    LOOM_TRY(ipc_take_pairs(p, s, s->x, s->progress, pairs));
  }
  *changed = p->pending;
  p->pending = LOOM_CHANGED_NONE;
  if (s->iter >= 0) return LOOM_OK;
  const loom_status st = ipc_activate(p, s, s->x, s->progress);
  if (st != LOOM_REJECTED) return st;
  if (ipc_activate(p, s, s->x_start, 0.0) == LOOM_REJECTED) return start_error(p, s);
  (void)ipc_activate(p, s, s->x, s->progress); /* the pair to be named */
  return pushed_error(p, s, "its first guess overlaps");
}

loom_status ipc_update(void *self, const loom_step *s, const loom_pairs *pairs, int when,
                       uint32_t *changed)
{
  ipc *const p = self;
  *changed = LOOM_CHANGED_NONE;
  if (when == LOOM_AFTER_DETECT) return after_detect(p, s, pairs, changed);
  LOOM_TRY(stiffen(p, s, changed));
  if (p->set.friction_lag == LAG_STEP) return LOOM_OK;
  if (p->set.lag_rounds > 0 && p->rounds >= p->set.lag_rounds) return LOOM_OK;
  uint32_t lagged = LOOM_CHANGED_NONE;
  const loom_status st = ipc_lag_at(p, s, s->x, s->progress, &lagged);
  *changed |= lagged;
  return st == LOOM_REJECTED ? LOOM_OK : st; /* unfiltered: the last forces stay */
}

/* What is committed keeps every gap. */
loom_status ipc_end_step(void *self, const loom_step *s)
{
  ipc *const p = self;
  const loom_status st = ipc_activate(p, s, s->x, s->progress);
  if (st != LOOM_REJECTED) return st;
  return pushed_error(p, s, "it ends with an overlap");
}

/* Candidates are dropped so that a resumed run detects at the same moments; not where the state is
 * only recorded. */
loom_status ipc_checkpoint(void *self, const loom_step *s, int restore)
{
  ipc *const p = self;
  const loom_host *const h = p->h;
  void *q;
  if (restore || !LOOM_HAS(s, recording) || !s->recording) p->valid = p->planned = 0;
  if (p->set.stiffness > 0.0) return LOOM_OK; /* nothing to remember */
  if (!restore) {
    LOOM_TRY(h->map(h, p->e, p->memory, LOOM_WRITE, LOOM_AT_HOST, &q));
    *(loom_real *)q = (loom_real)p->kappa;
    LOOM_TRY(h->unmap(h, p->memory));
  }
  LOOM_TRY(h->state_io(h, restore, "stiffness", p->memory));
  if (!restore) return LOOM_OK;
  LOOM_CHECK(h, h->buf_count(h, p->memory) == 1, LOOM_E_IO,
             "checkpoint: stiffness has %lld values; start the run again",
             (long long)h->buf_count(h, p->memory));
  LOOM_TRY(h->map(h, p->e, p->memory, LOOM_READ, LOOM_AT_HOST, &q));
  p->kappa = (double)*(const loom_real *)q;
  LOOM_TRY(h->unmap(h, p->memory));
  LOOM_CHECK(h, p->kappa >= 0.0 && isfinite(p->kappa), LOOM_E_IO,
             "checkpoint: the stiffness is %g; start the run again", p->kappa);
  return LOOM_OK;
}
