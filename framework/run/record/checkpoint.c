/* checkpoint.c - save and restore everything that outlives a step. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/base/balls.h"
#include "run/plugins/call.h"
#include "run/record/checkpoint.h"
#include "run/run_state.h"
#include "scene/base/exclusions.h"

typedef struct part {
  const char *name;
  loom_buf *b;
} part;

enum { NUM_PARTS = 3 };

static void list_core_parts(const run *r, part p[NUM_PARTS])
{
  p[0] = (part){"x", r->st.x};
  p[1] = (part){"v", r->st.v_start};
  p[2] = (part){"f_next", r->st.f_next};
}

static loom_status write_checkpoint_buffer(run *r, const char *group, const char *name, loom_buf *b)
{
  void *data;
  LOOM_TRY(buf_map(r->m, NULL, b, LOOM_READ, LOOM_AT_HOST, &data));
  const loom_status s =
      h5checkpoint_put(r->check, r->err, group, name, buf_type(b), buf_count(b), data);
  const loom_status u = buf_unmap(r->m, b);
  return s != LOOM_OK ? s : u;
}

/* Index of the first value that is not finite, -1 if there is none. */
static int64_t find_nonfinite_value(const loom_real *a, int64_t count)
{
  for (int64_t i = 0; i < count; ++i)
    if (!isfinite(a[i])) return i;
  return -1;
}

/* Into b; with `resize` (of a plugin, which looks at it itself) of any length, else finite. */
static loom_status read_checkpoint_buffer(const run *r, const char *group, const char *name,
                                          loom_buf *b, int resize)
{
  int type = -1;
  int64_t count = 0;
  void *data;
  LOOM_TRY(h5checkpoint_size(r->check, r->err, group, name, &type, &count));
  if (type != buf_type(b) || (!resize && count != buf_count(b)))
    return err_set(r->err, LOOM_E_IO,
                   "checkpoint: %s/%s has %lld items, %lld are needed; it belongs to another scene",
                   group, name, (long long)count, (long long)buf_count(b));
  if (resize) LOOM_TRY(buf_resize(r->m, b, count));
  LOOM_TRY(buf_map(r->m, NULL, b, LOOM_WRITE, LOOM_AT_HOST, &data));
  loom_status s = h5checkpoint_get(r->check, r->err, group, name, type, count, data);
  const int64_t bad =
      s == LOOM_OK && !resize && type == LOOM_REAL ? find_nonfinite_value(data, count) : -1;
  if (bad >= 0)
    s = err_set(r->err, LOOM_E_IO,
                "checkpoint: %s/%s has a value that is not finite, the one of vertex %lld; start "
                "the run again",
                group, name, (long long)bad / 3);
  const loom_status u = buf_unmap(r->m, b);
  return s != LOOM_OK ? s : u;
}

static loom_status write_checkpoint_core(run *r, const char *name, loom_buf *b)
{
  return write_checkpoint_buffer(r, "core", name, b);
}

static loom_status read_checkpoint_core(run *r, const char *name, loom_buf *b)
{
  return read_checkpoint_buffer(r, "core", name, b, 0);
}

/* host->state_io of a plugin: its own group, named after its section */
static loom_status read_checkpoint_plugin(run *r, const char *owner, const char *name, loom_buf *b)
{
  return read_checkpoint_buffer(r, owner, name, b, 1);
}

/* The whole config, so that a resume can name differences. */
static loom_status put_config(const run *r)
{
  const char *const text = cfg_resolved(r->c);
  if (text == NULL) return err_set(r->err, LOOM_E_NOMEM, "no memory for the config as text");
  return h5checkpoint_put(r->check, r->err, "core", "config", LOOM_U8, (int64_t)strlen(text), text);
}

/* Where the config of the checkpoint differs from this one; an older version's is brought to
 * today's keys.  *told: 1 if the checkpoint holds a config.  note [len]: the translation, or "". */
