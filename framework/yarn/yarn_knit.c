/* yarn_knit.c - knitted patterns as yarns: stockinette, garter, rib and tubes.
 *
 * One loop has 8 vertices at t = -pi + k pi/4, from sinker (k = 0) over a foot (1), a leg (2),
 * the head (3, 4, 5) to the other leg (6) and foot (7) (numerics of the yarn paper, 1.2):
 *   x = w t/2pi + A sin 2t,   y = H cos t + c row,   z = D cos 2t.
 * A loop hangs in the head of the one below it: its feet pass behind that head and in front of
 * its legs (a knit stitch seen from the back), or the other way round (a purl stitch, z
 * mirrored).  So feet follow the loop's own stitch, the head follows that of the loop above. */
#include <math.h>
#include <string.h>

#include "yarn/yarn.h"

static const double pi = 3.14159265358979323846;

enum { POINTS = 8, TURN = 5 };        /* vertices of a loop and of a turn */
static const double turn_width = 8.8; /* in radii, how far turns reach out */

/* Shapes of a loop in units of the radius, found by a search for the largest distance of centre
 * lines in relation to sqrt(w c), with the crossings as knitted; that of stockinette and tubes is
 * numerics 1.2.  Centre lines come within 1 to 1.02 times 2 r, in turns of garter and rib within
 * 0.85. */
typedef struct shape {
  double w, c, H, A, D;
  double column; /* shift of whole columns in z, to the side of their stitch: rib */
  double side;   /* z of a foot beside a column of the other stitch: rib */
  double foot;   /* z of feet, */
  double head;   /* and of a head's flanks, where the loop above is of the other stitch: garter */
} shape;

static const shape shapes[] = {
    [KNIT_STOCKINETTE] = {8.2, 5.12, 4.392, 2.0, 1.96, 0, 0, 0, 0},
    [KNIT_GARTER] = {9.381, 6.504, 4.967, 2.371, 5.721, 0, 0, 0.312, 0.294},
    [KNIT_RIB] = {8.27, 4.415, 3.761, 2.022, 3.463, -0.608, 0.674, 0, 0},
    [KNIT_TUBE] = {8.2, 5.12, 4.392, 2.0, 1.96, 0, 0, 0, 0},
    [KNIT_NUM] = {8.46, 4.295, 3.727, 2.06, 4.401, -1.065, 0.314, 0, 0}, /* rib of single columns */
};

typedef struct knitter {
  const knit_plan *p;
  shape s; /* in m */
  mesh *m;
  yarn_set *y;
} knitter;

/* +1: knit, -1: purl; rows above the last continue the pattern, columns beyond the edge repeat
 * the outermost. */
static int stitch_sign(const knit_plan *p, int64_t row, int64_t col)
{
  if (p->pattern == KNIT_GARTER) return row % 2 == 0 ? 1 : -1;
  if (p->pattern != KNIT_RIB) return 1;
  col = col < 0 ? 0 : col < p->loops ? col : p->loops - 1;
  return col / p->rib % 2 == 0 ? 1 : -1;
}

/* z of vertex k (0 to 8) of a loop. */
static double loop_depth(const knitter *q, int64_t row, int64_t col, int k)
{
  const shape *s = &q->s;
  const int own = stitch_sign(q->p, row, col), up = stitch_sign(q->p, row + 1, col);
  const int beside = stitch_sign(q->p, row, k < 4 ? col - 1 : col + 1);
  const double column = s->column * own;
  switch (k) {
  case 0: /* sinkers belong to two columns */
  case 8:
    return beside == own ? s->D * own + column : 0;
  case 1:
  case 7:
    return column + (beside != own ? s->side * own : 0) - (up != own ? s->foot * own : 0);
  case 2:
  case 6:
    return column - 0.5 * s->D * (own + up);
  case 4:
    return column + s->D * up;
  default:
    return column - (up != own ? s->head * up : 0);
  }
}

/* Vertex k of a loop: x along the row, from -w/2 to w/2 within the loop. */
static void loop_point(const knitter *q, int64_t row, int64_t col, int k, double x[3])
{
  const shape *s = &q->s;
  const double t = -pi + k * pi / 4;
  x[0] = s->w * (t / (2 * pi) + (double)col) + s->A * sin(2 * t);
  x[1] = s->H * cos(t) + s->c * (double)row;
  x[2] = loop_depth(q, row, col, k);
}

