/* elements.h - edges and triangles against bodies of closed form: pairs EO and step bounds. */
#ifndef SDF_ELEMENTS_H
#define SDF_ELEMENTS_H

#include "elements.kern.h"
#include "loom/plugin.h"

enum { SDF_ELEMENTS_AUTO, SDF_ELEMENTS_ALL, SDF_ELEMENTS_NONE }; /* the key `elements` */

typedef struct sdf_elements {
  const loom_host *host;
  const loom_scene *sc;
  const loom_exec *e;
  double keep, tolerance; /* as in the settings: 1, m */
  int32_t max_search;
  int32_t num;       /* elements that some body is compared with */
  int32_t slots;     /* bodies that some element is compared with; 0: there are no candidates */
  int32_t *body;     /* [slots], on the host */
  loom_buf *corner;  /* i32 [num][4], see sdf_cands */
  loom_buf *body_of; /* i32 [slots] */
  loom_buf *wants;   /* u8 [slots][num_objects] */
  loom_buf *motion;  /* real [slots][SDF_MOTION] */
  int stale;         /* 1: `motion` is of another step */
  loom_buf *first;   /* i32 [n + 1] */
  loom_buf *of_vert; /* i32 [first[n]]: the elements of each vertex */
  loom_buf *near;    /* u8 [slots num] */
  loom_buf *found;   /* u8 [rows] */
  loom_buf *count, *place;   /* i64 [groups], [groups + 1] of `near` */
  loom_buf *counts, *places; /* the same of `found` */
  int64_t rows;              /* of the latest query or bound */
  /* [rows] of them: */
  loom_buf *row_body, *row_v, *row_element; /* i32, i32 [.][4], i32: sdf_rows */
  loom_buf *gap, *weight, *normal, *flat;   /* real, real [.][4], real [.][3], real */
  loom_buf *floor, *tol, *toi;              /* real */
  loom_buf *hit_gap, *hit_weight, *hit_normal, *hit_point;
  loom_buf *t;   /* real [num], step bounds */
  loom_buf *who; /* i32 [num], bodies that set them */
} sdf_elements;

/* By the key `elements` and loom_scene.elements.  Free with sdf_elements_close(). */
loom_status sdf_elements_open(sdf_elements *s, int mode);
void sdf_elements_close(sdf_elements *s);

/* Gaps of vertices from bodies, real [.][n] from body first_body on, m, without the radius, as they
 * were with vertices at x (NULL: where they are). */
typedef struct sdf_vertex_gaps {
  loom_buf *gap, *x;
  int32_t first_body, num_bodies;
} sdf_vertex_gaps;

/* Finds the pairs of a query: *total of them. */
loom_status sdf_elements_find(sdf_elements *s, const loom_query *q, const sdf_vertex_gaps *known,
                              int64_t *total);
/* Writes the pairs that sdf_elements_find() found behind pair `first` of `out`, which has room. */
loom_status sdf_elements_append(sdf_elements *s, const loom_query *q, int64_t first,
                                loom_pairs *out);

/* Bounds of a move, in the order begin, add for all bodies, end: t real [n], who i32 [n] fall to
 * the bounds of the elements of each vertex. */
loom_status sdf_elements_bound_begin(sdf_elements *s);
loom_status sdf_elements_bound_add(sdf_elements *s, const loom_bound *b, loom_buf *x0, loom_buf *x1,
                                   const sdf_vertex_gaps *at);
loom_status sdf_elements_bound_end(sdf_elements *s, loom_buf *t, loom_buf *who);

#endif
