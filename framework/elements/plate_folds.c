/* plate_folds.c - see plate_folds.h. */
#include "elements/plate_folds.h"

#include <stdlib.h>

#include "elements/plate/plate.kern.h"

static const lk_entry k_moments = LK_ENTRY_MOVES(plate_moments, 0, 0),
                      k_curved = LK_ENTRY_MOVES(plate_curved, 0, 0);

struct plate_folds {
  mem *m;
  int shared;       /* 1: every fold has an owner */
  loom_buf *ptr;    /* i32 [3 ne + 1], of the side a of patch e at 3 e + a */
  loom_buf *from;   /* i32 [ptr[3 ne]], places 9 e + f in `moment` */
  loom_buf *moment; /* real [ne][9], N m */
};

/* One fold of one patch. */
typedef struct fold_use {
  uint64_t edge;    /* its two vertices, the smaller one first */
  int32_t patch, f; /* of the patch */
} fold_use;

void plate_folds_free(plate_folds *p)
{
  if (p == NULL) return;
  buf_free(p->m, p->ptr);
  buf_free(p->m, p->from);
  buf_free(p->m, p->moment);
  free(p);
}

/* By edge; sides of patches first, by their number. */
static int compare_fold_uses(const void *a, const void *b)
{
  const fold_use *const p = a, *const q = b;
  if (p->edge != q->edge) return p->edge < q->edge ? -1 : 1;
  if ((p->f < 3) != (q->f < 3)) return p->f < 3 ? -1 : 1;
  if (p->patch != q->patch) return p->patch < q->patch ? -1 : 1;
  return (p->f > q->f) - (p->f < q->f);
}

/* Folds with a share in the patches, sorted; returns how many. */
static int64_t list_fold_uses(const loom_elem_block *b, const int32_t *verts, const loom_real *rest,
                              fold_use *use)
{
  int64_t num = 0;
  for (int32_t e = 0; e < b->num_elems; ++e) {
    const loom_real *const R = rest + (int64_t)PLATE_REST * e;
    const int32_t *const v = verts + (int64_t)PLATE_VERTS * e;
    for (int f = 0; f < PLATE_FOLDS; ++f) {
      int c[4];
      if (R[f] == 0 && R[PLATE_FOLDS + f] == 0 && R[2 * PLATE_FOLDS + f] == 0) continue;
      plate_fold_corners(f, c);
      const int32_t p = v[c[0]], q = v[c[1]];
      const uint64_t low = (uint64_t)(p < q ? p : q), high = (uint64_t)(p < q ? q : p);
      use[num++] = (fold_use){.edge = low << 32 | high, .patch = e, .f = f};
    }
  }
  qsort(use, (size_t)num, sizeof *use, compare_fold_uses);
  return num;
}

/* Both are the same hinge with the same sign. */
static int is_same_fold(const int32_t *verts, const fold_use *a, const fold_use *b)
{
  int p[4], q[4];
  const int32_t *const v = verts + (int64_t)PLATE_VERTS * a->patch;
  const int32_t *const w = verts + (int64_t)PLATE_VERTS * b->patch;
  plate_fold_corners(a->f, p);
  plate_fold_corners(b->f, q);
  const int turned = v[p[0]] != w[q[0]]; /* seen from its other triangle */
  for (int k = 0; k < 4; ++k)
    if (v[p[k]] != w[q[turned ? k ^ 1 : k]]) return 0;
  return 1;
}

/* owner [num]: of each use its place 3 e + a; returns 0 where a fold is no side of a patch. */
static int find_fold_owners(const int32_t *verts, const fold_use *use, int64_t num, int32_t *owner)
{
  for (int64_t k = 0, first = 0; k < num; ++k) {
    if (use[k].edge != use[first].edge) first = k;
    if (use[first].f >= 3 || !is_same_fold(verts, &use[first], &use[k])) return 0;
    owner[k] = 3 * use[first].patch + use[first].f;
  }
  return 1;
}

static loom_status store_fold_lists(plate_folds *p, const fold_use *use, int64_t num,
                                    const int32_t *owner, int64_t sides)
{
  buf_maps q = {.m = p->m};
  LOOM_TRY(buf_new(p->m, "core", "sides of folds", LOOM_I32, sides + 1, &p->ptr));
  LOOM_TRY(buf_new(p->m, "core", "moments of folds", LOOM_I32, num, &p->from));
  LOOM_TRY(buf_new(p->m, "core", "plate moments", LOOM_REAL, 3 * sides, &p->moment));
  int32_t *const ptr = buf_maps_add(&q, p->ptr, LOOM_WRITE);
  int32_t *const from = buf_maps_add(&q, p->from, LOOM_WRITE);
  if (q.status != LOOM_OK) return buf_maps_end(&q);
  for (int64_t k = 0; k <= sides; ++k) ptr[k] = 0;
  for (int64_t k = 0; k < num; ++k) ++ptr[owner[k] + 1];
  for (int64_t k = 0; k < sides; ++k) ptr[k + 1] += ptr[k];
  /* uses of one owner stand together, so the first of them has the place of its side */
  for (int64_t k = 0, first = 0; k < num; ++k) {
    if (owner[k] != owner[first]) first = k;
    from[ptr[owner[k]] + (k - first)] = PLATE_FOLDS * use[k].patch + use[k].f;
  }
  return buf_maps_end(&q);
}

