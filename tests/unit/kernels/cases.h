/* cases.h - the kernel tables of the modules; each is one cases_MODULE.c. */
#ifndef LOOM_TESTS_CASES_H
#define LOOM_TESTS_CASES_H

#include "support/kernel_cases.h"

const kernel_case *cases_ccd(int *num);
const kernel_case *cases_elements(int *num);
const kernel_case *cases_kit(int *num);
const kernel_case *cases_linalg(int *num);
const kernel_case *cases_plate(int *num);
const kernel_case *cases_run(int *num);

#endif
