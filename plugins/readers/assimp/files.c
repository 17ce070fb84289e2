/* files.c - see files.h.  Addresses in a model are relative paths: with "..", a leading slash, or a
 * link they could name any file of the user's, and a pipe would hold the program up. */
#define _GNU_SOURCE /* realpath */
#include "files.h"

#include <assimp/types.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- one file ---- */

static size_t read_items(struct aiFile *a, char *to, size_t size, size_t count)
{
  return fread(to, size, count, (FILE *)(void *)a->UserData);
}

static size_t write_items(struct aiFile *a, const char *from, size_t size, size_t count)
{
  (void)a, (void)from, (void)size, (void)count;
  return 0;
}

static size_t aifile_tell(struct aiFile *a)
{
  const long at = ftell((FILE *)(void *)a->UserData);
  return at > 0 ? (size_t)at : 0;
}

static size_t file_size(struct aiFile *a)
{
  FILE *const f = (FILE *)(void *)a->UserData;
  const long at = ftell(f);
  if (at < 0 || fseek(f, 0, SEEK_END) != 0) return 0;
  const long size = ftell(f);
  return fseek(f, at, SEEK_SET) == 0 && size > 0 ? (size_t)size : 0;
}

static enum aiReturn aifile_seek(struct aiFile *a, size_t offset, enum aiOrigin origin)
{
  static const int from[] = {SEEK_SET, SEEK_CUR, SEEK_END};
  if (offset > LONG_MAX || (int)origin < 0 || (int)origin > 2) return aiReturn_FAILURE;
  return fseek((FILE *)(void *)a->UserData, (long)offset, from[origin]) == 0 ? aiReturn_SUCCESS
                                                                             : aiReturn_FAILURE;
}

static void aifile_flush(struct aiFile *a) { (void)a; }

/* Opens a regular file; does not wait on a FIFO or a device in its place. */
static FILE *open_model_file(const char *path, int flags)
{
  struct stat st;
  const int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags);
  FILE *f = NULL;
  if (fd < 0) return NULL;
  if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) f = fdopen(fd, "rb");
  if (f == NULL) close(fd);
  return f;
}

/* ---- which files ---- */

static int goes_up(const char *path)
{
  for (const char *s = path; s != NULL; s = strchr(s, '/')) {
    s += *s == '/';
    if (strncmp(s, "..", 2) == 0 && (s[2] == '/' || s[2] == '\0')) return 1;
  }
  return 0;
}

static FILE *refuse_model_file(files *f, const char *name, const char *why)
{
  if (f->refused[0] != '\0') return NULL;
  snprintf(f->refused, sizeof f->refused, "%s", name);
  f->why = why;
  return NULL;
}

static int hex_digit(char c)
{
  static const char digits[] = "0123456789abcdef";
  const char low = c >= 'A' && c <= 'F' ? (char)(c - 'A' + 'a') : c;
  const char *const at = low != '\0' ? strchr(digits, low) : NULL;
  return at != NULL ? (int)(at - digits) : -1;
}

/* The name of an address with its bytes %XX (RFC 3986, section 2.1).  0: it has none, or one that
 * is no byte of a name. */
static int decode_address(const char *name, char out[PATH_MAX])
{
  int decoded = 0;
  size_t n = 0;
  for (const char *s = name; *s != '\0' && n + 1 < PATH_MAX; ++s) {
    out[n++] = *s;
    if (*s != '%') continue;
    const int high = hex_digit(s[1]), low = high < 0 ? -1 : hex_digit(s[2]);
    if (low < 0 || (high == 0 && low == 0)) return 0;
    out[n - 1] = (char)(16 * high + low);
    s += 2;
    decoded = 1;
  }
  out[n] = '\0';
  return decoded;
}

/* The regular file of this name in the folder of the model; *there: 0 where there is no file. */
static FILE *open_inside(files *f, const char *name, int *there)
{
  char real[PATH_MAX];
  const size_t len = strlen(f->folder);
  struct stat st;
  *there = 0;
  if (name[0] == '/' && stat(name, &st) != 0) return NULL; /* Assimp puts "/" before some names */
  *there = 1;
  if (name[0] == '/' || goes_up(name)) return refuse_model_file(f, name, "leads out of its folder");
  const int n = snprintf(real, sizeof real, "%.*s%s", (int)f->prefix, f->shown, name);
  if (n < 0 || n >= (int)sizeof real) return refuse_model_file(f, name, "has too long a name");
  char *const found = realpath(real, NULL);
  *there = found != NULL;
  if (found == NULL) return NULL; /* Assimp says that it is not there */
  const int inside = strncmp(found, f->folder, len) == 0 && (found[len] == '/' || len == 1);
  FILE *const out = inside ? open_model_file(found, O_NOFOLLOW) : NULL;
  if (!inside)
    refuse_model_file(f, name, "is a link that leads out of its folder");
  else if (out == NULL && stat(found, &st) == 0 && !S_ISREG(st.st_mode))
    refuse_model_file(f, name, "is no regular file");
  free(found);
  return out;
}

/* A file that the model names, relative to its folder: as it stands there, or else with its
 * percent-encoded bytes. */
