/* test_sdf_elements.c - edges and triangles in plugins/collision/sdf: pairs against all candidates
 * one by one, and step bounds against dense sampling of the way. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bodies/near_impact.kern.h"
#include "support/device.h"
#include "support/test_host.h"

/* The key `elements` by its number: 0 auto, 1 all, 2 none. */
/* Two sheets of SIDE x SIDE vertices; the first is one object, the second another. */
enum { SIDE = 9, SHEET = SIDE * SIDE, N = 2 * SHEET, CELLS = (SIDE - 1) * (SIDE - 1) };
enum { NT = 4 * CELLS, NE = 2 * (2 * SIDE * (SIDE - 1) + CELLS), MOST = NE + NT };
enum { ROD, BLOCK, RING, BALL, FLOOR, BODIES };

static const loom_real sizes[BODIES][8] = {{-1, 0, 0, 1, 0, 0, LK_R(0.004)},
                                           {LK_R(0.1), LK_R(0.08), LK_R(0.05), 0},
                                           {LK_R(0.12), LK_R(0.01)},
                                           {0, 0, 0, LK_R(0.012)},
                                           {0, 0, 1, LK_R(-0.4)}};
static const char *const body_kinds[BODIES] = {"capsule", "box", "torus", "sphere", "plane"};

/* The second sheet is resolved against the ring, and the floor has no elements. */
static const uint8_t resolved[2 * BODIES] = {2, 2, 2, 2, 2, 1, 2, 2, 0, 0};

typedef struct sheets {
  test_host t;
  const loom_plugin *p;
  void *set, *self;
  loom_real x0[3 * N], x1[3 * N], r[N];
  uint8_t fixed[N];
  int32_t edges[2 * NE], tris[3 * NT], object[N];
  loom_buf *b0, *b1;
  obst_view view[BODIES];
} sheets;

static void build_sheet(sheets *s, int sheet, int *ne, int *nt, uint64_t *seed)
{
  const int first = sheet * SHEET;
  for (int k = 0; k < SHEET; ++k) {
    const int v = first + k, i = k % SIDE, j = k / SIDE;
    const double at[3] = {0.05 * (i - SIDE / 2), 0.05 * (j - SIDE / 2), sheet ? 0.06 : 0.01};
    s->object[v] = sheet;
    s->r[v] = (loom_real)(sheet ? 0.002 : 0.001);
    s->fixed[v] = (uint8_t)(k < 3 || k == SHEET - 1);
    for (int c = 0; c < 3; ++c) {
      s->x0[3 * v + c] = (loom_real)(at[c] + 0.012 * th_random(seed));
      s->x1[3 * v + c] = s->x0[3 * v + c] + (loom_real)(0.04 * th_random(seed));
    }
    s->x1[3 * v + 2] -= (loom_real)0.05;
    if (i + 1 < SIDE) s->edges[2 * *ne] = v, s->edges[2 * (*ne)++ + 1] = v + 1;
    if (j + 1 < SIDE) s->edges[2 * *ne] = v, s->edges[2 * (*ne)++ + 1] = v + SIDE;
    if (i + 1 == SIDE || j + 1 == SIDE) continue;
    s->edges[2 * *ne] = v, s->edges[2 * (*ne)++ + 1] = v + SIDE + 1;
    const int32_t both[6] = {v, v + 1, v + SIDE + 1, v, v + SIDE + 1, v + SIDE};
    memcpy(s->tris + 3 * *nt, both, sizeof both);
    *nt += 2;
  }
}

