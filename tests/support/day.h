/* day.h - cases of a test program that take long, and are of the night. */
#ifndef TESTS_SUPPORT_DAY_H
#define TESTS_SUPPORT_DAY_H

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* Whether `./loom test` runs the program; ctest sets LOOM_TEST_DAY for programs registered with
 * DAY. A program that is called by hand, in the night or with a label of the night runs all of its
 * cases. */
static inline int test_by_day(void)
{
  const char *const day = getenv("LOOM_TEST_DAY");
  return day != NULL && strcmp(day, "1") == 0;
}

/* Ends the case by day. */
#define test_of_the_night()                          \
  do {                                               \
    if (test_by_day()) cr_skip_test("of the night"); \
  } while (0)

#endif
