/* effects.c: keys without effect for the chosen values are refused, with values that read them. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/only_with.h"
#include "scene/base/build.h"
#include "support/tiny_scene.h"

#define SHEET "[cloth.a]\nresolution = 4\n"
#define BODY  SHEET "transform = translate 0 0 5\n[body.b]\n"

Test(effects, useless_keys_are_refused)
{
  static const char *const cases[][3] = {
      {SHEET "file = a.obj\n", "tiny.ini:3: [cloth.a] file: has no effect",
       "shape = obj, ply, pattern or mesh"},
      {SHEET "pin_motion = translate 1 0 0\n", "pin_motion", "it takes pins; leave it out"},
      {SHEET "pins = none\npin_stiffness = 5\n", "tiny.ini:4: [cloth.a] pin_stiffness", "pins"},
      {"[cloth.a]\nshape = disk\npattern = regular\n", "pattern", "grid, strip or cylinder"},
      {SHEET "k_e = 1\n", "k_e", "model = arap+shell or stvk+shell"},
      {SHEET "model = springs\nk_b = 1\n", "k_b", "arap+isometric or stvk+isometric; leave"},
      {SHEET "model = springs\nbending = 1\n", "bending", "stvk+plate or arap+plate_quadratic"},
      {SHEET "model = stvk+plate\nk_b = 0.5\n", "tiny.ini:4: [cloth.a] k_b",
       "(a plate that hangs alike has bending = 1.2)"},
      {SHEET "model = arap+plate_quadratic\nk_e = 6\n", "k_e",
       "(a plate that hangs alike has bending = 1.2)"},
      {"[solid.a]\npin_stiffness = 2\n", "[solid.a] pin_stiffness", "pins"},
      {"[yarn.a]\nrib = 3\n", "rib", "pattern = rib"},
      {"[yarn.a]\npattern = tube\nstripe = 2\n", "stripe", "stockinette, garter or rib"},
      {"[yarn.a]\nclosed = no\n", "closed", "pattern = tube"},
      {"[yarn.a]\npattern = bcc\nfile = x.bcc\nrows = 3\n", "rows",
       "stockinette, garter, rib or tube"},
      {SHEET "[pin.p]\nobject = a\nstiffness = 4\n", "[pin.p] stiffness", "it takes where"},
      {BODY "shape = box\nradius = 2\n", "radius", "shape = sphere, capsule or cylinder"},
      {BODY "shape = sphere\ntube_radius = 0.1\n", "tube_radius", "it takes shape = torus;"},
      {BODY "shape = sphere\nprofile = 1 0\n", "profile", "shape = revolve"},
      {BODY "shape = sphere\nsdf_resolution = 9\n", "sdf_resolution",
       "shape = mesh or revolve, or mesh_size above 0"},
      {BODY "shape = plane\nsize = 1 1 1\n", "size", "shape = box"},
      {BODY "copy_spacing = 1 1 1\n", "copy_spacing", "copies"},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k)
    tiny_refused(cases[k][0], (const char *const[]){cases[k][1], cases[k][2], "no effect", NULL});
}

/* Older versions read `bending` as the k_b of a hinge. */
Test(effects, bending_of_a_hinge_is_refused_with_both_remedies)
{
  static const char *const either = "stvk+plate or arap+plate_quadratic";
  tiny_refused(SHEET "model = arap+isometric\nbending = 0.5\n",
               (const char *const[]){"tiny.ini:4: [cloth.a] bending", "k_b = 0.5", "bending = 1.2",
                                     either, NULL});
  tiny_refused(SHEET "model = stvk+shell\nbending = 0.5\n",
               (const char *const[]){"tiny.ini:4: [cloth.a] bending", "k_e = 6", "bending = 1.2",
                                     either, NULL});
  /* a plate's number, and a hinge from outside */
  static const char plate[] = SHEET "model = stvk+plate\nbending = 0.5\n";
  const char *const sets[] = {"cloth.a.model=stvk+isometric", "cloth.a.k_b=0.2"};
  for (int n = 1; n <= 2; ++n) {
    tiny_scene t = {0};
    cr_assert_eq(cfg_parse(&t.err, plate, "tiny.ini", ".", sets, n, &t.c), LOOM_OK);
    cr_assert_eq(mem_new(&t.err, 1, &t.m), LOOM_OK);
    const loom_status s = scene_build(&t.err, t.m, t.c, 1, &t.s);
    if (n == 1) {
      cr_expect_eq(s, LOOM_E_CONFIG);
      cr_expect(strstr(t.err.text, "tiny.ini:4: [cloth.a] bending") != NULL, "%s", t.err.text);
    } else {
      cr_expect_eq(s, LOOM_OK, "%s", t.err.text);
      cr_expect(strstr(t.s->notes, "bending has no effect") != NULL, "%s", t.s->notes);
    }
    tiny_close(&t);
  }
}

