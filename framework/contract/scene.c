/* scene.c - scene, partners, runs and instances of the contract checks; see contract.h. */
#define _DEFAULT_SOURCE /* mkstemps */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "contract/contract.h"
#include "run/services/host.h"

/* A soft sheet, pinned at two corners, 2 mm above a ball: contact comes up within the
 * first steps, and gradient descent makes headway too. */
static const char *const scene =
    CT_SCENE_HEAD "[cloth.sheet]\nmodel = arap+isometric\npattern = regular\n"
                  "shape = grid\n"
                  "size = 0.2 0.2\n"
                  "resolution = 7 7\n"
                  "density = 0.2\n"
                  "membrane = 20\n"
                  "k_b = 1e-5\n"
                  "thickness = 0.001\n"
                  "pins = 0 6\n"
                  "[body.ball]\n"
                  "shape = sphere\n"
                  "radius = 0.1\n"
                  "position = 0 0 -0.1025\n";

const loom_plugin *ct_load(const ct_plugin *p, registry **reg)
{
  loom_err err = {0};
  CT_ASSERT(registry_open(&err, "", reg) == LOOM_OK, "%s", err.text);
  for (int i = 0; i < registry_count(*reg); ++i) {
    const reg_entry *const e = registry_at(*reg, i);
    if (e->plugin != NULL && strcmp(e->plugin->name, p->name) == 0 && e->plugin->kind == p->kind)
      return e->plugin;
  }
  registry_find(&err, *reg, p->kind, p->name, &(const reg_entry *){NULL});
  ct_fail(__FILE__, __LINE__, "%s", err.text);
}

/* ---- runs ---- */

static int count_set_bits(uint32_t v)
{
  int n = 0;
  for (; v != 0; v &= v - 1) ++n;
  return n;
}

/* Names for the places beside `p`: the fitting combination with most of `kinds` that contact and
 * detection have in common, among these with most capabilities, and among these with contact as it
 * is at each iterate.  affine: an affine body of the scene or NULL; returns 0 if no combination
 * fits. */
static int choose_partners(const ct_plugin *p, uint32_t kinds, const char *affine,
                           const char *name[LOOM_NUM_KINDS])
{
  static ct_plugin last; /* a check opens up to a thousand runs, all with the same partners */
  static uint32_t last_kinds;
  static const char *found[LOOM_NUM_KINDS], *last_affine;
  static int last_best;
  if (found[0] != NULL && last_kinds == kinds && last_affine == affine && last.kind == p->kind &&
      strcmp(last.name, p->name) == 0) {
    memcpy(name, found, sizeof found);
    return last_best >= 0;
  }
  loom_err err = {0};
  registry *reg = NULL;
  int best = -1;
  const char *pick[LOOM_NUM_KINDS] = {"gd", "", ""};
  CT_ASSERT(registry_open(&err, "", &reg) == LOOM_OK, "%s", err.text);
  const int n = registry_count(reg);
  for (int i = 0; i < n * n * n; ++i) {
    const loom_plugin *use[LOOM_NUM_KINDS];
    int fits = 1, q = i;
    for (int k = 0; k < LOOM_NUM_KINDS; ++k, q /= n) {
      use[k] = registry_at(reg, q % n)->plugin;
      fits &= use[k] != NULL && use[k]->kind == k;
      fits = fits && (p->kind != k || strcmp(use[k]->name, p->name) == 0);
    }
    if (!fits) continue;
    const fit_contact c = {"c",
                           use[LOOM_KIND_CONTACT],
                           use[LOOM_KIND_CONTACT]->ops.contact->pair_kinds,
                           &use[LOOM_KIND_COLLISION],
                           1,
                           0};
    const fit_scene any = {.elem_caps = 31u, .affine = affine};
    if (fit_check(&err, NULL, use[LOOM_KIND_SOLVER], &c, 1, &any, LOOM_CPU, 1) != LOOM_OK) continue;
    const loom_contact_ops *const contact = use[LOOM_KIND_CONTACT]->ops.contact;
    const loom_collision_ops *const collision = use[LOOM_KIND_COLLISION]->ops.collision;
    const uint32_t aside = /* of no use to a partner */
        LOOM_CONT_HESS_APPROX | LOOM_CONT_FRICTION_BODY | LOOM_CONT_FRICTION_CLOTH;
    const uint32_t forms = fit_contact_provides(use[LOOM_KIND_CONTACT]) & ~aside;
    const int live = (use[LOOM_KIND_SOLVER]->ops.solver->needs & LOOM_WANT_CONTACT_FROZEN) == 0;
    const int score = 100 * count_set_bits(kinds & contact->pair_kinds & collision->pair_kinds) +
                      2 * count_set_bits(forms) +
                      2 * count_set_bits(collision->provides & ~(uint32_t)LOOM_COLL_LEAVES_OUT) +
                      live;
    if (score <= best) continue;
    best = score;
    for (int k = 0; k < LOOM_NUM_KINDS; ++k) pick[k] = use[k]->name;
  }
  if (best < 0) pick[p->kind] = p->name; /* alone */
  memcpy(name, pick, sizeof pick);
  memcpy(found, pick, sizeof pick);
  last = *p;
  last_kinds = kinds;
  last_affine = affine;
  last_best = best;
  registry_close(reg); /* names are constants of modules, which stay loaded */
  return best >= 0;
}

