/* rig_bar.c - see rig_bar.h. */
#include "support/rig_bar.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

void rig_bar_fill(rig_bar *b)
{
  static const float corner[4][2] = {{-0.1f, -0.1f}, {0.1f, -0.1f}, {0.1f, 0.1f}, {-0.1f, 0.1f}};
  int t = 0;
  memset(b, 0, sizeof *b);
  for (int ring = 0; ring < 3; ++ring)
    for (int k = 0; k < 4; ++k) {
      const int v = 4 * ring + k, next = 4 * ring + (k + 1) % 4;
      b->x[v][0] = corner[k][0], b->x[v][1] = (float)ring, b->x[v][2] = corner[k][1];
      b->joint[v][1] = 1;
      b->weight[v][0] = ring == 0 ? 1 : ring == 1 ? 0.5f : 0;
      b->weight[v][1] = 1 - b->weight[v][0];
      if (ring == 2) continue;
      const uint16_t side[2][3] = {{(uint16_t)v, (uint16_t)(next + 4), (uint16_t)next},
                                   {(uint16_t)v, (uint16_t)(v + 4), (uint16_t)(next + 4)}};
      memcpy(b->tris[t], side, sizeof side);
      t += 2;
    }
  const uint16_t ends[4][3] = {{0, 1, 2}, {0, 2, 3}, {8, 10, 9}, {8, 11, 10}};
  memcpy(b->tris[t], ends, sizeof ends);
  for (int j = 0; j < RIG_BAR_JOINTS; ++j)
    for (int k = 0; k < 4; ++k) b->inverse[j][5 * k] = 1;
  b->inverse[1][13] = -1; /* column-major: y of the translation */
  b->time[1] = 1;
  b->turn[0][3] = 1;
  b->turn[1][2] = b->turn[1][3] = sqrtf(0.5f);
  b->shift[1][1] = 0.2f;
}

static void put_base64(FILE *f, const void *data, size_t len)
{
  static const char sign[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const uint8_t *const p = data;
  for (size_t i = 0; i < len; i += 3) {
    const uint32_t left = (uint32_t)(len - i);
    const uint32_t v =
        (uint32_t)p[i] << 16 | (left > 1 ? (uint32_t)p[i + 1] << 8 : 0) | (left > 2 ? p[i + 2] : 0);
    fputc(sign[v >> 18 & 63], f);
    fputc(sign[v >> 12 & 63], f);
    fputc(left > 1 ? sign[v >> 6 & 63] : '=', f);
    fputc(left > 2 ? sign[v & 63] : '=', f);
  }
}

static void put_view(FILE *f, const char *comma, size_t at, size_t len)
{
  fprintf(f, "%s{\"buffer\":0,\"byteOffset\":%zu,\"byteLength\":%zu}", comma, at, len);
}

static void put_nest(FILE *f, int deep)
{
  for (int k = 0; k < deep; ++k)
    if (k + 1 < deep)
      fprintf(f, ",{\"name\":\"n%d\",\"children\":[%d]}", k, k + 5);
    else
      fprintf(f, ",{\"name\":\"n%d\"}", k);
  fprintf(f, "],");
}

void rig_bar_numbers(const char *name, const rig_bar *b)
{
  FILE *const f = fopen(name, "w");
  cr_assert(f != NULL && fwrite(b, sizeof *b, 1, f) == 1 && fclose(f) == 0);
}

void rig_bar_write(const char *name, const rig_bar *b, const rig_bar_file *how)
{
  const int kind = how->kind;
  FILE *const f = fopen(name, "w");
  cr_assert(f != NULL);
  fprintf(f,
          "{\"asset\":{\"version\":\"2.0\"},\"scene\":0,\"scenes\":[{\"nodes\":[0]}],\"nodes\":["
          "{\"name\":\"all\",\"children\":[1,2],\"translation\":[0.5,0,0]},"
          "{\"name\":\"lower arm\",\"children\":[3]},{\"name\":\"skin\",\"mesh\":0%s},"
          "{\"name\":\"upper\",\"translation\":[0,1,0]%s}",
          kind == RIG_BAR_WITHOUT_SKIN ? "" : ",\"skin\":0",
          how->deep > 0 ? ",\"children\":[4]" : "");
  put_nest(f, how->deep);
  if (kind != RIG_BAR_WITHOUT_SKIN)
    fprintf(f, "\"skins\":[{\"joints\":[1,3],\"inverseBindMatrices\":3}],");
  fprintf(f, "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0%s},\"indices\":4}]}],",
          kind == RIG_BAR_WITHOUT_SKIN ? "" : ",\"JOINTS_0\":2,\"WEIGHTS_0\":1");
  fprintf(f, "\"animations\":[{\"name\":\"bend\",\"channels\":["
             "{\"sampler\":0,\"target\":{\"node\":3,\"path\":\"rotation\"}},"
             "{\"sampler\":1,\"target\":{\"node\":1,\"path\":\"translation\"}}],"
             "\"samplers\":[{\"input\":5,\"output\":6},{\"input\":5,\"output\":7}]}],");
  fprintf(f,
          "\"accessors\":["
          "{\"bufferView\":0,\"componentType\":5126,\"count\":12,\"type\":\"VEC3\","
          "\"min\":[-0.1,0,-0.1],\"max\":[0.1,2,0.1]},"
          "{\"bufferView\":1,\"componentType\":5126,\"count\":12,\"type\":\"VEC4\"},"
          "{\"bufferView\":2,\"componentType\":5121,\"count\":12,\"type\":\"VEC4\"},"
          "{\"bufferView\":3,\"componentType\":5126,\"count\":2,\"type\":\"MAT4\"},"
          "{\"bufferView\":4,\"componentType\":5123,\"count\":%d,\"type\":\"SCALAR\"},"
          "{\"bufferView\":5,\"componentType\":5126,\"count\":2,\"type\":\"SCALAR\","
          "\"min\":[0],\"max\":[1]},"
          "{\"bufferView\":6,\"componentType\":5126,\"count\":2,\"type\":\"VEC4\"},"
          "{\"bufferView\":7,\"componentType\":5126,\"count\":2,\"type\":\"VEC3\"}],"
          "\"bufferViews\":[",
          kind == RIG_BAR_OPEN ? 54 : 60);
  put_view(f, "", offsetof(rig_bar, x), sizeof b->x);
  put_view(f, ",", offsetof(rig_bar, weight), sizeof b->weight);
  put_view(f, ",", offsetof(rig_bar, joint), sizeof b->joint);
  put_view(f, ",", offsetof(rig_bar, inverse), sizeof b->inverse);
  put_view(f, ",", offsetof(rig_bar, tris), sizeof b->tris);
  put_view(f, ",", offsetof(rig_bar, time), sizeof b->time);
  put_view(f, ",", offsetof(rig_bar, turn), sizeof b->turn);
  put_view(f, ",", offsetof(rig_bar, shift), sizeof b->shift);
  fprintf(f, "],\"buffers\":[{\"byteLength\":%zu,\"uri\":\"", sizeof *b);
  if (how->uri == NULL) {
    fprintf(f, "data:application/octet-stream;base64,");
    put_base64(f, b, sizeof *b);
  } else {
    fprintf(f, "%s", how->uri);
  }
  fprintf(f, "\"}]}\n");
  fclose(f);
}
