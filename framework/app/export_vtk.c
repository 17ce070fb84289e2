/* export_vtk.c - frames for ParaView: legacy VTK files with a series, and an XDMF file that
 * points into the log. */
#define _XOPEN_SOURCE 700 /* realpath */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "app/export.h"

/* Legacy VTK binary data is big-endian (VTK User's Guide, file formats). */
static void put_big(FILE *out, const void *data, size_t size, int64_t count)
{
  const uint16_t one = 1;
  const unsigned char *p = data;
  unsigned char first;
  memcpy(&first, &one, 1);
  if (first == 0) { /* so is this machine */
    fwrite(data, size, (size_t)count, out);
    return;
  }
  for (int64_t i = 0; i < count; ++i, p += size)
    for (size_t k = size; k-- > 0;) fputc(p[k], out);
}

/* Cells of `arity` vertices, each with its length in front. */
static void put_cells(FILE *out, const char *name, const int32_t *ids, int32_t arity, int64_t count)
{
  if (count == 0) return;
  fprintf(out, "%s %" PRId64 " %" PRId64 "\n", name, count, count * (arity + 1));
  for (int64_t i = 0; i < count; ++i) {
    put_big(out, &arity, sizeof arity, 1);
    put_big(out, ids + arity * i, sizeof *ids, arity);
  }
  fputc('\n', out);
}

/* A string of a binary file: its length in 6 or 14 bits behind two bits that say which. */
static void put_string(FILE *out, const char *text)
{
  const size_t length = strlen(text) < 16383 ? strlen(text) : 16383;
  if (length < 64) {
    fputc((int)(3U << 6 | length), out);
  } else {
    fputc((int)(2U << 6 | length >> 8), out);
    fputc((int)(length & 255), out);
  }
  fwrite(text, 1, length, out);
}

static void put_names(FILE *out, const char *array, char *const *names, int32_t count)
{
  if (count == 0) return;
  fprintf(out, "%s 1 %d string\n", array, count);
  for (int32_t k = 0; k < count; ++k) put_string(out, names[k]);
  fputc('\n', out);
}

/* Arrays of triangles; piece -1: in none. */
static void put_cell_data(FILE *out, const export_scene *s)
{
  const int arrays = (s->object != NULL) + 2 * (s->uv != NULL);
  if (arrays == 0) return;
  fprintf(out, "CELL_DATA %" PRId64 "\nFIELD FieldData %d\n", s->nt, arrays);
  if (s->object != NULL) {
    fprintf(out, "object 1 %" PRId64 " int\n", s->nt);
    put_big(out, s->object, sizeof *s->object, s->nt);
    fputc('\n', out);
  }
  if (s->uv == NULL) return;
  fprintf(out, "piece 1 %" PRId64 " int\n", s->nt);
  for (int64_t t = 0; t < s->nt; ++t) {
    const int32_t piece = s->piece[t] < s->num_pieces ? s->piece[t] : -1;
    put_big(out, &piece, sizeof piece, 1);
  }
  fprintf(out, "\nuv 6 %" PRId64 " double\n", s->nt);
  put_big(out, s->uv, sizeof *s->uv, 6 * s->nt);
  fputc('\n', out);
}

loom_status export_vtk(loom_err *err, const export_scene *s, const export_frame *f,
                       const char *path)
{
  char a[NUMBER_LEN];
  out_file o;
  LOOM_TRY(out_file_open(err, path, OUT_VTK, &o));
  FILE *const out = o.f;
  fprintf(out,
          "# vtk DataFile Version 3.0\nframe %" PRId64 ", step %" PRId64
          ", time %s s\nBINARY\nDATASET POLYDATA\n",
          f->index, f->step, number_text(f->time, a));
  const int lists = (s->num_objects > 0) + (s->num_pieces > 0);
  if (lists > 0) fprintf(out, "FIELD FieldData %d\n", lists);
  put_names(out, "objects", s->object_names, s->num_objects);
  put_names(out, "pieces", s->piece_names, s->num_pieces);
  fprintf(out, "POINTS %" PRId64 " double\n", s->n);
  put_big(out, s->x, sizeof(double), 3 * s->n);
  fputc('\n', out);
  put_cells(out, "LINES", s->edges, 2, s->num_edges);
  put_cells(out, "POLYGONS", s->tris, 3, s->nt);
  put_cell_data(out, s);
  fprintf(out, "POINT_DATA %" PRId64 "\nVECTORS velocity double\n", s->n);
  put_big(out, s->v, sizeof(double), 3 * s->n);
  fputc('\n', out);
  return out_file_close(err, &o, LOOM_OK);
}

static loom_status write_series(loom_err *err, const export_scene *s, const double *times)
{
  char path[4096], a[NUMBER_LEN];
  out_file o;
  snprintf(path, sizeof path, "%s/%s.vtk.series", s->dir, s->stem);
  LOOM_TRY(out_file_open(err, path, OUT_SERIES, &o));
  FILE *const out = o.f;
  fprintf(out, "{\n  \"file-series-version\" : \"1.0\",\n  \"files\" : [\n");
  for (int64_t t = s->first; t < s->end; ++t) {
    fprintf(out, "    { \"name\" : \"");
    for (const char *p = s->stem; *p != '\0'; ++p) {
      if (*p == '"' || *p == '\\') fputc('\\', out);
      fputc(*p, out);
    }
    fprintf(out, "_%06" PRId64 ".vtk\", \"time\" : %s }%s\n", t,
            number_text(times[t - s->first], a), t + 1 < s->end ? "," : "");
  }
  fprintf(out, "  ]\n}\n");
  return out_file_close(err, &o, LOOM_OK);
}

