/* host_check.c - arguments of the services, see host_check.h. */
#include "run/services/host_check.h"

#include <math.h>
#include <string.h>

#include "run/run_state.h"

static const instance *get_checked_instance(const loom_host *host) { return host->core; }
static run *get_checked_run(const loom_host *host) { return get_checked_instance(host)->r; }

loom_status host_refuse_null(const loom_host *host, const char *service, const char *arg)
{
  return err_set(get_checked_run(host)->err, LOOM_E_ARG, "host->%s(): %s is NULL", service, arg);
}

void host_misuse(const loom_host *host, loom_status code, const char *text)
{
  err_set(get_checked_run(host)->err, code, "%s", text);
  get_checked_run(host)->calls.misused = 1;
}

loom_status host_check_points(const loom_host *host, const char *service, const char *arg,
                              const loom_buf *b)
{
  run *const r = get_checked_run(host);
  const int64_t n3 = 3 * (int64_t)r->scene->pub.num_verts;
  if (b == NULL) return host_refuse_null(host, service, arg);
  if (buf_type(b) == LOOM_REAL && buf_count(b) == n3) return LOOM_OK;
  return err_set(r->err, LOOM_E_ARG,
                 "host->%s(): %s is buffer '%s' with %lld items%s, but real [n][3], %lld, is "
                 "needed",
                 service, arg, buf_name(b), (long long)buf_count(b),
                 buf_type(b) == LOOM_REAL ? "" : " that are not real", (long long)n3);
}

loom_status host_check_problem(const loom_host *host, const char *service, const loom_problem *p)
{
  run *const r = get_checked_run(host);
  if (p == NULL) return host_refuse_null(host, service, "p");
  if (p->struct_size < sizeof *p || (p->terms & ~(uint32_t)LOOM_TERM_ALL))
    return err_set(
        r->err, LOOM_E_ARG,
        "host->%s(): the problem has struct_size %u and terms 0x%x; it is %zu bytes long, "
        "and its terms are LOOM_TERM_*",
        service, (unsigned)p->struct_size, (unsigned)p->terms, sizeof *p);
  if (!(p->h > 0.0) || !isfinite(p->h))
    return err_set(r->err, LOOM_E_ARG, "host->%s(): the problem has h = %g s, it must be positive",
                   service, p->h);
  if ((p->terms & LOOM_TERM_INERTIA) && (!(p->inertia > 0.0) || !isfinite(p->inertia)))
    return err_set(r->err, LOOM_E_ARG,
                   "host->%s(): the problem has inertia = %g 1/s^2, it must be positive; copy it "
                   "from loom_step.problem",
                   service, p->inertia);
  if (p->metric != LOOM_METRIC_MASS && p->metric != LOOM_METRIC_DIAGONAL)
    return err_set(r->err, LOOM_E_ARG,
                   "host->%s(): the problem has metric = %d; it is LOOM_METRIC_MASS or _DIAGONAL",
                   service, (int)p->metric);
  if (p->target != NULL) LOOM_TRY(host_check_points(host, service, "p->target", p->target));
  if (p->contact == LOOM_CONTACT_LIVE) return LOOM_OK;
  if (p->contact != LOOM_CONTACT_FROZEN)
    return err_set(r->err, LOOM_E_ARG,
                   "host->%s(): the problem has contact = %d; it is LOOM_CONTACT_LIVE or _FROZEN",
                   service, (int)p->contact);
  if (r->contacts.frozen || !(p->terms & LOOM_TERM_CONTACT)) return LOOM_OK;
  return err_set(
      r->err, LOOM_E_STATE,
      "host->%s(): the problem has frozen contact, but contact has not been frozen; call "
      "host->freeze_contact() first",
      service);
}

/* Needs that the terms of p must declare. */
static uint32_t needs_of(const loom_problem *p, uint32_t elements, uint32_t contact)
{
  return ((p->terms & (LOOM_TERM_ELASTIC | LOOM_TERM_DAMPING)) ? elements : 0) |
         ((p->terms & LOOM_TERM_CONTACT) ? contact : 0);
}

loom_status host_check_hessian(const loom_host *host, const char *service, const loom_problem *p,
                               int how, int flags)
{
  const int kind = how & ~flags;
  LOOM_TRY(host_check_problem(host, service, p));
  if (kind < LOOM_HESS_EXACT || kind > LOOM_HESS_PSD_ABS)
    return err_set(get_checked_run(host)->err, LOOM_E_ARG,
                   "host->%s(): how = %d; it is one of LOOM_HESS_EXACT, _PSD_CLAMP and _PSD_ABS",
                   service, how);
  return host_check_declared(host, service,
                             needs_of(p, LOOM_NEED_ELEM_HESSIAN, LOOM_NEED_CONTACT_HESSIAN));
}

