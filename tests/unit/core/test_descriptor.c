/* core/descriptor.c: every single fault of a descriptor is found and named. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "core/registry.h"

typedef struct settings {
  double a, v[3];
  int64_t n;
  int32_t on, mode;
  const char *text;
} settings;

/* A complete descriptor of each kind in memory that a test may damage. */
typedef struct sample {
  loom_plugin p;
  loom_param param[6];
  loom_column column[2];
  loom_solver_ops s;
  loom_collision_ops l;
  loom_contact_ops c;
} sample;

static loom_status f_create(const loom_host *host, const loom_scene *sc, const loom_exec *e,
                            const void *settings_, void **self)
{
  (void)host, (void)sc, (void)e, (void)settings_, (void)self;
  return LOOM_OK;
}
static void f_destroy(void *self) { (void)self; }
static loom_status f_step(void *self, const loom_step *s)
{
  (void)self, (void)s;
  return LOOM_OK;
}
static loom_status f_iterate(void *self, const loom_step *s, loom_iterate *it)
{
  (void)self, (void)s, (void)it;
  return LOOM_OK;
}
static loom_status f_detect(void *self, const loom_step *s, const loom_query *q, loom_pairs *out)
{
  (void)self, (void)s, (void)q, (void)out;
  return LOOM_OK;
}
static loom_status f_plan(void *self, const loom_step *s, loom_query *q)
{
  (void)self, (void)s, (void)q;
  return LOOM_OK;
}
static loom_status f_update(void *self, const loom_step *s, const loom_pairs *p, int when,
                            uint32_t *changed)
{
  (void)self, (void)s, (void)p, (void)when, (void)changed;
  return LOOM_OK;
}
static loom_status f_metrics(void *self, const loom_step *s, loom_contact_metrics *out)
{
  (void)self, (void)s, (void)out;
  return LOOM_OK;
}

static void create_sample_descriptor(sample *x, int kind)
{
  const loom_param param[] = {
      LOOM_PARAM_REAL(settings, a, 0.5, 0, 1, "m", "A."),
      LOOM_PARAM_VEC3(settings, v, "0, 0 -1", -1, 1, "m", "V."),
      LOOM_PARAM_INT(settings, n, 3, 0, 9, "1", "N."),
      LOOM_PARAM_BOOL(settings, on, 1, "On."),
      LOOM_PARAM_ENUM(settings, mode, 1, "one|two", "Mode."),
      LOOM_PARAM_TEXT(settings, text, NULL, "Text."),
  };
  memset(x, 0, sizeof *x);
  memcpy(x->param, param, sizeof param);
  x->column[0] = (loom_column){"col_a", "m", "A."};
  x->column[1] = (loom_column){"col_b", "m", "B."};
  x->s = (loom_solver_ops){.struct_size = sizeof x->s,
                           .create = f_create,
                           .destroy = f_destroy,
                           .begin_step = f_step,
                           .iterate = f_iterate};
  x->l = (loom_collision_ops){.struct_size = sizeof x->l,
                              .provides = LOOM_COLL_PROXIMITY,
                              .pair_kinds = 1,
                              .create = f_create,
                              .destroy = f_destroy,
                              .begin_step = f_step,
                              .detect = f_detect};
  x->c = (loom_contact_ops){.struct_size = sizeof x->c,
                            .needs = LOOM_COLL_PROXIMITY,
                            .pair_kinds = 1,
                            .create = f_create,
                            .destroy = f_destroy,
                            .begin_step = f_step,
                            .plan = f_plan,
                            .update = f_update,
                            .metrics = f_metrics};
  x->p = (loom_plugin){LOOM_PLUGIN_HEAD((uint16_t)kind, LOOM_ON_CPU),
                       .name = "sample",
                       .version = "1",
                       .summary = "s",
                       .reference = "none",
                       .license = "MIT",
                       .build = "b",
                       .num_params = 6,
                       .settings_size = sizeof(settings),
                       .params = x->param};
  if (kind == LOOM_KIND_SOLVER) {
    x->p.num_columns = 2;
    x->p.columns = x->column;
    x->p.ops.solver = &x->s;
  } else if (kind == LOOM_KIND_COLLISION) {
    x->p.ops.collision = &x->l;
  } else {
    x->p.ops.contact = &x->c;
  }
}

Test(descriptor, complete_ones_pass)
{
  for (int kind = 0; kind < LOOM_NUM_KINDS; ++kind) {
    sample x;
    loom_err err = {0};
    create_sample_descriptor(&x, kind);
    cr_assert_eq(registry_check(&err, &x.p), LOOM_OK, "%s", err.text);
  }
  loom_err err = {0};
  cr_assert_eq(registry_check(&err, NULL), LOOM_E_ABI);
}

