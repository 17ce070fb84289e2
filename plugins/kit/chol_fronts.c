/* chol_fronts.c - see chol_fronts.h. */
#include "kit/chol_fronts.h"

#include <stdlib.h>

#include "kit/chol_dense.h"

/* A subtree with more than this share of all operations is split: some dozen tasks are left, so
 * that threads wait little for the last one. */
static const double task_share = 1.0 / 24.0;

/* Operations of the columns of a front: the sum of the squares of their lengths. */
static double count_front_work(const cholmod_factor *L, int s)
{
  const double m = chol_front_rest(L, s), r = chol_front_rows(L, s);
  return (r * (r + 1.0) * (2.0 * r + 1.0) - m * (m + 1.0) * (2.0 * m + 1.0)) / 6.0;
}

/* of [n]: workspace */
static void link_fronts(chol_fronts *f, const cholmod_factor *L, int *of)
{
  const int *const super = L->super, *const pi = L->pi, *const rows = L->s;
  for (int s = 0; s < f->num; ++s) {
    for (int k = super[s]; k < super[s + 1]; ++k) of[k] = s;
    f->child[s] = f->next[s] = f->parent[s] = -1;
    if (chol_front_rows(L, s) > f->most_rows) f->most_rows = chol_front_rows(L, s);
  }
  for (int s = f->num - 1; s >= 0; --s) {
    if (chol_front_rest(L, s) == 0) continue;
    const int up = of[rows[pi[s] + chol_front_cols(L, s)]];
    f->parent[s] = up;
    f->next[s] = f->child[up];
    f->child[up] = s;
  }
}

/* first[], and work [num] of the subtrees; 0: the children of a front do not fill the places before
 * it without gaps. */
static int sum_subtrees(chol_fronts *f, const cholmod_factor *L, double *work)
{
  for (int s = 0; s < f->num; ++s) {
    int last = -1;
    work[s] = count_front_work(L, s);
    f->first[s] = f->child[s] >= 0 ? f->first[f->child[s]] : s;
    for (int c = f->child[s]; c >= 0; last = c, c = f->next[c]) {
      if (last >= 0 && f->first[c] != last + 1) return 0;
      work[s] += work[c];
    }
    if (last >= 0 && last != s - 1) return 0;
  }
  return 1;
}

static int compare_tasks(const void *a, const void *b)
{
  const chol_task *const p = a, *const q = b;
  if (p->work != q->work) return p->work < q->work ? 1 : -1;
  return p->root - q->root;
}

static void split_tree(chol_fronts *f, const double *work)
{
  for (int s = 0; s < f->num; ++s)
    if (f->parent[s] < 0) f->work += work[s];
  const double most = task_share * f->work;
  for (int s = 0; s < f->num; ++s) {
    if (work[s] > most)
      f->tops[f->num_tops++] = s;
    else if (f->parent[s] < 0 || work[f->parent[s]] > most)
      f->tasks[f->num_tasks++] = (chol_task){work[s], s};
  }
  qsort(f->tasks, (size_t)f->num_tasks, sizeof *f->tasks, compare_tasks);
}

/* ---- places of updates ----
 * Within a task a front pushes its update after the updates of its children were used: with two
 * stacks, one for even and one for odd depths, these lie on top of the other stack. */

typedef struct stacks {
  int64_t size[2], most[2];
} stacks;

static int64_t count_update(const cholmod_factor *L, int s)
{
  return chol_update_size(chol_front_rest(L, s));
}

/* Pushes the update of front s and pops the updates of its children. */
static void push_update(chol_fronts *f, const cholmod_factor *L, stacks *k, int s, int side)
{
  f->at[s] = k->size[side];
  k->size[side] += count_update(L, s);
  if (k->size[side] > k->most[side]) k->most[side] = k->size[side];
  for (int c = f->child[s]; c >= 0; c = f->next[c]) k->size[!side] -= count_update(L, c);
}

static void place_common_update(chol_fronts *f, const cholmod_factor *L, int s)
{
  f->at[s] = f->common;
  f->common += count_update(L, s);
}

/* side [num]: workspace */
static void place_updates(chol_fronts *f, const cholmod_factor *L, uint8_t *side)
{
  for (int s = f->num - 1; s >= 0; --s) side[s] = f->parent[s] >= 0 && !side[f->parent[s]];
  for (int t = 0; t < f->num_tasks; ++t) {
    const int root = f->tasks[t].root;
    stacks k = {{0, 0}, {0, 0}};
    for (int s = f->first[root]; s < root; ++s) push_update(f, L, &k, s, side[s]);
    for (int s = f->first[root]; s < root; ++s)
      if (side[s]) f->at[s] += k.most[0];
    if (k.most[0] + k.most[1] > f->own) f->own = k.most[0] + k.most[1];
    place_common_update(f, L, root);
  }
  for (int t = 0; t < f->num_tops; ++t) place_common_update(f, L, f->tops[t]);
}

/* work: of subtrees */
static int plan_fronts(chol_fronts *f, const cholmod_factor *L, int *of, double *work)
{
  link_fronts(f, L, of);
  if (!sum_subtrees(f, L, work)) return CHOL_FRONTS_NO_POSTORDER;
  split_tree(f, work);
  place_updates(f, L, (uint8_t *)of); /* not used any more */
  return CHOL_FRONTS_MADE;
}

int chol_fronts_make(chol_fronts *f, const cholmod_factor *L)
{
  const size_t num = L->nsuper, n = L->n;
  *f = (chol_fronts){.num = (int)num};
  f->memory = calloc(5 * num + 1, sizeof *f->memory);
  f->tasks = malloc((num + 1) * sizeof *f->tasks);
  f->at = malloc((num + 1) * sizeof *f->at);
  int *const of = malloc((n + 1) * sizeof *of);
  double *const work = calloc(num + 1, sizeof *work);
  int failed = CHOL_FRONTS_NO_MEMORY;
  if (f->memory != NULL && f->tasks != NULL && f->at != NULL && of != NULL && work != NULL) {
    f->parent = f->memory;
    f->child = f->parent + num;
    f->next = f->child + num;
    f->first = f->next + num;
    f->tops = f->first + num;
    failed = plan_fronts(f, L, of, work);
  }
  free(of);
  free(work);
  if (failed) chol_fronts_free(f);
  return failed;
}

void chol_fronts_free(chol_fronts *f)
{
  free(f->memory);
  free(f->tasks);
  free(f->at);
  *f = (chol_fronts){0};
}
