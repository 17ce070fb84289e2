/* corners.h - elements by their vertices, on the host: for methods that colour meshes. */
#ifndef KIT_CORNERS_H
#define KIT_CORNERS_H

#include "loom/plugin.h"

typedef struct corners { /* set the first three, the rest zero */
  const int32_t *verts;  /* [num_elems][arity], < n */
  int32_t arity, num_elems;
  int64_t *ptr;       /* [n+1], corners at each vertex, elements ascending */
  int32_t *elem, *at; /* [ptr[n]], the element, and which of its corners */
} corners;

loom_status corners_sort(corners *k, const loom_host *host, int32_t n);
void corners_free(corners *k);

#endif
