/* core/registry.c with real files: plugins that are found, and why a file is refused. */
#define _GNU_SOURCE /* realpath */
#include <criterion/criterion.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/elf_check.h"
#include "core/registry.h"

static char work[64]; /* a directory of this test's own */

static const char *plugin_fixture_path(const char *folder)
{
  static char path[PATH_MAX];
  const char *const root = getenv("LOOM_TEST_PLUGINS");
  cr_assert(root != NULL);
  snprintf(path, sizeof path, "%s/%s", root, folder);
  return path;
}

static void create_registry_folder(void)
{
  strcpy(work, "/tmp/loom-registry-XXXXXX");
  cr_assert(mkdtemp(work) != NULL);
  unsetenv("LOOM_PLUGIN_PATH");
}

static void remove_registry_folder(void)
{
  char command[128];
  snprintf(command, sizeof command, "rm -rf '%s'", work);
  cr_assert(system(command) == 0);
}

TestSuite(registry, .init = create_registry_folder, .fini = remove_registry_folder);

static registry *open_dirs(const char *dirs)
{
  loom_err err = {0};
  registry *r = NULL;
  cr_assert_eq(registry_open(&err, dirs, &r), LOOM_OK, "%s", err.text);
  return r;
}

/* The entry with a path that ends in /FILE; refused ones only if so wanted. */
static const reg_entry *entry_of(const registry *r, const char *file, int refused)
{
  for (int i = 0; i < registry_count(r); ++i) {
    const reg_entry *const e = registry_at(r, i);
    const char *const slash = strrchr(e->path, '/');
    if (slash != NULL && strcmp(slash + 1, file) == 0 && (e->plugin == NULL) == refused) return e;
  }
  return NULL;
}

/* Copy `length` bytes (all if negative) of a good plugin to work/NAME. */
static const char *copy_plugin(const char *name, long length)
{
  static char to[128];
  static char buf[1 << 20];
  char from[PATH_MAX];
  snprintf(from, sizeof from, "%s/fx_good.so", plugin_fixture_path("good"));
  snprintf(to, sizeof to, "%s/%s", work, name);
  FILE *const in = fopen(from, "rb"), *const out = fopen(to, "wb");
  cr_assert(in != NULL && out != NULL);
  const size_t n = fread(buf, 1, sizeof buf, in);
  cr_assert(n > 1000 && n < sizeof buf);
  cr_assert_eq(fwrite(buf, 1, length < 0 ? n : (size_t)length, out),
               length < 0 ? n : (size_t)length);
  fclose(in);
  fclose(out);
  return to;
}

Test(registry, good_plugins_are_found_with_their_path)
{
  registry *const r = open_dirs(plugin_fixture_path("good"));
  loom_err err = {0};
  const reg_entry *e = NULL;
  cr_assert_eq(registry_find(&err, r, LOOM_KIND_SOLVER, "fx_good", &e), LOOM_OK, "%s", err.text);
  cr_assert_str_eq(e->plugin->version, "1.2.3");
  char real[PATH_MAX], file[PATH_MAX + 16];
  snprintf(file, sizeof file, "%s/fx_good.so", plugin_fixture_path("good"));
  cr_assert(realpath(file, real) != NULL);
  cr_assert_str_eq(e->path, real);
  cr_assert_str_empty(e->why);
  /* one file, two kinds */
  cr_assert_eq(registry_find(&err, r, LOOM_KIND_CONTACT, "fx_pair", &e), LOOM_OK);
  cr_assert_eq(registry_find(&err, r, LOOM_KIND_COLLISION, "fx_pair", &e), LOOM_OK);
  cr_assert_eq(e->plugin->kind, LOOM_KIND_COLLISION);
  /* sorted by file name */
  cr_assert(entry_of(r, "fx_good.so", 0) < entry_of(r, "fx_pair.so", 0));
  cr_assert(registry_at(r, -1) == NULL && registry_at(r, registry_count(r)) == NULL);
  registry_close(r);
}

Test(registry, every_refusal_has_its_reason)
{
  static const char *const rows[][2] = {
      {"fx_magic.so", "begins with 0x00001234 instead of the magic number 0x4d4f4f4c"},
      {"fx_major.so", "built for plugin ABI 99."},
      {"fx_older.so", "built for plugin ABI 0.4, this is 0.5; rebuild the plugin"},
      {"fx_newer.so", "built for plugin ABI 0.6, this is 0.5; rebuild the plugin"},
      {"fx_layout.so", "built with other headers of plugin ABI"},
      {"fx_real.so", "built for reals of 2 bytes, this loom has"},
      {"fx_name.so", "the plugin is called 'fx_other', so the file must be fx_other.so"},
      {"fx_short.so", "set struct_size to its sizeof"},
      {"fx_foreign.so", "not a plugin: it exports no loom_plugin_query"},
      {"fx_unresolved.so", "cannot be loaded: undefined symbol: fx_symbol_that_nobody_has"},
      {"fx_borrowed.so", "not a plugin: its loom_plugin_query comes from"},
  };
  registry *const r = open_dirs(plugin_fixture_path("bad"));
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
    const reg_entry *const e = entry_of(r, rows[i][0], 1);
    cr_assert(e != NULL, "%s was skipped silently", rows[i][0]);
    cr_assert(strstr(e->why, rows[i][1]) != NULL, "%s: %s", rows[i][0], e->why);
  }
  registry_close(r);
}

