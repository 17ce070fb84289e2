/* A hanging chain of 10 masses on springs: depths against the closed form.
 *
 * Mass i (1..10) hangs on spring i of stiffness k and rest length L; in equilibrium spring
 * i carries the weight of the masses i..10, so it is L + (11 - i) m g / k long.  The scene
 * is made in the program (run_options.make_scene): a chain has no triangles. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elements/elements.h"
#include "log/h5read.h"
#include "run/run.h"
#include "scene/base/build.h"
#include "scene/moving/moving.h"

enum { MASSES = 10, N = MASSES + 1 };
static const double K = 50.0, L = 0.1, M = 0.02, G = 9.81; /* N/m, m, kg, m/s^2 */

static void write_chain_buffer(mem *m, loom_buf *b, const void *data, size_t bytes)
{
  void *p;
  cr_assert_eq(buf_map(m, NULL, b, LOOM_WRITE, LOOM_AT_HOST, &p), LOOM_OK);
  memcpy(p, data, bytes);
  cr_assert_eq(buf_unmap(m, b), LOOM_OK);
}

static loom_buf *create_chain_buffer(mem *m, const char *name, int type, int64_t count,
                                     const void *data)
{
  loom_buf *b = NULL;
  cr_assert_eq(buf_new(m, "scene", name, type, count, &b), LOOM_OK);
  if (data != NULL) write_chain_buffer(m, b, data, buf_type_size(type) * (size_t)count);
  return b;
}

static loom_status build_chain_scene(void *user, loom_err *err, mem *m, scene_data **out)
{
  (void)user, (void)err;
  scene_data *const s = calloc(1, sizeof *s);
  loom_real x[3 * N] = {0}, mass[N], rest[MASSES], k[MASSES];
  uint8_t fixed[N] = {1};
  int32_t v[2 * MASSES];
  cr_assert(s != NULL);
  for (int i = 0; i < N; ++i) x[3 * i + 2] = (loom_real)(-L * i), mass[i] = (loom_real)M;
  for (int e = 0; e < MASSES; ++e) {
    v[2 * e] = e, v[2 * e + 1] = e + 1;
    rest[e] = (loom_real)L, k[e] = (loom_real)K;
  }
  s->m = m;
  s->gravity[2] = -G;
  s->motion = calloc(1, sizeof *s->motion);
  s->motion->pin_block = -1;
  s->pub.struct_size = sizeof s->pub;
  s->pub.num_verts = N;
  s->pub.rest_x = create_chain_buffer(m, "rest_x", LOOM_REAL, 3 * N, x);
  s->x0 = create_chain_buffer(m, "x0", LOOM_REAL, 3 * N, x);
  s->v0 = create_chain_buffer(m, "v0", LOOM_REAL, 3 * N, NULL);
  s->damping = create_chain_buffer(m, "damping", LOOM_REAL, N, NULL);
  s->pub.mass = create_chain_buffer(m, "mass", LOOM_REAL, N, mass);
  s->pub.fixed = create_chain_buffer(m, "fixed", LOOM_U8, N, fixed);
  s->pub.radius = create_chain_buffer(m, "radius", LOOM_REAL, N, NULL);
  s->pub.layer = create_chain_buffer(m, "layer", LOOM_I32, N, NULL);
  s->pub.object = create_chain_buffer(m, "object", LOOM_I32, N, NULL);
  s->pub.edges = create_chain_buffer(m, "edges", LOOM_I32, 0, NULL);
  s->pub.tris = create_chain_buffer(m, "tris", LOOM_I32, 0, NULL);
  s->pub.tets = create_chain_buffer(m, "tets", LOOM_I32, 0, NULL);
  const elem_type *const t = elem_find("spring");
  s->blocks = calloc(1, sizeof *s->blocks);
  s->blocks[0] = (loom_elem_block){.struct_size = sizeof s->blocks[0],
                                   .caps = t->caps,
                                   .type = t->name,
                                   .num_elems = MASSES,
                                   .arity = t->arity,
                                   .rest_len = t->rest_len,
                                   .mat_len = t->mat_len,
                                   .proj_rows = t->proj_rows};
  s->blocks[0].verts = create_chain_buffer(m, "verts", LOOM_I32, 2 * MASSES, v);
  s->blocks[0].rest = create_chain_buffer(m, "rest", LOOM_REAL, MASSES, rest);
  s->blocks[0].mat = create_chain_buffer(m, "mat", LOOM_REAL, MASSES, k);
  s->pub.blocks = s->blocks;
  s->pub.num_blocks = 1;
  *out = s;
  return LOOM_OK;
}

/* Long steps of backward Euler lead into equilibrium: with h = 2 s a mode of frequency w
 * shrinks by 1/sqrt(1 + h^2 w^2) < 0.15 per step, the slowest one having w = 3.3 rad/s.
 * Projective dynamics gets shorter steps: its iterations converge with the inertia. */
typedef struct method {
  char solver[32];
  char dt[32], steps[32];
} method;
static method methods[] = {{"cholmod_newton", "run.dt=2", "run.steps=30"},
                           {"cholmod_pd", "run.dt=2", "run.steps=30"},
                           {"gd", "run.dt=0.5", "run.steps=60"}};

ParameterizedTestParameters(chain, depths) { return cr_make_param_array(method, methods, 3); }

static int keep_x(void *user, const run *r, const run_summary *s)
{
  (void)user, (void)r, (void)s;
  return 0;
}

ParameterizedTest(method *p, chain, depths)
{
  static const char text[] = "[run]\ndt = 2\nsteps = 30\n[exec]\nbackend = cpu\n"
                             "[stop]\ntol_abs = 1e-11\ntol_rel = 0\nmax_iters = 100000\n"
                             "[log]\naudit = off\nresidual_every = 100\n[solver]\nplugin = gd\n";
  char set[64], dir[] = "/tmp/loom_chain_XXXXXX", path[64];
  loom_err err = {0};
  cfg *c = NULL;
  run *r = NULL;
  h5read *log = NULL;
  double x[3 * N];
  snprintf(set, sizeof set, "solver.plugin=%s", p->solver);
  const char *const sets[] = {set, p->dt, p->steps};
  cr_assert(mkdtemp(dir) != NULL);
  snprintf(path, sizeof path, "%s/run.h5", dir);
  cr_assert_eq(cfg_parse(&err, text, "chain", dir, sets, 3, &c), LOOM_OK, "%s", err.text);
  const run_options o = {.out = path,
                         .command = "test",
                         .steps = -1,
                         .resume_step = -1,
                         .overwrite = 1,
                         .make_scene = build_chain_scene,
                         .progress = keep_x};
  cr_assert_eq(run_open(&err, c, &o, &r), LOOM_OK, "%s", err.text);
  cr_assert_eq(run_execute(r, &o), LOOM_OK, "%s", err.text);
  run_close(r, NULL);
  cfg_free(c);
  cr_assert_eq(h5read_open(&err, path, &log), LOOM_OK, "%s", err.text);
  cr_assert_eq(h5read_frame(log, &err, h5read_num_frames(log) - 1, x, NULL, NULL, NULL), LOOM_OK);
  h5read_close(log);
  double depth = 0.0;
  for (int i = 1; i < N; ++i) {
    depth += L + (N - i) * M * G / K;
    cr_assert_float_eq(-x[3 * i + 2], depth, 1e-6 * depth, "%s: mass %d at depth %.9g, not %.9g",
                       p->solver, i, -x[3 * i + 2], depth);
  }
  char rm[96];
  snprintf(rm, sizeof rm, "rm -rf %s", dir);
  cr_assert_eq(system(rm), 0);
}
