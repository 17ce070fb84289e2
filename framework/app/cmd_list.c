/* cmd_list.c - `loom list`: the plugins found, and the files that were refused and why. */
#include <stdio.h>
#include <string.h>

#include "app/commands.h"
#include "app/listing.h"
#include "elements/elements.h"
#include "run/run.h"

static const char usage[] =
    "usage: loom list [solver|collision|contact|elements] [--plugin-path DIRS] [--json]\n"
    "  DIRS  colon-separated directories, searched before LOOM_PLUGIN_PATH and loom's own\n"
    "  --json  for scripts: {\"plugins\": [...], \"skipped\": [...]}\n"
    "       loom list --fit CONFIG [--json]\n"
    "  which solver and contact model would go together in each contact section of CONFIG, which\n"
    "  plugin in each collision section, and why the others would not\n";

enum { KIND_ALL = -1, KIND_ELEMENTS = LOOM_NUM_KINDS, KIND_UNKNOWN };

static int parse_listed_kind(const char *name)
{
  static const char *const names[] = {"solver", "collision", "contact", "elements"};
  if (name == NULL) return KIND_ALL;
  for (int k = 0; k <= KIND_ELEMENTS; ++k)
    if (strcmp(name, names[k]) == 0) return k;
  const char *const near = err_nearest(name, names, KIND_ELEMENTS + 1);
  fprintf(stderr,
          "loom: there is no kind '%s'%s%s%s; allowed: solver, collision, contact, "
          "elements\n",
          name, near != NULL ? ", nearest is '" : "", near != NULL ? near : "",
          near != NULL ? "'" : "");
  return KIND_UNKNOWN;
}

/* ---- plugins ---- */

static void print_kind(const registry *r, int kind)
{
  int n = 0;
  printf("%s plugins:\n", registry_kind_name(kind));
  for (int i = 0; i < registry_count(r); ++i) {
    const reg_entry *const e = registry_at(r, i);
    const loom_plugin *const p = e->plugin;
    if (p == NULL || p->kind != kind) continue;
    printf("  %-16s %-8s %-9s %s\n", p->name, p->version, listing_backends(p->backends),
           p->license);
    printf("      %.*s\n", registry_summary_len(p), p->summary);
    registry_print_limits(p, "      limit: ", stdout);
    printf("      paper: %s\n      path:  %s\n", p->reference, e->path);
    ++n;
  }
  if (n == 0) printf("  (none)\n");
}

static void print_skipped(const registry *r)
{
  int n = 0;
  for (int i = 0; i < registry_count(r); ++i) {
    const reg_entry *const e = registry_at(r, i);
    if (e->plugin != NULL) continue;
    if (n++ == 0) printf("skipped:\n");
    printf("  %s: %s\n", e->path, e->why);
  }
}

static void json_plugins(const registry *r, int kind)
{
  for (int skipped = 0; skipped < 2; ++skipped) {
    int n = 0;
    printf(skipped ? "], \"skipped\": [" : "{\"plugins\": [");
    for (int i = 0; i < registry_count(r); ++i) {
      const reg_entry *const e = registry_at(r, i);
      int first = 1;
      if ((e->plugin == NULL) != skipped) continue;
      if (!skipped && kind != KIND_ALL && e->plugin->kind != kind) continue;
      printf(n++ > 0 ? ",\n  {" : "\n  {");
      if (skipped) {
        json_member(stdout, &first, "path", e->path);
        json_member(stdout, &first, "why", e->why);
      } else {
        json_plugin(stdout, &first, e);
      }
      printf("}");
    }
  }
  printf("]}\n");
}

/* ---- elements ---- */

static const char *caps_text(uint32_t caps, char *buf, size_t len)
{
  snprintf(buf, len, "%s%s%s%s", caps & LOOM_ELEM_ENERGY ? "energy" : "",
           caps & LOOM_ELEM_GRADIENT ? ", gradient" : "",
           caps & LOOM_ELEM_HESSIAN ? ", Hessian" : "",
           caps & LOOM_ELEM_PROJECT ? ", projection" : "");
  return buf[0] == ',' ? buf + 2 : buf;
}

static void list_elements(int json)
{
  char caps[64];
  printf(json ? "{\"elements\": [" : "element types of the core:\n");
  for (int i = 0; i < elem_count(); ++i) {
    const elem_type *const t = elem_at(i);
    const char *const can = caps_text(t->caps, caps, sizeof caps);
    int first = 1;
    if (!json) {
      printf("  %-16s %d vertices; %s\n      %s\n      rest: %s\n      material: %s\n", t->name,
             (int)t->arity, can, t->doc, t->rest_doc, t->mat_doc);
      continue;
    }
    printf(i == 0 ? "\n  {" : ",\n  {");
    json_member(stdout, &first, "name", t->name);
    write_json_number(stdout, &first, "arity", t->arity);
    json_list(stdout, &first, "caps", can);
    json_member(stdout, &first, "doc", t->doc);
    json_member(stdout, &first, "rest", t->rest_doc);
    json_member(stdout, &first, "material", t->mat_doc);
    printf("}");
  }
  if (json) printf("]}\n");
}

/* ---- plugins that fit ---- */

static void print_list_message(void *user, int level, const char *text)
{
  (void)user;
  if (level <= LOOM_LOG_WARN) fprintf(stderr, "loom: %s\n", text);
}

static int list_fit(const listing *o)
{
  loom_err err = {0};
  cfg *conf = NULL;
  run *r = NULL;
  char dirs[sizeof o->dirs + 32];
  snprintf(dirs, sizeof dirs, "exec.plugin_path=%s", o->dirs);
  const char *const sets[] = {dirs};
  const run_options how = {
      .steps = -1, .no_log = 1, .look_only = 1, .scene_only = 1, .message = print_list_message};
  loom_status s = cfg_load(&err, o->fit, sets, o->dirs[0] != '\0', &conf);
  if (s == LOOM_OK) s = run_open(&err, conf, &how, &r);
  if (s == LOOM_OK) s = run_print_fit(r, &err, o->json, stdout);
  run_close(r, NULL);
  cfg_free(conf);
  return s == LOOM_OK ? EXIT_FINE : cmd_fail(&err);
}

int cmd_list(int argc, char **argv)
{
  listing o;
  loom_err err = {0};
  registry *r = NULL;
  if (listing_parse(argc, argv, usage, &o) != 0) return o.exit_code;
  if (o.schema) {
    fprintf(stderr, "loom: --schema belongs to describe\n%s", usage);
    return EXIT_USAGE;
  }
  if (o.fit != NULL && o.name != NULL) {
    fprintf(stderr, "loom: list --fit takes a config alone, found also '%s'\n%s", o.name, usage);
    return EXIT_USAGE;
  }
  if (o.fit != NULL) return list_fit(&o);
  const int kind = parse_listed_kind(o.name);
  if (kind == KIND_UNKNOWN) return EXIT_USAGE;
  if (kind == KIND_ELEMENTS) {
    list_elements(o.json);
    return EXIT_FINE;
  }
  loom_status s = registry_scan(&err, o.dirs, &r);
  if (s == LOOM_OK) s = registry_look(&err, r);
  if (s != LOOM_OK) {
    registry_close(r);
    return cmd_fail(&err);
  }
  if (o.json) {
    json_plugins(r, kind);
  } else {
    for (int k = 0; k < LOOM_NUM_KINDS; ++k)
      if (kind == KIND_ALL || kind == k) print_kind(r, k);
    print_skipped(r);
  }
  registry_close(r);
  return EXIT_FINE;
}
