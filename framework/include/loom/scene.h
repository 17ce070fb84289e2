/* loom/scene.h - the simulated scene: topology, state of a step, contact pairs. */
#ifndef LOOM_SCENE_H
#define LOOM_SCENE_H

#include <string.h>

#include "types.h"

/* ---- elements ---- */
typedef struct loom_elem_block loom_elem_block;

enum { /* capabilities of an element type */
       LOOM_ELEM_ENERGY = 1,
       LOOM_ELEM_GRADIENT = 2,
       LOOM_ELEM_HESSIAN = 4,
       LOOM_ELEM_PROJECT = 8, /* energy is w/2 |A x - p(x)|^2 with constant A */
       LOOM_ELEM_SMALL = 16   /* 4 vertices at most, each once; a patch repeats its first vertex in
                               * place of one that is missing */
};

/* One homogeneous set of elements: springs, triangles, hinges, tetrahedra,
 * pins.  Types come from the core (`loom list elements`). */
struct loom_elem_block {
  uint32_t struct_size;
  uint32_t caps;     /* LOOM_ELEM_* */
  const char *type;  /* as `loom list elements` names it: "tri_stvk", "yarn_bend", ... */
  int32_t num_elems; /* ne */
  int32_t arity;     /* vertices per element, a <= 12 */
  int32_t rest_len;  /* reals of rest data per element */
  int32_t mat_len;   /* reals of material data per element */
  int32_t proj_rows; /* q: rows of A per element (PROJECT), else 0 */
  int32_t reserved;
  loom_buf *verts; /* i32 [ne][a], vertex ids */
  loom_buf *rest;  /* real [ne][rest_len], SI units by type */
  loom_buf *mat;   /* real [ne][mat_len], SI units by type */
};

/* ---- bodies ---- */
enum {                         /* loom_obstacle.has */
       LOOM_BODY_DISTANCE = 1, /* a signed distance: host->body_gap and pairs VO */
       LOOM_BODY_MESH = 2      /* a surface of triangles: pairs BVT and BEE */
};
/* Plugins know no shapes: they ask the core for distances and impacts by host->body_gap(), ... */
typedef struct loom_obstacle {
  uint32_t struct_size;
  uint32_t has;           /* LOOM_BODY_* */
  const char *name;       /* the NAME of [body.NAME] */
  const char *kind;       /* value of its key `shape`, for messages: "plane", "box", ... */
  loom_real friction;     /* Coulomb coefficient, 1 */
  loom_real mass;         /* kg; 0: its motion is prescribed; > 0: it moves by the impulses that
                           * contact models report by host->body_push() */
  loom_real pose0[12];    /* body to world at the start of the step: R [3][3], then t [3], m */
  loom_real pose1[12];    /* at the end of the step; motion is interpolated in between */
  loom_buf *verts, *tris; /* MESH: real [.][3], m, body frame; i32 [.][3]; else NULL */
  /* Sizes of the shape, body frame; their meaning by kind: bodies/KIND.kern.h */
  loom_real shape[8];  /* m */
  loom_buf *sdf;       /* real [dims2][dims1][dims0], m, negative inside, or NULL */
  loom_real origin[3]; /* sdf: corner of node (0,0,0), m, body frame */
  loom_real spacing;   /* sdf: m, edge length of a grid cell */
  int32_t dims[3];     /* sdf: grid nodes */
  int32_t reserved;
  const char *field_kind; /* kind of the distance field of a body that bends, or NULL */
  loom_buf *field;        /* u8: data of that field, new in every step, or NULL */
  loom_real lipschitz;    /* field: upper bound of |gradient|, 1 */
  loom_real sweep;        /* field: m, largest motion of a point in the body frame in this step */
} loom_obstacle;

/* Whether edges and triangles of an object take part in contact with a body, beside vertices. */
enum {                              /* loom_scene.elements */
       LOOM_ELEMENTS_NONE = 0,      /* a half space, or a body without a closed form */
       LOOM_ELEMENTS_RESOLVED = 1,  /* the body does not pass between vertices outside of it */
       LOOM_ELEMENTS_UNRESOLVED = 2 /* it may pass between them */
};

/* ---- scene: constant as long as an instance lives ----
 * Where pins are released or begin to hold, the core makes all instances anew, with their states.
 */
/* Data of some scenes only: a table found by its name.  Each extension has a header of its own that
 * declares the type of the table and the name ("loom.material/1"). */
typedef struct loom_extension {
  const char *name;
  const void *table; /* belongs to the core, valid as long as the scene */
} loom_extension;

