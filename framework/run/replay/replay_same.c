/* replay_same.c - a replay compares methods on one problem: it refuses a reference of another.
 *
 * Methods are the sections solver, collision, contact, stop, detect, filter, exec and log, and the
 * keys of [run] below; all other keys are the problem, and so are settings of methods that say so
 * (replay_problem.c).  Keys are compared as they took effect;
 * files are compared by the mesh, the masses and the bodies that were made of them. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/run_state.h"

enum { MOST_NAMED = 6 };

/* ---- keys ---- */

static int one_of(const char *const *names, const char *s, size_t len)
{
  for (; *names != NULL; ++names)
    if (strlen(*names) == len && strncmp(*names, s, len) == 0) return 1;
  return 0;
}

static int is_method(const char *section)
{
  static const char *const kinds[] = {"solver", "collision", "contact", "stop", "detect",
                                      "filter", "exec",      "log",     NULL};
  return one_of(kinds, section, strcspn(section, "."));
}

static int is_difference_allowed(const char *section, const char *key)
{
  static const char *const run_keys[] = {"steps",
                                         "seed",
                                         "guess",
                                         "forwarding",
                                         "forwarding_iters",
                                         "forwarding_below",
                                         "replay",
                                         "replay_first",
                                         "replay_state",
                                         "start_log",
                                         "start_frame",
                                         NULL};
  /* a material gives keys that are compared; the grid is how sdf sees a mesh */
  static const char *const any_keys[] = {"material", "sdf_resolution", "sdf_padding", NULL};
  if (strcmp(section, "run") == 0) return one_of(run_keys, key, strlen(key));
  return one_of(any_keys, key, strlen(key));
}

static int is_path(const char *section, const char *key)
{
  char kind[64];
  scene_table own[SCENE_OWN_TABLES];
  snprintf(kind, sizeof kind, "%.*s", (int)strcspn(section, "."), section);
  for (int k = 0, num = scene_own_tables(kind, own); k < num; ++k)
    for (uint32_t i = 0; i < own[k].count; ++i)
      if (strcmp(own[k].params[i].key, key) == 0) return own[k].params[i].type == LOOM_P_PATH;
  return 0;
}

static const char *last_part(const char *path)
{
  const char *const slash = strrchr(path, '/');
  return slash != NULL ? slash + 1 : path;
}

/* A log may be replayed from another folder: of a path the name of the file counts. */
static int same_value(const char *section, const char *key, const char *a, const char *b)
{
  return is_path(section, key) ? strcmp(last_part(a), last_part(b)) == 0 : strcmp(a, b) == 0;
}

typedef struct differences {
  char text[2048];
  size_t len;
  int num;
} differences;

static void append_difference(differences *d, const char *fmt, ...) LOOM_PRINTF(2, 3);
static void append_difference(differences *d, const char *fmt, ...)
{
  va_list ap;
  if (d->num++ >= MOST_NAMED || d->len >= sizeof d->text) return;
  d->len +=
      (size_t)snprintf(d->text + d->len, sizeof d->text - d->len, "%s", d->num > 1 ? "; " : "");
  if (d->len >= sizeof d->text) return;
  va_start(ap, fmt);
  d->len += (size_t)vsnprintf(d->text + d->len, sizeof d->text - d->len, fmt, ap);
  va_end(ap);
}

/* Keys that both have: a version may have brought further ones, with defaults that keep the
 * physics. */
static void compare_keys(const cfg_section *ours, const cfg_section *theirs, differences *d)
{
  const char *const name = cfg_section_name(ours);
  for (int i = 0; i < cfg_num_keys(ours); ++i) {
    const char *here = NULL;
    const char *const key = cfg_key(ours, i, &here), *const there = cfg_text(theirs, key);
    if (there == NULL || is_difference_allowed(name, key) || same_value(name, key, here, there))
      continue;
    append_difference(d, "[%s] %s is %s there and %s here", name, key,
                      there[0] != '\0' ? there : "(empty)", here[0] != '\0' ? here : "(empty)");
  }
}

