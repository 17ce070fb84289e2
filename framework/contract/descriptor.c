/* descriptor.c - checks of the descriptor: complete, sound tables, one exported symbol. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contract/contract.h"

static void expect_nonempty_text(const char *plugin, const char *what, const char *text)
{
  CT_ASSERT(text != NULL && text[0] != '\0', "%s: %s is empty", plugin, what);
}

void ct_descriptor_complete(const ct_plugin *p)
{
  registry *reg;
  const loom_plugin *d = ct_load(p, &reg);
  loom_err err = {0};
  CT_ASSERT(registry_check(&err, d) == LOOM_OK, "%s", err.text);
  CT_ASSERT(strcmp(d->name, p->name) == 0, "it is called %s", d->name);
  expect_nonempty_text(d->name, "version", d->version);
  expect_nonempty_text(d->name, "summary", d->summary);
  expect_nonempty_text(d->name, "reference", d->reference);
  expect_nonempty_text(d->name, "license", d->license);
  expect_nonempty_text(d->name, "build", d->build);
  CT_ASSERT(d->backends & LOOM_ON_CPU, "it does not run on the CPU, where these checks are made");
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
  default:
    return (size_t)LOOM_P_NUMBERS(type) * sizeof(double);
  }
}

static int count_text_choices(const char *text)
{
  int n = text != NULL && text[0] != '\0';
  for (; text != NULL && *text != '\0'; ++text) n += *text == '|';
  return n;
}

static void check_param_row(const char *plugin, const loom_param *q)
{
  const size_t len = q->doc != NULL ? strlen(q->doc) : 0;
  CT_ASSERT(q->key != NULL && islower((unsigned char)q->key[0]), "%s: odd key", plugin);
  CT_ASSERT(len > 0 && q->doc[len - 1] == '.', "%s.%s: doc is not a sentence", plugin, q->key);
  expect_nonempty_text(plugin, "unit", q->unit);
  CT_ASSERT(q->offset % (q->type == LOOM_P_BOOL || q->type == LOOM_P_ENUM ? 4 : 8) == 0,
            "%s.%s: its member is not aligned", plugin, q->key);
  switch (q->type) {
  case LOOM_P_REAL:
  case LOOM_P_INT:
    if (q->flags & LOOM_P_NO_DEFAULT) break;
    CT_ASSERT(q->flags & LOOM_P_OPEN_MIN ? q->def > q->min : q->def >= q->min,
              "%s.%s: default %g below %g", plugin, q->key, q->def, q->min);
    CT_ASSERT(q->flags & LOOM_P_OPEN_MAX ? q->def < q->max : q->def <= q->max,
              "%s.%s: default %g above %g", plugin, q->key, q->def, q->max);
    break;
  case LOOM_P_ENUM:
    CT_ASSERT(q->def >= 0 && q->def < count_text_choices(q->choices), "%s.%s: default is no choice",
              plugin, q->key);
    break;
  case LOOM_P_TEXT:
  case LOOM_P_PATH:
  case LOOM_P_VEC3:
  case LOOM_P_VEC4:
    CT_ASSERT(q->def_text != NULL || (q->flags & LOOM_P_NO_DEFAULT), "%s.%s: no default", plugin,
              q->key);
    break;
  default:
    CT_ASSERT(q->type == LOOM_P_BOOL, "%s.%s: unknown type %d", plugin, q->key, q->type);
  }
}

static void expect_columns(const char *plugin, const loom_column *all, uint32_t num)
{
  for (uint32_t i = 0; i < num; ++i) {
    expect_nonempty_text(plugin, "column name", all[i].name);
    expect_nonempty_text(plugin, "column unit", all[i].unit);
    expect_nonempty_text(plugin, "column doc", all[i].doc);
  }
}

void ct_descriptor_tables(const ct_plugin *p)
{
  registry *reg;
  const loom_plugin *d = ct_load(p, &reg);
  for (uint32_t i = 0; i < d->num_params; ++i) {
    const loom_param *q = &d->params[i];
    if (q->flags & LOOM_P_GONE) {
      expect_nonempty_text(d->name, "doc of a key that is gone", q->doc);
      continue;
    }
    const size_t end = q->offset + member_size(q->type);
    check_param_row(d->name, q);
    CT_ASSERT(end <= d->settings_size, "%s.%s: outside the settings", d->name, q->key);
    for (uint32_t j = 0; j < i; ++j) {
      const loom_param *o = &d->params[j];
      CT_ASSERT(strcmp(o->key, q->key) != 0, "%s.%s: twice", d->name, q->key);
      if (o->flags & LOOM_P_GONE) continue;
      CT_ASSERT(end <= o->offset || o->offset + member_size(o->type) <= q->offset,
                "%s: %s and %s share memory", d->name, o->key, q->key);
    }
  }
  expect_columns(d->name, d->columns, d->num_columns);
  expect_columns(d->name, d->step_columns, d->num_step_columns);
  registry_close(reg);
}

/* Required members, and members that a capability implies. */
void ct_descriptor_members(const ct_plugin *p)
{
  registry *reg;
  const loom_plugin *d = ct_load(p, &reg);
#define THERE(member) CT_ASSERT(o->member != NULL, "%s is missing", #member)
#define WITH(name, bit, words, member) \
  CT_ASSERT(!(o->provides & (name)) || o->member != NULL, "%s is missing: " words, #member);
  if (d->kind == LOOM_KIND_SOLVER) {
    const loom_solver_ops *const o = d->ops.solver;
    THERE(create);
    THERE(destroy);
    THERE(iterate);
    CT_ASSERT(o->trial == LOOM_TRIAL_POINT || o->trial == LOOM_TRIAL_DIRECTION, "trial is %d",
              o->trial);
  } else if (d->kind == LOOM_KIND_COLLISION) {
    const loom_collision_ops *const o = d->ops.collision;
    THERE(create);
    THERE(destroy);
    LOOM_COLLISION_CAPS(WITH)
  } else {
    const loom_contact_ops *const o = d->ops.contact;
    THERE(create);
    THERE(destroy);
    LOOM_CONTACT_CAPS(WITH)
    if (o->provides & LOOM_CONT_QUAD_ISO)
      CT_ASSERT(o->provides & LOOM_CONT_QUAD, "LOOM_CONT_QUAD_ISO goes with LOOM_CONT_QUAD");
  }
  registry_close(reg);
}

/* An accidental global symbol could replace one of another module or of the core. */
void ct_descriptor_exports(const ct_plugin *p)
{
  registry *reg;
  char line[1200], path[1024] = "";
  int query = 0;
  ct_load(p, &reg);
  for (int i = 0; i < registry_count(reg); ++i) {
    const reg_entry *const e = registry_at(reg, i);
    if (e->plugin != NULL && e->plugin->kind == p->kind && strcmp(e->plugin->name, p->name) == 0)
      snprintf(path, sizeof path, "%s", e->path);
  }
  registry_close(reg);
  if (strchr(path, '\'') != NULL) ct_skip("the path holds a quotation mark");
  if (system("command -v nm >/dev/null 2>&1") != 0) ct_skip("nm (binutils) is not installed");
  snprintf(line, sizeof line, "nm -D --defined-only --format=posix '%s'", path);
  FILE *const f = popen(line, "r");
  CT_ASSERT(f != NULL, "cannot run nm");
  while (fgets(line, sizeof line, f) != NULL) {
    char name[256] = "";
    CT_ASSERT(sscanf(line, "%255s", name) == 1 && strcmp(name, "loom_plugin_query") == 0,
              "it exports %s; make it static, or hide it (-fvisibility=hidden)", name);
    query = 1;
  }
  CT_ASSERT(pclose(f) == 0 && query, "nm does not find loom_plugin_query");
}
