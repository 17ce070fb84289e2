/* chol_fronts.h - the plan of a multifrontal Cholesky factorisation, see chol_numeric.h.
 *
 * A front is the dense matrix of the rows of a supernode.  Its own columns become columns of L; the
 * rest is the update, which the parent in the elimination tree adds to its own front.  The plan
 * depends on the pattern of L alone: tasks, which are subtrees of one thread each, and the fronts
 * above them (tops), the parts of which the threads share. */
#ifndef KIT_CHOL_FRONTS_H
#define KIT_CHOL_FRONTS_H

#include <cholmod.h>
#include <stdint.h>

typedef struct chol_task {
  double work; /* operations of the subtree */
  int root;    /* its last front */
} chol_task;

typedef struct chol_fronts {
  int num;             /* fronts, one for each supernode */
  int *memory;         /* all arrays of int below */
  int *parent;         /* [num], -1: none */
  int *child, *next;   /* [num], first child; next child of the same parent, ascending; -1: none */
  int *first;          /* [num], the subtree of front s is first[s] .. s */
  int *tops, num_tops; /* ascending */
  chol_task *tasks;    /* largest first */
  int num_tasks;
  int most_rows;       /* of a front */
  int64_t *at;         /* [num], place of the update of a front, doubles from the start of the
                          workspace of the thread, or, for tops and roots of tasks, of all */
  int64_t own, common; /* length of the two workspaces, doubles */
  double work;         /* operations of all fronts */
} chol_fronts;

enum { CHOL_FRONTS_MADE, CHOL_FRONTS_NO_MEMORY, CHOL_FRONTS_NO_POSTORDER };
/* The plan for the pattern of L; on failure it holds no memory. */
int chol_fronts_make(chol_fronts *f, const cholmod_factor *L);
void chol_fronts_free(chol_fronts *f); /* fine on a zeroed struct */

static inline int chol_front_cols(const cholmod_factor *L, int s)
{
  const int *const super = L->super;
  return super[s + 1] - super[s];
}
static inline int chol_front_rows(const cholmod_factor *L, int s)
{
  const int *const pi = L->pi;
  return pi[s + 1] - pi[s];
}
/* Rows of the update. */
static inline int chol_front_rest(const cholmod_factor *L, int s)
{
  return chol_front_rows(L, s) - chol_front_cols(L, s);
}

#endif
