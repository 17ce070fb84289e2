/* fit_matrix.c - `loom list --fit CONFIG`: which plugins would go together in a run, why others
 * would not, and the physical limits of the plugins that would. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/run_state.h"

enum { MAX_PLUGINS = 64, MAX_REASONS = 99 };

typedef struct matrix {
  run *r;
  FILE *f;
  const loom_plugin *solvers[MAX_PLUGINS], *models[MAX_PLUGINS], *finders[MAX_PLUGINS];
  int num_solvers, num_models, num_finders;
  int solver_fits[MAX_PLUGINS], model_fits[MAX_PLUGINS]; /* 1: with some other one */
  char *reasons[MAX_REASONS]; /* each once, in the order of their numbers */
  int num_reasons;
} matrix;

static int compare_plugin_names(const void *pa, const void *pb)
{
  const loom_plugin *const *const a = pa, *const *const b = pb;
  return strcmp((*a)->name, (*b)->name);
}

/* Modules that a child process could open, open in this one, too: their functions tell which
 * capabilities settings take from a model.  Opening one moves the entries of the registry, so names
 * are gathered first. */
static loom_status gather_kind_plugins(matrix *m, loom_err *err, int kind, const loom_plugin **all,
                                       int *count)
{
  registry *const reg = m->r->reg;
  char names[MAX_PLUGINS][64];
  int n = 0;
  LOOM_TRY(registry_look(err, reg));
  for (int i = 0; i < registry_count(reg) && n < MAX_PLUGINS; ++i) {
    const loom_plugin *const p = registry_at(reg, i)->plugin;
    int known = p == NULL || p->kind != kind;
    for (int k = 0; !known && k < n; ++k) known = strcmp(names[k], p->name) == 0;
    if (!known) snprintf(names[n++], sizeof names[0], "%s", p->name);
  }
  for (int i = 0; i < n; ++i) {
    const reg_entry *e = NULL;
    LOOM_TRY(registry_find(err, reg, kind, names[i], &e));
    all[i] = e->plugin;
  }
  *count = n;
  qsort(all, (size_t)n, sizeof *all, compare_plugin_names);
  return LOOM_OK;
}

/* With its own settings where the config names it, else with its defaults. */
static uint32_t lacks_of(const contact_inst *at, const loom_plugin *model)
{
  if (model == at->in.plugin || model->settings_size == 0)
    return fit_contact_lacks(model, at->in.settings);
  void *const defaults = calloc(1, model->settings_size);
  if (defaults == NULL) return 0;
  cfg_defaults(model->params, model->num_params, defaults);
  const uint32_t lacks = fit_contact_lacks(model, defaults);
  free(defaults);
  return lacks;
}

/* 0: they fit; else the number of the reason, MAX_REASONS + 1 where there are too many. */
static int find_misfit_reason(matrix *m, const instances_swap *swap)
{
  loom_err why = {0};
  if (instances_would_fit(m->r, swap, &why) == LOOM_OK) return 0;
  why.text[strcspn(why.text, "\n")] = '\0';
  for (int i = 0; i < m->num_reasons; ++i)
    if (strcmp(m->reasons[i], why.text) == 0) return i + 1;
  if (m->num_reasons == MAX_REASONS) return MAX_REASONS + 1;
  m->reasons[m->num_reasons] = strdup(why.text);
  return m->reasons[m->num_reasons] != NULL ? ++m->num_reasons : MAX_REASONS + 1;
}

static const char *format_fit_mark(int reason, char buf[16])
{
  if (reason == 0) return "+";
  snprintf(buf, 16, reason > MAX_REASONS ? "-" : "%d", reason);
  return buf;
}

static void print_reasons(matrix *m)
{
  for (int i = 0; i < m->num_reasons; ++i) {
    fprintf(m->f, "  %2d  %s\n", i + 1, m->reasons[i]);
    free(m->reasons[i]);
  }
  m->num_reasons = 0;
}

/* ---- for readers ---- */

static void print_contact(matrix *m, int at)
{
  const contact_inst *const c = &m->r->contact[at];
  char buf[16];
  fprintf(m->f, "[%s] plugin, below the solver; + fits, a number is a reason\n  %-16s", c->in.name,
          "");
  for (int i = 0; i < m->num_solvers; ++i) fprintf(m->f, " %s", m->solvers[i]->name);
  fprintf(m->f, "\n");
  for (int k = 0; k < m->num_models; ++k) {
    const uint32_t lacks = lacks_of(c, m->models[k]);
    fprintf(m->f, "  %-16s", m->models[k]->name);
    for (int i = 0; i < m->num_solvers; ++i) {
      const instances_swap swap = {.solver = m->solvers[i],
                                   .contact = at,
                                   .model = m->models[k],
                                   .lacks = lacks,
                                   .collision = -1};
      const int reason = find_misfit_reason(m, &swap);
      if (reason == 0) m->solver_fits[i] = m->model_fits[k] = 1;
      fprintf(m->f, " %*s", (int)strlen(m->solvers[i]->name), format_fit_mark(reason, buf));
    }
    fprintf(m->f, "\n");
  }
  print_reasons(m);
}

static void print_collision(matrix *m, int at)
{
  char buf[16];
  fprintf(m->f, "[%s] plugin, everything else as it is\n", m->r->collision[at].name);
  for (int k = 0; k < m->num_finders; ++k) {
    const instances_swap swap = {.contact = -1, .collision = at, .finder = m->finders[k]};
    fprintf(m->f, "  %-16s %s\n", m->finders[k]->name,
            format_fit_mark(find_misfit_reason(m, &swap), buf));
  }
  print_reasons(m);
}

