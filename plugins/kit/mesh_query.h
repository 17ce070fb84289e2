/* mesh_query.h - detection for triangle meshes, the part on the host: the mesh of cloth and bodies,
 * lists of named pairs, the narrow phase, step bounds.  Each collision plugin adds a broad phase
 * that lists the names of candidates.  See mesh_query.kern.h. */
#ifndef MESH_H
#define MESH_H

#include "kit/gather.h"
#include "kit/mesh_apart.kern.h"
#include "kit/mesh_faces.h"
#include "kit/mesh_query.kern.h"
#include "loom/exclusions.h"
#include "loom/plug.h"

typedef struct mesh_params {
  int32_t method;    /* CCD_* */
  double keep;       /* eta of ccd_settings */
  double tolerance;  /* of ccd_settings */
  int64_t max_steps; /* of ccd_settings */
  int32_t shape;     /* of bounds by vertex, MESH_BALL or MESH_PLANE */
} mesh_params;

/* Rows of the parameter table; S: the plugin's settings, with these members. */
#define MESH_CCD_PARAMS(S)                                                                        \
  LOOM_PARAM_ENUM(S, ccd, CCD_ADDITIVE, "additive|cubic|newton",                                  \
                  "How the time of impact is found: additive steps (Li et al. 2021, doi "         \
                  "10.1145/3450626.3459767), roots of the coplanarity cubic, or steps that "      \
                  "cannot pass its first root (Yuksel 2022, doi 10.1145/3543865).")               \
  ,                                                                                               \
      LOOM_PARAM_REAL(S, keep, 0.1, 1e-3, 0.5, "1",                                               \
                      "Share of its gap above [filter] min_gap that a pair keeps in one bounded " \
                      "step; eta of additive CCD."),                                              \
      LOOM_PARAM_INT(S, max_steps, 32, 1, 100000, "1",                                            \
                     "Steps of one time of impact before the slower ones that follow a feature.")

/* The row for `shape`, of plugins that provide LOOM_COLL_STEP_VERTEX. */
#define MESH_VERTEX_PARAMS(S)                                                           \
  LOOM_PARAM_ENUM(                                                                      \
      S, shape, MESH_BALL, "ball|plane",                                                \
      "With [filter] bound = vertex, where a pair lets its vertices go: within a ball " \
      "of (1 - keep) / 2 of its gap (Chen et al. 2025, doi 10.1145/3731205), or on "    \
      "their side of a plane between both sides, along which they slide.")

typedef struct mesh mesh;
struct mesh {
  const loom_host *host;
  const loom_scene *sc;
  const loom_exec *e;
  const loom_exclusions *left_out; /* of the scene, or NULL */
  mesh_params set;
  int32_t num_verts, num_tris, num_edges; /* of cloth and bodies together */
  int64_t room;                           /* names per chunk */
  loom_buf *tris, *edges; /* i32 [.][3], [.][2]; the scene's if there are no bodies */
  int has_bodies;
  loom_buf *radius;               /* real [nv], m; the scene's if there are no bodies */
  loom_buf *fixed_state, *state;  /* u8 [nv] */
  loom_buf *group;                /* i32 [nv] as mesh_view.group, or NULL */
  loom_buf *x0, *x1;              /* real [nv][3], with bodies only */
  loom_buf *part;                 /* real [n][3], end of a step that is cut */
  loom_buf *name, *found, *place; /* u64, i64 [room], i64 [room + 1]: one chunk of candidates */
  loom_buf *chunk_toi;            /* real [room] */
  loom_buf *kept, *toi; /* u64, real [.]: names and times of impact of pairs that passed */
  int64_t num_kept;
  gather held;            /* corners that pairs hold back, in bounds by vertex: ... */
  loom_buf *held_v;       /* i32 [.][4], see mesh_hold_args */
  loom_buf *held_share;   /* real [.][4] */
  loom_buf *cut, *result; /* i64 [2], real [3] */
  int64_t step;           /* of the last bound, -1: none yet */
  int by_parts;           /* 1: max_step() searches parts of a way first; a plugin sets it */
  int watch;              /* 1: mesh_open() finds `still`; a plugin sets it before mesh_create() */
  loom_buf *seen;         /* real [body vertices][3] m, where they were last */
  int64_t still;          /* > 0: body vertices do not move in the open view, and have the positions
                           * and the states of other views with this number; 0: they move */
  int64_t num_stills;     /* numbers given */
  int still_masked;       /* 1: the last view had a mask */
  double last[2];         /* the last two bounds of that step, 1 before them */
  plug_maps maps;         /* of the open view */
};

/* Checks the scene. */
loom_status mesh_create(mesh *m, const loom_host *host, const loom_scene *sc, const loom_exec *e,
                        const mesh_params *set);

/* For mesh_create(): m->group, from the scene's followers. */
loom_status mesh_group_followers(mesh *m);

/* For reset(): no bound of a step is known. */
void mesh_reset(mesh *m);

/* The lists of the mesh, valid until plug_unbind(maps); maps->status tells a failure. */
mesh_faces mesh_faces_bind(const mesh *m, plug_maps *maps);

/* Positions of one query. */
typedef struct mesh_motion {
  loom_buf *x0, *x1; /* real [n][3]; x1 NULL: no motion */
  double progress0, progress1;
  loom_buf *mask; /* or NULL */
} mesh_motion;
loom_status mesh_open(mesh *m, const loom_step *s, const mesh_motion *q, mesh_view *out);
loom_status mesh_close(mesh *m);

