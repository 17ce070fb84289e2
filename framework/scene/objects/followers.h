/* followers.h - the scene's followers (loom/followers.h), and the view that contact has of it. */
#ifndef LOOM_SCENE_FOLLOWERS_H
#define LOOM_SCENE_FOLLOWERS_H

#include "loom/followers.h"
#include "scene/base/scene_data.h"

enum { FOLLOWERS_CHUNK = 256 /* followers whose forces are summed in one piece */ };

struct scene_followers {
  loom_followers pub;
  const char *name;  /* of the first object with followers, of pub.object_names */
  loom_scene seen;   /* by collision plugins and contact models: other `fixed` and `mass` */
  loom_scene solved; /* seen by solvers: the mass of `seen`; that of the core is 0 at followers */
  loom_buf *slot;    /* i32 [num_verts], number of the follower, -1: it is none */
  loom_buf *rigid;   /* u8 [num_objects], 1: all its surface follows four nodes */
  /* Followers by node, each node's list in chunks. */
  int32_t num_nodes, num_chunks;
  loom_buf *node;        /* i32 [num_nodes], vertex ids */
  loom_buf *first_chunk; /* i32 [num_nodes + 1] */
  loom_buf *first;       /* i32 [num_chunks + 1]: members of each chunk */
  loom_buf *member;      /* i32 [.], vertex ids */
  loom_buf *weight;      /* real [.] */
  /* on the host, [num_verts], LOOM_FOLLOWER_*: */
  unsigned char *role;
};

enum { FOLLOWER_NONE = 0, FOLLOWER_FOLLOWS = 1, FOLLOWER_LEADS = 2 /* a node without a surface */ };

/* The scene as plugins of a kind (LOOM_KIND_*) see it.  Called after the scene is complete. */
const loom_scene *scene_seen_by(scene_data *s, int kind);
/* Both masks of fixed vertices, where `fixed` [num_verts] has the pins alone. */
loom_status scene_fix_followers(scene_data *s, uint8_t *fixed);
/* Name of the first object with followers, or NULL. */
const char *scene_following(const scene_data *s);
void scene_followers_free(scene_data *s);

#endif