static void put_xml(FILE *out, const char *text)
{
  for (; *text != '\0'; ++text) {
    switch (*text) {
    case '&':
      fputs("&amp;", out);
      break;
    case '<':
      fputs("&lt;", out);
      break;
    case '>':
      fputs("&gt;", out);
      break;
    case '"':
      fputs("&quot;", out);
      break;
    default:
      fputc(*text, out);
    }
  }
}

/* One frame of a [T][n][3] dataset as a hyperslab. */
static void put_slab(FILE *out, const export_scene *s, const char *log, const char *dataset,
                     int64_t t, int64_t num_frames, int bytes)
{
  fprintf(out,
          "          <DataItem ItemType=\"HyperSlab\" Dimensions=\"1 %" PRId64 " 3\">\n"
          "            <DataItem Dimensions=\"3 3\" Format=\"XML\">%" PRId64 " 0 0 1 1 1 1 %" PRId64
          " 3</DataItem>\n"
          "            <DataItem Dimensions=\"%" PRId64 " %" PRId64
          " 3\" NumberType=\"Float\" Precision=\"%d\" Format=\"HDF\">",
          s->n, t, s->n, num_frames, s->n, bytes);
  put_xml(out, log);
  fprintf(out, ":/frames/%s</DataItem>\n          </DataItem>\n", dataset);
}

static void write_xdmf_grid(FILE *out, const export_scene *s, const char *log, int64_t t,
                            double time, int64_t num_frames, int bytes)
{
  char a[NUMBER_LEN];
  fprintf(out,
          "      <Grid Name=\"frame %" PRId64 "\" GridType=\"Uniform\">\n"
          "        <Time Value=\"%s\"/>\n",
          t, number_text(time, a));
  if (s->nt > 0) {
    fprintf(out,
            "        <Topology TopologyType=\"Triangle\" NumberOfElements=\"%" PRId64 "\">\n"
            "          <DataItem Dimensions=\"%" PRId64
            " 3\" NumberType=\"Int\" Precision=\"4\" Format=\"HDF\">",
            s->nt, s->nt);
    put_xml(out, log);
    fprintf(out, ":/scene/triangles</DataItem>\n        </Topology>\n");
  } else {
    fprintf(out,
            "        <Topology TopologyType=\"Polyvertex\" NumberOfElements=\"%" PRId64
            "\" NodesPerElement=\"1\"/>\n",
            s->n);
  }
  fprintf(out, "        <Geometry GeometryType=\"XYZ\">\n");
  put_slab(out, s, log, "x", t, num_frames, bytes);
  fprintf(out, "        </Geometry>\n        <Attribute Name=\"velocity\" "
               "AttributeType=\"Vector\" Center=\"Node\">\n");
  put_slab(out, s, log, "v", t, num_frames, bytes);
  fprintf(out, "        </Attribute>\n      </Grid>\n");
}

/* The path of the log as seen from the directory of the .xdmf file, where readers start from: both
 * may be moved together.  Steps up only as far as the two have no common directory. */
static loom_status relative_log(loom_err *err, const export_scene *s, char *out, size_t len)
{
  char *const from = realpath(s->dir, NULL), *const to = realpath(s->log_path, NULL);
  size_t common = 0, used = 0;
  if (from == NULL || to == NULL) {
    free(from);
    free(to);
    return err_set(err, LOOM_E_IO, "%s: the path cannot be followed: %s", s->log_path,
                   strerror(errno));
  }
  for (size_t i = 0; from[i] == to[i] || (from[i] == '\0' && to[i] == '/'); ++i) {
    if (from[i] == '/' || from[i] == '\0') common = i;
    if (from[i] == '\0' || to[i] == '\0') break;
  }
  out[0] = '\0';
  for (const char *p = from + common; *p != '\0'; ++p)
    if (p[0] == '/' && p[1] != '\0') used += (size_t)snprintf(out + used, len - used, "../");
  snprintf(out + used, len - used, "%s", to + common + 1);
  free(from);
  free(to);
  return LOOM_OK;
}

static loom_status write_xdmf(loom_err *err, const export_scene *s, const double *times)
{
  char path[4096];
  const int64_t num_frames = h5read_num_frames(s->r);
  const int bytes = h5read_frame_bytes(s->r);
  out_file o;
  char log[8192];
  LOOM_TRY(relative_log(err, s, log, sizeof log));
  snprintf(path, sizeof path, "%s/%s.xdmf", s->dir, s->stem);
  LOOM_TRY(out_file_open(err, path, OUT_XDMF, &o));
  FILE *const out = o.f;
  fprintf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Xdmf Version=\"3.0\">\n  <Domain>\n"
               "    <Grid Name=\"frames\" GridType=\"Collection\" CollectionType=\"Temporal\">\n");
  for (int64_t t = s->first; t < s->end; ++t)
    write_xdmf_grid(out, s, log, t, times[t - s->first], num_frames, bytes);
  fprintf(out, "    </Grid>\n  </Domain>\n</Xdmf>\n");
  return out_file_close(err, &o, LOOM_OK);
}

loom_status export_series(loom_err *err, const export_scene *s, const double *times)
{
  LOOM_TRY(write_series(err, s, times));
  return write_xdmf(err, s, times);
}
