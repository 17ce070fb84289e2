/* h5checkpoint_internal.h - a checkpoint that is open, shared by the h5checkpoint*.c files. */
#ifndef LOOM_H5CHECK_INTERNAL_H
#define LOOM_H5CHECK_INTERNAL_H

#include "log/h5checkpoint.h"
#include "log/h5util.h"

struct h5checkpoint {
  char *path, *prev, *part; /* path of the newest, the one before, the unfinished one */
  int writing;
  int fd; /* descriptor of the unfinished file */
  hid_t file;
  h5u_disk disk;
  int64_t reserved;
  /* for a checkpoint that is read */
  int64_t step, bytes; /* bytes: of the file */
  double time;         /* s */
  char config_hash[17];
  char note[1024]; /* reason why a newer checkpoint was passed over, or "" */
};

loom_status h5checkpoint_new(loom_err *err, const char *log_path, h5checkpoint **out);
/* "group/name"; an empty group is the root */
loom_status h5checkpoint_name(loom_err *err, const h5checkpoint *c, const char *group,
                              const char *name, char *out, size_t len);

#endif
