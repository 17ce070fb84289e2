/* asked.c - a setting that asks for a capability which the plugins or the scene do not have is
 * refused: the run would otherwise go on without it and not say so. */
#include "run/checks/asked.h"

#include <stdio.h>
#include <string.h>

#include "run/run_state.h"

enum { NAMES = 256 };

static const uint32_t forces =
    LOOM_CONT_ENERGY | LOOM_CONT_GRADIENT | LOOM_CONT_HESSIAN | LOOM_CONT_QUAD;

static const char *format_key_place(const run *r, const char *section, const char *key, char *buf,
                                    size_t len)
{
  return cfg_place(cfg_find(r->c, section), key, buf, len);
}

/* ---- [filter] bound ---- */

/* Names of collision plugins of the registry that give the bound. */
static void list_bounding(const run *r, uint32_t need, char *buf, size_t len)
{
  loom_err unseen = {0}; /* a file that cannot be looked at gives no bound */
  size_t n = 0;
  snprintf(buf, len, "none");
  (void)registry_look(&unseen, r->reg);
  for (int i = 0; i < registry_count(r->reg) && n < len; ++i) {
    const loom_plugin *const p = registry_at(r->reg, i)->plugin;
    if (p == NULL || p->kind != LOOM_KIND_COLLISION || !(p->ops.collision->provides & need))
      continue;
    n += (size_t)snprintf(buf + n, len - n, "%s%s", n > 0 ? ", " : "", p->name);
  }
}

static loom_status refuse_bound(const run *r, uint32_t need, const instance *in)
{
  char place[1200], have[NAMES], want[NAMES], others[NAMES], that[2 * NAMES];
  const uint32_t bounds = LOOM_COLL_STEP_GLOBAL | LOOM_COLL_STEP_VERTEX;
  const uint32_t gives = in != NULL ? in->plugin->ops.collision->provides & bounds : 0;
  fit_names(LOOM_KIND_COLLISION, need, 1, want, sizeof want);
  list_bounding(r, need, others, sizeof others);
  if (in != NULL)
    snprintf(that, sizeof that, "[%s] '%s' gives %s%s and no %s", in->name, in->plugin->name,
             gives ? "a " : "no bound",
             gives ? fit_names(LOOM_KIND_COLLISION, gives, 1, have, sizeof have) : "", want);
  else
    snprintf(that, sizeof that, "no [collision.NAME] section has a plugin with a %s", want);
  return err_set(r->err, LOOM_E_CONFIG,
                 "%s: %s; set bound = %s, or take a collision plugin that gives it: %s",
                 format_key_place(r, "filter", "bound", place, sizeof place), that,
                 gives & LOOM_COLL_STEP_GLOBAL ? "global" : "none", others);
}

/* A bound in force asks every collision plugin that bounds steps: barriers have no value behind a
 * surface that one of the plugins would let vertices through. */
static loom_status check_bound_support(const run *r)
{
  const uint32_t bounds = LOOM_COLL_STEP_GLOBAL | LOOM_COLL_STEP_VERTEX;
  const uint32_t need = filter_per_vertex(r) ? LOOM_COLL_STEP_VERTEX : LOOM_COLL_STEP_GLOBAL;
  int given = 0;
  if (!filter_bounded(r)) return LOOM_OK;
  for (int i = 0; i < r->num_collision; ++i) {
    const instance *const in = &r->collision[i];
    const uint32_t provides = in->plugin->ops.collision->provides;
    if ((provides & bounds) && !(provides & need)) return refuse_bound(r, need, in);
    given |= (provides & need) != 0;
  }
  return given ? LOOM_OK : refuse_bound(r, need, r->num_collision == 1 ? r->collision : NULL);
}

/* ---- other keys of [filter] and [run] ---- */

static loom_status check_go_on(const run *r)
{
  char place[1200];
  if (r->set.filter.go_on != FILTER_GO_TRIAL || filter_leads(r)) return LOOM_OK;
  return err_set(r->err, LOOM_E_CONFIG,
                 "%s: iterations go on from a trial only with when = advice and bound = global, "
                 "and here they do not; set both, or leave go_on out",
                 format_key_place(r, "filter", "go_on", place, sizeof place));
}

static loom_status check_line_search(const run *r)
{
  char place[1200];
  if (r->set.filter.line_search != LINE_ON) return LOOM_OK;
  format_key_place(r, "filter", "line_search", place, sizeof place);
  if (!(elastic_caps(r->elements.el) & LOOM_ELEM_ENERGY))
    return err_set(r->err, LOOM_E_CONFIG,
                   "%s: some elements of this scene have no energy to search by; set "
                   "line_search = off",
                   place);
  for (int i = 0; i < r->num_contact; ++i) {
    const contact_inst *const c = &r->contact[i];
    if (!(c->provides & forces) || (c->provides & LOOM_CONT_ENERGY)) continue;
    return err_set(r->err, LOOM_E_CONFIG,
                   "%s: [%s] '%s' has no contact energy with these settings, so no point could be "
                   "compared; set line_search = off, or take another contact model",
                   place, c->in.name, c->in.plugin->name);
  }
  return LOOM_OK;
}

static loom_status check_forwarding(const run *r)
{
  char place[1200];
  if (r->set.run.forwarding == RUN_FORWARD_OFF || filter_bounded(r)) return LOOM_OK;
  if (r->set.run.forwarding_below < 1.0)
    return err_set(r->err, LOOM_E_CONFIG,
                   "%s: waits for a step that a bound makes short, and no bound is in force; set "
                   "[filter] bound = global, or forwarding_below = 1",
                   format_key_place(r, "run", "forwarding_below", place, sizeof place));
  if (r->set.run.forwarding != RUN_FORWARD_ITERATE) return LOOM_OK;
  return err_set(
      r->err, LOOM_E_CONFIG,
      "%s: iterate forwards the part that a step bound took away, and no bound is in force; set "
      "[filter] bound = global, or forwarding = paper, corrected or off",
      format_key_place(r, "run", "forwarding", place, sizeof place));
}

/* ---- [log] fields ---- */

static int finds_vertices(const run *r)
{
  for (int i = 0; i < r->num_contact; ++i) {
    const contact_inst *const c = &r->contact[i];
    if (c->in.plugin->ops.contact->plan != NULL && (c->kinds & ~LOOM_BIT(LOOM_PAIR_YY))) return 1;
  }
  return 0;
}

static loom_status check_asked_fields(const run *r)
{
  char place[1200];
  const uint32_t wanted = r->set.log.field_bits;
  format_key_place(r, "log", "fields", place, sizeof place);
  if ((wanted & LOOM_BIT(H5LOG_strain)) && r->scene->pub.num_tris == 0)
    return err_set(
        r->err, LOOM_E_CONFIG,
        "%s: the scene has no triangles, so there is no strain of them; leave strain out", place);
  if ((wanted & LOOM_BIT(H5LOG_gap)) && !finds_vertices(r))
    return err_set(r->err, LOOM_E_CONFIG,
                   "%s: no contact model of this run finds pairs of vertices, so there is no gap; "
                   "leave gap out, or add a [contact.NAME] section",
                   place);
  return LOOM_OK;
}

loom_status asked_check(const run *r)
{
  LOOM_TRY(check_bound_support(r));
  LOOM_TRY(check_go_on(r));
  LOOM_TRY(check_line_search(r));
  LOOM_TRY(check_forwarding(r));
  return check_asked_fields(r);
}
