/* chol_dense.h - the dense work of one front, in parts that its size alone determines. */
#ifndef KIT_CHOL_DENSE_H
#define KIT_CHOL_DENSE_H

#include <stddef.h>

typedef struct chol_dense {
  double *x;      /* [cols][rows], the front's columns of L, lower part */
  double *update; /* [rest][rest], lower part; rest = rows - cols */
  int rows, cols;
  double *work; /* of the thread, chol_dense_work() doubles */
  int together; /* nonzero: all threads of the team work on the same front */
  int *bad;     /* of the team: the first column of 0 .. cols - 1 with a pivot that is no positive
                   number; left alone if there is none */
  int panel;    /* first column of the present panel */
} chol_dense;

size_t chol_dense_work(void);

typedef void chol_part(void *arg, int part);
/* Calls part for 0 .. num - 1, shared among the threads of the team if `together`. */
void chol_for_parts(int together, int num, chol_part *part, void *arg);

/* The columns of L from those of the front, and update := update - B B', with B the rows of L below
 * the square.  0: *bad is set. */
int chol_dense_factorise(chol_dense *f);

#endif
