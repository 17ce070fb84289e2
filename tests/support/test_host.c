/* test_host.c - see test_host.h. */
#include "support/test_host.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static test_host *test_host_of(const loom_host *host) { return host->core; }

#define MUST(t, call) cr_assert_eq((call), LOOM_OK, "%s", mem_err((t)->m)->text)

/* ---- the table ---- */

static loom_status test_host_fail(const loom_host *host, loom_status code, const char *file,
                                  int line, const char *func, const char *fmt, ...)
{
  char text[1024];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  return err_set(&test_host_of(host)->err, code, "%s:%d: %s: %s", file, line, func, text);
}

static void test_host_log(const loom_host *host, int level, const char *fmt, ...)
{
  test_host *const t = test_host_of(host);
  const size_t used = strlen(t->log);
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(t->log + used, sizeof t->log - used, fmt, ap);
  va_end(ap);
  (void)level;
}

static loom_status test_host_buf_new(const loom_host *host, const char *name, int type,
                                     int64_t count, loom_buf **out)
{
  return buf_new(test_host_of(host)->m, "plugin", name, type, count, out);
}
static loom_status test_host_buf_resize(const loom_host *host, loom_buf *b, int64_t count)
{
  return buf_resize(test_host_of(host)->m, b, count);
}
static void test_host_buf_free(const loom_host *host, loom_buf *b)
{
  buf_free(test_host_of(host)->m, b);
}
static int64_t test_host_buf_count(const loom_host *host, const loom_buf *b)
{
  (void)host;
  return buf_count(b);
}
static loom_status test_host_buf_copy(const loom_host *host, const loom_exec *e, loom_buf *dst,
                                      const loom_buf *src)
{
  return buf_copy(test_host_of(host)->m, e, dst, src);
}
static loom_status test_host_map(const loom_host *host, const loom_exec *e, loom_buf *b, int access,
                                 int place, void **p)
{
  return buf_map(test_host_of(host)->m, e, b, access, place, p);
}
static loom_status test_host_unmap(const loom_host *host, loom_buf *b)
{
  return buf_unmap(test_host_of(host)->m, b);
}

static loom_status test_host_detect(const loom_host *host, const loom_query *q,
                                    const loom_pairs **out)
{
  test_host *const t = test_host_of(host);
  if (t->asked.kind == NULL) th_pairs_open(t, &t->asked, 0);
  th_detect(t, q, &t->asked);
  *out = &t->asked;
  return LOOM_OK;
}
static loom_status test_host_max_step(const loom_host *host, loom_buf *x0, loom_buf *x1,
                                      loom_bound *out)
{
  return test_host_of(host)->collision->max_step(test_host_of(host)->collision_self,
                                                 &test_host_of(host)->step, x0, x1, out);
}
static loom_status test_host_match_keys(const loom_host *host, const loom_exec *e,
                                        loom_buf *old_key, int64_t n_old, loom_buf *new_key,
                                        int64_t n_new, loom_buf *out)
{
  return la_match_keys(test_host_of(host)->m, e, old_key, n_old, new_key, n_new, out);
}
static loom_status test_host_dot(const loom_host *host, const loom_exec *e, loom_buf *a,
                                 loom_buf *b, double *out)
{
  return la_dot(test_host_of(host)->m, e, a, b, out);
}
static loom_status test_host_axpby(const loom_host *host, const loom_exec *e, double a, loom_buf *x,
                                   double b, loom_buf *y)
{
  return la_axpby(test_host_of(host)->m, e, a, x, b, y);
}
static loom_status test_host_fill(const loom_host *host, const loom_exec *e, loom_buf *x,
                                  double value)
{
  return la_fill(test_host_of(host)->m, e, x, value);
}
static loom_status test_host_norm_max3(const loom_host *host, const loom_exec *e, loom_buf *x,
                                       double *out)
{
  return la_norm_max3(test_host_of(host)->m, e, x, out);
}
static loom_status host_spmv(const loom_host *host, const loom_exec *e, const loom_bsr3 *A,
                             loom_buf *x, loom_buf *y)
{
  return la_spmv_bsr3(test_host_of(host)->m, e, A, x, y);
}
static loom_status host_scan(const loom_host *host, const loom_exec *e, loom_buf *in, loom_buf *out,
                             int64_t *total)
{
  return la_scan_i64(test_host_of(host)->m, e, in, out, total);
}
static loom_status host_sort(const loom_host *host, const loom_exec *e, loom_buf *key,
                             loom_buf *perm)
{
  return la_sort_u64(test_host_of(host)->m, e, key, perm);
}

