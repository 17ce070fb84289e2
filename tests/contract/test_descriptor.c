/* Every plugin found: complete descriptor, sound tables, one exported symbol, a README that
 * names every parameter. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contract.h"

static void expect_text(const char *plugin, const char *what, const char *text)
{
  cr_expect(text != NULL && text[0] != '\0', "%s: %s is empty", plugin, what);
}

ParameterizedTestParameters(descriptor, complete) { return ct_plugins(-1); }
ParameterizedTest(const ct_plugin *p, descriptor, complete)
{
  registry *reg;
  const loom_plugin *d = ct_load(p, &reg);
  loom_err err = {0};
  cr_assert_eq(registry_check(&err, d), LOOM_OK, "%s", err.text);
  cr_expect_str_eq(d->name, p->name);
  if (p->kind >= 0) cr_expect_eq(d->kind, p->kind, "its folder is of another kind");
  expect_text(d->name, "version", d->version);
  expect_text(d->name, "summary", d->summary);
  expect_text(d->name, "reference", d->reference);
  expect_text(d->name, "license", d->license);
  expect_text(d->name, "build", d->build);
  cr_expect(d->backends & LOOM_ON_CPU, "every plugin of this tree runs on the CPU");
  registry_close(reg);
}

static size_t member_size(int type)
{
  switch (type) {
  case LOOM_P_BOOL:
  case LOOM_P_ENUM:
    return sizeof(int32_t);
  case LOOM_P_TEXT:
  case LOOM_P_PATH:
    return sizeof(char *);
  case LOOM_P_VEC3:
    return 3 * sizeof(double);
  default:
    return sizeof(double);
  }
}

static int choices_of(const char *text)
{
  int n = text != NULL && text[0] != '\0';
  for (; text != NULL && *text != '\0'; ++text) n += *text == '|';
  return n;
}

static void check_param(const char *plugin, const loom_param *q)
{
  const size_t len = q->doc != NULL ? strlen(q->doc) : 0;
  cr_expect(q->key != NULL && islower((unsigned char)q->key[0]), "%s: odd key", plugin);
  cr_expect(len > 0 && q->doc[len - 1] == '.', "%s.%s: doc is not a sentence", plugin, q->key);
  expect_text(plugin, "unit", q->unit);
  cr_expect_eq(q->offset % (q->type == LOOM_P_BOOL || q->type == LOOM_P_ENUM ? 4 : 8), 0);
  switch (q->type) {
  case LOOM_P_REAL:
  case LOOM_P_INT:
    if (q->flags & LOOM_P_NO_DEFAULT) break;
    cr_expect(q->flags & LOOM_P_OPEN_MIN ? q->def > q->min : q->def >= q->min,
              "%s.%s: default %g below %g", plugin, q->key, q->def, q->min);
    cr_expect(q->flags & LOOM_P_OPEN_MAX ? q->def < q->max : q->def <= q->max,
              "%s.%s: default %g above %g", plugin, q->key, q->def, q->max);
    break;
  case LOOM_P_ENUM:
    cr_expect(q->def >= 0 && q->def < choices_of(q->choices), "%s.%s: default is no choice", plugin,
              q->key);
    break;
  case LOOM_P_TEXT:
  case LOOM_P_PATH:
  case LOOM_P_VEC3:
    cr_expect(q->def_text != NULL || (q->flags & LOOM_P_NO_DEFAULT), "%s.%s: no default", plugin,
              q->key);
    break;
  default:
    cr_expect(q->type == LOOM_P_BOOL, "%s.%s: unknown type %d", plugin, q->key, q->type);
  }
}

ParameterizedTestParameters(descriptor, tables) { return ct_plugins(-1); }
ParameterizedTest(const ct_plugin *p, descriptor, tables)
{
  registry *reg;
  const loom_plugin *d = ct_load(p, &reg);
  for (uint32_t i = 0; i < d->num_params; ++i) {
    const loom_param *q = &d->params[i];
    const size_t end = q->offset + member_size(q->type);
    check_param(d->name, q);
    cr_expect(end <= d->settings_size, "%s.%s: outside the settings", d->name, q->key);
    for (uint32_t j = 0; j < i; ++j) {
      const loom_param *o = &d->params[j];
      cr_expect(strcmp(o->key, q->key) != 0, "%s.%s: twice", d->name, q->key);
      cr_expect(end <= o->offset || o->offset + member_size(o->type) <= q->offset,
                "%s: %s and %s share memory", d->name, o->key, q->key);
    }
  }
  cr_expect(d->num_columns == 0 || d->kind != LOOM_KIND_COLLISION, "columns are not for these");
  for (uint32_t i = 0; i < d->num_columns; ++i) {
    expect_text(d->name, "column name", d->columns[i].name);
    expect_text(d->name, "column unit", d->columns[i].unit);
    expect_text(d->name, "column doc", d->columns[i].doc);
  }
  registry_close(reg);
}

/* Required members, and those that a capability implies. */
ParameterizedTestParameters(descriptor, members) { return ct_plugins(-1); }
ParameterizedTest(const ct_plugin *p, descriptor, members)
{
  registry *reg;
  const loom_plugin *d = ct_load(p, &reg);
  const loom_solver_ops *s = d->ops.solver;
  const loom_collision_ops *c = d->ops.collision;
  const loom_contact_ops *k = d->ops.contact;
  switch (d->kind) {
  case LOOM_KIND_SOLVER:
    cr_expect(s->create != NULL && s->destroy != NULL && s->begin_step != NULL);
    cr_expect(s->iterate != NULL);
    cr_expect(s->trial == LOOM_TRIAL_POINT || s->trial == LOOM_TRIAL_DIRECTION);
    break;
  case LOOM_KIND_COLLISION:
    cr_expect(c->create != NULL && c->destroy != NULL && c->begin_step != NULL);
    cr_expect(c->detect != NULL);
    if (c->provides & (LOOM_COLL_STEP_GLOBAL | LOOM_COLL_STEP_VERTEX))
      cr_expect(c->max_step != NULL, "it provides a step bound");
    break;
  default:
    cr_expect(k->create != NULL && k->destroy != NULL && k->begin_step != NULL);
    cr_expect(k->plan != NULL && k->update != NULL && k->metrics != NULL);
    if (k->provides & LOOM_CONT_GRADIENT) cr_expect(k->eval != NULL, "it provides a gradient");
    if (k->provides & LOOM_CONT_HESSIAN) cr_expect(k->hessian != NULL, "it provides a Hessian");
    if (k->provides & LOOM_CONT_QUAD) cr_expect(k->quad != NULL, "it provides a quadratic form");
    if (k->provides & LOOM_CONT_QUAD_ISO) cr_expect(k->provides & LOOM_CONT_QUAD);
    if (k->provides & LOOM_CONT_RESOLVE) cr_expect(k->resolve != NULL, "it corrects positions");
    if (k->provides & LOOM_CONT_VELOCITY) cr_expect(k->velocity != NULL, "it corrects velocity");
  }
  registry_close(reg);
}

