/* framework/config with real files: includes, paths, materials. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/config.h"
#include "loom/plugin.h"

typedef struct cloth {
  double density, membrane, k_b, bending, bending_poisson, thickness;
  const char *material, *model, *file;
} cloth;

static const loom_param params[] = {
    LOOM_PARAM_REAL(cloth, density, 0.7, 0, 100, "kg/m^2", ""),
    LOOM_PARAM_REAL(cloth, membrane, 7, 0, 1e9, "N/m", ""),
    LOOM_PARAM_REAL(cloth, k_b, 7e-5, 0, 1e9, "N m", ""),
    LOOM_PARAM_REAL(cloth, bending, 7e-5, 0, 1e9, "N m", ""),
    LOOM_PARAM_REAL(cloth, bending_poisson, 0, -1, 1, "1", ""),
    LOOM_PARAM_TEXT(cloth, model, "", ""),
    LOOM_PARAM_REAL(cloth, thickness, 7e-4, 0, 1, "m", ""),
    LOOM_PARAM_TEXT(cloth, material, "", ""),
    LOOM_PARAM_PATH(cloth, file, "", ""),
};

/* A directory of its own for every test; the tests work inside it. */
static void create_config_folder(void)
{
  char dir[] = "/tmp/loom-config-XXXXXX";
  cr_assert(mkdtemp(dir) != NULL && chdir(dir) == 0);
}

static void remove_config_folder(void)
{
  char here[256], command[300];
  cr_assert(getcwd(here, sizeof here) != NULL && strncmp(here, "/tmp/loom-config-", 17) == 0);
  snprintf(command, sizeof command, "rm -rf '%s'", here);
  cr_assert(chdir("/") == 0 && system(command) == 0);
}

static void write_config_file(const char *path, const char *text)
{
  FILE *const f = fopen(path, "w");
  cr_assert(f != NULL);
  cr_assert(fputs(text, f) >= 0);
  fclose(f);
}

static cfg *load_config_file(const char *path)
{
  loom_err err = {0};
  cfg *c = NULL;
  cr_assert_eq(cfg_load(&err, path, NULL, 0, &c), LOOM_OK, "%s", err.text);
  return c;
}

static void expect_refusal_of_file(const char *path, const char *says)
{
  loom_err err = {0};
  cfg *c = NULL;
  cr_assert_lt(cfg_load(&err, path, NULL, 0, &c), 0);
  cr_assert(c == NULL);
  cr_assert(strstr(err.text, says) != NULL, "got: %s", err.text);
}

TestSuite(config_files, .init = create_config_folder, .fini = remove_config_folder);

Test(config_files, includes_are_relative_and_overridden)
{
  cr_assert(mkdir("runs", 0700) == 0 && mkdir("scenes", 0700) == 0);
  write_config_file("scenes/base.ini", "[cloth.a]\nfile = mesh/a.obj\ndensity = 1\nmembrane = 5\n");
  write_config_file("scenes/more.ini", "include = base.ini\n[cloth.a]\nmembrane = 6\n[cloth.b]\n");
  write_config_file("runs/run.ini", "include = ../scenes/more.ini\n[cloth.a]\ndensity = -1\n");
  cfg *c = load_config_file("runs/run.ini");
  cr_assert_str_eq(cfg_path(c), "runs/run.ini");
  const cfg_section *const a = cfg_find(c, "cloth.a");
  char place[256];
  cr_assert_str_eq(cfg_place(a, "density", place, sizeof place),
                   "runs/run.ini:3: [cloth.a] density");
  cr_assert_str_eq(cfg_place(a, "membrane", place, sizeof place),
                   "runs/../scenes/more.ini:3: [cloth.a] membrane");
  cr_assert_str_eq(cfg_place(a, NULL, place, sizeof place), "runs/../scenes/base.ini:1: [cloth.a]");
  cr_assert_str_eq(cfg_text(a, "density"), "-1");
  cr_assert_str_eq(cfg_text(a, "membrane"), "6");

  loom_err err = {0};
  cloth s;
  cr_assert_eq(cfg_bind(&err, a, params, LOOM_COUNT(params), &s), LOOM_E_CONFIG);
  cr_assert(strncmp(err.text, "runs/run.ini:3: [cloth.a] density: -1 is out of range", 50) == 0);
  cr_assert_str_eq(s.file, "runs/../scenes/mesh/a.obj");
  /* the canonical text, put beside the top file, means the same */
  cr_assert(strstr(cfg_resolved(c), "file = ../scenes/mesh/a.obj\n") != NULL);
  cfg_free(c);
}

