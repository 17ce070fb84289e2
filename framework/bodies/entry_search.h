/* entry_search.h - how deep an edge or a triangle comes into one body: branch and bound. */
#ifndef LOOM_BODIES_ENTRY_SEARCH_H
#define LOOM_BODIES_ENTRY_SEARCH_H

#include "bodies/body.h"

typedef struct entry_element { /* an edge or a triangle, at rest or on its straight way */
  const obst_view *o;
  int corners;       /* 2: an edge, 3: a triangle */
  int moves;         /* 1: on its way, with the body; 0: at rest, the body at its end pose */
  int turns;         /* 1: the body turns on the way */
  double x[2][3][3]; /* m, world, corners at the start and at the end of the way; at rest [1] */
  double p[2][3][3]; /* m, the same in the body frame */
  double bend;       /* m, how far a corner's whole way in the body frame may leave its chord */
  double rounding;   /* m, points less deep do not count as inside */
} entry_element;

typedef struct entry_found {
  double depth; /* m */
  double time;  /* share of the way */
  int unsure;   /* 1: not decided */
} entry_found;

/* Of vertices v [corners]; x_start NULL: at rest. [any] */
void entry_element_set(entry_element *e, const obst_view *o, const double *x_start, const double *x,
                       const int32_t *v, int corners);
/* 1 if one bound proves all of it outside. [any] */
int entry_outside(const entry_element *e);
/* 1 if a point of it is inside, or if that could not be decided. [any] */
int entry_search(const entry_element *e, entry_found *out);
/* 1 if a ball (m, world) is outside, at the end pose or, with `moves`, at all poses. [any] */
int entry_ball_outside(const obst_view *o, int moves, const double centre[3], double radius);

#endif
