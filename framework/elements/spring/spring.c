/* spring.c - descriptor of element spring: spring between two vertices. */
#include <math.h>

#include "elements/spring/spring.kern.h"
#include "elements/type.h"
#include "geom/vec3.h"

typedef struct settings {
  double k_spring, k_cross; /* N/m */
} settings;

static const loom_param params[] = {
    LOOM_PARAM_REAL(settings, k_spring, 200, 0, 1e9, "N/m",
                    "springs: stiffness of a spring along every edge of the mesh."),
    LOOM_PARAM_REAL(settings, k_cross, 20, 0, 1e9, "N/m",
                    "springs: stiffness of a spring between the two vertices opposite to every "
                    "inner edge: shear across cut cells, bending elsewhere; 0: none.")};

static int spring_material(const void *of, uint32_t place, double *mat)
{
  const settings *const s = of;
  mat[0] = place == ELEM_EDGES ? s->k_spring : s->k_cross;
  return place == ELEM_EDGES || s->k_cross > 0;
}

static const char *spring_init_rest(const double *X, double *rest)
{
  double d[3];
  vec3_sub(X, X + 3, d);
  rest[0] = vec3_norm(d);
  return isfinite(rest[0]) ? NULL : "length is not a number";
}

const elem_type elem_spring = {.name = "spring",
                               .doc = "k/2 (|x0-x1| - L)^2",
                               .arity = 2,
                               .rest_len = 1,
                               .mat_len = 1,
                               .proj_rows = 1,
                               .rest_doc = "length L m",
                               .mat_doc = "k N/m",
                               ELEM_PROJECTIVE(spring),
                               .topology = ELEM_EDGES | ELEM_CROSSINGS,
                               .section = "cloth",
                               .word = "springs",
                               ELEM_PARAMS(params),
                               .material = spring_material,
                               .init_rest = spring_init_rest};
