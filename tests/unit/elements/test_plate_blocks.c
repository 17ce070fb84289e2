/* plates of a whole scene: derivatives, sums of corners, assembled and matrix-free Hessians. */
#include <math.h>

#include "elements/plate_folds.h"
#include "linalg/linalg.h"
#include "support/bufs.h"
#include "support/elem_case.h"
#include "support/tiny_scene.h"

static const double rounding = sizeof(loom_real) < 8 ? 1e-4 : 1e-11;

typedef struct plate_scene {
  tiny_scene t;
  loom_exec e;
  elastic *el;
  loom_buf *x;
  int32_t n;
} plate_scene;

/* A sheet moved by `noise` metres at random; cells have 0.1 m. */
static void open_plate_scene(plate_scene *p, const char *keys, double noise)
{
  char text[1024];
  snprintf(text, sizeof text,
           "[cloth.a]\nsize = 0.9 0.7\nresolution = 10 8\npattern = alternate\n%s", keys);
  p->t = tiny_open_ok(text);
  p->e = t_exec(2);
  cr_assert_eq(elastic_new(&p->t.err, p->t.m, &p->e, &p->t.s->pub, &p->el), LOOM_OK, "%s",
               p->t.err.text);
  p->n = p->t.s->pub.num_verts;
  loom_real *x = tiny_copy(&p->t, p->t.s->x0);
  for (int32_t i = 0; i < 3 * p->n; ++i) x[i] += (loom_real)(noise * case_random(5, (unsigned)i));
  p->x = t_buf(p->t.m, LOOM_REAL, 3 * p->n, x);
  free(x);
}

static void close_plate_scene(plate_scene *p)
{
  elastic_free(p->el);
  buf_free(p->t.m, p->x);
  exec_close(&p->e);
  tiny_close(&p->t);
}

static loom_buf *random_plate_vector(plate_scene *p, unsigned seed)
{
  loom_real *v = calloc(3 * (size_t)p->n, sizeof *v);
  for (int32_t i = 0; i < 3 * p->n && seed != 0; ++i)
    v[i] = (loom_real)case_random(seed, (unsigned)i);
  loom_buf *const b = t_buf(p->t.m, LOOM_REAL, 3 * p->n, v);
  free(v);
  return b;
}

static double plate_dot(plate_scene *p, loom_buf *a, loom_buf *b)
{
  double d = 0;
  T_OK(p->t.m, la_dot(p->t.m, &p->e, a, b, &d));
  return d;
}

static double plate_energy_at(plate_scene *p, loom_buf *x)
{
  double E[LOOM_NUM_RESULTS], sum = 0;
  int used = 0;
  T_OK(p->t.m, elastic_energy(p->el, x, 2, &used));
  T_OK(p->t.m, exec_fetch(mem_err(p->t.m), &p->e, 2, used, E));
  for (int k = 0; k < used; ++k) sum += E[k];
  return sum;
}

static const char *const scenes[] = {
    "model = stvk+plate\nk0 = 1e-6\nk1 = 0\nk2 = 1e-6\nk3 = 1e-6\nbending = 0.3\nbending_poisson = "
    "0.3\n",
    "model = stvk+plate\nk0 = 1e-6\nk1 = 0\nk2 = 1e-6\nk3 = 1e-6\nbending_warp = 0.6\n"
    "bending_weft = 0.2\nbending_bias = 0.3\npins = box -1 -1 -1 -0.2 1 1\n",
    "model = arap+plate_quadratic\nmembrane = 1e-6\nbending = 0.3\nbending_poisson = -0.2\n"};
enum { NUM_SCENES = sizeof scenes / sizeof *scenes };
/* folds up to 1 and up to 3 rad */
static const double noises[2] = {0.02, 0.12};
static const double step = 1e-6, stencil[4][2] = {{-2, 1}, {-1, -8}, {1, 8}, {2, -1}};

