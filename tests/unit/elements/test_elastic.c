/* elastic.c: the blocks of a scene together, against their elements and each other. */
#include <math.h>

#include "elements/elements.h"
#include "linalg/linalg.h"
#include "support/bufs.h"

enum { MAX_BLOCKS = 8 };
static const double rounding = sizeof(loom_real) < 8 ? 1e-4 : 1e-12;

/* A grid cloth of nx x nx vertices in the xy plane, bent and stretched at x. */
typedef struct fixture {
  mem *m;
  loom_exec e;
  loom_scene sc;
  loom_elem_block blocks[MAX_BLOCKS];
  int32_t n, nx;
  double *X; /* [n][3] rest */
  loom_buf *x;
  elastic *el;
} fixture;

static void *allocate_elastic_array(int64_t n, size_t size)
{
  void *p = calloc((size_t)n + 1, size);
  cr_assert(p != NULL);
  return p;
}

static void add_elastic_block(fixture *f, const char *type, int32_t ne, const int32_t *verts,
                              const double *mat)
{
  const elem_type *t = elem_find(type);
  cr_assert(t != NULL);
  double X[3 * ELEM_MAX_ARITY], r[ELEM_MAX_REST];
  loom_real *rest = allocate_elastic_array((int64_t)ne * t->rest_len, sizeof *rest);
  loom_real *m = allocate_elastic_array((int64_t)ne * t->mat_len, sizeof *m);
  for (int32_t e = 0; e < ne; ++e) {
    for (int v = 0; v < t->arity; ++v)
      memcpy(X + 3 * v, f->X + 3 * verts[t->arity * e + v], 3 * sizeof *X);
    cr_assert(t->init_rest(X, r) == NULL, "%s %d", type, e);
    for (int k = 0; k < t->rest_len; ++k) rest[t->rest_len * e + k] = (loom_real)r[k];
    for (int k = 0; k < t->mat_len; ++k) m[t->mat_len * e + k] = (loom_real)mat[k];
  }
  f->blocks[f->sc.num_blocks++] =
      (loom_elem_block){.struct_size = sizeof(loom_elem_block),
                        .caps = t->caps,
                        .type = t->name,
                        .num_elems = ne,
                        .arity = t->arity,
                        .rest_len = t->rest_len,
                        .mat_len = t->mat_len,
                        .proj_rows = t->proj_rows,
                        .verts = t_buf(f->m, LOOM_I32, (int64_t)ne * t->arity, verts),
                        .rest = t_buf(f->m, LOOM_REAL, (int64_t)ne * t->rest_len, rest),
                        .mat = t_buf(f->m, LOOM_REAL, (int64_t)ne * t->mat_len, m)};
  free(rest);
  free(m);
}

/* Triangles of the cells (v00, v10, v11), (v00, v11, v01). */
static int32_t fill_grid_triangles(const fixture *f, int32_t *t)
{
  int32_t n = 0;
  for (int32_t j = 0; j + 1 < f->nx; ++j)
    for (int32_t i = 0; i + 1 < f->nx; ++i) {
      const int32_t a = i + j * f->nx, b = a + 1, c = b + f->nx, d = a + f->nx;
      const int32_t cell[6] = {a, b, c, a, c, d};
      memcpy(t + 3 * n, cell, sizeof cell);
      n += 2;
    }
  return n;
}

/* Hinges (x0, x1 | x2 of face (x0, x1, x2), x3 of face (x1, x0, x3)) of the same grid. */
static int32_t fill_grid_hinges(const fixture *f, int32_t *h)
{
  int32_t n = 0;
  const int32_t nx = f->nx;
  for (int32_t j = 0; j + 1 < nx; ++j)
    for (int32_t i = 0; i + 1 < nx; ++i) {
      const int32_t a = i + j * nx, b = a + 1, c = b + nx, d = a + nx;
      const int32_t diagonal[4] = {c, a, b, d};
      memcpy(h + 4 * n++, diagonal, sizeof diagonal);
      if (j > 0) { /* edge a b: above (a, b, c), below (b, a, a - nx) */
        const int32_t bottom[4] = {a, b, c, a - nx};
        memcpy(h + 4 * n++, bottom, sizeof bottom);
      }
      if (i > 0) { /* edge a d: right (d, a, c), left (a, d, a - 1) */
        const int32_t left[4] = {d, a, c, a - 1};
        memcpy(h + 4 * n++, left, sizeof left);
      }
    }
  return n;
}

