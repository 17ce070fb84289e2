/* app/cmd_list.c and cmd_describe.c: output of the two commands. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/commands.h"

static char good[1024], bad[1024];

static void set_plugin_folders(void)
{
  const char *const root = getenv("LOOM_TEST_PLUGINS");
  cr_assert(root != NULL);
  snprintf(good, sizeof good, "--plugin-path=%s/good", root);
  snprintf(bad, sizeof bad, "--plugin-path=%s/bad", root);
  unsetenv("LOOM_PLUGIN_PATH");
}

TestSuite(list_describe, .init = set_plugin_folders);

/* Run a command with its output in files; both texts come back. */
static int capture_command(int (*command)(int, char **), const char *a, const char *b,
                           const char *c, char *out, char *errors, size_t len)
{
  char *argv[] = {(char *)"command", (char *)a, (char *)b, (char *)c, NULL};
  int argc = 1;
  while (argc < 4 && argv[argc] != NULL) ++argc;
  FILE *const o = tmpfile(), *const e = tmpfile();
  cr_assert(o != NULL && e != NULL);
  fflush(stdout);
  fflush(stderr);
  const int old_out = dup(1), old_err = dup(2);
  cr_assert(dup2(fileno(o), 1) == 1 && dup2(fileno(e), 2) == 2);
  const int code = command(argc, argv);
  fflush(stdout);
  fflush(stderr);
  cr_assert(dup2(old_out, 1) == 1 && dup2(old_err, 2) == 2);
  close(old_out);
  close(old_err);
  rewind(o);
  rewind(e);
  out[fread(out, 1, len - 1, o)] = '\0';
  errors[fread(errors, 1, len - 1, e)] = '\0';
  fclose(o);
  fclose(e);
  return code;
}

enum { LEN = 1 << 17 };
static char out[LEN], errors[LEN];

#define SAYS(text, piece) cr_assert(strstr(text, piece) != NULL, "missing: %s\nin: %s", piece, text)

Test(list_describe, list)
{
  cr_assert_eq(capture_command(cmd_list, good, NULL, NULL, out, errors, LEN), EXIT_FINE);
  SAYS(out, "solver plugins:\n");
  SAYS(out, "  fx_good          1.2.3    cpu       MIT\n      does nothing\n      paper: none\n");
  SAYS(out, "/good/fx_good.so\n");
  SAYS(out, "contact plugins:\n  fx_pair");
  cr_assert_str_empty(errors);
  cr_assert_eq(capture_command(cmd_list, "contact", good, NULL, out, errors, LEN), EXIT_FINE);
  SAYS(out, "fx_pair");
  cr_assert(strstr(out, "fx_good ") == NULL && strstr(out, "solver plugins") == NULL);
}

Test(list_describe, list_tells_what_was_skipped)
{
  cr_assert_eq(capture_command(cmd_list, bad, NULL, NULL, out, errors, LEN), EXIT_FINE);
  SAYS(out, "skipped:\n");
  SAYS(out, "/bad/fx_major.so: built for plugin ABI 99.");
  SAYS(out, "/bad/fx_foreign.so: not a plugin");
}

Test(list_describe, list_elements)
{
  cr_assert_eq(capture_command(cmd_list, "elements", NULL, NULL, out, errors, LEN), EXIT_FINE);
  SAYS(out, "  tri_arap         3 vertices; energy, gradient, Hessian, projection\n");
  cr_assert_eq(capture_command(cmd_list, "elements", "--json", NULL, out, errors, LEN), EXIT_FINE);
  SAYS(out, "\"name\": \"tri_arap\", \"arity\": 3, \"caps\": [\"energy\", \"gradient\", ");
}

