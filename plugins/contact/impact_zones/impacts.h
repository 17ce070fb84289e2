/* impacts.h - the impacts of one step so far, as linear gaps of free vertices. */
#ifndef IMPACTS_H
#define IMPACTS_H

#include "impacts.kern.h"
#include "loom/plug.h"
#include "loom/plugin.h"

typedef struct impacts {
  const loom_host *host;
  const loom_scene *sc;
  const loom_exec *e;
  int64_t m;
  /* [m], [m][4], [m][4], [m][3], [m], [m]: see impacts.kern.h */
  loom_buf *key, *v, *w, *n, *offset, *target;
  /* real [m][3], m, place of the prescribed side of an impact (bodies, fixed vertices) at the start
   * and at the end of the step; NaN: no side is prescribed */
  loom_buf *from, *to;
  /* of the pairs taken last */
  loom_buf *new_key;       /* u64 [num] */
  loom_buf *sorted, *rank; /* u64, i32 [m]: keys, ascending, and their impacts */
  loom_buf *old;           /* i32 [num], place in `sorted`; -1: new */
  loom_buf *flag, *place;  /* i64 [num], [num+1] */
  loom_buf *point_start;   /* real [num][3], m, where points on bodies were */
  loom_buf *chosen;        /* u8 [num] */
} impacts;

loom_status impacts_new(impacts *p, const loom_host *host, const loom_scene *sc,
                        const loom_exec *e);
void impacts_clear(impacts *p);

/* Takes all pairs, or with `chosen` the pairs marked in p->chosen: a pair that is an impact already
 * replaces it, others are appended.  Detection looked on the way from x0 to x1.  The target of an
 * impact is the gap along its normal that it had at the start, which means relative velocity zero,
 * but at least `clearance`, m.  A pair that already has this gap at x1 and is found again passes by
 * more closely than detection allows (which keeps a share of the gap at the start): its target is a
 * tenth further away. */
loom_status impacts_take(impacts *p, const loom_step *s, const loom_pairs *pairs, loom_buf *x0,
                         loom_buf *x1, double clearance, int chosen);

/* p->chosen: the earliest pairs, of which no two share a free vertex. */
loom_status impacts_choose_earliest(impacts *p, const loom_pairs *pairs);

#endif