static void append_knit_vertex(knitter *q, const double x[3], int64_t row, int64_t col)
{
  const int64_t v = q->m->num_verts++;
  memcpy(q->m->x + 3 * v, x, 3 * sizeof *x);
  q->y->loop[2 * v] = (int32_t)row;
  q->y->loop[2 * v + 1] = (int32_t)col;
}

/* ---- flat patterns: rows to and fro ---- */

/* Half an ellipse from the end of `row` to the start of the next one, on the side `sign`. */
static void put_turn(knitter *q, const double from[3], const double to[3], int64_t row, int sign)
{
  const double h = 0.5 * (to[1] - from[1]);
  const int64_t col = sign > 0 ? q->p->loops - 1 : 0;
  for (int k = 1; k <= TURN; ++k) {
    const double a = -pi / 2 + pi * k / (TURN + 1), share = (double)k / (TURN + 1);
    const double x[3] = {from[0] + share * (to[0] - from[0]) +
                             sign * turn_width * q->p->radius * cos(a),
                         from[1] + h + h * sin(a), from[2] + share * (to[2] - from[2])};
    append_knit_vertex(q, x, 2 * k <= TURN ? row : row + 1, col);
  }
}

/* Vertex number i of 8 loops + 1 along a row, odd rows from right to left. */
static void row_point(const knitter *q, int64_t row, int64_t i, double x[3], int64_t *col)
{
  const int64_t at = row % 2 == 0 ? i : POINTS * q->p->loops - i;
  *col = at / POINTS < q->p->loops ? at / POINTS : q->p->loops - 1;
  loop_point(q, row, *col, (int)(at - POINTS * *col), x);
}

static void make_flat(knitter *q)
{
  const knit_plan *p = q->p;
  int32_t yarn = 0;
  for (int64_t r = 0; r < p->rows; ++r) {
    double x[3] = {0}, next[3];
    int64_t col;
    if (r > 0 && p->stripe > 0 && r % p->stripe == 0) q->y->first[++yarn] = q->m->num_verts;
    for (int64_t i = 0; i <= POINTS * p->loops; ++i) {
      row_point(q, r, i, x, &col);
      append_knit_vertex(q, x, r, col);
    }
    if (r + 1 == p->rows || (p->stripe > 0 && (r + 1) % p->stripe == 0)) continue;
    row_point(q, r + 1, 0, next, &col);
    put_turn(q, x, next, r, r % 2 == 0 ? 1 : -1);
  }
  q->y->first[yarn + 1] = q->m->num_verts;
}

/* Vertex k (0 to 8) of a loop of a flat pattern. */
static int32_t flat_vertex(const knit_plan *p, int64_t row, int64_t col, int k)
{
  const int64_t along = POINTS * col + k, last = POINTS * p->loops;
  int64_t v = row * (last + 1) + (row % 2 == 0 ? along : last - along);
  v += TURN * row; /* but for the turns where a yarn ended */
  if (p->stripe > 0) v -= TURN * (row / p->stripe);
  return (int32_t)v;
}

/* ---- tubes ----
 */

/* Roll the plane around the z axis: x becomes the angle, y the height, z points outwards. */
static void roll_into_tube(const knitter *q, double x[3])
{
  const double around = (double)q->p->loops * q->s.w, angle = 2 * pi * x[0] / around;
  const double radius = around / (2 * pi) + x[2];
  const double height = x[1];
  x[0] = radius * cos(angle);
  x[1] = radius * sin(angle);
  x[2] = height;
}

static void make_tube(knitter *q)
{
  const knit_plan *p = q->p;
  for (int64_t r = 0; r < p->rows; ++r) {
    for (int64_t i = 0; i < POINTS * p->loops; ++i) {
      double x[3];
      loop_point(q, r, i / POINTS, (int)(i % POINTS), x);
      if (!p->rings) x[1] += q->s.c * (double)i / (double)(POINTS * p->loops);
      roll_into_tube(q, x);
      append_knit_vertex(q, x, r, i / POINTS);
    }
    if (!p->rings) continue;
    q->y->closed[r] = 1;
    q->y->first[r + 1] = q->m->num_verts;
  }
  q->y->first[q->y->num_yarns] = q->m->num_verts;
}

