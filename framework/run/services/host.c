/* host.c - the services of host.h, each a thin call into the core.
 *
 * host->core points to the plugin's instance, so messages, buffers, inner iterations and
 * saved state carry its name. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "run/plugins/vet.h"
#include "run/run_state.h"
#include "run/services/host.h"
#include "run/services/host_bodies.h"
#include "run/services/host_check.h"
#include "run/services/host_elements.h"
#include "run/services/host_islands.h"

static instance *get_calling_instance(const loom_host *host) { return host->core; }
static run *get_calling_run(const loom_host *host) { return get_calling_instance(host)->r; }

/* ---- errors and messages ---- */

static loom_status host_fail(const loom_host *host, loom_status code, const char *file, int line,
                             const char *func, const char *fmt, ...)
{
  const char *const base = strrchr(file, '/');
  char text[1024];
  va_list ap;
  (void)func;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
#pragma omp critical(loom_host_fail) /* threads of a plugin may fail at once */
  {
    char *const why = get_calling_instance(host)->exec->why;
    err_set(get_calling_run(host)->err, code, "%s (%s:%d)", text, base != NULL ? base + 1 : file,
            line);
    if (code == LOOM_E_DEVICE && why != NULL && why[0] != '\0') {
      err_append(get_calling_run(host)->err, "%s", why);
      why[0] = '\0';
    }
  }
  return code;
}

static void host_log(const loom_host *host, int level, const char *fmt, ...)
{
  char text[H5LOG_MESSAGE_LEN];
  const int n = snprintf(text, sizeof text, "[%s] ", get_calling_instance(host)->name);
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text + n, sizeof text - (size_t)n, fmt, ap);
  va_end(ap);
  run_message(get_calling_run(host), level, text);
}

/* ---- memory ----
 */

static loom_status host_buf_new(const loom_host *host, const char *name, int type, int64_t count,
                                loom_buf **out)
{
  HOST_NOT_NULL(host, "buf_new", name);
  HOST_NOT_NULL(host, "buf_new", out);
  return buf_new(get_calling_run(host)->m, get_calling_instance(host)->name, name, type, count,
                 out);
}
static loom_status host_buf_resize(const loom_host *host, loom_buf *b, int64_t count)
{
  LOOM_TRY(host_check_own(host, "buf_resize", b));
  return buf_resize(get_calling_run(host)->m, b, count);
}
static void host_buf_free(const loom_host *host, loom_buf *b)
{
  loom_err *const m = mem_err(get_calling_run(host)->m);
  if (b == NULL) return;
  if (host_check_own(host, "buf_free", b) != LOOM_OK) {
    get_calling_run(host)->calls.misused = 1;
    return;
  }
  err_clear(m);
  buf_free(get_calling_run(host)->m, b);
  if (m->code != LOOM_OK) host_misuse(host, m->code, m->text);
}
static int64_t host_buf_count(const loom_host *host, const loom_buf *b)
{
  if (b != NULL) return buf_count(b);
  host_misuse(host, LOOM_E_ARG, "host->buf_count(): b is NULL");
  return 0;
}
static loom_status host_buf_copy(const loom_host *host, const loom_exec *e, loom_buf *dst,
                                 const loom_buf *src)
{
  HOST_NOT_NULL(host, "buf_copy", dst);
  HOST_NOT_NULL(host, "buf_copy", src);
  return buf_copy(get_calling_run(host)->m, e, dst, src);
}
static loom_status host_map(const loom_host *host, const loom_exec *e, loom_buf *b, int access,
                            int place, void **p)
{
  HOST_NOT_NULL(host, "map", b);
  HOST_NOT_NULL(host, "map", p);
  return buf_map(get_calling_run(host)->m, e, b, access, place, p);
}
static loom_status host_unmap(const loom_host *host, loom_buf *b)
{
  HOST_NOT_NULL(host, "unmap", b);
  return buf_unmap(get_calling_run(host)->m, b);
}

/* ---- the step's problem ----
 */

