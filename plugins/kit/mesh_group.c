/* mesh_group.c - vertices of a collision plugin's mesh that one affine map moves. */
#include <string.h>

#include "kit/mesh_query.h"
#include "loom/followers.h"

typedef struct follower_rows { /* of loom_followers, on the host */
  const int32_t *id, *first, *node;
} follower_rows;

static int same_nodes(const follower_rows *f, int32_t k, int32_t l)
{
  const int32_t num = f->first[k + 1] - f->first[k];
  return num == f->first[l + 1] - f->first[l] &&
         memcmp(f->node + f->first[k], f->node + f->first[l], (size_t)num * sizeof *f->node) == 0;
}

/* The followers of a body stand one after the other, so each run of equal nodes is a group. */
static void number_groups(const follower_rows *f, int32_t count, int32_t *group)
{
  int32_t now = 0;
  for (int32_t k = 0; k < count; ++k) {
    if (k == 0 || !same_nodes(f, k - 1, k)) ++now;
    group[f->id[k]] = now <= MESH_MAX_GROUP ? now : 0;
  }
}

loom_status mesh_group_followers(mesh *m)
{
  const loom_host *const host = m->host;
  const loom_followers *const f = loom_scene_followers(m->sc);
  void *group;
  if (f == NULL) return LOOM_OK;
  LOOM_TRY(host->buf_new(host, "groups", LOOM_I32, m->num_verts, &m->group));
  plug_maps maps = plug_maps_on(host, m->e);
  const follower_rows rows = {.id = plug_read_host(&maps, f->id),
                              .first = plug_read_host(&maps, f->first),
                              .node = plug_read_host(&maps, f->node)};
  group = plug_write_host(&maps, m->group);
  LOOM_TRY(maps.status);
  memset(group, 0, (size_t)m->num_verts * sizeof(int32_t));
  number_groups(&rows, f->count, group);
  return plug_unbind(&maps);
}