Test(config_files, later_includes_override_earlier_ones)
{
  write_config_file("a.ini", "[x]\nk = a\n");
  write_config_file("b.ini", "[x]\nk = b\n");
  write_config_file("top.ini", "include = a.ini\ninclude = b.ini\n");
  cfg *const c = load_config_file("top.ini");
  cr_assert_str_eq(cfg_text(cfg_find(c, "x"), "k"), "b");
  cfg_free(c);
}

Test(config_files, include_cycles_and_depth)
{
  write_config_file("self.ini", "include = self.ini\n");
  expect_refusal_of_file("self.ini", "self.ini: the file includes itself");
  write_config_file("a.ini", "include = b.ini\n");
  write_config_file("b.ini", "\n\ninclude = ./a.ini\n");
  expect_refusal_of_file(
      "a.ini", "includes itself; remove one include\nincluded at b.ini:3\nincluded at a.ini:1");
  for (int i = 0; i < 20; ++i) {
    char name[32], text[64];
    snprintf(name, sizeof name, "d%d.ini", i);
    snprintf(text, sizeof text, "include = d%d.ini\n", i + 1);
    write_config_file(name, text);
  }
  expect_refusal_of_file("d0.ini", "nested more than 16 deep");
  /* every level twice would be 2^16 files */
  for (int i = 0; i < 16; ++i) {
    char name[32], text[64];
    snprintf(name, sizeof name, "t%d.ini", i);
    snprintf(text, sizeof text, "include = t%d.ini\ninclude = t%d.ini\n", i + 1, i + 1);
    write_config_file(name, text);
  }
  write_config_file("t16.ini", "");
  expect_refusal_of_file("t0.ini", "more than 64 in number");
}

static loom_status bind_file(loom_err *err, cfg *c)
{
  cloth s;
  return cfg_bind(err, cfg_find(c, "cloth"), params, LOOM_COUNT(params), &s);
}

/* The name of a folder and that of a file may each be fine where no line can hold both. */
Test(config_files, paths_that_no_line_can_hold)
{
  static const struct {
    const char *dir, *file, *says;
  } rows[] = {{"a;b", "m\\n.obj", "holds a backslash in text that needs quotes"},
              {"a;b", "m'n\"o.obj", "holds both kinds of quotes"},
              {"a\tb", "m.obj", "holds a control character"},
              {"a;b", "m'n.obj", NULL},
              {"ab", "m\\n'o\"p.obj", NULL}};
  for (size_t i = 0; i < LOOM_COUNT(rows); ++i) {
    char text[256], name[64];
    loom_err err = {0};
    cr_assert(mkdir(rows[i].dir, 0777) == 0 || access(rows[i].dir, F_OK) == 0);
    snprintf(text, sizeof text, "[cloth]\nfile = %s\n", rows[i].file);
    snprintf(name, sizeof name, "%s/more.ini", rows[i].dir);
    write_config_file(name, text);
    snprintf(text, sizeof text, "include = \"%s\"\n", name);
    write_config_file("top.ini", text);
    cfg *const c = load_config_file("top.ini");
    if (rows[i].says != NULL) {
      cr_assert_eq(bind_file(&err, c), LOOM_E_CONFIG, "%s/%s", rows[i].dir, rows[i].file);
      cr_assert(strstr(err.text, rows[i].says) != NULL, "got: %s", err.text);
    } else {
      cfg *again = NULL;
      cr_assert_eq(bind_file(&err, c), LOOM_OK, "%s", err.text);
      const char *const first = cfg_resolved(c);
      cr_assert_eq(cfg_parse(&err, first, "log", "", NULL, 0, &again), LOOM_OK, "%s", err.text);
      cr_assert_eq(bind_file(&err, again), LOOM_OK, "%s", err.text);
      cr_assert_str_eq(cfg_resolved(again), first);
      cfg_free(again);
    }
    cfg_free(c);
  }
}

/* Of --set, seen from a configuration elsewhere: the current directory becomes a part of the path.
 */
Test(config_files, directories_that_no_line_can_hold)
{
  static const char *const sets[] = {"cloth.file=m.obj"};
  loom_err err = {0};
  cfg *c = NULL;
  cr_assert(mkdir("a\xff", 0777) == 0 && chdir("a\xff") == 0);
  cr_assert_eq(cfg_parse(&err, "[cloth]\n", "t.ini", "/elsewhere", sets, 1, &c), LOOM_OK);
  cr_assert_eq(bind_file(&err, c), LOOM_E_CONFIG);
  cr_assert(strstr(err.text, "holds bytes that are no UTF-8") != NULL, "got: %s", err.text);
  cfg_free(c);
  cr_assert_eq(chdir(".."), 0);
}

