/* spatial_hash.kern.h - features of triangle meshes in the cells of a uniform grid.
 *
 * An entry is (cell, item): a triangle or an edge is entered into every cell that its box meets.
 * Entries are sorted by cell, and a cell is found by bisection.  The three coordinates of a cell
 * make its key, 21 bits each, so different cells never have the same key. */
#ifndef SPATIAL_HASH_KERN_H
#define SPATIAL_HASH_KERN_H

#include "kit/mesh_query.kern.h"

#define SPATIAL_HASH_HALF UINT32_C(0x100000) /* cell 0 in the middle of 2^21 */
#define SPATIAL_HASH_NONE UINT64_MAX         /* behind all cells */

typedef struct spatial_hash_args {
  mesh_view m;
  lk_real cell;   /* m, edge length */
  lk_real reach;  /* m, by which the boxes of triangles or edges grow, beside their radius */
  uint32_t kinds; /* LOOM_BIT(LOOM_PAIR_VT) ... */
  int64_t *LK_RESTRICT count;       /* [items] cells; later [vertices or edges] pairs */
  const int64_t *LK_RESTRICT place; /* exclusive scan of it */
  uint64_t *LK_RESTRICT key;        /* [capacity], cells */
  int32_t *LK_RESTRICT item;        /* [capacity] of the entries as they were made */
  const int32_t *LK_RESTRICT perm;  /* [capacity] entry of each sorted key */
  int64_t num_entries;
  uint64_t *LK_RESTRICT name; /* [.] */
  int64_t base;               /* place of name[0] */
  lk_int first;               /* element 0 of this launch */
} spatial_hash_args;

LK_DECLARE(spatial_hash_cells_tri, spatial_hash_args) /* count */
LK_DECLARE(spatial_hash_cells_edge, spatial_hash_args)
LK_DECLARE(spatial_hash_enter_tri, spatial_hash_args) /* key, item */
LK_DECLARE(spatial_hash_enter_edge, spatial_hash_args)
LK_DECLARE(spatial_hash_pad, spatial_hash_args)      /* key[num_entries + i] = SPATIAL_HASH_NONE */
LK_DECLARE(spatial_hash_count_vt, spatial_hash_args) /* count */
LK_DECLARE(spatial_hash_count_ee, spatial_hash_args)
LK_DECLARE(spatial_hash_list_vt, spatial_hash_args) /* name */
LK_DECLARE(spatial_hash_list_ee, spatial_hash_args)

#endif
