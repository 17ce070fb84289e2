/* record.c - rows and frames of one run. */
#include "run/record/record.h"
#include "run/base/process.h"
#include "run/run_state.h"
#include "scene/moving/rigged.h"
#include "scene/moving/sewing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/seconds.h"

/* Item of `counters`, int64_t [LOOM_NUM_COUNTERS], to its column of the row. */
#define PUT_COUNTER_(row, NAME, column, unit, doc) (row).column = counters[LOOM_C_##NAME];
/* Item of `begun`, iter_record, to the two columns of a phase. */
#define PUT_ITER_CLOCKS_(row, NAME, name, wall_doc, cpu_doc) \
  (row).t_##name = begun->wall[CLOCK_##NAME];                \
  (row).t_cpu_##name = begun->cpu[CLOCK_##NAME];

static loom_status measure_for_row(run *r, iter_record *row)
{
  LOOM_TRY(measure_free(r, &row->r_free_rms));
  LOOM_TRY(measure_dinv(r, r->st.grad, &row->r_dinv));
  LOOM_TRY(measure_e_ref(r, &row->e_ref));
  return measure_contacts(r);
}

loom_status record_iter_begin(run *r, iter_record *row)
{
  const kernel_work kernels = r->work.kernels;
  row->t_total = clock_net(&r->clock);
  row->t_cpu = clock_cpu_net(&r->clock);
  memcpy(row->wall, r->clock.total, sizeof row->wall);
  memcpy(row->cpu, r->clock.cpu, sizeof row->cpu);
  work_read(r, row->counters);
  clock_push(&r->clock, CLOCK_MEASURE);
  ++r->results.held;
  const loom_status s = measure_for_row(r, row);
  --r->results.held;
  r->work.kernels = kernels;
  clock_pop(&r->clock);
  return s;
}

loom_status record_iter_end(run *r, const iter_record *begun, int64_t k, const loom_iterate *it,
                            const filter_result *f, double dx_max)
{
  int64_t active = 0;
  double min_gap = NAN, dissipated = 0.0;
  const kernel_work kernels = r->work.kernels;
  clock_push(&r->clock, CLOCK_MEASURE);
  LOOM_TRY(columns_iter_row(r));
  r->work.kernels = kernels;
  clock_pop(&r->clock);
  measure_sum_contacts(r, &active, &min_gap, &dissipated);
  h5log_iter_row row = {.step = r->st.index,
                        .k = k,
                        .stage = it->stage,
                        .epoch = r->st.epoch,
                        .filtered = f->filtered,
                        .active = active,
                        .min_gap = min_gap,
                        .r_free_rms = begun->r_free_rms,
                        .r_dinv = begun->r_dinv,
                        .e_ref = begun->e_ref,
                        .r_solved_rms = r->measured.solved.rms,
                        .r_solved_max = r->measured.solved.max,
                        .r_next_rms = r->measured.next.rms,
                        .r_next_max = r->measured.next.max,
                        .r_energy = r->measured.error.energy,
                        .r_newton = r->measured.error.step,
                        .indefinite = r->measured.error.indefinite,
                        .own_res = it->own_res,
                        .e_inertia = r->measured.energies.inertia,
                        .e_elastic = r->measured.energies.elastic,
                        .e_contact = r->measured.energies.contact,
                        .e_dissip = r->measured.energies.dissipation,
                        .e_total = r->measured.energies.total,
                        .alpha = f->alpha,
                        .toi = f->toi,
                        .dx_max = dx_max,
                        .pairs = detect_num_pairs(r),
                        .inner_iters = it->inner_iters,
                        .inner_res = it->inner_res,
                        .inner_norm = it->inner_norm,
                        .t_total = begun->t_total,
                        .t_cpu = begun->t_cpu};
  const int64_t *const counters = begun->counters;
  LOOM_COUNTERS(PUT_COUNTER_, row)
  H5LOG_ITER_PHASES(PUT_ITER_CLOCKS_, row)
  if (r->opt->foreign != NULL) foreign_iter_times(r, &row);
  if (r->record.log == NULL) return LOOM_OK;
  clock_push(&r->clock, CLOCK_LOG);
  const loom_status s = h5log_iter(r->record.log, r->err, &row, r->columns.iter.row);
  clock_pop(&r->clock);
  return s;
}

static int is_last(const run *r) { return r->sum.steps_done + 1 == r->sum.steps_planned; }