/* ---- all ---- */

static int32_t vertex_of(const knit_plan *p, int64_t row, int64_t col, int k)
{
  if (p->pattern == KNIT_TUBE) return (int32_t)((row * p->loops + col % p->loops) * POINTS + k);
  return flat_vertex(p, row, col, k);
}

/* Bind off: heads of the last row to their neighbours, feet of the first row together. */
static void bind_off_loops(knitter *q)
{
  const knit_plan *p = q->p;
  const int64_t heads = p->loops - (p->pattern == KNIT_TUBE && p->rings ? 0 : 1);
  int32_t *g = q->y->glue;
  for (int64_t j = 0; j < heads; ++j, g += 2) {
    g[0] = vertex_of(p, p->rows - 1, j, 5);
    g[1] = vertex_of(p, p->rows - 1, j + 1, 3);
  }
  for (int64_t j = 0; j < p->loops; ++j, g += 2) {
    g[0] = vertex_of(p, 0, j, 1);
    g[1] = vertex_of(p, 0, j, 7);
  }
}

static void centre_mesh(mesh *m)
{
  for (int c = 0; c < 3; ++c) {
    double lo = INFINITY, hi = -INFINITY;
    for (int64_t v = 0; v < m->num_verts; ++v) {
      lo = fmin(lo, m->x[3 * v + c]);
      hi = fmax(hi, m->x[3 * v + c]);
    }
    for (int64_t v = 0; v < m->num_verts; ++v) m->x[3 * v + c] -= 0.5 * (lo + hi);
  }
}

static loom_status check_plan(loom_err *err, const knit_plan *p)
{
  if (p->rows < 1 || p->loops < 1)
    return err_set(err, LOOM_E_CONFIG, "at least one row and one loop needed");
  if (p->pattern == KNIT_TUBE && p->loops < 3)
    return err_set(err, LOOM_E_CONFIG, "a tube needs at least 3 loops around");
  if (p->rows > 1000000 || p->loops > 1000000 ||
      p->rows * (POINTS * p->loops + TURN + 1) > INT32_MAX / YARN_SAMPLES)
    return err_set(err, LOOM_E_CONFIG, "%lld rows of %lld loops are too many", (long long)p->rows,
                   (long long)p->loops);
  return LOOM_OK;
}

loom_status knit_make(loom_err *err, const knit_plan *p, mesh *m, yarn_set *y)
{
  const shape *u = &shapes[p->pattern == KNIT_RIB && p->rib == 1 ? KNIT_NUM : p->pattern];
  const int tube = p->pattern == KNIT_TUBE;
  *m = (mesh){0};
  *y = (yarn_set){0};
  LOOM_TRY(check_plan(err, p));
  const double w = p->loop_width > 0 ? p->loop_width : u->w * p->radius;
  const double c = p->row_height > 0 ? p->row_height : u->c * p->radius;
  const double r = p->radius;
  knitter q = {p,
               {w, c, u->H / u->c * c, u->A / u->w * w, u->D * r, u->column * r, u->side * r,
                u->foot * r, u->head * r},
               m,
               y};
  const int64_t yarns =
      tube ? (p->rings ? p->rows : 1) : (p->stripe > 0 ? (p->rows + p->stripe - 1) / p->stripe : 1);
  const int64_t verts = tube ? p->rows * POINTS * p->loops
                             : p->rows * (POINTS * p->loops + 1) + (p->rows - yarns) * TURN;
  const int64_t glue = p->bind ? 2 * p->loops - (tube && p->rings ? 0 : 1) : 0;
  LOOM_TRY(mesh_alloc(err, 3 * verts, sizeof *m->x, &m->x));
  LOOM_TRY(yarn_alloc(err, verts, yarns, glue, y));
  if (tube)
    make_tube(&q);
  else
    make_flat(&q);
  if (p->bind) bind_off_loops(&q);
  y->rows = (int32_t)p->rows;
  y->loops = (int32_t)p->loops;
  centre_mesh(m);
  return LOOM_OK;
}
