/* table.c - the element types of the core. */
#include <string.h>

#include "elements/hinge_isometric.kern.h"
#include "elements/hinge_shell.kern.h"
#include "elements/pin.kern.h"
#include "elements/rest.h"
#include "elements/rod.kern.h"
#include "elements/spring.kern.h"
#include "elements/tet_arap.kern.h"
#include "elements/tri_arap.kern.h"
#include "elements/tri_stvk.kern.h"

enum {
  CAPS_GRADIENT = LOOM_ELEM_ENERGY | LOOM_ELEM_GRADIENT,
  CAPS_SMOOTH = CAPS_GRADIENT | LOOM_ELEM_HESSIAN,
  CAPS_PROJECTIVE = CAPS_SMOOTH | LOOM_ELEM_PROJECT
};

/* Rows of one type: energy, gradient, Hessian, and for projective types the local step. */
static const lk_entry spring[] = {LK_ENTRY(spring_energy), LK_ENTRY(spring_gradient),
                                  LK_ENTRY(spring_hessian), LK_ENTRY(spring_project),
                                  LK_ENTRY(spring_weights)};
static const lk_entry pin[] = {LK_ENTRY(pin_energy), LK_ENTRY(pin_gradient), LK_ENTRY(pin_hessian),
                               LK_ENTRY(pin_project), LK_ENTRY(pin_weights)};
static const lk_entry tri_arap[] = {LK_ENTRY(tri_arap_energy), LK_ENTRY(tri_arap_gradient),
                                    LK_ENTRY(tri_arap_hessian), LK_ENTRY(tri_arap_project),
                                    LK_ENTRY(tri_arap_weights)};
static const lk_entry tri_stvk[] = {LK_ENTRY(tri_stvk_energy), LK_ENTRY(tri_stvk_gradient),
                                    LK_ENTRY(tri_stvk_hessian)};
static const lk_entry hinge_isometric[] = {
    LK_ENTRY(hinge_isometric_energy), LK_ENTRY(hinge_isometric_gradient),
    LK_ENTRY(hinge_isometric_hessian), LK_ENTRY(hinge_isometric_project),
    LK_ENTRY(hinge_isometric_weights)};
static const lk_entry hinge_shell[] = {LK_ENTRY(hinge_shell_energy), LK_ENTRY(hinge_shell_gradient),
                                       LK_ENTRY(hinge_shell_hessian)};
static const lk_entry tet_arap[] = {LK_ENTRY(tet_arap_energy), LK_ENTRY(tet_arap_gradient),
                                    LK_ENTRY(tet_arap_hessian), LK_ENTRY(tet_arap_project),
                                    LK_ENTRY(tet_arap_weights)};

static const lk_entry yarn_bend[] = {LK_ENTRY(yarn_bend_energy), LK_ENTRY(yarn_bend_gradient)};
static const lk_entry yarn_twist[] = {LK_ENTRY(yarn_twist_energy), LK_ENTRY(yarn_twist_gradient)};

#define FORCES(k) .energy = &(k)[0], .gradient = &(k)[1]
#define SMOOTH(k) .energy = &(k)[0], .gradient = &(k)[1], .hessian = &(k)[2]
#define LOCAL(k)  .project = &(k)[3], .weights = &(k)[4]

