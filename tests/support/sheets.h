/* sheets.h - flat triangulations of a rectangle for tests of plates. */
#ifndef LOOM_TEST_SHEETS_H
#define LOOM_TEST_SHEETS_H

#include <stdint.h>

enum {
  SHEET_REGULAR,   /* square cells, all cut the same way */
  SHEET_ALTERNATE, /* cut in turn, as `pattern = alternate` */
  SHEET_EQUILATERAL,
  SHEET_DELAUNAY, /* points of a shifted lattice, moved at random */
  SHEET_JITTERED, /* alternate, vertices moved by up to 0.3 cells */
  SHEET_LONG,     /* Delaunay, stretched to 5 times its length */
  SHEET_KINDS
};
extern const char *const sheet_names[SHEET_KINDS];

typedef struct sheet {
  int32_t nv, nt;
  double *X;          /* [nv][2] m */
  int32_t *tris;      /* [nt][3] in the positive sense */
  unsigned char *rim; /* [nv] 1: on the boundary */
  int32_t *ring;      /* [nv] edges from the boundary */
} sheet;

/* About n x ny cells of a rectangle of lx x ly; SHEET_LONG is 5 lx long. */
void sheet_new(sheet *s, int kind, int n, int ny, double lx, double ly);
/* Adds a column of cells before x = 0, `cell` long, to be held as a clamp; its vertices and
 * triangles stand behind all others. */
void sheet_add_column(sheet *s, double cell);
void sheet_free(sheet *s);

#endif
