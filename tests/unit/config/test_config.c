/* framework/config: files, includes, overrides, binding; every error names its place. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/config.h"
#include "loom/plugin.h"

typedef struct sample {
  double dt, density, angle, share, gravity[3], moduli[4];
  int64_t steps, budget;
  int32_t fast, mode;
  const char *title, *file;
} sample;

static const loom_param params[] = {
    LOOM_PARAM_REAL(sample, dt, 0.01, 0, 10, "s", "Time step.", LOOM_P_OPEN_MIN),
    LOOM_PARAM_REAL(sample, density, 0.2, 0, INFINITY, "kg/m^2", "Area density."),
    LOOM_PARAM_REAL(sample, angle, 0, -7, 7, "rad", "Angle."),
    LOOM_PARAM_REAL(sample, share, 0.5, 0, 1, "1", "Share."),
    LOOM_PARAM_VEC3(sample, gravity, "0 0 -9.81", -1e3, 1e3, "m/s^2", "Gravity."),
    LOOM_PARAM_VEC4(sample, moduli, "1 2 3 4", -1e3, 1e3, "N/m", "Moduli."),
    LOOM_PARAM_INT(sample, steps, 10, 0, 1e15, "1", "Steps."),
    LOOM_PARAM_INT(sample, budget, 0, 0, 1e9, "ms", "Budget."),
    LOOM_PARAM_BOOL(sample, fast, 1, "Fast."),
    LOOM_PARAM_ENUM(sample, mode, 1, "inertial|velocity|last", "Mode."),
    LOOM_PARAM_TEXT(sample, title, "a ; b", "Title."),
    LOOM_PARAM_PATH(sample, file, "", "File."),
};

static cfg *parse_config_text(const char *text)
{
  loom_err err = {0};
  cfg *c = NULL;
  cr_assert_eq(cfg_parse(&err, text, "t.ini", "dir", NULL, 0, &c), LOOM_OK, "%s", err.text);
  return c;
}

static sample bind_sample(cfg *c, const char *section)
{
  loom_err err = {0};
  sample s;
  memset(&s, 0xff, sizeof s);
  cr_assert_eq(cfg_bind(&err, cfg_need(c, section), params, LOOM_COUNT(params), &s), LOOM_OK, "%s",
               err.text);
  return s;
}

Test(config, values_of_every_type)
{
  cfg *const c = parse_config_text("; comment\n"
                                   "[run] # another\n"
                                   "dt = 5 ms ; five\n"
                                   "density=200 g/m^2\n"
                                   "angle = 180 deg\n"
                                   "share = 25 %\n"
                                   "gravity = 0, -981 0 cm/s^2\n"
                                   "moduli = 16.5 -14.7 0.034 36 N/m\n"
                                   "steps = 1e3\n"
                                   "budget = 2 s\n"
                                   "fast = off\n"
                                   "mode = last\n"
                                   "title = ' a;b # c '\n"
                                   "file = mesh/a.obj\n");
  const sample s = bind_sample(c, "run");
  /* powers of ten go into the decimal exponent: no rounding of its own, so equality */
  cr_assert_eq(s.dt, 0.005);
  cr_assert_eq(s.density, 0.2);
  cr_assert_float_eq(s.angle, 3.14159265358979324, 5e-16); /* one rounding of pi */
  cr_assert_eq(s.share, 0.25);
  cr_assert_eq(s.gravity[1], -9.81);
  cr_assert(s.moduli[0] == 16.5 && s.moduli[1] == -14.7 && s.moduli[2] == 0.034 &&
            s.moduli[3] == 36);
  cr_assert_eq(s.steps, 1000);
  cr_assert_eq(s.budget, 2000);
  cr_assert_eq(s.fast, 0);
  cr_assert_eq(s.mode, 2);
  cr_assert_str_eq(s.title, " a;b # c ");
  cr_assert_str_eq(s.file, "dir/mesh/a.obj");
  loom_err err = {0};
  cr_assert_eq(cfg_finish(&err, c), LOOM_OK, "%s", err.text);
  cfg_free(c);
}

