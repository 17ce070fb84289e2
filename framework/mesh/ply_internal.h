/* ply_internal.h - state of the reader of PLY files, filled by its header, used for its data. */
#ifndef LOOM_MESH_PLY_INTERNAL_H
#define LOOM_MESH_PLY_INTERNAL_H

#include "config/words.h"
#include "mesh/material.h"
#include "mesh/mesh.h"
#include "mesh/polygon.h"

enum { PLY_MAX_PROPS = 64, PLY_MAX_ELEMENTS = 16, PLY_MAX_ITEMS = 1 << 29 };
enum { PLY_ASCII, PLY_LITTLE, PLY_BIG };
enum { PLY_I8, PLY_U8, PLY_I16, PLY_U16, PLY_I32, PLY_U32, PLY_F32, PLY_F64, PLY_NUM_TYPES };

extern const int ply_type_bytes[PLY_NUM_TYPES];

typedef struct ply_property {
  char name[64];
  int type, count_type; /* count_type -1: a single value */
} ply_property;

typedef struct ply_element {
  char name[64];
  int64_t count;
  int num_props;
  ply_property props[PLY_MAX_PROPS];
} ply_element;

typedef struct ply_reader {
  loom_err *err;
  const char *name, *text, *p, *end;
  int64_t line;     /* from 1; of the header and of ascii data */
  int64_t long_row; /* line of the first vertex with further numbers behind it; 0: none has */
  int format, num_elements;
  ply_element elements[PLY_MAX_ELEMENTS];
  mesh *m;
  int64_t cap_tris;
  double *vert_uv; /* [num_verts][2], or NULL */
  int has_list;    /* faces have the list texcoord */
  double *list;    /* texcoord of a face [list_len] */
  int64_t list_len, cap_list;
  double piece; /* of a face */
  polygon_list polygons;
  material_names names;
} ply_reader;

/* LOOM_E_IO with the line, the fault `what` and, unless it is "", the word. */
loom_status ply_fail(ply_reader *r, const char *what, const char *word);
/* Format and elements of the file; r->p is left behind the header. */
loom_status ply_read_header(ply_reader *r);

#endif
