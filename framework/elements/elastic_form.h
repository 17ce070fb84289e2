/* elastic_form.h - blocks whose energy is quadratic in the positions, as one sparse matrix.
 *
 * A flat sheet of plate_quadratic reads 1.8 kB per vertex as patches, and 0.3 kB as rows of a
 * matrix on a regular mesh. */
#ifndef LOOM_ELASTIC_FORM_H
#define LOOM_ELASTIC_FORM_H

#include "elements/elastic_blocks.h"

/* 1: all elements of block b are quadratic (elem_type.is_quadratic). */
loom_status elastic_form_asked(elastic *el, int b, int *quadratic);
void elastic_form_free(elastic_form *f);
/* grad += gradient of block b at x, grad NULL: none; its energy in result slot `slot`, < 0: none.
 * The first call makes the matrix. */
loom_status elastic_form_add(elastic *el, int b, loom_buf *x, loom_buf *grad, int slot);

#endif
