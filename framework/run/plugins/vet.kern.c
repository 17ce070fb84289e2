/* vet.kern.c - counts of invalid ids and numbers, common subset of C11 and C++17. */
#include "run/plugins/vet.kern.h"

LK_REDUCE_SUM_PLAIN(vet_pairs, a, j) { return (lk_real)vet_pair(a, j); }

LK_REDUCE_SUM(vet_ids, a, j)
{
  return a->id[j] < a->least || a->id[j] >= a->end ? LK_R(1.0) : LK_R(0.0);
}

LK_REDUCE_SUM(vet_unit, a, i)
{
  return a->t[i] >= LK_R(0.0) && a->t[i] <= LK_R(1.0) ? LK_R(0.0) : LK_R(1.0);
}