/* Tests change obstacles when they like. */
static loom_status bodies_now(test_host *t)
{
  if (t->bodies != NULL && memcmp(t->seen, t->obstacles, sizeof t->seen) == 0) return LOOM_OK;
  bodies_close(t->bodies);
  memcpy(t->seen, t->obstacles, sizeof t->seen);
  return bodies_open(&t->err, t->m, &t->scene, &t->bodies);
}
static loom_status test_host_body_gap(const loom_host *host, const loom_exec *e,
                                      const loom_body_rows *r, double progress,
                                      const loom_body_gap *out)
{
  LOOM_TRY(bodies_now(test_host_of(host)));
  return bodies_gap(test_host_of(host)->bodies, e, r, progress, out);
}
static loom_status test_host_body_impact(const loom_host *host, const loom_exec *e,
                                         const loom_body_rows *r, const loom_body_path *path)
{
  LOOM_TRY(bodies_now(test_host_of(host)));
  return bodies_impact(test_host_of(host)->bodies, e, r, path);
}
static loom_status test_host_body_near(const loom_host *host, const loom_exec *e,
                                       const loom_body_rows *r, double progress,
                                       const loom_body_near *out)
{
  LOOM_TRY(bodies_now(test_host_of(host)));
  return bodies_near(test_host_of(host)->bodies, e, r, progress, out);
}
static loom_status test_host_body_near_impact(const loom_host *host, const loom_exec *e,
                                              const loom_body_rows *r, const loom_body_path *path)
{
  LOOM_TRY(bodies_now(test_host_of(host)));
  return bodies_near_impact(test_host_of(host)->bodies, e, r, path);
}
static loom_status test_host_body_carry(const loom_host *host, const loom_exec *e,
                                        const loom_body_rows *r, double progress0, double progress1,
                                        loom_buf *out)
{
  LOOM_TRY(bodies_now(test_host_of(host)));
  return bodies_carry(test_host_of(host)->bodies, e, r, progress0, progress1, out);
}
static loom_status test_host_body_push(const loom_host *host, const loom_exec *e,
                                       const loom_body_rows *r, loom_buf *impulse, loom_buf *mass)
{
  LOOM_TRY(bodies_now(test_host_of(host)));
  return bodies_push(test_host_of(host)->bodies, e, r, impulse, mass);
}

static void test_host_inner(const loom_host *host, int32_t k, int norm, double value)
{
  (void)host, (void)k, (void)norm, (void)value;
}
static void test_host_count(const loom_host *host, int counter, int64_t n)
{
#pragma omp atomic
  test_host_of(host)->counters[counter] += n;
}
static loom_status test_host_fetch_later(const loom_host *host, const loom_exec *e, loom_buf *b,
                                         int n, double *out, void (*then)(void *user), void *user)
{
  loom_real v[8];
  void *p;
  LOOM_TRY(buf_map(test_host_of(host)->m, e, b, LOOM_READ, LOOM_AT_EXEC, &p));
  LOOM_TRY(exec_read(&test_host_of(host)->err, e, p, (size_t)n * sizeof *v, v));
  for (int i = 0; i < n; ++i) out[i] = (double)v[i];
  if (then != NULL) then(user);
  return buf_unmap(test_host_of(host)->m, b);
}
static void test_host_tic(const loom_host *host, const char *section) { (void)host, (void)section; }

void th_open(test_host *t, int threads, int check) { th_open_on(t, LOOM_CPU, threads, check); }

void th_open_on(test_host *t, int backend, int threads, int check)
{
  memset(t, 0, sizeof *t);
  cr_assert_eq(mem_new(&t->err, check, &t->m), LOOM_OK, "%s", t->err.text);
  cr_assert_eq(exec_open(&t->err, backend, threads, 1, 1, &t->exec), LOOM_OK, "%s", t->err.text);
  t->host = (loom_host){.struct_size = sizeof t->host,
                        .abi_major = LOOM_ABI_MAJOR,
                        .abi_minor = LOOM_ABI_MINOR,
                        .core = t,
                        .fail = test_host_fail,
                        .log = test_host_log,
                        .buf_new = test_host_buf_new,
                        .buf_resize = test_host_buf_resize,
                        .buf_free = test_host_buf_free,
                        .buf_count = test_host_buf_count,
                        .buf_copy = test_host_buf_copy,
                        .map = test_host_map,
                        .unmap = test_host_unmap,
                        .detect = test_host_detect,
                        .max_step = test_host_max_step,
                        .match_keys = test_host_match_keys,
                        .dot = test_host_dot,
                        .axpby = test_host_axpby,
                        .fill = test_host_fill,
                        .norm_max3 = test_host_norm_max3,
                        .spmv_bsr3 = host_spmv,
                        .scan_i64 = host_scan,
                        .sort_u64 = host_sort,
                        .inner = test_host_inner,
                        .count = test_host_count,
                        .tic = test_host_tic,
                        .toc = test_host_tic,
                        .body_gap = test_host_body_gap,
                        .body_impact = test_host_body_impact,
                        .body_carry = test_host_body_carry,
                        .body_push = test_host_body_push,
                        .fetch_later = test_host_fetch_later,
                        .body_near = test_host_body_near,
                        .body_near_impact = test_host_body_near_impact};
  t->scene.struct_size = sizeof t->scene;
  t->problem = (loom_problem){
      .struct_size = sizeof t->problem, .terms = LOOM_TERM_ALL, .h = 0.01, .inertia = 1e4};
  t->step.struct_size = sizeof t->step;
  t->step.problem = &t->problem;
  t->step.progress = 1.0;
}

