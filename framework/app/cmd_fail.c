/* cmd_fail.c - how every command reports a failure. */
#include <stdio.h>
#include <string.h>

#include "app/commands.h"

int cmd_fail(const loom_err *err)
{
  const char *s = err->text[0] != '\0' ? err->text : err_status_text(err->code);
  while (*s != '\0') { /* several problems: one line each */
    const size_t n = strcspn(s, "\n");
    fprintf(stderr, "loom: %.*s\n", (int)n, s);
    s += n + (s[n] == '\n');
  }
  return err->code == LOOM_E_CONFIG ? EXIT_USAGE : EXIT_RUNTIME;
}