Test(registry, truncated_at_any_length_is_refused_without_a_crash)
{
  struct stat st;
  char path[PATH_MAX + 16];
  snprintf(path, sizeof path, "%s/fx_good.so", plugin_fixture_path("good"));
  cr_assert(stat(path, &st) == 0);
  for (long n = 0; n < st.st_size; n += n < 64 ? 9 : st.st_size / 37) {
    copy_plugin("fx_good.so", n);
    registry *const r = open_dirs(work);
    const reg_entry *const e = entry_of(r, "fx_good.so", 1);
    cr_assert(e != NULL, "%ld bytes", n);
    cr_assert(strstr(e->why, n < 64 ? "not an ELF file" : "truncated") != NULL, "%ld: %s", n,
              e->why);
    registry_close(r);
  }
  copy_plugin("fx_good.so", -1);
  registry *const r = open_dirs(work);
  cr_assert_str_eq(entry_of(r, "fx_good.so", 0)->plugin->name, "fx_good");
  registry_close(r);
}

Test(registry, files_that_are_no_plugins)
{
  char path[128];
  FILE *f = fopen(strcat(strcpy(path, work), "/text.so"), "w");
  cr_assert(f != NULL);
  for (int i = 0; i < 100; ++i) fputs("int main;\n", f);
  fclose(f);
  cr_assert(mkdir(strcat(strcpy(path, work), "/folder.so"), 0700) == 0);
  cr_assert(mkfifo(strcat(strcpy(path, work), "/pipe.so"), 0600) == 0);
  cr_assert(symlink("/nowhere/x.so", strcat(strcpy(path, work), "/dangling.so")) == 0);
  f = fopen(copy_plugin("machine.so", -1), "r+b"); /* e_machine, byte 18 */
  cr_assert(f != NULL && fseek(f, 18, SEEK_SET) == 0 && fputc(0x7e, f) != EOF);
  fclose(f);
  f = fopen(copy_plugin("word.so", -1), "r+b"); /* EI_CLASS, byte 4 */
  cr_assert(f != NULL && fseek(f, 4, SEEK_SET) == 0 && fputc(1, f) != EOF);
  fclose(f);
  f = fopen(copy_plugin("object.so", -1), "r+b"); /* e_type, byte 16 */
  cr_assert(f != NULL && fseek(f, 16, SEEK_SET) == 0 && fputc(1, f) != EOF);
  fclose(f);

  registry *const r = open_dirs(work);
  cr_assert(strstr(entry_of(r, "text.so", 1)->why, "not an ELF file") != NULL);
  cr_assert_str_eq(entry_of(r, "folder.so", 1)->why, "not a regular file");
  cr_assert_str_eq(entry_of(r, "pipe.so", 1)->why, "not a regular file");
  cr_assert(strstr(entry_of(r, "dangling.so", 1)->why, "No such file") != NULL);
  cr_assert(strstr(entry_of(r, "machine.so", 1)->why, "built for another processor") != NULL);
  cr_assert(strstr(entry_of(r, "word.so", 1)->why, "another word size") != NULL);
  cr_assert(strstr(entry_of(r, "object.so", 1)->why, "not a shared object") != NULL);
  registry_close(r);
}

Test(registry, plugins_that_were_not_built_are_listed_with_the_reason)
{
  char path[128];
  loom_err err = {0};
  const reg_entry *found = NULL;
  snprintf(path, sizeof path, "%s/needy.missing", work);
  FILE *const f = fopen(path, "w");
  cr_assert(f != NULL);
  fputs("libneeded was not found; install it\nmore\n", f);
  fclose(f);
  registry *const r = open_dirs(work);
  const reg_entry *const e = entry_of(r, "needy.so", 1);
  cr_assert(e != NULL);
  cr_expect_str_eq(e->why, "not built: libneeded was not found; install it");
  cr_expect_eq(registry_find(&err, r, LOOM_KIND_SOLVER, "needy", &found), LOOM_E_CONFIG);
  cr_expect(strstr(err.text, "libneeded was not found") != NULL, "%s", err.text);
  registry_close(r);
}