void th_close(test_host *t)
{
  bodies_close(t->bodies);
  cr_expect(mem_mapped(t->m) == NULL, "still mapped: %s", mem_mapped(t->m));
  mem_free(t->m);
  exec_close(&t->exec);
}

/* ---- buffers ---- */

loom_buf *th_buf(test_host *t, int type, int64_t count, const void *values)
{
  loom_buf *b = NULL;
  MUST(t, buf_new(t->m, "test", "data", type, count, &b));
  if (values != NULL) th_put(t, b, values);
  return b;
}

void th_put(test_host *t, loom_buf *b, const void *values)
{
  void *p;
  MUST(t, buf_map(t->m, NULL, b, LOOM_WRITE, LOOM_AT_HOST, &p));
  memcpy(p, values, (size_t)buf_count(b) * buf_type_size(buf_type(b)));
  MUST(t, buf_unmap(t->m, b));
}

void *th_get(test_host *t, loom_buf *b)
{
  const size_t bytes = (size_t)buf_count(b) * buf_type_size(buf_type(b));
  void *p, *const copy = malloc(bytes + 1);
  cr_assert(copy != NULL);
  MUST(t, buf_map(t->m, NULL, b, LOOM_READ, LOOM_AT_HOST, &p));
  memcpy(copy, p, bytes);
  MUST(t, buf_unmap(t->m, b));
  return copy;
}

/* ---- scene ----
 */

void th_scene(test_host *t, int n, const loom_real *x, const loom_real *m, const loom_real *r,
              int num_obstacles)
{
  loom_real *const ones = malloc((size_t)n * sizeof *ones);
  loom_scene *const sc = &t->scene;
  loom_step *const s = &t->step;
  cr_assert(ones != NULL);
  for (int i = 0; i < n; ++i) ones[i] = 1;
  sc->num_verts = n;
  sc->num_obstacles = num_obstacles;
  sc->obstacles = t->obstacles;
  sc->rest_x = th_buf(t, LOOM_REAL, 3 * n, x);
  sc->mass = th_buf(t, LOOM_REAL, n, m != NULL ? m : ones);
  sc->radius = th_buf(t, LOOM_REAL, n, r);
  sc->fixed = th_buf(t, LOOM_U8, n, NULL);
  sc->layer = th_buf(t, LOOM_I32, n, NULL);
  sc->object = th_buf(t, LOOM_I32, n, NULL);
  s->h = 0.01;
  s->iter = -1;
  s->x = th_buf(t, LOOM_REAL, 3 * n, x);
  s->x_start = th_buf(t, LOOM_REAL, 3 * n, x);
  s->x_feas = th_buf(t, LOOM_REAL, 3 * n, x);
  s->y = th_buf(t, LOOM_REAL, 3 * n, x);
  s->trial = th_buf(t, LOOM_REAL, 3 * n, x);
  s->grad = th_buf(t, LOOM_REAL, 3 * n, NULL);
  s->v_start = th_buf(t, LOOM_REAL, 3 * n, NULL);
  s->v_end = th_buf(t, LOOM_REAL, 3 * n, NULL);
  s->f_next = th_buf(t, LOOM_REAL, 3 * n, NULL);
  free(ones);
}

loom_obstacle th_obstacle(const char *kind, const loom_real *shape, int num)
{
  const int mesh = strcmp(kind, "mesh") == 0;
  loom_obstacle o = {.struct_size = sizeof o,
                     .has = mesh ? LOOM_BODY_MESH : LOOM_BODY_DISTANCE,
                     .kind = kind,
                     .name = "body"};
  for (int i = 0; i < num; ++i) o.shape[i] = shape[i];
  for (int c = 0; c < 3; ++c) o.pose0[4 * c] = o.pose1[4 * c] = 1;
  return o;
}

