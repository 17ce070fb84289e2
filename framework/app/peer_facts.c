/* peer_facts.c - see peer_facts.h. */
#include "app/peer_facts.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/read_file.h"

const char *const peer_attributes[PEER_NUM_FACTS] = {"peer", "peer_version", "peer_settings",
                                                     "peer_licence"};
static const char *const keys[PEER_NUM_FACTS] = {"name", "version", "settings", "licence"};

void peer_facts_set(peer_facts *p, int fact, const char *text)
{
  char *const to = p->text[fact];
  if (to[0] != '\0') return;
  snprintf(to, PEER_FACT_LEN, "%s", text);
  for (char *c = to; *c != '\0'; ++c)
    if ((unsigned char)*c < 0x20) *c = ' '; /* tabs and lines part the facts of plugins in a log */
}

static int find_fact(const char *key)
{
  for (int i = 0; i < PEER_NUM_FACTS; ++i)
    if (strcmp(keys[i], key) == 0) return i;
  return -1;
}

static loom_status take_json_fact(loom_err *err, const char *path, const char *key, json_t *value,
                                  peer_facts *p)
{
  const int fact = find_fact(key);
  const char *const near = fact < 0 ? err_nearest(key, keys, PEER_NUM_FACTS) : NULL;
  if (fact < 0)
    return err_set(err, LOOM_E_CONFIG,
                   "%s: the key \"%s\" is not known%s%s; a peer has name, version, settings and "
                   "licence",
                   path, key, near != NULL ? ", nearest is " : "", near != NULL ? near : "");
  if (json_is_string(value)) {
    peer_facts_set(p, fact, json_string_value(value));
    return LOOM_OK;
  }
  if (strcmp(key, "settings") != 0)
    return err_set(err, LOOM_E_CONFIG, "%s: \"%s\" is no text; put it in quotes", path, key);
  char *const text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_SORT_KEYS);
  if (text == NULL) return err_set(err, LOOM_E_NOMEM, "%s: out of memory", path);
  peer_facts_set(p, fact, text);
  free(text);
  return LOOM_OK;
}

loom_status peer_facts_read(loom_err *err, const char *path, peer_facts *p)
{
  const char *why, *key;
  int64_t bytes;
  json_error_t wrong;
  json_t *value;
  FILE *const f = read_file_open(path, &bytes, &why);
  if (f == NULL) return err_set(err, LOOM_E_CONFIG, "--peer %s: %s", path, why);
  json_t *const all = json_loadf(f, JSON_REJECT_DUPLICATES, &wrong);
  fclose(f);
  if (all == NULL)
    return err_set(err, LOOM_E_CONFIG, "%s:%d: %s; a peer is {\"name\": \"...\", ...}", path,
                   wrong.line, wrong.text);
  loom_status s = LOOM_OK;
  if (!json_is_string(json_object_get(all, "name")))
    s = err_set(err, LOOM_E_CONFIG,
                "%s: has no \"name\"; a peer is {\"name\": \"...\", \"version\": \"...\", "
                "\"settings\": ..., \"licence\": \"...\"}",
                path);
  else
    json_object_foreach(all, key, value) if (s == LOOM_OK) s =
        take_json_fact(err, path, key, value, p);
  json_decref(all);
  return s;
}

void peer_facts_finish(peer_facts *p, const char *data)
{
  const char *const slash = strrchr(data, '/');
  const char *base = slash != NULL && slash[1] != '\0' ? slash + 1 : data;
  const char *const dot = strrchr(base, '.');
  char name[256];
  snprintf(name, sizeof name, "frames of %.*s", dot != NULL ? (int)(dot - base) : 200, base);
  peer_facts_set(p, 0, name);
  p->peer = (h5log_peer){p->text[0], p->text[1], p->text[2], p->text[3]};
}
