/* acl.h - the instance of contact `acl`: sets, where they are, and their memory. */
#ifndef ACL_H
#define ACL_H

#include "acl.kern.h"
#include "kit/grow.h"
#include "kit/yarn_line.h"
#include "loom/plugin.h"

typedef struct acl_settings {
  double stiffness, tolerance, release, stiction, stiction_break;
  int64_t padding;
} acl_settings;

enum { /* states: DIRTY and NEW have no model yet; a NEW set's contact range was not measured */
       ACL_DEAD = 0,
       ACL_CLEAN = 1,
       ACL_DIRTY = 2,
       ACL_NEW = 3
};

/* A set as the host knows it.  Checkpoints hold rows of it. */
typedef struct acl_set {
  acl_place at;
  int32_t state; /* ACL_DEAD ... */
  int32_t pairs; /* in contact when built */
  int32_t slot_cap, block_cap;
  int64_t updates; /* times the model was built */
} acl_set;

enum { ACL_VERT, ACL_QBAR, ACL_FBAR, ACL_M, ACL_X, ACL_Y, ACL_F, ACL_K, ACL_ARRAYS };
typedef struct acl_pools { /* see acl_pool; only kernels touch these */
  loom_buf *b[ACL_ARRAYS];
  int64_t slots, reals;           /* used; reals of K */
  int64_t live_slots, live_reals; /* of sets that exist */
  int64_t scattered;              /* sets that do not lie in memory in the order of their numbers */
} acl_pools;

typedef struct acl {
  const loom_host *host;
  const loom_scene *sc;
  const loom_exec *e;
  acl_settings set;
  yarn_points_table table;
  int32_t n; /* vertices */
  acl_set *sets;
  int64_t num, cap; /* with dead ones */
  grow_ids freed;   /* dead ones, to be used again */
  grow_ids *bins;   /* [ns] for each segment: sets with it in their first range, ascending */
  int32_t *vert;    /* [slots] as acl_pool.vert, for the host */
  int64_t vert_cap;
  acl_pools pool;
  loom_buf *models; /* acl_model [num] */
  loom_buf *P;      /* real [ns][3][YARN_LANES] m */
  /* lists of sets under way: jobs for the kernels, and their results */
  grow_ids list;
  loom_buf *jobs, *places, *lengths; /* acl_job, acl_place, real [.][ACL_SPRINGS] */
  loom_buf *out;                     /* acl_out */
  loom_buf *touch;                   /* acl_touch, of pairs of segments */
  /* force at x_at */
  loom_buf *at;                   /* i64 [n+2] */
  loom_buf *slot;                 /* i32 [.] */
  loom_buf *force, *other, *x_at; /* real [n][3] N, N elsewhere, m */
  loom_buf *result;               /* real [1] */
  double energy_at;               /* J */
  double change;                  /* 1, rest_change of the step */
  int32_t have_force, planned;
  int32_t grown; /* 1: radii have changed since models were built */
  int32_t layout_changed, boxes_changed;
  loom_buf *exclude; /* u64, boxes for detection */
  loom_buf *order;   /* i32, workspace of their sort */
  /* of this step */
  int64_t live, built, born, died, found;
} acl;

#define ACL_MEMORY(m, ok) LOOM_CHECK((m)->host, ok, LOOM_E_NOMEM, "no memory for contact sets")

typedef struct acl_box { /* points, ends included */
  int32_t u0, u1, v0, v1;
} acl_box;

/* sets.c: 0 where memory runs out */
/* A new set for the box and everything it overlaps; its number. */
int acl_absorb(acl *m, const yarn_line *l, acl_box box, int32_t *out);
/* Box around points p, q or a range, padded, cut at the ends of the yarns. */
acl_box acl_pad(const acl *m, const yarn_line *l, acl_box box);
/* Springs of a set that was absorbed stay if they lie in the box of the new one. */
void acl_keep_springs(acl_place *s, const acl_place *old);
int acl_remove(acl *m, const yarn_line *l, int32_t id);
/* 1 if points p, q lie in a set. */
int acl_covered(const acl *m, int32_t seg, int32_t p, int32_t q);
/* Slots of a set with a new box, and its K if it has one; acl_room() makes room for them. */
int acl_layout(acl *m, const yarn_line *l, acl_set *s, int with_K);
/* Slots of a set with the box of t; *off as in acl_place. */
int64_t acl_slots_of(const yarn_line *l, const acl_place *t, int32_t *off);
int acl_hook(acl *m, const yarn_line *l, int32_t id);
void acl_sets_free(acl *m);

/* adapt.c: sets follow the yarns from one step to the next */
loom_status acl_adapt(acl *m, const loom_step *s, const loom_pairs *pairs);
/* Boxes of the present sets into m->exclude, if they have changed. */
loom_status acl_export_boxes(acl *m);
/* pools.c: memory that kernels work on */
loom_status acl_pools_new(acl *m, acl_pools *q);
/* Room for all slots, reals of K and sets there are. */
loom_status acl_room(acl *m);
loom_status acl_trim(acl *m);                 /* no more room than that, for a checkpoint */
int64_t acl_items(const acl_pools *q, int i); /* of array i of the pools */
/* Removes the memory of dead sets, when it is most of all, and puts live sets in order when many
 * are not: kernels take them one after the other, and waiting for memory can take half of the
 * time.  l on the host. */
loom_status acl_compact(acl *m, const yarn_line *l);
/* Jobs of the sets in m->list, with their places if these are new. */
loom_status acl_put_jobs(acl *m, int with_places);
/* Kernel k on these jobs with positions x; results are in m->out. */
loom_status acl_run(acl *m, const lk_entry *k, loom_buf *x, int keep);
/* Results of acl_run(), by place in the list, until m->out is unmapped. */
loom_status acl_results(acl *m, const acl_out **out);

/* evaluate.c */
loom_status acl_lanes_at(acl *m, loom_buf *x);
loom_status acl_gather_forces(acl *m, loom_buf *force);
loom_status acl_max_force(acl *m, double *out); /* N, of the forces of this step */
loom_status acl_eval(void *self, const loom_step *s, loom_buf *x, double *energy,
                     double *dissipation, loom_buf *grad);
/* state.c */
loom_status acl_state_new(acl *m);
void acl_state_free(acl *m);
void acl_forget(acl *m);
/* checkpoint.c */
loom_status acl_checkpoint(void *self, const loom_step *s, int restore);

#endif
