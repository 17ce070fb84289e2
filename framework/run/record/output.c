/* output.c - chooses the path of a run's log, and refuses to replace other files there. */
#define _GNU_SOURCE /* readlink */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run/record/output.h"
#include "run/replay/frame_source.h"
#include "run/run_state.h"

static loom_status too_long(const run *r, const char *path)
{
  return err_set(r->err, LOOM_E_CONFIG,
                 "the log's path has %zu bytes, at most %zu are possible: %.80s...", strlen(path),
                 sizeof r->out.path - 1, path);
}

/* out/<config name>.h5 unless told otherwise */
static loom_status name_log(run *r, const run_options *o)
{
  const char *const given = o->out != NULL ? o->out : r->set.log.file;
  const char *base = strrchr(cfg_path(r->c), '/');
  base = base != NULL ? base + 1 : cfg_path(r->c);
  const char *const dot = strrchr(base, '.');
  const int len = given[0] != '\0'
                      ? snprintf(r->out.path, sizeof r->out.path, "%s", given)
                      : snprintf(r->out.path, sizeof r->out.path, "out/%.*s.h5",
                                 dot != NULL ? (int)(dot - base) : (int)strlen(base), base);
  return len < (int)sizeof r->out.path ? LOOM_OK : too_long(r, given[0] != '\0' ? given : base);
}

/* A path that leads out of the folder loom was started in. */
static int leads_out(const char *path)
{
  if (path[0] == '/') return 1;
  for (const char *s = path; s != NULL; s = strchr(s, '/')) {
    s += *s == '/';
    if (strncmp(s, "..", 2) == 0 && (s[2] == '/' || s[2] == '\0')) return 1;
  }
  return 0;
}

/* A foreign configuration may name any place; a warning tells the user. */
static void tell_place(run *r, const run_options *o)
{
  const cfg_section *const log = cfg_find(r->c, "log");
  const char *dir;
  char place[1200], text[2600];
  if (o->out != NULL || log == NULL || !cfg_given_by_file(log, "file", &dir) ||
      !leads_out(r->set.log.file))
    return;
  snprintf(text, sizeof text,
           "%s: the log goes to %s, outside the current folder; -o names another",
           cfg_place(log, "file", place, sizeof place), r->out.path);
  run_message(r, LOOM_LOG_WARN, text);
}

/* A log, its checkpoints and its journal are written to the named place, never through a link. */
static loom_status refuse_link(const run *r)
{
  struct stat st;
  char to[PATH_MAX];
  if (lstat(r->out.path, &st) != 0 || !S_ISLNK(st.st_mode)) return LOOM_OK;
  const ssize_t len = readlink(r->out.path, to, sizeof to - 1);
  return err_set(r->err, LOOM_E_CONFIG,
                 "%s: is a symbolic link to %.*s, and a log is not written through a link; name "
                 "that file or another one",
                 r->out.path, len < 0 ? 0 : (int)len, to);
}

static int is_same_file(const char *a, const char *b)
{
  struct stat p, q;
  return stat(a, &p) == 0 && stat(b, &q) == 0 && p.st_dev == q.st_dev && p.st_ino == q.st_ino;
}

/* Frames and reference of `loom measure`. */
static loom_status refuse_measured(const run *r)
{
  const run_foreign *const f = r->opt->foreign;
  const char *const read[] = {f->source != NULL ? frame_source_path(f->source) : NULL,
                              f->reference};
  for (size_t i = 0; i < LOOM_COUNT(read); ++i)
    if (read[i] != NULL && is_same_file(r->out.path, read[i]))
      return err_set(r->err, LOOM_E_CONFIG,
                     "%s: is a file that is measured, or the reference; name another one with -o",
                     r->out.path);
  return LOOM_OK;
}

loom_status output_choose(run *r, const run_options *o)
{
  r->out.resume = o->resume != RUN_RESUME_NO;
  r->out.overwrite = o->overwrite ? H5LOG_OVERWRITE : H5LOG_KEEP;
  LOOM_TRY(name_log(r, o));
  tell_place(r, o);
  LOOM_TRY(refuse_link(r));
  if (r->set.run.replay[0] != '\0' && is_same_file(r->out.path, r->set.run.replay))
    return err_set(r->err, LOOM_E_CONFIG,
                   "%s: is the reference that [run] replay reads; name another file with -o",
                   r->out.path);
  if (o->foreign != NULL) LOOM_TRY(refuse_measured(r));
  if (o->resume == RUN_RESUME_AUTO &&
      (access(r->out.path, F_OK) != 0 || !h5checkpoint_exists(r->out.path))) {
    char text[sizeof r->out.path + 64];
    snprintf(text, sizeof text, "%s: there is no checkpoint; the run starts anew", r->out.path);
    run_message(r, LOOM_LOG_INFO, text);
    r->out.resume = 0;
    if (!o->overwrite) r->out.overwrite = H5LOG_OVERWRITE_UNFINISHED;
  }
  return r->out.resume ? LOOM_OK : h5log_target(r->err, r->out.path, r->out.overwrite);
}

loom_status output_folders(run *r)
{
  char text[sizeof r->out.path + 64];
  int made_any = 0;
  for (char *p = r->out.path + 1; *p != '\0'; ++p) {
    if (*p != '/') continue;
    *p = '\0';
    const int made = mkdir(r->out.path, 0777) == 0;
    const int code = errno;
    if (made) snprintf(text, sizeof text, "made the folder %s for the log", r->out.path);
    made_any |= made;
    if (!made && code != EEXIST)
      return err_set(r->err, LOOM_E_IO, "cannot make folder %s: %s; choose another place with -o",
                     r->out.path,
                     code == ENOENT ? "its file system takes no new folders" : strerror(code));
    *p = '/';
  }
  if (made_any) run_message(r, LOOM_LOG_INFO, text); /* the innermost names the others */
  return LOOM_OK;
}