static loom_status try_scene(ct_run *t, const char *text, const char *solver, const char *collision,
                             const char *contact, const char *more)
{
  int n = snprintf(t->ini, sizeof t->ini, "%s[solver]\nplugin = %s\n", text, solver);
  if (collision[0] != '\0')
    n += snprintf(t->ini + n, sizeof t->ini - (size_t)n, "[collision.c]\nplugin = %s\n", collision);
  if (contact[0] != '\0')
    n += snprintf(t->ini + n, sizeof t->ini - (size_t)n, "[contact.c]\nplugin = %s\n", contact);
  /* not every trio meets the ball */
  (void)snprintf(t->ini + n, sizeof t->ini - (size_t)n,
                 "[contact.rest]\nplugin = none\npairs = obstacle\n");
  t->opt.steps = -1;
  t->opt.no_log = 1;
  char word[1024];
  const char *sets[16];
  int num_sets = 0;
  /* `more` is a list of section.key=value, separated by blanks */
  snprintf(word, sizeof word, "%s", more);
  for (char *save = NULL, *w = strtok_r(word, " ", &save); w != NULL && num_sets < 16;
       w = strtok_r(NULL, " ", &save))
    sets[num_sets++] = w;
  LOOM_TRY(cfg_parse(&t->err, t->ini, "contract.ini", ".", sets, num_sets, &t->c));
  return run_open(&t->err, t->c, &t->opt, &t->r);
}

loom_status ct_try(ct_run *t, const char *solver, const char *collision, const char *contact,
                   const char *more)
{
  return try_scene(t, scene, solver, collision, contact, more);
}

static void open_with(ct_run *t, const ct_plugin *p, const char *text, uint32_t kinds,
                      const char *more, int mem_check)
{
  const char *name[LOOM_NUM_KINDS];
  char all[1024];
  snprintf(all, sizeof all, "%s %s", p->set, more);
  *t = (ct_run){.opt = {.mem_check = mem_check}};
  (void)choose_partners(p, kinds, NULL, name);
  const loom_status s = try_scene(t, text, name[LOOM_KIND_SOLVER], name[LOOM_KIND_COLLISION],
                                  name[LOOM_KIND_CONTACT], all);
  CT_ASSERT(s == LOOM_OK, "%s %s with %s/%s/%s: %s", p->name, p->set, name[0], name[1], name[2],
            t->err.text);
}

/* The ball of the scene has a closed form alone. */
static const uint32_t on_ball = LOOM_BIT(LOOM_PAIR_VO);

