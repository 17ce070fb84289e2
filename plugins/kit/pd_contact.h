/* pd_contact.h - contact terms of a projective global step, sorted into a diagonal and
 * couplings between vertices.
 *
 * An isotropic term k/2 |sum_a w_a x_va - p|^2 adds k w_a w_b to the entry (v_a, v_b) of
 * the global matrix.  Terms against obstacles have one vertex and change the diagonal only.
 */
#ifndef KIT_PD_CONTACT_H
#define KIT_PD_CONTACT_H

#include "loom/plugin.h"

typedef struct pd_coupling {
  int32_t row, col; /* row > col */
  double val;       /* N/m */
} pd_coupling;

typedef struct pd_contact {
  double *diag;     /* [n], N/m; NULL while there never was a term */
  pd_coupling *off; /* [num_off], in the order of the terms, repeated entries allowed */
  int64_t num_off, cap_off;
  int32_t any; /* nonzero: diag is not all zero */
} pd_contact;

/* Replace *c by the terms of q (NULL: none).  Fixed vertices take no part. */
loom_status pd_contact_gather(pd_contact *c, const loom_host *host, const loom_exec *e,
                              const loom_scene *sc, const loom_quad *q);
int pd_contact_equal(const pd_contact *a, const pd_contact *b, int32_t num_verts);
/* Nonzero if b covers a: no couplings on either side, and no weight of a above `slack`
 * times b's. */
int pd_contact_within(const pd_contact *a, const pd_contact *b, double slack, int32_t num_verts);
/* Where a's weights are above b's, give them headroom; elsewhere raise them to b's. */
void pd_contact_raise(pd_contact *a, const pd_contact *b, double headroom, int32_t num_verts);
void pd_contact_free(pd_contact *c);

#endif
