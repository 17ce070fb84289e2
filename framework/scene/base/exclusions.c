/* exclusions.c - lists of vertex pairs by reason, and the tables that come of them. */
#include "scene/base/exclusions.h"

#include <stdlib.h>
#include <string.h>

#include "loom/exclusions.h"
#include "scene/base/build.h"

struct scene_exclusions {
  loom_exclusions pub;
  int64_t num[SCENE_NUM_REASONS];
  int32_t *pairs[SCENE_NUM_REASONS]; /* [num][2] ascending */
  isect_left_out sewn, all;
};

/* ---- lists ---- */

/* A copy of the lists, one behind the other and settled. */
static loom_status join_pair_lists(loom_err *err, const int32_t *const *from, const int64_t *num,
                                   int lists, int32_t **out, int64_t *count)
{
  int64_t all = 0, at = 0;
  for (int k = 0; k < lists; ++k) all += num[k];
  LOOM_TRY(mesh_alloc(err, 2 * all, sizeof **out, out));
  for (int k = 0; k < lists; ++k) {
    if (num[k] > 0) memcpy(*out + 2 * at, from[k], 2 * sizeof **out * (size_t)num[k]);
    at += num[k];
  }
  *count = isect_settle_pairs(*out, all);
  return LOOM_OK;
}

/* ---- tables ---- */

static loom_status copy_to(builder *b, loom_buf *buf, const int32_t *from, int64_t num)
{
  int32_t *to;
  if (num == 0) return LOOM_OK;
  LOOM_TRY(build_map(b, buf, &to));
  memcpy(to, from, (size_t)num * sizeof *to);
  return buf_unmap(b->s->m, buf);
}

static loom_status publish_exclusions(builder *b, int64_t rows)
{
  scene_exclusions *const x = b->s->left_out;
  int32_t *both = NULL;
  int64_t num = 0;
  LOOM_TRY(isect_left_out_make(b->err, rows, x->pairs[SCENE_SEWN], x->num[SCENE_SEWN], &x->sewn));
  LOOM_TRY(join_pair_lists(b->err, (const int32_t *const *)x->pairs, x->num, SCENE_NUM_REASONS,
                           &both, &num));
  loom_status s = isect_left_out_make(b->err, rows, both, num, &x->all);
  free(both);
  const int64_t room = num > 0 ? 2 * num : 1;
  if (s == LOOM_OK && buf_count(x->pub.other) < room) s = buf_resize(b->s->m, x->pub.other, room);
  if (s == LOOM_OK) s = copy_to(b, x->pub.first, x->all.first, rows + 1);
  if (s == LOOM_OK) s = copy_to(b, x->pub.other, x->all.other, 2 * num);
  x->pub.count = 2 * num;
  ++x->pub.epoch;
  return s;
}

/* ---- the scene's ---- */

static loom_status create_exclusions(builder *b, int64_t rows)
{
  scene_exclusions *x;
  LOOM_TRY(mesh_alloc(b->err, 1, sizeof *x, &x));
  b->s->left_out = x;
  x->pub.struct_size = sizeof x->pub;
  LOOM_TRY(build_new(b, "first left out", LOOM_I32, rows + 1, &x->pub.first));
  LOOM_TRY(build_new(b, "left out", LOOM_I32, 1, &x->pub.other));
  return build_extend(b, LOOM_EXCLUSIONS, &x->pub);
}

loom_status scene_leave_out(loom_err *err, scene_data *s, int reason, const int32_t *pairs,
                            int64_t num)
{
  const int64_t rows = (int64_t)s->pub.num_verts + s->pub.num_body_verts;
  builder b = {.err = err, .s = s};
  if (num > INT32_MAX / 4)
    return err_set(err, LOOM_E_CONFIG, "%lld pairs of vertices to leave out are too many",
                   (long long)num);
  for (int64_t k = 0; k < 2 * num; ++k)
    if (pairs[k] < 0 || pairs[k] >= rows)
      return err_set(err, LOOM_E_ARG, "vertex %d is to be left out, there are %lld", pairs[k],
                     (long long)rows);
  if (s->left_out == NULL) LOOM_TRY(create_exclusions(&b, rows));
  int32_t *list = NULL;
  int64_t count = 0;
  LOOM_TRY(join_pair_lists(err, &pairs, &num, 1, &list, &count));
  free(s->left_out->pairs[reason]);
  s->left_out->pairs[reason] = list;
  s->left_out->num[reason] = count;
  return publish_exclusions(&b, rows);
}

const int32_t *scene_left_out_pairs(const scene_data *s, int reason, int64_t *num)
{
  *num = s->left_out != NULL ? s->left_out->num[reason] : 0;
  return *num > 0 ? s->left_out->pairs[reason] : NULL;
}

const isect_left_out *scene_left_out(const scene_data *s, int all)
{
  const scene_exclusions *const x = s->left_out;
  if (x == NULL || (x->num[SCENE_SEWN] == 0 && (!all || x->num[SCENE_AT_START] == 0))) return NULL;
  return all ? &x->all : &x->sewn;
}

void scene_left_out_free(scene_data *s)
{
  scene_exclusions *const x = s->left_out;
  if (x == NULL) return;
  buf_free(s->m, x->pub.first);
  buf_free(s->m, x->pub.other);
  for (int k = 0; k < SCENE_NUM_REASONS; ++k) free(x->pairs[k]);
  isect_left_out_free(&x->sewn);
  isect_left_out_free(&x->all);
  free(x);
  s->left_out = NULL;
}