void ct_open(ct_run *t, const ct_plugin *p, const char *more)
{
  open_with(t, p, scene, on_ball, more, 0);
}
void ct_open_checked(ct_run *t, const ct_plugin *p, const char *more)
{
  open_with(t, p, scene, on_ball, more, 1);
}
void ct_open_scene(ct_run *t, const ct_plugin *p, const char *text, const char *object,
                   uint32_t kinds)
{
  const char *name[LOOM_NUM_KINDS];
  *t = (ct_run){.opt = {.mem_check = 1}};
  (void)choose_partners(p, kinds, NULL, name);
  const loom_status s = try_scene(t, text, name[LOOM_KIND_SOLVER], name[LOOM_KIND_COLLISION],
                                  name[LOOM_KIND_CONTACT], p->set);
  if (s == LOOM_E_CONFIG && strstr(t->err.text, p->name) != NULL &&
      strstr(t->err.text, object) != NULL)
    ct_skip("refused: %.300s", t->err.text);
  CT_ASSERT(s == LOOM_OK, "%s %s with %s/%s/%s: %s", p->name, p->set, name[0], name[1], name[2],
            t->err.text);
}

void ct_open_affine(ct_run *t, const ct_plugin *p, const char *text, const char *body,
                    uint32_t kinds, const char *more)
{
  const char *name[LOOM_NUM_KINDS];
  char all[1024];
  snprintf(all, sizeof all, "%s %s", p->set, more);
  *t = (ct_run){.opt = {.mem_check = 1}};
  if (!choose_partners(p, kinds, body, name)) (void)choose_partners(p, kinds, NULL, name);
  const loom_status s = try_scene(t, text, name[LOOM_KIND_SOLVER], name[LOOM_KIND_COLLISION],
                                  name[LOOM_KIND_CONTACT], all);
  if (s == LOOM_E_CONFIG) {
    CT_ASSERT(strstr(t->err.text, p->name) != NULL && strstr(t->err.text, "affine body") != NULL,
              "refused, but not by name: %s", t->err.text);
    ct_skip("refused: %.300s", t->err.text);
  }
  CT_ASSERT(s == LOOM_OK, "%s %s with %s/%s/%s: %s", p->name, p->set, name[0], name[1], name[2],
            t->err.text);
}

void ct_close(ct_run *t)
{
  int complaints = 0;
  run_close(t->r, &complaints);
  cfg_free(t->c);
  CT_ASSERT(complaints == 0, "destroy() broke a rule");
}

const char *ct_message(const ct_run *t)
{
  return t->err.code != LOOM_OK ? t->err.text : mem_err(t->r->m)->text;
}

/* ---- instances ---- */

instance *ct_instance(run *r, const ct_plugin *p)
{
  if (p->kind == LOOM_KIND_SOLVER) return &r->solver;
  if (p->kind == LOOM_KIND_COLLISION && r->num_collision > 0) return &r->collision[0];
  if (p->kind == LOOM_KIND_CONTACT && r->num_contact > 0) return &r->contact[0].in;
  ct_fail(__FILE__, __LINE__, "no plugin was found that fits %s, so it cannot be run", p->name);
}

loom_status ct_create(instance *in)
{
  in->self = NULL;
  in->created = 1;
  return INSTANCE_OP(in, create)(&in->host, &in->r->scene->pub, in->exec, in->settings, &in->self);
}

void ct_destroy(instance *in)
{
  if (in->self != NULL) INSTANCE_OP(in, destroy)(in->self);
  mem_free_owned(in->r->m, in->name);
  in->self = NULL;
  in->created = 0;
}

loom_status ct_reset(instance *in)
{
  loom_status (*const f)(void *) = INSTANCE_OP(in, reset);
  return f != NULL ? f(in->self) : LOOM_OK;
}

loom_status ct_checkpoint(instance *in, const loom_step *s, int restore)
{
  return INSTANCE_OP(in, checkpoint)(in->self, s, restore);
}

void ct_twin(const instance *of, instance *twin)
{
  *twin = *of;
  twin->self = NULL;
  twin->created = 0;
  snprintf(twin->name, sizeof twin->name, "twin");
  host_attach(twin);
}

/* ---- steps and states ---- */

void ct_steps(ct_run *t, int64_t first, int64_t count)
{
  for (int64_t k = first; k < first + count; ++k)
    CT_ASSERT(step_once(t->r, k) == LOOM_OK, "step %lld: %s", (long long)k, ct_message(t));
}

