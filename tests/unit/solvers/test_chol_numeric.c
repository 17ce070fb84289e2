/* The numeric factorisation of the kit chol: against CHOLMOD's own on the same pattern, with the
 * same bits for each number of threads, and its refusal of matrices that are not positive
 * definite. */
#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "kit/chol.h"
#include "support/test_host.h"

enum { MOST_THREADS = 7 };

static uint64_t seed = 3;

/* ---- matrices, dense: n is at most some thousand ---- */

typedef struct sample {
  const char *name;
  int n, num;
  int *row, *col; /* [num], row > col */
  double *val;    /* [num], then the diagonal [n] */
} sample;

static sample create_sample(const char *name, int n, int most)
{
  sample s = {name, n, 0, NULL, NULL, NULL};
  s.row = malloc(((size_t)most + 1) * sizeof *s.row);
  s.col = malloc(((size_t)most + 1) * sizeof *s.col);
  s.val = calloc((size_t)(most + n) + 1, sizeof *s.val);
  cr_assert(s.row != NULL && s.col != NULL && s.val != NULL);
  return s;
}

static void free_sample(sample *s)
{
  free(s->row);
  free(s->col);
  free(s->val);
}

static void couple_rows(sample *s, int i, int j)
{
  s->row[s->num] = i > j ? i : j;
  s->col[s->num++] = i > j ? j : i;
}

/* Random couplings, and a diagonal that just outweighs them. */
static void fill_sample(sample *s)
{
  double *const diagonal = s->val + s->num;
  for (int i = 0; i < s->n; ++i) diagonal[i] = 0.01;
  for (int k = 0; k < s->num; ++k) {
    s->val[k] = th_random(&seed);
    diagonal[s->row[k]] += fabs(s->val[k]);
    diagonal[s->col[k]] += fabs(s->val[k]);
  }
}

/* Every vertex of a sheet with its eight neighbours, and `far` random pairs. */
static sample create_sheet(const char *name, int side, int far)
{
  sample s = create_sample(name, side * side, 4 * side * side + far);
  for (int i = 0; i < side; ++i)
    for (int j = 0; j < side; ++j) {
      const int at = i * side + j;
      if (i > 0) couple_rows(&s, at, at - side);
      if (j > 0) couple_rows(&s, at, at - 1);
      if (i > 0 && j > 0) couple_rows(&s, at, at - side - 1);
      if (i > 0 && j + 1 < side) couple_rows(&s, at, at - side + 1);
    }
  for (int k = 0; k < far; ++k) {
    const int i = (int)(fabs(th_random(&seed)) * (s.n - 1)), j = (i + 3 * side + 7 * k) % s.n;
    if (abs(i - j) > side + 1) couple_rows(&s, i, j);
  }
  fill_sample(&s);
  return s;
}

/* `num` full matrices of n rows each, side by side; `head`: the last row of all meets every other.
 */
static sample create_blocks(const char *name, int num, int n, int head)
{
  const int all = num * n + head;
  sample s = create_sample(name, all, num * n * n + all);
  for (int b = 0; b < num; ++b)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < i; ++j) couple_rows(&s, b * n + i, b * n + j);
  for (int i = 0; head && i < all - 1; ++i) couple_rows(&s, all - 1, i);
  fill_sample(&s);
  return s;
}

enum { NUM_SAMPLES = 9 };
static sample create_numbered_sample(int k)
{
  switch (k) {
  case 0:
    return create_sheet("sheet", 40, 0);
  case 1:
    return create_sheet("sheet in folds", 45, 700);
  case 2:
    return create_sheet("sheet of 70 x 70", 70, 0);
  case 3:
    return create_blocks("arrow", 500, 1, 1);
  case 4:
    return create_blocks("full, one part", 1, 140, 0);
  case 5:
    return create_blocks("full, panels", 1, 421, 0);
  case 6:
    return create_blocks("one row", 1, 1, 0);
  case 7:
    return create_blocks("disconnected", 37, 13, 0);
  default:
    return create_blocks("blocks with a head", 9, 61, 1);
  }
}

/* ---- factors ---- */

