/* export.h - the writers behind `loom export`, one file per format. */
#ifndef LOOM_EXPORT_H
#define LOOM_EXPORT_H

#include "app/log_tools.h"

typedef struct export_scene {
  h5read *r;
  const char *log_path, *dir, *stem; /* files are called DIR/STEM... */
  int64_t n, nt, num_edges;
  int32_t *tris;  /* [nt][3] */
  int32_t *edges; /* [num_edges][2], only if there are no triangles */
  double *x, *v;  /* [n][3] of the current frame */
  int64_t first, end;
} export_scene;

typedef struct export_frame {
  int64_t index, step;
  double time; /* s */
} export_frame;

/* One frame as a file of its own; `path` is where. */
loom_status export_obj(loom_err *err, const export_scene *s, const export_frame *f,
                       const char *path);
loom_status export_ply(loom_err *err, const export_scene *s, const export_frame *f,
                       const char *path);
loom_status export_vtk(loom_err *err, const export_scene *s, const export_frame *f,
                       const char *path);
/* DIR/STEM.vtk.series and DIR/STEM.xdmf: what ParaView opens as a whole. */
loom_status export_series(loom_err *err, const export_scene *s, const double *times);
/* DIR/steps.csv, iters.csv, iters_extra.csv, inner.csv */
loom_status export_csv(loom_err *err, const export_scene *s);

#endif