static const elem_type types[] = {
    {.name = "spring",
     .doc = "k/2 (|x0-x1| - L)^2",
     .caps = CAPS_PROJECTIVE,
     .arity = 2,
     .rest_len = 1,
     .mat_len = 1,
     .proj_rows = 1,
     .rest_doc = "length L m",
     .mat_doc = "k N/m",
     SMOOTH(spring),
     LOCAL(spring),
     .init_rest = rest_spring},
    {.name = "pin",
     .doc = "k/2 |x - p|^2",
     .caps = CAPS_PROJECTIVE,
     .arity = 1,
     .rest_len = 0,
     .mat_len = 4,
     .proj_rows = 1,
     .rest_doc = "none",
     .mat_doc = "k N/m, target p[3] m",
     SMOOTH(pin),
     LOCAL(pin),
     .init_rest = rest_pin},
    {.name = "tri_arap",
     .doc = "E_mem/2 A |F - R|^2, closest isometry R (projective dynamics, Bouaziz et al. 2014)",
     .caps = CAPS_PROJECTIVE,
     .arity = 3,
     .rest_len = 4,
     .mat_len = 1,
     .proj_rows = 2,
     .rest_doc = "Dm^-1[4] 1/m, area 1/(2 det Dm^-1) m^2",
     .mat_doc = "E_mem N/m",
     SMOOTH(tri_arap),
     LOCAL(tri_arap),
     .init_rest = rest_triangle},
    {.name = "tri_stvk",
     .doc = "A (k0/2 G00^2 + k1 G00 G11 + k2/2 G11^2 + k3 G01^2), Green strain (Wang et al. 2011)",
     .caps = CAPS_SMOOTH,
     .arity = 3,
     .rest_len = 4,
     .mat_len = 4,
     .proj_rows = 0,
     .rest_doc = "Dm^-1[4] 1/m; u along x, v along y of a flat rest shape",
     .mat_doc = "k0 k1 k2 k3 N/m",
     SMOOTH(tri_stvk),
     .init_rest = rest_triangle},
    {.name = "hinge_isometric",
     .doc = "k_b/2 3/(A0+A1) (|K x| - |K X|)^2, quadratic bending (Bergou et al. 2006)",
     .caps = CAPS_PROJECTIVE,
     .arity = 4,
     .rest_len = 4,
     .mat_len = 1,
     .proj_rows = 1,
     .rest_doc = "K_1..K_3 sqrt(3/(A0+A1)) 1/m, signed |K X| sqrt(3/(A0+A1))",
     .mat_doc = "k_b N m",
     SMOOTH(hinge_isometric),
     LOCAL(hinge_isometric),
     .init_rest = rest_hinge_isometric},
    {.name = "hinge_shell",
     .doc = "k_e l^2/(2a) (theta - theta0)^2/4, discrete shells (Grinspun et al. 2003)",
     .caps = CAPS_SMOOTH,
     .arity = 4,
     .rest_len = 3,
     .mat_len = 1,
     .proj_rows = 0,
     .rest_doc = "edge length m, area A0+A1 m^2, angle rad",
     .mat_doc = "k_e N m",
     SMOOTH(hinge_shell),
     .init_rest = rest_hinge_shell},
    {.name = "tet_arap",
     .doc = "w/2 V |F - R|^2, closest rotation R (Smith, De Goes and Kim 2019)",
     .caps = CAPS_PROJECTIVE,
     .arity = 4,
     .rest_len = 10,
     .mat_len = 1,
     .proj_rows = 3,
     .rest_doc = "Dm^-1[9] 1/m, volume m^3",
     .mat_doc = "w N/m^2",
     SMOOTH(tet_arap),
     LOCAL(tet_arap),
     .init_rest = rest_tet},
    {.name = "yarn_bend",
     .doc = "k_b/(2 L) sum |w - wbar|^2, rods with frames moved in time (Bergou et al. 2010)",
     .caps = CAPS_GRADIENT,
     .arity = 3,
     .rest_len = ROD_REST,
     .mat_len = 3,
     .proj_rows = 0,
     .rest_doc = "lengths[2] m, mbar rad, wbar[2][2], mref rad, frames[2] of t[3] u[3] theta rad",
     .mat_doc = "k_b N m^2, plastic limits of |wbar - w| and |wbar| 1",
     FORCES(yarn_bend),
     .init_rest = rest_rod},
    {.name = "yarn_twist",
     .doc = "k_t m^2/L, twist m of the same frames (Bergou et al. 2010)",
     .caps = CAPS_GRADIENT,
     .arity = 3,
     .rest_len = ROD_REST,
     .mat_len = 1,
     .proj_rows = 0,
     .rest_doc = "lengths[2] m, mbar rad, wbar[2][2], mref rad, frames[2] of t[3] u[3] theta rad",
     .mat_doc = "k_t N m^2",
     FORCES(yarn_twist),
     .init_rest = rest_rod},
    {.name = NULL},
};

const elem_type *elem_types(void) { return types; }

const elem_type *elem_find(const char *name)
{
  for (const elem_type *t = types; t->name != NULL; ++t)
    if (strcmp(t->name, name) == 0) return t;
  return NULL;
}
