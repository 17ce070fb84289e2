/* vertex_fields.c - see vertex_fields.h.
 *
 * Residual and contact force are the last results of MEASURE at the accepted point; they are not
 * evaluated again. */
#include "run/record/vertex_fields.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "loom/material.h"
#include "run/run_state.h"

#define WIDTH_(name, width, unit, doc) width,
static const int widths[] = {H5LOG_FIELDS(WIDTH_)};

loom_status vertex_fields_open(run *r)
{
  r->fields.wanted = r->set.log.field_bits;
  for (int k = 0; k < H5LOG_NUM_FIELDS; ++k) {
    if ((r->fields.wanted & LOOM_BIT(k)) == 0) continue;
    r->fields.data[k] =
        calloc((size_t)r->scene->pub.num_verts * (size_t)widths[k] + 1, sizeof(float));
    if (r->fields.data[k] == NULL) return err_set(r->err, LOOM_E_NOMEM, "out of memory");
  }
  return LOOM_OK;
}

void vertex_fields_close(run *r)
{
  for (int k = 0; k < H5LOG_NUM_FIELDS; ++k) free(r->fields.data[k]);
  r->fields = (run_fields){0};
}

static void fill_field(run *r, int k, float value)
{
  float *const out = r->fields.data[k];
  if (out == NULL) return;
  for (size_t i = 0; i < (size_t)r->scene->pub.num_verts * (size_t)widths[k]; ++i) out[i] = value;
}

/* ---- from the gradient ---- */

/* contact_force = -(r - r without contact), residual = h^2 M^-1 r.  Of fixed vertices the gradient
 * is not kept. */
static loom_status take_gradients(run *r)
{
  float *const force = r->fields.data[H5LOG_contact_force];
  float *const left = r->fields.data[H5LOG_residual];
  const double h2 = loom_problem_h2(&r->problem.own);
  fill_field(r, H5LOG_contact_force, NAN);
  fill_field(r, H5LOG_residual, NAN);
  if ((force == NULL && left == NULL) || isnan(r->measured.next.rms)) return LOOM_OK;
  buf_maps q = {.m = r->m};
  const loom_real *const g = buf_maps_add(&q, r->st.grad, LOOM_READ);
  const loom_real *const bare =
      r->buf.grad_free == r->st.grad ? g : buf_maps_add(&q, r->buf.grad_free, LOOM_READ);
  const loom_real *const m = buf_maps_add(&q, r->scene->pub.mass, LOOM_READ);
  const uint8_t *const fixed = buf_maps_add(&q, r->scene->pub.fixed, LOOM_READ);
  const int32_t n = q.status == LOOM_OK ? r->scene->pub.num_verts : 0;
  for (int32_t i = 0; i < n; ++i)
    for (size_t k = 3 * (size_t)i; k < 3 * (size_t)i + 3 && !fixed[i]; ++k) {
      if (force != NULL) force[k] = (float)((double)bare[k] - (double)g[k]);
      if (left != NULL) left[k] = (float)(h2 * (double)g[k] / (double)m[i]);
    }
  return buf_maps_end(&q);
}

/* ---- strain ---- */

typedef struct plane_triangle { /* two edges in two dimensions, and twice the area */
  double a[2], b[2], det;
} plane_triangle;

static plane_triangle from_space(const loom_real *x0, const loom_real *x1, const loom_real *x2)
{
  double e[3], f[3], ee = 0.0, ef = 0.0, ff = 0.0;
  for (int c = 0; c < 3; ++c) {
    e[c] = (double)x1[c] - (double)x0[c];
    f[c] = (double)x2[c] - (double)x0[c];
    ee += e[c] * e[c];
    ef += e[c] * f[c];
    ff += f[c] * f[c];
  }
  const double length = sqrt(ee);
  plane_triangle t = {.a = {length, 0.0}};
  t.b[0] = length > 0.0 ? ef / length : 0.0;
  t.b[1] = sqrt(fmax(ff - t.b[0] * t.b[0], 0.0));
  t.det = t.a[0] * t.b[1];
  return t;
}

static plane_triangle from_uv(const loom_real *uv)
{
  plane_triangle t;
  for (int c = 0; c < 2; ++c) {
    t.a[c] = (double)uv[2 + c] - (double)uv[c];
    t.b[c] = (double)uv[4 + c] - (double)uv[c];
  }
  t.det = t.a[0] * t.b[1] - t.a[1] * t.b[0];
  return t;
}

