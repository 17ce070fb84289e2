/* gltf.h - the text of a glTF file and the numbers of its buffers. */
#ifndef LOOM_ASSIMP_GLTF_H
#define LOOM_ASSIMP_GLTF_H

#include <jansson.h>

#include "reader.h"

typedef struct gltf_bytes {
  unsigned char *data; /* NULL: not read yet */
  size_t len;
} gltf_bytes;

typedef struct gltf {
  json_t *root;
  gltf_bytes bin;     /* the second chunk of a GLB */
  gltf_bytes *buffer; /* [num_buffers] */
  size_t num_buffers;
} gltf;

/* Free it with gltf_close() also after an error. */
loom_status gltf_open(reader *r, gltf *g);
void gltf_close(gltf *g);

/* A number of an object that is an id or a count; `other` where it has none, -1: it is no such
 * number. */
int64_t gltf_count(const json_t *object, const char *key, int64_t other);
/* Numbers [*count][width] of an accessor, which the caller frees also after an error. */
loom_status gltf_read(reader *r, gltf *g, int64_t accessor, int width, double **out,
                      int64_t *count);

#endif
