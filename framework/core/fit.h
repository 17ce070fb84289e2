/* fit.h - compatibility of solver, contact and collision plugins, checked before step 0. */
#ifndef LOOM_FIT_H
#define LOOM_FIT_H

#include "core/registry.h"

/* The needs of a solver that elements meet; their bits are those of LOOM_ELEM_*. */
enum {
  FIT_ELEMENT_NEEDS = LOOM_NEED_ELEM_ENERGY | LOOM_NEED_ELEM_GRADIENT | LOOM_NEED_ELEM_HESSIAN |
                      LOOM_NEED_ELEM_PROJECT | LOOM_NEED_ELEM_SMALL
};

typedef struct fit_contact { /* one contact instance and its collision plugins */
  const char *name;          /* "self" of [contact.self] */
  const loom_plugin *contact;
  uint32_t pairs; /* LOOM_BIT(LOOM_PAIR_*) assigned to it */
  const loom_plugin *const *collision;
  int num_collision;
  uint32_t lacks; /* LOOM_CONT_* that its settings remove, see fit_contact_lacks() */
} fit_contact;

typedef struct fit_body {
  const char *name; /* "ball" of [body.ball] */
  uint32_t kinds;   /* LOOM_BIT(LOOM_PAIR_*) by which contact can meet its shape */
  int grid;         /* 1: a mesh that would have signed distances with a grid */
} fit_body;

typedef struct fit_friction { /* a pair of objects with a coefficient of its own */
  char section[128];          /* "friction.soles" */
  uint32_t kinds;             /* LOOM_BIT(LOOM_PAIR_*) by which the two may meet */
  uint32_t provides;          /* LOOM_CONT_* that a contact model of these pairs needs */
} fit_friction;

typedef struct fit_scene {
  uint32_t elem_caps; /* LOOM_ELEM_* that every element block has */
  const char *models; /* NULL, or the remedy for elements that lack a need of the solver: "X lacks
                       * it; in its place [cloth] model takes Y" */
  const char *ball;   /* a body that moves by itself, or NULL: contact with bodies must then
                       * report reactions */
  int yarns;          /* 1: the scene has yarns */
  const fit_body *bodies; /* [num_bodies] */
  int num_bodies;
  const fit_friction *frictions; /* [num_frictions] */
  int num_frictions;
  const char *affine; /* an object whose surface follows other vertices (loom/followers.h), or NULL:
                       * solvers that read contact as quadratic terms, and models that move
                       * vertices by themselves, are refused */
  int left_out; /* 1: the scene has pairs that surface detection ignores (loom/exclusions.h) */
} fit_scene;

/* backend: LOOM_CPU/LOOM_CUDA; fallback: a CPU-only plugin may run on the host.  The refusal names
 * the missing capability, the nearest working plugins of the registry (may be NULL), and every body
 * without a contact model. */
loom_status fit_check(loom_err *err, registry *r, const loom_plugin *solver,
                      const fit_contact *contacts, int num_contacts, const fit_scene *scene,
                      int backend, int fallback);
/* Names of set bits: "contact gradient, contact Hessian"; in buf [len], which it returns */
const char *fit_names(int kind, uint32_t bits, int provides, char *buf, size_t len);
/* Names of the pair kinds in a mask of LOOM_BIT(LOOM_PAIR_*). */
const char *fit_pair_names(uint32_t kinds, char *buf, size_t len);
uint32_t fit_contact_provides(const loom_plugin *contact); /* with forms that the core derives */
/* LOOM_CONT_* of its `provides` that an instance with the settings lacks. */
uint32_t fit_contact_lacks(const loom_plugin *contact, const void *settings);

#endif
