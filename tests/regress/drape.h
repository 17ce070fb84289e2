/* drape.h - the small scene of the regression tests: a sheet of 21 x 21 vertices falls onto
 * a ball over a floor and is in contact with the ball from step 5 on. */
#ifndef TEST_DRAPE_H
#define TEST_DRAPE_H

#define DRAPE_RUN  "[run]\nsteps = 25\ndt = 0.01\n"
#define DRAPE_EXEC "[exec]\nbackend = cpu\nthreads = 2\n"
#define DRAPE_SHEET                                                                     \
  "[cloth.sheet]\nmodel = arap+isometric\npattern = regular\nshape = grid\nsize = 0.6 " \
  "0.6\nresolution = 21 21\n"                                                           \
  "transform = translate 0.02 0.01 0.24\ndensity = 0.2\nmembrane = 1000\n"              \
  "k_b = 1e-4\nthickness = 2 mm\ndamping = 0.5\n"
#define DRAPE_BODIES                                                                 \
  "[body.ball]\nshape = sphere\nradius = 0.12\nposition = 0 0 0.1\nfriction = 0.3\n" \
  "[body.floor]\nshape = plane\nnormal = 0 0 1\nfriction = 0.5\n"
#define DRAPE_STOP "[stop]\ntol_abs = 1e-6\ntol_rel = 1e-3\nmax_iters = 8\n"
#define DRAPE_PLUGINS                  \
  "[collision.bodies]\nplugin = sdf\n" \
  "[contact.bodies]\nplugin = penalty\npairs = obstacle\ncollision = bodies\n"
#define DRAPE_LOG "[log]\ncheckpoint_every = 5\naudit = off\n"

/* The method of Tang et al. 2016; its forces are so soft that impacts hold the sheet. */
#define DRAPE_IMPACTS                                                                \
  DRAPE_RUN DRAPE_EXEC DRAPE_SHEET DRAPE_BODIES DRAPE_LOG                            \
      "[stop]\nmax_iters = 1\n[collision.bodies]\nplugin = sdf\n[collision.self]\n"  \
      "plugin = bvtt_front\n[contact.all]\nplugin = cama_repulsion\nstiffness = 5\n" \
      "matrix = pairwise\nself_friction = 0.3\n[contact.impacts]\nplugin = impact_zones\n"

#define DRAPE DRAPE_RUN DRAPE_EXEC DRAPE_SHEET DRAPE_BODIES DRAPE_STOP DRAPE_PLUGINS DRAPE_LOG

/* Two sheets are thrown onto two balls that are 50 m apart, the second a little later: stiffnesses
 * have to grow, of each by itself. */
#define THROWN_SHEET(name, height, x)                                                          \
  "[cloth." name "]\nmodel = arap+isometric\npattern = regular\nresolution = 9 9\nsize = 0.3 " \
  "0.3\ndensity = 0.2\n"                                                                       \
  "membrane = 300\nk_b = 1e-4\nvelocity = 0 0 -4\ntransform = rotate 0 1 0 10 "                \
  "translate " x " 0.01 " height "\n[body." name                                               \
  "]\nshape = sphere\nradius = 0.1\nfriction = 0.4\nposition = " x " 0 0\n"
#define BY_NEWTON(plugin)                                                 \
  "[solver]\nplugin = cholmod_newton\n[collision.bodies]\nplugin = sdf\n" \
  "[collision.self]\nplugin = patch_bvh\n[contact.all]\nplugin = " plugin "\n"
#define TWO_THROWN(plugin)                                                                   \
  DRAPE_RUN DRAPE_EXEC THROWN_SHEET("sheet", "0.16", "0") THROWN_SHEET("other", "0.5", "50") \
      BY_NEWTON(plugin)

/* Every solver of the drape, for parameterised tests. */
static const char *const drape_solvers[] = {"gd", "cholmod_pd", "cholmod_newton", "pcg_newton"};

#endif
