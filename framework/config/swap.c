/* swap.c - drops the keys of an owner (a plugin) that a later file or --set replaced.
 *
 * The key `choice` names the owner; see cfg_swap() in config.h. */
#include "config/cfg_internal.h"

#include <stdio.h>
#include <string.h>

typedef struct owner {
  const char *name;
  const loom_param *params; /* [num] */
  uint32_t num;
} owner;

static const loom_param *param_of(const owner *o, const char *key)
{
  for (uint32_t i = 0; i < o->num; ++i)
    if (strcmp(o->params[i].key, key) == 0) return &o->params[i];
  return NULL;
}

static int same_text(const char *a, const char *b)
{
  return strcmp(a != NULL ? a : "", b != NULL ? b : "") == 0;
}

/* The value of `choice` for which e was written: the newest one in e's own file or before e, or the
 * very first if e's file relies on a later one. */
static const cfg_entry *written_for(const cfg_entry *choice, const cfg_entry *e)
{
  while (choice->before != NULL && choice->file != e->file && choice->order > e->order)
    choice = choice->before;
  return choice;
}

static void remove_section_entry(cfg_section *s, int i)
{
  --s->num_entries;
  memmove(&s->entries[i], &s->entries[i + 1], (size_t)(s->num_entries - i) * sizeof *s->entries);
}

/* Does the entry belong to a former owner only?  *text then says so. */
static loom_status classify_entry_owner(loom_err *err, const cfg_section *s, const cfg_entry *e,
                                        const owner *now, const char *former,
                                        const cfg_owners *owners, int *foreign, char text[],
                                        size_t len)
{
  owner old = {.name = former};
  loom_err why = {0};
  char place[CFG_PLACE_MAX];
  const loom_param *const p = param_of(now, e->key);
  const loom_status found = owners->find(owners->user, &why, former, &old.params, &old.num);
  cfg_place(s, e->key, place, sizeof place);
  *foreign = 0;
  if (found != LOOM_OK && (p != NULL || cfg_entry_unset(s, e))) return LOOM_OK;
  if (found != LOOM_OK)
    return err_set(err, LOOM_E_CONFIG,
                   "%s: %s has no such key; it may belong to %s, which the file names and which "
                   "cannot be asked (%.200s); unset it with --set %s.%s=",
                   place, now->name, former, why.text, s->name, e->key);
  const loom_param *const q = param_of(&old, e->key);
  if (q == NULL) return LOOM_OK;
  if (p == NULL) {
    snprintf(text, len, "%s belongs to %s; not used by %s", place, former, now->name);
    *foreign = 1;
  } else if (p->type != q->type || !same_text(p->unit, q->unit) ||
             !same_text(p->choices, q->choices)) {
    snprintf(text, len, "%s was written for %s and means something else in %s; its default holds",
             place, former, now->name);
    *foreign = 1;
  }
  return LOOM_OK;
}

loom_status cfg_swap(loom_err *err, const cfg_section *s, const char *choice,
                     const cfg_owners *owners)
{
  cfg_section *const own = s->owner->sections[s->index];
  const cfg_entry *const found = cfg_entry_find(s, choice);
  if (found == NULL || found->before == NULL) return LOOM_OK;
  const cfg_entry chosen = *found; /* entries move when one is dropped */
  owner now = {.name = chosen.value};
  loom_err ignored = {0};
  if (owners->find(owners->user, &ignored, now.name, &now.params, &now.num) != LOOM_OK)
    return LOOM_OK; /* cfg_bind of the choice reports it */
  for (int i = 0; i < own->num_entries;) {
    const cfg_entry *const e = &own->entries[i];
    const char *const former = written_for(&chosen, e)->value;
    char text[CFG_PLACE_MAX + 256];
    int foreign = 0;
    if (strcmp(e->key, choice) != 0 && former[0] != '\0' && strcmp(former, now.name) != 0)
      LOOM_TRY(classify_entry_owner(err, s, e, &now, former, owners, &foreign, text, sizeof text));
    if (foreign) {
      owners->note(owners->user, text);
      remove_section_entry(own, i);
    } else {
      ++i;
    }
  }
  return LOOM_OK;
}

int cfg_given(const cfg_section *s, const char *key, const char *choice)
{
  const cfg_entry *const e = cfg_entry_find(s, key), *const c = cfg_entry_find(s, choice);
  const cfg *const all = s->owner;
  if (e == NULL || cfg_entry_unset(s, e)) return CFG_GIVEN_NOT;
  if (e->file != all->top && e->file != all->set && e->file->includer == NULL)
    return CFG_GIVEN_BESIDE; /* a material's file is not part of the configuration */
  if (c == NULL) return CFG_GIVEN_MEANT;
  if (c->before == NULL) /* e was written for the default */
    return c->file != e->file && c->order > e->order ? CFG_GIVEN_BESIDE : CFG_GIVEN_MEANT;
  return same_text(written_for(c, e)->value, c->value) ? CFG_GIVEN_MEANT : CFG_GIVEN_BESIDE;
}

void cfg_drop(const cfg_section *s, const char *key)
{
  cfg_section *const own = s->owner->sections[s->index];
  for (int i = own->num_entries - 1; i >= 0; --i)
    if (strcmp(own->entries[i].key, key) == 0) remove_section_entry(own, i);
}
