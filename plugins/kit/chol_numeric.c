/* chol_numeric.c - see chol_numeric.h. */
#include "kit/chol_numeric.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "kit/chol_dense.h"

enum { STRIP = 32 }; /* columns of a front that one thread assembles, where all share it */

typedef struct worker { /* one thread */
  const chol_fronts *plan;
  const cholmod_sparse *A;
  const cholmod_factor *L;
  double *own, *common; /* updates */
  int *place;           /* [n], of the rows of the present front in it */
  int *to, *end; /* [most_rows], of the rows of an update: place in the front; end of their run */
  int front, strip; /* the present one; columns in a part of its assembly */
  int is_top;
  double *update; /* of the present front */
  double *work;   /* of chol_dense */
} worker;

/* ---- assembly ---- */

/* Column j of front s, from its diagonal on. */
static double *find_front_column(const worker *w, int j, int *first)
{
  const int cols = chol_front_cols(w->L, w->front), rows = chol_front_rows(w->L, w->front);
  const int rest = rows - cols;
  if (j >= cols) {
    *first = cols;
    return w->update + (size_t)(j - cols) * (size_t)rest;
  }
  *first = 0;
  return (double *)w->L->x + ((const int *)w->L->px)[w->front] + (size_t)j * (size_t)rows;
}

static void add_matrix_column(const worker *w, int j, double *column)
{
  const int *const ptr = w->A->p, *const row = w->A->i;
  const double *const val = w->A->x;
  const int k = ((const int *)w->L->super)[w->front] + j;
  for (int e = ptr[k]; e < ptr[k + 1]; ++e)
    if (row[e] >= k) column[w->place[row[e]]] += val[e];
}

/* Adds the columns of the update of front c that belong to columns begin .. end - 1. */
static void add_child_update(worker *w, int c, int begin, int end)
{
  const int rest = chol_front_rest(w->L, c);
  const int *const rows =
      (const int *)w->L->s + ((const int *)w->L->pi)[c] + chol_front_cols(w->L, c);
  const double *const from = (w->is_top ? w->common : w->own) + w->plan->at[c];
  int *const to = w->to, *const stop = w->end;
  int low = rest;
  for (int i = rest - 1; i >= 0 && w->place[rows[i]] >= begin; low = i--) {
    to[i] = w->place[rows[i]];
    stop[i] = i + 1 < rest && to[i + 1] == to[i] + 1 ? stop[i + 1] : i + 1;
  }
  for (int i = low; i < rest && to[i] < end; ++i) {
    int first;
    double *restrict const column = find_front_column(w, to[i], &first) - first;
    const double *restrict const add = from + (size_t)i * (size_t)rest;
    for (int k = i; k < rest; k = stop[k]) {
      double *restrict const d = column + to[k] - k;
      for (int e = k; e < stop[k]; ++e) d[e] += add[e];
    }
  }
}

/* Columns of the front: entries of A, then the updates of the children in ascending order. */
static void assemble_strip(void *arg, int part)
{
  worker *const w = arg;
  const int cols = chol_front_cols(w->L, w->front), rows = chol_front_rows(w->L, w->front);
  const int begin = part * w->strip, end = begin + w->strip < rows ? begin + w->strip : rows;
  for (int j = begin; j < end; ++j) {
    int first;
    double *const column = find_front_column(w, j, &first);
    const int zero = j < cols ? 0 : j - first;
    memset(column + zero, 0, (size_t)(rows - first - zero) * sizeof *column);
    if (j < cols) add_matrix_column(w, j, column);
  }
  for (int c = w->plan->child[w->front]; c >= 0; c = w->plan->next[c])
    add_child_update(w, c, begin, end);
}

/* Front s, whose update lies in the common workspace or not; *bad: see chol_dense.h.  0: it is
 * set. */
static int factorise_front(worker *w, int s, int common, int *bad)
{
  const int *const row = (const int *)w->L->s + ((const int *)w->L->pi)[s];
  const int rows = chol_front_rows(w->L, s);
  for (int i = 0; i < rows; ++i) w->place[row[i]] = i;
  w->front = s;
  w->strip = w->is_top ? STRIP : rows;
  w->update = (common ? w->common : w->own) + w->plan->at[s];
  chol_for_parts(w->is_top, (rows + w->strip - 1) / w->strip, assemble_strip, w);
  chol_dense f = {.x = (double *)w->L->x + ((const int *)w->L->px)[s],
                  .update = w->update,
                  .rows = rows,
                  .cols = chol_front_cols(w->L, s),
                  .work = w->work,
                  .together = w->is_top,
                  .bad = bad};
  return chol_dense_factorise(&f);
}

/* ---- all fronts ---- */

/* *failed: the first front of all that has failed so far.  A task goes on as long as it can find an
 * earlier one, so that the first of all does not depend on the threads. */
static void factorise_task(worker *w, const chol_task *t, int *failed, int *column)
{
  w->is_top = 0;
  for (int s = w->plan->first[t->root]; s <= t->root; ++s) {
    int bad = -1, least;
#pragma omp atomic read
    least = *failed;
    if (s > least) return;
    if (factorise_front(w, s, s == t->root, &bad)) continue;
#pragma omp critical(chol_numeric_failed)
    if (s < *failed) {
#pragma omp atomic write
      *failed = s;
      *column = ((const int *)w->L->super)[s] + bad;
    }
    return;
  }
}

/* All threads of the team call it; bad: one for all of them, -1. */
static void factorise_tops(worker *w, int failed, int *bad, int *column)
{
  w->is_top = 1;
  for (int t = 0; t < w->plan->num_tops; ++t) {
    const int s = w->plan->tops[t];
    if (s > failed) return;
    if (factorise_front(w, s, 1, bad)) continue;
      /* every thread comes here with the same s */
#pragma omp single
    *column = ((const int *)w->L->super)[s] + *bad;
    return;
  }
}

static int reserve_space(chol_numeric *m, int64_t space, int64_t places)
{
  if (space > m->space_cap) {
    free(m->space);
    m->space = malloc((size_t)space * sizeof *m->space);
    m->space_cap = m->space != NULL ? space : 0;
  }
  if (places > m->place_cap) {
    free(m->place);
    m->place = malloc((size_t)places * sizeof *m->place);
    m->place_cap = m->place != NULL ? places : 0;
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
  const int64_t n = (int64_t)L->n, places = n + 2 * (int64_t)plan->most_rows;
  const int64_t own = plan->own + (int64_t)chol_dense_work();
  if (!reserve_space(m, threads * own + plan->common + 1, threads * places + 1))
    return CHOL_NUMERIC_NO_MEMORY;
  int failed = plan->num, column = (int)n, bad = -1;
#pragma omp parallel num_threads(threads)
  {
    const int me = omp_get_thread_num();
    worker w = {.plan = plan,
                .A = A,
                .L = L,
                .work = m->space + me * own,
                .own = m->space + me * own + chol_dense_work(),
                .common = m->space + threads * own,
                .place = m->place + me * places};
    w.to = w.place + n;
    w.end = w.to + plan->most_rows;
#pragma omp for schedule(dynamic, 1)
    for (int t = 0; t < plan->num_tasks; ++t) factorise_task(&w, &plan->tasks[t], &failed, &column);
    factorise_tops(&w, failed, &bad, &column);
  }
  L->minor = (size_t)column;
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
