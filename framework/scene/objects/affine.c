/* affine.c - model = affine: a solid that moves by affine maps, as one tetrahedron.
 *
 * L. Lan et al., "Affine body dynamics: fast, stable and intersection-free simulation of stiff
 * materials", ACM TOG 41(4), 2022: x = A X + t.  Here A and t are four control points, each with a
 * quarter of the mass (E. J. Routh's equimomental particles).  With the centre of mass c and the
 * second moment S = Q diag(s) Q', the integral of (X - c)(X - c)' over the volume divided by it,
 *   X_a = c + Q diag(sqrt s) t_a,  t = (1,1,1) (1,-1,-1) (-1,1,-1) (-1,-1,1),
 * so sum_a m/4 X_a X_a' is that of the body, and the integral of rho lambda_a lambda_b is m/4 for
 * a = b and 0 else: the lumped masses are the exact mass matrix.  Surface vertices follow with
 *   lambda_a(X) = (1 + t_a . diag(s)^-1/2 Q' (X - c)) / 4.
 * DEVIATION: the paper's potential is kappa V_body |AA' - I|^2; here it is w/2 V |A - R|^2
 * (tet_arap), V = 8/3 sqrt(s1 s2 s3) the volume of the control tetrahedron.  For small strains both
 * are equal with w = 8 kappa V_body / V. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "geom/small.kern.h"
#include "geom/vec3.h"
#include "scene/base/build.h"

static const double corners[AFFINE_NODES][3] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};

int build_is_affine(const object *o)
{
  return o->kind == OBJECT_SOLID && strcmp(o->solid.model, "affine") == 0;
}

typedef struct moments {
  double volume; /* m^3 */
  double centre[3];
  double frame[9];  /* Q, columns are axes, right-handed */
  double extent[3]; /* m, sqrt s */
} moments;

/* Sums of tetrahedra between a point and the surface's triangles: the divergence theorem. */
static void integrate_surface(const mesh *m, double origin[3], double *volume, double first[3],
                              double second[9])
{
  *volume = 0;
  memset(first, 0, 3 * sizeof *first);
  memset(second, 0, 9 * sizeof *second);
  memcpy(origin, m->x + 3 * (int64_t)m->tris[0], 3 * sizeof *origin);
  for (int64_t t = 0; t < m->num_tris; ++t) {
    double v[3][3], n[3], sum[3];
    for (int a = 0; a < 3; ++a) vec3_sub(m->x + 3 * (int64_t)m->tris[3 * t + a], origin, v[a]);
    vec3_cross(v[1], v[2], n);
    const double six = vec3_dot(v[0], n);
    *volume += six / 6;
    for (int c = 0; c < 3; ++c) sum[c] = v[0][c] + v[1][c] + v[2][c];
    for (int c = 0; c < 3; ++c) first[c] += six / 24 * sum[c];
    for (int c = 0; c < 3; ++c)
      for (int d = 0; d < 3; ++d)
        second[3 * c + d] +=
            six / 120 *
            (sum[c] * sum[d] + v[0][c] * v[0][d] + v[1][c] * v[1][d] + v[2][c] * v[2][d]);
  }
}

/* 0: the body has no volume in some direction. */
static int find_moments(const mesh *m, moments *out)
{
  double origin[3], first[3], second[9], mean[3], largest = 0, least = INFINITY;
  lk_real S[9], Q[9];
  if (m->num_tris < 1) return 0;
  integrate_surface(m, origin, &out->volume, first, second);
  if (!(out->volume > 0)) return 0;
  for (int c = 0; c < 3; ++c) mean[c] = first[c] / out->volume;
  for (int c = 0; c < 3; ++c)
    for (int d = 0; d < 3; ++d)
      S[3 * c + d] = (lk_real)(second[3 * c + d] / out->volume - mean[c] * mean[d]);
  lk_sym_eig(3, S, Q);
  for (int c = 0; c < 3; ++c) {
    const double s = (double)S[4 * c];
    out->centre[c] = origin[c] + mean[c];
    out->extent[c] = sqrt(fmax(s, 0));
    largest = fmax(largest, out->extent[c]);
    least = fmin(least, out->extent[c]);
  }
  for (int k = 0; k < 9; ++k) out->frame[k] = (double)Q[k];
  const double *const q = out->frame;
  const double det = q[0] * (q[4] * q[8] - q[5] * q[7]) - q[1] * (q[3] * q[8] - q[5] * q[6]) +
                     q[2] * (q[3] * q[7] - q[4] * q[6]);
  for (int c = 0; c < 3 && det < 0; ++c) out->frame[3 * c + 2] = -out->frame[3 * c + 2];
  return least > 1e-6 * largest;
}

