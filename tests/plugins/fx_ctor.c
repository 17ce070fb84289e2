/* fx_ctor.c - a constructor that leaves a trace and then does the deed FX_CTOR. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { good, exit_, abort_, segv, hang, shy };
#define exit  exit_
#define abort abort_
static const int deed = FX_CTOR;
#undef exit
#undef abort

__attribute__((constructor)) static void opened(void)
{
  const char *const name = getenv("LOOM_TEST_TRACE");
  FILE *const f = name != NULL ? fopen(name, "a") : NULL;
  if (f != NULL) {
    fprintf(f, "%s %ld\n", FX_NAME, (long)getpid());
    fclose(f);
  }
  if (deed == exit_) exit(0);
  if (deed == abort_) abort();
  if (deed == segv) raise(SIGSEGV);
  while (deed == hang) pause();
  if (deed == shy && getenv("LOOM_TEST_GOOD") != NULL) abort();
  if (deed == good) setenv("LOOM_TEST_GOOD", "opened", 1); /* in this process alone */
}
