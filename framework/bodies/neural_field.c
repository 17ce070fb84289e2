/* neural_field.c - see neural.h. */
#include "bodies/neural.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bodies/body.h"
#include "ssdf/net.h"

enum { ANCHORS = 192, PROBES = 2000 };

struct neural {
  mem *m;
  const rig *body;
  ssdf_net net;
  neural_options opt;
  double lipschitz;
  loom_buf *buf;       /* u8, a neural_field and what follows it */
  neural_field *field; /* the same on the host; frames, anchors, parameters follow */
  int64_t bytes;
  int32_t num_anchors, *anchor; /* [num_anchors] vertices of the skin */
  double *state[2];             /* [num_dofs + 12] angles and root at both ends */
  double *T[2], *x[2];          /* [num_joints][12], [num_verts][3] at both ends */
  int stepped;                  /* 1: state holds a step */
};

/* ---- anchors ---- */

/* Vertices far from each other: each next one is the farthest from those before. */
static loom_status choose_anchors(loom_err *err, neural *n)
{
  const mesh *const skin = &n->body->skin;
  double *d2;
  int32_t next = 0;
  n->num_anchors = skin->num_verts < ANCHORS ? skin->num_verts : ANCHORS;
  LOOM_TRY(mesh_alloc(err, n->num_anchors, sizeof *n->anchor, &n->anchor));
  LOOM_TRY(mesh_alloc(err, skin->num_verts, sizeof *d2, &d2));
  for (int32_t v = 0; v < skin->num_verts; ++v) d2[v] = DBL_MAX;
  for (int32_t k = 0; k < n->num_anchors; ++k) {
    const double *const a = skin->x + 3 * (int64_t)next;
    n->anchor[k] = next;
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

static neural_anchor *anchors_of(neural *n)
{
  return (neural_anchor *)(void *)((unsigned char *)n->field + n->field->anchors_at);
}

static loom_real *params_of(neural *n)
{
  return (loom_real *)(void *)((unsigned char *)n->field + n->field->params_at);
}

/* The four joints that move a vertex most, with weights of the sum 1. */
static void set_bones(const rig *r, int32_t v, neural_anchor *a)
{
  const double *const w = r->weight + (int64_t)v * r->per;
  const int32_t *const bone = r->bone + (int64_t)v * r->per;
  double sum = 0, taken[NEURAL_ANCHOR_BONES] = {0};
  int at[NEURAL_ANCHOR_BONES];
  for (int b = 0; b < NEURAL_ANCHOR_BONES; ++b) {
    at[b] = -1;
    for (int k = 0; k < r->per; ++k) {
      int used = 0;
      for (int c = 0; c < b; ++c) used |= at[c] == k;
      if (!used && w[k] > taken[b]) taken[b] = w[k], at[b] = k;
    }
    sum += taken[b];
  }
  for (int b = 0; b < NEURAL_ANCHOR_BONES; ++b) {
    a->bone[b] = at[b] >= 0 ? bone[at[b]] : 0;
    a->weight[b] = (lk_real)(taken[b] / sum);
  }
}

/* ---- life ---- */

static int64_t put_net(const ssdf_part_net *from, ssdf_shape *shape, int64_t *at, int64_t params)
{
  *shape = from->shape;
  *at = params;
  return params + 2 * (int64_t)from->num_params;
}

static void set_region(const neural *n, const ssdf_net_region *g, neural_region *r)
{
  r->frame = g->frame;
  r->half = (lk_real)g->half;
  r->margin = (lk_real)(g->margin - n->opt.layer);
  r->clamp = (lk_real)(g->clamp - n->opt.layer);
  for (int c = 0; c < 3; ++c) {
    r->centre[c] = (lk_real)g->centre[c];
    r->lo[c] = (lk_real)g->lo[c];
    r->hi[c] = (lk_real)g->hi[c];
  }
}

static loom_status lay_out(loom_err *err, neural *n)
{
  const int64_t head = ((int64_t)sizeof *n->field + 63) / 64 * 64;
  const int64_t anchors = n->num_anchors * (int64_t)sizeof(neural_anchor);
  neural_field f = {.num_regions = n->net.num,
                    .num_frames = n->body->num_joints,
                    .num_anchors = n->num_anchors,
                    .flags = n->opt.flags,
                    .difference = (lk_real)n->opt.difference,
                    .anchors_at = head,
                    .params_at = head + anchors};
  int64_t params = 0;
  for (int32_t k = 0; k < n->net.num; ++k) {
    const ssdf_net_region *const g = &n->net.regions[k];
    if (!(n->opt.layer < g->clamp && n->opt.layer < g->margin))
      return err_set(err, LOOM_E_CONFIG,
                     "a layer of %g m is more than the %g m around the skin that the networks know",
                     n->opt.layer, fmin(g->clamp, g->margin));
    set_region(n, g, &f.region[k]);
    params = put_net(&g->distance, &f.region[k].distance, &f.region[k].distance_at, params);
    params = put_net(&g->label, &f.region[k].flag, &f.region[k].flag_at, params);
  }
  n->bytes = f.params_at + params * (int64_t)sizeof(loom_real);
  LOOM_TRY(mesh_alloc(err, n->bytes, 1, &n->field));
  *n->field = f;
  for (int32_t k = 0; k < n->num_anchors; ++k) set_bones(n->body, n->anchor[k], &anchors_of(n)[k]);
  return LOOM_OK;
}

/* Longest gradient at points and angles by chance, and a quarter more; never below 1. */
static loom_status measure_lipschitz(loom_err *err, neural *n)
{
  uint64_t z = 1;
  double *angles, longest = 0;
  LOOM_TRY(mesh_alloc(err, n->body->num_dofs, sizeof *angles, &angles));
  for (int32_t k = 0; k < n->net.num; ++k) {
    const ssdf_net_region *const g = &n->net.regions[k];
    loom_real w[SSDF_MAX_PARAMS], y[3], d[3];
    for (int i = 0; i < PROBES; ++i) {
      double u[3 + SSDF_MAX_DOFS];
      for (int c = 0; c < 3 + SSDF_MAX_DOFS; ++c) {
        z = z * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        u[c] = (double)(z >> 11) * 0x1p-53;
      }
      for (int32_t c = 0; c < g->num_dofs; ++c)
        angles[g->dof[c]] = g->range[c][0] + u[3 + c] * (g->range[c][1] - g->range[c][0]);
      for (int c = 0; c < 3; ++c)
        y[c] = (lk_real)((g->lo[c] + u[c] * (g->hi[c] - g->lo[c]) - g->centre[c]) / g->half);
      ssdf_net_fold(g, &g->distance, angles, w);
      const ssdf_params p = {w, w, 1};
      const double v = (double)ssdf_gradient(&g->distance.shape, &p, y, d);
      if (v * g->half < g->clamp) longest = fmax(longest, sqrt((double)obst_dot(d, d)));
    }
  }
  free(angles);
  n->lipschitz = fmax(1, 1.25 * longest);
  return LOOM_OK;
}

static loom_status open_all(loom_err *err, neural *n)
{
  const rig *const r = n->body;
  if (r->num_joints > NEURAL_MAX_FRAMES)
    return err_set(err, LOOM_E_CONFIG, "the body has %d joints; networks take at most %d",
                   r->num_joints, NEURAL_MAX_FRAMES);
  LOOM_TRY(ssdf_net_read(err, n->opt.file, r, &n->net));
  if (n->net.num > NEURAL_MAX_REGIONS)
    return err_set(err, LOOM_E_CONFIG, "%s: holds %d regions; at most %d are possible", n->opt.file,
                   n->net.num, NEURAL_MAX_REGIONS);
  LOOM_TRY(choose_anchors(err, n));
  LOOM_TRY(lay_out(err, n));
  LOOM_TRY(measure_lipschitz(err, n));
  for (int end = 0; end < 2; ++end) {
    LOOM_TRY(mesh_alloc(err, r->num_dofs + 12, sizeof(double), &n->state[end]));
    LOOM_TRY(mesh_alloc(err, 12 * (int64_t)r->num_joints, sizeof(double), &n->T[end]));
    LOOM_TRY(mesh_alloc(err, 3 * (int64_t)r->skin.num_verts, sizeof(double), &n->x[end]));
  }
  const loom_status s = buf_new(n->m, "core", "field of a body", LOOM_U8, n->bytes, &n->buf);
  if (s != LOOM_OK) *err = *mem_err(n->m);
  return s;
}

loom_status neural_open(loom_err *err, mem *m, const neural_options *o, const rig *body,
                        neural **out)
{
  neural *n;
  *out = NULL;
  LOOM_TRY(mesh_alloc(err, 1, sizeof *n, &n));
  n->m = m;
  n->body = body;
  n->opt = *o;
  const loom_status s = open_all(err, n);
  if (s == LOOM_OK)
    *out = n;
  else
    neural_close(n);
  return s;
}

void neural_close(neural *n)
{
  if (n == NULL) return;
  for (int end = 0; end < 2; ++end) {
    free(n->state[end]);
    free(n->T[end]);
    free(n->x[end]);
  }
  ssdf_net_free(&n->net);
  buf_free(n->m, n->buf);
  free(n->field);
  free(n->anchor);
  free(n);
}

void neural_show(const neural *n, loom_obstacle *o)
{
  o->field = n->buf;
  o->lipschitz = (loom_real)n->lipschitz;
  o->sweep = n->field->sweep;
}

/* ---- a step ---- */

static void set_frames(neural *n)
{
  for (int32_t j = 0; j < n->body->num_joints; ++j) {
    neural_frame *const f = &n->field->frame[j];
    loom_obstacle two = {0};
    obst_view v = {0};
    for (int i = 0; i < 12; ++i) {
      two.pose0[i] = (loom_real)n->T[0][12 * j + i];
      two.pose1[i] = (loom_real)n->T[1][12 * j + i];
    }
    (void)obst_view_pose(&two, &v); /* products of rotations: always poses */
    memcpy(f->R0, v.R0, sizeof f->R0);
    memcpy(f->R1, v.R1, sizeof f->R1);
    memcpy(f->t0, v.t0, sizeof f->t0);
    memcpy(f->t1, v.t1, sizeof f->t1);
    memcpy(f->axis, v.axis, sizeof f->axis);
    f->angle = v.angle;
  }
}

static void set_skin(neural *n)
{
  double most = 0;
  for (int64_t v = 0; v < n->body->skin.num_verts; ++v) {
    double d2 = 0;
    for (int c = 0; c < 3; ++c) d2 += pow(n->x[1][3 * v + c] - n->x[0][3 * v + c], 2);
    most = fmax(most, d2);
  }
  n->field->sweep = (lk_real)sqrt(most);
  for (int32_t k = 0; k < n->num_anchors; ++k)
    for (int c = 0; c < 3; ++c) {
      anchors_of(n)[k].x0[c] = (lk_real)n->x[0][3 * (int64_t)n->anchor[k] + c];
      anchors_of(n)[k].x1[c] = (lk_real)n->x[1][3 * (int64_t)n->anchor[k] + c];
    }
}

/* The layer is in the last bias of each network. */
static void set_params(neural *n)
{
  for (int32_t k = 0; k < n->net.num; ++k) {
    const ssdf_net_region *const g = &n->net.regions[k];
    const neural_region *const r = &n->field->region[k];
    for (int end = 0; end < 2; ++end) {
      const int32_t num = g->distance.num_params;
      loom_real *const w = params_of(n) + r->distance_at + (int64_t)end * num;
      ssdf_net_fold(g, &g->distance, n->state[end], w);
      w[num - 1] -= (loom_real)(n->opt.layer / g->half);
      if (g->label.num_params > 0)
        ssdf_net_fold(g, &g->label, n->state[end],
                      params_of(n) + r->flag_at + (int64_t)end * g->label.num_params);
    }
  }
}

int32_t neural_outside(const neural *n, const double *angles)
{
  return ssdf_net_outside(&n->net, angles);
}

static int same_step(const neural *n, int end, const double *angles, const double root[12])
{
  const int32_t num = n->body->num_dofs;
  int same = n->stepped;
  for (int32_t k = 0; k < num; ++k) same &= n->state[end][k] == angles[k];
  for (int32_t k = 0; k < 12; ++k) same &= n->state[end][num + k] == root[k];
  return same;
}

loom_status neural_step(neural *n, const double *angles0, const double root0[12],
                        const double *angles1, const double root1[12])
{
  const size_t num = (size_t)n->body->num_dofs;
  void *p;
  if (same_step(n, 0, angles0, root0) && same_step(n, 1, angles1, root1)) return LOOM_OK;
  for (int end = 0; end < 2; ++end) {
    memcpy(n->state[end], end ? angles1 : angles0, num * sizeof(double));
    memcpy(n->state[end] + num, end ? root1 : root0, 12 * sizeof(double));
    rig_pose(n->body, n->state[end], n->state[end] + num, n->T[end]);
    rig_skin(n->body, n->T[end], n->x[end]);
  }
  n->stepped = 1;
  set_frames(n);
  set_skin(n);
  set_params(n);
  LOOM_TRY(buf_map(n->m, NULL, n->buf, LOOM_WRITE, LOOM_AT_HOST, &p));
  memcpy(p, n->field, (size_t)n->bytes);
  return buf_unmap(n->m, n->buf);
}
