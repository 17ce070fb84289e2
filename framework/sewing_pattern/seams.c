/* seams.c - which edges are sewn, into how many parts they are cut, and the stitches. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/words.h"
#include "sewing_pattern/pattern.h"

static loom_status refuse_seam(loom_err *err, const pattern *p, const char *key)
{
  char place[600];
  err_prefix(err, "%s", cfg_place(p->seam_sec, key, place, sizeof place));
  return LOOM_E_CONFIG;
}

/* ---- reading ---- */

static loom_status refuse_unknown_name(loom_err *err, const char *what, const char *word,
                                       const char *const *names, int num)
{
  const char *const near = err_nearest(word, names, num);
  return err_set(err, LOOM_E_CONFIG, "there is no %s \"%s\"%s%s%s", what, word,
                 near != NULL ? "; did you mean \"" : "", near != NULL ? near : "",
                 near != NULL ? "\"?" : "");
}

/* "front.hem" */
static loom_status find_seam_edge(loom_err *err, const pattern *p, char *word, int *piece,
                                  int *edge)
{
  const char *names[256];
  char *const dot = strchr(word, '.');
  int num = 0;
  if (dot == NULL)
    return err_set(err, LOOM_E_CONFIG, "\"%s\": an edge is called PIECE.EDGE, as front.hem", word);
  *dot = '\0';
  *piece = -1;
  for (int k = 0; k < p->num_pieces; ++k) {
    if (strcmp(p->pieces[k].name, word) == 0) *piece = k;
    if (num < 256) names[num++] = p->pieces[k].name;
  }
  if (*piece < 0) return refuse_unknown_name(err, "piece", word, names, num);
  const pattern_piece *const q = &p->pieces[*piece];
  *edge = -1;
  num = 0;
  for (int k = 0; k < q->num_edges; ++k) {
    if (strcmp(q->edges[k].name, dot + 1) == 0) *edge = k;
    if (num < 256) names[num++] = q->edges[k].name;
  }
  if (*edge >= 0) return LOOM_OK;
  char what[400];
  snprintf(what, sizeof what, "edge of the piece \"%s\" that is called", q->name);
  return refuse_unknown_name(err, what, dot + 1, names, num);
}

static loom_status read_seam(loom_err *err, const pattern *p, const char *text, pattern_seam *s)
{
  words w;
  words_start(&w, text);
  for (int k = 0; k < 2; ++k) {
    if (!words_next(&w))
      return err_set(err, LOOM_E_CONFIG,
                     "a seam takes two edges: PIECE.EDGE PIECE.EDGE [gather] [same]");
    LOOM_TRY(find_seam_edge(err, p, w.word, &s->piece[k], &s->edge[k]));
  }
  while (words_next(&w)) {
    int *const flag = strcmp(w.word, "gather") == 0 ? &s->gather
                      : strcmp(w.word, "same") == 0 ? &s->same
                                                    : NULL;
    if (flag == NULL || *flag)
      return err_set(err, LOOM_E_CONFIG,
                     "\"%s\": behind the two edges only the words gather and same may stand, once",
                     w.word);
    *flag = 1;
  }
  if (s->piece[0] == s->piece[1] && s->edge[0] == s->edge[1])
    return err_set(err, LOOM_E_CONFIG, "the edge would be sewn to itself; name two");
  return LOOM_OK;
}

static pattern_edge *edge_of(const pattern *p, const pattern_seam *s, int k)
{
  return &p->pieces[s->piece[k]].edges[s->edge[k]];
}

static loom_status check_seam_lengths(loom_err *err, const pattern *p, const pattern_seam *s)
{
  const pattern_edge *const a = edge_of(p, s, 0), *const b = edge_of(p, s, 1);
  const double apart = fabs(a->length - b->length) / fmax(a->length, b->length);
  if (s->gather || apart <= p->seam_tolerance) return LOOM_OK;
  return err_set(err, LOOM_E_CONFIG,
                 "%s.%s is %.5g m long and %.40s.%s %.5g m, %.2g %% apart where [pattern] "
                 "seam_tolerance allows %.2g %%; make them equal, or write gather behind them",
                 p->pieces[s->piece[0]].name, a->name, a->length, p->pieces[s->piece[1]].name,
                 b->name, b->length, 100 * apart, 100 * p->seam_tolerance);
}

