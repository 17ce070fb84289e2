/* read.c - a pattern from its file. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/words.h"
#include "geom/pose.h"
#include "mesh/placement.h"
#include "sewing_pattern/pattern.h"

typedef struct head_settings {
  double seam_tolerance;
} head_settings;

static const loom_param head_params[] = {
    LOOM_PARAM_REAL(head_settings, seam_tolerance, 0.01, 0, 1, "1",
                    "Share of the longer edge by which the lengths of a seam may differ."),
};

typedef struct piece_settings {
  const char *start, *transform;
  double wrap;
} piece_settings;

static const loom_param piece_params[] = {
    LOOM_PARAM_TEXT(piece_settings, start, "0 0", "First corner, X Y (m)."),
    LOOM_PARAM_REAL(piece_settings, wrap, 0, 0, 1e3, "m",
                    "Radius of a cylinder along y that the piece is laid around, through x = 0; 0: "
                    "it stays flat."),
    LOOM_PARAM_TEXT(piece_settings, transform, "",
                    "Placement: any of 'rotate AX AY AZ DEG' and 'translate X Y Z' (m)."),
};
enum { NUM_PIECE_PARAMS = sizeof piece_params / sizeof *piece_params };

static loom_status prefix_pattern_key(loom_err *err, const cfg_section *sec, const char *key,
                                      loom_status s)
{
  char place[600];
  if (s != LOOM_OK) err_prefix(err, "%s", cfg_place(sec, key, place, sizeof place));
  return s;
}

static int is_edge(const char *key)
{
  for (int k = 0; k < NUM_PIECE_PARAMS; ++k)
    if (strcmp(key, piece_params[k].key) == 0) return 0;
  return 1;
}

static loom_status read_edges(loom_err *err, pattern_piece *q, const double start[2])
{
  double at[2] = {start[0], start[1]};
  const int num_keys = cfg_num_keys(q->sec);
  const char *value;
  int num = 0;
  for (int k = 0; k < num_keys; ++k) num += is_edge(cfg_key(q->sec, k, &value));
  if (num < 2)
    return prefix_pattern_key(
        err, q->sec, NULL,
        err_set(err, LOOM_E_CONFIG, "a piece takes at least two edges: lines NAME = line X Y"));
  LOOM_TRY(mesh_alloc(err, num, sizeof *q->edges, &q->edges));
  for (int k = 0; k < num_keys; ++k) {
    const char *const key = cfg_key(q->sec, k, &value);
    if (!is_edge(key)) continue;
    pattern_edge *const e = &q->edges[q->num_edges++];
    e->name = key;
    LOOM_TRY(
        prefix_pattern_key(err, q->sec, key, curve_read(err, cfg_text(q->sec, key), at, &e->c)));
    for (int i = 0; i < e->c.num; ++i)
      if (fabs(e->c.p[i][0]) > SCENE_REACH || fabs(e->c.p[i][1]) > SCENE_REACH)
        return prefix_pattern_key(
            err, q->sec, key,
            err_set(err, LOOM_E_CONFIG, "lies further than %g m from the origin", SCENE_REACH));
    e->length = curve_length(&e->c);
    memcpy(at, e->c.p[e->c.num - 1], sizeof at);
  }
  return LOOM_OK;
}

static loom_status read_place(loom_err *err, pattern_piece *q, const char *text)
{
  double scale;
  loom_status s = placement_transform(err, text, q->place, &scale);
  if (s == LOOM_OK && fabs(scale - 1) > 0)
    s = err_set(err, LOOM_E_CONFIG,
                "a piece keeps its size; scale all of them by transform of the cloth");
  return prefix_pattern_key(err, q->sec, "transform", s);
}

static loom_status read_piece(loom_err *err, pattern_piece *q)
{
  piece_settings s;
  double start[2];
  int num;
  LOOM_TRY(cfg_bind(err, q->sec, piece_params, NUM_PIECE_PARAMS, &s));
  loom_status st = words_reals(err, s.start, "m", 2, start, &num);
  if (st == LOOM_OK && num != 2) st = err_set(err, LOOM_E_CONFIG, "two numbers needed, X Y (m)");
  LOOM_TRY(prefix_pattern_key(err, q->sec, "start", st));
  q->wrap = s.wrap;
  LOOM_TRY(read_place(err, q, s.transform));
  LOOM_TRY(read_edges(err, q, start));
  return outline_check(err, q);
}

static loom_status read_pattern_sections(loom_err *err, pattern *p)
{
  head_settings head;
  int count = 0;
  LOOM_TRY(cfg_bind(err, cfg_need(p->c, "pattern"), head_params, 1, &head));
  p->seam_tolerance = head.seam_tolerance;
  for (const cfg_section *s = NULL; (s = cfg_next(p->c, "piece", s)) != NULL;) ++count;
  if (count == 0)
    return err_set(err, LOOM_E_CONFIG, "%s: no pieces; a pattern has sections [piece.NAME]",
                   cfg_path(p->c));
  LOOM_TRY(mesh_alloc(err, count, sizeof *p->pieces, &p->pieces));
  for (const cfg_section *s = NULL; (s = cfg_next(p->c, "piece", s)) != NULL;) {
    pattern_piece *const q = &p->pieces[p->num_pieces++];
    q->sec = s;
    q->name = cfg_section_suffix(s);
    if (q->name[0] == '\0' || strchr(q->name, '.') != NULL)
      return prefix_pattern_key(
          err, s, NULL,
          err_set(err, LOOM_E_CONFIG, "a piece needs a name without dots, as [piece.front]"));
    LOOM_TRY(read_piece(err, q));
  }
  LOOM_TRY(seams_read(err, p));
  return cfg_finish(err, p->c);
}

loom_status pattern_read(loom_err *err, const char *path, pattern **out)
{
  cfg *c;
  pattern *p;
  *out = NULL;
  LOOM_TRY(cfg_load(err, path, NULL, 0, &c));
  loom_status s = mesh_alloc(err, 1, sizeof *p, &p);
  if (s != LOOM_OK) {
    cfg_free(c);
    return s;
  }
  p->c = c;
  s = read_pattern_sections(err, p);
  if (s == LOOM_OK)
    *out = p;
  else
    pattern_free(p);
  return s;
}

void pattern_free(pattern *p)
{
  if (p == NULL) return;
  for (int k = 0; k < p->num_pieces; ++k) free(p->pieces[k].edges);
  free(p->pieces);
  free(p->seams);
  cfg_free(p->c);
  free(p);
}
