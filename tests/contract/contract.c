/* contract.c - scene, runs and instances of the contract tests; see contract.h. */
#include "contract.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *const folders[] = {"solvers", "collision", "contact"};

/* A soft sheet, pinned at two corners, 2 mm above a ball: contact comes up within the
 * first steps, and gradient descent makes headway too. */
static const char *const scene = "[run]\n"
                                 "dt = 0.01\n"
                                 "steps = 4\n"
                                 "[stop]\n"
                                 "tol_abs = 1e-9\n"
                                 "tol_rel = 0\n"
                                 "max_iters = 6\n"
                                 "[log]\n"
                                 "audit = off\n"
                                 "[exec]\n"
                                 "backend = cpu\n"
                                 "threads = 2\n"
                                 "[cloth.sheet]\n"
                                 "shape = grid\n"
                                 "size = 0.2 0.2\n"
                                 "resolution = 7 7\n"
                                 "density = 0.2\n"
                                 "membrane = 20\n"
                                 "bending = 1e-5\n"
                                 "thickness = 0.001\n"
                                 "pins = 0 6\n"
                                 "[body.ball]\n"
                                 "shape = sphere\n"
                                 "radius = 0.1\n"
                                 "position = 0 0 -0.1025\n";

/* Methods that plugins offer beside their default one. */
static const struct {
  const char *name;
  int kind;
  const char *set;
} variants[] = {
    {"cholmod_newton", LOOM_KIND_SOLVER, "solver.factor=cholmod"},
    {"ndb_pd", LOOM_KIND_SOLVER, "solver.smoother=pcg solver.weights=exact"},
    {"ndb_pd", LOOM_KIND_SOLVER, "solver.subspace=none solver.smoother=jacobi"},
    {"ndb_pd", LOOM_KIND_SOLVER,
     "solver.subspace=bspline solver.smoother=chebyshev solver.precision=mixed"},
    {"ndb_pd", LOOM_KIND_SOLVER, "solver.reuse=plain solver.update=table solver.fused=1"},
    {"ndb_pd", LOOM_KIND_SOLVER,
     "solver.modes=ordinary solver.base=rest solver.momentum=none solver.reduced=inverse"},
    {"ndb_pd", LOOM_KIND_SOLVER,
     "solver.reuse=presmooth solver.momentum=chebyshev solver.rank=3 solver.update=full"},
    {"ndb", LOOM_KIND_CONTACT, "contact.c.growth=literal contact.c.carry=no"},
};

/* ---- the plugins of the build tree ------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
  const ct_plugin *const p = a, *const q = b;
  const int order = strcmp(p->name, q->name), kind = (p->kind > q->kind) - (p->kind < q->kind);
  return order != 0 ? order : kind != 0 ? kind : strcmp(p->set, q->set);
}

static int has_folder(const char *name, int kind)
{
  char path[1024];
  struct stat st;
  snprintf(path, sizeof path, "%s/plugins/%s/%s", getenv("LOOM_SOURCE_DIR"), folders[kind], name);
  return stat(path, &st) == 0;
}

/* Modules are not opened here: this runs in the parent of all tests.  A module may hold one
 * plugin of each kind, so the kinds are those of the source folders of its name. */
struct criterion_test_params ct_plugins(int kind)
{
  enum { MOST = 256 };
  ct_plugin *list = cr_malloc(MOST * sizeof *list);
  size_t n = 0;
  DIR *const d = opendir(getenv("LOOM_PLUGIN_PATH"));
  for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
    const size_t len = strlen(e->d_name), before = n;
    ct_plugin p = {.kind = -1};
    if (len < 4 || len - 3 >= sizeof p.name || strcmp(e->d_name + len - 3, ".so") != 0) continue;
    memcpy(p.name, e->d_name, len - 3);
    for (int k = 0; k < LOOM_NUM_KINDS && n < MOST; ++k) {
      if (!has_folder(p.name, k)) continue;
      p.kind = k;
      list[n++] = p;
      for (size_t v = 0; v < LOOM_COUNT(variants) && n < MOST; ++v) {
        if (variants[v].kind != k || strcmp(variants[v].name, p.name) != 0) continue;
        list[n] = p;
        snprintf(list[n].set, sizeof list[n].set, "%s", variants[v].set);
        ++n;
      }
    }
    if (n == before && n < MOST) list[n++] = p;
    /* keep what was asked for */
    size_t to = before;
    for (size_t i = before; i < n; ++i)
      if (kind < 0 || list[i].kind == kind) list[to++] = list[i];
    n = to;
  }
  if (d != NULL) closedir(d);
  qsort(list, n, sizeof *list, by_name);
  return cr_make_param_array(ct_plugin, list, n, NULL);
}

