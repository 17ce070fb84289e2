/* scan.c - one INI text: iniparser reads it, and this file finds the line of each key.
 *
 * iniparser keeps no line numbers, merges duplicates, lower-cases names, joins lines that end
 * in a backslash and stops at a line limit.  So the text is scanned here first by the same
 * grammar, every construct that iniparser would alter is refused with its line, and afterwards both
 * readings must agree key by key.
 */
#define _GNU_SOURCE /* memfd_create: iniparser 4.1 reads named files only */
#include "config/cfg_internal.h"

#include <errno.h>
#include <iniparser.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/err_word.h"

int cfg_utf8_valid(const char *s, size_t len)
{
  const unsigned char *p = (const unsigned char *)s, *const end = p + len;
  while (p < end) {
    const unsigned c = *p++;
    if (c < 0x80) continue;
    const int more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : 1;
    uint32_t u = c & (0x3fu >> more);
    if (c < 0xc2 || c > 0xf4 || end - p < more) return 0;
    for (int k = 0; k < more; ++k, ++p) {
      if ((*p & 0xc0) != 0x80) return 0;
      u = u << 6 | (*p & 0x3fu);
    }
    /* no longer form than needed, no surrogates, nothing past U+10FFFF */
    if ((more == 2 && u < 0x800) || (more == 3 && (u < 0x10000 || u > 0x10ffff))) return 0;
    if (u >= 0xd800 && u <= 0xdfff) return 0;
  }
  return 1;
}

static int is_lower(char c) { return c >= 'a' && c <= 'z'; }
static int is_name_char(char c) { return is_lower(c) || (c >= '0' && c <= '9') || c == '_'; }

int cfg_key_valid(const char *s, size_t len)
{
  if (len == 0 || len > CFG_NAME_MAX || !is_lower(s[0])) return 0;
  for (size_t i = 0; i < len; ++i)
    if (!is_name_char(s[i])) return 0;
  return 1;
}

int cfg_section_valid(const char *s, size_t len)
{
  size_t part = 0;
  if (len == 0 || !is_lower(s[0])) return 0;
  for (size_t i = 0; i < len; ++i) {
    if (s[i] == '.') {
      if (part == 0) return 0;
      part = 0;
    } else if ((!is_name_char(s[i]) && s[i] != '-') || ++part > CFG_NAME_MAX) {
      return 0;
    }
  }
  return part > 0;
}

typedef struct scanner {
  loom_err *err;
  cfg *c;
  const char *name;    /* of the text, for messages */
  int quote;           /* messages may repeat the text */
  char *copy;          /* text for iniparser: comments after headers are blanked */
  const char *section; /* the present one */
  int first;           /* its header's record, -1 above the first header */
  cfg_record *rec;
  int num, line;
} scanner;

static loom_status refuse_line(scanner *sc, const char *what)
{
  return err_set(sc->err, LOOM_E_CONFIG, "%s:%d: %s", sc->name, sc->line, what);
}

static int is_blank_char(char c) { return c == ' ' || c == '\t'; }

static void strip_blanks(char **s, size_t *len)
{
  while (*len > 0 && is_blank_char(**s)) ++*s, --*len;
  while (*len > 0 && is_blank_char((*s)[*len - 1])) --*len;
}

static int comment_or_end(const char *s, size_t len)
{
  while (len > 0 && is_blank_char(*s)) ++s, --len;
  return len == 0 || *s == ';' || *s == '#';
}

static loom_status append_record(scanner *sc, const char *key, const char *value)
{
  cfg_record *const list = cfg_grow(sc->c, sc->rec, sc->num, sizeof *list);
  if (list == NULL) return cfg_nomem(sc->err);
  sc->rec = list;
  sc->rec[sc->num++] = (cfg_record){sc->section, key, value, sc->line};
  return LOOM_OK;
}