static void compare_sections(const cfg *ours, const cfg *theirs, differences *d)
{
  for (int i = 0; i < cfg_num_sections(ours); ++i) {
    const cfg_section *const s = cfg_section_at(ours, i);
    const cfg_section *const t = cfg_find(theirs, cfg_section_name(s));
    if (is_method(cfg_section_name(s))) continue;
    if (t != NULL)
      compare_keys(s, t, d);
    else
      append_difference(d, "[%s] is not there", cfg_section_name(s));
  }
  for (int i = 0; i < cfg_num_sections(theirs); ++i) {
    const char *const name = cfg_section_name(cfg_section_at(theirs, i));
    if (!is_method(name) && cfg_find(ours, name) == NULL)
      append_difference(d, "[%s] is only there", name);
  }
}

static loom_status other_problem(const run *r, const char *what)
{
  char place[1200];
  cfg_place(cfg_find(r->c, "run"), r->rep.key, place, sizeof place);
  if (r->rep.once)
    return err_set(r->err, LOOM_E_CONFIG, "%s: %s holds other meshes: %s; use the same", place,
                   r->rep.path, what);
  return err_set(r->err, LOOM_E_CONFIG,
                 "%s: the reference solved another problem: %s; a replay compares methods on one "
                 "problem: make that the same, or record a reference of this one",
                 place, what);
}

/* Both as they took effect, read back from their texts. */
static loom_status our_config(run *r)
{
  const char *const text = cfg_resolved(r->c);
  if (text == NULL) return err_set(r->err, LOOM_E_NOMEM, "replay: out of memory");
  return cfg_parse(r->err, text, "this config", "", NULL, 0, &r->rep.ours);
}

loom_status replay_read_config(run *r)
{
  char name[1200], note[512];
  const char *const text = h5read_attr(r->rep.ref, "config");
  snprintf(name, sizeof name, "config in %s", r->rep.path);
  LOOM_TRY(our_config(r));
  LOOM_TRY(cfg_parse(r->err, text, name, "", NULL, 0, &r->rep.theirs));
  LOOM_TRY(scene_translate(r->err, r->rep.theirs, note, sizeof note));
  if (note[0] != '\0') run_message(r, LOOM_LOG_INFO, note);
  return LOOM_OK;
}

static void differ_in_key(void *to, const char *section, const char *key, const char *there,
                          const char *here)
{
  append_difference(to, "[%s] %s is %s there and %s here", section, key, there, here);
}

loom_status replay_same_physics(run *r)
{
  differences *const d = calloc(1, sizeof *d);
  if (d == NULL) return err_set(r->err, LOOM_E_NOMEM, "replay: out of memory");
  loom_status s = replay_read_config(r);
  if (s == LOOM_OK) compare_sections(r->rep.ours, r->rep.theirs, d);
  if (s == LOOM_OK) s = replay_compare_problem(r, differ_in_key, d);
  if (s == LOOM_OK && d->num > MOST_NAMED) {
    char more[64];
    snprintf(more, sizeof more, "; and %d more", d->num - MOST_NAMED);
    if (d->len + strlen(more) < sizeof d->text) strcpy(d->text + d->len, more);
  }
  if (d->num > 0) s = other_problem(r, d->text);
  free(d);
  return s;
}

void replay_same_section(const run *r, const cfg *theirs, const char *section, int *same, char *why,
                         size_t len)
{
  const cfg_section *const s = cfg_find(r->rep.ours, section), *const t = cfg_find(theirs, section);
  why[0] = '\0';
  *same = s != NULL && t != NULL;
  if (!*same) snprintf(why, len, "the reference has no section [%s]", section);
  const char *const mine = s != NULL ? cfg_text(s, "plugin") : NULL;
  const char *const its = t != NULL ? cfg_text(t, "plugin") : NULL;
  if (*same && (mine == NULL || its == NULL || strcmp(mine, its) != 0)) {
    *same = 0;
    snprintf(why, len, "the reference has the plugin %s there", its != NULL ? its : "?");
  }
  for (int i = 0; *same && i < cfg_num_keys(s); ++i) {
    const char *here = NULL;
    const char *const key = cfg_key(s, i, &here), *const there = cfg_text(t, key);
    /* names of sections that detect are no part of the model */
    if (strcmp(key, "collision") == 0 || (there != NULL && strcmp(here, there) == 0)) continue;
    *same = 0;
    snprintf(why, len, "%s is %s there and %s here", key, there != NULL ? there : "unknown", here);
  }
}

