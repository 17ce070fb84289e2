/* deforming.c - a collision plugin sees bodies that change their shape where they are, not where
 * their first frame was. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "contract/contract.h"

/* A pyramid with its tip at the height `tip` (m) under the middle of the sheet. */
static void write_pyramid(const char *dir, int frame, double tip)
{
  char path[600];
  snprintf(path, sizeof path, "%s/pyramid%d.obj", dir, frame);
  FILE *const f = fopen(path, "w");
  CT_ASSERT(f != NULL, "cannot write %s", path);
  fprintf(f,
          "v 0.03 -0.03 -0.06\nv 0.09 -0.03 -0.06\nv 0.09 0.03 -0.06\nv 0.03 0.03 -0.06\n"
          "v 0.061 0.002 %g\nf 1 3 2\nf 1 4 3\nf 1 2 5\nf 2 3 5\nf 3 4 5\nf 4 1 5\n",
          tip);
  CT_ASSERT(fclose(f) == 0, "cannot write %s", path);
}

/* The flat sheet, which the step has moved. */
static void flatten_sheet(ct_run *t)
{
  double *const x = ct_values(t->r, t->r->st.x, NULL);
  for (int64_t i = 0; i < buf_count(t->r->st.x) / 3; ++i) x[3 * i + 2] = 0;
  ct_set_values(t->r, t->r->st.x, x);
  free(x);
}

static int64_t pairs_with_mesh_bodies(ct_run *t)
{
  run *const r = t->r;
  const loom_query q = ct_query(r, LOOM_DETECT_PROXIMITY);
  loom_pairs *const p = &r->contact[0].pairs;
  int64_t num = 0;
  CT_ASSERT(detect_query(r, &r->contact[0], &q, p) == LOOM_OK, "%s", t->err.text);
  int32_t *const kind = ct_copy(r, p->kind, p->count);
  for (int64_t j = 0; j < p->count; ++j)
    num += kind[j] == LOOM_PAIR_BVT || kind[j] == LOOM_PAIR_BEE;
  free(kind);
  return num;
}

/* Pairs at the end of a step in which the tip went from -3 cm to `tip` (m). */
static int64_t pairs_with_tip_at(const ct_plugin *p, double tip)
{
  char dir[] = "/tmp/loom_contract_XXXXXX", path[600], more[1200];
  ct_run t;
  CT_ASSERT(mkdtemp(dir) != NULL, "no folder for the frames");
  write_pyramid(dir, 0, -0.03);
  write_pyramid(dir, 1, tip);
  snprintf(more, sizeof more,
           "body.block.shape=mesh body.block.motion=sequence body.block.frames=%s/pyramid%%d.obj "
           "body.block.frame_rate=1e4 body.block.sdf_resolution=0",
           dir);
  ct_open_checked(&t, p, more);
  for (int k = 0; k < 2; ++k) {
    snprintf(path, sizeof path, "%s/pyramid%d.obj", dir, k);
    CT_ASSERT(unlink(path) == 0, "cannot remove %s", path);
  }
  CT_ASSERT(rmdir(dir) == 0, "cannot remove %s", dir);
  ct_steps(&t, 0, 1);
  flatten_sheet(&t);
  const int64_t num = pairs_with_mesh_bodies(&t);
  ct_close(&t);
  return num;
}

void ct_collision_deforming(const ct_plugin *p)
{
  registry *reg = NULL;
  const loom_collision_ops *const ops = ct_load(p, &reg)->ops.collision;
  const int finds =
      (ops->pair_kinds & LOOM_BIT(LOOM_PAIR_BVT)) && (ops->provides & LOOM_COLL_PROXIMITY);
  registry_close(reg);
  if (!finds) ct_skip("%s does not find bodies that are meshes", p->name);
  const int64_t far = pairs_with_tip_at(p, -0.02), near = pairs_with_tip_at(p, -0.003);
  CT_ASSERT(far == 0, "%lld pairs with a body that is 2 cm away", (long long)far);
  CT_ASSERT(near > 0, "no pair with a body that came to 3 mm by changing its shape");
}
