/* response.c - see response.h. */
#include "response.h"

static const lk_entry k_corner = LK_ENTRY_MOVES(impact_corner, 1, 1),
                      k_real = LK_ENTRY_MOVES(impact_real, 0, 1);
static const lk_entry k_head = LK_ENTRY_MOVES(impact_head, 3, 0),
                      k_list = LK_ENTRY_MOVES(impact_list, 3, 2);
static const lk_entry k_square = LK_ENTRY_MOVES(impact_square, 2, 0),
                      k_couple = LK_ENTRY_MOVES(impact_couple, 803, 163);
static const lk_entry k_rhs = LK_ENTRY_MOVES(impact_rhs, 21, 4),
                      k_multiply = LK_ENTRY_MOVES(impact_multiply, 298, 138);
static const lk_entry k_multiply_row = LK_ENTRY_MOVES(impact_multiply, 100, 46); /* one of three */
static const lk_entry k_precondition = LK_ENTRY_MOVES(impact_precondition, 16, 0);
static const lk_entry k_apply = LK_ENTRY_MOVES(impact_apply, 58, 12),
                      k_crowd = LK_ENTRY_MOVES(impact_crowd, 24, 8);
static const lk_entry k_alone = LK_ENTRY_MOVES(impact_alone, 8, 4);
static const lk_entry k_strongest = LK_ENTRY_MOVES(impact_strongest, 1, 0);
static const lk_entry k_pulling = LK_ENTRY_MOVES(impact_pulling, 1, 0);

loom_status response_new(response *p, const loom_host *host, const loom_scene *sc,
                         const loom_exec *e, int32_t max_iters)
{
  const plug_buf all[] = {{"corners by vertex", LOOM_U64, 0, &p->key},
                          {"corners", LOOM_I32, 0, &p->perm},
                          {"first corners", LOOM_I64, 0, &p->head},
                          {"their places", LOOM_I64, 1, &p->place},
                          {"corners of vertices", LOOM_I64, 1, &p->ptr},
                          {"impacts of vertices", LOOM_I32, 0, &p->node},
                          {"touched vertices", LOOM_I32, 0, &p->vert},
                          {"couplings", LOOM_REAL, 0, &p->K},
                          {"crowds", LOOM_I64, 0, &p->crowd},
                          {"missing gaps", LOOM_REAL, 0, &p->b},
                          {"multipliers", LOOM_REAL, 0, &p->lambda},
                          {"more of them", LOOM_REAL, 0, &p->more},
                          {"ahead", LOOM_REAL, 0, &p->ahead[0]},
                          {"ahead, next", LOOM_REAL, 0, &p->ahead[1]},
                          {"sums", LOOM_REAL, 1, &p->result}};
  p->host = host;
  p->sc = sc;
  p->e = e;
  LOOM_TRY(bcsr_new(&p->S, host, e, 1));
  LOOM_TRY(krylov_cg_new(&p->cg, host, e, 0, max_iters));
  return plug_bufs_new(host, all, LOOM_COUNT(all));
}

/* ---- assembly ---- */

/* Corners ordered by vertices, and which vertices there are. */
static loom_status list_touched(response *p, const impacts *all)
{
  const loom_host *const host = p->host;
  const int64_t count = 4 * all->m;
  double corners = 0.0;
  LOOM_TRY(host->buf_resize(host, p->key, count));
  LOOM_TRY(host->buf_resize(host, p->perm, count));
  LOOM_TRY(host->buf_resize(host, p->head, count));
  LOOM_TRY(host->buf_resize(host, p->place, count + 1));
  LOOM_TRY(host->buf_resize(host, p->node, count));
  plug_maps m = plug_maps_on(host, p->e);
  impact_corner_args a = {.v = plug_read(&m, all->v),
                          .key = plug_write(&m, p->key),
                          .count = count,
                          .n = p->sc->num_verts};
  LOOM_TRY(plug_run_on(&m, &k_corner, &a, count, NULL));
  LOOM_TRY(plug_reduce(&m, &k_real, &a, count, p->result, &corners));
  LOOM_TRY(host->sort_u64(host, p->e, p->key, p->perm));
  a.key = plug_rdwr(&m, p->key);
  a.head = plug_write(&m, p->head);
  LOOM_TRY(plug_launch(&m, &k_head, &a, count, NULL));
  LOOM_TRY(host->scan_i64(host, p->e, p->head, p->place, &p->touched));
  LOOM_TRY(host->buf_resize(host, p->ptr, p->touched + 1));
  LOOM_TRY(host->buf_resize(host, p->vert, p->touched));
  a.key = plug_rdwr(&m, p->key);
  a.head = plug_rdwr(&m, p->head);
  a.perm = plug_read(&m, p->perm);
  a.place = plug_read(&m, p->place);
  a.ptr = plug_write(&m, p->ptr);
  a.vert = plug_write(&m, p->vert);
  a.node = plug_rdwr(&m, p->node);
  LOOM_TRY(plug_launch(&m, &k_list, &a, count, NULL));
  return host->buf_resize(host, p->node, (int64_t)corners);
}

