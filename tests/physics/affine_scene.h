/* affine_scene.h - surfaces and scenes of affine bodies for tests. */
#ifndef TEST_AFFINE_SCENE_H
#define TEST_AFFINE_SCENE_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "mesh/mesh.h"

/* A ball as an OBJ file; path ends in XXXXXX.obj. */
static inline void affine_write_ball(char *path, double radius, double edge)
{
  loom_err e = {0};
  mesh m;
  cr_assert_eq(mesh_round_box(&e, (double[3]){0, 0, 0}, radius, edge, &m), LOOM_OK, "%s", e.text);
  const int fd = mkstemps(path, 4);
  cr_assert(fd >= 0);
  FILE *const f = fdopen(fd, "w");
  cr_assert(f != NULL);
  for (int32_t i = 0; i < m.num_verts; ++i)
    fprintf(f, "v %.17g %.17g %.17g\n", m.x[3 * i], m.x[3 * i + 1], m.x[3 * i + 2]);
  for (int32_t t = 0; t < m.num_tris; ++t)
    fprintf(f, "f %d %d %d\n", m.tris[3 * t] + 1, m.tris[3 * t + 1] + 1, m.tris[3 * t + 2] + 1);
  fclose(f);
  mesh_free(&m);
}

/* A ball of 5 cm flies at 1 m/s into a sheet that is free, without gravity; %s: its file. */
#define AFFINE_HIT                                                                              \
  "[run]\nsteps = 10\ndt = 0.01\ngravity = 0 0 0\n[exec]\nbackend = cpu\n[stop]\ntol_abs = 0\n" \
  "tol_rel = 1e-6\nmax_iters = 60\n[log]\naudit = every\n[cloth.sheet]\nmodel = "               \
  "arap+isometric\npattern = regular\nshape = grid\nsize = 0.24 0.24\nresolution = 9 9\n"       \
  "density = 0.2\ntransform = translate 0.003 0.001 -0.055\nmembrane = 100\nk_b = 1e-4\n"       \
  "thickness = 0\n[solid.ball]\nshape = mesh\nfile = %s\nmodel = affine\nstiffness = 8e8\n"     \
  "density = 200\nvelocity = 0.1 0 -1\nthickness = 0\n[collision.all]\nplugin = patch_bvh\n"    \
  "[contact.all]\nplugin = ipc_barrier\n[solver]\nplugin = cholmod_newton\n"

#endif
