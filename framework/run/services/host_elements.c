/* host_elements.c - see host_elements.h. */
#include "run/services/host_elements.h"

#include "run/run_state.h"
#include "run/services/host.h"
#include "run/services/host_check.h"

static run *get_elements_run(const loom_host *host) { return ((instance *)host->core)->r; }

static loom_status check_elements_buffer(const loom_host *host, const char *service,
                                         const char *arg, const loom_buf *b, int type, int64_t rows,
                                         int width)
{
  if (b == NULL) return host_refuse_null(host, service, arg);
  if (buf_type(b) == type && buf_count(b) >= rows * width) return LOOM_OK;
  return err_set(get_elements_run(host)->err, LOOM_E_ARG,
                 "host->%s(): %s is buffer '%s' with %lld items, but %s [%lld][%d] is needed",
                 service, arg, buf_name(b), (long long)buf_count(b),
                 type == LOOM_REAL ? "real" : "i32", (long long)rows, width);
}

static loom_status check_block_index(const loom_host *host, const char *service, int block)
{
  const int32_t num = get_elements_run(host)->scene->pub.num_blocks;
  if (block >= 0 && block < num) return LOOM_OK;
  return err_set(get_elements_run(host)->err, LOOM_E_ARG,
                 "host->%s(): element block %d does not exist, there are %d", service, block, num);
}

static loom_status check_element_rows(const loom_host *host, const char *service,
                                      const loom_elem_rows *r, loom_buf *x)
{
  HOST_NOT_NULL(host, service, r);
  if (get_elements_run(host)->damping.beta != NULL)
    return err_set(
        get_elements_run(host)->err, LOOM_E_UNSUPPORTED,
        "host->%s() has no stiffness_damping; remove the key from all objects (`damping` "
        "works), or take another solver",
        service);
  LOOM_TRY(check_block_index(host, service, r->block));
  LOOM_TRY(host_check_points(host, service, "x", x));
  if (r->first < 0 || r->count < 0 || r->to < 0)
    return err_set(get_elements_run(host)->err, LOOM_E_ARG,
                   "host->%s(): %lld rows from %lld to %lld on", service, (long long)r->count,
                   (long long)r->first, (long long)r->to);
  return check_elements_buffer(host, service, "elem", r->elem, LOOM_I32, r->first + r->count, 1);
}

/* A pass over a list is told from its first row; the first block stands for all. */
static void charge_element_pass(const loom_host *host, const loom_elem_rows *r, int counter)
{
  const int32_t num = get_elements_run(host)->scene->pub.blocks[r->block].num_elems;
  if (r->block != 0 || r->first != 0 || r->count == 0 || num == 0) return;
  work_charge(get_elements_run(host), counter, (buf_count(r->elem) + num - 1) / num);
}

loom_status host_elem_gradients(const loom_host *host, const loom_elem_rows *r, loom_buf *x,
                                loom_buf *grad)
{
  run *const u = get_elements_run(host);
  LOOM_TRY(check_element_rows(host, "elem_gradients", r, x));
  LOOM_TRY(host_check_declared(host, "elem_gradients",
                               LOOM_NEED_ELEM_GRADIENT | LOOM_NEED_ELEM_PROJECT));
  const loom_elem_block *const b = &u->scene->pub.blocks[r->block];
  LOOM_TRY(check_elements_buffer(host, "elem_gradients", "grad", grad, LOOM_REAL, r->to + r->count,
                                 3 * b->arity));
  charge_element_pass(host, r, LOOM_C_GRADIENT);
  return elem_listed_run(u->m, ((instance *)host->core)->exec, b, r, x, LOOM_HESS_EXACT, grad,
                         NULL);
}

loom_status host_elem_corners(const loom_host *host, const loom_elem_rows *r, loom_buf *x, int how,
                              loom_buf *grad, loom_buf *diag)
{
  run *const u = get_elements_run(host);
  LOOM_TRY(check_element_rows(host, "elem_corners", r, x));
  LOOM_TRY(check_elements_buffer(host, "elem_corners", "corner", r->corner, LOOM_I32,
                                 r->first + r->count, 1));
  LOOM_TRY(
      check_elements_buffer(host, "elem_corners", "grad", grad, LOOM_REAL, r->to + r->count, 3));
  LOOM_TRY(
      check_elements_buffer(host, "elem_corners", "diag", diag, LOOM_REAL, r->to + r->count, 9));
  const loom_problem alone = {
      .struct_size = sizeof alone, .terms = LOOM_TERM_ELASTIC, .h = u->st.h};
  LOOM_TRY(host_check_hessian(host, "elem_corners", &alone, how, 0));
  LOOM_TRY(host_check_declared(host, "elem_corners", LOOM_NEED_ELEM_GRADIENT));
  charge_element_pass(host, r, LOOM_C_GRADIENT);
  charge_element_pass(host, r, LOOM_C_HESSIAN);
  return elem_listed_run(u->m, ((instance *)host->core)->exec, &u->scene->pub.blocks[r->block], r,
                         x, how, grad, diag);
}

loom_status host_elem_weights(const loom_host *host, int block, loom_buf *out)
{
  run *const u = get_elements_run(host);
  LOOM_TRY(check_block_index(host, "elem_weights", block));
  LOOM_TRY(host_check_declared(host, "elem_weights", LOOM_NEED_ELEM_PROJECT));
  const loom_elem_block *const b = &u->scene->pub.blocks[block];
  LOOM_TRY(check_elements_buffer(host, "elem_weights", "out", out, LOOM_REAL, b->num_elems,
                                 b->arity * b->arity));
  return elem_weights_run(u->m, ((instance *)host->core)->exec, b, u->scene->pub.rest_x, out);
}
