/* config.h - INI files: strict, with units, includes, overrides and line numbers.
 *
 * iniparser does the parsing; this module adds the file and line of every key, `include =`,
 * duplicate detection, units, nearest-name hints, and the rule that every key must have been read
 * by some part of the program ("asked for").
 *
 * Typical use: cfg_load, then every owner of a section calls cfg_bind with its
 * parameter table, then cfg_finish reports the keys that no owner has.
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
 * applies; a key of type text becomes empty instead.  cfg_free() frees *out. */
loom_status cfg_load(loom_err *err, const char *path, const char *const *sets, int num_sets,
                     cfg **out);
/* The same from text; messages show `name`, `dir` resolves relative paths. */
loom_status cfg_parse(loom_err *err, const char *text, const char *name, const char *dir,
                      const char *const *sets, int num_sets, cfg **out);
void cfg_free(cfg *c);

const char *cfg_path(const cfg *c); /* of the top file */

/* The folders, beside those of the configuration itself, in which included files, materials and
 * animations are looked for: of LOOM_CONFIG_PATH (separated by colons), then of the installation.
 * cfg_search_dir: folder k from 0 on into dir [len]; 0: there is no such folder.
 * cfg_search_file: the first of them that has the file `name`, a relative path without "..", into
 * path [len]; 0: none has. */
int cfg_search_dir(int k, char *dir, size_t len);
int cfg_search_file(const char *name, char *path, size_t len);

/* Sections in file order.  cfg_find: exact name, NULL if absent.  cfg_next: the next
 * section after `prev` (NULL: from the start) called PREFIX or PREFIX.NAME. */
const cfg_section *cfg_find(const cfg *c, const char *name);
const cfg_section *cfg_next(const cfg *c, const char *prefix, const cfg_section *prev);
/* Like cfg_find, but an absent section is created empty, so that its defaults are
 * bound, checked and logged like given ones. */
const cfg_section *cfg_need(cfg *c, const char *name);
const char *cfg_section_name(const cfg_section *s);   /* "cloth.sheet" */
const char *cfg_section_suffix(const cfg_section *s); /* "sheet", or "" */
/* All sections, and the keys and values of one, in file order; none is marked as asked for. */
int cfg_num_sections(const cfg *c);
const cfg_section *cfg_section_at(const cfg *c, int i);
int cfg_num_keys(const cfg_section *s);
const char *cfg_key(const cfg_section *s, int i, const char **value);

/* Raw access; marks the key as asked for.  NULL if absent. */
const char *cfg_text(const cfg_section *s, const char *key);
/* 1 if the key stands in a file; 0 if it is absent or was given by --set.  *dir: the folder that
 * paths in its value are relative to, "" for the current one. */
int cfg_given_by_file(const cfg_section *s, const char *key, const char **dir);
/* "FILE:LINE: [section] key" for messages; key NULL: the section's own place */
const char *cfg_place(const cfg_section *s, const char *key, char *buf, size_t len);

/* Fills a settings struct from a section by a parameter table: types, units ("5 mm" -> 0.005 for
 * unit "m"), ranges, choices.  Texts live as long as the cfg.  One section may be bound several
 * times with different tables.  LOOM_E_CONFIG lists the wrong keys, at most 8. */
loom_status cfg_bind(loom_err *err, const cfg_section *s, const loom_param *params,
                     uint32_t num_params, void *settings);
/* Defaults only, no section (used by tests and `describe`). */
void cfg_defaults(const loom_param *params, uint32_t num_params, void *settings);

/* The key `choice` of a section selects the owner of its other keys ([solver] plugin).  If a file
 * names one owner and a later file or --set another, this drops the keys that the first owner alone
 * has, and passes a sentence on each, with its place, to `note`.  A key stays if both owners have
 * it with the same type, unit and choices, or if it was given together with the later choice or
 * after it: if wrong it is an error, and so is a key that the first owner does not have either.
 * Call it before cfg_bind.  find: gives the parameter table of an owner; if unknown, a status other
 * than LOOM_OK and the reason. */
