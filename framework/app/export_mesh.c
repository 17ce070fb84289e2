/* export_mesh.c - a frame as Wavefront OBJ or Stanford PLY. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "app/export.h"

/* The lines `vt`, each pair of coordinates of a vertex once; row [nt][3] gets their numbers. */
static loom_status put_coordinates(loom_err *err, const export_scene *s, FILE *out, int64_t *row)
{
  char a[NUMBER_LEN], b[NUMBER_LEN];
  int64_t num = 0;
  int64_t *const newest = calloc((size_t)s->n + 1, sizeof *newest); /* corner + 1, of a vertex */
  int64_t *const older = malloc(sizeof *older * 3 * (size_t)s->nt + 1);
  const int fine = newest != NULL && older != NULL;
  for (int64_t k = 0; k < 3 * s->nt && fine; ++k) {
    const double *const uv = s->uv + 2 * k;
    int64_t *const list = &newest[s->tris[k]], c = *list;
    while (c != 0 && (s->uv[2 * (c - 1)] != uv[0] || s->uv[2 * (c - 1) + 1] != uv[1]))
      c = older[c - 1];
    if (c != 0) {
      row[k] = row[c - 1];
      continue;
    }
    older[k] = *list;
    *list = k + 1;
    row[k] = ++num;
    fprintf(out, "vt %s %s\n", number_text(uv[0], a), number_text(uv[1], b));
  }
  free(newest);
  free(older);
  return fine ? LOOM_OK : err_set(err, LOOM_E_NOMEM, "out of memory");
}

/* `o NAME` in front of the first triangle of each object. */
static void put_object(const export_scene *s, FILE *out, int64_t t)
{
  if (s->object != NULL && (t == 0 || s->object[t] != s->object[t - 1]))
    fprintf(out, "o %s\n", s->object_names[s->object[t]]);
}

/* Faces with their material coordinates, as groups of pieces. */
static loom_status put_pieces(loom_err *err, const export_scene *s, FILE *out)
{
  int64_t *const row = calloc(3 * (size_t)s->nt + 1, sizeof *row);
  if (row == NULL) return err_set(err, LOOM_E_NOMEM, "out of memory");
  const loom_status st = put_coordinates(err, s, out, row);
  for (int64_t i = 0; i < s->nt && st == LOOM_OK; ++i) {
    put_object(s, out, i);
    if (i == 0 || s->piece[i] != s->piece[i - 1])
      fprintf(out, "g %s\n", s->piece_names[s->piece[i]]);
    fputc('f', out);
    for (int64_t k = 3 * i; k < 3 * i + 3; ++k)
      if (s->piece[i] < s->num_pieces)
        fprintf(out, " %d/%" PRId64, s->tris[k] + 1, row[k]);
      else
        fprintf(out, " %d", s->tris[k] + 1);
    fputc('\n', out);
  }
  free(row);
  return st;
}

loom_status export_obj(loom_err *err, const export_scene *s, const export_frame *f,
                       const char *path)
{
  char a[NUMBER_LEN], b[NUMBER_LEN], c[NUMBER_LEN];
  out_file o;
  LOOM_TRY(out_file_open(err, path, OUT_OBJ, &o));
  FILE *const out = o.f;
  fprintf(out, "# frame %" PRId64 ", step %" PRId64 ", time %s s, positions in m\n", f->index,
          f->step, number_text(f->time, a));
  for (int64_t i = 0; i < s->n; ++i)
    fprintf(out, "v %s %s %s\n", number_text(s->x[3 * i], a), number_text(s->x[3 * i + 1], b),
            number_text(s->x[3 * i + 2], c));
  const loom_status st = s->uv != NULL ? put_pieces(err, s, out) : LOOM_OK;
  for (int64_t i = 0; i < s->nt && s->uv == NULL; ++i) {
    put_object(s, out, i);
    fprintf(out, "f %d %d %d\n", s->tris[3 * i] + 1, s->tris[3 * i + 1] + 1,
            s->tris[3 * i + 2] + 1);
  }
  for (int64_t i = 0; i < s->num_edges && s->num_yarns == 0; ++i)
    fprintf(out, "l %d %d\n", s->edges[2 * i] + 1, s->edges[2 * i + 1] + 1);
  for (int64_t k = 0; k < s->num_yarns; ++k) {
    fputc('l', out);
    for (int32_t i = s->yarn_first[k]; i < s->yarn_first[k + 1]; ++i) fprintf(out, " %d", i + 1);
    fprintf(out, s->yarn_closed[k] ? " %d\n" : "\n", s->yarn_first[k] + 1);
  }
  return out_file_close(err, &o, st);
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
  out_file o;
  LOOM_TRY(out_file_open(err, path, OUT_PLY, &o));
  FILE *const out = o.f;
  fprintf(out,
          "ply\nformat binary_%s_endian 1.0\ncomment frame %" PRId64 ", step %" PRId64
          ", time %s s\n",
          little_endian_host() ? "little" : "big", f->index, f->step, number_text(f->time, a));
  for (int32_t p = 0; p <= s->num_pieces && s->uv != NULL; ++p)
    fprintf(out, "comment piece %d %s\n", p, s->piece_names[p]);
  fprintf(out,
          "element vertex %" PRId64 "\nproperty double x\nproperty double y\n"
          "property double z\nproperty double vx\nproperty double vy\nproperty double vz\n",
          s->n);
  fprintf(out, "element face %" PRId64 "\nproperty list uchar int vertex_indices\n", s->nt);
  if (s->uv != NULL) fprintf(out, "property list uchar double texcoord\nproperty int piece\n");
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
    if (s->uv == NULL) continue;
    const int given = s->piece[i] < s->num_pieces ? 6 : 0;
    fputc(given, out);
    fwrite(s->uv + 6 * i, sizeof(double), (size_t)given, out);
    fwrite(s->piece + i, sizeof(int32_t), 1, out);
  }
  if (s->num_edges > 0) fwrite(s->edges, 2 * sizeof(int32_t), (size_t)s->num_edges, out);
  return out_file_close(err, &o, LOOM_OK);
}
