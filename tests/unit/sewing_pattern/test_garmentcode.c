/* Large and hostile specifications of GarmentCode: names are made in time, and written files can
 * be read. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sewing_pattern/garmentcode.h"
#include "sewing_pattern/pattern.h"
#include "support/proc.h"

TestSuite(garmentcode, .init = proc_enter, .fini = proc_leave);

#define PANEL                                                                                    \
  "{\"vertices\":[[0,0],[10,0],[10,10]],\"edges\":[{\"endpoints\":[0,1]},{\"endpoints\":[1,2]}," \
  "{\"endpoints\":[2,0]}]}"

/* `num` panels with names that agree in more letters than a piece's name has. */
static void write_alike(const char *path, int num)
{
  FILE *const f = fopen(path, "w");
  cr_assert(f != NULL);
  fprintf(f, "{\"pattern\":{\"panels\":{");
  for (int k = 0; k < num; ++k)
    fprintf(f, "%s\"a_very_long_name_that_many_panels_begin_with_%d\":" PANEL, k > 0 ? "," : "", k);
  fprintf(f, "},\"stitches\":[");
  for (int k = 0; k + 1 < num; k += 2)
    fprintf(f,
            "%s[{\"panel\":\"a_very_long_name_that_many_panels_begin_with_%d\",\"edge\":0},"
            "{\"panel\":\"a_very_long_name_that_many_panels_begin_with_%d\",\"edge\":0}]",
            k > 0 ? "," : "", k, k + 1);
  fprintf(f, "]}}");
  fclose(f);
}

Test(garmentcode, many_names_alike_are_told_apart_and_read_again)
{
  loom_err err = {0};
  pattern *p;
  write_alike("alike.json", 1200);
  LOOM_FINE("pattern", "alike.json", "-o", "alike.ini");
  cr_assert_eq(pattern_read(&err, "alike.ini", &p), LOOM_OK, "%s", err.text);
  cr_assert(p->num_pieces == 1200 && p->num_seams == 600);
  cr_assert_str_eq(p->pieces[1199].name, "a_very_long_name_that_many_panels_begin_wi_1200");
  cr_assert(p->seams[599].piece[0] == 1198 && p->seams[599].piece[1] == 1199);
  pattern_free(p);
}

Test(garmentcode, a_mark_of_utf_8_is_passed_over)
{
  proc_write("mark.json",
             "\xef\xbb\xbf{\"pattern\":{\"panels\":{\"front\":" PANEL "},\"stitches\":[]}}\r\n");
  LOOM_FINE("pattern", "mark.json", "-o", "mark.ini");
}

Test(garmentcode, more_than_a_pattern_file_holds_is_refused_in_time_and_not_written)
{
  static const int num[] = {2000, 20000};
  static const char *const why[] = {"more than 10000 lines", "bytes; allowed: up to 1048576"};
  proc p;
  for (int k = 0; k < 2; ++k) {
    write_alike("huge.json", num[k]);
#ifdef __SANITIZE_ADDRESS__ /* which takes terabytes of addresses */
    proc_loom(&p, LOOM_ARGS("pattern", "huge.json", "-o", "huge.ini"));
#else
    proc_loom_small(&p, INT64_C(1) << 30, LOOM_ARGS("pattern", "huge.json", "-o", "huge.ini"));
#endif
    cr_assert_eq(p.code, 2, "%d %s", p.code, p.err);
    cr_assert(strstr(p.err, "huge.json: ") != NULL && strstr(p.err, why[k]) != NULL, "%s", p.err);
    cr_assert(!proc_exists("huge.ini"));
  }
}

Test(garmentcode, names_that_numbers_make_are_taken_once)
{
  static const char *const want[] = {"a", "a_2", "a_2_2", "a_3", "p_", "p__2"};
  loom_err err = {0};
  pattern *p;
  proc_write("names.json",
             "{\"pattern\":{\"panels\":{\"a\":" PANEL ",\"A\":" PANEL ",\"a_2\":" PANEL
             ",\"a_3\":" PANEL ",\"-\":" PANEL ",\"_\":" PANEL "}}}");
  LOOM_FINE("pattern", "names.json", "-o", "names.ini");
  cr_assert_eq(pattern_read(&err, "names.ini", &p), LOOM_OK, "%s", err.text);
  cr_assert_eq(p->num_pieces, 6);
  for (int k = 0; k < 6; ++k) cr_expect_str_eq(p->pieces[k].name, want[k]);
  pattern_free(p);
}

Test(garmentcode, the_name_of_the_file_stays_a_comment)
{
  loom_err err = {0};
  pattern *p;
  proc_write("a\n[piece.b]\nc.json", "{\"pattern\":{\"panels\":{\"a\":" PANEL "}}}");
  LOOM_FINE("pattern", "a\n[piece.b]\nc.json", "-o", "out.ini");
  cr_assert_eq(pattern_read(&err, "out.ini", &p), LOOM_OK, "%s", err.text);
  cr_assert_eq(p->num_pieces, 1);
  pattern_free(p);
}

Test(garmentcode, a_pipe_does_not_hold_it_up)
{
  proc p;
  cr_assert_eq(mkfifo("pipe.json", 0600), 0);
  proc_loom(&p, LOOM_ARGS("pattern", "pipe.json", "-o", "out.ini"));
  cr_assert_eq(p.code, 1);
  cr_assert(strstr(p.err, "pipe.json: cannot be read: not a regular file") != NULL, "%s", p.err);
}

/* Edge 2^32 of a panel with three; as an int it is 0. */
Test(garmentcode, a_stitch_of_an_edge_that_a_panel_lacks_is_refused)
{
  static const char *const edges[] = {"4294967296", "3", "-1", "9223372036854775807"};
  for (int k = 0; k < 4; ++k) {
    char text[1024];
    proc p;
    snprintf(text, sizeof text,
             "{\"pattern\":{\"panels\":{\"a\":" PANEL ",\"b\":" PANEL "},\"stitches\":[[{\"panel\":"
             "\"a\",\"edge\":%s},{\"panel\":\"b\",\"edge\":0}]]}}",
             edges[k]);
    proc_write("edge.json", text);
    proc_loom(&p, LOOM_ARGS("pattern", "edge.json", "-o", "edge.ini"));
    cr_assert_eq(p.code, 2, "%s: %d %s", edges[k], p.code, p.err);
    cr_assert(strstr(p.err, "stitch 0 names an edge that is not there") != NULL, "%s", p.err);
    cr_assert(!proc_exists("edge.ini"));
  }
}

/* Without a unit lengths are centimetres; one that is no length is refused, and not taken as one.
 */
Test(garmentcode, a_unit_that_is_none_is_refused)
{
  static const char *const units[] = {"0", "-100", "\"cm\"", "null", "1e400"};
  for (int k = -1; k < 5; ++k) {
    char text[1024];
    proc p;
    snprintf(text, sizeof text,
             "{\"pattern\":{\"panels\":{\"a\":" PANEL "}},\"properties\":{%s%s}}",
             k < 0 ? "" : "\"units_in_meter\":", k < 0 ? "" : units[k]);
    proc_write("unit.json", text);
    proc_loom(&p, LOOM_ARGS("pattern", "unit.json", "-o", "unit.ini"));
    cr_assert_eq(p.code, k < 0 ? 0 : 2, "%d: %s", k, p.err);
    cr_assert(k < 0 || k == 4 || strstr(p.err, "units_in_meter must be a number above 0") != NULL,
              "%s", p.err);
  }
}
