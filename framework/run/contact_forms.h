/* contact_forms.h - what the core derives from the quadratic form of contact models, freezing. */
#ifndef LOOM_CONTACT_FORMS_H
#define LOOM_CONTACT_FORMS_H

#include "mem/mem.h"
#include "run/instances.h"

loom_status contact_eval(run *r, contact_inst *c, loom_buf *x, int live, double *energy,
                         double *dissipation, loom_buf *g);
loom_status contact_hessian(run *r, contact_inst *c, loom_buf *x, int how, loom_blocks3 *out);
loom_status contact_quad(run *r, contact_inst *c, loom_buf *x, loom_quad *q);
loom_status contact_freeze(run *r, contact_inst *c, loom_buf *x);
void contact_thaw(run *r, contact_inst *c);
/* out[id[j]] += val[j] for val [m][3], in the order of j; id < 0 is skipped */
loom_status sum_by_vertex(run *r, loom_buf *id, int64_t m, loom_buf *val, loom_buf *out);
/* isotropic: every term will be, and there is no array of directions */
loom_status quad_alloc(run *r, const char *owner, int isotropic, loom_quad *q);
/* room for so many and some more, so that slowly growing lists are not copied every time: of a
 * loom_quad, of a loom_blocks3 */
loom_status quad_reserve(mem *m, void *list, int64_t capacity);
void quad_release(run *r, loom_quad *q);
loom_status blocks_alloc(run *r, const char *owner, loom_blocks3 *b);
loom_status blocks_reserve(mem *m, void *list, int64_t capacity);
void blocks_release(run *r, loom_blocks3 *b);

#endif
