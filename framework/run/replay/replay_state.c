/* replay_state.c - the state of plugins from step to step: into the log of a run, and out of it
 * again in a replay.
 *
 * The state is the data that checkpoint() hands to host->state_io().  The core knows neither
 * methods nor which of their numbers belong to the problem of the next step, so it takes all of
 * them or none: of the same plugin with the same keys.  Where the state of a contact model is
 * missing, a replay would silently pose another problem: it is refused, unless [run] replay_state =
 * fresh. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/plugins/call.h"
#include "run/replay/replay.h"
#include "run/run_state.h"

static const char core_name[] = "core";

/* ---- recording ---- */

static loom_status write_state_row(const run *r, const char *owner, const char *name, int type,
                                   int64_t count, const void *data)
{
  h5log_state_row row = {.step = r->st.index, .type = type, .count = count};
  if (strlen(owner) >= sizeof row.instance || strlen(name) >= sizeof row.name)
    return err_set(r->err, LOOM_E_ARG, "state_io(): the name %s/%s is too long, at most %d bytes",
                   owner, name, (int)sizeof row.name - 1);
  strcpy(row.instance, owner);
  strcpy(row.name, name);
  return h5log_state(r->record.log, r->err, &row, data);
}

static loom_status put_buf(run *r, const char *owner, const char *name, loom_buf *b)
{
  void *data;
  LOOM_TRY(buf_map(r->m, NULL, b, LOOM_READ, LOOM_AT_HOST, &data));
  const loom_status s = write_state_row(r, owner, name, buf_type(b), buf_count(b), data);
  const loom_status u = buf_unmap(r->m, b);
  return s != LOOM_OK ? s : u;
}

static loom_status write_state_core(run *r, const char *name, loom_buf *b)
{
  return put_buf(r, core_name, name, b);
}

static loom_status record_core(run *r)
{
  const int64_t cut = r->fw.last_cut;
  LOOM_TRY(write_state_row(r, core_name, "", LOOM_U8, 0, NULL));
  LOOM_TRY(problem_state(r, write_state_core));
  if (r->fw.f_next_norm > 0.0) LOOM_TRY(write_state_core(r, "f_next", r->st.f_next));
  if (r->fw.last == NULL) return LOOM_OK;
  LOOM_TRY(write_state_row(r, core_name, "cut", LOOM_I64, 1, &cut));
  return write_state_core(r, "delta", r->fw.last);
}

/* Only logs with a frame of every step can be replayed; state = frames is for a start_log.  The
 * state of collision plugins saves work, does not change the pairs that they find, and is large: it
 * is recorded on demand. */
loom_status replay_record(run *r, int frame)
{
  const log_settings *const l = &r->set.log;
  instance *all[RUN_ALL_INSTANCES];
  const int every = l->frames_every == 1 && r->set.run.substeps == 1;
  if (r->record.log == NULL || foreign_or_replay(r) || l->state == LOG_STATE_OFF) return LOOM_OK;
  if (l->state == LOG_STATE_FRAMES ? !frame : !every) return LOOM_OK;
  clock_push(&r->clock, CLOCK_LOG);
  LOOM_TRY(record_core(r));
  const int n = instances_list(r, LIST_SOLVER_LAST, all);
  r->st.recording = 1;
  for (int i = 0; i < n; ++i) {
    const int wanted = l->state == LOG_STATE_ALL || all[i]->plugin->kind != LOOM_KIND_COLLISION;
    if (!wanted || !call_has_checkpoint(all[i])) continue;
    LOOM_TRY(write_state_row(r, all[i]->name, "", LOOM_U8, 0, NULL));
    LOOM_TRY(call_checkpoint(all[i], 0, put_buf));
  }
  r->st.recording = 0;
  clock_pop(&r->clock);
  return LOOM_OK;
}

/* ---- the reference's rows ---- */

/* Index of the first row of a step that is not below `step`. */
static int64_t first_row(const replay *p, int64_t step)
{
  int64_t lo = 0, n = p->num_states;
  while (n > 0) {
    const int64_t half = n / 2;
    if (p->state_step[lo + half] < step) {
      lo += half + 1;
      n -= half + 1;
    } else {
      n = half;
    }
  }
  return lo;
}

