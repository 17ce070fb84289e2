/* h5log_meta.c - attributes of the root: origin of a log, its writers, the end of each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/h5log_internal.h"

static int put_peer(hid_t file, const h5log_peer *p)
{
  if (p == NULL) return 0;
  return h5u_put_text(file, "peer", p->name, 0) < 0 ||
                 h5u_put_text(file, "peer_version", p->version, 0) < 0 ||
                 h5u_put_text(file, "peer_settings", p->settings, 0) < 0 ||
                 h5u_put_text(file, "peer_licence", p->licence, 0) < 0
             ? -1
             : 0;
}

int h5log_put_meta(hid_t file, const h5log_meta *m, const h5log_options *opt)
{
  char writer[160];
  h5u_writer_text(writer, sizeof writer);
  const struct {
    const char *name, *text;
    size_t min_len;
  } texts[] = {{"loom_version", m->loom_version, 0},
               {"git_commit", m->git_commit, 0},
               {"config", m->config, 0},
               {"config_hash", m->config_hash, 0},
               {"command", m->command, 0},
               {"host", m->host, 0},
               {"cpu", m->cpu, 0},
               {"gpu", m->gpu, 0},
               {"blas", m->blas, 0},
               {"backend", m->backend, 0},
               {"created", m->created, 0},
               {"plugins", m->plugins, 0},
               {"status", "running", H5LOG_STATUS_LEN},
               {"writer", writer, sizeof writer}};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; ++i)
    if (h5u_put_text(file, texts[i].name, texts[i].text, texts[i].min_len) < 0) return -1;
  if (h5u_put_int(file, "schema", H5LOG_SCHEMA) < 0 ||
      h5u_put_int(file, "threads", m->threads) < 0 ||
      h5u_put_int(file, "real_size", m->real_size) < 0 || h5u_put_int(file, "seed", m->seed) < 0 ||
      h5u_put_int(file, "num_dof", m->num_dof) < 0 ||
      h5u_put_int(file, "first_step", m->first_step) < 0 ||
      (m->continued != NULL && h5u_put_text(file, "continued", m->continued, 0) < 0) ||
      h5u_put_real(file, "t_cpu_open", m->t_cpu_open) < 0 || put_peer(file, m->peer) < 0)
    return -1;
  return h5log_add_session(file, opt);
}

/* ---- the processes that wrote the log, one after the other ---- */

/* Appends `line` to the text attribute `name`, which it creates if needed. */
static int add_line(hid_t file, const char *name, const char *line)
{
  char *const before = h5u_get_text(file, name);
  const char *const add = line != NULL ? line : "";
  const size_t len = (before != NULL ? strlen(before) : 0) + strlen(add) + 2;
  char *const text = malloc(len);
  int bad = text == NULL;
  if (!bad) {
    /* the lines of `commands` and `jobs` belong together: an empty one counts */
    snprintf(text, len, "%s%s%s", before != NULL ? before : "", before != NULL ? "\n" : "", add);
    bad = h5u_drop_attr(file, name) < 0 || h5u_put_text(file, name, text, 0) < 0;
  }
  free(text);
  free(before);
  return bad ? -1 : 0;
}

int h5log_add_session(hid_t file, const h5log_options *opt)
{
  if (add_line(file, "commands", opt->command) < 0 || add_line(file, "jobs", opt->scheduler) < 0 ||
      h5u_drop_attr(file, "exit_reason") < 0 || h5u_drop_attr(file, "end_time") < 0 ||
      h5u_drop_attr(file, "rss_peak") < 0)
    return -1;
  return h5u_put_text(file, "exit_reason", "running", H5LOG_STATUS_LEN) < 0 ||
                 h5u_put_text(file, "end_time", "", H5LOG_NAME_LEN) < 0 ||
                 h5u_put_int(file, "rss_peak", -1) < 0
             ? -1
             : 0;
}

void h5log_set_end(h5log *l, const h5log_end *end)
{
  snprintf(l->end.exit_reason, sizeof l->end.exit_reason, "%s", end->exit_reason);
  snprintf(l->end.time, sizeof l->end.time, "%s", end->end_time);
  l->end.rss_peak = end->rss_peak;
}

int h5log_put_end(hid_t file, const h5log *l)
{
  if (l->end.exit_reason[0] == '\0') return 0; /* the caller did not set an end */
  return h5u_set_text(file, "exit_reason", l->end.exit_reason) < 0 ||
                 h5u_set_text(file, "end_time", l->end.time) < 0 ||
                 h5u_set_int(file, "rss_peak", l->end.rss_peak) < 0
             ? -1
             : 0;
}
