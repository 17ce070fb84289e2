/* tiny_scene.h - a scene from INI text, with checking memory, for tests. */
#ifndef LOOM_TESTS_TINY_SCENE_H
#define LOOM_TESTS_TINY_SCENE_H

#include <criterion/criterion.h>
#include <string.h>

#include "scene/base/scene_data.h"

typedef struct tiny_scene {
  loom_err err;
  cfg *c;
  mem *m;
  scene_data *s; /* NULL if refused */
  loom_status status;
} tiny_scene;

/* Parse, build with the intersection check, and finish the configuration. */
static inline tiny_scene tiny_open(const char *text)
{
  tiny_scene t = {0};
  cr_assert_eq(cfg_parse(&t.err, text, "tiny.ini", ".", NULL, 0, &t.c), LOOM_OK, "%s", t.err.text);
  cr_assert_eq(mem_new(&t.err, 1, &t.m), LOOM_OK);
  t.status = scene_build(&t.err, t.m, t.c, 1, &t.s);
  if (t.status == LOOM_OK) t.status = cfg_finish(&t.err, t.c);
  return t;
}

static inline tiny_scene tiny_open_ok(const char *text)
{
  tiny_scene t = tiny_open(text);
  cr_assert_eq(t.status, LOOM_OK, "%s", t.err.text);
  return t;
}

/* Everything must have been given back. */
static inline void tiny_close(tiny_scene *t)
{
  char leaks[1000];
  scene_free(t->s);
  cr_assert(mem_mapped(t->m) == NULL, "still mapped: %s", mem_mapped(t->m));
  cr_assert_eq(mem_leaks(t->m, NULL, leaks, sizeof leaks), 0, "%s", leaks);
  mem_free(t->m);
  cfg_free(t->c);
}

/* The scene is refused; the message holds all of the parts (NULL ends the list). */
static inline void tiny_refused(const char *text, const char *const *parts)
{
  tiny_scene t = tiny_open(text);
  cr_assert_eq(t.status, LOOM_E_CONFIG, "accepted, or status %d: %s\n%s", t.status, t.err.text,
               text);
  for (; *parts != NULL; ++parts)
    cr_assert(strstr(t.err.text, *parts) != NULL, "%s\nlacks: %s", t.err.text, *parts);
  tiny_close(&t);
}

/* A copy of a buffer's contents, to be freed. */
static inline void *tiny_copy(const tiny_scene *t, loom_buf *b)
{
  void *p;
  const size_t n = (size_t)buf_count(b) * buf_type_size(buf_type(b));
  char *copy = malloc(n + 1);
  cr_assert_eq(buf_map(t->m, NULL, b, LOOM_READ, LOOM_AT_HOST, &p), LOOM_OK);
  memcpy(copy, p, n);
  cr_assert_eq(buf_unmap(t->m, b), LOOM_OK);
  return copy;
}

#endif