Test(config_files, unreadable_files)
{
  expect_refusal_of_file("none.ini", "none.ini: cannot read the file: No such file or directory");
  expect_refusal_of_file(".", ".: cannot read the file: not a regular file");
  expect_refusal_of_file("/dev/zero", "/dev/zero: cannot read the file: not a regular file");
  FILE *const f = fopen("nul.ini", "w");
  cr_assert(f != NULL);
  fwrite("[a]\nx = a\0b\n", 1, 12, f);
  fclose(f);
  expect_refusal_of_file("nul.ini", "nul.ini:2: byte 0x00 in column 6");
}

Test(config_files, material_fills_what_the_section_leaves_open)
{
  cr_assert(mkdir("runs", 0700) == 0 && mkdir("materials", 0700) == 0);
  write_config_file("materials/felt.ini", "[material]\ndensity = 300 g/m^2\nmembrane = 50\n");
  write_config_file("materials/bad.ini", "[material]\n\ndensity = 2 kg\n");
  write_config_file("materials/extra.ini", "[material]\ncolour = red\n");
  write_config_file("materials/other.ini", "[stuff]\n");
  write_config_file("runs/run.ini", "[cloth.a]\nmaterial = felt\nmembrane = 80\n"
                                    "[cloth.b]\nmaterial = bad\n[cloth.c]\nmaterial = flet\n"
                                    "[cloth.d]\nmaterial = extra\n[cloth.e]\nmaterial = other\n"
                                    "[cloth.f]\nmaterial = ../x\n[cloth.g]\n");
  cfg *const c = load_config_file("runs/run.ini");
  loom_err err = {0};
  cloth s;
  const cfg_section *const a = cfg_find(c, "cloth.a");
  cr_assert_eq(cfg_apply_material(&err, c, a, NULL), LOOM_OK, "%s", err.text);
  cr_assert_eq(cfg_bind(&err, a, params, LOOM_COUNT(params), &s), LOOM_OK, "%s", err.text);
  cr_assert_eq(s.density, 0.3);
  cr_assert_eq(s.membrane, 80);
  cr_assert_eq(s.k_b, 7e-5); /* neither in the section nor in the material */

  const cfg_section *const b = cfg_find(c, "cloth.b");
  cr_assert_eq(cfg_apply_material(&err, c, b, NULL), LOOM_OK);
  cr_assert_eq(cfg_bind(&err, b, params, LOOM_COUNT(params), &s), LOOM_E_CONFIG);
  cr_assert(
      strncmp(err.text, "runs/../materials/bad.ini:3: [cloth.b] density: the unit 'kg'", 60) == 0,
      "%s", err.text);

  cr_assert_eq(cfg_apply_material(&err, c, cfg_find(c, "cloth.c"), "/hint"), LOOM_E_CONFIG);
  cr_assert_str_eq(err.text,
                   "runs/run.ini:7: [cloth.c] material: there is no material 'flet'; did you mean "
                   "'felt'?; searched: runs/materials, runs/../materials, runs/../../materials, "
                   "/hint; LOOM_CONFIG_PATH adds the materials/ of its folders");

  const cfg_section *const d = cfg_find(c, "cloth.d");
  cr_assert_eq(cfg_apply_material(&err, c, d, NULL), LOOM_OK);
  cr_assert_eq(cfg_bind(&err, d, params, LOOM_COUNT(params), &s), LOOM_OK);
  cr_assert_eq(cfg_apply_material(&err, c, cfg_find(c, "cloth.e"), NULL), LOOM_E_CONFIG);
  cr_assert(strstr(err.text, "materials/other.ini:1: a material file has the one section") != NULL);
  cr_assert_eq(cfg_apply_material(&err, c, cfg_find(c, "cloth.f"), NULL), LOOM_E_CONFIG);
  cr_assert(strstr(err.text, "[cloth.f] material: '../x' is no material name") != NULL);
  cr_assert(strstr(err.text, "or in a folder of LOOM_CONFIG_PATH") != NULL, "%s", err.text);
  cr_assert_eq(cfg_apply_material(&err, c, cfg_find(c, "cloth.g"), NULL), LOOM_OK);
  cr_assert_eq(cfg_finish(&err, c), LOOM_E_CONFIG);
  cr_assert(strstr(err.text, "materials/extra.ini:2: [cloth.d] colour: unknown key") != NULL, "%s",
            err.text);
  cfg_free(c);
}

