/* limit.c - checks at the start: the step is one that bending allows, and glue is disjoint. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "loom/plug.h"
#include "yarn_explicit.h"

/* Rest data of yarn_bend begin with both rest lengths, materials with k_b (framework/elements);
 * the block's sizes say whether that is still so. */
static loom_status find_bending(const loom_host *host, const loom_scene *sc,
                                const loom_elem_block **out)
{
  *out = NULL;
  for (int b = 0; b < sc->num_blocks; ++b)
    if (strcmp(sc->blocks[b].type, "yarn_bend") == 0) *out = &sc->blocks[b];
  if (*out == NULL) return LOOM_OK;
  LOOM_CHECK(host, (*out)->arity == 3 && (*out)->rest_len >= 2 && (*out)->mat_len >= 1, LOOM_E_ABI,
             "elements yarn_bend have %d vertices, %d rest and %d material numbers; 3, 2 and 1 or "
             "more are needed",
             (*out)->arity, (*out)->rest_len, (*out)->mat_len);
  return LOOM_OK;
}

loom_status limit_find(const loom_host *host, const loom_exec *e, const loom_scene *sc,
                       const settings *set, yarn_explicit_limit *out)
{
  const loom_elem_block *k;
  /* the smallest factor on lengths in the run; masses stay */
  const double least = set->shrink_time > 0 ? fmin(set->shrink, 1) : set->shrink;
  plug_maps m = plug_maps_on(host, e);
  *out = (yarn_explicit_limit){.h = INFINITY, .vert = -1};
  LOOM_TRY(find_bending(host, sc, &k));
  if (k == NULL) return LOOM_OK;
  const int32_t *verts = plug_read_host(&m, k->verts);
  const loom_real *rest = plug_read_host(&m, k->rest), *mat = plug_read_host(&m, k->mat);
  const loom_real *mass = plug_read_host(&m, sc->mass);
  LOOM_TRY(m.status);
  for (int64_t i = 0; i < k->num_elems; ++i) {
    const double l0 = (double)rest[k->rest_len * i], l1 = (double)rest[k->rest_len * i + 1];
    const double k_b = (double)mat[k->mat_len * i], l = least * fmin(l0, l1);
    const double rho = (double)mass[verts[3 * i + 1]] / (least * 0.5 * (l0 + l1));
    const double limit = set->stability * l * l * sqrt(rho / k_b);
    if (k_b > 0 && limit < out->h)
      *out = (yarn_explicit_limit){limit, verts[3 * i + 1], l, rho, k_b};
  }
  return plug_unbind(&m);
}

loom_status limit_check_glue(const loom_host *host, const loom_exec *e, const loom_scene *sc)
{
  void *p;
  if (sc->num_glue == 0) return LOOM_OK;
  LOOM_TRY(host->map(host, e, sc->glue, LOOM_READ, LOOM_AT_HOST, &p));
  unsigned char *seen = calloc((size_t)sc->num_verts, 1);
  LOOM_CHECK(host, seen != NULL, LOOM_E_NOMEM, "no memory for %d vertices", sc->num_verts);
  const int32_t *glue = p;
  int32_t twice = -1;
  for (int64_t i = 0; i < 2 * (int64_t)sc->num_glue; ++i) {
    if (seen[glue[i]]) twice = glue[i];
    seen[glue[i]] = 1;
  }
  free(seen);
  LOOM_TRY(host->unmap(host, sc->glue));
  LOOM_CHECK(host, twice < 0, LOOM_E_CONFIG,
             "vertex %d is glued twice; a vertex can be in one glued pair only", twice);
  return LOOM_OK;
}
