/* loom/param.h - self-describing parameters and log columns.
 *
 * A plugin keeps its settings in one plain struct and publishes a table that
 * says, for every member: INI key, type, default, range, unit, meaning.  The
 * core fills the struct from [section] of the INI file before create(), rejects
 * unknown keys (with the nearest known one) and values out of range, prints the
 * table for `loom describe`, and stores every resolved value in the HDF5 file.
 */
#ifndef LOOM_PARAM_H
#define LOOM_PARAM_H

#include "types.h"

enum {
  LOOM_P_REAL = 0, /* double in the struct, also where loom_real is float */
  LOOM_P_INT = 1,  /* int64_t */
  LOOM_P_BOOL = 2, /* int32_t, 0 or 1 */
  LOOM_P_ENUM = 3, /* int32_t, index into the '|'-separated choices */
  LOOM_P_TEXT = 4, /* const char *, owned by the core until destroy() */
  LOOM_P_PATH = 5, /* as TEXT; relative paths are resolved against the INI file */
  LOOM_P_VEC3 = 6, /* double[3]; the range applies to each component */
  LOOM_P_VEC4 = 7  /* double[4], the range applies to each component */
};
/* Count of the numbers that a parameter of a numeric type holds. */
#define LOOM_P_NUMBERS(type) ((type) == LOOM_P_VEC4 ? 4 : (type) == LOOM_P_VEC3 ? 3 : 1)
enum {
  LOOM_P_OPEN_MIN = 1,   /* the minimum itself is not allowed */
  LOOM_P_OPEN_MAX = 2,   /* the maximum itself is not allowed */
  LOOM_P_NO_DEFAULT = 4, /* the key must be present */
  LOOM_P_EXPERT = 8,     /* left out of the short listing */
  LOOM_P_GONE = 16,      /* the key was removed: a config with it is refused with the text `doc`;
                          * the core reads only key and doc */
  LOOM_P_PROBLEM = 32    /* a number that poses the problem, though it belongs to a method (rest
                          * lengths, friction): a replay refuses a reference with another one */
};

typedef struct loom_param {
  const char *key;      /* INI key; equals the member's name */
  int32_t type;         /* LOOM_P_* */
  uint32_t flags;       /* LOOM_P_OPEN_MIN ... */
  uint64_t offset;      /* bytes, of the member in the settings struct */
  double def, min, max; /* numeric types, in `unit`; ENUM: def is the index */
  const char *def_text; /* default of TEXT, PATH, VEC3 and VEC4 ("0 0 -9.81") */
  const char *choices;  /* ENUM: "none|global|vertex" */
  const char *unit;     /* "m", "N/m", "1" */
  const char *doc;      /* one sentence; cite section and equation */
  /* Values of other keys of the table with which the key has an effect, NULL: all.  "KEY = a|b" for
   * a key with choices, "KEY" for another one: it is above 0, or a text that is neither empty nor
   * `none`; alternatives are joined by " or ".  The core refuses a key that has no effect. */
  const char *only_with;
} loom_param;

/* Offset of member m of T, which must have the type M: the core writes an M there.  If the compiler
 * refuses this line, the member has another type than its row of the table says. */
typedef double loom_vec3[3];
typedef double loom_vec4[4];
typedef const char *loom_text;
#ifdef __cplusplus
template <class M, class T> constexpr uint64_t loom_offset_of_(M T::*, uint64_t offset)
{
  return offset;
}
#define LOOM_PARAM_AT_(T, m, M) loom_offset_of_<M>(&T::m, offsetof(T, m))
#else
#define LOOM_PARAM_AT_(T, m, M) _Generic(&((T *)0)->m, M * : offsetof(T, m))
#endif

/* Rows of a table, for member m of the settings struct T.  After `doc` a row may state its flags
 * (LOOM_P_OPEN_MIN | ...), and after these only_with; without them they are 0 and NULL.
 *
 *   LOOM_PARAM_REAL(settings, reach, 2e-3, 0, 1, "m", "Gap at which the force begins.")
 *   LOOM_PARAM_REAL(settings, reach, 2e-3, 0, 1, "m", "Gap ... begins.", LOOM_P_OPEN_MIN)
 *   LOOM_PARAM_INT(settings, rounds, 0, 0, 99, "1", "Lags per step.", 0, "lag = iteration")
 */
