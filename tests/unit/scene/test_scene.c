/* scene_build.c, object.c, blocks.c, obstacle.c: masses, elements, obstacles from sections. */
#define _DEFAULT_SOURCE /* mkstemps */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "elements/elements.h"
#include "support/tiny_file.h"
#include "support/tiny_scene.h"

#define PARTS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* loom_real may be float */
static const double eps = sizeof(loom_real) == 4 ? 1e-5 : 1e-13;

static double sum_scene_reals(const loom_real *a, int64_t n)
{
  double s = 0;
  for (int64_t k = 0; k < n; ++k) s += (double)a[k];
  return s;
}

Test(scene, masses_of_cloth_sum_to_density_times_area)
{
  tiny_scene t = tiny_open_ok("[cloth.a]\nsize = 2 1 m\nresolution = 7 5\ndensity = 150 g/m^2\n"
                              "[cloth.b]\nshape = disk\nsize = 1\nresolution = 6\ndensity = 0.3\n"
                              "transform = scale 0.5 translate 5 0 0\nthickness = 3 mm\n");
  const loom_scene *p = &t.s->pub;
  loom_real *mass = tiny_copy(&t, p->mass), *radius = tiny_copy(&t, p->radius);
  int32_t *object = tiny_copy(&t, p->object), *layer = tiny_copy(&t, p->layer);
  const double polygon = 0.25 * 0.25 * 18 * sin(2 * 3.14159265358979323846 / 36);
  cr_assert_eq(p->num_verts, 35 + 127);
  cr_assert_float_eq(sum_scene_reals(mass, 35), 0.15 * 2, 10 * eps);
  cr_assert_float_eq(sum_scene_reals(mass + 35, 127), 0.3 * polygon, 10 * eps);
  for (int k = 0; k < p->num_verts; ++k) {
    cr_assert(mass[k] > 0);
    cr_assert_eq(object[k], k >= 35);
    cr_assert_eq(layer[k], k >= 35);
    cr_assert_float_eq(radius[k], k >= 35 ? 1.5e-3 : 2.5e-4, 1e-9);
  }
  cr_assert_eq(p->num_objects, 2);
  cr_assert_str_eq(p->object_names[1], "b");
  cr_assert_eq(p->num_tris, 48 + 216);
  /* Euler: V - E + F = 1 for each disk */
  cr_assert_eq(p->num_verts - p->num_edges + p->num_tris, 2);
  cr_assert_eq(t.s->notes == NULL, 1);
  free(mass), free(radius), free(object), free(layer);
  tiny_close(&t);
}

Test(scene, solids_have_tetrahedra_a_surface_and_mass)
{
  tiny_scene t = tiny_open_ok("[solid.jelly]\nsize = 10 20 30 cm\nresolution = 3 4 5\n"
                              "density = 800\nstiffness = 5e3\nvelocity = 1 2 3\n");
  const loom_scene *p = &t.s->pub;
  loom_real *mass = tiny_copy(&t, p->mass), *v = tiny_copy(&t, t.s->v0);
  cr_assert_float_eq(sum_scene_reals(mass, p->num_verts), 800 * 0.006, 100 * eps);
  cr_assert_eq(p->num_tets, 5 * 2 * 3 * 4);
  cr_assert_eq(p->num_tris, 2 * 2 * (2 * 3 + 3 * 4 + 4 * 2));
  cr_assert_eq(p->num_edges * 2, p->num_tris * 3);
  cr_assert(v[0] == 1 && v[1] == 2 && v[2] == 3);
  cr_assert_eq(p->num_blocks, 1);
  cr_assert_str_eq(p->blocks[0].type, "tet_arap");
  cr_assert_eq(p->blocks[0].num_elems, p->num_tets);
  free(mass), free(v);
  tiny_close(&t);
}

