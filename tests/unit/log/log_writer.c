/* log_writer.c - writes steps for two seconds and closes: the other side of h5py_swmr.py. */
#include <stdio.h>
#include <time.h>

#include "support/tiny_log.h"

int main(int argc, char **argv)
{
  const tiny_options o = {.log = {.overwrite = 1}};
  const struct timespec pause = {0, 500 * 1000};
  loom_err err = {0};
  h5log *l;
  if (argc != 2) return 2;
  loom_status s = tiny_create(&err, argv[1], &o, &l);
  if (s == LOOM_OK) s = tiny_start(l, &err, &o);
  printf("ready\n");
  fflush(stdout);
  const time_t end = time(NULL) + 3;
  for (int64_t i = 0; s == LOOM_OK && time(NULL) < end; ++i) {
    s = tiny_step(l, &err, &o, i);
    nanosleep(&pause, NULL);
  }
  if (s == LOOM_OK) s = h5log_close(l, &err, "finished");
  if (s != LOOM_OK) fprintf(stderr, "log_writer: %s\n", err.text);
  return s == LOOM_OK ? 0 : 1;
}