Test(config, defaults_fill_what_is_absent)
{
  cfg *const c = parse_config_text("[run]\nfile = /abs/x\n");
  const sample s = bind_sample(c, "run"), t = bind_sample(c, "other");
  cr_assert_eq(s.dt, 0.01);
  cr_assert_eq(s.gravity[2], -9.81);
  cr_assert_eq(s.mode, 1);
  cr_assert_str_eq(s.title, "a ; b");
  cr_assert_str_eq(s.file, "/abs/x");
  cr_assert_str_eq(t.file, "");
  sample d;
  cfg_defaults(params, LOOM_COUNT(params), &d);
  cr_assert_eq(d.dt, 0.01);
  cr_assert(d.moduli[0] == 1 && d.moduli[3] == 4);
  cr_assert_eq(d.steps, 10);
  cr_assert_eq(d.fast, 1);
  cr_assert_eq(d.gravity[2], -9.81);
  cr_assert_str_eq(d.file, "");
  cfg_free(c);
}

/* ---- units ---- */

Test(config, units)
{
  static const struct {
    const char *text, *unit;
    double value;
  } rows[] = {
      {"5 mm", "m", 0.005},
      {"5mm", "m", 0.005},
      {"7", "m", 7},
      {"0.2 kg/m^2", "kg/m^2", 0.2},
      {"150 g/m\xc2\xb2", "kg/m^2", 0.15},
      {"10 ms", "s", 0.01},
      {"2 min", "s", 120},
      {"5 N/m", "N/m", 5},
      {"5 N/m", "kg/s^2", 5},
      {"3 mN m", "N m", 0.003},
      {"3 J", "N m", 3},
      {"1e-5 N*m", "N m", 1e-5},
      {"2 kPa", "N/m^2", 2000},
      {"9.81 m/s^2", "m/s^2", 9.81},
      {"1 / s", "1/s", 1},
      {"20 Hz", "1/s", 20},
      {"12 iterations", "iterations", 12},
      {"3 \xc2\xb5m", "m", 3e-6},
      {"-.5e1 cm", "m", -0.05},
      {"4 t", "kg", 4000},
      {"1.5 s", "ms", 1500},
  };
  for (size_t i = 0; i < LOOM_COUNT(rows); ++i) {
    loom_err err = {0};
    double v = NAN;
    cr_assert_eq(cfg_parse_real(&err, rows[i].text, rows[i].unit, &v), LOOM_OK, "%s", err.text);
    cr_assert_eq(v, rows[i].value, "%s: %.17g is not %.17g", rows[i].text, v, rows[i].value);
  }
}

Test(config, refused_numbers)
{
  static const struct {
    const char *text, *unit, *says;
  } rows[] = {
      {"nan", "m", "not a finite decimal number"},
      {"inf", "1", "not a finite decimal number"},
      {"-infinity", "1", "not a finite decimal number"},
      {"1e999", "1", "too large"},
      {"", "m", "the value is missing"},
      {"5 kg", "m", "'kg' does not fit; expected unit: m"},
      {"5 m", "1", "'m' does not fit; expected unit: 1"},
      {"5 N m", "N/m", "'N m' does not fit; expected unit: N/m"},
      {"5 foo", "m", "expected unit: m"},
      {"0x10", "1", "expected unit: 1"},
      {"1 2", "1", "expected unit: 1"},
      {"1,5", "m", "expected unit: m"},
      {"5 m/", "m", "expected unit: m"},
      {"5 m^", "m", "expected unit: m"},
      {".", "m", "not a finite decimal number"},
      {"--1", "m", "not a finite decimal number"},
      {"1 deg", "1", "expected unit: 1"},
  };
  for (size_t i = 0; i < LOOM_COUNT(rows); ++i) {
    loom_err err = {0};
    double v = 0;
    cr_assert_eq(cfg_parse_real(&err, rows[i].text, rows[i].unit, &v), LOOM_E_CONFIG, "%s",
                 rows[i].text);
    cr_assert(strstr(err.text, rows[i].says) != NULL, "%s: %s", rows[i].text, err.text);
  }
}