typedef struct cfg_owners {
  loom_status (*find)(void *user, loom_err *why, const char *name, const loom_param **params,
                      uint32_t *num_params);
  void (*note)(void *user, const char *text);
  void *user;
} cfg_owners;
loom_status cfg_swap(loom_err *err, const cfg_section *s, const char *choice,
                     const cfg_owners *owners);

/* How a key was given that fits only some values of another key, `choice`.  MEANT: where the choice
 * was known.  BESIDE: by a material, or in a file whose choice a later file or --set replaced. */
enum { CFG_GIVEN_NOT, CFG_GIVEN_MEANT, CFG_GIVEN_BESIDE };
int cfg_given(const cfg_section *s, const char *key, const char *choice);
/* As if the key had not been given; settings that were bound before must be bound again. */
void cfg_drop(const cfg_section *s, const char *key);

/* Keys that the chosen values do not read (loom_param.only_with), after cfg_bind of the same table:
 * a key that differs from its default is an error, LOOM_E_CONFIG.  If it was given BESIDE the
 * choice, it is dropped with a note, and the settings are bound again.  A key with its default is
 * let pass: resolved configurations hold all keys, and run. */
typedef struct cfg_notes {
  loom_status (*note)(void *user, const char *text);
  void *user;
} cfg_notes;
loom_status cfg_check_effects(loom_err *err, const cfg_section *s, const loom_param *params,
                              uint32_t count, void *settings, const cfg_notes *notes);
/* One key without effect that was given as `given` says (CFG_GIVEN_*): the note or the error.
 * takes: values that read it. */
loom_status cfg_without_effect(loom_err *err, const cfg_section *s, const char *key, int given,
                               const char *takes, const cfg_notes *notes);
int cfg_is_default(const loom_param *p, const void *settings);
/* Appends "KEY = a, b or c" to text [len] for the values "a|b|c" [values_len]. */
void cfg_describe_choice(const char *key, const char *values, size_t values_len, char *text,
                         size_t len);

/* After all owners have bound: unknown sections and keys become errors that name the nearest key
 * in the tables of that section. */
loom_status cfg_finish(loom_err *err, const cfg *c);

/* Canonical INI text of every section with every resolved value, units in SI, fixed order, for the
 * log and for `loom check`.  Owned by the cfg; NULL if out of memory. */
const char *cfg_resolved(cfg *c);
/* 64-bit FNV-1a of the resolved text without [log], [exec] and [run] steps/replay,
 * which do not change the physics: 16 hex digits. */
void cfg_hash(cfg *c, char hex[17]);
/* Differences of two resolved texts in the keys that the hash covers: "[cloth.sheet] density: 0.2
 * then, 0.3 now; ..." with at most four keys, "" if there are none. */
void cfg_differ(const char *then, const char *now, char *out, size_t len);

/* Prints a parameter table as `loom describe` does (text to `out`, a FILE *). */
void cfg_describe(const loom_param *params, uint32_t num_params, void *out);
/* Default of a parameter as a file would have it, in buf [len]; NULL if it has none. */
const char *cfg_default_text(const loom_param *p, char *buf, size_t len);

/* Configs that are read from logs.  cfg_put: the key has the value, at the place of the one that it
 * replaces, or of its section.  cfg_add_defaults: sections of `then`, which an older version
 * resolved, get the keys that they lack and that have their default in `now`, which is bound: a
 * version may bring further keys, with defaults that keep the physics. */
loom_status cfg_put(loom_err *err, const cfg_section *s, const char *key, const char *value);
loom_status cfg_add_defaults(loom_err *err, cfg *then, const cfg *now);

/* One value with an optional unit, e.g. "2 cm" for unit "m".  LOOM_E_CONFIG with a
 * message without place if the text is malformed or the unit does not fit. */
loom_status cfg_parse_real(loom_err *err, const char *text, const char *unit, double *out);

/* `material = NAME` in section s: the keys of [material] in materials/NAME.ini become the values
 * of keys that the section does not set itself, and `model` also of one that another file set
 * before; messages name the material file.  The search goes
 * through materials, ../materials and ../../materials from the directory of the file with the key,
 * then dir_hint (the materials that come with loom; may be NULL).  Call it before cfg_bind; without
 * the key it has no effect. */
loom_status cfg_apply_material(loom_err *err, cfg *c, const cfg_section *s, const char *dir_hint);

#endif
