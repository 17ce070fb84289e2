/* loom/followers.h - vertices that others carry; an extension of the scene.
 *
 * A follower i is at x_i = sum_a w_ia x_a, the mean of at most 4 nodes a with constant weights of
 * any sign and the sum 1; no node is a follower.  The surface of an affine body follows the 4
 * control points that carry its mass.  The core sets the rows of followers in each buffer of
 * positions that it receives (host->eval(), hessian(), hess_apply(), freeze_contact(), detect(),
 * max_step()), and adds forces and blocks on followers to those of their nodes.  loom_scene.fixed
 * has two views: solvers see 1 at followers, which are no unknowns; collision plugins and contact
 * models see 0 there, and 1 at nodes that have no surface.  loom_scene.mass of a follower is
 * 1 / sum_a (w_ia^2 / m_a), which an impulse there meets; it scales weights, and no mass is in the
 * scene beside that of the nodes.
 *
 * A collision plugin may leave pairs of vertices that follow the same nodes out of detect() and
 * max_step(): one affine map moves them.  The core drops such pairs of an affine body.
 *
 * Solvers that read contact as quadratic terms announce LOOM_READS_WIDE_QUADS: a term has its nodes
 * in place of followers.  Contact models that move followers by themselves announce
 * LOOM_CONT_MOVES_FOLLOWERS.
 */
#ifndef LOOM_FOLLOWERS_H
#define LOOM_FOLLOWERS_H

#include "scene.h"

#define LOOM_FOLLOWERS "loom.followers/1" /* name of the extension */

typedef struct loom_followers {
  uint32_t struct_size;
  int32_t count;    /* m followers, > 0 */
  loom_buf *id;     /* i32 [m], vertex ids, ascending */
  loom_buf *first;  /* i32 [m + 1]: follower k has the nodes node[first[k]] to
                     * node[first[k + 1] - 1], at most 4 */
  loom_buf *node;   /* i32 [first[m]], vertex ids */
  loom_buf *weight; /* real [first[m]], 1 */
} loom_followers;

/* The scene's table, or NULL if it has no followers.  It belongs to the scene and lives as long.
 * [any] */
static inline const loom_followers *loom_scene_followers(const loom_scene *sc)
{
  return (const loom_followers *)loom_scene_extension(sc, LOOM_FOLLOWERS);
}

#endif
