/* Every solver with every collision and contact plugin: three steps run clean, or the fit
 * test refuses before the first step and names what is missing; both as the table says.
 *
 * expected.txt has one line per triple: solver collision contact verdict, where the verdict
 * is `runs` or words of the refusal. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contract/plugins.h"

typedef struct triple {
  char solver[64], collision[64], contact[64], set[512];
} triple;

/* All combinations of the modules in the tree. */
ParameterizedTestParameters(matrix, triple)
{
  static ct_plugin s[PLUGINS_MOST], c[PLUGINS_MOST], k[PLUGINS_MOST]; /* for the parent alone */
  const size_t ns = plugins_in_tree(LOOM_KIND_SOLVER, s);
  const size_t nc = plugins_in_tree(LOOM_KIND_COLLISION, c);
  const size_t nk = plugins_in_tree(LOOM_KIND_CONTACT, k);
  triple *const t = cr_malloc((ns * nc * nk + 1) * sizeof *t);
  size_t n = 0;
  for (size_t i = 0; i < ns * nc * nk; ++i) {
    const ct_plugin *const ps = &s[i / (nc * nk)], *const pc = &c[i / nk % nc],
                           *const pk = &k[i % nk];
    if (plugins_is_variant(ps) && plugins_is_variant(pk)) continue; /* one variant at a time */
    snprintf(t[n].solver, sizeof t[n].solver, "%s", ps->name);
    /* an explicit step of 10 ms bears no stiffer contact: k h^2/m = 0.6 at 1 N/m */
    const int soft =
        strcmp(ps->name, "yarn_explicit") == 0 && strstr(pk->name, "repulsion") != NULL;
    snprintf(t[n].set, sizeof t[n].set, "%s %s%s", ps->set, pk->set,
             soft ? " contact.c.stiffness=1" : "");
    snprintf(t[n].collision, sizeof t[n].collision, "%s", pc->name);
    snprintf(t[n].contact, sizeof t[n].contact, "%s", pk->name);
    ++n;
  }
  return cr_make_param_array(triple, t, n, NULL);
}

/* The verdict of the table; fails the test if the triple is not in it. */
static const char *expected(const triple *t)
{
  static char line[512];
  char path[1024], want[256];
  snprintf(path, sizeof path, "%s/tests/matrix/expected.txt", getenv("LOOM_SOURCE_DIR"));
  snprintf(want, sizeof want, "%s %s %s ", t->solver, t->collision, t->contact);
  FILE *const f = fopen(path, "r");
  cr_assert(f != NULL, "%s is missing", path);
  while (fgets(line, sizeof line, f) != NULL) {
    line[strcspn(line, "\n")] = '\0';
    if (strncmp(line, want, strlen(want)) == 0) {
      fclose(f);
      return line + strlen(want);
    }
  }
  fclose(f);
  cr_assert_fail("%s has no line for %s; add it with its verdict", path, want);
  return NULL;
}

static void three_steps(ct_run *t)
{
  for (int64_t k = 0; k < 3; ++k) {
    cr_assert_eq(step_once(t->r, k), LOOM_OK, "step %lld: %s", (long long)k, t->err.text);
    cr_assert(mem_mapped(t->r->m) == NULL, "%s is still mapped", mem_mapped(t->r->m));
  }
  cr_expect_eq(t->r->sum.reasons[H5LOG_diverged], 0, "it diverged");
  /* 3 steps of free fall are 6 mm; nothing may be far away */
  int64_t n;
  double *const x = ct_values(t->r, t->r->st.x, &n);
  for (int64_t i = 0; i < n; ++i) cr_assert(fabs(x[i]) < 0.3, "vertex %lld", (long long)(i / 3));
  free(x);
}

ParameterizedTest(const triple *p, matrix, triple)
{
  ct_run t = {.opt = {.mem_check = 1}};
  const char *const verdict = expected(p);
  const loom_status s = ct_try(&t, p->solver, p->collision, p->contact, p->set);
  if (strcmp(verdict, "runs") == 0) {
    cr_assert_eq(s, LOOM_OK, "refused: %s", t.err.text);
    three_steps(&t);
  } else {
    cr_assert_eq(s, LOOM_E_CONFIG, "accepted, but the table says: %s", verdict);
    cr_expect(strstr(t.err.text, verdict) != NULL, "the refusal does not name '%s': %s", verdict,
              t.err.text);
  }
  ct_close(&t);
}