Test(plate_blocks, derivatives_fit_the_energy)
{
  if (sizeof(loom_real) < 8) cr_skip_test("differences need double precision");
  for (int k = 0; k < NUM_SCENES; ++k)
    for (int crumpled = 0; crumpled < 2; ++crumpled) {
      plate_scene p;
      open_plate_scene(&p, scenes[k], noises[crumpled]);
      loom_buf *const g = random_plate_vector(&p, 0), *const y = random_plate_vector(&p, 0);
      loom_buf *const d = random_plate_vector(&p, 7), *const Hd = random_plate_vector(&p, 0);
      loom_buf *const diff = random_plate_vector(&p, 0);
      double slope = 0;
      T_OK(p.t.m, elastic_gradient(p.el, p.x, g));
      T_OK(p.t.m, elastic_apply(p.el, p.x, LOOM_HESS_EXACT, d, Hd));
      for (int s = 0; s < 4; ++s) {
        loom_buf *const at = random_plate_vector(&p, 0);
        T_OK(p.t.m, la_waxpby(p.t.m, &p.e, 1.0, p.x, stencil[s][0] * step, d, y));
        slope += stencil[s][1] * plate_energy_at(&p, y) / (12 * step);
        T_OK(p.t.m, elastic_gradient(p.el, y, at));
        T_OK(p.t.m, la_axpby(p.t.m, &p.e, stencil[s][1] / (12 * step), at, 1.0, diff));
        buf_free(p.t.m, at);
      }
      const double gd = plate_dot(&p, g, d);
      cr_expect(fabs(slope - gd) <= 1e-6 * sqrt(plate_dot(&p, g, g) * plate_dot(&p, d, d)),
                "%d %d: %.12g %.12g", k, crumpled, slope, gd);
      T_OK(p.t.m, la_axpby(p.t.m, &p.e, -1.0, Hd, 1.0, diff));
      const double off = sqrt(plate_dot(&p, diff, diff) / plate_dot(&p, Hd, Hd));
      cr_expect_lt(off, 1e-6, "%d %d: %g", k, crumpled, off);
      buf_free(p.t.m, g), buf_free(p.t.m, y), buf_free(p.t.m, d);
      buf_free(p.t.m, Hd), buf_free(p.t.m, diff);
      close_plate_scene(&p);
    }
}

/* Assembled by factors, by dense parts of a block, and not at all: the same matrix. */
Test(plate_blocks, assembled_and_matrix_free_agree)
{
  for (int k = 0; k < NUM_SCENES; ++k) {
    plate_scene p;
    asm_bsr *A = NULL;
    open_plate_scene(&p, scenes[k], noises[0]);
    loom_buf *const d = random_plate_vector(&p, 3);
    loom_scene loose = p.t.s->pub;
    loose.fixed = t_buf(p.t.m, LOOM_U8, p.n, NULL);
    cr_assert_eq(asm_bsr_new(&p.t.err, p.t.m, &p.e, &loose, &A), LOOM_OK);
    for (int how = LOOM_HESS_EXACT; how <= LOOM_HESS_PSD_ABS; ++how) {
      loom_buf *const Hd = random_plate_vector(&p, 0), *const Ad = random_plate_vector(&p, 0);
      T_OK(p.t.m, asm_bsr_begin(A, NULL));
      T_OK(p.t.m, elastic_hessian(p.el, p.x, how, A));
      T_OK(p.t.m, asm_bsr_finish(A));
      T_OK(p.t.m, la_spmv_bsr3(p.t.m, &p.e, asm_bsr_matrix(A), d, Ad));
      T_OK(p.t.m, elastic_apply(p.el, p.x, how, d, Hd));
      const double size = sqrt(plate_dot(&p, Hd, Hd));
      T_OK(p.t.m, la_axpby(p.t.m, &p.e, -1.0, Hd, 1.0, Ad));
      cr_expect_lt(sqrt(plate_dot(&p, Ad, Ad)), rounding * size, "%d how %d", k, how);
      if (how != LOOM_HESS_EXACT) cr_expect_gt(plate_dot(&p, d, Hd), 0);
      buf_free(p.t.m, Hd), buf_free(p.t.m, Ad);
    }
    asm_bsr_free(A);
    buf_free(p.t.m, d);
    buf_free(p.t.m, loose.fixed);
    close_plate_scene(&p);
  }
}