loom_status host_check_blocks(const loom_host *host, int block, int32_t first, int32_t count,
                              const loom_buf *b)
{
  run *const r = get_checked_run(host);
  const loom_elem_block *const e = &r->scene->pub.blocks[block];
  const int64_t needed = (int64_t)count * 9 * e->arity * e->arity;
  if (b == NULL) return host_refuse_null(host, "elem_hessians", "out");
  if (first < 0 || count < 0 || count > e->num_elems - first)
    return err_set(r->err, LOOM_E_ARG,
                   "host->elem_hessians(): %d elements from %d on; block %d has %d", count, first,
                   block, e->num_elems);
  if (buf_type(b) == LOOM_REAL && buf_count(b) >= needed) return LOOM_OK;
  return err_set(r->err, LOOM_E_ARG,
                 "host->elem_hessians(): out is buffer '%s' with %lld items, but real "
                 "[count][3a][3a], %lld, is needed",
                 buf_name(b), (long long)buf_count(b), (long long)needed);
}

loom_status host_check_own(const loom_host *host, const char *service, const loom_buf *b)
{
  run *const r = get_checked_run(host);
  if (b == NULL) return host_refuse_null(host, service, "b");
  if (!mem_has(r->m, b))
    return err_set(r->err, LOOM_E_ARG,
                   "host->%s(): this is no buffer of this run; was it freed before?", service);
  if (strcmp(buf_owner(b), get_checked_instance(host)->name) == 0) return LOOM_OK;
  return err_set(r->err, LOOM_E_ARG,
                 "host->%s(): buffer '%s' belongs to %s%s%s; a plugin frees and resizes only "
                 "buffers of its own host->buf_new()",
                 service, buf_name(b), strchr(buf_owner(b), '.') != NULL ? "[" : "the ",
                 buf_owner(b), strchr(buf_owner(b), '.') != NULL ? "]" : "");
}

loom_status host_check_declared(const loom_host *host, const char *service, uint32_t need)
{
  const instance *const in = get_checked_instance(host);
  const uint32_t forms =
      LOOM_NEED_CONTACT_ENERGY | LOOM_NEED_CONTACT_GRADIENT | LOOM_NEED_CONTACT_HESSIAN;
  const uint32_t contact = forms | LOOM_NEED_CONTACT_QUAD | LOOM_WANT_CONTACT_FROZEN;
  char names[256];
  if (in->plugin->kind != LOOM_KIND_SOLVER) return LOOM_OK; /* other kinds declare no needs */
  uint32_t has = in->plugin->ops.solver->needs;
  if (has & LOOM_NEED_CONTACT_QUAD) has |= forms; /* the quadratic form implies all forms */
  if (in->r->num_contact == 0) has |= contact;
  if ((need & ~has) == 0) return LOOM_OK;
  return err_set(
      in->r->err, LOOM_E_STATE,
      "host->%s() needs a flag that the solver's `needs` do not declare: %s; add it, so that "
      "the fit test can look for it",
      service, fit_names(LOOM_KIND_SOLVER, need & ~has, 0, names, sizeof names));
}

loom_status host_check_eval(const loom_host *host, const loom_problem *p, loom_buf *x, int what,
                            const loom_energies *e, const loom_buf *grad)
{
  const int all = LOOM_EVAL_ENERGY | LOOM_EVAL_GRADIENT;
  uint32_t need = 0;
  LOOM_TRY(host_check_problem(host, "eval", p));
  LOOM_TRY(host_check_points(host, "eval", "x", x));
  if (what & ~all)
    return err_set(get_checked_run(host)->err, LOOM_E_ARG,
                   "host->eval(): what = %d has bits beside LOOM_EVAL_*", what);
  if ((what & LOOM_EVAL_ENERGY) && e == NULL) return host_refuse_null(host, "eval", "e");
  if (what & LOOM_EVAL_GRADIENT) LOOM_TRY(host_check_points(host, "eval", "grad", grad));
  if (what & LOOM_EVAL_ENERGY) need |= needs_of(p, LOOM_NEED_ELEM_ENERGY, LOOM_NEED_CONTACT_ENERGY);
  if (what & LOOM_EVAL_GRADIENT)
    need |= needs_of(p, LOOM_NEED_ELEM_GRADIENT, LOOM_NEED_CONTACT_GRADIENT);
  return host_check_declared(host, "eval", need);
}

