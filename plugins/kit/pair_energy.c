/* pair_energy.c - see pair_energy.h. */
#include "kit/pair_energy.h"

pair_args pair_open(const pair_energy *p, plug_maps *m, const loom_step *s, loom_buf *x)
{
  pair_args a = {.s = cand_open(p->c, m, s, x, s->progress),
                 .list = plug_read(m, p->c->act.list),
                 .gauss_newton = p->gauss_newton,
                 .flat = p->gauss_newton,
                 .object = plug_read(m, p->share != NULL ? p->c->sc->object : NULL),
                 .share = plug_read(m, p->share),
                 .each = plug_read(m, p->each)};
  for (int k = 0; k < PAIR_NUMBERS; ++k) a.number[k] = (lk_real)p->number[k];
  return a;
}

/* Sum or maximum over the active pairs at x, which is added to *out when the core has read it. */
static loom_status reduce_active_pairs(const pair_energy *p, const loom_step *s, loom_buf *x,
                                       const lk_entry *k, double *out)
{
  candidates *const c = p->c;
  plug_maps m = plug_maps_on(c->host, c->e);
  const pair_args a = pair_open(p, &m, s, x);
  return plug_reduce_later(&m, k, &a, c->act.num, c->result, &c->later, 1.0, out);
}

loom_status pair_forces(const pair_energy *p, const loom_step *s, loom_buf *x)
{
  candidates *const c = p->c;
  plug_maps m = plug_maps_on(c->host, c->e);
  pair_args a = pair_open(p, &m, s, x);
  a.at = plug_read(&m, c->corner.at);
  a.force = plug_rdwr(&m, c->corner.force);
  return plug_launch(&m, &p->k->force, &a, c->act.num, NULL);
}

loom_status pair_eval(const pair_energy *p, const loom_step *s, loom_buf *x, double *energy,
                      loom_buf *grad)
{
  if (p->c->act.num == 0) return LOOM_OK;
  if (energy != NULL) LOOM_TRY(reduce_active_pairs(p, s, x, &p->k->energy, energy));
  if (grad == NULL) return LOOM_OK;
  LOOM_TRY(pair_forces(p, s, x));
  return gather_add(&p->c->corner, p->c->act.place, NULL, grad);
}

loom_status pair_strongest(const pair_energy *p, const loom_step *s, loom_buf *x, double *out)
{
  *out = 0.0;
  return p->c->act.num > 0 ? reduce_active_pairs(p, s, x, &p->k->strongest, out) : LOOM_OK;
}

/* Expansions leave out the curvature of the distance of vertices.  It couples motion along a plane
 * with the tilt of the plane, [0 c; c 0].  Made semidefinite that is [|c| c; c |c|]/2, a spring
 * along the plane.  An iteration follows the gradient and is free of it at its end; through a whole
 * step the spring drags: cloth without friction on cloth lost a fifth of its acceleration. */
loom_status pair_energy_hessian(const pair_energy *p, const loom_step *s, loom_buf *x, int how,
                                int64_t first, loom_blocks3 *out)
{
  candidates *const c = p->c;
  if (c->act.num == 0) return LOOM_OK;
  plug_maps m = plug_maps_on(c->host, c->e);
  pair_args a = pair_open(p, &m, s, x);
  a.at_block = plug_read(&m, c->act.at);
  a.first = first;
  if (how == LOOM_HESS_EXPANSION) a.flat = 1;
  a.how = how == LOOM_HESS_EXPANSION ? LOOM_HESS_PSD_CLAMP : how;
  a.row = plug_rdwr(&m, out->row);
  a.col = plug_rdwr(&m, out->col);
  a.val = plug_rdwr(&m, out->val);
  LOOM_TRY(plug_run_on(&m, &p->k->hessian, &a, c->act.num, NULL));
  if (!a.flat) LOOM_TRY(plug_run_on(&m, &p->k->mollified, &a, c->act.num, NULL));
  return plug_unbind(&m);
}