/* The rows of one step become p->state. */
static loom_status load_rows(run *r, int64_t step)
{
  replay *const p = &r->rep;
  const int64_t first = first_row(p, step), count = first_row(p, step + 1) - first;
  if (p->have_rows && p->state_at == step) return LOOM_OK;
  h5log_state_row *const more = realloc(p->state, (size_t)(count + 1) * sizeof *more);
  if (more == NULL) return err_set(r->err, LOOM_E_NOMEM, "replay: out of memory");
  p->state = more;
  p->num_state = count;
  p->state_at = step;
  p->have_rows = 1;
  return h5read_states(p->ref, r->err, first, count, p->state);
}

/* An item of the step that was loaded, NULL if there is none. */
static const h5log_state_row *find_row(const run *r, const char *owner, const char *name)
{
  const replay *const p = &r->rep;
  for (int64_t i = 0; i < p->num_state; ++i)
    if (strcmp(p->state[i].instance, owner) == 0 && strcmp(p->state[i].name, name) == 0)
      return &p->state[i];
  return NULL;
}

static loom_status get_buf(run *r, const char *owner, const char *name, loom_buf *b, int resize)
{
  const h5log_state_row *const row = find_row(r, owner, name);
  void *data;
  if (row == NULL || row->type != buf_type(b) || row->count < 0 ||
      (!resize && row->count != buf_count(b)))
    return err_set(
        r->err, LOOM_E_IO,
        "state in %s: step %lld has no usable %s/%s; it was recorded by another version, "
        "or is damaged: record the reference again",
        r->rep.path, (long long)r->rep.state_at, owner, name);
  if (resize) LOOM_TRY(buf_resize(r->m, b, row->count));
  LOOM_TRY(buf_map(r->m, NULL, b, LOOM_WRITE, LOOM_AT_HOST, &data));
  const loom_status s = h5read_state_data(r->rep.ref, r->err, row, data);
  const loom_status u = buf_unmap(r->m, b);
  return s != LOOM_OK ? s : u;
}

static loom_status read_state_core(run *r, const char *name, loom_buf *b)
{
  return get_buf(r, core_name, name, b, 0);
}

static loom_status read_state_plugin(run *r, const char *owner, const char *name, loom_buf *b)
{
  return get_buf(r, owner, name, b, 1);
}

/* Counts the items that would be saved, without saving them. */
static loom_status count_state_item(run *r, const char *owner, const char *name, loom_buf *b)
{
  (void)owner, (void)name, (void)b;
  r->rep.probed++;
  return LOOM_OK;
}

/* ---- states that can be restored ---- */

/* Whether the reference has the state of `owner` before every step that is to be replayed; the
 * first one begins without. */
static loom_status was_recorded(run *r, const char *owner, int *yes)
{
  const int64_t first = r->rep.first, last = first + r->rep.count;
  *yes = 1;
  for (int64_t i = first > 0 ? first : 1; i < last && *yes; ++i) {
    LOOM_TRY(load_rows(r, i - 1));
    *yes = find_row(r, owner, "") != NULL;
  }
  return LOOM_OK;
}

static loom_status refuse_kept_state(const run *r, const char *who, const char *why)
{
  char place[1200];
  return err_set(
      r->err, LOOM_E_CONFIG,
      "%s: %s keeps a state from step to step, and that of the reference cannot be taken: %s; or "
      "set [run] replay_state = fresh, so that it begins every step without a past",
      cfg_place(cfg_find(r->c, "run"), r->rep.key, place, sizeof place), who, why);
}

static const char not_recorded[] = "it was not recorded; record the reference again, with [log] "
                                   "frames_every = 1 and state = auto, "
                                   "or for a start_log with state = frames";

/* With its settings: a model with a given stiffness has none to remember. */
static loom_status keeps_state(run *r, instance *in, int *yes)
{
  r->rep.probed = 0;
  const loom_status s = call_checkpoint(in, 0, count_state_item);
  *yes = r->rep.probed > 0;
  return s;
}

static loom_status decide_state_restore(run *r, const cfg *theirs, instance *in)
{
  char why[512], who[160];
  int same = 1, recorded = 0, keeps = 0;
  if (!call_has_checkpoint(in)) return LOOM_OK;
  replay_same_section(r, theirs, in->name, &same, why, sizeof why);
  if (same) LOOM_TRY(was_recorded(r, in->name, &recorded));
  in->restored = same && recorded;
  if (in->restored || in->plugin->kind != LOOM_KIND_CONTACT) return LOOM_OK;
  if (r->set.run.replay_state == RUN_REPLAY_FRESH) return LOOM_OK;
  LOOM_TRY(keeps_state(r, in, &keeps));
  if (!keeps) return LOOM_OK;
  snprintf(who, sizeof who, "[%s] '%s'", in->name, in->plugin->name);
  return refuse_kept_state(r, who, same ? not_recorded : why);
}