static void open_sheets(sheets *s, const char *settings)
{
  static const double at[BODIES][3] = {
      {0, 0.02, 0}, {-0.1, -0.1, -0.03}, {0.1, 0.08, 0.02}, {0.13, -0.12, 0.01}, {0, 0, 0}};
  static const double axis[3] = {0.0, 0.6, 0.8};
  uint64_t seed = 5;
  int ne = 0, nt = 0;
  memset(s, 0, sizeof *s);
  th_open_on(&s->t, test_on_cuda() ? LOOM_CUDA : LOOM_CPU, 2, 0);
  for (int sheet = 0; sheet < 2; ++sheet) build_sheet(s, sheet, &ne, &nt, &seed);
  cr_assert(ne == NE && nt == NT, "%d edges, %d triangles", ne, nt);
  for (int k = 0; k < BODIES; ++k) {
    loom_obstacle *const o = &s->t.obstacles[k];
    const double end[3] = {at[k][0] + 0.02, at[k][1], at[k][2] + 0.03};
    *o = th_obstacle(body_kinds[k], sizes[k], 8);
    th_pose(o->pose0, axis, 0.1 * (k == BLOCK), at[k]);
    th_pose(o->pose1, axis, 0.1 * (k == BLOCK) + (k == FLOOR ? 0.0 : 0.3), end);
    if (k == FLOOR) memcpy(o->pose1, o->pose0, sizeof o->pose1);
    cr_assert_null(obst_view_fill(o, &s->view[k]));
  }
  th_scene(&s->t, N, s->x0, NULL, s->r, BODIES);
  th_put(&s->t, s->t.scene.fixed, s->fixed);
  th_put(&s->t, s->t.scene.object, s->object);
  s->t.scene.num_objects = 2;
  s->t.scene.num_edges = NE;
  s->t.scene.num_tris = NT;
  s->t.scene.edges = th_buf(&s->t, LOOM_I32, (int64_t)2 * NE, s->edges);
  s->t.scene.tris = th_buf(&s->t, LOOM_I32, (int64_t)3 * NT, s->tris);
  s->t.scene.elements = resolved;
  s->b0 = s->t.step.x_start;
  s->b1 = s->t.step.x;
  th_put(&s->t, s->b1, s->x1);
  s->p = th_plugin("sdf", LOOM_KIND_COLLISION, "sdf");
  s->set = th_settings(s->p, settings);
  s->self = th_create(&s->t, s->p, s->set);
  th_attach(&s->t, s->p, s->self);
  cr_assert_eq(TH_CALL(s->p->ops.collision, begin_step, s->self, &s->t.step), LOOM_OK);
}

static void close_sheets(sheets *s)
{
  s->p->ops.collision->destroy(s->self);
  free(s->set);
  th_close(&s->t);
}

/* Corners of element e, edges first; returns how many. */
static int element_corners(const sheets *s, int e, int32_t *v)
{
  const int corners = e < NE ? 2 : 3;
  for (int k = 0; k < 3; ++k)
    v[k] = k >= corners ? -1 : e < NE ? s->edges[2 * e + k] : s->tris[3 * (e - NE) + k];
  return corners;
}

static near_element place_element(const sheets *s, int b, const int32_t *v, const loom_real *x,
                                  double progress)
{
  near_element e = {.o = &s->view[b], .corners = v[2] < 0 ? 2 : 3};
  obst_pose P;
  obst_pose_at(e.o, (lk_real)progress, &P);
  for (int k = 0; k < e.corners; ++k) obst_to_body(&P, x + 3 * v[k], e.p[k]);
  return e;
}

static int is_inside_weights(const near_point *q, int corners)
{
  int inner = 1;
  for (int k = 0; k < corners; ++k) inner &= q->w[k] > 1e-6;
  return inner;
}