static loom_status find_differences(const run *r, char *out, size_t len, int *told, char *note,
                                    size_t note_len)
{
  int type = -1;
  int64_t count = 0;
  loom_err quiet = {0};
  cfg *then = NULL;
  out[0] = note[0] = '\0';
  *told = 0;
  if (h5checkpoint_size(r->check, &quiet, "core", "config", &type, &count) != LOOM_OK ||
      type != LOOM_U8 || count < 0)
    return LOOM_OK;
  char *const text = calloc(1, (size_t)count + 1);
  if (text == NULL) return err_set(r->err, LOOM_E_NOMEM, "no memory for the config as text");
  loom_status s = h5checkpoint_get(r->check, &quiet, "core", "config", LOOM_U8, count, text);
  if (s == LOOM_OK) s = cfg_parse(&quiet, text, "config of the checkpoint", "", NULL, 0, &then);
  if (s == LOOM_OK) s = scene_translate(&quiet, then, note, note_len);
  if (s == LOOM_OK) s = cfg_add_defaults(&quiet, then, r->c);
  const char *const before = s == LOOM_OK ? cfg_resolved(then) : NULL;
  const char *const now = cfg_resolved(r->c);
  *told = before != NULL && now != NULL;
  if (*told) cfg_differ(before, now, out, len);
  cfg_free(then);
  free(text);
  return LOOM_OK;
}

static loom_status check_config(run *r, const char *stored)
{
  char hash[17], where[1024], note[512];
  int told;
  cfg_hash(r->c, hash);
  if (strcmp(hash, stored) == 0) return LOOM_OK;
  LOOM_TRY(find_differences(r, where, sizeof where, &told, note, sizeof note));
  if (told && where[0] == '\0') {
    snprintf(r->out.older_hash, sizeof r->out.older_hash, "%s", stored);
    run_message(r, LOOM_LOG_INFO,
                note[0] != '\0' ? note
                                : "the config is of an older version, which lacks keys that have "
                                  "their defaults here");
    return LOOM_OK;
  }
  if (where[0] == '\0') snprintf(where, sizeof where, "hash %s then, %s now", stored, hash);
  return err_set(r->err, LOOM_E_CONFIG,
                 "%s: the checkpoint belongs to another config: %s; resume with the config of the "
                 "run, or start a new one",
                 r->out.path, where);
}

/* Pairs of the start that have not parted. */
static loom_status put_starts(const run *r)
{
  int64_t num = 0;
  const int32_t *const pairs = scene_left_out_pairs(r->scene, SCENE_AT_START, &num);
  if (pairs == NULL) return LOOM_OK;
  return h5checkpoint_put(r->check, r->err, "core", "start_pairs", LOOM_I32, 2 * num, pairs);
}

static loom_status get_starts(run *r)
{
  int64_t num = 0, count = 0;
  int type = -1;
  loom_err quiet = {0};
  if (scene_left_out_pairs(r->scene, SCENE_AT_START, &num) == NULL) return LOOM_OK;
  if (h5checkpoint_size(r->check, &quiet, "core", "start_pairs", &type, &count) != LOOM_OK)
    count = 0;
  if (count < 0 || count > 2 * num || count % 2 != 0 || (count > 0 && type != LOOM_I32))
    return err_set(r->err, LOOM_E_IO,
                   "checkpoint: core/start_pairs belongs to another scene; start the run again");
  int32_t *const pairs = malloc(sizeof *pairs * (size_t)count + 1);
  if (pairs == NULL) return err_set(r->err, LOOM_E_NOMEM, "no memory for pairs of the start");
  loom_status s = LOOM_OK;
  if (count > 0)
    s = h5checkpoint_get(r->check, r->err, "core", "start_pairs", LOOM_I32, count, pairs);
  if (s == LOOM_OK) s = scene_leave_out(r->err, r->scene, SCENE_AT_START, pairs, count / 2);
  free(pairs);
  return s;
}

/* How far contact reaches, for islands: in pm, rounded up. */
static loom_status put_reach(const run *r)
{
  const int64_t reach = islands_reach_pm(r);
  return h5checkpoint_put(r->check, r->err, "core", "reach", LOOM_I64, 1, &reach);
}

/* Checkpoints before it was kept have none. */
static loom_status get_reach(run *r)
{
  int64_t reach = 0, count = 0;
  int type = -1;
  loom_err quiet = {0};
  if (h5checkpoint_size(r->check, &quiet, "core", "reach", &type, &count) != LOOM_OK)
    return LOOM_OK;
  LOOM_TRY(h5checkpoint_get(r->check, r->err, "core", "reach", LOOM_I64, 1, &reach));
  islands_reach(r, 1e-12 * (double)reach);
  return LOOM_OK;
}

