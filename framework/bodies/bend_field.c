/* bend_field.c - see bend_field.h: anchors, poses and the block of memory, the same for all kinds.
 */
#include "bodies/bend_field.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bodies/body.h"

#define BODY_FIELD(name) extern const field_kind field_##name;
#include "bodies/bodies.def"

/* Not in kinds.c: `loom describe` links its table without the code that makes fields. */
static const struct {
  const char *name;
  const field_kind *kind;
} kinds[] = {
#define BODY_FIELD(name) {#name, &field_##name},
#include "bodies/bodies.def"
};

static const field_kind *find_field_kind(const char *name)
{
  for (size_t i = 0; i < LOOM_COUNT(kinds); ++i)
    if (strcmp(kinds[i].name, name) == 0) return kinds[i].kind;
  return NULL;
}

static bend_head *get_bend_head(body_field *f) { return (bend_head *)(void *)f->block; }

static float *anchors_of(body_field *f)
{
  return (float *)(void *)(f->block + get_bend_head(f)->anchors_at);
}

/* ---- anchors ---- */

/* Vertices far from each other: each next one is the farthest from the vertices before. */
static loom_status choose_anchors(loom_err *err, body_field *f)
{
  const mesh *const skin = &f->body->skin;
  double *d2;
  int32_t next = 0;
  f->num_anchors = skin->num_verts < BEND_ANCHORS ? skin->num_verts : BEND_ANCHORS;
  LOOM_TRY(mesh_alloc(err, f->num_anchors, sizeof *f->anchor, &f->anchor));
  LOOM_TRY(mesh_alloc(err, skin->num_verts, sizeof *d2, &d2));
  for (int32_t v = 0; v < skin->num_verts; ++v) d2[v] = DBL_MAX;
  for (int32_t k = 0; k < f->num_anchors; ++k) {
    const double *const a = skin->x + 3 * (int64_t)next;
    f->anchor[k] = next;
    for (int32_t v = 0; v < skin->num_verts; ++v) {
      const double *const b = skin->x + 3 * (int64_t)v;
      d2[v] = fmin(d2[v], pow(a[0] - b[0], 2) + pow(a[1] - b[1], 2) + pow(a[2] - b[2], 2));
    }
    for (int32_t v = 0; v < skin->num_verts; ++v)
      if (d2[v] > d2[next]) next = v;
  }
  free(d2);
  return LOOM_OK;
}

/* Shares of the joints in anchor k. */
static void set_shares(body_field *f, int32_t k)
{
  const rig *const r = f->body;
  float *const share = anchors_of(f) + (int64_t)6 * BEND_ANCHORS;
  const int64_t first = (int64_t)f->anchor[k] * r->per;
  for (int b = 0; b < r->per; ++b)
    share[(int64_t)r->bone[first + b] * BEND_ANCHORS + k] += (float)r->weight[first + b];
}

/* ---- life ---- */

static int64_t align_block_bytes(int64_t bytes) { return (bytes + 63) / 64 * 64; }

static loom_status lay_out_block(loom_err *err, body_field *f)
{
  const int64_t anchors = (int64_t)(6 + f->body->num_joints) * BEND_ANCHORS;
  const bend_head b = {.num_frames = f->body->num_joints,
                       .anchors_at = align_block_bytes(f->kind->head),
                       .own_at = align_block_bytes(align_block_bytes(f->kind->head) +
                                                   anchors * (int64_t)sizeof(float))};
  f->bytes = b.own_at + f->own_bytes;
  LOOM_TRY(mesh_alloc(err, f->bytes, 1, &f->block));
  *get_bend_head(f) = b;
  for (int32_t k = 0; k < f->num_anchors; ++k) set_shares(f, k);
  if (f->kind->settle != NULL) f->kind->settle(f);
  return LOOM_OK;
}

static loom_status open_field_parts(loom_err *err, body_field *f)
{
  const rig *const r = f->body;
  f->kind = find_field_kind(f->opt.kind);
  if (f->kind == NULL) return err_set(err, LOOM_E_INTERNAL, "there is no field '%s'", f->opt.kind);
  f->lipschitz = 1;
  f->shape = f->opt.kind;
  if (r->num_joints > BEND_MAX_FRAMES)
    return err_set(err, LOOM_E_CONFIG, "the body has %d joints; distances take at most %d",
                   r->num_joints, BEND_MAX_FRAMES);
  for (int end = 0; end < 2; ++end) {
    LOOM_TRY(mesh_alloc(err, r->num_dofs + 12, sizeof(double), &f->state[end]));
    LOOM_TRY(mesh_alloc(err, 12 * (int64_t)r->num_joints, sizeof(double), &f->T[end]));
    LOOM_TRY(mesh_alloc(err, 3 * (int64_t)r->skin.num_verts, sizeof(double), &f->x[end]));
  }
  LOOM_TRY(f->kind->open(err, f));
  LOOM_TRY(choose_anchors(err, f));
  LOOM_TRY(lay_out_block(err, f));
  const loom_status s = buf_new(f->m, "core", "field of a body", LOOM_U8, f->bytes, &f->buf);
  if (s != LOOM_OK) *err = *mem_err(f->m);
  return s;
}

