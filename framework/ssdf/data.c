/* data.c - reads the plan of samples (regions, poses, grid) from a configuration. */
#include "ssdf/data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/words.h"
#include "loom/plugin.h"

enum { MAX_POSES = 20000 };

typedef struct settings {
  const char *rig;
  double edge;
  int64_t resolution;
  double near_bound, random_bound;
  double margin;
  int64_t extra, tests, test_points, seed;
} settings;

typedef struct region_settings {
  const char *dofs, *range, *poses;
  int64_t chance;
  double grow;
} region_settings;

static const loom_param params[] = {
    LOOM_PARAM_TEXT(settings, rig, "", "A procedural body: leg or lower_body."),
    LOOM_PARAM_REAL(settings, edge, 0, 0, 1, "m", "Sides of its triangles; 0: its own."),
    LOOM_PARAM_INT(
        settings, resolution, 46, 4, 400, "1",
        "The grid of a region has about the cube of this many nodes (the paper: 100,000)."),
    LOOM_PARAM_REAL(settings, near_bound, 0.03, 0, 1, "1",
                    "Nodes nearer to the surface than this share of the box's side are all taken."),
    LOOM_PARAM_REAL(settings, random_bound, 0.05, 0, 1, "1",
                    "Others are taken with the probability of this share over their distance."),
    LOOM_PARAM_REAL(settings, margin, 0.07, 1e-3, 10, "m",
                    "Distance from the region, in all poses, to the sides of its box."),
    LOOM_PARAM_INT(settings, extra, 4000, 0, 1000000, "1",
                   "Points of a pose off the grid, near the surface."),
    LOOM_PARAM_INT(settings, tests, 30, 0, 10000, "1", "Random poses for testing."),
    LOOM_PARAM_INT(settings, test_points, 2000, 1, 1000000, "1",
                   "Points of a pose for testing, within 20 mm of the skin."),
    LOOM_PARAM_INT(settings, seed, 1, 0, 1000000000, "1", "Seed of all random numbers.")};

static const loom_param region_params[] = {
    LOOM_PARAM_TEXT(region_settings, dofs, "",
                    "Angles of the region, as knee.flexion; empty: the angles of its joint."),
    LOOM_PARAM_TEXT(region_settings, range, "",
                    "LO HI of each angle (rad); empty: the joint's limits."),
    LOOM_PARAM_TEXT(region_settings, poses, "",
                    "Number of values of each angle; training uses all their combinations."),
    LOOM_PARAM_INT(
        region_settings, chance, 0, 0, 20000, "1",
        "Above 0: this many random poses instead of all combinations; for three angles and more, "
        "where a dense set of combinations is too large."),
    LOOM_PARAM_REAL(region_settings, grow, 0.2, 0, 10, "m",
                    "Distance by which the region reaches beyond the vertices that follow its "
                    "joint.")};

const loom_param *ssdf_params(const char *section, uint32_t *count)
{
  const int region = strcmp(section, "ssdf") != 0;
  *count = region ? LOOM_COUNT(region_params) : LOOM_COUNT(params);
  return region ? region_params : params;
}

/* The message in `err` with the place of a key. */
static loom_status prefix_plan_key(loom_err *err, const cfg_section *s, const char *key,
                                   loom_status st)
{
  char place[4200];
  if (st != LOOM_OK) err_prefix(err, "%s", cfg_place(s, key, place, sizeof place));
  return st;
}

static loom_status read_dofs(loom_err *err, const rig *body, const char *text, ssdf_region_spec *s)
{
  const rig_joint *const a = &body->joint[s->joint];
  words w;
  words_start(&w, text);
  for (int k = 0; text[0] == '\0' && k < a->num_dofs; ++k) s->dof[s->num_dofs++] = a->first_dof + k;
  while (words_next(&w)) {
    const int32_t dof = rig_find_dof(body, w.word);
    if (dof < 0) {
      char last[2 * RIG_NAME_LEN + 2];
      rig_dof_name(body, body->num_dofs - 1, last, sizeof last);
      return err_set(err, LOOM_E_CONFIG,
                     "\"%s\" is no angle of the body; angles are JOINT.ANGLE, as %s", w.word, last);
    }
    if (s->num_dofs == SSDF_MAX_DOFS)
      return err_set(err, LOOM_E_CONFIG, "more than %d angles", SSDF_MAX_DOFS);
    s->dof[s->num_dofs++] = dof;
  }
  if (s->num_dofs > 0) return LOOM_OK;
  return err_set(err, LOOM_E_CONFIG, "joint %s has no angle; set dofs to angles of other joints",
                 a->name);
}

