/* cmd_describe.c - `loom describe NAME`: a plugin, or a section of the core, in full. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/commands.h"
#include "app/listing.h"
#include "app/schema.h"
#include "app/shared_files.h"
#include "config/config.h"
#include "core/fit.h"
#include "run/base/settings.h"
#include "scene/base/scene_data.h"

static const char usage[] =
    "usage: loom describe NAME [--plugin-path DIRS] [--json]\n"
    "       loom describe --schema [--plugin-path DIRS]   JSON schema of configurations\n"
    "  NAME  a plugin (loom list); materials, methods, scenes or animations, files that any\n"
    "        configuration may name; or a section: run, exec, stop, detect, filter, log, cloth,\n"
    "        region, solid, yarn, body, pin, twist, wind, pressure, friction, dress, ignore,\n"
    "        solver, collision, contact\n";

/* ---- sections ---- */

static const described_section sections[] = {
    {"run", "[run]", NULL},
    {"exec", "[exec]", NULL},
    {"stop", "[stop]", NULL},
    {"detect", "[detect]", NULL},
    {"filter", "[filter]", NULL},
    {"log", "[log]", NULL},
    {"cloth", "[cloth.NAME]", NULL},
    {"region", "[region.NAME]", NULL},
    {"solid", "[solid.NAME]", NULL},
    {"yarn", "[yarn.NAME]", NULL},
    {"body", "[body.NAME]", NULL},
    {"pin", "[pin.NAME]", NULL},
    {"attach", "[attach.NAME]", NULL},
    {"twist", "[twist.NAME]", NULL},
    {"wind", "[wind]", NULL},
    {"pressure", "[pressure.NAME]", NULL},
    {"friction", "[friction.NAME]", NULL},
    {"dress", "[dress]", NULL},
    {"ignore", "[ignore.NAME]", NULL},
    {"solver", "[solver]", "solver"},
    {"collision", "[collision.NAME]", "collision"},
    {"contact", "[contact.NAME]", "contact"},
};
enum { NUM_SECTIONS = sizeof sections / sizeof sections[0] };

/* The scene's rows of a section as one table, or NULL: there are none, or (reported) no memory. */
static loom_param *scene_rows(const char *name, uint32_t *count)
{
  scene_table own[SCENE_MAX_TABLES];
  const int num = scene_tables(name, own);
  loom_param *rows = NULL;
  *count = 0;
  for (int k = 0; k < num; ++k) *count += own[k].count;
  if (*count > 0) rows = calloc(*count, sizeof *rows);
  if (*count > 0 && rows == NULL) fputs("loom: no memory for the keys\n", stderr);
  loom_param *to = rows;
  for (int k = 0; k < num && rows != NULL; ++k)
    for (uint32_t i = 0; i < own[k].count; ++i) *to++ = own[k].params[i];
  return rows;
}

/* `plugin`, the scheduler's and the scene's */
int describe_tables(const char *name, const loom_param *params[DESCRIBE_TABLES_MAX],
                    uint32_t count[DESCRIBE_TABLES_MAX], loom_param **rows)
{
  int n = 0;
  if (strcmp(name, "contact") == 0) params[n] = settings_params("solver", &count[n]), ++n;
  if ((params[n] = settings_params(name, &count[n])) != NULL) ++n;
  if ((params[n] = *rows = scene_rows(name, &count[n])) != NULL) ++n;
  return n;
}

const described_section *describe_section_at(int k)
{
  return k < NUM_SECTIONS ? &sections[k] : NULL;
}

static const described_section *find_section(const char *name)
{
  for (int i = 0; i < NUM_SECTIONS; ++i)
    if (strcmp(sections[i].name, name) == 0) return &sections[i];
  return NULL;
}

/* ---- JSON ---- */

static void json_params(const loom_param *params, uint32_t count, int *num)
{
  static const char *const types[] = {"real", "int",  "bool", "enum",
                                      "text", "path", "vec3", "vec4"};
  char def[1024];
  for (uint32_t i = 0; i < count; ++i) {
    const loom_param *const p = &params[i];
    const int number =
        p->type == LOOM_P_REAL || p->type == LOOM_P_INT || LOOM_P_NUMBERS(p->type) > 1;
    int first = 1;
    if (p->flags & LOOM_P_GONE) continue;
    printf((*num)++ > 0 ? ",\n    {" : "\n    {");
    json_member(stdout, &first, "key", p->key);
    json_member(stdout, &first, "type", types[p->type]);
    json_member(stdout, &first, "default", cfg_default_text(p, def, sizeof def));
    if (number) {
      write_json_number(stdout, &first, "min", p->min);
      write_json_number(stdout, &first, "max", p->max);
      write_json_number(stdout, &first, "open_min", (p->flags & LOOM_P_OPEN_MIN) != 0);
      write_json_number(stdout, &first, "open_max", (p->flags & LOOM_P_OPEN_MAX) != 0);
    }
    if (p->choices != NULL) json_member(stdout, &first, "choices", p->choices);
    if (p->only_with != NULL) json_member(stdout, &first, "only_with", p->only_with);
    json_member(stdout, &first, "unit", p->unit);
    json_member(stdout, &first, "doc", p->doc);
    printf("}");
  }
}

