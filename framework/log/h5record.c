/* h5record.c - a hash that tells the record of one run from another. */
#include <stdlib.h>

#include "log/h5util.h"

uint64_t h5u_record(hid_t file)
{
  static const char *const names[] = {"created", "command", "host", "config_hash"};
  uint64_t h = H5U_HASH_START;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
    char *const text = h5u_get_text(file, names[i]);
    for (const char *s = text != NULL ? text : ""; *s != '\0'; ++s) {
      const uint64_t word = (unsigned char)*s;
      h = h5u_hash(h, &word, sizeof word);
    }
    const uint64_t end = 256 + (text == NULL);
    h = h5u_hash(h, &end, sizeof end);
    free(text);
  }
  return h != 0 ? h : 1;
}
