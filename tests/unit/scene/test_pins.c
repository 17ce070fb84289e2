/* pins.c, motion.c: which vertices are held, and where they are at a time. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/tiny_scene.h"

static const double eps = sizeof(loom_real) == 4 ? 1e-5 : 1e-13;

#define PARTS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* The pinned ids of a 4 x 3 sheet (or of the sheet of `section`) are exactly `want`. */
static void expect_pins(const char *section, const char *pins, int count, const int *want)
{
  char text[500];
  snprintf(text, sizeof text, "%s\npins = %s\n", section, pins);
  tiny_scene t = tiny_open_ok(text);
  uint8_t *fixed = tiny_copy(&t, t.s->pub.fixed);
  int found = 0;
  for (int k = 0; k < t.s->pub.num_verts; ++k) {
    int wanted = 0;
    for (int i = 0; i < count; ++i) wanted |= want[i] == k;
    cr_assert_eq(fixed[k], wanted, "pins = %s: vertex %d", pins, k);
    found += fixed[k];
  }
  cr_assert_eq(found, count);
  free(fixed);
  tiny_close(&t);
}

Test(pins, names_ids_and_boxes)
{
  const char sheet[] = "[cloth.a]\nsize = 3 2\nresolution = 4 3";
  expect_pins(sheet, "none", 0, NULL);
  expect_pins(sheet, "corners", 4, (int[]){0, 3, 8, 11});
  expect_pins(sheet, "left", 3, (int[]){0, 4, 8});
  expect_pins(sheet, "right", 3, (int[]){3, 7, 11});
  expect_pins(sheet, "bottom", 4, (int[]){0, 1, 2, 3});
  expect_pins(sheet, "top", 4, (int[]){8, 9, 10, 11});
  expect_pins(sheet, "top_left bottom_right", 2, (int[]){8, 3});
  expect_pins(sheet, "left bottom 5", 7, (int[]){0, 1, 2, 3, 4, 8, 5});
  expect_pins(sheet, "boundary", 10, (int[]){0, 1, 2, 3, 4, 7, 8, 9, 10, 11});
  expect_pins(sheet, "0 11", 2, (int[]){0, 11});
  /* after placement, either order of the box's corners */
  expect_pins("[cloth.a]\nsize = 3 2\nresolution = 4 3\ntransform = translate 0 0 7",
              "box 2 -0.1 8 0 0.1 6", 2, (int[]){6, 7});
}

Test(pins, tubes_and_blocks)
{
  expect_pins("[cloth.a]\nshape = cylinder\npattern = regular\nresolution = 3 3", "top", 3,
              (int[]){6, 7, 8});
  expect_pins("[solid.a]\nresolution = 2 3 2", "bottom", 6, (int[]){0, 1, 2, 3, 4, 5});
  expect_pins("[solid.a]\nresolution = 2 3 2", "front", 4, (int[]){0, 1, 6, 7});
  expect_pins("[solid.a]\nresolution = 2 3 2", "corners", 8, (int[]){0, 1, 4, 5, 6, 7, 10, 11});
}

Test(pins, refusals)
{
  tiny_refused("[cloth.a]\nresolution = 3\npins = 9\n", PARTS("tiny.ini:3", "pins", "0 to 8"));
  tiny_refused("[cloth.a]\nresolution = 3\npins = -1\n", PARTS("tiny.ini:3", "-1"));
  tiny_refused("[cloth.a]\npins = rigth\n", PARTS("tiny.ini:2", "\"right\""));
  tiny_refused("[cloth.a]\npins = left none\n", PARTS("tiny.ini:2", "none"));
  tiny_refused("[cloth.a]\npins = box 0 0\n", PARTS("tiny.ini:2", "six numbers"));
  tiny_refused("[cloth.a]\npins = box 8 8 8 9 9 9\n", PARTS("tiny.ini:2", "no vertex"));
  tiny_refused("[cloth.a]\nshape = disk\npins = left\n", PARTS("tiny.ini:3", "boundary"));
  tiny_refused("[cloth.a]\nshape = cylinder\npins = left\n", PARTS("tiny.ini:3", "boundary"));
  tiny_refused("[cloth.a]\npins = front\n", PARTS("tiny.ini:2", "front"));
  tiny_refused("[cloth.a]\npins = 3 4 3\n", PARTS("[cloth.a]: vertex 3", "twice"));
  tiny_refused("[cloth.a]\npins = left\n[pin.p]\nobject = a\nwhere = bottom\n",
               PARTS("[cloth.a]: vertex 0", "two pins"));
  tiny_refused("[cloth.sheet]\n[pin.p]\nobject = shet\nwhere = left\n",
               PARTS("tiny.ini:3", "there is sheet"));
  tiny_refused("[cloth.a]\npins = left\npin_motion = keyframes\n",
               PARTS("tiny.ini:3", "keyframes"));
  tiny_refused("[cloth.a]\n[pin.p]\nobject = a\nwhere = left\nmotion = keyframes\n"
               "keyframes = 0 0 0 1 0 0 1 0\n",
               PARTS("tiny.ini:5", "time 0"));
  tiny_refused("[cloth.a]\npins = left\npin_motion = translate 1 0 0 2 1\n",
               PARTS("tiny.ini:3", "time window"));
}

