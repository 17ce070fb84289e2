/* export.h - the writers behind `loom export`, one file per format. */
#ifndef LOOM_EXPORT_H
#define LOOM_EXPORT_H

#include "app/log_tools.h"
#include "core/out_file.h"

typedef struct export_scene {
  h5read *r;
  const char *log_path, *dir, *stem; /* files are called DIR/STEM... */
  int64_t n, nt, num_edges;
  int32_t *tris;  /* [nt][3] */
  int32_t *edges; /* [num_edges][2], only if there are no triangles */
  double *x, *v;  /* [n][3] of the current frame */
  int64_t num_yarns, num_segs;
  int32_t *yarn_first;  /* [num_yarns + 1], vertices */
  int32_t *yarn_closed; /* [num_yarns] */
  int32_t *segs;        /* [num_segs][4], as loom_scene.segs, yarn by yarn */
  double *radius;       /* [n] m, only if there are yarns */
  double *uv;           /* [nt][3][2] m, material coordinates of corners; NULL: the log has none */
  int32_t *piece;       /* [nt], 0 to num_pieces - 1; num_pieces: in no piece */
  int32_t num_pieces;
  char *piece_text;    /* names of the pieces, the memory of: */
  char **piece_names;  /* [num_pieces + 1], the last is "none" */
  int32_t *object;     /* [nt], of each triangle, 0 to num_objects - 1; NULL: not known */
  char **object_names; /* [num_objects], of cloths, solids and yarns */
  int32_t num_objects;
  int64_t first, end;
} export_scene;

typedef struct export_frame {
  int64_t index, step;
  double time; /* s */
} export_frame;

/* Writes one frame as a file of its own at `path`. */
loom_status export_obj(loom_err *err, const export_scene *s, const export_frame *f,
                       const char *path);
loom_status export_ply(loom_err *err, const export_scene *s, const export_frame *f,
                       const char *path);
loom_status export_vtk(loom_err *err, const export_scene *s, const export_frame *f,
                       const char *path);
/* Yarns as curves (yarn/yarn_file.h says how), and as tubes of triangles. */
loom_status export_bcc(loom_err *err, const export_scene *s, const export_frame *f,
                       const char *path);
loom_status export_tubes(loom_err *err, const export_scene *s, const export_frame *f,
                         const char *path);
loom_status export_load_yarns(loom_err *err, export_scene *s);
/* Reads /scene/material, if the log has it; obj and ply files carry it. */
loom_status export_load_material(loom_err *err, export_scene *s);
void export_free_material(export_scene *s);
/* Reads /scene/object and the names of objects in the configuration; vtk files carry them. */
loom_status export_load_objects(loom_err *err, export_scene *s);
void export_free_objects(export_scene *s);
/* DIR/STEM.vtk.series and DIR/STEM.xdmf: ParaView opens either as a whole series. */
loom_status export_series(loom_err *err, const export_scene *s, const double *times);
/* DIR/steps.csv, steps_extra.csv, iters.csv, iters_extra.csv, inner.csv */
loom_status export_csv(loom_err *err, const export_scene *s);

#endif