typedef struct stage {
  test_host t;
  chol c;
} stage;

/* Upper triangle by columns: rows ascending, the diagonal last. */
static void fill_triangle(chol *c, const sample *s)
{
  int *const ptr = chol_ptr(c), *const row = chol_row(c);
  double *const val = chol_val(c);
  int *const place = calloc((size_t)s->n + 1, sizeof *place);
  memset(ptr, 0, ((size_t)s->n + 1) * sizeof *ptr);
  for (int k = 0; k < s->num; ++k) ++ptr[s->row[k] + 1];
  for (int i = 0; i < s->n; ++i) ptr[i + 1] += ptr[i] + 1;
  for (int k = 0; k < s->num; ++k) {
    const int j = s->row[k];
    int at = ptr[j] + place[j]++;
    for (; at > ptr[j] && row[at - 1] > s->col[k]; --at) {
      row[at] = row[at - 1];
      val[at] = val[at - 1];
    }
    row[at] = s->col[k];
    val[at] = s->val[k];
  }
  for (int j = 0; j < s->n; ++j) {
    row[ptr[j + 1] - 1] = j;
    val[ptr[j + 1] - 1] = s->val[s->num + j];
  }
  free(place);
}

static void analyse_sample(stage *g, const sample *s)
{
  cr_assert_eq(chol_matrix(&g->c, s->n, s->num + s->n), LOOM_OK);
  fill_triangle(&g->c, s);
  cr_assert_eq(chol_analyse(&g->c), LOOM_OK, "%s", g->t.err.text);
}

static void open_factor_stage(stage *g, const sample *s, int ordering)
{
  th_open(&g->t, 1, 0);
  cr_assert_eq(chol_open(&g->c, &g->t.host, ordering, 1, CHOL_REMEDY), LOOM_OK);
  analyse_sample(g, s);
}

static void close_factor_stage(stage *g)
{
  chol_close(&g->c);
  th_close(&g->t);
}

/* The values of L by CHOLMOD's own factorisation on the same pattern, malloc'ed; *first: its first
 * column without a positive pivot, n: none. */
static double *factorise_by_cholmod(stage *g, size_t *first)
{
  cholmod_factor *L = cholmod_copy_factor(g->c.L, &g->c.cm);
  const int levels = chol_alone();
  cr_assert(L != NULL && cholmod_factorize(g->c.A, L, &g->c.cm));
  chol_together(levels);
  double *const x = malloc((L->xsize + 1) * sizeof *x);
  memcpy(x, L->x, L->xsize * sizeof *x);
  *first = L->minor;
  cholmod_free_factor(&L, &g->c.cm);
  return x;
}

/* Largest difference of the columns of L before `end` over their largest number. */
static double compare_factor_columns(const cholmod_factor *L, const double *y, size_t end)
{
  const int *const super = L->super, *const pi = L->pi, *const px = L->px;
  const double *const x = L->x;
  double most = 0.0, off = 0.0;
  for (size_t s = 0; s < L->nsuper; ++s) {
    const int rows = pi[s + 1] - pi[s];
    for (int j = 0; j < super[s + 1] - super[s] && (size_t)(super[s] + j) < end; ++j)
      for (int i = j; i < rows; ++i) {
        const size_t at = (size_t)px[s] + (size_t)j * (size_t)rows + (size_t)i;
        most = fmax(most, fabs(y[at]));
        off = fabs(x[at] - y[at]) <= off ? off : fabs(x[at] - y[at]); /* a NaN stays */
      }
  }
  return off / most;
}

static loom_status factorise_with(stage *g, int threads, int *pivot)
{
  const int before = omp_get_max_threads();
  omp_set_num_threads(threads);
  const loom_status s = chol_factorise(&g->c, pivot);
  omp_set_num_threads(before);
  return s;
}

/* ---- tests ---- */

/* The diagonal outweighs the rest by little, so that the factor is known to some hundred roundings.
 */