/* |A d - H d|/|H d| of the assembled and the matrix-free exact Hessian */
static double exact_difference(plate_scene *p)
{
  asm_bsr *A = NULL;
  loom_scene loose = p->t.s->pub;
  loom_buf *const d = random_plate_vector(p, 3), *const Hd = random_plate_vector(p, 0);
  loom_buf *const Ad = random_plate_vector(p, 0);
  loose.fixed = t_buf(p->t.m, LOOM_U8, p->n, NULL);
  cr_assert_eq(asm_bsr_new(&p->t.err, p->t.m, &p->e, &loose, &A), LOOM_OK);
  T_OK(p->t.m, asm_bsr_begin(A, NULL));
  T_OK(p->t.m, elastic_hessian(p->el, p->x, LOOM_HESS_EXACT, A));
  T_OK(p->t.m, asm_bsr_finish(A));
  T_OK(p->t.m, la_spmv_bsr3(p->t.m, &p->e, asm_bsr_matrix(A), d, Ad));
  T_OK(p->t.m, elastic_apply(p->el, p->x, LOOM_HESS_EXACT, d, Hd));
  const double size = sqrt(plate_dot(p, Hd, Hd));
  T_OK(p->t.m, la_axpby(p->t.m, &p->e, -1.0, Hd, 1.0, Ad));
  const double off = sqrt(plate_dot(p, Ad, Ad)) / size;
  asm_bsr_free(A);
  buf_free(p->t.m, d), buf_free(p->t.m, Hd), buf_free(p->t.m, Ad), buf_free(p->t.m, loose.fixed);
  return off;
}

/* Sheets have their exact Hessians from folds that a patch owns, also where cells are held.  Where
 * no patch has a fold as a side, dense ones take their place. */
Test(plate_blocks, folds_have_owners_or_dense_hessians)
{
  for (int k = 0; k < 2; ++k)
    for (int owned = 1; owned >= 0; --owned) {
      plate_scene p;
      int block = 0, yes = -1;
      open_plate_scene(&p, scenes[k], noises[1]);
      while (p.el->blocks[block].type->topology != ELEM_PATCHES) ++block;
      const loom_elem_block *const b = &p.t.s->pub.blocks[block];
      void *map;
      T_OK(p.t.m, buf_map(p.t.m, NULL, b->rest, LOOM_RDWR, LOOM_AT_HOST, &map));
      loom_real *const rest = map;
      for (int64_t i = 0; i < (int64_t)b->num_elems * b->rest_len && !owned; ++i)
        if (i % b->rest_len < 3 * PLATE_FOLDS && i % b->rest_len % PLATE_FOLDS < 3) rest[i] = 0;
      T_OK(p.t.m, buf_unmap(p.t.m, b->rest));
      T_OK(p.t.m, plate_folds_open(p.el, block, &yes));
      cr_expect_eq(yes, owned, "%d", k);
      const double off = exact_difference(&p);
      cr_expect_lt(off, rounding, "%d %d: %g", k, owned, off);
      close_plate_scene(&p);
    }
}

/* The corners of a vertex, which may stand several times in a patch, add up to its gradient and to
 * its diagonal block. */