/* projective: ARAP membrane, quadratic bending, two pins, some springs; otherwise StVK
 * membrane, shell hinges, springs, a tetrahedron and an empty block. */
static fixture *open_elastic_grid(int check, int threads, int32_t nx, int projective)
{
  fixture *f = allocate_elastic_array(1, sizeof *f);
  f->m = t_mem(check);
  f->e = t_exec(threads);
  f->nx = nx;
  f->n = nx * nx;
  f->X = allocate_elastic_array(3 * f->n, sizeof *f->X);
  loom_real *x = allocate_elastic_array(3 * f->n, sizeof *x),
            *mass = allocate_elastic_array(f->n, sizeof *mass);
  int32_t *list = allocate_elastic_array(12 * f->n, sizeof *list);
  uint64_t seed = 5;
  for (int32_t i = 0; i < f->n; ++i) {
    const double u = (double)(i % nx) / (nx - 1), v = (double)(i / nx) / (nx - 1);
    f->X[3 * i] = u;
    f->X[3 * i + 1] = v;
    x[3 * i] = (loom_real)(1.1 * u + 0.1 / nx * t_uniform(&seed));
    x[3 * i + 1] = (loom_real)(0.95 * v + 0.1 * u + 0.1 / nx * t_uniform(&seed));
    x[3 * i + 2] = (loom_real)(0.2 * sin(4.0 * u) * v + 0.1 / nx * t_uniform(&seed));
    mass[i] = 1;
  }
  if (!projective) f->X[3 * (f->n - 1) + 2] = 0.5 / nx; /* a curved corner for the tetrahedron */
  const double arap = 3.0, kb = 1e-3, ke = 1e-2, stvk[4] = {3.0, 0.5, 2.0, 1.0}, spring = 0.7;
  const double pin[4] = {20.0, 0.1, 0.2, -0.1}, tet = 5.0;
  const int32_t pins[2] = {0, nx - 1};
  const int32_t springs[6] = {0, f->n - 1, nx - 1, f->n - nx, 1, nx};
  const int32_t tets[4] = {f->n - 1, f->n - 2, f->n - nx - 1, f->n - nx - 2};
  add_elastic_block(f, projective ? "tri_arap" : "tri_stvk", fill_grid_triangles(f, list), list,
                    projective ? &arap : stvk);
  add_elastic_block(f, projective ? "hinge_isometric" : "hinge_shell", fill_grid_hinges(f, list),
                    list, projective ? &kb : &ke);
  add_elastic_block(f, "spring", 3, springs, &spring);
  if (projective) {
    add_elastic_block(f, "pin", 2, pins, pin);
  } else {
    add_elastic_block(f, "tet_arap", 1, tets, &tet);
    add_elastic_block(f, "pin", 0, pins, pin);
  }
  loom_real *rest = allocate_elastic_array(3 * f->n, sizeof *rest);
  for (int32_t i = 0; i < 3 * f->n; ++i) rest[i] = (loom_real)f->X[i];
  f->sc.struct_size = sizeof f->sc;
  f->sc.num_verts = f->n;
  f->sc.blocks = f->blocks;
  f->sc.rest_x = t_buf(f->m, LOOM_REAL, 3 * f->n, rest);
  f->sc.mass = t_buf(f->m, LOOM_REAL, f->n, mass);
  f->sc.fixed = t_buf(f->m, LOOM_U8, f->n, NULL);
  f->x = t_buf(f->m, LOOM_REAL, 3 * f->n, x);
  free(x);
  free(mass);
  free(list);
  free(rest);
  loom_err err = {0};
  cr_assert_eq(elastic_new(&err, f->m, &f->e, &f->sc, &f->el), LOOM_OK, "%s", err.text);
  return f;
}

