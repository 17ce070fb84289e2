/* export_objects.c - the objects of triangles and their names, for the writer of VTK. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "app/export.h"
#include "config/config.h"

static loom_status add_object_name(loom_err *err, export_scene *s, const char *name)
{
  char **const more = realloc(s->object_names, sizeof *more * ((size_t)s->num_objects + 1));
  if (more == NULL) return err_set(err, LOOM_E_NOMEM, "out of memory");
  s->object_names = more;
  more[s->num_objects] = malloc(strlen(name) + 1);
  if (more[s->num_objects] == NULL) return err_set(err, LOOM_E_NOMEM, "out of memory");
  memcpy(more[s->num_objects++], name, strlen(name) + 1);
  return LOOM_OK;
}

/* Objects are numbered as the scene does: cloths, solids, yarns, each in the order of the file. */
static loom_status list_object_names(loom_err *err, export_scene *s)
{
  static const char *const kinds[] = {"cloth", "solid", "yarn"};
  const char *const text = h5read_attr(s->r, "config");
  loom_status st = LOOM_OK;
  loom_err quiet = {0};
  cfg *c = NULL;
  if (text == NULL || cfg_parse(&quiet, text, "config", "", NULL, 0, &c) != LOOM_OK) return LOOM_OK;
  for (int k = 0; k < 3; ++k)
    for (const cfg_section *sec = NULL;
         st == LOOM_OK && (sec = cfg_next(c, kinds[k], sec)) != NULL;)
      st = add_object_name(err, s, cfg_section_suffix(sec));
  cfg_free(c);
  return st;
}

loom_status export_load_objects(loom_err *err, export_scene *s)
{
  void *data;
  int rank;
  int64_t dims[4];
  LOOM_TRY(list_object_names(err, s));
  if (s->num_objects == 0 || s->nt == 0 || !h5read_exists(s->r, "scene/object")) return LOOM_OK;
  LOOM_TRY(h5read_dataset(s->r, err, "scene/object", 0, &data, &rank, dims));
  const int64_t *const owner = data;
  loom_status st = LOOM_OK;
  s->object = malloc(sizeof *s->object * (size_t)s->nt);
  if (s->object == NULL) st = err_set(err, LOOM_E_NOMEM, "out of memory");
  if (st == LOOM_OK && (rank != 1 || dims[0] != s->n))
    st = err_set(err, LOOM_E_IO, "/scene/object is not of the vertices: the file is damaged");
  for (int64_t t = 0; t < s->nt && st == LOOM_OK; ++t) {
    const int64_t k = owner[s->tris[3 * t]];
    if (k < 0 || k >= s->num_objects)
      st =
          err_set(err, LOOM_E_IO, "/scene/object names object %" PRId64 ": the file is damaged", k);
    else
      s->object[t] = (int32_t)k;
  }
  free(data);
  return st;
}

void export_free_objects(export_scene *s)
{
  for (int32_t k = 0; k < s->num_objects; ++k) free(s->object_names[k]);
  free(s->object_names);
  free(s->object);
}
