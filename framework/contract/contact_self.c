/* contact_self.c - the same derivatives where cloth meets cloth and a mesh body: vertex-triangle
 * and edge-edge pairs with the closest points inside, on edges and at corners. */
#include <math.h>
#include <stdlib.h>

#include "contract/derive.h"

/* Two small sheets, the upper one turned and shifted so that it overhangs on two sides, above a
 * turned block.  All lie far apart and are moved together by the check. */
static const char *const scene = "[run]\n"
                                 "dt = 0.01\n"
                                 "steps = 1\n"
                                 "[stop]\n"
                                 "max_iters = 3\n"
                                 "[log]\n"
                                 "audit = off\n"
                                 "[exec]\n"
                                 "backend = cpu\n"
                                 "threads = 2\n"
                                 "[cloth.lower]\nmodel = arap+isometric\npattern = regular\n"
                                 "shape = grid\n"
                                 "size = 0.06 0.06\n"
                                 "resolution = 4 4\n"
                                 "density = 0.2\n"
                                 "membrane = 20\n"
                                 "k_b = 1e-5\n"
                                 "thickness = 0.001\n"
                                 "[cloth.upper]\nmodel = arap+isometric\npattern = regular\n"
                                 "shape = grid\n"
                                 "size = 0.06 0.06\n"
                                 "resolution = 4 4\n"
                                 "density = 0.2\n"
                                 "membrane = 20\n"
                                 "k_b = 1e-5\n"
                                 "thickness = 0.001\n"
                                 "transform = rotate 0 0 1 25 translate 0.013 0.009 0.03\n"
                                 "[body.block]\n"
                                 "shape = box\n"
                                 "size = 0.04 0.04 0.04\n"
                                 "mesh_size = 0.02\n"
                                 "sdf_resolution = 8\n"
                                 "position = -0.013 -0.011 -0.05\n"
                                 "rotation = 0 0 1 10\n"
                                 "friction = 0.3\n";
static const uint32_t self_kinds = LOOM_BIT(LOOM_PAIR_VT) | LOOM_BIT(LOOM_PAIR_EE) |
                                   LOOM_BIT(LOOM_PAIR_BVT) | LOOM_BIT(LOOM_PAIR_BEE);
static const double top = -0.03; /* m, of the block */
enum { VERTS = 32, UPPER = 16 };

/* m.  Models that keep a thickness have no value where layers are nearer than that, others begin
 * only there: sheets are apart by their thickness and `gap` (of a negative one by a share of it),
 * sheet and block by half a thickness and `gap`. */
static const double thickness = 0.001;

static void stack_sheets(const double *flat, double gap, double *x)
{
  const double share = gap < 0.0 ? 1.0 + gap / thickness : 1.0;
  const double low = 0.5 * thickness * share + fmax(gap, 0.0);
  const double high = thickness * share + fmax(gap, 0.0);
  for (int i = 0; i < VERTS; ++i) {
    const double uneven = 0.1 * fabs(gap) * sin(12.9 * (double)i);
    x[3 * i] = flat[3 * i] + 3e-4 + 1e-4 * sin(7.7 * (double)i); /* friction is C1 at slip 0 */
    x[3 * i + 1] = flat[3 * i + 1] - 2e-4 + 1e-4 * sin(5.3 * (double)i);
    x[3 * i + 2] = top + uneven + low + (i < UPPER ? 0.0 : high);
  }
}

/* Bring contact up to date there; 1 if there is force. */
static int update_contact_at_gap(ct_run *t, const double *flat, double gap, double *x)
{
  run *const r = t->r;
  uint32_t changed = 0;
  stack_sheets(flat, gap, x);
  ct_set_values(r, r->st.x, x);
  CT_OK(t, detect_all(r, &changed));
  double *const g = ct_alloc(3 * VERTS);
  (void)ct_energy_at(t, x, g);
  const int force = ct_norm(g, 3 * VERTS) > 0.0;
  free(g);
  return force;
}

/* The kinds of pairs that must be there are. */
static void see_kinds(ct_run *t)
{
  run *const r = t->r;
  const contact_inst *const c = &r->contact[0];
  uint32_t can = 0, seen = 0;
  for (int i = 0; i < c->num_collision; ++i)
    can |= r->collision[c->collision[i]].plugin->ops.collision->pair_kinds;
  int32_t *const kind = ct_copy(r, c->pairs.kind, c->pairs.count);
  for (int64_t j = 0; j < c->pairs.count; ++j) seen |= LOOM_BIT(kind[j]);
  free(kind);
  CT_ASSERT((seen & self_kinds) == (can & c->kinds & self_kinds),
            "pairs of kinds 0x%x of 0x%x are there", seen & self_kinds,
            can & c->kinds & self_kinds);
}

/* A run with all parts in contact, and its positions, [3 VERTS]. */
static double *open_run_in_contact(ct_run *t, const ct_plugin *p, uint32_t need)
{
  double *const x = ct_alloc(3 * VERTS);
  double gap = 0.012;
  ct_open_scene(t, p, scene, "'upper'", self_kinds);
  ct_need_forms(t, need);
  if (!(t->r->contact[0].kinds & self_kinds)) ct_skip("it takes no pairs of triangles or edges");
  CT_ASSERT(buf_count(t->r->st.x) == 3 * (int64_t)VERTS, "the scene has %lld vertices",
            (long long)buf_count(t->r->st.x) / 3);
  ct_steps(t, 0, 1);
  double *const flat = ct_values(t->r, t->r->st.x, NULL);
  while (gap > 1e-5 && !update_contact_at_gap(t, flat, gap, x)) gap *= 0.85;
  /* well within it; or, if no force acts before the layers touch, half into each other */
  gap = gap > 1e-5 ? 0.5 * gap : -0.5 * thickness;
  CT_ASSERT(update_contact_at_gap(t, flat, gap, x), "no contact force at a gap of %g m", gap);
  see_kinds(t);
  free(flat);
  return x;
}

static void check_self_derivative(const ct_plugin *p, uint32_t form,
                                  void (*check)(ct_run *t, const double *x, int64_t n))
{
  ct_run t;
  double *const x = open_run_in_contact(&t, p, form);
  check(&t, x, 3 * VERTS);
  free(x);
  ct_close(&t);
}

void ct_contact_self_gradient(const ct_plugin *p)
{
  check_self_derivative(p, LOOM_CONT_GRADIENT, ct_check_gradient);
}

void ct_contact_self_hessian(const ct_plugin *p)
{
  check_self_derivative(p, LOOM_CONT_HESSIAN, ct_check_hessian);
}

void ct_contact_self_quad(const ct_plugin *p)
{
  check_self_derivative(p, LOOM_CONT_QUAD, ct_check_quad);
}