static loom_status open_rows(run *r)
{
  replay *const p = &r->rep;
  const int64_t rows = h5read_num_rows(p->ref, "state");
  char real_size[16];
  snprintf(real_size, sizeof real_size, "%zu", sizeof(loom_real));
  /* no state can be taken from a log without one, or of a build with other reals */
  if (rows > 0 && strcmp(h5read_attr(p->ref, "real_size"), real_size) == 0) {
    p->state_step = malloc((size_t)rows * sizeof *p->state_step);
    if (p->state_step == NULL) return err_set(r->err, LOOM_E_NOMEM, "replay: out of memory");
    LOOM_TRY(h5read_column(p->ref, r->err, "state", "step", 'I', 0, rows, p->state_step));
    p->num_states = rows;
  }
  return LOOM_OK;
}

/* The reference lacks the state of the scene's elements. */
static loom_status refuse_core(run *r, const char *name, loom_buf *b)
{
  char who[160];
  (void)b;
  snprintf(who, sizeof who, "an element type ('%s')", name);
  return refuse_kept_state(r, who, not_recorded);
}

loom_status replay_ready(run *r)
{
  replay *const p = &r->rep;
  const cfg *const theirs = p->theirs;
  char why[512];
  int same = 1;
  instance *all[RUN_ALL_INSTANCES];
  if (p->ref == NULL) return LOOM_OK;
  LOOM_TRY(open_rows(r));
  const int n = instances_list(r, LIST_SOLVER_LAST, all);
  for (int i = 0; i < n; ++i) LOOM_TRY(decide_state_restore(r, theirs, all[i]));
  replay_same_section(r, theirs, "solver", &same, why, sizeof why);
  p->forwards = same && replay_same_key(r, theirs, "run", "forwarding") &&
                replay_same_key(r, theirs, "run", "forwarding_iters") &&
                replay_same_key(r, theirs, "run", "forwarding_below");
  LOOM_TRY(was_recorded(r, core_name, &p->core));
  const int needed = !p->core && r->set.run.replay_state != RUN_REPLAY_FRESH;
  return needed ? problem_state(r, refuse_core) : LOOM_OK;
}

/* ---- restoring ---- */

static loom_status restore_forwarding(run *r)
{
  r->fw.f_next_norm = 0.0;
  LOOM_TRY(forward_forget(r));
  if (!r->rep.core || !r->rep.forwards) return LOOM_OK;
  if (find_row(r, core_name, "f_next") != NULL) {
    LOOM_TRY(read_state_core(r, "f_next", r->st.f_next));
    r->fw.f_next_norm = 1.0; /* only whether it is zero matters in PREDICT */
  }
  const h5log_state_row *const cut = find_row(r, core_name, "cut");
  int64_t was_cut = 0;
  if (r->fw.last == NULL || cut == NULL || cut->type != LOOM_I64 || cut->count != 1) return LOOM_OK;
  LOOM_TRY(h5read_state_data(r->rep.ref, r->err, cut, &was_cut));
  r->fw.last_cut = (int)was_cut;
  return read_state_core(r, "delta", r->fw.last);
}

loom_status replay_restore(run *r, int64_t index)
{
  replay *const p = &r->rep;
  instance *all[RUN_ALL_INSTANCES];
  const int n = instances_list(r, LIST_SOLVER_LAST, all);
  /* the state was changed from outside: instances that are not restored have no history */
  LOOM_TRY(instances_reset(r));
  LOOM_TRY(load_rows(r, index - 1)); /* none before step 0 */
  if (index == 0) {
    r->fw.f_next_norm = 0.0;
    return forward_forget(r);
  }
  LOOM_TRY(p->core ? problem_state(r, read_state_core) : problem_commit(r, r->st.x));
  elements_forget_lengths(r);
  LOOM_TRY(restore_forwarding(r));
  for (int i = 0; i < n; ++i)
    if (all[i]->restored) LOOM_TRY(call_checkpoint(all[i], 1, read_state_plugin));
  return LOOM_OK;
}

void replay_state_close(run *r)
{
  free(r->rep.state_step);
  free(r->rep.state);
}
