/* elements.h - the element types of the core and what each can compute.
 *
 * One element type is one kernel file with up to five kernels that share one
 * argument block.  Kernels write one result per element; linalg/assemble.h gathers.
 */
#ifndef LOOM_ELEMENTS_H
#define LOOM_ELEMENTS_H

#include "linalg/assemble.h"
#include "loom/kernel.h"

enum { ELEM_MAX_ARITY = 4, ELEM_MAX_REST = 22, ELEM_MAX_MAT = 8 };

typedef struct elem_args {
  const lk_real *LK_RESTRICT x;     /* [n][3] m */
  const int32_t *LK_RESTRICT verts; /* [ne][arity] */
  const lk_real *LK_RESTRICT rest;  /* [ne][rest_len], see the type's header */
  const lk_real *LK_RESTRICT mat;   /* [ne][mat_len] */
  lk_real *LK_RESTRICT out;         /* gradient [ne][a][3] N; hessian [ne][3a][3a] N/m;
                                     * project [ne][a][3] N: w A'p(x);
                                     * weights [ne][a][a] N/m: w A'A; energy: unused */
  lk_real *LK_RESTRICT energy;      /* gradient: [ne] J, also the energies, or NULL */
  int32_t how;                      /* LOOM_HESS_EXACT, _PSD_CLAMP or _PSD_ABS */
  int32_t reserved;
} elem_args;

typedef struct elem_type {
  const char *name; /* "tri_arap" */
  const char *doc;  /* one line with the source */
  uint32_t caps;    /* LOOM_ELEM_* */
  int32_t arity, rest_len, mat_len, proj_rows;
  const char *rest_doc, *mat_doc; /* "Dm^-1[4] 1/m, area m^2" */
  const lk_entry *energy;         /* LK_REDUCE_SUM, J */
  const lk_entry *gradient;
  const lk_entry *hessian;
  const lk_entry *project; /* PROJECT types only, else NULL */
  const lk_entry *weights;
  /* Rest data of one element from the rest positions X [arity][3] (m), on the host.
   * Returns NULL, or why the element is degenerate ("zero area"). */
  const char *(*init_rest)(const double *X, double *rest);
} elem_type;

/* All types, ended by an entry with name == NULL. */
const elem_type *elem_types(void);
const elem_type *elem_find(const char *name); /* NULL if unknown */

/* ---- the elastic part of the step's problem --------------------------------------- */
typedef struct elastic elastic;
loom_status elastic_new(loom_err *err, mem *m, const loom_exec *e, const loom_scene *sc,
                        elastic **out);
void elastic_free(elastic *el);
uint32_t elastic_caps(const elastic *el); /* LOOM_ELEM_* that every block has */
/* Leaves one partial energy per block in e->result[slot ..]; *used = number of slots. */
loom_status elastic_energy(elastic *el, loom_buf *x, int slot, int *used);
/* Both at one point in one pass over the elements: energies in slots as above. */
loom_status elastic_gradient_energy(elastic *el, loom_buf *x, loom_buf *grad, int slot, int *used);
loom_status elastic_gradient(elastic *el, loom_buf *x, loom_buf *grad);     /* grad += dPsi/dx */
loom_status elastic_hessian(elastic *el, loom_buf *x, int how, asm_bsr *A); /* A += */
loom_status elastic_elem_hessians(elastic *el, int block, loom_buf *x, int how, loom_buf *out);
loom_status elastic_pd_operator(elastic *el, asm_csr *A);            /* A += w A'A */
loom_status elastic_pd_rhs(elastic *el, loom_buf *x, loom_buf *rhs); /* rhs += w A'p */
/* Hp += H(x) p, matrix-free, element Hessians treated as `how` says */
loom_status elastic_apply(elastic *el, loom_buf *x, int how, loom_buf *p, loom_buf *Hp);

/* ---- yarns: frames that elements yarn_bend and yarn_twist keep in their rest data ------------ */
typedef struct rods rods;
/* *out is NULL in a scene without yarn_bend; the two functions below take that. */
loom_status rods_new(loom_err *err, mem *m, const loom_exec *e, const loom_scene *sc, rods **out);
void rods_free(rods *r);
/* At the end of a step at x: carry the frames to x, find the twist of least energy, let rest
 * curvatures yield. */
loom_status rods_update(rods *r, loom_buf *x);
loom_buf *rods_state(const rods *r); /* what outlives a step, or NULL */

#endif