Test(chol_numeric, factor_is_that_of_cholmod)
{
  for (int k = 0; k < NUM_SAMPLES; ++k)
    for (int ordering = CHOL_AMD; ordering <= CHOL_METIS; ++ordering) {
      sample s = create_numbered_sample(k);
      stage g;
      size_t first;
      int pivot = 0;
      open_factor_stage(&g, &s, ordering);
      double *const x = factorise_by_cholmod(&g, &first);
      cr_assert_eq(chol_factorise(&g.c, &pivot), LOOM_OK, "%s: %s", s.name, g.t.err.text);
      cr_expect_eq(pivot, -1);
      cr_expect_eq(first, (size_t)s.n);
      const double off = compare_factor_columns(g.c.L, x, (size_t)s.n);
      cr_expect(off <= 500 * DBL_EPSILON, "%s, ordering %d: %g", s.name, ordering, off);
      free(x);
      close_factor_stage(&g);
      free_sample(&s);
    }
}

/* Nine rounds, so that the threads meet in various orders. */
Test(chol_numeric, same_bits_for_each_number_of_threads)
{
  for (int k = 0; k < NUM_SAMPLES; ++k) {
    sample s = create_numbered_sample(k);
    stage g;
    int pivot;
    open_factor_stage(&g, &s, CHOL_METIS);
    cr_assert_eq(factorise_with(&g, 1, &pivot), LOOM_OK);
    const size_t bytes = g.c.L->xsize * sizeof(double);
    double *const x = malloc(bytes + 1);
    memcpy(x, g.c.L->x, bytes);
    for (int round = 0; round < 9; ++round) {
      const int threads = 1 + (round + 1) % MOST_THREADS;
      memset(g.c.L->x, 0xff, bytes); /* NaN */
      cr_assert_eq(factorise_with(&g, threads, &pivot), LOOM_OK);
      cr_expect_eq(memcmp(x, g.c.L->x, bytes), 0, "%s: other bits with %d threads", s.name,
                   threads);
    }
    free(x);
    close_factor_stage(&g);
    free_sample(&s);
  }
}

/* Every front belongs to one task or is above all tasks, and the work is cut finely enough to be
 * shared. */
Test(chol_numeric, plan_covers_each_front_once)
{
  for (int k = 0; k < NUM_SAMPLES; ++k) {
    sample s = create_numbered_sample(k);
    stage g;
    chol_fronts f;
    open_factor_stage(&g, &s, CHOL_METIS);
    cr_assert_eq(chol_fronts_make(&f, g.c.L), CHOL_FRONTS_MADE);
    int *const seen = calloc((size_t)f.num + 1, sizeof *seen);
    for (int t = 0; t < f.num_tasks; ++t) {
      for (int v = f.first[f.tasks[t].root]; v <= f.tasks[t].root; ++v) ++seen[v];
      cr_expect(t == 0 || f.tasks[t].work <= f.tasks[t - 1].work, "%s: smaller first", s.name);
    }
    for (int t = 0; t < f.num_tops; ++t) ++seen[f.tops[t]];
    for (int v = 0; v < f.num; ++v) cr_expect_eq(seen[v], 1, "%s: front %d", s.name, v);
    if (k == 2) cr_expect(f.num_tasks >= 12, "%s: %d tasks", s.name, f.num_tasks);
    free(seen);
    chol_fronts_free(&f);
    close_factor_stage(&g);
    free_sample(&s);
  }
}

/* Makes diagonal entries negative and compares the refusal with CHOLMOD's. */
static void check_refusal(const sample *s, stage *g, const int *rows, int num)
{
  double *const val = chol_val(&g->c);
  const int *const ptr = chol_ptr(&g->c);
  size_t first;
  int pivot;
  for (int k = 0; k < num; ++k) val[ptr[rows[k] + 1] - 1] *= -1.0;
  double *const x = factorise_by_cholmod(g, &first);
  cr_assert_lt(first, (size_t)s->n);
  for (int threads = 1; threads <= MOST_THREADS; ++threads) {
    cr_assert_eq(factorise_with(g, threads, &pivot), LOOM_REJECTED);
    cr_expect_eq(pivot, chol_perm(&g->c)[first], "%s, %d threads: row %d, not %d", s->name, threads,
                 pivot, chol_perm(&g->c)[first]);
  }
  free(x);
  for (int k = 0; k < num; ++k) val[ptr[rows[k] + 1] - 1] *= -1.0;
}