static void put_nodes(const moments *b, double *x)
{
  for (int a = 0; a < AFFINE_NODES; ++a)
    for (int c = 0; c < 3; ++c) {
      x[3 * a + c] = b->centre[c];
      for (int k = 0; k < 3; ++k)
        x[3 * a + c] += b->frame[3 * c + k] * b->extent[k] * corners[a][k];
    }
}

static void find_weights(const moments *b, const double *x, double w[AFFINE_NODES])
{
  double d[3], z[3];
  vec3_sub(x, b->centre, d);
  for (int k = 0; k < 3; ++k)
    z[k] = (b->frame[k] * d[0] + b->frame[3 + k] * d[1] + b->frame[6 + k] * d[2]) / b->extent[k];
  for (int a = 0; a < AFFINE_NODES; ++a) w[a] = (1 + vec3_dot(corners[a], z)) / 4;
}

/* to->tris and the places of the surface behind the nodes; used [num_verts]: new ids. */
static void take_surface(const mesh *from, const moments *b, const int32_t *used, mesh *to,
                         double *weights)
{
  put_nodes(b, to->x);
  for (int a = 0; a < AFFINE_NODES; ++a) weights[AFFINE_NODES * a + a] = 1;
  for (int32_t i = 0; i < from->num_verts; ++i) {
    if (used[i] < 0) continue;
    memcpy(to->x + 3 * (int64_t)used[i], from->x + 3 * (int64_t)i, 3 * sizeof *to->x);
    find_weights(b, from->x + 3 * (int64_t)i, weights + AFFINE_NODES * (int64_t)used[i]);
  }
  for (int64_t k = 0; k < 3 * (int64_t)from->num_tris; ++k) to->tris[k] = used[from->tris[k]];
  /* the determinant of the corners 1 to 3 less corner 0 is positive in this order */
  const int32_t order[AFFINE_NODES] = {0, 1, 3, 2};
  memcpy(to->tets, order, sizeof order);
}

static loom_status convert_mesh(builder *b, object *o, const moments *body)
{
  mesh to = {.num_verts = AFFINE_NODES, .num_tris = o->m.num_tris, .num_tets = 1};
  int32_t *used = NULL;
  loom_status s = mesh_alloc(b->err, o->m.num_verts, sizeof *used, &used);
  for (int32_t i = 0; s == LOOM_OK && i < o->m.num_verts; ++i) used[i] = -1;
  for (int64_t k = 0; s == LOOM_OK && k < 3 * (int64_t)o->m.num_tris; ++k) used[o->m.tris[k]] = 0;
  for (int32_t i = 0; s == LOOM_OK && i < o->m.num_verts; ++i)
    if (used[i] == 0) used[i] = to.num_verts++;
  if (s == LOOM_OK) s = mesh_alloc(b->err, 3 * (int64_t)to.num_verts, sizeof *to.x, &to.x);
  if (s == LOOM_OK) s = mesh_alloc(b->err, 3 * (int64_t)to.num_tris, sizeof *to.tris, &to.tris);
  if (s == LOOM_OK) s = mesh_alloc(b->err, AFFINE_NODES, sizeof *to.tets, &to.tets);
  if (s == LOOM_OK)
    s = mesh_alloc(b->err, AFFINE_NODES * (int64_t)to.num_verts, sizeof *o->weights, &o->weights);
  if (s == LOOM_OK) {
    take_surface(&o->m, body, used, &to, o->weights);
    mesh_free(&o->m);
    o->m = to;
  } else {
    mesh_free(&to);
  }
  free(used);
  return s;
}

loom_status build_affine(builder *b, object *o)
{
  moments body;
  if (o->common->velocities[0] != '\0')
    return build_place(b, o->sec, "velocities",
                       err_set(b->err, LOOM_E_CONFIG,
                               "an affine body has no velocity of each vertex of its mesh; give "
                               "the key velocity"));
  if (!find_moments(&o->m, &body))
    return build_place(b, o->sec, "model",
                       err_set(b->err, LOOM_E_CONFIG,
                               "an affine body needs a closed surface with its triangles "
                               "outwards; %s encloses no volume",
                               o->label));
  o->mass = o->common->density * body.volume;
  LOOM_TRY(convert_mesh(b, o, &body));
  topo_free(&o->tp);
  o->inner_edges = o->m.num_tris / 2 * 3;
  return topo_build(b->err, o->m.tris, o->m.num_tris, o->m.num_verts, &o->tp);
}