Test(config_files, materials_that_come_with_loom)
{
  static const char *const names[] = {"default", "silk", "cotton", "denim", "paper"};
  const char *const source = getenv("LOOM_SOURCE_DIR");
  char dir[1024];
  cr_assert(source != NULL);
  snprintf(dir, sizeof dir, "%s/configs/materials", source);
  for (size_t i = 0; i < LOOM_COUNT(names); ++i) {
    char text[64];
    loom_err err = {0};
    cfg *c = NULL;
    cloth s;
    snprintf(text, sizeof text, "[cloth.a]\nmaterial = %s\n", names[i]);
    cr_assert_eq(cfg_parse(&err, text, "t.ini", "", NULL, 0, &c), LOOM_OK);
    const cfg_section *const a = cfg_find(c, "cloth.a");
    cr_assert_eq(cfg_apply_material(&err, c, a, dir), LOOM_OK, "%s", err.text);
    cr_assert_eq(cfg_bind(&err, a, params, LOOM_COUNT(params), &s), LOOM_OK, "%s", err.text);
    cr_assert_eq(cfg_finish(&err, c), LOOM_OK, "%s", err.text);
    /* every one sets all of them: none is the table's default; hinge and plate have each its key */
    const int plate = strcmp(s.model, "arap+plate_quadratic") == 0;
    cr_assert(plate || strcmp(s.model, "arap+isometric") == 0, "%s: %s", names[i], s.model);
    cr_assert(s.density != 0.7 && s.membrane != 7 && s.thickness != 7e-4);
    cr_assert((s.k_b == 7e-5) == plate && (s.bending == 7e-5) == !plate, "%s", names[i]);
    cr_assert(s.density > 0.05 && s.density < 0.5 && s.thickness < 1e-3);
    cfg_free(c);
  }
}

typedef struct measured {
  double bend_0[3], bending_warp, bending_weft, bending_bias;
  const char *material;
} measured;

static const loom_param measured_params[] = {
    LOOM_PARAM_VEC3(measured, bend_0, "0 0 0", 0, 1, "N m", ""),
    LOOM_PARAM_REAL(measured, bending_warp, 0, 0, 1, "N m", ""),
    LOOM_PARAM_REAL(measured, bending_weft, 0, 0, 1, "N m", ""),
    LOOM_PARAM_REAL(measured, bending_bias, 0, 0, 1, "N m", ""),
    LOOM_PARAM_TEXT(measured, material, "", "")};

/* Edges along the warp fold the weft: D11 is of the edges at 90 degrees. */
Test(config_files, measured_fabrics_have_a_plate_form)
{
  static const char *const names[] = {"11oz-black-denim", "camel-ponte-roma",   "gray-interlock",
                                      "ivory-rib-knit",   "navy-sparkle-sweat", "pink-ribbon-brown",
                                      "royal-target",     "tango-red-jet-set",  "white-dots-on-blk",
                                      "white-swim-solid"};
  char dir[1024];
  snprintf(dir, sizeof dir, "%s/configs/materials", getenv("LOOM_SOURCE_DIR"));
  for (size_t i = 0; i < LOOM_COUNT(names); ++i) {
    measured m[2];
    for (int plate = 0; plate < 2; ++plate) {
      char text[128];
      loom_err err = {0};
      cfg *c = NULL;
      snprintf(text, sizeof text, "[cloth.a]\nmaterial = %s%s\n", names[i], plate ? "-plate" : "");
      cr_assert_eq(cfg_parse(&err, text, "t.ini", "", NULL, 0, &c), LOOM_OK);
      const cfg_section *const a = cfg_find(c, "cloth.a");
      cr_assert_eq(cfg_apply_material(&err, c, a, dir), LOOM_OK, "%s", err.text);
      cr_assert_eq(cfg_bind(&err, a, measured_params, LOOM_COUNT(measured_params), &m[plate]),
                   LOOM_OK, "%s", err.text);
      cfg_free(c);
    }
    const double d[3] = {m[1].bending_weft, m[1].bending_bias, m[1].bending_warp};
    for (int k = 0; k < 3; ++k)
      cr_expect_float_eq(d[k], 0.2 * m[0].bend_0[k], 1e-5 * d[k], "%s, %d degrees: %g for %g",
                         names[i], 45 * k, d[k], 0.2 * m[0].bend_0[k]);
  }
}