/* ---- errors of the text ---- */

Test(config, malformed_texts)
{
  static const struct {
    const char *text, *says;
  } rows[] = {
      {"[run]\nsteps\n", "t.ini:2: 'steps' is neither [section] nor key = value"},
      {"[run\n", "t.ini:1: the section header lacks its ']'"},
      {"[run] x\n", "t.ini:1: text after the section header"},
      {"[]\n", "t.ini:1: '' is no section name"},
      {"[Run]\n", "t.ini:1: 'Run' is no section name"},
      {"[a..b]\n", "t.ini:1: 'a..b' is no section name"},
      {"[a.]\n", "t.ini:1: 'a.' is no section name"},
      {"[a]\n\n[b]\n[a]\n", "t.ini:4: [a] is opened a second time (first in line 1)"},
      {"[a]\nx = 1\ny = 2\nx = 3\n", "t.ini:4: [a] x: given a second time (first in line 2)"},
      {"[a]\nX = 1\n", "t.ini:2: [a] 'X' is no key"},
      {"[a]\n= 1\n", "t.ini:2: [a] '' is no key"},
      {"[a]\nx:y = 1\n", "t.ini:2: [a] 'x:y' is no key"},
      {"x = 1\n", "t.ini:1: x stands in no section"},
      {"[a]\ninclude = b\n", "t.ini:2: [a] include: 'include = FILE' belongs above"},
      {"include =\n", "t.ini:1: include: the path is missing"},
      {"include = none.ini\n", "dir/none.ini: cannot read the file: No such file or directory\n"
                               "included at t.ini:1, where LOOM_CONFIG_PATH adds folders"},
      {"[a]\nx = \"open\n", "t.ini:2: [a] x: the quote \" is not closed"},
      {"[a]\nx = 'a' b\n", "t.ini:2: [a] x: text after the closing quote"},
      {"[a]\nx = a\\\n", "t.ini:2: the line ends in a backslash"},
      {"; a\\\n", "t.ini:1: the line ends in a backslash"},
      {"[a]\nx = a\\ ; b\n", "t.ini:2: [a] x: the value ends in a backslash; leave it out"},
      {"[a]\nx = \\#\n", "t.ini:2: [a] x: the value ends in a backslash; leave it out"},
      {"[a]\nx = \"a\\b\"\n", "t.ini:2: [a] x: a backslash in quotes"},
      {"[a]\nx = 'a\\' ; b\n", "t.ini:2: [a] x: a backslash in quotes"},
      {"[a]\nx = \"a\\\"b\"\n", "t.ini:2: [a] x: a backslash in quotes"},
      {"[a]\nx = \x01\n", "t.ini:2: byte 0x01 in column 5"},
      {"[a]\nx = \x7f\n", "t.ini:2: byte 0x7f in column 5"},
      {"[a]\nx = \xff\n", "t.ini:2: the line is not valid UTF-8"},
      {"[a]\nx = \xc0\xaf\n", "t.ini:2: the line is not valid UTF-8"},
      {"[a]\nx = \xed\xa0\x80\n", "t.ini:2: the line is not valid UTF-8"},
      {"[a]\nx = \xe2\x82\n", "t.ini:2: the line is not valid UTF-8"},
  };
  for (size_t i = 0; i < LOOM_COUNT(rows); ++i) {
    loom_err err = {0};
    cfg *c = NULL;
    cr_assert_eq(cfg_parse(&err, rows[i].text, "t.ini", "dir", NULL, 0, &c), LOOM_E_CONFIG, "%s",
                 rows[i].text);
    cr_assert(c == NULL);
    cr_assert(strncmp(err.text, rows[i].says, strlen(rows[i].says)) == 0, "got: %s", err.text);
  }
}

static void refuse_text(char *text, const char *says)
{
  loom_err err = {0};
  cfg *c = NULL;
  cr_assert_eq(cfg_parse(&err, text, "t.ini", "", NULL, 0, &c), LOOM_E_CONFIG);
  cr_assert(strstr(err.text, says) != NULL, "got: %s", err.text);
  free(text);
}

