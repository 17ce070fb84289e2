/* rig_bar.h - a small skinned, animated body as a glTF that a test writes itself. */
#ifndef TEST_RIG_BAR_H
#define TEST_RIG_BAR_H

#include <stdint.h>

/* A square bar along y, from 0 to 2 m: three rings of four vertices, closed; two joints, the lower
 * one at the origin, the upper one 1 m above it.  Bound in that pose; the whole stands 0.5 m to the
 * side.  The animation bends the upper joint by 90 degrees about z within 1 s, and lifts the lower
 * one by 0.2 m. */
enum { RIG_BAR_VERTS = 12, RIG_BAR_TRIS = 20, RIG_BAR_JOINTS = 2, RIG_BAR_KEYS = 2 };

typedef struct rig_bar {
  float x[RIG_BAR_VERTS][3];
  float weight[RIG_BAR_VERTS][4];
  float inverse[RIG_BAR_JOINTS][16];
  float time[RIG_BAR_KEYS], turn[RIG_BAR_KEYS][4], shift[RIG_BAR_KEYS][3];
  uint16_t tris[RIG_BAR_TRIS][3];
  uint8_t joint[RIG_BAR_VERTS][4];
} rig_bar;

/* OPEN: one end is not closed */
enum { RIG_BAR_WHOLE, RIG_BAR_WITHOUT_SKIN, RIG_BAR_WITHOUT_WEIGHTS, RIG_BAR_OPEN };

typedef struct rig_bar_file {
  int kind;        /* RIG_BAR_WHOLE, ... */
  const char *uri; /* of the numbers, which rig_bar_numbers() writes; NULL: within the file */
  int deep;        /* so many more nodes below the upper joint, each the child of the one before */
} rig_bar_file;

void rig_bar_fill(rig_bar *b);
void rig_bar_write(const char *name, const rig_bar *b, const rig_bar_file *f);
void rig_bar_numbers(const char *name, const rig_bar *b);

#endif
