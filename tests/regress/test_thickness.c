/* A scene with more than one thickness within an object is refused: detection and contact would see
 * other gaps.  Two sheets, every third vertex of one four times as thick: the barrier ended in step
 * 24 with an overlap that its bound should have kept away. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "run/run.h"
#include "scene/base/scene_data.h"
#include "support/proc.h"

TestSuite(thickness, .init = proc_enter, .fini = proc_leave);

#define SHEET(name, z)                                                                     \
  "[cloth." name "]\nmodel = arap+isometric\npattern = regular\nshape = grid\nsize = 0.2 " \
  "0.2\nresolution = 14 14\ndensity = 0.2\n"                                               \
  "membrane = 500\nk_b = 1e-5\nthickness = 2 mm\ntransform = translate 0 0 " z "\n"
static const char text[] =
    "[run]\nsteps = 2\ndt = 0.01\n[exec]\nbackend = cpu\n[filter]\nbound = global\n" SHEET(
        "below", "0") SHEET("above", "0.02") "pins = corners\n[solver]\nplugin = pcg_newton\n"
                                             "[collision.self]\nplugin = patch_bvh\n"
                                             "[contact.self]\nplugin = ipc_barrier\n"
                                             "[log]\naudit = off\n";

typedef struct maker {
  cfg *c;
  int32_t every; /* of the upper sheet, four times as thick; 0: none */
} maker;

static loom_status make_two_sheets(void *user, loom_err *err, mem *m, scene_data **out)
{
  const maker *const k = user;
  void *p;
  LOOM_TRY(scene_build(err, m, k->c, SCENE_REFUSE, out));
  loom_buf *const radius = (*out)->pub.radius;
  cr_assert_eq(buf_map(m, NULL, radius, LOOM_RDWR, LOOM_AT_HOST, &p), LOOM_OK);
  loom_real *const r = p;
  for (int32_t i = 14 * 14; k->every > 0 && i < (*out)->pub.num_verts; ++i)
    if (i % k->every == 0) r[i] *= (loom_real)4;
  cr_assert_eq(buf_unmap(m, radius), LOOM_OK);
  return LOOM_OK;
}

static loom_status open_two_sheets(loom_err *err, int32_t every)
{
  maker k = {.every = every};
  run *r = NULL;
  cr_assert_eq(cfg_parse(err, text, "sheets.ini", "", NULL, 0, &k.c), LOOM_OK, "%s", err->text);
  const run_options o = {.command = "test",
                         .steps = -1,
                         .resume_step = -1,
                         .no_log = 1,
                         .make_scene = make_two_sheets,
                         .user = &k};
  const loom_status s = run_open(err, k.c, &o, &r);
  if (s == LOOM_OK) run_close(r, NULL);
  cfg_free(k.c);
  return s;
}

Test(thickness, one_within_an_object)
{
  loom_err fine = {0}, err = {0};
  cr_assert_eq(open_two_sheets(&fine, 0), LOOM_OK, "%s", fine.text);
  cr_assert_eq(open_two_sheets(&err, 3), LOOM_E_CONFIG);
  cr_expect(strstr(err.text, "object 'above' is 0.002 m thick at its first vertex and 0.008 m at "
                             "its vertex 2") != NULL,
            "%s", err.text);
}
