/* elements.h - the element types of the core and their capabilities.
 *
 * One element type is one folder: a descriptor with all properties of the type that the rest of the
 * core needs, and up to five kernels that share one argument block.  Kernels write one result per
 * element; linalg/assemble.h gathers.
 */
#ifndef LOOM_ELEMENTS_H
#define LOOM_ELEMENTS_H

#include "elements/plate_rest.h"
#include "linalg/assemble.h"
#include "loom/kernel.h"
#include "loom/param.h"

enum {
  ELEM_MAX_ARITY = 12,
  ELEM_MAX_REST = 34,
  ELEM_MAX_MAT = 24,
  ELEM_MAX_SETTINGS = 24, /* doubles that a type's settings take at most */
  ELEM_MAX_TYPES = 64
};

/* Parts of an object on which a type has its elements.  The blocks of a scene are in this order,
 * and for the same part in the order of the types. */
enum {
  ELEM_EDGES = 1,     /* every edge: its two vertices */
  ELEM_CROSSINGS = 2, /* every inner edge: the two vertices opposite to it */
  ELEM_TRIANGLES = 4,
  ELEM_HINGES = 8, /* every inner edge: x0, x1 along it as the first triangle runs, x2 opposite
                    * in that one, x3 opposite in the other */
  ELEM_TETS = 16,
  ELEM_PINS = 32,      /* every vertex that is held by springs; the scene gives their material */
  ELEM_JOINTS = 64,    /* every vertex of a yarn between two segments: the one before, itself, the
                        * one after */
  ELEM_STITCHES = 128, /* every stitch of a seam: the vertex, then the edge it is sewn to; the scene
                        * gives their material */
  ELEM_PATCHES = 256,  /* every triangle with the vertices around it (elements/plate_rest.h) */
  ELEM_TIES = 512      /* every tie: the vertex, then four of another object; the scene gives their
                        * material */
};

typedef struct elem_args {
  const lk_real *LK_RESTRICT x;     /* [n][3] m */
  const int32_t *LK_RESTRICT verts; /* [ne][arity] */
  const lk_real *LK_RESTRICT rest;  /* [ne][rest_len], see the type's header */
  const lk_real *LK_RESTRICT mat;   /* [ne][mat_len] */
  lk_real *LK_RESTRICT out;         /* gradient [ne][a][3] N; hessian [ne][3a][3a] N/m;
                                     * project [ne][a][3] N: w A'p(x);
                                     * weights [ne][a][a] N/m: w A'A; factor [ne][3][3a],
                                     * sqrt(N/m); energy: unused */
  lk_real *LK_RESTRICT energy;      /* gradient: [ne] J, also the energies, or NULL */
  int32_t how;                      /* LOOM_HESS_EXACT, _PSD_CLAMP or _PSD_ABS */
  int32_t reserved;
} elem_args;

typedef struct elem_move_args {
  const lk_real *LK_RESTRICT x;     /* [n][3] m */
  const int32_t *LK_RESTRICT verts; /* [ne][arity] */
  const lk_real *LK_RESTRICT mat;   /* [ne][mat_len], with elem_state.reads_mat */
  lk_real *rest;                    /* [ne][rest_len]: the state moves on to x */
} elem_move_args;

typedef struct elem_settings {
  double room[ELEM_MAX_SETTINGS]; /* holds the settings struct of one type */
} elem_settings;

/* State of a type that carries over from step to step, in the rest data of its block. */
typedef struct elem_state {
  const char *name;     /* in checkpoints: "frames" */
  const lk_entry *move; /* kernel of elem_move_args for commit; NULL: the three functions below */
  int reads_mat;        /* 1: it reads `mat`, which is NULL for others */
  /* 0: an element with these material numbers keeps its rest data, and a block of such elements has
   * no state.  NULL: every element moves. */
  int (*moves)(const loom_real *mat);
  /* Once for a scene with block b of the type; *self is NULL after an error. */
  loom_status (*open)(loom_err *err, mem *m, const loom_exec *e, const loom_scene *sc,
                      const loom_elem_block *b, void **self);
  void (*close)(void *self);
  loom_status (*commit)(void *self, loom_buf *x); /* at the end of a step at x */
  /* Rest lengths become `factor` times the scene's; NULL: the type has none that change. */
  loom_status (*scale)(void *self, double factor);
} elem_state;