static void expect_vertex(const loom_real *x, int v, double a, double b, double c)
{
  cr_assert_float_eq(x[3 * v], a, 10 * eps);
  cr_assert_float_eq(x[3 * v + 1], b, 10 * eps);
  cr_assert_float_eq(x[3 * v + 2], c, 10 * eps);
}

Test(pins, fixed_vertices_follow_their_motion_and_others_are_left_alone)
{
  tiny_scene t = tiny_open_ok("[cloth.a]\nsize = 2\nresolution = 3\nvelocity = 0 0 1\n"
                              "pins = left\npin_motion = translate 0 0 0.5 1 3\n"
                              "[pin.turn]\nobject = a\nwhere = right\n"
                              "motion = rotate 1 0 0 0 0 0 90\n");
  loom_real x[27];
  for (int k = 0; k < 27; ++k) x[k] = 77;
  cr_assert_eq(scene_pins_move(t.s), 1);
  scene_fixed_positions(t.s, 2, x);
  expect_vertex(x, 0, -1, -1, 0.5);
  expect_vertex(x, 3, -1, 0, 0.5);
  expect_vertex(x, 2, 1, 1, 0); /* (1,-1,0) turned by 180 degrees about the x axis */
  expect_vertex(x, 5, 1, 0, 0);
  expect_vertex(x, 4, 77, 77, 77);
  scene_fixed_positions(t.s, 0, x);
  expect_vertex(x, 2, 1, -1, 0);
  scene_fixed_positions(t.s, 50, x);
  expect_vertex(x, 6, -1, 1, 1);
  loom_real *v = tiny_copy(&t, t.s->v0);
  cr_assert(v[2] == 0 && v[3 * 4 + 2] == 1, "pinned vertices do not get the sheet's velocity");
  free(v);
  tiny_close(&t);
}

Test(pins, pins_that_hold_do_not_move)
{
  tiny_scene t = tiny_open_ok("[cloth.a]\nresolution = 3\npins = left\n");
  cr_assert_eq(scene_pins_move(t.s), 0);
  tiny_close(&t);
}

Test(pins, soft_pins_are_elements_whose_targets_move)
{
  tiny_scene t =
      tiny_open_ok("[cloth.a]\nmodel = arap+isometric\nsize = 2\nresolution = 3\npins = left\n"
                   "pin_stiffness = 100\npin_motion = translate 0 0 1\n"
                   "[pin.p]\nobject = a\nwhere = 8\nstiffness = 7\n");
  const loom_scene *p = &t.s->pub;
  uint8_t *fixed = tiny_copy(&t, p->fixed);
  for (int k = 0; k < 9; ++k) cr_assert_eq(fixed[k], 0);
  free(fixed);
  cr_assert_eq(scene_pins_move(t.s), 0);
  const loom_elem_block *b = &p->blocks[p->num_blocks - 1];
  cr_assert_str_eq(b->type, "pin");
  cr_assert_eq(b->num_elems, 4);
  int32_t *verts = tiny_copy(&t, b->verts);
  const int32_t want[4] = {0, 3, 6, 8};
  cr_assert_arr_eq(verts, want, sizeof want);
  free(verts);
  cr_assert_eq(scene_pose(t.s, 1, 2), LOOM_OK);
  loom_real *mat = tiny_copy(&t, b->mat);
  const loom_real first[4] = {100, -1, -1, 2}, last[4] = {7, 1, 1, 0};
  cr_assert_arr_eq(mat, first, sizeof first);
  cr_assert_arr_eq(mat + 12, last, sizeof last);
  free(mat);
  tiny_close(&t);
}
