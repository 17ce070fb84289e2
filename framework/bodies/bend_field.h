/* bend_field.h - the field of a body that bends: its distance, made anew on the host for every
 * step.
 *
 * A kind of field is NAME.c, which has a body_kind and this table, field_NAME, NAME.kern.h and a
 * line in bodies.def.  All are made from a rig and its pose at both ends of a step, so that any
 * of them can stand for any other. */
#ifndef LOOM_BODIES_FIELD_H
#define LOOM_BODIES_FIELD_H

#include "bodies/bend.kern.h"
#include "core/err.h"
#include "loom/scene.h"
#include "mem/mem.h"
#include "rig/rig.h"

typedef struct field_options {
  const char *kind;   /* "neural", "baked", "exact", "capsules" */
  double layer;       /* m, the surface is moved outwards by it */
  const char *file;   /* neural: the networks */
  int flags;          /* neural, 1: the rule of eq. 1; 0: the least of all regions */
  double difference;  /* neural, above 0: gradients by forward differences of this share of a half
                       * side */
  int64_t resolution; /* baked: nodes of the grid along its longest side */
} field_options;

typedef struct body_field body_field;

/* Functions of a kind.  `block` begins with the kind's own struct, and this one with a bend_head;
 * anchors follow, and at bend_head.own_at the kind's arrays. */
typedef struct field_kind {
  int64_t head; /* bytes of the kind's struct */
  /* Fills own_bytes, lipschitz, and the members of its struct and of `own` that all steps share;
   * `block` is not allocated yet.  Messages without a place. */
  loom_status (*open)(loom_err *err, body_field *f);
  /* Fills the data of `block` that all steps share, once it is allocated.  [optional] */
  void (*settle)(body_field *f);
  /* A step: state, T and x are new, and so are frames and anchors of the block. */
  loom_status (*step)(loom_err *err, body_field *f);
  void (*close)(body_field *f); /* frees `own`; also after a failed open */
  int32_t (*outside)(const body_field *f, const double *angles); /* bend_field_outside [optional] */
} field_kind;

struct body_field {
  mem *m;
  const rig *body;
  field_options opt;
  const field_kind *kind;
  const char *shape; /* BODY_FIELD_SHAPE of bodies.def: the kind's name, or as its open() chose */
  void *own;         /* of the kind */
  int64_t own_bytes; /* of its arrays in the block */
  double lipschitz;  /* bound of the length of the gradient, 1 */
  loom_buf *buf;     /* u8 [bytes], a copy of the block */
  unsigned char *block;
  int64_t bytes;
  int32_t num_anchors, *anchor; /* [num_anchors] vertices of the skin */
  double *state[2];             /* [num_dofs + 12] angles (rad) and root at both ends of the step */
  double *T[2], *x[2];          /* [num_joints][12], [num_verts][3] (m) at both ends */
  int stepped;                  /* 1: these hold a step */
};

/* `body` must live longer, and be closed.  LOOM_E_CONFIG for a body with too many joints, and for
 * a body or options that the kind refuses. */
loom_status bend_field_open(loom_err *err, mem *m, const field_options *o, const rig *body,
                            body_field **out);
void bend_field_close(body_field *f); /* NULL is fine */
/* Sets field, field_kind, lipschitz and sweep of an obstacle, which does not own the buffer; after
 * every bend_field_pose(). */
void bend_field_show(const body_field *f, loom_obstacle *o);
/* A dof with an angle (rad) outside the range for which the field was made, or -1.  [any] */
int32_t bend_field_outside(const body_field *f, const double *angles);
/* Fills the buffer for a step from angles0 [num_dofs] (rad) and root0 [12] at its start to angles1
 * and root1 at its end.  Keeps the buffer if it already holds this step. */
loom_status bend_field_pose(body_field *f, const double *angles0, const double root0[12],
                            const double *angles1, const double root1[12]);

#endif
