/* file_data.h - words and numbers of mesh files, as text or binary in either order of bytes. */
#ifndef LOOM_MESH_FILE_DATA_H
#define LOOM_MESH_FILE_DATA_H

#include "core/err.h"

enum { /* types of binary numbers */
       FILE_I8,
       FILE_U8,
       FILE_I16,
       FILE_U16,
       FILE_I32,
       FILE_U32,
       FILE_I64,
       FILE_U64,
       FILE_F32,
       FILE_F64,
       FILE_NUM_TYPES
};
extern const int file_data_bytes[FILE_NUM_TYPES];
enum { FILE_MAX_ITEMS = 1 << 28 }; /* vertices or elements: 6 n stays in int32 */

typedef struct file_data {
  loom_err *err;
  const char *name; /* of the file, for messages */
  const char *text; /* its first byte; a NUL stands at `end` */
  const char *p, *end;
  int binary, big_endian;
  int comments; /* 1: "#" and the rest of its line are blank */
} file_data;

/* LOOM_E_IO, "NAME:LINE: WHAT "WORD"" or, in binary data, "NAME: WHAT "WORD" at byte N".  word
 * NULL: without a word. */
loom_status file_data_fail(const file_data *d, const char *what, const char *word, size_t len);
/* The next word of text, *len 0 at the end of the file. */
const char *file_data_word(file_data *d, size_t *len);
int file_data_is(const char *word, size_t len, const char *want);
void file_data_skip_line(file_data *d);
/* The next number; of text whatever `type` says.  `what` begins the message of a fault. */
loom_status file_data_real(file_data *d, int type, const char *what, double *value);
/* The same for whole numbers from `least` to `most`. */
loom_status file_data_int(file_data *d, int type, const char *what, int64_t least, int64_t most,
                          int64_t *value);
/* Refuses `count` numbers of `bytes` each (in text: of two characters) where the file is too short
 * for them, before memory is taken for them. */
loom_status file_data_check_room(const file_data *d, int64_t count, int bytes);

#endif
