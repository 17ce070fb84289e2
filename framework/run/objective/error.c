/* error.c - see error.h. */
#include "run/objective/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/factor_module.h"
#include "run/base/blas.h"
#include "run/objective/term.h"
#include "run/run_state.h"

/* Of conjugate gradients, relative, in the norm of the preconditioner; the energy, which is of
 * second order in it, is better by far.  With a factor of nearly the same matrix few products do;
 * where they do not, a factor of the matrix itself is the cheaper one. */
static const double with_factor = 0.1, without_factor = 1e-7;
enum { FEW = 12 };

error_value error_unmeasured(void)
{
  return (error_value){.energy = NAN, .step = NAN, .indefinite = -1};
}

/* ---- opening ---- */

/* Elements and contact models have the Hessians that the matrix needs. */
static loom_status check_error_forms(const run *r)
{
  const int newton = r->set.log.error == ERROR_NEWTON;
  const uint32_t caps = elastic_caps(r->elements.el);
  char place[1200];
  cfg_place(cfg_find(r->c, "log"), "error", place, sizeof place);
  if ((caps & (newton ? LOOM_ELEM_HESSIAN : LOOM_ELEM_PROJECT)) == 0)
    return err_set(r->err, LOOM_E_CONFIG, "%s: some elements of this scene have no %s; set %s",
                   place, newton ? "Hessian" : "projective form",
                   newton ? "it to off" : "error = newton");
  for (int i = 0; i < r->num_contact; ++i) {
    const contact_inst *const c = &r->contact[i];
    const uint32_t forces = LOOM_CONT_ENERGY | LOOM_CONT_GRADIENT | LOOM_CONT_HESSIAN;
    if ((c->provides & forces) == 0 || (c->provides & LOOM_CONT_HESSIAN)) continue;
    return err_set(r->err, LOOM_E_CONFIG,
                   "%s: [%s] plugin '%s' gives forces without a Hessian; set error = off", place,
                   c->in.name, c->in.plugin->name);
  }
  return LOOM_OK;
}

static loom_status make_error_pattern(run *r)
{
  r->problem.bare = r->scene->pub;
  r->problem.bare.num_blocks = 0;
  const int newton = r->set.log.error == ERROR_NEWTON;
  return asm_bsr_new(r->err, r->m, &r->exec, newton ? &r->scene->pub : &r->problem.bare,
                     &r->error.bsr);
}

loom_status error_open(run *r)
{
  run_error *const e = &r->error;
  const int by = r->set.log.error_by;
  char text[300];
  if (r->set.log.error == ERROR_OFF) return LOOM_OK;
  LOOM_TRY(check_error_forms(r));
  if (by != ERROR_BY_CG) LOOM_TRY(factor_module_open(r->err, &e->module));
  LOOM_TRY(blas_reserve(r->err, &r->set.exec, e->module, &r->blas_taken));
  if (by == ERROR_BY_FACTOR && e->module == NULL)
    return err_set(
        r->err, LOOM_E_CONFIG,
        "[log] error_by = factor: there is no module factors/cholmod.so; install "
        "SuiteSparse (Debian: libsuitesparse-dev) and build again, or set error_by = cg");
  snprintf(text, sizeof text, "[log] error: r_energy is measured by %s%s%s",
           e->module != NULL ? "factors of the module " : "conjugate gradients",
           e->module != NULL ? e->module->name : "",
           by == ERROR_BY_AUTO && e->module == NULL ? ", as no module that factorises was found"
                                                    : "");
  run_message(r, LOOM_LOG_INFO, text);
  const size_t n3 = 3 * (size_t)r->scene->pub.num_verts;
  e->r = malloc(n3 * sizeof *e->r);
  e->d = malloc(n3 * sizeof *e->d);
  e->work = malloc(SYM3_WORK * n3 / 3 * sizeof *e->work);
  if (e->r == NULL || e->d == NULL || e->work == NULL)
    return err_set(r->err, LOOM_E_NOMEM, "out of memory");
  return make_error_pattern(r);
}

loom_status error_forget(run *r)
{
  run_error *const e = &r->error;
  if (e->bsr == NULL) return LOOM_OK;
  asm_bsr_free(e->bsr);
  e->bsr = NULL;
  e->op_h = 0.0;
  e->bare.ready = e->whole.ready = 0;
  return make_error_pattern(r);
}

