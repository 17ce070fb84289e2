/* state.c - see state.h. */
#include <stdlib.h>

#include "run/base/balls.h"
#include "run/run_state.h"

static void share_trial(run *r) { r->buf.dx = r->buf.wanted = r->st.v_end = r->st.trial; }

loom_status state_sum_masses(run *r)
{
  void *m, *f;
  r->measured.all_mass = r->measured.total_mass = 0.0;
  LOOM_TRY(buf_map(r->m, NULL, r->scene->pub.mass, LOOM_READ, LOOM_AT_HOST, &m));
  LOOM_TRY(buf_map(r->m, NULL, r->scene->pub.fixed, LOOM_READ, LOOM_AT_HOST, &f));
  for (int32_t i = 0; i < r->scene->pub.num_verts; ++i) {
    r->measured.all_mass += ((loom_real *)m)[i];
    if (!((uint8_t *)f)[i]) r->measured.total_mass += ((loom_real *)m)[i];
  }
  LOOM_TRY(buf_unmap(r->m, r->scene->pub.fixed));
  LOOM_TRY(buf_unmap(r->m, r->scene->pub.mass));
  return LOOM_OK;
}

loom_status state_new(run *r)
{
  const int64_t n = r->scene->pub.num_verts;
  const int bounded = filter_bounded(r);
  const struct {
    loom_buf **b;
    const char *name;
    int64_t count;
    int wanted;
  } all[] = {{&r->st.x_start, "x_start", 3 * n, 1},
             {&r->st.x_feas, "x_feas", 3 * n, bounded},
             {&r->st.y, "y", 3 * n, 1},
             {&r->st.trial, "trial", 3 * n, 1},
             {&r->st.grad, "grad", 3 * n, 1},
             {&r->st.f_next, "f_next", 3 * n, 1},
             {&r->buf.grad_free, "grad_free", 3 * n, r->num_contact > 0},
             {&r->buf.grad_solved, "grad_solved", 3 * n, filter_searches(r)},
             {&r->buf.x_before, "x_before", 3 * n, 1},
             {&r->buf.rejected, "rejected", 3 * n, bounded},
             {&r->buf.t_vertex, "t_vertex", n, filter_per_vertex(r)},
             {&r->buf.ones, "ones", n, filter_per_vertex(r)},
             {&r->buf.target, "target", 3 * n, r->motion.bounded},
             {&r->buf.x_retry, "x_retry", 3 * n, filter_may_retry(r)},
             {&r->buf.v_retry, "v_retry", 3 * n, filter_may_retry(r)},
             {&r->buf.f_retry, "f_retry", 3 * n, filter_may_retry(r)},
             {&r->buf.diag, "diag", n, 1}};
  for (size_t i = 0; i < LOOM_COUNT(all); ++i)
    if (all[i].wanted)
      LOOM_TRY(buf_new(r->m, "core", all[i].name, LOOM_REAL, all[i].count, all[i].b));
  LOOM_TRY(buf_new(r->m, "core", "touched", LOOM_U8, n, &r->buf.touched));
  r->st.struct_size = sizeof r->st;
  r->st.h = r->set.run.dt / (double)r->set.run.substeps;
  r->st.progress = 1.0;
  r->st.body0 = r->scene->body0;
  r->st.body1 = r->scene->body1;
  LOOM_TRY(buf_new(r->m, "core", "x", LOOM_REAL, 3 * n, &r->st.x));
  LOOM_TRY(buf_copy(r->m, &r->exec, r->st.x, r->scene->x0));
  r->st.v_start = r->scene->v0;
  r->scene->v0 = NULL;
  if (!bounded) r->st.x_feas = r->st.x; /* every x is feasible */
  /* without contact the gradient is free of it, and no fixed row enters a norm */
  if (r->num_contact == 0) r->buf.grad_free = r->st.grad;
  /* the line search needs both at once; else x_before has served when the gradient is kept */
  if (!filter_searches(r)) r->buf.grad_solved = r->buf.x_before;
  share_trial(r);
  LOOM_TRY(forward_new(r));
  LOOM_TRY(buf_copy(r->m, &r->exec, r->st.v_end, r->st.v_start)); /* frame 0 */
  return state_sum_masses(r);
}

void state_rotate(run *r)
{
  r->st.trial = r->st.v_start;
  r->st.v_start = r->st.v_end;
  share_trial(r);
}

void state_show_end(run *r) { r->st.v_end = r->st.v_start; }

void state_hide_end(run *r) { share_trial(r); }

/* ---- the start of a step that may begin again ---- */

static loom_status keep_term(run *r, const char *name, loom_buf *b)
{
  state_buffers *const s = &r->buf;
  if (s->at_kept == s->num_kept) {
    loom_buf **const more = realloc(s->kept, sizeof(*more) * ((size_t)s->num_kept + 1));
    if (more == NULL) return err_set(r->err, LOOM_E_NOMEM, "no memory for the start of a step");
    s->kept = more;
    LOOM_TRY(buf_new(r->m, "core", name, buf_type(b), buf_count(b), &more[s->num_kept]));
    ++s->num_kept;
  }
  return buf_copy(r->m, &r->exec, s->kept[s->at_kept++], b);
}

static loom_status take_term(run *r, const char *name, loom_buf *b)
{
  (void)name;
  return buf_copy(r->m, &r->exec, b, r->buf.kept[r->buf.at_kept++]);
}

loom_status state_keep(run *r)
{
  LOOM_TRY(buf_copy(r->m, &r->exec, r->buf.x_retry, r->st.x));
  LOOM_TRY(buf_copy(r->m, &r->exec, r->buf.v_retry, r->st.v_start));
  LOOM_TRY(buf_copy(r->m, &r->exec, r->buf.f_retry, r->st.f_next));
  r->buf.at_kept = 0;
  LOOM_TRY(problem_state(r, keep_term));
  LOOM_TRY(balls_keep(r));
  return forward_save(r);
}

/* Rest data come back with the rest lengths of the kept moment: `scaled` is not kept with them. */
loom_status state_go_back(run *r)
{
  LOOM_TRY(buf_copy(r->m, &r->exec, r->st.x, r->buf.x_retry));
  LOOM_TRY(buf_copy(r->m, &r->exec, r->st.v_start, r->buf.v_retry));
  LOOM_TRY(buf_copy(r->m, &r->exec, r->st.f_next, r->buf.f_retry));
  r->buf.at_kept = 0;
  LOOM_TRY(problem_state(r, take_term));
  if (r->buf.num_kept > 0) elements_forget_lengths(r);
  LOOM_TRY(balls_go_back(r));
  return forward_restore(r);
}

void state_free(run *r) { free(r->buf.kept); }
