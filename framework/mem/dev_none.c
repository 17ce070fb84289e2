/* dev_none.c - for builds without CUDA: there is no device, and each call says so. */
#include "mem/dev.h"

#ifndef LK_HAVE_CUDA

#include <stdio.h>

exec_traffic dev_traffic;
static const char reason[] = "loom was built without CUDA; configure with -DLOOM_CUDA=ON";

static loom_status refuse_device(loom_err *err)
{
  return err_set(err, LOOM_E_DEVICE, "%s", reason);
}

int dev_count(char *why, size_t len)
{
  snprintf(why, len, "%s", reason);
  return 0;
}

void dev_name(int device, char *name, size_t len)
{
  (void)device;
  if (len > 0) name[0] = '\0';
}

loom_status dev_open(loom_err *err, int device, void **stream)
{
  (void)device;
  *stream = NULL;
  return refuse_device(err);
}

loom_status dev_alloc(loom_err *err, size_t bytes, void **p)
{
  (void)bytes;
  *p = NULL;
  return refuse_device(err);
}

void dev_release(void *p) { (void)p; }

loom_status dev_copy(loom_err *err, void *stream, void *dst, const void *src, size_t bytes,
                     int direction)
{
  (void)stream, (void)dst, (void)src, (void)bytes, (void)direction;
  return refuse_device(err);
}

loom_status dev_fill(loom_err *err, void *stream, void *p, int byte, size_t bytes)
{
  (void)stream, (void)p, (void)byte, (void)bytes;
  return refuse_device(err);
}

loom_status dev_time_begin(loom_err *err, void *stream)
{
  (void)stream;
  return refuse_device(err);
}

loom_status dev_time_end(loom_err *err, void *stream, double *seconds)
{
  (void)stream;
  *seconds = 0.0;
  return refuse_device(err);
}

loom_status dev_mark(loom_err *err, void *stream, int k)
{
  (void)stream, (void)k;
  return refuse_device(err);
}

loom_status dev_mark_wait(loom_err *err, int k)
{
  (void)k;
  return refuse_device(err);
}

double dev_mark_seconds(int from, int to)
{
  (void)from, (void)to;
  return 0.0;
}

uint64_t dev_range_begin(const char *name)
{
  (void)name;
  return 0;
}

void dev_range_end(uint64_t id) { (void)id; }

const char *dev_error_text(void) { return reason; }

#endif
