/* chol_dense.c - see chol_dense.h.
 *
 * The arithmetic is here and not in a BLAS, since OpenBLAS without threads may not be called by
 * several threads at once: its buffers have no lock.  Operands lie in packs: groups of GROUP rows,
 * a group column by column, filled up with zeros.  The product of a group with WIDE rows stays in
 * registers; WIDE divides GROUP, so that one pack serves as either operand. */
#include "kit/chol_dense.h"

#include <float.h>
#include <math.h>
#include <string.h>
#ifdef __FMA__
#include <immintrin.h>
#endif

enum { GROUP = 12, WIDE = 4, LANES = 4, VECTORS = GROUP / LANES };
/* Fronts up to the small sizes are one part.  From half to twice these sizes, and the sizes of
 * panels and tiles, the time of one thread is the same. */
enum { PANEL = CHOL_DENSE_PANEL, TILE = CHOL_DENSE_TILE, SMALL_COLS = 144, SMALL_ROWS = 264 };
enum { PACK_COLS = SMALL_COLS }; /* room of a pack */

typedef double lanes __attribute__((vector_size(LANES * sizeof(double)), aligned(8), may_alias));

typedef struct tile { /* v[j]: GROUP rows of column j */
  lanes v[WIDE][VECTORS];
} tile;

static int min_int(int a, int b) { return a < b ? a : b; }
static int round_to_groups(int rows) { return (rows + GROUP - 1) / GROUP * GROUP; }

/* ---- products ---- */

/* For some processors GCC reads a vector from memory in each of its products, which takes a third
 * longer. */
#ifdef __FMA__
#define KEEP_LOADED(a, b, c) __asm__("" : "+x"(a), "+x"(b), "+x"(c))
#else
#define KEEP_LOADED(a, b, c) (void)0
#endif

static inline lanes multiply_add(lanes a, lanes b, lanes c)
{
#ifdef __FMA__
  return (lanes)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#else
  return a * b + c;
#endif
}

/* A group of rows, or WIDE rows within a group, from row i on. */
static inline double *find_pack_row(double *pack, int i)
{
  return pack + (size_t)(i / GROUP) * (GROUP * PACK_COLS) + i % GROUP;
}

/* Column q of a group at a, times row q of the WIDE rows at b, summed over `cols` columns. */
static inline tile multiply_groups(int cols, const double *a, const double *b)
{
  tile t = {{{{0}}}};
  for (int k = 0; k < cols; ++k, a += GROUP, b += GROUP) {
    lanes a0 = *(const lanes *)a, a1 = *(const lanes *)(a + LANES),
          a2 = *(const lanes *)(a + 2 * LANES);
    KEEP_LOADED(a0, a1, a2);
#pragma GCC unroll 4
    for (int j = 0; j < WIDE; ++j) {
      const lanes s = {b[j], b[j], b[j], b[j]};
      t.v[j][0] = multiply_add(a0, s, t.v[j][0]);
      t.v[j][1] = multiply_add(a1, s, t.v[j][1]);
      t.v[j][2] = multiply_add(a2, s, t.v[j][2]);
    }
  }
  return t;
}

static void pack_rows(const double *x, int ld, int rows, int cols, double *pack)
{
  for (int i = 0; i < rows; i += GROUP) {
    const int height = min_int(GROUP, rows - i);
    double *to = find_pack_row(pack, i);
    const double *from = x + i;
    for (int k = 0; k < cols; ++k, to += GROUP, from += ld) {
      if (height == GROUP)
        memcpy(to, from, GROUP * sizeof *to);
      else
        for (int r = 0; r < GROUP; ++r) to[r] = r < height ? from[r] : 0.0;
    }
  }
}

/* c := c - t for the first `height` rows and `wide` columns; rows above `first` + column are left
 * alone. */