static char *repeat_text_piece(const char *head, const char *piece, int times, const char *tail)
{
  const size_t n = strlen(piece);
  char *const s = calloc(1, strlen(head) + n * (size_t)times + strlen(tail) + 1);
  cr_assert(s != NULL);
  strcpy(s, head);
  for (int i = 0; i < times; ++i) memcpy(s + strlen(head) + n * (size_t)i, piece, n);
  strcat(s, tail);
  return s;
}

Test(config, limits)
{
  refuse_text(repeat_text_piece("[a]\nx = ", "y", 1000, "\n"), "t.ini:2: the line has 1004 bytes");
  refuse_text(repeat_text_piece("[a]\nx = ", "y", 950, "\n"),
              "t.ini:2: [a] x: the value has 950 bytes");
  refuse_text(repeat_text_piece("", "\n", 10001, ""), "t.ini: more than 10000 lines");
  refuse_text(repeat_text_piece("", "; comment\n", 120000, ""),
              "t.ini: the text has 1200000 bytes");
  refuse_text(repeat_text_piece("[", "a", 64, "]\n"), "is no section name");
}

/* ---- errors of the values ---- */

Test(config, refused_values_name_place_and_remedy)
{
  static const struct {
    const char *line, *says;
  } rows[] = {
      {"dt = 0", "t.ini:2: [run] dt: 0 is out of range; allowed: > 0 and <= 10 s"},
      {"dt = 11 s", "t.ini:2: [run] dt: 11 s is out of range; allowed: > 0 and <= 10 s"},
      {"dt = 5 kg", "t.ini:2: [run] dt: the unit 'kg' does not fit; expected unit: s"},
      {"dt = nan", "t.ini:2: [run] dt: 'nan' is not a finite decimal number"},
      {"dt =", "t.ini:2: [run] dt: the value is missing"},
      {"density = -1", "t.ini:2: [run] density: -1 is out of range; allowed: >= 0 kg/m^2"},
      {"steps = 1.5", "t.ini:2: [run] steps: '1.5' is not an integer"},
      {"steps = 1e16", "t.ini:2: [run] steps: '1e16' is not an integer"},
      {"steps = -1", "t.ini:2: [run] steps: -1 is out of range; allowed: >= 0 and <= 1e+15"},
      {"fast = maybe", "t.ini:2: [run] fast: 'maybe' is no switch; allowed: yes, no"},
      {"mode = velocty", "t.ini:2: [run] mode: 'velocty' is no choice; did you mean 'velocity'?"},
      {"mode = xxxxxx", "t.ini:2: [run] mode: 'xxxxxx' is no choice; allowed: inertial|velocity"},
      {"gravity = 1 2", "t.ini:2: [run] gravity: '1 2' is not a vector"},
      {"gravity = 0 0 2000", "t.ini:2: [run] gravity: 0 0 2000 is out of range"},
      {"gravity = 0 0 1 m", "t.ini:2: [run] gravity: the unit 'm' does not fit; expected unit: "
                            "m/s^2"},
  };
  for (size_t i = 0; i < LOOM_COUNT(rows); ++i) {
    char text[256];
    snprintf(text, sizeof text, "[run]\n%s\n", rows[i].line);
    cfg *const c = parse_config_text(text);
    loom_err err = {0};
    sample s;
    cr_assert_eq(cfg_bind(&err, cfg_find(c, "run"), params, LOOM_COUNT(params), &s), LOOM_E_CONFIG,
                 "%s", rows[i].line);
    cr_assert(strncmp(err.text, rows[i].says, strlen(rows[i].says)) == 0, "got: %s", err.text);
    cfg_free(c);
  }
}

Test(config, all_problems_of_a_section_at_once)
{
  cfg *const c = parse_config_text("[run]\ndt = 0\nsteps = x\nfast = 2\n");
  loom_err err = {0};
  sample s;
  cr_assert_eq(cfg_bind(&err, cfg_find(c, "run"), params, LOOM_COUNT(params), &s), LOOM_E_CONFIG);
  cr_assert(strstr(err.text, "t.ini:2: [run] dt") != NULL);
  cr_assert(strstr(err.text, "\nt.ini:3: [run] steps") != NULL);
  cr_assert(strstr(err.text, "\nt.ini:4: [run] fast") != NULL);
  cfg_free(c);
}

