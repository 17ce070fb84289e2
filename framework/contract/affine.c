/* affine.c - every plugin in a scene with an affine body, whose surface follows four nodes: rows of
 * followers stay where their nodes put them, and derivatives of contact are those of the nodes. */
#include <math.h>
#include <stdlib.h>

#include "contract/derive.h"
#include "loom/followers.h"

/* A stiff box 2 mm above a sheet falls onto it; the sheet's lines lie off those of the box. */
static const char *const scene =
    CT_SCENE_HEAD "[cloth.sheet]\nmodel = arap+isometric\npattern = regular\n"
                  "shape = grid\n"
                  "size = 0.08 0.08\n"
                  "resolution = 5 5\n"
                  "density = 0.2\n"
                  "membrane = 20\n"
                  "k_b = 1e-5\n"
                  "thickness = 0.001\n"
                  "[solid.box]\n"
                  "size = 0.04 0.05 0.02\n"
                  "resolution = 2 2 2\n"
                  "density = 200\n"
                  "model = affine\n"
                  "stiffness = 1e5\n"
                  "thickness = 0.001\n"
                  "velocity = 0.1 0 -0.17\n"
                  "transform = rotate 0 0 1 25 translate 0.003 0.002 0.013\n";
static const uint32_t pairs = LOOM_BIT(LOOM_PAIR_VT) | LOOM_BIT(LOOM_PAIR_EE);
enum { SHEET = 25, NODES = 4, VERTS = SHEET + NODES + 8 };

static loom_real *map_for_reading(ct_run *t, loom_buf *b)
{
  void *p = NULL;
  CT_OK(t, buf_map(t->r->m, NULL, b, LOOM_READ, LOOM_AT_HOST, &p));
  return p;
}

static const double rounding = sizeof(loom_real) == sizeof(double) ? 1e-15 : 1e-6; /* m */

/* Followers are at the means of their nodes, and all rows are finite. */
static void check_places(ct_run *t)
{
  const loom_followers *const f = loom_scene_followers(&t->r->scene->pub);
  CT_ASSERT(f != NULL && f->count == VERTS - SHEET - NODES, "the box has no followers");
  const loom_real *const x = map_for_reading(t, t->r->st.x);
  const loom_real *const w = map_for_reading(t, f->weight);
  const int32_t *const id = (const int32_t *)(const void *)map_for_reading(t, f->id);
  const int32_t *const node = (const int32_t *)(const void *)map_for_reading(t, f->node);
  for (int i = 0; i < 3 * VERTS; ++i)
    CT_ASSERT(isfinite((double)x[i]), "vertex %d is not finite", i / 3);
  for (int32_t k = 0; k < f->count; ++k)
    for (int c = 0; c < 3; ++c) {
      double mean = 0.0;
      for (int a = 0; a < NODES; ++a)
        mean += (double)w[NODES * k + a] * (double)x[3 * node[NODES * k + a] + c];
      CT_ASSERT(fabs(mean - (double)x[3 * id[k] + c]) <= rounding,
                "vertex %d is %g m from the place where its nodes put it", (int)id[k],
                mean - (double)x[3 * id[k] + c]);
    }
  loom_buf *const all[] = {t->r->st.x, f->weight, f->id, f->node};
  for (size_t k = 0; k < LOOM_COUNT(all); ++k) CT_OK(t, buf_unmap(t->r->m, all[k]));
}

void ct_life_affine(const ct_plugin *p)
{
  ct_run t, one;
  ct_open_affine(&t, p, scene, "box", pairs, "");
  double *const before = ct_values(t.r, t.r->st.x, NULL);
  ct_open_affine(&one, p, scene, "box", pairs, "exec.threads=1");
  for (int k = 0; k < 4; ++k) {
    ct_steps(&t, k, 1);
    ct_steps(&one, k, 1);
    check_places(&t);
    ct_same_x(one.r, t.r, "2 threads");
  }
  double *const after = ct_values(t.r, t.r->st.x, NULL), moved = 0.0;
  for (int i = 3 * SHEET; i < 3 * (SHEET + NODES); ++i) moved += fabs(after[i] - before[i]);
  CT_ASSERT(moved > 1e-3, "the box has not moved");
  free(before), free(after);
  ct_close(&t);
  ct_close(&one);
}

/* ---- derivatives ---- */

/* The box with its bottom `gap` above the uneven sheet, in x, from `flat`. */
static void lower_box(const double *flat, double gap, double *x)
{
  double bottom = INFINITY;
  for (int i = SHEET + NODES; i < VERTS; ++i) bottom = fmin(bottom, flat[3 * i + 2]);
  for (int i = 0; i < VERTS; ++i) {
    const double slip = i < SHEET ? 2e-4 + 1e-4 * sin(7.7 * (double)i) : 0.0; /* C1 at slip 0 */
    x[3 * i] = flat[3 * i] + slip;
    x[3 * i + 1] = flat[3 * i + 1] - slip;
    x[3 * i + 2] = i < SHEET ? -0.1 * fabs(gap) * (1.0 + sin(12.9 * (double)i))
                             : flat[3 * i + 2] - bottom + gap;
  }
}

/* 1 if there is force */
static int update_contact_below_box(ct_run *t, const double *flat, double gap, double *x)
{
  uint32_t changed = 0;
  lower_box(flat, gap, x);
  ct_set_values(t->r, t->r->st.x, x);
  CT_OK(t, detect_all(t->r, &changed));
  double *const g = ct_alloc(3 * VERTS);
  (void)ct_energy_at(t, x, g);
  const int force = ct_norm(g, 3 * VERTS) > 0.0;
  free(g);
  return force;
}

static void check_affine_derivative(const ct_plugin *p, uint32_t form,
                                    void (*check)(ct_run *t, const double *x, int64_t n))
{
  static const double thickness = 0.001; /* m */
  ct_run t;
  double *const x = ct_alloc(3 * VERTS), gap = 0.012;
  ct_open_affine(&t, p, scene, "box", pairs, "");
  ct_need_forms(&t, form);
  if (!(t.r->contact[0].kinds & pairs)) ct_skip("it takes no pairs of triangles or edges");
  CT_ASSERT(buf_count(t.r->st.x) == 3 * (int64_t)VERTS, "the scene has %lld vertices",
            (long long)buf_count(t.r->st.x) / 3);
  ct_steps(&t, 0, 1);
  double *const flat = ct_values(t.r, t.r->st.x, NULL);
  while (gap > 1e-5 && !update_contact_below_box(&t, flat, thickness + gap, x)) gap *= 0.85;
  /* well within it; or, if no force acts before the layers touch, half into each other */
  gap = gap > 1e-5 ? thickness + 0.5 * gap : 0.5 * thickness;
  CT_ASSERT(update_contact_below_box(&t, flat, gap, x), "no contact force at a gap of %g m", gap);
  check(&t, x, 3 * VERTS);
  free(flat), free(x);
  ct_close(&t);
}

void ct_contact_affine_gradient(const ct_plugin *p)
{
  check_affine_derivative(p, LOOM_CONT_GRADIENT, ct_check_gradient);
}

void ct_contact_affine_hessian(const ct_plugin *p)
{
  check_affine_derivative(p, LOOM_CONT_HESSIAN, ct_check_hessian);
}

void ct_contact_affine_quad(const ct_plugin *p)
{
  check_affine_derivative(p, LOOM_CONT_QUAD, ct_check_quad);
}