Test(plate_blocks, corners_add_up_to_the_diagonal)
{
  for (int k = 0; k < NUM_SCENES; ++k)
    for (int how = LOOM_HESS_EXACT; how <= LOOM_HESS_PSD_CLAMP; ++how) {
      plate_scene p;
      asm_bsr *A = NULL;
      open_plate_scene(&p, scenes[k], noises[0]);
      const loom_scene *const sc = &p.t.s->pub;
      loom_buf *const g = random_plate_vector(&p, 0);
      loom_scene loose = *sc;
      loose.fixed = t_buf(p.t.m, LOOM_U8, p.n, NULL);
      cr_assert_eq(asm_bsr_new(&p.t.err, p.t.m, &p.e, &loose, &A), LOOM_OK);
      T_OK(p.t.m, asm_bsr_begin(A, NULL));
      T_OK(p.t.m, elastic_hessian(p.el, p.x, how, A));
      T_OK(p.t.m, asm_bsr_finish(A));
      T_OK(p.t.m, elastic_gradient(p.el, p.x, g));
      double *const sum = calloc(12 * (size_t)p.n, sizeof *sum);
      for (int b = 0; b < sc->num_blocks; ++b) {
        const loom_elem_block *const block = &sc->blocks[b];
        const int64_t num = (int64_t)block->num_elems * block->arity;
        int32_t *const list = calloc(2 * (size_t)num, sizeof *list), *const verts = tiny_copy(
                                                                         &p.t, block->verts);
        for (int64_t q = 0; q < num; ++q)
          list[q] = (int32_t)(q / block->arity), list[num + q] = (int32_t)(q % block->arity);
        loom_elem_rows r = {.struct_size = sizeof r, .block = b, .count = num};
        r.elem = t_buf(p.t.m, LOOM_I32, num, list);
        r.corner = t_buf(p.t.m, LOOM_I32, num, list + num);
        loom_buf *const grad = t_buf(p.t.m, LOOM_REAL, 3 * num, NULL);
        loom_buf *const diag = t_buf(p.t.m, LOOM_REAL, 9 * num, NULL);
        T_OK(p.t.m, elem_listed_run(p.t.m, &p.e, block, &r, p.x, how, grad, diag));
        loom_real *const G = tiny_copy(&p.t, grad), *const D = tiny_copy(&p.t, diag);
        for (int64_t q = 0; q < num; ++q) {
          for (int c = 0; c < 3; ++c) sum[12 * verts[q] + c] += (double)G[3 * q + c];
          for (int c = 0; c < 9; ++c) sum[12 * verts[q] + 3 + c] += (double)D[9 * q + c];
        }
        buf_free(p.t.m, r.elem), buf_free(p.t.m, r.corner), buf_free(p.t.m, grad),
            buf_free(p.t.m, diag);
        free(G), free(D), free(list), free(verts);
      }
      const loom_bsr3 *const M = asm_bsr_matrix(A);
      int64_t *const ptr = tiny_copy(&p.t, M->row_ptr);
      int32_t *const col = tiny_copy(&p.t, M->col);
      loom_real *const val = tiny_copy(&p.t, M->val), *const grad = tiny_copy(&p.t, g);
      double push = 0, most = 0;
      for (int32_t i = 0; i < 3 * p.n; ++i) push = fmax(push, fabs((double)grad[i]));
      for (int64_t q = 0; q < 9 * ptr[p.n]; ++q) most = fmax(most, fabs((double)val[q]));
      for (int32_t i = 0; i < p.n; ++i) {
        for (int c = 0; c < 3; ++c)
          cr_expect_leq(fabs(sum[12 * i + c] - (double)grad[3 * i + c]), 10 * rounding * push);
        for (int64_t q = ptr[i]; q < ptr[i + 1]; ++q)
          for (int c = 0; c < 9 && col[q] == i; ++c)
            cr_expect_leq(fabs(sum[12 * i + 3 + c] - (double)val[9 * q + c]), 10 * rounding * most,
                          "%d how %d vertex %d: %g %g", k, how, i, sum[12 * i + 3 + c],
                          (double)val[9 * q + c]);
      }
      free(ptr), free(col), free(val), free(grad), free(sum);
      asm_bsr_free(A);
      buf_free(p.t.m, g), buf_free(p.t.m, loose.fixed);
      close_plate_scene(&p);
    }
}

typedef struct narrow_matrix {
  asm_bsr *A;
  loom_scene loose; /* without pins */
} narrow_matrix;

static void open_narrow_matrix(plate_scene *p, int how, narrow_matrix *m)
{
  m->loose = p->t.s->pub;
  m->loose.fixed = t_buf(p->t.m, LOOM_U8, p->n, NULL);
  cr_assert_eq(asm_bsr_new(&p->t.err, p->t.m, &p->e, &m->loose, &m->A), LOOM_OK);
  T_OK(p->t.m, asm_bsr_begin(m->A, NULL));
  T_OK(p->t.m, elastic_hessian(p->el, p->x, how, m->A));
}

static void close_narrow_matrix(plate_scene *p, narrow_matrix *m)
{
  asm_bsr_free(m->A);
  buf_free(p->t.m, m->loose.fixed);
}

static int64_t count_live_blocks(plate_scene *p, const narrow_matrix *m)
{
  const loom_bsr3 *const M = asm_bsr_matrix(m->A);
  loom_real *const val = tiny_copy(&p->t, M->val);
  int64_t live = 0;
  for (int64_t k = 0; k < M->num_blocks; ++k) {
    int any = 0;
    for (int c = 0; c < 9; ++c) any |= val[9 * k + c] != 0;
    live += any;
  }
  free(val);
  return live;
}

static double square_by(plate_scene *p, const narrow_matrix *m, loom_buf *d)
{
  loom_buf *const Ad = random_plate_vector(p, 0);
  T_OK(p->t.m, la_spmv_bsr3(p->t.m, &p->e, asm_bsr_matrix(m->A), d, Ad));
  const double sum = plate_dot(p, d, Ad);
  buf_free(p->t.m, Ad);
  return sum;
}

