/* pd_contact.c - gathering the contact terms of a global step; see pd_contact.h. */
#include "kit/pd_contact.h"

#include <stdlib.h>
#include <string.h>

#include "loom/plug.h"

typedef struct terms {  /* host views of a loom_quad and of the fixed flags */
  int width;            /* of a term */
  const int32_t *v;     /* [m][width] */
  const loom_real *w;   /* [m][width] */
  const loom_real *k;   /* [m], N/m */
  const loom_real *dir; /* [m][3] or NULL */
  const uint8_t *fixed; /* [n] */
} terms;

static int add_coupling(pd_contact *c, int32_t a, int32_t b, double val)
{
  if (c->num_off == c->cap_off) {
    const int64_t cap = c->cap_off > 0 ? 2 * c->cap_off : 1024;
    pd_coupling *off = realloc(c->off, (size_t)cap * sizeof *off);
    if (off == NULL) return 0;
    c->off = off;
    c->cap_off = cap;
  }
  c->off[c->num_off++] = (pd_coupling){a > b ? a : b, a > b ? b : a, val};
  return 1;
}

/* one term; 0: out of memory */
static int add_contact_term(pd_contact *c, const terms *t, int64_t j)
{
  const int32_t *v = t->v + t->width * j;
  const loom_real *w = t->w + t->width * j;
  const double k = (double)t->k[j];
  if (k == 0.0) return 1;
  for (int a = 0; a < t->width; ++a) {
    if (v[a] < 0 || t->fixed[v[a]] || w[a] == 0) continue;
    c->diag[v[a]] += k * (double)w[a] * (double)w[a];
    c->any = 1;
    for (int b = a + 1; b < t->width; ++b) {
      if (v[b] < 0 || t->fixed[v[b]] || w[b] == 0) continue;
      if (!add_coupling(c, v[a], v[b], k * (double)w[a] * (double)w[b])) return 0;
    }
  }
  return 1;
}

loom_status pd_contact_gather(pd_contact *c, const loom_host *host, const loom_exec *e,
                              const loom_scene *sc, const loom_quad *q)
{
  const size_t bytes = (size_t)sc->num_verts * sizeof *c->diag;
  if (c->any) memset(c->diag, 0, bytes);
  c->num_off = 0;
  c->any = 0;
  if (q == NULL || q->count == 0) return LOOM_OK;
  if (c->diag == NULL) {
    c->diag = calloc(1, bytes);
    LOOM_CHECK(host, c->diag != NULL, LOOM_E_NOMEM, "no memory for contact weights of %d vertices",
               sc->num_verts);
  }
  plug_maps m = plug_maps_on(host, e);
  const terms t = {.width = q->width,
                   .v = plug_read_host(&m, q->v),
                   .w = plug_read_host(&m, q->w),
                   .k = plug_read_host(&m, q->k),
                   .dir = q->dir != NULL ? plug_read_host(&m, q->dir) : NULL,
                   .fixed = plug_read_host(&m, sc->fixed)};
  LOOM_TRY(m.status);
  for (int64_t j = 0; j < q->count; ++j) {
    const loom_real *d = t.dir != NULL ? t.dir + 3 * j : NULL;
    LOOM_CHECK(host, d == NULL || (d[0] == 0 && d[1] == 0 && d[2] == 0), LOOM_E_INTERNAL,
               "contact term %lld is directional, but this solver asked for isotropic terms",
               (long long)j);
    LOOM_CHECK(host, add_contact_term(c, &t, j), LOOM_E_NOMEM,
               "no memory for %lld contact couplings", (long long)(2 * c->num_off));
  }
  return plug_unbind(&m);
}

int pd_contact_equal(const pd_contact *a, const pd_contact *b, int32_t num_verts)
{
  if (a->any != b->any || a->num_off != b->num_off) return 0;
  if (a->any && memcmp(a->diag, b->diag, (size_t)num_verts * sizeof *a->diag) != 0) return 0;
  for (int64_t k = 0; k < a->num_off; ++k) {
    const pd_coupling *s = a->off + k, *t = b->off + k;
    if (s->row != t->row || s->col != t->col || s->val != t->val) return 0;
  }
  return 1;
}

int pd_contact_within(const pd_contact *a, const pd_contact *b, double slack, int32_t num_verts)
{
  if (a->num_off > 0 || b->num_off > 0) return 0;
  if (!a->any) return 1;
  if (!b->any) return 0;
  for (int32_t i = 0; i < num_verts; ++i)
    if (a->diag[i] > slack * b->diag[i]) return 0;
  return 1;
}

void pd_contact_raise(pd_contact *a, const pd_contact *b, double headroom, int32_t num_verts)
{
  if (!a->any || a->num_off > 0 || b->num_off > 0) return;
  for (int32_t i = 0; i < num_verts; ++i) {
    const double had = b->any ? b->diag[i] : 0.0;
    a->diag[i] = a->diag[i] > had ? headroom * a->diag[i] : had;
  }
}

void pd_contact_free(pd_contact *c)
{
  free(c->diag);
  free(c->off);
  *c = (pd_contact){0};
}
