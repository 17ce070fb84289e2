/* weak.c - pd_bfgs without one of its parts: a plugin of the same name that opens the real one and
 * gives it another scene or another host.
 *
 * WEAK_NOISE  vertices lie at each other's places on the fabric: splines are noise on the mesh, a
 *             partition of unity still, and as wide as its edges there
 * WEAK_PROXY  contact has a force and no Hessian
 *
 * One instance at a time.  WEAK_FILE: the real plugin. */
#include <dlfcn.h>
#include <stdio.h>

#include "loom/plugin.h"

static loom_plugin weak;
static loom_solver_ops ops;
static loom_status (*real_create)(const loom_host *host, const loom_scene *sc, const loom_exec *e,
                                  const void *set, void **self);
static loom_host changed_host;
static loom_scene scene;

#ifdef WEAK_PROXY
static loom_status no_blocks(const loom_host *host, const loom_problem *p, loom_buf *x, int how,
                             const loom_blocks3 **out)
{
  static const loom_blocks3 none = {.struct_size = sizeof none};
  (void)host, (void)p, (void)x, (void)how;
  *out = &none;
  return LOOM_OK;
}
#endif

#ifdef WEAK_NOISE
static loom_status shuffle_rest_points(const loom_host *host)
{
  const int64_t n = scene.num_verts;
  loom_buf *places;
  loom_real *x;
  void *p;
  uint64_t state = 1;
  LOOM_TRY(host->buf_new(host, "shuffled places", LOOM_REAL, 3 * n, &places));
  LOOM_TRY(host->buf_copy(host, NULL, places, scene.rest_x));
  LOOM_TRY(host->map(host, NULL, places, LOOM_RDWR, LOOM_AT_HOST, &p));
  x = p;
  for (int64_t i = n - 1; i > 0; --i) { /* Fisher and Yates, numbers of D. Knuth's MMIX */
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    const int64_t j = (int64_t)((state >> 33) % (uint64_t)(i + 1));
    for (int c = 0; c < 3; ++c) {
      const loom_real keep = x[3 * i + c];
      x[3 * i + c] = x[3 * j + c];
      x[3 * j + c] = keep;
    }
  }
  scene.rest_x = places;
  return host->unmap(host, places);
}
#endif

static loom_status weak_create(const loom_host *host, const loom_scene *sc, const loom_exec *e,
                               const void *set, void **self)
{
  changed_host = *host;
  scene = *sc;
#ifdef WEAK_NOISE
  LOOM_TRY(shuffle_rest_points(host));
#endif
#ifdef WEAK_PROXY
  changed_host.contact_hessian = no_blocks;
#endif
  return real_create(&changed_host, &scene, e, set, self);
}

const loom_plugin *loom_plugin_query(uint32_t host_abi, uint32_t index)
{
  void *const lib = dlopen(WEAK_FILE, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  loom_plugin_query_fn query = NULL;
  if (lib != NULL) *(void **)&query = dlsym(lib, "loom_plugin_query");
  if (query == NULL) {
    fprintf(stderr, "weak.c: %s\n", dlerror());
    return NULL;
  }
  const loom_plugin *const real = index == 0 ? query(host_abi, 0) : NULL;
  if (real == NULL) return NULL;
  weak = *real;
  ops = *real->ops.solver;
  weak.ops.solver = &ops;
  real_create = ops.create;
  ops.create = weak_create;
  return &weak;
}
