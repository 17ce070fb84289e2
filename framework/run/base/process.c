/* process.c - see process.h. */
#include "run/base/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "loom/plugin.h"

int64_t process_rss(void)
{
  long long all = 0, resident = -1;
  FILE *const f = fopen("/proc/self/statm", "r");
  if (f == NULL) return -1;
  const int found = fscanf(f, "%lld %lld", &all, &resident);
  fclose(f);
  return found == 2 ? (int64_t)resident * sysconf(_SC_PAGESIZE) : -1;
}

/* Not getrusage(): its number includes the memory of the parent process before exec(). */
int64_t process_rss_peak(void)
{
  char line[128];
  long long kib = -1;
  FILE *const f = fopen("/proc/self/status", "r");
  if (f == NULL) return -1;
  while (kib < 0 && fgets(line, sizeof line, f) != NULL)
    if (sscanf(line, "VmHWM: %lld kB", &kib) != 1) kib = -1;
  fclose(f);
  /* it is brought up to date now and then */
  const int64_t now = process_rss(), peak = kib >= 0 ? (int64_t)kib * 1024 : -1;
  return now > peak ? now : peak;
}

void process_job(char *out, size_t len)
{
  static const char *const names[] = {
      "SLURM_JOB_ID", "SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID", "SLURM_PROCID", /* Slurm */
      "PBS_JOBID",    "PBS_ARRAY_INDEX",    "PBS_ARRAYID",                         /* PBS, Torque */
      "LSB_JOBID",    "LSB_JOBINDEX",                                              /* LSF */
      "JOB_ID",       "SGE_TASK_ID",                                               /* Grid Engine */
      "OAR_JOB_ID",   "FLUX_JOB_ID",        "COBALT_JOBID"};
  size_t at = 0;
  out[0] = '\0';
  for (size_t i = 0; i < LOOM_COUNT(names); ++i) {
    const char *const value = getenv(names[i]);
    if (value == NULL || value[0] == '\0' || strpbrk(value, " \t\r\n") != NULL) continue;
    const int n = snprintf(out + at, len - at, "%s%s=%s", at > 0 ? " " : "", names[i], value);
    if (n < 0 || (size_t)n >= len - at) {
      out[at] = '\0'; /* no half id */
      return;
    }
    at += (size_t)n;
  }
}

void process_time(char out[PROCESS_TIME_LEN])
{
  const time_t now = time(NULL);
  struct tm utc;
  out[0] = '\0';
  if (gmtime_r(&now, &utc) != NULL) strftime(out, PROCESS_TIME_LEN, "%Y-%m-%dT%H:%M:%SZ", &utc);
}