int record_frame_due(const run *r)
{
  const int64_t per_frame = r->set.run.substeps * r->set.log.frames_every;
  return (r->st.index + 1) % per_frame == 0 || is_last(r);
}

/* Maps of all bodies and their joints at the end of the step, as h5log_frame() takes them; the
 * caller frees them, NULL: no memory. */
static double *frame_poses(const run *r)
{
  const int32_t num = r->scene->pub.num_obstacles;
  size_t maps = 1;
  for (int32_t i = 0; i < num; ++i) maps += 1 + (size_t)scene_joints(r->scene, i, NULL);
  double *const poses = malloc(12 * maps * sizeof *poses), *to = poses;
  for (int32_t i = 0; i < num && poses != NULL; ++i) {
    const double *T;
    const size_t joints = (size_t)scene_joints(r->scene, i, &T);
    for (int c = 0; c < 12; ++c) *to++ = r->scene->obstacles[i].pose1[c];
    if (joints > 0) memcpy(to, T, 12 * joints * sizeof *to);
    to += 12 * joints;
  }
  return poses;
}

static loom_status write_run_frame(const run *r, int64_t step, double time, const double *poses)
{
  void *x, *v;
  LOOM_TRY(buf_map(r->m, NULL, r->st.x, LOOM_READ, LOOM_AT_HOST, &x));
  LOOM_TRY(buf_map(r->m, NULL, r->st.v_end, LOOM_READ, LOOM_AT_HOST, &v));
  const loom_status s = h5log_frame(r->record.log, r->err, step, time, x, v, poses,
                                    (const float *const *)r->fields.data);
  LOOM_TRY(buf_unmap(r->m, r->st.v_end));
  LOOM_TRY(buf_unmap(r->m, r->st.x));
  return s;
}

loom_status record_frame(run *r, int64_t step, double time)
{
  if (r->record.log == NULL) return LOOM_OK;
  clock_push(&r->clock, CLOCK_LOG);
  double *const poses = frame_poses(r);
  const loom_status s = poses != NULL ? write_run_frame(r, step, time, poses)
                                      : err_set(r->err, LOOM_E_NOMEM, "out of memory");
  free(poses);
  clock_pop(&r->clock);
  return s;
}

/* The audit needs memory beside the solver's, 100 bytes per vertex of a cloth; data that
 * the next step computes anew before it reads it takes more. */
static loom_status release_scratch_state(run *r)
{
  loom_buf *const recomputed[] = {r->st.y, r->st.x_start, r->st.grad, r->buf.grad_free,
                                  r->buf.x_before};
  for (size_t i = 0; i < LOOM_COUNT(recomputed); ++i) LOOM_TRY(buf_discard(r->m, recomputed[i]));
  return LOOM_OK;
}

static loom_status fill_clocks(run *r, h5log_step_row *row)
{
  const double *const t = r->clock.total;
  clock_net(&r->clock); /* brings the running section up to date */
  LOOM_TRY(clock_settle(&r->clock, r->err));
#define PUT_WALL_(row, NAME, name, wall_doc, cpu_doc) (row)->t_##name = t[CLOCK_##NAME];
  H5LOG_PHASES(PUT_WALL_, row)
  /* a step's own commit ends after its row is written: it is charged to the next step */
  row->t_log += r->record.commit_seconds;
  row->t_total = seconds_now() - r->clock.begin + r->record.commit_seconds;
  const double *const cpu = r->clock.cpu;
  row->t_cpu = clock_cpu_net(&r->clock);
  row->t_cpu_plugins = r->clock.cpu_plugins;
#define PUT_CPU_(row, NAME, name, wall_doc, cpu_doc) (row)->t_cpu_##name = cpu[CLOCK_##NAME];
  H5LOG_CPU_PHASES(PUT_CPU_, row)
  row->t_cpu_log += r->record.commit_cpu;
  return LOOM_OK;
}

/* Contact pairs known, by kind. */
static loom_status count_pairs(const run *r, h5log_step_row *row)
{
  int64_t *const count[] = {
#define ADDRESS_(t, name, unit, doc) &row->name,
      H5LOG_PAIR_COLUMNS(ADDRESS_)
#undef ADDRESS_
  };
  for (int i = 0; i < r->num_contact; ++i) {
    const loom_pairs *const p = &r->contact[i].pairs;
    void *kinds;
    if (p->count == 0) continue;
    LOOM_TRY(buf_map(r->m, NULL, p->kind, LOOM_READ, LOOM_AT_HOST, &kinds));
    for (int64_t k = 0; k < p->count; ++k) {
      const int32_t kind = ((const int32_t *)kinds)[k];
      if (kind >= 0 && kind < (int32_t)LOOM_COUNT(count)) ++*count[kind];
    }
    LOOM_TRY(buf_unmap(r->m, p->kind));
  }
  return LOOM_OK;
}

