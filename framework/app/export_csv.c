/* export_csv.c - the tables of a log as CSV: a header of column names, then the rows. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "app/export.h"

enum { BLOCK = 2048, MAX_COLUMNS = 512 };

typedef struct csv_table {
  const char *name;
  int num_columns;
  char (*names)[H5READ_NAME_LEN]; /* [num_columns] */
  char *kinds;                    /* [num_columns] */
  char *cells;                    /* [num_columns][BLOCK], 8 bytes each */
} csv_table;

static void put_cell(FILE *out, char kind, const char *cell)
{
  char buf[NUMBER_LEN];
  int64_t i;
  double v;
  if (kind == 'R') {
    memcpy(&v, cell, sizeof v);
    fputs(number_text(v, buf), out);
    return;
  }
  memcpy(&i, cell, sizeof i);
  if (kind == 'S')
    fputs(h5log_reason_name((int)i), out);
  else
    fprintf(out, "%" PRId64, i);
}

static loom_status write_csv_rows(loom_err *err, h5read *r, const csv_table *t, FILE *out)
{
  const int64_t rows = h5read_num_rows(r, t->name);
  for (int i = 0; i < t->num_columns; ++i)
    fprintf(out, "%s%s", t->names[i], i + 1 < t->num_columns ? "," : "\n");
  for (int64_t at = 0; at < rows; at += BLOCK) {
    const int64_t n = rows - at < BLOCK ? rows - at : BLOCK;
    for (int i = 0; i < t->num_columns; ++i)
      LOOM_TRY(h5read_column(r, err, t->name, t->names[i], t->kinds[i], at, n,
                             t->cells + (size_t)i * BLOCK * 8));
    for (int64_t k = 0; k < n; ++k)
      for (int i = 0; i < t->num_columns; ++i) {
        put_cell(out, t->kinds[i], t->cells + ((size_t)i * BLOCK + (size_t)k) * 8);
        fputc(i + 1 < t->num_columns ? ',' : '\n', out);
      }
  }
  return LOOM_OK;
}

static loom_status put_table(loom_err *err, const export_scene *s, csv_table *t)
{
  char path[4096];
  out_file o;
  for (int i = 0; i < t->num_columns; ++i)
    LOOM_TRY(h5read_column_info(s->r, err, t->name, i, t->names[i], &t->kinds[i]));
  snprintf(path, sizeof path, "%s/%s.csv", s->dir, t->name);
  LOOM_TRY(out_file_open(err, path, OUT_CSV, &o));
  FILE *const out = o.f;
  return out_file_close(err, &o, write_csv_rows(err, s->r, t, out));
}

loom_status export_csv(loom_err *err, const export_scene *s)
{
  const char *const names[] = {"steps", "steps_extra", "iters", "iters_extra", "inner"};
  loom_status status = LOOM_OK;
  for (int i = 0; i < (int)(sizeof names / sizeof *names) && status == LOOM_OK; ++i) {
    csv_table t = {.name = names[i], .num_columns = h5read_num_columns(s->r, names[i])};
    if (t.num_columns < 0 && strcmp(names[i], "steps_extra") == 0) continue; /* an older log */
    if (t.num_columns < 1 || t.num_columns > MAX_COLUMNS)
      return err_set(err, LOOM_E_IO, "%s: has no usable /%s: the file is damaged", s->log_path,
                     names[i]);
    const size_t n = (size_t)t.num_columns;
    t.names = calloc(n, sizeof *t.names);
    t.kinds = calloc(n, 1);
    t.cells = malloc(n * BLOCK * 8);
    if (t.names == NULL || t.kinds == NULL || t.cells == NULL)
      status = err_set(err, LOOM_E_NOMEM, "out of memory");
    else
      status = put_table(err, s, &t);
    free(t.names);
    free(t.kinds);
    free(t.cells);
  }
  return status;
}
