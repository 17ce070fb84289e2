/* schema.c - the JSON schema of configurations.
 *
 * A file is an object: "include" is a list of paths, each section an object of its keys.  Values
 * are the texts of the file; numbers may also be JSON numbers.  A section that names its plugin
 * takes the keys of that plugin alone.  A section that does not, as an included file names it,
 * takes the keys of any plugin.
 */
#include "app/schema.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/listing.h"
#include "config/config.h"

#define NUMBER "[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+)?"
static const char number[] = "^(" NUMBER "( *[^ 0-9].*)?)?$";
static const char vec3[] = "^(" NUMBER "( +" NUMBER "){2}( *[^ 0-9].*)?)?$";
static const char vec4[] = "^(" NUMBER "( +" NUMBER "){3}( *[^ 0-9].*)?)?$";

/* `"enum": ["a", "b", ""]` from "a|b"; the empty text unsets a key. */
static void print_choices(const char *choices, int *first)
{
  printf("%s\"enum\": [", *first ? "" : ", ");
  *first = 0;
  for (const char *s = choices; *s != '\0'; s += strcspn(s, "|"), s += *s == '|') {
    char word[128];
    snprintf(word, sizeof word, "%.*s", (int)strcspn(s, "|"), s);
    write_json_text(stdout, word);
    printf(", ");
  }
  printf("\"\"]");
}

static void print_bound(int *first, const char *closed, const char *open, double value, int is_open)
{
  if (isfinite(value)) write_json_number(stdout, first, is_open ? open : closed, value);
}

static void print_type(const loom_param *p, int *first)
{
  switch (p->type) {
  case LOOM_P_REAL:
  case LOOM_P_INT:
    printf("\"type\": [\"number\", \"string\"]");
    *first = 0;
    print_bound(first, "minimum", "exclusiveMinimum", p->min, (p->flags & LOOM_P_OPEN_MIN) != 0);
    print_bound(first, "maximum", "exclusiveMaximum", p->max, (p->flags & LOOM_P_OPEN_MAX) != 0);
    json_member(stdout, first, "pattern", number);
    break;
  case LOOM_P_VEC3:
  case LOOM_P_VEC4:
    json_member(stdout, first, "type", "string");
    json_member(stdout, first, "pattern", p->type == LOOM_P_VEC3 ? vec3 : vec4);
    break;
  case LOOM_P_BOOL:
    print_choices("yes|no|true|false|on|off|1|0", first);
    break;
  case LOOM_P_ENUM:
    print_choices(p->choices, first);
    break;
  default:
    json_member(stdout, first, "type", "string");
    break;
  }
}

static void print_key(const loom_param *p)
{
  char def[1024], text[4096];
  int first = 1;
  const int has_unit = p->unit != NULL && strcmp(p->unit, "1") != 0 && p->unit[0] != '\0';
  printf("{");
  print_type(p, &first);
  const char *const value = cfg_default_text(p, def, sizeof def);
  if (value != NULL) json_member(stdout, &first, "default", value);
  snprintf(text, sizeof text, "%s%s%s%s%s%s", p->doc, has_unit ? " Unit: " : "",
           has_unit ? p->unit : "", has_unit ? "." : "", p->only_with != NULL ? " Only with " : "",
           p->only_with != NULL ? p->only_with : "");
  json_member(stdout, &first, "description", text);
  printf("}");
}

/* `"key": {...}, ...` of one table. */
static void print_keys(const loom_param *params, uint32_t count, int *first)
{
  for (uint32_t i = 0; i < count; ++i) {
    if (params[i].flags & LOOM_P_GONE) continue;
    printf(*first ? "\n      " : ",\n      ");
    *first = 0;
    write_json_text(stdout, params[i].key);
    printf(": ");
    print_key(&params[i]);
  }
}

/* ---- plugins ---- */

static int is_of_kind(const reg_entry *e, const char *kind)
{
  return e->plugin != NULL && strcmp(registry_kind_name(e->plugin->kind), kind) == 0;
}

