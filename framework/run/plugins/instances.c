/* instances.c - see instances.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/base/balls.h"
#include "run/plugins/call.h"
#include "run/plugins/stand_in.h"
#include "run/run_state.h"
#include "scene/base/exclusions.h"
#include "scene/objects/followers.h"
#include "scene/objects/friction.h"

enum { MODELS_LEN = 256 };

int instances_list(run *r, int order, instance *all[RUN_ALL_INSTANCES])
{
  int n = 0;
  if (order == LIST_SOLVER_FIRST) all[n++] = &r->solver;
  for (int i = 0; i < r->num_collision; ++i) all[n++] = &r->collision[i];
  for (int i = 0; i < r->num_contact; ++i) all[n++] = &r->contact[i].in;
  if (order == LIST_SOLVER_LAST) all[n++] = &r->solver;
  return n;
}

/* ---- from the config ---- */

static loom_status note_unread_key(void *user, const char *text)
{
  run_message(user, LOOM_LOG_INFO, text);
  return LOOM_OK;
}

static loom_status find_plugin(run *r, const cfg_section *s, int kind, instance *in)
{
  plugin_settings chosen = {NULL};
  char place[1200];
  uint32_t count;
  const loom_plugin *p = NULL;
  const loom_param *const key = settings_params("solver", &count);
  LOOM_TRY(cfg_bind(r->err, s, key, count, &chosen));
  const loom_status found = stand_in_look_up(r, r->err, kind, chosen.plugin, &p);
  if (found != LOOM_OK) {
    err_prefix(r->err, "%s", cfg_place(s, "plugin", place, sizeof place));
    return found;
  }
  in->r = r;
  in->plugin = p;
  snprintf(in->name, sizeof in->name, "%s", cfg_section_name(s));
  if (p->settings_size > 0) {
    in->settings = calloc(1, p->settings_size);
    if (in->settings == NULL) return err_set(r->err, LOOM_E_NOMEM, "%s: out of memory", in->name);
  }
  LOOM_TRY(swap_keys(r, s, kind));
  const cfg_notes notes = {note_unread_key, r};
  LOOM_TRY(cfg_bind(r->err, s, p->params, p->num_params, in->settings));
  return cfg_check_effects(r->err, s, p->params, p->num_params, in->settings, &notes);
}

/* Which collision plugins serve a contact instance: a list of names, empty for all. */
static loom_status pick_collision(const run *r, const cfg_section *s, const char *list,
                                  contact_inst *c)
{
  char text[512], place[1200], *save = NULL;
  if (list[0] == '\0') {
    for (int i = 0; i < r->num_collision; ++i) c->collision[c->num_collision++] = i;
    return LOOM_OK;
  }
  snprintf(text, sizeof text, "%s", list);
  for (char *w = strtok_r(text, " ,", &save); w != NULL; w = strtok_r(NULL, " ,", &save)) {
    const char *names[RUN_MAX_INSTANCES];
    int found = -1;
    for (int i = 0; i < r->num_collision; ++i) {
      names[i] = r->collision[i].name + strlen("collision.");
      if (strcmp(names[i], w) == 0) found = i;
    }
    if (found < 0) {
      const char *const near = err_nearest(w, names, r->num_collision);
      return err_set(r->err, LOOM_E_CONFIG, "%s: there is no section [collision.%s]%s%s%s",
                     cfg_place(s, "collision", place, sizeof place), w,
                     near ? "; nearest is '" : "", near ? near : "", near ? "'" : "");
    }
    if (c->num_collision < RUN_MAX_INSTANCES) c->collision[c->num_collision++] = found;
  }
  return LOOM_OK;
}

