/* chol_numeric.c - see chol_numeric.h. */
#include "kit/chol_numeric.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "kit/chol_dense.h"

enum { STRIP = 64 }; /* columns of a top that one thread assembles */

/* Operations below which waking threads takes longer than they save. */
static const double work_of_one = 1e6;

typedef struct job { /* one factorisation */
  const chol_fronts *plan;
  const cholmod_sparse *A;
  const cholmod_factor *L;
  const chol_numeric *m;
  int64_t own, places; /* workspace of a thread, in m->space and m->place */
  int threads;
  int failed; /* the first front of all that has failed so far; plan->num: none */
  int column; /* of L, the one that failed */
} job;

typedef struct worker { /* the present thread on one front */
  const job *b;
  double *update, *own, *common;
  double *work;  /* of chol_dense */
  int *place;    /* [n], of the rows of the front in it */
  int *to, *end; /* [most_rows], of the rows of a child's update: place in the front; end of their
                    run of neighbours */
  int front, is_top;
} worker;

static worker start_front(const job *b, int s, int is_top, int is_root)
{
  const int me = omp_get_thread_num();
  worker w = {.b = b, .front = s, .is_top = is_top};
  w.work = b->m->space + me * b->own;
  w.own = w.work + chol_dense_work();
  w.common = b->m->space + b->threads * b->own;
  w.update = (is_top || is_root ? w.common : w.own) + b->plan->at[s];
  w.place = b->m->place + me * b->places;
  w.to = w.place + b->L->n;
  w.end = w.to + b->plan->most_rows;
  return w;
}

static chol_dense describe_front(const worker *w)
{
  const cholmod_factor *const L = w->b->L;
  return (chol_dense){.x = (double *)L->x + ((const int *)L->px)[w->front],
                      .update = w->update,
                      .rows = chol_front_rows(L, w->front),
                      .cols = chol_front_cols(L, w->front)};
}

/* ---- assembly ---- */

/* Column j of the front, its row i at place i; *first: the first row it has. */
static double *find_front_column(const chol_dense *f, int j, int *first)
{
  *first = j < f->cols ? 0 : j;
  if (j < f->cols) return f->x + (size_t)j * (size_t)f->rows;
  return chol_update_column(f->update, f->rows - f->cols, j - f->cols) - f->cols;
}

static void add_matrix_column(const worker *w, int j, double *column)
{
  const cholmod_sparse *const A = w->b->A;
  const int *const ptr = A->p, *const row = A->i;
  const double *const val = A->x;
  const int k = ((const int *)w->b->L->super)[w->front] + j;
  for (int e = ptr[k]; e < ptr[k + 1]; ++e)
    if (row[e] >= k) column[w->place[row[e]]] += val[e];
}

/* Adds the columns of the update of child c that belong to columns begin .. end - 1. */
static void add_child_update(worker *w, const chol_dense *f, int c, int begin, int end)
{
  const cholmod_factor *const L = w->b->L;
  const int rest = chol_front_rest(L, c);
  const int *const rows = (const int *)L->s + ((const int *)L->pi)[c] + chol_front_cols(L, c);
  double *const update = (w->is_top ? w->common : w->own) + w->b->plan->at[c];
  int *const to = w->to, *const stop = w->end;
  int low = rest, first;
  for (int i = rest - 1; i >= 0 && w->place[rows[i]] >= begin; low = i--) {
    to[i] = w->place[rows[i]];
    stop[i] = i + 1 < rest && to[i + 1] == to[i] + 1 ? stop[i + 1] : i + 1;
  }
  for (int i = low; i < rest && to[i] < end; ++i) {
    double *const column = find_front_column(f, to[i], &first);
    const double *const add = chol_update_column(update, rest, i);
    for (int k = i; k < rest; k = stop[k]) {
      double *restrict const d = column + to[k];
      const double *restrict const a = add + k;
      for (int e = 0; e < stop[k] - k; ++e) d[e] += a[e];
    }
  }
}

/* Columns begin .. end - 1 of the front: entries of A, then the updates of the children in
 * ascending order. */