/* One damaged copy, and a piece of the message it must cause. */
#define DAMAGED(kind, damage, says)                                                \
  do {                                                                             \
    sample x;                                                                      \
    loom_err err = {0};                                                            \
    create_sample_descriptor(&x, kind);                                            \
    damage;                                                                        \
    cr_assert_eq(registry_check(&err, &x.p), LOOM_E_ABI, "accepted: %s", #damage); \
    cr_assert(strstr(err.text, says) != NULL, "%s: %s", #damage, err.text);        \
  } while (0)

Test(descriptor, head)
{
  DAMAGED(0, x.p.magic ^= 1, "magic number");
  DAMAGED(0, x.p.abi_major = 9, "built for plugin ABI 9.");
  DAMAGED(0, x.p.struct_size = 64, "set struct_size to its sizeof");
  DAMAGED(0, x.p.real_size = 2, "reals of 2 bytes");
  DAMAGED(0, x.p.kind = 3, "unknown kind 3");
  DAMAGED(0, x.p.backends = 0, "backends are 0x0");
  DAMAGED(0, x.p.backends = 8, "backends are 0x8");
  DAMAGED(0, x.p.backends = 15, "backends are 0xf");
#if defined(LK_SIMULATED)
  DAMAGED(0, x.p.backends |= LOOM_ON_CUDA | LOOM_CUDA_REAL, "with -DLOOM_CUDA=SIMULATED");
#elif defined(LK_HAVE_CUDA)
  DAMAGED(0, x.p.backends |= LOOM_ON_CUDA | LOOM_CUDA_SIMULATED, "with -DLOOM_CUDA=ON");
#endif
  DAMAGED(0, x.p.layout ^= 1, "other headers of plugin ABI");
  DAMAGED(0, x.p.name = NULL, "(null)");
  DAMAGED(0, x.p.name = "A-b", "not of the form");
  DAMAGED(0, x.p.version = NULL, "version, summary or license");
  DAMAGED(0, x.p.summary = "", "version, summary or license");
  DAMAGED(0, x.p.license = NULL, "version, summary or license");
  DAMAGED(0, x.p.reference = NULL, "reference");
  DAMAGED(0, x.p.build = NULL, "build is missing");
  DAMAGED(0, x.p.ops.any = NULL, "ops table is missing");
}

Test(descriptor, parameters)
{
  DAMAGED(0, x.p.params = NULL, "the table is missing");
  DAMAGED(0, x.p.num_params = 5000, "more than");
  DAMAGED(0, x.param[0].key = "Bad", "not of the form");
  DAMAGED(0, x.param[0].key = "plugin", "the core uses this key");
  DAMAGED(2, x.param[0].key = "pairs", "the core uses this key");
  DAMAGED(2, x.param[0].key = "collision", "the core uses this key");
  DAMAGED(0, x.param[1].key = "a", "'a' stands twice");
  DAMAGED(0, x.param[0].type = 8, "unknown type 8");
  DAMAGED(0, x.param[0].flags = 64, "unknown flags 0x40");
  DAMAGED(0, x.param[0].unit = NULL, "unit or description");
  DAMAGED(0, x.param[0].doc = "", "unit or description");
  DAMAGED(0, x.param[0].offset = sizeof(settings), "lies outside");
  DAMAGED(0, x.param[0].offset = UINT64_MAX - 3, "lies outside");
  DAMAGED(0, x.param[0].offset = 4, "not aligned");
  DAMAGED(0, x.param[2].offset = x.param[1].offset + 8, "overlap in the settings");
  DAMAGED(0, x.param[0].def = 2, "default 2 is out of its range");
  DAMAGED(0, x.param[0].def = NAN, "is out of its range");
  DAMAGED(0, (x.param[0].flags = LOOM_P_OPEN_MIN, x.param[0].def = 0), "out of its range");
  DAMAGED(0, (x.param[0].flags = LOOM_P_OPEN_MAX, x.param[0].def = 1), "out of its range");
  DAMAGED(0, x.param[0].min = 3, "the range 3 to 1 is empty");
  DAMAGED(0, x.param[1].def_text = "0 0", "not three numbers");
  DAMAGED(0, x.param[1].def_text = NULL, "not three numbers");
  DAMAGED(0, x.param[1].def_text = "0 0 -2", "default -2 is out of its range");
  DAMAGED(0, x.param[2].def = 2.5, "not an integer");
  DAMAGED(0, x.param[3].def = 2, "none of its 2 choices");
  DAMAGED(0, x.param[4].def = 2, "none of its 2 choices");
  DAMAGED(0, x.param[4].choices = NULL, "choices are missing");
  DAMAGED(0, x.param[4].choices = "a||b", "choices are missing, empty or doubled");
  DAMAGED(0, x.param[4].choices = "a|b|a", "choices are missing, empty or doubled");
  DAMAGED(0, x.param[0].only_with = "absent", "only_with names 'absent', no other key");
  DAMAGED(0, x.param[0].only_with = x.param[0].key, "no other key");
  DAMAGED(0, x.param[0].only_with = x.param[4].key, "only_with needs values");
}

Test(descriptor, columns)
{
  DAMAGED(0, x.p.columns = NULL, "the table is missing");
  DAMAGED(0, x.column[0].name = NULL, "log column 0");
  DAMAGED(0, x.column[1].unit = NULL, "log column 1");
  DAMAGED(0, x.column[1].name = "col_a", "'col_a' stands twice");
  DAMAGED(1, (x.p.num_columns = 1, x.p.columns = x.column), "ops.log_iter is missing");
  for (int kind = 0; kind < LOOM_NUM_KINDS; ++kind) {
    DAMAGED(kind, x.p.num_step_columns = 1, "the table is missing");
    DAMAGED(kind, (x.p.num_step_columns = 1, x.p.step_columns = x.column),
            "ops.log_step is missing");
  }
}

Test(descriptor, solver_table)
{
  DAMAGED(0, x.s.struct_size = 16, "set struct_size to its sizeof");
  DAMAGED(0, x.s.needs = UINT32_C(1) << 30, "0x40000000, which this core does not know");
  DAMAGED(0, x.s.needs = LOOM_NEED_CONTACT_ISO, "goes with LOOM_NEED_CONTACT_QUAD");
  DAMAGED(0, x.s.trial = 2, "trial is 2");
  DAMAGED(0, x.s.filter_when = -1, "filter_when is -1");
  DAMAGED(0, x.s.max_outer = -1, "max_outer is -1");
  DAMAGED(0, x.s.create = NULL, "ops.create is missing");
  DAMAGED(0, x.s.destroy = NULL, "ops.destroy is missing");
  DAMAGED(0, x.s.iterate = NULL, "ops.iterate is missing");
}

Test(descriptor, collision_table)
{
  DAMAGED(1, x.l.struct_size = 16, "set struct_size to its sizeof");
  DAMAGED(1, x.l.pair_kinds = 0x200, "pair kinds 0x200");
  DAMAGED(1, x.l.pair_kinds = 0, "names no pair kind");
  DAMAGED(1, x.l.create = NULL, "ops.create is missing");
  DAMAGED(1, x.l.destroy = NULL, "ops.destroy is missing");
  DAMAGED(1, x.l.detect = NULL, "ops.detect is missing");
  DAMAGED(1, x.l.provides |= LOOM_COLL_STEP_GLOBAL, "ops.max_step is missing");
  DAMAGED(1, x.l.provides |= LOOM_COLL_STEP_VERTEX, "ops.max_step is missing");
}

Test(descriptor, contact_table)
{
  DAMAGED(2, x.c.struct_size = 16, "set struct_size to its sizeof");
  DAMAGED(2, x.c.needs = 0x100, "0x100, which this core does not know");
  DAMAGED(2, x.c.pair_kinds = 0x200, "pair kinds 0x200");
  DAMAGED(2, x.c.pair_kinds = 0, "names no pair kind");
  DAMAGED(2, x.c.create = NULL, "ops.create is missing");
  DAMAGED(2, x.c.destroy = NULL, "ops.destroy is missing");
  DAMAGED(2, x.c.update = NULL, "ops.update is missing");
  DAMAGED(2, (x.p.num_columns = 1, x.p.columns = x.column, x.c.metrics = NULL),
          "ops.metrics is missing");
  DAMAGED(2, x.c.provides = LOOM_CONT_QUAD_ISO, "goes with LOOM_CONT_QUAD");
  DAMAGED(2, x.c.provides = LOOM_CONT_REACTION, "goes with LOOM_CONT_VELOCITY");
  DAMAGED(2, x.c.provides = LOOM_CONT_ENERGY, "ops.eval is missing");
  DAMAGED(2, x.c.provides = LOOM_CONT_GRADIENT, "ops.eval is missing");
  DAMAGED(2, x.c.provides = LOOM_CONT_HESSIAN, "ops.hessian is missing");
  DAMAGED(2, x.c.provides = LOOM_CONT_QUAD, "ops.quad is missing");
  DAMAGED(2, x.c.provides = LOOM_CONT_RESOLVE, "ops.resolve is missing");
  DAMAGED(2, x.c.provides = LOOM_CONT_VELOCITY, "ops.velocity is missing");
}
