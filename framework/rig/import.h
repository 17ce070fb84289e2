/* import.h - rigs and their animations from files of 3-D programs, through a module
 * (loom/rig_reader.h). */
#ifndef LOOM_RIG_IMPORT_H
#define LOOM_RIG_IMPORT_H

#include "rig/animation.h"
#include "rig/maps.h"

typedef struct rig_clip {
  char name[64];
  int32_t morphs;  /* as loom_rig_clip.morphs */
  rig_maps maps;   /* as the file says */
  rig_animation a; /* the same by angles, lengths of joints kept: for distances of the body */
} rig_clip;

typedef struct rig_file {
  rig r; /* every joint has the angles x, y, z about the axes of the world at rest */
  int32_t num_clips;
  rig_clip *clip;     /* [num_clips], not periodic */
  double stretch;     /* m, the most that angles leave out: a joint that moves against its parent */
  int32_t welded;     /* vertices that were one and the same place, moved by the same joints */
  int32_t unweighted; /* vertices that no joint moved: the first joint does */
  int32_t left_out;   /* meshes without a skin */
} rig_file;

/* Lengths are scaled by `scale` (to m).  Vertices at one place that the same
 * joints move become one.  The file that
 * LOOM_RIG_READER names, or assimp.so in the folder `readers`, reads it.  Errors begin with the
 * path. Free it also after an error. */
loom_status rig_import(loom_err *err, const char *path, double scale, rig_file *out);
void rig_file_free(rig_file *f);
/* "Walk (0.71 s), Run (1.16 s)" into text [room], ended by "..." where there are more. */
void rig_clip_names(const rig_file *f, char *text, size_t room);

#endif
