/* framework/config: a method replaced from outside the file that sets its keys, and keys unset. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/config.h"
#include "loom/plugin.h"

typedef struct settings {
  double rate, mass, stiffness;
  int32_t mode;
  const char *cache;
} settings;

/* Two methods: `rate` means the same in both, `stiffness` and `mode` do not. */
static const loom_param first[] = {
    LOOM_PARAM_REAL(settings, rate, 1, 0, 10, "1/s", ""),
    LOOM_PARAM_REAL(settings, mass, 1, 0, 10, "kg", ""),
    LOOM_PARAM_REAL(settings, stiffness, 1, 0, 10, "N/m", ""),
    LOOM_PARAM_ENUM(settings, mode, 0, "a|b", ""),
    LOOM_PARAM_TEXT(settings, cache, "folder", ""),
};
static const loom_param second[] = {
    LOOM_PARAM_REAL(settings, rate, 2, 0, 10, "1/s", ""),
    LOOM_PARAM_REAL(settings, stiffness, 2, 0, 10, "1/s^2", ""),
    LOOM_PARAM_ENUM(settings, mode, 1, "a|b|c", ""),
};
typedef struct choice {
  const char *plugin;
} choice;
static const loom_param plugin_key[] = {
    LOOM_PARAM_TEXT(choice, plugin, NULL, "", LOOM_P_NO_DEFAULT)};

static char notes[2048];

static void keep_note(void *user, const char *text)
{
  (void)user;
  strcat(strcat(notes, text), "\n");
}

static loom_status find_param_table(void *user, loom_err *why, const char *name,
                                    const loom_param **params, uint32_t *num_params)
{
  const int is_first = strcmp(name, "first") == 0;
  (void)user;
  if (!is_first && strcmp(name, "second") != 0)
    return err_set(why, LOOM_E_CONFIG, "there is no plugin '%s'", name);
  *params = is_first ? first : second;
  *num_params = is_first ? LOOM_COUNT(first) : LOOM_COUNT(second);
  return LOOM_OK;
}

static void write_swap_file(const char *path, const char *text)
{
  FILE *const f = fopen(path, "w");
  cr_assert(f != NULL);
  cr_assert(fputs(text, f) >= 0);
  fclose(f);
}

static void create_swap_folder(void)
{
  char dir[] = "/tmp/loom-config-XXXXXX";
  cr_assert(mkdtemp(dir) != NULL && chdir(dir) == 0);
  notes[0] = '\0';
}

static void remove_swap_folder(void)
{
  char here[256], command[300];
  cr_assert(getcwd(here, sizeof here) != NULL && strncmp(here, "/tmp/loom-config-", 17) == 0);
  snprintf(command, sizeof command, "rm -rf '%s'", here);
  cr_assert(chdir("/") == 0 && system(command) == 0);
}

TestSuite(config_swap, .init = create_swap_folder, .fini = remove_swap_folder);

/* The scheduler's treatment of [m]: LOOM_OK and the settings, or the message. Texts of the settings
   belong to the config: `cache` is copied, so that it outlives it. */
static loom_status bind_swapped_method(const char *path, const char *const *sets, settings *out,
                                       loom_err *err, cfg **kept)
{
  static const cfg_owners owners = {find_param_table, keep_note, NULL};
  cfg *c = NULL;
  const char *name = "";
  const loom_param *params = NULL;
  uint32_t num = 0;
  int n = 0;
  *out = (settings){0};
  while (sets != NULL && sets[n] != NULL) ++n;
  loom_status s = cfg_load(err, path, sets, n, &c);
  if (s != LOOM_OK) return s;
  const cfg_section *const m = cfg_find(c, "m");
  s = cfg_bind(err, m, plugin_key, 1, &name);
  if (s == LOOM_OK) s = find_param_table(NULL, err, name, &params, &num);
  if (s == LOOM_OK) s = cfg_swap(err, m, "plugin", &owners);
  if (s == LOOM_OK) s = cfg_bind(err, m, params, num, out);
  if (s == LOOM_OK) s = cfg_finish(err, c);
  if (s == LOOM_OK && out->cache != NULL) {
    static char cache[64];
    snprintf(cache, sizeof cache, "%s", out->cache);
    out->cache = cache;
  }
  if (kept != NULL && s == LOOM_OK)
    *kept = c;
  else
    cfg_free(c);
  return s;
}

