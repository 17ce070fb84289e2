/* stored.c - configurations as logs of older versions hold them: every key with its value. */
#include <string.h>

#include "config/cfg_internal.h"

loom_status cfg_put(loom_err *err, const cfg_section *s, const char *key, const char *value)
{
  cfg *const c = s->owner;
  const cfg_entry *const e = cfg_entry_find(s, key);
  const char *const name = cfg_copy(c, key, strlen(key));
  const char *const text = cfg_copy(c, value, strlen(value));
  if (name == NULL || text == NULL) return cfg_nomem(err);
  return cfg_entry_put(err, c->sections[s->index], name, text, e != NULL ? e->file : s->file,
                       e != NULL ? e->line : s->line);
}

/* 1: the section resolves the key to the default of a table that it was bound to. */
static int has_default(const cfg_use *u, const cfg_item *item)
{
  char text[CFG_LINE_MAX];
  for (int t = 0; t < u->num_tables; ++t)
    for (uint32_t k = 0; k < u->tables[t].num; ++k) {
      const loom_param *const p = &u->tables[t].params[k];
      if (strcmp(p->key, item->key) != 0) continue;
      const char *const def = cfg_default_text(p, text, sizeof text);
      return def != NULL && strcmp(def, item->text) == 0;
    }
  return 0;
}

loom_status cfg_add_defaults(loom_err *err, cfg *then, const cfg *now)
{
  for (int i = 0; i < now->num_sections; ++i) {
    const cfg_section *const s = now->sections[i], *const t = cfg_find(then, s->name);
    for (int k = 0; t != NULL && k < s->use->num_items; ++k)
      if (cfg_entry_find(t, s->use->items[k].key) == NULL && has_default(s->use, &s->use->items[k]))
        LOOM_TRY(cfg_put(err, t, s->use->items[k].key, s->use->items[k].text));
  }
  return LOOM_OK;
}
