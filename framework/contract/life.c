/* life.c - checks of every plugin's life: create and destroy, memory that runs out, reset, restart,
 * two instances at once, threads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contract/contract.h"
#include "run/plugins/call.h"

void ct_life_create_destroy(const ct_plugin *p)
{
  ct_run t;
  instance twin;
  ct_open_checked(&t, p, "");
  ct_twin(ct_instance(t.r, p), &twin);
  for (int i = 0; i < 3; ++i) {
    CT_ASSERT(ct_create(&twin) == LOOM_OK, "%s", t.err.text);
    CT_ASSERT(mem_mapped(t.r->m) == NULL, "create() left %s mapped", mem_mapped(t.r->m));
    ct_destroy(&twin);
    CT_ASSERT(mem_mapped(t.r->m) == NULL, "destroy() left %s mapped", mem_mapped(t.r->m));
  }
  ct_close(&t);
}

void ct_life_memory_in_create(const ct_plugin *p)
{
  ct_run t;
  instance twin;
  loom_status s = LOOM_E_NOMEM;
  ct_open(&t, p, "");
  ct_twin(ct_instance(t.r, p), &twin);
  for (int64_t k = 1; s != LOOM_OK; ++k) {
    CT_ASSERT(k < 1000, "create() never succeeds");
    err_clear(&t.err);
    mem_fail_after(t.r->m, k);
    s = ct_create(&twin);
    mem_fail_after(t.r->m, 0);
    CT_ASSERT(s == LOOM_OK || s == LOOM_E_NOMEM, "allocation %lld failed, create() said %d",
              (long long)k, s);
    mem_release_maps(t.r->m);
    ct_destroy(&twin);
  }
  ct_close(&t);
}

/* The core frees the buffers of an instance when it is destroyed; until then a run of many steps
 * must not collect them. */
void ct_life_buffers_settle(const ct_plugin *p)
{
  enum { STEPS = 3 };
  ct_run t;
  ct_open(&t, p, "");
  const char *const name = ct_instance(t.r, p)->name;
  ct_steps(&t, 0, STEPS);
  const int before = mem_num_owned(t.r->m, name);
  ct_steps(&t, STEPS, STEPS);
  const int after = mem_num_owned(t.r->m, name);
  CT_ASSERT(after <= before,
            "%d buffers after %d steps, %d after %d: free the buffers of a step, or make them once",
            before, STEPS, after, 2 * STEPS);
  ct_close(&t);
}

/* If any allocation of a step fails, the step ends with LOOM_E_NOMEM and a message, and the run can
 * be closed. */
void ct_life_memory_in_step(const ct_plugin *p)
{
  loom_status s = LOOM_E_NOMEM;
  unsetenv("LOOM_MEM_CHECK"); /* where every map allocates: thousands of times the same */
  for (int64_t k = 1; s != LOOM_OK; ++k) {
    ct_run t;
    CT_ASSERT(k < 5000, "the step never succeeds");
    ct_open(&t, p, "stop.max_iters=2");
    mem_fail_after(t.r->m, k);
    s = step_once(t.r, 0);
    mem_fail_after(t.r->m, 0);
    CT_ASSERT(s == LOOM_OK || s == LOOM_E_NOMEM, "allocation %lld failed, the step said %d",
              (long long)k, s);
    if (s != LOOM_OK) CT_ASSERT(ct_message(&t)[0] != '\0', "no message");
    ct_close(&t);
  }
}

/* After reset() an instance gives the same bits as a fresh run from the same state. */
void ct_life_reset_forgets(const ct_plugin *p)
{
  ct_run used, fresh;
  ct_open_checked(&used, p, "");
  ct_open_checked(&fresh, p, "");
  ct_steps(&used, 0, 2);
  double *const x = ct_values(used.r, used.r->st.x, NULL);
  double *const v = ct_values(used.r, used.r->st.v_start, NULL);
  ct_set_values(fresh.r, fresh.r->st.x, x);
  ct_set_values(fresh.r, fresh.r->st.v_start, v);
  /* all of them: the others have histories too */
  CT_OK(&used, ct_reset(&used.r->solver));
  for (int i = 0; i < used.r->num_collision; ++i) CT_OK(&used, ct_reset(&used.r->collision[i]));
  for (int i = 0; i < used.r->num_contact; ++i) CT_OK(&used, ct_reset(&used.r->contact[i].in));
  ct_steps(&used, 2, 2);
  ct_steps(&fresh, 2, 2);
  ct_same_x(used.r, fresh.r, "after reset()");
  free(x);
  free(v);
  ct_close(&used);
  ct_close(&fresh);
}

