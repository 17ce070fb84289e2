/* repulsion.kern.c - the linear law of one pair, for CPU and CUDA.
 *
 * d is the distance of a pair (m), negative inside a body, and xi the sum of both radii (m).  The
 * gap is d - xi, so the force begins at d = R with R = reach + xi:
 *   b = k/2 (R - d)^2,   db/dd = -k (R - d),   d2b/dd2 = k.
 * kit/pair_energy takes derivatives with respect to D = d |d|; with dD = 2 |d| dd they are
 *   b' = -k (R - d) / (2 |d|),   b'' = k (|d| + sign(d) (R - d)) / (4 |d|^3). */
#include "repulsion.kern.h"

/* b [3]: b (J), b' (N/m) and b'' (N/m^3) at D, m^2 */
LK_FN void repulsion_law(const lk_real *number, lk_real xi, lk_real D, lk_real *b)
{
  const lk_real k = number[REPULSION_STIFFNESS], R = number[REPULSION_REACH] + xi;
  const lk_real side = D < LK_R(0.0) ? LK_R(-1.0) : LK_R(1.0);
  const lk_real length = LK_SQRT(LK_FABS(D)), lack = R - side * length;
  /* avoids a division by zero where d = 0: the force then has no direction and becomes 0 */
  const lk_real most = LK_FMAX(length, LK_R(1e-6) * R);
  b[0] = LK_R(0.5) * k * lack * lack;
  b[1] = LK_R(-0.5) * k * lack / most;
  b[2] = LK_R(0.25) * k * (most + side * lack) / (most * most * most);
}

/* The kit's kernels, named repulsion_energy, repulsion_force, ..., with repulsion_law() inside */
#define PAIR(name) repulsion_##name
#define PAIR_LAW   repulsion_law
#include "kit/pair_energy_body.kern.h"
#include "kit/pair_mollified_body.kern.h"
