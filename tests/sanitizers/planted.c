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
static int heap(int i)
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

static int stack(int i)
{
  int a[LENGTH] = {0}, *volatile at = a;
  return at[i];
}

static int global(int i)
{
  static int a[LENGTH];
  int *volatile at = a;
  return at[i];
}

static int freed(int i)
{
  int *const a = calloc(LENGTH, sizeof *a);
  if (a == NULL) return 0;
  kept = a;
  give_back(a);
  return ((int *)kept)[i];
}

static int twice(int i)
{
  kept = calloc(LENGTH, sizeof(int));
  give_back(kept);
  give_back(kept);
  return i;
}

static int leak(int i)
{
  kept = calloc(LENGTH, sizeof(int));
  kept = NULL;
  return i;
}

static int shift(int i) { return 1 << i; }

static int overflow(int i) { return INT32_MAX + i; }

static int divide(int i) { return LENGTH / i; }

static const struct {
  const char *name;
  int (*plant)(int i);
} kinds[] = {{"heap", heap},     {"heap_write", heap_write}, {"stack", stack},
             {"global", global}, {"freed", freed},           {"twice", twice},
             {"leak", leak},     {"shift", shift},           {"overflow", overflow},
             {"divide", divide}};

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
