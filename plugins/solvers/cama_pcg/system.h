/* system.h - the matrix of one step of implicit Euler, assembled in stages. */
#ifndef CAMA_SYSTEM_H
#define CAMA_SYSTEM_H

#include "kit/bcsr_steady.h"
#include "triplets.h"

/* How values come into the matrix, and with TRIPLETS and ENTRIES its pattern, too. */
enum {
  ASSEMBLY_STAGED = 0,   /* rows gather */
  ASSEMBLY_ATOMICS = 1,  /* elements add atomically */
  ASSEMBLY_SERIAL = 2,   /* elements add on one thread */
  ASSEMBLY_TRIPLETS = 3, /* all blocks are sorted */
  ASSEMBLY_ENTRIES = 4   /* all numbers are */
};

/* A = M/h^2 + sum of element Hessians + sum of contact blocks, N/m. */
typedef struct cama_system {
  const loom_host *host;
  const loom_exec *e;
  const loom_scene *sc;
  bcsr A;
  bcsr_kind *kinds;    /* [num_blocks + 1]: elements of the scene, and contact behind them */
  bcsr_steady *steady; /* [num_blocks], with ASSEMBLY_STAGED */
  loom_buf *K;         /* real [.], N/m: room for the Hessians of some elements */
  /* contact that the pattern was made with: i32 [.], rows and columns of its blocks */
  loom_buf *row, *col;
  loom_buf *differ; /* real [1] */
  int assembly;     /* ASSEMBLY_* */
  triplets all;     /* all blocks, where they are sorted */
} cama_system;

/* Call system_free() even after system_new() has failed. */
loom_status system_new(cama_system *s, const loom_host *host, const loom_exec *e,
                       const loom_scene *sc, int assembly);
void system_free(cama_system *s);

/* Assembles the matrix at x; `how` (LOOM_HESS_*) treats elements and contact.  The pattern stays as
 * long as contact has the same blocks. */
loom_status system_assemble(cama_system *s, const loom_step *st, int how);

/* For the message when p'A p <= 0: names the element with the least share p'K p, if it is negative,
 * or contact. */
loom_status system_blame(cama_system *s, const loom_step *st, int how, loom_buf *p,
                         double curvature);

#endif
