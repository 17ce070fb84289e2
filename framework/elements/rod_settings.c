/* rod_settings.c - the keys of [yarn.*] that elements yarn_bend and yarn_twist read. */
#include "elements/rod.h"

const loom_param rod_params[ROD_NUM_PARAMS] = {
    LOOM_PARAM_REAL(rod_settings, bending, 2e-8, 0, 1e3, "N m^2",
                    "k_b of element yarn_bend (20 dyn cm^2); the rest curvature is that of the "
                    "start."),
    LOOM_PARAM_REAL(rod_settings, twisting, 2e-8, 0, 1e3, "N m^2",
                    "k_t of element yarn_twist; 0: the yarn does not resist twist."),
    LOOM_PARAM_REAL(
        rod_settings, plasticity, 0, 0, 100, "1",
        "p of |wbar - w| <= p: rest curvatures follow a bend beyond p (0.01 in Kaldor et "
        "al. 2010); 0: elastic."),
    LOOM_PARAM_REAL(rod_settings, plasticity_max, 2.5, 0, 100, "1",
                    "p_max of |wbar| <= p_max, with plasticity; 0: no limit.")};
