/* colours.h - vertices by colours: no element has two vertices of the same colour, so that vertices
 * of one colour can move at the same time, independently of each other. */
#ifndef VBD_COLOURS_H
#define VBD_COLOURS_H

#include "loom/plugin.h"

typedef struct colours { /* fine when zeroed */
  const loom_host *host;
  const loom_exec *e;
  const loom_scene *sc;
  int32_t num;       /* of colours */
  int32_t *first;    /* [num+1], of the vertices of a colour in `order` */
  int64_t *corner;   /* [num+1][num_blocks], first corner of each colour, by block */
  loom_buf *order;   /* i32 [free], free vertices by colour, ascending in each */
  loom_buf *colour;  /* i32 [n]; -1: fixed */
  loom_buf *ptr;     /* i64 [num_blocks][free+1], corners of each vertex of `order` */
  loom_buf *base;    /* i64 [num][num_blocks], where in the rows of a colour corner 0 would be */
  loom_buf **elem;   /* [num_blocks], i32 [corners], element of each corner ... */
  loom_buf **at;     /* [num_blocks], i32 [corners], ... and which of its corners it is */
  int64_t most_rows; /* corners of a colour at most, all blocks together */
} colours;

/* Colours that depend on the elements alone: greedy, vertex by vertex, each the smallest that no
 * element with it has. */
loom_status colours_new(colours *c, const loom_host *host, const loom_exec *e,
                        const loom_scene *sc);
void colours_free(colours *c);

#endif