/* Vertices are the elements that couple their impacts. */
static loom_status couple_impacts(response *p, const impacts *all)
{
  const loom_host *const host = p->host;
  double blocks = 0.0;
  plug_maps m = plug_maps_on(host, p->e);
  const impact_corner_args size = {.ptr = plug_rdwr(&m, p->ptr)};
  LOOM_TRY(plug_reduce(&m, &k_square, &size, p->touched, p->result, &blocks));
  LOOM_TRY(host->buf_resize(host, p->K, (int64_t)blocks));
  p->kind.count = p->touched;
  p->kind.ptr = p->ptr;
  p->kind.node = p->node;
  p->kind.K = p->K;
  LOOM_TRY(bcsr_index(&p->S, (int32_t)all->m, &p->kind));
  LOOM_TRY(bcsr_pattern(&p->S, &p->kind, 1));
  const impact_system_args a = {.ptr = plug_read(&m, p->ptr),
                                .vert = plug_read(&m, p->vert),
                                .perm = plug_read(&m, p->perm),
                                .block = plug_read(&m, p->kind.block),
                                .w = plug_read(&m, all->w),
                                .n = plug_read(&m, all->n),
                                .mass = plug_read(&m, p->sc->mass),
                                .K = plug_write(&m, p->K)};
  LOOM_TRY(plug_launch(&m, &k_couple, &a, p->touched, NULL));
  return bcsr_values(&p->S, &p->kind, 1);
}

loom_status response_begin(response *p) { return p->host->buf_resize(p->host, p->lambda, 0); }

loom_status response_assemble(response *p, const impacts *all)
{
  const int64_t rows = (all->m + 2) / 3;
  LOOM_TRY(list_touched(p, all));
  LOOM_TRY(couple_impacts(p, all));
  return p->host->buf_resize(p->host, p->lambda,
                             3 * rows); /* multipliers of new impacts are zero */
}

loom_status response_missing(response *p, const impacts *all, loom_buf *x)
{
  const loom_host *const host = p->host;
  LOOM_TRY(host->buf_resize(host, p->b, host->buf_count(host, p->lambda)));
  LOOM_TRY(host->fill(host, p->e, p->b, 0.0)); /* the end of the last row of three stays so */
  plug_maps m = plug_maps_on(host, p->e);
  const impact_rows_args a = {.v = plug_read(&m, all->v),
                              .w = plug_read(&m, all->w),
                              .n = plug_read(&m, all->n),
                              .offset = plug_read(&m, all->offset),
                              .target = plug_read(&m, all->target),
                              .x = plug_read(&m, x),
                              .r = plug_rdwr(&m, p->b)};
  return plug_launch(&m, &k_rhs, &a, all->m, NULL);
}

/* ---- solves ---- */

loom_status response_tell(response *p, int64_t m, response_report *out)
{
  plug_maps maps = plug_maps_on(p->host, p->e);
  impact_number_args a = {.lambda = plug_read(&maps, p->lambda)};
  LOOM_TRY(plug_reduce(&maps, &k_strongest, &a, m, p->result, &out->strongest));
  a.lambda = plug_read(&maps, p->lambda);
  return plug_reduce(&maps, &k_pulling, &a, m, p->result, &out->pulling);
}

typedef struct operator
{
  response *p;
  impact_matrix_args a;
}
operator;

