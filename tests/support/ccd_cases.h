/* ccd_cases.h - random collision queries of several families, the same for every run. */
#ifndef LOOM_TESTS_CCD_CASES_H
#define LOOM_TESTS_CCD_CASES_H

#include <stdint.h>

enum {
  CASE_RANDOM,   /* both ends uniform in a cube */
  CASE_PLANAR,   /* all points in one plane up to a height, moving in it */
  CASE_PARALLEL, /* parallel edges; a triangle with nearly parallel sides */
  CASE_SLOW,     /* motion from 0.1 of the size down to none */
  CASE_SLIDING,  /* the first primitive slides along a plane through the second */
  CASE_LEAVING,  /* starts in a common plane or next to it and leaves it */
  CASE_ROLLING,  /* stays near the common plane while that turns */
  CASE_GRID,     /* coordinates are small integers: degenerate in every way */
  CASE_THROUGH,  /* a vertex or edge moves through the other's border up to a height */
  CASE_CLOTH,    /* edges 1 cm, gap 1 to 2 mm, rigid motion 5 mm, relative motion 1 mm */
  CASE_FAMILIES,
  CASE_FIRST_DEGENERATE = CASE_PLANAR,
  CASE_NUM_DEGENERATE = CASE_CLOTH - CASE_PLANAR
};
extern const char *const ccd_case_name[CASE_FAMILIES];

/* Query number k; kind 0 vertex-triangle, 1 edge-edge; x0, x1: [4][3].  Heights and gaps run
 * through 0.1, 1e-3, 1e-6, 1e-9, 1e-12 and 0, the size is about 1 (cloth: 0.01). */
void ccd_case(int kind, int family, uint64_t k, double *x0, double *x1);

#endif
