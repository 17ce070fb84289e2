/* net.c - see net.h. */
#include "ssdf/net.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/h5guard.h"
#include "log/h5util.h"

static const char *const activations[SSDF_NUM_ACTIVATIONS] = {"squareplus", "leaky_relu",
                                                              "softplus", "tanh"};
static const double rounding = 1e-6; /* rad */

typedef struct reader {
  loom_err *err;
  const char *path;
  const rig *body;
  hid_t file, group;
  const char *region; /* name of the group */
  int32_t activation;
} reader;

static loom_status refuse_net_file(const reader *r, const char *what)
{
  return err_set(r->err, LOOM_E_CONFIG,
                 "%s: %s%s%s; it is no file of networks, or was cut off: make it anew with "
                 "./loom figure ssdf-train",
                 r->path, r->region != NULL ? r->region : "", r->region != NULL ? ": " : "", what);
}

/* ---- attributes ---- */

/* Exactly `count` finite numbers. */
static loom_status read_net_reals(const reader *r, const char *name, int count, double *out)
{
  char what[128];
  int fine = 0;
  const hid_t a = H5Aopen(r->group, name, H5P_DEFAULT);
  const hid_t space = a >= 0 ? H5Aget_space(a) : H5I_INVALID_HID;
  if (space >= 0 && H5Sget_simple_extent_npoints(space) == count)
    fine = H5Aread(a, H5T_NATIVE_DOUBLE, out) >= 0;
  h5u_close(space, H5Sclose);
  h5u_close(a, H5Aclose);
  for (int k = 0; fine && k < count; ++k) fine = isfinite(out[k]);
  snprintf(what, sizeof what, "attribute %s must be %d finite numbers", name, count);
  return fine ? LOOM_OK : refuse_net_file(r, what);
}

static loom_status read_net_text(const reader *r, hid_t obj, const char *name, char *out,
                                 size_t len)
{
  char what[128];
  char *const found = h5u_get_text(obj, name);
  snprintf(what, sizeof what, "attribute %s is missing", name);
  if (found == NULL || strlen(found) >= len) {
    free(found);
    return refuse_net_file(r, what);
  }
  memcpy(out, found, strlen(found) + 1);
  free(found);
  return LOOM_OK;
}

static loom_status dof_names(const reader *r, ssdf_net_region *g)
{
  enum { LEN = 2 * RIG_NAME_LEN + 2 };
  char names[SSDF_MAX_DOFS][LEN] = {{0}}, what[64 + LEN];
  hssize_t count = -1;
  int fine = 0;
  const hid_t a = H5Aopen(r->group, "dofs", H5P_DEFAULT);
  const hid_t space = a >= 0 ? H5Aget_space(a) : H5I_INVALID_HID;
  const hid_t type = H5Tcopy(H5T_C_S1);
  if (space >= 0) count = H5Sget_simple_extent_npoints(space);
  if (count >= 1 && count <= SSDF_MAX_DOFS && H5Tset_size(type, LEN) >= 0)
    fine = H5Aread(a, type, names) >= 0;
  h5u_close(type, H5Tclose);
  h5u_close(space, H5Sclose);
  h5u_close(a, H5Aclose);
  if (!fine)
    return refuse_net_file(r, "attribute dofs must be a list of 1 to 6 names of fixed length");
  g->num_dofs = (int32_t)count;
  for (int32_t k = 0; k < g->num_dofs; ++k) {
    names[k][LEN - 1] = '\0';
    g->dof[k] = rig_find_dof(r->body, names[k]);
    snprintf(what, sizeof what, "the body has no angle \"%.129s\"", names[k]);
    if (g->dof[k] < 0) return refuse_net_file(r, what);
  }
  return LOOM_OK;
}

/* ---- parameters ---- */

static loom_status read_net_shape(const reader *r, hid_t set, const char *name,
                                  const ssdf_net_region *g, ssdf_part_net *out)
{
  const reader of = {.err = r->err, .path = r->path, .group = set, .region = r->region};
  char what[160];
  double hidden, width;
  hsize_t dims[2] = {0, 0};
  LOOM_TRY(read_net_reals(&of, "hidden", 1, &hidden));
  LOOM_TRY(read_net_reals(&of, "width", 1, &width));
  if (!(hidden >= 1 && hidden <= SSDF_MAX_HIDDEN && width >= 1 && width <= SSDF_MAX_WIDTH))
    return refuse_net_file(r, "a network has 1 to 8 hidden layers of 1 to 32 channels");
  out->shape = (ssdf_shape){(int32_t)hidden, (int32_t)width, r->activation};
  out->num_params = SSDF_NUM_PARAMS(out->shape.hidden, out->shape.width);
  const hid_t space = H5Dget_space(set);
  const int rank = space >= 0 ? H5Sget_simple_extent_ndims(space) : -1;
  if (rank == 2) H5Sget_simple_extent_dims(space, dims, NULL);
  h5u_close(space, H5Sclose);
  if (rank == 2 && dims[0] == (hsize_t)g->num_dofs + 1 && dims[1] == (hsize_t)out->num_params)
    return LOOM_OK;
  snprintf(what, sizeof what, "%s has the shape [%llu][%llu], its layers need [%d][%d]", name,
           (unsigned long long)dims[0], (unsigned long long)dims[1], 1 + g->num_dofs,
           out->num_params);
  return refuse_net_file(r, what);
}