loom_status checkpoint_write(run *r, int64_t step)
{
  part p[NUM_PARTS];
  char hash[17];
  const int64_t epoch = r->st.epoch;
  loom_status s = h5checkpoint_begin(r->err, r->out.path, &r->check);
  if (s != LOOM_OK) return s;
  list_core_parts(r, p);
  cfg_hash(r->c, hash);
  s = h5checkpoint_put_scalars(r->check, r->err, step, r->st.time,
                               r->out.older_hash[0] != '\0' ? r->out.older_hash : hash);
  if (s == LOOM_OK) s = put_config(r);
  if (s == LOOM_OK) s = h5checkpoint_put(r->check, r->err, "core", "epoch", LOOM_I64, 1, &epoch);
  for (int i = 0; s == LOOM_OK && i < NUM_PARTS; ++i)
    s = write_checkpoint_core(r, p[i].name, p[i].b);
  if (s == LOOM_OK) s = problem_state(r, write_checkpoint_core);
  if (s == LOOM_OK && r->fw.last != NULL) {
    const int64_t cut = r->fw.last_cut;
    s = h5checkpoint_put(r->check, r->err, "core", "cut", LOOM_I64, 1, &cut);
    if (s == LOOM_OK) s = write_checkpoint_core(r, "delta", r->fw.last);
  }
  if (s == LOOM_OK) s = balls_checkpoint(r, 0);
  if (s == LOOM_OK) s = put_starts(r);
  if (s == LOOM_OK) s = put_reach(r);
  if (s == LOOM_OK && r->fw.f_next_norm == 0.0) s = buf_discard(r->m, r->st.f_next); /* all zero */
  if (s == LOOM_OK) s = instances_checkpoint(r, 0, write_checkpoint_buffer);
  h5checkpoint *const c = r->check;
  r->check = NULL;
  /* the log that it continues must be there when it is */
  if (s == LOOM_OK && r->record.log != NULL) s = h5log_sync(r->record.log, r->err);
  if (s == LOOM_OK) return h5checkpoint_commit(c, r->err);
  h5checkpoint_abort(c);
  return s;
}

loom_status checkpoint_read(run *r, int64_t want, int64_t *step)
{
  part p[NUM_PARTS];
  char stored[17];
  double time = 0.0;
  int64_t epoch = 0;
  LOOM_TRY(h5checkpoint_open(r->err, r->out.path, want, &r->check));
  if (h5checkpoint_note(r->check)[0] != '\0')
    run_message(r, LOOM_LOG_WARN, h5checkpoint_note(r->check));
  h5checkpoint_scalars(r->check, step, &time, stored);
  loom_status s = check_config(r, stored);
  if (s == LOOM_OK) s = h5checkpoint_get(r->check, r->err, "core", "epoch", LOOM_I64, 1, &epoch);
  if (s == LOOM_OK && (epoch < 0 || epoch >= INT32_MAX))
    s = err_set(r->err, LOOM_E_IO, "checkpoint: core/epoch is %lld; start the run again",
                (long long)epoch);
  r->st.epoch = (int32_t)epoch;
  list_core_parts(r, p);
  for (int i = 0; s == LOOM_OK && i < NUM_PARTS; ++i)
    s = read_checkpoint_core(r, p[i].name, p[i].b);
  if (s == LOOM_OK) s = problem_state(r, read_checkpoint_core);
  elements_forget_lengths(r);
  if (s == LOOM_OK && r->fw.last != NULL) {
    int64_t cut = 0;
    s = h5checkpoint_get(r->check, r->err, "core", "cut", LOOM_I64, 1, &cut);
    if (s == LOOM_OK) s = read_checkpoint_core(r, "delta", r->fw.last);
    r->fw.last_cut = cut != 0;
  }
  if (s == LOOM_OK) s = balls_checkpoint(r, 1);
  if (s == LOOM_OK) s = get_starts(r);
  if (s == LOOM_OK) s = get_reach(r);
  r->st.time = time;
  r->st.index = *step;
  if (s == LOOM_OK) s = instances_checkpoint(r, 1, read_checkpoint_plugin);
  h5checkpoint_close(r->check);
  r->check = NULL;
  if (s != LOOM_OK) return s;
  double f2 = 0.0;
  LOOM_TRY(la_dot(r->m, &r->exec, r->st.f_next, r->st.f_next, &f2));
  r->fw.f_next_norm = f2 > 0.0 ? 1.0 : 0.0; /* only whether it is zero matters in PREDICT */
  return f2 > 0.0 ? LOOM_OK : buf_discard(r->m, r->st.f_next);
}
