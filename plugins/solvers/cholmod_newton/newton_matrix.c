/* newton_matrix.c - see newton_matrix.h.
 *
 * Contact changes the pattern in most iterations.  Ordering it anew each time would cost about
 * as much as a factorisation, the pattern of the factor a twentieth of it.  So the order is kept
 * while it serves, which is measured by what counts, the work of the factorisation.
 *
 * The pattern is that of the blocks that are not zero.  Blocks that the core's matrix carries on
 * from earlier contact are left out: what is factorised depends on H and on the order alone, and
 * the order goes into checkpoints. */
#include "newton_matrix.h"

#include <stdlib.h>
#include <string.h>

/* The order is made anew when the work leaves this range about what it was made for: new
 * contact brings fill in wrong places, contact that went leaves detours. */
static const double work_most = 1.3, work_least = 0.5;

loom_status newton_matrix_open(newton_matrix *m, const loom_host *h, const loom_scene *sc,
                               const loom_exec *e, int ordering)
{
  *m = (newton_matrix){.h = h, .sc = sc, .e = e, .ordering = ordering};
  LOOM_TRY(mf_open(&m->f, h, sc->num_verts));
  m->ptr = malloc(((size_t)sc->num_verts + 1) * sizeof *m->ptr);
  LOOM_CHECK(h, m->ptr != NULL, LOOM_E_NOMEM, "no memory for the matrix of %d vertices",
             sc->num_verts);
  LOOM_TRY(h->buf_new(h, "order", LOOM_I32, 0, &m->saved_order));
  return h->buf_new(h, "order's work", LOOM_U64, 1, &m->saved_flops);
}

void newton_matrix_close(newton_matrix *m)
{
  if (m->h == NULL) return;
  mf_close(&m->f);
  free(m->ptr);
  free(m->col);
  free(m->from);
  m->h->buf_free(m->h, m->saved_order);
  m->h->buf_free(m->h, m->saved_flops);
}

void newton_matrix_forget(newton_matrix *m) { m->ordered = m->shaped = 0; }

/* ---- checkpoint ------------------------------------------------------------------------------ */

static loom_status save(newton_matrix *m)
{
  const loom_host *const h = m->h;
  void *p;
  LOOM_TRY(h->buf_resize(h, m->saved_order, m->ordered ? m->f.n : 0));
  LOOM_TRY(h->map(h, m->e, m->saved_order, LOOM_WRITE, LOOM_AT_HOST, &p));
  if (m->ordered) memcpy(p, m->f.order, (size_t)m->f.n * sizeof *m->f.order);
  LOOM_TRY(h->unmap(h, m->saved_order));
  LOOM_TRY(h->map(h, m->e, m->saved_flops, LOOM_WRITE, LOOM_AT_HOST, &p));
  memcpy(p, &m->order_flops, sizeof m->order_flops);
  return h->unmap(h, m->saved_flops);
}

static loom_status load(newton_matrix *m)
{
  const loom_host *const h = m->h;
  const int32_t n = m->f.n;
  void *p;
  newton_matrix_forget(m);
  LOOM_TRY(h->map(h, m->e, m->saved_flops, LOOM_READ, LOOM_AT_HOST, &p));
  memcpy(&m->order_flops, p, sizeof m->order_flops);
  LOOM_TRY(h->unmap(h, m->saved_flops));
  const int64_t count = h->buf_count(h, m->saved_order);
  if (count == 0) return LOOM_OK;
  LOOM_TRY(h->map(h, m->e, m->saved_order, LOOM_READ, LOOM_AT_HOST, &p));
  const int32_t *const order = p;
  int32_t *const seen = calloc((size_t)n + 1, sizeof *seen), bad = count != n || seen == NULL;
  for (int32_t k = 0; k < n && !bad; ++k) {
    bad = order[k] < 0 || order[k] >= n || seen[order[k]]++ != 0;
    m->f.order[k] = order[k];
  }
  free(seen);
  LOOM_CHECK(h, !bad, LOOM_E_IO, "checkpoint: the order of elimination is no permutation of %d", n);
  m->ordered = 1;
  return h->unmap(h, m->saved_order);
}

loom_status newton_matrix_checkpoint(newton_matrix *m, int restore)
{
  const loom_host *const h = m->h;
  if (!restore) LOOM_TRY(save(m));
  LOOM_TRY(h->state_io(h, restore, "order", m->saved_order));
  LOOM_TRY(h->state_io(h, restore, "order_work", m->saved_flops));
  return restore ? load(m) : LOOM_OK;
}

/* ---- pattern --------------------------------------------------------------------------------- */

static int is_zero(const loom_real *b)
{
  for (int c = 0; c < 9; ++c)
    if (b[c] != (loom_real)0.0) return 0;
  return 1;
}

