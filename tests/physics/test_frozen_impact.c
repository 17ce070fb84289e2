/* Friction of an impact where contact is frozen for a step: a patch falls on a belt that runs
 * faster than the patch gets.  While it slides, it gains at most mu times the momentum that the
 * belt gives it along the normal, p_x <= mu (p_z + m g t), and nearly as much. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/sim.h"

static const double g = 9.81, mu = 0.4, h = 0.01, density = 0.18, area = 0.12 * 0.09;

static const char scene[] =
    "[run]\nsteps = 8\ndt = 0.01\n[exec]\nbackend = cpu\n"
    "[solver]\nplugin = cama_pcg\n[stop]\ntol_rel = 1e-5\nmax_iters = 500\n"
    "[filter]\nwhen = end\nbound = global\n[log]\naudit = every\n"
    "[collision.self]\nplugin = patch_bvh\n"
    "[contact.all]\nplugin = ipc_barrier\npairs = all\n"
    "[cloth.patch]\nshape = grid\nsize = 0.12 0.09\nresolution = 7 6\ndensity = 0.18\n"
    "membrane = 420\nbending = 2e-5\nthickness = 1.2 mm\ntransform = translate 0 0 0.00165\n"
    "[body.belt]\nshape = box\nsize = 7 1.6 0.08\nmesh_size = 0.4\nsdf_resolution = 0\n"
    "position = 0 0 -0.04\nfriction = 0.4\nmotion = translate 0.8 0 0\n";

/* p_x over mu (p_z + m g t) at the end. */
static double momentum_share(const char *contact)
{
  char plugin[64];
  sim s;
  snprintf(plugin, sizeof plugin, "contact.all.plugin=%s", contact);
  sim_run(&s, scene, (const char *const[]){plugin, NULL}, 0);
  h5log_step_row *const row = sim_steps(&s);
  const h5log_step_row *const last = row + s.steps - 1;
  const double normal = last->p_z + density * area * g * h * (double)s.steps;
  const double share = last->p_x / (mu * normal);
  printf("%s: %.3f of mu times the normal momentum\n", contact, share);
  free(row);
  sim_free(&s);
  return share;
}

/* Normal forces of the start of a step make 1.5 to 2.5, with FRIC_LIMIT 1.4 to 2.0; of the end of
 * the last step 2.5 with ndb. */
Test(frozen_impact, friction_keeps_to_the_normal_momentum)
{
  static const char *const contact[] = {"ipc_barrier",    "dbb", "ogc", "cubic_barrier",
                                        "cama_repulsion", "ndb"};
  for (size_t k = 0; k < sizeof contact / sizeof *contact; ++k) {
    const double share = momentum_share(contact[k]);
    cr_expect_leq(share, 1.01, "%s: %g", contact[k], share);
    cr_expect_geq(share, 0.93, "%s: %g", contact[k], share);
  }
}