static inline void subtract_tile(double *c, int ld, const tile *t, int first, int height, int wide)
{
  if (height == GROUP && wide == WIDE && first <= 1 - WIDE) {
#pragma GCC unroll 4
    for (int q = 0; q < WIDE; ++q)
#pragma GCC unroll 3
      for (int p = 0; p < VECTORS; ++p)
        *(lanes *)(c + (size_t)q * (size_t)ld + p * LANES) -= t->v[q][p];
    return;
  }
  const double *const s = (const double *)t;
  for (int q = 0; q < wide; ++q)
    for (int r = first + q > 0 ? first + q : 0; r < height; ++r)
      c[(size_t)q * (size_t)ld + r] -= s[q * GROUP + r];
}

/* c := c - a b' of the packs a [height], b [width]; if these are one pack, the lower half of it. */
static void subtract_product(double *c, int ld, int height, int width, int cols, double *a,
                             double *b)
{
  for (int j = 0; j < width; j += WIDE) {
    const double *const right = find_pack_row(b, j);
    for (int i = a == b ? j / GROUP * GROUP : 0; i < height; i += GROUP) {
      const tile t = multiply_groups(cols, find_pack_row(a, i), right);
      subtract_tile(c + (size_t)j * (size_t)ld + i, ld, &t, a == b ? j - i : -WIDE,
                    min_int(GROUP, height - i), min_int(WIDE, width - j));
    }
  }
}

/* ---- columns of L ---- */

typedef struct corner {                /* WIDE rows and columns of L on its diagonal */
  double l[WIDE][WIDE], inverse[WIDE]; /* lower part; of the diagonal */
} corner;

/* The tile of the matrix at x less that of the product of a and b, see multiply_groups(); zero
 * outside of the first `height` rows and `wide` columns. */
static inline tile load_remainder(const double *x, int ld, int height, int wide, int cols,
                                  const double *a, const double *b)
{
  tile t = multiply_groups(cols, a, b);
  if (height == GROUP && wide == WIDE) {
#pragma GCC unroll 4
    for (int q = 0; q < WIDE; ++q)
#pragma GCC unroll 3
      for (int p = 0; p < VECTORS; ++p)
        t.v[q][p] = *(const lanes *)(x + (size_t)q * (size_t)ld + p * LANES) - t.v[q][p];
    return t;
  }
  double *const s = (double *)&t;
  for (int q = 0; q < WIDE; ++q)
    for (int r = 0; r < GROUP; ++r)
      s[q * GROUP + r] =
          q < wide && r < height ? x[(size_t)q * (size_t)ld + r] - s[q * GROUP + r] : 0.0;
  return t;
}

/* Rows of L: the tile times the inverse of the transposed corner. */
static inline void eliminate_corner(tile *t, const corner *k)
{
#pragma GCC unroll 4
  for (int j = 0; j < WIDE; ++j)
#pragma GCC unroll 3
    for (int p = 0; p < VECTORS; ++p) {
      lanes v = t->v[j][p];
      for (int q = 0; q < j; ++q) v -= t->v[q][p] * k->l[j][q];
      t->v[j][p] = v * k->inverse[j];
    }
}

/* Stores the tile in x and in its pack; rows above `first` + column are zero in the pack and left
 * alone in x. */
static inline void store_tile(const tile *t, int first, int height, int wide, double *x, int ld,
                              double *pack)
{
  const double *const s = (const double *)t;
  if (height == GROUP && wide == WIDE && first <= 1 - WIDE) {
#pragma GCC unroll 4
    for (int q = 0; q < WIDE; ++q)
#pragma GCC unroll 3
      for (int p = 0; p < VECTORS; ++p) {
        *(lanes *)(x + (size_t)q * (size_t)ld + p * LANES) = t->v[q][p];
        *(lanes *)(pack + q * GROUP + p * LANES) = t->v[q][p];
      }
    return;
  }
  for (int q = 0; q < wide; ++q)
    for (int r = 0; r < GROUP; ++r) {
      pack[q * GROUP + r] = r < first + q ? 0.0 : s[q * GROUP + r];
      if (r >= first + q && r < height) x[(size_t)q * (size_t)ld + r] = s[q * GROUP + r];
    }
}

