/* limits.c - see limits.h. */
#include "mem/limits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PATH_ROOM = 1024, LINE_ROOM = 4096 };

const char *mem_bytes_text(double bytes, char buf[32])
{
  static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
  int k = 0;
  for (; bytes >= 1000.0 && k < 6; ++k) bytes /= 1000.0;
  snprintf(buf, 32, bytes < 10.0 && k > 0 ? "%.1f %s" : "%.0f %s", bytes, units[k]);
  return buf;
}

static void lower_limit(mem_limit *least, double bytes, const char *what)
{
  if (least->what[0] != '\0' && bytes >= least->bytes) return;
  least->bytes = bytes > 0.0 ? bytes : 0.0;
  snprintf(least->what, sizeof least->what, "%.127s", what);
}

/* The number behind `key` in a file of lines "key number", or the first number for key "";
 * negative if there is none. */
static double number_in(const char *root, const char *path, const char *key)
{
  char full[2 * PATH_ROOM], line[LINE_ROOM];
  double value = -1.0;
  snprintf(full, sizeof full, "%s%s", root, path);
  FILE *const f = fopen(full, "r");
  if (f == NULL) return value;
  const size_t n = strlen(key);
  while (value < 0.0 && fgets(line, sizeof line, f) != NULL) {
    char *end;
    if (strncmp(line, key, n) != 0) continue;
    const double v = strtod(line + n, &end);
    if (end != line + n) value = v;
  }
  fclose(f);
  return value;
}

/* ---- limits of the process ---- */

static void take_rlimits(const char *root, mem_limit *least)
{
  struct rlimit r;
  const double size = 1024.0 * number_in(root, "/proc/self/status", "VmSize:");
  const double data = 1024.0 * number_in(root, "/proc/self/status", "VmData:");
  if (getrlimit(RLIMIT_AS, &r) == 0 && r.rlim_cur != RLIM_INFINITY && size >= 0.0)
    lower_limit(least, (double)r.rlim_cur - size, "ulimit -v");
  if (getrlimit(RLIMIT_DATA, &r) == 0 && r.rlim_cur != RLIM_INFINITY && data >= 0.0)
    lower_limit(least, (double)r.rlim_cur - data, "ulimit -d");
}

/* ---- control groups ---- */

/* One group: its limit minus its use; file pages that it can drop do not count as use. */
static void take_group(const char *root, const char *dir, int v2, mem_limit *least)
{
  char path[PATH_ROOM + 32], what[128];
  snprintf(path, sizeof path, "%s/%s", dir, v2 ? "memory.max" : "memory.limit_in_bytes");
  const double most = number_in(root, path, "");
  if (most < 0.0 || most >= 0x1p62) return; /* "max", or v1's way to say it */
  snprintf(path, sizeof path, "%s/%s", dir, v2 ? "memory.current" : "memory.usage_in_bytes");
  const double used = number_in(root, path, "");
  snprintf(path, sizeof path, "%s/memory.stat", dir);
  const double droppable = number_in(root, path, v2 ? "inactive_file " : "total_inactive_file ");
  snprintf(what, sizeof what, "the control group %.90s", dir);
  lower_limit(least, most - fmax(used, 0.0) + fmax(droppable, 0.0), what);
}

/* The group and all above it, to the hierarchy's root `top`.  In a container /proc/self/cgroup may
 * name a path that does not exist; the root is then the group. */
static void take_groups(const char *root, const char *top, char *group, int v2, mem_limit *least)
{
  char dir[PATH_ROOM];
  for (;;) {
    snprintf(dir, sizeof dir, "%s%.900s", top, strcmp(group, "/") == 0 ? "" : group);
    take_group(root, dir, v2, least);
    char *const slash = strrchr(group, '/');
    if (slash == NULL || group[0] == '\0') return;
    *slash = '\0';
  }
}

static void take_cgroups(const char *root, mem_limit *least)
{
  char path[PATH_ROOM], line[LINE_ROOM];
  snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
  FILE *const f = fopen(path, "r");
  if (f == NULL) return;
  while (fgets(line, sizeof line, f) != NULL) { /* "0::/a/b" of v2, "5:memory:/a/b" of v1 */
    line[strcspn(line, "\n")] = '\0';
    char *const list = strchr(line, ':');
    char *const group = list != NULL ? strchr(list + 1, ':') : NULL;
    if (group == NULL) continue;
    *group = '\0';
    if (list[1] == '\0')
      take_groups(root, "/sys/fs/cgroup", group + 1, 1, least);
    else if (strstr(list, "memory") != NULL)
      take_groups(root, "/sys/fs/cgroup/memory", group + 1, 0, least);
  }
  fclose(f);
}

/* ---- Slurm ----
 */

static double read_env_number(const char *name)
{
  const char *const text = getenv(name);
  return text != NULL ? strtod(text, NULL) : 0.0;
}

/* In MB; read because some clusters do not limit a job by control groups. */
static void take_slurm(const char *root, mem_limit *least)
{
  const double have = 1024.0 * fmax(number_in(root, "/proc/self/status", "VmRSS:"), 0.0);
  const double node = read_env_number("SLURM_MEM_PER_NODE"),
               cpu = read_env_number("SLURM_MEM_PER_CPU");
  const double cpus = read_env_number("SLURM_CPUS_ON_NODE");
  if (node > 0.0) lower_limit(least, node * 0x1p20 - have, "SLURM_MEM_PER_NODE");
  if (cpu > 0.0 && cpus > 0.0) lower_limit(least, cpu * cpus * 0x1p20 - have, "SLURM_MEM_PER_CPU");
}

int mem_available(const char *root, mem_limit *out)
{
  memset(out, 0, sizeof *out);
  const double machine = number_in(root, "/proc/meminfo", "MemAvailable:");
  if (machine >= 0.0) lower_limit(out, 1024.0 * machine, "MemAvailable of the machine");
  take_rlimits(root, out);
  take_cgroups(root, out);
  take_slurm(root, out);
  return out->what[0] != '\0';
}
