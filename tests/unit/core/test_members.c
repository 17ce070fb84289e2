/* loom/plugin.h marks every function of a plugin as [required] or [optional: meaning of NULL], and
 * names the capabilities that require it: here the words are compared with the checks of
 * core/descriptor.c and with the lists of capabilities. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/registry.h"

enum { MEMBERS_MAX = 32, TAG_MAX = 512 };

typedef struct member {
  char name[64];
  char tag[TAG_MAX]; /* "required", or "optional: ..." */
} member;

typedef struct cap {
  const char *name, *member;
  uint32_t bit;
} cap;
#define CAP_(name, bit, words, member) {#name, #member, bit},
static const cap collision_caps[] = {LOOM_COLLISION_CAPS(CAP_){NULL, NULL, 0}};
static const cap contact_caps[] = {LOOM_CONTACT_CAPS(CAP_){NULL, NULL, 0}};
static const cap no_caps[] = {{NULL, NULL, 0}};

static const struct kind {
  const char *begin, *end; /* of the table in the header */
  size_t first, size;      /* bytes: the functions follow each other */
  const cap *caps;
} kinds[LOOM_NUM_KINDS] = {
    {"typedef struct loom_solver_ops {", "} loom_solver_ops;", offsetof(loom_solver_ops, create),
     sizeof(loom_solver_ops), no_caps},
    {"typedef struct loom_collision_ops {", "} loom_collision_ops;",
     offsetof(loom_collision_ops, create), sizeof(loom_collision_ops), collision_caps},
    {"typedef struct loom_contact_ops {", "} loom_contact_ops;", offsetof(loom_contact_ops, create),
     sizeof(loom_contact_ops), contact_caps}};

static char *read_header(const char *name)
{
  static char text[1 << 17];
  char path[1024];
  snprintf(path, sizeof path, "%s/framework/include/loom/%s", getenv("LOOM_SOURCE_DIR"), name);
  FILE *const f = fopen(path, "r");
  cr_assert(f != NULL, "%s", path);
  text[fread(text, 1, sizeof text - 1, f)] = '\0';
  fclose(f);
  return text;
}

/* The text between p and end without line ends and the stars of a comment. */
static void copy_words(const char *p, const char *end, char out[TAG_MAX])
{
  size_t n = 0;
  for (; p < end && n + 1 < TAG_MAX; ++p) {
    const int blank = *p == ' ' || *p == '\n' || *p == '*';
    if (!blank) out[n++] = *p;
    if (blank && n > 0 && out[n - 1] != ' ') out[n++] = ' ';
  }
  out[n] = '\0';
}

static int read_members(const struct kind *k, member *out)
{
  const char *at = strstr(read_header("plugin.h"), k->begin);
  cr_assert(at != NULL, "%s", k->begin);
  const char *const end = strstr(at, k->end);
  int n = 0;
  for (const char *f; (f = strstr(at, "(*")) != NULL && f < end; ++n) {
    const char *tag = NULL, *const stop = strchr(f, ')');
    cr_assert_lt(n, MEMBERS_MAX);
    snprintf(out[n].name, sizeof out[n].name, "%.*s", (int)(stop - f - 2), f + 2);
    for (const char *t = at; (t = strchr(t, '[')) != NULL && t < f; ++t)
      if (strncmp(t, "[required]", 10) == 0 || strncmp(t, "[optional: ", 11) == 0) tag = t;
    cr_assert(tag != NULL, "%s says neither [required] nor [optional: meaning of NULL]",
              out[n].name);
    copy_words(tag + 1, strchr(tag, ']'), out[n].tag);
    at = stop;
  }
  cr_assert_eq(k->first + (size_t)n * sizeof(void (*)(void)), k->size, "%s: %d functions were read",
               k->begin, n);
  return n;
}

/* A plugin that has every function and claims no capability. */
typedef struct sample {
  loom_plugin p;
  union {
    uint32_t struct_size;
    loom_solver_ops solver;
    loom_collision_ops collision;
    loom_contact_ops contact;
    unsigned char bytes[512];
  } ops;
} sample;

static void empty_member(void) {}
static const loom_column columns[] = {{"a", "1", "A."}};

static void set_member(sample *x, const struct kind *k, int i, int there)
{
  void (*const f)(void) = there ? empty_member : NULL;
  memcpy(x->ops.bytes + k->first + (size_t)i * sizeof f, &f, sizeof f);
}

static void create_member_sample(sample *x, const struct kind *k)
{
  memset(x, 0, sizeof *x);
  x->p = (loom_plugin){LOOM_PLUGIN_HEAD((uint16_t)(k - kinds), LOOM_ON_CPU),
                       .name = "sample",
                       .version = "1",
                       .summary = "s",
                       .reference = "none",
                       .license = "MIT",
                       .build = "b",
                       .columns = columns,
                       .step_columns = columns,
                       .ops.any = &x->ops};
  x->ops.struct_size = (uint32_t)k->size;
  if (k == &kinds[LOOM_KIND_COLLISION]) x->ops.collision.pair_kinds = 1;
  if (k == &kinds[LOOM_KIND_CONTACT]) x->ops.contact.pair_kinds = 1;
  for (size_t at = k->first; at < k->size; at += sizeof(void (*)(void)))
    set_member(x, k, (int)((at - k->first) / sizeof(void (*)(void))), 1);
}

