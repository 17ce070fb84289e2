/* rigid.h - balls: spheres with a mass, moved by the core in every step.
 *
 * Order in a step of length h:
 *   rigid_step   v += h g; impulses of contact between balls and with bodies of prescribed motion
 *                (inelastic, Coulomb friction); x += h v, the turn follows the spin
 *   ...          the cloth's step: contact treats balls as bodies that go their way
 *   rigid_push   v and w take the impulses of contact (host->body_push)
 * so balls and cloth take turns.  That is stable as long as the vertices that hold on to a ball
 * weigh less than RIGID_TOUCH of it: a surface point of a solid ball that is pushed sideways gives
 * way like 2/7 of its mass (1/m + r^2/I = 7/2 1/m).
 *
 * Everything is in double and in a fixed order: the same bits for any number of threads. */
#ifndef LOOM_BODIES_RIGID_H
#define LOOM_BODIES_RIGID_H

#include "bodies/body.h"
#include "bodies/rows.kern.h"
#include "core/err.h"
#include "loom/scene.h"

#define RIGID_TOUCH (2.0 / 7.0)

typedef struct rigid_ball {
  int32_t body;         /* index of the obstacle */
  int32_t warned;       /* 1: a touching object was too heavy once */
  double mass, inertia; /* kg, kg m^2 */
  double radius;        /* m, with its layer */
  double friction;
} rigid_ball;

/* Doubles only: saved and restored as they are. */
typedef struct rigid_state {
  double x[3], q[4]; /* m; unit quaternion, body to world */
  double v[3], w[3]; /* m/s; rad/s, world axes */
} rigid_state;

/* One contact of a step.  Bodies of prescribed motion are b = -1 - k, k in rigid.view. */
typedef struct rigid_touch {
  int32_t a, b;
  double n[3];          /* unit, from b to a */
  double gap;           /* m, at the start of the step; to a body where it stands at the end */
  double u[3];          /* m/s, of the surface of a body of prescribed motion */
  double friction;      /* Coulomb coefficient */
  double normal, along; /* kg, effective mass against an impulse along n and across it */
  double push, drag[3]; /* N s, impulses on a so far, along n and across it */
} rigid_touch;

typedef struct rigid {
  int32_t num;        /* balls */
  rigid_ball *ball;   /* [num] */
  rigid_state *state; /* [num] */
  int32_t num_bodies; /* of prescribed motion */
  int32_t *body;      /* [num_bodies] index of the obstacle */
  obst_view *view;    /* [num_bodies] */
  int32_t *order;     /* [num], for the sweep */
  double *interval;   /* [num][2] m */
  rigid_touch *touch; /* [num_touch], ascending in (a, b) */
  rigid_touch *last;  /* [num_last], of the step before */
  int32_t num_touch, num_last, max_touch, max_last;
} rigid;

/* Balls at the obstacles' poses; bodies that do not move by themselves must have a distance.
 * velocity, spin: [num_obstacles][3] m/s, rad/s; inertia: [num_obstacles] kg m^2
 * (body_kind.inertia). */
loom_status rigid_new(loom_err *err, const loom_scene *sc, const double *inertia,
                      const double *velocity, const double *spin, rigid **out);
void rigid_free(rigid *r);

/* Poses of the balls for a step of h (s) with gravity g (m/s^2); the other obstacles have theirs.
 * sdf [num_obstacles]: values of the grids on the host, or NULL. */
loom_status rigid_step(loom_err *err, rigid *r, loom_obstacle *o, const loom_real *const *sdf,
                       const double g[3], double h);
/* rows [num_obstacles][BODY_IMPULSE]; *light: the first ball that is too light for the mass that
 * touches it, for the first time (else -1). */
void rigid_push(rigid *r, const loom_real *rows, int32_t *light);

/* All that outlives a step, as bits: save NULL: only the count is told.  load returns 0 if `count`
 * or the data do not fit these balls. */
int64_t rigid_save(const rigid *r, uint64_t *out);
int rigid_load(rigid *r, const uint64_t *in, int64_t count);

/* rigid_contact.c: contacts that the next h seconds may see, ascending; 0 if there is no memory */
int rigid_find(rigid *r, double h);
/* impulses that let no pair approach further than its gap */
void rigid_solve(rigid *r, double h);
/* moves apart pairs that still overlap */
void rigid_separate(rigid *r);
/* ball a to ball b, or to body -1 - b: gap (m) and unit vector from b to a */
double rigid_gap(const rigid *r, int32_t a, int32_t b, double n[3]);

#endif
