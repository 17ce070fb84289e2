/* krylov_bsr3.c - see krylov_bsr3.h. */
#include "kit/krylov_bsr3.h"

#include "kit/control_points.h"

static const lk_entry k_invert = LK_ENTRY_MOVES(krylov_bsr3_invert, 15, 4);
static const lk_entry k_invert_bodies = LK_ENTRY_MOVES(krylov_bsr3_invert_bodies, 288, 4);
static const lk_entry k_multiply = LK_ENTRY_MOVES(krylov_bsr3_multiply, 6, 4);
/* of one number, whose row's ends three threads read at once */
static const lk_entry k_multiply_number = LK_ENTRY_MOVES(krylov_bsr3_multiply, 2, 1);
static const lk_entry k_precondition = LK_ENTRY_MOVES(krylov_bsr3_precondition, 12, 0);

loom_status krylov_bsr3_new(krylov_bsr3 *b, const loom_host *host, const loom_exec *e, int32_t n)
{
  b->host = host;
  b->e = e;
  b->n = n;
  return host->buf_new(host, "preconditioner", LOOM_REAL, 6 * (int64_t)n, &b->inv);
}

static loom_status store_bodies(krylov_bsr3 *b, const control_points *c)
{
  const plug_buf bufs[] = {
      {"control points", LOOM_I32, b->n, &b->slot},
      {"corners of bodies", LOOM_I32, 4 * (int64_t)c->num, &b->vert},
      {"preconditioner of bodies", LOOM_REAL, 144 * (int64_t)c->num, &b->body_inv}};
  LOOM_TRY(plug_bufs_new(b->host, bufs, sizeof bufs / sizeof *bufs));
  plug_maps m = plug_maps_on(b->host, b->e);
  int32_t *const slot = plug_write_host(&m, b->slot), *const vert = plug_write_host(&m, b->vert);
  LOOM_TRY(m.status);
  for (int32_t i = 0; i < b->n; ++i) slot[i] = -1;
  for (int32_t k = 0; k < 4 * c->num; ++k) {
    vert[k] = c->body[k / 4].vert[k % 4];
    slot[vert[k]] = k;
  }
  b->num_bodies = c->num;
  return plug_unbind(&m);
}

loom_status krylov_bsr3_bodies(krylov_bsr3 *b, const loom_scene *sc)
{
  control_points c;
  loom_status s = control_points_find(&c, b->host, sc, b->e);
  if (s == LOOM_OK && c.num > 0) s = store_bodies(b, &c);
  control_points_free(&c);
  return s;
}

static loom_status invert_bodies(krylov_bsr3 *b)
{
  plug_maps inverse = plug_maps_on(b->host, b->e);
  if (b->num_bodies == 0 || b->kind != KRYLOV_BLOCK_JACOBI) return LOOM_OK;
  b->a.slot = plug_read(&b->m, b->slot);
  b->a.vert = plug_read(&b->m, b->vert);
  LOOM_TRY(b->m.status);
  const krylov_bsr3_bodies_args a = {.row_ptr = b->a.row_ptr,
                                     .col = b->a.col,
                                     .val = b->a.val,
                                     .vert = b->a.vert,
                                     .inv = plug_write(&inverse, b->body_inv)};
  LOOM_TRY(plug_launch(&inverse, &k_invert_bodies, &a, b->num_bodies, NULL));
  b->a.body_inv = plug_read(&b->m, b->body_inv);
  return b->m.status;
}

static loom_status run_bsr3_kernel(krylov_bsr3 *b, const lk_entry *k, int64_t n,
                                   const krylov_product *p)
{
  b->a.x = p->x;
  b->a.y = p->y;
  b->a.stop = p->stop;
  return plug_run(b->host, b->e, k, &b->a, n, p->dot);
}
static loom_status bsr3_system_multiply(void *self, const krylov_product *p)
{
  krylov_bsr3 *const b = self;
  lk_moved(b->e, b->num_blocks, LK_MOVES(12, 1));
  b->a.split = b->e->backend != LOOM_CPU;
  if (b->a.split) return run_bsr3_kernel(b, &k_multiply_number, 3 * (int64_t)b->n, p);
  return run_bsr3_kernel(b, &k_multiply, b->n, p);
}
static loom_status bsr3_system_precondition(void *self, const krylov_product *p)
{
  krylov_bsr3 *const b = self;
  return run_bsr3_kernel(b, &k_precondition, b->n, p);
}

loom_status krylov_bsr3_open(krylov_bsr3 *b, const loom_bsr3 *matrix, krylov_system *A)
{
  plug_maps inverse = plug_maps_on(b->host, b->e);
  b->m = plug_maps_on(b->host, b->e);
  b->a = (krylov_bsr3_args){.row_ptr = plug_read(&b->m, matrix->row_ptr),
                            .col = plug_read(&b->m, matrix->col),
                            .val = plug_read(&b->m, matrix->val)};
  b->num_blocks = matrix->num_blocks;
  LOOM_TRY(b->m.status);
  const krylov_bsr3_invert_args a = {.row_ptr = b->a.row_ptr,
                                     .col = b->a.col,
                                     .val = b->a.val,
                                     .inv = plug_write(&inverse, b->inv),
                                     .kind = b->kind};
  LOOM_TRY(plug_launch(&inverse, &k_invert, &a, b->n, NULL));
  b->a.inv = plug_read(&b->m, b->inv);
  LOOM_TRY(invert_bodies(b));
  *A = (krylov_system){
      .multiply = bsr3_system_multiply, .precondition = bsr3_system_precondition, .self = b};
  return b->m.status;
}

loom_status krylov_bsr3_close(krylov_bsr3 *b) { return plug_unbind(&b->m); }