static void expect_swap_accepted(const char *path, const char *const *sets, settings *out)
{
  loom_err err = {0};
  notes[0] = '\0';
  cr_assert_eq(bind_swapped_method(path, sets, out, &err, NULL), LOOM_OK, "%s", err.text);
}

static void expect_refusal_of_swap(const char *path, const char *const *sets, const char *says)
{
  loom_err err = {0};
  settings s;
  cr_assert_eq(bind_swapped_method(path, sets, &s, &err, NULL), LOOM_E_CONFIG);
  cr_assert(strstr(err.text, says) != NULL, "got: %s", err.text);
}

#define SETS(...) ((const char *const[]){__VA_ARGS__, NULL})

Test(config_swap, keys_of_the_replaced_plugin_are_dropped_with_a_note)
{
  settings s;
  cfg *c = NULL;
  loom_err err = {0};
  write_swap_file("a.ini", "[m]\nmass = 3\nplugin = first\nrate = 4\nstiffness = 5\nmode = b\n");
  expect_swap_accepted("a.ini", SETS("m.plugin=second"), &s);
  cr_assert_str_eq(notes,
                   "a.ini:2: [m] mass belongs to first; not used by second\n"
                   "a.ini:5: [m] stiffness was written for first and means something else in "
                   "second; its default holds\n"
                   "a.ini:6: [m] mode was written for first and means something else in second; "
                   "its default holds\n");
  cr_assert(s.rate == 4 && s.stiffness == 2 && s.mode == 1);
  /* the same plugin again, or none from outside: no key is dropped */
  expect_swap_accepted("a.ini", SETS("m.plugin=first"), &s);
  cr_assert(notes[0] == '\0' && s.mass == 3 && s.stiffness == 5);
  /* the resolved config holds no key of the former one */
  cr_assert_eq(bind_swapped_method("a.ini", SETS("m.plugin=second"), &s, &err, &c), LOOM_OK, "%s",
               err.text);
  cr_assert_str_eq(cfg_resolved(c), "[m]\nplugin = second\nrate = 4\nstiffness = 2\nmode = b\n");
  cfg_free(c);
}

Test(config_swap, an_including_file_and_a_later_include_replace)
{
  settings s;
  write_swap_file("a.ini", "[m]\nplugin = first\nmass = 3\nrate = 4\n");
  write_swap_file("b.ini", "include = a.ini\n[m]\nstiffness = 6\nplugin = second\n");
  expect_swap_accepted("b.ini", NULL, &s);
  cr_assert_str_eq(notes, "a.ini:3: [m] mass belongs to first; not used by second\n");
  cr_assert(s.rate == 4 && s.stiffness == 6); /* of its own file: meant for the new one */
  write_swap_file("c.ini", "[m]\nplugin = second\n");
  write_swap_file("d.ini", "include = a.ini\ninclude = c.ini\n");
  expect_swap_accepted("d.ini", NULL, &s);
  cr_assert_str_eq(notes, "a.ini:3: [m] mass belongs to first; not used by second\n");
  /* a file that adds keys to an included method shares its fate */
  write_swap_file("e.ini", "include = a.ini\n[m]\nmass = 7\n");
  expect_swap_accepted("e.ini", NULL, &s);
  cr_assert(s.mass == 7 && notes[0] == '\0');
  expect_swap_accepted("e.ini", SETS("m.plugin=second"), &s);
  cr_assert_str_eq(notes, "e.ini:3: [m] mass belongs to first; not used by second\n");
  /* and so does one that stands before the plugin it was written for */
  write_swap_file("f.ini", "[m]\nmass = 8\n");
  write_swap_file("g.ini", "include = f.ini\ninclude = a.ini\ninclude = c.ini\n");
  expect_swap_accepted("g.ini", NULL, &s);
  cr_assert_str_eq(notes, "a.ini:3: [m] mass belongs to first; not used by second\n");
}

