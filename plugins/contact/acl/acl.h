/* acl.h - the instance of contact `acl`: sets, where they are, and their memory. */
#ifndef ACL_H
#define ACL_H

#include <stdio.h>

#include "acl.kern.h"
#include "geom/yarn_line.h"
#include "grow.h"
#include "loom/plugin.h"

typedef struct acl_settings {
  double stiffness, tolerance, release, stiction, stiction_break;
  int64_t padding;
  const char *stats;
} acl_settings;

typedef struct acl_pools { /* see acl_pool; capacities of each array */
  acl_pool p;
  int64_t slots, reals;           /* used; reals of K */
  int64_t live_slots, live_reals; /* of sets that exist */
  int64_t cap[8];
} acl_pools;

typedef struct acl {
  const loom_host *h;
  const loom_scene *sc;
  const loom_exec *e;
  acl_settings set;
  yarn_points_table table;
  int32_t n; /* vertices */
  acl_set *sets;
  int64_t num, cap; /* with dead ones */
  grow_ids freed;   /* dead ones, to be used again */
  grow_ids *bins;   /* [ns] sets whose first range meets a segment, ascending */
  acl_pools pool;
  loom_real *P; /* [ns][3][YARN_LANES] m */
  /* lists of sets under way and what the kernels say of them */
  grow_ids list;
  loom_real *metric, *energy, *smallest;
  int32_t *range;
  int64_t out_cap[4];
  /* force at x_at */
  int64_t *at; /* [n+1] */
  int32_t *slot;
  int64_t slot_cap;
  loom_real *force, *other, *x_at; /* [n][3] N, N elsewhere, m */
  double energy_at;                /* J */
  int32_t have_force, planned;
  int32_t layout_changed, boxes_changed;
  loom_buf *exclude; /* u64, boxes for detection */
  loom_buf *order;   /* i32, workspace of their sort */
  /* of this step */
  int64_t live, built, born, died;
  FILE *stats;
} acl;

#define ACL_MEMORY(m, ok) LOOM_CHECK((m)->h, ok, LOOM_E_NOMEM, "no memory for contact sets")

typedef struct acl_box { /* points, ends included */
  int32_t u0, u1, v0, v1;
} acl_box;

/* sets.c: 0 where memory runs out */
/* A new set for the box and everything it overlaps; its number. */
int acl_absorb(acl *m, const yarn_line *l, acl_box box, int32_t *out);
/* Box around points p, q or a range, padded, cut at the ends of the yarns. */
acl_box acl_pad(const acl *m, const yarn_line *l, acl_box box);
int acl_remove(acl *m, const yarn_line *l, int32_t id);
/* 1 if points p, q lie in a set. */
int acl_covered(const acl *m, int32_t seg, int32_t p, int32_t q);
/* Slots of a set whose box is new, room for its K if it has one. */
int acl_layout(acl *m, const yarn_line *l, acl_set *s, int with_K);
/* Room for that many slots and reals of K in all. */
int acl_room(acl_pools *q, int64_t slots, int64_t reals);
/* Remove what dead sets have left, when that is most of it. */
int acl_compact(acl *m);
int acl_hook(acl *m, const yarn_line *l, int32_t id);
void acl_sets_free(acl *m);

/* adapt.c: sets follow the yarns from one step to the next */
loom_status acl_adapt(acl *m, const loom_step *s, const loom_pairs *pairs);
/* Boxes of the present sets into m->exclude, if they have changed. */
loom_status acl_export_boxes(acl *m);
/* evaluate.c */
loom_status acl_open(acl *m, const loom_real *x, int keep, acl_args *out);
loom_status acl_close(acl *m);
loom_status acl_lanes_at(acl *m, const acl_args *a);
loom_status acl_run(acl *m, const lk_entry *k, acl_args *a, const grow_ids *list);
loom_status acl_gather_forces(acl *m, loom_real *force);
loom_status acl_eval(void *self, const loom_step *s, loom_buf *x, double *energy,
                     double *dissipation, loom_buf *grad);
/* state.c */
loom_status acl_state_new(acl *m);
void acl_state_free(acl *m);
void acl_forget(acl *m);
loom_status acl_checkpoint(void *self, const loom_step *s, int restore);

#endif