/* A mesh reads no pattern, so its stored value is the default of the version that wrote it. */
Test(effects, stored_configs_get_todays_keys)
{
  char note[256];
  tiny_scene t = {0};
  cr_assert_eq(cfg_parse(&t.err,
                         "[cloth.a]\nshape = obj\npattern = regular\nmodel = arap+isometric\n"
                         "bending = 0.3\n[cloth.b]\nshape = grid\npattern = regular\n",
                         "log", "", NULL, 0, &t.c),
               LOOM_OK);
  cr_assert_eq(scene_translate(&t.err, t.c, note, sizeof note), LOOM_OK);
  cr_expect_str_eq(cfg_text(cfg_find(t.c, "cloth.a"), "pattern"), "alternate");
  cr_expect_str_eq(cfg_text(cfg_find(t.c, "cloth.a"), "k_b"), "0.3");
  cr_expect_str_eq(cfg_text(cfg_find(t.c, "cloth.a"), "bending"), "2.4e-05");
  cr_expect_str_eq(cfg_text(cfg_find(t.c, "cloth.b"), "pattern"), "regular");
  cr_expect(strstr(note, "[cloth.a] bending = 0.3 of its hinge is k_b = 0.3") != NULL, "%s", note);
  cfg_free(t.c);
}

Test(effects, what_the_choice_reads_is_taken)
{
  static const char *const texts[] = {
      SHEET "pins = left\npin_motion = translate 1 0 0\npin_stiffness = 5\n",
      BODY "mesh_size = 0.05\nsdf_resolution = 9\n",
      BODY "copies = 2 1 1\ncopy_spacing = 1 0 0\n",
      SHEET "[pin.p]\nobject = a\nwhere = 0 1\nstiffness = 4\n",
  };
  for (size_t k = 0; k < sizeof texts / sizeof *texts; ++k) {
    tiny_scene t = tiny_open_ok(texts[k]);
    tiny_close(&t);
  }
}

/* A different choice by --set leaves keys of the file behind: said, and not used. */
Test(effects, a_choice_from_outside)
{
  static const char *const sets[] = {"cloth.a.model=stvk+isometric", "cloth.a.pins=none"};
  tiny_scene t = {0};
  cr_assert_eq(cfg_parse(&t.err, SHEET "membrane = 77\npins = left\npin_stiffness = 6\n",
                         "tiny.ini", ".", sets, 2, &t.c),
               LOOM_OK);
  cr_assert_eq(mem_new(&t.err, 1, &t.m), LOOM_OK);
  cr_assert_eq(scene_build(&t.err, t.m, t.c, 1, &t.s), LOOM_OK, "%s", t.err.text);
  cr_assert(strstr(t.s->notes, "tiny.ini:3: [cloth.a] membrane has no effect") != NULL, "%s",
            t.s->notes);
  cr_assert(strstr(t.s->notes, "[cloth.a] pin_stiffness has no effect") != NULL, "%s", t.s->notes);
  /* the output of `loom info --config` can be run */
  char all[20000];
  snprintf(all, sizeof all, "%s", cfg_resolved(t.c));
  cr_assert(strstr(all, "membrane = 200") != NULL && strstr(all, "membrane = 77") == NULL, "%s",
            all);
  tiny_close(&t);
  t = tiny_open_ok(all);
  tiny_close(&t);
  const char *const late[] = {"cloth.a.k_e=1"};
  t = (tiny_scene){0};
  cr_assert_eq(cfg_parse(&t.err, SHEET, "tiny.ini", ".", late, 1, &t.c), LOOM_OK);
  cr_assert_eq(mem_new(&t.err, 1, &t.m), LOOM_OK);
  cr_assert_eq(scene_build(&t.err, t.m, t.c, 1, &t.s), LOOM_E_CONFIG);
  cr_assert(strstr(t.err.text, "--set: [cloth.a] k_e: has no effect") != NULL, "%s", t.err.text);
  tiny_close(&t);
}