Test(scene, solids_have_the_model_of_their_key)
{
  tiny_scene t = tiny_open_ok("[solid.a]\nresolution = 2 2 2\nmodel = neohookean\nyoung = 5 kPa\n"
                              "poisson = 0.4\n");
  cr_assert_eq(t.s->pub.num_blocks, 1);
  cr_assert_str_eq(t.s->pub.blocks[0].type, "tet_neohookean");
  loom_real *const mat = tiny_copy(&t, t.s->pub.blocks[0].mat);
  const double mu = 5000 / 2.8, la = 5000 * 0.4 / (1.4 * 0.2);
  cr_assert_float_eq(mat[0], 4 * mu / 3, 1e4 * eps);
  cr_assert_float_eq(mat[1], la + 5 * mu / 6, 1e4 * eps);
  free(mat);
  tiny_close(&t);
  tiny_refused("[solid.a]\nmodel = neohookean\nstiffness = 2e4\n",
               PARTS("tiny.ini:3", "stiffness", "model = arap"));
  tiny_refused("[solid.a]\nyoung = 2e4\n", PARTS("tiny.ini:2", "young", "model = neohookean"));
  tiny_refused("[solid.a]\nmodel = neohook\n", PARTS("tiny.ini:2", "did you mean 'neohookean'"));
}

/* Blocks agree with elem_find's types, their vertices exist, and the rest data fit
 * the rest positions (no object is turned or moved here, so to the last bit). */
static void check_blocks(const tiny_scene *t)
{
  const loom_scene *p = &t->s->pub;
  loom_real *X = tiny_copy(t, p->rest_x);
  for (int b = 0; b < p->num_blocks; ++b) {
    const loom_elem_block *k = &p->blocks[b];
    const elem_type *type = elem_find(k->type);
    cr_assert(type != NULL);
    cr_assert(k->arity == type->arity && k->rest_len == type->rest_len &&
              k->mat_len == type->mat_len && k->caps == type->caps &&
              k->proj_rows == type->proj_rows);
    int32_t *verts = tiny_copy(t, k->verts);
    loom_real *rest = tiny_copy(t, k->rest);
    cr_assert_eq(buf_count(k->verts), k->num_elems * k->arity);
    cr_assert_eq(buf_count(k->rest), k->num_elems * k->rest_len);
    cr_assert_eq(buf_count(k->mat), k->num_elems * k->mat_len);
    for (int e = 0; e < k->num_elems; ++e) {
      double x[3 * ELEM_MAX_ARITY], want[ELEM_MAX_REST];
      for (int a = 0; a < 3 * k->arity; ++a) {
        const int32_t v = verts[k->arity * e + a / 3];
        cr_assert(v >= 0 && v < p->num_verts);
        x[a] = (double)X[3 * v + a % 3];
      }
      cr_assert(type->init_rest(x, want) == NULL);
      for (int r = 0; r < k->rest_len; ++r)
        cr_assert_float_eq(rest[k->rest_len * e + r], want[r],
                           sizeof(loom_real) == 4 ? 1e-3 * (1 + fabs(want[r])) : 0);
    }
    free(verts), free(rest);
  }
  free(X);
}

static const loom_elem_block *find_elem_block(const tiny_scene *t, const char *type)
{
  for (int b = 0; b < t->s->pub.num_blocks; ++b)
    if (strcmp(t->s->pub.blocks[b].type, type) == 0) return &t->s->pub.blocks[b];
  return NULL;
}

Test(scene, models_make_their_blocks_merged_over_objects)
{
  tiny_scene t = tiny_open_ok(
      "[cloth.a]\nresolution = 4 4\nmodel = arap+isometric\npattern = regular\nmembrane = 500 "
      "N/m\nk_b = 2e-4\n"
      "[cloth.b]\nresolution = 3 3\nmodel = stvk+shell\nk0 = 10\nk1 = 1\nk2 = 20\nk3 = 5\nk_e = 7\n"
      "transform = translate 0 0 1\n"
      "[cloth.c]\nresolution = 3 3\nmodel = arap+shell\ntransform = translate 0 0 2\n"
      "[cloth.d]\nresolution = 3 3\nmodel = springs\nk_spring = 3\nk_cross = 2\n"
      "transform = translate 0 0 3\n");
  /* translations along z are exact: x and y, hence rest data, keep their bits */
  check_blocks(&t);
  const loom_elem_block *arap = find_elem_block(&t, "tri_arap"),
                        *stvk = find_elem_block(&t, "tri_stvk");
  cr_assert_eq(arap->num_elems, 18 + 8);
  cr_assert_eq(stvk->num_elems, 8);
  cr_assert_eq(find_elem_block(&t, "hinge_isometric")->num_elems, 33 - 12);
  cr_assert_eq(find_elem_block(&t, "hinge_shell")->num_elems, 2 * (16 - 8));
  cr_assert_eq(find_elem_block(&t, "spring")->num_elems, 16 + 8);
  cr_assert(find_elem_block(&t, "pin") == NULL);
  loom_real *mat = tiny_copy(&t, arap->mat), *four = tiny_copy(&t, stvk->mat);
  cr_assert(mat[0] == 500 && mat[17] == 500 && mat[18] == 200); /* 200: the default */
  cr_assert(four[0] == 10 && four[1] == 1 && four[2] == 20 && four[3] == 5);
  int32_t *verts = tiny_copy(&t, arap->verts);
  cr_assert_eq(verts[3 * 18], 16 + 9); /* the first triangle of c begins at its vertex 0 */
  free(mat), free(four), free(verts);
  tiny_close(&t);
}

