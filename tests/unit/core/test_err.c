/* err.c: messages keep their parts, hints find plausible misspellings only. */
#include <criterion/criterion.h>
#include <string.h>

#include "core/err.h"

Test(err, set_prefix_append)
{
  loom_err e = {0};
  cr_assert_eq(err_set(&e, LOOM_E_IO, "cannot read %d", 7), LOOM_E_IO);
  err_prefix(&e, "file.ini:%d", 3);
  err_append(&e, "second line");
  cr_assert_str_eq(e.text, "file.ini:3: cannot read 7\nsecond line");
  cr_assert_eq(e.code, LOOM_E_IO);
  err_clear(&e);
  cr_assert_eq(e.code, LOOM_OK);
  cr_assert_str_empty(e.text);
}

Test(err, long_messages_are_cut_not_overrun)
{
  loom_err e = {0};
  char big[5000];
  memset(big, 'x', sizeof big - 1);
  big[sizeof big - 1] = '\0';
  err_set(&e, LOOM_E_ARG, "%s", big);
  err_prefix(&e, "%s", big);
  err_append(&e, "%s", big);
  cr_assert_eq(strlen(e.text), sizeof e.text - 1);
}

Test(err, nearest)
{
  const char *const names[] = {"solver", "collision", "contact", "run", "max_iters"};
  cr_assert_str_eq(err_nearest("slover", names, 5), "solver");
  cr_assert_str_eq(err_nearest("Max_iter", names, 5), "max_iters");
  cr_assert_str_eq(err_nearest("rnu", names, 5), "run");
  cr_assert_str_eq(err_nearest("colision", names, 5), "collision");
  cr_assert_eq(err_nearest("banana", names, 5) == NULL, 1);
}

/* All candidates, the nearest one first; where they do not fit, their number, and no byte behind.
 */
Test(err, names)
{
  const char *const names[] = {"hip", "knee", "ankle", "a_joint_with_a_longer_name"};
  char text[101];
  err_names(text, 100, "kne", names, 4);
  cr_assert_str_eq(text, "knee, hip, ankle, a_joint_with_a_longer_name");
  err_names(text, 100, "banana", names, 3);
  cr_assert_str_eq(text, "hip, knee, ankle");
  err_names(text, 100, "hip", names, 0);
  cr_assert_str_eq(text, "");
  text[50] = '#';
  err_names(text, 50, "ankle", names, 4);
  cr_assert_str_eq(text, "ankle, hip, knee and 1 more");
  cr_assert_eq(text[50], '#');
  err_names(text, 44, "banana", names + 3, 1);
  cr_assert_str_eq(text, "1 with long names");
}

Test(err, every_status_has_a_text)
{
#define CHECK_(name, value, text) cr_assert(strstr(err_status_text(value), #name) != NULL);
  LOOM_STATUS_LIST(CHECK_)
}