int replay_same_key(const run *r, const cfg *theirs, const char *section, const char *key)
{
  const cfg_section *const s = cfg_find(r->rep.ours, section), *const t = cfg_find(theirs, section);
  const char *const a = s != NULL ? cfg_text(s, key) : NULL;
  const char *const b = t != NULL ? cfg_text(t, key) : NULL;
  return a != NULL && b != NULL && strcmp(a, b) == 0;
}

/* ---- data made of files ---- */

/* Other compilers round otherwise; a larger difference means other data. */
static const double rounding = sizeof(loom_real) == 8 ? 1e-9 : 1e-4;

static double read_buffer_value(const loom_buf *b, const void *p, int64_t i)
{
  switch (buf_type(b)) {
  case LOOM_REAL:
    return (double)((const loom_real *)p)[i];
  case LOOM_I32:
    return (double)((const int32_t *)p)[i];
  default:
    return (double)((const uint8_t *)p)[i];
  }
}

static loom_status same_array(const run *r, const char *name, loom_buf *b)
{
  const int64_t n = b != NULL ? buf_count(b) : 0;
  int64_t dims[4], count = 1, bad = -1;
  double largest = 0.0;
  int rank = 0;
  void *data = NULL, *mine;
  char what[512];
  if (n == 0 && !h5read_exists(r->rep.ref, name)) return LOOM_OK;
  snprintf(what, sizeof what, "/%s is of another size", name);
  if (n == 0 || !h5read_exists(r->rep.ref, name)) return other_problem(r, what);
  LOOM_TRY(h5read_dataset(r->rep.ref, r->err, name, 1, &data, &rank, dims));
  for (int i = 0; i < rank; ++i) count *= dims[i];
  loom_status s = count == n ? LOOM_OK : other_problem(r, what);
  if (s == LOOM_OK) s = buf_map(r->m, NULL, b, LOOM_READ, LOOM_AT_HOST, &mine);
  if (s == LOOM_OK) {
    const double *const its = data;
    for (int64_t i = 0; i < n; ++i) largest = fmax(largest, fabs(its[i]));
    for (int64_t i = 0; i < n && bad < 0; ++i)
      if (!(fabs(read_buffer_value(b, mine, i) - its[i]) <= rounding * largest)) bad = i;
    s = buf_unmap(r->m, b);
  }
  free(data);
  if (s != LOOM_OK || bad < 0) return s;
  snprintf(what, sizeof what, "/%s differs, first in value %lld", name, (long long)bad);
  return other_problem(r, what);
}

loom_status replay_same_mesh(const run *r)
{
  LOOM_TRY(same_array(r, "scene/triangles", r->scene->pub.tris));
  LOOM_TRY(same_array(r, "scene/tets", r->scene->pub.tets));
  return same_array(r, "scene/yarns/segments", r->scene->pub.segs);
}

loom_status replay_same_scene(const run *r)
{
  const loom_scene *const s = &r->scene->pub;
  char name[256];
  const struct {
    const char *name;
    loom_buf *b;
  } all[] = {{"scene/rest", s->rest_x},  {"scene/triangles", s->tris}, {"scene/tets", s->tets},
             {"scene/pinned", s->fixed}, {"scene/mass", s->mass},      {"scene/radius", s->radius}};
  for (size_t i = 0; i < LOOM_COUNT(all); ++i) LOOM_TRY(same_array(r, all[i].name, all[i].b));
  const loom_followers *const f = loom_scene_followers(s);
  if (f != NULL) LOOM_TRY(same_array(r, "scene/followers/node", f->node));
  if (f != NULL) LOOM_TRY(same_array(r, "scene/followers/weight", f->weight));
  for (int32_t i = 0; i < s->num_obstacles; ++i) {
    snprintf(name, sizeof name, "scene/obstacles/%s/vertices", s->obstacles[i].name);
    LOOM_TRY(same_array(r, name, s->obstacles[i].verts));
  }
  return LOOM_OK;
}
