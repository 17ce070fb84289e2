/* [solid.*] shape = mesh: masses, notes, sizes and refusals of tetrahedra from files. */
#define _DEFAULT_SOURCE /* mkstemps */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/tiny_file.h"
#include "support/tiny_scene.h"

#define PARTS(...) ((const char *const[]){__VA_ARGS__, NULL})

#define MSH(nodes, elements)                                                               \
  "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n" nodes "$EndNodes\n$Elements\n" elements \
  "$EndElements\n"
#define NODES "5\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 9 9 9\n"

static double total_mass(tiny_scene *t)
{
  loom_real *const mass = tiny_copy(t, t->s->pub.mass);
  double all = 0;
  for (int32_t k = 0; k < t->s->pub.num_verts; ++k) all += (double)mass[k];
  free(mass);
  return all;
}

Test(solid_files, a_file_gives_mass_surface_and_notes)
{
  char path[] = "/tmp/loom_solid_XXXXXX.msh", text[300];
  tiny_file(path, MSH(NODES, "2\n1 2 0 1 2 3\n2 4 0 1 2 3 4\n"));
  snprintf(text, sizeof text,
           "[solid.a]\nshape = mesh\nfile = %s\ndensity = 600\ntransform = scale 0.1\npins = 0\n",
           path);
  tiny_scene t = tiny_open_ok(text);
  cr_assert(t.s->pub.num_verts == 4 && t.s->pub.num_tets == 1 && t.s->pub.num_tris == 4);
  cr_assert_float_eq(total_mass(&t), 0.1, 1e-7);
  cr_assert(strstr(t.s->notes, "1 points, lines or faces were passed over") != NULL);
  cr_assert(strstr(t.s->notes, "1 points without a tetrahedron are left out") != NULL);
  cr_assert(strstr(t.s->inventory, "0.1 x 0.1 x 0.1 m, 0.0001667 m^3, 0.1 kg, 1 tetrahedra, edges "
                                   "0.1 to 0.141 m") != NULL,
            "%s", t.s->inventory);
  cr_assert(t.s->warnings == NULL);
  tiny_close(&t);
  snprintf(text, sizeof text, "[solid.a]\nshape = mesh\nfile = %s\ntransform = scale 100\n", path);
  t = tiny_open_ok(text);
  cr_assert(strstr(t.s->warnings, "is 100 m long; is its unit the metre? transform = scale") !=
            NULL);
  tiny_close(&t);
  unlink(path);
}

Test(solid_files, faults_are_refused)
{
  char path[] = "/tmp/loom_solid_XXXXXX.msh", text[300];
  tiny_file(path, MSH("5\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 0 0 -1\n",
                      "2\n1 4 0 1 2 3 4\n2 4 0 1 2 3 5\n"));
  snprintf(text, sizeof text, "[solid.a]\nshape = mesh\nfile = %s\n", path);
  tiny_refused(text, PARTS(path, "tetrahedron 1 (0 1 2 4): negative volume; swap two vertices"));
  snprintf(text, sizeof text, "[solid.a]\nshape = mesh\nfile = %s\nsize = 1 1 1\n", path);
  tiny_refused(text, PARTS("tiny.ini:4", "size", "shape = box"));
  tiny_refused("[solid.a]\nshape = mesh\n", PARTS("tiny.ini:2", "needs the key file"));
  tiny_refused("[solid.a]\nfile = a.msh\n", PARTS("tiny.ini:2", "shape = mesh"));
  unlink(path);
  snprintf(text, sizeof text, "[solid.a]\nshape = mesh\nfile = a.vtu\ncell = 0.1\n");
  tiny_refused(text, PARTS("tiny.ini:4", "a.vtu has tetrahedra of its own"));
  tiny_scene t = tiny_open("[solid.a]\nshape = mesh\nfile = /tmp/loom_no_such.ele\n");
  cr_assert_eq(t.status, LOOM_E_CONFIG);
  cr_assert(strstr(t.err.text, "/tmp/loom_no_such.node") != NULL, "%s", t.err.text);
  tiny_close(&t);
}