static loom_status host_eval(const loom_host *host, const loom_problem *p, loom_buf *x, int what,
                             loom_energies *e, loom_buf *grad)
{
  LOOM_TRY(host_check_eval(host, p, x, what, e, grad));
  if (what & LOOM_EVAL_ENERGY) work_charge(get_calling_run(host), LOOM_C_ENERGY, 1);
  if (what & LOOM_EVAL_GRADIENT) work_charge(get_calling_run(host), LOOM_C_GRADIENT, 1);
  return problem_eval(get_calling_run(host), p, x, (what & LOOM_EVAL_ENERGY) ? e : NULL,
                      (what & LOOM_EVAL_GRADIENT) ? grad : NULL);
}
static loom_status host_hessian(const loom_host *host, const loom_problem *p, loom_buf *x, int how,
                                const loom_bsr3 **H)
{
  HOST_NOT_NULL(host, "hessian", H);
  LOOM_TRY(host_check_points(host, "hessian", "x", x));
  LOOM_TRY(host_check_hessian(host, "hessian", p, how, LOOM_HESS_NARROW));
  work_charge(get_calling_run(host), LOOM_C_HESSIAN, 1);
  return problem_hessian(get_calling_run(host), p, x, how, H);
}
static loom_status host_hess_apply(const loom_host *host, const loom_problem *p, loom_buf *x,
                                   int how, loom_buf *d, loom_buf *Hd)
{
  LOOM_TRY(host_check_points(host, "hess_apply", "x", x));
  LOOM_TRY(host_check_points(host, "hess_apply", "d", d));
  LOOM_TRY(host_check_points(host, "hess_apply", "Hd", Hd));
  LOOM_TRY(host_check_hessian(host, "hess_apply", p, how, 0));
  work_charge(get_calling_run(host), LOOM_C_SPMV, 1);
  return problem_hess_apply(get_calling_run(host), p, x, how, d, Hd);
}
static loom_status host_elem_hessians(const loom_host *host, int block, int32_t first,
                                      int32_t count, loom_buf *x, int how, loom_buf *out)
{
  run *const r = get_calling_run(host);
  LOOM_CHECK(host, block >= 0 && block < r->scene->pub.num_blocks, LOOM_E_ARG,
             "element block %d does not exist, there are %d", block, r->scene->pub.num_blocks);
  LOOM_TRY(host_check_points(host, "elem_hessians", "x", x));
  const loom_problem alone = {
      .struct_size = sizeof alone, .terms = LOOM_TERM_ELASTIC, .h = r->st.h};
  LOOM_TRY(host_check_hessian(host, "elem_hessians", &alone, how, 0));
  LOOM_TRY(host_check_blocks(host, block, first, count, out));
  work_charge(r, LOOM_C_HESSIAN, first == 0); /* parts of a block are one evaluation of it */
  LOOM_TRY(elastic_elem_hessians(r->elements.el, block, first, count, x, how, out));
  return damping_add_hessians(r, block, first, count, x, how, out);
}
static loom_status host_contact_hessian(const loom_host *host, const loom_problem *p, loom_buf *x,
                                        int how, const loom_blocks3 **out)
{
  HOST_NOT_NULL(host, "contact_hessian", out);
  LOOM_TRY(host_check_points(host, "contact_hessian", "x", x));
  LOOM_TRY(host_check_problem(host, "contact_hessian", p));
  loom_problem alone = *p;
  alone.terms &= LOOM_TERM_CONTACT;
  LOOM_TRY(host_check_hessian(host, "contact_hessian", &alone, how, 0));
  return contact_blocks(get_calling_run(host), p, x, how, out);
}
/* The projective form leaves contact out, frozen or not. */
static loom_status check_projective_form(const loom_host *host, const char *service,
                                         const loom_problem *p)
{
  loom_problem smooth;
  if (p == NULL || p->struct_size < sizeof *p) return host_check_problem(host, service, p);
  if (p->metric == LOOM_METRIC_DIAGONAL)
    return err_set(get_calling_run(host)->err, LOOM_E_ARG,
                   "host->%s(): the problem has LOOM_METRIC_DIAGONAL; the projective form has the "
                   "mass",
                   service);
  smooth = *p;
  smooth.terms &= ~(uint32_t)LOOM_TERM_CONTACT;
  LOOM_TRY(host_check_problem(host, service, &smooth));
  return host_check_declared(host, service, LOOM_NEED_ELEM_PROJECT);
}