/* An accidental global symbol could replace one of another module or of the core. */
ParameterizedTestParameters(descriptor, exports_one_symbol) { return ct_plugins(-1); }
ParameterizedTest(const ct_plugin *p, descriptor, exports_one_symbol)
{
  char line[1200], seen[1200] = "";
  snprintf(line, sizeof line, "nm -D --defined-only --format=posix '%s/%s.so'",
           getenv("LOOM_PLUGIN_PATH"), p->name);
  FILE *const f = popen(line, "r");
  cr_assert(f != NULL);
  while (fgets(line, sizeof line, f) != NULL) {
    char name[256] = "";
    sscanf(line, "%255s", name);
    cr_expect_str_eq(name, "loom_plugin_query", "%s exports %s", p->name, name);
    snprintf(seen, sizeof seen, "%s", name);
  }
  cr_assert_eq(pclose(f), 0, "nm failed");
  cr_expect_str_eq(seen, "loom_plugin_query");
}

/* A parameter that is not in the README, or was renamed, is a parameter nobody finds. */
ParameterizedTestParameters(descriptor, readme_names_everything) { return ct_plugins(-1); }
ParameterizedTest(const ct_plugin *p, descriptor, readme_names_everything)
{
  static const char *const folders[] = {"solvers", "collision", "contact"};
  static char text[65536];
  registry *reg;
  const loom_plugin *d = ct_load(p, &reg);
  char path[1024], word[128];
  if (p->kind < 0) cr_skip_test("%s has no folder in this tree", p->name);
  snprintf(path, sizeof path, "%s/plugins/%s/%s/README.md", getenv("LOOM_SOURCE_DIR"),
           folders[p->kind], p->name);
  FILE *const f = fopen(path, "r");
  cr_assert(f != NULL, "%s is missing", path);
  text[fread(text, 1, sizeof text - 1, f)] = '\0';
  fclose(f);
  for (uint32_t i = 0; i < d->num_params; ++i) {
    snprintf(word, sizeof word, "`%s`", d->params[i].key);
    cr_expect(strstr(text, word) != NULL, "%s does not mention %s", path, word);
  }
  for (uint32_t i = 0; i < d->num_columns; ++i) {
    snprintf(word, sizeof word, "`%s`", d->columns[i].name);
    cr_expect(strstr(text, word) != NULL, "%s does not mention column %s", path, word);
  }
  registry_close(reg);
}
