/* prim.kern.c - search of keys, permutations. */
#include "linalg/prim.kern.h"

/* lower bound by halving: the first old key that is not smaller */
LK_KERNEL_PLAIN(prim_match, a, i)
{
  const uint64_t key = a->new_key[i];
  int64_t lo = 0, len = a->num_old;
  while (len > 0) {
    const int64_t half = len / 2;
    if (a->old_key[lo + half] < key) {
      lo += half + 1;
      len -= half + 1;
    } else {
      len = half;
    }
  }
  a->old_index[i] = lo < a->num_old && a->old_key[lo] == key ? (int32_t)lo : -1;
}

LK_KERNEL(prim_compose, a, i) { a->out[i] = a->first[a->second[i]]; }