static loom_status host_pd_operator(const loom_host *host, const loom_problem *p,
                                    const loom_csr **L)
{
  HOST_NOT_NULL(host, "pd_operator", L);
  LOOM_TRY(check_projective_form(host, "pd_operator", p));
  return problem_pd_operator(get_calling_run(host), p, L);
}
static loom_status host_pd_rhs(const loom_host *host, const loom_problem *p, loom_buf *x,
                               loom_buf *rhs)
{
  LOOM_TRY(check_projective_form(host, "pd_rhs", p));
  LOOM_TRY(host_check_points(host, "pd_rhs", "x", x));
  LOOM_TRY(host_check_points(host, "pd_rhs", "rhs", rhs));
  work_charge(get_calling_run(host), LOOM_C_PROJECT, 1);
  return problem_pd_rhs(get_calling_run(host), p, x, rhs);
}
static loom_status host_contact_quad(const loom_host *host, loom_buf *x, const loom_quad **out)
{
  HOST_NOT_NULL(host, "contact_quad", out);
  LOOM_TRY(host_check_points(host, "contact_quad", "x", x));
  LOOM_TRY(host_check_declared(host, "contact_quad", LOOM_NEED_CONTACT_QUAD));
  return contact_quad(get_calling_run(host), x, out);
}
static loom_status host_freeze_contact(const loom_host *host, loom_buf *x, double share)
{
  LOOM_TRY(host_check_points(host, "freeze_contact", "x", x));
  if (!(share >= 0.0 && share <= 1.0))
    return err_set(get_calling_run(host)->err, LOOM_E_ARG,
                   "host->freeze_contact(): share = %g; it is a number from 0 to 1", share);
  LOOM_TRY(host_check_declared(host, "freeze_contact", LOOM_WANT_CONTACT_FROZEN));
  get_calling_run(host)->st.epoch++;
  return contact_freeze(get_calling_run(host), x, share);
}

/* ---- collision services ----
 */

/* A contact model is served by its own collision plugins, other instances by all. */
static contact_inst *contact_of(const loom_host *host)
{
  run *const r = get_calling_run(host);
  for (int i = 0; i < r->num_contact; ++i)
    if (&r->contact[i].in == get_calling_instance(host)) return &r->contact[i];
  return NULL;
}
static loom_status host_detect(const loom_host *host, const loom_query *q, const loom_pairs **out)
{
  run *const r = get_calling_run(host);
  contact_inst *const c = contact_of(host);
  HOST_NOT_NULL(host, "detect", q);
  HOST_NOT_NULL(host, "detect", out);
  LOOM_TRY(vet_query(get_calling_instance(host), q));
  return detect_service(r, c, q, out);
}
static loom_status host_max_step(const loom_host *host, loom_buf *x0, loom_buf *x1, loom_bound *out)
{
  LOOM_TRY(host_check_bound(host, x0, x1, out));
  /* an accepted move inside a plugin counts as a step */
  out->min_gap = fmax(out->min_gap, get_calling_run(host)->set.filter.min_gap);
  return detect_max_step(get_calling_run(host), x0, x1, out);
}
static loom_status host_match_keys(const loom_host *host, const loom_exec *e, loom_buf *old_key,
                                   int64_t n_old, loom_buf *new_key, int64_t n_new,
                                   loom_buf *old_index)
{
  HOST_NOT_NULL(host, "match_keys", e);
  HOST_NOT_NULL(host, "match_keys", old_key);
  HOST_NOT_NULL(host, "match_keys", new_key);
  HOST_NOT_NULL(host, "match_keys", old_index);
  return la_match_keys(get_calling_run(host)->m, e, old_key, n_old, new_key, n_new, old_index);
}

/* ---- primitives ---- */

