/* info_sections.c - see info_sections.h. */
#include "app/info_sections.h"

#include <stdlib.h>
#include <string.h>

#include "app/log_tools.h"

enum { BLOCK = 1024 };

typedef struct sums {
  info_section *all;
  int64_t count, room;
} sums;

static info_section *of_name(sums *s, const char *name)
{
  for (int64_t i = 0; i < s->count; ++i)
    if (strcmp(s->all[i].name, name) == 0) return &s->all[i];
  if (s->count == s->room) {
    const int64_t room = s->room > 0 ? 2 * s->room : 16;
    info_section *const p = realloc(s->all, (size_t)room * sizeof *p);
    if (p == NULL) return NULL;
    s->all = p;
    s->room = room;
  }
  info_section *const one = &s->all[s->count++];
  *one = (info_section){0};
  memcpy(one->name, name, sizeof one->name);
  return one;
}

static loom_status sum_section_rows(sums *s, loom_err *err, const h5log_section_row *rows,
                                    int64_t n)
{
  for (int64_t i = 0; i < n; ++i) {
    info_section *const one = of_name(s, rows[i].name);
    if (one == NULL) return err_set(err, LOOM_E_NOMEM, "out of memory");
    one->calls = count_add(one->calls, rows[i].calls);
    one->wall += rows[i].t_wall;
    one->cpu += rows[i].t_cpu;
  }
  return LOOM_OK;
}

loom_status info_sections(h5read *r, loom_err *err, info_section **out, int64_t *count)
{
  const int64_t num = h5read_num_rows(r, "sections");
  sums s = {0};
  loom_status st = LOOM_OK;
  *out = NULL;
  *count = 0;
  if (num <= 0) return LOOM_OK;
  h5log_section_row *const rows = malloc(BLOCK * sizeof *rows);
  if (rows == NULL) return err_set(err, LOOM_E_NOMEM, "out of memory");
  for (int64_t at = 0; at < num && st == LOOM_OK; at += BLOCK) {
    const int64_t n = num - at < BLOCK ? num - at : BLOCK;
    st = h5read_sections(r, err, at, n, rows);
    if (st == LOOM_OK) st = sum_section_rows(&s, err, rows, n);
  }
  free(rows);
  if (st != LOOM_OK) {
    free(s.all);
    return st;
  }
  *out = s.all;
  *count = s.count;
  return LOOM_OK;
}
