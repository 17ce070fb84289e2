/* cmd_cite.c - `loom cite CONFIG|FILE.h5`: BibTeX of loom and of the papers of the plugins used. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/bib_file.h"
#include "app/listing.h"
#include "app/log_tools.h"
#include "core/build_info.h"
#include "core/suffix.h"
#include "run/run.h"

static const char usage[] =
    "usage: loom cite CONFIG | FILE.h5 [--plugin-path DIRS]\n"
    "  prints BibTeX: loom itself, and the papers of the plugins that the configuration names, or\n"
    "  that the run of the log had; entries are sorted by key\n"
    "  DIRS  colon-separated directories, searched before LOOM_PLUGIN_PATH and loom's own\n";

/* The papers of one plugin stand beside its file: DIR/NAME.so has DIR/NAME.bib. */
static loom_status add_papers(loom_err *err, bib_list *list, const char *name, const char *file,
                              const char *reference)
{
  char path[PATH_MAX + 8];
  int found = 0;
  if (has_suffix(file, ".so")) {
    snprintf(path, sizeof path, "%.*s.bib", (int)(strlen(file) - strlen(".so")), file);
    LOOM_TRY(bib_add_file(err, list, path, &found));
  }
  if (!found && strncmp(reference, "none", 4) != 0)
    printf("%% %s has no file %s.bib; its descriptor names: %s\n", name, name, reference);
  return LOOM_OK;
}

static loom_status add_config(loom_err *err, bib_list *list, const listing *o)
{
  cfg *conf = NULL;
  run *r = NULL;
  char dirs[sizeof o->dirs + 32];
  snprintf(dirs, sizeof dirs, "exec.plugin_path=%s", o->dirs);
  const char *const sets[] = {dirs};
  const run_options how = {.steps = -1, .no_log = 1, .look_only = 1, .scene_only = 1};
  loom_status s = cfg_load(err, o->name, sets, o->dirs[0] != '\0', &conf);
  if (s == LOOM_OK) s = run_open(err, conf, &how, &r);
  const char *file;
  const loom_plugin *p;
  for (int i = 0; s == LOOM_OK && (p = run_plugin(r, i, &file)) != NULL; ++i)
    s = add_papers(err, list, p->name, file, p->reference);
  run_close(r, NULL);
  cfg_free(conf);
  return s;
}

/* ---- a log ---- */

static loom_status add_named(loom_err *err, bib_list *list, const registry *reg, const char *kind,
                             const char *name)
{
  for (int i = 0; i < registry_count(reg); ++i) {
    const reg_entry *const e = registry_at(reg, i);
    if (e->plugin == NULL || strcmp(e->plugin->name, name) != 0 ||
        strcmp(registry_kind_name(e->plugin->kind), kind) != 0)
      continue;
    return add_papers(err, list, name, e->path, e->plugin->reference);
  }
  printf("%% the %s plugin %s of the log was not found; --plugin-path names its folder\n", kind,
         name);
  return LOOM_OK;
}

/* Lines of /plugins: name, kind, version, further fields, with tabs between them. */
static loom_status add_lines(loom_err *err, bib_list *list, const registry *reg, const char *lines)
{
  char name[64], kind[32], version[64];
  loom_status s = LOOM_OK;
  for (const char *line = lines; s == LOOM_OK && *line != '\0';) {
    if (sscanf(line, "%63[^\t\n]\t%31[^\t\n]\t%63[^\t\n]", name, kind, version) == 3) {
      if (strcmp(kind, "peer") == 0)
        printf("%% frames of %s %s: cite this program, too\n", name, version);
      else
        s = add_named(err, list, reg, kind, name);
    }
    line += strcspn(line, "\n");
    line += *line == '\n';
  }
  return s;
}

static loom_status add_log(loom_err *err, bib_list *list, const listing *o)
{
  h5read *log = NULL;
  registry *reg = NULL;
  loom_status s = tool_open_log(err, o->name, &log);
  if (s == LOOM_OK) s = registry_scan(err, o->dirs, &reg);
  if (s == LOOM_OK) s = registry_look(err, reg);
  if (s == LOOM_OK) s = add_lines(err, list, reg, h5read_attr(log, "plugins"));
  registry_close(reg);
  h5read_close(log);
  return s;
}

/* The LOOM_CITATION_* come from CITATION.cff. */
static void print_loom(void)
{
  printf("@software{loom,\n  author = {{" LOOM_CITATION_AUTHOR
         "}},\n  title = {{" LOOM_CITATION_TITLE
         "}},\n  version = {%s},\n  note = {commit %s, licence " LOOM_CITATION_LICENSE "}\n}\n",
         loom_build_version, loom_build_commit);
}

static int run_cite(int argc, char **argv)
{
  listing o;
  loom_err err = {0};
  bib_list list = {0};
  if (listing_parse(argc, argv, usage, &o) != 0) return o.exit_code;
  if (o.name == NULL || o.json || o.fit != NULL)
    return tool_usage("cite", "one configuration or log is expected, and no option but "
                              "--plugin-path");
  const loom_status s =
      has_suffix(o.name, ".h5") ? add_log(&err, &list, &o) : add_config(&err, &list, &o);
  if (s == LOOM_OK) {
    print_loom();
    bib_print(&list, stdout);
  }
  bib_free(&list);
  return s == LOOM_OK ? EXIT_FINE : cmd_fail(&err);
}

int cmd_cite(int argc, char **argv) { return guard_run(run_cite, argc, argv); }