loom_status bend_field_open(loom_err *err, mem *m, const field_options *o, const rig *body,
                            body_field **out)
{
  body_field *f;
  *out = NULL;
  LOOM_TRY(mesh_alloc(err, 1, sizeof *f, &f));
  f->m = m;
  f->body = body;
  f->opt = *o;
  const loom_status s = open_field_parts(err, f);
  if (s == LOOM_OK)
    *out = f;
  else
    bend_field_close(f);
  return s;
}

void bend_field_close(body_field *f)
{
  if (f == NULL) return;
  if (f->kind != NULL) f->kind->close(f);
  for (int end = 0; end < 2; ++end) {
    free(f->state[end]);
    free(f->T[end]);
    free(f->x[end]);
  }
  buf_free(f->m, f->buf);
  free(f->block);
  free(f->anchor);
  free(f);
}

void bend_field_show(const body_field *f, loom_obstacle *o)
{
  o->field_kind = f->shape;
  o->field = f->buf;
  o->lipschitz = (loom_real)f->lipschitz;
  o->sweep = ((const bend_head *)(const void *)f->block)->sweep;
}

int32_t bend_field_outside(const body_field *f, const double *angles)
{
  return f->kind->outside != NULL ? f->kind->outside(f, angles) : -1;
}

/* ---- a step ---- */

static void set_frames(body_field *f)
{
  for (int32_t j = 0; j < f->body->num_joints; ++j) {
    bend_frame *const to = &get_bend_head(f)->frame[j];
    loom_obstacle two = {0};
    obst_view v = {0};
    for (int i = 0; i < 12; ++i) {
      two.pose0[i] = (loom_real)f->T[0][12 * j + i];
      two.pose1[i] = (loom_real)f->T[1][12 * j + i];
    }
    (void)obst_view_pose(&two, &v); /* products of rotations: always poses */
    memcpy(to->R0, v.R0, sizeof to->R0);
    memcpy(to->R1, v.R1, sizeof to->R1);
    memcpy(to->t0, v.t0, sizeof to->t0);
    memcpy(to->t1, v.t1, sizeof to->t1);
    memcpy(to->axis, v.axis, sizeof to->axis);
    to->angle = v.angle;
  }
}

static void set_skin(body_field *f)
{
  double most = 0;
  for (int64_t v = 0; v < f->body->skin.num_verts; ++v) {
    double d2 = 0;
    for (int c = 0; c < 3; ++c) d2 += pow(f->x[1][3 * v + c] - f->x[0][3 * v + c], 2);
    most = fmax(most, d2);
  }
  get_bend_head(f)->sweep = (lk_real)sqrt(most);
  for (int end = 0; end < 2; ++end)
    for (int32_t k = 0; k < f->num_anchors; ++k)
      for (int c = 0; c < 3; ++c)
        anchors_of(f)[(3 * end + c) * BEND_ANCHORS + k] =
            (float)f->x[end][3 * (int64_t)f->anchor[k] + c];
}

static int same_step(const body_field *f, int end, const double *angles, const double root[12])
{
  const int32_t num = f->body->num_dofs;
  int same = f->stepped;
  for (int32_t k = 0; k < num; ++k) same &= f->state[end][k] == angles[k];
  for (int32_t k = 0; k < 12; ++k) same &= f->state[end][num + k] == root[k];
  return same;
}

loom_status bend_field_pose(body_field *f, const double *angles0, const double root0[12],
                            const double *angles1, const double root1[12])
{
  const size_t num = (size_t)f->body->num_dofs;
  void *p;
  if (same_step(f, 0, angles0, root0) && same_step(f, 1, angles1, root1)) return LOOM_OK;
  for (int end = 0; end < 2; ++end) {
    memcpy(f->state[end], end ? angles1 : angles0, num * sizeof(double));
    memcpy(f->state[end] + num, end ? root1 : root0, 12 * sizeof(double));
    rig_pose(f->body, f->state[end], f->state[end] + num, f->T[end]);
    rig_skin(f->body, f->T[end], f->x[end]);
  }
  f->stepped = 1;
  set_frames(f);
  set_skin(f);
  LOOM_TRY(f->kind->step(mem_err(f->m), f));
  LOOM_TRY(buf_map(f->m, NULL, f->buf, LOOM_WRITE, LOOM_AT_HOST, &p));
  memcpy(p, f->block, (size_t)f->bytes);
  return buf_unmap(f->m, f->buf);
}
