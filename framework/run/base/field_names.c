/* field_names.c - see field_names.h. */
#include "run/base/field_names.h"

#include <string.h>

#include "config/words.h"
#include "log/h5log_schema.h"

#define NAME_(name, width, unit, doc) #name,
static const char *const names[] = {H5LOG_FIELDS(NAME_)};

loom_status field_names_parse(loom_err *err, const char *text, uint32_t *wanted)
{
  words w;
  *wanted = 0;
  words_start(&w, text);
  while (words_next(&w)) {
    int k = 0;
    while (k < H5LOG_NUM_FIELDS && strcmp(w.word, names[k]) != 0) ++k;
    if (k == H5LOG_NUM_FIELDS) {
      const char *const near = err_nearest(w.word, names, H5LOG_NUM_FIELDS);
      return err_set(err, LOOM_E_CONFIG,
                     "there is no field '%s'%s%s; allowed: contact_force, residual, strain, gap",
                     w.word, near != NULL ? ", nearest is " : "", near != NULL ? near : "");
    }
    *wanted |= LOOM_BIT(k);
  }
  return LOOM_OK;
}
