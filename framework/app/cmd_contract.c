/* cmd_contract.c - `loom contract`: the contract of all plugins, checked on one of them. */
#define _DEFAULT_SOURCE /* realpath */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/commands.h"
#include "contract/contract.h"

static const char usage[] =
    "usage: loom contract NAME [--plugin-path DIRS] [--kind solver|collision|contact]\n"
    "                     [--set KEY=VALUE]... [--backend cpu|cuda] [--check GROUP[.CHECK]]\n"
    "                     [--time SECONDS] [--list]\n"
    "Runs plugin NAME through the contract tests, each in a process of its own, and prints PASS,\n"
    "FAIL or SKIP with the reason.  The other places of the runs are filled with plugins that "
    "fit.\n"
    "  --kind     which one, if NAME is the name of plugins of several kinds\n"
    "  --set      a key of the plugin itself, checked instead of its default\n"
    "  --backend  where the runs work (default cpu); plugins without CUDA launchers: cpu\n"
    "  --check    only these: a group (contact), or one check (life.wrong_order)\n"
    "  --time     limit of each check in seconds (default 120)\n"
    "  --list     print the checks and their conditions; NAME may be left out\n"
    "Exit code 0: no check failed, 1: a check failed, 2: usage, or the plugin was not found.\n";

typedef struct request {
  const char *name, *dirs, *check, *backend;
  int kind; /* LOOM_KIND_*, -1: not given */
  int seconds, list;
  const char *set[16];
  int num_sets;
} request;

static int refuse_argument(const char *what, const char *value)
{
  fprintf(stderr, "loom: %s '%s'\n%s", what, value, usage);
  return EXIT_USAGE;
}

static int parse_plugin_kind(const char *name)
{
  for (int k = 0; k < LOOM_NUM_KINDS; ++k)
    if (strcmp(registry_kind_name(k), name) == 0) return k;
  return -1;
}

/* 0: go on; nonzero: leave with *code. */
static int parse_contract_args(int argc, char **argv, request *q, int *code)
{
  *q = (request){.kind = -1, .seconds = 120};
  *code = EXIT_USAGE;
  for (int i = 1; i < argc; ++i) {
    const char *const a = argv[i], *const v = i + 1 < argc ? argv[i + 1] : NULL;
    if (strcmp(a, "--help") == 0 || strcmp(a, "-h") == 0) {
      fputs(usage, stdout);
      *code = EXIT_FINE;
      return 1;
    }
    if (strcmp(a, "--list") == 0) {
      q->list = 1;
      continue;
    }
    if (a[0] != '-') {
      if (q->name != NULL) return *code = refuse_argument("one name expected, found also", a);
      q->name = a;
      continue;
    }
    if (v == NULL) return *code = refuse_argument("unknown option, or its value is missing:", a);
    ++i;
    if (strcmp(a, "--plugin-path") == 0) {
      q->dirs = v;
    } else if (strcmp(a, "--kind") == 0) {
      if ((q->kind = parse_plugin_kind(v)) < 0)
        return *code = refuse_argument("there is no kind", v);
    } else if (strcmp(a, "--check") == 0) {
      q->check = v;
    } else if (strcmp(a, "--backend") == 0) {
      if (strcmp(v, "cpu") != 0 && strcmp(v, "cuda") != 0)
        return *code = refuse_argument("--backend wants cpu or cuda, found", v);
      q->backend = v;
    } else if (strcmp(a, "--time") == 0) {
      if ((q->seconds = atoi(v)) < 1)
        return *code = refuse_argument("--time wants seconds, found", v);
    } else if (strcmp(a, "--set") == 0 && q->num_sets < (int)LOOM_COUNT(q->set)) {
      if (strchr(v, '=') == NULL || strpbrk(v, " ") != NULL)
        return *code = refuse_argument("--set wants KEY=VALUE without blanks, found", v);
      q->set[q->num_sets++] = v;
    } else {
      return *code = refuse_argument("unknown option", a);
    }
  }
  if (q->name == NULL && !q->list) {
    fputs(usage, stderr);
    return 1;
  }
  return 0;
}

static int is_check_selected(const request *q, const ct_check *c)
{
  if (q->check == NULL) return 1;
  const size_t n = strlen(c->group);
  if (strncmp(q->check, c->group, n) != 0) return 0;
  return q->check[n] == '\0' || (q->check[n] == '.' && strcmp(q->check + n + 1, c->name) == 0);
}

/* ---- the search for the plugin, in a child process: loading it runs its code ----
 */

/* The file is called NAME.so. */
static int has_file_name(const reg_entry *e, const char *name)
{
  const char *const slash = strrchr(e->path, '/'), *const base =
                                                       slash != NULL ? slash + 1 : e->path;
  const size_t n = strlen(name);
  return strncmp(base, name, n) == 0 && strcmp(base + n, ".so") == 0;
}

/* Reports that no plugin has the name: why a file of it was refused, or the available plugins. */
static _Noreturn void say_missing(registry *reg, const request *q)
{
  loom_err err = {0};
  const reg_entry *none;
  const char *names[512];
  int num = 0;
  for (int i = 0; i < registry_count(reg); ++i) {
    const reg_entry *const e = registry_at(reg, i);
    if (e->plugin == NULL && has_file_name(e, q->name))
      ct_skip("%s was refused: %s", e->path, e->why);
  }
  (void)registry_find(&err, reg, q->kind >= 0 ? q->kind : 0, q->name, &none);
  for (char *nl = err.text; (nl = strchr(nl, '\n')) != NULL;) *nl = ';'; /* one line */
  if (q->kind >= 0) ct_skip("%s", err.text);
  for (int i = 0; i < registry_count(reg) && num < (int)LOOM_COUNT(names); ++i)
    if (registry_at(reg, i)->plugin != NULL) names[num++] = registry_at(reg, i)->plugin->name;
  const char *const near = err_nearest(q->name, names, num);
  const char *const searched = strstr(err.text, "searched: "); /* and the refused files */
  ct_skip("there is no plugin '%.80s'%s%s%s; %s", q->name, near != NULL ? "; did you mean '" : "",
          near != NULL ? near : "", near != NULL ? "'?" : "",
          searched != NULL ? searched : "loom list names all");
}

