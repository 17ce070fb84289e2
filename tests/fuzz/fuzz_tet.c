/* fuzz_tet.c - any bytes as a file of tetrahedra: an error with a place, or a mesh with ids that
 * exist and which the doctor can take.  TetGen's two files stand behind each other, with a line
 * "#ele" between them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mesh/doctor.h"
#include "mesh/tet_file.h"
#include "mesh/vtk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require_tet_property(int condition, const char *what)
{
  if (condition) return;
  fprintf(stderr, "fuzz_tet: %s\n", what);
  abort();
}

static loom_status parse_any_tets(loom_err *err, char *text, size_t size, mesh *m)
{
  char *const cut = strstr(text, "#ele\n");
  if (size >= 5 && memcmp(text, "# vtk", 5) == 0) return vtk_parse(err, "fuzz", text, size, m);
  if (size >= 1 && text[0] == '<') return vtu_parse(err, "fuzz", text, size, m);
  if (cut == NULL) return msh_parse(err, "fuzz", text, size, m);
  *cut = '\0';
  char *const ele = cut + 5;
  return tetgen_parse(err, &(tetgen_text){"fuzz", text, (size_t)(cut - text)},
                      &(tetgen_text){"fuzz", ele, size - (size_t)(ele - text)}, m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  loom_err err = {0};
  doctor d = {0};
  mesh m;
  char *const text = malloc(size + 1);
  require_tet_property(text != NULL, "out of memory");
  if (size > 0) memcpy(text, data, size);
  text[size] = '\0';
  loom_status s = parse_any_tets(&err, text, size, &m);
  if (s != LOOM_OK) require_tet_property(m.x == NULL && m.tets == NULL, "memory is left behind");
  if (s == LOOM_OK) s = tet_file_finish(&err, "fuzz", &m);
  if (s == LOOM_OK) {
    require_tet_property(m.num_verts > 0 && m.num_tets > 0, "an empty mesh was accepted");
    for (int64_t k = 0; k < 4 * (int64_t)m.num_tets; ++k)
      require_tet_property(m.tets[k] >= 0 && m.tets[k] < m.num_verts, "a wild id");
    require_tet_property(doctor_mesh(&err, &d, "fuzz", &m, DOCTOR_SOLID) == LOOM_OK,
                         "the doctor failed");
  } else {
    require_tet_property(s < 0 && strncmp(err.text, "fuzz:", 5) == 0, "a refusal without a place");
  }
  mesh_free(&m);
  free(text);
  return 0;
}
