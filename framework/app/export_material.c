/* export_material.c - material coordinates and pieces of a log, for the writers of meshes. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "app/export.h"

/* Lines of text as strings, and "none" behind them. */
static loom_status split_names(loom_err *err, export_scene *s)
{
  static char none[] = "none";
  int32_t lines = 0;
  for (const char *p = s->piece_text; *p != '\0'; ++p) lines += *p == '\n';
  s->piece_names = malloc(((size_t)lines + 1) * sizeof *s->piece_names);
  if (s->piece_names == NULL) return err_set(err, LOOM_E_NOMEM, "out of memory");
  for (char *p = s->piece_text; s->num_pieces < lines; ++p) {
    s->piece_names[s->num_pieces++] = p;
    p = strchr(p, '\n');
    *p = '\0';
  }
  s->piece_names[lines] = none;
  return LOOM_OK;
}

static loom_status read_pieces(loom_err *err, export_scene *s)
{
  void *data;
  int rank;
  int64_t dims[4];
  LOOM_TRY(h5read_dataset(s->r, err, "scene/material/piece", 0, &data, &rank, dims));
  const int64_t *const number = data;
  loom_status st = LOOM_OK;
  s->piece = malloc(sizeof *s->piece * (size_t)s->nt + 1);
  if (s->piece == NULL) st = err_set(err, LOOM_E_NOMEM, "out of memory");
  if (st == LOOM_OK && (rank != 1 || dims[0] != s->nt))
    st = err_set(err, LOOM_E_IO,
                 "/scene/material/piece is not of the triangles: the file is damaged");
  for (int64_t t = 0; t < s->nt && st == LOOM_OK; ++t) {
    if (number[t] < -1 || number[t] >= s->num_pieces)
      st = err_set(err, LOOM_E_IO,
                   "/scene/material/piece names piece %" PRId64 ": the file is damaged", number[t]);
    else
      s->piece[t] = number[t] < 0 ? s->num_pieces : (int32_t)number[t];
  }
  free(data);
  return st;
}

loom_status export_load_material(loom_err *err, export_scene *s)
{
  void *data;
  int rank;
  int64_t dims[4];
  if (!h5read_exists(s->r, "scene/material/uv")) return LOOM_OK;
  s->piece_text = h5read_string(s->r, "scene/material/pieces");
  if (s->piece_text == NULL)
    return err_set(err, LOOM_E_IO, "/scene/material/pieces is missing: the file is damaged");
  LOOM_TRY(split_names(err, s));
  LOOM_TRY(read_pieces(err, s));
  LOOM_TRY(h5read_dataset(s->r, err, "scene/material/uv", 1, &data, &rank, dims));
  s->uv = data;
  if (rank != 3 || dims[0] != s->nt || dims[1] != 3 || dims[2] != 2)
    return err_set(err, LOOM_E_IO,
                   "/scene/material/uv is not of the triangles: the file is damaged");
  return LOOM_OK;
}

void export_free_material(export_scene *s)
{
  free(s->uv);
  free(s->piece);
  free(s->piece_names);
  free(s->piece_text);
}
