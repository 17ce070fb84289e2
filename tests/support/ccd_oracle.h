/* ccd_oracle.h - first contact of a vertex and a triangle, or of two edges, that move linearly,
 * decided exactly. */
#ifndef LOOM_TESTS_CCD_ORACLE_H
#define LOOM_TESTS_CCD_ORACLE_H

#include <gmp.h>

enum { ORACLE_VT = 0, ORACLE_EE = 1 };

/* 1 if there is a t in [0,1] with x0 + t (x1 - x0) in contact (touching counts); then the
 * earliest one lies in [first[0], first[1]].  x0, x1: [4][3], any unit.  Decided in long double
 * where that is certain, else in rational arithmetic. */
int oracle_contact(int kind, const double *x0, const double *x1, double first[2]);

/* The same in rational arithmetic; *first is rounded by less than 1e-15. */
int oracle_contact_exact(int kind, const double *x0, const double *x1, double *first);
int oracle_contact_q(int kind, mpq_t *x0, mpq_t *x1, double *first);

#endif