typedef struct body {
  double mass; /* kg */
} body;

Test(config, a_key_without_default_must_be_there)
{
  static const loom_param must[] = {
      LOOM_PARAM_REAL(body, mass, 0, 0, 1, "kg", "", LOOM_P_NO_DEFAULT)};
  cfg *const c = parse_config_text("\n[a]\n");
  loom_err err = {0};
  double v = 0;
  cr_assert_eq(cfg_bind(&err, cfg_find(c, "a"), must, 1, &v), LOOM_E_CONFIG);
  cr_assert_str_eq(err.text, "t.ini:2: [a] mass: the key is missing and has no default; unit: kg");
  cr_assert_eq(cfg_bind(&err, cfg_need(c, "b"), must, 1, &v), LOOM_E_CONFIG);
  cr_assert_str_eq(err.text, "t.ini: [b] mass: the key is missing and has no default; unit: kg");
  cfg_free(c);
}

Test(config, a_wrong_table_is_a_defect)
{
  static const loom_param wrong[] = {{.key = "x", .type = 99, .unit = "1", .doc = ""}};
  cfg *const c = parse_config_text("[a]\nx = 1\n");
  loom_err err = {0};
  double v = 0;
  cr_assert_eq(cfg_bind(&err, cfg_find(c, "a"), wrong, 1, &v), LOOM_E_INTERNAL);
  cfg_free(c);
}

/* ---- unused keys ---- */

Test(config, unknown_sections_and_keys)
{
  cfg *const c =
      parse_config_text("[run]\nstep = 3\nbanana = 1\n[rnu]\n[coth.sheet]\n[zzzzzz]\n[cloth.a]\n");
  loom_err err = {0};
  bind_sample(c, "run");
  int cloths = 0;
  for (const cfg_section *s = cfg_next(c, "cloth", NULL); s != NULL; s = cfg_next(c, "cloth", s)) {
    cr_assert_str_eq(cfg_section_name(s), "cloth.a");
    cr_assert_str_eq(cfg_section_suffix(s), "a");
    ++cloths;
  }
  cr_assert_eq(cloths, 1);
  cr_assert_eq(cfg_finish(&err, c), LOOM_E_CONFIG);
  cr_assert(strstr(err.text, "t.ini:2: [run] step: unknown key; did you mean 'steps'?") != NULL,
            "%s", err.text);
  cr_assert(strstr(err.text, "t.ini:3: [run] banana: unknown key; allowed: dt, density") != NULL);
  cr_assert(strstr(err.text, "t.ini:4: [rnu]: unknown section; did you mean [run]?") != NULL);
  cr_assert(strstr(err.text, "t.ini:5: [coth.sheet]: unknown section; did you mean "
                             "[cloth.sheet]?") != NULL);
  cr_assert(strstr(err.text, "t.ini:6: [zzzzzz]: unknown section; allowed: [run], [cloth.NAME]") !=
            NULL);
  cfg_free(c);
}

Test(config, keys_read_as_text_are_known)
{
  cfg *const c = parse_config_text("[solver]\nplugin = gd\nplugn = x\n");
  const cfg_section *const s = cfg_find(c, "solver");
  loom_err err = {0};
  cr_assert_str_eq(cfg_text(s, "plugin"), "gd");
  cr_assert(cfg_text(s, "nothing") == NULL);
  cr_assert(cfg_find(c, "absent") == NULL);
  cr_assert_eq(cfg_finish(&err, c), LOOM_E_CONFIG);
  cr_assert_str_eq(err.text, "t.ini:3: [solver] plugn: unknown key; did you mean 'plugin'?");
  cfg_free(c);
}

/* ---- --set ---- */

