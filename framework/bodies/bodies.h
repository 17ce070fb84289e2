/* bodies.h - the bodies of a scene as the services of host.h see them.
 *
 * A service compares the obstacles' poses each time, so that the caller need not report changes.
 * Messages are in mem_err() of the buffers. */
#ifndef LOOM_BODIES_BODIES_H
#define LOOM_BODIES_BODIES_H

#include "bodies/body.h"
#include "loom/host.h"
#include "mem/mem.h"

typedef struct body_set body_set;

/* The obstacles of `sc` must live longer.  Refuses, by name, shapes and grids that cannot be. */
loom_status bodies_open(loom_err *err, mem *m, const loom_scene *sc, body_set **out);
void bodies_close(body_set *b); /* NULL is fine */

/* The services of the same name. */
loom_status bodies_gap(body_set *b, const loom_exec *e, const loom_body_rows *r, double progress,
                       const loom_body_gap *out);
loom_status bodies_impact(body_set *b, const loom_exec *e, const loom_body_rows *r,
                          const loom_body_path *path);
loom_status bodies_near(body_set *b, const loom_exec *e, const loom_body_rows *r, double progress,
                        const loom_body_near *out);
loom_status bodies_near_impact(body_set *b, const loom_exec *e, const loom_body_rows *r,
                               const loom_body_path *path);
loom_status bodies_carry(body_set *b, const loom_exec *e, const loom_body_rows *r, double progress0,
                         double progress1, loom_buf *out);
loom_status bodies_push(body_set *b, const loom_exec *e, const loom_body_rows *r, loom_buf *impulse,
                        loom_buf *mass);

/* Sums of the pushes since the last bodies_clear_pushes(): real [num_obstacles][BODY_IMPULSE],
 * see body_push_sum_args.rows; NULL: no body moves by itself. */
loom_buf *bodies_pushed(const body_set *b);
loom_status bodies_clear_pushes(body_set *b);

#endif
