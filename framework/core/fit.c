/* fit.c - the rules of fit: the contact model provides the needs of the solver, collision plugins
 * provide the needs of the contact model, pair kinds overlap, elements and backends suffice. */
#include "core/fit.h"

#include <stdio.h>

enum { LINES_MAX = 8, NAMES_LEN = 256 };

/* ---- the rules, one pair of plugins each ---- */

enum { FORMS = LOOM_CONT_ENERGY | LOOM_CONT_GRADIENT | LOOM_CONT_HESSIAN | LOOM_CONT_QUAD };

/* LOOM_CONT_* that the solver needs and the model lacks; 0 for a post-only model: no solver sees
 * its corrections. */
static uint32_t missing_forms(const loom_plugin *solver, const loom_plugin *contact, uint32_t lacks)
{
  static const struct {
    uint32_t need, provides;
  } rule[] = {
      {LOOM_NEED_CONTACT_ENERGY, LOOM_CONT_ENERGY},
      {LOOM_NEED_CONTACT_GRADIENT, LOOM_CONT_GRADIENT},
      {LOOM_NEED_CONTACT_HESSIAN, LOOM_CONT_HESSIAN},
      {LOOM_NEED_CONTACT_QUAD, LOOM_CONT_QUAD},
      {LOOM_NEED_CONTACT_ISO, LOOM_CONT_QUAD_ISO},
      {LOOM_NEED_CONTACT_EXPLICIT, LOOM_CONT_EXPLICIT},
      {LOOM_WANT_CONTACT_FROZEN, LOOM_CONT_GRADIENT | LOOM_CONT_HESSIAN},
  };
  const uint32_t have = fit_contact_provides(contact) & ~lacks;
  uint32_t want = 0;
  if (!(have & FORMS)) return 0;
  for (size_t i = 0; i < sizeof rule / sizeof rule[0]; ++i)
    if (solver->ops.solver->needs & rule[i].need) want |= rule[i].provides;
  return want & ~have;
}

/* LOOM_COLL_* that the model needs and the plugin lacks. */
static uint32_t missing_queries(const loom_plugin *contact, const loom_plugin *collision)
{
  return contact->ops.contact->needs & ~collision->ops.collision->provides;
}

static int has_common_pairs(const loom_plugin *contact, uint32_t pairs,
                            const loom_plugin *collision)
{
  return (contact->ops.contact->pair_kinds & pairs & collision->ops.collision->pair_kinds) != 0;
}

static int runs_on(const loom_plugin *p, int backend, int fallback)
{
  return (p->backends & LOOM_BIT(backend)) != 0 ||
         (backend == LOOM_CUDA && fallback && (p->backends & LOOM_ON_CPU));
}

static uint32_t missing_elements(const loom_plugin *solver, uint32_t elem_caps)
{
  return solver->ops.solver->needs & FIT_ELEMENT_NEEDS & ~elem_caps;
}

/* ---- refusals and working alternatives ----
 */

typedef struct job {
  loom_err *err;
  registry *r;
  const loom_plugin *solver;
  const fit_contact *contacts;
  const fit_scene *scene;
  int num_contacts, backend, fallback, lines;
} job;

/* It reads contact as quadratic terms of four vertices; those of followers have more. */
static int lacks_wide_terms(const job *j, const loom_plugin *solver)
{
  int forces = 0;
  for (int i = 0; i < j->num_contacts; ++i)
    forces |= (fit_contact_provides(j->contacts[i].contact) & FORMS) != 0;
  const uint32_t wide = LOOM_NEED_CONTACT_QUAD | LOOM_READS_WIDE_QUADS;
  return forces && j->scene->affine != NULL &&
         (solver->ops.solver->needs & wide) == LOOM_NEED_CONTACT_QUAD;
}

/* It moves vertices by itself, and does not cope with followers. */
static int moves_vertices(const job *j, const loom_plugin *contact)
{
  const uint32_t p = contact->ops.contact->provides;
  return j->scene->affine != NULL && (p & (LOOM_CONT_RESOLVE | LOOM_CONT_VELOCITY)) != 0 &&
         !(p & LOOM_CONT_MOVES_FOLLOWERS);
}

