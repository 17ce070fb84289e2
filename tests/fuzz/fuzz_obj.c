/* fuzz_obj.c - any bytes as an OBJ or PLY file: an error with a place, or a mesh with ids that
 * exist and which the doctor and the edge table can take. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mesh/doctor.h"
#include "mesh/obj.h"
#include "mesh/topo.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require_mesh_property(int condition, const char *what)
{
  if (condition) return;
  fprintf(stderr, "fuzz_obj: %s\n", what);
  abort();
}

static void check_mesh(mesh *m)
{
  loom_err err = {0};
  doctor d = {0};
  topo tp;
  int32_t flipped;
  require_mesh_property(m->num_verts > 0 && m->num_tris > 0, "an empty mesh was accepted");
  for (int64_t k = 0; k < 3 * (int64_t)m->num_tris; ++k)
    require_mesh_property(m->tris[k] >= 0 && m->tris[k] < m->num_verts, "a triangle has a wild id");
  for (int use = DOCTOR_CLOTH; use <= DOCTOR_BODY; ++use)
    require_mesh_property(doctor_mesh(&err, &d, "fuzz", m, use) == LOOM_OK, "the doctor failed");
  const loom_status verdict = doctor_verdict(&err, &d);
  require_mesh_property((verdict == LOOM_OK) == (d.total == 0),
                        "the verdict does not fit the problems");
  require_mesh_property(topo_build(&err, m->tris, m->num_tris, m->num_verts, &tp) == LOOM_OK,
                        "no edge table");
  require_mesh_property(tp.first[tp.num_edges] == 3 * (int64_t)m->num_tris, "sides are missing");
  topo_free(&tp);
  require_mesh_property(doctor_orient(&err, m, &flipped) == LOOM_OK, "orientation failed");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  loom_err err = {0};
  mesh m;
  char *const text = malloc(size + 1);
  require_mesh_property(text != NULL, "out of memory");
  if (size > 0) memcpy(text, data, size);
  text[size] = '\0';
  const int ply = size >= 3 && memcmp(text, "ply", 3) == 0;
  const loom_status s =
      ply ? ply_parse(&err, "fuzz", text, size, &m) : obj_parse(&err, "fuzz", text, size, &m);
  if (s == LOOM_OK) {
    check_mesh(&m);
  } else {
    require_mesh_property(s < 0 && strncmp(err.text, "fuzz:", 5) == 0, "a refusal without a place");
    require_mesh_property(m.x == NULL && m.tris == NULL, "a refused file left memory behind");
  }
  mesh_free(&m);
  free(text);
  return 0;
}
