/* cmd_pattern.c - `loom pattern IN.json -o OUT.ini`: a pattern of GarmentCode as one of loom. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/log_tools.h"
#include "core/out_file.h"
#include "sewing_pattern/garmentcode.h"
#include "sewing_pattern/pattern.h"

static const char usage[] =
    "usage: loom pattern IN.json -o OUT.ini\n"
    "Writes a pattern of GarmentCode (its specification in JSON) as a pattern of loom, for\n"
    "[cloth.NAME] shape = pattern, file = OUT.ini, and checks it.  A pattern that stands there is "
    "replaced, any other file is\n"
    "refused, and a link is not written through.\n";

static loom_status convert_pattern(loom_err *err, const char *in, const char *path)
{
  char *text;
  out_file o = {0};
  pattern *p = NULL;
  LOOM_TRY(garmentcode_read(err, in, &text));
  loom_status s = out_file_open(err, path, OUT_PATTERN, &o);
  if (s == LOOM_OK) fputs(text, o.f);
  s = out_file_close(err, &o, s);
  free(text);
  if (s == LOOM_OK) s = pattern_read(err, path, &p); /* on error the file stays, for corrections */
  if (s == LOOM_OK)
    printf("%s: %d pieces, %d seams; [cloth.NAME] shape = pattern, file = %s sews them\n", path,
           p->num_pieces, p->num_seams, path);
  pattern_free(p);
  return s;
}

int cmd_pattern(int argc, char **argv)
{
  static const struct option options[] = {{"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
  const char *out = NULL;
  loom_err err = {0};
  optind = 0;
  opterr = 0;
  for (int k; (k = getopt_long(argc, argv, ":ho:", options, NULL)) != -1;) {
    switch (k) {
    case 'o':
      out = optarg;
      break;
    default:
      return tool_help_or_fault(argv, k, usage);
    }
  }
  if (argc - optind != 1) return tool_usage("pattern", "give one file, a pattern in JSON");
  if (out == NULL) return tool_usage("pattern", "say -o OUT.ini, the pattern to write");
  return convert_pattern(&err, argv[optind], out) == LOOM_OK ? EXIT_FINE : cmd_fail(&err);
}
