/* test_ccd_queries.c - the reader of query files, and all methods on the public queries. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "audit/ccd_queries.h"
#include "geom/ccd.kern.h"
#include "support/ccd_oracle.h"
#include "support/shared_data.h"

/* ---- reader ---- */
#define ROW   "1,2,-3,4,5,1,0\n"
#define ROWS7 ROW ROW ROW ROW ROW ROW ROW

static loom_status parse_query_text(const char *text, ccd_queries *q, loom_err *err)
{
  memset(err, 0, sizeof *err);
  return ccd_queries_parse(err, "q.csv", text, strlen(text), q);
}

Test(ccd_queries, reads_rationals)
{
  loom_err err;
  ccd_queries q;
  cr_assert_eq(parse_query_text("\r\n" ROWS7
                                " 1 , 3,+2,-4,123456789012345678901234567890,1 , 0\r\n\n",
                                &q, &err),
               LOOM_OK, "%s", err.text);
  cr_assert_eq(q.num, 1);
  cr_assert(q.x0[0] == LK_R(0.5) && q.x0[4] == LK_R(-0.75) && q.x1[8] == LK_R(5.0));
  cr_assert(fabs((double)q.x1[9] - 1.0 / 3.0) <= 0.5 * (double)LK_EPSILON);
  cr_assert(q.x1[10] == LK_R(-0.5) && q.impacts[0] == 0);
  cr_assert_eq(q.rounded, 1);
  /* the largest change is that of 1.2e29: up to an ulp, and stated */
  cr_assert(q.shift[0] > 0 && (double)q.shift[0] <= 3.5 * 1.3e29 * (double)LK_EPSILON, "%g",
            (double)q.shift[0]);
  ccd_queries_free(&q);
  cr_assert_eq(parse_query_text(ROWS7 ROW, &q, &err), LOOM_OK, "%s", err.text);
  cr_assert(q.rounded == 0 && q.shift[0] == LK_R(0.0));
  ccd_queries_free(&q);
}

