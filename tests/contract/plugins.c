/* plugins.c - see plugins.h. */
#include "contract/plugins.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "support/device.h"

/* Methods that plugins offer beside their default one. */
static const struct {
  const char *name;
  int kind;
  const char *set;
} variants[] = {
    {"cholmod_newton", LOOM_KIND_SOLVER, "solver.ordering=amd"},
    {"ndb_pd", LOOM_KIND_SOLVER, "solver.smoother=pcg solver.weights=exact"},
    {"ndb_pd", LOOM_KIND_SOLVER, /* Wang 2015 */
     "solver.subspace=none solver.smoother=chebyshev solver.warm=0 solver.momentum=none"},
    {"ndb_pd", LOOM_KIND_SOLVER,
     "solver.subspace=bspline solver.smoother=jacobi solver.precision=mixed"},
    {"ndb_pd", LOOM_KIND_SOLVER, "solver.reuse=plain solver.update=table solver.fused=1"},
    {"ndb_pd", LOOM_KIND_SOLVER,
     "solver.modes=ordinary solver.base=rest solver.momentum=none solver.reduced=inverse"},
    {"ndb_pd", LOOM_KIND_SOLVER,
     "solver.reuse=presmooth solver.momentum=chebyshev solver.rank=3 solver.update=full"},
    {"vbd", LOOM_KIND_SOLVER, "solver.rho=0.5 solver.hessian=exact solver.guess=adaptive"},
    {"ndb", LOOM_KIND_CONTACT, "contact.c.growth=literal contact.c.carry=no"},
};

const char *plugins_folder(int kind)
{
  static const char *const folders[] = {"solvers", "collision", "contact"};
  return folders[kind];
}

int plugins_is_variant(const ct_plugin *p)
{
  return p->set[0] != '\0' && strcmp(p->set, ON_CUDA) != 0;
}

static int compare_contract_plugins(const void *a, const void *b)
{
  const ct_plugin *const p = a, *const q = b;
  const int order = strcmp(p->name, q->name), kind = (p->kind > q->kind) - (p->kind < q->kind);
  return order != 0 ? order : kind != 0 ? kind : strcmp(p->set, q->set);
}

static int has_folder(const char *name, int kind)
{
  char path[1024];
  struct stat st;
  snprintf(path, sizeof path, "%s/plugins/%s/%s", getenv("LOOM_SOURCE_DIR"), plugins_folder(kind),
           name);
  return stat(path, &st) == 0;
}

static size_t append_contract_plugin(ct_plugin *list, size_t n, const char *name, int kind,
                                     const char *set)
{
  if (n == PLUGINS_MOST) return n;
  list[n] = (ct_plugin){.kind = kind};
  snprintf(list[n].name, sizeof list[n].name, "%s", name);
  snprintf(list[n].set, sizeof list[n].set, "%s%s%s", set,
           test_on_cuda() && set[0] != '\0' ? " " : "", test_on_cuda() ? ON_CUDA : "");
  return n + 1;
}

/* Modules are not opened here: this runs in the parent of all tests.  A module may hold one
 * plugin of each kind, so its kinds come from the source folders of its name. */
size_t plugins_in_tree(int kind, ct_plugin list[PLUGINS_MOST])
{
  size_t n = 0;
  DIR *const d = opendir(getenv("LOOM_PLUGIN_PATH"));
  for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
    char name[64];
    const size_t len = strlen(e->d_name);
    if (len < 4 || len - 3 >= sizeof name || strcmp(e->d_name + len - 3, ".so") != 0) continue;
    snprintf(name, sizeof name, "%.*s", (int)(len - 3), e->d_name);
    for (int k = 0; k < LOOM_NUM_KINDS; ++k) {
      if ((kind >= 0 && k != kind) || !has_folder(name, k)) continue;
      n = append_contract_plugin(list, n, name, k, "");
      for (size_t v = 0; v < LOOM_COUNT(variants); ++v)
        if (variants[v].kind == k && strcmp(variants[v].name, name) == 0)
          n = append_contract_plugin(list, n, name, k, variants[v].set);
    }
  }
  if (d != NULL) closedir(d);
  qsort(list, n, sizeof *list, compare_contract_plugins);
  return n;
}