typedef struct loom_scene {
  uint32_t struct_size;
  int32_t num_verts; /* n */
  /* ---- vertices ---- */
  loom_buf *rest_x; /* real [n][3], m, rest positions; start positions for cloth without one rest
                     * position per vertex (rest = uv, seams), which has its rest lengths in the
                     * elements' rest data */
  loom_buf *mass;   /* real [n], kg, > 0 also for pinned vertices */
  loom_buf *fixed;  /* u8 [n], 1: position prescribed by the core */
  loom_buf *radius; /* real [n], m, half thickness of cloth, yarn radius: constant within an object,
                     * so each vertex of a side of a pair has the radius of the side */
  loom_buf *layer;  /* i32 [n], garment or yarn id, for pair culling */
  loom_buf *object; /* i32 [n], index of the vertex's object */
  /* ---- objects: cloths, solids, yarns, each in the order of the config ---- */
  const char *const *object_names; /* [num_objects] */
  int32_t num_objects;
  /* ---- contact surface; a vertex in neither `edges` nor `tris` has no contact ---- */
  int32_t num_edges, num_tris, num_tets; /* ne, nt, rows of `tets` */
  loom_buf *edges;                       /* i32 [ne][2] contact edges (yarns: centre line) */
  loom_buf *tris;                        /* i32 [nt][3] contact triangles (yarns: none) */
  loom_buf *tets;                        /* i32 [num_tets][4] tetrahedra, vertex ids */
  /* ---- elements ---- */
  const loom_elem_block *blocks; /* [num_blocks] */
  int32_t num_blocks;
  /* ---- bodies ---- */
  int32_t num_obstacles;          /* poses change between steps, the count does not */
  const loom_obstacle *obstacles; /* [num_obstacles] */
  loom_buf *body_friction;        /* real [num_obstacles], 1, as in loom_obstacle */
  /* Surface meshes of the bodies that have one (LOOM_BODY_MESH), put together.  Pairs name a
   * body vertex j by the id num_verts + j; positions are in loom_step. */
  int32_t num_body_verts, num_body_edges, num_body_tris; /* nb, neb, ntb */
  int32_t reserved;
  loom_buf *body_edges; /* i32 [neb][2], from 0 */
  loom_buf *body_tris;  /* i32 [ntb][3], from 0 */
  loom_buf *body_of;    /* i32 [nb], index of the vertex's obstacle */
  /* ---- yarns: Catmull-Rom splines through their vertices (geom/spline.kern.h) ---- */
  /* These buffers are NULL in a scene without yarns.  Yarn k has the vertices yarn_vert[k] to
   * yarn_vert[k+1] - 1 and the segments yarn_seg[k] to yarn_seg[k+1] - 1, both in its running
   * direction: segment j of a yarn runs from its vertex j to j + 1, the last one of a closed yarn
   * back to vertex 0.  So an open yarn has one segment less than vertices, a closed one as many.
   * The yarn's radius is in `radius`, its segments are among `edges`. */
  int32_t num_yarns, num_segs; /* ny, ns */
  loom_buf *yarn_vert;         /* i32 [ny+1] */
  loom_buf *yarn_seg;          /* i32 [ny+1] */
  loom_buf *yarn_closed;       /* u8 [ny], 1: closed */
  loom_buf *segs;              /* i32 [ns][4] vertices q_-1 q_0 q_1 q_2: the segment runs from q_0
                                * to q_1; -1 at the end of an open yarn: the reflected point
                                * 2 q_0 - q_1, respectively 2 q_1 - q_0 */
  loom_buf *seg_yarn;          /* i32 [ns], index of the yarn */
  loom_buf *seg_len;           /* real [ns], m, rest length |q_1 - q_0|, before
                                * loom_step.rest_change */
  loom_buf *loop;              /* i32 [n][2], row and column of the knitted loop that a vertex
                                * belongs to, counted in each object; -1 -1: none */
  /* Pairs of yarn vertices that are held at a fixed distance (bound-off edges). */
  loom_buf *glue;     /* i32 [ng][2], vertex ids */
  loom_buf *glue_len; /* real [ng], m */
  int32_t num_glue;   /* ng */
  /* ---- data of some scenes only ---- */
  int32_t num_extensions;
  const loom_extension *extensions; /* [num_extensions]; see loom_scene_extension() */
  /* ---- objects against bodies ---- */
  /* [num_obstacles][num_objects] LOOM_ELEMENTS_*, or NULL: all 0.  An edge sinks by up to L^2 / (8
   * (R + r)) into the body moved outwards by r, the object's `radius`; R: its least radius of
   * curvature (0: a sharp edge), L: the longest edge, at the start or in rest_x, and the way
   * towards the body in the first step.  The object is unresolved where that is more than r and the
   * body's thinnest rod-like part, of radius R', fits between three vertices: R' + r < L / sqrt(3).
   */
  const uint8_t *elements;
} loom_scene;