void th_pose(loom_real pose[12], const double axis[3], double angle, const double t[3])
{
  const double s = sin(angle), c = cos(angle);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      const int k = 3 - i - j; /* the third index where i != j */
      const double turn = i == j ? 0.0 : ((j - i + 3) % 3 == 1 ? -1.0 : 1.0) * axis[k];
      pose[3 * i + j] = (loom_real)((i == j ? c : 0.0) + (1.0 - c) * axis[i] * axis[j] + s * turn);
    }
    pose[9 + i] = (loom_real)t[i];
  }
}

/* ---- plugins ----
 */

const loom_plugin *th_plugin(const char *file, int kind, const char *name)
{
  char path[1024];
  union {
    void *object;
    loom_plugin_query_fn function;
  } query;
  snprintf(path, sizeof path, "%s/%s.so", getenv("LOOM_PLUGIN_PATH"), file);
  void *const lib = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  cr_assert(lib != NULL, "%s", dlerror());
  query.object = dlsym(lib, "loom_plugin_query");
  cr_assert(query.object != NULL, "%s", dlerror());
  for (uint32_t i = 0;; ++i) {
    const loom_plugin *const p = query.function(LOOM_ABI, i);
    cr_assert(p != NULL, "%s exports no '%s' of kind %d", path, name, kind);
    if (p->kind == kind && strcmp(p->name, name) == 0) return p;
  }
}

static void set_value(const loom_param *p, void *settings, const char *text)
{
  char *const at = (char *)settings + p->offset;
  if (p->flags & LOOM_P_GONE) return;
  switch (p->type) {
  case LOOM_P_REAL:
    *(double *)at = text != NULL ? strtod(text, NULL) : p->def;
    break;
  case LOOM_P_INT:
    *(int64_t *)at = text != NULL ? strtoll(text, NULL, 10) : (int64_t)p->def;
    break;
  case LOOM_P_BOOL:
  case LOOM_P_ENUM:
    *(int32_t *)at = text != NULL ? atoi(text) : (int32_t)p->def;
    break;
  case LOOM_P_TEXT:
    *(const char **)at = text != NULL ? text : p->def_text;
    break;
  default:
    cr_assert_fail("parameter %s: the test host knows no type %d", p->key, p->type);
  }
}

void *th_settings(const loom_plugin *p, const char *values)
{
  enum { TEXT = 512 }; /* behind the settings, so that values live as long */
  void *const settings = calloc(1, p->settings_size + TEXT);
  char *const text = (char *)settings + p->settings_size, *save = NULL;
  cr_assert(settings != NULL);
  for (uint32_t i = 0; i < p->num_params; ++i) set_value(&p->params[i], settings, NULL);
  snprintf(text, TEXT, "%s", values);
  for (char *w = strtok_r(text, " ", &save); w != NULL; w = strtok_r(NULL, " ", &save)) {
    char *const eq = strchr(w, '=');
    uint32_t i = 0;
    cr_assert(eq != NULL, "'%s' is not key=value", w);
    *eq = '\0';
    while (i < p->num_params && strcmp(p->params[i].key, w) != 0) ++i;
    cr_assert(i < p->num_params, "%s has no parameter '%s'", p->name, w);
    set_value(&p->params[i], settings, eq + 1);
  }
  return settings;
}

/* scene.body_friction of the obstacles as they are */
static void store_body_friction(test_host *t)
{
  loom_real mu[8];
  const int num = t->scene.num_obstacles;
  for (int k = 0; k < num; ++k) mu[k] = t->obstacles[k].friction;
  if (t->scene.body_friction == NULL) t->scene.body_friction = th_buf(t, LOOM_REAL, num, NULL);
  th_put(t, t->scene.body_friction, mu);
}

void *th_create(test_host *t, const loom_plugin *p, const void *settings)
{
  void *self = NULL;
  store_body_friction(t);
  const loom_status s =
      p->kind == LOOM_KIND_CONTACT
          ? p->ops.contact->create(&t->host, &t->scene, &t->exec, settings, &self)
          : p->ops.collision->create(&t->host, &t->scene, &t->exec, settings, &self);
  cr_assert_eq(s, LOOM_OK, "%s: %s %s", p->name, t->err.text, mem_err(t->m)->text);
  return self;
}

void th_attach(test_host *t, const loom_plugin *p, void *self)
{
  t->collision = p->ops.collision;
  t->collision_self = self;
}

/* ---- pairs ---- */

