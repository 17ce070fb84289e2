/* ndb_weight.c - weights w = w0 K^a of contacts (eq. 7), in units of the scene. */
#include <math.h>
#include <stdlib.h>

#include "ndb.h"

static const lk_entry k_age = LK_ENTRY_MOVES(ndb_age, 40, 13);

typedef struct mean { /* over the free vertices of an object */
  double sum;         /* N/m, then their mean */
  int64_t num;
} mean;

static loom_status add_diagonals(ndb *d, const loom_csr *L, mean *of)
{
  plug_maps m = plug_maps_on(d->c.host, d->c.e);
  const int64_t *const ptr = plug_bind(&m, L->row_ptr, LOOM_READ, LOOM_AT_HOST);
  const int32_t *const col = plug_bind(&m, L->col, LOOM_READ, LOOM_AT_HOST);
  const loom_real *const val = plug_bind(&m, L->val, LOOM_READ, LOOM_AT_HOST);
  const uint8_t *const fixed = plug_bind(&m, d->c.sc->fixed, LOOM_READ, LOOM_AT_HOST);
  const int32_t *const object =
      d->part != NULL ? plug_bind(&m, d->c.sc->object, LOOM_READ, LOOM_AT_HOST) : NULL;
  const loom_followers *const f = loom_scene_followers(d->c.sc);
  const int32_t *const id = f != NULL ? plug_bind(&m, f->id, LOOM_READ, LOOM_AT_HOST) : NULL;
  LOOM_TRY(m.status);
  for (int32_t i = 0, k = 0; i < L->num_rows; ++i) {
    const int follows =
        id != NULL && k < f->count && id[k] == i; /* its row is of the unit matrix */
    k += follows;
    for (int64_t j = ptr[i]; j < ptr[i + 1] && !fixed[i] && !follows; ++j) {
      mean *const o = of + (object != NULL ? object[i] : 0);
      if (col[j] != i) continue;
      o->sum += (double)val[j];
      ++o->num;
    }
  }
  return plug_unbind(&m);
}

loom_status ndb_find_scale(ndb *d, const loom_step *s)
{
  const loom_host *const host = d->c.host;
  const int32_t num = d->part != NULL ? d->c.sc->num_objects : 1;
  const loom_csr *L = NULL;
  void *part = NULL;
  loom_status st = host->pd_operator(host, s->problem, &L);
  LOOM_CHECK(host, st == LOOM_OK, st,
             "w0 is measured in the diagonal of the projective operator, which this scene does "
             "not have; give the unit in N/m: 'weight = ...'");
  mean *const of = calloc((size_t)num, sizeof *of);
  LOOM_CHECK(host, of != NULL, LOOM_E_NOMEM, "out of memory for the means of %d objects", num);
  st = add_diagonals(d, L, of);
  d->scale = 0.0;
  for (int32_t o = 0; o < num; ++o) {
    of[o].sum = of[o].num > 0 ? of[o].sum / (double)of[o].num : 0.0;
    d->scale = fmax(d->scale, of[o].sum);
  }
  if (!(d->scale > 0.0)) d->scale = 1.0;
  if (st == LOOM_OK && d->part != NULL) {
    st = host->map(host, d->c.e, d->part, LOOM_WRITE, LOOM_AT_HOST, &part);
    for (int32_t o = 0; o < num && st == LOOM_OK; ++o) /* a pinned object leaves it to the other */
      ((loom_real *)part)[o] = (loom_real)(of[o].num > 0 ? of[o].sum / d->scale : 1.0);
    if (st == LOOM_OK) st = host->unmap(host, d->part);
  }
  free(of);
  return st;
}

/* The age from which on weights are w_max. */
static int32_t age_cap(const ndb_settings *set)
{
  if (!(set->growth_base > 1.0)) return 0;
  const double most = ceil(log(set->w_max / set->w0) / log(set->growth_base));
  return most < 1e9 ? (int32_t)most : 1000000000;
}

loom_status ndb_refresh_weights(ndb *d, const loom_step *s, int ageing)
{
  static const int32_t sets[] = {CCD_SAMPLES_NONE, CCD_SAMPLES_CENTRE, CCD_SAMPLES_3, CCD_SAMPLES_6,
                                 CCD_SAMPLES_ADAPTIVE};
  candidates *const c = &d->c;
  const ndb_settings *const set = &d->set;
  if (c->m == 0) return LOOM_OK;
  plug_maps m = plug_maps_on(c->host, c->e);
  const ndb_age_args a = {.s = ndb_open(d, &m, s, s->x, 1),
                          .x_feas = plug_read(&m, s->x_feas),
                          .age = plug_rdwr(&m, d->age),
                          .brought = plug_read(&m, d->brought),
                          .leave = plug_write(&m, d->leave),
                          .weight = plug_write(&m, d->weight),
                          .force = plug_write(&m, d->force),
                          .partial = {.samples = sets[set->samples],
                                      .projection = set->projection,
                                      .eta = (lk_real)set->eta},
                          .w0 = (lk_real)(set->w0 * d->scale),
                          .base = (lk_real)set->growth_base,
                          .w_max = (lk_real)(set->w_max * d->scale),
                          .grow = set->growth,
                          .cap = age_cap(set),
                          .ageing = ageing,
                          .frozen =
                              s->problem != NULL && s->problem->contact == LOOM_CONTACT_FROZEN};
  return plug_launch(&m, &k_age, &a, c->m, NULL);
}
