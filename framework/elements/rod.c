/* rod.c - moves the frames of a scene's yarns on after a step. */
#include <stdlib.h>
#include <string.h>

#include "elements/rod.h"
#include "elements/rod.kern.h"

static const lk_entry k_frames = LK_ENTRY_NEAR_MOVES(rod_frames, 4, 49, 3),
                      k_theta = LK_ENTRY_NEAR_MOVES(rod_theta, 4, 0, 0);
static const lk_entry k_plastic = LK_ENTRY_NEAR_MOVES(rod_plastic, 4, 1, 0);
static const lk_entry k_scale = LK_ENTRY_MOVES(rod_scale, 4, 0);

/* Newton's method on theta: 1 to 4 iterations from the last step's (numerics 1.1). */
enum { MAX_ITERS = 20 };
static const double theta_tolerance = sizeof(loom_real) == 4 ? 1e-5 : 1e-11; /* rad */

typedef struct rods {
  mem *m;
  const loom_exec *e;
  const loom_scene *sc;
  const loom_elem_block *bend, *twist; /* twist may be NULL */
  const rod_clamps *clamps;            /* NULL: no twist is imposed */
  loom_buf *first;                     /* i32 [ny + 1], elements of each yarn */
  loom_buf *flat;                      /* real [ne][4] */
  loom_buf *work;                      /* real [ROD_WORK][ne + ny] */
  loom_buf *length;                    /* real [ne][2], m, rest lengths of the scene */
} rods;

static loom_status count_yarn_elements(rods *r)
{
  const int32_t ny = r->sc->num_yarns;
  int32_t *first, *vert;
  unsigned char *closed;
  LOOM_TRY(buf_map(r->m, NULL, r->first, LOOM_WRITE, LOOM_AT_HOST, (void **)&first));
  LOOM_TRY(buf_map(r->m, NULL, r->sc->yarn_vert, LOOM_READ, LOOM_AT_HOST, (void **)&vert));
  LOOM_TRY(buf_map(r->m, NULL, r->sc->yarn_closed, LOOM_READ, LOOM_AT_HOST, (void **)&closed));
  first[0] = 0;
  for (int32_t k = 0; k < ny; ++k) {
    const int32_t n = vert[k + 1] - vert[k];
    first[k + 1] = first[k] + (closed[k] ? n : n > 2 ? n - 2 : 0);
  }
  const int32_t num = first[ny];
  LOOM_TRY(buf_unmap(r->m, r->sc->yarn_closed));
  LOOM_TRY(buf_unmap(r->m, r->sc->yarn_vert));
  LOOM_TRY(buf_unmap(r->m, r->first));
  if (num == r->bend->num_elems) return LOOM_OK;
  return err_set(mem_err(r->m), LOOM_E_ARG,
                 "elements yarn_bend: %d of them, but the inner vertices of all yarns are %d",
                 r->bend->num_elems, num);
}

static loom_status keep_lengths(rods *r)
{
  buf_maps q = {.m = r->m};
  const loom_real *const rest = buf_maps_add(&q, r->bend->rest, LOOM_READ);
  loom_real *const length = buf_maps_add(&q, r->length, LOOM_WRITE);
  const int64_t ne = q.status == LOOM_OK ? r->bend->num_elems : 0;
  for (int64_t i = 0; i < ne; ++i)
    for (int j = 0; j < 2; ++j) length[2 * i + j] = rest[ROD_REST * i + ROD_LENGTH + j];
  return buf_maps_end(&q);
}

static loom_status create_rod_buffers(rods *r)
{
  const int64_t ny = r->sc->num_yarns, ne = r->bend->num_elems;
  LOOM_TRY(buf_new(r->m, "core", "elements of yarns", LOOM_I32, ny + 1, &r->first));
  LOOM_TRY(buf_new(r->m, "core", "curvatures of yarns", LOOM_REAL, 4 * ne, &r->flat));
  LOOM_TRY(buf_new(r->m, "core", "twist of yarns", LOOM_REAL, ROD_WORK * (ne + ny), &r->work));
  LOOM_TRY(buf_new(r->m, "core", "lengths of yarns", LOOM_REAL, 2 * ne, &r->length));
  LOOM_TRY(count_yarn_elements(r));
  return keep_lengths(r);
}

static void rods_close(void *self)
{
  rods *const r = self;
  buf_free(r->m, r->first);
  buf_free(r->m, r->flat);
  buf_free(r->m, r->work);
  buf_free(r->m, r->length);
  free(r);
}

