/* registry.c - finds plugins by name, opens their files and keeps the reasons of refusals. */
#define _GNU_SOURCE /* realpath */
#include "core/registry.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/registry_internal.h"

int registry_summary_len(const loom_plugin *p) { return (int)strcspn(p->summary, "\n"); }

const char *registry_limits(const loom_plugin *p)
{
  const char *const end = p->summary + registry_summary_len(p);
  return *end == '\n' ? end + 1 : end;
}

void registry_print_limits(const loom_plugin *p, const char *before, FILE *f)
{
  for (const char *at = registry_limits(p); *at != '\0';) {
    const int n = (int)strcspn(at, "\n");
    fprintf(f, "%s%.*s\n", before, n, at);
    at += n + (at[n] == '\n');
  }
}

const char *registry_kind_name(int kind)
{
  static const char *const names[] = {"solver", "collision", "contact"};
  return kind >= 0 && kind < LOOM_NUM_KINDS ? names[kind] : "unknown";
}

/* ---- entries ---- */

/* Drops the entries from looking at a file: opening it gives better ones. */
static void drop_entries(registry *r, int file)
{
  int n = 0;
  for (int i = 0; i < r->num; ++i)
    if (r->entry[i].file != file) r->entry[n++] = r->entry[i];
  r->num = n;
}

static void *alloc_kept_block(registry *r, size_t size)
{
  void **const list = realloc(r->kept, (size_t)(r->num_kept + 1) * sizeof(void *));
  if (list == NULL) return NULL;
  r->kept = list;
  void *const p = calloc(1, size);
  if (p != NULL) list[r->num_kept++] = p;
  return p;
}

/* A descriptor without functions: enough to list it and to tell whether it would fit. */
static const loom_plugin *create_listed_plugin(registry *r, const plugin_card *card)
{
  loom_plugin *const q = alloc_kept_block(r, sizeof *q);
  plugin_card *const c = alloc_kept_block(r, sizeof *c);
  loom_solver_ops *solver = NULL;
  loom_collision_ops *collision = NULL;
  loom_contact_ops *contact = NULL;
  if (q == NULL || c == NULL) return NULL;
  *c = *card;
  q->kind = (uint16_t)c->kind;
  q->abi_major = LOOM_ABI_MAJOR;
  q->abi_minor = (uint16_t)c->abi_minor;
  q->backends = c->backends;
  q->name = c->name;
  q->version = c->version;
  q->license = c->license;
  q->summary = c->summary;
  q->reference = c->reference;
  q->build = c->build;
  if (c->kind == LOOM_KIND_SOLVER) {
    if ((solver = alloc_kept_block(r, sizeof *solver)) == NULL) return NULL;
    solver->needs = c->needs;
    q->ops.solver = solver;
  } else if (c->kind == LOOM_KIND_COLLISION) {
    if ((collision = alloc_kept_block(r, sizeof *collision)) == NULL) return NULL;
    collision->provides = c->provides;
    collision->pair_kinds = c->pair_kinds;
    q->ops.collision = collision;
  } else {
    if ((contact = alloc_kept_block(r, sizeof *contact)) == NULL) return NULL;
    contact->needs = c->needs;
    contact->provides = c->provides;
    contact->pair_kinds = c->pair_kinds;
    q->ops.contact = contact;
  }
  return q;
}

static const reg_entry *same_name(const registry *r, const loom_plugin *p)
{
  for (int i = 0; i < r->num; ++i) {
    const loom_plugin *const q = r->entry[i].plugin;
    if (q != NULL && q->kind == p->kind && strcmp(q->name, p->name) == 0) return &r->entry[i];
  }
  return NULL;
}

static loom_status add_plugin(loom_err *err, registry *r, int file, const char *canonical,
                              const loom_plugin *p, int opened)
{
  const reg_entry *const first = p != NULL ? same_name(r, p) : NULL;
  if (first != NULL) {
    char winner[sizeof first->path];
    memcpy(winner, first->path, sizeof winner); /* the list may move when it grows */
    return registry_refuse(err, r, file, canonical, LOOM_E_CONFIG,
                           "shadowed by the %s plugin of the same name in %s",
                           registry_kind_name(p->kind), winner);
  }
  reg_entry *const e = p != NULL ? registry_append(r, file, canonical) : NULL;
  if (e == NULL) return registry_nomem(err);
  e->plugin = p;
  e->opened = opened;
  return LOOM_OK;
}

/* ---- files ---- */

