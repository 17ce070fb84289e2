/* rig/reader: all data of a module are checked, and a module that crashes ends its
 * own process. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "rig/reader.h"
#include "support/proc.h"

TestSuite(rig_reader, .init = proc_enter, .fini = proc_leave);

static loom_status read_deed(const char *deed, loom_err *err, loom_rig_file *f)
{
  char text[128];
  snprintf(text, sizeof text, "{\"asset\":{}, \"what\":\"deed %s\"}", deed);
  proc_write("a.gltf", text);
  return rig_reader_read(err, "a.gltf", f);
}

static void expect_reader_refusal(const char *deed, loom_status status, const char *want)
{
  loom_err err = {0};
  loom_rig_file f;
  const loom_status s = read_deed(deed, &err, &f);
  cr_expect_eq(s, status, "%s: %d %s", deed, (int)s, err.text);
  cr_expect(strncmp(err.text, "a.gltf: ", 8) == 0, "%s: %s", deed, err.text);
  cr_expect(strstr(err.text, want) != NULL, "%s: no '%s' in '%s'", deed, want, err.text);
  cr_expect(f.x == NULL && f.clip == NULL, "%s leaves memory behind", deed);
}

Test(rig_reader, a_sound_file_is_handed_over_whole)
{
  loom_err err = {0};
  loom_rig_file f;
  cr_assert_eq(read_deed("nothing", &err, &f), LOOM_OK, "%s", err.text);
  cr_assert(f.num_joints == 1 && f.num_verts == 3 && f.num_tris == 1 && f.per == 1);
  cr_assert_str_eq(f.joint[0].name, "root");
  cr_assert(f.x[3] == 1 && f.x[7] == 1 && f.tris[2] == 2 && f.bone[2] == 0 && f.weight[2] == 1);
  cr_assert(f.num_nodes == 1 && f.node[0].joint == 0 && f.node[0].local[8] == 1);
  cr_assert(f.num_clips == 1 && f.clip[0].num_tracks == 1 && f.clip[0].length == 0.5);
  const loom_rig_track *const t = f.clip[0].track;
  cr_assert(t->node == 0 && t->part == LOOM_RIG_SHIFT && t->interpolation == LOOM_RIG_LINEAR);
  cr_assert(t->num_keys == 2 && t->time[1] == 0.5 && t->value[5] == 1);
  cr_assert_str_eq(f.clip[0].name, "move");
  rig_reader_free(&f);
  rig_reader_free(&f);
}

Test(rig_reader, ids_are_within_their_arrays)
{
  expect_reader_refusal("triangle_high", LOOM_E_CONFIG, "triangle 0 names vertex 3, there are 3");
  expect_reader_refusal("triangle_negative", LOOM_E_CONFIG, "triangle 0 names vertex -1");
  expect_reader_refusal("bone_high", LOOM_E_CONFIG, "skin vertex 0 names joint 1, there are 1");
  expect_reader_refusal("bone_negative", LOOM_E_CONFIG, "skin vertex 2 names joint -2147483648");
  expect_reader_refusal("parent_self", LOOM_E_CONFIG, "joint 0 names parent 0");
  expect_reader_refusal("parent_negative", LOOM_E_CONFIG, "joint 0 names parent -2");
  expect_reader_refusal("node_parent", LOOM_E_CONFIG, "node 0 names parent 0");
  expect_reader_refusal("node_joint", LOOM_E_CONFIG, "node 0 names joint 7");
  expect_reader_refusal("node_none", LOOM_E_CONFIG, "0 of 1 joints are nodes");
  expect_reader_refusal("track_node", LOOM_E_CONFIG, "animation 0 names node 1, there are 1");
  expect_reader_refusal("track_part", LOOM_E_CONFIG, "animation 0 moves part 3");
  expect_reader_refusal("track_interpolation", LOOM_E_CONFIG, "kind -1");
}

Test(rig_reader, numbers_are_finite_and_names_end)
{
  expect_reader_refusal("vertex_nan", LOOM_E_CONFIG, "skin vertex 1 is not finite");
  expect_reader_refusal("weight_infinite", LOOM_E_CONFIG,
                        "a weight of skin vertex 1 is not finite");
  expect_reader_refusal("rest_nan", LOOM_E_CONFIG, "the frame of joint 0 is not finite");
  expect_reader_refusal("node_nan", LOOM_E_CONFIG, "the map of node 0 is not finite");
  expect_reader_refusal("key_nan", LOOM_E_CONFIG, "a key of animation 0 is not finite");
  expect_reader_refusal("time_falls", LOOM_E_CONFIG, "key 1 of a node in animation 0 has no time");
  expect_reader_refusal("time_nan", LOOM_E_CONFIG, "key 0 of a node in animation 0 has no time");
  expect_reader_refusal("length_nan", LOOM_E_CONFIG, "animation 0 has the length nan s");
  expect_reader_refusal("name_without_end", LOOM_E_CONFIG, "the name of joint 0 has no end");
  expect_reader_refusal("clip_without_end", LOOM_E_CONFIG, "animation 0 ");
}

Test(rig_reader, counts_are_those_of_what_was_handed_over)
{
  expect_reader_refusal("verts_many", LOOM_E_IO, "the file is damaged");
  expect_reader_refusal("verts_negative", LOOM_E_IO, "");
  expect_reader_refusal("tris_many", LOOM_E_IO, "gave too little");
  expect_reader_refusal("nodes_many", LOOM_E_IO, "gave too little");
  expect_reader_refusal("tracks_many", LOOM_E_IO, "gave too few animations");
  expect_reader_refusal("keys_many", LOOM_E_IO, "gave too little");
  expect_reader_refusal("no_joints", LOOM_E_CONFIG, "holds 0 joints");
}

#ifdef __SANITIZE_ADDRESS__ /* its own handler ends the process with a code */
#define SEGV "ended with exit code 1"
#else
#define SEGV "crashed (signal 11"
#endif

Test(rig_reader, a_module_that_crashes_is_an_error)
{
  expect_reader_refusal("segv", LOOM_E_IO, "the reader 'fixture' " SEGV);
  expect_reader_refusal("abort", LOOM_E_IO, "the reader 'fixture' crashed (signal 6");
  expect_reader_refusal("exit", LOOM_E_IO, "gave no answer");
  expect_reader_refusal("refuse", LOOM_E_CONFIG, "says no?[31m");
}

/* The module gives a joint with every surface, which has none. */
Test(rig_reader, a_surface_with_joints_is_refused)
{
  loom_err err = {0};
  loom_rig_file f;
  proc_write("a.gltf", "{\"asset\": \"deed nothing\"}");
  cr_assert_eq(rig_reader_surface(&err, "a.gltf", &f), LOOM_E_CONFIG, "%s", err.text);
  cr_expect(strstr(err.text, "holds 1 joints") != NULL, "%s", err.text);
  cr_expect(f.x == NULL && f.joint == NULL);
}
