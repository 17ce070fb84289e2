/* test_host.h - the core's services for one plugin instance, without a run around it.
 *
 * Buffers, primitives and messages are the real ones (mem, linalg); detection goes to the
 * collision plugin attached with th_attach().  Services that need a whole run (elastic energies,
 * assembly, logs) are refused with LOOM_E_UNSUPPORTED.  Any failure fails the test. */
#ifndef TEST_HOST_H
#define TEST_HOST_H

#include "bodies/bodies.h"
#include "linalg/linalg.h"
#include "loom/plugin.h"

typedef struct test_host {
  loom_err err;
  mem *m;
  loom_exec exec;
  loom_host host;
  loom_scene scene;
  loom_problem problem; /* of the step: all terms, live contact */
  loom_step step;
  loom_obstacle obstacles[8];
  body_set *bodies;      /* of the obstacles as they were when a service was asked last */
  loom_obstacle seen[8]; /* these obstacles */
  loom_pairs asked;      /* of host->detect */
  const loom_collision_ops *collision;
  void *collision_self;
  int64_t counters[LOOM_NUM_COUNTERS];
  char log[4096]; /* messages of plugins, one per line */
} test_host;

/* check: buffers in check mode (copies, poison). */
void th_open(test_host *t, int threads, int check);
void th_open_on(test_host *t, int backend, int threads, int check);
/* Frees all; fails the test if something is still mapped. */
void th_close(test_host *t);

loom_buf *th_buf(test_host *t, int type, int64_t count, const void *values); /* NULL: zeros */
void th_put(test_host *t, loom_buf *b, const void *values);
/* Copy of the contents, malloc'ed. */
void *th_get(test_host *t, loom_buf *b);

/* n vertices at x [n][3] with masses m [n] and radii r [n] (NULL: 1 kg, 0 m); y, v and all
 * positions of the step start there.  Obstacles stand in t->obstacles [num_obstacles]. */
void th_scene(test_host *t, int n, const loom_real *x, const loom_real *m, const loom_real *r,
              int num_obstacles);
/* Identity poses; shape as loom_obstacle.shape. */
loom_obstacle th_obstacle(const char *kind, const loom_real *shape, int num);
/* Rotation by angle (rad) about the unit axis, then translation. */
void th_pose(loom_real pose[12], const double axis[3], double angle, const double t[3]);

/* From LOOM_PLUGIN_PATH. */
const loom_plugin *th_plugin(const char *file, int kind, const char *name);
/* Settings with defaults and "key=value ..." on top; malloc'ed. */
void *th_settings(const loom_plugin *p, const char *values);
void *th_create(test_host *t, const loom_plugin *p, const void *settings);
void th_attach(test_host *t, const loom_plugin *p, void *self);

void th_pairs_open(test_host *t, loom_pairs *p, int64_t capacity);
void th_pairs_close(test_host *t, loom_pairs *p);
/* Ask the attached plugin, growing as it asks; returns how often it had to grow. */
int th_detect(test_host *t, const loom_query *q, loom_pairs *p);

/* The Hessian of a contact model at x, dense, in H [stride][stride]; returns the number of blocks.
 * No block may name the vertex `fixed`, -1: none. */
int64_t th_contact_hessian(test_host *t, const loom_contact_ops *ops, void *self, const double *x,
                           int how, int fixed, double *H, int stride);

/* Uniform in [-1, 1), from a counter-based generator. */
double th_random(uint64_t *state);

/* A callback that a plugin may leave out. */
#define TH_CALL(ops, member, ...) ((ops)->member != NULL ? (ops)->member(__VA_ARGS__) : LOOM_OK)

#endif