static int solver_works(const job *j, const loom_plugin *solver)
{
  if (lacks_wide_terms(j, solver)) return 0;
  if (missing_elements(solver, j->scene->elem_caps) || !runs_on(solver, j->backend, j->fallback))
    return 0;
  if ((solver->ops.solver->needs & LOOM_MADE_FOR_YARNS) && !j->scene->yarns) return 0;
  for (int i = 0; i < j->num_contacts; ++i)
    if (missing_forms(solver, j->contacts[i].contact, j->contacts[i].lacks)) return 0;
  return 1;
}

/* One of the bodies of this model moves by itself, and the model does not report reactions. */
static int lacks_reactions(const job *j, const loom_plugin *contact, uint32_t pairs)
{
  return j->scene->ball != NULL && !(contact->ops.contact->provides & LOOM_CONT_REACTION) &&
         (contact->ops.contact->pair_kinds & pairs & LOOM_PAIR_MASK_OBSTACLE) != 0;
}

/* The pair's own coefficient would not reach this model, which meets the two. */
static int lacks_friction(const fit_friction *f, const loom_plugin *contact, uint32_t pairs)
{
  const loom_contact_ops *const ops = contact->ops.contact;
  return (ops->pair_kinds & pairs & f->kinds) != 0 && !(ops->provides & f->provides);
}

static int contact_works(const job *j, const fit_contact *at, const loom_plugin *contact)
{
  int found = contact->ops.contact->needs == 0;
  if (lacks_reactions(j, contact, at->pairs) || moves_vertices(j, contact)) return 0;
  for (int k = 0; k < j->scene->num_frictions; ++k)
    if (lacks_friction(&j->scene->frictions[k], contact, at->pairs)) return 0;
  if (missing_forms(j->solver, contact, contact == at->contact ? at->lacks : 0) ||
      !runs_on(contact, j->backend, j->fallback))
    return 0;
  for (int i = 0; i < at->num_collision; ++i) {
    if (!has_common_pairs(contact, at->pairs, at->collision[i])) continue;
    if (missing_queries(contact, at->collision[i])) return 0;
    found = 1;
  }
  return found;
}

/* Kinds of pairs that the scene may leave out. */
static const uint32_t surface_kinds = LOOM_BIT(LOOM_PAIR_VT) | LOOM_BIT(LOOM_PAIR_EE) |
                                      LOOM_BIT(LOOM_PAIR_VE) | LOOM_BIT(LOOM_PAIR_VV) |
                                      LOOM_BIT(LOOM_PAIR_BVT) | LOOM_BIT(LOOM_PAIR_BEE);

/* The plugin would report pairs that the scene leaves out, or stop steps because of them. */
static int finds_left_out(const job *j, uint32_t pairs, const loom_plugin *collision)
{
  const loom_collision_ops *const ops = collision->ops.collision;
  return j->scene->left_out && (pairs & ops->pair_kinds & surface_kinds) != 0 &&
         ops->provides != 0 && !(ops->provides & LOOM_COLL_LEAVES_OUT);
}

static int collision_works(const job *j, const fit_contact *at, const loom_plugin *collision)
{
  return !finds_left_out(j, at->pairs & at->contact->ops.contact->pair_kinds, collision) &&
         has_common_pairs(at->contact, at->pairs, collision) &&
         !missing_queries(at->contact, collision) && runs_on(collision, j->backend, j->fallback);
}

/* Plugins of one kind in the registry that would work in place of the present one. */
static void list_working(const job *j, int kind, const fit_contact *at, char *buf, size_t len)
{
  size_t n = 0;
  int found = 0;
  buf[0] = '\0';
  for (int i = 0; j->r != NULL && i < registry_count(j->r) && n < len; ++i) {
    const loom_plugin *const p = registry_at(j->r, i)->plugin;
    if (p == NULL || p->kind != kind) continue;
    const int works = kind == LOOM_KIND_SOLVER    ? solver_works(j, p)
                      : kind == LOOM_KIND_CONTACT ? contact_works(j, at, p)
                                                  : collision_works(j, at, p);
    if (works) n += (size_t)snprintf(buf + n, len - n, "%s%s", found++ > 0 ? ", " : "", p->name);
  }
  if (found == 0) snprintf(buf, len, "none");
}