loom_status host_check_bound(const loom_host *host, loom_buf *x0, loom_buf *x1, const loom_bound *b)
{
  const run *const r = get_checked_run(host);
  LOOM_TRY(host_check_points(host, "max_step", "x0", x0));
  LOOM_TRY(host_check_points(host, "max_step", "x1", x1));
  if (b == NULL) return host_refuse_null(host, "max_step", "out");
  if (!b->per_vertex) return LOOM_OK;
  if (b->t_vertex == NULL) return host_refuse_null(host, "max_step", "out->t_vertex");
  if (buf_type(b->t_vertex) == LOOM_REAL && buf_count(b->t_vertex) == r->scene->pub.num_verts)
    return LOOM_OK;
  return err_set(r->err, LOOM_E_ARG, "host->max_step(): out->t_vertex is not real [n]");
}

/* b holds `type` and all rows, `width` items each. */
static loom_status check_rows_of(const loom_host *host, const char *service, const char *arg,
                                 const loom_body_rows *r, const loom_buf *b, int type, int width)
{
  const int64_t needed = width * (r->first + r->count);
  if (buf_type(b) == type && buf_count(b) >= needed) return LOOM_OK;
  return err_set(get_checked_run(host)->err, LOOM_E_ARG,
                 "host->%s(): %s is buffer '%s' with %lld items, but %s [.][%d] of rows up to "
                 "%lld, %lld, is needed",
                 service, arg, buf_name(b), (long long)buf_count(b),
                 type == LOOM_REAL ? "real" : "i32", width, (long long)(r->first + r->count),
                 (long long)needed);
}

loom_status host_check_row_reals(const loom_host *host, const char *service, const char *arg,
                                 const loom_body_rows *r, const loom_buf *b, int width)
{
  return b != NULL ? check_rows_of(host, service, arg, r, b, LOOM_REAL, width) : LOOM_OK;
}

loom_status host_check_rows(const loom_host *host, const char *service, const loom_body_rows *r)
{
  HOST_NOT_NULL(host, service, r);
  HOST_NOT_NULL(host, service, r->x);
  if (r->first < 0 || r->count < 0 || r->pair < 0)
    return err_set(get_checked_run(host)->err, LOOM_E_ARG,
                   "host->%s(): rows %lld to %lld, pair %lld", service, (long long)r->first,
                   (long long)(r->first + r->count), (long long)r->pair);
  if (r->body != NULL) LOOM_TRY(check_rows_of(host, service, "body", r, r->body, LOOM_I32, 1));
  if (r->point != NULL)
    return check_rows_of(host, service, "point", r, r->point, LOOM_I32,
                         r->stride > 1 ? r->stride : 1);
  if (r->body != NULL) return check_rows_of(host, service, "x", r, r->x, LOOM_REAL, 3);
  const int64_t pairs = get_checked_run(host)->scene->pub.num_obstacles * (buf_count(r->x) / 3);
  if (r->pair + r->count <= pairs) return LOOM_OK;
  return err_set(get_checked_run(host)->err, LOOM_E_ARG,
                 "host->%s(): pairs of bodies and points up to %lld, but there are %lld", service,
                 (long long)(r->pair + r->count), (long long)pairs);
}

loom_status host_check_elements(const loom_host *host, const char *service, const loom_body_rows *r)
{
  LOOM_TRY(host_check_rows(host, service, r));
  HOST_NOT_NULL(host, service, r->body);
  HOST_NOT_NULL(host, service, r->point);
  if (r->stride >= 3) return LOOM_OK;
  return err_set(get_checked_run(host)->err, LOOM_E_ARG,
                 "host->%s(): stride = %d; an element has three corners", service, (int)r->stride);
}

loom_status host_check_known(const loom_host *host, const char *service, const loom_body_rows *r,
                             const loom_body_gap *out)
{
  const loom_body_rows pairs = {.first = r->pair, .count = r->count};
  const int64_t num = buf_count(r->x) / 3;
  if (out->known_gap == NULL) return LOOM_OK;
  HOST_NOT_NULL(host, service, out->known_x);
  HOST_NOT_NULL(host, service, out->radius);
  LOOM_TRY(check_rows_of(host, service, "known_gap", &pairs, out->known_gap, LOOM_REAL, 1));
  if (buf_count(out->known_x) >= 3 * num && buf_count(out->radius) >= num) return LOOM_OK;
  return err_set(
      get_checked_run(host)->err, LOOM_E_ARG,
      "host->%s(): known_x and radius hold %lld and %lld items, not enough for %lld points",
      service, (long long)buf_count(out->known_x), (long long)buf_count(out->radius),
      (long long)num);
}