static void update_run_summary(run *r, const h5log_step_row *row)
{
  run_summary *const s = &r->sum;
  log_ends_add(&s->ends, row);
  s->steps_done++;
  s->last_step = row->step;
  s->iters += row->iters;
  s->last_iters = row->iters;
  s->reasons[row->reason]++;
  if (row->intersections >= 0)
    s->intersections = (s->intersections > 0 ? s->intersections : 0) + row->intersections;
  s->shape_entries += row->shape_entries > 0 ? row->shape_entries : 0;
  s->audited += row->intersections >= 0;
  if (row->passes >= 0) s->passes = (s->passes > 0 ? s->passes : 0) + row->passes;
  s->ways += row->passes >= 0;
  s->start_intersections = row->start_intersections;
  s->min_gap = fmin(s->min_gap, row->min_gap);
  s->time = row->time;
  if (!isnan(row->r_final)) s->last_residual = row->r_final;
  s->last_contacts = row->contacts;
  s->num_verts = r->scene->pub.num_verts;
  const int64_t host = mem_bytes(r->m, LOOM_AT_HOST), device = mem_bytes(r->m, LOOM_AT_DEVICE);
  s->host_bytes = host > s->host_bytes ? host : s->host_bytes;
  s->device_bytes = device > s->device_bytes ? device : s->device_bytes;
  for (int i = 0; i < CLOCK_NUM; ++i) s->seconds[i] += r->clock.total[i];
}

/* Plugin sections of this step. */
static loom_status record_sections(const run *r)
{
  for (int i = 0; i < r->sections.num; ++i) {
    const timed_section *const s = &r->sections.all[i];
    h5log_section_row row = {
        .step = r->st.index, .calls = s->step.calls, .t_wall = s->step.wall, .t_cpu = s->step.cpu};
    if (s->step.calls == 0) continue;
    memcpy(row.name, s->name, sizeof row.name - 1);
    LOOM_TRY(h5log_section(r->record.log, r->err, &row));
  }
  return LOOM_OK;
}

static loom_status record_kernel(const run *r, const exec_kernel *k)
{
  h5log_kernel_row row = {.step = r->st.index,
                          .launches = k->launches,
                          .elements = k->elements,
                          .bytes = k->bytes,
                          .t = k->seconds,
                          .declared = k->declared};
  snprintf(row.name, sizeof row.name, "%s", k->name);
  return k->launches > 0 ? h5log_kernel(r->record.log, r->err, &row) : LOOM_OK;
}

/* Another request to the device. */
static loom_status record_request(const run *r, const char *name, int64_t count, int64_t bytes)
{
  return record_kernel(
      r, &(exec_kernel){.name = name, .launches = count, .bytes = bytes, .seconds = NAN});
}

/* With [log] kernels: launches of this step, and other requests to the device. */
static loom_status record_kernels(run *r)
{
  const exec_traffic *const now = exec_traffic_now(), *const then = &r->record.traffic;
  const exec_kernel *all;
  const int num = exec_watch_kernels(r->record.watch, &all);
  if (!r->set.log.kernels) return LOOM_OK;
  for (int i = 0; i < num; ++i) LOOM_TRY(record_kernel(r, &all[i]));
  LOOM_TRY(
      record_request(r, "(read)", now->reads - then->reads, now->read_bytes - then->read_bytes));
  LOOM_TRY(record_request(r, "(upload)", now->uploads - then->uploads,
                          now->upload_bytes - then->upload_bytes));
  LOOM_TRY(record_request(r, "(allocate)", now->allocations - then->allocations, 0));
  exec_watch_clear(r->record.watch);
  r->record.traffic = *now;
  return LOOM_OK;
}

static loom_status measure_stitches(const run *r, double *gap)
{
  void *x;
  *gap = NAN;
  if (r->scene->sewing == NULL) return LOOM_OK;
  LOOM_TRY(buf_map(r->m, NULL, r->st.x, LOOM_READ, LOOM_AT_HOST, &x));
  *gap = scene_stitch_gap(r->scene, x);
  return buf_unmap(r->m, r->st.x);
}

/* The residual at the end is known and holds all forces; models that only correct positions push,
 * too. */
