/* yarn_case.h - scenes of yarns for tests of detection and contact, and brute force on them. */
#ifndef YARN_CASE_H
#define YARN_CASE_H

#include "support/test_host.h"

typedef struct yarn_case {         /* all lengths in m */
  int n, ns, ny, np;               /* vertices, segments, yarns, points */
  double *x;                       /* [n][3] */
  int32_t *segs;                   /* [ns][4] */
  int32_t *seg_yarn;               /* [ns] */
  int32_t *yarn_seg, *yarn_vert;   /* [ny+1] */
  uint8_t *closed;                 /* [ny] */
  double *len;                     /* [ns] */
  double *radius;                  /* [n] */
  int *pt_seg, *pt_lane, *pt_yarn; /* [np] */
  double *W;                       /* [np] m, trapezoid */
} yarn_case;

/* Yarns of the given numbers of vertices behind each other in x; rest lengths as in x. */
void yc_new(yarn_case *c, int num_yarns, const int *verts, const uint8_t *closed, const double *x,
            double radius);
void yc_free(yarn_case *c);

/* Stockinette of rows x cols loops, one yarn; shared/data/scenes/yarn.json, in m.  squeeze: of the
 * three axes; noise: m, of a sum of sines */
void yc_stitch(yarn_case *c, int rows, int cols, const double squeeze[3], double noise);
/* Straight yarns of `segs` segments of length l each; yarn k along axis[k] through mid[k]. */
void yc_straight(yarn_case *c, int num_yarns, int segs, double l, const double (*axis)[3],
                 const double (*mid)[3], double radius);

/* A scene of the test host, with its step at c->x. */
void yc_scene(const yarn_case *c, test_host *t);
/* Positions for step->x and step->x_start. */
void yc_place(test_host *t, const double *x);

/* Quadrature points [np][3] at x. */
void yc_points(const yarn_case *c, const double *x, double *y);
/* Points i < j may interact. */
int yc_may(const yarn_case *c, int i, int j);
/* Energy (J), gradient [n][3] (N, added; may be NULL) and the number of pairs in contact, all
 * pairs compared. */
double yc_brute(const yarn_case *c, const double *x, double k, double *grad, int64_t *pairs);

#endif