static void free_factor(const run_error *e, error_factor *f)
{
  if (e->module != NULL && f->self != NULL) e->module->close(f->self);
  sym3_free(&f->A);
}

void error_close(run *r)
{
  run_error *const e = &r->error;
  free_factor(e, &e->whole);
  free_factor(e, &e->bare);
  asm_bsr_free(e->bsr);
  sym3_free(&e->now);
  sym3_free(&e->op);
  free(e->r);
  free(e->d);
  free(e->work);
  *e = (run_error){0};
}

void error_begin_step(run *r) { r->error.whole.ready = 0; }

/* ---- factors ---- */

static loom_status fail_error_module(const run *r, loom_status s, const char *why)
{
  return err_set(r->err, s, "[log] error, module %s: %s", r->error.module->name, why);
}

/* f := the factor of `f->A`; known: its pattern was analysed before.  LOOM_REJECTED: not positive
 * definite. */
static loom_status factorise_error_matrix(run *r, error_factor *f, int known, error_value *v)
{
  const loom_factor *const m = r->error.module;
  const loom_factor_matrix A = sym3_view(&f->A);
  char why[LOOM_FACTOR_WHY] = "";
  loom_status s = LOOM_OK;
  f->ready = 0;
  if (f->self == NULL) {
    s = m->open(&f->self, why);
    known = 0;
  }
  if (s == LOOM_OK && !known) s = m->analyse(f->self, &A, why);
  if (s == LOOM_OK) s = m->factorise(f->self, &A, why);
  ++v->factors;
  if (s == LOOM_REJECTED) return s;
  if (s != LOOM_OK) return fail_error_module(r, s, why);
  f->ready = 1;
  return LOOM_OK;
}

/* Exchanges f->A with the new matrix, and tells whether the pattern is the same. */
static int take_matrix(error_factor *f, sym3 *made)
{
  const int known = f->self != NULL && sym3_same_pattern(&f->A, made);
  const sym3 before = f->A;
  f->A = *made;
  *made = before;
  return known;
}

static loom_status solve_error_factor(run *r, const error_factor *f, double *x, error_value *v)
{
  char why[LOOM_FACTOR_WHY] = "";
  const loom_status s = r->error.module->solve(f->self, x, why);
  ++v->solves;
  return s == LOOM_OK ? LOOM_OK : fail_error_module(r, s, why);
}

/* ---- matrices ---- */

/* e->now := the block matrix of the terms `which` at st.x. */
static loom_status take_hessian(run *r, uint32_t which, int how)
{
  run_error *const e = &r->error;
  const loom_bsr3 *H = NULL;
  loom_problem p = *r->st.problem;
  p.terms &= which;
  LOOM_TRY(problem_hessian_into(r, &p, r->st.x, how, e->bsr, &H));
  buf_maps q = {.m = r->m}; /* on the host */
  const int64_t *const ptr = buf_maps_add(&q, H->row_ptr, LOOM_READ);
  const int32_t *const col = buf_maps_add(&q, H->col, LOOM_READ);
  const loom_real *const val = buf_maps_add(&q, H->val, LOOM_READ);
  loom_status s = q.status;
  if (s == LOOM_OK) s = sym3_take(r->err, &e->now, H->num_rows, 3, ptr, col, val);
  const loom_status done = buf_maps_end(&q);
  return s != LOOM_OK ? s : done;
}

/* e->op := P without contact, which depends on h alone; its factor. */
static loom_status take_operator(run *r, error_value *v)
{
  run_error *const e = &r->error;
  const loom_csr *L = NULL;
  if (e->op_h == r->st.problem->h) return LOOM_OK;
  LOOM_TRY(problem_pd_operator(r, r->st.problem, &L));
  buf_maps q = {.m = r->m}; /* on the host */
  const int64_t *const ptr = buf_maps_add(&q, L->row_ptr, LOOM_READ);
  const int32_t *const col = buf_maps_add(&q, L->col, LOOM_READ);
  const loom_real *const val = buf_maps_add(&q, L->val, LOOM_READ);
  loom_status s = q.status;
  if (s == LOOM_OK) s = sym3_take(r->err, &e->op, L->num_rows, 1, ptr, col, val);
  if (s == LOOM_OK && e->module != NULL)
    s = sym3_take(r->err, &e->bare.A, L->num_rows, 1, ptr, col, val);
  const loom_status done = buf_maps_end(&q);
  LOOM_TRY(s);
  LOOM_TRY(done);
  e->op_h = r->st.problem->h;
  return e->module != NULL ? factorise_error_matrix(r, &e->bare, 0, v) : LOOM_OK;
}

