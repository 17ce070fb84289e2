/* memory_estimate.c - estimates of a run's memory and log; the memory must not exceed the available
 * one.
 *
 * The core knows no method: it goes by the flags of solver and collision plugins.  Bytes per
 * vertex are of the peak resident size of short runs of a drape on one thread (101^2 and 201^2
 * vertices), in which every solver was within a fifth of the estimate; the numbers of yarns, from a
 * knitted swatch that is in contact all over, are right within a factor of two.  A factor of
 * nested dissection of a sheet has order n log2 n blocks (A. George, Nested dissection of a regular
 * finite element mesh, SIAM J. Numer. Anal. 10(2), 1973); the constant is measured, too.  The
 * estimate leaves out contacts of very many vertices near each other. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "mem/limits.h"
#include "run/checks/memory_estimate.h"
#include "run/run_state.h"

static const double base_bytes = 20e6;  /* of the process with its plugins */
static const double vertex_bytes = 900; /* scene, state, elements */
static const double yarn_vertex_bytes =
    1e4; /* the same of a yarn, with its detection and contact */
static const double self_contact_bytes = 600; /* contact of the cloth with itself */
static const double hessian_bytes = 4500;    /* its blocks, their assembly, vectors of the solver */
static const double projective_bytes = 3700; /* a projective solver that keeps vectors, no factor */
static const double sweep_bytes = 700;       /* one without a matrix: lists, parts of elements */
static const double factor_bytes = 80; /* n log2 n doubles, 10 of them; 9 times that in blocks */
static const double cell_bytes = 16;   /* of a distance grid, while it is made */

typedef struct estimate {
  double scene, solver, all; /* bytes */
} estimate;

static int finds_self(const run *r)
{
  const uint32_t self = LOOM_BIT(LOOM_PAIR_VT) | LOOM_BIT(LOOM_PAIR_EE);
  for (int i = 0; i < r->num_collision; ++i)
    if (r->collision[i].plugin->ops.collision->pair_kinds & self) return 1;
  return 0;
}

/* bytes of a solver's matrix and its auxiliary data, n vertices */
static double matrix_of(uint32_t needs, double n)
{
  const double blocks = needs & LOOM_NEED_ELEM_HESSIAN ? 9 : 1;
  const double hessian = needs & LOOM_NEED_ELEM_HESSIAN ? hessian_bytes * n : 0;
  if (needs & LOOM_USES_FACTOR) return hessian + factor_bytes * blocks * n * log2(n + 2);
  return needs & LOOM_NEED_ELEM_PROJECT ? hessian + projective_bytes * n : hessian;
}

static estimate estimate_of(const run *r, const scene_counts *c)
{
  const uint32_t needs = r->solver.plugin->ops.solver->needs;
  const double n = c->verts - c->yarn_verts;
  estimate e = {0};
  e.scene = vertex_bytes * n + yarn_vertex_bytes * c->yarn_verts + cell_bytes * c->cells;
  if (finds_self(r)) e.scene += self_contact_bytes * n;
  e.solver = needs & LOOM_WITHOUT_MATRIX ? sweep_bytes * n : matrix_of(needs, n);
  /* [log] error has a matrix and a factor of its own */
  const double own = r->set.log.error == ERROR_NEWTON ? 9 : r->set.log.error != ERROR_OFF;
  if (own > 0) e.scene += hessian_bytes * n / 9 * own + factor_bytes * 9 * n * log2(n + 2);
  e.all = base_bytes + e.scene + e.solver;
  return e;
}

typedef struct asker {
  const run *r;
  mem_limit limit;
  int known;
} asker;

static loom_status check_scene_memory(void *user, loom_err *err, const scene_counts *so_far)
{
  const asker *const a = user;
  const estimate e = estimate_of(a->r, so_far);
  char text[5][32];
  if (!a->known || e.all <= a->limit.bytes) return LOOM_OK;
  return err_set(err, LOOM_E_NOMEM,
                 "the scene has %.3g vertices with this object, for which a run takes about %s (%s "
                 "scene and contact, %s solver '%s'), and %s leaves %s; make it coarser, take a "
                 "solver that needs less, raise the limit, or set [exec] memory_check = no",
                 so_far->verts, mem_bytes_text(e.all, text[0]), mem_bytes_text(e.scene, text[1]),
                 mem_bytes_text(e.solver, text[2]), a->r->solver.plugin->name, a->limit.what,
                 mem_bytes_text(a->limit.bytes, text[3]));
}

int memory_estimate_check_start(const run *r)
{
  static const int starts[] = {[RUN_START_REFUSE] = SCENE_REFUSE,
                               [RUN_START_EXCLUDE] = SCENE_EXCLUDE,
                               [RUN_START_UNTANGLE] = SCENE_UNTANGLE};
  return starts[r->set.run.start];
}

/* Nodes of a grid that is computed for a look, 64 on each side and some more: half a second. */
static const double small_grid = 1 << 19;

loom_status memory_estimate_build(run *r, int look_only)
{
  asker a = {.r = r};
  const scene_room room = {check_scene_memory, &a, look_only,
                           r->opt->scene_only ? 0.0 : small_grid};
  a.known = r->set.exec.memory_check && mem_available("", &a.limit);
  return scene_build_within(r->err, r->m, r->c, memory_estimate_check_start(r), &room, &r->scene);
}

/* Frames, and as many rows of iterations as [stop] allows. */
static void describe_log(const run *r, FILE *f)
{
  const double steps = (double)r->sum.steps_planned;
  const double per_frame = (double)r->set.run.substeps * (double)r->set.log.frames_every;
  const double frames = floor(steps / per_frame) + 1;
  const double frame = 6.0 * (r->set.log.frames ? 4 : 8) * (double)r->scene->pub.num_verts;
  const loom_solver_ops *const ops = r->solver.plugin->ops.solver;
  double iters = (double)r->set.stop.max_iters;
  if (ops->max_outer > 0) iters = fmin(iters, (double)ops->max_outer);
  const double most = steps * (iters + 1) * (double)sizeof(h5log_iter_row);
  char text[3][32];
  fprintf(f, "log          %.0f frames of %s%s, at most %s of rows for iterations\n", frames,
          mem_bytes_text(frame, text[0]), r->set.log.compression ? " before compression" : "",
          mem_bytes_text(most, text[1]));
  fprintf(f, "             in all at most %s; checkpoints %s more\n",
          mem_bytes_text(frames * frame + most, text[0]),
          mem_bytes_text(2.0 * 9.0 * sizeof(double) * (double)r->scene->pub.num_verts, text[1]));
}

void memory_estimate_describe(const run *r, void *file)
{
  const loom_scene *const s = &r->scene->pub;
  scene_counts c = {.verts = s->num_verts, .yarn_verts = 0};
  mem_limit limit;
  char text[4][32];
  FILE *const f = file;
  if (s->num_yarns > 0 && s->num_tris == 0 && s->num_tets == 0) c.yarn_verts = c.verts;
  for (int k = 0; k < s->num_obstacles; ++k)
    c.cells += (double)s->obstacles[k].dims[0] * (double)s->obstacles[k].dims[1] *
               (double)s->obstacles[k].dims[2];
  const estimate e = estimate_of(r, &c);
  fprintf(f, "memory       about %s: %s scene and contact, %s solver",
          mem_bytes_text(e.all, text[0]), mem_bytes_text(e.scene, text[1]),
          mem_bytes_text(e.solver, text[2]));
  if (mem_available("", &limit))
    fprintf(f, "; %s leaves %s", limit.what, mem_bytes_text(limit.bytes, text[3]));
  fprintf(f, "\n");
  describe_log(r, f);
}
