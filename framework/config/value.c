/* value.c - one value: numbers with units, vectors, switches, choices; and back to text.
 *
 * A unit is a product of powers of SI symbols.  Its power of ten goes into the decimal
 * exponent of the number before it is converted, so "7 mm" is the same double as 0.007.
 */
#include "config/cfg_internal.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- units ---- */

enum { DIM_M, DIM_KG, DIM_S, DIM_K, DIM_RAD, NUM_DIMS };
enum { UNIT_MAX = 64 }; /* bytes of a unit */

typedef struct unit {
  int dim[NUM_DIMS];
  int ten;       /* power of ten */
  double factor; /* value in SI = number * 10^ten * factor */
} unit;

static const struct {
  const char *name;
  int prefixed; /* takes decimal prefixes */
  int dim[NUM_DIMS], ten;
  double factor;
} symbols[] = {
    {"m", 1, {1, 0, 0, 0, 0}, 0, 1},
    {"g", 1, {0, 1, 0, 0, 0}, -3, 1},
    {"s", 1, {0, 0, 1, 0, 0}, 0, 1},
    {"K", 0, {0, 0, 0, 1, 0}, 0, 1},
    {"rad", 1, {0, 0, 0, 0, 1}, 0, 1},
    {"N", 1, {1, 1, -2, 0, 0}, 0, 1},
    {"Pa", 1, {-1, 1, -2, 0, 0}, 0, 1},
    {"J", 1, {2, 1, -2, 0, 0}, 0, 1},
    {"W", 1, {2, 1, -3, 0, 0}, 0, 1},
    {"Hz", 1, {0, 0, -1, 0, 0}, 0, 1},
    {"t", 0, {0, 1, 0, 0, 0}, 3, 1},
    {"min", 0, {0, 0, 1, 0, 0}, 0, 60},
    {"%", 0, {0, 0, 0, 0, 0}, -2, 1},
    {"1", 0, {0, 0, 0, 0, 0}, 0, 1},
    {"deg", 0, {0, 0, 0, 0, 1}, 0, 0.017453292519943295},
};
static const struct {
  char letter;
  int ten;
} prefixes[] = {{'G', 9},  {'M', 6},  {'k', 3},  {'d', -1}, {'c', -2},
                {'m', -3}, {'u', -6}, {'n', -9}, {'p', -12}};

static int find_symbol(const char *s, size_t n, int prefixed)
{
  for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; ++i)
    if (strlen(symbols[i].name) == n && memcmp(symbols[i].name, s, n) == 0 &&
        (!prefixed || symbols[i].prefixed))
      return (int)i;
  return -1;
}

static int apply_symbol(unit *u, const char *s, size_t n, int power)
{
  int ten = 0, k = find_symbol(s, n, 0);
  for (size_t p = 0; k < 0 && n > 1 && p < sizeof prefixes / sizeof prefixes[0]; ++p)
    if (prefixes[p].letter == s[0]) {
      k = find_symbol(s + 1, n - 1, 1);
      ten = prefixes[p].ten;
    }
  if (k < 0) return 0;
  for (int d = 0; d < NUM_DIMS; ++d) u->dim[d] += power * symbols[k].dim[d];
  u->ten += power * (ten + symbols[k].ten);
  u->factor *= pow(symbols[k].factor, power);
  return 1;
}

/* Typographic forms to plain ones: superscripts, middle dot, micro sign. */
static void plain_unit(const char *text, char out[UNIT_MAX])
{
  static const char *const from[] = {"\xc2\xb2", "\xc2\xb3", "\xc2\xb7", "\xc2\xb5", "\xce\xbc"};
  static const char *const to[] = {"^2", "^3", " ", "u", "u"};
  size_t n = 0;
  while (*text != '\0' && n + 3 < UNIT_MAX) {
    int k = 0;
    while (k < 5 && strncmp(text, from[k], 2) != 0) ++k;
    if (k < 5) {
      for (const char *t = to[k]; *t != '\0'; ++t) out[n++] = *t;
      text += 2;
    } else {
      out[n++] = *text++;
    }
  }
  out[n] = '\0';
}

/* factor { (' ' | '*' | '/') factor }, factor = symbol [ '^' integer ]; '/' divides by the next
 * factor only.  Returns 0 if the text is no such unit. */
static int parse_unit(const char *text, unit *u)
{
  char plain[UNIT_MAX];
  plain_unit(text, plain);
  *u = (unit){.factor = 1};
  int divide = 0, any = 0;
  for (const char *s = plain;;) {
    while (*s == ' ' || *s == '\t') ++s;
    if (*s == '\0') return any && !divide;
    if (*s == '*' || *s == '/') {
      if (divide || (!any && *s == '*')) return 0; /* "/s" stands for "1/s" */
      divide = *s++ == '/';
      while (*s == ' ' || *s == '\t') ++s;
      if (*s == '\0') return 0;
    }
    const size_t n = strcspn(s, " \t*/^");
    const char *const name = s;
    long power = 1;
    s += n;
    if (*s == '^') {
      char *end = NULL;
      power = strtol(s + 1, &end, 10);
      if (end == s + 1 || power < -9 || power > 9) return 0;
      s = end;
    }
    if (!apply_symbol(u, name, n, (int)(divide ? -power : power))) return 0;
    divide = 0;
    any = 1;
  }
}