/* A line of elements at joints: its start, and its rest state as files give it. */
typedef struct elem_line {
  const double *x; /* [n][3], m, where it starts */
  int32_t n;
  int closed;
  int elsewhere;           /* 1: it does not start at rest */
  const double *length;    /* [segments], m, at rest; NULL: of the rest positions */
  const double *curvature; /* [joints][5], curvatures before and behind (1), twist (rad); NULL */
  const double *director;  /* [segments][3], m1 at the start; NULL: the twist of least energy */
  const void *settings;    /* of the type */
} elem_line;

typedef struct elem_type {
  const char *name; /* "tri_arap" */
  const char *doc;  /* one line with the source */
  uint32_t caps;    /* LOOM_ELEM_* */
  int32_t arity, rest_len, mat_len, proj_rows;
  const char *rest_doc, *mat_doc; /* "Dm^-1[4] 1/m, area m^2" */
  const lk_entry *energy;         /* LK_REDUCE_SUM, J */
  const lk_entry *gradient;
  const lk_entry *hessian;
  const lk_entry *factor;  /* B [ne][3][3a] of Hessians B'B of rank 3, where they are not EXACT;
                            * NULL:  the type has only dense ones */
  const lk_entry *narrow;  /* B [ne][3][3a] of the matrices B'B for LOOM_HESS_NARROW; NULL: the
                            * type's Hessians are narrow */
  int32_t fold_parts;      /* 1: the exact Hessian is B'B and second derivatives of folds
                            * (elements/plate_folds.h) */
  const lk_entry *project; /* PROJECT types only, else NULL */
  const lk_entry *weights;
  const lk_entry *listed; /* elements/listed.kern.h: types with a projective form, else NULL */
  const lk_entry *corner; /* types with a Hessian, else NULL */

  /* Which objects have elements of the type, and where. */
  uint32_t topology;   /* ELEM_*; several of them have one arity */
  const char *section; /* "cloth", "solid" or "yarn"; NULL: objects of every kind */
  const char *word;    /* names the type in the object's key `model`, as its name does; NULL: all
                        * objects of the section have it */

  /* The material: further keys of the section, and the numbers that `material` makes of them. Types
   * with the same `params` share one set of keys.  params NULL with ELEM_PINS, ELEM_STITCHES
   * and ELEM_TIES: the scene gives their numbers. */
  const loom_param *params;
  uint32_t num_params;
  uint32_t table; /* the first `table` params are rows of one table: an object has all of them or
                   * none */
  /* mat [mat_len] of the elements at `place`, one of the bits of `topology`; returns 0 where the
   * material has no elements at this place.  NULL: mat is the first mat_len doubles of the
   * settings.
   */
  int (*material)(const void *settings, uint32_t place, double *mat);
  /* Of membranes of constant strain: Young's modulus in the plane, N/m, the geometric mean of both
   * material axes.  NULL: no membrane. */
  double (*young)(const void *settings);
  /* Refuses values that do not go together, with the key at fault in *key; NULL: all do. */
  loom_status (*check)(loom_err *err, const void *settings, const char **key);

  /* Rest data of one element from the rest positions X [arity][3] (m), on the host.
   * Returns NULL, or the reason why the element is degenerate ("zero area"). */
  const char *(*init_rest)(const double *X, double *rest);
  /* Of ELEM_JOINTS, where rest data depend on neighbouring joints: rest [joints][rest_len] of a
   * whole line of n vertices with the start positions X [n][3].  *where is the joint at fault. */
  const char *(*init_line)(const double *X, int32_t n, int closed, double *rest, int32_t *where);
  /* Of ELEM_PATCHES, in place of init_rest, which is for a patch by itself: rest data of the patch
   * of triangle t with R [3][9] (plate_modes). */
  plate_rest_fn init_patch;
  /* After init_line, for lines with more data than positions; *where as above. */
  const char *(*pose_line)(const elem_line *l, double *rest, int32_t *where);
  /* Name of a type before this one in the list that shares its rest data with this type and updates
   * them for both; NULL: the type has its own. */
  const char *rest_of;
  const elem_state *state; /* NULL: rest data are constant */
  /* 1: with these rest data the energy is x'W x/2, W of `weights`, and the projection 0; the type
   * has no state.  NULL: never. */
  int (*is_quadratic)(const loom_real *rest);
} elem_type;