static loom_status scan_header(scanner *sc, char *s, size_t len)
{
  char *const close = memchr(s, ']', len);
  if (close == NULL) return refuse_line(sc, "the section header lacks its ']'; write [name]");
  const size_t rest = len - (size_t)(close + 1 - s);
  if (!comment_or_end(close + 1, rest))
    return refuse_line(sc, "text after the section header; only a comment (; or #) may follow ']'");
  memset(close + 1, ' ', rest);

  char *name = s + 1;
  size_t n = (size_t)(close - name);
  strip_blanks(&name, &n);
  if (!cfg_section_valid(name, n))
    return err_set(sc->err, LOOM_E_CONFIG,
                   "%s:%d: %s%.*s%s is no section name; allowed: lower-case letters, digits, '_', "
                   "'-', parts joined by '.', up to %d bytes each, beginning with a letter",
                   sc->name, sc->line, sc->quote ? "'" : "the text in brackets",
                   sc->quote ? (int)n : 0, name, sc->quote ? "'" : "", CFG_NAME_MAX);
  sc->section = cfg_copy(sc->c, name, n);
  if (sc->section == NULL) return cfg_nomem(sc->err);
  for (int i = 0; i < sc->num; ++i)
    if (sc->rec[i].key == NULL && strcmp(sc->rec[i].section, sc->section) == 0)
      return err_set(sc->err, LOOM_E_CONFIG,
                     "%s:%d: [%s] is opened a second time (first in line %d); join the two",
                     sc->name, sc->line, sc->section, sc->rec[i].line);
  sc->first = sc->num;
  return append_record(sc, NULL, NULL);
}

/* In quotes a backslash is an escape for iniparser from version 4.2 on and a character for older
 * ones; at the end of a value it would have to be quoted where the value is written again. */
static loom_status check_backslash(scanner *sc, const char *key, const char *value, size_t len,
                                   int quoted)
{
  if (quoted && memchr(value, '\\', len) != NULL)
    return err_set(sc->err, LOOM_E_CONFIG,
                   "%s:%d: [%s] %s: a backslash in quotes, which not every version of iniparser "
                   "reads alike; leave out the quotes, or the backslash",
                   sc->name, sc->line, sc->section, key);
  if (len > 0 && value[len - 1] == '\\')
    return err_set(sc->err, LOOM_E_CONFIG,
                   "%s:%d: [%s] %s: the value ends in a backslash; leave it out", sc->name,
                   sc->line, sc->section, key);
  return LOOM_OK;
}

/* The value after '=': quoted text, or everything up to a comment. */
static loom_status scan_value(scanner *sc, const char *key, char *s, size_t len, const char **out)
{
  char *const value = s;
  size_t n = len;
  strip_blanks(&s, &len);
  if (len > 0 && (s[0] == '"' || s[0] == '\'')) {
    const char *const close = memchr(s + 1, s[0], len - 1);
    if (close == NULL)
      return err_set(sc->err, LOOM_E_CONFIG, "%s:%d: [%s] %s: the quote %c is not closed", sc->name,
                     sc->line, sc->section, key, s[0]);
    n = (size_t)(close - s - 1);
    LOOM_TRY(check_backslash(sc, key, s + 1, n, 1));
    if (!comment_or_end(close + 1, len - n - 2))
      return err_set(sc->err, LOOM_E_CONFIG,
                     "%s:%d: [%s] %s: text after the closing quote; only a comment may follow",
                     sc->name, sc->line, sc->section, key);
    *out = cfg_copy(sc->c, s + 1, n);
  } else {
    s = value;
    for (size_t i = 0; i < n; ++i)
      if (s[i] == ';' || s[i] == '#') n = i;
    strip_blanks(&s, &n);
    LOOM_TRY(check_backslash(sc, key, s, n, 0));
    *out = cfg_copy(sc->c, s, n);
  }
  if (n > CFG_VALUE_MAX)
    return err_set(sc->err, LOOM_E_CONFIG,
                   "%s:%d: [%s] %s: the value has %zu bytes; allowed: up to %d", sc->name, sc->line,
                   sc->section, key, n, CFG_VALUE_MAX);
  return *out != NULL ? LOOM_OK : cfg_nomem(sc->err);
}