static void close_elastic_grid(fixture *f)
{
  cr_assert(mem_mapped(f->m) == NULL);
  elastic_free(f->el);
  cr_assert_eq(mem_leaks(f->m, "core", NULL, 0), 0, "elastic left buffers behind");
  mem_free(f->m);
  exec_close(&f->e);
  free(f->X);
  free(f);
}

static double sum_elastic_energy(fixture *f, loom_buf *x)
{
  double E[LOOM_NUM_RESULTS], sum = 0.0;
  int used = 0;
  T_OK(f->m, elastic_energy(f->el, x, 2, &used));
  cr_assert_eq(used, f->sc.num_blocks);
  T_OK(f->m, exec_fetch(mem_err(f->m), &f->e, 2, used, E));
  for (int k = 0; k < used; ++k) sum += E[k];
  return sum;
}

static loom_buf *create_random_vector(fixture *f, uint64_t seed)
{
  loom_real *v = allocate_elastic_array(3 * f->n, sizeof *v);
  for (int32_t i = 0; i < 3 * f->n && seed != 0; ++i) v[i] = (loom_real)t_uniform(&seed);
  loom_buf *b = t_buf(f->m, LOOM_REAL, 3 * f->n, v);
  free(v);
  return b;
}

static double dot_of_buffers(fixture *f, loom_buf *a, loom_buf *b)
{
  double d = 0.0;
  T_OK(f->m, la_dot(f->m, &f->e, a, b, &d));
  return d;
}

/* |a - b| relative to |b| */
static double relative_buffer_distance(fixture *f, loom_buf *a, loom_buf *b)
{
  loom_buf *d = create_random_vector(f, 0);
  T_OK(f->m, la_waxpby(f->m, &f->e, 1.0, a, -1.0, b, d));
  const double r = sqrt(dot_of_buffers(f, d, d) / dot_of_buffers(f, b, b));
  buf_free(f->m, d);
  return r;
}

/* 8 (f(h) - f(-h)) - (f(2h) - f(-2h)) over 12 h: truncation (h/size)^4 */
static const double step = 1e-5, stencil[4][2] = {{-2, 1}, {-1, -8}, {1, 8}, {2, -1}};

Test(elastic, gradient_is_the_derivative_of_the_energy)
{
  if (sizeof(loom_real) < 8) cr_skip_test("differences need double precision");
  for (int projective = 0; projective < 2; ++projective) {
    fixture *f = open_elastic_grid(0, 1, 7, projective);
    loom_buf *g = create_random_vector(f, 0), *y = create_random_vector(f, 0);
    T_OK(f->m, elastic_gradient(f->el, f->x, g));
    for (uint64_t seed = 1; seed < 5; ++seed) {
      double d = 0.0;
      loom_buf *p = create_random_vector(f, seed);
      for (int k = 0; k < 4; ++k) {
        T_OK(f->m, la_waxpby(f->m, &f->e, 1.0, f->x, stencil[k][0] * step, p, y));
        d += stencil[k][1] * sum_elastic_energy(f, y) / (12.0 * step);
      }
      const double gp = dot_of_buffers(f, g, p);
      cr_expect(fabs(d - gp) <= 1e-8 * sqrt(dot_of_buffers(f, g, g) * dot_of_buffers(f, p, p)),
                "%.12g, %.12g", d, gp);
      buf_free(f->m, p);
    }
    close_elastic_grid(f);
  }
}

/* One pass for both gives the results of two passes, for every block. */
Test(elastic, gradient_and_energy_in_one_pass)
{
  for (int projective = 0; projective < 2; ++projective) {
    fixture *f = open_elastic_grid(0, 2, 9, projective);
    loom_buf *g = create_random_vector(f, 0), *h = create_random_vector(f, 0);
    double one[LOOM_NUM_RESULTS], two[LOOM_NUM_RESULTS];
    int used = 0;
    T_OK(f->m, elastic_gradient(f->el, f->x, g));
    T_OK(f->m, elastic_gradient_energy(f->el, f->x, h, 3, &used));
    T_OK(f->m, exec_fetch(mem_err(f->m), &f->e, 3, used, one));
    T_OK(f->m, elastic_energy(f->el, f->x, 3, &used));
    T_OK(f->m, exec_fetch(mem_err(f->m), &f->e, 3, used, two));
    cr_assert_eq(used, f->sc.num_blocks);
    int loaded = 0;
    for (int k = 0; k < used; ++k) {
      loaded += two[k] != 0.0;
      cr_expect(fabs(one[k] - two[k]) <= rounding * fabs(two[k]), "%d: %.17g, %.17g", k, one[k],
                two[k]);
    }
    cr_expect_gt(loaded, 0);
    cr_expect_eq(relative_buffer_distance(f, h, g),
                 0.0); /* the same operations, so the same bits */
    close_elastic_grid(f);
  }
}