static loom_status read_net_params(const reader *r, const char *name, const ssdf_net_region *g,
                                   ssdf_part_net *out)
{
  const hid_t set = H5Dopen2(r->group, name, H5P_DEFAULT);
  char what[80];
  snprintf(what, sizeof what, "data set %s cannot be read", name);
  if (set < 0) return refuse_net_file(r, what);
  loom_status s = read_net_shape(r, set, name, g, out);
  const int64_t count = (1 + g->num_dofs) * (int64_t)out->num_params;
  if (s == LOOM_OK) s = mesh_alloc(r->err, count, sizeof *out->params, &out->params);
  if (s == LOOM_OK &&
      H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, out->params) < 0)
    s = refuse_net_file(r, what);
  for (int64_t k = 0; s == LOOM_OK && k < count; ++k)
    if (!isfinite(out->params[k])) s = refuse_net_file(r, "a parameter is not finite");
  h5u_close(set, H5Dclose);
  return s;
}

/* ---- regions ---- */

static loom_status read_net_joints(const reader *r, ssdf_net_region *g)
{
  char joint[RIG_NAME_LEN], frame[RIG_NAME_LEN], what[256];
  LOOM_TRY(read_net_text(r, r->group, "joint", joint, sizeof joint));
  LOOM_TRY(read_net_text(r, r->group, "frame", frame, sizeof frame));
  g->joint = rig_find_joint(r->body, joint);
  g->frame = rig_find_joint(r->body, frame);
  snprintf(what, sizeof what, "the body has no joint %s in the frame of \"%s\"", joint, frame);
  return g->joint < 0 || r->body->joint[g->joint].parent != g->frame ? refuse_net_file(r, what)
                                                                     : LOOM_OK;
}

static loom_status read_net_box(const reader *r, ssdf_net_region *g)
{
  int fine = 1;
  LOOM_TRY(read_net_reals(r, "centre", 3, g->centre));
  LOOM_TRY(read_net_reals(r, "half", 1, &g->half));
  LOOM_TRY(read_net_reals(r, "box_lo", 3, g->lo));
  LOOM_TRY(read_net_reals(r, "box_hi", 3, g->hi));
  LOOM_TRY(read_net_reals(r, "margin", 1, &g->margin));
  LOOM_TRY(read_net_reals(r, "clamp", 1, &g->clamp));
  for (int c = 0; c < 3; ++c) fine &= g->lo[c] < g->hi[c];
  fine &= g->half > 0 && g->margin > 0 && g->clamp > 0;
  return fine ? LOOM_OK
              : refuse_net_file(r, "its box is empty, or half, margin or clamp is not above 0");
}

static loom_status read_net_region(reader *r, ssdf_net_region *g)
{
  double lo[SSDF_MAX_DOFS] = {0}, hi[SSDF_MAX_DOFS] = {0}; /* for the analyzer */
  LOOM_TRY(read_net_joints(r, g));
  LOOM_TRY(dof_names(r, g));
  LOOM_TRY(read_net_reals(r, "lo", g->num_dofs, lo));
  LOOM_TRY(read_net_reals(r, "hi", g->num_dofs, hi));
  for (int32_t k = 0; k < g->num_dofs; ++k) {
    g->range[k][0] = lo[k];
    g->range[k][1] = hi[k];
    if (!(lo[k] < hi[k])) return refuse_net_file(r, "the range of an angle is empty");
  }
  LOOM_TRY(read_net_box(r, g));
  LOOM_TRY(read_net_params(r, "distance", g, &g->distance));
  return H5Lexists(r->group, "label", H5P_DEFAULT) > 0 ? read_net_params(r, "label", g, &g->label)
                                                       : LOOM_OK;
}