Test(list_describe, usage)
{
  cr_assert_eq(capture_command(cmd_list, "solvr", NULL, NULL, out, errors, LEN), EXIT_USAGE);
  SAYS(errors, "loom: there is no kind 'solvr', nearest is 'solver'; allowed: solver, collision");
  cr_assert_eq(capture_command(cmd_list, "solver", "contact", NULL, out, errors, LEN), EXIT_USAGE);
  SAYS(errors, "loom: one name expected, found also 'contact'\nusage: loom list");
  cr_assert_eq(capture_command(cmd_list, "--nonsense", NULL, NULL, out, errors, LEN), EXIT_USAGE);
  cr_assert_eq(capture_command(cmd_list, "--plugin-path=/nowhere/x", NULL, NULL, out, errors, LEN),
               EXIT_USAGE);
  SAYS(errors, "loom: --plugin-path: there is no directory '/nowhere/x'");
  cr_assert_eq(capture_command(cmd_list, "--help", NULL, NULL, out, errors, LEN), EXIT_FINE);
  SAYS(out, "usage: loom list");
  cr_assert_eq(capture_command(cmd_describe, NULL, NULL, NULL, out, errors, LEN), EXIT_USAGE);
  SAYS(errors, "usage: loom describe NAME");
}

Test(list_describe, describe_plugin)
{
  cr_assert_eq(capture_command(cmd_describe, "fx_good", good, NULL, out, errors, LEN), EXIT_FINE);
  SAYS(out, "fx_good - solver plugin 1.2.3\n  does nothing\n");
  SAYS(out, "  needs      element gradient\n");
  SAYS(out, "parameters in [solver]:\n");
  SAYS(out, "  rate  0.5      >= 0 and <= 1  1\n      Share of the step to take.\n");
  SAYS(out, "log columns in /iters_extra:\n  rate_used");
  SAYS(out, "/good/fx_good.so\n");
  cr_assert_eq(capture_command(cmd_describe, "fx_pair", good, NULL, out, errors, LEN), EXIT_FINE);
  SAYS(out, "fx_pair - collision plugin 0.1.0\n");
  SAYS(out, "\n\nfx_pair - contact plugin 0.1.0\n");
  SAYS(out, "parameters in [contact.NAME]:\n  (none)\n");
}

Test(list_describe, describe_sections)
{
  cr_assert_eq(capture_command(cmd_describe, "run", NULL, NULL, out, errors, LEN), EXIT_FINE);
  SAYS(out, "[run] - section of a configuration\n");
  SAYS(out, "  dt ");
  SAYS(out, "  gravity ");
  static const char *const names[] = {"exec", "stop", "detect", "filter", "log", "cloth", "body"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
    cr_assert_eq(capture_command(cmd_describe, names[i], NULL, NULL, out, errors, LEN), EXIT_FINE,
                 "%s", names[i]);
    SAYS(out, "default");
  }
  cr_assert_eq(capture_command(cmd_describe, "contact", NULL, NULL, out, errors, LEN), EXIT_FINE);
  SAYS(out, "loom list contact");
  SAYS(out, "  plugin  required ");
  SAYS(out, "  pairs      all      self|obstacle|all  1\n");
  SAYS(out, "  collision ");
  cr_assert_eq(capture_command(cmd_describe, "collision", NULL, NULL, out, errors, LEN), EXIT_FINE);
  SAYS(out, "  plugin  required ");
  /* a bar in a line of values reads as "or": values that follow each other are written apart */
  cr_assert_eq(capture_command(cmd_describe, "cloth", NULL, NULL, out, errors, LEN), EXIT_FINE);
  SAYS(out, "with spaces between");
  cr_assert(strstr(out, "scale S |") == NULL);
}

Test(list_describe, describe_unknown)
{
  cr_assert_eq(capture_command(cmd_describe, "fx_goud", good, NULL, out, errors, LEN), EXIT_USAGE);
  SAYS(errors, "loom: there is no plugin or section 'fx_goud', nearest is 'fx_good'");
  cr_assert_eq(capture_command(cmd_describe, "fx_major", bad, NULL, out, errors, LEN), EXIT_USAGE);
  SAYS(errors, "fx_major.so was refused: built for plugin ABI 99.");
  cr_assert_eq(capture_command(cmd_describe, "clth", NULL, NULL, out, errors, LEN), EXIT_USAGE);
  SAYS(errors, "nearest is 'cloth'");
}