/* What the query has to say of body b and element e with these positions; *toi as in pairs. */
static int is_expected_pair(const sheets *s, const loom_query *q, const loom_real *x, int b,
                            const int32_t *v, near_point *at, lk_real *toi)
{
  const double r = (double)s->r[v[0]];
  near_element e = place_element(s, b, v, x, q->progress0);
  near_path path = {.corners = e.corners,
                    .radius = s->r[v[0]],
                    .tol = LK_R(1e-7),
                    .s0 = (lk_real)q->progress0,
                    .s1 = (lk_real)q->progress1,
                    .max_iters = 512};
  int fixed = 1, yes;
  near_deepest(&e, at);
  *toi = 2;
  for (int k = 0; k < e.corners; ++k) {
    fixed &= s->fixed[v[k]];
    memcpy(path.x0[k], x + 3 * v[k], sizeof path.x0[k]);
    memcpy(path.x1[k], s->x1 + 3 * v[k], sizeof path.x1[k]);
  }
  if (fixed) return 0;
  yes = (q->what & LOOM_DETECT_PROXIMITY) && (double)at->f - r < (double)q->margin &&
        near_flat(&e) <= q->margin;
  yes |=
      (q->what & LOOM_DETECT_OVERLAP) && (double)at->f - r < 0 && is_inside_weights(at, e.corners);
  if (!(q->what & LOOM_DETECT_CCD)) return yes;
  if (at->f > 0 && (double)at->f - r <= 1e-7) { /* nearer than the radius: it may only part */
    path.floor = LK_R(0.999) * at->f - s->r[v[0]];
    path.tol = LK_FMIN(LK_R(1e-7), LK_R(1e-4) * at->f);
  }
  *toi = near_impact(e.o, &path);
  if (*toi > 1) return yes;
  near_element hit;
  near_point there;
  near_path_at(e.o, &path, *toi, &hit);
  near_deepest(&hit, &there);
  return yes || is_inside_weights(&there, e.corners);
}

typedef struct pair_copy {
  int32_t *kind, *v, *obst;
  loom_real *w, *gap, *normal, *point, *toi;
  uint64_t *key;
} pair_copy;

static pair_copy copy_pairs(sheets *s, const loom_pairs *p)
{
  return (pair_copy){th_get(&s->t, p->kind),  th_get(&s->t, p->v),   th_get(&s->t, p->obst),
                     th_get(&s->t, p->w),     th_get(&s->t, p->gap), th_get(&s->t, p->normal),
                     th_get(&s->t, p->point), th_get(&s->t, p->toi), th_get(&s->t, p->key)};
}

static void free_pair_copy(pair_copy *c)
{
  free(c->kind), free(c->v), free(c->obst), free(c->w), free(c->gap), free(c->normal);
  free(c->point), free(c->toi), free(c->key);
}

/* A device rounds the sines of the body's pose otherwise, and weights with them. */
static double weight_error(const sheets *s) { return s->t.exec.backend == LOOM_CPU ? 0.0 : 1e-9; }

/* A pair that is there now: its gap is that of the deepest point above its plane. */
static void check_element_pair(const sheets *s, const loom_query *q, const pair_copy *c, int64_t m,
                               const loom_real *x, const int32_t *v, const near_point *at,
                               lk_real toi)
{
  const double r = (double)s->r[v[0]], gap = (double)at->f - r;
  const int close = ((q->what & LOOM_DETECT_PROXIMITY) && gap < (double)q->margin) ||
                    ((q->what & LOOM_DETECT_OVERLAP) && gap < 0);
  double above = -r;
  cr_assert_eq(memcmp(c->v + 4 * m, v, 3 * sizeof *v) || c->v[4 * m + 3] != -1, 0);
  cr_assert(fabs((double)(c->toi[m] - toi)) < 1e-12, "toi %.17g, not %.17g", (double)c->toi[m],
            (double)toi);
  if (!close) return;
  cr_assert(fabs((double)c->gap[m] - gap) < 1e-14, "gap %.17g, not %.17g", (double)c->gap[m], gap);
  for (int k = 0; k < 3; ++k) {
    cr_assert(fabs((double)(c->w[4 * m + k] - at->w[k])) <= weight_error(s),
              "weight %d is %.17g, not %.17g", k, (double)c->w[4 * m + k], (double)at->w[k]);
    for (int a = 0; a < 3 && v[a] >= 0; ++a)
      above += (double)(c->w[4 * m + a] * c->normal[3 * m + k] * x[3 * v[a] + k]);
    above -= (double)(c->normal[3 * m + k] * c->point[3 * m + k]);
  }
  cr_assert(fabs(above - gap) < 1e-13, "%.17g above the plane, not %.17g", above, gap);
}