static void append_fit_line(job *j, const char *line)
{
  if (j->lines == 0)
    err_set(j->err, LOOM_E_CONFIG, "%s", line);
  else if (j->lines < LINES_MAX)
    err_append(j->err, "%s", line);
  j->lines++;
}

/* One line: the missing capability, then plugins that would work of the two kinds that could be
 * changed. */
static void refuse_fit(job *j, const char *what, int kind_a, int kind_b, const fit_contact *at)
{
  char a[NAMES_LEN], b[NAMES_LEN], line[4 * NAMES_LEN + 512];
  size_t n = (size_t)snprintf(line, sizeof line, "%s", what);
  if (n >= sizeof line) n = sizeof line - 1;
  loom_err unseen = {0}; /* a file that cannot be looked at is one that does not fit */
  if (j->r != NULL) {
    (void)registry_look(&unseen, j->r);
    list_working(j, kind_a, at, a, sizeof a);
    n += (size_t)snprintf(line + n, sizeof line - n, "; %s plugins that fit: %s",
                          registry_kind_name(kind_a), a);
    if (kind_b >= 0 && n < sizeof line) {
      list_working(j, kind_b, at, b, sizeof b);
      snprintf(line + n, sizeof line - n, "; %s plugins that fit: %s", registry_kind_name(kind_b),
               b);
    }
  }
  append_fit_line(j, line);
}

static void check_backend(job *j, const loom_plugin *p, const fit_contact *at)
{
  char what[NAMES_LEN];
  if (runs_on(p, j->backend, j->fallback)) return;
  if (j->backend == LOOM_CUDA)
    snprintf(what, sizeof what,
             "%s '%s' is built for the CPU only; [exec] fallback = yes lets it run there, "
             "backend = cpu runs all there",
             registry_kind_name(p->kind), p->name);
  else
    snprintf(what, sizeof what, "%s '%s' is built for CUDA only; set [exec] backend = cuda",
             registry_kind_name(p->kind), p->name);
  refuse_fit(j, what, p->kind, -1, at);
}

static void check_solver_fit(job *j)
{
  char what[3 * NAMES_LEN + 128], names[NAMES_LEN], have[NAMES_LEN];
  const char *const models = j->scene->models != NULL ? j->scene->models : "";
  const uint32_t caps = j->scene->elem_caps, miss = missing_elements(j->solver, caps);
  check_backend(j, j->solver, NULL);
  if (!miss) return;
  snprintf(what, sizeof what,
           "solver '%s' needs %s, but the elements of the scene offer together: %s%s%s",
           j->solver->name, fit_names(LOOM_KIND_SOLVER, miss, 0, names, sizeof names),
           caps ? fit_names(LOOM_KIND_SOLVER, caps & 0x1f, 0, have, sizeof have) : "nothing",
           models[0] != '\0' ? "; " : "", models);
  refuse_fit(j, what, LOOM_KIND_SOLVER, -1, NULL);
}

static void check_forms(job *j, const fit_contact *at)
{
  char what[3 * NAMES_LEN], names[NAMES_LEN], have[NAMES_LEN];
  const uint32_t miss = missing_forms(j->solver, at->contact, at->lacks);
  if (!miss) return;
  const int frozen = (j->solver->ops.solver->needs & LOOM_WANT_CONTACT_FROZEN) &&
                     (miss & (LOOM_CONT_GRADIENT | LOOM_CONT_HESSIAN));
  snprintf(what, sizeof what, "solver '%s' needs %s%s, but [contact.%s] '%s' provides %s%s",
           j->solver->name, fit_names(LOOM_KIND_CONTACT, miss, 1, names, sizeof names),
           frozen ? " (to linearise contact)" : "", at->name, at->contact->name,
           fit_names(LOOM_KIND_CONTACT, fit_contact_provides(at->contact) & ~at->lacks, 1, have,
                     sizeof have),
           at->lacks ? " with its settings" : "");
  refuse_fit(j, what, LOOM_KIND_CONTACT, LOOM_KIND_SOLVER, at);
}

