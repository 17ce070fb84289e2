/* yarn_grid.h - the instance of collision `yarn_grid`. */
#ifndef YARN_GRID_H
#define YARN_GRID_H

#include <stdio.h>

#include "geom/yarn_line.h"
#include "loom/plugin.h"
#include "search.h"

enum { SEARCH_SCHEDULE, SEARCH_GRID, SEARCH_BVH };

typedef struct yg_settings {
  double cell, omega;
  int32_t search;
  const char *stats;
} yg_settings;

typedef struct yarn_grid {
  const loom_host *h;
  const loom_scene *sc;
  const loom_exec *e;
  yg_settings set;
  yarn_points_table table;
  yg_schedule sched;
  yg_search search;
  int32_t n;                  /* vertices */
  int32_t history;            /* earlier positions known, 0 to 2 */
  int64_t due;                /* entries examined by the last search */
  int64_t near;               /* pairs compared by the last search */
  double margin;              /* m, of the last query */
  loom_real *P, *box;         /* [ns][3][YARN_LANES], [ns][6] m */
  int32_t *cells;             /* [ns][6] */
  loom_real *x1, *x2;         /* [n][3] m, positions at the last two looks */
  loom_real *ref;             /* [n][3] m, see yg_alarm */
  loom_real *snap[YG_BINS];   /* [n][3] m; snap[0] is x1 */
  loom_real *move, *change;   /* [ns][6] m */
  loom_real *window[YG_BINS]; /* [ns][6] m, see yg_examine_args; [0] is move */
  int64_t length[YG_BINS];    /* of the bins, before they are looked at */
  uint8_t *alarm;             /* [n] */
  yg_look *look;              /* [look_cap] */
  int64_t look_cap;
  /* what detection was asked to leave out, and where */
  uint64_t *boxes; /* [num_boxes] ascending */
  int64_t num_boxes, boxes_cap, list_cap;
  int32_t *box_at, *box_list; /* [ns+1], [.] */
  int32_t short_of_room;      /* the last look's pairs did not fit */
  yg_hits hits;
  FILE *stats;
  double spent; /* s, processor time of this search so far */
} yarn_grid;

/* boxes.c: take over the list of the query (NULL: none), activate what is no longer left out. */
loom_status yg_take_boxes(yarn_grid *d, const yarn_line *l, loom_buf *exclude);
/* Lists of boxes by the segments of their first range; 0: no memory. */
int yg_index_boxes(yarn_grid *d, const yarn_line *l);
/* state.c */
loom_status yg_state_new(yarn_grid *d);
void yg_state_free(yarn_grid *d);
void yg_forget(yarn_grid *d); /* history and schedule begin anew */
loom_status yg_checkpoint(void *self, const loom_step *s, int restore);

#define YG_MEMORY(d, ok) LOOM_CHECK((d)->h, ok, LOOM_E_NOMEM, "no memory for the yarn schedule")

#endif