static void announce_capability(sample *x, const struct kind *k, uint32_t bit)
{
  if (k == &kinds[LOOM_KIND_COLLISION]) x->ops.collision.provides |= bit;
  if (k != &kinds[LOOM_KIND_CONTACT]) return;
  x->ops.contact.provides |= bit;
  if (bit == LOOM_CONT_QUAD_ISO) x->ops.contact.provides |= LOOM_CONT_QUAD;
  if (bit == LOOM_CONT_REACTION) x->ops.contact.provides |= LOOM_CONT_VELOCITY;
}

/* Whether the core refuses x for want of the member. */
static int is_missing_refused(const sample *x, const char *name)
{
  loom_err err = {0};
  char says[128];
  snprintf(says, sizeof says, "ops.%s is missing", name);
  if (registry_check(&err, &x->p) == LOOM_OK) return 0;
  cr_assert(strstr(err.text, says) != NULL, "%s: %s", name, err.text);
  return 1;
}

static int find_member(const member *all, int n, const char *name)
{
  for (int i = 0; i < n; ++i)
    if (strcmp(all[i].name, name) == 0) return i;
  return -1;
}

/* One thing that the words of member `i` say requires it. */
static void check_word(const struct kind *k, const member *all, int n, int i, const char *word)
{
  const cap *c = k->caps;
  sample x;
  create_member_sample(&x, k);
  set_member(&x, k, i, 0);
  while (c->name != NULL && strcmp(c->name, word) != 0) ++c;
  if (c->name != NULL) {
    cr_expect_str_eq(c->member, all[i].name, "the list says that %s requires %s", word, c->member);
    announce_capability(&x, k, c->bit);
  } else if (strcmp(word, "num_columns") == 0) {
    x.p.num_columns = 1;
  } else if (strcmp(word, "num_step_columns") == 0) {
    x.p.num_step_columns = 1;
  } else {
    cr_expect_geq(find_member(all, n, word), 0, "%s: required by '%s', which does not exist",
                  all[i].name, word);
  }
  cr_expect(is_missing_refused(&x, all[i].name), "%s is not required by %s", all[i].name, word);
}

static void check_member(const struct kind *k, const member *all, int n, int i)
{
  const int required = strcmp(all[i].tag, "required") == 0;
  char words[TAG_MAX] = "", *save = NULL;
  const char *const by = strstr(all[i].tag, "; required by ");
  if (by != NULL) snprintf(words, sizeof words, "%s", by + strlen("; required by "));
  sample x;
  create_member_sample(&x, k);
  set_member(&x, k, i, 0);
  for (const cap *c = k->caps; c->name != NULL; ++c)
    if (strcmp(c->member, all[i].name) == 0 && strcmp(c->member, "create") != 0)
      cr_expect(strstr(words, c->name) != NULL, "%s does not say that %s requires it", all[i].name,
                c->name);
  for (char *w = strtok_r(words, ", ", &save); w != NULL; w = strtok_r(NULL, ", ", &save))
    check_word(k, all, n, i, w);
  for (int j = 0; j < n; ++j) /* by itself, not by another member */
    if (strcmp(all[j].tag, "required") != 0) set_member(&x, k, j, 0);
  cr_expect_eq(is_missing_refused(&x, all[i].name), required, "%s is said to be %s", all[i].name,
               all[i].tag);
}

Test(members, words_are_what_the_core_enforces)
{
  for (int kind = 0; kind < LOOM_NUM_KINDS; ++kind) {
    static member all[MEMBERS_MAX];
    const struct kind *const k = &kinds[kind];
    const int n = read_members(k, all);
    sample x;
    loom_err err = {0};
    create_member_sample(&x, k);
    cr_assert_eq(registry_check(&err, &x.p), LOOM_OK, "%s", err.text);
    for (int i = 0; i < n; ++i) check_member(k, all, n, i);
  }
}

/* LOOM_LAYOUT is made of every struct of the headers that the core and plugins share.  The
 * interfaces of kits (factor.h, mesher.h, rig_reader.h) state their own sizes, kernel.h and plug.h
 * compile into the plugin. */
Test(members, the_layout_has_every_struct)
{
  static const char *const headers[] = {"types.h",      "param.h",        "scene.h",
                                        "host.h",       "plugin.h",       "material.h",
                                        "exclusions.h", "pair_friction.h"};
#define STRUCT_NAME_(type) #type,
  static const char *const listed[] = {LOOM_STRUCTS(STRUCT_NAME_)};
  int seen = 1; /* loom_real is no struct */
  for (size_t h = 0; h < LOOM_COUNT(headers); ++h)
    for (const char *at = read_header(headers[h]); (at = strstr(at, "struct loom_")) != NULL;) {
      char name[64];
      int found = 0;
      at += strlen("struct ");
      const size_t n = strspn(at, "abcdefghijklmnopqrstuvwxyz_0123456789");
      if (strncmp(at + n, " {", 2) != 0) continue; /* a mention */
      snprintf(name, sizeof name, "%.*s", (int)n, at);
      for (size_t k = 0; k < LOOM_COUNT(listed); ++k) found |= strcmp(listed[k], name) == 0;
      cr_expect(found, "%s: %s is not in LOOM_STRUCTS", headers[h], name);
      ++seen;
    }
  cr_expect_eq(seen, LOOM_NUM_STRUCTS);
}
