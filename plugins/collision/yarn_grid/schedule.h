/* schedule.h - the space-time schedule: which pairs of segments are near, and when to look again.
 *
 * Entries are pairs of segments whose cells overlap.  An entry keeps a lower bound of its
 * clearance and waits in bin lambda, which is looked at every 2^lambda ticks; it may enter that
 * bin only at such a tick, because the bound goes down by the movement since the snapshot that is
 * taken then.  All lists are kept in an order that depends on nothing but the positions so far. */
#ifndef YG_SCHEDULE_H
#define YG_SCHEDULE_H

#include "kit/grow.h"
#include "yarn_grid.kern.h"

typedef struct yg_entry {
  int32_t a, b;  /* segments, a < b */
  lk_real d;     /* m, bound of the clearance when last looked at; < 0: unknown */
  int32_t bin;   /* -1: in none */
  int32_t place; /* in the bin's list */
} yg_entry;

typedef struct yg_cell {
  uint64_t key;
  grow_ids segs;
} yg_cell;

typedef struct yg_link {
  int32_t other, entry;
} yg_link;
typedef struct yg_links { /* entries of a segment */
  yg_link *v;
  int64_t n, cap;
} yg_links;

typedef struct yg_schedule {
  int32_t num_segs;
  int64_t tick;     /* looks so far */
  yg_entry *entry;  /* [num] */
  int64_t num, cap; /* with those that were deleted */
  grow_ids freed;   /* deleted entries, to be used again */
  grow_ids bin[YG_BINS];
  grow_ids due, spare; /* what is looked at now; workspace of its sort */
  yg_links *links;     /* [num_segs] */
  int32_t *cells;      /* [num_segs][6], where the segments were */
  yg_cell *table;      /* [size], open addressing, size a power of two */
  int64_t size, used;
} yg_schedule;

int yg_schedule_new(yg_schedule *s, int32_t num_segs); /* 0: no memory */
void yg_schedule_free(yg_schedule *s);

/* Segments have moved to `cells` [num_segs][6]: entries for pairs that meet in a cell. */
int yg_enter_cells(yg_schedule *s, const int32_t *cells);
/* Look at all entries of a segment at once. */
int yg_activate(yg_schedule *s, int32_t seg);
/* Look at those with partners p0 to p1 at once and compare all their points: pairs count that did
 * not when the bound of the clearance was made. */
int yg_compare_anew(yg_schedule *s, int32_t seg, int32_t p0, int32_t p1);
/* Take the bins whose tick this is to s->due, behind what was activated. */
int yg_collect(yg_schedule *s);
/* What came of looking at s->due: into bins, or away where the cells are disjoint; next tick. */
int yg_settle(yg_schedule *s, const yg_look *look);
/* Highest bin that may be entered at this tick. */
int yg_top_bin(int64_t tick);
/* Append an entry that a checkpoint brought back. */
int yg_restore_entry(yg_schedule *s, int32_t a, int32_t b, lk_real d, int32_t bin);

#endif
