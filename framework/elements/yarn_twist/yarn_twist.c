/* yarn_twist.c - descriptor of element yarn_twist: twist of a yarn, in the frames of yarn_bend. */
#include "elements/yarn_twist/yarn_twist.kern.h"

#include "elements/rod.h"
#include "elements/type.h"

static int yarn_twist_material(const void *of, uint32_t place, double *mat)
{
  const rod_settings *const s = of;
  (void)place;
  mat[0] = s->twisting;
  return 1;
}

const elem_type elem_yarn_twist = {
    .name = "yarn_twist",
    .doc = "k_t m^2/L, twist m of the same frames (Bergou et al. 2010)",
    .arity = 3,
    .rest_len = ROD_REST,
    .mat_len = 1,
    .proj_rows = 0,
    .rest_doc = "lengths[2] m, mbar rad, wbar[2][2], mref rad, frames[2] of t[3] u[3] theta rad",
    .mat_doc = "k_t N m^2",
    ELEM_FORCES(yarn_twist, 4),
    .topology = ELEM_JOINTS,
    .section = "yarn",
    ELEM_PARAMS(rod_params),
    .material = yarn_twist_material,
    .init_rest = rest_rod,
    .init_line = rest_rod_line,
    .pose_line = rest_rod_pose,
    .rest_of = "yarn_bend"};
