/* tri_wang.c - descriptor of element tri_wang: membrane of measured fabrics. */
#include <math.h>

#include "elements/rest_data.h"
#include "elements/tri_wang/tri_wang.kern.h"
#include "elements/type.h"

typedef struct settings {
  double stretch_rest[4], stretch_0[4], stretch_22[4], stretch_45[4], stretch_67[4],
      stretch_90[4]; /* N/m */
} settings;

#define ROW(name, def, what) \
  LOOM_PARAM_VEC4(settings, name, def, -1e9, 1e9, "N/m", "wang: k0 k1 k2 k3 " what)

/* Defaults from configs/materials/gray-interlock.ini. */
static const loom_param params[] = {
    ROW(stretch_rest, "16.593832 -14.69599 34.477123 36.860302",
        "of fabric that is not stretched; moduli are twice these, not below 0."),
    ROW(stretch_0, "46.364765 53.694656 261.013855 -29.691301",
        "at a stretch of 1/6 along the first material axis."),
    ROW(stretch_22, "49.28511 87.5961 206.373993 22.768457", "the same at 22.5 degrees from it."),
    ROW(stretch_45, "123.98922 105.18177 365.966217 44.217571", "the same at 45 degrees."),
    ROW(stretch_67, "139.686325 73.59256 413.553162 -174.43853", "the same at 67.5 degrees."),
    ROW(stretch_90, "127.44381 85.848587 405.872833 32.238411", "the same at 90 degrees.")};

/* Measured rows may be a little indefinite where fabric is stretched (its Hessian is clamped), but
 * without a stretch they have to resist every strain. */
static loom_status tri_wang_check(loom_err *err, const void *of, const char **key)
{
  const double *const rows = of;
  for (int r = 0; r < WANG_ROWS; ++r) {
    *key = params[r].key;
    if (!(rows[4 * r] > 0 && rows[4 * r + 2] > 0))
      return err_set(err, LOOM_E_CONFIG, "k0 > 0 and k2 > 0 needed (k0 %g, k2 %g N/m)", rows[4 * r],
                     rows[4 * r + 2]);
  }
  *key = params[0].key;
  if (rows[0] * rows[2] > rows[1] * fmax(rows[1], 0) && rows[3] > 0) return LOOM_OK;
  return err_set(err, LOOM_E_CONFIG,
                 "k0 k2 > k1^2 and k3 > 0 needed, or the sheet has no stable rest shape (k0 %g, "
                 "k1 %g, k2 %g, k3 %g N/m)",
                 rows[0], rows[1], rows[2], rows[3]);
}

/* Of fabric that is not stretched; moduli are twice the numbers of a row. */
static double tri_wang_young(const void *of)
{
  const double *const k = ((const settings *)of)->stretch_rest, both = sqrt(k[0] * k[2]);
  const double cross = fmax(k[1], 0);
  return 2 * (both - cross * cross / both);
}

static const char *tri_wang_init_rest(const double *X, double *rest)
{
  rest[WANG_SHARE] = rest[WANG_ANGLE] = 0; /* not stretched */
  return rest_data_triangle(X, rest);
}

/* The state: the strain in which a step begins. */
static const elem_state state = {
    .name = "stretch", .move = &(const lk_entry)LK_ENTRY_NEAR_MOVES(tri_wang_move, 4, 15, 3)};

const elem_type elem_tri_wang = {
    .name = "tri_wang",
    .doc = "as tri_stvk, k from measurements by stretch and angle (Wang et al. 2011)",
    .arity = 3,
    .rest_len = WANG_REST,
    .mat_len = WANG_MAT,
    .proj_rows = 0,
    .rest_doc = "Dm^-1[4] 1/m; stretch where the step began: share 1, angle 22.5 deg",
    .mat_doc = "rows[6] of k0 k1 k2 k3 N/m: at rest, and stretched at 0 to 90 deg",
    ELEM_SMOOTH(tri_wang, 0),
    .topology = ELEM_TRIANGLES,
    .section = "cloth",
    .word = "wang",
    ELEM_PARAMS(params),
    .table = sizeof params / sizeof *params,
    .young = tri_wang_young,
    .check = tri_wang_check,
    .init_rest = tri_wang_init_rest,
    .state = &state};
