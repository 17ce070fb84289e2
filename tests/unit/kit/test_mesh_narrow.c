/* test_mesh_narrow.c - lists of candidates in chunks, kit/mesh_query. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "kit/mesh_query.h"
#include "support/mesh_case.h"

typedef struct lister {
  mesh *m;
  int64_t most; /* names asked for at once */
} lister;

/* Names go round all vertex-triangle pairs of the scene. */
static uint64_t scene_pair_name(const mesh_view *v, int64_t i)
{
  const int64_t p = i / v->num_tris % v->num_verts;
  return (uint64_t)p << 32 | (uint64_t)(i % v->num_tris);
}

static loom_status list_scene_pairs(void *self, const mesh_view *v, int family, int64_t first,
                                    int64_t end, int64_t base, loom_buf *place, loom_buf *name)
{
  lister *const l = self;
  const loom_host *const host = l->m->host;
  void *p, *q;
  cr_assert_eq(family, MESH_VT);
  LOOM_TRY(host->map(host, l->m->e, place, LOOM_READ, LOOM_AT_HOST, &p));
  LOOM_TRY(host->map(host, l->m->e, name, LOOM_RDWR, LOOM_AT_HOST, &q));
  const int64_t *const at = p;
  cr_assert_eq(at[first], base);
  cr_assert(at[end] - base <= host->buf_count(host, name), "%lld names",
            (long long)(at[end] - base));
  for (int64_t i = base; i < at[end]; ++i) ((uint64_t *)q)[i - base] = scene_pair_name(v, i);
  if (at[end] - base > l->most) l->most = at[end] - base;
  LOOM_TRY(host->unmap(host, name));
  return host->unmap(host, place);
}

/* Everything within reach is kept, in the order of the list, however groups fall into chunks. */
static void check_chunked_list(const int64_t *size, int num)
{
  mc_host h;
  mesh m = {0};
  mesh_view v;
  mesh_case c = {.seed = 1};
  (void)mc_add_sheet(&c, &(mc_object){.radius = 0}, 9, 9, 1.0, 1.0, 0.0);
  mc_open(&h, &c, 2, 1);
  const mesh_params set = {.method = CCD_ADDITIVE, .keep = 0.1, .max_steps = 8};
  cr_assert_eq(mesh_create(&m, &h.t.host, &h.t.scene, &h.t.exec, &set), LOOM_OK);
  const int64_t room = m.room;
  int64_t *const place = calloc((size_t)num + 1, sizeof *place), listed = 0;
  for (int i = 0; i < num; ++i) place[i + 1] = place[i] + size[i];
  loom_buf *const at = th_buf(&h.t, LOOM_I64, num + 1, place);
  const mesh_motion motion = {.x0 = h.b0};
  cr_assert_eq(mesh_open(&m, &h.t.step, &motion, &v), LOOM_OK);
  const mesh_wanted w = {.kinds = MESH_KINDS, .reach = (lk_real)0.2};
  lister l = {.m = &m};
  cr_assert_eq(mesh_collect(&m, &v, &w, MESH_VT, at, num, list_scene_pairs, &l, &listed), LOOM_OK,
               "%s", h.t.err.text);
  cr_expect_eq(listed, place[num]);
  cr_expect(l.most <= room || m.room >= l.most, "%lld names in %lld", (long long)l.most,
            (long long)m.room);
  uint64_t *const kept = th_get(&h.t, m.kept);
  int64_t n = 0;
  for (int64_t i = 0; i < listed; ++i) {
    int32_t id[4];
    double x[12], weights[4];
    const uint64_t name = scene_pair_name(&v, i);
    id[0] = (int32_t)(name >> 32);
    for (int k = 0; k < 3; ++k) id[1 + k] = c.cloth.tris[3 * (name & UINT32_MAX) + (uint64_t)k];
    mc_verts(&c, id, 0.0, x);
    if (sqrt(dist_vt(x, weights)) >= 0.2) continue;
    cr_assert(n < m.num_kept && kept[n] == name, "candidate %lld", (long long)i);
    ++n;
  }
  cr_expect_eq(n, m.num_kept);
  cr_assert_eq(mesh_close(&m), LOOM_OK);
  free(kept), free(place);
  mc_close(&h);
  mc_free(&c);
}

Test(mesh_narrow, groups_of_any_size_go_through)
{
  static const int64_t even[] = {700, 700, 700, 700, 700, 700, 700};
  static const int64_t odd[] = {0, 0, 2048, 0, 1, 2047, 1, 0};
  static const int64_t large[] = {5, 9000, 0, 3, 20000, 1};
  static const int64_t none[] = {0, 0};
  check_chunked_list(even, 7);
  check_chunked_list(odd, 8);
  check_chunked_list(large, 6); /* more than a chunk */
  check_chunked_list(none, 2);
  check_chunked_list(none, 0);
}