loom_status instances_find(run *r)
{
  static const uint32_t masks[] = {LOOM_PAIR_MASK_SELF, LOOM_PAIR_MASK_OBSTACLE,
                                   LOOM_PAIR_MASK_ALL};
  const cfg_section *s = cfg_find(r->c, "solver");
  char place[1200];
  uint32_t num_keys;
  const loom_param *const keys = settings_params("contact", &num_keys);
  if (s == NULL)
    return err_set(
        r->err, LOOM_E_CONFIG,
        "%s: there is no [solver] section; add one with plugin = NAME (loom list solver)",
        cfg_path(r->c));
  LOOM_TRY(find_plugin(r, s, LOOM_KIND_SOLVER, &r->solver));
  for (s = NULL; (s = cfg_next(r->c, "collision", s)) != NULL;) {
    if (r->num_collision == RUN_MAX_INSTANCES)
      return err_set(r->err, LOOM_E_CONFIG, "%s: more than %d collision plugins",
                     cfg_place(s, NULL, place, sizeof place), RUN_MAX_INSTANCES);
    LOOM_TRY(find_plugin(r, s, LOOM_KIND_COLLISION, &r->collision[r->num_collision]));
    r->num_collision++;
  }
  for (s = NULL; (s = cfg_next(r->c, "contact", s)) != NULL;) {
    if (r->num_contact == RUN_MAX_INSTANCES)
      return err_set(r->err, LOOM_E_CONFIG, "%s: more than %d contact plugins",
                     cfg_place(s, NULL, place, sizeof place), RUN_MAX_INSTANCES);
    contact_inst *const c = &r->contact[r->num_contact];
    contact_settings k;
    LOOM_TRY(find_plugin(r, s, LOOM_KIND_CONTACT, &c->in));
    r->num_contact++;
    LOOM_TRY(cfg_bind(r->err, s, keys, num_keys, &k));
    LOOM_TRY(pick_collision(r, s, k.collision, c));
    c->provides =
        fit_contact_provides(c->in.plugin) & ~fit_contact_lacks(c->in.plugin, c->in.settings);
    c->given = masks[k.pairs];
    c->kinds = c->given & c->in.plugin->ops.contact->pair_kinds;
  }
  return LOOM_OK;
}

/* ---- whether they go together ---- */

/* As which pairs the bodies can be met; returns their number. */
static int list_bodies(const run *r, fit_body *out)
{
  int n = 0;
  for (int i = 0; i < r->scene->pub.num_obstacles; ++i) {
    const loom_obstacle *const o = &r->scene->obstacles[i];
    uint32_t kinds = 0;
    if (o->has & LOOM_BODY_MESH) kinds |= LOOM_BIT(LOOM_PAIR_BVT) | LOOM_BIT(LOOM_PAIR_BEE);
    if (o->has & LOOM_BODY_DISTANCE) kinds |= LOOM_BIT(LOOM_PAIR_VO);
    out[n++] = (fit_body){o->name, kinds, !(o->has & LOOM_BODY_DISTANCE)};
  }
  return n;
}

static loom_status check_instances_fit(run *r, const instances_swap *w, registry *reg,
                                       loom_err *err)
{
  fit_contact f[RUN_MAX_INSTANCES];
  const loom_plugin *coll[RUN_MAX_INSTANCES][RUN_MAX_INSTANCES];
  for (int i = 0; i < r->num_contact; ++i) {
    contact_inst *const c = &r->contact[i];
    for (int j = 0; j < c->num_collision; ++j)
      coll[i][j] =
          c->collision[j] == w->collision ? w->finder : r->collision[c->collision[j]].plugin;
    const int other = i == w->contact;
    const loom_plugin *const model = other ? w->model : c->in.plugin;
    f[i] = (fit_contact){strchr(c->in.name, '.') ? strchr(c->in.name, '.') + 1 : c->in.name,
                         model,
                         c->given,
                         coll[i],
                         c->num_collision,
                         other ? w->lacks : fit_contact_lacks(c->in.plugin, c->in.settings)};
  }
  const fit_friction *frictions;
  const int num_frictions = friction_rows(r->scene, &frictions);
  fit_body *const bodies = calloc((size_t)r->scene->pub.num_obstacles + 1, sizeof *bodies);
  if (bodies == NULL) return err_set(err, LOOM_E_NOMEM, "out of memory");
  const loom_plugin *const solver = w->solver != NULL ? w->solver : r->solver.plugin;
  char models[MODELS_LEN];
  const fit_scene scene = {.elem_caps = elastic_caps(r->elements.el),
                           .models =
                               elem_replacements(r->scene->pub.blocks, r->scene->pub.num_blocks,
                                                 solver->ops.solver->needs & FIT_ELEMENT_NEEDS,
                                                 models, sizeof models),
                           .ball = balls_name(r),
                           .yarns = r->scene->pub.num_yarns > 0,
                           .bodies = bodies,
                           .num_bodies = list_bodies(r, bodies),
                           .frictions = frictions,
                           .num_frictions = num_frictions,
                           .affine = scene_following(r->scene),
                           .left_out = scene_left_out(r->scene, 1) != NULL};
  const loom_status s =
      fit_check(err, reg, solver, f, r->num_contact, &scene, r->exec.backend, r->set.exec.fallback);
  free(bodies);
  return s;
}