enum { PAIR_ARRAYS = 9 };
static const int pair_types[PAIR_ARRAYS] = {LOOM_I32,  LOOM_I32,  LOOM_I32,  LOOM_REAL, LOOM_REAL,
                                            LOOM_REAL, LOOM_REAL, LOOM_REAL, LOOM_U64};
static const int pair_widths[PAIR_ARRAYS] = {1, 4, 1, 4, 3, 1, 3, 1, 1};

static void list_pair_arrays(loom_pairs *p, loom_buf **all[PAIR_ARRAYS])
{
  loom_buf **const list[PAIR_ARRAYS] = {&p->kind, &p->v,     &p->obst, &p->w,  &p->normal,
                                        &p->gap,  &p->point, &p->toi,  &p->key};
  memcpy(all, list, sizeof list);
}

void th_pairs_open(test_host *t, loom_pairs *p, int64_t capacity)
{
  loom_buf **a[PAIR_ARRAYS];
  memset(p, 0, sizeof *p);
  p->struct_size = sizeof *p;
  p->capacity = capacity;
  list_pair_arrays(p, a);
  for (int i = 0; i < PAIR_ARRAYS; ++i)
    MUST(t, buf_new(t->m, "test", "pairs", pair_types[i], pair_widths[i] * capacity, a[i]));
}

void th_pairs_close(test_host *t, loom_pairs *p)
{
  loom_buf **a[PAIR_ARRAYS];
  list_pair_arrays(p, a);
  for (int i = 0; i < PAIR_ARRAYS; ++i) buf_free(t->m, *a[i]);
  memset(p, 0, sizeof *p);
}

int th_detect(test_host *t, const loom_query *q, loom_pairs *p)
{
  loom_buf **a[PAIR_ARRAYS];
  int grown = 0;
  loom_status s;
  list_pair_arrays(p, a);
  p->count = 0;
  p->kinds = 0;
  while ((s = TH_CALL(t->collision, detect, t->collision_self, &t->step, q, p)) == LOOM_GROW) {
    cr_assert(p->count > p->capacity, "asked to grow to %d of %d", (int)p->count, (int)p->capacity);
    p->capacity = p->count;
    p->count = 0;
    for (int i = 0; i < PAIR_ARRAYS; ++i)
      MUST(t, buf_resize(t->m, *a[i], pair_widths[i] * p->capacity));
    ++grown;
  }
  cr_assert_eq(s, LOOM_OK, "%s %s", t->err.text, mem_err(t->m)->text);
  cr_assert(mem_mapped(t->m) == NULL, "still mapped: %s", mem_mapped(t->m));
  return grown;
}

int64_t th_contact_hessian(test_host *t, const loom_contact_ops *ops, void *self, const double *x,
                           int how, int fixed, double *H, int stride)
{
  loom_blocks3 b = {.struct_size = sizeof b};
  loom_status s;
  b.row = th_buf(t, LOOM_I32, 0, NULL);
  b.col = th_buf(t, LOOM_I32, 0, NULL);
  b.val = th_buf(t, LOOM_REAL, 0, NULL);
  th_put(t, t->step.trial, x);
  while ((s = ops->hessian(self, &t->step, t->step.trial, how, &b)) == LOOM_GROW) {
    cr_assert_eq(buf_resize(t->m, b.row, b.count), LOOM_OK);
    cr_assert_eq(buf_resize(t->m, b.col, b.count), LOOM_OK);
    cr_assert_eq(buf_resize(t->m, b.val, 9 * b.count), LOOM_OK);
    b.capacity = b.count;
    b.count = 0;
  }
  cr_assert_eq(s, LOOM_OK, "%s", t->err.text);
  int32_t *const row = th_get(t, b.row), *const col = th_get(t, b.col);
  loom_real *const val = th_get(t, b.val);
  memset(H, 0, sizeof *H * (size_t)stride * (size_t)stride);
  for (int64_t j = 0; j < b.count; ++j) {
    cr_assert(row[j] >= 0 && 3 * row[j] < stride && col[j] >= 0 && 3 * col[j] < stride,
              "blocks of vertices of the cloth alone");
    cr_assert(row[j] != fixed && col[j] != fixed, "no blocks of fixed vertices");
    for (int i = 0; i < 9; ++i)
      H[stride * (3 * row[j] + i / 3) + 3 * col[j] + i % 3] += val[9 * j + i];
  }
  free(row), free(col), free(val);
  buf_free(t->m, b.row), buf_free(t->m, b.col), buf_free(t->m, b.val);
  return b.count;
}

double th_random(uint64_t *state)
{
  uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (double)((z ^ (z >> 31)) >> 11) * 0x1p-52 - 1.0;
}
