/* ccd_queries.c - reads rational coordinates exactly and rounds them at the very end. */
#include "audit/ccd_queries.h"

#include <errno.h>
#include <float.h>
#include <gmp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 7, ROWS = 8, MAX_DIGITS = 2000 };

typedef struct reader {
  loom_err *err;
  const char *name, *p, *end;
  int64_t line; /* of p, from 1 */
  int column;   /* of p, from 1 */
  mpq_t value, rounded;
  char digits[MAX_DIGITS + 2];
} reader;

static loom_status fail_query_line(reader *r, const char *what)
{
  return err_set(r->err, LOOM_E_CONFIG, "%s:%lld: column %d %s", r->name, (long long)r->line,
                 r->column, what);
}

/* One integer up to the comma, or the line's end behind the last column. */
static loom_status read_integer(reader *r, mpz_t out)
{
  size_t n = 0;
  while (r->p < r->end && (*r->p == ' ' || *r->p == '\t')) ++r->p;
  if (r->p < r->end && (*r->p == '-' || *r->p == '+')) {
    if (*r->p == '-') r->digits[n++] = '-';
    ++r->p;
  }
  const size_t sign = n;
  for (; r->p < r->end && *r->p >= '0' && *r->p <= '9'; ++r->p) {
    if (n == MAX_DIGITS) return fail_query_line(r, "has more than 2000 digits");
    r->digits[n++] = *r->p;
  }
  while (r->p < r->end && (*r->p == ' ' || *r->p == '\t' || *r->p == '\r')) ++r->p;
  const int last = r->column == COLUMNS, at_end = r->p == r->end || *r->p == '\n';
  if (n == sign || !(at_end || *r->p == ',')) return fail_query_line(r, "is not an integer");
  if (at_end && !last)
    return err_set(r->err, LOOM_E_CONFIG, "%s:%lld: %d columns instead of 7", r->name,
                   (long long)r->line, r->column);
  if (!at_end && last) return fail_query_line(r, "is followed by another; a row has 7");
  if (r->p < r->end) ++r->p;
  r->digits[n] = '\0';
  return mpz_set_str(out, r->digits, 10) == 0 ? LOOM_OK : fail_query_line(r, "is not an integer");
}

/* A loom_real within a unit of the last place, and its distance from the rational, rounded up. */
static loom_status round_value(reader *r, loom_real *out, double *error)
{
  const double most = sizeof(loom_real) < 8 ? (double)FLT_MAX : DBL_MAX;
  const double d = mpq_get_d(r->value);
  if (!(fabs(d) < 1e-9 * most))
    return fail_query_line(r, "makes a quotient too large for loom's numbers");
  *out = (loom_real)d;
  mpq_set_d(r->rounded, (double)*out);
  mpq_sub(r->rounded, r->rounded, r->value);
  const double e = fabs(mpq_get_d(r->rounded)) * (1.0 + 4.0 * DBL_EPSILON);
  *error = mpq_sgn(r->rounded) == 0 ? 0.0 : fmax(e, DBL_MIN); /* DBL_MIN: e has underflown */
  return LOOM_OK;
}

static loom_status read_query_row(reader *r, loom_real *x, double *error, int *impact)
{
  mpz_t answer;
  for (int c = 0; c < 3; ++c) {
    double e = 0.0;
    r->column = 2 * c + 1;
    LOOM_TRY(read_integer(r, mpq_numref(r->value)));
    ++r->column;
    LOOM_TRY(read_integer(r, mpq_denref(r->value)));
    if (mpz_sgn(mpq_denref(r->value)) == 0) return fail_query_line(r, "is 0, and a denominator");
    mpq_canonicalize(r->value);
    LOOM_TRY(round_value(r, &x[c], &e));
    *error = fmax(*error, e);
  }
  r->column = COLUMNS;
  mpz_init(answer);
  loom_status s = read_integer(r, answer);
  *impact = mpz_cmp_ui(answer, 1) == 0;
  if (s == LOOM_OK && !*impact && mpz_sgn(answer) != 0)
    s = fail_query_line(r, "is the known answer, and neither 0 nor 1");
  mpz_clear(answer);
  return s;
}

