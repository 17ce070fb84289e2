/* listing.c - options and JSON of `list` and `describe`. */
#define _GNU_SOURCE /* realpath */
#include "app/listing.h"

#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/commands.h"

int listing_absolute_dirs(const char *list, char *out, size_t len)
{
  size_t used = 0;
  out[0] = '\0';
  while (*list != '\0') {
    char dir[PATH_MAX], real[PATH_MAX];
    const size_t n = strcspn(list, ":");
    if (n > 0) {
      if (n >= sizeof dir) return 0;
      memcpy(dir, list, n);
      dir[n] = '\0';
      if (realpath(dir, real) == NULL) {
        fprintf(stderr, "loom: --plugin-path: there is no directory '%s'\n", dir);
        return 0;
      }
      used += (size_t)snprintf(out + used, len - used, "%s%s", used > 0 ? ":" : "", real);
      if (used >= len) return 0;
    }
    list += n + (list[n] == ':');
  }
  return 1;
}

int listing_parse(int argc, char **argv, const char *usage, listing *out)
{
  static const struct option options[] = {{"plugin-path", required_argument, NULL, 'p'},
                                          {"json", no_argument, NULL, 'j'},
                                          {"fit", required_argument, NULL, 'f'},
                                          {"schema", no_argument, NULL, 's'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
  memset(out, 0, sizeof *out);
  optind = 0; /* parse from the start: another command may have parsed before */
  for (int k; (k = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
    if (k == 'h') {
      fputs(usage, stdout);
      return 1;
    }
    if (k == 'j') out->json = 1;
    if (k == 's') out->schema = 1;
    if (k == 'f') out->fit = optarg;
    if (k == '?' || (k == 'p' && !listing_absolute_dirs(optarg, out->dirs, sizeof out->dirs))) {
      fputs(usage, stderr);
      out->exit_code = EXIT_USAGE;
      return 1;
    }
  }
  if (optind < argc) out->name = argv[optind++];
  if (optind == argc) return 0;
  fprintf(stderr, "loom: one name expected, found also '%s'\n%s", argv[optind], usage);
  out->exit_code = EXIT_USAGE;
  return 1;
}

const char *listing_backends(uint32_t backends)
{
  backends &= LOOM_ON_CPU | LOOM_ON_CUDA;
  return backends == LOOM_ON_CPU ? "cpu" : backends == LOOM_ON_CUDA ? "cuda" : "cpu+cuda";
}

void write_json_text(FILE *f, const char *s)
{
  if (s == NULL) {
    fputs("null", f);
    return;
  }
  fputc('"', f);
  for (; *s != '\0'; ++s) {
    const unsigned char c = (unsigned char)*s;
    if (c == '"' || c == '\\')
      fprintf(f, "\\%c", c);
    else if (c < 0x20 || c == 0x7f)
      fprintf(f, "\\u%04x", (unsigned)c);
    else
      fputc(c, f);
  }
  fputc('"', f);
}

static void json_key(FILE *f, int *first, const char *key)
{
  if (!*first) fputs(", ", f);
  *first = 0;
  write_json_text(f, key);
  fputs(": ", f);
}

void json_member(FILE *f, int *first, const char *key, const char *value)
{
  json_key(f, first, key);
  write_json_text(f, value);
}

void write_json_number(FILE *f, int *first, const char *key, double value)
{
  json_key(f, first, key);
  if (isfinite(value))
    fprintf(f, "%.17g", value);
  else
    fputs("null", f);
}

void json_list(FILE *f, int *first, const char *key, const char *names)
{
  char one[256];
  json_key(f, first, key);
  fputc('[', f);
  for (int k = 0; *names != '\0'; ++k) {
    const size_t n = strcspn(names, ",");
    snprintf(one, sizeof one, "%.*s", (int)n, names);
    if (k > 0) fputs(", ", f);
    write_json_text(f, one);
    names += n + strspn(names + n, ", ");
  }
  fputc(']', f);
}

/* "summary", and "limits": a list of lines. */
static void json_summary(FILE *f, int *first, const loom_plugin *p)
{
  char one[1024];
  snprintf(one, sizeof one, "%.*s", registry_summary_len(p), p->summary);
  json_member(f, first, "summary", one);
  json_key(f, first, "limits");
  fputc('[', f);
  for (const char *at = registry_limits(p); *at != '\0';) {
    const int n = (int)strcspn(at, "\n");
    snprintf(one, sizeof one, "%.*s", n, at);
    write_json_text(f, one);
    at += n + (at[n] == '\n');
    if (*at != '\0') fputs(", ", f);
  }
  fputc(']', f);
}

void json_plugin(FILE *f, int *first, const reg_entry *e)
{
  const loom_plugin *const p = e->plugin;
  json_member(f, first, "kind", registry_kind_name(p->kind));
  json_member(f, first, "name", p->name);
  json_member(f, first, "version", p->version);
  json_list(f, first, "backends",
            (p->backends & 3u) == (LOOM_ON_CPU | LOOM_ON_CUDA) ? "cpu, cuda"
                                                               : listing_backends(p->backends));
  json_member(f, first, "license", p->license);
  json_summary(f, first, p);
  json_member(f, first, "reference", p->reference);
  json_member(f, first, "build", p->build);
  json_member(f, first, "path", e->path);
}