/* Words and names of types in any order; blocks stand in the order of their places. */
Test(scene, a_model_is_a_list_of_element_types)
{
  tiny_scene t = tiny_open_ok("[cloth.a]\nresolution = 4 4\nmodel = hinge_shell+arap+springs\n"
                              "k_cross = 0\nk_spring = 7\n");
  check_blocks(&t);
  cr_assert_eq(t.s->pub.num_blocks, 3);
  cr_assert_str_eq(t.s->pub.blocks[0].type, "spring");
  cr_assert_str_eq(t.s->pub.blocks[1].type, "tri_arap");
  cr_assert_str_eq(t.s->pub.blocks[2].type, "hinge_shell");
  cr_assert_eq(t.s->pub.blocks[0].num_elems, 33); /* none across cells */
  tiny_close(&t);
  t = tiny_open_ok("[cloth.a]\nresolution = 4 4\nmodel = arap\n"); /* without bending */
  cr_assert_eq(t.s->pub.num_blocks, 1);
  tiny_close(&t);
  tiny_refused("[cloth.a]\nmodel = arap+\n", PARTS("tiny.ini:2", "'arap+' is no choice"));
  tiny_refused("[cloth.a]\nmodel = arap+tri_arap\n", PARTS("tiny.ini:2", "each once"));
  tiny_refused("[cloth.a]\nmodel = tet_arap\n", PARTS("tiny.ini:2", "loom list elements"));
  tiny_refused("[cloth.a]\nmodel =\n", PARTS("tiny.ini:2", "allowed: arap+isometric|arap+shell"));
  tiny_refused("[cloth.a]\nmodel = stvk+shel\n",
               PARTS("tiny.ini:2: [cloth.a] model: 'stvk+shel' is no choice; did you mean "
                     "'stvk+shell'? Allowed: arap+isometric|arap+shell|"));
}

Test(scene, a_tube_keeps_its_curvature_as_rest_shape)
{
  tiny_scene t = tiny_open_ok("[cloth.leg]\nshape = cylinder\nsize = 0.2 0.4\nresolution = 12 5\n"
                              "model = stvk+shell\n");
  check_blocks(&t);
  const loom_elem_block *h = find_elem_block(&t, "hinge_shell");
  loom_real *rest = tiny_copy(&t, h->rest);
  int curved = 0;
  for (int e = 0; e < h->num_elems; ++e) /* sides of the 12-gon turn by 30 degrees */
    curved += fabs(fabs((double)rest[3 * e + 2]) - 3.14159265358979323846 / 6) < 1e-6;
  cr_assert_eq(curved, 12 * 4);
  free(rest);
  tiny_close(&t);
}

Test(scene, transform_is_applied_from_left_to_right)
{
  tiny_scene t =
      tiny_open_ok("[cloth.a]\nsize = 2\nresolution = 2\n"
                   "transform = translate 1 0 0 scale 2 rotate 0 0 1 90 translate 0 0 5\n");
  loom_real *x = tiny_copy(&t, t.s->x0), *r = tiny_copy(&t, t.s->pub.rest_x);
  /* (-1,-1,0) -> (0,-1,0) -> (0,-2,0) -> (2,0,0) -> (2,0,5) */
  cr_assert_float_eq(x[0], 2, 10 * eps);
  cr_assert_float_eq(x[1], 0, 10 * eps);
  cr_assert_float_eq(x[2], 5, 10 * eps);
  cr_assert_arr_eq(x, r, 12 * sizeof *x);
  free(x), free(r);
  tiny_close(&t);
}

