/* `loom ccd`: numbers, list, exit codes and errors of the real binary. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "support/proc.h"

#define TRIANGLE(z, a) "0,1,0,1," z ",1," a "\n1,1,0,1," z ",1," a "\n0,1,1,1," z ",1," a "\n"
/* a vertex falls through a triangle; passes beside it; rests far above it */
#define THROUGH "1,4,1,4,1,1,1\n" TRIANGLE("0", "1") "1,4,1,4,-1,1,1\n" TRIANGLE("0", "1")
#define BESIDE  "3,1,3,1,1,1,0\n" TRIANGLE("0", "0") "3,1,3,1,-1,1,0\n" TRIANGLE("0", "0")
#define WRONG   "3,1,3,1,1,1,1\n" TRIANGLE("0", "1") "3,1,3,1,-1,1,1\n" TRIANGLE("0", "1")

TestSuite(ccd_cmd, .init = proc_enter, .fini = proc_leave);

static void assert_ccd_text(const char *text, const char *part)
{
  cr_assert(strstr(text, part) != NULL, "no '%s' in:\n%s", part, text);
}

Test(ccd_cmd, counts_and_lists)
{
  static const char *const methods[] = {"additive", "cubic", "newton", "partial"};
  proc_write("q.csv", THROUGH BESIDE THROUGH);
  for (int m = 0; m < 4; ++m) {
    proc p;
    double t = -1.0;
    proc_loom(&p, LOOM_ARGS("ccd", "q.csv", "--kind", "vf", "--list", "--method", methods[m]));
    cr_assert_eq(p.code, 0, "%s", p.err);
    assert_ccd_text(p.out, "queries 3\n");
    assert_ccd_text(p.out, "hits 2\n");
    assert_ccd_text(p.out, "false negatives 0\n");
    assert_ccd_text(p.out, "false positives 0\n");
    assert_ccd_text(p.out, "ns per query ");
    assert_ccd_text(p.out, "\n1 0 nan\n");
    cr_assert_eq(strncmp(p.out, "0 1 ", 4), 0, "%s", p.out);
    if (m < 3) cr_assert(sscanf(p.out + 4, "%lf", &t) == 1 && t > 0.4 && t <= 0.5, "%g", t);
  }
}

Test(ccd_cmd, a_missed_impact_is_code_1)
{
  proc p;
  proc_write("q.csv", THROUGH WRONG);
  proc_loom(&p, LOOM_ARGS("ccd", "q.csv", "--kind", "vf"));
  cr_assert_eq(p.code, 1);
  assert_ccd_text(p.out, "false negatives 1\n");
  assert_ccd_text(p.err, "loom: q.csv: additive missed 1 impacts, the first in query 1, line 9");
}

/* 1/3 is no floating-point number: the vertex ends on the triangle, exactly, and that counts. */
Test(ccd_cmd, rounding_hides_no_impact)
{
  proc_write("q.csv",
             "1,3,1,3,5,3,1\n" TRIANGLE("1", "1") "1,3,1,3,1,3,1\n"
                                                  "0,1,0,1,1,3,1\n1,1,0,1,1,3,1\n0,1,1,1,1,3,1\n");
  proc p;
  proc_loom(&p, LOOM_ARGS("ccd", "q.csv", "--kind", "vf", "--method", "cubic"));
  cr_assert_eq(p.code, 0, "%s", p.err);
  assert_ccd_text(p.out, "rounded queries 1\n");
}

Test(ccd_cmd, errors_are_code_2)
{
  proc_write("short.csv", "1,2,3,4,5,6,0\n");
  proc_write("word.csv", "1,2,3,4,5,six,0\n");
  proc_expect_error(2, LOOM_TEXTS("loom: short.csv:1: ", "1 rows instead of 8"),
                    LOOM_ARGS("ccd", "short.csv", "--kind", "ee"));
  proc_expect_error(2, LOOM_TEXTS("loom: word.csv:1: ", "column 6 is not an integer"),
                    LOOM_ARGS("ccd", "word.csv", "--kind", "ee"));
  proc_expect_error(2, LOOM_TEXTS("loom: none.csv: ", "No such file"),
                    LOOM_ARGS("ccd", "none.csv", "--kind", "ee"));
  proc_expect_error(2, LOOM_TEXTS("loom: ccd: say --kind ee or --kind vf"),
                    LOOM_ARGS("ccd", "short.csv"));
  proc_expect_error(2, LOOM_TEXTS("loom: ccd: --kind vt is neither ee nor vf"),
                    LOOM_ARGS("ccd", "short.csv", "--kind", "vt"));
  proc_expect_error(2, LOOM_TEXTS("loom: ccd: --method exact is none of"),
                    LOOM_ARGS("ccd", "short.csv", "--kind", "ee", "--method", "exact"));
  proc_expect_error(2, LOOM_TEXTS("loom: ccd: give one file"), LOOM_ARGS("ccd", "--kind", "ee"));
  proc_expect_error(2, LOOM_TEXTS("loom: ccd: there is no option --knd"),
                    LOOM_ARGS("ccd", "short.csv", "--knd", "ee"));
}