/* The last seam sews other edges than those before it: twice the stitches would pull twice. */
static loom_status check_seam_once(loom_err *err, const pattern *p)
{
  const pattern_seam *const s = &p->seams[p->num_seams - 1];
  for (const pattern_seam *q = p->seams; q < s; ++q)
    for (int k = 0; k < 2; ++k)
      if (q->piece[0] == s->piece[k] && q->edge[0] == s->edge[k] && q->piece[1] == s->piece[!k] &&
          q->edge[1] == s->edge[!k])
        return err_set(err, LOOM_E_CONFIG,
                       "sews the edges of \"%.80s\" again; remove one of the two", q->name);
  return LOOM_OK;
}

loom_status seams_read(loom_err *err, pattern *p)
{
  const char *value;
  p->seam_sec = cfg_find(p->c, "seams");
  if (p->seam_sec == NULL) return LOOM_OK;
  const int num = cfg_num_keys(p->seam_sec);
  LOOM_TRY(mesh_alloc(err, num, sizeof *p->seams, &p->seams));
  for (int k = 0; k < num; ++k) {
    pattern_seam *const s = &p->seams[p->num_seams++];
    s->name = cfg_key(p->seam_sec, k, &value);
    if (read_seam(err, p, cfg_text(p->seam_sec, s->name), s) != LOOM_OK ||
        check_seam_lengths(err, p, s) != LOOM_OK || check_seam_once(err, p) != LOOM_OK)
      return refuse_seam(err, p, s->name);
  }
  return LOOM_OK;
}

/* ---- cutting ---- */

/* Edges that are sewn to each other, directly or over others, get as many parts as the longest of
 * them wants, so that their vertices meet. */
loom_status seams_cut(loom_err *err, pattern *p, double edge)
{
  for (int q = 0; q < p->num_pieces; ++q)
    for (int e = 0; e < p->pieces[q].num_edges; ++e) {
      const double cells = p->pieces[q].edges[e].length / edge;
      if (cells > 1e6)
        return err_set(err, LOOM_E_CONFIG, "%s: %g m is too short for the edge %s.%s of %g m",
                       cfg_path(p->c), edge, p->pieces[q].name, p->pieces[q].edges[e].name,
                       p->pieces[q].edges[e].length);
      const int32_t least = p->pieces[q].num_edges > 2 ? 1 : 2; /* three vertices around a piece */
      p->pieces[q].edges[e].cells = cells > least ? (int32_t)lround(cells) : least;
    }
  for (int changed = 1; changed;) {
    changed = 0;
    for (int k = 0; k < p->num_seams; ++k) {
      pattern_edge *const a = edge_of(p, &p->seams[k], 0), *const b = edge_of(p, &p->seams[k], 1);
      changed |= a->cells != b->cells;
      a->cells = b->cells = a->cells > b->cells ? a->cells : b->cells;
    }
  }
  for (int q = 0; q < p->num_pieces; ++q) {
    pattern_piece *const piece = &p->pieces[q];
    piece->num_outline = 0;
    for (int e = 0; e < piece->num_edges; ++e) piece->num_outline += piece->edges[e].cells;
  }
  return LOOM_OK;
}

/* ---- stitches ---- */

/* The mesh's number of the vertex k cells behind the start of an edge, counter-clockwise. */
static int32_t seam_vertex_id(const pattern_piece *q, const pattern_edge *e, int32_t k)
{
  const int32_t n = q->num_outline;
  const int32_t along = q->clockwise ? e->cells - k : k; /* in the direction of the file */
  const int32_t own = q->clockwise ? (e->first_vert - along + n) % n : (e->first_vert + along) % n;
  return q->first_vert + own;
}

loom_status seams_stitches(loom_err *err, const pattern *p, mesh_stitch **out, int64_t *num)
{
  int64_t room = 0;
  *num = 0;
  for (int k = 0; k < p->num_seams; ++k) room += edge_of(p, &p->seams[k], 0)->cells + 1;
  LOOM_TRY(mesh_alloc(err, room, sizeof **out, out));
  for (int k = 0; k < p->num_seams; ++k) {
    const pattern_seam *const s = &p->seams[k];
    const pattern_edge *const a = edge_of(p, s, 0), *const b = edge_of(p, s, 1);
    const pattern_piece *const qa = &p->pieces[s->piece[0]], *const qb = &p->pieces[s->piece[1]];
    for (int32_t i = 0; i <= a->cells; ++i) { /* outer sides agree: the edges run against */
      mesh_stitch m = {.i = seam_vertex_id(qa, a, i),
                       .a = seam_vertex_id(qb, b, s->same ? i : b->cells - i)};
      m.b = m.a;
      if (stitches_settle(&m)) (*out)[(*num)++] = m; /* or the corner of a dart */
    }
  }
  return LOOM_OK;
}
