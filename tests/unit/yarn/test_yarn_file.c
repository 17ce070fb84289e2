/* yarn_file.c: BCC files and OBJ polylines. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "yarn/yarn_file.h"

static void parse_polylines(const char *text, mesh *m, yarn_set *y)
{
  loom_err err = {0};
  cr_assert_eq(lines_parse(&err, "a.obj", text, strlen(text), m, y), LOOM_OK, "%s", err.text);
}

Test(yarn_file, polylines_open_closed_and_in_any_order)
{
  mesh m;
  yarn_set y;
  parse_polylines(
      "# knit\r\nv 0 0 0\nv 1 0 0 \nv 2 0 0\nl -1 2/5 1\nvn 1 2 3\nv 0 1 0\nv 0 2 0\nv 0 3 1e-3\n"
      "v 9 9 9\nv 0 4 0\ng x\nl 4 5 6 8 4",
      &m, &y);
  cr_assert_eq(y.num_yarns, 2);
  cr_assert_eq(m.num_verts, 7);
  cr_assert(y.first[0] == 0 && y.first[1] == 3 && y.first[2] == 7);
  cr_assert(y.closed[0] == 0 && y.closed[1] == 1);
  cr_assert(m.x[0] == 2 && m.x[6] == 0 && m.x[10] == 1 && m.x[17] == 1e-3 && m.x[19] == 4);
  for (int i = 0; i < 14; ++i) cr_assert_eq(y.loop[i], -1);
  mesh_free(&m);
  yarn_free(&y);
}

static void expect_polyline_refusal(const char *text, const char *place, const char *what)
{
  mesh m;
  yarn_set y;
  loom_err err = {0};
  cr_assert_eq(lines_parse(&err, "a.obj", text, strlen(text), &m, &y), LOOM_E_IO, "%s", text);
  cr_expect(strstr(err.text, place) && strstr(err.text, what), "%s", err.text);
}

Test(yarn_file, bad_polylines_are_named)
{
  expect_polyline_refusal("v 0 0 0\n", "a.obj", "no polylines");
  expect_polyline_refusal("v 0 0\n", "a.obj:1", "three numbers");
  expect_polyline_refusal("v 0 0 0\nv 1 0 0\nl 1 2\n", "a.obj", "2 points");
  expect_polyline_refusal("v 0 0 0\nv 1 0 0\nl 1 2 3\n", "a.obj:3",
                          "names a vertex before its line");
  expect_polyline_refusal("v 0 0 0\nv 1 0 0\nv 2 0 0\nl 1 2 0\n", "a.obj:4",
                          "names a vertex before its line");
  expect_polyline_refusal("v 0 0 0\nv 1 0 0\nv 2 0 0\nl 1 2 x\n", "a.obj:4", "expected a vertex");
  expect_polyline_refusal("v 0 0 0\nv 1 0 0\nv 2 0 0\nl 1 2 1\n", "a.obj:4", "a closed one 4");
  expect_polyline_refusal("v 0 0 0\nv 1 0 0\nv 2 0 0\nl 1 2 3 2\n", "a.obj:4", "one yarn only");
  expect_polyline_refusal("v 0 0 0\nv 1 0 0\nv 2 0 0\nv 3 0 0\nl 1 2 3 4 1 2\n", "a.obj:5",
                          "behind its first");
}

/* ---- chains of segments ---- */

/* An open chain whose segments stand in any order and direction, a closed one, a longer statement
 * that goes on an open one. */
Test(yarn_file, segments_become_chains)
{
  mesh m;
  yarn_set y;
  parse_polylines(
      "v 0 0 0\nv 1 0 0\nv 2 0 0\nv 3 0 0\nv 4 0 0\nv 5 0 0\nv 6 0 0\nv 7 0 0\nv 8 0 0\n"
      "l 3 2\nl 1 2\nl 5 6\nl 6 7\nl 7 8\nl 8 5\nl 3 9 4\n",
      &m, &y);
  static const double want[] = {0, 1, 2, 8, 3, 4, 5, 6, 7};
  cr_assert(y.num_yarns == 2 && m.num_verts == 9);
  cr_assert(y.first[1] == 5 && y.first[2] == 9 && y.closed[0] == 0 && y.closed[1] == 1);
  for (int i = 0; i < 9; ++i) cr_assert_eq(m.x[3 * i], want[i], "point %d: %g", i, m.x[3 * i]);
  mesh_free(&m);
  yarn_free(&y);
}

