/* gather.kern.h - corners of pairs by vertex, and their sums.  A corner is a vertex of a pair that
 * belongs to the scene (not to a body) and, where fixed vertices are left out, is not fixed. */
#ifndef KIT_GATHER_KERN_H
#define KIT_GATHER_KERN_H

#include "loom/kernel.h"

typedef struct gather_count_args {
  const int32_t *LK_RESTRICT v;     /* [m][4] vertices, others than 0 to n - 1 do not count */
  const uint8_t *LK_RESTRICT fixed; /* [n] or NULL: fixed ones count, too */
  int64_t *LK_RESTRICT num;         /* [m] out: corners of a pair */
  int32_t n;
} gather_count_args;
LK_DECLARE(gather_count, gather_count_args)

typedef struct gather_key_args {
  const int32_t *LK_RESTRICT v;     /* [m][4] */
  const uint8_t *LK_RESTRICT fixed; /* [n] or NULL */
  const int64_t *LK_RESTRICT at;    /* [m+1] first corner of a pair */
  uint64_t *LK_RESTRICT vertex;     /* [corners] out */
  int32_t *LK_RESTRICT owner;       /* [corners] out: pair */
  int32_t n;
} gather_key_args;
LK_DECLARE(gather_keys, gather_key_args)

typedef struct gather_row_args {
  const uint64_t *LK_RESTRICT vertex;  /* [corners] ascending */
  const int32_t *LK_RESTRICT place;    /* [corners] their places in force */
  const int32_t *LK_RESTRICT by_place; /* [corners] pair of each place */
  int32_t *LK_RESTRICT owner;          /* [corners] out: pair of each entry of `vertex` */
  int64_t *LK_RESTRICT first;          /* [n+1] out: first entry of each vertex */
  int64_t corners;
  int32_t n;
} gather_row_args;
LK_DECLARE(gather_rows, gather_row_args) /* corners + 1 elements */

typedef struct gather_sum_args {
  const int64_t *LK_RESTRICT first;   /* [n+1] first corner of a vertex */
  const int32_t *LK_RESTRICT place;   /* [corners] in the order of the vertices: place in force */
  const int32_t *LK_RESTRICT owner;   /* [corners] the same: pair */
  const int64_t *LK_RESTRICT at;      /* [m+1] first corner of a pair, where live_at is given */
  const int64_t *LK_RESTRICT live_at; /* [m+1] the same where live pairs alone have places; NULL */
  const int64_t *LK_RESTRICT active;  /* [m+1] exclusive sums of 1 or 0 by pair; NULL: all count */
  const uint8_t *LK_RESTRICT live;    /* [m] 0: the pair has no force; NULL: all have one */
  const lk_real *LK_RESTRICT force;   /* [corners][3], by place; read for pairs that count */
  lk_real *LK_RESTRICT out;           /* [n][3] += */
  int32_t split, reserved;            /* 1: an element is a component of a vertex, 3 n elements */
} gather_sum_args;
LK_DECLARE(gather_sum, gather_sum_args)

LK_FN int gather_is_corner(int32_t i, int32_t n, const uint8_t *fixed)
{
  return i >= 0 && i < n && !(fixed != NULL && fixed[i]);
}

#endif