static void print_plugin_keys(const reg_entry *e, int *first)
{
  const loom_plugin *const p = e->plugin;
  int none = 1;
  printf(*first ? "\n    " : ",\n    ");
  *first = 0;
  printf("\"%s.%s\": {\"properties\": {", registry_kind_name(p->kind), p->name);
  print_keys(p->params, p->num_params, &none);
  printf("}}");
}

/* A section that names a plugin takes its keys; one that names none, keys of any. */
static void print_choice_of_plugin(const registry *r, const char *kind)
{
  int first = 1;
  printf(",\n      \"allOf\": [");
  for (int i = 0; i < registry_count(r); ++i) {
    if (!is_of_kind(registry_at(r, i), kind)) continue;
    printf(first ? "\n        " : ",\n        ");
    first = 0;
    printf(
        "{\"if\": {\"properties\": {\"plugin\": {\"const\": \"%s\"}}, \"required\": [\"plugin\"]},"
        " \"then\": {\"$ref\": \"#/$defs/%s.%s\"}}",
        registry_at(r, i)->plugin->name, kind, registry_at(r, i)->plugin->name);
  }
  printf("%s\n        {\"if\": {\"not\": {\"required\": [\"plugin\"]}}, \"then\": {\"anyOf\": [",
         first ? "" : ",");
  first = 1;
  for (int i = 0; i < registry_count(r); ++i) {
    if (!is_of_kind(registry_at(r, i), kind)) continue;
    printf("%s{\"$ref\": \"#/$defs/%s.%s\"}", first ? "" : ", ", kind,
           registry_at(r, i)->plugin->name);
    first = 0;
  }
  printf("]}}]");
}

/* ---- sections ---- */

static void print_section_schema(const registry *r, const described_section *s)
{
  const loom_param *params[DESCRIBE_TABLES_MAX];
  uint32_t count[DESCRIBE_TABLES_MAX];
  loom_param *rows;
  const int n = describe_tables(s->name, params, count, &rows);
  int first = 1;
  printf("\"%s\": {\"type\": \"object\", \"description\": \"%s\", \"properties\": {", s->name,
         s->title);
  for (int k = 0; k < n; ++k) print_keys(params[k], count[k], &first);
  printf("}");
  if (s->kind != NULL) print_choice_of_plugin(r, s->kind);
  printf(",\n      \"unevaluatedProperties\": false}");
  free(rows);
}

/* [run] has a fixed name; [cloth.NAME] is any name behind the dot. */
static void print_section_names(int named)
{
  int first = 1;
  const described_section *s;
  for (int k = 0; (s = describe_section_at(k)) != NULL; ++k) {
    if ((strchr(s->title, '.') != NULL) != named) continue;
    printf(first ? "\n    " : ",\n    ");
    first = 0;
    printf(named ? "\"^%s[.][a-z0-9_-]+$\": {\"$ref\": \"#/$defs/%s\"}"
                 : "\"%s\": {\"$ref\": \"#/$defs/%s\"}",
           s->name, s->name);
  }
}

void schema_print(const registry *r)
{
  const described_section *s;
  int first = 1;
  printf("{\"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
         "  \"title\": \"configuration of loom\", \"type\": \"object\",\n"
         "  \"properties\": {\n"
         "    \"include\": {\"type\": [\"string\", \"array\"], \"items\": {\"type\": \"string\"},"
         " \"description\": \"files that are read first\"},");
  print_section_names(0);
  printf("},\n  \"patternProperties\": {");
  print_section_names(1);
  printf("},\n  \"additionalProperties\": false,\n  \"$defs\": {");
  for (int i = 0; i < registry_count(r); ++i)
    if (registry_at(r, i)->plugin != NULL) print_plugin_keys(registry_at(r, i), &first);
  for (int k = 0; (s = describe_section_at(k)) != NULL; ++k) {
    printf(first ? "\n    " : ",\n    ");
    first = 0;
    print_section_schema(r, s);
  }
  printf("}}\n");
}
