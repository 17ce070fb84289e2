/* write_sheet.c - prints a triangulation of tests/support/sheets.h as an OBJ file, for figures that
 * measure on the meshes of the tests.
 *
 *   write_sheet KIND N NY LX LY [CELL]
 *
 * KIND: a name of sheet_names; about N x NY cells on LX x LY (m); CELL: length (m) of one more
 * column of cells before x = 0, to be held as a clamp.  A comment per vertex, "# ring K", tells its
 * distance from the boundary in edges. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/sheets.h"

static int find_sheet_kind(const char *name)
{
  for (int k = 0; k < SHEET_KINDS; ++k)
    if (strcmp(name, sheet_names[k]) == 0) return k;
  return -1;
}

int main(int argc, char **argv)
{
  const int kind = argc < 6 || argc > 7 ? -1 : find_sheet_kind(argv[1]);
  const long n = kind < 0 ? 0 : strtol(argv[2], NULL, 10),
             ny = kind < 0 ? 0 : strtol(argv[3], NULL, 10);
  if (n < 1 || ny < 1 || n > 10000 || ny > 10000) {
    fprintf(stderr, "usage: write_sheet KIND N NY LX LY [CELL]\n");
    return 2;
  }
  sheet s;
  sheet_new(&s, kind, (int)n, (int)ny, strtod(argv[4], NULL), strtod(argv[5], NULL));
  if (argc == 7) sheet_add_column(&s, strtod(argv[6], NULL));
  for (int32_t v = 0; v < s.nv; ++v)
    printf("v %.17g %.17g 0\n# ring %d\n", s.X[2 * v], s.X[2 * v + 1], s.ring[v]);
  for (int32_t t = 0; t < s.nt; ++t)
    printf("f %d %d %d\n", s.tris[3 * t] + 1, s.tris[3 * t + 1] + 1, s.tris[3 * t + 2] + 1);
  sheet_free(&s);
  return 0;
}