static FILE *open_beside(files *f, const char *name)
{
  char plain[PATH_MAX] = {0};
  int there;
  FILE *const out = open_inside(f, name, &there);
  if (there || !decode_address(name, plain)) return out;
  return open_inside(f, plain, &there);
}

/* ---- XML ---- */

/* Leaves out blanks before numbers that are the text of an element, and returns the new length:
 * Assimp takes "<matrix> 1 0" for no number, though lists of numbers in XML may begin so. */
static size_t trim_numbers(char *text, size_t len)
{
  size_t out = 0, blanks = 0; /* since the end of a tag */
  int after_tag = 0;
  for (size_t k = 0; k < len; ++k) {
    const char c = text[k];
    const int blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (after_tag && !blank && c != '\0' && strchr("+-.0123456789", c) != NULL) out -= blanks;
    after_tag = c == '>' || (after_tag && blank);
    blanks = after_tag && blank ? blanks + 1 : 0;
    text[out++] = c;
  }
  return out;
}

/* All of a file, which it closes. */
static char *read_text(FILE *from, size_t *len)
{
  struct stat st;
  char *text = NULL;
  if (fstat(fileno(from), &st) == 0 && st.st_size > 0) text = malloc((size_t)st.st_size);
  *len = text != NULL ? fread(text, 1, (size_t)st.st_size, from) : 0;
  fclose(from);
  return text;
}

static FILE *open_xml(files *f)
{
  FILE *const from = f->text == NULL ? open_model_file(f->path, 0) : NULL;
  if (from != NULL) {
    f->text = read_text(from, &f->len);
    f->len = trim_numbers(f->text, f->len);
  }
  return f->text != NULL && f->len > 0 ? fmemopen(f->text, f->len, "rb") : NULL;
}

static struct aiFile *aifile_open(struct aiFileIO *io, const char *name, const char *mode)
{
  files *const f = (files *)(void *)io;
  FILE *file = NULL;
  if (mode == NULL || mode[0] != 'r' || strchr(mode, '+') != NULL) return NULL;
  if (strcmp(name, f->shown) == 0)
    file = f->is_xml         ? open_xml(f)
           : f->text != NULL ? fmemopen(f->text, f->len, "rb")
                             : open_model_file(f->path, 0);
  else if (strncmp(name, f->shown, f->prefix) == 0)
    file = open_beside(f, name + f->prefix);
  else
    refuse_model_file(f, name, "leads out of its folder");
  if (file == NULL) return NULL;
  struct aiFile *const a = malloc(sizeof *a);
  if (a == NULL) {
    fclose(file);
    return NULL;
  }
  *a = (struct aiFile){.ReadProc = read_items,
                       .WriteProc = write_items,
                       .TellProc = aifile_tell,
                       .FileSizeProc = file_size,
                       .SeekProc = aifile_seek,
                       .FlushProc = aifile_flush,
                       .UserData = (aiUserData)(void *)file};
  return a;
}

static void close_one(struct aiFileIO *io, struct aiFile *a)
{
  (void)io;
  if (a == NULL) return;
  fclose((FILE *)(void *)a->UserData);
  free(a);
}

int files_open(files *f, const char *path, const char *suffix)
{
  const char *const slash = strrchr(path, '/'), *const name = slash != NULL ? slash + 1 : path;
  const char *const dot = strrchr(name, '.');
  const int stem = (int)(dot != NULL && dot > name ? dot - name : (long)strlen(name));
  char folder[PATH_MAX];
  memset(f, 0, sizeof *f);
  f->path = path;
  f->is_xml = strcmp(suffix, "dae") == 0;
  const int prefix = slash != NULL
                         ? snprintf(f->shown, sizeof f->shown, "%.*s/", (int)(slash - path), path)
                         : snprintf(f->shown, sizeof f->shown, "./");
  if (prefix < 0 || prefix + stem + 8 > (int)sizeof f->shown) return 0;
  f->prefix = (size_t)prefix;
  snprintf(folder, sizeof folder, "%s", f->shown);
  snprintf(f->shown + prefix, sizeof f->shown - (size_t)prefix, "%.*s.%s", stem, name, suffix);
  f->io = (struct aiFileIO){.OpenProc = aifile_open, .CloseProc = close_one};
  return realpath(folder, f->folder) != NULL;
}

void files_lower(files *f)
{
  FILE *const from = open_model_file(f->path, 0);
  char head[5] = "";
  if (from == NULL) return;
  const int read = fread(head, 1, sizeof head, from) == sizeof head;
  if (!read || memcmp(head, "solid", 5) == 0 || strncasecmp(head, "solid", 5) != 0 ||
      fseek(from, 0, SEEK_SET) != 0) {
    fclose(from);
    return;
  }
  f->text = read_text(from, &f->len);
  for (size_t k = 0; f->text != NULL && k < f->len; ++k)
    if (f->text[k] >= 'A' && f->text[k] <= 'Z') f->text[k] = (char)(f->text[k] - 'A' + 'a');
}

void files_close(files *f)
{
  free(f->text);
  f->text = NULL;
}
