/* out_file.c - see out_file.h. */
#define _GNU_SOURCE /* mkostemp */
#include "core/out_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEAD = 4096 };

static loom_status refuse_output(loom_err *err, const char *path, const char *what)
{
  return err_set(err, LOOM_E_CONFIG, "%s: %s; remove it, or name another file", path, what);
}

/* The present file may be replaced; *mode gets its permissions, 0 if there is none. */
static loom_status check_present_file(loom_err *err, const char *path, int kind, mode_t *mode)
{
  char head[HEAD];
  struct stat st;
  *mode = 0;
  if (lstat(path, &st) != 0) {
    if (errno == ENOENT) return LOOM_OK;
    return err_set(err, LOOM_E_IO, "%s: cannot be written: %s", path, strerror(errno));
  }
  if (S_ISLNK(st.st_mode))
    return refuse_output(err, path, "is a symbolic link, and a link is not written through");
  if (!S_ISREG(st.st_mode)) return refuse_output(err, path, "is no regular file");
  *mode = st.st_mode & 07777;
  if (access(path, W_OK) != 0)
    return err_set(err, LOOM_E_IO, "%s: cannot be written: %s", path, strerror(errno));
  if (st.st_size == 0) return LOOM_OK;
  const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  const ssize_t n = fd >= 0 ? read(fd, head, sizeof head) : -1;
  const int code = errno;
  if (fd >= 0) close(fd);
  if (n < 0)
    return err_set(err, LOOM_E_IO, "%s: cannot be read, so it is not replaced: %s", path,
                   strerror(code));
  if (out_kind_is(kind, head, (size_t)n)) return LOOM_OK;
  return err_set(err, LOOM_E_CONFIG,
                 "%s: is there and is not %s by its contents, so it is not replaced; remove it, or "
                 "name another file",
                 path, out_kind_name(kind));
}

loom_status out_file_check(loom_err *err, const char *path, int kind)
{
  mode_t mode;
  return check_present_file(err, path, kind, &mode);
}

/* Permissions of a new file; umask() returns its value only when a new one is set. */
static mode_t usual_mode(void)
{
  const mode_t mask = umask(0);
  (void)umask(mask);
  return 0666 & ~mask;
}

loom_status out_file_open(loom_err *err, const char *path, int kind, out_file *o)
{
  mode_t mode;
  memset(o, 0, sizeof *o);
  o->kind = kind;
  LOOM_TRY(check_present_file(err, path, kind, &mode));
  const int n = snprintf(o->path, sizeof o->path, "%s", path);
  if (n < 0 || n >= (int)sizeof o->path)
    return err_set(err, LOOM_E_IO, "%.60s...: the name is too long", path);
  snprintf(o->temp, sizeof o->temp, "%s.XXXXXX", path);
  const int fd = mkostemp(o->temp, O_CLOEXEC);
  if (fd >= 0 && fchmod(fd, mode != 0 ? mode : usual_mode()) == 0) o->f = fdopen(fd, "wb");
  if (o->f != NULL) return LOOM_OK;
  const int code = errno;
  if (fd >= 0) {
    close(fd);
    unlink(o->temp);
  }
  return err_set(err, LOOM_E_IO, "%s: cannot be created: %s", path, strerror(code));
}

loom_status out_file_close(loom_err *err, out_file *o, loom_status so_far)
{
  if (o->f == NULL) return so_far;
  loom_status s = so_far;
  mode_t mode;
  const int lost = ferror(o->f), closed = fclose(o->f) == 0, code = closed ? 0 : errno;
  if (s == LOOM_OK && (lost || !closed))
    s = err_set(err, LOOM_E_IO, "%s: cannot be written: %s", o->path,
                code != 0 ? strerror(code) : "the disk did not take all of it");
  if (s == LOOM_OK)
    s = check_present_file(err, o->path, o->kind, &mode); /* another process may have made it */
  if (s == LOOM_OK && rename(o->temp, o->path) != 0)
    s = err_set(err, LOOM_E_IO, "%s: cannot be put in place: %s", o->path, strerror(errno));
  if (s != LOOM_OK) unlink(o->temp);
  o->f = NULL;
  return s;
}
