/* yarn_bend.c - descriptor of element yarn_bend: bending of a yarn. */
#include "elements/yarn_bend/yarn_bend.kern.h"

#include "elements/rod.h"
#include "elements/type.h"

static int yarn_bend_material(const void *of, uint32_t place, double *mat)
{
  const rod_settings *const s = of;
  (void)place;
  mat[0] = s->bending, mat[1] = s->plasticity, mat[2] = s->plasticity_max;
  return 1;
}

const elem_type elem_yarn_bend = {
    .name = "yarn_bend",
    .doc = "k_b/(2 L) sum |w - wbar|^2, rods with frames moved in time (Bergou et al. 2010)",
    .arity = 3,
    .rest_len = ROD_REST,
    .mat_len = 3,
    .proj_rows = 0,
    .rest_doc = "lengths[2] m, mbar rad, wbar[2][2], mref rad, frames[2] of t[3] u[3] theta rad",
    .mat_doc = "k_b N m^2, plastic limits of |wbar - w| and |wbar| 1",
    ELEM_FORCES(yarn_bend, 4),
    .topology = ELEM_JOINTS,
    .section = "yarn",
    ELEM_PARAMS(rod_params),
    .material = yarn_bend_material,
    .init_rest = rest_rod,
    .init_line = rest_rod_line,
    .pose_line = rest_rod_pose,
    .state = &rod_state};