/* The table with that name, or NULL: the scene has none.  It belongs to the core.  [any] */
static inline const void *loom_scene_extension(const loom_scene *sc, const char *name)
{
  for (int32_t k = 0; k < sc->num_extensions; ++k)
    if (strcmp(sc->extensions[k].name, name) == 0) return sc->extensions[k].table;
  return NULL;
}

/* ---- one step: input of every call of the scheduler ---- */
/* A problem is an objective, the sum of some of these terms; its gradient is
 *   r(x) = w M (x - y) + grad Psi(x) + grad B(x) + grad D(x)   [N],
 * w the weight of inertia, 1/h^2, Psi elastic, B contact, D dissipation (lagged friction, damping).
 */
enum {
  LOOM_TERM_INERTIA = 1,
  LOOM_TERM_ELASTIC = 2,
  LOOM_TERM_CONTACT = 4, /* B and its part of D: contact models give both together */
  LOOM_TERM_DAMPING = 8, /* D of the elements: stiffness_damping of the scene's objects */
  LOOM_TERM_ALL = 15
};
enum {
  LOOM_CONTACT_LIVE = 0,  /* the contact models themselves */
  LOOM_CONTACT_FROZEN = 1 /* their linearisation by host->freeze_contact() */
};
/* Purpose of a call of a contact model's eval() or hessian(): loom_step.expansion.  An expansion of
 * second order around x, made at the start of the step, replaces the model during the whole step:
 * the core does not call the model again, while bodies go from `progress` to the end of their
 * motion.  Gradient and Hessian must fit each other: friction gives k u and k, with one k and the
 * slip u that results when the bodies have arrived and the cloth is still at x; the core requests
 * the matrix with LOOM_HESS_EXPANSION. */
enum {
  LOOM_EXPAND_NONE = 0, /* values at x, bodies at `progress` */
  LOOM_EXPAND_STEP = 1  /* energy, gradient, Hessian of such an expansion around x */
};
enum {
  LOOM_METRIC_MASS = 0,    /* M times the weight of inertia */
  LOOM_METRIC_DIAGONAL = 1 /* D, N/m: the diagonal of M / h^2 plus the elastic operator, as in the
                            * residual norm r_dinv; made once in a run, from its own h */
};
/* Argument of the services of host.h.  The step's own problem, loom_step.problem, has all terms.  A
 * plugin writes out another problem, or changes a copy: with INERTIA | CONTACT and the target
 * x_hat, for instance, the solution is the point nearest to x_hat that contact allows, in the norm
 * of the mass or in a norm that weighs the stiffness of the cloth. */
typedef struct loom_problem {
  uint32_t struct_size;
  uint32_t terms;   /* LOOM_TERM_* */
  loom_buf *target; /* real [n][3], m: y; NULL: loom_step.y */
  double h;         /* s, > 0, length of the step: rates are changes divided by it */
  double inertia;   /* 1/s^2, > 0 with INERTIA: weight of inertia; the step's problem has 1/h^2 */
  int32_t contact;  /* LOOM_CONTACT_LIVE or _FROZEN */
  int32_t metric;   /* LOOM_METRIC_* of the INERTIA term; pd_operator(), pd_rhs() take only MASS */
} loom_problem;

/* Square of the step length in the weight of inertia, s^2: quantities such as h^2 M^-1 r. */
static inline double loom_problem_h2(const loom_problem *p) { return 1.0 / p->inertia; }