Test(registry, symlinks_are_followed)
{
  char from[PATH_MAX + 16], to[128];
  snprintf(from, sizeof from, "%s/fx_good.so", plugin_fixture_path("good"));
  snprintf(to, sizeof to, "%s/fx_good.so", work);
  cr_assert(symlink(from, to) == 0);
  registry *const r = open_dirs(work);
  const reg_entry *const e = entry_of(r, "fx_good.so", 0);
  char real[PATH_MAX];
  cr_assert(e != NULL && realpath(from, real) != NULL);
  cr_assert_str_eq(e->path, real);
  registry_close(r);
}

Test(registry, the_first_of_two_wins_and_the_second_is_listed)
{
  char dirs[PATH_MAX + 80], both[PATH_MAX + 80];
  copy_plugin("fx_good.so", -1);
  snprintf(dirs, sizeof dirs, "%s:%s", work, plugin_fixture_path("good"));
  registry *r = open_dirs(dirs);
  const reg_entry *const winner = entry_of(r, "fx_good.so", 0), *const e =
                                                                    entry_of(r, "fx_good.so", 1);
  cr_assert(strncmp(winner->path, work, strlen(work)) == 0);
  cr_assert(strstr(e->why, "shadowed by the solver plugin of the same name in") != NULL);
  cr_assert(strstr(e->why, winner->path) != NULL);
  registry_close(r);
  /* one directory named twice is searched once */
  snprintf(both, sizeof both, "%s:%s/../good", plugin_fixture_path("good"),
           plugin_fixture_path("good"));
  r = open_dirs(both);
  cr_assert(entry_of(r, "fx_good.so", 1) == NULL);
  registry_close(r);
}

Test(registry, directories)
{
  loom_err err = {0};
  registry *r = NULL;
  /* a folder that every user may write to is an error where it was named */
  cr_assert_eq(chmod(work, 0777), 0);
  cr_assert_eq(registry_open(&err, work, &r), LOOM_E_CONFIG);
  cr_assert(strstr(err.text, "every user may write to it (mode 0777)") != NULL, "%s", err.text);
  cr_assert(strstr(err.text, work) != NULL && r == NULL);
  cr_assert_eq(chmod(work, 0700), 0);

  r = open_dirs("/nowhere/plugins");
  const reg_entry *const e = entry_of(r, "plugins", 1);
  cr_assert(e != NULL && strstr(e->why, "cannot read the directory") != NULL);
  registry_close(r);

  /* the current directory is not searched, not even for "a::b", unless it is named */
  copy_plugin("fx_good.so", -1);
  cr_assert(chdir(work) == 0);
  r = open_dirs("::");
  cr_assert(entry_of(r, "fx_good.so", 0) == NULL);
  registry_close(r);
  r = open_dirs(".");
  cr_assert(entry_of(r, "fx_good.so", 0) != NULL);
  registry_close(r);
  cr_assert(chdir("/") == 0);

  setenv("LOOM_PLUGIN_PATH", work, 1);
  r = open_dirs(NULL);
  cr_assert(entry_of(r, "fx_good.so", 0) != NULL);
  registry_close(r);
  registry_close(NULL);
}

Test(registry, unknown_names_are_explained)
{
  char dirs[2 * PATH_MAX];
  snprintf(dirs, sizeof dirs, "%s", plugin_fixture_path("good"));
  snprintf(dirs + strlen(dirs), sizeof dirs - strlen(dirs), ":%s", plugin_fixture_path("bad"));
  registry *const r = open_dirs(dirs);
  loom_err err = {0};
  const reg_entry *e = NULL;
  cr_assert_eq(registry_find(&err, r, LOOM_KIND_SOLVER, "fx_goud", &e), LOOM_E_CONFIG);
  cr_assert(strstr(err.text, "there is no solver plugin 'fx_goud'; did you mean 'fx_good'?") !=
            NULL);
  cr_assert(strstr(err.text, plugin_fixture_path("good")) != NULL);
  cr_assert_eq(registry_find(&err, r, LOOM_KIND_SOLVER, "fx_major", &e), LOOM_E_CONFIG);
  cr_assert(strstr(err.text, "fx_major.so was refused: built for plugin ABI 99.") != NULL, "%s",
            err.text);
  cr_assert_eq(registry_find(&err, r, LOOM_KIND_SOLVER, "fx_pair", &e), LOOM_E_CONFIG);
  cr_assert(strstr(err.text, "fx_pair.so is a contact plugin") != NULL);
  cr_assert(e == NULL);
  registry_close(r);
}

Test(registry, kinds_have_names)
{
  cr_assert_str_eq(registry_kind_name(LOOM_KIND_COLLISION), "collision");
  cr_assert_str_eq(registry_kind_name(7), "unknown");
}
