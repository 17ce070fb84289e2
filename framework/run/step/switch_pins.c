/* switch_pins.c - a step before which pins begin to hold or are released.
 *
 * Plugins and the core keep matrices, colours and lists that are made of `fixed`, which is constant
 * for them.  So the instances are made anew, as a run that is resumed makes them: each hands over
 * its state, ends, begins in the scene with the new `fixed`, and takes its state back. */
#include <stdlib.h>
#include <string.h>

#include "run/run_state.h"
#include "run/services/host.h"
#include "run/step/step.h"

typedef struct kept_state { /* one buffer that a plugin handed over */
  char owner[64], name[64];
  int type;
  int64_t count;
  void *data;
} kept_state;

typedef struct kept_states {
  kept_state *all; /* [num] */
  int num;
} kept_states;

/* state_io() has no argument of its own. */
static loom_status keep_plugin_state(run *r, const char *owner, const char *name, loom_buf *b)
{
  kept_states *const k = r->calls.kept;
  void *data;
  kept_state *const more = realloc(k->all, ((size_t)k->num + 1) * sizeof *more);
  if (more == NULL) return err_set(r->err, LOOM_E_NOMEM, "no memory for the states of plugins");
  k->all = more;
  kept_state *const s = &k->all[k->num];
  const size_t size = (size_t)buf_count(b) * buf_type_size(buf_type(b));
  *s = (kept_state){.type = buf_type(b), .count = buf_count(b), .data = malloc(size + 1)};
  if (s->data == NULL) return err_set(r->err, LOOM_E_NOMEM, "no memory for the states of plugins");
  ++k->num;
  if (strlen(owner) >= sizeof s->owner || strlen(name) >= sizeof s->name)
    return err_set(r->err, LOOM_E_ARG, "state_io(): the name %s/%s is too long", owner, name);
  strcpy(s->owner, owner);
  strcpy(s->name, name);
  LOOM_TRY(buf_map(r->m, NULL, b, LOOM_READ, LOOM_AT_HOST, &data));
  memcpy(s->data, data, size);
  return buf_unmap(r->m, b);
}

static loom_status return_plugin_state(run *r, const char *owner, const char *name, loom_buf *b)
{
  const kept_states *const k = r->calls.kept;
  for (int i = 0; i < k->num; ++i) {
    const kept_state *const s = &k->all[i];
    void *data;
    if (strcmp(s->owner, owner) != 0 || strcmp(s->name, name) != 0 || s->type != buf_type(b))
      continue;
    LOOM_TRY(buf_resize(r->m, b, s->count));
    LOOM_TRY(buf_map(r->m, NULL, b, LOOM_WRITE, LOOM_AT_HOST, &data));
    memcpy(data, s->data, (size_t)s->count * buf_type_size(s->type));
    return buf_unmap(r->m, b);
  }
  return err_set(r->err, LOOM_E_INTERNAL, "state_io(): %s asks for %s, which it did not hand over",
                 owner, name);
}

/* The core's own matrices and sums that are made of `fixed`, and of the stiffness of pins. */
static loom_status forget_fixed(run *r)
{
  problem_forget(r);
  r->st.h = r->set.run.dt / (double)r->set.run.substeps; /* parts of a step may have left another */
  problem_pose(r);
  LOOM_TRY(error_forget(r));
  return state_sum_masses(r);
}

loom_status switch_pins_open(run *r)
{
  int changed;
  if (!scene_pins_switch(r->scene)) return LOOM_OK;
  LOOM_TRY(scene_hold(r->scene, -1.0, &changed));
  return changed ? forget_fixed(r) : LOOM_OK;
}

loom_status switch_pins_start(run *r)
{
  int changed;
  if (!scene_pins_switch(r->scene)) return LOOM_OK;
  LOOM_TRY(scene_hold(r->scene, 0.0, &changed));
  return changed ? forget_fixed(r) : LOOM_OK;
}

static loom_status renew_instances(run *r)
{
  kept_states k = {0};
  r->calls.kept = &k;
  loom_status s = instances_checkpoint(r, 0, keep_plugin_state);
  if (s == LOOM_OK) s = forget_fixed(r);
  if (s == LOOM_OK) s = instances_renew(r, host_attach);
  if (s == LOOM_OK) s = instances_checkpoint(r, 1, return_plugin_state);
  r->calls.kept = NULL;
  for (int i = 0; i < k.num; ++i) free(k.all[i].data);
  free(k.all);
  return s;
}

loom_status switch_pins_step(run *r, int64_t index)
{
  const double dt = r->set.run.dt / (double)r->set.run.substeps;
  int changed;
  if (!scene_pins_switch(r->scene)) return LOOM_OK;
  LOOM_TRY(scene_hold(r->scene, ((double)index + 0.5) * dt, &changed));
  return changed ? renew_instances(r) : LOOM_OK;
}
