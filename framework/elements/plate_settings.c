/* plate_settings.c - see plate_settings.h.
 *
 * The rigidity of cylindrical bending in the direction phi is
 *   D(phi) = D11 c^4 + D22 s^4 + 2 T c^2 s^2,   T = D12 + 2 D66
 * so a rigidity measured at 45 degrees gives T, and Poisson's ratio divides T into D12 and D66. */
#include "elements/plate_settings.h"

#include <math.h>

/* Least D66/sqrt(D11 D22) and most |D12|/sqrt(D11 D22) of a plate from measured directions. */
#define LEAST_SHEAR 0.1
#define MOST_CROSS  0.95

#define RIGIDITY(name, what) LOOM_PARAM_REAL(plate_settings, name, 0, 0, 1e3, "N m", what)

const loom_param plate_params[PLATE_NUM_PARAMS] = {
    LOOM_PARAM_REAL(plate_settings, bending, 2.4e-5, 0, 1e3, "N m",
                    "plate: flexural rigidity D of cylindrical bending, E t^3/(12 (1 - nu^2))."),
    LOOM_PARAM_REAL(plate_settings, bending_poisson, 0, -1, 1, "1",
                    "plate: Poisson's ratio nu of bending; a narrow strip has the rigidity "
                    "D (1 - nu^2).",
                    LOOM_P_OPEN_MIN | LOOM_P_OPEN_MAX),
    RIGIDITY(bending_warp, "plate: D of bending along the first material axis; 0: bending."),
    RIGIDITY(bending_weft, "plate: D of bending along the second material axis; 0: bending."),
    RIGIDITY(bending_bias, "plate: D of bending at 45 degrees between both; 0: that of a sheet "
                           "whose twist is the mean of both axes."),
    LOOM_PARAM_REAL(plate_settings, bending_yield, 0, 0, 1e9, "1/m",
                    "plate: curvature from the rest shape, 1/m, beyond which bending stays; 0: "
                    "none stays.  Of a plate with other rigidities along its axes: "
                    "sqrt(k' D k/sqrt(D11 D22)) of the curvatures k."),
    LOOM_PARAM_REAL(plate_settings, bending_hardening, 0, 0, 1e6, "1",
                    "plate: growth of bending_yield over the curvature that has stayed; 0: none.")};

static double main_rigidity(const plate_settings *s, int axis)
{
  const double own = axis == 0 ? s->bending_warp : s->bending_weft;
  return own > 0 ? own : s->bending;
}

int plate_material(const void *settings, uint32_t place, double *mat)
{
  const plate_settings *const s = settings;
  (void)place;
  mat[0] = sqrt(main_rigidity(s, 0) * main_rigidity(s, 1));
  return 1;
}

double plate_ratios(const void *settings, double *D)
{
  const plate_settings *const s = settings;
  const double d[2] = {main_rigidity(s, 0), main_rigidity(s, 1)}, mean = sqrt(d[0] * d[1]);
  double cross = 0;
  D[0] = mean > 0 ? d[0] / mean : 1;
  D[1] = mean > 0 ? d[1] / mean : 1;
  D[2] = s->bending_poisson;
  D[3] = 0.5 * (1 - s->bending_poisson);
  if (!(s->bending_bias > 0) || !(mean > 0)) return 0;
  const double T = 0.5 * (4 * s->bending_bias / mean - D[0] - D[1]);
  D[3] = fmax(0.5 * (T - s->bending_poisson), LEAST_SHEAR);
  D[2] = T - 2 * D[3];
  if (fabs(D[2]) >= 1) {
    cross = D[2];
    D[2] = D[2] < 0 ? -MOST_CROSS : MOST_CROSS;
  }
  return cross;
}

loom_status plate_check(loom_err *err, const void *settings, const char **key)
{
  const plate_settings *const s = settings;
  const double d[2] = {main_rigidity(s, 0), main_rigidity(s, 1)};
  *key = d[0] > 0 ? "bending_weft" : "bending_warp";
  if ((d[0] > 0) == (d[1] > 0)) return LOOM_OK;
  return err_set(
      err, LOOM_E_CONFIG,
      "a plate that bends freely in one direction has no stable shape; give bending_warp "
      "and bending_weft, or bending");
}