static void check_queries(job *j, const fit_contact *at)
{
  char what[3 * NAMES_LEN], names[NAMES_LEN], have[NAMES_LEN];
  const loom_contact_ops *const ops = at->contact->ops.contact;
  int met = 0;
  if (ops->needs == 0) return;
  for (int i = 0; i < at->num_collision; ++i) {
    const loom_plugin *const c = at->collision[i];
    if (!has_common_pairs(at->contact, at->pairs, c)) continue;
    met = 1;
    const uint32_t miss = missing_queries(at->contact, c);
    if (!miss) continue;
    snprintf(what, sizeof what, "[contact.%s] '%s' needs %s, but collision '%s' provides %s",
             at->name, at->contact->name,
             fit_names(LOOM_KIND_COLLISION, miss, 1, names, sizeof names), c->name,
             c->ops.collision->provides
                 ? fit_names(LOOM_KIND_COLLISION, c->ops.collision->provides, 1, have, sizeof have)
                 : "nothing");
    refuse_fit(j, what, LOOM_KIND_COLLISION, LOOM_KIND_CONTACT, at);
  }
  if (met) return;
  const uint32_t wanted = ops->pair_kinds & at->pairs;
  if (wanted == 0)
    snprintf(what, sizeof what, "[contact.%s] '%s' handles none of its pairs (%s), only %s",
             at->name, at->contact->name, fit_pair_names(at->pairs, names, sizeof names),
             fit_pair_names(ops->pair_kinds, have, sizeof have));
  else if (at->num_collision == 0)
    snprintf(what, sizeof what, "[contact.%s] '%s' needs %s, but there is no collision plugin",
             at->name, at->contact->name,
             fit_names(LOOM_KIND_COLLISION, ops->needs, 1, names, sizeof names));
  else
    snprintf(what, sizeof what, "[contact.%s] '%s' needs pairs %s, which no collision plugin finds",
             at->name, at->contact->name, fit_pair_names(wanted, names, sizeof names));
  refuse_fit(j, what, wanted == 0 ? LOOM_KIND_CONTACT : LOOM_KIND_COLLISION, -1, at);
}

static void check_left_out(job *j, const fit_contact *at)
{
  char what[2 * NAMES_LEN];
  for (int i = 0; i < at->num_collision; ++i) {
    const loom_plugin *const c = at->collision[i];
    if (!finds_left_out(j, at->pairs & at->contact->ops.contact->pair_kinds, c)) continue;
    snprintf(
        what, sizeof what,
        "the scene has pairs that contact leaves out (sewn, or intersecting at the start), but "
        "collision '%s', which serves [contact.%s], does not leave them out",
        c->name, at->name);
    refuse_fit(j, what, LOOM_KIND_COLLISION, -1, at);
  }
}

static void check_reaction(job *j, const fit_contact *at)
{
  char what[2 * NAMES_LEN];
  if (!lacks_reactions(j, at->contact, at->pairs)) return;
  snprintf(what, sizeof what,
           "[body.%s] has a mass, but [contact.%s] '%s' does not report reactions on bodies; leave "
           "the mass out, take [solid.NAME] model = affine, or [contact.%s] pairs = self",
           j->scene->ball, at->name, at->contact->name, at->name);
  refuse_fit(j, what, LOOM_KIND_CONTACT, -1, at);
}

/* A model with friction of its own on the pair, or all models that meet it, would leave the
 * coefficient out. */