static cfg *parse_set(loom_err *err, const char *text, const char *set)
{
  cfg *c = NULL;
  const char *const sets[] = {set};
  cfg_parse(err, text, "t.ini", "dir", sets, 1, &c);
  return c;
}

Test(config, set_overrides_and_is_named)
{
  loom_err err = {0};
  cfg *c = parse_set(&err, "[contact.self]\nplugin = a\n", "contact.self.plugin=x=y.z");
  cr_assert_str_eq(cfg_text(cfg_find(c, "contact.self"), "plugin"), "x=y.z");
  cfg_free(c);

  c = parse_set(&err, "[run]\n", "run.dt=0");
  sample s;
  cr_assert_eq(cfg_bind(&err, cfg_find(c, "run"), params, LOOM_COUNT(params), &s), LOOM_E_CONFIG);
  cr_assert(strncmp(err.text, "--set: [run] dt: 0 is out of range", 30) == 0, "%s", err.text);
  cfg_free(c);

  c = parse_set(&err, "", "run.file=a/b"); /* relative to the current directory */
  s = bind_sample(c, "run");
  cr_assert_str_eq(s.file, "a/b");
  cr_assert(strstr(cfg_resolved(c), "file = ../a/b\n") != NULL); /* seen from the top file */
  cfg_free(c);

  c = parse_set(&err, "", "run.title='a;b'");
  s = bind_sample(c, "run");
  cr_assert_str_eq(s.title, "a;b");
  cfg_free(c);
}

Test(config, set_typos)
{
  static const char *const rows[][2] = {
      {"run.dt", "--set run.dt: write --set section.key=value"},
      {"dt=3", "--set dt=3: write --set section.key=value"},
      {"=3", "--set =3: write"},
      {".dt=3", "--set .dt=3: '' is no section name"},
      {"run.=3", "--set run.=3: '' is no key"},
      {"Run.dt=3", "--set Run.dt=3: 'Run' is no section name"},
      {"run.dt=\n", "holds a control character"},
      {"run.t=\"'x", "mixes both kinds of quotes"},
      {"cloth.sheeet.size=3", "there is no section [cloth.sheeet]; did you mean [cloth.sheet]?"},
  };
  for (size_t i = 0; i < LOOM_COUNT(rows); ++i) {
    loom_err err = {0};
    cr_assert(parse_set(&err, "[cloth.sheet]\n", rows[i][0]) == NULL, "%s", rows[i][0]);
    cr_assert_eq(err.code, LOOM_E_CONFIG);
    cr_assert(strstr(err.text, rows[i][1]) != NULL, "got: %s", err.text);
  }
  loom_err err = {0};
  cfg *const c = parse_set(&err, "[run]\n", "rnu.dt=3"); /* found when all have bound */
  bind_sample(c, "run");
  cr_assert_eq(cfg_finish(&err, c), LOOM_E_CONFIG);
  cr_assert_str_eq(err.text, "--set: [rnu]: unknown section; did you mean [run]?");
  cfg_free(c);
}

/* ---- canonical text ---- */

static const char scene[] = "[cloth.b]\ndensity = 150 g/m^2\ntitle = 'say \"a;b\"'\n"
                            "[cloth.a]\nfile = x.obj\n[solver]\nplugin = gd\n[log]\nname = l\n"
                            "[run]\ndt = 5 ms\n";

static cfg *bound_scene(const char *text)
{
  cfg *const c = parse_config_text(text);
  bind_sample(c, "cloth.b");
  bind_sample(c, "cloth.a");
  bind_sample(c, "run");
  cfg_text(cfg_find(c, "solver"), "plugin");
  cfg_text(cfg_find(c, "log"), "name");
  return c;
}

