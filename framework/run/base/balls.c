/* balls.c - bodies with a mass in a run: checks of other settings, their step, their checkpoint. */
#include <stdio.h>
#include <stdlib.h>

#include "run/base/balls.h"
#include "run/run_state.h"

const char *balls_name(const run *r)
{
  const rigid *const b = r->scene->balls;
  return b != NULL ? r->scene->obstacles[b->ball[0].body].name : NULL;
}

loom_status balls_open(run *r)
{
  if (r->scene->balls == NULL) return LOOM_OK;
  if (filter_bounded(r))
    return err_set(
        r->err, LOOM_E_CONFIG,
        "%s: [body.%s] has a mass, but a step bound is in force, which may hold bodies "
        "back; take an affine body ([solid.NAME] model = affine), leave the mass out, or set "
        "[filter] bound = none",
        cfg_path(r->c), balls_name(r));
  if (r->opt->foreign != NULL)
    return err_set(
        r->err, LOOM_E_CONFIG,
        "%s: [body.%s] has a mass, and frames hold no motion of bodies; give it a motion "
        "in place of the mass",
        cfg_path(r->c), balls_name(r));
  if (r->set.run.replay[0] != '\0')
    return err_set(r->err, LOOM_E_CONFIG,
                   "%s: [body.%s] has a mass, and a replay does not know the velocities of the "
                   "reference's bodies; leave the mass or [run] replay out",
                   cfg_path(r->c), balls_name(r));
  return LOOM_OK;
}

loom_status balls_begin(run *r)
{
  if (r->scene->balls == NULL) return LOOM_OK;
  LOOM_TRY(scene_balls_step(r->scene, r->err, r->st.h));
  return bodies_clear_pushes(r->bodies);
}

loom_status balls_commit(run *r)
{
  rigid *const b = r->scene->balls;
  int32_t light = -1;
  void *rows;
  if (b == NULL) return LOOM_OK;
  LOOM_TRY(buf_map(r->m, NULL, bodies_pushed(r->bodies), LOOM_READ, LOOM_AT_HOST, &rows));
  rigid_push(b, rows, &light);
  if (light >= 0) {
    char text[512];
    const rigid_ball *const ball = &b->ball[light];
    snprintf(
        text, sizeof text,
        "step %lld: the vertices that touch [body.%s] weigh %.3g kg, more than 2/7 of its %.3g "
        "kg: balls and cloth may swing ever more against each other; raise its mass",
        (long long)r->st.index, r->scene->obstacles[ball->body].name,
        (double)((const loom_real *)rows)[BODY_IMPULSE * ball->body + 6], ball->mass);
    run_message(r, LOOM_LOG_WARN, text);
  }
  return buf_unmap(r->m, bodies_pushed(r->bodies));
}

/* ---- a step that begins again ---- */

loom_status balls_keep(run *r)
{
  const rigid *const b = r->scene->balls;
  balls_kept *const k = &r->balls;
  if (b == NULL) return LOOM_OK;
  const int64_t count = rigid_save(b, NULL); /* grows with the number of contacts */
  if (count > k->room) {
    uint64_t *const more = realloc(k->bits, (size_t)count * sizeof *more);
    if (more == NULL) return err_set(r->err, LOOM_E_NOMEM, "no memory for the state of the balls");
    k->bits = more;
    k->room = count;
  }
  k->count = count;
  rigid_save(b, k->bits);
  return LOOM_OK;
}

loom_status balls_go_back(run *r)
{
  rigid *const b = r->scene->balls;
  if (b == NULL || rigid_load(b, r->balls.bits, r->balls.count)) return LOOM_OK;
  return err_set(r->err, LOOM_E_NUMERIC,
                 "step %lld: a ball had no finite state at its start; lower dt, or look at its "
                 "velocity and spin",
                 (long long)r->st.index);
}

void balls_free(run *r) { free(r->balls.bits); }

/* ---- checkpoints ---- */

static loom_status restore_balls(run *r)
{
  int type = -1;
  int64_t count = 0;
  LOOM_TRY(h5checkpoint_size(r->check, r->err, "core", "balls", &type, &count));
  uint64_t *const bits = malloc((size_t)(count + 1) * sizeof *bits);
  if (bits == NULL) return err_set(r->err, LOOM_E_NOMEM, "no memory for the state of the balls");
  loom_status s = h5checkpoint_get(r->check, r->err, "core", "balls", LOOM_U64, count, bits);
  if (s == LOOM_OK && (count < 1 || !rigid_load(r->scene->balls, bits, count)))
    s = err_set(r->err, LOOM_E_IO, "checkpoint: core/balls belongs to other bodies");
  free(bits);
  return s;
}

loom_status balls_checkpoint(run *r, int restore)
{
  const rigid *const b = r->scene->balls;
  if (b == NULL) return LOOM_OK;
  if (restore) return restore_balls(r);
  const int64_t count = rigid_save(b, NULL);
  uint64_t *const bits = malloc((size_t)count * sizeof *bits);
  if (bits == NULL) return err_set(r->err, LOOM_E_NOMEM, "no memory for the state of the balls");
  rigid_save(b, bits);
  const loom_status s = h5checkpoint_put(r->check, r->err, "core", "balls", LOOM_U64, count, bits);
  free(bits);
  return s;
}