/* Physical limits of the plugins that fit somewhere. */
static void print_limits(const matrix *m)
{
  char before[80];
  int num = 0;
  for (int kind = 0; kind < 2; ++kind)
    for (int i = 0; i < (kind == 0 ? m->num_solvers : m->num_models); ++i) {
      const loom_plugin *const p = kind == 0 ? m->solvers[i] : m->models[i];
      if (!(kind == 0 ? m->solver_fits[i] : m->model_fits[i])) continue;
      if (*registry_limits(p) == '\0') continue;
      if (num++ == 0) fprintf(m->f, "limits: physical errors of the plugins, measured\n");
      snprintf(before, sizeof before, "  %-16s ", p->name);
      registry_print_limits(p, before, m->f);
    }
}

/* ---- for scripts ---- */

static void note_fit(matrix *m, const char *solver, const char *model)
{
  for (int i = 0; i < m->num_solvers; ++i)
    if (strcmp(m->solvers[i]->name, solver) == 0) m->solver_fits[i] = 1;
  for (int k = 0; k < m->num_models; ++k)
    if (strcmp(m->models[k]->name, model) == 0) m->model_fits[k] = 1;
}

static void write_json_escaped(FILE *f, const char *text)
{
  for (; *text != '\0'; ++text) {
    if ((unsigned char)*text < 0x20)
      fprintf(f, "\\u%04x", (unsigned)*text);
    else
      fprintf(f, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
  }
}

/* The same in JSON: lines, as in the descriptor. */
static void json_limits(const matrix *m)
{
  int num = 0;
  for (int kind = 0; kind < 2; ++kind)
    for (int i = 0; i < (kind == 0 ? m->num_solvers : m->num_models); ++i) {
      const loom_plugin *const p = kind == 0 ? m->solvers[i] : m->models[i];
      if (!(kind == 0 ? m->solver_fits[i] : m->model_fits[i])) continue;
      if (*registry_limits(p) == '\0') continue;
      fprintf(m->f, "%s\n  {\"plugin\": \"%s\", \"kind\": \"%s\", \"text\": \"",
              num++ > 0 ? "," : "", p->name, registry_kind_name(p->kind));
      write_json_escaped(m->f, registry_limits(p));
      fprintf(m->f, "\"}");
    }
}

static void json_row(matrix *m, int *first, const char *section, const char *solver,
                     const char *plugin, const instances_swap *swap)
{
  const int reason = find_misfit_reason(m, swap);
  if (reason == 0) note_fit(m, solver, plugin);
  const char *why = reason > 0 && reason <= MAX_REASONS ? m->reasons[reason - 1] : "";
  fprintf(m->f, "%s\n  {\"section\": \"%s\", \"solver\": \"%s\", \"plugin\": \"%s\", \"fits\": %s",
          *first ? "" : ",", section, solver, plugin, reason == 0 ? "true" : "false");
  if (reason > 0) {
    fprintf(m->f, ", \"why\": \"");
    write_json_escaped(m->f, why);
    fprintf(m->f, "\"");
  }
  fprintf(m->f, "}");
  *first = 0;
}

static void json_all(matrix *m)
{
  int first = 1;
  fprintf(m->f, "{\"fit\": [");
  for (int at = 0; at < m->r->num_contact; ++at)
    for (int k = 0; k < m->num_models; ++k)
      for (int i = 0; i < m->num_solvers; ++i) {
        const instances_swap swap = {.solver = m->solvers[i],
                                     .contact = at,
                                     .model = m->models[k],
                                     .lacks = lacks_of(&m->r->contact[at], m->models[k]),
                                     .collision = -1};
        json_row(m, &first, m->r->contact[at].in.name, m->solvers[i]->name, m->models[k]->name,
                 &swap);
      }
  for (int at = 0; at < m->r->num_collision; ++at)
    for (int k = 0; k < m->num_finders; ++k) {
      const instances_swap swap = {.contact = -1, .collision = at, .finder = m->finders[k]};
      json_row(m, &first, m->r->collision[at].name, m->r->solver.plugin->name, m->finders[k]->name,
               &swap);
    }
  fprintf(m->f, "], \"limits\": [");
  json_limits(m);
  fprintf(m->f, "]}\n");
}

loom_status run_print_fit(run *r, loom_err *err, int json, void *file)
{
  matrix *const m = calloc(1, sizeof *m);
  if (m == NULL) return err_set(err, LOOM_E_NOMEM, "out of memory");
  m->r = r;
  m->f = file;
  loom_status s = gather_kind_plugins(m, err, LOOM_KIND_SOLVER, m->solvers, &m->num_solvers);
  if (s == LOOM_OK) s = gather_kind_plugins(m, err, LOOM_KIND_CONTACT, m->models, &m->num_models);
  if (s == LOOM_OK)
    s = gather_kind_plugins(m, err, LOOM_KIND_COLLISION, m->finders, &m->num_finders);
  if (s == LOOM_OK && json) json_all(m);
  if (s == LOOM_OK && !json) {
    for (int i = 0; i < r->num_contact; ++i) print_contact(m, i);
    for (int i = 0; i < r->num_collision; ++i) print_collision(m, i);
    print_limits(m);
  }
  for (int i = 0; i < m->num_reasons; ++i) free(m->reasons[i]);
  free(m);
  return s;
}
