/* sewing_pattern.c - shape = pattern: a cloth from the file of a sewing pattern. */
#include "sewing_pattern/pattern.h"

#include <stdio.h>
#include <stdlib.h>

#include "scene/base/build.h"
#include "sewing_pattern/mesher.h"

static loom_status cut_pattern_cloth(builder *b, object *o, pattern *p)
{
  const loom_mesher *mesher;
  const double edge = o->cloth.edge_length / (double)b->detail;
  loom_status s = mesher_open(b->err, &mesher);
  if (s != LOOM_OK) return build_place(b, o->sec, "shape", s);
  LOOM_TRY(build_check_room(b, o->sec, "edge_length",
                            &(scene_counts){.verts = pattern_num_verts(p, edge)}));
  s = pattern_mesh(b->err, p, mesher, edge, &o->m);
  if (s != LOOM_OK) return build_place(b, o->sec, "edge_length", s);
  if (o->cloth.sewing != SEWING_NONE)
    LOOM_TRY(seams_stitches(b->err, p, &o->stitches, &o->num_stitches));
  return build_note(b, "%s: %d pieces of %d vertices by %s %s (%s), %d seams", o->label,
                    p->num_pieces, o->m.num_verts, mesher->name, mesher->version, mesher->license,
                    p->num_seams);
}

loom_status build_pattern(builder *b, object *o)
{
  pattern *p;
  if (o->cloth.file[0] == '\0')
    return build_place(b, o->sec, "shape",
                       err_set(b->err, LOOM_E_CONFIG, "needs the key file, the pattern to read"));
  loom_status s = pattern_read(b->err, o->cloth.file, &p);
  if (s != LOOM_OK) return build_place(b, o->sec, "file", s);
  snprintf(o->label, sizeof o->label, "%s", o->cloth.file);
  s = cut_pattern_cloth(b, o, p);
  pattern_free(p);
  return s;
}
