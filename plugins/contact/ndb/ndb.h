/* ndb.h - the instance of the plugin ndb. */
#ifndef NDB_H
#define NDB_H

#include "kit/friction.h"
#include "ndb.kern.h"

typedef struct ndb_settings {
  double d_hat, slack, self_friction, epsilon_v;
  double w0, weight, w_max, growth_base;
  int32_t growth;  /* NDB_GROW_* */
  int32_t samples; /* index into "none|1|3|6|adaptive" */
  int32_t projection;
  double eta;
  int32_t targets; /* NDB_HALFSPACE or NDB_MASS */
  int64_t inner;
  int32_t carry;
  int32_t mollify;
} ndb_settings;

/* Sums that the core reads when it waits for the device anyway, and where they go. */
typedef struct ndb_value {
  double v[2];                  /* J */
  double *energy, *dissipation; /* NULL: not asked for */
} ndb_value;
enum { NDB_VALUES = 8 }; /* more than the core asks for between two waits */
enum { NDB_GROWN = 0, NDB_OLDEST, NDB_LEAST_GAP, NDB_ACTIVE, NDB_STRONGEST, NDB_WORK, NDB_SUMS };

/* Where lack and live were measured.  On a device nothing is known: to compare points would make
 * the host wait. */
typedef struct ndb_measured {
  int known;       /* 1: at `x` and `progress` */
  int placed;      /* 1: c.act.place has the places of the corners of live contacts */
  int64_t corners; /* their number */
  loom_buf *x;     /* real [n][3] m */
  double progress;
} ndb_measured;

typedef struct ndb {
  candidates c; /* are the contacts */
  ndb_value values[NDB_VALUES];
  int32_t num_values;
  struct { /* of the metrics asked for last */
    double v[NDB_SUMS];
    loom_contact_metrics *out;
  } metrics;
  ndb_settings set;
  int friction;                   /* 1: some coefficient is positive */
  loom_buf *slip_obst;            /* i32 [m], of exact shapes alone, else -1 */
  loom_buf *w, *normal, *most;    /* real [m][4], [m][3], [m], see fric_state */
  loom_buf *limit;                /* real [m], N, `most` for an expansion */
  loom_buf *start, *size;         /* real [n][3], N, contact at x_start (push, size: fric_temper) */
  loom_buf *point, *then, *now;   /* real [c.touch.num][3] m, see fric_state */
  loom_buf *off, *share, *weight; /* real [m], [m][2], [m] */
  loom_buf *lack, *live;          /* real [m], m; u8 [m]: at the x of the last ndb_measure_at() */
  ndb_measured measured;
  loom_buf *key, *key_old;         /* u64 [m], [num_old] */
  loom_buf *age, *age_old;         /* i32 [m], [num_old] */
  loom_buf *brought, *brought_old; /* i32 [m], [num_old], ages at the start of the step */
  loom_buf *leave;                 /* i32 [m], ages to begin the next step with */
  loom_buf *force, *force_old;     /* real [m], [num_old], N, normal forces at the last iterate */
  loom_buf *from;                  /* i32 [m] */
  loom_buf *hat, *push;            /* real [n][3], m and kg m, of ndb_resolve() */
  loom_buf *impulse, *inverse;     /* real [m][2], kg m; [m], kg */
  int64_t num_old;
  double scale; /* N/m, mean diagonal of the projective operator, of several objects the largest; or
                 * `weight` */
  loom_buf *part;       /* real [num_objects], their share of it; NULL: one object, or `weight` */
  ahead_data ahead;     /* where secants of friction are */
  double inertia_scale; /* 1/s^2, weight of inertia it was found for; 0: none yet */
  int32_t filters;      /* loom_step.filters when contacts were frozen; -1: not in this step */
  double progress;      /* at which bodies stood then */
  double frozen;        /* at which their points were found */
  int64_t since;        /* iterations since */
  int64_t continuous;   /* continuous detections asked for in this step */
} ndb;

/* ndb_forms.c */
loom_status ndb_eval(void *self, const loom_step *s, loom_buf *x, double *energy,
                     double *dissipation, loom_buf *grad);
loom_status ndb_quad(void *self, const loom_step *s, loom_buf *x, loom_quad *out);
loom_status ndb_hessian(void *self, const loom_step *s, loom_buf *x, int how, loom_blocks3 *out);
loom_status ndb_metrics(void *self, const loom_step *s, loom_contact_metrics *out);
/* ndb_live.c
 * On the CPU: *known = 1: lack and live are of x; ndb_remember(): they are now. */
loom_status ndb_is_measured(ndb *d, const loom_step *s, loom_buf *x, int *known);
loom_status ndb_remember(ndb *d, const loom_step *s, loom_buf *x);
/* The squares of the numbers of corners of live contacts: their sum, and its parts in c.act.at. */
loom_status ndb_count_squares(ndb *d, int64_t *total);
/* ndb_weight.c
 * d->scale and d->part: mean diagonal of the projective operator over the free vertices of each
 * object.  Fails where the scene has no such operator. */
loom_status ndb_find_scale(ndb *d, const loom_step *s);
/* Weights and normal forces at x; with `ageing` the ages go on first. */
loom_status ndb_refresh_weights(ndb *d, const loom_step *s, int ageing);
/* ndb_repair.c */
loom_status ndb_resolve(void *self, const loom_step *s, loom_buf *x_feas, loom_buf *x);
/* Where the points of contacts with exact shapes are at a share of the bodies' motion, into `out`.
 */
loom_status ndb_carry_points(ndb *d, double progress, loom_buf *out);
/* Maps the data that kernels read at x; `bare`: without weights and lacks, which are being written.
 */
ndb_state ndb_open(ndb *d, plug_maps *m, const loom_step *s, loom_buf *x, int bare);
/* Computes lack and live of the contacts at x, unless they are of this point. */
loom_status ndb_measure_at(ndb *d, const loom_step *s, loom_buf *x);
/* lack and live are not of the point of the last ndb_measure_at() any more. */
void ndb_forget(ndb *d);
/* Places of the corners of live contacts in c.act.place, and their number; on a device the number
 * of all corners. */
loom_status ndb_place_live(ndb *d);
/* Room for the forces of live contacts, their first places, and their sums at vertices. */
loom_status ndb_place_forces(ndb *d);
loom_buf *ndb_places(const ndb *d);
loom_status ndb_gather(ndb *d, loom_buf *out);
/* Sum or maximum over the contacts at x. */
loom_status ndb_reduce(ndb *d, const loom_step *s, loom_buf *x, const lk_entry *k, double *out);

#endif
