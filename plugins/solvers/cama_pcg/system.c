/* system.c - see system.h.
 *
 * One buffer holds the Hessians of some elements at a time, and each row of the matrix gathers its
 * own blocks from it.
 */
#include "system.h"

#include "cama_pcg.kern.h"

enum { CACHED = 2048, LEAST_PART = 4096 };

static const lk_entry k_rows = LK_ENTRY_MOVES(cama_rows, 14, 23),
                      k_differ = LK_ENTRY_MOVES(cama_differ, 0, 4);

/* Number of elements with Hessians in the buffer at once: on the processor as many as stay in a
 * cache until rows have gathered them, 2.4 MB of hinges; on a device an eighth of a block.  It does
 * not depend on the number of threads, because launches are counted. */
static int32_t choose_chunk_size(const cama_system *s, const loom_elem_block *b)
{
  const int32_t eighth = b->num_elems / 8 + 1;
  if (s->e->backend == LOOM_CPU) return CACHED;
  return eighth > LEAST_PART ? eighth : LEAST_PART;
}

static int is_sorted(const cama_system *s) { return s->assembly >= ASSEMBLY_TRIPLETS; }

/* Room for the Hessians of `count` elements of any block. */
static loom_status reserve_hessians(cama_system *s, const loom_elem_block *b, int64_t count)
{
  const int64_t need = 9 * count * b->arity * b->arity;
  return need > s->host->buf_count(s->host, s->K) ? s->host->buf_resize(s->host, s->K, need)
                                                  : LOOM_OK;
}

/* Elements never change: their pattern is made once, and where they have their places in it. */
static loom_status place_elements(cama_system *s)
{
  const int num = s->sc->num_blocks;
  for (int k = 0; k < num; ++k) {
    const loom_elem_block *const b = &s->sc->blocks[k];
    s->kinds[k] = (bcsr_kind){.count = b->num_elems, .arity = b->arity, .node = b->verts};
    s->kinds[k].dense = 1;
  }
  if (is_sorted(s)) return LOOM_OK;
  LOOM_TRY(bcsr_base(&s->A, s->sc->num_verts, s->kinds, num));
  for (int k = 0; k < num; ++k) {
    const loom_elem_block *const b = &s->sc->blocks[k];
    const int32_t part = choose_chunk_size(s, b);
    LOOM_TRY(reserve_hessians(s, b, part < b->num_elems ? part : b->num_elems));
    if (s->assembly == ASSEMBLY_STAGED)
      LOOM_TRY(bcsr_steady_new(&s->steady[k], &s->A, &s->kinds[k], part));
  }
  s->A.pattern_id = 0; /* there is none with contact */
  return LOOM_OK;
}

loom_status system_new(cama_system *s, const loom_host *host, const loom_exec *e,
                       const loom_scene *sc, int assembly)
{
  const int num = sc->num_blocks;
  *s = (cama_system){.host = host, .e = e, .sc = sc, .assembly = assembly};
  s->kinds = calloc((size_t)num + 1, sizeof *s->kinds);
  s->steady = calloc((size_t)num + 1, sizeof *s->steady);
  LOOM_CHECK(host, s->kinds != NULL && s->steady != NULL, LOOM_E_NOMEM,
             "no memory for %d kinds of elements", num);
  LOOM_CHECK(
      host, assembly != ASSEMBLY_SERIAL || e->backend == LOOM_CPU, LOOM_E_UNSUPPORTED,
      "assembly = serial adds on one thread of the processor, and the matrix is on a device; "
      "set [exec] backend = cpu, or assembly = staged");
  LOOM_CHECK(
      host,
      assembly != ASSEMBLY_ATOMICS || !e->deterministic ||
          (e->backend == LOOM_CPU && e->num_threads == 1),
      LOOM_E_CONFIG,
      "assembly = atomics gives other bits in every run, and [exec] deterministic asks for the "
      "same; set deterministic = no, or assembly = staged");
  LOOM_TRY(bcsr_new(&s->A, host, e, 3));
  const plug_buf all[] = {{"element Hessians", LOOM_REAL, 0, &s->K},
                          {"contact rows", LOOM_I32, 0, &s->row},
                          {"contact columns", LOOM_I32, 0, &s->col},
                          {"differ", LOOM_REAL, 1, &s->differ}};
  LOOM_TRY(plug_bufs_new(host, all, LOOM_COUNT(all)));
  s->A.n = sc->num_verts;
  if (is_sorted(s)) LOOM_TRY(triplets_new(&s->all, &s->A, assembly == ASSEMBLY_ENTRIES));
  return place_elements(s);
}

void system_free(cama_system *s)
{
  for (int k = 0; s->steady != NULL && k < s->sc->num_blocks; ++k) bcsr_steady_free(&s->steady[k]);
  free(s->steady);
  free(s->kinds);
}

/* *same = 1: contact has the blocks that the pattern was made with. */
static loom_status same_contact(cama_system *s, const loom_blocks3 *contact, int *same)
{
  double differ;
  *same = s->A.pattern_id > 0 && contact->count == s->host->buf_count(s->host, s->row);
  if (!*same || contact->count == 0) return LOOM_OK;
  plug_maps m = plug_maps_on(s->host, s->e);
  const cama_differ_args a = {.row0 = plug_read(&m, s->row),
                              .row1 = plug_read(&m, contact->row),
                              .col0 = plug_read(&m, s->col),
                              .col1 = plug_read(&m, contact->col)};
  LOOM_TRY(plug_reduce(&m, &k_differ, &a, contact->count, s->differ, &differ));
  *same = differ <= 0.0;
  return LOOM_OK;
}

