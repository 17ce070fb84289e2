/* check_damage.h - tiny scenes that leave much in a checkpoint, and damage to it by number. */
#ifndef TEST_CHECK_DAMAGE_H
#define TEST_CHECK_DAMAGE_H

#include <stdint.h>

enum { CD_SCENES = 6, CD_KINDS = 5, CD_FORMS = 116 };

/* Writes NAME.ini; returns a description of the scene, for messages.  Checkpoints come after every
 * 4th step. */
const char *cd_scene(int which, const char *name);

/* Damage `path` as number `seed` says: bits flipped, cut short, data sets exchanged, other shapes,
 * other types.  Returns a description of the damage, for messages.  The seal stays as it was. */
const char *cd_damage(const char *path, uint32_t seed);

/* Names of all data sets; their number. */
int cd_names(const char *path, char (*names)[128], int most);

/* Values that cannot be meant, in data set `name`, in form 0 to CD_FORMS - 1; then the seal is
 * made anew, as by an attacker.  Returns a description, for messages. */
const char *cd_forge(const char *path, const char *name, int form);

void cd_copy(const char *from, const char *to);

#endif
