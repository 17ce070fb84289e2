/* Every solver with every collision and contact plugin: three steps run clean, or the fit
 * test refuses before the first step and names the missing capability; both as the table says.
 *
 * expected.txt has one line per triple: solver collision contact verdict, where the verdict
 * is `runs` or words of the refusal. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contract/plugins.h"
#include "support/day.h"

typedef struct pair {
  char solver[64], contact[64], set[512];
} pair;

/* Each solver with each contact model, in a process of their own; collisions take turns in it,
 * since a process takes longer to start than most triples to be refused. */
ParameterizedTestParameters(matrix, pair)
{
  static ct_plugin s[PLUGINS_MOST], k[PLUGINS_MOST]; /* for the parent alone */
  const size_t ns = plugins_in_tree(LOOM_KIND_SOLVER, s);
  const size_t nk = plugins_in_tree(LOOM_KIND_CONTACT, k);
  pair *const t = cr_malloc((ns * nk + 1) * sizeof *t);
  size_t n = 0;
  for (size_t i = 0; i < ns * nk; ++i) {
    const ct_plugin *const ps = &s[i / nk], *const pk = &k[i % nk];
    if (plugins_is_variant(ps) && plugins_is_variant(pk)) continue; /* one variant at a time */
    snprintf(t[n].solver, sizeof t[n].solver, "%s", ps->name);
    /* an explicit step of 10 ms bears no stiffer contact: k h^2/m = 0.6 at 1 N/m, and v^2 h^2/g^2
     * for cubic_barrier */
    const char *const soft = strcmp(ps->name, "yarn_explicit") != 0   ? ""
                             : strstr(pk->name, "repulsion") != NULL  ? " contact.c.stiffness=1"
                             : strcmp(pk->name, "cubic_barrier") == 0 ? " contact.c.factor=1e-3"
                                                                      : "";
    snprintf(t[n].set, sizeof t[n].set, "%s %s%s", ps->set, pk->set, soft);
    snprintf(t[n].contact, sizeof t[n].contact, "%s", pk->name);
    ++n;
  }
  return cr_make_param_array(pair, t, n, NULL);
}

/* The verdict of the table; fails the test if the triple is not in it. */
static const char *find_expected_verdict(const char *triple)
{
  static char line[512];
  char path[1024];
  snprintf(path, sizeof path, "%s/tests/matrix/expected.txt", getenv("LOOM_SOURCE_DIR"));
  FILE *const f = fopen(path, "r");
  cr_assert(f != NULL, "%s is missing", path);
  while (fgets(line, sizeof line, f) != NULL) {
    const size_t len = strlen(triple);
    line[strcspn(line, "\n")] = '\0';
    if (strncmp(line, triple, len) == 0 && line[len] == ' ') {
      fclose(f);
      return line + len + 1;
    }
  }
  fclose(f);
  cr_assert_fail("%s has no line for %s; add it with its verdict", path, triple);
  return NULL;
}

static void three_steps(ct_run *t, const char *triple)
{
  for (int64_t k = 0; k < 3; ++k) {
    cr_assert_eq(step_once(t->r, k), LOOM_OK, "%s: step %lld: %s", triple, (long long)k,
                 t->err.text);
    cr_assert(mem_mapped(t->r->m) == NULL, "%s: %s is still mapped", triple, mem_mapped(t->r->m));
  }
  cr_expect_eq(t->r->sum.reasons[H5LOG_diverged], 0, "%s: it diverged", triple);
  /* 3 steps of free fall are 6 mm; no vertex may be far away */
  int64_t n;
  double *const x = ct_values(t->r, t->r->st.x, &n);
  for (int64_t i = 0; i < n; ++i)
    cr_assert(fabs(x[i]) < 0.3, "%s: vertex %lld", triple, (long long)(i / 3));
  free(x);
}

static void run_or_refusal(const pair *p, const char *collision)
{
  char triple[256];
  ct_run t = {.opt = {.mem_check = 1}};
  snprintf(triple, sizeof triple, "%s %s %s", p->solver, collision, p->contact);
  const char *const verdict = find_expected_verdict(triple);
  const loom_status s = ct_try(&t, p->solver, collision, p->contact, p->set);
  if (strcmp(verdict, "runs") == 0) {
    cr_assert_eq(s, LOOM_OK, "%s: refused: %s", triple, t.err.text);
    three_steps(&t, triple);
  } else {
    cr_assert_eq(s, LOOM_E_CONFIG, "%s: accepted, but the table says: %s", triple, verdict);
    cr_expect(strstr(t.err.text, verdict) != NULL, "%s: the refusal does not name '%s': %s", triple,
              verdict, t.err.text);
  }
  ct_close(&t);
}

ParameterizedTest(const pair *p, matrix, pair)
{
  static ct_plugin c[PLUGINS_MOST];
  const size_t n = plugins_in_tree(LOOM_KIND_COLLISION, c);
  /* by day one of them, another one for other names */
  const size_t one = n > 0 ? (strlen(p->solver) + strlen(p->contact) + strlen(p->set)) % n : 0;
  printf("%s, %s%s, with", p->solver, p->contact, p->set);
  for (size_t i = 0; i < n; ++i) {
    if (test_by_day() && i != one) continue;
    printf(" %s", c[i].name); /* the last one where it crashes */
    fflush(stdout);
    run_or_refusal(p, c[i].name);
  }
  printf("\n");
}