/* Results are added to the contents of the buffers. */
Test(elastic, gradient_accumulates)
{
  fixture *f = open_elastic_grid(0, 1, 5, 1);
  loom_buf *g = create_random_vector(f, 0), *h = create_random_vector(f, 9),
           *start = create_random_vector(f, 9);
  T_OK(f->m, elastic_gradient(f->el, f->x, g));
  T_OK(f->m, elastic_gradient(f->el, f->x, h));
  T_OK(f->m, la_axpby(f->m, &f->e, -1.0, start, 1.0, h));
  cr_expect(relative_buffer_distance(f, h, g) <= rounding);
  close_elastic_grid(f);
}

Test(elastic, apply_is_the_derivative_of_the_gradient)
{
  if (sizeof(loom_real) < 8) cr_skip_test("differences need double precision");
  for (int projective = 0; projective < 2; ++projective) {
    fixture *f = open_elastic_grid(0, 1, 7, projective);
    loom_buf *p = create_random_vector(f, 3), *Hp = create_random_vector(f, 0),
             *d = create_random_vector(f, 0), *y = create_random_vector(f, 0);
    T_OK(f->m, elastic_apply(f->el, f->x, LOOM_HESS_EXACT, p, Hp));
    for (int k = 0; k < 4; ++k) {
      loom_buf *g = create_random_vector(f, 0);
      T_OK(f->m, la_waxpby(f->m, &f->e, 1.0, f->x, stencil[k][0] * step, p, y));
      T_OK(f->m, elastic_gradient(f->el, y, g));
      T_OK(f->m, la_axpby(f->m, &f->e, stencil[k][1] / (12.0 * step), g, 1.0, d));
      buf_free(f->m, g);
    }
    cr_expect(relative_buffer_distance(f, d, Hp) <= 1e-8, "%g", relative_buffer_distance(f, d, Hp));
    close_elastic_grid(f);
  }
}

/* More elements than one chunk of the matrix-free product. */
Test(elastic, assembled_and_matrix_free_agree)
{
  loom_err err = {0};
  for (int projective = 0; projective < 2; ++projective) {
    fixture *f = open_elastic_grid(0, 2, 48, projective);
    asm_bsr *A = NULL;
    loom_buf *p = create_random_vector(f, 3);
    cr_assert(f->blocks[0].num_elems > 4096);
    cr_assert_eq(asm_bsr_new(&err, f->m, &f->e, &f->sc, &A), LOOM_OK, "%s", err.text);
    for (int how = LOOM_HESS_EXACT; how <= LOOM_HESS_PSD_ABS; ++how) {
      loom_buf *Hp = create_random_vector(f, 0), *Ap = create_random_vector(f, 0);
      T_OK(f->m, asm_bsr_begin(A, NULL));
      T_OK(f->m, elastic_hessian(f->el, f->x, how, A));
      T_OK(f->m, asm_bsr_finish(A));
      T_OK(f->m, la_spmv_bsr3(f->m, &f->e, asm_bsr_matrix(A), p, Ap));
      T_OK(f->m, elastic_apply(f->el, f->x, how, p, Hp));
      cr_expect(relative_buffer_distance(f, Hp, Ap) <= rounding, "how %d: %g", how,
                relative_buffer_distance(f, Hp, Ap));
      if (how != LOOM_HESS_EXACT) cr_expect(dot_of_buffers(f, p, Hp) > 0.0);
      buf_free(f->m, Hp);
      buf_free(f->m, Ap);
    }
    asm_bsr_free(A);
    close_elastic_grid(f);
  }
}

