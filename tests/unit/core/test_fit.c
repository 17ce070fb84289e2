/* core/fit.c: which plugins go together, and how a refusal reads. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fit.h"

/* Descriptors with flags only: each rule needs a plugin that breaks it and no other rule. */
#define ALL_BACKENDS (LOOM_ON_CPU | LOOM_ON_CUDA)
#define SOLVER(n, need, be)                                                                       \
  static const loom_solver_ops n##_ops = {.struct_size = sizeof(loom_solver_ops), .needs = need}; \
  static const loom_plugin n = {LOOM_PLUGIN_HEAD(LOOM_KIND_SOLVER, be), .name = #n,               \
                                .ops.solver = &n##_ops};
#define CONTACT(n, prov, need, kinds)                                                          \
  static const loom_contact_ops n##_ops = {.struct_size = sizeof(loom_contact_ops),            \
                                           .provides = prov,                                   \
                                           .needs = need,                                      \
                                           .pair_kinds = kinds};                               \
  static const loom_plugin n = {LOOM_PLUGIN_HEAD(LOOM_KIND_CONTACT, ALL_BACKENDS), .name = #n, \
                                .ops.contact = &n##_ops};
#define COLLISION(n, prov, kinds)                                                                \
  static const loom_collision_ops n##_ops = {                                                    \
      .struct_size = sizeof(loom_collision_ops), .provides = prov, .pair_kinds = kinds};         \
  static const loom_plugin n = {LOOM_PLUGIN_HEAD(LOOM_KIND_COLLISION, ALL_BACKENDS), .name = #n, \
                                .ops.collision = &n##_ops};

#define EGH  (LOOM_CONT_ENERGY | LOOM_CONT_GRADIENT | LOOM_CONT_HESSIAN)
#define ISO  (LOOM_CONT_QUAD | LOOM_CONT_QUAD_ISO)
#define VTEE (LOOM_BIT(LOOM_PAIR_VT) | LOOM_BIT(LOOM_PAIR_EE))
#define STEP (LOOM_COLL_STEP_GLOBAL | LOOM_COLL_STEP_VERTEX)

SOLVER(ndb_pd, LOOM_NEED_ELEM_PROJECT | LOOM_NEED_CONTACT_QUAD | LOOM_NEED_CONTACT_ISO,
       ALL_BACKENDS)
SOLVER(pd_bfgs,
       LOOM_NEED_ELEM_PROJECT | LOOM_NEED_CONTACT_GRADIENT | LOOM_NEED_CONTACT_HESSIAN |
           LOOM_WANT_CONTACT_FROZEN,
       ALL_BACKENDS)
SOLVER(cama_pcg,
       LOOM_NEED_ELEM_GRADIENT | LOOM_NEED_ELEM_HESSIAN | LOOM_NEED_CONTACT_GRADIENT |
           LOOM_NEED_CONTACT_HESSIAN | LOOM_USES_GRADIENT,
       ALL_BACKENDS)
SOLVER(newton,
       LOOM_NEED_ELEM_ENERGY | LOOM_NEED_ELEM_GRADIENT | LOOM_NEED_ELEM_HESSIAN |
           LOOM_NEED_CONTACT_ENERGY | LOOM_NEED_CONTACT_GRADIENT | LOOM_NEED_CONTACT_HESSIAN |
           LOOM_USES_GRADIENT | LOOM_NEEDS_LINE_SEARCH,
       LOOM_ON_CPU)
SOLVER(yarn_explicit, LOOM_NEED_ELEM_GRADIENT | LOOM_NEED_CONTACT_GRADIENT | LOOM_USES_GRADIENT,
       ALL_BACKENDS)
SOLVER(cuda_only, LOOM_NEED_ELEM_GRADIENT, LOOM_ON_CUDA)
SOLVER(small_only, LOOM_NEED_ELEM_SMALL, ALL_BACKENDS)
SOLVER(frozen_only, LOOM_WANT_CONTACT_FROZEN, ALL_BACKENDS)

CONTACT(ndb, ISO | LOOM_CONT_STATEFUL, LOOM_COLL_CCD | LOOM_COLL_STEP_GLOBAL, LOOM_PAIR_MASK_ALL)
CONTACT(ipc_barrier, EGH | LOOM_CONT_FRICTION | LOOM_CONT_RESOLVE,
        LOOM_COLL_PROXIMITY | LOOM_COLL_STEP_GLOBAL, LOOM_PAIR_MASK_ALL)
CONTACT(penalty, ISO | LOOM_CONT_FRICTION, LOOM_COLL_PROXIMITY,
        LOOM_PAIR_MASK_PLAIN | LOOM_BIT(LOOM_PAIR_YY))
CONTACT(acl, EGH | LOOM_CONT_STATEFUL, LOOM_COLL_PROXIMITY | LOOM_COLL_EXCLUDE,
        LOOM_BIT(LOOM_PAIR_YY))
CONTACT(project, LOOM_CONT_RESOLVE | LOOM_CONT_VELOCITY, LOOM_COLL_OVERLAP, LOOM_BIT(LOOM_PAIR_VO))
CONTACT(force_only, LOOM_CONT_GRADIENT, 0, LOOM_PAIR_MASK_ALL)
CONTACT(quad_only, LOOM_CONT_QUAD, 0, LOOM_PAIR_MASK_ALL)
CONTACT(hess_only, LOOM_CONT_HESSIAN, 0, LOOM_PAIR_MASK_ALL)
CONTACT(wants_all, EGH, 0x7f, LOOM_PAIR_MASK_ALL)
CONTACT(nothing, 0, 0, 0)

COLLISION(lbvh_ccd, LOOM_COLL_PROXIMITY | LOOM_COLL_CCD | LOOM_COLL_OVERLAP | STEP, VTEE)
COLLISION(spatial_hash, LOOM_COLL_PROXIMITY | LOOM_COLL_OVERLAP, VTEE)
COLLISION(yarn_grid, LOOM_COLL_PROXIMITY | LOOM_COLL_EXCLUDE, LOOM_BIT(LOOM_PAIR_YY))
COLLISION(sdf, LOOM_COLL_PROXIMITY | LOOM_COLL_CCD | LOOM_COLL_OVERLAP | STEP,
          LOOM_BIT(LOOM_PAIR_VO))
COLLISION(ssdf, LOOM_COLL_PROXIMITY | LOOM_COLL_OVERLAP, LOOM_BIT(LOOM_PAIR_VO))

CONTACT(reacting, LOOM_CONT_RESOLVE | LOOM_CONT_VELOCITY | LOOM_CONT_REACTION, LOOM_COLL_OVERLAP,
        LOOM_PAIR_MASK_OBSTACLE)
static const loom_plugin *const one_ssdf[] = {&ssdf}, *const one_bvh[] = {&lbvh_ccd};

enum { ELEM_ALL = 31 };

/* The scene in short: capabilities of its elements, and a body of a mass or NULL. */
#define SCENE(caps, heavy) (&(const fit_scene){.elem_caps = (caps), .ball = (heavy)})

static loom_status check_single_fit(loom_err *err, const loom_plugin *s, const loom_plugin *c,
                                    const loom_plugin *l)
{
  const fit_contact f = {"self", c, LOOM_PAIR_MASK_ALL, &l, l != NULL, 0};
  return fit_check(err, NULL, s, &f, 1, SCENE(ELEM_ALL, NULL), LOOM_CPU, 0);
}

Test(fit, post_only_and_absent_contact_fit_every_solver)
{
  static const loom_plugin *const S[] = {&ndb_pd, &pd_bfgs,       &cama_pcg,
                                         &newton, &yarn_explicit, &frozen_only};
  for (size_t s = 0; s < LOOM_COUNT(S); ++s) {
    loom_err err = {0};
    cr_assert_eq(check_single_fit(&err, S[s], &project, &ssdf), LOOM_OK, "%s", err.text);
    cr_assert_eq(check_single_fit(&err, S[s], &nothing, NULL), LOOM_OK, "%s", err.text);
    cr_assert_eq(fit_check(&err, NULL, S[s], NULL, 0, SCENE(ELEM_ALL, NULL), LOOM_CPU, 0), LOOM_OK);
  }
}

Test(fit, quadratic_form_implies_the_others)
{
  loom_err err = {0};
  cr_assert_eq(fit_contact_provides(&quad_only) & EGH, EGH);
  cr_assert_eq(fit_contact_provides(&force_only), LOOM_CONT_GRADIENT);
  cr_assert_eq(check_single_fit(&err, &newton, &quad_only, NULL), LOOM_OK, "%s", err.text);
  cr_assert_eq(check_single_fit(&err, &ndb_pd, &quad_only, NULL), LOOM_E_CONFIG);
  cr_assert_str_eq(err.text, "solver 'ndb_pd' needs isotropic contact terms, but [contact.self] "
                             "'quad_only' provides contact energy, contact gradient, contact "
                             "Hessian, quadratic contact form");
}

/* With a body that moves by itself: a model that touches bodies must report its impulses on them; a
 * model that touches none need not. */
Test(fit, balls_need_reactions)
{
  const fit_contact quiet = {"bodies", &project, LOOM_PAIR_MASK_ALL, one_ssdf, 1, 0};
  const fit_contact self = {"bodies", &ipc_barrier, LOOM_PAIR_MASK_SELF, one_bvh, 1, 0};
  const fit_contact all = {"bodies", &ipc_barrier, LOOM_PAIR_MASK_ALL, one_bvh, 1, 0};
  const fit_contact tells = {"bodies", &reacting, LOOM_PAIR_MASK_ALL, one_ssdf, 1, 0};
  loom_err err = {0};
  cr_expect_eq(fit_check(&err, NULL, &newton, &quiet, 1, SCENE(ELEM_ALL, NULL), LOOM_CPU, 0),
               LOOM_OK);
  cr_expect_eq(fit_check(&err, NULL, &newton, &tells, 1, SCENE(ELEM_ALL, "ball"), LOOM_CPU, 0),
               LOOM_OK, "%s", err.text);
  cr_expect_eq(fit_check(&err, NULL, &newton, &self, 1, SCENE(ELEM_ALL, "ball"), LOOM_CPU, 0),
               LOOM_OK, "%s", err.text);
  cr_expect_eq(fit_check(&err, NULL, &newton, &quiet, 1, SCENE(ELEM_ALL, "ball"), LOOM_CPU, 0),
               LOOM_E_CONFIG);
  cr_expect(strstr(err.text, "[body.ball] has a mass, but [contact.bodies] 'project'") != NULL,
            "%s", err.text);
  cr_expect_eq(fit_check(&err, NULL, &newton, &all, 1, SCENE(ELEM_ALL, "ball"), LOOM_CPU, 0),
               LOOM_E_CONFIG);
}

static void expect_refusal_of_fit(const loom_plugin *s, const fit_contact *f, int num,
                                  uint32_t caps, int backend, int fallback, const char *says)
{
  loom_err err = {0};
  cr_assert_eq(fit_check(&err, NULL, s, f, num, SCENE(caps, NULL), backend, fallback),
               LOOM_E_CONFIG, "%s", says);
  cr_assert(strstr(err.text, says) != NULL, "expected: %s\ngot: %s", says, err.text);
}

Test(fit, what_elements_lack)
{
  static const struct {
    uint32_t lacks;
    const char *says;
  } rows[] = {
      {LOOM_ELEM_ENERGY, "solver 'newton' needs element energy"},
      {LOOM_ELEM_GRADIENT, "solver 'newton' needs element gradient"},
      {LOOM_ELEM_HESSIAN, "solver 'newton' needs element Hessian"},
  };
  for (size_t i = 0; i < LOOM_COUNT(rows); ++i)
    expect_refusal_of_fit(&newton, NULL, 0, ELEM_ALL & ~rows[i].lacks, LOOM_CPU, 0, rows[i].says);
  expect_refusal_of_fit(
      &pd_bfgs, NULL, 0, ELEM_ALL & ~(uint32_t)LOOM_ELEM_PROJECT, LOOM_CPU, 0,
      "solver 'pd_bfgs' needs element projection, but the elements of the scene offer "
      "together: element energy, element gradient, element Hessian");
  expect_refusal_of_fit(&pd_bfgs, NULL, 0, 0, LOOM_CPU, 0, "offer together: nothing");
}

Test(fit, what_contact_lacks)
{
  const struct {
    const loom_plugin *s, *c;
    const char *says;
  } rows[] = {
      {&newton, &force_only, "needs contact energy, contact Hessian, but [contact.self]"},
      {&newton, &hess_only, "needs contact energy, contact gradient, but"},
      {&cama_pcg, &force_only, "solver 'cama_pcg' needs contact Hessian, but"},
      {&yarn_explicit, &hess_only,
       "needs contact gradient, but [contact.self] 'hess_only' "
       "provides contact Hessian"},
      {&ndb_pd, &ipc_barrier, "needs quadratic contact form, isotropic contact terms, but"},
      {&frozen_only, &force_only, "needs contact Hessian (to linearise contact), but"},
      {&frozen_only, &hess_only, "needs contact gradient (to linearise contact), but"},
  };
  for (size_t i = 0; i < LOOM_COUNT(rows); ++i) {
    const fit_contact f = {"self", rows[i].c, LOOM_PAIR_MASK_ALL, NULL, 0, 0};
    expect_refusal_of_fit(rows[i].s, &f, 1, ELEM_ALL, LOOM_CPU, 0, rows[i].says);
  }
}

/* A capability that settings take away is missing like any other, and is no longer listed. */
static uint32_t no_energy(const void *settings)
{
  return *(const int *)settings ? LOOM_CONT_ENERGY : 0;
}

Test(fit, what_settings_take_away)
{
  loom_contact_ops ops = *penalty.ops.contact;
  loom_plugin c = penalty;
  c.ops.contact = &ops;
  ops.lacks = no_energy;
  const int on = 1, off = 0;
  fit_contact f = {"self", &c, LOOM_PAIR_MASK_ALL, NULL, 0, fit_contact_lacks(&c, &on)};
  cr_assert_eq(f.lacks, LOOM_CONT_ENERGY);
  expect_refusal_of_fit(
      &newton, &f, 1, ELEM_ALL, LOOM_CPU, 0,
      "needs contact energy, but [contact.self] 'penalty' provides contact gradient");
  cr_assert_eq(fit_contact_lacks(&c, &off), 0);
}

Test(fit, what_collision_lacks)
{
  static const char *const names[] = {"proximity queries",       "continuous collision queries",
                                      "overlap queries",         "global step bound",
                                      "step bound per vertex",   "queries of marked vertices",
                                      "exclusion of given pairs"};
  for (int bit = 0; bit < 7; ++bit) {
    const loom_collision_ops ops = {.struct_size = sizeof ops,
                                    .provides = 0x7fu & ~LOOM_BIT(bit),
                                    .pair_kinds = LOOM_PAIR_MASK_ALL};
    const loom_plugin most = {LOOM_PLUGIN_HEAD(LOOM_KIND_COLLISION, ALL_BACKENDS), .name = "most",
                              .ops.collision = &ops};
    const loom_plugin *const list[] = {&most};
    const fit_contact f = {"self", &wants_all, LOOM_PAIR_MASK_ALL, list, 1, 0};
    char says[128];
    snprintf(says, sizeof says,
             "[contact.self] 'wants_all' needs %s, but collision 'most' provides", names[bit]);
    expect_refusal_of_fit(&newton, &f, 1, ELEM_ALL, LOOM_CPU, 0, says);
  }
}

Test(fit, pairs)
{
  const loom_plugin *const hash[] = {&spatial_hash}, *const two[] = {&lbvh_ccd, &ssdf};
  const fit_contact none = {"a", &penalty, LOOM_PAIR_MASK_ALL, NULL, 0, 0};
  const fit_contact wrong = {"a", &penalty, LOOM_BIT(LOOM_PAIR_VO), hash, 1, 0};
  const fit_contact cannot = {"a", &acl, LOOM_BIT(LOOM_PAIR_VO), hash, 1, 0};
  const fit_contact self = {"a", &ndb, LOOM_PAIR_MASK_SELF, two, 2, 0};
  const fit_contact all = {"a", &ndb, LOOM_PAIR_MASK_ALL, two, 2, 0};
  loom_err err = {0};
  expect_refusal_of_fit(
      &newton, &none, 1, ELEM_ALL, LOOM_CPU, 0,
      "[contact.a] 'penalty' needs proximity queries, but there is no collision plugin");
  expect_refusal_of_fit(
      &newton, &wrong, 1, ELEM_ALL, LOOM_CPU, 0,
      "[contact.a] 'penalty' needs pairs vertex-obstacle, which no collision plugin finds");
  expect_refusal_of_fit(
      &newton, &cannot, 1, ELEM_ALL, LOOM_CPU, 0,
      "[contact.a] 'acl' handles none of its pairs (vertex-obstacle), only yarn-yarn");
  /* a collision plugin that finds other pairs is not asked, so it need not be able */
  cr_assert_eq(fit_check(&err, NULL, &newton, &self, 1, SCENE(ELEM_ALL, NULL), LOOM_CPU, 0),
               LOOM_OK, "%s", err.text);
  expect_refusal_of_fit(
      &newton, &all, 1, ELEM_ALL, LOOM_CPU, 0,
      "needs continuous collision queries, global step bound, but collision 'ssdf'");
}

Test(fit, backends)
{
  const loom_plugin *const hash[] = {&spatial_hash};
  const fit_contact f = {"a", &penalty, LOOM_PAIR_MASK_ALL, hash, 1, 0};
  loom_err err = {0};
  expect_refusal_of_fit(&newton, &f, 1, ELEM_ALL, LOOM_CUDA, 0,
                        "solver 'newton' is built for the CPU only; [exec] fallback = yes");
  cr_assert_eq(fit_check(&err, NULL, &newton, &f, 1, SCENE(ELEM_ALL, NULL), LOOM_CUDA, 1), LOOM_OK);
  expect_refusal_of_fit(&cuda_only, &f, 1, ELEM_ALL, LOOM_CPU, 1,
                        "solver 'cuda_only' is built for CUDA only; set [exec] backend = cuda");
  cr_assert_eq(fit_check(&err, NULL, &cama_pcg, &f, 1, SCENE(ELEM_ALL, NULL), LOOM_CUDA, 0),
               LOOM_OK);
}

Test(fit, all_misfits_at_once)
{
  const loom_plugin *const hash[] = {&spatial_hash};
  const fit_contact f[] = {{"a", &ipc_barrier, LOOM_PAIR_MASK_ALL, hash, 1, 0},
                           {"b", &acl, LOOM_PAIR_MASK_SELF, hash, 1, 0}};
  loom_err err = {0};
  cr_assert_eq(fit_check(&err, NULL, &ndb_pd, f, 2, SCENE(0, NULL), LOOM_CPU, 0), LOOM_E_CONFIG);
  cr_assert(strstr(err.text, "needs element projection") != NULL);
  cr_assert(strstr(err.text, "\nsolver 'ndb_pd' needs quadratic") != NULL);
  cr_assert(strstr(err.text, "\n[contact.a] 'ipc_barrier' needs global step bound") != NULL);
  cr_assert(strstr(err.text, "\n[contact.b] 'acl' needs pairs yarn-yarn") != NULL);
}

Test(fit, names)
{
  char buf[256], small[12];
  cr_assert_str_eq(fit_names(LOOM_KIND_SOLVER, ndb_pd_ops.needs, 0, buf, sizeof buf),
                   "element projection, quadratic contact form, isotropic contact terms");
  cr_assert_str_eq(fit_names(LOOM_KIND_CONTACT, penalty_ops.needs, 0, buf, sizeof buf),
                   "proximity queries");
  cr_assert_str_eq(fit_names(LOOM_KIND_CONTACT, EGH, 1, buf, sizeof buf),
                   "contact energy, contact gradient, contact Hessian");
  cr_assert_str_eq(fit_names(LOOM_KIND_COLLISION, LOOM_COLL_CCD, 1, buf, sizeof buf),
                   "continuous collision queries");
  cr_assert_str_empty(fit_names(LOOM_KIND_SOLVER, 7, 1, buf, sizeof buf));
  cr_assert_str_eq(fit_names(LOOM_KIND_CONTACT, EGH, 1, small, sizeof small), "contact ene");
}

/* With a registry: the fixture solver fx_good (element gradient) is offered instead. */
Test(fit, refusal_lists_what_would_work)
{
  loom_err err = {0};
  registry *r = NULL;
  unsetenv("LOOM_PLUGIN_PATH");
  char dir[1024];
  snprintf(dir, sizeof dir, "%s/good", getenv("LOOM_TEST_PLUGINS"));
  cr_assert_eq(registry_open(&err, dir, &r), LOOM_OK, "%s", err.text);
  const fit_contact f = {
      "self", &ipc_barrier, LOOM_PAIR_MASK_SELF, (const loom_plugin *const[]){&lbvh_ccd}, 1, 0};
  cr_assert_eq(fit_check(&err, r, &ndb_pd, &f, 1, SCENE(ELEM_ALL, NULL), LOOM_CPU, 0),
               LOOM_E_CONFIG);
  cr_assert(strstr(err.text, "; contact plugins that fit: fx_pair") != NULL, "%s", err.text);
  const char *const solvers = strstr(err.text, "; solver plugins that fit: ");
  cr_assert(solvers != NULL && strstr(solvers, "fx_good") != NULL, "%s", err.text);
  registry_close(r);
}

/* A body without a contact model is named, with the plugins that would find it. */
Test(fit, bodies_that_nothing_answers_for)
{
  static const fit_body mesh = {"ball", LOOM_BIT(LOOM_PAIR_BVT) | LOOM_BIT(LOOM_PAIR_BEE), 1};
  static const fit_body floor = {"floor", LOOM_BIT(LOOM_PAIR_VO), 0};
  const fit_body both[] = {mesh, floor};
  const fit_scene scene = {.elem_caps = ELEM_ALL, .bodies = both, .num_bodies = 2};
  const fit_scene only_floor = {.elem_caps = ELEM_ALL, .bodies = &floor, .num_bodies = 1};
  const fit_contact self = {"self", &penalty, LOOM_PAIR_MASK_ALL, one_bvh, 1, 0};
  const fit_contact bodies = {"bodies", &project, LOOM_PAIR_MASK_ALL, one_ssdf, 1, 0};
  const fit_contact none = {"bodies", &force_only, LOOM_PAIR_MASK_OBSTACLE, NULL, 0, 0};
  const fit_contact cloth = {"self", &force_only, LOOM_PAIR_MASK_SELF, NULL, 0, 0};
  loom_err err = {0};
  cr_expect_eq(fit_check(&err, NULL, &ndb_pd, &self, 1, &scene, LOOM_CPU, 0), LOOM_E_CONFIG);
  cr_expect(strstr(err.text,
                   "[body.ball] meets no contact: it can be met as vertex-triangle with a "
                   "body, edge-edge with a body, [contact.self] 'penalty' takes") != NULL,
            "%s", err.text);
  cr_expect(strstr(err.text, "\n[body.floor] meets no contact") != NULL, "%s", err.text);
  cr_expect(strstr(err.text, "[contact.NAME] plugin = none") != NULL, "%s", err.text);
  err = (loom_err){0};
  cr_expect_eq(fit_check(&err, NULL, &ndb_pd, &bodies, 1, &scene, LOOM_CPU, 0), LOOM_E_CONFIG);
  cr_expect(strstr(err.text, "[body.ball]") != NULL && strstr(err.text, "[body.floor]") == NULL,
            "%s", err.text);
  err = (loom_err){0};
  cr_expect_eq(fit_check(&err, NULL, &ndb_pd, NULL, 0, &only_floor, LOOM_CPU, 0), LOOM_E_CONFIG);
  cr_expect(strstr(err.text, "there is no [contact.NAME] section") != NULL, "%s", err.text);
  cr_expect_eq(fit_check(&err, NULL, &ndb_pd, &bodies, 1, &only_floor, LOOM_CPU, 0), LOOM_OK);
  /* a model without requests to collision plugins says so itself, but only for kinds that it takes
   */
  cr_expect_eq(fit_check(&err, NULL, &cama_pcg, &cloth, 1, &only_floor, LOOM_CPU, 0),
               LOOM_E_CONFIG);
  const fit_scene free_solver = {.elem_caps = ELEM_ALL, .bodies = both, .num_bodies = 2};
  cr_expect_eq(fit_check(&err, NULL, &cuda_only, &none, 1, &free_solver, LOOM_CUDA, 0), LOOM_OK,
               "%s", err.text);
}

/* With a registry, plugins that find the body are offered; plugins for yarns are not, without
 * yarns. */
Test(fit, proposals_suit_the_scene)
{
  static const loom_plugin *const one_hash[] = {&spatial_hash};
  loom_err err = {0};
  registry *r = NULL;
  cr_assert_eq(registry_open(&err, "", &r), LOOM_OK, "%s", err.text);
  const fit_body ball = {"ball", LOOM_BIT(LOOM_PAIR_BVT) | LOOM_BIT(LOOM_PAIR_BEE), 1};
  const fit_scene scene = {.elem_caps = ELEM_ALL, .bodies = &ball, .num_bodies = 1};
  const fit_contact self = {"all", &penalty, LOOM_PAIR_MASK_ALL, one_hash, 1, 0};
  cr_assert_eq(fit_check(&err, r, &ndb_pd, &self, 1, &scene, LOOM_CPU, 0), LOOM_E_CONFIG);
  cr_expect(strstr(err.text, "plugin = sdf") != NULL, "%s", err.text);
  cr_expect(strstr(err.text, "sdf_resolution") != NULL, "%s", err.text);
  /* a solver that lacks something: the list of others */
  const fit_contact f = {"self", &force_only, LOOM_PAIR_MASK_SELF, one_hash, 1, 0};
  for (int yarns = 0; yarns < 2; ++yarns) {
    const fit_scene s = {.elem_caps = ELEM_ALL, .yarns = yarns};
    err = (loom_err){0};
    cr_assert_eq(fit_check(&err, r, &newton, &f, 1, &s, LOOM_CPU, 0), LOOM_E_CONFIG);
    const char *const list = strstr(err.text, "solver plugins that fit: ");
    cr_assert(list != NULL, "%s", err.text);
    cr_expect_eq(strstr(list, "yarn_explicit") != NULL, yarns, "%s", err.text);
  }
  registry_close(r);
}

/* A scene with pairs to leave out takes no detection of surfaces that would find them. */
COLLISION(leaving,
          LOOM_COLL_PROXIMITY | LOOM_COLL_CCD | LOOM_COLL_OVERLAP | STEP | LOOM_COLL_LEAVES_OUT,
          VTEE)
COLLISION(silent, 0, LOOM_PAIR_MASK_ALL)
Test(fit, pairs_that_are_left_out)
{
  static const struct {
    const loom_plugin *collision, *contact;
    loom_status expected;
  } cases[] = {{&lbvh_ccd, &ipc_barrier, LOOM_E_CONFIG},
               {&leaving, &ipc_barrier, LOOM_OK},
               {&sdf, &ipc_barrier, LOOM_OK}, /* signed distances */
               {&yarn_grid, &acl, LOOM_OK},
               {&silent, &nothing, LOOM_OK}};
  for (size_t i = 0; i < LOOM_COUNT(cases); ++i)
    for (int left_out = 0; left_out < 2; ++left_out) {
      const fit_contact f = {"self", cases[i].contact, LOOM_PAIR_MASK_ALL, &cases[i].collision, 1,
                             0};
      const fit_scene scene = {.elem_caps = ELEM_ALL, .left_out = left_out};
      loom_err err = {0};
      cr_expect_eq(fit_check(&err, NULL, &cama_pcg, &f, 1, &scene, LOOM_CPU, 0),
                   left_out ? cases[i].expected : LOOM_OK, "case %d: %s", (int)i, err.text);
      if (left_out && cases[i].expected != LOOM_OK)
        cr_expect(strstr(err.text, "collision 'lbvh_ccd', which serves [contact.self], does not "
                                   "leave them out") != NULL,
                  "%s", err.text);
    }
}

/* Patches of 12 vertices: refused, with the word for the limit. */
Test(fit, elements_of_many_vertices)
{
  loom_err err;
  const fit_scene patches = {.elem_caps = ELEM_ALL - LOOM_ELEM_SMALL},
                  small = {.elem_caps = ELEM_ALL};
  cr_expect_eq(fit_check(&err, NULL, &small_only, NULL, 0, &small, LOOM_CPU, 0), LOOM_OK);
  cr_expect_neq(fit_check(&err, NULL, &small_only, NULL, 0, &patches, LOOM_CPU, 0), LOOM_OK);
  cr_expect(strstr(err.text, "needs elements of 4 vertices at most") != NULL, "%s", err.text);
}
