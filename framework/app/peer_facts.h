/* peer_facts.h - name, version, settings and licence of the program whose frames are measured. */
#ifndef LOOM_PEER_FACTS_H
#define LOOM_PEER_FACTS_H

#include "core/err.h"
#include "log/h5log_schema.h"

enum { PEER_NUM_FACTS = 4, PEER_FACT_LEN = 4096 };

typedef struct peer_facts {
  char text[PEER_NUM_FACTS][PEER_FACT_LEN]; /* "" where it is not known */
  h5log_peer peer;                          /* points to the texts */
} peer_facts;

/* Attributes of the root that hold them. */
extern const char *const peer_attributes[PEER_NUM_FACTS];

/* Facts that are not known yet, from a JSON file {"name": "...", "version": "...", "settings": ...,
 * "licence": "..."}, whose settings may be any value.  LOOM_E_CONFIG with the file and the key. */
loom_status peer_facts_read(loom_err *err, const char *path, peer_facts *p);
/* A fact that is not known yet; on one line. */
void peer_facts_set(peer_facts *p, int fact, const char *text);
/* The name of last resort from the path of the frames; fills p->peer. */
void peer_facts_finish(peer_facts *p, const char *data);

#endif