Test(ccd_queries, names_the_place_of_an_error)
{
  static const struct {
    const char *text, *says;
  } cases[] = {{"", "q.csv:1: no queries"},
               {"\n\n", "q.csv:1: no queries"},
               {ROWS7, "q.csv:7: the query that begins in line 1 has 7 rows"},
               {ROW "1,2,3,4,5\n", "q.csv:2: 5 columns instead of 7"},
               {ROW "1,2,3,4,5,6,0,7\n", "q.csv:2: column 7 is followed by another"},
               {ROW "1,0,3,4,5,6,0\n", "q.csv:2: column 2 is 0, and a denominator"},
               {ROW "1,2,3,4,5,6,2\n", "q.csv:2: column 7 is the known answer"},
               {ROW ROW "1,2,3,4,5,6,1\n", "q.csv:3: column 7 differs from the rows before"},
               {ROW "1,2,3.5,4,5,6,0\n", "q.csv:2: column 3 is not an integer"},
               {ROW "1,2,,4,5,6,0\n", "q.csv:2: column 3 is not an integer"},
               {ROW "1,2,- 3,4,5,6,0\n", "q.csv:2: column 3 is not an integer"},
               {ROW "\n" ROWS7, "q.csv:2: column 1 is not an integer"},
               {ROW "nan,2,3,4,5,6,0\n", "q.csv:2: column 1 is not an integer"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    loom_err err;
    ccd_queries q;
    cr_assert_eq(parse_query_text(cases[i].text, &q, &err), LOOM_E_CONFIG, "case %zu", i);
    cr_assert(strncmp(err.text, cases[i].says, strlen(cases[i].says)) == 0, "'%s', not '%s'",
              err.text, cases[i].says);
    cr_assert(q.x0 == NULL && q.num == 0);
  }
}

Test(ccd_queries, refuses_numbers_out_of_range)
{
  loom_err err;
  ccd_queries q;
  char text[4096];
  memset(text, '9', sizeof text);
  text[1500] = '\0';
  strcat(text, ",1,0,1,0,1,0\n");
  cr_assert_eq(parse_query_text(text, &q, &err), LOOM_E_CONFIG);
  cr_assert(strstr(err.text, "q.csv:1: column 2 makes a quotient too large") != NULL, "%s",
            err.text);
  memset(text, '9', sizeof text);
  text[sizeof text - 1] = '\0';
  cr_assert_eq(parse_query_text(text, &q, &err), LOOM_E_CONFIG);
  cr_assert(strstr(err.text, "q.csv:1: column 1 has more than 2000 digits") != NULL, "%s",
            err.text);
}

Test(ccd_queries, missing_file)
{
  loom_err err = {0};
  ccd_queries q;
  cr_assert_eq(ccd_queries_read(&err, "/nonexistent/q.csv", &q), LOOM_E_CONFIG);
  cr_assert(strstr(err.text, "/nonexistent/q.csv: No such file") != NULL, "%s", err.text);
}

/* ---- public queries ----
 */
static const char *const files[] = {"ccd/erleben-spike-hole/vertex-face/data_0_0.csv",
                                    "ccd/erleben-spikes/vertex-face/data_0_0.csv",
                                    "ccd/erleben-spikes/vertex-face/data_0_1.csv",
                                    "ccd/unit-tests/vertex-face/data_0_0.csv",
                                    "ccd/unit-tests/vertex-face/data_0_1.csv",
                                    "ccd/erleben-spike-hole/edge-edge/data_0_0.csv",
                                    "ccd/erleben-spikes/edge-edge/data_0_0.csv",
                                    "ccd/erleben-spikes/edge-edge/data_0_1.csv",
                                    "ccd/unit-tests/edge-edge/data_0_0.csv",
                                    "ccd/unit-tests/edge-edge/data_0_1.csv"};
enum { NUM_FILES = sizeof files / sizeof files[0] };

static void read_shared_queries(const char *name, ccd_queries *q)
{
  char path[1024];
  loom_err err = {0};
  if (!shared_data(name, path, sizeof path))
    cr_skip_test("%s is not there (LOOM_SHARED_DATA, or ../shared/data)", name);
  cr_assert_eq(ccd_queries_read(&err, path, q), LOOM_OK, "%s", err.text);
}

Test(ccd_queries, no_public_impact_is_missed)
{
  static const char *const names[] = {"additive", "cubic", "newton"};
  for (int f = 0; f < NUM_FILES; ++f) {
    const int kind = strstr(files[f], "vertex-face") != NULL ? CCD_VT : CCD_EE;
    ccd_queries q;
    read_shared_queries(files[f], &q);
    printf("%-48s %5lld queries", files[f] + 4, (long long)q.num);
    for (int m = CCD_ADDITIVE; m <= CCD_NEWTON; ++m) {
      int64_t missed = 0, extra = 0;
      for (int64_t k = 0; k < q.num; ++k) {
        ccd_settings s = ccd_defaults();
        s.xi = q.shift[k];
        s.hold = 0;
        const int hit = ccd_toi(m, kind, q.x0 + 12 * k, q.x1 + 12 * k, &s) <= LK_R(1.0);
        missed += q.impacts[k] && !hit;
        extra += !q.impacts[k] && hit;
      }
      printf(" %s +%lld", names[m], (long long)extra);
      cr_assert_eq(missed, 0, "%s: %s missed %lld", files[f], names[m], (long long)missed);
    }
    printf("\n");
    ccd_queries_free(&q);
  }
}

/* The known answers, found by others for the exact queries, equal the test oracle's: they
 * check each other.  Only with doubles, to which most of these rationals convert exactly. */
Test(ccd_queries, public_answers_equal_the_oracle)
{
  if (sizeof(loom_real) < 8) cr_skip_test("float coordinates are other queries");
  for (int f = 0; f < NUM_FILES; ++f) {
    const int kind = strstr(files[f], "vertex-face") != NULL ? ORACLE_VT : ORACLE_EE;
    ccd_queries q;
    read_shared_queries(files[f], &q);
    for (int64_t k = 0; k < q.num; ++k) {
      double x0[12], x1[12], range[2];
      for (int i = 0; i < 12; ++i) x0[i] = q.x0[12 * k + i], x1[i] = q.x1[12 * k + i];
      if (q.shift[k] == LK_R(0.0))
        cr_expect_eq(oracle_contact(kind, x0, x1, range), q.impacts[k], "%s: query %lld", files[f],
                     (long long)k);
    }
    ccd_queries_free(&q);
  }
}
