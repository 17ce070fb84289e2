/* shared_files.c - lists scenes, methods, materials and animations of the search path. */
#include "app/shared_files.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/commands.h"
#include "app/listing.h"
#include "config/config.h"
#include "core/suffix.h"

static const struct shared_kind {
  const char *name, *ending, *use;
} kinds[] = {
    {"materials", ".ini", "[cloth.NAME] material = NAME"},
    {"methods", ".ini", "include = methods/NAME.ini"},
    {"scenes", ".ini", "include = scenes/NAME.ini"},
    {"animations", ".txt", "[body.NAME] animation = NAME"},
};
enum { NUM_KINDS = sizeof kinds / sizeof kinds[0] };

static const struct shared_kind *find_shared_kind(const char *name)
{
  for (int i = 0; i < NUM_KINDS; ++i)
    if (strcmp(kinds[i].name, name) == 0) return &kinds[i];
  return NULL;
}

int shared_files_known(const char *kind) { return find_shared_kind(kind) != NULL; }

/* The text of the first line, if that is a comment, into text [len]. */
static void read_first_comment(const char *path, char *text, int len)
{
  FILE *const f = fopen(path, "r");
  text[0] = '\0';
  if (f == NULL) return;
  if (fgets(text, len, f) == NULL) text[0] = '\0';
  fclose(f);
  text[strcspn(text, "\r\n")] = '\0';
  const size_t skip = text[0] == ';' || text[0] == '#' ? 1 + strspn(text + 1, " ") : strlen(text);
  memmove(text, text + skip, strlen(text + skip) + 1);
}

/* The files of one folder, in the order of their names; the number of them. */
static int print_folder(const struct shared_kind *k, const char *dir, int json, int before)
{
  struct dirent **names = NULL;
  char path[2 * PATH_MAX], text[400];
  const int n = scandir(dir, &names, NULL, alphasort);
  int printed = before;
  for (int i = 0; i < n; ++i) {
    const char *const file = names[i]->d_name;
    if (has_suffix(file, k->ending)) {
      const int stem = (int)(strlen(file) - strlen(k->ending));
      char name[NAME_MAX + 1];
      int first = 1;
      snprintf(name, sizeof name, "%.*s", stem, file);
      snprintf(path, sizeof path, "%s/%s", dir, file);
      read_first_comment(path, text, sizeof text);
      if (json) {
        printf(printed > 0 ? ",\n  {" : "\n  {");
        json_member(stdout, &first, "name", name);
        json_member(stdout, &first, "summary", text);
        json_member(stdout, &first, "path", path);
        printf("}");
      } else {
        printf("  %-20s %s\n", name, text);
      }
      ++printed;
    }
    free(names[i]);
  }
  free(names);
  return printed - before;
}

int shared_files_print(const char *kind, int json)
{
  const struct shared_kind *const k = find_shared_kind(kind);
  char dir[PATH_MAX], folder[PATH_MAX + 32];
  int total = 0;
  if (k == NULL) return EXIT_USAGE;
  if (json)
    printf("[");
  else
    printf("%s: %s\n", k->name, k->use);
  for (int d = 0; cfg_search_dir(d, dir, sizeof dir); ++d) {
    snprintf(folder, sizeof folder, "%s/%s", dir, k->name);
    if (!json) printf("%s:\n", folder);
    total += print_folder(k, folder, json, total);
  }
  if (json) printf("]\n");
  if (!json && total == 0)
    printf("  (none; LOOM_CONFIG_PATH names folders with %s/, an installation has its own)\n",
           k->name);
  return EXIT_FINE;
}
