/* patches.c - elements on triangles with the vertices around them: plates.
 *
 * A triangle with three held vertices cannot bend, so the set-up gives all of the fold at its
 * side to the free triangle beyond (elements/plate_rest.c). */
#include "elements/elements.h"
#include "elements/plate_settings.h"
#include "scene/base/build.h"

static loom_status fill_plate_triangles(builder *b, const object *o, const char *type,
                                        plate_mesh *m)
{
  double X[9];
  for (int64_t t = 0; t < o->m.num_tris; ++t) {
    const int32_t *const v = o->m.tris + 3 * t;
    build_rest_element(o, ELEM_TRIANGLES, t, v, 3, X);
    const char *const why = plate_mesh_triangle(m, t, X);
    if (why != NULL)
      return err_set(b->err, LOOM_E_CONFIG, "%s: %s %lld on vertices %d, %d, %d: %s", o->label,
                     type, (long long)t, v[0], v[1], v[2], why);
    m->held[t] = (o->pinned[v[0]] & o->pinned[v[1]] & o->pinned[v[2]] & PIN_ALWAYS) != 0;
  }
  return LOOM_OK;
}

static loom_status fill_plate_folds(builder *b, const object *o, const char *type, plate_mesh *m)
{
  double X[12];
  for (int64_t e = 0; e < o->tp.num_edges; ++e) {
    const int32_t *const side = o->tp.sides + o->tp.first[e];
    int32_t v[4], from, to;
    if (o->tp.first[e + 1] - o->tp.first[e] != 2) continue;
    topo_side(o->m.tris, side[0], &v[0], &v[1], &v[2]);
    topo_side(o->m.tris, side[1], &from, &to, &v[3]);
    build_rest_element(o, ELEM_HINGES, e, v, 4, X);
    const char *const why = plate_hinge_angle(X, &m->fold[side[0]]);
    if (why != NULL)
      return err_set(b->err, LOOM_E_CONFIG, "%s: %s at the edge of vertices %d and %d: %s",
                     o->label, type, v[0], v[1], why);
    m->fold[side[1]] = m->fold[side[0]];
  }
  return LOOM_OK;
}

static loom_status note_ratios(builder *b, const object *o, double cross)
{
  if (cross == 0) return LOOM_OK;
  return build_note(b,
                    "%s: bending_bias with the other rigidities needs D12 = %.3g sqrt(D11 D22), "
                    "which no stable plate has; 0.95 in size is used",
                    o->label, cross);
}

loom_status build_patches(builder *b, const object *o, int type, int32_t *verts, loom_real *rest)
{
  const elem_type *const t = elem_at(type);
  plate_mesh m;
  double D[4], R[3 * PLATE_FOLDS], own[ELEM_MAX_REST];
  loom_status s = note_ratios(b, o, plate_ratios(build_elem_settings(o, type), D));
  for (int32_t k = 0; k < o->num_regions && s == LOOM_OK; ++k)
    s = note_ratios(b, o, plate_ratios(&o->regions[k].elem[elem_settings_of(type)], D));
  if (s == LOOM_OK) s = plate_mesh_new(b->err, &o->tp, o->m.num_tris, &m);
  if (s != LOOM_OK) return s;
  s = fill_plate_triangles(b, o, t->name, &m);
  if (s == LOOM_OK) s = fill_plate_folds(b, o, t->name, &m);
  for (int64_t k = 0; k < o->m.num_tris && s == LOOM_OK; ++k) {
    int32_t *const v = verts + t->arity * k;
    (void)plate_ratios(build_region_settings(o, type, k), D);
    plate_modes(&m, k, D, R);
    plate_patch_verts(&m, o->m.tris, k, R, v);
    for (int a = 0; a < t->arity; ++a) v[a] += o->first_vert;
    t->init_patch(&m, k, R, own);
    for (int c = 0; c < t->rest_len; ++c) rest[t->rest_len * k + c] = (loom_real)own[c];
  }
  plate_mesh_free(&m);
  return s;
}