static loom_status host_dot(const loom_host *host, const loom_exec *e, loom_buf *a, loom_buf *b,
                            double *out)
{
  HOST_NOT_NULL(host, "dot", e);
  HOST_NOT_NULL(host, "dot", a);
  HOST_NOT_NULL(host, "dot", b);
  HOST_NOT_NULL(host, "dot", out);
  return la_dot(get_calling_run(host)->m, e, a, b, out);
}
static loom_status host_dots(const loom_host *host, const loom_exec *e, int n, loom_buf *const *a,
                             loom_buf *const *b, double *out)
{
  LOOM_CHECK(host, n >= 0 && n <= LOOM_NUM_RESULTS, LOOM_E_ARG,
             "%d dot products; at most %d at once", n, LOOM_NUM_RESULTS);
  for (int i = 0; i < n; ++i) LOOM_TRY(la_dot_slot(get_calling_run(host)->m, e, a[i], b[i], i));
  return exec_fetch(mem_err(get_calling_run(host)->m), e, 0, n, out);
}
static loom_status host_fill(const loom_host *host, const loom_exec *e, loom_buf *x, double value)
{
  return la_fill(get_calling_run(host)->m, e, x, value);
}
static loom_status host_axpby(const loom_host *host, const loom_exec *e, double a, loom_buf *x,
                              double b, loom_buf *y)
{
  HOST_NOT_NULL(host, "axpby", e);
  HOST_NOT_NULL(host, "axpby", x);
  HOST_NOT_NULL(host, "axpby", y);
  return la_axpby(get_calling_run(host)->m, e, a, x, b, y);
}
static loom_status host_norm_max3(const loom_host *host, const loom_exec *e, loom_buf *x,
                                  double *out)
{
  HOST_NOT_NULL(host, "norm_max3", e);
  HOST_NOT_NULL(host, "norm_max3", x);
  HOST_NOT_NULL(host, "norm_max3", out);
  return la_norm_max3(get_calling_run(host)->m, e, x, out);
}
static loom_status host_spmv_bsr3(const loom_host *host, const loom_exec *e, const loom_bsr3 *A,
                                  loom_buf *x, loom_buf *y)
{
  HOST_NOT_NULL(host, "spmv_bsr3", e);
  HOST_NOT_NULL(host, "spmv_bsr3", A);
  HOST_NOT_NULL(host, "spmv_bsr3", x);
  HOST_NOT_NULL(host, "spmv_bsr3", y);
  work_charge(get_calling_run(host), LOOM_C_SPMV, 1);
  return la_spmv_bsr3(get_calling_run(host)->m, e, A, x, y);
}
static loom_status host_scan_i64(const loom_host *host, const loom_exec *e, loom_buf *in,
                                 loom_buf *out, int64_t *total)
{
  HOST_NOT_NULL(host, "scan_i64", e);
  HOST_NOT_NULL(host, "scan_i64", in);
  HOST_NOT_NULL(host, "scan_i64", out);
  return la_scan_i64(get_calling_run(host)->m, e, in, out, total);
}
static loom_status host_sort_u64(const loom_host *host, const loom_exec *e, loom_buf *key,
                                 loom_buf *perm)
{
  HOST_NOT_NULL(host, "sort_u64", e);
  HOST_NOT_NULL(host, "sort_u64", key);
  HOST_NOT_NULL(host, "sort_u64", perm);
  return la_sort_u64(get_calling_run(host)->m, e, key, perm);
}

/* ---- record of the run ---- */

