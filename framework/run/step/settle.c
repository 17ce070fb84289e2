/* settle.c - see settle.h. */
#include "run/step/settle.h"

#include <math.h>
#include <stdio.h>

#include "geom/vec3.h"
#include "run/run_state.h"
#include "scene/moving/dress.h"
#include "scene/moving/sewing.h"

typedef struct rest_state {
  double speed; /* m/s, of the fastest free vertex */
  double seam;  /* m, NaN without stitches */
} rest_state;

static loom_status measure_rest(run *r, rest_state *out)
{
  buf_maps q = {.m = r->m}; /* on the host */
  const loom_scene *const sc = &r->scene->pub;
  const loom_real *const v = buf_maps_add(&q, r->st.v_start, LOOM_READ); /* of the next step */
  const loom_real *const x = buf_maps_add(&q, r->st.x, LOOM_READ);
  const uint8_t *const fixed = buf_maps_add(&q, sc->fixed, LOOM_READ);
  *out = (rest_state){.seam = NAN};
  for (int64_t i = 0; q.status == LOOM_OK && i < sc->num_verts; ++i) {
    const double w[3] = {(double)v[3 * i], (double)v[3 * i + 1], (double)v[3 * i + 2]};
    if (!fixed[i]) out->speed = fmax(out->speed, vec3_norm(w));
  }
  if (q.status == LOOM_OK) out->seam = scene_stitch_gap(r->scene, x);
  return buf_maps_end(&q);
}

loom_status settle_look(run *r, int last, int *settled)
{
  const double bound = r->scene->dress.settle;
  /* times of steps are rounded */
  const int over = r->st.time > dress_end(r->scene) - 0.5 * r->st.h;
  rest_state at;
  char text[400], seam[64] = "";
  *settled = 0;
  if (!(bound > 0.0) || (!over && !last)) return LOOM_OK;
  LOOM_TRY(measure_rest(r, &at));
  *settled = over && at.speed < bound;
  if (!*settled && !last) return LOOM_OK;
  if (!isnan(at.seam)) snprintf(seam, sizeof seam, ", the widest seam is open by %.3g m", at.seam);
  if (*settled)
    snprintf(text, sizeof text,
             "the cloth has come to rest at %.9g s ([dress] settle): the fastest vertex has %.3g "
             "m/s%s; [run] start_log = this log with [dress] motion_from = %.9g goes on with the "
             "motion",
             r->st.time, at.speed, seam, r->st.time);
  else
    snprintf(text, sizeof text,
             "[dress] settle: the cloth has not come to rest at %.9g s%s: the fastest vertex has "
             "%.3g m/s%s; make more steps, or raise damping",
             r->st.time, over ? "" : ", before dressing is over", at.speed, seam);
  run_message(r, *settled ? LOOM_LOG_INFO : LOOM_LOG_WARN, text);
  return LOOM_OK;
}