static loom_status read_net_head(reader *r)
{
  char found[256];
  LOOM_TRY(read_net_text(r, r->file, "format", found, sizeof found));
  if (strcmp(found, "loom-ssdf-net") != 0) return refuse_net_file(r, "attribute format is another");
  LOOM_TRY(read_net_text(r, r->file, "version", found, sizeof found));
  if (strcmp(found, "1") != 0)
    return err_set(r->err, LOOM_E_CONFIG, "%s: version %s; this loom reads version 1: train anew",
                   r->path, found);
  LOOM_TRY(read_net_text(r, r->file, "body_hash", found, sizeof found));
  if (strcmp(found, r->body->hash) != 0)
    return err_set(r->err, LOOM_E_CONFIG,
                   "%s: was trained for another body (%s, this one is %s); take that body, or "
                   "train for this one with ./loom figure ssdf-train",
                   r->path, found, r->body->hash);
  LOOM_TRY(read_net_text(r, r->file, "activation", found, sizeof found));
  for (r->activation = 0; r->activation < SSDF_NUM_ACTIVATIONS; ++r->activation)
    if (strcmp(found, activations[r->activation]) == 0) return LOOM_OK;
  return refuse_net_file(r,
                         "attribute activation is none of squareplus, leaky_relu, softplus, tanh");
}

static loom_status read_net_regions(reader *r, ssdf_net *out)
{
  H5G_info_t info;
  LOOM_TRY(read_net_head(r));
  if (H5Gget_info(r->file, &info) < 0 || info.nlinks < 1 || info.nlinks > SSDF_MAX_NETS)
    return refuse_net_file(r, "it must hold 1 to 64 regions");
  LOOM_TRY(mesh_alloc(r->err, (int64_t)info.nlinks, sizeof *out->regions, &out->regions));
  for (hsize_t k = 0; k < info.nlinks; ++k) {
    char name[RIG_NAME_LEN];
    const ssize_t len = H5Lget_name_by_idx(r->file, ".", H5_INDEX_NAME, H5_ITER_INC, k, name,
                                           sizeof name, H5P_DEFAULT);
    if (len < 1 || (size_t)len >= sizeof name)
      return refuse_net_file(r, "a region has no readable name");
    r->region = name;
    r->group = H5Gopen2(r->file, name, H5P_DEFAULT);
    const loom_status s = r->group >= 0 ? read_net_region(r, &out->regions[out->num++])
                                        : refuse_net_file(r, "is no group");
    h5u_close(r->group, H5Gclose);
    r->region = NULL;
    LOOM_TRY(s);
  }
  return LOOM_OK;
}

static loom_status read_net_file(loom_err *err, const char *path, const rig *body, ssdf_net *out)
{
  reader r = {.err = err, .path = path, .body = body};
  memset(out, 0, sizeof *out);
  h5u_quiet();
  r.file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  if (r.file < 0) return refuse_net_file(&r, "cannot be read as HDF5");
  const loom_status s = read_net_regions(&r, out);
  h5u_close(r.file, H5Fclose);
  H5Eclear2(H5E_DEFAULT);
  if (s != LOOM_OK) ssdf_net_free(out);
  return s;
}

/* reader: path and body */
static int rehearse_net_read(void *arg, FILE *out)
{
  const reader *const r = arg;
  loom_err err = {0};
  ssdf_net n;
  (void)out;
  if (read_net_file(&err, r->path, r->body, &n) == LOOM_OK) ssdf_net_free(&n);
  return 0;
}

loom_status ssdf_net_read(loom_err *err, const char *path, const rig *body, ssdf_net *out)
{
  reader r = {.path = path, .body = body};
  memset(out, 0, sizeof *out);
  LOOM_TRY(h5_rehearse(err, path, rehearse_net_read, &r));
  return read_net_file(err, path, body, out);
}

void ssdf_net_free(ssdf_net *n)
{
  for (int32_t k = 0; k < n->num; ++k) {
    free(n->regions[k].distance.params);
    free(n->regions[k].label.params);
  }
  free(n->regions);
  memset(n, 0, sizeof *n);
}

/* ---- angles ---- */

void ssdf_net_fold(const ssdf_net_region *g, const ssdf_part_net *net, const double *angles,
                   loom_real *w)
{
  double th[SSDF_MAX_DOFS];
  for (int32_t k = 0; k < g->num_dofs; ++k) {
    const double lo = g->range[k][0], hi = g->range[k][1];
    th[k] = (2 * fmin(fmax(angles[g->dof[k]], lo), hi) - lo - hi) / (hi - lo);
  }
  for (int32_t i = 0; i < net->num_params; ++i) {
    double sum = net->params[i];
    for (int32_t k = 0; k < g->num_dofs; ++k)
      sum += th[k] * net->params[(1 + (int64_t)k) * net->num_params + i];
    w[i] = (loom_real)sum;
  }
}

int32_t ssdf_net_outside(const ssdf_net *n, const double *angles)
{
  for (int32_t r = 0; r < n->num; ++r)
    for (int32_t k = 0; k < n->regions[r].num_dofs; ++k) {
      const double *const range = n->regions[r].range[k], q = angles[n->regions[r].dof[k]];
      if (q < range[0] - rounding || q > range[1] + rounding) return n->regions[r].dof[k];
    }
  return -1;
}