/* L x - rhs = gradient at the same x, for check-mode buffers as well. */
Test(elastic, projective_identity)
{
  loom_err err = {0};
  for (int check = 0; check < 2; ++check) {
    fixture *f = open_elastic_grid(check, 1, 9, 1);
    asm_csr *L = NULL;
    loom_buf *g = create_random_vector(f, 0), *r = create_random_vector(f, 0),
             *Lx = create_random_vector(f, 0);
    cr_assert(elastic_caps(f->el) & LOOM_ELEM_PROJECT);
    cr_assert_eq(asm_csr_new(&err, f->m, &f->e, &f->sc, &L), LOOM_OK, "%s", err.text);
    T_OK(f->m, asm_csr_begin(L));
    T_OK(f->m, elastic_pd_operator(f->el, L));
    T_OK(f->m, asm_csr_finish(L));
    T_OK(f->m, la_spmv_csr3(f->m, &f->e, asm_csr_matrix(L), f->x, Lx));
    T_OK(f->m, elastic_pd_rhs(f->el, f->x, r));
    T_OK(f->m, elastic_gradient(f->el, f->x, g));
    T_OK(f->m, la_axpby(f->m, &f->e, -1.0, r, 1.0, Lx));
    cr_expect(relative_buffer_distance(f, Lx, g) <= rounding, "%g",
              relative_buffer_distance(f, Lx, g));
    asm_csr_free(L);
    close_elastic_grid(f);
  }
}

/* Check-mode buffers move and are poisoned at every map: results must not notice. */
Test(elastic, same_bits_for_threads_and_buffer_modes)
{
  loom_real *first[2] = {NULL, NULL};
  double E = 0.0;
  for (int run = 0; run < 6; ++run) {
    fixture *f = open_elastic_grid(run == 5, run == 5 ? 2 : run + 1, 40, 0);
    loom_buf *g = create_random_vector(f, 0), *Hp = create_random_vector(f, 0),
             *p = create_random_vector(f, 3);
    T_OK(f->m, elastic_gradient(f->el, f->x, g));
    T_OK(f->m, elastic_apply(f->el, f->x, LOOM_HESS_PSD_CLAMP, p, Hp));
    loom_real *now[2] = {t_read(f->m, g), t_read(f->m, Hp)};
    if (run == 0) E = sum_elastic_energy(f, f->x);
    cr_assert(sum_elastic_energy(f, f->x) == E);
    for (int k = 0; k < 2; ++k) {
      if (run == 0)
        first[k] = now[k];
      else
        cr_assert(memcmp(first[k], now[k], (size_t)(3 * f->n) * sizeof **now) == 0, "run %d", run);
      if (run > 0) free(now[k]);
    }
    close_elastic_grid(f);
  }
  free(first[0]);
  free(first[1]);
}

/* Element Hessians in parts equal the whole block's. */
Test(elastic, hessians_of_some_elements)
{
  fixture *f = open_elastic_grid(0, 1, 5, 0);
  const int32_t n = f->sc.blocks[0].num_elems;
  const int64_t each = 9 * (int64_t)f->sc.blocks[0].arity * f->sc.blocks[0].arity;
  loom_buf *whole = t_buf(f->m, LOOM_REAL, each * n, NULL);
  loom_buf *part = t_buf(f->m, LOOM_REAL, each * 7, NULL);
  T_OK(f->m, elastic_elem_hessians(f->el, 0, 0, n, f->x, LOOM_HESS_PSD_CLAMP, whole));
  loom_real *const all = t_read(f->m, whole);
  for (int32_t first = 0; first + 7 <= n; first += 7) {
    T_OK(f->m, elastic_elem_hessians(f->el, 0, first, 7, f->x, LOOM_HESS_PSD_CLAMP, part));
    loom_real *const some = t_read(f->m, part);
    cr_assert_eq(memcmp(some, all + each * first, (size_t)(each * 7) * sizeof *some), 0);
    free(some);
  }
  cr_assert_eq(elastic_elem_hessians(f->el, 0, n - 6, 7, f->x, 0, part), LOOM_E_ARG);
  free(all);
  buf_free(f->m, whole);
  buf_free(f->m, part);
  close_elastic_grid(f);
}

