/* build.c - helpers that the files which build a scene share, see build.h. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scene/base/build.h"

/* A line behind the lines of *text. */
static loom_status append_note_line(builder *b, char **text, const char *line)
{
  const size_t used = *text != NULL ? strlen(*text) : 0;
  char *p = realloc(*text, used + strlen(line) + 2);
  if (p == NULL) return err_set(b->err, LOOM_E_NOMEM, "no memory for a note");
  *text = p;
  sprintf(p + used, "%s\n", line);
  return LOOM_OK;
}

enum { LINE_ROOM = 1024 };

loom_status build_note(builder *b, const char *fmt, ...)
{
  char line[LINE_ROOM];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(line, sizeof line, fmt, ap);
  va_end(ap);
  return append_note_line(b, &b->s->notes, line);
}

loom_status build_warn(builder *b, const char *fmt, ...)
{
  char line[LINE_ROOM];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(line, sizeof line, fmt, ap);
  va_end(ap);
  return append_note_line(b, &b->s->warnings, line);
}

loom_status build_list(builder *b, const char *fmt, ...)
{
  char line[LINE_ROOM];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(line, sizeof line, fmt, ap);
  va_end(ap);
  return append_note_line(b, &b->s->inventory, line);
}

loom_status build_copy(builder *b, const char *text, char **out)
{
  const size_t size = strlen(text) + 1;
  LOOM_TRY(mesh_alloc(b->err, (int64_t)size, 1, out));
  memcpy(*out, text, size);
  return LOOM_OK;
}

loom_status build_place(const builder *b, const cfg_section *sec, const char *key, loom_status s)
{
  char place[1024];
  err_prefix(b->err, "%s", cfg_place(sec, key, place, sizeof place));
  return s;
}

loom_status build_new(builder *b, const char *name, int type, int64_t count, loom_buf **out)
{
  const loom_status s = buf_new(b->s->m, "scene", name, type, count, out);
  if (s != LOOM_OK) *b->err = *mem_err(b->s->m);
  return s;
}

loom_status build_map(builder *b, loom_buf *buf, void *p)
{
  void *at;
  const loom_status s = buf_map(b->s->m, NULL, buf, LOOM_WRITE, LOOM_AT_HOST, &at);
  if (s != LOOM_OK) {
    *b->err = *mem_err(b->s->m);
    return s;
  }
  memcpy(p, &at, sizeof at);
  return LOOM_OK;
}

loom_status build_extend(builder *b, const char *name, const void *table)
{
  loom_scene *const pub = &b->s->pub;
  const size_t count = (size_t)pub->num_extensions + 1;
  loom_extension *const p = realloc(b->s->extensions, count * sizeof *p);
  if (p == NULL) return err_set(b->err, LOOM_E_NOMEM, "no memory for the extension %s", name);
  p[pub->num_extensions++] = (loom_extension){name, table};
  pub->extensions = b->s->extensions = p;
  return LOOM_OK;
}

loom_status build_check_room(builder *b, const cfg_section *sec, const char *key,
                             const scene_counts *more)
{
  scene_counts *const all = &b->counts;
  all->verts += more->verts;
  all->yarn_verts += more->yarn_verts;
  all->cells += more->cells;
  if (b->room == NULL || b->room->check == NULL) return LOOM_OK;
  const loom_status s = b->room->check(b->room->user, b->err, all);
  return s == LOOM_OK || sec == NULL ? s : build_place(b, sec, key, s);
}
