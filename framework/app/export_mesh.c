/* export_mesh.c - a frame as Wavefront OBJ or Stanford PLY. */
#include <inttypes.h>
#include <string.h>

#include "app/export.h"

loom_status export_obj(loom_err *err, const export_scene *s, const export_frame *f,
                       const char *path)
{
  char a[NUMBER_LEN], b[NUMBER_LEN], c[NUMBER_LEN];
  FILE *out;
  LOOM_TRY(file_create(err, path, &out));
  fprintf(out, "# frame %" PRId64 ", step %" PRId64 ", time %s s, positions in m\n", f->index,
          f->step, number_text(f->time, a));
  for (int64_t i = 0; i < s->n; ++i)
    fprintf(out, "v %s %s %s\n", number_text(s->x[3 * i], a), number_text(s->x[3 * i + 1], b),
            number_text(s->x[3 * i + 2], c));
  for (int64_t i = 0; i < s->nt; ++i)
    fprintf(out, "f %d %d %d\n", s->tris[3 * i] + 1, s->tris[3 * i + 1] + 1,
            s->tris[3 * i + 2] + 1);
  for (int64_t i = 0; i < s->num_edges && s->num_yarns == 0; ++i)
    fprintf(out, "l %d %d\n", s->edges[2 * i] + 1, s->edges[2 * i + 1] + 1);
  for (int64_t k = 0; k < s->num_yarns; ++k) {
    fputc('l', out);
    for (int32_t i = s->yarn_first[k]; i < s->yarn_first[k + 1]; ++i) fprintf(out, " %d", i + 1);
    fprintf(out, s->yarn_closed[k] ? " %d\n" : "\n", s->yarn_first[k] + 1);
  }
  return file_finish(err, path, out);
}

static int little_endian_host(void)
{
  const uint16_t one = 1;
  unsigned char first;
  memcpy(&first, &one, 1);
  return first == 1;
}

/* Binary, doubles, in the byte order of this machine, which the header names. */
loom_status export_ply(loom_err *err, const export_scene *s, const export_frame *f,
                       const char *path)
{
  char a[NUMBER_LEN];
  FILE *out;
  LOOM_TRY(file_create(err, path, &out));
  fprintf(out,
          "ply\nformat binary_%s_endian 1.0\ncomment frame %" PRId64 ", step %" PRId64
          ", time %s s\n",
          little_endian_host() ? "little" : "big", f->index, f->step, number_text(f->time, a));
  fprintf(out,
          "element vertex %" PRId64 "\nproperty double x\nproperty double y\n"
          "property double z\nproperty double vx\nproperty double vy\nproperty double vz\n",
          s->n);
  fprintf(out, "element face %" PRId64 "\nproperty list uchar int vertex_indices\n", s->nt);
  if (s->num_edges > 0)
    fprintf(out, "element edge %" PRId64 "\nproperty int vertex1\nproperty int vertex2\n",
            s->num_edges);
  fprintf(out, "end_header\n");
  for (int64_t i = 0; i < s->n; ++i) {
    fwrite(s->x + 3 * i, sizeof(double), 3, out);
    fwrite(s->v + 3 * i, sizeof(double), 3, out);
  }
  for (int64_t i = 0; i < s->nt; ++i) {
    fputc(3, out);
    fwrite(s->tris + 3 * i, sizeof(int32_t), 3, out);
  }
  if (s->num_edges > 0) fwrite(s->edges, 2 * sizeof(int32_t), (size_t)s->num_edges, out);
  return file_finish(err, path, out);
}