static loom_status create_fold_lists(elastic *el, const loom_elem_block *b, plate_folds *p)
{
  const int64_t most = PLATE_FOLDS * (int64_t)b->num_elems;
  fold_use *const use = malloc(((size_t)most + 1) * sizeof *use);
  int32_t *const owner = malloc(((size_t)most + 1) * sizeof *owner);
  loom_status s = LOOM_OK;
  buf_maps q = {.m = el->m};
  const int32_t *const verts = buf_maps_add(&q, b->verts, LOOM_READ);
  const loom_real *const rest = buf_maps_add(&q, b->rest, LOOM_READ);
  int64_t num = 0;
  if (use == NULL || owner == NULL)
    s = err_set(mem_err(el->m), LOOM_E_NOMEM, "no memory for the folds of %d plates", b->num_elems);
  if (s == LOOM_OK && q.status == LOOM_OK) {
    num = list_fold_uses(b, verts, rest, use);
    p->shared = find_fold_owners(verts, use, num, owner);
  }
  const loom_status mapped = buf_maps_end(&q);
  if (s == LOOM_OK) s = mapped;
  if (s == LOOM_OK && p->shared)
    s = store_fold_lists(p, use, num, owner, 3 * (int64_t)b->num_elems);
  free(use);
  free(owner);
  return s;
}

loom_status plate_folds_open(elastic *el, int b, int *yes)
{
  el_block *const blk = &el->blocks[b];
  if (blk->folds == NULL) {
    plate_folds *const p = calloc(1, sizeof *p);
    if (p == NULL) return err_set(mem_err(el->m), LOOM_E_NOMEM, "no memory for folds");
    p->m = el->m;
    const loom_status s = create_fold_lists(el, &el->sc->blocks[b], p);
    if (s != LOOM_OK) {
      plate_folds_free(p);
      return s;
    }
    blk->folds = p;
  }
  *yes = blk->folds->shared;
  return LOOM_OK;
}

/* Hessians of the folds that the patches from `first` on own, into el->hess */
static loom_status make_curved(elastic *el, int b, loom_buf *x, int32_t first, int32_t count)
{
  const elem_type *const t = el->blocks[b].type;
  const plate_folds *const p = el->blocks[b].folds;
  buf_maps q = {.m = el->m, .e = el->e};
  const elem_args all = elastic_map(el, b, x, &q);
  plate_curved_args a = {.moment = buf_maps_add(&q, p->moment, LOOM_READ)};
  const int32_t *const ptr = buf_maps_add(&q, p->ptr, LOOM_READ);
  a.from = buf_maps_add(&q, p->from, LOOM_READ);
  lk_real *const out = buf_maps_add(&q, el->hess, LOOM_WRITE);
  if (q.status != LOOM_OK) return buf_maps_end(&q);
  a.ptr = ptr + 3 * (int64_t)first;
  a.all = elastic_from(t, &all, first);
  a.all.out = out;
  elastic_moved(el, t, count, PLATE_CURVED * PLATE_CURVED + PLATE_FOLDS);
  q.status = exec_run(mem_err(el->m), el->e, &k_curved, &a, count, NULL);
  return buf_maps_end(&q);
}

loom_status plate_folds_add(elastic *el, int b, loom_buf *x, asm_bsr *A)
{
  const int32_t num = el->sc->blocks[b].num_elems;
  const int64_t room = buf_count(el->hess) / (PLATE_CURVED * PLATE_CURVED);
  const int32_t most = room < num ? (int32_t)room : num;
  LOOM_TRY(elastic_run(el, b, &k_moments, x, PLATE_FOLDS, el->blocks[b].folds->moment, NULL));
  for (int32_t first = 0; first < num; first += most) {
    const int32_t count = num - first < most ? num - first : most;
    LOOM_TRY(make_curved(el, b, x, first, count));
    LOOM_TRY(asm_bsr_add_part(A, b, first, count, PLATE_CURVED / 3, el->hess));
  }
  return LOOM_OK;
}