/* Pairs EO of a query against all candidates; returns how many there are. */
static int check_query(sheets *s, const loom_query *q, const loom_real *x, int all, loom_pairs *p)
{
  int64_t m = 0;
  int num = 0;
  (void)th_detect(&s->t, q, p);
  pair_copy c = copy_pairs(s, p);
  while (m < p->count && c.kind[m] == LOOM_PAIR_VO) ++m;
  for (int b = 0; b < BODIES; ++b)
    for (int e = 0; e < MOST; ++e) {
      int32_t v[3];
      near_point at;
      lk_real toi;
      element_corners(s, e, v);
      if (resolved[2 * b + s->object[v[0]]] < (all ? 1 : 2)) continue;
      if (!is_expected_pair(s, q, x, b, v, &at, &toi)) continue;
      cr_assert(m < p->count && c.kind[m] == LOOM_PAIR_EO, "body %d, element %d is missing", b, e);
      cr_assert(c.key[m] == ((uint64_t)b << 32 | (uint64_t)e) && c.obst[m] == b,
                "pair %lld has body %d, element %d; body %d, element %d has none", (long long)m,
                c.obst[m], (int)(c.key[m] & 0xffffffffu), b, e);
      check_element_pair(s, q, &c, m, x, v, &at, toi);
      ++m;
      ++num;
    }
  cr_assert_eq(m, p->count, "%lld of %lld pairs were expected", (long long)m, (long long)p->count);
  free_pair_copy(&c);
  return num;
}

static loom_query query_elements(const sheets *s, uint32_t what, double from, double to)
{
  return (loom_query){.struct_size = sizeof(loom_query),
                      .what = what,
                      .kinds = LOOM_PAIR_MASK_ALL,
                      .margin = (loom_real)0.004,
                      .x0 = s->b0,
                      .x1 = s->b1,
                      .progress0 = from,
                      .progress1 = to};
}

Test(sdf_elements, queries_equal_all_candidates_one_by_one)
{
  static const char *const modes[] = {"elements=0", "elements=1"};
  static const uint32_t all[] = {LOOM_DETECT_PROXIMITY, LOOM_DETECT_OVERLAP, LOOM_DETECT_CCD,
                                 LOOM_DETECT_PROXIMITY | LOOM_DETECT_CCD};
  for (int mode = 0; mode < 2; ++mode)
    for (size_t k = 0; k < sizeof all / sizeof *all; ++k) {
      static sheets s;
      loom_pairs p;
      open_sheets(&s, modes[mode]);
      th_pairs_open(&s.t, &p, 4);
      const loom_query q = query_elements(&s, all[k], all[k] & LOOM_DETECT_CCD ? 0.2 : 1.0, 1.0);
      const int num = check_query(&s, &q, s.x0, mode, &p);
      cr_expect_gt(num, 20, "%s, query %u: %d pairs", modes[mode], all[k], num);
      th_pairs_close(&s.t, &p);
      close_sheets(&s);
    }
}

/* The second query of a step has the gaps of the first, at other positions. */
Test(sdf_elements, a_later_query_of_a_step_misses_none)
{
  static sheets s;
  loom_pairs p;
  open_sheets(&s, "");
  th_pairs_open(&s.t, &p, 4);
  loom_query q = query_elements(&s, LOOM_DETECT_PROXIMITY, 1.0, 1.0);
  const int first = check_query(&s, &q, s.x0, 0, &p);
  q.x0 = s.b1;
  const int then = check_query(&s, &q, s.x1, 0, &p);
  cr_expect(first != then, "both have %d pairs", first);
  th_pairs_close(&s.t, &p);
  close_sheets(&s);
}