/* A new key needs a list of the shapes that read it: here, or in only_with. */
Test(effects, every_key_is_thought_of)
{
  static const char always[] =
      " cloth.shape cloth.repair cloth.sewing cloth.rest cloth.positions cloth.density cloth.model "
      "cloth.thickness cloth.material cloth.imperfection"
      " cloth.transform cloth.velocity cloth.velocities cloth.damping cloth.stiffness_damping "
      "cloth.pins"
      " solid.shape solid.density solid.model solid.thickness"
      " solid.material solid.transform solid.velocity solid.velocities solid.damping "
      "solid.stiffness_damping "
      "solid.pins"
      " yarn.pattern yarn.glue yarn.radius yarn.density yarn.material yarn.transform yarn.velocity "
      "yarn.velocities yarn.positions yarn.rest_lengths yarn.rest_curvature yarn.directors "
      "yarn.damping yarn.stiffness_damping"
      " yarn.pins pin.object pin.where"
      " body.shape body.position body.rotation body.friction body.thickness body.motion"
      " body.keyframes body.keyframe_file body.mass body.velocity body.spin body.copies ";
  static const char *const sections[] = {"cloth", "solid", "yarn", "pin", "body"};
  loom_err err = {0};
  for (size_t s = 0; s < sizeof sections / sizeof *sections; ++s) {
    scene_table own[SCENE_OWN_TABLES];
    for (int t = 0, num = scene_own_tables(sections[s], own); t < num; ++t)
      for (uint32_t k = 0; k < own[t].count; ++k) {
        const char *const key = own[t].params[k].key;
        char name[128];
        snprintf(name, sizeof name, " %s.%s ", sections[s], key);
        cr_expect((own[t].params[k].only_with != NULL) != (strstr(always, name) != NULL),
                  "%s: only_with, or read by all", name);
        cr_expect_eq(only_with_check(&err, &own[t].params[k], own[t].params, own[t].count), LOOM_OK,
                     "%s", err.text);
      }
  }
}

/* mesh_size is read by the shapes that have an outline: bodies.def and the descriptors agree. */
Test(effects, mesh_size_takes_an_outline)
{
  scene_table own[SCENE_OWN_TABLES];
  scene_own_tables("body", own);
  for (uint32_t k = 0; k < own[0].count; ++k) {
    const char *text = own[0].params[k].only_with;
    only_with w;
    if (strcmp(own[0].params[k].key, "mesh_size") != 0) continue;
    cr_assert(only_with_next(&text, &w));
    for (int i = 0; i < BODY_NUM_CLOSED; ++i) {
      const body_kind *const kind = body_kind_at(i);
      cr_expect_eq(only_with_has(&w, kind->name, strlen(kind->name)), kind->outline != NULL, "%s",
                   kind->name);
    }
  }
}

/* Keys of an element type: of every type that a model chooses, without a line here or there. */
Test(effects, keys_of_elements_take_a_model_with_the_type)
{
  scene_table tables[SCENE_MAX_TABLES];
  int seen = 0;
  for (int k = 0, n = scene_tables("cloth", tables); k < n; ++k) {
    const elem_type *const t = elem_at(tables[k].elem);
    for (uint32_t i = 0; i < tables[k].count && t != NULL; ++i, ++seen) {
      const loom_param *const p = &tables[k].params[i];
      if (t->word == NULL) continue; /* beside every model */
      const elem_type *const other = elem_at(tables[k].elem == 0);
      const double mid = 0.5 * (p->def + (p->def > p->min ? p->min : p->max)); /* allowed */
      char text[1024], given[64], def[128];
      snprintf(given, sizeof given, "%g", mid);
      for (int more = 1; more < LOOM_P_NUMBERS(p->type); ++more) strcat(given, " 1");
      snprintf(text, sizeof text, SHEET "model = %s\n%s = %s\n", other->name, p->key, given);
      tiny_refused(text, (const char *const[]){p->key, "no effect", "model", NULL});
      snprintf(text, sizeof text, SHEET "model = %s\n%s = %s\n", t->name, p->key,
               cfg_default_text(p, def, sizeof def));
      for (uint32_t j = 0; j < t->table; ++j) /* rows of a table come together */
        if (j != i) {
          const size_t len = strlen(text);
          snprintf(text + len, sizeof text - len, "%s = %s\n", t->params[j].key,
                   cfg_default_text(&t->params[j], def, sizeof def));
        }
      tiny_scene s = tiny_open_ok(text);
      tiny_close(&s);
    }
  }
  cr_assert(seen >= 9);
}