static void get_dof_limits(const rig *body, int32_t dof, double range[2])
{
  for (int32_t j = 0; j < body->num_joints; ++j) {
    const int32_t k = dof - body->joint[j].first_dof;
    if (k >= 0 && k < body->joint[j].num_dofs)
      memcpy(range, body->joint[j].limit[k], 2 * sizeof *range);
  }
}

static loom_status read_ranges(loom_err *err, const rig *body, const char *text,
                               ssdf_plan_region *g)
{
  int count = 0;
  for (int32_t k = 0; k < g->spec.num_dofs; ++k) get_dof_limits(body, g->spec.dof[k], g->range[k]);
  if (text[0] == '\0') return LOOM_OK;
  LOOM_TRY(words_reals(err, text, "rad", 2 * SSDF_MAX_DOFS, &g->range[0][0], &count));
  if (count != 2 * g->spec.num_dofs)
    return err_set(err, LOOM_E_CONFIG, "%d numbers needed, LO HI for each of %d angles",
                   2 * g->spec.num_dofs, g->spec.num_dofs);
  for (int32_t k = 0; k < g->spec.num_dofs; ++k)
    if (!(g->range[k][0] < g->range[k][1]))
      return err_set(err, LOOM_E_CONFIG, "%g %g: the lower end must stand first", g->range[k][0],
                     g->range[k][1]);
  return LOOM_OK;
}

static loom_status read_counts(loom_err *err, const char *text, ssdf_plan_region *g)
{
  int count = 0;
  for (int32_t k = 0; k < g->spec.num_dofs; ++k) g->counts[k] = 5;
  if (text[0] != '\0') {
    LOOM_TRY(words_ints(err, text, SSDF_MAX_DOFS, g->counts, &count));
    if (count != g->spec.num_dofs)
      return err_set(err, LOOM_E_CONFIG, "%d whole numbers needed, one for each angle",
                     g->spec.num_dofs);
  }
  g->num_poses = 1;
  for (int32_t k = 0; k < g->spec.num_dofs; ++k) {
    if (g->counts[k] < 2 || g->counts[k] > MAX_POSES || g->num_poses * g->counts[k] > MAX_POSES)
      return err_set(err, LOOM_E_CONFIG, "2 values or more of each angle, at most %d poses in all",
                     MAX_POSES);
    g->num_poses *= g->counts[k];
  }
  return LOOM_OK;
}

static loom_status read_plan_region(loom_err *err, const cfg_section *s, const rig *body,
                                    ssdf_plan_region *g)
{
  region_settings set;
  const char *const name = cfg_section_suffix(s);
  const char *names[RIG_MAX_JOINTS];
  LOOM_TRY(cfg_bind(err, s, region_params, LOOM_COUNT(region_params), &set));
  g->spec.joint = rig_find_joint(body, name);
  if (g->spec.joint < 0) {
    for (int32_t j = 0; j < body->num_joints; ++j) names[j] = body->joint[j].name;
    char list[600];
    err_names(list, sizeof list, name, names, body->num_joints);
    return prefix_plan_key(
        err, s, NULL,
        err_set(err, LOOM_E_CONFIG, "the body has no joint \"%s\"; it has %s", name, list));
  }
  g->spec.grow = set.grow;
  g->by_chance = (int)set.chance;
  LOOM_TRY(prefix_plan_key(err, s, "dofs", read_dofs(err, body, set.dofs, &g->spec)));
  LOOM_TRY(prefix_plan_key(err, s, "range", read_ranges(err, body, set.range, g)));
  LOOM_TRY(prefix_plan_key(err, s, "poses", read_counts(err, set.poses, g)));
  if (g->by_chance && set.poses[0] != '\0')
    return prefix_plan_key(
        err, s, "chance",
        err_set(err, LOOM_E_CONFIG, "poses is given, too; leave one of them out"));
  return LOOM_OK;
}

