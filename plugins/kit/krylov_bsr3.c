/* krylov_bsr3.c - see krylov_bsr3.h. */
#include "kit/krylov_bsr3.h"

static const lk_entry k_invert = LK_ENTRY_MOVES(krylov_bsr3_invert, 15, 4);
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
  *A = (krylov_system){
      .multiply = bsr3_system_multiply, .precondition = bsr3_system_precondition, .self = b};
  return b->m.status;
}

loom_status krylov_bsr3_close(krylov_bsr3 *b) { return plug_unbind(&b->m); }
