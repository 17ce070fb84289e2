/* precision.c - a tolerance that rounding keeps from being met is said before the run. */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "linalg/linalg.h"
#include "run/run_state.h"

/* The residual from rounding of positions, as a share of eps |x| h^2 D/m: measured with
 * float reals in free fall of sheets at 0 to 5 m from the origin, 200 to 20,000 N/m, 31 x 31 and
 * 61 x 61 vertices, steps of 5 and 10 ms; it was 0.02 to 0.2. */
static const double rounding_share = 0.1;

/* h^2 D/m, as the residual is measured: mass-weighted root mean square over free vertices. */
static loom_status compute_residual_gain(const run *r, double *out)
{
  const double h = r->set.run.dt / (double)r->set.run.substeps;
  const loom_scene *const s = &r->scene->pub;
  buf_maps q = {.m = r->m}; /* on the host */
  const loom_real *const mass = buf_maps_add(&q, s->mass, LOOM_READ);
  const uint8_t *const fixed = buf_maps_add(&q, s->fixed, LOOM_READ);
  const loom_real *const D = buf_maps_add(&q, r->buf.diag, LOOM_READ);
  double sum = 0.0, total = 0.0;
  if (mass == NULL || fixed == NULL || D == NULL) return buf_maps_end(&q);
  for (int32_t i = 0; i < s->num_verts; ++i) {
    if (fixed[i]) continue;
    const double m = (double)mass[i], g = h * h * (double)D[i] / m;
    sum += m * g * g;
    total += m;
  }
  *out = total > 0.0 ? sqrt(sum / total) : 0.0;
  return buf_maps_end(&q);
}

loom_status run_check_tolerance(run *r)
{
  const int is_double = sizeof(loom_real) == sizeof(double);
  const double eps = is_double ? DBL_EPSILON : FLT_EPSILON, tol = r->set.stop.tol_abs;
  double far = 0.0, units = 0.0;
  char text[400];
  if (!(tol > 0.0) || r->set.stop.on == STOP_ENERGY) return LOOM_OK; /* not meant to be met */
  LOOM_TRY(la_norm_max3(r->m, &r->exec, r->scene->x0, &far));
  LOOM_TRY(compute_residual_gain(r, &units));
  units *= rounding_share;
  if (tol >= units * eps * far) return LOOM_OK;
  snprintf(text, sizeof text,
           "[stop] tol_abs = %.3g m is below the rounding of the residual here, about %.1g m "
           "(%.2g eps |x|, %s reals, |x| up to %.3g m): steps that tol_rel does not end may run to "
           "max_iters; raise tol_abs%s",
           tol, units * eps * far, units, is_double ? "double" : "float", far,
           is_double ? "" : ", or build with double reals");
  run_message(r, LOOM_LOG_WARN, text);
  return LOOM_OK;
}