static loom_status scan_assignment(scanner *sc, char *s, size_t len)
{
  char *const eq = memchr(s, '=', len), *name = s;
  char shown[ERR_WORD];
  if (eq == NULL)
    return err_set(sc->err, LOOM_E_CONFIG,
                   "%s:%d: %s%s%s is neither [section] nor key = value nor a comment (; or #)",
                   sc->name, sc->line, sc->quote ? "'" : "the line",
                   err_word(s, sc->quote ? len : 0, shown), sc->quote ? "'" : "");
  size_t n = (size_t)(eq - s);
  strip_blanks(&name, &n);
  if (!cfg_key_valid(name, n))
    return err_set(sc->err, LOOM_E_CONFIG,
                   "%s:%d: [%s] %s%.*s%s is no key; allowed: lower-case letters, digits and '_', "
                   "beginning with a letter, up to %d bytes",
                   sc->name, sc->line, sc->section, sc->quote ? "'" : "the text before '='",
                   sc->quote ? (int)n : 0, name, sc->quote ? "'" : "", CFG_NAME_MAX);
  const char *const key = cfg_copy(sc->c, name, n), *value = NULL;
  if (key == NULL) return cfg_nomem(sc->err);
  const int is_include = strcmp(key, "include") == 0;
  if (sc->section[0] == '\0' && !is_include)
    return err_set(sc->err, LOOM_E_CONFIG,
                   "%s:%d: %s stands in no section; only 'include = FILE' may stand above the "
                   "first [section]",
                   sc->name, sc->line, key);
  if (sc->section[0] != '\0' && is_include)
    return err_set(sc->err, LOOM_E_CONFIG,
                   "%s:%d: [%s] include: 'include = FILE' belongs above the first [section]",
                   sc->name, sc->line, sc->section);
  for (int i = sc->first + 1; i < sc->num && !is_include; ++i)
    if (strcmp(sc->rec[i].key, key) == 0)
      return err_set(sc->err, LOOM_E_CONFIG,
                     "%s:%d: [%s] %s: given a second time (first in line %d); remove one", sc->name,
                     sc->line, sc->section, key, sc->rec[i].line);
  LOOM_TRY(scan_value(sc, key, eq + 1, len - (size_t)(eq + 1 - s), &value));
  return append_record(sc, key, value);
}

static loom_status scan_line(scanner *sc, char *s, size_t len)
{
  if (len > 0 && s[len - 1] == '\r') s[--len] = ' ';
  if (len > CFG_LINE_MAX)
    return err_set(sc->err, LOOM_E_CONFIG, "%s:%d: the line has %zu bytes; allowed: up to %d",
                   sc->name, sc->line, len, CFG_LINE_MAX);
  for (size_t i = 0; i < len; ++i)
    if (((unsigned char)s[i] < 0x20 && s[i] != '\t') || s[i] == 0x7f)
      return err_set(sc->err, LOOM_E_CONFIG,
                     "%s:%d: byte 0x%02x in column %zu; a configuration is plain text (UTF-8)",
                     sc->name, sc->line, (unsigned)(unsigned char)s[i], i + 1);
  if (!cfg_utf8_valid(s, len))
    return refuse_line(sc, "the line is not valid UTF-8; convert the file");
  strip_blanks(&s, &len);
  if (len == 0) return LOOM_OK;
  if (s[len - 1] == '\\')
    return refuse_line(sc, "the line ends in a backslash; lines cannot be continued");
  if (s[0] == ';' || s[0] == '#') return LOOM_OK;
  return s[0] == '[' ? scan_header(sc, s, len) : scan_assignment(sc, s, len);
}

static int ignore_message(const char *fmt, ...)
{
  (void)fmt;
  return 0;
}