Test(config, resolved_text_round_trip)
{
  cfg *const a = bound_scene(scene);
  const char *const first = cfg_resolved(a);
  cr_assert(strncmp(first, "[run]\ndt = 0.005\ndensity = 0.2\n", 30) == 0, "%s", first);
  cr_assert(strstr(first, "[solver]\nplugin = gd\n") != NULL);
  cr_assert(strstr(first, "title = 'say \"a;b\"'\n") != NULL);
  cr_assert(strstr(first, "title = \"a ; b\"\n") != NULL);
  cr_assert(strstr(first, "gravity = 0 0 -9.81\n") != NULL);
  cr_assert(strstr(first, "fast = yes\nmode = velocity\n") != NULL);
  cr_assert(strstr(first, "file = x.obj\n") != NULL);
  cr_assert(strstr(first, "[cloth.b]") < strstr(first, "[cloth.a]")); /* order of the file */
  cfg *const b = bound_scene(first);
  cr_assert_str_eq(cfg_resolved(b), first);
  cfg_free(b);
  cfg_free(a);
}

Test(config, shortest_doubles_survive)
{
  static const double values[] = {0.1, 1.0 / 3.0, 1e-320, 5e22, 0.30000000000000004, 123456789.125};
  for (size_t i = 0; i < LOOM_COUNT(values); ++i) {
    char text[128];
    snprintf(text, sizeof text, "[run]\ndensity = %.17g\n", values[i]);
    cfg *const a = parse_config_text(text);
    cr_assert_eq(bind_sample(a, "run").density, values[i]);
    cfg *const b = parse_config_text(cfg_resolved(a));
    cr_assert_eq(bind_sample(b, "run").density, values[i]);
    cfg_free(b);
    cfg_free(a);
  }
  cfg *const c = parse_config_text("[run]\ndensity = 0.1\n");
  bind_sample(c, "run");
  cr_assert(strstr(cfg_resolved(c), "density = 0.1\n") != NULL);
  cfg_free(c);
}

static void hash_with(const char *set, char hex[17])
{
  loom_err err = {0};
  cfg *c = NULL;
  const char *const sets[] = {set};
  cr_assert_eq(cfg_parse(&err, "[run]\nsteps = 5\n[log]\n[exec]\n", "t.ini", "", sets, 1, &c),
               LOOM_OK);
  bind_sample(c, "run");
  cfg_hash(c, hex);
  cfg_free(c);
}

Test(config, hash_covers_the_physics_only)
{
  char base[17], other[17];
  hash_with("run.dt=10 ms", base); /* the default, written differently */
  cr_assert_eq(strspn(base, "0123456789abcdef"), 16);
  hash_with("run.steps=7", other);
  cr_assert_str_eq(other, base);
  hash_with("log.file=x", other);
  cr_assert_str_eq(other, base);
  hash_with("exec.threads=3", other);
  cr_assert_str_eq(other, base);
  hash_with("run.dt=9 ms", other);
  cr_assert_str_neq(other, base);
}

/* Keys that the hash counts, in the order of the present text; four, then how many more. */
Test(config, differences_by_key)
{
  char text[1024];
  const char *const then =
      "[run]\ndt = 0.01\nsteps = 5\n\n[log]\nfile = a\n\n[solver]\nplugin = gd\n"
      "note =\n";
  cfg_differ(then, then, text, sizeof text);
  cr_assert_str_empty(text);
  cfg_differ(then,
             "[run]\ndt = 0.01\nsteps = 9\n\n[log]\nfile = b\n\n[solver]\nplugin = gd\nnote =\n",
             text, sizeof text);
  cr_assert_str_empty(text, "%s", text);
  cfg_differ(then, "[run]\ndt = 0.02\n\n[solver]\nplugin = gd\nnote = x = y\n", text, sizeof text);
  cr_assert_str_eq(text, "[run] dt: 0.01 then, 0.02 now; [solver] note: empty then, x = y now");
  cfg_differ(then, "[run]\ndt = 0.01\n\n[cloth.a]\nsize = 1 1\n", text, sizeof text);
  cr_assert_str_eq(text, "[cloth.a] size: not there then, 1 1 now; [solver] plugin: gd then, not "
                         "there now; [solver] note: empty then, not there now");
  cfg_differ("", "[a]\nb = 1\nc = 2\nd = 3\ne = 4\nf = 5\ng = 6\n", text, sizeof text);
  cr_assert(strstr(text, "[a] e: not there then, 4 now; and 2 more keys") != NULL, "%s", text);
}
