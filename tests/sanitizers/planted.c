/* planted.c - one fault of a kind, which the sanitizers must report: planted KIND INDEX.  Indices
 * come from the command line, so that neither compiler nor linter can tell the fault beforehand. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH = 8 };

static void *volatile kept;                       /* the only reference to a block */
static void (*volatile give_back)(void *) = free; /* a call that the compiler cannot see through */

/* Read through `at`: UBSan would speak first where the compiler sees the size. */
static int read_heap_index(int i)
{
  int *const a = calloc(LENGTH, sizeof *a), *volatile at = a;
  if (a == NULL) return 0;
  const int v = at[i];
  free(a);
  return v;
}

static int heap_write(int i)
{
  double *const a = calloc(LENGTH, sizeof *a), *volatile at = a;
  if (a == NULL) return 0;
  at[i] = 1;
  const int v = a[0] > 0;
  free(a);
  return v;
}

static int read_stack_index(int i)
{
  int a[LENGTH] = {0}, *volatile at = a;
  return at[i];
}

static int read_global_index(int i)
{
  static int a[LENGTH];
  int *volatile at = a;
  return at[i];
}

static int read_freed_block(int i)
{
  int *const a = calloc(LENGTH, sizeof *a);
  if (a == NULL) return 0;
  kept = a;
  give_back(a);
  return ((int *)kept)[i];
}

static int free_block_twice(int i)
{
  kept = calloc(LENGTH, sizeof(int));
  give_back(kept);
  give_back(kept);
  return i;
}

static int leak_block(int i)
{
  kept = calloc(LENGTH, sizeof(int));
  kept = NULL;
  return i;
}

static int shift_by_index(int i) { return 1 << i; }

static int overflow_by_index(int i) { return INT32_MAX + i; }

static int divide_by_index(int i) { return LENGTH / i; }

static const struct {
  const char *name;
  int (*plant)(int i);
} kinds[] = {
    {"heap", read_heap_index},     {"heap_write", heap_write},  {"stack", read_stack_index},
    {"global", read_global_index}, {"freed", read_freed_block}, {"twice", free_block_twice},
    {"leak", leak_block},          {"shift", shift_by_index},   {"overflow", overflow_by_index},
    {"divide", divide_by_index}};

int main(int argc, char **argv)
{
  for (size_t k = 0; argc == 3 && k < sizeof kinds / sizeof *kinds; ++k) {
    if (strcmp(argv[1], kinds[k].name) != 0) continue;
    printf("%d\n", kinds[k].plant((int)strtol(argv[2], NULL, 10)));
    return 0;
  }
  fputs("usage: planted KIND INDEX\n", stderr);
  return 2;
}