static loom_status open_here(loom_err *err, registry *r, int file)
{
  reg_file *const f = &r->file[file];
  char canonical[PATH_MAX];
  loom_err why = {0};
  loom_plugin_query_fn query = NULL;
  if (f->state == REG_LOOKED) drop_entries(r, file);
  f->state = REG_OPENED;
  if (realpath(f->path, canonical) == NULL)
    return registry_refuse(err, r, file, f->path, LOOM_E_IO, "cannot read it: %s", strerror(errno));
  loom_status s = plugin_file_open(&why, canonical, &query);
  for (uint32_t k = 0; s == LOOM_OK && k < PLUGIN_QUERY_MAX; ++k) {
    const loom_plugin *p = NULL;
    s = plugin_file_query(&why, query, k, f->name, &p);
    if (s == LOOM_OK && p == NULL) return LOOM_OK;
    if (s == LOOM_OK) LOOM_TRY(add_plugin(err, r, file, canonical, p, 1));
  }
  if (s != LOOM_OK) return registry_refuse(err, r, file, f->path, s, "%s", why.text);
  return registry_refuse(err, r, file, f->path, LOOM_E_ABI, "more than %d plugins in one file",
                         PLUGIN_QUERY_MAX);
}

/* In the order of the files, not of opening; entries without a file come at the end. */
static int by_file(const void *a, const void *b)
{
  const reg_entry *const p = a, *const q = b;
  const unsigned i = (unsigned)p->file, j = (unsigned)q->file;
  return i != j ? (i < j ? -1 : 1) : strcmp(p->path, q->path);
}

static void sort_entries(registry *r)
{
  if (r->num > 1) qsort(r->entry, (size_t)r->num, sizeof *r->entry, by_file);
}

loom_status registry_open_all(loom_err *err, registry *r)
{
  for (int i = 0; i < r->num_files; ++i)
    if (r->file[i].state != REG_OPENED) LOOM_TRY(open_here(err, r, i));
  sort_entries(r);
  return LOOM_OK;
}

loom_status registry_open_named(loom_err *err, registry *r, const char *name)
{
  for (int i = 0; i < r->num_files; ++i)
    if (r->file[i].state != REG_OPENED && strcmp(r->file[i].name, name) == 0)
      LOOM_TRY(open_here(err, r, i));
  return LOOM_OK;
}

/* Adds the plugins of a file, or its refusal. */
static loom_status add_seen(loom_err *err, registry *r, int file, const plugin_seen *seen)
{
  if (seen->status != LOOM_OK)
    return registry_refuse(err, r, file, r->file[file].path, seen->status, "%s", seen->why.text);
  for (int k = 0; k < seen->num; ++k)
    LOOM_TRY(
        add_plugin(err, r, file, seen->canonical, create_listed_plugin(r, &seen->cards[k]), 0));
  return LOOM_OK;
}

/* The files not yet opened; index [*num]: theirs in the registry. */
static loom_status gather_new_files(loom_err *err, registry *r, plugin_seen *seen, int *index,
                                    int *num)
{
  for (int i = 0; i < r->num_files; ++i) {
    reg_file *const f = &r->file[i];
    if (f->state != REG_NEW) continue;
    f->state = REG_LOOKED;
    char *const canonical = realpath(f->path, NULL);
    if (canonical == NULL && errno == ENOMEM) return registry_nomem(err);
    if (canonical == NULL) {
      LOOM_TRY(
          registry_refuse(err, r, i, f->path, LOOM_E_IO, "cannot read it: %s", strerror(errno)));
      continue;
    }
    index[*num] = i;
    seen[(*num)++] = (plugin_seen){.canonical = canonical, .name = f->name};
  }
  return LOOM_OK;
}

loom_status registry_look(loom_err *err, registry *r)
{
  const size_t most = (size_t)r->num_files + 1;
  plugin_seen *const seen = calloc(most, sizeof *seen);
  int *const index = calloc(most, sizeof *index), num = 0;
  loom_status s = seen == NULL || index == NULL ? registry_nomem(err)
                                                : gather_new_files(err, r, seen, index, &num);
  if (s == LOOM_OK) plugin_files_look(seen, num);
  for (int i = 0; i < num && s == LOOM_OK; ++i) s = add_seen(err, r, index[i], &seen[i]);
  if (seen != NULL) plugin_seen_free(seen, num);
  free(seen);
  free(index);
  sort_entries(r);
  return s;
}

loom_status registry_scan(loom_err *err, const char *dirs, registry **out)
{
  registry *const r = calloc(1, sizeof *r);
  *out = NULL;
  if (r == NULL) {
    registry_nomem(err);
    return LOOM_E_NOMEM;
  }
  const loom_status s = registry_add_dirs(err, r, dirs);
  if (s == LOOM_OK)
    *out = r;
  else
    registry_close(r);
  return s;
}

