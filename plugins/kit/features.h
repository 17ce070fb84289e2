/* features.h - edges and vertices that triangles share, made once (features.kern.h). */
#ifndef KIT_FEATURES_H
#define KIT_FEATURES_H

#include "kit/features.kern.h"
#include "loom/exclusions.h"
#include "loom/plug.h"
#include "loom/plugin.h"

typedef struct features {
  const loom_scene *sc;
  const loom_exclusions *out; /* NULL: none in this scene */
  loom_buf *edge;             /* i32 [nt + ntb][3] */
  loom_buf *owner, *factor;   /* i32 [features] */
  loom_buf *first, *ring;     /* i64 [features + 1], i32 */
  loom_buf *of_edge;          /* i32 [ne + neb] */
  double mean_edge;           /* m, of the scene's triangles at rest; 0: it has none */
} features;

loom_status features_new(features *f, const loom_host *host, const loom_scene *sc,
                         const loom_exec *e);
feature_lists features_open(const features *f, plug_maps *m);

#endif