#define LOOM_PARAM_REAL(T, m, def, lo, hi, unit, ...) \
  LOOM_PARAM_REAL_AS(#m, T, m, def, lo, hi, unit, __VA_ARGS__)
/* The same with a key that is not the member's name. */
#define LOOM_PARAM_REAL_AS(key, T, m, def, lo, hi, unit, ...)                                    \
  LOOM_PARAM_ROW_(key, LOOM_P_REAL, LOOM_PARAM_AT_(T, m, double), def, lo, hi, NULL, NULL, unit, \
                  __VA_ARGS__)
#define LOOM_PARAM_INT(T, m, def, lo, hi, unit, ...)                                            \
  LOOM_PARAM_ROW_(#m, LOOM_P_INT, LOOM_PARAM_AT_(T, m, int64_t), def, lo, hi, NULL, NULL, unit, \
                  __VA_ARGS__)
#define LOOM_PARAM_BOOL(T, m, def, ...)                                                       \
  LOOM_PARAM_ROW_(#m, LOOM_P_BOOL, LOOM_PARAM_AT_(T, m, int32_t), def, 0, 1, NULL, NULL, "1", \
                  __VA_ARGS__)
#define LOOM_PARAM_ENUM(T, m, def, choices, ...)                                                 \
  LOOM_PARAM_ROW_(#m, LOOM_P_ENUM, LOOM_PARAM_AT_(T, m, int32_t), def, 0, 0, NULL, choices, "1", \
                  __VA_ARGS__)
#define LOOM_PARAM_TEXT(T, m, def, ...)                                                      \
  LOOM_PARAM_ROW_(#m, LOOM_P_TEXT, LOOM_PARAM_AT_(T, m, loom_text), 0, 0, 0, def, NULL, "1", \
                  __VA_ARGS__)
#define LOOM_PARAM_PATH(T, m, def, ...)                                                      \
  LOOM_PARAM_ROW_(#m, LOOM_P_PATH, LOOM_PARAM_AT_(T, m, loom_text), 0, 0, 0, def, NULL, "1", \
                  __VA_ARGS__)
#define LOOM_PARAM_VEC3(T, m, def, lo, hi, unit, ...)                                           \
  LOOM_PARAM_ROW_(#m, LOOM_P_VEC3, LOOM_PARAM_AT_(T, m, loom_vec3), 0, lo, hi, def, NULL, unit, \
                  __VA_ARGS__)
#define LOOM_PARAM_VEC4(T, m, def, lo, hi, unit, ...)                                           \
  LOOM_PARAM_ROW_(#m, LOOM_P_VEC4, LOOM_PARAM_AT_(T, m, loom_vec4), 0, lo, hi, def, NULL, unit, \
                  __VA_ARGS__)

/* `...`: doc, or doc and flags, or doc, flags and only_with. */
#define LOOM_PARAM_ROW_(key, type, at, def, lo, hi, text, choices, unit, ...)              \
  {                                                                                        \
    key, type, LOOM_PARAM_FLAGS_(__VA_ARGS__, 0, 0), at, def, lo, hi, text, choices, unit, \
        LOOM_PARAM_DOC_(__VA_ARGS__, 0), LOOM_PARAM_ONLY_WITH_(__VA_ARGS__, 0, 0, 0)       \
  }
#define LOOM_PARAM_DOC_(doc, ...)                         doc
#define LOOM_PARAM_FLAGS_(doc, flags, ...)                flags
#define LOOM_PARAM_ONLY_WITH_(doc, flags, only_with, ...) only_with

/* A removed key; doc names the replacement: "see column `sets` of /steps_extra" */
#define LOOM_PARAM_GONE(key, doc)                                         \
  {                                                                       \
    key, LOOM_P_TEXT, LOOM_P_GONE, 0, 0, 0, 0, NULL, NULL, "1", doc, NULL \
  }

/* A number that a plugin adds to the log: a column of /iters_extra (one value per measured
 * iteration) or of /steps_extra (one value per step). */
typedef struct loom_column {
  const char *name, *unit, *doc;
} loom_column;

#endif /* LOOM_PARAM_H */