static loom_status make_regions(loom_err *err, cfg *c, ssdf_plan *p)
{
  ssdf_region_spec specs[SSDF_MAX_REGIONS];
  for (const cfg_section *s = NULL; (s = cfg_next(c, "ssdf", s)) != NULL;) {
    if (cfg_section_suffix(s)[0] == '\0') continue;
    if (p->num == SSDF_MAX_REGIONS)
      return prefix_plan_key(err, s, NULL,
                             err_set(err, LOOM_E_CONFIG, "more than %d regions", SSDF_MAX_REGIONS));
    LOOM_TRY(read_plan_region(err, s, &p->body, &p->regions[p->num]));
    specs[p->num] = p->regions[p->num].spec;
    ++p->num;
  }
  if (p->num == 0)
    return err_set(err, LOOM_E_CONFIG,
                   "%s: no section [ssdf.JOINT]: one for each network is needed", cfg_path(c));
  for (int32_t k = 0; k < p->num; ++k) {
    ssdf_plan_region *const g = &p->regions[k];
    LOOM_TRY(ssdf_region_make(err, &p->body, specs, p->num, k, &g->region));
    LOOM_TRY(ssdf_poser_open(err, &g->region, &g->poser));
    ssdf_box_of(&g->poser, (const double(*)[2])g->range, g->counts, g->num_poses, p->margin,
                &g->box); /* of poses by chance: that of five values of every angle */
    if (g->by_chance) g->num_poses = g->by_chance;
  }
  return LOOM_OK;
}

void ssdf_plan_angles(const ssdf_plan *p, int64_t region, int64_t k, double *angles)
{
  const ssdf_plan_region *const g = &p->regions[region];
  const double(*const range)[2] = (const double(*)[2])g->range;
  if (k < g->num_poses && !g->by_chance)
    ssdf_product_pose(&g->spec, range, g->counts, k, angles);
  else
    ssdf_random_pose(&g->spec, range, p->how.seed, k, angles);
}

static loom_status open_plan(loom_err *err, cfg *c, ssdf_plan *p)
{
  settings set;
  const cfg_section *const s = cfg_need(c, "ssdf");
  LOOM_TRY(cfg_bind(err, s, params, LOOM_COUNT(params), &set));
  LOOM_TRY(prefix_plan_key(err, s, "rig", rig_make(err, set.rig, set.edge, &p->body)));
  p->body_name = set.rig;
  p->how = (ssdf_sampling){.resolution = set.resolution,
                           .near_bound = set.near_bound,
                           .random_bound = set.random_bound,
                           .extra = set.extra,
                           .test_points = set.test_points,
                           .seed = (uint64_t)set.seed};
  p->margin = set.margin;
  p->num_tests = set.tests;
  LOOM_TRY(mesh_alloc(err, SSDF_MAX_REGIONS, sizeof *p->regions, &p->regions));
  LOOM_TRY(make_regions(err, c, p));
  LOOM_TRY(cfg_finish(err, c));
  p->settings = cfg_resolved(c);
  return LOOM_OK;
}

loom_status ssdf_plan_open(loom_err *err, cfg *c, ssdf_plan *out)
{
  memset(out, 0, sizeof *out);
  const loom_status s = open_plan(err, c, out);
  if (s != LOOM_OK) ssdf_plan_close(out);
  return s;
}

void ssdf_plan_close(ssdf_plan *p)
{
  for (int32_t k = 0; k < p->num; ++k) {
    ssdf_poser_close(&p->regions[k].poser);
    ssdf_region_free(&p->regions[k].region);
  }
  free(p->regions);
  rig_free(&p->body);
  memset(p, 0, sizeof *p);
}