static void assemble_columns(worker *w, const chol_dense *f, int begin, int end)
{
  const int *const row = (const int *)w->b->L->s + ((const int *)w->b->L->pi)[w->front];
  for (int i = 0; i < f->rows; ++i) w->place[row[i]] = i;
  for (int j = begin; j < end; ++j) {
    int first;
    double *const column = find_front_column(f, j, &first);
    memset(column + first, 0, (size_t)(f->rows - first) * sizeof *column);
    if (j < f->cols) add_matrix_column(w, j, column);
  }
  for (int c = w->b->plan->child[w->front]; c >= 0; c = w->b->plan->next[c])
    add_child_update(w, f, c, begin, end);
}

/* ---- refusal ----
 * A front goes on as long as it is before the first one that has failed, so that the first of all
 * is found in any order of the threads. */

static int is_needed(const job *b, int s)
{
  int failed;
#pragma omp atomic read
  failed = b->failed;
  return s < failed;
}

static void note_failure(job *b, int s, int column)
{
#pragma omp critical(chol_numeric_failed)
  if (s < b->failed) {
#pragma omp atomic write
    b->failed = s;
    b->column = ((const int *)b->L->super)[s] + column;
  }
}

/* ---- fronts ---- */

/* All parts of a front, one after the other.  0: it has failed. */
static int factorise_front(job *b, int s, int is_root)
{
  worker w = start_front(b, s, 0, is_root);
  const chol_dense f = describe_front(&w);
  int fine = f.cols;
  assemble_columns(&w, &f, 0, f.rows);
  if (chol_dense_is_whole(&f)) {
    fine = chol_dense_whole(&f, w.work);
  } else {
    for (int p = 0; p < chol_dense_panels(&f) && fine == f.cols; ++p) {
      fine = chol_dense_square(&f, p, w.work);
      for (int t = 0; t < chol_dense_tiles(&f, p) && fine == f.cols; ++t)
        chol_dense_rows(&f, p, t, w.work);
    }
    for (int t = 0; t < chol_dense_parts(&f) && fine == f.cols; ++t)
      chol_dense_update(&f, t, w.work);
  }
  if (fine < f.cols) note_failure(b, s, fine);
  return fine == f.cols;
}

static void factorise_task(job *b, int root)
{
  for (int s = b->plan->first[root]; s <= root && is_needed(b, s); ++s)
    if (!factorise_front(b, s, s == root)) return;
}

typedef enum { STEP_ASSEMBLE, STEP_WHOLE, STEP_SQUARE, STEP_ROWS, STEP_UPDATE } step;

/* Part k of a step of a top. */
static void do_top_part(job *b, int s, step what, int panel, int k)
{
  if (!is_needed(b, s)) return;
  worker w = start_front(b, s, 1, 0);
  const chol_dense f = describe_front(&w);
  int fine = f.cols;
  switch (what) {
  case STEP_ASSEMBLE:
    assemble_columns(&w, &f, k * STRIP, (k + 1) * STRIP < f.rows ? (k + 1) * STRIP : f.rows);
    break;
  case STEP_WHOLE:
    fine = chol_dense_whole(&f, w.work);
    break;
  case STEP_SQUARE:
    fine = chol_dense_square(&f, panel, w.work);
    break;
  case STEP_ROWS:
    chol_dense_rows(&f, panel, k, w.work);
    break;
  case STEP_UPDATE:
    chol_dense_update(&f, k, w.work);
    break;
  }
  if (fine < f.cols) note_failure(b, s, fine);
}

/* Hands the parts of a top to the threads.  `begin`: written when all children are done, read by
 * the strips of the assembly; `panel`: written by a square, read by the parts that precede and
 * follow it; `end`: read by the last parts, written when the parent begins. */
