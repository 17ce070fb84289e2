/* Files of shape = rig through Assimp: formats are told by content, addresses stay in the model's
 * folder, nesting is bounded, ids are checked. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rig/import.h"
#include "support/proc.h"
#include "support/rig_bar.h"

TestSuite(rig_files, .init = proc_enter, .fini = proc_leave);

static void expect_rig_import(const char *path)
{
  loom_err err = {0};
  rig_file f;
  cr_expect_eq(rig_import(&err, path, 1, &f), LOOM_OK, "%s", err.text);
  cr_expect_eq(f.r.skin.num_verts, RIG_BAR_VERTS);
  rig_file_free(&f);
}

static void expect_import_refusal(const char *path, loom_status status, const char *want)
{
  loom_err err = {0};
  rig_file f;
  cr_expect_eq(rig_import(&err, path, 1, &f), status, "%s: %s", path, err.text);
  cr_expect(strncmp(err.text, path, strlen(path)) == 0, "%s", err.text);
  cr_expect(strstr(err.text, want) != NULL, "no '%s' in '%s'", want, err.text);
  rig_file_free(&f);
}

Test(rig_files, other_formats_are_refused_by_name)
{
  static const char *const all[][2] = {
      {"ASSIMP.binary-dump.Thu", "Assimp's binary format"},
      {"HIERARCHY\nROOT a\n", "BVH"},
      {"MD5Version 10\n", "MD5"},
      {"version 1\nnodes\n", "SMD"},
      {"xof 0303txt 0032\n", "DirectX .x"},
      {"ply\nformat ascii 1.0\n", "PLY"},
      {"v 0 0 0\nf 1 2 3\n", "OBJ"},
      {"<?xml version='1.0'?><a/>", "XML"},
      {"{\"nodes\":[]}", "no format that is known"},
      {"", "no format that is known"},
  };
  for (size_t k = 0; k < sizeof all / sizeof *all; ++k)
    for (int named = 0; named < 2; ++named) { /* with any name */
      const char *const name = named ? "man.gltf" : "man.assbin";
      proc_write(name, all[k][0]);
      expect_import_refusal(name, LOOM_E_CONFIG, all[k][1]);
      expect_import_refusal(name, LOOM_E_CONFIG, "glTF (.gltf, .glb), Collada (.dae) or FBX");
    }
}

Test(rig_files, contents_count_and_not_the_name)
{
  rig_bar b;
  rig_bar_fill(&b);
  rig_bar_write("bar.bvh", &b, &(rig_bar_file){0});
  expect_rig_import("bar.bvh");
  rig_bar_write("bar", &b, &(rig_bar_file){0});
  expect_rig_import("bar");
  proc_write("text.glb", "glTF and then something else");
  expect_import_refusal("text.glb", LOOM_E_IO, "");
  proc_write("text.gltf", "{\"asset\":{\"version\":\"2.0\"}, HIERARCHY ROOT }");
  expect_import_refusal("text.gltf", LOOM_E_IO, "");
}

/* Of the files that a model names, only regular ones in its folder are read. */
Test(rig_files, addresses_stay_in_the_folder)
{
  rig_bar b;
  char here[1024], uri[1200];
  rig_bar_fill(&b);
  cr_assert(getcwd(here, sizeof here) != NULL && mkdir("in", 0777) == 0 &&
            mkdir("in/sub", 0777) == 0);
  rig_bar_numbers("out.bin", &b);
  rig_bar_numbers("in/bar.bin", &b);
  rig_bar_numbers("in/sub/bar.bin", &b);
  cr_assert(symlink("../out.bin", "in/link.bin") == 0 && symlink("bar.bin", "in/near.bin") == 0);
  cr_assert(symlink("..", "in/up") == 0 && mkfifo("in/fifo.bin", 0600) == 0);
  rig_bar_numbers("in/my bar.bin", &b);
  rig_bar_numbers("in/100%25.bin", &b);
  static const char *const good[] = {"bar.bin",      "sub/bar.bin",     "near.bin",  "./bar.bin",
                                     "my%20bar.bin", "sub%2Fb%61r.bin", "100%25.bin"};
  for (size_t k = 0; k < sizeof good / sizeof *good; ++k) {
    rig_bar_write("in/bar.gltf", &b, &(rig_bar_file){.uri = good[k]});
    expect_rig_import("in/bar.gltf");
  }
  snprintf(uri, sizeof uri, "%s/in/bar.bin", here);
  const char *const bad[][2] = {
      {"../out.bin", "leads out"},  {"sub/../bar.bin", "leads out"},
      {uri, "leads out"},           {"link.bin", "is a link that leads out"},
      {"up/out.bin", "is a link"},  {"fifo.bin", "no regular file"},
      {"sub", "no regular file"},   {"/dev/zero", "leads out"},
      {"..", "leads out"},          {"%2e%2e/out.bin", "leads out"},
      {"up%2fout.bin", "is a link"}};
  for (size_t k = 0; k < sizeof bad / sizeof *bad; ++k) {
    rig_bar_write("in/bar.gltf", &b, &(rig_bar_file){.uri = bad[k][0]});
    expect_import_refusal("in/bar.gltf", LOOM_E_CONFIG, bad[k][1]);
    expect_import_refusal("in/bar.gltf", LOOM_E_CONFIG, "only regular files in the folder");
  }
  rig_bar_write("in/bar.gltf", &b, &(rig_bar_file){.uri = "missing.bin"});
  expect_import_refusal("in/bar.gltf", LOOM_E_IO, "missing.bin");
  static const char *const no_bytes[] = {"bar.bin%00", "b%6.bin", "ba%zz.bin", "bar.bin%"};
  for (size_t k = 0; k < sizeof no_bytes / sizeof *no_bytes; ++k) {
    rig_bar_write("in/bar.gltf", &b, &(rig_bar_file){.uri = no_bytes[k]});
    expect_import_refusal("in/bar.gltf", LOOM_E_IO, no_bytes[k]);
  }
  cr_assert_eq(mkfifo("pipe.gltf", 0600), 0);
  expect_import_refusal("pipe.gltf", LOOM_E_IO, "not a regular file");
}

Test(rig_files, nesting_is_bounded)
{
  static const int deep[] = {900, 3000, 60000};
  rig_bar b;
  rig_bar_fill(&b);
  for (int k = 0; k < 3; ++k) {
    char command[64];
    snprintf(command, sizeof command, "deep%d.gltf", deep[k]);
    rig_bar_write(command, &b, &(rig_bar_file){.deep = deep[k]});
    if (k == 0)
      expect_rig_import(command);
    else
      expect_import_refusal(command, k == 1 ? LOOM_E_CONFIG : LOOM_E_CONFIG, "deeper than 1024");
  }
  proc_write("man.ini",
             "[run]\nsteps = 1\n[cloth.a]\nmodel = arap+isometric\npattern = regular\nsize = "
             "0.1\nresolution = 3\n[solver]\nplugin = gd\n"
             "[contact.none]\nplugin = none\n[body.man]\nshape = rig\nfile = deep60000.gltf\n");
  proc_expect_error(2, LOOM_TEXTS("[body.man] file: ", "deeper than 1024"),
                    LOOM_ARGS("check", "man.ini"));
}