/* ---- errors ---- */
Test(elastic, refusals_name_the_cause)
{
  loom_err err = {0};
  asm_csr *L = NULL;
  elastic *el = NULL;
  int used = 0;
  fixture *f = open_elastic_grid(0, 1, 5, 0);
  const char *text = mem_err(f->m)->text;
  loom_buf *small = t_buf(f->m, LOOM_REAL, 3, NULL), *g = create_random_vector(f, 0);
  cr_assert((elastic_caps(f->el) & LOOM_ELEM_PROJECT) == 0);
  cr_assert_eq(elastic_pd_rhs(f->el, f->x, g), LOOM_E_UNSUPPORTED);
  cr_assert(strstr(text, "tri_stvk") != NULL && strstr(text, "loom list elements") != NULL);
  cr_assert_eq(asm_csr_new(&err, f->m, &f->e, &f->sc, &L), LOOM_OK);
  cr_assert_eq(elastic_pd_operator(f->el, L), LOOM_E_UNSUPPORTED);
  asm_csr_free(L);
  cr_assert_eq(elastic_gradient(f->el, small, g), LOOM_E_ARG);
  cr_assert_eq(elastic_gradient(f->el, f->x, small), LOOM_E_ARG);
  cr_assert_eq(elastic_apply(f->el, f->x, 3, g, g), LOOM_E_ARG);
  cr_assert(strstr(text, "LOOM_HESS_EXACT") != NULL);
  cr_assert_eq(elastic_elem_hessians(f->el, 9, 0, 1, f->x, 0, g), LOOM_E_ARG);
  cr_assert_eq(elastic_elem_hessians(f->el, 0, 0, 1, f->x, 0, small), LOOM_E_ARG);
  cr_assert_eq(elastic_energy(f->el, f->x, 60, &used), LOOM_E_ARG);
  cr_assert_eq(used, 0);
  /* scenes that do not fit the types */
  f->blocks[0].rest_len -= 1;
  cr_assert_eq(elastic_new(&err, f->m, &f->e, &f->sc, &el), LOOM_E_ARG);
  f->blocks[0].rest_len += 1;
  f->blocks[0].num_elems -= 1;
  cr_assert_eq(elastic_new(&err, f->m, &f->e, &f->sc, &el), LOOM_E_ARG);
  f->blocks[0].num_elems = INT32_MAX / 4;
  cr_assert_eq(elastic_new(&err, f->m, &f->e, &f->sc, &el), LOOM_E_ARG);
  cr_assert(strstr(err.text, "at most") != NULL);
  f->blocks[0].type = "tri_arpa";
  cr_assert_eq(elastic_new(&err, f->m, &f->e, &f->sc, &el), LOOM_E_UNSUPPORTED);
  cr_assert(strstr(err.text, "'tri_arpa'") != NULL && strstr(err.text, "\n  tri_arap") != NULL);
  cr_assert(el == NULL);
  close_elastic_grid(f);
}

/* Whichever allocation fails: an error, no buffer mapped, no memory left behind. */
Test(elastic, every_allocation_may_fail)
{
  loom_err err = {0};
  fixture *f = open_elastic_grid(0, 1, 4, 1);
  loom_buf *g = create_random_vector(f, 0);
  T_OK(f->m, elastic_gradient(f->el, f->x, g)); /* storage of the scene's own buffers */
  int64_t k = 1;
  for (;; ++k) {
    elastic *el = NULL;
    mem_fail_after(f->m, k);
    loom_status s = elastic_new(&err, f->m, &f->e, &f->sc, &el);
    if (s == LOOM_OK) s = elastic_gradient(el, f->x, g);
    if (s == LOOM_OK) s = elastic_apply(el, f->x, LOOM_HESS_EXACT, f->x, g);
    mem_fail_after(f->m, 0);
    elastic_free(el);
    cr_assert(mem_mapped(f->m) == NULL);
    if (s == LOOM_OK) break;
    cr_assert_eq(s, LOOM_E_NOMEM);
  }
  cr_assert(k > 10, "only %d allocations", (int)k);
  close_elastic_grid(f);
}
