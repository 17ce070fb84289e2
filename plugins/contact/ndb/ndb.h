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

typedef struct ndb {
  candidates c; /* are the contacts */
  ndb_value values[NDB_VALUES];
  int32_t num_values;
  struct { /* of the metrics asked for last */
    double v[NDB_SUMS];
    loom_contact_metrics *out;
  } metrics;
  ndb_settings set;
  int friction;                        /* 1: some coefficient is positive */
  loom_buf *slip_obst;                 /* i32 [m], of exact shapes alone, else -1 */
  loom_buf *w, *normal, *point, *most; /* real [m][4], [m][3], [m][3], [m], see fric_state */
  loom_buf *then, *now;                /* real [m][3] m, see fric_state */
  loom_buf *off, *share, *weight;      /* real [m], [m][2], [m] */
  loom_buf *lack, *live;           /* real [m], m; u8 [m]: at the x of the last ndb_measure_at() */
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
/* ndb_weight.c
 * d->scale and d->part: mean diagonal of the projective operator over the free vertices of each
 * object.  Fails where the scene has no such operator. */
loom_status ndb_find_scale(ndb *d, const loom_step *s);
/* Weights and normal forces at x; with `ageing` the ages go on first. */
loom_status ndb_refresh_weights(ndb *d, const loom_step *s, int ageing);
/* ndb_repair.c */
loom_status ndb_resolve(void *self, const loom_step *s, loom_buf *x_feas, loom_buf *x);
/* Maps the data that kernels read at x; `bare`: without weights and lacks, which are being written.
 */
ndb_state ndb_open(ndb *d, plug_maps *m, const loom_step *s, loom_buf *x, int bare);
/* Computes lack and live of the contacts at x. */
loom_status ndb_measure_at(ndb *d, const loom_step *s, loom_buf *x);
/* Sum or maximum over the contacts at x. */
loom_status ndb_reduce(ndb *d, const loom_step *s, loom_buf *x, const lk_entry *k, double *out);

#endif