static loom_status reserve(newton_matrix *m, int64_t blocks)
{
  if (blocks <= m->cap) return LOOM_OK;
  free(m->col);
  free(m->from);
  m->cap = blocks + blocks / 8;
  m->col = malloc((size_t)m->cap * sizeof *m->col);
  m->from = malloc(((size_t)m->cap + (size_t)m->f.n) * sizeof *m->from);
  LOOM_CHECK(m->h, m->col != NULL && m->from != NULL, LOOM_E_NOMEM,
             "no memory for the pattern of %lld blocks", (long long)blocks);
  return LOOM_OK;
}

/* Blocks of H left of the diagonal that are not zero, and where all of them stand. */
static void collect(newton_matrix *m, const int64_t *ptr, const int32_t *col, const loom_real *val)
{
  const int32_t n = m->f.n;
  int64_t num = 0;
  for (int32_t i = 0; i < n; ++i) {
    int64_t k = ptr[i];
    m->ptr[i] = num;
    for (; col[k] < i; ++k) {
      if (is_zero(val + 9 * k)) continue;
      m->col[num] = col[k];
      m->from[num++] = k;
    }
    m->from[m->cap + i] = k;
  }
  m->ptr[n] = num;
}

static loom_status analyse(newton_matrix *m)
{
  mf *const f = &m->f;
  if (m->ordered) {
    LOOM_TRY(mf_analyse(f));
    if (f->flops <= work_most * m->order_flops && f->flops >= work_least * m->order_flops)
      return LOOM_OK;
  }
  LOOM_TRY(mf_order(f, m->ordering));
  LOOM_TRY(mf_analyse(f));
  m->ordered = 1;
  m->order_flops = f->flops;
  return LOOM_OK;
}

loom_status newton_matrix_shape(newton_matrix *m, const loom_bsr3 *H)
{
  const loom_host *const h = m->h;
  const size_t n = (size_t)m->f.n;
  void *p, *c, *v;
  LOOM_TRY(reserve(m, (H->num_blocks - H->num_rows) / 2)); /* its pattern is symmetric */
  LOOM_TRY(h->map(h, m->e, H->row_ptr, LOOM_READ, LOOM_AT_HOST, &p));
  LOOM_TRY(h->map(h, m->e, H->col, LOOM_READ, LOOM_AT_HOST, &c));
  LOOM_TRY(h->map(h, m->e, H->val, LOOM_READ, LOOM_AT_HOST, &v));
  collect(m, p, c, v);
  LOOM_TRY(h->unmap(h, H->val));
  LOOM_TRY(h->unmap(h, H->col));
  LOOM_TRY(h->unmap(h, H->row_ptr));
  const size_t blocks = (size_t)m->ptr[n];
  if (m->shaped && memcmp(m->f.ptr, m->ptr, (n + 1) * sizeof *m->ptr) == 0 &&
      memcmp(m->f.col, m->col, blocks * sizeof *m->col) == 0)
    return LOOM_OK;
  m->shaped = 0;
  h->tic(h, "analyse");
  LOOM_TRY(mf_reserve(&m->f, (int64_t)blocks));
  memcpy(m->f.ptr, m->ptr, (n + 1) * sizeof *m->ptr);
  if (blocks > 0) memcpy(m->f.col, m->col, blocks * sizeof *m->col);
  LOOM_TRY(analyse(m));
  h->toc(h, "analyse");
  m->shaped = 1;
  return LOOM_OK;
}

/* ---- values ---------------------------------------------------------------------------------- */

static void put(newton_matrix *m, int64_t k, const loom_real *b, double more)
{
  double B[9];
  for (int c = 0; c < 9; ++c) B[c] = (double)b[c];
  for (int c = 0; c < 9; c += 4) B[c] += more;
  mf_put(&m->f, k, B);
}

loom_status newton_matrix_factor(newton_matrix *m, const loom_bsr3 *H, double shift, int32_t *pivot)
{
  const loom_host *const h = m->h;
  const int64_t blocks = m->ptr[m->f.n];
  void *v_, *m_;
  LOOM_TRY(h->map(h, m->e, H->val, LOOM_READ, LOOM_AT_HOST, &v_));
  LOOM_TRY(h->map(h, m->e, m->sc->mass, LOOM_READ, LOOM_AT_HOST, &m_));
  const loom_real *const val = v_, *const mass = m_;
  mf_clear(&m->f);
  for (int64_t k = 0; k < blocks; ++k) put(m, k, val + 9 * m->from[k], 0.0);
  /* rows of fixed vertices are unit; a shift there changes nothing */
  for (int32_t i = 0; i < m->f.n; ++i)
    put(m, blocks + i, val + 9 * m->from[m->cap + i], shift * (double)mass[i]);
  LOOM_TRY(h->unmap(h, m->sc->mass));
  LOOM_TRY(h->unmap(h, H->val));
  return mf_factor(&m->f, pivot);
}
