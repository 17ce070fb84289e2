/* fuzz_ini.c - any bytes as a configuration: an error with a message, or a round trip. */
#define _GNU_SOURCE /* memfd_create */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "config/config.h"
#include "loom/plugin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct sample {
  double dt, density, angle, gravity[3];
  int64_t steps;
  int32_t fast, mode;
  const char *title, *file;
} sample;

static const loom_param params[] = {
    LOOM_PARAM_REAL(sample, dt, 0.01, 0, 10, "s", "", LOOM_P_OPEN_MIN),
    LOOM_PARAM_REAL(sample, density, 0.2, 0, 1e3, "kg/m^2", ""),
    LOOM_PARAM_REAL(sample, angle, 0, -7, 7, "rad", ""),
    LOOM_PARAM_VEC3(sample, gravity, "0 0 -9.81", -1e3, 1e3, "m/s^2", ""),
    LOOM_PARAM_INT(sample, steps, 10, 0, 1e15, "1", ""),
    LOOM_PARAM_BOOL(sample, fast, 1, ""),
    LOOM_PARAM_ENUM(sample, mode, 1, "one|two|three", ""),
    LOOM_PARAM_TEXT(sample, title, "a ; title", ""),
    LOOM_PARAM_PATH(sample, file, "", ""),
};

static void require_config_property(int condition, const char *what)
{
  if (condition) return;
  fprintf(stderr, "fuzz_ini: %s\n", what);
  abort();
}

/* Bind the table to every section that stands for itself; 0 if a value was refused. */
static int bind_all(cfg *c)
{
  sample s;
  loom_err err = {0};
  int fine = cfg_bind(&err, cfg_need(c, "run"), params, LOOM_COUNT(params), &s) == LOOM_OK;
  for (const cfg_section *p = cfg_next(c, "cloth", NULL); p != NULL; p = cfg_next(c, "cloth", p)) {
    if (cfg_apply_material(&err, c, p, NULL) != LOOM_OK) fine = 0;
    if (cfg_bind(&err, p, params, LOOM_COUNT(params), &s) != LOOM_OK) fine = 0;
  }
  require_config_property(fine || err.text[0] != '\0', "a refusal without a message");
  const loom_status st = cfg_finish(&err, c);
  require_config_property(st == LOOM_OK || (st == LOOM_E_CONFIG && err.text[0] != '\0'),
                          "cfg_finish: a refusal without a message");
  return fine;
}

static loom_status parse_fuzz_config(loom_err *err, const uint8_t *data, size_t size,
                                     const char *text, cfg **c)
{
  if (memchr(data, 0, size) == NULL) return cfg_parse(err, text, "fuzz.ini", "", NULL, 0, c);
  /* only a file can hold NUL bytes */
  char path[64];
  const int fd = memfd_create("fuzz", 0);
  require_config_property(fd >= 0 && write(fd, data, size) == (ssize_t)size,
                          "cannot write the input");
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  const loom_status s = cfg_load(err, path, NULL, 0, c);
  close(fd);
  return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  cfg *a = NULL, *b = NULL;
  loom_err err = {0};
  char *const text = malloc(size + 1);
  require_config_property(text != NULL, "out of memory");
  if (size > 0) memcpy(text, data, size);
  text[size] = '\0';
  if (parse_fuzz_config(&err, data, size, text, &a) != LOOM_OK) {
    require_config_property(a == NULL && err.text[0] != '\0' && err.code < 0,
                            "a refusal without a message");
  } else if (bind_all(a)) {
    const char *const first = cfg_resolved(a);
    require_config_property(cfg_parse(&err, first, "resolved", "", NULL, 0, &b) == LOOM_OK,
                            err.text);
    require_config_property(bind_all(b), "a resolved value is refused");
    require_config_property(strcmp(first, cfg_resolved(b)) == 0,
                            "the resolved text changes in a round trip");
  }
  cfg_free(a);
  cfg_free(b);
  free(text);
  return 0;
}
