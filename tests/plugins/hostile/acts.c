/* acts.c - acts of a hostile plugin in any callback, its life, its descriptors. */
#define _DEFAULT_SOURCE
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "hostile.h"

const loom_param fx_params[1] = {
    LOOM_PARAM_TEXT(fx_settings, fault, "", "The act and its callback: callback:act.")};

const char *fx_act(const char *fault, const char *callback)
{
  const size_t n = strlen(callback);
  return strncmp(fault, callback, n) == 0 && fault[n] == ':' ? fault + n + 1 : "";
}

static int overflow_stack(volatile char *before, int64_t left)
{
  volatile char here[4096];
  here[0] = left > 0 ? before[0] : 0;
  return left > 0 ? overflow_stack(here, left - 1) + here[0] : 0;
}

static void raise_fatal_signal(const char *act)
{
  int *volatile nowhere = NULL;
  if (fx_is(act, "segv")) *nowhere = 1;
  if (fx_is(act, "abort")) abort();
  if (fx_is(act, "fpe")) raise(SIGFPE);
  if (fx_is(act, "bus")) raise(SIGBUS);
  if (fx_is(act, "ill")) raise(SIGILL);
  if (fx_is(act, "stack")) (void)overflow_stack((volatile char[]){0}, INT64_MAX);
  if (fx_is(act, "exit")) exit(0);
  if (fx_is(act, "exit3")) exit(3);
  if (fx_is(act, "quick_exit")) quick_exit(0);
  if (fx_is(act, "thread"))
#pragma omp parallel num_threads(2)
    *nowhere = 1;
}

int fx_common(fx *f, const char *act, loom_buf *core, loom_status *status)
{
  const loom_host *const host = f->host;
  void *p;
  if (act[0] == '\0') return 0;
  raise_fatal_signal(act);
  *status = LOOM_OK;
  if (sscanf(act, "s%d", status) == 1) return 1;
  if (fx_is(act, "fail")) {
    *status = LOOM_FAIL(host, LOOM_E_NUMERIC, "pivot 12 is -1; raise the shift");
    return 1;
  }
  if (fx_is(act, "keep_map")) {
    *status = host->map(host, f->e, core, LOOM_READ, LOOM_AT_HOST, &p);
    return 1;
  }
  if (fx_is(act, "unmap")) {
    *status = host->unmap(host, core);
    return 1;
  }
  if (fx_is(act, "resize")) {
    *status = host->buf_resize(host, core, 3);
    return 1;
  }
  if (fx_is(act, "free")) {
    host->buf_free(host, core);
    return 1;
  }
  if (fx_is(act, "free_twice")) {
    host->buf_free(host, f->own);
    host->buf_free(host, f->own);
    f->own = NULL;
    return 1;
  }
  return 0;
}

loom_status fx_poke(fx *f, loom_buf *b, int64_t at, double value)
{
  void *p;
  LOOM_TRY(f->host->map(f->host, f->e, b, LOOM_RDWR, LOOM_AT_HOST, &p));
  ((loom_real *)p)[at] = (loom_real)value;
  return f->host->unmap(f->host, b);
}

loom_status fx_poke_int(fx *f, loom_buf *b, int64_t at, int32_t value)
{
  void *p;
  LOOM_TRY(f->host->map(f->host, f->e, b, LOOM_RDWR, LOOM_AT_HOST, &p));
  ((int32_t *)p)[at] = value;
  return f->host->unmap(f->host, b);
}

/* ---- life ----
 */

loom_status hostile_create(const loom_host *host, const loom_scene *sc, const loom_exec *e,
                           const void *settings, void **self)
{
  fx *const f = calloc(1, sizeof *f);
  LOOM_CHECK(host, f != NULL, LOOM_E_NOMEM, "no memory");
  *self = f;
  f->host = host;
  f->sc = sc;
  f->e = e;
  f->fault = ((const fx_settings *)settings)->fault;
  /* for runs that resume: the settings must equal the first run's */
  if (f->fault[0] == '\0' && getenv("FX_FAULT") != NULL) f->fault = getenv("FX_FAULT");
  LOOM_TRY(host->buf_new(host, "own", LOOM_REAL, 3, &f->own));
  FX_ENTER(f, "create", sc->mass);
  if (fx_is(act, "null")) {
    hostile_destroy(f);
    *self = NULL;
  }
  return LOOM_OK;
}

void hostile_destroy(void *self)
{
  fx *const f = self;
  const char *const act = fx_act(f->fault, "destroy");
  loom_status ignored;
  (void)fx_common(f, act, f->sc->mass, &ignored);
  free(f);
}

/* ---- descriptors ---- */

#define TEXTS                                                                                   \
  .name = "fx_hostile", .version = "0.1.0", .summary = "breaks the rules", .reference = "none", \
  .license = "MIT", .build = LOOM_BUILD_INFO, .num_params = LOOM_COUNT(fx_params),              \
  .settings_size = sizeof(fx_settings), .params = fx_params

static const loom_plugin plugins[] = {
    {LOOM_PLUGIN_HEAD(LOOM_KIND_SOLVER, LOOM_ON_CPU), TEXTS, .ops.solver = &fx_solver},
    {LOOM_PLUGIN_HEAD(LOOM_KIND_COLLISION, LOOM_ON_CPU), TEXTS, .ops.collision = &fx_collision},
    {LOOM_PLUGIN_HEAD(LOOM_KIND_CONTACT, LOOM_ON_CPU), TEXTS, .ops.contact = &fx_contact}};

const loom_plugin *loom_plugin_query(uint32_t host_abi, uint32_t index)
{
  const char *const act = getenv("FX_QUERY");
  (void)host_abi;
  if (act != NULL) raise_fatal_signal(act);
  return index < LOOM_COUNT(plugins) ? &plugins[index] : NULL;
}

__attribute__((constructor)) static void on_load(void)
{
  const char *const act = getenv("FX_LOAD");
  if (act != NULL) raise_fatal_signal(act);
}