/* One row or several, in one task, in two, and above the tasks; afterwards the matrix as it was. */
Test(chol_numeric, first_column_without_a_pivot_is_named)
{
  for (int k = 0; k < NUM_SAMPLES; ++k) {
    sample s = create_numbered_sample(k);
    stage g;
    int pivot;
    open_factor_stage(&g, &s, CHOL_METIS);
    cr_assert_eq(factorise_with(&g, 2, &pivot), LOOM_OK);
    const size_t bytes = g.c.L->xsize * sizeof(double);
    double *const x = malloc(bytes + 1);
    memcpy(x, g.c.L->x, bytes);
    const int *const perm = chol_perm(&g.c);
    for (int part = 0; part < 6; ++part) {
      const int one[] = {perm[part * (s.n - 1) / 5]};
      const int three[] = {perm[s.n - 1 - part * (s.n - 1) / 9], perm[part * (s.n - 1) / 20],
                           perm[(s.n - 1) / 2]};
      check_refusal(&s, &g, one, 1);
      if (s.n > 50 && three[0] != three[2]) check_refusal(&s, &g, three, 3);
    }
    cr_assert_eq(factorise_with(&g, 3, &pivot), LOOM_OK);
    cr_expect_eq(memcmp(x, g.c.L->x, bytes), 0, "%s: a refusal leaves a trace", s.name);
    free(x);
    close_factor_stage(&g);
    free_sample(&s);
  }
}

/* The first column with a pivot that a NaN or an infinity spoils: on the diagonal its own column;
 * beside it at the latest the column of its later row. */
Test(chol_numeric, numbers_that_are_not_finite_are_refused)
{
  const double spoiled[] = {NAN, INFINITY, -INFINITY};
  sample s = create_sheet("sheet", 40, 100);
  stage g;
  open_factor_stage(&g, &s, CHOL_METIS);
  const int *const ptr = chol_ptr(&g.c), *const row = chol_row(&g.c);
  double *const val = chol_val(&g.c);
  int *const place = malloc((size_t)s.n * sizeof *place);
  for (int k = 0; k < s.n; ++k) place[chol_perm(&g.c)[k]] = k;
  for (int v = 0; v < 3; ++v)
    for (int j = 41; j < s.n; j += 311)
      for (int beside = 0; beside < 2; ++beside) {
        const int at = beside ? ptr[j] : ptr[j + 1] - 1, i = row[at];
        const double was = val[at];
        const int expected = place[i] > place[j] ? i : j;
        int pivot;
        val[at] = spoiled[v];
        for (int threads = 1; threads <= MOST_THREADS; threads += 3) {
          cr_assert_eq(factorise_with(&g, threads, &pivot), LOOM_REJECTED);
          /* a column between the two of the entry may meet it through a common row */
          cr_expect(beside ? place[pivot] > (place[i] < place[j] ? place[i] : place[j]) &&
                                 place[pivot] <= place[expected]
                           : pivot == expected,
                    "%g in row %d, column %d: row %d, not %d", spoiled[v], i, j, pivot, expected);
        }
        val[at] = was;
      }
  free(place);
  close_factor_stage(&g);
  free_sample(&s);
}

/* The room of the values is kept while patterns grow and shrink. */
Test(chol_numeric, patterns_that_change)
{
  sample one = create_numbered_sample(6);
  stage g;
  open_factor_stage(&g, &one, CHOL_AMD);
  for (int round = 0; round < 2 * NUM_SAMPLES; ++round) {
    sample s = create_numbered_sample(5 * round % NUM_SAMPLES);
    size_t first;
    int pivot;
    analyse_sample(&g, &s);
    double *const x = factorise_by_cholmod(&g, &first);
    cr_assert_eq(factorise_with(&g, 2, &pivot), LOOM_OK);
    cr_expect(compare_factor_columns(g.c.L, x, (size_t)s.n) <= 500 * DBL_EPSILON, "%s", s.name);
    free(x);
    free_sample(&s);
  }
  close_factor_stage(&g);
  free_sample(&one);
}
