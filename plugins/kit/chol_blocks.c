/* chol_blocks.c - see chol_blocks.h. */
#include "kit/chol_blocks.h"

#include <limits.h>
#include <string.h>

/* Upper triangle by columns, which is the lower one by rows. */
static cholmod_sparse *create_block_pattern(chol *c, const chol_graph *g)
{
  const size_t n = (size_t)g->n, m = (size_t)g->ptr[n];
  cholmod_sparse *const G = cholmod_allocate_sparse(n, n, m, 1, 1, 1, CHOLMOD_PATTERN, &c->cm);
  if (G == NULL) return NULL;
  int *const p = G->p, *const row = G->i;
  for (size_t j = 0; j <= n; ++j) p[j] = (int)g->ptr[j];
  for (size_t k = 0; k < m; ++k) row[k] = g->col[k];
  return G;
}

loom_status chol_order_blocks(chol *c, const chol_graph *g, int *order)
{
  cholmod_sparse *G = create_block_pattern(c, g);
  if (G == NULL) return chol_fail(c, "storing the pattern");
  const int ok = c->ordering == CHOL_METIS ? cholmod_metis(G, NULL, 0, 1, order, &c->cm)
                                           : cholmod_amd(G, NULL, 0, order, &c->cm);
  cholmod_free_sparse(&G, &c->cm);
  return ok ? LOOM_OK : chol_fail(c, "ordering the matrix");
}

/* The supernodal pattern of the blocks for their three rows and columns each. */
static loom_status expand_block_factor(chol *c, const cholmod_factor *B)
{
  const size_t nodes = B->nsuper;
  cholmod_common *const cm = &c->cm;
  cholmod_factor *const L = cholmod_allocate_factor(3 * B->n, cm);
  c->L = L;
  if (L == NULL) return chol_fail(c, "making the factor");
  if (B->xsize > INT_MAX / 9) cm->status = CHOLMOD_TOO_LARGE;
  if (cm->status < CHOLMOD_OK) return chol_fail(c, "analysing the matrix");
  L->is_super = L->is_ll = L->is_monotonic = 1;
  L->xtype = CHOLMOD_PATTERN;
  L->ordering = CHOLMOD_NATURAL; /* so it takes the matrix as it is */
  L->nsuper = nodes;
  L->ssize = 3 * B->ssize;
  L->xsize = 9 * B->xsize;
  L->maxcsize = 9 * B->maxcsize;
  L->maxesize = 3 * B->maxesize;
  L->super = cholmod_malloc(nodes + 1, sizeof(int), cm);
  L->pi = cholmod_malloc(nodes + 1, sizeof(int), cm);
  L->px = cholmod_malloc(nodes + 1, sizeof(int), cm);
  L->s = cholmod_malloc(L->ssize, sizeof(int), cm);
  if (cm->status < CHOLMOD_OK) return chol_fail(c, "making the factor");
  int *const super = L->super, *const pi = L->pi, *const px = L->px, *const row = L->s;
  const int *const bsuper = B->super, *const bpi = B->pi, *const bpx = B->px, *const brow = B->s;
  for (size_t s = 0; s <= nodes; ++s) {
    super[s] = 3 * bsuper[s];
    pi[s] = 3 * bpi[s];
    px[s] = 9 * bpx[s];
  }
  for (size_t k = 0; k < B->ssize; ++k)
    for (int d = 0; d < 3; ++d) row[3 * k + (size_t)d] = 3 * brow[k] + d;
  const int *const bperm = B->Perm, *const bcount = B->ColCount;
  int *const perm = L->Perm, *const count = L->ColCount;
  for (size_t k = 0; k < B->n; ++k)
    for (int d = 0; d < 3; ++d) {
      perm[3 * k + (size_t)d] = 3 * bperm[k] + d;
      count[3 * k + (size_t)d] = 3 * bcount[k] - d;
    }
  return LOOM_OK;
}

/* Pattern of the matrix, lower triangle by columns in the factor's order, and the places.
 * work [2 n]: the inverse of the order; then, per column, the number of blocks below the diagonal,
 * which later counts the blocks already placed. */
static void fill_block_pattern(const chol *c, const chol_graph *g, int *work, chol_place *place)
{
  const int32_t n = g->n;
  const int *const perm = chol_perm(c);
  int *const ap = chol_ptr(c), *const row = chol_row(c), *const inverse = work, *count = work + n;
  for (int32_t k = 0; k < n; ++k) {
    inverse[perm[3 * k] / 3] = k;
    count[k] = 0;
  }
  for (int32_t i = 0; i < n; ++i)
    for (int64_t k = g->ptr[i]; k < g->ptr[i + 1]; ++k) {
      const int a = inverse[i], b = inverse[g->col[k]];
      ++count[a < b ? a : b];
    }
  int at = 0;
  for (int32_t k = 0; k < n; ++k) {
    chol_place *const p = &place[g->ptr[n] + perm[3 * k] / 3];
    *p = (chol_place){at, 3 * count[k]};
    for (int d = 0; d < 3; at += 3 - d + p->far, ++d) {
      ap[3 * k + d] = at;
      for (int e = d; e < 3; ++e) row[at + e - d] = 3 * k + e;
    }
    count[k] = 0;
  }
  ap[3 * (size_t)n] = at;
  for (int32_t i = 0; i < n; ++i)
    for (int64_t k = g->ptr[i]; k < g->ptr[i + 1]; ++k) {
      const int a = inverse[i], b = inverse[g->col[k]], first = a < b ? a : b, low = a < b ? b : a;
      const int far = place[g->ptr[n] + perm[3 * first] / 3].far, slot = 3 * count[first]++;
      place[k] = (chol_place){ap[3 * first] + 3 + slot, a < b ? -far - 1 : far};
      for (int d = 0; d < 3; ++d)
        for (int e = 0; e < 3; ++e) row[ap[3 * first + d] + 3 - d + slot + e] = 3 * low + e;
    }
}

loom_status chol_analyse_blocks(chol *c, const chol_graph *g, const int *order, chol_place *place,
                                double *flops)
{
  const size_t n = (size_t)g->n;
  LOOM_TRY(chol_matrix(c, 3 * (int64_t)n, 9 * g->ptr[n] + 6 * (int64_t)n));
  c->A->stype = -1;
  c->A->sorted = 0;
  cholmod_sparse *G = create_block_pattern(c, g);
  if (G == NULL) return chol_fail(c, "storing the pattern");
  int *const given = cholmod_malloc(2 * n + 1, sizeof *given, &c->cm); /* and workspace */
  cholmod_factor *B = NULL;
  if (given != NULL) {
    memcpy(given, order, n * sizeof *order);
    c->cm.method[0].ordering = CHOLMOD_GIVEN;
    /* small supernodes are merged: CHOLMOD's own limits of 4, 16, 48 columns */
    c->cm.nrelax[0] = 1;
    c->cm.nrelax[1] = 5;
    c->cm.nrelax[2] = 16;
    const int levels = chol_alone();
    B = cholmod_analyze_p(G, given, NULL, 0, &c->cm);
    chol_together(levels);
    *flops = 27.0 * c->cm.fl;
  }
  loom_status s = B != NULL && c->cm.status >= CHOLMOD_OK ? expand_block_factor(c, B)
                                                          : chol_fail(c, "analysing the matrix");
  if (s == LOOM_OK) fill_block_pattern(c, g, given, place);
  cholmod_free_sparse(&G, &c->cm);
  cholmod_free_factor(&B, &c->cm);
  cholmod_free(2 * n + 1, sizeof *given, given, &c->cm);
  return s == LOOM_OK ? chol_workspace(c) : s;
}
