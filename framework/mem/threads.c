/* threads.c - number of OpenMP threads of a run, and a test that the system gives them. */
#include <errno.h>
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "mem/mem.h"

int threads_default(void)
{
  const int most = omp_get_thread_limit(), n = omp_get_max_threads();
  return n < most ? n : most;
}

int threads_limit(int n)
{
  const int before = omp_get_max_threads();
  omp_set_num_threads(n);
  return before;
}

typedef struct gate { /* threads wait here until all that can be made are there */
  pthread_mutex_t lock;
  pthread_cond_t opened;
  int open;
} gate;

static void *wait_at(void *user)
{
  gate *const g = user;
  pthread_mutex_lock(&g->lock);
  while (!g->open) pthread_cond_wait(&g->opened, &g->lock);
  pthread_mutex_unlock(&g->lock);
  return NULL;
}

/* OpenMP's runtime makes the same threads at its first parallel loop.  If it cannot, it ends the
 * process with a message without a remedy; this test comes first and names one. */
loom_status threads_probe(loom_err *err, int n)
{
  gate g = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
  int made = 0, why = 0;
  if (n <= 1) return LOOM_OK;
  pthread_t *const t = malloc((size_t)(n - 1) * sizeof *t);
  if (t == NULL) return err_set(err, LOOM_E_NOMEM, "no memory for a list of %d threads", n);
  while (made < n - 1 && (why = pthread_create(&t[made], NULL, wait_at, &g)) == 0) ++made;
  pthread_mutex_lock(&g.lock);
  g.open = 1;
  pthread_cond_broadcast(&g.opened);
  pthread_mutex_unlock(&g.lock);
  for (int k = 0; k < made; ++k) pthread_join(t[k], NULL);
  free(t);
  if (why == 0) return LOOM_OK;
  return err_set(err, LOOM_E_NOMEM,
                 "[exec] threads: the system gives %d of %d threads (%s); ask for fewer "
                 "(--threads %d), or raise the limit on memory or processes (ulimit -v, ulimit -u)",
                 made + 1, n, strerror(why), (made + 2) / 2);
}