/* A reader of JSON that only checks the grammar; NULL if it is broken. */
static const char *json_value(const char *s);
static const char *skip_json_blank(const char *s) { return s + strspn(s, " \n"); }

static const char *json_string(const char *s)
{
  if (*s++ != '"') return NULL;
  for (; *s != '"'; ++s) {
    if ((unsigned char)*s < 0x20) return NULL;
    if (*s == '\\') ++s;
  }
  return s + 1;
}

static const char *json_group(const char *s, char end, int keys)
{
  s = skip_json_blank(s + 1);
  if (*s == end) return s + 1;
  for (;;) {
    if (keys) {
      s = json_string(skip_json_blank(s));
      if (s == NULL || *s != ':') return NULL;
      ++s;
    }
    s = json_value(skip_json_blank(s));
    if (s == NULL) return NULL;
    s = skip_json_blank(s);
    if (*s == end) return s + 1;
    if (*s++ != ',') return NULL;
  }
}

static const char *json_value(const char *s)
{
  if (*s == '"') return json_string(s);
  if (*s == '{') return json_group(s, '}', 1);
  if (*s == '[') return json_group(s, ']', 0);
  if (strncmp(s, "null", 4) == 0) return s + 4;
  const size_t n = strspn(s, "+-.0123456789e");
  return n > 0 ? s + n : NULL;
}

static void check_json(const char *text)
{
  const char *const end = json_value(text);
  cr_assert(end != NULL && strcmp(end, "\n") == 0, "%s", text);
}

Test(list_describe, json)
{
  cr_assert_eq(capture_command(cmd_list, good, "--json", NULL, out, errors, LEN), EXIT_FINE);
  check_json(out);
  SAYS(out, "{\"kind\": \"solver\", \"name\": \"fx_good\", \"version\": \"1.2.3\", \"backends\": "
            "[\"cpu\"], \"license\": \"MIT\"");
  cr_assert_eq(capture_command(cmd_list, bad, "--json", NULL, out, errors, LEN), EXIT_FINE);
  check_json(out);
  SAYS(out, "\"skipped\": [\n  {\"path\": ");
  cr_assert_eq(capture_command(cmd_list, "elements", "--json", NULL, out, errors, LEN), EXIT_FINE);
  check_json(out);
  cr_assert_eq(capture_command(cmd_describe, "fx_good", good, "--json", out, errors, LEN),
               EXIT_FINE);
  check_json(out);
  SAYS(out,
       "{\"key\": \"rate\", \"type\": \"real\", \"default\": \"0.5\", \"min\": 0, \"max\": 1,");
  SAYS(out, "\"needs\": [\"element gradient\"]");
  cr_assert_eq(capture_command(cmd_describe, "fx_pair", good, "--json", out, errors, LEN),
               EXIT_FINE);
  check_json(out);
  cr_assert_eq(capture_command(cmd_describe, "run", "--json", NULL, out, errors, LEN), EXIT_FINE);
  check_json(out);
}

Test(list_describe, failures_are_printed_line_by_line)
{
  loom_err err = {0};
  err_set(&err, LOOM_E_CONFIG, "a");
  err_append(&err, "b");
  FILE *const e = tmpfile();
  fflush(stderr);
  const int old = dup(2);
  cr_assert(e != NULL && dup2(fileno(e), 2) == 2);
  const int code = cmd_fail(&err);
  fflush(stderr);
  cr_assert(dup2(old, 2) == 2);
  rewind(e);
  errors[fread(errors, 1, LEN - 1, e)] = '\0';
  cr_assert_str_eq(errors, "loom: a\nloom: b\n");
  cr_assert_eq(code, EXIT_USAGE);
  err.code = LOOM_E_IO;
  cr_assert(dup2(fileno(e), 2) == 2);
  cr_assert_eq(cmd_fail(&err), EXIT_RUNTIME);
  cr_assert(dup2(old, 2) == 2);
  fclose(e);
}
