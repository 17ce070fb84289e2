/* start.c - see start.h. */
#include "start.h"

#include "kit/pair_names.h"
#include "kit/thickness.kern.h"
#include "loom/plug.h"

typedef struct meeting { /* of the pair with the least gap */
  int32_t v[4];
  int32_t body;           /* -1: none */
  double distance, radii; /* m */
} meeting;

static loom_status find_worst_meeting(const loom_host *host, const loom_scene *sc,
                                      const loom_exec *e, const loom_pairs *pairs, meeting *out)
{
  plug_maps m = plug_maps_on(host, e);
  const lk_real *const gap = plug_read_host(&m, pairs->gap);
  const lk_real *const radius = plug_read_host(&m, sc->radius);
  const int32_t *const kind = plug_read_host(&m, pairs->kind);
  const int32_t *const v = plug_read_host(&m, pairs->v);
  const int32_t *const obst = plug_read_host(&m, pairs->obst);
  int64_t worst = 0;
  if (m.status == LOOM_OK) {
    for (int64_t j = 1; j < pairs->count; ++j)
      if (gap[j] < gap[worst]) worst = j;
    for (int k = 0; k < 4; ++k) out->v[k] = v[4 * worst + k];
    out->body = obst[worst];
    out->radii = (double)pair_radii(radius, sc->num_verts, kind[worst], out->v);
    out->distance = (double)gap[worst] + out->radii;
  }
  return plug_unbind(&m);
}

loom_status impacts_check_start(const loom_host *host, const loom_scene *sc, const loom_exec *e,
                                const loom_step *s, uint32_t kinds)
{
  const loom_query q = {.struct_size = sizeof q,
                        .what = LOOM_DETECT_CCD,
                        .kinds = kinds,
                        .x0 = s->x_start,
                        .x1 = s->x_start};
  const loom_pairs *pairs;
  meeting worst;
  char objects[PAIR_NAMES_ROOM];
  LOOM_TRY(host->detect(host, &q, &pairs));
  if (pairs->count == 0) return LOOM_OK;
  LOOM_TRY(find_worst_meeting(host, sc, e, pairs, &worst));
  LOOM_TRY(pair_names_write(host, e, sc, worst.v, worst.body, objects));
  return LOOM_FAIL(
      host, LOOM_E_NUMERIC,
      "step %lld: it starts with an overlap: the pair of vertices %d %d %d %d%s is %.3g m "
      "apart (the nearest of %lld that touch), its thickness is %.3g m; impacts keep apart only "
      "pairs that "
      "start apart: move them apart, or set [run] start = untangle",
      (long long)s->index, worst.v[0], worst.v[1], worst.v[2], worst.v[3], objects, worst.distance,
      (long long)pairs->count, worst.radii);
}