Test(scene, gravity_follows_the_up_axis_unless_given)
{
  tiny_scene t = tiny_open_ok("[cloth.a]\n");
  cr_assert(t.s->gravity[0] == 0 && t.s->gravity[1] == 0 && t.s->gravity[2] == -9.81);
  tiny_close(&t);
  t = tiny_open_ok("[run]\nup_axis = y\n[cloth.a]\n");
  cr_assert(t.s->gravity[1] == -9.81 && t.s->gravity[2] == 0);
  tiny_close(&t);
  t = tiny_open_ok("[run]\ngravity = 0 1 -1.62\n[cloth.a]\n");
  cr_assert(t.s->gravity[1] == 1 && t.s->gravity[2] == -1.62);
  tiny_close(&t);
}

Test(scene, thickness_changes_nothing_but_the_radius)
{
  tiny_scene a = tiny_open_ok("[cloth.a]\nresolution = 5\n");
  tiny_scene b = tiny_open_ok("[cloth.a]\nresolution = 5\nthickness = 0.1\n");
  for (int k = 0; k < a.s->pub.num_blocks; ++k) {
    const loom_elem_block *p = &a.s->pub.blocks[k], *q = &b.s->pub.blocks[k];
    loom_buf *const from[] = {p->verts, p->rest, p->mat}, *const to[] = {q->verts, q->rest, q->mat};
    for (int i = 0; i < 3; ++i) {
      void *u = tiny_copy(&a, from[i]), *v = tiny_copy(&b, to[i]);
      cr_assert_arr_eq(u, v, (size_t)buf_count(from[i]) * buf_type_size(buf_type(from[i])));
      free(u), free(v);
    }
  }
  loom_real *u = tiny_copy(&a, a.s->pub.mass), *v = tiny_copy(&b, b.s->pub.mass);
  cr_assert_arr_eq(u, v, 25 * sizeof *u);
  free(u), free(v);
  tiny_close(&a);
  tiny_close(&b);
}

Test(scene, files_give_cloth_and_notes)
{
  char path[] = "/tmp/loom_cloth_XXXXXX.obj", text[300];
  tiny_file(path, "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n");
  snprintf(text, sizeof text, "[cloth.a]\nshape = obj\nfile = %s\npins = 0 3\n", path);
  tiny_scene t = tiny_open_ok(text);
  cr_assert_eq(t.s->pub.num_tris, 2);
  cr_assert(strstr(t.s->notes, "1 polygons were cut") != NULL, "%s", t.s->notes);
  tiny_close(&t);
  unlink(path);
}

Test(scene, shipped_scenes_build)
{
  static const struct {
    const char *file, *detail;
    int verts, obstacles, fixed;
  } scenes[] = {{"drape.ini", NULL, 2025, 2, 0},
                {"drape_large.ini", NULL, 63001, 2, 0},
                {"hang.ini", NULL, 2601, 0, 2},
                {"hang_fabric.ini", NULL, 2601, 0, 2},
                {"cantilever.ini", NULL, 451, 0, 22}, /* two columns of 11 */
                {"slope.ini", NULL, 36, 1, 0},
                {"flag.ini", NULL, 1617, 1, 33},
                {"drape_self.ini", "1", 2601, 1, 0},
                {"drape_self.ini", "2", 10201, 1, 0},
                {"drape_self.ini", "4", 40401, 1, 0},
                {"collide_sheets.ini", "1", 2592, 0, 0},
                {"collide_sheets.ini", "2", 10082, 0, 0},
                {"stack_sphere.ini", "1", 2560, 1, 0},
                {"stack_sphere.ini", "2", 9610, 1, 0},
                {"fold_desk.ini", "1", 2500, 1, 100},
                {"fold_desk.ini", "2", 9604, 1, 196},
                {"twist.ini", "1", 2528, 0, 64},
                {"twist.ini", "2", 9891, 0, 126},
                {"knot.ini", "1", 2520, 0, 40},
                {"knot.ini", "2", 9538, 0, 76},
                {"funnel.ini", "1", 2601, 1, 0},
                {"funnel.ini", "2", 10201, 1, 0}, /* drawn by springs */
                {"slit.ini", "1", 2601, 2, 0},
                {"slit.ini", "2", 10201, 2, 0}};
  const char *root = getenv("LOOM_SOURCE_DIR");
  if (root == NULL) cr_skip_test("LOOM_SOURCE_DIR is not set");
  for (size_t k = 0; k < sizeof scenes / sizeof *scenes; ++k) {
    char path[600], set[32];
    const char *const sets[] = {set};
    tiny_scene t = {0};
    snprintf(path, sizeof path, "%s/configs/%s", root, scenes[k].file);
    snprintf(set, sizeof set, "run.detail=%s", scenes[k].detail);
    cr_assert_eq(cfg_load(&t.err, path, sets, scenes[k].detail != NULL, &t.c), LOOM_OK, "%s",
                 t.err.text);
    cr_assert_eq(mem_new(&t.err, 0, &t.m), LOOM_OK);
    cr_assert_eq(scene_build(&t.err, t.m, t.c, 1, &t.s), LOOM_OK, "%s", t.err.text);
    const loom_scene *p = &t.s->pub;
    uint8_t *fixed = tiny_copy(&t, p->fixed);
    int count = 0;
    for (int i = 0; i < p->num_verts; ++i) count += fixed[i];
    cr_assert_eq(p->num_verts, scenes[k].verts, "%s, detail %s: %d", path, scenes[k].detail,
                 p->num_verts);
    cr_assert_eq(p->num_obstacles, scenes[k].obstacles, "%s", path);
    cr_assert_eq(count, scenes[k].fixed, "%s, detail %s: %d fixed", path, scenes[k].detail, count);
    free(fixed);
    tiny_close(&t);
  }
}

