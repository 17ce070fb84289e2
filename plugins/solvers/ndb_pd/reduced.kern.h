/* reduced.kern.h - inverse of the reduced matrix where it is needed, on the device. */
#ifndef NDB_PD_REDUCED_KERN_H
#define NDB_PD_REDUCED_KERN_H

#include "loom/kernel.h"

typedef struct ndb_pd_invert_args {
  const lk_real *S;     /* [.][ld], N/m, without contact */
  const lk_real *extra; /* [cols][cols], N/m, of contact; its symmetric part counts */
  lk_real *M, *L;       /* [cols][cols], workspace */
  lk_real *inv;         /* [cols][cols], m/N */
  lk_real *failed;      /* [1]: 1 if there is no inverse, else 0 */
  int32_t cols, ld;
} ndb_pd_invert_args;

LK_DECLARE(ndb_pd_invert_block, ndb_pd_invert_args) /* one block */

#endif