/* The step's problem: find x with r(x) = 0 for all terms. */
typedef struct loom_step {
  uint32_t struct_size;
  int32_t reserved;
  int64_t index;     /* step number from 0 */
  int32_t iter;      /* outer iteration from 0; -1 outside ITERATE */
  int32_t epoch;     /* grows whenever r itself changed (contacts, weights) */
  double time;       /* s, at the end of the step */
  double h;          /* s, length of the step */
  loom_buf *x;       /* real [n][3], m, current iterate; core writes, plugins read */
  loom_buf *x_start; /* real [n][3], m, at the start of the step, intersection-free */
  loom_buf *x_feas;  /* real [n][3], m, latest point that passed FILTER; between two
                      * filters x may run ahead of it and intersect */
  loom_buf *v_start; /* real [n][3], m/s */
  loom_buf *y;       /* real [n][3], m, inertial target */
  loom_buf *trial;   /* real [n][3], m, solver output: point or direction; FILTER consumes it,
                      * later dx and v_end may use the same memory */
  loom_buf *grad;    /* real [n][3], N, r(x); valid iff grad_epoch == epoch
                      * and grad_iter == iter (fixed rows are zero).  In iterate() it is valid,
                      * except at an x where contact has no value (LOOM_REJECTED).  In
                      * begin_step() of a step with frozen contact, and in update() before its
                      * first iteration (iter = -1): the gradient of elasticity alone, at
                      * x_start */
  int32_t grad_iter, grad_epoch;
  loom_buf *v_end;  /* real [n][3], m/s, COMMIT only: (x - x_start)/h, to be
                     * corrected by end_step or contact->velocity */
  loom_buf *f_next; /* real [n][3], N, COMMIT only: force the solver carries into
                     * the next step's y (residual forwarding); zero by default,
                     * its norm is logged */
  /* Bodies and pins follow a prescribed motion.  With a step bound they may not jump to its end,
   * but advance until an obstruction: x belongs to the share `progress` of the motion, and so do
   * the bodies in eval(), hessian() and quad().  `progress` is 1 in every run without a bound, and
   * always at COMMIT. */
  double progress; /* in [0,1] */
  /* real [nb][3], m, world: body vertices at the start and the end of the step's motion; in
   * between they move on straight lines, p = (1 - progress) body0 + progress body1 */
  loom_buf *body0, *body1;
  int32_t filters; /* how often x_feas was set in this step: a model that keeps data found at x_feas
                    * recomputes it when this has changed */
  int32_t max_iters; /* outer iterations that this step may take; 0: not known */
  /* In checkpoint(): 1 where the state is only recorded, after every step, for a replay: the plugin
   * may keep data that a restart would make anew. */
  int32_t recording;
  /* In eval() and hessian() of contact models: LOOM_EXPAND_*, 0 but where contact is frozen. */
  int32_t expansion;
  /* the step's own: all terms, y, h; contact is frozen for solvers with LOOM_WANT_CONTACT_FROZEN */
  const loom_problem *problem;
  /* 1, > -1: the rest lengths of yarns in this step are (1 + rest_change) times the scene's (see
   * the solver's rest_change()).  Rest data of elements include this factor, seg_len does not:
   * contact models of yarns apply it to lengths.  Radii, masses and glue do not change. */
  double rest_change;
  /* m, >= 0: the step bound in force keeps every gap above this length ([filter] min_gap), so a
   * test for a smaller gap never holds.  0: no bound is in force */
  double min_gap;
} loom_step;

/* ---- contact pairs ---- */
enum {
  LOOM_PAIR_VT = 0,  /* vertex-triangle:  v = {p, t0, t1, t2}       */
  LOOM_PAIR_EE = 1,  /* edge-edge:        v = {a0, a1, b0, b1}      */
  LOOM_PAIR_VE = 2,  /* vertex-edge:      v = {p, e0, e1, -1}       */
  LOOM_PAIR_VV = 3,  /* vertex-vertex:    v = {p, q, -1, -1}        */
  LOOM_PAIR_VO = 4,  /* vertex-obstacle:  v = {p, -1, -1, -1}, obst */
  LOOM_PAIR_YY = 5,  /* yarn-yarn: v = {segment a, segment b, -1, -1}, rows of
                      * loom_scene.segs, a < b; w = {s0, s1, t0, t1}, ranges of their
                      * parameters in [0,1] that hold all near points; the contact
                      * model applies the spline's 8-vertex stencil itself */
  LOOM_PAIR_BVT = 6, /* vertex-triangle, one of them of a body's mesh: as VT, with ids
                      * >= num_verts for body vertices; obst names the body */
  LOOM_PAIR_BEE = 7, /* edge-edge, v = {cloth edge, body edge}: as EE, with ids as in
                      * BVT; obst names the body */
  LOOM_PAIR_EO = 8   /* element-obstacle: v = {a, b, -1, -1} an edge or {a, b, c, -1} a triangle
                      * of the scene, deepest at w; obst names a body of closed form */
};
enum {
  LOOM_PAIR_MASK_SELF = 0x2f,
  LOOM_PAIR_MASK_OBSTACLE = 0x1d0,
  LOOM_PAIR_MASK_ALL = 0x1ff,
  LOOM_PAIR_MASK_PLAIN = 0x11f /* kinds with only vertices of the scene in v */
};

