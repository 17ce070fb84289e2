/* Islands: which objects of a scene belong to one problem, in a step and after a resume. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "run/run_state.h"
#include "run/step/filter_bound.h"
#include "run/step/step.h"
#include "support/proc.h"

TestSuite(islands, .init = proc_enter_memory, .fini = proc_leave);

#define SHEET(name, more)                                                                        \
  "[cloth." name "]\nmodel = arap+isometric\npattern = regular\nsize = 0.1 0.1\nresolution = 4 " \
  "4\ndensity = 0.2\nmembrane = 300\n"                                                           \
  "k_b = 1e-5\nthickness = 1 mm\n" more "\n"
#define METHOD                                                                               \
  "[run]\ndt = 0.01\nsteps = 3\n[solver]\nplugin = cholmod_newton\n[collision.c]\nplugin = " \
  "patch_bvh\n[contact.c]\nplugin = penalty\nmargin = 5 mm\n[log]\naudit = off\n"

/* a is pinned, so that steps have iterations.  Makes `steps` steps and returns the number of
 * islands in the last one. */
static int32_t count_islands(const char *text, int64_t steps)
{
  loom_err err = {0};
  cfg *c = NULL;
  run *r = NULL;
  const run_options o = {.steps = -1, .resume_step = -1, .no_log = 1};
  cr_assert_eq(cfg_parse(&err, text, "test.ini", "/tmp", NULL, 0, &c), LOOM_OK, "%s", err.text);
  cr_assert_eq(run_open(&err, c, &o, &r), LOOM_OK, "%s", err.text);
  for (int64_t k = 0; k < steps; ++k) cr_assert_eq(step_once(r, k), LOOM_OK, "%s", err.text);
  const int32_t num = r->islands.num;
  run_close(r, NULL);
  cfg_free(c);
  return num;
}

Test(islands, are_objects_that_cannot_touch)
{
  cr_expect_eq(count_islands(METHOD SHEET("a", "pins = corners"), 1), 1);
  cr_expect_eq(count_islands(METHOD SHEET("a", "pins = corners")
                                 SHEET("b", "transform = translate 2 0 0"),
                             1),
               2);
  cr_expect_eq(count_islands(METHOD SHEET("a", "pins = corners")
                                 SHEET("b", "transform = translate 2 0 0")
                                     SHEET("c", "transform = translate 0 0.05 2"),
                             1),
               3);
  /* c reaches from a to b */
  cr_expect_eq(count_islands(METHOD SHEET("a", "pins = corners")
                                 SHEET("b", "transform = translate 0.3 0 0")
                                     SHEET("c", "transform = scale 6 translate 0 0 0.003"),
                             1),
               1);
}

/* Contact asks for pairs up to 5 mm beyond the radii, 1 mm. */
Test(islands, merge_where_contact_reaches)
{
  cr_expect_eq(count_islands(METHOD SHEET("a", "pins = corners")
                                 SHEET("b", "transform = translate 0.1055 0 0"),
                             1),
               1);
  cr_expect_eq(count_islands(METHOD SHEET("a", "pins = corners")
                                 SHEET("b", "transform = translate 0.1075 0 0"),
                             1),
               2);
}

/* Every point of a step counts: b passes above a within it. */
Test(islands, merge_on_the_way)
{
  cr_expect_eq(count_islands(METHOD SHEET("a", "pins = corners")
                                 SHEET("b", "transform = translate 0 0 0.2\n"
                                            "velocity = 0 0 -30"),
                             1),
               1);
  cr_expect_eq(count_islands(METHOD SHEET("a", "pins = corners")
                                 SHEET("b", "transform = translate 0 0 0.2\n"
                                            "velocity = 0 0 30"),
                             2),
               2);
}

Test(islands, are_at_most_eight)
{
  char text[8192] = METHOD;
  for (int k = 0; k < 11; ++k)
    snprintf(text + strlen(text), sizeof text - strlen(text),
             SHEET("s%d", "transform = translate %d 0 0"), k, k);
  cr_expect_eq(count_islands(text, 1), LOOM_ISLANDS_MOST);
}

/* Both sheets go down by 0.1 m.  b meets a box on its way, 40 mm below it, and a goes all the way.
 */