/* The unit `given` in terms of the expected one: 1 and (ten, factor), or 0. */
static int convert_unit(const char *given, const char *expected, int *ten, double *factor)
{
  unit g, e;
  *ten = 0;
  *factor = 1;
  if (strcmp(given, expected) == 0) return 1; /* also names that are no SI units */
  if (!parse_unit(given, &g) || !parse_unit(expected, &e)) return 0;
  if (memcmp(g.dim, e.dim, sizeof g.dim) != 0) return 0;
  *ten = g.ten - e.ten;
  *factor = g.factor / e.factor;
  return 1;
}

/* ---- numbers ---- */

static size_t count_leading_digits(const char *s) { return strspn(s, "0123456789"); }

/* Length of the decimal number at s, 0 if there is none; the mantissa's length in *mantissa. */
static size_t number_length(const char *s, size_t *mantissa)
{
  size_t n = (size_t)(*s == '+' || *s == '-'), whole = count_leading_digits(s + n), part = 0;
  n += whole;
  if (s[n] == '.') {
    part = count_leading_digits(s + n + 1);
    n += 1 + part;
  }
  *mantissa = n;
  if (whole + part == 0) return 0;
  if (s[n] == 'e' || s[n] == 'E') {
    const size_t sign = (size_t)(s[n + 1] == '+' || s[n + 1] == '-');
    const size_t ex = count_leading_digits(s + n + 1 + sign);
    if (ex > 0) n += 1 + sign + ex;
  }
  return n;
}

static loom_status parse_scaled_number(loom_err *err, const char *s, size_t n, size_t mantissa,
                                       int ten, double factor, double *out)
{
  char text[CFG_LINE_MAX + 32];
  if (n > CFG_LINE_MAX) return err_set(err, LOOM_E_CONFIG, "the number is too long");
  long ex = mantissa < n ? strtol(s + mantissa + 1, NULL, 10) : 0;
  ex = ex > 99999 ? 99999 : ex < -99999 ? -99999 : ex;
  snprintf(text, sizeof text, "%.*se%ld", (int)mantissa, s, ex + ten);
  *out = strtod(text, NULL) * factor;
  if (isfinite(*out)) return LOOM_OK;
  return err_set(err, LOOM_E_CONFIG, "'%.*s' is too large for a double", (int)(n > 60 ? 60 : n), s);
}

static loom_status not_a_number(loom_err *err, const char *text)
{
  if (*text == '\0')
    return err_set(err, LOOM_E_CONFIG, "the value is missing; remove the line for the default");
  return err_set(err, LOOM_E_CONFIG, "'%.80s' is not a finite decimal number", text);
}

/* 1, 3 or 4 numbers separated by blanks or commas, then at most one unit. */
static loom_status parse_reals(loom_err *err, const char *text, const char *expected, int count,
                               double *out)
{
  const char *at[4];
  size_t len[4], mantissa[4];
  const char *s = text, *const many = count == 3 ? "three" : "four";
  if (expected == NULL) expected = "1";
  for (int k = 0; k < count; ++k) {
    s += strspn(s, " \t");
    if (k > 0 && *s == ',') s += 1 + strspn(s + 1, " \t");
    at[k] = s;
    len[k] = number_length(s, &mantissa[k]);
    if (len[k] == 0 && k > 0)
      return err_set(err, LOOM_E_CONFIG, "'%.80s' is not a vector; write %s numbers", text, many);
    if (len[k] == 0) return not_a_number(err, s);
    s += len[k];
    if (k + 1 < count && *s != '\0' && strchr(" \t,", *s) == NULL)
      return err_set(err, LOOM_E_CONFIG,
                     "'%.80s' is not a vector; write %s numbers, then at most one unit", text,
                     many);
  }
  s += strspn(s, " \t");
  int ten = 0;
  double factor = 1;
  if (*s != '\0' && !convert_unit(s, expected, &ten, &factor)) {
    unit u;
    if (!parse_unit(s, &u))
      return err_set(err, LOOM_E_CONFIG,
                     "'%.80s' is neither a number nor a number with a unit "
                     "that is known here; expected unit: %s",
                     text, expected);
    return err_set(err, LOOM_E_CONFIG, "the unit '%.60s' does not fit; expected unit: %s", s,
                   expected);
  }
  for (int k = 0; k < count; ++k)
    LOOM_TRY(parse_scaled_number(err, at[k], len[k], mantissa[k], ten, factor, &out[k]));
  return LOOM_OK;
}