/* ---- newton ---- */

/* e->d := the solution for e->r.  LOOM_REJECTED: the matrix e->now is not positive definite. */
static loom_status newton_direction(run *r, error_value *v, double *energy)
{
  run_error *const e = &r->error;
  const size_t n3 = 3 * (size_t)r->scene->pub.num_verts;
  if (e->module == NULL) {
    sym3_solution sol;
    const sym3_system system = {.A = &e->now};
    LOOM_TRY(sym3_solve(&system, e->r, e->d, e->work, without_factor, (int64_t)n3, &sol));
    v->solves += sol.iters;
    *energy = sol.converged ? sol.energy : NAN;
    return sol.indefinite ? LOOM_REJECTED : LOOM_OK;
  }
  const int known = take_matrix(&e->whole, &e->now);
  LOOM_TRY(factorise_error_matrix(r, &e->whole, known, v));
  memcpy(e->d, e->r, n3 * sizeof *e->d);
  LOOM_TRY(solve_error_factor(r, &e->whole, e->d, v));
  *energy = 0.0;
  for (size_t i = 0; i < n3; ++i) *energy += e->r[i] * e->d[i];
  return LOOM_OK;
}

static loom_status direction_length(const run *r, double *out)
{
  buf_maps q = {.m = r->m};
  const loom_real *const m = buf_maps_add(&q, r->scene->pub.mass, LOOM_READ);
  const int32_t n = q.status == LOOM_OK ? r->scene->pub.num_verts : 0;
  double sum = 0.0;
  for (int32_t i = 0; i < n; ++i) {
    const double *const d = r->error.d + 3 * (size_t)i;
    sum += (double)m[i] * (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
  }
  *out = r->measured.total_mass > 0.0 ? sqrt(sum / r->measured.total_mass) : 0.0;
  return buf_maps_end(&q);
}

static loom_status measure_newton(run *r, error_value *v)
{
  double energy = NAN;
  v->indefinite = 0;
  LOOM_TRY(take_hessian(r, LOOM_TERM_ALL, LOOM_HESS_EXACT));
  loom_status s = newton_direction(r, v, &energy);
  if (s == LOOM_REJECTED) {
    v->indefinite = 1;
    LOOM_TRY(take_hessian(r, LOOM_TERM_ALL, LOOM_HESS_PSD_CLAMP));
    s = newton_direction(r, v, &energy);
    if (s == LOOM_REJECTED) return LOOM_OK; /* NaN: not even that is definite, for rounding */
  }
  LOOM_TRY(s);
  v->energy = sqrt(energy);
  return direction_length(r, &v->step);
}

/* ---- projective ---- */

typedef struct preconditioner {
  run *r;
  const error_factor *f;
  error_value *v;
} preconditioner;

static loom_status apply_factor(void *user, const double *in, double *out)
{
  const preconditioner *const p = user;
  memcpy(out, in, 3 * (size_t)p->r->scene->pub.num_verts * sizeof *out);
  return solve_error_factor(p->r, p->f, out, p->v);
}

static loom_status preconditioner_norm2(void *user, const double *r, double *out)
{
  const preconditioner *const p = user;
  char why[LOOM_FACTOR_WHY] = "";
  const loom_status s = p->r->error.module->norm2(p->f->self, r, out, why);
  ++p->v->solves;
  return s == LOOM_OK ? LOOM_OK : fail_error_module(p->r, s, why);
}

/* r' (P + C)^-1 r by conjugate gradients, C as contact gives it; a factor of nearly that matrix may
 * help. */
static loom_status solve_error_cg(run *r, const loom_blocks3 *C, const error_factor *f,
                                  error_value *v, int64_t max_iters, sym3_solution *sol)
{
  run_error *const e = &r->error;
  preconditioner p = {.r = r, .f = f, .v = v};
  buf_maps q = {.m = r->m}; /* on the host */
  const sym3_blocks B = {.count = C->count,
                         .row = buf_maps_add(&q, C->row, LOOM_READ),
                         .col = buf_maps_add(&q, C->col, LOOM_READ),
                         .val = buf_maps_add(&q, C->val, LOOM_READ),
                         .fixed = buf_maps_add(&q, r->scene->pub.fixed, LOOM_READ)};
  const sym3_system system = {.A = &e->op,
                              .B = C->count > 0 ? &B : NULL,
                              .precondition = f != NULL ? apply_factor : NULL,
                              .norm2 = f != NULL ? preconditioner_norm2 : NULL,
                              .by_A = f == &e->bare,
                              .user = &p};
  loom_status s = q.status;
  if (s == LOOM_OK)
    s = sym3_solve(&system, e->r, e->d, e->work, f != NULL ? with_factor : without_factor,
                   max_iters, sol);
  const loom_status done = buf_maps_end(&q);
  if (f == NULL) v->solves += sol->iters;
  return s != LOOM_OK ? s : done;
}

/* e->whole := the factor of P + C.  LOOM_REJECTED: not definite, for rounding. */
static loom_status factorise_whole(run *r, error_value *v)
{
  run_error *const e = &r->error;
  sym3 sum = {0};
  LOOM_TRY(take_hessian(r, LOOM_TERM_CONTACT, LOOM_HESS_PSD_CLAMP));
  sym3_simplify(&e->now); /* a third of the work where contact pulls alike in all directions */
  LOOM_TRY(sym3_sum(r->err, &e->op, &e->now, &sum));
  const int known = take_matrix(&e->whole, &sum);
  sym3_free(&sum);
  return factorise_error_matrix(r, &e->whole, known, v);
}

/* The operator's factor is kept for the run, that with contact for the step: as long as contact has
 * changed little, a few products with the matrix and one of the two give the solution. */
static loom_status measure_projective(run *r, error_value *v)
{
  run_error *const e = &r->error;
  const size_t n3 = 3 * (size_t)r->scene->pub.num_verts;
  const loom_blocks3 *C = NULL;
  const error_factor *f = &e->bare;
  sym3_solution sol = {0};
  LOOM_TRY(take_operator(r, v));
  LOOM_TRY(contact_blocks(r, r->st.problem, r->st.x, LOOM_HESS_PSD_CLAMP, &C));
  if (e->module == NULL) {
    LOOM_TRY(solve_error_cg(r, C, NULL, v, (int64_t)n3, &sol));
    v->energy = sol.converged ? sqrt(sol.energy) : NAN;
    return LOOM_OK;
  }
  if (C->count > 0) {
    LOOM_TRY(solve_error_cg(r, C, e->whole.ready ? &e->whole : &e->bare, v, FEW, &sol));
    v->energy = sqrt(sol.energy);
    if (sol.converged) return LOOM_OK;
    v->energy = NAN;
    const loom_status s = factorise_whole(r, v);
    if (s == LOOM_REJECTED) return LOOM_OK;
    LOOM_TRY(s);
    f = &e->whole;
  }
  double energy;
  preconditioner exact = {.r = r, .f = f, .v = v};
  LOOM_TRY(preconditioner_norm2(&exact, e->r, &energy));
  v->energy = sqrt(energy);
  return LOOM_OK;
}

/* ---- both ---- */

static loom_status take_gradient(run *r)
{
  void *g;
  const size_t n3 = 3 * (size_t)r->scene->pub.num_verts;
  LOOM_TRY(buf_map(r->m, NULL, r->st.grad, LOOM_READ, LOOM_AT_HOST, &g));
  for (size_t i = 0; i < n3; ++i) r->error.r[i] = (double)((const loom_real *)g)[i];
  return buf_unmap(r->m, r->st.grad);
}

loom_status error_measure(run *r, error_value *out)
{
  const kernel_work kernels = r->work.kernels;
  const int was = r->work.measuring;
  *out = error_unmeasured();
  if (isnan(r->measured.next.rms)) return LOOM_OK; /* contact has no value here */
  clock_hold(&r->clock, CLOCK_MEASURE);
  r->work.measuring = 1;
  loom_status s = take_gradient(r);
  if (s == LOOM_OK)
    s = r->set.log.error == ERROR_NEWTON ? measure_newton(r, out) : measure_projective(r, out);
  r->work.measuring = was;
  r->work.kernels = kernels;
  clock_pop(&r->clock);
  LOOM_TRY(s);
  if (!isnan(out->energy) || r->error.failed++ > 0) return LOOM_OK;
  run_message(r, LOOM_LOG_WARN,
              "[log] error: at some iterates r_energy could not be measured and is NaN: the "
              "matrix is not definite but for rounding, or conjugate gradients did not settle");
  return LOOM_OK;
}
