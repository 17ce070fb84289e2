/* config.h - INI files: strict, with units, includes, overrides and line numbers.
 *
 * iniparser does the parsing; around it stand what it lacks: the file and line of
 * every key, `include =`, duplicate detection, units, nearest-name hints, and the
 * rule that every key must have been asked for by somebody.
 *
 * Typical use: cfg_load, then every owner of a section calls cfg_bind with its
 * parameter table, then cfg_finish reports what nobody asked for.
 */
#ifndef LOOM_CONFIG_H
#define LOOM_CONFIG_H

#include "core/err.h"
#include "loom/param.h"

typedef struct cfg cfg;
typedef struct cfg_section cfg_section;

/* path: the INI file; sets: "section.key=value" overrides, applied last, shown in
 * messages as "--set".  "collision.self.plugin=sdf" sets [collision.self] plugin.
 * "section.key=", and `key =` in a file over an included one, unset a key: its default
 * holds.  A text becomes empty instead. */
loom_status cfg_load(loom_err *err, const char *path, const char *const *sets, int num_sets,
                     cfg **out);
/* The same from text; `name` stands in messages, `dir` resolves relative paths. */
loom_status cfg_parse(loom_err *err, const char *text, const char *name, const char *dir,
                      const char *const *sets, int num_sets, cfg **out);
void cfg_free(cfg *c);

const char *cfg_path(const cfg *c); /* of the top file */

/* Sections in file order.  cfg_find: exact name, NULL if absent.  cfg_next: the next
 * section after `prev` (NULL: from the start) called PREFIX or PREFIX.NAME. */
const cfg_section *cfg_find(const cfg *c, const char *name);
const cfg_section *cfg_next(const cfg *c, const char *prefix, const cfg_section *prev);
/* Like cfg_find, but an absent section is created empty, so that its defaults are
 * bound, checked and logged like given ones. */
const cfg_section *cfg_need(cfg *c, const char *name);
const char *cfg_section_name(const cfg_section *s);   /* "cloth.sheet" */
const char *cfg_section_suffix(const cfg_section *s); /* "sheet", or "" */
/* All of them, and what stands in a section, in file order; none is marked as asked for. */
int cfg_num_sections(const cfg *c);
const cfg_section *cfg_section_at(const cfg *c, int i);
int cfg_num_keys(const cfg_section *s);
const char *cfg_key(const cfg_section *s, int i, const char **value);

/* Raw access; marks the key as asked for.  NULL if absent. */
const char *cfg_text(const cfg_section *s, const char *key);
int cfg_has(const cfg_section *s, const char *key); /* given and not unset; without marking */
/* 1 if the key stands in a file; 0 if it is absent or was given by --set.  *dir: the folder that
 * paths in its value are relative to, "" for the current one. */
int cfg_given_by_file(const cfg_section *s, const char *key, const char **dir);
/* "FILE:LINE: [section] key" for messages; key NULL: the section's own place */
const char *cfg_place(const cfg_section *s, const char *key, char *buf, size_t len);

/* Fill a settings struct from a section by a parameter table: types, units
 * ("5 mm" -> 0.005 for unit "m"), ranges, choices.  Texts live as long as the cfg.
 * May be called several times on one section with different tables. */
loom_status cfg_bind(loom_err *err, const cfg_section *s, const loom_param *params,
                     uint32_t num_params, void *settings);
/* Defaults only, no section (used by tests and `describe`). */
void cfg_defaults(const loom_param *params, uint32_t num_params, void *settings);

/* Whose keys a section has is chosen by one of them ([solver] plugin).  Where a file names one
 * owner and a later file or --set another, the file's keys that only the former has are dropped;
 * `note` is told of each in words, with its place.  Kept is what both have with the same type,
 * unit and choices, and every key that was given by, or after, whoever chose: a wrong one of
 * these is an error, and so is a key that the former owner does not have either.  Call it before
 * cfg_bind.  find: the table of an owner; a status other than LOOM_OK and a reason if unknown. */
typedef struct cfg_owners {
  loom_status (*find)(void *user, loom_err *why, const char *name, const loom_param **params,
                      uint32_t *num_params);
  void (*note)(void *user, const char *text);
  void *user;
} cfg_owners;
loom_status cfg_swap(loom_err *err, const cfg_section *s, const char *choice,
                     const cfg_owners *owners);

/* How a key came that goes with some values of another key, `choice`: by somebody who knew what is
 * chosen, or beside it: from a material, or in a file of which a later one or --set chose
 * otherwise. */
enum { CFG_GIVEN_NOT, CFG_GIVEN_MEANT, CFG_GIVEN_BESIDE };
int cfg_given(const cfg_section *s, const char *key, const char *choice);
/* As if the key had not been given; what was bound before is to be bound again. */
void cfg_drop(const cfg_section *s, const char *key);

/* After everyone has bound: unknown sections and keys become errors that name the
 * nearest key that some table of that section has. */
loom_status cfg_finish(loom_err *err, const cfg *c);

/* Canonical INI text of every section with every resolved value, units in SI, fixed
 * order: what goes into the log, and what `loom check` prints.  Owned by the cfg. */
const char *cfg_resolved(cfg *c);
/* 64-bit FNV-1a of the resolved text without [log], [exec] and [run] steps/replay,
 * which do not change the physics: 16 hex digits. */
void cfg_hash(cfg *c, char hex[17]);
/* Where two resolved texts differ in what the hash counts: "[cloth.sheet] density: 0.2 then, 0.3
 * now; ..." with at most four keys, "" if nowhere. */
void cfg_differ(const char *then, const char *now, char *out, size_t len);

/* Print a parameter table as `loom describe` does (text to `out`, a FILE *). */
void cfg_describe(const loom_param *params, uint32_t num_params, void *out);
/* Default of a parameter as it would be written in a file; NULL if it has none. */
const char *cfg_default_text(const loom_param *p, char *buf, size_t len);

/* One value with an optional unit, e.g. "2 cm" for unit "m".  LOOM_E_CONFIG with a
 * message without place if the text is malformed or the unit does not fit. */
loom_status cfg_parse_real(loom_err *err, const char *text, const char *unit, double *out);

/* `material = NAME` in section s: the keys of [material] in materials/NAME.ini become the values
 * of keys that the section does not give itself; messages name the material file.  Searched
 * are materials, ../materials and ../../materials from the directory of the file in which the
 * key stands, then dir_hint (the materials that come with loom; may be NULL).  Call it before
 * cfg_bind; without the key it does nothing. */
loom_status cfg_apply_material(loom_err *err, cfg *c, const cfg_section *s, const char *dir_hint);

#endif
