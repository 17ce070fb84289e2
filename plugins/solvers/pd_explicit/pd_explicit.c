/* pd_explicit.c - projective dynamics with contact forces in the right-hand side alone.
 *
 * M. Ly, J. Jouve, L. Boissieux, F. Bertails-Descoubes, Projective Dynamics with Dry Frictional
 * Contact, ACM TOG 39(4), 2020, doi 10.1145/3386569.3392396.
 *
 * Global step:  P v' = b + r,  P = M + h^2 sum w A'A,
 * with the impulses r that contact `coulomb` predicted at the last iterate.  kit/pd_global.h solves
 * it for the change of x, L dx = -grad E(x), where grad E has the contact force -r/h: the same
 * equation with L = P/h^2.  The matrix is constant, so one factor serves all steps of one length.
 * Affine bodies: the step has the change of their rotations in it (kit/pd_rotation.h).
 */
#include <math.h>
#include <stdlib.h>

#include "kit/pd_global.h"
#include "loom/plug.h"

enum { COL_FACTORISED = 0, COL_FACTOR_BYTES = 1 };

typedef struct {
  int32_t ordering, rotation;
} settings;

static const loom_param params[] = {
    LOOM_PARAM_ENUM(settings, ordering, CHOL_AMD, "amd|metis",
                    "Fill-reducing ordering of the factorisation: approximate minimum degree, or "
                    "nested dissection (less fill on large meshes, slower analysis)."),
    PD_GLOBAL_ROTATION(settings),
};

static const loom_column columns[] = {
    {"factorised", "1", "numeric factorisations in this iteration"},
    {"factor_bytes", "B", "memory of the factor: values, row indices, supernodes, ordering"},
};

typedef struct {
  const loom_host *host;
  pd_global g;
} pd_explicit;

static loom_status pd_explicit_create(const loom_host *host, const loom_scene *sc,
                                      const loom_exec *e, const void *set, void **self)
{
  LOOM_TRY(plug_new(host, sizeof(pd_explicit), self));
  pd_explicit *const s = *self;
  const settings *const w = set;
  s->host = host;
  LOOM_TRY(pd_global_open(&s->g, host, sc, e, PD_REFACTOR_EXACT, w->ordering, w->rotation));
  s->g.bare = 1;
  return LOOM_OK;
}

static void pd_explicit_destroy(void *self)
{
  pd_explicit *const s = self;
  if (s == NULL) return;
  pd_global_close(&s->g);
  free(s);
}

static loom_status pd_explicit_begin_step(void *self, const loom_step *st)
{
  return pd_global_begin_step(&((pd_explicit *)self)->g, st);
}

static loom_status pd_explicit_iterate(void *self, const loom_step *st, loom_iterate *it)
{
  pd_explicit *const s = self;
  LOOM_TRY(pd_global_refresh(&s->g, st, &it->extra[COL_FACTORISED]));
  it->extra[COL_FACTOR_BYTES] = chol_factor_bytes(&s->g.c);
  it->inner_res = NAN;
  s->host->tic(s->host, "global");
  LOOM_TRY(pd_global_step(&s->g, st, st->trial, &it->own_res));
  s->host->toc(s->host, "global");
  return LOOM_OK;
}

static const loom_solver_ops ops = {
    .struct_size = sizeof ops,
    .needs = LOOM_NEED_ELEM_GRADIENT | LOOM_NEED_ELEM_PROJECT | LOOM_NEED_CONTACT_GRADIENT |
             LOOM_NEED_CONTACT_EXPLICIT | LOOM_USES_GRADIENT | LOOM_USES_FACTOR,
    .trial = LOOM_TRIAL_POINT,
    .filter_when = LOOM_FILTER_END,
    .create = pd_explicit_create,
    .destroy = pd_explicit_destroy,
    .begin_step = pd_explicit_begin_step,
    .iterate = pd_explicit_iterate,
};

static const loom_plugin plugin = {
    LOOM_PLUGIN(solver, ops, LOOM_ON_CPU),
    .name = "pd_explicit",
    .version = "0.1.0",
    .summary = "projective dynamics with explicit contact forces and a constant matrix "
               "(PD-Coulomb)\n"
               "vertices that stick converge at the rate C/(M + C) of their elastic share C of the "
               "matrix: stiff cloth needs many iterations",
    .reference = "M. Ly, J. Jouve, L. Boissieux, F. Bertails-Descoubes, Projective Dynamics with "
                 "Dry Frictional Contact, ACM TOG 39(4), 2020, doi 10.1145/3386569.3392396",
    .license = "GPL-2.0-or-later", /* CHOLMOD's supernodal module; this source is MIT */
    LOOM_SETTINGS(settings, params),
    LOOM_COLUMNS(columns),
};

LOOM_EXPORT_PLUGIN(&plugin)