loom_status cfg_parse_real(loom_err *err, const char *text, const char *unit_text, double *out)
{
  return parse_reals(err, text, unit_text, 1, out);
}

loom_status cfg_parse_vec(loom_err *err, const char *text, const char *unit_text, int count,
                          double *out)
{
  return parse_reals(err, text, unit_text, count, out);
}

loom_status cfg_parse_int(loom_err *err, const char *text, const char *unit_text, int64_t *out)
{
  const char *const s = text + strspn(text, " \t");
  const size_t sign = (size_t)(*s == '+' || *s == '-'), n = count_leading_digits(s + sign);
  double v = 0;
  if (n > 0 && n <= 18 && s[sign + n] == '\0') { /* exact, also past 2^53 */
    *out = strtoll(s, NULL, 10);
    return LOOM_OK;
  }
  LOOM_TRY(cfg_parse_real(err, text, unit_text, &v));
  if (v != floor(v) || fabs(v) > 9007199254740992.0) /* 2^53: beyond it doubles skip integers */
    return err_set(err, LOOM_E_CONFIG, "'%.80s' is not an integer", text);
  *out = (int64_t)v;
  return LOOM_OK;
}

loom_status cfg_parse_bool(loom_err *err, const char *text, int32_t *out)
{
  static const char *const words[] = {"no", "yes", "false", "true", "off", "on", "0", "1"};
  for (int i = 0; i < 8; ++i)
    if (strcmp(text, words[i]) == 0) {
      *out = i & 1;
      return LOOM_OK;
    }
  return err_set(err, LOOM_E_CONFIG,
                 "'%.80s' is no switch; allowed: yes, no, true, false, on, off, 1, 0", text);
}

loom_status cfg_parse_enum(loom_err *err, const char *text, const char *choices, int32_t *out)
{
  char copy[CFG_LINE_MAX];
  const char *list[64];
  int n = 0;
  snprintf(copy, sizeof copy, "%s", choices);
  for (char *s = copy; s != NULL && n < 64;) {
    char *const bar = strchr(s, '|');
    if (bar != NULL) *bar = '\0';
    list[n++] = s;
    s = bar != NULL ? bar + 1 : NULL;
  }
  for (int i = 0; i < n; ++i)
    if (strcmp(list[i], text) == 0) {
      *out = i;
      return LOOM_OK;
    }
  const char *const near = err_nearest(text, list, n);
  if (near != NULL)
    return err_set(err, LOOM_E_CONFIG, "'%.80s' is no choice; did you mean '%s'? Allowed: %s", text,
                   near, choices);
  return err_set(err, LOOM_E_CONFIG, "'%.80s' is no choice; allowed: %s", text, choices);
}

/* ---- back to text ---- */

void cfg_print_real(double v, char *buf, size_t len)
{
  char t[32];
  size_t best = SIZE_MAX;
  for (int precision = 1; precision <= 17; ++precision) { /* "10" is shorter than "1e+01" */
    snprintf(t, sizeof t, "%.*g", precision, v);
    if (strtod(t, NULL) != v || strlen(t) > best) continue;
    best = strlen(t);
    snprintf(buf, len, "%s", t);
  }
  if (best == SIZE_MAX) snprintf(buf, len, "%g", v); /* NaN differs from every number */
}

int cfg_in_range(const loom_param *p, double v)
{
  const int above = (p->flags & LOOM_P_OPEN_MIN) != 0 ? v > p->min : v >= p->min;
  const int below = (p->flags & LOOM_P_OPEN_MAX) != 0 ? v < p->max : v <= p->max;
  return above && below; /* false for NaN */
}

void cfg_print_range(const loom_param *p, char *buf, size_t len)
{
  char lo[32], hi[32];
  const char *const unit_text = p->unit != NULL && strcmp(p->unit, "1") != 0 ? p->unit : "";
  const int has_lo = isfinite(p->min), has_hi = isfinite(p->max);
  cfg_print_real(p->min, lo, sizeof lo);
  cfg_print_real(p->max, hi, sizeof hi);
  buf[0] = '\0';
  if (!has_lo && !has_hi) return;
  snprintf(buf, len, "%s%s%s%s%s%s%s",
           !has_lo                             ? ""
           : (p->flags & LOOM_P_OPEN_MIN) != 0 ? "> "
                                               : ">= ",
           has_lo ? lo : "", has_lo && has_hi ? " and " : "",
           !has_hi                             ? ""
           : (p->flags & LOOM_P_OPEN_MAX) != 0 ? "< "
                                               : "<= ",
           has_hi ? hi : "", unit_text[0] != '\0' ? " " : "", unit_text);
}
