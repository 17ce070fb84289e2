/* A setting that asks for a capability is refused where it is absent: `loom check` names the key,
 * the plugins and the remedy.  Where it is there, the run says that it is in force. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "regress/drape.h"
#include "support/proc.h"

TestSuite(asked, .init = proc_enter, .fini = proc_leave);

#define BODIES   "[collision.bodies]\nplugin = sdf\n"
#define MESH(it) "[collision.self]\nplugin = " it "\n"
#define BARRIER  BODIES "[contact.all]\nplugin = ipc_barrier\n"
#define PENALTY  "[contact.all]\nplugin = penalty\ncollision = bodies\npairs = obstacle\n"
#define NO_PAIRS "[collision.off]\nplugin = none\n[contact.none]\nplugin = none\n"
#define NEWTON   "[solver]\nplugin = pcg_newton\n"
#define YARN                                                                                       \
  "[run]\nsteps = 1\n[yarn.swatch]\npattern = stockinette\nrows = 4\nloops = 5\n[solver]\nplugin " \
  "= "                                                                                             \
  "yarn_explicit\n"
#define VERTEX    "[filter]\nbound = vertex\n"
#define CHECK(it) LOOM_ARGS("check", it)

static void expect_refusal_of_check(const char *text, const char *const *texts)
{
  char scene[4096];
  snprintf(scene, sizeof scene, "%s%s%s", DRAPE_RUN DRAPE_EXEC DRAPE_SHEET, DRAPE_BODIES, text);
  proc_write("bad.ini", scene);
  proc_expect_error(2, texts, CHECK("bad.ini"));
}

static void expect_check_output(const char *text, const char *said)
{
  char scene[4096];
  proc p;
  snprintf(scene, sizeof scene, "%s%s%s", DRAPE_RUN DRAPE_EXEC DRAPE_SHEET, DRAPE_BODIES, text);
  proc_write("good.ini", scene);
  proc_loom(&p, CHECK("good.ini"));
  cr_expect_eq(p.code, 0, "%s", p.err);
  cr_expect(strstr(p.out, said) != NULL, "no '%s' in:\n%s", said, p.out);
}

Test(asked, a_bound_per_vertex_is_one_of_every_plugin_that_bounds)
{
  static const char *const mesh[] = {MESH("bvtt_front"), MESH("patch_bvh")};
  char text[1024];
  expect_refusal_of_check(MESH("brute") NEWTON VERTEX BARRIER,
                          LOOM_TEXTS("loom: bad.ini:", "[filter] bound: [collision.self] 'brute'",
                                     "gives a global step bound and no step bound per vertex",
                                     "set bound = global", "bvtt_front, patch_bvh, sdf"));
  expect_refusal_of_check(BODIES MESH("brute") NEWTON VERTEX PENALTY, /* a part of it */
                          LOOM_TEXTS("[filter] bound: [collision.self]", "set bound = global"));
  for (int k = 0; k < 2; ++k) {
    snprintf(text, sizeof text, "%s" NEWTON VERTEX BARRIER, mesh[k]);
    expect_check_output(text, "bound per vertex");
  }
  expect_check_output(BODIES NEWTON VERTEX PENALTY, "bound per vertex");
  expect_check_output(MESH("bvtt_front") NEWTON BARRIER, "bound global");
}

Test(asked, a_bound_comes_from_some_plugin)
{
  static const char *const bound[] = {"vertex", "global"};
  char text[1024];
  for (int k = 0; k < 2; ++k) {
    snprintf(text, sizeof text, NO_PAIRS NEWTON "[filter]\nbound = %s\n", bound[k]);
    expect_refusal_of_check(text,
                            LOOM_TEXTS("[filter] bound: [collision.off] 'none' gives no bound",
                                       "set bound = none", "sdf"));
  }
  expect_refusal_of_check(
      "[contact.none]\nplugin = none\n" NEWTON VERTEX,
      LOOM_TEXTS("[filter] bound: no [collision.NAME] section has a plugin with a step bound per "
                 "vertex"));
}

Test(asked, other_keys_of_filter_and_run)
{
  expect_refusal_of_check(MESH("bvtt_front") NEWTON BARRIER
                          "[filter]\ngo_on = trial\nwhen = every\n",
                          LOOM_TEXTS("[filter] go_on: ", "when = advice and bound = global"));
  expect_check_output(MESH("bvtt_front") NEWTON BARRIER "[filter]\ngo_on = trial\nwhen = advice\n",
                      "iterates go on beyond");
  proc_write("yarn.ini",
             YARN "[collision.yarns]\nplugin = yarn_grid\n[contact.all]\nplugin = acl\n");
  proc_expect_error(2,
                    LOOM_TEXTS("[filter] line_search: [contact.all] 'acl' has no contact energy",
                               "line_search = off"),
                    LOOM_ARGS("check", "yarn.ini", "--set", "filter.line_search=on"));
  expect_check_output(BODIES NEWTON PENALTY "[filter]\nline_search = on\n", "line search on");
  proc_expect_error(2, LOOM_TEXTS("[run] forwarding: iterate", "[filter] bound = global"),
                    LOOM_ARGS("check", "good.ini", "--set", "run.forwarding=iterate"));
  proc_expect_error(2, LOOM_TEXTS("[run] forwarding_below: waits", "[filter] bound = global"),
                    LOOM_ARGS("check", "good.ini", "--set", "run.forwarding=paper", "--set",
                              "run.forwarding_below=0.5"));
}

/* Configs of older versions name the only scheme. */
Test(asked, scheme_of_older_configs)
{
  char scene[4096];
  proc p;
  snprintf(scene, sizeof scene, "%s",
           DRAPE_RUN
           "scheme = backward_euler\n" DRAPE_EXEC DRAPE_SHEET DRAPE_BODIES BODIES NEWTON PENALTY);
  proc_write("old.ini", scene);
  proc_loom(&p, CHECK("old.ini"));
  cr_expect_eq(p.code, 0, "%s", p.err);
  cr_expect(strstr(p.out, "[run] scheme is the only scheme and no key any more") != NULL ||
                strstr(p.err, "[run] scheme is the only scheme and no key any more") != NULL,
            "no note in:\n%s%s", p.out, p.err);
  cr_expect(strstr(p.out, "scheme =") == NULL, "%s", p.out);
  proc_expect_error(2, LOOM_TEXTS("[run] scheme: the key is no more", "backward Euler"),
                    LOOM_ARGS("check", "old.ini", "--set", "run.scheme=bdf2"));
}

Test(asked, fields_that_a_scene_cannot_have)
{
  expect_refusal_of_check("[contact.none]\nplugin = none\n" NEWTON "[log]\nfields = strain gap\n",
                          LOOM_TEXTS("[log] fields: no contact model", "leave gap out"));
  expect_check_output(BODIES NEWTON PENALTY "[log]\nfields = strain gap\n", "schedule");
  proc_write("yarn.ini", YARN "[contact.none]\nplugin = none\n[log]\nfields = strain\n");
  proc_expect_error(2, LOOM_TEXTS("yarn.ini:", "[log] fields: the scene has no triangles"),
                    CHECK("yarn.ini"));
}