/* The corner at row `at` of the tile.  Returns the first column without a positive pivot, or
 * wide. */
static int factorise_corner(const tile *t, int at, int wide, corner *k)
{
  const double *const s = (const double *)t + at; /* [WIDE][GROUP] */
  *k = (corner){0};
  for (int j = 0; j < wide; ++j) {
    double pivot = s[j * GROUP + j];
    for (int q = 0; q < j; ++q) pivot -= k->l[j][q] * k->l[j][q];
    if (!(pivot > 0.0 && pivot <= DBL_MAX)) return j;
    k->l[j][j] = sqrt(pivot);
    k->inverse[j] = 1.0 / k->l[j][j];
    for (int i = j + 1; i < wide; ++i) {
      double v = s[j * GROUP + i];
      for (int q = 0; q < j; ++q) v -= k->l[i][q] * k->l[j][q];
      k->l[i][j] = v * k->inverse[j];
    }
  }
  return wide;
}

static corner load_corner(const double *x, int ld, int wide)
{
  corner k = {0};
  for (int q = 0; q < wide; ++q) {
    for (int r = 0; r <= q; ++r) k.l[q][r] = x[(size_t)r * (size_t)ld + q];
    k.inverse[q] = 1.0 / k.l[q][q];
  }
  return k;
}

/* Columns j .. j + wide - 1 of L for the rows of x from `begin` on, where the columns before j are
 * known; `right`: the rows of the corner in a pack. */
static void solve_columns(double *x, int ld, int begin, int rows, int j, int wide, const corner *k,
                          const double *right, double *pack)
{
  for (int i = begin; i < rows; i += GROUP) {
    const int height = min_int(GROUP, rows - i);
    double *const group = find_pack_row(pack, i), *const at = x + (size_t)j * (size_t)ld + i;
    tile t = load_remainder(at, ld, height, wide, j, group, right);
    eliminate_corner(&t, k);
    store_tile(&t, -WIDE, height, wide, at, ld, group + j * GROUP);
  }
}

/* The first `cols` columns of `rows` rows of L, and their pack.  Returns the first column without a
 * positive pivot, or cols. */
static int factorise_columns(double *x, int ld, int rows, int cols, double *pack)
{
  for (int j = 0; j < cols; j += WIDE) {
    const int wide = min_int(WIDE, cols - j), top = j / GROUP * GROUP, first = j - top;
    const int height = min_int(GROUP, rows - top);
    const double *const right = find_pack_row(pack, j);
    double *const group = find_pack_row(pack, top), *const at = x + (size_t)j * (size_t)ld + top;
    tile t = load_remainder(at, ld, height, wide, j, group, right);
    corner k;
    const int fine = factorise_corner(&t, first, wide, &k);
    if (fine < wide) return j + fine;
    eliminate_corner(&t, &k);
    for (int q = 0; q < wide; ++q) ((double *)&t)[q * GROUP + first + q] = k.l[q][q];
    store_tile(&t, first, height, wide, at, ld, group + j * GROUP);
    solve_columns(x, ld, top + GROUP, rows, j, wide, &k, right, pack);
  }
  return cols;
}

/* Rows x below the square of the first `cols` columns, which has the pack `above`. */
static void solve_rows_below(double *x, int ld, int rows, int cols, const double *square,
                             double *above, double *pack)
{
  for (int j = 0; j < cols; j += WIDE) {
    const int wide = min_int(WIDE, cols - j);
    const corner k = load_corner(square + (size_t)j * (size_t)(ld + 1), ld, wide);
    solve_columns(x, ld, 0, rows, j, wide, &k, find_pack_row(above, j), pack);
  }
}

/* ---- parts of a front ---- */

/* Two packs: one for the rows of a tile or of a small front, one for the rows of a panel. */
static double *second_pack(double *work) { return work + (size_t)SMALL_ROWS * PACK_COLS; }

size_t chol_dense_work(void)
{
  return (size_t)(SMALL_ROWS + round_to_groups(PACK_COLS)) * PACK_COLS;
}