Test(islands, have_step_bounds_of_their_own)
{
  loom_err err = {0};
  cfg *c = NULL;
  run *r = NULL;
  void *to, *at;
  double toi = 1.0;
  const run_options o = {.steps = -1, .resume_step = -1, .no_log = 1};
  cr_assert_eq(cfg_parse(&err,
                         METHOD "[collision.b]\nplugin = sdf\n[contact.d]\nplugin = ipc_barrier\n"
                                "[body.box]\nshape = box\nsize = 0.4 0.4 0.2\n"
                                "position = 2 0 -0.14\n" SHEET("a", "pins = corners")
                                    SHEET("b", "transform = translate 2 0 0"),
                         "test.ini", "/tmp", NULL, 0, &c),
               LOOM_OK, "%s", err.text);
  cr_assert_eq(run_open(&err, c, &o, &r), LOOM_OK, "%s", err.text);
  cr_assert_eq(step_once(r, 0), LOOM_OK, "%s", err.text);
  cr_assert_eq(buf_copy(r->m, &r->exec, r->st.trial, r->st.x), LOOM_OK);
  cr_assert_eq(buf_map(r->m, NULL, r->st.trial, LOOM_RDWR, LOOM_AT_HOST, &to), LOOM_OK);
  for (int i = 0; i < 32; ++i) ((loom_real *)to)[3 * i + 2] -= (loom_real)0.1;
  cr_assert_eq(buf_unmap(r->m, r->st.trial), LOOM_OK);
  cr_assert_eq(filter_ask_islands(r, r->st.x, r->st.trial, &toi), LOOM_OK, "%s", err.text);
  cr_expect(toi > 0.2 && toi < 0.5, "%g", toi);
  cr_expect_eq(r->islands.share[0], 1.0, "%g", r->islands.share[0]);
  cr_expect_eq(r->islands.share[1], toi, "%g", r->islands.share[1]);
  cr_assert_eq(filter_blend_islands(r, r->st.x, r->st.trial, toi, r->buf.rejected), LOOM_OK);
  cr_assert_eq(buf_map(r->m, NULL, r->buf.rejected, LOOM_READ, LOOM_AT_HOST, &to), LOOM_OK);
  cr_assert_eq(buf_map(r->m, NULL, r->st.x, LOOM_READ, LOOM_AT_HOST, &at), LOOM_OK);
  for (int i = 0; i < 32; ++i)
    cr_expect_float_eq(((loom_real *)at)[3 * i + 2] - ((loom_real *)to)[3 * i + 2],
                       i < 16 ? 0.1 : 0.1 * toi, 1e-6, "vertex %d", i);
  cr_assert_eq(buf_unmap(r->m, r->st.x), LOOM_OK);
  cr_assert_eq(buf_unmap(r->m, r->buf.rejected), LOOM_OK);
  run_close(r, NULL);
  cfg_free(c);
}

/* A stitch between objects: here a triangle of a with a vertex of b. */
Test(islands, are_joined_by_elements)
{
  loom_err err = {0};
  cfg *c = NULL;
  run *r = NULL;
  void *verts;
  const run_options o = {.steps = -1, .resume_step = -1, .no_log = 1};
  cr_assert_eq(cfg_parse(&err,
                         METHOD SHEET("a", "") SHEET("b", "transform = translate 2 0 0")
                             SHEET("c", "transform = translate 4 0 0"),
                         "test.ini", "/tmp", NULL, 0, &c),
               LOOM_OK, "%s", err.text);
  cr_assert_eq(run_open(&err, c, &o, &r), LOOM_OK, "%s", err.text);
  islands_begin_step(r);
  cr_expect_eq(r->islands.num, 3);
  const loom_elem_block *const b = &r->scene->pub.blocks[0];
  cr_assert_eq(buf_map(r->m, NULL, b->verts, LOOM_RDWR, LOOM_AT_HOST, &verts), LOOM_OK);
  ((int32_t *)verts)[0] = r->scene->pub.num_verts - 1;
  cr_assert_eq(buf_unmap(r->m, b->verts), LOOM_OK);
  islands_free(r);
  cr_assert_eq(islands_new(r), LOOM_OK);
  islands_begin_step(r);
  cr_expect_eq(r->islands.num, 2);
  cr_expect_eq(r->islands.of[0], r->islands.of[2]);
  cr_expect_neq(r->islands.of[0], r->islands.of[1]);
  run_close(r, NULL);
  cfg_free(c);
}
