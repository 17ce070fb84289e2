/* test_old_config.c - logs of versions in which `bending` was the k_b of a hinge are read with the
 * same numbers: continued, replayed, and run anew from their config. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log/h5util.h"
#include "regress/drape.h"
#include "support/logdiff.h"
#include "support/proc.h"

TestSuite(old_config, .init = proc_enter, .fini = proc_leave);

static const char old_hash[] = "0123456789abcdef";

/* The text without its line that begins with `line`; *value: of the line, to be freed. */
static char *cut_line(const char *text, const char *line, char **value)
{
  const char *const at = strstr(text, line);
  cr_assert(at != NULL && at > text && at[-1] == '\n', "%s is no line of\n%s", line, text);
  const size_t before = (size_t)(at - text), len = strcspn(at, "\n"), start = strlen(line);
  char *const out = malloc(strlen(text) + 1);
  *value = malloc(len + 1);
  cr_assert(out != NULL && *value != NULL);
  snprintf(*value, len + 1, "%.*s", (int)(len - start), at + start);
  memcpy(out, text, before);
  strcpy(out + before, at + len + 1);
  return out;
}

/* The config as the version before wrote it: one key, and none of the plate's further ones. */
static char *old_text(const char *now)
{
  static const char *const newer[] = {"bending_poisson = ", "bending_warp = ", "bending_weft = ",
                                      "bending_bias = ",    "bending = ",      NULL};
  char *k_b, *value, *text = cut_line(now, "k_b = ", &k_b);
  for (int i = 0; newer[i] != NULL; ++i) {
    char *const less = cut_line(text, newer[i], &value);
    free(value);
    free(text);
    text = less;
  }
  char *const membrane = strstr(text, "\nmembrane = ");
  cr_assert(membrane != NULL);
  const size_t len = strlen(text) + strlen(k_b) + 32;
  char *const old = malloc(len);
  cr_assert(old != NULL);
  snprintf(old, len, "%.*s\nbending = %s%s", (int)(membrane - text), text, k_b, membrane);
  free(text);
  free(k_b);
  return old;
}

static void put_attributes(hid_t f, const char *config)
{
  cr_assert_eq(h5u_drop_attr(f, "config_hash"), 0);
  cr_assert_eq(h5u_put_text(f, "config_hash", old_hash, 0), 0);
  if (config == NULL) return;
  cr_assert_eq(h5u_drop_attr(f, "config"), 0);
  cr_assert_eq(h5u_put_text(f, "config", config, 0), 0);
}

static void age_checkpoint(const char *path, const char *config)
{
  const hsize_t len = strlen(config);
  const hid_t f = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
  cr_assert(f >= 0, "%s", path);
  cr_assert(H5Ldelete(f, "core/config", H5P_DEFAULT) >= 0);
  const hid_t space = H5Screate_simple(1, &len, NULL);
  const hid_t set =
      H5Dcreate2(f, "core/config", H5T_STD_U8LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  cr_assert(set >= 0);
  cr_assert(H5Dwrite(set, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, config) >= 0);
  H5Dclose(set);
  H5Sclose(space);
  put_attributes(f, NULL);
  cr_assert(H5Fclose(f) >= 0);
  const int fd = open(path, O_RDWR);
  cr_assert(fd >= 0 && h5u_seal(fd) == 0);
  close(fd);
}

/* The log and its checkpoints as an older version would have left them. */
static void age_log(const char *name)
{
  char path[64];
  h5u_quiet();
  snprintf(path, sizeof path, "%s.h5", name);
  const hid_t f = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
  cr_assert(f >= 0);
  char *const now = h5u_get_text(f, "config");
  char *const old = old_text(now);
  cr_assert(strstr(old, "bending = 0.0001\n") != NULL && strstr(old, "k_b") == NULL, "%s", old);
  put_attributes(f, old);
  cr_assert(H5Fclose(f) >= 0);
  snprintf(path, sizeof path, "%s.check.h5", name);
  age_checkpoint(path, old);
  snprintf(path, sizeof path, "%s.check.prev.h5", name);
  if (proc_exists(path)) age_checkpoint(path, old);
  free(old);
  free(now);
}

static void write_drape(void)
{
  proc_write("drape.ini", DRAPE "[solver]\nplugin = cholmod_newton\n");
}

#define NOTE "[cloth.sheet] bending = 0.0001 of its hinge is k_b = 0.0001 today"

static void expect_note(const proc *p)
{
  cr_expect(strstr(p->out, NOTE) != NULL || strstr(p->err, NOTE) != NULL, "no note in:\n%s%s",
            p->out, p->err);
}

/* Twice: what the first one writes is continued, too. */
Test(old_config, is_continued)
{
  proc p;
  write_drape();
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "20", "-o", "whole.h5");
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "8", "-o", "parts.h5");
  age_log("parts");
  proc_loom(&p, LOOM_ARGS("run", "drape.ini", "-n", "14", "-o", "parts.h5", "--resume"));
  cr_assert_eq(p.code, 0, "%s", p.err);
  expect_note(&p);
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "20", "-o", "parts.h5", "--resume");
  cr_assert_eq(log_is_whole("parts.h5", "finished"), 20);
  logs_same_bits("whole.h5", "parts.h5", LOGS_ANYWHERE);
}

Test(old_config, of_other_numbers_is_not_continued)
{
  write_drape();
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "8", "-o", "parts.h5");
  age_log("parts");
  proc_expect_error(2, LOOM_TEXTS("another config", "[cloth.sheet] k_b: 0.0001 then, 0.0002 now"),
                    LOOM_ARGS("run", "drape.ini", "-n", "14", "-o", "parts.h5", "--resume", "--set",
                              "cloth.sheet.k_b=2e-4"));
}

Test(old_config, is_replayed)
{
  proc p;
  write_drape();
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "6", "-o", "ref.h5", "--set",
            "log.frames_every=1");
  age_log("ref");
  proc_loom(
      &p, LOOM_ARGS("run", "drape.ini", "-n", "6", "-o", "again.h5", "--set", "run.replay=ref.h5"));
  cr_assert_eq(p.code, 0, "%s", p.err);
  expect_note(&p);
  proc_expect_error(2, LOOM_TEXTS("another problem", "[cloth.sheet] k_b is 0.0001 there"),
                    LOOM_ARGS("run", "drape.ini", "-n", "6", "-o", "other.h5", "--set",
                              "run.replay=ref.h5", "--set", "cloth.sheet.k_b=2e-4"));
}

/* The config of the log can be run, and gives the same bits. */
Test(old_config, is_printed_in_todays_keys)
{
  proc p;
  write_drape();
  LOOM_FINE("run", "drape.ini", "--quiet", "-n", "6", "-o", "first.h5");
  age_log("first");
  proc_loom(&p, LOOM_ARGS("info", "first.h5", "--config"));
  cr_assert_eq(p.code, 0, "%s", p.err);
  expect_note(&p);
  cr_expect(strstr(p.out, "\nk_b = 0.0001\n") != NULL, "%s", p.out);
  proc_write("today.ini", p.out);
  LOOM_FINE("run", "today.ini", "--quiet", "-n", "6", "-o", "second.h5");
  logs_same_bits("first.h5", "second.h5", LOGS_UNBROKEN);
}