loom_status instances_fit(run *r)
{
  const instances_swap none = {.contact = -1, .collision = -1};
  return check_instances_fit(r, &none, r->reg, r->err);
}

loom_status instances_would_fit(run *r, const instances_swap *swap, loom_err *why)
{
  return check_instances_fit(r, swap, NULL, why);
}

/* ---- their life ---- */

static loom_status create_instance(run *r, instance *in, void (*attach)(instance *in))
{
  const int on_cuda = r->exec.backend == LOOM_CUDA && (in->plugin->backends & LOOM_ON_CUDA);
  in->exec = r->exec.backend == LOOM_CPU || on_cuda ? &r->exec : &r->exec_host;
  attach(in);
  return call_create(in);
}

loom_status instances_create(run *r, void (*attach)(instance *in))
{
  instance *all[RUN_ALL_INSTANCES];
  const int n = instances_list(r, LIST_SOLVER_LAST, all);
  for (int i = 0; i < n; ++i) LOOM_TRY(create_instance(r, all[i], attach));
  return LOOM_OK;
}

/* Time that a plugin takes is charged to its kind. */
static int phase_of(const instance *in)
{
  switch (in->plugin->kind) {
  case LOOM_KIND_SOLVER:
    return CLOCK_SOLVE;
  case LOOM_KIND_COLLISION:
    return CLOCK_DETECT;
  default:
    return CLOCK_CONTACT;
  }
}

loom_status instances_begin_step(run *r)
{
  instance *all[RUN_ALL_INSTANCES];
  const int n = instances_list(r, LIST_SOLVER_LAST, all);
  for (int i = 0; i < n; ++i) {
    clock_push(&r->clock, phase_of(all[i]));
    LOOM_TRY(call_begin_step(all[i]));
    clock_pop(&r->clock);
  }
  return LOOM_OK;
}

loom_status instances_reset(run *r)
{
  instance *all[RUN_ALL_INSTANCES];
  const int n = instances_list(r, LIST_SOLVER_LAST, all);
  for (int i = 0; i < n; ++i) LOOM_TRY(call_reset(all[i]));
  return LOOM_OK;
}

loom_status instances_end_step(run *r, int kind)
{
  instance *all[RUN_ALL_INSTANCES];
  const int n = instances_list(r, LIST_SOLVER_LAST, all);
  for (int i = 0; i < n; ++i) {
    if (all[i]->plugin->kind != kind) continue;
    clock_push(&r->clock, phase_of(all[i]));
    LOOM_TRY(call_end_step(all[i]));
    clock_pop(&r->clock);
  }
  return LOOM_OK;
}

loom_status instances_velocity(run *r)
{
  clock_push(&r->clock, CLOCK_CONTACT);
  for (int i = 0; i < r->num_contact; ++i) LOOM_TRY(call_velocity(&r->contact[i]));
  clock_pop(&r->clock);
  return LOOM_OK;
}

loom_status instances_checkpoint(run *r, int restore, instances_state_io io)
{
  instance *all[RUN_ALL_INSTANCES];
  const int n = instances_list(r, LIST_SOLVER_FIRST, all);
  for (int i = 0; i < n; ++i) LOOM_TRY(call_checkpoint(all[i], restore, io));
  return LOOM_OK;
}

loom_status instances_renew(run *r, void (*attach)(instance *in))
{
  instance *all[RUN_ALL_INSTANCES];
  const int n = instances_list(r, LIST_SOLVER_FIRST, all);
  for (int i = 0; i < n; ++i) {
    if (call_destroy(all[i]) > 0)
      return err_set(r->err, LOOM_E_INTERNAL, "%s could not be made anew", all[i]->name);
    mem_free_owned(r->m, all[i]->name);
    all[i]->self = NULL;
    all[i]->created = 0;
  }
  return instances_create(r, attach);
}

static int destroy_instance(instance *in)
{
  const int complaints = call_destroy(in);
  if (in->r != NULL && in->r->m != NULL) mem_free_owned(in->r->m, in->name);
  free(in->settings);
  return complaints;
}

int instances_destroy(run *r)
{
  int complaints = destroy_instance(&r->solver);
  for (int i = 0; i < RUN_MAX_INSTANCES; ++i) complaints += destroy_instance(&r->contact[i].in);
  for (int i = 0; i < RUN_MAX_INSTANCES; ++i) complaints += destroy_instance(&r->collision[i]);
  return complaints;
}