/* Contact as single blocks that name their row and column. */
static void take_contact(cama_system *s, const loom_blocks3 *contact)
{
  bcsr_kind *const k = &s->kinds[s->sc->num_blocks];
  k->count = contact->count;
  k->arity = 1;
  k->node = contact->row;
  k->to = contact->col;
  k->K = contact->val;
}

static loom_status make_pattern(cama_system *s, const loom_blocks3 *contact)
{
  const loom_host *const host = s->host;
  const int num = s->sc->num_blocks;
  int same;
  LOOM_TRY(same_contact(s, contact, &same));
  if (same) return LOOM_OK;
  LOOM_TRY(host->buf_resize(host, s->row, contact->count));
  LOOM_TRY(host->buf_resize(host, s->col, contact->count));
  if (contact->count > 0) {
    LOOM_TRY(host->buf_copy(host, s->e, s->row, contact->row));
    LOOM_TRY(host->buf_copy(host, s->e, s->col, contact->col));
    LOOM_TRY(bcsr_index(&s->A, s->sc->num_verts, &s->kinds[num]));
  }
  return bcsr_pattern(&s->A, &s->kinds[num], contact->count > 0);
}

/* The Hessians of some elements of a block, in s->K. */
static loom_status evaluate_chunk_hessians(cama_system *s, const loom_step *st, int how, int block,
                                           int32_t first, int32_t count)
{
  LOOM_TRY(reserve_hessians(s, &s->sc->blocks[block], count));
  s->kinds[block].K = s->K;
  s->host->tic(s->host, "elements");
  LOOM_TRY(s->host->elem_hessians(s->host, block, first, count, st->x, how, s->K));
  s->host->toc(s->host, "elements");
  return LOOM_OK;
}

static loom_status assemble_block_hessians(cama_system *s, const loom_step *st, int how, int block)
{
  const loom_elem_block *const b = &s->sc->blocks[block];
  const bcsr_kind *const k = &s->kinds[block];
  const int32_t part = choose_chunk_size(s, b);
  for (int32_t first = 0; first < b->num_elems; first += part) {
    const int32_t left = b->num_elems - first, count = left < part ? left : part;
    LOOM_TRY(evaluate_chunk_hessians(s, st, how, block, first, count));
    if (s->assembly == ASSEMBLY_ATOMICS)
      LOOM_TRY(bcsr_scatter_part(&s->A, k, first, count));
    else if (s->assembly == ASSEMBLY_SERIAL)
      LOOM_TRY(bcsr_serial_part(&s->A, k, first, count));
    else
      LOOM_TRY(bcsr_steady_add(&s->A, &s->steady[block], s->K, first / part));
  }
  return LOOM_OK;
}

/* The pattern, then elements and contact. */
static loom_status in_stages(cama_system *s, const loom_step *st, int how,
                             const loom_blocks3 *contact)
{
  const int num = s->sc->num_blocks;
  s->host->tic(s->host, "pattern");
  LOOM_TRY(make_pattern(s, contact));
  s->host->toc(s->host, "pattern");
  LOOM_TRY(bcsr_clear(&s->A));
  for (int k = 0; k < num; ++k) LOOM_TRY(assemble_block_hessians(s, st, how, k));
  return contact->count > 0 ? bcsr_add_kind(&s->A, &s->kinds[num]) : LOOM_OK;
}

static loom_status by_sorting(cama_system *s, const loom_step *st, int how)
{
  const int num = s->sc->num_blocks;
  int64_t slots = s->kinds[num].count, first = 0;
  for (int k = 0; k < num; ++k)
    slots += (int64_t)s->kinds[k].arity * s->kinds[k].arity * s->kinds[k].count;
  LOOM_TRY(triplets_begin(&s->all, &s->A, slots));
  for (int k = 0; k < num; ++k) {
    LOOM_TRY(evaluate_chunk_hessians(s, st, how, k, 0, s->sc->blocks[k].num_elems));
    LOOM_TRY(triplets_add(&s->all, &s->A, &s->kinds[k], &first));
  }
  if (s->kinds[num].count > 0) LOOM_TRY(triplets_add(&s->all, &s->A, &s->kinds[num], &first));
  return triplets_sum(&s->all, &s->A);
}

/* Adds M/h^2, and makes rows and columns of fixed vertices unit. */
static loom_status add_mass_and_fix_rows(cama_system *s, double scale)
{
  plug_maps m = plug_maps_on(s->host, s->e);
  const cama_rows_args a = {.row = plug_read(&m, s->A.row),
                            .col = plug_read(&m, s->A.col),
                            .diag = plug_read(&m, s->A.diag),
                            .mass = plug_read(&m, s->sc->mass),
                            .fixed = plug_read(&m, s->sc->fixed),
                            .val = plug_rdwr(&m, s->A.val),
                            .scale = (lk_real)scale};
  return plug_launch(&m, &k_rows, &a, s->A.n, NULL);
}

loom_status system_assemble(cama_system *s, const loom_step *st, int how)
{
  const loom_blocks3 *contact;
  LOOM_TRY(s->host->contact_hessian(s->host, st->problem, st->x, how, &contact));
  take_contact(s, contact);
  LOOM_TRY(is_sorted(s) ? by_sorting(s, st, how) : in_stages(s, st, how, contact));
  return add_mass_and_fix_rows(s, st->problem->inertia);
}
