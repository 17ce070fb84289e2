/* following.c - see following.h. */
#include "run/objects/following.h"

#include "linalg/blocks.h"
#include "linalg/linalg.h"
#include "run/objects/following.kern.h"
#include "run/run_state.h"
#include "scene/objects/followers.h"

/* four nodes of a follower; 256 members of a chunk; a block beside three of a surface */
static const lk_entry k_follow = LK_ENTRY_MOVES(run_follow, 19, 7);
static const lk_entry k_clear = LK_ENTRY_MOVES(run_follow_clear, 3, 1);
static const lk_entry k_part = LK_ENTRY_MOVES(run_fold_part, 1027, 258);
static const lk_entry k_sum = LK_ENTRY_MOVES(run_fold_sum, 12, 3);
static const lk_entry k_share_part = LK_ENTRY_MOVES(run_share_part, 257, 258);
static const lk_entry k_share_least = LK_ENTRY_MOVES(run_share_least, 4, 3);
static const lk_entry k_count = LK_ENTRY_MOVES(run_fold_count, 1, 8);
static const lk_entry k_quad = LK_ENTRY_MOVES(run_fold_quad, 24, 24);
static const lk_entry k_expand = LK_ENTRY_MOVES(run_fold_expand, 60, 16);

loom_status following_new(run *r)
{
  const scene_followers *const f = r->scene->followers;
  if (f == NULL) return LOOM_OK;
  LOOM_TRY(buf_new(r->m, "core", "parts of sums", LOOM_REAL, 3 * (int64_t)f->num_chunks,
                   &r->follow.part));
  r->follow.wide = (loom_quad){.struct_size = sizeof r->follow.wide, .width = FOLLOW_WIDTH};
  LOOM_TRY(buf_new(r->m, "core", "wide.v", LOOM_I32, 0, &r->follow.wide.v));
  LOOM_TRY(buf_new(r->m, "core", "wide.w", LOOM_REAL, 0, &r->follow.wide.w));
  return blocks_new(r->m, &r->follow.spare);
}

void following_free(run *r)
{
  if (r->follow.part == NULL) return;
  buf_free(r->m, r->follow.part);
  buf_free(r->m, r->follow.wide.v);
  buf_free(r->m, r->follow.wide.w);
  blocks_free(r->m, &r->follow.spare);
}

/* An element per follower. */
static loom_status launch_rows(run *r, const lk_entry *k, loom_buf *x)
{
  const scene_followers *const f = r->scene->followers;
  buf_maps q = {.m = r->m, .e = &r->exec};
  const follow_args a = {.id = buf_maps_add(&q, f->pub.id, LOOM_READ),
                         .first = buf_maps_add(&q, f->pub.first, LOOM_READ),
                         .node = buf_maps_add(&q, f->pub.node, LOOM_READ),
                         .weight = buf_maps_add(&q, f->pub.weight, LOOM_READ),
                         .x = buf_maps_add(&q, x, LOOM_RDWR)};
  return buf_maps_launch(&q, k, &a, f->pub.count, NULL);
}

/* The iterate comes from several callers between two writes. */
loom_status follow_rows(run *r, loom_buf *x)
{
  following *const f = &r->follow;
  if (r->scene->followers == NULL) return LOOM_OK;
  if (x == f->done && buf_writes(x) == f->writes) return LOOM_OK;
  LOOM_TRY(launch_rows(r, &k_follow, x));
  if (x == r->st.x) {
    f->done = x;
    f->writes = buf_writes(x);
  }
  return LOOM_OK;
}

loom_status follow_clear(run *r, loom_buf *g)
{
  return r->scene->followers != NULL ? launch_rows(r, &k_clear, g) : LOOM_OK;
}

/* One kernel over all chunks, then one over all nodes. */
static loom_status launch_parts(run *r, const lk_entry *parts, const lk_entry *nodes, loom_buf *g)
{
  const scene_followers *const f = r->scene->followers;
  buf_maps q = {.m = r->m, .e = &r->exec};
  const fold_args a = {.node = buf_maps_add(&q, f->node, LOOM_READ),
                       .first_chunk = buf_maps_add(&q, f->first_chunk, LOOM_READ),
                       .first = buf_maps_add(&q, f->first, LOOM_READ),
                       .member = buf_maps_add(&q, f->member, LOOM_READ),
                       .weight = buf_maps_add(&q, f->weight, LOOM_READ),
                       .g = buf_maps_add(&q, g, LOOM_RDWR),
                       .part = buf_maps_add(&q, r->follow.part, LOOM_RDWR)};
  LOOM_TRY(buf_maps_run(&q, parts, &a, f->num_chunks, NULL));
  return buf_maps_launch(&q, nodes, &a, f->num_nodes, NULL);
}