int chol_dense_is_whole(const chol_dense *f)
{
  return f->cols <= SMALL_COLS && f->rows <= SMALL_ROWS;
}

/* The last panel takes a remainder of less than half of a panel. */
int chol_dense_panels(const chol_dense *f)
{
  const int num = (f->cols + PANEL / 2) / PANEL;
  return num > 0 ? num : 1;
}

static int panel_width(const chol_dense *f, int panel)
{
  return panel + 1 < chol_dense_panels(f) ? PANEL : f->cols - panel * PANEL;
}

static int count_tiles(int rows) { return (rows + TILE - 1) / TILE; }

int chol_dense_tiles(const chol_dense *f, int panel)
{
  return count_tiles(f->rows - panel * PANEL - panel_width(f, panel));
}

int chol_dense_parts(const chol_dense *f)
{
  const int tiles = count_tiles(f->rows - f->cols);
  return tiles * (tiles + 1) / 2;
}

int chol_dense_whole(const chol_dense *f, double *work)
{
  const int rest = f->rows - f->cols;
  const int fine = factorise_columns(f->x, f->rows, f->rows, f->cols, work);
  if (fine < f->cols) return fine;
  double *below = find_pack_row(work, f->cols);
  if (f->cols % GROUP != 0) {
    below = work;
    pack_rows(f->x + f->cols, f->rows, rest, f->cols, below);
  }
  for (int j = 0; j < rest; j += TILE) {
    double *const b = find_pack_row(below, j);
    subtract_product(chol_update_column(f->update, rest, j) + j, rest - j, rest - j,
                     min_int(TILE, rest - j), f->cols, b, b);
  }
  return fine;
}

/* c := c - a b' for the rows a and b of the first `cols` columns; a == b: the lower half of it. */
static void subtract_rows(const chol_dense *f, double *c, int ld, const double *a, int height,
                          const double *b, int width, int cols, double *work)
{
  double *const right = a == b ? work : second_pack(work);
  for (int k = 0; k < cols; k += PACK_COLS) {
    const int some = min_int(PACK_COLS, cols - k);
    const size_t from = (size_t)k * (size_t)f->rows;
    pack_rows(a + from, f->rows, height, some, work);
    if (a != b) pack_rows(b + from, f->rows, width, some, right);
    subtract_product(c, ld, height, width, some, work, right);
  }
}

int chol_dense_square(const chol_dense *f, int panel, double *work)
{
  const int width = panel_width(f, panel), p = panel * PANEL, ld = f->rows;
  const double *const left = f->x + p;
  double *const c = f->x + (size_t)p * (size_t)ld + p;
  subtract_rows(f, c, ld, left, width, left, width, p, work);
  const int fine = factorise_columns(c, ld, width, width, work);
  return fine < width ? p + fine : f->cols;
}

void chol_dense_rows(const chol_dense *f, int panel, int k, double *work)
{
  const int width = panel_width(f, panel), p = panel * PANEL, ld = f->rows;
  const int from = width + k * TILE, height = min_int(TILE, ld - p - from);
  const double *const left = f->x + p;
  double *const c = f->x + (size_t)p * (size_t)ld + p;
  subtract_rows(f, c + from, ld, left + from, height, left, width, p, work);
  pack_rows(c, ld, width, width, second_pack(work));
  solve_rows_below(c + from, ld, height, width, c, second_pack(work), work);
}

/* Tiles of the lower half, by rows of tiles: 0; 1, 2; 3, 4, 5; ... */
void chol_dense_update(const chol_dense *f, int part, double *work)
{
  const int rest = f->rows - f->cols;
  int i = 0;
  while ((i + 1) * (i + 2) / 2 <= part) ++i;
  const int row = i * TILE, col = (part - i * (i + 1) / 2) * TILE;
  const double *const b = f->x + f->cols;
  subtract_rows(f, chol_update_column(f->update, rest, col) + row, rest - col, b + row,
                min_int(TILE, rest - row), b + col, min_int(TILE, rest - col), f->cols, work);
}