static void check_friction(job *j, const fit_friction *f)
{
  const fit_contact *lacking = NULL;
  char what[2 * NAMES_LEN], names[NAMES_LEN];
  int met = 0;
  for (int i = 0; i < j->num_contacts; ++i) {
    const fit_contact *const at = &j->contacts[i];
    const loom_contact_ops *const ops = at->contact->ops.contact;
    const int meets = (ops->pair_kinds & at->pairs & f->kinds) != 0;
    met |= meets && (ops->provides & f->provides);
    if (lacks_friction(f, at->contact, at->pairs) &&
        (lacking == NULL || (ops->provides & LOOM_CONT_FRICTION)))
      lacking = at;
  }
  if (met && (lacking == NULL || !(lacking->contact->ops.contact->provides & LOOM_CONT_FRICTION)))
    return;
  if (lacking == NULL) {
    snprintf(what, sizeof what, "[%s] has no effect: no contact model meets the two", f->section);
    append_fit_line(j, what);
    return;
  }
  snprintf(what, sizeof what, "[%s] needs %s, but [contact.%s] '%s' does not have it", f->section,
           fit_names(LOOM_KIND_CONTACT, f->provides, 1, names, sizeof names), lacking->name,
           lacking->contact->name);
  refuse_fit(j, what, LOOM_KIND_CONTACT, -1, lacking);
}

/* at NULL: the solver */
static void check_affine(job *j, const fit_contact *at)
{
  char what[2 * NAMES_LEN];
  if (at != NULL ? !moves_vertices(j, at->contact) : !lacks_wide_terms(j, j->solver)) return;
  size_t n =
      (size_t)snprintf(what, sizeof what, "[solid.%s] is an affine body, ", j->scene->affine);
  if (at != NULL)
    snprintf(what + n, sizeof what - n,
             "whose surface follows its control points; [contact.%s] '%s' moves vertices by itself",
             at->name, at->contact->name);
  else
    snprintf(what + n, sizeof what - n,
             "whose contact has terms of up to 8 vertices; solver '%s' reads contact as quadratic "
             "terms of 4",
             j->solver->name);
  refuse_fit(j, what, at != NULL ? LOOM_KIND_CONTACT : LOOM_KIND_SOLVER, -1, at);
}

/* ---- bodies ---- */

/* The instance meets bodies of these kinds: it takes these pairs, and a collision plugin finds them
 * for it.  An instance without needs of collision plugins (none) counts as an answer. */
static int has_body_pairs(const fit_contact *at, uint32_t kinds)
{
  const uint32_t taken = at->pairs & at->contact->ops.contact->pair_kinds & kinds;
  if (taken != 0 && at->contact->ops.contact->needs == 0) return 1;
  for (int i = 0; i < at->num_collision; ++i)
    if (taken & at->collision[i]->ops.collision->pair_kinds) return 1;
  return 0;
}

/* Pairs that the contact models of the config take, and pairs of `kinds` that they could take. */
static void name_contacts(const job *j, uint32_t kinds, char *buf, size_t len)
{
  char names[NAMES_LEN], more[NAMES_LEN];
  size_t n = 0;
  buf[0] = '\0';
  for (int i = 0; i < j->num_contacts && n < len; ++i) {
    const fit_contact *const c = &j->contacts[i];
    const uint32_t able = c->contact->ops.contact->pair_kinds;
    const uint32_t left_out = able & kinds & ~c->pairs;
    n += (size_t)snprintf(
        buf + n, len - n, "%s[contact.%s] '%s' takes %s%s%s%s", i > 0 ? ", " : "", c->name,
        c->contact->name,
        c->pairs & able ? fit_pair_names(c->pairs & able, names, sizeof names) : "no pairs",
        left_out ? " (with pairs = all also " : "",
        left_out ? fit_pair_names(left_out, more, sizeof more) : "", left_out ? ")" : "");
  }
}