/* Request to the broad phase: all pairs of the wanted kinds with a gap below `reach` at x0 and,
 * when there is motion, all pairs for which gap - min_gap falls below `keep` times its value at x0.
 * Boxes of features that grow by mesh_inflation() meet where such a pair may be. */
typedef struct mesh_wanted {
  uint32_t kinds;  /* LOOM_BIT(LOOM_PAIR_VT) ... */
  lk_real reach;   /* m; -LK_REAL_MAX: no pairs by their gap at x0 */
  lk_real min_gap; /* m */
  lk_real keep;    /* 1 */
  int32_t moving;
  int32_t apart; /* 1: vertices go shares of their own, so the ways of both sides add up */
} mesh_wanted;
mesh_wanted mesh_wanted_by(const mesh *m, const loom_query *q);
mesh_wanted mesh_wanted_bound(const mesh *m, const loom_bound *b);
/* Growth on each side of a box around the way of a feature from x0 to x1, for mesh_box(): its
 * radius, `reach`, and `share` times the longest way of its vertices; half of what a pair needs. */
typedef struct mesh_growth {
  double reach; /* m */
  double share; /* 1 */
} mesh_growth;
mesh_growth mesh_inflation(const mesh_wanted *w);

/* Lists the names of groups [first, end) of `family`; place, i64 [num groups + 1], is the
 * exclusive scan of their numbers, and the name at place p goes to name[p - base]. */
typedef loom_status (*mesh_list_fn)(void *plugin, const mesh_view *v, int family, int64_t first,
                                    int64_t end, int64_t base, loom_buf *place, loom_buf *name);

/* Runs the quick test over all candidates of a family and appends the pairs that pass it, and that
 * the scene does not leave out, to m->kept.  *listed grows by the number of candidates. */
loom_status mesh_collect(mesh *m, const mesh_view *v, const mesh_wanted *w, int family,
                         loom_buf *place, int64_t num, mesh_list_fn list, void *plugin,
                         int64_t *listed);
/* Runs the exact test on m->kept and appends the pairs to *out; LOOM_GROW as detect(). */
loom_status mesh_report(mesh *m, const mesh_view *v, const loom_query *q, loom_pairs *out);
/* Largest safe step for the pairs in m->kept: out->t_global and out->blocker. */
loom_status mesh_bound_step(mesh *m, const mesh_view *v, loom_bound *out);
/* The same with a share for each vertex: out->t_vertex, and the least one in out->t_global.  x1 and
 * limit, m: ends of the whole ways, where those of v are no longer than limit; limit < 0: they are
 * the whole ways. */
loom_status mesh_bound_apart(mesh *m, const mesh_view *v, loom_buf *x1, double limit,
                             loom_bound *out);

/* detect() and max_step() around a broad phase, which calls mesh_collect().  In max_step() the
 * broad phase may return LOOM_REJECTED where the way is too long to search as a whole; then half of
 * the way is searched, and the bound is at most that half.  Where earlier bounds of a step were
 * short, max_step() calls the broad phase for a part of the way first.  A bound by vertex halves
 * the longest way only, and others that are longer than its half. */
typedef loom_status (*mesh_broad_fn)(void *plugin, const mesh_view *v, const mesh_wanted *w);
loom_status mesh_detect(mesh *m, const loom_step *s, const loom_query *q, loom_pairs *out,
                        mesh_broad_fn broad, void *plugin);
loom_status mesh_max_step(mesh *m, const loom_step *s, loom_buf *x0, loom_buf *x1, loom_bound *out,
                          mesh_broad_fn broad, void *plugin);

enum {
  MESH_SELF_KINDS = LOOM_BIT(LOOM_PAIR_VT) | LOOM_BIT(LOOM_PAIR_EE),
  MESH_BODY_KINDS = LOOM_BIT(LOOM_PAIR_BVT) | LOOM_BIT(LOOM_PAIR_BEE),
  MESH_KINDS = MESH_SELF_KINDS | MESH_BODY_KINDS,
  MESH_VT_KINDS = LOOM_BIT(LOOM_PAIR_VT) | LOOM_BIT(LOOM_PAIR_BVT),
  MESH_EE_KINDS = LOOM_BIT(LOOM_PAIR_EE) | LOOM_BIT(LOOM_PAIR_BEE)
};

/* ---- helpers ----
 */
/* Copy a small buffer of i64 to the host; waits for the device. */
loom_status mesh_fetch_i64(const mesh *m, loom_buf *b, int n, int64_t *out);
/* Grow a buffer to at least `count` items, with some to spare. */
loom_status mesh_reserve(const mesh *m, loom_buf *b, int64_t count);
/* Runs k[0] on the CPU, for both families, or k[1] for the one and k[2] for the other. */
loom_status mesh_run_families(plug_maps *maps, const lk_entry k[3], const void *args, int64_t n);
/* The query of a step bound that leaves min_gap, m. */
mesh_query mesh_bound_query(mesh *m, plug_maps *maps, const mesh_view *v, double min_gap);
/* Least time b->t of the pairs in m->kept, into out; ends maps. */
loom_status mesh_bound_least(mesh *m, plug_maps *maps, const mesh_bound_args *b, loom_bound *out);
/* Longest way of a vertex, m; the ends of the ways cut down to `limit`, m, into m->part. */
loom_status mesh_longest_way(mesh *m, loom_buf *x0, loom_buf *x1, double *out);
loom_status mesh_limit_ways(mesh *m, loom_buf *x0, loom_buf *x1, double limit);
/* The last of scan_i64's count + 1 values at `at`. */
loom_status mesh_place_at(mesh *m, loom_buf *place, int64_t at, int64_t *out);

#endif