/* iniparser's dictionary of the text, through a file in memory. */
static loom_status parse_with_iniparser(scanner *sc, size_t len, dictionary **out)
{
  char path[64];
  const int fd = memfd_create("loom-config", MFD_CLOEXEC);
  size_t done = 0;
  while (fd >= 0 && done < len) {
    const ssize_t n = write(fd, sc->copy + done, len - done);
    if (n == 0 || (n < 0 && errno != EINTR)) break; /* errno is of a failed call alone */
    if (n > 0) done += (size_t)n;
  }
  if (fd < 0 || done < len) {
    err_set(sc->err, LOOM_E_IO, "%s: cannot hand the text to iniparser: %s", sc->name,
            strerror(errno));
    if (fd >= 0) close(fd);
    return LOOM_E_IO;
  }
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  iniparser_set_error_callback(ignore_message);
  errno = 0;
  *out = iniparser_load(path);
  const int code = errno;
  close(fd);
  if (*out != NULL) return LOOM_OK;
  if (code == EMFILE || code == ENFILE || code == ENOMEM)
    return err_set(sc->err, LOOM_E_IO, "%s: cannot be read: %s", sc->name, strerror(code));
  return err_set(sc->err, LOOM_E_CONFIG,
                 "%s: iniparser refuses the text although every line looks right; please report "
                 "the file",
                 sc->name);
}

static loom_status refuse_difference(scanner *sc, const cfg_record *r, const char *seen)
{
  return err_set(sc->err, LOOM_E_CONFIG,
                 "%s:%d: [%s] %s: iniparser reads '%s' where '%s' stands; avoid quotes and "
                 "backslashes in the value",
                 sc->name, r->line, r->section, r->key, seen == NULL ? "nothing" : seen, r->value);
}

/* Every record must be in the dictionary with the same value, which holds no other entries. */
static loom_status check_dictionary(scanner *sc, const dictionary *d)
{
  char name[2 * CFG_LINE_MAX + 8];
  int known = 0;
  const char *last_include = NULL;
  for (int i = 0; i < sc->num; ++i)
    if (sc->rec[i].section[0] == '\0') last_include = sc->rec[i].value;
  for (int i = 0; i < sc->num; ++i) {
    const cfg_record *const r = &sc->rec[i];
    sc->line = r->line;
    if (r->key == NULL) {
      if (!iniparser_find_entry(d, r->section))
        return refuse_line(sc, "iniparser does not see the header");
      ++known;
      continue;
    }
    if (r->section[0] == '\0' && r->value != last_include) continue; /* several includes: merged */
    snprintf(name, sizeof name, "%s:%s", r->section, r->key);
    const char *const seen = iniparser_getstring(d, name, NULL);
    if (seen == NULL || strcmp(seen, r->value) != 0)
      return sc->quote
                 ? refuse_difference(sc, r, seen)
                 : err_set(sc->err, LOOM_E_CONFIG,
                           "%s:%d: [%s] %s: iniparser reads the value differently; avoid quotes "
                           "and backslashes in it",
                           sc->name, r->line, r->section, r->key);
    ++known;
  }
  if (known == (int)d->n) return LOOM_OK;
  return err_set(sc->err, LOOM_E_CONFIG,
                 "%s: iniparser finds %d names where %d stand; please report the file", sc->name,
                 (int)d->n, known);
}

loom_status cfg_scan(loom_err *err, cfg *c, const char *text, size_t len, const char *name,
                     int quote, cfg_record **out, int *num)
{
  scanner sc = {.err = err, .quote = quote, .c = c, .name = name, .section = "", .first = -1};
  if (len > CFG_FILE_MAX)
    return err_set(err, LOOM_E_CONFIG, "%s: the text has %zu bytes; allowed: up to %d", name, len,
                   CFG_FILE_MAX);
  sc.copy = cfg_copy(c, text, len);
  if (sc.copy == NULL) return cfg_nomem(err);
  if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
    memset(sc.copy, ' ', 3); /* byte order mark */

  for (size_t at = 0; at < len;) {
    const char *const nl = memchr(sc.copy + at, '\n', len - at);
    const size_t n = nl != NULL ? (size_t)(nl - sc.copy) - at : len - at;
    if (++sc.line > CFG_FILE_LINES)
      return err_set(err, LOOM_E_CONFIG, "%s: more than %d lines", name, CFG_FILE_LINES);
    LOOM_TRY(scan_line(&sc, sc.copy + at, n));
    at += n + 1;
  }

  dictionary *d = NULL;
  LOOM_TRY(parse_with_iniparser(&sc, len, &d));
  const loom_status s = check_dictionary(&sc, d);
  iniparser_freedict(d);
  *out = sc.rec;
  *num = sc.num;
  return s;
}