/* Sheets at rest, and bodies that move and turn by themselves. */
Test(sdf_elements, bodies_that_come_are_found)
{
  static sheets s;
  loom_pairs p;
  open_sheets(&s, "");
  memcpy(s.x1, s.x0, sizeof s.x1);
  th_put(&s.t, s.b1, s.x1);
  for (int k = 0; k < FLOOR; ++k) {
    static const double axis[3] = {0.0, 0.6, 0.8}, far[3] = {0.02, 0.03, 0.12};
    th_pose(s.t.obstacles[k].pose1, axis, 0.9, far);
    cr_assert_null(obst_view_fill(&s.t.obstacles[k], &s.view[k]));
  }
  cr_assert_eq(TH_CALL(s.p->ops.collision, begin_step, s.self, &s.t.step), LOOM_OK);
  th_pairs_open(&s.t, &p, 4);
  const loom_query q = query_elements(&s, LOOM_DETECT_CCD, 0.0, 1.0);
  const int num = check_query(&s, &q, s.x0, 0, &p);
  cr_expect_gt(num, 20, "%d pairs", num);
  th_pairs_close(&s.t, &p);
  close_sheets(&s);
}

static int64_t count_pairs_of(sheets *s, const loom_query *q, loom_pairs *p, int32_t kind)
{
  int64_t num = 0;
  (void)th_detect(&s->t, q, p);
  int32_t *const all = th_get(&s->t, p->kind);
  for (int64_t j = 0; j < p->count; ++j) num += all[j] == kind;
  free(all);
  return num;
}

Test(sdf_elements, kinds_masks_and_excluded_keys)
{
  static sheets s;
  static uint8_t mask[N];
  loom_pairs p;
  open_sheets(&s, "");
  th_pairs_open(&s.t, &p, 4);
  loom_query q = query_elements(&s, LOOM_DETECT_PROXIMITY, 1.0, 1.0);
  const int64_t all = count_pairs_of(&s, &q, &p, LOOM_PAIR_EO);
  uint64_t *const key = th_get(&s.t, p.key);
  const int64_t verts = p.count - all;
  q.kinds = LOOM_BIT(LOOM_PAIR_EO);
  cr_expect(count_pairs_of(&s, &q, &p, LOOM_PAIR_EO) == all && p.count == all);
  q.kinds = LOOM_BIT(LOOM_PAIR_VO);
  cr_expect(count_pairs_of(&s, &q, &p, LOOM_PAIR_VO) == verts && p.count == verts);
  q.kinds = LOOM_PAIR_MASK_ALL;
  q.exclude = th_buf(&s.t, LOOM_U64, all / 2, key + verts);
  cr_expect_eq(count_pairs_of(&s, &q, &p, LOOM_PAIR_EO), all - all / 2);
  q.exclude = NULL;
  for (int i = 0; i < N; ++i) mask[i] = i % 5 == 0;
  q.mask = th_buf(&s.t, LOOM_U8, N, mask);
  const int64_t marked = count_pairs_of(&s, &q, &p, LOOM_PAIR_EO);
  int32_t *const v = th_get(&s.t, p.v);
  for (int64_t j = p.count - marked; j < p.count; ++j)
    cr_assert(mask[v[4 * j]] || mask[v[4 * j + 1]] || (v[4 * j + 2] >= 0 && mask[v[4 * j + 2]]));
  cr_expect(marked > 0 && marked < all, "%lld of %lld", (long long)marked, (long long)all);
  free(key), free(v);
  th_pairs_close(&s.t, &p);
  close_sheets(&s);
  open_sheets(&s, "elements=2");
  th_pairs_open(&s.t, &p, 4);
  q = query_elements(&s, LOOM_DETECT_PROXIMITY, 1.0, 1.0);
  cr_expect(count_pairs_of(&s, &q, &p, LOOM_PAIR_EO) == 0 && p.count == verts);
  th_pairs_close(&s.t, &p);
  close_sheets(&s);
}

/* ---- bounds ---- */

typedef struct bound_case {
  double min_gap, from, to;
  int per_vertex;
  uint32_t kinds;
  const char *settings;
} bound_case;