loom_status registry_open(loom_err *err, const char *dirs, registry **out)
{
  LOOM_TRY(registry_scan(err, dirs, out));
  const loom_status s = registry_open_all(err, *out);
  if (s == LOOM_OK) return LOOM_OK;
  registry_close(*out);
  *out = NULL;
  return s;
}

void registry_close(registry *r)
{
  if (r == NULL) return;
  for (int i = 0; i < r->num_dirs; ++i) free(r->dir[i]);
  for (int i = 0; i < r->num_files; ++i) free(r->file[i].path);
  for (int i = 0; i < r->num_kept; ++i) free(r->kept[i]);
  free(r->kept);
  free(r->file);
  free(r->entry);
  free(r);
}

/* ---- looking up ----
 */

int registry_count(const registry *r) { return r->num; }

const reg_entry *registry_at(const registry *r, int i)
{
  return i >= 0 && i < r->num ? &r->entry[i] : NULL;
}

const char *registry_path(const registry *r, const loom_plugin *p)
{
  for (int i = 0; i < r->num; ++i)
    if (r->entry[i].plugin == p) return r->entry[i].path;
  return "?";
}

/* The refusals of files with that name, one per line, the first as the beginning of the message. */
static int tell_refusals(loom_err *err, const registry *r, int kind, const char *name)
{
  char file[PLUGIN_NAME_LEN];
  int n = 0;
  for (int i = 0; i < r->num; ++i) {
    const reg_entry *const e = &r->entry[i];
    if (e->plugin != NULL || !plugin_file_stem(e->path, file) || strcmp(file, name) != 0) continue;
    if (n++ > 0) {
      err_append(err, "%s was refused: %s", e->path, e->why);
      continue;
    }
    /* a lack of memory or of files is no fault of the configuration */
    const int here = e->status == LOOM_E_NOMEM || e->status == LOOM_E_IO;
    err_set(err, here ? e->status : LOOM_E_CONFIG,
            "the %s plugin '%.80s' cannot be used: %s was refused: %s", registry_kind_name(kind),
            name, e->path, e->why);
  }
  return n;
}

/* No plugin has that name: lists the available ones, and the nearest name. */
static loom_status tell_others(loom_err *err, const registry *r, int kind, const char *name)
{
  char list[512] = "";
  const char **const names = calloc((size_t)r->num + 1, sizeof(char *));
  int n = 0;
  if (names == NULL) return registry_nomem(err);
  for (int i = 0; i < r->num; ++i) {
    const loom_plugin *const p = r->entry[i].plugin;
    if (p != NULL && p->kind == kind) names[n++] = p->name;
  }
  const char *const near = err_nearest(name, names, n);
  for (int i = 0; i < n; ++i) {
    const size_t used = strlen(list);
    snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "", names[i]);
  }
  err_set(err, LOOM_E_CONFIG, "there is no %s plugin '%.80s'%s%s%s; found: %s; searched: %.900s",
          registry_kind_name(kind), name, near != NULL ? "; did you mean '" : "",
          near != NULL ? near : "", near != NULL ? "'?" : "", n > 0 ? list : "none",
          r->searched[0] != '\0' ? r->searched : "no directory");
  free(names);
  for (int i = 0; i < r->num; ++i) {
    const reg_entry *const e = &r->entry[i];
    if (e->plugin != NULL && e->plugin->kind != kind && strcmp(e->plugin->name, name) == 0)
      err_append(err, "%s is a %s plugin", e->path, registry_kind_name(e->plugin->kind));
  }
  return LOOM_E_CONFIG;
}

loom_status registry_find(loom_err *err, registry *r, int kind, const char *name,
                          const reg_entry **out)
{
  *out = NULL;
  for (int f = -1; f < r->num_files; ++f) { /* f < 0: the files that are open already */
    if (f >= 0 && (r->file[f].state == REG_OPENED || strcmp(r->file[f].name, name) != 0)) continue;
    if (f >= 0) LOOM_TRY(open_here(err, r, f));
    for (int i = 0; i < r->num; ++i) {
      const reg_entry *const e = &r->entry[i];
      if (e->opened && e->plugin->kind == kind && strcmp(e->plugin->name, name) == 0) {
        *out = e;
        return LOOM_OK;
      }
    }
  }
  if (tell_refusals(err, r, kind, name) > 0) return err->code;
  LOOM_TRY(registry_look(err, r));
  return tell_others(err, r, kind, name);
}
