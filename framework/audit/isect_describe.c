/* isect_describe.c - pairs that pass through each other, in words. */
#include <stdio.h>

#include "audit/isect_path.h"

/* " of body NAME" for the one of the pair that is the body's */
static const char *format_pair_owner(const isect_pass *p, const char *body, int second,
                                     char buf[96])
{
  buf[0] = '\0';
  if (p->body >= 0 && (p->side != 0) != second) snprintf(buf, 96, " of body %.80s", body);
  return buf;
}

void isect_pass_describe(const isect_pass *p, const char *body, char *buf, size_t len)
{
  const int32_t *const v = p->v;
  char one[96], two[96];
  format_pair_owner(p, body, 0, one);
  format_pair_owner(p, body, 1, two);
  if (p->kind == ISECT_VT)
    snprintf(buf, len, "vertex %d%s and triangle (%d %d %d)%s", v[0], one, v[1], v[2], v[3], two);
  else
    snprintf(buf, len, "edge %d-%d%s and edge %d-%d%s", v[0], v[1], one, v[2], v[3], two);
}
