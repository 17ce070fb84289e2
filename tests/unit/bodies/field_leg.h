/* field_leg.h - a leg that bends in a step, its distance by a kind of field, and points near it. */
#ifndef TEST_UNIT_BODIES_FIELD_LEG_H
#define TEST_UNIT_BODIES_FIELD_LEG_H

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "bodies/bend_field.h"
#include "bodies/shapes.kern.h"
#include "geom/pose.h"
#include "support/test_host.h"

enum { N = 401, DOFS = 4 };

static const char *const kinds[] = {"exact", "baked", "capsules"};
static const double start[DOFS] = {0.2, 0.1, 0.5, 0.05}, end[DOFS] = {0.5, 0, 0.9, -0.1};
static const double folded[DOFS] = {1.2, 0, 2.0, 0};

typedef struct fixture {
  test_host t;
  rig leg;
  body_field *field;
  double *x[2]; /* skin at both ends, body frame */
  obst_view view;
  lk_real p[N][3];
} fixture;

static inline void pose_leg_skin(const rig *r, const double *angles, double shift, double *x)
{
  double root[12];
  double *const T = calloc(12 * (size_t)r->num_joints, sizeof *T);
  pose_identity(root);
  root[9] = shift;
  rig_pose(r, angles, root, T);
  rig_skin(r, T, x);
  free(T);
}

/* Points within about 6 cm of the skin, half way through the step, body frame. */
static inline void scatter_leg_points(fixture *f)
{
  uint64_t seed = 3;
  for (int i = 0; i < N; ++i) {
    const int64_t v = (int64_t)i * 7919 % f->leg.skin.num_verts;
    for (int c = 0; c < 3; ++c)
      f->p[i][c] = (lk_real)(0.5 * (f->x[0][3 * v + c] + f->x[1][3 * v + c])) +
                   (lk_real)(0.05 * th_random(&seed));
  }
}

static inline void map_field_view(fixture *f)
{
  void *p;
  loom_obstacle *const o = &f->t.obstacles[0];
  bend_field_show(f->field, o);
  cr_assert_null(obst_view_fill(o, &f->view));
  cr_assert_eq(buf_map(f->t.m, NULL, o->field, LOOM_READ, LOOM_AT_HOST, &p), LOOM_OK);
  f->view.field = p; /* good until unmap_field_view() */
}

static inline void unmap_field_view(fixture *f)
{
  if (f->view.field != NULL) cr_assert_eq(buf_unmap(f->t.m, f->t.obstacles[0].field), LOOM_OK);
  f->view.field = NULL;
}

static inline void open_field_leg_on(fixture *f, int backend, int threads, const char *kind,
                                     const double *from, const double *to, double layer,
                                     double edge)
{
  double root0[12], root1[12];
  loom_err err = {0};
  const field_options opt = {.kind = kind, .layer = layer, .resolution = 40};
  memset(f, 0, sizeof *f);
  th_open_on(&f->t, backend, threads, 1);
  cr_assert_eq(rig_make(&err, "leg", edge, &f->leg), LOOM_OK);
  cr_assert_eq(bend_field_open(&err, f->t.m, &opt, &f->leg, &f->field), LOOM_OK, "%s", err.text);
  pose_identity(root0);
  pose_identity(root1);
  root1[9] = 0.03;
  cr_assert_eq(bend_field_pose(f->field, from, root0, to, root1), LOOM_OK, "%s", f->t.err.text);
  for (int k = 0; k < 2; ++k) {
    f->x[k] = calloc(3 * (size_t)f->leg.skin.num_verts, sizeof(double));
    pose_leg_skin(&f->leg, k == 0 ? from : to, k == 0 ? 0 : 0.03, f->x[k]);
  }
  f->t.obstacles[0] = th_obstacle("mesh", NULL, 0);
  map_field_view(f);
  scatter_leg_points(f);
}

static inline void open_field_leg(fixture *f, const char *kind)
{
  open_field_leg_on(f, LOOM_CPU, 2, kind, start, end, 0.002, 0.03);
}

static inline void close_field_leg(fixture *f)
{
  unmap_field_view(f);
  bend_field_close(f->field);
  for (int k = 0; k < 2; ++k) free(f->x[k]);
  rig_free(&f->leg);
  th_close(&f->t);
}

#endif