/* ---- refusals ---- */

Test(scene, refusals_name_place_and_remedy)
{
  tiny_refused("[run]\n", PARTS("tiny.ini", "[cloth.NAME]"));
  tiny_refused("[cloth]\n", PARTS("tiny.ini:1", "needs a name"));
  tiny_refused("[cloth.a]\n[solid.a]\n", PARTS("tiny.ini:2", "taken"));
  tiny_refused("[cloth.a]\nshape = obj\n", PARTS("tiny.ini:2", "needs the key file"));
  tiny_refused("[cloth.a]\ndensity = -1\n", PARTS("tiny.ini:2", "density"));
  tiny_refused("[cloth.a]\ndensity = 0\n", PARTS("tiny.ini:2", "density"));
  tiny_refused("[cloth.a]\nsize = 1 -1\n", PARTS("tiny.ini:2", "size", "above 0"));
  tiny_refused("[cloth.a]\nsize = 1 x 1\n", PARTS("tiny.ini:2", "size"));
  tiny_refused("[cloth.a]\nsize = 1 1 kg\n", PARTS("tiny.ini:2", "size"));
  tiny_refused("[cloth.a]\nresolution = 10 10 10\n", PARTS("tiny.ini:2", "resolution"));
  tiny_refused("[cloth.a]\nresolution = 1.5\n", PARTS("tiny.ini:2", "resolution"));
  tiny_refused("[cloth.a]\nresolution = 1\n", PARTS("tiny.ini:2", "at least"));
  tiny_refused("[cloth.a]\ntransform = turn 1\n", PARTS("tiny.ini:2", "\"turn\"", "rotate"));
  tiny_refused("[cloth.a]\ntransform = scale 0\n", PARTS("tiny.ini:2", "scale"));
  tiny_refused("[cloth.a]\ntransform = rotate 0 0 0 5\n", PARTS("tiny.ini:2", "axis"));
  tiny_refused("[cloth.a]\nmodel = stvk+shell\nk1 = 1e4\n", PARTS("tiny.ini:3", "k0 k2 > k1^2"));
  tiny_refused("[run]\ngravity = down\n[cloth.a]\n", PARTS("tiny.ini:2", "gravity"));
  tiny_refused("[run]\ngravity = 9.81\n[cloth.a]\n", PARTS("tiny.ini:2", "gravity", "three"));
  tiny_refused("[solid.a]\nsize = 1 1\n", PARTS("tiny.ini:2", "three"));
  tiny_refused("[cloth.a]\n[yarn.b]\nshape = box\n", PARTS("tiny.ini:3", "shape"));
  tiny_refused("[cloth.a]\nthicknes = 1\n", PARTS("tiny.ini:2", "thickness"));
  tiny_refused("[cloth.a]\n[body.b]\nradius = 0\n", PARTS("tiny.ini:3", "radius", "above 0"));
  tiny_refused("[cloth.a]\n[body.b]\nmotion = fly\n", PARTS("tiny.ini:3", "motion", "\"fly\""));
  tiny_refused("[cloth.a]\n[body.b]\nmotion = translate 1 2\n", PARTS("tiny.ini:3", "3 numbers"));
  tiny_refused("[cloth.a]\n[body.b]\nmotion = keyframes\n", PARTS("tiny.ini:3", "keyframe_file"));
  tiny_refused("[cloth.a]\n[body.b]\nmotion = keyframes\nkeyframes = 1 0 0 0 0 0 1 0 | 1 0 0 0 0 0 "
               "1 9\n",
               PARTS("tiny.ini:3", "keyframe 1"));
  tiny_refused("[cloth.a]\n[body.b]\nrotation = 1 2 3\n", PARTS("tiny.ini:3", "four numbers"));
}