const loom_plugin *ct_load(const ct_plugin *p, registry **reg)
{
  loom_err err = {0};
  cr_assert_eq(registry_open(&err, "", reg), LOOM_OK, "%s", err.text);
  for (int i = 0; i < registry_count(*reg); ++i) {
    const reg_entry *const e = registry_at(*reg, i);
    if (e->plugin != NULL && strcmp(e->plugin->name, p->name) == 0 &&
        (p->kind < 0 || e->plugin->kind == p->kind))
      return e->plugin;
  }
  registry_find(&err, *reg, p->kind < 0 ? 0 : p->kind, p->name, &(const reg_entry *){NULL});
  cr_assert_fail("%s", err.text);
  return NULL;
}

/* ---- runs -------------------------------------------------------------------------------- */

static int bits(uint32_t v)
{
  int n = 0;
  for (; v != 0; v &= v - 1) ++n;
  return n;
}

/* Names for the places beside `p`: the fitting combination with most capabilities. */
static void partners(const ct_plugin *p, const char *name[LOOM_NUM_KINDS])
{
  loom_err err = {0};
  registry *reg = NULL;
  int best = -1;
  const char *pick[LOOM_NUM_KINDS] = {"gd", "", ""};
  cr_assert_eq(registry_open(&err, "", &reg), LOOM_OK, "%s", err.text);
  const int n = registry_count(reg);
  for (int i = 0; i < n * n * n; ++i) {
    const loom_plugin *use[LOOM_NUM_KINDS];
    int fits = 1, q = i;
    for (int k = 0; k < LOOM_NUM_KINDS; ++k, q /= n) {
      use[k] = registry_at(reg, q % n)->plugin;
      fits &= use[k] != NULL && use[k]->kind == k;
      fits = fits && (p->kind != k || strcmp(use[k]->name, p->name) == 0);
    }
    if (!fits) continue;
    const fit_contact c = {"c",
                           use[LOOM_KIND_CONTACT],
                           use[LOOM_KIND_CONTACT]->ops.contact->pair_kinds,
                           &use[LOOM_KIND_COLLISION],
                           1,
                           0};
    if (fit_check(&err, NULL, use[LOOM_KIND_SOLVER], &c, 1, 15u, LOOM_CPU, 1, NULL) != LOOM_OK)
      continue;
    const int score = bits(fit_contact_provides(use[LOOM_KIND_CONTACT])) +
                      bits(use[LOOM_KIND_COLLISION]->ops.collision->provides);
    if (score <= best) continue;
    best = score;
    for (int k = 0; k < LOOM_NUM_KINDS; ++k) pick[k] = use[k]->name;
  }
  if (best < 0) pick[p->kind] = p->name; /* alone */
  memcpy(name, pick, sizeof pick);
  registry_close(reg); /* names are constants of modules, which stay loaded */
}

loom_status ct_try(ct_run *t, const char *solver, const char *collision, const char *contact,
                   const char *more)
{
  int n = snprintf(t->ini, sizeof t->ini, "%s[solver]\nplugin = %s\n", scene, solver);
  if (collision[0] != '\0')
    n += snprintf(t->ini + n, sizeof t->ini - (size_t)n, "[collision.c]\nplugin = %s\n", collision);
  if (contact[0] != '\0')
    n += snprintf(t->ini + n, sizeof t->ini - (size_t)n, "[contact.c]\nplugin = %s\n", contact);
  t->opt.steps = -1;
  t->opt.no_log = 1;
  char word[1024];
  const char *sets[16];
  int num_sets = 0;
  /* `more` is a list of section.key=value, separated by blanks */
  snprintf(word, sizeof word, "%s", more);
  for (char *save = NULL, *w = strtok_r(word, " ", &save); w != NULL && num_sets < 16;
       w = strtok_r(NULL, " ", &save))
    sets[num_sets++] = w;
  LOOM_TRY(cfg_parse(&t->err, t->ini, "contract.ini", ".", sets, num_sets, &t->c));
  return run_open(&t->err, t->c, &t->opt, &t->r);
}

static void open_with(ct_run *t, const ct_plugin *p, const char *more, int mem_check)
{
  const char *name[LOOM_NUM_KINDS];
  char all[1024];
  snprintf(all, sizeof all, "%s %s", p->set, more);
  *t = (ct_run){.opt = {.mem_check = mem_check}};
  partners(p, name);
  const loom_status s =
      ct_try(t, name[LOOM_KIND_SOLVER], name[LOOM_KIND_COLLISION], name[LOOM_KIND_CONTACT], all);
  cr_assert_eq(s, LOOM_OK, "%s %s with %s/%s/%s: %s", p->name, p->set, name[0], name[1], name[2],
               t->err.text);
}

void ct_open(ct_run *t, const ct_plugin *p, const char *more) { open_with(t, p, more, 0); }
void ct_open_checked(ct_run *t, const ct_plugin *p, const char *more) { open_with(t, p, more, 1); }

void ct_close(ct_run *t)
{
  int leaks = 0;
  run_close(t->r, &leaks);
  cfg_free(t->c);
  cr_assert_eq(leaks, 0, "%d buffers left behind", leaks);
}