/* Collision plugins that find pairs of these kinds for some contact model of the config. */
static int name_finders(const job *j, uint32_t kinds, char *buf, size_t len)
{
  size_t n = 0;
  int found = 0;
  for (int i = 0; j->r != NULL && i < registry_count(j->r) && n < len; ++i) {
    const loom_plugin *const p = registry_at(j->r, i)->plugin;
    int serves = 0;
    if (p == NULL || p->kind != LOOM_KIND_COLLISION || !runs_on(p, j->backend, j->fallback))
      continue;
    for (int k = 0; k < j->num_contacts; ++k) {
      const loom_plugin *const c = j->contacts[k].contact;
      serves |= has_common_pairs(c, j->contacts[k].pairs & kinds, p) && !missing_queries(c, p);
    }
    if (serves && p->ops.collision->provides != 0)
      n += (size_t)snprintf(buf + n, len - n, "%s%s", found++ > 0 ? " or " : "", p->name);
  }
  return found;
}

/* A body without a contact model is refused: the cloth would fall through it without a message. */
static void check_body_contacts(job *j)
{
  char takes[4 * NAMES_LEN], names[NAMES_LEN], finders[NAMES_LEN], what[8 * NAMES_LEN];
  for (int i = 0; i < j->scene->num_bodies; ++i) {
    const fit_body *const b = &j->scene->bodies[i];
    const uint32_t grid = b->grid ? LOOM_BIT(LOOM_PAIR_VO) : 0;
    int met = 0;
    for (int k = 0; k < j->num_contacts; ++k) met |= has_body_pairs(&j->contacts[k], b->kinds);
    if (met) continue;
    loom_err unseen = {0}; /* a file that cannot be looked at is one that does not fit */
    if (j->r != NULL) (void)registry_look(&unseen, j->r);
    size_t n = (size_t)snprintf(what, sizeof what, "[body.%s] meets no contact: ", b->name);
    if (j->num_contacts == 0) {
      n += (size_t)snprintf(what + n, sizeof what - n, "there is no [contact.NAME] section");
    } else {
      name_contacts(j, b->kinds, takes, sizeof takes);
      n += (size_t)snprintf(what + n, sizeof what - n, "it can be met as %s, %s",
                            fit_pair_names(b->kinds, names, sizeof names), takes);
    }
    if (n < sizeof what && name_finders(j, b->kinds | grid, finders, sizeof finders))
      n += (size_t)snprintf(
          what + n, sizeof what - n, "; let a [collision.NAME] section with plugin = %s serve it%s",
          finders, b->grid ? ", for signed distances with [body.NAME] sdf_resolution" : "");
    if (n < sizeof what)
      snprintf(what + n, sizeof what - n,
               "; for a body without contact set "
               "[contact.NAME] plugin = none");
    append_fit_line(j, what);
  }
}

loom_status fit_check(loom_err *err, registry *r, const loom_plugin *solver,
                      const fit_contact *contacts, int num_contacts, const fit_scene *scene,
                      int backend, int fallback)
{
  job j = {.err = err,
           .r = r,
           .solver = solver,
           .contacts = contacts,
           .scene = scene,
           .num_contacts = num_contacts,
           .backend = backend,
           .fallback = fallback};
  check_solver_fit(&j);
  check_affine(&j, NULL);
  for (int i = 0; i < num_contacts; ++i) {
    check_backend(&j, contacts[i].contact, &contacts[i]);
    for (int k = 0; k < contacts[i].num_collision; ++k) {
      int seen = 0; /* one plugin may serve several contacts: one message */
      for (int a = 0; a < i; ++a)
        for (int b = 0; b < contacts[a].num_collision; ++b)
          seen |= contacts[a].collision[b] == contacts[i].collision[k];
      if (!seen) check_backend(&j, contacts[i].collision[k], &contacts[i]);
    }
    check_forms(&j, &contacts[i]);
    check_reaction(&j, &contacts[i]);
    check_affine(&j, &contacts[i]);
    check_queries(&j, &contacts[i]);
    check_left_out(&j, &contacts[i]);
  }
  for (int k = 0; k < scene->num_frictions; ++k) check_friction(&j, &scene->frictions[k]);
  if (j.lines == 0)
    check_body_contacts(&j); /* else a refused plugin may answer for them once it fits */
  return j.lines > 0 ? LOOM_E_CONFIG : LOOM_OK;
}