static int has_balance(const run *r)
{
  const uint32_t forces = LOOM_CONT_GRADIENT | LOOM_CONT_QUAD | LOOM_CONT_QUAD_ISO;
  const uint32_t moves = LOOM_CONT_RESOLVE | LOOM_CONT_VELOCITY;
  int all = isfinite(r->measured.next.rms);
  for (int i = 0; i < r->num_contact; ++i) {
    const uint32_t provides = r->contact[i].provides;
    all = all && ((provides & forces) != 0 || (provides & moves) == 0);
  }
  return all;
}

static void put_ends(h5log_step_row *row, const end_moments *e)
{
  row->defect_force = e->force;
  row->defect_torque = e->torque;
  row->p_x = e->linear[0], row->p_y = e->linear[1], row->p_z = e->linear[2];
  row->l_x = e->angular[0], row->l_y = e->angular[1], row->l_z = e->angular[2];
}

loom_status record_step(run *r, int64_t iters, int64_t repairs, int reason)
{
  int64_t counters[LOOM_NUM_COUNTERS];
  end_moments ends;
  const int last = is_last(r);
  const int audit = r->set.log.audit == AUDIT_EVERY || r->set.log.audit == AUDIT_TRAJECTORY ||
                    (r->set.log.audit == AUDIT_END && last);
  h5log_step_row row = {.step = r->st.index,
                        .time = r->st.time,
                        .h = r->st.h,
                        .iters = iters,
                        .reason = reason,
                        .r_ref = r->measured.r_ref,
                        .r_final = r->measured.next.rms,
                        .ref_unconverged = r->rep.unconverged,
                        .tol_ratio = r->plan.tests_guess ? measure_tested_ratio(r) : NAN,
                        .r_energy = r->measured.error.energy,
                        .e_elastic = r->measured.energies.elastic,
                        .e_contact = r->measured.energies.contact,
                        .w_loads = r->load_work,
                        .toi = filter_step_toi(r),
                        .f_next = r->fw.f_next_norm,
                        .intersections = -1,
                        .shape_entries = -1,
                        .passes = -1,
                        .rss = process_rss(),
                        .rss_peak = process_rss_peak(),
                        .repairs = repairs};
  work_read(r, counters);
  LOOM_COUNTERS(PUT_COUNTER_, row)
  clock_push(&r->clock, CLOCK_MEASURE);
  ++r->results.held;
  LOOM_TRY(measure_kinetic(r, r->st.v_end, &row.e_kinetic));
  LOOM_TRY(measure_gravity(r, r->st.x, &row.e_gravity));
  LOOM_TRY(objects_end(r, r->st.v_end, has_balance(r) ? r->st.grad : NULL, &ends));
  LOOM_TRY(measure_contacts(r));
  --r->results.held;
  LOOM_TRY(results_settle(r));
  put_ends(&row, &ends);
  measure_sum_contacts(r, &row.contacts, &row.min_gap, &row.e_dissipated);
  LOOM_TRY(count_pairs(r, &row));
  LOOM_TRY(columns_step_row(r));
  LOOM_TRY(measure_stitches(r, &row.stitch_gap));
  if (audit) {
    LOOM_TRY(release_scratch_state(r));
    LOOM_TRY(audit_now(r, &row.intersections, &row.shape_entries));
  }
  if (r->set.log.audit == AUDIT_TRAJECTORY) LOOM_TRY(trajectory_audit(r, &row.passes));
  LOOM_TRY(audit_starts(r, &row.start_intersections));
  clock_pop(&r->clock);
  const int frame = record_frame_due(r);
  if (frame) LOOM_TRY(record_frame(r, r->st.index, r->st.time));
  LOOM_TRY(replay_record(r, frame));
  LOOM_TRY(fill_clocks(r, &row));
  if (r->opt->foreign != NULL) foreign_times(r, &row);
  const double begin = seconds_now(), cpu = clock_cpu_now();
  if (r->record.log != NULL) {
    LOOM_TRY(messages_write(r));
    LOOM_TRY(record_sections(r));
    LOOM_TRY(record_kernels(r));
    LOOM_TRY(h5log_step(r->record.log, r->err, &row, r->columns.step.row));
    LOOM_TRY(h5log_commit(r->record.log, r->err));
  }
  r->record.commit_seconds = seconds_now() - begin;
  r->record.commit_cpu = clock_cpu_now() - cpu;
  update_run_summary(r, &row);
  return LOOM_OK;
}
