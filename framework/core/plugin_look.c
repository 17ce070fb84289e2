/* plugin_look.c - opens plugin files in a child process, which sends copies of their descriptors.
 *
 * Opening a shared object runs its constructors: they may crash, call exit() or never return.
 * Then the child is lost, the parent reports how it ended, and another child goes on behind that
 * file.  One child opens many files: they share libraries, and relocating these takes most of the
 * time.  A file that is refused or lost where others were opened before it gets a child of its own:
 * the others may have caused that.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
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

static void copy_bounded_text(char *to, size_t len, const char *from)
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
  copy_bounded_text(c->name, sizeof c->name, p->name);
  copy_bounded_text(c->version, sizeof c->version, p->version);
  copy_bounded_text(c->license, sizeof c->license, p->license);
  copy_bounded_text(c->summary, sizeof c->summary, p->summary);
  copy_bounded_text(c->reference, sizeof c->reference, p->reference);
  copy_bounded_text(c->build, sizeof c->build, p->build);
}

static void send_message(int fd, const message *m)
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

/* Opens one file, says each of its plugins and then the end. */
static void send_file_plugins(int fd, const plugin_seen *file)
{
  loom_err err = {0};
  loom_plugin_query_fn query = NULL;
  message m;
  loom_status s = plugin_file_open(&err, file->canonical, &query);
  for (uint32_t k = 0; s == LOOM_OK; ++k) {
    const loom_plugin *p = NULL;
    if (k == PLUGIN_QUERY_MAX)
      s = err_set(&err, LOOM_E_ABI, "more than %d plugins in one file", PLUGIN_QUERY_MAX);
    else
      s = plugin_file_query(&err, query, k, file->name, &p);
    if (s != LOOM_OK || p == NULL) break;
    memset(&m, 0, sizeof m);
    m.what = SAYS_PLUGIN;
    fill_card(&m.u.card, p);
    send_message(fd, &m);
  }
  memset(&m, 0, sizeof m);
  m.what = s == LOOM_OK ? SAYS_END : SAYS_REFUSED;
  m.status = s;
  copy_bounded_text(m.u.why, sizeof m.u.why, err.text);
  send_message(fd, &m);
}

/* ---- the parent ---- */

typedef struct child { /* of one process */
  pid_t pid;
  int fd; /* its messages come here */
} child;

static loom_status child_start(loom_err *err, child *c, const plugin_seen *file, int num)
{
  int ends[2];
  if (pipe(ends) != 0)
    return err_set(err, LOOM_E_IO, "cannot look at it: no pipe: %s", strerror(errno));
  fflush(NULL); /* or both processes would write the buffered output */
  c->pid = fork();
  if (c->pid == 0) {
    close(ends[0]);
    be_quiet();
    for (int i = 0; i < num; ++i) send_file_plugins(ends[1], &file[i]);
    _exit(0);
  }
  const int code = errno;
  close(ends[1]);
  c->fd = ends[0];
  if (c->pid > 0) return LOOM_OK;
  close(ends[0]);
  return err_set(err, LOOM_E_IO, "cannot look at it: no further process: %s", strerror(code));
}

/* The exit status as of waitpid().  A child that has already ended keeps its own. */
static int child_end(const child *c)
{
  int status = 0;
  close(c->fd);
  kill(-c->pid, SIGKILL); /* and the processes that it started */
  kill(c->pid, SIGKILL);
  while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR) continue;
  return status;
}

/* The next whole message; 0 at the end, also when time is up (*late). */
static int receive_message(int fd, double until, message *m, int *late)
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

static loom_status report_lost_child(loom_err *err, int late, int status)
{
  if (late)
    return err_set(err, LOOM_E_ABI, "it does not let itself be opened within %d s",
                   PLUGIN_LOOK_SECONDS);
  if (WIFSIGNALED(status))
    return err_set(err, LOOM_E_ABI, "opening it ends the process by signal %d (%s)",
                   WTERMSIG(status), strsignal(WTERMSIG(status)));
  return err_set(err, LOOM_E_ABI, "opening it ends the process by exit(%d)", WEXITSTATUS(status));
}

/* Adds a copy of the card; 0 if there is no memory. */
static int add_card(plugin_seen *file, plugin_card *card)
{
  plugin_card *const more = realloc(file->cards, (size_t)(file->num + 1) * sizeof *more);
  if (more == NULL) return 0;
  close_texts(card);
  file->cards = more;
  more[file->num++] = *card;
  return 1;
}

static void drop_cards(plugin_seen *file)
{
  free(file->cards);
  file->cards = NULL;
  file->num = 0;
}

/* Reads all messages on one file; 0 if the child is lost. */
static int hear_one(const child *c, plugin_seen *file, int *late)
{
  const double until = seconds_now() + PLUGIN_LOOK_SECONDS;
  message m = {0};
  *late = 0;
  while (receive_message(c->fd, until, &m, late)) {
    if (m.what == SAYS_END) {
      file->status = LOOM_OK;
      return 1;
    }
    if (m.what == SAYS_REFUSED) {
      drop_cards(file);
      m.u.why[sizeof m.u.why - 1] = '\0';
      file->status = err_set(&file->why, m.status < 0 ? m.status : LOOM_E_ABI, "%s", m.u.why);
      return 1;
    }
    if (m.what != SAYS_PLUGIN || file->num == PLUGIN_QUERY_MAX || m.u.card.kind < 0 ||
        m.u.card.kind >= LOOM_NUM_KINDS)
      break;
    if (!add_card(file, &m.u.card)) {
      drop_cards(file);
      file->status = err_set(&file->why, LOOM_E_NOMEM, "out of memory while it was looked at");
      return 0;
    }
  }
  drop_cards(file);
  return 0;
}

/* Looks at file[0] and, while all goes well, at the next ones, in one child; the number of files
 * that have their verdict. */
static int look_in_child(plugin_seen *file, int num)
{
  child c;
  int late;
  file[0].status = child_start(&file[0].why, &c, file, num);
  if (file[0].status != LOOM_OK) return 1;
  for (int i = 0; i < num; ++i) {
    const int there = hear_one(&c, &file[i], &late);
    if (there && (i == 0 || file[i].status == LOOM_OK)) continue;
    const int ended = child_end(&c);
    if (i > 0) { /* it begins the next child */
      file[i].status = LOOM_OK;
      err_clear(&file[i].why);
      return i;
    }
    if (file[0].status != LOOM_E_NOMEM)
      file[0].status = report_lost_child(&file[0].why, late, ended);
    return 1;
  }
  child_end(&c);
  return num;
}

void plugin_files_look(plugin_seen *file, int num)
{
  for (int done = 0; done < num;) done += look_in_child(file + done, num - done);
}

void plugin_seen_free(plugin_seen *file, int num)
{
  for (int i = 0; i < num; ++i) {
    drop_cards(&file[i]);
    free(file[i].canonical);
  }
}
