/* chol_dense.h - the dense work of one front, in parts that its size alone determines.
 *
 * A front of one part takes chol_dense_whole().  Others go from panel to panel of their columns:
 * the square on the diagonal, then the tiles of rows below it, in any order; after the last panel
 * the parts of the update, in any order. */
#ifndef KIT_CHOL_DENSE_H
#define KIT_CHOL_DENSE_H

#include <stddef.h>
#include <stdint.h>

typedef struct chol_dense {
  double *x;      /* [cols][rows], the front's columns of L, lower part */
  double *update; /* see chol_update_column(); rest = rows - cols */
  int rows, cols;
} chol_dense;

enum { CHOL_DENSE_PANEL = 96, CHOL_DENSE_TILE = 120 };

/* Updates are lower triangles, kept by strips of CHOL_DENSE_TILE columns, a strip without the rows
 * above its square.  Doubles of the update, and its column j, which has the rows j .. rest - 1. */
static inline int64_t chol_update_size(int rest)
{
  int64_t size = 0;
  for (int64_t m = rest; m > 0; m -= CHOL_DENSE_TILE)
    size += m * (m < CHOL_DENSE_TILE ? m : CHOL_DENSE_TILE);
  return size;
}
static inline double *chol_update_column(double *update, int rest, int j)
{
  const int64_t strip = j / CHOL_DENSE_TILE, top = strip * CHOL_DENSE_TILE;
  const int64_t begin = strip * rest - strip * (strip - 1) / 2 * CHOL_DENSE_TILE;
  return update + (begin * CHOL_DENSE_TILE + (j - top) * (rest - top) - top);
}

/* Workspace of a thread, doubles. */
size_t chol_dense_work(void);

/* Nonzero: the front is one part.  All of it; returns the first column without a pivot that is a
 * positive number, or cols. */
int chol_dense_is_whole(const chol_dense *f);
int chol_dense_whole(const chol_dense *f, double *work);

int chol_dense_panels(const chol_dense *f);
int chol_dense_tiles(const chol_dense *f, int panel);
int chol_dense_parts(const chol_dense *f); /* of the update */
/* Returns the first column without a pivot that is a positive number, or cols. */
int chol_dense_square(const chol_dense *f, int panel, double *work);
/* Tile k below the square of a panel. */
void chol_dense_rows(const chol_dense *f, int panel, int k, double *work);
void chol_dense_update(const chol_dense *f, int part, double *work);

#endif