/* Heights of a cylinder, a twist and a dome, then random displacements */
static loom_buf *narrow_direction(plate_scene *p, int kind)
{
  loom_real *const X = tiny_copy(&p->t, p->t.s->x0);
  if (kind > 2) {
    free(X);
    return random_plate_vector(p, 10 + (unsigned)kind);
  }
  for (int32_t i = 0; i < p->n; ++i) {
    const double a = (double)X[3 * i], b = (double)X[3 * i + 1];
    X[3 * i] = X[3 * i + 1] = 0;
    X[3 * i + 2] = (loom_real)(kind == 0 ? a * a : kind == 1 ? a * b : a * a + b * b);
  }
  loom_buf *const d = t_buf(p->t.m, LOOM_REAL, 3 * p->n, X);
  free(X);
  return d;
}

/* The narrow matrix has the blocks of a hinge, no others, and its energies are those of the plate's
 * Hessian within a factor, so that a quasi-Newton step with it is neither too long nor short. */
Test(plate_blocks, narrow_matrix_has_the_blocks_of_hinges)
{
  static const char *const soft =
      "model = stvk+%s\nk0 = 1e-6\nk1 = 0\nk2 = 1e-6\nk3 = 1e-6\n%s = 0.3\n";
  const int narrow = LOOM_HESS_PSD_CLAMP | LOOM_HESS_NARROW;
  char keys[2][256];
  plate_scene plate, hinge;
  narrow_matrix K, N, H;
  snprintf(keys[0], sizeof keys[0], soft, "plate", "bending");
  snprintf(keys[1], sizeof keys[1], soft, "isometric", "k_b");
  open_plate_scene(&plate, keys[0], noises[0]);
  open_plate_scene(&hinge, keys[1], noises[0]);
  open_narrow_matrix(&plate, LOOM_HESS_PSD_CLAMP, &K);
  open_narrow_matrix(&plate, narrow, &N);
  open_narrow_matrix(&hinge, narrow, &H);
  cr_expect_eq(count_live_blocks(&plate, &N), count_live_blocks(&hinge, &H));
  cr_expect_gt(count_live_blocks(&plate, &K), count_live_blocks(&plate, &N));
  close_narrow_matrix(&plate, &K), close_narrow_matrix(&plate, &N), close_narrow_matrix(&hinge, &H);
  close_plate_scene(&plate);
  close_plate_scene(&hinge);
  open_plate_scene(&plate, keys[0], 0);
  open_narrow_matrix(&plate, LOOM_HESS_PSD_CLAMP, &K);
  open_narrow_matrix(&plate, narrow, &N);
  for (int kind = 0; kind < 6; ++kind) {
    loom_buf *const d = narrow_direction(&plate, kind);
    const double ratio = square_by(&plate, &N, d) / square_by(&plate, &K, d);
    cr_expect(ratio > 0.5 && ratio < 2, "direction %d: %g", kind, ratio);
    buf_free(plate.t.m, d);
  }
  close_narrow_matrix(&plate, &K), close_narrow_matrix(&plate, &N);
  close_plate_scene(&plate);
}

/* A sheet that was turned and moved: energy and forces vanish in rounding. */
Test(plate_blocks, rigid_motion_has_no_energy)
{
  for (int k = 0; k < NUM_SCENES; ++k) {
    plate_scene p;
    open_plate_scene(&p, scenes[k], 0);
    loom_real *const x = tiny_copy(&p.t, p.x);
    for (int32_t i = 0; i < p.n; ++i) {
      const double a = (double)x[3 * i], b = (double)x[3 * i + 1], c = (double)x[3 * i + 2];
      x[3 * i] = (loom_real)(0.36 * a + 0.48 * b - 0.8 * c + 0.7);
      x[3 * i + 1] = (loom_real)(-0.8 * a + 0.6 * b - 1.3);
      x[3 * i + 2] = (loom_real)(0.48 * a + 0.64 * b + 0.6 * c + 0.2);
    }
    loom_buf *const y = t_buf(p.t.m, LOOM_REAL, 3 * p.n, x), *const g = random_plate_vector(&p, 0);
    free(x);
    const double D = 0.3, h = 0.1, tiny = sizeof(loom_real) < 8 ? 1e9 : 1;
    cr_expect_lt(plate_energy_at(&p, y), 1e-20 * D * tiny, "%g", plate_energy_at(&p, y));
    T_OK(p.t.m, elastic_gradient(p.el, y, g));
    cr_expect_lt(sqrt(plate_dot(&p, g, g)), 1e-12 * D / h * tiny, "%g", sqrt(plate_dot(&p, g, g)));
    buf_free(p.t.m, y), buf_free(p.t.m, g);
    close_plate_scene(&p);
  }
}
