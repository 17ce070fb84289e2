/* rigid.c - see rigid.h. */
#include "rigid.h"

#include <math.h>
#include <string.h>

#include "geom/small.kern.h"

enum { FITS = 4 }; /* of rotations; the error is squared in each */

typedef struct zone {
  double mass;       /* kg */
  double center[3];  /* m, at the start */
  double way[3];     /* kg m, then m: of the center of mass */
  double spin[3];    /* kg m^2 */
  double inertia[9]; /* kg m^2 */
  double turn[9];    /* rotation about the center */
  int64_t held;      /* impacts with a prescribed side */
} zone;

typedef struct sight {        /* arrays on the host, and the zones */
  const int32_t *v;           /* [m][4] */
  const lk_real *from, *to;   /* [m][3] m, see impacts.h */
  const lk_real *x0, *x1, *m; /* [n][3] m, [n][3] m, [n] kg */
  int32_t *parent;            /* [n], -1: in no zone */
  int32_t *number;            /* [n], of a root's zone */
  zone *zones;                /* [num] */
  int64_t num, impacts;
  int32_t n;
} sight;

static int32_t find_zone_root(int32_t *parent, int32_t i)
{
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

/* The root of a zone is its smallest vertex, in any order of impacts. */
static void connect_zones(sight *s)
{
  for (int32_t i = 0; i < s->n; ++i) s->parent[i] = -1;
  for (int64_t j = 0; j < s->impacts; ++j) {
    int32_t first = -1;
    for (int k = 0; k < 4; ++k) {
      const int32_t i = s->v[4 * j + k];
      if (i < 0) continue;
      if (s->parent[i] < 0) s->parent[i] = i;
      const int32_t a = find_zone_root(s->parent, i);
      const int32_t b = first < 0 ? a : find_zone_root(s->parent, first);
      s->parent[a > b ? a : b] = a < b ? a : b;
      first = i;
    }
  }
}

static int64_t number_zones(sight *s)
{
  int64_t num = 0;
  for (int32_t i = 0; i < s->n; ++i)
    if (s->parent[i] == i) s->number[i] = (int32_t)num++;
  return num;
}

static zone *zone_of(const sight *s, int32_t i)
{
  return s->parent[i] < 0 ? NULL : &s->zones[s->number[find_zone_root(s->parent, i)]];
}

static void sum_mass(const sight *s)
{
  for (int32_t i = 0; i < s->n; ++i) {
    zone *const z = zone_of(s, i);
    if (z == NULL) continue;
    z->mass += (double)s->m[i];
    for (int c = 0; c < 3; ++c) {
      z->center[c] += (double)(s->m[i] * s->x0[3 * (int64_t)i + c]);
      z->way[c] += (double)(s->m[i] * (s->x1[3 * (int64_t)i + c] - s->x0[3 * (int64_t)i + c]));
    }
  }
  for (int64_t k = 0; k < s->num; ++k)
    for (int c = 0; c < 3; ++c) {
      s->zones[k].center[c] /= s->zones[k].mass;
      s->zones[k].way[c] /= s->zones[k].mass;
    }
}

/* The torque of d at `arm` and the inertia of m there. */
static void add_spin(zone *z, double m, const double arm[3], const double d[3])
{
  const double square = arm[0] * arm[0] + arm[1] * arm[1] + arm[2] * arm[2];
  for (int c = 0; c < 3; ++c) {
    const int p = (c + 1) % 3, q = (c + 2) % 3;
    z->spin[c] += m * (arm[p] * d[q] - arm[q] * d[p]);
    for (int e = 0; e < 3; ++e)
      z->inertia[3 * c + e] += m * ((c == e ? square : 0.0) - arm[c] * arm[e]);
  }
}

static void rotate_arm(const double R[9], const double a[3], double out[3])
{
  for (int c = 0; c < 3; ++c) out[c] = R[3 * c] * a[0] + R[3 * c + 1] * a[1] + R[3 * c + 2] * a[2];
}

/* turn = the rotation by w, rad, of turn: Rodrigues' formula, column by column. */
static void turn_by(zone *z, const double w[3])
{
  const double angle = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
  if (angle == 0.0) return;
  const double u[3] = {w[0] / angle, w[1] / angle, w[2] / angle};
  for (int k = 0; k < 3; ++k) {
    const double a[3] = {z->turn[k], z->turn[3 + k], z->turn[6 + k]};
    const double along = u[0] * a[0] + u[1] * a[1] + u[2] * a[2];
    for (int c = 0; c < 3; ++c) {
      const int p = (c + 1) % 3, q = (c + 2) % 3;
      z->turn[3 * c + k] = a[c] * cos(angle) + (u[p] * a[q] - u[q] * a[p]) * sin(angle) +
                           u[c] * along * (1.0 - cos(angle));
    }
  }
}

/* Turns a zone by inertia^-1 spin; a zone on a straight line or in a point does not turn. */
static void take_spin(zone *z)
{
  const double trace = z->inertia[0] + z->inertia[4] + z->inertia[8];
  lk_real I[9], inv[9] = {0};
  double rate[3] = {0.0, 0.0, 0.0};
  for (int c = 0; c < 9; ++c) I[c] = (lk_real)z->inertia[c];
  if ((double)lk_inv33(I, inv) > 1e-9 * trace * trace * trace)
    for (int c = 0; c < 3; ++c)
      for (int e = 0; e < 3; ++e) rate[c] += (double)inv[3 * c + e] * z->spin[e];
  memset(z->spin, 0, sizeof z->spin);
  memset(z->inertia, 0, sizeof z->inertia);
  turn_by(z, rate);
}

static void turn_free(const sight *s)
{
  for (int32_t i = 0; i < s->n; ++i) {
    zone *const z = zone_of(s, i);
    double arm[3], d[3];
    if (z == NULL) continue;
    for (int c = 0; c < 3; ++c) {
      arm[c] = (double)s->x0[3 * (int64_t)i + c] - z->center[c];
      d[c] = (double)(s->x1[3 * (int64_t)i + c] - s->x0[3 * (int64_t)i + c]) - z->way[c];
    }
    add_spin(z, (double)s->m[i], arm, d);
  }
  for (int64_t k = 0; k < s->num; ++k) take_spin(&s->zones[k]);
}

/* ---- zones that are carried along ---- */

/* The zone of an impact with something prescribed, or NULL. */
static zone *find_carried_zone(const sight *s, int64_t j)
{
  zone *z = NULL;
  if (!isfinite((double)s->from[3 * j])) return NULL;
  for (int k = 0; k < 4; ++k)
    if (s->v[4 * j + k] >= 0) z = zone_of(s, s->v[4 * j + k]);
  return z;
}

/* Carried zones: their centre is the mean of the prescribed sides, and moves with it. */
static void center_carried(const sight *s)
{
  static const double unit[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  for (int64_t j = 0; j < s->impacts; ++j) {
    zone *const z = find_carried_zone(s, j);
    if (z == NULL) continue;
    if (z->held++ == 0) {
      memset(z->center, 0, sizeof z->center);
      memset(z->way, 0, sizeof z->way);
      memcpy(z->turn, unit, sizeof unit);
    }
    for (int c = 0; c < 3; ++c) {
      z->center[c] += (double)s->from[3 * j + c];
      z->way[c] += (double)(s->to[3 * j + c] - s->from[3 * j + c]);
    }
  }
  for (int64_t k = 0; k < s->num; ++k)
    for (int c = 0; c < 3 && s->zones[k].held > 0; ++c) {
      s->zones[k].center[c] /= (double)s->zones[k].held;
      s->zones[k].way[c] /= (double)s->zones[k].held;
    }
}

/* The rotation that takes the points of impact where they go, by Gauss-Newton. */
static void turn_carried(const sight *s)
{
  for (int64_t j = 0; j < s->impacts; ++j) {
    zone *const z = find_carried_zone(s, j);
    double start[3], arm[3], d[3];
    if (z == NULL) continue;
    for (int c = 0; c < 3; ++c) start[c] = (double)s->from[3 * j + c] - z->center[c];
    rotate_arm(z->turn, start, arm);
    for (int c = 0; c < 3; ++c) d[c] = (double)s->to[3 * j + c] - z->center[c] - z->way[c] - arm[c];
    add_spin(z, 1.0, arm, d);
  }
  for (int64_t k = 0; k < s->num; ++k)
    if (s->zones[k].held > 0) take_spin(&s->zones[k]);
}

static int64_t move_zone_vertices(const sight *s, lk_real *x, uint8_t *mask)
{
  int64_t moved = 0;
  for (int32_t i = 0; i < s->n; ++i) {
    const zone *const z = zone_of(s, i);
    double arm[3], to[3];
    if (z == NULL) continue;
    for (int c = 0; c < 3; ++c) arm[c] = (double)s->x0[3 * (int64_t)i + c] - z->center[c];
    rotate_arm(z->turn, arm, to);
    for (int c = 0; c < 3; ++c) x[3 * (int64_t)i + c] = (lk_real)(z->center[c] + z->way[c] + to[c]);
    mask[i] = 1;
    ++moved;
  }
  return moved;
}

static loom_status make_zones(const impacts *all, sight *s)
{
  s->parent = calloc((size_t)s->n + 1, sizeof *s->parent);
  s->number = calloc((size_t)s->n + 1, sizeof *s->number);
  if (s->parent != NULL && s->number != NULL) {
    connect_zones(s);
    s->num = number_zones(s);
    s->zones = calloc((size_t)s->num + 1, sizeof *s->zones);
  }
  LOOM_CHECK(all->host, s->zones != NULL, LOOM_E_NOMEM, "no memory for rigid zones");
  for (int64_t k = 0; k < s->num; ++k)
    for (int c = 0; c < 9; c += 4) s->zones[k].turn[c] = 1.0;
  sum_mass(s);
  turn_free(s);
  center_carried(s);
  for (int k = 0; k < FITS; ++k) turn_carried(s);
  return LOOM_OK;
}

loom_status rigid_zones(const impacts *all, loom_buf *x_start, loom_buf *x_before, loom_buf *x,
                        loom_buf *mask, int64_t *moved)
{
  plug_maps m = plug_maps_on(all->host, all->e);
  sight s = {.v = plug_read_host(&m, all->v),
             .from = plug_read_host(&m, all->from),
             .to = plug_read_host(&m, all->to),
             .x0 = plug_read_host(&m, x_start),
             .x1 = plug_read_host(&m, x_before),
             .m = plug_read_host(&m, all->sc->mass),
             .impacts = all->m,
             .n = all->sc->num_verts};
  lk_real *const to = plug_rdwr_host(&m, x);
  uint8_t *const marks = plug_rdwr_host(&m, mask);
  if (m.status == LOOM_OK) m.status = make_zones(all, &s);
  if (m.status == LOOM_OK) *moved = move_zone_vertices(&s, to, marks);
  free(s.parent);
  free(s.number);
  free(s.zones);
  return plug_unbind(&m);
}