static loom_status read_query(reader *r, ccd_queries *out)
{
  const int64_t q = out->num, line = r->line;
  double error = 0.0;
  for (int row = 0; row < ROWS; ++row, ++r->line) {
    int impact = 0;
    if (r->p == r->end)
      return err_set(r->err, LOOM_E_CONFIG,
                     "%s:%lld: the query that begins in line %lld has %d "
                     "rows instead of 8",
                     r->name, (long long)(r->line - 1), (long long)line, row);
    loom_real *const x = (row < 4 ? out->x0 : out->x1) + 12 * q + 3 * (row % 4);
    LOOM_TRY(read_query_row(r, x, &error, &impact));
    if (row > 0 && impact != out->impacts[q])
      return fail_query_line(r, "differs from the rows before; a query has one answer");
    out->impacts[q] = (unsigned char)impact;
  }
  /* each of two points moves by at most sqrt(3) times the largest error of a coordinate */
  out->shift[q] = (loom_real)(3.4642 * error);
  out->rounded += error > 0.0;
  ++out->num;
  return LOOM_OK;
}

static void skip_blank_lines(reader *r)
{
  const char *p = r->p;
  for (; p < r->end && (*p == '\n' || *p == '\r' || *p == ' '); ++p) {
    if (*p != '\n') continue;
    r->p = p + 1;
    ++r->line;
  }
  if (p == r->end) r->p = p;
}

loom_status ccd_queries_parse(loom_err *err, const char *name, const char *text, size_t size,
                              ccd_queries *out)
{
  reader *const r = calloc(1, sizeof *r);
  size_t rows = 1;
  memset(out, 0, sizeof *out);
  for (size_t i = 0; i < size; ++i) rows += text[i] == '\n';
  const size_t most = rows / ROWS + 1;
  out->x0 = malloc(12 * most * sizeof *out->x0);
  out->x1 = malloc(12 * most * sizeof *out->x1);
  out->shift = malloc(most * sizeof *out->shift);
  out->impacts = malloc(most);
  loom_status s = LOOM_OK;
  if (r == NULL || out->x0 == NULL || out->x1 == NULL || out->shift == NULL ||
      out->impacts == NULL) {
    s = err_set(err, LOOM_E_NOMEM, "%s: no memory for %zu rows", name, rows);
  } else {
    *r = (reader){.err = err, .name = name, .p = text, .end = text + size, .line = 1};
    mpq_inits(r->value, r->rounded, NULL);
    for (skip_blank_lines(r); s == LOOM_OK && r->p < r->end; skip_blank_lines(r))
      s = read_query(r, out);
    if (s == LOOM_OK && out->num == 0)
      s = err_set(err, LOOM_E_CONFIG, "%s:1: no queries; a query has 8 rows of 7 integers", name);
    mpq_clears(r->value, r->rounded, NULL);
  }
  free(r);
  if (s != LOOM_OK) ccd_queries_free(out);
  return s;
}

static loom_status read_query_file(loom_err *err, const char *path, char **text, size_t *size)
{
  size_t cap = 0;
  FILE *const f = fopen(path, "rb");
  if (f == NULL) return err_set(err, LOOM_E_CONFIG, "%s: %s", path, strerror(errno));
  for (*size = 0; feof(f) == 0 && ferror(f) == 0;) {
    if (*size == cap) {
      cap = cap > 0 ? 2 * cap : 1 << 16;
      char *const more = realloc(*text, cap);
      if (more == NULL) break;
      *text = more;
    }
    *size += fread(*text + *size, 1, cap - *size, f);
  }
  const int failed = ferror(f) || *size == cap;
  const int cause = errno;
  fclose(f);
  return failed ? err_set(err, LOOM_E_CONFIG, "%s: cannot be read: %s", path, strerror(cause))
                : LOOM_OK;
}

loom_status ccd_queries_read(loom_err *err, const char *path, ccd_queries *out)
{
  char *text = NULL;
  size_t size = 0;
  memset(out, 0, sizeof *out);
  loom_status s = read_query_file(err, path, &text, &size);
  if (s == LOOM_OK) s = ccd_queries_parse(err, path, text, size, out);
  free(text);
  return s;
}

void ccd_queries_free(ccd_queries *q)
{
  free(q->x0);
  free(q->x1);
  free(q->shift);
  free(q->impacts);
  memset(q, 0, sizeof *q);
}