static void spawn_top(job *b, int s, char *begin, char *panel, char *end)
{
  const worker w = start_front(b, s, 1, 0);
  const chol_dense f = describe_front(&w);
  (void)begin, (void)panel, (void)end; /* compilers do not count uses in a depend clause */
#pragma omp task depend(out : begin[0])
  {
  }
  for (int k = 0; k * STRIP < f.rows; ++k)
#pragma omp task depend(in : begin[0], panel[0])
    do_top_part(b, s, STEP_ASSEMBLE, 0, k);
  if (chol_dense_is_whole(&f)) {
#pragma omp task depend(out : panel[0]) depend(in : end[0])
    do_top_part(b, s, STEP_WHOLE, 0, 0);
    return;
  }
  for (int p = 0; p < chol_dense_panels(&f); ++p) {
#pragma omp task depend(out : panel[0]) depend(in : end[0])
    do_top_part(b, s, STEP_SQUARE, p, 0);
    for (int k = 0; k < chol_dense_tiles(&f, p); ++k)
#pragma omp task depend(in : panel[0])
      do_top_part(b, s, STEP_ROWS, p, k);
  }
#pragma omp task depend(out : panel[0]) depend(in : end[0])
  {
  }
  for (int k = 0; k < chol_dense_parts(&f); ++k)
#pragma omp task depend(in : panel[0], end[0])
    do_top_part(b, s, STEP_UPDATE, 0, k);
}

/* token [2 num + 1]: addresses for the clauses, gate and panel of each front; the last: no parent
 */
static void spawn_fronts(job *b, char *token)
{
  const chol_fronts *const f = b->plan;
  for (int t = 0; t < f->num_tasks; ++t) {
    const int root = f->tasks[t].root, up = f->parent[root];
    char *const end = token + (up >= 0 ? 2 * up : 2 * f->num);
    (void)end;
#pragma omp task depend(in : end[0])
    factorise_task(b, root);
  }
  for (int t = 0; t < f->num_tops; ++t) {
    const int s = f->tops[t], up = f->parent[s];
    spawn_top(b, s, token + 2 * s, token + 2 * s + 1, token + (up >= 0 ? 2 * up : 2 * f->num));
  }
}

/* ---- all ---- */

/* With room for a pattern that grows, since new memory costs more than its use. */
static int reserve_space(chol_numeric *m, int64_t space, int64_t places)
{
  if (space > m->space_cap) {
    free(m->space);
    m->space_cap = space + space / 8;
    m->space = malloc((size_t)m->space_cap * sizeof *m->space);
    if (m->space == NULL) m->space_cap = 0;
  }
  if (places > m->place_cap) {
    free(m->place);
    m->place_cap = places + places / 8;
    m->place = malloc((size_t)m->place_cap * sizeof *m->place);
    if (m->place == NULL) m->place_cap = 0;
  }
  return m->space_cap >= space && m->place_cap >= places;
}

int chol_numeric_factorise(chol_numeric *m, const cholmod_sparse *A, cholmod_factor *L, int threads)
{
  chol_fronts *const plan = &m->fronts;
  if (!m->planned) {
    chol_fronts_free(plan);
    const int failed = chol_fronts_make(plan, L);
    if (failed) return failed;
    m->planned = 1;
  }
  if (plan->work < work_of_one) threads = 1;
  job b = {.plan = plan,
           .A = A,
           .L = L,
           .m = m,
           .own = plan->own + (int64_t)chol_dense_work(),
           .places = (int64_t)L->n + 2 * (int64_t)plan->most_rows,
           .threads = threads,
           .failed = plan->num,
           .column = (int)L->n};
  const int64_t tokens = (2 * (int64_t)plan->num + 1 + (int64_t)sizeof(int)) / (int64_t)sizeof(int);
  if (!reserve_space(m, threads * b.own + plan->common, threads * b.places + tokens))
    return CHOL_NUMERIC_NO_MEMORY;
  char *const token = (char *)(m->place + threads * b.places);
#pragma omp parallel num_threads(threads)
#pragma omp single
  spawn_fronts(&b, token);
  L->minor = (size_t)b.column;
  return CHOL_NUMERIC_DONE;
}

void chol_numeric_forget(chol_numeric *m) { m->planned = 0; }

void chol_numeric_free(chol_numeric *m)
{
  chol_fronts_free(&m->fronts);
  free(m->space);
  free(m->place);
  *m = (chol_numeric){0};
}