/* m, the most by which an element comes below what the rules leave it of its gap, where corner v
 * goes the share t[v]. */
static double measure_loss(const sheets *s, const bound_case *k, const double *t, double t_all)
{
  static loom_real x[3 * N];
  double worst = -INFINITY;
  for (int u = 0; u <= 20; ++u) {
    const double share = u / 20.0;
    for (int i = 0; i < 3 * N; ++i)
      x[i] = s->x0[i] + (loom_real)(share * t[i / 3]) * (s->x1[i] - s->x0[i]);
    for (int b = 0; b < BODIES; ++b)
      for (int e = 0; e < MOST; ++e) {
        int32_t v[3];
        near_point q;
        int fixed = 1;
        const int corners = element_corners(s, e, v);
        const double r = (double)s->r[v[0]];
        for (int c = 0; c < corners; ++c) fixed &= s->fixed[v[c]];
        if (fixed || resolved[2 * b + s->object[v[0]]] < 2) continue;
        near_element at = place_element(s, b, v, s->x0, k->from);
        near_deepest(&at, &q);
        const double g = (double)q.f - r;
        if (g <= 0) continue;
        const double left =
            g > k->min_gap ? k->min_gap + 0.1 * (g - k->min_gap) : g * (1 - 1e-9) - 1e-9 * 0.2;
        at = place_element(s, b, v, x, k->from + share * t_all * (k->to - k->from));
        near_deepest(&at, &q);
        worst = fmax(worst, left - ((double)q.f - r));
      }
  }
  return worst;
}

static double check_element_bound(const bound_case *k)
{
  static sheets s;
  static double share[N];
  uint64_t seed = 3;
  open_sheets(&s, k->settings);
  loom_bound b = {.struct_size = sizeof b,
                  .per_vertex = k->per_vertex,
                  .t_vertex = th_buf(&s.t, LOOM_REAL, N, NULL),
                  .min_gap = k->min_gap,
                  .progress0 = k->from,
                  .progress1 = k->to,
                  .blocker = -1,
                  .kinds = k->kinds};
  cr_assert_eq(s.p->ops.collision->max_step(s.self, &s.t.step, s.b0, s.b1, &b), LOOM_OK, "%s",
               s.t.err.text);
  loom_real *const t = th_get(&s.t, b.t_vertex);
  cr_assert(b.t_global > 0 && b.t_global <= 1, "%g", b.t_global);
  for (int i = 0; i < N; ++i)
    share[i] = k->per_vertex ? (double)t[i] * (th_random(&seed) > 0 ? 1.0 : 0.2) : b.t_global;
  const double loss = measure_loss(&s, k, share, k->per_vertex ? 1.0 : b.t_global);
  free(t);
  close_sheets(&s);
  return loss;
}

/* At the end the body stands, or it moves along; each corner may go less than its bound. */
Test(sdf_elements, bounds_keep_elements_outside)
{
  static const bound_case all[] = {{0, 1, 1, 0, 0, ""},
                                   {2e-3, 1, 1, 0, LOOM_PAIR_MASK_ALL, ""},
                                   {1e-3, 0.2, 0.9, 0, 0, ""},
                                   {0, 1, 1, 1, 0, ""},
                                   {1e-3, 1, 1, 1, LOOM_BIT(LOOM_PAIR_EO), ""}};
  for (size_t k = 0; k < sizeof all / sizeof *all; ++k) {
    const double loss = check_element_bound(&all[k]);
    cr_expect_lt(loss, 1e-9, "case %d: %g", (int)k, loss);
  }
  /* vertices alone let edges in, and so do bounds for a model without these pairs */
  static const bound_case without[] = {{0, 1, 1, 1, 0, "elements=2"},
                                       {0, 1, 1, 1, LOOM_BIT(LOOM_PAIR_VO), ""}};
  for (int k = 0; k < 2; ++k) cr_expect_gt(check_element_bound(&without[k]), 1e-3);
}
