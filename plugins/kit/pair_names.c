/* pair_names.c - see pair_names.h. */
#include "kit/pair_names.h"

#include <stdio.h>

loom_status pair_names_write(const loom_host *host, const loom_exec *e, const loom_scene *sc,
                             const int32_t v[4], int32_t body, char text[PAIR_NAMES_ROOM])
{
  void *object;
  int32_t first = -1, other = -1;
  const char *const obstacle = body >= 0 ? sc->obstacles[body].name : NULL;
  text[0] = '\0';
  if (sc->object_names != NULL) {
    LOOM_TRY(host->map(host, e, sc->object, LOOM_READ, LOOM_AT_HOST, &object));
    for (int k = 0; k < 4; ++k) {
      if (v[k] < 0 || v[k] >= sc->num_verts) continue;
      const int32_t at = ((const int32_t *)object)[v[k]];
      if (first < 0)
        first = at;
      else if (at != first)
        other = at;
    }
    LOOM_TRY(host->unmap(host, sc->object));
  }
  const char *const one = first >= 0 ? sc->object_names[first] : NULL;
  const char *const two = other >= 0 ? sc->object_names[other] : NULL;
  snprintf(text, PAIR_NAMES_ROOM, "%s%.64s%s%s%.64s%s%s%.64s", one != NULL ? " of '" : "",
           one != NULL ? one : "", one != NULL ? "'" : "", two != NULL ? " and '" : "",
           two != NULL ? two : "", two != NULL ? "'" : "", obstacle != NULL ? " and body " : "",
           obstacle != NULL ? obstacle : "");
  return LOOM_OK;
}
