/* replay_problem.c - settings of methods that pose the problem (LOOM_P_PROBLEM): rest lengths that
 * a solver shrinks, friction between cloths.  A replay refuses a reference with other values. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "run/run_state.h"

typedef struct kind { /* of sections */
  const char *name;
  int kind; /* LOOM_KIND_* */
} kind;

static int is_section_of_kind(const cfg_section *s, const kind *k)
{
  const char *const name = cfg_section_name(s);
  const size_t len = strlen(k->name);
  return strncmp(name, k->name, len) == 0 && (name[len] == '\0' || name[len] == '.');
}

/* The first value of the key in sections of that kind, or NULL. */
static const char *value_in(const cfg *c, const kind *k, const char *key)
{
  for (int i = 0; i < cfg_num_sections(c); ++i) {
    const cfg_section *const s = cfg_section_at(c, i);
    const char *const v = is_section_of_kind(s, k) ? cfg_text(s, key) : NULL;
    if (v != NULL) return v;
  }
  return NULL;
}

/* A method without the key poses the problem as its default does. */
static int same_number(const char *a, const char *b, const loom_param *p)
{
  const double x = a != NULL ? strtod(a, NULL) : p->def, y = b != NULL ? strtod(b, NULL) : p->def;
  return fabs(x - y) <= 1e-12 * fmax(fabs(x), fabs(y));
}

/* Keys of the plugins that `of` names, in it and in `other`; ours: `of` is the config of this run.
 */
static loom_status compare_problem_keys(const run *r, const kind *k, const cfg *of,
                                        const cfg *other, int ours, replay_differ differ, void *to)
{
  for (int i = 0; i < cfg_num_sections(of); ++i) {
    const cfg_section *const s = cfg_section_at(of, i);
    const char *const name = is_section_of_kind(s, k) ? cfg_text(s, "plugin") : NULL;
    const reg_entry *e = NULL;
    loom_err quiet = {0};
    if (name == NULL) continue;
    if (registry_find(&quiet, r->reg, k->kind, name, &e) != LOOM_OK || e->plugin == NULL) continue;
    for (uint32_t j = 0; j < e->plugin->num_params; ++j) {
      const loom_param *const p = &e->plugin->params[j];
      const char *const here = cfg_text(s, p->key), *const there = value_in(other, k, p->key);
      if (!(p->flags & LOOM_P_PROBLEM) || same_number(here, there, p)) continue;
      /* both configs have it: told from ours alone */
      if (!ours && there != NULL) continue;
      char text[64];
      snprintf(text, sizeof text, "%g", p->def);
      differ(to, cfg_section_name(s), p->key, ours ? (there != NULL ? there : text) : here,
             ours ? here : text);
    }
  }
  return LOOM_OK;
}

loom_status replay_compare_problem(const run *r, replay_differ differ, void *to)
{
  static const kind kinds[] = {{"solver", LOOM_KIND_SOLVER}, {"contact", LOOM_KIND_CONTACT}};
  for (size_t i = 0; i < LOOM_COUNT(kinds); ++i) {
    LOOM_TRY(compare_problem_keys(r, &kinds[i], r->rep.ours, r->rep.theirs, 1, differ, to));
    LOOM_TRY(compare_problem_keys(r, &kinds[i], r->rep.theirs, r->rep.ours, 0, differ, to));
  }
  return LOOM_OK;
}