/* n: elements. */
static loom_status run_response_kernel(operator* o, const krylov_product *q, const lk_entry *k,
                                       int64_t n)
{
  o->a.x = q->x;
  o->a.y = q->y;
  o->a.stop = q->stop;
  return plug_run(o->p->host, o->p->e, k, &o->a, n, q->dot);
}
static loom_status response_multiply(void *self, const krylov_product *q)
{
  operator* const o = self;
  o->a.split = o->p->e->backend != LOOM_CPU;
  if (o->a.split) return run_response_kernel(o, q, &k_multiply_row, 3 * (int64_t)o->p->cg.n);
  return run_response_kernel(o, q, &k_multiply, o->p->cg.n);
}
static loom_status response_precondition(void *self, const krylov_product *q)
{
  operator* const o = self;
  return run_response_kernel(o, q, &k_precondition, o->p->cg.n);
}

loom_status response_solve(response *p, const impacts *all, double shift, double tolerance,
                           response_report *out)
{
  const loom_host *const host = p->host;
  const krylov_forcing f = {.eta_min = tolerance, .eta_max = tolerance, .euclidean = 1};
  krylov_result result;
  LOOM_TRY(host->buf_resize(host, p->more, host->buf_count(host, p->lambda)));
  LOOM_TRY(krylov_cg_resize(&p->cg, (int32_t)((all->m + 2) / 3)));
  plug_maps m = plug_maps_on(host, p->e);
  operator o = {.p = p,
                .a = {.row = plug_read(&m, p->S.row),
                      .col = plug_read(&m, p->S.col),
                      .diag = plug_read(&m, p->S.diag),
                      .val = plug_read(&m, p->S.val),
                      .m = all->m,
                      .shift = (lk_real)shift}};
  const krylov_system A = {
      .multiply = response_multiply, .precondition = response_precondition, .self = &o};
  lk_real *const r = plug_rdwr(&m, p->b), *const d = plug_write(&m, p->more);
  LOOM_TRY(m.status);
  LOOM_TRY(krylov_cg_solve(&p->cg, NULL, &A, r, d, &f, &result));
  LOOM_TRY(plug_unbind(&m));
  LOOM_TRY(host->axpby(host, p->e, 1.0, p->more, 1.0, p->lambda));
  out->iters += result.iters;
  return response_tell(p, all->m, out);
}

loom_status response_count_crowds(response *p, const impacts *all)
{
  LOOM_TRY(p->host->buf_resize(p->host, p->crowd, 4 * all->m));
  plug_maps m = plug_maps_on(p->host, p->e);
  const impact_share_args a = {.ptr = plug_read(&m, p->ptr),
                               .perm = plug_read(&m, p->perm),
                               .crowd = plug_rdwr(&m, p->crowd)};
  return plug_launch(&m, &k_crowd, &a, p->touched, NULL);
}

loom_status response_alone(response *p, const impacts *all, response_report *out)
{
  LOOM_TRY(response_count_crowds(p, all));
  plug_maps m = plug_maps_on(p->host, p->e);
  const impact_share_args a = {.crowd = plug_rdwr(&m, p->crowd),
                               .v = plug_read(&m, all->v),
                               .diag = plug_read(&m, p->S.diag),
                               .val = plug_read(&m, p->S.val),
                               .r = plug_read(&m, p->b),
                               .lambda = plug_rdwr(&m, p->lambda)};
  LOOM_TRY(plug_launch(&m, &k_alone, &a, all->m, NULL));
  ++out->iters;
  return response_tell(p, all->m, out);
}

/* ---- velocities, as positions at the end of the step ---- */

loom_status response_apply(response *p, const impacts *all, loom_buf *x_before, loom_buf *x,
                           loom_buf *mask)
{
  plug_maps m = plug_maps_on(p->host, p->e);
  const impact_apply_args a = {.ptr = plug_read(&m, p->ptr),
                               .vert = plug_read(&m, p->vert),
                               .perm = plug_read(&m, p->perm),
                               .w = plug_read(&m, all->w),
                               .n = plug_read(&m, all->n),
                               .mass = plug_read(&m, p->sc->mass),
                               .lambda = plug_read(&m, p->lambda),
                               .x_before = plug_read(&m, x_before),
                               .x = plug_rdwr(&m, x),
                               .mask = plug_rdwr(&m, mask)};
  return plug_launch(&m, &k_apply, &a, p->touched, NULL);
}
