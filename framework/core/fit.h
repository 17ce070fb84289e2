/* fit.h - who needs what of whom, decided before step 0. */
#ifndef LOOM_FIT_H
#define LOOM_FIT_H

#include "core/registry.h"

typedef struct fit_contact { /* one contact instance and its collision plugins */
  const char *name;          /* "self" of [contact.self] */
  const loom_plugin *contact;
  uint32_t pairs; /* LOOM_BIT(LOOM_PAIR_*) it was given */
  const loom_plugin *const *collision;
  int num_collision;
  uint32_t lacks; /* LOOM_CONT_* that its settings take away, see fit_contact_lacks() */
} fit_contact;

typedef struct fit_body {
  const char *name; /* "ball" of [body.ball] */
  uint32_t kinds;   /* LOOM_BIT(LOOM_PAIR_*) as which its shape can be met */
  int grid;         /* 1: a mesh that would have signed distances with a grid */
} fit_body;

typedef struct fit_scene {
  uint32_t elem_caps;     /* LOOM_ELEM_* that every element block has */
  const char *ball;       /* a body that moves by itself, or NULL: contact with bodies must then
                           * report reactions */
  int yarns;              /* 1: there are some */
  const fit_body *bodies; /* [num_bodies] */
  int num_bodies;
  int left_out; /* 1: it has pairs that detection of surfaces must leave out (loom/exclusions.h) */
} fit_scene;

/* backend: LOOM_CPU/LOOM_CUDA; fallback: a CPU-only plugin may run on the host.  Refuses with the
 * missing capability by name and the nearest working plugins of the registry (may be NULL), and
 * every body that no contact model answers for. */
loom_status fit_check(loom_err *err, registry *r, const loom_plugin *solver,
                      const fit_contact *contacts, int num_contacts, const fit_scene *scene,
                      int backend, int fallback);
/* Names of set bits: "contact gradient, contact Hessian" */
const char *fit_names(int kind, uint32_t bits, int provides, char *buf, size_t len);
/* Names of the pair kinds in a mask of LOOM_BIT(LOOM_PAIR_*). */
const char *fit_pair_names(uint32_t kinds, char *buf, size_t len);
uint32_t fit_contact_provides(const loom_plugin *contact); /* with what the core derives */
/* LOOM_CONT_* of these that an instance with the settings lacks. */
uint32_t fit_contact_lacks(const loom_plugin *contact, const void *settings);

#endif