loom_status follow_fold(run *r, loom_buf *g)
{
  if (r->scene->followers == NULL) return LOOM_OK;
  LOOM_TRY(launch_parts(r, &k_part, &k_sum, g));
  return follow_clear(r, g);
}

loom_status follow_share(run *r, loom_buf *t)
{
  return r->scene->followers != NULL ? launch_parts(r, &k_share_part, &k_share_least, t) : LOOM_OK;
}

/* ---- blocks ---- */

static fold_block_args block_args(const run *r, buf_maps *q, const loom_blocks3 *H)
{
  const scene_followers *const f = r->scene->followers;
  return (fold_block_args){.slot = buf_maps_add(q, f->slot, LOOM_READ),
                           .first = buf_maps_add(q, f->pub.first, LOOM_READ),
                           .node = buf_maps_add(q, f->pub.node, LOOM_READ),
                           .weight = buf_maps_add(q, f->pub.weight, LOOM_READ),
                           .row = buf_maps_add(q, H->row, LOOM_READ),
                           .col = buf_maps_add(q, H->col, LOOM_READ),
                           .val = buf_maps_add(q, H->val, LOOM_READ)};
}

static loom_status count_folded(run *r, const loom_blocks3 *H, loom_buf *place, int64_t *total)
{
  loom_buf *num = NULL;
  LOOM_TRY(buf_new(r->m, "core", "folded blocks", LOOM_I64, H->count, &num));
  buf_maps q = {.m = r->m, .e = &r->exec};
  fold_block_args a = block_args(r, &q, H);
  a.num = buf_maps_add(&q, num, LOOM_WRITE);
  LOOM_TRY(buf_maps_launch(&q, &k_count, &a, H->count, NULL));
  LOOM_TRY(la_scan_i64(r->m, &r->exec, num, place, total));
  buf_free(r->m, num);
  if (*total <= INT32_MAX / 9) return LOOM_OK;
  return err_set(r->err, LOOM_E_NOMEM,
                 "contact of affine bodies has %lld blocks in the Hessian; at most %d",
                 (long long)*total, INT32_MAX / 9);
}

loom_status follow_fold_blocks(run *r, loom_blocks3 *H)
{
  loom_blocks3 *const to = &r->follow.spare;
  loom_buf *place = NULL;
  int64_t total = 0;
  if (r->scene->followers == NULL || H->count == 0) return LOOM_OK;
  LOOM_TRY(buf_new(r->m, "core", "places of blocks", LOOM_I64, H->count + 1, &place));
  LOOM_TRY(count_folded(r, H, place, &total));
  LOOM_TRY(blocks_reserve(r->m, to, total));
  buf_maps q = {.m = r->m, .e = &r->exec};
  fold_block_args a = block_args(r, &q, H);
  a.place = buf_maps_add(&q, place, LOOM_READ);
  a.row2 = buf_maps_add(&q, to->row, LOOM_RDWR);
  a.col2 = buf_maps_add(&q, to->col, LOOM_RDWR);
  a.val2 = buf_maps_add(&q, to->val, LOOM_RDWR);
  LOOM_TRY(buf_maps_launch(&q, &k_expand, &a, H->count, NULL));
  buf_free(r->m, place);
  to->count = total;
  const loom_blocks3 swap = *H;
  *H = *to;
  *to = swap;
  return LOOM_OK;
}

loom_status follow_fold_quad(run *r, const loom_quad *q, const loom_quad **out)
{
  const scene_followers *const f = r->scene->followers;
  loom_quad *const to = &r->follow.wide;
  *out = q;
  if (f == NULL) return LOOM_OK;
  if (q->count > to->capacity) {
    to->capacity = q->count + q->count / 4;
    LOOM_TRY(buf_resize(r->m, to->v, FOLLOW_WIDTH * to->capacity));
    LOOM_TRY(buf_resize(r->m, to->w, FOLLOW_WIDTH * to->capacity));
  }
  to->count = q->count;
  to->k = q->k;
  to->p = q->p;
  to->dir = q->dir;
  *out = to;
  buf_maps m = {.m = r->m, .e = &r->exec};
  const fold_quad_args a = {.slot = buf_maps_add(&m, f->slot, LOOM_READ),
                            .first = buf_maps_add(&m, f->pub.first, LOOM_READ),
                            .node = buf_maps_add(&m, f->pub.node, LOOM_READ),
                            .weight = buf_maps_add(&m, f->pub.weight, LOOM_READ),
                            .v = buf_maps_add(&m, q->v, LOOM_READ),
                            .w = buf_maps_add(&m, q->w, LOOM_READ),
                            .v2 = buf_maps_add(&m, to->v, LOOM_RDWR),
                            .w2 = buf_maps_add(&m, to->w, LOOM_RDWR),
                            .width = FOLLOW_WIDTH};
  return buf_maps_launch(&m, &k_quad, &a, q->count, NULL);
}