Test(yarn_file, bad_segments_are_named)
{
#define FOUR "v 0 0 0\nv 1 0 0\nv 2 0 0\nv 3 0 0\n"
  expect_polyline_refusal(FOUR "l 1 2\nl 2 3\nl 2 4\n", "a.obj:7", "yarns have no branches");
  expect_polyline_refusal(FOUR "l 1 2\nl 2 3\nl 2 1\n", "a.obj:7", "stands twice");
  expect_polyline_refusal(FOUR "l 1 2\nl 3 3\n", "a.obj:6", "has 1 points");
  expect_polyline_refusal(FOUR "l 1 2\nl 2 3\nl 3 1\n", "a.obj", "a closed one 4");
}

/* A helix of 60 points, a statement for each segment: one yarn. */
Test(yarn_file, the_helix_of_segments_is_one_yarn)
{
  char path[4096];
  mesh m;
  yarn_set y;
  loom_err err = {0};
  cr_assert(getenv("LOOM_SOURCE_DIR") != NULL);
  snprintf(path, sizeof path, "%s/tests/unit/yarn/cases/yarn_segments.obj",
           getenv("LOOM_SOURCE_DIR"));
  cr_assert_eq(lines_read(&err, path, &m, &y), LOOM_OK, "%s", err.text);
  cr_assert(y.num_yarns == 1 && m.num_verts == 60 && y.closed[0] == 0);
  for (int i = 0; i < 60; ++i) cr_assert_float_eq(m.x[3 * i + 2], 0.004 * i, 1e-9);
  mesh_free(&m);
  yarn_free(&y);
}

/* ---- BCC ---- */

typedef struct bytes {
  char at[512];
  size_t len;
} bytes;

static void append_little_endian(bytes *b, uint64_t v, int num)
{
  for (int k = 0; k < num; ++k) b->at[b->len++] = (char)(v >> (8 * k) & 255);
}

static void put_curve(bytes *b, int count)
{
  append_little_endian(b, (uint32_t)count, 4);
  for (int i = 0; i < 3 * abs(count); ++i) {
    const float x = (float)i * 0.5f;
    uint32_t bits;
    memcpy(&bits, &x, 4);
    append_little_endian(b, bits, 4);
  }
}

static bytes create_bcc_collection(void)
{
  bytes b = {{0}, 8};
  memcpy(b.at,
         "BCC\x44"
         "C0\x03\x02",
         8);
  append_little_endian(&b, 2, 8);
  append_little_endian(&b, 8, 8);
  b.len = BCC_HEADER;
  put_curve(&b, 3);
  put_curve(&b, -5);
  return b;
}

Test(yarn_file, curve_collections)
{
  mesh m;
  yarn_set y;
  loom_err err = {0};
  const bytes b = create_bcc_collection();
  cr_assert_eq(bcc_parse(&err, "a.bcc", b.at, b.len, &m, &y), LOOM_OK, "%s", err.text);
  cr_assert(y.num_yarns == 2 && m.num_verts == 8);
  cr_assert(y.closed[0] == 0 && y.closed[1] == 1 && y.first[1] == 3 && y.first[2] == 8);
  for (int i = 0; i < 24; ++i) cr_assert_eq(m.x[i], 0.5 * (i < 9 ? i : i - 9));
  mesh_free(&m);
  yarn_free(&y);
}

/* Cut anywhere, or with a wrong byte in the header, it is refused and no byte is read beyond. */
Test(yarn_file, damaged_collections_are_refused)
{
  mesh m;
  yarn_set y;
  loom_err err = {0};
  const bytes whole = create_bcc_collection();
  for (size_t len = 0; len < whole.len; ++len) {
    char *cut = malloc(len + 1);
    memcpy(cut, whole.at, len);
    cut[len] = '\0';
    cr_assert_eq(bcc_parse(&err, "a.bcc", cut, len, &m, &y), LOOM_E_IO, "%zu bytes", len);
    free(cut);
  }
  for (int k = 0; k < 7; ++k) {
    bytes b = whole;
    b.at[k] = 1;
    cr_assert_eq(bcc_parse(&err, "a.bcc", b.at, b.len, &m, &y), LOOM_E_IO, "byte %d", k);
  }
  bytes many = whole;
  memset(many.at + 8, 0xff, 8);
  cr_assert_eq(bcc_parse(&err, "a.bcc", many.at, many.len, &m, &y), LOOM_E_IO);
}
