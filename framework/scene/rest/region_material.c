/* region_material.c - materials of elements of cloth with regions ([region.*]). */
#include <string.h>

#include "elements/elements.h"
#include "scene/base/build.h"

static const region *region_of(const object *o, int64_t t)
{
  const int32_t k = o->tri_region != NULL ? o->tri_region[t] : -1;
  return k >= 0 ? &o->regions[k] : NULL;
}

double build_density(const object *o, int64_t t)
{
  const region *const r = region_of(o, t);
  return r != NULL ? r->set.density : o->common->density;
}

const void *build_region_settings(const object *o, int type, int64_t t)
{
  const region *const r = region_of(o, t);
  return r != NULL ? &r->elem[elem_settings_of(type)] : build_elem_settings(o, type);
}

/* 0: the settings say that the type has no elements there. */
static int make_elem_material(const elem_type *t, const void *settings, uint32_t place, double *mat)
{
  if (t->material != NULL) return t->material(settings, place, mat);
  memcpy(mat, settings, (size_t)t->mat_len * sizeof *mat);
  return 1;
}

int build_elem_material(const object *o, int type, uint32_t place, int64_t k, double *mat)
{
  const elem_type *const t = elem_at(type);
  if (o->tri_region == NULL) return make_elem_material(t, build_elem_settings(o, type), place, mat);
  if (place == ELEM_TRIANGLES || place == ELEM_PATCHES)
    return make_elem_material(t, build_region_settings(o, type, k), place, mat);
  /* an edge: of one triangle or two; one whose region has no element there has stiffness 0 */
  const int32_t first = o->tp.first[k], num = o->tp.first[k + 1] - first;
  double one[ELEM_MAX_MAT];
  int any = 0;
  memset(mat, 0, (size_t)t->mat_len * sizeof *mat);
  for (int32_t side = first; side < first + num; ++side) {
    const void *const settings = build_region_settings(o, type, o->tp.sides[side] / 3);
    if (!make_elem_material(t, settings, place, one)) continue;
    for (int c = 0; c < t->mat_len; ++c) mat[c] += one[c] / num;
    any = 1;
  }
  return any;
}
