/* plugin_look.c - opens a plugin file in a child process, which sends a copy of its descriptors.
 *
 * Opening a shared object runs its constructors: they may crash, call exit() or never return.
 * Then the child is lost, and the parent reports how it ended.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/crash.h"
#include "core/plugin_file.h"
#include "core/seconds.h"

enum { SAYS_PLUGIN = 1, SAYS_END, SAYS_REFUSED };

typedef struct message { /* at most PIPE_BUF bytes: written as a whole or not at all */
  int32_t what;
  loom_status status;
  union {
    plugin_card card;
    char why[512];
  } u;
} message;
_Static_assert(sizeof(message) <= 4096, "a message must fit into PIPE_BUF");

/* ---- the child ---- */

static void copy(char *to, size_t len, const char *from)
{
  const size_t n = from != NULL ? strnlen(from, len - 1) : 0;
  if (n > 0) memcpy(to, from, n);
  to[n] = '\0';
}

static void fill_card(plugin_card *c, const loom_plugin *p)
{
  c->kind = p->kind;
  c->abi_minor = p->abi_minor;
  c->backends = p->backends;
  if (p->kind == LOOM_KIND_SOLVER) {
    c->needs = p->ops.solver->needs;
  } else if (p->kind == LOOM_KIND_COLLISION) {
    c->provides = p->ops.collision->provides;
    c->pair_kinds = p->ops.collision->pair_kinds;
  } else {
    c->needs = p->ops.contact->needs;
    c->provides = p->ops.contact->provides;
    c->pair_kinds = p->ops.contact->pair_kinds;
  }
  copy(c->name, sizeof c->name, p->name);
  copy(c->version, sizeof c->version, p->version);
  copy(c->license, sizeof c->license, p->license);
  copy(c->summary, sizeof c->summary, p->summary);
  copy(c->reference, sizeof c->reference, p->reference);
  copy(c->build, sizeof c->build, p->build);
}

static void say(int fd, const message *m)
{
  if (write(fd, m, sizeof *m) != (ssize_t)sizeof *m) _exit(1);
}

/* Keeps output and crash messages of constructors off the parent's terminal. */
static void be_quiet(void)
{
  const struct rlimit none = {0, 0};
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  crash_remove();
  setrlimit(RLIMIT_CORE, &none);
  setpgid(0, 0); /* so that processes started by the file end with the child */
  for (int fd = 0; null >= 0 && fd <= 2; ++fd) dup2(null, fd);
}

static void child(int fd, const char *canonical, const char *name)
{
  loom_err err = {0};
  loom_plugin_query_fn query = NULL;
  message m;
  be_quiet();
  loom_status s = plugin_file_open(&err, canonical, &query);
  for (uint32_t k = 0; s == LOOM_OK; ++k) {
    const loom_plugin *p = NULL;
    if (k == PLUGIN_QUERY_MAX)
      s = err_set(&err, LOOM_E_ABI, "more than %d plugins in one file", PLUGIN_QUERY_MAX);
    else
      s = plugin_file_query(&err, query, k, name, &p);
    if (s != LOOM_OK || p == NULL) break;
    memset(&m, 0, sizeof m);
    m.what = SAYS_PLUGIN;
    fill_card(&m.u.card, p);
    say(fd, &m);
  }
  memset(&m, 0, sizeof m);
  m.what = s == LOOM_OK ? SAYS_END : SAYS_REFUSED;
  m.status = s;
  copy(m.u.why, sizeof m.u.why, err.text);
  say(fd, &m);
  _exit(0);
}

/* ---- the parent ---- */

/* The next whole message; 0 at the end, also when time is up (*late). */
static int listen_to(int fd, double until, message *m, int *late)
{
  size_t have = 0;
  while (have < sizeof *m) {
    struct pollfd p = {.fd = fd, .events = POLLIN};
    const double left = until - seconds_now();
    const int ready = left > 0 ? poll(&p, 1, 1 + (int)(1000.0 * left)) : 0;
    if (ready < 0 && errno == EINTR) continue;
    *late = ready == 0;
    if (ready <= 0) return 0;
    const ssize_t n = read(fd, (char *)m + have, sizeof *m - have);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return 0;
    have += (size_t)n;
  }
  return 1;
}

/* Terminates all texts, for any bytes that the child sent. */
static void close_texts(plugin_card *c)
{
  c->name[sizeof c->name - 1] = c->version[sizeof c->version - 1] = '\0';
  c->license[sizeof c->license - 1] = c->summary[sizeof c->summary - 1] = '\0';
  c->reference[sizeof c->reference - 1] = c->build[sizeof c->build - 1] = '\0';
}

static loom_status lost(loom_err *err, int late, int status)
{
  if (late)
    return err_set(err, LOOM_E_ABI, "it does not let itself be opened within %d s",
                   PLUGIN_LOOK_SECONDS);
  if (WIFSIGNALED(status))
    return err_set(err, LOOM_E_ABI, "opening it ends the process by signal %d (%s)",
                   WTERMSIG(status), strsignal(WTERMSIG(status)));
  return err_set(err, LOOM_E_ABI, "opening it ends the process by exit(%d)", WEXITSTATUS(status));
}

loom_status plugin_file_look(loom_err *err, const char *canonical, const char *name,
                             plugin_card cards[PLUGIN_QUERY_MAX], int *num)
{
  int ends[2], late = 0, status = 0;
  message m = {0};
  *num = 0;
  if (pipe(ends) != 0)
    return err_set(err, LOOM_E_IO, "cannot look at it: no pipe: %s", strerror(errno));
  fflush(NULL); /* or both processes would write the buffered output */
  const pid_t pid = fork();
  if (pid == 0) {
    close(ends[0]);
    child(ends[1], canonical, name);
  }
  const int code = errno;
  close(ends[1]);
  if (pid < 0) {
    close(ends[0]);
    return err_set(err, LOOM_E_IO, "cannot look at it: no further process: %s", strerror(code));
  }
  const double until = seconds_now() + PLUGIN_LOOK_SECONDS;
  while (listen_to(ends[0], until, &m, &late) && m.what == SAYS_PLUGIN) {
    if (*num == PLUGIN_QUERY_MAX || m.u.card.kind < 0 || m.u.card.kind >= LOOM_NUM_KINDS) break;
    close_texts(&m.u.card);
    cards[(*num)++] = m.u.card;
    m.what = 0;
  }
  close(ends[0]);
  /* No more messages are read.  A child that has already ended keeps its exit status. */
  kill(-pid, SIGKILL); /* and the processes that it started */
  kill(pid, SIGKILL);
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  if (m.what == SAYS_END) return LOOM_OK;
  *num = 0;
  if (m.what != SAYS_REFUSED) return lost(err, late, status);
  m.u.why[sizeof m.u.why - 1] = '\0';
  return err_set(err, m.status < 0 ? m.status : LOOM_E_ABI, "%s", m.u.why);
}