/* Structure of arrays, filled by collision plugins, read by contact plugins.
 * Sorted by (kind, key) and free of duplicates when it reaches a contact plugin,
 * so the order is the same on every backend.  The core owns the arrays; detect()
 * writes entries count to capacity - 1 and raises count.  Exact meaning of gap, weights,
 * normal and key by kind: plugin guide, "Pairs". */
typedef struct loom_pairs {
  uint32_t struct_size;
  uint32_t kinds; /* LOOM_BIT(LOOM_PAIR_*) that may be present */
  int64_t count;  /* m pairs */
  int64_t capacity;
  loom_buf *kind;   /* i32 [m], LOOM_PAIR_* */
  loom_buf *v;      /* i32 [m][4], -1 for unused */
  loom_buf *obst;   /* i32 [m], index of the obstacle or -1 */
  loom_buf *w;      /* real [m][4], signed barycentric weights: the relative
                     * position is sum_a w_a x_va (minus the obstacle point) */
  loom_buf *normal; /* real [m][3], unit, pushes v[0]'s side away */
  loom_buf *gap;    /* real [m], m, distance minus both radii; < 0 overlap */
  loom_buf *point;  /* real [m][3], m, obstacle point in world space, else 0 */
  loom_buf *toi;    /* real [m], time of impact in [0,1], 2 if none or not requested */
  loom_buf *key;    /* u64 [m], stable name of the pair across calls */
} loom_pairs;

/* Flags returned by a contact update: work that a solver has to repeat. */
enum {
  LOOM_CHANGED_NONE = 0,
  LOOM_CHANGED_VALUES = 1,
  LOOM_CHANGED_PATTERN = 2,
  LOOM_ASK_FILTER = 4 /* no change: requests FILTER after the next iteration, as loom_iterate.filter
                       * does for a solver; only the core reads it */
};

/* Quadratic contact model, the form projective and reduced solvers use, with
 * u_j = sum_a w_ja x_{v_ja} - p_j:
 *   isotropic term (dir_j = 0)   k_j/2 |u_j|^2
 *   directional term             k_j/2 (dir_j . u_j)^2
 * The sum runs over the a with v_ja >= 0; v_j0 is always a vertex.  v holds vertices of
 * the scene only: a point on a body goes into p_j.  The core owns the arrays, quad() appends.
 * host->contact_quad() gives terms of more vertices where the scene has followers
 * (loom/followers.h), to solvers with LOOM_READS_WIDE_QUADS. */
typedef struct loom_quad {
  uint32_t struct_size;
  int32_t width; /* vertices of a term: 4 in quad() */
  int64_t count; /* m terms */
  int64_t capacity;
  loom_buf *v;   /* i32 [m][width] vertex ids < num_verts, each once in a term, -1 for unused */
  loom_buf *w;   /* real [m][width]; weights of unused vertices are not read */
  loom_buf *k;   /* real [m], N/m */
  loom_buf *p;   /* real [m][3], m */
  loom_buf *dir; /* real [m][3], unit or zero; NULL: all isotropic */
} loom_quad;

/* 3x3 block triplets: contact Hessians on their way into the system matrix.  Blocks of
 * the same row and column are added; the core drops blocks of fixed vertices.
 * The core owns the arrays, hessian() appends. */
typedef struct loom_blocks3 {
  uint32_t struct_size;
  int32_t reserved;
  int64_t count, capacity; /* m blocks */
  loom_buf *row, *col;     /* i32 [m] vertex ids < num_verts; both (i,j) and (j,i) are given */
  loom_buf *val;           /* real [m][3][3], N/m */
} loom_blocks3;

/* Sparse symmetric matrix in 3x3 block rows, assembled by the core. */
typedef struct loom_bsr3 {
  uint32_t struct_size;
  int32_t num_rows; /* n block rows */
  int64_t num_blocks;
  int64_t pattern_id; /* changes exactly when row_ptr or col changes */
  loom_buf *row_ptr;  /* i64 [n+1] */
  loom_buf *col;      /* i32 [num_blocks], ascending in each row */
  loom_buf *val;      /* real [num_blocks][3][3], N/m */
} loom_bsr3;

/* Constant scalar operator of projective dynamics, L = M/h^2 + sum w A'A, to be
 * applied to x, y and z columns alike. */
typedef struct loom_csr {
  uint32_t struct_size;
  int32_t num_rows;
  int64_t nnz, pattern_id;
  loom_buf *row_ptr, *col, *val; /* i64 [n+1], i32 [nnz], real [nnz] N/m */
} loom_csr;

#endif /* LOOM_SCENE_H */