Test(scene, unreadable_files_are_placed_in_the_config)
{
  static const char *const texts[] = {
      "[cloth.a]\nshape = obj\nfile = /nonexistent.obj\n",
      "[cloth.a]\n[body.b]\nfile = /nonexistent.ply\nshape = mesh\n",
      "[cloth.a]\n[body.b]\nfile = /nonexistent.stl\nshape = mesh\n",
      "[cloth.a]\n[body.b]\nfile = /nonexistent.vtk\nshape = mesh\n",
      "[cloth.a]\n[body.b]\nfile = /nonexistent.sdf\nshape = sdf\n"};
  for (int k = 0; k < 5; ++k) {
    tiny_scene t = tiny_open(texts[k]);
    cr_assert_eq(t.status, LOOM_E_CONFIG);
    cr_assert(strstr(t.err.text, "tiny.ini:3:") != NULL, "%s", t.err.text);
    cr_assert(strstr(t.err.text, "/nonexistent.") != NULL, "%s", t.err.text);
    tiny_close(&t);
  }
}

Test(scene, the_doctor_looks_at_files)
{
  char path[] = "/tmp/loom_bad_XXXXXX.obj", text[300];
  tiny_file(path, "v 0 0 0\nv 1 0 nan\nv 1 1 0\nv 5 5 5\nf 1 2 3\nf 1 3 3\n");
  snprintf(text, sizeof text, "[cloth.a]\nshape = obj\nfile = %s\n", path);
  tiny_refused(text, PARTS(path, "vertex 1:", "triangle 1 (0 2 2)", "vertex 3 belongs to no"));
  snprintf(text, sizeof text, "[cloth.a]\n[body.b]\nshape = mesh\nfile = %s\n", path);
  tiny_refused(text, PARTS(path, "closed"));
  unlink(path);
}

Test(scene, objects_that_intersect_at_the_start_are_named)
{
  tiny_refused("[cloth.a]\nresolution = 4\n[cloth.b]\nresolution = 4\n"
               "transform = rotate 1 0 0 90 translate 0.05 0.03 0.02\n",
               PARTS("[cloth.a]: edge", "[cloth.b]: edge", "intersects triangle", "of [cloth.a]"));
}

Test(scene, every_failing_allocation_is_reported_and_nothing_leaks)
{
  const char text[] = "[cloth.a]\nresolution = 4\npins = corners\n[body.b]\n[solid.s]\n"
                      "resolution = 2 2 2\ntransform = translate 0 0 3\n";
  int failures = 0;
  for (int64_t k = 1;; ++k) {
    tiny_scene t = {0};
    cr_assert_eq(cfg_parse(&t.err, text, "tiny.ini", ".", NULL, 0, &t.c), LOOM_OK);
    cr_assert_eq(mem_new(&t.err, 0, &t.m), LOOM_OK);
    mem_fail_after(t.m, k);
    t.status = scene_build(&t.err, t.m, t.c, 1, &t.s);
    if (t.status != LOOM_OK) {
      cr_assert_eq(t.status, LOOM_E_NOMEM, "%s", t.err.text);
      cr_assert(t.s == NULL && t.err.text[0] != '\0');
      ++failures;
    }
    const int done = t.status == LOOM_OK;
    tiny_close(&t);
    if (done) break;
  }
  cr_assert(failures > 15, "%d", failures);
}
