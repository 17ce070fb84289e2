/* yarn_grid.h - the instance of collision `yarn_grid`. */
#ifndef YARN_GRID_H
#define YARN_GRID_H

#include "kit/yarn_line.h"
#include "loom/plugin.h"
#include "search.h"

enum { SEARCH_SCHEDULE, SEARCH_GRID, SEARCH_BVH };

typedef struct yarn_grid_settings {
  double cell, omega;
  int32_t search;
} yarn_grid_settings;

typedef struct yarn_grid {
  const loom_host *host;
  const loom_scene *sc;
  const loom_exec *e;
  yarn_grid_settings set;
  yarn_points_table table;
  yarn_grid_schedule sched;
  yarn_grid_search search;
  int32_t n;       /* vertices */
  int32_t history; /* earlier positions known, 0 to 2 */
  int64_t due;     /* entries examined by the last search */
  int64_t near;    /* pairs compared by the last search */
  double margin;   /* m, of the last query */
  /* arrays of the kernels; the schedule and its lists are on the host */
  loom_buf *sum;                  /* real [3] m, of all vertices */
  loom_buf *P, *box;              /* real [ns][3][YARN_LANES], [ns][6] m */
  loom_buf *cells;                /* i32 [ns][6], copied to the host by every search */
  loom_buf *x1, *x2;              /* real [n][3] m, positions at the last two looks */
  loom_buf *ref;                  /* real [n][3] m, see yarn_grid_alarm */
  loom_buf *snap[YARN_GRID_BINS]; /* real [n][3] m; [0] is NULL, bin 0 uses x1 */
  loom_buf *move, *change;        /* real [ns][6] m */
  loom_buf
      *window[YARN_GRID_BINS]; /* real [ns][6] m, see yarn_grid_examine_args; [0] is none: move */
  int64_t length[YARN_GRID_BINS]; /* of the bins, before they are looked at */
  loom_buf *alarm, *wake;         /* u8 [n], [ns]; wake is copied to the host */
  loom_buf *ask, *look;           /* yarn_grid_ask [m] from the host, yarn_grid_look [m] to it */
  loom_buf *hit;                  /* yarn_grid_hit [.] from the host */
  /* boxes of points that detection has to leave out; from the host when they have changed */
  int64_t num_boxes;
  loom_buf *boxes;             /* u64 [num_boxes] ascending */
  loom_buf *box_at, *box_list; /* i32 [ns+2], [.] */
  int32_t short_of_room;       /* the last look's pairs did not fit */
  yarn_grid_hits hits;
  int64_t tracked, examined, processed, found; /* of this step, see the columns */
} yarn_grid;

/* boxes.c, l on the host: takes over the list of the query (NULL: none), and activates entries that
 * are no longer left out. */
loom_status yarn_grid_take_boxes(yarn_grid *d, const yarn_line *l, loom_buf *exclude);
/* The first of n boxes that names points which do not exist, or does not ascend; n: all are valid.
 */
int64_t yarn_grid_find_bad_box(const yarn_line *l, const uint64_t *box, int64_t n);
/* Lists of boxes by the segments of their first range. */
loom_status yarn_grid_index_boxes(yarn_grid *d, const yarn_line *l);
/* state.c */
loom_status yarn_grid_state_new(yarn_grid *d);
void yarn_grid_state_free(yarn_grid *d);
void yarn_grid_forget(yarn_grid *d); /* history and schedule begin anew */
/* checkpoint.c */
loom_status yarn_grid_checkpoint(void *self, const loom_step *s, int restore);

#define YARN_GRID_MOST_CELLS 32768.0 /* of one segment: 32 along each axis */
#define YARN_GRID_MEMORY(d, ok) \
  LOOM_CHECK((d)->host, ok, LOOM_E_NOMEM, "no memory for the yarn schedule")

#endif