/* ---- restart ---- */

typedef struct saved_state { /* buffers that checkpoint() wrote, by name */
  struct {
    char name[64];
    int64_t count;
    void *data;
  } item[32];
  int num;
} saved_state;

/* host->state_io on memory instead of a file */
static loom_status memory_io(const loom_host *host, int restore, const char *name, loom_buf *b)
{
  instance *const in = host->core;
  saved_state *const st = in->r->opt->user;
  const size_t size = buf_type_size(buf_type(b));
  void *p;
  int i = 0;
  while (i < st->num && strcmp(st->item[i].name, name) != 0) ++i;
  if (restore) {
    CT_ASSERT(i < st->num, "%s was never saved", name);
    LOOM_TRY(buf_resize(in->r->m, b, st->item[i].count));
    LOOM_TRY(buf_map(in->r->m, NULL, b, LOOM_WRITE, LOOM_AT_HOST, &p));
    memcpy(p, st->item[i].data, size * (size_t)st->item[i].count);
    return buf_unmap(in->r->m, b);
  }
  CT_ASSERT(i == st->num, "%s was saved twice", name);
  CT_ASSERT(i < 32, "more than 32 buffers are saved");
  snprintf(st->item[i].name, sizeof st->item[i].name, "%s", name);
  st->item[i].count = buf_count(b);
  st->item[i].data = malloc(size * (size_t)buf_count(b) + 1);
  LOOM_TRY(buf_map(in->r->m, NULL, b, LOOM_READ, LOOM_AT_HOST, &p));
  memcpy(st->item[i].data, p, size * (size_t)buf_count(b));
  st->num++;
  return buf_unmap(in->r->m, b);
}

/* An instance that is destroyed and created anew between two steps, and restored by checkpoint()
 * where it has one, continues to the same bits. */
void ct_life_restart_continues(const ct_plugin *p)
{
  ct_run whole, cut;
  saved_state saved = {.num = 0};
  ct_open_checked(&whole, p, "");
  ct_open_checked(&cut, p, "");
  cut.opt.user = &saved;
  instance *const in = ct_instance(cut.r, p);
  ct_steps(&whole, 0, 4);
  ct_steps(&cut, 0, 2);
  in->host.state_io = memory_io;
  if (call_has_checkpoint(in)) CT_OK(&cut, ct_checkpoint(in, &cut.r->st, 0));
  ct_destroy(in);
  CT_ASSERT(ct_create(in) == LOOM_OK, "%s", cut.err.text);
  if (call_has_checkpoint(in)) CT_OK(&cut, ct_checkpoint(in, &cut.r->st, 1));
  ct_steps(&cut, 2, 2);
  ct_same_x(whole.r, cut.r, "after a restart");
  for (int i = 0; i < saved.num; ++i) free(saved.item[i].data);
  ct_close(&whole);
  ct_close(&cut);
}

/* ---- company ---- */

/* Two runs with different step sizes, step by step in turn: each as if it were alone. */
void ct_life_two_at_once(const ct_plugin *p)
{
  static const char *const dt[] = {"run.dt=0.01", "run.dt=0.004"};
  ct_run alone[2], both[2];
  for (int i = 0; i < 2; ++i) {
    ct_open(&alone[i], p, dt[i]);
    ct_steps(&alone[i], 0, 3);
  }
  for (int i = 0; i < 2; ++i) ct_open(&both[i], p, dt[i]);
  for (int64_t k = 0; k < 3; ++k)
    for (int i = 0; i < 2; ++i) ct_steps(&both[i], k, 1);
  for (int i = 0; i < 2; ++i) {
    ct_same_x(alone[i].r, both[i].r, dt[i]);
    ct_close(&alone[i]);
    ct_close(&both[i]);
  }
}

/* Same bits for one thread and for more, and in a second run. */
void ct_life_threads(const ct_plugin *p)
{
  static const char *const sets[] = {"exec.threads=1", "exec.threads=1", "exec.threads=3"};
  ct_run t[3];
  for (int i = 0; i < 3; ++i) {
    ct_open(&t[i], p, sets[i]);
    ct_steps(&t[i], 0, 3);
    ct_same_x(t[0].r, t[i].r, sets[i]);
  }
  for (int i = 0; i < 3; ++i) ct_close(&t[i]);
}
