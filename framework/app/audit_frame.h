/* audit_frame.h - the checks of `loom verify` on one frame, independent of the solver side. */
#ifndef LOOM_AUDIT_FRAME_H
#define LOOM_AUDIT_FRAME_H

#include "audit/isect_path.h"
#include "bodies/entries.h"
#include "log/h5read.h"
#include "rig/rig.h"

enum { AUDIT_MAX_BODIES = 64, AUDIT_NAME_LEN = 64 };

typedef struct audit_body { /* an obstacle with a closed form or a mesh */
  char name[AUDIT_NAME_LEN];
  obst_view view; /* of a closed form, at the origin */
  double *poses;  /* [num_poses][12] body to world */
  int64_t num_poses;
  int64_t n, nt;  /* of a mesh, else 0 */
  double *local;  /* [n][3], m, body frame */
  double *frames; /* [num_frames][n][3], m, body frame, of motion = sequence; NULL: rigid */
  int64_t num_frames;
  double frame_rate;  /* 1/s */
  rig rig;            /* for bodies with joints: skin.x at rest; other bodies have no skin */
  double *joints;     /* [num_poses][rig.num_joints][12] */
  double *x, *x_next; /* [n][3], m, world, at the frame audited and the next one */
  int32_t *tris;      /* [nt][3] */
} audit_body;

typedef struct audit { /* the scene a log describes */
  int64_t n, nt, num_tets;
  int32_t *tris;   /* [nt][3] */
  int32_t *tets;   /* [num_tets][4], NULL if none */
  double *area;    /* rest areas, m^2 [nt] */
  double *volume;  /* signed rest volumes, m^3 [num_tets] */
  double min_area; /* least share of its rest area that a triangle may have */
  int threads;
  double *times; /* [num_times] s, of the frames of the log */
  int64_t num_times;
  int num_bodies, skipped_bodies;
  audit_body bodies[AUDIT_MAX_BODIES];
  isect_left_out sewn;     /* pairs of seams, never tested; zero: none */
  isect_left_out left_out; /* these, and pairs that intersected at the start; zero: none of them */
  isect_pair *pairs;       /* [max_pairs] */
  isect_pass *passes;      /* [max_pairs] */
  int64_t max_pairs;
  entry_list entries; /* edges and triangles in bodies of closed form; of the latest frame or way */
} audit;

typedef struct audit_result {
  int64_t not_finite; /* vertices with a NaN or infinite coordinate */
  int64_t degenerate; /* triangles below min_area times their rest area */
  int64_t inverted;   /* tetrahedra whose volume is not of its rest volume's sign */
  int64_t intersections;
  int64_t entries;      /* of them, edges and triangles inside bodies with a closed form */
  int64_t of_start;     /* pairs that have intersected since the start, not among `intersections` */
  int64_t first_bad[3]; /* vertex, triangle, tetrahedron: the first found, or -1 */
  int64_t inside;       /* vertices inside bodies with a closed form */
  double depth;         /* m, deepest one of them, 0 if there is none */
  int64_t depth_vertex;
  int depth_body;
} audit_result;

loom_status audit_open(loom_err *err, h5read *r, double min_area, int64_t max_pairs, audit *a);
void audit_close(audit *a);
/* Checks x [n][3], m; frame is its index, for the poses.  Pairs lie in a->pairs afterwards. */
loom_status audit_frame(loom_err *err, audit *a, const double *x, int64_t frame, audit_result *out);
/* Pairs that pass through each other when all vertices move straight from x, of `frame`, to
 * x_next, of the next one; in a->passes afterwards.  *entered: triangles that are inside bodies
 * with a closed form on this way; in a->entries.  Frames that are not finite have none. */
loom_status audit_trajectory(loom_err *err, audit *a, const double *x, const double *x_next,
                             int64_t frame, double tolerance, int64_t *found, int64_t *entered);
/* Name of the body with this index among the meshes, as pairs and passes count them. */
const char *audit_mesh_name(const audit *a, int32_t body);

#endif
