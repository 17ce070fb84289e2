/* schedule.h - the space-time schedule: pairs of segments that are near, and the times at which to
 * look at them again.
 *
 * Entries are pairs of segments with cells that overlap.  An entry keeps a lower bound of its
 * clearance and waits in bin lambda, which is looked at every 2^lambda ticks.  It may enter that
 * bin only at one of these ticks, because the bound sinks by the movement since the snapshot that
 * is taken then.  The order of all lists depends on the positions so far alone. */
#ifndef YARN_GRID_SCHEDULE_H
#define YARN_GRID_SCHEDULE_H

#include "kit/grow.h"
#include "yarn_grid.kern.h"

typedef struct yarn_grid_entry {
  int32_t a, b;  /* segments, a < b */
  lk_real d;     /* m, bound of the clearance when last looked at; < 0: unknown */
  int32_t bin;   /* -1: in none */
  int32_t place; /* in the bin's list */
} yarn_grid_entry;

typedef struct yarn_grid_cell {
  uint64_t key;
  grow_ids segs;
} yarn_grid_cell;

typedef struct yarn_grid_link {
  int32_t other, entry;
} yarn_grid_link;
typedef struct yarn_grid_links { /* entries of a segment */
  yarn_grid_link *v;
  int64_t n, cap;
} yarn_grid_links;

typedef struct yarn_grid_schedule {
  int32_t num_segs;
  int64_t tick;           /* looks so far */
  yarn_grid_entry *entry; /* [num] */
  int64_t num, cap;       /* including deleted entries */
  grow_ids freed;         /* deleted entries, to be used again */
  grow_ids bin[YARN_GRID_BINS];
  grow_ids due, spare;    /* entries to look at now; workspace of their sort */
  yarn_grid_links *links; /* [num_segs] */
  int32_t *cells;         /* [num_segs][6], where the segments were */
  yarn_grid_cell *table;  /* [size], open addressing, size a power of two */
  int64_t size, used;
} yarn_grid_schedule;

int yarn_grid_schedule_new(yarn_grid_schedule *s, int32_t num_segs); /* 0: no memory */
void yarn_grid_schedule_free(yarn_grid_schedule *s);

/* Segments have moved to `cells` [num_segs][6]: entries for pairs that meet in a cell. */
int yarn_grid_enter_cells(yarn_grid_schedule *s, const int32_t *cells);
/* Look at all entries of a segment at once. */
int yarn_grid_activate(yarn_grid_schedule *s, int32_t seg);
/* Look at the entries of a segment with partners p0 to p1 at once and compare all their points:
 * pairs count now that were left out when the bound of the clearance was made. */
int yarn_grid_compare_anew(yarn_grid_schedule *s, int32_t seg, int32_t p0, int32_t p1);
/* Append the entries of the bins that are due at this tick to s->due, behind activated entries. */
int yarn_grid_collect(yarn_grid_schedule *s);
/* Use the results of s->due: put the entries into bins, or delete them where the cells are
 * disjoint; then the next tick begins. */
int yarn_grid_settle(yarn_grid_schedule *s, const yarn_grid_look *look);
/* Highest bin that may be entered at this tick. */
int yarn_grid_top_bin(int64_t tick);
/* Append an entry that a checkpoint brought back. */
int yarn_grid_restore_entry(yarn_grid_schedule *s, int32_t a, int32_t b, lk_real d, int32_t bin);

#endif
