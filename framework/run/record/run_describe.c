/* run_describe.c - the parts of a run, in words (`loom check`, summary of `loom run`). */
#include <stdio.h>
#include <string.h>

#include "run/checks/memory_estimate.h"
#include "run/run_state.h"

static void print_instance_line(const run *r, FILE *f, const instance *in)
{
  fprintf(f, "  %-20s %-16s %-8s %-5s %s\n", in->name, in->plugin->name, in->plugin->version,
          in->exec->backend == LOOM_CUDA ? "cuda" : "cpu", registry_path(r->reg, in->plugin));
}

static void print_plugin_limits(const loom_plugin *p, FILE *f)
{
  char before[80];
  snprintf(before, sizeof before, "  limit   %s: ", p->name);
  registry_print_limits(p, before, f);
}

void run_print_limits(const run *r, void *file)
{
  print_plugin_limits(r->solver.plugin, file);
  for (int i = 0; i < r->num_contact; ++i) {
    const loom_plugin *const p = r->contact[i].in.plugin;
    int seen = 0;
    for (int k = 0; k < i; ++k) seen |= r->contact[k].in.plugin == p;
    if (!seen) print_plugin_limits(p, file);
  }
}

void run_describe(const run *r, void *file)
{
  FILE *const f = file;
  const loom_scene *const s = &r->scene->pub;
  char name[256] = "";
  fprintf(f, "plugins\n");
  print_instance_line(r, f, &r->solver);
  for (int i = 0; i < r->num_collision; ++i) print_instance_line(r, f, &r->collision[i]);
  for (int i = 0; i < r->num_contact; ++i) print_instance_line(r, f, &r->contact[i].in);
  run_print_limits(r, f);
  if (r->exec.backend == LOOM_CUDA) exec_cuda_name(r->exec.device, name, sizeof name);
  fprintf(f, "backend      %s%s%s, %d threads, %s\n", r->exec.backend == LOOM_CUDA ? "cuda" : "cpu",
          name[0] ? " " : "", name, r->exec.num_threads,
          r->exec.deterministic ? "deterministic" : "not deterministic");
  fprintf(f, "scene        %d vertices, %d triangles, %d tetrahedra, %d obstacles, %.6g kg\n",
          s->num_verts, s->num_tris, s->num_tets, s->num_obstacles, r->measured.all_mass);
  for (int32_t i = 0; i < s->num_blocks; ++i)
    fprintf(f, "  %-20s %d elements\n", s->blocks[i].type, s->blocks[i].num_elems);
  if (r->scene->inventory != NULL) fputs(r->scene->inventory, f);
  fprintf(f, "schedule     ");
  filter_describe(r, f);
  fprintf(f, "\n");
  memory_estimate_describe(r, f);
  fprintf(f, "steps        %lld of %g s", (long long)r->sum.steps_planned, r->st.h);
  if (r->set.run.substeps > 1)
    fprintf(f, ": [run] steps or -n, times %lld substeps", (long long)r->set.run.substeps);
  fprintf(f, "\n");
}

const loom_plugin *run_plugin(run *r, int i, const char **path)
{
  instance *all[RUN_ALL_INSTANCES];
  if (i < 0 || i >= instances_list(r, LIST_SOLVER_FIRST, all)) return NULL;
  *path = registry_path(r->reg, all[i]->plugin);
  return all[i]->plugin;
}

int run_num_sections(const run *r) { return r->sections.num; }

void run_section(const run *r, int i, const char **name, double *seconds, int64_t *calls)
{
  *name = r->sections.all[i].name;
  *seconds = r->sections.all[i].run.wall;
  *calls = r->sections.all[i].run.calls;
}