/* Largest singular value less 1 of the map from the rest shape to where the triangle is. */
static double triangle_stretch(const plane_triangle *rest, const plane_triangle *now)
{
  /* F = [now] [rest]^-1 */
  const double i = 1.0 / rest->det;
  const double inv[4] = {rest->b[1] * i, -rest->b[0] * i, -rest->a[1] * i, rest->a[0] * i};
  double F[4];
  for (int c = 0; c < 2; ++c) {
    F[c] = now->a[c] * inv[0] + now->b[c] * inv[2];
    F[2 + c] = now->a[c] * inv[1] + now->b[c] * inv[3];
  }
  const double sum = F[0] * F[0] + F[1] * F[1] + F[2] * F[2] + F[3] * F[3];
  const double det = F[0] * F[3] - F[1] * F[2];
  const double root = sqrt(fmax(sum * sum - 4.0 * det * det, 0.0));
  return sqrt(0.5 * (sum + root)) - 1.0;
}

static loom_status take_strain(run *r)
{
  float *const out = r->fields.data[H5LOG_strain];
  const loom_scene *const s = &r->scene->pub;
  const loom_material *const material = loom_scene_extension(s, LOOM_MATERIAL);
  if (out == NULL) return LOOM_OK;
  double *const weight = calloc((size_t)s->num_verts + 1, sizeof *weight);
  if (weight == NULL) return err_set(r->err, LOOM_E_NOMEM, "out of memory");
  fill_field(r, H5LOG_strain, 0.0F);
  buf_maps q = {.m = r->m};
  const loom_real *const x = buf_maps_add(&q, r->st.x, LOOM_READ);
  const loom_real *const rest = buf_maps_add(&q, s->rest_x, LOOM_READ);
  const int32_t *const tris = s->num_tris > 0 ? buf_maps_add(&q, s->tris, LOOM_READ) : NULL;
  const loom_real *const uv = material ? buf_maps_add(&q, material->uv, LOOM_READ) : NULL;
  const int32_t *const piece = material ? buf_maps_add(&q, material->piece, LOOM_READ) : NULL;
  for (int32_t t = 0; q.status == LOOM_OK && t < s->num_tris; ++t) {
    const int32_t *const v = tris + 3 * (size_t)t;
    const size_t a = 3 * (size_t)v[0], b = 3 * (size_t)v[1], c = 3 * (size_t)v[2];
    const plane_triangle before = uv != NULL && piece[t] >= 0
                                      ? from_uv(uv + 6 * (size_t)t)
                                      : from_space(rest + a, rest + b, rest + c);
    if (!(fabs(before.det) > 0.0)) continue;
    const plane_triangle now = from_space(x + a, x + b, x + c);
    const double area = fabs(before.det), value = triangle_stretch(&before, &now);
    for (int k = 0; k < 3; ++k) {
      out[v[k]] += (float)(area * value);
      weight[v[k]] += area;
    }
  }
  for (int32_t i = 0; q.status == LOOM_OK && i < s->num_verts; ++i)
    out[i] = weight[i] > 0.0 ? (float)((double)out[i] / weight[i]) : NAN;
  free(weight);
  return buf_maps_end(&q);
}

/* ---- gap ---- */

static loom_status take_gap(run *r)
{
  float *const out = r->fields.data[H5LOG_gap];
  const int32_t n = r->scene->pub.num_verts;
  if (out == NULL) return LOOM_OK;
  fill_field(r, H5LOG_gap, NAN);
  for (int i = 0; i < r->num_contact; ++i) {
    const loom_pairs *const p = &r->contact[i].pairs;
    if (p->count == 0) continue;
    buf_maps q = {.m = r->m};
    const int32_t *const kind = buf_maps_add(&q, p->kind, LOOM_READ);
    const int32_t *const v = buf_maps_add(&q, p->v, LOOM_READ);
    const loom_real *const gap = buf_maps_add(&q, p->gap, LOOM_READ);
    for (int64_t k = 0; q.status == LOOM_OK && k < p->count; ++k)
      for (int a = 0; a < 4 && kind[k] != LOOM_PAIR_YY; ++a) { /* YY pairs name segments */
        const int32_t at = v[4 * k + a];
        if (at >= 0 && at < n) out[at] = fminf(out[at], (float)gap[k]); /* skips NaN */
      }
    LOOM_TRY(buf_maps_end(&q));
  }
  return LOOM_OK;
}

loom_status vertex_fields_record(run *r)
{
  if (r->fields.wanted == 0) return LOOM_OK;
  clock_push(&r->clock, CLOCK_MEASURE);
  loom_status s = take_gradients(r);
  if (s == LOOM_OK) s = take_strain(r);
  if (s == LOOM_OK) s = take_gap(r);
  clock_pop(&r->clock);
  return s;
}

loom_status vertex_fields_record_start(run *r)
{
  if (r->fields.wanted == 0) return LOOM_OK;
  fill_field(r, H5LOG_contact_force, NAN);
  fill_field(r, H5LOG_residual, NAN);
  fill_field(r, H5LOG_gap, NAN);
  return take_strain(r);
}