static void json_section(const described_section *s)
{
  const loom_param *params[DESCRIBE_TABLES_MAX];
  uint32_t count[DESCRIBE_TABLES_MAX];
  loom_param *rows;
  const int n = describe_tables(s->name, params, count, &rows);
  int first = 1, num = 0;
  printf("{");
  json_member(stdout, &first, "section", s->title);
  if (s->kind != NULL) json_member(stdout, &first, "plugin_kind", s->kind);
  printf(", \"params\": [");
  for (int k = 0; k < n; ++k) json_params(params[k], count[k], &num);
  free(rows);
  printf("]}");
}

/* ---- capabilities ----
 */

typedef struct abilities { /* names, comma-separated */
  char needs[512], provides[512], pairs[256];
} abilities;

static void find_abilities(const loom_plugin *p, abilities *a)
{
  uint32_t needs = 0, provides = 0, pairs = 0;
  if (p->kind == LOOM_KIND_SOLVER) {
    needs = p->ops.solver->needs;
  } else if (p->kind == LOOM_KIND_COLLISION) {
    provides = p->ops.collision->provides;
    pairs = p->ops.collision->pair_kinds;
  } else {
    needs = p->ops.contact->needs;
    provides = fit_contact_provides(p);
    pairs = p->ops.contact->pair_kinds;
  }
  fit_names(p->kind, needs, 0, a->needs, sizeof a->needs);
  fit_names(p->kind, provides, 1, a->provides, sizeof a->provides);
  fit_pair_names(pairs, a->pairs, sizeof a->pairs);
}

static void json_columns(const char *member, const loom_column *all, uint32_t num)
{
  printf(", \"%s\": [", member);
  for (uint32_t i = 0; i < num; ++i) {
    int first = 1;
    printf(i > 0 ? ", {" : "{");
    json_member(stdout, &first, "name", all[i].name);
    json_member(stdout, &first, "unit", all[i].unit);
    json_member(stdout, &first, "doc", all[i].doc);
    printf("}");
  }
  printf("]");
}

static void json_describe(const reg_entry *e)
{
  const loom_plugin *const p = e->plugin;
  abilities a;
  int first = 1, num = 0;
  find_abilities(p, &a);
  printf("{");
  json_plugin(stdout, &first, e);
  json_list(stdout, &first, "needs", a.needs);
  json_list(stdout, &first, "provides", a.provides);
  json_list(stdout, &first, "pairs", a.pairs);
  printf(", \"params\": [");
  json_params(p->params, p->num_params, &num);
  printf("]");
  json_columns("columns", p->columns, p->num_columns);
  json_columns("step_columns", p->step_columns, p->num_step_columns);
  printf("}");
}

/* ---- text ----
 */

static void print_line(const char *label, const char *text)
{
  printf("  %-10s %s\n", label, text[0] != '\0' ? text : "nothing");
}

static void print_solver(const loom_solver_ops *o)
{
  static const char *const when[] = {"after every iteration", "when the solver advises it",
                                     "at the end of the step"};
  print_line("iterate",
             o->trial == LOOM_TRIAL_POINT ? "leaves a trial point" : "leaves a search direction");
  if (o->max_outer > 0) printf("  %-10s at most %d outer iterations\n", "", (int)o->max_outer);
  print_line("filter", when[o->filter_when]);
}

static void print_columns(const loom_plugin *p, const char *table, const loom_column *all,
                          uint32_t num)
{
  static const char *const behind[LOOM_NUM_KINDS] = {
      "", ", behind the name of the section (collision.NAME.)",
      ", behind the name of the section (contact.NAME.)"};
  if (num > 0) printf("log columns in /%s%s:\n", table, behind[p->kind]);
  for (uint32_t i = 0; i < num; ++i)
    printf("  %-16s %-6s %s\n", all[i].name, all[i].unit, all[i].doc);
}

static void print_plugin(const reg_entry *e)
{
  static const char *const where[] = {"[solver]", "[collision.NAME]", "[contact.NAME]"};
  const loom_plugin *const p = e->plugin;
  abilities a;
  find_abilities(p, &a);
  printf("%s - %s plugin %s\n  %.*s\n", p->name, registry_kind_name(p->kind), p->version,
         registry_summary_len(p), p->summary);
  registry_print_limits(p, "  limit      ", stdout);
  print_line("reference", p->reference);
  print_line("licence", p->license);
  print_line("backends", listing_backends(p->backends));
  print_line("build", p->build);
  print_line("path", e->path);
  if (p->kind != LOOM_KIND_COLLISION) print_line("needs", a.needs);
  if (p->kind != LOOM_KIND_SOLVER) {
    print_line("provides", a.provides);
    print_line("pairs", a.pairs);
  } else {
    print_solver(p->ops.solver);
  }
  printf("parameters in %s:\n", where[p->kind]);
  cfg_describe(p->params, p->num_params, stdout);
  print_columns(p, "iters_extra", p->columns, p->num_columns);
  print_columns(p, "steps_extra", p->step_columns, p->num_step_columns);
}