double *ct_values(const run *r, loom_buf *b, int64_t *n)
{
  const int64_t count = buf_count(b);
  double *const v = malloc((size_t)count * sizeof *v);
  void *p;
  CT_ASSERT(v != NULL && buf_map(r->m, NULL, b, LOOM_READ, LOOM_AT_HOST, &p) == LOOM_OK, "%s",
            mem_err(r->m)->text);
  for (int64_t i = 0; i < count; ++i) v[i] = (double)((const loom_real *)p)[i];
  CT_ASSERT(buf_unmap(r->m, b) == LOOM_OK, "%s", mem_err(r->m)->text);
  if (n != NULL) *n = count;
  return v;
}

void ct_set_values(run *r, loom_buf *b, const double *v)
{
  void *p;
  CT_ASSERT(buf_map(r->m, NULL, b, LOOM_WRITE, LOOM_AT_HOST, &p) == LOOM_OK, "%s",
            mem_err(r->m)->text);
  for (int64_t i = 0; i < buf_count(b); ++i) ((loom_real *)p)[i] = (loom_real)v[i];
  CT_ASSERT(buf_unmap(r->m, b) == LOOM_OK, "%s", mem_err(r->m)->text);
}

void *ct_copy(const run *r, loom_buf *b, int64_t items)
{
  const size_t bytes = buf_type_size(buf_type(b)) * (size_t)items;
  void *p, *out = malloc(bytes + 1);
  CT_ASSERT(out != NULL, "out of memory");
  CT_ASSERT(buf_map(r->m, NULL, b, LOOM_READ, LOOM_AT_HOST, &p) == LOOM_OK, "%s",
            mem_err(r->m)->text);
  memcpy(out, p, bytes);
  CT_ASSERT(buf_unmap(r->m, b) == LOOM_OK, "%s", mem_err(r->m)->text);
  return out;
}

loom_query ct_query(const run *r, uint32_t what)
{
  return (loom_query){.struct_size = sizeof(loom_query),
                      .what = what,
                      .kinds = LOOM_PAIR_MASK_ALL,
                      .margin = (loom_real)4e-3,
                      .x0 = r->st.x,
                      .x1 = r->st.x,
                      .progress0 = 1,
                      .progress1 = 1};
}

void ct_same_x(const run *a, const run *b, const char *what)
{
  int64_t n = 0, m = 0;
  double *const x = ct_values(a, a->st.x, &n), *const y = ct_values(b, b->st.x, &m);
  CT_ASSERT(n == m, "%s: %lld coordinates, not %lld", what, (long long)m, (long long)n);
  for (int64_t i = 0; i < n; ++i) {
    uint64_t p, q;
    memcpy(&p, &x[i], sizeof p);
    memcpy(&q, &y[i], sizeof q);
    CT_ASSERT(p == q, "%s: vertex %lld is at %.17g, not at %.17g", what, (long long)(i / 3), y[i],
              x[i]);
  }
  free(x);
  free(y);
}

void ct_write_block(char *path, size_t len, const double lo[3], const double hi[3])
{
  static const int face[12][3] = {{1, 3, 2}, {2, 3, 4}, {5, 6, 7}, {6, 8, 7}, {1, 2, 5}, {2, 6, 5},
                                  {3, 7, 4}, {4, 7, 8}, {1, 5, 3}, {3, 5, 7}, {2, 4, 6}, {4, 8, 6}};
  const char *const folder = getenv("TMPDIR");
  snprintf(path, len, "%s/loom_block_XXXXXX.obj", folder != NULL ? folder : "/tmp");
  const int fd = mkstemps(path, 4);
  CT_ASSERT(fd >= 0, "cannot write %s; set TMPDIR to a folder that can be written", path);
  FILE *const f = fdopen(fd, "w");
  CT_ASSERT(f != NULL, "cannot write %s", path);
  for (int i = 0; i < 8; ++i)
    fprintf(f, "v %g %g %g\n", i & 1 ? hi[0] : lo[0], i & 2 ? hi[1] : lo[1], i & 4 ? hi[2] : lo[2]);
  for (int i = 0; i < 12; ++i) fprintf(f, "f %d %d %d\n", face[i][0], face[i][1], face[i][2]);
  CT_ASSERT(fclose(f) == 0, "cannot write %s", path);
}
