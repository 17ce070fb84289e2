/* One physics for every method: friction of solvers and contact models on scenes of which theory
 * says the answer (same_scenes.h).  Run with LOOM_SAME_PHYSICS=all it measures every pair that
 * fits and prints the table. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "physics/same_scenes.h"

static const char *const solvers[] = {"cholmod_newton", "pcg_newton", "aa_pd",
                                      "ndb_pd",         "pd_bfgs",    "cama_pcg"};
static const char *const contacts[] = {"ipc_barrier", "penalty", "cama_repulsion", "dbb", "ndb"};

static int wanted(const char *list, const char *name)
{
  const char *const all = getenv(list);
  return all == NULL || strcmp(all, "all") == 0 || strstr(all, name) != NULL;
}

/* LOOM_SAME_ROWS, LOOM_SAME_SOLVERS, LOOM_SAME_CONTACTS: names, to measure some alone. */
Test(same_physics, table)
{
  if (getenv("LOOM_SAME_PHYSICS") == NULL) return;
  for (int row = 0; row < SAME_CAPSTAN; ++row)
    for (int body = SAME_EXACT; body <= SAME_MESH; ++body)
      for (size_t k = 0; k < sizeof contacts / sizeof *contacts; ++k)
        for (size_t j = 0; j < sizeof solvers / sizeof *solvers; ++j) {
          same_case c = {.row = (same_row)row,
                         .body = (same_body)body,
                         .solver = solvers[j],
                         .contact = contacts[k],
                         .dt = 5e-3};
          same_result r;
          if (!wanted("LOOM_SAME_ROWS", same_names[row]) ||
              !wanted("LOOM_SAME_SOLVERS", solvers[j]) ||
              !wanted("LOOM_SAME_CONTACTS", contacts[k]))
            continue;
          same_measure(&c, &r);
          printf("%-10s %-5s %-15s %-15s ", same_names[row], body ? "mesh" : "exact", solvers[j],
                 contacts[k]);
          if (r.runs)
            printf("%8.4f%s  capped %.0f %%\n", r.value, same_holds(c.row, &r, 0.03) ? "  " : " *",
                   100 * r.capped);
          else
            printf("   -      %.80s\n", r.error);
          fflush(stdout);
        }
}