static loom_status host_fetch_later(const loom_host *host, const loom_exec *e, loom_buf *b, int n,
                                    double *out, void (*then)(void *user), void *user)
{
  run *const r = get_calling_run(host);
  void *p;
  HOST_NOT_NULL(host, "fetch_later", e);
  HOST_NOT_NULL(host, "fetch_later", b);
  if (n < 1 || n > RESULTS_EACH || buf_type(b) != LOOM_REAL || buf_count(b) < n)
    return err_set(r->err, LOOM_E_ARG,
                   "host->fetch_later(): %d numbers of '%s', which has %lld; 1 to %d reals", n,
                   buf_name(b), (long long)buf_count(b), RESULTS_EACH);
  LOOM_TRY(buf_map(r->m, e, b, LOOM_READ, LOOM_AT_EXEC, &p));
  LOOM_TRY(results_later(
      r, e, p, n,
      &(results_use){.then = results_copy, .out = out, .end = n, .call = then, .user = user}));
  return buf_unmap(r->m, b);
}
static void host_inner(const loom_host *host, int32_t k, int norm, double value)
{
  run *const r = get_calling_run(host);
  const h5log_inner_row row = {.step = r->st.index,
                               .k = r->st.iter,
                               .level = r->calls.resolving != NULL,
                               .j = k,
                               .norm = norm,
                               .value = value};
  loom_err ignored = {0}; /* rows are batched: a full disk is reported by the next commit */
  if (r->record.log == NULL) return;
  clock_push(&r->clock, CLOCK_LOG);
  h5log_inner(r->record.log, &ignored, &row);
  clock_pop(&r->clock);
}
static void host_count(const loom_host *host, int counter, int64_t n)
{
  if (counter >= 0 && counter < LOOM_NUM_COUNTERS) work_charge(get_calling_run(host), counter, n);
}
static void host_tic(const loom_host *host, const char *section)
{
  if (section != NULL)
    section_begin(get_calling_run(host), get_calling_instance(host)->name, section);
  else
    host_misuse(host, LOOM_E_ARG, "host->tic(): section is NULL");
}
static void host_toc(const loom_host *host, const char *section)
{
  if (section != NULL)
    section_end(get_calling_run(host), section);
  else
    host_misuse(host, LOOM_E_ARG, "host->toc(): section is NULL");
}
static loom_status host_state_io(const loom_host *host, int restore, const char *name, loom_buf *b)
{
  run *const r = get_calling_run(host);
  HOST_NOT_NULL(host, "state_io", name);
  HOST_NOT_NULL(host, "state_io", b);
  if (r->calls.state_io == NULL)
    return err_set(r->err, LOOM_E_STATE, "host->state_io() outside checkpoint()");
  if (restore != r->calls.restoring)
    return err_set(r->err, LOOM_E_STATE, "%s: state_io() for %s in a checkpoint() that %s",
                   get_calling_instance(host)->name, restore ? "restoring" : "saving",
                   restore ? "saves" : "restores");
  return r->calls.state_io(r, get_calling_instance(host)->name, name, b);
}

void host_attach(instance *in)
{
  in->host = (loom_host){.struct_size = sizeof in->host,
                         .abi_major = LOOM_ABI_MAJOR,
                         .abi_minor = LOOM_ABI_MINOR,
                         .core = in,
                         .fail = host_fail,
                         .log = host_log,
                         .buf_new = host_buf_new,
                         .buf_resize = host_buf_resize,
                         .buf_free = host_buf_free,
                         .buf_count = host_buf_count,
                         .buf_copy = host_buf_copy,
                         .map = host_map,
                         .unmap = host_unmap,
                         .eval = host_eval,
                         .hessian = host_hessian,
                         .hess_apply = host_hess_apply,
                         .elem_hessians = host_elem_hessians,
                         .contact_hessian = host_contact_hessian,
                         .pd_operator = host_pd_operator,
                         .pd_rhs = host_pd_rhs,
                         .contact_quad = host_contact_quad,
                         .freeze_contact = host_freeze_contact,
                         .detect = host_detect,
                         .max_step = host_max_step,
                         .match_keys = host_match_keys,
                         .dot = host_dot,
                         .dots = host_dots,
                         .fill = host_fill,
                         .axpby = host_axpby,
                         .norm_max3 = host_norm_max3,
                         .spmv_bsr3 = host_spmv_bsr3,
                         .scan_i64 = host_scan_i64,
                         .sort_u64 = host_sort_u64,
                         .inner = host_inner,
                         .count = host_count,
                         .tic = host_tic,
                         .toc = host_toc,
                         .state_io = host_state_io,
                         .body_gap = host_body_gap,
                         .body_impact = host_body_impact,
                         .body_carry = host_body_carry,
                         .body_push = host_body_push,
                         .fetch_later = host_fetch_later,
                         .elem_gradients = host_elem_gradients,
                         .elem_corners = host_elem_corners,
                         .elem_weights = host_elem_weights,
                         .islands = host_islands,
                         .dot_islands = host_dot_islands,
                         .axpby_islands = host_axpby_islands,
                         .body_near = host_body_near,
                         .body_near_impact = host_body_near_impact};
}
