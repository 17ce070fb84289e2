/* descriptor.c - registry_check: is a plugin's descriptor complete and consistent? */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/only_with.h"
#include "core/registry.h"

enum { NAME_MAX_BYTES = 63, COUNT_MAX = 1000, SETTINGS_MAX = 1 << 20 };

#define REFUSE(err, ...) return err_set((err), LOOM_E_ABI, __VA_ARGS__)

static int valid_name(const char *s)
{
  if (s == NULL || s[0] < 'a' || s[0] > 'z' || strlen(s) > NAME_MAX_BYTES) return 0;
  return s[strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789_")] == '\0';
}

static int is_nonempty_text(const char *s) { return s != NULL && s[0] != '\0'; }

/* ---- parameters ---- */

static size_t param_size(int32_t type)
{
  switch (type) {
  case LOOM_P_REAL:
    return sizeof(double);
  case LOOM_P_INT:
    return sizeof(int64_t);
  case LOOM_P_BOOL:
  case LOOM_P_ENUM:
    return sizeof(int32_t);
  case LOOM_P_TEXT:
  case LOOM_P_PATH:
    return sizeof(const char *);
  case LOOM_P_VEC3:
  case LOOM_P_VEC4:
    return (size_t)LOOM_P_NUMBERS(type) * sizeof(double);
  default:
    return 0;
  }
}

static int is_in_param_range(const loom_param *p, double v)
{
  return ((p->flags & LOOM_P_OPEN_MIN) ? v > p->min : v >= p->min) &&
         ((p->flags & LOOM_P_OPEN_MAX) ? v < p->max : v <= p->max);
}

/* Number of choices; -1 if one is empty or stands twice. */
static int count_choices(const char *choices)
{
  int n = 0;
  for (const char *s = choices;; ++n) {
    const size_t len = strcspn(s, "|");
    if (len == 0) return -1;
    for (const char *t = choices; t < s; t += strcspn(t, "|") + 1)
      if (strcspn(t, "|") == len && strncmp(t, s, len) == 0) return -1;
    if (s[len] == '\0') return n + 1;
    s += len + 1;
  }
}

/* "0 0 -9.81": finite numbers in the parameter's own unit. */
static int read_vec(const char *text, int count, double *v)
{
  for (int k = 0; k < count; ++k) {
    char *end = NULL;
    if (text == NULL) return 0;
    v[k] = strtod(text, &end);
    if (end == text || !isfinite(v[k])) return 0;
    text = end + strspn(end, " ,");
  }
  return *text == '\0';
}

static loom_status check_number(loom_err *err, const loom_param *p)
{
  const int count = LOOM_P_NUMBERS(p->type);
  double v[4] = {p->def, p->def, p->def, p->def};
  if (isnan(p->min) || isnan(p->max) || p->min > p->max)
    REFUSE(err, "parameter '%s': the range %g to %g is empty", p->key, p->min, p->max);
  if (p->flags & LOOM_P_NO_DEFAULT) return LOOM_OK;
  if (count > 1 && !read_vec(p->def_text, count, v))
    REFUSE(err, "parameter '%s': the default '%s' is not %s numbers", p->key,
           p->def_text != NULL ? p->def_text : "(null)", count == 3 ? "three" : "four");
  for (int k = 0; k < count; ++k)
    if (!isfinite(v[k]) || !is_in_param_range(p, v[k]))
      REFUSE(err, "parameter '%s': the default %g is out of its range %g to %g", p->key, v[k],
             p->min, p->max);
  if (p->type == LOOM_P_INT && v[0] != floor(v[0]))
    REFUSE(err, "parameter '%s': the default %g is not an integer", p->key, v[0]);
  return LOOM_OK;
}

static loom_status check_choice(loom_err *err, const loom_param *p)
{
  const int n = p->type == LOOM_P_BOOL ? 2 : p->choices == NULL ? -1 : count_choices(p->choices);
  if (n < 1) REFUSE(err, "parameter '%s': its choices are missing, empty or doubled", p->key);
  if (!(p->flags & LOOM_P_NO_DEFAULT) && !(p->def >= 0 && p->def < n && p->def == floor(p->def)))
    REFUSE(err, "parameter '%s': the default %g is none of its %d choices", p->key, p->def, n);
  return LOOM_OK;
}

static loom_status check_plugin_param(loom_err *err, const loom_plugin *p, uint32_t i)
{
  const loom_param *const q = &p->params[i];
  const size_t size = param_size(q->type);
  const uint32_t flags = LOOM_P_OPEN_MIN | LOOM_P_OPEN_MAX | LOOM_P_NO_DEFAULT | LOOM_P_EXPERT |
                         LOOM_P_GONE | LOOM_P_PROBLEM;
  if (!valid_name(q->key))
    REFUSE(err, "parameter %u: the key '%s' is not of the form [a-z][a-z0-9_]*", i,
           q->key != NULL ? q->key : "(null)");
  if (strcmp(q->key, "plugin") == 0 ||
      (p->kind == LOOM_KIND_CONTACT &&
       (strcmp(q->key, "pairs") == 0 || strcmp(q->key, "collision") == 0)))
    REFUSE(err, "parameter '%s': the core uses this key of the section itself", q->key);
  if (size == 0) REFUSE(err, "parameter '%s': unknown type %d", q->key, (int)q->type);
  if (q->flags & ~flags) REFUSE(err, "parameter '%s': unknown flags 0x%x", q->key, q->flags);
  if (q->unit == NULL || !is_nonempty_text(q->doc))
    REFUSE(err, "parameter '%s': unit or description is missing", q->key);
  if (q->flags & LOOM_P_GONE) return LOOM_OK;
  if (q->offset > p->settings_size || size > p->settings_size - q->offset)
    REFUSE(err, "parameter '%s': offset %llu lies outside the %u bytes of settings", q->key,
           (unsigned long long)q->offset, p->settings_size);
  if (q->offset % (size > 8 ? 8 : size) != 0)
    REFUSE(err, "parameter '%s': offset %llu is not aligned", q->key,
           (unsigned long long)q->offset);
  for (uint32_t k = 0; k < i; ++k) {
    const loom_param *const o = &p->params[k];
    if (strcmp(o->key, q->key) == 0) REFUSE(err, "parameter '%s' stands twice", q->key);
    if (o->flags & LOOM_P_GONE) continue;
    if (o->offset < q->offset + size && q->offset < o->offset + param_size(o->type))
      REFUSE(err, "parameters '%s' and '%s' overlap in the settings", o->key, q->key);
  }
  if (q->type == LOOM_P_REAL || q->type == LOOM_P_INT || LOOM_P_NUMBERS(q->type) > 1)
    return check_number(err, q);
  return q->type == LOOM_P_ENUM || q->type == LOOM_P_BOOL ? check_choice(err, q) : LOOM_OK;
}

static loom_status check_plugin_params(loom_err *err, const loom_plugin *p)
{
  for (uint32_t i = 0; i < p->num_params; ++i) LOOM_TRY(check_plugin_param(err, p, i));
  for (uint32_t i = 0; i < p->num_params; ++i)
    LOOM_TRY(only_with_check(err, &p->params[i], p->params, p->num_params));
  return LOOM_OK;
}

static loom_status check_columns(loom_err *err, const char *what, const loom_column *all,
                                 uint32_t num)
{
  if (num > 0 && all == NULL) REFUSE(err, "%u %ss announced, but the table is missing", num, what);
  for (uint32_t i = 0; i < num; ++i) {
    const loom_column *const c = &all[i];
    if (!valid_name(c->name) || c->unit == NULL || !is_nonempty_text(c->doc))
      REFUSE(err, "%s %u: name, unit or description is missing or malformed", what, i);
    for (uint32_t k = 0; k < i; ++k)
      if (strcmp(all[k].name, c->name) == 0) REFUSE(err, "%s '%s' stands twice", what, c->name);
  }
  return LOOM_OK;
}

static loom_status check_tables(loom_err *err, const loom_plugin *p)
{
  if (p->num_params > COUNT_MAX || p->settings_size > SETTINGS_MAX || p->num_columns > COUNT_MAX ||
      p->num_step_columns > COUNT_MAX)
    REFUSE(err, "%u parameters, %u bytes of settings, %u and %u columns: more than %d, %d, %d, %d",
           p->num_params, p->settings_size, p->num_columns, p->num_step_columns, COUNT_MAX,
           SETTINGS_MAX, COUNT_MAX, COUNT_MAX);
  if (p->num_params > 0 && p->params == NULL)
    REFUSE(err, "%u parameters announced, but the table is missing", p->num_params);
  LOOM_TRY(check_plugin_params(err, p));
  LOOM_TRY(check_columns(err, "log column", p->columns, p->num_columns));
  return check_columns(err, "log column of steps", p->step_columns, p->num_step_columns);
}

/* ---- ops tables ---- */

#define MUST(member, why) \
  if (o->member == NULL) REFUSE(err, "ops.%s is missing; %s", #member, why)
#define MUST_WITH(name, bit, words, member) \
  if (o->provides & (name)) MUST(member, "it announces " words);
#define MUST_LOG(count, member) \
  if (p->count > 0) MUST(member, #count " columns are announced")

static loom_status check_size(loom_err *err, const char *of, uint32_t told, size_t size)
{
  if (told != size)
    REFUSE(err, "%s says that it has %u bytes, it has %zu; set struct_size to its sizeof", of, told,
           size);
  return LOOM_OK;
}

/* LOOM_COLL_* and LOOM_NEED_* of a newer loom are not guessed. */
static loom_status check_needs(loom_err *err, uint32_t needs, uint32_t known)
{
  if (needs & ~known)
    REFUSE(err, "it needs 0x%x, which this core does not know; use a newer loom", needs & ~known);
  return LOOM_OK;
}

static loom_status check_solver_ops(loom_err *err, const loom_plugin *p)
{
  const loom_solver_ops *const o = p->ops.solver;
  LOOM_TRY(check_size(err, "the ops table", o->struct_size, sizeof *o));
  LOOM_TRY(check_needs(err, o->needs, LOOM_CAPS_ALL(LOOM_SOLVER_NEEDS)));
  if (o->trial < LOOM_TRIAL_POINT || o->trial > LOOM_TRIAL_DIRECTION)
    REFUSE(err, "trial is %d; allowed: LOOM_TRIAL_POINT, LOOM_TRIAL_DIRECTION", (int)o->trial);
  if (o->filter_when < LOOM_FILTER_EVERY || o->filter_when > LOOM_FILTER_END)
    REFUSE(err, "filter_when is %d; allowed: LOOM_FILTER_EVERY, _ADVICE, _END",
           (int)o->filter_when);
  if (o->max_outer < 0) REFUSE(err, "max_outer is %d; 0 leaves it to the core", (int)o->max_outer);
  if ((o->needs & LOOM_NEED_CONTACT_ISO) && !(o->needs & LOOM_NEED_CONTACT_QUAD))
    REFUSE(err, "LOOM_NEED_CONTACT_ISO goes with LOOM_NEED_CONTACT_QUAD");
  MUST(create, "every plugin has it");
  MUST(destroy, "every plugin has it");
  MUST(iterate, "every solver has it");
  MUST_LOG(num_step_columns, log_step);
  return LOOM_OK;
}

static loom_status check_collision_ops(loom_err *err, const loom_plugin *p)
{
  const loom_collision_ops *const o = p->ops.collision;
  const uint32_t queries = LOOM_COLL_PROXIMITY | LOOM_COLL_CCD | LOOM_COLL_OVERLAP;
  LOOM_TRY(check_size(err, "the ops table", o->struct_size, sizeof *o));
  if (o->pair_kinds & ~(uint32_t)LOOM_PAIR_MASK_ALL)
    REFUSE(err, "pair kinds 0x%x are unknown to this core", o->pair_kinds);
  if ((o->provides & queries) && o->pair_kinds == 0)
    REFUSE(err, "it answers queries but names no pair kind");
  MUST(create, "every plugin has it");
  MUST(destroy, "every plugin has it");
  LOOM_COLLISION_CAPS(MUST_WITH)
  MUST_LOG(num_columns, log_iter);
  MUST_LOG(num_step_columns, log_step);
  return LOOM_OK;
}

static loom_status check_contact_ops(loom_err *err, const loom_plugin *p)
{
  const loom_contact_ops *const o = p->ops.contact;
  LOOM_TRY(check_size(err, "the ops table", o->struct_size, sizeof *o));
  LOOM_TRY(check_needs(err, o->needs, LOOM_CAPS_ALL(LOOM_COLLISION_CAPS)));
  if (o->pair_kinds & ~(uint32_t)LOOM_PAIR_MASK_ALL)
    REFUSE(err, "pair kinds 0x%x are unknown to this core", o->pair_kinds);
  if (o->needs != 0 && o->pair_kinds == 0) REFUSE(err, "it needs queries but names no pair kind");
  if ((o->provides & LOOM_CONT_QUAD_ISO) && !(o->provides & LOOM_CONT_QUAD))
    REFUSE(err, "LOOM_CONT_QUAD_ISO goes with LOOM_CONT_QUAD");
  if ((o->provides & LOOM_CONT_REACTION) && !(o->provides & LOOM_CONT_VELOCITY))
    REFUSE(err, "LOOM_CONT_REACTION goes with LOOM_CONT_VELOCITY, where reactions are told");
  MUST(create, "every plugin has it");
  MUST(destroy, "every plugin has it");
  LOOM_CONTACT_CAPS(MUST_WITH)
  if (o->plan != NULL) MUST(update, "plan() requests pairs, and update() receives them");
  MUST_LOG(num_columns, metrics);
  MUST_LOG(num_step_columns, log_step);
  return LOOM_OK;
}

/* ---- descriptor ---- */

#if !defined(LK_HAVE_CUDA)
#define OTHER_DEVICE 0u /* no device: kernels run on the CPU alone */
#elif defined(LK_SIMULATED)
#define OTHER_DEVICE LOOM_CUDA_REAL
#else
#define OTHER_DEVICE LOOM_CUDA_SIMULATED
#endif

static loom_status check_backends(loom_err *err, uint32_t b)
{
  const uint32_t on = LOOM_ON_CPU | LOOM_ON_CUDA, device = LOOM_CUDA_REAL | LOOM_CUDA_SIMULATED;
  if ((b & on) == 0 || (b & ~(on | device)) || ((b & device) && !(b & LOOM_ON_CUDA)) ||
      (b & device) == device)
    REFUSE(err, "backends are 0x%x; allowed: LOOM_ON_CPU, LOOM_ON_CUDA or both, or LK_BACKENDS", b);
  if (b & OTHER_DEVICE)
    REFUSE(err,
           "its kernels are for %s device, but this loom was built for %s one; configure the "
           "plugin with -DLOOM_CUDA=%s",
           b & LOOM_CUDA_REAL ? "a real CUDA" : "the simulated",
           b & LOOM_CUDA_REAL ? "the simulated" : "a real",
           b & LOOM_CUDA_REAL ? "SIMULATED" : "ON");
  return LOOM_OK;
}

static loom_status check_head(loom_err *err, const loom_plugin *p)
{
  if (p->magic != LOOM_MAGIC)
    REFUSE(err, "the descriptor begins with 0x%08x instead of the magic number 0x%08x", p->magic,
           LOOM_MAGIC);
  /* before later members are read: another version has another layout */
  if (p->abi_major != LOOM_ABI_MAJOR || (LOOM_ABI_MAJOR == 0 && p->abi_minor != LOOM_ABI_MINOR))
    REFUSE(err, "built for plugin ABI %d.%d, this is %d.%d; rebuild the plugin", p->abi_major,
           p->abi_minor, LOOM_ABI_MAJOR, LOOM_ABI_MINOR);
  if (p->real_size != sizeof(loom_real)) /* changes the layout, too, but this says why */
    REFUSE(err,
           "built for reals of %d bytes, this loom has %zu; rebuild with the same "
           "LOOM_REAL_FLOAT",
           p->real_size, sizeof(loom_real));
  if (p->abi_minor == LOOM_ABI_MINOR && p->layout != LOOM_LAYOUT)
    REFUSE(
        err,
        "built with other headers of plugin ABI %d.%d (layout %08x, this loom has %08x); rebuild "
        "the plugin with the headers of this loom",
        p->abi_major, p->abi_minor, p->layout, LOOM_LAYOUT);
  LOOM_TRY(check_size(err, "the descriptor", p->struct_size, sizeof *p));
  if (p->kind >= LOOM_NUM_KINDS)
    REFUSE(err, "unknown kind %d; allowed: solver 0, collision 1, contact 2", p->kind);
  LOOM_TRY(check_backends(err, p->backends));
  if (!valid_name(p->name))
    REFUSE(err, "the name '%.80s' is not of the form [a-z][a-z0-9_]*",
           p->name != NULL ? p->name : "(null)");
  if (!is_nonempty_text(p->version) || !is_nonempty_text(p->summary) ||
      !is_nonempty_text(p->license))
    REFUSE(err, "version, summary or license is missing");
  if (!is_nonempty_text(p->reference) || !is_nonempty_text(p->build))
    REFUSE(err, "reference (\"none\" if there is no paper) or build is missing");
  if (p->ops.any == NULL) REFUSE(err, "the ops table is missing");
  return LOOM_OK;
}

loom_status registry_check(loom_err *err, const loom_plugin *p)
{
  if (p == NULL) REFUSE(err, "loom_plugin_query returns no descriptor");
  LOOM_TRY(check_head(err, p));
  LOOM_TRY(check_tables(err, p));
  switch (p->kind) {
  case LOOM_KIND_SOLVER:
    return check_solver_ops(err, p);
  case LOOM_KIND_COLLISION:
    return check_collision_ops(err, p);
  default:
    return check_contact_ops(err, p);
  }
}
