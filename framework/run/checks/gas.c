/* gas.c - gas in cloth that swings faster than the steps follow, since its force is explicit. */
#include <stdio.h>

#include "run/objective/measure.h"
#include "run/run_state.h"
#include "scene/objects/pressure.h"

loom_status run_check_gas(run *r)
{
  const double h = r->set.run.dt / (double)r->set.run.substeps;
  const char *section = "";
  double omega = 0.0;
  char text[400];
  buf_maps q = {.m = r->m}; /* on the host */
  if (r->scene->pressure == NULL) return LOOM_OK;
  const loom_real *const x = buf_maps_add(&q, r->scene->x0, LOOM_READ);
  const loom_real *const mass = buf_maps_add(&q, r->scene->pub.mass, LOOM_READ);
  const uint8_t *const fixed = buf_maps_add(&q, r->scene->pub.fixed, LOOM_READ);
  if (q.status == LOOM_OK) omega = pressure_fastest(r->scene, x, mass, fixed, &section);
  LOOM_TRY(buf_maps_end(&q));
  if (!(h * omega > 2.0)) return LOOM_OK;
  snprintf(
      text, sizeof text,
      "[%.100s]: its gas swings with %.3g/s, and the force of gas is explicit: steps of %.3g s "
      "are stable up to 2/omega = %.3g s, longer ones only where the membrane is as stiff; "
      "shorten dt, or take a smaller `outside`",
      section, omega, h, 2.0 / omega);
  run_message(r, LOOM_LOG_WARN, text);
  return LOOM_OK;
}
