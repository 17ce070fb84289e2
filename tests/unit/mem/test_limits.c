/* test_limits.c - how much memory is left, from files as Linux has them. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mem/limits.h"

static char root[64];

static void write_limit_file(const char *path, const char *text)
{
  char full[512];
  snprintf(full, sizeof full, "%s%s", root, path);
  for (char *p = full + 1; (p = strchr(p, '/')) != NULL; *p++ = '/') {
    *p = '\0';
    mkdir(full, 0700);
  }
  FILE *const f = fopen(full, "w");
  cr_assert(f != NULL && fputs(text, f) >= 0 && fclose(f) == 0, "%s", full);
}

static void make_root(void)
{
  static const char *const slurm[] = {"SLURM_MEM_PER_NODE", "SLURM_MEM_PER_CPU"};
  for (int i = 0; i < 2; ++i) unsetenv(slurm[i]);
  strcpy(root, "/tmp/loom_test_XXXXXX");
  cr_assert(mkdtemp(root) != NULL);
  write_limit_file("/proc/meminfo",
                   "MemTotal: 9000 kB\nMemFree: 1 kB\nMemAvailable:   4000000 kB\n");
  write_limit_file("/proc/self/status", "VmSize:\t  1000 kB\nVmRSS:\t 500 kB\nVmData: 100 kB\n");
}

static void remove_root(void)
{
  char command[128];
  cr_assert(strncmp(root, "/tmp/loom_test_", 15) == 0);
  snprintf(command, sizeof command, "rm -r %s", root);
  cr_assert_eq(system(command), 0);
}

TestSuite(limits, .init = make_root, .fini = remove_root);

static void expect_memory_limit(double bytes, const char *what)
{
  mem_limit l;
  cr_assert(mem_available(root, &l));
  cr_expect_eq(l.bytes, bytes, "%.0f of %s", l.bytes, l.what);
  cr_expect(strstr(l.what, what) != NULL, "%s", l.what);
}

Test(limits, machine) { expect_memory_limit(4000000.0 * 1024, "MemAvailable"); }

Test(limits, nothing_known)
{
  mem_limit l;
  cr_expect_eq(mem_available("/nonexistent", &l), 0);
}

Test(limits, control_group_v2)
{
  write_limit_file("/proc/self/cgroup", "0::/job/step\n");
  write_limit_file("/sys/fs/cgroup/job/step/memory.max", "max\n");
  expect_memory_limit(4000000.0 * 1024, "MemAvailable");
  write_limit_file("/sys/fs/cgroup/job/memory.max", "1000000000\n");
  write_limit_file("/sys/fs/cgroup/job/memory.current", "300000000\n");
  write_limit_file("/sys/fs/cgroup/job/memory.stat",
                   "anon 5\nactive_file 7\ninactive_file 100000000\n");
  expect_memory_limit(8e8, "the control group /sys/fs/cgroup/job");
  write_limit_file("/sys/fs/cgroup/job/step/memory.max", "10\n");
  write_limit_file("/sys/fs/cgroup/job/step/memory.current", "20\n");
  expect_memory_limit(0, "/job/step");
}

/* In a container the group is the root of the mounted tree. */
Test(limits, control_group_v1)
{
  write_limit_file("/proc/self/cgroup", "7:cpu,cpuacct:/a\n5:memory:/docker/deadbeef\n");
  write_limit_file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "2000000\n");
  write_limit_file("/sys/fs/cgroup/memory/memory.usage_in_bytes", "500000\n");
  write_limit_file("/sys/fs/cgroup/memory/memory.stat",
                   "inactive_file 1\ntotal_inactive_file 100000\n");
  expect_memory_limit(1600000, "the control group /sys/fs/cgroup/memory");
  write_limit_file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  expect_memory_limit(4000000.0 * 1024, "MemAvailable");
}

Test(limits, slurm)
{
  setenv("SLURM_MEM_PER_NODE", "100", 1);
  expect_memory_limit(100 * 0x1p20 - 500 * 1024, "SLURM_MEM_PER_NODE");
  setenv("SLURM_MEM_PER_CPU", "10", 1);
  setenv("SLURM_CPUS_ON_NODE", "4", 1);
  expect_memory_limit(40 * 0x1p20 - 500 * 1024, "SLURM_MEM_PER_CPU");
}

Test(limits, address_space)
{
  const struct rlimit r = {(rlim_t)1 << 31, (rlim_t)1 << 31};
  cr_assert_eq(setrlimit(RLIMIT_AS, &r), 0);
  expect_memory_limit(0x1p31 - 1000 * 1024, "ulimit -v");
}

Test(limits, bytes_are_written_in_their_largest_unit)
{
  char b[32];
  cr_expect_str_eq(mem_bytes_text(0, b), "0 bytes");
  cr_expect_str_eq(mem_bytes_text(999, b), "999 bytes");
  cr_expect_str_eq(mem_bytes_text(1500, b), "1.5 kB");
  cr_expect_str_eq(mem_bytes_text(72.4e9, b), "72 GB");
}