static loom_status rods_open(loom_err *err, mem *m, const loom_exec *e, const loom_scene *sc,
                             const loom_elem_block *bend, void **self)
{
  rods *r = *self = calloc(1, sizeof *r);
  if (r == NULL) return err_set(err, LOOM_E_NOMEM, "no memory for the frames of yarns");
  *r = (rods){.m = m, .e = e, .sc = sc, .bend = bend};
  r->clamps = (const rod_clamps *)loom_scene_extension(sc, ROD_CLAMPS);
  for (int b = 0; b < sc->num_blocks; ++b)
    if (strcmp(sc->blocks[b].type, "yarn_twist") == 0) r->twist = &sc->blocks[b];
  const loom_status s = create_rod_buffers(r);
  if (s == LOOM_OK) return s;
  *err = *mem_err(m);
  rods_close(r);
  *self = NULL;
  return s;
}

static loom_status move_frames(rods *r, loom_buf *x, int yields)
{
  loom_err *const err = mem_err(r->m);
  const int32_t ny = r->sc->num_yarns, ne = r->bend->num_elems;
  buf_maps q = {.m = r->m, .e = r->e};
  rod_args a = {.stride = ne + ny, .max_iters = MAX_ITERS, .tolerance = (lk_real)theta_tolerance};
  a.x = buf_maps_add(&q, x, LOOM_READ);
  a.verts = buf_maps_add(&q, r->bend->verts, LOOM_READ);
  a.rest = buf_maps_add(&q, r->bend->rest, LOOM_RDWR);
  a.bend = buf_maps_add(&q, r->bend->mat, LOOM_READ);
  if (r->twist != NULL) a.twist = buf_maps_add(&q, r->twist->mat, LOOM_READ);
  a.flat = buf_maps_add(&q, r->flat, LOOM_WRITE);
  a.first = buf_maps_add(&q, r->first, LOOM_READ);
  a.closed = buf_maps_add(&q, r->sc->yarn_closed, LOOM_READ);
  a.work = buf_maps_add(&q, r->work, LOOM_WRITE);
  if (r->clamps != NULL) {
    a.held = buf_maps_add(&q, r->clamps->held, LOOM_READ);
    a.turn = buf_maps_add(&q, r->clamps->turn, LOOM_READ);
    a.slip = buf_maps_add(&q, r->clamps->slip, LOOM_READ);
  }
  if (q.status == LOOM_OK) q.status = exec_run(err, r->e, &k_frames, &a, ne, NULL);
  lk_moved(r->e, ne, LK_MOVES(158, 0)); /* a joint of a yarn, with the usual number of iterations */
  if (q.status == LOOM_OK) q.status = exec_run(err, r->e, &k_theta, &a, ny, NULL);
  if (q.status == LOOM_OK && yields) q.status = exec_run(err, r->e, &k_plastic, &a, ne, NULL);
  return buf_maps_end(&q);
}

static loom_status rods_commit(void *self, loom_buf *x) { return move_frames(self, x, 1); }

loom_status rod_turn_start(loom_err *err, mem *m, const loom_scene *sc, loom_buf *x)
{
  const loom_exec e = {.struct_size = sizeof e, .backend = LOOM_CPU, .num_threads = 1};
  void *self = NULL;
  int b = 0;
  while (b < sc->num_blocks && strcmp(sc->blocks[b].type, "yarn_bend") != 0) ++b;
  if (b == sc->num_blocks) return LOOM_OK;
  LOOM_TRY(rods_open(err, m, &e, sc, &sc->blocks[b], &self));
  const loom_status s = move_frames(self, x, 0);
  if (s != LOOM_OK) *err = *mem_err(m);
  rods_close(self);
  return s;
}

static loom_status rods_scale(void *self, double factor)
{
  rods *const r = self;
  buf_maps q = {.m = r->m, .e = r->e};
  const rod_scale_args a = {.rest = buf_maps_add(&q, r->bend->rest, LOOM_RDWR),
                            .length = buf_maps_add(&q, r->length, LOOM_READ),
                            .factor = (lk_real)factor};
  return buf_maps_launch(&q, &k_scale, &a, r->bend->num_elems, NULL);
}

const elem_state rod_state = {.name = "frames",
                              .open = rods_open,
                              .close = rods_close,
                              .commit = rods_commit,
                              .scale = rods_scale};