static void print_section(const described_section *s)
{
  const loom_param *params[DESCRIBE_TABLES_MAX];
  uint32_t count[DESCRIBE_TABLES_MAX];
  loom_param *rows;
  const int n = describe_tables(s->name, params, count, &rows);
  printf("%s - section of a configuration\n", s->title);
  for (int k = 0; k < n; ++k) cfg_describe(params[k], count[k], stdout);
  free(rows);
  if (s->kind != NULL)
    printf("  plugin = NAME chooses a %s plugin (loom list %s); the further keys are that\n"
           "  plugin's: loom describe NAME.  Where --set, or a file that includes this one, names\n"
           "  another plugin, keys that only the former has are dropped, with a note.\n",
           s->kind, s->kind);
}

/* ---- the command ----
 */

static int describe_schema(const char *dirs)
{
  loom_err err = {0};
  registry *r = NULL;
  const loom_status s = registry_open(&err, dirs, &r);
  if (s == LOOM_OK) schema_print(r);
  registry_close(r);
  return s == LOOM_OK ? EXIT_FINE : cmd_fail(&err);
}

static int report_unknown_name(registry *r, const char *name)
{
  loom_err err = {0};
  if (registry_look(&err, r) != LOOM_OK) return cmd_fail(&err);
  const int total = registry_count(r) + NUM_SECTIONS;
  const char **const names = calloc((size_t)total, sizeof(char *));
  int n = 0;
  if (names == NULL) return EXIT_RUNTIME;
  for (int i = 0; i < registry_count(r); ++i)
    if (registry_at(r, i)->plugin != NULL) names[n++] = registry_at(r, i)->plugin->name;
  for (int i = 0; i < NUM_SECTIONS; ++i) names[n++] = sections[i].name;
  const char *const near = err_nearest(name, names, n);
  fprintf(stderr, "loom: there is no plugin or section '%s'%s%s%s; loom list names the plugins\n",
          name, near != NULL ? ", nearest is '" : "", near != NULL ? near : "",
          near != NULL ? "'" : "");
  for (int i = 0; i < registry_count(r); ++i) { /* a refused file of that name */
    const reg_entry *const e = registry_at(r, i);
    const char *const slash = strrchr(e->path, '/'), *const base = slash != NULL ? slash + 1 : "";
    const size_t len = strlen(name);
    if (e->plugin == NULL && strncmp(base, name, len) == 0 && strcmp(base + len, ".so") == 0)
      fprintf(stderr, "loom: %s was refused: %s\n", e->path, e->why);
  }
  free(names);
  return EXIT_USAGE;
}

int cmd_describe(int argc, char **argv)
{
  listing o;
  loom_err err = {0};
  registry *r = NULL;
  int found = 0;
  if (listing_parse(argc, argv, usage, &o) != 0) return o.exit_code;
  if (o.fit != NULL) {
    fprintf(stderr, "loom: --fit belongs to list\n%s", usage);
    return EXIT_USAGE;
  }
  if (o.schema && o.name == NULL) return describe_schema(o.dirs);
  if (o.name == NULL || o.schema) {
    fputs(usage, stderr);
    return EXIT_USAGE;
  }
  if (shared_files_known(o.name)) return shared_files_print(o.name, o.json);
  loom_status s = registry_scan(&err, o.dirs, &r);
  if (s == LOOM_OK) s = registry_open_named(&err, r, o.name);
  if (s != LOOM_OK) {
    registry_close(r);
    return cmd_fail(&err);
  }
  if (o.json) printf("[");
  for (int i = 0; i < registry_count(r); ++i) { /* plugins of several kinds may have one name */
    const reg_entry *const e = registry_at(r, i);
    if (e->plugin == NULL || strcmp(e->plugin->name, o.name) != 0) continue;
    if (found++ > 0) printf(o.json ? ",\n" : "\n");
    if (o.json)
      json_describe(e);
    else
      print_plugin(e);
  }
  const described_section *const sec = find_section(o.name);
  if (sec != NULL) {
    if (found++ > 0) printf(o.json ? ",\n" : "\n");
    if (o.json)
      json_section(sec);
    else
      print_section(sec);
  }
  if (o.json) printf("]\n");
  const int code = found > 0 ? EXIT_FINE : report_unknown_name(r, o.name);
  registry_close(r);
  return code;
}