Test(config_swap, what_is_given_from_outside_stays_strict)
{
  write_swap_file("a.ini", "[m]\nplugin = first\nmass = 3\n");
  expect_refusal_of_swap("a.ini", SETS("m.plugin=second", "m.mass=3"),
                         "--set: [m] mass: unknown key");
  write_swap_file("b.ini", "include = a.ini\n[m]\nplugin = second\nmass = 3\n");
  expect_refusal_of_swap("b.ini", NULL, "b.ini:4: [m] mass: unknown key");
}

Test(config_swap, misspelt_keys_stay_errors)
{
  write_swap_file("a.ini", "[m]\nplugin = first\nmas = 3\n");
  expect_refusal_of_swap("a.ini", NULL, "a.ini:3: [m] mas: unknown key; did you mean 'mass'?");
  expect_refusal_of_swap("a.ini", SETS("m.plugin=second"), "a.ini:3: [m] mas: unknown key");
  expect_refusal_of_swap("a.ini", SETS("m.plugin=third"), "there is no plugin 'third'");
}

Test(config_swap, a_former_plugin_that_cannot_be_asked)
{
  settings s;
  write_swap_file("a.ini", "[m]\nplugin = gone\nmass = 3\nrate = 4\n");
  expect_refusal_of_swap(
      "a.ini", SETS("m.plugin=second"),
      "a.ini:3: [m] mass: second has no such key; it may belong to gone, which the file names "
      "and which cannot be asked (there is no plugin 'gone'); unset it with --set m.mass=");
  expect_swap_accepted("a.ini", SETS("m.plugin=second", "m.mass="), &s);
  cr_assert(s.rate == 4);
}

Test(config_swap, an_empty_value_unsets)
{
  settings s;
  write_swap_file("a.ini", "[m]\nplugin = first\nmass = 3\nrate = 4\ncache = here\n");
  expect_swap_accepted("a.ini", SETS("m.mass=", "m.stiffness="), &s);
  cr_assert(s.mass == 1 && s.rate == 4 && s.stiffness == 1);
  cr_assert_str_eq(s.cache, "here");
  expect_swap_accepted("a.ini", SETS("m.cache="), &s); /* an empty text is a text */
  cr_assert_str_eq(s.cache, "");
  expect_swap_accepted("a.ini", SETS("m.plugin=second", "m.mass="), &s);
  cr_assert_str_eq(notes, "a.ini:5: [m] cache belongs to first; not used by second\n");
  write_swap_file("b.ini", "include = a.ini\n[m]\nrate =\n");
  expect_swap_accepted("b.ini", NULL, &s);
  cr_assert_eq(s.rate, 1);
  /* an unknown key cannot be unset, and a value cannot be forgotten */
  expect_refusal_of_swap("a.ini", SETS("m.mas="),
                         "--set: [m] mas: unknown key; did you mean 'mass'?");
  write_swap_file("c.ini", "[m]\nplugin = first\nmass =\n");
  expect_refusal_of_swap("c.ini", NULL, "c.ini:3: [m] mass");
}

Test(config_swap, a_material_fills_what_was_unset)
{
  loom_err err = {0};
  cfg *c = NULL;
  write_swap_file("a.ini", "[m]\nmaterial = felt\nmass = 3\n");
  cr_assert_eq(system("mkdir materials"), 0);
  write_swap_file("materials/felt.ini", "[material]\nmass = 5\nrate = 6\n");
  for (int unset = 0; unset < 2; ++unset) {
    settings s;
    cr_assert_eq(cfg_load(&err, "a.ini", SETS("m.mass="), unset, &c), LOOM_OK, "%s", err.text);
    cr_assert_eq(cfg_apply_material(&err, c, cfg_find(c, "m"), NULL), LOOM_OK, "%s", err.text);
    cr_assert_eq(cfg_bind(&err, cfg_find(c, "m"), first, LOOM_COUNT(first), &s), LOOM_OK);
    cr_assert(s.mass == (unset ? 5 : 3) && s.rate == 6);
    cfg_free(c);
  }
}
