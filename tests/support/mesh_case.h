/* mesh_case.h - scenes of triangle meshes for tests of collision plugins: sheets, soups and
 * bodies with their motion, and sorted host copies of the pairs that a plugin finds in them. */
#ifndef MESH_CASE_H
#define MESH_CASE_H

#include "support/test_host.h"

typedef struct mesh_part { /* cloth or bodies */
  int n, nt, ne;
  double *x0, *x1; /* [n][3] m */
  double *r;       /* [n] m */
  uint8_t *fixed;  /* [n] */
  int32_t *object; /* [n] object or obstacle */
  int32_t *tris, *edges;
} mesh_part;

typedef struct mesh_case {
  mesh_part cloth, body;
  int num_objects, num_bodies;
  uint64_t seed;
} mesh_case;

void mc_free(mesh_case *c);

/* One more object: 1: a body, radius ignored. */
typedef struct mc_object {
  int body;
  double radius;
} mc_object;
/* Vertices [n][3] and triangles [nt][3] from 0; edges are made.  Returns the first vertex. */
int mc_add(mesh_case *c, const mc_object *o, int n, const double *x, int nt, const int32_t *tris);
/* A chain of n vertices without triangles. */
int mc_add_chain(mesh_case *c, const mc_object *o, int n, const double *x);
/* nx x ny vertices over [0, w] x [0, h] at z; one diagonal per cell, alternating. */
int mc_add_sheet(mesh_case *c, const mc_object *o, int nx, int ny, double w, double h, double z);
/* A closed ball of radius r at p with (about) m triangles. */
int mc_add_ball(mesh_case *c, const mc_object *o, const double p[3], double r, int m);
/* m triangles with corners in a cube of edge `size`, each at most `edge` wide; no shared ones. */
int mc_add_soup(mesh_case *c, const mc_object *o, int m, double size, double edge);
/* Every vertex moves by a random vector of at most `move` per component, plus (dx, dy, dz). */
void mc_move(mesh_part *p, uint64_t *seed, double move, double dx, double dy, double dz);
/* Fold every vertex of the cloth from `first` on zigzag in x, `layers` layers `gap` apart. */
void mc_fold(mesh_case *c, int first, double width, double gap);
/* Random displacement of the vertices of the cloth from `first` on. */
void mc_shake(mesh_case *c, int first, double size);

/* The scenes of the tests; every one moves. */
enum { MC_SOUP, MC_FOLDED, MC_CRUMPLED, MC_OBJECTS, MC_DEGENERATE, MC_BODIES, MC_LONE, MC_SCENES };
extern const char *const mc_scene_names[];
mesh_case mc_make(int which);

/* A pair that a detector may report, by a plain double loop. */
typedef struct mc_pair {
  int32_t v[4];
  int32_t kind, body; /* -1: none */
  int split;          /* v[split] begins the second side */
  uint64_t key;
  double radii; /* m, of both sides */
} mc_pair;
typedef void (*mc_pair_fn)(void *user, const mc_pair *p);
void mc_each_pair(const mesh_case *c, mc_pair_fn fn, void *user);

/* ---- a scene of it ---- */
typedef struct mc_host {
  test_host t;
  const mesh_case *c;
  loom_buf *b0, *b1; /* the cloth at both ends */
} mc_host;
void mc_open(mc_host *h, const mesh_case *c, int threads, int check);
void mc_close(mc_host *h);
loom_query mc_query(const mc_host *h, uint32_t what, double margin);

typedef struct mc_plugin {
  mc_host *h;
  const loom_plugin *p;
  void *set, *self;
} mc_plugin;
/* Creates it and calls begin_step. */
void mc_plugin_open(mc_plugin *p, mc_host *h, const char *name, const char *values);
void mc_plugin_close(mc_plugin *p);

/* The pairs that it finds, sorted by kind and key. */
typedef struct mc_found {
  int64_t n;
  int32_t *kind, *v, *obst;
  loom_real *w, *normal, *gap, *point, *toi;
  uint64_t *key;
  int grown; /* how often it asked for room */
} mc_found;
mc_found mc_find(mc_plugin *p, const loom_query *q);
void mc_drop(mc_found *f);
/* Fails the test unless both are the same bits. */
void mc_same(const mc_found *a, const mc_found *b, const char *what);
/* Positions of the four vertices at time t between both ends, bodies at their progress. */
void mc_verts(const mesh_case *c, const int32_t v[4], double t, double out[12]);

#endif