const char *ct_message(const ct_run *t)
{
  return t->err.code != LOOM_OK ? t->err.text : mem_err(t->r->m)->text;
}

/* ---- instances ----------------------------------------------------------------------------- */

instance *ct_instance(run *r, const ct_plugin *p)
{
  if (p->kind == LOOM_KIND_SOLVER) return &r->solver;
  if (p->kind == LOOM_KIND_COLLISION && r->num_collision > 0) return &r->collision[0];
  if (p->kind == LOOM_KIND_CONTACT && r->num_contact > 0) return &r->contact[0].in;
  cr_assert_fail("the run has no place for %s", p->name);
  return NULL;
}

loom_status ct_create(instance *in)
{
  const loom_scene *const sc = &in->r->scene->pub;
  in->self = NULL;
  in->created = 1;
  switch (in->plugin->kind) {
  case LOOM_KIND_SOLVER:
    return in->plugin->ops.solver->create(&in->host, sc, in->exec, in->settings, &in->self);
  case LOOM_KIND_COLLISION:
    return in->plugin->ops.collision->create(&in->host, sc, in->exec, in->settings, &in->self);
  default:
    return in->plugin->ops.contact->create(&in->host, sc, in->exec, in->settings, &in->self);
  }
}

void ct_destroy(instance *in)
{
  void (*const f)(void *) = in->plugin->kind == LOOM_KIND_SOLVER ? in->plugin->ops.solver->destroy
                            : in->plugin->kind == LOOM_KIND_COLLISION
                                ? in->plugin->ops.collision->destroy
                                : in->plugin->ops.contact->destroy;
  if (in->self != NULL) f(in->self);
  in->self = NULL;
  in->created = 0;
}

loom_status ct_reset(instance *in)
{
  loom_status (*const f)(void *) =
      in->plugin->kind == LOOM_KIND_SOLVER      ? in->plugin->ops.solver->reset
      : in->plugin->kind == LOOM_KIND_COLLISION ? in->plugin->ops.collision->reset
                                                : in->plugin->ops.contact->reset;
  return f != NULL ? f(in->self) : LOOM_OK;
}

typedef loom_status (*checkpoint_fn)(void *self, const loom_step *s, int restore);

static checkpoint_fn checkpoint_of(const instance *in)
{
  return in->plugin->kind == LOOM_KIND_SOLVER      ? in->plugin->ops.solver->checkpoint
         : in->plugin->kind == LOOM_KIND_COLLISION ? in->plugin->ops.collision->checkpoint
                                                   : in->plugin->ops.contact->checkpoint;
}

int ct_has_checkpoint(const instance *in) { return checkpoint_of(in) != NULL; }

loom_status ct_checkpoint(instance *in, const loom_step *s, int restore)
{
  return checkpoint_of(in)(in->self, s, restore);
}

void ct_twin(const instance *of, instance *twin)
{
  *twin = *of;
  twin->self = NULL;
  twin->created = 0;
  snprintf(twin->name, sizeof twin->name, "twin");
  host_table_fill(twin);
}

/* ---- steps and states ----------------------------------------------------------------------- */

void ct_steps(ct_run *t, int64_t first, int64_t count)
{
  for (int64_t k = first; k < first + count; ++k)
    cr_assert_eq(step_once(t->r, k), LOOM_OK, "step %lld: %s", (long long)k, ct_message(t));
}

double *ct_values(run *r, loom_buf *b, int64_t *n)
{
  const int64_t count = buf_count(b);
  double *const v = malloc((size_t)count * sizeof *v);
  void *p;
  cr_assert(v != NULL);
  cr_assert_eq(buf_map(r->m, NULL, b, LOOM_READ, LOOM_AT_HOST, &p), LOOM_OK);
  for (int64_t i = 0; i < count; ++i) v[i] = (double)((const loom_real *)p)[i];
  cr_assert_eq(buf_unmap(r->m, b), LOOM_OK);
  if (n != NULL) *n = count;
  return v;
}

void ct_set_values(run *r, loom_buf *b, const double *v)
{
  void *p;
  cr_assert_eq(buf_map(r->m, NULL, b, LOOM_WRITE, LOOM_AT_HOST, &p), LOOM_OK);
  for (int64_t i = 0; i < buf_count(b); ++i) ((loom_real *)p)[i] = (loom_real)v[i];
  cr_assert_eq(buf_unmap(r->m, b), LOOM_OK);
}

void ct_same_x(run *a, run *b, const char *what)
{
  int64_t n;
  double *const x = ct_values(a, a->st.x, &n), *const y = ct_values(b, b->st.x, NULL);
  for (int64_t i = 0; i < n; ++i)
    cr_assert(memcmp(&x[i], &y[i], sizeof x[i]) == 0, "%s: vertex %lld is at %.17g, not at %.17g",
              what, (long long)(i / 3), y[i], x[i]);
  free(x);
  free(y);
}
