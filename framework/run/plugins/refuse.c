/* refuse.c - the message of a callback that did not keep to the rules. */
#include <stdarg.h>
#include <stdio.h>

#include "core/crash.h"
#include "run/plugins/call.h"
#include "run/run_state.h"

void call_add_place(const instance *in, const char *callback, int nested)
{
  const run *const r = in->r;
  char step[80] = "";
  if (r->calls.stepping && !nested && r->st.iter >= 0)
    snprintf(step, sizeof step, "step %lld, iteration %d: ", (long long)r->st.index,
             (int)r->st.iter);
  else if (r->calls.stepping && !nested)
    snprintf(step, sizeof step, "step %lld: ", (long long)r->st.index);
  if (callback != NULL)
    err_prefix(r->err, "%s[%s] plugin %s, %s()", step, in->name, in->plugin->name, callback);
  else
    err_prefix(r->err, "%s[%s] plugin %s", step, in->name, in->plugin->name);
}

loom_status call_refuse(const instance *in, const char *callback, loom_status code, const char *fmt,
                        ...)
{
  char text[1024];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  err_set(in->r->err, code, "%s", text);
  call_add_place(in, callback, crash_inside());
  return code;
}