/* Reports which plugin it is, or why none was found. */
static void find_contract_plugin(const void *arg)
{
  const request *const q = arg;
  loom_err err = {0};
  registry *reg = NULL;
  const reg_entry *found = NULL;
  int num = 0;
  CT_ASSERT(registry_scan(&err, "", &reg) == LOOM_OK, "%s", err.text);
  CT_ASSERT(registry_open_named(&err, reg, q->name) == LOOM_OK, "%s", err.text);
  for (int i = 0; i < registry_count(reg); ++i) {
    const reg_entry *const e = registry_at(reg, i);
    if (e->plugin == NULL || strcmp(e->plugin->name, q->name) != 0) continue;
    if (q->kind >= 0 && e->plugin->kind != q->kind) continue;
    found = e;
    ++num;
  }
  if (num > 1) ct_skip("%s is the name of %d plugins; choose with --kind", q->name, num);
  if (num == 0) say_missing(reg, q);
  ct_skip("found %d %s", found->plugin->kind, found->path);
}

/* The plugin path of this process and its children: DIRS before the present path. */
static int set_path(const char *dirs)
{
  const char *const had = getenv("LOOM_PLUGIN_PATH");
  char path[8192], one[4096];
  size_t used = 0;
  path[0] = '\0';
  while (dirs != NULL && *dirs != '\0') {
    const size_t n = strcspn(dirs, ":");
    char real[4096];
    snprintf(one, sizeof one, "%.*s", (int)n, dirs);
    if (realpath(one, real) == NULL) return 0;
    used += (size_t)snprintf(path + used, sizeof path - used, "%s%s", used > 0 ? ":" : "", real);
    if (used >= sizeof path) return 0;
    dirs += n + (dirs[n] == ':');
  }
  if (had != NULL && had[0] != '\0')
    snprintf(path + used, sizeof path - used, "%s%s", used > 0 ? ":" : "", had);
  return path[0] == '\0' || setenv("LOOM_PLUGIN_PATH", path, 1) == 0;
}

static int locate_in_child(const request *q, ct_plugin *p)
{
  ct_verdict v;
  int kind = 0, at = 0;
  ct_run_child(find_contract_plugin, q, q->seconds, &v);
  if (v.result != CT_SKIPPED || sscanf(v.text, "found %d %n", &kind, &at) != 1) {
    fprintf(stderr, "loom: %s\n", v.text);
    return 0;
  }
  p->kind = kind;
  snprintf(p->name, sizeof p->name, "%s", q->name);
  snprintf(p->set, sizeof p->set, "exec.backend=%s", q->backend != NULL ? q->backend : "cpu");
  for (int i = 0; i < q->num_sets; ++i) {
    const size_t used = strlen(p->set);
    snprintf(p->set + used, sizeof p->set - used, " %s%s",
             kind == LOOM_KIND_SOLVER      ? "solver."
             : kind == LOOM_KIND_COLLISION ? "collision.c."
                                           : "contact.c.",
             q->set[i]);
  }
  printf("contract of the %s plugin %s, %s\n", registry_kind_name(kind), q->name, v.text + at);
  return 1;
}

static int list_contract_checks(const request *q)
{
  int num;
  const ct_check *const all = ct_checks(&num);
  for (int i = 0; i < num; ++i)
    if (is_check_selected(q, &all[i])) printf("%s.%s: %s\n", all[i].group, all[i].name, all[i].doc);
  return EXIT_FINE;
}

int cmd_contract(int argc, char **argv)
{
  static const char *const words[] = {"PASS", "FAIL", "SKIP"};
  request q;
  ct_plugin p = {.kind = -1};
  int code, num, count[3] = {0};
  if (parse_contract_args(argc, argv, &q, &code) != 0) return code;
  if (q.list) return list_contract_checks(&q);
  if (!set_path(q.dirs)) return refuse_argument("--plugin-path: there is no directory", q.dirs);
  if (!locate_in_child(&q, &p)) return EXIT_USAGE;
  const ct_check *const all = ct_checks(&num);
  for (int i = 0; i < num; ++i) {
    char name[96];
    ct_verdict v;
    if (!is_check_selected(&q, &all[i]) || (all[i].kind >= 0 && all[i].kind != p.kind)) continue;
    ct_run_check(&all[i], &p, q.seconds, &v);
    snprintf(name, sizeof name, "%s.%s", all[i].group, all[i].name);
    printf("%s  %-35s%s%s\n", words[v.result], name, v.text[0] != '\0' ? "  " : "", v.text);
    fflush(stdout);
    count[v.result]++;
  }
  if (count[CT_PASSED] + count[CT_FAILED] + count[CT_SKIPPED] == 0)
    return refuse_argument("no check of this kind of plugin is called", q.check);
  printf("%d passed, %d failed, %d skipped\n", count[CT_PASSED], count[CT_FAILED],
         count[CT_SKIPPED]);
  return count[CT_FAILED] > 0 ? EXIT_RUNTIME : EXIT_FINE;
}
