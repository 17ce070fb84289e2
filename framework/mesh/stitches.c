/* stitches.c - reader of the lines `stitch I A B T`. */
#include "mesh/stitches.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/words.h"
#include "core/err_word.h"

typedef struct place { /* of a line, for messages */
  loom_err *err;
  const char *name;
  int64_t line;
} place;

static loom_status refuse_stitch_vertex(const place *p, int64_t id, int64_t num_verts)
{
  return err_set(p->err, LOOM_E_CONFIG,
                 "%s:%lld: stitch: there is no vertex %lld; the mesh has 0 to %lld (ids count from "
                 "0 here)",
                 p->name, (long long)p->line, (long long)id, (long long)num_verts - 1);
}

/* An id that is neither of the two. */
static int32_t other_than(int32_t i, int32_t j)
{
  int32_t k = 0;
  while (k == i || k == j) ++k;
  return k;
}

int stitches_settle(mesh_stitch *s)
{
  if (s->a == s->b) s->t = 0;
  if (s->t == 1) {
    const int32_t a = s->a;
    s->a = s->b;
    s->b = a;
    s->t = 0;
  }
  if (s->i == s->a || (s->i == s->b && s->t > 0)) return 0;
  if (s->t == 0 && (s->b == s->i || s->b == s->a)) s->b = other_than(s->i, s->a);
  return 1;
}

/* Reads the line behind the word `stitch`. */
static loom_status read_stitch_fields(const place *p, words *w, int64_t num_verts, mesh_stitch *out)
{
  int64_t id[3];
  double t;
  for (int k = 0; k < 3; ++k)
    if (!words_int(w, &id[k]))
      return err_set(p->err, LOOM_E_CONFIG,
                     "%s:%lld: stitch: three vertex ids and a share needed: stitch I A B T",
                     p->name, (long long)p->line);
  if (!words_real(w, &t) || !words_at_end(w))
    return err_set(p->err, LOOM_E_CONFIG,
                   "%s:%lld: stitch: one number needed behind the ids: stitch I A B T", p->name,
                   (long long)p->line);
  for (int k = 0; k < 3; ++k)
    if (id[k] < 0 || id[k] >= num_verts) return refuse_stitch_vertex(p, id[k], num_verts);
  if (!(t >= 0 && t <= 1))
    return err_set(p->err, LOOM_E_CONFIG,
                   "%s:%lld: stitch: the share %g of the way from vertex %lld to %lld is not in "
                   "[0,1]",
                   p->name, (long long)p->line, t, (long long)id[1], (long long)id[2]);
  *out = (mesh_stitch){.i = (int32_t)id[0],
                       .a = (int32_t)id[1],
                       .b = (int32_t)id[2],
                       .line = (int32_t)(p->line < INT32_MAX ? p->line : INT32_MAX),
                       .t = t};
  if (stitches_settle(out)) return LOOM_OK;
  return err_set(p->err, LOOM_E_CONFIG,
                 "%s:%lld: stitch: vertex %d would be sewn to itself; leave the line out", p->name,
                 (long long)p->line, out->i);
}

static loom_status append_stitch(const place *p, const mesh_stitch *s, mesh_stitch **out,
                                 int64_t *num, int64_t *room)
{
  if (*num == *room) {
    const int64_t more = *room > 0 ? 2 * *room : 256;
    mesh_stitch *const bigger = realloc(*out, (size_t)more * sizeof *bigger);
    if (bigger == NULL)
      return err_set(p->err, LOOM_E_NOMEM, "%s: no memory for %lld stitches", p->name,
                     (long long)more);
    *out = bigger;
    *room = more;
  }
  (*out)[(*num)++] = *s;
  return LOOM_OK;
}

static loom_status read_stitch_line(const place *p, const char *line, int among, int64_t num_verts,
                                    mesh_stitch *out, int *found)
{
  words w;
  words_start(&w, line);
  *found = words_next(&w) && strcmp(w.word, "stitch") == 0;
  if (*found) return read_stitch_fields(p, &w, num_verts, out);
  if (among || w.word[0] == '\0') return LOOM_OK;
  char shown[ERR_WORD];
  return err_set(p->err, LOOM_E_CONFIG, "%s:%lld: \"%s\" is no stitch; lines are: stitch I A B T",
                 p->name, (long long)p->line, err_word(w.word, strlen(w.word), shown));
}

/* A line without its comment and its end, cut where no stitch could be so long. */
static void copy_line(const char *text, size_t len, char *out, size_t room)
{
  const size_t to = strcspn(text, "#\r\n");
  const size_t n = to < len ? to : len;
  snprintf(out, room, "%.*s", (int)(n < room ? n : room - 1), text);
}

loom_status stitches_parse(loom_err *err, const char *name, const char *text, int among,
                           int64_t num_verts, mesh_stitch **out, int64_t *num)
{
  place p = {.err = err, .name = name, .line = 1};
  loom_status s = LOOM_OK;
  int64_t room = 0;
  *out = NULL;
  *num = 0;
  if (num_verts < 3)
    return err_set(err, LOOM_E_CONFIG, "%s: a mesh of %lld vertices has no edge to sew to", name,
                   (long long)num_verts);
  for (; *text != '\0' && s == LOOM_OK; ++p.line) {
    const size_t len = strcspn(text, "\n");
    char line[256];
    mesh_stitch one;
    int found = 0;
    copy_line(text, len, line, sizeof line);
    s = read_stitch_line(&p, line, among, num_verts, &one, &found);
    if (s == LOOM_OK && found) s = append_stitch(&p, &one, out, num, &room);
    text += len + (text[len] == '\n');
  }
  if (s == LOOM_OK) return LOOM_OK;
  free(*out);
  *out = NULL;
  *num = 0;
  return s;
}

loom_status stitches_read(loom_err *err, const char *path, int among, int64_t num_verts,
                          mesh_stitch **out, int64_t *num)
{
  char *text;
  size_t len;
  *out = NULL;
  *num = 0;
  LOOM_TRY(words_file(err, path, &text, &len));
  const loom_status s = stitches_parse(err, path, text, among, num_verts, out, num);
  free(text);
  return s;
}