/* Type i in the order of the list, or NULL past its end. */
const elem_type *elem_at(int i);
int elem_count(void);
const elem_type *elem_find(const char *name); /* NULL if unknown */
/* Index of the type that holds the settings of `type`: the first type of its section with the same
 * rows. */
int elem_settings_of(int type);
/* Writes into buf [len] which types among the blocks [num_blocks] lack a capability of needs
 * (LOOM_ELEM_*), and the words of [cloth], [solid] or [yarn] model that have all of them in the
 * place of each: "plate_quadratic lacks it; in its place [cloth] model takes isometric".  Empty
 * where no type has a replacement.  Returns buf. */
const char *elem_replacements(const loom_elem_block *blocks, int num_blocks, uint32_t needs,
                              char *buf, size_t len);

/* ---- the elastic part of the step's problem ---- */
typedef struct elastic elastic;
loom_status elastic_new(loom_err *err, mem *m, const loom_exec *e, const loom_scene *sc,
                        elastic **out);
void elastic_free(elastic *el);
uint32_t elastic_caps(const elastic *el); /* LOOM_ELEM_* that every block has */
/* Leaves one partial energy per block in e->result[slot ..]; *used = number of slots. */
loom_status elastic_energy(elastic *el, loom_buf *x, int slot, int *used);
/* Gradient and energy at one point in one pass over the elements: energies in slots as above. */
loom_status elastic_gradient_energy(elastic *el, loom_buf *x, loom_buf *grad, int slot, int *used);
loom_status elastic_gradient(elastic *el, loom_buf *x, loom_buf *grad); /* grad += dPsi/dx */
/* A += Hessian; how: LOOM_HESS_*, also | LOOM_HESS_NARROW */
loom_status elastic_hessian(elastic *el, loom_buf *x, int how, asm_bsr *A);
/* Hessians of `count` elements from `first` on, into out, real [count][3a][3a], N/m. */
loom_status elastic_elem_hessians(elastic *el, int block, int32_t first, int32_t count, loom_buf *x,
                                  int how, loom_buf *out);
/* Multiplies dense matrices H, real [count][len], of the elements from `first` on by one + scale w,
 * with w, real [n], at the first vertex of each element. */
loom_status elastic_weigh(elastic *el, int block, int32_t first, int32_t count, loom_buf *w,
                          double one, double scale, int len, loom_buf *H);
/* Gradients of listed elements (diag NULL), or rows and diagonal blocks of corners; the arguments
 * are described in loom/host.h and were checked. */
loom_status elem_listed_run(mem *m, const loom_exec *e, const loom_elem_block *b,
                            const loom_elem_rows *r, loom_buf *x, int how, loom_buf *grad,
                            loom_buf *diag);
/* w A'A of all elements of a block; x: any positions. */
loom_status elem_weights_run(mem *m, const loom_exec *e, const loom_elem_block *b, loom_buf *x,
                             loom_buf *out);
/* Gives back the memory for one block's Hessians, until it is needed again. */
loom_status elastic_trim(elastic *el);
loom_status elastic_pd_operator(elastic *el, asm_csr *A); /* A += w A'A */
/* A += scale share w A'A of one block, `share` real [n] as above; NULL: 1 */
loom_status elastic_pd_add(elastic *el, int block, loom_buf *share, double scale, asm_csr *A);
loom_status elastic_pd_rhs(elastic *el, loom_buf *x, loom_buf *rhs); /* rhs += w A'p */
/* Hp += H(x) p, matrix-free, element Hessians treated as `how` says */
loom_status elastic_apply(elastic *el, loom_buf *x, int how, loom_buf *p, loom_buf *Hp);
/* At the end of a step at x: updates the state of elements to x. */
loom_status elastic_commit(elastic *el, loom_buf *x);
/* Multiplies the rest lengths of types that have elem_state.scale by `factor`. */
loom_status elastic_scale(elastic *el, double factor);
const elem_state *elastic_state(const elastic *el, int block); /* NULL: no state */

#endif
